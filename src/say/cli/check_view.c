#include "cli/check_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/predict_view.h"
#include "cli/store_view.h"
#include "cli/view.h"

#define ROWS_SHOWN 40
#define BAND       52 /* columns of the chart */

/* What is shown of it: the figure that was judged, or for collectives that mostly start and wait, their time. */
struct shown {
	const char *metric;
	double value;
	struct jl_expect expect;
	bool is_time;
};

static struct shown shown_of(const struct jl_judged *j)
{
	const double size_B = j->coll.c.size_B;

	if (!j->is_coll || !j->coll.by_time || j->before || j->verdict == JL_VERDICT_IMPOSSIBLE)
		return (struct shown){ .metric = j->metric, .value = j->figure.value, .expect = j->expect };
	return (struct shown){ .metric = "time_s",
			       .value = size_B / j->figure.value,
			       .expect = { .lo = size_B / j->expect.hi,
					   .value = size_B / j->expect.value,
					   .hi = size_B / j->expect.lo,
					   .bound = NAN },
			       .is_time = true };
}

/* "112–202 GB/s", in the unit of the upper end. */
static const char *range_text(char out[JL_STORE_VIEW_TEXT_MAX], const struct shown *s)
{
	char lo[JL_STORE_VIEW_TEXT_MAX], hi[JL_STORE_VIEW_TEXT_MAX];
	const char *unit;

	out[0] = '\0';
	if (isnan(s->expect.lo) || isnan(s->expect.hi))
		return out;
	(void)jl_store_view_value(hi, s->metric, s->expect.hi);
	(void)jl_store_view_value(lo, s->metric, s->expect.lo);
	unit = strchr(hi, ' ');
	if (unit && strchr(lo, ' ') && strcmp(strchr(lo, ' '), unit) == 0)
		*strchr(lo, ' ') = '\0';
	(void)snprintf(out, JL_STORE_VIEW_TEXT_MAX, "%.60s–%.60s", lo, hi);
	return out;
}

/* ---- one in full */

static size_t column_of(double value, double top)
{
	const double at = value / top * (BAND - 1);

	return at < 0 ? 0 : at > BAND - 1 ? BAND - 1 : (size_t)(at + 0.5);
}

/* 0 ───────┤▒▒▒▒▒▒▒▒├────┃ with the figure below it. */
static void band(struct jl_cli *cli, const struct shown *s)
{
	const struct jl_expect *e = &s->expect;
	const bool bounded = !isnan(e->bound) && e->bound < 3 * fmax(e->hi, s->value);
	const double top = 1.02 * fmax(fmax(e->hi, s->value), bounded ? e->bound : 0);
	const size_t lo = column_of(e->lo, top), hi = column_of(e->hi, top), at = column_of(s->value, top);
	const size_t bound = bounded ? column_of(e->bound, top) : BAND;
	char text[JL_STORE_VIEW_TEXT_MAX], end[JL_STORE_VIEW_TEXT_MAX];
	const size_t indent = 12, width = jl_utf8_width(jl_store_view_value(text, s->metric, s->value));

	jl_buf_printf(&cli->out, "%*s0 ", (int)indent, "");
	for (size_t i = 0; i < BAND && i <= bound; i++)
		jl_buf_puts(&cli->out, i == bound ? "┃" : i == lo ? "┤" : i == hi ? "├" : i > lo && i < hi ? "▒" : "─");
	if (bounded)
		jl_buf_printf(&cli->out, " %s", jl_store_view_value(end, s->metric, e->bound));
	jl_buf_puts(&cli->out, "\n");
	if (at + 2 + width < BAND + 10)
		jl_buf_printf(&cli->out, "%*s▲ %s\n", (int)(indent + 2 + at), "", text);
	else
		jl_buf_printf(&cli->out, "%*s%s ▲\n", (int)(indent + 2 + at - 1 - width), "", text);
}

