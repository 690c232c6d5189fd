/* Matrix products by cuBLASLt, opened at run time. A plan is one shape; its algorithm is chosen by timing the
 * candidates that the library's heuristics offer, on the GPU it runs on. Matrices are row-major: C[m×n] (+)=
 * op(A)·op(B), op(A) stored m×k or, with `ta`, k×m; op(B) stored k×n or, with `tb`, n×k. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/cuda.h"

enum jl_matmul_type { JL_MM_FP32, JL_MM_TF32, JL_MM_FP16, JL_MM_BF16, JL_MM_FP8, JL_N_MM_TYPE };

enum jl_matmul_epilogue {
	JL_MM_NONE,
	JL_MM_BIAS,      /* c += bias[n] */
	JL_MM_GELU_BIAS, /* aux = A·B + bias[n]; c = gelu(aux) */
	JL_MM_GELU,      /* the same without a bias */
	JL_MM_DGELU,     /* c = A·B · gelu'(aux) */
	JL_MM_BGRAD,     /* bias[m] = sums of op(A) over k */
	JL_N_MM_EPILOGUE
};

struct jl_matmul_shape {
	size_t m, n, k, lda, ldb, ldc;
	bool ta, tb, accumulate;
	enum jl_matmul_type type; /* type of A, B and the arithmetic */
	bool wide; /* FP8: A is e5m2, B e4m3; otherwise both are e4m3, with faster, less exact accumulation */
	enum jl_matmul_type c_type; /* type of C, bias, aux: as `type`, or FP32, or BF16 for FP8 */
	enum jl_matmul_epilogue epilogue;
};

struct jl_matmul_buffers {
	uint64_t a, b, c, bias, aux;
	uint64_t a_scale, b_scale; /* FP8: device addresses of factors for A and B; 0: factor 1 */
};

struct jl_lt;     /* the library and a workspace on one GPU */
struct jl_matmul; /* a plan */

enum jl_status jl_lt_open(struct jl_gpu_dev *gpu, struct jl_lt **ret_lt, struct jl_err *err);
void jl_lt_close(struct jl_lt *lt); /* NULL is fine */
size_t jl_lt_version(void);         /* 130100 = 13.1.0; 0: not opened yet */

/* JL_E_ABSENT: the library has no algorithm for the shape (e.g. cannot fuse the epilogue for this type); use two passes. Times at most `n_try`
 * candidates on the given buffers; c, bias and aux are overwritten. */
enum jl_status jl_matmul_plan(struct jl_lt *lt, const struct jl_matmul_shape *shape,
			      const struct jl_matmul_buffers *buffers, int n_try, struct jl_matmul **ret_plan,
			      struct jl_err *err);
void jl_matmul_free(struct jl_matmul *plan);           /* NULL is fine */
double jl_matmul_best_s(const struct jl_matmul *plan); /* time of the chosen algorithm; NAN: not timed */
enum jl_status jl_matmul_run(struct jl_matmul *plan, const struct jl_matmul_buffers *buffers,
			     struct CUstream_st *stream, struct jl_err *err);
