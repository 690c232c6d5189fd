#include "serve/serve.h"

#include <math.h>
#include <stdio.h>

#include "catalog/find.h"
#include "parameters/arch.h"

int jl_serve_host_gpus(const struct jl_machine *machine)
{
	return machine->fabric.n_per_node > 1 ? machine->fabric.n_per_node : 1;
}

/* Number of devices: as given; or the fewest, in powers of two where layers are split, that hold weights and all requests; else the whole
 * host. */
static void choose_gpus(struct jl_serve_job *job, const struct jl_serve_ask *ask, int engine, int n_host)
{
	const double context = ask->prompt + ask->output;

	const double mem_frac = jl_policy_of(engine)->mem_frac;
	double *n = &job->place.n_gpus;

	*n = ask->n_gpus > 0 ? ask->n_gpus : 1;
	if (jl_engine_info(engine)->by_layer) {
		jl_serve_by_layer(&job->place, *n);
		n = &job->place.n_stages;
	}
	for (double more = 2 * *n;
	     ask->n_gpus <= 0 && more <= n_host && jl_serve_room(job, context, mem_frac) < ask->n_requests;
	     more = job->place.by_layer ? *n + 1 : 2 * *n)
		*n = more;
}

enum jl_status jl_serve_check(const struct jl_model_info *info, const struct jl_served *model, int n_gpus,
			      bool by_requests, struct jl_err *err)
{
	if (info && (info->mlm_head || info->pooler) && !info->embeds)
		return jl_fail(err, JL_E_RANGE,
			       "%s is an encoder: it answers no prompts; take a decoder, e.g. llama-3-8b", info->id);
	if (n_gpus > 1 && !by_requests && fmod(model->heads, n_gpus) != 0.0)
		return jl_fail(err, JL_E_RANGE, "%d GPUs for one copy of the model do not divide its %.0f heads",
			       n_gpus, model->heads);
	return JL_OK;
}

enum jl_status jl_serve_format(struct jl_serve_format *ret_format, const char *asked, const struct jl_model_info *info,
			       const struct jl_served *model, const struct jl_device *dev, int engine,
			       struct jl_err *err)
{
	JL_TRY(jl_served_format(ret_format, jl_served_weights(asked, info), err));
	jl_served_format_on(ret_format, dev);
	if (model->n_experts < 2) { /* without experts, expert formats apply to everything */
		ret_format->weight_B = fmin(ret_format->weight_B, ret_format->expert_B);
		ret_format->dense = ret_format->experts;
	}
	jl_engine_format(ret_format, engine);
	return JL_OK;
}

int jl_serve_engine(int asked, const char *weights, const struct jl_machine *machine)
{
	int engine = asked;

	for (int e = 0; asked == JL_ENGINE_GENERAL && jl_served_gguf(weights) && e < jl_n_engine(); e++)
		if (jl_engine_info(e)->gguf && engine == asked)
			engine = e;
	return jl_engine_on(engine, machine && machine->sys.gpu ? machine->sys.gpu->vendor : NULL);
}

bool jl_serve_engine_runs(const struct jl_engine_info *info, const struct jl_gpu *gpu)
{
	const char *const *on = info->runs_on;
	const char *vendor = !gpu ? "CPU" : gpu->vendor ? gpu->vendor : "";

	if (!gpu && info->gguf)
		return true;
	while (on && *on && strcmp(vendor, *on) != 0)
		on++;
	return !on || *on;
}

enum jl_status jl_serve_engine_check(int engine, const struct jl_machine *machine, struct jl_err *err)
{
	const struct jl_gpu *gpu = machine->sys.gpu;
	const struct jl_engine_info *info = jl_engine_info(engine);
	const char *other = NULL;

	if (jl_serve_engine_runs(info, gpu))
		return JL_OK;
	for (int e = 0; !other && e < jl_n_engine(); e++)
		if (jl_engine_info(e)->start.command && jl_serve_engine_runs(jl_engine_info(e), gpu))
			other = *jl_engine_info(e)->words;
	return jl_fail(err, JL_E_USAGE, "--engine: %.40s runs on devices of %.40s, not on %.60s; take --engine %.40s",
		       info->name, *info->runs_on, machine->sys.text, other ? other : "general");
}

#define LLAMACPP_PIECE 512 /* prompt tokens per device pass */

