/* Fitted parameters of training runs: ratios of device and link rates in a run to benchmarks, framework profiles, and memory besides tensors. One
 * vector: globals, then per framework profile, architecture, link and GPU. Names begin with "train.", "framework.", "memory.". */
#pragma once

#include <stddef.h>

#include "kernels/device.h"
#include "fabric/fabric.h"
#include "memory/memory.h"
#include "timeline/profile.h"
#include "parameters/codebase.h"
#include "parameters/link_params.h"
#include "parameters/params.h"

/* What a published memory value includes: live tensors, memory reserved by the allocator, or the whole device. */
enum jl_llm_scope { JL_LLM_ALLOCATED, JL_LLM_RESERVED, JL_LLM_DEVICE };

#define JL_LLM_MAX_GPUS   64
#define JL_LLM_MAX_PARAMS 440 /* at least jl_llm_params(JL_LLM_MAX_GPUS) */

/* gpu_ids: catalog ids of the n_gpu GPUs; NULL: names of GPU parameters are not needed. */
struct jl_param_list jl_llm_params(size_t n_gpu, const char *const *gpu_ids);

/* Catalog values, followed by one GPU's factors (jl_llm_params(1) values). True if that GPU was measured in runs. */
bool jl_llm_read(const struct jl_catalog *cat, const char *gpu_id, double *ret_x);
bool jl_llm_seen(const struct jl_catalog *cat, const char *gpu_id);

/* Apply the vector to a device filled by jl_gemm_resolve, a fabric filled by jl_coll_fill, a profile and memory. Used by the fit and by predictions
 * alike. gpu_index < 0: the family's values. */
void jl_llm_resolve_device(const double *x, int gpu_index, struct jl_device *dev);
void jl_llm_resolve_fabric(const double *x, enum jl_llm_link intra, enum jl_llm_link inter, struct jl_fabric *fabric);
struct jl_profile jl_llm_resolve_profile(const double *x, enum jl_framework framework, int codebase); /* < 0: unnamed */
struct jl_memory_fit jl_llm_resolve_memory(const double *x, enum jl_llm_scope scope);

double jl_llm_rowwise_frac(const double *x); /* fp8 with row-wise scales: remaining share of the rate */

/* True if parameter i affects a run of this kind. */
struct jl_llm_kind {
	enum jl_framework framework;
	int arch;
	enum jl_llm_link intra, inter;
	int gpu_index; /* < 0: not measured */
	int codebase;  /* < 0: unnamed */
};
int jl_llm_param_used(size_t i, const struct jl_llm_kind *kind);

/* Fitted parameters of fine-tuning beyond those of training; names begin with "tune.". */
struct jl_tune_fit {
	/* host time per launch of library models with hooks and casts / of the framework's own models */
	double call_ratio;
	double unpack_ratio; /* factor on the prior clocks for dequantising a weight */
	double ragged_frac;  /* see ragged_frac of struct jl_memory_fit */
	double gather_s;     /* see gather_s of struct jl_profile */
	double work_ratio;   /* device work and host time of the codebase / of the kernel list */
};

/* Host time to launch one expert's product in a library's loop / one launch of the framework; fitted to published MoE runs. */
#define JL_EXPERT_N_PARAM (1 + JL_N_CODEBASE)
struct jl_param_list
jl_expert_params(const struct jl_catalog *cat); /* followed by ratios of codebases that have no rows in training */
double jl_expert_call_frac(const struct jl_catalog *cat);

#define JL_TUNE_OWN     5 /* followed by ratios of codebases */
#define JL_TUNE_N_PARAM (JL_TUNE_OWN + JL_N_CODEBASE)
extern const struct jl_param_list jl_tuning_params;
struct jl_tune_fit jl_tune_fit_of(const double *x, int codebase);
/* Adapts a profile to fine-tuning with eager frameworks. */
void jl_profile_tune(struct jl_profile *profile, enum jl_framework framework, struct jl_tune_fit fit);
struct jl_tune_fit jl_tune_shipped(const struct jl_catalog *cat, int codebase);
