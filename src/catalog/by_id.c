#include "catalog/find.h"

#include <string.h>

#define BY_ID(function, type, array, count)                                                                            \
	const struct type *function(const struct jl_catalog *cat, const char *id)                                      \
	{                                                                                                              \
		size_t i;                                                                                              \
                                                                                                                       \
		for (i = 0; id && i < cat->count; i++)                                                                 \
			if (strcmp(cat->array[i].id, id) == 0)                                                         \
				return &cat->array[i];                                                                 \
		return NULL;                                                                                           \
	}

BY_ID(jl_source_by_id, jl_source, sources, n_sources)
BY_ID(jl_family_by_id, jl_family, families, n_families)
BY_ID(jl_gpu_by_id, jl_gpu, gpus, n_gpus)
BY_ID(jl_cpu_by_id, jl_cpu, cpus, n_cpus)
BY_ID(jl_link_by_id, jl_link_info, links, n_links)
BY_ID(jl_system_by_id, jl_system, systems, n_systems)
BY_ID(jl_model_by_id, jl_model_info, models, n_models)
