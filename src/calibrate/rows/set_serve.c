/* Reads rows of infer_llm (seconds per step, per prompt, or per token under load), and the prediction and fit shared with serve_silicon. */
#include "rows/set_serve.h"

#include <math.h>
#include <string.h>
#include <stdio.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/num.h"
#include "rows/kept.h"
#include "parameters/optimize.h"
#include "parameters/arch.h"
#include "catalog/find.h"
#include "program/served.h"

/* Defaults for unstated values: a chat prompt; an answer (chat data sets such as ShareGPT have about as many prompt tokens as answer tokens); full
 * load: as many sequences as fit, up to the frameworks' limits. */

#define PROMPT      128.0
#define CHAT_PROMPT 250.0
#define CHAT_OUTPUT 230.0
#define OUTPUT      256.0
#define FULL_LOAD   8192.0
#define FULL_BATCH  2048.0

static enum jl_status find_model(struct jl_served *ret_served, const struct jl_row_cells *cells,
				 const struct jl_catalog *cat, struct jl_err *err)
{
	const char *text = cells->at(cells->ctx, "model"), *id = jl_spelt(cat, "model-spelling", text);
	const struct jl_model_info *info = NULL;

	JL_TRY(jl_find_model(&info, cat, id ? id : text, err));
	*ret_served = jl_served_from_catalog(info);
	return JL_OK;
}

/* "RTX 4090 + RTX 3090 Ti": layers on both, which have the same memory bandwidth. */
static enum jl_status find_gpu(struct jl_serve_row *row, const struct jl_row_cells *cells,
			       const struct jl_serve_find *find, struct jl_err *err)
{
	const char *gpu = cells->at(cells->ctx, "gpu"), *spelt = cells->at(cells->ctx, "gpu_as");
	size_t len = strcspn(gpu, "(+");
	char name[64];
	bool p2p, nvlink;

	while (len > 0 && gpu[len - 1] == ' ')
		len--;
	(void)snprintf(name, sizeof(name), "%.*s", (int)len, gpu);
	JL_TRY(find->gpu(find->ctx, *spelt ? spelt : name, row, &p2p, &nvlink, err));
	jl_served_join(&row->run.place, &row->dev, p2p, nvlink);
	return JL_OK;
}

/* Metrics of sources: seconds of a step are n_tokens per sequence divided by the rate. */
static const struct {
	const char *kind;
	enum jl_serve_metric metric;
} kinds[] = {
	{ "prefill", JL_METRIC_PREFILL },
	{ "decode", JL_METRIC_DECODE },
	{ "output", JL_METRIC_LOAD },
};

static double or_else(double value, double instead, struct jl_serve_row *row)
{
	if (isnan(value))
		row->run.n_assumed = 1;
	return isnan(value) ? instead : value;
}

static enum jl_status read_kind(struct jl_serve_row *row, const struct jl_row_cells *cells, double value,
				struct jl_err *err)
{
	const char *kind = cells->at(cells->ctx, "rate_of");
	size_t k = 0;

	if (strcmp(cells->at(cells->ctx, "primary_metric"), "latency_ms") == 0) {
		row->run.metric = JL_METRIC_PREFILL;
		row->run.generate = *cells->at(cells->ctx, "generates") == 'y';
		row->meas_s = value / 1e3;
		return JL_OK;
	}
	while (k < JL_LEN(kinds) && strcmp(kind, kinds[k].kind) != 0)
		k++;
	if (k == JL_LEN(kinds))
		return jl_fail(err, JL_E_DATA, "tokens_per_s_kind '%.40s': prefill, decode or output",
			       cells->at(cells->ctx, "tokens_per_s_kind"));
	row->run.metric = kinds[k].metric;
	row->run.context = row->run.prompt + 0.5 * row->run.output;
	row->meas_s = 1 / value;
	if (row->run.metric == JL_METRIC_PREFILL)
		row->meas_s = row->run.n_requests * row->run.prompt / value;
	else if (row->run.metric == JL_METRIC_DECODE)
		row->meas_s = row->run.n_requests / value;
	return JL_OK;
}

