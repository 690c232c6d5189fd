/* Opens the BLAS libraries, chooses the fastest per shape, and splits products over threads. */
#include "bench/cpu_libs.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/dynlib.h"
#include "base/mem.h"

#define ROW_MAJOR   101
#define NO_TRANS    111
#define TRANS       112
#define BLOCK_LEAST 128 /* smallest block: narrower ones repack the other operand too often */
#define TASKS_EACH  3   /* tasks per thread: balances the load if a thread is delayed */
#define SHAPES_MAX  128
#define TIMED_MOST  1024 /* longest side that is timed, four times that for k */
#define TIMED_RUNS  3
#define TIMED_LEAST ((size_t)1 << 24) /* smallest product worth timing, multiplications */
#define FASTER      1.03              /* speedup that a candidate needs to replace the current best */

#define AT(M) .offset = offsetof(struct jl_cpu_lib, M)
static const struct known {
	const char *name, *env, *package;
	const char *files[4];
	struct jl_dynlib_symbol symbols[4];
	size_t n_symbols;
	const char *threads; /* environment variable that limits it to one thread */
} known[] = {
	{ "openblas",
	  "JEOUL_OPENBLAS",
	  "libopenblas0",
	  { "libopenblas.so.0", "libopenblas.so" },
	  { { .name = "cblas_sgemm", AT(cblas) },
	    { .name = "openblas_set_num_threads", AT(set_threads) },
	    { .name = "openblas_get_config", AT(text), .optional = true },
	    { .name = "openblas_get_corename", AT(core), .optional = true } },
	  4,
	  "OPENBLAS_NUM_THREADS" }, /* its threads would spin during the measurement */
	{ "onednn",
	  "JEOUL_ONEDNN",
	  "libdnnl",
	  { "libdnnl.so.3", "libdnnl.so.2", "libdnnl.so" },
	  { { .name = "dnnl_sgemm", AT(dnnl) }, { .name = "dnnl_version", AT(numbers), .optional = true } },
	  2,
	  "OMP_NUM_THREADS" },
	{ "blis",
	  "JEOUL_BLIS",
	  "libblis4",
	  { "libblis.so.4", "libblis.so" },
	  { { .name = "cblas_sgemm", AT(cblas) }, { .name = "bli_info_get_version_str", AT(text), .optional = true } },
	  2,
	  "BLIS_NUM_THREADS" },
};

static struct jl_cpu_lib libs[JL_CPU_LIBS_MAX];
static size_t n_libs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects opening and the table of shapes */

static struct shape {
	size_t m, n, k;
	bool ta, tb;
	const struct jl_cpu_lib *best;
} shapes[SHAPES_MAX];
static size_t n_shapes;

/* OpenBLAS identifies processors by model number. On a processor newer than the library it falls back to its oldest code, at 1/10 of the speed. */
static const char *better_core(const struct jl_cpu_lib *lib)
{
#if defined(__x86_64__)
	if (lib->core && strcmp(lib->core(), "Prescott") == 0 && __builtin_cpu_supports("avx2") &&
	    !getenv("OPENBLAS_CORETYPE"))
		return __builtin_cpu_supports("avx512bw") ? "SkylakeX" : "Haswell";
#endif
	(void)lib;
	return NULL;
}

static bool open_one(struct jl_cpu_lib *lib, const struct known *k)
{
	struct jl_dynlib handle = { 0 };
	const char *core, *text;
	char release[16] = "?";

	*lib = (struct jl_cpu_lib){ .name = k->name };
	(void)setenv(k->threads, "1", 0);
	if (jl_dynlib_open(&handle, k->env, k->files, k->symbols, k->n_symbols, lib, NULL))
		return false;
	core = better_core(lib);
	if (core) {
		jl_dynlib_close(&handle);
		(void)setenv("OPENBLAS_CORETYPE", core, 1);
		if (jl_dynlib_open(&handle, k->env, k->files, k->symbols, k->n_symbols, lib, NULL))
			return false;
	}
	if (lib->set_threads)
		lib->set_threads(1);
	text = lib->text ? lib->text() : "";
	if (lib->numbers)
		(void)snprintf(release, sizeof(release), "%d.%d.%d", lib->numbers()[0], lib->numbers()[1],
			       lib->numbers()[2]);
	else /* parses "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...", "0.9.0-debian" */
		(void)sscanf(strncmp(text, "OpenBLAS ", 9) == 0 ? text + 9 : text, "%15[^ -]", release);
	(void)snprintf(lib->version, sizeof(lib->version), "%s%s%.20s", release, lib->core ? "-" : "",
		       lib->core ? lib->core() : "");
	return true;
}

