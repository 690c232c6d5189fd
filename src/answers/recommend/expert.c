/* What somebody who knows the field would not sign, and how the rest is ranked: software, sizes of groups, how well it is known, the worst
 * end of its interval, the age of its price; then cost and time at their knee, with what is awkward counted as if it cost more. */
#include "recommend/inside.h"

#include <math.h>
#include <string.h>

#include "base/units_table.h"
#include "catalog/find.h"
#include "catalog/possible.h"
#include "predict/kind.h"

#define WIDE_TIMES   2.0  /* an interval whose slow end is further off decides nothing */
#define SEEN_WIDE    3.5  /* the same of a run that was observed: its format is often not known */
#define HOST_LEAST   8    /* accelerators of a host that is one of several: parts of hosts are not joined to clusters */
#define COPIES_MOST  8    /* machines beside each other that serve */
#define COMFORT_FRAC 0.25 /* of what a purpose bears: faster than this nobody pays for */
#define SERVE_FRAC   0.6
#define SPREAD_S     3600   /* a run that one machine less does in this time is not spread over more */
#define SPOT_S       43200  /* a run that is over in a night may be on spot */
#define SMALL_B      11.5e9 /* less than the 12 GB that small cards have had for years */
#define SPOT_MOST_S  259200
#define COMFORT_S    86400 /* of a run where nobody says how long is bearable */

const struct jl_rule *jl_support_of(const struct jl_catalog *cat, const struct jl_gpu *gpu, const char *work)
{
	const char *const subjects[] = { gpu->id, gpu->family, gpu->vendor };
	const char *const names[] = { work, "all" };

	const struct jl_rule *first = NULL;

	/* they stand beside each other */
	for (size_t i = 0; !first && i < cat->n_rules; i++)
		if (strcmp(cat->rules[i].kind, "support") == 0)
			first = &cat->rules[i];
	for (size_t s = 0; first && s < JL_LEN(subjects); s++)
		for (size_t n = 0; n < JL_LEN(names); n++)
			for (const struct jl_rule *r = first; subjects[s] && r < cat->rules + cat->n_rules; r++)
				if (r->subject && strcmp(r->subject, subjects[s]) == 0 &&
				    strcmp(r->name, names[n]) == 0 && strcmp(r->kind, "support") == 0)
					return r;
	return NULL;
}

/* Grace and its like sit on the same module. */
bool jl_gpu_has_arm_host(const struct jl_gpu *gpu)
{
	return gpu->form_factor && strstr(gpu->form_factor, "superchip") != NULL;
}

/* Which row of support.yaml the work asks for. */
static const char *work_name(const struct jl_work *work)
{
	if (work->ask->task == JL_TASK_TRAIN && !work->ask->seen && work->subject.kind->has_tokens)
		return "train-llm";
	return jl_task_key(work->ask->task);
}

/* The family that a GPU's own falls back to: near enough to be trusted with a wider interval. */
static bool parent_seen(const struct jl_catalog *cat, const struct jl_gpu *gpu, enum jl_asked answer)
{
	const struct jl_family *family = jl_family_by_id(cat, gpu->family);

	return family && family->parent && strcmp(gpu->vendor, "NVIDIA") == 0 &&
	       jl_seen(cat, answer, "family", family->parent);
}

void jl_expert_look(struct jl_setup *setup, const struct jl_work *work, const struct jl_machine *machine)
{
	const struct jl_gpu *gpu = setup->sys.gpu;
	struct jl_doubt doubt = { .x = { 0 } };
	const enum jl_asked answer = work->ask->seen ? JL_ASKED_STEP : work->subject.kind->answer;

	setup->support = jl_support_of(work->ask->cat, gpu, work_name(work));
	setup->tensor_cores = machine->dev.priors->mixed16 && !(gpu->n_tensor_core.value == 0);
	jl_machine_doubt(&doubt, machine, answer, NULL);
	setup->gpu_seen = !(doubt.x[JL_DOUBT_GPU] > 0);
	setup->family_seen = !(doubt.x[JL_DOUBT_FAMILY] > 0) || parent_seen(work->ask->cat, gpu, answer);
}

