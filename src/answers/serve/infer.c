#include <math.h>

#include "base/mem.h"
#include "parameters/arch.h"
#include "serve/trial.h"

#define TARGET_SEARCH 18
#define RATE_LEAST    1e-4
#define SESSIONS_MOST 20000.0 /* per copy */

const struct jl_choice jl_load_choices[] = { { "closed", JL_LOAD_CLOSED },
					     { "open", JL_LOAD_OPEN },
					     { "users", JL_LOAD_USERS },
					     { "trace", JL_LOAD_TRACE },
					     { "sessions", JL_LOAD_SESSIONS },
					     { "job", JL_LOAD_JOB },
					     { NULL, 0 } };

/* Fewest devices of one host, in powers of two, that hold the model and some requests. */
static int fewest_gpus(struct jl_trial *t)
{
	const int n_host = jl_serve_host_gpus(t->machine);
	int n = t->ask->n_ep > 1 ? t->ask->n_ep : 1;

	while (2 * n <= n_host && jl_trial_room(t, n) < 4)
		n *= 2;
	return n;
}

/* With targets: searches from few GPUs to many, narrow copies before wide ones; takes the first that meets them. */
static enum jl_status search(struct jl_trial *t, bool *ret_met, struct jl_err *err)
{
	const int n_all = jl_sys_n_devices(&t->machine->sys), n_host = jl_serve_host_gpus(t->machine),
		  least = fewest_gpus(t);

	for (int n = least; n <= n_all; n = n < 8 ? n * 2 : n + 8)
		for (int each = least; each <= n && each <= n_host; each *= 2) {
			const int copy = each * jl_trial_stages(t->ask);

			if (n % copy != 0 || (t->ask->n_gpus > 0 && each != t->ask->n_gpus))
				continue;
			JL_TRY(jl_trial_run(t, each, n / copy, err));
			*ret_met = jl_trial_meets(t);
			if (*ret_met)
				return JL_OK;
		}
	return JL_OK;
}

/* Sets the load: concurrent sessions, or requests per second. */
static void set_load(struct jl_infer_ask *ask, double load)
{
	if (ask->turns > 1)
		ask->concurrency = fmax(floor(load), 1);
	else
		ask->rate_hz = load;
}

/* Largest rate or number of sessions within the targets: doubling or halving, then bisection. */
static enum jl_status search_rate(struct jl_trial *t, struct jl_infer_ask *ask, int n_gpus, int n_copies,
				  double *ret_hz, struct jl_err *err)
{
	const bool sessions = ask->turns > 1;
	const double least = sessions ? 1 : RATE_LEAST * n_copies,
		     most = sessions ? SESSIONS_MOST * n_copies : INFINITY;
	double lo = 0, hi = (sessions ? 8 : 0.25) * n_copies;
	enum jl_status status = JL_OK;

	t->ask = ask;
	ask->kind = sessions ? JL_LOAD_SESSIONS : JL_LOAD_OPEN;
	for (int i = 0; i < TARGET_SEARCH && hi <= most && !status; i++) {
		set_load(ask, hi);
		status = jl_trial_run(t, n_gpus, n_copies, err);
		if (!status && !jl_trial_meets(t))
			break;
		lo = hi;
		hi *= 2;
	}
	for (double low = 0.5 * hi; !status && lo <= 0 && low >= least; low *= 0.5) {
		set_load(ask, low);
		status = jl_trial_run(t, n_gpus, n_copies, err);
		if (!status)
			*(jl_trial_meets(t) ? &lo : &hi) = low;
	}
	for (int i = 0; i < 7 && !status && lo > 0 && (!sessions || hi - lo > 1); i++) {
		const double middle = 0.5 * (lo + hi);

		set_load(ask, middle);
		status = jl_trial_run(t, n_gpus, n_copies, err);
		if (!status)
			*(jl_trial_meets(t) ? &lo : &hi) = sessions ? ask->concurrency : middle;
	}
	*ret_hz = lo;
	set_load(ask, lo > 0 ? lo : sessions ? n_copies : 0.25 * n_copies);
	return status ? status : jl_trial_run(t, n_gpus, n_copies, err);
}

