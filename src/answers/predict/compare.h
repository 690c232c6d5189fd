/* One training run on several systems, side by side: a run that was observed on the baseline, or a model.
 *
 * Each system is evaluated in two ways that are never mixed: at the baseline's batch (the same training, with gradient accumulation if it does
 * not fit at once), and at the largest batch that fits in one pass (fewer steps per epoch if larger, but different training). For a pipeline,
 * which keeps its passes, both are the same. */
#pragma once

#include "predict/observed.h"

enum jl_compare_batch { JL_AT_SAME_BATCH, JL_AT_LARGEST_BATCH, JL_N_AT };

struct jl_compare_at {
	bool possible; /* false: see `why` */
	struct jl_err why;
	double batch;       /* samples per step, all devices */
	double micro_batch; /* per device and pass */
	double n_passes;    /* passes per step; 1: no gradient accumulation */
	double batches;     /* steps per epoch at this batch; NAN: unknown */
	struct jl_estimate step_s;
	struct jl_estimate epoch_s, run_s, repeat_s, tune_s; /* NAN: unknown or not requested */
	struct jl_estimate speedup;                          /* samples/s relative to the baseline at its batch */
	struct jl_estimate energy_J;                         /* of the run, or of one step if the epoch is unknown */
	double power_W;
	double power_half_ln; /* uncertainty of power_W, as ln */
	bool host_power;
	bool fits;
	struct jl_step_share part_s; /* observed runs only; NAN otherwise */
};

struct jl_compare_row {
	const char *system;
	struct jl_machine machine;
	int n_devices;
	double limit;            /* largest batch per device and pass; 0: no sample fits; NAN: unknown */
	bool baseline, observed; /* observed: times at the same batch were measured */
	struct jl_compare_at at[JL_N_AT];
	struct jl_plan plan; /* of a model at the same batch; dp 0: none */
	enum jl_framework framework;
};

#define JL_COMPARE_OBSERVED_EPOCHS 10 /* default for observed runs; a model's run has one epoch */
#define JL_COMPARE_MAX             32 /* systems including the baseline */

struct jl_compare_seen { /* the observed run */
	struct jl_observed run;
	struct jl_observed_mix mix;
};

struct jl_compare {
	const struct jl_subject *subject; /* NULL: an observed run was compared */
	struct jl_compare_seen seen;      /* the observed run */
	double epochs, repeat, tune, pue; /* repeat, tune: NAN if not requested */
	size_t n_rows;
	struct jl_compare_row rows[JL_COMPARE_MAX]; /* baseline first */
	struct jl_notes notes;
};

/* Input: `rows[].machine` of n_rows rows, baseline first; sets everything else. */
enum jl_status jl_compare_observed(struct jl_compare *compare, const struct jl_observed *run, struct jl_err *err);

/* The same for a model. A system that cannot run the request has the reason in its row; a baseline that cannot is an error. */
enum jl_status jl_compare_model(struct jl_compare *compare, const struct jl_catalog *cat,
				const struct jl_subject *subject, const struct jl_request *req, struct jl_err *err);
