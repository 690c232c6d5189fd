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

/* Each thread gets at least n floats of scratch; false: no memory (kept in the engine). */
bool jl_cpu_scratch(struct jl_cpu_engine *cpu, size_t n);

/* A loop over n elements or rows in pieces of about `grain`. */
struct jl_cpu_span {
	size_t begin, end;
};
size_t jl_cpu_n_pieces(const struct jl_cpu_engine *cpu, size_t n, size_t grain);
struct jl_cpu_span jl_cpu_piece(size_t n, size_t n_pieces, size_t index, size_t align);

void jl_cpu_gemm(struct jl_engine *engine, const struct jl_eng_gemm *op);
void jl_cpu_norm(struct jl_engine *engine, const struct jl_eng_norm *op);
void jl_cpu_norm_bwd(struct jl_engine *engine, const struct jl_eng_norm_bwd *op);
void jl_cpu_attn(struct jl_engine *engine, const struct jl_eng_attn *op);
void jl_cpu_attn_bwd(struct jl_engine *engine, const struct jl_eng_attn_bwd *op);
void jl_cpu_gelu(struct jl_engine *engine, void *out, const void *in, size_t n);
void jl_cpu_swiglu(struct jl_engine *engine, void *out, const void *gate_up, size_t n_rows, size_t width);
void jl_cpu_swiglu_bwd(struct jl_engine *engine, void *d_gate_up, const void *gate_up, const void *d_out, size_t n_rows,
		       size_t width);
void jl_cpu_embed(struct jl_engine *engine, const struct jl_eng_embed *op);
void jl_cpu_embed_bwd(struct jl_engine *engine, const struct jl_eng_embed_bwd *op);
void jl_cpu_loss(struct jl_engine *engine, const struct jl_eng_loss *op);
void jl_cpu_grad_norm_sq(struct jl_engine *engine, float *ret_sum, const void *grad, size_t n, bool accumulate);
void jl_cpu_grad_add(struct jl_engine *engine, void *sum, const void *grad, size_t n);
void jl_cpu_adamw(struct jl_engine *engine, const struct jl_eng_adamw *op);
