/* What a collective should reach, and what it cannot. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "predict/collective_case.h"

static struct jl_arena arena;
static const struct jl_catalog *cat;

static int setup(void **state)
{
	(void)state;
	cat = jl_catalog_embedded();
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static struct jl_machine hosts(const char *system, int n_nodes)
{
	struct jl_machine machine = { .device_fitted = false };
	struct jl_sys sys;
	struct jl_err err = { 0 };

	if (jl_sys_parse(&sys, cat, system, &arena, &err) ||
	    jl_machine_hosts(&machine, cat, &sys, n_nodes, &arena, &err))
		fail_msg("%d of %s: %s", n_nodes, system, err.en);
	return machine;
}

static struct jl_collective_case weigh(const struct jl_machine *machine, enum jl_collective_kind kind, double size_B)
{
	const struct jl_collective_ask ask = { .kind = kind, .size_B = size_B };
	struct jl_collective_case c = { .n_ranks = 0 };
	struct jl_err err = { 0 };

	if (jl_collective_case(&c, machine, &ask, &err))
		fail_msg("%s", err.en);
	return c;
}

/* An operator's own figures: 340 GB/s on 2 hosts is more than one host alone is known to reach, 156 on 125 is normal; 300 on 125 cannot
 * be. */
static void test_node_series(void **state)
{
	struct jl_machine two = hosts("aws:p5.48xlarge", 2), many = hosts("aws:p5.48xlarge", 125);
	const struct jl_collective_case a = weigh(&two, JL_ALLREDUCE, 16e9), b = weigh(&many, JL_ALLREDUCE, 16e9);

	(void)state;
	assert_true(a.algbw_Bps.lo < 340e9 && a.algbw_Bps.hi <= a.one_host_Bps.hi && 340e9 < a.bound_Bps);
	assert_true(b.algbw_Bps.lo < 156e9 && 156e9 < b.algbw_Bps.hi);
	assert_true(300e9 > b.bound_Bps && b.algbw_Bps.hi <= b.bound_Bps);
	assert_true(fabs(b.bound_Bps / (400e9 * 125 / 248) - 1) < 1e-9);
	assert_int_equal(b.limit, JL_LIMIT_NETWORK);
	assert_false(b.in_network);
	assert_non_null(strstr(b.limit_en, "1.98"));
	assert_non_null(strstr(b.limit_text, "1.98"));
	assert_true(fabs(b.busbw_factor - 1.998) < 1e-9 && b.n_nodes == 125 && b.n_ranks == 1000);
}

static void test_more_hosts_are_never_faster(void **state)
{
	double last = INFINITY, bound = INFINITY;

	(void)state;
	for (int n = 2; n <= 4096; n *= 2) {
		struct jl_machine m = hosts("aws:p5.48xlarge", n);
		const struct jl_collective_case c = weigh(&m, JL_ALLREDUCE, 16e9);

		assert_true(c.algbw_Bps.value <= last && c.bound_Bps <= bound && c.algbw_Bps.value <= c.bound_Bps);
		assert_true(c.algbw_Bps.lo < c.algbw_Bps.value && c.algbw_Bps.value <= c.algbw_Bps.hi);
		last = c.algbw_Bps.value;
		bound = c.bound_Bps;
	}
}

static void test_inside_a_host(void **state)
{
	struct jl_machine m = hosts("dgx-h100", 1);
	const struct jl_collective_case gather = weigh(&m, JL_ALLGATHER, 1e9), reduce = weigh(&m, JL_ALLREDUCE, 1e9);
	const struct jl_collective_ask four = { .kind = JL_ALLGATHER, .size_B = 1e9, .n_ranks = 4 };
	struct jl_collective_case part;

	(void)state;
	assert_int_equal(gather.limit, JL_LIMIT_LINK);
	assert_non_null(strstr(gather.limit_en, "0.875 times"));
	assert_true(reduce.in_network && reduce.bound_Bps > 450e9 * 8 / 14);
	assert_int_equal(jl_collective_case(&part, &m, &four, NULL), JL_OK);
	assert_true(part.n_ranks == 4 && part.n_per_node == 4 && part.algbw_Bps.value > gather.algbw_Bps.value);
}