static struct jl_infer_times times_of(const struct jl_spread *s, double half_ln)
{
	return (struct jl_infer_times){ jl_estimate_around(s->mean, half_ln), jl_estimate_around(s->p50, half_ln),
					jl_estimate_around(s->p90, half_ln), jl_estimate_around(s->p99, half_ln) };
}

/* Prompt tokens that no cache holds. */
static double computed_frac(const struct jl_trial *t)
{
	double found = 0;

	for (int i = 0; i < JL_N_KV_TIER; i++)
		found += (double)t->r.found_tokens[i];
	return t->ask->turns > 1 ? (double)t->r.prompt_tokens / ((double)t->r.prompt_tokens + found)
				 : 1 - t->ask->cached_frac;
}

/* Cost by rent, divided between input and output by pass time; and by power. */
static void say_money(struct jl_infer *a, const struct jl_trial *t)
{
	const struct jl_infer_ask *ask = t->ask;
	const double n_gpus = a->n_gpus_used, half_ln = log(a->output_tps.hi / a->output_tps.value);
	const double usdps = a->rent.usdps * n_gpus;
	const double batch = fmax(t->r.batch_mean, 1);
	/* prompts share a pass, up to its token limit */
	const double prompt = jl_trial_prompt(ask);
	const double together = fmin(fmax(floor(jl_trial_token_budget(ask) / prompt), 1), batch);
	const struct jl_pass prompts = jl_pass_prefill(together, prompt),
			     next = jl_pass_decode(batch, prompt + 0.5 * ask->answer);
	/* pass seconds per second: prompts, and answers; idle time counts as answers */
	const double prompt_s = jl_serve_pass(&t->job, &prompts).step_s / together * computed_frac(t) *
				a->requests_per_s.value / a->n_copies;
	const double answer_s = t->r.tpot_s.mean > 0 ? jl_serve_pass(&t->job, &next).step_s / batch *
							       a->output_tps.value / a->n_copies
						     : 0;
	const double in_frac = prompt_s / fmax(prompt_s + answer_s, 1);
	const struct jl_power_ask power = { .work = { .limit_W = NAN },
					    .activity_frac = 0.6 * t->r.busy_frac,
					    .n_gpus = n_gpus,
					    .host_W = jl_machine_host_W(t->machine, n_gpus) };

	a->usd_per_Mtoken_out = jl_estimate_around(usdps * (1 - in_frac) / a->output_tps.value * 1e6, half_ln);
	a->usd_per_Mtoken_in = jl_estimate_around(usdps * in_frac / a->input_tps.value * 1e6, half_ln);
	a->power_W = jl_power_of(t->machine, &power).power_W;
	a->energy_J_token = a->power_W * ask->pue / a->output_tps.value;
	a->power_usd_per_Mtoken = a->energy_J_token / 3.6e6 * ask->usd_per_kWh * 1e6;
}

/* Share of the tokens of earlier turns. */
static void say_sessions(struct jl_infer_sessions *s, const struct jl_trial *t)
{
	double all = (double)t->r.missed_tokens;

	for (int i = 0; i < JL_N_KV_TIER; i++)
		all += (double)t->r.found_tokens[i];
	for (int i = 0; i < JL_N_KV_TIER; i++)
		s->found_frac[i] = (double)t->r.found_tokens[i] / fmax(all, 1);
	s->computed_frac = (double)t->r.missed_tokens / fmax(all, 1);
}

/* Value of host memory: the same load with and without it. */
static enum jl_status say_other_host(struct jl_infer *a, struct jl_trial *t, struct jl_infer_ask *own,
				     struct jl_err *err)
{
	const struct jl_infer_ask *asked = t->ask;
	const double hosts = ceil((double)a->n_gpus * a->n_stages / jl_serve_host_gpus(t->machine)),
		     a_host = fmax(jl_serve_host_gpus(t->machine) / a->n_gpus, 1);
	struct jl_infer_sessions *s = &a->sessions, other = { 0 };
	const double ttft_ln = log(a->ttft_s.mean.hi / a->ttft_s.mean.value);

