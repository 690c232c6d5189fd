/* Sets "infer_llm", "serve_load" and "serve_silicon": two readers, one model. */
#include <math.h>

#include "rows/set_rows.h"
#include "rows/set_serve.h"
#include "catalog/sysdefault.h"
#include "system/resolve.h"
#include "parameters/arch.h"
#include "parameters/device_params.h"
#include "parameters/op_params.h"

JL_SET_CASES(jl_serve_row);

static enum jl_serve_scope scope_of(const struct jl_set_data *data)
{
	return data->ops == &jl_infer_ops ? JL_SCOPE_INFER : JL_SCOPE_SERVE;
}

static enum jl_status find_gpu(void *ctx, const char *text, struct jl_serve_row *row, bool *ret_p2p, bool *ret_nvlink,
			       struct jl_err *err)
{
	struct jl_set_data *data = ctx;
	size_t g;

	JL_TRY(jl_set_gpu(data, text, &g, err));
	row->gpu = data->gpus.gpus[g];
	jl_resolve_device(&row->dev, data->cat, row->gpu);
	(void)jl_gemm_shipped(data->cat, row->gpu->id, &row->dev);
	*ret_p2p = jl_gpu_has_p2p(row->gpu);
	/* bridges between cards are possible, but not stated */
	*ret_nvlink = !isnan(row->dev.link_Bps) &&
		      (!row->gpu->form_factor || !strcasestr(row->gpu->form_factor, "pcie"));
	return JL_OK;
}

static const char *cell_at(const void *ctx, const char *column)
{
	return jl_set_cell(ctx, column);
}

/* Appends one measurement as a row for the case after the last one. */
static struct jl_set_row *add_case(struct jl_set_data *data, const struct jl_set_reader *in, const char *model,
				   const char *what)
{
	static const char *const metrics[JL_N_METRIC][2] = { { "TTFT", "TTFT, prompts apart" },
							     { "TPOT", "TPOT, prompts apart" },
							     { "prefill", "prefill" },
							     { "decode", "decode" },
							     { "load", "load" } };
	struct jl_serve_row *c = (struct jl_serve_row *)data->cases + data->n;
	const struct jl_serve_run *run = &c->run;

	c->run.ops = jl_op_table_at(data->own, data->cat, c->dev.arch, run->engine);
	if (!c->plan && jl_serve_row_plan(c, in->arena, NULL))
		return NULL;
	char format[JL_SERVE_AXIS_MAX];
	const struct jl_axes axes = jl_serve_axes(run, format);
	struct jl_set_row *row = jl_set_add(
		data, in,
		&(struct jl_set_kind){ .framework = jl_engine_id(run->engine),
				       .link = metrics[run->metric][run->prefill.n_gpus > 0],
				       .what = what,
				       .model = model,
				       .answer = jl_serve_asked_of(run),
				       .kind = { [JL_LABEL_GPU] = c->gpu->id,
						 [JL_LABEL_FAMILY] = jl_arch_id(c->dev.arch),
						 [JL_LABEL_KIND] = axes.kind ? axes.kind : "" },
				       .extent_ln = { log(run->model.dense_params + run->model.expert_params),
						      log(run->n_requests), log(run->place.n_gpus) },
				       .meas = c->meas_s });

	if (!row)
		return NULL;
	row->code = axes.code ? axes.code : "";
	row->format = jl_label(in->labels, in->arena, format);
	row->naive[0] = jl_serve_naive_s(c, 0.7);
	row->naive[1] = jl_serve_naive_s(c, 1.0);
	data->n++;
	return row;
}

static enum jl_status add_infer(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	struct jl_serve_row *c = (struct jl_serve_row *)data->cases + data->n;
	const struct jl_row_cells cells = { .at = cell_at, .ctx = in };
	const struct jl_serve_find find = { .gpu = find_gpu, .ctx = data, .cat = data->cat };

	JL_TRY(jl_infer_row_read(c, &cells, &find, err));
	const char *model = jl_set_cell(in, "model");

	return add_case(data, in, model,
			jl_arena_printf(in->arena, "%s %s, %s GPUs, batch %s, %s+%s tokens", model,
					jl_set_cell(in, "dtype"), jl_set_cell(in, "n_gpus"),
					jl_set_cell(in, "batch_or_concurrency"), jl_set_cell(in, "in_len"),
					jl_set_cell(in, "out_len")))
		       ? JL_OK
		       : jl_fail_nomem(err);
}

