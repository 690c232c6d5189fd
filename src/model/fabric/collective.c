/* Time of a collective on a fabric: ring, tree, in-switch and hierarchical algorithms, each with up to three protocols. Knows no training step. */
#include "fabric/collective.h"

#include <math.h>

#include "base/log2.h"

/* LL128: latency of one step relative to LL, because it waits for whole 128-byte lines */
#define MID_STEP 1.2
/* fewest ranks for in-switch reduction: below, a ring is as fast and NCCL uses it */
#define SWITCH_MIN_RANKS 5

/* A collective mapped onto a fabric: rank counts, rates and start-up cost. */
struct layout {
	double n, n_nodes, per_node; /* total ranks, hosts, ranks per host */
	double near;                 /* (n - 1) / n, the share that travels in all-gather and reduce-scatter */
	const struct jl_link *in, *out;
	double in_Bps, in_ll_Bps; /* sustained rate of one rank inside the host, large and low-latency protocol */
	double out_Bps;           /* sustained network rate of one group of ranks on a host; INFINITY: single host */
	double in_listed_Bps, out_listed_Bps;
	double start_s;
};

/* Work of one algorithm: sequential steps, and bytes transferred at the sustained rates. */
struct work {
	double in_steps, out_steps;
	double in_B;  /* bytes through one rank's link */
	double out_B; /* bytes through one host's NICs */
	/* host and network parts delay each other: root of the sum of squares; otherwise the longer counts */
	int entangled;
	double out_frac;
};

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double most(double a, double b)
{
	return a > b ? a : b;
}

static double or_one(double frac)
{
	return frac > 0.0 ? frac : 1.0;
}

static double per_rate(double moved_B, double rate_Bps)
{
	return moved_B > 0.0 ? moved_B / rate_Bps : 0.0;
}

static int by_pcie(const struct jl_fabric *f)
{
	return f->intra_kind == JL_INTRA_PCIE_HOST || f->intra_kind == JL_INTRA_PCIE_P2P ||
	       f->intra_kind == JL_INTRA_BRIDGE_PAIR;
}

/* One rank's share of the PCIe uplink to the host; INFINITY: the uplink is not used. A P2P ring crosses it once for all cards below a switch;
 * through host memory every card crosses it. */
static double root_share_Bps(const struct jl_fabric *f, double n_here, double n_flows)
{
	const int by_host = f->intra_kind == JL_INTRA_PCIE_HOST || f->pairs_by_host;

	/* two peers below one switch do not use the uplink */
	if (!(f->root_Bps > 0.0) || (!by_host && n_here <= 2.0))
		return INFINITY;
	return f->root_Bps / most(by_host ? least(n_here, f->n_shared) * n_flows : 1.0, 1.0);
}

/* Share of the rate that remains if the ring crosses CPU sockets. */
static double crossing_frac(const struct jl_fabric *f, double n_here)
{
	const double per_root = f->n_per_root > 0 ? f->n_per_root
						  : ceil((double)f->n_per_node / (f->n_numa > 0 ? f->n_numa : 1));

	return n_here > per_root ? or_one(f->cross_frac) : 1.0;
}

static void lay_intra(const struct jl_fabric *f, double n_here, struct layout *lay)
{
	const int paired = f->intra_kind == JL_INTRA_BRIDGE_PAIR && lay->per_node <= 2.0;
	const int up = !paired && by_pcie(f);
	/* in a ring over bridged pairs every second hop uses PCIe */
	const double n_flows = f->intra_kind == JL_INTRA_BRIDGE_PAIR ? 0.5 : 1.0;
	const double root_Bps = up ? root_share_Bps(f, n_here, n_flows) : INFINITY;
	const double crossing = up ? crossing_frac(f, n_here) : 1.0;
	double rate_Bps;

	lay->in = paired ? &f->pair : &f->intra;
	rate_Bps = lay->in->rate_Bps;
	if (f->intra_kind == JL_INTRA_MESH && f->mesh_peers > 0.0)
		rate_Bps *= least(1.0, (lay->per_node - 1.0) / f->mesh_peers);
	lay->in_listed_Bps = rate_Bps;
	lay->in_Bps = crossing * least(rate_Bps * lay->in->eff_frac, root_Bps);
	lay->in_ll_Bps = least(rate_Bps * lay->in->eff_frac * lay->in->ll_frac, crossing * root_Bps);
}

