/* One sentence on why a candidate was picked, ranked or rejected. Must not compute prices or times. */

#include "recommend/inside.h"
#include "catalog/find.h"
#include "cost/money.h"

#include <math.h>
#include <stdio.h>
#include <stdarg.h>
#include <string.h>

#define SAY(...) jl_msg_print(ret_said->en, ret_said->text, sizeof ret_said->en, __VA_ARGS__)

#define NEAR_TIMES 1.1  /* costs within this factor count as equal */
#define FAST_FRAC  0.95 /* times within this factor count as equal */

static const struct {
	const char *key, *en;
} hows[JL_N_HOW] = {
	[JL_HOW_NEW] = { "buy-new", JL_N("buy new") },
	[JL_HOW_USED] = { "buy-used", JL_N("buy used") },
	[JL_HOW_RENT] = { "rent", JL_NC("how", "rent") },
	[JL_HOW_SPOT] = { "spot", JL_N("spot") },
};
static const struct {
	const char *key, *en;
} reasons[JL_N_AGAINST] = {
	[JL_AGAINST_NOTHING] = { "nothing", JL_N("nothing") },
	[JL_AGAINST_UNKNOWN] = { "unknown", JL_N("data is missing, or it cannot run this") },
	[JL_AGAINST_MEMORY] = { "memory", JL_N("does not fit in memory") },
	[JL_AGAINST_BATCH] = { "batch", JL_N("the batch does not divide evenly") },
	[JL_AGAINST_STEPS] = { "steps", JL_N("the batch is so large that the training changes (--global-batch)") },
	[JL_AGAINST_USE] = { "use", JL_N("too slow for all the work") },
	[JL_AGAINST_WAIT] = { "wait", JL_N("takes too long") },
	[JL_AGAINST_BUDGET] = { "budget", JL_N("above the budget") },
	[JL_AGAINST_PRICE] = { "price", JL_N("the price is too old") },
	[JL_AGAINST_OFFER] = { "offer", JL_N("a single offer, not many") },
	[JL_AGAINST_SUPPORT] = { "support", JL_N("software does not support it well") },
	[JL_AGAINST_GROUP] = { "group", JL_N("unrealistic configuration") },
	[JL_AGAINST_SPARE] = { "spare", JL_N("more machines than the work needs") },
	[JL_AGAINST_MEASURED] = { "measured", JL_N("no measurements of it or its family") },
	[JL_AGAINST_POWER] = { "power", JL_N("above the power limit") },
	[JL_AGAINST_INTERVAL] = { "interval", JL_N("fails at the slow end of its interval") },
	[JL_AGAINST_DEAR] = { "dear", JL_N("ten times the cost of the cheapest") },
};

const char *jl_how_key(enum jl_how how)
{
	return hows[how].key;
}

const char *jl_how_name(enum jl_how how)
{
	return jl_msg(hows[how].en);
}

const char *jl_against_key(enum jl_against against)
{
	return reasons[against].key;
}

const char *jl_against_en(enum jl_against against)
{
	return reasons[against].en;
}

const char *jl_against_name(enum jl_against against)
{
	return jl_msg(reasons[against].en);
}

/* The best candidate that is cheaper and faster than the pick; if the pick is the cheapest, one with equally wide weights that is faster for
 * hardly more. NULL: none. */
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

/* The rival's drawback, from the penalties of jl_expert_score(). */
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

	if (rival && rival->setup->sys.gpu == pick->setup->sys.gpu) /* the same card in another quantity */
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
		if (r->runner_up == r->cheapest && fabs(faster - 1) < 0.005)
			SAY(JL_N("also the cheapest option; as fast as the pick"));
		else if (r->runner_up == r->cheapest)
			SAY(JL_N("also the cheapest option; %.3gx the time of the pick"), faster);
		else
			SAY(JL_N("the best option with another accelerator, if the pick is not available"));
		return;
	case JL_PLACE_CHEAPEST:
		if (fabs(faster - 1) < 0.005)
			SAY(JL_N("nothing acceptable costs less; as fast as the pick"));
		else
			SAY(JL_N("nothing acceptable costs less; %.3gx the time of the pick"), faster);
		return;
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

