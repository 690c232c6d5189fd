/* Simulates a run's client: the published ones (closed loop, all requests at the start), and the composition of their times. */
#include <math.h>

#include "base/mem.h"
#include "serve/load.h"
#include "serve/pass.h"
#include "serve/serve.h"

/* Offline runs: a few requests per slot. */
#define OFFLINE_EACH   4
#define SEED           1
#define LOOSE_LN       0.03
#define WORKERS_ENOUGH 16
#define ROOM_SEQS      4096
#define ROOM_LEAST     16 /* published servers have room for more */

static bool simulated(const struct jl_serve_run *run)
{
	return run->metric == JL_METRIC_TTFT || run->metric == JL_METRIC_TPOT || run->metric == JL_METRIC_LOAD;
}

static struct jl_serve_job job_of(const struct jl_device *dev, const struct jl_serve_fit *fit,
				  const struct jl_serve_run *run, bool prompts)
{
	return (struct jl_serve_job){ .dev = dev,
				      .fit = fit,
				      .ops = run->ops,
				      .model = &run->model,
				      .format = run->format,
				      .place = prompts ? run->prefill : run->place };
}

/* Prompt machines that keep up with the answers, if their number is not known. */
static double keep_up(const struct jl_device *dev, const struct jl_serve_fit *fit, const struct jl_serve_run *run,
		      double n_requests, const struct jl_policy *policy)
{
	const struct jl_serve_job job = job_of(dev, fit, run, false), prompts = job_of(dev, fit, run, true);
	const double together = fmin(fmax(jl_prompt_budget(&prompts, policy) / run->prompt, 1), n_requests);
	const struct jl_pass answer = jl_pass_decode(n_requests, run->prompt + 0.5 * run->output),
			     prompt = jl_pass_prefill(together, run->prompt);
	const double rate_hz = n_requests / (run->output * jl_serve_pass(&job, &answer).step_s);

	return fmin(fmax(nearbyint(rate_hz * jl_serve_pass(&prompts, &prompt).step_s / together), 1), WORKERS_ENOUGH);
}

/* Identical machines: the smallest set with the same ratio of prompt to answer machines, with its requests. */
static double alike(const struct jl_serve_run *run)
{
	const double answers = fmax(run->n_decode_workers, 1);

	if (run->prefill.n_gpus <= 0)
		return 1;
	if (!isfinite(run->n_prefill_workers))
		return answers;
	for (double n = fmin(answers, run->n_prefill_workers); n > 1; n--)
		if (fmod(answers, n) == 0 && fmod(run->n_prefill_workers, n) == 0)
			return n;
	return 1;
}

static enum jl_status simulate(struct jl_sim_result *ret_result, struct jl_passes *ret_passes,
			       const struct jl_device *dev, const struct jl_serve_fit *fit,
			       const struct jl_serve_run *run, struct jl_err *err)
{
	const struct jl_serve_job job = job_of(dev, fit, run, false), prompts = job_of(dev, fit, run, true);
	const double groups = alike(run), n_requests = fmax(run->n_requests / groups, 1);
	const double each = run->metric == JL_METRIC_LOAD ? OFFLINE_EACH : JL_CLIENT_EACH;
	struct jl_load_ask ask = { .seed = SEED };
	struct jl_policy policy = *jl_policy_of(run->engine);
	struct jl_arrival *arrivals;
	struct jl_sim_setup setup;
	struct jl_load load;

	jl_load_client(&ask, run->prompt, run->output, n_requests, each);
	ask.lengths.least_frac = run->spread ? ask.lengths.least_frac : 1.0;
	ask.lengths.spread_ln = run->loose ? LOOSE_LN : 0;
	if (run->budget > 0)
		policy.token_budget = (int)run->budget;
	if (run->max_batch > 0)
		policy.max_seqs = (int)fmin(run->max_batch, ROOM_SEQS);
	else if (!run->reckoned)
		policy.max_seqs = (int)fmax(policy.max_seqs,
					    ceil(n_requests / fmax(run->n_decode_workers / groups, 1)));
	setup = jl_sim_setup_of(&job, run->n_decode_workers / groups, run->prefill.n_gpus > 0 ? &prompts : NULL,
				isfinite(run->n_prefill_workers) ? run->n_prefill_workers / groups
								 : keep_up(dev, fit, run, n_requests, &policy),
				&policy);
	setup.means = true;
	setup.late += fit->hold_frac * run->hold;
	/* one front end for all */
	setup.n_alike = groups;
	/* A published run fitted, even if the memory model disagrees. */
	const double together = fmin(fmax(n_requests / setup.workers.n, 1), ROOM_LEAST);

	if (!run->reckoned) {
		setup.workers.kv_tokens = fmax(setup.workers.kv_tokens,
					       1.1 * together * (run->prompt + run->output) + 256);
		setup.prompts.kv_tokens = fmax(setup.prompts.kv_tokens, 2.2 * (run->prompt + run->output) + 256);
	}
	arrivals = jl_realloc(NULL, ask.n * sizeof(*arrivals));
	JL_TRY(jl_got(arrivals, err));
	jl_load_make(&load, arrivals, &ask);
	const enum jl_status status = jl_simulate(ret_result, &setup, &load, NULL, ret_passes, err);

	jl_free(arrivals);
	return status;
}

