/* Fields of an audit for JSON. */
#include "notes/fields.h"

#include <math.h>

#include "notes/audit.h"

static const struct jl_choice verdicts[] = {
	{ "wrong", JL_AUDIT_WRONG },         { "differs", JL_AUDIT_DIFFERS },
	{ "unlikely", JL_AUDIT_UNLIKELY },   { "compatible", JL_AUDIT_COMPATIBLE },
	{ "confirmed", JL_AUDIT_CONFIRMED }, { "cannot_tell", JL_AUDIT_CANNOT },
	{ "given", JL_AUDIT_GIVEN },         { NULL, 0 },
};

JL_NUMBER_OF(line_of, jl_audit_finding, r->line);
JL_NUMBER_OF(column_of, jl_audit_finding, r->column);
JL_NUMBER_OF(root_of, jl_audit_finding, r->root < 0 ? (double)NAN : r->root);

static const struct jl_field finding_fields[] = {
	{ JL_FIELD(jl_audit_finding, CHOICE, verdict), .choices = verdicts },
	{ JL_FIELD(jl_audit_finding, TEXT, rule) },
	{ JL_FIELD_NUMBER_OF("line", line_of), .about = "from 1" },
	{ JL_FIELD_NUMBER_OF("column", column_of), .about = "from 1, in characters" },
	{ JL_FIELD(jl_audit_finding, TEXT, written), .about = "the figure or words as the note has them" },
	{ JL_FIELD(jl_audit_finding, CHARS, premises), .about = "what the note's own figures give" },
	{ JL_FIELD(jl_audit_finding, CHARS, estimate),
	  .about = "what is listed, or jeoul's estimate with its 80 % interval" },
	{ JL_FIELD_AS(jl_audit_finding, CHARS, en, "why") },
	{ JL_FIELD(jl_audit_finding, TEXT, source), .about = "of what is listed" },
	{ JL_FIELD_NUMBER_OF("follows_from", root_of),
	  .about = "index of the finding that this one is a consequence of" },
	{ JL_FIELD(jl_audit_finding, BOOL, shown),
	  .about = "false: its rule holds nowhere else in the note; listed with --all only" },
	{ JL_FIELD(jl_audit_finding, BOOL, impossible_premise),
	  .about = "what the premises give is no correction: they cannot be themselves" },
	{ JL_FIELD(jl_audit_finding, CHARS, fix), .about = "digits to put in place of those written" },
};
static const struct jl_schema finding_schema = JL_SCHEMA("note_finding", jl_audit_finding, finding_fields);

#define COUNT(VERDICT, KEY)                                                                                            \
	{                                                                                                              \
		.member = (KEY), .type = JL_F_SIZE,                                                                    \
		.offset = offsetof(struct jl_audit_note, n) + (VERDICT) * sizeof(size_t)                               \
	}

static const struct jl_field fields[] = {
	{ JL_FIELD(jl_audit_note, TEXT, file) },
	{ JL_FIELD_AS(jl_audit_note, SIZE, n_raw_lines, "n_lines") },
	{ JL_FIELD(jl_audit_note, SIZE, n_figures) },
	{ JL_FIELD_AS(jl_audit_note, SIZE, n_grids, "n_tables") },
	COUNT(JL_AUDIT_WRONG, "n_wrong"),
	COUNT(JL_AUDIT_DIFFERS, "n_differs"),
	COUNT(JL_AUDIT_UNLIKELY, "n_unlikely"),
	COUNT(JL_AUDIT_COMPATIBLE, "n_compatible"),
	COUNT(JL_AUDIT_CONFIRMED, "n_confirmed"),
	COUNT(JL_AUDIT_CANNOT, "n_cannot_tell"),
	COUNT(JL_AUDIT_GIVEN, "n_given"),
	{ JL_FIELD(jl_audit_note, SIZE, n_roots), .about = "errors that do not follow from another" },
	{ JL_FIELD(jl_audit_note, SIZE, n_doubts), .about = "what is unlikely and does not follow from another" },
	{ JL_FIELD(jl_audit_note, BOOL, cut), .about = "more than the limits allow: not all of it was looked at" },
	{ JL_FIELD(jl_audit_note, SIZE, n_replaced),
	  .about = "bytes that are no text: invalid UTF-8, control and direction characters" },
	{ JL_FIELD_MANY(jl_audit_note, LIST, findings, n_findings, "findings", &finding_schema) },
};
const struct jl_schema jl_audit_audit_fields = JL_SCHEMA("note", jl_audit_note, fields);
