/* What to do, best first, and what was assumed on the way. */
#include <math.h>
#include <string.h>

#include "check/machine_findings.h"
#include "report/section.h"

static void advice(struct jl_section *s, const struct jl_advice *a)
{
	struct jl_num before = jl_num_plain(a->samples_per_s_before, JL_K_NUMBER, NULL, JL_ESTIMATED, JL_METHOD),
		      after = jl_num_plain(a->samples_per_s_after, JL_K_NUMBER, "samples/s", JL_ESTIMATED, JL_METHOD);
	const struct jl_num gpus = jl_num_given(a->n_gpus, JL_K_NUMBER, "GPU"),
			    gain = jl_num_plain(a->samples_per_s_after / a->samples_per_s_before, JL_K_NUMBER, "x",
						JL_ESTIMATED, JL_METHOD);

	jl_doc_finding(s->doc, JL_MARK_WARN, JL_T(s->lang, "Would help", "개선 방법"));
	jl_doc_said(s->doc, JL_T(s->lang, a->en, a->ko), JL_ESTIMATED, JL_METHOD);
	jl_doc_text(s->doc, " — ");
	jl_doc_num(s->doc, &gpus);
	jl_doc_text(s->doc, ": ");
	before.n_digits = after.n_digits = 3;
	if (!isnan(a->samples_per_s_before) && a->samples_per_s_before > 0 && !a->makes_it_fit) {
		jl_doc_num(s->doc, &before);
		jl_doc_text(s->doc, " → ");
	}
	jl_doc_num(s->doc, &after);
	if (!a->makes_it_fit) {
		jl_doc_text(s->doc, " (");
		jl_doc_num(s->doc, &gain);
		jl_doc_text(s->doc, ")");
	}
	jl_doc_text(s->doc, ".");
}

static void bound(struct jl_section *s)
{
	const struct jl_weighed_system *of = s->w->advised;
	size_t part;
	struct jl_num share;

	if (!of || !of->predicted)
		return;
	part = jl_part_largest(&of->prediction.step);
	share = jl_num_plain(jl_part_s(&of->prediction.step, part) / of->prediction.step.step_s, JL_K_FRACTION, NULL,
			     JL_ESTIMATED, JL_METHOD);
	share.n_digits = 2;
	jl_doc_finding(s->doc, JL_MARK_UNKNOWN, JL_T(s->lang, "What bounds it", "병목"));
	jl_doc_name(s->doc, jl_system_name(s, of));
	jl_doc_text(s->doc, ": ");
	jl_doc_text(s->doc, JL_T(s->lang, jl_parts[part].en, jl_parts[part].ko));
	jl_doc_text(s->doc, " ");
	jl_doc_num(s->doc, &share);
	JL_SAY(s, " of a step.", " (스텝 시간 중).");
}

static void notes(struct jl_section *s, const struct jl_notes *list)
{
	if (!list->n)
		return;
	jl_doc_subsection(s->doc, "assumed",
			  JL_T(s->lang, "Chosen where nothing was said", "따로 정하지 않아 고른 값"));
	for (size_t i = 0; i < list->n; i++) {
		jl_doc_item(s->doc);
		jl_doc_code(s->doc, list->items[i].key ? list->items[i].key : "");
		jl_doc_text(s->doc, " ");
		jl_doc_said(s->doc, JL_T(s->lang, list->items[i].en, list->items[i].ko), JL_ESTIMATED, JL_METHOD);
	}
}

static enum jl_mark severity_mark(enum jl_severity severity)
{
	static const enum jl_mark marks[] = { JL_MARK_UNKNOWN, JL_MARK_WARN, JL_MARK_BAD };

	return marks[severity];
}

/* What the owner of this machine should know. */
static void machine_findings(struct jl_section *s)
{
	const struct jl_findings *found = NULL;
	struct jl_err ignored;

	if (!s->in->machine || jl_machine_findings(s->in->machine, s->w->cat, s->arena, &found, &ignored))
		return;
	for (size_t i = 0; i < found->n; i++) {
		const struct jl_finding *f = &found->items[i];

		jl_doc_finding(s->doc, severity_mark(f->severity),
			       f->severity == JL_FINDING_NOTE ? JL_T(s->lang, "Good to know", "참고")
							      : JL_T(s->lang, "This machine", "이 장비"));
		jl_doc_said(s->doc, JL_T(s->lang, f->what.en, f->what.ko), JL_MEASURED, "jeoul probe");
		jl_doc_text(s->doc, " ");
		jl_doc_said(s->doc, JL_T(s->lang, f->why.en, f->why.ko), JL_ESTIMATED, JL_METHOD);
		jl_doc_text(s->doc, " ");
		jl_doc_said(s->doc, JL_T(s->lang, f->todo.en, f->todo.ko), JL_ESTIMATED, JL_METHOD);
	}
}

void jl_section_findings(struct jl_section *s)
{
	const struct jl_notes *list = s->w->compare                               ? &s->w->compare->notes
				      : s->w->advised && s->w->advised->predicted ? &s->w->advised->how.notes
										  : NULL;

	if (!s->w->n_advice && !s->w->advised && !s->in->machine && (!list || !list->n))
		return;
	jl_section_open(s, "findings", "Findings and actions", "진단과 조치");
	bound(s);
	for (size_t i = 0; i < s->w->n_advice; i++)
		advice(s, &s->w->advice[i]);
	machine_findings(s);
	if (list)
		notes(s, list);
}
