/* Catalog values in claims' expressions. */
#include <math.h>
#include <string.h>

#include "catalog/fields.h"
#include "catalog/find.h"
#include "notes/claims_expr.h"

static enum jl_status not_listed(struct jl_err *err, const char *name, const char *field)
{
	return jl_fail(err, JL_E_ABSENT, "the catalog does not have %.40s of %.60s", field, name);
}

static enum jl_status from_fields(struct jl_val *ret_val, const struct jl_fact_fields *fields, const void *record,
				  const char *name, const char *key, struct jl_err *err)
{
	for (size_t i = 0; i < fields->n; i++) {
		if (strcmp(fields->rows[i].key, key) != 0 && strcmp(fields->rows[i].member, key) != 0)
			continue;
		const struct jl_fact *fact = jl_field_fact(record, &fields->rows[i]);
		if (isnan(fact->value))
			return not_listed(err, name, key);
		*ret_val = jl_val_of(fact->value, fields->rows[i].kind);
		return JL_OK;
	}
	return jl_fail(err, JL_E_NOTFOUND,
		       "catalog(): no field '%.40s'; there are mem, mem_rate, fp32, fp16_fp32acc_dense, tdp ...", key);
}

static enum jl_status of_gpu(struct jl_val *ret_val, const struct jl_catalog *cat, const struct jl_gpu *gpu,
			     const char *field, struct jl_err *err)
{
	const struct jl_family *family = jl_family_by_id(cat, gpu->family);
	const struct {
		const char *name;
		double value;
	} counts[] = { { "year", gpu->year ? (double)gpu->year : (double)NAN },
		       { "tensor_gen",
			 family && family->tensor_generation ? (double)family->tensor_generation : (double)NAN } };

	for (size_t i = 0; i < JL_LEN(counts); i++)
		if (strcmp(field, counts[i].name) == 0) {
			if (isnan(counts[i].value))
				return not_listed(err, gpu->id, field);
			*ret_val = jl_val_number(counts[i].value);
			return JL_OK;
		}
	return from_fields(ret_val, &jl_gpu_fields, gpu, gpu->id, field, err);
}

enum jl_status jl_call_catalog(struct jl_val *ret_val, struct jl_expr_scope *scope, const struct jl_call *call,
			       struct jl_err *err)
{
	const struct jl_model_info *model;
	struct jl_found found;

	if (call->field)
		return jl_fail(err, JL_E_PARSE, "catalog() is written catalog(rtx-4090, mem)");
	if (strcmp(call->args[1], "params") == 0) {
		JL_TRY(jl_find_model(&model, scope->cat, call->args[0], err));
		if (isnan(model->params))
			return not_listed(err, model->id, "params");
		*ret_val = jl_val_number(model->params);
		return JL_OK;
	}
	JL_TRY(jl_find_unit(&found, scope->cat, call->args[0], err));
	if (found.gpu)
		return of_gpu(ret_val, scope->cat, found.gpu, call->args[1], err);
	if (strcmp(call->args[1], "n_gpu") == 0) {
		*ret_val = jl_val_number(found.system->n_gpu);
		return JL_OK;
	}
	return from_fields(ret_val, &jl_system_fields, found.system, found.system->id, call->args[1], err);
}

enum jl_status jl_call_link(struct jl_val *ret_val, struct jl_expr_scope *scope, const struct jl_call *call,
			    struct jl_err *err)
{
	const struct jl_link_info *link;
	const bool oneway = strcmp(call->args[1], "oneway") == 0;

	JL_TRY(jl_find_link(&link, scope->cat, call->args[0], JL_ROLE_ANY, err));
	if (call->field || (!oneway && strcmp(call->args[1], "bothway") != 0))
		return jl_fail(err, JL_E_PARSE, "link() is written link(pcie5-x16, oneway) or ..., bothway)");
	const struct jl_fact *fact = oneway ? &link->oneway_Bps : &link->bothway_Bps;
	if (isnan(fact->value))
		return not_listed(err, link->id, call->args[1]);
	*ret_val = jl_val_of(fact->value, JL_K_BYTE_RATE);
	return JL_OK;
}