/* 1, 2, 4, 8 or what a whole system has; several hosts only of whole ones, over a network that is theirs. */
bool jl_expert_group(const struct jl_sys *s, const struct jl_recommend_ask *ask)
{
	const int n = s->n_per_node;
	const bool usual = n == 1 || n == 2 || n == 4 || n == 8 || ask->per_node == n ||
			   (s->system && s->system->n_gpu == n);

	if (!usual)
		return false;
	if (ask->task == JL_TASK_SERVE)
		return s->n_nodes <= COPIES_MOST;
	return s->n_nodes == 1 || (n >= HOST_LEAST && !s->net_assumed);
}

bool jl_offer_is_stale(const struct jl_gpu *gpu, bool system, enum jl_how how, const struct jl_price *price, long day,
		       const struct jl_recommend_ask *ask)
{
	const struct jl_card_price card = { 1, price, NULL, day, how == JL_HOW_USED, !price && !system };

	if (how == JL_HOW_RENT || how == JL_HOW_SPOT)
		return ask->today - day > ask->rent_days_max;
	/* whoever allows older rents allows older shop prices too */
	return jl_card_price_stale(gpu, &card, ask->today) &&
	       !((price || system) && ask->rent_days_max > JL_PRICE_STALE_DAYS &&
		 ask->today - day <= ask->rent_days_max);
}

enum jl_against jl_expert_against(const struct jl_candidate *c, const struct jl_recommend_ask *ask)
{
	const struct jl_setup *s = c->setup;
	const bool asked = ask->n_only > 0; /* by name: then the software is the person's affair */

	if (jl_offer_is_stale(s->sys.gpu, s->sys.system, c->how, c->price, c->price_day, ask))
		return JL_AGAINST_PRICE;
	/* one that is taken away stops all; and nobody keeps one for many days, unless it is asked for */
	if (c->how == JL_HOW_SPOT &&
	    (s->sys.n_nodes > 1 || (s->run_s.value > SPOT_MOST_S && ask->hows != 1U << JL_HOW_SPOT)))
		return JL_AGAINST_OFFER;
	if (c->how != JL_HOW_NEW && c->how != JL_HOW_USED && s->sys.n_nodes > 1 && c->price &&
	    !jl_price_may_repeat(c->price))
		return JL_AGAINST_OFFER;
	if (!asked && (!s->tensor_cores || !s->support || strcmp(s->support->value, "yes") != 0))
		return JL_AGAINST_SUPPORT;
	if (!asked && !s->gpu_seen && !s->family_seen)
		return JL_AGAINST_MEASURED;
	return JL_AGAINST_NOTHING;
}

/* Nobody gets 64 hosts because they would be the knee: more than are had on demand only where somebody asks, or fewer will not do. */
double jl_expert_hosts_most(const struct jl_recommendation *r, const struct jl_recommend_ask *ask)
{
	const double months_s = ask->months * JL_MONTH_S;
	int least = 0, done = 0; /* hosts that will do at all; that are surely done within the time that is paid for */

	if (ask->gpus_max || !isnan(ask->deadline_s))
		return INFINITY;
	for (size_t i = 0; i < r->n_ok; i++) {
		const struct jl_setup *s = r->items[i].setup;

		least = !least || s->sys.n_nodes < least ? s->sys.n_nodes : least;
		if (ask->task != JL_TASK_SERVE && s->run_s.hi <= months_s)
			done = !done || s->sys.n_nodes < done ? s->sys.n_nodes : done;
	}
	return fmax(done ? done : least, jl_figure(ask->cat, "hosts-on-demand"));
}

/* A pass of several samples can be made smaller where memory is fuller than thought; one of a single sample cannot. */
bool jl_expert_has_room(const struct jl_setup *s)
{
	return s->micro_batch > 1 || !(s->memory_hi_frac > JL_TIGHT_FRAC);
}

/* Serving, at the worst end of its interval, a further machine beside it has nothing to do; a run that is over soon is not spread. */
bool jl_expert_carries(const struct jl_setup *s, const struct jl_recommend_ask *ask)
{
	const double wait_s = isnan(ask->deadline_s) ? ask->wait_s : ask->deadline_s;

	if (s->against)
		return s->against == JL_AGAINST_SPARE;
	if (ask->task == JL_TASK_SERVE)
		return s->per_s.lo >= ask->tokens_per_s && !(s->run_s.hi > wait_s);
	return s->run_s.hi < fmin(SPREAD_S, wait_s);
}

