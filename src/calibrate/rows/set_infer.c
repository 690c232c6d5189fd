/* Rows of infer_llm: what each source measured, as seconds of a step, a prompt, or a token under load. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rows/set_serve.h"
#include "catalog/find.h"
#include "program/served.h"

/* What sources leave open. A chat prompt; an answer; data sets of chats (ShareGPT) have about as many tokens asked as
 * answered. Full load: as many sequences as fit, up to what the frameworks are built for. */
#define PROMPT      128.0
#define CHAT_PROMPT 250.0
#define CHAT_OUTPUT 230.0
#define OUTPUT      256.0
#define FULL_LOAD   8192.0
#define FULL_BATCH  2048.0

static enum jl_status find_model(struct jl_served *ret_served, const struct jl_serve_cells *cells,
				 const struct jl_catalog *cat, struct jl_err *err)
{
	const char *text = cells->at(cells->ctx, "model"), *id = jl_spelt(cat, "model-spelling", text);
	const struct jl_model_info *info = NULL;

	JL_TRY(jl_find_model(&info, cat, id ? id : text, err));
	*ret_served = jl_served_from_catalog(info);
	return JL_OK;
}

/* "RTX 4090 + RTX 3090 Ti": layers on both, and both have the same memory rate. */
static enum jl_status find_gpu(struct jl_serve_row *row, const struct jl_serve_cells *cells,
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

/* What a source counts: seconds of one step are n_tokens of each sequence over the rate. */
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

static enum jl_status read_kind(struct jl_serve_row *row, const struct jl_serve_cells *cells, double value,
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

static enum jl_status read_load(struct jl_serve_row *row, const struct jl_serve_cells *cells, struct jl_err *err)
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

static enum jl_status read_place(struct jl_serve_row *row, const struct jl_serve_cells *cells, struct jl_err *err)
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
	/* Under load every stage works on different sequences. */
	if (jl_engine_info(row->run.engine)->operators) {
		row->run.place.n_gpus *= row->run.place.n_stages;
		row->run.place.n_stages = 1;
	}
	return JL_OK;
}

enum jl_status jl_infer_row_read(struct jl_serve_row *ret_row, const struct jl_serve_cells *cells,
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
