/* What the training step asks of a set of kernels. One description of the step (train/step.c), two sets of kernels:
 * CPU (train/cpu_*.c) and CUDA (train/cuda_*). A kernel set is a const struct of functions over an engine.
 *
 * Rules that hold for every function
 * - Buffers are addresses in the engine's memory (host addresses on the CPU, device addresses on a GPU): the step
 *   never reads through them, it only adds element offsets and hands them back.
 * - Matrices are row-major. Rows of activations are tokens: row = sample * seq + position.
 * - Three element types, fixed when the engine is created: parameters and activations share one (`elem`: float for
 *   fp32 and tf32, bfloat16 for bf16), gradients of parameters have another (`grad`: float or bfloat16, the engine's
 *   choice), and what is named float is float.
 * - Kernels are queued in order; nothing waits except `sync`, `to_host` and what says so. The first failure sticks in
 *   `engine->failed` and `engine->err`; later calls do nothing. So the step reads without a check behind each line;
 *   `sync` returns what happened.
 * - `accumulate` on a gradient of parameters: add to what is there (a further micro-batch) instead of overwriting it.
 *   Overwriting saves zeroing. Padding between tensors of a flat buffer is zero from the allocation on and no kernel
 *   writes it.
 * - No function allocates after the first step of a shape: a warmed-up step can be captured. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "comm/comm.h"
#include "train/fp8.h"

/* fp8: linear layers multiply fp8 numbers, everything else is as in bf16. */
enum jl_train_precision { JL_TRAIN_FP32, JL_TRAIN_TF32, JL_TRAIN_BF16, JL_TRAIN_FP8, JL_N_TRAIN_PRECISION };

extern const char *const jl_train_precision_names[JL_N_TRAIN_PRECISION + 1]; /* "fp32", "tf32", "bf16", "fp8", NULL */

struct jl_engine_kernels;
struct jl_engine_graph; /* a captured step; the engine's own */

/* Common head of every engine; a kernel set embeds it. */
struct jl_engine {
	const struct jl_engine_kernels *k;
	enum jl_train_precision precision;
	size_t elem_B;               /* parameter and activation: 4 or 2 */
	size_t grad_B;               /* gradient of a parameter: 4 or 2 */
	enum jl_comm_type elem_type; /* the same two for collectives */
	enum jl_comm_type grad_type;
	enum jl_status failed; /* first failure, sticks */
	struct jl_err err;
	size_t used_B, peak_B; /* allocated through `alloc` now, and the most so far */
	int n_threads;         /* CPU */
	int device;            /* GPU */
};

struct jl_engine_in {
	enum jl_train_precision precision;
	int device;           /* GPU number; CPU: ignored */
	int n_threads;        /* CPU: 0 = all that this process may use */
	struct jl_comm *comm; /* so that memory for collectives can come from it; NULL: single worker */
};

/* Whether collectives read and write the buffer. */
enum jl_engine_mem { JL_MEM_PLAIN, JL_MEM_COMM };

/* C[m×n] (+)= op(A)·op(B). op(A) is m×k: stored m×k, or k×m with `ta`; op(B) is k×n: stored k×n, or n×k with `tb`. ld
 * = elements from one stored row to the next. The three products of a linear layer y[t×o] = x[t×i]·Wᵀ + b with W
 * stored [o×i]:
 *   forward          c = y,  a = x,  b = W         tb            epilogue BIAS or BIAS_GELU
 *   input gradient   c = dx, a = dy, b = W                       epilogue NONE, or DGELU where x = gelu(aux)
 *   weight gradient  c = dW, a = dy, b = x         ta, c_is_grad epilogue BGRAD where the layer has a bias */
enum jl_epilogue {
	JL_EP_NONE,
	JL_EP_BIAS,      /* c = A·B + bias[n] */
	JL_EP_BIAS_GELU, /* aux = A·B + bias; c = gelu(aux); bias may be NULL */
	JL_EP_DGELU,     /* c = (A·B)·gelu'(aux) */
	JL_EP_BGRAD      /* c = A·B, and bias_grad[m] (+)= sums of op(A) over k, that is of dy over the tokens */
};

#define JL_FP8_FEW ((size_t)32)

