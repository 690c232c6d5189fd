/* One worker's training: its memory, and one step.
 *
 * Data parallelism in four modes; each worker computes on its own samples:
 *   ddp    gradients are summed over all workers; each updates all parameters
 *   zero1  each worker updates 1/n of every unit (its shard of optimizer state); then parameters are gathered
 *   zero2  also keeps gradients of its own shard only; a unit's full gradient exists until it is reduced
 *   zero3  also keeps parameters of its own shard only; a unit's parameters are gathered for its computation */
#pragma once

#include "train/engine.h"
#include "train/shape.h"

enum jl_train_mode { JL_TRAIN_DDP, JL_TRAIN_ZERO1, JL_TRAIN_ZERO2, JL_TRAIN_ZERO3, JL_N_TRAIN_MODE };

extern const char *const jl_train_mode_names[JL_N_TRAIN_MODE + 1]; /* "ddp", "zero1", ..., NULL */

struct jl_trainer_in {
	const struct jl_train_shape *shape; /* created for the communicator's number of ranks */
	enum jl_train_mode mode;
	size_t n_samples;     /* per micro-batch and worker */
	size_t seq, n_micro;  /* n_micro: micro-batches per step */
	struct jl_comm *comm; /* communicator for tensors; NULL: single worker */
	double lr, beta1, beta2, eps, weight_decay, clip;
	uint64_t seed;
	bool no_capture;
	bool recompute; /* keep only the layers' inputs; backward recomputes the rest */
	/* Decoder (decode.h): maximum number of tokens per sample, including the prompt's `seq`; 0: training. int8: weights of products. */
	size_t max_tokens;
	bool int8;
};

extern const struct jl_trainer_in jl_trainer_defaults; /* optimizer as torch.optim.AdamW, lr 3e-4, no clipping */

/* Attention of this network over a batch, buffers unset. */
static inline struct jl_eng_attn jl_train_attn(const struct jl_train_shape *s, size_t n_samples, size_t seq)
{
	return (struct jl_eng_attn){ .n_samples = n_samples,
				     .seq = seq,
				     .n_heads = s->heads,
				     .n_kv = s->kv_heads,
				     .head_dim = s->head_dim,
				     .rope_theta = s->rope_theta,
				     .causal = s->patches == 0 };
}

/* The three products of a linear layer with weight W[w->rows × w->cols] over n_rows of input: y = x·Wᵀ + b (aux: keeps that value, and y is its
 * gelu); dx = dy·W (aux: times gelu'(aux)); dW (+)= dyᵀ·x and db (+)= sums of dy. Biases may be NULL. */
struct jl_eng_gemm jl_linear(const struct jl_tensor_place *w, size_t n_rows, const void *x, const void *weight,
			     const void *bias, void *y, void *aux);
struct jl_eng_gemm jl_linear_dx(const struct jl_tensor_place *w, size_t n_rows, const void *dy, const void *weight,
				void *dx, void *aux);
struct jl_eng_gemm jl_linear_dw(const struct jl_tensor_place *w, size_t n_rows, const void *dy, const void *x,
				void *grad, void *bias_grad, bool accumulate);

/* Memory of one worker in bytes by purpose. */
struct jl_trainer_memory {
	double param_B, grad_B, optim_B; /* model and optimizer states */
	double unit_B; /* temporary full units: gathered parameters (zero3), gradients (zero2, zero3) */
	double act_B;  /* kept from forward for backward */
	double work_B; /* logits, gradients of activations, tokens */
	double kv_B;   /* decoder's KV cache */
	double total_B;
};

struct jl_trainer;

/* Checks whether a vision model can be trained with these settings; always passes for token models. */
enum jl_status jl_trainer_check_images(const struct jl_trainer_in *in, enum jl_train_precision precision,
				       struct jl_err *err);

/* Computes the required memory without allocating. */
struct jl_trainer_memory jl_trainer_memory(struct jl_engine *engine, const struct jl_trainer_in *in);

enum jl_status jl_trainer_check(const struct jl_engine *engine, const struct jl_trainer_in *in,
				struct jl_err *err); /* checks that the engine supports it */
enum jl_status jl_trainer_create(struct jl_engine *engine, const struct jl_trainer_in *in,
				 struct jl_trainer **ret_trainer, struct jl_err *err);
void jl_trainer_destroy(struct jl_trainer *train); /* accepts NULL */

/* Runs one step on n_micro · n_samples · seq tokens; targets[i] is the successor of tokens[i]. Images: tokens holds the pool number of each
 * patch, targets the class of each image. Returns when the parameters are updated; with zero1 and zero2 gathering may still be under way
 * (jl_trainer_settle waits for it). *ret_loss: mean over this worker's targets. */
enum jl_status jl_trainer_step(struct jl_trainer *train, const int32_t *tokens, const int32_t *targets,
			       double *ret_loss, struct jl_err *err);
enum jl_status jl_trainer_settle(struct jl_trainer *train, struct jl_err *err);

/* Time per phase of the last step, seconds on this worker. */
struct jl_trainer_times {
	double forward_s, head_s, backward_s, update_s;
	double exposed_s; /* part of these: waiting for other workers */
};
struct jl_trainer_times jl_trainer_times(struct jl_trainer *train);

/* For tests: full parameters or gradients of one weight as floats (rows × cols as stored). layer counts from 0 and is ignored outside layers.
 * Gradients are those of the last exchange before averaging, available only with ddp and zero1. */
enum jl_status jl_trainer_weight(struct jl_trainer *train, enum jl_tensor weight, size_t layer, bool gradient,
				 float *ret_values, struct jl_err *err);
