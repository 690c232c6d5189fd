/* An audited note: its errors, root by root, and the same in exchange formats. */
#pragma once

#include "notes/audit.h"
#include "topics/show.h"

/* For a terminal: counts, then each root with its consequences; `all`: also doubts with a single supporting place. */
void jl_show_audited(struct jl_doc *doc, const struct jl_audit_note *note, bool all);

const char *jl_audited_verdict(const struct jl_audit_finding *f);
const char *jl_audited_why(const struct jl_audit_finding *f);
bool jl_audited_is_said(const struct jl_audit_finding *f, bool all);
/* True if one figure can replace the wrong one: no range, no several parts, no contradicting premises. */
bool jl_audited_is_fixable(const struct jl_audit_note *note, const struct jl_audit_finding *f);

/* "12 h → 6 h, listed 5.9 h"; "" if only the contradiction is known. */
const char *jl_audited_recomputed(const struct jl_audit_note *note, const struct jl_audit_finding *f);
/* Page-only parts: verdict counts as a bar, and the note with marks and margin notes. */
void jl_audited_strip(struct jl_doc *doc, const struct jl_audit_note *note);
void jl_audited_text(struct jl_doc *doc, const struct jl_audit_note *note, bool all);
/* The whole as a page in the report style, without scripts. */
enum jl_status jl_audited_page(struct jl_buf *out, const struct jl_audit_note *note, bool all, const char *date,
			       struct jl_err *err);
/* The note with footnotes after the figures. */
void jl_audited_markdown(struct jl_buf *out, const struct jl_audit_note *note, bool all);
/* SARIF 2.1.0, for editors and CI. */
void jl_audited_sarif(struct jl_buf *out, const struct jl_audit_note *note, bool all, const char *version);
/* Unified diff with the corrected figures. */
void jl_audited_diff(struct jl_buf *out, const struct jl_audit_note *note);
