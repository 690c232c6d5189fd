/* What electricity costs: a flat price, or a tariff of the catalog with its tiers, seasons, bands, base charge, levies and taxes. */
#pragma once

#include "catalog/catalog.h"
#include "cost/money.h"

struct jl_tariff_use {
	long long milli_kWh; /* of the month: thousandths of a kWh */
	int month;           /* 1..12: season */
	double demand_kW;    /* contract demand, for base charges by kW */
	double band_frac[3]; /* off-peak, mid, peak; all 0: the load is constant over the day */
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
	const char *date;     /* oldest of the rows that were used */
	const char *source;   /* of that row */
	bool by_kW;           /* the base charge goes by the contract demand */
	bool borrowed_season; /* the tariff lists no price for this month's season: another season's was taken */
};

/* A bill with its question. */
struct jl_bill_asked {
	const char *tariff;
	const char *newer; /* a later entry of it; NULL: none */
	struct jl_tariff_use use;
	struct jl_bill bill;
};

/* Names, in the order they are shown. */
const char *jl_bill_part_name(enum jl_bill_part part);

/* The tariff's id as the catalog has it: exact, or what the word means ("kepco", "korea", a US state's name). */
enum jl_status jl_tariff_find(const char **ret_id, const struct jl_catalog *cat, const char *name, struct jl_err *err);

/* The tariff of businesses where the word names a utility or a country and no kind of customer ("kepco"); NULL: it names one. */
const char *jl_tariff_general(const char *word);

/* A later entry of the same tariff ("kr-residential-low-2025" of kr-residential-low); NULL: none. */
const char *jl_tariff_newer(const struct jl_catalog *cat, const char *id);

/* "0.12 USD/kWh", "150 KRW/kWh"; `what` names it in the message. */
enum jl_status jl_kwh_price_parse(struct jl_money *ret_money, const char *text, const char *what, struct jl_err *err);

/* The bill of one month. */
enum jl_status jl_tariff_bill(struct jl_bill *ret_bill, const struct jl_catalog *cat, const char *id,
			      const struct jl_tariff_use *use, struct jl_err *err);

/* The site's use without the machine. */
struct jl_tariff_use jl_tariff_before(const struct jl_tariff_use *already);
/* What a month's bill grows by when `more_milli_kWh` are used beside what the household or the site uses already. Progressive tiers
 * make this dearer than the first kWh; where power is charged, it also needs `more_kW`. */
enum jl_status jl_tariff_marginal(struct jl_money *ret_money, const struct jl_catalog *cat, const char *id,
				  const struct jl_tariff_use *already, long long more_milli_kWh, double more_kW,
				  struct jl_err *err);

/* Tiers count what the household uses already. */
bool jl_tariff_is_household(const char *id);
