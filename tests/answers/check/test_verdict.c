/* Verdicts: what counts as low, what noise and intervals do to it, what history and another run let expect; expectations of systems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/catalog.h"
#include "check/next.h"
#include "check/own_params.h"

static struct jl_figure figure(double value, double lo95, double hi95, bool noisy)
{
	return (struct jl_figure){ .value = value, .lo95 = lo95, .hi95 = hi95, .noisy = noisy };
}

static void verdicts(void **state)
{
	const struct jl_expect e = { .lo = 112, .value = 155, .hi = 190, .bound = 202 };
	const struct {
		struct jl_figure f;
		enum jl_verdict verdict;
	} rows[] = {
		{ figure(156, NAN, NAN, false), JL_VERDICT_NORMAL },
		{ figure(60, NAN, NAN, false), JL_VERDICT_LOW },
		{ figure(300, NAN, NAN, false), JL_VERDICT_IMPOSSIBLE },
		{ figure(200, NAN, NAN, false), JL_VERDICT_GOOD },
		{ figure(60, NAN, NAN, true), JL_VERDICT_NOISY },
		{ figure(300, NAN, NAN, true), JL_VERDICT_IMPOSSIBLE },
		{ figure(110, 100, 120, false), JL_VERDICT_NORMAL }, /* its interval reaches into the range */
		{ figure(110, 109, 111, false), JL_VERDICT_LOW },
		{ figure(111, NAN, NAN, false), JL_VERDICT_NORMAL },
		{ figure(195, 185, 205, false), JL_VERDICT_NORMAL },
		{ figure(202.5, NAN, NAN, false), JL_VERDICT_GOOD },
		{ figure(193, NAN, NAN, false), JL_VERDICT_NORMAL }, /* as much doubt above as below */
		{ figure(194, NAN, NAN, false), JL_VERDICT_GOOD },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (jl_verdict_of(&rows[i].f, &e) != rows[i].verdict)
			fail_msg("row %zu: %s", i, jl_verdict_name(jl_verdict_of(&rows[i].f, &e)));
	assert_true(jl_verdict_at_edge(&rows[8].f, &e) && jl_verdict_at_edge(&rows[6].f, &e));
	assert_false(jl_verdict_at_edge(&rows[0].f, &e) || jl_verdict_at_edge(&rows[1].f, &e));
	const struct jl_expect wide = { .lo = 112, .value = 155, .hi = 190, .bound = 202, .low = 90, .high = 200 };
	struct jl_figure f = figure(100, NAN, NAN, false);

	assert_int_equal(jl_verdict_of(&f, &wide),
			 JL_VERDICT_NORMAL); /* outside four fifths, inside nineteen of twenty */
	assert_true(jl_verdict_at_edge(&f, &wide));
	f.value = 80;
	assert_int_equal(jl_verdict_of(&f, &wide), JL_VERDICT_LOW);
	f.value = 198;
	assert_int_equal(jl_verdict_of(&f, &wide), JL_VERDICT_NORMAL);
	struct jl_expect doubted = wide;

	doubted.bound = 300;
	doubted.most = 250;
	f.value = 240;
	assert_int_equal(jl_verdict_of(&f, &doubted), JL_VERDICT_GOOD);
	f.value = 260;
	assert_int_equal(jl_verdict_of(&f, &doubted), JL_VERDICT_HIGH);
	f.value = 310;
	assert_int_equal(jl_verdict_of(&f, &doubted), JL_VERDICT_IMPOSSIBLE);
	const struct jl_expect none = JL_EXPECT_NONE;

	f = figure(5, NAN, NAN, false);

	assert_int_equal(jl_verdict_of(&f, &none), JL_VERDICT_FIRST);
	f = (struct jl_figure){ .value = 2, .lo95 = NAN, .hi95 = NAN, .less_is_better = true }; /* seconds */
	const struct jl_expect time = { .lo = 0.9, .value = 1, .hi = 1.1, .bound = 0.5 };

	assert_int_equal(jl_verdict_of(&f, &time), JL_VERDICT_LOW);
	f.value = 0.8;
	assert_int_equal(jl_verdict_of(&f, &time), JL_VERDICT_GOOD);
	f.value = 0.4;
	assert_int_equal(jl_verdict_of(&f, &time), JL_VERDICT_IMPOSSIBLE);
	assert_true(jl_verdict_is_bad(JL_VERDICT_LOW) && jl_verdict_is_bad(JL_VERDICT_HIGH) &&
		    jl_verdict_is_bad(JL_VERDICT_IMPOSSIBLE));
	assert_false(jl_verdict_is_bad(JL_VERDICT_NOISY) || jl_verdict_is_bad(JL_VERDICT_FIRST));
}

