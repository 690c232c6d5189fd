/* The document of a goodput result: share of useful time, end of the run, losses by cause, and what would save most. */
#include "goodput/goodput.h"

#include <math.h>
#include <stddef.h>

#include "topics/predict.h"
#include "topics/show.h"

#define HOUR_S   3600.0
#define DAY_S    86400.0
#define BARS_MAX 14

/* Amounts with their short text; JL_TXT lives in the caller's block. */
#define GPU_HOURS(gpu_s)                                                                                               \
	jl_num_about((gpu_s) / HOUR_S, JL_K_NUMBER, isnan((gpu_s)) ? NULL : jl_about_text(JL_TXT, (gpu_s) / HOUR_S))
#define DOLLARS(usd)                                                                                                   \
	jl_num_about((usd), JL_K_USD,                                                                                  \
		     isnan(usd) ? NULL                                                                                 \
				: jl_doc_format(doc, "%s%s", (usd) < 0 ? "−" : "", jl_about_text(JL_TXT, fabs(usd))))

/* "91 % (86–95)", "99.9 % (99.6–100)": as many digits as the loss has. */
static struct jl_num share_wide(struct jl_doc *doc, const struct jl_estimate *e)
{
	const int digits = e->value > 0.98;

	return jl_num_written(jl_num_estimate(*e, JL_K_FRACTION, NULL),
			      jl_doc_format(doc, "%.*f %% (%.*f–%.*f)", digits, 100 * e->value, digits, 100 * e->lo,
					    digits, 100 * e->hi));
}

static struct jl_num share_fine(struct jl_doc *doc, double frac)
{
	return jl_num_about(frac, JL_K_FRACTION,
			    jl_doc_format(doc,
					  frac > 0.98   ? "%.1f %%"
					  : frac >= 0.1 ? "%.0f %%"
							: "%.2g %%",
					  frac < 5e-5 ? 0 : 100 * frac));
}

static const char *day_text(struct jl_doc *doc, const struct jl_goodput *g, double elapsed_s)
{
	return jl_doc_format(
		doc, "%s",
		jl_date_text((char[JL_DATE_TEXT_MAX]){ 0 }, g->start_day + (long)ceil(fmin(elapsed_s, 3e12) / DAY_S)));
}

static const char *seconds(struct jl_doc *doc, double time_s)
{
	return isfinite(time_s) ? jl_doc_format(doc, "%s", jl_units_localized(JL_TXT, time_s, JL_K_TIME, 2)) : "∞";
}

/* The lead's second half: time and money lost, the largest cause, what would save most. */
static void lead_losses(struct jl_doc *doc, const struct jl_goodput *g)
{
	const struct jl_campus *c = &g->campus;
	const bool money = !isnan(g->job->prediction.rent.usdps);
	const double lost_s = g->elapsed_s.value * (1 - g->point.frac[JL_CAUSE_USEFUL]);
	const double lost_gpu_s = lost_s * g->setting.n_gpus;
	int most = 1;

	for (int i = 1; i < JL_N_CAUSE; i++)
		most = g->parts[i].frac > g->parts[most].frac ? i : most;
	if (g->n_helps) {
		jl_doc_text(doc, " ");
		JL_SENTENCE(doc,
			    money ? JL_("It loses |1 and |2 USD, most by: |3. What would save most: |4 (|5).")
				  : JL_("It loses |1 and |2 GPU hours, most by: |3. What would save most: |4 (|5)."),
			    JL_ABOUT(lost_s, JL_K_TIME),
			    JL_FIG(money ? DOLLARS(lost_gpu_s * g->job->prediction.rent.usdps) : GPU_HOURS(lost_gpu_s)),
			    JL_WORD(jl_msg(g->parts[most].en)), JL_WORD(jl_msg(g->helps[0].en)),
			    JL_ABOUT(g->helps[0].saved_s, JL_K_TIME));
	}
	if (c->slow_frac > 0) {
		jl_doc_text(doc, " ");
		JL_SENTENCE(doc, JL_("Under the cap of |1 a step takes |2 longer."), JL_ABOUT(c->cap_W, JL_K_POWER),
			    JL_FIG(share_fine(doc, c->slow_frac)));
	}
	if (c->n_grids == 1) {
		jl_doc_text(doc, " ");
		JL_SENTENCE(doc, JL_("It emits |1 t of CO2."),
			    JL_FIG(jl_num_about(c->grids[0].co2_g / 1e6, JL_K_NUMBER,
						jl_about_text(JL_TXT, c->grids[0].co2_g / 1e6))));
	}
	if (c->n_rows) {
		const struct jl_fabric_row *r = &c->rows[c->n_rows - 1];
		const double of_s = r->step_s[JL_FABRIC_RAIL];

		jl_doc_text(doc, " ");
		JL_SENTENCE(doc,
			    JL_("On |1 GPUs the narrower network makes a step |2 longer, with hosts in any order |3; a "
				"dragonfly |4 and |5."),
			    JL_COUNT(r->n_gpus), JL_FIG(share_fine(doc, r->step_s[JL_FABRIC_TAPERED] / of_s - 1)),
			    JL_FIG(share_fine(doc, r->step_s[JL_FABRIC_TAPERED_APART] / of_s - 1)),
			    JL_FIG(share_fine(doc, r->step_s[JL_FABRIC_DRAGONFLY] / of_s - 1)),
			    JL_FIG(share_fine(doc, r->step_s[JL_FABRIC_DRAGONFLY_APART] / of_s - 1)));
	}
}

