/* Reads rows of serve_silicon: machines under a fixed number of requests. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows/set_serve.h"
#include "catalog/find.h"
#include "program/served.h"

/* Thresholds for unstated plans, from sources that state theirs: few requests keep tensor-parallel attention, many requests per device use
 * data-parallel attention. */
#define MANY          64.0 /* number of requests that counts as many, for TensorRT-LLM */
#define REQUESTS_EACH 4.0  /* per device for prefill, or in a rack */
#define ANSWERS_EACH  8.0  /* requests per device for decoding */
/* up to this many requests a rack has this many small decode workers and one prefill worker */
#define FEW         256.0
#define FEW_WORKERS 5.0
/* share of the memory that weights may take on a single named device: more leaves no working memory. A stated width has run, so it may take more. */
#define ALONE_FRAC  0.85
#define STATED_FRAC 0.95

static bool says(const struct jl_row_cells *cells, const char *column)
{
	return *cells->at(cells->ctx, column) == 'y';
}

static enum jl_status find_model(struct jl_serve_row *row, const char **ret_model, const struct jl_row_cells *cells,
				 const struct jl_catalog *cat, struct jl_err *err)
{
	const struct jl_model_info *info = jl_model_by_id(cat, cells->at(cells->ctx, "catalog_model"));

	if (!info)
		JL_TRY(jl_find_model(&info, cat, cells->at(cells->ctx, "model_path"), err));
	row->run.model = jl_served_from_catalog(info);
	*ret_model = info->id;
	return JL_OK;
}

static enum jl_status read_format(struct jl_serve_row *row, const struct jl_row_cells *cells, struct jl_err *err)
{
	const char *stated = cells->at(cells->ctx, "precision"), *by_name = cells->at(cells->ctx, "format");
	struct jl_serve_format *f = &row->run.format;

	JL_TRY(jl_served_format(f, *stated ? stated : by_name, err));
	/* Meta's FP8 models have one scale, others one per block */
	if (f->dense == JL_OP_FP8 && !says(cells, "one_scale"))
		f->dense = f->experts = JL_OP_FP8_BLOCK;
	jl_engine_format(f, row->run.engine);
	if (f->expert_B < 1 && row->run.model.n_experts > 1 && says(cells, "narrow_experts")) {
		f->weight_B = 2;
		f->dense = JL_OP_BF16;
	}
	if (says(cells, "mx_experts"))
		f->experts = JL_OP_MX16;
	jl_served_format_on(f, &row->dev);
	/* recipes with narrow weights also use an 8-bit KV cache */
	if (f->expert_B <= 1)
		f->kv_B = 1;
	return JL_OK;
}

/* Devices per worker. Data-parallel attention (dp) uses the same devices as the experts: sources count it in tp or give it alone. A worker too
 * small for the weights is part of a larger one. */
static enum jl_status read_worker(struct jl_serve_place *place, struct jl_serve_row *row, const char *prefix,
				  const struct jl_row_cells *cells, struct jl_err *err)
{
	static const char *const names[] = { "tp_size", "attention_dp_size", "moe_ep_size" };
	double degree[3] = { NAN, NAN, NAN };
	char column[48];

	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(column, sizeof(column), "%s%s", prefix, names[i]);

		JL_TRY(jl_serve_number(cells, column, &degree[i], err));
		degree[i] = degree[i] >= 1 ? degree[i] : 1;
	}
	place->n_gpus = degree[0] > 1 ? degree[0] : degree[1] > 8 ? fmax(degree[2], sqrt(degree[1])) : degree[1];
	place->n_gpus = fmax(place->n_gpus, degree[1] > 1 ? 1 : degree[2]);
	/* hosts of eight: a larger square number is tp times ep of the same devices */
	if (place->n_gpus > 8 && !row->many && sqrt(place->n_gpus) == floor(sqrt(place->n_gpus)))
		place->n_gpus = sqrt(place->n_gpus);
	place->n_stages = 1;
	place->n_ep = degree[2];
	/* latent attention cannot be split by heads: TensorRT-LLM recipes use data-parallel attention under many requests; sources that give the
	 * engine's version also state this */
	place->split_batch = degree[1] > 1 ||
			     (!*prefix && row->run.model.latent && jl_engine_is(row->run.engine, "trtllm") &&
			      !*cells->at(cells->ctx, "backend_version") && row->run.n_requests >= MANY);
	jl_served_join(place, &row->dev, true, true);

	struct jl_serve_fit fit = { 0 };
	struct jl_serve_job job = {
		.dev = &row->dev, .fit = &fit, .model = &row->run.model, .format = row->run.format, .place = *place
	};

	const double most_B = (place->n_gpus > 1 ? STATED_FRAC : ALONE_FRAC) * row->dev.mem_B;

	while (jl_serve_weights_B(&job) > most_B && job.place.n_gpus < 1024) {
		job.place.n_gpus *= 2;
		row->run.n_assumed = 1;
	}
	*place = job.place;
	return JL_OK;
}

