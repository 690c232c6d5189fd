/* Finds inputs that would narrow the interval of an answer. */
#include "predict/narrow.h"

#include <math.h>

#include "predict/kind.h"

static double width_ln(const struct jl_estimate *e)
{
	return log(e->hi / e->lo);
}

/* Mean width of the interval over both outcomes. */
static double after_ln(const struct jl_narrow *n)
{
	return n->is[1] ? (width_ln(&n->after[0]) + width_ln(&n->after[1])) / 2 : width_ln(&n->after[0]);
}

static void add(struct jl_narrow *list, size_t *n, const struct jl_narrow *narrow)
{
	size_t at = *n;

	if (*n == JL_NARROW_MAX || after_ln(narrow) > 0.9 * width_ln(&narrow->before))
		return; /* too small a gain to mention */
	for (; at > 0 && after_ln(narrow) < after_ln(&list[at - 1]); at--)
		list[at] = list[at - 1];
	list[at] = *narrow;
	++*n;
}

/* An observed run on another machine, with one more fact known. */
static struct jl_estimate carried(const struct jl_compare *compare, const struct jl_compare_row *row,
				  const struct jl_observed *run)
{
	const struct jl_compare_at *at = &row->at[JL_AT_SAME_BATCH];
	const double steps = isnan(at->run_s.value) ? 1 : at->run_s.value / at->step_s.value;
	struct jl_carried c;

	jl_observed_carry(&c, run, &compare->rows[0].machine, &row->machine, at->batch, row->limit);
	return jl_estimate_times(c.step_s, steps);
}

size_t jl_narrow_observed(struct jl_narrow ret_narrow[JL_NARROW_MAX], const struct jl_compare *compare,
			  const struct jl_compare_row *row)
{
	static const int dtypes[] = { JL_FP16, JL_FP32 };
	const struct jl_compare_at *at = &row->at[JL_AT_SAME_BATCH];
	struct jl_narrow narrow = { .before = isnan(at->run_s.value) ? at->step_s : at->run_s };
	size_t n = 0;

	if (!at->possible || row->baseline || !(width_ln(&narrow.before) > log(JL_NARROW_WIDE)))
		return 0;
	for (int what = 0; what < 2; what++) { /* first its format, then the kind of its model */
		struct jl_observed run = compare->seen.run;

		if (what ? run.kind != JL_MIX_UNKNOWN : run.dtype != JL_UNSET)
			continue;
		for (int i = 0; i < 2; i++) {
			run.dtype = what ? run.dtype : dtypes[i];
			run.kind = what ? (enum jl_mix_kind)i : run.kind;
			narrow.is[i] = what ? jl_mixes[i].en : jl_dtype_name((enum jl_dtype)dtypes[i]);
			narrow.after[i] = carried(compare, row, &run);
		}
		narrow.en = what ? JL_N("state the kind of model") : JL_N("state the precision");
		narrow.key = what ? "kind: transformer" : "precision: fp16";
		add(ret_narrow, &n, &narrow);
	}
	return n;
}

/* The interval if these causes of uncertainty were removed. */
static struct jl_estimate without(const struct jl_prediction *p, const struct jl_case *how,
				  const enum jl_reason *reasons, size_t n)
{
	struct jl_doubt doubt = p->doubt;
	double half;

	for (size_t i = 0; i < n; i++)
		doubt.x[reasons[i]] = 0;
	half = jl_half_ln(&how->machine.widths, how->subject.kind->answer, &doubt);
	return jl_estimate_around(p->step_s.value, half);
}

size_t jl_narrow_predicted(struct jl_narrow ret_narrow[JL_NARROW_MAX], const struct jl_prediction *p,
			   const struct jl_case *how)
{
	static const enum jl_reason said[] = { JL_DOUBT_ASSUMED },
				    measured[] = { JL_DOUBT_GPU,  JL_DOUBT_FAMILY, JL_DOUBT_LINK,
						   JL_DOUBT_HOST, JL_DOUBT_KIND,   JL_DOUBT_MODEL,
						   JL_DOUBT_FEW,  JL_DOUBT_CODE,   JL_DOUBT_NEAR };
	struct jl_narrow narrow = { .before = p->step_s };
	size_t n = 0;

	if (!(width_ln(&narrow.before) > log(JL_NARROW_WIDE)))
		return 0;
	narrow.en = JL_N("measure on that system for five seconds");
	narrow.key = "jeoul bench all --quick && jeoul calibrate";
	narrow.after[0] = without(p, how, measured, JL_LEN(measured));
	add(ret_narrow, &n, &narrow);
	narrow.en = JL_N("state the values that are assumed below");
	narrow.key = "workload:";
	narrow.after[0] = without(p, how, said, 1);
	add(ret_narrow, &n, &narrow);
	return n;
}
