/* What the systems are, how they compare at one workload, and which are best for their money. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/section.h"

static void count_cell(struct jl_section *s, const struct jl_sys *sys)
{
	struct jl_num num = jl_num_given(sys->n_nodes * (double)sys->n_per_node, JL_K_NUMBER, NULL);

	jl_section_cell(s, num);
}

static void fact_cell(struct jl_section *s, const struct jl_fact *fact, enum jl_kind kind)
{
	struct jl_num num = jl_num_fact(fact, kind);

	num.binary = kind == JL_K_BYTES;
	jl_section_cell(s, num);
}

static void gpu_cells(struct jl_section *s, const struct jl_gpu *gpu)
{
	/* as training uses it: products of 16 bits, sums of 32 */
	const struct jl_fact *half = jl_fact_known(&gpu->fp16_fp32acc_dense_flopps) ? &gpu->fp16_fp32acc_dense_flopps
				     : jl_fact_known(&gpu->bf16_dense_flopps)       ? &gpu->bf16_dense_flopps
										    : &gpu->fp16_dense_flopps;

	fact_cell(s, &gpu->mem_B, JL_K_BYTES);
	fact_cell(s, &gpu->mem_Bps, JL_K_BYTE_RATE);
	fact_cell(s, &gpu->fp32_flopps, JL_K_FLOP_RATE);
	fact_cell(s, half, JL_K_FLOP_RATE);
	fact_cell(s, &gpu->tdp_W, JL_K_POWER);
}

static void cpu_cells(struct jl_section *s, const struct jl_cpu *cpu)
{
	fact_cell(s, &cpu->mem_B, JL_K_BYTES);
	fact_cell(s, &cpu->mem_Bps, JL_K_BYTE_RATE);
	fact_cell(s, &cpu->fp32_flopps, JL_K_FLOP_RATE);
	jl_doc_cell_text(s->doc, "—");
	fact_cell(s, &cpu->tdp_W, JL_K_POWER);
}

static void notes_of(struct jl_section *s)
{
	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_weighed_system *system = &s->w->systems[i];

		if (system->said->note.en) {
			jl_doc_item(s->doc);
			jl_doc_name(s->doc, jl_system_name(s, system));
			jl_doc_text(s->doc, ": ");
			jl_doc_said(s->doc, jl_words_in(system->said->note, s->lang), JL_ORIGIN_NONE, NULL);
		}
		if (!system->usable) {
			jl_doc_item(s->doc);
			jl_doc_name(s->doc, jl_system_name(s, system));
			jl_doc_text(s->doc, ": ");
			jl_doc_said(s->doc, jl_err_text(&system->why, s->lang), JL_ORIGIN_NONE, NULL);
		}
	}
}

static void links_table(struct jl_section *s)
{
	static const struct jl_section_head heads[] = { { "System", "시스템", false },
							{ "Joined by", "GPU 연결", false },
							{ "One way a GPU", "GPU당 단방향", true },
							{ "Network", "네트워크", false },
							{ "One way a host", "호스트당 단방향", true } };
	bool any = false;

	for (size_t i = 0; i < s->w->n_systems; i++)
		any |= s->w->systems[i].said->sys.join || s->w->systems[i].said->sys.net;
	if (!any)
		return;
	jl_section_table(s, JL_T(s->lang, "How the devices are joined", "장치를 잇는 링크"), heads, 5);
	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_sys *sys = &s->w->systems[i].said->sys;

		if (!sys->join && !sys->net)
			continue;
		jl_doc_cell_name(s->doc, jl_system_name(s, &s->w->systems[i]));
		jl_doc_cell_name(s->doc, sys->join ? sys->join->name : "—");
		fact_cell(s, &sys->join_oneway_Bps, JL_K_BYTE_RATE);
		jl_doc_cell_name(s->doc, sys->net ? sys->net->name : "—");
		fact_cell(s, &sys->net_oneway_Bps, JL_K_BYTE_RATE);
		jl_doc_end_row(s->doc, false);
	}
}

void jl_section_specifications(struct jl_section *s)
{
	static const struct jl_section_head heads[] = {
		{ "System", "시스템", false },
		{ "GPUs", "GPU 수", true },
		{ "Memory", "메모리", true },
		{ "Bandwidth", "대역폭", true },
		{ "FP32", "FP32", true },
		{ "FP16 dense", "FP16 (dense)", true },
		{ "Power limit", "전력 한도", true },
	};

	if (!s->w->n_systems)
		return;
	jl_section_open(s, "specifications", "Specifications", "사양");
	jl_section_table(s,
			 JL_T(s->lang, "One device of each; tensor rates without sparsity",
			      "장치 하나 기준. 텐서 연산은 희소성(sparsity)을 뺀 값"),
			 heads, 7);
	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_sys *sys = &s->w->systems[i].said->sys;

		jl_doc_cell_name(s->doc, jl_system_name(s, &s->w->systems[i]));
		count_cell(s, sys);
		if (sys->gpu)
			gpu_cells(s, sys->gpu);
		else if (sys->cpu)
			cpu_cells(s, sys->cpu);
		jl_doc_end_row(s->doc, i == s->w->scenario->baseline && s->w->n_systems > 1);
	}
	links_table(s);
	notes_of(s);
}

