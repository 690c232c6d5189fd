/* The parts of a step that arithmetic bounds, each by itself: the matrix products of a layer and of the head, and
 * attention. They run as in a step: same shapes, same fused ends, recorded and replayed where the engine records, over
 * weights that the caches do not hold. */
#include <math.h>

#include "base/clock.h"
#include "train/worker.h"

#define LONG_S  0.3 /* of one measurement: clocks settle under the power limit within a tenth */
#define MOST_N  2000
#define FILL_N  ((size_t)1 << 16)
#define CACHE_B ((size_t)256 << 20) /* weights beyond this are in no cache */
#define N_SETS  8                   /* of weights, at most */

enum { X, Y, DX, AUX, WEIGHTS, GRADS, N_BUFFERS };
/* the same places for attention */
enum { QKV = X, OUT = Y, D_OUT = DX, D_QKV = AUX, LSE = WEIGHTS, SCRATCH = GRADS };

struct parts {
	struct jl_engine *engine;
	const struct jl_engine_kernels *k;
	const struct jl_train_shape *shape;
	struct jl_comm *processes;
	size_t n_samples, seq, n_rows; /* n_rows: of the products now measured */
	size_t n_sets;                 /* of weights */
	void *memory[N_BUFFERS];
	size_t size_B[N_BUFFERS];
};

enum jl_status jl_train_fill(struct jl_engine *engine, void *elements, size_t n, double spread, struct jl_err *err)
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

static enum jl_status take(struct parts *p, const size_t size_B[N_BUFFERS], struct jl_err *err)
{
	enum jl_status status = JL_OK;
	for (int i = 0; status == JL_OK && i < N_BUFFERS; i++) {
		status = p->k->alloc(p->engine, size_B[i], JL_MEM_PLAIN, &p->memory[i], err);
		p->size_B[i] = size_B[i];
	}
	return status;
}

static void give_back(struct parts *p)
{
	for (int i = N_BUFFERS; i-- > 0;) {
		if (p->memory[i])
			p->k->free(p->engine, p->memory[i], p->size_B[i], JL_MEM_PLAIN);
		p->memory[i] = NULL;
	}
}

/* --- products, as step.c asks for them */

static void multiply(struct parts *p, struct jl_eng_gemm op)
{
	p->k->gemm(p->engine, &op);
}

static void products(struct parts *p, enum jl_tensor weight, size_t set_at, bool backward)
{
	const struct jl_train_shape *s = p->shape;
	const struct jl_tensor_place *w = &s->weights[weight], *b = &s->weights[weight + 1];
	size_t elem_B = p->engine->elem_B, grad_B = p->engine->grad_B;
	char *weights = (char *)p->memory[WEIGHTS] + set_at * elem_B, *grads = p->memory[GRADS];
	bool has_bias = b->rows > 0;
	void *aux = weight == (backward ? JL_W_DOWN : JL_W_UP) && !s->gated ? p->memory[AUX] : NULL;
	if (backward) {
		multiply(p, jl_linear_dw(w, p->n_rows, p->memory[Y], p->memory[X], grads + w->at * grad_B,
					 has_bias ? grads + b->at * grad_B : NULL, false));
		multiply(p, jl_linear_dx(w, p->n_rows, p->memory[Y], weights + w->at * elem_B, p->memory[DX], aux));
	} else {
		multiply(p, jl_linear(w, p->n_rows, p->memory[X], weights + w->at * elem_B,
				      has_bias ? weights + b->at * elem_B : NULL, p->memory[Y], aux));
	}
}

static void layer_products(struct parts *p)
{
	static const enum jl_tensor order[] = { JL_W_QKV, JL_W_OUT, JL_W_UP, JL_W_DOWN };
	const size_t n = sizeof order / sizeof *order;
	for (size_t set = 0; set < p->n_sets; set++)
		for (size_t i = 0; i < n; i++)
			products(p, order[i], set * p->shape->unit_n[JL_UNIT_LAYER], false);
	for (size_t set = p->n_sets; set-- > 0;)
		for (size_t i = n; i-- > 0;)
			products(p, order[i], set * p->shape->unit_n[JL_UNIT_LAYER], true);
}

