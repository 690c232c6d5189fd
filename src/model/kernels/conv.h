/* How long a training step takes whose operators come as a list of groups: convolutional networks, recurrent ones,
 * detectors, and whatever else is not a plain transformer. Pure: no I/O, no allocation, no globals. */
#pragma once

#include <stddef.h>

#include "kernels/device.h"

enum jl_conv_kind {
	JL_CONV_CONV,
	JL_CONV_LINEAR,
	JL_CONV_RNN,       /* products that must follow each other, inside one library call */
	JL_CONV_CELL,      /* the same as a loop of the framework: the weight gradient is taken at every step */
	JL_CONV_BMM,       /* a product of activations: no weights */
	JL_CONV_ATTENTION, /* softmax(q k) v: rows x n scores of length k, values of length v, heads side by side */
	JL_CONV_STREAM,    /* elements moved through memory */
	JL_CONV_HOST,      /* launches that are not counted with another operator */
	JL_CONV_BLOCK, /* layers of a transformer, weighed by its own list of kernels: `heads`, `rows` of width k, n inside */
	JL_N_CONV_KIND
};

enum jl_conv_train {
	JL_CONV_FULL,
	JL_CONV_FIRST, /* the gradient of its input is not needed */
	JL_CONV_FROZEN /* forward only */
};

/* One group of operators, for one item of the batch unless per_step. */
struct jl_conv_op {
	enum jl_conv_kind kind;
	enum jl_conv_train train;
	int per_step; /* once a step, whatever the batch */
	int sync;     /* host: the device waits for these launches */
	int dilated;  /* conv */
	int turns;    /* stream: it reads channels first alone */
	int inside;   /* of a block: counted here, weighed with the block */
	int fuse; /* stream: element by element, so that a compiler folds it into its neighbours; attention: it may be one kernel */
	double count;
	double c_in, h, w, c_out, kh, kw, stride, groups; /* conv; h and w of the input */
	double oh, ow;                                    /* conv: the output's; 0: what the stride leaves */
	double rows, k, n, v, steps, heads;               /* linear, rnn, cell, bmm, attention */
	double elems, passes, elem_B;                     /* stream; elem_B 0: the activations' format */
	int back_only;                                    /* stream: nothing of it is forward */
	double calls;                                     /* stream, host: kernels launched, forward and backward */
	double fwd_passes, fwd_calls;                     /* of them in the forward pass; 0: not known */
	double amp_fwd_B, amp_bwd_B;                      /* stream: further bytes an element under autocast */
	double macs; /* stream: multiply-adds an element, as counting tools have it */
};

/* What a library of its time could not do yet. */
enum jl_conv_software {
	JL_SW_ALIGNED_ONLY = 1,   /* no tensor cores unless the sizes are multiples of 8 (cuBLAS before 11) */
	JL_SW_UNDILATED_ONLY = 2, /* no tensor cores for dilated convolutions (cuDNN before 8.1) */
	JL_SW_SLOW_TF32 = 4, /* TF32 products and one-dimensional convolutions fall back (NGC 21.03 on compute 8.6) */
	JL_SW_SLOW_HOST = 8, /* more host time per launch (PyTorch before 1.7) */
	JL_SW_PLAIN_ATTENTION = 16, /* scores go through memory (PyTorch before 2.0) */
	JL_SW_CHANNELS_LAST = 32,   /* tensors lie as tensor cores want them */
	JL_SW_COMPILED = 64,        /* torch.compile */
	JL_SW_PURE = 128,           /* weights in 16 bits too: no autocast */
	JL_SW_FORWARD = 256         /* inference: no backward pass, no update */
};

/* How the products run: vector units, tensor cores on fp32 data, tensor cores on 16-bit data. */
enum jl_conv_path { JL_CONV_VECTOR, JL_CONV_TF32, JL_CONV_HALF, JL_N_CONV_PATH };

