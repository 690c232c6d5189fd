/* train_llm and train_vtrain as one set: training steps of transformers, and the memory they take. */
#include <math.h>
#include <string.h>

#include "belief/baseline.h"
#include "belief/set_llm.h"
#include "belief/set_ops.h"
#include "belief/set_rows.h"

#define MAX_SPELLED 128

struct jl_set_data {
	struct jl_labels labels;
	const struct jl_catalog *cat;
	double link_x[JL_COLL_MAX_PARAMS];
	const char *gpu_ids[JL_LLM_MAX_GPUS]; /* of the GPUs that have parameters of their own, as they came */
	unsigned char seen[JL_LLM_MAX_GPUS];  /* shipped parameters know them */
	size_t n_gpus;
	struct {
		const char *text;
		struct jl_llm_gpu gpu;
	} spelled[MAX_SPELLED]; /* looked up once each */
	size_t n_spelled;
	struct jl_arena *arena;
	struct jl_llm_row *cases;
	const char **groups; /* of each case */
	size_t n;
};

static const char *const links[JL_N_LLM_LINK] = {
	[JL_LLM_PCIE_HOST] = "PCIe, via the host",
	[JL_LLM_PCIE_P2P] = "PCIe, peer to peer",
	[JL_LLM_BRIDGE] = "NVLink bridge",
	[JL_LLM_NVLINK_MESH] = "NVLink 2",
	[JL_LLM_NVLINK3] = "NVLink 3",
	[JL_LLM_NVLINK4] = "NVLink 4",
	[JL_LLM_NVLINK5] = "NVLink 5",
	[JL_LLM_RDMA] = "RDMA network",
	[JL_LLM_ONLOAD] = "Omni-Path",
	[JL_LLM_ETHERNET] = "Ethernet",
};

/* Half widths, as ln, of predicted memory that held four fifths of the rows when their group was left out of the fit;
 * more where the batch, the plan or recompute are assumed. */
static const double memory_width_ln = 0.15, memory_assumed_ln = 0.15;
static const double memory_weight = 1.0; /* a memory residual counts as much as one of time */

/* The parameters of a GPU are those of its place in the list; more than the list holds have the family's. */
static int number_gpu(struct jl_set_data *data, const char *id)
{
	size_t g = 0;

	while (g < data->n_gpus && data->gpu_ids[g] != id)
		g++;
	if (g == JL_LLM_MAX_GPUS)
		return -1;
	if (g == data->n_gpus) {
		data->gpu_ids[data->n_gpus++] = id;
		data->seen[g] = jl_llm_seen(data->cat, id);
	}
	return (int)g;
}

static enum jl_status find_gpu(void *ctx, const char *text, struct jl_llm_gpu *ret_gpu, struct jl_err *err)
{
	struct jl_set_data *data = ctx;
	union { /* the look-up's context is not const, and it only looks */
		const struct jl_catalog *cat;
		void *ctx;
	} u = { .cat = data->cat };

	for (size_t i = 0; i < data->n_spelled; i++) {
		if (strcmp(data->spelled[i].text, text) == 0) {
			*ret_gpu = data->spelled[i].gpu;
			return JL_OK;
		}
	}
	const enum jl_status status = jl_llm_find_catalog(u.ctx, text, ret_gpu, err);

	if (status)
		return status;
	ret_gpu->index = number_gpu(data, ret_gpu->id);
	const char *kept = data->n_spelled < MAX_SPELLED ? jl_arena_strdup(data->arena, text) : NULL;

	if (kept) {
		data->spelled[data->n_spelled].text = kept;
		data->spelled[data->n_spelled++].gpu = *ret_gpu;
	}
	return JL_OK;
}

static enum jl_status read_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_llm_row *ret_row,
			       struct jl_err *err)
{
	const struct jl_llm_find find = { .gpu = find_gpu, .ctx = data, .link_x = data->link_x };
	struct jl_llm_cells cells;
	enum jl_status status = jl_set_check_measures(in, err);

#define JL_X(name) cells.name = jl_set_cell(in, #name);
	JL_LLM_CELLS(JL_X)
#undef JL_X
	if (!status)
		status = jl_llm_row_read(&cells, &find, ret_row, err);
	if (!status && ret_row->unscored)
		status = jl_fail(err, JL_E_DATA, "column %s: %s", "%s 열: %s", "primary_metric", ret_row->unscored);
	return status;
}

/* 6 N and attention for a token, at 40 % of the listed rate; and a roofline with recompute counted, against all states
 * read and written once. */
