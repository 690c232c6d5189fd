/* Blocking, threads and memory of our own matrix product. Loop nest around the innermost loop (cpu_sgemm_tile.c):
 * - columns of C: as many as let the packed block of B fit into part of the last-level cache
 * - blocks of k: one panel of B and two of A fit into L1; all threads pack this block of B
 * - blocks of rows, one task each: pack A into part of L2; then, for each panel of B and each panel of A, compute one tile */
#include "train/cpu_sgemm.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"

#define LINE_N      16 /* floats per cache line */
#define HUGE_B      ((size_t)2 << 20)
#define ROWS_LEAST  64  /* rows in a block of A: with fewer, loading a panel of B costs more than its reuse saves */
#define COLS_LEAST  516 /* minimum and maximum number of columns in a block of B; each block repacks all of A */
#define COLS_MOST   8196
#define FINISH_COLS 192         /* columns passed to `finish` at once: such a block is still in L2 */
#define PACK_PANELS ((size_t)4) /* panels of B that one task packs */

const struct jl_sgemm_kind jl_sgemm_single = { .rows = JL_TILE_ROWS,
					       .cols = JL_TILE_COLS,
					       .k = JL_TILE_K,
					       .per_float = 1,
					       .k_least = 128,
					       .tasks_each = 8,
					       .step_cols = 4,
					       .pack_rows = jl_sgemm_pack_rows,
					       .pack_cols = jl_sgemm_pack_cols,
					       .tile = jl_sgemm_tile };

struct jl_sgemm {
	const struct jl_sgemm_kind *kind;
	struct jl_pool *pool;
	size_t n_threads;
	size_t k_most, rows_most, cols_most; /* largest block */
	float *cols;                         /* packed block of B, shared by all threads */
	float *rows;                         /* packed blocks of A, rows_n floats per thread */
	size_t cols_n, rows_n;
	void *memory;
	size_t memory_B;
};

/* One block of k and columns that the tasks share. */
struct stage {
	struct jl_sgemm *s;
	const struct jl_sgemm_op *op;
	size_t k_at, n_k, k_pad, col_at, n_cols;
	size_t n_row_blocks, n_col_blocks;
	bool first, last; /* first and last block of k */
};

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static size_t at_least(size_t n, size_t least)
{
	return n > least ? n : least;
}

static size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

static bool cache_text(int index, const char *name, char *ret_text, size_t size_B)
{
	char path[96];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	bool got = fgets(ret_text, (int)size_B, file);
	fclose(file);
	return got;
}

/* Reads level (1), type ("Data") and size ("64K") of one cache. Returns false if the cache does not exist or holds instructions only. */
static bool read_cache(int index, unsigned long *ret_level, size_t *ret_size_B)
{
	char level[16], type[16], size[16], *unit;
	if (!cache_text(index, "level", level, sizeof level) || !cache_text(index, "type", type, sizeof type) ||
	    !cache_text(index, "size", size, sizeof size) || type[0] == 'I')
		return false;
	size_t n = strtoul(size, &unit, 10);
	*ret_level = strtoul(level, NULL, 10);
	*ret_size_B = n * (*unit == 'K' ? 1024 : *unit == 'M' ? 1024 * 1024 : 1);
	return n > 0;
}

/* Chooses block sizes from the cache sizes. Defaults: 32 KiB L1 and 512 KiB L2. */
static void choose_blocks(struct jl_sgemm *s)
{
	size_t size_B[4] = { 0, 32 << 10, 512 << 10, 0 };
	for (int i = 0; i < 8; i++) {
		unsigned long level;
		size_t found_B;
		if (read_cache(i, &level, &found_B) && level >= 1 && level <= 3)
			size_B[level] = found_B;
	}
	/* one panel of B stays in L1 with two panels of A: the one in use and the next one */
	const struct jl_sgemm_kind *kind = s->kind;
	size_t k_B = (kind->cols + 2 * kind->rows) * sizeof(float) / kind->per_float;
	s->k_most = at_most(at_least(size_B[1] / k_B / 64 * 64, kind->k_least), at_least(kind->k_least, 1024));
	size_t row_B = s->k_most * sizeof(float) / kind->per_float;
	s->rows_most = at_most(at_least(size_B[2] / 2 / row_B / kind->rows * kind->rows, ROWS_LEAST), 1024);
	size_t last_B = size_B[3] ? size_B[3] / 4 : size_B[2];
	s->cols_most = at_most(at_least(last_B / row_B, COLS_LEAST), COLS_MOST) / kind->cols * kind->cols;
}

