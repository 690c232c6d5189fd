/* A cluster's figures with something wrong in them: the slow machine and the bad link are named, and nobody else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "bench/cluster.h"

static uint64_t seed = 88172645463325252u;

static double jitter(double value, double by)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return value * (1 + by * ((double)(seed >> 11) / 4503599627370496.0 - 1));
}

static void fill(struct jl_cluster *c, int n)
{
	jl_cluster_begin(c);
	c->n = n;
	for (int i = 0; i < n; i++) {
		(void)snprintf(c->hosts[i], sizeof(c->hosts[i]), "node%02d", i);
		c->rates[JL_CLUSTER_GEMM][i] = jitter(1e12, 0.03);
		c->rates[JL_CLUSTER_MEMORY][i] = jitter(2e11, 0.03);
		for (int j = 0; j < n; j++)
			if (i != j)
				c->pair_Bps[i][j] = jitter(11e9, 0.05);
	}
}

static void weigh(struct jl_cluster *c)
{
	struct jl_arena arena;
	struct jl_err err = { 0 };

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(jl_cluster_weigh(c, &arena, &err), JL_OK);
	jl_arena_release(&arena);
}

static void all_alike(void **state)
{
	static struct jl_cluster c;

	(void)state;
	for (int n = 2; n <= 32; n *= 2) {
		fill(&c, n);
		weigh(&c);
		assert_int_equal(c.n_slow, 0);
		assert_int_equal(c.n_bad, 0);
		assert_true(n < JL_NODES_LEAST ? isnan(c.least_ln) : c.least_ln > 0);
		assert_true(fabs(c.pair_median_Bps / 11e9 - 1) < 0.05);
	}
}

static void a_slow_machine(void **state)
{
	static struct jl_cluster c;

	(void)state;
	fill(&c, 8); /* everything that it does, its links too */
	for (int j = 0; j < 8; j++) {
		c.pair_Bps[5][j] *= 0.5;
		c.pair_Bps[j][5] *= 0.5;
	}
	c.rates[JL_CLUSTER_GEMM][5] *= 0.7;
	c.rates[JL_CLUSTER_MEMORY][5] *= 0.7;
	weigh(&c);
	assert_int_equal(c.n_slow, 1);
	assert_true(c.scores[5].slow || c.scores[5].slow_in);
	assert_int_equal(c.n_bad, 0); /* its links are slow because it is */
}

static void a_bad_link(void **state)
{
	static struct jl_cluster c;

	(void)state;
	fill(&c, 8);
	c.pair_Bps[2][6] *= 0.3;
	weigh(&c);
	assert_int_equal(c.n_slow, 0);
	assert_int_equal(c.n_bad, 1);
	assert_int_equal(c.bad[0].from, 2);
	assert_int_equal(c.bad[0].to, 6);
}

static void half_of_it(void **state)
{
	static struct jl_cluster c;

	(void)state;
	fill(&c, 6); /* it ended before the links were measured */
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 6; j++)
			c.pair_Bps[i][j] = NAN;
	c.rates[JL_CLUSTER_MEMORY][1] *= 0.3;
	weigh(&c);
	assert_int_equal(c.n_slow, 1);
	assert_true(isnan(c.pair_median_Bps) && c.n_bad == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_alike), cmocka_unit_test(a_slow_machine),
					    cmocka_unit_test(a_bad_link), cmocka_unit_test(half_of_it) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
