#include "check/trace.h"
#include "topics/show.h"

/* A profiled step: largest savings, time by cause, longest kernels. */
void jl_show_trace(struct jl_doc *doc, const struct jl_trace_view *v, const char *where)
{
	static const char *const parts[JL_N_TRACE_PART] = { JL_N("computing"), JL_N("exposed communication"),
							    JL_N("waiting for the host"), JL_N("waiting for data"),
							    JL_N("other") };
	char step[JL_UNITS_TEXT_MAX], time[JL_UNITS_TEXT_MAX];
	const char *text = "";

	jl_doc_lead(doc);
	jl_doc_strong(doc, where);
	if (v->gpu[0])
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", v->gpu);
	jl_show_piece(doc, JL_MEASURED, JL_("%.0f step{/s} of %s"), v->n_steps,
		      jl_units_localized(step, v->step_s, JL_K_TIME, 3));
	jl_doc_break(doc);
	if (v->n_findings)
		jl_show_piece(doc, JL_MEASURED,
			      jl_verdict_is_bad(v->verdict) ? JL_("Not normal: %.0f %% of the step could be saved: %s.")
							    : JL_("Normal: %.0f %% of the step could be saved: %s."),
			      100 * v->findings[0].won_frac, v->findings[0].what.text);
	else
		jl_show_piece(doc, JL_MEASURED, "%s",
			      JL_("Normal: nothing found that would save 2 % of the step or more."));
	jl_show_entry(doc, JL_("Verdict"), JL_MEASURED,
		      jl_verdict_is_bad(v->verdict)
			      ? JL_("%s: one change would save 10 %% of the step or more (20 %% for waits on the host)")
			      : JL_("%s: no single change would save 10 %% of the step (20 %% for waits on the host)"),
		      jl_verdict_word(v->verdict));
	for (size_t i = 0; i < JL_N_TRACE_PART; i++)
		if (v->part_s[i] >= 0.005 * v->step_s)
			text = jl_doc_format(doc, "%s%s%s %.0f %%", text, *text ? " · " : "", jl_msg(parts[i]),
					     100 * v->part_s[i] / v->step_s);
	jl_show_entry(doc, JL_("Time"), JL_MEASURED, "%s", text);
	for (size_t i = 0; i < v->n_findings; i++) {
		const struct jl_trace_finding *f = &v->findings[i];

		jl_show_entry(doc, i ? "" : JL_("Found"), JL_MEASURED, JL_("%zu  %s: up to %s, %.0f %% of the step"),
			      i + 1, f->what.text, jl_units_localized(time, f->won_s, JL_K_TIME, 2), 100 * f->won_frac);
		jl_show_entry(doc, "", JL_ORIGIN_NONE, "→ %s", f->todo.text);
		if (f->example[0])
			jl_show_entry(doc, "", JL_MEASURED, JL_("e.g. %.100s"), f->example);
	}
	for (size_t i = 0; i < v->n_top && i < 5; i++)
		jl_show_entry(doc, i ? "" : JL_("Kernels"), JL_MEASURED, JL_("%s, %.0f a step: %.60s"),
			      jl_units_localized(time, v->top[i].time_s, JL_K_TIME, 2), v->top[i].n, v->top[i].name);
}
