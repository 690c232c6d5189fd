/* Finds the largest and the fastest batch of a system. */
#include "plan/answer.h"

#include <math.h>
#include <string.h>

#include "predict/kind.h"

static bool allows(const struct jl_batch_ask *ask, enum jl_plan_axis axis, int value)
{
	return jl_plan_allows(ask->narrow, axis, value);
}

/* One pass with `worker` samples per data-parallel rank. */
static void case_of(struct jl_case *ret_case, const struct jl_batch_ask *ask, struct jl_plan_way *way, double worker)
{
	const struct jl_case *base = &ask->site->base;

	way->micro_batch = (int)worker;
	if (!base->subject.kind->is_cut) { /* only data parallelism is possible */
		*ret_case = *base;
		ret_case->shard.micro_batch = worker;
		ret_case->plan.n_micro = 1;
		ret_case->global_batch = worker * ret_case->plan.dp;
		return;
	}
	ask->site->global_batch = worker * jl_plan_way_dp(ask->site, way);
	jl_plan_way_case(ret_case, ask->site, way);
}

/* Largest micro-batch whose memory stays below the limit. */
static double largest_of(const struct jl_batch_ask *ask, struct jl_plan_way *way, struct jl_case *scratch)
{
	case_of(scratch, ask, way, 1);
	if ((ask->site->base.subject.kind->is_cut && !jl_plan_way_runs(ask->site, way)) || jl_case_check(scratch, NULL))
		return 0;
	return jl_case_max_micro_batch_within(scratch, ask->memory_frac);
}

static void point_at(struct jl_batch_point *ret_point, const struct jl_batch_ask *ask, struct jl_plan_way *way,
		     double worker)
{
	case_of(&ret_point->how, ask, way, worker);
	ret_point->worker = worker;
	ret_point->batch = ret_point->how.global_batch;
	jl_predict(&ret_point->prediction, ask->cat, &ret_point->how);
}

/* Plain data parallelism, or the lowest ZeRO stage at which one sample fits. */
static double find_plain(const struct jl_batch_ask *ask, struct jl_plan_way *way, struct jl_case *scratch)
{
	const int last = ask->site->base.subject.kind->is_cut ? 3 : 0;

	for (int zero = 0; zero <= last; zero++) {
		double worker;

		way->zero = (unsigned char)zero;
		if (!allows(ask, JL_AXIS_ZERO, zero))
			continue;
		worker = largest_of(ask, way, scratch);
		if (worker >= 1)
			return worker;
	}
	return 0;
}

/* Tries powers of two, 1.5 times these, and the largest batch itself. */
static void find_fastest(struct jl_batch_limit *limit, const struct jl_batch_ask *ask, struct jl_plan_way *way)
{
	const double largest = limit->largest.worker;

	limit->fastest = limit->largest;
	for (double n = 1; n < largest; n = fmod(log2(n), 1) == 0 && n >= 2 ? n * 1.5 : n >= 3 ? n / 1.5 * 2 : n * 2) {
		struct jl_batch_point p = { 0 };

		point_at(&p, ask, way, n);
		if (p.prediction.samples_per_s.value > limit->fastest.prediction.samples_per_s.value)
			limit->fastest = p;
	}
}

/* Tries all ZeRO stages, recomputation and offloading for one model-parallel split. */
static void try_slices(struct jl_batch_limit *limit, const struct jl_batch_ask *ask, struct jl_plan_way *way,
		       struct jl_case *scratch)
{
	const double dp = jl_plan_way_dp(ask->site, way);

	for (int recompute = 0; recompute < JL_N_RECOMPUTE; recompute++)
		for (int zero = 0; zero <= 3; zero++)
			for (int offload = 0; offload < 8; offload++) {
				double worker;

				way->recompute = (unsigned char)recompute;
				way->zero = (unsigned char)zero;
				way->offload = (unsigned char)offload;
				if (!allows(ask, JL_AXIS_RECOMPUTE, recompute) || !allows(ask, JL_AXIS_ZERO, zero) ||
				    !allows(ask, JL_AXIS_OFFLOAD, offload))
					continue;
				worker = largest_of(ask, way, scratch);
				if (worker * dp > limit->most.batch)
					point_at(&limit->most, ask, way, worker);
			}
}

void jl_plan_batch_limit(struct jl_batch_limit *ret_limit, const struct jl_batch_ask *ask)
{
	const struct jl_case *base = &ask->site->base;
	const struct jl_plan_way plain = { .tp = 1,
					   .pp = 1,
					   .cp = 1,
					   .ep = 1,
					   .vpp = 1,
					   .micro_batch = 1,
					   .dtype = (unsigned char)base->shard.dtype,
					   .framework = (unsigned char)(ask->site->framework_given ? base->framework
												   : JL_FW_EAGER) };
	struct jl_batch_limit *limit = ret_limit;
	struct jl_plan_way way = plain;
	struct jl_case scratch;
	const double worker = find_plain(ask, &way, &scratch);

	memset(limit, 0, sizeof(*limit));
	limit->capacity_B = base->machine.dev.mem_B;
	if (worker >= 1) {
		point_at(&limit->largest, ask, &way, worker);
		find_fastest(limit, ask, &way);
		limit->most = limit->largest;
	}
	for (int tp = 1; base->subject.kind->is_cut && (tp <= base->machine.sys.n_per_node || tp == 1); tp++) {
		way = plain;
		way.tp = tp;
		if (tp > 1 && jl_plan_frozen(ask->site))
			break;
		if (tp > 1 && !ask->site->framework_given)
			way.framework = JL_FW_MEGATRON;
		way.sp = tp > 1 && allows(ask, JL_AXIS_SP, 1);
		if (base->n_gpus % tp == 0 && fmod(base->subject.model.heads, tp) == 0 && allows(ask, JL_AXIS_TP, tp))
			try_slices(limit, ask, &way, &scratch);
	}
}
