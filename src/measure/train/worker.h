/* Inside of the training benchmark: what one worker process does for one configuration. */
#pragma once

#include <stdatomic.h>

#include "train/run.h"
#include "train/tokens.h"

/* Memory shared by workers and the caller. */
struct jl_train_shared {
	atomic_size_t n_steps;         /* done, by rank 0 */
	struct jl_train_result result; /* rank 0 writes it; status and err are the caller's */
};

struct jl_train_job {
	const struct jl_train_run *run;
	struct jl_train_config config;
	const struct jl_tokens *tokens;
};

/* `processes` NULL: alone. */
enum jl_status jl_train_work(const struct jl_train_job *job, struct jl_comm *processes, struct jl_train_shared *shared,
			     struct jl_err *err);

/* What a worker computes on in one micro-batch. */
struct jl_train_work_shape {
	const struct jl_train_shape *shape;
	size_t n_samples, seq;
};

/* rates.c: all workers call it together. */
enum jl_status jl_train_measure_rates(struct jl_engine *engine, const struct jl_train_work_shape *work,
				      struct jl_comm *processes, struct jl_comm *data, struct jl_train_rates *ret_rates,
				      struct jl_err *err);