#define N 8
struct past {
	struct jl_record records[N];
	const struct jl_record *list[N];
	struct jl_record_metric metrics[N], pairs[N][2];
	struct jl_record_item params[N][2];
	char ids[N][32], runs[N][32];
	double samples[N][10];
};

/* Newest first; the newest has the largest id. */
static void fill(struct past *p, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		snprintf(p->ids[i], sizeof(p->ids[i]), "%02zu", n - i);
		snprintf(p->runs[i], sizeof(p->runs[i]), "r%zu", n - i);
		p->params[i][0] = (struct jl_record_item){ .key = "size_B", .number = 1 << 28 };
		p->params[i][1] = (struct jl_record_item){ .key = "n_outliers", .number = (double)i };
		p->metrics[i] = (struct jl_record_metric){ .name = "mem_Bps", .value = jl_summary_of(values[i]) };
		p->metrics[i].value.lo95 = values[i] * 0.99;
		p->metrics[i].value.hi95 = values[i] * 1.01;
		for (size_t k = 0; k < 10; k++)
			p->samples[i][k] = (1 + 0.0001 * (double)k) / values[i];
		p->records[i] = (struct jl_record){ .id = p->ids[i],
						    .run = p->runs[i],
						    .kind = "memory",
						    .backend = "cpu",
						    .params = p->params[i],
						    .n_params = 2,
						    .metrics = &p->metrics[i],
						    .n_metrics = 1,
						    .samples_s = p->samples[i],
						    .n_samples = 10,
						    .noise = jl_record_noise_unknown() };
		p->list[i] = &p->records[i];
	}
}

static void history(void **state)
{
	const double values[N] = { 80, 100, 101, 99, 100, 102, 98, 50 };
	struct past p;
	struct jl_history h;
	struct jl_figure f;

	(void)state;
	fill(&p, values, N);
	p.records[7].noise.noisy = true; /* does not count */
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_int_equal(h.n, 6);
	assert_int_equal(h.n_noisy, 1);
	assert_true(h.expect.lo > 85 && h.expect.lo <= 98 && h.expect.hi < 118);
	f = jl_figure_of(p.list[0], NULL);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
	jl_check_history(&h, p.list[1], p.list, N, false); /* what is newer is not its past */
	assert_int_equal(h.n, 5);
	f = jl_figure_of(p.list[1], NULL);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_NORMAL);
	/* one earlier run is not enough to judge by */
	jl_check_history(&h, p.list[0], p.list, 2, false);
	f = jl_figure_of(p.list[0], NULL);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_UNJUDGED);
	p.params[0][0].number = 2048; /* another thing */
	assert_false(jl_check_alike(p.list[0], p.list[1]));
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_int_equal(h.n, 0);
	assert_true(isnan(h.expect.lo));
}

/* Small messages between processes of one host: a jump by 1.9 between quiet runs is no loss, by 4 it is. */
static void small_shm(void **state)
{
	const double values[N] = { 17.5, 33, 34, 32.5, 33.5, 33, 34, 33 };
	struct past p;
	struct jl_history h;
	struct jl_figure f;

	(void)state;
	fill(&p, values, N);
	jl_check_history(&h, p.list[0], p.list, N, false); /* as memory it is low */
	f = jl_figure_of(p.list[0], NULL);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
	for (size_t i = 0; i < N; i++) {
		p.records[i].kind = "allreduce";
		p.records[i].backend = "shm";
		p.params[i][0].number = 1024;
	}
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_UNJUDGED);
	assert_true(h.spread_ln >= 0.2);
	f.value = f.lo95 = f.hi95 = 8;
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
	for (size_t i = 0; i < N; i++)
		p.params[i][0].number = 1 << 28; /* large ones go by the memory, not by the caches */
	f = jl_figure_of(p.list[0], NULL);
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
}

