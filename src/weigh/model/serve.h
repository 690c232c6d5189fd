/* How long a served language model takes: the first token of a prompt, each token after it, and what a machine that
 * works on many requests at once delivers. Pure functions: no I/O, no allocation, no globals. */
#ifndef JL_MODEL_SERVE_H
#define JL_MODEL_SERVE_H

#include <math.h>

#include "model/device.h"

/* A model as serving sees it: what is read and computed for a token. */
struct jl_served {
	double n_layers, hidden;
	double dense_params;  /* read for every step: all but routed experts and the embedding table */
	double expert_params; /* all routed experts, all layers; 0: none */
	double table_params;  /* embedding table: kept, hardly read */
	double n_experts, top_k;
	double n_moe_layers;
	double kv_elems;     /* keys and values of one token, all layers */
	double kv_heads;     /* into how many parts they can be cut; latent attention: 1 */
	double pair_flop;    /* attention of one new token to one earlier, all layers */
	double context_frac; /* share of the layers' context that is read (local and linear layers) */
};

/* How the weights are kept and computed with. */
struct jl_serve_format {
	enum jl_dtype dtype;       /* of the products' operands */
	double weight_B, expert_B; /* bytes a weight */
	double kv_B;               /* bytes of a key's or value's element */
	int short_sums;            /* products are summed in 16 bit: consumer boards do that at twice the rate */
	int weight_only;           /* weights are widened on the way: activations stay in 16 bit */
};

/* Physics of one device with one framework. */
struct jl_serve_fit {
	double mem_frac; /* of the listed memory rate, reading weights */
	double sm_B;     /* bytes a clock that one SM's kernels keep on the way; 0: enough for any memory */
	double kv_frac;  /* reading keys and values, of that */
	double math_frac[JL_N_DTYPE]; /* of the listed matrix rate */
	double flash_frac;            /* attention of a prompt, of the 16-bit products' rate */
	double narrow_mem_frac;       /* weight-only formats: of mem_frac */
	double narrow_math_frac;      /* weight-only formats: of math_frac */
	double expert_frac;           /* routed experts: rates left by uneven routing and small products */
	double overlap_frac;          /* share of the shorter of reading and computing that is not hidden */
	double layer_s;               /* each layer of a step, whatever its size */
	double moe_layer_s;           /* routing, in addition */
	double prompt_layer_s;        /* the same for a pass with prompts, which the host launches kernel by kernel */
	double prompt_moe_layer_s;
	double step_s;     /* host time of a step that is not hidden */
	double seq_s;      /* each sequence of a step: sampling, scheduling, output */
	double token_s;    /* each prompt token: text to tokens, and its way to the device */
	double hop_s;      /* each exchange between devices */
	double link_frac;  /* of the listed link rate */
	double first_s;    /* front end of a request */
	double mix_frac;   /* share of others' prompts that delays the tokens of those running */
	double burst_frac; /* prompts of others that a new one waits for, of those running */
};

/* One device's share of a job. */
struct jl_serve_place {
	double n_gpus;   /* that share each layer */
	double n_stages; /* that hold different layers */
	double chunk; /* prompt tokens that pass a stage at once; 0: a prompt goes through stages one after the other */
	double link_Bps; /* between the n_gpus, one way, listed */
	double hop_gain; /* an exchange's fixed time, of NVLink's */
	int split_batch; /* attention of different sequences on different devices (data-parallel attention) */
};

struct jl_serve_step {
	double weights_s, math_s, kv_s, attention_s, exchange_s, fixed_s;
	double step_s; /* the whole: weights and math hide each other in part */
};

struct jl_serve_job {
	const struct jl_device *dev;
	const struct jl_serve_fit *fit;
	const struct jl_served *model;
	struct jl_serve_format format;
	struct jl_serve_place place;
};

/* One pass over the model with n_tokens new tokens of n_seq sequences, each of which has `context` earlier tokens on
 * average; prompt tokens see half of their own prompt in addition. */
struct jl_serve_step jl_serve_step(const struct jl_serve_job *job, double n_seq, double n_tokens, double context);

/* One token for each of n_seq sequences; and whole prompts, n_seq of them at once. */
struct jl_serve_step jl_serve_decode(const struct jl_serve_job *job, double n_seq, double context);
struct jl_serve_step jl_serve_prefill(const struct jl_serve_job *job, double n_seq, double prompt);

/* Bytes on each device: weights, and keys and values of one sequence of `context` tokens. */
double jl_serve_weights_B(const struct jl_serve_job *job);
double jl_serve_context_B(const struct jl_serve_job *job, double context);
/* Sequences that fit beside the weights; below 1: none. */
double jl_serve_room(const struct jl_serve_job *job, double context);

#define JL_SERVE_ENOUGH INFINITY /* workers for prompts: never the narrow place */

struct jl_serve_load {
	double n_requests; /* at once: each is followed by the next */
	double prompt, output;
	double n_prefill_workers; /* > 0: prompts have machines of their own, `prefill` */
	const struct jl_serve_job *prefill;
	double max_batch; /* sequences that the framework runs at once, at most; 0: what fits */
};

struct jl_serve_rate {
	double ttft_s, tpot_s;
	double batch;               /* sequences that run at once */
	double request_tps;         /* tokens a second of one request, after its first */
	double total_tps;           /* output tokens a second, all requests */
	double decode_s, prefill_s; /* of one step; of one prompt alone */
	double queue_s;             /* of ttft_s: waiting for room or for prompts ahead */
};

struct jl_serve_rate jl_serve_rate(const struct jl_serve_job *job, const struct jl_serve_load *load);

#endif
