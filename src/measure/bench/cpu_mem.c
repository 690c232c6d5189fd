/* Memory bandwidth of the CPUs: triad and copy. Each thread first touches its own part, so that pages are allocated on its NUMA node. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/clock.h"
#include "base/mem.h"
#include "base/pool.h"
#include "bench/cpu.h"

#define SCALE 3.0

struct jl_cpu_mem {
	enum jl_bench_kind kind;
	size_t n; /* doubles per array */
	void *memory[3];
	double *a, *b, *c; /* start at an offset in `memory` */
	struct jl_pool *team;
	bool has_own_team;
};

int jl_cpu_count(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

size_t jl_cpu_cache_B(void)
{
	size_t most = 0;

	for (int i = 0; i < 8; i++) {
		char path[96], unit = '\0';
		unsigned long long size = 0;
		FILE *file;

		(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
		file = fopen(path, "re");
		if (!file)
			break;
		if (fscanf(file, "%llu%c", &size, &unit) >= 1)
			size *= unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1;
		(void)fclose(file);
		most = size > most ? (size_t)size : most;
	}
	return most;
}

/* Part i of n, in whole cache lines. */
static void part_of(const struct jl_cpu_mem *m, size_t i, size_t *ret_from, size_t *ret_to)
{
	const size_t n = (size_t)jl_pool_n_threads(m->team), step = (m->n / n + 15) / 16 * 16, from = i * step;

	*ret_from = from < m->n ? from : m->n;
	*ret_to = i == n - 1 || from + step > m->n ? m->n : from + step;
}

static void touch(void *ctx, size_t i, int thread)
{
	struct jl_cpu_mem *m = ctx;
	size_t from, to;

	(void)thread;
	part_of(m, i, &from, &to);
	for (size_t k = from; k < to; k++) {
		m->a[k] = 0;
		m->b[k] = (double)(k % 1021);
		if (m->c)
			m->c[k] = (double)(k % 509);
	}
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c, size_t n)
{
	size_t i = 0;

#if defined(__SSE2__)
	/* streaming stores: ordinary ones would first read the lines, a fourth stream */
	const __m128d scale = _mm_set1_pd(SCALE);

	for (; i + 2 <= n; i += 2)
		_mm_stream_pd(a + i, _mm_add_pd(_mm_load_pd(b + i), _mm_mul_pd(scale, _mm_load_pd(c + i))));
	_mm_sfence();
#endif
	for (; i < n; i++)
		a[i] = b[i] + SCALE * c[i];
}

static void run_part(void *ctx, size_t i, int thread)
{
	struct jl_cpu_mem *m = ctx;
	size_t from, to;

	(void)thread;
	part_of(m, i, &from, &to);
	if (m->kind == JL_BENCH_TRIAD)
		triad(m->a + from, m->b + from, m->c + from, to - from);
	else
		memcpy(m->a + from, m->b + from, (to - from) * sizeof(double));
}

static double *pages(struct jl_cpu_mem *m, const struct jl_bench_task *task, int array)
{
	const size_t size_B = m->n * sizeof(double) + JL_BENCH_SHIFT_B;
	void *memory = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	(void)madvise(memory, size_B, MADV_HUGEPAGE);
	m->memory[array] = memory;
	return (double *)memory + jl_bench_shift_B(task, array) / sizeof(double);
}

void jl_cpu_mem_finish(struct jl_cpu_mem *m)
{
	if (!m)
		return;
	if (m->has_own_team)
		jl_pool_destroy(m->team);
	for (int array = 0; array < 3; array++)
		if (m->memory[array])
			(void)munmap(m->memory[array], m->n * sizeof(double) + JL_BENCH_SHIFT_B);
	jl_free(m);
}

enum jl_status jl_cpu_mem_prepare(const struct jl_bench_task *task, const struct jl_cpu_mem *first,
				  struct jl_cpu_mem **ret_mem, struct jl_err *err)
{
	struct jl_cpu_mem *m = jl_realloc(NULL, sizeof(*m));
	enum jl_status status;

	JL_TRY(jl_got(m, err));
	*m = (struct jl_cpu_mem){ .kind = task->kind,
				  .n = task->size_B / sizeof(double),
				  .team = first ? first->team : NULL,
				  .has_own_team = !first };
	m->a = pages(m, task, 0);
	m->b = pages(m, task, 1);
	m->c = task->kind == JL_BENCH_TRIAD ? pages(m, task, 2) : NULL;
	if (!m->a || !m->b || (task->kind == JL_BENCH_TRIAD && !m->c))
		status = jl_fail(err, JL_E_NOMEM, "no memory for arrays of %zu bytes; choose a smaller --size",
				 task->size_B);
	else
		status = first ? JL_OK
			       : jl_pool_create(task->n_threads > 0 ? task->n_threads : jl_cpu_count(), &m->team, err);
	if (status) {
		jl_cpu_mem_finish(m);
		return status;
	}
	jl_pool_each(m->team, touch, m);
	*ret_mem = m;
	return JL_OK;
}

void jl_cpu_mem_run(struct jl_cpu_mem *m, double *ret_s)
{
	const double start_s = jl_clock_s();

	jl_pool_each(m->team, run_part, m);
	*ret_s = jl_clock_s() - start_s;
}

/* Values are integers, so the result is exact. */
size_t jl_cpu_mem_wrong(struct jl_cpu_mem *m)
{
	size_t n_wrong = 0;

	memset(m->a, 0xff, m->n * sizeof(double));
	jl_pool_each(m->team, run_part, m);
	for (size_t k = 0; k < m->n; k++) {
		const double wanted = (double)(k % 1021) + (m->kind == JL_BENCH_TRIAD ? SCALE * (double)(k % 509) : 0);

		n_wrong += !(m->a[k] == wanted);
	}
	return n_wrong;
}
