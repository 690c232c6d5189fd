/* Chooses how to split a model over GPUs, and the batch, where the request does not. */
#include "predict/choose.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/budget.h"
#include "predict/answer.h"
#include "predict/kind.h"

#define CUT_MAX       16384.0 /* maximum tp x pp: more than any model supports */
#define ZERO_NODES    4       /* on more hosts, sharding within each host is tried first */
#define WIDE_MAX      512     /* maximum GPUs to shard states over: as measured (PyTorch's FSDP paper) */
#define WIDEST_MAX    2048    /* the same if whole layers do not fit otherwise (Llama 2 was trained so) */
#define FOUND_MAX     6       /* splits compared with each other */
#define CUT_MAX_WHOLE 64      /* maximum tp x pp while unsplit layers are fastest */
#define CUT_TIMES     4       /* stops at this multiple of the fastest split so far: further splitting only costs */

static const double again_frac = JL_ADVICE_GAIN_FRAC; /* minimum gain for recomputation */
/* share of memory up to which states are not the reason for a small pass */
static const double states_frac = 1.0 / 3.0;
static const double exchanged_frac = 0.25; /* share of the step: below it no split of layers is a third faster */
static const double uneven_most = 1.1;     /* maximum layers of a stage relative to the mean */
static const double near_frac = 0.01;      /* relative speed difference below which the smaller split is chosen */

static bool given(double value)
{
	return !isnan(value);
}

/* A split that fits, with its result. */
struct found {
	struct jl_split split;
	double speed;     /* samples/s; 0: incompatible with the given batch; -1: does not fit */
	double exchanged; /* share of the step for reducing gradients and gathering weights */
};

struct search {
	struct jl_case *c;
	const struct jl_request *req;
	const struct jl_catalog *cat;
	struct found best, whole;     /* fastest; fastest without split layers */
	struct jl_split least, plain; /* least memory; first one that fits without split layers */
	double least_B;
	int n_found; /* number of splits that fit */
	struct jl_train_blocks blocks;
	double blocks_of[6]; /* what blocks depend on: tp, ep, recompute, framework, weight bytes, micro-batch */
	bool has_blocks;
};

/* Weights, gradients and states: a lower bound of memory without computing operators. */
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

/* Samples per worker and step by the request; NAN: not given. */
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

static bool try_split(struct search *s, const struct jl_split *split)
{
	struct jl_case *c = s->c;
	struct jl_train train;
	double total_B;

	jl_choose_apply(c, s->req, s->cat, split);
	total_B = states_B(c);
	/* otherwise it neither fits nor needs the least */
	if (total_B <= fmax(c->machine.dev.mem_B, s->least_B) || !s->has_blocks) {
		/* pipelines take single samples unless a micro-batch is given */
		const double micro = split->pp > 1 ? jl_given_or(s->req->micro_batch, 1) : c->shard.micro_batch;
		const double of[] = { split->tp, split->ep, split->recompute, c->framework, c->plan.weight_B, micro };

		train = jl_case_train(c);
		train.shard.micro_batch = micro;
		/* an array of double has no padding. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
		if (!s->has_blocks || memcmp(of, s->blocks_of, sizeof(of)) != 0)
			jl_train_kept(&train, &s->blocks);
		s->has_blocks = true;
		memcpy(s->blocks_of, of, sizeof(of));
		train.plan.n_micro =
			split->pp > 1 ? fmax(1, floor(jl_given_or(local_batch(c, s->req), 8 * split->pp) / micro)) : 1;
		total_B = jl_train_memory(&train, &s->blocks).total_B;
	}
	if (total_B <= s->least_B) { /* ties: the later one, which saves more memory */
		s->least_B = total_B;
		s->least = *split;
	}
	return total_B <= JL_TIGHT_FRAC * c->machine.dev.mem_B || isnan(c->machine.dev.mem_B);
}

/* True if layers are not split. Adapter training recomputes activations first, then shards weights; likewise if the request gives sharding or a
 * framework that only shards. */
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