static void test_every_kind_is_below_its_bound(void **state)
{
	static const char *const systems[] = { "dgx-h100", "4x dgx-a100-80gb", "10x rtx-3090 via pcie4-no-p2p",
					       "2x rtx-3090 via nvlink-bridge", "2x(10x rtx-3090) over 10gbe-lacp2" };

	(void)state;
	for (size_t s = 0; s < sizeof(systems) / sizeof(*systems); s++)
		for (int kind = 0; kind < JL_N_COLLECTIVE; kind++)
			for (double size_B = 1024; size_B < 1e11; size_B *= 32) {
				struct jl_machine m;
				struct jl_sys sys;
				struct jl_collective_case c;

				assert_int_equal(jl_sys_parse(&sys, cat, systems[s], &arena, NULL), JL_OK);
				assert_int_equal(jl_machine_make(&m, cat, &sys, NULL), JL_OK);
				c = weigh(&m, (enum jl_collective_kind)kind, size_B);
				assert_true(c.algbw_Bps.value > 0 && c.algbw_Bps.value <= c.bound_Bps * (1 + 1e-9));
				assert_true(c.limit_en[0] && c.limit_text[0] && c.limit_Bps > 0);
			}
}

static void test_names_and_refusals(void **state)
{
	struct jl_machine m = hosts("dgx-h100", 2), one = hosts("rtx-3090", 1);
	enum jl_collective_kind kind;
	struct jl_collective_case c;

	(void)state;
	assert_true(jl_collective_by_name(&kind, "all_reduce_perf") && kind == JL_ALLREDUCE);
	assert_true(jl_collective_by_name(&kind, "AllGather") && kind == JL_ALLGATHER);
	assert_true(jl_collective_by_name(&kind, "reduce-scatter") && kind == JL_REDUCESCATTER);
	assert_false(jl_collective_by_name(&kind, "llama-3-8b"));
	assert_false(jl_collective_by_name(&kind, ""));
	assert_int_equal(jl_collective_case(&c, &one, &(struct jl_collective_ask){ .size_B = 1e6 }, NULL), JL_E_RANGE);
	assert_int_equal(jl_collective_case(&c, &m, &(struct jl_collective_ask){ .size_B = 0 }, NULL), JL_E_RANGE);
	assert_int_equal(jl_collective_case(&c, &m, &(struct jl_collective_ask){ .size_B = 1, .n_ranks = 11 }, NULL),
			 JL_E_RANGE);
}

/* The bridge is named where it bounds; beyond a pair the path that bridges do not join. */
static void test_bridges_are_named_for_what_they_bound(void **state)
{
	struct jl_machine two = hosts("2x rtx-3090 via nvlink-bridge", 1),
			  four = hosts("4x rtx-3090 via nvlink-bridge", 1);
	const struct jl_collective_case a = weigh(&two, JL_ALLREDUCE, 1e9), b = weigh(&four, JL_ALLREDUCE, 1e9);

	(void)state;
	assert_non_null(strstr(a.limit_en, "nvlink-bridge"));
	assert_true(fabs(a.limit_Bps / 56.25e9 - 1) < 0.01);
	assert_null(strstr(b.limit_en, "nvlink-bridge"));
	assert_non_null(strstr(b.limit_en, "pcie4-no-p2p"));
	assert_true(b.limit_Bps < 40e9);
}

static double busbw_Bps(const struct jl_collective_case *c, double algbw_Bps)
{
	return algbw_Bps * c->busbw_factor;
}

/* Every card of the catalog by every PCIe: a newer one is never slower, nor are peers slower than the way through the host; and what a
 * training run exchanges lies in the interval of the collective by itself. */
