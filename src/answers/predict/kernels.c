/* Lists the operations of a training step with launches, bytes and device time. */
#include "predict/kernels.h"

#include <math.h>
#include <stdlib.h>

#include "predict/kind.h"
#include "predict/program_case.h"

/* Sorts by device time, longest first. */

static int by_time(const void *a, const void *b)
{
	const struct jl_kernel *x = a, *y = b;

	return (x->device_s < y->device_s) - (x->device_s > y->device_s);
}

static enum jl_op_kind kind_of(enum jl_work_form form)
{
	return form == JL_WORK_PRODUCT || form == JL_WORK_CONV || form == JL_WORK_RECURRENT ? JL_OP_GEMM
	       : form == JL_WORK_ATTENTION                                                  ? JL_OP_ATTENTION
											    : JL_OP_STREAM;
}

/* The kinds of calls of a captured program, by time. */
static enum jl_status captured_kernels(struct jl_kernels *ret_kernels, const struct jl_case *c, struct jl_arena *arena,
				       struct jl_err *err)
{
	const struct jl_captured *captured = c->subject.program;
	const size_t n = captured->p.n_kinds;
	struct jl_call_cost *costs = jl_arena_array(arena, n, sizeof(*costs));
	struct jl_kernels all = { .items = jl_arena_array(arena, n, sizeof(*all.items)) };

	JL_TRY(jl_got(costs && all.items, err));
	const double ratio = jl_captured_price(captured, c, costs);

	for (size_t k = 0; k < n; k++) {
		const enum jl_work_form form = captured->works[k].form;
		double times = 0;

		for (int phase = 0; phase < JL_N_PHASE; phase++)
			times += captured->p.uses[k].n[phase];
		if (form == JL_WORK_NONE || times == 0)
			continue;
		const struct jl_kernel item = { .block = jl_class_names[costs[k].class],
						.name = jl_captured_kind_text(captured, k, arena),
						.kind = kind_of(form),
						.id = (int)k + 1,
						.n_times = times,
						.launches = times * costs[k].n_kernels,
						.moved_B = times * costs[k].moved_B,
						.traffic_B = times * costs[k].moved_B,
						.flop = times * costs[k].flop,
						.device_s = times * costs[k].device_s * ratio };

		all.items[all.n++] = item;
		all.launches += item.launches;
		all.device_s += item.device_s;
		all.stream_B += form == JL_WORK_STREAM ? item.moved_B : 0;
	}
	qsort(all.items, all.n, sizeof(*all.items), by_time);
	*ret_kernels = all;
	return JL_OK;
}

static const char *const blocks[JL_N_BLOCK] = { [JL_BLOCK_DENSE] = JL_N("layer"),
						[JL_BLOCK_MOE] = JL_N("expert layer"),
						[JL_BLOCK_EMBED] = JL_N("embedding"),
						[JL_BLOCK_HEAD] = JL_N("head") };
static const char *const kinds[] = {
	[JL_OP_GEMM] = "product", [JL_OP_STREAM] = "stream", [JL_OP_ATTENTION] = "attention"
};

/* Bytes of streaming operations: those of streams, or the score matrix if attention stores it. */
static double streamed_B(const struct jl_op *op, bool back)
{
	const struct jl_attention *att = &op->u.attention;

	if (op->kind == JL_OP_STREAM)
		return back ? op->back.moved_B : op->u.stream.moved_B;
	if (op->kind != JL_OP_ATTENTION || att->flash)
		return 0;
	return jl_attention_scores(att) * (back ? att->score_back_B + att->soft_back_B : att->score_B + att->soft_B);
}

struct passes {
	double forward, back; /* per step; forward includes recomputation */
};