enum jl_status jl_run_simulate(struct jl_sim_result *ret_result, struct jl_run_plan *ret_plan,
			       const struct jl_device *dev, const struct jl_serve_fit *fit,
			       const struct jl_serve_run *run, struct jl_err *err)
{
	struct jl_passes passes;
	const enum jl_status status = simulate(ret_result, &passes, dev, fit, run, err);
	const double tokens = status ? 1 : ret_result->output_tps * ret_result->span_s;

	if (status)
		return status;
	ret_plan->n = passes.n;
	ret_plan->n_handoff = run->prefill.n_gpus > 0;
	ret_plan->n_hold = run->hold;
	ret_plan->front_req = ret_result->front_wait_s / (fit->front_s + fit->line_token_s * run->prompt);
	ret_plan->prompt = run->prompt;
	for (int i = 0; i < passes.n; i++) {
		const struct jl_pass_share *s = &passes.shares[i];
		const struct jl_serve_job job = job_of(dev, fit, run, s->prompts);

		ret_plan->shares[i] = (struct jl_run_share){ .work = jl_serve_work(&job, &s->pass),
							     .weight = { [JL_METRIC_TTFT] = s->ttft,
									 [JL_METRIC_TPOT] = s->tpot,
									 [JL_METRIC_LOAD] = s->span / tokens } };
	}
	return JL_OK;
}

enum jl_status jl_serve_plan(struct jl_run_plan *ret_plan, double *ret_run_s, const struct jl_device *dev,
			     const struct jl_serve_fit *fit, const struct jl_serve_run *run, struct jl_err *err)
{
	struct jl_sim_result r = { .n_ended = 0 };

	for (int m = 0; ret_run_s && m < JL_N_METRIC; m++)
		ret_run_s[m] = NAN;
	if (simulated(run)) {
		const enum jl_status status = jl_run_simulate(&r, ret_plan, dev, fit, run, err);

		if (status || !ret_run_s)
			return status;
		ret_run_s[JL_METRIC_TTFT] = r.ttft_s.mean;
		ret_run_s[JL_METRIC_TPOT] = r.tpot_s.mean;
		ret_run_s[JL_METRIC_LOAD] = 1 / r.output_tps;
		return JL_OK;
	}
	const struct jl_serve_job job = job_of(dev, fit, run, false);
	struct jl_pass pass = run->metric == JL_METRIC_DECODE ? jl_pass_decode(run->n_requests, run->context)
							      : jl_pass_prefill(run->n_requests, run->prompt),
		       after = jl_pass_decode(run->n_requests, run->prompt + 0.5 * run->output);

	if (jl_engine_info(run->engine)->eager)
		pass.captured = after.captured = false;

	*ret_plan = (struct jl_run_plan){ .n = run->generate ? 2 : 1 };
	ret_plan->shares[0].work = jl_serve_work(&job, &pass);
	ret_plan->shares[0].weight[run->metric] = 1;
	ret_plan->shares[1].work = jl_serve_work(&job, &after);
	ret_plan->shares[1].weight[run->metric] = run->output;
	if (ret_run_s)
		ret_run_s[run->metric] = jl_serve_plan_s(ret_plan, dev, fit, run->metric, NULL);
	return JL_OK;
}

double jl_serve_plan_s(const struct jl_run_plan *plan, const struct jl_device *dev, const struct jl_serve_fit *fit,
		       enum jl_serve_metric metric, struct jl_serve_step *ret_step)
{
	struct jl_serve_step sum = {
		.fixed_s = metric == JL_METRIC_TTFT
				   ? fit->first_s + plan->shares[0].work.n_moe_layers * fit->first_moe_s +
					     plan->front_req * (fit->front_s + fit->line_token_s * plan->prompt) +
					     plan->prompt * fit->front_token_s + plan->n_handoff * fit->handoff_s
				   : 0
	};

	sum.step_s = sum.fixed_s;
	for (int i = 0; i < plan->n; i++) {
		const struct jl_run_share *share = &plan->shares[i];
		/* what runs before a first token */
		const double late = metric == JL_METRIC_TTFT && share->work.captured
					    ? (fit->late + fit->hold_frac * plan->n_hold +
					       (share->work.split_batch ? fit->dp_late : 0)) *
						      share->weight[JL_METRIC_TPOT]
					    : 0;
		const double weight = share->weight[metric] + late;

		if (!(weight > 0))
			continue;
		const struct jl_serve_step s = jl_serve_sum(&share->work, dev, fit);

		sum.step_s += weight * s.step_s;
		sum.weights_s += weight * s.weights_s;
		sum.math_s += weight * s.math_s;
		sum.kv_s += weight * s.kv_s;
		sum.attention_s += weight * s.attention_s;
		sum.exchange_s += weight * s.exchange_s;
		sum.fixed_s += weight * s.fixed_s;
	}
	if (ret_step)
		*ret_step = sum;
	return sum.step_s;
}
