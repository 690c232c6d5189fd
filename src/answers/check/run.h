/* Judges a training run: its log as a time series (stalls, drift, shifts, pauses), and its typical step by the prediction. Pure. */
#pragma once

#include "base/fields.h"
#include "check/machine_findings.h"
#include "check/verdict.h"
#include "import/runlog.h"
#include "predict/answer.h"

#define JL_RUN_LINES_LEAST 8    /* fewer are not judged */
#define JL_RUN_LOSS_BAD    0.10 /* share of the time: verdict low */

enum jl_run_issue {
	JL_RUN_SLOW,       /* typical step slower than predicted */
	JL_RUN_DRIFT,      /* steps slow down steadily */
	JL_RUN_SHIFT,      /* slower from one step on */
	JL_RUN_BLOCK,      /* slower for one interval */
	JL_RUN_PERIODIC,   /* at regular distances */
	JL_RUN_STALLS,     /* at irregular distances */
	JL_RUN_JITTER,     /* many steps are longer than the median */
	JL_RUN_CHECKPOINT, /* time stalled by checkpoints */
	JL_RUN_EVALUATION,
	JL_RUN_RESTART,
	JL_N_RUN_ISSUE
};

struct jl_run_finding {
	enum jl_run_issue issue;
	const char *key;       /* in JSON */
	double at_step;        /* start, or worst place; NAN: everywhere */
	double to_step;        /* end; NAN: none, or several places */
	double loss_frac;      /* share of the elapsed time that could be saved; NAN: not known */
	struct jl_bitext what; /* one sentence, with its figures */
	struct jl_bitext todo;
};

struct jl_run_view {
	const struct jl_runlog *log;
	struct jl_run_spent spent;
	double step_s, step_s_p10, step_s_p90; /* after warm-up, without pauses */
	double step_s_lo95, step_s_hi95;       /* of the typical step: spread of lines and rounding */
	double off_frac;                       /* rounding error of one line's step */
	double tokens_per_s, samples_per_s, flopps, mfu_frac, mem_B; /* medians; as logged */
	bool per_gpu;
	double drift_frac;        /* last fifth over the first; NAN: too short */
	double period_steps;      /* of stalls; NAN: none */
	const struct jl_job *job; /* NULL: no model and system given */
	struct jl_expect expect;  /* of step_s, with job */
	enum jl_verdict verdict;
	size_t n_findings;
	struct jl_run_finding findings[JL_N_RUN_ISSUE]; /* most expensive first */
	size_t n_advice;
	const struct jl_advice *advice; /* changes that make the step faster, with job */
};

/* job: NULL where no model and system were named. */
enum jl_status jl_run_judge(struct jl_run_view *ret_view, const struct jl_runlog *log, const struct jl_job *job,
			    struct jl_arena *arena, struct jl_err *err);
bool jl_run_is_bad(const struct jl_run_view *view);

extern const struct jl_schema jl_run_fields; /* struct jl_run_view: what `jeoul check train.log --json` prints */
