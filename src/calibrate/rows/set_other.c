/* Reads rows of train_other and fits to them. Transformer blocks contribute, operator by operator, to linear layers and attention outside blocks;
 * in predictions blocks use parameters from transformer runs. */
#include "rows/set_other.h"

#include <math.h>
#include <string.h>

#include "catalog/find.h"
#include "predict/kind.h"
#include "program/convnet.h"
#include "base/budget.h"
#include "base/mem.h"
#include "parameters/optimize.h"

/* residual whose cost equals a deviation of one prior standard deviation */

#define PRIOR_LN 0.15
#define HUBER_LN 0.1

void jl_other_start(size_t n_gpus, double *ret_x)
{
	const struct jl_param_list params = jl_conv_params(n_gpus, NULL);

	jl_params_start(&params, ret_x);
}

void jl_other_resolve(const double *x, const struct jl_other_gpu *gpu, struct jl_conv_fit *ret_fit, double *ret_bus_Bps)
{
	jl_conv_resolve(x, gpu->index, &gpu->dev, ret_fit);
	*ret_bus_Bps = jl_conv_bus_Bps(x, &gpu->dev, gpu->nvlink);
}

/* Cache of device times during a fit: rows with the same GPU, model, format and batch share one, recomputed only when the GPU's parameters have
 * changed. */
struct priced {
	size_t row; /* representative row */
	struct jl_conv_cost cost;
};

struct fit_ctx {
	const struct jl_other_set *set;
	const size_t *used; /* rows used in the fit */
	size_t n_used;
	size_t *config; /* per used row: index into `priced` */
	struct priced *priced;
	size_t n_priced;
	struct jl_conv_fit last[JL_CONV_MAX_GPUS];
};

static int same_config(const struct jl_other_row *a, const struct jl_other_row *b)
{
	return a->gpu.index == b->gpu.index && a->net == b->net && a->dtype == b->dtype && a->software == b->software &&
	       a->batch == b->batch;
}

static void group_configs(struct fit_ctx *fit)
{
	for (size_t i = 0; i < fit->n_used; i++) {
		size_t c = 0;

		while (c < fit->n_priced &&
		       !same_config(&fit->set->rows[fit->priced[c].row], &fit->set->rows[fit->used[i]]))
			c++;
		if (c == fit->n_priced)
			fit->priced[fit->n_priced++] = (struct priced){ .row = fit->used[i] };
		fit->config[i] = c;
	}
}

