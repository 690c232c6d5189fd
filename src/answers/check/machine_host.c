/* Findings on the host: processors, memory, networks, limits. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "catalog/find.h"
#include "check/machine_parts.h"

#define GIB 1073741824.0

/* Threads that each GPU process needs: loaders, launches, NCCL proxies. */
#define THREADS_PER_GPU_MIN 6
#define BUSY_TIMES          1.5
#define SLOW_NET_Bps        12.5e9 /* 100 Gb/s */

static void few_threads(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	const double n = fmin(machine->cpu.n_allowed, machine->limits.cpu_quota); /* NAN: no quota */
	struct jl_finding *finding;

	if (machine->n_gpus == 0 || n <= 0 || n / (double)machine->n_gpus >= THREADS_PER_GPU_MIN ||
	    !(finding = jl_finding_add(in, "few_threads", JL_FINDING_WARN)))
		return;
	jl_bitext_print(&finding->what, "%.3g CPU threads for %zu GPUs", n, machine->n_gpus);
	jl_bitext_print(&finding->why, "data loading and kernel launches of %zu processes wait for each other",
			machine->n_gpus);
	jl_bitext_print(&finding->todo, "%d or more threads a GPU; prepare data beforehand, few loader workers",
			THREADS_PER_GPU_MIN);
}

/* Load average of the last minute: measurements beside other programs cannot be judged. */
void jl_findings_load(struct jl_finding_in *in)
{
	const struct jl_probe_cpu *cpu = &in->machine->cpu;
	struct jl_finding *finding;

	if (!(cpu->n_threads > 0 && cpu->load > BUSY_TIMES * cpu->n_threads) ||
	    !(finding = jl_finding_add(in, "busy", JL_FINDING_BAD)))
		return;
	jl_bitext_print(&finding->what, "a load of %.0f on %d CPU threads", cpu->load, cpu->n_threads);
	jl_bitext_print(&finding->why, "other programs use the CPUs: measurements are noisy and cannot be judged now");
	jl_bitext_print(&finding->todo, "end them or wait, then measure: jeoul bench all --quick");
}

static void little_memory(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	double host_B = machine->limits.memory_B < machine->memory.total_B ? machine->limits.memory_B
									   : machine->memory.total_B;
	double gpu_B = 0;
	struct jl_finding *finding;

	for (size_t i = 0; i < machine->n_gpus; i++)
		gpu_B += machine->gpus[i].nvml && !isnan(machine->gpus[i].nvml->mem_B) ? machine->gpus[i].nvml->mem_B
										       : 0;
	/* the kernel reserves a few per cent of the installed memory */
	if (!(gpu_B > 0) || !(host_B < 1.9 * gpu_B) ||
	    !(finding = jl_finding_add(in, "little_memory", host_B < gpu_B ? JL_FINDING_WARN : JL_FINDING_NOTE)))
		return;
	jl_bitext_print(&finding->what, "%.0f GiB of host memory for %.0f GiB of GPU memory", host_B / GIB,
			gpu_B / GIB);
	jl_bitext_print(&finding->why,
			"checkpoints, pinned buffers and offloaded states pass through it; twice is usual");
	jl_bitext_print(&finding->todo, "%.0f GiB or more; else save checkpoints in shards and do not offload",
			2 * gpu_B / GIB);
}

static void limits(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	struct jl_finding *finding;

	if (!isnan(machine->limits.cpu_quota) && (finding = jl_finding_add(in, "cpu_quota", JL_FINDING_WARN)) != NULL) {
		jl_bitext_print(&finding->what, "a CPU quota of %.3g of %d threads", machine->limits.cpu_quota,
				machine->cpu.n_threads);
		jl_bitext_print(&finding->why,
				"programs see all threads, start as many, and are throttled when the quota is used up");
		jl_bitext_print(&finding->todo, "raise it (--cpus, resources.limits.cpu), or set OMP_NUM_THREADS=%.0f",
				fmax(1, floor(machine->limits.cpu_quota)));
	}
	if (!isnan(machine->limits.memory_B) &&
	    (finding = jl_finding_add(in, "memory_limit", JL_FINDING_NOTE)) != NULL) {
		jl_bitext_print(&finding->what, "a memory limit of %.1f of %.1f GiB", machine->limits.memory_B / GIB,
				machine->memory.total_B / GIB);
		jl_bitext_print(&finding->why, "processes above it are killed, not slowed");
		jl_bitext_print(&finding->todo, "consider it when choosing loader workers and offloading");
	}
}

static void swapping(struct jl_finding_in *in)
{
	const struct jl_probe_memory *memory = &in->machine->memory;
	struct jl_finding *finding;

	if (!(memory->swap_used_B > 0.25 * GIB) || !(finding = jl_finding_add(in, "swap_used", JL_FINDING_WARN)))
		return;
	jl_bitext_print(&finding->what, "%.1f GiB are swapped out", memory->swap_used_B / GIB);
	jl_bitext_print(&finding->why, "memory ran out; reading pages back from disk is about a thousand times slower");
	jl_bitext_print(&finding->todo, "see who uses the memory (ps aux --sort -rss), then swapoff -a; swapon -a");
}

