/* One validation set: rows of published measurements as model inputs, the parameters that are fitted on them, and
 * predictions. The driver (validate, calibrate, score card) knows sets only through this. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/err.h"
#include "catalog/catalog.h"
#include "parameters/interval.h"

#define JL_N_BASELINE 2

/* What a fit may have seen of a row's kind. */
enum jl_label { JL_LABEL_GPU, JL_LABEL_FAMILY, JL_LABEL_KIND, JL_LABEL_LINK, JL_N_LABEL };
extern const char *const jl_label_ids[JL_N_LABEL]; /* "gpu", ...: as in physics/interval.h */

/* A row as the driver sees it. A line of the file gives one, and a second one where it also says how much memory was used. */
struct jl_set_row {
	size_t line;                        /* in the file */
	size_t item;                        /* index into the set's own rows; rows of one line share it */
	const char *group;                  /* split_group: a source's rows of one kind */
	const char *source;                 /* whose measurement it is */
	const char *url;                    /* where it was published; "": not said */
	const char *gpu, *framework, *link; /* labels for the tables; "" where they mean nothing */
	const char *what;                   /* the row in a few words, for the list of the worst */
	const char *model;                  /* what was run; "" where that means nothing */
	const char *format;                 /* what it computes in; NULL: not said */
	const char *unscored;               /* NULL, or why there is nothing to score, in English */
	const char *unscored_text;
	bool is_memory;       /* meas and pred are bytes that a device holds */
	bool is_second;       /* the memory that a line gives beside its own metric: counted under memory only */
	enum jl_asked answer; /* what kind of prediction it is */
	const char *kind[JL_N_LABEL]; /* ids of the model's kinds; "": means nothing */
	const char *code;             /* codebase or engine; "": not said */
	double extent_ln[JL_N_EXTENT];
	double meas, pred; /* in the set's unit */
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

/* What is known while rows are predicted: measurements that the fit has seen, and how far off answers may be. */
struct jl_known {
	const struct jl_catalog *cat;
	struct jl_widths widths;
};

struct jl_set_ops {
	const char *name;           /* train_llm */
	const char *const *files;   /* NULL-terminated: names of the files that are fitted together, without .csv */
	const char *unit;           /* of meas: "s", "W" */
	const char *const *columns; /* NULL-terminated: must be there; tell the set from its file */
	const char *const *
		measures; /* NULL-terminated: numbers of these columns must be positive, one at least; NULL: the set looks itself */
	const char *baselines[JL_N_BASELINE];        /* their names, in English */
	const char *memory_baselines[JL_N_BASELINE]; /* for is_memory rows; NULL: the set has none */
	const char *memory_line; /* the line of the tables that they are in; NULL: the one of all sets, "memory" */
	size_t case_B;           /* size of a row as a model input */
	size_t own_B;            /* of what the set keeps beside them, see begin; 0: nothing */
	size_t rows_a_line;      /* at most */
	bool has_codebases;      /* whose steps a codebase changes */

	/* Fills the set's own before the first row; NULL: nothing to do. */
	enum jl_status (*begin)(struct jl_set_data *data, struct jl_err *err);
	/* The reader's current line: fills the case behind the last one, adds its rows and counts it. A line that cannot be
	 * scored leaves an error: its row is there too, and says why. */
	enum jl_status (*add)(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err);
	struct jl_param_list (*params)(const struct jl_set_data *data); /* what is fitted */
	/* May the item's prediction depend on parameter i? NULL: on any. */
	bool (*knows)(const struct jl_set_data *data, size_t item, size_t i);
	/* Fits on the items where use[item] is not 0 (NULL: all). x: start in, best out; max_iter 0: the optimiser's
	 * default. Deterministic. */
	enum jl_status (*fit)(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			      struct jl_err *err);
	/* 0: a fit without a group begins with the priors. Else, where that takes long: how many iterations a fit gets that
	 * begins with one that had left out this group and others. */
	int refit_iter;
	size_t rows_a_group; /* that a fit without something takes of a group; 0: the driver's own number */
	/* Fills pred, half_ln and doubt of a row that can be scored, as the program's own answer has them. */
	void (*predict)(const struct jl_set_data *data, const double *x, const struct jl_known *known,
			struct jl_set_row *row);
	/* Where the predicted time or memory of a row goes, in a few words: "compute 80 %, all-reduce 20 %". */
	void (*explain)(const struct jl_set_data *data, const double *x, const struct jl_set_row *row,
			struct jl_buf *out);
	/* The command that a user types to ask for the row; NULL: none does. */
	void (*command)(const struct jl_set_data *data, const struct jl_set_row *row, struct jl_buf *out);
};

/* Every row of `csv` (opened, header read) behind those that are there: *io_data is NULL at first, and what the first call made of it at
 * the next file. A row that cannot be scored is there too, and says why. Predictions come later. Everything lives in `arena`. */
enum jl_status jl_set_load(const struct jl_set_ops *ops, struct jl_set_data **io_data, struct jl_set_rows *io_rows,
			   const struct jl_catalog *cat, struct jl_csv *csv, struct jl_arena *arena,
			   struct jl_err *err);
size_t jl_set_n_items(const struct jl_set_data *data);
/* Every row that can be scored and has only[item] not 0 (NULL: all). */
void jl_set_predict(const struct jl_set_ops *ops, const struct jl_set_data *data, const double *x,
		    const struct jl_known *known, const unsigned char *only, struct jl_set_rows *rows);

/* The adapters (ops_<set>.c): they turn a set's own reader, parameters and model into this. */
extern const struct jl_set_ops jl_gemm_ops, jl_collectives_ops, jl_llm_ops, jl_other_ops, jl_power_ops, jl_infer_ops,
	jl_load_ops, jl_serve_ops, jl_tune_ops, jl_large_ops, jl_runs_ops;
extern const struct jl_set_ops jl_served_ops[]; /* by enum jl_op_set of physics/op_params.h */
/* Every set, in the order in which they are fitted: later ones start from the physics that earlier ones found. NULL-terminated. */
extern const struct jl_set_ops *const jl_sets[];

/* By the name of a set, of one of its files, or "memory"; NULL: unknown. */
const struct jl_set_ops *jl_set_by_name(const char *name);
/* By its columns: the set whose needed columns are all there; the one that needs most where there are several. */
const struct jl_set_ops *jl_set_by_columns(const struct jl_csv *csv);
