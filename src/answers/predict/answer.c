/* Builds complete answers: one prediction with advice, series, collectives, estimates by hand. */
#include "predict/answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum jl_status no_system(const char *example, struct jl_err *err)
{
	return jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on %s", example);
}

enum jl_status jl_predicted_make(struct jl_predicted *ret_predicted, const struct jl_catalog *cat,
				 const struct jl_request *req, struct jl_arena *arena, struct jl_err *err)
{
	JL_TRY(jl_case_make(&ret_predicted->how, cat, req, arena, err));
	jl_predict(&ret_predicted->p, cat, &ret_predicted->how);
	ret_predicted->n_advice = jl_advise(ret_predicted->advice, cat, &ret_predicted->how, arena);
	ret_predicted->modules = (struct jl_modules){ .n = 0 };
	if (ret_predicted->how.subject.program)
		JL_TRY(jl_case_modules(&ret_predicted->modules, &ret_predicted->how, arena, err));
	return JL_OK;
}

/* --- series */

static enum jl_status sweep_parse(struct jl_sweep_list *ret_list, const char *text, struct jl_err *err)
{
	static const char *const keys[JL_N_SWEEP] = { [JL_SWEEP_GPUS] = "gpus=", [JL_SWEEP_NODES] = "nodes=" };
	struct jl_sweep_list list = { .over = JL_N_SWEEP };
	const char *at = text;

	for (int i = 0; i < JL_N_SWEEP; i++)
		if (strncmp(text, keys[i], strlen(keys[i])) == 0) {
			list.over = (enum jl_sweep_over)i;
			at += strlen(keys[i]);
		}
	if (list.over == JL_N_SWEEP)
		return jl_fail(err, JL_E_USAGE,
			       "--sweep: '%s' does not begin with gpus= or nodes=; write e.g. gpus=1,2,4,8", text);
	while (*at) {
		size_t len = strcspn(at, ",");
		char piece[32];
		long long n;

		snprintf(piece, sizeof(piece), "%.*s", (int)(len < 31 ? len : 31), at);
		JL_TRY(jl_units_parse_count(&n, piece, 1, JL_NODES_MAX, "--sweep", err));
		if (list.n == JL_SWEEP_MAX)
			return jl_fail(err, JL_E_LIMIT, "--sweep: more than %d sizes", JL_SWEEP_MAX);
		list.values[list.n++] = (int)n;
		at += len + (at[len] == ',');
	}
	if (!list.n)
		return jl_fail(err, JL_E_USAGE, "--sweep: no size; write e.g. gpus=1,2,4,8");
	*ret_list = list;
	return JL_OK;
}

static enum jl_status machine_at(struct jl_machine *ret_machine, const struct jl_catalog *cat,
				 const struct jl_sweep_list *list, const struct jl_sys *sys, size_t i,
				 struct jl_arena *arena, struct jl_err *err)
{
	struct jl_machine whole;

	if (list->over == JL_SWEEP_NODES)
		return jl_machine_hosts(ret_machine, cat, sys, list->values[i], arena, err);
	JL_TRY(jl_machine_make(&whole, cat, sys, err));
	return jl_machine_take(ret_machine, &whole, list->values[i], err);
}

static struct jl_scaled scaled(const struct jl_predicted *row)
{
	return (struct jl_scaled){ &row->p.step, row->how.n_gpus, row->how.global_batch };
}

/* Compares each row with the first one that fits and runs the recipe. Rows that do not fit have no speedup; rows with another recipe have no
 * efficiency. */
static void compare_rows(struct jl_sweep *sweep)
{
	struct jl_predicted *rows = sweep->rows, *base = rows;
	const size_t n = sweep->n;

	while (base < rows + n && (base->p.room == JL_ROOM_NONE || base->recipe != JL_RECIPE_SAME))
		base++;
	if (base == rows + n)
		base = rows;
	const struct jl_scaled one = scaled(base);

	for (struct jl_predicted *r = rows; r < rows + n; r++) {
		const struct jl_scaled more = scaled(r);

		r->speedup = jl_estimate_around(
			r->p.room == JL_ROOM_NONE && r != base ? NAN
							       : r->p.samples_per_s.value / base->p.samples_per_s.value,
			r == base ? 0 : jl_ratio_half_ln(&r->how.machine.widths, r->p.half_ln, base->p.half_ln));
		r->efficiency_frac = r->recipe == JL_RECIPE_SAME ? r->speedup.value * base->how.n_gpus / r->how.n_gpus
								 : NAN;
		if (r->efficiency_frac > JL_EFFICIENCY_PLAIN)
			r->above = jl_scaled_gain(&one, &more);
		sweep->changes |= r->recipe != JL_RECIPE_SAME && r->p.room != JL_ROOM_NONE;
	}
	sweep->base = base;
}

/* Throughput of one GPU as predict runs it by itself. A recipe with sharded states keeps them in 16 bits even on one GPU, so the two single-GPU
 * speeds differ; the output shows both. */
static struct jl_estimate alone(const struct jl_sweep *sweep, const struct jl_catalog *cat,
				const struct jl_subject *subject, const struct jl_request *each)
{
	const struct jl_predicted *one = sweep->base;
	struct jl_case how;
	struct jl_prediction p;

	if (!one || one->how.n_gpus != 1 || one->how.plan.zero < 1 || each->plan.zero != JL_UNSET ||
	    one->recipe != JL_RECIPE_SAME || jl_case_choose(&how, cat, subject, &one->how.machine, each, NULL))
		return jl_estimate_around(NAN, 0);
	jl_predict(&p, cat, &how);
	return p.room == JL_ROOM_NONE || how.plan.zero >= 1 ? jl_estimate_around(NAN, 0) : p.samples_per_s;
}

