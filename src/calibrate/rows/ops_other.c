/* Sets "train_other" (vision, speech and translation models; fitted) and "other_train" (predicted with the result). */
#include <math.h>
#include <string.h>

#include "rows/set_other.h"
#include "rows/set_rows.h"
#include "system/resolve.h"
#include "parameters/arch.h"

/* Cache of hosts with several GPUs, with defaults if only the number and kind of GPUs are known. */
#define HOSTS_MAX 256
struct host {
	const struct jl_gpu *gpu;
	int n_gpus;
	struct jl_machine machine;
};

#define N_LAST 4096
struct own {
	double priors[JL_CONV_MAX_PARAMS]; /* a row's FLOP and bytes do not depend on the fit */
	struct jl_convnet_list nets;
	struct host *hosts[HOSTS_MAX];
	size_t n_hosts;
	const struct jl_convnet *last[N_LAST]; /* vision networks of earlier rows, by name */
};

JL_SET_CASES(jl_other_row);

static bool is_runs(const struct jl_set_data *data)
{
	return data->ops == &jl_runs_ops;
}

/* Only so many GPUs have parameters of their own; others are predicted by their family. */
static size_t n_own(const struct jl_set_data *data)
{
	return data->gpus.n < JL_CONV_MAX_GPUS ? data->gpus.n : JL_CONV_MAX_GPUS;
}

static enum jl_status find_gpu(void *ctx, const char *text, struct jl_other_gpu *ret_gpu, struct jl_err *err)
{
	struct jl_set_data *data = ctx;
	size_t g;

	JL_TRY(jl_set_gpu(data, text, &g, err));
	*ret_gpu = (struct jl_other_gpu){ .index = g < JL_CONV_MAX_GPUS ? (int)g : -1, .of = data->gpus.gpus[g] };
	jl_resolve_device(&ret_gpu->dev, data->cat, ret_gpu->of);
	return JL_OK;
}

static enum jl_status find_host(struct jl_set_data *data, const struct jl_gpu *gpu, int n_gpus,
				const struct jl_machine **ret_machine, struct jl_err *err)
{
	struct own *own = data->own;
	struct jl_sys sys;
	size_t i = 0;

	while (i < own->n_hosts && (own->hosts[i]->gpu != gpu || own->hosts[i]->n_gpus != n_gpus))
		i++;
	if (i == own->n_hosts) {
		/* above the largest hosts: several hosts of eight */
		const char *text = n_gpus > 16 && n_gpus % 8 == 0
					   ? jl_arena_printf(data->arena, "%dx(8x %s)", n_gpus / 8, gpu->id)
					   : jl_arena_printf(data->arena, "%dx %s", n_gpus, gpu->id);
		struct host *host = jl_arena_alloc(data->arena, sizeof(*host));

		if (i == HOSTS_MAX)
			return jl_fail(err, JL_E_LIMIT, "more than %d kinds of hosts", HOSTS_MAX);
		JL_TRY(jl_got(text && host, err));
		JL_TRY(jl_sys_parse(&sys, data->cat, text, data->arena, err));
		JL_TRY(jl_machine_make(&host->machine, data->cat, &sys, err));
		host->gpu = gpu;
		host->n_gpus = n_gpus;
		own->hosts[own->n_hosts++] = host;
	}
	*ret_machine = &own->hosts[i]->machine;
	return JL_OK;
}

/* Vision networks are left out by eighths: whole families with all their rows. */
#define N_PART    8
#define FIT_EVERY 5 /* every fifth row takes part in a fit */

static unsigned part_of(const char *text)
{
	unsigned sum = 5381;

	while (text && *text)
		sum = sum * 33 + (unsigned char)*text++;
	return sum;
}

static enum jl_status read_vision(struct jl_set_data *data, const struct jl_set_reader *in,
				  const struct jl_vision_cells *cells, struct jl_other_row *c, struct jl_err *err)
{
	const struct jl_other_find find = { .gpu = find_gpu, .ctx = data };
	const struct jl_machine *host = NULL;
	struct own *own = data->own;
	const struct jl_convnet *last = own->last[part_of(cells->model) % N_LAST];

	JL_TRY(jl_vision_row_read(c, cells, data->cat, &find, last, in->arena, err));
	JL_TRY(find_host(data, c->gpu.of, 1, &host, err));
	own->last[part_of(cells->model) % N_LAST] = c->net;
	const bool own_run = strcmp(jl_set_cell(in, "source_note"), "own run") == 0;

	c->aside = !own_run && (part_of(cells->model) + jl_csv_where(in->csv, 0).line) % FIT_EVERY != 0;
	jl_other_place(c, host);
	return JL_OK;
}

static enum jl_status read_row(struct jl_set_data *data, const struct jl_other_cells *cells, struct jl_other_row *c,
			       struct jl_err *err)
{
	const struct jl_other_find find = { .gpu = find_gpu, .ctx = data };
	const struct own *own = data->own;
	const struct jl_machine *host = NULL;