/* Adds one cache line of padding to each panel: the innermost loop reads slightly past the end, and power-of-two strides would cause cache-set
 * conflicts. */
static size_t panel_stride(const struct jl_sgemm *s, size_t width, size_t k_pad)
{
	return width * k_pad / s->kind->per_float + LINE_N;
}

enum jl_status jl_sgemm_create(struct jl_pool *pool, const struct jl_sgemm_kind *kind, struct jl_sgemm **ret_sgemm,
			       struct jl_err *err)
{
	struct jl_sgemm *s = jl_realloc(NULL, sizeof *s);
	if (!s)
		return jl_fail_nomem(err);
	*s = (struct jl_sgemm){ .kind = kind, .pool = pool, .n_threads = (size_t)jl_pool_n_threads(pool) };
	choose_blocks(s);
	s->cols_n = round_up(s->cols_most / kind->cols * panel_stride(s, kind->cols, s->k_most) + 64, 1024);
	s->rows_n = round_up(
		round_up(s->rows_most, kind->rows) / kind->rows * panel_stride(s, kind->rows, s->k_most) + 64, 1024);
	s->memory_B = round_up((s->cols_n + s->n_threads * s->rows_n) * sizeof(float), HUGE_B) + HUGE_B;
	s->memory = mmap(NULL, s->memory_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->memory == MAP_FAILED) {
		jl_free(s);
		return jl_fail_nomem(err);
	}
	(void)madvise(s->memory, s->memory_B, MADV_HUGEPAGE); /* panels of a block are spread over megabytes */
	size_t skip_B = HUGE_B - (uintptr_t)s->memory % HUGE_B;
	void *aligned = (char *)s->memory + skip_B;
	s->cols = aligned;
	s->rows = s->cols + s->cols_n;
	*ret_sgemm = s;
	return JL_OK;
}

void jl_sgemm_destroy(struct jl_sgemm *s)
{
	if (!s)
		return;
	munmap(s->memory, s->memory_B);
	jl_free(s);
}

static void pack_cols_task(void *ctx, size_t index, int thread)
{
	const struct stage *g = ctx;
	const struct jl_sgemm_op *op = g->op;
	const size_t width = g->s->kind->cols;
	size_t stride = panel_stride(g->s, width, g->k_pad), first = index * PACK_PANELS * width;
	size_t col = g->col_at + first;
	struct jl_sgemm_side side = { .at = op->b + (op->tb ? col * op->ldb + g->k_at : g->k_at * op->ldb + col),
				      .ld = op->ldb,
				      .wide_first = !op->tb };
	(void)thread;
	g->s->kind->pack_cols(g->s->cols + index * PACK_PANELS * stride, stride, side,
			      at_most(PACK_PANELS * width, g->n_cols - first), g->n_k);
}

/* Computes a tile that extends beyond C into a buffer and copies the part inside C. */
static void edge_tile(const struct stage *g, const float *a, const float *b, float *c, size_t n_rows, size_t n_cols)
{
	const struct jl_sgemm_kind *kind = g->s->kind;
	float tile[JL_SGEMM_TILE_MOST];
	bool add = !g->first || g->op->accumulate;
	kind->tile(g->k_pad, a, b, tile, kind->cols, false, kind->cols);
	for (size_t i = 0; i < n_rows; i++)
		for (size_t j = 0; j < n_cols; j++) {
			float *to = c + i * g->op->ldc + j;
			*to = (add ? *to : 0.0f) + tile[i * kind->cols + j];
		}
}

/* Multiplies one panel of B, which stays in the L1 cache, with all panels of a block of A. */
static void panel_products(const struct stage *g, const float *a, const float *b, float *c, size_t n_rows,
			   size_t n_cols)
{
	const struct jl_sgemm_kind *kind = g->s->kind;
	size_t stride = panel_stride(g->s, kind->rows, g->k_pad);
	bool add = !g->first || g->op->accumulate;
	for (size_t i = 0; i < n_rows; i += kind->rows, a += stride, c += kind->rows * g->op->ldc) {
		if (n_rows - i < kind->rows || n_cols % kind->step_cols)
			edge_tile(g, a, b, c, at_most(n_rows - i, kind->rows), n_cols);
		else
			kind->tile(g->k_pad, a, b, c, g->op->ldc, add, n_cols);
	}
}

