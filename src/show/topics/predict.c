#include "topics/predict.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "cost/money.h"
#include "predict/kind.h"
#include "predict/narrow.h"

/* failure losses below this share are included but not listed */
#define TOLD_USEFUL_FRAC 0.995

/* The answer in a sentence. */
static void answer(struct jl_doc *doc, const struct jl_show_predicted *in)
{
	const struct jl_predicted *x = in->predicted;
	const struct jl_prediction *p = &x->p;
	const struct jl_bound most = jl_bound_of(&p->step);

	if (p->room == JL_ROOM_NONE) {
		jl_show_room(doc, x);
		return;
	}
	jl_doc_break(doc);
	JL_SENTENCE(doc,
		    !p->whole_run              ? JL_("A step takes |3, |6; |7 is |5 (|4).")
		    : isnan(p->cost_usd.value) ? JL_("The whole run takes |1; a step |3, |7 |5 (|4).")
		    : x->how.n_gpus > p->rent.most
			    ? JL_("The whole run takes |1 and |2 at list price; a step |3, |7 |5 (|4).")
			    : JL_("The whole run takes |1 and |2 of rent; a step |3, |7 |5 (|4)."),
		    JL_WIDE(in->elapsed.time_s, JL_K_TIME), JL_WIDE(in->elapsed.cost_usd, JL_K_USD),
		    JL_WIDE(p->step_s, JL_K_TIME), JL_FIG(jl_show_share(doc, most.frac)), JL_WORD(jl_msg(most.en)),
		    JL_FIG(jl_num_digits(jl_num_estimate(p->samples_per_s, JL_K_NUMBER, "samples/s"), 2)),
		    JL_WORD(most.frac > 0.5 ? JL_("most of it") : JL_("the largest part")));
}

/* Inputs that would narrow the interval. */
static void narrower(struct jl_doc *doc, const struct jl_predicted *x)
{
	struct jl_narrow found[JL_NARROW_MAX];

	jl_show_narrow(doc, &x->p.step_s, found, jl_narrow_predicted(found, &x->p, &x->how));
}

/* --- how long, where it goes */

/* Units of catalog networks in the user's language; others as written. */
static const char *unit_text(const char *unit)
{
	static const char *const units[] = { JL_N("tokens"),         JL_N("images"), JL_N("mel frames"),
					     JL_N("output samples"), JL_N("pairs"),  JL_N("samples") };

	for (size_t i = 0; i < JL_LEN(units); i++)
		if (!unit || strcmp(unit, units[i]) == 0)
			return jl_msg(units[i]);
	return unit;
}

/* Secondary rates: tokens or mel frames a second, per GPU, and MFU. */
static void rate(struct jl_doc *doc, const struct jl_predicted *x)
{
	const double all = x->p.unit ? x->p.units_per_s.value : x->p.tokens_per_s.value;
	const char *unit = unit_text(x->p.unit);

	jl_show_entry(doc, "", JL_ESTIMATED, JL_("%s %.*s/s, %s a %s · MFU %s %%"), jl_about_text(JL_TXT, all),
		      (int)strcspn(unit, "("), unit, jl_about_text(JL_TXT, all / x->how.n_gpus),
		      jl_show_device(&x->how), jl_about_text(JL_TXT, 100 * x->p.mfu_frac));
}

static size_t largest_left(const struct jl_step_cost *step, size_t done)
{
	size_t best = JL_N_PART;

	for (size_t i = 0; i < JL_N_PART; i++)
		if (!(done & ((size_t)1 << i)) && (best == JL_N_PART || jl_part_s(step, i) > jl_part_s(step, best)))
			best = i;
	return best;
}

