/* Functions of claims that use predictions: an observed run on another system, the scenario's model, an all-reduce, buying against renting. What
 * cannot be computed is JL_E_ABSENT: the claim stays open instead of wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "notes/claims_expr.h"
#include "scenario/results.h"

struct result {
	const char *name;
	enum jl_kind kind;
	struct jl_estimate value;
};

#define EXACT(x)                                                                                                       \
	{                                                                                                              \
		(x), (x), (x)                                                                                          \
	}

static enum jl_status choose(struct jl_val *ret_val, const struct jl_call *call, const struct result *results, size_t n,
			     struct jl_err *err)
{
	for (size_t i = 0; call->field && i < n; i++) {
		const struct jl_estimate *e = &results[i].value;

		if (strcmp(results[i].name, call->field) != 0)
			continue;
		if (isnan(e->value))
			return jl_fail(err, JL_E_ABSENT, "%s(%.60s) gives no %s: an input is missing", call->name,
				       call->args[0], call->field);
		*ret_val = jl_val_range(e->value, isnan(e->lo) ? e->value : e->lo, isnan(e->hi) ? e->value : e->hi,
					results[i].kind, true);
		return JL_OK;
	}
	return jl_fail(err, JL_E_NOTFOUND, "%s() has no '%.40s'; write e.g. %s(...).%s", call->name,
		       call->field ? call->field : "", call->name, results[0].name);
}

static enum jl_status absent(struct jl_err *err, const struct jl_err *why)
{
	struct jl_err copy = *why;

	return jl_fail_from(err, JL_E_ABSENT, NULL, &copy, "{}");
}

/* A system of the scenario by name, or a system expression. */
static enum jl_status machine_of(struct jl_machine *ret_machine, struct jl_expr_scope *r, const char *text,
				 struct jl_err *err)
{
	const struct jl_scenario_system *said = r->scenario ? jl_scenario_find(r->scenario, text) : NULL;
	struct jl_err inner;
	struct jl_sys sys;
	enum jl_status status;

	if (said)
		sys = said->sys;
	else if ((status = jl_sys_parse(&sys, r->cat, text, r->arena, err)))
		return status;
	return jl_machine_make(ret_machine, r->cat, &sys, &inner) ? absent(err, &inner) : JL_OK;
}

enum jl_status jl_call_compare(struct jl_val *ret_val, struct jl_expr_scope *r, const struct jl_call *call,
			       struct jl_err *err)
{
	const bool largest = call->n_args == 2 && strcmp(call->args[1], "largest") == 0;
	struct jl_compare *compare;
	enum jl_status status;
	struct jl_err why;

	if (call->n_args == 2 && !largest && strcmp(call->args[1], "same") != 0)
		return jl_fail(err, JL_E_PARSE, "compare(): '%.40s' is not same or largest (the batch)", call->args[1]);
	if (!r->scenario || isnan(r->scenario->observed.step_s) || !r->scenario->n_systems)
		return jl_fail(err, JL_E_ABSENT, "an observed run of this scenario is needed (workload: observed:)");
	if (!(compare = calloc(1, sizeof *compare)))
		return jl_fail_nomem(err);
	compare->n_rows = 2;
	compare->epochs = isnan(r->scenario->request.epochs) ? 1 : r->scenario->request.epochs;
	compare->repeat = compare->tune = compare->pue = NAN;
	if (!(status = machine_of(&compare->rows[0].machine, r, r->scenario->systems[r->scenario->baseline].on, err)) &&
	    !(status = machine_of(&compare->rows[1].machine, r, call->args[0], err)) &&
	    jl_compare_observed(compare, &r->scenario->observed, &why))
		status = absent(err, &why);
	if (!status) {
		const struct jl_compare_row *row = &compare->rows[1];
		const struct jl_compare_at *at = &row->at[largest ? JL_AT_LARGEST_BATCH : JL_AT_SAME_BATCH];
		const struct result results[] = {
			{ "epoch_s", JL_K_TIME, at->epoch_s },      { "step_s", JL_K_TIME, at->step_s },
			{ "run_s", JL_K_TIME, at->run_s },          { "speedup", JL_K_NUMBER, at->speedup },
			{ "energy_J", JL_K_ENERGY, at->energy_J },  { "power_W", JL_K_POWER, EXACT(at->power_W) },
			{ "batch", JL_K_NUMBER, EXACT(at->batch) }, { "limit", JL_K_NUMBER, EXACT(row->limit) },
		};

		status = at->possible ? choose(ret_val, call, results, JL_LEN(results), err) : absent(err, &at->why);
	}
	free(compare);
	return status;
}

