/* Networks given as lists of operators (convolutional, recurrent, detectors): plain data-parallel training in PyTorch. */
#include "predict/kind.h"

#include <math.h>

#include "program/convnet_train.h"
#include "program/tune.h"

/* The model's input for such a case; its pointers refer to `c`. */
static struct jl_convnet_train train_of(const struct jl_case *c)
{
	struct jl_convnet_train train = {
		.net = c->subject.net,
		.dev = &c->machine.dev,
		.fit = &c->machine.conv,
		.fabric = &c->machine.fabric,
		.bus_Bps = c->machine.conv_bus_Bps,
		.micro_batch = c->shard.micro_batch,
		.n_micro = c->plan.n_micro,
		.dtype = c->shard.dtype,
		.software = c->software,
		.n_ranks = c->n_gpus,
		.n_per_host = jl_sys_per_node(&c->machine.sys),
		.input_s = jl_case_input(c).input_s,
		.launch_s = c->profile.launch_s,
		.profile = &c->profile,
		.spelled = c->machine.spells_blocks,
		.update_B = c->plan.optimizer_moved_B,
		.asked = c->optimizer != JL_UNSET ? &c->plan : NULL,
		.memory = c->machine.memory,
	};

	if (!c->machine.sys.gpu)
		train.memory.context_B = 0; /* no driver context on a CPU */
	return train;
}

/* Rejects options that only transformers have. */
static enum jl_status refuse(const struct jl_subject *subject, const struct jl_request *req, struct jl_err *err)
{
	const struct jl_ask_plan *p = &req->plan;
	const bool cut = p->tp > 1 || p->pp > 1 || p->vpp > 1 || p->cp > 1 || p->ep > 1 || p->sp == 1 ||
			 p->overlap == 1;
	const struct {
		bool given;
		const char *what;
	} words[] = {
		{ cut, "--parallel tp=, pp=, cp=, ep=" },
		{ p->zero > 0, "--parallel zero=" },
		{ !isnan(req->seq), "--seq" },
		{ !isnan(req->tokens), "--tokens" },
		{ !isnan(req->mean_seq), "--mean-seq" },
		{ !isnan(req->expert_load), "--expert-load" },
		{ req->flash != JL_UNSET, "--flash" },
		{ req->recompute > 0, "--recompute" },
		{ req->offload > 0, "--offload" },
		{ req->states > 0, "--states bf16" },
		{ req->optimizer == JL_OPT_PAGED8, "--optimizer paged8bit" },
		{ req->optimizer == JL_OPT_MUON, "--optimizer muon" },
		{ req->optimizer == JL_OPT_GALORE, "--optimizer galore" },
		{ req->framework != JL_UNSET && req->framework != JL_FW_EAGER && req->framework != JL_FW_COMPILED,
		  "--framework" },
		{ req->dtype == JL_FP8 || req->dtype == JL_FP4, "--precision fp8" },
	};

	for (size_t i = 0; i < JL_LEN(words); i++)
		if (words[i].given)
			return jl_fail(err, JL_E_USAGE,
				       "%s is for language models; %s is predicted as data parallel training in "
				       "PyTorch: leave it out",
				       words[i].what, subject->id);
	return JL_OK;
}

