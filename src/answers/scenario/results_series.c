/* Series over the number of GPUs or nodes: training throughput and all-reduce. */
#include <math.h>
#include <string.h>

#include "check/judge.h"
#include "scenario/results.h"

/* "ddp" is ZeRO 0, "zero2" is ZeRO 2; false: unknown mode. */
static bool mode_zero(int *ret_zero, const char *mode)
{
	static const char *const names[] = { "ddp", "zero1", "zero2", "zero3" };

	for (int i = 0; mode && i < 4; i++)
		if (strcmp(mode, names[i]) == 0) {
			*ret_zero = i;
			return true;
		}
	return false;
}

/* Computes one point. `recipe` NULL: uses the usual recipe for this size and returns it in *ret_recipe; otherwise uses that recipe if possible. */
static void weigh_point(struct jl_scenario_results *w, struct jl_scaling_point *p, const struct jl_request *recipe,
			struct jl_request *ret_recipe)
{
	struct jl_request req = w->request;
	struct jl_machine machine;
	struct jl_case *how = jl_arena_alloc(w->arena, sizeof *how);
	struct jl_prediction prediction;
	int zero;

	p->measured_per_s = p->speedup = p->measured_speedup = NAN;
	p->speedup_range = p->per_s = (struct jl_estimate){ NAN, NAN, NAN };
	if (!how || !w->has_model || !p->of->usable)
		return;
	if (p->n_gpus == jl_sys_n_devices(&p->of->machine.sys))
		machine = p->of->machine;
	else if (jl_machine_take(&machine, &p->of->machine, p->n_gpus, &p->why))
		return;
	if (mode_zero(&zero, p->mode))
		req.plan.zero = zero;
	if (recipe ? jl_recipe_weigh(how, &prediction, &p->recipe, w->cat, &w->subject, &machine, &req, recipe, &p->why)
		   : jl_case_choose(how, w->cat, &w->subject, &machine, &req, &p->why))
		return;
	if (!recipe)
		jl_predict(&prediction, w->cat, how);
	if (ret_recipe)
		*ret_recipe = jl_recipe_of(&req, how);
	p->predicted = true;
	p->global_batch = how->global_batch;
	p->fits = prediction.room != JL_ROOM_NONE;
	p->per_s = prediction.samples_per_s;
	p->step = prediction.step;
}

/* Samples per second of a measurement; NAN: it does not match the point. */
static double measured_per_s(const struct jl_scenario_results *w, const struct jl_scenario_measured *m,
			     const struct jl_scaling_point *p)
{
	if (strcmp(m->what, "samples_per_s") == 0)
		return m->value;
	if (strcmp(m->what, "step_s") == 0 && !isnan(w->request.batch))
		return w->request.batch * p->n_gpus / m->value;
	return NAN;
}

static const struct jl_system_result *system_of(const struct jl_scenario_results *w, const char *name)
{
	const struct jl_scenario_system *said = name ? jl_scenario_find(w->scenario, name) : &w->scenario->systems[0];

	return said && w->n_systems ? &w->systems[said - w->scenario->systems] : NULL;
}

/* Assigns each measurement to its point, or adds a point. */
static void place_measured(struct jl_scenario_results *w)
{
	struct jl_scaling_result *s = &w->scaling;

	for (size_t i = 0; i < w->scenario->n_measured; i++) {
		const struct jl_scenario_measured *m = &w->scenario->measured[i];
		const struct jl_system_result *of = system_of(w, m->system);
		struct jl_scaling_point lone = { .of = of, .mode = m->mode };
		bool placed = false;

		if (!of || (strcmp(m->what, "samples_per_s") != 0 && strcmp(m->what, "step_s") != 0))
			continue;
		lone.n_gpus = isnan(m->n_gpus) ? jl_sys_n_devices(&of->machine.sys) : (int)m->n_gpus;
		for (size_t k = 0; of == s->of && k < s->n_modes * s->n_counts; k++) {
			struct jl_scaling_point *p = &s->points[k];

			if (p->n_gpus != lone.n_gpus || (p->mode && m->mode && strcmp(p->mode, m->mode) != 0) ||
			    !isnan(p->measured_per_s))
				continue;
			p->measured_per_s = measured_per_s(w, m, p);
			p->measured = m;
			placed = true;
			break;
		}
		if (placed || !s->further)
			continue;
		weigh_point(w, &lone, NULL, NULL);
		lone.measured_per_s = measured_per_s(w, m, &lone);
		lone.measured = m;
		s->further[s->n_further++] = lone;
	}
}

