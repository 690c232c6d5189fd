/* The training benchmark: runs configurations (workers × mode) one after another, each for a few steps in separate worker processes. */
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
	size_t batch; /* decoder only; a decoder has one worker */
};

/* Rates of the machine with this number of active workers, measured in the workers right before training. */
struct jl_train_rates {
	double gemm_flopps;   /* all workers together, on the model's largest product */
	double mem_Bps;       /* all workers together: bytes copied, read plus written */
	double allreduce_Bps; /* message size over time; NAN: single worker */
	double message_B;     /* size of the all-reduce that was timed */
	double flop_per_cpu_s; /* the product per CPU second instead of wall-clock second: excludes other processes' use */
	double elem_B, grad_B; /* bytes of a parameter or activation, of a gradient */
};

struct jl_train_result {
	struct jl_train_config config;
	enum jl_status status; /* not JL_OK: err has the reason, and the figures are invalid */
	struct jl_err err;
	int dead_rank;  /* worker that died; -1: none */
	size_t n_steps; /* measured steps, without the warm-up step */
	struct jl_stats step_s;
	double samples_per_s; /* all workers, from the median step; decoder: tokens per second */
	double forward_s, head_s, backward_s, update_s; /* means over the measured steps, rank 0 */
	double exposed_s;                               /* mean waiting time per step; the largest of all workers */
	double mem_B;                                   /* largest of all workers */
	struct jl_trainer_memory plan;                  /* planned memory by purpose */
	double loss_first, loss_last;                   /* first and last step, mean over the workers */
	double cpu_s;                                   /* CPU time per step, all workers */
	double flop;                                    /* per step, all workers */
	double grad_B;                                  /* gradients of one worker */
	double energy_J;         /* per step, of the host or of all GPUs in use; NAN: no counter */
	const char *energy_from; /* "RAPL", "hwmon", "NVML"; NULL: none */
	int n_threads;           /* per worker */
	struct jl_train_rates rates;
	struct jl_estimate predicted_s; /* step time predicted with those rates; NAN: unknown */
	/* Decoder only (its steps are decoding passes): time to first token, 90th percentile of the time per token, and achieved bandwidth of
	 * reading the weights as a fraction of the copy rate (NAN: not measured). */
	struct jl_stats first_s;
	struct jl_estimate first_predicted_s;
	double step_p90_s, bandwidth_frac;
	struct jl_record_noise noise;
	char noise_why[160];
	char versions[128];
	size_t n_samples; /* entries of samples_s */
	double samples_s[JL_TRAIN_STEPS_MAX];
};

struct jl_train_run {
	const struct jl_model_info *model;
	const struct jl_engine_kernels *kernels;
	enum jl_train_precision precision;
	size_t batch, seq, n_micro;
	bool recompute;               /* recompute whole layers in backward */
	size_t n_steps;               /* steps to measure; 0: limited by time_s */
	double time_s;                /* seconds per configuration without warm-up; 0: limited by n_steps */
	int n_threads;                /* per worker; 0: the machine's threads divided evenly */
	const char *tokens;           /* token file; NULL: synthetic tokens */
	double lr;                    /* 0: default */
	size_t answer;                /* decoder: tokens to generate after prompts of `seq` tokens; 0: training */
	bool int8;                    /* decoder: int8 weights */
	bool no_rates;                /* skip measuring the machine's rates, and therefore the prediction */
	const struct jl_catalog *cat; /* catalog and machine for the prediction; NULL: no prediction */
	const struct jl_probe_machine *here;
	struct jl_train_config configs[JL_TRAIN_CONFIGS_MAX];
	size_t n_configs;
	/* Called in the printing process after each configuration, including failed ones. Returns false to stop. */
	bool (*done)(void *ctx, const struct jl_train_result *result);
	/* Called ten times a second with the number of finished steps of the configuration. Returns false to stop. May be NULL. */
	bool (*tick)(void *ctx, const struct jl_train_config *config, size_t n_steps);
	void *ctx;
};

/* Checks model, tokens and engine first. A configuration that fails is passed to `done` with its reason, and the others continue. With `mpi`
 * (all ranks of a launcher must call this) only configurations with n_workers = number of ranks run, and those with 1, on rank 0 alone; `done`
 * is called on rank 0 only. NULL: starts processes on this host. */
enum jl_status jl_train_run(const struct jl_train_run *run, struct jl_comm *mpi, struct jl_err *err);

/* decode_run.c: the same for a decoder, in this process. Weights are created once, for the largest batch. The first failure ends the run. */
enum jl_status jl_decode_run(const struct jl_train_run *run, struct jl_err *err);

/* predict.c: predicts a step on the run's machine with the measured rates of the result. */
enum jl_status jl_train_predict(struct jl_estimate *ret_step_s, const struct jl_train_run *run,
				const struct jl_train_result *result, struct jl_err *err);
/* Predicts prompt and decoding passes; unknown values become NAN. */
void jl_decode_predict(struct jl_train_result *result, const struct jl_train_run *run);

/* energy.c: energy counters of the host in joules, from an arbitrary zero; NAN: there are none. */
double jl_train_energy_J(const char **ret_from);
