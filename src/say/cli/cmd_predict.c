/* jeoul predict: how long, how much memory, energy and money a training run takes on a system. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/explain_view.h"
#include "cli/predict_collective.h"
#include "cli/predict_near.h"
#include "cli/predict_serving.h"
#include "cli/predict_view.h"
#include "tell/tell.h"
#include "predict/collective_case.h"

const struct jl_option jl_predict_options[] = {
	JL_ASK_RUN_OPTIONS,
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_HOST_OPTIONS,
	JL_ASK_LENGTH_OPTIONS,
	JL_EXPLAIN_OPTIONS,
	{ .name = "sweep",
	  .type = JL_OPT_TEXT,
	  .arg = "gpus=N,N,...|nodes=N,N,...",
	  .en = JL_N("the first N GPUs of the system, or N such hosts, for each N") },
	{ .name = "size",
	  .type = JL_OPT_QUANTITY,
	  .kind = JL_K_BYTES,
	  .arg = "BYTES",
	  .en = JL_N("of a collective (allreduce, allgather, ...) instead of a model, e.g. \"16 GB\"") },
	{ .name = "near",
	  .en = JL_N("and the ten published training runs most like it, with the program's errors on them") },
	JL_SERVING_OPTIONS,
	{ 0 },
};

struct sweep {
	struct jl_sweep_list list;
	size_t n;
	struct jl_case *cases;
	struct jl_prediction *predictions;
};

static enum jl_status machine_at(struct jl_cli *cli, const struct sweep *sweep, const struct jl_sys *sys, size_t i,
				 struct jl_machine *ret_machine, struct jl_err *err)
{
	struct jl_machine whole;
	enum jl_status status;

	if (sweep->list.over == JL_SWEEP_NODES)
		return jl_machine_hosts(ret_machine, cli->cat, sys, sweep->list.values[i], &cli->arena, err);
	status = jl_machine_make(&whole, cli->cat, sys, err);
	return status ? status : jl_machine_take(ret_machine, &whole, sweep->list.values[i], err);
}

static enum jl_status run_sweep(struct jl_cli *cli, struct sweep *sweep, const struct jl_request *req,
				struct jl_err *err)
{
	struct jl_request each = *req;
	struct jl_subject subject;
	struct jl_machine part;
	struct jl_sys sys;
	enum jl_status status = jl_subject_find(&subject, cli->cat, req, &cli->arena, err);

	if (status)
		return status;
	if (!req->system)
		return jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on \"8x rtx-3090\"");
	status = jl_sys_parse(&sys, cli->cat, req->system, &cli->arena, err);
	if (status)
		return status;
	each.plan.dp = NAN; /* the sweep's own variable */
	sweep->cases = jl_arena_array(&cli->arena, sweep->n, sizeof(*sweep->cases));
	sweep->predictions = jl_arena_array(&cli->arena, sweep->n, sizeof(*sweep->predictions));
	if (!sweep->cases || !sweep->predictions)
		return jl_fail_nomem(err);
	for (size_t i = 0; i < sweep->n; i++) {
		status = machine_at(cli, sweep, &sys, i, &part, err);
		if (!status)
			status = jl_case_choose(&sweep->cases[i], cli->cat, &subject, &part, &each, err);
		if (status)
			return status;
		jl_predict(&sweep->predictions[i], cli->cat, &sweep->cases[i]);
	}
	return JL_OK;
}

/* Compute fills the bar; what costs most beside it is named. */
static void where_cell(struct jl_table *table, const struct jl_step_cost *step)
{
	size_t worst = 1;
	double frac;
	char bar[3 * JL_BAR_MAX + 1];

	for (size_t i = 2; i < JL_N_PART; i++)
		if (jl_part_s(step, i) > jl_part_s(step, worst))
			worst = i;
	frac = jl_part_s(step, worst) / step->step_s;
	jl_bar_text(bar, step->compute_s / step->step_s, 10);
	if (frac < 0.05)
		jl_table_printf(table, "%s %s", bar, JL_("compute"));
	else
		jl_table_printf(table, "%s %.0f %% %s", bar, 100 * frac, jl_msg(jl_parts[worst].en));
}

