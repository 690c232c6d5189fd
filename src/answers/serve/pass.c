#include "serve/pass.h"

#include <math.h>

/* Keys and values are sent between machines over a 400 Gbit/s NIC per device, at three quarters. */
#define TRANSFER_BPS (0.75 * 50e9)

static double pass_s(const void *ctx, const struct jl_pass *pass)
{
	return jl_serve_pass(ctx, pass).step_s;
}

/* Parts of a machine with their own engine limits. */
static double ranks_of(const struct jl_serve_job *job, const struct jl_policy *policy)
{
	return (job->place.by_layer ? 1.0 : fmax(job->place.n_stages, 1.0)) *
	       (job->place.split_batch && !policy->shared_limits ? job->place.n_gpus : 1.0);
}

/* A job as identical machines: ctx is the struct jl_serve_job, which must outlive them. */
static struct jl_workers workers_of(const struct jl_serve_job *job, const struct jl_policy *policy, double n)
{
	return (struct jl_workers){ .n = (int)fmin(fmax(n, 1.0), JL_SERVING_WORKERS_MAX / 2.0),
				    .pass_s = pass_s,
				    .ctx = job,
				    .ranks = ranks_of(job, policy),
				    .kv_tokens = fmin(jl_serve_room(job, 1.0, policy->mem_frac), 1e12) };
}

double jl_prompt_budget(const struct jl_serve_job *prompts, const struct jl_policy *policy)
{
	if (prompts->place.split_batch && policy->prompt_budget > 0)
		return policy->prompt_budget * prompts->place.n_gpus;
	return policy->token_budget * ranks_of(prompts, policy);
}

struct jl_sim_setup jl_sim_setup_of(const struct jl_serve_job *job, double n, const struct jl_serve_job *prompts,
				    double n_prompts, const struct jl_policy *policy)
{
	struct jl_sim_setup setup = { .policy = policy,
				      .workers = workers_of(job, policy, n),
				      .front_s = job->fit->front_s,
				      .line_token_s = job->fit->line_token_s,
				      .front_token_s = job->fit->front_token_s,
				      .first_s = job->fit->first_s + job->model->n_moe_layers * job->fit->first_moe_s,
				      .late = job->fit->late + (job->place.split_batch ? job->fit->dp_late : 0) };

	if (prompts) {
		const double token_B = job->model->context_frac * job->model->kv_elems * job->format.kv_B;

		setup.prompts = workers_of(prompts, policy, n_prompts);
		setup.prompts.budget = jl_prompt_budget(prompts, policy);
		setup.transfer_s = job->fit->handoff_s;
		setup.transfer_token_s = token_B / (TRANSFER_BPS * fmin(prompts->place.n_gpus, job->place.n_gpus));
	}
	return setup;
}
