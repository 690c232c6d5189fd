#include "serving/infer.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "physics/arch.h"
#include "base/msg.h"
#include "serving/pass.h"

#define REQUESTS_LEAST 400.0
#define REQUESTS_MOST  20000.0
#define REQUESTS_EACH  5
#define TARGET_SEARCH  18
#define KEPT_UP_FRAC   0.93
#define SPREAD_OPEN_S  120.0 /* an open load runs at least this long */

const struct jl_choice jl_load_choices[] = { { "closed", JL_LOAD_CLOSED },
					     { "open", JL_LOAD_OPEN },
					     { "users", JL_LOAD_USERS },
					     { "trace", JL_LOAD_TRACE },
					     { NULL, 0 } };

/* What every try of a search shares. */
struct trial {
	const struct jl_catalog *cat;
	const struct jl_machine *machine;
	const struct jl_infer_ask *ask;
	struct jl_served model;
	struct jl_serve_fit fit;
	struct jl_op_fit ops;
	struct jl_serve_job job;
	struct jl_sim_result r;
	struct jl_run_plan plan;
	int n_copies;
	struct jl_arrival *room;
	size_t n_room;
};

static struct jl_estimate around(double value, double half_ln)
{
	return (struct jl_estimate){ .value = value, .lo = value * exp(-half_ln), .hi = value * exp(half_ln) };
}

static int gpus_of_host(const struct jl_machine *machine)
{
	return machine->fabric.n_per_node > 1 ? machine->fabric.n_per_node : 1;
}

static int gpus_of_system(const struct jl_machine *machine)
{
	return gpus_of_host(machine) * (machine->sys.n_nodes > 1 ? machine->sys.n_nodes : 1);
}

static enum jl_status begin(struct trial *t, const struct jl_catalog *cat, const struct jl_machine *machine,
			    const struct jl_infer_ask *ask, struct jl_err *err)
{
	const struct jl_device *dev = &machine->dev;
	const enum jl_intra_kind join = machine->fabric.intra_kind;
	const char *weights = ask->weights ? ask->weights : isnan(dev->peak_flopps[JL_BF16]) ? "fp16" : "bf16";
	struct jl_serve_format kv;
	enum jl_status status;

	*t = (struct trial){ .cat = cat,
			     .machine = machine,
			     .ask = ask,
			     .model = ask->model ? jl_served_from_catalog(ask->model) : jl_served_of(ask->shape),
			     .fit = jl_serve_shipped(cat, dev->arch, ask->engine),
			     .ops = jl_op_shipped(cat, dev->arch, ask->engine) };
	t->job = (struct jl_serve_job){ .dev = dev, .place = { .n_stages = 1 } };
	status = jl_served_format(&t->job.format, weights, err);
	if (!status && ask->kv) {
		status = jl_served_format(&kv, ask->kv, err);
		t->job.format.kv_B = kv.weight_B;
	}
	jl_served_join(&t->job.place, dev, join != JL_INTRA_PCIE_HOST,
		       join == JL_INTRA_SWITCH || join == JL_INTRA_MESH);
	return status;
}

/* The load of one copy. */
static enum jl_status make_load(struct trial *t, struct jl_load *ret_load, double *ret_client_s, struct jl_err *err)
{
	const struct jl_infer_ask *ask = t->ask;
	const double copies = t->n_copies;
	struct jl_load_ask load = { .lengths = { ask->prompt, ask->answer, 1, ask->spread_ln, ask->cached_frac },
				    .burst = ask->burst,
				    .seed = ask->seed };
	size_t n = 0, n_skip = 0;

