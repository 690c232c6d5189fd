/* A grid as numbers, and relations between its columns supported by its rows. */
#pragma once

#include "notes/inside.h"

struct jl_sheet {
	uint32_t n_rows, n_cols;
	const struct jl_grid *grid; /* grid of the first columns and of the labels */
	int32_t fig[JL_AUDIT_ROWS_MAX][JL_AUDIT_COLS_MAX];
	double ln[JL_AUDIT_ROWS_MAX][JL_AUDIT_COLS_MAX];       /* ln of the value; NAN: none, or not positive */
	double slack[JL_AUDIT_ROWS_MAX][JL_AUDIT_COLS_MAX];    /* relative tolerance as a result: one digit */
	double in_slack[JL_AUDIT_ROWS_MAX][JL_AUDIT_COLS_MAX]; /* as an input: 0 for counts, a digit if truncated */
	uint8_t qty[JL_AUDIT_COLS_MAX];                        /* quantity per column; JL_N_Q: mixed */
	/* number in the header, e.g. "10 epochs", "month (30 days)"; NAN: none */
	double head_number[JL_AUDIT_COLS_MAX];
	double ln_unit[JL_AUDIT_COLS_MAX]; /* ln of the common unit; NAN: several */
	bool is_ratio[JL_AUDIT_COLS_MAX];  /* the header says so: speedup, efficiency */
	bool is_rate[JL_AUDIT_COLS_MAX];   /* per second */
	bool is_stat[JL_AUDIT_COLS_MAX];   /* percentile or mean: measured, not derived */
	uint32_t head_at[JL_AUDIT_COLS_MAX], head_len[JL_AUDIT_COLS_MAX];
	uint32_t row_of[JL_AUDIT_ROWS_MAX]; /* row in the grid */
	int32_t total;                      /* row that sums those above; -1: none */
};

/* sheet_read.c */
void jl_sheet_of(const struct jl_audit_note *note, struct jl_sheet *s, const struct jl_grid *g);
/* Adds a column whose cells are in `fig` already. `head` NULL: no header. */
void jl_sheet_add(const struct jl_audit_note *note, struct jl_sheet *s, const struct jl_cell *head);
bool jl_sheet_is_total(const struct jl_audit_note *note, const struct jl_sheet *s, uint32_t row);

enum jl_form { JL_FORM_PRODUCT, JL_FORM_SUM, JL_FORM_SCALE, JL_FORM_SCALE2, JL_FORM_REST, JL_FORM_ROW };

/* PRODUCT: out = k * a^ea * b^eb. SUM: out = a + eb * b. REST: out = k - a, with k the `a` of a row without `out`. ROW: sum of columns a to b. */
struct jl_relation {
	enum jl_form form;
	int out, a, b; /* columns; b -1: none */
	int ea, eb;
	double ln_k;     /* ln of k; 0: no constant */
	double evidence; /* nats from agreeing rows minus the cost of trying */
	int n_ok, n_bad;
	double far; /* how far beyond its tolerance a row must deviate to be wrong */
	bool weak;  /* too few digits to find errors: only propagates those of known wrong figures */
	bool tight; /* rows agree much better than their digits require */
};

enum jl_fit { JL_FIT_NONE, JL_FIT_OK, JL_FIT_BAD };
enum jl_fit jl_relation_fit(const struct jl_sheet *sheet, const struct jl_relation *rel, uint32_t row);
/* Value of `out` by the row's inputs; NAN: one is missing. `with`: value (SI) to use for column `col`. */
double jl_relation_value(const struct jl_sheet *sheet, const struct jl_relation *rel, uint32_t row, int col,
			 double with);
/* Fits the constant; false: fewer than three rows agree on one. */
bool jl_relation_constant(const struct jl_sheet *sheet, struct jl_relation *rel);

/* The best relation per column from `first_out` on; none unless ret[column].evidence > 0. `within`: columns of one table. */
void jl_sheet_relations(struct jl_relation ret[JL_AUDIT_COLS_MAX], const struct jl_sheet *sheet, double *work,
			uint32_t first_out, bool within);

/* blame.c */
struct jl_blame {
	int col; /* wrong cell, and its correct value */
	double value;
	int other; /* another equally likely cell; -1: none */
	double other_value;
};
bool jl_sheet_blame(struct jl_blame *ret, const struct jl_audit_note *note, struct jl_sheet *s,
		    const struct jl_relation rels[], uint32_t row, const struct jl_relation *broken);
/* True if another relation of the row that involves this cell holds. */
bool jl_sheet_bears_out(const struct jl_sheet *s, const struct jl_relation rels[], uint32_t row, int col);
/* Tests whether a column sums to its total, with `value` substituted in `row`. */
enum jl_fit jl_sheet_adds_up(const struct jl_audit_note *note, const struct jl_sheet *s, uint32_t col, uint32_t row,
			     double value, double *ret_sum);