/* Against the middle of the range: rates are lower or higher, times longer or shorter. */
static void say_place(struct jl_cli *cli, const struct jl_judged *j, const struct shown *s)
{
	static const struct {
		const char *en, *ko;
	} words[2][2] = {
		{ { "%s: expected %s, %.0f %% below the middle of it", "%s: 예상 범위 %s, 중간값보다 %.0f %% 낮음" },
		  { "%s: expected %s, %.0f %% above the middle of it", "%s: 예상 범위 %s, 중간값보다 %.0f %% 높음" } },
		{ { "%s: expected %s, %.0f %% shorter than the middle of it",
		    "%s: 예상 범위 %s, 중간값보다 %.0f %% 짧음" },
		  { "%s: expected %s, %.0f %% longer than the middle of it",
		    "%s: 예상 범위 %s, 중간값보다 %.0f %% 긺" } }
	};
	const enum jl_lang lang = cli->lang;
	const double off = 100 * (s->value / s->expect.value - 1);
	const char *word = jl_verdict_word(j->verdict, lang);
	char range[JL_STORE_VIEW_TEXT_MAX];

	(void)range_text(range, s);
	if (jl_verdict_at_edge(&j->figure, &j->expect))
		jl_view_entry(cli, "Verdict", "판정",
			      isnan(j->figure.lo95)
				      ? JL_T(lang, "%s, at the edge: expected %s, and %.0f %% of doubt in the figure",
					     "%s, 경계: 예상 범위 %s, 측정 오차 %.0f %%까지 허용")
				      : JL_T(lang, "%s, at the edge: expected %s, and its own interval reaches into it",
					     "%s, 경계: 예상 범위 %s, 측정값의 신뢰 구간이 걸침"),
			      word, range, 100 * JL_VERDICT_EDGE_FRAC);
	else if (fabs(off) < 0.5)
		jl_view_entry(cli, "Verdict", "판정",
			      JL_T(lang, "%s: expected %s, in the middle of it", "%s: 예상 범위 %s, 중간값과 같음"),
			      word, range);
	else
		jl_view_entry(cli, "Verdict", "판정",
			      JL_T(lang, words[s->is_time][off > 0].en, words[s->is_time][off > 0].ko), word, range,
			      fabs(off));
}

static void say_verdict(struct jl_cli *cli, const struct jl_judged *j, const struct shown *s)
{
	const enum jl_lang lang = cli->lang;
	char text[JL_STORE_VIEW_TEXT_MAX], ratio[32];
	const char *word = jl_verdict_word(j->verdict, lang);

	if (j->before) {
		(void)snprintf(ratio, sizeof(ratio), "%+.1f %%", 100 * (j->change.ratio - 1));
		jl_view_entry(cli, "Verdict", "판정",
			      JL_T(lang, "%s: %s against %s then", "%s: 이전 대비 %s (이전 %s)"), word, ratio,
			      jl_store_view_value(text, j->metric, j->expect.value));
	} else if (j->verdict == JL_VERDICT_IMPOSSIBLE) {
		jl_view_entry(cli, "Verdict", "판정", JL_T(lang, "%s: above the bound of %s", "%s: 한계 %s를 넘음"),
			      word, jl_store_view_value(text, j->metric, j->expect.bound));
	} else if (isnan(s->expect.lo) || isnan(s->expect.hi)) {
		jl_view_entry(cli, "Verdict", "판정", "%s%s", word,
			      j->verdict == JL_VERDICT_FIRST ? JL_T(lang, "; kept as the first", "; 첫 기준으로 보관")
							     : "");
	} else {
		say_place(cli, j, s);
	}
}