enum jl_status jl_sweep_make(struct jl_sweep *ret_sweep, const struct jl_catalog *cat, const struct jl_request *req,
			     const char *text, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_request each = *req;
	struct jl_machine part;
	struct jl_sweep_list list;
	struct jl_predicted *rows, *last;
	struct jl_subject subject;
	struct jl_sys sys;
	size_t most = 0;

	JL_TRY(sweep_parse(&list, text, err));
	JL_TRY(jl_subject_find(&subject, cat, req, arena, err));
	JL_TRY(req->system ? jl_sys_parse(&sys, cat, req->system, arena, err) : no_system("\"8x rtx-3090\"", err));
	each.plan.dp = NAN; /* the series varies it */
	rows = jl_arena_array(arena, list.n, sizeof *rows);
	JL_TRY(jl_got(rows, err));
	for (size_t i = 1; i < list.n; i++)
		most = list.values[i] > list.values[most] ? i : most;
	JL_TRY(machine_at(&part, cat, &list, &sys, most, arena, err));
	JL_TRY(jl_case_choose(&rows[most].how, cat, &subject, &part, &each, err));
	jl_predict(&rows[most].p, cat, &rows[most].how);
	const struct jl_request recipe = jl_recipe_of(&each, &rows[most].how);

	for (size_t i = 0; i < list.n; i++) {
		if (i == most)
			continue;
		JL_TRY(machine_at(&part, cat, &list, &sys, i, arena, err));
		JL_TRY(jl_recipe_weigh(&rows[i].how, &rows[i].p, &rows[i].recipe, cat, &subject, &part, &each, &recipe,
				       err));
	}
	last = &rows[list.n - 1];
	*ret_sweep = (struct jl_sweep){ .n = list.n, .rows = rows, .last = last };
	compare_rows(ret_sweep);
	ret_sweep->alone_per_s = alone(ret_sweep, cat, &subject, &each);
	last->n_advice = jl_advise(last->advice, cat, &last->how, arena);
	return JL_OK;
}

enum jl_status jl_collective_series_make(struct jl_collective_series *ret_series, const struct jl_catalog *cat,
					 const struct jl_collective_ask *ask, const char *system, const char *text,
					 struct jl_arena *arena, struct jl_err *err)
{
	struct jl_collective_series series = { .ask = *ask };
	struct jl_sweep_list list = { .n = 1, .over = JL_N_SWEEP };

	if (!system)
		return no_system("aws:p5.48xlarge", err);
	if (text)
		JL_TRY(sweep_parse(&list, text, err));
	JL_TRY(jl_sys_parse(&series.sys, cat, system, arena, err));
	series.n = list.n;
	series.cases = jl_arena_array(arena, list.n, sizeof(*series.cases));
	JL_TRY(jl_got(series.cases, err));
	for (size_t i = 0; i < list.n; i++) {
		const int n_nodes = list.over == JL_SWEEP_NODES ? list.values[i] : series.sys.n_nodes;
		struct jl_collective_ask each = *ask;
		struct jl_machine machine;

		if (list.over == JL_SWEEP_GPUS)
			each.n_ranks = list.values[i];
		JL_TRY(jl_machine_hosts(&machine, cat, &series.sys, n_nodes, arena, err));
		JL_TRY(jl_collective_case(&series.cases[i], &machine, &each, err));
	}
	*ret_series = series;
	return JL_OK;
}

/* --- estimates by hand */

/* The same request on the baseline, limited to its number of devices. */
static enum jl_status make_base(struct jl_case *ret_base, const struct jl_catalog *cat, const struct jl_request *req,
				const struct jl_case *c, const char *baseline, struct jl_arena *arena,
				struct jl_err *err)
{
	struct jl_request same = *req;
	const struct jl_request empty = jl_request_empty();

	same.system = baseline ? baseline : JL_EXPLAINED_BASELINE;
	same.plan = empty.plan;
	same.batch = c->shard.micro_batch * c->plan.n_micro; /* the same batch per worker */
	same.micro_batch = same.global_batch = same.accumulate = NAN;
	if (!jl_case_make(ret_base, cat, &same, arena, err))
		return JL_OK;
	same.dtype = JL_UNSET; /* an older device may not support the requested format */
	return jl_case_make(ret_base, cat, &same, arena, err);
}

enum jl_status jl_explained_make(struct jl_explained *ret_explained, const struct jl_catalog *cat,
				 const struct jl_request *req, const char *baseline, struct jl_arena *arena,
				 struct jl_err *err)
{
	static const double example_sides[JL_N_EXAMPLE] = { 32, 256 }, product_sides[JL_N_EXAMPLE] = { 32, 4096 };
	struct jl_explained *x = ret_explained;

	JL_TRY(jl_case_make(&x->how, cat, req, arena, err));
	JL_TRY(make_base(&x->base, cat, req, &x->how, baseline, arena, err));
	jl_explain(&x->e, &x->how, &x->base);
	for (size_t i = 0; i < JL_N_EXAMPLE; i++) {
		x->cycles[i] = jl_explain_cycles(example_sides[i]);
		x->products[i] = jl_explain_product(&x->how.machine.dev, product_sides[i]);
	}
	return JL_OK;
}
