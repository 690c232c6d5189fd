/* What would make an answer narrower, and by how much: the same answer reckoned with less left open. */
#include <math.h>

#include "predict/kind.h"
#include "scenario/weigh.h"

static double width_ln(const struct jl_estimate *e)
{
	return log(e->hi / e->lo);
}

/* Of both ways that it may turn out. */
static double after_ln(const struct jl_narrow *n)
{
	return n->is[1] ? (width_ln(&n->after[0]) + width_ln(&n->after[1])) / 2 : width_ln(&n->after[0]);
}

static void add(struct jl_narrow *list, size_t *n, const struct jl_narrow *narrow)
{
	size_t at = *n;

	if (*n == JL_NARROW_MAX || after_ln(narrow) > 0.9 * width_ln(&narrow->before))
		return; /* not worth a word */
	for (; at > 0 && after_ln(narrow) < after_ln(&list[at - 1]); at--)
		list[at] = list[at - 1];
	list[at] = *narrow;
	++*n;
}

/* An observed run on another machine, as if more of it were known. */
static struct jl_estimate carried(const struct jl_weighed *w, const struct jl_compare_row *row,
				  const struct jl_observed *run)
{
	const struct jl_compare_at *at = &row->at[JL_AT_SAME_BATCH];
	const double steps = isnan(at->run_s.value) ? 1 : at->run_s.value / at->step_s.value;
	struct jl_carried c;

	jl_observed_carry(&c, run, &w->compare->rows[0].machine, &row->machine, at->batch, row->limit);
	return (struct jl_estimate){ c.step_s.value * steps, c.step_s.lo * steps, c.step_s.hi * steps };
}

static size_t of_observed(struct jl_narrow list[JL_NARROW_MAX], const struct jl_weighed *w,
			  const struct jl_compare_row *row)
{
	static const int dtypes[] = { JL_FP16, JL_FP32 };
	const struct jl_compare_at *at = &row->at[JL_AT_SAME_BATCH];
	struct jl_narrow narrow = { .before = isnan(at->run_s.value) ? at->step_s : at->run_s };
	size_t n = 0;

	if (!at->possible || row->baseline || !(width_ln(&narrow.before) > log(JL_NARROW_WIDE)))
		return 0;
	for (int what = 0; what < 2; what++) { /* its format; the kind of its model */
		struct jl_observed run = w->scenario->observed;

		if (what ? run.kind != JL_MIX_UNKNOWN : run.dtype != JL_UNSET)
			continue;
		for (int i = 0; i < 2; i++) {
			run.dtype = what ? run.dtype : dtypes[i];
			run.kind = what ? (enum jl_mix_kind)i : run.kind;
			narrow.is[i] = what ? jl_mixes[i].en : jl_dtype_name((enum jl_dtype)dtypes[i]);
			narrow.after[i] = carried(w, row, &run);
		}
		narrow.en = what ? JL_N("say what kind of model it is") : JL_N("say its precision");
		narrow.key = what ? "kind: transformer" : "precision: fp16";
		add(list, &n, &narrow);
	}
	return n;
}

/* The interval without these reasons to doubt it. */
static struct jl_estimate without(const struct jl_weighed_system *of, const enum jl_reason *reasons, size_t n)
{
	const struct jl_prediction *p = &of->prediction;
	const enum jl_asked answer = of->how.subject.kind->answer;
	struct jl_doubt doubt = p->doubt;
	double half;

	for (size_t i = 0; i < n; i++)
		doubt.x[reasons[i]] = 0;
	half = jl_half_ln(&of->machine.widths, answer, &doubt);
	return (struct jl_estimate){ p->step_s.value, p->step_s.value * exp(-half), p->step_s.value * exp(half) };
}

static size_t of_model(struct jl_narrow list[JL_NARROW_MAX], const struct jl_weighed_system *of)
{
	static const enum jl_reason said[] = { JL_DOUBT_ASSUMED },
				    measured[] = { JL_DOUBT_GPU,  JL_DOUBT_FAMILY, JL_DOUBT_LINK,
						   JL_DOUBT_HOST, JL_DOUBT_KIND,   JL_DOUBT_MODEL };
	struct jl_narrow narrow = { .before = of->prediction.step_s };
	size_t n = 0;

	if (!(width_ln(&narrow.before) > log(JL_NARROW_WIDE)))
		return 0;
	narrow.en = JL_N("measure it there for five seconds");
	narrow.key = "jeoul calibrate";
	narrow.after[0] = without(of, measured, sizeof measured / sizeof measured[0]);
	add(list, &n, &narrow);
	narrow.en = JL_N("say what is assumed below");
	narrow.key = "workload:";
	narrow.after[0] = without(of, said, 1);
	add(list, &n, &narrow);
	return n;
}

size_t jl_weigh_narrow(struct jl_narrow ret_narrow[JL_NARROW_MAX], const struct jl_weighed *w,
		       const struct jl_weighed_system *of)
{
	if (of && of->row && w->compare && !isnan(w->scenario->observed.step_s))
		return of_observed(ret_narrow, w, of->row);
	return of && of->predicted ? of_model(ret_narrow, of) : 0;
}