/* As 'jeoul predict' says it. */
static void no_room(struct jl_doc *doc, const struct jl_job *job)
{
	struct jl_predicted *x = jl_arena_alloc(doc->arena, sizeof(*x));

	if (!x)
		return;
	jl_show_case(doc, &job->how);
	*x = (struct jl_predicted){ .how = job->how, .p = job->prediction };
	jl_show_room(doc, x);
}

static void lead(struct jl_doc *doc, const struct jl_goodput *g)
{
	const struct jl_case *c = &g->job->how;

	if (g->job->prediction.room == JL_ROOM_NONE) {
		no_room(doc, g->job);
		return;
	}
	jl_doc_lead(doc);
	if (!g->progresses) {
		JL_SENTENCE(
			doc,
			JL_("|1 on |2 makes no progress: a failure comes every |3, and a checkpoint and a restart take "
			    "|4."),
			JL_NAMED(c->subject.name), JL_NAMED(c->machine.sys.text), JL_ABOUT(g->mttf_s.value, JL_K_TIME),
			JL_ABOUT(g->point.cycle.store.stall_s + g->point.cycle.store.lag_s +
					 g->point.cycle.store.restart_s,
				 JL_K_TIME));
		return;
	}
	JL_SENTENCE(doc, JL_("|1 on |2: |3 of the time is useful."), JL_NAMED(c->subject.name),
		    JL_NAMED(c->machine.sys.text), JL_FIG(share_wide(doc, &g->goodput_frac)));
	if (!g->whole_run) {
		lead_losses(doc, g);
		return;
	}
	jl_doc_text(doc, " ");
	JL_SENTENCE(doc,
		    g->elapsed_s.value > 1.05 * g->plain_s ? JL_("The run takes |1 instead of |2, until |3 (|4 to |5).")
							   : JL_("The run takes |1, until |3 (|4 to |5)."),
		    JL_WIDE(g->elapsed_s, JL_K_TIME), JL_ABOUT(g->plain_s, JL_K_TIME),
		    JL_NAMED(day_text(doc, g, g->elapsed_s.value)), JL_NAMED(day_text(doc, g, g->elapsed_s.lo)),
		    JL_NAMED(day_text(doc, g, g->elapsed_s.hi)));
	lead_losses(doc, g);
}

static void failures(struct jl_doc *doc, const struct jl_goodput *g)
{
	jl_doc_entry(doc, JL_("Failures"));
	if (!(g->failures_per_day.hi > 0)) {
		JL_SHOW(doc, "none");
		return;
	}
	JL_SENTENCE(doc, JL_("one every |1 on |2 GPUs"), JL_WIDE(g->mttf_s, JL_K_TIME), JL_COUNT(g->setting.n_gpus));
	if (g->rates.job.per_day > 0)
		jl_show_piece(doc, JL_ESTIMATED,
			      JL_("%s a day from each thousand nodes, %s a day whatever their number"),
			      jl_about_text(JL_TXT, 1000 * g->rates.node.per_day),
			      jl_about_text(JL_TXT, g->rates.job.per_day));
	else
		jl_show_piece(doc, JL_ESTIMATED, JL_("%s a day from each thousand nodes"),
			      jl_about_text(JL_TXT, 1000 * g->rates.node.per_day));
}