static double path_s(const char *gpu, int n, const char *join, const char *more)
{
	const struct jl_collective coll = { .kind = JL_ALLREDUCE, .size_B = 1e9, .n_ranks = n };
	char text[160];

	(void)snprintf(text, sizeof(text), "%dx %s via %s%s", n, gpu, join, more);
	const struct jl_machine m = hosts(text, 1);
	const struct jl_collective_case c = weigh(&m, JL_ALLREDUCE, coll.size_B);
	const double run_Bps = coll.size_B / jl_collective_cost(&m.fabric, &coll).time_s;

	if (!(run_Bps >= 0.9 * c.algbw_Bps.lo && run_Bps <= 1.1 * c.algbw_Bps.hi))
		fail_msg("%s: %.3g GB/s in a run, %.3g to %.3g alone", text, run_Bps / 1e9, c.algbw_Bps.lo / 1e9,
			 c.algbw_Bps.hi / 1e9);
	return c.time_s;
}

static void test_pcie_paths_agree(void **state)
{
	static const char *const joins[] = { "pcie3", "pcie4", "pcie5" };
	static const int counts[] = { 2, 3, 4, 6, 8 };
	int n = 0;

	(void)state;
	for (size_t g = 0; g < cat->n_gpus; g++) {
		const char *id = cat->gpus[g].id;
		struct jl_sys sys;

		if (jl_sys_parse(&sys, cat, jl_arena_printf(&arena, "2x %s via pcie5", id), &arena, NULL))
			continue; /* no card */
		for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
			double peers_s = INFINITY, host_s = INFINITY;

			for (size_t j = 0; j < sizeof(joins) / sizeof(joins[0]); j++, n++) {
				const double peers = path_s(id, counts[k], joins[j], ""),
					     host = path_s(id, counts[k], joins[j], "-no-p2p");

				if (!(peers <= host * (1 + 1e-9)))
					fail_msg("%dx %s via %s: slower with P2P", counts[k], id, joins[j]);
				if (!(peers <= peers_s * (1 + 1e-9) && host <= host_s * (1 + 1e-9)))
					fail_msg("%dx %s via %s: slower than the generation before", counts[k], id,
						 joins[j]);
				peers_s = peers;
				host_s = host;
			}
		}
	}
	assert_true(n > 500);
}

/* Boxes whose owners published what they reach, as a user asks for them: RTX PRO 6000 servers at 20 and 41, eight RTX 5090 at 28, RTX 4090 at
 * 14 without P2P and 21 with it, six at 25; ten without P2P at 3.2. */
static void test_published_boxes(void **state)
{
	static const struct {
		const char *system;
		double size_B, busbw_Bps, within; /* a factor */
	} boxes[] = {
		{ "8x rtx-pro-6000-blackwell-server", 268435456, 20.3e9, 1.35 },
		{ "7x rtx-pro-6000-blackwell", 4294967296.0, 41.5e9, 1.8 },
		{ "8x rtx-5090", 8589934592.0, 28e9, 1.35 },
		{ "4x rtx-5090", 8589934592.0, 35e9, 1.4 },
		{ "8x rtx-4090", 134217728, 14.45e9, 1.25 },
		{ "8x rtx-4090 via pcie4", 134217728, 20.6e9, 1.25 },
		{ "6x rtx-4090 via pcie4", 4e9, 24.6e9, 1.35 },
		{ "10x rtx-3090 via pcie4-no-p2p", 1.22e9, 3.2e9, 1.35 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		const struct jl_machine m = hosts(boxes[i].system, 1);
		const struct jl_collective_case c = weigh(&m, JL_ALLREDUCE, boxes[i].size_B);

		if (!(fabs(log(busbw_Bps(&c, c.algbw_Bps.value) / boxes[i].busbw_Bps)) < log(boxes[i].within)))
			fail_msg("%s: %.3g GB/s", boxes[i].system, busbw_Bps(&c, c.algbw_Bps.value) / 1e9);
		/* a bad host is a quarter of a good one */
		if (boxes[i].busbw_Bps > 5e9)
			assert_true(busbw_Bps(&c, c.algbw_Bps.lo) < 7e9);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_node_series),        TEST(test_more_hosts_are_never_faster),
		TEST(test_inside_a_host),      TEST(test_every_kind_is_below_its_bound),
		TEST(test_names_and_refusals), TEST(test_bridges_are_named_for_what_they_bound),
		TEST(test_pcie_paths_agree),   TEST(test_published_boxes),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