static void parts(struct jl_doc *doc, const struct jl_step_cost *step)
{
	static const struct jl_doc_column columns[] = { { .head = "" },
							{ .head = "", .right = true },
							{ .head = "", .keep = true },
							{ .head = "", .keep = true } };
	size_t done = 0;

	jl_doc_entry_table(doc, JL_("Time"), columns, 4);
	for (size_t n = 0; n < JL_N_PART; n++) {
		const size_t best = largest_left(step, done);
		const double part_s = jl_part_s(step, best), frac = part_s / step->step_s;

		done |= (size_t)1 << best;
		if (frac < 0.005)
			break;
		jl_doc_cell(doc, JL_MARK_NONE);
		jl_doc_bar(doc, frac, 20);
		JL_ROW(doc, false, JL_FIG(jl_show_share(doc, frac)), JL_WORD(jl_msg(jl_parts[best].en)),
		       JL_FIG(jl_num_about(part_s, JL_K_TIME, jl_units_localized(JL_TXT, part_s, JL_K_TIME, 2))));
	}
}

static void times(struct jl_doc *doc, const struct jl_predicted *x)
{
	const struct jl_estimate *rate_e = &x->p.samples_per_s;

	jl_doc_entry(doc, JL_("Step"));
	jl_doc_strong(doc, jl_estimate_text(JL_TXT, &x->p.step_s, JL_K_TIME));
	jl_doc_text(doc, "   ");
	jl_show_sourced(doc, JL_ESTIMATED, JL_("%s samples/s (%s–%s)"), jl_about_text(JL_TXT, rate_e->value),
			jl_about_text(JL_TXT, rate_e->lo), jl_about_text(JL_TXT, rate_e->hi));
	rate(doc, x);
	parts(doc, &x->p.step);
}

/* --- the run */

const char *jl_show_rent(struct jl_doc *doc, const struct jl_rent *rent, int n_gpus, long today)
{
	const char *text = jl_doc_format(doc, "%s, %s", rent->provider, jl_dated_text(JL_TXT, rent->date, today));

	if (rent->n_gpu > n_gpus)
		text = jl_doc_format(doc, JL_("%s: a machine of %.0f GPUs, paid in full"), text, rent->n_gpu);
	if (rent->apart)
		text = jl_doc_format(doc, JL_("%s; no network between such hosts is listed: ask the provider first"),
				     text);
	if (rent->single_usdps > 0)
		text = jl_doc_format(
			doc, JL_("%s; the cheapest with a network between hosts: a single host rents from %.2f USD/h"),
			text, rent->single_usdps * 3600);
	if (n_gpus <= rent->most)
		return text;
	return jl_doc_format(doc, JL_("%s; list price × %s GPUs, not an actual offer: the largest one listed has %.0f"),
			     text, jl_grouped(JL_TXT, n_gpus), rent->most);
}

static void run(struct jl_doc *doc, const struct jl_show_predicted *in, long today)
{
	const struct jl_predicted *x = in->predicted;
	const struct jl_prediction *p = &x->p;
	const char *rent = jl_show_rent(doc, &p->rent, x->how.n_gpus, today);

	if (p->whole_run) {
		jl_show_entry(doc, JL_("Epoch"), JL_ESTIMATED, JL_("%s for %s step{/s}"),
			      jl_estimate_text(JL_TXT, &p->epoch_s, JL_K_TIME),
			      jl_grouped_text(JL_TXT, p->steps_per_epoch));
		if (x->how.epochs > 1)
			jl_show_entry(doc, JL_("Run"), JL_ESTIMATED, JL_("%s for %.0f epochs"),
				      jl_estimate_text(JL_TXT, &p->run_s, JL_K_TIME), x->how.epochs);
	}
	if (!isnan(p->power_W))
		jl_show_entry(doc, JL_("Energy"), JL_ESTIMATED, JL_("%s %s, at about %s%s"),
			      jl_estimate_text(JL_TXT, &p->energy_J, JL_K_ENERGY),
			      p->whole_run ? JL_("in all") : JL_("a step"),
			      jl_units_localized(JL_TXT, p->drawn_W, JL_K_POWER, 2), JL_(" with the host"));
	if (!isnan(p->rent.usdps) && p->whole_run)
		jl_show_entry(doc, JL_("Money"), JL_ESTIMATED, JL_("%s; %.2f USD/h a GPU (%s)"),
			      jl_estimate_text(JL_TXT, &in->elapsed.cost_usd, JL_K_USD), p->rent.usdps * 3600, rent);
	else if (!isnan(p->rent.usdps))
		jl_show_entry(doc, JL_("Money"), JL_LISTED, JL_("%s/h to rent %s GPU{/s} (%s)"),
			      jl_money_text(JL_TXT, jl_money_from(p->rent.usdps * 3600 * x->how.n_gpus, JL_USD)),
			      jl_grouped(JL_TXT, x->how.n_gpus), rent);
}

