/* What really runs: every operation of a training step, how often, its launches and bytes, and the device's time. */
#pragma once

#include "base/fields.h"
#include "predict/predict.h"

struct jl_kernel {
	const char *block; /* "layer", "expert layer", "embedding", "head", "optimizer" */
	const char *name;
	enum jl_op_kind kind;
	int id;           /* of a captured program: which of its kinds of calls, from 1; else 0 */
	double n_times;   /* a step, on one device */
	double launches;  /* a step: forward, back, and what recompute makes again */
	double moved_B;   /* a step, of what only streams: what it reads and writes */
	double flop;      /* a step, of products and attention; NAN: not counted */
	double traffic_B; /* a step, through device memory: operands read once, results written once; 0: not counted */
	double device_s;  /* a step, before the framework's factors */
};

struct jl_kernels {
	size_t n;
	struct jl_kernel *items;
	double launches, stream_B, device_s; /* sums: all launches; bytes of streams and the optimizer; all times */
};

/* Transformers and captured programs; of a pipeline the stage with one share of the layers. JL_E_USAGE for other networks. */
enum jl_status jl_kernels_make(struct jl_kernels *ret_kernels, const struct jl_case *c, struct jl_arena *arena,
			       struct jl_err *err);

extern const struct jl_schema jl_kernels_fields;
