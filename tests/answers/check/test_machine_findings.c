/* Findings on captured machines: the right ones, no others, each with why and what to do. */
#include "../../facts/probe/machines.h"

#include <math.h>

#include "base/utf8.h"
#include "check/machine_findings.h"

static struct jl_arena arena;

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static const struct jl_findings *judge(const struct jl_probe_machine *machine)
{
	const struct jl_findings *findings = NULL;
	struct jl_err err = { 0 };

	assert_int_equal(jl_machine_findings(machine, jl_catalog_embedded(), &arena, &findings, &err), JL_OK);
	for (size_t i = 0; i < findings->n; i++) {
		const struct jl_finding *f = &findings->items[i];

		assert_true(f->what.en[0] && f->why.en[0] && f->todo.en[0]);
		assert_true(f->what.text[0] && f->why.text[0] && f->todo.text[0]);
		assert_true(jl_utf8_valid(f->todo.text, strlen(f->todo.text), NULL));
		assert_true(i == 0 || findings->items[i - 1].severity >= f->severity);
	}
	return findings;
}

static const struct jl_finding *find(const struct jl_findings *findings, const char *key)
{
	for (size_t i = 0; i < findings->n; i++)
		if (strcmp(findings->items[i].key, key) == 0)
			return &findings->items[i];
	return NULL;
}

static const struct jl_finding *must(const struct jl_findings *findings, const char *key)
{
	static const struct jl_finding none;
	const struct jl_finding *found = find(findings, key);

	if (!found)
		fail_msg("no finding %s", key);
	return found ? found : &none;
}

/* Exactly these keys. */
static void expect(const struct jl_findings *findings, const char *const *keys)
{
	size_t n = 0;

	for (; keys[n]; n++)
		if (!find(findings, keys[n]))
			fail_msg("no finding %s", keys[n]);
	for (size_t i = 0; i < findings->n; i++) {
		bool known = false;

		for (size_t k = 0; k < n; k++)
			known = known || strcmp(keys[k], findings->items[i].key) == 0;
		if (!known)
			fail_msg("unexpected finding %s: %s", findings->items[i].key, findings->items[i].what.en);
	}
}

static void test_ten_3090(void **state)
{
	static const char *const keys[] = {
		"no_p2p", "nvlink_bridge", "persistence_off", "cpu_governor", "far_network", "slow_network", NULL
	};
	const struct jl_findings *findings = judge(read_machine("supermicro-10x-rtx3090", &arena));
	const struct jl_finding *bridge = must(findings, "nvlink_bridge"), *net = must(findings, "slow_network");

	(void)state;
	expect(findings, keys);
	assert_string_equal(findings->items[0].key, "no_p2p");
	assert_string_equal(findings->items[0].what.en, "GPU0–GPU9: no P2P (chipset, state CNS), 45 of 45 pairs");
	/* the pairs that their owner found by hand */
	assert_non_null(strstr(bridge->what.en, "GPU 1+2, 3+4, 6+7, 8+9:"));
	assert_int_equal(bridge->gain_gpus, 2);
	assert_true(bridge->before > 0.4 && bridge->before < 1.3);
	assert_true(bridge->after > bridge->before * 1.3 && bridge->after < 2);
	assert_non_null(strstr(net->what.en, "10gbe-lacp2"));
	assert_int_equal(net->gain_gpus, 20);
	assert_true(net->after > 0 && net->after < 2);
	assert_non_null(strstr(must(findings, "far_network")->what.en, "GPU5–GPU9"));
}

static void test_healthy(void **state)
{
	static const char *const none[] = { NULL }, *const pro[] = { "far_network", "slow_network", NULL },
				 *const station[] = { "cpu_governor", "slow_network", NULL };

	(void)state;
	expect(judge(read_machine("hgx-h100-8gpu", &arena)), none);
	expect(judge(read_machine("gpuless-arm64-vm", &arena)), none);
	expect(judge(read_machine("server-4x-rtx-pro-6000", &arena)), pro);
	expect(judge(read_machine("dgx-station-v100", &arena)), station);
}

