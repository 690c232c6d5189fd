/* Chooses rents and purchase prices from the catalog. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "base/units.h"
#include "catalog/find.h"
#include "catalog/place.h"
#include "predict/predict.h"

#define SPOT_REGIONS_MAX 64
#define NEW_YEARS        4 /* older cards have no launch price */
#define MADE_YEARS       5 /* older cards are not sold new */
#define LIST_YEARS       2 /* validity of a launch price */

bool jl_price_is_machine(const struct jl_price *p)
{
	return p->n_gpu >= 1 && p->n_gpu == floor(p->n_gpu) && !(p->note && strstr(p->note, "accelerator only"));
}

bool jl_price_may_repeat(const struct jl_price *p)
{
	return !(p->note && strstr(p->note, "marketplace"));
}

long jl_price_age_days(const struct jl_price *p, long today)
{
	long day;

	return p->date && today && jl_date_parse(&day, p->date, NULL) == JL_OK ? today - day : -1;
}

/* False if the row's note says that it is not the provider's list price. */
static bool is_list_price(const struct jl_price *p)
{
	return !(p->note && strstr(p->note, "is NOT the"));
}

/* True if several such machines can be joined: the catalog knows their network. */
static bool is_joined(const struct jl_catalog *cat, const struct jl_price *p, const struct jl_sys *sys)
{
	const struct jl_system *system = sys->n_nodes > 1 && p->n_gpu >= sys->n_per_node ? jl_price_system(cat, p)
											 : NULL;

	return system && system->net;
}

/* Rank of an offer; criteria in order: the system's own; can be joined, if several are needed; a list price; a whole machine with host; not too
 * old. */
static int rank_of(const struct jl_price *p, bool own, bool joined, long age_days)
{
	return (own ? 16 : 0) + (joined ? 8 : 0) + (is_list_price(p) ? 4 : 0) + (jl_price_is_machine(p) ? 2 : 0) +
	       (age_days <= JL_PRICE_STALE_DAYS ? 1 : 0);
}

/* Ignores spot rents that are not below on-demand: such sources repeat the on-demand price. */
double jl_price_rent_usdps(const struct jl_price *p, bool spot)
{
	const double median = isnan(p->spot_median_usdps) ? p->spot_min_usdps : p->spot_median_usdps;

	if (!spot)
		return p->on_demand_usdps;
	return median >= p->on_demand_usdps ? NAN : median;
}

/* Spot prices fluctuate: a region's price below the usual one elsewhere is not used. */
double jl_price_spot_usdps(const struct jl_catalog *cat, const struct jl_price *p)
{
	double own = jl_price_rent_usdps(p, true), quotes[SPOT_REGIONS_MAX];
	size_t n = 0;

	for (size_t i = 0; own > 0 && i < cat->n_prices && n < SPOT_REGIONS_MAX; i++) {
		const struct jl_price *o = &cat->prices[i];

		if (o->item && p->item && strcmp(o->item, p->item) == 0 && strcmp(o->provider, p->provider) == 0 &&
		    jl_price_rent_usdps(o, true) > 0)
			quotes[n++] = jl_price_rent_usdps(o, true);
	}
	if (n)
		jl_stats_sort(quotes, n);
	return n ? fmax(own, quotes[(n - 1) / 2]) : own;
}

/* Up to this factor a whole machine may cost more than several smaller ones; above it, the smaller ones are used. */
#define WHOLE_TIMES 1.5

struct jl_rent jl_rent_of(const struct jl_catalog *cat, const struct jl_sys *sys, const char *region, bool spot)
{
	const struct jl_rent none = { .usdps = NAN, .age_days = -1 };
	struct jl_rent whole = none, part = none, *best;
	double most = 0;
	int best_rank = -1;

	for (size_t i = 0; sys->gpu && !sys->hypothetical && i < cat->n_prices; i++) {
		const struct jl_price *p = &cat->prices[i];

		if (!(p->on_demand_usdps > 0) && !spot)
			continue;
		const bool own = sys->system && jl_price_is_offer(p, sys->system->id);

		if (!own && !jl_same_text(p->gpu, sys->gpu->id))
			continue;
		const double n_gpu = p->n_gpu > 0 ? p->n_gpu : 1;
		const bool holds = own || n_gpu >= sys->n_per_node;
		/* machines are rented as a whole even if less is needed */
		const double usdps = (spot ? jl_price_spot_usdps(cat, p) : p->on_demand_usdps) /
				     (own ? n_gpu : fmin(n_gpu, sys->n_per_node));
		bool joined;
		long age_days;
		int rank;

		if (!(usdps > 0) || ((sys->n_nodes > 1 || !holds) && !jl_price_may_repeat(p)) ||
		    (region && !jl_place_has(p->region, region)))
			continue;
		most = fmax(most, n_gpu);
		age_days = jl_price_age_days(p, cat->today);
		joined = is_joined(cat, p, sys);
		rank = rank_of(p, own, joined, age_days);
		best = holds ? &whole : &part;
		if (rank < best_rank || (rank == best_rank && usdps >= best->usdps))
			continue;
		if (rank > best_rank)
			whole = part = none;
		*best = (struct jl_rent){ .usdps = usdps,
					  .provider = p->provider,
					  .item = p->item,
					  .region = p->region,
					  .date = p->date,
					  .n_gpu = n_gpu,
					  .age_days = age_days,
					  .price = p,
					  .apart = sys->n_nodes > 1 && !joined,
					  .stale = age_days > JL_PRICE_STALE_DAYS };
		best_rank = rank;
	}
	best = part.usdps > 0 && !(whole.usdps <= WHOLE_TIMES * part.usdps) ? &part : &whole;
	best->most = most;
	return *best;
}

