#include "check/answer.h"
#include "topics/show.h"

#include <math.h>
#include <string.h>

#include "bench/noise.h"

#define ROWS_SHOWN 40

/* Displayed form: the judged figure in the unit of the question; latency-bound collectives as time. */
struct shown {
	const char *metric;
	double value;
	struct jl_expect expect;
	bool is_time;
	double scale; /* busbw / algbw if busbw was given */
};

static struct shown shown_of(const struct jl_judged *j)
{
	const double size_B = j->coll.c.size_B;
	const char *asked = jl_record_text(j->record, JL_PARAM_ASKED);
	struct jl_expect e = j->expect;

	if (j->is_coll && asked && strcmp(asked, "busbw") == 0) {
		const double scale = j->coll.c.busbw_factor;

		e.lo *= scale;
		e.value *= scale;
		e.hi *= scale;
		e.bound *= scale;
		return (struct shown){
			.metric = "busbw_Bps", .value = j->figure.value * scale, .expect = e, .scale = scale
		};
	}
	if (!j->is_coll || !(j->coll.by_time || (asked && strcmp(asked, "time") == 0)) || j->before ||
	    j->verdict == JL_VERDICT_IMPOSSIBLE)
		return (struct shown){ .metric = j->metric, .value = j->figure.value, .expect = e, .scale = 1 };
	return (struct shown){ .metric = "time_s",
			       .value = size_B / j->figure.value,
			       .expect = { .lo = size_B / j->expect.hi,
					   .value = size_B / j->expect.value,
					   .hi = size_B / j->expect.lo,
					   .bound = NAN },
			       .is_time = true };
}

static const char *value_text(struct jl_doc *doc, const char *metric, double value)
{
	char text[JL_RECORD_WORDS_MAX];

	(void)jl_record_value_text(text, metric, value);
	jl_units_localize(text);
	return jl_doc_format(doc, "%s", text);
}

static struct jl_num value_num(struct jl_doc *doc, const char *metric, double value, enum jl_origin origin)
{
	return jl_num_written(jl_num_plain(value, JL_K_NUMBER, NULL, origin, NULL), value_text(doc, metric, value));
}

/* Text of a rate's bound in the unit of the figure shown. */
static const char *limit_text(struct jl_doc *doc, const struct jl_judged *j, const struct shown *s, double rate)
{
	return value_text(doc, s->metric, s->is_time ? j->coll.c.size_B / rate : rate * s->scale);
}

/* "112–202 GB/s", in the unit of the upper end; "" without an expectation. */
static const char *range_text(struct jl_doc *doc, const struct shown *s)
{
	char lo[JL_RECORD_WORDS_MAX], hi[JL_RECORD_WORDS_MAX];
	const char *unit;

	if (isnan(s->expect.lo) || isnan(s->expect.hi))
		return "";
	(void)jl_record_value_text(hi, s->metric, s->expect.hi);
	(void)jl_record_value_text(lo, s->metric, s->expect.lo);
	unit = strchr(hi, ' ');
	if (unit && strchr(lo, ' ') && strcmp(strchr(lo, ' '), unit) == 0)
		*strchr(lo, ' ') = '\0';
	jl_units_localize(lo);
	jl_units_localize(hi);
	return jl_doc_format(doc, "%s–%s", lo, hi);
}

static enum jl_mark verdict_mark(enum jl_verdict verdict)
{
	static const enum jl_mark marks[] = {
		[JL_VERDICT_FIRST] = JL_MARK_UNKNOWN, [JL_VERDICT_UNJUDGED] = JL_MARK_UNKNOWN,
		[JL_VERDICT_NOISY] = JL_MARK_UNKNOWN, [JL_VERDICT_GOOD] = JL_MARK_GOOD,
		[JL_VERDICT_NORMAL] = JL_MARK_GOOD,   [JL_VERDICT_LOW] = JL_MARK_WARN,
		[JL_VERDICT_HIGH] = JL_MARK_WARN,     [JL_VERDICT_IMPOSSIBLE] = JL_MARK_BAD,
		[JL_VERDICT_WRONG] = JL_MARK_BAD
	};

	return marks[verdict];
}

/* --- one in full */

/* Percent of the speed. */
static double slow_down_from(const struct jl_expect *e)
{
	return ceil(100 * (1 - 1 / e->notice));
}