static void test_faults(void **state)
{
	static const char *const keys[] = {
		"slow_link",   "hot",          "nvlink_bridge", "acs",          "iommu",     "power_limit",
		"ecc_off",     "few_threads",  "little_memory", "cpu_quota",    "swap_used", "cpu_governor",
		"ecc_pending", "memory_limit", "far_network",   "slow_network", NULL
	};
	const struct jl_findings *findings = judge(read_machine("workstation-with-faults", &arena));

	(void)state;
	expect(findings, keys);
	assert_string_equal(findings->items[0].what.en, "GPU0: link runs at gen3 x8 of gen4 x16");
	assert_int_equal(findings->items[0].severity, JL_FINDING_BAD);
	assert_true(findings->items[0].after > findings->items[0].before);
	assert_non_null(strstr(must(findings, "power_limit")->what.en, "GPU3: power limit 200 W, by default 300 W"));
	assert_non_null(strstr(must(findings, "acs")->what.en, "GPU0, GPU1:"));
	assert_non_null(strstr(must(findings, "hot")->what.en, "GPU2:"));
	assert_non_null(strstr(must(findings, "cpu_quota")->what.en, "4 of 8"));
	assert_int_equal(must(findings, "cpu_governor")->severity, JL_FINDING_WARN);
}

/* Changes to a machine that are made in memory. */
static void test_changed(void **state)
{
	struct jl_probe_machine *m = (struct jl_probe_machine *)read_machine("hgx-h100-8gpu", &arena);
	struct jl_nvml_gpu *gpu = (struct jl_nvml_gpu *)m->gpus[3].nvml;
	const struct jl_finding *f;

	(void)state;
	gpu->n_links = 17;
	f = must(judge(m), "nvlink_down");
	assert_non_null(f);
	assert_string_equal(f->what.en, "GPU3: 17 of 18 NVLinks are up");
	gpu->n_links = 18;
	/* what keeps every figure from being judged comes first */
	m->cpu.load = 1.4 * m->cpu.n_threads;
	assert_null(find(judge(m), "busy"));
	m->cpu.load = 2 * m->cpu.n_threads;
	assert_string_equal(judge(m)->items[0].key, "busy");
	m->cpu.load = NAN;
	/* slow at idle is no fault, and is said; narrow at idle is one */
	m->gpus[3].under_load = false;
	m->gpus[3].now.gen = 1;
	assert_non_null(find(judge(m), "idle_link"));
	assert_null(find(judge(m), "slow_link"));
	m->gpus[3].now.width = 8;
	f = must(judge(m), "slow_link");
	assert_non_null(f);
	assert_string_equal(f->what.en, "GPU3: link runs at gen5 x8 of gen5 x16");
	m->gpus[3].now = m->gpus[3].most;
	gpu->mig = 1;
	gpu->throttle = JL_THROTTLE_POWER_CAP;
	m->mixed = true;
	m->n_hidden_gpus = 2;
	assert_non_null(find(judge(m), "mig"));
	assert_int_equal(must(judge(m), "power_cap")->severity, JL_FINDING_NOTE);
	assert_non_null(find(judge(m), "mixed_gpus"));
	assert_non_null(find(judge(m), "hidden_gpus"));
}

/* Cards on the bus without a driver. */
static void test_no_driver(void **state)
{
	const struct jl_probe_machine *machine = NULL;
	struct jl_probe_source *source = NULL;
	struct jl_buf text = { 0 };
	struct jl_err err = { 0 };
	const struct jl_finding *f;

	(void)state;
	assert_int_equal(jl_buf_read_file(&text, MACHINES "dgx-station-v100/machine.txt", 1 << 20, &err), JL_OK);
	assert_int_equal(jl_source_replay_text(&source, "no driver", text.data, text.len, NULL, 0, &arena, &err),
			 JL_OK);
	assert_int_equal(jl_probe_machine(source, jl_catalog_embedded(), NULL, &arena, &machine, &err), JL_OK);
	assert_int_equal(machine->n_gpus, 4);
	f = must(judge(machine), "no_driver");
	assert_non_null(f);
	assert_int_equal(f->severity, JL_FINDING_BAD);
	assert_non_null(strstr(f->what.en, "GPU0–GPU3"));
	jl_source_destroy(source);
	jl_buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ten_3090), cmocka_unit_test(test_healthy),   cmocka_unit_test(test_faults),
		cmocka_unit_test(test_changed),  cmocka_unit_test(test_no_driver),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
