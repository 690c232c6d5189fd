/* Sets of serving engines' operators: products, attention of prompts and decoding, latent attention, routed experts, exchanges. They share cases
 * and fit and differ in reading rows. A pair of GPU and engine is left out together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "rows/kept.h"
#include "parameters/optimize.h"
#include "rows/set_rows.h"
#include "rows/set_serve.h"
#include "parameters/arch.h"
#include "parameters/device_params.h"
#include "parameters/op_params.h"
#include "system/resolve.h"
#include "program/served.h"

struct op_case {
	const struct jl_device *dev;
	size_t gpu;
	int engine;
	enum { GEMM, PROMPT, ANSWER, MODULE, BMM, EXPERTS, EXCHANGE } kind;
	union {
		struct jl_served_gemm gemm;
		struct jl_served_attention att; /* also for modules: gemm_format, answers */
		struct jl_served_experts experts;
		struct jl_served_exchange exchange;
	};
	enum jl_op_format format;
	bool answers;
	double meas_s;
};

struct own {
	struct jl_device devices[JL_SET_GPUS_MAX];
	struct jl_op_table table; /* fitted values of other sets */
	size_t n;
};

#define N_PART         4
#define COMMON_COLUMNS 3 /* first columns of all tables: gpu, engine, latency_ms */

static enum jl_op_set set_of(const struct jl_set_data *data);

/* Time of the products of a DeepSeek-V3 latent attention layer: [tokens, k] x [k, n], heads divided among devices. */
static double module_s(const struct jl_device *dev, const struct jl_op_fit *fit, const struct op_case *c)
{
	const double tokens = c->att.batch * c->att.tokens, h = c->att.heads;
	const double shapes[][2] = { { 7168, 2112 }, { 1536, h * 192 }, { 512, h * 256 }, { h * 128, 7168 } };
	double s = fit->v[JL_TERM_LATENT_MODULE_S];

	for (size_t i = 0; i < JL_LEN(shapes); i++) {
		const struct jl_served_gemm g = {
			tokens, shapes[i][1], shapes[i][0], 1, i == 2 && c->answers ? JL_OP_BF16 : c->format, true, 0
		};

		s += jl_served_gemm_s(dev, fit, &g);
	}
	return s + (c->answers ? jl_served_answer_s(dev, fit, &c->att) : jl_served_prompt_s(dev, fit, &c->att));
}

static double case_s(const struct op_case *c, const struct jl_op_fit *fit)
{
	switch (c->kind) {
	case GEMM:
	case BMM: return jl_served_gemm_s(c->dev, fit, &c->gemm);
	case PROMPT: return jl_served_prompt_s(c->dev, fit, &c->att);
	case ANSWER: return jl_served_answer_s(c->dev, fit, &c->att);
	case MODULE: return module_s(c->dev, fit, c);
	case EXPERTS: return jl_served_experts_s(c->dev, fit, &c->experts);
	default: return jl_served_exchange_s(fit, &c->exchange);
	}
}

static const struct {
	const char *text;
	enum jl_op_format format;
} format_names[] = {
	{ "bfloat16", JL_OP_BF16 },        { "fp8", JL_OP_FP8 },     { "fp8_static", JL_OP_FP8_STATIC },
	{ "fp8_block", JL_OP_FP8_BLOCK },  { "nvfp4", JL_OP_NVFP4 }, { "int8_wo", JL_OP_INT8_WO },
	{ "int4_wo", JL_OP_INT4_WO },      { "sq", JL_OP_INT8 },     { "w4a16_mxfp4", JL_OP_MX16 },
	{ "w4a8_mxfp4_mxfp8", JL_OP_MX8 }, { "w4afp8", JL_OP_MX8 },
};

static enum jl_status read_format(enum jl_op_format *ret, const char *text, int engine, struct jl_err *err)
{
	for (size_t i = 0; i < JL_LEN(format_names); i++) {
		if (strcmp(format_names[i].text, text) == 0) {
			*ret = format_names[i].format;
			/* this engine computes such products in 8 bit */
			if (*ret == JL_OP_INT8_WO && jl_engine_is(engine, "sglang"))
				*ret = JL_OP_INT8;
			return JL_OK;
		}
	}
	return jl_fail(err, JL_E_DATA, "format '%.40s' is not known", text);
}

