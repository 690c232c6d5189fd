/* Reads rows of the set "power": bytes and FLOP per second from model, batch and throughput. */
#include "rows/set_power.h"

#include <math.h>
#include <string.h>

#include "parameters/optimize.h"
#include "catalog/find.h"
#include "program/transformer.h"

/* Bytes moved when serving a model. kv_B: keys and values per context token in 16 bits, all layers; state_B: recurrent state read and written per
 * token. */
struct served {
	double params, active, kv_B, state_B;
	double n_experts, top_k;
};

/* Models that are not plain transformers, from their model cards and config.json; others are in the catalog. */
static const struct {
	const char *name; /* as in column catalog_model */
	struct served model;
} hybrids[] = {
	{ "nemotron-nano-9b", { 8.89e9, 8.89e9, 16384, 283e6, 1, 1 } },
	{ "nemotron-nano-12b", { 12.31e9, 12.31e9, 24576, 294e6, 1, 1 } },
};

/* Families with local attention: share of keys and values still read at a context of about 1,000. */
static const struct {
	const char *family;
	double kv_frac;
} locals[] = { { "gemma3", 1.0 / 6.0 } };

/* Kinds of requests: mean context during decoding, and prompt tokens per generated token. Reasoning on graduate questions generates thousands of
 * tokens for a prompt of a few hundred (gpt-oss at its default effort about a third as many); a chat answer has about twice the length of its
 * prompt. */
static const struct {
	const char *requests;
	double context, prompt_frac;
} requests[] = {
	{ "reasoning_short", 1500, 0.1 },
	{ "reasoning", 4000, 0.1 },
	{ "", 1000, 0.5 },
};

static const struct {
	const char *format;
	double weight_B;
	int narrow;
} formats[] = {
	{ "fp8", 1, 1 }, { "int8", 1, 1 }, { "mxfp4", 0.55, 0 }, { "fp4", 0.55, 0 }, { "", 2, 0 },
};

/* Training runs without stated FLOP: demand above idle as a share of the range between idle and cap. Large dense networks keep a GPU busy; small
 * ones and embeddings wait for memory and host. */
static const struct {
	const char *activity;
	double frac;
} activities[] = {
	{ "bert", 0.85 }, { "resnet", 0.8 }, { "deepspeech", 0.65 }, { "shufflenet", 0.55 },
	{ "ncf", 0.4 },   { "peak", 1.1 },   { "llama", 0.95 },      { "", 0.75 },
};

/* 8-GPU HGX node: of 10.2 kW rated for 8 boards of 700 W, 4.6 kW are fans, processors, NICs and losses; under load about 0.55 of it, per watt of
 * board TDP */
#define HOST_PER_TDP (0.55 * 4600 / 5600)

static double kv_B(const struct jl_model_info *info, const struct jl_transformer *model)
{
	const double element_B = 2.0;
	const double each = info->mla.kv_lora > 0 ? info->mla.kv_lora + info->mla.rope_dim
						  : 2.0 * model->kv_heads * model->head_dim;
	double frac = 1.0;

	for (size_t i = 0; i < JL_LEN(locals); i++)
		if (strcmp(info->family, locals[i].family) == 0)
			frac = locals[i].kv_frac;
	return frac * model->n_layers * each * element_B;
}

static bool find_served(struct served *ret_served, const struct jl_catalog *cat, const struct jl_power_cells *cells)
{
	const struct jl_model_info *info;
	struct jl_transformer model;

	for (size_t i = 0; i < JL_LEN(hybrids); i++) {
		if (strcmp(cells->catalog_model, hybrids[i].name) == 0) {
			*ret_served = hybrids[i].model;
			return true;
		}
	}
	if (jl_find_model(&info, cat, cells->model, NULL) != JL_OK)
		return false;
	jl_transformer_from_catalog(&model, info);
	const struct jl_transformer_params params = jl_transformer_params(&model);

	*ret_served = (struct served){ .params = params.total,
				       .active = params.active,
				       .kv_B = kv_B(info, &model),
				       .n_experts = info->moe.n_experts > 0 ? info->moe.n_experts : 1,
				       .top_k = info->moe.n_experts > 0 ? info->moe.top_k : 1 };
	return true;
}

/* Bytes of weights read per step of `batch` sequences: every expert with at least one of them. */
static double weights_read(const struct served *model, double batch, double weight_B)
{
	if (model->n_experts <= 1)
		return model->params * weight_B;
	const double expert = (model->params - model->active) / (model->n_experts - model->top_k);
	const double routed = expert * model->n_experts, shared = fmax(model->params - routed, 0);

	return (shared + routed * (1 - pow(1 - model->top_k / model->n_experts, batch))) * weight_B;
}