/* Arrays that a cache may hold in part go by what others leave of it; a third less is a loss all the same. */
static void cached_arrays(void **state)
{
	const double values[N] = { 82.6, 103, 104, 102, 103, 105, 101, 103 };
	struct past p;
	struct jl_history h;
	struct jl_figure f;

	(void)state;
	fill(&p, values, N);
	f = jl_figure_of(p.list[0], NULL);
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
	for (size_t i = 0; i < N; i++)
		p.params[i][0].number = 1 << 25;
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_UNJUDGED);
	f.value = f.lo95 = f.hi95 = 103 * 115.0 / 242.0; /* as sixteen cores did beside one busy process */
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_UNJUDGED);
	f.value = f.lo95 = f.hi95 = 33;
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
}

/* A copy of a few microseconds goes by how it is launched; one that takes longer and loses as much is slow, and so is a product, which is replayed. */
static void brief_kernels(void **state)
{
	const double values[N] = { 250, 381, 380, 378, 381, 379, 380, 381 };
	struct past p;
	struct jl_history h;
	struct jl_figure f;

	(void)state;
	fill(&p, values, N);
	for (size_t i = 0; i < N; i++) {
		p.pairs[i][0] = p.metrics[i];
		p.pairs[i][1] = (struct jl_record_metric){ .name = "time_s",
							   .value = jl_summary_of(6e-6),
							   .less_is_better = true };
		p.records[i].backend = "cuda";
		p.records[i].metrics = p.pairs[i];
		p.records[i].n_metrics = 2;
	}
	f = jl_figure_of(p.list[0], NULL);
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_UNJUDGED);
	f.value = f.lo95 = f.hi95 = 190;
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
	for (size_t i = 0; i < N; i++)
		p.records[i].kind = "gemm";
	f = jl_figure_of(p.list[0], NULL);
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
	for (size_t i = 0; i < N; i++)
		p.records[i].kind = "memory";
	p.pairs[0][1].value.median = 200e-6;
	f = jl_figure_of(p.list[0], NULL);
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
}

/* The other of two speeds may come first after many runs of one: a hundred quiet runs of which a few are 1.9x slower, none low. */
static void two_speeds(void **state)
{
	enum { N_RUNS = 105 };
	static struct jl_record records[N_RUNS];
	static struct jl_record_metric metrics[N_RUNS];
	static char ids[N_RUNS][8];
	const struct jl_record *list[N_RUNS];
	struct jl_record_item size = { .key = "size_B", .number = 1048576 };

	(void)state;
	for (int every = 10; every <= 60; every += 10) {
		for (size_t i = 0; i < N_RUNS; i++) { /* oldest first; newest first in the list */
			const double jitter = 1 + 0.04 * sin((double)i * 2.4);
			const double value = i % (size_t)every == (size_t)every - 1 ? 17.5 : 33;

			snprintf(ids[i], sizeof(ids[i]), "%04zu", i);
			metrics[i] = (struct jl_record_metric){ .name = "algbw_Bps",
								.value = jl_summary_of(value * jitter) };
			records[i] = (struct jl_record){ .id = ids[i],
							 .run = ids[i],
							 .kind = "allreduce",
							 .backend = "shm",
							 .params = &size,
							 .n_params = 1,
							 .metrics = &metrics[i],
							 .n_metrics = 1,
							 .noise = jl_record_noise_unknown() };
			list[N_RUNS - 1 - i] = &records[i];
		}
		for (size_t i = 5; i < N_RUNS; i++) {
			const struct jl_figure f = jl_figure_of(&records[i], NULL);
			struct jl_history h;

			jl_check_history(&h, &records[i], list, N_RUNS, false);
			assert_int_not_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
		}
	}
}

/* After three quiet runs a fifth less on a GPU and 30 % less on a host are low, in nearly all of many drawn machines; healthy runs are not. A run
 * of a sick day and a slow decline do not move what is usual. */
