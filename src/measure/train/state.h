/* Inside of a worker's training: what state.c lays out, step.c computes on and exchange.c sends around. */
#pragma once

#include "train/trainer.h"

#define JL_TRAIN_BUFFERS                                                                                               \
	3 /* for full units in passing: two in turn, and one for a tied embedding that stays until the end */

/* One unit on this worker; addresses in the engine's memory. */
struct jl_unit {
	size_t n;          /* elements, padding included */
	size_t shard_n;    /* elements that this worker updates (ddp: all) */
	size_t shard_at;   /* ... from here on */
	char *param;       /* full; zero3: where it is gathered now, NULL: nowhere */
	char *param_shard; /* the part this worker updates */
	char *grad;        /* full; zero2, zero3: the buffer it is in now, NULL: in none */
	char *grad_shard;
	float *master, *m, *v; /* shard_n each; master NULL where parameters are float */
	char *narrow; /* a decoder's weights of a byte: int8 with a scale a row, fp8 with a jl_fp8_scale a tensor */
	float *scales;
	bool reducing, gathering;
};

/* The linear layers of a layer, and what of each is kept as fp8 with its scale. */
enum { JL_N_LINEAR = 4 };
extern const enum jl_tensor jl_train_linears[JL_N_LINEAR];
enum jl_fp8_what { JL_FP8_WEIGHT, JL_FP8_INPUT, JL_FP8_GRADIENT };

/* What forward keeps of one layer for backward. Shared buffers where it is made again. */
struct jl_layer_acts {
	void *x_in, *norm1, *qkv, *att, *x_mid, *norm2, *up, *act;
	float *mean1, *rstd1, *mean2, *rstd2, *lse;
	void *fp8_t[JL_N_LINEAR]; /* what the linear layers get, transposed */
	void *keys, *values;      /* of a decoder */
};

/* What images have around the layers (vit.c). Numbers of rows to gather stay the same all the time. */
struct jl_vit {
	void *bank;                   /* patches that images are made of */
	void *images;                 /* of this micro-batch: a patch a row */
	void *d_classes;              /* a row of zeros, then the gradients of what the logits are of */
	int32_t *from;                /* of every row: the class token (0), or the product of its patch */
	int32_t *d_from;              /* of every row: which of d_classes */
	int32_t *patches, *class_row; /* of the stream: where they lie */
};

struct jl_block { /* one allocation */
	char *memory;
	size_t size_B;
	enum jl_engine_mem mem;
};

enum {
	JL_BLOCK_PARAM,
	JL_BLOCK_GRAD,
	JL_BLOCK_OPTIM,
	JL_BLOCK_UNIT,
	JL_BLOCK_ACT,
	JL_BLOCK_WORK,
	JL_BLOCK_KV,
	JL_N_BLOCK
};

struct jl_trainer {
	struct jl_engine *engine;
	const struct jl_engine_kernels *k;
	struct jl_train_shape shape;
	struct jl_trainer_in in;
	enum jl_train_mode mode; /* ddp where there is one rank only */
	int rank, n_ranks;
	size_t n_rows;              /* tokens of a micro-batch */
	size_t n_inputs, n_targets; /* of a micro-batch: patches and classes of images, else both of every token */
	long n_steps;

	size_t narrow_n[JL_N_UNIT_KIND], scales_n[JL_N_UNIT_KIND]; /* of a unit of a decoder */

	struct jl_block blocks[JL_N_BLOCK];
	struct jl_unit *units;
	struct jl_layer_acts *layers;

	/* full units in passing */
	char *param_buffers[2], *grad_buffers[JL_TRAIN_BUFFERS];
	size_t param_holds[2], grad_holds[JL_TRAIN_BUFFERS]; /* unit + 1; 0: nothing */
	size_t n_uses, n_grads;                              /* units used, gradients begun: which buffer is next */
	bool first_micro, last_micro;

	/* work */
	void *branch; /* what a block adds to the residual stream */
	void *x_final, *norm_final, *d_norm_final;
	void *head_in, *d_head_in; /* what the logits are of: norm_final, or some of its rows */
	float *mean_final, *rstd_final;
	void *d_res; /* gradient of the residual stream */
	void *d_norm, *d_up, *d_qkv, *d_att, *attn_scratch, *logits;
	size_t logits_rows;
	struct jl_vit vit;
	void *fp8, *fp8_t; /* input of the product that is next, or its gradient; that, transposed; NULL: not in fp8 */
	char *fp8_w; /* weights of the linear layers of the layer that computes, as a unit lays them out; in backward transposed */
	struct jl_fp8_scale *scales;
	float *loss, *norm_sq;
	int32_t *tokens, *targets;
	float *host_loss;
	struct jl_engine_graph *graphs[2]; /* recorded: a step or a pass of prompts; a pass of one token */
	long n_queued[2];                  /* how often each was */
	struct jl_trainer_times times;

	/* decoder: position of each sample, and its next token */
	int32_t *at, *next;
	bool decoding;   /* one token a sample; otherwise whole prompts */
	size_t n_tokens; /* of each sample so far */
};

/* state.c */
void *jl_trainer_at(const struct jl_trainer *t, const struct jl_unit *unit,
		    enum jl_tensor weight); /* parameter; NULL: none */
void *jl_trainer_grad(const struct jl_trainer *t, const struct jl_unit *unit, enum jl_tensor weight); /* its gradient */

/* vit.c */
enum jl_status jl_vit_fill(struct jl_trainer *t, struct jl_err *err);
void jl_vit_embed(struct jl_trainer *t, const struct jl_unit *unit, const int32_t *patches);
void jl_vit_embed_bwd(struct jl_trainer *t, const struct jl_unit *unit);
void jl_vit_pool(struct jl_trainer *t); /* rows of class tokens behind the last norm */
void jl_vit_pool_bwd(struct jl_trainer *t);

/* step.c, for decode.c too */
void jl_trainer_forward(struct jl_trainer *t, const int32_t *tokens);
void jl_trainer_norm(struct jl_trainer *t, struct jl_unit *unit, enum jl_tensor weight, const void *residual,
		     const void *branch, void *residual_out, void *out, float *mean, float *rstd);
void jl_trainer_logits(struct jl_trainer *t, struct jl_unit *unit, const void *x); /* of n_rows */
/* Queues what `queue` does. The first time warms up, the second is recorded where the engine can, and from then on that is replayed. */
enum jl_status jl_trainer_queue(struct jl_trainer *t, void (*queue)(struct jl_trainer *t), struct jl_err *err);
void jl_trainer_forget(struct jl_trainer *t); /* what is recorded */

/* exchange.c: parameters are there before a unit computes; its gradient has a place, and goes to the others when it is complete. */
void jl_trainer_begin_step(struct jl_trainer *t);
bool jl_trainer_shards_grads(const struct jl_trainer *t); /* zero2, zero3 */
bool jl_trainer_accumulates(
	const struct jl_trainer *t); /* does this micro-batch add to the gradients that are there? */
struct jl_unit *jl_trainer_use(struct jl_trainer *t, size_t unit,
			       long next_unit); /* next_unit: the unit computed next; -1: none */
void jl_trainer_grad_begin(struct jl_trainer *t, size_t unit);
void jl_trainer_grad_done(struct jl_trainer *t, size_t unit);
void jl_trainer_end_micro(struct jl_trainer *t);
void jl_trainer_update(struct jl_trainer *t);
void jl_trainer_finish_gathers(struct jl_trainer *t);
