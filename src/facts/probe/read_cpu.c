/* Reads processors, caches, NUMA nodes, memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/read.h"

#define CPU_DIR  "/sys/devices/system/cpu"
#define NODE_DIR "/sys/devices/system/node"
#define KIB      1024.0

/* arm64 cores by implementer and part (MIDR register), from Arm's and the vendors' manuals. */
static const struct {
	unsigned implementer, part;
	const char *vendor, *name;
} cores[] = {
	{ 0x41, 0xd03, "ARM", "Cortex-A53" },     { 0x41, 0xd07, "ARM", "Cortex-A57" },
	{ 0x41, 0xd08, "ARM", "Cortex-A72" },     { 0x41, 0xd0b, "ARM", "Cortex-A76" },
	{ 0x41, 0xd0c, "ARM", "Neoverse-N1" },    { 0x41, 0xd40, "ARM", "Neoverse-V1" },
	{ 0x41, 0xd42, "ARM", "Cortex-A78AE" },   { 0x41, 0xd49, "ARM", "Neoverse-N2" },
	{ 0x41, 0xd4a, "ARM", "Neoverse-E1" },    { 0x41, 0xd4f, "ARM", "Neoverse-V2" },
	{ 0x41, 0xd84, "ARM", "Neoverse-V3" },    { 0x41, 0xd85, "ARM", "Cortex-X925" },
	{ 0x41, 0xd87, "ARM", "Cortex-A725" },    { 0x41, 0xd8e, "ARM", "Neoverse-N3" },
	{ 0x46, 0x001, "Fujitsu", "A64FX" },      { 0x48, 0xd01, "HiSilicon", "TSV110" },
	{ 0x4e, 0x004, "NVIDIA", "Carmel" },      { 0xc0, 0xac3, "Ampere", "AmpereOne" },
	{ 0xc0, 0xac4, "Ampere", "AmpereOne-A" }, { 0x61, 0x022, "Apple", "M1" },
};

/* "Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz" -> "Intel Xeon Gold 6330" */
static const char *tidy_model(struct jl_arena *arena, const char *model)
{
	static const char *const noise[] = { "(R)", "(TM)", "(tm)", " CPU", " Processor" };
	char *text = jl_arena_strdup(arena, model), *at;

	if (!text)
		return model;
	if ((at = strstr(text, " @")) != NULL)
		*at = '\0';
	for (size_t i = 0; i < JL_LEN(noise); i++)
		while ((at = strstr(text, noise[i])) != NULL)
			memmove(at, at + strlen(noise[i]), strlen(at + strlen(noise[i])) + 1);
	/* "AMD EPYC 7763 64-Core" */
	if ((at = strstr(text, "-Core")) != NULL) {
		while (at > text && at[-1] != ' ')
			at--;
		if (at > text)
			at[-1] = '\0';
	}
	return text;
}

static void read_model(struct jl_probe_in *in)
{
	struct jl_probe_cpu *cpu = &in->machine->cpu;
	const char *info = jl_source_read(in->source, "/proc/cpuinfo");
	const char *model = jl_text_value(in->arena, info, "model name");
	unsigned implementer, part;

	cpu->vendor = jl_text_value(in->arena, info, "vendor_id");
	if (model) {
		cpu->model = tidy_model(in->arena, model);
		return;
	}
	implementer = (unsigned)jl_text_whole(jl_text_value(in->arena, info, "CPU implementer"), 0);
	part = (unsigned)jl_text_whole(jl_text_value(in->arena, info, "CPU part"), 0);
	for (size_t i = 0; i < JL_LEN(cores); i++)
		if (cores[i].implementer == implementer && cores[i].part == part) {
			cpu->vendor = cores[i].vendor;
			cpu->model = cores[i].name;
			cpu->is_core_name = true;
			return;
		}
	if (implementer)
		cpu->model = jl_arena_printf(in->arena, "arm64 core 0x%x/0x%x", implementer, part);
}

/* True if `word` is on the flags line of /proc/cpuinfo. The line is long, so it is searched in place. */
static bool has_flag(const char *info, const char *word)
{
	static const char *const keys[] = { "flags", "Features" };
	const size_t len = strlen(word);

	for (size_t i = 0; info && i < JL_LEN(keys); i++) {
		const char *at = strstr(info, keys[i]), *end;

		if (!at || (at != info && at[-1] != '\n'))
			continue;
		end = at + strcspn(at, "\n");
		while ((at = strstr(at, word)) != NULL && at < end) {
			if (at[-1] == ' ' && (at[len] == ' ' || at[len] == '\n' || at[len] == '\0'))
				return true;
			at += len;
		}
	}
	return false;
}

