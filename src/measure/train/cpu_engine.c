/* The CPU engine: memory, exchange, timers, and its table of kernels. */
#include "train/cpu_engine.h"

#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/meminfo.h"

#define LOGITS_B ((size_t)256 << 20) /* logits computed at a time; each piece repacks the head's weights */

struct spans {
	jl_cpu_work *work;
	const void *ctx;
	size_t n, each;
};

static void do_span(void *ctx, size_t index, int thread)
{
	const struct spans *s = ctx;
	size_t begin = index * s->each, end = begin + s->each;
	(void)thread;
	s->work(s->ctx, (struct jl_cpu_span){
				.begin = begin < s->n ? begin : s->n, .end = end < s->n ? end : s->n, .index = index });
}

void jl_cpu_pieces(struct jl_engine *engine, size_t n, size_t n_pieces, size_t align, jl_cpu_work *work,
		   const void *ctx)
{
	struct spans s = { .work = work, .ctx = ctx, .n = n, .each = (n + n_pieces - 1) / n_pieces };
	s.each = (s.each + align - 1) / align * align;
	if (!engine->failed)
		jl_pool_run(jl_cpu(engine)->pool, do_span, &s, n_pieces);
}

void jl_cpu_spans(struct jl_engine *engine, size_t n, size_t grain, size_t align, jl_cpu_work *work, const void *ctx)
{
	size_t most = (size_t)engine->n_threads * 8, pieces = n / grain;
	jl_cpu_pieces(engine, n, pieces < 1 ? 1 : pieces > most ? most : pieces, align, work, ctx);
}

bool jl_cpu_scratch(struct jl_cpu_engine *cpu, size_t n)
{
	if (n <= cpu->scratch_n)
		return true;
	n = (n + 63) / 64 * 64;
	float *scratch = jl_realloc(NULL, n * (size_t)cpu->base.n_threads * sizeof *scratch);
	if (!scratch) {
		cpu->base.failed = jl_fail_nomem(&cpu->base.err);
		return false;
	}
	jl_free(cpu->scratch);
	cpu->scratch = scratch;
	cpu->scratch_n = n;
	return true;
}

static enum jl_status cpu_present(struct jl_err *err)
{
	const struct jl_cpu_lib *libs;
	size_t n;
	return jl_cpu_libs(&libs, &n, err);
}

static void cpu_destroy(struct jl_engine *engine)
{
	if (!engine)
		return;
	struct jl_cpu_engine *cpu = jl_cpu(engine);
	jl_sgemm_destroy(cpu->sgemm);
	jl_pool_destroy(cpu->pool);
	jl_free(cpu->scratch);
	jl_free(cpu);
}

static enum jl_status cpu_create(const struct jl_engine_in *in, struct jl_engine **ret_engine, struct jl_err *err)
{
	const struct jl_sgemm_kind *kind = in->precision == JL_TRAIN_BF16 ? jl_sgemm_bf16(true)
					   : jl_sgemm_is_fast()           ? &jl_sgemm_single
									  : NULL;
	JL_TRY(jl_engine_check(&jl_engine_cpu, in->precision, err));
	if (in->precision == JL_TRAIN_BF16 && !kind)
		return jl_fail(err, JL_E_ABSENT,
			       "this processor has no products of bf16 (AMX, AVX512-BF16, arm64's BF16); they need it "
			       "or a GPU "
			       "(--precision fp32)");
	struct jl_cpu_engine *cpu = jl_realloc(NULL, sizeof *cpu);
	JL_TRY(jl_got(cpu, err));
	*cpu = (struct jl_cpu_engine){ .base = { .k = &jl_engine_cpu,
						 .precision = in->precision,
						 .elem_B = sizeof(float),
						 .grad_B = sizeof(float),
						 .elem_type = JL_COMM_FLOAT,
						 .grad_type = JL_COMM_FLOAT },
				       .comm = in->comm };
	enum jl_status status = cpu_present(err);
	JL_THEN(status, jl_pool_create(in->n_threads, &cpu->pool, err));
	if (status == JL_OK && kind)
		status = jl_sgemm_create(cpu->pool, kind, &cpu->sgemm, err);
	if (status != JL_OK) {
		cpu_destroy(&cpu->base);
		return status;
	}
	cpu->base.n_threads = jl_pool_n_threads(cpu->pool);
	*ret_engine = &cpu->base;
	return JL_OK;
}

static size_t cpu_available_B(struct jl_engine *engine)
{
	const double free_B = jl_mem_available_B();

	(void)engine;
	return free_B > 0 ? (size_t)free_B : 0;
}

/* This worker's private pages and the shared memory that it allocated. Shared pages of other workers are counted by their owners. */
static double cpu_memory_B(struct jl_engine *engine)
{
	return jl_mem_proc_B("/proc/self/status", "RssAnon") + (double)jl_cpu(engine)->shared_B;
}

static const char *cpu_versions(struct jl_engine *engine)
{
	(void)engine;
	return jl_cpu_libs_version();
}

static bool from_comm(const struct jl_cpu_engine *cpu, enum jl_engine_mem mem)
{
	return mem == JL_MEM_COMM && cpu->comm && cpu->comm->backend->alloc && cpu->comm->backend->free;
}

static enum jl_status cpu_alloc(struct jl_engine *engine, size_t size_B, enum jl_engine_mem mem, void **ret_memory,
				struct jl_err *err)
{
	struct jl_cpu_engine *cpu = jl_cpu(engine);
	void *memory;
	if (from_comm(cpu, mem)) {
		memory = cpu->comm->backend->alloc(cpu->comm, size_B);
		cpu->shared_B += memory ? size_B : 0;
	} else {
		memory = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memory = memory == MAP_FAILED ? NULL : memory;
		if (memory)
			(void)madvise(memory, size_B, MADV_HUGEPAGE); /* reduces TLB misses */
	}
	JL_TRY(jl_got(memory, err));
	engine->used_B += size_B;
	engine->peak_B = engine->used_B > engine->peak_B ? engine->used_B : engine->peak_B;
	*ret_memory = memory;
	return JL_OK;
}

