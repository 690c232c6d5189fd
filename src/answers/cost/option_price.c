/* Catalog prices of a purchase option: rents (of a provider, if named) and card prices. Must not know the workload. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "catalog/find.h"
#include "catalog/place.h"
#include "cost/option.h"
#include "system/machine.h"

/* Words next to a system's name that are not providers: kinds of machine and of rent. */
static const char *const plain_words[] = {
	"a",        "an",      "the",         "my",       "our",      "one",  "on",   "demand",  "on-demand",
	"spot",     "rented",  "rent",        "gpu",      "gpus",     "host", "node", "box",     "server",
	"desktop",  "machine", "workstation", "instance", "cloud",    "pod",  "vm",   "cluster", "서버",
	"클라우드", "장비",    "대여",        "임대",     "데스크톱", "노드",
};

/* Alternative names of providers. */
static const struct {
	const char *word, *provider;
} other_names[] = { { "google", "GCP" }, { "amazon", "AWS" }, { "microsoft", "Azure" }, { "람다", "Lambda" } };

static const char *provider_called(const struct jl_catalog *cat, const char *word)
{
	for (size_t i = 0; i < JL_LEN(other_names); i++)
		if (strcasecmp(other_names[i].word, word) == 0)
			word = other_names[i].provider;
	for (size_t i = 0; i < cat->n_prices; i++)
		if (cat->prices[i].on_demand_usdps > 0 && jl_has_words(cat->prices[i].provider, word))
			return cat->prices[i].provider;
	return NULL;
}

/* Finds the provider named next to the system; NULL: none. Rejects unknown words, since they may name a provider with other prices. */
static enum jl_status named_provider(const char **ret_provider, const struct jl_cost_option *o, char *words,
				     const struct jl_catalog *cat, struct jl_err *err)
{
	char *rest = NULL;

	*ret_provider = NULL;
	for (char *word = strtok_r(words, " ()", &rest); word; word = strtok_r(NULL, " ()", &rest)) {
		bool plain = false;

		for (size_t i = 0; i < JL_LEN(plain_words); i++)
			plain |= strcasecmp(plain_words[i], word) == 0;
		if (plain)
			continue;
		const char *provider = provider_called(cat, word);
		if (!provider)
			return jl_fail(err, JL_E_NOTFOUND,
				       "the catalog has no prices of '%s'; write the price, e.g. \"%s 2.14 USD/h\"",
				       word, o->name);
		*ret_provider = provider;
	}
	return JL_OK;
}

/* The catalog restricted to one provider's prices; provider NULL: unrestricted. */
static enum jl_status prices_of(struct jl_catalog *ret_theirs, const struct jl_catalog *cat, const char *provider,
				struct jl_arena *arena, struct jl_err *err)
{
	struct jl_price *prices;

	*ret_theirs = *cat;
	if (!provider)
		return JL_OK;
	prices = jl_arena_array(arena, cat->n_prices, sizeof(*prices));
	JL_TRY(jl_got(prices, err));
	ret_theirs->n_prices = 0;
	for (size_t i = 0; i < cat->n_prices; i++)
		if (jl_same_text(cat->prices[i].provider, provider))
			prices[ret_theirs->n_prices++] = cat->prices[i];
	ret_theirs->prices = prices;
	return JL_OK;
}

/* Cheapest offer whose name is not a system. */
static const struct jl_price *named_offer(const char *name, const char *region, bool spot, const struct jl_catalog *cat)
{
	const struct jl_price *best = NULL;

	for (size_t i = 0; strlen(name) > 1 && i < cat->n_prices; i++) { /* a single letter is not a name */
		const struct jl_price *p = &cat->prices[i];

		if (jl_price_is_offer(p, name) && (!region || jl_place_has(p->region, region)) &&
		    jl_price_rent_usdps(p, spot) > 0 &&
		    (!best || jl_price_rent_usdps(p, spot) < jl_price_rent_usdps(best, spot)))
			best = p;
	}
	return best;
}

/* Uses the same rent as predict; "aws:p3.2xlarge" is AWS's p3.2xlarge. */
enum jl_status jl_cost_catalog_rent(struct jl_cost_option *o, char *beside, const char *region,
				    const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	const bool spot = o->kind == JL_COST_SPOT, own = strchr(o->name, ':') != NULL;
	const char *provider = NULL;
	struct jl_catalog theirs;

	if (o->kind == JL_COST_RESERVE)
		return jl_fail(
			err, JL_E_NOTFOUND,
			"the catalog has no reserved prices; write that of '%s', e.g. \"%s 2.14 USD/h, term=1 y\"",
			o->name, o->name);
	if (o->has_system)
		JL_TRY(named_provider(&provider, o, beside, cat, err));
	JL_TRY(prices_of(&theirs, cat, provider, arena, err));
	const struct jl_rent rent = o->has_system ? jl_rent_of(&theirs, &o->system, region, spot)
						  : (struct jl_rent){ .usdps = NAN };
	const struct jl_price *from = rent.price;
	double usdps = rent.usdps * o->system.n_per_node * o->system.n_nodes;

	/* "provider:name" must match exactly */
	if (!from ||
	    (own && !jl_price_is_offer(from, o->has_system && o->system.system ? o->system.system->id : o->name))) {
		from = named_offer(o->name, region, spot, cat);
		o->n_gpus = from ? (int)from->n_gpu : 0;
		usdps = from ? jl_price_rent_usdps(from, spot) : NAN;
	}
	if (!from)
		return jl_fail(
			err, JL_E_NOTFOUND,
			spot ? JL_N("the catalog has no spot price of '%s'%s%s; write it, e.g. \"%s 2.14 USD/h\"")
			     : JL_N("the catalog has no rent of '%s'%s%s; write it, e.g. \"%s 2.14 USD/h\""),
			o->name, region ? ", " : "", region ? region : "", o->name);
	o->per_hour = jl_money_from(round(usdps * 3600 * 1e6) / 1e6, JL_USD);
	if (spot)
		jl_cost_spot_usual(o, o->has_system ? o->system.n_per_node : 1, 0);
	o->price_date = from->date;
	o->price_source = jl_arena_printf(arena, "%s, %s", from->provider, from->region ? from->region : "?");
	return JL_OK;
}

/* Same price as in 'jeoul recommend', including the host. */
enum jl_status jl_cost_catalog_price(struct jl_cost_option *o, const struct jl_catalog *cat, struct jl_err *err)
{
	const struct jl_gpu *gpu = o->has_system && !o->system.system ? o->system.gpu : NULL;
	const int n = o->system.n_per_node * o->system.n_nodes;
	const struct jl_card_price card = gpu ? jl_card_price_usual(cat, gpu, cat->today)
					      : (struct jl_card_price){ .usd = NAN };

	if (isnan(card.usd))
		return jl_fail(err, JL_E_NOTFOUND,
			       "\"%s\" has no price and the catalog has none; write e.g. \"%s 2200 USD\"", o->name,
			       o->name);
	o->price = jl_money_from(card.usd * n, JL_USD);
	o->price_date = card.date;
	o->price_source = card.price ? card.price->provider : gpu->vendor;
	o->card = card;
	o->other = jl_card_price_of(cat, gpu, !card.used, cat->today);
	if (jl_card_price_stale(gpu, &o->other, cat->today))
		o->other.usd = NAN;
	o->host = jl_money_from(jl_cost_host_usd(cat, gpu, o->system.n_per_node) * o->system.n_nodes, JL_USD);
	o->price = jl_money_add(o->price, o->host);
	return JL_OK;
}
