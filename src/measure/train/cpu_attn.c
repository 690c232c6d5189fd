/* Attention on the CPU. Each task takes one tile of queries. Only the scores of one tile (TILE × seq) are stored; backward recomputes them from
 * q, k and the saved log-sum-exp. Each thread calls BLAS on its own. */
#include <string.h>

#include "train/cpu_engine.h"
#include "train/cpu_vec.h"

#define TILE         64 /* queries: a wider tile computes more unused scores behind the diagonal */
#define HEAD_DIM_MAX 1024

struct attn_ctx {
	const struct jl_cpu_lib *lib; /* multiplies matrices */
	struct jl_cpu_engine *cpu;
	size_t seq, n_heads, n_kv, dim, row; /* row: elements of one token's q, k and v */
	float scale;
	bool causal;
	const float *qkv;
	float *out, *lse;   /* forward writes these, backward reads them */
	const float *d_out; /* backward */
	float *d_qkv;
	float *keys, *values; /* KV cache */
	size_t max, at;
};

/* Number of keys that the queries up to `last` attend to. */
static size_t seen_keys(const struct attn_ctx *c, size_t last)
{
	return c->causal ? last + 1 : c->seq;
}

/* s[0..n) = exp(scale·s - max), *ret_lse = max + log of their sum; s[n..n_cols) = 0 */
JL_CLONES static void softmax_row(float *s, size_t n, size_t n_cols, float scale, float *ret_lse)
{
	float max = row_max(s, n) * scale;
	size_t j;
	vecf sum = vec_all(0.0f);
	for (j = 0; j + VEC_N <= n; j += VEC_N) {
		vecf e = vec_exp(vec_load(s + j) * vec_all(scale) - vec_all(max));
		sum += e;
		vec_store(s + j, e);
	}
	float total = vec_sum(sum);
	if (j < n) {
		vecf e = vec_exp(vec_load_part(s + j, n - j) * vec_all(scale) - vec_all(max));
		for (size_t i = 0; i < n - j; i++) {
			s[j + i] = e[i];
			total += e[i];
		}
	}
	float one = 1.0f / total;
	for (j = 0; j < n; j++)
		s[j] *= one;
	memset(s + n, 0, (n_cols - n) * sizeof *s);
	*ret_lse = max + logf(total);
}

static void attn_head(void *ctx, size_t index, int thread)
{
	const struct attn_ctx *c = ctx;
	size_t sample = index / c->n_heads, head = index % c->n_heads, group = c->n_heads / c->n_kv;
	const float *base = c->qkv + sample * c->seq * c->row;
	const float *q = base + head * c->dim, *k = base + (c->n_heads + head / group) * c->dim,
		    *v = k + c->n_kv * c->dim;
	size_t out_ld = c->n_heads * c->dim;
	float *s = c->cpu->scratch + (size_t)thread * c->cpu->scratch_n;
	for (size_t r = 0; r < c->seq; r += TILE) {
		size_t n_rows = c->seq - r < TILE ? c->seq - r : TILE, n_cols = seen_keys(c, r + n_rows - 1);
		jl_cpu_sgemm(c->lib, &(struct jl_eng_gemm){ .m = n_rows,
							    .n = n_cols,
							    .k = c->dim,
							    .a = q + r * c->row,
							    .lda = c->row,
							    .b = k,
							    .ldb = c->row,
							    .tb = true,
							    .c = s,
							    .ldc = n_cols });
		float *lse = c->lse + index * c->seq + r;
		for (size_t i = 0; i < n_rows; i++)
			softmax_row(s + i * n_cols, seen_keys(c, r + i), n_cols, c->scale, lse + i);
		jl_cpu_sgemm(c->lib,
			     &(struct jl_eng_gemm){ .m = n_rows,
						    .n = c->dim,
						    .k = n_cols,
						    .a = s,
						    .lda = n_cols,
						    .b = v,
						    .ldb = c->row,
						    .c = c->out + (sample * c->seq + r) * out_ld + head * c->dim,
						    .ldc = out_ld });
	}
}

