/* Parameters by name: bounds contain prior and shipped value, names are unique, missing values fall back to the family, and derived values depend
 * on them in the right direction. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "parameters/arch.h"
#include "catalog/find.h"
#include "fabric/collective.h"
#include "parameters/conv_params.h"
#include "parameters/device_params.h"
#include "parameters/framework_params.h"
#include "parameters/interval.h"
#include "parameters/link_params.h"
#include "parameters/power_params.h"

enum { MAX_NAMES = 2048 };

static struct jl_param all[MAX_NAMES];
static size_t n_all;
static const char *const gpu_ids[] = { "h100-sxm5", "a100-sxm4-80gb" };

static int collect(void **state)
{
	const struct jl_param_list lists[] = { jl_gemm_params(2, gpu_ids), jl_coll_params, jl_conv_params(2, gpu_ids),
					       jl_llm_params(2, gpu_ids), jl_power_params };

	(void)state;
	for (size_t l = 0; l < sizeof(lists) / sizeof(*lists); l++)
		for (size_t i = 0; i < lists[l].n; i++)
			jl_param_of(&lists[l], i, &all[n_all++]);
	return 0;
}

static void test_priors_lie_in_their_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_all; i++) {
		const struct jl_param *p = &all[i];

		if (!(p->lo > 0 && p->lo <= p->prior && p->prior <= p->hi && p->prior_sd_ln > 0))
			fail_msg("%s: %g in %g..%g", p->name, p->prior, p->lo, p->hi);
		assert_true(p->unit && *p->unit);
	}
}

static void test_names_are_unique(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_all; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(all[i].name, all[k].name) == 0)
				fail_msg("%s twice", all[i].name);
}

static void test_shipped_values_lie_in_their_bounds(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < n_all; i++) {
		const struct jl_param_info *info = jl_param_by_id(cat, all[i].name);

		if (!info || all[i].lo == all[i].hi) /* a constant, excluded from the next fit */
			continue;
		n++;
		if (!(info->value >= all[i].lo * (1 - 1e-8) && info->value <= all[i].hi * (1 + 1e-8)))
			fail_msg("%s: %g is outside of %g..%g", info->id, info->value, all[i].lo, all[i].hi);
		assert_true(fabs(info->prior / all[i].prior - 1) < 1e-8);
	}
	assert_true(n > 250);
	for (size_t i = 1; i < cat->n_params; i++)
		assert_true(strcmp(cat->params[i - 1].id, cat->params[i].id) < 0);
}

/* An unsorted list (overlay) is searched correctly. */
static void test_any_order_is_searched(void **state)
{
	const struct jl_param_info infos[] = { { .id = "z", .value = 1 },
					       { .id = "m", .value = 2 },
					       { .id = "a", .value = 3 } };
	const struct jl_catalog cat = { .params = infos, .n_params = 3 };

	(void)state;
	assert_true(jl_param_by_id(&cat, "a")->value == 3);
	assert_true(jl_param_by_id(&cat, "m")->value == 2);
	assert_true(jl_param_by_id(&cat, "z")->value == 1);
	assert_null(jl_param_by_id(&cat, "b"));
	assert_null(jl_param_by_id(&cat, NULL));
}

static struct jl_device hopper(void)
{
	struct jl_device dev = { .mem_B = 80e9,
				 .mem_Bps = 3.35e12,
				 .l2_B = 50e6,
				 .n_sm = 132,
				 .boost_Hz = 1.98e9,
				 .tdp_W = 700,
				 .host_Bps = 63e9,
				 .link_Bps = 450e9,
				 .arch = jl_arch_by_id("hopper") };

	for (int d = 0; d < JL_N_DTYPE; d++)
		dev.peak_flopps[d] = NAN;
	dev.peak_flopps[JL_FP32] = 67e12;
	dev.peak_flopps[JL_BF16] = dev.peak_flopps[JL_FP16] = 989e12;
	return dev;
}

static void test_an_empty_catalog_gives_the_priors(void **state)
{
	const struct jl_catalog none = { .n_params = 0 };
	double x[JL_GEMM_MAX_PARAMS], y[JL_COLL_MAX_PARAMS];
	const struct jl_param_list list = jl_gemm_params(1, NULL);
	struct jl_param p;

	(void)state;
	assert_false(jl_gemm_read(&none, "h100-sxm5", x));
	for (size_t i = 0; i < list.n; i++) {
		jl_param_of(&list, i, &p);
		assert_true(x[i] == p.prior);
	}
	jl_coll_read(&none, y);
	for (size_t i = 0; i < jl_coll_params.n; i++)
		assert_true(y[i] == jl_coll_params.table[i].prior);
}

