/* Collectives: bounds, symmetries, sharing of NICs and uplinks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/collective.h"

/* Round numbers, unfitted: the tested properties hold for any values. */
static struct jl_fabric dgx(int n_nodes)
{
	return (struct jl_fabric){
		.intra_kind = JL_INTRA_SWITCH,
		.n_per_node = 8,
		.n_nodes = n_nodes,
		.n_nics = 8,
		.launch_s = 5e-6,
		.net_start_s = 10e-6,
		.intra = { .rate_Bps = 450e9,
			   .eff_frac = 0.8,
			   .alpha_s = 2e-6,
			   .ll_frac = 0.3,
			   .ll_alpha_s = 1e-6,
			   .in_switch = 1,
			   .mid_frac = 0.9,
			   .mid_s = 10e-6,
			   .setup_s = 20e-6,
			   .segment_s = 4e-6,
			   .copy_frac = 0.4,
			   .switch_frac = 0.8,
			   .switch_alpha_s = 8e-6,
			   .alltoall_frac = 0.8 },
		.inter = { .rate_Bps = 400e9,
			   .eff_frac = 0.95,
			   .alpha_s = 12e-6,
			   .ll_frac = 0.1,
			   .ll_alpha_s = 6e-6,
			   .mid_frac = 0.4,
			   .mid_s = 10e-6,
			   .setup_s = 20e-6,
			   .segment_s = 5e-6,
			   .tree_frac = 0.85,
			   .alltoall_frac = 0.7 },
		.p2p = { .start_s = 1e-6, .peer_s = 0.4e-6, .setup_s = 6e-6, .ll_Bps = 7e9, .copy_Bps = 600e9 },
	};
}

static struct jl_fabric no_p2p(int n_per_node, int n_numa, int n_shared)
{
	return (struct jl_fabric){
		.intra_kind = JL_INTRA_PCIE_HOST,
		.n_per_node = n_per_node,
		.n_numa = n_numa,
		.n_shared = n_shared,
		.n_nodes = 1,
		.launch_s = 5e-6,
		.root_Bps = 18e9,
		.cross_frac = 0.8,
		.intra = { .rate_Bps = 31.5e9, .eff_frac = 0.5, .alpha_s = 6e-6, .ll_frac = 0.4, .ll_alpha_s = 1e-6 },
	};
}

static double cost_s(const struct jl_fabric *f, enum jl_collective_kind kind, double size_B, int n, int per_node)
{
	const struct jl_collective c = { .kind = kind, .size_B = size_B, .n_ranks = n, .n_ranks_per_node = per_node };

	return jl_collective_cost(f, &c).time_s;
}

static void near(double got, double want, double within)
{
	if (!(fabs(got / want - 1.0) <= within))
		fail_msg("got %.9g, want %.9g", got, want);
}

static void test_busbw_factor(void **state)
{
	(void)state;
	near(jl_busbw_factor(JL_ALLREDUCE, 1000), 2.0 * 999.0 / 1000.0, 1e-15);
	near(jl_busbw_factor(JL_ALLGATHER, 8), 7.0 / 8.0, 1e-15);
	near(jl_busbw_factor(JL_REDUCESCATTER, 2), 0.5, 1e-15);
	near(jl_busbw_factor(JL_ALLTOALL, 4), 0.75, 1e-15);
	near(jl_busbw_factor(JL_BROADCAST, 4), 1.0, 1e-15);
	near(jl_busbw_factor(JL_SENDRECV, 2), 1.0, 1e-15);
	assert_true(isnan(jl_busbw_factor(JL_ALLREDUCE, 0)));
}

static void test_nothing_costs_nothing(void **state)
{
	(void)state;
	const struct jl_fabric f = dgx(1);

	assert_true(cost_s(&f, JL_ALLREDUCE, 1e6, 1, 1) == 0.0);
	assert_true(cost_s(&f, JL_ALLREDUCE, 0.0, 8, 8) == 0.0);
}

static void test_grows_with_size(void **state)
{
	(void)state;
	for (int nodes = 1; nodes <= 32; nodes *= 2) {
		const struct jl_fabric f = dgx(nodes);

		for (int k = 0; k < JL_N_COLLECTIVE; k++) {
			double last_s = 0.0;

			for (double size_B = 256.0; size_B < 64e9; size_B *= 1.3) {
				const double time_s = cost_s(&f, (enum jl_collective_kind)k, size_B, 8 * nodes, 8);

				assert_true(isfinite(time_s) && time_s >= last_s);
				last_s = time_s;
			}
		}
	}
}

