/* Branch-and-bound search over all plans of one system. */
#include "plan/search.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/mem.h"
#include "plan/space.h"
#include "predict/kind.h"

#define THREADS_MAX 256
#define ITEMS_MAX   2000000000 /* keeps position × stride within 64 bits */
#define FIRST_ROUND 32         /* items before the first bound */
#define STEPS_EACH  100        /* budget steps per item */
#define SLACK       1e-9       /* relative tolerance, so that rounding never prunes the best plan */

struct search {
	const struct jl_language *lang; /* the caller's language; set in every thread */
	const struct jl_plan_ask *ask;
	struct jl_plan_space space;
	double limit_B;
	double bound; /* bound of this round: plans above it cannot be among the best */
	long long stride;
	long long from, to; /* positions in this round */
	_Atomic long long next, done;
};

/* Memory of the states. It depends on how gradients are stored, thus on framework, ZeRO stage and offloading. */
struct variant {
	double weight_B, grad_B, optimizer_B, moved_B;
	int update_copies;
	struct jl_train_blocks blocks[2]; /* without and with overlapped tensor parallelism */
	struct jl_train_blocks kept;      /* with the longest samples, if usual ones are shorter */
};
#define VARIANTS_MAX 8 /* more than the number of possible state layouts */

/* Variant of a tail at one depth, or one of these values. */
#define NOT_A_WAY    255
#define NO_FRAMEWORK 254

struct worker {
	struct search *s;
	int is_main;
	struct jl_case c;
	struct jl_train train;
	int n_async, async[2];
	int n_variant;
	struct variant variant[VARIANTS_MAX];
	unsigned char tail[JL_PLAN_TAILS_MAX];
	struct jl_plan_share share;
};

long long jl_plan_n_configurations(const struct jl_plan_tally *t)
{
	return t->n_evaluated + t->n_memory + t->n_host + t->n_framework + t->n_slower + t->n_shape;
}

double jl_plan_value(const struct jl_plan_ask *ask, const struct jl_case *c, const struct jl_step_cost *step)
{
	switch (ask->objective) {
	case JL_PLAN_ENERGY: return jl_case_power_W(c, step) * c->pue * step->step_s;
	case JL_PLAN_COST:
	case JL_PLAN_TOKENS_PER_USD: return step->step_s * ask->gpu_usdps * c->n_gpus;
	default: return step->step_s;
	}
}

static int better(const struct jl_plan_found *a, const struct jl_plan_found *b)
{
	if (a->value != b->value)
		return a->value < b->value;
	return jl_plan_way_compare(&a->way, &b->way) < 0;
}

/* Sorted, one entry per model-parallel split: a better plan replaces one with the same split. */
static void top_add(struct jl_plan_top *top, const struct jl_plan_found *found)
{
	int at = top->n, same = -1;

	if (top->n == top->room && !better(found, &top->best[top->n - 1]))
		return;
	for (int i = 0; i < top->n && same < 0; i++)
		if (jl_plan_way_same_cut(&top->best[i].way, &found->way))
			same = i;
	if (same >= 0 && !better(found, &top->best[same]))
		return;
	if (same >= 0)
		at = same;
	else if (top->n < top->room)
		top->n++;
	else
		at = top->n - 1;
	for (; at > 0 && better(found, &top->best[at - 1]); at--)
		top->best[at] = top->best[at - 1];
	top->best[at] = *found;
}

static void share_clear(struct jl_plan_share *share, int n_best)
{
	memset(share, 0, sizeof(*share));
	share->top.room = n_best;
	share->miss.value = INFINITY;
}

static void share_merge(struct jl_plan_share *into, const struct jl_plan_share *from)
{
	for (int i = 0; i < from->top.n; i++)
		top_add(&into->top, &from->top.best[i]);
	if (from->miss.value < INFINITY && better(&from->miss, &into->miss))
		into->miss = from->miss;
	into->tally.n_evaluated += from->tally.n_evaluated;
	into->tally.n_memory += from->tally.n_memory;
	into->tally.n_host += from->tally.n_host;
	into->tally.n_framework += from->tally.n_framework;
	into->tally.n_slower += from->tally.n_slower;
	into->tally.n_shape += from->tally.n_shape;
	into->tally.n_better += from->tally.n_better;
	into->stopped |= from->stopped;
}

