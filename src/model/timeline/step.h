/* One training step: blocks -> stages -> pipeline -> gradient exchange -> optimizer. Pure; the work does not grow with the number of devices. Block
 * times are computed once per (micro-batch, tp, cp, ep, sp, recompute) and reused. */
#pragma once

#include "fabric/collective.h"
#include "kernels/layer.h"
#include "timeline/profile.h"

/* NVME: optimizer states on the host's drives (ZeRO-Infinity) instead of its memory. */
enum jl_offload { JL_OFFLOAD_OPTIMIZER = 1, JL_OFFLOAD_PARAMS = 2, JL_OFFLOAD_ACTIVATIONS = 4, JL_OFFLOAD_NVME = 8 };

/* DeepSpeed's reduce_bucket_size and allgather_bucket_size; stage3_max_live_parameters; elements. */
#define JL_ZERO2_BUCKET_ELEMS 5e8
#define JL_ZERO3_LIVE_ELEMS   1e9

struct jl_plan {
	double dp, tp, pp, cp, ep;
	double n_chunks; /* interleaved pipeline: model chunks per stage; 1: plain 1F1B */
	double n_micro;  /* micro-batches per step and data-parallel rank */
	int serial; /* layers spread over devices without pipelining: stages take turns, one micro-batch at a time */
	int sp;
	int zero;          /* ZeRO stage 0..3; 1: distributed optimizer; 2: DeepSpeed's; 3: also FSDP */
	double shard;      /* ranks that shard the states; 0: all dp*cp (fewer: HSDP, ZeRO inside a host) */
	int zero1_after;   /* DeepSpeed's stage 1: one all-reduce per step after the last backward pass */
	int keep_gathered; /* FSDP SHARD_GRAD_OP: gathered parameters stay from forward to backward */
	int keeps_live;    /* DeepSpeed ZeRO-3 defaults: recently gathered parameters stay */
	double gathers;    /* ZeRO-3: pieces per layer, gathered separately; 0: the whole layer at once */
	int copies_out;    /* FSDP2: copies gathered parameters to tensors, and gradients back before reduce-scatter */
	int flat_grads; /* FSDP that accumulates unsharded gradients: of whole flat parameters, frozen ones included */
	int hold_step;  /* FSDP with a pipeline: parameters and unsharded gradients stay for all micro-batches */
	int whole_experts; /* experts are distributed over the tp ranks too and not sharded themselves (memory only) */
	int ep_async;      /* experts' all-to-all overlaps with another micro-batch, one copy per host (DualPipe) */
	int tp_async;      /* collectives inside a layer overlap with products */
	enum jl_recompute recompute;
	unsigned offload;                     /* bits of enum jl_offload */
	int no_optimizer;                     /* forward and backward only */
	double weight_B, grad_B, optimizer_B; /* bytes per parameter: working copy, gradient, states with master copy */
	double reduce_B;                      /* bytes per gradient element in the exchange; 0: grad_B */
	double optimizer_moved_B;             /* bytes per parameter that one optimizer pass moves */
	int update_copies; /* PyTorch foreach optimizer: a temporary copy as large as the weights during the update */
	double optimizer_kernels; /* launches per layer of an unfused optimizer; 0: the profile's */
	double optimizer_flop;    /* matrix FLOP of the optimizer per parameter (Muon); 0: none */
	double nvme_Bps;          /* JL_OFFLOAD_NVME: all drives of a host */
	int paged;                /* paged optimizer: states move to the host if the device is full */
	double trained_frac;      /* trained parameters, adapters included / parameters of the model; usually 1 */
	double frozen_frac;       /* frozen parameters / parameters of the model */
	double frozen_B;          /* bytes per frozen parameter */
	double extra_passes;      /* additional forward passes per micro-batch (a reference model) */
};

/* Parameters of each block, all devices together. */
struct jl_model_size {
	double n_dense_layers, n_moe_layers;
	double dense_params, moe_params; /* per layer; moe: experts included */
	double expert_params;            /* per MoE layer: routed experts, sharded by ep and tp */
	double embed_params, head_params;
	int tied;
	double hidden;
};

/* Seconds of one block per micro-batch: forward, backward and recompute. */
struct jl_block_time {
	double compute_s;
	double host_s; /* host time exceeding the device time */
	double tp_s, cp_s, ep_s;
	double need_s; /* host time of all launches */
};

/* Collectives of one layer for one micro-batch and direction. */
struct jl_layer_comm {
	double tp_s, cp_s, ep_s; /* forward; each is the sum over the layer */
	double n_comm;
};

