/* Runs a task on a backend: warm-up, samples, stop criteria, statistics, noise. */
#include "bench/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define TIME_S       2.0
#define WARMUP_N     5
#define WARMUP_FRAC  0.15 /* minimum share of the budget for warm-up, so that clocks and caches settle */
#define BLOCK_S      0.05 /* seconds between two decisions */
#define BLOCK_MAX    128
#define SAMPLES_MIN  12
#define SAMPLES_FEW  3 /* minimum even when the time is over */
#define WANT_FRAC    0.005
#define DRIFT_N_MIN  16
#define TIME_MAX_S   1e7                 /* upper limit of any plausible time */
#define PLACES_B     ((size_t)128 << 20) /* limit for all places together */
#define PLACE_SLOW_S 0.002 /* longer iterations exceed the caches or wait for a network: placement does not matter */

struct run {
	const struct jl_bench_backend *backend;
	const struct jl_bench_plan *plan;
	struct jl_bench_state *places[JL_BENCH_PLACES]; /* the same task in different pages */
	size_t n_places;
	struct jl_comm *comm;
	struct jl_bench_result *result;
	struct jl_noise_watch watch;
	double start_s, elapsed_s; /* elapsed: of the slowest rank */
	double budget_s;
	double last_s; /* median of the latest block */
	bool stopped;
};

/* Averages `values` over all ranks and takes the maximum of the two values in `most`. */
static enum jl_status agree(struct jl_comm *comm, double *values, size_t n, double most[2], struct jl_err *err)
{
	JL_TRY(jl_comm_agree(comm, values, n, JL_RED_SUM, err));
	for (size_t i = 0; i < n; i++)
		values[i] /= comm ? comm->n_ranks : 1;
	return jl_comm_agree(comm, most, 2, JL_RED_MAX, err);
}

static bool stop_asked(const struct run *r)
{
	return (r->plan->stop && r->plan->stop(r->plan->ctx)) || (r->comm && jl_comm_stop_asked(r->comm));
}

/* Runs `n` iterations, a multiple of n_places: each place in turn. Each place first runs one uncounted iteration that brings its data back into
 * the caches. Sample i is from place i mod n_places, so that every part of the series has all places equally. */
static enum jl_status run_places(struct run *r, double *samples, size_t n, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	for (size_t place = 0; place < r->n_places && !status; place++) {
		double ignored_s;

		if (r->n_places > 1)
			status = r->backend->run_once(r->places[place], &ignored_s, err);
		for (size_t i = place; i < n && !status; i += r->n_places)
			status = r->backend->run_once(r->places[place], &samples[i], err);
	}
	return status;
}

/* Runs `n` iterations; samples are averaged over the ranks. */
static enum jl_status run_block(struct run *r, double samples[BLOCK_MAX], size_t n, struct jl_err *err)
{
	double most[2], sorted[BLOCK_MAX];

	JL_TRY(run_places(r, samples, n, err));
	most[0] = jl_clock_s() - r->start_s;
	most[1] = stop_asked(r);
	JL_TRY(agree(r->comm, samples, n, most, err));
	bool sane = most[0] >= 0 && most[0] < TIME_MAX_S;
	r->elapsed_s = most[0];
	r->stopped = most[1] > 0;
	for (size_t i = 0; i < n; i++)
		sane &= samples[i] >= 0 && samples[i] < TIME_MAX_S;
	if (!sane) /* an implausible time from another rank would never let the loop end */
		return jl_fail(err, JL_E_DATA, "a rank sent invalid times");
	memcpy(sorted, samples, n * sizeof(*samples));
	r->last_s = jl_stats_median(sorted, n);
	jl_noise_look(&r->watch);
	if (r->plan->progress)
		r->plan->progress(r->plan->ctx, fmin(1, r->elapsed_s / r->budget_s));
	return JL_OK;
}

static size_t block_size(const struct run *r, size_t most)
{
	const double n = BLOCK_S / fmax(r->last_s, 1e-9);
	size_t size = n < 1 ? 1 : n > BLOCK_MAX ? BLOCK_MAX : (size_t)n;

	size = size < most ? size : most;
	return size < r->n_places ? r->n_places : size / r->n_places * r->n_places;
}