/* Speedups over one GPU with the same recipe; modes are never mixed. */
static void speedups(struct jl_scaling_result *s)
{
	for (size_t k = 0; k < s->n_modes; k++) {
		const struct jl_scaling_point *one = NULL;

		for (size_t i = 0; i < s->n_counts; i++)
			if (s->points[k * s->n_counts + i].n_gpus == 1)
				one = &s->points[k * s->n_counts + i];
		for (size_t i = 0; one && i < s->n_counts; i++) {
			struct jl_scaling_point *p = &s->points[k * s->n_counts + i];

			p->speedup = p->per_s.value / one->per_s.value;
			/* both predictions share the device's error: the range covers that of the links only */
			p->speedup_range = (struct jl_estimate){ p->speedup, p->per_s.lo / one->per_s.value,
								 fmin(p->per_s.hi / one->per_s.value,
								      fmax(p->speedup, p->n_gpus)) };
			if (p == one)
				p->speedup_range.lo = p->speedup_range.hi = NAN;
			p->measured_speedup = p->measured_per_s / one->measured_per_s;
			p->alike = p->recipe == JL_RECIPE_SAME && one->recipe == JL_RECIPE_SAME;
			if (p->alike && p->speedup > JL_EFFICIENCY_PLAIN * p->n_gpus)
				p->above = jl_scaled_gain(&(struct jl_scaled){ &one->step, 1, one->global_batch },
							  &(struct jl_scaled){ &p->step, p->n_gpus, p->global_batch });
		}
	}
}

/* Uses the recipe of the largest number of GPUs for all numbers. */
static void weigh_mode(struct jl_scenario_results *w, struct jl_scaling_point *points, size_t n)
{
	struct jl_request recipe = w->request;
	size_t most = 0;

	for (size_t i = 1; i < n; i++)
		most = points[i].n_gpus > points[most].n_gpus ? i : most;
	weigh_point(w, &points[most], NULL, &recipe);
	for (size_t i = 0; i < n; i++)
		if (i != most)
			weigh_point(w, &points[i], &recipe, NULL);
}

static void choose_counts(struct jl_scaling_result *s, const struct jl_scenario_scaling *asked, int n)
{
	if (asked->n_counts) {
		for (size_t i = 0; i < asked->n_counts; i++)
			if (asked->counts[i] <= n)
				s->counts[s->n_counts++] = asked->counts[i];
		return;
	}
	for (int k = 1; k < n && s->n_counts < JL_SCENARIO_LIST_MAX - 1; k *= 2)
		s->counts[s->n_counts++] = k;
	s->counts[s->n_counts++] = n;
}

