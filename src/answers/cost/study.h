/* Buy or rent: all options over time, for the given work. Must not know how it is shown. */
#pragma once

#include "cost/timeline.h"
#include "predict/predict.h"

#define JL_COST_OPTIONS_MAX 16
#define JL_COST_PAIRS_MAX   32
#define JL_COST_STEP_FRAC   0.2 /* how far sensitivity moves an input */

/* One training run on one option. */
struct jl_cost_work {
	bool known;
	struct jl_err why;            /* when it is not */
	struct jl_estimate elapsed_s; /* run_s with failures, checkpoints and restarts: what is paid */
	struct jl_estimate run_s, run_cost, epoch_cost,
		mtoken_cost;        /* in the study's currency; NAN where not asked for */
	double power_W;             /* what all of it draws at this work, as predicted; 0 or NAN: not known */
	struct jl_estimate run_kWh; /* PUE included; NAN for rents */
	struct jl_notes assumed;    /* assumptions about the run; none where its times are given */
	double run_co2_g;           /* NAN: unknown or rented */
};

struct jl_cost_pair {
	size_t dear, cheap; /* options: dear costs more on the first day */
	const char *dear_name, *cheap_name;
	double days; /* NAN: not within the horizon */
	long day;    /* the date of it, parts of a day counted as a whole one */
	struct jl_cost_swing swings[JL_COST_SWINGS_MAX];
	size_t n_swings;
};

struct jl_cost_paid { /* by the end of so many months */
	int months;
	long day;
	long long micro;
};

struct jl_cost_row { /* an option with all that was found of it */
	const struct jl_cost_option *option;
	const struct jl_cost_line *line;
	const struct jl_cost_work *work; /* NULL: no work was asked about */
	struct jl_cost_paid *paid;       /* month by month */
	size_t n_paid;
};

struct jl_cost_said { /* assumptions */
	bool util, power_price, carbon_region, household;
	const char *carbon_name;
	const char *
		too_large; /* the option that draws more than a household's contract: the general tariff was taken; NULL: none */
	double too_large_kW, contract_kW;
};

struct jl_cost_study {
	struct jl_cost_said assumed;
	struct jl_cost_setting setting;
	struct jl_cost_option options[JL_COST_OPTIONS_MAX];
	struct jl_cost_line lines[JL_COST_OPTIONS_MAX];
	struct jl_cost_work work[JL_COST_OPTIONS_MAX];
	struct jl_cost_row rows[JL_COST_OPTIONS_MAX];
	size_t n_options;
	struct jl_cost_pair pairs[JL_COST_PAIRS_MAX];
	size_t n_pairs;
	bool has_work;
	double runs_per_month; /* NAN: the setting's utilisation stands; where work is asked about, what that makes */
	const struct jl_cost_option *measure; /* the option whose utilisation defines the work; NULL: given */
};

/* setting, options, assumed and runs_per_month are given; `request` (NULL: none) is the training run, its system is each option's. */
enum jl_status jl_cost_study_make(struct jl_cost_study *study, const struct jl_request *request,
				  const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err);

/* The same when the times of a run on each option are known already (an observed run carried to it). */
enum jl_status jl_cost_study_times(struct jl_cost_study *study, const struct jl_catalog *cat, struct jl_arena *arena,
				   struct jl_err *err);

/* Where `word` leaves open who the customer is ("kepco"), a machine that draws more than a household's contract gets the general tariff. */
void jl_cost_take_contract(struct jl_cost_study *study, const struct jl_catalog *cat, const char *word);

/* True if this option can do the work. */
bool jl_cost_does(const struct jl_cost_study *study, size_t option);
bool jl_cost_any_does(const struct jl_cost_study *study);

/* True if no work makes the options equal and their numbers of GPUs differ, or one is not known beside several GPUs. */
bool jl_cost_is_uneven(const struct jl_cost_study *study);

/* Cheapest at the end of the horizon. */
size_t jl_cost_cheapest(const struct jl_cost_study *study, long at_day);

/* Money as JSON. */
extern const struct jl_schema jl_cost_fields;         /* struct jl_cost_study: all that `jeoul cost --json` prints */
extern const struct jl_schema jl_machine_bill_fields; /* struct jl_machine_bill: `jeoul cost --bill-of --json` */
extern const struct jl_schema jl_bill_fields;         /* struct jl_bill_asked: `jeoul cost --bill --json` */
