/* A note audited: what cannot be right in it, root by root, and the same in the forms that editors and pages take. */
#pragma once

#include "notes/audit.h"
#include "topics/show.h"

/* For a terminal: counts, then every root with what follows from it; with `all` also what only one place of the note speaks for. */
void jl_show_audited(struct jl_doc *doc, const struct jl_audit_note *note, bool all);

const char *jl_audited_verdict(const struct jl_audit_finding *f);
const char *jl_audited_why(const struct jl_audit_finding *f);
bool jl_audited_is_said(const struct jl_audit_finding *f, bool all);
/* True where one figure can replace the wrong one: not a range, not several parts, no contradicting premises. */
bool jl_audited_is_fixable(const struct jl_audit_note *note, const struct jl_audit_finding *f);

/* "12 h → 6 h, listed 5.9 h"; "" where nothing is known but that it cannot be. */
const char *jl_audited_recomputed(const struct jl_audit_note *note, const struct jl_audit_finding *f);
/* Parts that only pages have: how the figures were judged as one bar, and the note itself with marks and reasons in its margin. */
void jl_audited_strip(struct jl_doc *doc, const struct jl_audit_note *note);
void jl_audited_text(struct jl_doc *doc, const struct jl_audit_note *note, bool all);
/* All of it as a page in the reports' style, without scripts. */
enum jl_status jl_audited_page(struct jl_buf *out, const struct jl_audit_note *note, bool all, const char *date,
			       struct jl_err *err);
/* The note with footnotes behind the figures. */
void jl_audited_markdown(struct jl_buf *out, const struct jl_audit_note *note, bool all);
/* SARIF 2.1.0, for editors and CI. */
void jl_audited_sarif(struct jl_buf *out, const struct jl_audit_note *note, bool all, const char *version);
/* A unified diff that puts the corrected figures in. */
void jl_audited_diff(struct jl_buf *out, const struct jl_audit_note *note);