static bool possible(const struct search *s, double tp, double pp)
{
	const struct jl_transformer *m = &s->c->subject.model;

	return floor(pp) == pp && fmod(m->heads, tp) == 0 &&
	       pp * jl_given_or(s->req->plan.vpp, 1) <= m->n_layers + (s->req->plan.vpp > 1 ? 2 : 0) &&
	       fmod(s->c->n_gpus / (tp * pp), jl_given_or(s->req->plan.ep, 1)) == 0;
}

/* True to continue with larger splits. Layers are split only if necessary: with full recomputation, or with sharded states over slow links,
 * unless the batch per GPU is given. */
static bool goes_on(const struct search *s, double cut)
{
	const bool whole = s->plain.tp > 0, each = given(s->req->batch) || given(s->req->micro_batch);
	const double best = s->best.split.tp * s->best.split.pp;

	if (keeps_layers(s) && cut > 1)
		return false;
	if (s->n_found == 0)
		return true;
	/* unsplit layers fit, but the given batch does not divide over so many workers: over several hosts splitting reduces their number, as
	 * published runs do; for one host another batch is better advice */
	if (given(s->req->global_batch) && !(s->best.speed > 0) && !given(s->req->plan.dp) &&
	    s->c->machine.sys.n_nodes > 1)
		return cut <= CUT_MAX_WHOLE;
	/* expert parallelism implies Megatron, which also splits layers */
	if (whole && !(s->whole.split.ep > 1) &&
	    (s->plain.recompute != JL_RECOMPUTE_FULL || s->req->recompute != JL_UNSET) &&
	    (!s->plain.zero || s->whole.exchanged < exchanged_frac || s->req->plan.zero != JL_UNSET ||
	     (each && s->plain.zero != 3)))
		return false;
	return s->n_found < FOUND_MAX && cut <= (best > 1 ? CUT_TIMES * best : CUT_MAX_WHOLE);
}

static double default_micro(const struct jl_case *c)
{
	const double enough = c->subject.kind->usual_batch(c);
	double batch = 1;

	while (batch * 2 <= enough && jl_case_holds(c, batch * 2))
		batch *= 2;
	return batch;
}

/* Number of ranks to shard over: within a host or all; on many hosts the former first. NAN: no further alternative. */
static double shard_of(const struct search *s, const struct jl_split *split, bool other)
{
	const struct jl_sys *sys = &s->c->machine.sys;
	const bool can = s->req->plan.zero == JL_UNSET && split->zero >= 2 && sys->n_nodes > 1 && sys->n_per_node > 1;

	if (given(s->req->plan.shard)) { /* a series keeps its number of ranks if there are more */
		const double ranks = s->c->n_gpus / (split->tp * split->pp), shard = s->req->plan.shard;

		return other ? NAN : ranks > shard && fmod(ranks, fmax(shard, 1)) == 0 ? shard : 0;
	}
	/* with expert parallelism most parameters are sharded over n_gpus / ep ranks; wider if unsplit layers do not fit otherwise */
	const double most = s->plain.tp > 0 ? WIDE_MAX : WIDEST_MAX;

	if (!can || (other && s->c->n_gpus / split->ep > most))
		return other ? NAN : 0;
	return (sys->n_nodes > ZERO_NODES) != other ? sys->n_per_node : 0;
}

struct step {
	int zero, recompute;
};

/* Memory techniques for a split, from the cheapest in time to the smallest in memory. */
static size_t memory_steps(const struct search *s, const struct jl_split *split, const struct step **ret_steps)
{
	enum { NONE = JL_RECOMPUTE_NONE, SOME = JL_RECOMPUTE_SELECTIVE, FULL = JL_RECOMPUTE_FULL };
	static const struct step alone[] = { { 0, NONE }, { 1, NONE }, { 2, NONE },
					     { 3, NONE }, { 3, SOME }, { 3, FULL } },
				 cut[] = { { 1, NONE }, { 1, SOME }, { 1, FULL } },
				 one[] = { { 0, NONE }, { 0, SOME }, { 0, FULL } },
				 tune[] = { { 0, NONE }, { 0, FULL }, { 3, NONE }, { 3, FULL } },
				 /* the distributed optimizer reduces gradients once per step, not per pass */
		megatron[] = { { 0, NONE }, { 1, NONE }, { 1, SOME }, { 1, FULL }, { 3, FULL } };
	const double cut_by = split->tp * split->pp;
	/* one worker, or a given stage: only recomputation remains to be chosen */
	const bool is_one = s->c->n_gpus <= cut_by * jl_given_or(s->req->plan.cp, 1) || s->req->plan.zero != JL_UNSET;
	const bool tuned = jl_case_adapters(s->c) && cut_by == 1;

	*ret_steps = tuned                                 ? tune
		     : is_one                              ? one
		     : cut_by > 1                          ? cut
		     : s->req->framework == JL_FW_MEGATRON ? megatron
							   : alone;
	return tuned                                 ? (is_one ? 2 : JL_LEN(tune))
	       : is_one                              ? JL_LEN(one)
	       : cut_by > 1                          ? JL_LEN(cut)
	       : s->req->framework == JL_FW_MEGATRON ? JL_LEN(megatron)
						     : JL_LEN(alone);
}

