/* What each option has cost by each day, and when one becomes cheaper than another. */
#pragma once

#include "cost/option.h"
#include "cost/tariff.h"

struct jl_cost_setting {
	enum jl_currency currency; /* of all amounts */
	struct jl_fx fx;
	long start_day, horizon_days;
	long long util_ppm;
	long long pue_ppm;         /* power of the building over that of the machine */
	const char *tariff;        /* id; NULL: the flat price */
	struct jl_money per_kWh;   /* flat */
	struct jl_tariff_use site; /* what is used there already, a month; demand; bands */
	double carbon_gpkWh;       /* NAN: unknown */
};

struct jl_cost_line {
	const struct jl_cost_option *option;
	long long *cum_micro;       /* [horizon_days + 1] in the setting's currency, paid by the end of that day */
	double year_kWh;            /* of the first 365 days, PUE included; 0 for rents */
	struct jl_money year_power; /* what that costs */
	double year_co2_g;          /* NAN: unknown or rented */
	struct jl_money resale;     /* at the end of the horizon or its life, whichever is first; 0 for rents */
	bool borrowed_season, by_kW;
	const char *tariff_date, *tariff_source; /* oldest of its rows; NULL: no tariff */
};

enum jl_status jl_cost_line_make(struct jl_cost_line *ret_line, const struct jl_cost_option *option,
				 const struct jl_cost_setting *setting, const struct jl_catalog *cat,
				 struct jl_arena *arena, struct jl_err *err);

/* Days until `dear` (more on the first day) has cost no more than `cheap`, parts of a day by proportion; NAN: not within the horizon. */
double jl_cost_break_even(const struct jl_cost_line *dear, const struct jl_cost_line *cheap, long horizon_days);

/* Energy of n days in thousandths of a kWh, PUE included. */
long long jl_cost_milli_kWh(const struct jl_cost_option *option, const struct jl_cost_setting *setting, long n_days);

/* What a machine adds to the monthly bills of a year, on top of present use. */
struct jl_machine_bill_month {
	int month; /* 1..12 */
	double kWh;
	struct jl_money without, with, more; /* of the tariff's currency */
};
struct jl_machine_bill {
	const char *name, *tariff;
	double active_W, util_frac, household_kWh;
	double demand_kW;     /* contract demand with the machine; NAN: the tariff does not charge by it */
	struct jl_bill first; /* of January, without the machine; a season borrowed in any month */
	struct jl_machine_bill_month months[12];
	size_t n_months;
	struct jl_money year;
	struct jl_money year_other; /* in the other currency, by the setting's rate */
};
enum jl_status jl_machine_bill_make(struct jl_machine_bill *ret_bill, const struct jl_cost_option *option,
				    const struct jl_cost_setting *setting, const struct jl_catalog *cat,
				    struct jl_err *err);

/* One input moved down and up by `step_frac`, and the break-even that follows. */
struct jl_cost_swing {
	const char *key, *en;
	double lo, hi; /* days at the lowered and the raised input; NAN: never */
	double flip; /* times its value where the cheaper of the two at the horizon is the other; NAN: not within a factor of ten */
	double now; /* its value: money of `currency`, or a number of `unit` */
	bool is_money;
	enum jl_currency currency;
	const char *unit; /* "/h", " W", ...: behind the money or the number */
};
#define JL_COST_SWINGS_MAX 12
/* Largest swing first. */
enum jl_status jl_cost_sensitivity(struct jl_cost_swing ret_swings[JL_COST_SWINGS_MAX], size_t *ret_n,
				   const struct jl_cost_line *dear, const struct jl_cost_line *cheap,
				   const struct jl_cost_setting *setting, double step_frac,
				   const struct jl_catalog *cat, struct jl_err *err);

/* Cost of one hour of work, everything spread over the hours worked in its life (the horizon where it has none). */
enum jl_status jl_cost_per_work_hour(struct jl_money *ret_money, const struct jl_cost_line *line,
				     const struct jl_cost_setting *setting, struct jl_err *err);
