/* LayerNorm and RMSNorm on the CPU, with the residual sum in the same pass, and their backward. */
#include <string.h>

#include "train/cpu_engine.h"
#include "train/cpu_vec.h"

#define GRAIN_ROWS 16

VEC_INLINE float row_sum(const float *x, size_t n)
{
	vecf acc = vec_all(0.0f);
	size_t j = 0;
	for (; j + VEC_N <= n; j += VEC_N)
		acc += vec_load(x + j);
	if (j < n)
		acc += vec_load_part(x + j, n - j);
	return vec_sum(acc);
}

VEC_INLINE float row_sum_sq(const float *x, float mean, size_t n)
{
	vecf acc = vec_all(0.0f);
	size_t j = 0;
	for (; j + VEC_N <= n; j += VEC_N) {
		vecf d = vec_load(x + j) - vec_all(mean);
		acc += d * d;
	}
	float sum = vec_sum(acc);
	for (; j < n; j++)
		sum += (x[j] - mean) * (x[j] - mean);
	return sum;
}

VEC_INLINE void row_write(float *out, const float *x, const float *weight, const float *bias, float mean, float rstd,
			  size_t n)
{
	size_t j = 0;
	for (; j + VEC_N <= n; j += VEC_N) {
		vecf y = (vec_load(x + j) - vec_all(mean)) * vec_all(rstd) * vec_load(weight + j);
		vec_store(out + j, bias ? y + vec_load(bias + j) : y);
	}
	for (; j < n; j++)
		out[j] = (x[j] - mean) * rstd * weight[j] + (bias ? bias[j] : 0.0f);
}

JL_CLONES static void norm_rows(const void *ctx, struct jl_cpu_span rows)
{
	const struct jl_eng_norm *op = ctx;
	size_t n = op->width;
	for (size_t i = rows.begin; i < rows.end; i++) {
		const float *x = (const float *)op->residual + i * n;
		if (op->branch) {
			const float *branch = (const float *)op->branch + i * n;
			float *sum = (float *)op->residual_out + i * n;
			for (size_t j = 0; j < n; j++)
				sum[j] = x[j] + branch[j];
			x = sum;
		}
		float mean = op->rms ? 0.0f : row_sum(x, n) / (float)n;
		float rstd = 1.0f / sqrtf(row_sum_sq(x, mean, n) / (float)n + (float)op->eps);
		if (!op->rms)
			op->mean[i] = mean;
		op->rstd[i] = rstd;
		if (op->out)
			row_write((float *)op->out + i * n, x, op->weight, op->bias, mean, rstd, n);
	}
}

void jl_cpu_norm(struct jl_engine *engine, const struct jl_eng_norm *op)
{
	jl_cpu_spans(engine, op->n_rows, GRAIN_ROWS, 1, norm_rows, op);
}

/* Rows are divided into one piece per thread. Each piece has its own partial sums of the weight gradient; these are added in the order of the
 * pieces, so that the result is deterministic. */
struct bwd_ctx {
	float *sums;
	const struct jl_eng_norm_bwd *op;
};

VEC_INLINE void bwd_sums(const float *dy, const float *x, const float *weight, float mean, float rstd, size_t n,
			 float *wsum, float *bsum, float *ret_dot, float *ret_sum)
{
	vecf dot = vec_all(0.0f), sum = vec_all(0.0f);
	size_t j = 0;
	for (; j + VEC_N <= n; j += VEC_N) {
		vecf d = vec_load(dy + j), xhat = (vec_load(x + j) - vec_all(mean)) * vec_all(rstd);
		vecf g = d * vec_load(weight + j);
		dot += g * xhat;
		sum += g;
		vec_store(wsum + j, vec_load(wsum + j) + d * xhat);
		vec_store(bsum + j, vec_load(bsum + j) + d);
	}
	float dot1 = vec_sum(dot), sum1 = vec_sum(sum);
	for (; j < n; j++) {
		float xhat = (x[j] - mean) * rstd;
		dot1 += dy[j] * weight[j] * xhat;
		sum1 += dy[j] * weight[j];
		wsum[j] += dy[j] * xhat;
		bsum[j] += dy[j];
	}
	*ret_dot = dot1 / (float)n;
	*ret_sum = sum1 / (float)n;
}

JL_CLONES static void bwd_rows(const void *ctx, struct jl_cpu_span rows)
{
	const struct bwd_ctx *c = ctx;
	const struct jl_eng_norm_bwd *op = c->op;
	size_t n = op->width;
	float *wsum = c->sums + rows.index * 3 * n, *bsum = wsum + n, *rsum = bsum + n;
	memset(wsum, 0, 3 * n * sizeof *wsum);
	for (size_t i = rows.begin; i < rows.end; i++) {
		const float *dy = (const float *)op->d_out + i * n, *x = (const float *)op->input + i * n,
			    *w = op->weight;
		float *dx = (float *)op->d_residual + i * n;
		float mean = op->rms ? 0.0f : op->mean[i], rstd = op->rstd[i], dot, sum;
		bwd_sums(dy, x, w, mean, rstd, n, wsum, bsum, &dot, &sum);
		if (op->rms)
			sum = 0.0f;
		if (op->d_residual_fresh)
			memset(dx, 0, n * sizeof *dx);
		size_t j = 0;
		for (; j + VEC_N <= n; j += VEC_N) {
			vecf xhat = (vec_load(x + j) - vec_all(mean)) * vec_all(rstd);
			vecf g = vec_load(dy + j) * vec_load(w + j) - vec_all(sum) - xhat * vec_all(dot);
			vecf d = vec_load(dx + j) + g * vec_all(rstd);
			vec_store(dx + j, d);
			vec_store(rsum + j, vec_load(rsum + j) + d);
		}
		for (; j < n; j++) {
			dx[j] += (dy[j] * w[j] - sum - (x[j] - mean) * rstd * dot) * rstd;
			rsum[j] += dx[j];
		}
		if (op->recompute_out)
			row_write((float *)op->recompute_out + i * n, x, w, op->recompute_bias, mean, rstd, n);
	}
}

void jl_cpu_norm_bwd(struct jl_engine *engine, const struct jl_eng_norm_bwd *op)
{
	struct jl_cpu_engine *cpu = jl_cpu(engine);
	float *to[] = { op->weight_grad, op->bias_grad, op->residual_sums };
	if (engine->failed || !jl_cpu_scratch(cpu, 3 * op->width))
		return;
	jl_cpu_pieces(engine, op->n_rows, (size_t)engine->n_threads, 1, bwd_rows,
		      &(struct bwd_ctx){ .sums = cpu->scratch, .op = op });
	for (size_t kind = 0; kind < 3; kind++)
		for (size_t j = 0; to[kind] && j < op->width; j++) {
			float sum = op->accumulate ? to[kind][j] : 0.0f;
			for (size_t p = 0; p < (size_t)engine->n_threads; p++)
				sum += cpu->scratch[(p * 3 + kind) * op->width + j];
			to[kind][j] = sum;
		}
}