/* Against the first row: how much faster, and how much of what its GPUs did each of these does. */
static double speedup_at(const struct sweep *sweep, size_t i)
{
	return sweep->predictions[i].samples_per_s.value / sweep->predictions[0].samples_per_s.value;
}

static double efficiency_at(const struct sweep *sweep, size_t i)
{
	return speedup_at(sweep, i) * sweep->cases[0].n_gpus / sweep->cases[i].n_gpus;
}

static bool same_settings(const struct jl_case *a, const struct jl_case *b)
{
	const struct jl_plan *p = &a->plan, *q = &b->plan;

	return p->tp == q->tp && p->pp == q->pp && p->cp == q->cp && p->ep == q->ep && p->sp == q->sp &&
	       p->zero == q->zero && (p->shard > 0) == (q->shard > 0) && p->recompute == q->recompute &&
	       a->shard.micro_batch == b->shard.micro_batch;
}

/* Rows are to be compared: where they could not all run alike, how each runs is said, and what that does to the efficiency. */
static void print_settings(struct jl_cli *cli, const struct sweep *sweep)
{
	size_t first = 0;
	bool differ = false, above = false;

	for (size_t i = 1; i < sweep->n; i++) {
		differ |= !same_settings(&sweep->cases[0], &sweep->cases[i]);
		above |= efficiency_at(sweep, i) > 1.005;
	}
	for (size_t i = 1; differ && i <= sweep->n; i++) {
		char how[JL_CUT_TEXT_MAX], to[32] = "";

		if (i < sweep->n && same_settings(&sweep->cases[first], &sweep->cases[i]))
			continue;
		if (i - 1 > first)
			snprintf(to, sizeof(to), "–%d", sweep->cases[i - 1].n_gpus);
		jl_view_entry(cli, first ? NULL : JL_N("Settings"), JL_("%d%s GPU{/s}: %s"), sweep->cases[first].n_gpus,
			      to, jl_tell_cut(how, &sweep->cases[first].plan, sweep->cases[first].shard.micro_batch));
		first = i;
	}
	if (differ && above)
		jl_view_entry(cli, NULL, "%s",
			      JL_("above 100 %: what fits on more GPUs costs less time than what fits on few"));
}

