/* Interface between the training step and an engine. train/step.c describes the step once; two engines run it: the CPU (train/cpu_*.c) and CUDA
 * (train/cuda_*). An engine is a const struct of functions over its own state.
 *
 * Rules for all functions
 * - Buffers are addresses in the engine's memory (host or device addresses). The step never dereferences them; it only adds element offsets and
 *   passes them on.
 * - Matrices are row-major. Rows of activations are tokens: row = sample * seq + position.
 * - Three element types, fixed at creation: `elem` for parameters and activations (float for fp32 and tf32, bfloat16 for bf16), `grad` for
 *   gradients of parameters (float or bfloat16, chosen by the engine), and float where a member says float.
 * - Kernels are queued in order. Only `sync`, `to_host` and functions whose comment mentions waiting wait. The first failure is kept in
 *   `engine->failed` and `engine->err`; later calls do nothing; `sync` returns it. So the step needs no check after each call.
 * - `accumulate` on a parameter's gradient adds to it (a further micro-batch); without it the gradient is overwritten, which saves zeroing.
 *   Padding between tensors of a flat buffer is zero from allocation on; no kernel writes it.
 * - No function allocates after the first step of a shape, so that a warmed-up step can be captured. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "comm/comm.h"
#include "train/fp8.h"

/* fp8: linear layers multiply in fp8; everything else is as in bf16. */
enum jl_train_precision { JL_TRAIN_FP32, JL_TRAIN_TF32, JL_TRAIN_BF16, JL_TRAIN_FP8, JL_N_TRAIN_PRECISION };

extern const char *const jl_train_precision_names[JL_N_TRAIN_PRECISION + 1]; /* "fp32", "tf32", "bf16", "fp8", NULL */

struct jl_engine_kernels;
struct jl_engine_graph; /* a captured step, opaque */

/* Common head of every engine; an engine embeds it as its first member. */
struct jl_engine {
	const struct jl_engine_kernels *k;
	enum jl_train_precision precision;
	size_t elem_B;               /* bytes of a parameter or activation: 4 or 2 */
	size_t grad_B;               /* bytes of a parameter's gradient: 4 or 2 */
	enum jl_comm_type elem_type; /* the types of both for collectives */
	enum jl_comm_type grad_type;
	enum jl_status failed; /* first failure */
	struct jl_err err;
	size_t used_B, peak_B; /* bytes allocated through `alloc`: currently, maximum */
	int n_threads;         /* CPU only */
	int device;            /* GPU only */
};

struct jl_engine_in {
	enum jl_train_precision precision;
	int device;           /* GPU number; the CPU engine ignores it */
	int n_threads;        /* CPU only; 0: all that this process may use */
	struct jl_comm *comm; /* may provide memory for collectives; NULL: single worker */
};

/* JL_MEM_COMM: collectives read and write the buffer. */
enum jl_engine_mem { JL_MEM_PLAIN, JL_MEM_COMM };

/* C[m×n] (+)= op(A)·op(B). op(A) is m×k: stored m×k, or k×m with `ta`; op(B) is k×n: stored k×n, or n×k with `tb`. ld: elements from one stored
 * row to the next. The three products of a linear layer y[t×o] = x[t×i]·Wᵀ + b with W stored [o×i]:
 *   forward         c = y,  a = x,  b = W  tb             epilogue BIAS or BIAS_GELU
 *   input gradient  c = dx, a = dy, b = W                 epilogue NONE, or DGELU where x = gelu(aux)
 *   weight gradient c = dW, a = dy, b = x  ta, c_is_grad  epilogue BGRAD where the layer has a bias */
enum jl_epilogue {
	JL_EP_NONE,
	JL_EP_BIAS,      /* c = A·B + bias[n] */
	JL_EP_BIAS_GELU, /* aux = A·B + bias; c = gelu(aux); bias may be NULL */
	JL_EP_DGELU,     /* c = (A·B)·gelu'(aux) */
	JL_EP_BGRAD      /* c = A·B, and bias_grad[m] (+)= sums of op(A) over k: dy summed over the tokens */
};

