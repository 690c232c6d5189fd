/* Model shapes of published runs, by stated dimensions or by name. */
#include "rows/set_llm.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "catalog/find.h"
#include "program/transformer.h"

/* Case-insensitive search; NULL contains nothing. */
static bool has(const char *text, const char *part)
{
	return strcasestr(text ? text : "", part) != NULL;
}

double jl_llm_number(const char *cell)
{
	double x = NAN;
	size_t n_used;

	return cell && jl_num_parse(cell, &x, &n_used) == JL_NUM_OK ? x : NAN;
}

int jl_llm_yes(const char *cell)
{
	return cell && *cell == 'y';
}

/* Architecture of a model family; dimensions left 0 come from the row. */
struct style {
	const char *part; /* text in the model's name */
	struct jl_transformer like;
};

#define LLAMA .gated = 1, .final_norm = 1, .causal = 1, .norm = JL_NORM_RMS, .head_tokens_frac = 1.0
#define GPT                                                                                                            \
	.tied = 1, .bias = 1, .final_norm = 1, .causal = 1, .dropout = 1, .n_positions = 2048, .head_tokens_frac = 1.0
#define BERT                                                                                                           \
	.tied = 1, .bias = 1, .embed_norm = 1, .pooler = 1, .mlm_transform = 1, .dropout = 1, .n_positions = 512,      \
	.n_types = 2, .head = JL_HEAD_MLM, .head_tokens_frac = 0.15

static const struct style styles[] = {
	{ "bert", { BERT } },
	{ "llama", { LLAMA } },
	{ "mistral", { LLAMA } },
	{ "internlm", { LLAMA } },
	{ "qwen", { LLAMA } },
	{ "yi-", { LLAMA } },
	{ "baichuan", { LLAMA } },
	{ "nemotron", { .final_norm = 1, .causal = 1, .head_tokens_frac = 1.0 } },
	{ "mpt", { .tied = 1, .final_norm = 1, .causal = 1, .alibi = 1, .head_tokens_frac = 1.0 } },
	{ "opt", { GPT } },
	{ "gpt", { GPT } },
	{ "megatron", { GPT } },
	{ "turing", { GPT } },
	{ "bloom",
	  { .tied = 1,
	    .bias = 1,
	    .final_norm = 1,
	    .causal = 1,
	    .alibi = 1,
	    .embed_norm = 1,
	    .head_tokens_frac = 1.0 } },
};

/* Published dimensions, for rows that give only a name: part of the name, and the parameters in billions. */
struct known {
	const char *part;
	double params_b, layers, hidden, heads, kv_heads, ffn, vocab;
	int tied;
};