struct jl_eng_gemm {
	size_t m, n, k;
	const void *a, *b;
	void *c;
	size_t lda, ldb, ldc;
	bool ta, tb;
	bool c_is_grad;  /* c and bias_grad have the gradient type; otherwise c is an activation */
	bool accumulate; /* c and bias_grad */
	enum jl_epilogue epilogue;
	const void *bias; /* elem[n] */
	void *aux;        /* elem[m×n], leading dimension ldc: value before the activation */
	void *bias_grad;  /* grad[m], BGRAD */
	const float
		*b_scale; /* not NULL (an engine with int8_from_float, tb): b is int8_t, its row i times b_scale[i] */
	/* Not NULL (an engine with `fp8`, tb without ta): a and b are fp8 of these scales, both e4m3, or a e5m2 with `wide`. a_fp8
	 * alone NULL: only b is, and at most JL_FP8_FEW rows of a read it once. */
	const struct jl_fp8_scale *a_fp8, *b_fp8;
	bool wide;
};

/* gelu is the tanh form: 0.5·x·(1 + tanh(sqrt(2/π)·(x + 0.044715·x³))).
 *
 * Residual stream and norm in one pass over n_rows × width:
 *   residual_out = residual + branch        (branch NULL: residual_out is not written, the norm reads `residual`)
 *   out = norm(residual_out)·weight + bias
 * mean and rstd (float[n_rows]) are kept for backward; RMSNorm uses rstd only. residual_out may be the same buffer as
 * residual. */
struct jl_eng_norm {
	bool rms; /* RMSNorm: no mean, no bias */
	double eps;
	size_t n_rows, width;
	const void *residual, *branch;
	void *residual_out, *out;
	const void *weight, *bias; /* elem[width] */
	float *mean, *rstd;
};

/* Backward of `out = norm(input)·weight + bias`: d_residual += gradient through the norm (it holds the gradient that
 * came along the residual stream; `d_residual_fresh`: it holds nothing yet and is overwritten). */
struct jl_eng_norm_bwd {
	bool rms, d_residual_fresh, accumulate;
	size_t n_rows, width;
	const void *d_out, *input, *weight;
	const float *mean, *rstd;
	void *d_residual;              /* elem[n_rows×width] */
	void *weight_grad, *bias_grad; /* grad[width]; bias_grad NULL: none */
	void *residual_sums; /* grad[width] (+)= sums of the new d_residual over the rows: the bias of what wrote there; NULL: none */
	const void *recompute_bias; /* with recompute_out: the norm's bias, NULL: none */
	void *recompute_out; /* not NULL: also write norm(input)·weight + bias there (forward did not keep it) */
};

/* Attention over a packed qkv[n_rows × (n_heads + 2·n_kv)·head_dim]: q heads, then k heads, then v heads. Head h of q uses k and v
 * head h / (n_heads / n_kv). out[n_rows × n_heads·head_dim]. scale is 1/sqrt(head_dim). rope_theta > 0: q and k are rotated by position
 * first, *in place* in qkv (so that backward finds them rotated), pairs (i, i + D/2). lse (float[n_samples × n_heads × seq]): log of the
 * sum of exp(scores), kept for backward. seq × seq is never stored. */
struct jl_eng_attn {
	size_t n_samples, seq, n_heads, n_kv, head_dim;
	double rope_theta;
	bool causal; /* a query sees the keys up to its own position; otherwise all of its sample */
	void *qkv;
	void *out;
	float *lse;
	/* Backward, which only reads the three above: d_qkv from d_out, all overwritten; rotated back where rope_theta > 0. `scratch` has
	 * attn_scratch_B() bytes. */
	const void *d_out;
	void *d_qkv;
	void *scratch;
	/* Keys (rotated) and values of earlier tokens: elem[n_samples × n_kv × max × head_dim] each. `kv_keep` puts those of qkv there after
	 * attention over a prompt. `attn_next` attends with one token a sample (seq 1) at position *at of the engine's memory: it rotates
	 * q and k, keeps k and v, and looks at positions 0 .. *at; its scratch (attn_scratch_B with max > 0) is zero before the first one. */
	void *keys, *values;
	size_t max;
	const int32_t *at;
};

