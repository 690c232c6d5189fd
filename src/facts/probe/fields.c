/* A probed machine as JSON: units in the keys, unknown values are null. */
#include <math.h>

#include "probe/nvml_json.h"
#include "probe/rocm_smi.h"
#include "probe/probe.h"

#define COUNT(S, M)    JL_FIELD(S, INT, M), .flags = JL_FF_COUNT
#define MAYBE(S, M, K) JL_FIELD_AS(S, TEXT, M, K), .flags = JL_FF_OMIT

JL_NUMBER_OF(link_Bps, jl_pci_link, jl_probe_pcie_Bps(*r));

static const struct jl_field link_rows[] = {
	{ COUNT(jl_pci_link, gen) },
	{ COUNT(jl_pci_link, width) },
	{ JL_FIELD_NUMBER_OF("oneway_Bps", link_Bps) },
};
static const struct jl_schema link_fields = JL_SCHEMA("link", jl_pci_link, link_rows);

#define M(TYPE, MEMBER, KEY) JL_FIELD_AS(jl_probe_machine, TYPE, MEMBER, KEY)

JL_TEXT_OF(driver, jl_probe_machine, r->nvml->driver[0] && !jl_rocm_smi_said(r->nvml) ? r->nvml->driver : NULL);
JL_TEXT_OF(amd_driver, jl_probe_machine, jl_rocm_smi_said(r->nvml) ? r->nvml->driver : NULL);
JL_TEXT_OF(nvml_absent, jl_probe_machine, r->nvml->absent_en[0] ? r->nvml->absent_en : NULL);
JL_NUMBER_OF(cuda, jl_probe_machine, r->nvml->cuda < 0 ? NAN : (double)r->nvml->cuda);

static const struct jl_field software_rows[] = {
	{ JL_FIELD(jl_probe_machine, TEXT, os) },
	{ JL_FIELD(jl_probe_machine, TEXT, kernel) },
	{ JL_FIELD(jl_probe_machine, TEXT, arch) },
	{ JL_FIELD_TEXT_OF("nvidia_driver", driver) },
	{ JL_FIELD_TEXT_OF("amd_driver", amd_driver) },
	{ JL_FIELD_NUMBER_OF("cuda", cuda) },
	{ JL_FIELD_TEXT_OF("nvml_absent", nvml_absent) },
	{ M(TEXT, limits.in, "container") },
	{ M(TEXT, limits.vm, "vm") },
	{ M(NUMBER, limits.cpu_quota, "cpu_quota") },
	{ M(NUMBER, limits.memory_B, "memory_limit_B") },
	{ M(BOOL, iommu_on, "iommu") },
};
static const struct jl_schema software_fields = JL_SCHEMA("software", jl_probe_machine, software_rows);

static const struct jl_field cache_rows[] = {
	{ JL_FIELD(jl_probe_cache, INT, level) },
	{ JL_FIELD(jl_probe_cache, TEXT, type) },
	{ JL_FIELD(jl_probe_cache, NUMBER, size_B) },
	{ JL_FIELD(jl_probe_cache, INT, n) },
};
static const struct jl_schema cache_fields = JL_SCHEMA("cache", jl_probe_cache, cache_rows);

JL_TEXT_OF(listed_cpu, jl_probe_machine, r->listed_cpu ? r->listed_cpu->id : NULL);

static const struct jl_field cpu_rows[] = {
	{ M(TEXT, cpu.model, "model") },
	{ M(TEXT, cpu.vendor, "vendor") },
	{ JL_FIELD_TEXT_OF("catalog", listed_cpu) },
	{ M(INT, cpu.n_sockets, "n_sockets") },
	{ M(INT, cpu.n_cores, "n_cores") },
	{ M(INT, cpu.n_threads, "n_threads") },
	{ M(INT, cpu.n_allowed, "n_threads_allowed") },
	{ M(TEXT, cpu.governor, "governor") },
	{ JL_FIELD_MANY(jl_probe_machine, ARRAY, cpu.caches, cpu.n_caches, "caches", &cache_fields) },
};
static const struct jl_schema cpu_fields = JL_SCHEMA("cpu", jl_probe_machine, cpu_rows);

static const struct jl_field node_rows[] = {
	{ JL_FIELD(jl_probe_node, INT, id) },
	{ JL_FIELD(jl_probe_node, NUMBER, mem_B) },
	{ JL_FIELD(jl_probe_node, TEXT, cpus) },
};
static const struct jl_schema node_fields = JL_SCHEMA("numa_node", jl_probe_node, node_rows);

