/* finetune as a set: the physics of devices, links and frameworks is what train_llm found; only what tuning adds is fitted here. */
#include <math.h>

#include "belief/baseline.h"
#include "belief/optimize.h"
#include "belief/set_ops.h"
#include "belief/set_rows.h"
#include "belief/set_tune.h"
#include "physics/arch.h"
#include "physics/tune_params.h"

#define GPUS_MAX 64

struct own {
	double link_x[JL_COLL_MAX_PARAMS];
	struct jl_llm_gpu gpus[GPUS_MAX];
	double x[GPUS_MAX][JL_LLM_MAX_PARAMS]; /* train_llm's, for each GPU */
	size_t n;
};

JL_SET_CASES(jl_tune_row);

static enum jl_status find_gpu(void *ctx, const char *text, struct jl_llm_gpu *ret_gpu, struct jl_err *err)
{
	struct jl_set_data *data = ctx;
	struct own *own = data->own;
	size_t g;
	const enum jl_status status = jl_set_gpu(data, text, &g, err);

	for (; !status && own->n < data->gpus.n && own->n < GPUS_MAX; own->n++) {
		jl_llm_gpu_of(&own->gpus[own->n], data->cat, data->gpus.gpus[own->n]);
		(void)jl_llm_read(data->cat, own->gpus[own->n].id, own->x[own->n]);
		own->gpus[own->n].index = (int)own->n;
	}
	if (!status && g >= GPUS_MAX)
		return jl_fail(err, JL_E_RANGE, "more than %d GPUs in one file", GPUS_MAX);
	if (!status)
		*ret_gpu = own->gpus[g];
	return status;
}

/* Of the two sets that are read here. */
static bool is_tune(const struct jl_set_data *data)
{
	return data->ops == &jl_tune_ops;
}

/* The row as the program would be asked it, with these parameters of tuning. */
static void case_of(struct jl_case *ret_case, const struct jl_set_data *data, const struct jl_tune_row *c,
		    const double *x, const struct jl_known *known)
{
	const struct own *own = data->own;
	struct jl_llm_row run = c->run;

	run.gpu.index = 0; /* the vector has the deviations of this GPU behind the rest */
	jl_llm_case(ret_case, &run, own->x[c->run.gpu.index], known);
	if (is_tune(data))
		jl_case_tune(ret_case, jl_tune_fit_of(x));
}

static void naive(const struct jl_tune_row *c, struct jl_set_row *row)
{
	const struct jl_llm_row *r = &c->run;
	const double seq = r->mean_seq > 0.0 ? r->mean_seq : r->shard.seq, tokens = r->global_batch * seq;
	const double params = jl_transformer_params(&r->model).total;
	const double flop = 3.0 * tokens * jl_transformer_fwd_flop(&r->model, seq, 0) / r->n_gpus;
	const double weights_B = params * jl_plan_held_B(&r->plan);

	row->naive[0] = row->is_memory
				? 16.0 * params / (r->plan.tp * r->plan.pp)
				: flop / (JL_BASELINE_MFU_FRAC * jl_baseline_peak_flopps(&r->gpu.dev, r->shard.dtype));
	row->naive[1] = row->is_memory ? 1.2 * weights_B
				       : jl_baseline_roofline_s(&r->gpu.dev, r->shard.dtype, flop, weights_B,
								JL_BASELINE_ROOFLINE_FRAC);
}

static enum jl_status add(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	struct own *own = data->own;
	const struct jl_llm_find find = { .gpu = find_gpu, .ctx = data, .link_x = own->link_x, .arena = in->arena };
	struct jl_tune_row *c = (struct jl_tune_row *)data->cases + data->n;
	struct jl_llm_row *r = &c->run;
	struct jl_llm_cells cells;
	struct jl_tune_cells more;
	char pair[JL_PAIR_ID_MAX];
	enum jl_wire intra, inter;

	JL_SET_READ_CELLS(in, JL_LLM_CELLS, &cells);
	JL_SET_READ_CELLS(in, JL_TUNE_CELLS, &more);

	JL_TRY(is_tune(data) ? jl_tune_row_read(&cells, &more, &find, c, err)
			     : jl_large_row_read(&cells, &more, &find, c, err));
	jl_llm_wires(r, &intra, &inter);
	const double seq = r->mean_seq > 0.0 ? r->mean_seq : r->shard.seq;
	struct jl_set_kind kind = {
		.framework = cells.framework,
		.link = r->n_gpus < 2 ? "" : jl_wire_pair(pair, intra, inter, true),
		.what = jl_arena_printf(in->arena, "%s %s, %d GPU%s, batch %g, seq %g", cells.model, more.method,
					r->n_gpus, r->n_gpus > 1 ? "s" : "", r->global_batch, r->shard.seq),
		.model = cells.model,
		.answer = JL_ASKED_TUNE,
		.kind = { [JL_LABEL_GPU] = r->gpu.id,
			  [JL_LABEL_FAMILY] = jl_arch_id(r->gpu.dev.arch),
			  [JL_LABEL_KIND] = jl_framework_name(r->framework),
			  [JL_LABEL_LINK] = r->n_gpus > 1 ? jl_wire_pair(pair, intra, inter, true) : NULL },
		.extent_ln = { log(jl_transformer_params(&r->model).total), log(r->global_batch / r->n_gpus * seq),
			       log(r->n_gpus) },
		.meas = r->meas_s,
	};

	for (int memory = 0; memory < 2; memory++) {
		static const enum jl_asked answers[2][2] = { { JL_ASKED_STEP, JL_ASKED_MEMORY },
							     { JL_ASKED_TUNE, JL_ASKED_TUNE_MEMORY } };
		struct jl_set_row *row;

		if (isnan(memory ? r->meas_mem_B : r->meas_s))
			continue;
		kind.meas = memory ? r->meas_mem_B : r->meas_s;
		kind.answer = answers[is_tune(data)][memory];
		row = jl_set_add(data, in, &kind);
		JL_TRY(jl_got(row, err));
		row->is_memory = memory;
		if (!*row->gpu)
			row->gpu = "not stated";
		row->is_second = memory; /* speed and memory are scored apart */
		naive(c, row);
	}
	data->n++;
	return JL_OK;
}

