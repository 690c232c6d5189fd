/* Catalog records resolved to the model's numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "parameters/arch.h"
#include "../../facts/catalog/small_catalog.h"
#include "catalog/find.h"
#include "system/resolve.h"

static struct jl_arena arena;

static int setup(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static struct jl_fabric fabric_of(const char *text)
{
	struct jl_fabric fabric = { 0 };
	struct jl_sys sys;
	struct jl_err err;

	if (jl_sys_parse(&sys, &small_catalog, text, &arena, &err) ||
	    jl_resolve_fabric(&fabric, &small_catalog, &sys, &err))
		fail_msg("'%s': %s", text, err.en);
	return fabric;
}

static struct jl_fact listed(double value)
{
	return (struct jl_fact){ .value = value, .lo = NAN, .hi = NAN, .origin = JL_LISTED };
}

static void test_peaks(void **state)
{
	struct jl_gpu gpu = small_gpus[0];
	struct jl_device device;

	(void)state;
	/* FP32 only: TF32 and FP16 use it, other formats are unsupported */
	jl_resolve_device(&device, &small_catalog, &gpu);
	assert_true(device.peak_flopps[JL_FP32] == 20e12);
	assert_true(device.peak_flopps[JL_TF32] == 20e12);
	assert_true(device.peak_flopps[JL_FP16] == 20e12);
	assert_true(isnan(device.peak_flopps[JL_BF16]) && isnan(device.peak_flopps[JL_FP8]) &&
		    isnan(device.peak_flopps[JL_INT8]));
	/* listed: FP16 accumulate only, then with BF16, then with FP32 accumulate */
	gpu.fp16_dense_flopps = listed(142e12);
	jl_resolve_device(&device, &small_catalog, &gpu);
	assert_true(device.peak_flopps[JL_FP16] == 142e12);
	gpu.bf16_dense_flopps = listed(71e12);
	jl_resolve_device(&device, &small_catalog, &gpu);
	assert_true(device.peak_flopps[JL_FP16] == 71e12 && device.peak_flopps[JL_BF16] == 71e12);
	gpu.fp16_fp32acc_dense_flopps = listed(72e12);
	gpu.tf32_dense_flopps = listed(36e12);
	gpu.int8_dense_opps = listed(284e12);
	jl_resolve_device(&device, &small_catalog, &gpu);
	assert_true(device.peak_flopps[JL_FP16] == 72e12 && device.peak_flopps[JL_TF32] == 36e12);
	assert_true(device.peak_flopps[JL_INT8] == 284e12);
}

static void test_device(void **state)
{
	const struct jl_gpu *gpu = jl_gpu_by_id(&small_catalog, "h100-sxm5");
	struct jl_device device;
	double fit[sizeof(device.fit) / sizeof(double)];
	size_t i;

	(void)state;
	jl_resolve_device(&device, &small_catalog, gpu);
	assert_true(device.mem_B == 80e9 && device.mem_Bps == 1e12 && device.host_Bps == 63e9 &&
		    device.link_Bps == 450e9);
	assert_true(isnan(device.l2_B) && isnan(device.n_sm) && isnan(device.boost_Hz) && isnan(device.tdp_W));
	assert_int_equal(device.arch, jl_arch_by_id("hopper"));
	memcpy(fit, &device.fit, sizeof(fit));
	for (i = 0; i < COUNT(fit); i++)
		assert_true(isnan(fit[i]));
	jl_resolve_device(&device, &small_catalog, jl_gpu_by_id(&small_catalog, "mystery"));
	assert_true(isnan(device.host_Bps) && isnan(device.link_Bps));
	assert_int_equal(device.arch, JL_ARCH_OTHER);
}

static void test_arch(void **state)
{
	struct jl_gpu gpu = small_gpus[0];
	struct jl_device device;

	(void)state;
	assert_string_equal(jl_arch_family(JL_ARCH_OTHER)->id, "other");
	gpu.family = "cdna3"; /* through its parent */
	jl_resolve_device(&device, &small_catalog, &gpu);
	assert_int_equal(device.arch, jl_arch_by_id("cdna"));
	gpu.family = "rubin"; /* through its parent */
	jl_resolve_device(&device, &small_catalog, &gpu);
	assert_int_equal(device.arch, jl_arch_by_id("blackwell-dc"));
	assert_true(device.priors->warpgroup && device.priors->n_sm == 148);
	gpu.family = "rubin-own"; /* its own priors, the nearest relative's fitted factors */
	jl_resolve_device(&device, &small_catalog, &gpu);
	assert_int_equal(device.arch, jl_arch_by_id("blackwell-dc"));
	assert_true(device.priors->n_sm == 224 && device.priors->flop_gain == 0.7);
	gpu.family = "loop-a"; /* a cycle of parents terminates */
	jl_resolve_device(&device, &small_catalog, &gpu);
	assert_int_equal(device.arch, JL_ARCH_OTHER);
	gpu.family = "a-family-with-a-name-longer-than-any-stem-that-is-kept";
	jl_resolve_device(&device, &small_catalog, &gpu);
	assert_int_equal(device.arch, JL_ARCH_OTHER);
}

