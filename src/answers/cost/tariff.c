/* Computes electricity bills from the catalog's tariffs. */
#include "cost/tariff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/near.h"
#include "base/units.h"

#define WON_10 (10 * JL_MICRO)

static const struct {
	const char *component, *en;
} parts[JL_N_BILL_PART] = {
	[JL_BILL_BASE] = { "base", JL_N("base charge") },
	[JL_BILL_ENERGY] = { "energy", JL_NC("tariff", "energy") },
	[JL_BILL_CLIMATE] = { "climate", JL_N("climate charge") },
	[JL_BILL_FUEL] = { "fuel", JL_N("fuel adjustment") },
	[JL_BILL_VAT] = { "vat", JL_N("VAT") },
	[JL_BILL_FUND] = { "fund", JL_N("power industry fund") },
};

const char *jl_bill_part_name(enum jl_bill_part part)
{
	return jl_msg(parts[part].en);
}

/* Common names of tariffs. */
static const struct {
	const char *word, *id;
	const char *general; /* tariff for businesses; used when the word leaves the kind of customer open */
} words[] = {
	{ "kepco", "kr-residential-low", "kr-general-1-low" },
	{ "kepco-residential", "kr-residential-low", NULL },
	{ "korea", "kr-residential-low", "kr-general-1-low" },
	{ "한전", "kr-residential-low", "kr-general-1-low" },
	{ "주택용", "kr-residential-low", NULL },
	{ "주택용 저압", "kr-residential-low", NULL },
	{ "주택용 고압", "kr-residential-high", NULL },
	{ "kepco-industrial", "kr-industrial-1-low", NULL },
	{ "산업용", "kr-industrial-1-low", NULL },
	{ "kepco-2025", "kr-residential-low-2025", NULL },
	{ "kepco-general", "kr-general-1-low", NULL },
	{ "일반용", "kr-general-1-low", NULL },
	{ "kepco-educational", "kr-educational-1-low", NULL },
	{ "kepco-edu", "kr-educational-1-low", NULL },
	{ "교육용", "kr-educational-1-low", NULL },
};

enum jl_status jl_tariff_find(const char **ret_id, const struct jl_catalog *cat, const char *name, struct jl_err *err)
{
	const char *near = NULL;
	size_t best = 4; /* maximum edit distance for a suggestion */

	for (size_t i = 0; i < JL_LEN(words); i++)
		if (strcasecmp(words[i].word, name) == 0) { /* a word means its newest entry */
			const char *newer = jl_tariff_newer(cat, words[i].id);

			name = newer ? newer : words[i].id;
			break;
		} else if (jl_near_distance(words[i].word, name, 2) < 2) {
			best = 2;
			near = words[i].word;
		}
	for (size_t i = 0; i < cat->n_tariffs; i++) {
		const struct jl_tariff *t = &cat->tariffs[i];
		const char *state = strncmp(t->id, "us-", 3) == 0 ? t->id + 3 : t->id;
		size_t d;

		if (strcasecmp(t->id, name) == 0 || strcasecmp(state, name) == 0) {
			*ret_id = t->id;
			return JL_OK;
		}
		d = jl_near_distance(t->id, name, best);
		if (d < best) {
			best = d;
			near = t->id;
		}
	}
	if (near)
		return jl_fail(err, JL_E_NOTFOUND,
			       "no tariff '%s' in the catalog; did you mean %s? (jeoul catalog list tariffs)", name,
			       near);
	return jl_fail(err, JL_E_NOTFOUND, "no tariff '%s' in the catalog; see: jeoul catalog list tariffs", name);
}

const char *jl_tariff_general(const char *word)
{
	for (size_t i = 0; i < JL_LEN(words); i++)
		if (strcasecmp(words[i].word, word) == 0)
			return words[i].general;
	return NULL;
}

const char *jl_tariff_newer(const struct jl_catalog *cat, const char *id)
{
	const size_t len = strlen(id);
	const char *best = NULL;

	for (size_t i = 0; i < cat->n_tariffs; i++) {
		const char *other = cat->tariffs[i].id;

		if (strncmp(other, id, len) == 0 && strncmp(other + len, "-20", 3) == 0 &&
		    (!best || strcmp(other, best) > 0))
			best = other;
	}
	return best;
}

/* KEPCO's seasons. Residential tiers: July and August; for large consumers also December to February. Other tariffs: three price seasons. */
static bool in_season(const char *season, int month)
{
	if (!season)
		return true;
	if (strcmp(season, "dec-feb") == 0)
		return month == 12 || month <= 2;
	if (strcmp(season, "rest") == 0)
		return (month >= 3 && month <= 6) || (month >= 9 && month <= 11);
	if (strcmp(season, "other") == 0)
		return month != 7 && month != 8;
	if (strcmp(season, "winter") == 0)
		return month >= 11 || month <= 2;
	if (strcmp(season, "spring/fall") == 0)
		return (month >= 3 && month <= 5) || month == 9 || month == 10;
	return false; /* summer depends on the tariff, see below */
}

