/* How wrong the program is: every row of published measurements against what it predicts. Reads texts, allocates in an
 * arena, prints nothing. */
#pragma once

#include "belief/score.h"
#include "belief/seen.h"
#include "belief/widths.h"

#define JL_VALIDATE_FILES_MAX 256
#define JL_VALIDATE_LINES_MAX 64
#define JL_MEMORY_LINE        "memory"

/* A file as it was given. */
struct jl_validate_file {
	const char *path;
	const char *set; /* its line in the tables: train_vtrain */
	size_t family;   /* index into jl_validation.families */
	size_t first, n; /* its rows in the family's */
};

/* A set with all its files: what is fitted together. */
struct jl_validate_family {
	const struct jl_set_ops *ops;
	struct jl_set_data *data;
	struct jl_set_rows rows;
	size_t n_param; /* that the rows have moved from their priors */
	double *x;      /* shipped values; with something left out one vector for each group */
	size_t n_x;     /* length of one vector */
	int *group;     /* of each row: an index below n_group */
	int n_group;
	size_t n_sources;
	bool by_group; /* sources are left out, and there is one: its groups are, instead */
	struct jl_seen_list seen;
};

enum jl_label_kind { JL_BY_GPU, JL_BY_FRAMEWORK, JL_BY_LINK, JL_N_BY };

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
	size_t *family; /* of each row */
	size_t n_rows;
	struct jl_score score;
	struct jl_score naive[JL_N_BASELINE];
	const char *naive_names[JL_N_BASELINE];
	size_t n_param;
	size_t n_sources;           /* of the set */
	bool by_group;              /* of its family */
	double macro_coverage_frac; /* mean over what is left out together of the share inside */
	struct jl_validate_by *by[JL_N_BY];
	size_t n_by[JL_N_BY];
};

/* What a row's fit has not seen: nothing is left out, its split_group, every row with its GPU, framework or link, or
 * every row of its source (in sets of a single source: of its split_group). Where sources are left out, the widths of intervals come
 * from the other sources as well; else they are the shipped ones. */
enum jl_leave_out {
	JL_LEAVE_NOTHING,
	JL_LEAVE_GROUP,
	JL_LEAVE_GPU,
	JL_LEAVE_FRAMEWORK,
	JL_LEAVE_LINK,
	JL_LEAVE_SOURCE,
	JL_N_LEAVE_OUT
};

struct jl_validation {
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	bool held_out; /* each row was predicted by a fit that has not seen what is left_out with it */
	enum jl_leave_out left_out;
	struct jl_validate_file files[JL_VALIDATE_FILES_MAX];
	size_t n_files;
	struct jl_validate_family families[JL_VALIDATE_LINES_MAX];
	size_t n_families;
	struct jl_validate_line lines[JL_VALIDATE_LINES_MAX];
	size_t n_lines;
	struct jl_width_rows width_rows; /* every scored row, where something is left out */
	size_t n_pairs, n_pairs_in;      /* of rows that a person would compare; whose ratio lies inside */
};

struct jl_validate_options {
	enum jl_leave_out leave_out;
	bool plain_widths; /* sources left out: do not find the widths anew for each */
	void (*progress)(void *ctx, const char *set, size_t done, size_t total); /* NULL: nobody looks */
	void *ctx;
};

void jl_validation_init(struct jl_validation *ret_v, const struct jl_catalog *cat, struct jl_arena *arena);

/* Reads a whole file (NUL-terminated text). set: NULL, or the name of the set it belongs to; else the file's own name
 * tells, and else its columns. A malformed file is refused with its place. */
enum jl_status jl_validation_add(struct jl_validation *v, const char *path, const char *text, size_t len,
				 const char *set, struct jl_err *err);

/* Predicts and scores. */
enum jl_status jl_validation_run(struct jl_validation *v, const struct jl_validate_options *options,
				 struct jl_err *err);

const struct jl_validate_line *jl_validation_line(const struct jl_validation *v, const char *set); /* or NULL */

/* What is known with a catalog: its measurements and widths. */
struct jl_known jl_known_of(const struct jl_catalog *cat);

/* ln(pred/meas); NAN where the row is not scored. */
double jl_validate_ln(const struct jl_set_row *row);

/* The worst rows of a line, worst first; returns how many there are, at most max. */
size_t jl_validate_worst(const struct jl_validate_line *line, size_t max, size_t *ret_index);
/* Why: where the prediction of a line's row goes. */
void jl_validate_explain(const struct jl_validation *v, const struct jl_validate_line *line, size_t index,
			 struct jl_buf *out);

/* Rows of a file that are not scored, those with one reason together. */
struct jl_unscored {
	const struct jl_validate_file *file;
	const char *en, *text;
	size_t n;
	const size_t *lines; /* in the file, ascending */
};
enum jl_status jl_validate_unscored(const struct jl_validation *v, struct jl_unscored **ret_list, size_t *ret_n,
				    struct jl_err *err);
/* "2-40, 57"; after max_ranges of them it says how many lines there are besides. */
void jl_validate_line_ranges(struct jl_buf *out, const struct jl_unscored *u, size_t max_ranges);
