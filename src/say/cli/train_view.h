/* What a person sees of the training benchmark: the scaling table row by row, then why it is so. */
#pragma once

#include "cli/command.h"
#include "train/run.h"

struct jl_train_table {
	struct jl_train_result rows[JL_TRAIN_CONFIGS_MAX];
	size_t n;
};

void jl_train_view_head(struct jl_cli *cli, const struct jl_train_run *run, double n_params);
void jl_train_view_row(struct jl_cli *cli, struct jl_train_table *table, const struct jl_train_result *result);
/* The reason in words, and what would help. */
void jl_train_view_why(struct jl_cli *cli, const struct jl_train_run *run, const struct jl_train_table *table);
