/* Searches upgrades of a machine and ranks them by gain per money. */
#include "build/upgrade.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/possible.h"
#include "cost/option.h"
#include "predict/kind.h"
#include "predict/recipe.h"

#define LEAST_GAIN_FRAC 0.05            /* smaller gains are omitted */
#define BRIDGE_JOIN     "nvlink-bridge" /* interconnect of two cards with their bridge */
#define CARDS_MAX       10              /* maximum number of cards in a server */
#define ZERO_MAX        3

/* Speed of the run on a system, and its ZeRO stage. */
struct rated {
	struct jl_estimate per_s;
	int zero;
	struct jl_request recipe;
};

struct search {
	struct jl_upgrades *out;
	const struct jl_upgrade_ask *ask;
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	struct jl_sys sys;
	struct rated now;
};

/* Samples/s of the run on a system. `cut`: with the fastest ZeRO stage, so that a purchase is not credited with what a setting achieves for
 * free. Otherwise as predict runs it, comparable with one card. False: the run is impossible there. */
/* On `n` devices of `system`; 0: all. `recipe` NULL: the fastest. */
static bool rate_part(struct rated *ret_rated, const struct search *s, const char *system, int n, bool cut,
		      const struct jl_request *recipe)
{
	const bool given = s->ask->run.plan.zero != JL_UNSET || !cut || recipe;
	struct rated best = { .per_s = { .value = 0 } };

	for (int zero = given ? ZERO_MAX : -1; zero <= ZERO_MAX; zero++) {
		struct jl_request run = recipe ? *recipe : s->ask->run;
		struct jl_subject subject;
		struct jl_machine whole, part;
		struct jl_case c;
		struct jl_prediction p;
		struct jl_sys sys;
		struct jl_err ignored;

		if (!given && zero >= 0)
			run.plan.zero = zero;
		if (jl_subject_find(&subject, s->cat, &run, s->arena, &ignored) ||
		    jl_sys_parse(&sys, s->cat, system, s->arena, &ignored) ||
		    jl_machine_make(&whole, s->cat, &sys, &ignored))
			continue;
		part = whole;
		if ((n && jl_machine_take(&part, &whole, n, &ignored)) ||
		    jl_case_choose(&c, s->cat, &subject, &part, &run, &ignored))
			continue;
		jl_predict(&p, NULL, &c);
		if (p.room != JL_ROOM_NONE && p.samples_per_s.value > best.per_s.value)
			best = (struct rated){ p.samples_per_s, c.plan.zero, jl_recipe_of(&run, &c) };
		if (c.n_gpus < 2 || !c.subject.kind->is_cut) /* nothing to shard */
			break;
	}
	if (!(best.per_s.value > 0))
		return false;
	*ret_rated = best;
	return true;
}

static bool rate(struct rated *ret_rated, const struct search *s, const char *system, bool cut)
{
	return rate_part(ret_rated, s, system, 0, cut, NULL);
}

/* Adds a purchase that turns the machine into `after`; NULL: impossible, or the list is full. The gain may be 0. */
static struct jl_upgrade *add(struct search *s, const char *kind, const char *after)
{
	struct jl_upgrade *u = &s->out->items[s->out->n];
	struct rated rated;

	if (s->out->n == JL_UPGRADES_MAX || !rate(&rated, s, after, true))
		return NULL;
	*u = (struct jl_upgrade){ .kind = kind,
				  .before_per_s = s->now.per_s,
				  .before_zero = s->now.zero,
				  .after_per_s = rated.per_s,
				  .after_zero = rated.zero,
				  .pair_before_per_s = NAN,
				  .pair_after_per_s = NAN };
	snprintf(u->before, sizeof u->before, "%s", s->sys.text);
	snprintf(u->after, sizeof u->after, "%s", after);
	u->gain_frac = u->after_per_s.value / u->before_per_s.value - 1;
	return u;
}

static struct jl_upgrade *add_faster(struct search *s, const char *kind, const char *after)
{
	struct jl_upgrade *u = add(s, kind, after);

	return u && u->gain_frac > LEAST_GAIN_FRAC ? u : NULL;
}

/* Keeps the last candidate if it is within the budget. */
static void keep(struct search *s, struct jl_upgrade *u)
{
	const double usd = jl_money_value(u->price);

	u->gain_per_kusd = usd > 0 ? u->gain_frac / (usd / 1000) : NAN;
	u->within_budget = isnan(s->ask->budget_usd) || !(usd > s->ask->budget_usd);
	if (u->within_budget)
		s->out->n++;
	else
		s->out->n_over_budget++;
}