/* --- why */

static const char *exchange_path(const struct jl_case *c)
{
	const struct jl_sys *sys = &c->machine.sys;

	if (sys->n_nodes > 1 && sys->net)
		return sys->net->id;
	if (c->machine.fabric.intra_kind == JL_INTRA_PCIE_HOST)
		return JL_("PCIe and host memory (no P2P)");
	return sys->join ? sys->join->id : "?";
}

static void bound_by_compute(struct jl_doc *doc, const struct jl_predicted *x)
{
	static const char *const kinds[] = { JL_N("matrix products take"), JL_N("attention takes"),
					     JL_N("memory bandwidth (norms, activations, loss) takes") };
	const double *frac = x->p.kind_frac;
	size_t best = 0;

	for (size_t i = 1; i < 3; i++)
		if (frac[i] > frac[best])
			best = i;
	jl_show_entry(doc, JL_("Bound by"), JL_ESTIMATED, JL_("compute: %s %.0f %% of it"),
		      best == 1 && !x->how.subject.kind->has_tokens ? JL_("convolutions take") : jl_msg(kinds[best]),
		      100 * frac[best]);
}

/* The input pipeline: its rate, and the rate that the GPUs could take. */
static void bound_by_input(struct jl_doc *doc, const struct jl_predicted *x)
{
	const struct jl_case *c = &x->how;
	const double own_s = x->p.step.step_s - x->p.step.input_s;
	char brought[JL_UNITS_TEXT_MAX], taken[JL_UNITS_TEXT_MAX];

	jl_about_text(brought, c->global_batch / x->p.input.input_s);
	jl_about_text(taken, c->global_batch / own_s);
	if (x->p.input.storage_s > x->p.input.threads_s)
		jl_show_entry(doc, JL_("Bound by"), JL_ESTIMATED,
			      JL_("input: storage of %s a host brings %s samples/s; the %ss could take %s"),
			      jl_units_localized(JL_TXT, c->input.storage_Bps, JL_K_BYTE_RATE, 3), brought,
			      jl_show_device(c), taken);
	else
		jl_show_entry(doc, JL_("Bound by"), JL_ESTIMATED,
			      JL_("input: %.0f CPU threads a host prepare %s samples/s; the %ss could take %s"),
			      c->input.n_threads, brought, jl_show_device(c), taken);
}

/* Replicas that wait for each other so long that a single one is faster. */
static void alone(struct jl_doc *doc, const struct jl_predicted *x)
{
	const double alone_per_s = jl_alone_samples_per_s(&x->how);
	char rate[JL_UNITS_TEXT_MAX];

	if (!(alone_per_s > x->how.global_batch / x->p.step.step_s))
		return;
	jl_about_text(rate, alone_per_s);
	jl_show_entry(doc, "", JL_ESTIMATED, JL_("one %s alone would do more: about %s samples/s"),
		      jl_show_device(&x->how), rate);
}

static void bound(struct jl_doc *doc, const struct jl_predicted *x)
{
	const struct jl_bound most = jl_bound_of(&x->p.step);
	const char *key = jl_parts[most.part].key;

	if (x->p.step.input_s > 0) /* the step ends when its input arrives, however short the wait */
		bound_by_input(doc, x);
	else if (strcmp(key, "compute") == 0)
		bound_by_compute(doc, x);
	else if (most.en == jl_parts[most.part].en && strcmp(key, "data_parallel") == 0) {
		jl_show_entry(doc, JL_("Bound by"), JL_ESTIMATED, JL_("gradient exchange: %s a step over %s"),
			      jl_units_localized(JL_TXT, x->p.reduced_B, JL_K_BYTES, 3), exchange_path(&x->how));
		alone(doc, x);
	} else if (strcmp(key, "host_launch") == 0)
		JL_ENTRY(doc, JL_("Bound by"), JL_ESTIMATED,
			 "the host: it launches kernels more slowly than the GPU runs them");
	else
		jl_show_entry(doc, JL_("Bound by"), JL_ESTIMATED, "%s", jl_msg(most.en));
}