static bool in_summer(const struct jl_catalog *cat, const char *id, int month)
{
	for (size_t i = 0; i < cat->n_tariffs; i++)
		if (strcmp(cat->tariffs[i].id, id) == 0 && cat->tariffs[i].season &&
		    (strcmp(cat->tariffs[i].season, "other") == 0 || strcmp(cat->tariffs[i].season, "rest") == 0))
			return month == 7 || month == 8;
	return month >= 6 && month <= 8;
}

static bool applies(const struct jl_catalog *cat, const struct jl_tariff *t, int month)
{
	if (t->season && strcmp(t->season, "summer") == 0)
		return in_summer(cat, t->id, month);
	return in_season(t->season, month);
}

struct rate {
	long long micro; /* price per kWh, per month, or per kW and month */
	bool per_kW;
	double frac; /* share, for "10 %"; NAN otherwise */
	enum jl_currency currency;
};

static enum jl_status read_rate(struct rate *ret_rate, const struct jl_tariff *t, struct jl_err *err)
{
	struct rate r = { .frac = NAN };
	char *end = NULL;
	const double number = strtod(t->value, &end);

	while (end && *end == ' ')
		end++;
	if (!end || end == t->value)
		return jl_fail(err, JL_E_DATA, "tariff %s: '%s' is not a price", t->id, t->value);
	if (*end == '%')
		r.frac = number / 100;
	r.currency = strncmp(end, "KRW", 3) == 0 ? JL_KRW : JL_USD;
	r.per_kW = strstr(end, "/kW/") != NULL;
	r.micro = jl_money_from(number, r.currency).micro;
	*ret_rate = r;
	return JL_OK;
}

/* Shares of a constant load in KEPCO's bands on a working day: 10 h off-peak, 8 h mid, 6 h peak. */
static const double constant_load[3] = { 10.0 / 24, 8.0 / 24, 6.0 / 24 };
static const char *const bands[3] = { "off-peak", "mid", "peak" };

static long long band_milli(const struct jl_tariff *t, const struct jl_tariff_use *use)
{
	const double *share = use->band_frac;

	if (!t->band)
		return use->milli_kWh;
	if (share[0] + share[1] + share[2] <= 0)
		share = constant_load;
	for (int b = 0; b < 3; b++)
		if (strcmp(bands[b], t->band) == 0)
			return llround((double)use->milli_kWh * share[b]);
	return 0;
}

/* Consumption within this row's tier, thousandths of a kWh. */
static long long tier_milli(const struct jl_tariff *t, long long milli_kWh)
{
	const long long from = isnan(t->from_kWh) ? 0 : llround(t->from_kWh * 1000);
	const long long to = isnan(t->to_kWh) ? milli_kWh : llround(t->to_kWh * 1000);
	const long long upper = milli_kWh < to ? milli_kWh : to;

	return upper > from ? upper - from : 0;
}

static long long whole_won(long long micro, long long step)
{
	return micro / step * step; /* KEPCO rounds down */
}

static bool base_applies(const struct jl_tariff *t, const struct jl_tariff_use *use)
{
	const double kWh = (double)use->milli_kWh / 1000;
	const bool low = isnan(t->from_kWh) || t->from_kWh <= 0 || kWh > t->from_kWh;

	return low && (isnan(t->to_kWh) || kWh <= t->to_kWh);
}

static long long charge(const struct jl_tariff *t, const struct rate *r, enum jl_bill_part part,
			const struct jl_tariff_use *use)
{
	if (part == JL_BILL_BASE) {
		if (r->per_kW)
			return jl_micro_scale(r->micro, llround(use->demand_kW * 1000), 1000);
		return base_applies(t, use) ? r->micro : 0;
	}
	return jl_micro_scale(r->micro, tier_milli(t, band_milli(t, use)), 1000);
}

/* "average" rows are all-in prices of a US state's households; they count as energy. */
static int part_of(const struct jl_tariff *t)
{
	if (strcmp(t->component, "average") == 0)
		return JL_BILL_ENERGY;
	for (int p = 0; p < JL_N_BILL_PART; p++)
		if (strcmp(parts[p].component, t->component) == 0)
			return p;
	return -1;
}

static bool has_season(const struct jl_catalog *cat, const char *id, int month)
{
	for (size_t i = 0; i < cat->n_tariffs; i++) {
		const struct jl_tariff *t = &cat->tariffs[i];
		if (strcmp(t->id, id) == 0 && part_of(t) == JL_BILL_ENERGY && applies(cat, t, month))
			return true;
	}
	return false;
}

