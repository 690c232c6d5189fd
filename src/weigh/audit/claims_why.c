/* Why a claim does not follow: the usual mistakes. One is named only where the figure really is what that mistake gives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/claims.h"

struct words_row {
	const char *id, *en, *ko;
};

static const struct words_row reasons[] = {
	{ "larger-batch",
	  "the number of batches was kept although the batch is larger: twice the batch needs half as many",
	  "배치가 커지면 배치 수가 그만큼 줄어야 하는데 배치 수를 그대로 두고 계산함" },
	{ "sparse", "a 2:4 sparse rate, given as if it were dense: dense is half of it",
	  "2:4 희소(sparse) 성능을 dense처럼 적음. dense는 그 절반" },
	{ "bothway", "the sum of both directions, where one direction counts", "양방향 합계를 단방향 대역폭처럼 적음" },
	{ "gib", "GB and GiB are mixed up (7 % apart)", "GB와 GiB를 섞어 씀 (7 % 차이)" },
	{ "bits", "bits and bytes are mixed up (a factor of eight)", "비트와 바이트를 섞어 씀 (8배 차이)" },
	{ "generation",
	  "counts the generations wrong: Turing's was the second, so Ampere's is the third and Hopper's the fourth",
	  "세대를 잘못 셈: 2세대는 Turing이므로 Ampere는 3세대, Hopper는 4세대" },
	{ "generation-link", "the figure of another link generation", "다른 링크 세대의 값" },
	{ "rounding", "rounded more coarsely than it is written", "적힌 자릿수보다 거칠게 반올림함" },
	{ "rounded-input", "reckoned from a figure that had been rounded before", "이미 반올림한 값으로 다시 계산함" },
	{ "column", "taken from another column or row", "다른 열이나 행의 값" },
	{ "mixed-modes", "two modes are mixed: one mode's result over the other mode's base",
	  "서로 다른 방식을 섞음: 한 방식의 결과를 다른 방식의 기준값으로 나눔" },
	{ "other-mode", "the other mode's figure: it is DeepSpeed ZeRO-2's, not DDP's",
	  "다른 방식의 값: DDP가 아니라 DeepSpeed ZeRO-2의 값" },
	{ "one-epoch", "the time of one epoch, where ten epochs are meant", "10 에폭이 아니라 1 에폭의 시간" },
	{ "ends-swapped", "longest minus shortest: the ends of the two ranges do not belong together",
	  "범위의 양 끝을 엇갈려 뺌" },
	{ "month-steps", "a whole year's electricity was added at once and the result rounded up to months of 30 days",
	  "1년치 전기료를 한꺼번에 더하고 30일 단위로 올림함" },
	{ "vector", "the rate without tensor cores", "텐서 코어를 쓰지 않을 때의 성능" },
	{ "other-gpu", "the figure of another GPU", "다른 GPU의 값" },
	{ "fp16-accumulate", "the rate with FP16 accumulation; training accumulates in FP32",
	  "FP16 누산 성능. 학습은 FP32로 누산함" },
	{ "large-n", "only for many GPUs: the factor is 2(n-1)/n, 1 for two GPUs and 1.75 for eight",
	  "GPU가 많을 때만 맞음: 배수는 2(n-1)/n, GPU 2개면 1, 8개면 1.75" },
	{ "whole-in-one", "counts the whole buffer per step; a ring sends 1/n of it",
	  "한 단계에 전체를 보낸다고 봄. 링은 1/n씩 보냄" },
	{ "carried", "follows from a figure that is wrong itself", "앞에서 틀린 값을 그대로 이어서 계산함" },
	{ "whole-system", "the batch of all GPUs together, not of one", "GPU 하나가 아니라 전체를 합친 배치" },
	{ "ring-bounded",
	  "the traffic of one GPU does not grow with n: a ring sends 2(n-1)/n of the buffer, never more than twice",
	  "GPU당 통신량은 n에 비례하지 않음: 링은 2(n-1)/n배, 많아야 두 배" },
	{ "not-reachable", "set against a rate that an all-reduce cannot reach",
	  "All-Reduce가 도달할 수 없는 값과 비교함" },
	{ "whole-year", "a whole year's electricity, where the time is shorter",
	  "기간이 1년보다 짧은데 1년치 전기료를 모두 더함" },
	{ "contradiction", "the text says something else in another place", "같은 글의 다른 곳과 어긋남" },
};

/* What would be needed for a claim that cannot be derived. */
static const struct words_row needs[] = {
	{ "measured", "needs a measurement; the text gives none", "실측이 필요함 (글에 측정값이 없음)" },
	{ "memory", "depends on the model: its parameters and the memory of one sample",
	  "모델의 파라미터 수와 샘플당 메모리를 알아야 함" },
	{ "model", "depends on which model was trained, and in which format",
	  "어떤 모델을 어떤 정밀도로 학습했는지 알아야 함" },
	{ "price", "a price: its date and source are needed", "가격의 날짜와 출처를 알아야 함" },
	{ "source", "no source is given", "출처가 없음" },
	{ "experience", "an opinion from experience: no arithmetic gives it",
	  "경험에서 나온 의견이라 계산으로 확인할 수 없음" },
	{ "benchmark", "needs the benchmark behind it: model, batch, software",
	  "근거가 된 벤치마크(모델, 배치, 소프트웨어)가 필요함" },
	{ "workload", "depends on what is run", "무엇을 돌리는지에 따라 다름" },
	{ "design", "a choice of the author, not a result", "계산 결과가 아니라 글쓴이가 고른 값" },
	{ "setup", "describes the machine: look at the machine", "장비 구성에 대한 설명이라 장비에서 확인해야 함" },
	{ "chip", "a detail of the chip that the catalog does not list", "카탈로그에 없는 칩 세부 사양" },
};