	*ret_client_s = ask->kind == JL_LOAD_USERS ? ask->think_s : 0;
	if (ask->kind == JL_LOAD_TRACE) {
		n = ask->n_trace;
	} else if (ask->kind == JL_LOAD_OPEN) {
		load.rate_hz = ask->rate_hz / copies;
		n = (size_t)fmin(fmax(load.rate_hz * SPREAD_OPEN_S, REQUESTS_LEAST), REQUESTS_MOST);
	} else {
		const double at_once = fmax(ceil((ask->kind == JL_LOAD_USERS ? ask->users : ask->concurrency) / copies),
					    1);

		load.concurrency = (int)fmin(at_once, REQUESTS_MOST / 2);
		n = (size_t)fmin(fmax(at_once * REQUESTS_EACH, REQUESTS_LEAST), REQUESTS_EACH * REQUESTS_MOST);
		n_skip = (size_t)load.concurrency; /* they come all at once */
	}
	if (n > t->n_room) {
		struct jl_arrival *more = jl_realloc(t->room, n * sizeof(*more));

		if (!more)
			return jl_fail_nomem(err);
		t->room = more;
		t->n_room = n;
	}
	if (ask->kind == JL_LOAD_TRACE) {
		size_t kept = 0;

		/* a copy gets every so-manyth request */
		for (size_t i = 0; i < n; i += (size_t)t->n_copies)
			t->room[kept++] = ask->trace[i];
		*ret_load = (struct jl_load){ .arrivals = t->room, .n = kept };
		return JL_OK;
	}
	load.n = n;
	jl_load_make(ret_load, t->room, &load);
	ret_load->n_skip = n_skip;
	return JL_OK;
}

static enum jl_status try_once(struct trial *t, int n_gpus, int n_copies, struct jl_err *err)
{
	struct jl_policy policy = *jl_policy_of(t->ask->engine);
	struct jl_sim_setup setup;
	struct jl_passes passes;
	struct jl_load load;
	double client_s;
	enum jl_status status;

	t->job.place.n_gpus = n_gpus;
	t->job.fit = &t->fit;
	t->job.ops = &t->ops;
	t->job.model = &t->model;
	t->n_copies = n_copies;
	status = make_load(t, &load, &client_s, err);
	if (status)
		return status;
	if (t->ask->max_seqs > 0)
		policy.max_seqs = t->ask->max_seqs;
	if (t->ask->batched_tokens > 0)
		policy.token_budget = t->ask->batched_tokens;
	setup = jl_sim_setup_of(&t->job, 1, NULL, 0, &policy);
	if (t->ask->kv_tokens > 0)
		setup.workers.kv_tokens = t->ask->kv_tokens;
	setup.client_s = client_s;
	setup.n_draft = t->ask->n_draft;
	setup.accept_frac = t->ask->accept_frac;
	status = jl_simulate(&t->r, &setup, &load, NULL, &passes, err);
	t->plan.n = status ? 0 : passes.n;
	for (int i = 0; i < t->plan.n; i++) {
		t->plan.shares[i] = (struct jl_run_share){ .work = jl_serve_work(&t->job, &passes.shares[i].pass) };
		t->plan.shares[i].weight[JL_METRIC_TTFT] = passes.shares[i].ttft;
		t->plan.shares[i].weight[JL_METRIC_TPOT] = passes.shares[i].tpot;
	}
	return status;
}

/* Requests a second; the last ones' answers come behind the last arrival. */
static double answered_hz(const struct trial *t)
{
	return (double)t->r.n_ended / fmax(t->r.span_s - t->r.e2e_s.mean, 0.1 * t->r.span_s);
}

static bool keeps_up(const struct trial *t)
{
	return t->ask->kind != JL_LOAD_OPEN || answered_hz(t) >= KEPT_UP_FRAC * t->ask->rate_hz / t->n_copies;
}

static bool meets(const struct trial *t)
{
	const struct jl_infer_ask *ask = t->ask;

	return t->r.n_refused == 0 && (isnan(ask->ttft_max_s) || t->r.ttft_s.p90 <= ask->ttft_max_s) &&
	       (isnan(ask->tpot_max_s) || t->r.tpot_s.p90 <= ask->tpot_max_s) && keeps_up(t);
}

static double room_of(struct trial *t, int n_gpus)
{
	t->job.place.n_gpus = n_gpus;
	t->job.model = &t->model;
	return jl_serve_room(&t->job, t->ask->prompt + t->ask->answer, jl_policy_of(t->ask->engine)->mem_frac);
}

/* The fewest devices of one host, in powers of two, that hold the model and some requests beside it. */
static int fewest_gpus(struct trial *t)
{
	const int n_host = gpus_of_host(t->machine);
	int n = 1;

	while (2 * n <= n_host && room_of(t, n) < 4)
		n *= 2;
	return n;
}

/* With targets: from few GPUs to many, narrow copies before wide ones, the first that meets them; else what is nearest. */
static enum jl_status search(struct trial *t, int *ret_n_gpus, int *ret_n_copies, struct jl_err *err)
{
	const int n_all = gpus_of_system(t->machine), n_host = gpus_of_host(t->machine), least = fewest_gpus(t);
	enum jl_status status = JL_OK;