/* Prepares further places if placement matters. All ranks decide alike: `last_s` is common to them, and a failed prepare fails on all. */
static void spread_out(struct run *r, const struct jl_bench_task *task)
{
	const size_t one_B = r->backend->place_B ? r->backend->place_B(task) : 0;
	struct jl_bench_task other = *task;

	if (r->plan->n_iters || !one_B || one_B > PLACES_B / JL_BENCH_PLACES || r->last_s > PLACE_SLOW_S)
		return;
	for (; r->n_places < JL_BENCH_PLACES; r->n_places++) {
		other.place = (int)r->n_places;
		other.first = r->places[0];
		if (r->backend->prepare(&other, &r->places[r->n_places], NULL))
			return;
	}
}

static enum jl_status warm_up(struct run *r, const struct jl_bench_task *task, struct jl_err *err)
{
	const bool fixed = r->plan->n_iters > 0;
	const size_t wanted = r->plan->n_warmup ? r->plan->n_warmup : WARMUP_N;
	double samples[BLOCK_MAX];
	enum jl_status status = run_block(r, samples, 1, err);

	r->result->n_warmup = 1;
	if (!status && !r->stopped)
		spread_out(r, task);
	while (!status && !r->stopped) {
		const bool enough = r->result->n_warmup >= wanted, over = r->elapsed_s > 0.5 * r->budget_s && !fixed;
		const bool settled = fixed || r->elapsed_s > WARMUP_FRAC * r->budget_s;

		if ((enough && settled) || over)
			break;
		size_t n = block_size(r, enough ? BLOCK_MAX : wanted - r->result->n_warmup);
		status = run_block(r, samples, n, err);
		r->result->n_warmup += n;
	}
	return status;
}

static bool narrow_enough(const struct run *r)
{
	const struct jl_bench_result *res = r->result;
	double scratch[JL_BENCH_SAMPLES_MAX];
	struct jl_stats s;

	if (res->n_samples < SAMPLES_MIN)
		return false;
	jl_stats_of(&s, res->samples_s, res->n_samples, scratch);
	return s.hi95 - s.lo95 <= 2 * (r->plan->want_frac > 0 ? r->plan->want_frac : WANT_FRAC) * s.median;
}

static enum jl_status sample(struct run *r, struct jl_err *err)
{
	struct jl_bench_result *res = r->result;
	const size_t most = r->plan->n_iters && r->plan->n_iters < JL_BENCH_SAMPLES_MAX ? r->plan->n_iters
											: JL_BENCH_SAMPLES_MAX;
	enum jl_status status = JL_OK;

	while (!status && res->n_samples < most) {
		const size_t n = block_size(r, most - res->n_samples);
		double block[BLOCK_MAX];

		status = run_block(r, block, n, err);
		if (status)
			break;
		memcpy(res->samples_s + res->n_samples, block, n * sizeof(*block));
		res->n_samples += n;
		if (r->stopped)
			break;
		bool over = r->elapsed_s > r->budget_s;
		/* n_iters is exact; the time budget is only a target */
		if (r->plan->n_iters)
			continue;
		if (over && (res->n_samples >= SAMPLES_FEW || r->elapsed_s > 3 * r->budget_s))
			break;
		if (narrow_enough(r) && r->elapsed_s > 0.3 * r->budget_s)
			break;
	}
	return status;
}

/* Drift: median of the last quarter over median of the first. */
static double drift_of(const double *samples, size_t n)
{
	double first[JL_BENCH_SAMPLES_MAX], last[JL_BENCH_SAMPLES_MAX];
	const size_t quarter = n / 4;

	if (n < DRIFT_N_MIN)
		return NAN;
	memcpy(first, samples, quarter * sizeof(*first));
	memcpy(last, samples + n - quarter, quarter * sizeof(*last));
	return jl_stats_median(last, quarter) / jl_stats_median(first, quarter) - 1;
}

/* On a noisy machine the median may be far from the undisturbed one. Widens the interval to the bulk of the samples and, on the fast side, by
 * the share of CPU time that was taken away. */
