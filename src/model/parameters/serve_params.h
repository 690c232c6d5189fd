/* The physics of serving (struct jl_serve_fit) as parameters: shared ones, deviations of each architecture family and of each framework.
 * Two vectors of the same form, because two kinds of measurements know different things: "infer." (one engine at work, mostly single
 * sequences, many GPUs) and "serve." (frameworks under load, Hopper and Blackwell). */
#pragma once

#include "parameters/engine.h"
#include "parameters/params.h"

enum jl_serve_scope { JL_SCOPE_INFER, JL_SCOPE_SERVE };

#define JL_SERVE_MAX_PARAMS 360
struct jl_param_list jl_serve_params(enum jl_serve_scope scope); /* at most JL_SERVE_MAX_PARAMS */

bool jl_serve_of_version(enum jl_serve_scope scope,
			 size_t param); /* of an engine's version or backend, not of itself */

/* Physics of a device's family with an engine, from a vector. */
struct jl_serve_fit jl_serve_fit_of(enum jl_serve_scope scope, const double *x, int arch, int engine);

/* The catalog's values. Engines that serve are known by their loads, those for single requests by such. */
enum jl_serve_scope jl_serve_scope_of(int engine);
struct jl_serve_fit jl_serve_shipped(const struct jl_catalog *cat, int arch, int engine);

/* Which kind of answer an interval is for. */
enum jl_serve_metric {
	JL_METRIC_TTFT,
	JL_METRIC_TPOT,
	JL_METRIC_PREFILL,
	JL_METRIC_DECODE,
	JL_METRIC_LOAD,
	JL_N_METRIC
};