/* Starts an item; costs are computed on first use. */
static void begin_item(struct worker *w, const struct jl_plan_way *item)
{
	const struct jl_plan_space *space = &w->s->space;

	w->n_variant = w->n_async = 0;
	for (int i = 0; i < (jl_plan_way_overlaps(space->site, item) ? 2 : 1); i++)
		if (!i || jl_plan_allows(&space->narrow, JL_AXIS_OVERLAP, 1))
			w->async[w->n_async++] = i;
	jl_plan_way_case(&w->c, space->site, item);
}

/* The variant with the case's states; computed if it is new. */
static int variant_of(struct worker *w)
{
	const struct jl_plan *p = &w->c.plan;
	struct variant *v;
	int k = 0;

	while (k < w->n_variant &&
	       (w->variant[k].weight_B != p->weight_B || w->variant[k].grad_B != p->grad_B ||
		w->variant[k].optimizer_B != p->optimizer_B || w->variant[k].moved_B != p->optimizer_moved_B ||
		w->variant[k].update_copies != p->update_copies))
		k++;
	if (k < w->n_variant)
		return k;
	k = k < VARIANTS_MAX ? k : VARIANTS_MAX - 1;
	v = &w->variant[k];
	*v = (struct variant){ .weight_B = p->weight_B,
			       .grad_B = p->grad_B,
			       .optimizer_B = p->optimizer_B,
			       .moved_B = p->optimizer_moved_B,
			       .update_copies = p->update_copies };
	w->n_variant = k + 1;
	for (int i = 0; i < w->n_async; i++) {
		w->c.plan.tp_async = w->async[i];
		w->train = jl_case_train(&w->c);
		if (w->c.run_seq > 0) { /* as in a prediction: memory by the longest samples, time by usual ones */
			jl_train_kept(&w->train, &v->kept);
			w->train.shard.seq = w->c.run_seq;
		}
		jl_train_blocks(&w->train, &v->blocks[i]);
	}
	return k;
}

/* Lower bound of the time of all tails with this variant: without gradients, optimizer and host transfers. */
static double least_value(struct worker *w, const struct variant *v, int i)
{
	struct jl_train *t = &w->train;
	struct jl_plan *plan = &w->c.plan;
	struct jl_step_cost step;

	plan->zero = 0;
	plan->shard = 0;
	plan->offload = 0;
	plan->keep_gathered = 0;
	plan->tp_async = w->async[i];
	plan->weight_B = v->weight_B;
	plan->grad_B = v->grad_B;
	plan->optimizer_B = v->optimizer_B;
	plan->optimizer_moved_B = v->moved_B;
	plan->update_copies = v->update_copies;
	t->plan = *plan;
	t->plan.trained_frac = 0;
	t->plan.no_optimizer = 1;
	step = jl_train_step(t, &v->blocks[i]);
	plan->zero = 1; /* for energy: the optimizer moves least with sharded states */
	return jl_plan_value(w->s->ask, &w->c, &step) * (1 - SLACK);
}

static void evaluate(struct worker *w, const struct jl_plan_way *way, const struct variant *v, int i, double memory_B)
{
	const struct jl_plan_ask *ask = w->s->ask;
	struct jl_plan_found found = { .way = *way, .memory_B = memory_B };
	struct jl_step_cost step;

	w->train.plan.tp_async = w->c.plan.tp_async = w->async[i];
	step = jl_train_step(&w->train, &v->blocks[i]);
	found.way.tp_async = (unsigned char)w->async[i];
	found.step_s = step.step_s;
	found.value = jl_plan_value(ask, &w->c, &step);
	w->share.tally.n_evaluated++;
	if (found.value < ask->mark_value)
		w->share.tally.n_better++;
	if (found.value <= w->s->bound)
		top_add(&w->share.top, &found);
}

/* True if the tail makes a difference: something to shard or gather exists. */
static int tail_applies(const struct jl_plan_tail *tail, const struct jl_plan_depth *depth, double n_ranks)
{
	return n_ranks > 1 ? !tail->in_host || depth->host_ranks > 0 : !tail->zero;
}

