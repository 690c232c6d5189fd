/* Converts rows of published measurements to model inputs: parses free text with tables. */
#include "predict/collective_row.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "catalog/sysdefault.h"
#include "catalog/find.h"
#include "system/resolve.h"

#define GBPS   1e9
#define GBITPS 0.125e9

/* Facts about the GPU of a row, each per device and in one direction. */
struct gpu_fact {
	enum jl_wire wire; /* default interconnect within a host */
	double link_Bps, pcie_Bps, bridge_Bps;
	int n_per_node;
	bool many_die;
	int arch;
	const struct network *network;
};

/* Default networks per GPU generation where the source gives none: InfiniBand of A100 hosts as two HDR rails (public runs without a stated count
 * reach 45 GB/s), RoCE as one rail per GPU. */
struct network {
	const char *gpu; /* NULL: any GPU */
	enum jl_wire wire;
	double ib_Gbitps, roce_Gbitps;
	int ib_nics, roce_nics;
};
static const struct network networks[] = {
	{ "b300", JL_WIRE_NVLINK5, 6400, 6400, 8, 8 },
	{ "gb300", JL_WIRE_NVL72, 57600, 57600, 72, 72 },
	{ NULL, JL_WIRE_NVLINK2, 100, 100, 1, 1 },
	{ NULL, JL_WIRE_NVLINK3, 400, 1600, 2, 8 },
	{ NULL, JL_WIRE_NVLINK4, 3200, 3200, 8, 8 },
	{ NULL, JL_WIRE_NVLINK5, 3200, 3200, 8, 8 },
	{ NULL, JL_WIRE_NVL72, 28800, 28800, 72, 72 },
	{ NULL, JL_WIRE_XGMI, 3200, 3200, 8, 8 },
	{ "a100-pcie-80gb", JL_WIRE_PCIE_P2P, 200, 200, 1, 1 },
	{ "a100-pcie-40gb", JL_WIRE_PCIE_P2P, 200, 200, 1, 1 },
	{ "h100-pcie", JL_WIRE_PCIE_P2P, 400, 400, 1, 1 },
	{ "h100-nvl", JL_WIRE_PCIE_P2P, 400, 400, 1, 1 },
	{ NULL, JL_WIRE_NONE, 100, 100, 1, 1 }, /* PCIe cards */
};

static double oneway(const struct jl_link_info *link)
{
	if (!link)
		return NAN;
	return isnan(link->oneway_Bps.value) ? link->bothway_Bps.value / 2 : link->oneway_Bps.value;
}

static struct gpu_fact gpu_fact(const struct jl_catalog *cat, const struct jl_gpu *gpu)
{
	static const int n_per_host = 8, n_per_rack = 72;
	const struct jl_link_info *link = jl_link_by_id(cat, gpu->link);
	const struct jl_family *family = jl_family_by_id(cat, gpu->family);
	const enum jl_wire own = jl_wire_of(link);
	const bool superchip = gpu->form_factor && strstr(gpu->form_factor, "superchip");
	struct gpu_fact fact = { .pcie_Bps = oneway(jl_link_by_id(cat, gpu->pcie)),
				 .many_die = family && family->n_dies > 1,
				 .n_per_node = n_per_host };
	struct jl_device dev;
	size_t i = 0;

	jl_resolve_device(&dev, cat, gpu);
	fact.arch = dev.arch;
	fact.link_Bps = isnan(gpu->link_bothway_Bps.value) ? gpu->link_oneway_Bps.value
							   : gpu->link_bothway_Bps.value / 2;
	fact.link_Bps = isnan(fact.link_Bps) ? oneway(link) : fact.link_Bps;
	fact.bridge_Bps = fact.link_Bps;
	/* cards: peer-to-peer unless the driver is known to disable it */
	if (own == JL_WIRE_NONE || own == JL_WIRE_BRIDGE)
		fact.wire = jl_gpu_has_p2p(gpu) ? JL_WIRE_PCIE_P2P : JL_WIRE_PCIE_HOST;
	else
		fact.wire = own == JL_WIRE_NVLINK5 && superchip ? JL_WIRE_NVL72 : own;
	if (fact.wire == JL_WIRE_NVL72)
		fact.n_per_node = n_per_rack;
	while (networks[i].wire != JL_WIRE_NONE &&
	       (networks[i].wire != fact.wire || (networks[i].gpu && strcmp(networks[i].gpu, gpu->id) != 0)))
		i++;
	fact.network = &networks[i];
	return fact;
}