static void residuals(void *ctx, const double *x, double *ret_r)
{
	struct fit_ctx *fit = ctx;
	struct jl_conv_fit now[JL_CONV_MAX_GPUS];
	double bus_Bps[JL_CONV_MAX_GPUS];
	unsigned char changed[JL_CONV_MAX_GPUS], known[JL_CONV_MAX_GPUS] = { 0 };

	for (size_t c = 0; c < fit->n_priced; c++) {
		const struct jl_other_row *row = &fit->set->rows[fit->priced[c].row];
		const int g = row->gpu.index;

		if (!known[g]) {
			jl_other_resolve(x, &row->gpu, &now[g], &bus_Bps[g]);
			/* all members are doubles: no padding. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
			changed[g] = memcmp(&now[g], &fit->last[g], sizeof(now[g])) != 0;
			fit->last[g] = now[g];
			known[g] = 1;
		}
		if (jl_budget_spend(20))
			return;
		if (changed[g]) {
			const struct jl_conv_in in = jl_other_input(row, &now[g], bus_Bps[g]);

			fit->priced[c].cost = jl_conv_device(&row->gpu.dev, &now[g], &in);
		}
	}
	for (size_t i = 0; i < fit->n_used; i++) {
		const struct jl_other_row *row = &fit->set->rows[fit->used[i]];
		const int g = row->gpu.index;
		const struct jl_conv_in in = jl_other_input(row, &now[g], bus_Bps[g]);
		const struct jl_conv_cost cost = jl_conv_finish(&now[g], &in, fit->priced[fit->config[i]].cost);

		ret_r[i] = log(row->net->units_per_item * row->batch * row->n_gpus / cost.step_s / row->meas);
	}
}

enum jl_status jl_other_fit(const struct jl_other_set *set, const unsigned char *use, int max_iter, double *x,
			    double *ret_cost, struct jl_err *err)
{
	enum jl_status status;
	size_t *used = jl_realloc(NULL, (2 * set->n_rows + 1) * sizeof(*used)), n_used = 0;
	struct priced *priced = jl_realloc(NULL, (set->n_rows + 1) * sizeof(*priced));

	if (!used || !priced) {
		status = jl_fail_nomem(err);
		goto out;
	}
	if (set->n_gpus > JL_CONV_MAX_GPUS) {
		status = jl_fail(err, JL_E_LIMIT, "more than %d GPU models in one fit", JL_CONV_MAX_GPUS);
		goto out;
	}
	for (size_t i = 0; i < set->n_rows; i++) {
		if ((use ? use[i] : !set->rows[i].aside) && set->rows[i].gpu.index >= 0)
			used[n_used++] = i;
	}
	struct fit_ctx fit = {
		.set = set, .used = used, .n_used = n_used, .config = used + set->n_rows, .priced = priced
	};

	const struct jl_param_list params = jl_conv_params(set->n_gpus, NULL);

	group_configs(&fit);
	status = jl_fit_params(&params, PRIOR_LN,
			       (struct jl_fit_problem){ .n_resid = n_used,
							.residuals = residuals,
							.ctx = &fit,
							.huber = HUBER_LN,
							.max_iter = max_iter },
			       x, ret_cost, err);
out:
	jl_free(used);
	jl_free(priced);
	return status;
}

/* Reads the column `format`. "fp32_or_tf32": TF32 if the device has it, else fp32. */
static enum jl_status read_dtype(enum jl_dtype *ret_dtype, const char *format, const char *stated,
				 const struct jl_device *dev, struct jl_err *err)
{
	static const struct {
		const char *word;
		enum jl_dtype dtype;
	} words[] = { { "fp32", JL_FP32 }, { "bf16", JL_BF16 }, { "fp16", JL_FP16 }, { "fp32_or_tf32", JL_TF32 } };
	size_t i = 0;

	while (i < JL_LEN(words) && strcmp(format, words[i].word) != 0)
		i++;
	if (i == JL_LEN(words))
		return jl_fail(err, JL_E_DATA,
			       "precision '%s' is not known; e.g. amp fp16, bf16, fp32 (TF32), fp32 (TF32 off)",
			       stated);
	*ret_dtype = words[i].dtype == JL_TF32 && jl_conv_path(dev, JL_TF32) == JL_CONV_VECTOR ? JL_FP32
											       : words[i].dtype;
	return JL_OK;
}

static bool yes(jl_cell cell)
{
	return *cell == 'y';
}

/* Software version of a run. The tables do not state it, but published logs print the version of PyTorch. Snapshot of 2022-06-30: 1.4 (CUDA 10.2)
 * before Ampere, 1.7 (CUDA 11.0) for the first Ampere cards, 1.9 (NGC 21.03) for the cards named below, 1.10 for the rest. All others: 1.13 or
 * later. */
#define AMP_WORKS 0x100u /* old snapshot: recipes that ignore the autocast flag in later releases still use it */
static unsigned software_of(const struct jl_other_cells *cells, const struct jl_device *dev)
{
	static const struct {
		const char *gpu;
		unsigned software;
	} cards[] = {
		{ "RTX 3070", JL_SW_UNDILATED_ONLY | AMP_WORKS },
		{ "RTX 3080", JL_SW_UNDILATED_ONLY | AMP_WORKS },
		{ "A40", JL_SW_SLOW_TF32 },
		{ "RTX A4000", JL_SW_SLOW_TF32 },
		{ "RTX A5000", JL_SW_SLOW_TF32 },
	};

	if (!yes(cells->snapshot))
		return 0;
	if (dev->priors->no_tf32)
		return JL_SW_ALIGNED_ONLY | JL_SW_UNDILATED_ONLY | JL_SW_SLOW_HOST | AMP_WORKS;
	for (size_t i = 0; i < JL_LEN(cards); i++) {
		if (strcmp(cells->gpu, cards[i].gpu) == 0)
			return cards[i].software;
	}
	return 0;
}

static enum jl_status read_sizes(struct jl_other_row *row, const struct jl_other_cells *cells, struct jl_err *err)
{
	double n_gpus = NAN, batch = NAN;

	JL_TRY(jl_row_number(&n_gpus, cells->n_gpus, "n_gpus", err));
	JL_TRY(jl_row_number(&batch, cells->micro_batch, "micro_batch", err));
	JL_TRY(jl_row_number(&row->meas, cells->throughput, "throughput", err));
	if (isnan(n_gpus))
		n_gpus = 1;
	if (!(n_gpus >= 1 && n_gpus <= 1e6))
		return jl_fail(err, JL_E_RANGE, "n_gpus: %g; at least 1", n_gpus);
	if (!(row->meas > 0 && isfinite(row->meas)))
		return jl_fail(err, JL_E_RANGE, "throughput: %g; a positive number is needed", row->meas);
	row->n_gpus = (int)n_gpus;
	/* the column is headed "micro" but holds the global batch: it is n times that of one GPU throughout, and the recipes write "GLOBAL_BATCH";
	 * 0 is a share rounded down */
	row->batch = fmax(batch / n_gpus, 1);
	if (isnan(batch)) {
		const double per_B = jl_dtype_B(row->dtype) < 4 ? row->net->batch_per_B_half
								: row->net->batch_per_B_full;

		row->batch = fmax(floor(per_B * row->gpu.dev.mem_B), 1);
		row->assumed |= JL_OTHER_ASSUMED_BATCH;
	}
	if (!(row->batch <= 1e9))
		return jl_fail(err, JL_E_RANGE, "micro_batch: %g is more than any run has", batch);
	if (row->n_gpus > 1)
		row->assumed |= JL_OTHER_ASSUMED_LINK;
	return JL_OK;
}

enum jl_status jl_other_row_read(struct jl_other_row *ret_row, const struct jl_other_cells *cells,
				 const struct jl_convnet_list *nets, const struct jl_other_find *find,
				 struct jl_err *err)
{
	struct jl_other_row row = { 0 };

	JL_TRY(find->gpu(find->ctx, cells->gpu, &row.gpu, err));
	row.net = jl_convnet_find(nets, cells->model);
	if (!row.net)
		return jl_fail(err, JL_E_NOTFOUND, "model '%s' is not in the list of catalog/models/convnets.yaml",
			       cells->model);
	JL_TRY(read_dtype(&row.dtype, cells->format, cells->precision, &row.gpu.dev, err));
	const enum jl_dtype labelled = row.dtype;

	row.software = software_of(cells, &row.gpu.dev);
	JL_TRY(read_sizes(&row, cells, err));
	if (row.net->ignores_amp && !(row.software & AMP_WORKS) && jl_dtype_B(labelled) < 4)
		row.dtype = jl_conv_path(&row.gpu.dev, JL_TF32) == JL_CONV_TF32 ? JL_TF32 : JL_FP32;
	row.software &= ~AMP_WORKS;
	*ret_row = row;
	return JL_OK;
}

/* True if the catalog's network has the table's counts; the same name may denote another variant. Later tables do not count attention's own
 * products. */
static bool agrees(const struct jl_convnet *net, double params, double mac)
{
	const struct jl_layers_total total = jl_layers_sum(net->ops, net->n_ops);
	const double plain = total.mac - total.mac_kind[JL_CONV_ATTENTION], slack = 0.02 * mac + 5e6;

	return fabs(net->n_params - params) <= 0.01 * params + 5e3 &&
	       (isnan(mac) || fabs(total.mac - mac) <= slack || fabs(plain - mac) <= slack);
}

static enum jl_status find_vision(const struct jl_convnet **ret_net, const struct jl_vision_cells *cells,
				  const struct jl_catalog *cat, const struct jl_convnet *last, struct jl_arena *arena,
				  struct jl_err *err)
{
	struct jl_convnet_figures f = { .kind = jl_arena_printf(arena, "%s%s", cells->family,
								cells->norm) /* norm other than the family's */,
					.name = jl_arena_printf(arena, "%s@%s", cells->model, cells->img_size) };
	struct jl_convnet *net = jl_arena_alloc(arena, sizeof(*net));

	JL_TRY(jl_got(f.name && f.kind && net, err));
	JL_TRY(jl_row_number(&f.n_params, cells->params_m, "params_m", err));
	JL_TRY(jl_row_number(&f.mac, cells->gmacs, "gmacs", err));
	JL_TRY(jl_row_number(&f.n_outputs, cells->macts, "macts", err));
	JL_TRY(jl_row_number(&f.image, cells->img_size, "img_size", err));
	f.n_params *= 1e6;
	f.mac *= 1e9;
	f.n_outputs *= 1e6;
	if (last && strcmp(last->id, f.name) == 0) {
		*ret_net = last;
		return JL_OK;
	}
	enum jl_status status = jl_convnet_load(net, cat, f.name, arena, err);

	if (status == JL_E_NOTFOUND || (!status && !agrees(net, f.n_params, f.mac)))
		status = jl_convnet_described(net, cat, &f, arena, err);
	net->optimizer = strcmp(cells->optimizer_as, "adam") == 0 ? JL_NET_ADAM : JL_NET_SGD; /* timm's default */
	*ret_net = net;
	return status;
}

enum jl_status jl_vision_row_read(struct jl_other_row *ret_row, const struct jl_vision_cells *cells,
				  const struct jl_catalog *cat, const struct jl_other_find *find,
				  const struct jl_convnet *last, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_other_row row = { .n_gpus = 1 };

	JL_TRY(find->gpu(find->ctx, cells->gpu, &row.gpu, err));
	JL_TRY(read_dtype(&row.dtype, cells->format, cells->precision, &row.gpu.dev, err));
	JL_TRY(jl_row_number(&row.batch, cells->batch, "batch", err));
	JL_TRY(jl_row_number(&row.meas, cells->samples_per_s, "samples_per_s", err));
	JL_TRY(find_vision(&row.net, cells, cat, last, arena, err));
	if (!(row.batch >= 1 && row.batch <= 1e9))
		return jl_fail(err, JL_E_RANGE, "batch: '%s'; at least 1", cells->batch);
	row.software = (yes(cells->old_torch) ? JL_SW_PLAIN_ATTENTION : 0U) |
		       (yes(cells->channels_last) ? JL_SW_CHANNELS_LAST : 0U) |
		       (yes(cells->compiled) ? JL_SW_COMPILED : 0U) | (yes(cells->autocast) ? 0U : JL_SW_PURE) |
		       (yes(cells->forward) ? JL_SW_FORWARD : 0U);
	*ret_row = row;
	return JL_OK;
}

/* Refuses runs other than full training with data parallelism. */
static enum jl_status check_run(const struct jl_run_cells *cells, struct jl_err *err)
{
	const char *why = cells->reject;

	if (strcmp(why, "flop") == 0)
		return jl_fail(err, JL_E_DATA,
			       "sources count FLOP differently: only time, throughput and memory are scored");
	if (strcmp(why, "method") == 0)
		return jl_fail(err, JL_E_DATA,
			       "method '%s': networks given as operator lists are supported for full training only",
			       cells->method);
	if (strcmp(why, "states") == 0)
		return jl_fail(err, JL_E_DATA, "method '%s': states of such networks are supported in fp32 only",
			       cells->method);
	if (strcmp(why, "shards") == 0)
		return jl_fail(err, JL_E_DATA, "'%s': states of such networks are whole on every GPU",
			       cells->zero_or_fsdp);
	if (strcmp(why, "recompute") == 0)
		return jl_fail(err, JL_E_DATA, "recompute is not supported for such networks");
	return JL_OK;
}

/* Finds "faster_rcnn_R_50_FPN_1x", or "Stable Diffusion 2 base U-Net" at "256x256": family names, or spellings in figures.yaml. */
static enum jl_status find_run(const struct jl_convnet **ret_net, const struct jl_run_cells *cells,
			       const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	const char *spelt = jl_spelt(cat, "network-spelling", cells->model), *x = strchr(cells->resolution_or_seq, 'x');
	const size_t digits = strspn(cells->resolution_or_seq, "0123456789");
	const bool square = x && digits && cells->resolution_or_seq[digits] == 'x' &&
			    strncmp(cells->resolution_or_seq, x + 1, digits) == 0;
	const bool length = digits && !cells->resolution_or_seq[digits];
	const char *name = spelt ? spelt : cells->model;
	struct jl_convnet *net = jl_arena_alloc(arena, sizeof(*net));

	if ((square || length) && !strchr(name, '@'))
		name = jl_arena_printf(arena, "%s@%.*s", name, (int)digits, cells->resolution_or_seq);
	JL_TRY(jl_got(net && name, err));
	const enum jl_status status = jl_convnet_load(net, cat, name, arena, err);

	if (status == JL_E_NOTFOUND)
		return jl_fail(err, status, "the catalog has no network '%.60s'", cells->model);
	*ret_net = net;
	return status;
}

/* default batches of common image recipes on large cards */
static const double batch_half = 256, batch_full = 128;

static enum jl_status size_run(struct jl_other_row *row, const struct jl_run_cells *cells, struct jl_err *err)
{
	double n_gpus = NAN, batch = NAN, global = NAN, rate = NAN, step_s = NAN, mem_gib = NAN, passes = NAN;
	const double units = row->net->units_per_item;

	JL_TRY(jl_row_number(&n_gpus, cells->n_gpus, "n_gpus", err));
	JL_TRY(jl_row_number(&batch, cells->micro_batch, "micro_batch", err));
	JL_TRY(jl_row_number(&global, cells->global_batch, "global_batch", err));
	JL_TRY(jl_row_number(&rate, cells->throughput, "throughput", err));
	JL_TRY(jl_row_number(&step_s, cells->s_per_iter, "s_per_iter", err));
	JL_TRY(jl_row_number(&mem_gib, cells->mem_gib_per_gpu, "mem_gib_per_gpu", err));
	JL_TRY(jl_row_number(&passes, cells->accumulate, "accumulate", err));
	n_gpus = isnan(n_gpus) ? 1 : n_gpus;
	/* if tokens are counted, so are batches */
	if (yes(cells->counts_tokens) && units > 1)
		batch /= units;
	if (isnan(batch) && isnan(global)) {
		batch = jl_dtype_B(row->dtype) < 4 ? batch_half : batch_full;
		row->assumed |= JL_OTHER_ASSUMED_BATCH;
	} else if (isnan(batch)) {
		batch = fmin(global / n_gpus, batch_half);
	}
	row->n_micro = !isnan(passes) ? passes : isnan(global) ? 1 : fmax(floor(global / (batch * n_gpus) + 0.5), 1);
	if (!(n_gpus >= 1 && n_gpus <= 1e6 && batch > 0 && batch <= 1e9 && row->n_micro >= 1 && row->n_micro <= 1e6))
		return jl_fail(err, JL_E_RANGE, "%g GPUs, %g batches of %g: not a run", n_gpus, row->n_micro, batch);
	row->n_gpus = (int)n_gpus;
	row->batch = batch;
	row->meas = step_s > 0 ? units * batch * row->n_micro * n_gpus / step_s : rate;
	row->meas_mem_B = mem_gib * 1073741824.0;
	if (!(row->meas > 0 && isfinite(row->meas)) && !(row->meas_mem_B > 0 && isfinite(row->meas_mem_B)))
		return jl_fail(err, JL_E_DATA, "no throughput, time of a step or memory");
	row->assumed |= row->n_gpus > 1 ? JL_OTHER_ASSUMED_LINK : 0;
	return JL_OK;
}

enum jl_status jl_run_row_read(struct jl_other_row *ret_row, const struct jl_run_cells *cells,
			       const struct jl_catalog *cat, const struct jl_other_find *find, struct jl_arena *arena,
			       struct jl_err *err)
{
	struct jl_other_row row = { 0 };

	JL_TRY(find_run(&row.net, cells, cat, arena, err));
	JL_TRY(check_run(cells, err));
	/* speed needs a known card, but memory hardly depends on it */
	JL_TRY(find->gpu(find->ctx, *cells->gpu ? cells->gpu : "A100 SXM 80GB", &row.gpu, err));
	JL_TRY(read_dtype(&row.dtype, cells->format, cells->precision, &row.gpu.dev, err));
	JL_TRY(size_run(&row, cells, err));
	if (!*cells->gpu)
		row.meas = NAN;
	row.software = (yes(cells->compiled) ? JL_SW_COMPILED : 0U) |
		       (yes(cells->channels_last) ? JL_SW_CHANNELS_LAST : 0U);
	*ret_row = row;
	return JL_OK;
}

void jl_other_place(struct jl_other_row *row, const struct jl_machine *host)
{
	const struct jl_collective coll = { .kind = JL_ALLREDUCE,
					    .size_B = jl_convnet_grad_B(row->net, row->dtype),
					    .n_ranks = row->n_gpus };

	row->host = host;
	row->pictures = jl_convnet_pictures(row->net) || jl_convnet_has_blocks(row->net);
	row->gpu.nvlink = jl_machine_conv_nvlink(host);
	row->gpu.p2p = host->fabric.intra_kind == JL_INTRA_PCIE_P2P;
	row->links_s = row->n_gpus > 1 ? jl_collective_cost(&host->fabric, &coll).time_s : 0.0;
}

/* Host launch time; 0 (the vector's own) if the host is unknown. */
static double launch_s(const struct jl_other_row *row, const struct jl_conv_fit *fit)
{
	return row->host ? jl_machine_launch_s(row->host, fit->launch_s, row->pictures, row->software & JL_SW_COMPILED)
			 : 0;
}

struct jl_conv_in jl_other_input(const struct jl_other_row *row, const struct jl_conv_fit *fit, double bus_Bps)
{
	const struct jl_convnet_train train = { .net = row->net,
						.launch_s = launch_s(row, fit),
						.bus_Bps = bus_Bps,
						.micro_batch = row->batch,
						.dtype = row->dtype,
						.software = row->software,
						.n_ranks = row->n_gpus,
						.n_per_host = row->n_gpus };

	return jl_convnet_input(&train, fmax(jl_convnet_comm_s(&train), row->links_s));
}

void jl_other_case(struct jl_case *ret_case, const struct jl_other_row *row, const double *x,
		   const struct jl_known *known)
{
	struct jl_machine m = *row->host;
	struct jl_profile profile;

	m.cat = known->cat;
	m.widths = known->widths;
	if (x) {
		const struct jl_device_fit fit = m.dev.fit; /* transformer blocks use parameters fitted by other sets */

		m.dev = row->gpu.dev;
		m.dev.fit = fit;
		jl_other_resolve(x, &row->gpu, &m.conv, &m.conv_bus_Bps);
	}
	jl_machine_profile(&profile, known->cat, row->software & JL_SW_COMPILED ? JL_FW_COMPILED : JL_FW_EAGER, NULL);
	profile.launch_s = launch_s(row, &m.conv);
	*ret_case = (struct jl_case){
		.subject = { .kind = &jl_kind_network, .net = row->net, .id = row->net->id, .seq = NAN },
		.machine = m,
		.framework = JL_FW_EAGER,
		.profile = profile,
		.plan = { .dp = row->n_gpus,
			  .tp = 1,
			  .pp = 1,
			  .cp = 1,
			  .ep = 1,
			  .n_chunks = 1,
			  .n_micro = fmax(row->n_micro, 1),
			  .trained_frac = 1 },
		.shard = { .dtype = row->dtype, .seq = NAN, .micro_batch = row->batch },
		.n_gpus = row->n_gpus,
		.global_batch = row->batch * row->n_gpus * fmax(row->n_micro, 1),
		.loss = JL_UNSET,
		.states = JL_UNSET,
		.optimizer = JL_UNSET,
		.software = row->software,
		.n_assumed = (row->assumed & JL_OTHER_ASSUMED_BATCH) != 0,
		JL_CASE_STEP_ALONE,
	};
}

struct jl_conv_cost jl_other_cost(const struct jl_other_row *row, const double *x)
{
	struct jl_conv_fit fit;
	double bus_Bps;

	jl_other_resolve(x, &row->gpu, &fit, &bus_Bps);
	const struct jl_conv_in in = jl_other_input(row, &fit, bus_Bps);

	return jl_conv_step(&row->gpu.dev, &fit, &in);
}
