/* Set "collectives": nccl-tests and similar. */
#include <math.h>

#include "rows/set_collectives.h"
#include "rows/set_rows.h"
#include "parameters/arch.h"
#include "parameters/optimize.h"

/* residuals count as if measurements were accurate to this (ln); larger ones enter the loss linearly */

static const double noise_ln = 0.1;

struct jl_collective_answer jl_coll_answer(const double *x, const struct jl_coll_case *c, const struct jl_known *known)
{
	struct jl_machine m = { .cat = known->cat,
				.widths = known->widths,
				.sys = { .gpu = c->gpu, .n_nodes = c->listed.n_nodes },
				.dev.arch = c->arch,
				.alone = c->listed,
				.intra = c->intra,
				.inter = c->listed.n_nodes > 1 ? c->inter : JL_WIRE_NONE };

	jl_coll_fill(x, c->intra, c->inter, c->many_die, &m.alone);
	return jl_collective_of(&m, &c->coll, jl_coll_tool_s(x, c), __builtin_popcount(c->assumed));
}

/* False if the path between more than two cards is unknown: the rate then constrains no path. */
static bool tells(const struct jl_coll_case *c)
{
	return !(c->assumed & JL_COLL_PATH) || c->coll.n_ranks_per_node <= 2;
}

struct fitted {
	const struct jl_coll_case *cases;
	size_t n;
	const unsigned char *use;
};

static void residuals(void *ctx, const double *x, double *ret_r)
{
	const struct fitted *fit = ctx;

	for (size_t i = 0; i < fit->n; i++)
		if (!fit->use || fit->use[i])
			*ret_r++ = tells(&fit->cases[i])
					   ? log(jl_coll_predict_s(x, &fit->cases[i], NULL) / fit->cases[i].meas_s) /
						     noise_ln
					   : 0.0;
}

enum jl_status jl_coll_fit(const struct jl_coll_case *cases, size_t n, const unsigned char *use, double *x,
			   double *ret_cost, struct jl_err *err)
{
	struct fitted fit = { .cases = cases, .n = n, .use = use };

	return jl_fit_params(
		&jl_coll_params, 1.0,
		(struct jl_fit_problem){
			.n_resid = jl_fit_used(use, n), .residuals = residuals, .ctx = &fit, .huber = 1.0 },
		x, ret_cost, err);
}

JL_SET_CASES(jl_coll_case);

static enum jl_status add(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	struct jl_coll_case *c = (struct jl_coll_case *)data->cases + data->n;
	char pair[JL_PAIR_ID_MAX];
	struct jl_coll_cells cells;
	size_t gpu = 0;

	JL_SET_READ_CELLS(in, &cells, JL_COLL_CELLS);

	JL_TRY(jl_set_gpu(data, jl_set_cell(in, "gpu"), &gpu, err));
	JL_TRY(jl_coll_case_read(c, &cells, data->cat, data->gpus.gpus[gpu], err));
	const enum jl_wire inter = c->listed.n_nodes > 1 ? c->inter : JL_WIRE_NONE;
	struct jl_set_row *row = jl_set_add(
		data, in,
		&(struct jl_set_kind){ .framework = cells.tool,
				       .link = jl_wires[inter ? inter : c->intra].label,
				       .what = jl_arena_printf(in->arena, "%s %.3g MB, %d GPUs, %s%s%s",
							       cells.collective, c->coll.size_B / 1e6, c->coll.n_ranks,
							       jl_wires[c->intra].label, inter ? ", " : "",
							       jl_wires[inter].label),
				       .model = cells.collective,
				       .answer = JL_ASKED_COLLECTIVE,
				       .kind = { [JL_LABEL_GPU] = data->gpu_ids[gpu],
						 [JL_LABEL_FAMILY] = jl_arch_id(c->arch),
						 [JL_LABEL_KIND] = jl_collective_name(c->coll.kind),
						 [JL_LABEL_LINK] = jl_wire_pair(pair, c->intra, inter, false) },
				       .extent_ln = { log(c->coll.size_B), NAN, log(c->coll.n_ranks) },
				       .meas = c->meas_s });

	return jl_set_added(data, row,
			    (double[]){ jl_baseline_collective_s(&c->listed, &c->coll, 1.0, 0.0),
					jl_baseline_collective_s(&c->listed, &c->coll, 0.8, 20e-6) },
			    err);
}

static struct jl_param_list params(const struct jl_set_data *data)
{
	(void)data;
	return jl_coll_params;
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	(void)max_iter;
	return jl_coll_fit(data->cases, data->n, use, x, NULL, err);
}

static void predict(const struct jl_set_data *data, const double *x, const struct jl_known *known,
		    struct jl_set_row *row)
{
	const struct jl_collective_answer a = jl_coll_answer(x, case_at(data, row->item), known);

	jl_set_answer(row, a.time_s, a.half_ln, a.doubt);
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, struct jl_buf *out)
{
	static const char *const en[JL_N_ALGORITHM] = { JL_N("the one way"), JL_N("ring"), JL_N("tree"),
							JL_N("in the switch"), JL_N("hierarchical") };

	const struct jl_coll_case *c = case_at(data, row->item);
	struct jl_collective_cost cost;
	const double time_s = jl_coll_predict_s(x, c, &cost);

	jl_buf_printf(out, JL_("%s; bandwidth alone needs %.0f %% of the predicted time"), jl_msg(en[cost.algorithm]),
		      100.0 * cost.bound_s / time_s);
	if (c->assumed & JL_COLL_NETWORK)
		jl_buf_puts(out, JL_("; network rate assumed"));
	if (c->assumed & JL_COLL_PATH)
		jl_buf_puts(out, JL_("; PCIe path assumed"));
}

const struct jl_set_ops jl_collectives_ops = {
	.name = "collectives",
	.files = (const char *const[]){ "collectives", NULL },
	.unit = "s",
	.columns = (const char *const[]){ "collective", "bytes", "n_gpus", "n_nodes", "gpu", "intra_link", NULL },
	.measures = (const char *const[]){ "latency_us", "algbw_GBps", "busbw_GBps", NULL },
	.baselines = { JL_N("listed rate"), JL_N("listed rate x 0.8 + 20 us") },
	.case_B = sizeof(struct jl_coll_case),
	.rows_a_line = 1,
	JL_SET_FUNCTIONS,
};
