/* Changes that would save the most time, each recomputed, and the same job at other sizes. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "goodput/goodput.h"

#define LEAST_FRAC 0.0005 /* of the elapsed time; smaller savings are omitted */

#define GROUP_FRAC 0.125 /* of the job */

#define LEMON_FRAC                                                                                                     \
	0.5 /* of the failures that take a node out: caused by the 5 % of nodes that fail most (catalog: lablup-b200) */

/* A change multiplies one number of the setting, sets a choice where it is one of `from` (bits), or, with neither, adds enough spares. Changes
 * without effect are omitted. */
struct idea {
	const char *key;
	const char *en;
	size_t field, choice; /* offset of a double, of an enum; 0: none */
	double times;
	unsigned from, to;
	void (*change)(struct jl_goodput_setting *s, double *rate_hz);
	bool always; /* listed even if it saves nothing */
};

static double waits_frac(const struct jl_goodput_setting *setting, double rate_hz, int n_spares)
{
	struct jl_goodput_setting s = *setting;
	struct jl_goodput_point p;

	s.n_spares = n_spares;
	jl_goodput_point(&p, &s, rate_hz);
	return p.frac[JL_CAUSE_WAIT];
}

/* Fewest spares with which waiting for a node takes less than LEAST_FRAC, apart from what spares cannot avoid. */
static int enough_spares(const struct jl_goodput_setting *s, double rate_hz)
{
	const int most = (int)fmin(2 * s->n_nodes + 64, 1e6);
	const double enough = waits_frac(s, rate_hz, most) + LEAST_FRAC;
	int few = -1, many = 1;

	if (!(s->repair_s > 0)) /* waiting is in the restarts */
		return s->n_spares;
	for (; waits_frac(s, rate_hz, many) >= enough && many < most; many *= 2)
		few = many;
	if (few < 0 && waits_frac(s, rate_hz, 0) < enough)
		return 0;
	for (few = few < 0 ? 0 : few; many - few > 1;) {
		const int half = few + (many - few) / 2;

		*(waits_frac(s, rate_hz, half) < enough ? &many : &few) = half;
	}
	return many;
}

static void one_spare(struct jl_goodput_setting *s, double *rate_hz)
{
	(void)rate_hz;
	s->n_spares++;
}

static void faster_store(struct jl_goodput_setting *s, double *rate_hz)
{
	(void)rate_hz;
	s->store_Bps *= 2;
	s->save_s /= 2;
	s->load_Bps *= 2;
}

static void no_lemons(struct jl_goodput_setting *s, double *rate_hz)
{
	*rate_hz *= 1 - LEMON_FRAC * s->node_frac;
}

/* A failed link slows communication until it is repaired; it stops nothing. */
static void fewer_rails(struct jl_goodput_setting *s, double *rate_hz)
{
	const double down = 1 - exp(-*rate_hz * s->link_frac * s->repair_s);

	*rate_hz *= 1 - s->link_frac;
	s->straggle_frac += s->exchange_frac * down / fmax(1, s->per_node - 1);
}

/* With states split over the whole job, the other replicas return to the checkpoint, as with a swap: no gain. */
static void others_go_on(struct jl_goodput_setting *s, double *rate_hz)
{
	(void)rate_hz;
	if (!s->states_cut)
		s->recovery = JL_RECOVERY_ELASTIC;
}

/* HSDP, where memory suffices; the step time is unchanged. */
static void groups_go_on(struct jl_goodput_setting *s, double *rate_hz)
{
	(void)rate_hz;
	if (!s->states_cut || !s->groups_fit || s->replica_frac > GROUP_FRAC)
		return;
	s->recovery = JL_RECOVERY_ELASTIC;
	s->states_cut = false;
	s->replica_frac = GROUP_FRAC;
}

#define TIMES(KEY, FIELD, BY, EN)                                                                                      \
	{                                                                                                              \
		.key = KEY, .en = EN, .field = offsetof(struct jl_goodput_setting, FIELD), .times = BY                 \
	}

#define CHOICE(KEY, FIELD, FROM, TO, EN)                                                                               \
	{                                                                                                              \
		.key = KEY, .en = EN, .choice = offsetof(struct jl_goodput_setting, FIELD), .from = FROM, .to = TO     \
	}