static void test_a_gpu_without_rows_is_its_family(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_device family = hopper(), stranger = hopper(), own = hopper();

	(void)state;
	assert_false(jl_gemm_shipped(cat, NULL, &family));
	assert_false(jl_gemm_shipped(cat, "h1234-nobody", &stranger));
	assert_memory_equal(&family.fit, &stranger.fit, sizeof(family.fit));
	assert_true(jl_gemm_shipped(cat, "h200-sxm", &own));
	assert_true(own.fit.mem_frac != family.fit.mem_frac);
}

/* Raising a parameter never lowers the value derived from it. */
static void test_devices_follow_their_parameters(void **state)
{
	double x[JL_GEMM_MAX_PARAMS];
	struct jl_param p;

	(void)state;
	(void)jl_gemm_read(jl_catalog_embedded(), NULL, x);
	const struct jl_param_list list = jl_gemm_params(0, NULL);

	for (size_t i = 0; i < list.n; i++) {
		struct jl_device before = hopper(), after = hopper();
		const double kept = x[i];

		jl_param_of(&list, i, &p);
		jl_gemm_resolve(x, -1, &before);
		x[i] = fmin(kept * 1.1, p.hi);
		jl_gemm_resolve(x, -1, &after);
		x[i] = kept;
		if (strstr(p.name, "gemm_frac.tensor16"))
			assert_true(after.fit.gemm_frac[JL_BF16] >= before.fit.gemm_frac[JL_BF16]);
		if (strstr(p.name, "energy.tensor16"))
			assert_true(after.fit.gemm_frac[JL_BF16] <= before.fit.gemm_frac[JL_BF16]);
		if (strstr(p.name, "mem_frac"))
			assert_true(after.fit.mem_frac >= before.fit.mem_frac && after.fit.mem_frac <= 1.0);
		if (strstr(p.name, "kernel_s"))
			assert_true(after.fit.kernel_s >= before.fit.kernel_s);
		if (strstr(p.name, "family.") && !strstr(p.name, "family.hopper."))
			assert_memory_equal(&after.fit, &before.fit, sizeof(after.fit));
	}
}

static double allreduce_s(const double *x, enum jl_wire intra, int many_die)
{
	struct jl_fabric fabric = { .intra_kind = intra == JL_WIRE_NVLINK4 ? JL_INTRA_SWITCH : JL_INTRA_PCIE_P2P,
				    .n_per_node = 8,
				    .n_nodes = 1,
				    .intra = { .rate_Bps = intra == JL_WIRE_NVLINK4 ? 450e9 : 31e9 } };
	const struct jl_collective coll = { .kind = JL_ALLREDUCE, .size_B = 1e6, .n_ranks = 8 };

	jl_coll_fill(x, intra, JL_WIRE_NONE, many_die, &fabric);
	return jl_collective_cost(&fabric, &coll).time_s;
}

static void test_links_follow_their_parameters(void **state)
{
	static const enum jl_wire wires[] = { JL_WIRE_NVLINK4, JL_WIRE_PCIE_P2P };
	double x[JL_COLL_MAX_PARAMS];

	(void)state;
	jl_coll_read(jl_catalog_embedded(), x);
	for (size_t w = 0; w < 2; w++) {
		const double before_s = allreduce_s(x, wires[w], 0);

		assert_true(allreduce_s(x, wires[w], 1) >= before_s);
		for (size_t i = 0; i < jl_coll_params.n; i++) {
			const struct jl_param *p = &jl_coll_params.table[i];
			const double kept = x[i];
			const size_t len = strlen(p->name);
			const int time = strcmp(p->name + len - 2, "_s") == 0, rate = strstr(p->name, "_frac") != NULL;

			x[i] = fmin(kept * 1.1, p->hi);
			const double after_s = allreduce_s(x, wires[w], 0);

			x[i] = kept;
			if ((time && after_s < before_s * (1 - 1e-12)) ||
			    (rate && !strstr(p->name, "copy") && after_s > before_s * (1 + 1e-12)))
				fail_msg("%s: %g s -> %g s", p->name, before_s, after_s);
		}
	}
}