	JL_TRY(jl_other_row_read(c, cells, &own->nets, &find, err));
	JL_TRY(find_host(data, c->gpu.of, c->n_gpus, &host, err));
	jl_other_place(c, host);
	return JL_OK;
}

/* Seconds per step from throughput. */
static double step_s(const struct jl_other_row *c, double units_per_s)
{
	return c->net->units_per_item * c->batch * c->n_gpus / units_per_s;
}

static const char *link_of(const struct jl_other_row *c)
{
	return c->n_gpus < 2 ? "" : c->gpu.nvlink ? "NVLink" : c->gpu.p2p ? "PCIe, peer to peer" : "PCIe, via the host";
}

static void naive_of(struct jl_set_row *row, const struct jl_other_row *c, const double *priors)
{
	struct jl_other_row plain = *c;

	plain.gpu.index = -1;
	const struct jl_conv_cost cost = jl_other_cost(&plain, priors);
	const double passes = fmax(c->n_micro, 1);

	row->naive[0] = passes * cost.flop / (JL_BASELINE_MFU_FRAC * jl_baseline_peak_flopps(&c->gpu.dev, c->dtype));
	row->naive[1] = passes * jl_baseline_roofline_s(&c->gpu.dev, c->dtype, cost.flop, cost.moved_B,
							JL_BASELINE_ROOFLINE_FRAC);
}

/* A run of other_train: its time and its memory. */
static enum jl_status add_run(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	const struct jl_other_find find = { .gpu = find_gpu, .ctx = data };
	struct jl_other_row *c = (struct jl_other_row *)data->cases + data->n;
	const struct own *own = data->own;
	const struct jl_machine *host = NULL;
	struct jl_run_cells cells;

	JL_SET_READ_CELLS(in, &cells, JL_RUN_CELLS);
	JL_TRY(jl_run_row_read(c, &cells, data->cat, &find, in->arena, err));
	JL_TRY(find_host(data, c->gpu.of, c->n_gpus, &host, err));
	jl_other_place(c, host);
	for (int memory = 0; memory < 2; memory++) {
		const double meas = memory ? c->meas_mem_B : step_s(c, c->meas) * c->n_micro;
		struct jl_set_row *row;

		if (isnan(meas))
			continue;
		row = jl_set_add(
			data, in,
			&(struct jl_set_kind){ .framework = cells.framework,
					       .link = link_of(c),
					       .what = jl_arena_printf(in->arena, "%s %s, %d GPU%s, batch %g each",
								       cells.model, jl_dtype_name(c->dtype), c->n_gpus,
								       c->n_gpus > 1 ? "s" : "", c->batch),
					       .model = cells.model,
					       .answer = memory ? JL_ASKED_MEMORY : JL_ASKED_NETWORK,
					       .kind = { [JL_LABEL_GPU] = c->gpu.of->id,
							 [JL_LABEL_FAMILY] = jl_arch_id(c->gpu.dev.arch) },
					       .extent_ln = { log(c->net->n_params), log(c->batch), log(c->n_gpus) },
					       .meas = meas });
		JL_TRY(jl_got(row, err));
		row->is_memory = memory;
		row->is_second = memory && !isnan(c->meas);
		if (memory) {
			row->naive[0] = 16.0 * c->net->n_params;
			row->naive[1] = 1.2 * c->net->n_params * fmin(jl_dtype_B(c->dtype), 4);
		} else {
			naive_of(row, c, own->priors);
		}
	}
	data->n++;
	return JL_OK;
}

static enum jl_status add(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	if (is_runs(data))
		return add_run(data, in, err);
	struct jl_other_row *c = (struct jl_other_row *)data->cases + data->n;
	const struct own *own = data->own;
	struct jl_other_cells cells;
	struct jl_vision_cells vision;

	JL_SET_READ_CELLS(in, &cells, JL_OTHER_CELLS);
	JL_SET_READ_CELLS(in, &vision, JL_VISION_CELLS);
	const bool is_vision = *vision.gmacs || *vision.samples_per_s,
		   own_run = strcmp(jl_set_cell(in, "source_note"), "own run") == 0;

	JL_TRY(is_vision ? read_vision(data, in, &vision, c, err) : read_row(data, &cells, c, err));
	struct jl_set_row *row = jl_set_add(
		data, in,
		&(struct jl_set_kind){
			.framework = is_vision ? jl_arena_printf(in->arena, "%s %s %s", own_run ? "PyTorch" : "timm",
								 vision.task, vision.compile)
					       : jl_set_cell(in, "framework"),
			.link = link_of(c),
			.what = jl_arena_printf(in->arena, "%s %s, %d GPU%s, batch %g each", c->net->id,
						jl_dtype_name(c->dtype), c->n_gpus, c->n_gpus > 1 ? "s" : "", c->batch),
			.model = c->net->id,
			.format = jl_dtype_name(c->dtype),
			.answer = c->software & JL_SW_FORWARD ? JL_ASKED_FORWARD : JL_ASKED_NETWORK,
			.kind = { [JL_LABEL_GPU] = c->gpu.of->id,
				  [JL_LABEL_FAMILY] = jl_arch_id(c->gpu.dev.arch),
				  /* the tables contribute more to operators than to networks */
				  [JL_LABEL_KIND] = is_vision ? "" : c->net->id },
			.extent_ln = { log(c->net->n_params), log(c->batch), log(c->n_gpus) },
			.meas = step_s(c, c->meas) });

	JL_TRY(jl_got(row, err));
	if (is_vision) {
		const char *whose = own_run ? "own runs" : "timm";
		const char *part = jl_arena_printf(in->arena, "%s, families of part %u of %d", whose,
						   part_of(vision.family) % N_PART + 1, N_PART);

		row->group = jl_label(in->labels, in->arena, part ? part : "");
		data->groups[data->n] = row->group;
	}
	/* All tables are from one source, and so are the recipes: leaving out the source would leave nothing of the kind. So a recipe's GPU, or a
	 * part of the families, is left out. */
	row->source = row->group;
	data->n++;
	naive_of(row, c, own->priors);
	return JL_OK;
}

