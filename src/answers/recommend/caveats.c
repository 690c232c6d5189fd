/* Caveats of a candidate. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "catalog/find.h"
#include "cost/money.h"
#include "recommend/inside.h"

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

/* Cards in one box: slots, heat, power. */
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
		    JL_N("no peer-to-peer: what the cards exchange crosses host memory; the time counts it"));
	if (task != JL_TASK_SERVE && sys->n_nodes > 1 && sys->net && sys->net_assumed)
		add(list, "network", JL_N("hosts joined by %dx %s: assumed, and not in the price of bought machines"),
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
		add(list, "host-price", JL_N("of the price, %s USD are assumed for the host around the cards"),
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
		add(&list, "batch", JL_N("a step takes %g samples, not %g: what %g devices share evenly"),
		    c->setup->global_batch, asked, (double)sys->n_per_node * sys->n_nodes);
	if (c->setup->memory_frac > JL_TIGHT_FRAC)
		add(&list, "memory", JL_N("memory is tight: %.0f %% of the device"), c->setup->memory_frac * 100);
	if (c->setup->bold_times > 0 && c->setup->bold_times < 0.99)
		add(&list, "room",
		    JL_N("run so that memory surely suffices; as predict runs it, it takes %.2gx the time, but may "
			 "need %.0f %% of the memory"),
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