/* As jl_plan_way_runs, for the options of a tail. */
static int tail_runs(const struct jl_plan_tail *tail, const struct jl_plan_way *way, double n_ranks, int moves)
{
	if (tail->offload & JL_OFFLOAD_ACTIVATIONS && !moves)
		return 0;
	if ((tail->zero == 2 && way->pp > 1) || !jl_plan_way_moves(way, n_ranks, tail->zero, tail->offload))
		return 0;
	return !(tail->offload & JL_OFFLOAD_PARAMS) || tail->zero == 3 ||
	       (n_ranks <= 1 && way->tp == 1 && way->pp == 1);
}

static void set_tail(struct worker *w, struct jl_plan_way *way, const struct jl_plan_depth *depth,
		     const struct jl_plan_tail *tail)
{
	struct jl_plan *plan = &w->c.plan;

	plan->zero = way->zero = tail->zero;
	plan->keep_gathered = way->keep = tail->keep;
	way->in_host = tail->in_host;
	plan->shard = tail->in_host ? depth->host_ranks : 0;
	plan->offload = way->offload = tail->offload;
	jl_case_set_states(&w->c);
}

/* Lists the tails that are possible at this depth and their variants. Returns the number that no framework runs. */
static long long list_tails(struct worker *w, struct jl_plan_way *way, const struct jl_plan_depth *depth)
{
	const struct jl_plan_space *space = &w->s->space;
	const int overlap = jl_plan_allows(&space->narrow, JL_AXIS_OVERLAP, 1);
	const int moves = jl_plan_way_moves_activations(way);
	const double n_ranks = depth->dp * way->cp;
	long long n_none = 0;

	for (int k = 0; k < space->n_tail; k++) {
		const struct jl_plan_tail *tail = &space->tail[k];

		if (!tail_applies(tail, depth, n_ranks) || (tail->keep && !overlap)) {
			w->tail[k] = NOT_A_WAY;
		} else if (!tail_runs(tail, way, n_ranks, moves)) {
			w->tail[k] = NO_FRAMEWORK;
			n_none++;
		} else {
			set_tail(w, way, depth, tail);
			w->tail[k] = (unsigned char)variant_of(w);
		}
	}
	return n_none;
}

/* Blocks that determine the memory need. */
static const struct jl_train_blocks *kept_of(const struct worker *w, const struct variant *v)
{
	return w->c.run_seq > 0 ? &v->kept : &v->blocks[0];
}

/* True if the offloaded states fit into host memory; unknown host memory fits everything. */
static int host_holds(const struct worker *w, const struct variant *v)
{
	return isnan(w->c.ram_B) || jl_case_host_B(&w->c, kept_of(w, v)) <= JL_HOST_RAM_FRAC * w->c.ram_B;
}

/* One tail: checks memory first, computes time only if it fits. */
static void run_tail(struct worker *w, const struct jl_plan_way *way, const struct variant *v, unsigned live,
		     int n_live)
{
	double total_B;

	if (live >> 1 && jl_plan_at_odds(&w->c, (enum jl_framework)way->framework, way->zero)) {
		live &= 1; /* bit 1: overlapped tensor parallelism */
		n_live--;
		w->share.tally.n_framework++;
	}
	if (!n_live)
		return;

	w->train.plan = w->c.plan;
	w->train.plan.offload = jl_case_offload(&w->c);
	total_B = jl_train_memory(&w->train, kept_of(w, v)).total_B;
	if (total_B > w->s->limit_B) {
		const struct jl_plan_found miss = { .way = *way, .value = total_B, .memory_B = total_B };

		w->share.tally.n_memory += n_live;
		if (total_B <= w->share.miss.value && better(&miss, &w->share.miss))
			w->share.miss = miss;
		return;
	}
	if (way->offload && !host_holds(w, v)) {
		w->share.tally.n_host += n_live;
		return;
	}
	for (int i = 0; i < w->n_async; i++)
		if (live >> i & 1)
			evaluate(w, way, v, i, total_B);
}

