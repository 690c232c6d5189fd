/* Evaluates all candidates and selects the pick, the Pareto front and the alternatives. */
#include "recommend/recommend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/pool.h"
#include "cost/option.h"
#include "predict/kind.h"
#include "recommend/inside.h"

#define SAVE_BPS     1e9 /* checkpoint bandwidth to a network disk */
#define BEATEN_FRAC  0.97
#define ALIKE_FRAC   0.99
#define SEEN_TIMES   2.5  /* times an observed run's duration: slower candidates are rejected */
#define ALIKE_MOST   3    /* maximum number of rejected candidates shown per reason */
#define DEARER_TIMES 1.5  /* without a deadline, limit of the pick's cost relative to the cheapest plain candidate */
#define PLAIN_BITS   8    /* weights of at least this width lose almost no quality */
#define DEAR_TIMES   10.0 /* candidates above this multiple of the cheapest acceptable cost are rejected */

/* Oldest date of a price that is still shown. */
static long oldest_shown(const struct jl_recommend_ask *ask)
{
	return ask->today - 2 * ask->rent_days_max;
}

struct weighing {
	struct jl_setup *setups;
	const struct jl_work *work;
	bool like; /* second pass: copies results of equivalent setups */
};

static void weigh_unit(void *ctx, size_t unit, int thread)
{
	const struct weighing *w = ctx;
	struct jl_setup *setups = &w->setups[unit * jl_n_node_counts];
	const struct jl_sys *largest = &setups[jl_n_node_counts - 1].sys;
	struct jl_machine all, machine;
	struct jl_err ignored;
	size_t n_known = 0;

	(void)thread;
	if ((setups[0].like != NULL) != w->like)
		return;
	if (setups[0].against == JL_AGAINST_NOTHING) /* a single machine needs no known network */
		n_known = !jl_machine_make(&all, w->work->ask->cat, largest, &ignored)          ? jl_n_node_counts
			  : !jl_machine_make(&all, w->work->ask->cat, &setups[0].sys, &ignored) ? 1
												: 0;
	for (size_t i = 0; i < jl_n_node_counts; i++) {
		const bool ok = i < n_known;
		struct jl_setup *s = &setups[i];
		const int n = jl_sys_n_devices(&s->sys);

		s->elapsed_s.value = NAN;
		s->run_s = s->per_s = (struct jl_estimate){ NAN, NAN, NAN };
		s->power_W = s->peak_W = s->memory_B = s->memory_frac = s->memory_hi_frac = NAN;
		if (s->against == JL_AGAINST_PRICE)
			continue;
		s->against = JL_AGAINST_UNKNOWN;
		if (ok && !jl_expert_group(&s->sys, w->work->ask)) {
			s->against = JL_AGAINST_GROUP;
			continue;
		}
		if (i > 0 && jl_expert_carries(&setups[i - 1], w->work->ask)) {
			s->against = JL_AGAINST_SPARE;
			continue;
		}
		if (!ok || jl_machine_take(&machine, &all, n, &ignored))
			continue;
		machine.sys = s->sys;
		s->against = JL_AGAINST_NOTHING;
		jl_setup_weigh(s, w->work, &machine);
	}
}

static const char *unit_text(const struct jl_unit_offered *u, int n_nodes, struct jl_arena *arena)
{
	const char *via = u->join ? " via " : "", *join = u->join ? u->join : "";

	if (u->system)
		return n_nodes == 1 ? u->system->id : jl_arena_printf(arena, "%dx %s", n_nodes, u->system->id);
	if (n_nodes == 1)
		return u->n_per_node == 1 ? u->gpu->id
					  : jl_arena_printf(arena, "%dx %s%s%s", u->n_per_node, u->gpu->id, via, join);
	return jl_arena_printf(arena, "%dx(%dx %s%s%s)", n_nodes, u->n_per_node, u->gpu->id, via, join);
}

