/* Expected range and upper bound of a collective on a system. */
#include "predict/collective_case.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SMALL_B 8.0

static const struct {
	const char *name, *word; /* word: name without separators */
} kinds[JL_N_COLLECTIVE] = {
	[JL_ALLREDUCE] = { "all-reduce", "allreduce" },
	[JL_ALLGATHER] = { "all-gather", "allgather" },
	[JL_REDUCESCATTER] = { "reduce-scatter", "reducescatter" },
	[JL_BROADCAST] = { "broadcast", "broadcast" },
	[JL_REDUCE] = { "reduce", "reduce" },
	[JL_ALLTOALL] = { "all-to-all", "alltoall" },
	[JL_SENDRECV] = { "send-receive", "sendrecv" },
};

const char *jl_collective_name(enum jl_collective_kind kind)
{
	return kinds[kind].name;
}

const char *jl_algorithm_name(enum jl_algorithm algorithm)
{
	static const char *const names[JL_N_ALGORITHM] = { [JL_ALGO_BEST] = "best",
							   [JL_ALGO_RING] = JL_N("ring"),
							   [JL_ALGO_TREE] = JL_N("tree"),
							   [JL_ALGO_SWITCH] = JL_N("switch"),
							   [JL_ALGO_HIERARCHICAL] = JL_N("hierarchical") };

	return names[algorithm];
}

bool jl_collective_by_name(enum jl_collective_kind *ret_kind, const char *name)
{
	static const char perf[] = "perf";
	char word[32];
	size_t n = 0;

	for (const char *c = name; *c; c++) {
		if (*c == '-' || *c == '_' || *c == ' ')
			continue;
		if (!isalpha((unsigned char)*c) || n + 1 >= sizeof(word))
			return false;
		word[n++] = (char)tolower((unsigned char)*c);
	}
	word[n] = '\0';
	if (n > strlen(perf) && strcmp(word + n - strlen(perf), perf) == 0)
		word[n - strlen(perf)] = '\0';
	for (int i = 0; i < JL_N_COLLECTIVE; i++)
		if (strcmp(kinds[i].word, word) == 0) {
			*ret_kind = (enum jl_collective_kind)i;
			return true;
		}
	return false;
}

/* Number of sequential steps of the algorithm in model/fabric/collective.c. */
static double steps_of(const struct jl_collective_case *c)
{
	const double rounds = c->kind == JL_ALLREDUCE ? 2 : 1;
	const double n = c->n_nodes > 1 ? c->n_nodes : c->n_ranks;

	switch (c->algorithm) {
	case JL_ALGO_RING: return rounds * (n - 1);
	case JL_ALGO_SWITCH: return rounds;
	default: return rounds * ceil(log2(n));
	}
}

static const char *link_id(const struct jl_link_info *link)
{
	return link ? link->id : "?";
}

/* True if ranks exceed a bridged pair: then the path between pairs is the bottleneck. */
static bool beyond_pairs(const struct jl_collective_case *c, const struct jl_fabric *fabric)
{
	return fabric->intra_kind == JL_INTRA_BRIDGE_PAIR && c->n_per_node > 2;
}

/* Between N hosts an all-reduce sends 2(N-1) times the size in total: a host's link carries 2(N-1)/N times the size. */
static void say_limit(struct jl_collective_case *c, const struct jl_sys *sys, const struct jl_fabric *fabric)
{
	const int net = c->limit == JL_LIMIT_NETWORK;
	const bool between = !net && beyond_pairs(c, fabric);
	const char *id = net                                           ? link_id(sys->net)
			 : between && sys->join && sys->join->fallback ? sys->join->fallback
								       : link_id(sys->join);
	const char *of = net ? JL_N("node") : "GPU";

	if (fabs(c->limit_frac - 1) <= 1e-6)
		jl_msg_print(c->limit_en, c->limit_text, sizeof(c->limit_en),
			     between ? JL_N("%s %.4g GB/s a {%s} between the bridged pairs")
				     : JL_N("%s %.4g GB/s a {%s}"),
			     id, c->limit_Bps / 1e9, of);
	else
		jl_msg_print(
			c->limit_en, c->limit_text, sizeof(c->limit_en),
			between ? JL_N("%s %.4g GB/s a {%s} between the bridged pairs, which carries %.3g times the "
				       "size")
				: JL_N("%s %.4g GB/s a {%s}, which carries %.3g times the size"),
			id, c->limit_Bps / 1e9, of, 1 / c->limit_frac);
}