/* Interconnect within a host by text pattern; the first match decides. */
enum path { PATH_OWN_ROOT, PATH_UNKNOWN };
static const struct {
	const char *text;
	enum jl_wire wire;
	const char *pcie; /* id of a link; NULL: the GPU's own */
	enum path path;
} intra_words[] = {
	{ "NVL72", JL_WIRE_NVL72, NULL, PATH_OWN_ROOT },
	{ "bridge", JL_WIRE_BRIDGE, NULL, PATH_UNKNOWN },
	{ "PCIe 3.0 class path", JL_WIRE_PCIE_HOST, "pcie3-x16", PATH_OWN_ROOT },
	{ "NVLink2", JL_WIRE_NVLINK2, NULL, PATH_OWN_ROOT },
	{ "NVLink3", JL_WIRE_NVLINK3, NULL, PATH_OWN_ROOT },
	{ "NV12", JL_WIRE_NVLINK3, NULL, PATH_OWN_ROOT },
	{ "NVLink4", JL_WIRE_NVLINK4, NULL, PATH_OWN_ROOT },
	{ "NVLink5", JL_WIRE_NVLINK5, NULL, PATH_OWN_ROOT },
	{ "xGMI", JL_WIRE_XGMI, NULL, PATH_OWN_ROOT },
	{ "NVSwitch", JL_WIRE_NONE, NULL, PATH_OWN_ROOT }, /* of the GPU's generation */
	{ "P2P via", JL_WIRE_PCIE_P2P, NULL, PATH_OWN_ROOT },
	{ "NCCL_P2P_DISABLE", JL_WIRE_PCIE_HOST, NULL, PATH_OWN_ROOT },
	{ "no P2P", JL_WIRE_PCIE_HOST, NULL, PATH_OWN_ROOT },
	{ "PCIe 5.0", JL_WIRE_PCIE_P2P, "pcie5-x16", PATH_OWN_ROOT },
	{ "PCIe 4.0", JL_WIRE_PCIE_P2P, "pcie4-x16", PATH_UNKNOWN },
	{ "PCIe", JL_WIRE_PCIE_P2P, NULL, PATH_UNKNOWN },
	{ "NVLink", JL_WIRE_NONE, NULL, PATH_OWN_ROOT },
};

static const struct {
	const char *text;
	enum jl_wire wire;
	int stated; /* 0: unknown network */
} inter_words[] = {
	{ "EFA", JL_WIRE_EFA, 1 },       { "IB", JL_WIRE_IB, 1 },        { "InfiniBand", JL_WIRE_IB, 1 },
	{ "RoCE", JL_WIRE_ROCE, 1 },     { "GbE", JL_WIRE_ETHERNET, 1 }, { "Ethernet", JL_WIRE_ETHERNET, 1 },
	{ "suggests", JL_WIRE_ROCE, 1 }, /* network unknown, but its rate is given */
	{ "", JL_WIRE_ETHERNET, 0 },
};
/* Default network: 100 Gb/s per host; a single rank uses half of it. */
static const double unstated_Gbitps = 100.0;
static const int unstated_nics = 2;

