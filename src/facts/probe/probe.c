/* Probes a machine: calls the readers, then matches and names the result. */
#include "probe/probe.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/read.h"

#define GIB 1073741824.0

/* Installed memory, from the memory usable by the kernel, which reserves a few percent depending on its version. */
static double installed_B(double total_B)
{
	if (!(total_B > 0))
		return NAN;
	double step_B = exp2(floor(log2(total_B)) - 3);
	return ceil(total_B / step_B) * step_B;
}

static uint64_t mix(uint64_t hash, const char *text)
{
	return jl_hash(jl_hash(hash, text, text ? strlen(text) : 0), "\n", 1);
}

static uint64_t mix_number(uint64_t hash, double number)
{
	char text[32];

	snprintf(text, sizeof(text), "%.0f", number);
	return mix(hash, text);
}

/* Hash of the adapters' ids in an order independent of the slots. */
static uint64_t mix_adapters(uint64_t hash, const struct jl_probe_machine *machine, struct jl_arena *arena)
{
	const char **ids = jl_arena_array(arena, machine->n_pci + 1, sizeof(*ids));
	size_t n = 0;

	for (size_t i = 0; ids && i < machine->n_pci; i++) {
		const struct jl_probe_pci *device = &machine->pci[i];

		if (device->class_code >> 16 != 0x02 && device->class_code >> 16 != 0x12)
			continue;
		ids[n] = jl_arena_printf(arena, "%04x:%04x", device->vendor, device->device);
		n += ids[n] != NULL;
	}
	if (ids)
		qsort(ids, n, sizeof(*ids), jl_by_text);
	for (size_t i = 0; i < n; i++)
		hash = mix(hash, ids[i]);
	return hash;
}

static void make_fingerprint(struct jl_probe_machine *machine, struct jl_arena *arena)
{
	uint64_t hash = JL_HASH_START;

	hash = mix(hash, machine->arch);
	hash = mix(hash, machine->board);
	hash = mix(hash, machine->cpu.model);
	hash = mix_number(hash, machine->cpu.n_sockets);
	hash = mix_number(hash, machine->cpu.n_cores);
	hash = mix_number(hash, installed_B(machine->memory.total_B) / GIB);
	for (size_t i = 0; i < machine->n_gpus; i++) {
		hash = mix(hash, machine->gpus[i].name);
		hash = mix_number(hash, machine->gpus[i].nvml ? round(machine->gpus[i].nvml->mem_B / GIB) : 0);
	}
	hash = mix_adapters(hash, machine, arena);
	snprintf(machine->fingerprint, sizeof(machine->fingerprint), "%016llx", (unsigned long long)hash);
}

const char *jl_probe_fingerprint(const struct jl_probe_machine *machine)
{
	return machine->fingerprint;
}

static const char *without_brand(const char *name)
{
	static const char *const brands[] = { "NVIDIA ", "GeForce ", "Tesla ", "Intel ", "AMD " };

	for (size_t i = 0; i < JL_LEN(brands); i++)
		if (strncmp(name, brands[i], strlen(brands[i])) == 0)
			name += strlen(brands[i]);
	return name;
}

/* "2x Xeon Gold 6330, 512 GiB, 10x RTX 3090"; counts cores if only the core type is known */
static const char *make_name(const struct jl_probe_machine *machine, struct jl_arena *arena)
{
	const struct jl_probe_cpu *cpu = &machine->cpu;
	double memory_B = installed_B(machine->memory.total_B);
	char text[512];
	size_t len = 0;

	len += (size_t)snprintf(text, sizeof(text), "%dx %.100s", cpu->is_core_name ? cpu->n_cores : cpu->n_sockets,
				cpu->model ? without_brand(cpu->model) : "CPU");
	if (!isnan(memory_B))
		len += (size_t)snprintf(text + len, sizeof(text) - len, ", %.0f GiB", memory_B / GIB);
	if (machine->n_gpus == 0)
		len += (size_t)jl_format(text + len, sizeof(text) - len, "%s", JL_(", no GPU"));
	for (size_t i = 0; i < machine->n_gpus && len < sizeof(text) - 120;) {
		size_t n = 1;

		while (i + n < machine->n_gpus && strcmp(machine->gpus[i].name, machine->gpus[i + n].name) == 0)
			n++;
		len += (size_t)snprintf(text + len, sizeof(text) - len, ", %zux %.90s", n,
					without_brand(machine->gpus[i].name));
		i += n;
	}
	return jl_arena_strdup(arena, text);
}

/* Sets bus ids of parents and shared bridges from their indices. */
static void name_places(struct jl_probe_machine *m)
{
	for (size_t i = 0; i < m->n_pci; i++)
		m->pci[i].parent_bus = m->pci[i].parent >= 0 ? m->pci[m->pci[i].parent].bus : NULL;
	for (size_t i = 0; i < m->n_gpus; i++)
		m->gpus[i].shares_bus = m->gpus[i].shares >= 0 ? m->pci[m->gpus[i].shares].bus : NULL;
	for (size_t i = 0; i < m->n_nics; i++)
		m->nics[i].pci_bus = m->nics[i].pci >= 0 ? m->pci[m->nics[i].pci].bus : NULL;
	for (size_t i = 0; i < m->n_rdma; i++)
		m->rdma[i].pci_bus = m->rdma[i].pci >= 0 ? m->pci[m->rdma[i].pci].bus : NULL;
}

enum jl_status jl_probe_machine(struct jl_probe_source *source, const struct jl_catalog *cat,
				const struct jl_probe_options *options, struct jl_arena *arena,
				const struct jl_probe_machine **ret_machine, struct jl_err *err)
{
	static enum jl_status (*const readers[])(struct jl_probe_in *, struct jl_err *) = {
		jl_read_cpu,  jl_read_memory, jl_read_pci,   jl_read_host,
		jl_read_gpus, jl_read_net,    jl_read_disks, jl_match_catalog,
	};
	static const struct jl_probe_options plain;
	struct jl_probe_in in = { .source = source, .arena = arena, .options = options ? options : &plain, .cat = cat };
	enum jl_status status = JL_OK;

	in.machine = jl_arena_alloc(arena, sizeof(*in.machine));
	JL_TRY(jl_got(in.machine, err));
	for (size_t i = 0; !status && i < JL_LEN(readers); i++)
		status = readers[i](&in, err);
	JL_THEN(status, jl_source_failed(source, err));
	if (status)
		return status;
	in.machine->with_names = in.options->with_names;
	name_places(in.machine);
	make_fingerprint(in.machine, arena);
	in.machine->short_name_text = make_name(in.machine, arena);
	const struct jl_language *reader = jl_lang_set(jl_languages[0]);
	in.machine->short_name = make_name(in.machine, arena);
	jl_lang_set(reader);
	JL_TRY(jl_got(in.machine->short_name && in.machine->short_name_text, err));
	*ret_machine = in.machine;
	return JL_OK;
}
