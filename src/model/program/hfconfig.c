/* Reads Hugging Face config.json files. One table row per model_type: names of its keys, and layer properties that the file does not state. */
#include "program/modelfile.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_read.h"
#include "program/network_ops.h"

enum style {
	GATED = 1 << 0,
	TIED = 1 << 1, /* default of tie_word_embeddings */
	BIAS = 1 << 2,
	QKV_BIAS = 1 << 3,
	QK_NORM = 1 << 4,
	POST_NORM = 1 << 5, /* four norms per layer */
	RMS = 1 << 6,
	LEARNED = 1 << 7, /* learned position table */
	ENCODER = 1 << 8  /* BERT: no causal mask, token types, pooler, masked-LM head, norm after the embedding */
};

struct keys {
	const char *layers, *hidden, *heads, *ffn, *positions;
};

static const struct keys gpt2_keys = { "n_layer", "n_embd", "n_head", "n_inner", "n_positions" };
static const struct keys usual_keys = { "num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size",
					"max_position_embeddings" };
static const struct keys opt_keys = { "num_hidden_layers", "hidden_size", "num_attention_heads", "ffn_dim",
				      "max_position_embeddings" };

static const struct keys exaone_keys = { "num_layers", "hidden_size", "num_attention_heads", "intermediate_size",
					 "max_position_embeddings" };
static const struct keys bloom_keys = { "n_layer", "hidden_size", "n_head", "n_inner", "seq_length" };

struct arch {
	const char *types; /* model_types, separated by blanks */
	const struct keys *keys;
	unsigned style;
	double extra_positions; /* rows of the position table beyond the positions (OPT: 2) */
};

#define LLAMA_LIKE (GATED | RMS)

static const struct arch archs[] = {
	{ "gpt2", &gpt2_keys, TIED | BIAS | LEARNED, 0 },
	{ "gpt_neox", &usual_keys, BIAS, 0 },
	{ "opt", &opt_keys, TIED | BIAS | LEARNED, 2 },
	{ "bert roberta xlm-roberta camembert ernie", &usual_keys, TIED | BIAS | LEARNED | ENCODER, 0 },
	{ "llama mistral mixtral deepseek_v2 deepseek_v3 kimi_k2 phi3 granite internlm2 internlm3 glm4_moe baichuan "
	  "aquila ministral helium solar hyperclovax",
	  &usual_keys, LLAMA_LIKE, 0 },
	{ "qwen2 qwen2_moe glm gpt_oss seed_oss qwen2_vl qwen2_5_vl", &usual_keys, LLAMA_LIKE | QKV_BIAS, 0 },
	{ "qwen3 qwen3_moe olmo2 olmo3 exaone4 qwen3_vl_text dots1", &usual_keys, LLAMA_LIKE | QK_NORM, 0 },
	{ "gemma granitemoe minicpm smollm3 ernie4_5", &usual_keys, LLAMA_LIKE | TIED, 0 },
	{ "gemma2", &usual_keys, LLAMA_LIKE | TIED | POST_NORM, 0 },
	{ "gemma3_text", &usual_keys, LLAMA_LIKE | TIED | POST_NORM | QK_NORM, 0 },
	{ "glm4", &usual_keys, LLAMA_LIKE | QKV_BIAS | POST_NORM, 0 },
	{ "hunyuan_v1_dense", &usual_keys, LLAMA_LIKE | QK_NORM | TIED, 0 },
	{ "stablelm orion", &usual_keys, GATED, 0 },
	{ "starcoder2", &usual_keys, TIED | BIAS, 0 },
	{ "nemotron", &usual_keys, 0, 0 },
	{ "arcee", &usual_keys, RMS, 0 },
	{ "exaone", &exaone_keys, LLAMA_LIKE, 0 },
	{ "bloom", &bloom_keys, TIED | BIAS, 0 },
};

struct reader {
	const json_t *root;
	const char *file;
	struct jl_err *err;
	enum jl_status status; /* sticky: the first error */
};

/* A number from 0 to 1e9; `fallback` if the key is missing or null. */
static double number(struct reader *r, const char *key, double fallback)
{
	const json_t *value = json_object_get(r->root, key);
	double x;

	if (!value || json_is_null(value) || r->status)
		return fallback;
	x = json_is_number(value) ? json_number_value(value) : NAN;
	if (!(x >= 0.0 && x <= 1e9))
		r->status = jl_fail_at(r->err, JL_E_RANGE, &(struct jl_where){ .file = r->file },
				       JL_N("\"%s\" must be a number from 0 to 1e9"), key);
	return x;
}

