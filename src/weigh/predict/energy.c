/* What a case draws: work and bytes of its operators over the time of a step, through the power model. */
#include <math.h>

#include "model/power.h"
#include "predict/conv_case.h"

struct work {
	double flop, moved_B;
};

/* Forward; a product's backward pass is two more products over the same operands. */
static struct work list_work(const struct jl_op_list *list, double elem_B)
{
	struct work w = { 0 };

	for (size_t i = 0; i < list->n_op; i++) {
		const struct jl_op *op = &list->op[i];

		if (op->kind == JL_OP_GEMM) {
			const struct jl_gemm *g = &op->u.gemm;

			w.flop += 2 * g->m * g->n * g->k * g->batch;
			w.moved_B += (g->m * g->k + g->k * g->n + g->m * g->n) * g->batch * elem_B;
		} else if (op->kind == JL_OP_STREAM) {
			w.moved_B += (op->u.stream.moved_B + op->back.moved_B) / 3; /* three passes share both */
		} else {
			const struct jl_attention *a = &op->u.attention;

			w.flop += 4 * a->batch * a->heads * a->seq_q * a->seq_kv * a->head_dim *
				  (a->causal ? 0.5 : 1.0);
			w.moved_B += 4 * a->batch * a->heads * a->seq_q * a->head_dim * elem_B;
		}
	}
	return w;
}

/* One device, one step. */
static struct work step_work(const struct jl_case *c)
{
	const struct jl_train train = jl_case_train(c);
	const struct jl_transformer_params params = jl_transformer_params(&c->subject.model);
	const double n_blocks[JL_N_BLOCK] = { [JL_BLOCK_DENSE] = params.n_dense_layers,
					      [JL_BLOCK_MOE] = params.n_moe_layers,
					      [JL_BLOCK_EMBED] = 1,
					      [JL_BLOCK_HEAD] = 1 };
	const double passes = c->plan.recompute == JL_RECOMPUTE_FULL ? 4 : 3;
	const double experts = params.n_moe_layers * params.moe_expert;
	const double held = ((params.total - experts) + experts / c->plan.ep) / (c->plan.tp * c->plan.pp);
	const double cut = c->plan.zero < 1 ? 1 : c->plan.shard > 0 ? c->plan.shard : c->plan.dp * c->plan.cp;
	struct work total = { .moved_B = held / cut * c->plan.optimizer_moved_B };
	const struct jl_shard shard = jl_train_shard(&train);
	struct jl_op_list list;

	for (int k = 0; k < JL_N_BLOCK; k++) {
		struct work w;

		if (n_blocks[k] <= 0)
			continue;
		jl_transformer_ops(train.model, &shard, (enum jl_block_kind)k, &list);
		w = list_work(&list, jl_dtype_B(c->shard.act_dtype));
		total.flop += passes * w.flop * n_blocks[k] / c->plan.pp * c->plan.n_micro;
		total.moved_B += passes * w.moved_B * n_blocks[k] / c->plan.pp * c->plan.n_micro;
	}
	return total;
}

static struct work network_work(const struct jl_case *c)
{
	const struct jl_convnet_train train = jl_conv_case_train(c);
	const struct jl_convnet_work w = jl_convnet_work(&train);

	return (struct work){ .flop = w.flop, .moved_B = w.moved_B };
}

double jl_case_power_W(const struct jl_case *c, const struct jl_step_cost *step)
{
	const struct work w = c->subject.net ? network_work(c) : step_work(c);
	const double device_W = jl_power_W(
		&c->machine.dev, &c->machine.power,
		&(struct jl_power_in){
			.moved_Bps = w.moved_B / step->step_s,
			.flopps = w.flop / step->step_s *
				  (c->shard.dtype == JL_FP8 ? 0.5 : 1), /* counted as the power model counts fp8 */
			.vector = c->shard.dtype == JL_FP32,
			.routed = c->subject.model.moe.n_experts > 0,
			.limit_W = NAN,
		});
	const double host_W = isnan(c->machine.host_idle_W) ? 0 : c->machine.host_idle_W;
	/* A processor that works runs at its limit. */
	const double one_W = c->machine.sys.gpu ? device_W : c->machine.dev.tdp_W;

	return one_W * c->n_gpus + host_W * c->machine.sys.n_nodes;
}