static bool knows(const struct jl_set_data *data, size_t item, size_t i)
{
	const struct jl_other_gpu *gpu = &case_at(data, item)->gpu;

	return !is_runs(data) && jl_conv_param_used(i, gpu->dev.arch, gpu->index);
}

static enum jl_status begin(struct jl_set_data *data, struct jl_err *err)
{
	struct own *own = data->own;

	jl_other_start(0, own->priors);
	return jl_convnets(&own->nets, data->cat, data->arena, err);
}

static struct jl_param_list params(const struct jl_set_data *data)
{
	const struct jl_param_list none = { .n = 0 };

	return is_runs(data) ? none : jl_conv_params(n_own(data), data->gpu_ids);
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	const struct jl_other_set set = { .rows = data->cases, .n_rows = data->n, .n_gpus = n_own(data) };

	if (is_runs(data))
		return JL_OK; /* other_train has no parameters to fit */
	return jl_other_fit(&set, use, max_iter, x, NULL, err);
}

static void predict(const struct jl_set_data *data, const double *x, const struct jl_known *known,
		    struct jl_set_row *row)
{
	struct jl_prediction p;
	struct jl_case c;

	jl_other_case(&c, case_at(data, row->item), is_runs(data) ? NULL : x, known);
	jl_predict(&p, NULL, &c);
	jl_set_answer(row, row->is_memory ? p.memory_B.value : p.step_s.value,
		      row->is_memory ? log(p.memory_B.hi / p.memory_B.value) : p.half_ln,
		      row->is_memory ? p.memory_doubt : p.doubt);
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, struct jl_buf *out)
{
	const struct jl_other_row *c = case_at(data, row->item);
	const struct jl_known known = { .cat = data->cat };

	if (is_runs(data)) {
		struct jl_case how;

		jl_other_case(&how, c, NULL, &known);
		const struct jl_case_price w = jl_case_price(&how);

		jl_set_explain(out, row->is_memory, &w.step, &w.memory);
		return;
	}
	const struct jl_conv_cost cost = jl_other_cost(c, x);
	const struct jl_set_part parts[] = {
		{ JL_N("kernels"), fmin(cost.device_s, cost.step_s) },
		{ JL_N("host ahead of the device"), fmax(0.0, cost.host_s - cost.device_s) },
		{ JL_N("launches waited for"), cost.sync_s },
		{ JL_N("gradient traffic"), cost.exposed_s },
	};

	jl_set_parts(out, parts, JL_LEN(parts), cost.step_s);
	if (c->assumed & JL_OTHER_ASSUMED_BATCH)
		jl_buf_puts(out, JL_("; batch assumed"));
}

#define COMMON                                                                                                         \
	.unit = "s", .baselines = { JL_N("40 % MFU"), JL_N("roofline at 0.7 of the listed rates") },                   \
	.case_B = sizeof(struct jl_other_row), .own_B = sizeof(struct own), .begin = begin, .knows = knows,            \
	JL_SET_FUNCTIONS

const struct jl_set_ops jl_other_ops = {
	COMMON,
	.name = "train_other",
	.files = (const char *const[]){ "train_other", "vision_train", "vision_infer", "vision_own", NULL },
	.columns = (const char *const[]){ "gpu", "n_gpus", "model", "precision", NULL },
	.measures = (const char *const[]){ "throughput", "samples_per_s", NULL },
	.rows_a_line = 1,
	.refit_iter = 4,
	.rows_a_group = 200,
};

const struct jl_set_ops jl_runs_ops = {
	COMMON,
	.name = "other_train",
	.files = (const char *const[]){ "other_train", NULL },
	.columns = (const char *const[]){ "gpu", "n_gpus", "model", "precision", "method", "resolution_or_seq",
					  "s_per_iter", "mem_gib_per_gpu", "primary_metric", NULL },
	.memory_baselines = { JL_N("16 bytes a parameter"), JL_N("weights and a fifth") },
	.memory_line = "other_memory",
	.rows_a_line = 2,
};