	*own = *asked;
	own->host_B = own->host_B > 0 ? 0 : JL_HOST_RAM_FRAC * t->machine->host.ram_B * hosts / a_host;
	s->other_host_B = own->host_B;
	if (isnan(own->host_B))
		return JL_OK;
	own->disk_B = NAN;
	t->ask = own;
	JL_TRY(jl_trial_run(t, a->n_gpus, a->n_copies, err));
	say_sessions(&other, t);
	s->other_p90_s = jl_estimate_around(t->r.later_s.p90, ttft_ln);
	s->other_computed_frac = other.computed_frac;
	return own->find_rate ? search_rate(t, own, a->n_gpus, a->n_copies, &s->other_held, err) : JL_OK;
}

/* Time of a mid-answer pass spent on adapters. */
static void say_adapters(struct jl_infer *a, const struct jl_trial *t)
{
	const struct jl_pass pass = jl_pass_decode(fmax(t->r.batch_mean, 1), t->ask->prompt + 0.5 * t->ask->answer);
	struct jl_serve_job without = t->job;

	without.adapters.n = 0;
	a->adapters_B = jl_serve_adapters_B(&t->job);
	a->adapters_frac = 1 - jl_serve_pass(&without, &pass).step_s / jl_serve_pass(&t->job, &pass).step_s;
}

/* Only engines with such options compute requests of several adapters in one pass. */
static enum jl_status check_adapters(const struct jl_infer_ask *ask, struct jl_err *err)
{
	static const int ranks[] = { 8, 16, 32, 64, 128, 256, 320, 512 };
	const struct jl_engine_info *engine = jl_engine_info(ask->engine);
	bool known = false;

	if (ask->n_adapters <= 0)
		return JL_OK;
	for (size_t i = 0; i < JL_LEN(ranks); i++)
		known = known || ask->adapter_rank == ranks[i];
	if (!known)
		return jl_fail(err, JL_E_USAGE,
			       "--adapter-rank %d: engines keep room for 8, 16, 32, 64, 128, 256, 320 or 512; take the "
			       "next above",
			       ask->adapter_rank);
	if (ask->engine != JL_ENGINE_GENERAL && !engine->start.loras)
		return jl_fail(
			err, JL_E_USAGE,
			"--adapters: %.40s is not known to compute several adapters in one pass; take --engine vllm "
			"or sglang",
			jl_engine_id(ask->engine));
	return JL_OK;
}

