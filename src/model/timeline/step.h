/* One training step: blocks -> stages -> pipeline -> gradient exchange -> optimizer. Pure; the work does not grow with
 * the number of devices. Block times are computed once per (micro-batch, tp, cp, ep, sp, recompute) and reused. */
#pragma once

#include "fabric/collective.h"
#include "kernels/layer.h"
#include "timeline/profile.h"

/* NVME: the optimizer's states lie on the host's drives (ZeRO-Infinity), not in its memory. */
enum jl_offload { JL_OFFLOAD_OPTIMIZER = 1, JL_OFFLOAD_PARAMS = 2, JL_OFFLOAD_ACTIVATIONS = 4, JL_OFFLOAD_NVME = 8 };

/* DeepSpeed's reduce_bucket_size and allgather_bucket_size, in elements. */
#define JL_ZERO2_BUCKET_ELEMS 5e8
#define JL_ZERO3_LIVE_ELEMS   1e9

struct jl_plan {
	double dp, tp, pp, cp, ep;
	double n_chunks; /* interleaved pipeline: model chunks a stage; 1: plain 1F1B */
	double n_micro;  /* micro-batches a step and data-parallel rank */
	int serial; /* stages that work one after the other, a micro-batch at a time: layers spread over devices, no pipeline */
	int sp;
	int zero;          /* 0..3; 1: a distributed optimizer; 2: DeepSpeed's; 3 is FSDP */
	double shard;      /* ranks that states are cut over; 0: all of dp*cp (HSDP, ZeRO inside a host: fewer) */
	int zero1_after;   /* stage 1 as DeepSpeed does it: all-reduced once a step behind the last backward pass */
	int keep_gathered; /* FSDP: gathered parameters stay from forward to backward (SHARD_GRAD_OP) */
	int keeps_live;    /* ZeRO-3 of DeepSpeed with its defaults: what was gathered last stays */
	double gathers;    /* ZeRO-3: pieces of a layer that are gathered one by one; 0: the whole layer at once */
	int copies_out; /* FSDP2: what was gathered is copied out to tensors, gradients are copied in before they are cut */
	int flat_grads; /* FSDP that adds gradients up before it cuts them: of whole flat parameters, frozen ones too */
	int hold_step;  /* FSDP with a pipeline: parameters and whole gradients stay for all micro-batches */
	int whole_experts; /* experts are spread over the ranks that cut tensors too, and not cut themselves (memory only) */
	int ep_async; /* experts' all-to-all of one micro-batch behind the work of another, once to each host (DualPipe) */
	int tp_async; /* collectives inside a layer are pipelined with the products */
	enum jl_recompute recompute;
	unsigned offload;                     /* enum jl_offload */
	int no_optimizer;                     /* forward and backward only */
	double weight_B, grad_B, optimizer_B; /* bytes per parameter: working copy, gradient, states and master copy */
	double reduce_B;                      /* of a gradient while it is exchanged; 0: as it is kept */
	double optimizer_moved_B;             /* bytes that one optimizer pass moves per parameter */
	int update_copies;        /* PyTorch's lists of tensors: a copy as large as the weights while it is updated */
	double optimizer_kernels; /* launches a layer where the optimizer is not fused; 0: as the profile says */
	double optimizer_flop;    /* matrix work of the optimizer per parameter (Muon); 0: none */
	double nvme_Bps;          /* of one host's drives, with JL_OFFLOAD_NVME */
	int paged;                /* optimizer states leave the device when it is full */
	double trained_frac;      /* parameters that are trained, adapters included, of those of the model: 1 */
	double frozen_frac;       /* of those of the model: frozen */
	double frozen_B;          /* bytes of one of them */
	double extra_passes;      /* forward passes without a backward one, of each micro-batch (a reference model) */
};

/* How many parameters each block has, on all devices together. */
struct jl_model_size {
	double n_dense_layers, n_moe_layers;
	double dense_params, moe_params; /* of one layer; moe: experts included */
	double expert_params;            /* of one mixture layer: the routed experts, cut by ep as well as tp */
	double embed_params, head_params;
	int tied;
	double hidden;
};

/* Seconds of one block for one micro-batch, forward, backward and recompute together. */
struct jl_block_time {
	double compute_s;
	double host_s; /* what the host needs beyond the device's own time */
	double tp_s, cp_s, ep_s;
	double need_s; /* host: what all its launches take */
};

/* The collectives that one layer makes for one micro-batch and direction. */
struct jl_layer_comm {
	double tp_s, cp_s, ep_s; /* forward; already the sum over the layer */
	double n_comm;
};

struct jl_block_time jl_block_time(const struct jl_profile *profile, const struct jl_plan *plan,
				   const struct jl_block_cost *cost, const struct jl_layer_comm *comm);

