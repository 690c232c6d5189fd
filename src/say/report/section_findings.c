/* What to do, best first, and what was assumed on the way. */
#include <math.h>

#include "check/machine_findings.h"
#include "report/section.h"

static void advice(struct jl_section *s, const struct jl_advice *a)
{
	struct jl_num before = jl_num_plain(a->samples_per_s_before, JL_K_NUMBER, NULL, JL_ESTIMATED, JL_METHOD),
		      after = jl_num_plain(a->samples_per_s_after, JL_K_NUMBER, "samples/s", JL_ESTIMATED, JL_METHOD);
	const struct jl_num gpus = jl_num_given(a->n_gpus, JL_K_NUMBER, "GPU"),
			    gain = jl_num_plain(a->samples_per_s_after / a->samples_per_s_before, JL_K_NUMBER, "x",
						JL_ESTIMATED, JL_METHOD);

	jl_doc_finding(s->doc, JL_MARK_WARN, JL_("Would help"));
	jl_doc_said(s->doc, a->text, JL_ESTIMATED, JL_METHOD);
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
	jl_doc_finding(s->doc, JL_MARK_UNKNOWN, JL_("What bounds it"));
	jl_doc_name(s->doc, jl_system_name(of));
	jl_doc_text(s->doc, ": ");
	jl_doc_text(s->doc, jl_msg(jl_parts[part].en));
	jl_doc_text(s->doc, " ");
	jl_doc_num(s->doc, &share);
	JL_SAY(s, " of a step.");
}

static void notes(struct jl_section *s, const struct jl_notes *list)
{
	if (!list->n)
		return;
	jl_doc_subsection(s->doc, "assumed", JL_("Chosen where nothing was said"));
	for (size_t i = 0; i < list->n; i++) {
		jl_doc_item(s->doc);
		jl_doc_code(s->doc, list->items[i].key ? list->items[i].key : "");
		jl_doc_text(s->doc, " ");
		jl_doc_said(s->doc, list->items[i].text, JL_ESTIMATED, JL_METHOD);
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
			       f->severity == JL_FINDING_NOTE ? JL_("Good to know") : JL_("This machine"));
		jl_doc_said(s->doc, f->what.text, JL_MEASURED, "jeoul probe");
		jl_doc_text(s->doc, " ");
		jl_doc_said(s->doc, f->why.text, JL_ESTIMATED, JL_METHOD);
		jl_doc_text(s->doc, " ");
		jl_doc_said(s->doc, f->todo.text, JL_ESTIMATED, JL_METHOD);
	}
}

void jl_section_findings(struct jl_section *s)
{
	const struct jl_notes *list = s->w->compare                               ? &s->w->compare->notes
				      : s->w->advised && s->w->advised->predicted ? &s->w->advised->how.notes
										  : NULL;

	if (!s->w->n_advice && !s->w->advised && !s->in->machine && (!list || !list->n))
		return;
	jl_section_open(s, "findings", "Findings and actions");
	bound(s);
	for (size_t i = 0; i < s->w->n_advice; i++)
		advice(s, &s->w->advice[i]);
	machine_findings(s);
	if (list)
		notes(s, list);
}