static void serve(struct jl_power_row *row, const struct served *model, const struct jl_power_cells *cells,
		  double batch, double tokens_per_s)
{
	size_t f = 0, r = 0;

	while (*formats[f].format && strcmp(cells->format, formats[f].format) != 0)
		f++;
	while (*requests[r].requests && strcmp(cells->requests, requests[r].requests) != 0)
		r++;
	const double step_Hz = tokens_per_s / batch, token_B = requests[r].context * model->kv_B + model->state_B;
	const double moved_Bps = step_Hz * weights_read(model, batch, formats[f].weight_B) + tokens_per_s * token_B;
	const double flopps = tokens_per_s * (1 + requests[r].prompt_frac) * 2 * model->active;

	row->ask.work.moved_Bps = moved_Bps / row->n_gpus;
	row->ask.work.flopps = flopps / row->n_gpus;
	row->ask.work.narrow = formats[f].narrow;
	row->ask.work.routed = model->n_experts > 1;
}

static enum jl_status read_watts(struct jl_power_row *row, const struct jl_power_cells *cells, struct jl_err *err)
{
	double n_gpus = NAN, total_W = NAN, each_W = NAN;

	JL_TRY(jl_row_number(&n_gpus, cells->n_gpus, "n_gpus", err));
	JL_TRY(jl_row_number(&total_W, cells->avg_power_w_total, "avg_power_w_total", err));
	JL_TRY(jl_row_number(&each_W, cells->avg_power_w_per_gpu, "avg_power_w_per_gpu", err));
	JL_TRY(jl_row_number(&row->ask.work.limit_W, cells->power_limit_w, "power_limit_w", err));
	if (isnan(n_gpus))
		n_gpus = 1;
	if (!(n_gpus >= 1 && n_gpus <= 1e6))
		return jl_fail(err, JL_E_RANGE, "n_gpus: %g; at least 1", n_gpus);
	row->n_gpus = (int)n_gpus;
	row->meas_W = isnan(total_W) ? each_W * n_gpus : total_W;
	if (!(row->meas_W > 0 && isfinite(row->meas_W)))
		return jl_fail(err, JL_E_DATA, "no power in watts in avg_power_w_total or avg_power_w_per_gpu");
	if (*cells->of_node == 'y') {
		row->ask.host_W = HOST_PER_TDP * row->dev.tdp_W * n_gpus;
		row->assumed |= JL_POWER_ASSUMED_HOST;
	}
	return JL_OK;
}

enum jl_status jl_power_row_read(struct jl_power_row *ret_row, const struct jl_power_cells *cells,
				 const struct jl_power_find *find, struct jl_err *err)
{
	struct jl_power_row row = { .ask.activity_frac = NAN };
	double batch = NAN, rate = NAN;

	JL_TRY(find->device(find->ctx, cells->gpu, &row, err));
	JL_TRY(read_watts(&row, cells, err));
	JL_TRY(jl_row_number(&batch, cells->batch, "batch", err));
	JL_TRY(jl_row_number(&rate, cells->throughput, "throughput", err));
	struct served model;

	if (*cells->counts_tokens == 'y' && batch >= 1 && rate > 0 && find_served(&model, find->cat, cells)) {
		serve(&row, &model, cells, batch, rate);
	} else {
		size_t i = 0;

		while (*activities[i].activity && strcmp(cells->activity, activities[i].activity) != 0)
			i++;
		row.ask.activity_frac = activities[i].frac;
		row.assumed |= JL_POWER_ASSUMED_ACTIVITY;
	}
	row.ask.n_gpus = row.n_gpus;
	row.ask.n_assumed = __builtin_popcount(row.assumed);
	*ret_row = row;
	return JL_OK;
}

double jl_power_ln_ratio(const struct jl_power_row *row, const struct jl_power_fit *fit)
{
	return log(jl_power_ask_W(&row->dev, fit, &row->ask) / row->meas_W);
}

/* residual whose cost equals a deviation of one prior standard deviation */
#define PRIOR_LN 0.3
#define HUBER_LN 0.08

struct fit_ctx {
	const struct jl_power_row *rows;
	size_t n_rows;
	const unsigned char *use;
};

static void residuals(void *ctx, const double *x, double *ret_r)
{
	const struct fit_ctx *fit = ctx;
	const struct jl_power_fit power = jl_power_fit_of(x);

	for (size_t i = 0; i < fit->n_rows; i++)
		if (!fit->use || fit->use[i])
			*ret_r++ = jl_power_ln_ratio(&fit->rows[i], &power);
}

enum jl_status jl_power_solve(const struct jl_power_row *rows, size_t n_rows, const unsigned char *use, double *x,
			      double *ret_cost, struct jl_err *err)
{
	struct fit_ctx fit = { .rows = rows, .n_rows = n_rows, .use = use };

	return jl_fit_params(
		&jl_power_params, PRIOR_LN,
		(struct jl_fit_problem){
			.n_resid = jl_fit_used(use, n_rows), .residuals = residuals, .ctx = &fit, .huber = HUBER_LN },
		x, ret_cost, err);
}
