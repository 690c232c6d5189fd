/* CPU threads, memory and power of a host. Knows no workload. */
#include "system/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/find.h"

/* Defaults by class of host, where the catalog has no value. Threads per GPU: DGX A100 32, DGX H100 28, cloud hosts with eight boards 12 (p4d) to
 * 24 (p5), hence 16; a desktop has one processor of 16 to 32 threads.
 *
 * Power besides the accelerators: base_W + board_frac of their power limits (fans, converters). Boards: an 8-GPU H100 host drew 8.4 kW with its
 * GPUs near their 5.6 kW (Latif et al. 2024, arXiv:2412.08602), hence half of the boards' limit. Servers and desktops with cards: processor, memory
 * and disks of the class, and a 10 % loss of the supply; estimates, hence the wide interval. */
static const struct {
	const char *en;
	double threads_per_gpu, threads_least;
	double base_W, board_frac, half_ln;
} classes[JL_N_HOST_CLASS] = {
	[JL_HOST_BOARD] = { JL_N("a server with accelerator boards"), 16, 16, 0, 0.5, 0.35 },
	[JL_HOST_SERVER] = { JL_N("a two-socket server with cards"), 8, 32, 300, 0.15, 0.45 },
	[JL_HOST_DESKTOP] = { JL_N("a desktop or workstation"), 8, 16, 100, 0.12, 0.45 },
	[JL_HOST_CPU] = { JL_N("a machine without accelerators"), 0, 16, 50, 0.15, 0.45 },
};

/* Drawn share of the rated power beyond the accelerators: (8.4 - 5.6) of (10.2 - 5.6) kW in the same measurement. Ratings are worst cases. */
static const double rated_frac = 0.6, rated_half_ln = 0.3;
static const double server_threads = 96; /* threads of a server with two sockets */

const char *jl_host_class_name(enum jl_host_class kind)
{
	return classes[kind].en;
}

static bool on_board(const struct jl_gpu *gpu)
{
	static const char *const words[] = { "SXM", "OAM", "superchip", "DGXS", "board" };

	for (size_t i = 0; gpu->form_factor && i < JL_LEN(words); i++)
		if (strcasestr(gpu->form_factor, words[i]))
			return true;
	return gpu->pcie == NULL;
}

static enum jl_host_class class_of(const struct jl_sys *sys)
{
	const char *kind = sys->system ? sys->system->kind : NULL;

	if (!sys->gpu)
		return JL_HOST_CPU;
	if (kind && (strcmp(kind, "workstation") == 0 || strcmp(kind, "desktop") == 0))
		return JL_HOST_DESKTOP;
	if (on_board(sys->gpu))
		return JL_HOST_BOARD;
	if (sys->n_per_node > 4 || sys->system || sys->gpu->p2p == JL_P2P_YES)
		return JL_HOST_SERVER;
	return JL_HOST_DESKTOP;
}

/* Hardware threads from text such as "2x Xeon 8480C (112 cores)", two per core; NAN: not stated. */
static double threads_of_text(const char *text)
{
	const char *paren = text ? strchr(text, '(') : NULL;
	char *end;
	double cores;

	if (!paren)
		return NAN;
	cores = strtod(paren + 1, &end);
	while (*end == ' ')
		end++;
	return strncmp(end, "core", 4) == 0 && cores >= 1 && cores <= 1e5 ? 2 * cores : NAN;
}

static void fill_threads(struct jl_host *host, const struct jl_sys *sys)
{
	double listed = NAN;

	if (sys->system)
		listed = isnan(sys->system->n_vcpu.value) ? threads_of_text(sys->system->cpu)
							  : sys->system->n_vcpu.value;
	else if (!sys->gpu)
		listed = isnan(sys->cpu->n_thread.value) ? sys->cpu->n_core.value : sys->cpu->n_thread.value;
	host->threads_assumed = !(listed >= 1);
	host->n_threads = host->threads_assumed ? fmax(classes[host->kind].threads_least,
						       classes[host->kind].threads_per_gpu * sys->n_per_node)
						: listed;
}

static void fill_power(struct jl_host *host, const struct jl_sys *sys)
{
	const double one_W = sys->gpu ? sys->gpu->tdp_W.value : sys->cpu->tdp_W.value;
	const double boards_W = isnan(one_W) ? 0 : one_W * jl_sys_per_node(sys);
	/* the rating covers the whole system with all its accelerators */
	const bool whole = sys->system && sys->system->n_gpu == sys->n_per_node && !isnan(one_W);
	const double rest_W = whole ? sys->system->power_W.value - boards_W : NAN;

	/* a small virtual machine is a part of a server, by its share of the threads */
	const bool virtual = sys->system && sys->system->kind && strcmp(sys->system->kind, "cloud vm") == 0;
	const double part = virtual ? fmin(1, host->n_threads / server_threads) : 1;

	host->power_assumed = !(rest_W > 0);
	if (host->power_assumed) {
		host->power_W = classes[host->kind].base_W * part + classes[host->kind].board_frac * boards_W;
		host->power_half_ln = classes[host->kind].half_ln;
	} else {
		host->power_W = rated_frac * rest_W;
		host->power_half_ln = rated_half_ln;
	}
}

double jl_host_peak_W(const struct jl_host *host, double boards_W, const struct jl_catalog *cat)
{
	/* as for builds: maximum of processor and other parts, divided by the supply's efficiency */
	if (host->power_assumed && host->kind == JL_HOST_DESKTOP)
		return (boards_W + jl_figure(cat, "build-cpu-power") + jl_figure(cat, "build-rest-power")) /
		       jl_figure(cat, "build-psu-efficiency");
	return boards_W + host->power_W / rated_frac;
}

void jl_host_of(struct jl_host *ret_host, const struct jl_sys *sys)
{
	struct jl_host host = { .kind = class_of(sys), .ram_B = NAN };

	fill_threads(&host, sys);
	fill_power(&host, sys);
	if (sys->system)
		host.ram_B = sys->system->ram_B.value;
	else if (!sys->gpu)
		host.ram_B = sys->cpu->mem_B.value;
	*ret_host = host;
}
