#include "serve/trial.h"

#include <math.h>

#include "base/mem.h"

#define REQUESTS_LEAST 400.0
#define REQUESTS_EACH  10
#define SESSIONS_EACH  3 /* the first of each session is not counted */
#define KEPT_UP_FRAC   0.93
#define WAIT_FRAC      0.02  /* of the arrival period */
#define SLOW_PCIE      16e9  /* one way; default without catalog data */
#define SPREAD_OPEN_S  120.0 /* minimum duration of an open load */

/* Draft heads are one more layer of the model; a draft shares the devices and links. */
static void begin_draft(struct jl_trial *t)
{
	const struct jl_infer_ask *ask = t->ask;
	struct jl_transformer own = { .n_layers = 0 };

	if (ask->draft_model)
		t->draft_model = jl_served_from_catalog(ask->draft_model);
	else if (ask->model)
		jl_transformer_from_catalog(&own, ask->model);
	else
		own = *ask->shape;
	if (!ask->draft_model) {
		own.n_layers = 1;
		if (own.moe.n_experts > 1)
			own.moe.n_dense_layers = 0;
		t->draft_model = jl_served_of(&own);
	}
}

enum jl_status jl_trial_begin(struct jl_trial *t, const struct jl_catalog *cat, const struct jl_machine *machine,
			      const struct jl_infer_ask *ask, struct jl_err *err)
{
	const struct jl_device *dev = &machine->served;
	const enum jl_intra_kind join = machine->fabric.intra_kind;
	struct jl_serve_format kv;
	enum jl_status status;

	*t = (struct jl_trial){ .cat = cat,
				.machine = machine,
				.ask = ask,
				.model = ask->model ? jl_served_from_catalog(ask->model) : jl_served_of(ask->shape),
				.fit = jl_serve_shipped(cat, dev->arch, ask->engine),
				.ops = jl_op_shipped(cat, dev->arch, ask->engine) };
	t->job = (struct jl_serve_job){ .dev = dev,
					.place = { .n_stages = jl_trial_stages(ask),
						   .chunk = jl_trial_token_budget(ask),
						   .n_ep = ask->n_ep,
						   .split_batch = ask->dp_attention },
					.adapters = { ask->n_adapters, ask->adapter_rank } };
	status = jl_serve_format(&t->job.format, ask->weights, ask->model, &t->model, dev, ask->engine, err);
	if (!status && ask->kv) {
		status = jl_served_format(&kv, ask->kv, err);
		t->job.format.kv_B = kv.weight_B;
	}
	if (!status)
		status = jl_serve_check(ask->model, &t->model, ask->n_gpus, ask->dp_attention, err);
	jl_served_join(&t->job.place, dev, join != JL_INTRA_PCIE_HOST,
		       join == JL_INTRA_SWITCH || join == JL_INTRA_MESH);
	if (jl_engine_info(ask->engine)->by_layer)
		jl_serve_by_layer(&t->job.place, jl_trial_stages(ask));
	if (ask->draft)
		begin_draft(t);
	t->prompts = t->job;
	t->prompts.place.n_gpus = ask->prompt_gpus;
	t->prompts.place.n_stages = 1;
	t->prompts.place.chunk = 0;
	return status;
}

/* A pass with its draft: sequential draft passes, and the draft's own prompts. */
static double drafted_pass_s(const void *ctx, const struct jl_pass *pass)
{
	const struct jl_trial *t = ctx;
	struct jl_pass one = *pass, prompts = *pass;
	double s = jl_serve_pass(&t->job, pass).step_s;

	one.n_drafted = 1;
	one.n_prompts = one.prompt_tokens = one.prompt_pairs = 0;
	one.captured = true;
	prompts.n_seqs = 0;
	if (pass->n_seqs > 0)
		s += t->ask->n_draft * jl_serve_pass(&t->draft, &one).step_s;
	if (pass->prompt_tokens > 0)
		s += jl_serve_pass(&t->draft, &prompts).step_s;
	return s;
}

/* The draft's weights, keys and values are kept beside the model's. */
static void add_draft(struct jl_sim_setup *setup, struct jl_trial *t)
{
	const double each_B = jl_serve_context_B(&t->job, 1), draft_B = jl_serve_context_B(&t->draft, 1);

	setup->workers.pass_s = drafted_pass_s;
	setup->workers.ctx = t;
	setup->workers.kv_tokens = fmax(
		(setup->workers.kv_tokens * each_B - jl_serve_weights_B(&t->draft)) / (each_B + draft_B), 0);
}