struct jl_rent jl_rent_find(const struct jl_catalog *cat, const struct jl_sys *sys)
{
	struct jl_rent rent = jl_rent_of(cat, sys, NULL, false);
	struct jl_sys one = *sys;

	if (sys->n_nodes <= 1)
		return rent;
	one.n_nodes = 1;
	const double single_usdps = jl_rent_of(cat, &one, NULL, false).usdps;

	rent.single_usdps = single_usdps < rent.usdps ? single_usdps : 0;
	return rent;
}

static bool has_word(const char *text, const char *word)
{
	return text && strcasestr(text, word) != NULL;
}

/* Newest first; on the same day a price that is not a minimum comes first. */
static bool is_newer(const struct jl_price *p, long day, const struct jl_card_price *than)
{
	if (!than->price || day != than->day)
		return day > than->day;
	return has_word(than->price->basis, "min") && !has_word(p->basis, "min");
}

struct jl_card_price jl_card_price_of(const struct jl_catalog *cat, const struct jl_gpu *gpu, bool used, long today)
{
	struct jl_card_price best = { .usd = NAN, .day = today - JL_CARD_PRICE_DAYS, .used = used };

	for (size_t i = 0; i < cat->n_prices; i++) {
		const struct jl_price *p = &cat->prices[i];
		long day;

		if (!(p->price_usd > 0) || !p->gpu || strcmp(p->gpu, gpu->id) != 0 || p->n_gpu > 1 ||
		    has_word(p->basis, "launch") || has_word(p->basis, "list") ||
		    (has_word(p->basis, "used") || has_word(p->basis, "resale")) != used ||
		    jl_date_parse(&day, p->date, NULL) || !is_newer(p, day, &best))
			continue;
		best = (struct jl_card_price){ p->price_usd, p, p->date, day, used, false };
	}
	if (isnan(best.usd) && !used && gpu->msrp_usd.value > 0 && gpu->year > 0 &&
	    gpu->year + NEW_YEARS > jl_date_civil(today).year) {
		best.usd = gpu->msrp_usd.value;
		best.launch = true;
		best.date = gpu->msrp_usd.date;
		if (!best.date || jl_date_parse(&best.day, best.date, NULL))
			best.day = jl_date_day((struct jl_civil){ gpu->year, 1, 1 });
	}
	return best;
}

bool jl_card_price_stale(const struct jl_gpu *gpu, const struct jl_card_price *price, long today)
{
	const int year = jl_date_civil(today).year;

	if (isnan(price->usd) || (!price->used && gpu->year + MADE_YEARS < year))
		return true;
	return price->launch ? gpu->year + LIST_YEARS < year : today - price->day > JL_PRICE_STALE_DAYS;
}

struct jl_card_price jl_card_price_usual(const struct jl_catalog *cat, const struct jl_gpu *gpu, long today)
{
	const struct jl_card_price shop = jl_card_price_of(cat, gpu, false, today),
				   used = jl_card_price_of(cat, gpu, true, today);

	if (isnan(used.usd) || !jl_card_price_stale(gpu, &shop, today))
		return shop;
	return isnan(shop.usd) || !jl_card_price_stale(gpu, &used, today) || used.day > shop.day ? used : shop;
}

const struct jl_price *jl_bridge_price(const struct jl_catalog *cat, const struct jl_gpu *gpu)
{
	static const char bridge[] = "nvlink-bridge-";
	const struct jl_price *best = NULL;
	char word[32] = "";

	if (!gpu->link || strncmp(gpu->link, bridge, strlen(bridge)) != 0 ||
	    sscanf(gpu->link + strlen(bridge), "%31[^-]", word) != 1)
		return NULL;
	for (size_t i = 0; i < cat->n_prices; i++) {
		const struct jl_price *p = &cat->prices[i];

		if (strcmp(p->kind, "part") == 0 && p->item && strstr(p->item, "NVLink bridge") &&
		    strcasestr(p->item, word) && p->price_usd > 0 && (!best || strcmp(p->date, best->date) > 0))
			best = p;
	}
	return best;
}
