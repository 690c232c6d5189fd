/* Products of a few rows with a weight much larger than the caches, as in decoding one token. Packs nothing, reads every weight once, and sums
 * over k in a fixed order. Weights are floats, or int8_t that are converted in registers and scaled at the end. */
#include <string.h>
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "train/cpu_engine.h"
#include "train/cpu_vec.h"

#define N_ROWS_MOST 16   /* for more rows packing pays off */
#define PIECE_COLS  1024 /* columns of C whose int8 weights are converted to float at once */

#if defined(__aarch64__)
#define STEP_K 16 /* int8 weights per register */
#else
#define STEP_K VEC_N
typedef int8_t vecb __attribute__((vector_size(VEC_N)));
typedef int16_t vecs __attribute__((vector_size(2 * VEC_N)));
#endif
#define N_PARTS (STEP_K / VEC_N)

struct step {
	vecf part[N_PARTS];
};

struct skinny {
	const struct jl_eng_gemm *op;
	void (*finish)(void *ctx, const struct jl_sgemm_block *block);
	float *product; /* C, or the value before the activation */
};

VEC_INLINE struct step floats_at(const float *from)
{
	struct step to;
	for (size_t i = 0; i < N_PARTS; i++)
		to.part[i] = vec_load(from + i * VEC_N);
	return to;
}

/* Widens bytes to words, then to floats: gcc splits the direct conversion into scalar instructions. */
VEC_INLINE struct step int8_at(const int8_t *from)
{
	struct step to;
#if defined(__aarch64__)
	const int8x16_t bytes = vld1q_s8(from);
	for (uint32_t i = 0; i < N_PARTS; i++) {
		/* byte n becomes the highest byte of word n, the lower bytes become 0; the conversion divides by 2^24 */
		const uint32x4_t which = (uint32x4_t){ 0, 1, 2, 3 } + 4 * i;
		const uint8x16_t highest = vreinterpretq_u8_u32(which << 24 | 0xffffff);
		to.part[i] = (vecf)vcvtq_n_f32_s32(vreinterpretq_s32_s8(vqtbl1q_s8(bytes, highest)), 24);
	}
#else
	vecb bytes;
	memcpy(&bytes, from, sizeof bytes);
	const veci words = __builtin_convertvector(__builtin_convertvector(bytes, vecs), veci);
	to.part[0] = __builtin_convertvector(words, vecf);
#endif
	return to;
}

/* Computes NC columns of C (rows of the weight) for NR rows. */
VEC_INLINE void tile(const struct skinny *s, size_t row, size_t col, size_t nr, size_t nc, bool int8)
{
	const struct jl_eng_gemm *op = s->op;
	const float *x = (const float *)op->a + row * op->lda;
	vecf sum[4][4];
	size_t k = 0;
	for (size_t i = 0; i < nr * nc; i++)
		sum[i / nc][i % nc] = vec_all(0.0f);
	for (; k + STEP_K <= op->k; k += STEP_K)
		for (size_t c = 0; c < nc; c++) {
			size_t at = (col + c) * op->ldb + k;
			struct step w = int8 ? int8_at((const int8_t *)op->b + at)
					     : floats_at((const float *)op->b + at);
			for (size_t r = 0; r < nr; r++)
				for (size_t i = 0; i < N_PARTS; i++)
					sum[r][c] += vec_load(x + r * op->lda + k + i * VEC_N) * w.part[i];
		}
	for (size_t c = 0; c < nc; c++)
		for (size_t r = 0; r < nr; r++) {
			float all = vec_sum(sum[r][c]);
			for (size_t i = k; i < op->k; i++) {
				size_t at = (col + c) * op->ldb + i;
				all += x[r * op->lda + i] *
				       (int8 ? (float)((const int8_t *)op->b)[at] : ((const float *)op->b)[at]);
			}
			s->product[(row + r) * op->ldc + col + c] = int8 ? all * op->b_scale[col + c] : all;
		}
}

