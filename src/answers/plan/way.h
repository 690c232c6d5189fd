/* A plan: all options that a search may choose for a training step, and the case built from them. Plain data. */
#pragma once

#include "predict/predict.h"

struct jl_plan_way {
	int tp, pp, cp, ep;
	int vpp; /* chunks per stage; 1: not interleaved */
	int micro_batch;
	unsigned char sp, tp_async; /* 0 or 1 */
	unsigned char zero;         /* 0 to 3 */
	unsigned char keep;         /* ZeRO-3: keep gathered weights until the backward pass */
	unsigned char in_host;      /* shard states within each host only (HSDP) */
	unsigned char recompute;    /* enum jl_recompute */
	unsigned char offload;      /* enum jl_offload */
	unsigned char dtype;        /* enum jl_dtype */
	unsigned char framework;    /* enum jl_framework */
};

/* Settings common to all plans of a search. */
struct jl_plan_site {
	struct jl_case base;  /* model, machine, sequence, attention; its plan and batch are unused */
	bool framework_given; /* the request names a framework: all model-parallel splits run under it */
	bool format_given;    /* the request names a number format */
	bool flash_given;
	bool has_usual; /* predict's own plan for the request is in `usual`; false: it has none */
	struct jl_job usual;
	bool any_format, any_framework; /* set by the caller: also search other formats, other frameworks */
	double global_batch;
	struct jl_profile profile[JL_N_FRAMEWORK];
};

/* Prepares a search for a request: its batch and plan are chosen by the search, its number format and framework are kept in `base`. `machine`
 * NULL: the request's system. */
enum jl_status jl_plan_site_make(struct jl_plan_site *ret_site, const struct jl_catalog *cat,
				 const struct jl_request *req, const struct jl_subject *subject,
				 const struct jl_machine *machine, struct jl_err *err);

/* Adds a note to the plan's case: the differences from predict's plan, and which part of the step they shorten. */
void jl_plan_note_changes(struct jl_case *way, const struct jl_plan_site *site, const struct jl_prediction *prediction);

/* True for adapters on frozen weights without Megatron: tuning libraries run whole layers and experts in plain PyTorch. */
bool jl_plan_frozen(const struct jl_plan_site *site);

/* Data-parallel ranks, and micro-batches per rank; not an integer if the plan is impossible. */
double jl_plan_way_dp(const struct jl_plan_site *site, const struct jl_plan_way *way);

/* Number of ranks on one host that share states; 0 if it equals the whole group. */
double jl_plan_host_ranks(const struct jl_plan_site *site, double tp, double n_ranks);

/* True if activations can be offloaded. Not with pipeline parallelism; Megatron not with recomputation; DeepSpeed only activations kept by full
 * recomputation. */
bool jl_plan_way_moves_activations(const struct jl_plan_way *way);

/* True if one framework supports this combination of offloads. Megatron-LM: no weights, and the optimizer only if distributed and without FSDP
 * (its issue 1986). DeepSpeed, which does not split layers: the optimizer, with or without weights. torchtitan (enable_cpu_offload): both or
 * nothing. */
bool jl_plan_way_moves(const struct jl_plan_way *way, double n_ranks, int zero, unsigned offload);

/* True if tensor parallelism can overlap by writing into peers' memory (userbuffers, symmetric memory): all ranks of a layer are joined by
 * NVLink or xGMI. */
bool jl_plan_way_overlaps(const struct jl_plan_site *site, const struct jl_plan_way *way);

/* Before Blackwell, transfers overlap with products only if a single queue keeps their order (CUDA_DEVICE_MAX_CONNECTIONS=1). Megatron-LM
 * requires this with tensor or context parallelism; its FSDP forbids it. With both, Megatron-LM warns and only one overlap works (its
 * arguments.py). */
bool jl_plan_one_queue(const struct jl_case *c);
bool jl_plan_at_odds(const struct jl_case *c, enum jl_framework framework, int zero);

/* True if a framework supports the plan, beyond the checks of jl_case_check. */
bool jl_plan_way_runs(const struct jl_plan_site *site, const struct jl_plan_way *way);

/* Builds the case for jl_predict. jl_case_check tests whether it is possible. */
void jl_plan_way_case(struct jl_case *ret_case, const struct jl_plan_site *site, const struct jl_plan_way *way);

/* A total order; with equal times the simpler plan comes first. */
int jl_plan_way_compare(const struct jl_plan_way *a, const struct jl_plan_way *b);

/* True if both split the model and its states alike and differ only in other settings. */
bool jl_plan_way_same_cut(const struct jl_plan_way *a, const struct jl_plan_way *b);