static const struct known known_models[] = {
	{ "internlm", 7.0, 32, 4096, 32, 32, 11008, 103168, 0 },
	{ "tinyllama", 1.1, 22, 2048, 32, 4, 5632, 32000, 0 },
	{ "llama 3.2 1", 1.24, 16, 2048, 32, 8, 8192, 128256, 1 },
	{ "llama 3.2", 3.2, 28, 3072, 24, 8, 8192, 128256, 1 },
	{ "llama3.2", 3.2, 28, 3072, 24, 8, 8192, 128256, 1 },
	{ "llama-3", 8.03, 32, 4096, 32, 8, 14336, 128256, 0 },
	{ "llama-3", 70.55, 80, 8192, 64, 8, 28672, 128256, 0 },
	{ "llama-3", 405.85, 126, 16384, 128, 8, 53248, 128256, 0 },
	{ "llama3", 8.03, 32, 4096, 32, 8, 14336, 128256, 0 },
	{ "llama3", 70.55, 80, 8192, 64, 8, 28672, 128256, 0 },
	{ "llama3", 405.85, 126, 16384, 128, 8, 53248, 128256, 0 },
	{ "llama 3", 8.03, 32, 4096, 32, 8, 14336, 128256, 0 },
	{ "llama 3", 70.55, 80, 8192, 64, 8, 28672, 128256, 0 },
	{ "llama 3", 405.85, 126, 16384, 128, 8, 53248, 128256, 0 },
	{ "llama", 6.74, 32, 4096, 32, 32, 11008, 32000, 0 },
	{ "llama", 13.0, 40, 5120, 40, 40, 13824, 32000, 0 },
	{ "llama", 32.5, 60, 6656, 52, 52, 17920, 32000, 0 },
	{ "llama", 34.0, 48, 8192, 64, 8, 22016, 32000, 0 },
	{ "llama", 65.3, 80, 8192, 64, 64, 22016, 32000, 0 },
	{ "llama", 69.0, 80, 8192, 64, 8, 28672, 32000, 0 },
	{ "nemotron", 8.0, 32, 4096, 32, 32, 16384, 256000, 0 },
	{ "nemotron", 15.0, 32, 6144, 48, 8, 24576, 256000, 0 },
	{ "nemotron", 22.0, 40, 6144, 48, 48, 24576, 256000, 0 },
	{ "nemotron", 340.0, 96, 18432, 96, 8, 73728, 256000, 0 },
	{ "mpt", 0.125, 12, 768, 12, 12, 3072, 50368, 1 },
	{ "mpt", 0.35, 24, 1024, 16, 16, 4096, 50368, 1 },
	{ "mpt", 0.76, 24, 1536, 12, 12, 6144, 50368, 1 },
	{ "mpt", 1.3, 24, 2048, 16, 16, 8192, 50368, 1 },
	{ "mpt", 2.7, 32, 2560, 20, 20, 10240, 50368, 1 },
	{ "mpt", 6.7, 32, 4096, 32, 32, 16384, 50368, 1 },
	{ "mpt", 13.0, 40, 5120, 40, 40, 20480, 50368, 1 },
	{ "mpt", 30.0, 48, 7168, 64, 64, 28672, 50368, 1 },
	{ "mpt", 65.0, 80, 8192, 64, 64, 32768, 50368, 1 },
	{ "bert", 0.11, 12, 768, 12, 12, 3072, 30522, 1 },
	{ "bert", 0.335, 24, 1024, 16, 16, 4096, 30522, 1 },
	{ "gpt", 0.125, 12, 768, 12, 12, 3072, 50257, 1 },
	{ "gpt", 0.35, 24, 1024, 16, 16, 4096, 50257, 1 },
	{ "gpt", 0.76, 24, 1536, 16, 16, 6144, 50257, 1 },
	{ "gpt", 1.3, 24, 2048, 32, 32, 8192, 51200, 1 },
	{ "gpt", 2.7, 32, 2560, 32, 32, 10240, 51200, 1 },
	{ "gpt", 5.0, 24, 4096, 32, 32, 16384, 51200, 1 },
	{ "gpt", 6.7, 32, 4096, 32, 32, 16384, 51200, 1 },
	{ "gpt", 13.0, 40, 5120, 40, 40, 20480, 51200, 1 },
	{ "gpt", 20.0, 44, 6144, 48, 48, 24576, 51200, 1 },
	{ "gpt", 22.0, 48, 6144, 64, 64, 24576, 51200, 1 },
	{ "gpt", 40.0, 48, 8192, 64, 64, 32768, 51200, 1 },
	{ "gpt", 175.0, 96, 12288, 96, 96, 49152, 51200, 1 },
	{ "gpt", 530.0, 105, 20480, 128, 128, 81920, 51200, 1 },
	{ "gpt", 1000.0, 128, 25600, 160, 160, 102400, 51200, 1 },
	{ "", 7.0, 32, 4096, 32, 32, 11008, 32000, 0 },
	{ "", 13.0, 40, 5120, 40, 40, 13824, 32000, 0 },
	{ "", 70.0, 80, 8192, 64, 8, 28672, 32000, 0 },
};

static const struct known *find_known(const char *name, double params_b)
{
	const struct known *best = NULL;
	double best_ln = INFINITY;

	for (size_t i = 0; i < JL_LEN(known_models); i++) {
		const struct known *k = &known_models[i];
		const double off_ln = isnan(params_b) ? 0.0 : fabs(log(params_b / k->params_b));

		if (*k->part && !has(name, k->part))
			continue;
		if (off_ln < best_ln - 0.02 || !best) { /* ties: earlier rows are closer names */
			best = k;
			best_ln = off_ln;
		}
	}
	return best;
}

static void apply_style(const char *name, struct jl_transformer *m)
{
	*m = (struct jl_transformer){
		.final_norm = 1, .causal = 1, .norm = JL_NORM_RMS, .gated = 1, .head_tokens_frac = 1.0
	};
	for (size_t i = 0; i < JL_LEN(styles); i++)
		if (has(name, styles[i].part)) {
			*m = styles[i].like;
			return;
		}
}

/* Some rows state the depth or width of the line above although the model has another size. The size in the name agrees with the measured FLOP/s:
 * keeps the stated depth and computes the width from that size. */
static void mend(struct jl_transformer *m, double params_b, int layers_stated)
{
	if (isnan(params_b) || params_b <= 1.0)
		return;
	const double want = params_b * 1e9;

	if (!layers_stated) {
		const struct jl_transformer_params p = jl_transformer_params(m);

		m->n_layers = fmax(1.0, round((want - p.embed - p.head) / p.dense_layer));
		return;
	}
	const double off = jl_transformer_params(m).total / want;

	if (off > 0.85 && off < 1.18)
		return;
	const double ffn_ratio = m->ffn / m->hidden;

	m->hidden = round(m->hidden / sqrt(off) / 128.0) * 128.0;
	m->ffn = round(m->hidden * ffn_ratio);
	m->head_dim = floor(m->hidden / m->heads);
}

