/* Defaults of a system expression: interconnect, network, and their rates. */
#include "catalog/sysdefault.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "catalog/find.h"

#define PARENTS_MAX 8

static const char card_net[] = "100gbe";   /* servers with data-centre PCIe cards */
static const char desktop_net[] = "10gbe"; /* workstations, consumer cards, CPU hosts */

static bool begins(const char *text, const char *with)
{
	return text && strncasecmp(text, with, strlen(with)) == 0;
}

/* True for baseboard GPUs, which are connected on the board. A DGX Station's cards have the form of PCIe cards but the board's link. */
static bool is_board(const struct jl_gpu *gpu)
{
	if (begins(gpu->form_factor, "pcie"))
		return begins(gpu->link, "nvlink") && !begins(gpu->link, "nvlink-bridge");
	return gpu->form_factor != NULL;
}

bool jl_gpu_has_p2p(const struct jl_gpu *gpu)
{
	return gpu->p2p == JL_P2P_YES || (gpu->p2p == JL_P2P_UNKNOWN && gpu->name && !strstr(gpu->name, "GeForce"));
}

/* True for consumer and workstation cards, whose machines have ordinary Ethernet. */
static bool is_desktop(const struct jl_gpu *gpu)
{
	static const char *const series[] = { "rtx", "gtx", "titan", "quadro", "radeon", "rx-", "gb10" };
	size_t i;

	for (i = 0; i < JL_LEN(series); i++)
		if (begins(gpu->id, series[i]) && !strstr(gpu->id, "server"))
			return true;
	return false;
}

/* First interconnect made of `wire` with this topology. */
static const struct jl_link_info *join_of_wire(const struct jl_catalog *cat, const char *wire, const char *topology)
{
	size_t i;

	for (i = 0; wire && i < cat->n_links; i++) {
		const struct jl_link_info *link = &cat->links[i];

		if (link->role == JL_ROLE_JOIN && jl_same_text(link->wire, wire) &&
		    (!topology || jl_same_text(link->topology, topology)))
			return link;
	}
	return NULL;
}

/* Interconnect of baseboard GPUs (SXM, OAM, superchips): that of the reference host of the link generation, or one defined for the form factor.
 * Catalog order is by size. */
static void join_of_board(struct jl_sys *sys, const struct jl_catalog *cat)
{
	const struct jl_link_info *largest = NULL;

	for (size_t i = 0; i < 2 * cat->n_links; i++) {
		const struct jl_link_info *join = &cat->links[i % cat->n_links];
		const bool formed = i < cat->n_links;

		if (join->host_max < 1 || !jl_same_text(sys->gpu->link, join->wire) || formed != (join->form != NULL) ||
		    (formed && !begins(sys->gpu->form_factor, join->form)))
			continue;
		if (!largest || largest->host_max < join->host_max)
			largest = join;
		if (sys->n_per_node <= join->host_max) {
			sys->join = join;
			return;
		}
	}
	/* counts above any host's are refused in catalog/possible.c; TPU: one interconnect per link */
	sys->join = largest ? largest : join_of_wire(cat, sys->gpu->link, NULL);
}

enum jl_status jl_sysdefault_join(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err)
{
	const struct jl_gpu *gpu = sys->gpu;

	sys->join_assumed = true;
	sys->join = NULL;
	if (is_board(gpu))
		join_of_board(sys, cat);
	if (!sys->join)
		sys->join = join_of_wire(cat, gpu->pcie, jl_gpu_has_p2p(gpu) ? "p2p" : "host");
	if (!sys->join)
		return jl_fail(
			err, JL_E_USAGE,
			"how the %d %s of a host are joined is not known: write it, e.g. '%dx %s via pcie4-no-p2p'",
			sys->n_per_node, gpu->id, sys->n_per_node, gpu->id);
	return JL_OK;
}

enum jl_status jl_sysdefault_nvlink(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err)
{
	struct jl_sys usual = *sys;
	const char *wire = begins(sys->gpu->link, "nvlink") ? sys->gpu->link : NULL;

	if (wire && is_board(sys->gpu))
		JL_TRY(jl_sysdefault_join(&usual, cat, err));
	sys->join = wire && is_board(sys->gpu) ? usual.join : join_of_wire(cat, wire, NULL);
	return sys->join ? JL_OK : jl_find_link(&sys->join, cat, "nvlink-bridge", JL_ROLE_JOIN, err);
}

/* Network adapters of the family's reference host: one per accelerator, at most the host's number. */
static const char *net_of_board(const struct jl_sys *sys, const struct jl_catalog *cat, int *ret_n)
{
	const struct jl_family *family = jl_family_by_id(cat, sys->gpu->family);

	/* a generation without a host record uses its parent's; a record with priors is a family */
	for (int i = 0; i < PARENTS_MAX && family && !family->host_net && !(family->priors.n_sm > 0); i++)
		family = jl_family_by_id(cat, family->parent);
	if (!family || !family->host_net)
		return card_net;
	/* every superchip of a rack has its own */
	*ret_n = sys->n_per_node < family->n_host_net || begins(sys->gpu->form_factor, "superchip")
			 ? sys->n_per_node
			 : family->n_host_net;
	return family->host_net;
}

static const char *net_of_generation(const struct jl_sys *sys, const struct jl_catalog *cat, int *ret_n)
{
	*ret_n = 1;
	/* a baseboard GPU in PCIe form is a DGX Station's */
	if (!sys->gpu || is_desktop(sys->gpu) || (is_board(sys->gpu) && begins(sys->gpu->form_factor, "pcie")))
		return desktop_net;
	return is_board(sys->gpu) ? net_of_board(sys, cat, ret_n) : card_net;
}