/* p = exp(scale·s - lse), ds = p·(dp - delta)·scale; both are 0 where the causal mask hides the key */
JL_CLONES static void softmax_bwd_row(float *s, float *dp, size_t n, size_t n_cols, float scale, float lse, float delta)
{
	size_t j = 0;
	for (; j + VEC_N <= n; j += VEC_N) {
		vecf p = vec_exp(vec_load(s + j) * vec_all(scale) - vec_all(lse));
		vec_store(s + j, p);
		vec_store(dp + j, p * (vec_load(dp + j) - vec_all(delta)) * vec_all(scale));
	}
	if (j < n) {
		vecf p = vec_exp(vec_load_part(s + j, n - j) * vec_all(scale) - vec_all(lse));
		vecf d = p * (vec_load_part(dp + j, n - j) - vec_all(delta)) * vec_all(scale);
		vec_store_part(s + j, p, n - j);
		vec_store_part(dp + j, d, n - j);
	}
	memset(s + n, 0, (n_cols - n) * sizeof *s);
	memset(dp + n, 0, (n_cols - n) * sizeof *dp);
}

VEC_INLINE float dot(const float *a, const float *b, size_t n)
{
	vecf acc = vec_all(0.0f);
	size_t j = 0;
	for (; j + VEC_N <= n; j += VEC_N)
		acc += vec_load(a + j) * vec_load(b + j);
	float sum = vec_sum(acc);
	for (; j < n; j++)
		sum += a[j] * b[j];
	return sum;
}

/* Backward of one tile of one query head; adds to dk and dv, overwrites dq. */
static void bwd_tile(const struct attn_ctx *c, size_t sample, size_t head, size_t r, float *s, float *dp)
{
	size_t group = c->n_heads / c->n_kv, kv = head / group, out_ld = c->n_heads * c->dim;
	size_t n_rows = c->seq - r < TILE ? c->seq - r : TILE, n_cols = seen_keys(c, r + n_rows - 1);
	size_t token = sample * c->seq;
	const float *q = c->qkv + (token + r) * c->row + head * c->dim;
	const float *k = c->qkv + token * c->row + (c->n_heads + kv) * c->dim, *v = k + c->n_kv * c->dim;
	float *dq = c->d_qkv + (token + r) * c->row + head * c->dim;
	float *dk = c->d_qkv + token * c->row + (c->n_heads + kv) * c->dim, *dv = dk + c->n_kv * c->dim;
	const float *out = c->out + (token + r) * out_ld + head * c->dim;
	const float *d_out = c->d_out + (token + r) * out_ld + head * c->dim;
	struct jl_eng_gemm scores = { .m = n_rows, .n = n_cols, .k = c->dim, .tb = true, .ldb = c->row, .ldc = n_cols };
	struct jl_eng_gemm to_keys = {
		.m = n_cols, .n = c->dim, .k = n_rows, .ta = true, .lda = n_cols, .ldc = c->row, .accumulate = true
	};
	struct jl_eng_gemm g = scores;
	g.a = q, g.lda = c->row, g.b = k, g.c = s;
	jl_cpu_sgemm(c->lib, &g); /* s = q·kᵀ */
	g = scores;
	g.a = d_out, g.lda = out_ld, g.b = v, g.c = dp;
	jl_cpu_sgemm(c->lib, &g); /* dp = d_out·vᵀ */
	const float *lse = c->lse + (sample * c->n_heads + head) * c->seq + r;
	for (size_t i = 0; i < n_rows; i++)
		softmax_bwd_row(s + i * n_cols, dp + i * n_cols, seen_keys(c, r + i), n_cols, c->scale, lse[i],
				dot(out + i * out_ld, d_out + i * out_ld, c->dim));
	g = to_keys;
	g.a = s, g.b = d_out, g.ldb = out_ld, g.c = dv;
	jl_cpu_sgemm(c->lib, &g); /* dv += pᵀ·d_out */
	g = to_keys;
	g.a = dp, g.b = q, g.ldb = c->row, g.c = dk;
	jl_cpu_sgemm(c->lib, &g); /* dk += dsᵀ·q */
	g = (struct jl_eng_gemm){ .m = n_rows,
				  .n = c->dim,
				  .k = n_cols,
				  .a = dp,
				  .lda = n_cols,
				  .b = k,
				  .ldb = c->row,
				  .c = dq,
				  .ldc = c->row };
	jl_cpu_sgemm(c->lib, &g); /* dq = ds·k */
}

