/* How long a served language model takes: the first token of a prompt, each token after it, and what a machine that
 * works on many requests at once delivers. Pure functions: no I/O, no allocation, no globals. */
#pragma once

#include <math.h>
#include <stdbool.h>

#include "kernels/device.h"
#include "kernels/served_op.h"

/* How a product is cut over the devices that share a layer. */
enum jl_cut { JL_CUT_NONE, JL_CUT_N, JL_CUT_K };

struct jl_served_product { /* of each token: [1,k] x [k,n] */
	double n, k, n_layers;
	enum jl_cut cut;
	double parts; /* matrices of the model that it joins: each has an adapter of its own; 0: 1 */
};
#define JL_SERVED_PRODUCTS 8

/* A model as serving sees it: what is read and computed for a token. */
struct jl_served {
	double n_layers, hidden;
	double dense_params;  /* read for every step: all but routed experts and the embedding table */
	double expert_params; /* all routed experts, all layers; 0: none */
	double table_params;  /* embedding table: kept, hardly read */
	double n_experts, top_k;
	double n_moe_layers;
	double kv_elems; /* keys and values of one token, all layers */
	double kv_heads; /* into how many parts they can be cut; latent attention: 1 */
	double heads, head_dim;
	bool latent;
	double context_frac; /* share of the layers' context that is kept (local and linear layers) at some thousand tokens */
	double local_frac, window; /* layers that look back no further than so many tokens */
	struct jl_served_product products[JL_SERVED_PRODUCTS]; /* of a token, without routed experts and logits */
	int n_products;
	struct jl_served_product logits; /* of a sequence's last token */
	double expert_up, expert_down;   /* routed experts: outputs of the first product, inputs of the second */
};

/* How the weights are kept and computed with. */
struct jl_serve_format {
	enum jl_dtype dtype;              /* of the products' operands */
	double weight_B, expert_B;        /* bytes a weight */
	double kv_B;                      /* bytes of a key's or value's element */
	int short_sums;                   /* products are summed in 16 bit: consumer boards do that at twice the rate */
	int weight_only;                  /* weights are widened on the way: activations stay in 16 bit */
	enum jl_op_format dense, experts; /* as engines run them */
	double table_B, logits_B;         /* of the embedding table and the last matrix; 0: 2, as weight_B */
	int own_kernels; /* products of few rows by the engine's own kernels, which multiply while they read */
	int score_maps;  /* attention is not fused: scores go to memory and back */
	int per_head;    /* attention of answers reads keys and values once for each query head */
};

/* Physics of one device with one framework: factors on the rates of its operators, and fixed times. */
struct jl_serve_fit {
	double mem_gain; /* rate of reading weights */
	double sm_B;     /* bytes a clock that one SM's kernels keep on the way; 0: enough for any memory */
	double math_gain[JL_N_DTYPE]; /* rate of products */
	double portable_frac; /* of a vendor's library: products of narrow weights on matrix units by kernels for any card */
	double kv_gain;       /* attention of answers */
	double flash_gain;  /* attention of prompts */
	double expert_gain; /* routed experts */
	double few_frac; /* of the listed rate: products of few rows, whose kernels fill a part of the device; 1: all of it */
	double hop_gain;     /* exchanges */
	double kernel_gain;  /* kernels' fixed times, of those by themselves: engines join and overlap them */
	double layer_s;      /* each layer of a pass: norms, positions, activations, and what lies between kernels */
	double moe_layer_s;  /* routing, in addition */
	double host_layer_s; /* a pass that the host launches kernel by kernel: one with prompts */
	double step_s;       /* host time of a pass that is not hidden */
	double seq_s;        /* each sequence of a pass: sampling, scheduling, output */
	double token_s;      /* each prompt token: its way to the device, and what is made ready for it */
	double first_s,
		first_moe_s; /* what a first token takes beside passes and front end; for each layer with experts */
	double front_s; /* front end, a process beside the passes that takes requests in one after another: each of them, */
	double line_token_s; /* each token of its prompt while the others wait: kept, handed on by one thread */
	double front_token_s; /* and each token of its prompt, text to tokens, by as many threads as there are requests */
	double handoff_s;     /* from a prompts' machine to an answers': router, and keys and values on their way */
	double dp_late;       /* the same in addition where requests are cut over devices, which wait for each other */
	double hold_frac;     /* of the passes after which a recipe looks for new requests: how long one waits */
	bool host_waits;      /* scheduling and sampling come after a pass, not while it runs */
	double late; /* passes by which a first token comes later: a request taken in, a token handed out while others run */
};

