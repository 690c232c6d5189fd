/* The document of a goodput result: share of useful time, end of the run, losses by cause, and what would save most. */
#include "goodput/goodput.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "topics/predict.h"
#include "topics/show.h"

#define HOUR_S      3600.0
#define DAY_S       86400.0
#define A_BAR       4    /* slots of the calendar */
#define LITTLE_FRAC 0.01 /* of the elapsed time: smaller losses give no advice */
#define NEVER_S     (100 * 365 * DAY_S)

/* Amounts with their short text; JL_TXT lives in the caller's block. */
#define GPU_HOURS(gpu_s)                                                                                               \
	jl_num_about((gpu_s) / HOUR_S, JL_K_NUMBER, isnan((gpu_s)) ? NULL : jl_about_text(JL_TXT, (gpu_s) / HOUR_S))

static bool in_won(const struct jl_goodput *g)
{
	return !isnan(g->ask.krw_per_usd);
}

/* Unit of the table heading: dollars, millions of won, or won in groups of four digits. */
static struct jl_num cost(struct jl_doc *doc, const struct jl_goodput *g, double usd)
{
	const double amount = usd * (in_won(g) ? g->ask.krw_per_usd : 1), size = fabs(amount);
	const char *text = in_won(g) && jl_lang_is("ko") ? jl_krw_number_text(doc, size)
							 : jl_about_text(JL_TXT, in_won(g) ? size / 1e6 : size);

	return jl_num_about(amount, in_won(g) ? JL_K_KRW : JL_K_USD,
			    isnan(usd) ? NULL : jl_doc_format(doc, "%s%s", amount < 0 ? "−" : "", text));
}

/* With its unit, for a sentence. */
struct jl_num jl_goodput_money(struct jl_doc *doc, const struct jl_goodput *g, double usd)
{
	struct jl_num num = cost(doc, g, usd);

	if (in_won(g) && jl_lang_is("ko"))
		return jl_num_written(num, jl_krw_text(doc, num.value));
	return jl_num_written(num, jl_doc_format(doc, JL_C("money", "%s %s"), num.text,
						 in_won(g) ? JL_("million KRW") : jl_unit_localized("USD", NULL)));
}

/* Table headings with or without a money column. */
static const char *heads_of(const struct jl_goodput *g, const char *usd, const char *krw, const char *none)
{
	return isnan(g->job->prediction.rent.usdps) ? none : in_won(g) ? krw : usd;
}

/* Decimals of a percentage: enough to show the loss. */
static int decimals_of(double useful_frac)
{
	const double lost = 1 - useful_frac;

	return lost < 2e-4 ? 3 : lost < 2e-3 ? 2 : lost < 0.02 ? 1 : 0;
}

/* "91 % (86–95)", "99.9 % (99.6–100.0)" */
static struct jl_num share_wide(struct jl_doc *doc, const struct jl_estimate *e)
{
	const int digits = decimals_of(e->value);

	return jl_num_written(jl_num_estimate(*e, JL_K_FRACTION, NULL),
			      jl_doc_format(doc, "%.*f %% (%.*f–%.*f)", digits, 100 * e->value, digits, 100 * e->lo,
					    digits, 100 * e->hi));
}

static struct jl_num share_fine(struct jl_doc *doc, double frac)
{
	return jl_num_about(frac, JL_K_FRACTION,
			    frac >= 0.1 ? jl_doc_format(doc, "%.*f %%", decimals_of(frac), 100 * frac)
					: jl_doc_format(doc, "%.2g %%", frac < 5e-7 ? 0 : 100 * frac));
}

static const char *day_text(struct jl_doc *doc, const struct jl_goodput *g, double n_days)
{
	return jl_doc_format(doc, "%s",
			     jl_date_text((char[JL_DATE_TEXT_MAX]){ 0 }, g->ask.start_day + (long)fmin(n_days, 4e7)));
}

static const char *end_text(struct jl_doc *doc, const struct jl_goodput *g, double elapsed_s)
{
	return elapsed_s > NEVER_S ? JL_("never") : day_text(doc, g, floor(elapsed_s / DAY_S));
}

static const char *seconds(struct jl_doc *doc, double time_s)
{
	return isfinite(time_s) ? jl_doc_format(doc, "%s", jl_units_localized(JL_TXT, time_s, JL_K_TIME, 2)) : "∞";
}