static void power_of_history(void **state)
{
	enum { N_DRAWN = 2000 };
	uint64_t seed = 7;
	size_t n_found[2] = { 0 }, n_false[2] = { 0 };
	struct past p;
	struct jl_history h;

	(void)state;
	for (size_t drawn = 0; drawn < 2 * N_DRAWN; drawn++) {
		const bool gpu = drawn % 2;
		const double sd = gpu ? 0.012 : 0.03, slow = gpu ? 0.8 : 0.7;
		double values[4];
		struct jl_figure f;

		for (size_t i = 0; i < 4; i++) {
			double sum = -6;

			for (size_t k = 0; k < 12; k++) {
				seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
				sum += (double)(seed >> 11) / 9007199254740992.0;
			}
			values[i] = 100 * exp(sd * sum);
		}
		fill(&p, values, 4);
		for (size_t i = 0; i < 4; i++)
			p.records[i].backend = gpu ? "cuda" : "cpu";
		jl_check_history(&h, p.list[0], p.list, 4, false);
		assert_true(jl_expect_can_judge(&h.expect) && h.expect.notice < 1.1 / slow);
		f = figure(values[0], values[0] * 0.995, values[0] * 1.005, false);
		n_false[gpu] += jl_verdict_of(&f, &h.expect) == JL_VERDICT_LOW;
		f = figure(values[0] * slow, values[0] * slow * 0.995, values[0] * slow * 1.005, false);
		n_found[gpu] += jl_verdict_of(&f, &h.expect) == JL_VERDICT_LOW;
	}
	for (size_t i = 0; i < 2; i++)
		if (n_found[i] < N_DRAWN * 95 / 100 || n_false[i] > N_DRAWN / 1000)
			fail_msg("%s: %zu found, %zu false", i ? "GPU" : "host", n_found[i], n_false[i]);
	const double sick[N] = { 84, 100, 101, 60, 99, 100, 101, 100 }, worse[N] = { 84, 86, 89, 91, 97, 99, 100, 101 };
	struct jl_figure f;

	fill(&p, sick, N);
	jl_check_history(&h, p.list[0], p.list, N, false);
	f = jl_figure_of(p.list[0], NULL);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
	fill(&p, worse, N);
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_true(h.drift_frac < -0.05 && h.expect.value >= 97);
}

/* Noise is no alibi: what holds a GPU's clock down makes a figure low, not uncertain; other processes do not disturb long kernels. */
static void held_clocks(void **state)
{
	const struct jl_expect e = { .lo = 630, .value = 680, .hi = 740, .bound = 1088, .notice = 1.3 };
	const double values[1] = { 497 };
	struct past p;
	struct jl_figure f;

	(void)state;
	fill(&p, values, 1);
	p.records[0].noise = jl_record_noise_unknown();
	p.records[0].noise.noisy = true;
	f = jl_figure_of(p.list[0], NULL);
	assert_int_equal(jl_verdict_of(&f, &e), JL_VERDICT_NOISY); /* nobody says by what */
	p.records[0].noise.clock_frac = 0.5;
	f = jl_figure_of(p.list[0], NULL);
	assert_int_equal(jl_verdict_of(&f, &e), JL_VERDICT_LOW);
	p.metrics[0].value.lo95 = 400; /* unsteady */
	f = jl_figure_of(p.list[0], NULL);
	assert_int_equal(jl_verdict_of(&f, &e), JL_VERDICT_NOISY);
	p.metrics[0].value.lo95 = 495;
	p.records[0].noise.cpu_other_frac = 0.3; /* it is a CPU's figure: they took its time */
	f = jl_figure_of(p.list[0], NULL);
	assert_int_equal(jl_verdict_of(&f, &e), JL_VERDICT_NOISY);
	p.records[0].backend = "cuda";
	p.records[0].noise.clock_frac = NAN;
	f = jl_figure_of(p.list[0], NULL);
	assert_int_equal(jl_verdict_of(&f, &e), JL_VERDICT_LOW);
}

