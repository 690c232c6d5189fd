/* Cumulative cost of each option by day, and the break-even day of two options. */
#pragma once

#include "cost/option.h"
#include "cost/tariff.h"

struct jl_cost_setting {
	enum jl_currency currency; /* currency of all amounts */
	struct jl_fx fx;
	long start_day, horizon_days;
	long long util_ppm;
	long long pue_ppm;         /* power usage effectiveness: building power over machine power */
	const char *tariff;        /* id; NULL: flat price per_kWh */
	struct jl_money per_kWh;   /* flat */
	struct jl_tariff_use site; /* existing monthly consumption, demand and bands */
	double carbon_gpkWh;       /* NAN: unknown */
};

struct jl_cost_line {
	const struct jl_cost_option *option;
	long long *cum_micro; /* [horizon_days + 1]: total paid by the end of each day, in the setting's currency */
	double year_kWh;      /* first 365 days, with PUE; 0 for rents */
	struct jl_money year_power; /* cost of year_kWh */
	double year_co2_g;          /* NAN: unknown or rented */
	struct jl_money resale;     /* at the end of the horizon or of its life, whichever is first; 0 for rents */
	bool borrowed_season, by_kW;
	const char *tariff_date, *tariff_source; /* of the oldest row used; NULL: no tariff */
};

enum jl_status jl_cost_line_make(struct jl_cost_line *ret_line, const struct jl_cost_option *option,
				 const struct jl_cost_setting *setting, const struct jl_catalog *cat,
				 struct jl_arena *arena, struct jl_err *err);

/* Days until `dear` (the option with the higher first payment) costs no more than `cheap`, with fractions of a day; NAN: not within the horizon. */
double jl_cost_break_even(const struct jl_cost_line *dear, const struct jl_cost_line *cheap, long horizon_days);

/* Energy of n days, thousandths of a kWh, with PUE. */
long long jl_cost_milli_kWh(const struct jl_cost_option *option, const struct jl_cost_setting *setting, long n_days);

/* Increase of the monthly bills of a year by a machine. */
struct jl_machine_bill_month {
	int month; /* 1..12 */
	double kWh;
	struct jl_money without, with, more; /* in the tariff's currency */
};
struct jl_machine_bill {
	const char *name, *tariff;
	double active_W, util_frac, household_kWh;
	double demand_kW;     /* contract demand with the machine; NAN: the tariff does not charge for demand */
	struct jl_bill first; /* January's bill without the machine; borrowed_season is set if any month borrowed */
	struct jl_machine_bill_month months[12];
	size_t n_months;
	struct jl_money year;
	struct jl_money year_other; /* in the other currency */
};
enum jl_status jl_machine_bill_make(struct jl_machine_bill *ret_bill, const struct jl_cost_option *option,
				    const struct jl_cost_setting *setting, const struct jl_catalog *cat,
				    struct jl_err *err);

/* Effect on the break-even of changing one input by `step_frac`. */
struct jl_cost_swing {
	const char *key, *en;
	double lo, hi; /* break-even days with the lowered and the raised input; NAN: never */
	/* factor on the input that reverses which option is cheaper at the horizon; NAN: none between 0.1 and 10 */
	double flip;
	double now; /* current value: money in `currency`, or a number in `unit` */
	bool is_money;
	enum jl_currency currency;
	const char *unit; /* text after the value: "/h", " W", ... */
};
#define JL_COST_SWINGS_MAX 12
/* Largest swing first. */
enum jl_status jl_cost_sensitivity(struct jl_cost_swing ret_swings[JL_COST_SWINGS_MAX], size_t *ret_n,
				   const struct jl_cost_line *dear, const struct jl_cost_line *cheap,
				   const struct jl_cost_setting *setting, double step_frac,
				   const struct jl_catalog *cat, struct jl_err *err);

/* Cost per hour of work: total cost minus resale, over the hours worked in the option's life or the horizon, whichever is shorter. */
enum jl_status jl_cost_per_work_hour(struct jl_money *ret_money, const struct jl_cost_line *line,
				     const struct jl_cost_setting *setting, struct jl_err *err);
