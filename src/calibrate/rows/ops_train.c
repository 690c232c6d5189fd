/* Sets of transformer training and memory: train_llm with train_vtrain (fit devices, links, frameworks), moe_and_large (fits launches of experts),
 * finetune (fits what fine-tuning adds). */
#include <math.h>

#include "base/budget.h"
#include "parameters/optimize.h"
#include "rows/set_llm.h"
#include "rows/set_rows.h"
#include "catalog/find.h"
#include "parameters/arch.h"
#include "parameters/framework_params.h"

struct own {
	double link_x[JL_COLL_MAX_PARAMS], expert_call_frac;
	struct jl_llm_gpu gpus[JL_SET_GPUS_MAX];
	double (*x)[JL_LLM_MAX_PARAMS]; /* train_llm's parameters, one vector per chip; NULL: they are being fitted */
	size_t n;
	/* chips with parameters of their own; others are predicted by their family */
	const char *chip_ids[JL_LLM_MAX_GPUS];
	size_t n_chips;
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

static const double memory_weight = 1.0; /* weight of a memory residual / of a time residual */

JL_SET_CASES(jl_llm_row);

static bool is_llm(const struct jl_set_data *data)
{
	return data->ops == &jl_llm_ops;
}

static bool is_tune(const struct jl_set_data *data)
{
	return data->ops == &jl_tune_ops;
}

static bool is_large(const struct jl_set_data *data)
{
	return data->ops == &jl_large_ops;
}

static int find_chip(struct own *own, const struct jl_catalog *cat, const struct jl_gpu *gpu)
{
	const char *id = jl_gpu_chip(cat, gpu)->id;
	size_t i = 0;

	while (i < own->n_chips && own->chip_ids[i] != id)
		i++;
	if (i == JL_LLM_MAX_GPUS)
		return -1;
	if (i == own->n_chips) {
		if (own->x)
			(void)jl_llm_read(cat, id, own->x[i]);
		own->chip_ids[own->n_chips++] = id;
	}
	return (int)i;
}

static enum jl_status find_gpu(void *ctx, const char *text, struct jl_llm_gpu *ret_gpu, struct jl_err *err)
{
	struct jl_set_data *data = ctx;
	struct own *own = data->own;
	size_t g;

