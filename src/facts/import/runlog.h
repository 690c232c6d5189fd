/* A training run as its log tells it: steps in the order of the log, pauses between them, restarts. The readers of the formats (train.c)
 * find the figures; this module collects them and divides the elapsed time. It knows no model and no machine. */
#pragma once

#include "base/arena.h"
#include "import/import.h"

#define JL_RUNLOG_STEPS_MAX  1000000 /* later ones are dropped: `cut` */
#define JL_RUNLOG_PAUSES_MAX 100000

/* NAN: the log does not say. */
struct jl_run_step {
	const char *trainer, *label; /* label: tells series of one log apart; valid during the call only */
	size_t line;
	double step, epoch, n_total, batch;
	double at_s; /* when the line was written, seconds since 1970 or since the log's first time; NAN: lines have no time */
	double step_s; /* of one step: as the log has it, or from rates and batch, or from times and step numbers */
	double tokens_per_s, samples_per_s; /* of the whole job, where the log says so; else see per_gpu */
	double flopps;                      /* of one GPU */
	double loss;
	double mfu_frac, mem_B; /* mem_B: of one GPU, the most so far */
	bool per_gpu;           /* tokens_per_s is of one GPU */
	size_t timed;           /* the first step from this one on whose step_s is known; n_steps: none */
};

enum jl_pause { JL_PAUSE_CHECKPOINT, JL_PAUSE_EVALUATION, JL_PAUSE_RESTART };

struct jl_run_pause {
	enum jl_pause kind;
	size_t line;
	size_t after;  /* steps[after - 1] is the last one before it, after <= n_steps; 0: none */
	double step;   /* its number; a restart: the step that the run goes on from */
	double at_s;   /* as of steps */
	double took_s; /* as the log says; NAN: it does not */
};

struct jl_runlog {
	const char *trainer; /* a literal: "torchtitan", "Megatron-LM", ...; NULL: no steps were found */
	struct jl_run_step *steps;
	size_t n_steps;
	struct jl_run_pause *pauses;
	size_t n_pauses;
	double n_gpus, batch, seq, n_total; /* global batch in sequences; planned steps */
	bool cut;
};

/* Collects what jl_import_stream finds: `step` and `pause` of its sink, with this as their context. */
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
/* Fills in what follows from the lines around: times of steps, restarts. JL_E_PARSE: no steps. */
enum jl_status jl_runlog_end(struct jl_runlog *ret_log, struct jl_runlog_reader *reader, struct jl_err *err);

/* Where the elapsed time went, in seconds. Every step counts its typical time (median of steps near it) as useful; what is beyond belongs
 * to the pause beside it, or is a stall. */
struct jl_run_spent {
	double elapsed_s; /* of all steps and pauses, from the first step to the last */
	double useful_s, checkpoint_s, evaluation_s, stall_s;
	double restart_s; /* from the last step before to the first step after; NAN: the log has restarts and no times */
	double repeated_s; /* steps that were done again after a restart */
	double warmup_s;   /* first steps of each start, beyond their typical time */
	double step_s;     /* typical */
	size_t n_checkpoints, n_evaluations, n_restarts, n_stalls;
	double interval_steps,
		stall_each_s; /* of checkpoints: steps from one to the next, time that each holds the run; NAN: none */
};
void jl_runlog_spent(struct jl_run_spent *ret_spent, const struct jl_runlog *log);

/* The first of the log, or one that goes on from an earlier step. */
bool jl_runlog_is_start(const struct jl_runlog *log, size_t i);

/* The date and time that a line begins with, seconds since 1970; NAN: none. */
double jl_line_time_s(const char *text);