/* Few rows: four columns share a load of x. More rows: four rows share a load of the weight. */
VEC_INLINE void columns(const struct skinny *s, struct jl_cpu_span cols, bool int8)
{
	size_t m = s->op->m;
	for (size_t c = cols.begin, nc; c < cols.end; c += nc) {
		nc = m < 4 && cols.end - c >= 4 ? 4 : 1;
		for (size_t r = 0, nr; r < m; r += nr) {
			nr = nc == 1 && m - r >= 4 ? 4 : 1;
			if (nr == 4)
				tile(s, r, c, 4, 1, int8);
			else if (nc == 4)
				tile(s, r, c, 1, 4, int8);
			else
				tile(s, r, c, 1, 1, int8);
		}
	}
	struct jl_eng_gemm op = *s->op; /* copy: `finish` takes a pointer to non-const */
	s->finish(&op, &(struct jl_sgemm_block){ .n_rows = m, .col = cols.begin, .n_cols = cols.end - cols.begin });
}

JL_CLONES static void float_columns(const void *ctx, struct jl_cpu_span cols)
{
	columns(ctx, cols, false);
}

JL_CLONES static void int8_columns(const void *ctx, struct jl_cpu_span cols)
{
	columns(ctx, cols, true);
}

static void widen(const void *ctx, struct jl_cpu_span rows)
{
	const struct skinny *s = ctx;
	for (size_t i = rows.begin; i < rows.end; i++) {
		const int8_t *from = (const int8_t *)s->op->b + i * s->op->ldb;
		for (size_t j = 0; j < s->op->k; j++)
			s->product[i * s->op->k + j] = s->op->b_scale[i] * (float)from[j];
	}
}

/* Converts weights to floats for some columns of C at a time, then multiplies. */
static void in_pieces(struct jl_engine *engine, const struct jl_eng_gemm *op)
{
	struct jl_cpu_engine *cpu = jl_cpu(engine);
	size_t most = op->n < PIECE_COLS ? op->n : PIECE_COLS;
	if (!jl_cpu_scratch(cpu, most * op->k / (size_t)engine->n_threads + 1))
		return;
	for (size_t at = 0; at < op->n && !engine->failed; at += most) {
		struct jl_eng_gemm piece = *op;
		piece.n = op->n - at < most ? op->n - at : most;
		piece.b = (const int8_t *)op->b + at * op->ldb;
		piece.b_scale = op->b_scale + at;
		piece.c = (float *)op->c + at;
		piece.aux = op->aux ? (float *)op->aux + at : NULL;
		piece.bias = op->bias ? (const float *)op->bias + at : NULL;
		jl_cpu_spans(engine, piece.n, 16, 1, widen, &(struct skinny){ .op = &piece, .product = cpu->scratch });
		piece.b = cpu->scratch;
		piece.ldb = op->k;
		piece.b_scale = NULL;
		jl_cpu_gemm(engine, &piece);
	}
}

bool jl_cpu_skinny(struct jl_engine *engine, const struct jl_eng_gemm *op,
		   void (*finish)(void *ctx, const struct jl_sgemm_block *block))
{
	bool few = op->m <= N_ROWS_MOST && op->tb && !op->ta && !op->accumulate && op->epilogue <= JL_EP_BIAS_GELU;
	struct skinny s = { .op = op, .finish = finish, .product = op->epilogue == JL_EP_BIAS_GELU ? op->aux : op->c };
	if (few)
		jl_cpu_spans(engine, op->n, 64, 16, op->b_scale ? int8_columns : float_columns, &s);
	else if (op->b_scale)
		in_pieces(engine, op);
	return few || op->b_scale;
}

static void narrow_rows(const void *ctx, struct jl_cpu_span rows)
{
	const struct jl_eng_int8 *op = ctx;
	for (size_t i = rows.begin; i < rows.end; i++) {
		const float *from = op->from + i * op->width;
		float most = 0.0f;
		for (size_t j = 0; j < op->width; j++)
			most = fmaxf(most, fabsf(from[j]));
		op->scales[i] = most / 127.0f;
		for (size_t j = 0; j < op->width; j++)
			op->to[i * op->width + j] = (int8_t)(most > 0 ? lrintf(from[j] * 127.0f / most) : 0);
	}
}

void jl_cpu_int8_from_float(struct jl_engine *engine, const struct jl_eng_int8 *op)
{
	jl_cpu_spans(engine, op->n_rows, 64, 1, narrow_rows, op);
}
