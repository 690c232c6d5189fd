/* The same numbers in the engines of the CPU and the GPU, and what became of them. Needs a GPU: without one tests are skipped with the
 * reason. */
#ifndef JL_TESTS_GPU_BOTH_H
#define JL_TESTS_GPU_BOTH_H

#include "../train/decode_same.h"

#include "gpu/cuda.h"

struct both {
	struct jl_engine *cpu, *gpu;
	double tolerance;
};

struct tensor {
	void *cpu, *gpu;
	size_t n;
};

static uint64_t seed = 1;

static inline float draw(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (float)((double)(seed >> 40) / (double)(1 << 24) * 2.0 - 1.0);
}

static inline float as_bf16(float x)
{
	uint32_t bits;
	memcpy(&bits, &x, sizeof bits);
	bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
	memcpy(&x, &bits, sizeof x);
	return x;
}

static inline bool there_is_a_gpu(void)
{
	struct jl_err err = { 0 };
	if (getenv("JEOUL_CUDA") || jl_engine_cuda.present(&err) != JL_OK) {
		print_message("no GPU: %s\n", getenv("JEOUL_CUDA") ? "a stand-in" : err.text);
		return false;
	}
	return true;
}

/* fp8 where this GPU has it. */
static inline int n_precisions(void)
{
	struct jl_err err = { 0 };
	struct jl_engine *engine = NULL;
	if (jl_engine_cuda.create(&(struct jl_engine_in){ .precision = JL_TRAIN_FP8 }, &engine, &err) != JL_OK) {
		print_message("without fp8: %s\n", err.text);
		return JL_TRAIN_FP8;
	}
	jl_engine_cuda.destroy(engine);
	return JL_N_TRAIN_PRECISION;
}

static inline struct both open_both(enum jl_train_precision precision)
{
	static const double tolerances[] = {
		[JL_TRAIN_FP32] = 2e-5, [JL_TRAIN_TF32] = 3e-3, [JL_TRAIN_BF16] = 1.2e-2, [JL_TRAIN_FP8] = 1.2e-2
	};
	struct both b = { .tolerance = tolerances[precision] };
	struct jl_err err = { 0 };
	assert_ok(jl_engine_cpu.create(&(struct jl_engine_in){ .n_threads = 4 }, &b.cpu, &err));
	assert_ok(jl_engine_cuda.create(&(struct jl_engine_in){ .precision = precision }, &b.gpu, &err));
	return b;
}

static inline void close_both(struct both *b)
{
	struct jl_err err = { 0 };
	assert_ok(b->gpu->k->sync(b->gpu, &err));
	jl_engine_cpu.destroy(b->cpu);
	jl_engine_cuda.destroy(b->gpu);
}

/* Elements of the engine's type, the same numbers on both sides. */
static inline struct tensor make(struct both *b, size_t n, double scale, double middle)
{
	struct tensor t = { .n = n };
	struct jl_err err = { 0 };
	void *staged;
	bool half = b->gpu->elem_B == 2;
	assert_ok(b->cpu->k->alloc(b->cpu, n * 4, JL_MEM_PLAIN, &t.cpu, &err));
	assert_ok(b->gpu->k->alloc(b->gpu, n * b->gpu->elem_B, JL_MEM_PLAIN, &t.gpu, &err));
	assert_ok(b->gpu->k->alloc(b->gpu, n * 4, JL_MEM_PLAIN, &staged, &err));
	for (size_t i = 0; i < n; i++) {
		float x = (float)(middle + scale * (double)draw());
		((float *)t.cpu)[i] = half ? as_bf16(x) : x;
	}
	b->gpu->k->from_host(b->gpu, staged, t.cpu, n * 4);
	b->gpu->k->elem_from_float(b->gpu, t.gpu, staged, n);
	b->gpu->k->free(b->gpu, staged, n * 4, JL_MEM_PLAIN);
	return t;
}

/* Plain floats (or whole numbers) on both sides. */
static inline struct tensor make_raw(struct both *b, size_t n, const void *values)
{
	struct tensor t = { .n = n };
	struct jl_err err = { 0 };
	assert_ok(b->cpu->k->alloc(b->cpu, n * 4, JL_MEM_PLAIN, &t.cpu, &err));
	assert_ok(b->gpu->k->alloc(b->gpu, n * 4, JL_MEM_PLAIN, &t.gpu, &err));
	if (values)
		memcpy(t.cpu, values, n * 4);
	b->gpu->k->from_host(b->gpu, t.gpu, t.cpu, n * 4);
	return t;
}

static inline void compare(struct both *b, const char *what, const float *got, const float *wanted, size_t n,
			   double tolerance)
{
	double off = 0, all = 1e-30;
	for (size_t i = 0; i < n; i++) {
		off += pow((double)got[i] - (double)wanted[i], 2);
		all += pow((double)wanted[i], 2);
	}
	off = sqrt(off / all);
	if (!(off <= tolerance))
		print_message("%s: relative error %.3g, allowed %.3g (%s)\n", what, off, tolerance,
			      jl_train_precision_names[b->gpu->precision]);
	assert_true(off <= tolerance);
}

static inline void same(struct both *b, const char *what, const struct tensor *t)
{
	struct jl_err err = { 0 };
	void *staged;
	float *got = malloc(t->n * 4);
	assert_non_null(got);
	assert_ok(b->gpu->k->alloc(b->gpu, t->n * 4, JL_MEM_PLAIN, &staged, &err));
	b->gpu->k->grad_to_float(b->gpu, staged, t->gpu, t->n);
	b->gpu->k->to_host(b->gpu, got, staged, t->n * 4);
	assert_ok(b->cpu->k->sync(b->cpu, &err));
	assert_ok(b->gpu->k->sync(b->gpu, &err));
	compare(b, what, got, t->cpu, t->n, b->tolerance);
	b->gpu->k->free(b->gpu, staged, t->n * 4, JL_MEM_PLAIN);
	free(got);
}

static inline void same_raw(struct both *b, const char *what, const struct tensor *t, double tolerance)
{
	struct jl_err err = { 0 };
	float *got = malloc(t->n * 4);
	assert_non_null(got);
	b->gpu->k->to_host(b->gpu, got, t->gpu, t->n * 4);
	assert_ok(b->gpu->k->sync(b->gpu, &err));
	compare(b, what, got, t->cpu, t->n, tolerance);
	free(got);
}

#endif