/* tokens_hidden: elements of one micro-batch's activation on a device (micro_batch * seq / cp * hidden);
 * kv_frac: keys and values / hidden. */
struct jl_comm_in {
	double elements, kv_frac, act_B;
	double top_k; /* 0: no mixture layer */
};
struct jl_layer_comm jl_layer_comm(const struct jl_fabric *fabric, const struct jl_plan *plan,
				   const struct jl_comm_in *in);

struct jl_step_in {
	const struct jl_device *dev;
	const struct jl_fabric *fabric;
	const struct jl_profile *profile;
	const struct jl_model_size *size;
	const struct jl_plan *plan;
	const struct jl_block_time *block; /* JL_N_BLOCK of them */
	double saved_B;                    /* of one layer and micro-batch: what activation offload moves */
	double boundary_B;                 /* activation that crosses to the next stage */
	double host_mem_Bps;               /* of the host, shared by its devices; offloaded optimizers run on it */
	double generate_s; /* what making the samples takes before they are learnt from (GRPO); 0: nothing */
	double input_s;    /* what the input pipeline needs a step; 0: never the bound */
	double sum_B;      /* bytes a parameter to add one more micro-batch's gradients; 0: the products do it */
};

/* Parts sum to step_s. */
struct jl_step_cost {
	double step_s;
	double compute_s, host_s, tp_s, cp_s, ep_s;
	double bubble_s, send_s, dp_s, contention_s, optimizer_s, offload_s, generate_s, input_s;
	double other_frac; /* of captured programs: of the device's time, outside of products and attention */
	double hidden_s;   /* no part: communication behind computing, which costs contention_s */
};

struct jl_step_cost jl_step_cost(const struct jl_step_in *in);

/* Bytes of weights that a device holds for each parameter of the model. */
double jl_plan_held_B(const struct jl_plan *plan);

/* Layers of a stage. Where they do not divide, the last stage has one less, then the first, then others: the ends hold the head and the
 * embedding too (Megatron-LM's --account-for-loss-in-pipeline-split and --account-for-embedding-in-pipeline-split; Llama 3 was cut so). */
struct jl_stage_layers {
	double most, first, last;
	double middle; /* mean of the others */
};
struct jl_stage_layers jl_stage_layers(double n_layers, double n_stages);

/* Does every chunk of an interleaved pipeline have as many layers, the embedding and the head counted as one each or not at all? */
int jl_chunks_divide(double n_layers, double n_stages, double n_chunks);

/* Parameters that the fullest stage's device holds before any ZeRO cut. */
double jl_stage_params(const struct jl_model_size *size, const struct jl_plan *plan);

/* Of them, those that it keeps where they are cut over the ranks that hold the same ones. */
double jl_stage_own_params(const struct jl_model_size *size, const struct jl_plan *plan);

/* A pipeline of stages: 1F1B, plain or interleaved. Closed form, so that the number of stages costs nothing. Pure. */
struct jl_pipeline {
	double n_stages, n_micro;
	double n_chunks; /* model chunks a stage holds (interleaving); 1: plain */
	double first_s, middle_s,
		last_s;   /* one micro-batch forward and backward on a stage; first == last when alone */
	double fullest_s; /* of the middle stages, whose mean is middle_s; 0: all are alike */
	double send_s;    /* one activation (or its gradient) to the neighbour */
	double send_overlap_frac;
	int serial; /* nothing follows a micro-batch before it is through */
};

struct jl_pipeline_cost {
	double busy_s;   /* the slowest stage's own work */
	double bubble_s; /* what it waits while the pipeline fills and drains, and for slower neighbours */
	double send_s;   /* transfers that nothing hides */
};

struct jl_pipeline_cost jl_pipeline_cost(const struct jl_pipeline *pipe);

/* When each stage does what: 1F1B, interleaved where there are several chunks and whole rounds of micro-batches. All stages take `each_s` for
 * a micro-batch but the last, which takes `last_s`; a third of it is forward. */
struct jl_turn {
	double begin_s, end_s;
	int stage;
	bool back;
};
struct jl_turns_in {
	int n_stages, n_micro, n_chunks;
	double each_s, last_s;
};
#define JL_TURNS_MAX ((size_t)1 << 15)
size_t jl_turns_count(const struct jl_turns_in *in); /* 0: more than JL_TURNS_MAX, or no pipeline */
/* Stage by stage, in their order of time. `work`: 2 * count doubles. */
void jl_pipeline_turns(const struct jl_turns_in *in, struct jl_turn *ret_turns, double *work);

/* Micro-batches whose activations stage `index` (0: the first) keeps at once, in units of one whole stage. */
double jl_pipeline_in_flight(double n_stages, double n_micro, double n_chunks, double index);
