/* A probed machine as JSON: everything that was found, units in the keys, unknown is null. */
#include <math.h>

#include "cli/probe_view.h"
#include "probe/nvml_json.h"

static void count_or_null(struct jl_json *json, const char *key, int value)
{
	jl_json_key(json, key);
	if (value < 0)
		jl_json_null(json);
	else
		jl_json_integer(json, value);
}

static void link_json(struct jl_json *json, const char *key, struct jl_pci_link link)
{
	jl_json_put_object(json, key);
	count_or_null(json, "gen", link.gen);
	count_or_null(json, "width", link.width);
	jl_json_put_number(json, "oneway_Bps", jl_probe_pcie_Bps(link));
	jl_json_end_object(json);
}

static void cpu_json(struct jl_json *json, const struct jl_probe_machine *machine)
{
	const struct jl_probe_cpu *cpu = &machine->cpu;

	jl_json_put_object(json, "cpu");
	jl_json_put_string(json, "model", cpu->model);
	jl_json_put_string(json, "vendor", cpu->vendor);
	jl_json_put_string(json, "catalog", machine->listed_cpu ? machine->listed_cpu->id : NULL);
	jl_json_put_integer(json, "n_sockets", cpu->n_sockets);
	jl_json_put_integer(json, "n_cores", cpu->n_cores);
	jl_json_put_integer(json, "n_threads", cpu->n_threads);
	jl_json_put_integer(json, "n_threads_allowed", cpu->n_allowed);
	jl_json_put_string(json, "governor", cpu->governor);
	jl_json_put_array(json, "caches");
	for (size_t i = 0; i < cpu->n_caches; i++) {
		jl_json_object(json);
		jl_json_put_integer(json, "level", cpu->caches[i].level);
		jl_json_put_string(json, "type", cpu->caches[i].type);
		jl_json_put_number(json, "size_B", cpu->caches[i].size_B);
		jl_json_put_integer(json, "n", cpu->caches[i].n);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
	jl_json_end_object(json);
	jl_json_put_array(json, "numa_nodes");
	for (size_t i = 0; i < machine->n_nodes; i++) {
		jl_json_object(json);
		jl_json_put_integer(json, "id", machine->nodes[i].id);
		jl_json_put_number(json, "mem_B", machine->nodes[i].mem_B);
		jl_json_put_string(json, "cpus", machine->nodes[i].cpus);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
	jl_json_put_object(json, "memory");
	jl_json_put_number(json, "total_B", machine->memory.total_B);
	jl_json_put_number(json, "available_B", machine->memory.available_B);
	jl_json_put_number(json, "swap_B", machine->memory.swap_B);
	jl_json_put_number(json, "swap_used_B", machine->memory.swap_used_B);
	jl_json_end_object(json);
}

static void software_json(struct jl_json *json, const struct jl_probe_machine *machine)
{
	jl_json_put_object(json, "software");
	jl_json_put_string(json, "os", machine->os);
	jl_json_put_string(json, "kernel", machine->kernel);
	jl_json_put_string(json, "arch", machine->arch);
	jl_json_put_string(json, "nvidia_driver", machine->nvml->driver[0] ? machine->nvml->driver : NULL);
	count_or_null(json, "cuda", machine->nvml->cuda);
	jl_json_put_string(json, "nvml_absent", machine->nvml->absent_en[0] ? machine->nvml->absent_en : NULL);
	jl_json_put_string(json, "container", machine->limits.in);
	jl_json_put_string(json, "vm", machine->limits.vm);
	jl_json_put_number(json, "cpu_quota", machine->limits.cpu_quota);
	jl_json_put_number(json, "memory_limit_B", machine->limits.memory_B);
	jl_json_put_bool(json, "iommu", machine->iommu_on);
	jl_json_end_object(json);
}

static void gpus_json(struct jl_json *json, const struct jl_probe_machine *machine, bool with_names)
{
	jl_json_put_array(json, "gpus");
	for (size_t i = 0; i < machine->n_gpus; i++) {
		const struct jl_probe_gpu *gpu = &machine->gpus[i];

		jl_json_object(json);
		jl_json_put_integer(json, "index", (long long)i);
		if (gpu->nvml)
			jl_nvml_gpu_json(json, gpu->nvml, with_names);
		else
			jl_json_put_string(json, "name", gpu->name);
		jl_json_put_string(json, "catalog", gpu->listed ? gpu->listed->id : NULL);
		count_or_null(json, "numa", gpu->numa);
		link_json(json, "link_now", gpu->now);
		jl_json_put_bool(json, "link_under_load", gpu->under_load);
		link_json(json, "link_possible", gpu->most);
		link_json(json, "link_card", gpu->card);
		jl_json_put_string(json, "shared_switch", gpu->shares >= 0 ? machine->pci[gpu->shares].bus : NULL);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
	jl_json_put_array(json, "gpu_paths");
	for (size_t a = 0; a < machine->n_gpus; a++) {
		jl_json_array(json);
		for (size_t b = 0; b < machine->n_gpus; b++)
			jl_json_string(json, a == b ? "X" : jl_probe_path_names[jl_probe_path(machine, a, b)]);
		jl_json_end_array(json);
	}
	jl_json_end_array(json);
	jl_nvml_p2p_json(json, machine->nvml);
}

static void pci_json(struct jl_json *json, const struct jl_probe_machine *machine)
{
	jl_json_put_array(json, "pci");
	for (size_t i = 0; i < machine->n_pci; i++) {
		const struct jl_probe_pci *device = &machine->pci[i];

		jl_json_object(json);
		jl_json_put_string(json, "bus", device->bus);
		jl_json_put_integer(json, "class", device->class_code);
		jl_json_put_integer(json, "vendor", device->vendor);
		jl_json_put_integer(json, "device", device->device);
		count_or_null(json, "numa", device->numa);
		jl_json_put_string(json, "parent", device->parent >= 0 ? machine->pci[device->parent].bus : NULL);
		jl_json_put_string(json, "root", device->root);
		if (device->driver)
			jl_json_put_string(json, "driver", device->driver);
		if (device->most.gen > 0) {
			link_json(json, "link_now", device->now);
			link_json(json, "link_possible", device->most);
		}
		if (device->acs)
			jl_json_put_string(json, "acs", device->acs);
		if (device->iommu_type)
			jl_json_put_string(json, "iommu_type", device->iommu_type);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

static void net_json(struct jl_json *json, const struct jl_probe_machine *machine)
{
	jl_json_put_array(json, "nics");
	for (size_t i = 0; i < machine->n_nics; i++) {
		const struct jl_probe_nic *nic = &machine->nics[i];

		jl_json_object(json);
		jl_json_put_string(json, "name", nic->name);
		jl_json_put_string(json, "driver", nic->driver);
		jl_json_put_number(json, "Bps", nic->Bps);
		jl_json_put_bool(json, "up", nic->up);
		count_or_null(json, "numa", nic->numa);
		jl_json_put_string(json, "pci", nic->pci >= 0 ? machine->pci[nic->pci].bus : NULL);
		jl_json_put_string(json, "bond_mode", nic->bond_mode);
		jl_json_put_string(json, "bond_slaves", nic->slaves);
		jl_json_put_string(json, "bond", nic->master);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
	jl_json_put_array(json, "rdma");
	for (size_t i = 0; i < machine->n_rdma; i++) {
		const struct jl_probe_rdma *rdma = &machine->rdma[i];

		jl_json_object(json);
		jl_json_put_string(json, "name", rdma->name);
		jl_json_put_string(json, "layer", rdma->layer);
		jl_json_put_string(json, "rate", rdma->rate);
		jl_json_put_number(json, "Bps", rdma->Bps);
		jl_json_put_bool(json, "active", rdma->active);
		count_or_null(json, "numa", rdma->numa);
		jl_json_put_string(json, "pci", rdma->pci >= 0 ? machine->pci[rdma->pci].bus : NULL);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
	jl_json_put_array(json, "disks");
	for (size_t i = 0; i < machine->n_disks; i++) {
		jl_json_object(json);
		jl_json_put_string(json, "name", machine->disks[i].name);
		jl_json_put_string(json, "model", machine->disks[i].model);
		jl_json_put_number(json, "size_B", machine->disks[i].size_B);
		jl_json_put_bool(json, "rotational", machine->disks[i].rotational == 1);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

static void findings_json(struct jl_json *json, const struct jl_findings *findings)
{
	jl_json_put_array(json, "findings");
	for (size_t i = 0; i < findings->n; i++) {
		const struct jl_finding *f = &findings->items[i];

		jl_json_object(json);
		jl_json_put_string(json, "key", f->key);
		jl_json_put_string(json, "severity", jl_severity_name(f->severity));
		jl_json_put_string(json, "what", f->what.text);
		jl_json_put_string(json, "why", f->why.text);
		jl_json_put_string(json, "do", f->todo.text);
		if (!isnan(f->after)) {
			jl_json_put_integer(json, "predicted_n_gpus", f->gain_gpus);
			jl_json_put_number(json, "predicted_speedup_now", f->before);
			jl_json_put_number(json, "predicted_speedup_then", f->after);
		}
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

void jl_view_machine_json(struct jl_cli *cli, const struct jl_probe_machine *machine,
			  const struct jl_findings *findings, bool with_names)
{
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "record", "machine");
	jl_json_put_string(&json, "name", machine->short_name);
	jl_json_put_string(&json, "fingerprint", jl_probe_fingerprint(machine));
	jl_json_put_string(&json, "system", machine->system);
	if (!machine->system)
		jl_json_put_string(&json, "system_why", jl_msg(machine->system_why_en));
	jl_json_put_string(&json, "catalog_system", machine->listed_system ? machine->listed_system->id : NULL);
	jl_json_put_string(&json, "join", machine->join);
	jl_json_put_string(&json, "network", machine->net);
	jl_json_put_integer(&json, "n_network", machine->n_net);
	if (with_names)
		jl_json_put_string(&json, "hostname", machine->hostname);
	jl_json_put_string(&json, "vendor", machine->vendor);
	jl_json_put_string(&json, "product", machine->product);
	jl_json_put_string(&json, "board", machine->board);
	software_json(&json, machine);
	cpu_json(&json, machine);
	gpus_json(&json, machine, with_names);
	jl_json_put_integer(&json, "n_nvswitches", machine->n_nvswitches);
	net_json(&json, machine);
	pci_json(&json, machine);
	findings_json(&json, findings);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}
