/* Collects all offers of the catalog: cards at dated prices, systems at list price, rents by cloud and region. Must not know the workload. */
#include <math.h>
#include <string.h>

#include "catalog/find.h"
#include "catalog/place.h"
#include "catalog/possible.h"
#include "cost/option.h"
#include "recommend/inside.h"

#define UNITS_MAX  2048
#define OFFERS_MAX 16384

const int jl_node_counts[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
const size_t jl_n_node_counts = JL_LEN(jl_node_counts);

static const int card_counts[] = { 1, 2, 4, 8 };

/* Limits offloading. */
double jl_host_ram_B(int n_cards)
{
	const double GiB = 1024.0 * 1024 * 1024;

	return (n_cards <= 1 ? 64 : n_cards <= 2 ? 128 : n_cards <= 4 ? 256 : 512) * GiB;
}

struct find {
	const struct jl_recommend_ask *ask;
	struct jl_offers *offers;
	struct jl_arena *arena;
};

static bool wanted(const struct jl_recommend_ask *ask, const struct jl_gpu *gpu, int n_per_node)
{
	if (!gpu || n_per_node < 1 || n_per_node > JL_PER_NODE_MAX || (ask->per_node && ask->per_node != n_per_node))
		return false;
	for (size_t i = 0; i < ask->n_only; i++)
		if (ask->only[i] == gpu)
			return true;
	return ask->n_only == 0;
}

static bool takes(const struct jl_recommend_ask *ask, enum jl_how how)
{
	return !ask->hows || (ask->hows & (1U << how));
}

static size_t unit_of(struct find *f, const struct jl_gpu *gpu, const struct jl_system *system, const char *join,
		      int n_per_node)
{
	struct jl_offers *o = f->offers;

	for (size_t i = 0; i < o->n_units; i++) {
		const struct jl_unit_offered *u = &o->units[i];

		if (u->gpu == gpu && u->system == system && u->n_per_node == n_per_node &&
		    (u->join == join || (u->join && join && strcmp(u->join, join) == 0)))
			return i;
	}
	if (o->n_units == UNITS_MAX)
		return UNITS_MAX;
	o->units[o->n_units] =
		(struct jl_unit_offered){ .gpu = gpu, .system = system, .join = join, .n_per_node = n_per_node };
	return o->n_units++;
}

static void add(struct find *f, size_t unit, const struct jl_offer *offer)
{
	if (unit == UNITS_MAX || f->offers->n == OFFERS_MAX)
		return;
	f->offers->items[f->offers->n] = *offer;
	f->offers->items[f->offers->n].unit = unit;
	f->offers->n++;
}

static long day_of(const char *date, long today)
{
	struct jl_err ignored;
	long day;

	return date && jl_date_parse(&day, date, &ignored) == JL_OK ? day : today - 36500;
}

static void find_rents(struct find *f)
{
	const struct jl_catalog *cat = f->ask->cat;
	/* falls back to the nearest region that has rents */
	const char *region = f->ask->region ? jl_cost_rents_near(cat, f->ask->region) : NULL;

	if (f->ask->region && !region)
		return;
	for (size_t i = 0; i < cat->n_prices; i++) {
		const struct jl_price *p = &cat->prices[i];
		const struct jl_gpu *gpu = jl_gpu_by_id(cat, p->gpu);
		struct jl_offer offer = { .price = p, .date = p->date };
		size_t unit;

		if (!(p->on_demand_usdps > 0 || jl_price_rent_usdps(p, true) > 0) || !jl_price_is_machine(p) ||
		    !wanted(f->ask, gpu, (int)p->n_gpu) || (region && !jl_place_has(p->region, region)))
			continue;
		offer.day = day_of(p->date, f->ask->today);
		unit = unit_of(f, gpu, jl_price_system(cat, p), NULL, (int)p->n_gpu);
		if (p->on_demand_usdps > 0 && takes(f->ask, JL_HOW_RENT)) {
			offer.how = JL_HOW_RENT;
			offer.unit_usd = p->on_demand_usdps * 3600;
			add(f, unit, &offer);
		}
		const double spot_usdps = jl_price_spot_usdps(cat, p);

		if (spot_usdps > 0 && takes(f->ask, JL_HOW_SPOT) && f->ask->task != JL_TASK_SERVE) {
			offer.how = JL_HOW_SPOT;
			offer.unit_usd = spot_usdps * 3600;
			add(f, unit, &offer);
		}
	}
}

/* New or used, by the same rule as 'jeoul cost'. */
static bool card_price(struct jl_offer *ret_offer, const struct find *f, const struct jl_gpu *gpu, enum jl_how how)
{
	const bool both = takes(f->ask, JL_HOW_NEW) && takes(f->ask, JL_HOW_USED);
	const struct jl_card_price p = jl_card_price_of(f->ask->cat, gpu, how == JL_HOW_USED, f->ask->today);

	if (both && jl_card_price_usual(f->ask->cat, gpu, f->ask->today).used != p.used)
		return false;

	*ret_offer = (struct jl_offer){ .how = how, .price = p.price, .date = p.date, .day = p.day, .unit_usd = p.usd };
	return !isnan(p.usd);
}

/* The bridge for pairs of this card, if it has a link. */
static const char *bridge_of(const struct jl_catalog *cat, const struct jl_gpu *gpu)
{
	for (size_t i = 0; gpu->link && i < cat->n_links; i++) {
		const struct jl_link_info *l = &cat->links[i];

		if (l->role != JL_ROLE_JOIN || !l->topology || strcmp(l->topology, "bridge-pair") != 0 || !l->wire ||
		    strcmp(l->wire, gpu->link) != 0)
			continue;
		/* the same bridge exists with and without a peer-to-peer fallback: match the card */
		if ((l->fallback && strstr(l->fallback, "no-p2p")) ==
		    (gpu->p2p == JL_P2P_NO || gpu->p2p == JL_P2P_DRIVER_DISABLED))
			return l->id;
	}
	return NULL;
}

static void find_cards(struct find *f)
{
	const struct jl_catalog *cat = f->ask->cat;
	for (size_t g = 0; g < cat->n_gpus; g++) {
		const struct jl_gpu *gpu = &cat->gpus[g];

		if (!jl_gpu_is_card(gpu))
			continue;
		for (int how = JL_HOW_NEW; how <= JL_HOW_USED; how++) {
			struct jl_offer card;

			if (!takes(f->ask, (enum jl_how)how) || !card_price(&card, f, gpu, (enum jl_how)how))
				continue;
			for (size_t i = 0; i < JL_LEN(card_counts); i++) {
				const int n = card_counts[i];
				const char *join = n > 1 ? bridge_of(cat, gpu) : NULL;
				const struct jl_price *bridge = jl_bridge_price(cat, gpu);
				struct jl_offer offer = card;

				if (!wanted(f->ask, gpu, n))
					continue;
				offer.host_usd = f->ask->host_owned ? 0 : jl_cost_host_usd(cat, gpu, n);
				offer.unit_usd = card.unit_usd * n + offer.host_usd;
				add(f, unit_of(f, gpu, NULL, NULL, n), &offer);
				if (join && bridge) {
					const int n_bridges = n / 2;

					offer.unit_usd += bridge->price_usd * n_bridges;
					add(f, unit_of(f, gpu, NULL, join, n), &offer);
				}
			}
		}
	}
}

/* Whole systems at their list price. */
static void find_systems(struct find *f)
{
	const struct jl_catalog *cat = f->ask->cat;

	for (size_t i = 0; takes(f->ask, JL_HOW_NEW) && i < cat->n_systems; i++) {
		const struct jl_system *s = &cat->systems[i];
		const struct jl_gpu *gpu = jl_gpu_by_id(cat, s->gpu);
		struct jl_offer offer = { .how = JL_HOW_NEW, .unit_usd = s->price_usd.value };

		/* press estimates are not prices */
		if (!(s->price_usd.value > 0) || s->price_usd.origin == JL_ESTIMATED || !wanted(f->ask, gpu, s->n_gpu))
			continue;
		offer.date = s->price_usd.date ? s->price_usd.date : s->date;
		offer.day = day_of(offer.date, f->ask->today);
		if (f->ask->today - offer.day <= JL_CARD_PRICE_DAYS)
			add(f, unit_of(f, gpu, s, NULL, s->n_gpu), &offer);
	}
}

enum jl_status jl_offers_find(struct jl_offers *ret_offers, const struct jl_recommend_ask *ask, struct jl_arena *arena,
			      struct jl_err *err)
{
	struct jl_offers offers = {
		.units = jl_arena_array(arena, UNITS_MAX, sizeof(*offers.units)),
		.items = jl_arena_array(arena, OFFERS_MAX, sizeof(*offers.items)),
	};
	struct find f = { .ask = ask, .offers = &offers, .arena = arena };

	JL_TRY(jl_got(offers.units && offers.items, err));
	find_cards(&f);
	find_systems(&f);
	find_rents(&f);
	*ret_offers = offers;
	return JL_OK;
}