static double oneway_of(const struct jl_link_info *link)
{
	if (jl_fact_known(&link->oneway_Bps))
		return link->oneway_Bps.value;
	return link->bothway_Bps.value / 2;
}

enum jl_status jl_sysdefault_net(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err)
{
	const struct jl_system *system = sys->system;
	double n;

	if (system && system->net) {
		sys->net = jl_link_by_id(cat, system->net);
		sys->n_net = system->n_net;
		/* a system that lists its total rate but no adapters: as many as give that rate */
		if (sys->net && sys->n_net <= 0) {
			n = round(system->net_Bps.value / oneway_of(sys->net));
			sys->n_net = n >= 1 && n <= JL_NET_MAX ? (int)n : 1;
		}
	}
	if (sys->net)
		return JL_OK;
	sys->net_assumed = true;
	const char *id = net_of_generation(sys, cat, &sys->n_net);
	sys->net = jl_link_by_id(cat, id);
	if (!sys->net)
		return jl_fail(err, JL_E_USAGE,
			       "the network between the %d hosts is not known: write it, e.g. 'over 10gbe'",
			       sys->n_nodes);
	return JL_OK;
}

static struct jl_fact scaled(const struct jl_fact *fact, double by, const char *note)
{
	struct jl_fact out = *fact;

	out.value *= by;
	out.lo *= by;
	out.hi *= by;
	out.note = note;
	return out;
}

/* One-way rate, from whichever is listed. */
static struct jl_fact oneway(const struct jl_fact *oneway_Bps, const struct jl_fact *bothway_Bps)
{
	if (oneway_Bps && jl_fact_known(oneway_Bps))
		return *oneway_Bps;
	if (bothway_Bps && jl_fact_known(bothway_Bps))
		return scaled(bothway_Bps, 0.5, "half of both ways");
	return JL_FACT_UNKNOWN;
}

static struct jl_fact oneway_of_link(const struct jl_catalog *cat, const struct jl_link_info *link)
{
	const struct jl_link_info *wire;

	if (!link)
		return JL_FACT_UNKNOWN;
	struct jl_fact fact = oneway(&link->oneway_Bps, &link->bothway_Bps);
	wire = jl_link_by_id(cat, link->wire);
	if (!jl_fact_known(&fact) && wire)
		fact = oneway(&wire->oneway_Bps, &wire->bothway_Bps);
	return fact;
}

static bool is_pcie(const struct jl_link_info *join)
{
	return join->topology ? jl_same_text(join->topology, "host") || jl_same_text(join->topology, "p2p")
			      : begins(join->kind, "pcie");
}

static struct jl_fact join_rate(const struct jl_sys *sys, const struct jl_catalog *cat)
{
	struct jl_fact slot = oneway_of_link(cat, sys->join);
	struct jl_fact own;

	if (is_pcie(sys->join)) {
		own = oneway_of_link(cat, jl_link_by_id(cat, sys->gpu->pcie));
		if (jl_fact_known(&own) && (!jl_fact_known(&slot) || own.value < slot.value)) {
			own.note = "the card's own PCIe is the narrower side";
			return own;
		}
		return slot;
	}
	if (sys->system) {
		own = oneway(NULL, &sys->system->link_bothway_Bps);
		if (jl_fact_known(&own))
			return own;
	}
	/* the accelerator's ports limit NVLink-like wires and bridges; any other interconnect is hypothetical and taken as given */
	own = oneway(&sys->gpu->link_oneway_Bps, &sys->gpu->link_bothway_Bps);
	bool own_wire = (sys->gpu->link && jl_same_text(sys->gpu->link, sys->join->wire)) ||
			(begins(sys->join->kind, "nvlink-bridge") && begins(sys->gpu->link, "nvlink-bridge"));
	if (jl_fact_known(&own) && (own_wire || !jl_fact_known(&slot)))
		return own;
	if (!own_wire && !sys->system && !sys->join_assumed && jl_fact_known(&slot)) {
		slot.origin = JL_ESTIMATED;
		slot.note = "hypothetical: this card has no such port";
	}
	return slot;
}

/* True if the network is the catalog system's own. */
static bool is_own_net(const struct jl_sys *sys)
{
	const struct jl_system *system = sys->system;

	if (!system || !jl_fact_known(&system->net_Bps))
		return false;
	return sys->net_assumed ||
	       (jl_same_text(system->net, sys->net->id) && (system->n_net == 0 || system->n_net == sys->n_net));
}

static enum jl_status net_rate(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_arena *arena,
			       struct jl_err *err)
{
	struct jl_fact ports = oneway_of_link(cat, sys->net);
	const char *note;

	if (sys->n_net > 1) {
		note = jl_arena_printf(arena, "%d x %s", sys->n_net, sys->net->id);
		JL_TRY(jl_got(note, err));
		ports = scaled(&ports, sys->n_net, note);
	}
	sys->net_oneway_Bps = ports;
	/* Minimum of the node's listed rate and its ports: a node's total may count unused ports, or be capped below them. With assumed adapters
	 * only the listed rate counts. */
	if (is_own_net(sys) && (sys->net_assumed || !(ports.value < sys->system->net_Bps.value)))
		sys->net_oneway_Bps = sys->system->net_Bps;
	return JL_OK;
}

enum jl_status jl_sysdefault_rates(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_arena *arena,
				   struct jl_err *err)
{
	sys->join_oneway_Bps = sys->join ? join_rate(sys, cat) : JL_FACT_UNKNOWN;
	sys->net_oneway_Bps = JL_FACT_UNKNOWN;
	return sys->net ? net_rate(sys, cat, arena, err) : JL_OK;
}
