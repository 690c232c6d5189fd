/* Which way to cut a model over the GPUs, and how large its batches are, where the request leaves it open. */
#include "predict/choose.h"

#include <math.h>

#define CUT_MAX    16384.0 /* tp x pp: more stages and slices than any model has */
#define ZERO_NODES 4       /* ZeRO over a few hosts is what people run; beyond, gathers cost too much */

static bool given(double value)
{
	return !isnan(value);
}

struct search {
	struct jl_case *c;
	const struct jl_request *req;
	const struct jl_catalog *cat;
	struct jl_split best;
	double best_B;
	bool fits;
	/* Blocks depend only on these; the others are cheap. */
	struct jl_train_blocks blocks;
	double blocks_tp, blocks_ep;
	enum jl_recompute blocks_recompute;
	enum jl_framework blocks_framework;
	bool has_blocks;
};

/* Weights, gradients and states alone: a lower bound that needs no operator. */
static double states_B(const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;
	const double n = jl_transformer_params(&c->subject.model).total / (p->tp * p->pp * p->ep);
	const double ranks = p->shard > 0 ? p->shard : p->dp * p->cp;

	if (p->offload)
		return 0;
	return n * (p->weight_B / (p->zero == 3 ? ranks : 1) + p->grad_B / (p->zero >= 2 ? ranks : 1) +
		    p->optimizer_B / (p->zero >= 1 ? ranks : 1));
}

static bool try_split(struct search *s, const struct jl_split *split)
{
	struct jl_case *c = s->c;
	struct jl_train train;
	double total_B;

	jl_choose_apply(c, s->req, s->cat, split);
	total_B = states_B(c);
	if (total_B <= c->machine.dev.mem_B || !s->has_blocks) {
		train = jl_case_train(c);
		if (!s->has_blocks || s->blocks_tp != split->tp || s->blocks_ep != split->ep ||
		    s->blocks_recompute != split->recompute || s->blocks_framework != c->framework) {
			jl_train_blocks(&train, &s->blocks);
			s->has_blocks = true;
			s->blocks_tp = split->tp;
			s->blocks_ep = split->ep;
			s->blocks_recompute = split->recompute;
			s->blocks_framework = c->framework;
		}
		train.plan.n_micro = split->pp > 1 ? 8 * split->pp : 1;
		total_B = jl_train_memory(&train, &s->blocks).total_B;
	}
	if (total_B <= s->best_B) { /* of equals the later: it is the one that does more for memory */
		s->best_B = total_B;
		s->best = *split;
	}
	s->fits = total_B <= JL_TIGHT_FRAC * c->machine.dev.mem_B || isnan(c->machine.dev.mem_B);
	if (s->fits)
		s->best = *split;
	return s->fits;
}

/* For one cut: from what costs least time to what needs least memory. */
static bool try_memory_steps(struct search *s, struct jl_split split)
{
	static const struct {
		int zero;
		enum jl_recompute recompute;
	} alone[] = { { 0, JL_RECOMPUTE_NONE },
		      { 2, JL_RECOMPUTE_NONE },
		      { 3, JL_RECOMPUTE_NONE },
		      { 3, JL_RECOMPUTE_SELECTIVE },
		      { 3, JL_RECOMPUTE_FULL } },
	  cut[] = { { 1, JL_RECOMPUTE_NONE }, { 1, JL_RECOMPUTE_SELECTIVE }, { 1, JL_RECOMPUTE_FULL } },
	  one[] = { { 0, JL_RECOMPUTE_NONE }, { 0, JL_RECOMPUTE_SELECTIVE }, { 0, JL_RECOMPUTE_FULL } };
	const struct jl_request *req = s->req;
	const struct jl_sys *sys = &s->c->machine.sys;
	const double cp = given(req->plan.cp) ? req->plan.cp : 1;
	const bool is_cut = split.tp * split.pp > 1, is_one = s->c->n_gpus <= split.tp * split.pp * cp;
	const size_t n = is_one || is_cut ? 3 : 5;

	for (size_t i = 0; i < n; i++) {
		split.zero = is_one ? one[i].zero : is_cut ? cut[i].zero : alone[i].zero;
		split.recompute = is_one ? one[i].recompute : is_cut ? cut[i].recompute : alone[i].recompute;
		/* Over many hosts states are cut inside each of them, and gradients added up across. */
		split.shard = req->plan.zero == JL_UNSET && split.zero >= 2 && sys->n_nodes > ZERO_NODES &&
					      sys->n_per_node > 1
				      ? sys->n_per_node
				      : 0;
		if (req->plan.zero != JL_UNSET) {
			split.zero = req->plan.zero;
			split.recompute = (enum jl_recompute)(i < 3 ? i : 2);
		}
		if (req->recompute != JL_UNSET)
			split.recompute = (enum jl_recompute)req->recompute;
		if (try_split(s, &split))
			return true;
	}
	return false;
}