	*ret_n_gpus = n_host;
	*ret_n_copies = n_all / n_host > 0 ? n_all / n_host : 1;
	for (int n = least; n <= n_all; n = n < 8 ? n * 2 : n + 8)
		for (int each = least; each <= n && each <= n_host; each *= 2) {
			if (n % each != 0 || (t->ask->n_gpus > 0 && each != t->ask->n_gpus))
				continue;
			status = try_once(t, each, n / each, err);
			if (status)
				return status;
			if (meets(t)) {
				*ret_n_gpus = each;
				*ret_n_copies = n / each;
				return JL_OK;
			}
		}
	return try_once(t, *ret_n_gpus, *ret_n_copies, err);
}

/* The largest rate that a system holds: doubled until it does not, then halved in. */
static enum jl_status search_rate(struct trial *t, struct jl_infer_ask *ask, int n_gpus, int n_copies, double *ret_hz,
				  struct jl_err *err)
{
	double lo = 0, hi = 0.25 * n_copies;
	enum jl_status status = JL_OK;

	t->ask = ask;
	ask->kind = JL_LOAD_OPEN;
	for (int i = 0; i < TARGET_SEARCH && !status; i++) {
		ask->rate_hz = hi;
		status = try_once(t, n_gpus, n_copies, err);
		if (!status && !meets(t))
			break;
		lo = hi;
		hi *= 2;
	}
	for (int i = 0; i < 7 && !status && lo > 0; i++) {
		ask->rate_hz = 0.5 * (lo + hi);
		status = try_once(t, n_gpus, n_copies, err);
		if (!status)
			*(meets(t) ? &lo : &hi) = ask->rate_hz;
	}
	*ret_hz = lo;
	ask->rate_hz = lo > 0 ? lo : 0.25 * n_copies;
	return status ? status : try_once(t, n_gpus, n_copies, err);
}

static struct jl_infer_times times_of(const struct jl_spread *s, double half_ln)
{
	return (struct jl_infer_times){ around(s->mean, half_ln), around(s->p50, half_ln), around(s->p90, half_ln),
					around(s->p99, half_ln) };
}

static void say_bound(struct jl_infer *a)
{
	const struct jl_serve_step *s = &a->step;
	const struct {
		double s;
		const char *en;
	} parts[] = {
		{ s->weights_s, JL_N("reading the weights") },     { s->math_s, JL_N("matrix products") },
		{ s->kv_s, JL_N("reading keys and values") },      { s->attention_s, JL_N("attention of prompts") },
		{ s->exchange_s, JL_N("exchanges between GPUs") }, { s->fixed_s, JL_N("launches and the host") },
	};
	size_t most = 0;

	for (size_t i = 1; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].s > parts[most].s)
			most = i;
	a->bound = parts[most].en;
	a->bound_frac = parts[most].s / s->step_s;
}

/* By rent, shared between what goes in and what comes out by the time of passes that each takes; and by what is drawn. */
static void say_money(struct jl_infer *a, const struct trial *t)
{
	const struct jl_infer_ask *ask = t->ask;
	const double n_gpus = (double)a->n_gpus * a->n_copies, half_ln = log(a->output_tps.hi / a->output_tps.value);
	const double usdps = a->rent.usdps * n_gpus;
	const struct jl_pass one = jl_pass_prefill(1, ask->prompt);
	/* a prompt's share: its pass alone; the rest is the answers' */
	const double prompt_s = jl_serve_pass(&t->job, &one).step_s * (1 - ask->cached_frac) * a->requests_per_s.value /
				a->n_copies;
	const double in_frac = fmin(prompt_s, 0.95);
	const struct jl_power_ask power = { .work = { .limit_W = NAN },
					    .activity_frac = 0.6 * t->r.busy_frac,
					    .n_gpus = n_gpus,
					    .host_W = isnan(t->machine->host_idle_W)
							      ? 0
							      : t->machine->host_idle_W *
									ceil(n_gpus / gpus_of_host(t->machine)) };

	a->usd_per_Mtoken_out = around(usdps * (1 - in_frac) / a->output_tps.value * 1e6, half_ln);
	a->usd_per_Mtoken_in = around(usdps * in_frac / a->input_tps.value * 1e6, half_ln);
	a->power_W = jl_power_of(t->machine, &power).power_W;
	a->energy_J_token = a->power_W * ask->pue / a->output_tps.value;
	a->power_usd_per_Mtoken = a->energy_J_token / 3.6e6 * ask->usd_per_kWh * 1e6;
}

