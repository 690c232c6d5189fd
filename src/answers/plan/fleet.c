/* Searches plans over kinds and numbers of GPUs. */
#include "plan/fleet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define PER_HOST 8 /* GPUs per host if a kind is a GPU: usual for boards and servers */
#define GPUS_MAX 8000000

static enum jl_status add_size(struct jl_fleet_ask *ask, long long n, struct jl_err *err)
{
	if (ask->n_sizes == JL_FLEET_SIZES_MAX)
		return jl_fail(err, JL_E_LIMIT, "--gpus: more than %d numbers", JL_FLEET_SIZES_MAX);
	for (size_t i = 0; i < ask->n_sizes; i++)
		if (ask->sizes[i] == (int)n)
			return JL_OK;
	ask->sizes[ask->n_sizes++] = (int)n;
	return JL_OK;
}

static enum jl_status add_range(struct jl_fleet_ask *ask, long long from, long long to, struct jl_err *err)
{
	if (from > to)
		return jl_fail(err, JL_E_USAGE, "--gpus: %lld..%lld goes down; write e.g. 8..4096", from, to);
	JL_TRY(add_size(ask, from, err));
	for (long long n = 1; n <= to; n *= 2) {
		if (n > from)
			JL_TRY(add_size(ask, n, err));
		/* 1.5 times the power of two, if it is whole hosts */
		if (n >= 2LL * PER_HOST && n / 2 * 3 > from && n / 2 * 3 <= to)
			JL_TRY(add_size(ask, n / 2 * 3, err));
	}
	return add_size(ask, to, err);
}

enum jl_status jl_fleet_sizes(struct jl_fleet_ask *ask, const char *text, struct jl_err *err)
{
	while (*text) {
		const size_t len = strcspn(text, ",");
		char piece[64];
		char *dots;
		long long from = 0, to = 0;

		snprintf(piece, sizeof(piece), "%.*s", (int)(len < 63 ? len : 63), text);
		dots = strstr(piece, "..");
		if (dots)
			*dots = '\0';
		JL_TRY(jl_units_parse_count(&from, piece, 1, GPUS_MAX, "--gpus", err));
		if (dots)
			JL_TRY(jl_units_parse_count(&to, dots + 2, 1, GPUS_MAX, "--gpus", err));
		JL_TRY(dots ? add_range(ask, from, to, err) : add_size(ask, from, err));
		text += len + (text[len] == ',');
	}
	if (ask->n_sizes == 0)
		return jl_fail(err, JL_E_USAGE, "--gpus: no number; write e.g. 8..4096 or 8,16,32");
	return JL_OK;
}

/* Writes the system expression of a kind and number; NULL in `ret_text`: impossible number. */
static enum jl_status write_system(const char **ret_text, struct jl_fleet_point *p, const struct jl_fleet_ask *ask,
				   struct jl_arena *arena, struct jl_err *err)
{
	const char *const kind = p->kind;
	const int n_gpus = p->n_gpus;
	struct jl_sys sys;

	*ret_text = NULL;
	JL_TRY(jl_sys_parse(&sys, ask->cat, kind, arena, err));
	const int per_host = sys.n_per_node > 1 ? sys.n_per_node : PER_HOST;

	if (sys.n_per_node > 1 && n_gpus % per_host == 0)
		*ret_text = jl_arena_printf(arena, "%dx(%s)", n_gpus / per_host, kind);
	else if (sys.n_per_node <= 1 && n_gpus <= per_host)
		*ret_text = jl_arena_printf(arena, "%dx %s", n_gpus, kind);
	else if (sys.n_per_node <= 1 && n_gpus % per_host == 0)
		*ret_text = jl_arena_printf(arena, "%dx(%dx %s)", n_gpus / per_host, per_host, kind);
	p->below = n_gpus / per_host * per_host;
	p->above = p->below + per_host;
	return JL_OK;
}

/* Nearest possible numbers of GPUs in a system: within one host, or whole hosts. */
static void nearest(struct jl_fleet_point *p, int per_host, int n_hosts)
{
	p->possible = false;
	p->below = (p->n_gpus / per_host < n_hosts ? p->n_gpus / per_host : n_hosts) * per_host;
	p->above = p->below < per_host * n_hosts ? p->below + per_host : 0;
}