/* A host that goes back and forth is unsteady; one that became slower once is not. */
static void steadiness(void **state)
{
	const double back[N] = { 60, 100, 101, 62, 100, 61, 98, 100 }, once[N] = { 50, 51, 50, 50, 100, 101, 99, 100 };
	const double other[N] = { 84, 100, 101, 99, 100, 102, 98, 100 };
	struct jl_steadiness s;
	struct jl_history h;
	struct jl_figure f;
	struct past p;

	(void)state;
	fill(&p, back, N);
	jl_check_steadiness(&s, p.list, N);
	assert_true(s.n_figures == 1 && s.n_jumps == 1 && s.worst_times > 1.6 && s.worst_times < 1.7);
	for (size_t i = 0; i < N; i++)
		p.records[i].noise.noisy = back[i] < 70; /* they said so themselves */
	jl_check_steadiness(&s, p.list, N);
	assert_int_equal(s.n_jumps, 0);
	fill(&p, once, N);
	jl_check_steadiness(&s, p.list, N);
	assert_int_equal(s.n_jumps, 0);
	/* what one figure does, another may do */
	fill(&p, other, N);
	f = jl_figure_of(p.list[0], NULL);
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
	jl_check_history(&h, p.list[0], p.list, 4, true);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_UNJUDGED);
	/* after five it speaks for itself, and no finer than by a fifth */
	jl_check_history(&h, p.list[0], p.list, N, true);
	assert_true(h.expect.notice > 1.25 && h.expect.notice < 1.4);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_NORMAL);
	f = figure(75, 74, 76, false);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
}

/* Five quiet runs of a drive let half of its rate be found, three do not; of drawn healthy drives and hosts one in 1,000 at most is called low. */
static void own_spread(void **state)
{
	enum { N_DRAWN = 10000 };
	const double values[N] = { 52, 100, 101, 99, 100, 102, 98, 100 };
	uint64_t seed = 11;
	size_t n_false[2] = { 0 };
	struct past p;
	struct jl_history h;
	struct jl_figure f;

	(void)state;
	fill(&p, values, N);
	for (size_t i = 0; i < N; i++)
		p.records[i].kind = "storage";
	f = jl_figure_of(p.list[0], NULL);
	jl_check_history(&h, p.list[0], p.list, 4, false);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_UNJUDGED);
	jl_check_history(&h, p.list[0], p.list, 6, false);
	assert_int_equal(jl_verdict_of(&f, &h.expect), JL_VERDICT_LOW);
	const double fine = h.expect.lo;

	/* the spread of another figure of its kind counts */
	for (size_t i = 1; i < N; i += 2) {
		p.params[i][0].number = 4096;
		p.metrics[i].value.median = 100 * (i % 4 == 1 ? 0.5 : 1.5);
	}
	p.params[7][0].number = p.params[5][0].number = 1 << 28;
	p.metrics[7].value.median = p.metrics[5].value.median = 100;
	jl_check_history(&h, p.list[0], p.list, N, false);
	assert_true(h.n == 5 && h.expect.lo < fine - 3);
	for (size_t drawn = 0; drawn < 2 * N_DRAWN; drawn++) {
		const bool storage = drawn % 2;
		const double sd = 0.01 * (double)(1 + drawn % 7);
		double drawn_values[6];

		for (size_t i = 0; i < 6; i++) {
			double sum = -6;

			for (size_t k = 0; k < 12; k++) {
				seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
				sum += (double)(seed >> 11) / 9007199254740992.0;
			}
			drawn_values[i] = 100 * exp(sd * sum);
		}
		fill(&p, drawn_values, 6);
		for (size_t i = 0; i < 6; i++)
			p.records[i].kind = storage ? "storage" : "net";
		jl_check_history(&h, p.list[0], p.list, 6, false);
		f = figure(drawn_values[0], drawn_values[0] * 0.999, drawn_values[0] * 1.001, false);
		n_false[storage] += jl_verdict_of(&f, &h.expect) == JL_VERDICT_LOW;
	}
	if (n_false[0] > N_DRAWN / 1000 || n_false[1] > N_DRAWN / 1000)
		fail_msg("%zu and %zu of %d false", n_false[0], n_false[1], N_DRAWN);
}