/* The libraries reserve memory per processor and loop forever if the address space is too small. */
static enum jl_status has_room(struct jl_err *err)
{
	const long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	const rlim_t least_B = ((rlim_t)512 + 64 * (rlim_t)(n_cpus > 0 ? n_cpus : 1)) << 20;
	struct rlimit space;

	if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY || space.rlim_cur >= least_B)
		return JL_OK;
	return jl_fail(
		err, JL_E_LIMIT,
		"the address space is limited to %llu MiB (ulimit -v); libraries that multiply matrices need %llu",
		(unsigned long long)space.rlim_cur >> 20, (unsigned long long)least_B >> 20);
}

enum jl_status jl_cpu_libs(const struct jl_cpu_lib **ret_libs, size_t *ret_n, struct jl_err *err)
{
	static bool looked;

	JL_TRY(has_room(err));

	(void)pthread_mutex_lock(&lock);
	for (size_t i = 0; !looked && i < JL_LEN(known); i++)
		n_libs += open_one(&libs[n_libs], &known[i]);
	looked = true;
	(void)pthread_mutex_unlock(&lock);
	if (!n_libs)
		return jl_fail(err, JL_E_ABSENT, "no library multiplies matrices here: install the package %s or %s",
			       known[0].package, known[1].package);
	*ret_libs = libs;
	*ret_n = n_libs;
	return JL_OK;
}

const char *jl_cpu_libs_version(void)
{
	static char text[JL_CPU_LIBS_MAX * 64];
	const struct jl_cpu_lib *list;
	size_t n = 0, len = 0;

	if (jl_cpu_libs(&list, &n, NULL))
		return NULL;
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s=%s", i ? " " : "", list[i].name,
					list[i].version);
	return text;
}

void jl_cpu_lib_sgemm(const struct jl_cpu_lib *lib, const struct jl_sgemm_op *op)
{
	const float beta = op->accumulate ? 1.0f : 0.0f;

	if (lib->dnnl)
		(void)lib->dnnl(op->ta ? 'T' : 'N', op->tb ? 'T' : 'N', (long)op->m, (long)op->n, (long)op->k, 1.0f,
				op->a, (long)op->lda, op->b, (long)op->ldb, beta, op->c, (long)op->ldc);
	else
		lib->cblas(ROW_MAJOR, op->ta ? TRANS : NO_TRANS, op->tb ? TRANS : NO_TRANS, (int)op->m, (int)op->n,
			   (int)op->k, 1.0f, op->a, (int)op->lda, op->b, (int)op->ldb, beta, op->c, (int)op->ldc);
}

static size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

static size_t at_least_one(size_t n)
{
	return n > 1 ? n : 1;
}

/* Times the libraries on part of the operands, into separate memory. Uses the thread's CPU time, which other processes do not affect. */
static const struct jl_cpu_lib *fastest(const struct jl_sgemm_op *op)
{
	struct jl_sgemm_op part = *op;
	const struct jl_cpu_lib *best = &libs[0];
	double least_s = INFINITY;

	part.m = at_most(op->m, TIMED_MOST);
	part.n = part.ldc = at_most(op->n, TIMED_MOST);
	part.k = at_most(op->k, (size_t)4 * TIMED_MOST);
	part.accumulate = false;
	part.c = jl_realloc(NULL, part.m * part.n * sizeof(*part.c));
	for (size_t i = 0; part.c && i < n_libs; i++)
		for (int run = 0; run < TIMED_RUNS; run++) {
			const double start_s = jl_clock_thread_s();

			jl_cpu_lib_sgemm(&libs[i], &part);
			const double took_s = jl_clock_thread_s() - start_s;

			if (run && took_s * (best == &libs[i] ? 1 : FASTER) < least_s) { /* the first run warms up */
				least_s = took_s;
				best = &libs[i];
			}
		}
	jl_free(part.c);
	return best;
}

