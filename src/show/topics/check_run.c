#include "check/run.h"
#include "topics/show.h"

#include <math.h>

/* A training run by its log: the answer, time by cause, largest losses and remedies. */
static void lead(struct jl_doc *doc, const struct jl_run_view *v, const char *where)
{
	const bool bad = jl_run_is_bad(v), fast = v->step_s < v->expect.lo;
	double lost = 0;

	for (size_t i = 0; i < v->n_findings; i++)
		lost += v->findings[i].loss_frac > 0 ? v->findings[i].loss_frac : 0;
	jl_doc_lead(doc);
	jl_doc_strong(doc, where);
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("%s, %zu lines"), v->log->trainer, v->log->n_steps);
	jl_doc_break(doc);
	JL_SENTENCE(
		doc,
		bad    ? JL_("Not normal: |1 a step; |2 of the time could be saved.")
		: fast ? JL_("Faster than predicted: |1 a step, |3 predicted; check the model, batch and system given.")
		: v->n_findings && v->verdict == JL_VERDICT_UNJUDGED ? JL_("|1 a step; |2 of the time could be saved.")
		: v->n_findings ? JL_("Normal, with losses: |1 a step; |2 of the time could be saved.")
		: v->job && v->verdict != JL_VERDICT_UNJUDGED ? JL_("Normal: |1 a step.")
		: v->job ? JL_("Steady: |1 a step; the prediction is too uncertain to tell whether that is fast.")
			 : JL_("Steady: |1 a step; give --model and --on to compare it with a prediction."),
		JL_FIG(jl_num_plain(v->step_s, JL_K_TIME, NULL, JL_MEASURED, NULL)),
		JL_FIG(jl_num_plain(fmin(lost, 0.99), JL_K_FRACTION, NULL, JL_ESTIMATED, NULL)),
		JL_FIG(jl_num_plain(v->expect.value, JL_K_TIME, NULL, JL_ESTIMATED, NULL)));
}

static const char *time_text(struct jl_doc *doc, double s)
{
	char text[JL_UNITS_TEXT_MAX];

	return jl_doc_format(doc, "%s", jl_units_localized(text, s, JL_K_TIME, 3));
}

static void figures(struct jl_doc *doc, const struct jl_run_view *v)
{
	char text[JL_UNITS_TEXT_MAX];

	jl_show_entry(doc, JL_("Step"), JL_MEASURED, JL_("%s (p10–p90 %s–%s)"), time_text(doc, v->step_s),
		      time_text(doc, v->step_s_p10), time_text(doc, v->step_s_p90));
	if (v->off_frac > 0.02)
		jl_show_entry(doc, "", JL_ORIGIN_NONE,
			      JL_("rounded log lines: one line is accurate to %.0f %%, their mean to %.1f %%"),
			      ceil(100 * v->off_frac), 100 * (v->step_s_hi95 / v->step_s - 1));
	if (v->tokens_per_s > 0)
		jl_show_entry(doc, JL_("Tokens"), JL_MEASURED,
			      v->per_gpu ? JL_("%.0f tokens/s per GPU") : JL_("%.0f tokens/s"), v->tokens_per_s);
	if (v->mfu_frac > 0)
		jl_show_entry(doc, "MFU", JL_MEASURED, JL_("%.1f %% as the log counts it"), 100 * v->mfu_frac);
	if (v->mem_B > 0)
		jl_show_entry(doc, JL_("Memory"), JL_MEASURED, "%s", jl_units_localized(text, v->mem_B, JL_K_BYTES, 3));
	if (v->job) {
		char cut[JL_CUT_TEXT_MAX];

		const bool inside = v->step_s >= v->expect.lo && v->step_s <= v->expect.hi;
		const char *word = jl_verdict_word(v->verdict);

		jl_show_entry(
			doc, JL_("Verdict"), JL_ESTIMATED, JL_("%s: expected %s (%s–%s)"),
			v->verdict == JL_VERDICT_NORMAL && !inside ? jl_doc_format(doc, JL_("%s (edge)"), word) : word,
			time_text(doc, v->expect.value), time_text(doc, v->expect.lo), time_text(doc, v->expect.hi));
		jl_show_power(doc, &v->expect);
		jl_show_entry(doc, "", JL_ORIGIN_NONE, JL_("expected for %s; use --parallel for another layout"),
			      jl_show_cut(cut, &v->job->how.plan, NAN));
	}
}

static void spent(struct jl_doc *doc, const struct jl_run_spent *s)
{
	const struct {
		const char *en;
		double s;
	} parts[] = { { JL_N("useful"), s->useful_s },         { JL_N("checkpoints"), s->checkpoint_s },
		      { JL_N("evaluation"), s->evaluation_s }, { JL_N("stalls"), s->stall_s },
		      { JL_N("restarts"), s->restart_s },      { JL_N("steps done again"), s->repeated_s },
		      { JL_N("warm-up"), s->warmup_s } };
	const char *text = "";

	for (size_t i = 0; i < JL_LEN(parts); i++)
		if (parts[i].s > 0.0005 * s->elapsed_s)
			text = jl_doc_format(doc, "%s%s%s %.1f %%", text, *text ? " · " : "", jl_msg(parts[i].en),
					     100 * parts[i].s / s->elapsed_s);
	jl_show_entry(doc, JL_("Time"), JL_MEASURED, JL_("%s: %s"), time_text(doc, s->elapsed_s), text);
}

void jl_show_run(struct jl_doc *doc, const struct jl_run_view *v, const char *where)
{
	lead(doc, v, where);
	figures(doc, v);
	spent(doc, &v->spent);
	for (size_t i = 0; i < v->n_findings; i++) {
		const struct jl_run_finding *f = &v->findings[i];

		jl_show_entry(doc, i ? "" : JL_("Found"), JL_MEASURED,
			      f->loss_frac > 0 ? JL_("%zu  %s (%.0f %% of the time)") : "%zu  %s", i + 1, f->what.text,
			      100 * f->loss_frac);
		jl_show_entry(doc, "", JL_ORIGIN_NONE, "→ %s", f->todo.text);
	}
	for (size_t i = 0; i < v->n_advice; i++)
		jl_show_entry(doc, i ? "" : JL_("Try"), JL_ESTIMATED, JL_("%zu  %s: %.2f times as fast"), i + 1,
			      v->advice[i].text, v->advice[i].samples_per_s_after / v->advice[i].samples_per_s_before);
}
