/* Transformers from the catalog, from a config.json or from their dimensions. */
#include "predict/kind.h"

#include <math.h>

#include "catalog/find.h"
#include "parameters/interval.h"
#include "predict/choose.h"
#include "program/transformer.h"
#include "program/tune.h"

static enum jl_status find(struct jl_subject *subject, const struct jl_catalog *cat, const char *name,
			   struct jl_arena *arena, struct jl_err *err)
{
	(void)arena;
	JL_TRY(jl_find_model(&subject->info, cat, name, err));
	jl_transformer_from_catalog(&subject->model, subject->info);
	subject->id = subject->info->id;
	subject->name = subject->info->name;
	subject->seq = subject->info->seq > 0 ? subject->info->seq : NAN;
	return jl_transformer_check(&subject->model, err);
}

static double params(const struct jl_subject *subject)
{
	return jl_transformer_params(&subject->model).total;
}

static struct jl_sample sample(const struct jl_subject *subject)
{
	(void)subject;
	return (struct jl_sample){ .item = "sequence", .units = NAN };
}

static void count(struct jl_counts *ret_counts, const struct jl_subject *subject, double batch, double seq)
{
	jl_count_transformer(ret_counts, &subject->model, batch, seq);
}

static enum jl_status check(const struct jl_case *c, struct jl_err *err)
{
	const struct jl_train train = jl_case_train(c);

	return jl_train_check(&train, c->n_gpus, c->global_batch, err);
}

static double elements(const struct jl_case *c)
{
	return c->shard.seq;
}

static double usual_batch(const struct jl_case *c)
{
	return JL_USUAL_TOKENS / c->shard.seq;
}

bool jl_device_is_fitted(const struct jl_machine *m)
{
	return m->device_fitted;
}

void jl_device_say_unfitted(struct jl_case *c, const char *device)
{
	jl_note_add(&c->notes, "on", "no measurements of %s itself: its family's values, so a wider interval", device);
}

/* Memory is computed for the longest samples, time for usual ones; *ret_blocks has the latter. */
static struct jl_case_price weigh_blocks(const struct jl_case *c, struct jl_train_blocks *ret_blocks)
{
	struct jl_train train = jl_case_train(c);
	struct jl_case_price w;

	(c->run_seq > 0 ? jl_train_kept : jl_train_blocks)(&train, ret_blocks);
	w.memory = jl_train_memory(&train, ret_blocks);
	w.host_B = jl_case_offload(c) ? jl_case_host_B(c, ret_blocks) : 0;
	if (c->run_seq > 0) {
		train.shard.seq = c->run_seq;
		jl_train_blocks(&train, ret_blocks);
	}
	w.step = jl_train_step(&train, ret_blocks);
	return w;
}

static struct jl_case_price weigh(const struct jl_case *c)
{
	struct jl_train_blocks blocks;

	return weigh_blocks(c, &blocks);
}

static struct jl_memory memory(const struct jl_case *c, double micro_batch, double *ret_host_B)
{
	struct jl_train train = jl_case_train(c);
	struct jl_train_blocks blocks;

	train.shard.micro_batch = micro_batch;
	jl_train_kept(&train, &blocks);
	*ret_host_B = jl_case_offload(c) ? jl_case_host_B(c, &blocks) : 0;
	return jl_train_memory(&train, &blocks);
}

static void count_blocks(const struct jl_case *c, double ret_n[JL_N_BLOCK])
{
	const struct jl_transformer_params params = jl_transformer_params(&c->subject.model);

	ret_n[JL_BLOCK_DENSE] = params.n_dense_layers;
	ret_n[JL_BLOCK_MOE] = params.n_moe_layers;
	ret_n[JL_BLOCK_EMBED] = ret_n[JL_BLOCK_HEAD] = 1;
}

