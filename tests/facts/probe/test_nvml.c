/* NVML reader, with a fake library. */
#include "machines.h"
#include "probe/rocm_smi.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct jl_arena arena;

static int set_up(void **state)
{
	const char *fake = getenv("JEOUL_FAKE_NVML");

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return fake ? setenv("JEOUL_NVML", fake, 1) : -1;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static int clean(void **state)
{
	static const char *const names[] = { "GPUS", "NAME", "P2P", "NVLINK", "SWITCH", "INIT", "LOST", "UNSUPPORTED" };
	char name[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(name, sizeof(name), "FAKE_NVML_%s", names[i]);
		unsetenv(name);
	}
	return 0;
}

static struct jl_nvml_snapshot read_all(void)
{
	struct jl_nvml_snapshot snap = { 0 };
	struct jl_nvml *nvml = NULL;
	struct jl_err err = { 0 };

	assert_int_equal(jl_nvml_open(&nvml, &err), JL_OK);
	assert_int_equal(jl_nvml_read(nvml, &arena, &snap, &err), JL_OK);
	jl_nvml_close(nvml);
	return snap;
}

static void test_amd(void **state)
{
	struct jl_nvml_snapshot snap = { 0 };
	struct jl_err err = { 0 };
	const char *fake = getenv("JEOUL_FAKE_ROCM_SMI");

	(void)state;
	assert_non_null(fake);
	setenv("JEOUL_ROCM_SMI", fake, 1);
	assert_int_equal(jl_rocm_smi_read(&arena, &snap, &err), JL_OK);
	assert_int_equal(snap.n_gpus, 2);
	assert_true(jl_rocm_smi_said(&snap));
	assert_string_equal(snap.driver, "amdgpu 6.8.5");
	const struct jl_nvml_gpu *gpu = &snap.gpus[1];
	assert_string_equal(gpu->name, "AMD Instinct MI300X");
	assert_string_equal(gpu->bus, "0001:44:02.1");
	assert_true(gpu->mem_B == 192.0 * 1073741824 && gpu->mem_used_B == 3.0 * 1073741824);
	assert_true(gpu->limit_W == 600 && gpu->limit_default_W == 750 && gpu->limit_max_W == 750);
	assert_true(fabs(gpu->power_W - 140.5) < 1e-3 && gpu->temperature_C == 41.5 && gpu->busy_frac == 0.07);
	assert_true(isnan(gpu->sm_Hz) && gpu->throttle == -1 && gpu->n_links == 0);
	setenv("FAKE_ROCM_UNSUPPORTED", "1", 1);
	assert_int_equal(jl_rocm_smi_read(&arena, &snap, &err), JL_OK);
	assert_true(snap.gpus[0].name[0] == '\0' && snap.gpus[0].bus[0] == '\0' && isnan(snap.gpus[0].mem_B));
	setenv("FAKE_ROCM_GPUS", "4000", 1);
	assert_int_equal(jl_rocm_smi_read(&arena, &snap, &err), JL_OK);
	assert_int_equal(snap.n_gpus, JL_NVML_GPUS_MAX);
	setenv("FAKE_ROCM_INIT", "8", 1);
	assert_int_equal(jl_rocm_smi_read(&arena, &snap, &err), JL_E_ABSENT);
	assert_non_null(strstr(err.en, "init error"));
	unsetenv("FAKE_ROCM_UNSUPPORTED");
	unsetenv("FAKE_ROCM_GPUS");
	unsetenv("FAKE_ROCM_INIT");
	setenv("JEOUL_ROCM_SMI", "/nowhere/librocm_smi64.so", 1);
	assert_int_equal(jl_rocm_smi_read(&arena, &snap, &err), JL_E_ABSENT);
}

static void test_facts(void **state)
{
	struct jl_nvml_snapshot snap = read_all();
	const struct jl_nvml_gpu *gpu = &snap.gpus[1];

	(void)state;
	assert_int_equal(snap.n_gpus, 2);
	assert_string_equal(snap.driver, "999.01");
	assert_int_equal(snap.cuda, 13010);
	assert_string_equal(gpu->name, "NVIDIA GeForce RTX 3090");
	assert_string_equal(gpu->bus, "0000:11:00.0");
	assert_true(gpu->mem_B == 24576.0 * 1048576);
	assert_true(gpu->sm_Hz == 210e6 && gpu->sm_max_Hz == 2100e6 && gpu->mem_max_Hz == 9751e6);
	assert_true(gpu->limit_W == 300 && gpu->limit_default_W == 350 && gpu->power_W == 24.5);
	assert_true(gpu->temperature_C == 31 && gpu->busy_frac == 0.03);
	assert_int_equal(gpu->pcie_gen, 1);
	assert_int_equal(gpu->pcie_width_max, 16);
	assert_int_equal(gpu->persistence, 1);
	assert_int_equal(gpu->throttle, JL_THROTTLE_POWER_CAP); /* through its older name */
	/* not supported, or missing in this library: unknown */
	assert_int_equal(gpu->ecc, -1);
	assert_int_equal(gpu->mig, -1);
	assert_true(isnan(gpu->limit_max_W));
	assert_int_equal(gpu->pcie_gen_busy, -1);
}

static void test_p2p_and_links(void **state)
{
	struct jl_nvml_snapshot snap;

	(void)state;
	setenv("FAKE_NVML_GPUS", "4", 1);
	setenv("FAKE_NVML_P2P", "1", 1);
	setenv("FAKE_NVML_NVLINK", "4", 1);
	snap = read_all();
	assert_int_equal(snap.p2p[JL_P2P_READ][1], JL_P2P_CNS);
	assert_int_equal(snap.p2p[JL_P2P_ATOMICS][5], JL_P2P_OK); /* the GPU itself */
	assert_int_equal(snap.gpus[2].n_links, 4);
	assert_string_equal(snap.gpus[2].links[0].remote, "0000:13:00.0");
	assert_int_equal(snap.gpus[2].links[3].end, JL_NVLINK_GPU);
	assert_true(snap.gpus[2].links[0].oneway_Bps == 14062e6);
	setenv("FAKE_NVML_SWITCH", "1", 1);
	setenv("FAKE_NVML_P2P", "77", 1);
	snap = read_all();
	assert_int_equal(snap.gpus[0].links[0].end, JL_NVLINK_SWITCH);
	assert_int_equal(snap.p2p[JL_P2P_READ][1], JL_P2P_U);
}

static void test_trouble(void **state)
{
	struct jl_nvml_snapshot snap;
	struct jl_nvml *nvml = NULL;
	struct jl_err err = { 0 };
	struct jl_nvml_gpu now;
	char fake[1024];

	(void)state;
	setenv("FAKE_NVML_INIT", "9", 1);
	assert_int_equal(jl_nvml_open(&nvml, &err), JL_E_ABSENT);
	assert_non_null(strstr(err.en, "Driver Not Loaded"));
	unsetenv("FAKE_NVML_INIT");
	setenv("FAKE_NVML_GPUS", "4000", 1);
	assert_int_equal(read_all().n_gpus, JL_NVML_GPUS_MAX);
	setenv("FAKE_NVML_GPUS", "3", 1);
	setenv("FAKE_NVML_LOST", "1", 1);
	assert_int_equal(read_all().n_gpus, 2);
	setenv("FAKE_NVML_UNSUPPORTED", "1", 1);
	snap = read_all();
	assert_true(isnan(snap.gpus[0].sm_Hz) && isnan(snap.gpus[0].limit_W) && snap.gpus[0].pstate == -1);
	assert_int_equal(snap.p2p[JL_P2P_READ][1], JL_P2P_U);
	assert_int_equal(snap.gpus[0].throttle, -1);
	assert_int_equal(jl_nvml_open(&nvml, &err), JL_OK);
	jl_nvml_watch(nvml, 99, &now);
	assert_true(isnan(now.sm_Hz));
	jl_nvml_close(nvml);
	jl_nvml_close(NULL);
	snprintf(fake, sizeof(fake), "%s", getenv("JEOUL_NVML"));
	setenv("JEOUL_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
	assert_int_equal(jl_nvml_open(&nvml, &err), JL_E_ABSENT);
	setenv("JEOUL_NVML", fake, 1);
}

static void test_energy(void **state)
{
	size_t gpu = 99;
	struct jl_nvml *nvml = jl_nvml_open_at("0000:11:00.0", &gpu);

	(void)state;
	assert_non_null(nvml);
	assert_int_equal(gpu, 1);
	assert_null(jl_nvml_open_at("0000:12:00.0", &gpu));
	assert_null(jl_nvml_open_at("nothing", &gpu));
	assert_int_equal(gpu, 1);
	double before_J = jl_nvml_energy_J(nvml, gpu);
	assert_true(before_J > 1000);
	assert_true(fabs(jl_nvml_energy_J(nvml, gpu) - before_J - 26) < 1e-9);
	assert_true(isnan(jl_nvml_energy_J(nvml, 2)));
	setenv("FAKE_NVML_UNSUPPORTED", "1", 1);
	assert_true(isnan(jl_nvml_energy_J(nvml, gpu)));
	jl_nvml_close(nvml);
}

/* Reasons reported by drivers at full load: an H200 at its power cap, locked with -lgc, with application clocks, at a lower limit, hot. */
static void test_held_clocks(void **state)
{
	static const struct {
		double sm_Hz, sm_max_Hz, limit_W;
		int reasons;
		const char *held_by;
	} rows[] = {
		{ 1485e6, 1980e6, 700, JL_THROTTLE_POWER_CAP, NULL },
		{ 1980e6, 1980e6, 700, 0, NULL },
		{ 990e6, 1980e6, 700, 0, JL_HELD_LOCKED },
		{ 990e6, 1980e6, 700, JL_THROTTLE_IDLE, JL_HELD_LOCKED },
		{ 1200e6, 1980e6, 700, JL_THROTTLE_APP_CLOCKS, JL_HELD_APP_CLOCKS },
		{ 1005e6, 1980e6, 400, JL_THROTTLE_POWER_CAP, JL_HELD_POWER_LIMIT },
		{ 1500e6, 1980e6, 700, JL_THROTTLE_SW_THERMAL | JL_THROTTLE_POWER_CAP, JL_HELD_HEAT },
		{ 600e6, 1980e6, 700, JL_THROTTLE_HW_SLOWDOWN | JL_THROTTLE_POWER_BRAKE, JL_HELD_POWER_BRAKE },
		{ 990e6, 1980e6, 700, -1, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct jl_nvml_gpu gpu = { .sm_Hz = rows[i].sm_Hz,
						 .sm_max_Hz = rows[i].sm_max_Hz,
						 .limit_W = rows[i].limit_W,
						 .limit_default_W = 700,
						 .throttle = rows[i].reasons };
		const char *held_by = jl_nvml_held_by(&gpu);

		if (!held_by != !rows[i].held_by || (held_by && strcmp(held_by, rows[i].held_by) != 0))
			fail_msg("row %zu: %s", i, held_by ? held_by : "nothing");
	}
}

static void test_neighbour(void **state)
{
	char text[96];
	struct jl_nvml *nvml = NULL;
	double mem_B = NAN;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_nvml_open(&nvml, &err), JL_OK);
	unsetenv("FAKE_NVML_NEIGHBOUR");
	assert_false(jl_nvml_neighbour(nvml, 0, text, sizeof(text), &mem_B)); /* the process itself does not count */
	setenv("FAKE_NVML_NEIGHBOUR", "1", 1);
	assert_true(jl_nvml_neighbour(nvml, 0, text, sizeof(text), &mem_B));
	assert_non_null(strstr(text, "(1)"));
	assert_true(mem_B == 12.0 * (1 << 30));

	/* another program in the shell's process group */
	char pid[16];
	const pid_t child = fork();

	if (child == 0) {
		execlp("sleep", "sleep", "20", (char *)NULL);
		_exit(127);
	}
	assert_true(child > 0);
	(void)snprintf(pid, sizeof(pid), "%d", (int)child);
	setenv("FAKE_NVML_NEIGHBOUR", pid, 1);
	bool seen = false;

	for (int i = 0; i < 500 && !seen; i++) { /* until the child has executed sleep */
		seen = jl_nvml_neighbour(nvml, 0, text, sizeof(text), &mem_B) && strncmp(text, "sleep (", 7) == 0;
		(void)usleep(10000);
	}
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	assert_true(seen);
	unsetenv("FAKE_NVML_NEIGHBOUR");
	jl_nvml_close(nvml);
}

static void test_bus_ids(void **state)
{
	char out[32];

	(void)state;
	jl_nvml_bus_id(out, "00000000:52:00.0");
	assert_string_equal(out, "0000:52:00.0");
	jl_nvml_bus_id(out, "0001:D1:00.0");
	assert_string_equal(out, "0001:d1:00.0");
	jl_nvml_bus_id(out, "d1:1f.7");
	assert_string_equal(out, "0000:d1:1f.7");
	jl_nvml_bus_id(out, "nothing");
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amd),
		cmocka_unit_test_teardown(test_facts, clean),
		cmocka_unit_test_teardown(test_p2p_and_links, clean),
		cmocka_unit_test_teardown(test_trouble, clean),
		cmocka_unit_test_teardown(test_energy, clean),
		cmocka_unit_test(test_held_clocks),
		cmocka_unit_test(test_neighbour),
		cmocka_unit_test(test_bus_ids),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
