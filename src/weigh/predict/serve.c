#include "predict/serve.h"

#include <math.h>

static struct jl_estimate around(double value, double half_ln)
{
	return (struct jl_estimate){ .value = value, .lo = value * exp(-half_ln), .hi = value * exp(half_ln) };
}

static int gpus_of_host(const struct jl_machine *machine)
{
	return machine->fabric.n_per_node > 1 ? machine->fabric.n_per_node : 1;
}

/* As many devices as are asked for; or the fewest, in powers of two, that hold weights and all requests, and where not
 * even the whole host does, the whole host. */
static void choose_gpus(struct jl_serve_job *job, const struct jl_serve_ask *ask, int n_host)
{
	const double context = ask->prompt + ask->output;

	job->place.n_gpus = ask->n_gpus > 0 ? ask->n_gpus : 1;
	while (ask->n_gpus <= 0 && job->place.n_gpus * 2 <= n_host && jl_serve_room(job, context) < ask->n_requests)
		job->place.n_gpus *= 2;
}

static enum jl_status check(const struct jl_serve_ask *ask, int n_host, struct jl_err *err)
{
	if (!(ask->n_requests >= 1 && ask->prompt >= 1 && ask->output >= 1) || !isfinite(ask->n_requests) ||
	    !isfinite(ask->prompt) || !isfinite(ask->output))
		return jl_fail(err, JL_E_RANGE, "requests, prompt and output: at least 1 each",
			       "요청 수, 프롬프트, 출력은 각각 1 이상이어야 합니다");
	if (ask->n_gpus > n_host)
		return jl_fail(err, JL_E_RANGE, "%d GPUs for one copy of the model; a host has %d",
			       "모델 하나에 GPU %d개를 요청했지만 호스트에는 %d개뿐입니다", ask->n_gpus, n_host);
	return JL_OK;
}

static void answer(struct jl_serve_answer *ret, const struct jl_serve_job *job, const struct jl_serve_ask *ask,
		   enum jl_serve_scope scope)
{
	const struct jl_serve_load load = { .n_requests = ask->n_requests,
					    .prompt = ask->prompt,
					    .output = ask->output };
	const struct jl_serve_rate rate = jl_serve_rate(job, &load);
	const double ttft_ln = jl_serve_half_ln(scope, JL_METRIC_TTFT, false);
	const double tpot_ln = jl_serve_half_ln(scope, JL_METRIC_TPOT, false);

	ret->batch = rate.batch;
	ret->half_ln = tpot_ln;
	ret->ttft_s = around(rate.ttft_s, ttft_ln);
	ret->tpot_s = around(rate.tpot_s, tpot_ln);
	ret->request_tps = around(rate.request_tps, tpot_ln);
	ret->total_tps = around(rate.total_tps, tpot_ln);
	ret->step = jl_serve_decode(job, rate.batch, ask->prompt + 0.5 * ask->output);
}

enum jl_status jl_serve_predict(struct jl_serve_answer *ret_answer, const struct jl_catalog *cat,
				const struct jl_machine *machine, const struct jl_serve_ask *ask, struct jl_err *err)
{
	const struct jl_device *dev = &machine->dev;
	const struct jl_served model = ask->model ? jl_served_from_catalog(ask->model) : jl_served_of(ask->shape);
	const struct jl_serve_fit fit = jl_serve_shipped(cat, dev->arch, ask->engine);
	const enum jl_intra_kind join = machine->fabric.intra_kind;
	const int n_host = gpus_of_host(machine);
	struct jl_serve_job job = { .dev = dev, .fit = &fit, .model = &model, .place = { .n_stages = 1 } };
	const char *weights = ask->weights ? ask->weights : isnan(dev->peak_flopps[JL_BF16]) ? "fp16" : "bf16";
	enum jl_status status = check(ask, n_host, err);

	if (!status)
		status = jl_served_format(&job.format, weights, err);
	if (status)
		return status;
	jl_served_join(&job.place, dev, join != JL_INTRA_PCIE_HOST, join == JL_INTRA_SWITCH || join == JL_INTRA_MESH);
	choose_gpus(&job, ask, n_host);
	struct jl_serve_answer a = { .n_gpus = (int)job.place.n_gpus,
				     .weights_B = jl_serve_weights_B(&job),
				     .context_B = jl_serve_context_B(&job, ask->prompt + ask->output),
				     .capacity_B = dev->mem_B,
				     .room = jl_serve_room(&job, ask->prompt + ask->output),
				     .checked = jl_serve_scope_of(dev->arch) == JL_SCOPE_SERVE };

	a.fits = a.room >= 1;
	answer(&a, &job, ask, jl_serve_scope_of(dev->arch));
	*ret_answer = a;
	return JL_OK;
}