/* True if the pass has its final size: as requested, or filling a device. */
static bool is_full(const struct search *s, const struct jl_case *c)
{
	const struct jl_request *req = s->req;

	return given(req->accumulate) || given(req->batch) || given(req->micro_batch) ||
	       (given(req->global_batch) ? c->plan.n_micro == 1 : jl_case_holds(c, 2 * c->shard.micro_batch));
}

/* True if whole states or weights leave too little memory for a pass that fills a device. */
static bool is_crowded(const struct jl_case *c)
{
	const struct jl_memory m = jl_case_price(c).memory;

	return m.weights_B + m.gradients_B + m.optimizer_B > states_frac * c->machine.dev.mem_B;
}

static struct found run(const struct search *s, const struct jl_split *split, struct jl_case *ret_case)
{
	struct jl_case *c = ret_case;

	jl_case_what_if(c, s->c);
	jl_choose_apply(c, s->req, s->cat, split);
	/* splitting only for the batch's sake needs nearly even stages: 96 layers in 31 stages would not help */
	const bool for_batch = s->plain.tp > 0 && !(s->best.speed > 0);
	const double layers = c->subject.model.n_layers, fullest = ceil(layers / split->pp) * split->pp;

	if ((for_batch && fullest > uneven_most * layers) || jl_choose_batch(c, s->req, NULL))
		return (struct found){ .split = *split };
	const struct jl_step_cost step = jl_case_price(c).step;

	return (struct found){ *split, c->global_batch / step.step_s, step.dp_s / step.step_s };
}

static bool is_faster(const struct found *a, const struct found *than, double frac)
{
	return a->speed >= 0 && a->speed > than->speed * (1 + frac);
}

/* True if the case fits with its batch. */
static bool is_held(const struct jl_case *c)
{
	const struct jl_case_price w = jl_case_price(c);

	return !jl_case_check(c, NULL) && jl_case_room(c, &w) == JL_ROOM_FITS;
}

/* Tries interleaving: chunks of equal size, whole rounds of micro-batches. */
static bool interleave(const struct search *s, struct found *best)
{
	const struct jl_split from = best->split;
	const double layers = s->c->subject.model.n_layers;
	bool better = false;
	struct jl_case c;

	if (!(best->speed > 0) || from.pp <= 1 || given(s->req->plan.vpp) ||
	    (given(s->req->plan.pp) && s->c->framework != JL_FW_MEGATRON))
		return false;
	for (double v = 2; v * from.pp <= layers + 2; v++) {
		struct jl_split split = from;

		split.vpp = v;
		if (v == from.vpp || !jl_chunks_divide(layers, from.pp, v))
			continue;
		const struct found found = run(s, &split, &c);

		if (is_faster(&found, best, near_frac) && fmod(c.plan.n_micro, from.pp) == 0 && is_held(&c)) {
			*best = found;
			better = true;
		}
	}
	return better;
}

/* Finds for one split the first memory technique that fits, or a faster one. */
static struct found try_memory_steps(struct search *s, struct jl_split split)
{
	const struct jl_request *req = s->req;
	const struct step *steps;
	const size_t n = 2 * memory_steps(s, &split, &steps);
	struct found best = { .speed = -1 };
	struct jl_case c;
	bool full = false;

