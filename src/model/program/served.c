/* Model as seen by serving: parameters read and products computed per token, and weight formats. */
#include "program/served.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/num.h"
#include "program/transformer.h"

static void add(struct jl_served *served, double n, double k, double n_layers, enum jl_cut cut, double parts)
{
	if (n > 0 && k > 0 && n_layers > 0 && served->n_products < JL_SERVED_PRODUCTS)
		served->products[served->n_products++] = (struct jl_served_product){ n, k, n_layers, cut, parts };
}

static void add_products(struct jl_served *served, const struct jl_transformer *m, double n_dense_layers)
{
	const struct jl_mla *mla = &m->mla;
	const double up = m->gated ? 2.0 : 1.0, shared = m->moe.n_shared * m->moe.expert_ffn;

	if (mla->kv_lora > 0) {
		const double q = m->heads * (mla->nope_dim + mla->rope_dim);

		add(served, mla->q_lora + mla->kv_lora + mla->rope_dim, m->hidden, m->n_layers, JL_CUT_NONE,
		    mla->q_lora > 0 ? 2 : 1);
		add(served, q, mla->q_lora > 0 ? mla->q_lora : m->hidden, m->n_layers, JL_CUT_N, 1);
		add(served, m->heads * (mla->nope_dim + mla->v_dim), mla->kv_lora, m->n_layers, JL_CUT_N, 1);
		add(served, m->hidden, m->heads * mla->v_dim, m->n_layers, JL_CUT_K, 1);
	} else {
		add(served, (m->heads + 2.0 * m->kv_heads) * m->head_dim, m->hidden, m->n_layers, JL_CUT_N, 3);
		add(served, m->hidden, m->heads * m->head_dim, m->n_layers, JL_CUT_K, 1);
	}
	add(served, up * m->ffn, m->hidden, n_dense_layers, JL_CUT_N, up);
	add(served, m->hidden, m->ffn, n_dense_layers, JL_CUT_K, 1);
	add(served, up * shared, m->hidden, served->n_moe_layers, JL_CUT_N, up);
	add(served, m->hidden, shared, served->n_moe_layers, JL_CUT_K, 1);
	served->expert_up = up * m->moe.expert_ffn;
	served->expert_down = m->moe.expert_ffn;
	if (m->head == JL_HEAD_LM)
		served->logits = (struct jl_served_product){ m->vocab, m->hidden, 1, JL_CUT_N, 1 };
	/* parameters missing from these products (linear attention, norms) are distributed over them */
	double sum = 0;

	for (int i = 0; i < served->n_products; i++)
		sum += served->products[i].n * served->products[i].k * served->products[i].n_layers;
	const double more = (served->dense_params - served->logits.n * served->logits.k) / sum;

	for (int i = 0; i < served->n_products && more > 0.5 && more < 2; i++)
		served->products[i].n_layers *= more;
}

#define SHORT_WINDOW 2048.0

/* Share of the layers that keep the whole context, rounded to a tenth; windows above SHORT_WINDOW count as whole. */
static double context_frac(const struct jl_transformer *m)
{
	return m->window > 0 && m->window <= SHORT_WINDOW ? fmax(round(10 * (1 - m->local_frac)), 1) / 10 : 1;
}

struct jl_served jl_served_of(const struct jl_transformer *model)
{
	const struct jl_transformer_params params = jl_transformer_params(model);
	const struct jl_mla *mla = &model->mla;
	const double expert_params = params.n_moe_layers * params.moe_expert;
	const bool latent = mla->kv_lora > 0;
	const double kv = latent ? mla->kv_lora + mla->rope_dim : 2.0 * model->kv_heads * model->head_dim;
	const bool read_table = model->tied && model->head != JL_HEAD_SPAN;
	struct jl_served served = {
		.n_layers = model->n_layers,
		.hidden = model->hidden,
		/* a tied table is read as the logits' matrix */
		.dense_params = params.total - expert_params - (read_table ? 0.0 : params.embed),
		.table_params = read_table ? 0.0 : params.embed,
		.expert_params = expert_params,
		.n_experts = fmax(model->moe.n_experts, 0.0),
		.top_k = fmax(model->moe.top_k, 0.0),
		.n_moe_layers = params.n_moe_layers,
		.kv_elems = model->n_layers * kv,
		.kv_heads = latent ? 1.0 : model->kv_heads,
		.heads = model->heads,
		.head_dim = model->head_dim,
		.latent = latent,
		.context_frac = context_frac(model),
		.local_frac = model->window > 0 ? model->local_frac : 0.0,
		.window = model->window,
	};

