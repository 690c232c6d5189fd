/* The physics of served operators (struct jl_op_fit) as parameters: shared ones, factors of each architecture family and of each engine.
 * Names begin with "op_" and the set. Each set of measured operators knows some of them. */
#pragma once

#include "kernels/served_op.h"
#include "parameters/arch.h"
#include "parameters/params.h"
#include "parameters/serve_params.h"

enum jl_op_set { JL_OPS_GEMM, JL_OPS_PROMPT, JL_OPS_ANSWER, JL_OPS_LATENT, JL_OPS_EXPERT, JL_OPS_EXCHANGE, JL_N_OPS };

#define JL_OP_MAX_PARAMS 160
struct jl_param_list jl_op_params(enum jl_op_set set); /* at most JL_OP_MAX_PARAMS */

/* Multiplies what a vector of one set says of a family with an engine into `fit`, whose terms of that set are set anew. */
void jl_op_apply(struct jl_op_fit *fit, enum jl_op_set set, const double *x, int arch, int engine);
/* The catalog's values. */
struct jl_op_fit jl_op_shipped(const struct jl_catalog *cat, int arch, int engine);

/* Each resolved once. Zeroed at first. */
struct jl_op_table {
	struct jl_op_fit fits[JL_ARCHS_MAX][JL_ENGINES_MAX];
	bool known[JL_ARCHS_MAX][JL_ENGINES_MAX];
};
const struct jl_op_fit *jl_op_table_at(struct jl_op_table *table, const struct jl_catalog *cat, int arch, int engine);