/* The load of one copy. */
static enum jl_status make_load(struct jl_trial *t, struct jl_load *ret_load, struct jl_err *err)
{
	const struct jl_infer_ask *ask = t->ask;
	const double copies = jl_trial_shares(t);
	struct jl_load_ask load = { .lengths = { ask->prompt, ask->answer, 1, ask->spread_ln, ask->cached_frac, 0 },
				    .burst = ask->burst,
				    .seed = ask->seed };
	const size_t turns = ask->kind == JL_LOAD_SESSIONS ? (size_t)ask->turns : 1;
	size_t n = 0, n_skip = 0;

	t->n_more = 0;
	if (ask->kind == JL_LOAD_TRACE) {
		n = ask->n_trace;
	} else if (ask->kind == JL_LOAD_OPEN) {
		load.rate_hz = ask->rate_hz / copies;
		n = (size_t)fmin(fmax(load.rate_hz * SPREAD_OPEN_S, REQUESTS_LEAST), JL_TRIAL_REQUESTS);
	} else if (ask->kind == JL_LOAD_JOB) {
		load.rate_hz = INFINITY;
		n = (size_t)ceil(ask->n_job / copies);
	} else {
		const double at_once = fmax(ceil((ask->kind == JL_LOAD_USERS ? ask->users : ask->concurrency) / copies),
					    1);

		const bool people = ask->kind != JL_LOAD_CLOSED; /* sessions are counted individually */

		load.concurrency = (int)(people ? at_once : fmin(at_once, JL_CLIENT_MOST / JL_CLIENT_LEAST_EACH));
		n = (size_t)fmin(
			    fmax(at_once * (turns > 1 ? SESSIONS_EACH : REQUESTS_EACH), REQUESTS_LEAST / (double)turns),
			    (people ? JL_SERVING_REQUESTS_MAX : JL_CLIENT_MOST) / (double)turns) *
		    turns;
		n_skip = (size_t)load.concurrency * turns; /* machine filling up */
		if (turns > 1 && n <= n_skip)
			return jl_fail(err, JL_E_LIMIT, "%.0f sessions of %zu turns: at most %d requests are simulated",
				       at_once, turns, JL_SERVING_REQUESTS_MAX);
		if (ask->kind == JL_LOAD_USERS)
			load.pause_s = ask->think_s;
		if (turns > 1) {
			load.turns = ask->turns;
			load.turn_tokens = ask->turn_tokens;
			load.wait_s = ask->wait_s;
		}
		if (ask->kind == JL_LOAD_CLOSED) { /* the client of published runs, as for 'predict --serve' */
			jl_load_client(&load, ask->prompt, ask->answer, at_once, JL_CLIENT_EACH);
			if (t->job.model->embeds) /* sequences of the given length */
				load.lengths.least_frac = 1;
			n = load.n;
			n_skip = 0;
		}
		t->at_once = load.concurrency;
		t->n_more = at_once - t->at_once;
	}
	if (n > t->n_room) {
		struct jl_arrival *more = jl_realloc(t->room, n * sizeof(*more));

		JL_TRY(jl_got(more, err));
		t->room = more;
		t->n_room = n;
	}
	if (ask->kind == JL_LOAD_TRACE) {
		size_t kept = 0;

		/* a copy gets every n-th request */
		for (size_t i = 0; i < n; i += (size_t)copies)
			t->room[kept++] = ask->trace[i];
		*ret_load = (struct jl_load){ .arrivals = t->room, .n = kept };
		return JL_OK;
	}
	load.n = n;
	load.lengths.answer_most = ask->answer_most;
	jl_load_make(ret_load, t->room, &load);
	/* staggers the first sessions */
	for (size_t i = 0; turns > 1 && i < n_skip; i += turns)
		t->room[i].at_s = (double)i / (double)n_skip * (double)turns * ask->wait_s;
	ret_load->n_skip = n_skip;
	return JL_OK;
}

/* Each device has its own link to the host; copies share its drives. */
static void keep_in_host(struct jl_sim_setup *setup, const struct jl_trial *t)
{
	const double token_B = jl_serve_context_B(&t->job, 1), host_Bps = t->job.dev->host_Bps;

	const double all_B = token_B * t->job.place.n_gpus * t->job.place.n_stages,
		     sharing = fmin(t->n_copies, fmax(jl_serve_host_gpus(t->machine) / t->job.place.n_gpus, 1));

	setup->host_tokens = t->ask->host_B / all_B;
	setup->host_token_s = token_B / (isnan(host_Bps) ? SLOW_PCIE : host_Bps);
	setup->disk_tokens = t->ask->disk_B > 0 ? t->ask->disk_B / all_B : 0;
	setup->disk_token_s = all_B * sharing / JL_NVME_BPS;
}

