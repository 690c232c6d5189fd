/* Reads GGUF files: metadata keys and the tensor list. The keys correspond to a config.json under other names. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/budget.h"
#include "base/buf.h"
#include "program/modelfile.h"

#define KEYS_MAX    100000
#define TENSORS_MAX 1000000
#define ITEMS_MAX   100000000

/* Architecture names that differ from ours. */
static const struct {
	const char *gguf, *hf;
} archs[] = {
	{ "qwen2moe", "qwen2_moe" }, { "qwen3moe", "qwen3_moe" },    { "gemma3", "gemma3_text" },
	{ "gptneox", "gpt_neox" },   { "deepseek2", "deepseek_v3" },
};

static const struct {
	const char *gguf, *hf;
} keys[] = {
	{ "block_count", "num_hidden_layers" },
	{ "embedding_length", "hidden_size" },
	{ "feed_forward_length", "intermediate_size" },
	{ "attention.head_count", "num_attention_heads" },
	{ "attention.head_count_kv", "num_key_value_heads" },
	{ "attention.key_length", "head_dim" },
	{ "context_length", "max_position_embeddings" },
	{ "expert_count", "num_experts" },
	{ "expert_used_count", "num_experts_per_tok" },
	{ "expert_feed_forward_length", "moe_intermediate_size" },
	{ "attention.kv_lora_rank", "kv_lora_rank" },
	{ "attention.q_lora_rank", "q_lora_rank" },
	{ "rope.dimension_count", "qk_rope_head_dim" },
	{ "attention.value_length", "v_head_dim" },
	{ "expert_shared_count", "n_shared_experts" },
	{ "leading_dense_block_count", "first_k_dense_replace" },
	{ "vocab_size", "vocab_size" },
};

/* Bytes and elements per block of a tensor type, by ggml's type numbers. */
static const struct {
	unsigned type;
	double block_B, elems;
} types[] = {
	{ 0, 4, 1 },     { 1, 2, 1 },      { 2, 18, 32 },    { 3, 20, 32 },    { 6, 22, 32 },    { 7, 24, 32 },
	{ 8, 34, 32 },   { 10, 84, 256 },  { 11, 110, 256 }, { 12, 144, 256 }, { 13, 176, 256 }, { 14, 210, 256 },
	{ 16, 66, 256 }, { 17, 74, 256 },  { 18, 98, 256 },  { 19, 50, 256 },  { 20, 18, 32 },   { 21, 110, 256 },
	{ 22, 82, 256 }, { 23, 136, 256 }, { 30, 2, 1 },     { 39, 17, 32 },
};

struct reader {
	const unsigned char *at, *end;
	const char *file;
	struct jl_err *err;
	enum jl_status status;
	char arch[32];
	double values[JL_LEN(keys)]; /* NAN: missing */
	double n_tokens, n_params, weights_B;
	bool has_output;
};

static void fail(struct reader *r, const char *en)
{
	if (!r->status)
		r->status = jl_fail_at(r->err, JL_E_PARSE, &(struct jl_where){ .file = r->file },
				       JL_N("not a GGUF file that can be read: {%s}"), en);
}

static uint64_t whole(struct reader *r, size_t n)
{
	uint64_t value = 0;

	if ((size_t)(r->end - r->at) < n) {
		fail(r, JL_N("it ends too early"));
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)r->at[i] << (8 * i);
	r->at += n;
	return value;
}

static size_t text(struct reader *r, const char **ret)
{
	const uint64_t len = whole(r, 8);

	*ret = (const char *)r->at;
	if (len > (uint64_t)(r->end - r->at)) {
		fail(r, JL_N("a text is longer than the file"));
		return 0;
	}
	r->at += len;
	return (size_t)len;
}