struct span {
	size_t begin, end;
};

static struct span piece(size_t n, size_t n_pieces, size_t index, size_t align)
{
	size_t each = round_up((n + n_pieces - 1) / n_pieces, align);
	return (struct span){ .begin = at_most(index * each, n), .end = at_most((index + 1) * each, n) };
}

static void product_task(void *ctx, size_t index, int thread)
{
	const struct stage *g = ctx;
	const struct jl_sgemm_op *op = g->op;
	const struct jl_sgemm_kind *kind = g->s->kind;
	struct span rows = piece(op->m, g->n_row_blocks, index / g->n_col_blocks, kind->rows);
	struct span cols = piece(g->n_cols, g->n_col_blocks, index % g->n_col_blocks, kind->cols);
	size_t n_rows = rows.end - rows.begin, b_stride = panel_stride(g->s, kind->cols, g->k_pad);
	if (n_rows == 0 || cols.begin == cols.end)
		return;
	float *a = g->s->rows + (size_t)thread * g->s->rows_n;
	struct jl_sgemm_side side = { .at = op->a +
					    (op->ta ? g->k_at * op->lda + rows.begin : rows.begin * op->lda + g->k_at),
				      .ld = op->lda,
				      .wide_first = op->ta };
	kind->pack_rows(a, panel_stride(g->s, kind->rows, g->k_pad), side, n_rows, g->n_k);
	if (kind->begin)
		kind->begin();
	for (size_t at = cols.begin; at < cols.end; at += FINISH_COLS) {
		size_t end = at_most(at + FINISH_COLS, cols.end);
		for (size_t j = at; j < end; j += kind->cols)
			panel_products(g, a, g->s->cols + j / kind->cols * b_stride,
				       op->c + rows.begin * op->ldc + g->col_at + j, n_rows,
				       at_most(end - j, kind->cols));
		if (g->last && op->finish)
			op->finish(op->finish_ctx, &(struct jl_sgemm_block){ .row = rows.begin,
									     .n_rows = n_rows,
									     .col = g->col_at + at,
									     .n_cols = end - at });
	}
	if (kind->end)
		kind->end();
}

/* Splits rows first, since each additional block of columns repacks the same rows of A. */
static void choose_tasks(struct stage *g)
{
	size_t m = g->op->m, want = g->s->n_threads == 1 ? 1 : g->s->n_threads * g->s->kind->tasks_each;
	size_t most = (m + ROWS_LEAST - 1) / ROWS_LEAST, least = (m + g->s->rows_most - 1) / g->s->rows_most;
	g->n_row_blocks = at_least(at_most(want, most), least);
	g->n_col_blocks = at_most((want + g->n_row_blocks - 1) / g->n_row_blocks, at_least(g->n_cols / FINISH_COLS, 1));
}

void jl_sgemm_run(struct jl_sgemm *s, const struct jl_sgemm_op *op)
{
	size_t n_k_blocks = at_least((op->k + s->k_most - 1) / s->k_most, 1);
	size_t k_each = round_up((op->k + n_k_blocks - 1) / n_k_blocks, s->kind->k);
	size_t n_col_blocks = (op->n + s->cols_most - 1) / s->cols_most;
	for (size_t jc = 0; jc < n_col_blocks; jc++) {
		struct span cols = piece(op->n, n_col_blocks, jc, s->kind->cols);
		for (size_t k_at = 0; k_at < op->k && cols.begin < cols.end; k_at += k_each) {
			struct stage g = { .s = s, .op = op, .k_at = k_at, .n_k = at_most(k_each, op->k - k_at) };
			g.k_pad = round_up(g.n_k, s->kind->k);
			g.col_at = cols.begin;
			g.n_cols = cols.end - cols.begin;
			g.first = k_at == 0;
			g.last = k_at + k_each >= op->k;
			choose_tasks(&g);
			size_t n_panels = (g.n_cols + s->kind->cols - 1) / s->kind->cols;
			jl_pool_run(s->pool, pack_cols_task, &g, (n_panels + PACK_PANELS - 1) / PACK_PANELS);
			jl_pool_run(s->pool, product_task, &g, g.n_row_blocks * g.n_col_blocks);
		}
	}
}