static struct layout lay_out(const struct jl_fabric *f, const struct jl_collective *c)
{
	struct layout lay = { .n = c->n_ranks, .out = &f->inter, .start_s = f->launch_s };
	const double groups = c->n_groups_per_node > 0 ? c->n_groups_per_node : 1;
	const int fit = c->n_ranks_per_node > 0 ? c->n_ranks_per_node : f->n_per_node;

	lay.per_node = least(lay.n, fit > 0 ? fit : 1);
	lay.n_nodes = lay.n > lay.per_node ? ceil(lay.n / lay.per_node) : 1.0;
	lay.near = (lay.n - 1.0) / lay.n;
	lay_intra(f, lay.per_node * groups, &lay);
	lay.out_Bps = lay.out_listed_Bps = INFINITY;
	if (lay.n_nodes > 1.0) {
		const double at_work = lay.per_node * groups;
		const double driven = at_work < f->n_nics ? at_work / f->n_nics : 1.0;

		lay.out_listed_Bps = f->inter.rate_Bps * driven / groups;
		lay.out_Bps = lay.out_listed_Bps * f->inter.eff_frac;
		lay.start_s += f->net_start_s;
	}
	return lay;
}

static double join_s(const struct work *w, double in_s, double out_s)
{
	return w->entangled && in_s > 0.0 ? sqrt(in_s * in_s + out_s * out_s) : most(in_s, out_s);
}

/* Longest transfer time with which a protocol can still be the cheapest, plus 1e-9 so that rounding never decides. */
static double budget_s(double best_s, double fixed_s)
{
	return (best_s - fixed_s) * (1.0 + 1e-9);
}

/* Time of the cheapest protocol for this work, or `best_s` if none is below it. All links involved must offer the protocol. Protocols that cannot
 * win are rejected by a multiplication before their divisions are computed. */
static double protocols_s(const struct layout *lay, const struct work *w, double best_s)
{
	const struct jl_link *in = lay->in, *out = lay->out;
	const int inside = lay->per_node > 1.0, outside = lay->n_nodes > 1.0;
	const double in_s = inside ? per_rate(w->in_B, lay->in_Bps) : 0.0;
	const double out_s = outside ? per_rate(w->out_B, lay->out_Bps * w->out_frac) : 0.0;
	/* an unused link may be unknown: 0 steps times NAN must give 0 */
	const double ll_steps_s = (inside ? w->in_steps * in->ll_alpha_s : 0.0) +
				  (outside ? w->out_steps * out->ll_alpha_s : 0.0);
	const double steps_s = (inside ? w->in_steps * in->alpha_s + in->setup_s : 0.0) +
			       (outside ? w->out_steps * out->alpha_s + out->setup_s : 0.0);
	const double segment_s = (inside ? in->segment_s : 0.0) + (outside ? out->segment_s : 0.0);
	const double bulk_s = join_s(w, in_s, out_s);
	const double large_s = lay->start_s + steps_s + bulk_s;

	if (!(large_s >= best_s))
		best_s = least(large_s + (segment_s > 0.0 ? 2.0 * sqrt(segment_s * bulk_s) : 0.0), best_s);
	if ((!inside || in->ll_frac > 0.0) && (!outside || out->ll_frac > 0.0)) {
		const double fixed_s = lay->start_s + ll_steps_s, left_s = budget_s(best_s, fixed_s);

		if (!(inside && w->in_B > left_s * lay->in_ll_Bps) && !(outside && out_s > left_s * out->ll_frac))
			best_s = least(best_s, fixed_s + join_s(w, inside ? per_rate(w->in_B, lay->in_ll_Bps) : 0.0,
								outside ? out_s / out->ll_frac : 0.0));
	}
	if ((!inside || in->mid_frac > 0.0) && (!outside || out->mid_frac > 0.0)) {
		const double fixed_s = lay->start_s + MID_STEP * ll_steps_s + (inside ? in->mid_s : out->mid_s);
		const double left_s = budget_s(best_s, fixed_s);

		if (!(inside && in_s > left_s * in->mid_frac) && !(outside && out_s > left_s * out->mid_frac))
			best_s = least(best_s, fixed_s + join_s(w, inside ? in_s / in->mid_frac : 0.0,
								outside ? out_s / out->mid_frac : 0.0));
	}
	return best_s;
}

