#include "serve/sim.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/stats.h"
#include "serve/inside.h"

double jl_draft_gain(int n_draft, double accept_frac)
{
	double gain = 1.0, chance = 1.0;

	for (int i = 0; i < n_draft; i++) {
		chance *= accept_frac;
		gain += chance;
	}
	return gain;
}

/* Event kinds. */
enum happening { ARRIVES, READY, FETCHED, MOVED };
struct event {
	double at_s;
	int id;
	enum happening what;
};

struct run {
	struct sim sim;       /* first member: callbacks cast it */
	struct event *events; /* binary heap by time */
	int n_events;
	size_t n_begun, n_ended, n_refused;
	double front_free_s, front_wait_s;
	struct memo *memos; /* of the answer machines, and of separate prompt machines */
};

static bool before(const struct event *a, const struct event *b)
{
	return a->at_s < b->at_s || (a->at_s == b->at_s && a->id < b->id);
}

static void push(struct run *run, double at_s, int id, enum happening what)
{
	const struct event e = { at_s, id, what };
	int at = run->n_events++;

	while (at > 0 && before(&e, &run->events[(at - 1) / 2])) {
		run->events[at] = run->events[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	run->events[at] = e;
}

static struct event pop(struct run *run)
{
	const struct event top = run->events[0], e = run->events[--run->n_events];
	int at = 0;

	for (int child = 1; child < run->n_events; child = 2 * at + 1) {
		child += child + 1 < run->n_events && before(&run->events[child + 1], &run->events[child]);
		if (!before(&run->events[child], &e))
			break;
		run->events[at] = run->events[child];
		at = child;
	}
	run->events[at] = e;
	return top;
}

static void begin_next(struct run *run, double at_s)
{
	const struct jl_load *load = run->sim.load;

	while (run->n_begun < load->n && load->arrivals[run->n_begun].shared > 0) /* scheduled by its predecessor */
		run->n_begun++;
	if (run->n_begun < load->n) {
		const int id = (int)run->n_begun++;

		push(run, load->arrivals[id].at_s + (load->concurrency > 0 ? at_s : 0), id, ARRIVES);
	}
}

/* True if its session ends with it. */
static bool has_next(const struct jl_load *load, int id)
{
	return (size_t)id + 1 < load->n && load->arrivals[id + 1].shared > 0;
}

static void ended(struct sim *sim, int id, double at_s)
{
	struct run *run = (struct run *)sim;

	run->n_ended++;
	if (has_next(sim->load, id))
		push(run, at_s + sim->load->arrivals[id + 1].at_s, id + 1, ARRIVES);
	else if (sim->load->concurrency > 0)
		begin_next(run, at_s);
}

static void fetching(struct sim *sim, int id, double until_s)
{
	push((struct run *)sim, until_s, id, FETCHED);
}

static void prompted(struct sim *sim, int id, double at_s)
{
	struct run *run = (struct run *)sim;
	struct seq *s = &sim->seqs[id];
	const double moved_s = at_s + sim->setup->transfer_s + sim->setup->transfer_token_s * s->prompt;

	s->made = 1;
	s->first_s = moved_s;
	if (s->answer > 1) {
		push(run, moved_s, id, MOVED);
		return;
	}
	s->last_s = moved_s;
	sim->answer_tokens++;
	ended(sim, id, moved_s);
}

/* The machine of this kind with the fewest requests. */
static struct worker *least(struct sim *sim, bool prompts)
{
	const bool apart = sim->setup->prompts.n > 0;
	struct worker *best = NULL;

	for (int i = 0; i < sim->n_workers; i++) {
		struct worker *w = &sim->workers[i];

		if (apart && w->prompts_only != prompts)
			continue;
		if (!best || w->n_run + w->n_waiting + (w->partial != NO_ID) <
				     best->n_run + best->n_waiting + (best->partial != NO_ID))
			best = w;
	}
	return best;
}

/* A request that can never fit is refused, with its followers. */
static void refuse(struct run *run, int id, double at_s)
{
	const struct jl_load *load = run->sim.load;

	for (run->n_refused++; has_next(load, id); run->n_refused++) {
		id++;
		run->sim.seqs[id] = (struct seq){ .arrival_s = at_s, .first_s = NAN, .last_s = NAN };
	}
	if (load->concurrency > 0)
		begin_next(run, at_s);
}

static void arrive(struct run *run, const struct event *e)
{
	struct sim *sim = &run->sim;
	const struct jl_arrival *a = &sim->load->arrivals[e->id];
	struct seq *s = &sim->seqs[e->id];

	if (sim->load->concurrency == 0 && a->shared == 0)
		begin_next(run, 0.0);
	*s = (struct seq){
		.arrival_s = e->at_s, .first_s = NAN, .last_s = NAN, .prompt = a->prompt, .answer = a->answer
	};
	s->cached = a->cached < a->prompt ? a->cached : a->prompt - 1;
	s->computed = s->cached;
	s->target = a->prompt;
	s->session = a->shared > 0 ? sim->seqs[e->id - 1].session : e->id;
	s->known = a->shared;
	for (int i = 0; i < sim->n_workers; i++) {
		if (jl_blocks_most(sim, a) > sim->workers[i].n_blocks) {
			refuse(run, e->id, e->at_s);
			return;
		}
	}
	const double own_s = sim->setup->front_s + sim->setup->line_token_s * a->prompt,
		     taken_s = fmax(run->front_free_s, e->at_s) + own_s;

	run->front_free_s = taken_s + own_s * (fmax(sim->setup->n_alike, 1.0) - 1.0);
	run->front_wait_s += taken_s - e->at_s;
	push(run, taken_s + sim->setup->front_token_s * a->prompt + sim->setup->first_s, e->id, READY);
}

static void happen(struct run *run)
{
	const struct event e = pop(run);

	if (e.what == ARRIVES) {
		arrive(run, &e);
		return;
	}
	struct sim *sim = &run->sim;
	struct worker *w = least(sim, e.what == READY);

	if (sim->held) {
		const int session = sim->seqs[e.id].session;
		struct held *h = &sim->held[session];

		if (session == e.id)
			*h = (struct held){ .worker = (int)(w - sim->workers) };
		w = &sim->workers[h->worker];
	}
	if (!jl_worker_has_work(w))
		w->now_s = fmax(w->now_s, e.at_s);
	if (e.what == MOVED)
		sim->seqs[e.id].computed = sim->seqs[e.id].target;
	jl_worker_queue(sim, w, e.id, e.what == FETCHED);
}

static enum jl_status check(const struct jl_sim_setup *setup, const struct jl_load *load, struct jl_err *err)
{
	if (load->n == 0 || load->n > JL_SERVING_REQUESTS_MAX)
		return jl_fail(err, JL_E_LIMIT, "%zu requests: from 1 to %d", load->n, JL_SERVING_REQUESTS_MAX);
	if (setup->workers.n + setup->prompts.n > JL_SERVING_WORKERS_MAX)
		return jl_fail(err, JL_E_LIMIT, "%d copies of the model: at most %d",
			       setup->workers.n + setup->prompts.n, JL_SERVING_WORKERS_MAX);
	double last_s = 0.0;

	for (size_t i = 0; i < load->n; i++) {
		const struct jl_arrival *a = &load->arrivals[i];
		const bool follows = a->shared > 0, free = follows || load->concurrency > 0;

		if (a->shared < 0 || (follows && (i == 0 || setup->prompts.n > 0)))
			return jl_fail(err, JL_E_RANGE,
				       "request %zu: a further turn must follow an earlier one, and prompts must not "
				       "be on separate machines",
				       i + 1);
		if (a->prompt < 1 || a->answer < 1 || a->prompt > JL_SERVING_TOKENS_MAX ||
		    a->answer > JL_SERVING_TOKENS_MAX || a->cached < 0)
			return jl_fail(err, JL_E_RANGE, "request %zu: prompt and answer have 1 to %d tokens", i + 1,
				       JL_SERVING_TOKENS_MAX);
		if ((load->concurrency == 0 || follows) &&
		    (!(a->at_s >= 0.0) || !isfinite(a->at_s) || (!free && a->at_s < last_s)))
			return jl_fail(err, JL_E_RANGE, "request %zu: arrivals are times from 0 on, in order", i + 1);
		last_s = free ? last_s : a->at_s;
	}
	return JL_OK;
}

static enum jl_status make(struct run *run, const struct jl_sim_setup *setup, const struct jl_load *load,
			   struct jl_err *err)
{
	struct sim *sim = &run->sim;
	const int n = setup->workers.n + setup->prompts.n;
	const size_t n_memos = setup->prompts.n > 0 ? 2 : 1;

	*sim = (struct sim){ .setup = setup,
			     .policy = setup->policy,
			     .load = load,
			     .n_workers = n,
			     .gain = jl_draft_gain(setup->n_draft, setup->accept_frac),
			     .ended = ended,
			     .prompted = prompted,
			     .fetching = fetching };
	sim->block_ticks = (int)fmin(fmax(nearbyint(setup->policy->block_tokens / sim->gain), 1.0),
				     (double)BLOCK_PHASES);
	sim->seqs = jl_realloc(NULL, load->n * sizeof(*sim->seqs));
	sim->workers = jl_realloc(NULL, (size_t)n * sizeof(*sim->workers));
	run->events = jl_realloc(NULL, (load->n + 2) * sizeof(*run->events));
	run->memos = jl_realloc(NULL, n_memos * sizeof(*run->memos));
	if (!sim->seqs || !sim->workers || !run->events || !run->memos)
		return jl_fail_nomem(err);
	for (size_t i = 0; i < load->n && !sim->held; i++) {
		if (load->arrivals[i].shared == 0)
			continue;
		sim->held = jl_realloc(NULL, load->n * sizeof(*sim->held));
		JL_TRY(jl_got(sim->held, err));
	}
	memset(run->memos, 0, n_memos * sizeof(*run->memos));
	memset(sim->workers, 0, (size_t)n * sizeof(*sim->workers));
	for (int i = 0; i < n; i++) {
		struct worker *w = &sim->workers[i];
		w->quiet_s = INFINITY;
		w->prompts_only = i >= setup->workers.n;
		w->kind = w->prompts_only ? &setup->prompts : &setup->workers;
		w->memo = &run->memos[w->prompts_only];
		w->partial = w->newest = w->head = w->tail = NO_ID;
		w->n_blocks = w->free_blocks = (int64_t)floor(w->kind->kv_tokens / setup->policy->block_tokens);
		for (int k = 0; k < JL_N_KV_TIER; k++) {
			const double tokens = k == JL_KV_HOST ? setup->host_tokens : setup->disk_tokens;

			w->tiers[k].oldest = w->tiers[k].newest = NO_ID;
			w->tiers[k].room = k == JL_KV_DEVICE ? w->n_blocks
							     : (int64_t)(tokens / setup->policy->block_tokens);
		}
		w->heap = jl_realloc(
			NULL, ((size_t)fmin((double)load->n, setup->policy->max_seqs * fmax(w->kind->ranks, 1.0)) + 1) *
				      sizeof(*w->heap));
		if (!w->heap)
			return jl_fail_nomem(err);
	}
	return JL_OK;
}

static void release(struct run *run)
{
	for (int i = 0; run->sim.workers && i < run->sim.n_workers; i++)
		jl_free(run->sim.workers[i].heap);
	jl_free(run->sim.seqs);
	jl_free(run->sim.held);
	jl_free(run->sim.workers);
	jl_free(run->events);
	jl_free(run->memos);
}

/* How far a machine may run alone: until an arrival, or the end of a request elsewhere with a follower. */
static double horizon_s(struct run *run, const struct worker *w)
{
	double until_s = run->n_events > 0 ? run->events[0].at_s : INFINITY;

	for (int i = 0; i < run->sim.n_workers; i++)
		if (&run->sim.workers[i] != w)
			until_s = fmin(until_s, run->sim.workers[i].quiet_s);
	return until_s;
}

static enum jl_status go(struct run *run, struct jl_err *err)
{
	const struct jl_load *load = run->sim.load;
	double n_passes = 0.0;

	for (int i = 0; i < (load->concurrency > 0 ? load->concurrency : 1); i++)
		begin_next(run, 0.0);
	while (run->n_ended + run->n_refused < load->n) {
		struct worker *next = NULL;

		for (int i = 0; i < run->sim.n_workers; i++) {
			struct worker *w = &run->sim.workers[i];

			if (jl_worker_has_work(w) && (!next || w->now_s < next->now_s))
				next = w;
		}
		if (run->n_events > 0 && (!next || run->events[0].at_s <= next->now_s)) {
			happen(run);
			continue;
		}
		jl_worker_step(&run->sim, next, horizon_s(run, next));
		if (jl_budget_spend(1 + (unsigned)run->sim.n_workers / 16))
			return jl_budget_fail(err);
		if (++n_passes > JL_SERVING_PASSES_MAX || !isfinite(next->now_s))
			return jl_fail(err, JL_E_LIMIT,
				       "the load takes more than %g passes through the model: take less of it",
				       JL_SERVING_PASSES_MAX);
	}
	return JL_OK;
}

static struct jl_spread spread_of(double *values, size_t n, bool mean)
{
	double sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	if (mean)
		return (struct jl_spread){ n ? sum / (double)n : NAN, NAN, NAN, NAN };
	jl_stats_sort(values, n);
	return (struct jl_spread){ .mean = n ? sum / (double)n : NAN,
				   .p50 = jl_stats_quantile(values, n, 0.5),
				   .p90 = jl_stats_quantile(values, n, 0.9),
				   .p99 = jl_stats_quantile(values, n, 0.99) };
}

/* Counted requests: without warm-up and refused ones. */
static enum jl_status count_requests(struct jl_sim_result *r, const struct run *run, struct jl_err *err)
{
	const struct sim *sim = &run->sim;
	double *room = jl_realloc(NULL, 4 * sim->load->n * sizeof(*room)), first_s = INFINITY, last_s = 0.0;
	size_t n = 0, n_tpot = 0, n_later = 0;

	JL_TRY(jl_got(room, err));
	double *ttft = room, *tpot = room + sim->load->n, *e2e = tpot + sim->load->n, *later = e2e + sim->load->n;
	/* a delayed first token may coincide with the second, but tokens never come faster than passes */
	const double least_s = sim->setup->means ? 0 : jl_itl_quantile(sim, 0);

	for (size_t i = sim->load->n_skip; i < sim->load->n; i++) {
		const struct seq *s = &sim->seqs[i];

		if (isnan(s->last_s))
			continue;
		ttft[n] = s->first_s - s->arrival_s;
		if (sim->load->arrivals[i].shared > 0)
			later[n_later++] = ttft[n];
		e2e[n++] = s->last_s - s->arrival_s;
		if (s->answer > 1)
			tpot[n_tpot++] = fmax((s->last_s - s->first_s) / (s->answer - 1), least_s);
		first_s = fmin(first_s, s->arrival_s);
		last_s = fmax(last_s, s->last_s);
		r->output_tps += s->answer;
		r->input_tps += s->prompt;
	}
	r->n_ended = n;
	r->ttft_s = spread_of(ttft, n, sim->setup->means);
	r->later_s = spread_of(later, n_later, sim->setup->means);
	r->tpot_s = spread_of(tpot, n_tpot, sim->setup->means);
	r->e2e_s = spread_of(e2e, n, sim->setup->means);
	r->span_s = n ? last_s - first_s : NAN;
	r->requests_per_s = (double)n / r->span_s;
	r->output_tps /= r->span_s;
	r->input_tps /= r->span_s;
	r->user_tps = 1.0 / r->tpot_s.mean;
	jl_free(room);
	return JL_OK;
}

static void count_workers(struct jl_sim_result *r, const struct run *run)
{
	const struct sim *sim = &run->sim;
	double busy_s[2] = { 0, 0 }, kv_s = 0, batch_s = 0, tick_s = 0, end_s = 0;

	for (int i = 0; i < sim->n_workers; i++) {
		const struct worker *w = &sim->workers[i];

		busy_s[w->prompts_only] += w->busy_s;
		r->n_passes += w->n_passes;
		r->blocks_left += w->n_blocks - w->free_blocks - w->tiers[JL_KV_DEVICE].used;
		for (int k = 0; k < JL_N_KV_TIER; k++)
			r->held_frac[k] = fmax(r->held_frac[k], w->tiers[k].room > 0 ? (double)w->tiers[k].most /
											       (double)w->tiers[k].room
										     : 0);
		end_s = fmax(end_s, w->now_s);
		if (w->prompts_only)
			continue;
		kv_s += w->kv_s / (double)(w->n_blocks > 0 ? w->n_blocks : 1);
		batch_s += w->batch_s;
		tick_s += w->tick_s;
		r->batch_max = fmax(r->batch_max, w->batch_max);
		r->kv_max_frac = fmax(r->kv_max_frac,
				      (double)w->used_max / (double)(w->n_blocks > 0 ? w->n_blocks : 1));
	}
	r->kv_mean_frac = busy_s[0] > 0 ? kv_s / busy_s[0] : 0;
	r->batch_mean = tick_s > 0 ? batch_s / tick_s : 0;
	r->busy_frac = end_s > 0 ? busy_s[0] / end_s / sim->setup->workers.n : 0;
	r->prompt_busy_frac = end_s > 0 && sim->setup->prompts.n > 0 ? busy_s[1] / end_s / sim->setup->prompts.n : 0;
	r->itl_s = (struct jl_spread){ jl_itl_mean(sim), jl_itl_quantile(sim, 0.5), jl_itl_quantile(sim, 0.9),
				       jl_itl_quantile(sim, 0.99) };
	r->n_preempted = sim->n_preempted;
	r->answer_tokens = sim->answer_tokens;
	r->prompt_tokens = sim->prompt_tokens;
	r->again_tokens = sim->again;
	r->missed_tokens = sim->missed;
	memcpy(r->found_tokens, sim->found, sizeof(sim->found));
}

enum jl_status jl_simulate(struct jl_sim_result *ret_result, const struct jl_sim_setup *setup,
			   const struct jl_load *load, struct jl_served_request *ret_requests,
			   struct jl_passes *ret_profile, struct jl_err *err)
{
	struct run run = { .n_events = 0 };
	struct jl_sim_result r = { .at_once = load->concurrency };
	enum jl_status status = check(setup, load, err);

	if (status)
		return status;
	status = make(&run, setup, load, err);
	run.sim.profile = ret_profile;
	if (ret_profile)
		ret_profile->n = 0;
	JL_THEN(status, go(&run, err));
	if (!status)
		status = count_requests(&r, &run, err);
	if (!status) {
		r.n_refused = run.n_refused;
		r.front_wait_s = run.front_wait_s / (double)load->n;
		count_workers(&r, &run);
		*ret_result = r;
		for (size_t i = 0; ret_requests && i < load->n; i++) {
			const struct seq *s = &run.sim.seqs[i];

			ret_requests[i] = (struct jl_served_request){ s->arrival_s, s->first_s, s->last_s, s->prompt,
								      s->answer };
		}
	}
	release(&run);
	return status;
}
