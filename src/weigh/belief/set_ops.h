/* The adapters (ops_<set>.c): they turn a set's own reader, parameters and model into what set.h says. */
#pragma once

#include "belief/set.h"

extern const struct jl_set_ops jl_gemm_ops, jl_collectives_ops, jl_llm_ops, jl_other_ops, jl_power_ops, jl_infer_ops,
	jl_serve_ops, jl_tune_ops, jl_large_ops, jl_runs_ops;
extern const struct jl_set_ops jl_served_ops[]; /* by enum jl_op_set of physics/op_params.h */