/* MoE shapes do not fit in a row: takes the catalog's, with the row's depth ("mixtral-8x7b truncated"). False: not a known one. */
static bool mixture(const struct jl_llm_cells *c, struct jl_transformer *ret_model)
{
	static const char *const words[] = { "mixtral", "8x", "deepseek-v", "deepseekv", "deepseek v",
					     "moe",     "-a", "gpt-oss",    "kimi",      "llama-4" };
	const double layers = jl_llm_number(c->layers), vocab = jl_llm_number(c->vocab);
	const struct jl_model_info *info = NULL;
	struct jl_transformer m;
	struct jl_err err;
	char name[64];
	size_t i = 0;

	while (i < JL_LEN(words) && !has(c->model, words[i]))
		i++;
	if (i == JL_LEN(words))
		return false;
	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(c->model, " ("), c->model);
	if ((jl_find_model(&info, jl_catalog_embedded(), c->model, &err) != JL_OK &&
	     jl_find_model(&info, jl_catalog_embedded(), name, &err) != JL_OK) ||
	    info->moe.n_experts <= 0)
		return false;
	jl_transformer_from_catalog(&m, info);
	if (layers >= 1.0)
		m.n_layers = layers;
	m.moe.n_dense_layers = fmin(m.moe.n_dense_layers, m.n_layers - 1.0);
	if (vocab >= 1.0)
		m.vocab = vocab;
	*ret_model = m;
	return true;
}

enum jl_status jl_llm_shape(const struct jl_llm_cells *c, int head, struct jl_transformer *ret_model, unsigned *assumed,
			    struct jl_err *err)
{
	const double params_b = jl_llm_number(c->params_b), layers = jl_llm_number(c->layers);
	double hidden = jl_llm_number(c->hidden), heads = jl_llm_number(c->heads), ffn = jl_llm_number(c->ffn);
	double kv_heads = jl_llm_number(c->kv_heads), vocab = jl_llm_number(c->vocab);
	struct jl_transformer m;

	if (mixture(c, &m)) {
		*ret_model = m;
		return JL_OK;
	}
	apply_style(c->model, &m);
	const struct known *k = find_known(c->model, params_b);

	if (isnan(hidden)) {
		hidden = k->hidden;
		m.n_layers = k->layers;
		heads = k->heads;
		kv_heads = k->kv_heads;
		ffn = k->ffn;
		if (k->tied)
			m.tied = 1;
		*assumed |= JL_ASSUMED_SHAPE;
	}
	if (!isnan(layers))
		m.n_layers = layers;
	m.hidden = hidden;
	m.heads = isnan(heads) ? fmax(1.0, round(hidden / 128.0)) : heads;
	m.kv_heads = isnan(kv_heads) ? m.heads : kv_heads;
	if (isnan(heads) && kv_heads >= 1.0) /* heads in whole groups */
		m.heads = kv_heads * fmax(1.0, round(m.heads / kv_heads));
	m.ffn = isnan(ffn) ? 4.0 * hidden : ffn;
	/* Llama 3 has 128,256 tokens; one more in a source would mean unaligned rows */
	m.vocab = isnan(vocab) || fabs(vocab - k->vocab) <= 1.0 ? k->vocab : vocab;
	m.head_dim = floor(m.hidden / m.heads);
	if (m.gated && m.ffn >= 3.9 * m.hidden && !has(c->model, "3.2")) /* wide ffn: two matrices, not three */
		m.gated = m.kv_heads < m.heads;
	if (m.n_layers < 1.0)
		m.n_layers = 32.0;
	mend(&m, params_b, !isnan(layers) || isnan(jl_llm_number(c->hidden)));
	if (head == JL_TEXT_SPAN) {
		m.head = JL_HEAD_SPAN;
		m.mlm_transform = 0;
	}
	if (!isnan(jl_llm_number(c->dropout)))
		m.dropout = jl_llm_number(c->dropout) > 0.0;
	if (c->tied && *c->tied == 'n')
		m.tied = 0;
	if (head == JL_TEXT_LM) {
		m.head = JL_HEAD_LM;
		m.head_tokens_frac = 1.0;
		m.mlm_transform = m.pooler = 0;
		m.n_types = 0.0;
	}
	const enum jl_status status = jl_transformer_check(&m, err);

	if (status == JL_OK)
		*ret_model = m;
	return status;
}
