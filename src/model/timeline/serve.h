/* Serving of a language model: time to first token, time per token, and throughput under many requests. Pure: no I/O, no allocation, no globals. */
#pragma once

#include <math.h>
#include <stdbool.h>

#include "kernels/device.h"
#include "kernels/served_op.h"

/* Dimension along which tensor parallelism splits a product. */
enum jl_cut { JL_CUT_NONE, JL_CUT_N, JL_CUT_K };

struct jl_served_product { /* a product per token: [1,k] x [k,n] */
	double n, k, n_layers;
	enum jl_cut cut;
	double parts; /* model matrices fused in it, each with its own adapter; 0: 1 */
};
#define JL_SERVED_PRODUCTS 8

/* A model as serving uses it: weights read and products computed per token. */
struct jl_served {
	double n_layers, hidden;
	double dense_params;  /* read in every pass: all but routed experts and the embedding table */
	double expert_params; /* all routed experts of all layers; 0: none */
	double table_params;  /* embedding table: stored, hardly read */
	double n_experts, top_k;
	double n_moe_layers;
	double kv_elems; /* keys and values per token, all layers */
	double kv_heads; /* most parts of the KV cache; latent attention: 1 */
	double heads, head_dim;
	bool latent;
	bool embeds;    /* no tokens are generated; no KV cache is kept */
	bool both_ways; /* bidirectional attention: every token attends to its whole sequence */
	/* share of the context that layers keep (local and linear layers), at a few thousand tokens */
	double context_frac;
	double local_frac, window;                             /* share of layers with a sliding window; its tokens */
	struct jl_served_product products[JL_SERVED_PRODUCTS]; /* per token, without routed experts and logits */
	int n_products;
	struct jl_served_product logits; /* only for the last token of a sequence */
	double expert_up, expert_down;   /* routed experts: outputs of the first product, inputs of the second */
};

/* Formats of weights and of computation. */
struct jl_serve_format {
	enum jl_dtype dtype;              /* format of the products' operands */
	double weight_B, expert_B;        /* bytes per weight */
	double kv_B;                      /* bytes per element of keys and values */
	int short_sums;                   /* sums in 16 bit, at twice the rate on consumer boards */
	int weight_only;                  /* weights are dequantised in the kernel, activations stay in 16 bit */
	enum jl_op_format dense, experts; /* formats of the engine's operators */
	double table_B, logits_B; /* bytes per weight of the embedding table and of the logits; 0: 2, and weight_B */
	int own_kernels;          /* products with few rows use the engine's kernels, which multiply while they read */
	int score_maps;           /* unfused attention: scores go through memory */
	int per_head;             /* decode attention reads keys and values once per query head */
};

/* Fitted parameters of a device with an engine: factors on operator rates, and fixed times. */
struct jl_serve_fit {
	double mem_gain;              /* factor on the rate of reading weights */
	double sm_B;                  /* bytes per clock in flight per SM; 0: no limit */
	double math_gain[JL_N_DTYPE]; /* factors on product rates */
	double portable_frac; /* products of narrow weights on matrix units by portable kernels / vendor library */
	double kv_gain;       /* factor on the rate of decode attention */
	double flash_gain;    /* factor on the rate of prompt attention */
	double expert_gain;   /* factor on the rate of routed experts */
	/* products with few rows: reached share of the listed rate, as their kernels fill part of the device; 1: all */
	double few_frac;
	double hop_gain;             /* factor on the start-up of exchanges */
	double kernel_gain;          /* fixed kernel times / those of single kernels: engines fuse and overlap them */
	double layer_s;              /* per layer and pass: norms, positions, activations, gaps between kernels */
	double moe_layer_s;          /* routing of experts per layer and pass, in addition */
	double host_layer_s;         /* per layer of a pass launched kernel by kernel (one with prompts) */
	double step_s;               /* exposed host time per pass */
	double seq_s;                /* per sequence and pass: sampling, scheduling, output */
	double token_s;              /* per prompt token: transfer and preparation */
	double first_s, first_moe_s; /* added to the first token besides passes and front end; per layer with experts */
	double front_s;              /* front end, a process that takes requests one at a time: seconds per request, */
	double line_token_s; /* per prompt token in a single thread (storing, forwarding), while other requests wait, */
	double front_token_s; /* and per prompt token in a thread per request (tokenising) */
	double handoff_s; /* per request: router, and transfer of the KV cache from the prefill to the decode machine */
	double dp_late;   /* added to `late` with data-parallel attention, where devices wait for each other */
	double hold_frac; /* share of the recipe's interval between checks for new requests that a request waits */
	bool host_waits;  /* scheduling and sampling run after a pass, not during it */
	double late;      /* passes by which the first token is delayed: admission and output while others run */
};