/* The same host with `n` of these cards, in the same number of hosts. */
static const char *with_cards(char out[JL_UPGRADE_TEXT_MAX], const struct search *s, const char *gpu, int n,
			      const char *join)
{
	char host[JL_UPGRADE_TEXT_MAX / 2];

	join = n > 1 ? join : NULL;
	snprintf(host, sizeof host, "%dx %s%s%s", n, gpu, join ? " via " : "", join ? join : "");
	if (s->sys.n_nodes > 1)
		snprintf(out, JL_UPGRADE_TEXT_MAX, "%dx(%s) over %dx %s", s->sys.n_nodes, host, s->sys.n_net,
			 s->sys.net->id);
	else
		snprintf(out, JL_UPGRADE_TEXT_MAX, "%s", host);
	return out;
}

/* A bridge joins two cards. The gain is that of the whole machine; the gain of a job on one pair is reported separately. */
static void try_bridge(struct search *s)
{
	const struct jl_gpu *gpu = s->sys.gpu;
	const int n_pairs = s->sys.n_per_node / 2 * s->sys.n_nodes;
	const struct jl_price *listed = jl_bridge_price(s->cat, gpu);
	char after[JL_UPGRADE_TEXT_MAX], whole[JL_UPGRADE_TEXT_MAX];
	struct rated one, pair, bridged;
	struct jl_upgrade *u;

	if (n_pairs < 1 || s->sys.system || !gpu->link || !strstr(gpu->link, "bridge") || !s->sys.join ||
	    strcmp(s->sys.join->id, BRIDGE_JOIN) == 0)
		return;
	snprintf(after, sizeof after, "2x %s via %s", gpu->id, BRIDGE_JOIN);
	u = add(s, "bridge", with_cards(whole, s, gpu->id, s->sys.n_per_node, BRIDGE_JOIN));
	/* all three run the same recipe: one card, two cards, two cards with the bridge */
	if (!u || !rate(&bridged, s, after, false) || !rate_part(&one, s, gpu->id, 0, false, &bridged.recipe) ||
	    !rate_part(&pair, s, s->sys.text, 2, false, &bridged.recipe))
		return;
	if (u->gain_frac <= LEAST_GAIN_FRAC && bridged.per_s.value <= pair.per_s.value * (1 + LEAST_GAIN_FRAC))
		return;
	u->n_items = n_pairs;
	u->pair_before_per_s = pair.per_s.value;
	u->pair_after_per_s = bridged.per_s.value;
	u->one_per_s = one.per_s.value;
	jl_msg_print(u->en, u->text, sizeof u->en, JL_N("NVLink bridges on %d pair{/s} of cards"), n_pairs);
	if (!isnan(s->ask->bridge_usd)) {
		u->price = jl_money_from(s->ask->bridge_usd * n_pairs, JL_USD);
	} else if (listed) {
		u->price = jl_money_from(listed->price_usd * n_pairs, JL_USD);
		u->price_date = listed->date;
		u->price_source = listed->provider;
	}
	keep(s, u);
}

static bool card_price(struct jl_upgrade *u, const struct search *s, const struct jl_gpu *gpu, int n)
{
	struct jl_cost_option o;
	struct jl_err ignored;

	if (jl_cost_option_parse(&o, JL_COST_BUY, gpu->id, NULL, s->cat, s->arena, &ignored) || o.price.micro <= 0)
		return false;
	o.price.micro -= o.host.micro; /* the host exists already */
	u->price = jl_money_scale(o.price, n, 1);
	u->price_date = o.price_date;
	u->price_source = o.price_source;
	return true;
}

/* Adds cards to free slots; not for modules on boards and complete systems. */
static void try_more_cards(struct search *s)
{
	const int n = s->sys.n_per_node, more[] = { n + 1, 2 * n };
	char after[JL_UPGRADE_TEXT_MAX];

	for (size_t i = n > 1 ? 0 : 1; !s->sys.system && jl_gpu_is_card(s->sys.gpu) && i < 2; i++) {
		struct jl_upgrade *u;

		if (more[i] > CARDS_MAX)
			continue;
		u = add_faster(s, "more-gpus",
			       with_cards(after, s, s->sys.gpu->id, more[i], s->sys.join ? s->sys.join->id : NULL));
		if (!u)
			continue;
		u->n_items = (more[i] - n) * s->sys.n_nodes;
		if (!card_price(u, s, s->sys.gpu, u->n_items))
			u->price.micro = 0;
		jl_msg_print(u->en, u->text, sizeof u->en, JL_N("%d more %s"), u->n_items, s->sys.gpu->name);
		keep(s, u);
	}
}

