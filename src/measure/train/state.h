/* Internal state of a worker's training: state.c lays it out, step.c computes with it, exchange.c communicates it. */
#pragma once

#include "train/trainer.h"

#define JL_TRAIN_BUFFERS                                                                                               \
	3 /* buffers for full units: two alternate, one holds a tied embedding until the end of the step */

/* One unit on this worker. Pointers are addresses in the engine's memory. */
struct jl_unit {
	size_t n;          /* elements, padding included */
	size_t shard_n;    /* elements that this worker updates (ddp: all) */
	size_t shard_at;   /* offset of the shard */
	char *param;       /* full parameters; zero3: the buffer with the gathered ones, NULL: not gathered */
	char *param_shard; /* the part that this worker updates */
	char *grad;        /* full gradient; zero2, zero3: its current buffer, NULL: none */
	char *grad_shard;
	float *master, *m, *v; /* shard_n each; master is NULL where parameters are float */
	char *narrow; /* decoder: 1-byte weights, int8 with a scale per row or fp8 with a jl_fp8_scale per tensor */
	float *scales;
	bool reducing, gathering;
};

/* The linear layers of a layer, and the tensors of each that exist in fp8 with a scale. */
enum { JL_N_LINEAR = 4 };
extern const enum jl_tensor jl_train_linears[JL_N_LINEAR];
enum jl_fp8_what { JL_FP8_WEIGHT, JL_FP8_INPUT, JL_FP8_GRADIENT };

/* Activations of one layer that forward keeps for backward. Where backward recomputes them, all layers share the buffers. */
struct jl_layer_acts {
	void *x_in, *norm1, *qkv, *att, *x_mid, *norm2, *up, *act;
	float *mean1, *rstd1, *mean2, *rstd2, *lse;
	void *fp8_t[JL_N_LINEAR]; /* inputs of the linear layers, transposed */
	void *keys, *values;      /* decoder: KV cache */
};

/* Vision transformer (vit.c): buffers before and after the layers. The row indices are constant. */
struct jl_vit {
	void *bank;                   /* pool of patches from which images are composed */
	void *images;                 /* this micro-batch, one patch per row */
	void *d_classes;              /* a row of zeros, then the gradients of the rows that produce the logits */
	int32_t *from;                /* source of each row: the class token (0) or a patch's embedding */
	int32_t *d_from;              /* row of d_classes that is each row's gradient */
	int32_t *patches, *class_row; /* row numbers in the residual stream */
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
	enum jl_train_mode mode; /* ddp if there is only one rank */
	int rank, n_ranks;
	size_t n_rows;              /* tokens per micro-batch */
	size_t n_inputs, n_targets; /* per micro-batch: patches and classes of images, otherwise tokens for both */
	long n_steps;

	size_t narrow_n[JL_N_UNIT_KIND], scales_n[JL_N_UNIT_KIND]; /* decoder: 1-byte weights and scales per unit */

	struct jl_block blocks[JL_N_BLOCK];
	struct jl_unit *units;
	struct jl_layer_acts *layers;

	/* temporary buffers for full units */
	char *param_buffers[2], *grad_buffers[JL_TRAIN_BUFFERS];
	size_t param_holds[2], grad_holds[JL_TRAIN_BUFFERS]; /* number of the unit in each buffer + 1; 0: empty */
	size_t n_uses, n_grads; /* units used and gradients started so far: select the next buffer */
	bool first_micro, last_micro;

	/* work */
	void *branch; /* output of a block, to be added to the residual stream */
	void *x_final, *norm_final, *d_norm_final;
	void *head_in, *d_head_in; /* input of the logits: norm_final, or some of its rows */
	float *mean_final, *rstd_final;
	void *d_res; /* gradient of the residual stream */
	void *d_norm, *d_up, *d_qkv, *d_att, *attn_scratch, *logits;
	size_t logits_rows;
	struct jl_vit vit;
	void *fp8, *fp8_t; /* fp8 input of the next product, or its gradient, plain and transposed; NULL: not in fp8 */
	char *fp8_w; /* fp8 weights of the current layer's linear layers, in the unit's layout; transposed in backward */
	struct jl_fp8_scale *scales;
	float *loss, *norm_sq;
	int32_t *tokens, *targets;
	float *host_loss;
	struct jl_engine_graph *graphs[2]; /* captured graphs: [0] step or prompt pass, [1] decoding pass */
	long n_queued[2];                  /* number of times each has been queued */
	struct jl_trainer_times times;

	/* decoder: position, and each sample's next token */
	int32_t *at, *next;
	bool decoding;   /* decoding pass (one token per sample); false: whole prompts */
	size_t n_tokens; /* tokens per sample so far */
};

/* state.c: address of a parameter and of its gradient; NULL: the model lacks it. */
void *jl_trainer_at(const struct jl_trainer *t, const struct jl_unit *unit, enum jl_tensor weight);
void *jl_trainer_grad(const struct jl_trainer *t, const struct jl_unit *unit, enum jl_tensor weight);

/* vit.c */
enum jl_status jl_vit_fill(struct jl_trainer *t, struct jl_err *err);
void jl_vit_embed(struct jl_trainer *t, const struct jl_unit *unit, const int32_t *patches);
void jl_vit_embed_bwd(struct jl_trainer *t, const struct jl_unit *unit);
void jl_vit_pool(struct jl_trainer *t); /* gathers the class-token rows after the last norm */
void jl_vit_pool_bwd(struct jl_trainer *t);

/* step.c, for decode.c too */
void jl_trainer_forward(struct jl_trainer *t, const int32_t *tokens);
void jl_trainer_norm(struct jl_trainer *t, struct jl_unit *unit, enum jl_tensor weight, const void *residual,
		     const void *branch, void *residual_out, void *out, float *mean, float *rstd);
void jl_trainer_logits(struct jl_trainer *t, struct jl_unit *unit, const void *x); /* over n_rows rows */
/* Runs `queue`: the first time as warm-up, the second time captured as a graph where the engine can; later calls replay the graph. */
enum jl_status jl_trainer_queue(struct jl_trainer *t, void (*queue)(struct jl_trainer *t), struct jl_err *err);
void jl_trainer_forget(struct jl_trainer *t); /* drops captured graphs */

/* exchange.c: gathers parameters before a unit computes; assigns a gradient buffer and starts its reduction when complete. */
void jl_trainer_begin_step(struct jl_trainer *t);
bool jl_trainer_shards_grads(const struct jl_trainer *t); /* zero2, zero3 */
bool jl_trainer_accumulates(const struct jl_trainer *t);  /* true if this micro-batch adds to existing gradients */
struct jl_unit *jl_trainer_use(struct jl_trainer *t, size_t unit,
			       long next_unit); /* next_unit: computed next, its gather is started; -1: none */
void jl_trainer_grad_begin(struct jl_trainer *t, size_t unit);
void jl_trainer_grad_done(struct jl_trainer *t, size_t unit);
void jl_trainer_end_micro(struct jl_trainer *t);
void jl_trainer_update(struct jl_trainer *t);
void jl_trainer_finish_gathers(struct jl_trainer *t);