/* The first unit with the same accelerators and interconnect: the time per token does not depend on the host. */
static const struct jl_setup *like_of(const struct jl_setup *setups, const struct jl_offers *offers, size_t unit)
{
	const struct jl_sys *own = &setups[unit * jl_n_node_counts].sys;

	for (size_t i = 0; i < unit; i++) {
		const struct jl_setup *s = &setups[i * jl_n_node_counts];

		if (offers->units[i].gpu == offers->units[unit].gpu && !s->against &&
		    s->sys.n_per_node == own->n_per_node && !s->sys.join == !own->join &&
		    (!own->join || strcmp(s->sys.join->topology, own->join->topology) == 0))
			return s;
	}
	return NULL;
}

/* Marks units whose prices are all too old. A slightly old price is still shown if there is no newer one. */
static void find_stale(struct jl_offers *offers, const struct jl_recommend_ask *ask)
{
	for (size_t i = 0; i < offers->n_units; i++)
		offers->units[i].stale = !ask->n_only && offers->units[i].gpu != ask->why_not;
	for (size_t i = 0; i < offers->n; i++) {
		const struct jl_offer *o = &offers->items[i];
		struct jl_unit_offered *u = &offers->units[o->unit];

		u->stale &= jl_offer_is_stale(u->gpu, u->system, o->how, o->price, o->day, ask) &&
			    (o->how == JL_HOW_NEW || o->day < oldest_shown(ask));
	}
}

/* Parses systems of one and of two machines; larger ones are copies of two with another count. */
static enum jl_status make_setups(struct jl_setup *setups, struct jl_offers *offers, const struct jl_recommend_ask *ask,
				  struct jl_arena *arena, struct jl_err *err)
{
	for (size_t i = 0; i < offers->n_units; i++) {
		struct jl_unit_offered *u = &offers->units[i];
		struct jl_sys sys[2] = { 0 };
		struct jl_err why;
		bool ok = true;

		u->first = i * jl_n_node_counts;
		for (int k = 0; ok && k < 2; k++) {
			const char *text = unit_text(u, k + 1, arena);

			JL_TRY(jl_got(text, err));
			ok = jl_sys_parse(&sys[k], ask->cat, text, arena, &why) == JL_OK;
		}
		for (size_t k = 0; k < jl_n_node_counts; k++) {
			struct jl_setup *s = &setups[u->first + k];
			const int n = jl_node_counts[k];

			s->sys = sys[n > 1];
			s->sys.n_nodes = n;
			s->against = !ok ? JL_AGAINST_UNKNOWN : u->stale ? JL_AGAINST_PRICE : JL_AGAINST_NOTHING;
			if (ok && n > 2)
				s->sys.text = unit_text(u, n, arena);
			s->text = s->sys.text;
			if (ok && !s->text)
				return jl_fail_nomem(err);
		}
		const struct jl_setup *like = ok && ask->task == JL_TASK_SERVE ? like_of(setups, offers, i) : NULL;

		for (size_t k = 0; k < jl_n_node_counts; k++)
			setups[u->first + k].like = like ? like + k : NULL;
	}
	return JL_OK;
}

static enum jl_status weigh_all(struct jl_setup *setups, size_t n_units, const struct jl_recommend_ask *ask,
				struct jl_arena *arena, struct jl_err *err)
{
	struct jl_work *work = jl_arena_alloc(arena, sizeof(*work));
	struct weighing w = { .setups = setups, .work = work };
	struct jl_pool *pool;

