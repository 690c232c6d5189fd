#include "parts/upgrade.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/option.h"

#define LEAST_GAIN_FRAC 0.05            /* below this nobody would notice */
#define BRIDGE_JOIN     "nvlink-bridge" /* two cards joined by their bridge */

struct search {
	struct jl_upgrades *out;
	const struct jl_upgrade_ask *ask;
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	struct jl_sys sys;
};

/* Samples a second of the run on a system; false: it cannot run there. */
static bool rate(struct jl_estimate *ret_rate, const struct search *s, const char *system)
{
	struct jl_request run = s->ask->run;
	struct jl_case c;
	struct jl_prediction p;
	struct jl_err ignored;

	run.system = system;
	if (jl_case_make(&c, s->cat, &run, s->arena, &ignored))
		return false;
	jl_predict(&p, s->cat, &c);
	if (p.room == JL_ROOM_NONE || !(p.samples_per_s.value > 0))
		return false;
	*ret_rate = p.samples_per_s;
	return true;
}

static struct jl_upgrade *add(struct search *s, const char *kind, const char *before, const char *after)
{
	struct jl_upgrade *u = &s->out->items[s->out->n];

	if (s->out->n == JL_UPGRADES_MAX)
		return NULL;
	*u = (struct jl_upgrade){ .kind = kind };
	snprintf(u->before, sizeof u->before, "%s", before);
	snprintf(u->after, sizeof u->after, "%s", after);
	if (!rate(&u->before_per_s, s, before) || !rate(&u->after_per_s, s, after))
		return NULL;
	u->gain_frac = u->after_per_s.value / u->before_per_s.value - 1;
	return u->gain_frac > LEAST_GAIN_FRAC ? u : NULL;
}

/* Keeps the last candidate when its money is within the budget. */
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

static const struct jl_price *part_price(const struct jl_catalog *cat, const char *word)
{
	const struct jl_price *best = NULL;

	for (size_t i = 0; i < cat->n_prices; i++) {
		const struct jl_price *p = &cat->prices[i];
		if (strcmp(p->kind, "part") == 0 && p->item && strstr(p->item, word) && p->price_usd > 0 &&
		    (!best || strcmp(p->date, best->date) > 0))
			best = p;
	}
	return best;
}

static void try_bridge(struct search *s)
{
	const struct jl_gpu *gpu = s->sys.gpu;
	const int n_pairs = s->sys.n_per_node / 2 * s->sys.n_nodes;
	const struct jl_price *listed = part_price(s->cat, "NVLink bridge");
	char before[JL_UPGRADE_TEXT_MAX], after[JL_UPGRADE_TEXT_MAX];
	struct jl_estimate one;
	struct jl_upgrade *u;

	if (n_pairs < 1 || !gpu->link || !strstr(gpu->link, "bridge") || !s->sys.join ||
	    strcmp(s->sys.join->id, BRIDGE_JOIN) == 0)
		return;
	snprintf(before, sizeof before, "2x %s via %s", gpu->id, s->sys.join->id);
	snprintf(after, sizeof after, "2x %s via %s", gpu->id, BRIDGE_JOIN);
	if (!(u = add(s, "bridge", before, after)) || !rate(&one, s, gpu->id))
		return;
	u->n_items = n_pairs;
	snprintf(u->en, sizeof u->en,
		 "NVLink bridges on %d pair(s) of cards; a job on 2 cards: %.2fx -> %.2fx of one card", n_pairs,
		 u->before_per_s.value / one.value, u->after_per_s.value / one.value);
	snprintf(u->ko, sizeof u->ko, "NVLink 브리지 %d쌍. 2장 작업: 한 장의 %.2f배 -> %.2f배", n_pairs,
		 u->before_per_s.value / one.value, u->after_per_s.value / one.value);
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
	u->price = jl_money_scale(o.price, n, 1);
	u->price_date = o.price_date;
	u->price_source = o.price_source;
	return true;
}

static const char *with_cards(char out[JL_UPGRADE_TEXT_MAX], const struct search *s, const char *gpu, int n,
			      bool keep_join)
{
	const bool join = keep_join && n > 1 && s->sys.join;
	char host[JL_UPGRADE_TEXT_MAX / 2];

	snprintf(host, sizeof host, "%dx %s%s%s", n, gpu, join ? " via " : "", join ? s->sys.join->id : "");
	if (s->sys.n_nodes > 1)
		snprintf(out, JL_UPGRADE_TEXT_MAX, "%dx(%s) over %dx %s", s->sys.n_nodes, host, s->sys.n_net,
			 s->sys.net->id);
	else
		snprintf(out, JL_UPGRADE_TEXT_MAX, "%s", host);
	return out;
}

