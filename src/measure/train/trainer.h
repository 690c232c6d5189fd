/* One worker's training: its memory, and one step of it.
 *
 * Data parallel in four ways. Each worker computes on its own samples; what they share:
 *   ddp    gradients are summed over all workers; each updates all parameters
 *   zero1  each worker updates 1/n of every unit (its shard of optimizer state), then parameters are gathered
 *   zero2  gradients are kept only for the own shard; a unit's full gradient lives until it is reduced
 *   zero3  parameters too: a unit's are gathered before it computes and dropped behind it */
#pragma once

#include "train/engine.h"
#include "train/shape.h"

enum jl_train_mode { JL_TRAIN_DDP, JL_TRAIN_ZERO1, JL_TRAIN_ZERO2, JL_TRAIN_ZERO3, JL_N_TRAIN_MODE };

extern const char *const jl_train_mode_names[JL_N_TRAIN_MODE + 1]; /* "ddp", "zero1", ..., NULL */

struct jl_trainer_in {
	const struct jl_train_shape *shape; /* made for the communicator's number of ranks */
	enum jl_train_mode mode;
	size_t n_samples;     /* of one micro-batch on this worker */
	size_t seq, n_micro;  /* micro-batches a step */
	struct jl_comm *comm; /* the data's; NULL: alone */
	double lr, beta1, beta2, eps, weight_decay, clip;
	uint64_t seed;
	bool no_capture;
	bool recompute; /* only what layers get is kept: backward makes the rest again */
	/* A decoder (decode.h): tokens that a sample may grow to, beginning with `seq`; 0: a training. int8: weights of products. */
	size_t max_tokens;
	bool int8;
};

extern const struct jl_trainer_in
	jl_trainer_defaults; /* the optimizer's numbers: those of torch.optim.AdamW, lr 3e-4, no clipping */

/* Attention of this network over a batch; without its buffers. */
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

/* The three products of a linear layer with weight W[w->rows × w->cols] over n_rows of input: y = x·Wᵀ + b, of gelu where `aux` keeps what
 * goes into it; dx = dy·W, times gelu'(aux) where that is given; dW (+)= dyᵀ·x and db (+)= sums of dy. Biases may be NULL. */
struct jl_eng_gemm jl_linear(const struct jl_tensor_place *w, size_t n_rows, const void *x, const void *weight,
			     const void *bias, void *y, void *aux);
struct jl_eng_gemm jl_linear_dx(const struct jl_tensor_place *w, size_t n_rows, const void *dy, const void *weight,
				void *dx, void *aux);
struct jl_eng_gemm jl_linear_dw(const struct jl_tensor_place *w, size_t n_rows, const void *dy, const void *x,
				void *grad, void *bias_grad, bool accumulate);

/* Bytes of one worker by what they hold. */
struct jl_trainer_memory {
	double param_B, grad_B, optim_B; /* states */
	double unit_B; /* full units in passing: gathered parameters (zero3), gradients (zero2, zero3) */
	double act_B;  /* kept from forward for backward */
	double work_B; /* logits, gradients of activations, tokens */
	double kv_B;   /* keys and values of a decoder */
	double total_B;
};

struct jl_trainer;

/* Whether images can be trained on so; of a model of tokens it asks nothing. */
enum jl_status jl_trainer_check_images(const struct jl_trainer_in *in, enum jl_train_precision precision,
				       struct jl_err *err);

/* Memory that it would take; allocates nothing. */
struct jl_trainer_memory jl_trainer_memory(struct jl_engine *engine, const struct jl_trainer_in *in);

enum jl_status jl_trainer_check(const struct jl_engine *engine, const struct jl_trainer_in *in,
				struct jl_err *err); /* whether the engine can do it */
enum jl_status jl_trainer_create(struct jl_engine *engine, const struct jl_trainer_in *in,
				 struct jl_trainer **ret_trainer, struct jl_err *err);
void jl_trainer_destroy(struct jl_trainer *train); /* NULL is fine */

/* One step on n_micro · n_samples · seq tokens; targets[i] is what follows tokens[i]. Images: tokens[i] is which of the trainer's own
 * patches each of their patches is, and a target the class of each. Returns when the parameters are
 * updated, or, where they are gathered (zero1, zero2), when the gathering is under way: jl_trainer_settle waits for
 * that. *ret_loss: mean over this worker's targets. */
enum jl_status jl_trainer_step(struct jl_trainer *train, const int32_t *tokens, const int32_t *targets,
			       double *ret_loss, struct jl_err *err);
enum jl_status jl_trainer_settle(struct jl_trainer *train, struct jl_err *err);

/* Where the last step's time went, seconds on this worker. */
struct jl_trainer_times {
	double forward_s, head_s, backward_s, update_s;
	double exposed_s; /* of these: standing still for other workers */
};
struct jl_trainer_times jl_trainer_times(struct jl_trainer *train);

/* Tests: full parameters or gradients of one weight as floats (rows × cols as stored); layer counts from 0 and is ignored for the ends.
 * Gradients: those of the last step's last exchange, before averaging; only where this worker holds them (ddp, zero1). */
enum jl_status jl_trainer_weight(struct jl_trainer *train, enum jl_tensor weight, size_t layer, bool gradient,
				 float *ret_values, struct jl_err *err);