/* Total rent, and the idle part of it. */
static void lead_rent(struct jl_doc *doc, const struct jl_goodput *g)
{
	if (isnan(g->rent_usd))
		return;
	const bool spares = g->spare_usd > 0, unused = g->unused_usd > 0;

	jl_doc_text(doc, " ");
	JL_SENTENCE(doc,
		    spares && unused ? JL_("Rent is |1 in all: |2 of it for idle spare nodes, |3 for what is not used.")
		    : spares         ? JL_("Rent is |1 in all, |2 of it for idle spare nodes.")
		    : unused         ? JL_("Rent is |1 in all, |3 of it for what is not used.")
				     : JL_("Rent is |1 in all."),
		    JL_FIG(jl_goodput_money(doc, g, g->rent_usd)), JL_FIG(jl_goodput_money(doc, g, g->spare_usd)),
		    JL_FIG(jl_goodput_money(doc, g, g->unused_usd)));
}

/* Second half of the lead: lost time and money, largest cause, best change. */
static void lead_losses(struct jl_doc *doc, const struct jl_goodput *g)
{
	const struct jl_campus *c = &g->campus;
	const bool money = !isnan(g->job->prediction.rent.usdps);
	const double lost_s = g->elapsed_s.value * (1 - g->point.frac[JL_CAUSE_USEFUL]);
	const double lost_gpu_s = lost_s * g->setting.n_gpus;
	const bool little = lost_s < LITTLE_FRAC * g->elapsed_s.value;
	int most = 1;

	for (int i = 1; i < JL_N_CAUSE; i++)
		most = g->parts[i].frac > g->parts[most].frac ? i : most;
	if (g->n_helps || little) {
		jl_doc_text(doc, " ");
		JL_SENTENCE(doc,
			    little && money ? JL_("It loses little: |1 and |2.")
			    : little        ? JL_("It loses little: |1 and |2 GPU hours.")
			    : money         ? JL_("It loses |1 and |2, mostly to: |3. Largest saving: |4, |5.")
				    : JL_("It loses |1 and |2 GPU hours, mostly to: |3. Largest saving: |4, |5."),
			    JL_ABOUT(lost_s, JL_K_TIME),
			    JL_FIG(money ? jl_goodput_money(doc, g, lost_gpu_s * g->job->prediction.rent.usdps)
					 : GPU_HOURS(lost_gpu_s)),
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

/* Short form for 'jeoul predict'. */
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
		const double planned_s = 1 / g->setting.planned_hz;
		const bool planned = planned_s < g->mttf_s.value;

		JL_SENTENCE(doc,
			    planned ? JL_("|1 on |2 makes no progress: less than 1 % of the time is useful. A planned "
					  "stop comes every |3; a checkpoint and a restart take |4.")
				    : JL_("|1 on |2 makes no progress: less than 1 % of the time is useful. A failure "
					  "comes every |3; a checkpoint and a restart take |4."),
			    JL_NAMED(c->subject.name), JL_NAMED(c->machine.sys.text),
			    JL_ABOUT(planned ? planned_s : g->mttf_s.value, JL_K_TIME),
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
	const char *lo = end_text(doc, g, g->elapsed_s.lo), *hi = end_text(doc, g, g->elapsed_s.hi);

	JL_SENTENCE(doc,
		    strcmp(lo, hi) == 0 ? JL_("The run takes |1, until |3.")
		    : g->elapsed_s.value > 1.05 * g->plain_s
			    ? JL_("The run takes |1 instead of |2, until |3 (|4 to |5).")
			    : JL_("The run takes |1, until |3 (|4 to |5)."),
		    JL_WIDE(g->elapsed_s, JL_K_TIME), JL_ABOUT(g->plain_s, JL_K_TIME),
		    JL_NAMED(end_text(doc, g, g->elapsed_s.value)), JL_NAMED(lo), JL_NAMED(hi));
	lead_rent(doc, g);
	lead_losses(doc, g);
}

static void failures(struct jl_doc *doc, const struct jl_goodput *g)
{
	jl_doc_entry(doc, JL_("Failures"));
	if (!(g->failures_per_day.hi > 0)) {
		JL_SHOW(doc, "none");
		return;
	}
	JL_SENTENCE(doc, JL_("one every |1 on |2 GPU{/s}"), JL_WIDE(g->mttf_s, JL_K_TIME), JL_COUNT(g->setting.n_gpus));
	if (g->rates.job.per_day > 0)
		jl_show_piece(doc, JL_ESTIMATED,
			      JL_("%s a day per 1,000 nodes of 8 GPUs and, added, %s a day whatever their number"),
			      jl_about_text(JL_TXT, 1000 * g->rates.node.per_day),
			      jl_about_text(JL_TXT, g->rates.job.per_day));
	else
		jl_show_piece(doc, JL_ESTIMATED, JL_("%s a day per 1,000 nodes of 8 GPUs"),
			      jl_about_text(JL_TXT, 1000 * g->rates.node.per_day));
	if (jl_sys_per_tray(&g->job->how.machine.sys) != jl_sys_per_node(&g->job->how.machine.sys))
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("a node is a host of %.0f GPUs: %.0f of them"),
			      g->setting.per_node, g->setting.n_nodes);
}

/* Elastic recovery: which replicas continue, from where, with what loss. */
static void others(struct jl_doc *doc, const struct jl_goodput *g)
{
	const struct jl_goodput_setting *s = &g->setting;

	if (s->recovery != JL_RECOVERY_ELASTIC)
		return;
	if (g->point.goes_on)
		jl_show_entry(
			doc, "", JL_ESTIMATED,
			JL_("after %.0f %% of the failures the others go on within %s, without %.2g %% of the job; "
			    "for the rest all start again"),
			100 * s->one_frac, seconds(doc, g->point.cycle.memory.restart_s), 100 * s->replica_frac);
	else if (s->replica_frac < 1)
		jl_show_entry(doc, "", JL_ESTIMATED,
			      JL_("states are cut over all of the job: the others go back to the checkpoint, as with a "
				  "swap; groups that hold all states (HSDP) would go on"));
	else
		jl_show_entry(doc, "", JL_ESTIMATED, JL_("one replica: nothing is left that could go on"));
}

static void checkpoints(struct jl_doc *doc, const struct jl_goodput *g)
{
	static const char *const kinds[JL_N_CHECKPOINT] = { JL_N("blocking"), JL_N("asynchronous"),
							    JL_N("copies in memory"),
							    JL_N("copies in memory and storage") };
	const struct jl_cycle *c = &g->point.cycle;
	const struct jl_level *fine = jl_goodput_written(&g->point);
	const double load_s = jl_goodput_load_s(&g->setting);

	jl_show_entry(doc, JL_("Checkpoint"), JL_ESTIMATED,
		      JL_("every %s (%s step{/s}%s): %s, %s; the job waits %s, storage takes %s"),
		      seconds(doc, fine->work_s),
		      jl_grouped_text(JL_TXT, fmax(1, round(fine->work_s / g->setting.step_s))),
		      g->setting.interval_s > 0 ? "" : JL_(", best"),
		      jl_units_localized(JL_TXT, g->setting.checkpoint_B, JL_K_BYTES, 2),
		      jl_msg(kinds[g->setting.checkpoint]), seconds(doc, fine->stall_s),
		      seconds(doc, jl_goodput_write_s(&g->setting)));
	if (g->point.copies)
		jl_show_entry(doc, "", JL_ESTIMATED, JL_("to storage every %s"), seconds(doc, c->store.work_s));
	if (isfinite(g->interval_best_s) && g->progresses)
		jl_show_entry(doc, "", JL_ESTIMATED, JL_("best %s; Young %s, Daly %s"),
			      seconds(doc, g->interval_best_s), seconds(doc, g->interval_young_s),
			      seconds(doc, g->interval_daly_s));
	jl_show_entry(doc, JL_("Restart"), JL_ESTIMATED, JL_("found after %s, restart %s, load %s"),
		      seconds(doc, g->setting.detect_s), seconds(doc, c->store.restart_s - load_s),
		      seconds(doc, load_s));
	if (g->setting.recovery == JL_RECOVERY_ELASTIC)
		jl_show_piece(doc, JL_ESTIMATED, JL_("%d spare node{/s}"), g->setting.n_spares);
	else if (g->point.wait_s >= 1)
		jl_show_piece(doc, JL_ESTIMATED, JL_("%d spare node{/s}; a failure waits %s for one on average"),
			      g->setting.n_spares, seconds(doc, g->point.wait_s));
	else
		jl_show_piece(doc, JL_ESTIMATED, JL_("%d spare node{/s}, one is always there"), g->setting.n_spares);
	if (g->progresses && g->spares_enough != g->setting.n_spares)
		jl_show_piece(doc, JL_ESTIMATED,
			      g->mttf_s.hi > g->mttf_s.lo
				      ? JL_("%d would be enough at the upper end of the failure rate")
				      : JL_("%d would be enough"),
			      g->spares_enough);
	others(doc, g);
}

/* Progress and losses from the job's log. */
static void seen(struct jl_doc *doc, const struct jl_goodput *g)
{
	const struct jl_run_spent *s = g->ask.seen;

	if (!s)
		return;
	jl_show_entry(doc, JL_("Log"), JL_MEASURED, JL_("%s steps in %s, %.0f %% of it useful"),
		      jl_grouped_text(JL_TXT, g->ask.seen_steps), seconds(doc, s->elapsed_s),
		      100 * s->useful_s / s->elapsed_s);
	if (isnan(g->ask.left_steps))
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("the log does not say how many are left (--tokens)"));
	else
		jl_show_piece(doc, JL_ESTIMATED, JL_("%s steps left"), jl_grouped_text(JL_TXT, g->ask.left_steps));
	jl_show_piece(doc, JL_MEASURED, JL_("%zu restart{/s}, %s in all and %s of steps done again"), s->n_restarts,
		      seconds(doc, s->restart_s), seconds(doc, s->repeated_s));
	jl_show_piece(doc, JL_MEASURED, JL_("%zu checkpoint{/s} took %s, stalls %s"), s->n_checkpoints,
		      seconds(doc, s->checkpoint_s), seconds(doc, s->stall_s));
}

/* --- tables */

static void part(struct jl_doc *doc, const struct jl_goodput *g, const struct jl_goodput_part *p, bool strong)
{
	JL_CELLS(doc, JL_WORD(jl_msg(p->en)), JL_FIG(share_fine(doc, p->frac)), JL_ABOUT(p->time_s, JL_K_TIME),
		 JL_FIG(GPU_HOURS(p->gpu_s)),
		 JL_ABOUT(g->job->prediction.drawn_W > 0 ? p->energy_J : NAN, JL_K_ENERGY));
	if (!isnan(g->job->prediction.rent.usdps))
		jl_show_cell(doc, cost(doc, g, p->cost_usd));
	jl_doc_end_row(doc, strong);
}

/* Rented machines beyond the job's own; nothing if none. */
static void part_beside(struct jl_doc *doc, const struct jl_goodput *g, const char *name, double gpu_s, double usd)
{
	if (!(gpu_s > 0))
		return;
	JL_CELLS(doc, JL_WORD(name), JL_WORD(""), JL_WORD(""), JL_FIG(GPU_HOURS(gpu_s)), JL_WORD(""));
	if (!isnan(g->job->prediction.rent.usdps))
		jl_show_cell(doc, cost(doc, g, usd));
	jl_doc_end_row(doc, false);
}

/* All time: parts too small for a row are in the last one. */
static void parts(struct jl_doc *doc, const struct jl_goodput *g)
{
	struct jl_goodput_part other = { .en = JL_N("other") };
	const bool money = !isnan(g->job->prediction.rent.usdps);

	jl_show_table(doc, g->whole_run ? JL_("Where the time goes") : JL_("Where the time goes, in 30 days"),
		      money ? "kfffff" : "kffff",
		      heads_of(g, JL_N("cause|share|time|GPU hours|energy|USD"),
			       JL_N("cause|share|time|GPU hours|energy|million KRW"),
			       JL_N("cause|share|time|GPU hours|energy")));
	for (int i = 0; i < JL_N_CAUSE; i++) {
		const struct jl_goodput_part *p = &g->parts[i];

		if (!i || p->frac > 5e-5) {
			part(doc, g, p, i == JL_CAUSE_USEFUL);
			continue;
		}
		other.frac += p->frac;
		other.time_s += p->time_s;
		other.gpu_s += p->gpu_s;
		other.energy_J += p->energy_J;
		other.cost_usd += p->cost_usd;
	}
	if (other.frac > 0)
		part(doc, g, &other, false);
	part_beside(doc, g, JL_("idle spare nodes"), g->spare_gpu_s, g->spare_usd);
	part_beside(doc, g, JL_("rented, not used"), g->unused_gpu_s, g->unused_usd);
	if (money)
		part_beside(doc, g, JL_("rent in all"),
			    g->elapsed_s.value * g->setting.n_gpus + g->spare_gpu_s + g->unused_gpu_s, g->rent_usd);
}

/* Losses at a size as in the lead: including slow nodes and clocks. */
static struct jl_estimate useful_of(const struct jl_goodput_size *s)
{
	const double useful = s->frac[JL_CAUSE_USEFUL];

	return jl_estimate_times(
		s->effective_frac,
		useful / fmax(useful + s->frac[JL_CAUSE_STRAGGLE] + s->frac[JL_CAUSE_THROTTLE], 1e-300));
}

static void sizes(struct jl_doc *doc, const struct jl_goodput *g)
{
	jl_show_table(doc, JL_("The same at other sizes"), "fkfk",
		      JL_N("GPUs|time to a failure|checkpoint every|useful"));
	for (size_t i = 0; i < g->n_sizes; i++) {
		const struct jl_goodput_size *s = &g->sizes[i];
		const struct jl_estimate useful = useful_of(s);

		jl_show_cell(doc, jl_num_written(jl_num_count(s->n_gpus), jl_grouped_text(JL_TXT, s->n_gpus)));
		if (isfinite(s->mttf_s.value))
			jl_show_cell(doc, jl_num_wide(s->mttf_s, JL_K_TIME));
		else
			jl_doc_cell_text(doc, "–");
		JL_ROW(doc, s->own, JL_FIG(jl_num_about(s->interval_s, JL_K_TIME, seconds(doc, s->interval_s))),
		       JL_FIG(share_wide(doc, &useful)));
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
	jl_show_table(doc, JL_("What would help"),
		      !g->progresses ? "tf"
		      : money        ? "tffff"
				     : "tfff",
		      !g->progresses ? JL_N("change|useful")
				     : heads_of(g, JL_N("change|useful|saves|GPU hours|USD"),
						JL_N("change|useful|saves|GPU hours|million KRW"),
						JL_N("change|useful|saves|GPU hours")));
	for (size_t i = 0; i < g->n_helps; i++) {
		const struct jl_goodput_help *h = &g->helps[i];

		JL_CELLS(doc, JL_WORD(jl_msg(h->en)), JL_FIG(share_fine(doc, h->effective_frac)));
		if (g->progresses)
			JL_CELLS(doc, JL_ABOUT(h->saved_s, JL_K_TIME), JL_FIG(GPU_HOURS(h->saved_gpu_s)));
		if (g->progresses && money)
			jl_show_cell(doc, cost(doc, g, h->saved_usd));
		jl_doc_end_row(doc, i == 0);
	}
}

/* --- the run as a calendar */

static const struct {
	const char *en;
	size_t offset;
	enum jl_cause cause; /* drawn without scaling */
} spent_parts[] = { { JL_N("useful"), offsetof(struct jl_spent, useful), JL_CAUSE_USEFUL },
		    { JL_N("waiting for checkpoints"), offsetof(struct jl_spent, checkpoint), JL_CAUSE_CHECKPOINT },
		    { JL_N("work done again"), offsetof(struct jl_spent, lost), JL_CAUSE_LOST },
		    { JL_N("finding failures, waiting"), offsetof(struct jl_spent, down), JL_CAUSE_DETECT },
		    { JL_N("restarting, loading"), offsetof(struct jl_spent, restart), JL_CAUSE_RESTART },
		    { JL_N("planned stops"), offsetof(struct jl_spent, planned), JL_CAUSE_PLANNED } };

/* Share of one cause in the slots from `first` on. */
static double spent_share(const struct jl_calendar *cal, size_t first, size_t n, size_t part)
{
	double sum = 0, of = 0;

	for (size_t k = first; k < first + n && k < cal->n; k++) {
		sum += jl_spent_sum(&cal->slots[k]);
		of += *(const double *)(const void *)((const char *)&cal->slots[k] + spent_parts[part].offset);
	}
	return of / fmax(sum, 1e-300);
}

/* One row per cause, one mark per slot; losses are scaled to the largest. */
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
		jl_doc_format(doc, JL_("One simulated run without slow nodes; column: %s, full bar of a loss: %.2g %%"),
			      jl_units_localized(JL_TXT, cal->slot_s, JL_K_TIME, 2), 100 * most),
		"kkf", JL_N("cause|from the first day to the last|share"));
	jl_doc_sketch(doc);
	for (size_t i = 0; i < JL_LEN(spent_parts); i++) {
		const char *text = "";

		if (spent_parts[i].cause == JL_CAUSE_PLANNED && !(g->parts[JL_CAUSE_PLANNED].frac > 5e-5))
			continue;
		for (size_t k = 0; k < cal->n; k++) {
			const double share = spent_share(cal, k, 1, i) / (i ? most : 1);

			text = jl_doc_format(doc, "%s%s", text, blocks[(int)fmin(7, ceil(share * 7 - 0.07))]);
		}
		JL_ROW(doc, i == 0, JL_WORD(jl_msg(spent_parts[i].en)), JL_WORD(text),
		       JL_FIG(share_fine(doc, spent_share(cal, 0, cal->n, i))));
	}
}