static void test_link_types_of_records(void **state)
{
	static const struct {
		const char *id;
		enum jl_wire wire;
	} rows[] = {
		{ "pcie4-no-p2p", JL_WIRE_PCIE_HOST },
		{ "pcie5", JL_WIRE_PCIE_P2P },
		{ "nvlink-bridge", JL_WIRE_BRIDGE },
		{ "nvlink2-mesh", JL_WIRE_NVLINK2 },
		{ "nvlink3-switch", JL_WIRE_NVLINK3 },
		{ "nvlink4-switch", JL_WIRE_NVLINK4 },
		{ "nvlink5-switch", JL_WIRE_NVLINK5 },
		{ "nvl72", JL_WIRE_NVL72 },
		{ "xgmi-mesh", JL_WIRE_XGMI },
		{ "ib-ndr", JL_WIRE_IB },
		{ "dgx-h100-ndr", JL_WIRE_IB },
		{ "efa-v2", JL_WIRE_EFA },
		{ "roce-400", JL_WIRE_ROCE },
		{ "10gbe-lacp2", JL_WIRE_ETHERNET },
		{ "none", JL_WIRE_NONE },
		{ "nvlink-bridge-h200-nvl-4way", JL_WIRE_NVLINK4 },
		{ "nvlink4", JL_WIRE_NVLINK4 },
		{ "infinity-fabric-mi300x", JL_WIRE_XGMI },
	};

	(void)state;
	assert_int_equal(jl_wire_of(NULL), JL_WIRE_NONE);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct jl_link_info *link = jl_link_by_id(jl_catalog_embedded(), rows[i].id);

		if (!link)
			fail_msg("no link %s", rows[i].id);
		if (jl_wire_of(link) != rows[i].wire)
			fail_msg("%s is %d", rows[i].id, (int)jl_wire_of(link));
	}
}

static void test_convolutions_and_power(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	double x[JL_CONV_MAX_PARAMS];
	struct jl_conv_fit own, family;
	const struct jl_device dev = hopper();

	(void)state;
	assert_true(jl_conv_read(cat, "h100-sxm5", x));
	jl_conv_resolve(x, 0, &dev, &own);
	jl_conv_resolve(x, -1, &dev, &family);
	assert_true(family.device_frac == 1.0 && own.device_frac > 0.6 && own.device_frac < 1.6);
	assert_true(jl_conv_bus_Bps(x, &dev, true) > jl_conv_bus_Bps(x, &dev, false));

	const struct jl_power_fit power = jl_power_shipped(cat);

	assert_true(power.idle_frac > 0.05 && power.idle_frac < 0.5 && power.cap_frac > 0.8 && power.cap_frac <= 1.0);
}

/* Rates in a training run are at most those of single operators and collectives, and at most the listed ones. */
static void test_training_runs(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	double x[JL_LLM_MAX_PARAMS];
	struct jl_device dev = hopper();
	struct jl_fabric fabric = { .intra_kind = JL_INTRA_SWITCH,
				    .intra = { .rate_Bps = 450e9, .eff_frac = 0.9, .alpha_s = 1e-6 },
				    .inter = { .rate_Bps = 400e9, .eff_frac = 0.9, .alpha_s = 1e-5 } };

	(void)state;
	assert_true(jl_llm_read(cat, "h100-sxm5", x));
	(void)jl_gemm_shipped(cat, "h100-sxm5", &dev);
	const double before = dev.fit.flash_frac;

	jl_llm_resolve_device(x, 0, &dev);
	assert_true(dev.fit.gemm_frac[JL_BF16] > 0.3 && dev.fit.gemm_frac[JL_BF16] <= 1.0 && dev.fit.mem_frac <= 1.0);
	assert_true(dev.fit.flash_frac != before && isnan(dev.fit.gemm_frac[JL_FP8]));
	jl_llm_resolve_fabric(x, JL_LLM_NVLINK4, JL_LLM_RDMA, &fabric);
	assert_true(fabric.intra.eff_frac <= 1.0 && fabric.inter.eff_frac <= 1.0);
	for (int w = 0; w < JL_N_WIRE; w++)
		assert_true(jl_wires[w].run < JL_N_LLM_LINK && jl_wires[w].id);
	for (int f = 0; f < JL_N_FRAMEWORK; f++) {
		const struct jl_profile profile = jl_llm_resolve_profile(x, (enum jl_framework)f, -1);

		assert_true(profile.launch_s > 1e-7 && profile.launch_s < 1e-4 && profile.dp_overlap_frac <= 1.0);
	}
	const struct jl_memory_fit whole = jl_llm_resolve_memory(x, JL_LLM_DEVICE),
				   tensors = jl_llm_resolve_memory(x, JL_LLM_ALLOCATED);

	assert_true(whole.context_B > 1e8 && tensors.context_B == 0.0 && tensors.waste_frac == 0.0);
	/* owner of each index of the vector */
	const struct jl_llm_kind kind = {
		.framework = JL_FW_EAGER, .arch = jl_arch_by_id("hopper"), .gpu_index = -1, .codebase = 1
	};

	const struct jl_param_list list = jl_llm_params(2, gpu_ids);

	for (size_t i = 0; i < list.n; i++) {
		struct jl_param p;

		jl_param_of(&list, i, &p);
		if (strstr(p.name, "train.gpu.") || strstr(p.name, "framework.megatron") ||
		    strstr(p.name, "family.ada.") || strcmp(p.name, "train.code.nemo") == 0)
			assert_false(jl_llm_param_used(i, &kind));
		if (strstr(p.name, "framework.eager") || strstr(p.name, "family.hopper.") ||
		    strstr(p.name, "memory.") || strcmp(p.name, "train.code.deeplearningexamples") == 0)
			assert_true(jl_llm_param_used(i, &kind));
	}
}

