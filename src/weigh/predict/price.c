#include <math.h>
#include <string.h>

#include "base/units.h"
#include "catalog/find.h"
#include "predict/predict.h"

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

/* What speaks for an offer, from the most important on: it is the system's own; it is a whole machine with its host; it
 * is not too old; it has as many accelerators as the machine that is asked about. Between equals the cheapest. */
static int rank_of(const struct jl_price *p, const struct jl_sys *sys, bool own, long age_days)
{
	const bool fresh = age_days <= JL_PRICE_STALE_DAYS, whole = p->n_gpu == sys->n_per_node;

	return (own ? 8 : 0) + (jl_price_is_machine(p) ? 4 : 0) + (fresh ? 2 : 0) + (whole ? 1 : 0);
}

struct jl_rent jl_rent_find(const struct jl_catalog *cat, const struct jl_sys *sys)
{
	struct jl_rent best = { .usdps = NAN, .age_days = -1 };
	int best_rank = -1;

	for (size_t i = 0; sys->gpu && !sys->hypothetical && i < cat->n_prices; i++) {
		const struct jl_price *p = &cat->prices[i];
		const double n_gpu = p->n_gpu > 0 ? p->n_gpu : 1, usdps = p->on_demand_usdps / n_gpu;
		const bool own = sys->system && jl_price_is_offer(p, sys->system->id);
		long age_days;
		int rank;

		if (!(usdps > 0) || (!own && (!p->gpu || strcmp(p->gpu, sys->gpu->id) != 0)) ||
		    (sys->n_nodes > 1 && !jl_price_may_repeat(p)))
			continue;
		age_days = jl_price_age_days(p, cat->today);
		rank = rank_of(p, sys, own, age_days);
		if (rank < best_rank || (rank == best_rank && usdps >= best.usdps))
			continue;
		best = (struct jl_rent){ .usdps = usdps,
					 .provider = p->provider,
					 .item = p->item,
					 .region = p->region,
					 .date = p->date,
					 .n_gpu = n_gpu,
					 .age_days = age_days,
					 .stale = age_days > JL_PRICE_STALE_DAYS };
		best_rank = rank;
	}
	return best;
}