	add_products(&served, model, params.n_dense_layers);
	return served;
}

struct jl_served jl_served_from_catalog(const struct jl_model_info *info)
{
	struct jl_transformer model;

	jl_transformer_from_catalog(&model, info);
	struct jl_served served = jl_served_of(&model);

	served.embeds = info->embeds;
	if (served.embeds) {
		served.both_ways = !model.causal;
		served.kv_elems = 0;
	}
	if (info->context_frac > 0) { /* linear attention has a state of fixed size */
		served.context_frac = info->context_frac;
		served.local_frac = 1 - info->context_frac;
	}
	return served;
}

/* Bytes per weight, scales included; the first row whose word occurs in the spelling, ignoring case. llama.cpp files store each kind of tensor in
 * its own type: Q4_K_M has 4.5 bits, but 6.5625 for half of the value and last feed-forward matrices and for the logits. */
static const struct {
	const char *word;
	struct jl_serve_format format;
} formats[] = {
#define FORMAT(type, bytes, of_experts, of_kv, widened, op, op_experts, ...)                                           \
	{                                                                                                              \
		.dtype = type, .weight_B = bytes, .expert_B = of_experts, .kv_B = of_kv, .weight_only = widened,       \
		.dense = op, .experts = op_experts, __VA_ARGS__                                                        \
	}
#define WIDENED(type, bytes, op) FORMAT(type, bytes, bytes, 2, 1, op, op, )
#define PLAIN(type, bytes, op)   FORMAT(type, bytes, bytes, 2, 0, op, op, )
#define GGUF(bytes, experts, table, logits, op)                                                                        \
	FORMAT(JL_FP16, bytes, experts, 2, 1, op, op, .table_B = table, .logits_B = logits)
	{ "q2_k", GGUF(0.3676, 0.3676, 0.3281, 0.8203, JL_OP_INT4_WO) },
	{ "q3_k", GGUF(0.4813, 0.4813, 0.4297, 0.8203, JL_OP_INT4_WO) },
	{ "iq4_xs", GGUF(0.5330, 0.5330, 0.5313, 0.8203, JL_OP_INT4_WO) },
	{ "q4_k_s", GGUF(0.5683, 0.5683, 0.5625, 0.8203, JL_OP_INT4_WO) },
	{ "q4_k", GGUF(0.5995, 0.6055, 0.5625, 0.8203, JL_OP_INT4_WO) },
	{ "q4_0", GGUF(0.5625, 0.5625, 0.5625, 0.8203, JL_OP_INT4_WO) },
	{ "q5_k", GGUF(0.7066, 0.7096, 0.6875, 0.8203, JL_OP_INT8_WO) },
	{ "q6_k", GGUF(0.8203, 0.8203, 0.8203, 0.8203, JL_OP_INT8_WO) },
	{ "q8_0", GGUF(1.0625, 1.0625, 1.0625, 1.0625, JL_OP_INT8_WO) },
	{ "g32", WIDENED(JL_FP16, 0.58, JL_OP_INT4_WO) },
	{ "g128", WIDENED(JL_FP16, 0.52, JL_OP_INT4_WO) },
	{ "awq", WIDENED(JL_FP16, 0.53, JL_OP_INT4_WO) },
	{ "gptq", WIDENED(JL_FP16, 0.52, JL_OP_INT4_WO) },
	{ "4-bit", WIDENED(JL_FP16, 0.55, JL_OP_INT4_WO) },
	/* only experts are 4 bits, in groups of 32 */
	{ "mxfp4", FORMAT(JL_BF16, 2, 0.53125, 2, 1, JL_OP_BF16, JL_OP_MX16, ) },
	{ "int4-experts", FORMAT(JL_BF16, 2, 0.5625, 2, 1, JL_OP_BF16, JL_OP_INT4_WO, ) },
	{ "int4", WIDENED(JL_BF16, 0.52, JL_OP_INT4_WO) },
	{ "int8", WIDENED(JL_BF16, 1, JL_OP_INT8_WO) },
	{ "fp8_block", PLAIN(JL_FP8, 1, JL_OP_FP8_BLOCK) },
	{ "fp8", PLAIN(JL_FP8, 1, JL_OP_FP8) },
	{ "fp4", PLAIN(JL_FP4, 0.5625, JL_OP_NVFP4) },
	{ JL_WEIGHTS_16, PLAIN(JL_BF16, 2, JL_OP_BF16) },
	{ "bf16", PLAIN(JL_BF16, 2, JL_OP_BF16) },
	{ "bfloat16", PLAIN(JL_BF16, 2, JL_OP_BF16) },
	{ "fp16", PLAIN(JL_FP16, 2, JL_OP_BF16) },
	{ "f16", PLAIN(JL_FP16, 2, JL_OP_BF16) },
	{ "tf32 off", FORMAT(JL_FP32, 4, 4, 4, 0, JL_OP_FP32, JL_OP_FP32, ) },
	{ "fp32", FORMAT(JL_FP32, 4, 4, 4, 0, JL_OP_FP32, JL_OP_FP32, ) },
};

