/* Memory of a training step on the fullest stage. Knows no framework by name. */
#include "memory/memory.h"

#include <math.h>

#include "timeline/step.h"

/* Values shared by all stages. */
struct common {
	double layer_params, layer_saved_B, work_B; /* per layer and device, before ZeRO sharding */
	double layer_experts;                       /* of layer_params: routed experts */
	double layers;                              /* layers of the current stage */
	double n_ranks;
	double own_frac;    /* 1 / number of ranks that shard the states */
	double expert_frac; /* the same for experts: only every ep-th rank holds the same ones */
	double n_groups;    /* number of communicators */
};

struct stage {
	double params;   /* per device, before ZeRO sharding */
	double own_frac; /* share of the states kept on this device */
	double in_flight;
	int has_head, has_embed;
};

/* Number of communicators: one per kind of parallelism, one for the tied table of the pipeline's ends, and one for the whole model (gradient norm).
 */
static double groups(const struct jl_plan *plan, double n_ranks, int tied)
{
	const double cut = plan->tp * plan->pp;

	return (plan->tp > 1.0) + (plan->pp > 1.0) + (n_ranks > 1.0) + (plan->ep > 1.0) + (plan->pp > 1.0 && tied) +
	       (cut > 1.0 && n_ranks > 1.0);
}

static struct common common_of(const struct jl_memory_in *in)
{
	const struct jl_model_size *size = in->size;
	const struct jl_plan *plan = in->plan;
	const struct jl_block_cost *dense = &in->block[JL_BLOCK_DENSE], *moe = &in->block[JL_BLOCK_MOE];
	const double n_layers = size->n_dense_layers + size->n_moe_layers, n_ranks = plan->dp * plan->cp;
	const double shard = plan->shard > 0.0 ? fmin(plan->shard, n_ranks) : n_ranks;
	const double expert_tp = plan->whole_experts ? 1.0 : plan->tp;
	struct common c = {
		.layer_params = size->dense_params / plan->tp,
		.layer_saved_B = dense->saved_B,
		.work_B = fmax(dense->work_B, moe->work_B),
		.layers = ceil(n_layers / plan->pp - 1e-9),
		.n_ranks = n_ranks,
		.own_frac = 1.0 / shard,
		.expert_frac = fmin(1.0, fmax(plan->ep, 1.0) * expert_tp / (shard * plan->tp)),
		.n_groups = groups(plan, n_ranks, size->tied),
	};

	if (size->n_moe_layers > 0.0) {
		const double frac = size->n_moe_layers / n_layers;
		const double rest = size->moe_params - size->expert_params;

		c.layer_experts = frac * size->expert_params / (plan->ep * expert_tp);
		c.layer_params = ((1.0 - frac) * size->dense_params + frac * rest) / plan->tp + c.layer_experts;
		c.layer_saved_B = (1.0 - frac) * dense->saved_B + frac * moe->saved_B;
	}
	return c;
}

static struct stage stage_at(const struct jl_memory_in *in, const struct common *c, double index)
{
	const struct jl_model_size *size = in->size;
	const struct jl_plan *plan = in->plan;
	struct stage st = { .has_embed = index <= 0.0, .has_head = index >= plan->pp - 1.0 };
	double ends = 0.0;

	st.in_flight = plan->serial ? 1.0 : jl_pipeline_in_flight(plan->pp, plan->n_micro, plan->n_chunks, index);
	if (st.has_embed)
		ends += size->embed_params;
	if (st.has_head) /* a tied table is stored twice if first and last stage differ */
		ends += size->head_params + (size->tied && !st.has_embed ? size->embed_params : 0.0);
	const double experts = c->layers * c->layer_experts;

	st.params = c->layers * c->layer_params + ends / plan->tp;
	st.own_frac = experts > 0.0 ? c->own_frac + (c->expert_frac - c->own_frac) * experts / st.params : c->own_frac;
	return st;
}

/* Pieces that ZeRO gathers temporarily, allocator waste included. At most what sharding has saved: the rest is never freed and leaves no holes. */
static double gathered_B(const struct jl_memory_in *in, double piece_B, double whole_B, double own_frac)
{
	return fmin(piece_B * (1.0 + in->fit.waste_frac), whole_B * (1.0 - own_frac));
}

/* DeepSpeed reduces and gathers in two buffers of its own, at most as large as what sharding has saved. With fp32 accumulation (Megatron) those
 * sums are the buffers. */
static double bucket_B(const struct jl_plan *plan, double held, double own_frac)
{
	const double trained = held * plan->trained_frac;
	const double two_B = 2.0 * plan->grad_B * fmin(trained, JL_ZERO2_BUCKET_ELEMS);

	/* DeepSpeed ZeRO-3 keeps recently gathered parameters (stage3_max_live_parameters) */
	if (plan->zero == 3 && plan->keeps_live)
		return two_B + fmin(held, JL_ZERO3_LIVE_ELEMS) * jl_plan_held_B(plan);
	if ((plan->zero != 1 && plan->zero != 2) || plan->grad_B >= 4.0 || plan->offload || plan->no_optimizer)
		return 0.0;
	return fmin(two_B, trained * plan->optimizer_B * (1.0 - own_frac));
}