struct numbers {
	const struct jl_set_reader *in;
	struct jl_err *err;
	enum jl_status status;
};

static const char *cell_at(const void *ctx, const char *column)
{
	return jl_set_cell(ctx, column);
}

/* A number of the row; `instead` if the cell is empty. */
static double number(struct numbers *n, const char *column, double instead)
{
	const struct jl_row_cells cells = { .at = cell_at, .ctx = n->in };
	double value = NAN;

	if (!n->status)
		n->status = jl_serve_number(&cells, column, &value, n->err);
	return isnan(value) ? instead : value;
}

/* Attention of a layer; a module includes the products around it. */
static void read_attention(struct op_case *c, struct numbers *n, enum jl_op_set set)
{
	const char *op = jl_set_cell(n->in, "mla_op");
	const bool latent = set == JL_OPS_LATENT, kv8 = strcmp(jl_set_cell(n->in, "kv_dtype"), "fp8") == 0;
	const double batch = number(n, "batch", 1), window = number(n, "window", 0);

	c->answers = set == JL_OPS_ANSWER || strstr(op, "decode");
	c->kind = strstr(op, "module") ? MODULE : c->answers ? ANSWER : PROMPT;
	const double s = number(n, c->answers ? "kv_len" : "seq_len", 1), w = window > 0 ? fmin(window, s) : s;

	c->att = (struct jl_served_attention){ .batch = batch,
					       .tokens = c->answers ? 1 : s,
					       .pairs = batch * (s * w - 0.5 * w * w),
					       .context = w,
					       .heads = number(n, "n_heads", 1),
					       .kv_heads = number(n, "n_kv_heads", 1),
					       .head_dim = number(n, "head_dim", 128),
					       .kv_B = kv8 ? 1 : 2,
					       .math8 = strcmp(jl_set_cell(n->in, "dtype"), "fp8") == 0,
					       .latent = latent };
}

static void read_latent(struct op_case *c, struct numbers *n)
{
	const char *op = jl_set_cell(n->in, "mla_op");

	if (strncmp(op, "bmm", 3) != 0) {
		read_attention(c, n, JL_OPS_LATENT);
		if (c->kind == MODULE && !n->status)
			n->status = read_format(&c->format, jl_set_cell(n->in, "gemm_dtype"), c->engine, n->err);
		return;
	}
	const bool pre = strcmp(op, "bmm_pre") == 0;

	c->kind = BMM;
	c->gemm = (struct jl_served_gemm){
		number(n, "batch", 1), pre ? 512 : 128, pre ? 128 : 512, number(n, "n_heads", 1), JL_OP_BF16, true, 0
	};
	if (strcmp(jl_set_cell(n->in, "dtype"), "fp8") == 0)
		c->gemm.format = JL_OP_FP8;
}

static void read_experts(struct op_case *c, struct numbers *n)
{
	const char *skew = strstr(jl_set_cell(n->in, "distribution"), "power_law_");

	c->kind = EXPERTS;
	c->experts = (struct jl_served_experts){ .tokens = number(n, "n_tokens", 1),
						 .hidden = number(n, "hidden", 1),
						 .inter = number(n, "inter", 1) / fmax(number(n, "tp", 1), 1),
						 .top_k = number(n, "topk", 1),
						 .n_experts = number(n, "n_experts", 1),
						 .n_matrices = 2 + number(n, "gated", 1),
						 .n_ranks = fmax(number(n, "ep", 1), 1),
						 .skew = skew ? strtod(skew + strlen("power_law_"), NULL) : 0 };
	if (!n->status)
		n->status = read_format(&c->experts.format, jl_set_cell(n->in, "dtype"), JL_ENGINE_GENERAL, n->err);
}

#define NODE_BPS 50e9 /* one 400 Gbit/s NIC per device */