/* Under a CPU quota single samples jump, their mean over its periods does not: that is judged. */
static void quota(void **state)
{
	enum { N_SAMPLES = 80 };
	const struct jl_expect e = { .lo = 90, .value = 100, .hi = 110, .bound = NAN, .notice = 1.2 };
	const double values[1] = { 100 };
	double samples[N_SAMPLES];
	struct past p;
	struct jl_figure f;

	(void)state;
	fill(&p, values, 1);
	for (size_t i = 0; i < N_SAMPLES; i++)
		samples[i] = i % 4 ? 0.02 : 0.06;
	p.records[0].samples_s = samples;
	p.records[0].n_samples = N_SAMPLES;
	p.metrics[0].value.lo95 = 33;
	p.records[0].noise = jl_record_noise_unknown();
	p.records[0].noise.noisy = true;
	p.records[0].noise.wait_frac = 0.3;
	f = jl_figure_of(p.list[0], NULL);
	assert_int_equal(jl_verdict_of(&f, &e), JL_VERDICT_NOISY);
	p.records[0].noise.throttled_frac = 0.3;
	f = jl_figure_of(p.list[0], NULL);
	assert_true(f.value > 66 && f.value < 67 && f.lo95 > 60 && f.hi95 < 73);
	assert_int_equal(jl_verdict_of(&f, &e), JL_VERDICT_LOW);
	p.records[0].noise.cpu_other_frac = 0.5; /* not by the quota alone */
	f = jl_figure_of(p.list[0], NULL);
	assert_int_equal(jl_verdict_of(&f, &e), JL_VERDICT_NOISY);
}

static void changes(void **state)
{
	const double values[3] = { 80, 97, 100 };
	struct past p;
	struct jl_arena arena;
	struct jl_change c;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	fill(&p, values, 3);
	assert_int_equal(jl_check_change(&c, p.list[0], p.list[2], NAN, &arena, &err), JL_OK);
	assert_int_equal(c.verdict, JL_VERDICT_LOW);
	assert_true(c.p < JL_CHANGE_P && c.apart && fabs(c.ratio - 0.8) < 1e-9);
	assert_int_equal(jl_check_change(&c, p.list[2], p.list[0], NAN, &arena, &err), JL_OK);
	assert_int_equal(c.verdict, JL_VERDICT_GOOD);
	/* significant but small; large but usual between runs; large but the intervals touch; noisy */
	assert_int_equal(jl_check_change(&c, p.list[1], p.list[2], NAN, &arena, &err), JL_OK);
	assert_int_equal(c.verdict, JL_VERDICT_NORMAL);
	assert_int_equal(jl_check_change(&c, p.list[0], p.list[2], 0.2, &arena, &err), JL_OK);
	assert_int_equal(c.verdict, JL_VERDICT_NORMAL);
	p.metrics[0].value.hi95 = 120;
	assert_int_equal(jl_check_change(&c, p.list[0], p.list[2], NAN, &arena, &err), JL_OK);
	assert_int_equal(c.verdict, JL_VERDICT_NORMAL);
	p.metrics[0].value.hi95 = 81;
	p.records[2].noise.noisy = true;
	assert_int_equal(jl_check_change(&c, p.list[0], p.list[2], NAN, &arena, &err), JL_OK);
	assert_int_equal(c.verdict, JL_VERDICT_NOISY);
	jl_arena_release(&arena);
}

/* A published row near the system widens the range; others do not touch it. */
static void published(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_published row = { .kind = JL_ALLREDUCE,
				    .size_B = 8e9,
				    .n_ranks = 16,
				    .n_nodes = 2,
				    .intra = JL_WIRE_NVLINK3,
				    .inter = JL_WIRE_EFA,
				    .algbw_Bps = 10e9,
				    .bound_Bps = 50e9 };
	struct jl_coll_ask ask = { .ask = { .kind = JL_ALLREDUCE, .size_B = 16e9 }, .rows = &row, .n_rows = 1 };
	struct jl_coll_expect plain, e;
	struct jl_machine machine;
	struct jl_arena arena;
	struct jl_sys sys;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(jl_sys_parse(&sys, cat, "2x aws:p5.48xlarge", &arena, &err), JL_OK);
	assert_int_equal(jl_machine_make(&machine, cat, &sys, &err), JL_OK);
	ask.n_rows = 0;
	assert_int_equal(jl_check_collective(&plain, &machine, &ask, &err), JL_OK);
	ask.n_rows = 1;
	assert_int_equal(jl_check_collective(&e, &machine, &ask, &err), JL_OK);
	assert_int_equal(e.n_near, 1);
	assert_true(fabs(e.range.low - 0.2 * e.c.bound_Bps) < 1e-3 * e.c.bound_Bps && e.range.low < plain.range.low);
	assert_true(e.range.high == plain.range.high && e.range.high <= e.c.bound_Bps);
	const struct jl_published near = row;
	struct jl_published far[] = { near, near, near, near };

	far[0].inter = JL_WIRE_IB;
	far[1].n_nodes = 16;
	far[2].size_B = 1e6;
	far[3].kind = JL_ALLGATHER;
	ask.rows = far;
	ask.n_rows = 4;
	assert_int_equal(jl_check_collective(&e, &machine, &ask, &err), JL_OK);
	assert_int_equal(e.n_near, 0);
	assert_true(e.range.low == plain.range.low);
	/* what is expected is what is predicted, and no more than one of the hosts is expected to do; a verdict takes more */
	assert_true(e.range.lo == e.c.algbw_Bps.lo && e.range.hi <= e.c.algbw_Bps.hi);
	ask.ask.n_ranks = 8;
	assert_int_equal(jl_check_collective(&plain, &machine, &ask, &err), JL_OK);
	assert_true(e.range.hi <= plain.range.hi && e.range.high <= plain.range.high &&
		    e.range.most <= plain.range.most);
	assert_true(e.range.low < e.range.lo && e.range.high >= e.range.hi);
	jl_arena_release(&arena);
}

