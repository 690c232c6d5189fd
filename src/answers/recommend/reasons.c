/* One sentence on why a candidate was picked, ranked or rejected. Must not compute prices or times. */

#include "recommend/inside.h"

#include <math.h>
#include <stdio.h>

#define SAY(...) jl_msg_print(ret_said->en, ret_said->text, sizeof ret_said->en, __VA_ARGS__)

#define NEAR_TIMES 1.1  /* costs within this factor count as equal */
#define FAST_FRAC  0.95 /* so do times */

/* The best of those that cost and take less than the pick, or, where that is the cheapest, of those as wide that are faster for hardly more;
 * NULL: there is none. */
static const struct jl_candidate *find_rival(const struct jl_recommendation *r)
{
	const struct jl_candidate *pick = &r->items[r->pick], *rival = NULL;

	const bool cheapest = r->pick == r->cheapest;
	const double cost_usd = (cheapest ? NEAR_TIMES : 1) * pick->cost_usd.value,
		     run_s = (cheapest ? FAST_FRAC : 1) * pick->wall_s.value;

	for (size_t i = 0; i < r->n_ok && (cheapest || !pick->on_front); i++)
		if (r->items[i].on_front && r->items[i].cost_usd.value <= cost_usd &&
		    r->items[i].wall_s.value <= run_s &&
		    !(cheapest && r->items[i].setup->weight_bits < pick->setup->weight_bits) &&
		    (!rival || r->items[i].score < rival->score))
			rival = &r->items[i];
	return rival;
}

/* The rival's drawback, by the penalties of jl_expert_score(). */
static const char *awkward(const struct jl_candidate *rival, const struct jl_candidate *pick)
{
	const struct jl_setup *s = rival->setup, *best = pick->setup;

	if (s->weight_bits < best->weight_bits)
		return JL_N("its weights have fewer bits");
	if (s->offload && !best->offload)
		return JL_N("part of it is offloaded to host memory");
	if (s->sys.n_nodes > best->sys.n_nodes ||
	    jl_sys_n_devices(&rival->setup->sys) > jl_sys_n_devices(&pick->setup->sys))
		return JL_N("it needs more accelerators");
	if (rival->how == JL_HOW_SPOT && pick->how != JL_HOW_SPOT)
		return JL_N("it can be interrupted at any time");
	if (rival->how == JL_HOW_USED && pick->how != JL_HOW_USED)
		return JL_N("it is used, without a warranty");
	if (best->gpu_seen && !s->gpu_seen)
		return JL_N("it has no measurements of such work");
	if (s->run_s.hi / s->run_s.value > best->run_s.hi / best->run_s.value)
		return JL_N("its time is less certain");
	return JL_N("the pick is more certain or simpler");
}