static void read_exchange(struct op_case *c, struct numbers *n)
{
	static const struct {
		const char *op;
		enum jl_served_sum how;
	} ops[] = { { "all_reduce", JL_SUM_LIBRARY },
		    { "all_gather", JL_SUM_GATHER },
		    { "reduce_scatter", JL_SUM_SCATTER },
		    { "alltoall", JL_SUM_ALLTOALL },
		    { "deepep", JL_SUM_ALLTOALL } };
	const char *op = jl_set_cell(n->in, "op"), *impl = jl_set_cell(n->in, "impl");
	const struct jl_device *dev = c->dev;
	const double n_gpus = number(n, "n_gpus", 8), bytes = number(n, "message_bytes", 0);
	const double tokens = number(n, "n_tokens", 0), token_B = strstr(op, "dispatch") ? 1 : 2;
	size_t i = 0;

	c->kind = EXCHANGE;
	while (i < JL_LEN(ops) && strncmp(op, ops[i].op, strlen(ops[i].op)) != 0)
		i++;
	if (i == JL_LEN(ops) && !n->status)
		n->status = jl_fail(n->err, JL_E_DATA, "op '%.40s' is not known", op);
	if (strstr(impl, "eager") && !n->status)
		n->status = jl_fail(n->err, JL_E_DATA, "launched by the host: its time is the host's");
	if (n->status)
		return;
	c->exchange = (struct jl_served_exchange){
		.hop_gain = isnan(dev->link_Bps) ? JL_PCIE_HOP : 1,
		.n = n_gpus,
		.bytes = bytes > 0 ? bytes
				   : tokens * fmin(number(n, "topk", 1), n_gpus) * number(n, "hidden", 1) * token_B,
		.link_Bps = number(n, "n_nodes", 1) > 1 ? NODE_BPS
			    : isnan(dev->link_Bps)      ? dev->host_Bps
							: dev->link_Bps,
		.switched = !isnan(dev->link_Bps) && jl_arch_family(dev->arch)->priors.warpgroup,
		.how = ops[i].how == JL_SUM_LIBRARY && strncmp(impl, "engine", 6) == 0 ? JL_SUM_ENGINE : ops[i].how
	};
}

static enum jl_status read_case(struct op_case *c, const struct jl_set_data *data, const struct jl_set_reader *in,
				struct jl_err *err)
{
	struct numbers n = { .in = in, .err = err };

	if (*jl_set_cell(in, "flag"))
		return jl_fail(err, JL_E_DATA, "flagged by its source: %.40s", jl_set_cell(in, "flag"));
	c->engine = jl_engine_by_text(jl_set_cell(in, "engine"));
	switch (set_of(data)) {
	case JL_OPS_GEMM:
		c->kind = GEMM;
		n.status = read_format(&c->gemm.format, jl_set_cell(in, "dtype"), c->engine, err);
		c->gemm = (struct jl_served_gemm){
			number(&n, "m", 1), number(&n, "n", 1), number(&n, "k", 1), 1, c->gemm.format, true, 0
		};
		break;
	case JL_OPS_LATENT: read_latent(c, &n); break;
	case JL_OPS_EXPERT: read_experts(c, &n); break;
	case JL_OPS_EXCHANGE: read_exchange(c, &n); break;
	default: read_attention(c, &n, set_of(data));
	}
	c->meas_s = number(&n, "latency_ms", NAN) / 1e3;
	return n.status;
}

/* Naive baseline: a share of the listed rates. */
static double naive_s(const struct op_case *c, double frac)
{
	const struct jl_served_gemm *g = &c->gemm;
	const struct jl_served_attention *a = &c->att;
	const struct jl_served_experts *e = &c->experts;

	switch (c->kind) {
	case GEMM:
	case BMM:
		return jl_baseline_roofline_s(
			c->dev, jl_op_dtype(c->dev, g->format), 2 * g->m * g->n * g->k * g->batch,
			g->batch * (2 * g->m * (g->k + g->n) + jl_op_weight_B(g->format) * g->n * g->k), frac);
	case EXPERTS:
		return jl_baseline_roofline_s(c->dev, jl_op_dtype(c->dev, e->format),
					      2 * e->n_matrices * e->tokens * e->top_k / e->n_ranks * e->hidden *
						      e->inter,
					      jl_op_weight_B(e->format) * e->n_matrices * e->hidden * e->inter *
						      fmin(e->n_experts, e->tokens * e->top_k) / e->n_ranks,
					      frac);
	case EXCHANGE: return 2 * c->exchange.bytes / (frac * c->exchange.link_Bps);
	default:
		return jl_baseline_roofline_s(
			c->dev, JL_BF16, c->answers ? 0 : 4 * a->heads * a->head_dim * a->pairs,
			a->batch * a->context * a->kv_B * (a->latent ? 576 : 2 * a->kv_heads * a->head_dim), frac);
	}
}

