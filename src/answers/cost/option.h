/* Purchase options of a machine: buy, own, rent by the hour, spot, reserve. Must not know the work. */
#pragma once

#include "catalog/sysexpr.h"
#include "cost/money.h"
#include "predict/predict.h"
#include "catalog/catalog.h"

enum jl_cost_kind { JL_COST_BUY, JL_COST_OWN, JL_COST_RENT, JL_COST_SPOT, JL_COST_RESERVE, JL_N_COST_KIND };

#define JL_PPM            1000000LL
#define JL_COST_DAYS_MAX  18263 /* fifty years */
#define JL_COST_NAME_MAX  96
#define JL_COST_WATTS_MAX 1e9

/* "3 y" and "6 months" are calendar months; "100 d" are days. Both 0: none. */
struct jl_cost_period {
	int months;
	long days;
};

/* Days from `start_day` to the end of the period's n-th repetition; 0: no period. */
long jl_cost_period_end(struct jl_cost_period period, long start_day, long n);
/* Repetitions begun by the end of day `d`; the last day of a period does not begin one. */
long jl_cost_period_again(struct jl_cost_period period, long start_day, long d);

/* Shares and rates in millionths, powers in milliwatts: sums are exact to the cent. */
struct jl_cost_option {
	char name[JL_COST_NAME_MAX];
	enum jl_cost_kind kind;
	bool has_system;
	struct jl_sys system; /* the system, where the catalog knows the name */
	int n_gpus;           /* GPUs in all; 0: not known */

	struct jl_money price;      /* buy: paid on the first day; reserve: paid up front for each term */
	struct jl_money host;       /* of the price: what is assumed for the host around the catalog's cards */
	struct jl_card_price card;  /* the catalog's price of one card, if it was taken: new or used */
	struct jl_card_price other; /* the other of new and used; usd NAN: no price */
	bool bare;                  /* host=owned: the price has no host */
	struct jl_cost_period life; /* buy: bought again after this; none: never within the horizon */
	long long resale_ppm;       /* of the price, at the end of its life */
	bool resale_market;         /* resale by the catalog's used prices */
	long long finance_ppm;      /* interest a year on the price */
	long long active_mW, idle_mW;
	bool watts_assumed, watts_predicted, off_when_idle; /* predicted: of the run that is asked about */

	struct jl_money per_hour;    /* rent, spot, reserve */
	struct jl_cost_period term;  /* reserve: every hour of the term is paid, used or not */
	long long interrupts_ppm;    /* spot: interruptions per paid hour */
	long long lost_s, restart_s; /* spot: work lost and time to come back, each time */
	bool lost_assumed;           /* spot: the loss per interruption is a default */
	long long save_s;            /* spot: one checkpoint takes this; 0: lost_s is as said */

	struct jl_money per_month; /* hosting, cooling contract, staff hours */
	const char *price_date;    /* NULL: given by the user */
	const char *price_source;  /* provider and region, or NULL */
	long long util_ppm;        /* utilisation; 0: the study's */
};

/* Defaults of spot machines: taken away 5 % of the hours, half an hour of work lost, ten minutes to come back; a whole host of eight
 * is not to be had again at once. `save_s`: what one checkpoint takes; it is made as often as loses least, at most every hour. */
void jl_cost_spot_usual(struct jl_cost_option *option, int n_gpus, double save_s);

const char *jl_cost_kind_key(enum jl_cost_kind kind);
const char *jl_cost_kind_name(enum jl_cost_kind kind); /* a message */
bool jl_cost_is_rent(enum jl_cost_kind kind);

/* Inside the reading of options only: the price of one by the catalog. `beside`: what is written behind the system's name, taken apart. */
enum jl_status jl_cost_catalog_rent(struct jl_cost_option *o, char *beside, const char *region,
				    const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err);
enum jl_status jl_cost_catalog_price(struct jl_cost_option *o, const struct jl_catalog *cat, struct jl_err *err);
/* "rtx-3090 desktop 2200 USD, watts=450 W, idle=60 W, resale=30 %, life=3 y, finance=5 %, hosting=100 USD/month, util=15 %"
 * "aws:p3.2xlarge" (the catalog's price), "my cloud 2.14 USD/h, interrupts=20 %/h, lost=30 min, restart=5 min, term=1 y".
 * `region` (may be NULL) chooses among the catalog's prices. */
enum jl_status jl_cost_option_parse(struct jl_cost_option *ret_option, enum jl_cost_kind kind, const char *text,
				    const char *region, const struct jl_catalog *cat, struct jl_arena *arena,
				    struct jl_err *err);

/* What a host around so many cards costs: assumed, since no row of the catalog prices a bare host, and said wherever it is used. */
double jl_cost_host_usd(const struct jl_catalog *cat, const struct jl_gpu *gpu, int n_cards);

/* The nearest place with rents in the catalog, itself where it has some; NULL: none, or the place is not known. */
const char *jl_cost_rents_near(const struct jl_catalog *cat, const char *region);

/* JL_E_NOTFOUND if the place is not known; with `rented` also if the catalog has no rent there: the message names the nearest place. */
enum jl_status jl_cost_check_region(const struct jl_catalog *cat, const char *region, bool rented, struct jl_err *err);

/* Optimal checkpoint interval (Young): saving against lost work. 0: checkpoints are not modelled. */
double jl_cost_save_every_s(const struct jl_cost_option *o);

/* Paid hours for one hour of work, in millionths: spot loses some. JL_E_RANGE when it would never finish. */
enum jl_status jl_cost_overhead_ppm(long long *ret_ppm, const struct jl_cost_option *option, struct jl_err *err);

/* What a used card is worth: from the dated second-hand prices of the catalog against the list prices at launch. */
struct jl_resale { /* of its price, what a card keeps from one year to the next; 80 % of the cards lie between lo and hi */
	double yearly_frac, lo, hi;
	size_t n_cards;
};

struct jl_resale jl_resale_curve(const struct jl_catalog *cat);