void jl_recommend_why(struct jl_reason_text *ret_said, const struct jl_recommendation *r, enum jl_place place)
{
	const struct jl_candidate *pick = &r->items[r->pick], *cheap = &r->items[r->cheapest],
				  *fast = &r->items[r->fastest];
	const double dearer = 100 * (pick->cost_usd.value / cheap->cost_usd.value - 1);
	const double faster = cheap->wall_s.value / pick->wall_s.value;

	const struct jl_candidate *rival = find_rival(r);
	char other[80] = "";

	if (rival && rival->setup->sys.gpu == pick->setup->sys.gpu) /* the same card, more or fewer of it */
		(void)snprintf(other, sizeof(other), "%dx %s", (int)jl_sys_n_devices(&rival->setup->sys),
			       rival->setup->sys.gpu->id);
	else if (rival)
		(void)snprintf(other, sizeof(other), "%s", rival->setup->sys.gpu->id);
	switch (place) {
	case JL_PLACE_PICK:
		if (rival)
			SAY(JL_N("%s takes %.2gx the time and %.2gx the cost, but {%s}"), other,
			    rival->wall_s.value / pick->wall_s.value, rival->cost_usd.value / pick->cost_usd.value,
			    awkward(rival, pick));
		else if (r->pick == r->cheapest)
			SAY(JL_N("the cheapest option that meets your limits; nothing better costs about as much"));
		else if (pick->setup->weight_bits > cheap->setup->weight_bits)
			SAY(JL_N("%.0f %% more than the cheapest option, but its weights keep %.0f bits "
				 "instead of %.0f"),
			    dearer, pick->setup->weight_bits, cheap->setup->weight_bits);
		else if (cheap->setup->offload && !pick->setup->offload)
			SAY(JL_N("%.0f %% more than the cheapest option, but nothing is offloaded to host memory"),
			    dearer);
		else if (faster < 1 + dearer / 100 &&
			 jl_sys_n_devices(&pick->setup->sys) < jl_sys_n_devices(&cheap->setup->sys))
			SAY(JL_N("%.0f %% more than the cheapest option, but %.0f accelerator{/s} instead of "
				 "%.0f"),
			    dearer, (double)jl_sys_n_devices(&pick->setup->sys),
			    (double)jl_sys_n_devices(&cheap->setup->sys));
		else if (dearer < 1 || faster < 1.05)
			SAY(JL_N("close to the cheapest option, and more certain or simpler"));
		else
			SAY(JL_N("best trade-off: %.3gx the cheapest's cost, %.2gx as fast"), 1 + dearer / 100, faster);
		return;
	case JL_PLACE_RUNNER_UP:
		if (r->runner_up == r->cheapest)
			SAY(JL_N("also the cheapest option; %.3gx the time of the pick"), faster);
		else
			SAY(JL_N("the best option with another accelerator, if the pick is not available"));
		return;
	case JL_PLACE_CHEAPEST: SAY(JL_N("nothing acceptable costs less; %.3gx the time of the pick"), faster); return;
	case JL_PLACE_FASTEST:
	default:
		if (fast->setup->sys.n_nodes > r->hosts_most)
			SAY(JL_N("nothing is faster; %.3gx the cost of the pick, but %d hosts are seldom available on "
				 "demand: allow them with --deadline or --max-gpus"),
			    fast->cost_usd.value / pick->cost_usd.value, fast->setup->sys.n_nodes);
		else
			SAY(JL_N("the fastest option; %.3gx the cost of the pick"),
			    fast->cost_usd.value / pick->cost_usd.value);
	}
}

/* Rounded down, so that a missed limit does not look reached. */
static double rounded_down(double per_s)
{
	return per_s < 10 ? floor(10 * per_s) / 10 : floor(per_s);
}

/* Which fact is missing, and where it would go. */
static void say_unknown(struct jl_reason_text *ret_said, const struct jl_setup *s, const struct jl_recommend_ask *ask)
{
	static const char *const en = JL_N("%s; it can be added to the catalog (CONTRIBUTING.md, --catalog)");
	struct jl_machine machine;
	struct jl_reason_text own;
	struct jl_err why;

	if (!s->sys.gpu || jl_machine_make(&machine, ask->cat, &s->sys, &why)) {
		jl_msg_print(own.en, own.text, sizeof(own.en), en, s->sys.gpu ? why.en : s->text);
		SAY(en, s->sys.gpu ? why.text : s->text);
		memcpy(ret_said->en, own.en, sizeof(own.en));
	} else if (machine.dev.arch == JL_ARCH_OTHER) {
		SAY(JL_N("nothing of its family was measured, so that its speed would be a guess; --only %s weighs it "
			 "all "
			 "the same"),
		    s->sys.gpu->id);
	} else {
		SAY(JL_N("{%s}"), jl_against_en(JL_AGAINST_UNKNOWN));
	}
}

