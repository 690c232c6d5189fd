/* Evaluates the work on one machine: memory, techniques, time, power. Must not know prices. */
#include <math.h>

#include "catalog/find.h"
#include "goodput/goodput.h"
#include "predict/kind.h"
#include "recommend/inside.h"

#define OFFLOAD_GPUS   8 /* maximum number of GPUs for which offloading is tried */
#define OBSERVED_LEAST 0.25
#define BATCH_MORE     1.1 /* a batch that does not divide may grow by this factor; the answer says so */

/* The next larger batch that divides over the devices; NAN: too far from the requested one. */
static double batch_for(double batch, int n)
{
	const double shared = ceil(batch / n) * n;

	return n <= batch && shared <= batch * BATCH_MORE ? shared : NAN;
}

/* With predict's memory margin. */
static bool fits(const struct jl_case *c, struct jl_case_price *ret_weight)
{
	*ret_weight = jl_case_price(c);
	return jl_case_room(c, ret_weight) == JL_ROOM_FITS;
}

/* Full training: predict's plan; if it does not fit, offloads states and weights. */
static enum jl_against make_full(struct jl_case *ret_case, const struct jl_work *work, const struct jl_machine *machine,
				 const struct jl_request *req)
{
	struct jl_request moved = *req;
	struct jl_case_price weight;
	struct jl_err ignored;

	if (jl_case_choose(ret_case, work->ask->cat, &work->subject, machine, req, &ignored))
		return JL_AGAINST_UNKNOWN;
	if (fits(ret_case, &weight))
		return JL_AGAINST_NOTHING;
	if (!work->subject.kind->is_cut || work->ask->task == JL_TASK_LORA || req->offload != JL_UNSET ||
	    jl_sys_n_devices(&machine->sys) > OFFLOAD_GPUS)
		return JL_AGAINST_MEMORY;
	moved.plan.tp = moved.plan.pp = 1;
	moved.plan.zero = jl_sys_n_devices(&machine->sys) > 1 ? 3 : 0;
	moved.recompute = JL_RECOMPUTE_FULL;
	moved.offload = JL_OFFLOAD_OPTIMIZER | JL_OFFLOAD_PARAMS;
	if (isnan(moved.ram_B))
		moved.ram_B = machine->sys.system && machine->sys.system->ram_B.value > 0
				      ? machine->sys.system->ram_B.value
				      : jl_host_ram_B(machine->sys.n_per_node);
	if (jl_case_choose(ret_case, work->ask->cat, &work->subject, machine, &moved, &ignored) ||
	    !fits(ret_case, &weight))
		return JL_AGAINST_MEMORY;
	return JL_AGAINST_NOTHING;
}

/* The requested batch, or the next larger one that divides. */
static enum jl_against make_case(struct jl_case *ret_case, const struct jl_work *work, const struct jl_machine *machine)
{
	struct jl_request req = work->ask->run;
	const int n = jl_sys_n_devices(&machine->sys);
	const double shared = batch_for(req.global_batch, n);
	enum jl_against against;

	/* without model parallelism every device needs a sample */
	if ((!work->subject.kind->is_cut || work->ask->task == JL_TASK_LORA) && isnan(shared) &&
	    !isnan(req.global_batch))
		return JL_AGAINST_BATCH;
	against = make_full(ret_case, work, machine, &req);
	if (against != JL_AGAINST_UNKNOWN || isnan(req.global_batch) || fmod(req.global_batch, n) == 0)
		return against;
	if (isnan(shared))
		return JL_AGAINST_BATCH;
	req.global_batch = shared;
	return make_full(ret_case, work, machine, &req);
}

static bool has_room(const struct jl_prediction *p)
{
	return p->memory_B.hi <= JL_TIGHT_FRAC * p->capacity_B;
}