static void say(struct jl_infer *a, struct jl_trial *t)
{
	const struct jl_infer_ask *ask = t->ask;
	const struct jl_device *dev = t->job.dev;
	struct jl_serve_run run = { .model = t->model,
				    .engine = ask->engine,
				    .format = t->job.format,
				    .place = t->job.place,
				    .prefill = ask->prompt_gpus > 0 ? t->prompts.place : (struct jl_serve_place){ 0 },
				    .n_requests = ask->kind == JL_LOAD_CLOSED
							  ? ceil(ask->concurrency / jl_trial_shares(t))
							  : fmax(t->r.batch_mean, 1),
				    .prompt = jl_trial_prompt(ask),
				    .output = ask->answer,
				    .metric = JL_METRIC_TTFT };
	const struct jl_serve_time first = jl_serve_of(t->machine, &t->fit, &run, &t->plan);

	/* a one-token answer consists of the prompt's pass */
	run.metric = t->r.tpot_s.mean > 0 ? JL_METRIC_TPOT : JL_METRIC_TTFT;
	const struct jl_serve_time next = jl_serve_of(t->machine, &t->fit, &run, &t->plan);
	const double ln = next.half_ln, copies = jl_trial_shares(t);

	a->n_copies = t->n_copies;
	a->n_gpus = (int)t->job.place.n_gpus;
	a->n_stages = jl_trial_stages(ask);
	a->n_ep = ask->n_ep > 1 ? ask->n_ep : 1;
	a->dp_attention = ask->dp_attention;
	a->prompt_gpus = ask->prompt_gpus;
	a->prompt_copies = ask->prompt_gpus > 0 ? jl_trial_prompt_gpus(ask) / ask->prompt_gpus : 0;
	a->prompt_busy_frac = ask->prompt_gpus > 0 ? t->r.prompt_busy_frac : NAN;
	a->n_gpus_used = a->n_gpus * a->n_stages * a->n_copies + jl_trial_prompt_gpus(ask);
	a->weights_B = jl_serve_weights_B(&t->job);
	a->capacity_B = dev->mem_B;
	a->kv_tokens = t->kv_tokens;
	a->kv_token_B = jl_serve_context_B(&t->job, 1);
	a->context_max = a->embeds ? ask->context : floor(a->kv_tokens);
	a->fits = a->kv_tokens >= jl_trial_longest(ask);
	a->ttft_s = times_of(&t->r.ttft_s, first.half_ln);
	a->tpot_s = times_of(&t->r.tpot_s, ln);
	a->itl_s = times_of(&t->r.itl_s, ln);
	a->e2e_s = times_of(&t->r.e2e_s, ln);
	const double at_once = t->r.at_once;
	const double round_s = t->r.e2e_s.mean + (ask->kind == JL_LOAD_USERS ? ask->think_s
						  : ask->kind == JL_LOAD_SESSIONS
							  ? ask->wait_s * (ask->turns - 1) / ask->turns
							  : 0);
	/* A rate set by arrivals is as certain as they are; one of users with pauses is more certain than their answers. */
	const double rate_ln = ask->kind == JL_LOAD_OPEN && jl_trial_keeps_up(t) ? 0
			       : at_once > 0                                     ? ln * t->r.e2e_s.mean / round_s
										 : ln;
	/* closed loop: by the time of a request, excluding the end of the run, when the machine is partly empty */
	const double per_s = at_once > 0    ? at_once / round_s
			     : rate_ln == 0 ? ask->rate_hz / copies
					    : t->r.requests_per_s;
	const double scale = per_s / t->r.requests_per_s * copies;

	a->requests_per_s = jl_estimate_around(t->r.requests_per_s * scale, rate_ln);
	a->output_tps = jl_estimate_around(t->r.output_tps * scale, rate_ln);
	a->input_tps = jl_estimate_around(t->r.input_tps * scale, rate_ln);
	a->user_tps = jl_estimate_around(t->r.user_tps, ln);
	a->job_s = jl_estimate_around(t->r.span_s, rate_ln);
	a->kv_mean_frac = t->r.kv_mean_frac;
	a->kv_max_frac = t->r.kv_max_frac;
	a->busy_frac = t->r.busy_frac;
	a->batch_mean = t->r.batch_mean;
	a->batch_max = t->r.batch_max;
	a->n_requests = (long long)t->r.n_ended;
	a->n_refused = (long long)t->r.n_refused;
	a->n_preempted = t->r.n_preempted;
	a->keeps_up = jl_trial_keeps_up(t);
	a->step = next.step;
	a->checked = jl_arch_family(dev->arch)->priors.warpgroup;
	a->rent = jl_rent_find(t->cat, &t->machine->sys);
	a->has_target = !isnan(ask->ttft_max_s) || !isnan(ask->tpot_max_s);
	a->meets = a->has_target && jl_trial_meets(t);
	a->bound = jl_serve_bound(&a->step, &a->bound_frac);
	a->published_pair = jl_serve_published(t->machine, &run);
	a->draft = ask->draft;
	if (ask->draft) {
		const struct jl_pass pass = jl_pass_decode(fmax(t->r.batch_mean, 1), ask->prompt + 0.5 * ask->answer);
		struct jl_pass all = pass;

		all.n_drafted = 1 + ask->n_draft;
		const double draft_s = ask->n_draft * jl_serve_pass(&t->draft, &pass).step_s;

		a->draft_B = jl_serve_weights_B(&t->draft);
		a->draft_frac = draft_s / (draft_s + jl_serve_pass(&t->job, &all).step_s);
	}
	say_adapters(a, t);
	if (ask->turns > 1) {
		say_sessions(&a->sessions, t);
		a->sessions.later_s = times_of(&t->r.later_s, first.half_ln);
	}
	say_money(a, t);
	a->processor = !t->machine->sys.gpu;
	jl_infer_flags(a, ask, &t->job, t->machine->sys.gpu);
}

