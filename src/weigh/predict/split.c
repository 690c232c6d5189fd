/* Which way to cut a model over the GPUs, and how large its batches are, where the request leaves it open. */
#include "predict/choose.h"

#include <math.h>
#include <string.h>

#include "predict/kind.h"

#define CUT_MAX       16384.0 /* tp x pp: more stages and slices than any model has */
#define ZERO_NODES    4       /* over more hosts, states that are cut inside each of them are looked at first */
#define WIDE_MAX      512     /* GPUs that states are cut over: as far as it was measured (PyTorch's paper on FSDP) */
#define FOUND_MAX     6       /* cuts that are weighed against each other */
#define CUT_MAX_WHOLE 64      /* looked for where it fits without a cut, but with full recompute only */
#define CUT_TIMES     4       /* up to so many times the smallest that fits: beyond, slices and stages only cost */

static const double worth_frac = 0.05;       /* for less nobody cuts states that fit, or makes layers again */
static const double states_frac = 1.0 / 3.0; /* of the memory: states that take less are not why a pass is small */
static const double near_frac = 0.01;        /* of two cuts whose speeds differ by less, the smaller is taken */

static bool given(double value)
{
	return !isnan(value);
}

struct search {
	struct jl_case *c;
	const struct jl_request *req;
	const struct jl_catalog *cat;
	struct jl_split best, plain; /* plain: the first that fits without cut layers */
	double best_B;
	bool fits;
	struct jl_split found[FOUND_MAX]; /* cuts that fit, small to large */
	size_t n_found;
	struct jl_train_blocks blocks;
	double blocks_of
		[5]; /* tp, ep, recompute, framework, bytes of a weight (fp32 is cast for every product): blocks depend on them alone */
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
	return n * (jl_plan_held_B(p) / (p->zero == 3 ? ranks : 1) +
		    p->trained_frac * (p->grad_B / (p->zero >= 2 ? ranks : 1) +
				       (p->paged ? 0 : p->optimizer_B) / (p->zero >= 1 ? ranks : 1)));
}

