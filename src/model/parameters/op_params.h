/* Fitted parameters of serving operators (struct jl_op_fit): shared values, factors per architecture family and per engine. Each set of measured
 * operators constrains some of them. Names begin with "op_" and the set. */
#pragma once

#include "kernels/served_op.h"
#include "parameters/arch.h"
#include "parameters/params.h"
#include "parameters/serve_params.h"

enum jl_op_set { JL_OPS_GEMM, JL_OPS_PROMPT, JL_OPS_ANSWER, JL_OPS_LATENT, JL_OPS_EXPERT, JL_OPS_EXCHANGE, JL_N_OPS };

#define JL_OP_MAX_PARAMS 160
struct jl_param_list jl_op_params(enum jl_op_set set); /* n <= JL_OP_MAX_PARAMS */

/* Resets the terms of one set in `fit` and multiplies in the vector's values for a family and an engine. */
void jl_op_apply(struct jl_op_fit *fit, enum jl_op_set set, const double *x, int arch, int engine);
/* From the catalog's values. */
struct jl_op_fit jl_op_shipped(const struct jl_catalog *cat, int arch, int engine);

/* Cache: each entry is computed once. Must be zeroed first. */
struct jl_op_table {
	struct jl_op_fit fits[JL_ARCHS_MAX][JL_ENGINES_MAX];
	bool known[JL_ARCHS_MAX][JL_ENGINES_MAX];
};
const struct jl_op_fit *jl_op_table_at(struct jl_op_table *table, const struct jl_catalog *cat, int arch, int engine);
