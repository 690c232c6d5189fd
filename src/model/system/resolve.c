/* Resolves catalog records to the numbers of the model. Listed facts only. */
#include "system/resolve.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "catalog/find.h"
#include "parameters/arch.h"

static double first_known(double a, double b)
{
	return isnan(a) ? b : a;
}

static double oneway_of(double oneway_Bps, double bothway_Bps)
{
	return first_known(oneway_Bps, bothway_Bps / 2);
}

static double link_oneway(const struct jl_link_info *link)
{
	return link ? oneway_of(link->oneway_Bps.value, link->bothway_Bps.value) : NAN;
}

/* Sets everything to NAN. The fitted part consists of doubles only, so it is filled as an array. */
static void clear_device(struct jl_device *device)
{
	double unknown = NAN;
	size_t i;

	_Static_assert(sizeof(struct jl_device_fit) % sizeof(double) == 0, "the fitted part is doubles only");
	*device = (struct jl_device){ .mem_B = NAN,
				      .mem_Bps = NAN,
				      .l2_B = NAN,
				      .n_sm = NAN,
				      .boost_Hz = NAN,
				      .tdp_W = NAN,
				      .host_Bps = NAN,
				      .link_Bps = NAN,
				      .arch = JL_ARCH_OTHER,
				      .priors = &jl_arch_family(JL_ARCH_OTHER)->priors };
	for (i = 0; i < JL_N_DTYPE; i++)
		device->peak_flopps[i] = NAN;
	for (i = 0; i < sizeof(device->fit) / sizeof(double); i++)
		memcpy((char *)&device->fit + i * sizeof(double), &unknown, sizeof(double));
}

/* superchips reach host memory over C2C instead of PCIe */
static double chip_to_chip(const struct jl_catalog *cat, const struct jl_gpu *gpu)
{
	size_t i;

	for (i = 0; gpu->form_factor && strstr(gpu->form_factor, "superchip") && i < cat->n_links; i++)
		if (cat->links[i].role == JL_ROLE_WIRE && cat->links[i].kind && strcmp(cat->links[i].kind, "c2c") == 0)
			return link_oneway(&cat->links[i]);
	return NAN;
}

void jl_resolve_device(struct jl_device *ret_device, const struct jl_catalog *cat, const struct jl_gpu *gpu)
{
	struct jl_device device;
	double *peak = device.peak_flopps;

	clear_device(&device);
	peak[JL_FP32] = gpu->fp32_flopps.value;
	peak[JL_TF32] = first_known(gpu->tf32_dense_flopps.value, peak[JL_FP32]);
	peak[JL_BF16] = gpu->bf16_dense_flopps.value;
	peak[JL_FP16] = first_known(gpu->fp16_fp32acc_dense_flopps.value,
				    first_known(peak[JL_BF16], gpu->fp16_dense_flopps.value));
	peak[JL_FP16] = first_known(peak[JL_FP16], peak[JL_FP32]);
	peak[JL_FP8] = gpu->fp8_dense_flopps.value;
	peak[JL_FP4] = gpu->fp4_dense_flopps.value;
	peak[JL_INT8] = gpu->int8_dense_opps.value;
	device.mem_B = gpu->mem_B.value;
	device.mem_Bps = gpu->mem_Bps.value;
	device.l2_B = gpu->l2_B.value;
	device.n_sm = gpu->n_sm.value;
	device.boost_Hz = gpu->boost_Hz.value;
	device.tdp_W = gpu->tdp_W.value;
	device.host_Bps = gpu->pcie ? link_oneway(jl_link_by_id(cat, gpu->pcie)) : chip_to_chip(cat, gpu);
	device.link_Bps = oneway_of(gpu->link_oneway_Bps.value, gpu->link_bothway_Bps.value);
	jl_arch_of(cat, gpu->family, &device.arch, &device.priors);
	*ret_device = device;
}

void jl_resolve_cpu(struct jl_device *ret_device, const struct jl_cpu *cpu)
{
	struct jl_device device;

	clear_device(&device);
	device.peak_flopps[JL_FP32] = first_known(cpu->fp32_flopps.value,
						  cpu->n_core.value * cpu->fp32_per_clock.value *
							  first_known(cpu->base_Hz.value, cpu->boost_Hz.value));
	device.peak_flopps[JL_BF16] = cpu->bf16_over_fp32.value * device.peak_flopps[JL_FP32];
	device.mem_B = cpu->mem_B.value;
	device.mem_Bps = cpu->mem_Bps.value;
	device.l2_B = cpu->l3_B.value;
	device.n_sm = cpu->n_core.value;
	device.boost_Hz = first_known(cpu->boost_Hz.value, cpu->base_Hz.value);
	device.tdp_W = cpu->tdp_W.value;
	*ret_device = device;
}