/* All query heads that share one key head: no other task writes its dk and dv. */
static void bwd_kv_head(void *ctx, size_t index, int thread)
{
	const struct attn_ctx *c = ctx;
	size_t sample = index / c->n_kv, kv = index % c->n_kv, group = c->n_heads / c->n_kv;
	float *s = c->cpu->scratch + (size_t)thread * c->cpu->scratch_n, *dp = s + TILE * c->seq;
	for (size_t t = 0; t < c->seq; t++) {
		float *token = c->d_qkv + (sample * c->seq + t) * c->row;
		memset(token + (c->n_heads + kv) * c->dim, 0, c->dim * sizeof *token);
		memset(token + (c->n_heads + c->n_kv + kv) * c->dim, 0, c->dim * sizeof *token);
	}
	for (size_t head = kv * group; head < (kv + 1) * group; head++)
		for (size_t r = 0; r < c->seq; r += TILE)
			bwd_tile(c, sample, head, r, s, dp);
}

/* Rotation of q and k by position; sign -1 turns gradients back. */
struct rope_ctx {
	float *qkv;
	size_t seq, n_rotated, dim, row, at; /* at: position of a sample's first token */
	double sign;
	float freq[HEAD_DIM_MAX / 2];
};

static void rope_rows(const void *ctx, struct jl_cpu_span rows)
{
	const struct rope_ctx *c = ctx;
	size_t half = c->dim / 2;
	float cosine[HEAD_DIM_MAX / 2], sine[HEAD_DIM_MAX / 2];
	for (size_t t = rows.begin; t < rows.end; t++) {
		for (size_t i = 0; i < half; i++) {
			float angle = (float)(c->at + t % c->seq) * c->freq[i];
			cosine[i] = cosf(angle);
			sine[i] = (float)c->sign * sinf(angle);
		}
		for (size_t h = 0; h < c->n_rotated; h++) {
			float *x = c->qkv + t * c->row + h * c->dim;
			for (size_t i = 0; i < half; i++) {
				float a = x[i], b = x[i + half];
				x[i] = a * cosine[i] - b * sine[i];
				x[i + half] = b * cosine[i] + a * sine[i];
			}
		}
	}
}

static void rope(const struct attn_ctx *c, void *qkv, size_t n_samples, double theta, double sign)
{
	struct rope_ctx r = { .qkv = qkv,
			      .seq = c->seq,
			      .n_rotated = c->n_heads + c->n_kv,
			      .dim = c->dim,
			      .row = c->row,
			      .at = c->at,
			      .sign = sign };
	for (size_t i = 0; i < c->dim / 2; i++)
		r.freq[i] = (float)pow(theta, -2.0 * (double)i / (double)c->dim);
	jl_cpu_spans(&c->cpu->base, n_samples * c->seq, 16, 1, rope_rows, &r);
}

/* The library that is fastest for one tile of scores is used for all products: their shapes are similar. */
static const struct jl_cpu_lib *lib_for(const struct attn_ctx *c)
{
	return jl_cpu_lib_for(&(struct jl_sgemm_op){ .m = c->seq < TILE ? c->seq : TILE,
						     .n = c->seq,
						     .k = c->dim,
						     .a = c->qkv,
						     .lda = c->row,
						     .b = c->qkv,
						     .ldb = c->row,
						     .tb = true });
}

static struct attn_ctx context(struct jl_engine *engine, const struct jl_eng_attn *op)
{
	return (struct attn_ctx){ .cpu = jl_cpu(engine),
				  .seq = op->seq,
				  .n_heads = op->n_heads,
				  .n_kv = op->n_kv,
				  .dim = op->head_dim,
				  .row = (op->n_heads + 2 * op->n_kv) * op->head_dim,
				  .scale = 1.0f / sqrtf((float)op->head_dim),
				  .causal = op->causal,
				  .qkv = op->qkv,
				  .out = op->out,
				  .lse = op->lse,
				  .d_out = op->d_out,
				  .d_qkv = op->d_qkv,
				  .keys = op->keys,
				  .values = op->values,
				  .max = op->max };
}

