/* What to know before taking a candidate. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "catalog/find.h"
#include "cost/money.h"
#include "recommend/inside.h"

struct list {
	struct jl_caveat *items;
	size_t n;
};

__attribute__((format(printf, 3, 5), format(printf, 4, 5))) static void add(struct list *list, const char *key,
									    const char *en, const char *ko, ...)
{
	struct jl_caveat *c = &list->items[list->n];
	va_list args;

	if (list->n == JL_CAVEATS_MAX)
		return;
	list->n++;
	c->key = key;
	va_start(args, ko);
	jl_both_text(c->en, c->ko, sizeof(c->en), en, ko, args);
	va_end(args);
}

/* Cards in one box: slots, heat, power. */
static void of_cards(struct list *list, const struct jl_candidate *c, const struct jl_catalog *cat)
{
	const struct jl_sys *sys = &c->setup->sys;
	const struct jl_gpu *gpu = sys->gpu;
	const double slots = isnan(gpu->n_slots.value) ? 2 : gpu->n_slots.value, all = slots * sys->n_per_node;
	const double cards_W = gpu->tdp_W.value * sys->n_per_node;

	if (sys->n_per_node > 1 && all > jl_figure(cat, "build-case-slots-most"))
		add(list, "slots", "%d cards of %g slots need a server chassis or risers; check with jeoul build",
		    "%d장 x %g슬롯: 서버 섀시나 라이저가 필요. jeoul build로 점검", sys->n_per_node, slots);
	else if (sys->n_per_node > 1 && slots > 2)
		add(list, "cooling", "%d open-air cards of %g slots: leave a slot between them or they throttle",
		    "%d장 x %g슬롯 개방형: 사이를 띄우지 않으면 스로틀링", sys->n_per_node, slots);
	if (cards_W > jl_figure(cat, "build-psu-standard"))
		add(list, "power", "the cards alone draw %.1f kW: more than one standard power supply and wall circuit",
		    "카드만 %.1f kW: 표준 파워와 벽면 회로 하나로는 부족", cards_W / 1e3);
}

static void of_links(struct list *list, const struct jl_candidate *c)
{
	const struct jl_sys *sys = &c->setup->sys;

	if (sys->n_per_node > 1 && sys->join && sys->join->topology && strcmp(sys->join->topology, "host") == 0)
		add(list, "p2p", "no peer-to-peer: gradients cross host memory; the time counts it",
		    "P2P 미지원: 그래디언트가 호스트 메모리를 거침 (시간에 반영됨)");
	if (sys->n_nodes > 1 && sys->net && sys->net_assumed)
		add(list, "network", "hosts joined by %dx %s: assumed, and not in the price of bought machines",
		    "호스트 연결 %dx %s은(는) 가정이며 구매 가격에 없음", sys->n_net, sys->net->id);
}

static void of_price(struct list *list, const struct jl_candidate *c, const struct jl_recommend_ask *ask)
{
	const long age = ask->today - c->price_day;
	char days[JL_MONEY_TEXT_MAX], host[JL_MONEY_TEXT_MAX];

	if (age > JL_RECOMMEND_OLD_DAYS && age < 36000)
		add(list, "price-age", "price of %s%.0s: %s days old", "가격 시점 %.0s%s: %s일 지남",
		    c->price_date ? c->price_date : "launch", c->price_date ? c->price_date : "출시",
		    jl_grouped(days, (double)age));
	if (c->how == JL_HOW_NEW && !c->price && !c->setup->sys.system)
		add(list, "list-price", "list price at launch: shops may ask more",
		    "출시 가격 기준: 실제 판매가는 더 높을 수 있음");
	if (c->host_usd > 0)
		add(list, "host-price", "of the price, %s USD are assumed for the host around the cards",
		    "가격 중 %s USD는 본체 값으로 가정", jl_grouped(host, c->host_usd));
	if (c->how == JL_HOW_USED)
		add(list, "used", "used: no warranty, and prices differ from seller to seller",
		    "중고: 보증이 없고 판매자마다 가격이 다름");
}

size_t jl_recommend_caveats(struct jl_caveat ret_caveats[JL_CAVEATS_MAX], const struct jl_candidate *c,
			    const struct jl_recommend_ask *ask)
{
	struct list list = { .items = ret_caveats };
	const struct jl_sys *sys = &c->setup->sys;
	const bool bought = c->how == JL_HOW_NEW || c->how == JL_HOW_USED;
	const double asked = ask->task == JL_TASK_SERVE ? NAN : ask->seen ? ask->seen->batch : ask->run.global_batch;

	if (c->at_risk)
		add(&list, "deadline", "in time only as predicted: the slow end of the interval is too late",
		    "예측대로일 때만 제때 끝남: 구간의 느린 쪽은 늦음");
	if (c->how == JL_HOW_SPOT)
		add(&list, "spot",
		    "spot: may be taken away at any time; 5 %%/h, 30 min lost and 10 min back are assumed",
		    "스팟: 언제든 회수될 수 있음. 시간당 5 %%, 30분 손실, 복구 10분으로 가정");
	if (bought && !sys->system && sys->n_per_node > 1)
		of_cards(&list, c, ask->cat);
	of_links(&list, c);
	if (asked > 0 && c->setup->global_batch != asked)
		add(&list, "batch", "a step takes %g samples, not %g: what %g devices share evenly",
		    "스텝당 배치 %g (요청 %g): 장치 %g개로 고르게 나눈 값", c->setup->global_batch, asked,
		    (double)sys->n_per_node * sys->n_nodes);
	if (c->setup->memory_frac > JL_TIGHT_FRAC)
		add(&list, "memory", "memory is tight: %.0f %% of the device", "메모리 여유 없음: 장치의 %.0f %%",
		    c->setup->memory_frac * 100);
	if (c->setup->offload)
		add(&list, "offload", "fits only with states and weights in host memory: slow, needs much RAM",
		    "상태와 가중치를 호스트 메모리에 둬야 들어감: 느리고 RAM이 많이 필요");
	if (ask->task == JL_TASK_SERVE && c->setup->weight_bits < 16)
		add(&list, "format", "weights in %g bits: check that the answers are still good enough",
		    "가중치 %g비트: 답변 품질을 확인하세요", c->setup->weight_bits);
	if (sys->gpu->vendor && strcmp(sys->gpu->vendor, "NVIDIA") != 0)
		add(&list, "software", "%s: not every CUDA program runs there", "%s: CUDA 프로그램이 모두 돌지는 않음",
		    sys->gpu->vendor);
	if (!c->setup->device_fitted && ask->task == JL_TASK_SERVE)
		add(&list, "fit", "no measurements of its family under load: those of single requests",
		    "이 계열의 부하 측정값이 없어 단일 요청 측정값을 씀");
	else if (!c->setup->device_fitted)
		add(&list, "fit", "no measurements of this accelerator: its family's values",
		    "이 가속기의 측정값이 없어 같은 계열의 값을 씀");
	of_price(&list, c, ask);
	return list.n;
}
