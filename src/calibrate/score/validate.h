/* Accuracy of the program: published measurements against predictions. Reads texts, allocates in an arena, prints nothing. */
#pragma once

#include "base/err.h"
#include "score/score.h"
#include "rows/set.h"

/* Fit of interval widths (parameters/interval.h) to rows predicted without their source. */
/* Rows, each with the unit left out when it was predicted: its source, or its group in sets with one source. */
struct jl_width_rows {
	const struct jl_set_row **rows; /* scored rows */
	const char **unit;
	size_t n;
	size_t *n_alike, *before; /* per row: number of rows of its unit and kind, and number before it */
	size_t (*pairs)[2];       /* comparable rows: the same model from one source on two devices */
	size_t n_pairs;
};

/* Computes derived members from rows and units. */
enum jl_status jl_widths_prepare(struct jl_width_rows *rows, struct jl_arena *arena, struct jl_err *err);

/* Fits to the rows of all other units (without NULL: all) the 80 % quantile of |ln(pred/meas)|, by its asymmetric absolute loss. Rows of one unit
 * and kind share unknown properties, so together they count as few. Then fits the correlation of two answers' errors, so that 80 % of the pairs'
 * ratios are inside. Keeps the extents of `widths`. */
enum jl_status jl_widths_fit(const struct jl_width_rows *rows, const char *without, struct jl_widths *widths,
			     struct jl_err *err);

/* Number of pairs of the unit `of` (NULL: all) whose ratio is inside; *ret_pairs: of how many. */
size_t jl_widths_pairs_in(const struct jl_width_rows *rows, const char *of, const struct jl_widths *widths,
			  size_t *ret_pairs);

/* Measured kinds of a set as catalog data ("seen."; parameters/interval.h): ids of kinds with the number of rows, ranges of extents, and number of
 * sources per pair of device and kind. */
#define JL_SEEN_A_ROW (JL_N_LABEL + JL_N_EXTENT + JL_N_PAIR)

struct jl_seen_list {
	const char **ids;   /* ascending, unique; a pair has one id per source */
	const char **names; /* name per id; a pair's without its source */
	size_t n;
	size_t (*at)[JL_SEEN_A_ROW]; /* per row: indices into `ids`; n: none */
};
enum jl_status jl_seen_make(struct jl_seen_list *ret_list, const struct jl_set_rows *rows, struct jl_arena *arena,
			    struct jl_err *err);

/* Ids of rows with use[item] != 0 (NULL: all); ret_params holds list->n. Returns their number. */
size_t jl_seen_count(const struct jl_seen_list *list, const struct jl_set_rows *rows, const unsigned char *use,
		     struct jl_param_info *ret_params);

#define JL_VALIDATE_FILES_MAX 256
#define JL_VALIDATE_LINES_MAX 64
#define JL_VALIDATE_CODES_MAX 64
#define JL_MEMORY_LINE        "memory"

/* An input file. */
struct jl_validate_file {
	const char *path;
	const char *set; /* its line in the tables: train_vtrain */
	size_t family;   /* index into jl_validation.families */
	size_t first, n; /* index of its first row in the family, and number of rows */
};

/* A set with all its files, which are fitted together. */
struct jl_validate_family {
	const struct jl_set_ops *ops;
	struct jl_set_data *data;
	struct jl_set_rows rows;
	size_t n_param; /* parameters moved from their priors by the rows */
	double *x;      /* shipped values; if something is left out, one vector per group */
	size_t n_x;     /* length of one vector */
	int *group;     /* per row: index below n_group */
	int n_group;
	size_t n_sources;
	bool by_group; /* single source: its groups are left out instead */
	struct jl_seen_list seen;
};

enum jl_label_kind { JL_BY_GPU, JL_BY_FRAMEWORK, JL_BY_LINK, JL_BY_CODE, JL_N_BY };

struct jl_validate_by {
	const char *label;
	struct jl_score score;
};

/* One line of the table: a set, or memory over all sets. */
struct jl_validate_line {
	const char *set;
	const struct jl_set_ops *ops; /* NULL: memory */
	const char *unit;
	const struct jl_set_row **rows;
	size_t *family; /* index of each row's family */
	size_t n_rows;
	struct jl_score score;
	struct jl_score naive[JL_N_BASELINE];
	const char *naive_names[JL_N_BASELINE];
	size_t n_param;
	size_t n_sources;           /* number of sources in the set */
	bool by_group;              /* as in its family */
	double macro_coverage_frac; /* mean over units of the share inside the interval */
	struct jl_validate_by *by[JL_N_BY];
	size_t n_by[JL_N_BY];
};

