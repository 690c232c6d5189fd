/* Costs of one option over time, and the break-even of two. */
#include "cost/timeline.h"

#include <limits.h>
#include <math.h>

#include "base/units.h"

__extension__ typedef __int128 wide;

#define DAYS_A_YEAR 365

static long long util_of(const struct jl_cost_option *o, const struct jl_cost_setting *s)
{
	return o->util_ppm > 0 ? o->util_ppm : s->util_ppm;
}

JL_WIDE_MATH long long jl_cost_milli_kWh(const struct jl_cost_option *o, const struct jl_cost_setting *s, long n_days)
{
	const long long util = util_of(o, s);
	/* unit of `used`: mW·ppm·h; thousandths of a kWh after division by 1000 · 1e6 */
	const wide used = ((wide)o->active_mW * util + (wide)o->idle_mW * (JL_PPM - util)) * 24 * n_days;
	const wide den = (wide)JL_PPM * 1000 * JL_PPM;

	if (jl_cost_is_rent(o->kind))
		return 0;
	/* common case: fits 64-bit division */
	if (s->pue_ppm == JL_PPM && used < LLONG_MAX - JL_PPM * 1000)
		return ((long long)used + JL_PPM * 500) / (JL_PPM * 1000);
	return (long long)((used * s->pue_ppm + den / 2) / den);
}

/* Cost of the energy of some days in one calendar month of `month_days`. */
static enum jl_status month_power(long long *ret_micro, const struct jl_cost_option *o, const struct jl_cost_setting *s,
				  const struct jl_catalog *cat, struct jl_civil first, int month_days,
				  struct jl_cost_line *line, struct jl_err *err)
{
	struct jl_tariff_use site = s->site;
	struct jl_money money;
	struct jl_bill bill;

	site.month = first.month;
	JL_TRY(jl_tariff_marginal(&money, cat, s->tariff, &site, jl_cost_milli_kWh(o, s, month_days),
				  (double)o->active_mW / 1e6 * (double)s->pue_ppm / 1e6, err));
	JL_TRY(jl_tariff_bill(&bill, cat, s->tariff, &site, err));
	JL_TRY(jl_money_convert(&money, money, s->currency, &s->fx, err));
	line->borrowed_season |= bill.borrowed_season;
	line->by_kW |= bill.by_kW;
	line->tariff_date = bill.date;
	line->tariff_source = bill.source;
	*ret_micro = money.micro;
	return JL_OK;
}

static enum jl_status power_by_day(long long *cum, const struct jl_cost_option *o, const struct jl_cost_setting *s,
				   const struct jl_catalog *cat, struct jl_cost_line *line, struct jl_err *err)
{
	struct jl_money flat = { .currency = s->currency };
	long long months = 0, month = 0;
	int month_days = 0;
	enum jl_status status;

	if (!s->tariff && (status = jl_money_convert(&flat, s->per_kWh, s->currency, &s->fx, err)))
		return status;
	for (long d = 1; d <= s->horizon_days; d++) {
		struct jl_civil today;

		if (!s->tariff) {
			cum[d] += jl_micro_scale(flat.micro, jl_cost_milli_kWh(o, s, d), 1000);
			continue;
		}
		today = jl_date_civil(s->start_day + d - 1);
		if (d == 1 || today.day == 1) {
			if (d > 1)
				months += month_days ? month : 0;
			month_days = jl_date_month_days(today.year, today.month);
			JL_TRY(month_power(&month, o, s, cat, today, month_days, line, err));
			/* a month that starts in its middle counts from that day */
			if (d == 1)
				months -= jl_micro_scale(month, today.day - 1, month_days);
		}
		cum[d] += months + jl_micro_scale(month, today.day, month_days);
	}
	return JL_OK;
}

struct rates {
	long long price, hour, month; /* in the setting's currency */
	long long overhead_ppm;
};

static long long owned_by(const struct jl_cost_option *o, const struct jl_cost_setting *s, const struct rates *r,
			  long d)
{
	const long n_again = jl_cost_period_again(o->life, s->start_day, d);
	long long micro = r->price + jl_micro_scale(r->price, o->finance_ppm * d, JL_PPM * DAYS_A_YEAR);

	/* at each replacement the old machine is sold and a new one is bought */
	return micro + jl_micro_scale(r->price, (JL_PPM - o->resale_ppm) * n_again, JL_PPM);
}