/* One plan with the largest micro-batch that fits in the worst case. */
static bool make_way(struct jl_case *ret_case, struct jl_prediction *ret_p, const struct jl_work *work,
		     const struct jl_machine *machine)
{
	struct jl_recommend_ask ask = *work->ask;
	const struct jl_work smaller = { .ask = &ask, .subject = work->subject };

	while (!(ask.run.micro_batch < 1)) {
		const bool made = !make_case(ret_case, &smaller, machine) && !ret_case->plan.offload;

		if (made)
			jl_predict(ret_p, NULL, ret_case);
		if (made && has_room(ret_p))
			return true;
		if (!made && isnan(ask.run.micro_batch))
			return false;
		ask.run.micro_batch = floor(
			(isnan(ask.run.micro_batch) ? ret_case->shard.micro_batch : ask.run.micro_batch) / 2);
	}
	return false;
}

/* If memory may not suffice in the worst case: replaces the plan by the fastest one that fits there, if any. */
static void make_room(struct jl_case *io_case, struct jl_prediction *io_p, const struct jl_work *work,
		      const struct jl_machine *machine)
{
	static const int zeros[] = { -1, 1, 3 }; /* -1: unchanged */
	const struct jl_plan cut = io_case->plan;
	const size_t n = jl_sys_n_devices(&machine->sys) > 1 ? JL_LEN(zeros) : 1;
	struct jl_recommend_ask ask = *work->ask;
	struct jl_work thrifty = { .ask = &ask, .subject = work->subject };

	if (!work->subject.kind->is_cut || io_case->shard.micro_batch > 1 || io_case->plan.offload || has_room(io_p))
		return;
	for (size_t i = 0; i < n * JL_N_RECOMPUTE; i++) {
		const int zero = zeros[i / JL_N_RECOMPUTE];
		struct jl_prediction p;
		struct jl_case c;

		ask.run.plan.tp = zero < 0 ? cut.tp : 1;
		ask.run.plan.pp = zero < 0 ? cut.pp : 1;
		ask.run.plan.vpp = zero < 0 && cut.pp > 1 ? cut.n_chunks : NAN;
		ask.run.plan.zero = zero < 0 ? cut.zero : zero;
		ask.run.recompute = (int)(i % JL_N_RECOMPUTE);
		if (ask.run.recompute == JL_RECOMPUTE_SELECTIVE && jl_case_adapters(io_case))
			continue; /* these libraries recompute whole layers or none */
		if (!make_way(&c, &p, &thrifty, machine) || (has_room(io_p) && !(p.run_s.value < io_p->run_s.value)))
			continue;
		*io_case = c;
		*io_p = p;
	}
}

static void weigh_model(struct jl_setup *setup, const struct jl_work *work, const struct jl_machine *machine)
{
	struct jl_prediction p;
	struct jl_case c;

	setup->against = make_case(&c, work, machine);
	if (setup->against)
		return;
	jl_predict(&p, NULL, &c);
	if (isnan(p.run_s.value)) {
		setup->against = JL_AGAINST_UNKNOWN;
		return;
	}
	if (work->ask->task == JL_TASK_TRAIN && work->subject.kind->has_tokens && setup->sys.n_nodes > 1 &&
	    isnan(work->ask->run.global_batch) &&
	    p.run_s.value < jl_figure(work->ask->cat, "steps-least") * p.step_s.value) {
		setup->against = JL_AGAINST_STEPS;
		return;
	}
	const struct jl_prediction bold = p;

	make_room(&c, &p, work, machine);
	setup->bold_times = bold.run_s.value / p.run_s.value;
	setup->bold_hi_frac = bold.memory_B.hi / bold.capacity_B;
	setup->run_s = p.run_s;
	setup->elapsed_s = jl_goodput_elapsed(work->ask->cat, &c, &p).time_s;
	setup->per_s = work->subject.kind->has_tokens ? p.tokens_per_s : p.samples_per_s;
	setup->power_W = p.power_W;
	setup->memory_B = p.memory.total_B;
	setup->memory_frac = p.memory.total_B / p.capacity_B;
	setup->memory_hi_frac = p.memory_B.hi / p.capacity_B;
	setup->states_B = jl_subject_params(&work->subject) * c.plan.trained_frac *
			  (c.plan.weight_B + c.plan.optimizer_B);
	setup->tp = c.plan.tp;
	setup->pp = c.plan.pp;
	setup->vpp = c.plan.n_chunks;
	setup->dp = c.plan.dp;
	setup->zero = c.plan.zero;
	setup->recompute = c.plan.recompute;
	setup->offload = c.plan.offload;
	setup->micro_batch = c.shard.micro_batch;
	setup->n_micro = c.plan.n_micro;
	setup->global_batch = c.global_batch;
	setup->dtype = c.shard.dtype;
	setup->framework = c.framework;
	setup->seq = work->subject.kind->has_tokens ? c.shard.seq : 0;
}

