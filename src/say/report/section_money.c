/* What the options cost over time, and when one becomes cheaper than another. */
#include <math.h>
#include <stdio.h>

#include "report/section.h"

#define MONTH_DAYS (365.0 / 12)

static enum jl_kind money_kind(const struct jl_cost_study *study)
{
	return study->setting.currency == JL_KRW ? JL_K_KRW : JL_K_USD;
}

static double paid(const struct jl_cost_line *line, long day)
{
	return (double)line->cum_micro[day] / 1e6;
}

static struct jl_num money(const struct jl_cost_study *study, double value)
{
	struct jl_num num = jl_num_plain(value, money_kind(study), NULL, JL_ESTIMATED, JL_METHOD);

	num.n_digits = value >= 1000 ? 4 : 3;
	return num;
}

static void cost_chart(struct jl_section *s)
{
	const struct jl_cost_study *study = s->w->study;
	const size_t n_points = 37;
	const long horizon = study->setting.horizon_days;
	struct jl_chart *chart = jl_section_chart(s, JL_CHART_LINE, JL_T(s->lang, "Paid so far", "누적 비용"),
						  study->n_options);

	if (!chart)
		return;
	chart->x = (struct jl_axis){ .label = JL_T(s->lang, "time", "기간"),
				     .step = horizon > 4 * 365 ? 12
					     : horizon > 200   ? 6
							       : 1,
				     .unit = JL_T(s->lang, "months", "개월"),
				     .lo = NAN,
				     .hi = NAN };
	chart->mark_source = JL_METHOD;
	chart->y = (struct jl_axis){
		.label = JL_T(s->lang, "paid", "비용"), .kind = money_kind(study), .lo = NAN, .hi = NAN
	};
	for (size_t i = 0; i < study->n_options; i++) {
		struct jl_chart_point *points = jl_section_series(s, chart, i, study->options[i].name, JL_ESTIMATED,
								  n_points);

		for (size_t k = 0; points && k < n_points; k++) {
			const long day = (long)((double)horizon * (double)k / (double)(n_points - 1));
			points[k].x = (double)day / MONTH_DAYS;
			points[k].y = paid(&study->lines[i], day);
		}
	}
	for (size_t i = 0; i < study->n_pairs && isnan(chart->mark_x); i++)
		if (!isnan(study->pairs[i].days)) {
			chart->mark_x = study->pairs[i].days / MONTH_DAYS;
			chart->mark_label = jl_arena_printf(s->arena,
							    JL_T(s->lang, "break-even %.0f days", "손익분기 %.0f일"),
							    study->pairs[i].days);
		}
	jl_doc_chart(s->doc, chart);
}

static void options_table(struct jl_section *s)
{
	static const struct jl_section_head heads[] = { { "Option", "선택지", false },
							{ "First day", "첫날", true },
							{ "One year", "첫해", true },
							{ "Whole horizon", "전체 기간", true },
							{ "Energy a year", "연간 전력량", true },
							{ "Its price", "연간 전기료", true } };
	const struct jl_cost_study *study = s->w->study;
	const long horizon = study->setting.horizon_days, year = horizon < 365 ? horizon : 365;
	const size_t best = jl_cost_cheapest(study, horizon);

	jl_section_table(s, NULL, heads, 6);
	for (size_t i = 0; i < study->n_options; i++) {
		const struct jl_cost_line *line = &study->lines[i];
		const bool power = line->year_kWh > 0;

		jl_doc_cell(s->doc, i == best ? JL_MARK_GOOD : JL_MARK_NONE);
		jl_doc_name(s->doc, study->options[i].name);
		jl_doc_textf(s->doc, " (%s)", jl_cost_kind_name(study->options[i].kind, s->lang));
		jl_section_cell(s, money(study, paid(line, 0)));
		jl_section_cell(s, money(study, paid(line, year)));
		jl_section_cell(s, money(study, paid(line, horizon)));
		jl_section_cell(s, jl_num_plain(power ? line->year_kWh * 3.6e6 : NAN, JL_K_ENERGY, NULL, JL_ESTIMATED,
						JL_METHOD));
		jl_section_cell(s, money(study, power ? jl_money_value(line->year_power) : NAN));
		jl_doc_end_row(s->doc, i == best);
	}
}

