/* The answer first: what to do, how much it brings, and why. */
#include <math.h>
#include <string.h>

#include "report/section.h"

static struct jl_num ranged(struct jl_num num)
{
	num.show_interval = true;
	return num;
}

static void questions(struct jl_section *s)
{
	const struct jl_scenario *scenario = s->w->scenario;

	if (!scenario->n_questions)
		return;
	jl_doc_para(s->doc);
	jl_doc_strong(s->doc, JL_T(s->lang, "Asked: ", "질문: "));
	for (size_t i = 0; i < scenario->n_questions; i++) {
		jl_doc_said(s->doc, jl_words_in(scenario->questions[i], s->lang), JL_ORIGIN_NONE, NULL);
		if (i + 1 < scenario->n_questions)
			jl_doc_text(s->doc, " · ");
	}
}

static const struct jl_weighed_system *this_system(const struct jl_section *s)
{
	for (size_t i = 0; s->in->this_on && i < s->w->n_systems; i++)
		if (strcmp(s->w->systems[i].said->on, s->in->this_on) == 0)
			return &s->w->systems[i];
	return NULL;
}

/* How fast this machine is beside the others. */
static void here(struct jl_section *s)
{
	const struct jl_weighed_system *system = this_system(s);
	const struct jl_compare_at *a = system && system->row ? &system->row->at[JL_AT_SAME_BATCH] : NULL;
	const struct jl_prediction *p = system && system->predicted ? &system->prediction : NULL;

	if (!system || (!a && !p))
		return;
	jl_doc_finding(s->doc, JL_MARK_UNKNOWN, JL_T(s->lang, "This machine", "이 장비"));
	if (s->in->machine && s->in->machine->short_name) {
		jl_doc_name(s->doc, s->in->machine->short_name);
		jl_doc_text(s->doc, ": ");
	}
	if (a && a->possible && !system->row->baseline) {
		const struct jl_num speed = ranged(jl_num_estimate(a->speedup, JL_K_NUMBER, "x"));
		jl_doc_num(s->doc, &speed);
		JL_SAY(s, " the baseline's speed. ", " (기준 시스템 대비). ");
	}
	if (p) {
		const struct jl_num per_s = ranged(jl_num_estimate(p->samples_per_s, JL_K_NUMBER, "samples/s"));
		jl_doc_num(s->doc, &per_s);
		jl_doc_text(s->doc, ".");
	} else if (a && !a->possible) {
		jl_doc_said(s->doc, jl_err_text(&a->why, s->lang), JL_ESTIMATED, JL_METHOD);
	}
}

static void first_advice(struct jl_section *s)
{
	const struct jl_advice *a = &s->w->advice[0];
	struct jl_num before, after, gpus;

	/* in a report on this machine, advice for another one is for its own section */
	if (!s->w->n_advice || (s->in->this_on && s->w->advised != this_system(s)))
		return;
	before = jl_num_plain(a->samples_per_s_before, JL_K_NUMBER, NULL, JL_ESTIMATED, JL_METHOD);
	after = jl_num_plain(a->samples_per_s_after, JL_K_NUMBER, "samples/s", JL_ESTIMATED, JL_METHOD);
	gpus = jl_num_given(a->n_gpus, JL_K_NUMBER, "GPU");
	jl_doc_finding(s->doc, JL_MARK_GOOD, JL_T(s->lang, "Do first", "먼저 할 일"));
	jl_doc_name(s->doc, jl_system_name(s, s->w->advised));
	jl_doc_text(s->doc, ": ");
	jl_doc_said(s->doc, JL_T(s->lang, a->en, a->ko), JL_ESTIMATED, JL_METHOD);
	jl_doc_text(s->doc, " — ");
	jl_doc_num(s->doc, &gpus);
	jl_doc_text(s->doc, ": ");
	if (!a->makes_it_fit) {
		jl_doc_num(s->doc, &before);
		jl_doc_text(s->doc, " → ");
	}
	jl_doc_num(s->doc, &after);
	jl_doc_text(s->doc, ".");
}

