/* The validation sets train_other (published training runs of vision, speech and translation models: its rows as model inputs, and the
 * fit of their physics, physics/conv_params.h, on them) and other_train (newer runs of all kinds of networks, which ask what train_other
 * has learnt). */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/cells.h"
#include "rows/set.h"
#include "parameters/conv_params.h"
#include "predict/predict.h"
#include "program/convnet_train.h"

/* The columns that are read. */
#define JL_OTHER_CELLS gpu, n_gpus, model, precision, format, micro_batch, throughput, snapshot
struct jl_other_cells {
	jl_cell JL_OTHER_CELLS;
};

/* Of tables of vision networks: one GPU, figures of the network beside its speed. */
#define JL_VISION_CELLS                                                                                                \
	gpu, model, family, norm, precision, format, autocast, channels_last, compile, compiled, task, forward,        \
		optimizer_as, old_torch, img_size, batch, params_m, gmacs, macts, samples_per_s
struct jl_vision_cells {
	jl_cell JL_VISION_CELLS;
};

/* Of newer runs: batches of one GPU, memory beside speed, and how it was trained. */
#define JL_RUN_CELLS                                                                                                   \
	gpu, n_gpus, model, precision, format, micro_batch, throughput, counts_tokens, framework, method, reject,      \
		resolution_or_seq, global_batch, accumulate, s_per_iter, mem_gib_per_gpu, zero_or_fsdp, compiled,      \
		channels_last, primary_value
struct jl_run_cells {
	jl_cell JL_RUN_CELLS;
};

/* A GPU as the caller resolved it from the catalog. */
struct jl_other_gpu {
	int index;               /* any small id, the same for the same GPU; < 0: not measured, the family's values */
	const struct jl_gpu *of; /* NULL: not from the catalog */
	struct jl_device dev;
	int p2p;    /* peer-to-peer over PCIe works with the stock driver */
	int nvlink; /* all devices of a host are joined by NVLink: SXM modules, not bridged cards */
};

struct jl_other_find {
	enum jl_status (*gpu)(void *ctx, const char *text, struct jl_other_gpu *ret_gpu, struct jl_err *err);
	void *ctx;
};

enum jl_other_assumed {
	JL_OTHER_ASSUMED_BATCH = 1,
	JL_OTHER_ASSUMED_LINK = 2 /* how several GPUs were joined: always, the sources do not say */
};

struct jl_other_row {
	struct jl_other_gpu gpu;
	const struct jl_convnet *net;
	enum jl_dtype dtype; /* the format of the run, which may differ from the label */
	unsigned software;   /* enum jl_conv_software */
	int n_gpus;
	double batch;                  /* per GPU, of one pass */
	double n_micro;                /* passes of a step; 0: one */
	double meas;                   /* units per second, all GPUs; NAN: not measured */
	double meas_mem_B;             /* of a GPU; other_train alone; NAN: not measured */
	const struct jl_machine *host; /* see jl_other_place; NULL: unknown */
	double links_s;                /* what its links need for the gradients at least; 0: not known */
	unsigned assumed;
	bool pictures; /* its network takes pictures or has blocks of transformers: launches cost what theirs do */
	bool aside;    /* fits do without it: many rows say the same */
};

/* A row that cannot be scored is an error with the reason. */
enum jl_status jl_other_row_read(struct jl_other_row *ret_row, const struct jl_other_cells *cells,
				 const struct jl_convnet_list *nets, const struct jl_other_find *find,
				 struct jl_err *err);

/* The network by its name where the catalog has it and its counts are the table's, else as those figures describe it. Networks live in
 * `arena`; `last` is the network of the row before, where it is the same. */
enum jl_status jl_vision_row_read(struct jl_other_row *ret_row, const struct jl_vision_cells *cells,
				  const struct jl_catalog *cat, const struct jl_other_find *find,
				  const struct jl_convnet *last, struct jl_arena *arena, struct jl_err *err);

/* A run of other_train; its network lives in `arena`. */
enum jl_status jl_run_row_read(struct jl_other_row *ret_row, const struct jl_run_cells *cells,
			       const struct jl_catalog *cat, const struct jl_other_find *find, struct jl_arena *arena,
			       struct jl_err *err);

/* A host of that many such GPUs: how they are joined, and what its links let expect. It outlives the row. */
void jl_other_place(struct jl_other_row *row, const struct jl_machine *host);

/* The row as a case of the program's own, with this vector's physics (NULL: the program's): what jl_predict is asked. */
void jl_other_case(struct jl_case *ret_case, const struct jl_other_row *row, const double *x,
		   const struct jl_known *known);

/* The vector before any fit: jl_conv_n_param(n_gpus) values. */
void jl_other_start(size_t n_gpus, double *ret_x);

/* Physics of one GPU from a parameter vector, and the rate at which its gradients are reduced. */
void jl_other_resolve(const double *x, const struct jl_other_gpu *gpu, struct jl_conv_fit *ret_fit,
		      double *ret_bus_Bps);

/* What the model is asked; bus_Bps: rate of a ring all-reduce. */
struct jl_conv_in jl_other_input(const struct jl_other_row *row, const struct jl_conv_fit *fit, double bus_Bps);
struct jl_conv_cost jl_other_cost(const struct jl_other_row *row, const double *x);

struct jl_other_set {
	const struct jl_other_row *rows;
	size_t n_rows;
	size_t n_gpus;
};

/* Fits on the rows where use[i] is not 0 (NULL: all). x: start in, best out; max_iter 0: the optimiser's default. */
enum jl_status jl_other_fit(const struct jl_other_set *set, const unsigned char *use, int max_iter, double *x,
			    double *ret_cost, struct jl_err *err);
