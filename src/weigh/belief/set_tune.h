/* The set finetune: published runs of LoRA, QLoRA, full and other tuning; their speed, and the memory they take. */
#pragma once

#include "belief/set_llm.h"

/* Columns beside those of train_llm. */
#define JL_TUNE_CELLS(X)                                                                                               \
	X(method)                                                                                                      \
	X(rank)                                                                                                        \
	X(targets)                                                                                                     \
	X(base_bits)                                                                                                   \
	X(grad_checkpointing)                                                                                          \
	X(cpu_offload)                                                                                                 \
	X(oom)                                                                                                         \
	X(s_per_iter)                                                                                                  \
	X(samples_per_s)                                                                                               \
	X(tokens_per_s_per_gpu) X(confidence) X(mem_published) X(n_experts) X(topk) X(moe_ffn)
struct jl_tune_cells {
	JL_TUNE_CELLS(JL_CELL_MEMBER)
};

struct jl_tune_row {
	struct jl_llm_row run;
	double least_B; /* it needed more than this (out of memory); NAN: it ran */
};

/* moe_and_large has the columns of train_llm: names, hosts and exchanges of newer runs as those have them. */
enum jl_status jl_large_row_read(struct jl_llm_cells *cells, const struct jl_tune_cells *more,
				 const struct jl_llm_find *find, struct jl_tune_row *ret_row, struct jl_err *err);

enum jl_status jl_tune_row_read(struct jl_llm_cells *cells, const struct jl_tune_cells *more,
				const struct jl_llm_find *find, struct jl_tune_row *ret_row, struct jl_err *err);
