/* What a person sees of the training benchmark: the scaling table row by row, then why it is so. */
#pragma once

#include "cli/command.h"
#include "train/run.h"

/* What is kept of each configuration until the end. */
struct jl_train_row {
	struct jl_train_config config;
	bool ok;
	double samples_per_s, step_s, exposed_s, mem_B, gemm_frac, gemm_cpu_frac, predicted_lo, predicted_hi, predicted;
	double flop, n_threads, update_s, loss_first, loss_last, energy_J, n_samples, grad_B;
	struct jl_train_rates rates;
	bool noisy;
	const char *energy_from;
};

struct jl_train_table {
	struct jl_train_row rows[JL_TRAIN_CONFIGS_MAX];
	size_t n;
};

void jl_train_view_head(struct jl_cli *cli, const struct jl_train_run *run, double n_params);
void jl_train_view_row(struct jl_cli *cli, const struct jl_train_run *run, struct jl_train_table *table,
		       const struct jl_train_result *result);
/* The reason in words, and what would help. */
void jl_train_view_why(struct jl_cli *cli, const struct jl_train_run *run, const struct jl_train_table *table);