	JL_TRY(jl_set_gpu(data, text, &g, err));
	for (; own->n < data->gpus.n; own->n++) {
		struct jl_llm_gpu *gpu = &own->gpus[own->n];

		jl_llm_gpu_of(gpu, data->cat, data->gpus.gpus[own->n]);
		gpu->index = find_chip(own, data->cat, data->gpus.gpus[own->n]);
	}
	if (own->x && own->gpus[g].index < 0)
		return jl_fail(err, JL_E_RANGE, "more than %d GPUs in one file", JL_LLM_MAX_GPUS);
	*ret_gpu = own->gpus[g];
	return JL_OK;
}

/* The row as a case of the program, with these parameters of the set. */
static void case_of(struct jl_case *ret_case, const struct jl_set_data *data, const struct jl_llm_row *c,
		    const double *x, const struct jl_known *known)
{
	const struct own *own = data->own;
	struct jl_llm_row run = *c;

	if (is_large(data))
		run.shard.expert_call_frac = x[0];
	if (own->x)
		run.gpu.index = 0; /* the vector ends with this GPU's factors */
	jl_llm_case(ret_case, &run, own->x ? own->x[c->gpu.index] : x, known);
	if (is_large(data) && c->codebase >= 0)
		jl_profile_scale(&ret_case->profile, x[1 + c->codebase]);
	if (is_tune(data))
		jl_case_tune(ret_case, jl_tune_fit_of(x, c->codebase));
}

/* Naive baselines. Time: 6 N and attention per token at 40 % of the listed rate; roofline with recompute counted, against one read and write of all
 * states. */
static void naive_llm(const struct jl_llm_row *c, bool memory, double *ret)
{
	const double tokens = c->global_batch * c->shard.seq;
	const double flop = 3.0 * tokens * jl_transformer_fwd_flop(&c->model, c->shard.seq, 0);
	const double passes = c->plan.recompute == JL_RECOMPUTE_FULL ? 4.0 / 3.0 : 1.0;
	const double state_B = 2.0 * (c->plan.weight_B + c->plan.grad_B + c->plan.optimizer_B) *
			       jl_transformer_params(&c->model).total / (c->plan.tp * c->plan.pp);

	const double shared = jl_transformer_params(&c->model).total / (c->plan.tp * c->plan.pp);

	ret[0] = memory ? 16.0 * shared
			: flop / (JL_BASELINE_MFU_FRAC * jl_baseline_peak_flopps(&c->gpu.dev, c->shard.dtype) *
				  c->n_gpus);
	ret[1] = memory ? 18.0 * shared
			: jl_baseline_roofline_s(&c->gpu.dev, c->shard.dtype, passes * flop / c->n_gpus, state_B,
						 JL_BASELINE_ROOFLINE_FRAC);
}

static double mean_seq(const struct jl_llm_row *r)
{
	return r->mean_seq > 0.0 ? r->mean_seq : r->shard.seq;
}

static void naive_tune(const struct jl_llm_row *r, bool memory, double *ret)
{
	const double seq = mean_seq(r), tokens = r->global_batch * seq;
	const double params = jl_transformer_params(&r->model).total;
	const double flop = 3.0 * tokens * jl_transformer_fwd_flop(&r->model, seq, 0) / r->n_gpus;
	const double weights_B = params * jl_plan_held_B(&r->plan);

	ret[0] = memory ? 16.0 * params / (r->plan.tp * r->plan.pp)
			: flop / (JL_BASELINE_MFU_FRAC * jl_baseline_peak_flopps(&r->gpu.dev, r->shard.dtype));
	ret[1] = memory ? 1.2 * weights_B
			: jl_baseline_roofline_s(&r->gpu.dev, r->shard.dtype, flop, weights_B,
						 JL_BASELINE_ROOFLINE_FRAC);
}

static enum jl_status read_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_llm_row *c,
			       const char **ret_framework, const char **ret_model, const char **ret_method,
			       struct jl_err *err)
{
	const struct own *own = data->own;
	const struct jl_llm_find find = { .gpu = find_gpu, .ctx = data, .link_x = own->link_x, .arena = in->arena };
	struct jl_llm_cells cells;
	struct jl_tune_cells more;
	struct jl_llm_text said;

	JL_TRY(jl_llm_text_read(&said, in->phrases, &in->row, in->arena, err));
	JL_SET_READ_CELLS(in, &cells, JL_LLM_CELLS);
	JL_SET_READ_CELLS(in, &more, JL_TUNE_CELLS);
	JL_TRY(is_llm(data)    ? jl_llm_row_read(&cells, &said, &find, c, err)
	       : is_tune(data) ? jl_tune_row_read(&cells, &more, &said, &find, c, err)
			       : jl_large_row_read(&cells, &more, &said, &find, c, err));
	if (c->unscored)
		return jl_fail(err, JL_E_DATA, "column %s: %s", "primary_metric", c->unscored);
	*ret_framework = cells.framework;
	*ret_model = cells.model;
	*ret_method = more.method;
	return JL_OK;
}