	JL_TRY(jl_got(work, err));
	work->ask = ask;
	if (!ask->seen)
		JL_TRY(jl_subject_find(&work->subject, ask->cat, &ask->run, arena, err));
	if (!ask->seen && ask->task == JL_TASK_TRAIN && work->subject.kind->refuse)
		JL_TRY(work->subject.kind->refuse(&work->subject, &ask->run, err));
	if (ask->task != JL_TASK_TRAIN && ask->seen)
		return jl_fail(err, JL_E_USAGE,
			       "an observed run gives the training time only: name a model, e.g. llama-3-8b");
	if (ask->task != JL_TASK_TRAIN)
		JL_TRY(jl_subject_check_tokens(&work->subject, ask->task == JL_TASK_LORA, err));
	if (ask->task == JL_TASK_SERVE)
		JL_TRY(jl_serve_prepare(work, arena, err));
	JL_TRY(jl_pool_create(ask->n_threads, &pool, err));
	jl_pool_run(pool, weigh_unit, &w, n_units);
	w.like = true;
	if (ask->task == JL_TASK_SERVE)
		jl_pool_run(pool, weigh_unit, &w, n_units);
	jl_pool_destroy(pool);
	return JL_OK;
}

/* ---- money */

static struct jl_estimate plus_scaled(double fixed, struct jl_estimate by, double each)
{
	return (struct jl_estimate){ fixed + by.value * each, fixed + by.lo * each, fixed + by.hi * each };
}

/* Interruptions lengthen a run on spot machines. Serving on spot is not considered. */
static double overhead_of(const struct jl_candidate *c)
{
	struct jl_cost_option spot = { .kind = JL_COST_SPOT };
	struct jl_err ignored;
	long long ppm;

	if (c->how != JL_HOW_SPOT)
		return 1;
	jl_cost_spot_usual(&spot, c->setup->sys.n_per_node, c->setup->states_B / SAVE_BPS);
	return jl_cost_overhead_ppm(&ppm, &spot, &ignored) ? NAN : (double)ppm / 1e6;
}

/* Hours of all the work, with interval; a server runs all the time. */
static struct jl_estimate work_hours(const struct jl_recommend_ask *ask, const struct jl_candidate *c, double runs)
{
	const double all = ask->months * JL_RECOMMEND_HOURS;

	if (ask->task == JL_TASK_SERVE)
		return (struct jl_estimate){ all, all, all };
	return jl_estimate_times(c->wall_s, runs / 3600);
}

/* Rented machines are set up before each run; own ones are not. */
static struct jl_estimate wall_s(const struct jl_candidate *c, const struct jl_recommend_ask *ask)
{
	const bool rented = c->how == JL_HOW_RENT || c->how == JL_HOW_SPOT;
	const struct jl_setup *s = c->setup;

	return plus_scaled(rented && ask->setup_s > 0 && ask->task != JL_TASK_SERVE ? ask->setup_s : 0,
			   isnan(s->elapsed_s.value) ? s->run_s : s->elapsed_s, 1);
}

static void price(struct jl_candidate *c, const struct jl_recommend_ask *ask, double runs)
{
	const struct jl_setup *s = c->setup;
	const int n = s->sys.n_nodes;

	c->wall_s = wall_s(c, ask);
	const struct jl_estimate hours = jl_estimate_times(work_hours(ask, c, runs), overhead_of(c));
	double fixed = 0, per_hour;

	c->work_h = hours.value;
	c->energy_kWh = s->power_W / 1000 * ask->pue * hours.value;
	if (c->how == JL_HOW_RENT || c->how == JL_HOW_SPOT) {
		per_hour = c->unit_usd * n;
	} else {
		const double all_h = ask->months * JL_RECOMMEND_HOURS;
		const double share = isnan(ask->util_frac) ? 1 : fmin(1, hours.value / (ask->util_frac * all_h));

		fixed = c->unit_usd * n * share;
		per_hour = isnan(s->power_W) ? 0 : s->power_W / 1000 * ask->pue * ask->usd_per_kWh;
	}
	c->cost_usd = plus_scaled(fixed, hours, per_hour);
	c->run_cost_usd = jl_estimate_times(c->cost_usd, 1 / runs);
}