static bool try_split(struct search *s, const struct jl_split *split)
{
	struct jl_case *c = s->c;
	struct jl_train train;
	double total_B;

	jl_choose_apply(c, s->req, s->cat, split);
	total_B = states_B(c);
	if (total_B <= fmax(c->machine.dev.mem_B, s->best_B) || !s->has_blocks) { /* else it is none, nor the least */
		const double of[] = { split->tp, split->ep, split->recompute, c->framework, c->plan.weight_B };

		train = jl_case_train(c);
		if (!s->has_blocks || memcmp(of, s->blocks_of, sizeof(of)) != 0)
			jl_train_kept(&train, &s->blocks);
		s->has_blocks = true;
		memcpy(s->blocks_of, of, sizeof(of));
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

/* Who trains adapters cuts no layers: activations are made again, then weights are cut. Nor does who says how gradients and weights
 * are cut, or takes a framework that has no other way. */
static bool keeps_layers(const struct search *s)
{
	return jl_case_adapters(s->c) || s->req->framework == JL_FW_FUSED ||
	       (s->req->plan.zero >= 2 && !given(s->req->plan.dp));
}

static bool joined_fast(const struct search *s)
{
	const enum jl_intra_kind kind = s->c->machine.fabric.intra_kind;

	return kind == JL_INTRA_SWITCH || kind == JL_INTRA_MESH;
}

/* Fast links inside a host: tensor slices first; over PCIe: pipeline stages first. */
static double slices(const struct search *s, double cut)
{
	const struct jl_fabric *f = &s->c->machine.fabric;
	const bool fast = joined_fast(s);
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

/* Stages alone may not fit where fewer of them with slices do: the next number of slices of a cut over slow links; INFINITY: none. */
static double more_slices(const struct search *s, double cut, double tp)
{
	const double most = fmin(cut, s->c->machine.fabric.n_per_node);

	if (joined_fast(s) || given(s->req->plan.tp) || given(s->req->plan.pp))
		return INFINITY;
	do
		tp++;
	while (tp <= most && fmod(cut, tp) != 0);
	return tp <= most ? tp : INFINITY;
}

static bool possible(const struct search *s, double tp, double pp)
{
	const struct jl_ask_plan *p = &s->req->plan;

	return tp >= 1 && pp >= 1 && floor(tp) == tp && floor(pp) == pp && fmod(s->c->subject.model.heads, tp) == 0 &&
	       pp * (given(p->vpp) ? p->vpp : 1) <= s->c->subject.model.n_layers && (!given(p->pp) || p->pp == pp);
}

/* Whoever can train without cutting layers does so; only full recompute is dear enough to look further, and weights that are gathered
 * over slow links. */
static bool goes_on(const struct search *s, double cut)
{
	const bool whole = s->n_found && s->found[0].tp * s->found[0].pp == 1;
	const size_t first = whole ? 1 : 0;
	const struct jl_split *least = s->n_found > first ? &s->found[first] : NULL; /* the smallest that cuts layers */

	if (keeps_layers(s) && cut > 1)
		return false;
	if (s->n_found == 0)
		return true;
	if (whole && (s->plain.recompute != JL_RECOMPUTE_FULL || s->req->recompute != JL_UNSET) &&
	    (s->plain.zero != 3 || s->req->plan.zero != JL_UNSET || joined_fast(s)))
		return false;
	return s->n_found < FOUND_MAX && cut <= (least ? CUT_TIMES * least->tp * least->pp : CUT_MAX_WHOLE);
}

static double default_micro(const struct jl_case *c)
{
	const double enough = c->subject.kind->usual_batch(c);
	double batch = 1;

	while (batch * 2 <= enough && jl_case_holds(c, batch * 2))
		batch *= 2;
	return batch;
}

/* States are cut inside each host or over all of them; over many hosts the former is looked at first. NAN: there is no other. */
static double shard_of(const struct search *s, int zero, bool other)
{
	const struct jl_sys *sys = &s->c->machine.sys;
	const bool can = s->req->plan.zero == JL_UNSET && zero >= 2 && sys->n_nodes > 1 && sys->n_per_node > 1;

	if (!can || (other && s->c->n_gpus > WIDE_MAX))
		return other ? NAN : 0;
	return (sys->n_nodes > ZERO_NODES) != other ? sys->n_per_node : 0;
}

struct step {
	int zero, recompute;
};

/* Ways to hold a cut, from what costs least time to what needs least memory. */
static size_t memory_steps(const struct search *s, const struct jl_split *split, const struct step **ret_steps)
{
	enum { NONE = JL_RECOMPUTE_NONE, SOME = JL_RECOMPUTE_SELECTIVE, FULL = JL_RECOMPUTE_FULL };
	static const struct step alone[] = { { 0, NONE }, { 2, NONE }, { 3, NONE }, { 3, SOME }, { 3, FULL } },
				 cut[] = { { 1, NONE }, { 1, SOME }, { 1, FULL } },
				 one[] = { { 0, NONE }, { 0, SOME }, { 0, FULL } },
				 tune[] = { { 0, NONE }, { 0, FULL }, { 3, NONE }, { 3, FULL } },
				 /* its distributed optimizer: gradients are added up once a step, not in every pass */
		megatron[] = { { 0, NONE }, { 1, NONE }, { 1, SOME }, { 1, FULL }, { 3, FULL } };
	const double cut_by = split->tp * split->pp;
	/* one worker, or a stage that was given: only what is made again is left to choose */
	const bool is_one = s->c->n_gpus <= cut_by * jl_given_or(s->req->plan.cp, 1) || s->req->plan.zero != JL_UNSET;
	const bool tuned = jl_case_adapters(s->c) && cut_by == 1;

	*ret_steps = tuned                                 ? tune
		     : is_one                              ? one
		     : cut_by > 1                          ? cut
		     : s->req->framework == JL_FW_MEGATRON ? megatron
							   : alone;
	return tuned ? (is_one ? 2 : 4) : is_one || cut_by > 1 ? 3 : 5;
}

/* Whether other ways are looked at beside the first that fits: who needs neither cut states nor layers made again is content, unless whole
 * states or weights leave too little room for a pass that fills a device. */
static bool looks_on(const struct search *s, const struct jl_split *first, const struct jl_case *c)
{
	const struct jl_request *req = s->req;
	const bool adapters = jl_case_adapters(s->c);

	if (!adapters && (first->zero || (first->recompute != JL_RECOMPUTE_NONE && req->recompute == JL_UNSET)))
		return true;
	if ((c->n_gpus <= 1 && !adapters) || given(req->accumulate) || given(req->batch) || given(req->micro_batch) ||
	    (given(req->global_batch) ? c->plan.n_micro == 1 : jl_case_holds(c, 2 * c->shard.micro_batch)))
		return false;
	const struct jl_memory m = jl_case_weigh(c).memory;

	return m.weights_B + m.gradients_B + m.optimizer_B > states_frac * c->machine.dev.mem_B;
}

/* Samples a second as it would be run; 0: the batch that was asked for does not go with it. */
static double speed_of(const struct search *s, const struct jl_split *split, struct jl_case *ret_case)
{
	struct jl_case *c = ret_case;

	jl_case_what_if(c, s->c);
	jl_choose_apply(c, s->req, s->cat, split);
	return jl_choose_batch(c, s->req, NULL) ? 0 : c->global_batch / jl_case_weigh(c).step.step_s;
}

/* For one cut: the first way to hold it that fits, or another that is faster. */
static bool try_memory_steps(struct search *s, struct jl_split split)
{
	const struct jl_request *req = s->req;
	const struct step *steps;
	const size_t n = 2 * memory_steps(s, &split, &steps);
	struct jl_split best = { .tp = 0 };
	struct jl_case c;
	double best_speed = 0;

	for (size_t i = 0; i < n; i++) {
		split.zero = req->plan.zero != JL_UNSET ? req->plan.zero : steps[i / 2].zero;
		split.recompute = (enum jl_recompute)(req->recompute != JL_UNSET ? req->recompute
										 : steps[i / 2].recompute);
		split.shard = shard_of(s, split.zero, i % 2);
		if (isnan(split.shard) || !try_split(s, &split))
			continue;
		const bool dearer = (!best.zero && split.zero) || split.recompute > best.recompute;
		const double speed = speed_of(s, &split, &c);

		if (best.tp > 0 && !(speed > best_speed * (1 + (dearer ? worth_frac : near_frac))))
			continue;
		const bool first = !(best.tp > 0);

		best = split;
		best_speed = speed;
		if (first && split.tp * split.pp == 1 && !(s->plain.tp > 0))
			s->plain = split;
		if (first && !looks_on(s, &best, &c))
			break;
	}
	if (best.tp > 0)
		s->best = best;
	return best.tp > 0;
}

/* Experts go over no ranks, over those of a host, or over as many as there are: whichever is fastest. */
static bool try_experts(struct search *s, struct jl_split split)
{
	const struct jl_request *req = s->req;
	const double n_experts = s->c->subject.model.moe.n_experts;
	const double ranks = floor(s->c->n_gpus / (split.tp * split.pp)), most = fmin(n_experts, ranks);
	struct jl_split best = split;
	double best_speed = -1;

	split.ep = jl_given_or(req->plan.ep, 1);
	if (given(req->plan.ep) || most <= 1 || given(req->plan.cp) || req->framework == JL_FW_FUSED ||
	    (jl_case_adapters(s->c) && req->framework != JL_FW_MEGATRON)) /* whose libraries spread no experts */
		return try_memory_steps(s, split);
	for (; split.ep <= most; split.ep *= 2) {
		struct jl_case c;

		if (fmod(n_experts, split.ep) != 0 || fmod(ranks, split.ep) != 0 ||
		    (split.ep > 1 && split.ep != 8 && split.ep * 2 <= most) || !try_memory_steps(s, split))
			continue;
		const double speed = speed_of(s, &s->best, &c);

		if (speed > best_speed * (1 + near_frac)) {
			best_speed = speed;
			best = s->best;
		}
	}
	if (best_speed >= 0)
		s->best = best;
	return best_speed >= 0;
}

static size_t fastest(const struct search *s)
{
	struct jl_case c;
	double best = s->n_found > 1 ? speed_of(s, &s->found[0], &c) : 0;
	size_t at = 0;

	for (size_t i = 1; i < s->n_found; i++) {
		const double speed = speed_of(s, &s->found[i], &c);

		if (speed > best * (1 + near_frac)) {
			best = speed;
			at = i;
		}
	}
	return at;
}

enum jl_status jl_choose_split(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
			       bool *ret_searched, bool *ret_fits, struct jl_err *err)
{
	const struct jl_ask_plan *p = &req->plan;
	struct search s = { .c = c, .req = req, .cat = cat, .best_B = INFINITY };
	const double cp = jl_given_or(p->cp, 1);
	bool found = false, any = false;

	(void)err;
	*ret_searched = !given(p->tp) && !given(p->pp);
	if (!*ret_searched) { /* a cut that was given is kept, possible or not: the check says what is wrong */
		struct jl_split split = { .tp = jl_given_or(p->tp, 1), .pp = jl_given_or(p->pp, 1), .ep = 1 };

		if (given(p->dp) && !given(p->pp) && fmod(c->n_gpus, p->dp * split.tp * cp) == 0)
			split.pp = fmax(1, c->n_gpus / (p->dp * split.tp * cp));
		found = try_experts(&s, split);
		any = true;
	}
	for (double cut = 1; !any && cut <= c->n_gpus && cut <= CUT_MAX && goes_on(&s, cut); cut++) {
		bool fits = false;

		if (fmod(c->n_gpus, cut * cp) != 0 || (given(p->dp) && cut != c->n_gpus / (p->dp * cp)))
			continue;
		for (double tp = slices(&s, cut); !fits && tp <= cut; tp = more_slices(&s, cut, tp))
			fits = possible(&s, tp, cut / tp) &&
			       try_experts(&s, (struct jl_split){ .tp = tp, .pp = cut / tp });
		if (fits)
			s.found[s.n_found++] = s.best;
	}
	if (s.n_found) {
		s.best = s.found[fastest(&s)];
		found = true;
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
	const double batch = default_micro(c);
	const char *of = c->plan.tp * c->plan.cp > 1 ? JL_N("worker") : c->machine.sys.gpu ? "GPU" : "CPU";

	if (c->plan.pp > 1) {
		jl_note_add(&c->notes, "batch",
			    "%.0f samples a worker in micro-batches of 1: eight a stage keep the pipeline full",
			    8 * c->plan.pp);
		return 8 * c->plan.pp;
	}
	if (c->plan.tp >
	    batch) { /* slices share a sample; without as many as there are GPUs, gradients would be added up for little */
		jl_note_add(&c->notes, "batch", "%.0f samples a worker: one for each of its GPUs", c->plan.tp);
		return c->plan.tp;
	}
	if (jl_case_holds(c, 2 * batch) || isnan(c->machine.dev.mem_B))
		jl_note_add(&c->notes, "batch", "batch %.0f a {%s}: fits, and is enough to fill it", batch, of);
	else if (jl_case_holds(c, 1) && c->subject.kind->is_cut && c->plan.dp > 1 && !c->plan.zero)
		jl_note_add(&c->notes, "batch", "batch %.0f a {%s}: twice as many do not fit beside whole states",
			    batch, of);
	else if (jl_case_holds(c, 1))
		jl_note_add(&c->notes, "batch", "batch %.0f a {%s}: twice as many do not fit", batch, of);
	else
		jl_note_add(&c->notes, "batch", "batch %.0f a {%s}: the least there is", batch, of);
	return batch;
}

enum jl_status jl_choose_batch(struct jl_case *c, const struct jl_request *req, struct jl_err *err)
{
	double local = local_batch(c, req), micro;

	if (given(req->global_batch) && fmod(req->global_batch, c->plan.dp) != 0)
		return jl_fail(err, JL_E_USAGE, "global batch %.0f does not divide by dp %.0f; take %.0f or %.0f",
			       req->global_batch, c->plan.dp,
			       fmax(1, floor(req->global_batch / c->plan.dp)) * c->plan.dp,
			       fmax(2, ceil(req->global_batch / c->plan.dp)) * c->plan.dp);
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
		return jl_fail(err, JL_E_USAGE,
			       "%.0f samples a worker do not split into %s %.0f; take a multiple of %.0f", local,
			       floor(micro) != micro ? "accumulate" : "micro-batch",
			       floor(micro) != micro ? req->accumulate : micro,
			       floor(micro) != micro ? req->accumulate : micro);
	if (given(req->micro_batch) && given(req->accumulate) && micro * req->accumulate != local)
		return jl_fail(err, JL_E_USAGE,
			       "micro-batch %.0f x accumulate %.0f is %.0f, but a worker has %.0f samples; leave one "
			       "of them out",
			       micro, req->accumulate, micro * req->accumulate, local);
	c->shard.micro_batch = micro;
	c->plan.n_micro = local / micro;
	c->global_batch = local * c->plan.dp;
	if (given(req->global_batch) && !given(req->micro_batch) && !given(req->accumulate))
		jl_note_add(&c->notes, "micro-batch", "micro-batch %.0f, %.0f a step", micro, c->plan.n_micro);
	return JL_OK;
}