/* Small messages by their time, whatever bounds the row's own system has; a larger message is never expected to be faster. */
static void small_messages(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_published rows[] = {
		{ JL_ALLREDUCE, 1024, 16, 2, JL_WIRE_NVLINK3, JL_WIRE_EFA, 1024 / 165e-6, 50e9, 1 },
		{ JL_ALLREDUCE, 4096, 16, 2, JL_WIRE_NVLINK3, JL_WIRE_EFA, 4096 / 100e-6, 50e9, 1 },
		{ JL_ALLREDUCE, 65536, 32, 4, JL_WIRE_NVLINK3, JL_WIRE_EFA, 65536 / 900e-6, 50e9, 0.95 },
		{ JL_ALLREDUCE, 1048576, 16, 2, JL_WIRE_NVLINK3, JL_WIRE_EFA, 1048576 / 309e-6, 50e9, 0.6 },
		{ JL_ALLREDUCE, 1e9, 16, 2, JL_WIRE_NVLINK3, JL_WIRE_EFA, 41e9, 50e9, 0.01 },
	};
	struct jl_coll_ask ask = { .ask = { .kind = JL_ALLREDUCE }, .rows = rows, .n_rows = 5 };
	double fast_s = 0, slow_s = 0;
	struct jl_coll_expect e;
	struct jl_machine machine;
	struct jl_arena arena;
	struct jl_sys sys;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(jl_sys_parse(&sys, cat, "2x aws:p5.48xlarge", &arena, &err), JL_OK);
	assert_int_equal(jl_machine_make(&machine, cat, &sys, &err), JL_OK);
	ask.ask.size_B = 1024;
	assert_int_equal(jl_check_collective(&e, &machine, &ask, &err), JL_OK);
	assert_true(e.by_time && e.n_near == 2);
	assert_true(e.near_lo_s > 99e-6 && e.near_hi_s < 166e-6);
	assert_true(1024 / e.range.high > 40e-6); /* not stretched by the bounds, which differ eightfold */
	for (double size_B = 8; size_B < 64e9; size_B *= 1.37) {
		ask.ask.size_B = size_B;
		assert_int_equal(jl_check_collective(&e, &machine, &ask, &err), JL_OK);
		if (size_B / e.range.high < fast_s * (1 - 1e-9) || size_B / e.range.low < slow_s * (1 - 1e-9))
			fail_msg("%g B: %g to %g s after %g to %g s", size_B, size_B / e.range.high,
				 size_B / e.range.low, fast_s, slow_s);
		assert_true(e.range.low <= e.range.value && e.range.value <= e.range.high &&
			    e.range.high <= e.c.bound_Bps);
		fast_s = size_B / e.range.high;
		slow_s = size_B / e.range.low;
	}
	assert_false(e.by_time);
	jl_arena_release(&arena);
}