static enum jl_against judge(struct jl_candidate *c, const struct jl_recommend_ask *ask)
{
	const struct jl_setup *s = c->setup;
	const double wait_s = isnan(ask->deadline_s) ? ask->wait_s : ask->deadline_s;
	const double stretch = overhead_of(c);
	const bool bought = c->how == JL_HOW_NEW || c->how == JL_HOW_USED;
	const enum jl_against against = jl_expert_against(c, ask);

	if (against)
		return against;
	if (ask->task == JL_TASK_SERVE ? s->per_s.value < ask->tokens_per_s
				       : c->work_h > ask->months * JL_RECOMMEND_HOURS)
		return JL_AGAINST_USE;
	if (c->wall_s.value * stretch > wait_s)
		return JL_AGAINST_WAIT;
	/* the full price of a purchase counts against the budget */
	if (c->cost_usd.value > ask->budget_usd || (bought && c->unit_usd * s->sys.n_nodes > ask->budget_usd))
		return JL_AGAINST_BUDGET;
	if (bought && s->peak_W > ask->power_W)
		return JL_AGAINST_POWER;
	return jl_expert_survives(c, ask, stretch) ? JL_AGAINST_NOTHING : JL_AGAINST_INTERVAL;
}

/* ---- ranking */

static int by_cost(const void *a, const void *b)
{
	const struct jl_candidate *x = a, *y = b;
	const bool x_out = x->against != JL_AGAINST_NOTHING, y_out = y->against != JL_AGAINST_NOTHING;

	if (x_out != y_out)
		return x_out ? 1 : -1;
	if (x->cost_usd.value != y->cost_usd.value)
		return x->cost_usd.value < y->cost_usd.value ? -1 : x->cost_usd.value > y->cost_usd.value ? 1 : 0;
	if (x->wall_s.value != y->wall_s.value)
		return x->wall_s.value < y->wall_s.value ? -1 : 1;
	if (x->how != y->how)
		return x->how < y->how ? -1 : 1;
	/* the same offer in several regions: the first in the catalog */
	return x->price < y->price ? -1 : x->price > y->price;
}

/* Rejects candidates that cost more than DEAR_TIMES the cheapest. */
static void leave_dear(struct jl_recommendation *r)
{
	while (r->n_ok > 1 && r->items[r->n_ok - 1].cost_usd.value > DEAR_TIMES * r->items[0].cost_usd.value) {
		r->items[--r->n_ok].against = JL_AGAINST_DEAR;
		r->n_against[JL_AGAINST_DEAR]++;
		r->n_against[JL_AGAINST_NOTHING]--;
	}
}

/* True if dominated: another candidate with the same way of payment, no more machines and no narrower weights is clearly cheaper and clearly
 * faster, or not more expensive and certainly faster. */
static bool is_beaten(const struct jl_recommendation *r, const struct jl_candidate *c)
{
	const struct jl_setup *s = c->setup;

	for (size_t i = 0; i < r->n_ok && r->items[i].cost_usd.value <= c->cost_usd.value; i++) {
		const struct jl_candidate *o = &r->items[i];
		const bool clearly = o->cost_usd.value < BEATEN_FRAC * c->cost_usd.value &&
				     o->wall_s.value < BEATEN_FRAC * c->wall_s.value;
		const bool surely = o->wall_s.hi < c->wall_s.lo && o->how == c->how &&
				    jl_sys_n_devices(&o->setup->sys) <= jl_sys_n_devices(&s->sys);

		if ((clearly || surely) && o->setup->sys.n_nodes <= s->sys.n_nodes &&
		    !(o->setup->weight_bits < s->weight_bits))
			return true;
	}
	return false;
}

/* Maximum cost of a pick without a deadline, relative to the cheapest candidate that uses no technique that loses speed or precision. */
static double most_usd(const struct jl_recommendation *r, const struct jl_recommend_ask *ask)
{
	for (size_t i = 0; i < r->n_ok && isnan(ask->deadline_s); i++) {
		const struct jl_setup *s = r->items[i].setup;

		if (!s->offload && !(s->weight_bits < PLAIN_BITS) && s->sys.n_nodes <= r->hosts_most)
			return DEARER_TIMES * r->items[i].cost_usd.value;
	}
	return INFINITY;
}

