/* Fitted parameters of serving (struct jl_serve_fit): shared values, factors per architecture family and engine. Two vectors of the same form,
 * because their data constrain different parameters: "infer." (one engine, mostly single sequences, many GPUs) and "serve." (frameworks under load,
 * Hopper and Blackwell). */
#pragma once

#include "parameters/engine.h"
#include "parameters/params.h"

enum jl_serve_scope { JL_SCOPE_INFER, JL_SCOPE_SERVE };

#define JL_SERVE_MAX_PARAMS 360
struct jl_param_list jl_serve_params(enum jl_serve_scope scope); /* n <= JL_SERVE_MAX_PARAMS */

bool jl_serve_of_version(enum jl_serve_scope scope,
			 size_t param); /* true for factors of an engine's version or backend, not of the engine */

/* Parameters of a device family with an engine, from a vector. */
struct jl_serve_fit jl_serve_fit_of(enum jl_serve_scope scope, const double *x, int arch, int engine);

/* From the catalog: serving engines use the "serve." vector, engines for single requests the "infer." vector. */
enum jl_serve_scope jl_serve_scope_of(int engine);
struct jl_serve_fit jl_serve_shipped(const struct jl_catalog *cat, int arch, int engine);

/* Kind of answer that an interval is for. */
enum jl_serve_metric {
	JL_METRIC_TTFT,
	JL_METRIC_TPOT,
	JL_METRIC_PREFILL,
	JL_METRIC_DECODE,
	JL_METRIC_LOAD,
	JL_N_METRIC
};