static void checkpoints(struct jl_doc *doc, const struct jl_goodput *g)
{
	static const char *const kinds[JL_N_CHECKPOINT] = { JL_N("blocking"), JL_N("asynchronous"),
							    JL_N("copies in memory"),
							    JL_N("copies in memory and storage") };
	const struct jl_cycle *c = &g->point.cycle;
	const struct jl_level *fine = c->memory_frac > 0 ? &c->memory : &c->store;
	const double load_s = g->setting.checkpoint_B / g->setting.store_Bps;

	jl_show_entry(doc, JL_("Checkpoint"), JL_ESTIMATED,
		      JL_("every %s%s: %s, %s; the job waits %s, storage takes %s"), seconds(doc, fine->work_s),
		      g->setting.interval_s > 0 ? "" : JL_(" (best)"),
		      jl_units_localized(JL_TXT, g->setting.checkpoint_B, JL_K_BYTES, 2),
		      jl_msg(kinds[g->setting.checkpoint]), seconds(doc, fine->stall_s),
		      seconds(doc, g->setting.checkpoint_B / g->setting.store_Bps));
	if (c->memory_frac > 0)
		jl_show_entry(doc, "", JL_ESTIMATED, JL_("to storage every %s"), seconds(doc, c->store.work_s));
	if (isfinite(g->interval_best_s) && g->progresses)
		jl_show_entry(doc, "", JL_ESTIMATED, JL_("best %s; Young %s, Daly %s"),
			      seconds(doc, g->interval_best_s), seconds(doc, g->interval_young_s),
			      seconds(doc, g->interval_daly_s));
	jl_show_entry(doc, JL_("Restart"), JL_ESTIMATED, JL_("found after %s, restart %s, load %s"),
		      seconds(doc, g->setting.detect_s), seconds(doc, c->store.restart_s - load_s),
		      seconds(doc, load_s));
	if (g->point.wait_s >= 1)
		jl_show_piece(doc, JL_ESTIMATED, JL_("waits %s for a node, %d spare{/s}"),
			      seconds(doc, g->point.wait_s), g->setting.n_spares);
	else
		jl_show_piece(doc, JL_ESTIMATED, JL_("%d spare node{/s}, one is always there"), g->setting.n_spares);
	if (g->progresses && g->spares_enough != g->setting.n_spares)
		jl_show_piece(doc, JL_ESTIMATED, JL_("%d would be enough"), g->spares_enough);
}

/* Progress and losses in the job's own log. */
static void seen(struct jl_doc *doc, const struct jl_goodput *g)
{
	const struct jl_run_spent *s = g->seen;

	if (!s)
		return;
	jl_show_entry(doc, JL_("Log"), JL_MEASURED, JL_("%s steps in %s, %.0f %% of it useful"),
		      jl_grouped_text(JL_TXT, g->seen_steps), seconds(doc, s->elapsed_s),
		      100 * s->useful_s / s->elapsed_s);
	if (isnan(g->left_steps))
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("how many are to go it does not say (--tokens)"));
	else
		jl_show_piece(doc, JL_ESTIMATED, JL_("%s steps to go"), jl_grouped_text(JL_TXT, g->left_steps));
	jl_show_piece(doc, JL_MEASURED, JL_("%zu restart{/s}, %s in all and %s of steps done again"), s->n_restarts,
		      seconds(doc, s->restart_s), seconds(doc, s->repeated_s));
	jl_show_piece(doc, JL_MEASURED, JL_("%zu checkpoint{/s} held it for %s, stalls for %s"), s->n_checkpoints,
		      seconds(doc, s->checkpoint_s), seconds(doc, s->stall_s));
}

/* --- tables */