static void choose(struct jl_recommendation *r, const struct jl_recommend_ask *ask)
{
	double least_s = INFINITY;

	leave_dear(r);
	r->hosts_most = jl_expert_hosts_most(r, ask);
	const double limit_usd = most_usd(r, ask);

	r->pick = r->fastest = r->cheapest = r->runner_up = -1;
	for (int h = 0; h < JL_N_HOW; h++)
		r->best[h] = -1;
	for (size_t i = 0; i < r->n_ok; i++) {
		struct jl_candidate *c = &r->items[i];

		c->on_front = c->wall_s.value < least_s;
		if (c->on_front)
			least_s = c->wall_s.value;
		/* ties: the cheapest */
		if (r->fastest < 0 || least_s < ALIKE_FRAC * r->items[r->fastest].wall_s.value)
			r->fastest = (int)i;
		if (r->cheapest < 0)
			r->cheapest = (int)i;
		if (c->setup->sys.n_nodes > r->hosts_most)
			continue;
		if (!is_beaten(r, c) && c->cost_usd.value <= limit_usd &&
		    (r->pick < 0 || c->score < r->items[r->pick].score))
			r->pick = (int)i;
		if (r->best[c->how] < 0 || c->score < r->items[r->best[c->how]].score)
			r->best[c->how] = (int)i;
	}
	if (r->pick >= 0) /* a dominated candidate is not the best of its kind either */
		r->best[r->items[r->pick].how] = r->pick;
	for (size_t i = 0; i < r->n_ok; i++)
		if (r->items[i].setup->sys.gpu != r->items[r->pick].setup->sys.gpu &&
		    r->items[i].setup->sys.n_nodes <= r->hosts_most &&
		    (r->runner_up < 0 || r->items[i].score < r->items[r->runner_up].score))
			r->runner_up = (int)i;
}

static bool is_rejected(const struct jl_recommendation *r, const struct jl_gpu *gpu)
{
	for (size_t i = 0; i < r->n_rejected; i++)
		if (r->items[r->rejected[i]].setup->sys.gpu == gpu)
			return true;
	return false;
}

/* True if the accelerator has another acceptable candidate or a fresh price: then the old price is not the reason for its rejection. */
static bool has_other_price(const struct jl_recommendation *r, const struct jl_candidate *c,
			    const struct jl_recommend_ask *ask)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct jl_candidate *o = &r->items[i];
		const struct jl_sys *sys = &o->setup->sys;

		if (sys->gpu == c->setup->sys.gpu &&
		    (i < r->n_ok || (o->how == c->how &&
				     !jl_offer_is_stale(sys->gpu, sys->system, o->how, o->price, o->price_day, ask))))
			return true;
	}
	return false;
}

/* Rejected candidates that would rank before the pick, best first. */
static void find_rejected(struct jl_recommendation *r, const struct jl_recommend_ask *ask)
{
	size_t n_of[JL_N_AGAINST] = { 0 };
	const double limit = r->pick < 0 ? INFINITY : r->items[r->pick].score;

	for (size_t k = 0; k < JL_REJECTED_MAX; k++) {
		int best = -1;

		for (size_t i = r->n_ok; i < r->n; i++) {
			const struct jl_candidate *c = &r->items[i];

			const struct jl_gpu *gpu = c->setup->sys.gpu;

			if (!(c->score < limit) || n_of[c->against] == ALIKE_MOST ||
			    (best >= 0 && !(c->score < r->items[best].score)) ||
			    (c->against == JL_AGAINST_PRICE &&
			     (c->how == JL_HOW_NEW || c->price_day < oldest_shown(ask))) ||
			    is_rejected(r, gpu) || (r->pick >= 0 && gpu == r->items[r->pick].setup->sys.gpu))
				continue;
			if (c->against != JL_AGAINST_PRICE || !has_other_price(r, c, ask))
				best = (int)i;
		}
		if (best < 0)
			return;
		r->rejected[r->n_rejected++] = best;
		n_of[r->items[best].against]++;
	}
}

