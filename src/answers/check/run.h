/* Is a training run as it should be? The time series of its log by itself (stalls, drift, shifts, pauses), and its typical step against what
 * the model predicts. Pure. */
#pragma once

#include "base/fields.h"
#include "check/machine_findings.h"
#include "check/verdict.h"
#include "import/runlog.h"
#include "predict/answer.h"

#define JL_RUN_LINES_LEAST 8    /* fewer say nothing about a run */
#define JL_RUN_LOSS_BAD    0.10 /* of the time: the verdict is bad */

enum jl_run_issue {
	JL_RUN_SLOW,       /* the typical step, against the prediction */
	JL_RUN_DRIFT,      /* steps become slower all along */
	JL_RUN_SHIFT,      /* from one step on */
	JL_RUN_BLOCK,      /* from one step on, and back again */
	JL_RUN_PERIODIC,   /* stalls at even distances */
	JL_RUN_STALLS,     /* here and there */
	JL_RUN_JITTER,     /* many steps are longer than half of them */
	JL_RUN_CHECKPOINT, /* time that checkpoints hold the run */
	JL_RUN_EVALUATION,
	JL_RUN_RESTART,
	JL_N_RUN_ISSUE
};

struct jl_run_finding {
	enum jl_run_issue issue;
	const char *key;       /* in JSON */
	double at_step;        /* where it begins, or is worst; NAN: everywhere */
	double to_step;        /* where it ends; NAN: it does not, or is in many places */
	double loss_frac;      /* of the elapsed time that would be won; NAN: not known */
	struct jl_bitext what; /* one sentence, with its figures */
	struct jl_bitext todo;
};

struct jl_run_view {
	const struct jl_runlog *log;
	struct jl_run_spent spent;
	double step_s, step_s_p10, step_s_p90; /* of steps after warm-up and beside pauses */
	double step_s_lo95, step_s_hi95; /* of the typical step: how lines differ, and their digits or whole seconds */
	double off_frac;                 /* of one line's step: so far its digits or the clock let it be off */
	double tokens_per_s, samples_per_s, flopps, mfu_frac, mem_B; /* medians; as the log has them */
	bool per_gpu;
	double drift_frac;        /* last fifth over the first; NAN: too short */
	double period_steps;      /* of stalls; NAN: none */
	const struct jl_job *job; /* NULL: not asked for */
	struct jl_expect expect;  /* of step_s, with job */
	enum jl_verdict verdict;
	size_t n_findings;
	struct jl_run_finding findings[JL_N_RUN_ISSUE]; /* what costs most first */
	size_t n_advice;
	const struct jl_advice *advice; /* what would make the step itself faster, with job */
};

/* job: NULL where no model and system were named. */
enum jl_status jl_run_judge(struct jl_run_view *ret_view, const struct jl_runlog *log, const struct jl_job *job,
			    struct jl_arena *arena, struct jl_err *err);
bool jl_run_is_bad(const struct jl_run_view *view);

extern const struct jl_schema jl_run_fields; /* struct jl_run_view: what `jeoul check train.log --json` prints */