bool jl_expert_survives(const struct jl_candidate *c, const struct jl_recommend_ask *ask, double stretch)
{
	const struct jl_setup *s = c->setup;
	double wait_s = isnan(ask->deadline_s) ? ask->wait_s : ask->deadline_s;

	if (s->run_s.hi > (ask->seen ? SEEN_WIDE : WIDE_TIMES) * s->run_s.value || !jl_expert_has_room(s))
		return false;
	if (ask->seen && isnan(ask->deadline_s)) /* what is bearable was not said, and the format is mostly not known */
		wait_s = NAN;
	if (ask->task == JL_TASK_SERVE && s->per_s.lo < ask->tokens_per_s)
		return false;
	return !(s->run_s.hi * stretch > wait_s) && !(c->cost_usd.hi > ask->budget_usd);
}

static double comfort_s(const struct jl_recommend_ask *ask)
{
	if (!isnan(ask->deadline_s))
		return ask->deadline_s;
	if (ask->task == JL_TASK_SERVE) /* a token that comes in time is as good as one that comes early */
		return SERVE_FRAC * (isnan(ask->wait_s) ? ask->concurrency / ask->tokens_per_s : ask->wait_s);
	return isnan(ask->wait_s) ? COMFORT_S : COMFORT_FRAC * ask->wait_s;
}

/* ln of the cost, and of the time as far as anybody waits for it; a better device is worth something beyond that, more devices are not.
 * What is awkward counts as so much more money (ln). */
double jl_expert_score(const struct jl_candidate *c, const struct jl_recommend_ask *ask)
{
	static const double faster = 0.25, doubled = 0.05, hosts = 0.1, spot = 0.15, market = 0.15, used = 0.1,
			    unseen = 0.1, unsure = 0.5, cut = 0.2, hot = 0.15, other = 0.1, arm = 0.15, offloaded = 0.7,
			    small = 0.1, narrow[] = { 0.4, 0.05 };
	const struct jl_setup *s = c->setup;
	const double n = jl_sys_n_devices(&s->sys);
	const double comfort = comfort_s(ask), run_s = s->run_s.value;
	const bool desk = (c->how == JL_HOW_NEW || c->how == JL_HOW_USED) && !s->sys.system;
	double score = log(c->cost_usd.value) + log(fmax(run_s, comfort));

	score += faster * log(fmin(run_s * n, comfort));
	score += doubled * log2(n) + hosts * (ask->task == JL_TASK_SERVE ? log2(s->sys.n_nodes) : s->sys.n_nodes > 1);
	/* the longer a run, the less anybody wants to be thrown out of it */
	score += (c->how == JL_HOW_SPOT ? spot * (1 + log2(fmax(run_s / SPOT_S, 1))) : 0) +
		 (c->how == JL_HOW_USED ? used : 0);
	score += c->price && !jl_price_may_repeat(c->price) ? market : 0;
	score += s->gpu_seen ? 0 : unseen;
	score += unsure * log(s->run_s.hi / run_s);
	score += s->sys.gpu->vendor && strcmp(s->sys.gpu->vendor, "NVIDIA") != 0 ? other : 0;
	score += jl_gpu_has_arm_host(s->sys.gpu) ? arm : 0;
	score += s->offload ? offloaded : 0;
	/* what is bought has to hold the next model too */
	score += desk && s->sys.gpu->mem_B.value < SMALL_B ? small : 0;
	/* a desk with more cards than one supply and one wall circuit feed; a server has several */
	score += desk && n <= 4 && !jl_gpu_is_passive(s->sys.gpu) &&
				 s->sys.gpu->tdp_W.value * n > jl_figure(ask->cat, "build-psu-standard")
			 ? hot
			 : 0;
	score += s->zero == 3 && s->sys.join && s->sys.join->topology && strcmp(s->sys.join->topology, "host") == 0
			 ? cut
			 : 0;
	if (ask->task == JL_TASK_SERVE && !s->published)
		score += s->weight_bits <= 4 ? narrow[0] : s->weight_bits <= 8 ? narrow[1] : 0;
	return score;
}
