/* One way to run a training step: everything a search may choose, and the case that follows from it. Plain data. */
#pragma once

#include "predict/predict.h"

struct jl_plan_way {
	int tp, pp, cp, ep;
	int vpp; /* chunks a stage; 1: not interleaved */
	int micro_batch;
	unsigned char sp, tp_async; /* 0 or 1 */
	unsigned char zero;         /* 0 to 3 */
	unsigned char keep;         /* ZeRO-3: gathered weights stay until the backward pass */
	unsigned char in_host;      /* states are cut over the ranks of a host only (HSDP) */
	unsigned char recompute;    /* enum jl_recompute */
	unsigned char offload;      /* enum jl_offload */
	unsigned char dtype;        /* enum jl_dtype */
	unsigned char framework;    /* enum jl_framework */
};

/* What all ways of a search have in common. */
struct jl_plan_site {
	struct jl_case base;  /* model, machine, sequence, attention; its plan and batch are not used */
	bool framework_given; /* the request names it: then every cut runs under it */
	bool format_given;    /* the same of its number format */
	bool flash_given;
	bool has_usual; /* the same request as predict runs it; false: it cannot be run so */
	struct jl_job usual;
	bool any_format, any_framework; /* search all that the device has and that we know; the caller sets them */
	double global_batch;
	struct jl_profile profile[JL_N_FRAMEWORK];
};

/* The site of a request: its batch and its plan are left to the search, its number format and framework are kept in
 * `base`. `machine` NULL: the request's own system. */
enum jl_status jl_plan_site_make(struct jl_plan_site *ret_site, const struct jl_catalog *cat,
				 const struct jl_request *req, const struct jl_subject *subject,
				 const struct jl_machine *machine, struct jl_err *err);

/* What a way changes of how predict runs the request, and which part of the step gets shorter by it: a note for a
 * person, added to the way's case. */
void jl_plan_note_changes(struct jl_case *way, const struct jl_plan_site *site, const struct jl_prediction *prediction);

/* Adapters beside frozen weights, Megatron not requested: tuning libraries run whole layers and experts in plain PyTorch. */
bool jl_plan_frozen(const struct jl_plan_site *site);

/* Data-parallel ranks, and micro-batches of one of them; not whole numbers where the way is not possible. */
double jl_plan_way_dp(const struct jl_plan_site *site, const struct jl_plan_way *way);

/* Ranks of one host that share states, where that differs from the whole group; 0 otherwise. */
double jl_plan_host_ranks(const struct jl_plan_site *site, double tp, double n_ranks);

/* Whether activations may be offloaded. Not in a pipeline; Megatron not with recompute; DeepSpeed only what full recompute keeps. */
bool jl_plan_way_moves_activations(const struct jl_plan_way *way);

/* Does one framework move all of it to the host together? Megatron-LM no weights, and the optimizer where it is its
 * distributed one, not with its FSDP (its issue 1986); DeepSpeed, which cuts no layers, the optimizer, and weights
 * beside it; torchtitan (enable_cpu_offload) both or nothing. */
bool jl_plan_way_moves(const struct jl_plan_way *way, double n_ranks, int zero, unsigned offload);

/* Overlapped slices write into each other's memory (userbuffers, symmetric memory): all of a layer's are joined by NVLink or xGMI. */
bool jl_plan_way_overlaps(const struct jl_plan_site *site, const struct jl_plan_way *way);

/* Before Blackwell exchanges hide behind products only where one queue keeps the order (CUDA_DEVICE_MAX_CONNECTIONS=1), which Megatron-LM asks
 * for beside slices of layers or sequences, and which its FSDP refuses: it warns of both together, and not both are hidden (its arguments.py). */
bool jl_plan_one_queue(const struct jl_case *c);
bool jl_plan_at_odds(const struct jl_case *c, enum jl_framework framework, int zero);

/* True where a framework can run it, beyond the checks of jl_case_check. */
bool jl_plan_way_runs(const struct jl_plan_site *site, const struct jl_plan_way *way);

/* The case that jl_predict takes. jl_case_check says whether it is possible. */
void jl_plan_way_case(struct jl_case *ret_case, const struct jl_plan_site *site, const struct jl_plan_way *way);

/* A total order: of two equal times the plainer way comes first. */
int jl_plan_way_compare(const struct jl_plan_way *a, const struct jl_plan_way *b);

/* The same cut of the model and its states: what differs are settings inside it. */
bool jl_plan_way_same_cut(const struct jl_plan_way *a, const struct jl_plan_way *b);
