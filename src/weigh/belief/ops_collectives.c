/* collectives as a set: nccl-tests and kin. */
#include <math.h>

#include "belief/baseline.h"
#include "belief/set_collectives.h"
#include "belief/set_ops.h"
#include "belief/set_rows.h"

struct jl_set_data {
	struct jl_labels labels;
	struct jl_set_gpus gpus;
	struct jl_coll_case *cases;
	size_t n;
};

static const char *const wires[JL_N_WIRE] = {
	[JL_WIRE_NONE] = "",
	[JL_WIRE_PCIE_HOST] = "PCIe, via the host",
	[JL_WIRE_PCIE_P2P] = "PCIe, peer to peer",
	[JL_WIRE_BRIDGE] = "NVLink bridge",
	[JL_WIRE_NVLINK2] = "NVLink 2",
	[JL_WIRE_NVLINK3] = "NVLink 3",
	[JL_WIRE_NVLINK4] = "NVLink 4",
	[JL_WIRE_NVLINK5] = "NVLink 5",
	[JL_WIRE_NVL72] = "NVL72",
	[JL_WIRE_XGMI] = "xGMI",
	[JL_WIRE_IB] = "InfiniBand",
	[JL_WIRE_ROCE] = "RoCE",
	[JL_WIRE_EFA] = "EFA",
	[JL_WIRE_ETHERNET] = "Ethernet",
};

static enum jl_status read_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_coll_case *ret_case,
			       struct jl_err *err)
{
	const struct jl_coll_cells cells = {
		.collective = jl_set_cell(in, "collective"),
		.bytes = jl_set_cell(in, "bytes"),
		.n_gpus = jl_set_cell(in, "n_gpus"),
		.n_nodes = jl_set_cell(in, "n_nodes"),
		.intra_link = jl_set_cell(in, "intra_link"),
		.inter_link = jl_set_cell(in, "inter_link"),
		.latency_us = jl_set_cell(in, "latency_us"),
		.algbw_GBps = jl_set_cell(in, "algbw_GBps"),
		.busbw_GBps = jl_set_cell(in, "busbw_GBps"),
		.tool = jl_set_cell(in, "tool"),
	};
	enum jl_status status = jl_set_check_measures(in, err);
	size_t gpu = 0;

	if (!status)
		status = jl_set_gpu(&data->gpus, jl_label(in->labels, in->arena, jl_set_cell(in, "gpu")), &gpu, err);
	return status ? status : jl_coll_case_read(ret_case, &cells, data->gpus.cat, data->gpus.gpus[gpu], err);
}

static enum jl_status add_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	struct jl_coll_case *c = &data->cases[data->n];
	struct jl_err why;

	if (read_row(data, in, c, &why) != JL_OK)
		return jl_set_add_unscored(in, &why, err);
	struct jl_set_row *row = jl_set_add(in, jl_set_cell(in, "tool"),
					    wires[c->listed.n_nodes > 1 ? c->inter : c->intra]);
	const char *what = jl_arena_printf(in->arena, "%s %.3g MB, %d GPUs, %s%s%s", jl_set_cell(in, "collective"),
					   c->coll.size_B / 1e6, c->coll.n_ranks, wires[c->intra],
					   c->listed.n_nodes > 1 ? ", " : "",
					   c->listed.n_nodes > 1 ? wires[c->inter] : "");

	if (!row || !what)
		return jl_fail_nomem(err);
	row->item = data->n++;
	row->what = what;
	row->meas = c->meas_s;
	row->naive[0] = jl_baseline_collective_s(&c->listed, &c->coll, 1.0, 0.0);
	row->naive[1] = jl_baseline_collective_s(&c->listed, &c->coll, 0.8, 20e-6);
	return JL_OK;
}

static enum jl_status load(struct jl_set_data **io_data, struct jl_set_rows *io_rows, const struct jl_catalog *cat,
			   struct jl_csv *csv, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_set_data *data = *io_data ? *io_data : jl_arena_alloc(arena, sizeof(*data));
	const size_t n_left = jl_set_rows_left(csv);

	if (!data)
		return jl_fail_nomem(err);
	data->gpus.cat = cat;
	data->cases = jl_set_grow(arena, data->cases, data->n, data->n + n_left, sizeof(*data->cases));
	if (!data->cases)
		return jl_fail_nomem(err);
	const struct jl_set_reader in = {
		.ops = &jl_collectives_ops, .csv = csv, .arena = arena, .labels = &data->labels, .rows = io_rows
	};

	const enum jl_status status = jl_set_read(&in, data, add_row, 1, err);

	if (!status)
		*io_data = data;
	return status;
}

static size_t n_param(const struct jl_set_data *data)
{
	(void)data;
	return jl_coll_n_param();
}

static void param(const struct jl_set_data *data, size_t i, struct jl_param *ret_param)
{
	(void)data;
	*ret_param = *jl_coll_param_at(i);
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	double cost;

	(void)max_iter;
	return jl_coll_fit(data->cases, data->n, use, x, &cost, err);
}

static void predict(const struct jl_set_data *data, const double *x, const unsigned char *use,
		    const unsigned char *only, struct jl_set_row *rows, size_t n)
{
	(void)use;
	for (size_t i = 0; i < n; i++) {
		struct jl_set_row *row = &rows[i];

		if (row->item == JL_NO_ITEM || (only && !only[row->item]))
			continue;
		row->pred = jl_coll_predict_s(x, &data->cases[row->item], NULL);
		row->half_ln = jl_coll_interval_ln(&data->cases[row->item]);
	}
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, enum jl_lang lang,
		    struct jl_buf *out)
{
	static const char *const en[JL_N_ALGORITHM] = { "the one way", "ring", "tree", "in the switch",
							"hierarchical" };
	static const char *const ko[JL_N_ALGORITHM] = { "단일 방식", "링", "트리", "스위치 내", "계층형" };
	const struct jl_coll_case *c = &data->cases[row->item];
	struct jl_collective_cost cost;
	const double time_s = jl_coll_predict_s(x, c, &cost);

	jl_buf_printf(out,
		      JL_T(lang, "%s; bandwidth alone needs %.0f %% of the predicted time",
			   "%s; 대역폭만으로는 예측 시간의 %.0f %%"),
		      JL_T(lang, en[cost.algorithm], ko[cost.algorithm]), 100.0 * cost.bound_s / time_s);
	if (c->assumed & JL_COLL_NETWORK)
		jl_buf_puts(out, JL_T(lang, "; network rate assumed", "; 네트워크 속도는 가정"));
	if (c->assumed & JL_COLL_PATH)
		jl_buf_puts(out, JL_T(lang, "; PCIe path assumed", "; PCIe 경로는 가정"));
}

static size_t n_items(const struct jl_set_data *data)
{
	return data->n;
}

static const char *const files[] = { "collectives", NULL };
static const char *const columns[] = { "collective", "bytes", "n_gpus", "n_nodes", "gpu", "intra_link", NULL };
static const char *const measures[] = { "latency_us", "algbw_GBps", "busbw_GBps", NULL };

const struct jl_set_ops jl_collectives_ops = {
	.name = "collectives",
	.files = files,
	.unit = "s",
	.columns = columns,
	.measures = measures,
	.baselines = { "listed rate", "listed rate x 0.8 + 20 us" },
	.load = load,
	.n_param = n_param,
	.param = param,
	.fit = fit,
	.predict = predict,
	.explain = explain,
	.n_items = n_items,
};