void jl_show_power(struct jl_doc *doc, const struct jl_expect *e)
{
	if (isnan(e->lo) || e->unproven || !(e->notice > 1))
		jl_show_entry(doc, JL_("Detects"), JL_ORIGIN_NONE, "%s",
			      isnan(e->bound) ? JL_("no slow-down yet: nothing to compare with")
					      : JL_("no slow-down yet: only figures above the bound are judged"));
	else
		jl_show_entry(doc, JL_("Detects"), JL_ESTIMATED,
			      jl_expect_can_judge(e)
				      ? JL_("would notice a slow-down of %.0f %% or more (95 of 100 times, 1 false "
					    "alarm in 1,000)")
				      : JL_("cannot notice a slow-down of less than %.0f %% (95 of 100 times, 1 false "
					    "alarm in 1,000)"),
			      slow_down_from(e));
}

/* Position relative to the middle of the range: rates are lower or higher, times longer or shorter. */
static void place(struct jl_doc *doc, const struct jl_judged *j, const struct shown *s)
{
	static const char *const words[2][2] = { { JL_N("%s: expected %s, %.0f %% below its middle"),
						   JL_N("%s: expected %s, %.0f %% above its middle") },
						 { JL_N("%s: expected %s, %.0f %% shorter than its middle"),
						   JL_N("%s: expected %s, %.0f %% longer than its middle") } };
	const double off = 100 * (s->value / s->expect.value - 1);
	const char *word = jl_verdict_word(j->verdict), *range = range_text(doc, s);
	const bool under = j->figure.value < j->expect.lo;

	if (jl_verdict_at_edge(&j->figure, &j->expect) &&
	    (under ? j->figure.value >= jl_judged_turn(j, true) : j->figure.value <= jl_judged_turn(j, false)))
		jl_show_entry(doc, JL_("Verdict"), JL_ESTIMATED,
			      under == s->is_time ? JL_("%s, at the edge: expected %s, %s above %s")
						  : JL_("%s, at the edge: expected %s, %s below %s"),
			      word, range, jl_verdict_word(under ? JL_VERDICT_LOW : JL_VERDICT_GOOD),
			      limit_text(doc, j, s, jl_judged_turn(j, under)));
	else if (jl_verdict_at_edge(&j->figure, &j->expect))
		jl_show_entry(doc, JL_("Verdict"), JL_ESTIMATED,
			      JL_("%s, at the edge: expected %s, and its own interval reaches into it"), word, range);
	else if (fabs(off) < 0.5)
		jl_show_entry(doc, JL_("Verdict"), JL_ESTIMATED, JL_("%s: expected %s, at its middle"), word, range);
	else
		jl_show_entry(doc, JL_("Verdict"), JL_ESTIMATED, jl_msg(words[s->is_time][off > 0]), word, range,
			      fabs(off));
}

static void verdict(struct jl_doc *doc, const struct jl_judged *j, const struct shown *s)
{
	const char *word = jl_verdict_word(j->verdict);

	if (j->before)
		jl_show_entry(doc, JL_("Verdict"), JL_MEASURED, JL_("%s: %s compared with %s before"), word,
			      jl_doc_format(doc, "%+.1f %%", 100 * (j->change.ratio - 1)),
			      value_text(doc, j->metric, j->expect.value));
	else if (j->verdict == JL_VERDICT_IMPOSSIBLE)
		jl_show_entry(doc, JL_("Verdict"), JL_LISTED, JL_("%s: above the bound of %s"), word,
			      limit_text(doc, j, s, j->expect.bound));
	else if (j->verdict == JL_VERDICT_UNJUDGED)
		jl_show_entry(doc, JL_("Verdict"), JL_ORIGIN_NONE, "%s: %s", word,
			      j->expect.unproven
				      ? JL_("the expected range is an estimate that no measurement has confirmed")
				      : jl_doc_format(doc, JL_("cannot notice a slow-down of less than %.0f %%"),
						      slow_down_from(&j->expect)));
	else if (isnan(s->expect.lo) || isnan(s->expect.hi))
		jl_show_entry(doc, JL_("Verdict"), JL_ORIGIN_NONE, "%s%s", word,
			      j->verdict == JL_VERDICT_FIRST ? JL_("; kept as the first") : "");
	else
		place(doc, j, s);
	if (!doc->failed)
		doc->last->mark = verdict_mark(j->verdict);
	if (!isnan(j->expect.lo) && !j->before)
		jl_doc_ruler(doc, &(struct jl_ruler){ .value = value_num(doc, s->metric, s->value, JL_MEASURED),
						      .lo = s->expect.lo,
						      .middle = s->expect.value,
						      .hi = s->expect.hi,
						      .bound = value_num(doc, s->metric, s->expect.bound, JL_LISTED) });
	if (j->bound_en && !s->is_time && s->scale != 1)
		jl_show_entry(doc, JL_("Bound"), JL_LISTED, JL_("busbw %s = %.4g x algbw %s: %s"),
			      limit_text(doc, j, s, j->expect.bound), s->scale,
			      value_text(doc, j->metric, j->expect.bound), j->bound_text);
	else if (j->bound_en && !s->is_time)
		jl_show_entry(doc, JL_("Bound"), JL_LISTED, "%s: %s", limit_text(doc, j, s, j->expect.bound),
			      j->bound_text);
}

