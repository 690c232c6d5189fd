/* What the files of the CPU kernel set share. */
#pragma once

#include "base/pool.h"
#include "train/cpu_sgemm.h"
#include "train/engine.h"

struct jl_cpu_engine {
	struct jl_engine base;
	struct jl_pool *pool;
	struct jl_sgemm *sgemm; /* NULL: every product is a library's */
	struct jl_comm *comm;
	struct jl_eng_scalars scalars;
	float *scratch; /* n_threads × scratch_n floats, for attention and sums */
	size_t scratch_n;
	size_t shared_B; /* allocated from the communicator now */
	double mark_s[JL_N_MARK], waited_s;
	struct jl_comm_request *requests[JL_ENGINE_SLOTS];
};

static inline struct jl_cpu_engine *jl_cpu(struct jl_engine *engine)
{
	return (struct jl_cpu_engine *)engine;
}

/* Row-major, on this thread alone. */
void jl_cpu_sgemm(const struct jl_cpu_lib *lib, const struct jl_eng_gemm *op);

/* cpu_skinny.c: the product, where it has few rows or int8 weights; false: it has neither. */
bool jl_cpu_skinny(struct jl_engine *engine, const struct jl_eng_gemm *op,
		   void (*finish)(void *ctx, const struct jl_sgemm_block *block));
void jl_cpu_int8_from_float(struct jl_engine *engine, const struct jl_eng_int8 *op);

/* Each thread gets at least n floats of scratch; false: no memory (kept in the engine). */
bool jl_cpu_scratch(struct jl_cpu_engine *cpu, size_t n);

/* Part of a loop over elements or rows. */
struct jl_cpu_span {
	size_t begin, end, index;
};
typedef void jl_cpu_work(const void *ctx, struct jl_cpu_span span);
/* The whole loop over n in pieces of about `grain`, or in so many, that end at multiples of `align`. Nothing after a failure. */
void jl_cpu_spans(struct jl_engine *engine, size_t n, size_t grain, size_t align, jl_cpu_work *work, const void *ctx);
void jl_cpu_pieces(struct jl_engine *engine, size_t n, size_t n_pieces, size_t align, jl_cpu_work *work,
		   const void *ctx);

JL_ENGINE_OPERATIONS(JL_ENGINE_DECLARE, cpu)
double jl_cpu_exchange_waited_s(struct jl_engine *engine);