static const struct jl_field memory_rows[] = {
	{ JL_FIELD(jl_probe_memory, NUMBER, total_B) },
	{ JL_FIELD(jl_probe_memory, NUMBER, available_B) },
	{ JL_FIELD(jl_probe_memory, NUMBER, swap_B) },
	{ JL_FIELD(jl_probe_memory, NUMBER, swap_used_B) },
};
static const struct jl_schema memory_fields = JL_SCHEMA("memory", jl_probe_memory, memory_rows);

JL_TEXT_OF(listed_gpu, jl_probe_gpu, r->listed ? r->listed->id : NULL);

static const struct jl_field gpu_rows[] = {
	{ JL_FIELD_TEXT_OF("catalog", listed_gpu) },
	{ COUNT(jl_probe_gpu, numa) },
	{ JL_FIELD_AS(jl_probe_gpu, SUB, now, "link_now"), .sub = &link_fields },
	{ JL_FIELD_AS(jl_probe_gpu, BOOL, under_load, "link_under_load") },
	{ JL_FIELD_AS(jl_probe_gpu, SUB, most, "link_possible"), .sub = &link_fields },
	{ JL_FIELD_AS(jl_probe_gpu, SUB, card, "link_card"), .sub = &link_fields },
	{ JL_FIELD_AS(jl_probe_gpu, TEXT, shares_bus, "shared_switch") },
};
static const struct jl_schema gpu_fields = JL_SCHEMA("gpu", jl_probe_gpu, gpu_rows);

