/* Enumerates the values of each axis and the items of a search. */
#include "plan/space.h"

#include <math.h>

#define LEAST_TOKENS 128 /* minimum tokens of a sample per device: one tile of attention rows */

static bool divides(double part, double whole)
{
	return whole >= part && fmod(whole, part) == 0;
}

static bool allows(const struct jl_plan_space *s, enum jl_plan_axis axis, int value)
{
	return jl_plan_allows(&s->narrow, axis, value);
}

static void add(struct jl_plan_axis_values *values, int value)
{
	if (values->n < JL_PLAN_VALUES_MAX)
		values->value[values->n++] = value;
}

/* Allowed divisors of `whole`, ascending. */
static void divisors(const struct jl_plan_space *s, enum jl_plan_axis axis, double whole,
		     struct jl_plan_axis_values *ret)
{
	struct jl_plan_axis_values large = { 0 };

	ret->n = 0;
	for (double d = 1; d * d <= whole; d++) {
		if (fmod(whole, d) != 0)
			continue;
		if (allows(s, axis, (int)d))
			add(ret, (int)d);
		if (d * d < whole && whole / d <= 2e9 && allows(s, axis, (int)(whole / d)))
			add(&large, (int)(whole / d));
	}
	while (large.n > 0)
		add(ret, large.value[--large.n]);
}

static void keep_divisors(struct jl_plan_space *s, struct jl_plan_axis_values *values, double whole)
{
	int n = 0;

	for (int i = 0; i < values->n; i++) {
		if (divides(values->value[i], whole))
			values->value[n++] = values->value[i];
		else
			s->n_shape++;
	}
	values->n = n;
}

static void make_degrees(struct jl_plan_space *s)
{
	const struct jl_plan_site *site = s->site;
	const struct jl_transformer *m = &site->base.subject.model;
	const double n_gpus = site->base.n_gpus, seq = site->base.shard.seq;
	int n = 0;

	divisors(s, JL_AXIS_TP, n_gpus, &s->tp);
	keep_divisors(s, &s->tp, m->heads);
	divisors(s, JL_AXIS_PP, n_gpus, &s->pp);
	for (int i = 0; i < s->pp.n; i++) {
		if (s->pp.value[i] <= m->n_layers)
			s->pp.value[n++] = s->pp.value[i];
		else
			s->n_shape++;
	}
	s->pp.n = n;
	divisors(s, JL_AXIS_CP, n_gpus, &s->cp);
	keep_divisors(s, &s->cp, seq);
	n = 0;
	for (int i = 0; i < s->cp.n; i++) {
		if (s->cp.value[i] == 1 || seq / s->cp.value[i] >= LEAST_TOKENS)
			s->cp.value[n++] = s->cp.value[i];
		else
			s->n_shape++;
	}
	s->cp.n = n;
	s->ep.n = 0;
	if (m->moe.n_experts > 0)
		divisors(s, JL_AXIS_EP, m->moe.n_experts, &s->ep);
	else if (allows(s, JL_AXIS_EP, 1))
		add(&s->ep, 1);
	divisors(s, JL_AXIS_MICRO_BATCH, site->global_batch, &s->micro_batch);
}

static void make_chunks(struct jl_plan_space *s)
{
	const double layers = s->site->base.subject.model.n_layers;

	if (s->pp.n > JL_PLAN_DEPTHS_MAX)
		s->pp.n = JL_PLAN_DEPTHS_MAX;
	for (int i = 0; i < s->pp.n; i++) {
		struct jl_plan_chunks *c = &s->chunks[i];
		const int pp = s->pp.value[i];

		c->n = 0;
		for (int v = 1; (v == 1 || v <= (layers + 2) / pp) && c->n < JL_PLAN_CHUNKS_MAX; v++)
			if ((v == 1 || (pp > 1 && jl_chunks_divide(layers, pp, v))) && allows(s, JL_AXIS_VPP, v))
				c->value[c->n++] = v;
	}
}

static void make_formats(struct jl_plan_space *s)
{
	static const enum jl_dtype formats[] = { JL_BF16, JL_FP16, JL_FP8, JL_TF32, JL_FP32 };
	const struct jl_plan_site *site = s->site;
	const enum jl_dtype own = site->base.shard.dtype;

	for (size_t i = 0; i < JL_LEN(formats); i++) {
		const enum jl_dtype f = formats[i];
		const bool has = site->base.machine.dev.peak_flopps[f] > 0;
		/* another format changes numerics, so it needs an explicit request */
		const bool open = !site->format_given && has && site->any_format;

		if ((f == own || open) && allows(s, JL_AXIS_FP8, f == JL_FP8))
			s->dtype[s->n_dtype++] = (int)f;
	}
}

static void make_frameworks(struct jl_plan_space *s)
{
	static const enum jl_framework frameworks[] = { JL_FW_EAGER, JL_FW_MEGATRON, JL_FW_COMPILED, JL_FW_NATIVE };
	const struct jl_plan_site *site = s->site;
	const size_t n = !site->base.machine.sys.gpu || jl_plan_frozen(site) ? 1 : site->any_framework ? 4 : 2;

	if (site->framework_given)
		s->framework[s->n_framework++] = (int)site->base.framework;
	for (size_t i = 0; !site->framework_given && i < n; i++)
		s->framework[s->n_framework++] = (int)frameworks[i];
}

