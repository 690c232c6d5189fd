/* Memory-bound operations on the CPU: embedding, SwiGLU, loss, AdamW, sums of gradients. */
#include <string.h>

#include "train/cpu_engine.h"
#include "train/cpu_vec.h"

#define GRAIN_B                                                                                                        \
	65536 /* elements per piece of a flat loop: large against the cost of fetching a piece, small enough for an even load */

struct glu_ctx {
	float *out, *d_gate_up;
	const float *gate_up, *d_out;
	size_t width;
};

JL_CLONES static void swiglu_rows(const void *ctx, struct jl_cpu_span rows)
{
	const struct glu_ctx *c = ctx;
	for (size_t i = rows.begin; i < rows.end; i++) {
		const float *gate = c->gate_up + i * 2 * c->width, *up = gate + c->width;
		float *out = c->out + i * c->width;
		for (size_t j = 0; j < c->width; j += VEC_N) {
			size_t n = c->width - j < VEC_N ? c->width - j : VEC_N;
			vecf g = vec_load_n(gate + j, n);
			vec_store_n(out + j, g * vec_sigmoid(g) * vec_load_n(up + j, n), n);
		}
	}
}

void jl_cpu_swiglu(struct jl_engine *engine, void *out, const void *gate_up, size_t n_rows, size_t width)
{
	jl_cpu_spans(engine, n_rows, 8, 1, swiglu_rows,
		     &(struct glu_ctx){ .out = out, .gate_up = gate_up, .width = width });
}

JL_CLONES static void swiglu_bwd_rows(const void *ctx, struct jl_cpu_span rows)
{
	const struct glu_ctx *c = ctx;
	for (size_t i = rows.begin; i < rows.end; i++) {
		const float *gate = c->gate_up + i * 2 * c->width, *up = gate + c->width,
			    *d_out = c->d_out + i * c->width;
		float *d_gate = c->d_gate_up + i * 2 * c->width, *d_up = d_gate + c->width;
		for (size_t j = 0; j < c->width; j += VEC_N) {
			size_t n = c->width - j < VEC_N ? c->width - j : VEC_N;
			vecf g = vec_load_n(gate + j, n), u = vec_load_n(up + j, n), d = vec_load_n(d_out + j, n);
			vecf s = vec_sigmoid(g), silu = g * s;
			vec_store_n(d_up + j, d * silu, n);
			vec_store_n(d_gate + j, d * u * (s + silu * (vec_all(1.0f) - s)), n);
		}
	}
}

void jl_cpu_swiglu_bwd(struct jl_engine *engine, void *d_gate_up, const void *gate_up, const void *d_out, size_t n_rows,
		       size_t width)
{
	jl_cpu_spans(engine, n_rows, 8, 1, swiglu_bwd_rows,
		     &(struct glu_ctx){ .d_gate_up = d_gate_up, .gate_up = gate_up, .d_out = d_out, .width = width });
}

static void embed_rows(const void *ctx, struct jl_cpu_span rows)
{
	const struct jl_eng_embed *op = ctx;
	for (size_t i = rows.begin; i < rows.end; i++) {
		const float *token = (const float *)op->table + (size_t)op->tokens[i] * op->width;
		size_t at = op->at ? (size_t)*op->at : i % op->seq;
		const float *position = op->positions ? (const float *)op->positions + at * op->width : NULL;
		float *out = (float *)op->out + i * op->width;
		for (size_t j = 0; j < op->width; j++)
			out[j] = token[j] + (position ? position[j] : 0.0f);
	}
}

void jl_cpu_embed(struct jl_engine *engine, const struct jl_eng_embed *op)
{
	jl_cpu_spans(engine, op->n_rows, 16, 1, embed_rows, op);
}

