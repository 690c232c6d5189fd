/* How wrong the program is: every row of published measurements against what it predicts. Reads texts, allocates in an
 * arena, prints nothing. */
#pragma once

#include "base/err.h"
#include "score/score.h"
#include "rows/set.h"

/* How wide intervals must be: the parameters of physics/interval.h, found on rows that were predicted without their source. */
/* Rows with what was left out together when each was predicted: its source, or its group where a set has one source only. */
struct jl_width_rows {
	const struct jl_set_row **rows; /* scored */
	const char **unit;
	size_t n;
	size_t *n_alike, *before; /* of each row: how many of its unit and kind there are, and how many before it */
	size_t (*pairs)[2];       /* that a person would compare: the same model, of one source, on two devices */
	size_t n_pairs;
};

/* Fills in what follows from rows and units. */
enum jl_status jl_widths_prepare(struct jl_width_rows *rows, struct jl_arena *arena, struct jl_err *err);

/* Fits on the rows of all other units (without NULL: on all): the 80 % quantile of |ln(pred/meas)|, by its asymmetric absolute
 * loss. Rows of one unit and kind share what its source does not say: together they count as few. Then the correlation of two
 * answers' errors: four fifths of the pairs have their ratio inside. Extents of `widths` stay as they are. */
enum jl_status jl_widths_fit(const struct jl_width_rows *rows, const char *without, struct jl_widths *widths,
			     struct jl_err *err);

/* How many pairs of the unit `of` (NULL: of all) have their ratio inside. */
size_t jl_widths_pairs_in(const struct jl_width_rows *rows, const char *of, const struct jl_widths *widths,
			  size_t *ret_pairs);

/* What the rows of a set are measurements of, as catalog data ("seen."; physics/interval.h): ids of their kinds with the number of rows,
 * how small and large they are, and of pairs of a device and a kind the number of sources. */
#define JL_SEEN_A_ROW (JL_N_LABEL + JL_N_EXTENT + JL_N_PAIR)

struct jl_seen_list {
	const char **ids;   /* ascending, each once; a pair for each of its sources */
	const char **names; /* name of each id; of a pair without its source */
	size_t n;
	size_t (*at)[JL_SEEN_A_ROW]; /* of each row: places in `ids`; n: none */
};
enum jl_status jl_seen_make(struct jl_seen_list *ret_list, const struct jl_set_rows *rows, struct jl_arena *arena,
			    struct jl_err *err);

/* Those that the rows have whose use[item] is not 0 (NULL: all); ret_params has room for list->n. Returns how many. */
size_t jl_seen_count(const struct jl_seen_list *list, const struct jl_set_rows *rows, const unsigned char *use,
		     struct jl_param_info *ret_params);

#define JL_VALIDATE_FILES_MAX 256
#define JL_VALIDATE_LINES_MAX 64
#define JL_VALIDATE_CODES_MAX 64
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
 * every row of its source or codebase (in sets of a single one: of its split_group). Where sources or codebases are left out, the widths of
 * intervals come from the others as well; else they are the shipped ones. */
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
	void (*progress)(void *ctx, const char *set, size_t done, size_t total); /* NULL: no progress is reported */
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

/* The command that a user types to ask for it; nothing where there is none. */
void jl_validate_command(const struct jl_validation *v, const struct jl_validate_line *line, size_t index,
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

/* Work that comes in independent pieces, shared out over as many threads as there are processors. Each piece writes to a place of
 * its own: nothing depends on which thread took it. */
struct jl_turns {
	int n;
	enum jl_status (*take)(void *ctx, int turn, struct jl_err *err);
	void *ctx;
	void (*watch)(void *watcher, int done); /* a few times a second, by the caller's thread; NULL: not called */
	void *watcher;
};

/* The first failure ends it; err has the message of one that failed. */
enum jl_status jl_turns_take(const struct jl_turns *turns, struct jl_err *err);

/* Inside the room: from predicted rows to the lines of the table. */
/* What is left out together with a row of the family. */
const char *jl_validate_unit(const struct jl_validate_family *family, size_t i, enum jl_leave_out leave_out);
enum jl_status jl_validate_widths(struct jl_validation *v, const struct jl_validate_options *options,
				  struct jl_err *err);
enum jl_status jl_validate_score(struct jl_validation *v, struct jl_err *err);