	for (size_t i = 0; i < n; i++) {
		split.zero = req->plan.zero != JL_UNSET ? req->plan.zero : steps[i / 2].zero;
		split.recompute = (enum jl_recompute)(req->recompute != JL_UNSET ? req->recompute
										 : steps[i / 2].recompute);
		split.shard = shard_of(s, &split, i % 2);
		const bool first = best.speed < 0;
		const bool again = split.recompute > best.split.recompute;

		if (isnan(split.shard) || (full && again) || !try_split(s, &split))
			continue;
		const struct found found = run(s, &split, &c);

		if (!first && !is_faster(&found, &best, again ? again_frac : near_frac))
			continue;
		best = found;
		if (first && split.tp * split.pp == 1 && !(s->plain.tp > 0))
			s->plain = split;
		if (!first || split.zero || (split.recompute != JL_RECOMPUTE_NONE && req->recompute == JL_UNSET))
			continue;
		/* whole states and no recomputation: a single device that can run a full pass does not recompute for a larger one */
		full = is_full(s, &c);
		if (c.n_gpus <= 1 && !given(req->global_batch) && !(jl_case_adapters(&c) && !full && is_crowded(&c)))
			break;
	}
	return best;
}

/* Tries expert-parallel degrees 1, 8 and the largest possible; keeps the fastest. */
static struct found try_experts(struct search *s, struct jl_split split)
{
	const struct jl_request *req = s->req;
	const double n_experts = s->c->subject.model.moe.n_experts;
	const double ranks = floor(s->c->n_gpus / (split.tp * split.pp)), most = fmin(n_experts, ranks);
	struct found best = { .speed = -1 };

	split.ep = jl_given_or(req->plan.ep, 1);
	if (given(req->plan.ep) || most <= 1 || given(req->plan.cp) || req->framework == JL_FW_FUSED ||
	    (jl_case_adapters(s->c) && req->framework != JL_FW_MEGATRON)) /* these libraries lack it */
		return try_memory_steps(s, split);
	for (; split.ep <= most; split.ep *= 2) {
		if (fmod(n_experts, split.ep) != 0 || fmod(ranks, split.ep) != 0 ||
		    (split.ep > 1 && split.ep != 8 && split.ep * 2 <= most))
			continue;
		const struct found found = try_memory_steps(s, split);

		if (is_faster(&found, &best, near_frac))
			best = found;
	}
	return best;
}

/* Improves the best split with other ZeRO stages and recomputation, as the advice would suggest, until nothing is faster. */
static void polish(struct search *s)
{
	const struct jl_request *req = s->req;
	const double ranks = s->c->n_gpus / (s->best.split.tp * s->best.split.pp);
	struct jl_case c;

	for (bool better = true; better;) {
		better = interleave(s, &s->best);
		const struct jl_split from = s->best.split;

		for (int i = 0; i < 12 * JL_N_RECOMPUTE; i++) {
			struct jl_split split = from;

			split.zero = i % 4;
			split.recompute = (enum jl_recompute)(i / 12);
			if ((split.zero != from.zero && (req->plan.zero != JL_UNSET || ranks <= 1)) ||
			    (split.recompute != from.recompute && req->recompute != JL_UNSET) ||
			    (split.recompute == JL_RECOMPUTE_SELECTIVE && jl_case_adapters(s->c)) ||
			    (split.recompute > from.recompute && s->c->n_gpus <= 1 && !given(req->global_batch)))
				continue;
			/* below stage 3 the third width is all ranks */
			const double shards[] = { shard_of(s, &split, false), from.shard,
						  split.zero < 3 ? 0 : from.shard };

			split.shard = split.zero ? shards[i / 4 % 3] : 0;
			const struct found found = run(s, &split, &c);

			if (is_faster(&found, &s->best, split.recompute > from.recompute ? again_frac : near_frac) &&
			    is_held(&c)) {
				s->best = found;
				better = true;
			}
		}
	}
}

/* Tries tensor and pipeline degrees of a split: over fast links within a host large tensor degrees first, over PCIe many stages first; near ties
 * take the first. */
