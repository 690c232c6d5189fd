/* Probing captured machines. */
#include "machines.h"

#include <math.h>

#include "base/mem.h"

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

/* Cluster host with ten RTX 3090: matches its owner's documentation. */
static void test_ten_3090(void **state)
{
	const struct jl_probe_machine *m = read_machine("supermicro-10x-rtx3090", &arena);

	(void)state;
	assert_int_equal(m->n_gpus, 10);
	assert_string_equal(m->board, "X12DPG-OA6");
	assert_string_equal(m->system, "10x rtx-3090 via pcie4-no-p2p");
	assert_string_equal(m->short_name, "2x Xeon Gold 6330, 512 GiB, 10x RTX 3090");
	assert_string_equal(m->net, "10gbe-lacp2");
	assert_int_equal(m->n_net, 1);
	assert_string_equal(m->listed_cpu->id, "xeon-gold-6330");
	assert_int_equal(m->cpu.n_sockets, 2);
	assert_int_equal(m->cpu.n_cores, 56);
	assert_int_equal(m->cpu.n_threads, 112);
	assert_int_equal(m->n_nodes, 2);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(m->gpus[i].numa, i < 5 ? 0 : 1);
		assert_string_equal(m->gpus[i].listed->id, "rtx-3090");
		assert_int_equal(m->gpus[i].now.gen, 4);
		assert_true(m->gpus[i].under_load);
	}
	/* pairs behind one switch: 52/53, 56/57, D1/D2, D5/D6 */
	assert_int_equal(jl_probe_path(m, 1, 2), JL_PATH_PIX);
	assert_int_equal(jl_probe_path(m, 3, 4), JL_PATH_PIX);
	assert_int_equal(jl_probe_path(m, 6, 7), JL_PATH_PIX);
	assert_int_equal(jl_probe_path(m, 8, 9), JL_PATH_PIX);
	assert_int_equal(jl_probe_path(m, 0, 1), JL_PATH_PXB);
	assert_int_equal(jl_probe_path(m, 2, 3), JL_PATH_PXB);
	assert_int_equal(jl_probe_path(m, 4, 5), JL_PATH_SYS);
	assert_int_equal(m->nvml->p2p[JL_P2P_READ][1], JL_P2P_CNS);
	assert_string_equal(m->nics[0].bond_mode, "802.3ad");
	assert_float_equal(m->nics[0].Bps, 2.5e9, 1);
}

static void test_rtx_pro(void **state)
{
	const struct jl_probe_machine *m = read_machine("server-4x-rtx-pro-6000", &arena);

	(void)state;
	assert_string_equal(m->system, "4x rtx-pro-6000-blackwell-server via pcie5");
	assert_int_equal(jl_probe_path(m, 0, 1), JL_PATH_NODE);
	assert_int_equal(jl_probe_path(m, 1, 2), JL_PATH_SYS);
	assert_int_equal(m->gpus[3].card.gen, 5);
	assert_string_equal(m->net, "10gbe");
}

static void test_dgx_station(void **state)
{
	const struct jl_probe_machine *m = read_machine("dgx-station-v100", &arena);

	(void)state;
	assert_string_equal(m->system, "4x v100-dgxs-32gb via nvlink2-mesh");
	assert_string_equal(m->listed_system->id, "dgx-station-v100-32gb");
	assert_int_equal(jl_probe_nvlinks(m, 0, 3), 2);
	assert_int_equal(jl_probe_nvlinks(m, 0, 1), 1);
	assert_int_equal(jl_probe_nvlinks(m, 3, 0), 2);
	assert_false(jl_probe_nvswitched(m, 0));
	assert_string_equal(m->listed_cpu->id, "xeon-e5-2698v4");
}

static void test_hgx(void **state)
{
	const struct jl_probe_machine *m = read_machine("hgx-h100-8gpu", &arena);

	(void)state;
	assert_string_equal(m->system, "8x h100-sxm5 via nvlink4-switch");
	assert_string_equal(m->listed_system->id, "hgx-h100-8gpu");
	assert_int_equal(m->n_nvswitches, 4);
	assert_int_equal(m->n_rdma, 8);
	assert_string_equal(m->net, "ib-ndr");
	assert_int_equal(m->n_net, 8);
	assert_true(jl_probe_nvswitched(m, 7));
	assert_float_equal(m->rdma[0].Bps, 50e9, 1);
}

static void test_no_gpu(void **state)
{
	const struct jl_probe_machine *m = read_machine("gpuless-arm64-vm", &arena);

	(void)state;
	assert_int_equal(m->n_gpus, 0);
	assert_null(m->system);
	assert_non_null(m->system_why_en);
	assert_string_equal(m->short_name, "2x Neoverse-N1, 24 GiB, no GPU");
	assert_string_equal(m->short_name_text, "2x Neoverse-N1, 24 GiB, GPU 없음");
	assert_string_equal(m->arch, "aarch64");
	assert_string_equal(m->limits.vm, "kvm (virtio)");
	assert_true(isnan(m->limits.cpu_quota) && isnan(m->limits.memory_B));
	assert_true(m->nvml->absent_en[0] != '\0');
	assert_int_equal(m->n_nics, 1);
	assert_true(m->nics[0].pci >= 0);
}

