/* The product of our own against a plain loop in double: random shapes, every edge of a tile, all transposes, sums on
 * top of what is there, and the same bits from one, two and three threads. */
#include "models.h"

#include <float.h>

#include "train/cpu_sgemm.h"
#include "train/tokens.h"

#define N_THREADS 3
#define PAD       5 /* columns between the rows that nobody may write */
#define GUARD     77.0f

static const struct jl_sgemm_kind *kind;
static struct jl_pool *pools[N_THREADS + 1];
static struct jl_sgemm *sgemms[N_THREADS + 1];

static int set_up(void **state)
{
	struct jl_err err = { 0 };
	(void)state;
	for (int n = 1; n <= N_THREADS; n++)
		if (jl_pool_create(n, &pools[n], &err) != JL_OK ||
		    jl_sgemm_create(pools[n], kind, &sgemms[n], &err) != JL_OK)
			return -1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int n = 1; n <= N_THREADS; n++) {
		jl_sgemm_destroy(sgemms[n]);
		jl_pool_destroy(pools[n]);
	}
	jl_sgemm_destroy(NULL);
	return 0;
}

struct shape {
	size_t m, n, k;
};

struct counted {
	unsigned char *seen; /* m × n */
	size_t n;
};

/* Blocks of different threads never meet, so plain counters do. */
static void count(void *ctx, const struct jl_sgemm_block *block)
{
	struct counted *c = ctx;
	for (size_t i = block->row; i < block->row + block->n_rows; i++)
		for (size_t j = block->col; j < block->col + block->n_cols; j++)
			c->seen[i * c->n + j]++;
}

static float *numbers(size_t n, uint64_t seed)
{
	float *x = malloc(n * sizeof *x);
	assert_non_null(x);
	for (size_t i = 0; i < n; i++)
		x[i] = (float)((double)(jl_train_mix(jl_train_mix(seed) + i) >> 40) / 8388608.0 - 1.0);
	for (size_t i = 0; i < n && kind != &jl_sgemm_single; i++) { /* numbers that bfloat16 has */
		uint32_t bits;
		memcpy(&bits, x + i, sizeof bits);
		bits &= 0xffff0000u;
		memcpy(x + i, &bits, sizeof bits);
	}
	return x;
}

/* Rounding of k products and k sums in any order, and of the last sum: Higham, Accuracy and Stability of Numerical
 * Algorithms, 3.1. */
static void compare(const struct jl_sgemm_op *op, const float *before)
{
	for (size_t i = 0; i < op->m; i++)
		for (size_t j = 0; j < op->n + PAD && i * op->ldc + j < op->m * op->ldc; j++) {
			double sum = 0, size = 0, got = (double)op->c[i * op->ldc + j];
			if (j >= op->n) {
				assert_true(op->c[i * op->ldc + j] == GUARD);
				continue;
			}
			for (size_t p = 0; p < op->k; p++) {
				double x = (double)op->a[op->ta ? p * op->lda + i : i * op->lda + p];
				double y = (double)op->b[op->tb ? j * op->ldb + p : p * op->ldb + j];
				sum += x * y;
				size += fabs(x * y);
			}
			if (op->accumulate) {
				sum += (double)before[i * op->ldc + j];
				size += fabs((double)before[i * op->ldc + j]);
			}
			if (fabs(got - sum) > (double)(op->k + 2) * (double)FLT_EPSILON / 2 * size)
				fail_msg("%zu x %zu x %zu%s%s%s: element %zu, %zu is %.9g, not %.9g", op->m, op->n,
					 op->k, op->ta ? " ta" : "", op->tb ? " tb" : "", op->accumulate ? " +" : "", i,
					 j, got, sum);
		}
}

static void fill_c(float *c, const struct jl_sgemm_op *op, uint64_t seed)
{
	for (size_t i = 0; i < op->m * op->ldc; i++)
		c[i] = i % op->ldc < op->n ? (float)(jl_train_mix(seed + i) >> 40) / 8388608.0f : GUARD;
}

static void check_form(struct shape s, unsigned form)
{
	struct jl_sgemm_op op = { .m = s.m, .n = s.n, .k = s.k, .ldc = s.n + PAD };
	op.ta = form & 1;
	op.tb = form & 2;
	op.accumulate = form & 4;
	op.lda = (op.ta ? s.m : s.k) + 3;
	op.ldb = (op.tb ? s.k : s.n) + 1;
	size_t n_c = s.m * op.ldc;
	float *a = numbers(op.lda * (op.ta ? s.k : s.m), 1), *b = numbers(op.ldb * (op.tb ? s.n : s.k), 2);
	float *before = malloc(n_c * sizeof *before), *first = malloc(n_c * sizeof *first),
	      *c = malloc(n_c * sizeof *c);
	struct counted counted = { .seen = calloc(s.m * s.n, 1), .n = s.n };
	assert_true(before && first && c && counted.seen);
	fill_c(before, &op, 3);
	op.a = a;
	op.b = b;
	op.finish = count;
	op.finish_ctx = &counted;
	for (int n = 1; n <= N_THREADS; n++) {
		op.c = n == 1 ? first : c;
		memcpy(op.c, before, n_c * sizeof *before);
		memset(counted.seen, 0, s.m * s.n);
		jl_sgemm_run(sgemms[n], &op);
		for (size_t i = 0; i < s.m * s.n; i++)
			assert_int_equal(counted.seen[i], 1);
		if (n == 1)
			compare(&op, before);
		else
			assert_memory_equal(first, c, n_c * sizeof *c);
	}
	free(a);
	free(b);
	free(before);
	free(first);
	free(c);
	free(counted.seen);
}

static void check_shape(struct shape s)
{
	for (unsigned form = 0; form < 8; form++)
		check_form(s, form);
}

static void edges(void **state)
{
	(void)state;
	for (size_t m = 1; m <= 2 * JL_TILE_ROWS + 1; m += 4)
		for (size_t n = 1; n <= 2 * JL_TILE_COLS + 2; n++)
			check_shape((struct shape){ m, n, 1 + (m + n) % 9 });
	for (size_t k = 1; k <= 34; k++)
		check_shape((struct shape){ 9, 14, k });
	for (size_t n = 31; n <= 65; n += 17) /* whole tiles of 32 and what is left of them */
		check_shape((struct shape){ n, 96 - n, n + 32 });
}

static void random_shapes(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 12; i++)
		check_shape((struct shape){ 1 + (size_t)(jl_train_mix(3 * i) % 200),
					    1 + (size_t)(jl_train_mix(3 * i + 1) % 300),
					    1 + (size_t)(jl_train_mix(3 * i + 2) % 90) });
}

/* More than one block of k, of rows and of columns, whatever the caches of this machine are. */
static void many_blocks(void **state)
{
	static const struct shape shapes[] = { { 9, 13, 2051 }, { 1031, 5, 3 }, { 3, 8500, 5 }, { 300, 26, 1300 } };
	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (unsigned form = 0; form < 8; form += 7)
			check_form(shapes[i], form);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(edges), cmocka_unit_test(random_shapes),
					    cmocka_unit_test(many_blocks) };
	/* bfloat16 by tiles and by vectors, where this processor has them */
	const struct jl_sgemm_kind *const kinds[] = { &jl_sgemm_single, jl_sgemm_bf16(true), jl_sgemm_bf16(false) };
	int n_failed = 0;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		kind = kinds[i];
		if (kind)
			n_failed += cmocka_run_group_tests(tests, set_up, tear_down);
	}
	return n_failed;
}