void jl_cpu_attn(struct jl_engine *engine, const struct jl_eng_attn *op)
{
	struct attn_ctx c = context(engine, op);
	if (engine->failed || !jl_cpu_scratch(c.cpu, TILE * op->seq))
		return;
	if (op->rope_theta > 0)
		rope(&c, op->qkv, op->n_samples, op->rope_theta, 1.0);
	c.lib = lib_for(&c);
	jl_pool_run(c.cpu->pool, attn_head, &c, op->n_samples * op->n_heads);
}

void jl_cpu_attn_bwd(struct jl_engine *engine, const struct jl_eng_attn *op)
{
	struct attn_ctx c = context(engine, op);
	if (engine->failed || !jl_cpu_scratch(c.cpu, (size_t)2 * TILE * op->seq))
		return;
	c.lib = lib_for(&c);
	jl_pool_run(c.cpu->pool, bwd_kv_head, &c, op->n_samples * op->n_kv);
	if (op->rope_theta > 0)
		rope(&c, op->d_qkv, op->n_samples, op->rope_theta, -1.0);
}

/* Copies one key/value head of one sample from the packed rows into the KV cache. */
static void keep_head(void *ctx, size_t index, int thread)
{
	const struct attn_ctx *c = ctx;
	size_t sample = index / c->n_kv, kv = index % c->n_kv;
	const float *from = c->qkv + sample * c->seq * c->row + (c->n_heads + kv) * c->dim;
	float *keys = c->keys + (index * c->max + c->at) * c->dim, *values = c->values + (keys - c->keys);
	(void)thread;
	for (size_t i = 0; i < c->seq; i++, from += c->row) {
		memcpy(keys + i * c->dim, from, c->dim * sizeof *keys);
		memcpy(values + i * c->dim, from + c->n_kv * c->dim, c->dim * sizeof *values);
	}
}

void jl_cpu_kv_keep(struct jl_engine *engine, const struct jl_eng_attn *op)
{
	struct attn_ctx c = context(engine, op);
	if (!engine->failed)
		jl_pool_run(c.cpu->pool, keep_head, &c, op->n_samples * op->n_kv);
}

JL_CLONES static void next_head(const struct attn_ctx *c, size_t index, float *s)
{
	size_t sample = index / c->n_heads, head = index % c->n_heads, n = c->at + 1;
	size_t kept = (sample * c->n_kv + head / (c->n_heads / c->n_kv)) * c->max * c->dim;
	const float *q = c->qkv + sample * c->row + head * c->dim, *keys = c->keys + kept, *v = c->values + kept;
	float *out = c->out + index * c->dim, lse;
	for (size_t i = 0; i < n; i++)
		s[i] = dot(q, keys + i * c->dim, c->dim);
	softmax_row(s, n, n, c->scale, &lse);
	memset(out, 0, c->dim * sizeof *out);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c->dim; j++)
			out[j] += s[i] * v[i * c->dim + j];
}

static void next_task(void *ctx, size_t index, int thread)
{
	const struct attn_ctx *c = ctx;
	next_head(c, index, c->cpu->scratch + (size_t)thread * c->cpu->scratch_n);
}

void jl_cpu_attn_next(struct jl_engine *engine, const struct jl_eng_attn *op)
{
	struct attn_ctx c = context(engine, op);
	if (engine->failed || !jl_cpu_scratch(c.cpu, op->max))
		return;
	c.at = (size_t)*op->at;
	if (op->rope_theta > 0)
		rope(&c, op->qkv, op->n_samples, op->rope_theta, 1.0);
	jl_pool_run(c.cpu->pool, keep_head, &c, op->n_samples * op->n_kv);
	jl_pool_run(c.cpu->pool, next_task, &c, op->n_samples * op->n_heads);
}