static const struct {
	const char *text;
	enum jl_coll_tool tool;
} tools[] = {
	{ "out-of-place time", JL_TOOL_DEVICE }, { "profiler", JL_TOOL_DEVICE }, { "all_reduce_bench", JL_TOOL_TORCH },
	{ "nccl-tests", JL_TOOL_NCCL },          { "rccl-tests", JL_TOOL_NCCL },
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int has(const char *text, const char *part)
{
	return strstr(or_empty(text), part) != NULL;
}

static double number(const char *text)
{
	double value;
	size_t used;

	if (!text || jl_num_parse(text, &value, &used) != JL_NUM_OK || text[used] != '\0')
		return NAN;
	return value;
}

static enum jl_status read_count(const char *what, const char *text, int *ret_count, struct jl_err *err)
{
	const double value = number(text);

	if (!(value >= 1.0 && value <= 1e7) || value != floor(value))
		return jl_fail(err, JL_E_DATA, "%s '%s' is not a whole number from 1 on", what, or_empty(text));
	*ret_count = (int)value;
	return JL_OK;
}

/* "4x200" is 4 rails of 200 Gb/s; "3200 Gbps" is rails of 100 Gb/s, at most one per GPU. */
static int read_rails(const char *text, double *ret_Gbitps, int *ret_nics)
{
	for (const char *p = text; *p; p++) {
		double count, rate;
		size_t used, more;

		if (!isdigit((unsigned char)*p) ||
		    (p > text && (isdigit((unsigned char)p[-1]) || isalpha((unsigned char)p[-1]))))
			continue;
		if (jl_num_parse(p, &count, &used) != JL_NUM_OK)
			continue;
		if (p[used] == 'x' && jl_num_parse(p + used + 1, &rate, &more) == JL_NUM_OK && count >= 1.0 &&
		    count <= 64.0) {
			*ret_Gbitps = count * rate;
			*ret_nics = (int)count;
			return 1;
		}
		if (strncmp(p + used, " Gbps", 5) == 0 || strncmp(p + used, "GbE", 3) == 0) {
			*ret_Gbitps = count;
			*ret_nics = (int)fmin(fmax(count / 100.0, 1.0), 8.0);
		}
	}
	return *ret_Gbitps > 0.0;
}

static void read_inter(const struct gpu_fact *gpu, const char *text, struct jl_coll_case *c)
{
	double rate_Gbitps = 0.0;
	int nics = 0;
	size_t i = 0;

	while (!has(text, inter_words[i].text))
		i++;
	c->inter = inter_words[i].wire;
	if (!inter_words[i].stated) {
		rate_Gbitps = unstated_Gbitps;
		nics = unstated_nics;
		c->assumed |= JL_COLL_NETWORK;
	} else if (!read_rails(or_empty(text), &rate_Gbitps, &nics)) {
		const int roce = c->inter == JL_WIRE_ROCE;

		rate_Gbitps = roce ? gpu->network->roce_Gbitps : gpu->network->ib_Gbitps;
		nics = roce ? gpu->network->roce_nics : gpu->network->ib_nics;
		c->assumed |= JL_COLL_NETWORK;
	}
	c->listed.inter.rate_Bps = rate_Gbitps * GBITPS;
	c->listed.n_nics = nics;
	c->listed.inter.in_switch = has(text, "SHARP");
}

static enum jl_status read_intra(const struct jl_catalog *cat, const struct gpu_fact *gpu, const char *text,
				 struct jl_coll_case *c, struct jl_err *err)
{
	size_t i = 0;

	while (i < JL_LEN(intra_words) && !has(text, intra_words[i].text))
		i++;
	if (!*or_empty(text)) /* not stated: the GPU's own link over any path */
		i = JL_LEN(intra_words) - 1;
	if (i == JL_LEN(intra_words))
		return jl_fail(err, JL_E_DATA, "unknown link inside a host: '%s'", or_empty(text));
	const enum jl_wire wire = intra_words[i].wire ? intra_words[i].wire : gpu->wire;
	const double pcie_Bps = intra_words[i].pcie ? oneway(jl_link_by_id(cat, intra_words[i].pcie)) : gpu->pcie_Bps;
	const int pcie = wire == JL_WIRE_PCIE_HOST || wire == JL_WIRE_PCIE_P2P || wire == JL_WIRE_BRIDGE;
	struct jl_fabric *f = &c->listed;

	c->intra = wire;
	f->intra_kind = jl_wires[wire].intra;
	f->intra.rate_Bps = pcie ? pcie_Bps : gpu->link_Bps;
	f->pair.rate_Bps = gpu->bridge_Bps;
	if (wire == JL_WIRE_BRIDGE && !(gpu->bridge_Bps > 0.0))
		return jl_fail(err, JL_E_DATA, "a GPU without NVLink bridge: '%s'", text);
	if (!(f->intra.rate_Bps > 0.0))
		return jl_fail(err, JL_E_DATA, "the catalog has no rate for '%s' of this GPU", text);
	f->intra.in_switch = wire == JL_WIRE_NVLINK4 || wire == JL_WIRE_NVLINK5 || wire == JL_WIRE_NVL72;
	f->n_shared = intra_words[i].path ==
		      PATH_OWN_ROOT; /* otherwise the sharing of lanes is unknown; same default as in predictions */
	if (pcie && (intra_words[i].path == PATH_UNKNOWN || !*or_empty(text)))
		c->assumed |= JL_COLL_PATH;
	return JL_OK;
}

/* An NVLink domain may span hosts; then the model's "node" is the domain. */
static void lay_ranks(const struct gpu_fact *gpu, int n_gpus, int n_hosts, struct jl_coll_case *c)
{
	const int on_host = (n_gpus + n_hosts - 1) / n_hosts;
	const int domain = c->intra == JL_WIRE_NVL72 ? gpu->n_per_node : on_host;

	c->n_on_host = on_host;
	c->coll.n_ranks = n_gpus;
	c->coll.n_ranks_per_node = domain < n_gpus ? domain : n_gpus;
	c->coll.n_groups_per_node = 1;
	c->listed.n_per_node = gpu->n_per_node > c->coll.n_ranks_per_node ? gpu->n_per_node : c->coll.n_ranks_per_node;
	c->listed.n_nodes = (n_gpus + c->coll.n_ranks_per_node - 1) / c->coll.n_ranks_per_node;
	if (c->coll.n_ranks_per_node == n_gpus)
		return;
	/* e.g. "NVL72" with two racks: equal parts */
	c->coll.n_ranks_per_node = (n_gpus + c->listed.n_nodes - 1) / c->listed.n_nodes;
}

static double measured_s(const struct jl_coll_cells *cells, const struct jl_collective *coll)
{
	const double latency_us = number(cells->latency_us), algbw = number(cells->algbw_GBps),
		     busbw = number(cells->busbw_GBps);

	if (latency_us > 0.0)
		return latency_us * 1e-6;
	if (algbw > 0.0)
		return coll->size_B / (algbw * GBPS);
	if (busbw > 0.0)
		return coll->size_B * jl_busbw_factor(coll->kind, coll->n_ranks) / (busbw * GBPS);
	return NAN;
}

static enum jl_status read_collective(const struct jl_coll_cells *cells, struct jl_coll_case *c, struct jl_err *err)
{
	if (!jl_collective_by_name(&c->coll.kind, or_empty(cells->collective)))
		return jl_fail(err, JL_E_DATA, "unknown collective '%s'", or_empty(cells->collective));
	c->coll.size_B = number(cells->bytes);
	if (!(c->coll.size_B > 0.0 && c->coll.size_B < 1e18))
		return jl_fail(err, JL_E_DATA, "bytes '%s' is not a number above 0", or_empty(cells->bytes));
	c->tool = JL_TOOL_DEVICE;
	for (size_t i = 0; i < JL_LEN(tools); i++)
		if (has(cells->tool, tools[i].text)) {
			c->tool = tools[i].tool;
			break;
		}
	return JL_OK;
}

/* Reads the algorithm. In-network reduction exists only for an all-reduce within one domain. */
static enum jl_algorithm read_algorithm(const char *text, const struct jl_coll_case *c)
{
	if (has(text, ", Ring"))
		return JL_ALGO_RING;
	if (has(text, "NVLS") && c->coll.kind == JL_ALLREDUCE && c->listed.n_nodes == 1 && c->listed.intra.in_switch &&
	    c->coll.size_B >= 1e8) /* small messages still use ring protocols */
		return JL_ALGO_SWITCH;
	return JL_ALGO_BEST;
}

enum jl_status jl_coll_case_read(struct jl_coll_case *ret_case, const struct jl_coll_cells *cells,
				 const struct jl_catalog *cat, const struct jl_gpu *gpu, struct jl_err *err)
{
	struct jl_coll_case c = { .intra = JL_WIRE_NONE };
	const struct gpu_fact fact = gpu_fact(cat, gpu);
	int n_gpus = 1, n_hosts = 1;

	JL_TRY(read_collective(cells, &c, err));
	JL_TRY(read_count("n_gpus", cells->n_gpus, &n_gpus, err));
	if (!*or_empty(cells->n_nodes)) /* hosts of the usual size */
		n_hosts = (n_gpus + fact.n_per_node - 1) / fact.n_per_node;
	else
		JL_TRY(read_count("n_nodes", cells->n_nodes, &n_hosts, err));
	if (n_gpus < 2 || n_hosts > n_gpus)
		return jl_fail(err, JL_E_DATA, "%d GPUs on %d hosts make no collective", n_gpus, n_hosts);
	JL_TRY(read_intra(cat, &fact, cells->intra_link, &c, err));
	lay_ranks(&fact, n_gpus, n_hosts, &c);
	if (c.listed.n_nodes > 1)
		read_inter(&fact, cells->inter_link, &c);
	c.gpu = gpu;
	c.arch = fact.arch;
	c.many_die = fact.many_die;
	c.coll.algorithm = read_algorithm(cells->intra_link, &c);
	c.meas_s = measured_s(cells, &c.coll);
	if (!(c.meas_s > 0.0))
		return jl_fail(err, JL_E_DATA, "neither a time nor a bandwidth");
	*ret_case = c;
	return JL_OK;
}

/* Host time of the tool: always for a loop in PyTorch, for nccl-tests only within one host. */
double jl_coll_tool_s(const double *x, const struct jl_coll_case *c)
{
	return c->tool == JL_TOOL_TORCH || c->listed.n_nodes == 1 ? jl_coll_host_s(x, c->tool, c->n_on_host) : 0.0;
}

double jl_coll_predict_s(const double *x, const struct jl_coll_case *c, struct jl_collective_cost *ret_cost)
{
	struct jl_fabric fabric = c->listed;

	jl_coll_fill(x, c->intra, c->inter, c->many_die, &fabric);
	const struct jl_collective_cost cost = jl_collective_cost(&fabric, &c->coll);

	if (ret_cost)
		*ret_cost = cost;
	return fmax(cost.time_s, jl_coll_tool_s(x, c));
}
