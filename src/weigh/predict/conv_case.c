#include "predict/conv_case.h"

#include <math.h>

/* Half widths, as ln, that held four fifths of the published runs of these networks when their GPU was left out of the fit
 * (`jeoul validate`): one device, several. Beyond what was seen: several hosts, and processors as devices. */
static const double width_one_ln = 0.17, width_host_ln = 0.20, width_hosts_ln = 0.15, width_cpu_ln = 0.5;

struct jl_convnet_train jl_conv_case_train(const struct jl_case *c)
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
		.n_ranks = c->n_gpus,
		.n_per_host = c->machine.sys.n_per_node > 0 ? c->machine.sys.n_per_node : 1,
		.input_s = jl_case_input(c).input_s,
		.memory = c->machine.memory,
	};

	if (!c->machine.sys.gpu)
		train.memory.context_B = 0; /* a CPU has no driver context of its own */
	return train;
}

double jl_conv_case_half_ln(const struct jl_case *c, const struct jl_step_cost *step)
{
	const double base = c->n_gpus > 1 ? width_host_ln : width_one_ln;
	const double hosts = c->machine.sys.n_nodes > 1 ? width_hosts_ln : 0;
	const double cpu = c->machine.sys.gpu ? 0 : width_cpu_ln;
	const double links = step->dp_s / step->step_s * c->machine.link_half_ln;

	return sqrt(base * base + hosts * hosts + cpu * cpu + links * links);
}

/* What transformers can be asked and these networks cannot. */
static enum jl_status refuse_transformer_words(const struct jl_case *c, const struct jl_request *req,
					       struct jl_err *err)
{
	const struct jl_ask_plan *p = &req->plan;
	const bool cut = p->tp > 1 || p->pp > 1 || p->vpp > 1 || p->cp > 1 || p->ep > 1 || p->sp == 1;
	const struct {
		bool given;
		const char *what;
	} words[] = {
		{ cut, "--parallel tp=, pp=, cp=, ep=" },
		{ p->zero > 0, "--parallel zero=" },
		{ !isnan(req->seq), "--seq" },
		{ !isnan(req->tokens), "--tokens" },
		{ req->flash != JL_UNSET, "--flash" },
		{ req->recompute > 0, "--recompute" },
		{ req->offload > 0, "--offload" },
		{ req->framework > 0, "--framework" },
		{ req->dtype == JL_FP8 || req->dtype == JL_FP4, "--precision fp8" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i].given)
			return jl_fail(err, JL_E_USAGE,
				       "%s is for transformers; %s is weighed as plain data parallel training in "
				       "PyTorch: leave it out",
				       "%s은(는) 트랜스포머용입니다. %s은(는) PyTorch 데이터 병렬 학습으로만 "
				       "예측합니다. 빼 주세요",
				       words[i].what, c->subject.id);
	if (!isnan(p->dp) && p->dp != c->n_gpus)
		return jl_fail(err, JL_E_USAGE, "dp %.0f, but there are %d GPUs; take dp=%d",
			       "dp %.0f인데 GPU는 %d개입니다. dp=%d로 하세요", p->dp, c->n_gpus, c->n_gpus);
	return JL_OK;
}

static void say_plan(struct jl_case *c, const struct jl_request *req)
{
	static const struct {
		const char *en, *ko;
	} optimizers[] = { [JL_NET_SGD] = { "SGD with momentum", "모멘텀 SGD" },
			   [JL_NET_ADAM] = { "Adam", "Adam" },
			   [JL_NET_LAMB] = { "LAMB", "LAMB" } };
	const enum jl_net_optimizer optimizer = c->subject.net->optimizer;

	if (req->framework == JL_UNSET)
		jl_note_add(&c->notes, "framework", "PyTorch eager: what the published runs used",
			    "PyTorch eager: 공개된 측정이 쓴 방식");
	if (c->n_gpus > 1 && isnan(req->plan.dp))
		jl_note_add(&c->notes, "parallel", "dp=%d: a network of this size is not cut",
			    "dp=%d: 이 크기의 네트워크는 나누지 않음", c->n_gpus);
	jl_note_add(&c->notes, "optimizer", "%s%.0s, %g bytes of states a parameter",
		    "%.0s%s, 파라미터당 상태 %g바이트", optimizers[optimizer].en, optimizers[optimizer].ko,
		    c->plan.weight_B + c->plan.grad_B + c->plan.optimizer_B);
	if (c->subject.net->ignores_amp && jl_dtype_B(c->shard.dtype) < 4)
		jl_note_add(&c->notes, "precision",
			    "16 bits as asked; published runs of this recipe that say fp16 ran in fp32",
			    "요청대로 16비트. 이 레시피의 공개 측정은 fp16이라고 적혀 있어도 fp32로 돌았음");
}

enum jl_status jl_conv_case_choose(struct jl_case *c, const struct jl_request *req, struct jl_err *err)
{
	struct jl_plan *plan = &c->plan;
	enum jl_status status = refuse_transformer_words(c, req, err);

	if (status)
		return status;
	c->framework = JL_FW_EAGER;
	c->shard.seq = NAN;
	*plan = (struct jl_plan){
		.dp = c->n_gpus, .tp = 1, .pp = 1, .cp = 1, .ep = 1, .n_chunks = 1, .n_micro = 1, .trained_frac = 1
	};
	jl_convnet_states(c->subject.net, c->shard.dtype, &plan->weight_B, &plan->grad_B, &plan->optimizer_B);
	plan->optimizer_moved_B = jl_convnet_update_B(c->subject.net);
	say_plan(c, req);
	return JL_OK;
}
