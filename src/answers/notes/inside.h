/* What the files of this room share. */
#pragma once

#include "notes/audit.h"
#include "predict/predict.h"

/* read.c */
enum jl_status jl_audit_read(struct jl_audit_note *note, struct jl_err *err);
bool jl_audit_names_html(const char *name, const char *text, size_t len);

/* units.c: the unit that begins at `text`, longest first; NULL: none. `glued`: it stands right behind the digits. */
struct jl_audit_unit {
	enum jl_qty qty;
	double scale;
	const char *spellings; /* "minutes|minute|min|분" */
};
const struct jl_audit_unit *jl_audit_unit_at(const char *text, size_t len, bool glued, size_t *ret_len);
/* What it is a number of, as powers of s, B, FLOP, J, USD and KRW. */
#define JL_N_DIM 6
const signed char *jl_qty_dims(enum jl_qty q);

/* figures.c */
enum jl_status jl_audit_figures(struct jl_audit_note *note, struct jl_err *err);
/* One figure at `at` or behind blanks before `end`; false: none begins there. */
bool jl_figure_at(struct jl_figure *ret_figure, const char *text, size_t at, size_t end);

/* mentions.c */
enum jl_status jl_audit_mentions(struct jl_audit_note *note, struct jl_err *err);
/* The hardware that the text at an offset speaks of: its line, its list, the headings above. NULL: none or several. */
const struct jl_mention *jl_audit_speaks_of(const struct jl_audit_note *note, uint32_t at);
const struct jl_mention *jl_audit_mention_in(const struct jl_audit_note *note, const struct jl_line *line,
					     uint32_t from, uint32_t to);
const struct jl_mention *jl_audit_line_mention(const struct jl_audit_note *note, uint32_t line);
/* Of the nearest heading above a line that names hardware. */
const struct jl_mention *jl_audit_section_mention(const struct jl_audit_note *note, uint32_t line);
const struct jl_entity *jl_mention_entity(const struct jl_audit_note *note, const struct jl_mention *mention);
bool jl_entities_overlap(const struct jl_entity *a, const struct jl_entity *b);
bool jl_same_entity(const struct jl_audit_note *note, const struct jl_mention *a, const struct jl_mention *b);

/* grids.c */
enum jl_status jl_audit_grids(struct jl_audit_note *note, struct jl_err *err);
enum jl_status jl_audit_lists(struct jl_audit_note *note, struct jl_err *err);
struct jl_grid *jl_grid_new(struct jl_audit_note *note, enum jl_grid_kind kind, size_t n_rows, size_t n_cols);
bool jl_grid_label(struct jl_audit_note *note, struct jl_grid *g); /* its rows, by their first cells */
struct jl_cell *jl_grid_cell(const struct jl_grid *grid, uint32_t row, uint32_t col);
/* A label as it is compared: small letters, no blanks, marks or what stands in parentheses. Returns its length. */
size_t jl_audit_label(char *out, size_t size, const char *text, size_t len);

/* words.c: true where the text contains one of these words ("|" between them). Case is ignored; ASCII words match only whole words. */
bool jl_span_has(const char *text, size_t len, const char *words);
/* Does the text begin with one of them, or (`whole`) is it one? */
bool jl_words_begin(const char *text, size_t len, const char *words, bool whole);
size_t jl_word_len(const char *words); /* of the first */
/* Of a line, a cell, a figure, ...: what has a place and a length. */
#define JL_PART_HAS(note, part, words) jl_span_has((note)->text + (part)->at, (part)->len, (words))
double jl_fig_mid(const struct jl_figure *fig);
/* How far off is still right: half of the last digit, all of it behind "about" or where digits were cut off. */
double jl_fig_slack(const struct jl_figure *fig);
/* A value in the unit of a figure, as exactly as that one was written (`more` digits more): "107.0 h", "2,560". */
const char *jl_fig_text(char out[JL_SHOULD_MAX], const struct jl_audit_note *note, const struct jl_figure *like,
			double value, int more);
/* Two ends of a range in it. */
const char *jl_fig_range_text(char out[JL_SHOULD_MAX], const struct jl_audit_note *note, const struct jl_figure *like,
			      double lo, double hi);
/* The digits alone, to be put in place of the figure's. */
const char *jl_fig_digits(char out[JL_SHOULD_MAX], const struct jl_figure *like, double value, int more);
/* Are they the same digits but for one, two that changed places, one that is missing, or the point? 2: yes, 1: digits are too few to
 * tell, 0: no. */
