/* Estimates of jeoul for the machines that a note names. */
#include "notes/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/compare.h"

/* Number of catalog records that a mention may refer to. */
static size_t openness(const struct jl_entity *e)
{
	return e->n_gpus ? e->n_gpus : e->system ? 1 : 1000;
}

const struct jl_gpu *jl_audit_gpu(const struct jl_audit_note *note, const struct jl_mention *mention,
				  uint32_t *ret_count)
{
	const struct jl_entity *e = jl_mention_entity(note, mention), *best = e, *full = NULL;
	uint32_t count = mention ? mention->count : 0;

	if (!mention || e->family)
		return NULL;
	if (e->system)
		return NULL;
	for (size_t i = 0; i < note->n_mentions && i < 4000; i++) {
		const struct jl_mention *m = &note->mentions[i];

		if (!jl_same_entity(note, m, mention)) {
			if (m->len > mention->len && jl_mention_entity(note, m)->n_gpus == 1 &&
			    memmem(note->text + m->at, m->len, note->text + mention->at, mention->len))
				full = jl_mention_entity(note, m);
			continue;
		}
		if (!mention->count && !count && m->count)
			count = m->count;
		if (openness(jl_mention_entity(note, m)) < openness(best))
			best = jl_mention_entity(note, m);
	}
	if (full || e->n_gpus == 1)
		best = full ? full : e; /* "RTX PRO 6000 Blackwell" is the "... Server Edition" if the note says so */
	*ret_count = count ? count : 1;
	return best->n_gpus ? best->gpus[0] : NULL;
}

bool jl_audit_machine(struct jl_machine *ret_machine, const struct jl_audit_note *note,
		      const struct jl_mention *mention, uint32_t count)
{
	uint32_t n = 1;
	const struct jl_gpu *gpu = jl_audit_gpu(note, mention, &n);
	struct jl_err err;
	struct jl_sys sys;
	char text[160];

	if (!gpu || strlen(gpu->id) > 100)
		return false;
	snprintf(text, sizeof text, "%ux %s", count ? count : n, gpu->id);
	return jl_sys_parse(&sys, note->cat, text, note->arena, &err) == JL_OK &&
	       jl_machine_make(ret_machine, note->cat, &sys, &err) == JL_OK;
}

bool jl_audit_carry(struct jl_estimate *ret_speedup, struct jl_audit_note *note, const struct jl_seen *seen,
		    const struct jl_mention *to, bool as_many)
{
	struct jl_compare *compare = calloc(1, sizeof *compare);
	struct jl_observed run = jl_observed_empty();
	uint32_t n_from = 1;
	struct jl_err err;
	bool done = false;

	if (!compare)
		return false;
	jl_audit_gpu(note, seen->on, &n_from);
	run.step_s = seen->step_s;
	run.batch = seen->batch;
	run.batches = seen->batches;
	compare->n_rows = 2;
	compare->epochs = 1;
	compare->repeat = compare->tune = compare->pue = NAN;
	if (jl_audit_machine(&compare->rows[0].machine, note, seen->on, 0) &&
	    jl_audit_machine(&compare->rows[1].machine, note, to,
			     to->count ? 0
			     : as_many ? n_from
				       : 1) &&
	    jl_compare_observed(compare, &run, &err) == JL_OK) {
		const struct jl_compare_at *at = &compare->rows[1].at[JL_AT_SAME_BATCH];

		done = at->possible && isfinite(at->speedup.value) && at->speedup.lo > 0;
		if (done)
			*ret_speedup = at->speedup;
	}
	free(compare);
	return done;
}

/* Single-precision rate as commonly used: TF32 tensor cores where available. */
static double single_flopps(const struct jl_gpu *gpu)
{
	return isnan(gpu->tf32_dense_flopps.value) ? gpu->fp32_flopps.value : gpu->tf32_dense_flopps.value;
}

static double rate_ratio(const struct jl_gpu *a, const struct jl_gpu *b)
{
	const double ratios[] = { a->mem_Bps.value / b->mem_Bps.value, a->fp32_flopps.value / b->fp32_flopps.value,
				  single_flopps(a) / single_flopps(b),
				  a->fp16_fp32acc_dense_flopps.value / b->fp16_fp32acc_dense_flopps.value };
	double most = NAN;

	for (size_t i = 0; i < JL_LEN(ratios); i++)
		if (isfinite(ratios[i]))
			most = fmax(isnan(most) ? 0 : most, ratios[i]);
	return most;
}

double jl_entity_rate_ratio(const struct jl_entity *to, const struct jl_entity *from)
{
	double most = NAN;

	for (size_t i = 0; i < to->n_gpus; i++)
		for (size_t k = 0; k < from->n_gpus; k++)
			most = fmax(isnan(most) ? 0 : most, rate_ratio(to->gpus[i], from->gpus[k]));
	return most;
}

double jl_audit_rate_ratio(const struct jl_audit_note *note, const struct jl_mention *to, const struct jl_mention *from,
			   bool as_many)
{
	uint32_t n_to = 1, n_from = 1;
	const struct jl_gpu *a = jl_audit_gpu(note, to, &n_to), *b = jl_audit_gpu(note, from, &n_from);

	if (!a || !b)
		return NAN;
	if (!to->count)
		n_to = as_many ? n_from : 1;
	return rate_ratio(a, b) * n_to / n_from;
}