/* An observed time is what was measured; the others are estimates from it. */
static struct jl_num time_of(const struct jl_compare_row *row, struct jl_estimate e)
{
	struct jl_num num = jl_num_estimate(e, JL_K_TIME, NULL);

	num.n_digits = 3;
	if (row->observed) {
		num.origin = JL_MEASURED;
		num.source = NULL;
		num.lo = num.hi = NAN;
	}
	return num;
}

/* Is an epoch known, so that there are times of one and of the run? */
static bool runs_known(const struct jl_section *s)
{
	return !isnan(s->w->compare->rows[0].at[JL_AT_SAME_BATCH].epoch_s.value);
}

static void compare_cells(struct jl_section *s, const struct jl_compare_row *row, enum jl_compare_batch at)
{
	const struct jl_compare_at *a = &row->at[at];
	const bool measured = row->observed && a->batch == row->at[JL_AT_SAME_BATCH].batch;
	struct jl_num speedup = jl_num_estimate(a->speedup, JL_K_NUMBER, "x");

	jl_section_cell(s, jl_num_given(a->batch, JL_K_NUMBER, NULL));
	jl_section_cell(s, measured ? time_of(row, a->step_s) : jl_num_estimate(a->step_s, JL_K_TIME, NULL));
	if (runs_known(s)) {
		jl_section_cell(s, measured ? time_of(row, a->epoch_s) : jl_num_estimate(a->epoch_s, JL_K_TIME, NULL));
		jl_section_cell(s, measured ? time_of(row, a->run_s) : jl_num_estimate(a->run_s, JL_K_TIME, NULL));
	}
	if (row->baseline && a->batch == row->at[JL_AT_SAME_BATCH].batch)
		speedup = jl_num_plain(1, JL_K_NUMBER, "x", JL_ORIGIN_NONE, NULL);
	jl_section_cell(s, jl_num_ranged(speedup));
}

static void compare_table(struct jl_section *s, enum jl_compare_batch at, const char *title)
{
	static const struct jl_section_head heads[] = { { "System", "시스템", false },      { "Batch", "배치", true },
							{ "Step", "스텝", true },           { "Epoch", "에폭", true },
							{ "Whole run", "전체 학습", true }, { "Speed", "배속", true } };
	static const struct jl_section_head short_heads[] = { { "System", "시스템", false },
							      { "Batch", "배치", true },
							      { "Step", "스텝", true },
							      { "Speed", "배속", true } };

	if (runs_known(s))
		jl_section_table(s, title, heads, 6);
	else
		jl_section_table(s, title, short_heads, 4);
	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_compare_row *row = s->w->systems[i].row;

		if (!row)
			continue;
		jl_doc_cell_name(s->doc, jl_system_name(s, &s->w->systems[i]));
		if (row->at[at].possible) {
			compare_cells(s, row, at);
		} else {
			jl_doc_cell(s->doc, JL_MARK_BAD);
			jl_doc_said(s->doc, JL_T(s->lang, "does not run", "실행 불가"), JL_ESTIMATED, JL_METHOD);
		}
		jl_doc_end_row(s->doc, row->baseline);
	}
}

static void compare_chart(struct jl_section *s)
{
	const size_t n = s->w->compare->n_rows;
	struct jl_chart *chart = jl_section_chart(
		s, JL_CHART_BARS,
		JL_T(s->lang, "Speed at the same batch, over the baseline", "같은 배치에서의 속도 (기준 시스템 대비)"),
		1);
	struct jl_chart_point *points = chart ? jl_section_series(s, chart, 0, JL_T(s->lang, "speed", "배속"),
								  JL_ESTIMATED, n)
					      : NULL;
	size_t k = 0;

	if (!points)
		return;
	chart->y = (struct jl_axis){ .label = JL_T(s->lang, "speed", "배속"), .unit = "x", .lo = NAN, .hi = NAN };
	for (size_t i = 0; i < s->w->n_systems && k < n; i++) {
		const struct jl_compare_row *row = s->w->systems[i].row;
		const struct jl_compare_at *a = row ? &row->at[JL_AT_SAME_BATCH] : NULL;

		if (!row)
			continue;
		points[k].label = jl_system_name(s, &s->w->systems[i]);
		points[k].y = row->baseline ? 1 : a->possible ? a->speedup.value : NAN;
		points[k].lo = row->baseline || !a->possible ? NAN : a->speedup.lo;
		points[k].hi = row->baseline || !a->possible ? NAN : a->speedup.hi;
		points[k].own = row->baseline; /* one by definition */
		k++;
	}
	jl_doc_chart(s->doc, chart);
}

