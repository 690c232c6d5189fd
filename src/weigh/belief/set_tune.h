/* The set finetune: published runs of LoRA, QLoRA, full and other tuning; their speed, and the memory they take. */
#ifndef JL_BELIEF_SET_TUNE_H
#define JL_BELIEF_SET_TUNE_H

#include "belief/set_llm.h"

/* Columns beside those of train_llm. */
#define JL_TUNE_CELLS(X)                                                                                               \
	X(method)                                                                                                      \
	X(rank)                                                                                                        \
	X(targets)                                                                                                     \
	X(base_bits)                                                                                                   \
	X(grad_checkpointing)                                                                                          \
	X(cpu_offload)                                                                                                 \
	X(trainable_params_m)                                                                                          \
	X(oom)                                                                                                         \
	X(s_per_iter) X(samples_per_s) X(tokens_per_s_per_gpu) X(confidence) X(mem_published) X(source_url)
struct jl_tune_cells {
	JL_TUNE_CELLS(JL_CELL_MEMBER)
};

struct jl_tune_row {
	struct jl_llm_row run;
	double least_B; /* it needed more than this (out of memory); NAN: it ran */
	const char *time_unscored;
};

enum jl_status jl_tune_row_read(struct jl_llm_cells *cells, const struct jl_tune_cells *more,
				const struct jl_llm_find *find, struct jl_tune_row *ret_row, struct jl_err *err);

#endif