/* A piece is a range of columns over all rows: no two threads add to the same element, and tokens are added in order. */
static void embed_bwd_cols(const void *ctx, struct jl_cpu_span cols)
{
	const struct jl_eng_embed_bwd *op = ctx;
	size_t seq = op->seq ? op->seq : 1;
	if (op->position_grad && !op->accumulate)
		for (size_t t = 0; t < seq; t++)
			for (size_t j = cols.begin; j < cols.end; j++)
				((float *)op->position_grad)[t * op->width + j] = 0.0f;
	for (size_t i = 0; i < op->n_rows; i++) {
		const float *d = (const float *)op->d_out + i * op->width;
		float *table = op->table_grad ? (float *)op->table_grad + (size_t)op->tokens[i] * op->width : NULL;
		for (size_t j = cols.begin; table && j < cols.end; j++)
			table[j] += d[j];
		if (!op->position_grad)
			continue;
		float *position = (float *)op->position_grad + (i % seq) * op->width;
		for (size_t j = cols.begin; j < cols.end; j++)
			position[j] += d[j];
	}
}

void jl_cpu_embed_bwd(struct jl_engine *engine, const struct jl_eng_embed_bwd *op)
{
	jl_cpu_pieces(engine, op->width, (size_t)engine->n_threads, 16, embed_bwd_cols, op);
}

JL_CLONES static void loss_row(float *x, size_t vocab, size_t ld, int32_t target, float scale, float *ret_loss)
{
	if (target < 0 || vocab == 0) {
		memset(x, 0, ld * sizeof *x);
		*ret_loss = 0.0f;
		return;
	}
	float max = row_max(x, vocab), at_target = x[target];
	double total = 0; /* vocabularies have about 50,000 terms: 512 at a time in float, these sums in double */
	for (size_t b = 0; b < vocab; b += 512) {
		size_t end = vocab - b < 512 ? vocab : b + 512, j = b;
		vecf sum = vec_all(0.0f);
		for (; j + VEC_N <= end; j += VEC_N) {
			vecf e = vec_exp(vec_load(x + j) - vec_all(max));
			vec_store(x + j, e);
			sum += e;
		}
		if (j < end) {
			vecf e = vec_exp(vec_load_part(x + j, end - j) - vec_all(max));
			vec_store_part(x + j, e, end - j);
			for (size_t i = 0; i < end - j; i++)
				total += (double)e[i];
		}
		total += (double)vec_sum(sum);
	}
	float factor = (float)((double)scale / total);
	for (size_t j = 0; j < vocab; j++)
		x[j] *= factor;
	x[target] -= scale;
	memset(x + vocab, 0, (ld - vocab) * sizeof *x);
	/* cppcheck-suppress invalidFunctionArg ; the sum is ≥ 1: it contains the largest term, exp(0) */
	*ret_loss = (float)log(total) + max - at_target;
}

static void loss_rows(const void *ctx, struct jl_cpu_span rows)
{
	const struct jl_eng_loss *op = ctx;
	for (size_t i = rows.begin; i < rows.end; i++)
		loss_row((float *)op->logits + i * op->ld, op->vocab, op->ld, op->targets[i], (float)op->scale,
			 op->loss + i);
}

void jl_cpu_loss(struct jl_engine *engine, const struct jl_eng_loss *op)
{
	jl_cpu_spans(engine, op->n_rows, 4, 1, loss_rows, op);
}

static void pick_rows(const void *ctx, struct jl_cpu_span rows)
{
	const struct jl_eng_pick *op = ctx;
	for (size_t i = rows.begin; i < rows.end; i++) {
		const float *x = (const float *)op->logits + i * op->ld;
		size_t best = 0;
		for (size_t j = 1; j < op->vocab; j++)
			best = x[j] > x[best] ? j : best;
		op->tokens[i] = (int32_t)best;
	}
}

void jl_cpu_pick(struct jl_engine *engine, const struct jl_eng_pick *op)
{
	jl_cpu_spans(engine, op->n_rows, 1, 1, pick_rows, op);
	*op->at += op->add;
}

struct flat_ctx {
	const struct jl_eng_adamw *adamw;
	float *sum;
	const float *grad;
	double *sums_sq; /* one partial sum per piece */
	float lr, beta1, beta2, eps, decay, grad_mul, m_mul, v_mul;
};