static void parts(struct jl_doc *doc, const struct jl_goodput *g)
{
	const bool money = !isnan(g->job->prediction.rent.usdps);
	const bool energy = g->job->prediction.drawn_W > 0;

	jl_show_table(doc, g->whole_run ? JL_("Where the time goes") : JL_("Where the time goes, in 30 days"),
		      money ? "kfffff" : "kffff",
		      money ? JL_N("cause|share|time|GPU hours|energy|USD")
			    : JL_N("cause|share|time|GPU hours|energy"));
	for (int i = 0; i < JL_N_CAUSE; i++) {
		const struct jl_goodput_part *p = &g->parts[i];

		if (i && !(p->frac > 5e-5))
			continue;
		JL_CELLS(doc, JL_WORD(jl_msg(p->en)), JL_FIG(share_fine(doc, p->frac)), JL_ABOUT(p->time_s, JL_K_TIME),
			 JL_FIG(GPU_HOURS(p->gpu_s)), JL_ABOUT(energy ? p->energy_J : NAN, JL_K_ENERGY));
		if (money)
			jl_show_cell(doc, DOLLARS(p->cost_usd));
		jl_doc_end_row(doc, i == JL_CAUSE_USEFUL);
	}
}

static void sizes(struct jl_doc *doc, const struct jl_goodput *g)
{
	jl_show_table(doc, JL_("The same at other sizes"), "fkfk",
		      JL_N("GPUs|time to a failure|checkpoint every|effective"));
	for (size_t i = 0; i < g->n_sizes; i++) {
		const struct jl_goodput_size *s = &g->sizes[i];

		jl_show_cell(doc, jl_num_written(jl_num_count(s->n_gpus), jl_grouped_text(JL_TXT, s->n_gpus)));
		if (isfinite(s->mttf_s.value))
			jl_show_cell(doc, jl_num_wide(s->mttf_s, JL_K_TIME));
		else
			jl_doc_cell_text(doc, "–");
		JL_ROW(doc, s->own, JL_FIG(jl_num_about(s->interval_s, JL_K_TIME, seconds(doc, s->interval_s))),
		       JL_FIG(share_wide(doc, &s->effective_frac)));
	}
}

static void helps(struct jl_doc *doc, const struct jl_goodput *g)
{
	const bool money = !isnan(g->job->prediction.rent.usdps);
	const char *idle = "";

	for (size_t i = 0; i < g->n_idle; i++)
		idle = jl_doc_format(doc, "%s%s%s", idle, i ? " · " : "", jl_msg(g->idle[i]));
	if (g->n_idle)
		jl_show_entry(doc, JL_("Not worth it"), JL_ESTIMATED, JL_("%s: less than 0.05 %% of the time each"),
			      idle);
	if (!g->n_helps)
		return;
	jl_show_table(doc, JL_("What would help"), money ? "tffff" : "tfff",
		      money ? JL_N("change|effective|saves|GPU hours|USD") : JL_N("change|effective|saves|GPU hours"));
	for (size_t i = 0; i < g->n_helps; i++) {
		const struct jl_goodput_help *h = &g->helps[i];

		JL_CELLS(doc, JL_WORD(jl_msg(h->en)), JL_FIG(share_fine(doc, h->effective_frac)),
			 JL_ABOUT(h->saved_s, JL_K_TIME), JL_FIG(GPU_HOURS(h->saved_gpu_s)));
		if (money)
			jl_show_cell(doc, DOLLARS(h->saved_usd));
		jl_doc_end_row(doc, i == 0);
	}
}

/* --- the run as a calendar */

static const struct {
	const char *en;
	size_t offset;
} spent_parts[] = { { JL_N("useful"), offsetof(struct jl_spent, useful) },
		    { JL_N("waiting for checkpoints"), offsetof(struct jl_spent, checkpoint) },
		    { JL_N("work done again"), offsetof(struct jl_spent, lost) },
		    { JL_N("finding failures, waiting"), offsetof(struct jl_spent, down) },
		    { JL_N("restarting, loading"), offsetof(struct jl_spent, restart) } };