/* Experts go over as many ranks as there are, inside a host first. */
static bool try_experts(struct search *s, struct jl_split split)
{
	const double n_experts = s->c->subject.model.moe.n_experts;
	const double cp = given(s->req->plan.cp) ? s->req->plan.cp : 1;
	const double ranks = floor(s->c->n_gpus / (split.tp * split.pp));

	split.ep = given(s->req->plan.ep) ? s->req->plan.ep : 1;
	if (try_memory_steps(s, split))
		return true;
	if (given(s->req->plan.ep) || n_experts <= 1 || cp > 1)
		return false;
	for (split.ep = 2; split.ep <= n_experts && split.ep <= ranks; split.ep *= 2)
		if (fmod(n_experts, split.ep) == 0 && fmod(ranks, split.ep) == 0 &&
		    (split.ep * 2 > n_experts || split.ep * 2 > ranks || split.ep == 8) && try_memory_steps(s, split))
			return true;
	return false;
}

/* Fast links inside a host: tensor slices first; over PCIe: pipeline stages first. */
static double slices(const struct search *s, double cut)
{
	const struct jl_fabric *f = &s->c->machine.fabric;
	const bool fast = f->intra_kind == JL_INTRA_SWITCH || f->intra_kind == JL_INTRA_MESH;
	const double heads = s->c->subject.model.heads, layers = s->c->subject.model.n_layers;
	const double most = fmin(fmin(cut, f->n_per_node), heads);

	if (given(s->req->plan.tp))
		return s->req->plan.tp;
	if (given(s->req->plan.pp))
		return cut / s->req->plan.pp;
	if (!fast && cut <= layers)
		return 1;
	for (double tp = most; tp > 1; tp--)
		if (fmod(cut, tp) == 0 && fmod(heads, tp) == 0 && cut / tp <= layers)
			return tp;
	return 1;
}

static bool possible(const struct search *s, double tp, double pp)
{
	const struct jl_ask_plan *p = &s->req->plan;

	return tp >= 1 && pp >= 1 && floor(tp) == tp && floor(pp) == pp && fmod(s->c->subject.model.heads, tp) == 0 &&
	       pp * (given(p->vpp) ? p->vpp : 1) <= s->c->subject.model.n_layers && (!given(p->pp) || p->pp == pp);
}

enum jl_status jl_choose_split(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
			       bool *ret_searched, bool *ret_fits, struct jl_err *err)
{
	const struct jl_ask_plan *p = &req->plan;
	struct search s = { .c = c, .req = req, .cat = cat, .best_B = INFINITY };
	const double cp = given(p->cp) ? p->cp : 1;
	bool found = false, any = false;

	(void)err;
	*ret_searched = !given(p->tp) && !given(p->pp);
	if (!*ret_searched) { /* a cut that was given is kept, possible or not: the check says what is wrong */
		struct jl_split split = { .tp = given(p->tp) ? p->tp : 1, .pp = given(p->pp) ? p->pp : 1, .ep = 1 };

		if (given(p->dp) && !given(p->pp) && fmod(c->n_gpus, p->dp * split.tp * cp) == 0)
			split.pp = fmax(1, c->n_gpus / (p->dp * split.tp * cp));
		found = try_experts(&s, split);
		any = true;
	}
	for (double cut = 1; !any && cut <= c->n_gpus && cut <= CUT_MAX; cut++) {
		double tp;

		if (fmod(c->n_gpus, cut * cp) != 0 || (given(p->dp) && cut != c->n_gpus / (p->dp * cp)))
			continue;
		tp = slices(&s, cut);
		if (possible(&s, tp, cut / tp))
			found = try_experts(&s, (struct jl_split){ .tp = tp, .pp = cut / tp });
		if (found)
			break;
	}
	if (s.best_B == INFINITY && !found) /* dp, cp or both do not go with the GPUs: keep them for the check */
		s.best = (struct jl_split){ .tp = 1,
					    .pp = 1,
					    .ep = 1,
					    .zero = p->zero == JL_UNSET ? 0 : p->zero,
					    .recompute = req->recompute == JL_UNSET
								 ? JL_RECOMPUTE_NONE
								 : (enum jl_recompute)req->recompute };
	jl_choose_apply(c, req, cat, &s.best);
	*ret_fits = found;
	return JL_OK;
}