/* What is left out of a row's fit: nothing, its split_group, all rows of its GPU, framework or link, or of its source or codebase (in sets with a
 * single one: its split_group). With sources or codebases, interval widths are fitted to the other rows too; otherwise the shipped ones are used. */
enum jl_leave_out {
	JL_LEAVE_NOTHING,
	JL_LEAVE_GROUP,
	JL_LEAVE_GPU,
	JL_LEAVE_FRAMEWORK,
	JL_LEAVE_LINK,
	JL_LEAVE_SOURCE,
	JL_LEAVE_CODE,
	JL_N_LEAVE_OUT
};

struct jl_validation {
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	bool held_out; /* each row was predicted by a fit without its unit */
	enum jl_leave_out left_out;
	struct jl_validate_file files[JL_VALIDATE_FILES_MAX];
	size_t n_files;
	struct jl_validate_family families[JL_VALIDATE_LINES_MAX];
	size_t n_families;
	struct jl_validate_line lines[JL_VALIDATE_LINES_MAX];
	size_t n_lines;
	struct jl_width_rows width_rows; /* all scored rows, if something is left out */
	size_t n_pairs, n_pairs_in;      /* comparable pairs; those whose ratio is inside */
};

struct jl_validate_options {
	enum jl_leave_out leave_out;
	bool plain_widths; /* sources left out: use the shipped widths instead of fitting them per source */
	void (*progress)(void *ctx, const char *set, size_t done, size_t total); /* NULL: no progress reports */
	void *ctx;
};

void jl_validation_init(struct jl_validation *ret_v, const struct jl_catalog *cat, struct jl_arena *arena);

/* Adds a whole file (NUL-terminated text). set: its set, or NULL: by the file's name, else by its columns. A malformed file is an error with its
 * position. */
enum jl_status jl_validation_add(struct jl_validation *v, const char *path, const char *text, size_t len,
				 const char *set, struct jl_err *err);

enum jl_status jl_validation_run(struct jl_validation *v, const struct jl_validate_options *options,
				 struct jl_err *err);

const struct jl_validate_line *jl_validation_line(const struct jl_validation *v, const char *set); /* NULL: none */

/* Knowledge in a catalog: its measurements and widths. */
struct jl_known jl_known_of(const struct jl_catalog *cat);

/* ln(pred/meas); NAN: not scored. */
double jl_validate_ln(const struct jl_set_row *row);

/* The worst rows of a line, worst first; returns their number, at most max. */
size_t jl_validate_worst(const struct jl_validate_line *line, size_t max, size_t *ret_index);
/* Breakdown of the prediction of a line's row. */
void jl_validate_explain(const struct jl_validation *v, const struct jl_validate_line *line, size_t index,
			 struct jl_buf *out);

/* Command line that asks for it; nothing if there is none. */
void jl_validate_command(const struct jl_validation *v, const struct jl_validate_line *line, size_t index,
			 struct jl_buf *out);

/* Unscored rows of a file, grouped by reason. */
struct jl_unscored {
	const struct jl_validate_file *file;
	const char *en, *text;
	size_t n;
	const size_t *lines; /* line numbers, ascending */
};
enum jl_status jl_validate_unscored(const struct jl_validation *v, struct jl_unscored **ret_list, size_t *ret_n,
				    struct jl_err *err);
/* "2-40, 57"; after max_ranges ranges, the number of remaining lines. */
void jl_validate_line_ranges(struct jl_buf *out, const struct jl_unscored *u, size_t max_ranges);

/* Independent work items, distributed over as many threads as processors. Each item writes to its own place, so the result does not depend on the
 * threads. */
struct jl_turns {
	int n;
	enum jl_status (*take)(void *ctx, int turn, struct jl_err *err);
	void *ctx;
	/* called a few times per second by the calling thread; NULL: not called */
	void (*watch)(void *watcher, int done);
	void *watcher;
};

/* Stops at the first failure; err has the message of one failed item. */
enum jl_status jl_turns_take(const struct jl_turns *turns, struct jl_err *err);

/* Private to calibrate/score: from predicted rows to the lines of the table. Unit that is left out together with a row of the family. */
const char *jl_validate_unit(const struct jl_validate_family *family, size_t i, enum jl_leave_out leave_out);
enum jl_status jl_validate_widths(struct jl_validation *v, const struct jl_validate_options *options,
				  struct jl_err *err);
enum jl_status jl_validate_score(struct jl_validation *v, struct jl_err *err);