/* Of the slots from `first` on, the share of one way that time goes. */
static double spent_share(const struct jl_calendar *cal, size_t first, size_t n, size_t part)
{
	double sum = 0, of = 0;

	for (size_t k = first; k < first + n && k < cal->n; k++) {
		sum += jl_spent_sum(&cal->slots[k]);
		of += *(const double *)(const void *)((const char *)&cal->slots[k] + spent_parts[part].offset);
	}
	return of / fmax(sum, 1e-300);
}

/* A row for each way that time goes, a mark for each slot; losses are drawn as shares of the largest one. */
static void calendar(struct jl_doc *doc, const struct jl_goodput *g)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	const struct jl_calendar *cal = &g->calendar;
	double most = 0.01;

	for (size_t i = 1; i < JL_LEN(spent_parts); i++)
		for (size_t k = 0; k < cal->n; k++)
			most = fmax(most, spent_share(cal, k, 1, i));
	jl_show_table(
		doc,
		jl_doc_format(doc, JL_("The run as a calendar: one that may come, a mark for %s; losses up to %.2g %%"),
			      jl_units_localized(JL_TXT, cal->slot_s, JL_K_TIME, 2), 100 * most),
		"kkf", JL_N("cause|from the first day to the last|share"));
	for (size_t i = 0; i < JL_LEN(spent_parts); i++) {
		const char *text = "";

		for (size_t k = 0; k < cal->n; k++) {
			const double share = spent_share(cal, k, 1, i) / (i ? most : 1);

			text = jl_doc_format(doc, "%s%s", text, blocks[(int)fmin(7, ceil(share * 7 - 0.07))]);
		}
		JL_ROW(doc, i == 0, JL_WORD(jl_msg(spent_parts[i].en)), JL_WORD(text),
		       JL_FIG(share_fine(doc, spent_share(cal, 0, cal->n, i))));
	}
}

/* The same drawn: bars of a few slots each. */
static void calendar_picture(struct jl_doc *doc, const struct jl_goodput *g)
{
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_STACKED, JL_("The run as a calendar"),
					       JL_LEN(spent_parts));
	const struct jl_calendar *cal = &g->calendar;
	const size_t each = cal->n / BARS_MAX + 1, n = (cal->n + each - 1) / each;

	for (size_t i = 0; chart && i < JL_LEN(spent_parts); i++) {
		struct jl_chart_point *points = jl_show_series(doc, chart, i, jl_msg(spent_parts[i].en), JL_ESTIMATED,
							       n);

		for (size_t k = 0; points && k < n; k++) {
			points[k].y = spent_share(cal, k * each, each, i);
			points[k].label = day_text(doc, g, (double)(k * each) * cal->slot_s);
		}
	}
	if (!chart)
		return;
	chart->y = JL_AXIS(.label = JL_("share of the time"), .kind = JL_K_FRACTION);
	jl_doc_picture(doc, chart);
}

/* Cost of lost time by cause, and of failures by kind. */
static void waste(struct jl_doc *doc, const struct jl_goodput *g)
{
	const bool money = !isnan(g->job->prediction.rent.usdps);
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_BARS, JL_("What the waste costs"), 1);
	struct jl_chart_point *points = chart ? jl_show_series(doc, chart, 0, JL_("by cause"), JL_ESTIMATED, JL_N_CAUSE)
					      : NULL;
	size_t n = 0;

	for (int i = 1; points && i < JL_N_CAUSE; i++) {
		if (!(g->parts[i].frac > 5e-5))
			continue;
		points[n].y = money ? g->parts[i].cost_usd : g->parts[i].gpu_s / HOUR_S;
		points[n++].label = jl_msg(g->parts[i].en);
	}
	if (!n)
		return;
	chart->series[0].n_points = n;
	chart->y = money ? JL_AXIS(.label = JL_("cost"), .kind = JL_K_USD)
			 : JL_AXIS(.label = JL_("GPU hours"), .kind = JL_K_NUMBER);
	jl_doc_picture(doc, chart);
	jl_show_table(doc, JL_("Failures by kind"), money ? "kffff" : "kfff",
		      money ? JL_N("kind|share|failures|GPU hours|USD") : JL_N("kind|share|failures|GPU hours"));
	for (int i = 0; i < JL_N_FAILURE; i++) {
		const struct jl_goodput_kind *k = &g->kinds[i];

		JL_CELLS(doc, JL_WORD(jl_msg(k->en)), JL_FIG(share_fine(doc, k->share_frac)),
			 JL_FIG(jl_num_about(k->n_failures, JL_K_NUMBER, jl_about_text(JL_TXT, k->n_failures))),
			 JL_FIG(GPU_HOURS(k->lost_gpu_s)));
		if (money)
			jl_show_cell(doc, DOLLARS(k->cost_usd));
		jl_doc_end_row(doc, false);
	}
}

