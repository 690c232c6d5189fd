/* Validation sets "train_other" (published training of vision, speech and translation models; reads its rows and fits parameters/conv_params.h to
 * them) and "other_train" (newer runs of all kinds of networks, to test that fit). */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/cells.h"
#include "rows/set.h"
#include "parameters/conv_params.h"
#include "predict/predict.h"
#include "program/convnet_train.h"

/* Columns read from train_other.csv. */
#define JL_OTHER_CELLS gpu, n_gpus, model, precision, format, micro_batch, throughput, snapshot
struct jl_other_cells {
	jl_cell JL_OTHER_CELLS;
};

/* Tables of vision networks: one GPU, counts of the network beside its speed. */
#define JL_VISION_CELLS                                                                                                \
	gpu, model, family, norm, precision, format, autocast, channels_last, compile, compiled, task, forward,        \
		optimizer_as, old_torch, img_size, batch, params_m, gmacs, macts, samples_per_s
struct jl_vision_cells {
	jl_cell JL_VISION_CELLS;
};

/* Newer runs: batch per GPU, memory beside speed, training method. */
#define JL_RUN_CELLS                                                                                                   \
	gpu, n_gpus, model, precision, format, micro_batch, throughput, counts_tokens, framework, method, reject,      \
		resolution_or_seq, global_batch, accumulate, s_per_iter, mem_gib_per_gpu, zero_or_fsdp, compiled,      \
		channels_last, primary_value
struct jl_run_cells {
	jl_cell JL_RUN_CELLS;
};

/* A GPU as resolved by the caller from the catalog. */
struct jl_other_gpu {
	int index;               /* any small id, equal for the same GPU; < 0: not measured, the family's values */
	const struct jl_gpu *of; /* NULL: not from the catalog */
	struct jl_device dev;
	int p2p;    /* the stock driver supports peer-to-peer over PCIe */
	int nvlink; /* all devices of a host are connected by NVLink: SXM modules, not bridged cards */
};

struct jl_other_find {
	enum jl_status (*gpu)(void *ctx, const char *text, struct jl_other_gpu *ret_gpu, struct jl_err *err);
	void *ctx;
};

enum jl_other_assumed {
	JL_OTHER_ASSUMED_BATCH = 1,
	JL_OTHER_ASSUMED_LINK = 2 /* interconnect of several GPUs: always assumed, as sources do not state it */
};

struct jl_other_row {
	struct jl_other_gpu gpu;
	const struct jl_convnet *net;
	enum jl_dtype dtype; /* actual format of the run, which may differ from the label */
	unsigned software;   /* bits of enum jl_conv_software */
	int n_gpus;
	double batch;                  /* items per GPU and pass */
	double n_micro;                /* passes per step; 0: one */
	double meas;                   /* units per second, all GPUs; NAN: not measured */
	double meas_mem_B;             /* per GPU; other_train only; NAN: not measured */
	const struct jl_machine *host; /* see jl_other_place; NULL: unknown */
	double links_s;                /* lower bound of the gradient exchange on its links; 0: unknown */
	unsigned assumed;
	bool pictures; /* the network takes images or has transformer blocks: their launch costs apply */
	bool aside;    /* excluded from fits: many rows are alike */
};

/* Returns an error with the reason if the row cannot be scored. */
enum jl_status jl_other_row_read(struct jl_other_row *ret_row, const struct jl_other_cells *cells,
				 const struct jl_convnet_list *nets, const struct jl_other_find *find,
				 struct jl_err *err);

/* Network by name if the catalog has it with the table's counts, else as described by those counts. Networks live in `arena`; `last`: the previous
 * row's network, reused if equal. */
enum jl_status jl_vision_row_read(struct jl_other_row *ret_row, const struct jl_vision_cells *cells,
				  const struct jl_catalog *cat, const struct jl_other_find *find,
				  const struct jl_convnet *last, struct jl_arena *arena, struct jl_err *err);

/* A run of other_train; its network lives in `arena`. */
enum jl_status jl_run_row_read(struct jl_other_row *ret_row, const struct jl_run_cells *cells,
			       const struct jl_catalog *cat, const struct jl_other_find *find, struct jl_arena *arena,
			       struct jl_err *err);

/* Places the row on a host of that many such GPUs: interconnect, and lower bound by its links. The host must outlive the row. */
void jl_other_place(struct jl_other_row *row, const struct jl_machine *host);

/* The row as a case for jl_predict, with the parameters `x` (NULL: the program's). */
void jl_other_case(struct jl_case *ret_case, const struct jl_other_row *row, const double *x,
		   const struct jl_known *known);

/* The vector before any fit: jl_conv_params(n_gpus, NULL).n values. */
void jl_other_start(size_t n_gpus, double *ret_x);

/* Parameters of one GPU from a vector, and the rate of its gradient all-reduce. */
void jl_other_resolve(const double *x, const struct jl_other_gpu *gpu, struct jl_conv_fit *ret_fit,
		      double *ret_bus_Bps);

/* Input of the model; bus_Bps: rate of a ring all-reduce. */
struct jl_conv_in jl_other_input(const struct jl_other_row *row, const struct jl_conv_fit *fit, double bus_Bps);
struct jl_conv_cost jl_other_cost(const struct jl_other_row *row, const double *x);

struct jl_other_set {
	const struct jl_other_row *rows;
	size_t n_rows;
	size_t n_gpus;
};

/* Fits to the rows with use[i] != 0 (NULL: all). x: in: start; out: best; max_iter 0: the optimiser's default. */
enum jl_status jl_other_fit(const struct jl_other_set *set, const unsigned char *use, int max_iter, double *x,
			    double *ret_cost, struct jl_err *err);
