#include "topics/audit_note.h"

static const struct {
	const char *en;
	enum jl_mark mark;
} verdicts[JL_N_AUDIT_VERDICT] = {
	[JL_AUDIT_WRONG] = { JL_NC("of a note", "wrong"), JL_MARK_BAD },
	[JL_AUDIT_DIFFERS] = { JL_N("differs from listed"), JL_MARK_WARN },
	[JL_AUDIT_UNLIKELY] = { JL_N("unlikely"), JL_MARK_WARN },
	[JL_AUDIT_COMPATIBLE] = { JL_N("compatible"), JL_MARK_GOOD },
	[JL_AUDIT_CONFIRMED] = { JL_N("confirmed"), JL_MARK_GOOD },
	[JL_AUDIT_CANNOT] = { JL_N("cannot tell"), JL_MARK_UNKNOWN },
	[JL_AUDIT_GIVEN] = { JL_N("given"), JL_MARK_NONE },
};

const char *jl_audited_verdict(const struct jl_audit_finding *f)
{
	return f->beside ? JL_("just outside the interval") : jl_msg(verdicts[f->verdict].en);
}

static enum jl_mark audited_mark(const struct jl_audit_finding *f)
{
	return f->beside ? JL_MARK_WARN : verdicts[f->verdict].mark;
}

const char *jl_audited_why(const struct jl_audit_finding *f)
{
	return f->text;
}

bool jl_audited_is_said(const struct jl_audit_finding *f, bool all)
{
	return all || f->shown;
}

static void counts(struct jl_doc *doc, const struct jl_audit_note *note)
{
	const size_t open = note->n[JL_AUDIT_CANNOT] + note->n[JL_AUDIT_GIVEN];

	jl_doc_lead(doc);
	JL_SENTENCE(doc,
		    note->n_doubts  ? JL_("|1: |2 independent error{/s} and |6 doubtful figure{/s} among |3.")
		    : note->n_roots ? JL_("|1: |2 independent error{/s} among |3 figures.")
		    : open < note->n_figures
			    ? JL_("|1: no error among the |4 figures that could be judged; |5 were not judged.")
			    : JL_("|1: none of its |3 figures could be judged."),
		    JL_NAMED(note->file), JL_COUNT(note->n_roots), JL_COUNT(note->n_figures),
		    JL_COUNT(note->n_figures - open), JL_COUNT(open), JL_COUNT(note->n_doubts));
	jl_audited_strip(doc, note);
	jl_doc_para(doc);
	for (int v = 0; v < JL_N_AUDIT_VERDICT; v++) {
		if (!note->n[v])
			continue;
		if (v)
			jl_doc_dot(doc);
		jl_show_sourced(doc, JL_ORIGIN_NONE, "%s %zu", jl_msg(verdicts[v].en), note->n[v]);
	}
}

static void cell(struct jl_doc *doc, const char *text, enum jl_origin origin)
{
	JL_CELLS(doc, JL_FIGURE_TEXT(text, origin));
}

const char *jl_audited_recomputed(const struct jl_audit_note *note, const struct jl_audit_finding *f)
{
	if (f->figure < 0 || f->verdict > JL_AUDIT_UNLIKELY || (!*f->premises && !*f->estimate))
		return f->figure < 0 ? "" : f->written;
	return jl_arena_printf(note->arena,
			       *f->premises && *f->estimate ? JL_("%s → %s%s; listed or estimated %s") : "%s → %s%s%s",
			       f->written, *f->premises ? f->premises : f->estimate,
			       *f->premises && f->impossible_premise ? "*" : "", *f->premises ? f->estimate : "");
}