/* Shares of products, attention and streams over all layers. */
static void predict_kinds(struct jl_prediction *p, const struct jl_case *c, const struct jl_train_blocks *blocks)
{
	double n_blocks[JL_N_BLOCK], kind_s[3] = { 0 }, all_s = 0;

	count_blocks(c, n_blocks);
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

/* Backward passes of a layer's or head's products: one for the input gradient and one for the weight gradient if trained; layers only as far
 * down as gradients propagate. */
static double passes_back(const struct jl_case *c, bool layer)
{
	const struct jl_train train = jl_case_train(c);
	const struct jl_tune *tune = &c->shard.tune;
	const double each = jl_tune_frozen(tune) || (!layer && tune->kind == JL_TUNE_LAYERS) ? 1 : 2;

	return layer ? each * jl_train_back_frac(&train) : each;
}

static void predict(struct jl_prediction *p, const struct jl_case *c)
{
	const struct jl_transformer *m = &c->subject.model;
	const double fwd_flop = jl_transformer_fwd_flop(m, c->mean_seq > 0 ? c->mean_seq : c->shard.seq, 0);
	const double head_flop = m->head == JL_HEAD_SPAN ? 0 : 2 * m->vocab * m->hidden * m->head_tokens_frac;
	struct jl_train_blocks blocks;
	const struct jl_case_price w = weigh_blocks(c, &blocks);

	p->step = w.step;
	p->memory = w.memory;
	p->host_B = w.host_B;
	p->flop = jl_case_tokens(c) *
		  ((fwd_flop - head_flop) * (1 + passes_back(c, true)) + head_flop * (1 + passes_back(c, false)));
	predict_kinds(p, c, &blocks);
}

/* Forward pass. A product's backward pass is two more products over the same operands. */
static struct jl_case_work list_work(const struct jl_op_list *list, double elem_B)
{
	struct jl_case_work w = { 0 };

	for (size_t i = 0; i < list->n_op; i++) {
		const struct jl_op *op = &list->op[i];

		if (op->kind == JL_OP_GEMM) {
			const struct jl_gemm *g = &op->u.gemm;

			w.flop += 2 * g->m * g->n * g->k * g->batch;
			w.moved_B += (g->m * g->k + g->k * g->n + g->m * g->n) * g->batch * elem_B;
		} else if (op->kind == JL_OP_STREAM) {
			w.moved_B += (op->u.stream.moved_B + op->back.moved_B) / 3; /* one third of three passes */
		} else {
			const struct jl_attention *a = &op->u.attention;

			w.flop += jl_attention_flop(a);
			w.moved_B += 4 * a->batch * a->heads * a->seq_q * a->head_dim * elem_B;
		}
	}
	return w;
}

/* Work of one device in one step. */
static struct jl_case_work work(const struct jl_case *c)
{
	const struct jl_train train = jl_case_train(c);
	const struct jl_transformer_params params = jl_transformer_params(&c->subject.model);
	const double again = c->plan.recompute == JL_RECOMPUTE_FULL ? jl_train_back_frac(&train) : 0;
	const double experts = params.n_moe_layers * params.moe_expert;
	const double held = ((params.total - experts) + experts / c->plan.ep) / (c->plan.tp * c->plan.pp);
	const double cut = c->plan.zero < 1 ? 1 : c->plan.shard > 0 ? c->plan.shard : c->plan.dp * c->plan.cp;
	struct jl_case_work total = { .moved_B = held / cut * c->plan.optimizer_moved_B };
	const struct jl_shard shard = jl_train_shard(&train);
	struct jl_op_list list;
	double n_blocks[JL_N_BLOCK];

	count_blocks(c, n_blocks);
	for (int k = 0; k < JL_N_BLOCK; k++) {
		const bool layer = k == JL_BLOCK_DENSE || k == JL_BLOCK_MOE;
		const double passes = 1 + c->plan.extra_passes + passes_back(c, layer) + (layer ? again : 0);
		struct jl_case_work w;

		if (n_blocks[k] <= 0)
			continue;
		jl_transformer_ops(train.model, &shard, (enum jl_block_kind)k, &list);
		w = list_work(&list, jl_dtype_B(c->shard.act_dtype));
		total.flop += passes * w.flop * n_blocks[k] / c->plan.pp * c->plan.n_micro;
		total.moved_B += passes * w.moved_B * n_blocks[k] / c->plan.pp * c->plan.n_micro;
	}
	return total;
}

static double matrix_share(const struct jl_case *c)
{
	const struct jl_train train = jl_case_train(c);
	struct jl_train_blocks blocks;
	double n_blocks[JL_N_BLOCK], matrix_s = 0, stream_s = 0;

	jl_train_blocks(&train, &blocks);
	count_blocks(c, n_blocks);
	for (int k = 0; k < JL_N_BLOCK; k++) {
		const struct jl_block_cost *b = &blocks.cost[k];

		if (n_blocks[k] <= 0)
			continue;
		matrix_s += n_blocks[k] * (b->fwd.gemm_s + b->fwd.attention_s + b->bwd.gemm_s + b->bwd.attention_s +
					   b->re.gemm_s + b->re.attention_s);
		stream_s += n_blocks[k] * (b->fwd.stream_s + b->bwd.stream_s + b->re.stream_s);
	}
	return matrix_s / (matrix_s + stream_s);
}

static bool run_in(struct jl_case *c, const struct jl_catalog *cat, enum jl_framework framework)
{
	c->framework = framework;
	jl_machine_profile(&c->profile, cat, framework, c->code);
	jl_case_set_states(c);
	return true;
}

const struct jl_workload_kind jl_kind_transformer = {
	.is_cut = true,
	.has_tokens = true,
	.find = find,
	.params = params,
	.sample = sample,
	.count = count,
	.choose = jl_choose_transformer,
	.run_in = run_in,
	.check = check,
	.elements = elements,
	.usual_batch = usual_batch,
	.is_fitted = jl_device_is_fitted,
	.say_unfitted = jl_device_say_unfitted,
	.weigh = weigh,
	.memory = memory,
	.predict = predict,
	.answer = JL_ASKED_STEP,
	.work = work,
	.matrix_share = matrix_share,
};