static enum jl_status read_load(struct jl_serve_row *row, const struct jl_row_cells *cells, struct jl_err *err)
{
	const bool chats = *cells->at(cells->ctx, "chats") == 'y';
	double value = NAN;

	JL_TRY(jl_serve_number(cells, "in_len", &value, err));
	row->run.prompt = or_else(value, chats ? CHAT_PROMPT : PROMPT, row);
	JL_TRY(jl_serve_number(cells, "out_len", &value, err));
	row->run.output = or_else(value, chats ? CHAT_OUTPUT : OUTPUT, row);
	row->run.n_requests = FULL_LOAD;
	row->run.max_batch = FULL_BATCH;
	if (*cells->at(cells->ctx, "full_load") == 'y')
		return JL_OK;
	JL_TRY(jl_serve_number(cells, "batch_or_concurrency", &value, err));
	row->run.n_requests = fmax(or_else(value, 1, row), 1);
	row->run.max_batch = row->run.n_requests;
	return JL_OK;
}

static enum jl_status read_place(struct jl_serve_row *row, const struct jl_row_cells *cells, struct jl_err *err)
{
	double n_gpus = NAN, tp = NAN, pp = NAN;

	JL_TRY(jl_serve_number(cells, "n_gpus", &n_gpus, err));
	JL_TRY(jl_serve_number(cells, "tp", &tp, err));
	JL_TRY(jl_serve_number(cells, "pp", &pp, err));
	n_gpus = isnan(n_gpus) ? 1 : fmax(n_gpus, 1);
	row->run.place.n_gpus = isnan(tp) ? 1 : fmax(tp, 1);
	row->run.place.n_stages = fmax(n_gpus / row->run.place.n_gpus, 1);
	if (jl_engine_info(row->run.engine)->by_layer)
		jl_serve_by_layer(&row->run.place, n_gpus);
	/* under load every stage works on its own sequences */
	if (jl_engine_info(row->run.engine)->operators) {
		row->run.place.n_gpus *= row->run.place.n_stages;
		row->run.place.n_stages = 1;
	}
	return JL_OK;
}

enum jl_status jl_infer_row_read(struct jl_serve_row *ret_row, const struct jl_row_cells *cells,
				 const struct jl_serve_find *find, struct jl_err *err)
{
	struct jl_serve_row row = { .run.engine = jl_engine_of_source(cells->at(cells->ctx, "engine"),
								      cells->at(cells->ctx, "engine_version")) };
	const char *dtype = cells->at(cells->ctx, "dtype");
	double value = NAN;

	JL_TRY(find_gpu(&row, cells, find, err));
	row.run.engine = jl_engine_on(row.run.engine, row.gpu->vendor);
	JL_TRY(find_model(&row.run.model, cells, find->cat, err));
	row.run.n_assumed |= !*dtype;
	JL_TRY(jl_served_format(&row.run.format, *dtype ? dtype : "fp16", err));
	JL_TRY(read_place(&row, cells, err));
	JL_TRY(read_load(&row, cells, err));
	JL_TRY(jl_serve_number(cells, "primary_value", &value, err));
	JL_TRY(read_kind(&row, cells, value, err));
	if (row.run.format.dtype == JL_FP8 && jl_engine_is(row.run.engine, "trtllm"))
		row.run.format.kv_B = 1;
	jl_served_format_on(&row.run.format, &row.dev);
	jl_engine_format(&row.run.format, row.run.engine);
	*ret_row = row;
	return JL_OK;
}

enum jl_status jl_serve_number(const struct jl_row_cells *cells, const char *column, double *ret_value,
			       struct jl_err *err)
{
	const char *text = cells->at(cells->ctx, column);
	size_t used = 0;
	double value = NAN;

