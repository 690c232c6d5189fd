/* Expert rules: rejects a candidate for its software, group size, missing measurements, worst case or old price, and ranks the rest by cost
 * and time, with a penalty for each drawback. Must not know how candidates are shown. */
#include "recommend/inside.h"

#include <math.h>
#include <string.h>

#include "base/units_table.h"
#include "catalog/find.h"
#include "catalog/possible.h"
#include "predict/kind.h"

#define WIDE_TIMES   2.0  /* hi / value of a run's interval above which a candidate is rejected */
#define SEEN_WIDE    3.5  /* the same for an observed run, whose precision is often unknown */
#define HOST_LEAST   8    /* accelerators a host needs to be part of a cluster */
#define COPIES_MOST  8    /* maximum number of replicated serving machines */
#define COMFORT_FRAC 0.25 /* share of the bearable time below which more speed earns no score */
#define SERVE_FRAC   0.6
#define SPREAD_S     3600   /* runs shorter than this are not spread over more machines */
#define SPOT_S       43200  /* runs up to one night carry no extra spot penalty */
#define SMALL_B      11.5e9 /* below the 12 GB of small cards */
#define SPOT_MOST_S  259200
#define COMFORT_S    86400 /* default bearable run time */

static const struct jl_rule *support_of(const struct jl_catalog *cat, const struct jl_gpu *gpu, const char *work)
{
	const char *const subjects[] = { gpu->id, gpu->family, gpu->vendor };
	const char *const names[] = { work, "all" };

	const struct jl_rule *first = NULL;

	/* support rules are contiguous */
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

/* Grace and similar CPUs sit on the GPU's module. */
bool jl_gpu_has_arm_host(const struct jl_gpu *gpu)
{
	return gpu->form_factor && strstr(gpu->form_factor, "superchip") != NULL;
}

/* Name of the work in support.yaml. */
static const char *work_name(const struct jl_work *work)
{
	if (work->ask->task == JL_TASK_TRAIN && !work->ask->seen && work->subject.kind->has_tokens)
		return "train-llm";
	return jl_task_key(work->ask->task);
}

/* True if the parent family was measured: accepted, with a wider interval. */
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

	setup->support = support_of(work->ask->cat, gpu, work_name(work));
	setup->tensor_cores = machine->dev.priors->mixed16 && !(gpu->n_tensor_core.value == 0);
	jl_machine_doubt(&doubt, machine, answer, (struct jl_axes){ .kind = NULL });
	setup->gpu_seen = !(doubt.x[JL_DOUBT_GPU] > 0);
	setup->family_seen = !(doubt.x[JL_DOUBT_FAMILY] > 0) || parent_seen(work->ask->cat, gpu, answer);
}

/* Realistic groups: 1, 2, 4, 8 or a whole system; several hosts only whole, over a listed network. */
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
	/* --max-price-age applies to shop prices too */
	return jl_card_price_stale(gpu, &card, ask->today) &&
	       !((price || system) && ask->rent_days_max > JL_PRICE_STALE_DAYS &&
		 ask->today - day <= ask->rent_days_max);
}

enum jl_against jl_expert_against(const struct jl_candidate *c, const struct jl_recommend_ask *ask)
{
	const struct jl_setup *s = c->setup;
	const bool asked = ask->n_only > 0; /* named by the user: software support is not checked */