static void why_collective(struct jl_doc *doc, const struct jl_judged *j)
{
	const struct jl_collective_case *c = &j->coll.c;
	const bool reduce = c->kind == JL_ALLREDUCE && !c->in_network;

	if (j->verdict == JL_VERDICT_IMPOSSIBLE && j->coll.by_time)
		return; /* the bound explains it */
	if (j->verdict == JL_VERDICT_IMPOSSIBLE)
		jl_show_entry(doc, JL_("Why"), JL_ORIGIN_NONE, "%s",
			      reduce && c->n_nodes > 1
				      ? JL_("every byte has to leave and to enter each host nearly twice; no algorithm "
					    "without reduction in the network can beat this bound")
				      : JL_("no algorithm moves data faster than the listed rate of the links"));
	else if (j->coll.by_time)
		jl_show_entry(doc, JL_("Why"), JL_ESTIMATED,
			      JL_("so small that starting and waiting take most of it (%.0f steps, %s)"), c->n_steps,
			      jl_msg(jl_algorithm_name(c->algorithm)));
	else
		jl_show_entry(
			doc, JL_("Why"), JL_ESTIMATED,
			c->limit == JL_LIMIT_NETWORK
				? JL_("%.0f %% of the bound; bound by the network between hosts (%.0f steps, %s)")
				: JL_("%.0f %% of the bound; bound by the links inside the host (%.0f steps, %s)"),
			100 * j->figure.value / c->bound_Bps, c->n_steps, jl_msg(jl_algorithm_name(c->algorithm)));
}

/* Parts of a step's time, as recorded. */
static void why_train(struct jl_doc *doc, const struct jl_judged *j)
{
	const double step_s = jl_figure_of(j->record, "step_s").value,
		     exposed = jl_figure_of(j->record, "exposed_s").value / step_s,
		     gemm = jl_figure_of(j->record, "gemm_frac").value;
	const bool alone = !(jl_record_number(j->record, "n_workers") > 1);

	if (!isnan(gemm) && (alone || isnan(exposed)))
		jl_show_entry(doc, JL_("Why"), JL_MEASURED,
			      JL_("%.0f %% of the rate that this machine's own matrix product reaches"), 100 * gemm);
	else if (!isnan(exposed) && !isnan(gemm))
		jl_show_entry(doc, JL_("Why"), JL_MEASURED,
			      JL_("%.0f %% of a step waits for other workers; %.0f %% of the matrix product's rate"),
			      100 * exposed, 100 * gemm);
	else if (!isnan(exposed))
		jl_show_entry(doc, JL_("Why"), JL_MEASURED, JL_("%.0f %% of a step waits for other workers"),
			      100 * exposed);
}

static void bandwidths(struct jl_doc *doc, const struct jl_collective_case *c)
{
	static const char *const factors[JL_N_COLLECTIVE] = { [JL_ALLREDUCE] = "2(n-1)/n",
							      [JL_ALLGATHER] = "(n-1)/n",
							      [JL_REDUCESCATTER] = "(n-1)/n",
							      [JL_ALLTOALL] = "(n-1)/n" };

	jl_show_entry(doc, "algbw", JL_ORIGIN_NONE, "%s", JL_("size / time: the rate that a program sees"));
	if (factors[c->kind])
		jl_show_entry(doc, "busbw", JL_ORIGIN_NONE,
			      JL_("algbw x %s = algbw x %.4g for n = %d: the rate on each link"), factors[c->kind],
			      c->busbw_factor, c->n_ranks);
	else
		jl_show_entry(doc, "busbw", JL_ORIGIN_NONE, "%s", JL_("the same as algbw for this collective"));
}