static const char *find_text(const struct words_row *rows, size_t n, const char *id, enum jl_lang lang)
{
	for (size_t i = 0; id && i < n; i++)
		if (strcmp(rows[i].id, id) == 0)
			return JL_T(lang, rows[i].en, rows[i].ko);
	return NULL;
}

const char *jl_claim_reason_text(const char *id, enum jl_lang lang)
{
	return find_text(reasons, sizeof reasons / sizeof reasons[0], id, lang);
}

const char *jl_claim_need_text(const char *id, enum jl_lang lang)
{
	return find_text(needs, sizeof needs / sizeof needs[0], id, lang);
}

/* Is the claim's figure the one that this expression gives? */
static enum jl_status try_expression(bool *ret_fits, const struct jl_claim *c, struct jl_reckon *reckon,
				     const char *text, struct jl_err *err)
{
	struct jl_claim wide = *c;
	struct jl_val v;
	enum jl_status status = jl_expr_eval(&v, reckon, text, err);

	wide.near = fmax(c->near, 0.003 * c->hi); /* 1979 is twice 989 to the person who wrote it */
	*ret_fits = !status && jl_dim_same(&v.dim, &c->unit.dim) && jl_claim_fits(&wide, &v);
	return status == JL_E_ABSENT ? JL_OK : status;
}

/* The same expression with one word replaced: *_dense by *_sparse, oneway by bothway. */
static bool try_replaced(const struct jl_claim *c, struct jl_reckon *reckon, const char *from, const char *to)
{
	const char *at = strstr(c->from, from);
	struct jl_err ignored;
	bool fits = false;
	char *text;

	if (!at ||
	    !(text = jl_arena_printf(reckon->arena, "%.*s%s%s", (int)(at - c->from), c->from, to, at + strlen(from))))
		return false;
	return try_expression(&fits, c, reckon, text, &ignored) == JL_OK && fits;
}

static bool near_ratio(double ratio, double wanted)
{
	return fabs(ratio / wanted - 1) < 0.004;
}

/* To fives or tens of the last digit that is written: 3.6 as 3.5, 118 as 120. */
static bool is_rounded(const struct jl_claim *c)
{
	const double place = pow(10, -c->n_decimals) * c->unit.v;

	for (int tens = 0; tens < 2; tens++) {
		const double step = place * (tens ? 10 : 5);

		if (step < 0.2 * c->result.v && fabs(nearbyint(c->result.v / step) * step - c->lo) < 1e-6 * step)
			return true;
	}
	return false;
}

/* Without a hint: what the ratio and the expression themselves betray. */
static const char *guess(const struct jl_claim *c, struct jl_reckon *reckon)
{
	const double claimed = (c->lo + c->hi) / 2, ratio = claimed / c->result.v;
	const bool bytes = c->result.dim.e[JL_DIM_B] == 1;

	if (try_replaced(c, reckon, "_fp32acc_dense", "_sparse") || try_replaced(c, reckon, "_dense", "_sparse"))
		return "sparse";
	if (try_replaced(c, reckon, "_fp32acc_dense", "_dense"))
		return "fp16-accumulate";
	if (try_replaced(c, reckon, "oneway", "bothway"))
		return "bothway";
	if (bytes && (near_ratio(ratio, 1.073741824) || near_ratio(ratio, 1 / 1.073741824)))
		return "gib";
	if (bytes && (near_ratio(ratio, 8) || near_ratio(ratio, 0.125)))
		return "bits";
	if (c->bound == JL_CLAIM_IS && *c->unit_text && !c->is_range && is_rounded(c))
		return "rounding";
	return NULL;
}

enum jl_status jl_claim_explain(struct jl_claim *c, struct jl_reckon *reckon, struct jl_err *err)
{
	const char *expression = NULL;

	for (const struct jl_yaml *item = c->instead ? c->instead->items : NULL; item && !c->reason;
	     item = item->next) {
		struct jl_err inner;
		bool fits;
		enum jl_status status = try_expression(&fits, c, reckon, item->text, &inner);

		if (status)
			return jl_fail_at(err, status, &item->where, "%s%.0s", "%.0s%s", inner.en, inner.ko);
		if (fits) {
			c->reason = item->key;
			expression = item->text;
		}
	}
	if (!c->reason)
		c->reason = guess(c, reckon);
	c->taken_from = expression;
	if (c->reason) {
		snprintf(c->why_en, sizeof c->why_en, "%s", jl_claim_reason_text(c->reason, JL_EN));
		snprintf(c->why_ko, sizeof c->why_ko, "%s", jl_claim_reason_text(c->reason, JL_KO));
	}
	return JL_OK;
}