/* Finds the limiting rate: tests whether the bound moves with an infinitely fast network. */
static void find_limit(struct jl_collective_case *c, const struct jl_fabric *fabric, const struct jl_collective *coll)
{
	struct jl_fabric wide = *fabric;

	wide.inter.rate_Bps *= 1e9;
	c->limit = c->n_nodes > 1 && jl_collective_cost(&wide, coll).bound_s < c->bound_s * (1 - 1e-9)
			   ? JL_LIMIT_NETWORK
			   : JL_LIMIT_LINK;
	c->limit_Bps = c->limit == JL_LIMIT_NETWORK ? fabric->inter.rate_Bps
		       : fabric->intra_kind == JL_INTRA_BRIDGE_PAIR && !beyond_pairs(c, fabric)
			       ? fabric->pair.rate_Bps
			       : fabric->intra.rate_Bps;
	c->limit_frac = c->bound_Bps / c->limit_Bps;
}

static enum jl_status check_ask(const struct jl_collective_ask *ask, int n_ranks, struct jl_err *err)
{
	if (!(ask->size_B > 0))
		return jl_fail(err, JL_E_RANGE, "a collective needs a size, e.g. 16 GB");
	if (n_ranks < 2)
		return jl_fail(err, JL_E_RANGE, "a collective needs at least two devices");
	return JL_OK;
}

/* Uncertainty of unknown PCIe topology, as ln; > 0 on the slow side only. Usual: a root port per card; worst case: four cards share one port's
 * lanes. Where switches are required, each socket has one or two. */
static double other_path_ln(const struct jl_fabric *fabric, const struct jl_collective *coll, double time_s)
{
	const bool peers = fabric->intra_kind != JL_INTRA_PCIE_HOST && !fabric->pairs_by_host;
	struct jl_fabric other = *fabric;

	if (fabric->n_shared == 1 || fabric->n_per_root <= 1 || (peers && coll->n_ranks <= 2))
		return 0;
	if (fabric->n_shared > 1 && !peers) {
		other.n_shared /= 2;
	} else {
		other.intra.rate_Bps /= 4;
		other.root_Bps /= 4;
	}
	return log(jl_collective_cost(&other, coll).time_s / time_s);
}

struct jl_collective_answer jl_collective_of(const struct jl_machine *machine, const struct jl_collective *coll,
					     double host_s, int n_assumed)
{
	/* messages below the measured range take no longer than the smallest measured one */
	const double least_ln = machine->widths.least[JL_ASKED_COLLECTIVE][JL_EXTENT_SIZE];
	const double extent_ln[JL_N_EXTENT] = { [JL_EXTENT_SIZE] = fmax(log(coll->size_B), least_ln),
						[JL_EXTENT_BATCH] = NAN,
						[JL_EXTENT_GPUS] = log(coll->n_ranks) };
	struct jl_collective_answer a = { .cost = jl_collective_cost(&machine->alone, coll) };
	struct jl_collective small = *coll;

	small.size_B = SMALL_B;
	jl_machine_doubt(&a.doubt, machine, JL_ASKED_COLLECTIVE,
			 (struct jl_axes){ .kind = jl_collective_name(coll->kind) });
	/* size-independent share: launch and sequential steps */
	a.doubt.x[JL_DOUBT_LAUNCH] = fmin(1, jl_collective_cost(&machine->alone, &small).time_s / a.cost.time_s);
	a.doubt.x[JL_DOUBT_LINK] = !jl_machine_links_seen(machine, JL_ASKED_COLLECTIVE);
	a.doubt.x[JL_DOUBT_HOSTS] = machine->alone.n_nodes > 1;
	a.doubt.x[JL_DOUBT_ASSUMED] = sqrt(n_assumed);
	a.doubt.x[JL_DOUBT_FAR] = jl_far_ln(&machine->widths, JL_ASKED_COLLECTIVE, extent_ln);
	/* Launches are queued, so they matter only if they take longer than the collective. */
	a.time_s = fmax(a.cost.time_s, host_s);
	a.doubt.spread_ln = machine->alone.half_lanes ? log(2) : 0; /* a desktop's two cards may have full lanes */
	a.fast_ln = jl_half_ln(&machine->widths, JL_ASKED_COLLECTIVE, &a.doubt);
	a.doubt.spread_ln = other_path_ln(&machine->alone, coll, a.cost.time_s);
	a.half_ln = jl_half_ln(&machine->widths, JL_ASKED_COLLECTIVE, &a.doubt);
	if (a.doubt.spread_ln < 0)
		a.fast_ln = a.half_ln;
	return a;
}