/* A copy is on one host, except for stages; experts are shared by a part of its GPUs. */
static enum jl_status check_cut(const struct jl_trial *t, int n_gpus, int n_all, struct jl_err *err)
{
	const struct jl_infer_ask *ask = t->ask;
	const int n_host = jl_serve_host_gpus(t->machine),
		  widest = n_gpus > ask->prompt_gpus ? n_gpus : ask->prompt_gpus;

	if (widest > n_host)
		return jl_fail(err, JL_E_RANGE, "%d GPUs for one copy of the model; a host has %d", widest, n_host);
	if (ask->n_ep > 1 && t->model.n_experts < 2)
		return jl_fail(err, JL_E_USAGE, "--ep: %.60s has no experts to share", ask->model_name);
	if (ask->n_ep > 1 && n_gpus % ask->n_ep != 0)
		return jl_fail(err, JL_E_RANGE, "--ep %d does not divide the %d GPUs of a copy", ask->n_ep, n_gpus);
	if (n_gpus * jl_trial_stages(ask) > n_all)
		return jl_fail(err, JL_E_RANGE,
			       "a copy takes %d GPUs in %d stages of %d, the prompts %d; the system has %d",
			       n_gpus * jl_trial_stages(ask), jl_trial_stages(ask), n_gpus, jl_trial_prompt_gpus(ask),
			       n_all + jl_trial_prompt_gpus(ask));
	return JL_OK;
}

#define WIDER_GAIN 1.1    /* smaller gains do not justify links between GPUs */
#define TRIED_MOST 100000 /* longer traces are not simulated for each layout */

/* One layout: its answers under the load, or its largest rate. */
static enum jl_status try_cut(struct jl_trial *t, struct jl_infer_ask *own, int n_gpus, int n, double *ret_hz,
			      struct jl_err *err)
{
	return own->find_rate ? search_rate(t, own, n_gpus, n, ret_hz, err) : jl_trial_run(t, n_gpus, n, err);
}

/* Default layout: the largest rate, or the shortest requests. With few requests, many narrow copies stay idle. */
static enum jl_status best_cut(struct jl_trial *t, struct jl_infer_ask *own, int n_gpus, int n_all, double *ret_hz,
			       struct jl_err *err)
{
	const int n_host = jl_serve_host_gpus(t->machine), st = jl_trial_stages(t->ask);
	int best = n_gpus, last = n_gpus;
	double most_hz = 0;

	for (int each = n_gpus; each <= n_host && each * st <= n_all; each *= 2) {
		if (each > n_gpus && (n_all % (each * st) != 0 || fmod(t->model.heads, each) != 0.0))
			continue;
		JL_TRY(try_cut(t, own, each, n_all / (each * st), ret_hz, err));
		last = each;
		const double hz = own->find_rate ? *ret_hz : t->r.n_ended > 0 ? 1 / t->r.e2e_s.mean : 0;

		if (hz > WIDER_GAIN * most_hz) {
			most_hz = hz;
			best = each;
		}
	}
	return best == last ? JL_OK : try_cut(t, own, best, n_all / (best * st), ret_hz, err);
}

/* Concurrent requests that copies of this many GPUs hold. */
static double room_of(struct jl_trial *t, int n_gpus, int n_copies)
{
	return jl_trial_room(t, n_gpus) * n_copies;
}