/* Bytes of a scalar type; 0: a string or an array. */
static size_t scalar_B(uint64_t type)
{
	static const unsigned char sizes[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

	return type < sizeof(sizes) ? sizes[type] : 0;
}

static double scalar(struct reader *r, uint64_t type)
{
	const size_t n = scalar_B(type);
	const uint64_t bits = whole(r, n);
	const bool is_signed = type == 1 || type == 3 || type == 5 || type == 11;
	float narrow;
	double wide;
	uint32_t low = (uint32_t)bits;

	memcpy(&narrow, &low, sizeof(narrow));
	memcpy(&wide, &bits, sizeof(wide));
	if (type == 6 || type == 12)
		return type == 6 ? narrow : wide;
	if (is_signed && n && n < 8 && (bits >> (8 * n - 1)) & 1)
		return (double)bits - ldexp(1, (int)(8 * n));
	return is_signed && n == 8 ? (double)(int64_t)bits : (double)bits;
}

/* Skips an array. Returns its length; *ret_first: first element of a numeric array (values may differ by layer). */
static double list(struct reader *r, double *ret_first)
{
	const uint64_t type = whole(r, 4), n = whole(r, 8);
	const size_t each = scalar_B(type);

	*ret_first = NAN;
	if (n > ITEMS_MAX || type > 12 || type == 9) {
		fail(r, JL_N("a list is too long or inside another"));
		return 0;
	}
	for (uint64_t i = 0; i < n && !r->status; i++) {
		const char *item;

		if (i % 1000 == 999 && jl_budget_spend(20))
			r->status = jl_budget_fail(r->err);

		if (!each)
			(void)text(r, &item);
		else if (i == 0)
			*ret_first = scalar(r, type);
		else
			(void)whole(r, each);
	}
	return (double)n;
}

static void read_key(struct reader *r)
{
	const char *key, *value;
	const size_t len = text(r, &key);
	const uint64_t type = whole(r, 4);
	const size_t arch = strlen(r->arch);
	double number = NAN, n = 0;

	if (type > 12)
		fail(r, JL_N("a value has an unknown type"));
	if (r->status)
		return;
	if (type == 8) {
		const size_t value_len = text(r, &value);

		if (len == 20 && memcmp(key, "general.architecture", 20) == 0 && value_len < sizeof(r->arch))
			memcpy(r->arch, value, value_len);
		return;
	}
	if (type == 9)
		n = list(r, &number);
	else
		number = scalar(r, type);
	if (len == 21 && memcmp(key, "tokenizer.ggml.tokens", 21) == 0)
		r->n_tokens = n;
	if (!(arch && len > arch + 1 && memcmp(key, r->arch, arch) == 0 && key[arch] == '.'))
		return;
	for (size_t i = 0; i < JL_LEN(keys); i++)
		if (strlen(keys[i].gguf) == len - arch - 1 && memcmp(keys[i].gguf, key + arch + 1, len - arch - 1) == 0)
			r->values[i] = number;
}

static void read_tensor(struct reader *r)
{
	const char *name;
	const size_t len = text(r, &name);
	const uint64_t rank = whole(r, 4);
	double elems = 1, each_B = NAN;

	if (rank > 8)
		fail(r, JL_N("a tensor has too many dimensions"));
	for (uint64_t d = 0; d < rank && !r->status; d++) {
		const double size = (double)whole(r, 8);

		elems *= size;
		if (d == 1 && len == 17 && memcmp(name, "token_embd.weight", 17) == 0 && !(r->n_tokens > 0))
			r->n_tokens = size;
	}
	const uint64_t type = whole(r, 4);

	(void)whole(r, 8);
	for (size_t i = 0; i < JL_LEN(types); i++)
		if (types[i].type == type)
			each_B = types[i].block_B / types[i].elems;
	if (!(elems >= 0 && elems <= 1e14))
		fail(r, JL_N("a tensor has impossible sizes"));
	r->n_params += elems;
	r->weights_B += elems * each_B;
	r->has_output |= len == 13 && memcmp(name, "output.weight", 13) == 0;
}

/* Writes the metadata as the equivalent config.json. */
static enum jl_status as_config(struct reader *r, struct jl_modelfile *ret, struct jl_arena *arena)
{
	const char *type = NULL;
	struct jl_buf json;

	for (size_t i = 0; i < JL_LEN(archs) && !type; i++)
		type = strcmp(archs[i].gguf, r->arch) == 0 ? archs[i].hf : NULL;
	for (char *c = r->arch; *c; c++)
		*c = *c > ' ' && *c < 0x7f && *c != '"' && *c != '\\' ? *c : '?';
	jl_buf_init(&json, 8192);
	jl_buf_printf(&json, "{\"model_type\": \"%s\", \"tie_word_embeddings\": %s", type ? type : r->arch,
		      r->has_output ? "false" : "true");
	for (size_t i = 0; i < JL_LEN(keys); i++)
		if (isfinite(r->values[i]) && strcmp(keys[i].hf, "vocab_size") != 0)
			jl_buf_printf(&json, ", \"%s\": %.0f", keys[i].hf, r->values[i]);
	/* gpt2 has key names of its own */
	jl_buf_printf(&json, ", \"n_layer\": %.0f, \"n_embd\": %.0f, \"n_head\": %.0f, \"n_positions\": %.0f",
		      r->values[0], r->values[1], r->values[3], r->values[6]);
	jl_buf_printf(&json, ", \"vocab_size\": %.0f}", r->n_tokens > 0 ? r->n_tokens : r->values[JL_LEN(keys) - 1]);
	for (size_t at = 0; at + 2 < json.len; at++) /* remove members whose value is missing */
		if (memcmp(json.data + at, "nan", 3) == 0)
			memcpy(json.data + at, "  0", 3);
	r->status = json.failed ? jl_fail_nomem(r->err)
				: jl_hfconfig_parse(&ret->config, jl_buf_text(&json), json.len, r->file, arena, r->err);
	jl_buf_release(&json);
	return r->status;
}

enum jl_status jl_gguf_parse(struct jl_modelfile *ret, const unsigned char *data, size_t len, const char *file,
			     struct jl_arena *arena, struct jl_err *err)
{
	struct reader r = { .at = data, .end = data + len, .file = file, .err = err };
	struct jl_modelfile found = { .is_network = false };

	for (size_t i = 0; i < JL_LEN(keys); i++)
		r.values[i] = NAN;
	if (len < 24 || memcmp(data, "GGUF", 4) != 0)
		fail(&r, JL_N("it does not begin with GGUF"));
	(void)whole(&r, 4);
	const uint64_t version = whole(&r, 4), n_tensors = whole(&r, 8), n_keys = whole(&r, 8);

	if (version < 2 || version > 3)
		fail(&r, JL_N("its version is not 2 or 3"));
	if (n_tensors > TENSORS_MAX || n_keys > KEYS_MAX)
		fail(&r, JL_N("it has an impossible number of keys or tensors"));
	for (uint64_t i = 0; i < n_keys && !r.status; i++)
		read_key(&r);
	for (uint64_t i = 0; i < n_tensors && !r.status; i++)
		read_tensor(&r);
	if (!r.status && !r.arch[0])
		fail(&r, JL_N("it has no general.architecture"));
	if (!r.status)
		as_config(&r, &found, arena);
	if (r.status)
		return r.status;
	found.n_params = r.n_params > 0 ? r.n_params : NAN;
	found.weights_B = r.n_params > 0 ? r.weights_B : NAN;
	*ret = found;
	return JL_OK;
}
