/* The operations of a training step: number, launches, bytes and device time of each. */
#pragma once

#include "base/fields.h"
#include "predict/predict.h"

struct jl_kernel {
	const char *block; /* "layer", "expert layer", "embedding", "head", "optimizer" */
	const char *name;
	enum jl_op_kind kind;
	int id;           /* captured programs: number of its kind of call, from 1; otherwise 0 */
	double n_times;   /* per step on one device */
	double launches;  /* per step: forward, backward and recomputation */
	double moved_B;   /* per step, read and written by streaming operations */
	double flop;      /* per step, products and attention; NAN: not counted */
	double traffic_B; /* per step, device memory: operands read once, results written once; 0: not counted */
	double device_s;  /* per step, before the framework's factors */
};

struct jl_kernels {
	size_t n;
	struct jl_kernel *items;
	double launches, stream_B, device_s; /* sums: all launches; bytes of streams and optimizer; all times */
};

/* For transformers and captured programs. In a pipeline: the stage with one share of the layers. JL_E_USAGE for other networks. */
enum jl_status jl_kernels_make(struct jl_kernels *ret_kernels, const struct jl_case *c, struct jl_arena *arena,
			       struct jl_err *err);

extern const struct jl_schema jl_kernels_fields;