#define JL_FP8_FEW ((size_t)32)

struct jl_eng_gemm {
	size_t m, n, k;
	const void *a, *b;
	void *c;
	size_t lda, ldb, ldc;
	bool ta, tb;
	bool c_is_grad;  /* c and bias_grad have the gradient type; otherwise c is an activation */
	bool accumulate; /* applies to c and bias_grad */
	enum jl_epilogue epilogue;
	const void *bias;     /* elem[n] */
	void *aux;            /* elem[m×n], leading dimension ldc: value before the activation */
	void *bias_grad;      /* grad[m], BGRAD */
	const float *b_scale; /* not NULL (needs int8_from_float; tb): b is int8_t, row i scaled by b_scale[i] */
	/* Not NULL (needs `fp8`; tb without ta): a and b are fp8 with these scales; both are e4m3, or with `wide` a is e5m2. b_fp8 without
	 * a_fp8: only b is fp8, and a has at most JL_FP8_FEW rows. */
	const struct jl_fp8_scale *a_fp8, *b_fp8;
	bool wide;
};

/* gelu is the tanh form: 0.5·x·(1 + tanh(sqrt(2/π)·(x + 0.044715·x³))).
 *
 * Residual stream and norm in one pass over n_rows × width:
 *   residual_out = residual + branch  (branch NULL: residual_out is not written, the norm reads `residual`)
 *   out = norm(residual_out)·weight + bias
 * mean and rstd (float[n_rows]) are kept for backward; RMSNorm uses only rstd. residual_out may equal residual. */
struct jl_eng_norm {
	bool rms; /* RMSNorm: no mean, no bias */
	double eps;
	size_t n_rows, width;
	const void *residual, *branch;
	void *residual_out, *out;
	const void *weight, *bias; /* elem[width] */
	float *mean, *rstd;
};

/* Backward of `out = norm(input)·weight + bias`. Adds the gradient through the norm to d_residual, which holds the gradient of the residual
 * stream; with d_residual_fresh it overwrites d_residual instead. */
struct jl_eng_norm_bwd {
	bool rms, d_residual_fresh, accumulate;
	size_t n_rows, width;
	const void *d_out, *input, *weight;
	const float *mean, *rstd;
	void *d_residual;              /* elem[n_rows×width] */
	void *weight_grad, *bias_grad; /* grad[width]; bias_grad NULL: none */
	void *residual_sums; /* grad[width] (+)= sums of the new d_residual over the rows: that bias's gradient; NULL: none */
	const void *recompute_bias; /* the norm's bias for recompute_out; NULL: none */
	void *recompute_out;        /* not NULL: recomputes the norm's output, which forward did not keep */
};

/* Attention over packed qkv[n_rows × (n_heads + 2·n_kv)·head_dim]: q heads, k heads, v heads. Head h of q uses k and v head h / (n_heads /
 * n_kv). out[n_rows × n_heads·head_dim]. The scale is 1/sqrt(head_dim). rope_theta > 0: first rotates q and k by position, *in place* (backward
 * expects them rotated), in pairs (i, i + D/2). lse (float[n_samples × n_heads × seq]): log of the sum of exp(scores), for backward. Scores (seq
 * × seq) are never stored. */
