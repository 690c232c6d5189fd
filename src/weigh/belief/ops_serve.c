/* infer_llm and serve_silicon as sets: two readers, one model. */
#include <math.h>
#include <string.h>

#include "belief/set_ops.h"
#include "belief/set_rows.h"
#include "belief/set_serve.h"
#include "system/resolve.h"

struct jl_set_data {
	struct jl_labels labels;
	struct jl_set_gpus gpus;
	enum jl_serve_scope scope;
	struct jl_serve_row *cases;
	size_t n;
};

static enum jl_status find_gpu(void *ctx, const char *text, struct jl_device *ret_dev, bool *ret_p2p, bool *ret_nvlink,
			       struct jl_err *err)
{
	struct jl_set_data *data = ctx;
	const struct jl_gpu *gpu = jl_set_find_gpu(data->gpus.cat, text, err);

	if (!gpu)
		return JL_E_NOTFOUND;
	jl_resolve_device(ret_dev, data->gpus.cat, gpu);
	*ret_p2p = jl_set_p2p(gpu);
	/* cards may have bridges between pairs: nobody says */
	*ret_nvlink = !isnan(ret_dev->link_Bps) && (!gpu->form_factor || !strcasestr(gpu->form_factor, "pcie"));
	return JL_OK;
}

static const char *cell_at(const void *ctx, const char *column)
{
	return jl_set_cell(ctx, column);
}

/* One measurement as a row of the driver; the caller has filled the case behind the last one. */
static enum jl_status add_case(struct jl_set_data *data, const struct jl_set_reader *in, const char *gpu,
			       const char *group, const char *what, struct jl_err *err)
{
	static const char *const metrics[JL_N_METRIC] = { "TTFT", "TPOT", "prefill", "decode", "load" };
	const struct jl_serve_row *c = &data->cases[data->n];
	struct jl_set_row *row = jl_set_add(in, jl_engine_id(c->engine), metrics[c->metric]);

	if (!row || !what)
		return jl_fail_nomem(err);
	if (gpu)
		row->gpu = jl_label(in->labels, in->arena, gpu);
	if (group)
		row->group = jl_label(in->labels, in->arena, group);
	row->what = what;
	row->meas = c->meas_s;
	row->naive[0] = jl_serve_naive_s(c, 0.7);
	row->naive[1] = jl_serve_naive_s(c, 1.0);
	row->item = data->n++;
	return JL_OK;
}

static enum jl_status add_infer(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	struct jl_serve_row *c = &data->cases[data->n];
	const struct jl_serve_cells cells = { .at = cell_at, .ctx = in };
	const struct jl_serve_find find = { .gpu = find_gpu, .ctx = data, .cat = data->gpus.cat };
	struct jl_err why;

	if (jl_set_check_measures(in, &why) || jl_infer_row_read(c, &cells, &find, &why))
		return jl_set_add_unscored(in, &why, err);
	return add_case(data, in, NULL, NULL,
			jl_arena_printf(in->arena, "%s %s, %s GPUs, batch %s, %s+%s tokens", jl_set_cell(in, "model"),
					jl_set_cell(in, "dtype"), jl_set_cell(in, "n_gpus"),
					jl_set_cell(in, "batch_or_concurrency"), jl_set_cell(in, "in_len"),
					jl_set_cell(in, "out_len")),
			err);
}

/* The file has no groups: models are left out one after the other, whatever they ran on. */
static enum jl_status add_silicon(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	static const char *const columns[] = { "silicon_ttft_ms", "silicon_tpot_ms" };
	const struct jl_serve_cells cells = { .at = cell_at, .ctx = in };
	const struct jl_serve_find find = { .gpu = find_gpu, .ctx = data, .cat = data->gpus.cat };
	struct jl_serve_row c = { 0 };
	const char *model = "";
	struct jl_err why;
	enum jl_status status = JL_OK;

	if (jl_set_check_measures(in, &why) || jl_silicon_row_read(&c, &model, &cells, &find, &why))
		return jl_set_add_unscored(in, &why, err);
	const char *what = jl_arena_printf(in->arena, "%s %s %s, %g GPUs, %g requests of %g+%g", model,
					   jl_set_cell(in, "precision"), jl_set_cell(in, "mode"),
					   c.place.n_gpus + c.prefill.n_gpus, c.n_requests, c.prompt, c.output);

	for (int i = 0; i < 2 && !status; i++) {
		double ms = NAN;

		if (jl_serve_number(&cells, columns[i], &ms, err) || isnan(ms))
			continue;
		c.metric = i == 0 ? JL_METRIC_TTFT : JL_METRIC_TPOT;
		c.meas_s = ms / 1e3;
		data->cases[data->n] = c;
		status = add_case(data, in, jl_set_cell(in, "system"), model, what, err);
	}
	return status;
}

static enum jl_status load(struct jl_set_data **io_data, struct jl_set_rows *io_rows, const struct jl_catalog *cat,
			   struct jl_csv *csv, struct jl_arena *arena, enum jl_serve_scope scope, struct jl_err *err)
{
	struct jl_set_data *data = *io_data ? *io_data : jl_arena_alloc(arena, sizeof(*data));
	const size_t a_line = scope == JL_SCOPE_SERVE ? 2 : 1, n_left = a_line * jl_set_rows_left(csv);

