/* Internals of the training benchmark: the work of one process for one configuration. */
#pragma once

#include <stdatomic.h>

#include "train/run.h"
#include "train/tokens.h"

/* Memory shared between workers and the caller. */
struct jl_train_shared {
	atomic_size_t n_steps;         /* finished steps of rank 0 */
	struct jl_train_result result; /* written by rank 0; status and err are the caller's */
};

struct jl_train_job {
	const struct jl_train_run *run;
	struct jl_train_config config;
	const struct jl_tokens *tokens;
};

/* Runs one worker. `processes` NULL: single worker. */
enum jl_status jl_train_work(const struct jl_train_job *job, struct jl_comm *processes, struct jl_train_shared *shared,
			     struct jl_err *err);

/* Work of one worker in one micro-batch. */
struct jl_train_work_shape {
	const struct jl_train_shape *shape;
	size_t n_samples, seq;
};

/* rates.c: all workers must call it together. */
enum jl_status jl_train_measure_rates(struct jl_engine *engine, const struct jl_train_work_shape *work,
				      struct jl_comm *processes, struct jl_comm *data, struct jl_train_rates *ret_rates,
				      struct jl_err *err);