/* Samples of one worker and step, as far as the request says; NAN: it does not. */
static double local_batch(const struct jl_case *c, const struct jl_request *req)
{
	const bool micro = given(req->micro_batch), accumulate = given(req->accumulate);

	if (given(req->global_batch))
		return req->global_batch / c->plan.dp;
	if (given(req->batch))
		return !micro && accumulate ? req->batch * req->accumulate : req->batch;
	if (micro)
		return req->micro_batch * (accumulate ? req->accumulate : c->plan.pp > 1 ? 8 * c->plan.pp : 1);
	return NAN;
}

/* Largest divisor of `local` that fits; 1 where nothing does. */
static double fitting_divisor(const struct jl_case *c, double local)
{
	const double most = fmax(1, fmin(jl_case_max_micro_batch(c), local));

	for (double n_micro = ceil(local / most); n_micro < local; n_micro++)
		if (fmod(local, n_micro) == 0)
			return local / n_micro;
	return 1;
}

static double default_local(struct jl_case *c)
{
	const double most = jl_case_max_micro_batch(c), tokens = 16384, images = 256;
	const double enough = c->subject.net ? images : tokens / c->shard.seq;
	double batch = 1;

	if (c->plan.pp > 1) {
		jl_note_add(&c->notes, "batch",
			    "%g samples a worker in micro-batches of 1: eight a stage keep the pipeline full",
			    "작업자당 %g개, 마이크로배치 1: 단계당 8개면 파이프라인이 비지 않음", 8 * c->plan.pp);
		return 8 * c->plan.pp;
	}
	while (batch * 2 <= most && batch * 2 <= enough)
		batch *= 2;
	if (most >= 1)
		jl_note_add(&c->notes, "batch", "batch %g a GPU: fits, and is enough to fill it",
			    "GPU당 배치 %g: 메모리에 맞고 GPU를 채우기에 충분함", batch);
	else
		jl_note_add(&c->notes, "batch", "batch %g a GPU: the least there is",
			    "GPU당 배치 %g: 가능한 가장 작은 값", batch);
	return batch;
}

enum jl_status jl_choose_batch(struct jl_case *c, const struct jl_request *req, struct jl_err *err)
{
	double local = local_batch(c, req), micro;

	if (given(req->global_batch) && fmod(req->global_batch, c->plan.dp) != 0)
		return jl_fail(err, JL_E_USAGE, "global batch %.0f does not divide by dp %.0f; take %.0f or %.0f",
			       "전체 배치 %.0f 은(는) dp %.0f (으)로 나뉘지 않습니다. %.0f 또는 %.0f 을(를) 쓰세요",
			       req->global_batch, c->plan.dp,
			       fmax(1, floor(req->global_batch / c->plan.dp)) * c->plan.dp,
			       ceil(req->global_batch / c->plan.dp) * c->plan.dp);
	if (isnan(local))
		local = default_local(c);
	if (given(req->micro_batch))
		micro = req->micro_batch;
	else if (given(req->accumulate))
		micro = local / req->accumulate;
	else if (c->plan.pp > 1)
		micro = 1;
	else if (given(req->batch))
		micro = fmin(req->batch, local);
	else
		micro = fitting_divisor(c, local);
	if (floor(micro) != micro || fmod(local, micro) != 0)
		return jl_fail(err, JL_E_USAGE, "%g samples a worker do not split into %s %g; take a multiple of %g",
			       "작업자당 %g개는 %s %g (으)로 나뉘지 않습니다. %g 의 배수를 쓰세요", local,
			       floor(micro) != micro ? "accumulate" : "micro-batch",
			       floor(micro) != micro ? req->accumulate : micro,
			       floor(micro) != micro ? req->accumulate : micro);
	if (given(req->micro_batch) && given(req->accumulate) && micro * req->accumulate != local)
		return jl_fail(
			err, JL_E_USAGE,
			"micro-batch %g x accumulate %g is %g, but a worker has %g samples; leave one of them out",
			"마이크로배치 %g x 누적 %g = %g 인데 작업자당 %g개입니다. 하나를 빼세요", micro,
			req->accumulate, micro * req->accumulate, local);
	c->shard.micro_batch = micro;
	c->plan.n_micro = local / micro;
	c->global_batch = local * c->plan.dp;
	if (given(req->global_batch) && !given(req->micro_batch) && !given(req->accumulate))
		jl_note_add(&c->notes, "micro-batch", "micro-batch %g, %g a step", "마이크로배치 %g, 스텝당 %g번",
			    micro, c->plan.n_micro);
	return JL_OK;
}
