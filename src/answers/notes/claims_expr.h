/* Expressions from which claims are derived. They use the scenario's inputs, listed facts and predictions.
 *
 *     batches * step_s                          inputs by name, with their units
 *     2.14 USD/h * 15% * 24 h * 300             numbers with units
 *     catalog(h200-sxm, fp16_fp32acc_dense)     a listed fact; link(nvlink3-bridge, oneway)
 *     compare(rtx-4090).epoch_s                 the observed run transferred to another system
 *     predict(10x rtx-3090, mode=zero2).speedup the scenario's model on a system
 *     busbw(algbw, n)  break_even(price, rent, util, power, per_kWh)  cost.break_even(desktop, aws)
 *
 * No loops, no assignment. Length, depth and number of calls are limited. */
#pragma once

#include "notes/claims_value.h"
#include "scenario/scenario.h"

#define JL_EXPR_LEN_MAX   512
#define JL_EXPR_DEPTH_MAX 24
#define JL_EXPR_ARGS_MAX  6
#define JL_INPUTS_MAX     512

struct jl_expr_input { /* an entry of inputs:, e.g. step_s: 1.06 s */
	const char *name, *text;
	struct jl_val val;
	struct jl_where where;
};

struct jl_scenario_results;

struct jl_expr_scope {
	const struct jl_scenario *scenario; /* NULL: none */
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	long today;
	struct jl_expr_input *inputs;
	size_t n_inputs;
	struct jl_scenario_results *costs; /* computed on first use */
};

/* JL_E_ABSENT: a valid expression that needs an unknown value, named in `err`. */
enum jl_status jl_expr_eval(struct jl_val *ret_val, struct jl_expr_scope *scope, const char *text, struct jl_err *err);

/* Reads `inputs:` in order: an input may use previous ones. */
enum jl_status jl_expr_read_inputs(struct jl_expr_scope *scope, const struct jl_yaml *inputs, struct jl_err *err);

/* True if the text contains newlines or other control characters. */
bool jl_has_control(const char *text);

/* A function call, for claims_call.c. `args` are text without surrounding spaces; `field` may be NULL. */
struct jl_call {
	const char *name, *field;
	const char *args[JL_EXPR_ARGS_MAX];
	size_t n_args;
	int depth; /* nesting depth of the expression */
};
enum jl_status jl_call_eval(struct jl_val *ret_val, struct jl_expr_scope *scope, const struct jl_call *call,
			    struct jl_err *err);
enum jl_status jl_expr_eval_at(struct jl_val *ret_val, struct jl_expr_scope *scope, const char *text, int depth,
			       struct jl_err *err);

enum jl_status jl_call_compare(struct jl_val *ret_val, struct jl_expr_scope *scope, const struct jl_call *call,
			       struct jl_err *err);
enum jl_status jl_call_predict(struct jl_val *ret_val, struct jl_expr_scope *scope, const struct jl_call *call,
			       struct jl_err *err);
enum jl_status jl_call_allreduce(struct jl_val *ret_val, struct jl_expr_scope *scope, const struct jl_call *call,
				 struct jl_err *err);
enum jl_status jl_call_cost(struct jl_val *ret_val, struct jl_expr_scope *scope, const struct jl_call *call,
			    struct jl_err *err);