void jl_serve_by_layer(struct jl_serve_place *place, double n_devices)
{
	place->by_layer = 1;
	place->n_gpus = 1;
	place->n_stages = n_devices;
	place->chunk = LLAMACPP_PIECE;
}

static enum jl_status check(const struct jl_serve_ask *ask, int n_host, struct jl_err *err)
{
	if (!(ask->n_requests >= 1 && ask->prompt >= 1 && ask->output >= 1) || !isfinite(ask->n_requests) ||
	    !isfinite(ask->prompt) || !isfinite(ask->output))
		return jl_fail(err, JL_E_RANGE, "requests, prompt and output: at least 1 each");
	if (ask->n_gpus > n_host)
		return jl_fail(err, JL_E_RANGE, "%d GPUs for one copy of the model; a host has %d", ask->n_gpus,
			       n_host);
	return JL_OK;
}

/* Time to first token under load is measured on few families; used for the others too. */
enum jl_asked jl_serve_asked_of(const struct jl_serve_run *run)
{
	static const enum jl_asked answers[JL_N_METRIC] = { [JL_METRIC_TTFT] = JL_ASKED_FIRST,
							    [JL_METRIC_TPOT] = JL_ASKED_NEXT,
							    [JL_METRIC_PREFILL] = JL_ASKED_PROMPT,
							    [JL_METRIC_DECODE] = JL_ASKED_DECODE,
							    [JL_METRIC_LOAD] = JL_ASKED_LOAD };

	if (run->prefill.n_gpus > 0 && (run->metric == JL_METRIC_TTFT || run->metric == JL_METRIC_TPOT))
		return run->metric == JL_METRIC_TTFT ? JL_ASKED_FIRST_APART : JL_ASKED_NEXT_APART;
	if (run->metric == JL_METRIC_TPOT && jl_serve_scope_of(run->engine) == JL_SCOPE_INFER)
		return JL_ASKED_LOAD;
	return answers[run->metric];
}

struct jl_axes jl_serve_axes(const struct jl_serve_run *run, char ret_format[JL_SERVE_AXIS_MAX])
{
	const double least_B = fmin(run->format.weight_B, run->format.expert_B);
	const bool general = run->engine == JL_ENGINE_GENERAL;
	const struct jl_engine_info *info = jl_engine_info(run->engine);
	int base = run->engine;

	while (jl_engine_info(base)->until || jl_engine_info(base)->vendor)
		base = jl_engine_parent(base);
	(void)snprintf(ret_format, JL_SERVE_AXIS_MAX, "%d-bit%s",
		       least_B < 0.8   ? 4
		       : least_B < 1.5 ? 8
				       : 16,
		       run->model.embeds          ? "-embeds"
		       : run->model.latent        ? "-latent"
		       : run->model.n_experts > 1 ? "-experts"
						  : "");
	return (struct jl_axes){ .kind = general ? NULL : jl_engine_id(base),
				 .code = general ? NULL : info->id,
				 .format = ret_format };
}

bool jl_serve_published(const struct jl_machine *machine, const struct jl_serve_run *run)
{
	static const enum jl_asked answers[] = { JL_ASKED_NEXT,   JL_ASKED_FIRST,  JL_ASKED_LOAD,
						 JL_ASKED_DECODE, JL_ASKED_PROMPT, JL_ASKED_NEXT_APART };
	const struct jl_gpu *gpu = machine->sys.gpu;
	char format[JL_SERVE_AXIS_MAX], id[JL_SEEN_ID_MAX];
	struct jl_axes axes = jl_serve_axes(run, format);

	for (size_t i = 0; gpu && axes.code && i < 2 * JL_LEN(answers); i++) {
		axes.device = i % 2 ? gpu->computes_as : gpu->id;
		if (axes.device && jl_pair_id(id, answers[i / 2], &axes, JL_PAIR_DEVICE_CODE) &&
		    jl_param_by_id(machine->cat, id))
			return true;
	}
	return !axes.code;
}

