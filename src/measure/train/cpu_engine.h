/* Internals that the files of the CPU engine share. */
#pragma once

#include "base/pool.h"
#include "train/cpu_sgemm.h"
#include "train/engine.h"

struct jl_cpu_engine {
	struct jl_engine base;
	struct jl_pool *pool;
	struct jl_sgemm *sgemm; /* NULL: a library computes every product */
	struct jl_comm *comm;
	struct jl_eng_scalars scalars;
	float *scratch; /* n_threads × scratch_n floats, for attention and partial sums */
	size_t scratch_n;
	size_t shared_B; /* currently allocated from the communicator */
	double mark_s[JL_N_MARK], waited_s;
	struct jl_comm_request *requests[JL_ENGINE_SLOTS];
};

static inline struct jl_cpu_engine *jl_cpu(struct jl_engine *engine)
{
	return (struct jl_cpu_engine *)engine;
}

/* C = op(A)·op(B), row-major, on the calling thread only. */
void jl_cpu_sgemm(const struct jl_cpu_lib *lib, const struct jl_eng_gemm *op);

/* cpu_skinny.c: computes products with few rows or with int8 weights; returns false for all others. */
bool jl_cpu_skinny(struct jl_engine *engine, const struct jl_eng_gemm *op,
		   void (*finish)(void *ctx, const struct jl_sgemm_block *block));
void jl_cpu_int8_from_float(struct jl_engine *engine, const struct jl_eng_int8 *op);

/* Ensures at least n floats of scratch per thread. Out of memory: false, and the engine keeps the error. */
bool jl_cpu_scratch(struct jl_cpu_engine *cpu, size_t n);

/* Part of a loop over elements or rows. */
struct jl_cpu_span {
	size_t begin, end, index;
};
typedef void jl_cpu_work(const void *ctx, struct jl_cpu_span span);
/* Runs `work` over [0, n) in pieces of about `grain` elements, or in n_pieces; pieces end at multiples of `align`. Does nothing after an earlier
 * failure. */
void jl_cpu_spans(struct jl_engine *engine, size_t n, size_t grain, size_t align, jl_cpu_work *work, const void *ctx);
void jl_cpu_pieces(struct jl_engine *engine, size_t n, size_t n_pieces, size_t align, jl_cpu_work *work,
		   const void *ctx);

JL_ENGINE_OPERATIONS(JL_ENGINE_DECLARE, cpu)
double jl_cpu_exchange_waited_s(struct jl_engine *engine);
