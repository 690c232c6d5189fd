/* Measures a cluster and finds slow machines and bad links. */
#include "bench/cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/stats.h"
#include "bench/core.h"

#define ALONE_S     0.4               /* per figure of a single rank */
#define PAIR_B      ((size_t)4 << 20) /* message size between two ranks */
#define PAIR_RUNS   4                 /* the first run warms up */
#define REDUCE_RUNS 5
#define BAD_LN      0.4 /* ln of the slowdown against other links from which a link is bad */

const char *const jl_cluster_figures[JL_N_CLUSTER_FIGURE] = {
	[JL_CLUSTER_GEMM] = JL_N("matrix product"),  [JL_CLUSTER_MEMORY] = JL_N("memory"),
	[JL_CLUSTER_GPU_GEMM] = JL_N("GPU product"), [JL_CLUSTER_GPU_MEMORY] = JL_N("GPU memory"),
	[JL_CLUSTER_SEND] = JL_N("sending"),         [JL_CLUSTER_RECEIVE] = JL_N("receiving"),
};

static double alone(const char *backend, struct jl_bench_task task)
{
	static struct jl_bench_result result;
	const struct jl_bench_backend *b = jl_bench_find(backend);
	const struct jl_bench_plan plan = { .time_s = ALONE_S };

	if (!b || b->present(NULL) || jl_bench_measure(b, &task, &plan, &result, NULL) || !result.n_samples)
		return NAN;
	return jl_bench_work(&task) / result.time_s.median;
}

/* Each rank measures itself without communication. All do so at once, so ranks on one host share its processors. */
static enum jl_status measure_alone(struct jl_cluster *c, struct jl_comm *comm, struct jl_err *err)
{
	const int n_threads = jl_pool_cpus_each(comm->n_local);
	const struct jl_bench_task gemm = { .kind = JL_BENCH_GEMM,
					    .dtype = JL_FP32,
					    .m = 1024,
					    .n = 1024,
					    .k = 1024,
					    .n_threads = n_threads },
				   memory = { .kind = JL_BENCH_TRIAD,
					      .size_B = (size_t)64 << 20,
					      .n_threads = n_threads },
				   gpu = { .kind = JL_BENCH_GEMM,
					   .dtype = JL_BF16,
					   .m = 4096,
					   .n = 4096,
					   .k = 4096,
					   .device = comm->local_rank },
				   gpu_memory = { .kind = JL_BENCH_TRIAD,
						  .size_B = (size_t)256 << 20,
						  .device = comm->local_rank };
	double own[4], all[4 * JL_CLUSTER_RANKS_MAX];
	char host[JL_CLUSTER_HOST_MAX] = "";

	(void)snprintf(host, sizeof(host), "%.63s", comm->host ? comm->host : "?");
	enum jl_status status = jl_comm_share(comm, host, c->hosts, sizeof(host), err);
	if (status)
		return status;
	c->n = comm->n_ranks;
	own[JL_CLUSTER_GEMM] = alone("cpu", gemm);
	own[JL_CLUSTER_MEMORY] = alone("cpu", memory);
	own[JL_CLUSTER_GPU_GEMM] = alone("cuda", gpu);
	own[JL_CLUSTER_GPU_MEMORY] = alone("cuda", gpu_memory);
	status = jl_comm_share(comm, own, all, sizeof(own), err);
	for (int r = 0; r < c->n && !status; r++)
		for (int f = 0; f < 4; f++)
			c->rates[f][r] = all[4 * r + f];
	return status;
}

/* Each rank sends to the rank `far` ahead, all at once. Takes the higher of the rates that the two ends measured: the slower end may have waited
 * for its other link. */
static enum jl_status measure_round(struct jl_cluster *c, struct jl_comm *comm, int far,
				    char *buffers, /* NOLINT(readability-non-const-parameter): written by the call */
				    struct jl_err *err)
{
	struct jl_coll_call call = { .coll = JL_COLL_SENDRECV,
				     .type = JL_COMM_UINT8,
				     .count = PAIR_B,
				     .distance = far,
				     .send = buffers,
				     .recv = buffers + PAIR_B };
	double took_s[PAIR_RUNS], own_s, all_s[JL_CLUSTER_RANKS_MAX];
	enum jl_status status = JL_OK;

	for (int i = 0; i < PAIR_RUNS && !status; i++) {
		status = jl_comm_barrier(comm, err);
		const double start_s = jl_clock_s();

		JL_THEN(status, jl_comm_run(comm, &call, err));
		took_s[i] = jl_clock_s() - start_s;
	}
	own_s = jl_stats_median(took_s + 1, PAIR_RUNS - 1);
	JL_THEN(status, jl_comm_share(comm, &own_s, all_s, sizeof(own_s), err));
	for (int r = 0; r < c->n && !status; r++) {
		const int to = (r + far) % c->n;

		c->pair_Bps[r][to] = (double)PAIR_B / fmin(all_s[r], all_s[to]);
	}
	return status;
}

static enum jl_status measure_reduce(struct jl_cluster *c, struct jl_comm *comm, size_t which, size_t size_B,
				     char *buffers, /* NOLINT(readability-non-const-parameter): written by the call */
				     struct jl_err *err)
{
	struct jl_coll_call call = {
		.type = JL_COMM_FLOAT, .count = size_B / sizeof(float), .send = buffers, .recv = buffers + PAIR_B
	};
	double took_s[REDUCE_RUNS];
	enum jl_status status = JL_OK;

	for (int i = 0; i < REDUCE_RUNS && !status; i++) {
		const double start_s = jl_clock_s();

		status = jl_comm_run(comm, &call, err);
		took_s[i] = jl_clock_s() - start_s;
	}
	if (!status) {
		c->reduce_B[which] = (double)size_B;
		c->reduce_s[which] = jl_stats_median(took_s + 1, REDUCE_RUNS - 1);
	}
	return status;
}