/* Rounds down, so that a missed limit does not appear to be met. */
static double rounded_down(double per_s)
{
	return per_s < 10 ? floor(10 * per_s) / 10 : floor(per_s);
}

/* Names the missing fact and where it can be added. */
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
		SAY(JL_N("no measurement of its family: the speed would be a guess; --only %s includes it anyway"),
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
		SAY(JL_N("a spot machine rarely lasts %.2g days; --how spot includes it anyway"),
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
		/* order: acceptable, rejected, without an offer; ties by score */
		if (best < 0 || rank_of(c) < rank_of(&r->items[best]) ||
		    (rank_of(c) == rank_of(&r->items[best]) && c->score < r->items[best].score))
			best = (int)i;
	}
	return best;
}

struct list {
	struct jl_caveat *items;
	size_t n;
};

__attribute__((format(printf, 3, 4))) static void add(struct list *list, const char *key, const char *en, ...)
{
	struct jl_caveat *c = &list->items[list->n];
	va_list args;

	if (list->n == JL_CAVEATS_MAX)
		return;
	list->n++;
	c->key = key;
	va_start(args, en);
	jl_msg_vprint(c->en, c->text, sizeof(c->en), en, args);
	va_end(args);
}

/* Caveats of cards in one host: slots, heat, power. */
static void of_cards(struct list *list, const struct jl_candidate *c, const struct jl_catalog *cat)
{
	const struct jl_sys *sys = &c->setup->sys;
	const struct jl_gpu *gpu = sys->gpu;
	const double slots = isnan(gpu->n_slots.value) ? 2 : gpu->n_slots.value, all = slots * sys->n_per_node;
	const double cards_W = gpu->tdp_W.value * sys->n_per_node;

	if (sys->n_per_node > 1 && all > jl_figure(cat, "build-case-slots-most"))
		add(list, "slots", JL_N("%d cards of %g slots need a server chassis or risers; check with jeoul build"),
		    sys->n_per_node, slots);
	else if (sys->n_per_node > 1 && slots > 2)
		add(list, "cooling", JL_N("%d open-air cards of %g slots: leave a slot between them or they throttle"),
		    sys->n_per_node, slots);
	if (cards_W > jl_figure(cat, "build-psu-standard"))
		add(list, "power",
		    JL_N("the cards alone draw %.1f kW: more than one standard power supply and wall circuit"),
		    cards_W / 1e3);
}

static void of_links(struct list *list, const struct jl_candidate *c, enum jl_task task)
{
	const struct jl_sys *sys = &c->setup->sys;

	if (sys->n_per_node > 1 && sys->join && sys->join->topology && strcmp(sys->join->topology, "host") == 0)
		add(list, "p2p",
		    JL_N("no peer-to-peer: data between the cards crosses host memory (included in the time)"));
	if (task != JL_TASK_SERVE && sys->n_nodes > 1 && sys->net && sys->net_assumed)
		add(list, "network", JL_N("network between hosts %dx %s: assumed, not in the price of bought machines"),
		    sys->n_net, sys->net->id);
}

