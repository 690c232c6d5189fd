/* What would save most: changes to a setting, each weighed again, and the same job at other sizes. */
#include <math.h>
#include <stdlib.h>

#include "goodput/goodput.h"

#define LEAST_FRAC 0.0005 /* of the elapsed time: less is left out */

/* Each changes the setting or the rate and returns whether there is anything to change. */
struct idea {
	const char *key;
	bool (*change)(struct jl_goodput_setting *s, double *rate_hz, const struct jl_goodput *g);
	const char *en;
};

static bool more_spares(struct jl_goodput_setting *s, double *rate_hz, const struct jl_goodput *g)
{
	(void)rate_hz;
	s->n_spares++;
	return g->point.wait_s > 0;
}

static bool faster_store(struct jl_goodput_setting *s, double *rate_hz, const struct jl_goodput *g)
{
	(void)rate_hz;
	(void)g;
	s->store_Bps *= 2;
	return true;
}

static bool shorter_restart(struct jl_goodput_setting *s, double *rate_hz, const struct jl_goodput *g)
{
	(void)rate_hz;
	(void)g;
	s->restart_s /= 2;
	return true;
}

static bool faster_detection(struct jl_goodput_setting *s, double *rate_hz, const struct jl_goodput *g)
{
	(void)rate_hz;
	(void)g;
	s->detect_s /= 2;
	return true;
}

static bool asynchronous(struct jl_goodput_setting *s, double *rate_hz, const struct jl_goodput *g)
{
	(void)rate_hz;
	s->checkpoint = JL_CHECKPOINT_ASYNC;
	return g->setting.checkpoint == JL_CHECKPOINT_BLOCKING;
}

static bool copies(struct jl_goodput_setting *s, double *rate_hz, const struct jl_goodput *g)
{
	(void)rate_hz;
	s->checkpoint = JL_CHECKPOINT_TIERED;
	return g->setting.checkpoint != JL_CHECKPOINT_TIERED;
}

static bool best_interval(struct jl_goodput_setting *s, double *rate_hz, const struct jl_goodput *g)
{
	(void)rate_hz;
	s->interval_s = NAN;
	return g->setting.interval_s > 0;
}

static bool fewer_failures(struct jl_goodput_setting *s, double *rate_hz, const struct jl_goodput *g)
{
	(void)s;
	(void)g;
	*rate_hz /= 2;
	return true;
}

static bool no_stragglers(struct jl_goodput_setting *s, double *rate_hz, const struct jl_goodput *g)
{
	(void)rate_hz;
	s->straggle_frac /= 2;
	return g->setting.straggle_frac > 0;
}

static const struct idea ideas[] = {
	{ "spare", more_spares, JL_N("one more spare node") },
	{ "store", faster_store, JL_N("storage twice as fast") },
	{ "restart", shorter_restart, JL_N("restarts in half the time") },
	{ "detect", faster_detection, JL_N("failures found in half the time") },
	{ "async", asynchronous, JL_N("asynchronous checkpoints") },
	{ "memory", copies, JL_N("copies in the memory of other hosts") },
	{ "interval", best_interval, JL_N("the best checkpoint interval") },
	{ "failures", fewer_failures, JL_N("half the failures: burn-in, nodes that fail often taken out") },
	{ "stragglers", no_stragglers, JL_N("half the spread of the nodes' step times") },
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

	if (!idea->change(&s, &rate_hz, g))
		return;
	jl_goodput_point(&after, &s, rate_hz);
	const double saved_s = g->elapsed_s.value * (1 - goodput_of(&g->point) / goodput_of(&after));

	if (!(saved_s > LEAST_FRAC * g->elapsed_s.value) || g->n_helps == JL_GOODPUT_HELPS_MAX)
		return;
	*help = (struct jl_goodput_help){ .key = idea->key,
					  .en = idea->en,
					  .effective_frac = after.effective_frac,
					  .saved_s = saved_s,
					  .saved_gpu_s = saved_s * g->setting.n_gpus,
					  .saved_usd = saved_s * g->setting.n_gpus * usdps };
	g->n_helps++;
}

void jl_goodput_advise(struct jl_goodput *g)
{
	if (!g->progresses)
		return;
	for (size_t i = 0; i < JL_LEN(ideas); i++)
		weigh_idea(g, &ideas[i]);
	qsort(g->helps, g->n_helps, sizeof(g->helps[0]), by_saving);
}