/* GPUs per copy and number of copies: as given, as targets require, or the system's capacity. */
static enum jl_status choose(struct jl_trial *t, struct jl_infer *a, const struct jl_infer_ask *ask,
			     struct jl_infer_ask *own, struct jl_err *err)
{
	const bool target = !isnan(ask->ttft_max_s) || !isnan(ask->tpot_max_s);
	const int n_all = jl_sys_n_devices(&t->machine->sys) - jl_trial_prompt_gpus(ask),
		  n_host = jl_serve_host_gpus(t->machine);
	int n_gpus = ask->n_gpus > 0 ? ask->n_gpus : fewest_gpus(t), n_copies = ask->n_copies;

	bool met = false;

	JL_TRY(check_cut(t, n_gpus, n_all, err));
	/* if none meets the targets: the default without targets */
	if (target && !ask->find_rate && ask->n_copies == 0 && ask->prompt_gpus == 0)
		JL_TRY(search(t, &met, err));
	if (met)
		return JL_OK;
	const double at_once = ask->kind == JL_LOAD_CLOSED ? ask->concurrency
							   : 1; /* a closed loop needs room for all */

	while (ask->n_gpus <= 0 && 2 * n_gpus <= n_host && 2 * n_gpus * jl_trial_stages(ask) <= n_all &&
	       room_of(t, n_gpus, n_all / (n_gpus * jl_trial_stages(ask))) < at_once)
		n_gpus *= 2;
	*own = *ask;
	if (!ask->seen && (double)ask->n_trace + ask->n_job <= TRIED_MOST && ask->n_gpus <= 0 && n_copies == 0 &&
	    ask->prompt_gpus == 0 && ask->n_ep <= 1 && n_gpus * jl_trial_stages(ask) <= n_all)
		return best_cut(t, own, n_gpus, n_all, &a->rate_max_hz, err);
	n_copies = n_copies > 0 ? n_copies : n_all / (n_gpus * jl_trial_stages(ask));
	return try_cut(t, own, n_gpus, n_copies > 0 ? n_copies : 1, &a->rate_max_hz, err);
}

/* llama.cpp does not split layers: the requested devices, or the fewest that hold weights and requests. */
static void cut_by_layer(struct jl_trial *t, struct jl_infer_ask *ask)
{
	const int n_all = jl_sys_n_devices(&t->machine->sys), n_host = jl_serve_host_gpus(t->machine);
	const double at_once = ask->kind == JL_LOAD_CLOSED ? ask->concurrency : 4;
	int n = jl_trial_stages(ask) * (ask->n_gpus > 0 ? ask->n_gpus : 1);

	t->job.place.n_stages = n;
	for (; ask->n_gpus <= 0 && ask->n_stages <= 1 && n < n_host && room_of(t, 1, n_all / n) < at_once;)
		t->job.place.n_stages = ++n;
	ask->n_gpus = 1;
	ask->n_stages = n;
}

#define SEEN_MOST 5.0 /* beyond this ratio: another model, system or layout */

/* Simulates the observed load as predicted, then corrected to the observed pass and front-end times. */
static enum jl_status correct(struct jl_trial *t, struct jl_infer_ask *then, struct jl_infer_seen *ret,
			      struct jl_err *err)
{
	const struct jl_infer_ask *ask = t->ask;
	const struct jl_served_seen *seen = ask->seen;
	const int n_gpus = (int)t->job.place.n_gpus, n_copies = t->n_copies;
	struct jl_infer_seen s = { .ttft_s = seen->ttft_s, .tpot_s = seen->tpot_s, .pass_factor = 1 };