static void by_model(struct jl_doc *doc, const struct jl_judged *j)
{
	const struct jl_coll_expect *coll = &j->coll;
	const struct shown s = shown_of(j);
	const char *low = jl_doc_format(doc, s.is_time ? JL_("low above %s") : JL_("low below %s"),
					limit_text(doc, j, &s, jl_judged_turn(j, true)));

	if (j->by_rdma)
		JL_ENTRY(doc, JL_("By"), JL_ESTIMATED,
			 "○ taken for RDMA over one NIC, which is faster than TCP: 90–100 % of its listed rate");
	else if (strcmp(j->record->kind, "net") == 0)
		JL_ENTRY(doc, JL_("By"), JL_ESTIMATED,
			 "○ reached by TCP with several streams: one NIC's rate, 40–200 Gb/s a host");
	else if (!j->is_coll)
		jl_show_entry(doc, JL_("By"), JL_ESTIMATED,
			      JL_("○ the model's 80 %% interval, %s · ◆ checked on published figures of "
				  "single devices"),
			      low);
	else if (coll->n_near && coll->by_time)
		jl_show_entry(
			doc, JL_("By"), JL_ESTIMATED,
			JL_("○ the model's 80 %% interval, %s · ◆ %zu published row{/s} near it: %s"), low,
			coll->n_near,
			range_text(doc, &(struct shown){ .metric = "time_s",
							 .expect = { .lo = coll->near_lo_s, .hi = coll->near_hi_s } }));
	else if (coll->n_near)
		jl_show_entry(doc, JL_("By"), JL_ESTIMATED,
			      JL_("○ the model's 80 %% interval, %s · ◆ %zu published row{/s} near it: "
				  "%.0f–%.0f %% of their bound"),
			      low, coll->n_near, 100 * coll->near_lo_frac, 100 * coll->near_hi_frac);
	else
		jl_show_entry(doc, JL_("By"), JL_ESTIMATED,
			      JL_("○ the model's 80 %% interval, %s · ◆ no published row near it (links, "
				  "hosts, size)"),
			      low);
}

static void how_sure(struct jl_doc *doc, const struct jl_judged *j)
{
	switch (j->basis) {
	case JL_BASIS_MODEL: by_model(doc, j); break;
	case JL_BASIS_HISTORY:
		jl_show_entry(doc, JL_("By"), JL_MEASURED, JL_("● %zu earlier undisturbed results of this machine"),
			      j->history.n);
		break;
	case JL_BASIS_HOST:
		jl_show_entry(doc, JL_("By"), JL_ESTIMATED,
			      JL_("○ a wide estimate from this host's components: %s; three quiet runs narrow it"),
			      j->from_text);
		break;
	case JL_BASIS_OWN:
		JL_ENTRY(doc, JL_("By"), JL_MEASURED, "● rates of this machine alone, measured in the same run");
		break;
	case JL_BASIS_RUN:
		jl_show_entry(doc, JL_("By"), JL_MEASURED,
			      isnan(j->change.p) ? JL_("changes below %.0f %% are ignored; intervals %s")
						 : JL_("changes below %.0f %% are ignored; intervals %s; p = %.2g"),
			      100 * j->change.least, j->change.apart ? JL_("apart") : JL_("touch"), j->change.p);
		break;
	case JL_BASIS_NONE: break;
	}
	if (j->half_lanes)
		jl_show_lanes(doc);
	if (j->is_coll && j->coll.c.n_nodes > 1 && j->sys->net_assumed)
		jl_show_entry(doc, JL_("Assumed"), JL_LISTED,
			      JL_("network %d x %s: to change it, write 'over NETWORK' in --on"), j->sys->n_net,
			      j->sys->net->id);
}