/* NVML facts are merged into the PCI facts of each GPU. */
static void write_gpus(struct jl_json *json, const void *record)
{
	const struct jl_probe_machine *m = record;

	jl_json_array(json);
	for (size_t i = 0; i < m->n_gpus; i++) {
		jl_json_object(json);
		jl_json_put_integer(json, "index", (long long)i);
		if (m->gpus[i].nvml)
			jl_nvml_gpu_json(json, m->gpus[i].nvml, m->with_names);
		else
			jl_json_put_string(json, "name", m->gpus[i].name);
		jl_fields_put(json, &gpu_fields, &m->gpus[i]);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

static void write_paths(struct jl_json *json, const void *record)
{
	const struct jl_probe_machine *m = record;

	jl_json_array(json);
	for (size_t a = 0; a < m->n_gpus; a++) {
		jl_json_array(json);
		for (size_t b = 0; b < m->n_gpus; b++)
			jl_json_string(json, a == b ? "X" : jl_probe_path_names[jl_probe_path(m, a, b)]);
		jl_json_end_array(json);
	}
	jl_json_end_array(json);
}

static void write_p2p(struct jl_json *json, const void *record)
{
	jl_nvml_p2p_json(json, ((const struct jl_probe_machine *)record)->nvml);
}

JL_BOOL_OF(has_link, jl_probe_pci, r->most.gen > 0);

static const struct jl_field pci_rows[] = {
	{ JL_FIELD(jl_probe_pci, TEXT, bus) },
	{ JL_FIELD_AS(jl_probe_pci, INT, class_code, "class") },
	{ JL_FIELD(jl_probe_pci, INT, vendor) },
	{ JL_FIELD(jl_probe_pci, INT, device) },
	{ COUNT(jl_probe_pci, numa) },
	{ JL_FIELD_AS(jl_probe_pci, TEXT, parent_bus, "parent") },
	{ JL_FIELD(jl_probe_pci, TEXT, root) },
	{ MAYBE(jl_probe_pci, driver, "driver") },
	{ JL_FIELD_AS(jl_probe_pci, SUB, now, "link_now"), .sub = &link_fields, .when = has_link },
	{ JL_FIELD_AS(jl_probe_pci, SUB, most, "link_possible"), .sub = &link_fields, .when = has_link },
	{ MAYBE(jl_probe_pci, acs, "acs") },
	{ MAYBE(jl_probe_pci, iommu_type, "iommu_type") },
};
static const struct jl_schema pci_fields = JL_SCHEMA("pci", jl_probe_pci, pci_rows);

static const struct jl_field nic_rows[] = {
	{ JL_FIELD(jl_probe_nic, TEXT, name) },
	{ JL_FIELD(jl_probe_nic, TEXT, driver) },
	{ JL_FIELD(jl_probe_nic, NUMBER, Bps) },
	{ JL_FIELD(jl_probe_nic, BOOL, up) },
	{ COUNT(jl_probe_nic, numa) },
	{ JL_FIELD_AS(jl_probe_nic, TEXT, pci_bus, "pci") },
	{ JL_FIELD(jl_probe_nic, TEXT, bond_mode) },
	{ JL_FIELD_AS(jl_probe_nic, TEXT, slaves, "bond_slaves") },
	{ JL_FIELD_AS(jl_probe_nic, TEXT, master, "bond") },
};
static const struct jl_schema nic_fields = JL_SCHEMA("nic", jl_probe_nic, nic_rows);

static const struct jl_field rdma_rows[] = {
	{ JL_FIELD(jl_probe_rdma, TEXT, name) },
	{ JL_FIELD(jl_probe_rdma, TEXT, layer) },
	{ JL_FIELD(jl_probe_rdma, TEXT, rate) },
	{ JL_FIELD(jl_probe_rdma, NUMBER, Bps) },
	{ JL_FIELD(jl_probe_rdma, BOOL, active) },
	{ COUNT(jl_probe_rdma, numa) },
	{ JL_FIELD_AS(jl_probe_rdma, TEXT, pci_bus, "pci") },
};
static const struct jl_schema rdma_fields = JL_SCHEMA("rdma", jl_probe_rdma, rdma_rows);

JL_BOOL_OF(rotates, jl_probe_disk, r->rotational == 1);

static const struct jl_field disk_rows[] = {
	{ JL_FIELD(jl_probe_disk, TEXT, name) },
	{ JL_FIELD(jl_probe_disk, TEXT, model) },
	{ JL_FIELD(jl_probe_disk, NUMBER, size_B) },
	{ JL_FIELD_BOOL_OF("rotational", rotates) },
};
static const struct jl_schema disk_fields = JL_SCHEMA("disk", jl_probe_disk, disk_rows);

JL_TEXT_OF(record_name, jl_probe_machine, r ? "machine" : NULL);
JL_BOOL_OF(no_system, jl_probe_machine, !r->system);
JL_TEXT_OF(system_why, jl_probe_machine, r->system_why_en);
JL_TEXT_OF(listed_system, jl_probe_machine, r->listed_system ? r->listed_system->id : NULL);
JL_BOOL_OF(named, jl_probe_machine, r->with_names);

static const struct jl_field machine_rows[] = {
	{ JL_FIELD_TEXT_OF("record", record_name) },
	{ M(TEXT, short_name, "name") },
	{ JL_FIELD(jl_probe_machine, CHARS, fingerprint) },
	{ JL_FIELD(jl_probe_machine, TEXT, system) },
	{ JL_FIELD_TEXT_OF("system_why", system_why), .when = no_system },
	{ JL_FIELD_TEXT_OF("catalog_system", listed_system) },
	{ JL_FIELD(jl_probe_machine, TEXT, join) },
	{ M(TEXT, net, "network") },
	{ M(INT, n_net, "n_network") },
	{ JL_FIELD(jl_probe_machine, TEXT, hostname), .when = named },
	{ JL_FIELD(jl_probe_machine, TEXT, vendor) },
	{ JL_FIELD(jl_probe_machine, TEXT, product) },
	{ JL_FIELD(jl_probe_machine, TEXT, board) },
	{ JL_FIELD_GROUP("software", &software_fields) },
	{ JL_FIELD_GROUP("cpu", &cpu_fields) },
	{ JL_FIELD_MANY(jl_probe_machine, LIST, nodes, n_nodes, "numa_nodes", &node_fields) },
	{ JL_FIELD(jl_probe_machine, SUB, memory), .sub = &memory_fields },
	{ .member = "gpus", .type = JL_F_WRITTEN, .write = write_gpus },
	{ .member = "gpu_paths", .type = JL_F_WRITTEN, .write = write_paths },
	{ .member = "p2p", .type = JL_F_WRITTEN, .write = write_p2p },
	{ JL_FIELD(jl_probe_machine, INT, n_nvswitches) },
	{ JL_FIELD_MANY(jl_probe_machine, LIST, nics, n_nics, "nics", &nic_fields) },
	{ JL_FIELD_MANY(jl_probe_machine, LIST, rdma, n_rdma, "rdma", &rdma_fields) },
	{ JL_FIELD_MANY(jl_probe_machine, LIST, disks, n_disks, "disks", &disk_fields) },
	{ JL_FIELD_MANY(jl_probe_machine, LIST, pci, n_pci, "pci", &pci_fields) },
};
const struct jl_schema jl_machine_fields = JL_SCHEMA("machine", jl_probe_machine, machine_rows);