	if (*text && (jl_num_parse(text, &value, &used) != JL_NUM_OK || text[used] != '\0' || !(value >= 0)))
		return jl_fail(err, JL_E_PARSE, "%s: '%.40s' is not a number from 0", column, text);
	*ret_value = value;
	return JL_OK;
}

enum jl_status jl_serve_row_plan(struct jl_serve_row *row, struct jl_arena *arena, struct jl_err *err)
{
	const enum jl_serve_scope scope = jl_serve_scope_of(row->run.engine);
	const struct jl_param_list params = jl_serve_params(scope);
	double x[JL_SERVE_MAX_PARAMS];
	struct jl_run_plan plan, *kept;

	jl_params_start(&params, x);
	const struct jl_serve_fit fit = jl_serve_fit_of(scope, x, row->dev.arch, row->run.engine);
	const enum jl_status status = jl_serve_plan(&plan, NULL, &row->dev, &fit, &row->run, err);
	const size_t size = offsetof(struct jl_run_plan, shares) + (size_t)plan.n * sizeof(plan.shares[0]);

	if (status)
		return status;
	kept = jl_arena_alloc(arena, sizeof(*kept) < size ? sizeof(*kept) : size);
	JL_TRY(jl_got(kept, err));
	memcpy(kept, &plan, size);
	row->plan = kept;
	return JL_OK;
}

double jl_serve_naive_s(const struct jl_serve_row *row, double frac)
{
	const struct jl_served *m = &row->run.model;
	const double n = row->run.place.n_gpus * row->run.place.n_stages;
	const double flopps =
		row->dev.peak_flopps[isnan(row->dev.peak_flopps[row->run.format.dtype]) ? JL_FP32
											: row->run.format.dtype];
	const double active = m->dense_params + (m->n_experts > 1 ? m->expert_params * m->top_k / m->n_experts : 0);
	const double batch = fmin(row->run.n_requests / fmax(row->run.n_decode_workers, 1),
				  row->run.max_batch > 0 ? row->run.max_batch : 1e9);
	const double step_s =
		((m->dense_params * row->run.format.weight_B + m->expert_params * row->run.format.expert_B) / n +
		 batch * (row->run.prompt + 0.5 * row->run.output) * m->kv_elems * row->run.format.kv_B / n) /
		(row->dev.mem_Bps * frac);
	const double prompt_s = 2 * row->run.prompt * active / n / (flopps * frac);

	switch (row->run.metric) {
	case JL_METRIC_TTFT: return prompt_s;
	case JL_METRIC_PREFILL:
		return row->run.n_requests * prompt_s + (row->run.generate ? row->run.output * step_s : 0);
	case JL_METRIC_LOAD: return (step_s * row->run.output + batch * prompt_s) / (batch * row->run.output);
	default: return step_s;
	}
}

/* Residual whose cost equals one prior standard deviation. Large, because few models are measured on many engines: one model's rows must not move
 * all others. */
static const double prior_ln[] = { [JL_KNOWN_INFER] = 0.6, [JL_KNOWN_SERVE] = 4.0, [JL_KNOWN_VERSIONS] = 2.0 };
#define HUBER_LN 0.15

struct fit_ctx {
	enum jl_serve_known what;
	enum jl_serve_scope scope;
	const struct jl_serve_row *rows;
	const size_t *used;
	size_t n_used;
	struct jl_kept *kept;
};

static void residuals(void *ctx, const double *x, double *ret_r)
{
	const struct fit_ctx *fit = ctx;

	jl_kept_begin(fit->kept);
	for (size_t i = 0; i < fit->n_used; i++) {
		const struct jl_serve_row *row = &fit->rows[fit->used[i]];
		const size_t key = (size_t)row->dev.arch * JL_ENGINES_MAX + (size_t)row->run.engine;
		struct jl_serve_fit *asked = jl_kept_ask(fit->kept, key);
		bool fresh;
		double *r;

		if (jl_budget_spend(20))
			return;
		if (asked) {
			*asked = jl_serve_fit_of(fit->scope, x, row->dev.arch, row->run.engine);
			jl_kept_settle(fit->kept, key);
		}
		const struct jl_serve_fit *physics = jl_kept_at(fit->kept, key, i, &r, &fresh);

		if (fresh)
			*r = log(jl_serve_plan_s(row->plan, &row->dev, physics, row->run.metric, NULL) / row->meas_s);
		ret_r[i] = *r;
	}
}