static enum jl_status machine_of(struct jl_machine *ret_machine, struct jl_fleet_point *p,
				 const struct jl_fleet_ask *ask, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_machine whole;
	struct jl_sys sys;
	const char *text = p->kind;

	p->possible = !ask->n_kinds;
	if (ask->n_kinds) {
		JL_TRY(write_system(&text, p, ask, arena, err));
		p->possible = text != NULL;
	}
	if (!text)
		return JL_OK;
	JL_TRY(jl_sys_parse(&sys, ask->cat, text, arena, err));
	JL_TRY(jl_machine_make(&whole, ask->cat, &sys, err));
	*ret_machine = whole;
	/* impossible as a part of this system: skip */
	if (!ask->n_kinds && jl_machine_take(ret_machine, &whole, p->n_gpus, NULL))
		nearest(p, jl_sys_per_node(&whole.sys), whole.sys.n_nodes);
	return JL_OK;
}

const struct jl_estimate *jl_fleet_time(const struct jl_fleet_point *p)
{
	return p->prediction.whole_run ? &p->elapsed.time_s : &p->prediction.step_s;
}

double jl_fleet_time_s(const struct jl_fleet_point *p)
{
	return jl_fleet_time(p)->value;
}

double jl_fleet_cost_usd(const struct jl_fleet_point *p)
{
	return p->elapsed.cost_usd.value;
}

static enum jl_status batch_of(double *ret_batch, const char *kind, const struct jl_fleet_ask *ask,
			       struct jl_plan_site *site, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_fleet_point largest = { .kind = kind };
	struct jl_machine machine;

	/* largest available number */
	for (size_t i = 0; i < ask->n_sizes; i++) {
		struct jl_fleet_point p = { .kind = largest.kind, .n_gpus = ask->sizes[i] };

		if (p.n_gpus <= largest.n_gpus)
			continue;
		JL_TRY(machine_of(&machine, &p, ask, arena, err));
		if (p.possible)
			largest = p;
	}
	*ret_batch = ask->req->global_batch;
	if (!largest.n_gpus)
		return JL_OK;
	JL_TRY(machine_of(&machine, &largest, ask, arena, err));
	JL_TRY(jl_plan_site_make(site, ask->cat, ask->req, ask->subject, &machine, err));
	*ret_batch = site->global_batch;
	return JL_OK;
}

/* The batch for the first kind of GPU whose model is known. */
enum jl_status jl_fleet_batch(double *ret_batch, const struct jl_fleet_ask *ask, struct jl_arena *arena,
			      struct jl_err *err)
{
	struct jl_plan_site *site = jl_arena_alloc(arena, sizeof(*site));
	enum jl_status status = JL_OK;

	JL_TRY(jl_got(site, err));
	if (!ask->n_kinds)
		return batch_of(ret_batch, ask->req->system, ask, site, arena, err);
	for (size_t i = 0; i < ask->n_kinds; i++) {
		status = batch_of(ret_batch, ask->kinds[i], ask, site, arena, err);
		if (!status)
			return JL_OK;
	}
	return status;
}

static enum jl_status search_point(struct jl_fleet *fleet, struct jl_fleet_point *p, const struct jl_fleet_ask *ask,
				   struct jl_plan_site *site, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_plan_ask plan = ask->plan;
	struct jl_plan_result result;
	struct jl_machine machine;

	JL_TRY(machine_of(&machine, p, ask, arena, err));
	if (!p->possible)
		return JL_OK;
	JL_TRY(jl_plan_site_make(site, ask->cat, ask->req, ask->subject, &machine, err));
	site->any_format = ask->any_format;
	site->any_framework = ask->any_framework;
	site->global_batch = ask->req->global_batch;
	plan.site = site;
	plan.n_best = 1;
	plan.gpu_usdps = jl_rent_find(ask->cat, &machine.sys).usdps;
	if (isnan(plan.gpu_usdps) && plan.objective != JL_PLAN_ENERGY)
		plan.objective = JL_PLAN_TIME;
	JL_TRY(jl_plan_search(&result, &plan, err));
	fleet->tally.n_evaluated += result.tally.n_evaluated;
	fleet->tally.n_memory += result.tally.n_memory;
	fleet->tally.n_host += result.tally.n_host;
	fleet->tally.n_framework += result.tally.n_framework;
	fleet->tally.n_slower += result.tally.n_slower;
	fleet->tally.n_shape += result.tally.n_shape;
	fleet->search_s += result.search_s;
	fleet->stopped |= result.stopped;
	p->fits = result.top.n > 0;
	p->miss_B = p->fits ? 0 : result.miss.memory_B - machine.dev.mem_B * plan.memory_frac;
	if (!p->fits)
		return JL_OK;
	jl_plan_way_case(&p->how, site, &result.top.best[0].way);
	jl_predict(&p->prediction, ask->cat, &p->how);
	p->elapsed = jl_goodput_elapsed(ask->cat, &p->how, &p->prediction);
	jl_plan_note_changes(&p->how, site, &p->prediction);
	p->in_time = isnan(ask->deadline_s) || jl_fleet_time_s(p) <= ask->deadline_s;
	p->in_budget = isnan(ask->budget_usd) || jl_fleet_cost_usd(p) <= ask->budget_usd;
	p->surely = p->in_time && p->in_budget && !(jl_fleet_time(p)->hi > ask->deadline_s) &&
		    !(p->elapsed.cost_usd.hi > ask->budget_usd);
	return JL_OK;
}