struct jl_block_time jl_block_time(const struct jl_profile *profile, const struct jl_plan *plan,
				   const struct jl_block_cost *cost, const struct jl_layer_comm *comm);

/* elements: one micro-batch's activation on a device (micro_batch * seq / cp * hidden); kv_frac: keys and values / hidden. */
struct jl_comm_in {
	double elements, kv_frac, act_B;
	double top_k; /* 0: no MoE layer */
};
struct jl_layer_comm jl_layer_comm(const struct jl_fabric *fabric, const struct jl_plan *plan,
				   const struct jl_comm_in *in);

struct jl_step_in {
	const struct jl_device *dev;
	const struct jl_fabric *fabric;
	const struct jl_profile *profile;
	const struct jl_model_size *size;
	const struct jl_plan *plan;
	const struct jl_block_time *block; /* array of JL_N_BLOCK */
	double saved_B;                    /* per layer and micro-batch: bytes moved by activation offload */
	double boundary_B;                 /* activation sent to the next stage */
	double host_mem_Bps; /* host memory bandwidth, shared by its devices; offloaded optimizers run on it */
	double generate_s;   /* time to generate the samples before training on them (GRPO); 0: none */
	double input_s;      /* input pipeline, seconds per step; 0: never limits */
	double sum_B; /* bytes per parameter to add a further micro-batch's gradients; 0: done inside the products */
};

/* The parts sum to step_s. */
struct jl_step_cost {
	double step_s;
	double compute_s, host_s, tp_s, cp_s, ep_s;
	double bubble_s, send_s, dp_s, contention_s, optimizer_s, offload_s, generate_s, input_s;
	double other_frac; /* captured programs: share of the device time outside products and attention */
	double hidden_s;   /* not a part: communication hidden behind computation, at the cost of contention_s */
};

struct jl_step_cost jl_step_cost(const struct jl_step_in *in);

/* Bytes of weights on a device per parameter of the model. */
double jl_plan_held_B(const struct jl_plan *plan);

/* Layers of a stage. If they do not divide evenly, the last stage has one layer less, then the first, then others, because the ends hold head and
 * embedding (Megatron-LM's --account-for-loss-in-pipeline-split and --account-for-embedding-in-pipeline-split; Llama 3 did so). */
struct jl_stage_layers {
	double most, first, last;
	double middle; /* mean number of layers of the other stages */
};
struct jl_stage_layers jl_stage_layers(double n_layers, double n_stages);

/* True if all chunks of an interleaved pipeline have equally many layers, with embedding and head counted as one each or not at all. */
int jl_chunks_divide(double n_layers, double n_stages, double n_chunks);

/* Parameters on the fullest stage's device before ZeRO sharding. */
double jl_stage_params(const struct jl_model_size *size, const struct jl_plan *plan);

/* Of them, the parameters kept if sharded over the ranks that hold the same ones. */
double jl_stage_own_params(const struct jl_model_size *size, const struct jl_plan *plan);

/* 1F1B pipeline, plain or interleaved. Closed form: the cost does not depend on the number of stages. Pure. */
struct jl_pipeline {
	double n_stages, n_micro;
	double n_chunks; /* model chunks per stage (interleaving); 1: plain */
	double first_s, middle_s,
		last_s;   /* one micro-batch, forward and backward, on a stage; a single stage: first == last */
	double fullest_s; /* largest of the middle stages, whose mean is middle_s; 0: all equal */
	double send_s;    /* one activation (or its gradient) to the next stage */
	double send_overlap_frac;
	int serial; /* a micro-batch starts after the previous one has passed all stages */
};

struct jl_pipeline_cost {
	double busy_s;   /* time of the slowest stage's own work */
	double bubble_s; /* waiting while the pipeline fills and drains, and for slower neighbours */
	double send_s;   /* time of exposed transfers */
};

struct jl_pipeline_cost jl_pipeline_cost(const struct jl_pipeline *pipe);

/* Timetable of all stages: 1F1B, interleaved if there are several chunks and whole rounds of micro-batches. A micro-batch takes each_s (last stage:
 * last_s), a third of it forward. */
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
/* Sorted by stage, then time. `work`: scratch of 2 * count doubles. */
void jl_pipeline_turns(const struct jl_turns_in *in, struct jl_turn *ret_turns, double *work);

/* Activations that stage `index` (0: first) keeps at once, in micro-batches of one whole stage. */
double jl_pipeline_in_flight(double n_stages, double n_micro, double n_chunks, double index);