static void widen(struct jl_bench_result *res, const double *samples, size_t n)
{
	double sorted[JL_BENCH_SAMPLES_MAX], taken = 0;

	memcpy(sorted, samples, n * sizeof(*sorted));
	jl_stats_sort(sorted, n);
	taken = fmax(taken, fmax(res->noise.cpu_other_frac, res->noise.wait_frac));
	if (res->noise.steal_frac > 0)
		taken += res->noise.steal_frac;
	res->time_s.lo95 = fmin(res->time_s.lo95, jl_stats_quantile(sorted, n, 0.05)) * (1 - fmin(0.9, taken));
	res->time_s.hi95 = fmax(res->time_s.hi95, jl_stats_quantile(sorted, n, 0.95));
}

/* If placement matters more than noise, widens the interval by the scatter of the places' medians, since another run would get other pages. */
static void widen_by_places(struct jl_bench_result *res)
{
	const double t = jl_stats_t_quantile(0.975, res->n_places - 1);
	double mean = 0, square = 0, half;

	for (size_t place = 0; place < res->n_places; place++) {
		double own[JL_BENCH_SAMPLES_MAX], median;
		size_t n = 0;

		for (size_t i = place; i < res->n_samples; i += res->n_places)
			if (i >= res->n_unsteady)
				own[n++] = res->samples_s[i];
		median = jl_stats_median(own, n);
		mean += median / (double)res->n_places;
		square += median * median / (double)res->n_places;
	}
	half = t * sqrt(fmax(0, square - mean * mean) / (double)(res->n_places - 1));
	res->time_s.lo95 = fmin(res->time_s.lo95, fmax(res->time_s.min, res->time_s.median - half));
	res->time_s.hi95 = fmax(res->time_s.hi95, res->time_s.median + half);
}

static void summarise(struct jl_bench_result *res)
{
	double scratch[JL_BENCH_SAMPLES_MAX];

	res->n_unsteady = jl_stats_steady_from(res->samples_s, res->n_samples, scratch);
	const double *steady = res->samples_s + res->n_unsteady;
	size_t n = res->n_samples - res->n_unsteady;
	jl_stats_of(&res->time_s, steady, n, scratch);
	if (res->n_places > 1 && n >= 2 * res->n_places)
		widen_by_places(res);
	res->n_outliers = jl_stats_outliers(steady, n, scratch);
	res->noise.drift_frac = drift_of(steady, n);
	jl_noise_judge(&res->noise, res->why);
	if (res->noise.noisy && n > 0)
		widen(res, steady, n);
}

static enum jl_status check_result(struct run *r, struct jl_err *err)
{
	size_t n_wrong = 0;
	double sum = 0, most[2] = { 0 };
	enum jl_status status = JL_OK;

	if (!r->plan->check || !r->backend->verify || r->stopped)
		return JL_OK;
	for (size_t place = 0; place < r->n_places && !status; place++) {
		status = r->backend->verify(r->places[place], &n_wrong, err);
		sum += (double)n_wrong;
	}
	JL_THEN(status, agree(r->comm, &sum, 1, most, err));
	if (status)
		return status;
	r->result->checked = true;
	r->result->n_wrong = r->comm && r->comm->n_ranks > 1 ? round(sum * r->comm->n_ranks) : sum;
	return JL_OK;
}

/* Merges the noise reported by the device into the host's. */
static void add_device(struct jl_record_noise *noise, const struct jl_record_noise *device)
{
	struct jl_record_noise n = *device;

	n.cpu_other_frac = noise->cpu_other_frac;
	n.steal_frac = noise->steal_frac;
	n.wait_frac = noise->wait_frac;
	n.drift_frac = noise->drift_frac;
	n.quota_cpus = noise->quota_cpus;
	n.n_cpus = noise->n_cpus;
	n.throttled_frac = noise->throttled_frac;
	n.clock_frac = isnan(n.clock_frac) ? noise->clock_frac : n.clock_frac;
	n.thermal |= noise->thermal;
	n.power |= noise->power;
	*noise = n;
}

