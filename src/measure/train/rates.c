/* Measures the machine's rates with all workers active: the model's largest matrix product, memory copies, and the all-reduce of one layer. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "train/worker.h"

#define LEAST_S 0.5  /* minimum duration of each measurement */
#define QUEUE_S 0.02 /* queue this much work between two waits: more frequent waits would distort short kernels */
#define MOST_N  5000
#define N_COMM  3
#define FILL_N  ((size_t)1 << 16)
#define N_ROOM  6
#define SLOT    (JL_ENGINE_SLOTS - 2)

struct buffers {
	struct jl_engine *engine;
	double work_per_cpu_s; /* for the latest rate */
	void *memory[N_ROOM];
	size_t size_B[N_ROOM];
	enum jl_engine_mem mem[N_ROOM];
};

static enum jl_status get(struct buffers *b, size_t i, size_t size_B, enum jl_engine_mem mem, struct jl_err *err)
{
	b->size_B[i] = size_B;
	b->mem[i] = mem;
	return b->engine->k->alloc(b->engine, size_B, mem, &b->memory[i], err);
}

static void release(struct buffers *b)
{
	for (size_t i = N_ROOM; i-- > 0;) {
		if (b->memory[i])
			b->engine->k->free(b->engine, b->memory[i], b->size_B[i], b->mem[i]);
		b->memory[i] = NULL;
	}
}