static void head_products(struct parts *p)
{
	const struct jl_train_shape *s = p->shape;
	const struct jl_tensor_place w = { .rows = s->vocab_pad, .cols = s->hidden };
	multiply(p, jl_linear(&w, p->n_rows, p->memory[X], p->memory[WEIGHTS], NULL, p->memory[Y], NULL));
	multiply(p, jl_linear_dx(&w, p->n_rows, p->memory[Y], p->memory[WEIGHTS], p->memory[DX], NULL));
	multiply(p, jl_linear_dw(&w, p->n_rows, p->memory[Y], p->memory[X], p->memory[GRADS], NULL, false));
}

/* --- attention */

static void attention(struct parts *p)
{
	struct jl_eng_attn op = jl_train_attn(p->shape, p->n_samples, p->seq);
	op.qkv = p->memory[QKV];
	op.out = p->memory[OUT];
	op.lse = p->memory[LSE];
	op.d_out = p->memory[D_OUT];
	op.d_qkv = p->memory[D_QKV];
	op.scratch = p->memory[SCRATCH];
	p->k->attn(p->engine, &op);
	p->k->attn_bwd(p->engine, &op);
}

/* --- timing */

static enum jl_status record(struct parts *p, void (*once)(struct parts *), struct jl_engine_graph **ret_graph,
			     struct jl_err *err)
{
	bool alone = !p->processes || p->processes->n_ranks == 1; /* as a step is */
	if (!alone || !p->k->capture_begin)
		return JL_OK;
	JL_TRY(p->k->capture_begin(p->engine, err));
	once(p);
	return p->k->capture_end(p->engine, ret_graph, err);
}

static enum jl_status run(struct parts *p, void (*once)(struct parts *), struct jl_engine_graph *graph, size_t n,
			  double *ret_s, struct jl_err *err)
{
	double begin_s = jl_clock_s();
	for (size_t i = 0; i < n; i++) {
		if (graph)
			p->k->replay(p->engine, graph);
		else
			once(p);
	}
	enum jl_status status = p->k->sync(p->engine, err);
	*ret_s = (jl_clock_s() - begin_s) / (double)n;
	return status;
}

static enum jl_status seconds_of(struct parts *p, void (*once)(struct parts *), double *ret_s, struct jl_err *err)
{
	struct jl_engine_graph *graph = NULL;
	double one_s = 0;
	once(p); /* algorithms are chosen */
	enum jl_status status = p->k->sync(p->engine, err);
	JL_THEN(status, record(p, once, &graph, err));
	if (status == JL_OK && p->processes)
		status = jl_comm_barrier(p->processes, err);
	JL_THEN(status, run(p, once, graph, 1, &one_s, err));
	JL_THEN(status, run(p, once, graph, (size_t)fmin(MOST_N, fmax(2, LONG_S / one_s)), ret_s, err));
	if (graph)
		p->k->graph_free(p->engine, graph);
	return status;
}

/* --- the three measurements */

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* What is computed from these fills the rest. */
static enum jl_status fill(struct parts *p, size_t n_x, size_t n_weights, struct jl_err *err)
{
	JL_TRY(jl_train_fill(p->engine, p->memory[X], n_x, 1, err));
	return jl_train_fill(p->engine, p->memory[WEIGHTS], n_weights, 0.05, err);
}

static enum jl_status layer_s(struct parts *p, double *ret_s, struct jl_err *err)
{
	const struct jl_train_shape *s = p->shape;
	size_t elem_B = p->engine->elem_B, unit_n = s->unit_n[JL_UNIT_LAYER];
	size_t wide_in = larger(larger(s->hidden, s->ffn), s->heads * s->head_dim);
	size_t wide_out = larger(larger(s->hidden, jl_train_width_up(s)), jl_train_width_qkv(s));
	double all_s = NAN;
	p->n_rows = p->n_samples * p->seq;
	p->n_sets = CACHE_B / (unit_n * elem_B) + 1;
	p->n_sets = p->n_sets > N_SETS ? N_SETS : p->n_sets;
	p->n_sets = p->n_sets > s->n_layers ? s->n_layers : p->n_sets;
	const size_t size_B[N_BUFFERS] = {
		[X] = p->n_rows * wide_in * elem_B,      [Y] = p->n_rows * wide_out * elem_B,
		[DX] = p->n_rows * wide_in * elem_B,     [AUX] = (s->gated ? 1 : p->n_rows * s->ffn) * elem_B,
		[WEIGHTS] = p->n_sets * unit_n * elem_B, [GRADS] = unit_n * p->engine->grad_B,
	};
	enum jl_status status = take(p, size_B, err);
	JL_THEN(status, fill(p, p->n_rows * wide_in, p->n_sets * unit_n, err));
	JL_THEN(status, seconds_of(p, layer_products, &all_s, err));
	give_back(p);
	*ret_s = all_s / (double)p->n_sets;
	return status;
}