struct jl_serve_time jl_serve_of(const struct jl_machine *machine, const struct jl_serve_fit *fit,
				 const struct jl_serve_run *run, const struct jl_run_plan *plan)
{
	struct jl_run_plan own;
	double run_s[JL_N_METRIC];
	const double extent_ln[JL_N_EXTENT] = {
		[JL_EXTENT_SIZE] = log(run->model.dense_params + run->model.expert_params),
		[JL_EXTENT_BATCH] = log(run->n_requests),
		[JL_EXTENT_GPUS] = log(run->place.n_gpus),
	};
	struct jl_serve_time t = { .answer = jl_serve_asked_of(run) };

	if (plan)
		t.time_s = jl_serve_plan_s(plan, &machine->served, fit, run->metric, &t.step);
	else if (jl_serve_plan(&own, run_s, &machine->served, fit, run, NULL)) {
		t.time_s = NAN;
	} else {
		(void)jl_serve_plan_s(&own, &machine->served, fit, run->metric, &t.step);
		t.time_s = run_s[run->metric];
	}
	const struct jl_axes axes = jl_serve_axes(run, (char[JL_SERVE_AXIS_MAX]){ 0 });

	jl_machine_doubt(&t.doubt, machine, t.answer, axes);
	t.doubt.x[JL_DOUBT_CODE] = jl_code_doubt(machine->cat, t.answer, axes.code);
	t.doubt.x[JL_DOUBT_EXPOSED] = t.step.exchange_s / t.step.step_s;
	t.doubt.x[JL_DOUBT_LAUNCH] = t.step.fixed_s / t.step.step_s;
	t.doubt.x[JL_DOUBT_ASSUMED] = sqrt(run->n_assumed);
	t.doubt.x[JL_DOUBT_FAR] = jl_far_ln(&machine->widths, t.answer, extent_ln);
	t.half_ln = jl_half_ln(&machine->widths, t.answer, &t.doubt);
	return t;
}

const char *jl_serve_bound(const struct jl_serve_step *step, double *ret_frac)
{
	const struct {
		double s;
		const char *en;
	} parts[] = {
		{ step->weights_s, JL_N("reading the weights") },
		{ step->math_s, JL_N("matrix products") },
		{ step->kv_s, JL_N("reading keys and values") },
		{ step->attention_s, JL_N("attention of prompts") },
		{ step->exchange_s, JL_N("exchanges between GPUs") },
		{ step->fixed_s, JL_N("launches and the host") },
	};
	size_t most = 0;

	for (size_t i = 1; i < JL_LEN(parts); i++)
		if (parts[i].s > parts[most].s)
			most = i;
	*ret_frac = parts[most].s / step->step_s;
	return parts[most].en;
}

static enum jl_status answer(struct jl_serve_answer *ret, const struct jl_machine *machine,
			     const struct jl_serve_job *job, const struct jl_serve_ask *ask, int engine,
			     struct jl_err *err)
{
	struct jl_serve_run run = { .model = *job->model,
				    .engine = engine,
				    .ops = job->ops,
				    .format = job->format,
				    .place = job->place,
				    .n_requests = ask->n_requests,
				    .prompt = ask->prompt,
				    .output = ask->output,
				    .metric = JL_METRIC_TTFT,
				    .reckoned = true,
				    .spread = 1 };
	struct jl_sim_result r;
	struct jl_run_plan plan;

	JL_TRY(jl_run_simulate(&r, &plan, &machine->served, job->fit, &run, err));
	const struct jl_serve_time first = jl_serve_of(machine, job->fit, &run, &plan);

	run.metric = r.tpot_s.mean > 0 ? JL_METRIC_TPOT : JL_METRIC_TTFT; /* a one-token answer has no other metric */
	const struct jl_serve_time next = jl_serve_of(machine, job->fit, &run, &plan);

	ret->batch = r.batch_mean;
	ret->half_ln = next.half_ln;
	ret->ttft_s = jl_estimate_around(r.ttft_s.mean, first.half_ln);
	ret->tpot_s = jl_estimate_around(r.tpot_s.mean, next.half_ln);
	ret->request_tps = jl_estimate_around(1 / (r.tpot_s.mean > 0 ? r.tpot_s.mean : r.e2e_s.mean), next.half_ln);
	/* by the time of a request, excluding the end of the run, when the machine is partly empty */
	ret->total_tps = jl_estimate_around(r.at_once * (r.output_tps * r.span_s / (double)r.n_ended) / r.e2e_s.mean,
					    next.half_ln);
	ret->step = next.step;
	return JL_OK;
}

