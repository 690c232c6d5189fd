/* Reads safetensors headers only. The shapes of well-known tensor names replace a config.json. */
#include <dirent.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_read.h"
#include "program/modelfile.h"

#define HEADER_MAX_B ((uint64_t)100 << 20) /* limit of the format itself */

#define SHARDS_MAX 1024

struct seen {
	size_t n_tensors;
	double layers, hidden, vocab, ffn, q_rows, kv_rows, n_params, weights_B;
	bool head, qkv_bias, qk_norm;
};

static double item_B(const char *type)
{
	static const struct {
		const char *type;
		double size_B;
	} types[] = { { "F64", 8 }, { "I64", 8 },     { "F32", 4 },     { "I32", 4 }, { "F16", 2 }, { "BF16", 2 },
		      { "I16", 2 }, { "F8_E4M3", 1 }, { "F8_E5M2", 1 }, { "I8", 1 },  { "U8", 1 },  { "BOOL", 1 } };

	for (size_t i = 0; type && i < JL_LEN(types); i++)
		if (strcmp(types[i].type, type) == 0)
			return types[i].size_B;
	return NAN;
}

static void look_at(struct seen *s, const char *name, const json_t *shape)
{
	const double rows = json_number_value(json_array_get(shape, 0)),
		     columns = json_number_value(json_array_get(shape, 1));
	const char *layer = strstr(name, "layers.");

	if (layer)
		s->layers = fmax(s->layers, strtod(layer + 7, NULL) + 1);
	if (jl_ends(name, "embed_tokens.weight")) {
		s->vocab = rows;
		s->hidden = columns;
	}
	s->head |= jl_ends(name, "lm_head.weight");
	s->qkv_bias |= jl_ends(name, "q_proj.bias");
	s->qk_norm |= jl_ends(name, "q_norm.weight");
	if (jl_ends(name, "q_proj.weight"))
		s->q_rows = rows;
	if (jl_ends(name, "k_proj.weight"))
		s->kv_rows = rows;
	if (jl_ends(name, "mlp.gate_proj.weight"))
		s->ffn = rows;
}

static enum jl_status add_tensor(struct seen *s, const char *name, const json_t *tensor, const char *file,
				 struct jl_err *err)
{
	const json_t *shape = json_object_get(tensor, "shape"), *size;
	double elems = 1;
	size_t d;

	json_array_foreach(shape, d, size)
		elems *= json_is_integer(size) && json_integer_value(size) >= 0 ? json_number_value(size) : NAN;
	if (!json_is_array(shape) || !(elems >= 0 && elems <= 1e14))
		return jl_fail_at(err, JL_E_PARSE, &(struct jl_where){ .file = file },
				  JL_N("not a safetensors header: a tensor has no shape that can be"));
	s->n_tensors++;
	s->n_params += elems;
	s->weights_B += elems * item_B(json_string_value(json_object_get(tensor, "dtype")));
	look_at(s, name, shape);
	return JL_OK;
}

/* Shapes do not show the number of heads: head size 128, as almost all models have, or 64 if that does not divide. */
static enum jl_status as_config(const struct seen *s, struct jl_modelfile *ret, const char *file,
				struct jl_arena *arena, struct jl_err *err)
{
	const double head = s->hidden >= 2048 && fmod(s->q_rows, 128) == 0 && fmod(s->kv_rows, 128) == 0 ? 128 : 64;
	struct jl_buf json;
	enum jl_status status;

	if (!(s->layers > 0 && s->hidden > 0 && s->q_rows >= head && s->kv_rows >= head && s->ffn > 0))
		return jl_fail_at(err, JL_E_DATA, &(struct jl_where){ .file = file },
				  JL_N("%.0f parameters, and no names that tell what network they are of; keep its "
				       "config.json beside it"),
				  s->n_params);
	jl_buf_init(&json, 4096);
	jl_buf_printf(&json,
		      "{\"model_type\": \"%s\", \"num_hidden_layers\": %.0f, \"hidden_size\": %.0f, \"vocab_size\": "
		      "%.0f, \"intermediate_size\": %.0f, \"num_attention_heads\": %.0f, \"num_key_value_heads\": "
		      "%.0f, \"head_dim\": %.0f, \"tie_word_embeddings\": %s}",
		      s->qk_norm    ? "qwen3"
		      : s->qkv_bias ? "qwen2"
				    : "llama",
		      s->layers, s->hidden, s->vocab, s->ffn, floor(s->q_rows / head), floor(s->kv_rows / head), head,
		      s->head ? "false" : "true");
	status = jl_hfconfig_parse(&ret->config, jl_buf_text(&json), json.len, file, arena, err);
	jl_buf_release(&json);
	return status;
}

static enum jl_status scan(struct seen *seen, const unsigned char *data, size_t len, const char *file,
			   struct jl_err *err)
{
	uint64_t header = 0;
	enum jl_status status = JL_OK;
	const char *name;
	json_t *root, *tensor;