void jl_cluster_begin(struct jl_cluster *c)
{
	*c = (struct jl_cluster){ .least_ln = NAN, .pair_median_Bps = NAN };
	for (int r = 0; r < JL_CLUSTER_RANKS_MAX; r++) {
		for (int f = 0; f < JL_N_CLUSTER_FIGURE; f++)
			c->rates[f][r] = NAN;
		for (int to = 0; to < JL_CLUSTER_RANKS_MAX; to++)
			c->pair_Bps[r][to] = NAN;
	}
	for (int i = 0; i < JL_CLUSTER_SIZES; i++)
		c->reduce_B[i] = c->reduce_s[i] = NAN;
}

enum jl_status jl_cluster_measure(struct jl_cluster *c, struct jl_comm *comm, struct jl_err *err)
{
	static const size_t sizes_B[JL_CLUSTER_SIZES] = { 8, 8 << 10, 256 << 10, PAIR_B };
	enum jl_status status = JL_OK;

	if (comm->n_ranks > JL_CLUSTER_RANKS_MAX)
		return jl_fail(err, JL_E_LIMIT, "%d ranks: at most %d", comm->n_ranks, JL_CLUSTER_RANKS_MAX);
	char *buffers = jl_comm_alloc(comm, 2 * PAIR_B);

	JL_TRY(jl_got(buffers, err));
	status = measure_alone(c, comm, err);
	for (int far = 1; far < comm->n_ranks && !status; far++)
		status = measure_round(c, comm, far, buffers, err);
	for (size_t i = 0; i < JL_CLUSTER_SIZES && !status; i++)
		status = measure_reduce(c, comm, i, sizes_B[i], buffers, err);
	jl_comm_free(comm, buffers, 2 * PAIR_B);
	return status;
}

/* ---- evaluation */

static void rank_links(struct jl_cluster *c)
{
	double line[JL_CLUSTER_RANKS_MAX];

	for (int r = 0; r < c->n; r++)
		for (int way = 0; way < 2; way++) {
			size_t n = 0;

			for (int p = 0; p < c->n; p++) {
				const double Bps = way ? c->pair_Bps[p][r] : c->pair_Bps[r][p];

				if (!isnan(Bps))
					line[n++] = Bps;
			}
			if (n)
				c->rates[way ? JL_CLUSTER_RECEIVE : JL_CLUSTER_SEND][r] = jl_stats_median(line, n);
		}
}

static int slowest_first(const void *a, const void *b)
{
	const double x = ((const struct jl_cluster_link *)a)->Bps, y = ((const struct jl_cluster_link *)b)->Bps;

	return x < y ? -1 : x > y;
}

/* True for links between different hosts, or if there is only one host for all links. */
static bool counts(const struct jl_cluster *c, int from, int to, bool one_host)
{
	return !isnan(c->pair_Bps[from][to]) && (one_host || strcmp(c->hosts[from], c->hosts[to]) != 0);
}

/* A link is bad if it is far slower than the typical links of both its ends: a slow machine is slow on all its links. */
static void find_bad(struct jl_cluster *c, double *all, bool one_host)
{
	size_t n = 0;

	for (int i = 0; i < c->n; i++)
		for (int j = 0; j < c->n; j++)
			if (counts(c, i, j, one_host))
				all[n++] = log(c->pair_Bps[i][j]);
	if (!n)
		return;
	const double middle = jl_stats_median(all, n);

	c->pair_median_Bps = exp(middle);
	for (size_t i = 0; i < n; i++)
		all[i] = fabs(all[i] - middle);
	const double sd = 1.4826 * jl_stats_median(all, n),
		     least = fmax(BAD_LN, sd * jl_stats_t_quantile(1 - JL_NODES_ALARMS / (double)n, n / 3 + 1));

	for (int i = 0; i < c->n && n >= 6; i++)
		for (int j = 0; j < c->n && c->n_bad < JL_CLUSTER_RANKS_MAX; j++) {
			const double ends = fmin(c->rates[JL_CLUSTER_SEND][i], c->rates[JL_CLUSTER_RECEIVE][j]);

			if (counts(c, i, j, one_host) && log(c->pair_Bps[i][j]) < fmin(middle, log(ends)) - least)
				c->bad[c->n_bad++] = (struct jl_cluster_link){ i, j, c->pair_Bps[i][j] };
		}
	qsort(c->bad, c->n_bad, sizeof(*c->bad), slowest_first);
}

enum jl_status jl_cluster_weigh(struct jl_cluster *c, struct jl_arena *arena, struct jl_err *err)
{
	const size_t n = (size_t)c->n;
	double *rates = jl_arena_array(arena, JL_N_CLUSTER_FIGURE * n + 1, sizeof(*rates)),
	       *all = jl_arena_array(arena, n * n + 1, sizeof(*all));
	bool one_host = true;

	JL_TRY(jl_got(rates && all, err));
	for (int r = 1; r < c->n; r++)
		one_host = one_host && strcmp(c->hosts[r], c->hosts[0]) == 0;
	rank_links(c);
	find_bad(c, all, one_host);
	for (size_t f = 0; f < JL_N_CLUSTER_FIGURE; f++)
		memcpy(rates + f * n, c->rates[f], n * sizeof(*rates));
	enum jl_status status = jl_nodes_weigh(c->scores, &c->least_ln, rates, n, JL_N_CLUSTER_FIGURE, arena, err);
	for (size_t r = 0; r < n && !status; r++)
		c->n_slow += (size_t)(c->scores[r].slow || c->scores[r].slow_in);
	return status;
}
