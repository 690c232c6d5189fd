/* Shared by the sets: interned labels, growing row arrays, GPU spellings, checks of measurements. */
#pragma once

#include "base/cells.h"
#include "rows/phrases.h"
#include "rows/set.h"
#include "fabric/collective.h"
#include "kernels/device.h"

#define JL_NO_ITEM ((size_t)-1)

/* Interned texts; the first JL_LABELS_MAX different ones. */
#define JL_LABELS_MAX 512
struct jl_labels {
	const char *texts[JL_LABELS_MAX];
	size_t n, last;
};
const char *jl_label(struct jl_labels *labels, struct jl_arena *arena, const char *text);

/* Cache of GPU spellings in sources. */
#define JL_SET_GPUS_MAX 256
struct jl_set_gpus {
	struct {
		const char *text;
		const struct jl_gpu *gpu; /* NULL: unknown */
	} names[JL_SET_GPUS_MAX];
	size_t n_names;
	const struct jl_gpu *gpus[JL_SET_GPUS_MAX]; /* distinct GPUs, in the order of their first row */
	size_t n;
};

/* The rows of a set as model inputs. */
struct jl_set_data {
	const struct jl_set_ops *ops;
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	struct jl_labels labels;
	struct jl_set_gpus gpus;
	const char *gpu_ids[JL_SET_GPUS_MAX]; /* of gpus.gpus: names of their parameters */
	const char **groups;                  /* split_group of each case */
	size_t n;
	void *cases; /* n elements of ops->case_B bytes */
	void *own;
};

/* GPU by its name in a source. ret_index: into gpus.gpus and gpu_ids; an unknown one is an error that names it. */
enum jl_status jl_set_gpu(struct jl_set_data *data, const char *text, size_t *ret_index, struct jl_err *err);

/* Source and destination of rows being read. */
struct jl_set_reader {
	const struct jl_set_ops *ops;
	struct jl_csv *csv;
	struct jl_arena *arena;
	struct jl_labels *labels;
	struct jl_set_rows *rows;
	const struct jl_phrases *phrases; /* rules for the set's texts */
	struct jl_row_cells row;          /* cells as in the file */
};

/* Adds the current row as unscored, with the reason. */
enum jl_status jl_set_unscored(const struct jl_set_reader *in, const struct jl_err *why, struct jl_err *err);
/* Cell of the current row by column, its own or derived from text; "": neither. And all columns of a list "gpu, model". */
const char *jl_set_cell(const struct jl_set_reader *in, const char *column);
void jl_set_cells(const struct jl_set_reader *in, const char *columns, jl_cell *ret_cells, size_t n);

/* Fills `cells`, a struct of the columns in the following list, in its order. */
#define JL_SET_READ_CELLS(in, cells, ...)                                                                              \
	jl_set_cells((in), JL_CELL_NAMES(__VA_ARGS__), (jl_cell *)(void *)(cells), sizeof(*(cells)) / sizeof(jl_cell))

/* Description of a row, set by the set's reader. */
struct jl_set_kind {
	const char *framework, *link; /* labels for the tables */
	const char *what, *model;
	const char *format; /* must stay valid; NULL: unstated */
	enum jl_asked answer;
	const char *kind[JL_N_LABEL]; /* NULL: not applicable; may be reused after the call */
	double extent_ln[JL_N_EXTENT];
	double meas;
};
/* Adds a row for the next case, with line, group and labels of the current line; NULL: out of memory. */
struct jl_set_row *jl_set_add(struct jl_set_data *data, const struct jl_set_reader *in, const struct jl_set_kind *kind);

/* "a 71 %, b 20 %": shares of a whole, largest first; parts below 2 % are left out. */
struct jl_set_part {
	const char *en;
	double amount;
};
struct jl_step_cost;
struct jl_memory;
/* Breakdown of a training step's time or memory. */
void jl_set_explain(struct jl_buf *out, bool is_memory, const struct jl_step_cost *step,
		    const struct jl_memory *memory);
void jl_set_parts(struct jl_buf *out, const struct jl_set_part *parts, size_t n, double whole);

/* Function members of a set whose functions have these names; the second includes the reader. */
#define JL_SET_MODEL     .params = params, .fit = fit, .predict = predict, .explain = explain
#define JL_SET_FUNCTIONS .add = add, JL_SET_MODEL
/* Defines case_at(data, i): a row as the set's own model input. */
#define JL_SET_CASES(TYPE)                                                                                             \
	static const struct TYPE *case_at(const struct jl_set_data *data, size_t i)                                    \
	{                                                                                                              \
		return (const struct TYPE *)data->cases + i;                                                           \
	}                                                                                                              \
	struct TYPE

/* Completes the only row of a line (NULL: out of memory): sets naive baselines and counts the line. */
enum jl_status jl_set_added(struct jl_set_data *data, struct jl_set_row *row, const double naive[JL_N_BASELINE],
			    struct jl_err *err);
static inline void jl_set_answer(struct jl_set_row *row, double pred, double half_ln, struct jl_doubt doubt)
{
	row->pred = pred;
	row->half_ln = half_ln;
	row->doubt = doubt;
}

/* Naive baselines: estimates without this program, which its predictions must beat. Pure. */
#define JL_BASELINE_MFU_FRAC      0.4
#define JL_BASELINE_ROOFLINE_FRAC 0.7

/* Listed rate of a format; that of the vector units if the device lacks the format. */
double jl_baseline_peak_flopps(const struct jl_device *dev, enum jl_dtype dtype);

/* Roofline: the longer of arithmetic and memory traffic, both at one share of the listed rate. moved_B 0: arithmetic only. */
double jl_baseline_roofline_s(const struct jl_device *dev, enum jl_dtype dtype, double flop, double moved_B,
			      double frac);

/* Bytes / (share of the listed rate of the slowest link) + fixed time. */
double jl_baseline_collective_s(const struct jl_fabric *listed, const struct jl_collective *coll, double frac,
				double start_s);