static double ring_s(const struct layout *lay, enum jl_collective_kind kind, double size_B, double best_s)
{
	const double rounds = kind == JL_ALLREDUCE ? 2.0 : 1.0;
	const int whole = kind == JL_BROADCAST || kind == JL_REDUCE;
	const int placed = kind == JL_ALLGATHER || kind == JL_REDUCESCATTER;
	const double wire_B = whole ? size_B : rounds * lay->near * size_B;
	const double steps = rounds * (lay->n - 1.0);
	const double out_steps = lay->n_nodes > 1.0 ? steps * lay->n_nodes / lay->n : 0.0;
	const struct work w = {
		.in_steps = steps - out_steps,
		.out_steps = out_steps,
		.in_B = wire_B + (placed && lay->in->copy_frac > 0.0 ? lay->in->copy_frac * size_B / lay->n : 0.0),
		.out_B = wire_B,
		.out_frac = 1.0,
	};

	return protocols_s(lay, &w, best_s);
}

/* Bytes that the busiest host of a double binary tree sends, as a multiple of the size: 2 hosts: one edge; 3: a root with two children and a leaf;
 * 4 or more: a parent, two children, and a leaf. Each tree carries half the data. */
static double tree_load(double n_nodes)
{
	return n_nodes <= 2.0 ? 1.0 : n_nodes <= 3.0 ? 1.5 : 2.0;
}

static double tree_s(const struct layout *lay, enum jl_collective_kind kind, double size_B, double best_s)
{
	const int reduce_all = kind == JL_ALLREDUCE;

	if (!reduce_all && kind != JL_BROADCAST && kind != JL_REDUCE)
		return INFINITY;
	const double ways = reduce_all ? 2.0 : 1.0;
	/* in the chain inside a host a middle rank forwards data of both ends; the ranks of a pair send once */
	const double chain = lay->per_node >= 3.0 ? ways : lay->per_node >= 2.0 ? 1.0 : 0.0;
	const struct work w = {
		.in_steps = ways * (lay->per_node - 1.0),
		.out_steps = ways * jl_log2_ceil(lay->n_nodes),
		.in_B = chain * size_B,
		.out_B = (reduce_all ? tree_load(lay->n_nodes) : 1.0) * size_B,
		.entangled = 1,
		.out_frac = or_one(lay->out->tree_frac),
	};

	return protocols_s(lay, &w, best_s);
}

/* In-switch reduction in one NVLink domain: every rank sends its whole buffer and stores its share once by multicast. */
static double switch_part_s(const struct layout *lay, double size_B)
{
	return size_B * (1.0 + 1.0 / lay->per_node) / (lay->in_Bps * or_one(lay->in->switch_frac));
}

static double switch_s(const struct layout *lay, enum jl_collective_kind kind, double size_B)
{
	if (kind != JL_ALLREDUCE || lay->n_nodes > 1.0 || !lay->in->in_switch)
		return INFINITY;
	return lay->start_s + lay->in->switch_alpha_s * lay->per_node + switch_part_s(lay, size_B);
}

/* The switch reduces chunks while the NICs send others: about the longer part, more if both are close (fourth-power mean). Measured: two H100 hosts
 * reach 0.95 of one host's rate, four to eight hosts 0.9 of the network bound (docs/log/2026-11-19-fit.md). */
static double pipelined_s(double a_s, double b_s)
{
	const double a2 = a_s * a_s, b2 = b_s * b_s;

	return sqrt(sqrt(a2 * a2 + b2 * b2));
}

/* Hierarchical all-reduce: between hosts by a tree, or with in-network reduction one send and one receive. */
static double hierarchical_s(const struct layout *lay, enum jl_collective_kind kind, double size_B)
{
	const struct jl_link *in = lay->in, *out = lay->out;

	if (kind != JL_ALLREDUCE || lay->n_nodes <= 1.0)
		return INFINITY;
	const double load = out->in_switch ? 1.0 : tree_load(lay->n_nodes);
	const double hops = 2.0 * (out->in_switch ? 1.0 : jl_log2_ceil(lay->n_nodes));
	const double out_s = load * size_B / lay->out_Bps;
	const double out_start_s = lay->start_s + out->setup_s + hops * out->alpha_s;
	const double shared_B = 2.0 * (lay->per_node - 1.0) / lay->per_node * size_B;

	if (in->in_switch && lay->per_node > 1.0)
		return out_start_s + in->switch_alpha_s * lay->per_node +
		       pipelined_s(switch_part_s(lay, size_B), out_s);
	if (lay->per_node <= 1.0)
		return out_start_s + out_s;
	return out_start_s + in->setup_s + 2.0 * (lay->per_node - 1.0) * in->alpha_s + per_rate(shared_B, lay->in_Bps) +
	       out_s;
}

/* Algorithms to try if none is forced. NCCL uses trees only across hosts, in-switch reduction from five ranks, and hierarchical reduction only with
 * a switch. */
