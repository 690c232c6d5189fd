#include "predict/predict.h"

#include <math.h>
#include <string.h>

#include "physics/interval.h"

#define JL_PART(k, member, e, o)                                                                                       \
	{                                                                                                              \
		.key = k, .en = e, .ko = o, .offset = offsetof(struct jl_step_cost, member)                            \
	}

const struct jl_part jl_parts[JL_N_PART] = {
	JL_PART("compute", compute_s, "compute", "계산"),
	JL_PART("host_launch", host_s, "host launches", "호스트 실행 지연"),
	JL_PART("tensor_parallel", tp_s, "tensor parallel", "텐서 병렬 통신"),
	JL_PART("context_parallel", cp_s, "context parallel", "컨텍스트 병렬 통신"),
	JL_PART("expert_parallel", ep_s, "expert all-to-all", "전문가 병렬 통신"),
	JL_PART("pipeline_bubble", bubble_s, "pipeline bubble", "파이프라인 대기"),
	JL_PART("pipeline_send", send_s, "pipeline sends", "파이프라인 전송"),
	JL_PART("data_parallel", dp_s, "gradient exchange", "그래디언트 교환"),
	JL_PART("contention", contention_s, "contention", "통신·계산 경합"),
	JL_PART("optimizer", optimizer_s, "optimizer", "옵티마이저"),
	JL_PART("offload", offload_s, "offload", "오프로드"),
	JL_PART("input", input_s, "input", "입력"),
};

double jl_part_s(const struct jl_step_cost *step, size_t part)
{
	double part_s;

	memcpy(&part_s, (const char *)step + jl_parts[part].offset, sizeof(part_s));
	return part_s;
}

size_t jl_part_largest(const struct jl_step_cost *step)
{
	size_t best = 0;

	for (size_t i = 1; i < JL_N_PART; i++)
		if (jl_part_s(step, i) > jl_part_s(step, best))
			best = i;
	return best;
}

static struct jl_estimate around(double value, double spread_frac)
{
	return (struct jl_estimate){ .value = value, .lo = value / (1 + spread_frac), .hi = value * (1 + spread_frac) };
}

/* Parts of a step that wait for links. */
static double exposed_frac(const struct jl_step_cost *step)
{
	return (step->dp_s + step->tp_s + step->cp_s + step->ep_s + step->send_s) / step->step_s;
}

/* The interval that the score card checks, as a factor above 1. */
static double spread_of(const struct jl_case *c, const struct jl_step_cost *step)
{
	return expm1(jl_train_half_ln(&(struct jl_train_doubt){
		.framework = c->framework,
		.n_gpus = c->n_gpus,
		.n_nodes = c->machine.sys.n_nodes,
		.device_seen = c->machine.device_fitted,
		.exposed_frac = exposed_frac(step),
		.link_half_ln = c->machine.link_half_ln,
	}));
}

/* Steps of an epoch and of the run: from samples or tokens at this batch, or as given. */
static void predict_run(struct jl_prediction *p, const struct jl_case *c)
{
	const double tokens_per_step = c->global_batch * c->shard.seq;
	const double epochs = isnan(c->epochs) ? 1 : c->epochs;
	double steps = c->steps_per_epoch;

	if (isnan(steps) && !isnan(c->samples))
		steps = ceil(c->samples / c->global_batch);
	if (isnan(steps) && !isnan(c->tokens))
		steps = ceil(c->tokens / tokens_per_step);
	p->steps_per_epoch = steps;
	p->epoch_s = around(steps * p->step_s.value, p->spread_frac);
	p->run_s = around(epochs * steps * p->step_s.value, p->spread_frac);
	p->whole_run = !isnan(steps);
}