/* As a chart: one bar of losses for a few slots, labelled with the useful share. */
static void calendar_picture(struct jl_doc *doc, const struct jl_goodput *g)
{
	const struct jl_calendar *cal = &g->calendar;
	const size_t n = (cal->n + A_BAR - 1) / A_BAR;
	const double bar_s = A_BAR * cal->slot_s;
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_STACKED,
					       jl_doc_format(doc,
							     JL_("The run as a calendar: what each %s loses, in one "
								 "simulated run"),
							     jl_units_localized(JL_TXT, bar_s, JL_K_TIME, 2)),
					       JL_LEN(spent_parts) - 1);

	for (size_t i = 1; chart && i < JL_LEN(spent_parts); i++) {
		struct jl_chart_point *points = jl_show_series(doc, chart, i - 1, jl_msg(spent_parts[i].en),
							       JL_ESTIMATED, n);

		for (size_t k = 0; points && k < n; k++) {
			const double from_s = (double)k * bar_s;
			const char *from = bar_s < DAY_S ? jl_units_localized(JL_TXT, from_s, JL_K_TIME, 2)
							 : day_text(doc, g, floor(from_s / DAY_S));

			points[k].y = spent_share(cal, k * A_BAR, A_BAR, i);
			points[k].label = jl_doc_format(doc, JL_("%s: %.1f %% useful"), from,
							100 * spent_share(cal, k * A_BAR, A_BAR, 0));
		}
		chart->series[i - 1].look = (int)spent_parts[i].cause;
	}
	if (!chart)
		return;
	chart->y = JL_AXIS(.label = JL_("share of the time"), .kind = JL_K_FRACTION);
	jl_doc_picture(doc, chart);
}