/* --- what would help */

static void gain_text(char out[160], const struct jl_advice *a)
{
	char after[JL_UNITS_TEXT_MAX];

	jl_about_text(after, a->samples_per_s_after);
	if (a->makes_it_fit)
		jl_format(out, 160, a->tight ? JL_("barely fits; %s samples/s") : JL_("fits; %s samples/s"), after);
	else if (!isnan(a->alone_samples_per_s))
		jl_format(out, 160, JL_("%d GPUs: %.2gx → %.2gx"), a->n_gpus,
			  a->samples_per_s_before / a->alone_samples_per_s,
			  a->samples_per_s_after / a->alone_samples_per_s);
	else
		jl_format(out, 160, JL_("%s → %s samples/s"), jl_about_text(JL_TXT, a->samples_per_s_before), after);
}

static void advice(struct jl_doc *doc, const struct jl_predicted *x)
{
	size_t room = 35; /* column of the gains */

	for (size_t i = 0; i < x->n_advice; i++) {
		const size_t width = jl_utf8_width(x->advice[i].text);

		room = width > room ? width : room;
	}
	for (size_t i = 0; i < x->n_advice; i++) {
		const char *text = x->advice[i].text;
		char gain[160];

		gain_text(gain, &x->advice[i]);
		jl_show_entry(doc, i ? "" : JL_("Try"), JL_ESTIMATED, "%zu  %s%*s  %s", i + 1, text,
			      (int)(room - jl_utf8_width(text)), "", gain);
	}
}

static void checked(struct jl_doc *doc)
{
	JL_NOTE(doc, NULL, JL_ESTIMATED, "○ estimated; 80 % intervals, checked on published runs (jeoul validate).");
}

void jl_show_confidence(struct jl_doc *doc, const struct jl_notes *notes)
{
	static const char *const options[] = { "precision", "seq", "framework", "flash",
					       NULL }; /* shared by all run-based commands */

	checked(doc);
	jl_show_assumed(doc, notes, options);
}

/* The default layout is chosen among few; 'plan' searches all. */
static void plan_gain(struct jl_doc *doc, const struct jl_plan_hint *hint)
{
	char how[JL_CUT_TEXT_MAX];

	if (hint && hint->times >= 1.05)
		jl_show_entry(doc, JL_("Plan"), JL_ESTIMATED, JL_("'jeoul plan' finds %.2gx as fast, %s a step: %s"),
			      hint->times, jl_units_localized(JL_TXT, hint->step_s, JL_K_TIME, 2),
			      jl_show_cut(how, &hint->how.plan, hint->how.shard.micro_batch));
}

void jl_show_predicted(struct jl_doc *doc, const struct jl_show_predicted *in, long today)
{
	const struct jl_predicted *x = in->predicted;

	jl_show_case(doc, &x->how);
	answer(doc, in);
	if (in->charts) {
		jl_show_step_charts(doc, &x->how, &x->p.step);
		jl_show_memory_chart(doc, &(struct jl_named_memory){ x->how.machine.sys.text, &x->p }, 1);
		jl_show_memory_over(doc, &x->how, &x->p);
		if (in->kernels)
			jl_show_roofline(doc, &x->how, in->kernels);
		if (x->how.n_gpus > 1)
			jl_show_topology(doc, JL_("How the devices are joined, links as wide as their rate"),
					 &x->how.machine.sys, &x->how.machine.alone);
		return;
	}
	if (x->p.room == JL_ROOM_NONE) { /* no time and cost for a run that does not fit */
		jl_show_memory(doc, x);
		advice(doc, x);
	} else {
		times(doc, x);
		jl_show_memory(doc, x);
		run(doc, in, today);
		if (in->goodput)
			jl_show_whole_run(doc, in->goodput);
		else if (in->elapsed.useful_frac < TOLD_USEFUL_FRAC)
			jl_show_elapsed(doc, &in->elapsed, &x->p);
		jl_doc_gap(doc);
		bound(doc, x);
		advice(doc, x);
		plan_gain(doc, in->plan);
		narrower(doc, x);
		jl_show_program(doc, x);
	}
	jl_show_confidence(doc, &x->how.notes);
	if (in->near)
		jl_show_near(doc, in);
}

