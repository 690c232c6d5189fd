/* The functions of claims' expressions: one row each. Arithmetic is here; the catalog's and the program's are in the files beside it. */
#include <math.h>
#include <string.h>

#include "base/near.h"
#include "audit/claims_expr.h"

enum arg_kind { ARGS_VALUES, ARGS_TEXT };

struct function {
	const char *name;
	enum arg_kind takes;
	size_t n_min, n_max;
	enum jl_status (*values)(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err);
	enum jl_status (*text)(struct jl_val *ret_val, struct jl_reckon *reckon, const struct jl_call *call,
			       struct jl_err *err);
	const char *form; /* how it is written, for messages */
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

static enum jl_status least(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	enum jl_status status = want_same(args, n, err);

	*ret_val = args[0];
	for (size_t i = 1; i < n; i++)
		if (args[i].v < ret_val->v)
			*ret_val = args[i];
	return status;
}

static enum jl_status most(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	enum jl_status status = want_same(args, n, err);

	*ret_val = args[0];
	for (size_t i = 1; i < n; i++)
		if (args[i].v > ret_val->v)
			*ret_val = args[i];
	return status;
}

/* range(a, b): from the smaller to the larger */
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
	return jl_fail(err, JL_E_UNIT, "a plain number is wanted, not one in %s", jl_dim_text(unit, &arg->dim));
}

static enum jl_status want_count(const struct jl_val *arg, struct jl_err *err)
{
	enum jl_status status = want_number(arg, err);

	if (!status && !(arg->v >= 2 && arg->v <= 1e7))
		return jl_fail(err, JL_E_RANGE, "2 to 10000000 of them are wanted");
	return status;
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

static enum jl_status scaled(struct jl_val *ret_val, const struct jl_val *a, double factor, struct jl_err *err)
{
	const struct jl_val f = jl_val_number(factor);

	return jl_val_apply(ret_val, '*', a, &f, err);
}

/* nccl-tests: a ring sends 2 (n-1)/n of the buffer through each link */
static enum jl_status busbw(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	enum jl_status status = want_count(&args[1], err);

	(void)n;
	return status ? status : scaled(ret_val, &args[0], 2 * (args[1].v - 1) / args[1].v, err);
}

static enum jl_status ring_steps(struct jl_val *ret_val, const struct jl_val *args, size_t n, struct jl_err *err)
{
	enum jl_status status = want_count(&args[0], err);

	(void)n;
	*ret_val = jl_val_number(2 * (args[0].v - 1));
	return status;
}

/* price, rent an hour, share of the hours used, watts while used, price of energy: how long until buying is cheaper */
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
	{ .name = "min", .n_min = 2, .n_max = JL_EXPR_ARGS_MAX, .values = least, .form = "min(a, b)" },
	{ .name = "max", .n_min = 2, .n_max = JL_EXPR_ARGS_MAX, .values = most, .form = "max(a, b)" },
	{ .name = "range", .n_min = 2, .n_max = 2, .values = range, .form = "range(a, b)" },
	{ .name = "ceil", .n_min = 1, .n_max = 1, .values = round_up, .form = "ceil(a)" },
	{ .name = "floor", .n_min = 1, .n_max = 1, .values = round_down, .form = "floor(a)" },
	{ .name = "busbw", .n_min = 2, .n_max = 2, .values = busbw, .form = "busbw(algbw, n)" },
	{ .name = "ring_steps", .n_min = 1, .n_max = 1, .values = ring_steps, .form = "ring_steps(n)" },
	{ .name = "break_even",
	  .n_min = 5,
	  .n_max = 5,
	  .values = break_even,
	  .form = "break_even(price, rent, util, power, per_kWh)" },
	{ .name = "catalog",
	  .takes = ARGS_TEXT,
	  .n_min = 2,
	  .n_max = 2,
	  .text = jl_call_catalog,
	  .form = "catalog(rtx-4090, mem)" },
	{ .name = "link",
	  .takes = ARGS_TEXT,
	  .n_min = 2,
	  .n_max = 2,
	  .text = jl_call_link,
	  .form = "link(pcie5-x16, oneway)" },
	{ .name = "compare",
	  .takes = ARGS_TEXT,
	  .n_min = 1,
	  .n_max = 2,
	  .text = jl_call_compare,
	  .form = "compare(rtx-4090).epoch_s" },
	{ .name = "predict",
	  .takes = ARGS_TEXT,
	  .n_min = 1,
	  .n_max = JL_EXPR_ARGS_MAX,
	  .text = jl_call_predict,
	  .form = "predict(4x rtx-3090, mode=zero2).speedup" },
	{ .name = "allreduce",
	  .takes = ARGS_TEXT,
	  .n_min = 3,
	  .n_max = 3,
	  .text = jl_call_allreduce,
	  .form = "allreduce(aws:p5.48xlarge, 125, 16 GB).algbw_Bps" },
	{ .name = "cost.break_even",
	  .takes = ARGS_TEXT,
	  .n_min = 2,
	  .n_max = 2,
	  .text = jl_call_cost,
	  .form = "cost.break_even(desktop, aws)" },
};

#define N_FUNCTIONS (sizeof functions / sizeof functions[0])

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

enum jl_status jl_call_eval(struct jl_val *ret_val, struct jl_reckon *reckon, const struct jl_call *call,
			    struct jl_err *err)
{
	const struct function *f = functions;
	struct jl_val args[JL_EXPR_ARGS_MAX], r;
	enum jl_status status = JL_OK;

	while (f < functions + N_FUNCTIONS && strcmp(f->name, call->name) != 0)
		f++;
	if (f == functions + N_FUNCTIONS)
		return unknown_function(call->name, err);
	if (call->n_args < f->n_min || call->n_args > f->n_max || (f->takes == ARGS_VALUES && call->field))
		return jl_fail(err, JL_E_PARSE, "%s() is written %s", f->name, f->form);
	if (f->takes == ARGS_TEXT)
		return f->text(ret_val, reckon, call, err);
	for (size_t i = 0; !status && i < call->n_args; i++)
		status = jl_expr_eval_at(&args[i], reckon, call->args[i], call->depth + 1, err);
	if (!status && !(status = f->values(&r, args, call->n_args, err)))
		*ret_val = r;
	return status;
}