static double required(struct reader *r, const char *key)
{
	double x = number(r, key, NAN);

	if (isnan(x) && !r->status)
		r->status = jl_fail_at(r->err, JL_E_PARSE, &(struct jl_where){ .file = r->file },
				       JL_N("\"%s\" is missing; a config.json of this model_type has it"), key);
	return x;
}

/* A dimension of a product: an integer >= 1, as zero would make an empty product. */
static double width(struct reader *r, const char *key)
{
	double x = required(r, key);

	if (!r->status && (x < 1 || x > 1e6 || floor(x) != x))
		r->status = jl_fail_at(r->err, JL_E_RANGE, &(struct jl_where){ .file = r->file },
				       JL_N("\"%s\" must be a whole number from 1 to 1e6"), key);
	return x;
}

static int truth(const struct reader *r, const char *key, int fallback)
{
	const json_t *value = json_object_get(r->root, key);

	return json_is_boolean(value) ? json_is_true(value) : fallback;
}

static void read_moe(struct reader *r, struct jl_transformer *m)
{
	double n = number(r, "num_local_experts", NAN);
	double shared_ffn;

	if (isnan(n))
		n = number(r, "n_routed_experts", NAN);
	if (isnan(n))
		n = number(r, "num_experts", 0);
	if (n == 0)
		return;
	m->moe.n_experts = n;
	m->moe.top_k = required(r, "num_experts_per_tok");
	m->moe.expert_ffn = number(r, "moe_intermediate_size", m->ffn);
	m->moe.n_shared = number(r, "n_shared_experts", 0);
	shared_ffn = number(r, "shared_expert_intermediate_size", 0);
	if (shared_ffn > 0 && m->moe.expert_ffn > 0)
		m->moe.n_shared = shared_ffn / m->moe.expert_ffn;
	m->moe.n_dense_layers = number(r, "first_k_dense_replace", 0);
}

static void read_mla(struct reader *r, struct jl_transformer *m)
{
	m->mla.kv_lora = number(r, "kv_lora_rank", 0);
	if (m->mla.kv_lora == 0)
		return;
	m->mla.q_lora = number(r, "q_lora_rank", 0);
	m->mla.rope_dim = width(r, "qk_rope_head_dim");
	m->mla.nope_dim = width(r, "qk_nope_head_dim");
	m->mla.v_dim = width(r, "v_head_dim");
	m->kv_heads = m->heads; /* the file gives KV heads equal to heads, but they are not shared */
	/* hidden / heads is meaningless for latent attention and need not be an integer */
	m->head_dim = m->mla.nope_dim;
}

/* Sliding-window layers: listed one by one, or all but every n-th. Qwen files give a window that is not used. */
static void read_windows(struct reader *r, struct jl_transformer *m)
{
	const json_t *types = json_object_get(r->root, "layer_types"),
		     *pattern = json_object_get(r->root, "sliding_window_pattern");
	const char *name = json_string_value(json_object_get(r->root, "model_type")), *kind;
	size_t i, n_local = 0;
	json_t *one;
	double every = json_is_string(pattern) ? (double)json_string_length(pattern)
					       : number(r, "sliding_window_pattern", 0);

	if (json_is_null(json_object_get(r->root, "sliding_window")) || !truth(r, "use_sliding_window", 1))
		return;
	if (every == 0 && name && strcmp(name, "gemma2") == 0)
		every = 2;
	m->window = number(r, "sliding_window", 0);
	m->local_frac = jl_local_frac(m->window, every);
	json_array_foreach(types, i, one)
	{
		kind = json_string_value(one);
		n_local += kind && strcmp(kind, "sliding_attention") == 0;
	}
	if (m->window > 0 && json_array_size(types) > 0)
		m->local_frac = (double)n_local / (double)json_array_size(types);
}