static void make_tails(struct jl_plan_space *s)
{
	const bool link = s->site->base.machine.dev.host_Bps > 0;

	for (int zero = 0; zero <= 3; zero++)
		for (int in_host = 0; in_host <= (zero > 0 ? 1 : 0); in_host++)
			for (int keep = 0; keep <= (zero == 3 ? 1 : 0); keep++)
				for (int offload = 0; offload < 8; offload++) {
					if (!allows(s, JL_AXIS_ZERO, zero) || !allows(s, JL_AXIS_HSDP, in_host) ||
					    !allows(s, JL_AXIS_OFFLOAD, offload) || (offload && !link) ||
					    (keep && offload & JL_OFFLOAD_PARAMS))
						continue;
					s->tail[s->n_tail++] =
						(struct jl_plan_tail){ .zero = (unsigned char)zero,
								       .keep = (unsigned char)keep,
								       .in_host = (unsigned char)in_host,
								       .offload = (unsigned char)offload };
				}
}

void jl_plan_space_make(struct jl_plan_space *ret_space, const struct jl_plan_site *site,
			const struct jl_plan_narrow *narrow)
{
	struct jl_plan_space *s = ret_space;

	s->site = site;
	s->narrow = *narrow;
	s->n_dtype = s->n_framework = s->n_recompute = s->n_sp = s->n_tail = 0;
	s->n_shape = 0;
	make_degrees(s);
	make_chunks(s);
	make_formats(s);
	make_frameworks(s);
	make_tails(s);
	for (int i = 0; i < JL_N_RECOMPUTE; i++) /* these libraries recompute whole layers or nothing */
		if (allows(s, JL_AXIS_RECOMPUTE, i) && !(i == JL_RECOMPUTE_SELECTIVE && jl_plan_frozen(site)))
			s->recompute[s->n_recompute++] = i;
	for (int i = 0; i < 2; i++)
		if (allows(s, JL_AXIS_SP, i))
			s->sp[s->n_sp++] = i;
	s->n_item = (long long)s->n_dtype * s->n_framework * s->n_recompute * s->n_sp * s->tp.n * s->cp.n * s->ep.n *
		    s->micro_batch.n;
}

static int digit(long long *index, int base)
{
	const int d = (int)(*index % base);

	*index /= base;
	return d;
}

bool jl_plan_space_item(const struct jl_plan_space *s, long long index, struct jl_plan_way *ret_way)
{
	struct jl_plan_way way = { .pp = 1, .vpp = 1 };

	way.recompute = (unsigned char)s->recompute[digit(&index, s->n_recompute)];
	way.sp = (unsigned char)s->sp[digit(&index, s->n_sp)];
	way.dtype = (unsigned char)s->dtype[digit(&index, s->n_dtype)];
	way.framework = (unsigned char)s->framework[digit(&index, s->n_framework)];
	way.tp = s->tp.value[digit(&index, s->tp.n)];
	way.cp = s->cp.value[digit(&index, s->cp.n)];
	way.ep = s->ep.value[digit(&index, s->ep.n)];
	way.micro_batch = s->micro_batch.value[digit(&index, s->micro_batch.n)];
	*ret_way = way;
	return (way.tp > 1 || !way.sp) && divides((double)way.tp * way.cp, s->site->base.n_gpus);
}

bool jl_plan_space_depth(const struct jl_plan_space *s, const struct jl_plan_way *way, int i,
			 struct jl_plan_depth *ret_depth, long long *ret_n_shape)
{
	const struct jl_plan_site *site = s->site;
	struct jl_plan_depth depth = { .pp = s->pp.value[i], .n_vpp = s->chunks[i].n, .vpp = s->chunks[i].value };
	struct jl_plan_way deep = *way;
	double local;

	deep.pp = depth.pp;
	depth.dp = jl_plan_way_dp(site, &deep);
	if (floor(depth.dp) != depth.dp || !allows(s, JL_AXIS_DP, (int)depth.dp))
		return false;
	local = site->global_batch / depth.dp;
	depth.n_micro = local / way->micro_batch;
	if (floor(local) != local || floor(depth.n_micro) != depth.n_micro || fmod(depth.dp * way->cp, way->ep) != 0) {
		(*ret_n_shape)++;
		return false;
	}
	if (!jl_plan_way_runs(site, &deep)) /* eager execution does not support split layers */
		return false;
	depth.host_ranks = jl_plan_host_ranks(site, way->tp, depth.dp * way->cp);
	/* interleaving requires a multiple of pp micro-batches */
	if (fmod(depth.n_micro, depth.pp) != 0 && depth.n_vpp > 1) {
		*ret_n_shape += depth.n_vpp - 1;
		depth.n_vpp = depth.vpp[0] == 1;
	}
	*ret_depth = depth;
	return depth.n_vpp > 0;
}