enum jl_status jl_served_format(struct jl_serve_format *ret_format, const char *text, struct jl_err *err)
{
	const char *exl2 = strstr(text, "EXL2 ");
	double bits;
	size_t used;

	if (exl2 && jl_num_parse(exl2 + strlen("EXL2 "), &bits, &used) == JL_NUM_OK && bits > 0) {
		*ret_format = (struct jl_serve_format)WIDENED(JL_FP16, bits / 8, JL_OP_INT4_WO);
		return JL_OK;
	}
	for (size_t i = 0; i < JL_LEN(formats); i++) {
		if (strcasestr(text, formats[i].word)) {
			*ret_format = formats[i].format;
			return JL_OK;
		}
	}
	return jl_fail(err, JL_E_DATA,
		       "format '%.40s' is not known: bf16, fp16, fp8, fp4, int8, int4, q4_k_m, q8_0, fp32", text);
}

bool jl_served_gguf(const char *text)
{
	struct jl_serve_format format;

	return text && !jl_served_format(&format, text, NULL) && format.table_B > 0.0;
}

void jl_served_format_on(struct jl_serve_format *format, const struct jl_device *dev)
{
	const bool narrow = !isnan(dev->peak_flopps[JL_FP4]);

	if (format->experts == JL_OP_MX16 && narrow)
		format->experts = JL_OP_MX8;
	if (format->dtype == JL_FP4 && !narrow) {
		format->dtype = JL_BF16;
		format->weight_only = 1;
		format->experts = JL_OP_MX16;
		format->dense = format->dense == JL_OP_NVFP4 ? JL_OP_INT4_WO : format->dense;
	}
}

const char *jl_served_weights(const char *asked, const struct jl_model_info *info)
{
	return asked ? asked : info && info->weights ? info->weights : JL_WEIGHTS_16;
}

/* start-up of an exchange through host memory / over NVLink */
#define HOST_HOP  5.0
#define SLOW_PCIE 16e9 /* one direction; if the catalog has no value */

void jl_served_join(struct jl_serve_place *place, const struct jl_device *dev, bool p2p, bool nvlink)
{
	if (nvlink && !isnan(dev->link_Bps)) {
		place->link_Bps = dev->link_Bps;
		place->hop_gain = 1;
	} else {
		const double host_Bps = isnan(dev->host_Bps) ? SLOW_PCIE : dev->host_Bps;

		place->link_Bps = p2p ? host_Bps : 0.5 * host_Bps;
		place->hop_gain = p2p ? JL_PCIE_HOP : HOST_HOP;
	}
}