#define ANY (~0U)

static const struct idea ideas[] = {
	{ .key = "spare", .en = JL_N("one more spare node"), .change = one_spare, .always = true },
	{ .key = "spares", .en = JL_N("enough spare nodes") },
	{ .key = "store", .en = JL_N("storage twice as fast"), .change = faster_store },
	TIMES("restart", restart_s, 0.5, JL_N("restarts in half the time")),
	TIMES("detect", detect_s, 0.5, JL_N("failures found in half the time")),
	CHOICE("async", checkpoint, ANY, JL_CHECKPOINT_ASYNC, JL_N("asynchronous checkpoints")),
	CHOICE("memory", checkpoint, ~(1U << JL_CHECKPOINT_MEMORY), JL_CHECKPOINT_TIERED,
	       JL_N("copies in the memory of other hosts")),
	CHOICE("tiered", checkpoint, 1U << JL_CHECKPOINT_MEMORY, JL_CHECKPOINT_TIERED,
	       JL_N("to storage more often than once a day")),
	TIMES("interval", interval_s, NAN, JL_N("the best checkpoint interval")),
	{ .key = "lemons", .en = JL_N("taking out the nodes that fail most"), .change = no_lemons },
	CHOICE("swap", recovery, 1U << JL_RECOVERY_RESTART, JL_RECOVERY_SWAP,
	       JL_N("hot swap (standby hosts, processes stay)")),
	{ .key = "elastic", .en = JL_N("elastic recovery (the other replicas go on)"), .change = others_go_on },
	{ .key = "groups", .en = JL_N("elastic recovery, all states in each of 8 groups"), .change = groups_go_on },
	{ .key = "rails", .en = JL_N("go on over fewer rails when a link fails"), .change = fewer_rails },
	TIMES("stragglers", straggle_frac, 0.5, JL_N("half the spread of the nodes' step times")),
};

static int by_saving(const void *a, const void *b)
{
	const struct jl_goodput_help *x = a, *y = b;

	if (isnan(x->saved_s)) /* only the effective share is known */
		return (x->effective_frac < y->effective_frac) - (x->effective_frac > y->effective_frac);
	return (x->saved_s < y->saved_s) - (x->saved_s > y->saved_s);
}

static double goodput_of(const struct jl_goodput_point *p)
{
	return p->frac[JL_CAUSE_USEFUL];
}

/* Elapsed time is the plain run over the useful share; a window of 30 days holds proportionally less work. For a job without progress only the
 * effective share is known. */
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
	} else if (idea->choice) {
		unsigned *member = (void *)((char *)&s + idea->choice);

		*member = idea->from >> *member & 1 ? idea->to : *member;
	} else if (idea->change) {
		idea->change(&s, &rate_hz);
	} else {
		s.n_spares = g->spares_enough > s.n_spares ? g->spares_enough : s.n_spares;
	}
	jl_goodput_point(&after, &s, rate_hz);
	const double saved_s = g->elapsed_s.value * (1 - goodput_of(&g->point) / goodput_of(&after));

	if (g->progresses ? !(saved_s > LEAST_FRAC * g->elapsed_s.value)
			  : !(goodput_of(&after) > JL_GOODPUT_LEAST_FRAC)) {
		if (saved_s > 0 || (idea->always && g->progresses))
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

/* Uses the upper end of the failure rate, or the median where no useful time is left at the upper end. */
static double upper_hz(const struct jl_goodput *g)
{
	const double hz = g->failures_per_day.hi / 86400;
	struct jl_goodput_point p;

	jl_goodput_point(&p, &g->setting, hz);
	return p.frac[JL_CAUSE_USEFUL] > JL_GOODPUT_LEAST_FRAC ? hz : g->point.cycle.rate_hz;
}

void jl_goodput_advise(struct jl_goodput *g)
{
	_Static_assert(JL_LEN(ideas) <= JL_GOODPUT_HELPS_MAX, "room for all");
	if (g->progresses)
		g->spares_enough = enough_spares(&g->setting, upper_hz(g));
	for (size_t i = 0; i < JL_LEN(ideas); i++)
		weigh_idea(g, &ideas[i]);
	qsort(g->helps, g->n_helps, sizeof(g->helps[0]), by_saving);
}