/* True if `p` is better: first by meeting the limits in the worst case too (as in recommend), then by the smaller value. */
static bool is_better(const struct jl_fleet *fleet, const struct jl_fleet_point *p, int than,
		      double (*value)(const struct jl_fleet_point *))
{
	const struct jl_fleet_point *q = than < 0 ? NULL : &fleet->points[than];

	return !isnan(value(p)) && (!q || (p->surely != q->surely ? p->surely : value(p) < value(q)));
}

/* Marks Pareto-optimal points: no other one is faster and cheaper. Points without a price are never on the front. */
static void find_front(struct jl_fleet *fleet)
{
	fleet->cheapest = fleet->fastest = -1;
	for (size_t i = 0; i < fleet->n; i++) {
		struct jl_fleet_point *p = &fleet->points[i];
		const double t = jl_fleet_time_s(p), usd = jl_fleet_cost_usd(p);

		p->on_front = p->fits && !isnan(usd);
		for (size_t k = 0; k < fleet->n && p->on_front; k++) {
			const struct jl_fleet_point *q = &fleet->points[k];
			const double qt = jl_fleet_time_s(q), qusd = jl_fleet_cost_usd(q);

			if (k != i && q->fits && qt <= t && qusd <= usd && (qt < t || qusd < usd || k < i))
				p->on_front = false;
		}
		if (!p->fits || !p->in_time || !p->in_budget)
			continue;
		if (is_better(fleet, p, fleet->cheapest, jl_fleet_cost_usd))
			fleet->cheapest = (int)i;
		if (is_better(fleet, p, fleet->fastest, jl_fleet_time_s))
			fleet->fastest = (int)i;
	}
}

/* Unknown names are errors. Kinds that lack a catalog figure, or do not suit the request, are omitted. */
static enum jl_status check_kinds(const struct jl_fleet_ask *ask, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_sys sys;

	for (size_t i = 0; i < ask->n_kinds; i++)
		JL_TRY(jl_sys_parse(&sys, ask->cat, ask->kinds[i], arena, err));
	return JL_OK;
}

enum jl_status jl_fleet_search(struct jl_fleet *ret_fleet, const struct jl_fleet_ask *ask, struct jl_arena *arena,
			       struct jl_err *err)
{
	const size_t n_kinds = ask->n_kinds ? ask->n_kinds : 1, n = n_kinds * ask->n_sizes;
	struct jl_fleet fleet = { .points = jl_arena_array(arena, n, sizeof(*fleet.points)) };
	struct jl_plan_site *site = jl_arena_alloc(arena, sizeof(*site));

	size_t n_known = 0;

	JL_TRY(jl_got(fleet.points && site, err));
	JL_TRY(check_kinds(ask, arena, err));
	for (size_t i = 0; i < n && !fleet.stopped; i++) {
		struct jl_fleet_point *p = &fleet.points[fleet.n++];
		enum jl_status status = JL_OK;

		p->kind = ask->n_kinds ? ask->kinds[i / ask->n_sizes] : ask->req->system;
		p->n_gpus = ask->sizes[i % ask->n_sizes];
		if (ask->next && !ask->next(ask->next_ctx, i, n, p->kind, p->n_gpus))
			fleet.stopped = true;
		else if ((status = search_point(&fleet, p, ask, site, arena, &p->why)) != JL_OK)
			p->possible = p->fits = false;
		if (!status) {
			n_known++;
		} else if (ask->n_kinds <= 1 || status == JL_E_NOMEM || (i + 1 == n && !n_known)) {
			*err = p->why;
			return status;
		}
		fleet.whole_run |= p->fits && p->prediction.whole_run;
	}
	find_front(&fleet);
	*ret_fleet = fleet;
	return JL_OK;
}
