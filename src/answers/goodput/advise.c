/* Changes that would save most, each computed anew, and the same job at other sizes. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "goodput/goodput.h"

#define LEAST_FRAC 0.0005 /* of the elapsed time: less is left out */

#define LEMON_FRAC                                                                                                     \
	0.5 /* of the stops that take a node out: those of the 5 % of nodes that fail most (catalog: lablup-b200) */

/* A change: one number of the setting times something, or more than that. One that changes nothing saves nothing and is left out. */
struct idea {
	const char *key;
	const char *en;
	size_t field; /* of a double; 0: `change` */
	double times;
	void (*change)(struct jl_goodput_setting *s, double *rate_hz);
};

/* The fewest with which waiting for a node takes less than what is left out. */
static int enough_spares(const struct jl_goodput_setting *setting, double rate_hz)
{
	struct jl_goodput_setting s = *setting;
	struct jl_goodput_point p;
	int few = -1, many = 1;

	for (s.n_spares = many;; s.n_spares = many *= 2) {
		jl_goodput_point(&p, &s, rate_hz);
		if (p.frac[JL_CAUSE_WAIT] < LEAST_FRAC)
			break;
		if (many > s.n_nodes) /* it waits for something else */
			return setting->n_spares;
		few = many;
	}
	while (many - few > 1) {
		s.n_spares = few + (many - few) / 2;
		jl_goodput_point(&p, &s, rate_hz);
		*(p.frac[JL_CAUSE_WAIT] < LEAST_FRAC ? &many : &few) = s.n_spares;
	}
	return many;
}

static void more_spares(struct jl_goodput_setting *s, double *rate_hz)
{
	const int enough = enough_spares(s, *rate_hz);

	s->n_spares = enough > s->n_spares ? enough : s->n_spares;
}

static void asynchronous(struct jl_goodput_setting *s, double *rate_hz)
{
	(void)rate_hz;
	s->checkpoint = JL_CHECKPOINT_ASYNC;
}

static void copies(struct jl_goodput_setting *s, double *rate_hz)
{
	(void)rate_hz;
	s->checkpoint = JL_CHECKPOINT_TIERED;
}

static void hot_swap(struct jl_goodput_setting *s, double *rate_hz)
{
	(void)rate_hz;
	if (s->recovery == JL_RECOVERY_RESTART)
		s->recovery = JL_RECOVERY_SWAP;
}

static void elastic(struct jl_goodput_setting *s, double *rate_hz)
{
	(void)rate_hz;
	s->recovery = JL_RECOVERY_ELASTIC;
}

static void no_lemons(struct jl_goodput_setting *s, double *rate_hz)
{
	*rate_hz *= 1 - LEMON_FRAC * s->node_frac;
}

/* A failed link slows exchanges down until it is repaired and stops nothing. */
static void fewer_rails(struct jl_goodput_setting *s, double *rate_hz)
{
	const double down = 1 - exp(-*rate_hz * s->link_frac * s->repair_s);

	*rate_hz *= 1 - s->link_frac;
	s->straggle_frac += s->exchange_frac * down / fmax(1, s->per_node - 1);
}

#define TIMES(KEY, FIELD, BY, EN)                                                                                      \
	{                                                                                                              \
		.key = KEY, .en = EN, .field = offsetof(struct jl_goodput_setting, FIELD), .times = BY                 \
	}

static const struct idea ideas[] = {
	{ .key = "spare", .en = JL_N("enough spare nodes"), .change = more_spares },
	TIMES("store", store_Bps, 2, JL_N("storage twice as fast")),
	TIMES("restart", restart_s, 0.5, JL_N("restarts in half the time")),
	TIMES("detect", detect_s, 0.5, JL_N("failures found in half the time")),
	{ .key = "async", .en = JL_N("asynchronous checkpoints"), .change = asynchronous },
	{ .key = "memory", .en = JL_N("copies in the memory of other hosts"), .change = copies },
	TIMES("interval", interval_s, NAN, JL_N("the best checkpoint interval")),
	{ .key = "lemons", .en = JL_N("nodes that fail most taken out"), .change = no_lemons },
	{ .key = "swap", .en = JL_N("hot swap: standby hosts, processes stay"), .change = hot_swap },
	{ .key = "elastic", .en = JL_N("elastic: go on without the failed replica"), .change = elastic },
	{ .key = "rails", .en = JL_N("go on over fewer rails when a link fails"), .change = fewer_rails },
	TIMES("stragglers", straggle_frac, 0.5, JL_N("half the spread of the nodes' step times")),
};

static int by_saving(const void *a, const void *b)
{
	const struct jl_goodput_help *x = a, *y = b;

	return (x->saved_s < y->saved_s) - (x->saved_s > y->saved_s);
}

static double goodput_of(const struct jl_goodput_point *p)
{
	return p->frac[JL_CAUSE_USEFUL];
}

/* Elapsed time is that of the plain run over the useful share; of 30 days the work that they hold takes less. */
static void weigh_idea(struct jl_goodput *g, const struct idea *idea)
{
	const double usdps = g->job->prediction.rent.usdps;
	struct jl_goodput_setting s = g->setting;
	double rate_hz = g->point.cycle.rate_hz;
	struct jl_goodput_point after;
	struct jl_goodput_help *help = &g->helps[g->n_helps];

	if (idea->field) {
		double *member = (void *)((char *)&s + idea->field);

		*member *= idea->times;
	} else {
		idea->change(&s, &rate_hz);
	}
	jl_goodput_point(&after, &s, rate_hz);
	const double saved_s = g->elapsed_s.value * (1 - goodput_of(&g->point) / goodput_of(&after));

	if (!(saved_s > LEAST_FRAC * g->elapsed_s.value)) {
		if (saved_s > 0)
			g->idle[g->n_idle++] = idea->en;
		return;
	}
	*help = (struct jl_goodput_help){ .key = idea->key,
					  .en = idea->en,
					  .effective_frac = after.effective_frac,
					  .saved_s = saved_s,
					  .saved_gpu_s = saved_s * g->setting.n_gpus,
					  .saved_usd = (saved_s * g->setting.n_gpus -
							g->elapsed_s.value * (s.n_spares - g->setting.n_spares) *
								g->setting.per_node) *
						       usdps };
	g->n_helps++;
}

void jl_goodput_advise(struct jl_goodput *g)
{
	if (!g->progresses)
		return;
	_Static_assert(JL_LEN(ideas) <= JL_GOODPUT_HELPS_MAX, "room for all");
	g->spares_enough = enough_spares(&g->setting, g->point.cycle.rate_hz);
	for (size_t i = 0; i < JL_LEN(ideas); i++)
		weigh_idea(g, &ideas[i]);
	qsort(g->helps, g->n_helps, sizeof(g->helps[0]), by_saving);
}