static const char *widest_vector(const char *info)
{
	static const struct {
		const char *flag, *name;
	} units[] = { { "avx512f", "AVX-512" }, { "avx2", "AVX2" }, { "avx", "AVX" },
		      { "sse2", "SSE2" },       { "sve", "SVE" },   { "asimd", "NEON" } };

	for (size_t i = 0; i < JL_LEN(units); i++)
		if (has_flag(info, units[i].flag))
			return units[i].name;
	return NULL;
}

/* Clock from "... @ 2.00GHz" in the name, else from the cpufreq driver (kHz), else the current clock, which may be an idle one. */
static double read_clock(struct jl_probe_in *in, const char *info)
{
	static const char *const files[] = { CPU_DIR "/cpu0/cpufreq/base_frequency",
					     CPU_DIR "/cpu0/cpufreq/cpuinfo_max_freq" };
	const char *name = jl_text_value(in->arena, info, "model name"), *at = name ? strstr(name, "@ ") : NULL;
	const char *now = jl_text_value(in->arena, info, "cpu MHz");
	double clock_Hz = at && strstr(at, "GHz") ? strtod(at + 2, NULL) * 1e9 : 0;

	for (size_t i = 0; !(clock_Hz > 0) && i < JL_LEN(files); i++)
		clock_Hz = (double)jl_source_whole(in->source, 0, "%s", files[i]) * 1e3;
	if (!(clock_Hz > 0) && now)
		clock_Hz = strtod(now, NULL) * 1e6;
	return clock_Hz > 1e8 && clock_Hz < 2e10 ? clock_Hz : NAN;
}

/* Number of processors in /proc/cpuinfo, for systems where /sys is hidden. */
static int count_listed(const char *info)
{
	int n = 0;

	for (const char *at = info; at && (at = strstr(at, "processor")) != NULL; at++)
		n += (at == info || at[-1] == '\n') && strspn(at + strlen("processor"), " \t:") > 0;
	return n > 0 ? n : 1;
}

static enum jl_status count_cores(struct jl_probe_in *in, struct jl_err *err)
{
	struct jl_probe_cpu *cpu = &in->machine->cpu;
	bool *online = jl_arena_array(in->arena, JL_PROBE_CPUS_MAX, sizeof(*online));
	bool *covered = jl_arena_array(in->arena, JL_PROBE_CPUS_MAX, sizeof(*covered));
	bool *packages = jl_arena_array(in->arena, JL_PROBE_CPUS_MAX, sizeof(*packages));

	JL_TRY(jl_got(online && covered && packages, err));
	cpu->n_threads = jl_text_cpus(jl_source_read(in->source, CPU_DIR "/online"), online);
	for (int i = 0; i < JL_PROBE_CPUS_MAX; i++) {
		if (!online[i] || covered[i])
			continue;
		const char *siblings = jl_source_read(in->source, CPU_DIR "/cpu%d/topology/thread_siblings_list", i);
		long long package = jl_text_whole(
			jl_source_read(in->source, CPU_DIR "/cpu%d/topology/physical_package_id", i), -1);
		covered[i] = true;
		jl_text_cpus(siblings, covered);
		cpu->n_cores++;
		if (package >= 0 && package < JL_PROBE_CPUS_MAX && !packages[package]) {
			packages[package] = true;
			cpu->n_sockets++;
		}
	}
	if (cpu->n_threads <= 0)
		cpu->n_threads = cpu->n_cores = count_listed(jl_source_read(in->source, "/proc/cpuinfo"));
	if (cpu->n_sockets == 0)
		cpu->n_sockets = 1; /* virtual machines often do not report it */
	return JL_OK;
}

/* "32K", "1024K", "32M" */
static double cache_size_B(const char *text)
{
	char *end;

	if (!text)
		return NAN;
	double size = strtod(text, &end);
	if (end == text)
		return NAN;
	return size * (*end == 'K' ? KIB : *end == 'M' ? KIB * KIB : *end == 'G' ? KIB * KIB * KIB : 1);
}