/* Work per second of this worker: one warm-up run, then runs for LEAST_S. */
static enum jl_status rate(struct jl_engine *engine, struct jl_comm *processes,
			   void (*once)(struct buffers *, const void *), struct buffers *b, const void *ctx,
			   double work, double *ret_rate, struct jl_err *err)
{
	once(b, ctx);
	enum jl_status status = engine->k->sync(engine, err);
	if (status == JL_OK && processes)
		status = jl_comm_barrier(processes, err);
	double begin_s = jl_clock_s(), begin_cpu_s = jl_clock_cpu_s(), n = 0;
	size_t n_queued = 1;
	while (status == JL_OK && jl_clock_s() - begin_s < LEAST_S && n < MOST_N) {
		for (size_t i = 0; i < n_queued; i++)
			once(b, ctx);
		status = engine->k->sync(engine, err);
		n += (double)n_queued;
		n_queued = (size_t)fmin(MOST_N, fmax(1, QUEUE_S * n / (jl_clock_s() - begin_s)));
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
	b->engine->k->copy(b->engine, b->memory[0], b->memory[1], b->size_B[0]);
}

/* Fills with random numbers within ±spread: a GPU multiplies zeros with less power and therefore faster. */
static enum jl_status fill(struct jl_engine *engine, void *elements, size_t n, double spread, struct jl_err *err)
{
	enum { PIECE_N = 4096 };
	const struct jl_engine_kernels *k = engine->k;
	float piece[PIECE_N];
	size_t n_first = n < FILL_N ? n : FILL_N;
	void *staged = NULL;
	enum jl_status status = JL_OK;
	JL_TRY(k->alloc(engine, FILL_N * sizeof(float), JL_MEM_PLAIN, &staged, err));
	for (size_t at = 0; at < n_first; at += PIECE_N) {
		size_t n_piece = n_first - at < PIECE_N ? n_first - at : PIECE_N;
		for (size_t i = 0; i < n_piece; i++) {
			double unit = (double)(jl_train_mix(at + i) >> 40) / 8388608.0 - 1.0;
			piece[i] = (float)(spread * unit);
		}
		k->from_host(engine, (float *)staged + at, piece, n_piece * sizeof *piece);
	}
	k->elem_from_float(engine, elements, staged, n_first);
	for (size_t have = n_first; have < n; have *= 2) {
		size_t more = n - have < have ? n - have : have;
		k->copy(engine, (char *)elements + have * engine->elem_B, elements, more * engine->elem_B);
	}
	status = k->sync(engine, err);
	k->free(engine, staged, FILL_N * sizeof(float), JL_MEM_PLAIN);
	return status;
}

/* Converts the operands to fp8. */
static enum jl_status narrow(struct buffers *b, struct jl_eng_gemm *op, struct jl_err *err)
{
	const size_t n_rows[2] = { op->m, op->n };
	struct jl_fp8_scale *scales;
	JL_TRY(get(b, 3, op->m * op->k, JL_MEM_PLAIN, err));
	JL_TRY(get(b, 4, op->n * op->k, JL_MEM_PLAIN, err));
	JL_TRY(get(b, 5, 2 * sizeof *scales, JL_MEM_PLAIN, err));
	scales = b->memory[5];
	for (size_t i = 0; i < 2; i++)
		b->engine->k->fp8(b->engine,
				  &(struct jl_eng_fp8){ .n_rows = n_rows[i],
							.width = op->k,
							.from = b->memory[i],
							.to = b->memory[3 + i],
							.scale = &scales[i],
							.first = true },
				  1);
	op->a = b->memory[3];
	op->b = b->memory[4];
	op->a_fp8 = &scales[0];
	op->b_fp8 = &scales[1];
	return JL_OK;
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
	JL_THEN(status, get(b, 1, op.n * op.k * engine->elem_B, JL_MEM_PLAIN, err));
	JL_THEN(status, get(b, 2, op.m * op.n * engine->elem_B, JL_MEM_PLAIN, err));
	op.a = b->memory[0];
	op.b = b->memory[1];
	op.c = b->memory[2];
	JL_THEN(status, fill(engine, b->memory[0], op.m * op.k, 1, err));
	JL_THEN(status, fill(engine, b->memory[1], op.n * op.k, 0.05, err));
	if (engine->precision == JL_TRAIN_FP8)
		JL_THEN(status, narrow(b, &op, err));
	JL_THEN(status, rate(engine, processes, one_product, b, &op, 2.0 * (double)op.m * (double)op.n * (double)op.k,
			     ret_flopps, err));
	release(b);
	return status;
}

static enum jl_status copying(struct buffers *b, struct jl_comm *processes, double *ret_Bps, struct jl_err *err)
{
	bool on_gpu = strcmp(b->engine->k->name, "cpu") != 0;
	size_t size_B = (size_t)(on_gpu ? 256 : 64) << 20; /* exceeds any cache (an H200 has 60 MB of L2) */
	enum jl_status status = get(b, 0, size_B, JL_MEM_PLAIN, err);
	JL_THEN(status, get(b, 1, size_B, JL_MEM_PLAIN, err));
	if (status == JL_OK) {
		b->engine->k->zero(b->engine, b->memory[1], size_B); /* unwritten pages share one */
		status = rate(b->engine, processes, one_copy, b, NULL, 2.0 * (double)size_B, ret_Bps, err);
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
		if (i == 1) { /* the first run touches pages and sets up connections */
			status = jl_comm_barrier(processes, err);
			begin_s = jl_clock_s();
		}
		engine->k->exchange_start(engine, data, &call, SLOT);
		engine->k->exchange_finish(engine, data, SLOT);
		JL_THEN(status, engine->k->sync(engine, err));
	}
	*ret_Bps = (double)(n * engine->grad_B) * N_COMM / (jl_clock_s() - begin_s);
	release(b);
	(void)engine->k->exchange_waited_s(engine);
	return status;
}

enum jl_status jl_train_measure_rates(struct jl_engine *engine, const struct jl_train_work_shape *work,
				      struct jl_comm *processes, struct jl_comm *data, struct jl_train_rates *ret_rates,
				      struct jl_err *err)
{
	const struct jl_train_shape *shape = work->shape;
	struct buffers b = { .engine = engine };
	struct jl_train_rates rates = { .allreduce_Bps = NAN,
					.message_B = NAN,
					.elem_B = (double)engine->elem_B,
					.grad_B = (double)engine->grad_B };
	double own[4] = { 0 };
	enum jl_status status = product(&b, shape, work->n_samples * work->seq, processes, &own[0], err);
	own[3] = b.work_per_cpu_s;
	JL_THEN(status, copying(&b, processes, &own[1], err));
	if (status == JL_OK && data) {
		rates.message_B = (double)(shape->unit_n[JL_UNIT_LAYER] * engine->grad_B);
		status = all_reduce(&b, shape->unit_n[JL_UNIT_LAYER], processes, data, &own[2], err);
	}
	JL_THEN(status, jl_comm_agree(processes, own, 4, JL_RED_SUM, err));
	if (status != JL_OK)
		return status;
	rates.gemm_flopps = own[0];
	rates.mem_Bps = own[1];
	rates.flop_per_cpu_s = own[3] / (processes ? processes->n_ranks : 1);
	if (data)
		rates.allreduce_Bps = own[2] / data->n_ranks;
	*ret_rates = rates;
	return JL_OK;
}