/* --- a series */

/* The largest part of a step; bar and text show the same share. */
static void where_cell(struct jl_doc *doc, const struct jl_step_cost *step)
{
	const struct jl_bound most = jl_bound_of(step);

	jl_doc_cell(doc, JL_MARK_NONE);
	jl_doc_bar(doc, most.frac, 10);
	jl_show_sourced(doc, JL_ESTIMATED, " %.0f %% %s", 100 * most.frac, jl_msg(most.en));
}

static void sweep_table(struct jl_doc *doc, const struct jl_sweep *sweep)
{
	jl_show_table(doc, NULL, "ffffft", JL_N("GPUs|samples/s|speed-up|eff.|step|where the time goes"));
	for (size_t i = 0; i < sweep->n; i++) {
		const struct jl_predicted *x = &sweep->rows[i];
		struct jl_num times = jl_num_times(x->speedup.value);

		times.n_decimals = 2;
		if (isnan(x->speedup.value)) { /* does not fit */
			const double need_B = x->p.memory.total_B;
			const char *said = jl_doc_format(doc, JL_("does not fit: %s"), jl_memory_text(JL_TXT, need_B));

			JL_ROW(doc, false, JL_COUNT(x->how.n_gpus), JL_WORD("–"), JL_WORD("–"), JL_WORD("–"),
			       JL_WORD("–"), JL_FIG(jl_num_about(need_B, JL_K_BYTES, said)));
			continue;
		}
		const struct jl_slot share = JL_FIG(jl_show_share(doc, x->efficiency_frac)), none = JL_WORD("–");

		JL_CELLS(doc, JL_COUNT(x->how.n_gpus),
			 JL_FIG(jl_num_written(jl_num_estimate(x->p.samples_per_s, JL_K_NUMBER, NULL),
					       jl_about_range_text(JL_TXT, &x->p.samples_per_s))),
			 JL_FIG(times), isnan(x->efficiency_frac) ? none : share,
			 JL_FIG(jl_num_written(jl_num_estimate(x->p.step_s, JL_K_TIME, NULL),
					       jl_units_localized(JL_TXT, x->p.step_s.value, JL_K_TIME, 2))));
		where_cell(doc, &x->p.step);
		jl_doc_end_row(doc, false);
	}
}

/* Reason for an efficiency above 1. */
void jl_show_above(struct jl_doc *doc, const struct jl_scaled_gain *gain)
{
	const struct jl_part *part = &jl_parts[gain->part];
	const bool update = strcmp(part->key, "optimizer") == 0;
	const char *less = jl_units_localized(JL_TXT, gain->less_s, JL_K_TIME, 2);

	if (update)
		jl_show_sourced(
			doc, JL_ESTIMATED,
			JL_("Above 100 %%: the optimizer takes %s less, since each GPU updates a smaller share."),
			less);
	else
		jl_show_sourced(doc, JL_ESTIMATED, JL_("Above 100 %%: %s takes %s less than linear scaling explains."),
				jl_msg(part->en), less);
}