static void of_price(struct list *list, const struct jl_candidate *c, const struct jl_recommend_ask *ask)
{
	const long age = ask->today - c->price_day;
	char days[JL_MONEY_TEXT_MAX], host[JL_MONEY_TEXT_MAX];

	if (age > JL_RECOMMEND_OLD_DAYS && age < 36000)
		add(list, "price-age", JL_N("price of {%s}: %s days old"),
		    c->price_date ? c->price_date : JL_N("launch"), jl_grouped(days, (double)age));
	if (c->how == JL_HOW_NEW && !c->price && !c->setup->sys.system)
		add(list, "list-price", JL_N("list price at launch: shops may ask more"));
	if (c->host_usd > 0)
		add(list, "host-price", JL_N("the price includes an assumed %s USD for the host"),
		    jl_grouped(host, c->host_usd));
	if (c->how == JL_HOW_USED)
		add(list, "used", JL_N("used: no warranty, and prices differ from seller to seller"));
	if (c->how != JL_HOW_USED && c->how != JL_HOW_NEW)
		return;
	const struct jl_card_price other = jl_card_price_of(ask->cat, c->setup->sys.gpu, c->how == JL_HOW_NEW,
							    ask->today);

	if (!c->setup->sys.system && !jl_card_price_stale(c->setup->sys.gpu, &other, ask->today))
		add(list, "other-price",
		    other.used ? JL_N("priced new; a used one is %s USD ({%s}, %s; --how buy-used)")
			       : JL_N("priced used; a new one is %s USD ({%s}, %s; --how buy-new)"),
		    jl_grouped(host, other.usd), other.price ? other.price->provider : JL_N("list price"), other.date);
}

size_t jl_recommend_caveats(struct jl_caveat ret_caveats[JL_CAVEATS_MAX], const struct jl_candidate *c,
			    const struct jl_recommend_ask *ask)
{
	struct list list = { .items = ret_caveats };
	const struct jl_sys *sys = &c->setup->sys;
	const bool bought = c->how == JL_HOW_NEW || c->how == JL_HOW_USED;
	const double asked = ask->task == JL_TASK_SERVE ? NAN : ask->seen ? ask->seen->batch : ask->run.global_batch;
	char tokens[JL_MONEY_TEXT_MAX], most[JL_MONEY_TEXT_MAX];

	if (c->how == JL_HOW_SPOT)
		add(&list, "spot",
		    JL_N("spot: may be taken away at any time; 5 %%/h, 30 min lost and %d min until it is back are "
			 "assumed, at the median of the regions' prices"),
		    sys->n_per_node >= 8 ? 60 : 10);
	if (bought && !sys->system && sys->n_per_node > 1)
		of_cards(&list, c, ask->cat);
	of_links(&list, c, ask->task);
	if (asked > 0 && c->setup->global_batch != asked)
		add(&list, "batch", JL_N("%g samples a step, not %g: divisible by %g devices"), c->setup->global_batch,
		    asked, (double)sys->n_per_node * sys->n_nodes);
	if (c->setup->memory_frac > JL_TIGHT_FRAC)
		add(&list, "memory", JL_N("memory is tight: %.0f %% of the device"), c->setup->memory_frac * 100);
	if (c->setup->bold_times > 0 && c->setup->bold_times < 0.99)
		add(&list, "room",
		    JL_N("a setting that is certain to fit; with the defaults of 'predict' it takes %.2gx the time but "
			 "may need %.0f %% of the memory"),
		    c->setup->bold_times, c->setup->bold_hi_frac * 100);
	if (c->setup->offload)
		add(&list, "offload", JL_N("fits only with states and weights in host memory: slow, needs much RAM"));
	if (ask->task == JL_TASK_SERVE && ask->context > c->setup->context)
		add(&list, "context", JL_SERVED_TOO_LONG, jl_grouped(tokens, ask->context),
		    jl_grouped(most, c->setup->context));
	if (ask->task == JL_TASK_SERVE && c->setup->weight_bits < 16 && !c->setup->published)
		add(&list, "format", JL_N("weights in %g bits: check that the answers are still good enough"),
		    c->setup->weight_bits);
	if (sys->gpu->vendor && strcmp(sys->gpu->vendor, "NVIDIA") != 0)
		add(&list, "software", JL_N("%s: not every CUDA program runs there"), sys->gpu->vendor);
	if (jl_gpu_has_arm_host(sys->gpu))
		add(&list, "arm", JL_N("the host is an ARM processor: packages and containers must be built for it"));
	if (!c->setup->device_fitted && ask->task == JL_TASK_SERVE)
		add(&list, "fit", JL_N("no measurements of its family under load: those of single requests"));
	else if (!c->setup->device_fitted)
		add(&list, "fit", JL_N("no measurements of this accelerator: its family's values"));
	of_price(&list, c, ask);
	return list.n;
}