/* A root: its verdict, correction and reason; then its consequences, one per line. */
static void root(struct jl_doc *doc, const struct jl_audit_note *note, size_t i, bool all)
{
	const struct jl_audit_finding *f = &note->findings[i];

	jl_doc_finding(doc, audited_mark(f),
		       jl_arena_printf(doc->arena, JL_("Line %u: %s (%s)"), f->line,
				       f->figure < 0 ? f->written : jl_audited_recomputed(note, f),
				       jl_audited_verdict(f)));
	jl_doc_sourced(doc, jl_audited_why(f), f->source ? JL_LISTED : JL_ESTIMATED, f->source);
	if (f->impossible_premise)
		JL_SHOW(doc, ". What the premises give (*) is not a correction: they are in doubt themselves.");
	for (size_t k = 0; k < note->n_findings; k++) {
		const struct jl_audit_finding *c = &note->findings[k];

		if (c->root != (int32_t)i || !jl_audited_is_said(c, all))
			continue;
		jl_doc_item(doc);
		jl_show_sourced(doc, JL_ESTIMATED, JL_("Line %u follows from it: %s"), c->line,
				c->figure < 0 ? c->written : jl_audited_recomputed(note, c));
	}
}

/* Data needed to check a figure of this quantity. */
static const char *needed_for(enum jl_qty qty)
{
	switch (qty) {
	case JL_Q_TIME:
	case JL_Q_GPU_TIME:
	case JL_Q_COUNT_RATE: return JL_N("the run that it is of: model, batch and system");
	case JL_Q_USD:
	case JL_Q_KRW:
	case JL_Q_USD_RATE:
	case JL_Q_USD_ENERGY: return JL_N("what is paid for, where and when");
	case JL_Q_BYTES:
	case JL_Q_BYTE_RATE:
	case JL_Q_FLOP_RATE:
	case JL_Q_POWER:
	case JL_Q_FREQUENCY:
	case JL_Q_ENERGY: return JL_N("the hardware that it is of, or what it was computed from");
	case JL_Q_PERCENT:
	case JL_Q_RATIO: return JL_N("both figures that it is a share or a ratio of");
	default: return JL_N("other figures that it goes with");
	}
}

static void open_figures(struct jl_doc *doc, const struct jl_audit_note *note)
{
	size_t n[JL_N_Q] = { 0 };

	for (size_t i = 0; i < note->n_figures; i++)
		n[note->figures[i].qty] += note->verdicts[i] == JL_AUDIT_CANNOT;
	jl_show_table(doc, JL_("Not verifiable, and what is missing"), "kk", JL_N("figures|what would be needed"));
	for (int q = 0; q < JL_N_Q; q++) {
		const char *needed = needed_for((enum jl_qty)q);
		size_t sum = 0;
		bool first = true;

		for (int k = 0; k < JL_N_Q; k++)
			if (needed_for((enum jl_qty)k) == needed) {
				first &= k >= q;
				sum += n[k];
			}
		if (!first || !sum)
			continue;
		cell(doc, jl_arena_printf(doc->arena, "%zu", sum), JL_ORIGIN_NONE);
		cell(doc, jl_msg(needed), JL_ORIGIN_NONE);
		jl_doc_end_row(doc, false);
	}
}

void jl_show_audited(struct jl_doc *doc, const struct jl_audit_note *note, bool all)
{
	counts(doc, note);
	for (size_t i = 0; i < note->n_findings; i++)
		if (note->findings[i].root < 0 && jl_audited_is_said(&note->findings[i], all))
			root(doc, note, i, all);
	if (all && note->n[JL_AUDIT_CANNOT])
		open_figures(doc, note);
	if (note->n_hidden_by_rule && !all) {
		jl_doc_note(doc, JL_MARK_NONE, NULL);
		jl_show_sourced(doc, JL_ORIGIN_NONE, JL_("%zu doubts without other support in the note: --all"),
				note->n_hidden_by_rule);
	}
	if (note->cut) {
		jl_doc_note(doc, JL_MARK_WARN, NULL);
		JL_SHOW(doc, "The note is too long: tables and figures at its end were not checked.");
	}
	if (note->n_too_long) {
		jl_doc_note(doc, JL_MARK_WARN, NULL);
		jl_show_sourced(doc, JL_ORIGIN_NONE,
				JL_("Skipped because a line or table is too long: %zu; the first begins in line %u."),
				note->n_too_long, note->too_long_line);
	}
	if (note->n_replaced) {
		jl_doc_note(doc, JL_MARK_WARN, NULL);
		jl_show_sourced(doc, JL_ORIGIN_NONE,
				JL_("%zu bytes are not text (invalid UTF-8, control or direction characters) and were "
				    "left out."),
				note->n_replaced);
	}
	jl_audited_text(doc, note, all);
}