/* Parses mode=zero2, gpus=4, model=gpt2-124m, batch=8. */
static enum jl_status read_ask(struct jl_request *req, int *ret_n, struct jl_expr_scope *r, const struct jl_call *call,
			       struct jl_err *err)
{
	for (size_t i = 1; i < call->n_args; i++) {
		const char *arg = call->args[i];
		struct jl_val v;

		if (strncmp(arg, "mode=", 5) == 0) {
			static const char *const modes[] = { "ddp", "zero1", "zero2", "zero3" };
			int zero = 3;

			while (zero >= 0 && strcmp(modes[zero], arg + 5) != 0)
				zero--;
			if (zero < 0)
				return jl_fail(err, JL_E_PARSE, "mode= is ddp, zero1, zero2 or zero3");
			req->plan.zero = zero;
			continue;
		}
		if (strncmp(arg, "model=", 6) == 0) {
			req->model = arg + 6;
			continue;
		}
		if (strncmp(arg, "gpus=", 5) != 0 && strncmp(arg, "batch=", 6) != 0)
			return jl_fail(err, JL_E_PARSE,
				       "predict(): '%.40s' is none of gpus=, mode=, model=, batch=", arg);
		JL_TRY(jl_expr_eval_at(&v, r, strchr(arg, '=') + 1, call->depth + 1, err));
		if (!jl_dim_none(&v.dim) || !(v.v >= 1 && v.v <= 1e6))
			return jl_fail(err, JL_E_RANGE, "predict(): %.40s is not from 1 to 1000000", arg);
		if (arg[0] == 'g')
			*ret_n = (int)v.v;
		else
			req->batch = v.v;
	}
	return JL_OK;
}

/* *ret_recipe (may be NULL): recipe to keep for a series of such runs. */
static enum jl_status predict_on(struct jl_prediction *ret_p, struct jl_request *ret_recipe, struct jl_expr_scope *r,
				 const struct jl_machine *machine, const struct jl_request *req, struct jl_err *err)
{
	struct jl_subject *subject = jl_arena_alloc(r->arena, sizeof *subject);
	struct jl_job *job = jl_arena_alloc(r->arena, sizeof *job);
	struct jl_err why;

	JL_TRY(jl_got(subject && job, err));
	if (jl_subject_find(subject, r->cat, req, r->arena, &why) ||
	    jl_job_weigh(job, r->cat, subject, machine, req, &why))
		return absent(err, &why);
	*ret_p = job->prediction;
	if (ret_recipe)
		*ret_recipe = jl_recipe_of(req, &job->how);
	return JL_OK;
}

enum jl_status jl_call_predict(struct jl_val *ret_val, struct jl_expr_scope *r, const struct jl_call *call,
			       struct jl_err *err)
{
	struct jl_request req = r->scenario ? r->scenario->request : jl_request_empty(), recipe = req;
	struct jl_machine machine, one;
	struct jl_prediction all = { 0 }, single = { 0 };
	enum jl_status status;
	int n_gpus = 0, n;

	JL_TRY(read_ask(&req, &n_gpus, r, call, err));
	JL_TRY(machine_of(&machine, r, call->args[0], err));
	if (!req.model)
		return jl_fail(err, JL_E_ABSENT, "the scenario names no model (workload: model:)");
	if (n_gpus && (status = jl_machine_take(&one, &machine, n_gpus, err)))
		return status;
	if (n_gpus)
		machine = one;
	n = jl_sys_n_devices(&machine.sys);
	JL_TRY(predict_on(&all, &recipe, r, &machine, &req, err));
	JL_TRY(jl_machine_take(&one, &machine, 1, err));
	JL_TRY(predict_on(&single, NULL, r, &one, &recipe, err));
	/* both share the device's error: the range covers that of the links only */
	struct jl_estimate speedup = (struct jl_estimate){ all.samples_per_s.value / single.samples_per_s.value,
							   all.samples_per_s.lo / single.samples_per_s.value,
							   fmin(all.samples_per_s.hi / single.samples_per_s.value, n) };
	return choose(ret_val, call,
		      (const struct result[]){
			      { "samples_per_s", JL_K_COUNT_RATE, all.samples_per_s },
			      { "tokens_per_s", JL_K_COUNT_RATE, all.tokens_per_s },
			      { "step_s", JL_K_TIME, all.step_s },
			      { "memory_B", JL_K_BYTES, EXACT(all.memory.total_B) },
			      { "power_W", JL_K_POWER, EXACT(all.power_W) },
			      { "speedup", JL_K_NUMBER, speedup },
			      { "efficiency", JL_K_NUMBER, { speedup.value / n, speedup.lo / n, speedup.hi / n } } },
		      7, err);
}