static void read_caches(struct jl_probe_in *in)
{
	struct jl_probe_cpu *cpu = &in->machine->cpu;

	for (int i = 0; i < JL_PROBE_CACHES_MAX; i++) {
		struct jl_probe_cache *cache = &cpu->caches[cpu->n_caches];
		const char *level = jl_source_read(in->source, CPU_DIR "/cpu0/cache/index%d/level", i);

		if (!level)
			break;
		cache->level = (int)jl_text_whole(level, 0);
		cache->type = jl_source_read(in->source, CPU_DIR "/cpu0/cache/index%d/type", i);
		cache->size_B = cache_size_B(jl_source_read(in->source, CPU_DIR "/cpu0/cache/index%d/size", i));
		int shared = jl_text_cpus(jl_source_read(in->source, CPU_DIR "/cpu0/cache/index%d/shared_cpu_list", i),
					  NULL);
		cache->n = shared > 0 ? (cpu->n_threads + shared - 1) / shared : 0;
		if (!isnan(cache->size_B) && cache->type)
			cpu->n_caches++;
	}
}

static enum jl_status read_nodes(struct jl_probe_in *in, struct jl_err *err)
{
	struct jl_probe_machine *machine = in->machine;
	bool *online = jl_arena_array(in->arena, JL_PROBE_CPUS_MAX, sizeof(*online));
	int n = jl_text_cpus(jl_source_read(in->source, NODE_DIR "/online"), online);

	n = n < JL_PROBE_NODES_MAX ? n : JL_PROBE_NODES_MAX;
	machine->nodes = jl_arena_array(in->arena, (size_t)n + 1, sizeof(*machine->nodes));
	JL_TRY(jl_got(online && machine->nodes, err));
	for (int i = 0; i < JL_PROBE_CPUS_MAX && machine->n_nodes < (size_t)n; i++) {
		struct jl_probe_node *node = &machine->nodes[machine->n_nodes];
		char key[32];

		if (!online[i])
			continue;
		const char *info = jl_source_read(in->source, NODE_DIR "/node%d/meminfo", i);
		snprintf(key, sizeof(key), "Node %d MemTotal", i);
		const char *total = jl_text_value(in->arena, info, key);
		*node = (struct jl_probe_node){
			.id = i,
			.mem_B = total ? strtod(total, NULL) * KIB : NAN,
			.cpus = jl_source_read(in->source, NODE_DIR "/node%d/cpulist", i),
		};
		node->n_threads = jl_text_cpus(node->cpus, NULL);
		machine->n_nodes++;
	}
	return JL_OK;
}

enum jl_status jl_read_cpu(struct jl_probe_in *in, struct jl_err *err)
{
	struct jl_probe_cpu *cpu = &in->machine->cpu;
	const char *process = jl_source_read(in->source, "/proc/self/status");
	const char *info = jl_source_read(in->source, "/proc/cpuinfo");
	const char *allowed = jl_text_value(in->arena, process, "Cpus_allowed_list");

	read_model(in);
	cpu->vector = widest_vector(info);
	cpu->bf16 = has_flag(info, "amx_bf16")                                ? "AMX"
		    : has_flag(info, "avx512_bf16") || has_flag(info, "bf16") ? "BF16"
									      : NULL;
	cpu->clock_Hz = read_clock(in, info);
	enum jl_status status = count_cores(in, err);
	JL_THEN(status, read_nodes(in, err));
	read_caches(in);
	cpu->governor = jl_source_read(in->source, CPU_DIR "/cpu0/cpufreq/scaling_governor");
	cpu->scaling_driver = jl_source_read(in->source, CPU_DIR "/cpu0/cpufreq/scaling_driver");
	cpu->n_allowed = jl_text_cpus(allowed, NULL);
	if (cpu->n_allowed <= 0 || cpu->n_allowed > cpu->n_threads)
		cpu->n_allowed = cpu->n_threads;
	return status;
}

static double meminfo_B(struct jl_probe_in *in, const char *info, const char *key)
{
	const char *value = jl_text_value(in->arena, info, key);

	return value ? strtod(value, NULL) * KIB : NAN;
}

enum jl_status jl_read_memory(struct jl_probe_in *in, struct jl_err *err)
{
	struct jl_probe_memory *memory = &in->machine->memory;
	const char *info = jl_source_read(in->source, "/proc/meminfo");

	const char *load = jl_source_read(in->source, "/proc/loadavg");

	(void)err;
	in->machine->cpu.load = load ? strtod(load, NULL) : NAN;
	memory->total_B = meminfo_B(in, info, "MemTotal");
	memory->available_B = meminfo_B(in, info, "MemAvailable");
	memory->swap_B = meminfo_B(in, info, "SwapTotal");
	double swap_free_B = meminfo_B(in, info, "SwapFree");
	memory->swap_used_B = memory->swap_B - swap_free_B;
	if (in->machine->n_nodes == 1) /* memory added later (hotplug) is not counted there */
		in->machine->nodes[0].mem_B = memory->total_B;
	return JL_OK;
}
