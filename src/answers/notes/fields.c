#include "notes/fields.h"

#include <math.h>

#include "notes/memo.h"

static const struct jl_choice verdicts[] = {
	{ "wrong", JL_MEMO_WRONG },         { "differs", JL_MEMO_DIFFERS },
	{ "unlikely", JL_MEMO_UNLIKELY },   { "compatible", JL_MEMO_COMPATIBLE },
	{ "confirmed", JL_MEMO_CONFIRMED }, { "cannot_tell", JL_MEMO_CANNOT },
	{ "given", JL_MEMO_GIVEN },         { NULL, 0 },
};

JL_NUMBER_OF(line_of, jl_said_finding, r->line);
JL_NUMBER_OF(column_of, jl_said_finding, r->column);
JL_NUMBER_OF(root_of, jl_said_finding, r->root < 0 ? (double)NAN : r->root);

static const struct jl_field finding_fields[] = {
	{ JL_FIELD(jl_said_finding, CHOICE, verdict), .choices = verdicts },
	{ JL_FIELD(jl_said_finding, TEXT, rule) },
	{ JL_FIELD_NUMBER_OF("line", line_of), .about = "from 1" },
	{ JL_FIELD_NUMBER_OF("column", column_of), .about = "from 1, in characters" },
	{ JL_FIELD(jl_said_finding, TEXT, written), .about = "the figure or words as the note has them" },
	{ JL_FIELD(jl_said_finding, CHARS, premises), .about = "what the note's own figures give" },
	{ JL_FIELD(jl_said_finding, CHARS, estimate),
	  .about = "what is listed, or jeoul's estimate with its 80 % interval" },
	{ JL_FIELD_AS(jl_said_finding, CHARS, en, "why") },
	{ JL_FIELD(jl_said_finding, TEXT, source), .about = "of what is listed" },
	{ JL_FIELD_NUMBER_OF("follows_from", root_of),
	  .about = "index of the finding that this one is a consequence of" },
	{ JL_FIELD(jl_said_finding, BOOL, shown),
	  .about = "false: its rule holds nowhere else in the note; listed with --all only" },
	{ JL_FIELD(jl_said_finding, BOOL, impossible_premise),
	  .about = "what the premises give is no correction: they cannot be themselves" },
	{ JL_FIELD(jl_said_finding, CHARS, fix), .about = "digits to put in place of those written" },
};
static const struct jl_schema finding_schema = JL_SCHEMA("note_finding", jl_said_finding, finding_fields);

#define COUNT(VERDICT, KEY)                                                                                            \
	{                                                                                                              \
		.member = (KEY), .type = JL_F_SIZE, .offset = offsetof(struct jl_memo, n) + (VERDICT) * sizeof(size_t) \
	}

static const struct jl_field fields[] = {
	{ JL_FIELD(jl_memo, TEXT, file) },
	{ JL_FIELD_AS(jl_memo, SIZE, n_raw_lines, "n_lines") },
	{ JL_FIELD(jl_memo, SIZE, n_figures) },
	{ JL_FIELD_AS(jl_memo, SIZE, n_grids, "n_tables") },
	COUNT(JL_MEMO_WRONG, "n_wrong"),
	COUNT(JL_MEMO_DIFFERS, "n_differs"),
	COUNT(JL_MEMO_UNLIKELY, "n_unlikely"),
	COUNT(JL_MEMO_COMPATIBLE, "n_compatible"),
	COUNT(JL_MEMO_CONFIRMED, "n_confirmed"),
	COUNT(JL_MEMO_CANNOT, "n_cannot_tell"),
	COUNT(JL_MEMO_GIVEN, "n_given"),
	{ JL_FIELD(jl_memo, SIZE, n_roots), .about = "errors that do not follow from another" },
	{ JL_FIELD(jl_memo, SIZE, n_doubts), .about = "what is unlikely and does not follow from another" },
	{ JL_FIELD(jl_memo, BOOL, cut), .about = "more than the limits allow: not all of it was looked at" },
	{ JL_FIELD(jl_memo, SIZE, n_replaced),
	  .about = "bytes that are no text: invalid UTF-8, control and direction characters" },
	{ JL_FIELD_MANY(jl_memo, LIST, findings, n_findings, "findings", &finding_schema) },
};
const struct jl_schema jl_memo_audit_fields = JL_SCHEMA("note", jl_memo, fields);
