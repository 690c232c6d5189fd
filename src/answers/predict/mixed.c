/* Predicts one data-parallel job on two kinds of GPU. */
#include "predict/mixed.h"

#include <math.h>
#include <string.h>

#include "catalog/possible.h"
#include "predict/kind.h"

#define SAMPLES_MAX 4096 /* per device and pass; all are tried */

struct work {
	const struct jl_catalog *cat;
	const struct jl_subject *subject;
	struct jl_request req; /* data parallel, without model parallelism */
	struct jl_machine machine[JL_MIXED_KINDS];
};

/* A step of these devices with `samples` samples each, in passes that fit. */
static enum jl_status weigh(const struct work *w, const struct jl_machine *machine, double samples,
			    struct jl_job *ret_job, struct jl_err *err)
{
	struct jl_request req = w->req;

	req.batch = NAN;
	req.global_batch = samples * machine->sys.n_per_node;
	return jl_job_weigh(ret_job, w->cat, w->subject, machine, &req, err);
}

static enum jl_status read_kind(struct work *w, struct jl_mixed_kind *kind, const char *text, struct jl_arena *arena,
				struct jl_err *err)
{
	JL_TRY(jl_sys_parse(&kind->sys, w->cat, text, arena, err));
	if (!kind->sys.gpu || kind->sys.n_nodes > 1)
		return jl_fail(
			err, JL_E_USAGE,
			"'%s': mixed GPUs are those of one host, e.g. --on \"2x rtx-3090\" --with \"2x rtx-4090\"",
			text);
	kind->n = jl_sys_per_node(&kind->sys);
	return JL_OK;
}

/* Mixed GPUs must share a collective library and be cards: boards with joined GPUs have no free slots. */
static enum jl_status check_pair(const struct jl_catalog *cat, const struct jl_gpu *a, const struct jl_gpu *b,
				 struct jl_err *err)
{
	if (strcmp(a->vendor, b->vendor) != 0)
		return jl_fail(err, JL_E_USAGE,
			       "%s and %s: GPUs of %s and %s cannot share a job, whose collectives are of one library "
			       "(NCCL, RCCL); take two kinds of one vendor",
			       a->id, b->id, a->vendor, b->vendor);
	JL_TRY(a == b ? JL_OK : jl_card_possible(a, cat, err));
	return a == b ? JL_OK : jl_card_possible(b, cat, err);
}

/* Finds the share with which both kinds finish a step at nearly the same time. */
static void share(struct jl_mixed *m, const struct work *w)
{
	struct jl_mixed_kind *a = &m->kind[0], *b = &m->kind[1];

	for (double n = 1; n <= SAMPLES_MAX && a->n * n < m->global_batch; n++) {
		const double rest = (m->global_batch - a->n * n) / b->n;
		struct jl_job job[JL_MIXED_KINDS];
		struct jl_err ignored;

		if (rest < 1 || floor(rest) != rest || weigh(w, &w->machine[0], n, &job[0], &ignored) ||
		    weigh(w, &w->machine[1], rest, &job[1], &ignored) || job[0].prediction.room == JL_ROOM_NONE ||
		    job[1].prediction.room == JL_ROOM_NONE)
			continue;
		const size_t last = job[1].prediction.step_s.value > job[0].prediction.step_s.value;
		const struct jl_estimate step = job[last].prediction.step_s;

		if (m->is_shared && step.value >= m->shared_s.value)
			continue;
		m->is_shared = true;
		m->shared_s = step;
		a->samples = n;
		b->samples = rest;
		for (size_t k = 0; k < JL_MIXED_KINDS; k++) {
			m->kind[k].step_s = job[k].prediction.step_s.value;
			m->kind[k].micro = job[k].how.shard.micro_batch;
		}
	}
	m->is_shared = m->is_shared && m->shared_s.value < 0.99 * m->even_s.value;
	m->shared_per_s = m->is_shared ? m->global_batch / m->shared_s.value : NAN;
}

/* Samples per device and step: as given, otherwise as many as fit on the smaller device. */
static enum jl_status choose_batch(struct jl_mixed *m, const struct work *w, struct jl_err *err)
{
	m->even_batch = INFINITY;
	for (size_t k = 0; k < JL_MIXED_KINDS; k++) {
		struct jl_case c;

		JL_TRY(jl_case_choose(&c, w->cat, w->subject, &w->machine[k], &w->req, err));
		m->even_batch = fmin(m->even_batch, c.global_batch / c.n_gpus);
	}
	return JL_OK;
}

static enum jl_status weigh_even(struct jl_mixed *m, const struct work *w, struct jl_err *err)
{
	double lacks = 0;