/* Fitted by `jeoul calibrate --fit`; rates of one device, after its family's and its own deviation. */
struct jl_conv_fit {
	double conv_frac[JL_N_CONV_PATH];   /* of the listed rate that convolutions reach */
	double linear_frac[JL_N_CONV_PATH]; /* of the listed rate that matrix products reach */
	double rnn_frac;                    /* tensor cores: recurrent products, of linear_frac */
	double bmm_frac;                    /* batched products of activations, of linear_frac */
	double attn_frac;                   /* fused attention, of linear_frac */
	double dw_frac[2];   /* of the fp32 vector rate that depthwise convolutions reach: channels first, last */
	double dw_grad_gain; /* their gradients take this much longer */
	double group_half;   /* output channels of a group at which convolutions reach half their rate */
	double grad_turns;   /* channels first: times that gradients' convolutions turn what a forward one turns once */
	double group_last_gain; /* channels last: gradients of grouped convolutions take this much longer */
	double fused_frac;      /* of the streams' bytes and launches that a compiler leaves */
	double winograd_gain;   /* 3x3, stride 1, fp32: speed over direct convolution on vector units */
	double layout_frac;     /* 16-bit convolutions: share of the tensors that is transposed on the way */
	double feed_flop;       /* 16-bit FLOP per clock that one SM can feed its tensor cores (fp32 data: half) */
	double odd_feed_flop;   /* the same with rows at odd addresses */
	double odd_vector_frac; /* JL_SW_ALIGNED_ONLY: odd 16-bit products, of the fp32 vector rate */
	double dilated_frac;    /* JL_SW_UNDILATED_ONLY: dilated convolutions, of twice the fp32 vector rate */
	double slow_tf32_frac;  /* JL_SW_SLOW_TF32 */
	double wave_frac;       /* waves of 64x64 tiles that a recurrent product loses to filling the device */
	double k_half;          /* inner length at which a product reaches half its rate */
	double mem_frac;        /* of the listed bandwidth that streams reach */
	double sm_B;            /* bytes per clock that one SM can stream */
	double kernel_s;
	double device_frac;    /* this GPU against its family: all rates together */
	double launch_s;       /* host time of one launch */
	double slow_host_gain; /* JL_SW_SLOW_HOST: launch_s is this much longer */
	double amp_calls_gain; /* of launches that a list counts, casts not among them */
	double cast_calls[2]; /* that mixed precision adds to a convolution, to a linear layer: casts of all it reads */
	double worker_gain;   /* launch_s grows by this share for every further worker on the host */
	double overlap_frac;  /* of the device time that hides gradient traffic */
	double exposed_frac;  /* of the gradient traffic that nothing hides */
};

struct jl_conv_in {
	const struct jl_conv_op *ops;
	size_t n_ops;
	double batch;        /* items per device */
	enum jl_dtype dtype; /* of activations and products; parameters are updated in fp32 */
	double n_params;
	int spelled;       /* blocks are weighed here, operator by operator */
	double n_cast;     /* of them: weights that autocast narrows in every pass, those of blocks not among them */
	double update_B;   /* bytes moved per parameter by the optimizer, gradient clipping and zeroing */
	unsigned software; /* enum jl_conv_software */
	int n_workers;     /* devices of the host that work together */
	double comm_s;     /* all-reduce of the gradients; 0 for one device */
	double launch_s;   /* host time of one launch; 0: as fitted */
};

struct jl_conv_cost {
	double step_s;
	double device_s;  /* kernels */
	double host_s;    /* launches that run ahead of the device */
	double sync_s;    /* launches that the device waits for */
	double exposed_s; /* gradient traffic that is not hidden */
	double flop;      /* of a step, per device */
	double moved_B;
};

/* Device time alone, with FLOP and bytes: what does not depend on the other workers. */
struct jl_conv_cost jl_conv_device(const struct jl_device *dev, const struct jl_conv_fit *fit,
				   const struct jl_conv_in *in);
/* The whole step from it. */
struct jl_conv_cost jl_conv_finish(const struct jl_conv_fit *fit, const struct jl_conv_in *in,
				   struct jl_conv_cost cost);
struct jl_conv_cost jl_conv_step(const struct jl_device *dev, const struct jl_conv_fit *fit,
				 const struct jl_conv_in *in);

enum jl_conv_pass { JL_PASS_FORWARD, JL_PASS_INPUT_GRADIENT, JL_PASS_WEIGHT_GRADIENT, JL_N_CONV_PASS };

enum jl_conv_path jl_conv_path(const struct jl_device *dev, enum jl_dtype dtype);

/* Multiply-accumulates of one forward pass of the group, for one item (or step), and its weights. */
double jl_conv_op_mac(const struct jl_conv_op *op);
double jl_conv_op_weights(const struct jl_conv_op *op);
/* Elements that its products make in one forward pass; attention's scores are none. */
double jl_conv_op_outputs(const struct jl_conv_op *op);
/* Output elements that training keeps for the backward pass, for one item. */
double jl_conv_op_saved(const struct jl_conv_op *op);