/* For machines without free slots: one more machine, or twice as many. */
static void try_more_machines(struct search *s)
{
	const struct jl_system *system = s->sys.system;
	const int n = s->sys.n_nodes, more[] = { n + 1, 2 * n };

	if (!system && jl_gpu_is_card(s->sys.gpu))
		return;
	for (size_t i = n > 1 ? 0 : 1; i < 2; i++) {
		char one[JL_UPGRADE_TEXT_MAX / 2], after[JL_UPGRADE_TEXT_MAX];
		struct jl_upgrade *u;

		snprintf(one, sizeof one, "%dx %s", s->sys.n_per_node, s->sys.gpu->id);
		if (system)
			snprintf(after, sizeof after, "%dx %s", more[i], system->id);
		else
			snprintf(after, sizeof after, "%dx(%s)", more[i], one);
		if (!(u = add_faster(s, "more-machines", after)))
			continue;
		u->n_items = more[i] - n;
		if (system && system->price_usd.value > 0) {
			u->price = jl_money_from(system->price_usd.value * u->n_items, JL_USD);
			u->price_date = system->price_usd.date ? system->price_usd.date : system->date;
		}
		jl_msg_print(u->en, u->text, sizeof u->en, JL_N("%d more %s (the whole machine)"), u->n_items,
			     system ? system->name : one);
		keep(s, u);
	}
}

/* Replaces all cards by as many cards of another kind with a known price. */
static void try_other_cards(struct search *s)
{
	for (size_t i = 0; jl_gpu_is_card(s->sys.gpu) && i < s->cat->n_gpus; i++) {
		const struct jl_gpu *gpu = &s->cat->gpus[i];
		struct jl_upgrade priced = { 0 }, *u;
		char after[JL_UPGRADE_TEXT_MAX];
		const int n = s->sys.n_per_node * s->sys.n_nodes;

		if (gpu == s->sys.gpu || !gpu->pcie || !jl_gpu_is_card(gpu) || !card_price(&priced, s, gpu, n))
			continue;
		if (jl_money_value(priced.price) > s->ask->budget_usd) {
			s->out->n_over_budget++;
			continue;
		}
		u = add_faster(s, "other-gpu",
			       with_cards(after, s, gpu->id, s->sys.n_per_node, s->sys.join ? s->sys.join->id : NULL));
		if (!u)
			continue;
		u->n_items = n;
		u->price = priced.price;
		u->price_date = priced.price_date;
		u->price_source = priced.price_source;
		jl_msg_print(u->en, u->text, sizeof u->en, JL_N("%d %s instead"), n, gpu->name);
		keep(s, u);
	}
}

static void try_networks(struct search *s)
{
	static const char *const faster[] = { "25gbe", "100gbe", "ib-hdr", "ib-ndr" };
	char after[JL_UPGRADE_TEXT_MAX], host[JL_UPGRADE_TEXT_MAX / 2];
	const struct jl_sys *y = &s->sys;

	if (y->n_nodes < 2 || y->system)
		return;
	snprintf(host, sizeof host, "%dx(%dx %s%s%s)", y->n_nodes, y->n_per_node, y->gpu->id, y->join ? " via " : "",
		 y->join ? y->join->id : "");
	for (size_t i = 0; i < JL_LEN(faster); i++) {
		struct jl_upgrade *u;

		snprintf(after, sizeof after, "%s over %s", host, faster[i]);
		if (!(u = add_faster(s, "network", after)))
			continue;
		u->n_items = y->n_nodes;
		jl_msg_print(u->en, u->text, sizeof u->en, JL_N("%s between the %d hosts instead of %s"), faster[i],
			     y->n_nodes, y->net->id);
		keep(s, u);
	}
}

/* Sorts by gain per money; those without a price come last, by gain. */
static int by_worth(const void *a, const void *b)
{
	const struct jl_upgrade *x = a, *y = b;

	if (isnan(x->gain_per_kusd) != isnan(y->gain_per_kusd))
		return isnan(x->gain_per_kusd) ? 1 : -1;
	const double p = isnan(x->gain_per_kusd) ? x->gain_frac : x->gain_per_kusd;
	const double q = isnan(y->gain_per_kusd) ? y->gain_frac : y->gain_per_kusd;
	return p < q ? 1 : p > q ? -1 : strcmp(x->after, y->after);
}

enum jl_status jl_upgrades_find(struct jl_upgrades *ret_upgrades, const struct jl_upgrade_ask *ask,
				const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	struct search s = { .out = ret_upgrades, .ask = ask, .cat = cat, .arena = arena };

	JL_TRY(jl_sys_parse(&s.sys, cat, ask->system, arena, err));
	if (!s.sys.gpu)
		return jl_fail(err, JL_E_USAGE, "'%s' has no accelerator to begin with; ask 'jeoul recommend'",
			       ask->system);
	ret_upgrades->n = ret_upgrades->n_over_budget = 0;
	if (!rate(&s.now, &s, s.sys.text, true))
		return jl_fail(err, JL_E_RANGE, "the run does not fit on '%s' as it is; see 'jeoul fit'", s.sys.text);
	ret_upgrades->now_per_s = s.now.per_s;
	ret_upgrades->now_zero = s.now.zero;
	try_bridge(&s);
	try_more_cards(&s);
	try_more_machines(&s);
	try_other_cards(&s);
	try_networks(&s);
	qsort(ret_upgrades->items, ret_upgrades->n, sizeof *ret_upgrades->items, by_worth);
	return JL_OK;
}