static void scaling(struct jl_section *s)
{
	const struct jl_weighed_scaling *sc = &s->w->scaling;

	if (!sc->of)
		return;
	for (size_t k = 0; k < sc->n_modes; k++) {
		const struct jl_weighed_point *p = &sc->points[(k + 1) * sc->n_counts - 1];
		const bool seen = !isnan(p->measured_speedup);
		const double times = seen ? p->measured_speedup : p->speedup;
		const struct jl_num gpus = jl_num_given(p->n_gpus, JL_K_NUMBER, "GPU"),
				    speed = seen ? jl_num_measured(times, JL_K_NUMBER, "x", p->measured)
						 : ranged(jl_num_estimate(p->speedup_range, JL_K_NUMBER, "x"));
		struct jl_num share = jl_num_plain(times / p->n_gpus, JL_K_FRACTION, NULL,
						   seen ? JL_MEASURED : JL_ESTIMATED, seen ? NULL : JL_METHOD);

		if (isnan(times))
			continue;
		share.n_digits = 2;
		jl_doc_finding(s->doc,
			       times < 0.5 * p->n_gpus   ? JL_MARK_BAD
			       : times < 0.8 * p->n_gpus ? JL_MARK_WARN
							 : JL_MARK_GOOD,
			       jl_arena_printf(s->arena, JL_T(s->lang, "Scaling with %s", "%s 스케일링"),
					       jl_mode_name(s, p->mode)));
		jl_doc_name(s->doc, jl_system_name(s, sc->of));
		jl_doc_text(s->doc, ", ");
		jl_doc_num(s->doc, &gpus);
		jl_doc_text(s->doc, ": ");
		jl_doc_num(s->doc, &speed);
		JL_SAY(s, ", efficiency ", ", 효율 ");
		jl_doc_num(s->doc, &share);
		if (p->predicted) {
			const size_t part = jl_part_largest(&p->step);
			struct jl_num of_step = jl_num_plain(jl_part_s(&p->step, part) / p->step.step_s, JL_K_FRACTION,
							     NULL, JL_ESTIMATED, JL_METHOD);
			of_step.n_digits = 2;
			JL_SAY(s, ". Most of a step: ", ". 스텝에서 가장 큰 몫: ");
			jl_doc_text(s->doc, JL_T(s->lang, jl_parts[part].en, jl_parts[part].ko));
			jl_doc_text(s->doc, " ");
			jl_doc_num(s->doc, &of_step);
		}
		jl_doc_text(s->doc, ".");
	}
}

static void run_times(struct jl_section *s, const struct jl_compare_at *a, const struct jl_compare_at *base)
{
	const bool whole = !isnan(a->run_s.value);
	struct jl_num now = jl_num_plain(whole ? base->run_s.value : base->step_s.value, JL_K_TIME, NULL,
					 isnan(s->w->scenario->observed.step_s) ? JL_ESTIMATED : JL_MEASURED, NULL),
		      then = ranged(jl_num_estimate(whole ? a->run_s : a->step_s, JL_K_TIME, NULL));

	jl_doc_text(s->doc, whole ? JL_T(s->lang, " The run takes ", " 전체 학습 ")
				  : JL_T(s->lang, " A step takes ", " 스텝 "));
	jl_doc_num(s->doc, &now);
	jl_doc_text(s->doc, " → ");
	jl_doc_num(s->doc, &then);
	jl_doc_text(s->doc, ".");
}

