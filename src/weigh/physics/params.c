#include "physics/params.h"

#include <string.h>

#include "catalog/find.h"

void jl_params_read(const struct jl_catalog *cat, const struct jl_param_list *list, double *ret_x)
{
	for (size_t i = 0; i < list->n; i++) {
		struct jl_param param;

		list->at(list->ctx, i, &param);
		const struct jl_param_info *info = jl_param_by_id(cat, param.name);

		ret_x[i] = info ? info->value : param.prior;
	}
}

void jl_params_start(const struct jl_param_list *list, double *ret_x)
{
	for (size_t i = 0; i < list->n; i++) {
		struct jl_param param;

		list->at(list->ctx, i, &param);
		ret_x[i] = param.prior;
	}
}

bool jl_params_seen(const struct jl_catalog *cat, const char *prefix)
{
	const size_t len = strlen(prefix);

	for (size_t i = 0; i < cat->n_params; i++)
		if (cat->params[i].n_rows > 0 && strncmp(cat->params[i].id, prefix, len) == 0)
			return true;
	return false;
}
