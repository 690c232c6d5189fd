/* Checks that a system can exist: ports, form factors, host sizes. */
#include "catalog/possible.h"

#include <string.h>
#include <strings.h>

#include "catalog/find.h"
#include "catalog/sysdefault.h"

static bool begins(const char *text, const char *with)
{
	return text && strncasecmp(text, with, strlen(with)) == 0;
}

static bool is_pcie(const struct jl_link_info *join)
{
	return begins(join->kind, "pcie");
}

/* True if the accelerator has the ports of this interconnect. Bridges of one generation fit all its cards. */
static bool has_ports(const struct jl_gpu *gpu, const struct jl_link_info *join)
{
	if (is_pcie(join) || !join->wire)
		return true;
	return jl_same_text(gpu->link, join->wire) ||
	       (begins(join->kind, "nvlink-bridge") && begins(gpu->link, "nvlink-bridge"));
}

/* Example for an interconnect: the newest accelerator that has it. */
static const struct jl_gpu *newest_with(const struct jl_catalog *cat, const struct jl_link_info *join)
{
	const struct jl_gpu *best = NULL;

	for (size_t i = 0; i < cat->n_gpus; i++)
		if (cat->gpus[i].link && has_ports(&cat->gpus[i], join) &&
		    !begins(cat->gpus[i].form_factor, "superchip") && (!best || cat->gpus[i].year > best->year))
			best = &cat->gpus[i];
	return best;
}

static enum jl_status no_ports(const struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err)
{
	const struct jl_gpu *other = newest_with(cat, sys->join);
	struct jl_sys usual = *sys;
	struct jl_err ignored;

	if (jl_sysdefault_join(&usual, cat, &ignored))
		usual.join = NULL;
	return jl_fail(err, JL_E_RANGE,
		       "there is no such machine: %s has {%s}, not %s; the nearest that exist are '%dx %s via %s' and "
		       "'%dx %s' (--hypothetical predicts it anyway)",
		       sys->gpu->id, sys->gpu->link_text && sys->gpu->link ? sys->gpu->link_text : JL_N("PCIe only"),
		       sys->join->id, sys->n_per_node, sys->gpu->id, usual.join ? usual.join->id : sys->gpu->pcie,
		       sys->n_per_node, other ? other->id : "h100-sxm5");
}

/* Largest host with this link: the interconnect's own limit, or a system on sale. */
static int boards_most(const struct jl_gpu *gpu, const struct jl_catalog *cat)
{
	int most = 0;

	for (size_t i = 0; i < cat->n_links; i++)
		if (jl_same_text(cat->links[i].wire, gpu->link) && cat->links[i].host_max > most &&
		    (!cat->links[i].form || begins(gpu->form_factor, cat->links[i].form)))
			most = cat->links[i].host_max;
	for (size_t i = 0; most && i < cat->n_systems; i++)
		if (jl_same_text(cat->systems[i].gpu, gpu->id) && cat->systems[i].n_gpu > most)
			most = cat->systems[i].n_gpu;
	return most;
}

bool jl_gpu_is_card(const struct jl_gpu *gpu)
{
	return gpu->form_factor && strstr(gpu->form_factor, "PCIe card") != NULL;
}

bool jl_gpu_is_passive(const struct jl_gpu *gpu)
{
	return gpu && gpu->form_factor && strstr(gpu->form_factor, "passive") != NULL;
}

enum jl_status jl_card_possible(const struct jl_gpu *gpu, const struct jl_catalog *cat, struct jl_err *err)
{
	if (jl_gpu_is_card(gpu) || !gpu->form_factor || cat->hypothetical)
		return JL_OK;
	return jl_fail(err, JL_E_RANGE,
		       "there is no such machine: %s is not a slot card (%s) and is sold only in whole servers; see "
		       "'jeoul catalog list systems' (--hypothetical predicts it anyway)",
		       gpu->id, gpu->form_factor);
}

/* Maximum per host, 0: unknown; *ret_usual: the number in a usual host. */
static int host_most(const struct jl_gpu *gpu, const struct jl_catalog *cat, int *ret_usual)
{
	const int most = jl_gpu_is_card(gpu) ? (int)jl_figure(cat, "host-cards-most") : boards_most(gpu, cat);

	*ret_usual = 8;
	if (most < *ret_usual || begins(gpu->form_factor, "superchip")) /* a rack of superchips is one domain */
		*ret_usual = most;
	return most;
}

int jl_hosts_of(const struct jl_gpu *gpu, const struct jl_catalog *cat, long n)
{
	int usual;
	const int most = host_most(gpu, cat, &usual);

	if (most <= 0 || n <= most || n % usual != 0 || n / usual > JL_NODES_MAX)
		return 0;
	return (int)(n / usual);
}

enum jl_status jl_sys_possible(const struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err)
{
	const struct jl_gpu *gpu = sys->gpu;
	const int n = sys->n_per_node;
	int usual;

	if (!gpu || sys->system || n < 2)
		return JL_OK;
	if (sys->join && !has_ports(gpu, sys->join))
		return no_ports(sys, cat, err);
	if (sys->join && is_pcie(sys->join) && begins(gpu->form_factor, "SXM") && (gpu->link_text || gpu->link))
		return jl_fail(err, JL_E_RANGE,
			       "there is no such machine: %s is on a board that joins it by %s, not in PCIe slots; the "
			       "nearest that exists is '%dx %s' (--hypothetical predicts it anyway)",
			       gpu->id, gpu->link_text ? gpu->link_text : gpu->link, n, gpu->id);
	const int most = host_most(gpu, cat, &usual);
	if (most > 0 && n > most)
		return jl_fail(err, JL_E_RANGE,
			       "there is no such machine: a host holds at most %d %s; the nearest that exists is "
			       "'%dx(%dx %s)' (--hypothetical predicts it anyway)",
			       most, gpu->id, (n + usual - 1) / usual, usual, gpu->id);
	return JL_OK;
}