static enum jl_status begin(struct jl_set_data *data, struct jl_err *err)
{
	struct own *own = data->own;

	(void)err;
	jl_coll_read(data->cat, own->link_x);
	return JL_OK;
}

static struct jl_param_list params(const struct jl_set_data *data)
{
	return is_tune(data) ? jl_tuning_params : (struct jl_param_list){ .n = 0 };
}

/* Out of memory is a bound: more than the device has is as good as any other figure above it. */
static double memory_of(const struct jl_tune_row *c, double mem_B)
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
	size_t at = 0;

	for (size_t i = 0; i < w->data->n; i++) {
		const struct jl_tune_row *c = case_at(w->data, i);
		struct jl_weight weight;
		struct jl_case how;

		if (w->use && !w->use[i])
			continue;
		case_of(&how, w->data, c, x, &w->known);
		weight = jl_case_weigh(&how);
		ret_r[at++] = isnan(c->run.meas_s) ? 0.0 : log(weight.step.step_s / c->run.meas_s);
		ret_r[at++] = isnan(c->run.meas_mem_B) ? 0.0
						       : log(memory_of(c, weight.memory.total_B) / c->run.meas_mem_B);
	}
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	struct work w = { .data = data, .use = use, .known = { .cat = data->cat } };

	if (!is_tune(data))
		return JL_OK; /* nothing of its own: it asks what train_llm has learnt */
	/* a usual row is 0.15 off */
	return jl_fit_params(&jl_tuning_params, 0.15,
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
	const struct jl_tune_row *c = case_at(data, row->item);
	struct jl_prediction p;
	struct jl_case how;

	case_of(&how, data, c, x, known);
	jl_predict(&p, NULL, &how);
	jl_set_answer(row, row->is_memory ? memory_of(c, p.memory_B.value) : p.step_s.value,
		      row->is_memory ? log(p.memory_B.hi / p.memory_B.value) : p.half_ln,
		      row->is_memory ? p.memory_doubt : p.doubt);
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, struct jl_buf *out)
{
	const struct jl_known known = { .cat = data->cat };
	struct jl_case how;

	case_of(&how, data, case_at(data, row->item), x, &known);
	const struct jl_weight w = jl_case_weigh(&how);

	jl_set_explain(out, row->is_memory, &w.step, &w.memory);
}

#define COMMON                                                                                                         \
	.unit = "s", .baselines = { "40 % MFU", "roofline at 0.7 of the listed rates" },                               \
	.memory_baselines = { "16 bytes a parameter", "weights and a fifth" }, .case_B = sizeof(struct jl_tune_row),   \
	.own_B = sizeof(struct own), .rows_a_line = 2, .begin = begin, .add = add, .params = params, .fit = fit,       \
	.predict = predict, .explain = explain

const struct jl_set_ops jl_tune_ops = {
	COMMON,
	.name = "finetune",
	.files = (const char *const[]){ "finetune", NULL },
	.columns = (const char *const[]){ "gpu", "n_gpus", "framework", "layers", "hidden", "method", "rank",
					  "base_bits", "primary_metric", "primary_value", NULL },
	.memory_line = "finetune_memory",
};

const struct jl_set_ops jl_large_ops = {
	COMMON,
	.name = "moe_and_large",
	.files = (const char *const[]){ "moe_and_large", NULL },
	.columns = (const char *const[]){ "gpu", "n_gpus", "framework", "layers", "hidden", "n_experts", "topk",
					  "moe_ffn", "primary_metric", "primary_value", NULL },
	.measures = (const char *const[]){ "primary_value", NULL },
};