/* Codebases: found by id and in a source's text; a ratio scales device work and host time alike. */
static void test_codebases(void **state)
{
	struct jl_profile p = { .launch_s = 1e-5, .step_s = 1e-3, .optimizer_frac = 1.2 };
	double x[JL_LLM_MAX_PARAMS];

	(void)state;
	for (int i = 0; i < JL_N_CODEBASE; i++) {
		assert_int_equal(jl_codebase_by_id(jl_codebases[i].id), i);
		if (i > 0)
			assert_int_equal(jl_codebase_in(jl_codebases[i].name), i);
	}
	assert_int_equal(jl_codebase_by_id("nobody's"), -1);
	assert_int_equal(jl_codebase_by_id(NULL), -1);
	assert_int_equal(jl_codebase_in("PyTorch 2.11 eager"), -1);
	assert_string_equal(jl_codebases[jl_codebase_in("NeMo/Megatron-Core (Megatron-Bridge)")].id, "nemo");
	jl_profile_scale(&p, 1.1);
	jl_profile_scale(&p, 1.0 / 1.1 * 1.2);
	assert_true(fabs(p.more_frac - 0.2) < 1e-12 && fabs(p.launch_s - 1.2e-5) < 1e-15);
	assert_true(fabs(p.step_s - 1.2e-3) < 1e-12 && fabs(p.optimizer_frac - 1.44) < 1e-12);
	/* nothing fitted: the median of the population */
	const struct jl_param_list list = jl_llm_params(0, NULL);

	jl_params_start(&list, x);
	const struct jl_profile middle = jl_llm_resolve_profile(x, JL_FW_EAGER, -1),
				named = jl_llm_resolve_profile(x, JL_FW_EAGER, 3);

	assert_true(middle.launch_s == named.launch_s && named.more_frac == 0.0);
}

/* Nearness: the more sources measured a pair, the smaller the doubt; unstated parts do not count. */
static void test_few_sources_near(void **state)
{
	const struct jl_param_info seen[] = { { .id = "seen.step.code.nemo", .value = 3, .n_rows = 9 },
					      { .id = "seen.step.device_code.h100.nemo", .value = 2, .n_rows = 9 } };
	const struct jl_catalog cat = { .params = seen, .n_params = JL_LEN(seen) };
	const struct jl_axes known = { .device = "h100", .code = "nemo" }, other = { .device = "b200", .code = "nemo" },
			     format = { .device = "h100", .code = "nemo", .format = "fp8" };

	(void)state;
	assert_true(fabs(jl_few(&cat, JL_ASKED_STEP, &known) - sqrt(1.0 / 3)) < 1e-12);
	assert_true(jl_few(&cat, JL_ASKED_STEP, &other) == 1.0);
	assert_true(fabs(jl_few(&cat, JL_ASKED_STEP, &format) - sqrt((1.0 / 3 + 1 + 1) / 3)) < 1e-12);
	assert_true(jl_few(&cat, JL_ASKED_STEP, &(struct jl_axes){ .device = "h100" }) == 0.0);
	assert_true(jl_few(&cat, JL_ASKED_POWER, &known) == 0.0);
	assert_true(jl_code_doubt(&cat, JL_ASKED_STEP, "nemo") == 0.5);
	assert_true(jl_code_doubt(&cat, JL_ASKED_STEP, "axolotl") == 1.0);
	assert_true(jl_code_doubt(&cat, JL_ASKED_STEP, NULL) == 1.0);
	assert_true(jl_code_doubt(&cat, JL_ASKED_POWER, NULL) == 0.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_priors_lie_in_their_bounds),
		cmocka_unit_test(test_names_are_unique),
		cmocka_unit_test(test_shipped_values_lie_in_their_bounds),
		cmocka_unit_test(test_any_order_is_searched),
		cmocka_unit_test(test_an_empty_catalog_gives_the_priors),
		cmocka_unit_test(test_a_gpu_without_rows_is_its_family),
		cmocka_unit_test(test_devices_follow_their_parameters),
		cmocka_unit_test(test_links_follow_their_parameters),
		cmocka_unit_test(test_link_types_of_records),
		cmocka_unit_test(test_convolutions_and_power),
		cmocka_unit_test(test_training_runs),
		cmocka_unit_test(test_codebases),
		cmocka_unit_test(test_few_sources_near),
	};

	return cmocka_run_group_tests(tests, collect, NULL);
}
