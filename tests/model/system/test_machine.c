/* Every accelerator of the catalog, alone and in hosts, resolves to finite positive numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/collective.h"
#include "kernels/op.h"
#include "system/machine.h"

static const struct jl_catalog *cat;
static struct jl_arena arena;

static int embedded(void **state)
{
	(void)state;
	cat = jl_catalog_embedded();
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int release(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static struct jl_machine machine_of(const char *text)
{
	struct jl_machine machine = { .device_fitted = false };
	struct jl_sys sys;
	struct jl_err err;

	if (jl_sys_parse(&sys, cat, text, &arena, &err) || jl_machine_make(&machine, cat, &sys, &err))
		fail_msg("%s: %s", text, err.en);
	return machine;
}

static void positive(double value, const char *what, const char *of)
{
	if (!(isfinite(value) && value > 0.0))
		fail_msg("%s of %s is %g", what, of, value);
}

static void test_every_gpu(void **state)
{
	(void)state;
	for (size_t i = 0; i < cat->n_gpus; i++) {
		const char *id = cat->gpus[i].id;
		const struct jl_machine m = machine_of(id);
		const struct jl_device *dev = &m.dev;

		positive(dev->fit.mem_frac, "mem_frac", id);
		positive(dev->fit.kernel_s, "kernel_s", id);
		positive(dev->fit.sm_Bps, "sm_Bps", id);
		positive(dev->fit.l2_Bps, "l2_Bps", id);
		assert_true(dev->fit.mem_frac <= 1.0);
		for (int d = 0; d < JL_N_DTYPE; d++) {
			const struct jl_gemm gemm = {
				.m = 4096, .n = 4096, .k = 4096, .batch = 1, .dtype = (enum jl_dtype)d, .out_B = 2
			};

			if (isnan(dev->peak_flopps[d]) || isnan(dev->mem_Bps))
				continue;
			positive(dev->fit.gemm_frac[d], "gemm_frac", id);
			assert_true(dev->fit.gemm_frac[d] < 1.3 && dev->fit.burst_frac[d] >= 1.0 - 1e-12);
			positive(jl_gemm_s(dev, &gemm), "time of a product", id);
		}
	}
}

static void test_every_system(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < cat->n_systems; i++) {
		struct jl_machine m;
		struct jl_sys sys;
		struct jl_err err;

		/* missing catalog data is refused with a message */
		if (jl_sys_parse(&sys, cat, cat->systems[i].id, &arena, &err) || jl_machine_make(&m, cat, &sys, &err)) {
			assert_true(strlen(err.en) > 10);
			continue;
		}
		if (sys.n_per_node < 2)
			continue;
		const struct jl_collective coll = { .kind = JL_ALLREDUCE, .size_B = 1e9, .n_ranks = sys.n_per_node };
		const struct jl_collective_cost cost = jl_collective_cost(&m.fabric, &coll);

		positive(cost.time_s, "all-reduce", cat->systems[i].id);
		assert_true(cost.time_s >= cost.bound_s);
		n++;
	}
	assert_true(n > 50);
}

static void test_what_was_measured_is_known(void **state)
{
	(void)state;
	const struct jl_machine h100 = machine_of("dgx-h100"), cards = machine_of("10x rtx-3090 via pcie4-no-p2p");

	assert_true(h100.device_fitted && jl_machine_links_seen(&h100, JL_ASKED_COLLECTIVE));
	assert_true(jl_machine_links_seen(&cards, JL_ASKED_COLLECTIVE));
	assert_true(cards.fabric.root_Bps > 0 && cards.fabric.n_per_root == 5 && cards.fabric.n_numa == 2);
	assert_false(machine_of("h100-nvl").device_fitted);
	const struct jl_machine alone = machine_of("rtx-4090");

	assert_true(jl_machine_links_seen(&alone, JL_ASKED_COLLECTIVE)); /* a single device has no links to measure */
}

/* Devices with several dies take longer to start a collective. */
static void test_many_dies(void **state)
{
	(void)state;
	const double one_s = machine_of("dgx-h100").fabric.launch_s;

	assert_true(machine_of("dgx-b200").fabric.launch_s > one_s);
	assert_true(machine_of("8x mi300x via xgmi-mesh").fabric.launch_s > one_s);
	assert_true(machine_of("8x mi300x via xgmi-mesh").fabric.mesh_peers == 7.0);
}

static void test_an_unknown_gpu_falls_back_to_its_family(void **state)
{
	(void)state;
	const struct jl_machine nvl = machine_of("h100-nvl"), sxm = machine_of("h100-sxm5");

	assert_true(nvl.dev.arch == sxm.dev.arch);
	assert_true(fabs(log(nvl.dev.fit.mem_frac / sxm.dev.fit.mem_frac)) < 0.2);
}

static void test_profiles(void **state)
{
	(void)state;
	for (int f = 0; f < JL_N_FRAMEWORK; f++) {
		struct jl_profile profile;

		jl_machine_profile(&profile, cat, (enum jl_framework)f, NULL);
		positive(profile.launch_s, "launch_s", jl_framework_name((enum jl_framework)f));
		positive(profile.stream_frac, "stream_frac", jl_framework_name((enum jl_framework)f));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_gpu),
		cmocka_unit_test(test_every_system),
		cmocka_unit_test(test_what_was_measured_is_known),
		cmocka_unit_test(test_many_dies),
		cmocka_unit_test(test_an_unknown_gpu_falls_back_to_its_family),
		cmocka_unit_test(test_profiles),
	};

	return cmocka_run_group_tests(tests, embedded, release);
}