/* False: no row depends on the parameter, which is then excluded from the fit. */
static bool is_known(const struct fit_ctx *fit, double *x, size_t param, const double *r, double *room)
{
	const double kept = x[param];
	bool known = false;

	x[param] *= 0.97;
	residuals((void *)fit, x, room);
	x[param] *= 1.06;
	residuals((void *)fit, x, room + fit->n_used);
	x[param] = kept;
	for (size_t i = 0; i < fit->n_used && !known; i++)
		known = r[i] != room[i] || r[i] != room[fit->n_used + i];
	return known;
}

static enum jl_status solve(const struct fit_ctx *fit, int max_iter, double *room, double *x, struct jl_err *err)
{
	const enum jl_serve_scope scope = fit->scope;
	const struct jl_param_list params = jl_serve_params(scope);
	const size_t n = params.n;
	double lo[JL_SERVE_MAX_PARAMS], hi[JL_SERVE_MAX_PARAMS];
	double prior[JL_SERVE_MAX_PARAMS], sd[JL_SERVE_MAX_PARAMS];

	residuals((void *)fit, x, room);
	for (size_t i = 0; i < n; i++) {
		struct jl_param param;

		jl_param_of(&params, i, &param);
		const bool known = param.lo < param.hi &&
				   (fit->what != JL_KNOWN_VERSIONS || jl_serve_of_version(scope, i)) &&
				   is_known(fit, x, i, room, room + fit->n_used);

		lo[i] = known ? param.lo : x[i];
		hi[i] = known ? param.hi : x[i];
		prior[i] = log(param.prior);
		sd[i] = param.prior_sd_ln / prior_ln[fit->what];
	}
	return jl_fit_solve(&(struct jl_fit_problem){ .n_param = n,
						      .n_resid = fit->n_used,
						      .lo = lo,
						      .hi = hi,
						      .prior_ln = prior,
						      .prior_sd_ln = sd,
						      .residuals = residuals,
						      .ctx = (void *)fit,
						      .huber = HUBER_LN,
						      .max_iter = max_iter },
			    x, NULL, err);
}

enum jl_status jl_serve_solve(enum jl_serve_known what, const struct jl_serve_row *rows, size_t n_rows,
			      const unsigned char *use, int max_iter, double *x, struct jl_err *err)
{
	const enum jl_serve_scope scope = what == JL_KNOWN_INFER ? JL_SCOPE_INFER : JL_SCOPE_SERVE;
	size_t *used = jl_realloc(NULL, (n_rows + 1) * sizeof(*used)), n_used = 0;
	double *room = jl_realloc(NULL, (3 * n_rows + 1) * sizeof(*room));
	struct jl_kept kept = { .n_keys = 0 };
	enum jl_status status = used && room ? jl_kept_make(&kept, sizeof(struct jl_serve_fit),
							    (size_t)JL_ARCHS_MAX * JL_ENGINES_MAX, n_rows, err)
					     : jl_fail_nomem(err);

	if (status)
		goto out;
	for (size_t i = 0; i < n_rows; i++)
		if ((!use || use[i]) && jl_serve_scope_of(rows[i].run.engine) == scope)
			used[n_used++] = i;
	status = solve(&(struct fit_ctx){ what, scope, rows, used, n_used, &kept }, max_iter, room, x, err);
out:
	jl_kept_release(&kept);
	jl_free(used);
	jl_free(room);
	return status;
}