static void why_not(struct jl_section *s)
{
	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_compare_row *row = s->w->systems[i].row;
		const struct jl_err *why = row && !row->at[JL_AT_SAME_BATCH].possible ? &row->at[JL_AT_SAME_BATCH].why
					   : !row && s->w->systems[i].why_not.status  ? &s->w->systems[i].why_not
										      : NULL;
		if (!why)
			continue;
		jl_doc_finding(s->doc, JL_MARK_BAD,
			       JL_T(s->lang, "Cannot run it as asked", "요청한 대로는 실행할 수 없음"));
		jl_doc_name(s->doc, jl_system_name(s, &s->w->systems[i]));
		jl_doc_text(s->doc, ": ");
		jl_doc_said(s->doc, jl_err_text(why, s->lang), JL_ESTIMATED, JL_METHOD);
	}
}

static void repeats(struct jl_section *s)
{
	static const struct jl_section_head heads[] = { { "System", "시스템", false },
							{ "Repeated training", "반복 학습", true },
							{ "Tuning", "튜닝", true },
							{ "Energy of a run", "학습 에너지", true } };
	const struct jl_compare *c = s->w->compare;

	if (isnan(c->repeat) && isnan(c->tune))
		return;
	jl_doc_para(s->doc);
	if (!isnan(c->repeat)) {
		const struct jl_num n = jl_num_given(c->repeat, JL_K_NUMBER, NULL);
		JL_SAY(s, "Trainings: ", "학습 횟수: ");
		jl_doc_num(s->doc, &n);
		jl_doc_text(s->doc, ". ");
	}
	if (!isnan(c->tune)) {
		const struct jl_num n = jl_num_given(c->tune, JL_K_NUMBER, NULL);
		JL_SAY(s, "Trials of a search: ", "튜닝 실험 횟수: ");
		jl_doc_num(s->doc, &n);
		jl_doc_text(s->doc, ".");
	}
	jl_section_table(s, JL_T(s->lang, "At the same batch", "같은 배치에서"), heads, 4);
	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_compare_row *row = s->w->systems[i].row;
		const struct jl_compare_at *a = row ? &row->at[JL_AT_SAME_BATCH] : NULL;

		if (!a || !a->possible)
			continue;
		jl_doc_cell_name(s->doc, jl_system_name(s, &s->w->systems[i]));
		jl_section_cell(s, jl_num_ranged(jl_num_estimate(a->repeat_s, JL_K_TIME, NULL)));
		jl_section_cell(s, jl_num_ranged(jl_num_estimate(a->tune_s, JL_K_TIME, NULL)));
		jl_section_cell(s, jl_num_estimate(a->energy_J, JL_K_ENERGY, NULL));
		jl_doc_end_row(s->doc, row->baseline);
	}
}

void jl_section_comparison(struct jl_section *s)
{
	if (!s->w->compare && !s->w->compare_why.status)
		return;
	jl_section_open(s, "comparison", "Comparison", "비교");
	if (!s->w->compare) {
		jl_doc_finding(s->doc, JL_MARK_UNKNOWN, JL_T(s->lang, "Could not be compared", "비교할 수 없음"));
		jl_doc_said(s->doc, jl_err_text(&s->w->compare_why, s->lang), JL_ORIGIN_NONE, NULL);
		return;
	}
	compare_chart(s);
	compare_table(
		s, JL_AT_SAME_BATCH,
		JL_T(s->lang, "At the baseline's batch: the same training", "기준과 같은 배치: 학습 결과가 같은 비교"));
	compare_table(s, JL_AT_LARGEST_BATCH,
		      JL_T(s->lang, "At the largest batch that fits in one pass: other steps, another training",
			   "한 번에 들어가는 최대 배치: 에폭당 스텝 수가 달라 다른 학습이 됨"));
	why_not(s);
	repeats(s);
}

/* --- best for the money */

struct choice {
	const char *name;
	double usd, speed; /* rent an hour, samples a second or speed-up */
	struct jl_estimate range;
	const char *source, *date; /* of the rent */
	bool front;
};

