/* What a training run makes of devices and links that were fitted one by one, how frameworks run a step, and what memory
 * takes beside tensors: parameters that are fitted on published training runs. One flat vector: globals, then per
 * framework profile, per architecture, per link, per GPU. Names begin with "train.", "framework.", "memory.". */
#pragma once

#include <stddef.h>

#include "kernels/device.h"
#include "fabric/fabric.h"
#include "memory/memory.h"
#include "timeline/profile.h"
#include "parameters/codebase.h"
#include "parameters/link_params.h"
#include "parameters/params.h"

/* What a source's memory figure counts: live tensors, what the allocator holds, or the whole device. */
enum jl_llm_scope { JL_LLM_ALLOCATED, JL_LLM_RESERVED, JL_LLM_DEVICE };

#define JL_LLM_MAX_GPUS   64
#define JL_LLM_MAX_PARAMS 440 /* at least jl_llm_params(JL_LLM_MAX_GPUS) */

/* gpu_ids: of the n_gpu, by the catalog; NULL: the names of their parameters are not asked for. */
struct jl_param_list jl_llm_params(size_t n_gpu, const char *const *gpu_ids);

/* The catalog's values with the deviations of one GPU behind them (jl_llm_params(1) values). True where runs measure that GPU. */
bool jl_llm_read(const struct jl_catalog *cat, const char *gpu_id, double *ret_x);
bool jl_llm_seen(const struct jl_catalog *cat, const char *gpu_id);

/* What the fitted vector makes of a device that jl_gemm_resolve has filled, a fabric that jl_coll_fill has filled, a
 * framework, and of memory: the same for rows of the sets and for any other question. gpu_index < 0: the family's. */
void jl_llm_resolve_device(const double *x, int gpu_index, struct jl_device *dev);
void jl_llm_resolve_fabric(const double *x, enum jl_llm_link intra, enum jl_llm_link inter, struct jl_fabric *fabric);
struct jl_profile jl_llm_resolve_profile(const double *x, enum jl_framework framework,
					 int codebase); /* < 0: not named */
struct jl_memory_fit jl_llm_resolve_memory(const double *x, enum jl_llm_scope scope);

double jl_llm_rowwise_frac(const double *x); /* fp8 scaled by rows: rate left */

/* Does a run of this kind know parameter i? */
struct jl_llm_kind {
	enum jl_framework framework;
	int arch;
	enum jl_llm_link intra, inter;
	int gpu_index; /* < 0: not measured */
	int codebase;  /* < 0: not named */
};
int jl_llm_param_used(size_t i, const struct jl_llm_kind *kind);

/* What fine-tuning has beside training, as parameters that are fitted on published runs of it. Names begin with "tune.". */
struct jl_tune_fit {
	double call_ratio; /* host time of a launch of models that others wrote, with hooks and casts, of the framework's own */
	double unpack_ratio; /* clocks of unpacking a weight, of what is taken before any fit */
	double ragged_frac;  /* see struct jl_memory_fit */
	double gather_s;     /* see struct jl_profile */
	double work_ratio;   /* device work and host time of these codebases, of the list of kernels */
};

/* Host time of launching one expert's product inside the library's loop, of a launch of the framework's own; fitted on published mixtures. */
#define JL_EXPERT_N_PARAM (1 + JL_N_CODEBASE)
struct jl_param_list
jl_expert_params(const struct jl_catalog *cat); /* then ratios of codebases that training does not know */
double jl_expert_call_frac(const struct jl_catalog *cat);

#define JL_TUNE_OWN     5 /* then ratios of codebases */
#define JL_TUNE_N_PARAM (JL_TUNE_OWN + JL_N_CODEBASE)
extern const struct jl_param_list jl_tuning_params;
struct jl_tune_fit jl_tune_fit_of(const double *x, int codebase);
/* The host of models that are tuned by eager frameworks. */
void jl_profile_tune(struct jl_profile *profile, enum jl_framework framework, struct jl_tune_fit fit);
struct jl_tune_fit jl_tune_shipped(const struct jl_catalog *cat, int codebase);