	*then = *ask;
	then->prompt = isnan(seen->prompt) ? ask->prompt : fmax(seen->prompt, 1);
	then->answer = isnan(seen->answer) ? ask->answer : fmax(seen->answer, 1);
	if (!isnan(seen->concurrency) || !isnan(seen->rate_hz)) {
		then->kind = isnan(seen->concurrency) ? JL_LOAD_OPEN : JL_LOAD_CLOSED;
		then->concurrency = seen->concurrency;
		then->rate_hz = seen->rate_hz;
	}
	t->ask = then;
	for (int turn = 0; turn < 3; turn++) {
		JL_TRY(jl_trial_run(t, n_gpus, n_copies, err));
		const double factor = seen->tpot_s / t->r.tpot_s.mean;

		if (turn == 0) {
			s.ttft_before_s = t->r.ttft_s.mean;
			s.tpot_before_s = t->r.tpot_s.mean;
			if (!(factor > 1 / SEEN_MOST && factor < SEEN_MOST))
				return jl_fail(err, JL_E_RANGE,
					       "--observed: each token took %.3g s where %.3g s are predicted: another "
					       "model, system, format or --gpus?",
					       seen->tpot_s, s.tpot_before_s);
		}
		if (turn < 2) {
			jl_serve_slow(&t->fit, factor);
			s.pass_factor *= factor;
		} else {
			t->fit.first_s = fmax(t->fit.first_s + seen->ttft_s - t->r.ttft_s.mean, 0);
		}
	}
	JL_TRY(jl_trial_run(t, n_gpus, n_copies, err));
	s.ttft_after_s = t->r.ttft_s.mean;
	s.tpot_after_s = t->r.tpot_s.mean;
	s.first_s = t->fit.first_s;
	t->ask = ask;
	*ret = s;
	return JL_OK;
}