JL_CLONES static void adamw_span(const void *ctx, struct jl_cpu_span span)
{
	const struct flat_ctx *c = ctx;
	const struct jl_eng_adamw *op = c->adamw;
	const float *grad = op->grad;
	float *param = op->param;
	const vecf beta1 = vec_all(c->beta1), beta2 = vec_all(c->beta2), keep = vec_all(c->decay),
		   lr = vec_all(c->lr * c->m_mul);
	size_t i = span.begin;
	for (; i < span.end; i += VEC_N) {
		size_t n = span.end - i < VEC_N ? span.end - i : VEC_N;
		vecf g = vec_load_n(grad + i, n) * vec_all(c->grad_mul);
		vecf m = vec_load_n(op->m + i, n), v = vec_load_n(op->v + i, n), w = vec_load_n(param + i, n);
		m = beta1 * m + (vec_all(1.0f) - beta1) * g;
		v = beta2 * v + (vec_all(1.0f) - beta2) * g * g;
		vecf scaled = v * vec_all(c->v_mul), root = scaled;
		for (int j = 0; j < VEC_N; j++)
			root[j] = sqrtf(scaled[j]);
		vec_store_n(op->m + i, m, n);
		vec_store_n(op->v + i, v, n);
		vec_store_n(param + i, w * keep - lr * m / (root + vec_all(c->eps)), n);
	}
}

void jl_cpu_adamw(struct jl_engine *engine, const struct jl_eng_adamw *op)
{
	struct jl_cpu_engine *cpu = jl_cpu(engine);
	const struct jl_eng_scalars *s = &cpu->scalars;
	if (engine->failed)
		return;
	double clip = 1.0;
	if (op->norm_sq && s->clip > 0 && *op->norm_sq > 0) {
		double norm = sqrt((double)*op->norm_sq);
		clip = norm > s->clip ? s->clip / norm : 1.0;
	}
	struct flat_ctx c = { .adamw = op };
	c.lr = (float)s->lr;
	c.beta1 = (float)s->beta1;
	c.beta2 = (float)s->beta2;
	c.eps = (float)s->eps;
	c.decay = (float)(1.0 - s->lr * s->weight_decay);
	c.grad_mul = (float)(s->grad_mul * clip);
	c.m_mul = (float)(1.0 / (1.0 - pow(s->beta1, (double)s->step)));
	c.v_mul = (float)(1.0 / (1.0 - pow(s->beta2, (double)s->step)));
	jl_cpu_spans(engine, op->n, GRAIN_B, 64, adamw_span, &c);
}

JL_CLONES static double sum_sq(const float *x, size_t n)
{
	double total = 0;
	for (size_t b = 0; b < n; b += 4096) {
		size_t end = n - b < 4096 ? n : b + 4096, j = b;
		vecf sum = vec_all(0.0f);
		for (; j + VEC_N <= end; j += VEC_N)
			sum += vec_load(x + j) * vec_load(x + j);
		total += (double)vec_sum(sum);
		for (; j < end; j++)
			total += (double)x[j] * (double)x[j];
	}
	return total;
}

static void sum_sq_span(const void *ctx, struct jl_cpu_span span)
{
	const struct flat_ctx *c = ctx;
	c->sums_sq[span.index] = sum_sq(c->grad + span.begin, span.end - span.begin);
}

void jl_cpu_grad_norm_sq(struct jl_engine *engine, float *ret_sum, const void *grad, size_t n, bool accumulate)
{
	const double grad_mul = jl_cpu(engine)->scalars.grad_mul;
	double sums_sq[64] = { 0 }, total = 0;
	if (engine->failed)
		return;
	jl_cpu_pieces(engine, n, 64, 64, sum_sq_span, &(struct flat_ctx){ .grad = grad, .sums_sq = sums_sq });
	for (size_t i = 0; i < 64; i++)
		total += sums_sq[i];
	total *= grad_mul * grad_mul;
	*ret_sum = (float)(accumulate ? (double)*ret_sum + total : total);
}

static void add_span(const void *ctx, struct jl_cpu_span span)
{
	const struct flat_ctx *c = ctx;
	for (size_t i = span.begin; i < span.end; i++)
		c->sum[i] += c->grad[i];
}

void jl_cpu_grad_add(struct jl_engine *engine, void *sum, const void *grad, size_t n)
{
	jl_cpu_spans(engine, n, GRAIN_B, 64, add_span, &(struct flat_ctx){ .sum = sum, .grad = grad });
}