static void try_cut(struct search *s, double cut)
{
	const double most = fmin(fmin(cut, s->c->machine.fabric.n_per_node), s->c->subject.model.heads);
	const bool fast = joined_fast(s);
	bool fits = false;

	for (double k = 1; k <= most; k++) {
		const double tp = fast ? most + 1 - k : k;

		if (fmod(cut, tp) != 0 || !possible(s, tp, cut / tp))
			continue;
		struct found found = try_experts(s, (struct jl_split){ .tp = tp, .pp = cut / tp });

		interleave(s, &found);
		if (is_faster(&found, &s->best, near_frac))
			s->best = found;
		fits |= found.speed >= 0;
	}
	if (cut == 1 && s->best.speed > 0)
		polish(s);
	if (cut == 1)
		s->whole = s->best;
	s->n_found += fits;
}

void jl_choose_split(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat, bool *ret_searched,
		     bool *ret_fits)
{
	const struct jl_ask_plan *p = &req->plan;
	struct search s = { .c = c, .req = req, .cat = cat, .best.speed = -1, .least_B = INFINITY };
	const double cp = jl_given_or(p->cp, 1);

	*ret_searched = !given(p->tp) && !given(p->pp);
	if (!*ret_searched) { /* a given split is kept even if impossible: the check reports the error */
		struct jl_split split = { .tp = jl_given_or(p->tp, 1), .pp = jl_given_or(p->pp, 1), .ep = 1 };

		if (given(p->dp) && !given(p->pp) && fmod(c->n_gpus, p->dp * split.tp * cp) == 0)
			split.pp = fmax(1, c->n_gpus / (p->dp * split.tp * cp));
		s.best = try_experts(&s, split);
	}
	for (double cut = 1; *ret_searched && cut <= c->n_gpus && cut <= CUT_MAX && goes_on(&s, cut); cut++) {
		if (jl_budget_spend(1))
			break;
		if (fmod(c->n_gpus, cut * cp) == 0 && (!given(p->dp) || cut == c->n_gpus / (p->dp * cp)))
			try_cut(&s, cut);
	}
	*ret_fits = s.best.speed >= 0;
	if (s.best.speed > 0)
		polish(&s);
	if (!*ret_fits && s.least_B == INFINITY) /* dp or cp does not match the number of GPUs: keep for the check */
		s.least = (struct jl_split){ .tp = 1,
					     .pp = 1,
					     .ep = jl_given_or(p->ep, 1),
					     .zero = p->zero == JL_UNSET ? 0 : p->zero,
					     .recompute = req->recompute == JL_UNSET
								  ? JL_RECOMPUTE_NONE
								  : (enum jl_recompute)req->recompute };
	jl_choose_apply(c, req, cat, *ret_fits ? &s.best.split : &s.least);
}

/* Largest divisor of `local` that fits; 1 if none. A divisor or its cofactor is below the square root. */
static double fitting_divisor(const struct jl_case *c, double local)
{
	const double most = fmax(1, fmin(jl_case_max_micro_batch(c), local));

	if (!(local >= 1 && local <= 1e15) || floor(local) != local)
		return 1;
	const uint64_t n = (uint64_t)local, least = (uint64_t)ceil(local / most), root = (uint64_t)sqrt(local);

	for (uint64_t n_micro = least; n_micro <= root && !jl_budget_spend(n_micro % 64 == 0); n_micro++)
		if (n % n_micro == 0)
			return (double)(n / n_micro);
	for (uint64_t micro = n / least < root ? n / least : root; micro > 1 && !jl_budget_spend(micro % 64 == 0);
	     micro--)
		if (n % micro == 0)
			return (double)micro;
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
	if (c->plan.tp > batch) { /* fewer samples than GPUs: tensor-parallel ranks share one */
		jl_note_add(&c->notes, "batch", "%.0f samples a worker: one for each of its GPUs", c->plan.tp);
		return c->plan.tp;
	}
	if (jl_case_holds(c, 2 * batch) || isnan(c->machine.dev.mem_B))
		jl_note_add(&c->notes, "batch", "batch %.0f a {%s}: fits, and is enough to fill it", batch, of);
	else if (jl_case_holds(c, 1) && c->subject.kind->is_cut && c->plan.dp > 1 && !c->plan.zero)
		jl_note_add(&c->notes, "batch", "batch %.0f a {%s}: twice as many do not fit with unsharded states",
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
		return jl_fail(err, JL_E_USAGE, "global batch %.0f is not divisible by dp %.0f; take %.0f or %.0f",
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