/* Requests beyond the simulated ones find the machine full and wait proportionally longer. */
static void wait_turns(struct jl_trial *t)
{
	struct jl_spread *const waits[] = { &t->r.ttft_s, &t->r.e2e_s };
	const double wait_s = t->n_more * t->r.e2e_s.mean / t->at_once;

	for (size_t i = 0; t->n_more > 0 && i < 2; i++) {
		waits[i]->mean += wait_s;
		waits[i]->p50 += wait_s;
		waits[i]->p90 += wait_s;
		waits[i]->p99 += wait_s;
	}
}

enum jl_status jl_trial_run(struct jl_trial *t, int n_gpus, int n_copies, struct jl_err *err)
{
	struct jl_policy policy = *jl_policy_of(t->ask->engine);
	struct jl_sim_setup setup;
	struct jl_passes passes;
	struct jl_load load;
	enum jl_status status;

	const bool apart = t->ask->prompt_gpus > 0;

	t->job.place.n_gpus = n_gpus;
	t->job.fit = t->prompts.fit = &t->fit;
	t->job.ops = t->prompts.ops = &t->ops;
	t->job.model = t->prompts.model = &t->model;
	t->draft = t->job;
	t->draft.model = &t->draft_model;
	t->draft.adapters.n = 0;
	t->n_copies = n_copies;
	JL_TRY(make_load(t, &load, err));
	if (t->ask->max_seqs > 0)
		policy.max_seqs = t->ask->max_seqs;
	policy.token_budget = jl_trial_token_budget(t->ask);
	policy.prompt_budget = t->ask->batched_tokens > 0 ? 0 : policy.prompt_budget;
	setup = jl_sim_setup_of(&t->job, n_copies / jl_trial_shares(t), apart ? &t->prompts : NULL,
				fmax(t->ask->prompt_copies, 1), &policy);
	if (t->ask->draft)
		add_draft(&setup, t);
	if (t->ask->kv_tokens > 0)
		setup.workers.kv_tokens = t->ask->kv_tokens;
	if (t->ask->host_B > 0)
		keep_in_host(&setup, t);
	t->kv_tokens = setup.workers.kv_tokens;
	setup.n_draft = t->ask->n_draft;
	setup.accept_frac = t->ask->accept_frac;
	status = jl_simulate(&t->r, &setup, &load, t->served, &passes, err);
	wait_turns(t);
	t->plan.n = status ? 0 : passes.n;
	for (int i = 0; i < t->plan.n; i++) {
		const struct jl_serve_job *job = passes.shares[i].prompts ? &t->prompts : &t->job;

		t->plan.shares[i] = (struct jl_run_share){ .work = jl_serve_work(job, &passes.shares[i].pass) };
		t->plan.shares[i].weight[JL_METRIC_TTFT] = passes.shares[i].ttft;
		t->plan.shares[i].weight[JL_METRIC_TPOT] = passes.shares[i].tpot;
	}
	return status;
}

/* True if arrivals are answered as fast as they come, by the time until the last answer (less its own time), and by the wait, which grows
 * under overload. */
bool jl_trial_keeps_up(const struct jl_trial *t)
{
	const struct jl_pass alone = jl_pass_prefill(1, t->ask->prompt);
	const double alone_s = jl_serve_pass(&t->job, &alone).step_s;
	const size_t n_all = t->r.n_ended + t->r.n_refused;
	const double n = (double)n_all, served_s = alone_s + t->r.e2e_s.mean - t->r.ttft_s.mean;

	if (t->ask->kind != JL_LOAD_OPEN || n_all == 0)
		return t->ask->kind != JL_LOAD_OPEN;
	/* fewer arrivals may have been drawn than requested */
	const double rate_hz = fmin(t->ask->rate_hz / jl_trial_shares(t), n / t->room[n_all - 1].at_s);

	return n / fmax(t->r.span_s - served_s, 0.1 * t->r.span_s) >= KEPT_UP_FRAC * rate_hz &&
	       t->r.ttft_s.mean - alone_s <= WAIT_FRAC * n / rate_hz;
}

bool jl_trial_meets(const struct jl_trial *t)
{
	const struct jl_infer_ask *ask = t->ask;

	const bool target = !isnan(ask->ttft_max_s) || !isnan(ask->tpot_max_s);

	return (t->r.n_refused == 0 || !target) && (isnan(ask->ttft_max_s) || t->r.ttft_s.p90 <= ask->ttft_max_s) &&
	       !(t->r.tpot_s.p90 > ask->tpot_max_s) && jl_trial_keeps_up(t);
}

double jl_trial_room(struct jl_trial *t, int n_gpus)
{
	t->job.place.n_gpus = n_gpus;
	t->job.model = &t->model;
	return jl_serve_room(&t->job, jl_trial_longest(t->ask), jl_policy_of(t->ask->engine)->mem_frac);
}