static void cpu_free(struct jl_engine *engine, void *memory, size_t size_B, enum jl_engine_mem mem)
{
	struct jl_cpu_engine *cpu = jl_cpu(engine);
	if (!memory)
		return;
	if (from_comm(cpu, mem)) {
		cpu->comm->backend->free(cpu->comm, memory, size_B);
		cpu->shared_B -= size_B;
	} else {
		munmap(memory, size_B);
	}
	engine->used_B -= size_B;
}

struct bytes_ctx {
	char *to;
	const char *from; /* NULL: zero */
};

static void copy_bytes(const void *ctx, struct jl_cpu_span span)
{
	const struct bytes_ctx *c = ctx;
	if (c->from)
		memcpy(c->to + span.begin, c->from + span.begin, span.end - span.begin);
	else
		memset(c->to + span.begin, 0, span.end - span.begin);
}

static void cpu_copy(struct jl_engine *engine, void *to, const void *from, size_t size_B)
{
	jl_cpu_spans(engine, size_B, 1 << 20, 4096, copy_bytes, &(struct bytes_ctx){ .to = to, .from = from });
}

static void cpu_zero(struct jl_engine *engine, void *memory, size_t size_B)
{
	cpu_copy(engine, memory, NULL, size_B);
}

void jl_cpu_elem_from_float(struct jl_engine *engine, void *to, const float *from, size_t n)
{
	cpu_copy(engine, to, from, n * sizeof *from);
}

void jl_cpu_grad_to_float(struct jl_engine *engine, float *to, const void *from, size_t n)
{
	cpu_copy(engine, to, from, n * sizeof *to);
}

static enum jl_status cpu_sync(struct jl_engine *engine, struct jl_err *err)
{
	enum jl_status failed = engine->failed;
	if (failed && err)
		*err = engine->err;
	engine->failed = JL_OK;
	return failed;
}

size_t jl_cpu_attn_scratch_B(struct jl_engine *engine, const struct jl_eng_attn *shape)
{
	(void)engine;
	(void)shape;
	return 0; /* attention scratch is per thread */
}

void jl_cpu_set_scalars(struct jl_engine *engine, const struct jl_eng_scalars *scalars)
{
	jl_cpu(engine)->scalars = *scalars;
}

void jl_cpu_exchange_start(struct jl_engine *engine, struct jl_comm *comm, const struct jl_coll_call *call, int slot)
{
	if (!engine->failed)
		engine->failed = jl_comm_start(comm, call, &jl_cpu(engine)->requests[slot], &engine->err);
}

void jl_cpu_exchange_finish(struct jl_engine *engine, struct jl_comm *comm, int slot)
{
	struct jl_cpu_engine *cpu = jl_cpu(engine);
	struct jl_comm_request *request = cpu->requests[slot];
	cpu->requests[slot] = NULL;
	if (!request)
		return;
	double begin_s = jl_clock_s();
	struct jl_err err = { 0 };
	enum jl_status status = jl_comm_wait(comm, request, &err);
	if (status != JL_OK && !engine->failed) {
		engine->failed = status;
		engine->err = err;
	}
	cpu->waited_s += jl_clock_s() - begin_s;
}

double jl_cpu_exchange_waited_s(struct jl_engine *engine)
{
	double waited_s = jl_cpu(engine)->waited_s;
	jl_cpu(engine)->waited_s = 0;
	return waited_s;
}

static void cpu_mark(struct jl_engine *engine, enum jl_engine_phase phase)
{
	jl_cpu(engine)->mark_s[phase] = jl_clock_s();
}

static double cpu_between_s(struct jl_engine *engine, enum jl_engine_phase from, enum jl_engine_phase to)
{
	return jl_cpu(engine)->mark_s[to] - jl_cpu(engine)->mark_s[from];
}

static size_t cpu_loss_rows(struct jl_engine *engine, size_t n_rows, size_t vocab)
{
	(void)engine;
	size_t most = LOGITS_B / (vocab * sizeof(float)) / 64 * 64;
	most = most < 64 ? 64 : most;
	size_t n_parts = (n_rows + most - 1) / most; /* equal parts: a short last part would run slowly */
	size_t rows = ((n_rows + n_parts - 1) / n_parts + 63) / 64 * 64;
	return rows < n_rows ? rows : n_rows;
}

static bool cpu_supports_head_dim(size_t head_dim)
{
	return head_dim >= 2 && head_dim <= 1024 && head_dim % 2 == 0;
}

const struct jl_engine_kernels jl_engine_cpu = {
	.name = "cpu",
	.en = JL_N("CPU, libraries and own kernels"),
	.present = cpu_present,
	.create = cpu_create,
	.destroy = cpu_destroy,
	.available_B = cpu_available_B,
	.versions = cpu_versions,
	.alloc = cpu_alloc,
	.free = cpu_free,
	.zero = cpu_zero,
	.copy = cpu_copy,
	.from_host = cpu_copy,
	.to_host = cpu_copy,
	.sync = cpu_sync,
	.mark = cpu_mark,
	.between_s = cpu_between_s,
	.int8_from_float = jl_cpu_int8_from_float,
	.memory_B = cpu_memory_B,
	.recompute_norm = true,
	.recompute_act = true,
	.loss_rows = cpu_loss_rows,
	.supports_head_dim = cpu_supports_head_dim,
	JL_ENGINE_ROWS(cpu),
};