static double speed_of(const struct jl_weighed_system *system, struct jl_estimate *ret_range)
{
	if (system->row && system->row->at[JL_AT_SAME_BATCH].possible) {
		*ret_range = system->row->at[JL_AT_SAME_BATCH].speedup;
		if (system->row->baseline) /* by definition */
			*ret_range = (struct jl_estimate){ .value = 1, .lo = NAN, .hi = NAN };
		return ret_range->value;
	}
	return NAN;
}

static int by_price(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	return x->usd < y->usd ? -1 : x->usd > y->usd ? 1 : x->speed > y->speed ? -1 : x->speed < y->speed;
}

static size_t gather(struct jl_section *s, struct choice *ret_choices)
{
	double best = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->w->n_systems; i++) {
		struct choice c = { .name = jl_system_name(s, &s->w->systems[i]),
				    .usd = s->w->systems[i].rent_usdps,
				    .source = s->w->systems[i].rent_source,
				    .date = s->w->systems[i].rent_date };

		c.speed = speed_of(&s->w->systems[i], &c.range);
		if (!isnan(c.usd) && !isnan(c.speed))
			ret_choices[n++] = c;
	}
	qsort(ret_choices, n, sizeof *ret_choices, by_price);
	for (size_t i = 0; i < n; i++) {
		ret_choices[i].front = ret_choices[i].speed > best;
		best = fmax(best, ret_choices[i].speed);
	}
	return n;
}

static void pareto_table(struct jl_section *s, const struct choice *choices, size_t n)
{
	static const struct jl_section_head heads[] = { { "System", "시스템", false },
							{ "Rent", "임대료", true },
							{ "Speed", "배속", true },
							{ "Rent for the baseline's work of an hour",
							  "기준 시스템 한 시간 작업의 비용", true } };

	jl_section_table(s, NULL, heads, 4);
	for (size_t i = 0; i < n; i++) {
		struct jl_num rent = jl_num_plain(choices[i].usd, JL_K_USD_RATE, NULL, JL_LISTED, choices[i].source),
			      speed = jl_num_estimate((struct jl_estimate){ choices[i].speed, NAN, NAN }, JL_K_NUMBER,
						      "x"),
			      work = jl_num_plain(choices[i].usd * 3600 / choices[i].speed, JL_K_USD, NULL,
						  JL_ESTIMATED, JL_METHOD);

		rent.date = choices[i].date;
		jl_doc_cell(s->doc, choices[i].front ? JL_MARK_GOOD : JL_MARK_NONE);
		jl_doc_name(s->doc, choices[i].name);
		jl_section_cell(s, rent);
		jl_section_cell(s, speed);
		jl_section_cell(s, work);
		jl_doc_end_row(s->doc, false);
	}
}

void jl_section_pareto(struct jl_section *s)
{
	struct choice choices[JL_SCENARIO_SYSTEMS_MAX] = { 0 };
	const size_t n = s->w->compare ? gather(s, choices) : 0;
	struct jl_chart *chart;
	struct jl_chart_point *points;

	if (n < 3)
		return;
	jl_section_open(s, "pareto", "Best for the money", "가격 대비 성능");
	chart = jl_section_chart(s, JL_CHART_SCATTER,
				 JL_T(s->lang,
				      "Rent and speed: nothing is both cheaper and faster than the joined ones",
				      "임대료와 속도: 선으로 이은 것보다 싸면서 빠른 것은 없음"),
				 1);
	points = chart ? jl_section_series(s, chart, 0, JL_T(s->lang, "systems", "시스템"), JL_ESTIMATED, n) : NULL;
	if (!points)
		return;
	chart->x = (struct jl_axis){
		.label = JL_T(s->lang, "rent", "임대료"), .unit = "USD/h", .log = true, .lo = NAN, .hi = NAN
	};
	chart->x_origin = JL_LISTED;
	chart->y = (struct jl_axis){
		.label = JL_T(s->lang, "speed over the baseline", "기준 대비 배속"), .unit = "x", .lo = NAN, .hi = NAN
	};
	for (size_t i = 0; i < n; i++) {
		points[i].x = choices[i].usd * 3600;
		points[i].y = choices[i].speed;
		points[i].label = choices[i].name;
		points[i].front = choices[i].front;
		points[i].lo = choices[i].range.lo;
		points[i].hi = choices[i].range.hi;
		points[i].x_source = choices[i].source;
	}
	jl_doc_chart(s->doc, chart);
	pareto_table(s, choices, n);
	jl_doc_para(s->doc);
	JL_SAY(s, "Rents are the cheapest on-demand ones of the catalog; electricity and staff are not in them.",
	       "임대료는 카탈로그의 온디맨드 최저가입니다. 전기료와 인건비는 들어 있지 않습니다.");
}