static void say_flags(struct jl_infer *a, const struct trial *t)
{
	static const enum jl_engine engines[] = { JL_ENGINE_VLLM, JL_ENGINE_SGLANG, JL_ENGINE_TRTLLM };
	const bool kv8 = t->job.format.kv_B <= 1;
	const double seqs = fmin(fmax(16, 8 * ceil(fmax(t->r.batch_mean * 1.5, a->concurrency / a->n_copies) / 8)),
				 1024);
	const char *model = a->model;
	const double length = ceil((t->ask->prompt + t->ask->answer) * 1.25 / 256) * 256;

	for (size_t i = 0; i < 3; i++) {
		const struct jl_policy *p = jl_policy_of(engines[i]);
		char *out = a->flags[a->n_flags];
		const size_t size = sizeof(a->flags[0]);

		if (t->ask->engine != JL_ENGINE_GENERAL && t->ask->engine != engines[i])
			continue;
		if (engines[i] == JL_ENGINE_VLLM)
			snprintf(out, size,
				 "vllm serve %s --tensor-parallel-size %d --max-num-seqs %.0f --max-num-batched-tokens "
				 "%d --max-model-len %.0f%s",
				 model, a->n_gpus, seqs, p->token_budget, length, kv8 ? " --kv-cache-dtype fp8" : "");
		else if (engines[i] == JL_ENGINE_SGLANG)
			snprintf(out, size,
				 "python -m sglang.launch_server --model-path %s --tp %d --max-running-requests %.0f "
				 "--chunked-prefill-size %d --context-length %.0f%s",
				 model, a->n_gpus, seqs, p->token_budget, length,
				 kv8 ? " --kv-cache-dtype fp8_e4m3" : "");
		else
			snprintf(out, size,
				 "trtllm-serve %s --tp_size %d --max_batch_size %.0f --max_num_tokens %d --max_seq_len "
				 "%.0f%s",
				 model, a->n_gpus, seqs, p->token_budget, length, kv8 ? " --kv_cache_dtype fp8" : "");
		a->flag_engines[a->n_flags++] = p->name;
	}
}

static void say(struct jl_infer *a, struct trial *t)
{
	const struct jl_infer_ask *ask = t->ask;
	const struct jl_device *dev = t->job.dev;
	struct jl_serve_run run = { .model = t->model,
				    .engine = ask->engine,
				    .format = t->job.format,
				    .place = t->job.place,
				    .n_requests = fmax(t->r.batch_mean, 1),
				    .prompt = ask->prompt,
				    .output = ask->answer,
				    .metric = JL_METRIC_TTFT };
	const struct jl_serve_time first = jl_serve_of(t->machine, &t->fit, &run, &t->plan);

	run.metric = JL_METRIC_TPOT;
	const struct jl_serve_time next = jl_serve_of(t->machine, &t->fit, &run, &t->plan);
	const double ln = next.half_ln, copies = t->n_copies;

	a->n_copies = t->n_copies;
	a->n_gpus = (int)t->job.place.n_gpus;
	a->weights_B = jl_serve_weights_B(&t->job);
	a->capacity_B = dev->mem_B;
	a->kv_tokens = jl_serve_room(&t->job, 1, jl_policy_of(ask->engine)->mem_frac);
	a->kv_token_B = jl_serve_context_B(&t->job, 1);
	a->context_max = floor(a->kv_tokens);
	a->fits = a->kv_tokens >= ask->prompt + ask->answer;
	a->ttft_s = times_of(&t->r.ttft_s, first.half_ln);
	a->tpot_s = times_of(&t->r.tpot_s, ln);
	a->itl_s = times_of(&t->r.itl_s, ln);
	a->e2e_s = times_of(&t->r.e2e_s, ln);
	/* A rate that arrivals set is as sure as they are. */
	const double rate_ln = ask->kind == JL_LOAD_OPEN && keeps_up(t) ? 0 : ln;
	const double at_once = ask->kind == JL_LOAD_CLOSED ? ceil(ask->concurrency / copies) : 0;
	/* a closed loop by what a request takes: the end of a run, when machines stand half empty, is not counted */
	const double per_s = at_once > 0    ? at_once / t->r.e2e_s.mean
			     : rate_ln == 0 ? ask->rate_hz / copies
					    : t->r.requests_per_s;
	const double scale = per_s / t->r.requests_per_s * copies;

	a->requests_per_s = around(t->r.requests_per_s * scale, rate_ln);
	a->output_tps = around(t->r.output_tps * scale, rate_ln);
	a->input_tps = around(t->r.input_tps * scale, rate_ln);
	a->user_tps = around(t->r.user_tps, ln);
	a->kv_mean_frac = t->r.kv_mean_frac;
	a->kv_max_frac = t->r.kv_max_frac;
	a->busy_frac = t->r.busy_frac;
	a->batch_mean = t->r.batch_mean;
	a->n_requests = (long long)t->r.n_ended;
	a->n_refused = (long long)t->r.n_refused;
	a->n_preempted = t->r.n_preempted;
	a->keeps_up = keeps_up(t);
	a->step = next.step;
	a->checked = jl_arch_family(dev->arch)->priors.warpgroup;
	a->rent = jl_rent_find(t->cat, &t->machine->sys);
	a->has_target = !isnan(ask->ttft_max_s) || !isnan(ask->tpot_max_s);
	a->meets = a->has_target && meets(t);
	say_bound(a);
	say_money(a, t);
	say_flags(a, t);
}