static void test_grows_with_nodes(void **state)
{
	(void)state;
	for (double size_B = 1e3; size_B < 64e9; size_B *= 7.0) {
		double last_s = 0.0;

		for (int nodes = 2; nodes <= 1024; nodes++) {
			const struct jl_fabric f = dgx(nodes);
			const double time_s = cost_s(&f, JL_ALLREDUCE, size_B, 8 * nodes, 8);

			if (time_s < last_s * (1.0 - 1e-12))
				fail_msg("%d nodes, %g B: %g s after %g s", nodes, size_B, time_s, last_s);
			last_s = time_s;
		}
	}
}

static void test_falls_with_link_rate(void **state)
{
	(void)state;
	for (int k = 0; k < JL_N_COLLECTIVE; k++)
		for (double size_B = 1e3; size_B < 64e9; size_B *= 10.0)
			for (int nodes = 1; nodes <= 16; nodes *= 4) {
				double last_in_s = INFINITY, last_out_s = INFINITY;

				for (double more = 0.1; more < 10.0; more *= 1.5) {
					struct jl_fabric in = dgx(nodes), out = dgx(nodes);

					in.intra.rate_Bps *= more;
					out.inter.rate_Bps *= more;
					const double in_s = cost_s(&in, (enum jl_collective_kind)k, size_B, 8 * nodes,
								   8);
					const double out_s = cost_s(&out, (enum jl_collective_kind)k, size_B, 8 * nodes,
								    8);

					assert_true(in_s <= last_in_s && out_s <= last_out_s);
					last_in_s = in_s;
					last_out_s = out_s;
				}
			}
}

static void test_bound_is_never_beaten(void **state)
{
	(void)state;
	for (int k = 0; k < JL_N_COLLECTIVE; k++)
		for (int a = 0; a < JL_N_ALGORITHM; a++)
			for (int nodes = 1; nodes <= 128; nodes *= 2)
				for (int per_node = 1; per_node <= 8; per_node++)
					for (double size_B = 64.0; size_B < 1e12; size_B *= 100.0) {
						const struct jl_fabric f = dgx(nodes);
						const struct jl_collective c = {
							.kind = (enum jl_collective_kind)k,
							.size_B = size_B,
							.n_ranks = nodes * per_node,
							.n_ranks_per_node = per_node,
							.algorithm = (enum jl_algorithm)a,
						};
						const struct jl_collective_cost cost = jl_collective_cost(&f, &c);

						assert_true(cost.time_s >= cost.bound_s && cost.bound_s >= 0.0);
					}
}

/* Bound between N hosts: each sends 2(N-1)/N of the size, with any algorithm. */
static void test_bound_between_hosts(void **state)
{
	(void)state;
	for (int nodes = 2; nodes <= 500; nodes++) {
		const struct jl_fabric f = dgx(nodes);
		const struct jl_collective c = {
			.kind = JL_ALLREDUCE, .size_B = 16e9, .n_ranks = 8 * nodes, .n_ranks_per_node = 8
		};

		near(16e9 / jl_collective_cost(&f, &c).bound_s, 400e9 * nodes / (2.0 * (nodes - 1)), 1e-12);
	}
	/* in-network reduction: each byte is sent once */
	struct jl_fabric sharp = dgx(125);
	const struct jl_collective c = { .kind = JL_ALLREDUCE, .size_B = 16e9, .n_ranks = 1000, .n_ranks_per_node = 8 };

	sharp.inter.in_switch = 1;
	near(16e9 / jl_collective_cost(&sharp, &c).bound_s, 400e9, 1e-12);
}

static void test_best_is_the_cheapest_offered(void **state)
{
	(void)state;
	for (int nodes = 1; nodes <= 64; nodes *= 4)
		for (double size_B = 1e3; size_B < 64e9; size_B *= 3.0) {
			const struct jl_fabric f = dgx(nodes);
			struct jl_collective c = {
				.kind = JL_ALLREDUCE, .size_B = size_B, .n_ranks = 8 * nodes, .n_ranks_per_node = 8
			};
			const struct jl_collective_cost best = jl_collective_cost(&f, &c);

			c.algorithm = best.algorithm;
			assert_true(jl_collective_cost(&f, &c).time_s == best.time_s);
			for (int a = JL_ALGO_RING; a < JL_N_ALGORITHM; a++) {
				if (nodes == 1 && a == JL_ALGO_TREE)
					continue; /* not offered on one host */
				c.algorithm = (enum jl_algorithm)a;
				assert_true(jl_collective_cost(&f, &c).time_s >= best.time_s);
				assert_int_equal(jl_collective_cost(&f, &c).algorithm, a);
			}
		}
}

