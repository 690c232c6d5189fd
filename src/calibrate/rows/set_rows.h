/* What the adapters of all sets share: labels that are kept once, rows that grow, GPUs by the names that sources use,
 * and the check of measured numbers. */
#pragma once

#include "base/cells.h"
#include "rows/phrases.h"
#include "rows/set.h"
#include "fabric/collective.h"
#include "kernels/device.h"

#define JL_NO_ITEM ((size_t)-1)

/* Texts that come again and again. The first JL_LABELS_MAX different ones are kept once. */
#define JL_LABELS_MAX 512
struct jl_labels {
	const char *texts[JL_LABELS_MAX];
	size_t n, last;
};
const char *jl_label(struct jl_labels *labels, struct jl_arena *arena, const char *text);

/* GPUs as sources spell them, each looked up once. */
#define JL_SET_GPUS_MAX 256
struct jl_set_gpus {
	struct {
		const char *text;
		const struct jl_gpu *gpu; /* NULL: unknown */
	} names[JL_SET_GPUS_MAX];
	size_t n_names;
	const struct jl_gpu *gpus[JL_SET_GPUS_MAX]; /* different ones, in the order of their first row */
	size_t n;
};

/* The rows of a set as model inputs. */
struct jl_set_data {
	const struct jl_set_ops *ops;
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	struct jl_labels labels;
	struct jl_set_gpus gpus;
	const char *gpu_ids[JL_SET_GPUS_MAX]; /* of gpus.gpus: what their parameters are named by */
	const char **groups;                  /* of each case */
	size_t n;
	void *cases; /* n of ops->case_B each */
	void *own;
};

/* A GPU by the name that a source uses. ret_index: into gpus.gpus and gpu_ids; an unknown one is an error that names it. */
enum jl_status jl_set_gpu(struct jl_set_data *data, const char *text, size_t *ret_index, struct jl_err *err);

/* Where rows are read from and go to. */
struct jl_set_reader {
	const struct jl_set_ops *ops;
	struct jl_csv *csv;
	struct jl_arena *arena;
	struct jl_labels *labels;
	struct jl_set_rows *rows;
	const struct jl_phrases *phrases; /* what the set's texts say */
	struct jl_row_cells row;          /* cells as the file has them */
};

/* The cell of a column of the current row, its own or made of its text; "" where there is neither. And all of a list of them, "gpu, model". */
const char *jl_set_cell(const struct jl_set_reader *in, const char *column);
void jl_set_cells(const struct jl_set_reader *in, const char *columns, jl_cell *ret_cells, size_t n);

/* Fills `cells`, a struct of the columns in the list that follows, in its order. */
#define JL_SET_READ_CELLS(in, cells, ...)                                                                              \
	jl_set_cells((in), JL_CELL_NAMES(__VA_ARGS__), (jl_cell *)(void *)(cells), sizeof(*(cells)) / sizeof(jl_cell))

/* What a row is, as the set's reader found out. */
struct jl_set_kind {
	const char *framework, *link; /* labels for the tables */
	const char *what, *model;
	const char *format; /* a name that stays; NULL: not said */
	enum jl_asked answer;
	const char *kind[JL_N_LABEL]; /* NULL: means nothing; they may be reused after the call */
	double extent_ln[JL_N_EXTENT];
	double meas;
};
/* The current line with its line, group and labels, for the case behind the last one; NULL: no room. */
struct jl_set_row *jl_set_add(struct jl_set_data *data, const struct jl_set_reader *in, const struct jl_set_kind *kind);

/* "a 71 %, b 20 %": shares of a whole, largest first; what is below 2 % is left out. */
struct jl_set_part {
	const char *en;
	double amount;
};
struct jl_step_cost;
struct jl_memory;
/* Where the time or the memory of a training step goes. */
void jl_set_explain(struct jl_buf *out, bool is_memory, const struct jl_step_cost *step,
		    const struct jl_memory *memory);
void jl_set_parts(struct jl_buf *out, const struct jl_set_part *parts, size_t n, double whole);

/* The functions of an adapter's row where they have these names; all but the reader. */
#define JL_SET_MODEL     .params = params, .fit = fit, .predict = predict, .explain = explain
#define JL_SET_FUNCTIONS .add = add, JL_SET_MODEL
/* case_at(data, i): a row as the adapter's own model input. */
#define JL_SET_CASES(TYPE)                                                                                             \
	static const struct TYPE *case_at(const struct jl_set_data *data, size_t i)                                    \
	{                                                                                                              \
		return (const struct TYPE *)data->cases + i;                                                           \
	}                                                                                                              \
	struct TYPE

/* A line's only row is there (NULL: no room): what the naive baselines say of it, and the line counts. */
enum jl_status jl_set_added(struct jl_set_data *data, struct jl_set_row *row, const double naive[JL_N_BASELINE],
			    struct jl_err *err);
static inline void jl_set_answer(struct jl_set_row *row, double pred, double half_ln, struct jl_doubt doubt)
{
	row->pred = pred;
	row->half_ln = half_ln;
	row->doubt = doubt;
}

/* What somebody would guess without this program: the figures that ours must beat. Pure. */
#define JL_BASELINE_MFU_FRAC      0.4
#define JL_BASELINE_ROOFLINE_FRAC 0.7

/* The listed rate of a format; of the vector units where the device does not have the format. */
double jl_baseline_peak_flopps(const struct jl_device *dev, enum jl_dtype dtype);

/* The longer of arithmetic and memory traffic, both at one share of the listed rate. moved_B 0: arithmetic alone. */
double jl_baseline_roofline_s(const struct jl_device *dev, enum jl_dtype dtype, double flop, double moved_B,
			      double frac);

/* Bytes of a collective over the listed rate of its narrowest link, at a share of it, and a fixed time. */
double jl_baseline_collective_s(const struct jl_fabric *listed, const struct jl_collective *coll, double frac,
				double start_s);
