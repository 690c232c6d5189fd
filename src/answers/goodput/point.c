/* A setting and a rate of failures to shares of the elapsed time. */
#include <math.h>

#include "catalog/find.h"
#include "goodput/goodput.h"

#define DAY_S  86400.0
#define MOST_S (30 * DAY_S) /* between checkpoints, where the run is longer */

const char *const jl_checkpoints[JL_N_CHECKPOINT + 1] = { "blocking", "async", "memory", "tiered", NULL };
const struct jl_choice jl_checkpoint_choices[JL_N_CHECKPOINT + 1] = { { "blocking", JL_CHECKPOINT_BLOCKING },
								      { "async", JL_CHECKPOINT_ASYNC },
								      { "memory", JL_CHECKPOINT_MEMORY },
								      { "tiered", JL_CHECKPOINT_TIERED },
								      { NULL, 0 } };

const char *const jl_recoveries[JL_N_RECOVERY + 1] = { "restart", "swap", "elastic", NULL };
const struct jl_choice jl_recovery_choices[JL_N_RECOVERY + 1] = { { "restart", JL_RECOVERY_RESTART },
								  { "swap", JL_RECOVERY_SWAP },
								  { "elastic", JL_RECOVERY_ELASTIC },
								  { NULL, 0 } };

const struct jl_cause_info jl_causes[JL_N_CAUSE] = {
	[JL_CAUSE_USEFUL] = { "useful", JL_N("useful") },
	[JL_CAUSE_CHECKPOINT] = { "checkpoint", JL_N("waiting for checkpoints") },
	[JL_CAUSE_LOST] = { "lost", JL_N("work done again") },
	[JL_CAUSE_DETECT] = { "detect", JL_N("finding the failure") },
	[JL_CAUSE_WAIT] = { "wait", JL_N("waiting for a node") },
	[JL_CAUSE_RESTART] = { "restart", JL_N("restarting, loading") },
	[JL_CAUSE_PLANNED] = { "planned", JL_N("planned stops") },
	[JL_CAUSE_STRAGGLE] = { "stragglers", JL_N("slowest nodes") },
	[JL_CAUSE_THROTTLE] = { "throttle", JL_N("clocks under the power cap") },
};

/* Lag of a writer that runs beside the job. */
static double plain_write_s(const struct jl_goodput_setting *s)
{
	return s->save_s + s->checkpoint_B / s->store_Bps;
}

double jl_goodput_write_s(const struct jl_goodput_setting *setting)
{
	return plain_write_s(setting) * (setting->checkpoint == JL_CHECKPOINT_BLOCKING ? setting->plain_ratio : 1);
}

double jl_goodput_load_s(const struct jl_goodput_setting *setting)
{
	return isnan(setting->load_Bps) ? setting->load_ratio * plain_write_s(setting)
					: setting->checkpoint_B / setting->load_Bps;
}

const struct jl_level *jl_goodput_written(const struct jl_goodput_point *point)
{
	return point->copies ? &point->cycle.memory : &point->cycle.store;
}

static bool is_elastic(const struct jl_goodput_setting *s)
{
	return s->recovery == JL_RECOVERY_ELASTIC && s->replica_frac < 1;
}

/* With elastic recovery the remaining replicas are a copy of the states, one step old and free; failures that stop all replicas return to
 * storage. */
static void go_on(struct jl_cycle *c, const struct jl_goodput_setting *s)
{
	c->memory_frac = s->one_frac;
	c->memory = (struct jl_level){ .work_s = s->step_s, .restart_s = fmin(s->restart_s, s->swap_s) };
	c->store.restart_s = s->restart_s + jl_goodput_load_s(s);
}

static struct jl_cycle cycle_of(const struct jl_goodput_setting *s, double rate_hz, const struct jl_goodput_point *p)
{
	const double write_s = jl_goodput_write_s(s);
	const double stage_s = s->stage_s + s->checkpoint_B / s->n_gpus / s->stage_Bps;
	const double peer_s = s->checkpoint_B / s->n_nodes / s->peer_Bps;
	const bool stays = s->recovery == JL_RECOVERY_SWAP || is_elastic(s);
	const double quick_s = stays ? fmin(s->restart_s, s->swap_s) : s->restart_s;
	const double restart_s = s->one_frac * quick_s + (1 - s->one_frac) * s->restart_s;
	struct jl_cycle c = {
		.rate_hz = rate_hz,
		.down_s = s->detect_s + p->wait_s,
		.memory_frac = p->copies ? s->memory_frac : 0,
		.memory = { .stall_s = stage_s, .lag_s = peer_s, .restart_s = restart_s + peer_s },
		.store = { .stall_s = stage_s, .lag_s = write_s, .restart_s = restart_s + jl_goodput_load_s(s) }
	};

	if (s->checkpoint == JL_CHECKPOINT_BLOCKING) {
		c.store.stall_s = s->stage_s + write_s;
		c.store.lag_s = 0;
	}
	if (s->stall_s >= 0)
		c.store.stall_s = c.memory.stall_s = s->stall_s;
	if (p->goes_on)
		go_on(&c, s);
	if (p->copies || !(s->interval_s > 0))
		jl_cycle_tune(&c, s->step_s, s->most_s);
	if (s->interval_s > 0)
		(p->copies ? &c.memory : &c.store)->work_s = fmax(s->step_s, fmin(s->interval_s, s->most_s));
	if (s->checkpoint == JL_CHECKPOINT_MEMORY)
		c.store.work_s = fmax(DAY_S, c.memory.work_s);
	/* a store that is still writing accepts no other checkpoint */
	c.store.work_s = fmax(c.store.work_s, c.store.lag_s - c.store.stall_s);
	return c;
}