static void test_forced_where_it_cannot_be(void **state)
{
	(void)state;
	const struct jl_fabric one = dgx(1), two = dgx(2);
	struct jl_collective c = {
		.kind = JL_ALLREDUCE, .size_B = 1e9, .n_ranks = 8, .algorithm = JL_ALGO_HIERARCHICAL
	};

	assert_true(isinf(jl_collective_cost(&one, &c).time_s));
	c.n_ranks = 16;
	c.n_ranks_per_node = 8;
	c.algorithm = JL_ALGO_SWITCH;
	assert_true(isinf(jl_collective_cost(&two, &c).time_s));
	c.kind = JL_ALLGATHER;
	c.algorithm = JL_ALGO_TREE;
	assert_true(isinf(jl_collective_cost(&two, &c).time_s));
}

/* Two ranks: a ring is one send of the same bytes over the same link. */
static void test_two_ranks_are_a_send(void **state)
{
	(void)state;
	struct jl_fabric f = dgx(1);

	f.p2p = (struct jl_p2p){ 0 };
	f.intra.setup_s = f.intra.segment_s = f.intra.mid_frac = 0.0;
	for (double size_B = 1e2; size_B < 1e10; size_B *= 10.0) {
		near(cost_s(&f, JL_BROADCAST, size_B, 2, 2), cost_s(&f, JL_SENDRECV, size_B, 2, 2), 1e-12);
		/* all-reduce of two ranks: reduce-scatter plus all-gather, started once, without copies */
		f.intra.copy_frac = 0.0;
		near(cost_s(&f, JL_ALLREDUCE, size_B, 2, 2),
		     cost_s(&f, JL_ALLGATHER, size_B, 2, 2) + cost_s(&f, JL_REDUCESCATTER, size_B, 2, 2) - f.launch_s,
		     1e-12);
	}
}

static void test_large_ring_reaches_its_rate(void **state)
{
	(void)state;
	const struct jl_fabric f = dgx(1);
	const struct jl_collective c = {
		.kind = JL_ALLREDUCE, .size_B = 1e12, .n_ranks = 8, .algorithm = JL_ALGO_RING
	};

	near(1e12 / jl_collective_cost(&f, &c).time_s * jl_busbw_factor(JL_ALLREDUCE, 8), 0.8 * 450e9, 0.01);
}

static void test_groups_share_the_nics(void **state)
{
	(void)state;
	const struct jl_fabric f = dgx(16);
	struct jl_collective c = {
		.kind = JL_ALLREDUCE, .size_B = 1e10, .n_ranks = 16, .n_ranks_per_node = 1, .n_groups_per_node = 1
	};
	const double alone_s = jl_collective_cost(&f, &c).time_s;

	/* eight NICs, one rank each: eight groups do not disturb each other */
	c.n_groups_per_node = 8;
	near(jl_collective_cost(&f, &c).time_s, alone_s, 1e-9);
	/* two ranks per host and eight groups: twice as many as NICs */
	c.n_ranks = 32;
	c.n_ranks_per_node = 2;
	c.n_groups_per_node = 4;
	const double four_s = jl_collective_cost(&f, &c).time_s;

	c.n_groups_per_node = 8;
	near(jl_collective_cost(&f, &c).time_s / four_s, 2.0, 0.05);
}

static void test_shared_host_path(void **state)
{
	(void)state;
	const struct jl_fabric shared = no_p2p(10, 2, 5), own = no_p2p(10, 2, 1);
	struct jl_fabric peers = shared;

	/* busbw of all-reduce: the shared uplink serves its ranks in turn */
	near(1e9 / cost_s(&shared, JL_ALLREDUCE, 1e9, 2, 2), 18e9 / 2.0, 0.02);
	near(1e9 / cost_s(&shared, JL_ALLREDUCE, 1e9, 4, 4) * 1.5, 18e9 / 4.0, 0.02);
	near(1e9 / cost_s(&shared, JL_ALLREDUCE, 1e9, 10, 10) * 1.8, 0.8 * 18e9 / 5.0, 0.02);
	/* one uplink each: limited by its link and by the crossing to the other socket */
	near(1e9 / cost_s(&own, JL_ALLREDUCE, 1e9, 5, 5) * 1.6, 0.5 * 31.5e9, 0.02);
	near(1e9 / cost_s(&own, JL_ALLREDUCE, 1e9, 10, 10) * 1.8, 0.8 * 0.5 * 31.5e9, 0.02);
	/* a P2P ring crosses the uplink once for all cards below a switch; two cards do not use it */
	peers.intra_kind = JL_INTRA_PCIE_P2P;
	peers.intra.eff_frac = 0.7;
	near(1e9 / cost_s(&peers, JL_ALLREDUCE, 1e9, 5, 5) * 1.6, 18e9, 0.02);
	near(1e9 / cost_s(&peers, JL_ALLREDUCE, 1e9, 10, 10) * 1.8, 0.8 * 18e9, 0.02);
	near(1e9 / cost_s(&peers, JL_ALLREDUCE, 1e9, 2, 2), 0.7 * 31.5e9, 0.02);
}