/* Racks of 72 reported as one worker: prefill on workers of four; decoding on workers of eight for few requests, on one large worker for many. */
#define RACK_LEAST  12.0
#define RACK_PROMPT 4.0
#define RACK_ANSWER 8.0

static bool split_rack(struct jl_serve_row *row, double n_gpus)
{
	const double least = row->run.format.expert_B < 1 ? RACK_PROMPT : 2 * RACK_PROMPT;
	const bool few = row->run.n_requests < REQUESTS_EACH * n_gpus;
	const double prompts = few ? 1 : fmax(floor(n_gpus / 3 / least), 1), rest = n_gpus - prompts * least;
	struct jl_serve_place place = { .n_stages = 1 };

	if (!row->many || n_gpus < RACK_LEAST || rest < RACK_ANSWER)
		return false;
	jl_served_join(&place, &row->dev, true, true);
	row->run.place = row->run.prefill = place;
	row->run.prefill.n_gpus = row->run.prefill.n_ep = least;
	row->run.n_prefill_workers = prompts;
	row->run.n_decode_workers = few ? floor(rest / RACK_ANSWER) : 1;
	row->run.place.n_gpus = row->run.place.n_ep = few ? RACK_ANSWER : rest;
	row->run.place.split_batch = !few;
	row->run.n_assumed = 1;
	return true;
}

/* Uses data-parallel attention from `each` requests per device, if attention cannot be split by heads. */
static void by_requests(struct jl_serve_place *place, const struct jl_serve_run *run, double each)
{
	place->split_batch |= run->model.kv_heads < place->n_gpus && run->n_requests >= each * place->n_gpus;
}

static enum jl_status read_plan(struct jl_serve_row *row, const struct jl_row_cells *cells, struct jl_err *err)
{
	double value = NAN;

	const bool together = strcmp(cells->at(cells->ctx, "mode"), "disagg") != 0;
	const char *tp = cells->at(cells->ctx, together ? "tp_size" : "decode_tp_size");

	if ((together || strcmp(tp, cells->at(cells->ctx, "prefill_tp_size")) == 0) &&
	    !*cells->at(cells->ctx, "decode_num_workers") && split_rack(row, strtod(tp, NULL)))
		return JL_OK;
	if (together)
		return read_worker(&row->run.place, row, "", cells, err);
	JL_TRY(read_worker(&row->run.place, row, "decode_", cells, err));
	JL_TRY(read_worker(&row->run.prefill, row, "prefill_", cells, err));
	JL_TRY(jl_serve_number(cells, "prefill_num_workers", &value, err));
	row->run.n_prefill_workers = value;
	JL_TRY(jl_serve_number(cells, "decode_num_workers", &value, err));
	const bool few = row->many && row->run.place.n_gpus <= RACK_ANSWER && row->run.n_requests <= FEW;

	/* unstated: enough workers for all requests (a few small ones for few requests), and prefill is not a bottleneck */
	if (!(value >= 1)) {
		const struct jl_serve_fit fit = { 0 };
		const struct jl_serve_job job = { .dev = &row->dev,
						  .fit = &fit,
						  .model = &row->run.model,
						  .format = row->run.format,
						  .place = row->run.place };

		value = ceil(row->run.n_requests /
			     fmax(jl_serve_room(&job, row->run.prompt + row->run.output, 0.9), 1));
		if (few)
			value = fmax(value, fmin(row->run.n_requests, FEW_WORKERS));
		row->run.n_assumed = 1;
	}
	row->run.n_decode_workers = value;
	by_requests(&row->run.place, &row->run, ANSWERS_EACH * value);
	by_requests(&row->run.prefill, &row->run, REQUESTS_EACH);
	if (!(row->run.n_prefill_workers >= 1)) {
		row->run.n_prefill_workers = few ? 1 : JL_SERVE_ENOUGH;
		row->run.n_assumed = 1;
	}
	return JL_OK;
}