/* A failure that finds all spares out waits for a node. Elastic replicas run without the failed one until its nodes are back and it has
 * restarted. */
static double wait_s(const struct jl_goodput_setting *s, double rate_hz)
{
	const double load = rate_hz * s->node_frac * s->repair_s;

	if (!is_elastic(s))
		return s->node_frac * jl_spares_wait_s(s->n_spares, load, s->repair_s);
	const double missing_s = rate_hz > 0 ? jl_spares_missing(s->n_spares, load) / rate_hz : 0;

	return s->replica_frac * (missing_s + s->one_frac * (s->restart_s + jl_goodput_load_s(s)));
}

void jl_goodput_point(struct jl_goodput_point *ret_point, const struct jl_goodput_setting *setting, double rate_hz)
{
	const struct jl_goodput_setting *s = setting;
	struct jl_goodput_point p = { .wait_s = wait_s(s, rate_hz),
				      .planned_s = s->restart_s + jl_goodput_load_s(s),
				      .goes_on = is_elastic(s) && !s->states_cut };

	p.copies = !p.goes_on && (s->checkpoint == JL_CHECKPOINT_MEMORY || s->checkpoint == JL_CHECKPOINT_TIERED);
	p.cycle = cycle_of(s, rate_hz, &p);
	const struct jl_spent spent = jl_cycle_spent(&p.cycle);
	const double planned = s->planned_hz * p.planned_s; /* share of the time without planned stops */
	const double share = 1 / (1 + planned);
	const double waiting = p.cycle.down_s > 0 ? p.wait_s / p.cycle.down_s : 0;
	const double slow = 1 + s->straggle_frac + s->throttle_frac; /* of a step */

	p.effective_frac = spent.useful * share;
	p.frac[JL_CAUSE_USEFUL] = p.effective_frac / slow;
	p.frac[JL_CAUSE_STRAGGLE] = p.effective_frac * s->straggle_frac / slow;
	p.frac[JL_CAUSE_THROTTLE] = p.effective_frac * s->throttle_frac / slow;
	p.frac[JL_CAUSE_CHECKPOINT] = spent.checkpoint * share;
	p.frac[JL_CAUSE_LOST] = spent.lost * share;
	p.frac[JL_CAUSE_DETECT] = spent.down * (1 - waiting) * share;
	p.frac[JL_CAUSE_WAIT] = spent.down * waiting * share;
	p.frac[JL_CAUSE_RESTART] = spent.restart * share;
	p.frac[JL_CAUSE_PLANNED] = planned * share;
	*ret_point = p;
}

/* --- defaults */

static double mean_detect_s(const struct jl_catalog *cat, const double shares[JL_N_FAILURE])
{
	double sum_s = 0;

	for (int i = 0; i < JL_N_FAILURE; i++)
		sum_s += shares[i] * jl_figure(cat, jl_failures[i].detect);
	return sum_s;
}

void jl_goodput_default(struct jl_goodput_setting *ret_setting, const struct jl_catalog *cat, double n_nodes,
			double per_node, double checkpoint_B, double step_s)
{
	double shares[JL_N_FAILURE], node_frac = 0, all_frac = 0;
	const double known = jl_slowest_of(jl_figure(cat, "straggler-nodes"));

	jl_failure_shares(shares, cat, per_node);
	for (int i = 0; i < JL_N_FAILURE; i++) {
		node_frac += jl_failures[i].takes_node ? shares[i] : 0;
		all_frac += jl_failures[i].of_all ? shares[i] : 0;
	}
	*ret_setting = (struct jl_goodput_setting){
		.n_gpus = n_nodes * per_node,
		.n_nodes = n_nodes,
		.per_node = per_node,
		.step_s = step_s,
		.most_s = MOST_S,
		.checkpoint = JL_CHECKPOINT_ASYNC,
		.checkpoint_B = checkpoint_B,
		.store_Bps = fmin(n_nodes * jl_figure(cat, "checkpoint-node-rate"),
				  jl_figure(cat, "checkpoint-store-rate")),
		.save_s = n_nodes > 1 ? jl_figure(cat, "checkpoint-save-fixed") : 0,
		.plain_ratio = n_nodes > 1 ? jl_figure(cat, "checkpoint-plain-ratio") : 1,
		.load_Bps = NAN,
		.load_ratio = jl_figure(cat, "checkpoint-load-ratio"),
		.interval_s = NAN,
		.stall_s = NAN,
		.stage_Bps = jl_figure(cat, "checkpoint-stage-rate"),
		.stage_s = jl_figure(cat, "checkpoint-stage-fixed"),
		.peer_Bps = jl_figure(cat, "checkpoint-peer-rate"),
		/* one node has no other to hold its copies: they outlive what leaves it there */
		.memory_frac = jl_figure(cat, "checkpoint-memory-kept") * (n_nodes > 1 ? 1 : 1 - node_frac),
		.detect_s = mean_detect_s(cat, shares),
		.restart_s = jl_figure(cat, "failure-restart"),
		.repair_s = jl_figure(cat, "failure-repair"),
		.node_frac = node_frac,
		.link_frac = shares[JL_FAILURE_LINK],
		.one_frac = 1 - all_frac,
		.swap_s = jl_figure(cat, "failure-swap"),
		.replica_frac = 1,
		.n_spares = (int)fmax(1, ceil(n_nodes * jl_figure(cat, "failure-spares"))),
		.paid_spares = n_nodes * jl_figure(cat, "failure-spares"),
		.planned_hz = n_nodes * jl_figure(cat, "failure-planned") / DAY_S,
		.straggle_frac = jl_figure(cat, "straggler-jitter") * fmax(0, jl_slowest_of(n_nodes) - known),
	};
}
