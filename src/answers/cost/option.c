/* Costs of purchase options over time: interruptions, resale, periods, default prices. */
#include "cost/option.h"

#include <math.h>
#include <string.h>

#include "catalog/find.h"
#include "catalog/place.h"
#include "catalog/possible.h"
#include "base/stats.h"
#include "base/units.h"

#define MONTH_DAYS 30.436875 /* average of the calendar */

static const struct {
	const char *key, *en;
} kinds[JL_N_COST_KIND] = {
	[JL_COST_BUY] = { "buy", JL_N("bought") },           [JL_COST_OWN] = { "own", JL_N("owned already") },
	[JL_COST_RENT] = { "rent", JL_N("rented") },         [JL_COST_SPOT] = { "spot", JL_N("spot") },
	[JL_COST_RESERVE] = { "reserve", JL_N("reserved") },
};

const char *jl_cost_kind_key(enum jl_cost_kind kind)
{
	return kinds[kind].key;
}

const char *jl_cost_kind_name(enum jl_cost_kind kind)
{
	return kinds[kind].en;
}

bool jl_cost_is_rent(enum jl_cost_kind kind)
{
	return kind == JL_COST_RENT || kind == JL_COST_SPOT || kind == JL_COST_RESERVE;
}

/* Young's formula: sqrt(2 × checkpoint time × mean time between interruptions). */
double jl_cost_save_every_s(const struct jl_cost_option *o)
{
	return o->save_s && o->interrupts_ppm ? sqrt(2 * (double)o->save_s * 3600 * 1e6 / (double)o->interrupts_ppm)
					      : 0;
}

void jl_cost_spot_usual(struct jl_cost_option *o, int n_gpus, double save_s)
{
	o->interrupts_ppm = 50000;
	o->lost_s = 1800;
	o->restart_s = n_gpus >= 8 ? 3600 : 600;
	o->save_s = llround(fmin(save_s, 86400));
	if (jl_cost_save_every_s(o) < 2 * (double)o->lost_s)
		o->save_s = 0;
}

enum jl_status jl_cost_overhead_ppm(long long *ret_ppm, const struct jl_cost_option *o, struct jl_err *err)
{
	/* share of each paid hour lost to interruptions and to checkpoints */
	const double every_s = jl_cost_save_every_s(o);
	const double lost_s = every_s > 0 ? every_s / 2 : (double)o->lost_s;
	const double lost = (double)o->interrupts_ppm / 1e6 * (lost_s + (double)o->restart_s) / 3600 +
			    (every_s > 0 ? (double)o->save_s / every_s : 0);

	if (lost >= 0.95)
		return jl_fail(
			err, JL_E_RANGE,
			"%s: interruptions lose %.0f %% of the paid time; save more often (lost=) or do not use spot",
			o->name, lost * 100);
	*ret_ppm = llround(1e6 / (1 - lost));
	return JL_OK;
}

long jl_cost_period_end(struct jl_cost_period period, long start_day, long n)
{
	return period.months ? jl_date_add_months(start_day, (int)(period.months * n)) - start_day : period.days * n;
}

long jl_cost_period_again(struct jl_cost_period period, long start_day, long d)
{
	long n;

	if (d <= 0 || (!period.months && !period.days))
		return 0;
	if (!period.months)
		return (d - 1) / period.days;
	n = (long)((double)d / (period.months * MONTH_DAYS)) + 1; /* estimate, off by one at most; corrected below */
	while (n > 0 && jl_cost_period_end(period, start_day, n) >= d)
		n--;
	return n;
}

double jl_cost_host_usd(const struct jl_catalog *cat, const struct jl_gpu *gpu, int n_cards)
{
	static const char *const hosts[] = { "host-usd-1", "host-usd-2", "host-usd-4", "host-usd-8" };
	const double usd = jl_figure(cat, hosts[(n_cards > 1) + (n_cards > 2) + (n_cards > 4)]);

	return jl_gpu_is_passive(gpu) ? fmax(usd, jl_figure(cat, "host-usd-passive")) : usd;
}

static bool has_rents(const struct jl_catalog *cat, const char *region)
{
	for (size_t i = 0; i < cat->n_prices; i++)
		if ((cat->prices[i].on_demand_usdps > 0 || cat->prices[i].spot_median_usdps > 0) &&
		    jl_place_has(cat->prices[i].region, region))
			return true;
	return false;
}

const char *jl_cost_rents_near(const struct jl_catalog *cat, const char *region)
{
	while (region && !has_rents(cat, region))
		region = jl_place_wider(region);
	return region;
}

enum jl_status jl_cost_check_region(const struct jl_catalog *cat, const char *region, bool rented, struct jl_err *err)
{
	const char *near = jl_cost_rents_near(cat, region);

	if (near == region || (!rented && jl_place_is_known(region))) /* machines can be bought in any known place */
		return JL_OK;
	if (near)
		return jl_fail(err, JL_E_NOTFOUND,
			       "--region: no rents of %s are known; the nearest region with some is %s: --region %s",
			       region, near, near);
	return jl_fail(err, JL_E_NOTFOUND,
		       "--region: no rent of the catalog is from '%s'; try seoul, korea, us, or a cloud's own name "
		       "such as us-east-1",
		       region);
}

#define CARDS_MAX  64
#define AGE_MIN_Y  1.5 /* prices of younger cards follow shortages */
#define MID_YEAR   0.5 /* the catalog has only the year of launch */
#define EIGHTY_PCT 1.2816

/* ln of the share of value kept per year, from one dated price; NAN: no information. */
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
	/* median absolute deviation × 1.4826 estimates a standard deviation */
	const double half = EIGHTY_PCT * 1.4826 * distance[n / 2];
	return (struct jl_resale){ exp(middle), exp(middle - half), fmin(1, exp(middle + half)), n };
}