/* Failures by kind with what they cost; the cost by cause is in the table of parts. */
static void kinds(struct jl_doc *doc, const struct jl_goodput *g)
{
	const bool money = !isnan(g->job->prediction.rent.usdps);

	jl_show_table(doc, JL_("Failures by kind"), money ? "kffff" : "kfff",
		      heads_of(g, JL_N("kind|share|failures|GPU hours|USD"),
			       JL_N("kind|share|failures|GPU hours|million KRW"),
			       JL_N("kind|share|failures|GPU hours")));
	for (int i = 0; i < JL_N_FAILURE; i++) {
		const struct jl_goodput_kind *k = &g->kinds[i];

		JL_CELLS(doc, JL_WORD(jl_msg(k->en)), JL_FIG(share_fine(doc, k->share_frac)),
			 JL_FIG(jl_num_about(k->n_failures, JL_K_NUMBER, jl_about_text(JL_TXT, k->n_failures))),
			 JL_FIG(GPU_HOURS(k->lost_gpu_s)));
		if (money)
			jl_show_cell(doc, cost(doc, g, k->cost_usd));
		jl_doc_end_row(doc, false);
	}
}

/* Losses by cause at a size; their sum is the complement of the useful share in the table. */
static double lost_to(const struct jl_goodput_size *s, enum jl_cause cause)
{
	return s->frac[cause] * (1 - useful_of(s).value) / fmax(1 - s->frac[JL_CAUSE_USEFUL], 1e-300);
}