/* Finds the variants, without and with overlap, that may still be among the best. */
static void find_live(struct worker *w, unsigned live[VARIANTS_MAX])
{
	const double bound = w->s->bound;

	for (int k = 0; k < w->n_variant; k++) {
		live[k] = 0;
		for (int i = 0; i < w->n_async; i++)
			if (bound == INFINITY || least_value(w, &w->variant[k], i) <= bound)
				live[k] |= 1u << i;
	}
}

static void run_depth(struct worker *w, const struct jl_plan_way *item, const struct jl_plan_depth *depth)
{
	const struct jl_plan_space *space = &w->s->space;
	struct jl_plan *plan = &w->c.plan;
	struct jl_plan_way way = *item;
	long long n_none;

	way.pp = depth->pp;
	plan->pp = depth->pp;
	plan->dp = depth->dp;
	plan->n_micro = depth->n_micro;
	n_none = list_tails(w, &way, depth);
	/* these times depend on the number of micro-batches */
	const struct jl_train train = jl_case_train(&w->c);

	w->train.generate_s = train.generate_s;
	w->train.input_s = train.input_s;
	for (int c = 0; c < depth->n_vpp; c++) {
		unsigned live[VARIANTS_MAX];

		w->share.tally.n_framework += n_none * w->n_async;
		plan->n_chunks = way.vpp = depth->vpp[c];
		find_live(w, live);
		for (int k = 0; k < space->n_tail; k++) {
			int n_live;

			if (w->tail[k] >= NO_FRAMEWORK)
				continue;
			n_live = __builtin_popcount(live[w->tail[k]]);
			w->share.tally.n_slower += w->n_async - n_live;
			if (!n_live)
				continue;
			set_tail(w, &way, depth, &space->tail[k]);
			run_tail(w, &way, &w->variant[w->tail[k]], live[w->tail[k]], n_live);
		}
	}
}