/* Resale on the last day: falls geometrically from the price to the resale value at the end of life. */
static long long sold_for(const struct jl_cost_option *o, const struct jl_cost_setting *s, long long price)
{
	const long n_again = jl_cost_period_again(o->life, s->start_day, s->horizon_days);
	const long from = n_again ? jl_cost_period_end(o->life, s->start_day, n_again) : 0;
	const long end = jl_cost_period_end(o->life, s->start_day, n_again + 1);
	const double age = end > from ? (double)(s->horizon_days - from) / (double)(end - from) : 1;

	if (o->kind != JL_COST_BUY || o->resale_ppm <= 0)
		return 0;
	return jl_micro_scale(price, llround(JL_PPM * pow((double)o->resale_ppm / JL_PPM, fmin(1, age))), JL_PPM);
}

JL_WIDE_MATH static long long rented_by(const struct jl_cost_option *o, const struct jl_cost_setting *s,
					const struct rates *r, long d)
{
	const wide hours_ppm = o->kind == JL_COST_RESERVE ? (wide)24 * d * JL_PPM : (wide)24 * d * util_of(o, s);
	const wide paid = r->overhead_ppm == JL_PPM ? hours_ppm : hours_ppm * r->overhead_ppm / JL_PPM;
	/* up-front payments: one per term, the first on the first day */
	const long n_terms = o->kind == JL_COST_RESERVE ? jl_cost_period_again(o->term, s->start_day, d) + 1 : 0;

	return jl_micro_scale(r->hour, (long long)paid, JL_PPM) + r->price * n_terms;
}

static enum jl_status rates_of(struct rates *ret_rates, const struct jl_cost_option *o, const struct jl_cost_setting *s,
			       struct jl_err *err)
{
	struct jl_money price, hour, month;

	JL_TRY(jl_money_convert(&price, o->price, s->currency, &s->fx, err));
	JL_TRY(jl_money_convert(&hour, o->per_hour, s->currency, &s->fx, err));
	JL_TRY(jl_money_convert(&month, o->per_month, s->currency, &s->fx, err));
	JL_TRY(jl_cost_overhead_ppm(&ret_rates->overhead_ppm, o, err));
	ret_rates->price = price.micro;
	ret_rates->hour = hour.micro;
	ret_rates->month = month.micro;
	return JL_OK;
}

static void first_year(struct jl_cost_line *line, const long long *power, const struct jl_cost_setting *s)
{
	const long n = s->horizon_days < DAYS_A_YEAR ? s->horizon_days : DAYS_A_YEAR;
	const long long milli = jl_cost_milli_kWh(line->option, s, DAYS_A_YEAR);

	line->year_kWh = (double)milli / 1000;
	line->year_power = (struct jl_money){ .micro = jl_micro_scale(power[n], DAYS_A_YEAR, n),
					      .currency = s->currency };
	line->year_co2_g = milli > 0 ? line->year_kWh * s->carbon_gpkWh : NAN;
}

enum jl_status jl_cost_line_make(struct jl_cost_line *ret_line, const struct jl_cost_option *o,
				 const struct jl_cost_setting *s, const struct jl_catalog *cat, struct jl_arena *arena,
				 struct jl_err *err)
{
	struct jl_cost_line line = { .option = o, .year_co2_g = NAN };
	const size_t n = (size_t)s->horizon_days + 1;
	long long *cum = jl_arena_array(arena, n, sizeof *cum), *power = jl_arena_array(arena, n, sizeof *power);
	struct rates r;
	enum jl_status status;

	JL_TRY(jl_got(cum && power, err));
	JL_TRY(rates_of(&r, o, s, err));
	if (!jl_cost_is_rent(o->kind) && o->active_mW > 0 && (status = power_by_day(power, o, s, cat, &line, err)))
		return status;
	for (long d = 0; d <= s->horizon_days; d++) {
		cum[d] = power[d] + jl_micro_scale(r.month, 12 * (long long)d, DAYS_A_YEAR);
		if (jl_cost_is_rent(o->kind))
			cum[d] += rented_by(o, s, &r, d);
		else if (o->kind == JL_COST_BUY)
			cum[d] += owned_by(o, s, &r, d);
	}
	cum[s->horizon_days] -= sold_for(o, s, r.price);
	line.cum_micro = cum;
	line.resale =
		(struct jl_money){ .micro = o->kind == JL_COST_BUY ? jl_micro_scale(r.price, o->resale_ppm, JL_PPM) : 0,
				   .currency = s->currency };
	first_year(&line, power, s);
	*ret_line = line;
	return JL_OK;
}