	if (!data)
		return jl_fail_nomem(err);
	data->gpus.cat = cat;
	data->scope = scope;
	data->cases = jl_set_grow(arena, data->cases, data->n, data->n + n_left, sizeof(*data->cases));
	if (!data->cases)
		return jl_fail_nomem(err);
	const struct jl_set_reader in = { .ops = scope == JL_SCOPE_SERVE ? &jl_serve_ops : &jl_infer_ops,
					  .csv = csv,
					  .arena = arena,
					  .labels = &data->labels,
					  .rows = io_rows };
	const enum jl_status status = jl_set_read(&in, data, scope == JL_SCOPE_SERVE ? add_silicon : add_infer, a_line,
						  err);

	if (!status)
		*io_data = data;
	return status;
}

static enum jl_status load_infer(struct jl_set_data **io_data, struct jl_set_rows *io_rows,
				 const struct jl_catalog *cat, struct jl_csv *csv, struct jl_arena *arena,
				 struct jl_err *err)
{
	return load(io_data, io_rows, cat, csv, arena, JL_SCOPE_INFER, err);
}

static enum jl_status load_silicon(struct jl_set_data **io_data, struct jl_set_rows *io_rows,
				   const struct jl_catalog *cat, struct jl_csv *csv, struct jl_arena *arena,
				   struct jl_err *err)
{
	return load(io_data, io_rows, cat, csv, arena, JL_SCOPE_SERVE, err);
}

static size_t n_param(const struct jl_set_data *data)
{
	(void)data;
	return jl_serve_n_param();
}

static void param(const struct jl_set_data *data, size_t i, struct jl_param *ret_param)
{
	jl_serve_param_at(data->scope, i, ret_param);
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	return jl_serve_solve(data->scope, data->cases, data->n, use, max_iter, x, err);
}

static void predict(const struct jl_set_data *data, const double *x, const unsigned char *use,
		    const unsigned char *only, struct jl_set_row *rows, size_t n)
{
	(void)use;
	for (size_t i = 0; i < n; i++) {
		struct jl_set_row *row = &rows[i];

		if (row->item == JL_NO_ITEM || (only && !only[row->item]))
			continue;
		const struct jl_serve_row *c = &data->cases[row->item];
		const struct jl_serve_fit physics = jl_serve_fit_of(x, c->dev.arch, c->engine);

		row->pred = jl_serve_row_s(c, &physics, NULL);
		row->half_ln = jl_serve_half_ln(data->scope, c->metric, c->assumed);
	}
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, enum jl_lang lang,
		    struct jl_buf *out)
{
	const struct jl_serve_row *c = &data->cases[row->item];
	const struct jl_serve_fit physics = jl_serve_fit_of(x, c->dev.arch, c->engine);
	struct jl_serve_step s;

	(void)jl_serve_row_s(c, &physics, &s);
	const struct jl_set_part parts[] = {
		{ "weights", "가중치", s.weights_s },        { "products", "행렬곱", s.math_s },
		{ "keys and values", "KV 캐시", s.kv_s },    { "attention", "어텐션", s.attention_s },
		{ "exchange", "GPU 간 통신", s.exchange_s }, { "fixed", "고정 비용", s.fixed_s },
	};

	jl_buf_printf(out, JL_T(lang, "one step %.3g ms: ", "한 스텝 %.3g ms: "), 1e3 * s.step_s);
	jl_set_parts(out, parts, sizeof(parts) / sizeof(*parts), s.step_s, lang);
}

static size_t n_items(const struct jl_set_data *data)
{
	return data->n;
}

static const char *const infer_files[] = { "infer_llm", NULL };
static const char *const infer_columns[] = { "engine", "tokens_per_s_kind", "primary_metric", "primary_value", "gpu",
					     NULL };
static const char *const infer_measures[] = { "primary_value", NULL };
static const char *const serve_files[] = { "serve_silicon", NULL };
static const char *const serve_columns[] = { "backend", "system", "silicon_ttft_ms", "silicon_tpot_ms", NULL };
static const char *const serve_measures[] = { "silicon_ttft_ms", "silicon_tpot_ms", NULL };

#define REFIT_ITER 10

const struct jl_set_ops jl_infer_ops = {
	.name = "infer_llm",
	.files = infer_files,
	.unit = "s",
	.columns = infer_columns,
	.measures = infer_measures,
	.baselines = { "roofline at 0.7", "listed rates" },
	.load = load_infer,
	.n_param = n_param,
	.param = param,
	.fit = fit,
	.refit_iter = REFIT_ITER,
	.predict = predict,
	.explain = explain,
	.n_items = n_items,
};

const struct jl_set_ops jl_serve_ops = {
	.name = "serve_silicon",
	.files = serve_files,
	.unit = "s",
	.columns = serve_columns,
	.measures = serve_measures,
	.baselines = { "roofline at 0.7", "listed rates" },
	.load = load_silicon,
	.n_param = n_param,
	.param = param,
	.fit = fit,
	.refit_iter = REFIT_ITER,
	.predict = predict,
	.explain = explain,
	.n_items = n_items,
};