/* Of all rows, from as many as the logits' buffer holds. */
static enum jl_status head_s(struct parts *p, double *ret_s, struct jl_err *err)
{
	const struct jl_train_shape *s = p->shape;
	size_t elem_B = p->engine->elem_B, n_rows = p->n_samples * p->seq, n_weights = s->vocab_pad * s->hidden;
	double piece_s = NAN;
	p->n_rows = p->k->loss_rows(p->engine, n_rows, s->vocab_pad);
	const size_t size_B[N_BUFFERS] = {
		[X] = p->n_rows * s->hidden * elem_B,  [Y] = p->n_rows * s->vocab_pad * elem_B,
		[DX] = p->n_rows * s->hidden * elem_B, [AUX] = elem_B,
		[WEIGHTS] = n_weights * elem_B,        [GRADS] = n_weights * p->engine->grad_B,
	};
	enum jl_status status = take(p, size_B, err);
	JL_THEN(status, fill(p, p->n_rows * s->hidden, n_weights, err));
	JL_THEN(status, seconds_of(p, head_products, &piece_s, err));
	give_back(p);
	*ret_s = piece_s * (double)n_rows / (double)p->n_rows;
	return status;
}

static enum jl_status attention_s(struct parts *p, double *ret_s, struct jl_err *err)
{
	const struct jl_train_shape *s = p->shape;
	size_t elem_B = p->engine->elem_B, n_rows = p->n_samples * p->seq, inner = s->heads * s->head_dim;
	const struct jl_eng_attn shape = jl_train_attn(s, p->n_samples, p->seq);
	const size_t size_B[N_BUFFERS] = {
		[QKV] = n_rows * jl_train_width_qkv(s) * elem_B,
		[OUT] = n_rows * inner * elem_B,
		[D_OUT] = n_rows * inner * elem_B,
		[D_QKV] = n_rows * jl_train_width_qkv(s) * elem_B,
		[LSE] = p->n_samples * s->heads * p->seq * sizeof(float),
		[SCRATCH] = larger(p->k->attn_scratch_B(p->engine, &shape), 1),
	};
	enum jl_status status = take(p, size_B, err);
	JL_THEN(status, jl_train_fill(p->engine, p->memory[QKV], n_rows * jl_train_width_qkv(s), 1, err));
	JL_THEN(status, jl_train_fill(p->engine, p->memory[D_OUT], n_rows * inner, 1, err));
	JL_THEN(status, seconds_of(p, attention, ret_s, err));
	give_back(p);
	return status;
}

enum jl_status jl_train_measure_parts(struct jl_engine *engine, const struct jl_train_work_shape *work,
				      struct jl_comm *processes, double *ret_products_s, double *ret_attention_s,
				      struct jl_err *err)
{
	struct parts p = { .engine = engine,
			   .k = engine->k,
			   .shape = work->shape,
			   .processes = processes,
			   .n_samples = work->n_samples,
			   .seq = work->seq };
	double n_layers = (double)work->shape->n_layers, one_layer_s = NAN, one_head_s = NAN, one_attention_s = NAN;
	JL_TRY(layer_s(&p, &one_layer_s, err));
	JL_TRY(head_s(&p, &one_head_s, err));
	JL_TRY(attention_s(&p, &one_attention_s, err));
	*ret_products_s = n_layers * one_layer_s + one_head_s;
	*ret_attention_s = n_layers * one_attention_s;
	return JL_OK;
}
