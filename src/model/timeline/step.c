/* Time of one training step from block times, pipeline and exchanges. Knows no catalog. */
#include "timeline/step.h"

#include <math.h>

#include "base/log2.h"

static int as_int(double x)
{
	return (int)(x + 0.5);
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

#define MAX_COMM 2

/* Data to exchange in n_pieces, each with its own latency. */
struct comm {
	enum jl_collective_kind kind;
	double size_B, n_pieces;
};

static double pieces(double size, double piece)
{
	return size > piece ? ceil(size / piece) : 1.0;
}

/* Times of collectives over `n_ranks` ranks that are `stride` devices apart. Rank order: tp, cp, dp, pp. */
static void comms_s(const struct jl_fabric *fabric, double n_ranks, double stride, const struct comm *comm, size_t n,
		    double *ret_s)
{
	const double per_node = fabric->n_per_node;
	const int in_node = as_int(larger(1.0, smaller(n_ranks, per_node / stride)));
	const int n_groups = as_int(larger(1.0, smaller(stride, per_node)));
	struct jl_collective coll[MAX_COMM];

	for (size_t i = 0; i < n; i++)
		coll[i] = (struct jl_collective){ .kind = comm[i].kind,
						  .size_B = comm[i].size_B / comm[i].n_pieces,
						  .n_ranks = as_int(n_ranks),
						  .n_ranks_per_node = in_node,
						  .n_groups_per_node = n_groups };
	jl_collective_times(fabric, coll, n, ret_s);
	for (size_t i = 0; i < n; i++)
		ret_s[i] *= comm[i].n_pieces;
}

static double comm_s(const struct jl_fabric *fabric, enum jl_collective_kind kind, double size_B, double n_ranks,
		     double stride)
{
	double time_s = 0.0;

	if (n_ranks > 1.0 && size_B > 0.0)
		comms_s(fabric, n_ranks, stride, &(struct comm){ kind, size_B, 1.0 }, 1, &time_s);
	return time_s;
}

/* DeepSeek-V3 (arXiv:2412.19437, 3.2.2): a token goes to at most four hosts, once to each, and from there to its experts over the links inside; 8
 * bits on the way out, 16 back. */
#define EP_HOSTS_MOST 4.0
#define EP_BYTES_FRAC 0.75

/* Number of copies sent per token. */
static double copies_of(const struct jl_fabric *fabric, const struct jl_plan *plan, double top_k)
{
	const double hosts = plan->ep * plan->tp / (fabric->n_per_node > 0 ? fabric->n_per_node : 1);
	double missed = 1.0;

	if (!plan->ep_async || hosts <= 1.0)
		return top_k;
	for (double k = 0.0; k < top_k && missed > 0.0; k++) /* ends by underflow for any top_k */
		missed *= 1.0 - 1.0 / hosts;
	return EP_BYTES_FRAC * smaller(hosts * (1.0 - missed), EP_HOSTS_MOST);
}

struct jl_layer_comm jl_layer_comm(const struct jl_fabric *fabric, const struct jl_plan *plan,
				   const struct jl_comm_in *in)
{
	struct jl_layer_comm comm = { 0 };
	const double size_B = in->elements * in->act_B;

	if (plan->tp > 1.0) { /* after attention and after the feed-forward part */
		comm.tp_s = plan->sp ? 2.0 * (comm_s(fabric, JL_ALLGATHER, size_B, plan->tp, 1.0) +
					      comm_s(fabric, JL_REDUCESCATTER, size_B, plan->tp, 1.0))
				     : 2.0 * comm_s(fabric, JL_ALLREDUCE, size_B, plan->tp, 1.0);
		comm.n_comm += plan->sp ? 4.0 : 2.0;
	}
	if (plan->cp > 1.0) { /* keys and values visit every rank of the ring */
		comm.cp_s = comm_s(fabric, JL_ALLGATHER, size_B * in->kv_frac * plan->cp / plan->tp, plan->cp,
				   plan->tp);
		comm.n_comm += plan->cp;
	}
	if (plan->ep > 1.0 && in->top_k > 0.0) { /* tokens to their experts and back */
		comm.ep_s = 2.0 * comm_s(fabric, JL_ALLTOALL, size_B * copies_of(fabric, plan, in->top_k), plan->ep,
					 plan->tp);
		comm.n_comm += 2.0;
	}
	return comm;
}

static double busy_s(const struct jl_phase_cost *phase, const struct jl_profile *profile, double attention_gain)
{
	return (1.0 + profile->more_frac) *
	       (phase->gemm_s + phase->attention_s * attention_gain + phase->stream_s * profile->stream_frac);
}

/* Throttling that products recover: during the rest of `all_s` the device stays below its power limit, and the next product may use the difference.
 */
static double hot_s(const struct jl_phase_cost *phase, double all_s, double cool_frac)
{
	return smaller(phase->hot_s, cool_frac * (all_s - phase->gemm_s));
}

/* The slower of device and host sets the pace; if they are close, each sometimes waits for the other (fourth-power mean). */
static double paced_s(double device_s, double host_s)
{
	const double d2 = device_s * device_s, h2 = host_s * host_s;

	return sqrt(sqrt(d2 * d2 + h2 * h2));
}

/* Exposed part of the keys' and values' transfer during attention; the first piece is always exposed. */
static double open_cp_s(double comm, double attention_s)
{
	return comm - 0.9 * smaller(comm, attention_s);
}

/* Exposed part of the experts' exchange; at least 5 %, its two ends. */
static double open_ep_s(const struct jl_plan *plan, double comm_s, double work_s)
{
	static const double open_frac = 0.05, hiding_frac = 0.9;

	return plan->ep_async ? larger(open_frac * comm_s, comm_s - hiding_frac * work_s) : comm_s;
}

/* Forward and backward are paced separately. Pacing their sum would let a slower device raise the backward share of the step, and hide more of the
 * exchange than it costs. */
struct jl_block_time jl_block_time(const struct jl_profile *profile, const struct jl_plan *plan,
				   const struct jl_block_cost *cost, const struct jl_layer_comm *comm)
{
	struct jl_block_time time = { 0 };
	const double gain = profile->portable_flash && cost->portable_gain > 0.0 ? cost->portable_gain : 1.0;
	const double fwd_s = busy_s(&cost->fwd, profile, gain);
	const double bwd_s = busy_s(&cost->bwd, profile, gain);
	const double re_s = busy_s(&cost->re, profile, gain);
	const struct jl_phase_cost both = { .gemm_s = cost->bwd.gemm_s + cost->re.gemm_s,
					    .hot_s = cost->bwd.hot_s + cost->re.hot_s };
	const double back = plan->recompute == JL_RECOMPUTE_FULL ? 2.0 : 1.0; /* passes besides the forward pass */
	/* the last piece of an overlapped collective is exposed */
	const double open_frac = 1.0 -
				 (plan->tp_async ? larger(profile->tp_overlap_frac, 0.6) : profile->tp_overlap_frac);
	const double tp_s = comm->tp_s * open_frac;
	/* with sequence parallelism the input is gathered once more for the weight gradient */
	const double tp_bwd_s = tp_s * (back + (plan->sp && plan->tp > 1.0 ? 0.25 : 0.0));
	const double cp_fwd_s = open_cp_s(comm->cp_s, cost->fwd.attention_s * gain);
	const double cp_bwd_s = open_cp_s(comm->cp_s * back, cost->bwd.attention_s * gain);
	const double ep_fwd_s = open_ep_s(plan, comm->ep_s, fwd_s);
	const double ep_bwd_s = open_ep_s(plan, comm->ep_s * back, bwd_s + re_s);
	const double fwd_comm_s = tp_s + cp_fwd_s + ep_fwd_s, bwd_comm_s = tp_bwd_s + cp_bwd_s + ep_bwd_s;
	const double fwd_hot_s = hot_s(&cost->fwd, fwd_s + fwd_comm_s, profile->cool_frac);
	const double bwd_hot_s = hot_s(&both, bwd_s + re_s + bwd_comm_s, profile->cool_frac);
	const double fwd_device_s = fwd_s + fwd_comm_s - fwd_hot_s;
	const double bwd_device_s = bwd_s + re_s + bwd_comm_s - bwd_hot_s;
	const double comm_host_s = comm->n_comm * profile->comm_launch_s;
	const double fwd_host_s = cost->fwd.n_calls * profile->launch_s + comm_host_s;
	const double bwd_host_s = (cost->bwd.n_calls + cost->re.n_calls) * profile->launch_s + comm_host_s * back;

	const double n_fwd = 1.0 + plan->extra_passes;

	time.compute_s = n_fwd * (fwd_s - fwd_hot_s) + bwd_s + re_s - bwd_hot_s;
	time.tp_s = n_fwd * tp_s + tp_bwd_s;
	time.cp_s = n_fwd * cp_fwd_s + cp_bwd_s;
	time.ep_s = n_fwd * ep_fwd_s + ep_bwd_s;
	time.host_s = n_fwd * (paced_s(fwd_device_s, fwd_host_s) - fwd_device_s) +
		      (paced_s(bwd_device_s, bwd_host_s) - bwd_device_s);
	time.need_s = n_fwd * fwd_host_s + bwd_host_s;
	return time;
}

static void add_time(struct jl_block_time *sum, const struct jl_block_time *block, double n)
{
	sum->compute_s += n * block->compute_s;
	sum->host_s += n * block->host_s;
	sum->tp_s += n * block->tp_s;
	sum->cp_s += n * block->cp_s;
	sum->ep_s += n * block->ep_s;
	sum->need_s += n * block->need_s;
}

static struct jl_block_time times(const struct jl_block_time *block, double n)
{
	return (struct jl_block_time){ .compute_s = n * block->compute_s,
				       .host_s = n * block->host_s,
				       .tp_s = n * block->tp_s,
				       .cp_s = n * block->cp_s,
				       .ep_s = n * block->ep_s,
				       .need_s = n * block->need_s };
}

static double total_s(const struct jl_block_time *time)
{
	return time->compute_s + time->host_s + time->tp_s + time->cp_s + time->ep_s;
}

/* Distribution of layers over stages. */
struct cut {
	double per_stage; /* mean number of layers per stage */
	double most;      /* layers on the fullest stage */
	double moe_frac;
	struct jl_stage_layers on;
};

static struct cut cut_of(const struct jl_model_size *size, const struct jl_plan *plan)
{
	const double n_layers = size->n_dense_layers + size->n_moe_layers, per_stage = n_layers / plan->pp;

	return (struct cut){ .per_stage = per_stage,
			     .most = ceil(per_stage - 1e-9),
			     .on = jl_stage_layers(n_layers, plan->pp),
			     .moe_frac = size->n_moe_layers > 0.0 ? size->n_moe_layers / n_layers : 0.0 };
}

/* Time of one micro-batch on the fullest stage, and the pipeline around it. */
static struct jl_block_time stage_time(const struct jl_step_in *in, const struct cut *cut, struct jl_pipeline *pipe)
{
	const struct jl_plan *plan = in->plan;
	const struct jl_stage_layers *on = &cut->on;
	const struct jl_block_time *layer = &in->block[JL_BLOCK_DENSE];
	struct jl_block_time mixed, full;

	if (cut->moe_frac > 0.0) {
		mixed = times(layer, 1.0 - cut->moe_frac);
		add_time(&mixed, &in->block[JL_BLOCK_MOE], cut->moe_frac);
		layer = &mixed;
	}
	const double layer_s = total_s(layer), head_s = total_s(&in->block[JL_BLOCK_HEAD]);

	*pipe = (struct jl_pipeline){
		.n_stages = plan->pp, .n_micro = plan->n_micro, .n_chunks = plan->n_chunks, .serial = plan->serial
	};
	if (plan->pp <= 1.0) {
		full = times(layer, on->most);
		add_time(&full, &in->block[JL_BLOCK_EMBED], 1.0);
		add_time(&full, &in->block[JL_BLOCK_HEAD], 1.0);
		pipe->first_s = pipe->middle_s = pipe->last_s = total_s(&full);
		return full;
	}
	pipe->first_s = layer_s * on->first + total_s(&in->block[JL_BLOCK_EMBED]);
	pipe->middle_s = layer_s * on->middle;
	pipe->fullest_s = plan->pp > 2.0 ? layer_s * on->most : 0.0;
	pipe->last_s = layer_s * on->last + head_s;
	if (pipe->last_s >= larger(pipe->first_s, pipe->fullest_s)) {
		full = times(layer, on->last);
		add_time(&full, &in->block[JL_BLOCK_HEAD], 1.0);
		return full;
	}
	full = times(layer, pipe->fullest_s >= pipe->first_s ? on->most : on->first);
	if (pipe->first_s > pipe->fullest_s)
		add_time(&full, &in->block[JL_BLOCK_EMBED], 1.0);
	return full;
}

static double stage_params(const struct jl_model_size *size, const struct jl_plan *plan, const struct cut *cut)
{
	const double ends = plan->pp > 1.0
				    ? larger(size->embed_params, size->tied ? size->embed_params : size->head_params)
				    : size->embed_params + size->head_params;
	double layer = size->dense_params;

	if (cut->moe_frac > 0.0)
		layer = (1.0 - cut->moe_frac) * size->dense_params +
			cut->moe_frac * (size->moe_params - size->expert_params + size->expert_params / plan->ep);
	return larger(cut->most * layer, (plan->pp > 1.0 ? cut->on.last : cut->most) * layer + ends) / plan->tp;
}

double jl_stage_params(const struct jl_model_size *size, const struct jl_plan *plan)
{
	const struct cut cut = cut_of(size, plan);

	return stage_params(size, plan, &cut);
}

struct exchange {
	double each_s;   /* per micro-batch, overlaps with computation */
	double reduce_s; /* per step, overlaps with the last backward pass */
	double open_s;   /* per step, never hidden */
};

/* smallest default bucket of frameworks that all-reduce (PyTorch DDP 25 MB, Horovod 128 MB, apex 10 M elements) */
#define LEAST_BUCKET_B 25e6
/* Fewest elements per rank and ring step: below, latency dominates, so sharding frameworks grow their buckets with the ranks (Megatron-Core: max(40
 * M, 1 M * ranks) parameters). */
#define LEAST_ELEMS_PER_RANK 1e6

/* Ranks that shard the states. */
static double shard_ranks(const struct jl_plan *plan)
{
	const double n_ranks = plan->dp * plan->cp;

	return plan->shard > 0.0 ? smaller(plan->shard, n_ranks) : n_ranks;
}

/* Parameters of one kind and the ranks that hold the same ones. */
struct held {
	double params;  /* per device, before sharding */
	double n_ranks; /* number of ranks that hold them */
	double shard;   /* number of ranks that shard their states */
	double stride;  /* devices between two of those ranks */
};

/* Bytes per gradient element in the exchange. */
static double sent_B(const struct jl_plan *plan)
{
	return plan->reduce_B > 0.0 ? plan->reduce_B : plan->grad_B;
}

double jl_plan_held_B(const struct jl_plan *plan)
{
	return plan->trained_frac * plan->weight_B + plan->frozen_frac * plan->frozen_B;
}

/* Collectives of gradients and parameters with sharded states. */
static void cut_comms(const struct jl_step_in *in, const struct cut *cut, const struct held *held, struct comm *grads,
		      struct comm *weights)
{
	const struct jl_plan *plan = in->plan;
	const double bucket_B = larger(in->profile->bucket_B, LEAST_BUCKET_B);
	const double least = LEAST_ELEMS_PER_RANK * held->shard;
	const double trained = held->params * plan->trained_frac;
	const double each_B = plan->zero == 3 ? jl_plan_held_B(plan) : plan->trained_frac * plan->weight_B;

	grads->kind = JL_REDUCESCATTER;
	grads->size_B = trained * sent_B(plan);
	weights->kind = JL_ALLGATHER;
	weights->size_B = held->params * each_B;
	switch (plan->zero) {
	case 3: /* FSDP: one layer at a time */ grads->n_pieces = weights->n_pieces = cut->most; break;
	case 2: /* DeepSpeed all-reduces by default (use_multi_rank_bucket_allreduce): each rank keeps its share of the sum */
		grads->kind = JL_ALLREDUCE;
		grads->n_pieces = weights->n_pieces = pieces(trained, JL_ZERO2_BUCKET_ELEMS);
		break;
	default:
		if (plan->zero1_after) {
			grads->kind = JL_ALLREDUCE;
			grads->n_pieces = weights->n_pieces = pieces(trained, JL_ZERO2_BUCKET_ELEMS);
			break;
		}
		grads->n_pieces = pieces(grads->size_B, larger(bucket_B, least * sent_B(plan)));
		weights->n_pieces = pieces(weights->size_B, larger(bucket_B, least * plan->weight_B));
	}
}

static struct exchange exchange_of(const struct jl_step_in *in, const struct cut *cut, const struct held *held)
{
	const struct jl_plan *plan = in->plan;
	const double n_ranks = held->n_ranks, shard = held->shard, stride = held->stride;
	const double bucket_B = larger(in->profile->bucket_B, LEAST_BUCKET_B);
	const double grads_B = held->params * plan->trained_frac * sent_B(plan);
	struct exchange x = { 0 };
	struct comm comm[MAX_COMM];
	double time_s[MAX_COMM] = { 0 };

	if (n_ranks <= 1.0)
		return x;
	if (plan->zero == 0) {
		comm[0] = (struct comm){ JL_ALLREDUCE, grads_B, pieces(grads_B, bucket_B) };
		comms_s(in->fabric, n_ranks, stride, comm, 1, &x.reduce_s);
		return x;
	}
	if (shard < n_ranks) { /* sharding over a subset of the ranks: all-reduce of the shards across subsets */
		comm[0] = (struct comm){ JL_ALLREDUCE, grads_B / shard, pieces(grads_B / shard, bucket_B) };
		comms_s(in->fabric, n_ranks / shard, stride * shard, comm, 1, &x.reduce_s);
	}
	cut_comms(in, cut, held, &comm[0], &comm[1]);
	if (shard > 1.0)
		comms_s(in->fabric, shard, stride, comm, MAX_COMM, time_s);
	if (plan->zero == 3) {
		x.each_s = time_s[1] * (plan->keep_gathered || plan->hold_step ? 1.0 : 2.0) + time_s[0];
		return x;
	}
	/* Updated parameters can be gathered only after the optimizer, and the next forward pass needs the first at once. DeepSpeed ZeRO-2 reduces
	 * after every backward pass and waits (overlap_comm is off by default). */
	if (plan->zero == 2)
		return (struct exchange){ .open_s = time_s[1] + plan->n_micro * time_s[0] + x.reduce_s };
	if (plan->zero1_after)
		return (struct exchange){ .open_s = time_s[1] + time_s[0] + x.reduce_s };
	x.open_s = time_s[1];
	x.reduce_s += time_s[0];
	return x;
}

static double stage_experts(const struct jl_model_size *size, const struct jl_plan *plan, const struct cut *cut)
{
	return cut->moe_frac > 0.0 ? cut->most * cut->moe_frac * size->expert_params / (plan->ep * plan->tp) : 0.0;
}

/* Experts are exchanged among the ranks that hold the same ones: every ep-th. */
static struct exchange exchange_s(const struct jl_step_in *in, const struct cut *cut, double params)
{
	const struct jl_plan *plan = in->plan;
	const double n_ranks = plan->dp * plan->cp, shard = shard_ranks(plan);
	const double experts = plan->ep > 1.0 ? stage_experts(in->size, plan, cut) : 0.0;
	const struct held rest = { params - experts, n_ranks, shard, plan->tp };
	struct exchange x = exchange_of(in, cut, &rest);

	if (experts > 0.0) {
		const struct held held = { experts, larger(1.0, n_ranks / plan->ep), larger(1.0, shard / plan->ep),
					   plan->tp * plan->ep };
		const struct exchange more = exchange_of(in, cut, &held);

		x.each_s += more.each_s;
		x.reduce_s += more.reduce_s;
		x.open_s += more.open_s;
	}
	return x;
}

/* Parameters whose states a device keeps when they are sharded. */
static double own_params(const struct jl_model_size *size, const struct jl_plan *plan, const struct cut *cut,
			 double params)
{
	const double experts = plan->ep > 1.0 ? stage_experts(size, plan, cut) : 0.0, shard = shard_ranks(plan);

	return (params - experts) / shard + experts / larger(1.0, shard / plan->ep);
}

double jl_stage_own_params(const struct jl_model_size *size, const struct jl_plan *plan)
{
	const struct cut cut = cut_of(size, plan);

	return own_params(size, plan, &cut, stage_params(size, plan, &cut));
}

/* Exposed seconds of `comm` if up to `room` seconds of computation can hide it. */
static double open_s(double comm, double overlap_frac, double room, double *hidden)
{
	const double hide = larger(0.0, smaller(comm * overlap_frac, room));

	*hidden += hide;
	return comm - hide;
}

/* Exposed offload time. `room`: seconds of computation that can hide transfers, at most four fifths of it. */
static double offload_s(const struct jl_step_in *in, const struct cut *cut, double params, double room)
{
	const struct jl_plan *plan = in->plan;
	const double own = (plan->zero >= 1 ? own_params(in->size, plan, cut, params) : params) * plan->trained_frac;
	double time_s = 0.0, moved_B = 0.0;

	if (plan->paged) /* states move to the device and back */
		time_s += 2.0 * own * plan->optimizer_B / in->dev->host_Bps;
	if (plan->offload & JL_OFFLOAD_OPTIMIZER) {
		/* gradients of further micro-batches are added in host memory: read and write */
		const double sum_B = (plan->n_micro - 1.0) * (8.0 + plan->grad_B) * in->fabric->n_per_node;

		time_s += own * (plan->n_micro * plan->grad_B + plan->weight_B) / in->dev->host_Bps +
			  own * (plan->optimizer_moved_B * in->fabric->n_per_node + sum_B) / in->host_mem_Bps;
		if (plan->offload &
		    JL_OFFLOAD_NVME) /* read, updated, written back; a host's devices share the drives */
			time_s += 2.0 * own * plan->optimizer_B * in->fabric->n_per_node / plan->nvme_Bps;
	}
	if (plan->offload & JL_OFFLOAD_PARAMS)
		moved_B += 2.0 * plan->n_micro * (plan->zero == 3 ? own_params(in->size, plan, cut, params) : params) *
			   jl_plan_held_B(plan);
	if (plan->offload & JL_OFFLOAD_ACTIVATIONS)
		moved_B += 2.0 * plan->n_micro * in->saved_B * cut->per_stage;
	if (moved_B > 0.0)
		time_s += larger(0.0, moved_B / in->dev->host_Bps - 0.8 * larger(0.0, room));
	return time_s;
}

struct update { /* time of the optimizer's update */
	double device_s;
	double need_s; /* host seconds of its launches */
	double host_s; /* of need_s: exceeding the device time */
};

static struct update update_s(const struct jl_step_in *in, const struct cut *cut, double params)
{
	const struct jl_plan *plan = in->plan;
	const double own = (plan->zero >= 1 ? own_params(in->size, plan, cut, params) : params) * plan->trained_frac;
	struct update u = { 0 };

	if (plan->no_optimizer || (plan->offload & JL_OFFLOAD_OPTIMIZER))
		return u;
	const double kernels = plan->optimizer_kernels > 0.0 ? plan->optimizer_kernels : in->profile->optimizer_kernels;

	u.need_s = cut->per_stage * kernels * in->profile->launch_s;
	u.device_s = jl_stream_s(
		in->dev, &(struct jl_stream){ .moved_B = own * plan->optimizer_moved_B * in->profile->optimizer_frac,
					      .flop = own * 16.0 });
	if (plan->optimizer_flop > 0.0)
		u.device_s += own * plan->optimizer_flop /
			      (in->dev->peak_flopps[JL_BF16] * in->dev->fit.gemm_frac[JL_BF16]);
	u.host_s = sqrt(u.need_s * u.need_s + u.device_s * u.device_s) - u.device_s;
	return u;
}

/* Host seconds per micro-batch to gather sharded weights: for the forward pass, the backward pass and recompute. */
static double gather_s(const struct jl_step_in *in, const struct cut *cut)
{
	const struct jl_plan *plan = in->plan;
	const double passes = plan->keep_gathered ? 1.0 : plan->recompute == JL_RECOMPUTE_FULL ? 3.0 : 2.0;

	if (plan->zero != 3 || plan->dp * plan->cp <= 1.0)
		return 0.0;
	return passes * cut->most * larger(plan->gathers, 1.0) * in->profile->gather_s;
}

/* Time to send an activation to the next stage, and to all-reduce the gradients of a table tied between first and last stage. */
static void between_stages_s(const struct jl_step_in *in, double *ret_send_s, double *ret_tied_s)
{
	const struct jl_plan *plan = in->plan;
	const struct comm comm[MAX_COMM] = {
		{ JL_SENDRECV, in->boundary_B, 1.0 },
		{ JL_ALLREDUCE, in->size->embed_params / plan->tp * plan->grad_B, 1.0 },
	};
	double time_s[MAX_COMM] = { 0 };

	comms_s(in->fabric, 2.0, plan->tp * plan->cp * plan->dp, comm, in->size->tied ? 2 : 1, time_s);
	*ret_send_s = time_s[0];
	*ret_tied_s = time_s[1];
}

/* Time to add the gradients of further micro-batches. */
static double sum_s(const struct jl_step_in *in, const struct cut *cut, double params)
{
	const struct jl_plan *plan = in->plan;
	const double own = (plan->zero == 3 ? own_params(in->size, plan, cut, params) : params) * plan->trained_frac;

	if (plan->n_micro <= 1.0 || !(in->sum_B > 0.0))
		return 0.0;
	return (plan->n_micro - 1.0) * jl_stream_s(in->dev, &(struct jl_stream){ .moved_B = own * in->sum_B });
}

struct jl_step_cost jl_step_cost(const struct jl_step_in *in)
{
	const struct jl_plan *plan = in->plan;
	const struct cut cut = cut_of(in->size, plan);
	const double params = stage_params(in->size, plan, &cut);
	const double m = plan->n_micro;
	struct jl_step_cost cost = { 0 };
	struct jl_pipeline pipe;
	const struct jl_block_time full = stage_time(in, &cut, &pipe);
	double hidden = 0.0, tied_s = 0.0;

	if (plan->pp > 1.0) {
		between_stages_s(in, &pipe.send_s, &tied_s);
		pipe.send_overlap_frac = plan->n_chunks > 1.0 ? 0.5 : 0.0;
	}
	const struct jl_pipeline_cost run = jl_pipeline_cost(&pipe);
	const double slowest_s = larger(larger(pipe.first_s, pipe.last_s), larger(pipe.middle_s, pipe.fullest_s));
	const double scale = slowest_s > 0.0 ? m * slowest_s / larger(total_s(&full), 1e-30) : 0.0;

	const struct update update = update_s(in, &cut, params);

	cost.compute_s = full.compute_s * scale + sum_s(in, &cut, params);
	cost.optimizer_s = update.device_s;
	cost.host_s = full.host_s * scale + update.host_s + in->profile->step_s;
	cost.tp_s = full.tp_s * scale;
	cost.cp_s = full.cp_s * scale;
	cost.ep_s = full.ep_s * scale;
	cost.bubble_s = run.bubble_s;
	cost.send_s = run.send_s;
	double work_s = m * slowest_s;

	if (plan->pp <= 1.0) { /* without synchronisation before the step ends, the host runs ahead through all of it */
		const double blocks_s = cost.compute_s + cost.tp_s + cost.cp_s + cost.ep_s;
		const double device_s = blocks_s + update.device_s;

		cost.host_s = paced_s(device_s,
				      m * (full.need_s + gather_s(in, &cut)) + update.need_s + in->profile->step_s) -
			      device_s;
		work_s = blocks_s + cost.host_s;
	}
	/* fixed backward share: a share computed from device times would let a slower device hide more than it costs */
	const double bwd_s = (plan->recompute == JL_RECOMPUTE_FULL ? 0.75 : 2.0 / 3.0) * work_s / m;

	const struct exchange x = exchange_s(in, &cut, params);

	/* per-micro-batch exchange hides behind all work; gradients hide behind what is left of the last backward pass */
	cost.dp_s = open_s(x.each_s * (plan->hold_step ? 1.0 : m), in->profile->fsdp_overlap_frac, work_s, &hidden);
	cost.dp_s += open_s(x.reduce_s, in->profile->dp_overlap_frac, smaller(bwd_s, work_s - hidden), &hidden);
	cost.dp_s += x.open_s + tied_s;
	cost.hidden_s = hidden;
	cost.contention_s = hidden * in->profile->contention_frac;
	cost.offload_s = plan->offload || plan->paged ? offload_s(in, &cut, params, work_s - hidden) : 0.0;
	cost.step_s = cost.compute_s + cost.host_s + cost.tp_s + cost.cp_s + cost.ep_s + cost.bubble_s + cost.send_s +
		      cost.dp_s + cost.contention_s + cost.optimizer_s + cost.offload_s;
	/* every device waits for the slowest, which gets slower with their number */
	const double wait_s = cost.step_s * in->profile->straggler_frac *
			      jl_log2(plan->dp * plan->tp * plan->pp * plan->cp);

	cost.host_s += wait_s;
	cost.generate_s = in->generate_s;
	cost.step_s += wait_s + in->generate_s;
	cost.input_s = larger(0.0, in->input_s - cost.step_s);
	cost.step_s += cost.input_s;
	return cost;
}