static enum jl_status add_rows(struct jl_bill *bill, double frac[JL_N_BILL_PART], const struct jl_catalog *cat,
			       const char *id, const struct jl_tariff_use *use, struct jl_err *err)
{
	for (size_t i = 0; i < cat->n_tariffs; i++) {
		const struct jl_tariff *t = &cat->tariffs[i];
		const int part = strcmp(t->id, id) == 0 ? part_of(t) : -1;
		struct rate r = { .frac = NAN };

		if (part < 0 || !applies(cat, t, use->month))
			continue;
		JL_TRY(read_rate(&r, t, err));
		if (!bill->date || strcmp(t->date, bill->date) < 0) {
			bill->date = t->date;
			bill->source = t->source;
		}
		if (!isnan(r.frac)) {
			frac[part] += r.frac;
			continue;
		}
		bill->currency = r.currency;
		bill->by_kW |= part == JL_BILL_BASE && r.per_kW;
		bill->parts[part].micro += charge(t, &r, (enum jl_bill_part)part, use);
	}
	return JL_OK;
}

enum jl_status jl_tariff_bill(struct jl_bill *ret_bill, const struct jl_catalog *cat, const char *id,
			      const struct jl_tariff_use *use, struct jl_err *err)
{
	struct jl_bill bill = { 0 };
	struct jl_tariff_use in = *use;
	double frac[JL_N_BILL_PART] = { 0 };
	long long before_tax = 0, total = 0;

	if (!has_season(cat, id, in.month)) {
		bill.borrowed_season = true;
		in.month = 1; /* every seasonal tariff has a winter price */
	}
	JL_TRY(add_rows(&bill, frac, cat, id, &in, err));
	for (int p = 0; p < JL_N_BILL_PART; p++) {
		bill.parts[p].currency = bill.currency;
		if (bill.currency == JL_KRW)
			bill.parts[p].micro = whole_won(bill.parts[p].micro, JL_MICRO);
		before_tax += bill.parts[p].micro;
	}
	for (int p = 0; p < JL_N_BILL_PART; p++) {
		if (frac[p] <= 0)
			continue;
		bill.parts[p].micro = jl_micro_scale(before_tax, llround(frac[p] * 1e6), JL_MICRO);
		/* VAT is rounded to the won, half up; the fund is rounded down to ten won */
		if (bill.currency == JL_KRW)
			bill.parts[p].micro = p == JL_BILL_FUND
						      ? whole_won(bill.parts[p].micro, WON_10)
						      : whole_won(bill.parts[p].micro + JL_MICRO / 2, JL_MICRO);
	}
	for (int p = 0; p < JL_N_BILL_PART; p++)
		total += bill.parts[p].micro;
	bill.total = (struct jl_money){ .micro = total, .currency = bill.currency };
	*ret_bill = bill;
	return JL_OK;
}

/* If the site has consumption, its contract exists and the machine's demand is added; otherwise the contract is for the machine alone. */
struct jl_tariff_use jl_tariff_before(const struct jl_tariff_use *already)
{
	struct jl_tariff_use before = *already;

	before.demand_kW = already->milli_kWh > 0 ? already->demand_kW : 0;
	return before;
}

enum jl_status jl_tariff_marginal(struct jl_money *ret_money, const struct jl_catalog *cat, const char *id,
				  const struct jl_tariff_use *already, long long more_milli_kWh, double more_kW,
				  struct jl_err *err)
{
	struct jl_tariff_use more = *already;
	const struct jl_tariff_use before = jl_tariff_before(already);
	struct jl_bill with, without;

	more.demand_kW = already->milli_kWh > 0 ? already->demand_kW + more_kW : fmax(already->demand_kW, more_kW);
	more.milli_kWh += more_milli_kWh;
	JL_TRY(jl_tariff_bill(&with, cat, id, &more, err));
	JL_TRY(jl_tariff_bill(&without, cat, id, &before, err));
	*ret_money = (struct jl_money){ .micro = with.total.micro - without.total.micro, .currency = with.currency };
	return JL_OK;
}

bool jl_tariff_is_household(const char *id)
{
	return strstr(id, "residential") != NULL;
}

enum jl_status jl_kwh_price_parse(struct jl_money *ret_money, const char *text, const char *what, struct jl_err *err)
{
	struct jl_err first;
	double per_J;

	if (jl_units_parse(&per_J, text, JL_K_USD_ENERGY, what, &first) == JL_OK)
		*ret_money = jl_money_from(per_J * 3.6e6, JL_USD);
	else if (jl_units_parse(&per_J, text, JL_K_KRW_ENERGY, what, err) == JL_OK)
		*ret_money = jl_money_from(per_J * 3.6e6, JL_KRW);
	else
		return jl_fail(err, JL_E_UNIT,
			       "%s: '%s' is not an electricity price; write e.g. 0.12 USD/kWh or 150 KRW/kWh", what,
			       text);
	if (ret_money->micro < 0)
		return jl_fail(err, JL_E_RANGE, "%s: '%s' is below zero", what, text);
	return JL_OK;
}
