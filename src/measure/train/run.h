/* The training benchmark: one configuration after another (workers × mode), each a few steps in separate worker processes. */
#pragma once

#include "base/stats.h"
#include "predict/predict.h"
#include "probe/probe.h"
#include "record/record.h"
#include "train/trainer.h"

#define JL_TRAIN_WORKERS_MAX 1024
#define JL_TRAIN_STEPS_MAX   10000
#define JL_TRAIN_CONFIGS_MAX 64

struct jl_train_config {
	int n_workers;
	enum jl_train_mode mode;
	size_t batch; /* of a decoder, which is one worker */
};

/* What the machine does by itself with so many workers at work: measured in the workers right before they train. */
struct jl_train_rates {
	double gemm_flopps;    /* of all workers together; the model's own largest product */
	double mem_Bps;        /* of all workers together: copying, read and written bytes */
	double allreduce_Bps;  /* message size over time; NAN: alone */
	double message_B;      /* of that all-reduce */
	double flop_per_cpu_s; /* of the product, by CPU time instead of the clock: what others take does not count */
	double elem_B, grad_B; /* of one parameter or activation, of one gradient */
};

struct jl_train_result {
	struct jl_train_config config;
	enum jl_status status; /* not JL_OK: err says why there is no figure */
	struct jl_err err;
	int dead_rank;  /* -1: none */
	size_t n_steps; /* measured; the first one warms up and does not count */
	struct jl_stats step_s;
	double samples_per_s;                           /* of all workers, by the median step; a decoder's tokens */
	double forward_s, head_s, backward_s, update_s; /* means over measured steps, of rank 0 */
	double exposed_s;              /* mean of a step's standing still for others, largest over the workers */
	double mem_B;                  /* of one worker, largest */
	struct jl_trainer_memory plan; /* by what it holds */
	double loss_first, loss_last;  /* mean over the workers, of the first and the last step */
	double cpu_s;                  /* CPU time of one step, all workers */
	double flop;                   /* of one step, all workers */
	double grad_B;                 /* of all gradients of one worker */
	double energy_J;               /* of one step: the host's, or that of all GPUs at work; NAN: no counter */
	const char *energy_from;       /* "RAPL", "hwmon", "NVML"; NULL: none */
	int n_threads;                 /* of each worker */
	struct jl_train_rates rates;
	struct jl_estimate predicted_s; /* of a step, by jl_predict with those rates; NAN: not known */
	/* Of a decoder, whose steps are the next tokens of all samples: time to first token; 90th percentile of a token's time; share of the copy
	 * rate that reading the weights reaches (NAN: not measured). */
	struct jl_stats first_s;
	struct jl_estimate first_predicted_s;
	double step_p90_s, bandwidth_frac;
	struct jl_record_noise noise;
	char noise_why[160];
	char versions[128];
	size_t n_samples; /* of step times */
	double samples_s[JL_TRAIN_STEPS_MAX];
};

struct jl_train_run {
	const struct jl_model_info *model;
	const struct jl_engine_kernels *kernels;
	enum jl_train_precision precision;
	size_t batch, seq, n_micro;
	bool recompute;               /* whole layers in backward */
	size_t n_steps;               /* to measure; 0: by time */
	double time_s;                /* of one configuration, warm-up not counted; 0: by steps */
	int n_threads;                /* of each worker; 0: the machine's, shared evenly */
	const char *tokens;           /* file; NULL: synthetic */
	double lr;                    /* 0: default */
	size_t answer;                /* of a decoder: tokens that follow prompts of `seq`; 0: a training */
	bool int8;                    /* of a decoder: weights of products */
	bool no_rates;                /* the machine's own rates are not measured: nothing is predicted */
	const struct jl_catalog *cat; /* what predicts a step, and of which machine; NULL: nothing does */
	const struct jl_probe_machine *here;
	struct jl_train_config configs[JL_TRAIN_CONFIGS_MAX];
	size_t n_configs;
	/* In the process that prints: as configurations are done, failed ones too. False: go no further. */
	bool (*done)(void *ctx, const struct jl_train_result *result);
	/* Ten times a second: steps done of this configuration. False: come to an end. May be NULL. */
	bool (*tick)(void *ctx, const struct jl_train_config *config, size_t n_steps);
	void *ctx;
};

/* Checks model, tokens and engine before anything is started. A configuration that fails is handed to `done` with its
 * reason; the others run. With `mpi` (all ranks of a launcher call this) only configurations of that many workers
 * run, and 1: rank 0 alone; `done` is called on rank 0 only. NULL: processes on this host. */
enum jl_status jl_train_run(const struct jl_train_run *run, struct jl_comm *mpi, struct jl_err *err);

/* decode_run.c: the same for a decoder, all in this process; weights are made once, with room for the largest batch. One that fails ends it. */
enum jl_status jl_decode_run(const struct jl_train_run *run, struct jl_err *err);

/* predict.c: of a step on the run's machine, with the result's rates in place of the listed ones. */
enum jl_status jl_train_predict(struct jl_estimate *ret_step_s, const struct jl_train_run *run,
				const struct jl_train_result *result, struct jl_err *err);
/* The same of a decoder's two kinds of passes; what is not known becomes NAN. */
void jl_decode_predict(struct jl_train_result *result, const struct jl_train_run *run);

/* energy.c: counters of this host in joule since some moment; NAN: there is none. */
double jl_train_energy_J(const char **ret_from);