	m->even_s.value = 0;
	m->fits = true;
	for (size_t k = 0; k < JL_MIXED_KINDS; k++) {
		struct jl_mixed_kind *kind = &m->kind[k];
		struct jl_job job;

		JL_TRY(weigh(w, &w->machine[k], m->even_batch, &job, err));
		const struct jl_prediction *p = &job.prediction;

		*kind = (struct jl_mixed_kind){ .sys = kind->sys,
						.n = kind->n,
						.even_s = p->step_s.value,
						.samples = m->even_batch,
						.step_s = p->step_s.value,
						.micro = job.how.shard.micro_batch,
						.need_B = p->memory.total_B,
						.has_B = p->capacity_B,
						.fits = p->room != JL_ROOM_NONE,
						.alone = NAN };
		m->fits &= kind->fits;
		if (kind->even_s > m->even_s.value) {
			m->even_s = p->step_s;
			m->slowest = k;
		}
		if (m->fits ? m->slowest == k : !kind->fits && kind->need_B / kind->has_B > lacks) {
			lacks = kind->fits ? 0 : kind->need_B / kind->has_B;
			m->pace.how = job.how;
			m->pace.p = *p;
		}
	}
	return JL_OK;
}

/* Tries ZeRO stages from the lowest on; no model parallelism. */
static enum jl_status weigh_ways(struct jl_mixed *m, struct work *w, struct jl_err *err)
{
	const int most = w->req.plan.zero != JL_UNSET ? w->req.plan.zero : w->subject->kind->is_cut ? 3 : 0;

	if (w->req.plan.zero == JL_UNSET)
		w->req.plan.zero = 0;
	JL_TRY(choose_batch(m, w, err));
	JL_TRY(weigh_even(m, w, err));
	while (!m->fits && w->req.plan.zero < most) {
		w->req.plan.zero++;
		JL_TRY(weigh_even(m, w, err));
	}
	m->global_batch = m->even_batch * (m->kind[0].n + m->kind[1].n);
	if (!m->fits) { /* no times if it does not fit */
		m->even_s = m->shared_s;
		for (size_t k = 0; k < JL_MIXED_KINDS; k++)
			m->kind[k].even_s = m->kind[k].step_s = NAN;
	}
	m->even_per_s = m->global_batch / m->even_s.value;
	return JL_OK;
}

/* Each kind alone: often the faster GPUs do better without the others. */
static void weigh_alone(struct jl_mixed *m, const struct work *w)
{
	for (size_t k = 0; k < JL_MIXED_KINDS; k++) {
		struct jl_machine own;
		struct jl_err ignored;
		struct jl_job job;

		if (!jl_machine_make(&own, w->cat, &m->kind[k].sys, &ignored) &&
		    !weigh(w, &own, m->even_batch, &job, &ignored) && job.prediction.room != JL_ROOM_NONE)
			m->kind[k].alone = job.prediction.samples_per_s.value;
	}
}

/* The job's total number of GPUs, all of this kind, with the given interconnect or the default one for that number. */
static enum jl_status whole(struct jl_sys *ret_sys, const struct work *w, const struct jl_mixed_kind *kind, int total,
			    struct jl_arena *arena, struct jl_err *err)
{
	const char *join = kind->sys.join && !kind->sys.join_assumed ? kind->sys.join->id : NULL;
	const char *text = jl_arena_printf(arena, "%dx %s%s%s", total, kind->sys.gpu->id, join ? " via " : "",
					   join ? join : "");

	JL_TRY(jl_got(text, err));
	return jl_sys_parse(ret_sys, w->cat, text, arena, err);
}

/* Splits "1x rtx-3090 + 1x rtx-4090". */
static enum jl_status split(const char **io_first, const char **io_with, struct jl_arena *arena, struct jl_err *err)
{
	const char *plus = *io_first ? strchr(*io_first, '+') : NULL;

	if (!plus)
		return JL_OK;
	if (*io_with || strchr(plus + 1, '+'))
		return jl_fail(err, JL_E_USAGE, "'%s': two kinds of GPU in one job, not more", *io_first);
	*io_with = plus + 1;
	*io_first = jl_arena_strndup(arena, *io_first, (size_t)(plus - *io_first));
	return jl_got(*io_first, err);
}