static void naive_time(const struct jl_llm_row *c, double *ret_s)
{
	const double tokens = c->global_batch * c->shard.seq;
	const double flop = 3.0 * tokens * jl_transformer_fwd_flop(&c->model, c->shard.seq, 0);
	const double passes = c->plan.recompute == JL_RECOMPUTE_FULL ? 4.0 / 3.0 : 1.0;
	const double state_B = 2.0 * (c->plan.weight_B + c->plan.grad_B + c->plan.optimizer_B) *
			       jl_transformer_params(&c->model).total / (c->plan.tp * c->plan.pp);

	ret_s[0] = flop / (JL_BASELINE_MFU_FRAC * jl_baseline_peak_flopps(&c->gpu.dev, c->shard.dtype) * c->n_gpus);
	ret_s[1] = jl_baseline_roofline_s(&c->gpu.dev, c->shard.dtype, passes * flop / c->n_gpus, state_B,
					  JL_BASELINE_ROOFLINE_FRAC);
}

static enum jl_status add_memory(struct jl_set_data *data, const struct jl_set_reader *in, const struct jl_llm_row *c,
				 const char *what, bool second, struct jl_err *err)
{
	struct jl_set_row *row = jl_set_add(in, jl_set_cell(in, "framework"),
					    c->n_gpus < 2 ? "" : links[c->n_nodes > 1 ? c->inter : c->intra]);
	const double params = jl_transformer_params(&c->model).total / (c->plan.tp * c->plan.pp);

	if (!row)
		return jl_fail_nomem(err);
	row->item = data->n;
	row->what = what;
	row->is_memory = true;
	row->is_second = second;
	row->meas = c->meas_mem_B;
	row->naive[0] = 16.0 * params;
	row->naive[1] = 18.0 * params;
	return JL_OK;
}

static enum jl_status add_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	struct jl_llm_row *c = &data->cases[data->n];
	struct jl_err why;
	const char *what;
	enum jl_status status = JL_OK;

	if (read_row(data, in, c, &why) != JL_OK)
		return jl_set_add_unscored(in, &why, err);
	what = jl_arena_printf(in->arena, "%s, %d GPU%s, batch %g, seq %g, tp %g pp %g", jl_set_cell(in, "model"),
			       c->n_gpus, c->n_gpus > 1 ? "s" : "", c->global_batch, c->shard.seq, c->plan.tp,
			       c->plan.pp);
	if (!what)
		return jl_fail_nomem(err);
	if (c->metric == JL_LLM_TIME) {
		struct jl_set_row *row = jl_set_add(in, jl_set_cell(in, "framework"),
						    c->n_gpus < 2 ? "" : links[c->n_nodes > 1 ? c->inter : c->intra]);

		if (!row)
			return jl_fail_nomem(err);
		row->item = data->n;
		row->what = what;
		row->meas = c->meas_s;
		naive_time(c, row->naive);
	}
	data->groups[data->n] = jl_label(in->labels, in->arena, jl_set_cell(in, "split_group"));
	if (!isnan(c->meas_mem_B))
		status = add_memory(data, in, c, what, c->metric == JL_LLM_TIME, err);
	data->n++;
	return status;
}

static enum jl_status load(struct jl_set_data **io_data, struct jl_set_rows *io_rows, const struct jl_catalog *cat,
			   struct jl_csv *csv, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_set_data *data = *io_data ? *io_data : jl_arena_alloc(arena, sizeof(*data));
	const size_t n_left = jl_set_rows_left(csv);

	if (!data)
		return jl_fail_nomem(err);
	data->cat = cat;
	data->arena = arena;
	jl_coll_read(cat, data->link_x);
	data->cases = jl_set_grow(arena, data->cases, data->n, data->n + n_left, sizeof(*data->cases));
	data->groups = jl_set_grow(arena, data->groups, data->n, data->n + n_left, sizeof(*data->groups));
	if (!data->cases || !data->groups)
		return jl_fail_nomem(err);
	const struct jl_set_reader in = {
		.ops = &jl_llm_ops, .csv = csv, .arena = arena, .labels = &data->labels, .rows = io_rows
	};

	const enum jl_status status = jl_set_read(&in, data, add_row, 2, err);

	if (!status)
		*io_data = data;
	return status;
}

static size_t n_param(const struct jl_set_data *data)
{
	return jl_llm_n_params(data->n_gpus);
}

static void param(const struct jl_set_data *data, size_t i, struct jl_param *ret_param)
{
	jl_llm_param_at(i, data->gpu_ids, ret_param);
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	const struct jl_llm_set set = {
		.n_row = data->n,
		.n_gpu = data->n_gpus,
		.rows = data->cases,
		.group = data->groups,
		.memory_weight = memory_weight,
	};
	double cost;

	return jl_llm_fit(&set, use, max_iter, x, &cost, err);
}