static void why_collective(struct jl_cli *cli, const struct jl_judged *j)
{
	const struct jl_collective_case *c = &j->coll.c;
	const enum jl_lang lang = cli->lang;
	const bool reduce = c->kind == JL_ALLREDUCE && !c->in_network;

	if (j->verdict == JL_VERDICT_IMPOSSIBLE) {
		jl_view_entry(cli, "Why", "이유", "%s",
			      reduce && c->n_nodes > 1
				      ? JL_T(lang,
					     "every byte has to leave and to enter each host nearly twice; no "
					     "algorithm without "
					     "reduction in the network can beat this bound",
					     "모든 바이트가 호스트를 거의 두 번씩 드나들어야 함. 네트워크 내 리덕션 "
					     "없이는 어떤 "
					     "알고리즘도 이 한계를 넘을 수 없음")
				      : JL_T(lang,
					     "no algorithm moves the bytes faster than the listed rate of the links",
					     "어떤 알고리즘도 링크의 명시된 속도보다 빨리 보낼 수 없음"));
		return;
	}
	if (j->coll.by_time) {
		jl_view_entry(cli, "Why", "이유",
			      JL_T(lang, "so small that starting and waiting take most of it (%.0f steps, %s)",
				   "크기가 작아 시작과 대기가 시간의 대부분 (%.0f단계, %s)"),
			      c->n_steps, jl_algorithm_name(c->algorithm));
		return;
	}
	jl_view_entry(cli, "Why", "이유",
		      c->limit == JL_LIMIT_NETWORK
			      ? JL_T(lang, "%.0f %% of the bound; bound by the network between hosts (%.0f steps, %s)",
				     "한계의 %.0f %%. 호스트 사이 네트워크가 병목 (%.0f단계, %s)")
			      : JL_T(lang, "%.0f %% of the bound; bound by the links inside the host (%.0f steps, %s)",
				     "한계의 %.0f %%. 호스트 내부 링크가 병목 (%.0f단계, %s)"),
		      100 * j->figure.value / c->bound_Bps, c->n_steps, jl_algorithm_name(c->algorithm));
}

/* Where the step's time went, as far as the record says. */
static void why_train(struct jl_cli *cli, const struct jl_judged *j)
{
	const double step_s = jl_figure_of(j->record, "step_s").value,
		     exposed = jl_figure_of(j->record, "exposed_s").value / step_s,
		     gemm = jl_figure_of(j->record, "gemm_frac").value;
	const bool alone = !(jl_record_number(j->record, "n_workers") > 1);

	if (!isnan(gemm) && (alone || isnan(exposed)))
		jl_view_entry(cli, "Why", "이유",
			      JL_T(cli->lang, "%.0f %% of the rate that this machine's own matrix product reaches",
				   "이 장비 행렬곱 속도의 %.0f %%"),
			      100 * gemm);
	else if (!isnan(exposed) && !isnan(gemm))
		jl_view_entry(cli, "Why", "이유",
			      JL_T(cli->lang,
				   "%.0f %% of a step waits for other workers; %.0f %% of the matrix product's rate",
				   "스텝의 %.0f %%가 다른 워커를 기다린 시간. 행렬곱 속도의 %.0f %%"),
			      100 * exposed, 100 * gemm);
	else if (!isnan(exposed))
		jl_view_entry(cli, "Why", "이유",
			      JL_T(cli->lang, "%.0f %% of a step waits for other workers",
				   "스텝의 %.0f %%가 다른 워커를 기다린 시간"),
			      100 * exposed);
}

static void explain_bandwidths(struct jl_cli *cli, const struct jl_judged *j)
{
	static const char *const factors[JL_N_COLLECTIVE] = { [JL_ALLREDUCE] = "2(n-1)/n",
							      [JL_ALLGATHER] = "(n-1)/n",
							      [JL_REDUCESCATTER] = "(n-1)/n",
							      [JL_ALLTOALL] = "(n-1)/n" };
	const struct jl_collective_case *c = &j->coll.c;
	const enum jl_lang lang = cli->lang;

	jl_view_entry(
		cli, "algbw", "algbw", "%s",
		JL_T(lang, "size / time: what a program waits for", "크기 / 시간: 프로그램이 실제로 기다리는 속도"));
	if (factors[c->kind])
		jl_view_entry(cli, "busbw", "busbw",
			      JL_T(lang, "algbw x %s = algbw x %.4g with n = %d: the rate that each link carries",
				   "algbw x %s = algbw x %.4g (n = %d): 링크 하나가 실제로 나르는 속도"),
			      factors[c->kind], c->busbw_factor, c->n_ranks);
	else
		jl_view_entry(cli, "busbw", "busbw", "%s",
			      JL_T(lang, "the same as algbw for this collective", "이 집합 통신에서는 algbw와 같음"));
}

