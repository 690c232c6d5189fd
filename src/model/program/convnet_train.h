/* Step time and memory of a network given as an operator list, for a batch and a device; the counterpart of train.h for transformers. Pure. */
#pragma once

#include "memory/memory.h"
#include "timeline/step.h"
#include "program/convnet.h"

struct jl_convnet_train {
	const struct jl_convnet *net;
	const struct jl_device *dev;
	const struct jl_conv_fit *fit;
	const struct jl_fabric *fabric; /* NULL: use only bus_Bps */
	double bus_Bps;                 /* gradient all-reduce inside one host */
	double micro_batch;             /* items per device and pass */
	double n_micro;                 /* passes per step */
	enum jl_dtype dtype;
	unsigned software; /* bits of enum jl_conv_software */
	int n_ranks;       /* data-parallel ranks, all hosts */
	int n_per_host;
	double input_s;
	double launch_s;                  /* host seconds per launch; 0: fitted value */
	const struct jl_profile *profile; /* profile for transformer blocks; NULL: priced operator by operator */
	bool spelled;                     /* price blocks operator by operator, as other layers */
	double update_B;                  /* see jl_convnet_update_B; 0: use that */
	const struct jl_plan *asked; /* optimizer given by the user: states, launches; NULL: the network's default */
	struct jl_memory_fit memory;
};

/* Input of the model for one pass. `comm_s`: see jl_convnet_comm_s. */
struct jl_conv_in jl_convnet_input(const struct jl_convnet_train *train, double comm_s);

/* All-reduce time of the gradients: fitted ring of one host, bounded below by the fabric. */
double jl_convnet_comm_s(const struct jl_convnet_train *train);

/* The parts sum to step_s. */
struct jl_step_cost jl_convnet_step(const struct jl_convnet_train *train);

/* Per device and step. */
struct jl_convnet_work {
	double flop, moved_B;
	/* shares of the kernel time: convolutions, other products, streams */
	double conv_frac, matrix_frac, stream_frac;
};
struct jl_convnet_work jl_convnet_work(const struct jl_convnet_train *train);

/* Memory: fp32 weights and gradients (mixed precision adds 16-bit copies), optimizer states, tensors for the backward pass, the largest tensor's
 * gradient, and memory besides tensors. */
struct jl_memory jl_convnet_memory(const struct jl_convnet_train *train);

/* Bytes per parameter: fp32 weight and 16-bit copy (only one with JL_SW_PURE), gradient, states. */
void jl_convnet_states(const struct jl_convnet *net, enum jl_dtype dtype, unsigned software, double *ret_weight_B,
		       double *ret_grad_B, double *ret_optimizer_B);

/* True if it contains transformer layers, which use parameters fitted to transformer runs. */
bool jl_convnet_has_blocks(const struct jl_convnet *net);

/* True if its input is images and no operator waits for its launches. */
bool jl_convnet_pictures(const struct jl_convnet *net);

/* Pixels of the input image; 0: no image. */
double jl_convnet_pixels(const struct jl_convnet *net);