static const struct jl_weighed_system *fastest(const struct jl_weighed *w,
					       const struct jl_weighed_system **ret_cheapest)
{
	const struct jl_weighed_system *best = NULL, *cheap = NULL;
	double speed = 0, per_usd = 0;

	for (size_t i = 0; i < w->n_systems; i++) {
		const struct jl_compare_row *row = w->systems[i].row;
		const struct jl_compare_at *a = row ? &row->at[JL_AT_SAME_BATCH] : NULL;
		const double v = row && row->baseline ? 1 : a && a->possible ? a->speedup.value : NAN;

		if (v > speed) {
			speed = v;
			best = &w->systems[i];
		}
		if (v / w->systems[i].rent_usdps > per_usd) {
			per_usd = v / w->systems[i].rent_usdps;
			cheap = &w->systems[i];
		}
	}
	*ret_cheapest = cheap;
	return best;
}

static void compared(struct jl_section *s)
{
	const struct jl_compare *c = s->w->compare;
	const struct jl_weighed_system *cheap, *best = c ? fastest(s->w, &cheap) : NULL;
	const struct jl_compare_at *a = best ? &best->row->at[JL_AT_SAME_BATCH] : NULL;

	if (!best)
		return;
	jl_doc_finding(s->doc, JL_MARK_GOOD, JL_T(s->lang, "Fastest for this run", "이 학습에 가장 빠른 시스템"));
	jl_doc_name(s->doc, jl_system_name(s, best));
	if (best->row->baseline) {
		JL_SAY(s, ": the baseline itself; none of the others is faster.",
		       ": 기준 시스템. 더 빠른 것이 없습니다.");
	} else {
		const struct jl_num speed = ranged(jl_num_estimate(a->speedup, JL_K_NUMBER, "x"));
		jl_doc_text(s->doc, ": ");
		jl_doc_num(s->doc, &speed);
		JL_SAY(s, " the baseline's speed at the same batch.", " (같은 배치에서 기준 시스템 대비).");
		run_times(s, a, &c->rows[0].at[JL_AT_SAME_BATCH]);
	}
	if (!cheap)
		return;
	jl_doc_finding(s->doc, JL_MARK_GOOD, JL_T(s->lang, "Most work for its rent", "임대료 대비 가장 많은 작업"));
	{
		const struct jl_num rent = { .value = cheap->rent_usdps,
					     .kind = JL_K_USD_RATE,
					     .lo = NAN,
					     .hi = NAN,
					     .origin = JL_LISTED,
					     .source = cheap->rent_source,
					     .date = cheap->rent_date };
		jl_doc_name(s->doc, jl_system_name(s, cheap));
		jl_doc_text(s->doc, ": ");
		jl_doc_num(s->doc, &rent);
		jl_doc_text(s->doc, ".");
	}
}

static void reduced(struct jl_section *s)
{
	for (size_t i = s->w->n_reduce; i-- > 0;) {
		const struct jl_weighed_reduce *r = &s->w->reduce[i];
		const struct jl_num nodes = jl_num_given(r->n_nodes, JL_K_NUMBER, NULL),
				    seen = jl_num_measured(r->measured_Bps, JL_K_BYTE_RATE, NULL, r->measured);
		struct jl_num lo = jl_num_plain(r->expected.algbw_Bps.lo, JL_K_BYTE_RATE, NULL, JL_ESTIMATED,
						JL_METHOD),
			      hi = lo, share;
		const enum jl_mark mark = jl_reduce_verdict(r);

		if (!r->known || isnan(r->measured_Bps))
			continue;
		hi.value = r->expected.algbw_Bps.hi;
		share = jl_num_plain(r->measured_Bps / r->expected.bound_Bps, JL_K_FRACTION, NULL, JL_ESTIMATED,
				     JL_METHOD);
		share.n_digits = 2;
		jl_doc_finding(s->doc, mark,
			       mark == JL_MARK_GOOD  ? JL_T(s->lang, "All-reduce: normal", "All-Reduce: 정상")
			       : mark == JL_MARK_BAD ? JL_T(s->lang, "All-reduce: more than the links carry",
							    "All-Reduce: 링크 한계를 넘는 값")
						     : JL_T(s->lang, "All-reduce: slow", "All-Reduce: 느림"));
		JL_SAY(s, "On ", "노드 ");
		jl_doc_num(s->doc, &nodes);
		JL_SAY(s, " nodes ", "개에서 ");
		jl_doc_num(s->doc, &seen);
		JL_SAY(s, " (algbw); expected ", " (algbw). 예상 ");
		jl_doc_num(s->doc, &lo);
		jl_doc_text(s->doc, " – ");
		jl_doc_num(s->doc, &hi);
		JL_SAY(s, "; ", ", 한계의 ");
		jl_doc_num(s->doc, &share);
		JL_SAY(s, " of the bound.", ".");
	}
}