int jl_is_slip(const char *x, size_t n, const char *y, size_t m);
/* The sentence of a line that an offset stands in. */
void jl_audit_sentence(const struct jl_audit_note *note, const struct jl_line *line, uint32_t at, uint32_t *ret_from,
		       uint32_t *ret_to);
const char *jl_audit_quote(struct jl_audit_note *note, uint32_t at, uint32_t len);
#define JL_QUOTE(note, part) jl_audit_quote((note), (part)->at, (part)->len)

/* findings.c */
/* A line or a table that begins there is longer than what is looked at. */
void jl_audit_too_long(struct jl_audit_note *note, uint32_t at);
struct jl_audit_finding *jl_finding_new(struct jl_audit_note *note, enum jl_audit_verdict verdict, const char *rule,
					uint32_t at, uint32_t len, int32_t figure);
/* The same on a figure, which it is about. */
struct jl_audit_finding *jl_finding_on_figure(struct jl_audit_note *note, enum jl_audit_verdict verdict,
					      const char *rule, int32_t figure);
#define jl_audit_finding_explain(f, ...) jl_msg_print((f)->en, (f)->text, sizeof(f)->en, __VA_ARGS__)
/* "a sign b gives ...": arithmetic of two figures that another one should be; `fix`: it is to be put right. */
void jl_finding_gives(struct jl_audit_note *note, const struct jl_figure *is, double want, bool fix, const char *a,
		      const char *sign, const char *b);
/* What was judged right, or is an input of something judged. The first verdict that a figure gets stays, but for GIVEN and CANNOT. */
void jl_audit_judge(struct jl_audit_note *note, int32_t figure, enum jl_audit_verdict verdict);
/* As jl_is_slip: whether a value may be what was meant by a figure. */
int jl_fig_slip(const struct jl_audit_note *note, const struct jl_figure *fig, double value);
/* The corrected value of a figure where it is known, else its written value. */
double jl_finding_value(const struct jl_audit_note *note, int32_t figure);
int32_t jl_finding_of(const struct jl_audit_note *note, int32_t figure); /* index of the finding on a figure; -1 */
void jl_audit_findings_close(struct jl_audit_note *note);

/* the rules, in their order */
void jl_rule_arithmetic(struct jl_audit_note *note);
void jl_rule_changes(struct jl_audit_note *note);
void jl_rule_tables(struct jl_audit_note *note);
void jl_rule_batches(struct jl_audit_note *note);
void jl_rule_scaling(struct jl_audit_note *note);
void jl_rule_same(struct jl_audit_note *note);
void jl_rule_slips(struct jl_audit_note *note);
void jl_rule_listed(struct jl_audit_note *note);
void jl_rule_prices(struct jl_audit_note *note);
void jl_rule_bounds(struct jl_audit_note *note);
void jl_rule_fits(struct jl_audit_note *note);
void jl_rule_orders(struct jl_audit_note *note);
void jl_rule_expected(struct jl_audit_note *note);
enum jl_status jl_rule_confusions(struct jl_audit_note *note, struct jl_err *err);

/* jeoul's own view of what a note says: the machines that it names, and a run of it carried from one to another. */
/* The accelerator that a mention means, and how many: where it leaves either open, the note's fullest mention of it decides. NULL: none. */
const struct jl_gpu *jl_audit_gpu(const struct jl_audit_note *note, const struct jl_mention *mention,
				  uint32_t *ret_count);
bool jl_audit_machine(struct jl_machine *ret_machine, const struct jl_audit_note *note,
		      const struct jl_mention *mention, uint32_t count);

/* A run seen on one system (a step of `batch` samples) on another: its time per sample / the seen one's, with its 80 % interval.
 * `as_many`: where it is not said how many `to` are, they are as many as `from`, else one. */
struct jl_seen {
	const struct jl_mention *on;
	double step_s, batch, batches;
};
bool jl_audit_carry(struct jl_estimate *ret_speedup, struct jl_audit_note *note, const struct jl_seen *seen,
		    const struct jl_mention *to, bool as_many);

/* The largest ratio of any listed rate (16 bits, FP32 or TF32 where it was FP32, memory) of two systems, since a note seldom says in which
 * precision it ran: more is not in the hardware. NAN: not known. */
double jl_audit_rate_ratio(const struct jl_audit_note *note, const struct jl_mention *to, const struct jl_mention *from,
			   bool as_many);
/* The same of one each, over all variants that the names may mean. */
double jl_entity_rate_ratio(const struct jl_entity *to, const struct jl_entity *from);