static void how_sure(struct jl_cli *cli, const struct jl_judged *j)
{
	const enum jl_lang lang = cli->lang;
	const struct shown near = { .metric = "time_s",
				    .expect = { .lo = j->coll.near_lo_s, .hi = j->coll.near_hi_s } };
	char range[JL_STORE_VIEW_TEXT_MAX];

	switch (j->basis) {
	case JL_BASIS_MODEL:
		if (strcmp(j->record->kind, "net") == 0)
			jl_view_entry(
				cli, "By", "근거", "%s",
				JL_T(lang,
				     "⚠ what TCP reaches with several streams: one NIC's rate, a host's 40–200 Gb/s",
				     "⚠ 스트림 여러 개의 TCP가 내는 값: NIC 하나의 속도, 호스트당 40–200 Gb/s"));
		else if (!j->is_coll)
			jl_view_entry(cli, "By", "근거", "%s",
				      JL_T(lang,
					   "⚠ the model's interval, checked on published figures of single devices",
					   "⚠ 모델 추정 구간 (단일 장치의 공개 측정으로 검증)"));
		else if (j->coll.n_near && j->coll.by_time)
			jl_view_entry(cli, "By", "근거",
				      JL_T(lang, "⚠ the model's 95 %% interval · 📄 %zu published rows near it: %s",
					   "⚠ 모델의 95 %% 구간 · 📄 비슷한 공개 측정 %zu건: %s"),
				      j->coll.n_near, range_text(range, &near));
		else if (j->coll.n_near)
			jl_view_entry(cli, "By", "근거",
				      JL_T(lang,
					   "⚠ the model's 95 %% interval · 📄 %zu published rows near it: %.0f–%.0f %% "
					   "of their bound",
					   "⚠ 모델의 95 %% 구간 · 📄 비슷한 공개 측정 %zu건: 각자 한계의 %.0f–%.0f %%"),
				      j->coll.n_near, 100 * j->coll.near_lo_frac, 100 * j->coll.near_hi_frac);
		else
			jl_view_entry(
				cli, "By", "근거", "%s",
				JL_T(lang,
				     "⚠ the model's 95 % interval · 📄 no published row near it (links, hosts, size)",
				     "⚠ 모델의 95 % 구간 · 📄 비슷한 공개 측정(링크, 호스트 수, 크기)은 없음"));
		break;
	case JL_BASIS_HISTORY:
		jl_view_entry(cli, "By", "근거",
			      JL_T(lang, "✅ %zu earlier undisturbed results of this machine",
				   "✅ 이 장비의 이전 결과 %zu건 (잡음 없는 것만)"),
			      j->history.n);
		break;
	case JL_BASIS_OWN:
		jl_view_entry(cli, "By", "근거", "%s",
			      JL_T(lang, "✅ rates of this machine alone, measured in the same run",
				   "✅ 같은 실행에서 잰 이 장비의 행렬곱·복사·all-reduce 속도"));
		break;
	case JL_BASIS_RUN:
		jl_view_entry(cli, "By", "근거",
			      isnan(j->change.p) ? JL_T(lang, "a change counts from %.0f %% on; intervals %s",
							"변화는 %.0f %%부터 인정. 구간은 %s")
						 : JL_T(lang, "a change counts from %.0f %% on; intervals %s; p = %.2g",
							"변화는 %.0f %%부터 인정. 구간은 %s. p = %.2g"),
			      100 * j->change.least,
			      j->change.apart ? JL_T(lang, "apart", "서로 떨어짐") : JL_T(lang, "touch", "겹침"),
			      j->change.p);
		break;
	case JL_BASIS_NONE: break;
	}
	if (j->is_coll && j->coll.c.n_nodes > 1 && j->sys->net_assumed)
		jl_view_entry(cli, "Assumed", "가정",
			      JL_T(lang, "network %d x %s: name yours with over in --on",
				   "네트워크 %d x %s. 다르면 --on에 over로 적어 주세요"),
			      j->sys->n_net, j->sys->net->id);
}