static void test_limits(void **state)
{
	const struct jl_probe_machine *m = read_machine("workstation-with-faults", &arena);

	(void)state;
	assert_float_equal(m->limits.cpu_quota, 4, 1e-9); /* from the parent group: its own is "max" */
	assert_float_equal(m->limits.memory_B, 64 * 1073741824.0, 1);
	assert_string_equal(m->limits.in, "docker");
	assert_null(m->product); /* "System Product Name" is a placeholder */
	assert_int_equal(m->gpus[1].slot.width, 8);
	assert_int_equal(m->gpus[1].card.width, 16);
	assert_string_equal(m->join, "pcie3-x8-p2p");
	assert_true(m->iommu_on);
	assert_string_equal(m->boot_iommu, "amd_iommu=on");
}

/* The fingerprint ignores kernel, clock and memory usage, but not the board or a missing core. */
static void test_fingerprint(void **state)
{
	const char *name = "dgx-station-v100";
	const struct jl_probe_machine *m = read_machine(name, &arena);
	const char *same[][2] = { { "5.4.0-182-generic", "6.8.0-51-generic" },
				  { "MemTotal:       263", "MemTotal:       262" },
				  { "Ubuntu 20.04.6 LTS", "Ubuntu 24.04 LTS" },
				  { "powersave", "performance" } };
	const char *other[][2] = { { "X99-E-10G WS", "X12DPG-OA6" },
				   { "E5-2698 v4", "E5-2686 v4" },
				   { "0x1563", "0x1521" } };

	(void)state;
	assert_int_equal(strlen(jl_probe_fingerprint(m)), 16);
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		assert_string_equal(jl_probe_fingerprint(read_changed(name, same[i][0], same[i][1], &arena)),
				    jl_probe_fingerprint(m));
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		assert_string_not_equal(jl_probe_fingerprint(read_changed(name, other[i][0], other[i][1], &arena)),
					jl_probe_fingerprint(m));
	assert_string_not_equal(jl_probe_fingerprint(read_machine("hgx-h100-8gpu", &arena)), jl_probe_fingerprint(m));
}

/* Cyclic trees, devices that are their own parent, absurd numbers. */
static void test_nonsense(void **state)
{
	static const char text[] = "jeoul capture 1\n"
				   "list /sys/bus/pci/devices\n\t0000:01:00.0\n\t0000:02:00.0\n\t0000:03:00.0\n"
				   "link /sys/bus/pci/devices/0000:01:00.0 ../pci0000:00/0000:02:00.0/0000:01:00.0\n"
				   "link /sys/bus/pci/devices/0000:02:00.0 ../pci0000:00/0000:01:00.0/0000:02:00.0\n"
				   "link /sys/bus/pci/devices/0000:03:00.0 ../pci0000:00/0000:03:00.0/0000:03:00.0\n"
				   "file /sys/bus/pci/devices/0000:01:00.0/class\n\t0x030000\n"
				   "file /sys/bus/pci/devices/0000:01:00.0/vendor\n\t0x10de\n"
				   "file /sys/bus/pci/devices/0000:01:00.0/max_link_width\n\t99999\n"
				   "file /sys/devices/system/cpu/online\n\t0-99999999\n"
				   "file /sys/devices/system/node/online\n\t5-2,x\n"
				   "file /proc/meminfo\n\tMemTotal: -5 kB\n"
				   "file /proc/self/cgroup\n\t0::/../../etc\n"
				   "end 11\n";
	const struct jl_probe_machine *m = NULL;
	struct jl_probe_source *source = NULL;
	struct jl_err err = { 0 };

	(void)state;
	assert_int_equal(jl_source_replay_text(&source, "nonsense", text, sizeof(text) - 1, NULL, 0, &arena, &err),
			 JL_OK);
	assert_int_equal(jl_probe_machine(source, jl_catalog_embedded(), NULL, &arena, &m, &err), JL_OK);
	assert_int_equal(m->n_gpus, 1);
	assert_null(m->gpus[0].nvml);
	assert_int_equal(m->gpus[0].card.width, -1);
	assert_int_equal(m->cpu.n_threads, 1); /* at least the processor it runs on */
	assert_null(m->system);
	jl_source_destroy(source);
}

/* Any allocation may fail: it is reported, and nothing leaks. */
static void test_no_memory(void **state)
{
	enum jl_status status = JL_E_NOMEM;

	(void)state;
	for (size_t nth = 1; status != JL_OK && nth < 2000; nth++) {
		const struct jl_probe_machine *m = NULL;
		struct jl_probe_source *source = NULL;
		struct jl_arena small;
		struct jl_err err = { 0 };

		jl_arena_init(&small, JL_ARENA_LIMIT_B);
		jl_mem_fail_from(nth);
		status = jl_source_replay(&source, MACHINES "dgx-station-v100", &small, &err);
		if (!status)
			status = jl_probe_machine(source, jl_catalog_embedded(), NULL, &small, &m, &err);
		jl_mem_fail_from(0);
		assert_true(status == JL_OK || err.en[0]);
		jl_source_destroy(source);
		jl_arena_release(&small);
	}
	assert_int_equal(status, JL_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ten_3090), cmocka_unit_test(test_rtx_pro),     cmocka_unit_test(test_dgx_station),
		cmocka_unit_test(test_hgx),      cmocka_unit_test(test_no_gpu),      cmocka_unit_test(test_limits),
		cmocka_unit_test(test_nonsense), cmocka_unit_test(test_fingerprint), cmocka_unit_test(test_no_memory),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