	for (size_t i = 0; i < 8 && i < len; i++)
		header |= (uint64_t)data[i] << (8 * i);
	if (len < 10 || header > HEADER_MAX_B || header > len - 8)
		return jl_fail_at(err, JL_E_PARSE, &(struct jl_where){ .file = file },
				  JL_N("not a safetensors file: its header would be %.0f bytes long, of %zu"),
				  (double)header, len);
	root = jl_json_load((const char *)data + 8, (size_t)header, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(root))
		status = jl_fail_at(err, JL_E_PARSE, &(struct jl_where){ .file = file },
				    JL_N("not a safetensors file: its header is not a JSON object"));
	json_object_foreach(root, name, tensor) if (!status && strcmp(name, "__metadata__") != 0)
		status = add_tensor(seen, name, tensor, file, err);
	json_decref(root);
	return status;
}

static enum jl_status finish(const struct seen *seen, struct jl_modelfile *ret, const char *file,
			     struct jl_arena *arena, struct jl_err *err)
{
	struct jl_modelfile found = { .n_params = seen->n_params, .weights_B = seen->weights_B };

	JL_TRY(as_config(seen, &found, file, arena, err));
	*ret = found;
	return JL_OK;
}

enum jl_status jl_safetensors_parse(struct jl_modelfile *ret, const unsigned char *data, size_t len, const char *file,
				    struct jl_arena *arena, struct jl_err *err)
{
	struct seen seen = { 0 };

	JL_TRY(scan(&seen, data, len, file, err));
	return finish(&seen, ret, file, arena, err);
}

/* File name without a path, so that a file cannot refer outside its folder. */
static bool is_shard(const char *name)
{
	return name && name[0] != '.' && !strchr(name, '/') && strlen(name) < 256 && jl_ends(name, ".safetensors");
}

/* `beside`: path whose first `dir_len` bytes are the folder. */
static enum jl_status scan_shard(struct seen *seen, const char *beside, size_t dir_len, const char *name,
				 struct jl_arena *arena, struct jl_err *err)
{
	const char *path = jl_arena_printf(arena, "%.*s%s", (int)dir_len, beside, name);
	struct jl_filemap map;
	enum jl_status status;

	JL_TRY(jl_got(path, err));
	JL_TRY(jl_filemap_open(&map, path, err));
	status = scan(seen, map.data, map.len, path, err);
	jl_filemap_close(&map);
	return status;
}

enum jl_status jl_safetensors_index_parse(struct jl_modelfile *ret, const char *text, size_t len, const char *file,
					  struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_where where = { .file = file };
	const char *slash = strrchr(file, '/'), *name;
	json_t *root = jl_json_load(text, len, JSON_REJECT_DUPLICATES, NULL),
	       *map = json_object_get(root, "weight_map"), *shards = json_object(), *value;
	struct seen seen = { 0 };
	enum jl_status status = JL_OK;

	if (!json_is_object(map) || json_object_size(map) == 0)
		status = jl_fail_at(
			err, JL_E_PARSE, &where,
			JL_N("not an index of safetensors: \"weight_map\" must name the file of each tensor"));
	json_object_foreach(map, name, value)
	{
		if (status)
			break;
		if (!is_shard(json_string_value(value)))
			status = jl_fail_at(err, JL_E_DATA, &where,
					    JL_N("\"weight_map\" must name files *.safetensors in the same folder"));
		else if (json_object_set_new(shards, json_string_value(value), json_true()))
			status = jl_fail_nomem(err);
		else if (json_object_size(shards) > SHARDS_MAX)
			status = jl_fail_at(err, JL_E_LIMIT, &where, JL_N("more than %d files"), SHARDS_MAX);
	}
	json_object_foreach(shards, name, value) if (!status)
		status = scan_shard(&seen, file, slash ? (size_t)(slash + 1 - file) : 0, name, arena, err);
	if (!status && seen.n_tensors != json_object_size(map))
		status = jl_fail_at(err, JL_E_DATA, &where, JL_N("it names %zu tensors, and the files hold %zu"),
				    json_object_size(map), seen.n_tensors);
	json_decref(shards);
	json_decref(root);
	return status ? status : finish(&seen, ret, file, arena, err);
}

enum jl_status jl_safetensors_folder(struct jl_modelfile *ret, const char *folder, struct jl_arena *arena,
				     struct jl_err *err)
{
	const char *inside = jl_arena_printf(arena, "%s/", folder);
	DIR *dir = inside ? opendir(folder) : NULL;
	struct seen seen = { 0 };
	enum jl_status status = JL_OK;
	size_t n = 0;

	for (const struct dirent *at; dir && !status && (at = readdir(dir));)
		if (is_shard(at->d_name))
			status = ++n > SHARDS_MAX ? jl_fail_at(err, JL_E_LIMIT, &(struct jl_where){ .file = folder },
							       JL_N("more than %d files"), SHARDS_MAX)
						  : scan_shard(&seen, inside, strlen(inside), at->d_name, arena, err);
	if (dir)
		(void)closedir(dir);
	if (!status && n == 0)
		return JL_E_NOTFOUND;
	return status ? status : finish(&seen, ret, folder, arena, err);
}