	if (jl_offer_is_stale(s->sys.gpu, s->sys.system, c->how, c->price, c->price_day, ask))
		return JL_AGAINST_PRICE;
	/* one interrupted machine stops all; a spot machine rarely lasts many days */
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

/* Maximum number of hosts of a pick: those available on demand; more only on request or if fewer do not suffice. */
double jl_expert_hosts_most(const struct jl_recommendation *r, const struct jl_recommend_ask *ask)
{
	const double months_s = ask->months * JL_MONTH_S;
	int least = 0, done = 0; /* fewest acceptable hosts; fewest that finish in time in the worst case */

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

/* A micro-batch above 1 can shrink if memory is tighter than predicted; a single sample cannot. */
bool jl_expert_has_room(const struct jl_setup *s)
{
	return s->micro_batch > 1 || !(s->memory_hi_frac > JL_TIGHT_FRAC);
}

/* True if another machine is pointless: the load is met in the worst case, or the run is short. */
bool jl_expert_carries(const struct jl_setup *s, const struct jl_recommend_ask *ask)
{
	const double wait_s = isnan(ask->deadline_s) ? ask->wait_s : ask->deadline_s;

	if (s->against)
		return s->against == JL_AGAINST_SPARE;
	if (ask->task == JL_TASK_SERVE)
		return s->per_s.lo >= ask->tokens_per_s && !(s->run_s.hi > wait_s);
	/* the set-up of rented machines counts before the deadline */
	return s->run_s.hi < SPREAD_S && s->run_s.hi + fmax(ask->setup_s, 0) <= wait_s;
}

bool jl_expert_survives(const struct jl_candidate *c, const struct jl_recommend_ask *ask, double stretch)
{
	const struct jl_setup *s = c->setup;
	double wait_s = isnan(ask->deadline_s) ? ask->wait_s : ask->deadline_s;

	if (s->run_s.hi > (ask->seen ? SEEN_WIDE : WIDE_TIMES) * s->run_s.value || !jl_expert_has_room(s))
		return false;
	if (ask->seen && isnan(ask->deadline_s)) /* without a limit, and with a precision that is mostly unknown */
		wait_s = NAN;
	if (ask->task == JL_TASK_SERVE && s->per_s.lo < ask->tokens_per_s)
		return false;
	return !(c->wall_s.hi * stretch > wait_s) && !(c->cost_usd.hi > ask->budget_usd);
}

static double comfort_s(const struct jl_recommend_ask *ask)
{
	if (!isnan(ask->deadline_s))
		return ask->deadline_s;
	if (ask->task == JL_TASK_SERVE) /* for serving, a token faster than required has no benefit */
		return SERVE_FRAC * (isnan(ask->wait_s) ? ask->concurrency / ask->tokens_per_s : ask->wait_s);
	return isnan(ask->wait_s) ? COMFORT_S : COMFORT_FRAC * ask->wait_s;
}

/* ln(cost) + ln(time, down to the comfortable time) + penalties in units of ln(money). Below the comfortable time a faster device still gains a
 * little, more devices gain nothing. */
double jl_expert_score(const struct jl_candidate *c, const struct jl_recommend_ask *ask)
{
	static const double faster = 0.25, doubled = 0.05, hosts = 0.1, spot = 0.15, market = 0.15, used = 0.1,
			    unseen = 0.1, unsure = 0.5, cut = 0.2, hot = 0.15, other = 0.1, arm = 0.15, offloaded = 0.7,
			    small = 0.1, narrow[] = { 0.4, 0.05 };
	const struct jl_setup *s = c->setup;
	const double n = jl_sys_n_devices(&s->sys);
	const double comfort = comfort_s(ask), run_s = c->wall_s.value;
	const bool desk = (c->how == JL_HOW_NEW || c->how == JL_HOW_USED) && !s->sys.system;
	double score = log(c->cost_usd.value) + log(fmax(run_s, comfort));

	score += faster * log(fmin(run_s * n, comfort));
	score += doubled * log2(n) + hosts * (ask->task == JL_TASK_SERVE ? log2(s->sys.n_nodes) : s->sys.n_nodes > 1);
	/* the spot penalty grows with the run */
	score += (c->how == JL_HOW_SPOT ? spot * (1 + log2(fmax(run_s / SPOT_S, 1))) : 0) +
		 (c->how == JL_HOW_USED ? used : 0);
	score += c->price && !jl_price_may_repeat(c->price) ? market : 0;
	score += s->gpu_seen ? 0 : unseen;
	score += unsure * log(s->run_s.hi / s->run_s.value);
	score += s->sys.gpu->vendor && strcmp(s->sys.gpu->vendor, "NVIDIA") != 0 ? other : 0;
	score += jl_gpu_has_arm_host(s->sys.gpu) ? arm : 0;
	score += s->offload ? offloaded : 0;
	/* a bought card should hold larger future models */
	score += desk && s->sys.gpu->mem_B.value < SMALL_B ? small : 0;
	/* desktop cards that exceed one power supply and wall circuit */
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