static void read_shape(struct reader *r, const struct arch *arch, struct jl_transformer *m)
{
	const struct keys *k = arch->keys;

	m->n_layers = required(r, k->layers);
	m->hidden = required(r, k->hidden);
	m->heads = required(r, k->heads);
	m->vocab = required(r, "vocab_size");
	m->ffn = number(r, k->ffn, 4.0 * m->hidden);
	m->kv_heads = number(r, "num_key_value_heads", m->heads);
	m->head_dim = number(r, "head_dim", m->heads > 0 ? m->hidden / m->heads : NAN);
	if (arch->style & LEARNED)
		m->n_positions = required(r, k->positions) + arch->extra_positions;
	m->tied = truth(r, "tie_word_embeddings", (arch->style & TIED) != 0);
	m->bias = truth(r, "mlp_bias", (arch->style & BIAS) != 0);
	m->qkv_bias = (arch->style & QKV_BIAS) != 0 || truth(r, "attention_bias", 0);
	m->gated = (arch->style & GATED) != 0;
	m->qk_norm = (arch->style & QK_NORM) != 0;
	m->post_norm = (arch->style & POST_NORM) != 0;
	m->norm = arch->style & RMS ? JL_NORM_RMS : JL_NORM_LAYER;
	m->causal = !(arch->style & ENCODER);
	m->final_norm = m->causal;
	m->head_tokens_frac = 1.0;
	if (arch->style & ENCODER) {
		m->n_types = number(r, "type_vocab_size", 2);
		m->embed_norm = m->pooler = m->mlm_transform = 1;
		m->head = JL_HEAD_MLM;
		m->head_tokens_frac = 0.15; /* BERT masks 15 % of the tokens */
	}
	m->dropout = number(r, "resid_pdrop", 0) > 0 || number(r, "hidden_dropout_prob", 0) > 0 ||
		     number(r, "dropout", 0) > 0;
	read_moe(r, m);
	read_mla(r, m);
	read_windows(r, m);
}

/* Part of the file for a message: one line, control characters replaced. */
static const char *one_line(char out[80], const char *text)
{
	size_t n = 0;

	for (; text && text[n] && n < 64; n++)
		out[n] = (unsigned char)text[n] < ' ' || text[n] == 0x7f ? '?' : text[n];
	while (text && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) /* do not cut inside a UTF-8 character */
		n--;
	out[n] = '\0';
	return out;
}

static enum jl_status find_arch(const struct arch **ret_arch, const struct reader *r)
{
	const char *type = json_string_value(json_object_get(r->root, "model_type"));
	char shown[80];
	struct jl_buf list;
	enum jl_status status;

	for (size_t i = 0; type && !strchr(type, ' ') && i < JL_LEN(archs); i++)
		if (jl_net_has_word(archs[i].types, type)) {
			*ret_arch = &archs[i];
			return JL_OK;
		}
	jl_buf_init(&list, 2048);
	for (size_t i = 0; i < JL_LEN(archs); i++) {
		jl_buf_puts(&list, i ? ", " : "");
		for (const char *c = archs[i].types; *c; c++)
			if (*c == ' ')
				jl_buf_puts(&list, ", ");
			else
				jl_buf_putc(&list, *c);
	}
	status = jl_fail_at(
		r->err, JL_E_NOTFOUND, &(struct jl_where){ .file = r->file },
		JL_N("model_type '%.64s' is not supported: %s; or describe it with --layers --hidden --heads ..."),
		one_line(shown, type), jl_buf_text(&list));
	jl_buf_release(&list);
	return status;
}

/* Multi-modal files have the language model in "text_config". */
static const json_t *language_part(const json_t *root)
{
	const json_t *inner = json_object_get(root, "text_config");

	return json_is_object(inner) && !json_object_get(root, "num_hidden_layers") ? inner : root;
}

enum jl_status jl_hfconfig_parse(struct jl_hfconfig *ret_config, const char *text, size_t len, const char *file,
				 struct jl_arena *arena, struct jl_err *err)
{
	struct jl_hfconfig config = { 0 };
	struct reader r = { .file = file, .err = err };
	const struct arch *arch = NULL;
	json_error_t json_err;
	json_t *root = jl_json_load(text, len, JSON_REJECT_DUPLICATES, &json_err);
	enum jl_status status;

	if (!root)
		return jl_fail_at(err, JL_E_PARSE,
				  &(struct jl_where){ .file = file,
						      .line = json_err.line > 0 ? (size_t)json_err.line : 0,
						      .column = json_err.column > 0 ? (size_t)json_err.column : 0 },
				  JL_N("not JSON at this place"));
	r.root = json_is_object(root) ? language_part(root) : root;
	status = find_arch(&arch, &r);
	if (status)
		goto out;
	read_shape(&r, arch, &config.model);
	config.seq = number(&r, arch->keys->positions, NAN);
	if (!(config.seq >= 1))
		config.seq = NAN;
	config.type = jl_arena_strdup(arena, json_string_value(json_object_get(r.root, "model_type")));
	status = r.status;
	if (!status && !config.type)
		status = jl_fail_nomem(err);
	if (!status) {
		struct jl_err shape = { 0 };

		status = jl_transformer_check(&config.model, &shape);
		if (status)
			jl_fail_from(err, status, &(struct jl_where){ .file = file }, &shape, JL_N("{}"));
	}
	if (!status)
		*ret_config = config;
out:
	json_decref(root);
	return status;
}