double jl_cost_break_even(const struct jl_cost_line *dear, const struct jl_cost_line *cheap, long horizon_days)
{
	for (long d = 0; d <= horizon_days; d++) {
		const long long gap = dear->cum_micro[d] - cheap->cum_micro[d];
		long long before;

		if (gap > 0)
			continue;
		if (d == 0)
			return 0;
		before = dear->cum_micro[d - 1] - cheap->cum_micro[d - 1];
		return (double)(d - 1) + (double)before / (double)(before - gap);
	}
	return NAN;
}

JL_WIDE_MATH enum jl_status jl_cost_per_work_hour(struct jl_money *ret_money, const struct jl_cost_line *line,
						  const struct jl_cost_setting *s, struct jl_err *err)
{
	const struct jl_cost_option *o = line->option;
	const long once = jl_cost_period_end(o->life, s->start_day, 1);
	const long life = once > 0 && once < s->horizon_days ? once : s->horizon_days;
	const wide hours_ppm = (wide)24 * life * util_of(o, s);

	if (hours_ppm <= 0)
		return jl_fail(err, JL_E_RANGE, "%s never works: utilisation is zero", o->name);
	/* resale counts on the last day */
	const long long resale = life < s->horizon_days ? line->resale.micro : 0;

	ret_money->micro = (long long)((wide)(line->cum_micro[life] - resale) * JL_PPM / hours_ppm);
	ret_money->currency = s->currency;
	return JL_OK;
}

enum jl_status jl_machine_bill_make(struct jl_machine_bill *ret_bill, const struct jl_cost_option *o,
				    const struct jl_cost_setting *s, const struct jl_catalog *cat, struct jl_err *err)
{
	struct jl_machine_bill bill = { .name = o->name,
					.tariff = s->tariff,
					.active_W = (double)o->active_mW / 1000,
					.util_frac = (double)util_of(o, s) / JL_PPM,
					.household_kWh = (double)s->site.milli_kWh / 1000,
					.n_months = 12 };
	const int year = jl_date_civil(s->start_day).year;

	if (o->active_mW <= 0)
		return jl_fail(err, JL_E_NOTFOUND, "the power of '%s' is not known: give it, e.g. \"%s, watts=450 W\"",
			       o->name, o->name);
	for (int m = 1; m <= 12; m++) {
		struct jl_machine_bill_month *row = &bill.months[m - 1];
		const long long milli = jl_cost_milli_kWh(o, s, jl_date_month_days(year, m));
		struct jl_tariff_use use = s->site;
		const double machine_kW = (double)o->active_mW / 1e6 * (double)s->pue_ppm / 1e6;
		struct jl_tariff_use without;
		struct jl_bill before;

		use.month = m;
		without = jl_tariff_before(&use);
		JL_TRY(jl_tariff_marginal(&row->more, cat, s->tariff, &use, milli, machine_kW, err));
		JL_TRY(jl_tariff_bill(&before, cat, s->tariff, &without, err));
		if (m == 1)
			bill.first = before;
		bill.first.borrowed_season |= before.borrowed_season;
		bill.demand_kW = !before.by_kW       ? NAN
				 : use.milli_kWh > 0 ? use.demand_kW + machine_kW
						     : fmax(use.demand_kW, machine_kW);
		row->month = m;
		row->kWh = (double)milli / 1000;
		row->without = before.total;
		row->with = jl_money_add(before.total, row->more);
		bill.year = m > 1 ? jl_money_add(bill.year, row->more) : row->more;
	}
	*ret_bill = bill;
	return jl_money_convert(&ret_bill->year_other, bill.year, bill.year.currency == JL_KRW ? JL_USD : JL_KRW,
				&s->fx, err);
}