const struct jl_cpu_lib *jl_cpu_lib_for(const struct jl_sgemm_op *op)
{
	const struct jl_cpu_lib *best = NULL;

	if (n_libs < 2 || op->m * op->n * op->k < TIMED_LEAST)
		return &libs[0];
	(void)pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n_shapes && !best; i++) {
		const struct shape *s = &shapes[i];

		if (s->m == op->m && s->n == op->n && s->k == op->k && s->ta == op->ta && s->tb == op->tb)
			best = s->best;
	}
	if (!best) {
		best = fastest(op);
		if (n_shapes < SHAPES_MAX)
			shapes[n_shapes++] = (struct shape){ op->m, op->n, op->k, op->ta, op->tb, best };
	}
	(void)pthread_mutex_unlock(&lock);
	return best;
}

struct product {
	const struct jl_sgemm_op *op;
	const struct jl_cpu_lib *lib;
	size_t n_rows, n_cols; /* number of blocks */
};

/* Start of block `index` of `n`; block sizes are multiples of `align`. */
static size_t piece(size_t size, size_t n, size_t index, size_t align, size_t *ret_len)
{
	const size_t each = ((size + n - 1) / n + align - 1) / align * align, begin = at_most(index * each, size);

	*ret_len = at_most(begin + each, size) - begin;
	return begin;
}

static struct jl_sgemm_op block_of(const struct product *p, size_t index, struct jl_sgemm_block *ret_block)
{
	const struct jl_sgemm_op *op = p->op;
	struct jl_sgemm_op part = *op;

	ret_block->row = piece(op->m, p->n_rows, index / p->n_cols, 8, &part.m);
	ret_block->col = piece(op->n, p->n_cols, index % p->n_cols, 16, &part.n);
	ret_block->n_rows = part.m;
	ret_block->n_cols = part.n;
	part.a += op->ta ? ret_block->row : ret_block->row * op->lda;
	part.b += op->tb ? ret_block->col * op->ldb : ret_block->col;
	part.c += ret_block->row * op->ldc + ret_block->col;
	return part;
}

static void product_block(void *ctx, size_t index, int thread)
{
	const struct product *p = ctx;
	struct jl_sgemm_block block;
	const struct jl_sgemm_op part = block_of(p, index, &block);

	(void)thread;
	if (!part.m || !part.n)
		return;
	jl_cpu_lib_sgemm(p->lib, &part);
	if (part.finish)
		part.finish(part.finish_ctx, &block);
}

/* Splits the product into nearly square blocks, which need the least packing. */
static void choose_blocks(struct product *p, size_t n_threads)
{
	const struct jl_sgemm_op *op = p->op;
	const size_t most_rows = at_least_one(op->m / BLOCK_LEAST), most_cols = at_least_one(op->n / BLOCK_LEAST);
	const size_t want = n_threads > 1 ? n_threads * TASKS_EACH : 1;
	double least = INFINITY;

	p->n_rows = p->n_cols = 1;
	for (size_t rows = 1; rows <= at_most(most_rows, want); rows++) {
		const size_t cols = at_most((want + rows - 1) / rows, most_cols);
		const double packed = (double)rows / (double)op->m + (double)cols / (double)op->n;

		if (rows * cols >= at_most(want, most_rows * most_cols) && packed < least) {
			least = packed;
			p->n_rows = rows;
			p->n_cols = cols;
		}
	}
}

void jl_cpu_product(struct jl_pool *pool, const struct jl_sgemm_op *op)
{
	struct product p = { .op = op };
	struct jl_sgemm_block block;

	choose_blocks(&p, (size_t)jl_pool_n_threads(pool));
	const struct jl_sgemm_op first = block_of(&p, 0, &block);

	p.lib = jl_cpu_lib_for(&first);
	jl_pool_run(pool, product_block, &p, p.n_rows * p.n_cols);
}
