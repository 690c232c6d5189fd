#include <math.h>
#include <string.h>
#include <strings.h>

#include "predict/predict.h"

/* "aws:p5.48xlarge" is AWS's p5.48xlarge. */
static bool is_offer(const struct jl_price *price, const char *system_id)
{
	const char *colon = strchr(system_id, ':');
	size_t len = colon ? (size_t)(colon - system_id) : 0;

	return colon && price->provider && price->item && strncasecmp(price->provider, system_id, len) == 0 &&
	       price->provider[len] == '\0' && strcasecmp(price->item, colon + 1) == 0;
}

struct jl_rent jl_rent_find(const struct jl_catalog *cat, const struct jl_sys *sys)
{
	struct jl_rent best = { .usdps = NAN };
	bool best_is_offer = false;

	for (size_t i = 0; sys->gpu && i < cat->n_prices; i++) {
		const struct jl_price *p = &cat->prices[i];
		const double usdps = p->on_demand_usdps / (p->n_gpu > 0 ? p->n_gpu : 1);
		const bool offer = sys->system && is_offer(p, sys->system->id);

		if (!(usdps > 0) || (!offer && (!p->gpu || strcmp(p->gpu, sys->gpu->id) != 0)) ||
		    (best_is_offer && !offer))
			continue;
		if (offer == best_is_offer && usdps >= best.usdps)
			continue;
		best = (struct jl_rent){ .usdps = usdps, .provider = p->provider, .item = p->item, .date = p->date };
		best_is_offer = offer;
	}
	return best;
}