/* All rows use one recipe; rows that cannot use it are listed with their own and the reason. */
static void settings(struct jl_doc *doc, const struct jl_sweep *sweep)
{
	const char *label = JL_("Settings");
	bool above = false;

	if (!isnan(sweep->alone_per_s.value)) {
		jl_doc_entry(doc, JL_("One GPU"));
		JL_SENTENCE(doc,
			    JL_("|1 with 'predict' defaults (32-bit weights); the recipe above uses 16-bit weights"),
			    JL_FIG(jl_num_digits(jl_num_estimate(sweep->alone_per_s, JL_K_NUMBER, "samples/s"), 2)));
	}
	for (size_t i = 0; i < sweep->n; i++) {
		const struct jl_predicted *x = &sweep->rows[i];
		char how[JL_CUT_TEXT_MAX];

		if (!sweep->changes || isnan(x->speedup.value) || (x->recipe == JL_RECIPE_SAME && x != sweep->base))
			continue;
		jl_show_entry(doc, label, JL_ORIGIN_NONE,
			      x->recipe == JL_RECIPE_SAME ? JL_("%d GPU{/s}: %s")
			      : x->recipe == JL_RECIPE_INDIVISIBLE
				      ? JL_("%d GPU{/s}: %s (the other rows' layout does not divide)")
				      : JL_("%d GPU{/s}: %s (the other rows' settings do not fit)"),
			      x->how.n_gpus, jl_show_cut(how, &x->how.plan, x->how.shard.micro_batch));
		label = "";
	}
	for (size_t i = 0; i < sweep->n && !above; i++) {
		const struct jl_predicted *x = &sweep->rows[sweep->n - 1 - i];

		above = x->efficiency_frac > JL_EFFICIENCY_PLAIN;
		if (above) {
			jl_doc_entry(doc, JL_("Why"));
			jl_show_above(doc, &x->above);
		}
	}
}

/* Summary of a sweep; a slowdown is stated as such, not as "0.58x as fast". */
static const char *sweep_sentence(const struct jl_sweep *sweep)
{
	const bool slower = sweep->last->speedup.value < 1;

	if (sweep->last == sweep->base && sweep->n > 1)
		return sweep->changes ? JL_("Only |1 GPUs run this recipe: |5, and |6 of each step is |7.")
				      : JL_("It fits only on |1 GPUs: |5, and |6 of each step is |7.");
	if (sweep->last != sweep->base && sweep->last->recipe != JL_RECIPE_SAME)
		return slower ? JL_("|1 GPUs run another recipe than |3 and are |2 slower: |5, and |6 of each step "
				    "is |7.")
			      : JL_("|1 GPUs run another recipe than |3 and are |2 as fast: |5, and |6 of each step "
				    "is |7.");
	return slower ? JL_("|1 GPUs are |2 slower than |3 with the same recipe (efficiency |4): |5, and |6 of each "
			    "step is |7.")
		      : JL_("|1 GPUs are |2 as fast as |3 with the same recipe (efficiency |4): |5, and |6 of each "
			    "step is |7.");
}

/* The answer in a sentence. */
static void sweep_answer(struct jl_doc *doc, const struct jl_sweep *sweep)
{
	const struct jl_predicted *last = sweep->last;
	const struct jl_bound most = jl_bound_of(&last->p.step);

	JL_SENTENCE(doc, sweep_sentence(sweep), JL_COUNT(last->how.n_gpus),
		    JL_FIG(jl_num_digits(
			    jl_num_times(last->speedup.value < 1 ? 1 / last->speedup.value : last->speedup.value), 2)),
		    JL_COUNT(sweep->base->how.n_gpus), JL_FIG(jl_show_share(doc, last->efficiency_frac)),
		    JL_FIG(jl_num_ranged(
			    jl_num_digits(jl_num_estimate(last->p.samples_per_s, JL_K_NUMBER, "samples/s"), 2))),
		    JL_FIG(jl_show_share(doc, most.frac)), JL_WORD(jl_msg(most.en)));
}

void jl_show_sweep(struct jl_doc *doc, const struct jl_sweep *sweep)
{
	jl_show_case(doc, &sweep->last->how);
	jl_doc_break(doc);
	sweep_answer(doc, sweep);
	sweep_table(doc, sweep);
	settings(doc, sweep);
	bound(doc, sweep->last);
	jl_show_memory(doc, sweep->last);
	advice(doc, sweep->last);
	narrower(doc, sweep->last);
	jl_show_confidence(doc, &sweep->last->how.notes);
}
