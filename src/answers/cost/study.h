/* Buy or rent: computes all options' costs over time for the given work. Must not know the output format. */
#pragma once

#include "cost/timeline.h"
#include "predict/predict.h"

#define JL_COST_OPTIONS_MAX 16
#define JL_COST_PAIRS_MAX   32
#define JL_COST_STEP_FRAC   0.2 /* change of an input in the sensitivity analysis */

/* One training run on one option. */
struct jl_cost_work {
	bool known;
	struct jl_err why;            /* reason if not known */
	struct jl_estimate elapsed_s; /* run_s with failures, checkpoints and restarts: the paid time */
	struct jl_estimate run_s, run_cost, epoch_cost, mtoken_cost; /* in the study's currency; NAN: not requested */
	double power_W;             /* total predicted power during this work; 0 or NAN: unknown */
	struct jl_estimate run_kWh; /* PUE included; NAN for rents */
	struct jl_notes assumed;    /* assumptions about the run; empty if its times are given */
	double run_co2_g;           /* NAN: unknown or rented */
};

struct jl_cost_pair {
	size_t dear, cheap; /* option numbers: dear costs more on the first day */
	const char *dear_name, *cheap_name;
	double days; /* NAN: not within the horizon */
	long day;    /* date of the break-even, rounded up to a day */
	struct jl_cost_swing swings[JL_COST_SWINGS_MAX];
	size_t n_swings;
};

struct jl_cost_paid { /* total paid by the end of month `months` */
	int months;
	long day;
	long long micro;
};

struct jl_cost_row { /* an option with its results */
	const struct jl_cost_option *option;
	const struct jl_cost_line *line;
	const struct jl_cost_work *work; /* NULL: no work was given */
	struct jl_cost_paid *paid;       /* month by month */
	size_t n_paid;
};

struct jl_cost_said { /* true: the value is an assumption */
	bool util, power_price, carbon_region, household;
	const char *carbon_name;
	const char *too_large; /* option that exceeds a household contract; NULL: none */
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
	double runs_per_month;                /* NAN: use the setting's utilisation; with work: resulting runs */
	const struct jl_cost_option *measure; /* option whose utilisation defines the work; NULL: the work is given */
};

/* Inputs: setting, options, assumed, runs_per_month. `request` (may be NULL): the training run; its system is replaced by each option's. */
enum jl_status jl_cost_study_make(struct jl_cost_study *study, const struct jl_request *request,
				  const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err);

/* The same with known run times per option (an observed run transferred to it). */
enum jl_status jl_cost_study_times(struct jl_cost_study *study, const struct jl_catalog *cat, struct jl_arena *arena,
				   struct jl_err *err);

/* Uses the general tariff if `word` leaves the kind of customer open ("kepco") and a machine exceeds a household contract. */
void jl_cost_take_contract(struct jl_cost_study *study, const struct jl_catalog *cat, const char *word);

bool jl_cost_does(const struct jl_cost_study *study, size_t option);
bool jl_cost_any_does(const struct jl_cost_study *study);

/* True if options differ in size (numbers of GPUs differ, or one is unknown beside several GPUs) and no work makes them comparable. */
bool jl_cost_is_uneven(const struct jl_cost_study *study);

/* The option with the lowest cost at `at_day`. */
size_t jl_cost_cheapest(const struct jl_cost_study *study, long at_day);

extern const struct jl_schema jl_cost_fields;         /* struct jl_cost_study: `jeoul cost --json` */
extern const struct jl_schema jl_machine_bill_fields; /* struct jl_machine_bill: `jeoul cost --bill-of --json` */
extern const struct jl_schema jl_bill_fields;         /* struct jl_bill_asked: `jeoul cost --bill --json` */