static void test_superchip(void **state)
{
	static const struct jl_link_info c2c = {
		.id = "nvlink-c2c", .role = JL_ROLE_WIRE, .kind = "c2c", .oneway_Bps = SOME(450e9), .bothway_Bps = NONE
	};
	const struct jl_catalog cat = { .links = &c2c, .n_links = 1 };
	struct jl_gpu gpu = small_gpus[0];
	struct jl_device device;

	(void)state;
	gpu.pcie = NULL;
	jl_resolve_device(&device, &cat, &gpu);
	assert_true(isnan(device.host_Bps));
	gpu.form_factor = "superchip module";
	jl_resolve_device(&device, &cat, &gpu);
	assert_true(device.host_Bps == 450e9);
}

static void test_cpu(void **state)
{
	struct jl_device device;
	struct jl_sys sys;

	(void)state;
	jl_resolve_cpu(&device, &small_cpus[0]);
	assert_true(device.peak_flopps[JL_FP32] ==
		    64 * 32 * 2.6e9); /* cores x FLOP per clock x clock if no rate is listed */
	assert_true(device.peak_flopps[JL_BF16] == 2 * device.peak_flopps[JL_FP32]);
	assert_true(device.mem_Bps == 307e9 && isnan(device.host_Bps));
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, "cpu:i9-13900k", &arena, NULL), JL_OK);
	jl_resolve_system_device(&device, &small_catalog, &sys);
	assert_true(device.peak_flopps[JL_FP32] == 1.5e12 && device.tdp_W == 253 && isnan(device.peak_flopps[JL_BF16]));
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, "2x rtx-4090", &arena, NULL), JL_OK);
	jl_resolve_system_device(&device, &small_catalog, &sys);
	assert_true(device.host_Bps == 31e9);
}

static void test_fabric(void **state)
{
	struct jl_fabric f = fabric_of("rtx-4090");

	(void)state;
	assert_true(f.intra_kind == JL_INTRA_NONE && f.n_per_node == 1 && f.n_nodes == 1 && isnan(f.intra.rate_Bps) &&
		    isnan(f.inter.rate_Bps));
	f = fabric_of("cpu:i9-13900k");
	assert_true(f.intra_kind == JL_INTRA_NONE && f.n_per_node == 1);
	f = fabric_of("2x(10x rtx-3090 via pcie4-no-p2p) over 10gbe-lacp2");
	assert_true(f.intra_kind == JL_INTRA_PCIE_HOST && f.n_per_node == 10 && f.n_nodes == 2 &&
		    f.intra.rate_Bps == 31e9);
	assert_true(f.inter.rate_Bps == 2.5e9 && f.n_nics == 1 && isnan(f.inter.eff_frac) && isnan(f.launch_s));
	f = fabric_of("4x l40s");
	assert_true(f.intra_kind == JL_INTRA_PCIE_P2P);
	f = fabric_of("4x v100-dgxs-32gb");
	assert_true(f.intra_kind == JL_INTRA_MESH && f.intra.rate_Bps == 150e9 && !f.intra.in_switch);
	f = fabric_of("125x aws:p5.48xlarge");
	assert_true(f.intra_kind == JL_INTRA_SWITCH && f.intra.rate_Bps == 450e9 && f.intra.in_switch &&
		    f.n_nodes == 125);
	assert_true(f.inter.rate_Bps == 400e9 && f.n_nics == 8); /* 32 ports, four per accelerator */
	f = fabric_of("2x dgx-h100 over 4x ib-ndr");
	assert_true(f.n_nics == 4);
	f = fabric_of("4x rtx-3090 via nvlink-bridge");
	assert_true(f.intra_kind == JL_INTRA_BRIDGE_PAIR && f.pair.rate_Bps == 56.25e9 && f.intra.rate_Bps == 31e9);
}

static void test_refused(void **state)
{
	struct jl_fabric fabric = { .n_nodes = 77 };
	struct jl_sys sys;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, "2x rtx-4090 via odd-join", &arena, &err), JL_OK);
	assert_int_equal(jl_resolve_fabric(&fabric, &small_catalog, &sys, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "hypercube"));
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, "2x rtx-4090 via nvlink-bridge", &arena, &err), JL_OK);
	assert_int_equal(jl_resolve_fabric(&fabric, &small_catalog, &sys, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "the rate of nvlink-bridge"));
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, "2x dgx-h100", &arena, &err), JL_OK);
	sys.net_oneway_Bps = JL_FACT_UNKNOWN;
	assert_int_equal(jl_resolve_fabric(&fabric, &small_catalog, &sys, &err), JL_E_DATA);
	assert_non_null(strstr(err.text, "over"));
	assert_int_equal(fabric.n_nodes, 77); /* unchanged on failure */
}

/* Every built-in accelerator has the mandatory facts. */
static void test_embedded(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_device device;
	size_t i;

	(void)state;
	for (i = 0; i < cat->n_gpus; i++) {
		jl_resolve_device(&device, cat, &cat->gpus[i]);
		if (!(device.mem_B > 0) || !(device.mem_Bps > 0) ||
		    !(device.peak_flopps[JL_FP16] > 0 || device.peak_flopps[JL_FP32] > 0))
			fail_msg("%s: memory or arithmetic rate is not known", cat->gpus[i].id);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peaks),     cmocka_unit_test(test_device),   cmocka_unit_test(test_arch),
		cmocka_unit_test(test_superchip), cmocka_unit_test(test_cpu),      cmocka_unit_test(test_fabric),
		cmocka_unit_test(test_refused),   cmocka_unit_test(test_embedded),
	};
	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, setup, teardown);
}