/* FLOP and minimum memory traffic. The backward pass of fused attention recomputes the scores. */
static void count_work(struct jl_kernel *k, const struct jl_op *op, const struct passes *n)
{
	const struct jl_gemm *g = &op->u.gemm;
	const struct jl_attention *att = &op->u.attention;

	if (op->kind == JL_OP_STREAM) {
		k->traffic_B = k->moved_B;
	} else if (op->kind == JL_OP_GEMM) {
		const double elem_B = jl_dtype_B(g->dtype),
			     products = n->forward + n->back * (op->needs_dgrad + op->trained);
		const double reads = g->m * g->k * (g->reuse_frac > 0 ? g->reuse_frac : 1) * elem_B +
				     g->k * g->n * (g->weight_B > 0 ? g->weight_B : elem_B);

		k->flop = products * 2 * g->m * g->n * g->k * g->batch;
		k->traffic_B = products * g->batch * (reads + g->m * g->n * g->out_B);
	} else {
		const double rows = att->heads * att->seq_q + att->kv_heads * att->seq_kv;

		k->flop = (n->forward + (att->flash ? 2.5 : 2) * n->back) * jl_attention_flop(att);
		k->traffic_B = (n->forward + 2 * n->back) * 2 * att->batch * rows * att->head_dim *
				       jl_dtype_B(att->dtype) +
			       k->moved_B;
	}
}

/* An operation with the number of its passes per step: forward also for a reference model, backward only as far down as parameters are trained. */
static struct jl_kernel kernel_of(const struct jl_train *train, const struct jl_op_list *list, const struct jl_op *op,
				  enum jl_block_kind block, double n_times)
{
	const bool layer = block == JL_BLOCK_DENSE || block == JL_BLOCK_MOE;
	const enum jl_recompute recompute = layer ? train->plan.recompute : JL_RECOMPUTE_NONE;
	const double fwd = 1 + train->plan.extra_passes, back = layer ? jl_train_back_frac(train) : 1;
	const double again = recompute == JL_RECOMPUTE_FULL ? 1 : recompute == JL_RECOMPUTE_NONE ? 0 : op->selective;
	struct jl_op_list alone = *list;

	alone.n_op = 1;
	alone.op[0] = *op;
	const struct jl_block_cost cost = jl_block_price(train->dev, &alone, recompute);
	const struct jl_phase_cost *phases[] = { &cost.fwd, &cost.bwd, &cost.re };
	struct jl_kernel k = {
		.block = blocks[block], .name = op->name, .kind = op->kind, .n_times = n_times, .flop = NAN
	};

	for (size_t i = 0; i < 3; i++) {
		const double n = n_times * (i == 0 ? fwd : back);

		k.launches += n * phases[i]->n_kernels;
		k.device_s += n * (phases[i]->gemm_s + phases[i]->attention_s + phases[i]->stream_s);
	}
	const double there_B = streamed_B(op, false), back_B = streamed_B(op, true);

	k.moved_B = n_times * (there_B * (fwd + again * back) + back_B * back);
	count_work(&k, op, &(struct passes){ n_times * (fwd + again * back), n_times * back });
	return k;
}

static struct jl_kernel optimizer_of(const struct jl_case *c, double n_layers)
{
	const struct jl_plan *plan = &c->plan;
	/* PyTorch's tensor lists: elements per launch; eight operations, or one if fused */
	static const double list_elements = 320.0 * 65536.0, foreach_ops = 8;
	const bool listed = c->framework == JL_FW_EAGER || c->framework == JL_FW_COMPILED;
	const double kernels = plan->optimizer_kernels > 0 ? plan->optimizer_kernels : c->profile.optimizer_kernels;
	const double own = plan->trained_frac * jl_subject_params(&c->subject) /
			   (plan->tp * plan->pp * (plan->zero >= 1 ? plan->dp * plan->cp : 1));
	struct jl_kernel k = { .block = JL_N("optimizer"),
			       .name = JL_N("optimizer"),
			       .kind = JL_OP_STREAM,
			       .n_times = 1,
			       .launches = listed ? (plan->update_copies ? foreach_ops : 1) * ceil(own / list_elements)
						  : n_layers * kernels,
			       .moved_B = own * plan->optimizer_moved_B,
			       .traffic_B = own * plan->optimizer_moved_B };

	k.flop = NAN;
	k.device_s = jl_stream_s(&c->machine.dev, &(struct jl_stream){ .moved_B = k.moved_B });
	return k;
}