enum jl_status jl_call_allreduce(struct jl_val *ret_val, struct jl_expr_scope *r, const struct jl_call *call,
				 struct jl_err *err)
{
	struct jl_collective_case c;
	struct jl_machine machine;
	struct jl_val nodes, size;
	struct jl_sys sys;
	struct jl_err why;

	JL_TRY(jl_expr_eval_at(&nodes, r, call->args[1], call->depth + 1, err));
	JL_TRY(jl_expr_eval_at(&size, r, call->args[2], call->depth + 1, err));
	JL_TRY(jl_sys_parse(&sys, r->cat, call->args[0], r->arena, err));
	if (!jl_dim_none(&nodes.dim) || !(nodes.v >= 1 && nodes.v <= JL_NODES_MAX) || size.dim.e[JL_DIM_B] != 1 ||
	    !(size.v > 0))
		return jl_fail(err, JL_E_RANGE, "allreduce() is written allreduce(aws:p5.48xlarge, 125, 16 GB)");
	if (jl_machine_hosts(&machine, r->cat, &sys, (int)nodes.v, r->arena, &why) ||
	    jl_collective_case(&c, &machine, &(struct jl_collective_ask){ .kind = JL_ALLREDUCE, .size_B = size.v },
			       &why))
		return absent(err, &why);
	return choose(ret_val, call,
		      (const struct result[]){ { "algbw_Bps", JL_K_BYTE_RATE, c.algbw_Bps },
					       { "bound_Bps", JL_K_BYTE_RATE, EXACT(c.bound_Bps) },
					       { "limit_Bps", JL_K_BYTE_RATE, EXACT(c.limit_Bps) },
					       { "time_s", JL_K_TIME, EXACT(c.time_s) } },
		      4, err);
}

/* Computes the scenario's `cost:` on first use. */
static enum jl_status want_costs(struct jl_expr_scope *r, struct jl_err *err)
{
	struct jl_err why;

	if (r->costs)
		return JL_OK;
	if (!r->scenario || !r->scenario->cost.wanted)
		return jl_fail(err, JL_E_ABSENT, "the scenario has no cost: part");
	if (!(r->costs = jl_arena_alloc(r->arena, sizeof *r->costs)))
		return jl_fail_nomem(err);
	*r->costs = (struct jl_scenario_results){
		.scenario = r->scenario, .cat = r->cat, .arena = r->arena, .today = r->today
	};
	if (jl_compute_cost(r->costs, &why)) {
		r->costs = NULL;
		return absent(err, &why);
	}
	return JL_OK;
}

enum jl_status jl_call_cost(struct jl_val *ret_val, struct jl_expr_scope *r, const struct jl_call *call,
			    struct jl_err *err)
{
	const struct jl_cost_study *study;

	JL_TRY(want_costs(r, err));
	study = r->costs->study;
	for (size_t i = 0; study && i < study->n_pairs; i++) {
		const struct jl_cost_pair *p = &study->pairs[i];
		const char *dear = study->options[p->dear].name, *cheap = study->options[p->cheap].name;

		if (!strstr(dear, call->args[0]) || !strstr(cheap, call->args[1]))
			continue;
		if (isnan(p->days))
			return jl_fail(err, JL_E_ABSENT, "it does not break even within the horizon");
		*ret_val = jl_val_of(p->days * 86400, JL_K_TIME);
		return JL_OK;
	}
	return jl_fail(err, JL_E_NOTFOUND, "cost: has no pair of '%.40s' and '%.40s'", call->args[0], call->args[1]);
}
