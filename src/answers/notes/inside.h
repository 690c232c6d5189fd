/* Internals that the files of notes share. */
#pragma once

#include "notes/audit.h"
#include "predict/predict.h"

/* read.c */
enum jl_status jl_audit_read(struct jl_audit_note *note, struct jl_err *err);
bool jl_audit_names_html(const char *name, const char *text, size_t len);

/* units.c: finds the longest unit at the start of `text`; NULL: none. `glued`: it directly follows the digits. */
struct jl_audit_unit {
	enum jl_qty qty;
	double scale;
	const char *spellings; /* "minutes|minute|min|분" */
};
const struct jl_audit_unit *jl_audit_unit_at(const char *text, size_t len, bool glued, size_t *ret_len);
/* Dimension as exponents of s, B, FLOP, J, USD and KRW. */
#define JL_N_DIM 6
const signed char *jl_qty_dims(enum jl_qty q);

/* figures.c */
enum jl_status jl_audit_figures(struct jl_audit_note *note, struct jl_err *err);
/* Parses a figure at `at`, or after spaces before `end`; false: none. */
bool jl_figure_at(struct jl_figure *ret_figure, const char *text, size_t at, size_t end);

/* mentions.c */
enum jl_status jl_audit_mentions(struct jl_audit_note *note, struct jl_err *err);
/* The hardware that the text at an offset refers to: from its line, its list, or the headings above. NULL: none or ambiguous. */
const struct jl_mention *jl_audit_speaks_of(const struct jl_audit_note *note, uint32_t at);
const struct jl_mention *jl_audit_mention_in(const struct jl_audit_note *note, const struct jl_line *line,
					     uint32_t from, uint32_t to);
const struct jl_mention *jl_audit_line_mention(const struct jl_audit_note *note, uint32_t line);
/* Hardware in the nearest heading above the line that names any. */
const struct jl_mention *jl_audit_section_mention(const struct jl_audit_note *note, uint32_t line);
const struct jl_entity *jl_mention_entity(const struct jl_audit_note *note, const struct jl_mention *mention);
bool jl_entities_overlap(const struct jl_entity *a, const struct jl_entity *b);
bool jl_same_entity(const struct jl_audit_note *note, const struct jl_mention *a, const struct jl_mention *b);

/* grids.c */
enum jl_status jl_audit_grids(struct jl_audit_note *note, struct jl_err *err);
enum jl_status jl_audit_lists(struct jl_audit_note *note, struct jl_err *err);
struct jl_grid *jl_grid_new(struct jl_audit_note *note, enum jl_grid_kind kind, size_t n_rows, size_t n_cols);
bool jl_grid_label(struct jl_audit_note *note, struct jl_grid *g); /* hashes the first cell of each row */
struct jl_cell *jl_grid_cell(const struct jl_grid *grid, uint32_t row, uint32_t col);
/* Normalises a label for comparison: lower case, without spaces, punctuation and parentheses. Returns its length. */
size_t jl_audit_label(char *out, size_t size, const char *text, size_t len);

/* words.c: true if the text contains one of the words (separated by "|"). Case-insensitive; ASCII words match whole words only. */
bool jl_span_has(const char *text, size_t len, const char *words);
/* True if the text starts with one of the words, or with `whole` equals one. */
bool jl_words_begin(const char *text, size_t len, const char *words, bool whole);
size_t jl_word_len(const char *words); /* length of the first word */
/* For any struct with `at` and `len`: line, cell, figure, ... */
#define JL_PART_HAS(note, part, words) jl_span_has((note)->text + (part)->at, (part)->len, (words))
double jl_fig_mid(const struct jl_figure *fig);
/* Absolute tolerance: half of the last digit; a full digit after "about" or if truncated. */
double jl_fig_slack(const struct jl_figure *fig);
/* Formats a value in the unit and precision of `like`, with `more` additional digits: "107.0 h", "2,560". */
const char *jl_fig_text(char out[JL_SHOULD_MAX], const struct jl_audit_note *note, const struct jl_figure *like,
			double value, int more);