/* Multi-host bandwidth is limited by that within a host, since every byte also crosses its links; only in-network reduction exceeds it. */
static void as_one_host_at_most(struct jl_collective_case *c, const struct jl_machine *machine,
				const struct jl_collective_ask *ask)
{
	struct jl_collective_ask inside = *ask;
	struct jl_collective_case one;
	struct jl_err ignored;

	inside.n_ranks = c->n_per_node;
	if ((c->kind != JL_ALLREDUCE && c->kind != JL_ALLGATHER && c->kind != JL_REDUCESCATTER) ||
	    jl_collective_case(&one, machine, &inside, &ignored))
		return;
	c->one_host_Bps = one.algbw_Bps;
	c->algbw_Bps.value = fmin(c->algbw_Bps.value, one.algbw_Bps.value);
	c->algbw_Bps.hi = fmin(c->algbw_Bps.hi, one.algbw_Bps.hi);
	c->algbw_Bps.lo = fmin(c->algbw_Bps.lo, c->algbw_Bps.value);
	c->time_s = c->size_B / c->algbw_Bps.value;
}

enum jl_status jl_collective_case(struct jl_collective_case *ret_case, const struct jl_machine *machine,
				  const struct jl_collective_ask *ask, struct jl_err *err)
{
	const int per_node = jl_sys_per_node(&machine->sys);
	const int n_ranks = ask->n_ranks > 0 ? ask->n_ranks : per_node * machine->sys.n_nodes;
	const struct jl_collective coll = { .kind = ask->kind, .size_B = ask->size_B, .n_ranks = n_ranks };
	struct jl_collective_case c = {
		.kind = ask->kind, .size_B = ask->size_B, .n_ranks = n_ranks, .one_host_Bps = { NAN, NAN, NAN }
	};
	struct jl_machine part;

	JL_TRY(check_ask(ask, n_ranks, err));
	JL_TRY(jl_machine_take(&part, machine, n_ranks, err));
	const struct jl_collective_answer answer = jl_collective_of(
		&part, &coll, 0,
		(part.intra != JL_WIRE_NONE && part.sys.join_assumed) +
			(part.inter != JL_WIRE_NONE && part.sys.net_assumed));
	const struct jl_collective_cost cost = answer.cost;

	c.n_nodes = part.sys.n_nodes;
	c.n_per_node = n_ranks / c.n_nodes;
	c.time_s = cost.time_s;
	c.bound_s = cost.bound_s;
	c.bound_Bps = ask->size_B / cost.bound_s;
	c.algorithm = cost.algorithm;
	c.n_steps = steps_of(&c);
	c.busbw_factor = jl_busbw_factor(ask->kind, n_ranks);
	c.half_ln = answer.half_ln;
	c.fast_ln = answer.fast_ln;
	c.half_lanes = part.alone.half_lanes;
	c.seen = answer.doubt.x[JL_DOUBT_LINK] == 0;
	c.in_network = c.n_nodes > 1 ? part.alone.inter.in_switch : part.alone.intra.in_switch;
	c.algbw_Bps.value = ask->size_B / cost.time_s;
	c.algbw_Bps.lo = c.algbw_Bps.value * exp(-c.half_ln);
	c.algbw_Bps.hi = fmin(c.algbw_Bps.value * exp(c.fast_ln), c.bound_Bps);
	if (c.n_nodes > 1 && !c.in_network && c.n_per_node > 1)
		as_one_host_at_most(&c, &part, ask);
	find_limit(&c, &part.alone, &coll);
	say_limit(&c, &part.sys, &part.alone);
	*ret_case = c;
	return JL_OK;
}

enum jl_status jl_machine_hosts(struct jl_machine *ret_machine, const struct jl_catalog *cat, const struct jl_sys *sys,
				int n_nodes, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_sys many = *sys;
	enum jl_status status = JL_OK;

	if (n_nodes == sys->n_nodes)
		return jl_machine_make(ret_machine, cat, sys, err);
	if (sys->n_nodes == 1) { /* a single host's network is unknown: the request must have several hosts */
		const char *text = jl_arena_printf(arena, "%dx(%s)", n_nodes, sys->text);

		status = text ? jl_sys_parse(&many, cat, text, arena, err) : jl_fail_nomem(err);
	} else if (n_nodes == 1) {
		many.net = NULL;
		many.n_net = 0;
	}
	if (status)
		return status;
	many.n_nodes = n_nodes;
	return jl_machine_make(ret_machine, cat, &many, err);
}