/* One device's part of a job. */
struct jl_serve_place {
	double n_gpus;   /* devices that share each layer */
	double n_stages; /* devices with different layers */
	double chunk;    /* prompt tokens per chunk in a stage; 0: a prompt passes the stages one after another */
	double link_Bps; /* between the n_gpus, one direction, listed */
	double hop_gain; /* fixed time of an exchange / NVLink's */
	int split_batch; /* data-parallel attention: different sequences on different devices */
	double n_ep; /* devices among which whole experts are distributed; 0 or 1: each has a shard of every expert */
	/* llama.cpp: stages are whole layers, decoding passes them in turn, the table stays on the host */
	int by_layer;
};

/* LoRA adapters, requests drawn evenly among them: two thin 16-bit products per matrix, except experts and logits. */
struct jl_serve_adapters {
	double n, rank; /* number of adapters (0: none) and their rank */
};

struct jl_serve_step {
	double weights_s, math_s, kv_s, attention_s, exchange_s, fixed_s;
	double step_s; /* total of the parts below */
};

struct jl_serve_job {
	const struct jl_device *dev; /* device with fitted parameters */
	const struct jl_serve_fit *fit;
	const struct jl_op_fit *ops;
	const struct jl_served *model;
	struct jl_serve_format format;
	struct jl_serve_place place;
	struct jl_serve_adapters adapters;
};

/* One pass of the model: one token for each of some sequences, chunks of prompts, or both. */
struct jl_pass {
	double n_seqs;    /* number of sequences in decoding */
	double n_drafted; /* tokens computed per sequence: 1 plus speculative drafts */
	double context;   /* mean context per sequence */
	double n_prompts, prompt_tokens;
	double prompt_pairs; /* prompts: context tokens summed over their tokens */
	bool captured;       /* launched as one CUDA graph */
};

/* Work of a pass on one device at single-operator rates; independent of the serving fit. */
struct jl_serve_work {
	double read_B;        /* bytes of weights read */
	double mem_s, math_s; /* products: the parts bound by memory and by arithmetic */
	double few_s;         /* products with few rows, at the listed rate */
	double beside_s;      /* arithmetic of kernels that multiply while they read: hidden if shorter */
	double expert_s;      /* time of routed experts */
	double expert_frac;   /* of expert_s: share of reading their weights */
	double logits_s;      /* logits in 16 bit, whatever the format */
	double adapters_s;    /* time of adapters, in 16 bit */
	double more_launches; /* adapter launches / launches of a layer */
	double kv_s, flash_s; /* attention of decoding and of prompts */
	double exchange_s;    /* between devices that share a layer */
	double kernel_s;      /* fixed times of kernels */
	double n_layers, n_moe_layers;
	double n_seqs, prompt_tokens;
	enum jl_dtype dtype;
	bool vector;   /* products run on vector units */
	bool portable; /* products of narrow weights on matrix units, portable kernels */
	bool captured, split_batch;
};
struct jl_serve_work jl_serve_work(const struct jl_serve_job *job, const struct jl_pass *pass);
struct jl_serve_step jl_serve_sum(const struct jl_serve_work *work, const struct jl_device *dev,
				  const struct jl_serve_fit *fit);

/* Changes the fit so that every pass takes `factor` times as long. */
void jl_serve_slow(struct jl_serve_fit *fit, double factor);

struct jl_serve_step jl_serve_pass(const struct jl_serve_job *job, const struct jl_pass *pass);

/* Passes that decode one token for each of n_seq sequences, and that prefill n_seq whole prompts. */
struct jl_pass jl_pass_decode(double n_seq, double context);
struct jl_pass jl_pass_prefill(double n_seq, double prompt);

/* Bytes per device: weights; keys and values of one sequence of `context` tokens. */
double jl_serve_weights_B(const struct jl_serve_job *job);
double jl_serve_context_B(const struct jl_serve_job *job, double context);
double jl_serve_adapters_B(const struct jl_serve_job *job); /* bytes of all adapters */
/* Number of sequences that fit beside the weights in mem_frac of the memory; below 1: none. */
double jl_serve_room(const struct jl_serve_job *job, double context, double mem_frac);

#define JL_SERVE_ENOUGH INFINITY /* as many prefill workers as needed: never the bottleneck */
