/* train_llm and train_vtrain as one set: training steps of transformers, and the memory they take. */
#include <math.h>

#include "belief/baseline.h"
#include "belief/set_llm.h"
#include "belief/set_ops.h"
#include "belief/set_rows.h"
#include "physics/arch.h"

struct own {
	double link_x[JL_COLL_MAX_PARAMS];
	struct jl_llm_gpu gpus[JL_SET_GPUS_MAX];
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

static const double memory_weight = 1.0; /* a memory residual counts as much as one of time */

JL_SET_CASES(jl_llm_row);

/* Parameters of their own have only so many GPUs; further ones are predicted by their family. */
static size_t n_own(const struct jl_set_data *data)
{
	return data->gpus.n < JL_LLM_MAX_GPUS ? data->gpus.n : JL_LLM_MAX_GPUS;
}

static enum jl_status find_gpu(void *ctx, const char *text, struct jl_llm_gpu *ret_gpu, struct jl_err *err)
{
	struct jl_set_data *data = ctx;
	struct own *own = data->own;
	size_t g;
	const enum jl_status status = jl_set_gpu(data, text, &g, err);

	for (; !status && own->n < data->gpus.n; own->n++) {
		jl_llm_gpu_of(&own->gpus[own->n], data->cat, data->gpus.gpus[own->n]);
		own->gpus[own->n].index = own->n < JL_LLM_MAX_GPUS ? (int)own->n : -1;
	}
	if (!status)
		*ret_gpu = own->gpus[g];
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

static enum jl_status add(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	struct own *own = data->own;
	const struct jl_llm_find find = { .gpu = find_gpu, .ctx = data, .link_x = own->link_x };
	struct jl_llm_row *c = (struct jl_llm_row *)data->cases + data->n;
	char pair[JL_PAIR_ID_MAX];
	enum jl_wire intra, inter;
	struct jl_llm_cells cells;

	JL_SET_READ_CELLS(in, JL_LLM_CELLS, &cells);

	JL_TRY(jl_llm_row_read(&cells, &find, c, err));
	if (c->unscored)
		return jl_fail(err, JL_E_DATA, "column %s: %s", "primary_metric", c->unscored);
	jl_llm_wires(c, &intra, &inter);
	const double params = jl_transformer_params(&c->model).total, shared = params / (c->plan.tp * c->plan.pp);
	struct jl_set_kind kind = {
		.framework = cells.framework,
		.link = c->n_gpus < 2 ? "" : links[c->n_nodes > 1 ? c->inter : c->intra],
		.what = jl_arena_printf(in->arena, "%s, %d GPU%s, batch %g, seq %g, tp %g pp %g", cells.model,
					c->n_gpus, c->n_gpus > 1 ? "s" : "", c->global_batch, c->shard.seq, c->plan.tp,
					c->plan.pp),
		.model = cells.model,
		.answer = JL_ASKED_STEP,
		.kind = { [JL_LABEL_GPU] = c->gpu.id,
			  [JL_LABEL_FAMILY] = jl_arch_id(c->gpu.dev.arch),
			  [JL_LABEL_KIND] = jl_framework_name(c->framework),
			  [JL_LABEL_LINK] = c->n_gpus > 1 ? jl_wire_pair(pair, intra, inter, true) : NULL },
		.extent_ln = { log(params), log(c->global_batch / c->n_gpus * c->shard.seq), log(c->n_gpus) },
		.meas = c->meas_s,
	};

	if (c->metric == JL_LLM_TIME) {
		struct jl_set_row *row = jl_set_add(data, in, &kind);

		JL_TRY(jl_got(row, err));
		naive_time(c, row->naive);
	}
	if (!isnan(c->meas_mem_B)) {
		kind.answer = JL_ASKED_MEMORY;
		kind.meas = c->meas_mem_B;
		struct jl_set_row *row = jl_set_add(data, in, &kind);

		JL_TRY(jl_got(row, err));
		row->is_memory = true;
		row->is_second = c->metric == JL_LLM_TIME;
		row->naive[0] = 16.0 * shared;
		row->naive[1] = 18.0 * shared;
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
	return jl_llm_params(n_own(data), data->gpu_ids);
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	const struct jl_llm_set set = {
		.n_row = data->n,
		.n_gpu = n_own(data),
		.rows = data->cases,
		.group = data->groups,
		.memory_weight = memory_weight,
	};

	return jl_llm_fit(&set, use, max_iter, x, NULL, err);
}

static void predict(const struct jl_set_data *data, const double *x, const struct jl_known *known,
		    struct jl_set_row *row)
{
	struct jl_prediction p;
	struct jl_case c;

	jl_llm_case(&c, case_at(data, row->item), x, known);
	jl_predict(&p, NULL, &c);
	jl_set_answer(row, row->is_memory ? p.memory_B.value : p.step_s.value,
		      row->is_memory ? log(p.memory_B.hi / p.memory_B.value) : p.half_ln,
		      row->is_memory ? p.memory_doubt : p.doubt);
}

static void explain_assumed(const struct jl_llm_row *c, struct jl_buf *out)
{
	static const char *const en[] = { JL_N("shape"),   JL_N("batch"),     JL_NC("cut", "plan"),
					  JL_N("network"), JL_N("recompute"), JL_N("framework") };

	const char *between = JL_("; assumed: ");

	for (unsigned i = 0; i < sizeof(en) / sizeof(*en); i++) {
		if (!(c->assumed & (1u << i)))
			continue;
		jl_buf_puts(out, between);
		jl_buf_puts(out, jl_msg(en[i]));
		between = ", ";
	}
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, struct jl_buf *out)
{
	struct jl_llm_prediction p;

	jl_llm_predict(case_at(data, row->item), x, NULL, &p);
	jl_set_explain(out, row->is_memory, &p.step, &p.memory);
	explain_assumed(case_at(data, row->item), out);
}

const struct jl_set_ops jl_llm_ops = {
	.name = "train_llm",
	.files = (const char *const[]){ "train_llm", "train_vtrain", "train_own", NULL },
	.unit = "s",
	.columns = (const char *const[]){ "gpu", "n_gpus", "framework", "layers", "hidden", "primary_metric",
					  "primary_value", NULL },
	.measures = (const char *const[]){ "primary_value", NULL },
	.baselines = { "40 % MFU", "roofline at 0.7 of the listed rates" },
	.memory_baselines = { "16 bytes a parameter", "18 bytes a parameter" },
	.case_B = sizeof(struct jl_llm_row),
	.own_B = sizeof(struct own),
	.rows_a_line = 2,
	.begin = begin,
	JL_SET_FUNCTIONS,
	.refit_iter = 8,
};
