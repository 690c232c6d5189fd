/* Functions of claims' expressions, one row each. Arithmetic is here; functions of the catalog and of predictions are in claims_facts.c and
 * claims_program.c. */
#include <math.h>
#include <string.h>

#include "base/near.h"
#include "notes/claims_expr.h"
#include "catalog/fields.h"
#include "catalog/find.h"

/* The error for a fact missing in the catalog. */

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

/* claims_facts.c, claims_program.c: functions of the catalog and of predictions */
static enum jl_status call_catalog(struct jl_val *ret_val, struct jl_expr_scope *scope, const struct jl_call *call,
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

static enum jl_status call_link(struct jl_val *ret_val, struct jl_expr_scope *scope, const struct jl_call *call,
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

/* Either `values` (numeric arguments) or `text` is set. */
struct function {
	const char *name;
	size_t n_min, n_max;
	enum jl_status (*values)(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err);
	enum jl_status (*text)(struct jl_val *ret_val, struct jl_expr_scope *scope, const struct jl_call *call,
			       struct jl_err *err);
	const char *form; /* syntax, for messages */
};

static enum jl_status want_same(const struct jl_val *args, size_t n, struct jl_err *err)
{
	char a[JL_DIM_TEXT_MAX], b[JL_DIM_TEXT_MAX];

	for (size_t i = 1; i < n; i++)
		if (!jl_dim_same(&args[0].dim, &args[i].dim))
			return jl_fail(err, JL_E_UNIT, "the arguments have different units: %s and %s",
				       jl_dim_text(a, &args[0].dim), jl_dim_text(b, &args[i].dim));
	return JL_OK;
}

/* Maximum, or minimum for sign -1. */
static enum jl_status extreme(struct jl_val *ret_val, const struct jl_val *args, size_t n, double sign,
			      struct jl_err *err)
{
	*ret_val = args[0];
	for (size_t i = 1; i < n; i++)
		if (sign * args[i].v > sign * ret_val->v)
			*ret_val = args[i];
	return want_same(args, n, err);
}

static enum jl_status least(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	return extreme(ret_val, args, n, -1, err);
}

static enum jl_status most(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	return extreme(ret_val, args, n, 1, err);
}

/* range(a, b): the interval that covers both arguments */
static enum jl_status range(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	enum jl_status status = want_same(args, n, err);

	*ret_val = args[0];
	ret_val->lo = fmin(args[0].lo, args[1].lo);
	ret_val->hi = fmax(args[0].hi, args[1].hi);
	ret_val->v = (ret_val->lo + ret_val->hi) / 2;
	ret_val->estimate = args[0].estimate || args[1].estimate;
	return status;
}

static enum jl_status want_number(const struct jl_val *arg, struct jl_err *err)
{
	char unit[JL_DIM_TEXT_MAX];

	if (jl_dim_none(&arg->dim))
		return JL_OK;
	return jl_fail(err, JL_E_UNIT, "a plain number is required, not one in %s", jl_dim_text(unit, &arg->dim));
}

static enum jl_status want_count(const struct jl_val *arg, struct jl_err *err)
{
	JL_TRY(want_number(arg, err));
	return arg->v >= 2 && arg->v <= 1e7 ? JL_OK : jl_fail(err, JL_E_RANGE, "2 to 10000000 of them are required");
}

static enum jl_status round_up(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	(void)n;
	*ret_val = jl_val_number(ceil(args[0].v));
	return want_number(&args[0], err);
}

static enum jl_status round_down(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	(void)n;
	*ret_val = jl_val_number(floor(args[0].v));
	return want_number(&args[0], err);
}

/* as in nccl-tests: a ring sends 2 (n-1)/n of the buffer over each link */
static enum jl_status busbw(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	const struct jl_val factor = jl_val_number(2 * (args[1].v - 1) / args[1].v);

	(void)n;
	JL_TRY(want_count(&args[1], err));
	return jl_val_apply(ret_val, '*', &args[0], &factor, err);
}

static enum jl_status ring_steps(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	(void)n;
	*ret_val = jl_val_number(2 * (args[0].v - 1));
	return want_count(&args[0], err);
}

/* price, rent per hour, utilisation, power in use, price of energy: time until buying is cheaper */
static enum jl_status break_even(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	struct jl_val power, saved;

	(void)n;
	JL_TRY(jl_val_apply(&power, '*', &args[3], &args[4], err));
	JL_TRY(jl_val_apply(&saved, '-', &args[1], &power, err));
	JL_TRY(jl_val_apply(&saved, '*', &saved, &args[2], err));
	if (!(saved.lo > 0))
		return jl_fail(err, JL_E_ABSENT, "renting costs less than the electricity: it never breaks even");
	return jl_val_apply(ret_val, '/', &args[0], &saved, err);
}

static const struct function functions[] = {
	{ "min", 2, JL_EXPR_ARGS_MAX, least, NULL, "min(a, b)" },
	{ "max", 2, JL_EXPR_ARGS_MAX, most, NULL, "max(a, b)" },
	{ "range", 2, 2, range, NULL, "range(a, b)" },
	{ "ceil", 1, 1, round_up, NULL, "ceil(a)" },
	{ "floor", 1, 1, round_down, NULL, "floor(a)" },
	{ "busbw", 2, 2, busbw, NULL, "busbw(algbw, n)" },
	{ "ring_steps", 1, 1, ring_steps, NULL, "ring_steps(n)" },
	{ "break_even", 5, 5, break_even, NULL, "break_even(price, rent, util, power, per_kWh)" },
	{ "catalog", 2, 2, NULL, call_catalog, "catalog(rtx-4090, mem)" },
	{ "link", 2, 2, NULL, call_link, "link(pcie5-x16, oneway)" },
	{ "compare", 1, 2, NULL, jl_call_compare, "compare(rtx-4090).epoch_s" },
	{ "predict", 1, JL_EXPR_ARGS_MAX, NULL, jl_call_predict, "predict(4x rtx-3090, mode=zero2).speedup" },
	{ "allreduce", 3, 3, NULL, jl_call_allreduce, "allreduce(aws:p5.48xlarge, 125, 16 GB).algbw_Bps" },
	{ "cost.break_even", 2, 2, NULL, jl_call_cost, "cost.break_even(desktop, aws)" },
};

#define N_FUNCTIONS (JL_LEN(functions))

static enum jl_status unknown_function(const char *name, struct jl_err *err)
{
	const char *names[N_FUNCTIONS];
	size_t near;

	for (size_t i = 0; i < N_FUNCTIONS; i++)
		names[i] = functions[i].name;
	if (!jl_near_rank(name, names, N_FUNCTIONS, &near, 1))
		near = 8;
	return jl_fail(err, JL_E_NOTFOUND, "there is no function %.40s(); e.g. %s", name, functions[near].form);
}

enum jl_status jl_call_eval(struct jl_val *ret_val, struct jl_expr_scope *scope, const struct jl_call *call,
			    struct jl_err *err)
{
	const struct function *f = functions;
	struct jl_val args[JL_EXPR_ARGS_MAX], r;

	while (f < functions + N_FUNCTIONS && strcmp(f->name, call->name) != 0)
		f++;
	if (f == functions + N_FUNCTIONS)
		return unknown_function(call->name, err);
	if (call->n_args < f->n_min || call->n_args > f->n_max || (f->values && call->field))
		return jl_fail(err, JL_E_PARSE, "%s() is written %s", f->name, f->form);
	if (f->text)
		return f->text(ret_val, scope, call, err);
	for (size_t i = 0; i < call->n_args; i++)
		JL_TRY(jl_expr_eval_at(&args[i], scope, call->args[i], call->depth + 1, err));
	JL_TRY(f->values(&r, args, call->n_args, err));
	*ret_val = r;
	return JL_OK;
}