static int offered(const struct layout *lay, enum jl_algorithm algorithm)
{
	const int outside = lay->n_nodes > 1.0, many = lay->per_node >= SWITCH_MIN_RANKS;

	switch (algorithm) {
	case JL_ALGO_TREE: return outside;
	case JL_ALGO_SWITCH: return !outside && many;
	case JL_ALGO_HIERARCHICAL: return outside && ((lay->in->in_switch && many) || lay->out->in_switch);
	default: return algorithm == JL_ALGO_RING;
	}
}

static double algorithm_s(const struct layout *lay, enum jl_algorithm algorithm, enum jl_collective_kind kind,
			  double size_B, double best_s)
{
	switch (algorithm) {
	case JL_ALGO_RING: return ring_s(lay, kind, size_B, best_s);
	case JL_ALGO_TREE: return tree_s(lay, kind, size_B, best_s);
	case JL_ALGO_SWITCH: return switch_s(lay, kind, size_B);
	case JL_ALGO_HIERARCHICAL: return hierarchical_s(lay, kind, size_B);
	default: return INFINITY;
	}
}

/* Send-receive and all-to-all: every rank sends to its peers concurrently. */
static double sends_s(const struct jl_fabric *f, const struct layout *lay, enum jl_collective_kind kind, double size_B)
{
	const int all = kind == JL_ALLTOALL, outside = lay->n_nodes > 1.0, inside = lay->per_node > 1.0;
	const struct jl_p2p *p = &f->p2p;
	const struct jl_link *far = outside ? lay->out : lay->in;
	const double message_B = all ? size_B / lay->n : size_B;
	const double in_B = all ? message_B * (lay->per_node - 1.0) : size_B;
	const double out_B = all ? message_B * (lay->n - lay->per_node) * lay->per_node : size_B;
	const double in_s = inside ? in_B / (lay->in_Bps * (all ? or_one(lay->in->alltoall_frac) : 1.0)) : 0.0;
	const double out_s = outside ? out_B / (lay->out_Bps * (all ? or_one(lay->out->alltoall_frac) : 1.0)) : 0.0;
	const double copy_s = all && p->copy_Bps > 0.0 ? size_B / p->copy_Bps : 0.0;
	const double bulk_s = most(copy_s, most(in_s, out_s));
	const double start_s = lay->start_s + p->start_s + p->peer_s * (lay->n - 1.0);
	/* without measured values a send costs one step of the link */
	const int plain = !(p->start_s > 0.0);
	const double ll_Bps = p->ll_Bps > 0.0 ? p->ll_Bps : outside ? lay->out_Bps * far->ll_frac : lay->in_ll_Bps;
	const double setup_s = p->setup_s + (outside ? lay->out->setup_s : 0.0) +
			       (outside || plain ? far->alpha_s : 0.0);
	const double ll_step_s = outside || plain ? far->ll_alpha_s : 0.0;
	const double large_s = start_s + setup_s + bulk_s;

	if (!(ll_Bps > 0.0))
		return large_s;
	return least(large_s, start_s + ll_step_s + most(message_B / ll_Bps, bulk_s));
}

/* Lower bound from listed bandwidth alone. Between N hosts: an all-reduce sends each element at least 2(N-1) times in total, so some host sends at
 * least the mean; with in-network reduction a host sends its part and receives the result once. Inside a host: a rank uses its link and its share
 * of the NICs. */
static double bound_s(const struct layout *lay, enum jl_collective_kind kind, double size_B)
{
	const int outside = lay->n_nodes > 1.0, inside = lay->per_node > 1.0;
	const double far = outside ? (lay->n_nodes - 1.0) / lay->n_nodes : 0.0, near = lay->near;
	const double rank_Bps = (inside ? lay->in_listed_Bps : 0.0) +
				(outside ? lay->out_listed_Bps / lay->per_node : 0.0);
	double host_B, rank_B;

	switch (kind) {
	case JL_ALLREDUCE:
		host_B = outside && lay->out->in_switch ? size_B : 2.0 * far * size_B;
		rank_B = lay->in->in_switch || lay->out->in_switch ? near * size_B : 2.0 * near * size_B;
		break;
	case JL_ALLGATHER:
	case JL_REDUCESCATTER:
		host_B = far * size_B;
		rank_B = near * size_B;
		break;
	case JL_ALLTOALL:
		host_B = lay->per_node * (lay->n - lay->per_node) / lay->n * size_B;
		rank_B = near * size_B;
		break;
	default: host_B = outside ? size_B : 0.0; rank_B = size_B;
	}
	/* the algorithm need not use in-network reduction: the smaller bound holds */
	if (kind == JL_ALLREDUCE)
		host_B = least(host_B, 2.0 * far * size_B);
	return most(outside ? host_B / lay->out_listed_Bps : 0.0, rank_B / rank_Bps);
}

