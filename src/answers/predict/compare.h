/* One training run on several systems, side by side: a run that was observed on the baseline, or a model.
 *
 * Each system is weighed twice and the two are never mixed: at the baseline's batch (the same training, in several passes where it does
 * not fit at once) and at the largest batch of one pass that fits (fewer steps an epoch where it is larger, but another training). A
 * pipeline keeps its passes: the second is then the first again. */
#pragma once

#include "predict/observed.h"

enum jl_compare_batch { JL_AT_SAME_BATCH, JL_AT_LARGEST_BATCH, JL_N_AT };

struct jl_compare_at {
	bool possible; /* false: `why` has the reason */
	struct jl_err why;
	double batch;       /* samples of a step, all devices */
	double micro_batch; /* of one device and pass */
	double n_passes;    /* passes of a step: 1 is no accumulation */
	double batches;     /* steps of an epoch at this batch; NAN: not known */
	struct jl_estimate step_s;
	struct jl_estimate epoch_s, run_s, repeat_s, tune_s; /* NAN where not known or not asked for */
	struct jl_estimate speedup;                          /* samples a second / the baseline's at its batch */
	struct jl_estimate energy_J;                         /* of the run; of one step where an epoch is not known */
	double power_W;
	double power_half_ln; /* how sure that is */
	bool host_power;
	bool fits;
	struct jl_step_share part_s; /* of an observed run; NAN otherwise */
};

struct jl_compare_row {
	const char *system;
	struct jl_machine machine;
	int n_devices;
	double limit;            /* largest batch of one device and pass; 0: not one sample; NAN: not known */
	bool baseline, observed; /* observed: the times at the same batch were measured */
	struct jl_compare_at at[JL_N_AT];
	struct jl_plan plan; /* of a model, at the same batch; dp 0: none */
	enum jl_framework framework;
};

#define JL_COMPARE_OBSERVED_EPOCHS 10 /* default: what people who time a step plan to run; a model's run is one epoch */
#define JL_COMPARE_MAX             32 /* systems, the baseline among them */

struct jl_compare_seen { /* the run that was observed */
	struct jl_observed run;
	struct jl_observed_mix mix;
};

struct jl_compare {
	const struct jl_subject *subject; /* the model; NULL: a run was compared */
	struct jl_compare_seen seen;      /* that run */
	double epochs, repeat, tune, pue; /* repeat, tune: NAN where not asked for */
	size_t n_rows;
	struct jl_compare_row rows[JL_COMPARE_MAX]; /* the baseline first */
	struct jl_notes notes;
};

/* `rows[].machine` of the first n_rows are given, the baseline's first; everything else is written. */
enum jl_status jl_compare_observed(struct jl_compare *compare, const struct jl_observed *run, struct jl_err *err);

/* The same for a model. A system that cannot run it as asked says why in its row; a baseline that cannot is an error. */
enum jl_status jl_compare_model(struct jl_compare *compare, const struct jl_catalog *cat,
				const struct jl_subject *subject, const struct jl_request *req, struct jl_err *err);
