#include "predict/predict.h"

#include <math.h>
#include <string.h>

#include "physics/interval.h"
#include "predict/conv_case.h"

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

/* As the time of a step is unsure; `more_frac`: what else is unsure about it. */
static struct jl_estimate as_time(const struct jl_prediction *p, double value, double more_frac)
{
	return (struct jl_estimate){ .value = value,
				     .lo = value / (1 + p->below_frac + more_frac),
				     .hi = value * (1 + p->spread_frac + more_frac) };
}

static struct jl_estimate as_rate(const struct jl_prediction *p, double value)
{
	return (struct jl_estimate){ .value = value,
				     .lo = value / (1 + p->spread_frac),
				     .hi = value * (1 + p->below_frac) };
}

/* Parts of a step that wait for links. */
static double exposed_frac(const struct jl_step_cost *step)
{
	return (step->dp_s + step->tp_s + step->cp_s + step->ep_s + step->send_s) / step->step_s;
}

static double model_half_ln(const struct jl_case *c, const struct jl_step_cost *step)
{
	const double rates = c->machine.rate_half_ln;
	double model;

	if (c->subject.net)
		return jl_conv_case_half_ln(c, step); /* wide for any CPU */
	model = jl_train_half_ln(&(struct jl_train_doubt){
		.framework = c->framework,
		.n_gpus = c->n_gpus,
		.n_nodes = c->machine.sys.n_nodes,
		.device_seen = c->machine.device_fitted,
		.exposed_frac = exposed_frac(step),
		.link_half_ln = c->machine.link_half_ln,
	});
	return rates > 0 ? sqrt(model * model + rates * rates) : model;
}

/* The interval that the score card checks; the slower of the devices and of their input at either end. */
static void predict_spread(struct jl_prediction *p, const struct jl_case *c)
{
	const double model = expm1(model_half_ln(c, &p->step)), input = expm1(p->input.half_ln);
	const double own_s = p->step.step_s - p->step.input_s, whole_s = p->step.step_s;

	p->spread_frac = fmax(own_s * (1 + model), p->input.input_s * (1 + input)) / whole_s - 1;
	p->below_frac = whole_s / fmax(own_s / (1 + model), p->input.input_s / (1 + input)) - 1;
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
	p->epoch_s = as_time(p, steps * p->step_s.value, 0);
	p->run_s = as_time(p, epochs * steps * p->step_s.value, 0);
	p->whole_run = !isnan(steps);
}

/* What not knowing the host's draw adds to the energy. */
static double host_spread(const struct jl_case *c, double power_W)
{
	const double host_W = c->machine.host_idle_W * c->machine.sys.n_nodes;

	return host_W > 0 && power_W > 0 ? host_W / power_W * expm1(c->machine.host.power_half_ln) : 0;
}

static void predict_cost(struct jl_prediction *p, const struct jl_catalog *cat, const struct jl_case *c)
{
	const double time_s = p->whole_run ? p->run_s.value : p->step_s.value;
	const double power_spread = 0.15; /* of the power model's own residuals */

	p->power_W = jl_case_power_W(c, &p->step);
	p->energy_J = as_time(p, time_s * p->power_W * c->pue, power_spread + host_spread(c, p->power_W));
	p->rent = cat ? jl_rent_find(cat, &c->machine.sys) : (struct jl_rent){ .usdps = NAN };
	p->cost_usd = as_time(p, time_s * p->rent.usdps * c->n_gpus, 0);
}

static double reduced_B(const struct jl_case *c)
{
	const double share = jl_subject_params(&c->subject) / (c->plan.tp * c->plan.pp);

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

static void weigh_transformer(struct jl_prediction *p, const struct jl_case *c)
{
	const struct jl_train train = jl_case_train(c);
	struct jl_train_blocks blocks;

	jl_train_blocks(&train, &blocks);
	p->step = jl_train_step(&train, &blocks);
	p->memory = jl_train_memory(&train, &blocks);
	p->host_B = c->plan.offload ? jl_case_host_B(c, &blocks) : 0;
	p->flop = 3 * jl_transformer_fwd_flop(&c->subject.model, c->shard.seq, 0) * c->global_batch * c->shard.seq;
	predict_kinds(p, c, &blocks);
}

static void weigh_network(struct jl_prediction *p, const struct jl_case *c)
{
	const struct jl_convnet_train train = jl_conv_case_train(c);
	const struct jl_convnet_work work = jl_convnet_work(&train);

	p->step = jl_convnet_step(&train);
	p->memory = jl_convnet_memory(&train);
	p->flop = work.flop * c->n_gpus;
	p->kind_frac[0] = work.matrix_frac;
	p->kind_frac[1] = work.conv_frac;
	p->kind_frac[2] = work.stream_frac;
}

void jl_predict(struct jl_prediction *ret_prediction, const struct jl_catalog *cat, const struct jl_case *c)
{
	struct jl_prediction p = { .capacity_B = c->machine.dev.mem_B, .input = jl_case_input(c) };
	const double tokens = c->global_batch * c->shard.seq;
	const double units = c->subject.net ? c->global_batch * c->subject.net->units_per_item : NAN;

	if (c->subject.net)
		weigh_network(&p, c);
	else
		weigh_transformer(&p, c);
	p.room = jl_case_room(c, &(struct jl_weight){ .memory = p.memory, .host_B = p.host_B });
	p.max_micro_batch = jl_case_max_micro_batch(c);
	predict_spread(&p, c);
	p.step_s = as_time(&p, p.step.step_s, 0);
	p.samples_per_s = as_rate(&p, c->global_batch / p.step.step_s);
	p.tokens_per_s = as_rate(&p, tokens / p.step.step_s);
	p.tokens_per_s_per_gpu = as_rate(&p, tokens / p.step.step_s / c->n_gpus);
	p.units_per_s = as_rate(&p, units / p.step.step_s);
	p.mfu_frac = p.flop / (p.step.step_s * c->n_gpus * c->machine.dev.peak_flopps[c->shard.dtype]);
	p.reduced_B = reduced_B(c);
	predict_run(&p, c);
	predict_cost(&p, cat, c);
	*ret_prediction = p;
}