static enum jl_status add(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	static const enum jl_asked answers[2][2] = { { JL_ASKED_STEP, JL_ASKED_MEMORY },
						     { JL_ASKED_TUNE, JL_ASKED_TUNE_MEMORY } };
	struct jl_llm_row *c = (struct jl_llm_row *)data->cases + data->n;
	const char *framework = "", *model = "", *method = "";
	char pair[JL_PAIR_ID_MAX];
	enum jl_wire intra, inter;

	JL_TRY(read_row(data, in, c, &framework, &model, &method, err));
	c->shard.expert_call_frac = ((const struct own *)data->own)->expert_call_frac;
	jl_llm_wires(c, &intra, &inter);
	const char *many = c->n_gpus > 1 ? "s" : "", *wires = jl_wire_pair(pair, intra, inter, true);
	struct jl_set_kind kind = {
		.framework = framework,
		.link = c->n_gpus < 2  ? ""
			: is_llm(data) ? links[c->n_nodes > 1 ? c->inter : c->intra]
				       : wires,
		.what = is_llm(data) ? jl_arena_printf(in->arena, "%s, %d GPU%s, batch %g, seq %.0f, tp %g pp %g",
						       model, c->n_gpus, many, c->global_batch, c->shard.seq,
						       c->plan.tp, c->plan.pp)
				     : jl_arena_printf(in->arena, "%s %s, %d GPU%s, batch %g, seq %.0f", model, method,
						       c->n_gpus, many, c->global_batch, c->shard.seq),
		.model = model,
		.format = jl_dtype_name(c->shard.dtype),
		.kind = { [JL_LABEL_GPU] = c->gpu.id,
			  [JL_LABEL_FAMILY] = jl_arch_id(c->gpu.dev.arch),
			  [JL_LABEL_KIND] = jl_framework_name(c->framework),
			  [JL_LABEL_LINK] = c->n_gpus > 1 ? wires : NULL },
		.extent_ln = { log(jl_transformer_params(&c->model).total),
			       log(c->global_batch / c->n_gpus * mean_seq(c)), log(c->n_gpus) },
	};

	for (int memory = 0; memory < 2; memory++) {
		struct jl_set_row *row;

		kind.meas = memory ? c->meas_mem_B : c->meas_s;
		kind.answer = answers[is_tune(data)][memory];
		if (memory || !is_llm(data) ? isnan(kind.meas) : c->metric != JL_LLM_TIME)
			continue;
		row = jl_set_add(data, in, &kind);
		JL_TRY(jl_got(row, err));
		row->is_memory = memory;
		row->code = c->codebase < 0 ? "" : jl_codebases[c->codebase].id;
		if (!*row->gpu)
			row->gpu = "not stated";
		/* fine-tuning: speed and memory are scored separately */
		row->is_second = memory && (!is_llm(data) || c->metric == JL_LLM_TIME);
		(is_llm(data) ? naive_llm : naive_tune)(c, memory, row->naive);
	}
	data->n++;
	return JL_OK;
}

static bool knows(const struct jl_set_data *data, size_t item, size_t i)
{
	const size_t own = is_tune(data) ? JL_TUNE_OWN : 1;
	const struct jl_llm_row *c = case_at(data, item);

	return is_llm(data) ? jl_llm_uses(c, i) : i < own || (int)(i - own) == c->codebase;
}

static enum jl_status begin(struct jl_set_data *data, struct jl_err *err)
{
	struct own *own = data->own;

	jl_coll_read(data->cat, own->link_x);
	own->expert_call_frac = jl_expert_call_frac(data->cat);
	own->x = is_llm(data) ? NULL : jl_arena_array(data->arena, JL_LLM_MAX_GPUS, sizeof(*own->x));
	return jl_got(own->x || is_llm(data), err);
}

static struct jl_param_list params(const struct jl_set_data *data)
{
	const struct own *own = data->own;

	return is_llm(data)    ? jl_llm_params(own->n_chips, own->chip_ids)
	       : is_tune(data) ? jl_tuning_params
			       : jl_expert_params(data->cat);
}

/* Out of memory gives only a lower bound: any prediction above it counts as the bound. */
static double memory_of(const struct jl_llm_row *c, double mem_B)
{
	return isnan(c->least_B) ? mem_B : fmin(mem_B, c->least_B);
}

struct work {
	const struct jl_set_data *data;
	const unsigned char *use;
	struct jl_known known;
};

static void residuals(void *ctx, const double *x, double *ret_r)
{
	const struct work *w = ctx;

	for (size_t i = 0; i < w->data->n; i++) {
		const struct jl_llm_row *c = case_at(w->data, i);
		struct jl_case_price weight;
		struct jl_case how;

		if (w->use && !w->use[i])
			continue;
		if (jl_budget_spend(20))
			return;
		case_of(&how, w->data, c, x, &w->known);
		weight = jl_case_price(&how);
		*ret_r++ = isnan(c->meas_s) ? 0.0 : log(weight.step.step_s / c->meas_s);
		*ret_r++ = isnan(c->meas_mem_B) ? 0.0 : log(memory_of(c, weight.memory.total_B) / c->meas_mem_B);
	}
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	const struct own *own = data->own;
	const struct jl_llm_set set = {
		.n_row = data->n,
		.n_gpu = own->n_chips,
		.rows = data->cases,
		.group = data->groups,
		.memory_weight = memory_weight,
	};
	struct work w = { .data = data, .use = use, .known = { .cat = data->cat } };

	if (is_llm(data))
		return jl_llm_fit(&set, use, max_iter, x, NULL, err);
	const struct jl_param_list list = params(data);

	/* unit: a typical row is off by 0.15 */
	return jl_fit_params(&list, 0.15,
			     (struct jl_fit_problem){ .n_resid = 2 * jl_fit_used(use, data->n),
						      .residuals = residuals,
						      .ctx = &w,
						      .huber = 0.1,
						      .max_iter = max_iter },
			     x, NULL, err);
}