/* Adds the states; returns the bytes that ZeRO gathers beyond its own share. */
static double add_states(const struct jl_memory_in *in, const struct common *c, const struct stage *st,
			 struct jl_memory *mem)
{
	const struct jl_plan *plan = in->plan;
	const double own_frac = st->own_frac, one_layer = c->layer_params;
	const double trained = st->params * plan->trained_frac, held_B = jl_plan_held_B(plan);
	const double weights_B = st->params * held_B, grads_B = trained * plan->grad_B;
	const double layers_B = (plan->copies_out ? 3.0 : 2.0) * one_layer * held_B;
	/* FSDP converts gradients to fp32 only after sharding */
	const double whole_grad_B = plan->zero == 3 ? fmin(plan->grad_B, plan->weight_B) : plan->grad_B;
	const double layer_grads_B = (plan->copies_out ? 2.0 : 1.0) * one_layer * whole_grad_B * plan->trained_frac;
	double whole_B = 0.0;

	mem->optimizer_B = trained * plan->optimizer_B * (plan->zero >= 1 ? own_frac : 1.0);
	if (plan->no_optimizer || plan->paged || (plan->offload & JL_OFFLOAD_OPTIMIZER))
		mem->optimizer_B = 0.0;
	if (plan->offload & JL_OFFLOAD_PARAMS) {
		/* Offloaded parameters and gradients live in host memory; the device holds the current and the next layer whole. ZeRO would gather
		 * the same layers, so they are not counted again. */
		mem->weights_B = fmin(weights_B, layers_B);
		mem->gradients_B = fmin(grads_B, layer_grads_B);
	} else {
		mem->weights_B = weights_B * (plan->zero == 3 ? own_frac : 1.0);
		mem->gradients_B = plan->flat_grads ? weights_B : grads_B * (plan->zero >= 2 ? own_frac : 1.0);
		if (plan->zero >= 2) /* gradients of one layer before reduce-scatter */
			whole_B += gathered_B(in, plan->hold_step ? grads_B : layer_grads_B, grads_B, own_frac);
		if (plan->zero == 3) /* the current and the next layer */
			whole_B += gathered_B(in, plan->keep_gathered || plan->hold_step ? weights_B : layers_B,
					      weights_B, own_frac);
	}
	if (c->n_ranks > 1.0)
		mem->buffers_B = in->fit.buffer_frac * mem->gradients_B;
	return whole_B + bucket_B(plan, st->params, own_frac);
}

static void add_activations(const struct jl_memory_in *in, const struct common *c, const struct stage *st,
			    struct jl_memory *mem)
{
	const struct jl_block_cost *b = in->block;
	/* offloaded: the current and the next layer remain */
	const double kept = in->plan->offload & JL_OFFLOAD_ACTIVATIONS ? fmin(2.0, c->layers) : c->layers;
	double head_B = 0.0;

	mem->activations_B = st->in_flight * kept * c->layer_saved_B;
	if (st->has_embed)
		mem->activations_B += st->in_flight * b[JL_BLOCK_EMBED].saved_B;
	/* the head's tensors and those of a recomputed layer are never alive together */
	if (st->has_head)
		head_B = b[JL_BLOCK_HEAD].saved_B + in->logits_B;
	mem->activations_B += fmax(head_B, c->work_B);
	if (in->plan->pp > 1.0) /* activations sent to the next stage stay until their gradient arrives */
		mem->activations_B += st->in_flight * in->boundary_B;
}

static struct jl_memory stage_memory(const struct jl_memory_in *in, const struct common *c, double index)
{
	const struct stage st = stage_at(in, c, index);
	struct jl_memory mem = { .context_B = in->fit.context_B + c->n_groups * in->fit.comm_B };
	const double whole_B = add_states(in, c, &st, &mem);

	add_activations(in, c, &st, &mem);
	double waste_frac = in->fit.ragged ? in->fit.ragged_frac : in->fit.waste_frac;
	const double update_B = st.params * in->plan->trained_frac * in->update_B;

	mem.passes_B = mem.activations_B;
	mem.grads_later = in->grads_later;
	if (in->grads_later) /* gradients that exceed the memory freed by activations */
		mem.activations_B = fmax(mem.activations_B - mem.gradients_B, 0.0);
	/* optimizer temporaries are allocated after activations are freed, always with the same size */
	if ((in->grads_later || in->plan->zero == 0) && update_B > mem.activations_B * (1.0 + waste_frac)) {
		mem.activations_B = update_B;
		mem.in_update = true;
		waste_frac = 0.0;
	}
	const double waste_B = waste_frac * (mem.activations_B + mem.buffers_B);

	mem.buffers_B += whole_B;
	mem.total_B = mem.weights_B + mem.gradients_B + mem.optimizer_B + mem.activations_B + mem.buffers_B +
		      mem.context_B;
	const double cached_B = in->fit.ragged ? fmin(waste_B, fmax(in->room_B - mem.total_B, 0.0)) : waste_B;

	mem.buffers_B += cached_B;
	mem.total_B += cached_B;
	return mem;
}

struct jl_memory jl_memory_peak(const struct jl_memory_in *in)
{
	const double n_layers = in->size->n_dense_layers + in->size->n_moe_layers, pp = in->plan->pp;
	const struct jl_stage_layers on = jl_stage_layers(n_layers, pp);
	/* the ends, and the first full stage if the first stage has one layer less */
	const double layers[] = { on.first, on.last, on.most }, index[] = { 0.0, pp - 1.0, 1.0 };
	const size_t n = pp <= 1.0 ? 1 : pp > 2.0 && on.first < on.most ? 3 : 2;
	struct common common = common_of(in);
	struct jl_memory most = { .total_B = 0.0 };

	for (size_t i = 0; i < n; i++) {
		common.layers = layers[i];
		const struct jl_memory stage = stage_memory(in, &common, index[i]);

		if (i == 0 || stage.total_B > most.total_B)
			most = stage;
	}
	return most;
}
