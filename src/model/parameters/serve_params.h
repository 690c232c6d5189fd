/* The physics of serving (struct jl_serve_fit) as parameters: shared ones, deviations of each architecture family and of each framework.
 * Two vectors of the same form, because two kinds of measurements know different things: "infer." (one engine at work, mostly single
 * sequences, many GPUs) and "serve." (frameworks under load, Hopper and Blackwell). */
#pragma once

#include "timeline/serve.h"
#include "parameters/params.h"

enum jl_engine {
	JL_ENGINE_GENERAL, /* any other: the shared values */
	JL_ENGINE_TRTLLM,
	JL_ENGINE_VLLM,
	JL_ENGINE_SGLANG,
	JL_ENGINE_LLAMACPP,
	JL_ENGINE_EXLLAMA,
	JL_ENGINE_EXLLAMA2,
	JL_ENGINE_MLC,
	JL_ENGINE_AWQ,
	JL_ENGINE_AWQ_GEMV, /* matrix-vector kernels, also where there are many rows */
	JL_ENGINE_GPTFAST,
	JL_ENGINE_LMDEPLOY,
	JL_ENGINE_FT, /* FasterTransformer */
	JL_ENGINE_EAGER,
	JL_N_ENGINE
};

enum jl_serve_scope { JL_SCOPE_INFER, JL_SCOPE_SERVE };

#define JL_SERVE_MAX_PARAMS 140
struct jl_param_list jl_serve_params(enum jl_serve_scope scope); /* at most JL_SERVE_MAX_PARAMS */

/* Physics of a device's family with an engine, from a vector. */
struct jl_serve_fit jl_serve_fit_of(enum jl_serve_scope scope, const double *x, int arch, enum jl_engine engine);

/* The catalog's values. Engines that serve are known by their loads, those for single requests by such. */
enum jl_serve_scope jl_serve_scope_of(enum jl_engine engine);
struct jl_serve_fit jl_serve_shipped(const struct jl_catalog *cat, int arch, enum jl_engine engine);

/* As the engine runs a format: scales of 8-bit weights for TensorRT-LLM are known beforehand, files of llama.cpp keep beside narrow experts all in 8
 * bit. */
void jl_engine_format(struct jl_serve_format *format, enum jl_engine engine);

const char *jl_engine_id(enum jl_engine engine);
/* As sources spell it; JL_ENGINE_GENERAL where it is not known. */
enum jl_engine jl_engine_by_text(const char *text);

/* Which kind of answer an interval is for. */
enum jl_serve_metric {
	JL_METRIC_TTFT,
	JL_METRIC_TPOT,
	JL_METRIC_PREFILL,
	JL_METRIC_DECODE,
	JL_METRIC_LOAD,
	JL_N_METRIC
};