enum jl_status jl_mixed_make(struct jl_mixed *ret_mixed, const struct jl_catalog *cat, const struct jl_request *req,
			     const char *with, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_mixed m = { .shared_s = { NAN, NAN, NAN }, .shared_per_s = NAN };
	struct work w = { .cat = cat, .req = *req };
	struct jl_subject subject;
	const char *first = req->system;

	JL_TRY(split(&first, &with, arena, err));
	JL_TRY(jl_subject_find(&subject, cat, req, arena, err));
	w.subject = &subject;
	if (!req->system)
		return jl_fail(err, JL_E_USAGE, "name the other GPUs with --on, e.g. --on \"2x rtx-3090\"");
	JL_TRY(read_kind(&w, &m.kind[0], first, arena, err));
	JL_TRY(read_kind(&w, &m.kind[1], with, arena, err));
	JL_TRY(check_pair(cat, m.kind[0].sys.gpu, m.kind[1].sys.gpu, err));
	const int total = m.kind[0].n + m.kind[1].n;

	for (size_t k = 0; k < JL_MIXED_KINDS; k++) {
		struct jl_sys all;

		JL_TRY(whole(&all, &w, &m.kind[k], total, arena, err));
		JL_TRY(jl_machine_make(&w.machine[k], cat, &all, err));
	}
	if (req->plan.tp > 1 || req->plan.pp > 1 || req->plan.cp > 1 || req->plan.ep > 1)
		return jl_fail(err, JL_E_USAGE,
			       "--parallel: two kinds of GPU share a data-parallel job; of it only zero= can be said");
	w.req.plan.tp = w.req.plan.pp = w.req.plan.cp = 1;
	w.req.plan.dp = NAN;
	JL_TRY(weigh_ways(&m, &w, err));
	weigh_alone(&m, &w);
	if (m.fits)
		share(&m, &w);
	else
		m.pace.n_advice = jl_advise(m.pace.advice, cat, &m.pace.how, arena);
	m.steps = m.pace.p.steps_per_epoch * jl_given_or(req->epochs, 1);
	m.even_run_s = jl_estimate_times(m.even_s, m.steps);
	m.shared_run_s = jl_estimate_times(m.shared_s, m.steps);
	m.pace.how.machine.sys.text = jl_arena_printf(arena, "%s + %s", m.kind[0].sys.text, m.kind[1].sys.text);
	JL_TRY(jl_got(m.pace.how.machine.sys.text, err));
	*ret_mixed = m;
	return JL_OK;
}

JL_TEXT_OF(kind_system, jl_mixed_kind, r->sys.text);

static const struct jl_field kinds[] = {
	{ JL_FIELD_TEXT_OF("system", kind_system) },
	{ JL_FIELD_AS(jl_mixed_kind, INT, n, "n_gpus") },
	{ JL_FIELD_AS(jl_mixed_kind, NUMBER, even_s, "even_step_s"),
	  .about = "with as many samples as every other GPU; null: the job does not fit" },
	{ JL_FIELD(jl_mixed_kind, BOOL, fits) },
	{ JL_FIELD_AS(jl_mixed_kind, NUMBER, need_B, "memory_B") },
	{ JL_FIELD_AS(jl_mixed_kind, NUMBER, has_B, "capacity_B") },
	{ JL_FIELD_AS(jl_mixed_kind, NUMBER, micro, "micro_batch"), .about = "samples of one pass, where shared" },
	{ JL_FIELD_AS(jl_mixed_kind, NUMBER, samples, "samples"),
	  .about = "of one GPU where they are shared by speed" },
	{ JL_FIELD_AS(jl_mixed_kind, NUMBER, step_s, "step_s"), .about = "with those" },
	{ JL_FIELD_AS(jl_mixed_kind, NUMBER, alone, "alone_samples_per_s") },
};
static const struct jl_schema kind_schema = JL_SCHEMA("mixed_kind", jl_mixed_kind, kinds);

JL_NUMBER_OF(even_lo, jl_mixed, r->even_s.lo);
JL_NUMBER_OF(even_hi, jl_mixed, r->even_s.hi);

JL_BOOL_OF(is_run, jl_mixed, !isnan(r->steps));

static const struct jl_field mixed[] = {
	{ JL_FIELD(jl_mixed, NUMBER, global_batch) },
	{ JL_FIELD(jl_mixed, BOOL, fits), .about = "false: no rate is given" },
	{ JL_FIELD_AS(jl_mixed, SUB, kind[0], "first"), .sub = &kind_schema },
	{ JL_FIELD_AS(jl_mixed, SUB, kind[1], "second"), .sub = &kind_schema },
	{ JL_FIELD_AS(jl_mixed, NUMBER, even_s.value, "even_step_s") },
	{ JL_FIELD_NUMBER_OF("even_step_lo_s", even_lo) },
	{ JL_FIELD_NUMBER_OF("even_step_hi_s", even_hi) },
	{ JL_FIELD_AS(jl_mixed, NUMBER, even_per_s, "even_samples_per_s") },
	{ JL_FIELD_AS(jl_mixed, NUMBER, shared_s.value, "shared_step_s") },
	{ JL_FIELD_AS(jl_mixed, NUMBER, shared_per_s, "shared_samples_per_s"), .about = "null: an even share is best" },
	{ JL_FIELD(jl_mixed, NUMBER, steps), .when = is_run, .about = "of the whole run" },
	{ JL_FIELD(jl_mixed, ESTIMATE, even_run_s), .when = is_run },
	{ JL_FIELD(jl_mixed, ESTIMATE, shared_run_s), .when = is_run, .about = "null: an even share is best" },
};
const struct jl_schema jl_mixed_fields = JL_SCHEMA("predict-mixed", jl_mixed, mixed);