static void title(struct jl_doc *doc, const struct jl_judged *j, const struct shown *s)
{
	const struct jl_collective_case *c = &j->coll.c;
	const char *value = value_text(doc, j->metric, j->figure.value);
	char what[JL_RECORD_WORDS_MAX];

	jl_doc_gap(doc);
	jl_doc_lead(doc);
	if (!j->is_coll) {
		(void)jl_record_what(what, j->record);
		jl_doc_strong(doc, jl_doc_format(doc, "%s%s%s", j->record->kind, *what ? " " : "", what));
		jl_show_piece(doc, JL_MEASURED, "%s", value);
		if (j->sys)
			jl_show_piece(doc, JL_ORIGIN_NONE, "%s", j->sys->text);
		return;
	}
	jl_doc_strong(doc, jl_doc_format(doc, "%s %s", jl_collective_name(c->kind),
					 jl_units_localized(what, c->size_B, JL_K_BYTES, 4)));
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("%d host{/s} x %d"), c->n_nodes, c->n_per_node);
	if (s->is_time)
		jl_show_piece(doc, JL_MEASURED, "%s (algbw %s)", value_text(doc, s->metric, s->value), value);
	else if (s->scale != 1)
		jl_show_piece(doc, JL_MEASURED, "busbw %s (algbw %s)", value_text(doc, s->metric, s->value), value);
	else
		jl_show_piece(doc, JL_MEASURED, "algbw %s (busbw %s)", value,
			      value_text(doc, "busbw_Bps", j->figure.value * c->busbw_factor));
}

/* The answer in a sentence; unjudged figures are not called normal. */
static void answer(struct jl_doc *doc, const struct jl_judged *j, const struct shown *s)
{
	static const char *const words[] = {
		[JL_VERDICT_FIRST] = JL_N("Not judged: there is no value yet to compare |1 with."),
		[JL_VERDICT_UNJUDGED] = JL_N(
			"Cannot judge yet: |1; the expected range of |2 is too wide to tell a slow system."),
		[JL_VERDICT_NOISY] = JL_N("Not judged: the machine was busy while |1 was measured."),
		[JL_VERDICT_GOOD] = JL_N("Better than expected: |1, where |2 is expected."),
		[JL_VERDICT_NORMAL] = JL_N("Normal: |1, where |2 is expected."),
		[JL_VERDICT_LOW] = JL_N("Not normal: |1, where |2 is expected."),
		[JL_VERDICT_HIGH] = JL_N("Too high to be true: |1, where |2 is expected."),
		[JL_VERDICT_IMPOSSIBLE] = JL_N("Impossible: |1 is above the bound of |2."),
		[JL_VERDICT_WRONG] = JL_N(
			"The tool's own check found wrong results: |1 means nothing until they are correct."),
	};
	const bool over = j->verdict == JL_VERDICT_IMPOSSIBLE;

	jl_doc_break(doc);
	JL_SENTENCE(doc,
		    j->verdict == JL_VERDICT_WRONG ? jl_msg(words[j->verdict])
		    : !j->before && jl_verdict_at_edge(&j->figure, &j->expect)
			    ? JL_("Borderline, still normal: |1, where |2 is expected.")
		    : !j->before || j->verdict == JL_VERDICT_NOISY ? jl_msg(words[j->verdict])
		    : j->verdict == JL_VERDICT_LOW                 ? JL_("Worse than before: |1, then |2.")
		    : j->verdict == JL_VERDICT_GOOD                ? JL_("Better than before: |1, then |2.")
								   : JL_("As before: |1, then |2."),
		    JL_FIG(value_num(doc, s->metric, s->value, JL_MEASURED)),
		    JL_FIGURE_TEXT(over        ? limit_text(doc, j, s, j->expect.bound)
				   : j->before ? value_text(doc, j->metric, j->expect.value)
					       : range_text(doc, s),
				   over        ? JL_LISTED
				   : j->before ? JL_MEASURED
					       : JL_ESTIMATED));
}

static bool throttled(const struct jl_judged *j)
{
	return j->record->noise.throttled_frac > JL_NOISE_STOPPED_FRAC;
}

/* Reason for a missing verdict. */
static void noise(struct jl_doc *doc, const struct jl_judged *j)
{
	char en[JL_NOISE_WHY_MAX], text[JL_NOISE_WHY_MAX];

	jl_show_entry(doc, JL_("Noise"), JL_MEASURED, throttled(j) ? "%s" : JL_("%s; measure again on a quiet machine"),
		      jl_noise_why(en, text, &j->record->noise) ? text
		      : j->record->noise.why                    ? j->record->noise.why
								: JL_("the machine was busy"));
}