static void predict(const struct jl_set_data *data, const double *x, const struct jl_known *known,
		    struct jl_set_row *row)
{
	const struct jl_llm_row *c = case_at(data, row->item);
	struct jl_prediction p;
	struct jl_case how;

	case_of(&how, data, c, x, known);
	jl_predict(&p, NULL, &how);
	jl_set_answer(row, row->is_memory ? memory_of(c, p.memory_B.value) : p.step_s.value,
		      row->is_memory ? log(p.memory_B.hi / p.memory_B.value) : p.half_ln,
		      row->is_memory ? p.memory_doubt : p.doubt);
}

static void explain_assumed(const struct jl_llm_row *c, struct jl_buf *out)
{
	static const char *const en[] = { JL_N("shape"),   JL_N("batch"),     JL_NC("cut", "plan"),
					  JL_N("network"), JL_N("recompute"), JL_N("framework") };

	const char *between = JL_("; assumed: ");

	for (unsigned i = 0; i < JL_LEN(en); i++) {
		if (!(c->assumed & (1u << i)))
			continue;
		jl_buf_puts(out, between);
		jl_buf_puts(out, jl_msg(en[i]));
		between = ", ";
	}
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, struct jl_buf *out)
{
	const struct jl_known known = { .cat = data->cat };
	struct jl_llm_prediction p;
	struct jl_case how;

	if (is_llm(data)) {
		jl_llm_predict(case_at(data, row->item), x, NULL, &p);
		jl_set_explain(out, row->is_memory, &p.step, &p.memory);
		explain_assumed(case_at(data, row->item), out);
		return;
	}
	case_of(&how, data, case_at(data, row->item), x, &known);
	const struct jl_case_price w = jl_case_price(&how);

	jl_set_explain(out, row->is_memory, &w.step, &w.memory);
}

static void command(const struct jl_set_data *data, const struct jl_set_row *row, struct jl_buf *out)
{
	jl_llm_command(out, case_at(data, row->item), is_tune(data));
}

#define COMMON                                                                                                         \
	.unit = "s", .baselines = { JL_N("40 % MFU"), JL_N("roofline at 0.7 of the listed rates") },                   \
	.case_B = sizeof(struct jl_llm_row), .own_B = sizeof(struct own), .rows_a_line = 2, .has_codebases = true,     \
	.begin = begin, .knows = knows, .command = command, JL_SET_FUNCTIONS

const struct jl_set_ops jl_llm_ops = {
	COMMON,
	.name = "train_llm",
	.files = (const char *const[]){ "train_llm", "train_vtrain", "train_own", "mlperf_train_llm", NULL },
	.columns = (const char *const[]){ "gpu", "n_gpus", "framework", "layers", "hidden", "primary_metric",
					  "primary_value", NULL },
	.measures = (const char *const[]){ "primary_value", NULL },
	.memory_baselines = { JL_N("16 bytes a parameter"), JL_N("18 bytes a parameter") },
	.refit_iter = 8,
};

const struct jl_set_ops jl_tune_ops = {
	COMMON,
	.name = "finetune",
	.files = (const char *const[]){ "finetune", NULL },
	.columns = (const char *const[]){ "gpu", "n_gpus", "framework", "layers", "hidden", "method", "rank",
					  "base_bits", "primary_metric", "primary_value", NULL },
	.memory_baselines = { JL_N("16 bytes a parameter"), JL_N("weights and a fifth") },
	.memory_line = "finetune_memory",
};

const struct jl_set_ops jl_large_ops = {
	COMMON,
	.name = "moe_and_large",
	.files = (const char *const[]){ "moe_and_large", "mlperf_moe_and_large", NULL },
	.columns = (const char *const[]){ "gpu", "n_gpus", "framework", "layers", "hidden", "n_experts", "topk",
					  "moe_ffn", "primary_metric", "primary_value", NULL },
	.measures = (const char *const[]){ "primary_value", NULL },
	.memory_baselines = { JL_N("16 bytes a parameter"), JL_N("weights and a fifth") },
};