/* A bar of losses per size; causes that are always small are merged. */
static void picture(struct jl_doc *doc, const struct jl_goodput *g)
{
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_STACKED, JL_("What is lost, by number of GPUs"),
					       JL_N_CAUSE + 1);
	double other[JL_GOODPUT_SIZES_MAX] = { 0 }, most_other = 0;
	size_t n = 0;

	if (!chart)
		return;
	chart->y = JL_AXIS(.label = JL_("share of the time"), .kind = JL_K_FRACTION);
	for (enum jl_cause i = JL_CAUSE_CHECKPOINT; i <= JL_N_CAUSE; i++) {
		const bool rest = i == JL_N_CAUSE;
		double most = 0;

		for (size_t k = 0; k < g->n_sizes; k++)
			most = fmax(most, rest ? 0 : lost_to(&g->sizes[k], i));
		for (size_t k = 0; k < g->n_sizes && !rest && most < 0.001; k++)
			most_other = fmax(most_other, other[k] += lost_to(&g->sizes[k], i));
		if (rest ? !(most_other > 0) : most < 0.001)
			continue;
		struct jl_chart_point *points = jl_show_series(
			doc, chart, n, rest ? JL_("other") : jl_msg(jl_causes[i].en), JL_ESTIMATED, g->n_sizes);

		chart->series[n++].look = (int)i;

		for (size_t k = 0; points && k < g->n_sizes; k++) {
			points[k].y = rest ? other[k] : lost_to(&g->sizes[k], i);
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
	JL_SENTENCE(doc,
		    JL_("included, with checkpoints and restarts, without rent of spares: |1 of the time is useful; |2 "
			"without failures ('jeoul goodput')"),
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
		JL_WIDE(g->elapsed_s, JL_K_TIME), JL_NAMED(end_text(doc, g, g->elapsed_s.value)),
		JL_FIG(share_wide(doc, &g->goodput_frac)));
}

void jl_show_goodput_row(struct jl_doc *doc, const struct jl_goodput *g, bool first)
{
	const bool ends = g->progresses;

	if (first)
		jl_show_table(doc, JL_("The run on each system"), "tkkkft",
			      heads_of(g, JL_N("system|useful|takes|until|USD, all rented|largest saving"),
				       JL_N("system|useful|takes|until|million KRW, all rented|largest saving"),
				       JL_N("system|useful|takes|until|GPU hours|largest saving")));
	JL_CELLS(doc, JL_NAMED(g->job->how.machine.sys.text), JL_FIG(share_wide(doc, &g->goodput_frac)));
	if (ends)
		JL_CELLS(doc, JL_WIDE(g->elapsed_s, JL_K_TIME), JL_NAMED(end_text(doc, g, g->elapsed_s.value)),
			 JL_FIG(isnan(g->rent_usd) ? GPU_HOURS(g->elapsed_s.value * g->setting.n_gpus)
						   : cost(doc, g, g->rent_usd)));
	else
		JL_CELLS(doc, JL_WORD(JL_("never")), JL_WORD("–"), JL_WORD("–"));
	JL_ROW(doc, first, JL_WORD(g->n_helps ? jl_msg(g->helps[0].en) : "–"));
}

void jl_show_goodput(struct jl_doc *doc, const struct jl_goodput *g, const char *const *options)
{
	/* smaller parts are in the table only */
	const bool loses = g->parts[JL_CAUSE_USEFUL].frac < 0.995;

	lead(doc, g);
	seen(doc, g);
	failures(doc, g);
	checkpoints(doc, g);
	if (g->progresses && g->job->prediction.room != JL_ROOM_NONE) {
		jl_show_campus(doc, g, false);
		parts(doc, g);
		picture(doc, g);
		if (g->calendar.n && loses) {
			calendar(doc, g);
			calendar_picture(doc, g);
		}
		if (loses)
			kinds(doc, g);
	}
	if (g->job->prediction.room != JL_ROOM_NONE)
		helps(doc, g);
	if (g->progresses && g->job->prediction.room != JL_ROOM_NONE)
		jl_show_campus(doc, g, true);
	sizes(doc, g);
	jl_show_note(doc, NULL, JL_ESTIMATED,
		     JL_("○ estimated; 80 %% intervals. Useful: %.1f %% by simulation, %.1f %% by the closed form. "
			 "Published rates: jeoul catalog list reliability"),
		     100 * g->simulated_frac, 100 * g->point.effective_frac);
	if (in_won(g) && !isnan(g->job->prediction.rent.usdps))
		jl_show_note(doc, NULL, JL_LISTED, "%s",
			     jl_show_fx(doc, g->ask.krw_per_usd, g->ask.fx_date, g->ask.today));
	if (g->rates.site)
		jl_show_note(doc, NULL, JL_PUBLISHED, JL_("failure rate of %s"), g->rates.site);
	jl_show_assumed(doc, &g->notes, options);
}
