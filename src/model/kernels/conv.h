/* Step time of networks given as a list of operator groups: convolutional, recurrent, detectors, and others that are not plain transformers. Pure:
 * no I/O, no allocation, no globals. */
#pragma once

#include <stddef.h>

#include "kernels/device.h"

enum jl_conv_kind {
	JL_CONV_CONV,
	JL_CONV_LINEAR,
	JL_CONV_RNN,       /* sequential products inside one library call */
	JL_CONV_CELL,      /* the same as a framework loop: weight gradient computed at every step */
	JL_CONV_BMM,       /* product of two activations, no weights */
	JL_CONV_ATTENTION, /* softmax(q k) v: rows x n scores of depth k, values of length v, `heads` in parallel */
	JL_CONV_STREAM,    /* elements streamed through memory */
	JL_CONV_HOST,      /* launches not counted with another operator */
	/* transformer layers, priced by their own kernel list: `heads`, `rows` of width k, inner width n */
	JL_CONV_BLOCK,
	JL_N_CONV_KIND
};

enum jl_conv_train {
	JL_CONV_FULL,
	JL_CONV_FIRST, /* first layer: computes no input gradient */
	JL_CONV_FROZEN /* frozen: forward only */
};

/* One group of operators, per item of the batch unless per_step. */
struct jl_conv_op {
	enum jl_conv_kind kind;
	enum jl_conv_train train;
	int per_step; /* once per step, independent of the batch */
	int sync;     /* host: the device waits for these launches */
	int dilated;  /* 1 for a dilated convolution */
	int turns;    /* stream: supports channels first only */
	int inside;   /* part of a block: counted here, timed with the block */
	int fuse; /* stream: elementwise, a compiler fuses it with its neighbours; attention: may be one fused kernel */
	double count;
	double c_in, h, w, c_out, kh, kw, stride, groups; /* conv; h, w: input size */
	double oh, ow;                                    /* conv: output size; 0: derived from the stride */
	double rows, k, n, v, steps, heads;               /* linear, rnn, cell, bmm, attention */
	double elems, passes, elem_B; /* stream; elem_B: bytes per element, 0: the activations' format */
	int back_only;                /* stream: backward pass only */
	double calls;                 /* stream, host: launches, forward plus backward */
	double fwd_passes, fwd_calls; /* passes and calls of the forward pass alone; 0: unknown */
	double amp_fwd_B, amp_bwd_B;  /* stream: additional bytes per element under autocast */
	double macs;                  /* stream: multiply-adds per element, as tools for counting FLOP report them */
};

/* Limits and options of the software. */
enum jl_conv_software {
	JL_SW_ALIGNED_ONLY = 1,   /* no tensor cores unless the sizes are multiples of 8 (cuBLAS before 11) */
	JL_SW_UNDILATED_ONLY = 2, /* no tensor cores for dilated convolutions (cuDNN before 8.1) */
	/* TF32 and one-dimensional convolutions use slow kernels (NGC 21.03 on compute capability 8.6) */
	JL_SW_SLOW_TF32 = 4,
	JL_SW_SLOW_HOST = 8,        /* more host time per launch (PyTorch before 1.7) */
	JL_SW_PLAIN_ATTENTION = 16, /* unfused attention: scores go through memory (PyTorch before 2.0) */
	JL_SW_CHANNELS_LAST = 32,   /* channels-last layout */
	JL_SW_COMPILED = 64,        /* torch.compile */
	JL_SW_PURE = 128,           /* weights in 16 bits too, no autocast */
	JL_SW_FORWARD = 256         /* inference: no backward pass, no update */
};

/* Execution path of products: vector units, tensor cores on fp32 data, tensor cores on 16-bit data. */
enum jl_conv_path { JL_CONV_VECTOR, JL_CONV_TF32, JL_CONV_HALF, JL_N_CONV_PATH };