static void predict_cost(struct jl_prediction *p, const struct jl_catalog *cat, const struct jl_case *c)
{
	const double time_s = p->whole_run ? p->run_s.value : p->step_s.value;
	const double power_spread = 0.15; /* of the power model's own residuals */

	p->power_W = jl_case_power_W(c, &p->step);
	p->energy_J = around(time_s * p->power_W * c->pue, p->spread_frac + power_spread);
	p->rent = cat ? jl_rent_find(cat, &c->machine.sys) : (struct jl_rent){ .usdps = NAN };
	p->cost_usd = around(time_s * p->rent.usdps * c->n_gpus, p->spread_frac);
}

static double reduced_B(const struct jl_case *c)
{
	const struct jl_transformer_params params = jl_transformer_params(&c->subject.model);
	const double share = params.total / (c->plan.tp * c->plan.pp);

	return c->plan.dp * c->plan.cp > 1 ? share * c->plan.trained_frac * c->plan.grad_B : 0;
}

/* What computing is spent on, over the layers and ends of the model. */
static void predict_kinds(struct jl_prediction *p, const struct jl_case *c, const struct jl_train_blocks *blocks)
{
	const double n_blocks[JL_N_BLOCK] = { [JL_BLOCK_DENSE] = blocks->size.n_dense_layers,
					      [JL_BLOCK_MOE] = blocks->size.n_moe_layers,
					      [JL_BLOCK_EMBED] = 1,
					      [JL_BLOCK_HEAD] = 1 };
	double kind_s[3] = { 0 }, all_s = 0;

	for (int k = 0; k < JL_N_BLOCK; k++) {
		const struct jl_phase_cost *phases[] = { &blocks->cost[k].fwd, &blocks->cost[k].bwd,
							 &blocks->cost[k].re };

		for (size_t i = 0; i < 3; i++) {
			kind_s[0] += n_blocks[k] * phases[i]->gemm_s;
			kind_s[1] += n_blocks[k] * phases[i]->attention_s;
			kind_s[2] += n_blocks[k] * phases[i]->stream_s * c->profile.stream_frac;
		}
	}
	for (size_t i = 0; i < 3; i++)
		all_s += kind_s[i];
	for (size_t i = 0; i < 3; i++)
		p->kind_frac[i] = all_s > 0 ? kind_s[i] / all_s : 0;
}

void jl_predict(struct jl_prediction *ret_prediction, const struct jl_catalog *cat, const struct jl_case *c)
{
	const struct jl_train train = jl_case_train(c);
	struct jl_train_blocks blocks;
	struct jl_prediction p = { .capacity_B = c->machine.dev.mem_B };
	const double tokens = c->global_batch * c->shard.seq;

	jl_train_blocks(&train, &blocks);
	p.step = jl_train_step(&train, &blocks);
	p.memory = jl_train_memory(&train, &blocks);
	predict_kinds(&p, c, &blocks);
	p.room = p.memory.total_B > p.capacity_B                   ? JL_ROOM_NONE
		 : p.memory.total_B > JL_TIGHT_FRAC * p.capacity_B ? JL_ROOM_TIGHT
								   : JL_ROOM_FITS;
	p.max_micro_batch = jl_case_max_micro_batch(c);
	p.spread_frac = spread_of(c, &p.step);
	p.step_s = around(p.step.step_s, p.spread_frac);
	p.samples_per_s = around(c->global_batch / p.step.step_s, p.spread_frac);
	p.tokens_per_s = around(tokens / p.step.step_s, p.spread_frac);
	p.tokens_per_s_per_gpu = around(tokens / p.step.step_s / c->n_gpus, p.spread_frac);
	p.flop = 3 * jl_transformer_fwd_flop(&c->subject.model, c->shard.seq, 0) * tokens;
	p.mfu_frac = p.flop / (p.step.step_s * c->n_gpus * c->machine.dev.peak_flopps[c->shard.dtype]);
	p.reduced_B = reduced_B(c);
	predict_run(&p, c);
	predict_cost(&p, cat, c);
	*ret_prediction = p;
}