struct jl_eng_attn {
	size_t n_samples, seq, n_heads, n_kv, head_dim;
	double rope_theta;
	bool causal; /* causal mask; false: attention to all tokens of the sample */
	void *qkv;
	void *out;
	float *lse;
	/* Backward computes d_qkv (overwritten) from d_out and reads qkv, out and lse; it rotates d_qkv back if rope_theta > 0. `scratch` has
	 * attn_scratch_B() bytes. */
	const void *d_out;
	void *d_qkv;
	void *scratch;
	/* KV cache (k rotated): elem[n_samples × n_kv × max × head_dim] each. `kv_keep` copies k and v of a prompt's qkv into it after
	 * attention. `attn_next` processes one token per sample (seq 1) at position *at (in engine memory): it rotates q and k, stores k and v,
	 * and attends to positions 0 .. *at. Its scratch (attn_scratch_B with max > 0) must be zero before the first call. */
	void *keys, *values;
	size_t max;
	const int32_t *at;
};

/* out = table[token] + positions[row mod seq]. positions NULL: rotary embedding. at not NULL: positions[*at] for every row. */
struct jl_eng_embed {
	size_t n_rows, seq, width;
	const int32_t *tokens, *at;
	const void *table, *positions;
	void *out;
};

/* table_grad[token] += d_out; position_grad[position] (+)= sum over samples. table_grad always accumulates: the step zeroes it first, or it
 * holds the gradient of tied logits; NULL: positions only. The result must be deterministic (fixed order, or sorted tokens). */
struct jl_eng_embed_bwd {
	size_t n_rows, seq, width, vocab;
	const int32_t *tokens;
	const void *d_out;
	void *table_grad, *position_grad; /* grad */
	bool accumulate;                  /* applies to position_grad */
};

/* Cross-entropy over logits[n_rows × ld]; columns vocab .. ld-1 are padding. In place: logits become (softmax - onehot)·scale, padding becomes
 * 0. loss[row] = -log p(target). Rows with a target < 0 are ignored. */
struct jl_eng_loss {
	size_t n_rows, vocab, ld;
	void *logits;
	const int32_t *targets;
	double scale;
	float *loss;
};

/* Converts to fp8: to[n_rows × width] and its transpose, e4m3 or with `wide` e5m2. The width, and with to_t n_rows, is a multiple of 16. Uses
 * the scale of earlier steps (in the `first` step, of these values) and records the largest value. bias_grad (grad[width], only with `wide`;
 * NULL: none) (+)= sums over the rows. */
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

/* Quantizes n_rows of `width` to integers within ±127, one scale per row. */
struct jl_eng_int8 {
	size_t n_rows, width;
	const float *from;
	int8_t *to;
	float *scales;
};

/* Argmax: tokens[row] = index of the largest of logits[row × ld], columns 0 .. vocab-1; ties: the first. Then *at += add. */
struct jl_eng_pick {
	size_t n_rows, vocab, ld;
	const void *logits;
	int32_t *tokens, *at, add;
};

/* Scalars that change per step. `set_scalars` stores them where a replayed graph reads them. */
struct jl_eng_scalars {
	double lr, beta1, beta2, eps, weight_decay;
	double clip;     /* largest global gradient norm; 0: no clipping, and `grad_norm_sq` is not called */
	double grad_mul; /* factor for all gradients (1/workers where the exchange sums) */
	long step;       /* from 1; for bias correction */
};

/* AdamW over n elements as torch.optim.AdamW: w -= lr·wd·w; m, v; w -= lr·m̂/(sqrt(v̂) + eps). `master` (float) holds the weights where elem is
 * bfloat16, and `param` gets the rounded values; NULL where param is float. Scalars come from `set_scalars`; clip > 0 scales the gradient by
 * min(1, clip/norm), with the sum of squares from `norm_sq`. */
struct jl_eng_adamw {
	size_t n;
	void *param;
	float *master, *m, *v;
	const void *grad;
	const float *norm_sq; /* NULL: no clipping */
};

enum jl_engine_phase { /* timer marks in the order of the step */
		       JL_MARK_START,
		       JL_MARK_FORWARD, /* end of the forward pass; the others likewise */
		       JL_MARK_HEAD,    /* logits, loss and their gradients */
		       JL_MARK_BACKWARD,
		       JL_MARK_EXCHANGE, /* waiting for exchanges that did not overlap */
		       JL_MARK_UPDATE,
		       JL_N_MARK
};