static double interval_ln(const struct jl_llm_row *c, const struct jl_step_cost *step, bool memory, bool known)
{
	struct jl_llm_row row = *c;

	if (memory) {
		const unsigned guessed = JL_ASSUMED_BATCH | JL_ASSUMED_PLAN | JL_ASSUMED_RECOMPUTE | JL_ASSUMED_SHAPE;

		return c->assumed & guessed ? memory_assumed_ln : memory_width_ln;
	}
	if (!known)
		row.gpu.index = -1;
	return jl_llm_interval_ln(&row, step->host_s / step->step_s);
}

static void predict(const struct jl_set_data *data, const double *x, const unsigned char *use,
		    const unsigned char *only, struct jl_set_row *rows, size_t n)
{
	unsigned char known[JL_LLM_MAX_GPUS] = { 0 };
	struct jl_llm_prediction p = { 0 };
	size_t last = JL_NO_ITEM;

	for (size_t i = 0; i < data->n; i++) {
		const int g = data->cases[i].gpu.index;

		if (g >= 0 && g < JL_LLM_MAX_GPUS && (!use || use[i]))
			known[g] = 1;
	}
	for (size_t i = 0; i < n; i++) {
		struct jl_set_row *row = &rows[i];

		if (row->item == JL_NO_ITEM || (only && !only[row->item]))
			continue;
		const struct jl_llm_row *c = &data->cases[row->item];
		const int g = c->gpu.index;

		if (row->item != last) /* a line's second row is the same run */
			jl_llm_predict(c, x, &p);
		last = row->item;
		row->pred = row->is_memory ? p.mem_B : p.step_s;
		row->half_ln = interval_ln(c, &p.step, row->is_memory,
					   g >= 0 && g < JL_LLM_MAX_GPUS && (use ? known : data->seen)[g]);
	}
}

static void explain_assumed(const struct jl_llm_row *c, enum jl_lang lang, struct jl_buf *out)
{
	static const char *const en[] = { "shape", "batch", "plan", "network", "recompute", "framework" };
	static const char *const ko[] = { "모델 크기", "배치", "분할", "네트워크", "재계산", "프레임워크" };
	const char *between = JL_T(lang, "; assumed: ", "; 가정: ");

	for (unsigned i = 0; i < sizeof(en) / sizeof(*en); i++) {
		if (!(c->assumed & (1u << i)))
			continue;
		jl_buf_puts(out, between);
		jl_buf_puts(out, JL_T(lang, en[i], ko[i]));
		between = ", ";
	}
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, enum jl_lang lang,
		    struct jl_buf *out)
{
	struct jl_llm_prediction p;

	jl_llm_predict(&data->cases[row->item], x, &p);
	const struct jl_step_cost *s = &p.step;
	const struct jl_memory *m = &p.memory;
	const struct jl_set_part time[] = {
		{ "compute", "연산", s->compute_s },           { "host", "호스트", s->host_s },
		{ "tensor parallel", "텐서 병렬", s->tp_s },   { "context parallel", "컨텍스트 병렬", s->cp_s },
		{ "expert parallel", "전문가 병렬", s->ep_s }, { "pipeline bubble", "파이프라인 공백", s->bubble_s },
		{ "sends", "단계 간 전송", s->send_s },        { "gradient exchange", "그래디언트 교환", s->dp_s },
		{ "contention", "경합", s->contention_s },     { "optimizer", "옵티마이저", s->optimizer_s },
		{ "offload", "오프로드", s->offload_s },       { "input", "입력", s->input_s },
	};
	const struct jl_set_part memory[] = {
		{ "weights", "가중치", m->weights_B },         { "gradients", "그래디언트", m->gradients_B },
		{ "optimizer", "옵티마이저", m->optimizer_B }, { "activations", "활성값", m->activations_B },
		{ "buffers", "버퍼", m->buffers_B },           { "context", "컨텍스트", m->context_B },
	};

	if (row->is_memory)
		jl_set_parts(out, memory, sizeof(memory) / sizeof(*memory), m->total_B, lang);
	else
		jl_set_parts(out, time, sizeof(time) / sizeof(*time), s->step_s, lang);
	explain_assumed(&data->cases[row->item], lang, out);
}

static size_t n_items(const struct jl_set_data *data)
{
	return data->n;
}

static const char *const files[] = { "train_llm", "train_vtrain", "train_own", NULL };
static const char *const columns[] = { "gpu",    "n_gpus",         "framework",     "layers",
				       "hidden", "primary_metric", "primary_value", NULL };
static const char *const measures[] = { "primary_value", NULL };

const struct jl_set_ops jl_llm_ops = {
	.name = "train_llm",
	.files = files,
	.unit = "s",
	.columns = columns,
	.measures = measures,
	.baselines = { "40 % MFU", "roofline at 0.7 of the listed rates" },
	.memory_baselines = { "16 bytes a parameter", "18 bytes a parameter" },
	.load = load,
	.n_param = n_param,
	.param = param,
	.fit = fit,
	.refit_iter = 8,
	.predict = predict,
	.explain = explain,
	.n_items = n_items,
};