static enum jl_status find_device(struct jl_set_data *data, const char *text, struct op_case *c, struct jl_err *err)
{
	struct own *own = data->own;
	const enum jl_status status = jl_set_gpu(data, text, &c->gpu, err);

	for (; !status && own->n < data->gpus.n; own->n++) {
		jl_resolve_device(&own->devices[own->n], data->cat, data->gpus.gpus[own->n]);
		(void)jl_gemm_shipped(data->cat, data->gpus.gpus[own->n]->id, &own->devices[own->n]);
	}
	if (!status)
		c->dev = &own->devices[c->gpu];
	return status;
}

static enum jl_status add(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	struct op_case *c = (struct op_case *)data->cases + data->n;
	struct own *own = data->own;
	const char *gpu = jl_set_cell(in, "gpu"), *engine = jl_set_cell(in, "engine"), *what = "";

	*c = (struct op_case){ .kind = GEMM };
	JL_TRY(find_device(data, gpu, c, err));
	JL_TRY(read_case(c, data, in, err));
	const int arch = c->dev->arch;

	(void)jl_op_table_at(&own->table, data->cat, arch, c->engine);
	for (const char *const *column = data->ops->columns; *column; column++)
		if (column >= data->ops->columns + COMMON_COLUMNS)
			what = jl_arena_printf(in->arena, "%s%s%s %s", what, *what ? ", " : "", *column,
					       jl_set_cell(in, *column));
	const char *dtype = jl_set_cell(in, "dtype"), *op = jl_set_cell(in, "mla_op");
	struct jl_set_row *row = jl_set_add(
		data, in,
		&(struct jl_set_kind){ .framework = engine,
				       .link = *op                      ? op
					       : *jl_set_cell(in, "op") ? jl_set_cell(in, "op")
									: dtype,
				       .what = what,
				       .model = jl_set_cell(in, "engine_version"),
				       .answer = (enum jl_asked)(JL_ASKED_OP_GEMM + (int)set_of(data)),
				       .kind = { [JL_LABEL_GPU] = data->gpu_ids[c->gpu],
						 [JL_LABEL_FAMILY] = jl_arch_id(arch),
						 [JL_LABEL_KIND] = engine },
				       .extent_ln = { NAN, NAN, NAN },
				       .meas = c->meas_s });

	JL_TRY(jl_got(row, err));
	/* four folds, each with some engines of every GPU: tests unseen pairs, not unseen GPUs or engines */
	const char *pair = jl_arena_printf(in->arena, "%s|%s", gpu, engine);
	const char *part = jl_arena_printf(in->arena, "part %zu", (c->gpu + (size_t)c->engine) % N_PART);

	JL_TRY(jl_got(pair && part, err));
	row->group = data->groups[data->n] = jl_label(in->labels, in->arena, pair);
	row->source = jl_label(in->labels, in->arena, part);
	row->naive[0] = naive_s(c, JL_BASELINE_ROOFLINE_FRAC);
	row->naive[1] = naive_s(c, 1);
	data->n++;
	return JL_OK;
}

static struct jl_param_list params(const struct jl_set_data *data)
{
	return jl_op_params(set_of(data));
}

struct fit_ctx {
	const struct jl_set_data *data;
	const size_t *used;
	size_t n_used;
	struct jl_kept kept;
};

/* unit of the residuals and of the priors' widths */
#define ROW_LN 0.2

