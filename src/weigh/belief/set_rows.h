/* What the adapters of all sets share: labels that are kept once, rows that grow, GPUs by the names that sources use,
 * and the check of measured numbers. */
#ifndef JL_BELIEF_SET_ROWS_H
#define JL_BELIEF_SET_ROWS_H

#include "belief/set.h"

#define JL_NO_ITEM ((size_t)-1)

/* Texts that come again and again. The first JL_LABELS_MAX different ones are kept once. */
#define JL_LABELS_MAX 512
struct jl_labels {
	const char *texts[JL_LABELS_MAX];
	size_t n, last;
};
const char *jl_label(struct jl_labels *labels, struct jl_arena *arena, const char *text);

/* A GPU by the name that a source uses; NULL: unknown, and err names it. */
const struct jl_gpu *jl_set_find_gpu(const struct jl_catalog *cat, const char *text, struct jl_err *err);
/* Do two of these cards move data over PCIe without the host? */
bool jl_set_p2p(const struct jl_gpu *gpu);

/* GPUs as sources spell them, each looked up once. */
#define JL_SET_GPUS_MAX 256
struct jl_set_gpus {
	const struct jl_catalog *cat;
	struct {
		const char *text;
		const struct jl_gpu *gpu; /* NULL: unknown */
	} names[JL_SET_GPUS_MAX];
	size_t n_names;
	const struct jl_gpu *gpus[JL_SET_GPUS_MAX]; /* different ones, in the order of their first row */
	size_t n;
};
/* text: a label. ret_index: into `gpus`; an unknown GPU is an error that names it. */
enum jl_status jl_set_gpu(struct jl_set_gpus *gpus, const char *text, size_t *ret_index, struct jl_err *err);

/* Where rows are read from and go to. */
struct jl_set_reader {
	const struct jl_set_ops *ops;
	struct jl_csv *csv;
	struct jl_arena *arena;
	struct jl_labels *labels;
	struct jl_set_rows *rows;
};

/* Upper bound of the rows that the reader still has. */
size_t jl_set_rows_left(const struct jl_csv *csv);
/* Room for `n` elements, with the first n_old of `old` in it; NULL when memory is at its limit. */
void *jl_set_grow(struct jl_arena *arena, const void *old, size_t n_old, size_t n, size_t size);
/* Room for n more rows. */
enum jl_status jl_set_reserve(struct jl_set_rows *rows, size_t n, struct jl_arena *arena, struct jl_err *err);

/* The cell of a column of the current row; "" where the file does not have the column. */
const char *jl_set_cell(const struct jl_set_reader *in, const char *column);

/* Numbers in the columns of `ops->measures` are positive and finite, and one of them at least is there. */
enum jl_status jl_set_check_measures(const struct jl_set_reader *in, struct jl_err *err);

/* The current row with its line, group and labels; item and measurement are the caller's. NULL: no room. */
struct jl_set_row *jl_set_add(const struct jl_set_reader *in, const char *framework, const char *link);
/* The same for a row that says nothing. */
enum jl_status jl_set_add_unscored(const struct jl_set_reader *in, const struct jl_err *why, struct jl_err *err);

/* Adds what the current row gives; false status: the file cannot be read on. */
typedef enum jl_status jl_set_add_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err);

/* Every row that the reader still has, each to `add`, which adds rows_a_line rows at most. */
enum jl_status jl_set_read(const struct jl_set_reader *in, struct jl_set_data *data, jl_set_add_row *add,
			   size_t rows_a_line, struct jl_err *err);

/* "a 71 %, b 20 %": shares of a whole, largest first; what is below 2 % is left out. */
struct jl_set_part {
	const char *en, *ko;
	double amount;
};
void jl_set_parts(struct jl_buf *out, const struct jl_set_part *parts, size_t n, double whole, enum jl_lang lang);

#endif
