/* A slow machine among many: found when it is there, nobody accused when it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "check/nodes.h"

#define NODES   16
#define FIGURES 12

static uint64_t seed = 88172645463325252u;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Rates of machines that are alike but for chance: some figures spread more than others, and now and then one is far off. */
static void fleet(double *rates, size_t n_nodes, double sd, double wild)
{
	for (size_t f = 0; f < FIGURES; f++)
		for (size_t i = 0; i < n_nodes; i++)
			rates[f * n_nodes + i] = 1e9 * (double)(f + 1) *
						 exp(sd * (1 + (double)(f % 3) / 2) * normal() +
						     (uniform() < wild ? 0.05 * normal() : 0));
}

static size_t n_called(const double *rates, size_t n_nodes, size_t planted, bool *ret_found)
{
	struct jl_node_score scores[64];
	struct jl_arena arena;
	struct jl_err err = { 0 };
	double least_ln;
	size_t n = 0;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(jl_nodes_weigh(scores, &least_ln, rates, n_nodes, FIGURES, &arena, &err), JL_OK);
	assert_true(n_nodes < JL_NODES_LEAST ? isnan(least_ln) : least_ln > 0);
	*ret_found = false;
	for (size_t i = 0; i < n_nodes; i++) {
		const bool slow = scores[i].slow || scores[i].slow_in;

		if (i == planted)
			*ret_found = slow;
		else
			n += slow;
	}
	jl_arena_release(&arena);
	return n;
}

static void test_planted(void **state)
{
	double rates[NODES * FIGURES];
	size_t n_found = 0, n_false = 0, n_runs = 300;
	bool found;

	(void)state;
	for (size_t run = 0; run < n_runs; run++) { /* slow in everything */
		fleet(rates, NODES, 0.02, 0.02);
		for (size_t f = 0; f < FIGURES; f++)
			rates[f * NODES + run % NODES] *= 0.85;
		n_false += n_called(rates, NODES, run % NODES, &found) > 0;
		n_found += found;
	}
	assert_int_equal(n_found, n_runs);
	assert_true((double)n_false <= JL_NODES_ALARMS * (double)n_runs);
	n_found = 0;
	for (size_t run = 0; run < n_runs;
	     run++) { /* in one figure alone, by a third: a bad DIMM, a link at half its width */
		fleet(rates, NODES, 0.02, 0.02);
		rates[(size_t)3 * NODES + run % NODES] *= 0.67;
		n_called(rates, NODES, run % NODES, &found);
		n_found += found;
	}
	assert_true(n_found >= n_runs * 95 / 100);
}

static void test_nobody(void **state)
{
	double rates[64 * FIGURES];
	size_t sizes[] = { 2, 3, 4, 8, 16, 64 };
	bool found;

	(void)state;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		size_t n_false = 0, n_runs = 400;

		for (size_t run = 0; run < n_runs; run++) {
			fleet(rates, sizes[k], 0.005 + 0.01 * (double)(run % 5), 0.02);
			n_false += n_called(rates, sizes[k], SIZE_MAX, &found) > 0;
		}
		if ((double)n_false > JL_NODES_ALARMS * (double)n_runs)
			fail_msg("%zu nodes: %zu of %zu fleets accuse somebody", sizes[k], n_false, n_runs);
	}
}

static void test_gaps(void **state)
{
	double rates[NODES * FIGURES];
	bool found;

	(void)state;
	fleet(rates, NODES, 0.02, 0);
	for (size_t i = 0; i < (size_t)NODES * FIGURES; i += 5) /* some were not measured, one node not at all */
		rates[i] = NAN;
	for (size_t f = 0; f < FIGURES; f++) {
		rates[f * NODES + 2] = NAN;
		rates[f * NODES + 9] *= 0.8;
	}
	assert_int_equal(n_called(rates, NODES, 9, &found), 0);
	assert_true(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_planted), cmocka_unit_test(test_nobody),
					    cmocka_unit_test(test_gaps) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
