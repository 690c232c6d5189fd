/* Purchase options of a machine: buy, own, rent by the hour, spot, reserve. Must not know the workload. */
#pragma once

#include "catalog/sysexpr.h"
#include "cost/money.h"
#include "predict/predict.h"
#include "catalog/catalog.h"

enum jl_cost_kind { JL_COST_BUY, JL_COST_OWN, JL_COST_RENT, JL_COST_SPOT, JL_COST_RESERVE, JL_N_COST_KIND };

#define JL_PPM            1000000LL
#define JL_COST_DAYS_MAX  18263 /* 50 years */
#define JL_COST_NAME_MAX  96
#define JL_COST_WATTS_MAX 1e9

/* Years and months count as calendar months, "100 d" as days. Both 0: no period. */
struct jl_cost_period {
	int months;
	long days;
};

/* Days from `start_day` to the end of the n-th repetition of the period; 0: no period. */
long jl_cost_period_end(struct jl_cost_period period, long start_day, long n);
/* Number of repetitions begun by the end of day `d`. The last day of a period does not begin a new one. */
long jl_cost_period_again(struct jl_cost_period period, long start_day, long d);

/* Shares and rates are in millionths, power in milliwatts, so that sums are exact to the cent. */
struct jl_cost_option {
	char name[JL_COST_NAME_MAX];
	enum jl_cost_kind kind;
	bool has_system;
	struct jl_sys system; /* valid if has_system: the catalog knows the name */
	int n_gpus;           /* total number of GPUs; 0: unknown */

	struct jl_money price;      /* buy: paid on the first day; reserve: paid up front per term */
	struct jl_money host;       /* part of the price that is assumed for the host of the catalog's cards */
	struct jl_card_price card;  /* catalog price of one card if it was used: new or used */
	struct jl_card_price other; /* the other one of the new and the used price; usd NAN: none */
	bool bare;                  /* host=owned: the price excludes the host */
	struct jl_cost_period life; /* buy: replaced after this; none: not within the horizon */
	long long resale_ppm;       /* share of the price regained at the end of its life */
	bool resale_market;         /* resale value comes from the catalog's used prices */
	long long finance_ppm;      /* yearly interest on the price */
	long long active_mW, idle_mW;
	bool watts_assumed, watts_predicted, off_when_idle; /* predicted: power of the job in question */

	struct jl_money per_hour;    /* rent, spot, reserve */
	struct jl_cost_period term;  /* reserve: all hours of the term are paid, used or not */
	long long interrupts_ppm;    /* spot: interruptions per paid hour, in millionths */
	long long lost_s, restart_s; /* spot: work lost and restart time per interruption, s */
	bool lost_assumed;           /* spot: lost_s is a default */
	long long save_s;            /* spot: duration of a checkpoint, s; 0: use lost_s */

	struct jl_money per_month; /* hosting, cooling contract, staff */
	const char *price_date;    /* NULL: price given by the user */
	const char *price_source;  /* provider and region, or NULL */
	long long util_ppm;        /* utilisation; 0: use the study's */
};

/* Defaults for spot machines: interrupted in 5 % of the hours, 30 min of work lost, 10 min restart (longer for a whole host of eight GPUs).
 * `save_s`: duration of a checkpoint; the interval is optimal, at most an hour. */
void jl_cost_spot_usual(struct jl_cost_option *option, int n_gpus, double save_s);

const char *jl_cost_kind_key(enum jl_cost_kind kind);
const char *jl_cost_kind_name(enum jl_cost_kind kind); /* translatable name */
bool jl_cost_is_rent(enum jl_cost_kind kind);

/* For option parsing only: sets the catalog price. `beside`: the words after the system's name; modified. */
enum jl_status jl_cost_catalog_rent(struct jl_cost_option *o, char *beside, const char *region,
				    const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err);
enum jl_status jl_cost_catalog_price(struct jl_cost_option *o, const struct jl_catalog *cat, struct jl_err *err);
/* Parses, for example,
 * "rtx-3090 desktop 2200 USD, watts=450 W, idle=60 W, resale=30 %, life=3 y, finance=5 %, hosting=100 USD/month, util=15 %"
 * "aws:p3.2xlarge" (catalog price), "my cloud 2.14 USD/h, interrupts=20 %/h, lost=30 min, restart=5 min, term=1 y".
 * `region` (may be NULL) selects among the catalog's prices. */
enum jl_status jl_cost_option_parse(struct jl_cost_option *ret_option, enum jl_cost_kind kind, const char *text,
				    const char *region, const struct jl_catalog *cat, struct jl_arena *arena,
				    struct jl_err *err);

/* Assumed price of a host for n_cards cards: the catalog has no prices of bare hosts. The output mentions the assumption. */
double jl_cost_host_usd(const struct jl_catalog *cat, const struct jl_gpu *gpu, int n_cards);

/* The nearest region with rental prices in the catalog, possibly `region` itself; NULL: none, or unknown region. */
const char *jl_cost_rents_near(const struct jl_catalog *cat, const char *region);

/* JL_E_NOTFOUND if the region is unknown, or with `rented` if the catalog has no rental price there; the message names the nearest region. */
enum jl_status jl_cost_check_region(const struct jl_catalog *cat, const char *region, bool rented, struct jl_err *err);

/* Young's optimal checkpoint interval, s. 0: checkpoints are not modelled. */
double jl_cost_save_every_s(const struct jl_cost_option *o);

/* Paid hours per hour of work, in millionths; above 1 for spot. JL_E_RANGE: the work would never finish. */
enum jl_status jl_cost_overhead_ppm(long long *ret_ppm, const struct jl_cost_option *option, struct jl_err *err);

/* Resale value of cards, from dated used prices and launch prices in the catalog. */
struct jl_resale { /* share of its value that a card keeps per year; 80 % of the cards lie between lo and hi */
	double yearly_frac, lo, hi;
	size_t n_cards;
};

struct jl_resale jl_resale_curve(const struct jl_catalog *cat);