/* TCP: one NIC and the host's own work, not the sum of what is there for RDMA. */
static void network(void **state)
{
	static const struct {
		const char *system;
		double GBps;
		enum jl_verdict verdict;
	} rows[] = { { "2x aws:p5.48xlarge", 11, JL_VERDICT_UNJUDGED },
		     { "2x aws:p5.48xlarge", 25, JL_VERDICT_UNJUDGED },
		     { "2x aws:p5.48xlarge", 1, JL_VERDICT_UNJUDGED },
		     { "2x aws:p5.48xlarge", 60, JL_VERDICT_UNJUDGED },
		     { "2x aws:p5.48xlarge", 500, JL_VERDICT_IMPOSSIBLE },
		     { "2x(rtx-3090) over 10gbe", 1.17, JL_VERDICT_NORMAL },
		     { "2x(rtx-3090) over 10gbe", 0.8, JL_VERDICT_LOW } };
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_device_ask ask = { .kind = JL_CHECK_NET };
	struct jl_arena arena;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct jl_figure f = figure(rows[i].GBps * 1e9, NAN, NAN, false);
		struct jl_device_expect e;
		struct jl_sys sys;
		struct jl_err err;

		assert_int_equal(jl_sys_parse(&sys, cat, rows[i].system, &arena, &err), JL_OK);
		assert_int_equal(jl_check_device(&e, cat, &sys, &ask, &err), JL_OK);
		assert_true(e.range.lo <= e.range.value && e.range.value <= e.range.hi);
		if (jl_verdict_of(&f, &e.range) != rows[i].verdict)
			fail_msg("row %zu: %s", i, jl_verdict_name(jl_verdict_of(&f, &e.range)));
	}
	jl_arena_release(&arena);
}

/* Seed figures: 340 GB/s on 2 hosts is above what one alone reaches, 156 on 125 is normal, 40 is low, 300 cannot be. */
static void seed_figures(void **state)
{
	static const struct {
		const char *system;
		double GBps;
		enum jl_verdict verdict;
	} rows[] = { { "2x aws:p5.48xlarge", 340, JL_VERDICT_HIGH },
		     { "125x aws:p5.48xlarge", 156, JL_VERDICT_NORMAL },
		     { "125x aws:p5.48xlarge", 40, JL_VERDICT_LOW },
		     { "125x aws:p5.48xlarge", 300, JL_VERDICT_IMPOSSIBLE } };
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_coll_ask ask = { .ask = { .kind = JL_ALLREDUCE, .size_B = 16e9 } };
	struct jl_arena arena;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct jl_figure f = figure(rows[i].GBps * 1e9, NAN, NAN, false);
		struct jl_coll_expect e;
		struct jl_machine machine;
		struct jl_next next;
		struct jl_sys sys;
		struct jl_err err;

		assert_int_equal(jl_sys_parse(&sys, cat, rows[i].system, &arena, &err), JL_OK);
		assert_int_equal(jl_machine_make(&machine, cat, &sys, &err), JL_OK);
		assert_int_equal(jl_check_collective(&e, &machine, &ask, &err), JL_OK);
		assert_int_equal(jl_verdict_of(&f, &e.range), rows[i].verdict);
		jl_check_next(&next, &(struct jl_next_ask){ .kind = "allreduce",
							    .verdict = rows[i].verdict,
							    .value = f.value,
							    .on_gpu = true,
							    .coll = &e,
							    .intra = jl_wire_of(sys.join),
							    .inter = jl_wire_of(sys.net) });
		assert_int_equal(next.n > 0, jl_verdict_is_bad(rows[i].verdict));
		if (rows[i].verdict == JL_VERDICT_IMPOSSIBLE) /* 300 of busbw is 150 of algbw */
			assert_non_null(strstr(next.items[0].en, "busbw"));
	}
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(verdicts),       cmocka_unit_test(history),
					    cmocka_unit_test(small_shm),      cmocka_unit_test(two_speeds),
					    cmocka_unit_test(cached_arrays),  cmocka_unit_test(brief_kernels),
					    cmocka_unit_test(own_spread),     cmocka_unit_test(quota),
					    cmocka_unit_test(steadiness),     cmocka_unit_test(power_of_history),
					    cmocka_unit_test(held_clocks),    cmocka_unit_test(changes),
					    cmocka_unit_test(published),      cmocka_unit_test(seed_figures),
					    cmocka_unit_test(small_messages), cmocka_unit_test(network) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
