/* From a network that is a list of operators, a batch and a device to the step and the memory. What transformers have in
 * workload/train.h. Pure. */
#pragma once

#include "memory/memory.h"
#include "timeline/step.h"
#include "program/convnet.h"

struct jl_convnet_train {
	const struct jl_convnet *net;
	const struct jl_device *dev;
	const struct jl_conv_fit *fit;
	const struct jl_fabric *fabric; /* NULL: only the ring of bus_Bps */
	double bus_Bps;                 /* of the gradient ring inside one host */
	double micro_batch;             /* items of one device and pass */
	double n_micro;                 /* passes of a step */
	enum jl_dtype dtype;
	unsigned software; /* enum jl_conv_software */
	int n_ranks;       /* data parallel, all hosts */
	int n_per_host;
	double input_s;
	double launch_s;                  /* host time of one launch; 0: as fitted */
	const struct jl_profile *profile; /* how blocks of transformers are run; NULL: spelled */
	bool spelled;                     /* time of blocks: operator by operator, as other layers */
	double update_B;                  /* see jl_convnet_update_B; 0: that */
	const struct jl_plan
		*asked; /* an optimizer that was asked for: its states, its launches; NULL: the network's own */
	struct jl_memory_fit memory;
};

/* The model's question for one pass. `comm_s`: see jl_convnet_comm_s. */
struct jl_conv_in jl_convnet_input(const struct jl_convnet_train *train, double comm_s);

/* All-reduce of the gradients: the fitted ring of one host, and never faster than the links of the fabric allow. */
double jl_convnet_comm_s(const struct jl_convnet_train *train);

/* Parts sum to step_s. */
struct jl_step_cost jl_convnet_step(const struct jl_convnet_train *train);

/* FLOP and bytes of one device and step. */
struct jl_convnet_work {
	double flop, moved_B;
	double conv_frac, matrix_frac, stream_frac; /* of the kernels' time: convolutions, other products, streams */
};
struct jl_convnet_work jl_convnet_work(const struct jl_convnet_train *train);

/* Weights and gradients in fp32 (automatic mixed precision keeps 16-bit copies beside them), the optimizer's states,
 * what the backward pass needs, the largest tensor's gradient, and what lies beside tensors. */
struct jl_memory jl_convnet_memory(const struct jl_convnet_train *train);

/* Bytes a parameter: fp32 weight and 16-bit copy (one of them with JL_SW_PURE), gradient, states. */
void jl_convnet_states(const struct jl_convnet *net, enum jl_dtype dtype, unsigned software, double *ret_weight_B,
		       double *ret_grad_B, double *ret_optimizer_B);

/* Are layers of transformers in it? They are weighed by what runs of transformers taught. */
bool jl_convnet_has_blocks(const struct jl_convnet *net);

/* It takes pictures, and nothing of it waits for its launches one by one. */
bool jl_convnet_pictures(const struct jl_convnet *net);

/* Pixels of the image that the network takes; 0: it takes none. */
double jl_convnet_pixels(const struct jl_convnet *net);