/* All operations of an engine: return type, name, arguments after the engine. JL_ENGINE_DECLARE and JL_ENGINE_ROWS derive jl_cpu_gemm,
 * jl_cuda_gemm and so on; every engine implements all. */
/* clang-format off */
#define JL_ENGINE_OPERATIONS(X, set) \
	/* conversions; both buffers are in the engine's memory */ \
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
	/* recomputes gelu's output for backward */ \
	X(set, void, gelu, void *out, const void *in, size_t n) \
	/* SwiGLU over gate_up[n_rows × 2·width] (gate, then up): out = silu(gate)·up. Backward: d_gate_up may \
	 * equal gate_up. */ \
	X(set, void, swiglu, void *out, const void *gate_up, size_t n_rows, size_t width) \
	X(set, void, swiglu_bwd, void *d_gate_up, const void *gate_up, const void *d_out, size_t n_rows, size_t width) \
	X(set, void, embed, const struct jl_eng_embed *op) \
	X(set, void, embed_bwd, const struct jl_eng_embed_bwd *op) \
	X(set, void, loss, const struct jl_eng_loss *op) \
	/* *ret_sum (float, in the engine's memory) (+)= sum of squares of n gradients, times grad_mul². */ \
	X(set, void, grad_norm_sq, float *ret_sum, const void *grad, size_t n, bool accumulate) \
	X(set, void, grad_add, void *sum, const void *grad, size_t n) /* sum += grad */ \
	X(set, void, set_scalars, const struct jl_eng_scalars *scalars) \
	X(set, void, adamw, const struct jl_eng_adamw *op) \
	/* Collectives that overlap with computation. `start`: begins after the kernels queued so far; later kernels do not wait for it. \
	 * `finish`: later kernels see its result. Slots are 0 .. JL_ENGINE_SLOTS-1 and must be finished in the order of their start. The \
	 * CPU uses jl_comm_start and jl_comm_wait, a GPU events between two streams. */ \
	X(set, void, exchange_start, struct jl_comm *comm, const struct jl_coll_call *call, int slot) \
	X(set, void, exchange_finish, struct jl_comm *comm, int slot)
/* clang-format on */
#define JL_ENGINE_MEMBER(set, RETURNS, name, ...)  RETURNS (*name)(struct jl_engine * engine, __VA_ARGS__);
#define JL_ENGINE_DECLARE(set, RETURNS, name, ...) RETURNS jl_##set##_##name(struct jl_engine *engine, __VA_ARGS__);
#define JL_ENGINE_ROW(set, RETURNS, name, ...)     .name = jl_##set##_##name,
#define JL_ENGINE_ROWS(set)                        JL_ENGINE_OPERATIONS(JL_ENGINE_ROW, set).exchange_waited_s = jl_##set##_exchange_waited_s

struct jl_engine_kernels {
	const char *name; /* "cpu", "cuda" */
	const char *en;   /* one-line description */
	/* JL_OK, or JL_E_ABSENT with the reason and the package to install. */
	enum jl_status (*present)(struct jl_err *err);
	enum jl_status (*create)(const struct jl_engine_in *in, struct jl_engine **ret_engine, struct jl_err *err);
	void (*destroy)(struct jl_engine *engine); /* accepts NULL */
	/* Bytes that could be allocated now: MemAvailable, the cgroup's limit or cuMemGetInfo. */
	size_t (*available_B)(struct jl_engine *engine);
	const char *(*versions)(struct jl_engine *engine); /* e.g. "openblas=0.3.21 NEOVERSEN1" */