/* Options of InferenceX's published launch scripts that differ from engine defaults. The last matching row applies. */
enum { BLACKWELL = 1, EVEN = 2, NARROW = 4, IN_2025 = 8 }; /* B200 or B300; 1k/1k; fewer than eight GPUs */
static const struct {
	const char *engine;
	const char *model; /* as in column recipe */
	unsigned only;
	double least;                 /* lowest number of concurrent requests */
	double hold;                  /* scheduler-recv-interval, batch_wait_timeout_iters */
	double budget, prompts, each; /* tokens per pass: fixed, per prompt, and per concurrent request */
} recipes[] = {
	{ "sglang", "deepseek", 0, 0, 0, 32768, 0, 0 },
	{ "sglang", "deepseek", BLACKWELL, 0, 10, 16384, 0, 0 },
	{ "sglang", "deepseek", BLACKWELL, 16, 30, 16384, 0, 0 },
	{ "sglang", "qwen3.5", 0, 0, 0, 16384, 0, 0 },
	{ "sglang", "qwen3.5", BLACKWELL, 0, 10, 16384, 0, 0 },
	{ "sglang", "qwen3.5", BLACKWELL, 16, 30, 16384, 0, 0 },
	{ "sglang", "glm-5", BLACKWELL, 0, 0, 32768, 0, 0 },
	{ "trtllm", "llama", 0, 0, 0, 16384, 0, 0 },
	{ "trtllm", "llama", EVEN | NARROW, 0, 20, 16384, 0, 0 },
	{ "trtllm", "deepseek", IN_2025, 0, 0, 64, 1, 1 },
	{ "trtllm", "gpt-oss", 0, 0, 0, 20000, 0, 0 },
	{ "vllm", "minimax", BLACKWELL, 0, 0, 0, 2, 0 },
};

static void read_recipe(struct jl_serve_run *run, const struct jl_row_cells *cells)
{
	const char *model = cells->at(cells->ctx, "recipe");
	const unsigned is = (says(cells, "blackwell") ? BLACKWELL : 0u) | (run->prompt == run->output ? EVEN : 0u) |
			    (run->place.n_gpus < 8 ? NARROW : 0u) | (says(cells, "in_2025") ? IN_2025 : 0u);

	for (size_t i = 0; run->spread && run->prefill.n_gpus <= 0 && i < JL_LEN(recipes); i++) {
		if (!jl_engine_is(run->engine, recipes[i].engine) || strcmp(model, recipes[i].model) != 0 ||
		    (recipes[i].only & is) != recipes[i].only || run->n_requests < recipes[i].least)
			continue;
		run->hold = recipes[i].hold;
		run->budget = recipes[i].budget + recipes[i].prompts * run->prompt + recipes[i].each * run->n_requests;
	}
}

/* For some TensorRT-LLM rows the source gives the version of Dynamo: those use 1.1 or later. */
static int read_engine(const struct jl_row_cells *cells)
{
	const char *name = cells->at(cells->ctx, "backend");

	return says(cells, "dynamo_version") ? jl_engine_by_text(name)
					     : jl_engine_of_source(name, cells->at(cells->ctx, "backend_version"));
}

/* Total concurrent requests: stated, or the sum over groups of devices. */
static enum jl_status read_requests(struct jl_serve_row *row, const struct jl_row_cells *cells, struct jl_err *err)
{
	const char *column = *cells->at(cells->ctx, "batch_size") ? "batch_size" : "decode_batch_size";
	double batch = NAN, dp = NAN;

	JL_TRY(jl_serve_number(cells, "requests", &row->run.n_requests, err));
	if (isnan(row->run.n_requests)) {
		JL_TRY(jl_serve_number(cells, column, &batch, err));
		JL_TRY(jl_serve_number(cells, "attention_dp_size", &dp, err));
		row->run.n_requests = batch * (dp >= 1 ? dp : 1);
	}
	if (!(row->run.n_requests >= 1 && row->run.n_requests <= 1e6))
		return jl_fail(err, JL_E_DATA, "no number of requests in silicon_data_source or batch_size");
	return JL_OK;
}

enum jl_status jl_silicon_row_read(struct jl_serve_row *ret_row, const char **ret_model,
				   const struct jl_row_cells *cells, const struct jl_serve_find *find,
				   struct jl_err *err)
{
	struct jl_serve_row row = { .run.engine = read_engine(cells) };
	const char *system = cells->at(cells->ctx, "system");
	bool p2p, nvlink;

	/* other sources sent requests of equal length (genai-perf) */
	row.run.spread = !says(cells, "one_length");
	row.run.loose = !row.run.spread && !jl_engine_is(row.run.engine, "sglang-0.5");
	row.many = says(cells, "rack"); /* GB200, GB300: 72 in one domain */
	JL_TRY(find->gpu(find->ctx, system, &row, &p2p, &nvlink, err));
	JL_TRY(find_model(&row, ret_model, cells, find->cat, err));
	JL_TRY(read_format(&row, cells, err));
	JL_TRY(jl_serve_number(cells, "isl", &row.run.prompt, err));
	JL_TRY(jl_serve_number(cells, "osl", &row.run.output, err));
	if (!(row.run.prompt >= 1 && row.run.output >= 1))
		return jl_fail(err, JL_E_DATA, "isl and osl: at least 1 token");
	JL_TRY(read_requests(&row, cells, err));
	JL_TRY(read_plan(&row, cells, err));
	read_recipe(&row.run, cells);
	*ret_row = row;
	return JL_OK;
}