/* Fitted by `jeoul calibrate --fit`: values of one device, family and device deviations included. */
struct jl_conv_fit {
	double conv_frac[JL_N_CONV_PATH];   /* convolutions: share of the listed rate */
	double linear_frac[JL_N_CONV_PATH]; /* matrix products: share of the listed rate */
	double rnn_frac;                    /* recurrent products on tensor cores / linear_frac */
	double bmm_frac;                    /* batched products of activations / linear_frac */
	double attn_frac;                   /* fused attention / linear_frac */
	double dw_frac[2];      /* depthwise convolutions: share of the fp32 vector rate; channels first, last */
	double dw_grad_gain;    /* depthwise gradients: time factor */
	double group_half;      /* channels per group at which convolutions reach half their rate */
	double grad_turns;      /* channels first: transposes per gradient convolution / per forward convolution */
	double group_last_gain; /* channels last: time factor of the gradients of grouped convolutions */
	double fused_frac;      /* share of the streams' bytes and launches left by a compiler */
	double winograd_gain;   /* 3x3, stride 1, fp32: speed-up over direct convolution on vector units */
	double layout_frac;     /* 16-bit convolutions: share of the tensors that is transposed */
	double feed_flop;       /* 16-bit FLOP per clock that operand loads of one SM sustain (fp32 data: half) */
	double odd_feed_flop;   /* the same with rows that are not 16-byte aligned */
	double odd_vector_frac; /* JL_SW_ALIGNED_ONLY: unaligned 16-bit products / fp32 vector rate */
	double dilated_frac;    /* JL_SW_UNDILATED_ONLY: dilated convolutions / twice the fp32 vector rate */
	double slow_tf32_frac;  /* JL_SW_SLOW_TF32: share of the rate left */
	double wave_frac;       /* recurrent products: loss to filling the device, in waves of 64x64 tiles */
	double k_half;          /* inner dimension k at which a product reaches half its rate */
	double mem_frac;        /* streams: share of the listed bandwidth */
	double sm_B;            /* bytes per clock that one SM streams */
	double kernel_s;
	double device_frac;    /* this GPU / its family, all rates */
	double launch_s;       /* host seconds per launch */
	double slow_host_gain; /* JL_SW_SLOW_HOST: factor on launch_s */
	double amp_calls_gain; /* factor on the launches in the list under autocast, casts excluded */
	double cast_calls[2];  /* casts that mixed precision adds per convolution and per linear layer */
	double worker_gain;    /* relative growth of launch_s per further worker on the host */
	double overlap_frac;   /* share of the device time that can hide gradient traffic */
	double exposed_frac;   /* share of the gradient traffic that is always exposed */
};

struct jl_conv_in {
	const struct jl_conv_op *ops;
	size_t n_ops;
	double batch;        /* items per device */
	enum jl_dtype dtype; /* format of activations and products; parameters are updated in fp32 */
	double n_params;
	int spelled;       /* 1: price blocks here, operator by operator */
	double n_cast;     /* of n_params: weights outside blocks that autocast converts in every pass */
	double update_B;   /* bytes per parameter for optimizer, gradient clipping and zeroing */
	unsigned software; /* bits of enum jl_conv_software */
	int n_workers;     /* devices per host that train together */
	double comm_s;     /* all-reduce time of the gradients; 0 for one device */
	double launch_s;   /* host seconds per launch; 0: fitted value */
};

struct jl_conv_cost {
	double step_s;
	double device_s;  /* kernel time */
	double host_s;    /* host time of asynchronous launches */
	double sync_s;    /* host time of launches that the device waits for */
	double exposed_s; /* gradient traffic that is not hidden */
	double flop;      /* FLOP and bytes per step and device */
	double moved_B;
};

/* Device time, FLOP and bytes: the part that is independent of other workers. */
struct jl_conv_cost jl_conv_device(const struct jl_device *dev, const struct jl_conv_fit *fit,
				   const struct jl_conv_in *in);
/* Completes `cost` to the whole step. */
struct jl_conv_cost jl_conv_finish(const struct jl_conv_fit *fit, const struct jl_conv_in *in,
				   struct jl_conv_cost cost);
struct jl_conv_cost jl_conv_step(const struct jl_device *dev, const struct jl_conv_fit *fit,
				 const struct jl_conv_in *in);

enum jl_conv_pass { JL_PASS_FORWARD, JL_PASS_INPUT_GRADIENT, JL_PASS_WEIGHT_GRADIENT, JL_N_CONV_PASS };

enum jl_conv_path jl_conv_path(const struct jl_device *dev, enum jl_dtype dtype);

/* Multiply-accumulates of one forward pass per item (or step), and weights, of the group. */
double jl_conv_op_mac(const struct jl_conv_op *op);
double jl_conv_op_weights(const struct jl_conv_op *op);
/* Outputs of its products in one forward pass, in elements; attention scores excluded. */
double jl_conv_op_outputs(const struct jl_conv_op *op);
/* Output elements kept for the backward pass, per item. */
double jl_conv_op_saved(const struct jl_conv_op *op);
