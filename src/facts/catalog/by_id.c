/* Finds catalog records by exact id. */
#include "catalog/find.h"

#include <math.h>
#include <string.h>

#define BY_ID(function, type, array, count)                                                                            \
	const struct type *function(const struct jl_catalog *cat, const char *id)                                      \
	{                                                                                                              \
		size_t i;                                                                                              \
                                                                                                                       \
		for (i = 0; id && i < cat->count; i++)                                                                 \
			if (jl_same_text(cat->array[i].id, id))                                                        \
				return &cat->array[i];                                                                 \
		return NULL;                                                                                           \
	}

BY_ID(jl_source_by_id, jl_source, sources, n_sources)
BY_ID(jl_family_by_id, jl_family, families, n_families)
BY_ID(jl_gpu_by_id, jl_gpu, gpus, n_gpus)
BY_ID(jl_cpu_by_id, jl_cpu, cpus, n_cpus)
BY_ID(jl_link_by_id, jl_link_info, links, n_links)
BY_ID(jl_model_by_id, jl_model_info, models, n_models)
BY_ID(jl_rule_by_id, jl_rule, rules, n_rules)
BY_ID(jl_reliability_by_id, jl_reliability, reliability, n_reliability)

const struct jl_gpu *jl_gpu_chip(const struct jl_catalog *cat, const struct jl_gpu *gpu)
{
	for (size_t i = 0; i < cat->n_gpus; i++) {
		const struct jl_gpu *other = &cat->gpus[i];

		if (other->n_sm.value == gpu->n_sm.value && other->boost_Hz.value == gpu->boost_Hz.value &&
		    other->tdp_W.value == gpu->tdp_W.value && jl_same_text(other->family, gpu->family))
			return other;
	}
	return gpu; /* fail if any member is unknown */
}

const char *jl_model_hub(const struct jl_model_info *model)
{
	const char *const *alias = model->aliases;

	while (!model->hub && alias && *alias && !strchr(*alias, '/'))
		alias++;
	return model->hub ? model->hub : alias ? *alias : NULL;
}

double jl_figure(const struct jl_catalog *cat, const char *id)
{
	const struct jl_rule *rule = jl_rule_by_id(cat, id);

	if (!rule)
		rule = jl_rule_by_id(jl_catalog_embedded(), id);
	return rule ? rule->figure : NAN;
}

const char *jl_spelt(const struct jl_catalog *cat, const char *kind, const char *text)
{
	for (size_t i = 0; i < cat->n_rules; i++)
		if (strcmp(cat->rules[i].kind, kind) == 0 && jl_same_text(cat->rules[i].name, text))
			return cat->rules[i].value;
	return NULL;
}

const struct jl_gpu *jl_find_spelt_gpu(const struct jl_catalog *cat, const char *text, struct jl_err *err)
{
	const struct jl_gpu *gpu = jl_gpu_by_id(cat, jl_spelt(cat, "gpu-spelling", text));

	if (!gpu && jl_find_gpu(&gpu, cat, text, err) != JL_OK)
		return NULL;
	return gpu;
}

/* True if the list is sorted by id; cached, because most lookups are for missing ids. */
static bool params_in_order(const struct jl_catalog *cat)
{
	static _Thread_local struct {
		const struct jl_param_info *params;
		const char *first, *last;
		size_t n;
		bool in_order;
	} known;
	const size_t n = cat->n_params;

	if (n == 0)
		return true;
	if (known.params == cat->params && known.n == n && known.first == cat->params[0].id &&
	    known.last == cat->params[n - 1].id)
		return known.in_order;
	known.params = cat->params;
	known.n = n;
	known.first = cat->params[0].id;
	known.last = cat->params[n - 1].id;
	known.in_order = true;
	for (size_t i = 1; known.in_order && i < n; i++)
		known.in_order = strcmp(cat->params[i - 1].id, cat->params[i].id) < 0;
	return known.in_order;
}

/* Binary search, then a linear scan: an overlay may append records out of order. */
const struct jl_param_info *jl_param_by_id(const struct jl_catalog *cat, const char *id)
{
	size_t lo = 0, hi = id ? cat->n_params : 0;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		const int order = strcmp(id, cat->params[mid].id);

		if (order == 0)
			return &cat->params[mid];
		if (order < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (params_in_order(cat))
		return NULL;
	for (size_t i = 0; id && i < cat->n_params; i++)
		if (strcmp(cat->params[i].id, id) == 0)
			return &cat->params[i];
	return NULL;
}