/* out = table[token] + positions[row mod seq]; positions NULL: rotary. at not NULL: positions[*at] for every row. */
struct jl_eng_embed {
	size_t n_rows, seq, width;
	const int32_t *tokens, *at;
	const void *table, *positions;
	void *out;
};

/* table_grad[token] += d_out, position_grad[position] (+)= sum over samples. table_grad is always added to: the step zeroes it first or
 * leaves the gradient of tied logits in it; NULL: positions alone. Result must not depend on the order of threads (fixed order, or sorted tokens). */
struct jl_eng_embed_bwd {
	size_t n_rows, seq, width, vocab;
	const int32_t *tokens;
	const void *d_out;
	void *table_grad, *position_grad; /* grad */
	bool accumulate;                  /* positions */
};

/* Cross-entropy of n_rows of logits[n_rows × ld], columns 0 .. vocab-1 real, vocab .. ld-1 padding. In place: logits
 * become (softmax - onehot)·scale, padding 0. loss[row] = -log p(target). A target < 0 counts for nothing. */
struct jl_eng_loss {
	size_t n_rows, vocab, ld;
	void *logits;
	const int32_t *targets;
	double scale;
	float *loss;
};

/* to[n_rows × width] and its transpose as fp8, e4m3 or with `wide` e5m2; the width, and with to_t the rows, a multiple of 16. The scale is of earlier steps, in the
 * `first` step of the values themselves; their largest is noted. bias_grad (grad[width], with `wide`, NULL: none) (+)= sums over the
 * rows. */
enum jl_fp8_of {
	JL_FP8_PLAIN,     /* from */
	JL_FP8_GELU,      /* gelu(from) */
	JL_FP8_GELU_BWD,  /* from·gelu'(before) */
	JL_FP8_SWIGLU,    /* silu(gate)·up, from = gate_up[n_rows × 2·width] */
	JL_FP8_SWIGLU_BWD /* d_gate_up of from = d_out and before = gate_up; wide */
};

struct jl_eng_fp8 {
	enum jl_fp8_of of;
	size_t n_rows, width;
	const void *from, *before;
	void *to, *to_t; /* NULL: not wanted */
	struct jl_fp8_scale *scale;
	bool wide, first, accumulate;
	void *bias_grad;
};

/* n_rows of `width` as whole numbers within ±127, with one scale per row. */
struct jl_eng_int8 {
	size_t n_rows, width;
	const float *from;
	int8_t *to;
	float *scales;
};

/* tokens[row] = where logits[row × ld] is largest of columns 0 .. vocab-1, the first of equals; then *at += add. */
struct jl_eng_pick {
	size_t n_rows, vocab, ld;
	const void *logits;
	int32_t *tokens, *at, add;
};

/* Scalars that change from step to step; `set_scalars` puts them where a captured step finds them. */
struct jl_eng_scalars {
	double lr, beta1, beta2, eps, weight_decay;
	double clip;     /* largest global norm of the gradient; 0: not clipped, `grad_norm_sq` is not called */
	double grad_mul; /* gradients are multiplied by this first (1/workers where the exchange sums) */
	long step;       /* from 1: bias correction */
};

/* AdamW as torch.optim.AdamW over n elements: w -= lr·wd·w; m, v; w -= lr·m̂/(sqrt(v̂) + eps). `master` (float) holds the weights where
 * elem is bfloat16 and `param` gets its rounding; NULL where param is float itself. Scalars are those of `set_scalars`; with clip > 0 the
 * gradient is scaled by min(1, clip/norm), norm from the sum of squares at `norm_sq`. */
struct jl_eng_adamw {
	size_t n;
	void *param;
	float *master, *m, *v;
	const void *grad;
	const float *norm_sq; /* NULL: no clipping */
};

enum jl_engine_phase { /* marks for the timers, in the order of the step */
		       JL_MARK_START,
		       JL_MARK_FORWARD, /* end of it, and so on */
		       JL_MARK_HEAD,    /* logits, loss and their gradients */
		       JL_MARK_BACKWARD,
		       JL_MARK_EXCHANGE, /* what was left to wait for */
		       JL_MARK_UPDATE,
		       JL_N_MARK
};