/* False: bound_s is certainly below `time_s`. Cheap over-estimate without divisions. */
static int may_bind(const struct layout *lay, enum jl_collective_kind kind, double size_B, double time_s)
{
	const int outside = lay->n_nodes > 1.0, inside = lay->per_node > 1.0;
	const int rings = kind == JL_ALLREDUCE || kind == JL_ALLGATHER || kind == JL_REDUCESCATTER;
	const double rank_B = (kind == JL_ALLREDUCE ? 2.0 : 1.0) * (rings ? lay->near : 1.0) * size_B;
	const double host_B = kind == JL_ALLTOALL ? lay->per_node * rank_B : rank_B;
	const double host_Bps = (inside ? lay->in_listed_Bps * lay->per_node : 0.0) +
				(outside ? lay->out_listed_Bps : 0.0);
	const double least_s = time_s * (1.0 - 1e-9);

	return !(least_s * host_Bps >= rank_B * lay->per_node) ||
	       (outside && !(least_s * lay->out_listed_Bps >= host_B));
}

/* Time of the cheapest algorithm, or of the forced one. */
static double cheapest_s(const struct jl_fabric *fabric, const struct jl_collective *coll, const struct layout *lay,
			 enum jl_algorithm *ret_algorithm)
{
	const int reduces = coll->kind == JL_ALLREDUCE || coll->kind == JL_BROADCAST || coll->kind == JL_REDUCE;
	double best_s = INFINITY;

	*ret_algorithm = JL_ALGO_RING;
	if (coll->kind == JL_ALLTOALL || coll->kind == JL_SENDRECV)
		return sends_s(fabric, lay, coll->kind, coll->size_B);
	if (coll->algorithm == JL_ALGO_BEST && !reduces) /* these kinds have one algorithm only */
		return ring_s(lay, coll->kind, coll->size_B, INFINITY);
	for (enum jl_algorithm a = JL_ALGO_RING; a < JL_N_ALGORITHM; a++) {
		if (coll->algorithm == JL_ALGO_BEST ? !offered(lay, a) : coll->algorithm != a)
			continue;
		const double time_s = algorithm_s(lay, a, coll->kind, coll->size_B, best_s);

		if (time_s < best_s || a == coll->algorithm) {
			best_s = time_s;
			*ret_algorithm = a;
		}
	}
	return best_s;
}

struct jl_collective_cost jl_collective_cost(const struct jl_fabric *fabric, const struct jl_collective *coll)
{
	struct jl_collective_cost best = { .algorithm = JL_ALGO_RING };

	if (coll->n_ranks <= 1 || !(coll->size_B > 0.0))
		return best;
	const struct layout lay = lay_out(fabric, coll);

	best.bound_s = bound_s(&lay, coll->kind, coll->size_B);
	best.time_s = most(cheapest_s(fabric, coll, &lay, &best.algorithm), best.bound_s);
	return best;
}

void jl_collective_times(const struct jl_fabric *fabric, const struct jl_collective *coll, size_t n, double *ret_s)
{
	struct layout lay;
	enum jl_algorithm algorithm;

	if (n == 0)
		return;
	lay = lay_out(fabric, coll);
	for (size_t i = 0; i < n; i++) {
		const double size_B = coll[i].size_B;

		ret_s[i] = 0.0;
		if (coll->n_ranks <= 1 || !(size_B > 0.0))
			continue;
		ret_s[i] = cheapest_s(fabric, &coll[i], &lay, &algorithm);
		if (may_bind(&lay, coll[i].kind, size_B, ret_s[i]))
			ret_s[i] = most(ret_s[i], bound_s(&lay, coll[i].kind, size_B));
	}
}

double jl_busbw_factor(enum jl_collective_kind kind, int n_ranks)
{
	const double n = n_ranks;

	if (n_ranks < 1)
		return NAN;
	switch (kind) {
	case JL_ALLREDUCE: return 2.0 * (n - 1.0) / n;
	case JL_ALLGATHER:
	case JL_REDUCESCATTER:
	case JL_ALLTOALL: return (n - 1.0) / n;
	default: return 1.0;
	}
}