static void say_plan(struct jl_case *c, const struct jl_request *req)
{
	static const char *const optimizers[] = {
		[JL_NET_SGD] = JL_N("SGD with momentum"), [JL_NET_ADAM] = JL_N("Adam"), [JL_NET_LAMB] = JL_N("LAMB")
	};
	const enum jl_net_optimizer optimizer = c->subject.net->optimizer;

	if (req->framework == JL_UNSET)
		jl_note_add(&c->notes, "framework", "PyTorch eager: what the published runs used");
	if (req->layout == JL_UNSET && jl_convnet_pixels(c->subject.net) > 0)
		jl_note_add(&c->notes, "layout", "channels first, PyTorch's default");
	if (c->subject.net->file_batch > 1)
		jl_note_add(&c->notes, "batch",
			    "the file's input holds %.0f samples, its first dimension: one of them is a sample",
			    c->subject.net->file_batch);
	if (c->n_gpus > 1 && isnan(req->plan.dp))
		jl_note_add(&c->notes, "parallel", "dp=%d: a network of this size is not cut", c->n_gpus);
	if (c->software & JL_SW_PURE)
		jl_note_add(&c->notes, "weights", "weights in 16 bits, as they are loaded for inference");
	if (!req->forward)
		jl_note_add(&c->notes, "optimizer", "{%s}, %g bytes of states a parameter",
			    c->optimizer == JL_UNSET       ? optimizers[optimizer]
			    : c->optimizer <= JL_OPT_FUSED ? "AdamW"
							   : jl_optimizer_name((enum jl_optimizer)c->optimizer),
			    c->plan.weight_B + c->plan.grad_B + c->plan.optimizer_B);
	if (c->subject.net->ignores_amp && jl_dtype_B(c->shard.dtype) < 4)
		jl_note_add(&c->notes, "precision",
			    "16 bits as asked; published runs of this recipe that say fp16 ran in fp32");
}

/* The recipe's optimizer, or the requested one by the same table as for language models. Recipes with SGD use momentum. */
static void choose_optimizer(struct jl_case *c, const struct jl_request *req)
{
	static const double adam_B = 8;
	static const double fused_B =
		28; /* a pass reads weight, gradient and two moments, and writes all but the gradient */
	struct jl_plan *plan = &c->plan;

	jl_convnet_states(c->subject.net, c->shard.dtype, c->software, &plan->weight_B, &plan->grad_B,
			  &plan->optimizer_B);
	plan->optimizer_moved_B = req->forward ? 0 : jl_convnet_update_B(c->subject.net->optimizer);
	c->optimizer = req->optimizer == JL_OPT_SGD && c->subject.net->optimizer == JL_NET_SGD ? JL_UNSET
											       : req->optimizer;
	if (req->forward)
		plan->grad_B = plan->optimizer_B = 0;
	if (req->forward || c->optimizer == JL_UNSET)
		return;
	plan->optimizer_B = adam_B;
	plan->optimizer_moved_B = c->optimizer == JL_OPT_FUSED ? fused_B : jl_convnet_update_B(JL_NET_ADAM);
	jl_plan_set_optimizer(plan, (enum jl_optimizer)c->optimizer, NAN, NAN);
}

/* Recurrent networks are library calls, so there is nothing to compile. */
static bool run_in(struct jl_case *c, const struct jl_catalog *cat, enum jl_framework framework)
{
	const double given_s = c->profile.launch_s;
	const bool compiled = framework == JL_FW_COMPILED,
		   own = jl_convnet_pictures(c->subject.net) || jl_convnet_has_blocks(c->subject.net);

	c->framework = framework;
	c->software |= compiled ? JL_SW_COMPILED : 0U;
	jl_machine_profile(&c->profile, cat, framework, NULL);
	c->profile.launch_s = c->launch_given
				      ? given_s
				      : jl_machine_launch_s(&c->machine, c->machine.conv.launch_s, own, compiled);
	return own || !compiled;
}

static enum jl_status choose(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
			     struct jl_err *err)
{
	struct jl_plan *plan = &c->plan;

	JL_TRY(req->tune > (int)JL_TUNE_FULL ? jl_subject_check_tokens(&c->subject, true, err) : JL_OK);
	JL_TRY(refuse(&c->subject, req, err));
	if (!isnan(req->plan.dp) && req->plan.dp != c->n_gpus)
		return jl_fail(err, JL_E_USAGE, "dp %.0f, but there are %d GPUs; take dp=%d", req->plan.dp, c->n_gpus,
			       c->n_gpus);
	c->software = (req->forward ? JL_SW_FORWARD : 0U) | (req->layout == JL_LAYOUT_LAST ? JL_SW_CHANNELS_LAST : 0U);
	if (req->forward && jl_dtype_B(c->shard.dtype) < 4)
		c->software |= JL_SW_PURE;
	c->launch_given = !isnan(req->launch_s);
	c->profile.launch_s = req->launch_s;
	(void)run_in(c, cat, req->framework == JL_FW_COMPILED ? JL_FW_COMPILED : JL_FW_EAGER);
	if (req->forward && c->n_gpus > 1)
		return jl_fail(err, JL_E_USAGE, "--forward is for a single GPU: name one, and multiply the result");
	c->shard.seq = NAN;
	*plan = (struct jl_plan){
		.dp = c->n_gpus, .tp = 1, .pp = 1, .cp = 1, .ep = 1, .n_chunks = 1, .n_micro = 1, .trained_frac = 1
	};
	choose_optimizer(c, req);
	say_plan(c, req);
	return JL_OK;
}