/* Formats a range in the same way. */
const char *jl_fig_range_text(char out[JL_SHOULD_MAX], const struct jl_audit_note *note, const struct jl_figure *like,
			      double lo, double hi);
/* Formats the digits only, to replace those of a figure. */
const char *jl_fig_digits(char out[JL_SHOULD_MAX], const struct jl_figure *like, double value, int more);
/* Tests for a typing error: one different digit, two swapped ones, a missing one, or a shifted decimal point. 2: yes; 1: too few digits to
 * decide; 0: no. */
int jl_is_slip(const char *x, size_t n, const char *y, size_t m);
/* Finds the sentence of a line that contains an offset. */
void jl_audit_sentence(const struct jl_audit_note *note, const struct jl_line *line, uint32_t at, uint32_t *ret_from,
		       uint32_t *ret_to);
const char *jl_audit_quote(struct jl_audit_note *note, uint32_t at, uint32_t len);
#define JL_QUOTE(note, part) jl_audit_quote((note), (part)->at, (part)->len)

/* findings.c */
/* Counts a skipped line or table of excessive size. */
void jl_audit_too_long(struct jl_audit_note *note, uint32_t at);
struct jl_audit_finding *jl_finding_new(struct jl_audit_note *note, enum jl_audit_verdict verdict, const char *rule,
					uint32_t at, uint32_t len, int32_t figure);
/* The same at the place of a figure. */
struct jl_audit_finding *jl_finding_on_figure(struct jl_audit_note *note, enum jl_audit_verdict verdict,
					      const char *rule, int32_t figure);
#define jl_audit_finding_explain(f, ...) jl_msg_print((f)->en, (f)->text, sizeof(f)->en, __VA_ARGS__)
/* Explains a finding as "a sign b gives ...": arithmetic on two figures that should yield this one. `fix`: also sets the correction. */
void jl_finding_gives(struct jl_audit_note *note, const struct jl_figure *is, double want, bool fix, const char *a,
		      const char *sign, const char *b);
/* Sets a figure's verdict. The first one is kept, unless it was GIVEN or CANNOT. */
void jl_audit_judge(struct jl_audit_note *note, int32_t figure, enum jl_audit_verdict verdict);
/* As jl_is_slip: whether `value` may be what the figure was meant to be. */
int jl_fig_slip(const struct jl_audit_note *note, const struct jl_figure *fig, double value);
/* The figure's corrected value if known, otherwise its written value. */
double jl_finding_value(const struct jl_audit_note *note, int32_t figure);
int32_t jl_finding_of(const struct jl_audit_note *note, int32_t figure); /* index of the figure's finding; -1: none */
void jl_audit_findings_close(struct jl_audit_note *note);

/* rules in the order in which they run */
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

/* Estimates for the machines that a note names. */
/* The accelerator and count of a mention; ambiguities are resolved by the note's most specific mention of it. NULL: unknown. */
const struct jl_gpu *jl_audit_gpu(const struct jl_audit_note *note, const struct jl_mention *mention,
				  uint32_t *ret_count);
bool jl_audit_machine(struct jl_machine *ret_machine, const struct jl_audit_note *note,
		      const struct jl_mention *mention, uint32_t count);

/* Transfers an observed step of `batch` samples to another system: speed ratio per sample with 80 % interval. `as_many`: if the number of `to`
 * is not given, assume that of `from`, otherwise one. */
struct jl_seen {
	const struct jl_mention *on;
	double step_s, batch, batches;
};
bool jl_audit_carry(struct jl_estimate *ret_speedup, struct jl_audit_note *note, const struct jl_seen *seen,
		    const struct jl_mention *to, bool as_many);

/* Largest ratio of any listed rate (16 bits, FP32 or TF32 instead of FP32, memory) of two systems, since notes rarely state the precision: an
 * upper bound from the hardware. NAN: unknown. */
double jl_audit_rate_ratio(const struct jl_audit_note *note, const struct jl_mention *to, const struct jl_mention *from,
			   bool as_many);
/* The same for single devices, over all variants that the names may refer to. */
double jl_entity_rate_ratio(const struct jl_entity *to, const struct jl_entity *from);