/* A bar for each size: useful time below, each loss on top. */
static void picture(struct jl_doc *doc, const struct jl_goodput *g)
{
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_STACKED, JL_("Where the time goes"), JL_N_CAUSE);
	size_t n = 0;

	if (!chart)
		return;
	chart->y = JL_AXIS(.label = JL_("share of the time"), .kind = JL_K_FRACTION);
	for (int i = 0; i < JL_N_CAUSE; i++) {
		double most = 0;

		for (size_t k = 0; k < g->n_sizes; k++)
			most = fmax(most, g->sizes[k].frac[i]);
		if (most < 0.001)
			continue;
		struct jl_chart_point *points = jl_show_series(doc, chart, n++, jl_msg(jl_causes[i].en), JL_ESTIMATED,
							       g->n_sizes);

		for (size_t k = 0; points && k < g->n_sizes; k++) {
			points[k].y = g->sizes[k].frac[i];
			points[k].label = jl_doc_format(doc, JL_("%s GPUs"),
							jl_grouped_text(JL_TXT, g->sizes[k].n_gpus));
		}
	}
	chart->n_series = n;
	jl_doc_picture(doc, chart);
}

void jl_show_elapsed(struct jl_doc *doc, const struct jl_elapsed *e, const struct jl_prediction *p)
{
	const struct jl_estimate useful = { e->useful_frac, e->useful_frac, e->useful_frac };

	if (isnan(e->useful_frac))
		return;
	jl_doc_entry(doc, JL_("Failures"));
	JL_SENTENCE(
		doc,
		JL_("counted, with checkpoints and restarts: |1 of the time is useful; |2 without ('jeoul goodput')"),
		JL_FIG(share_fine(doc, useful.value)), JL_ABOUT(p->run_s.value, JL_K_TIME));
}

void jl_show_whole_run(struct jl_doc *doc, const struct jl_goodput *g)
{
	jl_doc_entry(doc, JL_("Whole run"));
	if (!g->progresses) {
		JL_SHOW(doc, "makes no progress: failures come faster than restarts ('jeoul goodput')");
		return;
	}
	JL_SENTENCE(
		doc,
		JL_("|1 with failures, checkpoints and restarts, until |2; |3 of the time is useful ('jeoul goodput')"),
		JL_WIDE(g->elapsed_s, JL_K_TIME), JL_NAMED(day_text(doc, g, g->elapsed_s.value)),
		JL_FIG(share_wide(doc, &g->goodput_frac)));
}

void jl_show_goodput(struct jl_doc *doc, const struct jl_goodput *g, const char *const *options)
{
	lead(doc, g);
	seen(doc, g);
	failures(doc, g);
	checkpoints(doc, g);
	if (g->progresses && g->job->prediction.room != JL_ROOM_NONE) {
		jl_show_campus(doc, g, false);
		parts(doc, g);
		picture(doc, g);
		if (g->calendar.n) {
			calendar(doc, g);
			calendar_picture(doc, g);
		}
		waste(doc, g);
		helps(doc, g);
		jl_show_campus(doc, g, true);
	}
	sizes(doc, g);
	jl_show_note(
		doc, NULL, JL_ESTIMATED,
		JL_("○ estimated; 80 %% intervals. By simulation %.1f %% are effective, by the closed form %.1f %%. "
		    "Published rates: jeoul catalog list reliability"),
		100 * g->simulated_frac, 100 * g->point.effective_frac);
	if (g->rates.site)
		jl_show_note(doc, NULL, JL_PUBLISHED, JL_("failure rate of %s"), g->rates.site);
	jl_show_assumed(doc, &g->notes, options);
}