static void run_item(struct worker *w, long long position)
{
	const struct jl_plan_space *space = &w->s->space;
	const long long index = position * w->s->stride % space->n_item;
	struct jl_plan_way way;
	struct jl_plan_depth depth;
	int priced = 0;

	if (!jl_plan_space_item(space, index, &way))
		return;
	for (int i = 0; i < space->pp.n; i++) {
		if (!jl_plan_space_depth(space, &way, i, &depth, &w->share.tally.n_shape))
			continue;
		if (!priced)
			begin_item(w, &way);
		priced = 1;
		run_depth(w, &way, &depth);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct search *s = w->s;
	const struct jl_plan_team *team = s->ask->team;
	const long long step = team ? team->n : 1, first = s->from + (team ? team->rank : 0);

	jl_lang_set(s->lang);
	for (;;) {
		const long long position = first + atomic_fetch_add(&s->next, 1) * step;

		if (position >= s->to)
			return NULL;
		if (jl_budget_charge(s->ask->budget, STEPS_EACH)) { /* between items, so that each is complete */
			w->share.stopped = 1;
			return NULL;
		}
		run_item(w, position);
		atomic_fetch_add(&s->done, step);
		if (w->is_main && s->ask->progress)
			s->ask->progress(s->ask->progress_ctx,
					 &(struct jl_plan_progress){ .done = (double)s->done,
								     .total = (double)s->space.n_item,
								     .top = &w->share.top });
	}
}

static void run_round(struct search *s, struct worker *workers, int n_threads)
{
	pthread_t threads[THREADS_MAX];
	int started[THREADS_MAX] = { 0 };

	s->next = 0;
	s->lang = jl_lang();
	for (int i = 1; i < n_threads; i++) /* if a thread fails to start, the others do its work */
		started[i] = pthread_create(&threads[i], NULL, work, &workers[i]) == 0;
	work(&workers[0]);
	for (int i = 1; i < n_threads; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
}

/* Merges the shares of this process's workers, and of the team, into `sum`. */
static enum jl_status collect(struct search *s, struct worker *workers, int n_threads, struct jl_plan_share *sum,
			      struct jl_plan_share *all, struct jl_err *err)
{
	const struct jl_plan_team *team = s->ask->team;
	struct jl_plan_share round;
	enum jl_status status;

	share_clear(&round, sum->top.room);
	for (int i = 0; i < n_threads; i++) {
		share_merge(&round, &workers[i].share);
		share_clear(&workers[i].share, sum->top.room);
	}
	if (!team) {
		share_merge(sum, &round);
		return JL_OK;
	}
	status = team->gather(team->ctx, &round, sizeof(round), all, err);
	for (int i = 0; !status && i < team->n; i++)
		share_merge(sum, &all[i]);
	return status;
}

/* An odd stride that visits all items, distant ones first. */
static long long stride_of(long long n)
{
	long long stride = (long long)((double)n * 0.6180339887) | 1;

	for (;; stride += 2) {
		long long a = stride, b = n;

		while (b) {
			const long long rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			return stride;
	}
}

static int thread_count(const struct jl_plan_ask *ask)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	const long n = ask->n_threads > 0 ? ask->n_threads : cores > 0 ? cores : 1;

	return n < THREADS_MAX ? (int)n : THREADS_MAX;
}

static enum jl_status run_rounds(struct search *s, struct worker *workers, int n_threads, struct jl_plan_share *sum,
				 struct jl_plan_share *all, struct jl_err *err)
{
	const long long n_item = s->space.n_item;
	enum jl_status status = JL_OK;

	for (long long size = FIRST_ROUND; !status && s->from < n_item && !sum->stopped; size *= 2) {
		s->to = size < n_item - s->from ? s->from + size : n_item;
		s->bound = s->ask->no_prune || sum->top.n < sum->top.room ? INFINITY
									  : sum->top.best[sum->top.n - 1].value;
		run_round(s, workers, n_threads);
		status = collect(s, workers, n_threads, sum, all, err);
		s->from = s->to;
	}
	return status;
}

enum jl_status jl_plan_search(struct jl_plan_result *ret_result, const struct jl_plan_ask *ask, struct jl_err *err)
{
	const double begin_s = jl_clock_s(), mem_B = ask->site->base.machine.dev.mem_B;
	const int n_threads = thread_count(ask);
	const int n_best = ask->n_best < 1 ? 1 : ask->n_best < JL_PLAN_BEST_MAX ? ask->n_best : JL_PLAN_BEST_MAX;
	struct search *s = jl_realloc(NULL, sizeof(*s));
	struct worker *workers = jl_realloc(NULL, (size_t)n_threads * sizeof(*workers));
	struct jl_plan_share *all = ask->team ? jl_realloc(NULL, (size_t)ask->team->n * sizeof(*all)) : NULL;
	struct jl_plan_share sum;
	enum jl_status status = JL_OK;

	if (!ask->site->base.subject.kind->is_cut) {
		status = jl_fail(
			err, JL_E_USAGE,
			"%s is not a transformer: there is nothing to cut; --batch-limit and 'jeoul predict' take it",
			ask->site->base.subject.id);
		goto out;
	}
	if (!s || !workers || (ask->team && !all)) {
		status = jl_fail_nomem(err);
		goto out;
	}
	memset(s, 0, sizeof(*s));
	s->ask = ask;
	s->limit_B = isnan(mem_B) ? INFINITY : mem_B * ask->memory_frac;
	jl_plan_space_make(&s->space, ask->site, &ask->narrow);
	if (s->space.n_item > ITEMS_MAX) {
		status = jl_fail(err, JL_E_LIMIT, "the search has %lld parts, more than %lld; narrow it with --fix",
				 s->space.n_item, (long long)ITEMS_MAX);
		goto out;
	}
	s->stride = s->space.n_item > 1 ? stride_of(s->space.n_item) : 1;
	for (int i = 0; i < n_threads; i++) {
		workers[i].s = s;
		workers[i].is_main = i == 0;
		share_clear(&workers[i].share, n_best);
	}
	share_clear(&sum, n_best);
	sum.tally.n_shape = s->space.n_shape;
	status = run_rounds(s, workers, n_threads, &sum, all, err);
	if (status)
		goto out;
	*ret_result = (struct jl_plan_result){ .top = sum.top,
					       .miss = sum.miss,
					       .tally = sum.tally,
					       .stopped = sum.stopped,
					       .search_s = jl_clock_s() - begin_s,
					       .n_threads = n_threads };
out:
	jl_free(all);
	jl_free(workers);
	jl_free(s);
	return status;
}