/* Distance to acceptance, as a multiple of the violated limit. */
static double missing(const struct jl_candidate *c)
{
	switch (c->against) {
	case JL_AGAINST_BUDGET: {
		const bool bought = c->how == JL_HOW_NEW || c->how == JL_HOW_USED;

		return bought ? fmax(c->cost_usd.value, c->unit_usd * c->setup->sys.n_nodes) : c->cost_usd.value;
	}
	case JL_AGAINST_WAIT: return c->wall_s.value;
	case JL_AGAINST_INTERVAL: return c->score;
	case JL_AGAINST_USE: return -c->setup->per_s.value;
	case JL_AGAINST_POWER: return c->setup->peak_W;
	default: return INFINITY;
	}
}

/* Limits that the user can change; the one that is checked last is nearest to acceptance. */
static int find_nearest(const struct jl_recommendation *r, const struct jl_recommend_ask *ask)
{
	static const enum jl_against limits[] = { JL_AGAINST_INTERVAL, JL_AGAINST_POWER, JL_AGAINST_BUDGET,
						  JL_AGAINST_WAIT, JL_AGAINST_USE };
	int best = -1;

	for (size_t k = 0; best < 0 && k < JL_LEN(limits); k++)
		for (size_t i = 0; i < r->n; i++) {
			const struct jl_candidate *c = &r->items[i];
			const bool bought = c->how == JL_HOW_NEW || c->how == JL_HOW_USED;

			if (c->against != limits[k] ||
			    (bought && limits[k] != JL_AGAINST_POWER && c->setup->peak_W > ask->power_W))
				continue;
			if (best < 0 || missing(c) < missing(&r->items[best]))
				best = (int)i;
		}
	return best;
}

static enum jl_status make_candidates(struct jl_recommendation *r, const struct jl_offers *offers,
				      const struct jl_setup *setups, const struct jl_recommend_ask *ask,
				      struct jl_arena *arena, struct jl_err *err)
{
	if (offers->n > JL_RECOMMEND_MAX / jl_n_node_counts)
		return jl_fail(err, JL_E_LIMIT, "more than %d candidates", JL_RECOMMEND_MAX);
	r->items = jl_arena_array(arena, offers->n * jl_n_node_counts + 1, sizeof(*r->items));
	JL_TRY(jl_got(r->items, err));
	for (size_t i = 0; i < offers->n; i++) {
		const struct jl_offer *o = &offers->items[i];
		const struct jl_unit_offered *u = &offers->units[o->unit];

		for (size_t k = 0; k < jl_n_node_counts; k++) {
			struct jl_candidate *c = &r->items[r->n];

			if (ask->gpus_max && u->n_per_node * jl_node_counts[k] > ask->gpus_max)
				break;
			*c = (struct jl_candidate){ .setup = &setups[u->first + k],
						    .how = o->how,
						    .price = o->price,
						    .price_date = o->date,
						    .price_day = o->day,
						    .unit_usd = o->unit_usd,
						    .host_usd = o->host_usd };
			c->against = c->setup->against;
			c->cost_usd = c->run_cost_usd = c->wall_s = (struct jl_estimate){ NAN, NAN, NAN };
			c->score = NAN;
			if (!c->against) {
				price(c, ask, r->runs);
				c->score = jl_expert_score(c, ask);
				c->against = judge(c, ask);
			}
			r->n_against[c->against]++;
			r->n++;
		}
	}
	r->n_ok = r->n_against[JL_AGAINST_NOTHING];
	qsort(r->items, r->n, sizeof(*r->items), by_cost);
	return JL_OK;
}

