/* Internals that the files of the CUDA engine share; private to train/cuda_*.c. */
#pragma once

#include "gpu/cublaslt.h"
#include "gpu/cuda.h"
#include "gpu/nccl.h"
#include "probe/nvml.h"
#include "train/cuda_args.h"
#include "train/engine.h"

enum cuda_kernel {
	K_GELU,
	K_EPILOGUE,
	K_SWIGLU,
	K_SWIGLU_BWD,
	K_ROPE,
	K_EMBED,
	K_EMBED_SORT,
	K_EMBED_BWD,
	K_POSITION_BWD,
	K_LOSS,
	K_ADAMW,
	K_NORM_SQ,
	K_NORM_SQ_END,
	K_COLUMN_SUMS,
	K_SUM_ROWS,
	K_GRAD_ADD,
	K_TO_BF16,
	K_FROM_BF16,
	K_KV_KEEP,
	K_PICK,
	K_FP8_PLAIN,
	K_FP8_GRADIENT,
	K_FP8_GELU,
	K_FP8_GELU_BWD,
	K_FP8_SWIGLU,
	K_FP8_SWIGLU_BWD,
	K_FP8_SCALES,
	N_CUDA_KERNEL
};

#define CUDA_NORMS        10 /* norm kernels: the first CUDA_NORM_WARPS use a warp per row, the others a block per row */
#define CUDA_NORM_WARPS   6  /* rows of width 256·n, n = 1 .. CUDA_NORM_WARPS */
#define CUDA_GEMV         4  /* kernels for products of up to 1, 2, 4, 8 rows */
#define CUDA_NARROW       5  /* e4m3 weights: up to 8, 16, 32 rows; large weights: 16, 32 rows */
#define CUDA_DONE_B       4096 /* counters of finished blocks */
#define CUDA_NEXT         3    /* for 1, 4, 8 query heads per key head */
#define CUDA_PLANS_MAX    256  /* cached plans, one per shape of product */
#define CUDA_STAGES       16   /* small host-to-device copies in flight */
#define CUDA_STAGE_B      ((size_t)1 << 20)
#define CUDA_PARTIALS_MAX 1024 /* rows of partial sums */

struct cuda_plan {
	struct jl_matmul_shape shape; /* with the requested epilogue */
	struct jl_matmul *matmul;
	bool fused;               /* the library applies the epilogue */
	bool own;                 /* a kernel of cuda_decode.cu is faster */
	double fused_s, behind_s; /* times of the fused and the separate epilogue; NAN: not timed */
};

struct cuda_slot {
	struct CUevent_st *done;           /* recorded after the collective */
	struct CUevent_st *before, *after; /* recorded around the wait of the kernels' stream */
	bool waited;
};

struct cuda_exchange {
	const struct jl_nccl *nccl; /* NULL: exchange through host memory */
	struct ncclComm *comm;
	struct CUstream_st *stream;
	struct CUevent_st *ready;
	struct cuda_slot slots[JL_ENGINE_SLOTS];
	void *host;
	size_t host_B;
	double waited_s;
};

struct cuda_engine {
	struct jl_engine base;
	struct jl_gpu_dev *gpu;
	struct jl_lt *lt;
	struct CUfunc_st *kernels[N_CUDA_KERNEL];
	struct CUfunc_st *norm[CUDA_NORMS],
		*norm_bwd[2][CUDA_NORMS]; /* backward: [0] all gradients, [1] weight gradient only */
	struct CUfunc_st
		*attn[2][3][2]; /* [full, causal][forward, backward of queries, backward of keys][head size 64, 128] */
	struct CUfunc_st *gemv[CUDA_GEMV], *narrow[CUDA_NARROW], *next[2][CUDA_NEXT];
	struct cuda_plan plans[CUDA_PLANS_MAX];
	int n_plans;
	uint64_t scalars;
	uint64_t partials; /* scratch for sums that a second kernel finishes */
	size_t partials_B;
	uint64_t n_done; /* CUDA_DONE_B, zero between kernels */
	void *stages;    /* pinned host memory */
	struct CUevent_st *stage_free[CUDA_STAGES];
	int next_stage;
	struct CUevent_st *marks[JL_N_MARK];
	bool marked[JL_N_MARK], capturing;
	struct cuda_exchange exchange;
	struct jl_nvml *nvml; /* energy counter; NULL: not available */
	size_t nvml_gpu;
	char versions[96];
};

static inline struct cuda_engine *cuda_of(struct jl_engine *engine)
{
	return (struct cuda_engine *)engine;
}

/* True if elements are bf16, false if float. */
static inline bool cuda_half(const struct cuda_engine *e)
{
	return e->base.elem_B == 2;
}

/* Records a failure; only the first one is kept. */
void jl_cuda_keep(struct cuda_engine *e, int code, const char *what);
void jl_cuda_keep_status(struct cuda_engine *e, enum jl_status status, const struct jl_err *err);
void jl_cuda_launch(struct cuda_engine *e, struct CUfunc_st *function, struct jl_gpu_grid grid, void **args);
/* Number of blocks of 256 threads for n work items, limited to what fills the GPU. */
unsigned jl_cuda_blocks(const struct cuda_engine *e, size_t n);
/* Scratch for n_rows × width partial sums. */
uint64_t jl_cuda_partials(struct cuda_engine *e, size_t n_rows, size_t width);
void jl_cuda_sum_rows(struct cuda_engine *e, const struct sum_rows_args *sums);
/* Allocates memory for the engine itself; counted in used_B. */
enum jl_status jl_cuda_take(struct cuda_engine *e, size_t size_B, uint64_t *ret_ptr, struct jl_err *err);
void jl_cuda_drop(struct cuda_engine *e, uint64_t ptr, size_t size_B);

JL_ENGINE_OPERATIONS(JL_ENGINE_DECLARE, cuda)
void jl_cuda_gemm_release(struct cuda_engine *e);
bool jl_cuda_supports_head_dim(size_t head_dim);
enum jl_status jl_cuda_load_ops(struct cuda_engine *e, struct jl_err *err);
void jl_cuda_rope(struct cuda_engine *e, const void *qkv, const struct jl_eng_attn *shape, float sign);

/* cuda_decode.c */
enum jl_status jl_cuda_load_decode(struct cuda_engine *e, struct jl_err *err);
bool jl_cuda_can_gemv(const struct jl_eng_gemm *op);
void jl_cuda_gemv(struct cuda_engine *e, const struct jl_eng_gemm *op, const struct jl_matmul_buffers *b);
void jl_cuda_narrow(struct cuda_engine *e, const struct jl_eng_gemm *op, const struct jl_matmul_buffers *b);
size_t jl_cuda_attn_next_B(const struct cuda_engine *e, const struct jl_eng_attn *shape);

/* cuda_fp8.c */
void jl_cuda_fp8(struct jl_engine *engine, const struct jl_eng_fp8 *op, size_t n);
void jl_cuda_fp8_scales(struct jl_engine *engine, struct jl_fp8_scale *at, size_t n_narrow, size_t n_wide);

/* cuda_exchange.c */
enum jl_status jl_cuda_exchange_open(struct cuda_engine *e, struct jl_comm *comm, struct jl_err *err);
void jl_cuda_exchange_close(struct cuda_engine *e);
double jl_cuda_exchange_waited_s(struct jl_engine *engine);
/* Waits for all kernels while serving the communicator, so that other workers can make progress. */
enum jl_status jl_cuda_exchange_sync(struct cuda_engine *e, struct jl_err *err);