static void months(struct jl_section *s, double days)
{
	struct jl_num in_days = jl_num_plain(days, JL_K_NUMBER, JL_T(s->lang, "days", "일"), JL_ESTIMATED, JL_METHOD),
		      in_months = jl_num_plain(days / MONTH_DAYS, JL_K_NUMBER, JL_T(s->lang, "months", "개월"),
					       JL_ESTIMATED, JL_METHOD);

	jl_doc_num(s->doc, &in_days);
	jl_doc_text(s->doc, " (");
	jl_doc_num(s->doc, &in_months);
	jl_doc_text(s->doc, ")");
}

static void pair_text(struct jl_section *s, const struct jl_cost_pair *pair)
{
	const struct jl_cost_study *study = s->w->study;

	jl_doc_item(s->doc);
	jl_doc_name(s->doc, study->options[pair->dear].name);
	JL_SAY(s, " against ", " 대 ");
	jl_doc_name(s->doc, study->options[pair->cheap].name);
	jl_doc_text(s->doc, ": ");
	if (isnan(pair->days)) {
		JL_SAY(s, "no break-even within the horizon.", "기간 안에 손익분기점이 없음.");
		return;
	}
	JL_SAY(s, "break-even after ", "손익분기 ");
	months(s, pair->days);
	jl_doc_text(s->doc, ".");
	for (size_t i = 0; i < pair->n_swings && i < 2; i++) {
		const struct jl_cost_swing *swing = &pair->swings[i];
		const struct jl_num step = jl_num_given(JL_COST_STEP_FRAC, JL_K_FRACTION, NULL);
		struct jl_num lo = jl_num_plain(swing->lo, JL_K_NUMBER, JL_T(s->lang, "days", "일"), JL_ESTIMATED,
						JL_METHOD),
			      hi = lo;

		hi.value = swing->hi;
		jl_doc_text(s->doc, " ");
		jl_doc_text(s->doc, JL_T(s->lang, swing->en, swing->ko));
		jl_doc_text(s->doc, " ±");
		jl_doc_num(s->doc, &step);
		jl_doc_text(s->doc, ": ");
		jl_doc_num(s->doc, &lo);
		jl_doc_text(s->doc, " … ");
		jl_doc_num(s->doc, &hi);
		jl_doc_text(s->doc, ".");
	}
}

static void assumptions(struct jl_section *s)
{
	const struct jl_cost_study *study = s->w->study;
	const enum jl_origin util_origin = s->w->util_assumed ? JL_ESTIMATED : JL_ORIGIN_NONE;
	const struct jl_num util = jl_num_plain((double)study->setting.util_ppm / 1e6, JL_K_FRACTION, NULL, util_origin,
						NULL),
			    horizon = jl_num_given((double)study->setting.horizon_days, JL_K_NUMBER,
						   JL_T(s->lang, "days", "일"));

	jl_doc_para(s->doc);
	JL_SAY(s, "Used ", "가동률 ");
	jl_doc_num(s->doc, &util);
	JL_SAY(s, " of all hours over ", ", 기간 ");
	jl_doc_num(s->doc, &horizon);
	if (study->setting.tariff) {
		JL_SAY(s, ", electricity by the tariff ", ", 전기 요금제 ");
		jl_doc_name(s->doc, study->setting.tariff);
	} else {
		const bool krw = study->setting.per_kWh.currency == JL_KRW;
		const struct jl_num price = jl_num_plain(jl_money_value(study->setting.per_kWh) / 3.6e6,
							 krw ? JL_K_KRW_ENERGY : JL_K_USD_ENERGY, NULL,
							 s->w->kwh_assumed ? JL_ESTIMATED : JL_ORIGIN_NONE, NULL);
		JL_SAY(s, ", electricity at ", ", 전기 단가 ");
		jl_doc_num(s->doc, &price);
	}
	jl_doc_text(s->doc, ".");
}

void jl_section_cost(struct jl_section *s)
{
	if (!s->w->study)
		return;
	jl_section_open(s, "cost", "Cost over time", "기간별 비용");
	assumptions(s);
	cost_chart(s);
	options_table(s);
	for (size_t i = 0; i < s->w->study->n_pairs; i++)
		pair_text(s, &s->w->study->pairs[i]);
}