static enum jl_status find(struct jl_subject *subject, const struct jl_catalog *cat, const char *name,
			   struct jl_arena *arena, struct jl_err *err)
{
	struct jl_convnet *net = jl_arena_alloc(arena, sizeof(*net));

	JL_TRY(jl_got(net, err));
	JL_TRY(jl_convnet_load(net, cat, name, arena, err));
	subject->net = net;
	subject->info = NULL;
	subject->id = subject->net->id;
	subject->name = subject->net->name;
	return JL_OK;
}

static double params(const struct jl_subject *subject)
{
	return subject->net->n_params;
}

static struct jl_sample sample(const struct jl_subject *subject)
{
	const struct jl_convnet *net = subject->net;

	return (struct jl_sample){ net->item, jl_convnet_pixels(net), net->unit, net->units_per_item };
}

static void count(struct jl_counts *ret_counts, const struct jl_subject *subject, double batch, double seq)
{
	(void)seq;
	jl_count_convnet(ret_counts, subject->net, batch);
}

static double elements(const struct jl_case *c)
{
	return c->subject.net->units_per_item;
}

static double usual_batch(const struct jl_case *c)
{
	(void)c;
	return 256;
}

static bool is_fitted(const struct jl_machine *m)
{
	return m->conv_fitted;
}

static void say_unfitted(struct jl_case *c, const char *device)
{
	jl_note_add(&c->notes, "on", "no runs of such networks on %s itself: its family's values", device);
}

static struct jl_case_price weigh(const struct jl_case *c)
{
	const struct jl_convnet_train train = train_of(c);

	return (struct jl_case_price){ .step = jl_convnet_step(&train), .memory = jl_convnet_memory(&train) };
}

static struct jl_memory memory(const struct jl_case *c, double micro_batch, double *ret_host_B)
{
	struct jl_convnet_train train = train_of(c);

	train.micro_batch = micro_batch;
	*ret_host_B = 0;
	return jl_convnet_memory(&train);
}

static void predict(struct jl_prediction *p, const struct jl_case *c)
{
	const struct jl_convnet_train train = train_of(c);
	const struct jl_convnet_work work = jl_convnet_work(&train);

	p->step = jl_convnet_step(&train);
	p->memory = jl_convnet_memory(&train);
	p->flop = work.flop * c->n_gpus;
	p->kind_frac[0] = work.matrix_frac;
	p->kind_frac[1] = work.conv_frac;
	p->kind_frac[2] = work.stream_frac;
}

static struct jl_case_work work(const struct jl_case *c)
{
	const struct jl_convnet_train train = train_of(c);
	const struct jl_convnet_work w = jl_convnet_work(&train);

	return (struct jl_case_work){ .flop = w.flop, .moved_B = w.moved_B };
}

static double matrix_share(const struct jl_case *c)
{
	const struct jl_convnet_train train = train_of(c);

	return 1 - jl_convnet_work(&train).stream_frac;
}

const struct jl_workload_kind jl_kind_network = {
	.find = find,
	.refuse = refuse,
	.params = params,
	.sample = sample,
	.count = count,
	.choose = choose,
	.run_in = run_in,
	.elements = elements,
	.usual_batch = usual_batch,
	.is_fitted = is_fitted,
	.say_unfitted = say_unfitted,
	.weigh = weigh,
	.memory = memory,
	.predict = predict,
	.answer = JL_ASKED_NETWORK,
	.work = work,
	.matrix_share = matrix_share,
};