static void costs(struct jl_section *s)
{
	const struct jl_cost_study *study = s->w->study;
	struct jl_num total;
	size_t best;

	if (!study)
		return;
	best = jl_cost_cheapest(study, study->setting.horizon_days);
	total = jl_num_plain((double)study->lines[best].cum_micro[study->setting.horizon_days] / 1e6,
			     study->setting.currency == JL_KRW ? JL_K_KRW : JL_K_USD, NULL, JL_ESTIMATED, JL_METHOD);
	total.n_digits = 4;
	jl_doc_finding(s->doc, JL_MARK_GOOD, JL_T(s->lang, "Cheapest over the whole time", "전체 기간에 가장 싼 선택"));
	jl_doc_name(s->doc, study->options[best].name);
	jl_doc_text(s->doc, ": ");
	jl_doc_num(s->doc, &total);
	jl_doc_text(s->doc, ".");
	for (size_t i = 0; i < study->n_pairs && i < 3; i++) {
		const struct jl_cost_pair *pair = &study->pairs[i];
		const struct jl_num days = jl_num_plain(pair->days, JL_K_NUMBER, JL_T(s->lang, "days", "일"),
							JL_ESTIMATED, JL_METHOD);

		if (isnan(pair->days))
			continue;
		jl_doc_text(s->doc, " ");
		jl_doc_name(s->doc, study->options[pair->dear].name);
		JL_SAY(s, " is cheaper than ", " < ");
		jl_doc_name(s->doc, study->options[pair->cheap].name);
		JL_SAY(s, " after ", ": ");
		jl_doc_num(s->doc, &days);
		JL_SAY(s, ".", " 뒤부터.");
	}
}

static void workload(struct jl_section *s)
{
	const struct jl_observed *o = &s->w->scenario->observed;

	if (s->w->has_model) {
		jl_doc_para(s->doc);
		JL_SAY(s, "Workload: ", "작업: ");
		jl_doc_name(s->doc, s->w->subject.name);
		if (s->w->model_assumed)
			JL_SAY(s, " (none was named; this one stands in).", " (지정하지 않아 대신 쓴 모델).");
		else
			jl_doc_text(s->doc, ".");
	} else if (!isnan(o->step_s)) {
		const struct jl_num step = jl_num_plain(o->step_s, JL_K_TIME, NULL, JL_MEASURED, NULL),
				    batch = jl_num_given(o->batch, JL_K_NUMBER, NULL),
				    batches = jl_num_given(o->batches, JL_K_NUMBER, NULL);
		jl_doc_para(s->doc);
		JL_SAY(s, "Observed run: ", "실측한 학습: 스텝 ");
		jl_doc_num(s->doc, &step);
		JL_SAY(s, " a step of ", ", 배치 ");
		jl_doc_num(s->doc, &batch);
		JL_SAY(s, " samples", "");
		if (!isnan(o->batches)) {
			JL_SAY(s, ", steps an epoch: ", ", 에폭당 스텝 ");
			jl_doc_num(s->doc, &batches);
		}
		jl_doc_text(s->doc, ".");
	}
}

void jl_section_summary(struct jl_section *s)
{
	jl_section_open(s, "summary", "Summary", "요약");
	first_advice(s);
	here(s);
	compared(s);
	reduced(s);
	costs(s);
	scaling(s);
	questions(s);
	workload(s);
}
