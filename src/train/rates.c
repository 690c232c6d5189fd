/* The machine's own rates with all workers at work: the largest product of the model, copying, the all-reduce of one
 * layer. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "train/worker.h"

#define LEAST_S 0.5 /* of each measurement */
#define MOST_N  1000
#define COPY_B  ((size_t)64 << 20)
#define N_COMM  3
#define SLOT    (JL_ENGINE_SLOTS - 2)

struct buffers {
	struct jl_engine *engine;
	double work_per_cpu_s; /* of the last rate */
	void *memory[3];
	size_t size_B[3];
	enum jl_engine_mem mem[3];
};

static enum jl_status get(struct buffers *b, size_t i, size_t size_B, enum jl_engine_mem mem, struct jl_err *err)
{
	b->size_B[i] = size_B;
	b->mem[i] = mem;
	return b->engine->k->alloc(b->engine, size_B, mem, &b->memory[i], err);
}

static void release(struct buffers *b)
{
	for (size_t i = 3; i-- > 0;) {
		if (b->memory[i])
			b->engine->k->free(b->engine, b->memory[i], b->size_B[i], b->mem[i]);
		b->memory[i] = NULL;
	}
}

/* Work per second of this worker: one run to warm up, then until LEAST_S is over. */
static enum jl_status rate(struct jl_engine *engine, struct jl_comm *processes,
			   void (*once)(struct buffers *, const void *), struct buffers *b, const void *ctx,
			   double work, double *ret_rate, struct jl_err *err)
{
	once(b, ctx);
	enum jl_status status = engine->k->sync(engine, err);
	if (status == JL_OK && processes)
		status = jl_comm_barrier(processes, err);
	double begin_s = jl_clock_s(), begin_cpu_s = jl_clock_cpu_s(), n = 0;
	while (status == JL_OK && jl_clock_s() - begin_s < LEAST_S && n < MOST_N) {
		once(b, ctx);
		status = engine->k->sync(engine, err);
		n++;
	}
	*ret_rate = work * n / (jl_clock_s() - begin_s);
	b->work_per_cpu_s = work * n / (jl_clock_cpu_s() - begin_cpu_s);
	return status;
}

static void one_product(struct buffers *b, const void *ctx)
{
	b->engine->k->gemm(b->engine, ctx);
}

static void one_copy(struct buffers *b, const void *ctx)
{
	(void)ctx;
	b->engine->k->copy(b->engine, b->memory[0], b->memory[1], COPY_B);
}

static enum jl_status product(struct buffers *b, const struct jl_train_shape *shape, size_t n_rows,
			      struct jl_comm *processes, double *ret_flopps, struct jl_err *err)
{
	struct jl_engine *engine = b->engine;
	const struct jl_tensor_place *w = &shape->weights[JL_W_UP];
	struct jl_eng_gemm op = {
		.m = n_rows, .n = w->rows, .k = w->cols, .lda = w->cols, .ldb = w->cols, .ldc = w->rows, .tb = true
	};
	enum jl_status status = get(b, 0, op.m * op.k * engine->elem_B, JL_MEM_PLAIN, err);
	if (status == JL_OK)
		status = get(b, 1, op.n * op.k * engine->elem_B, JL_MEM_PLAIN, err);
	if (status == JL_OK)
		status = get(b, 2, op.m * op.n * engine->elem_B, JL_MEM_PLAIN, err);
	op.a = b->memory[0];
	op.b = b->memory[1];
	op.c = b->memory[2];
	if (status == JL_OK)
		status = rate(engine, processes, one_product, b, &op, 2.0 * (double)op.m * (double)op.n * (double)op.k,
			      ret_flopps, err);
	release(b);
	return status;
}

static enum jl_status copying(struct buffers *b, struct jl_comm *processes, double *ret_Bps, struct jl_err *err)
{
	enum jl_status status = get(b, 0, COPY_B, JL_MEM_PLAIN, err);
	if (status == JL_OK)
		status = get(b, 1, COPY_B, JL_MEM_PLAIN, err);
	if (status == JL_OK) {
		b->engine->k->zero(b->engine, b->memory[1], COPY_B); /* pages that nobody wrote are all the same page */
		status = rate(b->engine, processes, one_copy, b, NULL, 2.0 * (double)COPY_B, ret_Bps, err);
	}
	release(b);
	return status;
}

static enum jl_status all_reduce(struct buffers *b, size_t n, struct jl_comm *processes, struct jl_comm *data,
				 double *ret_Bps, struct jl_err *err)
{
	struct jl_engine *engine = b->engine;
	double begin_s = 0;
	enum jl_status status = get(b, 0, n * engine->grad_B, JL_MEM_COMM, err);
	struct jl_coll_call call = { .coll = JL_COLL_ALLREDUCE,
				     .type = engine->grad_type,
				     .op = JL_RED_SUM,
				     .count = n,
				     .send = b->memory[0],
				     .recv = b->memory[0] };
	for (int i = 0; status == JL_OK && i <= N_COMM; i++) {
		if (i == 1) { /* the first one finds its pages and connections */
			status = jl_comm_barrier(processes, err);
			begin_s = jl_clock_s();
		}
		engine->k->exchange_start(engine, data, &call, SLOT);
		engine->k->exchange_finish(engine, data, SLOT);
		if (status == JL_OK)
			status = engine->k->sync(engine, err);
	}
	*ret_Bps = (double)(n * engine->grad_B) * N_COMM / (jl_clock_s() - begin_s);
	release(b);
	(void)engine->k->exchange_waited_s(engine);
	return status;
}

enum jl_status jl_train_measure_rates(struct jl_engine *engine, const struct jl_train_shape *shape, size_t n_rows,
				      struct jl_comm *processes, struct jl_comm *data, struct jl_train_rates *ret_rates,
				      struct jl_err *err)
{
	struct buffers b = { .engine = engine };
	struct jl_train_rates rates = { .allreduce_Bps = NAN, .message_B = NAN };
	double own[4] = { 0 }, all[4];
	enum jl_status status = product(&b, shape, n_rows, processes, &own[0], err);
	own[3] = b.work_per_cpu_s;
	if (status == JL_OK)
		status = copying(&b, processes, &own[1], err);
	if (status == JL_OK && data) {
		rates.message_B = (double)(shape->unit_n[JL_UNIT_LAYER] * engine->grad_B);
		status = all_reduce(&b, shape->unit_n[JL_UNIT_LAYER], processes, data, &own[2], err);
	}
	memcpy(all, own, sizeof all);
	if (status == JL_OK && processes)
		status = jl_comm_run(
			processes,
			&(struct jl_coll_call){
				.type = JL_COMM_DOUBLE, .op = JL_RED_SUM, .count = 4, .send = own, .recv = all },
			err);
	if (status != JL_OK)
		return status;
	rates.gemm_flopps = all[0];
	rates.mem_Bps = all[1];
	rates.flop_per_cpu_s = all[3] / (processes ? processes->n_ranks : 1);
	if (data)
		rates.allreduce_Bps = all[2] / data->n_ranks;
	*ret_rates = rates;
	return JL_OK;
}