/* Operations of an engine: return type, name, arguments behind the engine. JL_ENGINE_DECLARE and JL_ENGINE_ROWS make jl_cpu_gemm, jl_cuda_gemm
 * and so on of them; each kernel set has all. */
/* clang-format off */
#define JL_ENGINE_OPERATIONS(X, set) \
	/* both in the engine's memory */ \
	X(set, void, elem_from_float, void *to, const float *from, size_t n) \
	X(set, void, grad_to_float, float *to, const void *from, size_t n) \
	X(set, void, gemm, const struct jl_eng_gemm *op) \
	X(set, void, norm, const struct jl_eng_norm *op) \
	X(set, void, norm_bwd, const struct jl_eng_norm_bwd *op) \
	X(set, void, attn, const struct jl_eng_attn *op) \
	X(set, size_t, attn_scratch_B, const struct jl_eng_attn *shape) \
	X(set, void, attn_bwd, const struct jl_eng_attn *op) \
	X(set, void, kv_keep, const struct jl_eng_attn *op) \
	X(set, void, attn_next, const struct jl_eng_attn *op) \
	X(set, void, pick, const struct jl_eng_pick *op) \
	/* again, where forward did not keep it */ \
	X(set, void, gelu, void *out, const void *in, size_t n) \
	/* SwiGLU over gate_up[n_rows × 2·width] (gate, then up): out = silu(gate)·up. Backward overwrites gate_up with its gradient where \
	 * d_gate_up is the same buffer. */ \
	X(set, void, swiglu, void *out, const void *gate_up, size_t n_rows, size_t width) \
	X(set, void, swiglu_bwd, void *d_gate_up, const void *gate_up, const void *d_out, size_t n_rows, size_t width) \
	X(set, void, embed, const struct jl_eng_embed *op) \
	X(set, void, embed_bwd, const struct jl_eng_embed_bwd *op) \
	X(set, void, loss, const struct jl_eng_loss *op) \
	/* *ret_sum (float, in the engine) (+)= sum of squares of n gradients times grad_mul². */ \
	X(set, void, grad_norm_sq, float *ret_sum, const void *grad, size_t n, bool accumulate) \
	X(set, void, grad_add, void *sum, const void *grad, size_t n) /* sum += grad */ \
	X(set, void, set_scalars, const struct jl_eng_scalars *scalars) \
	X(set, void, adamw, const struct jl_eng_adamw *op) \
	/* Exchange beside computation. `start`: the collective begins when the kernels queued so far are done; kernels queued later do not \
	 * wait for it. `finish`: kernels queued later see its result. Slots 0 .. JL_ENGINE_SLOTS-1, finished in the order they were \
	 * started. On the CPU these are jl_comm_start and jl_comm_wait; on a GPU events between two streams. */ \
	X(set, void, exchange_start, struct jl_comm *comm, const struct jl_coll_call *call, int slot) \
	X(set, void, exchange_finish, struct jl_comm *comm, int slot)
/* clang-format on */
#define JL_ENGINE_MEMBER(set, RETURNS, name, ...)  RETURNS (*name)(struct jl_engine * engine, __VA_ARGS__);
#define JL_ENGINE_DECLARE(set, RETURNS, name, ...) RETURNS jl_##set##_##name(struct jl_engine *engine, __VA_ARGS__);
#define JL_ENGINE_ROW(set, RETURNS, name, ...)     .name = jl_##set##_##name,
#define JL_ENGINE_ROWS(set)                        JL_ENGINE_OPERATIONS(JL_ENGINE_ROW, set).exchange_waited_s = jl_##set##_exchange_waited_s

struct jl_engine_kernels {
	const char *name; /* "cpu", "cuda" */
	const char *en;   /* one line */
	/* JL_OK, or JL_E_ABSENT with the reason and what to install. */
	enum jl_status (*present)(struct jl_err *err);
	enum jl_status (*create)(const struct jl_engine_in *in, struct jl_engine **ret_engine, struct jl_err *err);
	void (*destroy)(struct jl_engine *engine); /* NULL is fine */
	/* Bytes that could be allocated now: MemAvailable or the cgroup's limit, cuMemGetInfo. */
	size_t (*available_B)(struct jl_engine *engine);
	const char *(*versions)(struct jl_engine *engine); /* "openblas=0.3.21 NEOVERSEN1" */

