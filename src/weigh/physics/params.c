#include "physics/params.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "catalog/find.h"

#define PARENTS_MAX 8 /* of a family, one above the other */

/* A family that nobody measured begins where its parent ended: what the fit made of the parent's prior, it makes of this one's. */
static double by_parent(const struct jl_catalog *cat, const struct jl_param *param)
{
	static const char mark[] = ".family.";
	const char *at = strstr(param->name, mark), *end = at ? strchr(at + strlen(mark), '.') : NULL;
	char id[80], name[sizeof(param->name)];

	if (!end || (size_t)(end - at) - strlen(mark) >= sizeof(id))
		return param->prior;
	(void)snprintf(id, sizeof(id), "%.*s", (int)(end - at - (ptrdiff_t)strlen(mark)), at + strlen(mark));
	for (int up = 0; up < PARENTS_MAX; up++) {
		const struct jl_family *family = jl_family_by_id(cat, id);

		if (!family || !family->parent)
			break;
		(void)snprintf(name, sizeof(name), "%.*s%s%s%s", (int)(at - param->name), param->name, mark,
			       family->parent, end);
		const struct jl_param_info *parent = jl_param_by_id(cat, name);

		if (parent && parent->prior > 0)
			return fmin(fmax(param->prior * parent->value / parent->prior, param->lo), param->hi);
		(void)snprintf(id, sizeof(id), "%s", family->parent);
	}
	return param->prior;
}

void jl_params_read(const struct jl_catalog *cat, const struct jl_param_list *list, double *ret_x)
{
	for (size_t i = 0; i < list->n; i++) {
		struct jl_param param;

		list->at(list->ctx, i, &param);
		const struct jl_param_info *info = jl_param_by_id(cat, param.name);

		ret_x[i] = info ? info->value : by_parent(cat, &param);
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