void jl_recommend_against(struct jl_reason_text *ret_said, const struct jl_recommendation *r,
			  const struct jl_candidate *c, const struct jl_recommend_ask *ask)
{
	const struct jl_setup *s = c->setup;
	const double wait_s = r->wait_s;

	if (c->against == JL_AGAINST_UNKNOWN)
		say_unknown(ret_said, s, ask);
	else if (c->against == JL_AGAINST_SUPPORT && s->support && s->tensor_cores && s->support->note)
		SAY(JL_N("{%s}"), s->support->note);
	else if (c->against == JL_AGAINST_SUPPORT)
		SAY(JL_N("no tensor cores"));
	else if (c->against == JL_AGAINST_PRICE && c->price && c->price_day < ask->today - JL_PRICE_STALE_DAYS)
		SAY(JL_N("its price is outdated (%s)"), c->price_date ? c->price_date : "?");
	else if (c->against == JL_AGAINST_PRICE && c->how == JL_HOW_NEW && !c->price)
		SAY(JL_N("no longer sold new"));
	else if (c->against == JL_AGAINST_PRICE && c->how == JL_HOW_NEW)
		SAY(JL_N("from %d: hardly sold new any more"), s->sys.gpu->year);
	else if (c->against == JL_AGAINST_GROUP)
		SAY(JL_N("%.0f in %d machines: an unrealistic configuration"), (double)jl_sys_n_devices(&c->setup->sys),
		    s->sys.n_nodes);
	else if (c->against == JL_AGAINST_OFFER && c->how == JL_HOW_SPOT && s->sys.n_nodes == 1)
		SAY(JL_N("a spot machine rarely lasts %.2g days; --how spot takes it all the same"),
		    s->run_s.value / 86400);
	else if (c->against == JL_AGAINST_OFFER && c->how == JL_HOW_SPOT)
		SAY(JL_N("spot over several machines: one interruption stops all"));
	else if (c->against == JL_AGAINST_INTERVAL && !jl_expert_has_room(s))
		SAY(JL_N("may run out of memory: %.0f %% used at the high end of the interval"),
		    100 * s->memory_hi_frac);
	else if (c->against == JL_AGAINST_INTERVAL && c->wall_s.hi > wait_s)
		SAY(JL_N("too slow in the worst case (%.3gx the allowed time)"), c->wall_s.hi / wait_s);
	else if (c->against == JL_AGAINST_INTERVAL && c->cost_usd.hi > ask->budget_usd)
		SAY(JL_N("above the budget in the worst case (%.3gx)"), c->cost_usd.hi / ask->budget_usd);
	else if (c->against == JL_AGAINST_INTERVAL && ask->task == JL_TASK_SERVE && s->per_s.lo < ask->tokens_per_s)
		SAY(JL_N("in the worst case it gives %.6g of the %.6g tokens/s"), rounded_down(s->per_s.lo),
		    ask->tokens_per_s);
	else if (c->against == JL_AGAINST_INTERVAL)
		SAY(JL_N("its time is too uncertain: up to %.2gx the estimate"), s->run_s.hi / s->run_s.value);
	else if (c->against == JL_AGAINST_USE && ask->task == JL_TASK_SERVE)
		SAY(JL_N("it gives %.6g of the %.6g tokens/s"), rounded_down(s->per_s.value), ask->tokens_per_s);
	else if (c->against == JL_AGAINST_MEMORY && s->n_requests > 0)
		SAY(JL_N("too little memory for %.0f request{/s} at once of %.0f tokens"), s->n_requests, ask->context);
	else if (c->against == JL_AGAINST_WAIT)
		SAY(JL_N("%.3gx the allowed time"), c->wall_s.value / wait_s);
	else if (c->against)
		SAY(JL_N("{%s}"), jl_against_en(c->against));
	else if (s->sys.n_nodes > r->hosts_most)
		SAY(JL_N("%d hosts are seldom available on demand: allow them with --deadline or --max-gpus"),
		    s->sys.n_nodes);
	else if (r->pick >= 0 && c != &r->items[r->pick])
		SAY(JL_N("acceptable: %.2gx the cost and %.2gx the time of the pick"),
		    c->cost_usd.value / r->items[r->pick].cost_usd.value,
		    c->wall_s.value / r->items[r->pick].wall_s.value);
	else
		SAY(JL_N("it is the pick"));
}

static int rank_of(const struct jl_candidate *c)
{
	return !c->against ? 0 : c->against == JL_AGAINST_OFFER || c->against == JL_AGAINST_PRICE ? 2 : 1;
}

int jl_recommend_find(const struct jl_recommendation *r, const struct jl_sys *sys)
{
	int best = -1;

	for (size_t i = 0; i < r->n; i++) {
		const struct jl_candidate *c = &r->items[i];
		const struct jl_sys *s = &c->setup->sys;

		if (s->gpu != sys->gpu || s->n_per_node != sys->n_per_node || s->n_nodes != sys->n_nodes ||
		    (sys->system && s->system != sys->system))
			continue;
		/* acceptable first, then rejected, then without an offer; ties by rank */
		if (best < 0 || rank_of(c) < rank_of(&r->items[best]) ||
		    (rank_of(c) == rank_of(&r->items[best]) && c->score < r->items[best].score))
			best = (int)i;
	}
	return best;
}