/* An observed run without a model: the same batch, with gradient accumulation if it does not fit. */
static void weigh_observed(struct jl_setup *setup, const struct jl_work *work, const struct jl_machine *machine)
{
	const struct jl_observed *run = work->ask->seen;
	const int n = jl_sys_n_devices(&machine->sys);
	const double batch = batch_for(run->batch, n);
	const double steps = isnan(batch) ? NAN : jl_observed_batches(run, batch) * work->ask->seen_epochs;
	struct jl_carried carried;
	struct jl_err ignored;
	double limit;

	if (jl_observed_check_target(run, machine, &ignored)) {
		setup->against = JL_AGAINST_UNKNOWN;
		return;
	}
	/* far less memory than the observed device: extrapolation is not supported */
	if (isnan(batch) || batch / n < OBSERVED_LEAST * run->batch / jl_sys_n_devices(&work->ask->seen_on->sys)) {
		setup->against = JL_AGAINST_BATCH;
		return;
	}
	limit = jl_observed_limit(run, work->ask->seen_on, machine);
	if (!(limit >= 1)) {
		setup->against = JL_AGAINST_MEMORY;
		return;
	}
	jl_observed_carry(&carried, run, work->ask->seen_on, machine, batch, limit);
	setup->run_s = jl_estimate_times(carried.step_s, steps);
	setup->per_s = (struct jl_estimate){ batch / carried.step_s.value, batch / carried.step_s.hi,
					     batch / carried.step_s.lo };
	setup->power_W = carried.power_W;
	setup->memory_B = setup->memory_frac = NAN;
	setup->tp = setup->pp = 1;
	setup->dp = n;
	setup->micro_batch = carried.micro_batch;
	setup->n_micro = carried.n_passes;
	setup->global_batch = batch;
}

void jl_setup_weigh(struct jl_setup *setup, const struct jl_work *work, const struct jl_machine *machine)
{
	const int per_node = jl_sys_per_node(&setup->sys);

	/* Without measurements of the family its parameters are guesses: only if named by the user. */
	if (machine->dev.arch == JL_ARCH_OTHER && !work->ask->n_only) {
		setup->against = JL_AGAINST_UNKNOWN;
		return;
	}
	setup->device_fitted = machine->device_fitted || (!work->ask->seen && work->subject.kind->is_fitted(machine));
	jl_expert_look(setup, work, machine);
	setup->peak_W = jl_host_peak_W(&machine->host, machine->dev.tdp_W * per_node, work->ask->cat) *
			setup->sys.n_nodes;
	if (work->ask->task == JL_TASK_SERVE) {
		jl_setup_serve(setup, work, machine);
		/* measured under load, at single requests, or in training: the interval accounts for the difference */
		setup->gpu_seen = setup->device_fitted;
		setup->family_seen |= setup->device_fitted;
	} else if (work->ask->seen)
		weigh_observed(setup, work, machine);
	else
		weigh_model(setup, work, machine);
	if (!setup->against && !(setup->run_s.value > 0 && isfinite(setup->run_s.value)))
		setup->against = JL_AGAINST_UNKNOWN;
}