static void title(struct jl_cli *cli, const struct jl_judged *j)
{
	const enum jl_lang lang = cli->lang;
	const struct shown s = shown_of(j);
	char what[JL_STORE_VIEW_TEXT_MAX], value[JL_STORE_VIEW_TEXT_MAX], busbw[JL_STORE_VIEW_TEXT_MAX];
	char time[JL_STORE_VIEW_TEXT_MAX];

	(void)jl_store_view_value(value, j->metric, j->figure.value);
	if (j->is_coll) {
		const struct jl_collective_case *c = &j->coll.c;

		(void)jl_store_view_value(busbw, "busbw_Bps", j->figure.value * c->busbw_factor);
		(void)jl_units_text(what, c->size_B, JL_K_BYTES, 4);
		jl_buf_printf(&cli->out, "%s%s %s%s · ", jl_view_bold(cli), jl_collective_name(c->kind), what,
			      jl_view_reset(cli));
		jl_buf_printf(&cli->out, JL_T(lang, "%d host%s x %d · ", "호스트 %d대%.0s x %d · "), c->n_nodes,
			      c->n_nodes == 1 ? "" : "s", c->n_per_node);
		if (s.is_time)
			jl_buf_printf(&cli->out, "%s (algbw %s)\n", jl_store_view_value(time, s.metric, s.value),
				      value);
		else
			jl_buf_printf(&cli->out, "algbw %s (busbw %s)\n", value, busbw);
	} else {
		(void)jl_store_view_what(what, j->record, lang);
		jl_buf_printf(&cli->out, "%s%s%s%s%s · %s%s%s\n", jl_view_bold(cli), j->record->kind, *what ? " " : "",
			      what, jl_view_reset(cli), value, j->sys ? " · " : "", j->sys ? j->sys->text : "");
	}
	jl_buf_puts(&cli->out, "\n");
}

static void in_full(struct jl_cli *cli, const struct jl_judged *j)
{
	const enum jl_lang lang = cli->lang;
	const struct shown s = shown_of(j);
	char value[JL_STORE_VIEW_TEXT_MAX];

	say_verdict(cli, j, &s);
	if (!isnan(j->expect.lo) && !j->before)
		band(cli, &s);
	if (j->bound_en && !s.is_time)
		jl_view_entry(cli, "Bound", "한계", "%s: %s", jl_store_view_value(value, j->metric, j->expect.bound),
			      JL_T(lang, j->bound_en, j->bound_ko));
	if (strcmp(j->record->kind, "train") == 0)
		why_train(cli, j);
	if (j->is_coll)
		why_collective(cli, j);
	else if (j->bound_en && j->verdict != JL_VERDICT_IMPOSSIBLE)
		jl_view_entry(cli, "Why", "이유", JL_T(lang, "%.0f %% of the bound", "한계의 %.0f %%"),
			      100 * j->figure.value / j->expect.bound);
	if (j->verdict == JL_VERDICT_NOISY)
		jl_view_entry(cli, "Noise", "잡음",
			      JL_T(lang, "%s; measure again on a quiet machine", "%s. 다른 작업이 없을 때 다시 측정"),
			      j->record->noise.why ? j->record->noise.why
						   : JL_T(lang, "the machine was busy", "장비가 바빴음"));
	for (size_t i = 0; i < j->next.n; i++)
		jl_view_entry(cli, i ? NULL : "Next", i ? NULL : "다음", "%zu  %s", i + 1,
			      JL_T(lang, j->next.items[i].en, j->next.items[i].ko));
	how_sure(cli, j);
	if (j->is_coll)
		explain_bandwidths(cli, j);
}

/* ---- many */

static enum jl_status many(struct jl_cli *cli, const struct jl_judged *judged, size_t n, struct jl_err *err)
{
	const enum jl_lang lang = cli->lang;
	const struct jl_table_column columns[] = {
		{ .head = JL_T(lang, "what", "대상"), .flexible = true, .min_width = 16 },
		{ .head = JL_T(lang, "measured", "측정값"), .align = JL_RIGHT },
		{ .head = JL_T(lang, judged[0].before ? "before" : "expected", judged[0].before ? "이전" : "예상"),
		  .align = JL_RIGHT },
		{ .head = JL_T(lang, "verdict", "판정") },
	};
	struct jl_table table;