enum jl_status jl_compute_scaling(struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario_scaling *asked = &w->scenario->scaling;
	struct jl_scaling_result *s = &w->scaling;

	if (!w->has_model)
		return JL_OK;
	if (asked->system)
		s->of = system_of(w, asked->system);
	if (asked->system && !s->of)
		return jl_fail(err, JL_E_NOTFOUND, "scaling: '%.60s' is none of this scenario's systems",
			       asked->system);
	for (size_t i = 0; !s->of && i < w->n_systems; i++)
		if (w->systems[i].usable && jl_sys_n_devices(&w->systems[i].machine.sys) > 1)
			s->of = &w->systems[i];
	if (!s->of || !s->of->usable || jl_sys_n_devices(&s->of->machine.sys) < 2) {
		s->of = NULL;
		return JL_OK;
	}
	choose_counts(s, asked, jl_sys_n_devices(&s->of->machine.sys));
	for (size_t i = 0; i < asked->n_modes && i < JL_SCALING_MODES_MAX; i++) {
		int zero;
		if (!mode_zero(&zero, asked->modes[i]))
			return jl_fail(err, JL_E_PARSE, "scaling: modes: '%.40s'; there are ddp, zero1, zero2, zero3",
				       asked->modes[i]);
		s->modes[s->n_modes++] = asked->modes[i];
	}
	if (!s->n_modes)
		s->modes[s->n_modes++] = NULL;
	s->points = jl_arena_array(w->arena, s->n_modes * s->n_counts + 1, sizeof *s->points);
	s->further = jl_arena_array(w->arena, w->scenario->n_measured + 1, sizeof *s->further);
	JL_TRY(jl_got(s->points && s->further, err));
	for (size_t k = 0; k < s->n_modes * s->n_counts; k++)
		s->points[k] = (struct jl_scaling_point){ .of = s->of,
							  .mode = s->modes[k / s->n_counts],
							  .n_gpus = (int)s->counts[k % s->n_counts] };
	for (size_t k = 0; k < s->n_modes; k++)
		weigh_mode(w, &s->points[k * s->n_counts], s->n_counts);
	place_measured(w);
	speedups(s);
	return JL_OK;
}

/* algbw of a measured all-reduce; converts busbw. */
static double measured_algbw(const struct jl_scenario_measured *m, const struct jl_collective_case *c)
{
	if (strcmp(m->what, "algbw_Bps") == 0)
		return m->value;
	if (strcmp(m->what, "busbw_Bps") == 0)
		return m->value / c->busbw_factor;
	return NAN;
}

static void weigh_one_reduce(struct jl_scenario_results *w, struct jl_reduce_result *r, double nodes,
			     const struct jl_coll_ask *ask)
{
	struct jl_machine machine;

	r->n_nodes = (int)nodes;
	r->measured_Bps = NAN;
	if (jl_machine_hosts(&machine, w->cat, &w->reduce_sys, r->n_nodes, w->arena, &r->why) ||
	    jl_check_collective(&r->expect, &machine, ask, &r->why))
		return;
	r->known = true;
	for (size_t i = 0; i < w->scenario->n_measured; i++) {
		const struct jl_scenario_measured *m = &w->scenario->measured[i];
		const double found = measured_algbw(m, &r->expect.c);

		if (isnan(found) || isnan(m->n_nodes) || (int)m->n_nodes != r->n_nodes)
			continue;
		r->measured_Bps = found;
		r->measured = m;
		r->verdict = jl_verdict_of(&(struct jl_figure){ .value = found, .lo95 = NAN, .hi95 = NAN },
					   &r->expect.range);
	}
}

enum jl_status jl_compute_reduce(struct jl_scenario_results *w, struct jl_err *err)
{
	static const double usual[] = { 2, 4, 8, 16, 32, 64, 128 };
	const struct jl_scenario_allreduce *asked = &w->scenario->allreduce;
	const size_t n = asked->n_nodes ? asked->n_nodes : JL_LEN(usual);

	struct jl_coll_ask ask = { .ask = { .kind = JL_ALLREDUCE, .size_B = asked->size_B } };

	if (!asked->wanted)
		return JL_OK;
	if (w->scenario->n_measured)
		JL_TRY(jl_published_rows(&ask.rows, &ask.n_rows, w->cat, w->arena, err));
	JL_TRY(jl_sys_parse(&w->reduce_sys, w->cat, asked->on, w->arena, err));
	w->reduce = jl_arena_array(w->arena, n, sizeof *w->reduce);
	JL_TRY(jl_got(w->reduce, err));
	for (size_t i = 0; i < n; i++)
		weigh_one_reduce(w, &w->reduce[i], asked->n_nodes ? asked->nodes[i] : usual[i], &ask);
	w->n_reduce = n;
	return JL_OK;
}