/* Estimated long-run output tokens/s: each prompt once, each token in the fullest pass. Simulations reach 0.86 to 1.05 of it (3,317 runs, 8 to
 * 500 requests): far smaller targets need no simulation. */
static double steady_tps(const struct jl_serve_job *job, const struct jl_serve_ask *ask, int engine)
{
	const double together = fmax(floor(jl_policy_of(engine)->token_budget / ask->prompt), 1);
	const struct jl_pass token = jl_pass_decode(ask->n_requests, ask->prompt),
			     prompt = jl_pass_prefill(together, ask->prompt);

	return ask->output / (ask->output * jl_serve_pass(job, &token).step_s / ask->n_requests +
			      jl_serve_pass(job, &prompt).step_s / together);
}

/* Concurrent requests of users who read between answers. */
static double requests_of(const struct jl_serve_job *job, const struct jl_serve_ask *ask, int engine)
{
	struct jl_serve_ask one = *ask;
	double lo = 0, hi = ceil(ask->users);

	while (hi - lo > 1) {
		one.n_requests = floor((lo + hi) / 2);
		*(one.n_requests + ask->think_s * steady_tps(job, &one, engine) / ask->output < ask->users
			  ? &lo
			  : &hi) = one.n_requests;
	}
	return hi;
}

enum jl_status jl_serve_predict(struct jl_serve_answer *ret_answer, const struct jl_catalog *cat,
				const struct jl_machine *machine, const struct jl_serve_ask *asked, struct jl_err *err)
{
	struct jl_serve_ask own = *asked;
	const struct jl_serve_ask *const ask = &own;
	const struct jl_device *dev = &machine->served;
	const struct jl_served model = ask->model ? jl_served_from_catalog(ask->model) : jl_served_of(ask->shape);
	const enum jl_intra_kind join = machine->fabric.intra_kind;
	const int n_host = jl_serve_host_gpus(machine);
	const int engine = jl_serve_engine(ask->engine, ask->weights, machine);
	const struct jl_serve_fit fit = ask->fit ? *ask->fit : jl_serve_shipped(cat, dev->arch, engine);
	const struct jl_op_fit ops = ask->ops ? *ask->ops : jl_op_shipped(cat, dev->arch, engine);
	struct jl_serve_job job = { .dev = dev, .fit = &fit, .ops = &ops, .model = &model, .place = { .n_stages = 1 } };

	JL_TRY(check(ask, n_host, err));
	if (model.embeds)
		return jl_fail(err, JL_E_RANGE, "%s produces vectors or scores, not tokens; use 'jeoul serve %s'",
			       ask->model->id, ask->model->id);
	JL_TRY(jl_serve_engine_check(engine, machine, err));
	JL_TRY(jl_serve_check(ask->model, &model, ask->n_gpus, jl_engine_info(engine)->by_layer, err));
	JL_TRY(jl_serve_format(&job.format, ask->weights, ask->model, &model, dev, engine, err));
	jl_served_join(&job.place, dev, join != JL_INTRA_PCIE_HOST, join == JL_INTRA_SWITCH || join == JL_INTRA_MESH);
	choose_gpus(&job, ask, engine, n_host);
	if (ask->users > 0)
		own.n_requests = requests_of(&job, ask, engine);
	struct jl_serve_answer a = { .n_gpus = (int)(job.place.n_gpus * job.place.n_stages),
				     .weights_B = jl_serve_weights_B(&job),
				     .context_B = jl_serve_context_B(&job, ask->prompt + ask->output),
				     .capacity_B = dev->mem_B,
				     .n_requests = ask->n_requests,
				     .room = jl_serve_room(&job, ask->prompt + ask->output,
							   jl_policy_of(engine)->mem_frac),
				     .checked = jl_arch_family(dev->arch)->priors.warpgroup };

	a.fits = a.room >= 1;
	a.ttft_s = a.tpot_s = a.request_tps = a.total_tps = (struct jl_estimate){ NAN, NAN, NAN };
	if (a.fits && ask->least_tps > 0)
		a.total_tps.value = steady_tps(&job, ask, engine);
	if (a.fits && !(ask->if_room && a.room < ask->n_requests) && !(a.total_tps.value < ask->least_tps))
		JL_TRY(answer(&a, machine, &job, ask, engine, err));
	*ret_answer = a;
	return JL_OK;
}
