/* Plans that a source does not give. Inside belief only. */
#pragma once

#include "belief/set_llm.h"

/* Tensor parallel inside a host, then pipeline stages, until the states fit: before the batch is known. */
void jl_llm_default_plan(struct jl_llm_row *row);

/* Step memory of a row at a micro-batch, with the values before any fit: good enough to choose by. */
double jl_llm_rough_memory_B(const struct jl_llm_row *row, double micro_batch);

/* The fastest plan that fits and leaves no rank without a sample, by the values before any fit; the row keeps its plan
 * where none does. */
void jl_llm_best_plan(struct jl_llm_row *row);