/* Available and required memory only; no times. */
static void say_no_room(struct jl_infer *a, struct jl_trial *t, int n_gpus)
{
	const struct jl_estimate none = { NAN, NAN, NAN };
	struct jl_infer_ask narrow = *t->ask;
	struct jl_trial other;

	(void)jl_trial_room(t, n_gpus);
	a->n_gpus = n_gpus;
	a->n_stages = jl_trial_stages(t->ask);
	a->weights_B = jl_serve_weights_B(&t->job);
	a->adapters_B = jl_serve_adapters_B(&t->job);
	a->capacity_B = t->job.dev->mem_B;
	a->kv_token_B = jl_serve_context_B(&t->job, 1);
	a->kv_tokens = a->context_max = fmax(jl_serve_room(&t->job, 1, jl_policy_of(t->ask->engine)->mem_frac), 0);
	a->ttft_s = a->tpot_s = a->itl_s = a->e2e_s = (struct jl_infer_times){ none, none, none, none };
	a->requests_per_s = a->output_tps = a->input_tps = a->user_tps = none;
	a->usd_per_Mtoken_out = a->usd_per_Mtoken_in = none;
	a->kv_mean_frac = a->kv_max_frac = a->busy_frac = a->prompt_busy_frac = a->batch_mean = a->batch_max = NAN;
	a->bound_frac = a->power_W = a->energy_J_token = a->power_usd_per_Mtoken = NAN;
	a->step = (struct jl_serve_step){ NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	a->has_target = !isnan(t->ask->ttft_max_s) || !isnan(t->ask->tpot_max_s);
	a->processor = !t->machine->sys.gpu;
	narrow.weights = "int4";
	a->narrow_fits = !jl_trial_begin(&other, t->cat, t->machine, &narrow, NULL) &&
			 jl_trial_room(&other, n_gpus) >= 1;
}

enum jl_status jl_infer(struct jl_infer *ret_infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			const struct jl_infer_ask *asked, struct jl_err *err)
{
	struct jl_infer_ask by_layer = *asked;
	const struct jl_infer_ask *const ask = &by_layer;

	by_layer.engine = jl_serve_engine(asked->engine, asked->weights, machine);
	JL_TRY(jl_serve_engine_check(by_layer.engine, machine, err));
	JL_TRY(check_adapters(ask, err));
	if (asked->engine == JL_ENGINE_GENERAL && by_layer.engine != asked->engine)
		by_layer.assumed &= ~(1u << JL_ASSUMED_ENGINE);
	struct jl_infer a = { .model = ask->model_name,
			      .system = machine->sys.text,
			      .engine = jl_engine_id(ask->engine),
			      .weights = jl_served_weights(ask->weights, ask->model),
			      .published = !ask->weights && ask->model && ask->model->weights,
			      .embeds = ask->model && ask->model->embeds,
			      .kv = ask->kv ? ask->kv : "as the weights",
			      .kind = ask->kind,
			      .concurrency = ask->kind == JL_LOAD_CLOSED || ask->kind == JL_LOAD_SESSIONS
						     ? ask->concurrency
						     : NAN,
			      .sessions = { .turns = ask->turns,
					    .turn_tokens = ask->turn_tokens,
					    .wait_s = ask->wait_s,
					    .longest = jl_trial_longest(ask),
					    .held = NAN,
					    .other_host_B = NAN,
					    .other_held = NAN,
					    .other_computed_frac = NAN,
					    .other_p90_s = { NAN, NAN, NAN } },
			      .rate_hz = ask->kind == JL_LOAD_OPEN ? ask->rate_hz : NAN,
			      .users = ask->kind == JL_LOAD_USERS ? ask->users : NAN,
			      .think_s = ask->think_s,
			      .n_job = ask->kind == JL_LOAD_JOB ? ask->n_job : NAN,
			      .job_s = { NAN, NAN, NAN },
			      .prompt = ask->prompt,
			      .answer = ask->answer,
			      .longest = ask->model && ask->model->embeds ? ask->prompt : jl_trial_longest(ask),
			      .context = ask->context,
			      .usd_per_kWh = ask->usd_per_kWh,
			      .pue = ask->pue,
			      .assumed = ask->assumed,
			      .rate_max_hz = NAN,
			      .rate_held_hz = NAN,
			      .users_held = NAN,
			      .published_pair = true,
			      .draft_B = NAN,
			      .draft_frac = NAN,
			      .n_adapters = ask->n_adapters,
			      .adapter_rank = ask->adapter_rank,
			      .adapters_frac = NAN,
			      .ttft_max_s = ask->ttft_max_s,
			      .tpot_max_s = ask->tpot_max_s,
			      .n_gpus_system = jl_sys_n_devices(&machine->sys) };
	struct jl_infer_ask own = *ask;
	struct jl_trial t;
	enum jl_status status = jl_trial_begin(&t, cat, machine, ask, err);

	if (!status && jl_engine_info(ask->engine)->by_layer)
		cut_by_layer(&t, &by_layer);
	for (size_t i = 0; i < ask->n_trace; i++)
		a.longest = fmax(a.longest, ask->trace[i].prompt + ask->trace[i].answer);
	if (!status)
		status = jl_machine_has_memory(machine, err);
	const int widest = ask->n_gpus > 0 ? ask->n_gpus : jl_serve_host_gpus(machine);

	if (!status && jl_trial_room(&t, widest) < 1) {
		say_no_room(&a, &t, widest);
		*ret_infer = a;
		return JL_OK;
	}
	JL_THEN(status, choose(&t, &a, ask, &own, err));
	if (!status && ask->seen) {
		t.ask = ask; /* the search changed it */
		status = correct(&t, &own, &a.seen, err);
		JL_THEN(status, choose(&t, &a, ask, &own, err));
	}
	if (!status && t.r.n_ended == 0)
		status = jl_fail(err, JL_E_RANGE,
				 "no request fits beside the weights: use more GPUs, shorter requests or a smaller "
				 "weight format");
	if (!status && !(t.r.tpot_s.mean > 0) && ask->answer > 1)
		status = jl_fail(err, JL_E_DATA,
				 "%.60s does not compute in %.20s; int8 and int4 weights run everywhere",
				 machine->sys.text, a.weights);
	if (!status) {
		if (ask->find_rate && ask->turns > 1) {
			a.concurrency = own.concurrency;
			a.sessions.held = a.rate_max_hz;
			a.rate_max_hz = NAN;
		} else if (ask->find_rate) {
			a.rate_hz = own.rate_hz;
		}
		a.kind = t.ask->kind;
		say(&a, &t);
		if (ask->turns > 1)
			status = say_other_host(&a, &t, &own, err);
	}
	if (!status)
		*ret_infer = a;
	jl_free(t.room);
	return status;
}
