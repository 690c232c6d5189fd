/* Interface of a validation set: published measurements as model inputs, fitted parameters, predictions. The driver (validate, calibrate,
 * scorecard) uses sets only through it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/err.h"
#include "catalog/catalog.h"
#include "parameters/interval.h"

#define JL_N_BASELINE 2

/* Labels of a row by which the fit counts what was measured. */
enum jl_label { JL_LABEL_GPU, JL_LABEL_FAMILY, JL_LABEL_KIND, JL_LABEL_LINK, JL_N_LABEL };
extern const char *const jl_label_ids[JL_N_LABEL]; /* "gpu", ...: as in parameters/interval.h */

/* A row for the driver. A line of the file gives one row, and a second one if it also states memory. */
struct jl_set_row {
	size_t line;                        /* line in the file */
	size_t item;                        /* index into the set's own rows; rows of one line share it */
	const char *group;                  /* split_group: rows of one kind from one source */
	const char *source;                 /* author of the measurement */
	const char *url;                    /* where it was published; "": unstated */
	const char *gpu, *framework, *link; /* labels for the tables; "": not applicable */
	const char *what;                   /* short description, for the list of the worst rows */
	const char *model;                  /* name of the model; "": not applicable */
	const char *format;                 /* compute format; NULL: unstated */
	const char *unscored;               /* reason why the row is not scored, in English; NULL: scored */
	const char *unscored_text;
	bool is_memory;               /* meas and pred are bytes of device memory */
	bool is_second;               /* memory stated beside the line's main metric: counted under memory only */
	enum jl_asked answer;         /* kind of prediction */
	const char *kind[JL_N_LABEL]; /* ids of the model's kinds; "": not applicable */
	const char *code;             /* codebase or engine; "": unstated */
	double extent_ln[JL_N_EXTENT];
	double meas, pred; /* measured and predicted value in the set's unit */
	double half_ln;    /* 80 % interval: ln(pred) ± half_ln */
	struct jl_doubt doubt;
	double naive[JL_N_BASELINE]; /* predictions of the naive baselines; NAN: none */
};

struct jl_set_data; /* rows as model inputs: set_rows.h */
struct jl_set_reader;

struct jl_set_rows {
	struct jl_set_row *rows;
	size_t n, room;
};

/* Knowledge used for predictions: measurements seen by the fit, and widths of intervals. */
struct jl_known {
	const struct jl_catalog *cat;
	struct jl_widths widths;
};

struct jl_set_ops {
	const char *name;           /* name of the set: train_llm */
	const char *const *files;   /* NULL-terminated: names of the files fitted together, without .csv */
	const char *unit;           /* unit of meas: "s", "W" */
	const char *const *columns; /* NULL-terminated: mandatory columns; identify the set of a file */
	const char *const *
		/* NULL-terminated: columns whose numbers must be positive, at least one present; NULL: the set checks itself */
		measures;
	const char *baselines[JL_N_BASELINE];        /* names of the naive baselines, in English */
	const char *memory_baselines[JL_N_BASELINE]; /* names of the baselines of is_memory rows; NULL: none */
	const char *memory_line; /* line of the tables for its memory rows; NULL: the common one, "memory" */
	size_t case_B;           /* bytes of a row as model input */
	size_t own_B;            /* bytes of the set's other data, see begin; 0: none */
	size_t rows_a_line;      /* maximum number of rows per line of the file */
	bool has_codebases;      /* true if steps depend on a codebase */

	/* Initialises the set's own data before the first row; NULL: nothing to do. */
	enum jl_status (*begin)(struct jl_set_data *data, struct jl_err *err);
	/* Reads the current line: fills the next case, adds and counts its rows. If a line cannot be scored, returns an error, and the row is added
	 * with the reason. */
	enum jl_status (*add)(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err);
	struct jl_param_list (*params)(const struct jl_set_data *data); /* parameters that are fitted */
	/* False: the item's prediction does not depend on parameter i. NULL: it may depend on any. */
	bool (*knows)(const struct jl_set_data *data, size_t item, size_t i);
	/* Fits to the items with use[item] != 0 (NULL: all). x: in: start; out: best; max_iter 0: the optimiser's default. Deterministic. */
	enum jl_status (*fit)(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			      struct jl_err *err);
	/* Leave-one-group-out fits: 0: start from the priors. Otherwise, for slow sets: number of iterations of a fit that starts from one that
	 * left out this group and others. */
	int refit_iter;
	size_t rows_a_group; /* maximum rows per group in a leave-one-out fit; 0: the driver's default */
	/* Sets pred, half_ln and doubt of a scored row as the program's own answer would. */
	void (*predict)(const struct jl_set_data *data, const double *x, const struct jl_known *known,
			struct jl_set_row *row);
	/* Breakdown of a row's predicted time or memory: "compute 80 %, all-reduce 20 %". */
	void (*explain)(const struct jl_set_data *data, const double *x, const struct jl_set_row *row,
			struct jl_buf *out);
	/* Command line that asks for the row; NULL: none. */
	void (*command)(const struct jl_set_data *data, const struct jl_set_row *row, struct jl_buf *out);
};

/* Appends every row of `csv` (opened, header read). *io_data: NULL for the first file, then the result of the previous call. Rows that cannot be
 * scored are added with the reason. Does not predict. Allocates in `arena`. */
enum jl_status jl_set_load(const struct jl_set_ops *ops, struct jl_set_data **io_data, struct jl_set_rows *io_rows,
			   const struct jl_catalog *cat, struct jl_csv *csv, struct jl_arena *arena,
			   struct jl_err *err);
size_t jl_set_n_items(const struct jl_set_data *data);
/* Predicts every scored row with only[item] != 0 (NULL: all). */
void jl_set_predict(const struct jl_set_ops *ops, const struct jl_set_data *data, const double *x,
		    const struct jl_known *known, const unsigned char *only, struct jl_set_rows *rows);

/* The sets (ops_<set>.c): each adapts its reader, parameters and model to this interface. */
extern const struct jl_set_ops jl_gemm_ops, jl_collectives_ops, jl_llm_ops, jl_other_ops, jl_power_ops, jl_infer_ops,
	jl_load_ops, jl_serve_ops, jl_tune_ops, jl_large_ops, jl_runs_ops;
extern const struct jl_set_ops jl_served_ops[]; /* by enum jl_op_set of parameters/op_params.h */
/* All sets in the order of fitting: later sets use parameters fitted by earlier ones. NULL-terminated. */
extern const struct jl_set_ops *const jl_sets[];

/* By the name of a set, of one of its files, or "memory"; NULL: unknown. */
const struct jl_set_ops *jl_set_by_name(const char *name);
/* Set whose mandatory columns are all present; of several the one with most. */
const struct jl_set_ops *jl_set_by_columns(const struct jl_csv *csv);