enum jl_status jl_kernels_make(struct jl_kernels *ret_kernels, const struct jl_case *c, struct jl_arena *arena,
			       struct jl_err *err)
{
	const struct jl_train train = jl_case_train(c);
	struct jl_shard shard = jl_train_shard(&train);
	struct jl_kernels all = { .items = jl_arena_array(arena, JL_N_BLOCK * JL_MAX_OPS + 1, sizeof(*all.items)) };

	if (c->subject.kind->is_captured)
		return captured_kernels(ret_kernels, c, arena, err);
	if (!c->subject.kind->is_cut)
		return jl_fail(err, JL_E_USAGE,
			       "--kernels is for transformers; %s is a list of layers: see jeoul flops %s",
			       c->subject.id, c->subject.id);
	JL_TRY(jl_got(all.items, err));
	if (c->run_seq > 0) /* actual sample length instead of the longest */
		shard.seq = c->run_seq;
	const struct jl_transformer_params params = jl_transformer_params(&c->subject.model);
	const double layers = (params.n_dense_layers + params.n_moe_layers) / c->plan.pp;
	const double n_blocks[JL_N_BLOCK] = { [JL_BLOCK_DENSE] = params.n_dense_layers / c->plan.pp,
					      [JL_BLOCK_MOE] = params.n_moe_layers / c->plan.pp,
					      [JL_BLOCK_EMBED] = 1,
					      [JL_BLOCK_HEAD] = 1 };

	for (int b = 0; b < JL_N_BLOCK; b++) {
		struct jl_op_list list;

		if (!(n_blocks[b] > 0))
			continue;
		jl_transformer_ops(&c->subject.model, &shard, (enum jl_block_kind)b, &list);
		for (size_t i = 0; i < list.n_op; i++)
			all.items[all.n++] = kernel_of(&train, &list, &list.op[i], (enum jl_block_kind)b,
						       n_blocks[b] * c->plan.n_micro);
	}
	all.items[all.n++] = optimizer_of(c, layers);
	for (size_t i = 0; i < all.n; i++) {
		all.launches += all.items[i].launches;
		all.stream_B += all.items[i].moved_B;
		all.device_s += all.items[i].device_s;
	}
	*ret_kernels = all;
	return JL_OK;
}

JL_TEXT_OF(kind, jl_kernel, kinds[r->kind]);
JL_BOOL_OF(has_id, jl_kernel, r->id > 0);
static const struct jl_field kernel_fields[] = {
	{ JL_FIELD(jl_kernel, TEXT, block) },
	{ JL_FIELD(jl_kernel, TEXT, name) },
	{ JL_FIELD_TEXT_OF("kind", kind) },
	{ JL_FIELD(jl_kernel, INT, id), .when = has_id, .about = "of a captured program: which of its kinds of calls" },
	{ JL_FIELD_AS(jl_kernel, NUMBER, n_times, "times"), .about = "a step, on one device" },
	{ JL_FIELD(jl_kernel, NUMBER, launches), .about = "a step: forward, back and what recompute makes again" },
	{ JL_FIELD(jl_kernel, NUMBER, moved_B), .about = "a step, of what only streams" },
	{ JL_FIELD(jl_kernel, NUMBER, flop), .flags = JL_FF_OMIT, .about = "a step, of products and attention" },
	{ JL_FIELD(jl_kernel, NUMBER, traffic_B), .about = "a step: operands read once, results written once" },
	{ JL_FIELD(jl_kernel, NUMBER, device_s), .about = "a step, before the framework's factors" },
};
static const struct jl_schema kernel_schema = JL_SCHEMA("kernel", jl_kernel, kernel_fields);
static const struct jl_field kernels_fields[] = {
	{ JL_FIELD(jl_kernels, NUMBER, launches) },
	{ JL_FIELD(jl_kernels, NUMBER, stream_B) },
	{ JL_FIELD(jl_kernels, NUMBER, device_s), .about = "all of them, one after the other" },
	{ JL_FIELD_MANY(jl_kernels, LIST, items, n, "kernels", &kernel_schema) },
};
const struct jl_schema jl_kernels_fields = JL_SCHEMA("predict-kernels", jl_kernels, kernels_fields);
