/* A grid as numbers, and the relations between its columns that its own rows bear out. */
#pragma once

#include "notes/inside.h"

struct jl_sheet {
	uint32_t n_rows, n_cols;
	const struct jl_grid *grid; /* of the first columns; labels come from it */
	int32_t fig[JL_AUDIT_ROWS_MAX][JL_AUDIT_COLS_MAX];
	double ln[JL_AUDIT_ROWS_MAX][JL_AUDIT_COLS_MAX];    /* NAN: no figure, or none above 0 */
	double slack[JL_AUDIT_ROWS_MAX][JL_AUDIT_COLS_MAX]; /* relative: of a result, one digit */
	double in_slack[JL_AUDIT_ROWS_MAX]
		       [JL_AUDIT_COLS_MAX];    /* of an input: nothing for counts, one digit where it may be cut off */
	uint8_t qty[JL_AUDIT_COLS_MAX];        /* of the column; JL_N_Q: mixed */
	double head_number[JL_AUDIT_COLS_MAX]; /* "10 epochs", "month (30 days)": the digits; NAN: none */
	double ln_unit[JL_AUDIT_COLS_MAX];     /* of the unit that all its figures share; NAN: several */
	bool is_ratio[JL_AUDIT_COLS_MAX];      /* its head says so: speed-up, efficiency */
	bool is_rate[JL_AUDIT_COLS_MAX];       /* so many a second */
	bool is_stat[JL_AUDIT_COLS_MAX];       /* a percentile, a mean: measured for itself, follows from nothing */
	uint32_t head_at[JL_AUDIT_COLS_MAX], head_len[JL_AUDIT_COLS_MAX];
	uint32_t row_of[JL_AUDIT_ROWS_MAX]; /* in the grid */
	int32_t total;                      /* the row that adds up those above it; -1: none */
};

/* sheet_read.c */
void jl_sheet_of(const struct jl_audit_note *note, struct jl_sheet *s, const struct jl_grid *g);
/* The next column, its cells being in `fig` already. `head` NULL: it has none. */
void jl_sheet_add(const struct jl_audit_note *note, struct jl_sheet *s, const struct jl_cell *head);
bool jl_sheet_is_total(const struct jl_audit_note *note, const struct jl_sheet *s, uint32_t row);

enum jl_form { JL_FORM_PRODUCT, JL_FORM_SUM, JL_FORM_SCALE, JL_FORM_SCALE2, JL_FORM_REST, JL_FORM_ROW };

/* out = k * a^ea * b^eb, or out = a + eb * b, or out = k - a where k is the `a` of a row that has no `out`, or the sum of the columns a to b */
struct jl_relation {
	enum jl_form form;
	int out, a, b; /* b -1: none */
	int ea, eb;
	double ln_k;     /* 0 where there is no constant */
	double evidence; /* nats that the agreeing rows bear, less what trying costs */
	int n_ok, n_bad;
	double far; /* how much further off than its digits allow a row must be to be wrong */
	bool weak;  /* too few digits to find an error by it: only shows what follows from a wrong figure */
	bool tight; /* its rows agree far better than their digits would need */
};

enum jl_fit { JL_FIT_NONE, JL_FIT_OK, JL_FIT_BAD };
enum jl_fit jl_relation_fit(const struct jl_sheet *sheet, const struct jl_relation *rel, uint32_t row);
/* What the inputs of a row give for `out`; NAN where one is missing. `with`: a value (SI) to take for the column `col` instead. */
double jl_relation_value(const struct jl_sheet *sheet, const struct jl_relation *rel, uint32_t row, int col,
			 double with);
/* Sets the constant that most rows share; false: fewer than three say one. */
bool jl_relation_constant(const struct jl_sheet *sheet, struct jl_relation *rel);

/* The best relation for each column from `first_out` on that has one, in ret[column].evidence > 0. `within`: of one table, not of two. */
void jl_sheet_relations(struct jl_relation ret[JL_AUDIT_COLS_MAX], const struct jl_sheet *sheet, double *work,
			uint32_t first_out, bool within);

/* blame.c */
struct jl_blame {
	int col; /* the cell that is wrong, and what it should be */
	double value;
	int other; /* another that would do as well; -1: none, the first it is */
	double other_value;
};
bool jl_sheet_blame(struct jl_blame *ret, const struct jl_audit_note *note, struct jl_sheet *s,
		    const struct jl_relation rels[], uint32_t row, const struct jl_relation *broken);
/* Does another relation of the row hold that this cell is in? */
bool jl_sheet_bears_out(const struct jl_sheet *s, const struct jl_relation rels[], uint32_t row, int col);
/* Does a column add up to the row of totals, with `value` in place of what stands in `row`? */
enum jl_fit jl_sheet_adds_up(const struct jl_audit_note *note, const struct jl_sheet *s, uint32_t col, uint32_t row,
			     double value, double *ret_sum);