static void try_more_cards(struct search *s)
{
	const int n = s->sys.n_per_node, more[] = { n + 1, 2 * n };
	char after[JL_UPGRADE_TEXT_MAX];

	for (size_t i = n > 1 ? 0 : 1; i < 2; i++) {
		struct jl_upgrade *u = add(s, "more-gpus", s->sys.text,
					   with_cards(after, s, s->sys.gpu->id, more[i], true));
		if (!u)
			continue;
		u->n_items = (more[i] - n) * s->sys.n_nodes;
		if (!card_price(u, s, s->sys.gpu, u->n_items))
			u->price.micro = 0;
		snprintf(u->en, sizeof u->en, "%d more %s", u->n_items, s->sys.gpu->name);
		snprintf(u->ko, sizeof u->ko, "%s %d장 추가", s->sys.gpu->name, u->n_items);
		keep(s, u);
	}
}

/* The same number of other cards: those that stand in a PCIe slot and whose price somebody listed. */
static void try_other_cards(struct search *s)
{
	for (size_t i = 0; i < s->cat->n_gpus; i++) {
		const struct jl_gpu *gpu = &s->cat->gpus[i];
		struct jl_upgrade priced = { 0 }, *u;
		char after[JL_UPGRADE_TEXT_MAX];
		const int n = s->sys.n_per_node * s->sys.n_nodes;

		if (gpu == s->sys.gpu || !gpu->pcie || !gpu->form_factor || !strstr(gpu->form_factor, "PCIe") ||
		    !card_price(&priced, s, gpu, n))
			continue;
		if (jl_money_value(priced.price) > s->ask->budget_usd) {
			s->out->n_over_budget++;
			continue;
		}
		if (!(u = add(s, "other-gpu", s->sys.text, with_cards(after, s, gpu->id, s->sys.n_per_node, true))))
			continue;
		u->n_items = n;
		u->price = priced.price;
		u->price_date = priced.price_date;
		u->price_source = priced.price_source;
		snprintf(u->en, sizeof u->en, "%d %s instead", n, gpu->name);
		snprintf(u->ko, sizeof u->ko, "%s %d장으로 교체", gpu->name, n);
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
	for (size_t i = 0; i < sizeof faster / sizeof faster[0]; i++) {
		struct jl_upgrade *u;

		snprintf(after, sizeof after, "%s over %s", host, faster[i]);
		if (!(u = add(s, "network", y->text, after)))
			continue;
		u->n_items = y->n_nodes;
		snprintf(u->en, sizeof u->en, "%s between the %d hosts instead of %s", faster[i], y->n_nodes,
			 y->net->id);
		snprintf(u->ko, sizeof u->ko, "호스트 %d대의 네트워크를 %s로 교체 (지금 %s)", y->n_nodes, faster[i],
			 y->net->id);
		keep(s, u);
	}
}

/* Gain per money first; without a price last, by gain. */
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
	enum jl_status status = jl_sys_parse(&s.sys, cat, ask->system, arena, err);

	if (status)
		return status;
	if (!s.sys.gpu)
		return jl_fail(err, JL_E_USAGE, "'%s' has no accelerator to begin with; ask 'jeoul recommend'",
			       "'%s'에는 가속기가 없습니다. 'jeoul recommend'를 쓰세요", ask->system);
	ret_upgrades->n = ret_upgrades->n_over_budget = 0;
	if (!rate(&ret_upgrades->now_per_s, &s, s.sys.text))
		return jl_fail(err, JL_E_RANGE, "the run does not fit on '%s' as it is; see 'jeoul fit'",
			       "'%s'에서는 이 학습이 돌지 않습니다. 'jeoul fit'을 보세요", s.sys.text);
	try_bridge(&s);
	try_more_cards(&s);
	try_other_cards(&s);
	try_networks(&s);
	qsort(ret_upgrades->items, ret_upgrades->n, sizeof *ret_upgrades->items, by_worth);
	return JL_OK;
}