/* The reason of the noisiest result; a quota, which is permanent, is separate from other processes. */
static void noisiest(struct jl_doc *doc, const struct jl_check_answer *a, bool by_quota)
{
	const struct jl_judged *most = NULL;

	for (size_t i = 0; i < a->n; i++) {
		const struct jl_judged *j = &a->judged[i];

		if ((by_quota ? throttled(j) : j->verdict == JL_VERDICT_NOISY && !throttled(j)) &&
		    (!most || j->record->noise.cpu_other_frac > most->record->noise.cpu_other_frac))
			most = j;
	}
	if (most)
		noise(doc, most);
}

/* The GPU's own state: a lowered clock, another process. */
static void held(struct jl_doc *doc, const struct jl_judged *j)
{
	if (*j->cause.text)
		jl_show_entry(doc, JL_("Cause"), JL_MEASURED, "%s", j->cause.text);
	if (*j->neighbour.text)
		jl_show_entry(doc, *j->cause.text ? "" : JL_("Cause"), JL_MEASURED, "%s", j->neighbour.text);
}

static void in_full(struct jl_doc *doc, const struct jl_judged *j)
{
	const struct shown s = shown_of(j);

	title(doc, j, &s);
	answer(doc, j, &s);
	verdict(doc, j, &s);
	if (strcmp(j->record->kind, "train") == 0)
		why_train(doc, j);
	if (j->is_coll)
		why_collective(doc, j);
	else if (j->bound_en && j->verdict != JL_VERDICT_IMPOSSIBLE)
		jl_show_entry(doc, JL_("Why"), JL_MEASURED, JL_("%.0f %% of the bound"),
			      100 * j->figure.value / j->expect.bound);
	if (j->verdict == JL_VERDICT_NOISY)
		noise(doc, j);
	held(doc, j);
	for (size_t i = 0; i < j->next.n; i++)
		jl_show_entry(doc, i ? "" : JL_("Next"), JL_ESTIMATED, "%zu  %s", i + 1, j->next.items[i].text);
	how_sure(doc, j);
	if (!j->before && j->verdict != JL_VERDICT_WRONG)
		jl_show_power(doc, &j->expect);
	if (j->is_coll)
		bandwidths(doc, &j->coll.c);
}

/* --- many */

static const char *verdict_text(struct jl_doc *doc, const struct jl_judged *j)
{
	const char *word = jl_verdict_word(j->verdict);

	if (j->before && j->verdict != JL_VERDICT_NOISY)
		return jl_doc_format(doc, "%s (%+.1f %%)", word, 100 * (j->change.ratio - 1));
	if (!j->before && jl_verdict_at_edge(&j->figure, &j->expect))
		return jl_doc_format(doc, JL_("%s (edge)"), word);
	return word;
}

/* How many figures have a verdict of each kind. */
struct verdicts {
	size_t n[JL_N_VERDICT], bad, open;
};

static struct verdicts verdicts_of(const struct jl_check_answer *a)
{
	struct verdicts v = { .bad = 0 };

	for (size_t i = 0; i < a->n; i++) {
		v.n[a->judged[i].verdict]++;
		v.bad += jl_verdict_is_bad(a->judged[i].verdict);
	}
	v.open = v.n[JL_VERDICT_FIRST] + v.n[JL_VERDICT_NOISY] + v.n[JL_VERDICT_UNJUDGED];
	return v;
}

static void table(struct jl_doc *doc, const struct jl_check_answer *a)
{
	const bool open = verdicts_of(a).open == a->n; /* no figure was compared with an expectation */

	jl_show_table(doc, NULL, open ? "tfk" : "tffk",
		      a->judged[0].before ? JL_N("what|measured|before|verdict")
		      : open              ? JL_N("what|measured|verdict")
					  : JL_N("what|measured|expected|verdict"));
	for (size_t i = 0; i < a->n && i < ROWS_SHOWN; i++) {
		const struct jl_judged *j = &a->judged[i];
		const struct shown s = shown_of(j);

		JL_CELLS(doc, JL_NAMED(jl_doc_format(doc, "%s %s", j->record->kind, jl_record_what(JL_TXT, j->record))),
			 JL_FIG(value_num(doc, s.metric, s.value, JL_MEASURED)));
		if (!open || j->before) {
			jl_doc_cell(doc, JL_MARK_NONE);
			jl_doc_sourced(doc,
				       j->before ? value_text(doc, j->metric, j->expect.value) : range_text(doc, &s),
				       j->before ? JL_MEASURED : JL_ESTIMATED, NULL);
		}
		jl_doc_cell(doc, verdict_mark(j->verdict));
		jl_doc_sourced(doc, verdict_text(doc, j), JL_MEASURED, NULL);
		jl_doc_end_row(doc, false);
	}
	if (a->n > ROWS_SHOWN)
		jl_show_note(doc, NULL, JL_ORIGIN_NONE, JL_("... and %zu more (--json has all)"), a->n - ROWS_SHOWN);
}

