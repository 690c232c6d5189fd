/* Electricity prices: a flat price, or a tariff of the catalog with tiers, seasons, bands, base charge, levies and taxes. */
#pragma once

#include "catalog/catalog.h"
#include "cost/money.h"

struct jl_tariff_use {
	long long milli_kWh; /* monthly consumption, thousandths of a kWh */
	int month;           /* 1..12, selects the season */
	double demand_kW;    /* contract demand, for base charges per kW */
	double band_frac[3]; /* shares of off-peak, mid, peak; all 0: constant load */
};

enum jl_bill_part {
	JL_BILL_BASE,
	JL_BILL_ENERGY,
	JL_BILL_CLIMATE,
	JL_BILL_FUEL,
	JL_BILL_VAT,
	JL_BILL_FUND,
	JL_N_BILL_PART
};

struct jl_bill {
	enum jl_currency currency;
	struct jl_money parts[JL_N_BILL_PART];
	struct jl_money total;
	const char *date;     /* oldest date among the rows used */
	const char *source;   /* of that row */
	bool by_kW;           /* the base charge depends on the contract demand */
	bool borrowed_season; /* the tariff has no price for this month's season: another season's is used */
};

/* A bill and its parameters. */
struct jl_bill_asked {
	const char *tariff;
	const char *newer; /* id of a newer version; NULL: none */
	struct jl_tariff_use use;
	struct jl_bill bill;
};

/* Names, in display order. */
const char *jl_bill_part_name(enum jl_bill_part part);

/* Finds a tariff of the catalog: by its exact id, or by a word ("kepco", "korea", a US state's name). */
enum jl_status jl_tariff_find(const char **ret_id, const struct jl_catalog *cat, const char *name, struct jl_err *err);

/* The business tariff for a word that names a utility or country but no kind of customer ("kepco"); NULL otherwise. */
const char *jl_tariff_general(const char *word);

/* A newer version of the same tariff ("kr-residential-low-2025" of kr-residential-low); NULL: none. */
const char *jl_tariff_newer(const struct jl_catalog *cat, const char *id);

/* Parses "0.12 USD/kWh", "150 KRW/kWh"; `what` names the value in messages. */
enum jl_status jl_kwh_price_parse(struct jl_money *ret_money, const char *text, const char *what, struct jl_err *err);

/* The bill of one month. */
enum jl_status jl_tariff_bill(struct jl_bill *ret_bill, const struct jl_catalog *cat, const char *id,
			      const struct jl_tariff_use *use, struct jl_err *err);

/* The site's use without the machine. */
struct jl_tariff_use jl_tariff_before(const struct jl_tariff_use *already);
/* Increase of a month's bill by `more_milli_kWh` on top of existing consumption: progressive tiers make it more expensive than the first kWh.
 * `more_kW` matters where demand is charged. */
enum jl_status jl_tariff_marginal(struct jl_money *ret_money, const struct jl_catalog *cat, const char *id,
				  const struct jl_tariff_use *already, long long more_milli_kWh, double more_kW,
				  struct jl_err *err);

/* True if consumption tiers depend on what the household already uses. */
bool jl_tariff_is_household(const char *id);