/* How many GPUs share a copy, and how many copies: as asked, as targets need, or what the system holds. */
static enum jl_status choose(struct trial *t, struct jl_infer *a, const struct jl_infer_ask *ask,
			     struct jl_infer_ask *own, struct jl_err *err)
{
	const bool target = !isnan(ask->ttft_max_s) || !isnan(ask->tpot_max_s);
	const int n_all = gpus_of_system(t->machine), n_host = gpus_of_host(t->machine);
	int n_gpus = ask->n_gpus > 0 ? ask->n_gpus : fewest_gpus(t);
	int n_copies = ask->n_copies;

	if (ask->n_gpus > n_host)
		return jl_fail(err, JL_E_RANGE, "%d GPUs for one copy of the model; a host has %d", ask->n_gpus,
			       n_host);
	if (target && !ask->find_rate && ask->n_copies == 0)
		return search(t, &n_gpus, &n_copies, err);
	/* A closed loop wants room for all; one that does not fit takes the next larger cut. */
	const double at_once = ask->kind == JL_LOAD_CLOSED ? ask->concurrency : 1;

	while (ask->n_gpus <= 0 && 2 * n_gpus <= n_host && room_of(t, n_gpus) * (n_all / n_gpus) < at_once)
		n_gpus *= 2;
	n_copies = n_copies > 0 ? n_copies : n_all / n_gpus > 0 ? n_all / n_gpus : 1;
	if (!ask->find_rate)
		return try_once(t, n_gpus, n_copies, err);
	*own = *ask;
	return search_rate(t, own, n_gpus, n_copies, &a->rate_max_hz, err);
}

enum jl_status jl_infer(struct jl_infer *ret_infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			const struct jl_infer_ask *ask, struct jl_err *err)
{
	struct jl_infer a = { .model = ask->model_name,
			      .system = machine->sys.text,
			      .engine = jl_engine_id(ask->engine),
			      .weights = ask->weights ? ask->weights : "16-bit",
			      .kv = ask->kv ? ask->kv : "as the weights",
			      .kind = ask->kind,
			      .concurrency = ask->kind == JL_LOAD_CLOSED ? ask->concurrency : NAN,
			      .rate_hz = ask->kind == JL_LOAD_OPEN ? ask->rate_hz : NAN,
			      .users = ask->kind == JL_LOAD_USERS ? ask->users : NAN,
			      .prompt = ask->prompt,
			      .answer = ask->answer,
			      .rate_max_hz = NAN,
			      .ttft_max_s = ask->ttft_max_s,
			      .tpot_max_s = ask->tpot_max_s,
			      .n_gpus_system = gpus_of_system(machine) };
	struct jl_infer_ask own = *ask;
	struct trial t;
	enum jl_status status = begin(&t, cat, machine, ask, err);