	/* --- memory; zeroed. Failure is returned, not kept: the caller says what did not fit. */
	enum jl_status (*alloc)(struct jl_engine *engine, size_t size_B, enum jl_engine_mem mem, void **ret_memory,
				struct jl_err *err);
	void (*free)(struct jl_engine *engine, void *memory, size_t size_B, enum jl_engine_mem mem);
	void (*zero)(struct jl_engine *engine, void *memory, size_t size_B);
	void (*copy)(struct jl_engine *engine, void *to, const void *from, size_t size_B); /* within the engine */
	void (*from_host)(struct jl_engine *engine, void *to, const void *from,
			  size_t size_B); /* `from` may be reused at once */
	void (*to_host)(struct jl_engine *engine, void *to, const void *from, size_t size_B); /* waits */
	enum jl_status (*sync)(struct jl_engine *engine,
			       struct jl_err *err); /* waits; the first failure since the last sync */

	/* --- kernels, exchange */
	JL_ENGINE_OPERATIONS(JL_ENGINE_MEMBER, )
	double (*exchange_waited_s)(
		struct jl_engine *engine); /* time the kernels stood still in finish since the last call */

	/* --- timers: seconds between two marks of the last step; marks are cheap and may be captured. */
	void (*mark)(struct jl_engine *engine, enum jl_engine_phase phase);
	double (*between_s)(struct jl_engine *engine, enum jl_engine_phase from,
			    enum jl_engine_phase to); /* NAN: not known */

	/* --- optional (NULL: not there): the whole step recorded once and replayed, so that small batches are not launch-bound. */
	enum jl_status (*capture_begin)(struct jl_engine *engine, struct jl_err *err);
	enum jl_status (*capture_end)(struct jl_engine *engine, struct jl_engine_graph **ret_graph, struct jl_err *err);
	void (*replay)(struct jl_engine *engine, struct jl_engine_graph *graph);
	void (*graph_free)(struct jl_engine *engine, struct jl_engine_graph *graph);

	/* --- optional: a communicator that reaches the engine's memory (nccl over GPUs), made by all ranks of the
	 * one between processes. NULL: that one carries the data itself. */
	enum jl_status (*comm_open)(struct jl_engine *engine, struct jl_comm *processes, struct jl_comm **ret_comm,
				    struct jl_err *err);
	void (*int8_from_float)(struct jl_engine *engine, const struct jl_eng_int8 *op); /* optional */
	/* Optional, both or none. `fp8`: n > 1 (up to 4) of PLAIN e4m3 at once. `fp8_scales`: after a step, the scales of the next; e4m3 first, then e5m2. */
	void (*fp8)(struct jl_engine *engine, const struct jl_eng_fp8 *op, size_t n);
	void (*fp8_scales)(struct jl_engine *engine, struct jl_fp8_scale *scales, size_t n_narrow, size_t n_wide);
	/* Optional: memory of this worker as the system counts it now; NULL: peak_B. */
	double (*memory_B)(struct jl_engine *engine);
	/* Optional: joule that this engine's device has taken since some moment; NAN: it does not count. NULL: the host's
	 * counters are asked (energy.c). */
	double (*energy_J)(struct jl_engine *engine);

	/* --- what suits this kernel set */
	bool recompute_norm; /* norms' outputs are made again in backward: memory against a cheap pass */
	bool recompute_act;  /* the same for gelu and swiglu outputs */
	size_t (*loss_rows)(struct jl_engine *engine, size_t n_rows, size_t vocab); /* rows of logits at a time */
	bool (*supports_head_dim)(size_t head_dim);
};

#define JL_ENGINE_SLOTS 512

/* Whether such kernels can be there at all; what the machine lacks is said by `create`. */
enum jl_status jl_engine_check(const struct jl_engine_kernels *kernels, enum jl_train_precision precision,
			       struct jl_err *err);

extern const struct jl_engine_kernels jl_engine_cpu, jl_engine_cuda;
extern const struct jl_engine_kernels *const jl_engines[]; /* NULL-terminated, the preferred first: cuda, cpu */