static enum jl_status check(const struct jl_recommend_ask *ask, struct jl_err *err)
{
	if (!(ask->months > 0 && ask->months <= 600))
		return jl_fail(err, JL_E_RANGE, "--months is above 0 and at most 600");
	if (ask->task != JL_TASK_SERVE && !(ask->runs_per_month > 0 && ask->runs_per_month <= 1e6))
		return jl_fail(err, JL_E_RANGE, "--runs-per-month is above 0 and at most 1,000,000");
	if (ask->task != JL_TASK_SERVE && !ask->seen && isnan(ask->run.samples) && isnan(ask->run.tokens) &&
	    isnan(ask->run.steps_per_epoch))
		return jl_fail(err, JL_E_USAGE,
			       "the length of a run is missing: give --tokens, --samples or --steps-per-epoch");
	if (ask->seen && !(ask->seen->batches > 0))
		return jl_fail(err, JL_E_USAGE, "the length of a run is missing: give --batches or --samples");
	if (ask->task == JL_TASK_SERVE && (ask->run.dtype == JL_FP32 || ask->run.dtype == JL_TF32))
		return jl_fail(err, JL_E_USAGE, "--precision: models are served in fp16, bf16 or fp8");
	if (ask->task == JL_TASK_SERVE && !(ask->concurrency >= 1 && ask->context >= 1 && ask->tokens_per_s > 0))
		return jl_fail(err, JL_E_USAGE, "serving needs --users or --concurrency, --context and --tokens-per-s");
	if (ask->task == JL_TASK_SERVE && ask->answer < 2)
		return jl_fail(err, JL_E_RANGE,
			       "a one-token answer has no time between tokens: use 'jeoul serve --rate'");
	return JL_OK;
}

/* Longest acceptable time: not much slower than the machine that the user has. */
static double bearable_s(const struct jl_recommend_ask *ask)
{
	const struct jl_observed *run = ask->seen;

	if (!run || !isnan(ask->wait_s) || !isnan(ask->deadline_s))
		return ask->wait_s;
	return SEEN_TIMES * run->step_s * run->batches * ask->seen_epochs;
}

enum jl_status jl_recommend_run(struct jl_recommendation *ret_result, const struct jl_recommend_ask *asked,
				struct jl_arena *arena, struct jl_err *err)
{
	struct jl_recommend_ask known = *asked;
	const struct jl_recommend_ask *ask = &known;
	const double start_s = jl_clock_s();
	struct jl_recommendation r = { .runs = ask->task == JL_TASK_SERVE ? 1 : ask->runs_per_month * ask->months };
	struct jl_offers offers;
	struct jl_setup *setups;
	size_t n_setups;

	jl_serve_load(&known);
	JL_TRY(check(ask, err));
	known.wait_s = bearable_s(asked);
	if (ask->task == JL_TASK_LORA && ask->run.tune == JL_UNSET)
		known.run.tune = JL_TUNE_LORA;
	JL_TRY(jl_offers_find(&offers, ask, arena, err));
	find_stale(&offers, ask);
	n_setups = offers.n_units * jl_n_node_counts;
	setups = jl_arena_array(arena, n_setups + 1, sizeof(*setups));
	JL_TRY(jl_got(setups, err));
	JL_TRY(make_setups(setups, &offers, ask, arena, err));
	JL_TRY(weigh_all(setups, offers.n_units, ask, arena, err));
	JL_TRY(make_candidates(&r, &offers, setups, ask, arena, err));
	choose(&r, ask);
	find_rejected(&r, ask);
	r.nearest = r.pick < 0 ? find_nearest(&r, ask) : -1;
	r.wait_s = isnan(ask->deadline_s) ? ask->wait_s : ask->deadline_s;
	r.n_setups = n_setups;
	r.n_offers = offers.n;
	r.elapsed_s = jl_clock_s() - start_s;
	*ret_result = r;
	return JL_OK;
}