	/* --- memory, zeroed. alloc returns its failure without recording it: the caller reports what did not fit. */
	enum jl_status (*alloc)(struct jl_engine *engine, size_t size_B, enum jl_engine_mem mem, void **ret_memory,
				struct jl_err *err);
	void (*free)(struct jl_engine *engine, void *memory, size_t size_B, enum jl_engine_mem mem);
	void (*zero)(struct jl_engine *engine, void *memory, size_t size_B);
	void (*copy)(struct jl_engine *engine, void *to, const void *from, size_t size_B); /* within the engine */
	void (*from_host)(struct jl_engine *engine, void *to, const void *from,
			  size_t size_B); /* `from` may be reused on return */
	void (*to_host)(struct jl_engine *engine, void *to, const void *from, size_t size_B); /* waits */
	enum jl_status (*sync)(struct jl_engine *engine,
			       struct jl_err *err); /* waits; returns the first failure since the last sync */

	/* --- kernels, exchange */
	JL_ENGINE_OPERATIONS(JL_ENGINE_MEMBER, )
	double (*exchange_waited_s)(
		struct jl_engine *engine); /* seconds the kernels waited in exchange_finish since the last call */

	/* --- timers: seconds between two marks of the last step. Marks cost little and may be captured. */
	void (*mark)(struct jl_engine *engine, enum jl_engine_phase phase);
	double (*between_s)(struct jl_engine *engine, enum jl_engine_phase from,
			    enum jl_engine_phase to); /* NAN: unknown */

	/* --- optional (may be NULL): records a whole step as a graph and replays it, so that small batches are not launch-bound. */
	enum jl_status (*capture_begin)(struct jl_engine *engine, struct jl_err *err);
	enum jl_status (*capture_end)(struct jl_engine *engine, struct jl_engine_graph **ret_graph, struct jl_err *err);
	void (*replay)(struct jl_engine *engine, struct jl_engine_graph *graph);
	void (*graph_free)(struct jl_engine *engine, struct jl_engine_graph *graph);

	/* --- optional: all ranks of `processes` create a communicator that reaches the engine's memory (NCCL between GPUs). NULL: `processes`
	 * carries the data. */
	enum jl_status (*comm_open)(struct jl_engine *engine, struct jl_comm *processes, struct jl_comm **ret_comm,
				    struct jl_err *err);
	void (*int8_from_float)(struct jl_engine *engine, const struct jl_eng_int8 *op); /* optional */
	/* Optional, both or neither. `fp8`: n > 1 (up to 4) only for JL_FP8_PLAIN in e4m3. `fp8_scales`: computes the next step's scales; e4m3
	 * tensors first, then e5m2. */
	void (*fp8)(struct jl_engine *engine, const struct jl_eng_fp8 *op, size_t n);
	void (*fp8_scales)(struct jl_engine *engine, struct jl_fp8_scale *scales, size_t n_narrow, size_t n_wide);
	/* Optional: this worker's memory in bytes as the system counts it. NULL: peak_B is used. */
	double (*memory_B)(struct jl_engine *engine);
	/* Optional: the device's energy counter in joules, from an arbitrary zero; NAN: the device has none. NULL: the host's counters are used
	 * (energy.c). */
	double (*energy_J)(struct jl_engine *engine);

	/* --- preferences of this engine */
	bool recompute_norm; /* recompute norm outputs in backward: saves memory for a cheap pass */
	bool recompute_act;  /* the same for outputs of gelu and swiglu */
	size_t (*loss_rows)(struct jl_engine *engine, size_t n_rows, size_t vocab); /* rows at a time */
	bool (*supports_head_dim)(size_t head_dim);
};

#define JL_ENGINE_SLOTS 512

/* Checks whether this build and precision support the engine. `create` reports what the machine lacks. */
enum jl_status jl_engine_check(const struct jl_engine_kernels *kernels, enum jl_train_precision precision,
			       struct jl_err *err);

extern const struct jl_engine_kernels jl_engine_cpu, jl_engine_cuda;
extern const struct jl_engine_kernels *const jl_engines[]; /* NULL-terminated, in order of preference: cuda, cpu */