/* The file has no groups: models are left out one after another, on all hardware. */
static enum jl_status add_silicon(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	static const char *const columns[] = { "silicon_ttft_ms", "silicon_tpot_ms" };
	const struct jl_row_cells cells = { .at = cell_at, .ctx = in };
	const struct jl_serve_find find = { .gpu = find_gpu, .ctx = data, .cat = data->cat };
	struct jl_serve_row c = { 0 };
	const char *model = "";

	JL_TRY(jl_silicon_row_read(&c, &model, &cells, &find, err));
	const char *what = jl_arena_printf(in->arena, "%s %s %s, %g GPUs, %g requests of %g+%g", model,
					   jl_set_cell(in, "precision"), jl_set_cell(in, "mode"),
					   c.run.place.n_gpus + c.run.prefill.n_gpus, c.run.n_requests, c.run.prompt,
					   c.run.output);

	for (int i = 0; i < 2; i++) {
		double ms = NAN;

		if (jl_serve_number(&cells, columns[i], &ms, err) || isnan(ms))
			continue;
		if (i == 0 && *jl_set_cell(in, "cold") == 'y') {
			struct jl_err why;

			(void)jl_fail(&why, JL_E_DATA,
				      "TTFT holds a start: like runs under more load have less than a third");
			JL_TRY(jl_set_unscored(in, &why, err));
			in->rows->rows[in->rows->n - 1].gpu = jl_label(in->labels, in->arena,
								       jl_set_cell(in, "system"));
			continue;
		}
		c.run.metric = i == 0 ? JL_METRIC_TTFT : JL_METRIC_TPOT;
		c.meas_s = ms / 1e3;
		((struct jl_serve_row *)data->cases)[data->n] = c;
		struct jl_set_row *row = add_case(data, in, model, what);

		JL_TRY(jl_got(row, err));
		c.plan = case_at(data, data->n - 1)->plan; /* the second metric is from the same run */
		row->gpu = jl_label(in->labels, in->arena, jl_set_cell(in, "system"));
		row->group = data->groups[data->n - 1] = jl_label(in->labels, in->arena, model);
	}
	return JL_OK;
}

static struct jl_param_list params(const struct jl_set_data *data)
{
	return jl_serve_params(scope_of(data));
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	const bool versions = data->ops == &jl_load_ops;
	const struct jl_param_list list = params(data);

	if (versions) /* current engines are fitted first */
		jl_params_read(data->cat, &list, x);
	return jl_serve_solve(versions                           ? JL_KNOWN_VERSIONS
			      : scope_of(data) == JL_SCOPE_INFER ? JL_KNOWN_INFER
								 : JL_KNOWN_SERVE,
			      data->cases, data->n, use, max_iter, x, err);
}

/* Serving engines use the parameters fitted to loads, also for rows of another set, as in predictions for users. */
static struct jl_serve_fit physics_of(const struct jl_set_data *data, const double *x, const struct jl_serve_row *c)
{
	const enum jl_serve_scope scope = scope_of(data);

	return jl_serve_scope_of(c->run.engine) == scope ? jl_serve_fit_of(scope, x, c->dev.arch, c->run.engine)
							 : jl_serve_shipped(data->cat, c->dev.arch, c->run.engine);
}

static void predict(const struct jl_set_data *data, const double *x, const struct jl_known *known,
		    struct jl_set_row *row)
{
	const struct jl_serve_row *c = case_at(data, row->item);
	const struct jl_serve_fit physics = physics_of(data, x, c);
	const struct jl_machine machine = {
		.cat = known->cat, .widths = known->widths, .sys = { .gpu = c->gpu }, .dev = c->dev, .served = c->dev
	};
	const struct jl_serve_time t = jl_serve_of(&machine, &physics, &c->run, c->plan);

	jl_set_answer(row, t.time_s, t.half_ln, t.doubt);
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, struct jl_buf *out)
{
	const struct jl_serve_row *c = case_at(data, row->item);
	const struct jl_serve_fit physics = physics_of(data, x, c);
	struct jl_serve_step s;

	(void)jl_serve_plan_s(c->plan, &c->dev, &physics, c->run.metric, &s);
	const struct jl_set_part parts[] = {
		{ JL_N("weights"), s.weights_s },    { JL_N("products"), s.math_s },
		{ JL_N("keys and values"), s.kv_s }, { JL_N("attention"), s.attention_s },
		{ JL_N("exchange"), s.exchange_s },  { JL_N("fixed"), s.fixed_s },
	};

	jl_buf_printf(out, JL_("one step %.3g ms: "), 1e3 * s.step_s);
	jl_set_parts(out, parts, JL_LEN(parts), s.step_s);
}

#define SERVING                                                                                                        \
	.unit = "s", .baselines = { JL_N("roofline at 0.7"), JL_N("listed rates") },                                   \
	.case_B = sizeof(struct jl_serve_row), .own_B = sizeof(struct jl_op_table), .refit_iter = 20,                  \
	.rows_a_group = 160, JL_SET_MODEL

const struct jl_set_ops jl_infer_ops = {
	SERVING,
	.name = "infer_llm",
	.files = (const char *const[]){ "infer_llm", NULL },
	.columns = (const char *const[]){ "engine", "tokens_per_s_kind", "primary_metric", "primary_value", "gpu",
					  NULL },
	.measures = (const char *const[]){ "primary_value", NULL },
	.rows_a_line = 1,
	.add = add_infer,
};

const struct jl_set_ops jl_load_ops = {
	SERVING,
	.name = "serve_load",
	.files = (const char *const[]){ "serve_load", NULL },
	.columns = (const char *const[]){ "engine", "engine_version", "tokens_per_s_kind", "primary_metric",
					  "primary_value", "gpu", NULL },
	.measures = (const char *const[]){ "primary_value", NULL },
	.rows_a_line = 1,
	.add = add_infer,
};

const struct jl_set_ops jl_serve_ops = {
	SERVING,
	.name = "serve_silicon",
	.files = (const char *const[]){ "serve_silicon", NULL },
	.columns = (const char *const[]){ "backend", "system", "silicon_ttft_ms", "silicon_tpot_ms", NULL },
	.measures = (const char *const[]){ "silicon_ttft_ms", "silicon_tpot_ms", NULL },
	.rows_a_line = 2,
	.add = add_silicon,
};