enum jl_mark jl_check_mark(const struct jl_check_answer *a)
{
	const struct verdicts v = verdicts_of(a);

	return v.bad ? verdict_mark(a->worst->verdict) : 2 * v.open >= a->n ? JL_MARK_UNKNOWN : JL_MARK_GOOD;
}

void jl_show_verdicts(struct jl_doc *doc, const struct jl_check_answer *a)
{
	const struct verdicts v = verdicts_of(a);

	JL_SENTENCE(doc,
		    v.n[JL_VERDICT_WRONG] ? JL_("Wrong results: the tool's own check failed for |5 of |2 figures; "
						"their rates mean nothing.")
		    : v.bad               ? JL_("|1 of |2 figures are not normal.")
		    : v.open == a->n
			    ? v.n[JL_VERDICT_NOISY]
				      ? JL_("None of the |2 figures could be judged: the machine was busy while they "
					    "were measured.")
				      : JL_("None of the |2 figures could be judged.")
		    : v.open ? JL_("The |3 figures that could be judged are normal; |4 of |2 were not judged.")
			     : JL_("All |2 figures are normal."),
		    JL_COUNT(v.bad), JL_COUNT(a->n), JL_COUNT(a->n - v.open), JL_COUNT(v.open),
		    JL_COUNT(v.n[JL_VERDICT_WRONG]));
}

static void counts(struct jl_doc *doc, const struct jl_check_answer *a)
{
	const struct verdicts v = verdicts_of(a);

	jl_doc_lead(doc);
	if (a->where)
		jl_doc_strong(doc, a->where);
	for (int i = JL_N_VERDICT - 1; i >= 0; i--)
		if (v.n[i])
			jl_show_piece(doc, JL_ORIGIN_NONE, JL_("%zu %s"), v.n[i], jl_verdict_word((enum jl_verdict)i));
	jl_doc_break(doc);
	jl_show_verdicts(doc, a);
}

/* "measured 5 min to 3 d ago": shows the age of judged results. */
static void age(struct jl_doc *doc, const struct jl_check_answer *a)
{
	double least_s = INFINITY, most_s = 0;
	char from[JL_UNITS_TEXT_MAX], to[JL_UNITS_TEXT_MAX];

	for (size_t i = 0; i < a->n; i++) {
		if (isnan(a->judged[i].age_s))
			return;
		least_s = fmin(least_s, fmax(a->judged[i].age_s, 1));
		most_s = fmax(most_s, fmax(a->judged[i].age_s, 1));
	}
	jl_units_localized(from, least_s, JL_K_TIME, 2);
	jl_units_localized(to, most_s, JL_K_TIME, 2);
	if (strcmp(from, to) == 0)
		jl_show_entry(doc, JL_("Measured"), JL_MEASURED, JL_("%s ago"), to);
	else
		jl_show_entry(doc, JL_("Measured"), JL_MEASURED, JL_("%s to %s ago"), from, to);
}

static void unsteady(struct jl_doc *doc, const struct jl_steadiness *s)
{
	if (s->n_jumps)
		jl_show_note(doc, NULL, JL_MEASURED,
			     JL_("~ unsteady: %zu of %zu figures differ between quiet runs, by up to %.1fx; ranges are "
				 "wider (shared host, placement of processes and pages)."),
			     s->n_jumps, s->n_figures, s->worst_times);
}

void jl_show_check(struct jl_doc *doc, const struct jl_check_answer *a)
{
	const struct verdicts v = verdicts_of(a);

	if (a->n == 1) {
		in_full(doc, a->worst);
		age(doc, a);
		unsteady(doc, &a->steadiness);
		return;
	}
	counts(doc, a);
	noisiest(doc, a, true);
	noisiest(doc, a, false);
	age(doc, a);
	table(doc, a);
	unsteady(doc, &a->steadiness);
	if (jl_verdict_weight(a->worst->verdict) >= jl_verdict_weight(JL_VERDICT_UNJUDGED) &&
	    !(v.open == a->n && v.n[JL_VERDICT_NOISY]))
		in_full(doc, a->worst);
}