static void residuals(void *ctx, const double *x, double *ret_r)
{
	struct fit_ctx *f = ctx;
	const struct own *own = f->data->own;

	jl_kept_begin(&f->kept);
	for (size_t i = 0; i < f->n_used; i++) {
		const struct op_case *c = (const struct op_case *)f->data->cases + f->used[i];
		const size_t key = (size_t)c->dev->arch * JL_ENGINES_MAX + (size_t)c->engine;
		struct jl_op_fit *fit = jl_kept_ask(&f->kept, key);
		bool fresh;
		double *r;

		if (jl_budget_spend(5))
			return;
		if (fit) {
			*fit = own->table.fits[c->dev->arch][c->engine];
			jl_op_apply(fit, set_of(f->data), x, c->dev->arch, c->engine);
			jl_kept_settle(&f->kept, key);
		}
		const struct jl_op_fit *known = jl_kept_at(&f->kept, key, i, &r, &fresh);

		if (fresh)
			*r = log(case_s(c, known) / c->meas_s) / ROW_LN;
		ret_r[i] = *r;
	}
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	const struct jl_param_list list = params(data);
	size_t *used = jl_realloc(NULL, (data->n + 1) * sizeof(*used));
	struct fit_ctx f = { .data = data, .used = used };
	enum jl_status status = used ? jl_kept_make(&f.kept, sizeof(struct jl_op_fit),
						    (size_t)JL_ARCHS_MAX * JL_ENGINES_MAX, data->n, err)
				     : jl_fail_nomem(err);

	if (status)
		goto out;
	for (size_t i = 0; i < data->n; i++)
		if (!use || use[i])
			used[f.n_used++] = i;
	status = jl_fit_params(
		&list, 1.0,
		(struct jl_fit_problem){
			.n_resid = f.n_used, .residuals = residuals, .ctx = &f, .huber = 1.0, .max_iter = max_iter },
		x, NULL, err);
out:
	jl_kept_release(&f.kept);
	jl_free(used);
	return status;
}

static void predict(const struct jl_set_data *data, const double *x, const struct jl_known *known,
		    struct jl_set_row *row)
{
	const struct op_case *c = (const struct op_case *)data->cases + row->item;
	const struct own *own = data->own;
	const struct jl_machine machine = {
		.cat = known->cat, .widths = known->widths, .sys = { .gpu = data->gpus.gpus[c->gpu] }, .dev = *c->dev
	};
	struct jl_op_fit physics = own->table.fits[c->dev->arch][c->engine];

	jl_op_apply(&physics, set_of(data), x, c->dev->arch, c->engine);
	row->pred = case_s(c, &physics);
	jl_machine_doubt(&row->doubt, &machine, row->answer, (struct jl_axes){ .kind = row->kind[JL_LABEL_KIND] });
	row->half_ln = jl_half_ln(&known->widths, row->answer, &row->doubt);
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, struct jl_buf *out)
{
	(void)data;
	(void)x;
	jl_buf_printf(out, JL_("%.0f %% of the listed rate predicted, %.0f %% measured"),
		      100.0 * row->naive[1] / row->pred, 100.0 * row->naive[1] / row->meas);
}

#define COLUMNS(...)                                                                                                   \
	(const char *const[])                                                                                          \
	{                                                                                                              \
		"gpu", "engine", "latency_ms", __VA_ARGS__, NULL                                                       \
	}
#define OPERATORS(file, ...)                                                                                           \
	{                                                                                                              \
		.name = file, .files = (const char *const[]){ file, NULL }, .unit = "s",                               \
		.columns = COLUMNS(__VA_ARGS__), .measures = (const char *const[]){ "latency_ms", NULL },              \
		.baselines = { JL_N("roofline at 0.7"), JL_N("listed rates") }, .case_B = sizeof(struct op_case),      \
		.own_B = sizeof(struct own), .rows_a_line = 1, .refit_iter = 10, JL_SET_FUNCTIONS                      \
	}

const struct jl_set_ops jl_served_ops[JL_N_OPS] = {
	[JL_OPS_GEMM] = OPERATORS("gemm_ops", "dtype", "m", "n", "k"),
	[JL_OPS_PROMPT] = OPERATORS("attn_prefill_ops", "kv_dtype", "batch", "seq_len", "n_heads", "n_kv_heads",
				    "head_dim"),
	[JL_OPS_ANSWER] = OPERATORS("attn_decode_ops", "kv_dtype", "batch", "kv_len", "n_heads", "n_kv_heads",
				    "head_dim"),
	[JL_OPS_LATENT] = OPERATORS("mla_ops", "mla_op", "gemm_dtype", "batch", "seq_len", "kv_len", "n_heads"),
	[JL_OPS_EXPERT] = OPERATORS("moe_ops", "dtype", "n_tokens", "hidden", "inter", "topk", "n_experts", "tp", "ep"),
	[JL_OPS_EXCHANGE] = OPERATORS("comm_ops", "op", "impl", "n_gpus", "message_bytes", "n_tokens"),
};

static enum jl_op_set set_of(const struct jl_set_data *data)
{
	return (enum jl_op_set)(data->ops - jl_served_ops);
}