enum jl_status jl_bench_can(const struct jl_bench_backend *backend, const struct jl_bench_task *task,
			    struct jl_err *err)
{
	return backend->supports(task)
		       ? JL_OK
		       : jl_fail(err, JL_E_ABSENT,
				 "the backend %s does not measure this; 'jeoul bench list' shows what does",
				 backend->name);
}

enum jl_status jl_bench_measure(const struct jl_bench_backend *backend, const struct jl_bench_task *task,
				const struct jl_bench_plan *plan, struct jl_bench_result *ret_result,
				struct jl_err *err)
{
	struct jl_bench_result *res = ret_result;
	struct run r = { .backend = backend,
			 .plan = plan,
			 .comm = task->comm,
			 .result = res,
			 .start_s = jl_clock_s(),
			 .budget_s = plan->time_s > 0 ? plan->time_s : TIME_S };
	struct jl_record_noise device = jl_record_noise_unknown();

	memset(res, 0, sizeof(*res));
	res->task = *task;
	res->task.comm = NULL;
	res->n_ranks = task->comm ? task->comm->n_ranks : 1;
	JL_TRY(jl_bench_can(backend, task, err));
	JL_TRY(backend->prepare(task, &r.places[0], err));
	r.n_places = 1;
	jl_noise_begin(&r.watch); /* starts at the warm-up: short tasks end within one tick of the kernel's counters */
	r.start_s = jl_clock_s(); /* filling memory does not count against the budget */
	enum jl_status status = warm_up(&r, task, err);
	if (!status && !(r.stopped && res->n_samples == 0 && res->n_warmup < 2))
		status = sample(&r, err);
	if (!status && backend->watch) /* before the clock drops */
		backend->watch(r.places[0], &device);
	JL_THEN(status, jl_noise_end(&r.watch, r.comm, &res->noise, err));
	if (backend->simulated)
		res->noise = jl_record_noise_unknown();
	if (!status) {
		if (device.neighbour)
			(void)snprintf(res->neighbour, sizeof(res->neighbour), "%s", device.neighbour);
		device.neighbour = NULL; /* points into the backend's memory */
		add_device(&res->noise, &device);
		res->n_places = r.n_places;
		summarise(res);
		status = check_result(&r, err);
	}
	for (size_t place = 0; place < r.n_places; place++)
		backend->finish(r.places[place]);
	res->stopped = r.stopped;
	res->took_s = jl_clock_s() - r.start_s;
	return status;
}

double jl_bench_work(const struct jl_bench_task *task)
{
	const double size_B = (double)task->size_B;

	switch (task->kind) {
	case JL_BENCH_GEMM: return 2.0 * (double)task->m * (double)task->n * (double)task->k;
	case JL_BENCH_TRIAD: return 3 * size_B;
	case JL_BENCH_COPY: return 2 * size_B;
	case JL_BENCH_H2D:
	case JL_BENCH_D2H:
	case JL_BENCH_D2D:
	case JL_BENCH_COLL:
	case JL_BENCH_READ:
	case JL_BENCH_WRITE:
	case JL_N_BENCH_KIND: break;
	}
	return size_B;
}

const char *jl_bench_kind_name(enum jl_bench_kind kind)
{
	static const char *const names[JL_N_BENCH_KIND] = {
		[JL_BENCH_GEMM] = "gemm",       [JL_BENCH_TRIAD] = "triad", [JL_BENCH_COPY] = "copy",
		[JL_BENCH_H2D] = "h2d",         [JL_BENCH_D2H] = "d2h",     [JL_BENCH_D2D] = "d2d",
		[JL_BENCH_COLL] = "collective", [JL_BENCH_READ] = "read",   [JL_BENCH_WRITE] = "write",
	};

	return (size_t)kind < JL_N_BENCH_KIND ? names[kind] : "?";
}

const struct jl_bench_backend *jl_bench_find(const char *name)
{
	for (const struct jl_bench_backend *const *b = jl_bench_backends; *b; b++)
		if (strcmp((*b)->name, name) == 0)
			return *b;
	return NULL;
}
