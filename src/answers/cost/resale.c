#include "cost/resale.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "base/units.h"
#include "catalog/find.h"

#define CARDS_MAX  64
#define AGE_MIN_Y  1.5 /* prices of younger cards follow shortages */
#define MID_YEAR   0.5 /* the catalog knows the year of a launch */
#define EIGHTY_PCT 1.2816

/* ln of the yearly retained share by one dated price; NAN: no information. */
static double kept_ln(const struct jl_catalog *cat, const struct jl_price *p)
{
	const struct jl_gpu *gpu = p->gpu ? jl_gpu_by_id(cat, p->gpu) : NULL;
	struct jl_err ignored;
	long day;

	if (!gpu || !gpu->year || !p->basis || !(gpu->msrp_usd.value > 0) || !(p->price_usd > 0) ||
	    (strcmp(p->basis, "street-used") != 0 && strcmp(p->basis, "street-resale-best") != 0) ||
	    jl_date_parse(&day, p->date, &ignored))
		return NAN;
	const struct jl_civil sold = jl_date_civil(day);
	const double age_y = sold.year - gpu->year - MID_YEAR + (sold.month - 1) / 12.0;

	return age_y < AGE_MIN_Y ? NAN : log(p->price_usd / gpu->msrp_usd.value) / age_y;
}

struct jl_resale jl_resale_curve(const struct jl_catalog *cat)
{
	double ln[CARDS_MAX], distance[CARDS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < cat->n_prices && n < CARDS_MAX; i++) {
		ln[n] = kept_ln(cat, &cat->prices[i]);
		if (!isnan(ln[n]))
			n++;
	}
	if (!n)
		return (struct jl_resale){ 0 };
	jl_stats_sort(ln, n);
	const double middle = (ln[(n - 1) / 2] + ln[n / 2]) / 2;
	for (size_t i = 0; i < n; i++)
		distance[i] = fabs(ln[i] - middle);
	jl_stats_sort(distance, n);
	const double half = EIGHTY_PCT * 1.4826 * distance[n / 2]; /* the median distance as a standard deviation */
	return (struct jl_resale){ exp(middle), exp(middle - half), fmin(1, exp(middle + half)), n };
}