static void governor(struct jl_finding_in *in)
{
	const struct jl_probe_cpu *cpu = &in->machine->cpu;
	/* drivers that manage the clock by load themselves */
	bool adapts = cpu->scaling_driver && strstr(cpu->scaling_driver, "pstate");
	struct jl_finding *finding;

	if (!cpu->governor || (strcmp(cpu->governor, "powersave") != 0 && strcmp(cpu->governor, "conservative") != 0) ||
	    !(finding = jl_finding_add(in, "cpu_governor", adapts ? JL_FINDING_NOTE : JL_FINDING_WARN)))
		return;
	jl_bitext_print(&finding->what, "CPU governor '%s'", cpu->governor);
	jl_bitext_print(
		&finding->why,
		adapts ? JL_N("clocks rise under load, but late: short work such as kernel launches runs slower")
		       : JL_N("clocks stay low: kernel launches and data loading run slower"));
	jl_bitext_print(&finding->todo, "cpupower frequency-set -g performance");
}

/* NUMA nodes with GPUs but without an adapter of the cluster network. */
static void far_network(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool near[JL_PROBE_NODES_MAX] = { false }, marked[JL_PROBE_GPUS_MAX] = { false };
	bool any = false;
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; i < machine->n_rdma; i++)
		if (machine->rdma[i].active && machine->rdma[i].numa >= 0 && machine->rdma[i].numa < JL_PROBE_NODES_MAX)
			any = near[machine->rdma[i].numa] = true;
	for (size_t i = 0; machine->n_rdma == 0 && i < machine->n_nics; i++)
		if (machine->nics[i].up && machine->nics[i].numa >= 0 && machine->nics[i].numa < JL_PROBE_NODES_MAX)
			any = near[machine->nics[i].numa] = true;
	for (size_t i = 0; any && machine->n_nodes > 1 && i < machine->n_gpus; i++)
		marked[i] = machine->gpus[i].numa >= 0 && machine->gpus[i].numa < JL_PROBE_NODES_MAX &&
			    !near[machine->gpus[i].numa];
	if (!(finding = jl_finding_on(in, "far_network", machine->n_rdma ? JL_FINDING_WARN : JL_FINDING_NOTE, marked,
				      list)))
		return;
	jl_bitext_print(&finding->what, "%s: the network adapter is on the other NUMA node", list);
	jl_bitext_print(&finding->why, "what they send to other hosts crosses the link between the processors");
	jl_bitext_print(&finding->todo, "an adapter on each node, or jobs on the GPUs that are near it");
}

/* Predicts two such hosts over its network, relative to one. */
static void network_gain(const struct jl_finding_in *in, struct jl_finding *finding)
{
	const struct jl_probe_machine *machine = in->machine;
	double one = jl_finding_samples_per_s(in, machine->system), two;
	const char *text = jl_arena_printf(in->arena, "2x(%s) over %dx %s", machine->system, machine->n_net,
					   machine->net);

	two = jl_finding_samples_per_s(in, text);
	if (!(two > 0) || !(one > 0))
		return;
	finding->before = 1;
	finding->after = two / one;
	finding->gain_gpus = 2 * (int)machine->n_gpus;
}

static void slow_network(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	const struct jl_link_info *net = jl_link_by_id(in->cat, machine->net);
	double rate = net ? net->oneway_Bps.value * machine->n_net : NAN;
	char text[JL_UNITS_TEXT_MAX], each[JL_UNITS_TEXT_MAX];
	struct jl_finding *finding;

	if (machine->n_gpus == 0 || !machine->system || !(rate < SLOW_NET_Bps) ||
	    !(finding = jl_finding_add(in, "slow_network", JL_FINDING_NOTE)))
		return;
	network_gain(in, finding);
	jl_units_text(text, rate, JL_K_BYTE_RATE, 3);
	jl_units_text(each, rate / (double)machine->n_gpus, JL_K_BYTE_RATE, 2);
	if (strstr(machine->net, "lacp"))
		jl_bitext_print(&finding->what, "a bond of slow adapters (%s, %s) bounds training over several hosts",
				machine->net, text);
	else
		jl_bitext_print(&finding->what, "a slow network (%s, %s) bounds training over several hosts",
				machine->net, text);
	jl_bitext_print(&finding->why, "%s for each GPU, once all exchange gradients; one stream uses one adapter",
			each);
	if (!isnan(finding->after))
		jl_bitext_print(&finding->todo,
				"100 Gb/s or more with RDMA; predicted (gpt-305m): 2 hosts run at %.2fx of one, not 2x",
				finding->after);
	else
		jl_bitext_print(&finding->todo, "100 Gb/s or more with RDMA");
}

void jl_findings_host(struct jl_finding_in *in)
{
	few_threads(in);
	little_memory(in);
	limits(in);
	swapping(in);
	governor(in);
	far_network(in);
	slow_network(in);
}
