/* A training run from its log: steps in order, pauses, restarts. The importers (train.c) extract the values; this module collects them and divides
 * the elapsed time. Knows no model and no machine. */
#pragma once

#include "base/arena.h"
#include "import/import.h"

#define JL_RUNLOG_STEPS_MAX  1000000 /* later steps are dropped, and `cut` is set */
#define JL_RUNLOG_PAUSES_MAX 100000

/* NAN: not in the log. */
struct jl_run_step {
	const char *trainer, *label; /* label: distinguishes series in one log; valid during the call only */
	size_t line;
	double step, epoch, n_total, batch, seq;
	double at_s;   /* time of the line, seconds since 1970 or since the log's first timestamp; NAN: no timestamps */
	double step_s; /* seconds per step: from the log, from rates and batch, or from timestamps and step numbers */
	double tokens_per_s, samples_per_s; /* whole job; but see per_gpu */
	double flopps;                      /* FLOP/s per GPU */
	double loss;
	double mfu_frac, mem_B; /* mem_B: per GPU, maximum so far */
	bool per_gpu;           /* tokens_per_s is per GPU */
	double off_frac;        /* relative error of step_s by its digits, or by the resolution of timestamps */
	double n_mean;          /* number of steps that step_s averages; 0: all steps since the previous line */
	size_t timed;           /* first step from here whose step_s is known; n_steps: none */
};

enum jl_pause { JL_PAUSE_CHECKPOINT, JL_PAUSE_EVALUATION, JL_PAUSE_RESTART };

struct jl_run_pause {
	enum jl_pause kind;
	size_t line;
	size_t after;  /* steps[after - 1] is the last step before it, after <= n_steps; 0: none */
	double step;   /* step number; restart: the step from which the run continues */
	double at_s;   /* time of the pause, as for steps */
	double took_s; /* duration as in the log; NAN: unknown */
};

struct jl_runlog {
	const char *trainer; /* string literal: "torchtitan", "Megatron-LM", ...; NULL: no steps found */
	struct jl_run_step *steps;
	size_t n_steps;
	struct jl_run_pause *pauses;
	size_t n_pauses;
	double n_gpus, batch, seq, n_total; /* global batch in sequences; planned steps */
	double clock_s;                     /* resolution of at_s: 1 where all are whole seconds, else 0 */
	bool cut;
};

/* Collects results of jl_import_stream: pass `step` and `pause` as its sink, and this struct as their context. */
struct jl_runlog_reader {
	struct jl_runlog log;
	struct jl_arena *arena;
	size_t room, pause_room;
	bool failed;
	char label[64];
};
void jl_runlog_begin(struct jl_runlog_reader *reader, struct jl_arena *arena);
void jl_runlog_step(void *reader, const struct jl_run_step *step);
void jl_runlog_pause(void *reader, const struct jl_run_pause *pause);
/* Computes derived values: step times, restarts. JL_E_PARSE: no steps. */
enum jl_status jl_runlog_end(struct jl_runlog *ret_log, struct jl_runlog_reader *reader, struct jl_err *err);

/* Elapsed time by cause, in seconds. Every step counts its typical time (median of nearby steps) as useful; the excess belongs to an adjacent
 * pause, or is a stall. */
struct jl_run_spent {
	double elapsed_s; /* all steps and pauses, from the first step to the last */
	double useful_s, checkpoint_s, evaluation_s, stall_s;
	double restart_s;  /* from the last step before to the first step after; NAN: restarts without timestamps */
	double repeated_s; /* steps repeated after a restart */
	double warmup_s;   /* first steps of each start, beyond their typical time */
	double step_s;     /* typical step */
	size_t n_checkpoints, n_evaluations, n_restarts, n_stalls;
	double interval_steps,
		stall_each_s; /* checkpoints: steps between two, seconds that each stalls the run; NAN: none */
};
void jl_runlog_spent(struct jl_run_spent *ret_spent, const struct jl_runlog *log);

/* Number of steps that step_s of steps[i] averages. */
double jl_runlog_n_mean(const struct jl_runlog *log, size_t i);
/* True for the first step of the log, and for one that continues from an earlier step number. */
bool jl_runlog_is_start(const struct jl_runlog *log, size_t i);

/* Date and time at the beginning of a line, seconds since 1970; NAN: none. */
double jl_line_time_s(const char *text);