static void test_bridge_pairs(void **state)
{
	(void)state;
	struct jl_fabric f = no_p2p(4, 1, 4);

	f.intra_kind = JL_INTRA_BRIDGE_PAIR;
	f.pair = (struct jl_link){
		.rate_Bps = 56.25e9, .eff_frac = 0.8, .alpha_s = 2e-6, .ll_frac = 0.3, .ll_alpha_s = 1e-6
	};
	near(1e10 / cost_s(&f, JL_ALLREDUCE, 1e10, 2, 2), 0.8 * 56.25e9, 0.01);
	/* beyond a pair every second hop is PCIe: peer-to-peer, or through the host */
	near(1e10 / cost_s(&f, JL_ALLREDUCE, 1e10, 4, 4) * 1.5, 0.5 * 31.5e9, 0.01);
	f.pairs_by_host = 1;
	near(1e10 / cost_s(&f, JL_ALLREDUCE, 1e10, 4, 4) * 1.5, 18e9 / 2.0, 0.01);
}

static void test_mesh_pair_gets_one_link(void **state)
{
	(void)state;
	struct jl_fabric f = dgx(1);

	f.intra_kind = JL_INTRA_MESH;
	f.intra.in_switch = 0;
	f.mesh_peers = 7.0;
	near(1e11 / cost_s(&f, JL_SENDRECV, 1e11, 2, 2), 0.8 * 450e9 / 7.0, 0.01);
	near(1e11 / cost_s(&f, JL_ALLREDUCE, 1e11, 8, 8) * 1.75, 0.8 * 450e9, 0.02);
}

/* Unused links may be unknown, and omitted parameters are 0. */
static void test_bare_fabrics(void **state)
{
	(void)state;
	const struct jl_link unknown = {
		.rate_Bps = NAN, .eff_frac = NAN, .alpha_s = NAN, .ll_frac = NAN, .ll_alpha_s = NAN
	};
	const struct jl_fabric inter_only = {
		.intra_kind = JL_INTRA_NONE,
		.n_per_node = 1,
		.n_nodes = 4,
		.intra = unknown,
		.pair = unknown,
		.inter = { .rate_Bps = 1.25e9, .eff_frac = 0.9, .alpha_s = 30e-6 },
	};
	const struct jl_fabric intra_only = {
		.intra_kind = JL_INTRA_SWITCH,
		.n_per_node = 8,
		.n_nodes = 1,
		.inter = unknown,
		.pair = unknown,
		.intra = { .rate_Bps = 100e9, .eff_frac = 1.0 },
	};

	near(cost_s(&inter_only, JL_ALLREDUCE, 1e9, 4, 1), 1.5e9 / (0.9 * 1.25e9) + 6 * 30e-6, 1e-9);
	for (int k = 0; k < JL_N_COLLECTIVE; k++) {
		assert_true(isfinite(cost_s(&inter_only, (enum jl_collective_kind)k, 1e9, 4, 1)));
		assert_true(isfinite(cost_s(&intra_only, (enum jl_collective_kind)k, 1e9, 8, 8)));
	}
	near(cost_s(&intra_only, JL_ALLGATHER, 8e9, 8, 0), 0.07, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busbw_factor),
		cmocka_unit_test(test_nothing_costs_nothing),
		cmocka_unit_test(test_grows_with_size),
		cmocka_unit_test(test_grows_with_nodes),
		cmocka_unit_test(test_falls_with_link_rate),
		cmocka_unit_test(test_bound_is_never_beaten),
		cmocka_unit_test(test_bound_between_hosts),
		cmocka_unit_test(test_best_is_the_cheapest_offered),
		cmocka_unit_test(test_forced_where_it_cannot_be),
		cmocka_unit_test(test_two_ranks_are_a_send),
		cmocka_unit_test(test_large_ring_reaches_its_rate),
		cmocka_unit_test(test_groups_share_the_nics),
		cmocka_unit_test(test_shared_host_path),
		cmocka_unit_test(test_bridge_pairs),
		cmocka_unit_test(test_mesh_pair_gets_one_link),
		cmocka_unit_test(test_bare_fabrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