void jl_resolve_system_device(struct jl_device *ret_device, const struct jl_catalog *cat, const struct jl_sys *sys)
{
	if (sys->gpu)
		jl_resolve_device(ret_device, cat, sys->gpu);
	else
		jl_resolve_cpu(ret_device, sys->cpu);
}

static const struct {
	const char *topology; /* topology as in links.yaml */
	enum jl_intra_kind kind;
} topologies[] = {
	{ "none", JL_INTRA_NONE },     { "host", JL_INTRA_PCIE_HOST },
	{ "p2p", JL_INTRA_PCIE_P2P },  { "bridge-pair", JL_INTRA_BRIDGE_PAIR },
	{ "mesh", JL_INTRA_MESH },     { "switch", JL_INTRA_SWITCH },
	{ "domain", JL_INTRA_SWITCH },
};

static enum jl_status kind_of(enum jl_intra_kind *ret_kind, const struct jl_link_info *join, struct jl_err *err)
{
	size_t i;

	for (i = 0; join->topology && i < JL_LEN(topologies); i++)
		if (strcmp(join->topology, topologies[i].topology) == 0) {
			*ret_kind = topologies[i].kind;
			return JL_OK;
		}
	return jl_fail(err, JL_E_DATA,
		       "join %s: topology '%s' is none of none, host, p2p, bridge-pair, mesh, switch, domain", join->id,
		       join->topology ? join->topology : "");
}

static struct jl_link plain_link(double rate_Bps, bool in_switch)
{
	return (struct jl_link){ .rate_Bps = rate_Bps,
				 .eff_frac = NAN,
				 .alpha_s = NAN,
				 .ll_frac = NAN,
				 .ll_alpha_s = NAN,
				 .in_switch = in_switch };
}

static enum jl_status check_rate(const struct jl_link *link, const struct jl_link_info *info, struct jl_err *err)
{
	if (link->rate_Bps > 0)
		return JL_OK;
	return jl_fail(err, JL_E_DATA, "the rate of %s is not in the catalog: name another with '%s'", info->id,
		       info->role == JL_ROLE_NETWORK ? "over" : "via");
}

/* Rate beyond a bridged pair: the path named by the bridge's record, else the card's PCIe. */
static double beyond_pair(const struct jl_catalog *cat, const struct jl_sys *sys)
{
	double own = link_oneway(jl_link_by_id(cat, sys->gpu->pcie));
	double rate = link_oneway(jl_link_by_id(cat, sys->join->fallback));

	return first_known(rate, own) > own ? own : first_known(rate, own);
}

static enum jl_status resolve_intra(struct jl_fabric *fabric, const struct jl_catalog *cat, const struct jl_sys *sys,
				    struct jl_err *err)
{
	enum jl_status status = kind_of(&fabric->intra_kind, sys->join, err);

	if (status || fabric->intra_kind == JL_INTRA_NONE)
		return status;
	fabric->intra = plain_link(sys->join_oneway_Bps.value, sys->join->in_switch_reduction);
	if (fabric->intra_kind == JL_INTRA_BRIDGE_PAIR) {
		const struct jl_link_info *beyond = jl_link_by_id(cat, sys->join->fallback);

		fabric->pair = fabric->intra;
		fabric->pairs_by_host = beyond && beyond->topology && strcmp(beyond->topology, "host") == 0;
		fabric->intra = plain_link(beyond_pair(cat, sys), false);
		status = check_rate(&fabric->pair, sys->join, err);
	}
	return status ? status : check_rate(&fabric->intra, sys->join, err);
}

/* Number of network shares that one rank each can drive: the ports, or one per accelerator if there are more ports than accelerators. */
static int n_nics(const struct jl_sys *sys)
{
	double n_links = sys->net->per && strcmp(sys->net->per, "node") == 0 ? sys->net->n_links.value : 1;
	double n_ports = sys->n_net * (n_links >= 1 ? n_links : 1);
	int n_devices = jl_sys_per_node(sys);

	return n_ports < n_devices ? (int)n_ports : n_devices;
}

enum jl_status jl_resolve_fabric(struct jl_fabric *ret_fabric, const struct jl_catalog *cat, const struct jl_sys *sys,
				 struct jl_err *err)
{
	struct jl_fabric fabric = { .intra_kind = JL_INTRA_NONE, .n_nodes = sys->n_nodes, .launch_s = NAN };
	enum jl_status status = JL_OK;

	/* a CPU-only host is one device */
	fabric.n_per_node = jl_sys_per_node(sys);
	fabric.intra = fabric.pair = fabric.inter = plain_link(NAN, false);
	if (sys->join)
		status = resolve_intra(&fabric, cat, sys, err);
	if (!status && sys->net) {
		fabric.inter = plain_link(sys->net_oneway_Bps.value, sys->net->in_switch_reduction);
		fabric.n_nics = n_nics(sys);
		status = check_rate(&fabric.inter, sys->net, err);
	}
	if (!status)
		*ret_fabric = fabric;
	return status;
}