	jl_table_init(&table, &cli->arena, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < n && i < ROWS_SHOWN; i++) {
		const struct jl_judged *j = &judged[i];
		const struct shown s = shown_of(j);
		char text[JL_STORE_VIEW_TEXT_MAX];

		jl_table_printf(&table, "%s %s", j->record->kind, jl_store_view_what(text, j->record, lang));
		jl_table_cell(&table, jl_store_view_value(text, s.metric, s.value));
		jl_table_cell(&table,
			      j->before ? jl_store_view_value(text, j->metric, j->expect.value) : range_text(text, &s));
		if (j->before && j->verdict != JL_VERDICT_NOISY)
			jl_table_printf(&table, "%s (%+.1f %%)", jl_verdict_word(j->verdict, lang),
					100 * (j->change.ratio - 1));
		else if (!j->before && jl_verdict_at_edge(&j->figure, &j->expect))
			jl_table_printf(&table, JL_T(lang, "%s (edge)", "%s (경계)"),
					jl_verdict_word(j->verdict, lang));
		else
			jl_table_cell(&table, jl_verdict_word(j->verdict, lang));
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static void count(struct jl_cli *cli, const struct jl_judged *judged, size_t n)
{
	size_t counts[JL_VERDICT_IMPOSSIBLE + 1] = { 0 };
	bool first = true;

	for (size_t i = 0; i < n; i++)
		counts[judged[i].verdict]++;
	for (int v = JL_VERDICT_IMPOSSIBLE; v >= 0; v--)
		if (counts[v]) {
			jl_buf_printf(&cli->out, JL_T(cli->lang, "%s%zu %s", "%s%zu건 %s"), first ? "" : " · ",
				      counts[v], jl_verdict_word((enum jl_verdict)v, cli->lang));
			first = false;
		}
	jl_buf_puts(&cli->out, "\n");
}

/* "measured 5 min to 3 d ago": a verdict on old figures must look like one. */
static void say_age(struct jl_cli *cli, const struct jl_judged *judged, size_t n)
{
	double least_s = INFINITY, most_s = 0;
	char from[JL_UNITS_TEXT_MAX], to[JL_UNITS_TEXT_MAX];

	for (size_t i = 0; i < n; i++) {
		if (isnan(judged[i].age_s))
			return;
		least_s = fmin(least_s, fmax(judged[i].age_s, 1));
		most_s = fmax(most_s, fmax(judged[i].age_s, 1));
	}
	jl_units_text(from, least_s, JL_K_TIME, 2);
	jl_units_text(to, most_s, JL_K_TIME, 2);
	if (strcmp(from, to) == 0)
		jl_view_entry(cli, "Measured", "측정", JL_T(cli->lang, "%s ago", "%s 전"), to);
	else
		jl_view_entry(cli, "Measured", "측정", JL_T(cli->lang, "%s to %s ago", "%s – %s 전"), from, to);
}

/* ---- JSON */

static void one_json(struct jl_json *json, const struct jl_judged *j)
{
	const char *suffix = strrchr(j->metric, '_');
	char what[JL_STORE_VIEW_TEXT_MAX];

	jl_json_object(json);
	jl_json_put_string(json, "id", *j->record->id ? j->record->id : NULL);
	jl_json_put_string(json, "kind", j->record->kind);
	jl_json_put_string(json, "what", jl_store_view_what(what, j->record, JL_EN));
	jl_json_put_string(json, "system", j->sys ? j->sys->text : NULL);
	jl_json_put_string(json, "verdict", jl_verdict_name(j->verdict));
	jl_json_put_string(json, "metric", j->metric);
	jl_json_put_string(json, "unit", suffix ? suffix + 1 : "");
	jl_json_put_number(json, "value", j->figure.value);
	jl_json_put_number(json, "value_lo95", j->figure.lo95);
	jl_json_put_number(json, "value_hi95", j->figure.hi95);
	jl_json_put_bool(json, "noisy", j->figure.noisy);
	jl_json_put_number(json, "age_s", j->age_s);
	jl_json_put_string(json, "basis", jl_check_basis_name(j->basis));
	jl_json_put_number(json, "expected_lo", j->expect.lo);
	jl_json_put_number(json, "expected", j->expect.value);
	jl_json_put_number(json, "expected_hi", j->expect.hi);
	jl_json_put_number(json, "bound", j->expect.bound);
	jl_json_put_bool(json, "at_edge", !j->before && jl_verdict_at_edge(&j->figure, &j->expect));
	jl_json_put_string(json, "bound_text", j->bound_en);
	jl_json_put_integer(json, "n_history", (long long)j->history.n);
	if (j->is_coll) {
		jl_json_put_integer(json, "n_nodes", j->coll.c.n_nodes);
		jl_json_put_integer(json, "n_ranks", j->coll.c.n_ranks);
		jl_json_put_number(json, "size_B", j->coll.c.size_B);
		jl_json_put_number(json, "time_s", j->coll.c.size_B / j->figure.value);
		jl_json_put_number(json, "expected_time_lo_s", j->coll.c.size_B / j->expect.hi);
		jl_json_put_number(json, "expected_time_s", j->coll.c.size_B / j->expect.value);
		jl_json_put_number(json, "expected_time_hi_s", j->coll.c.size_B / j->expect.lo);
		jl_json_put_bool(json, "judged_by_time", j->coll.by_time);
		jl_json_put_number(json, "busbw_factor", j->coll.c.busbw_factor);
		jl_json_put_bool(json, "in_network_reduction", j->coll.c.in_network);
		jl_json_put_string(json, "algorithm", jl_algorithm_name(j->coll.c.algorithm));
		jl_json_put_integer(json, "n_published", (long long)j->coll.n_near);
	}
	if (j->before) {
		jl_json_put_string(json, "against", j->before->id);
		jl_json_put_number(json, "ratio", j->change.ratio);
		jl_json_put_number(json, "p", j->change.p);
		jl_json_put_bool(json, "intervals_apart", j->change.apart);
		jl_json_put_number(json, "least_change_frac", j->change.least);
	}
	jl_json_put_array(json, "next");
	for (size_t i = 0; i < j->next.n; i++)
		jl_json_string(json, j->next.items[i].en);
	jl_json_end_array(json);
	jl_json_end_object(json);
}

static void say_unsteady(struct jl_cli *cli, const struct jl_steadiness *s)
{
	if (s->n_jumps)
		jl_buf_printf(
			&cli->out,
			JL_T(cli->lang,
			     "  ~ unsteady: %zu of %zu figures jump between quiet runs here, up to %.1fx;\n"
			     "    ranges are wider (shared host, placement of processes and pages).\n",
			     "  ~ 불안정: 잡음 없는 실행끼리도 %zu개 항목(전체 %zu개)이 최대 %.1f배까지 다릅니다.\n"
			     "    그만큼 범위를 넓혔습니다 (공유 호스트, 프로세스와 페이지 배치).\n"),
			s->n_jumps, s->n_figures, s->worst_times);
}

enum jl_status jl_check_view(struct jl_cli *cli, const struct jl_judged *judged, size_t n, const char *where,
			     const struct jl_steadiness *steadiness, struct jl_err *err)
{
	const struct jl_judged *worst = jl_check_worst(judged, n);
	enum jl_status status;

	if (cli->json) {
		struct jl_json json;

		jl_json_init(&json, &cli->out, true);
		jl_json_object(&json);
		jl_json_put_string(&json, "verdict", jl_verdict_name(worst->verdict));
		jl_json_put_bool(&json, "bad", jl_verdict_is_bad(worst->verdict));
		jl_json_put_bool(&json, "unsteady", steadiness->n_jumps > 0);
		jl_json_put_integer(&json, "n_jumps", (long long)steadiness->n_jumps);
		jl_json_put_array(&json, "results");
		for (size_t i = 0; i < n; i++)
			one_json(&json, &judged[i]);
		jl_json_end_array(&json);
		jl_json_end_object(&json);
		jl_json_finish(&json);
		return JL_OK;
	}
	if (n == 1) {
		title(cli, worst);
		in_full(cli, worst);
		say_age(cli, judged, n);
		say_unsteady(cli, steadiness);
		return JL_OK;
	}
	if (where)
		jl_buf_printf(&cli->out, "%s%s%s · ", jl_view_bold(cli), where, jl_view_reset(cli));
	count(cli, judged, n);
	jl_buf_puts(&cli->out, "\n");
	status = many(cli, judged, n, err);
	if (n > ROWS_SHOWN)
		jl_buf_printf(&cli->out,
			      JL_T(cli->lang, "  ... and %zu more (--json has all)\n",
				   "  ... 그 밖에 %zu건 (--json에 모두 있음)\n"),
			      n - ROWS_SHOWN);
	say_age(cli, judged, n);
	say_unsteady(cli, steadiness);
	if (!status && jl_verdict_weight(worst->verdict) >= jl_verdict_weight(JL_VERDICT_NORMAL)) {
		jl_buf_puts(&cli->out, "\n");
		title(cli, worst);
		in_full(cli, worst);
	}
	return status;
}