static enum jl_status print_sweep(struct jl_cli *cli, const struct sweep *sweep, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_("GPUs"), .align = JL_RIGHT },
		{ .head = JL_("samples/s") },
		{ .head = JL_("speed-up"), .align = JL_RIGHT },
		{ .head = JL_("eff."), .align = JL_RIGHT },
		{ .head = JL_("step"), .align = JL_RIGHT },
		{ .head = JL_("where the time goes"), .flexible = true, .min_width = 20 },
	};
	struct jl_table table;
	char step[JL_UNITS_TEXT_MAX], a[JL_UNITS_TEXT_MAX], lo[JL_UNITS_TEXT_MAX], hi[JL_UNITS_TEXT_MAX];

	jl_table_init(&table, &cli->arena, columns, 6);
	for (size_t i = 0; i < sweep->n; i++) {
		const struct jl_prediction *p = &sweep->predictions[i];

		jl_table_printf(&table, "%d", sweep->cases[i].n_gpus);
		jl_table_printf(&table, "%s (%s–%s)", jl_about_text(a, p->samples_per_s.value),
				jl_about_text(lo, p->samples_per_s.lo), jl_about_text(hi, p->samples_per_s.hi));
		jl_table_printf(&table, "%.2fx", speedup_at(sweep, i));
		jl_table_printf(&table, "%.0f %%", 100 * efficiency_at(sweep, i));
		jl_table_cell(&table, jl_units_text(step, p->step_s.value, JL_K_TIME, 2));
		where_cell(&table, &p->step);
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static void sweep_json(struct jl_json *json, const struct sweep *sweep)
{
	jl_json_put_array(json, "sweep");
	for (size_t i = 0; i < sweep->n; i++) {
		jl_json_object(json);
		jl_view_case_json(json, &sweep->cases[i]);
		jl_json_put_number(json, "speedup", speedup_at(sweep, i));
		jl_json_put_number(json, "efficiency_frac", efficiency_at(sweep, i));
		jl_view_prediction_json(json, &sweep->cases[i], &sweep->predictions[i]);
		jl_view_assumed_json(json, &sweep->cases[i]);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

static enum jl_status predict_sweep(struct jl_cli *cli, const struct jl_request *req, const char *text,
				    struct jl_err *err)
{
	struct sweep sweep = { 0 };
	struct jl_advice advice[JL_ADVICE_MAX];
	const struct jl_case *last;
	struct jl_json json;
	size_t n_advice;
	enum jl_status status = jl_sweep_parse(&sweep.list, text, err);

	sweep.n = sweep.list.n;
	if (!status)
		status = run_sweep(cli, &sweep, req, err);
	if (status)
		return status;
	last = &sweep.cases[sweep.n - 1];
	n_advice = jl_advise(advice, cli->cat, last, &cli->arena);
	if (cli->json) {
		jl_json_init(&json, &cli->out, true);
		jl_json_object(&json);
		sweep_json(&json, &sweep);
		jl_view_advice_json(&json, advice, n_advice);
		jl_json_end_object(&json);
		jl_json_finish(&json);
		return JL_OK;
	}
	jl_view_case(cli, last);
	status = print_sweep(cli, &sweep, err);
	jl_buf_putc(&cli->out, '\n');
	print_settings(cli, &sweep);
	jl_view_bound(cli, last, &sweep.predictions[sweep.n - 1]);
	jl_view_memory(cli, last, &sweep.predictions[sweep.n - 1]);
	jl_view_advice(cli, advice, n_advice);
	jl_view_assumed(cli, last);
	return status;
}

enum jl_status jl_cmd_predict(struct jl_cli *cli, struct jl_err *err)
{
	const char *sweep = jl_text(cli, "sweep");
	const bool near = jl_flag(cli, "near");
	enum jl_collective_kind kind;
	struct jl_request req;
	struct jl_case c;
	struct jl_prediction prediction;
	struct jl_advice advice[JL_ADVICE_MAX];
	struct jl_json json;
	size_t n_advice;
	enum jl_status status;

	const bool collective = cli->args.n_operands && jl_collective_by_name(&kind, cli->args.operands[0]);

	if (near && (collective || sweep || jl_flag(cli, "serve") || jl_flag(cli, "explain")))
		return jl_fail(err, JL_E_USAGE, "--near is for one training run: leave out %s",
			       collective              ? "the collective"
			       : sweep                 ? "--sweep"
			       : jl_flag(cli, "serve") ? "--serve"
						       : "--explain");
	if (collective)
		return jl_predict_collective(cli, kind, err);
	if (jl_given(cli, "size"))
		return jl_fail(err, JL_E_USAGE, "--size is for a collective, e.g. 'jeoul predict allreduce'");
	status = jl_ask_request(&req, cli, err);
	if (!status)
		status = jl_explain_check(cli, err);
	if (status)
		return status;
	if (jl_flag(cli, "serve"))
		return jl_predict_serving(cli, &req, err);
	status = jl_serving_unused(cli, err);
	if (status)
		return status;
	if (sweep)
		return predict_sweep(cli, &req, sweep, err);
	status = jl_case_make(&c, cli->cat, &req, &cli->arena, err);
	if (status)
		return status;
	if (jl_flag(cli, "explain"))
		return jl_view_explain(cli, &req, &c, err);
	jl_predict(&prediction, cli->cat, &c);
	n_advice = jl_advise(advice, cli->cat, &c, &cli->arena);
	if (!cli->json) {
		jl_view_prediction(cli, &c, &prediction, advice, n_advice);
		return near ? jl_predict_near(cli, &c, NULL, err) : JL_OK;
	}
	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_view_case_json(&json, &c);
	jl_view_prediction_json(&json, &c, &prediction);
	jl_view_advice_json(&json, advice, n_advice);
	jl_view_assumed_json(&json, &c);
	if (near)
		status = jl_predict_near(cli, &c, &json, err);
	jl_json_end_object(&json);
	jl_json_finish(&json);
	return status;
}