	if (!status && isnan(machine->dev.mem_B))
		status = jl_fail(err, JL_E_ABSENT, "the catalog does not list the memory of %.60s", machine->sys.text);
	if (!status && room_of(&t, ask->n_gpus > 0 ? ask->n_gpus : gpus_of_host(machine)) < 1)
		status = jl_fail(err, JL_E_RANGE,
				 "%.60s does not fit on %.60s in %s: take more GPUs, shorter requests or narrower "
				 "weights (--weights fp8, int4)",
				 ask->model_name, machine->sys.text, a.weights);
	if (!status)
		status = choose(&t, &a, ask, &own, err);
	if (!status && t.r.n_ended == 0)
		status = jl_fail(
			err, JL_E_RANGE,
			"no request fits beside the weights: take more GPUs, shorter requests or narrower weights");
	if (!status && !(t.r.tpot_s.mean > 0) && ask->answer > 1)
		status = jl_fail(err, JL_E_DATA,
				 "%.60s does not compute in %.20s; int8 and int4 weights run everywhere",
				 machine->sys.text, a.weights);
	if (!status) {
		if (ask->find_rate)
			a.rate_hz = own.rate_hz;
		a.kind = t.ask->kind;
		say(&a, &t);
		*ret_infer = a;
	}
	jl_free(t.room);
	return status;
}

static struct jl_infer_row row_of(const struct jl_infer *a)
{
	return (struct jl_infer_row){ .weights = a->weights,
				      .rate_hz = a->rate_hz,
				      .fits = a->fits,
				      .keeps_up = a->keeps_up,
				      .weights_B = a->weights_B,
				      .n_gpus = a->n_gpus,
				      .ttft_p90_s = a->ttft_s.p90,
				      .tpot_p90_s = a->tpot_s.p90,
				      .output_tps = a->output_tps,
				      .usd_per_Mtoken_out = a->usd_per_Mtoken_out,
				      .busy_frac = a->busy_frac };
}

/* The knee: the last rate whose first tokens come within three times the quietest ones. */
#define KNEE 3.0

enum jl_status jl_infer_sweep(struct jl_infer *infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			      const struct jl_infer_ask *ask, const double *rates_hz, size_t n, struct jl_err *err)
{
	struct jl_infer_ask one = *ask;
	enum jl_status status = JL_OK;
	size_t knee = 0;

	one.kind = JL_LOAD_OPEN;
	one.ttft_max_s = one.tpot_max_s = NAN;
	one.find_rate = false;
	one.n_gpus = infer->n_gpus;
	one.n_copies = infer->n_copies;
	infer->n_rows = 0;
	for (size_t i = 0; i < n && i < JL_INFER_ROWS && !status; i++) {
		struct jl_infer a;

		one.rate_hz = rates_hz[i];
		status = jl_infer(&a, cat, machine, &one, err);
		if (status)
			break;
		infer->rows[infer->n_rows++] = row_of(&a);
		if (a.keeps_up && a.ttft_s.p90.value <= KNEE * infer->rows[0].ttft_p90_s.value)
			knee = i;
	}
	if (!status)
		infer->rows[knee].knee = true;
	return status;
}

enum jl_status jl_infer_compare_weights(struct jl_infer *infer, const struct jl_catalog *cat,
					const struct jl_machine *machine, const struct jl_infer_ask *ask,
					struct jl_err *err)
{
	static const char *const formats[] = { "bf16", "fp8", "int8", "int4", "nvfp4", "q4_k_m" };
	const struct jl_device *dev = &machine->dev;
	struct jl_infer_ask one = *ask;

	(void)err;
	infer->n_rows = 0;
	infer->compared = true;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct jl_infer a;

		/* formats that the device only widens say nothing that int4 and int8 do not */
		if ((i == 0 && isnan(dev->peak_flopps[JL_BF16])) || (i == 1 && isnan(dev->peak_flopps[JL_FP8])) ||
		    (i == 4 && isnan(dev->peak_flopps[JL_FP4])))
			continue;
		one.weights = formats[i];
		if (jl_infer(&a, cat, machine, &one, NULL))
			infer->rows[infer->n_rows] = (struct jl_infer_row){ .rate_hz = NAN, .weights_B = NAN };
		else
			infer->rows[infer->n_rows] = row_of(&a);
		infer->rows[infer->n_rows++].weights = formats[i];
	}
	return JL_OK;
}