/* One device's share of a job. */
struct jl_serve_place {
	double n_gpus;   /* that share each layer */
	double n_stages; /* that hold different layers */
	double chunk; /* prompt tokens that pass a stage at once; 0: a prompt goes through stages one after the other */
	double link_Bps; /* between the n_gpus, one way, listed */
	double hop_gain; /* an exchange's fixed time, of NVLink's */
	int split_batch; /* attention of different sequences on different devices (data-parallel attention) */
	double n_ep;     /* devices that share the experts whole; 0 or 1: each has a piece of every one */
	int by_layer; /* stages are whole layers, answers pass them in turn, the table stays with the host: llama.cpp */
};

/* Low-rank adapters that lie beside the weights, requests drawn evenly over them: two thin products in 16 bit for each matrix but experts' and
 * logits'. */
struct jl_serve_adapters {
	double n, rank; /* n 0: none */
};

struct jl_serve_step {
	double weights_s, math_s, kv_s, attention_s, exchange_s, fixed_s;
	double step_s; /* the whole */
};

struct jl_serve_job {
	const struct jl_device *dev; /* with its fitted physics */
	const struct jl_serve_fit *fit;
	const struct jl_op_fit *ops;
	const struct jl_served *model;
	struct jl_serve_format format;
	struct jl_serve_place place;
	struct jl_serve_adapters adapters;
};

/* One pass over the model: a token for each of some sequences, pieces of prompts, or both. */
struct jl_pass {
	double n_seqs;    /* sequences that get their next token */
	double n_drafted; /* tokens of each that are computed: 1, and drafted ones */
	double context;   /* tokens that one of them has behind it, on average */
	double n_prompts, prompt_tokens;
	double prompt_pairs; /* tokens that the prompts' tokens look at, all together */
	bool captured;       /* launched as one graph */
};

/* What a pass asks of one device, at the rates of its operators: all that no fit of serving changes. */
struct jl_serve_work {
	double read_B;        /* weights */
	double mem_s, math_s; /* products: the parts that reading and arithmetic bound */
	double few_s;         /* products of few rows, at the listed rate */
	double beside_s;      /* arithmetic of kernels that multiply while they read: hidden where it is shorter */
	double expert_s;      /* routed experts */
	double logits_s;      /* in 16 bit, whatever the format */
	double adapters_s;    /* thin products, as well */
	double more_launches; /* of adapters, of a layer's own */
	double kv_s, flash_s; /* attention of answers and of prompts */
	double exchange_s;    /* between the devices that share a layer */
	double kernel_s;      /* what kernels take whatever their size */
	double n_layers, n_moe_layers;
	double n_seqs, prompt_tokens;
	enum jl_dtype dtype;
	bool vector;   /* products run on vector units */
	bool portable; /* products of narrow weights on matrix units */
	bool captured, split_batch;
};
struct jl_serve_work jl_serve_work(const struct jl_serve_job *job, const struct jl_pass *pass);
struct jl_serve_step jl_serve_sum(const struct jl_serve_work *work, const struct jl_device *dev,
				  const struct jl_serve_fit *fit);

/* Physics by which every pass takes `factor` times as long. */
void jl_serve_slow(struct jl_serve_fit *fit, double factor);

struct jl_serve_step jl_serve_pass(const struct jl_serve_job *job, const struct jl_pass *pass);

/* One token for each of n_seq sequences; and whole prompts, n_seq of them at once. */
struct jl_pass jl_pass_decode(double n_seq, double context);
struct jl_pass jl_pass_prefill(double n_seq, double prompt);

/* Bytes on each device: weights, and keys and values of one sequence of `context` tokens. */
double jl_serve_weights_B(const struct jl_serve_job *job);
double jl_serve_context_B(const struct jl_serve_job *job, double context);
double jl_serve_adapters_B(const struct jl_serve_job *job); /* all of them */
/* Sequences that fit beside the weights in a share of the memory; below 1: none. */
double jl_serve_room(const struct jl_serve_job *job, double context, double mem_frac);

#define JL_SERVE_ENOUGH INFINITY /* workers for prompts: never the narrow place */
