/* Chooses the reader of a model file by its content, and handles folders and pipelines. */
#include "program/modelfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json_read.h"
#include "base/offered.h"
#include "program/network_ops.h"

#define JSON_MAX_B ((size_t)256 << 20) /* exported graphs are larger than configurations */

/* Files in a request are never folders; folders are on this machine. */
static bool is_folder(const char *path)
{
	const struct jl_offered *file;
	struct stat info;

	return !jl_offered(&file, path) && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool jl_modelfile_is_path(const char *text)
{
	return jl_ends(text, ".jprog") || jl_ends(text, ".json") || jl_ends(text, ".onnx") || jl_ends(text, ".gguf") ||
	       jl_ends(text, ".safetensors") || text[0] == '/' || text[0] == '.' || strcmp(text, "-") == 0 ||
	       (strchr(text, '/') && is_folder(text));
}

enum jl_status jl_filemap_open(struct jl_filemap *ret_map, const char *path, struct jl_err *err)
{
	const struct jl_offered *offered;
	struct stat info;
	void *data = MAP_FAILED;

	if (jl_offered(&offered, path)) {
		if (!offered)
			return jl_offered_fail(path, err);
		*ret_map = (struct jl_filemap){ .data = (const unsigned char *)offered->text, .len = offered->len };
		return JL_OK;
	}
	errno = 0; /* mmap of an empty file leaves errno unset */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
		data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		const int why = errno;

		if (fd >= 0)
			(void)close(fd);
		return jl_fail_at(err, JL_E_IO, &(struct jl_where){ .file = path }, JL_N("cannot be read: {%s}"),
				  fd >= 0 && why == 0 ? JL_N("it is empty, or no ordinary file") : strerror(why));
	}
	(void)close(fd);
	*ret_map = (struct jl_filemap){ .data = data, .len = (size_t)info.st_size, .mapped = true };
	return JL_OK;
}

void jl_filemap_close(struct jl_filemap *map)
{
	if (map->mapped)
		(void)munmap((void *)map->data, map->len);
}

/* Writes the numbers of a JSON object as assignments, so that a catalog program can use the file's own keys. Lists of strings become flags:
 * contains "attention" or not. Nested objects prefix their name. */
static void put_settings(struct jl_buf *out, const json_t *root, const char *prefix)
{
	const char *key;
	json_t *value, *item;
	size_t i;

	json_object_foreach((json_t *)root, key, value)
	{
		bool plain = strlen(prefix) + strlen(key) < 39 && isalpha((unsigned char)key[0]);

		for (const char *c = key; *c; c++)
			plain = plain && (isalnum((unsigned char)*c) || *c == '_');
		if (plain && json_is_object(value) && !*prefix && strlen(key) < 20) {
			char inner[24];

			snprintf(inner, sizeof(inner), "%s_", key);
			put_settings(out, value, inner);
		}
		if (!plain || json_is_string(value) || json_is_null(value) || json_is_object(value) ||
		    (json_is_array(value) && (json_array_size(value) == 0 || json_array_size(value) > 39)))
			continue;
		jl_buf_printf(out, "%s%s=", prefix, key);
		if (!json_is_array(value))
			jl_buf_printf(out, "%.10g",
				      json_is_boolean(value) ? json_is_true(value) : json_number_value(value));
		for (i = 0; i < json_array_size(value); i++) {
			item = json_array_get(value, i);
			jl_buf_printf(out, "%s%.10g", i ? "," : "",
				      json_is_string(item) ? strstr(json_string_value(item), "ttn") != NULL
							   : json_number_value(item));
		}
		jl_buf_puts(out, " ");
	}
}

/* Settings from the class name besides the numbers: T5EncoderModel, CLIPTextModelWithProjection. */
static void put_class(struct jl_buf *out, const json_t *root)
{
	const char *name = json_string_value(json_array_get(json_object_get(root, "architectures"), 0));

	jl_buf_printf(out, "encoder_only=%d projected=%d ", name && strstr(name, "Encoder"),
		      name && strstr(name, "WithProjection"));
}

static bool is_file_record(const struct jl_net_info *info)
{
	return info->program && strncmp(info->id, "file-", 5) == 0;
}

/* Error for an unknown diffusers class; lists the known ones. */
static enum jl_status fail_class(const struct jl_catalog *cat, const char *name, const char *file, struct jl_err *err)
{
	struct jl_buf list;
	enum jl_status status;

	jl_buf_init(&list, 2048);
	for (size_t i = 0; i < cat->n_convnets; i++)
		for (const char *c = cat->convnets[i].words;
		     is_file_record(&cat->convnets[i]) && !strchr(cat->convnets[i].words, '^') && *c; c++)
			jl_buf_putc(&list, isspace((unsigned char)*c) ? ' ' : *c);
	status = jl_fail_at(err, JL_E_NOTFOUND, &(struct jl_where){ .file = file },
			    JL_N("\"_class_name\" '%.64s' is not supported: %s"), name, jl_buf_text(&list));
	jl_buf_release(&list);
	return status;
}

/* Network of a configuration from catalog records "file-...", by model_type or class. `part`: frozen part of a pipeline. */
static enum jl_status from_catalog(struct jl_modelfile *ret, const struct jl_catalog *cat, const json_t *root,
				   const char *file, bool part, struct jl_arena *arena, struct jl_err *err)
{
	const char *type = json_string_value(json_object_get(root, "model_type")),
		   *class_name = json_string_value(json_object_get(root, "_class_name"));
	const struct jl_net_info *info = NULL;
	struct jl_buf settings;
	enum jl_status status;
	bool plain = true;

	for (const char *c = class_name; c && *c; c++)
		plain = plain && (isalnum((unsigned char)*c) || *c == '_');
	class_name = plain ? class_name : "?";
	if (!type)
		type = class_name;
	for (size_t i = 0; type && i < cat->n_convnets && !info; i++)
		if (is_file_record(&cat->convnets[i]) && jl_net_has_word(cat->convnets[i].words, type))
			info = &cat->convnets[i];
	if (!info)
		return type && type == class_name ? fail_class(cat, type, file, err) : JL_E_NOTFOUND;
	jl_buf_init(&settings, 1 << 16);
	put_settings(&settings, root, "");
	put_class(&settings, root);
	const char *program = part ? jl_arena_printf(arena, "pipeline=1\nfrozen {\n%s\n}", info->program)
				   : info->program;

	status = settings.failed || !program
			 ? jl_fail_nomem(err)
			 : jl_network_expand(&ret->net, file, program, jl_buf_text(&settings), arena, err);
	jl_buf_release(&settings);
	ret->is_network = true;
	ret->info = info;
	return status;
}

static enum jl_status from_config(struct jl_modelfile *ret, const struct jl_catalog *cat, const char *path, bool part,
				  struct jl_arena *arena, struct jl_err *err)
{
	struct jl_buf text;
	enum jl_status status = jl_buf_read_file(&text, path, JSON_MAX_B, err);
	json_t *root;

	if (status)
		return status;
	if (strstr(jl_buf_text(&text), "\"graph_module\"")) {
		ret->is_network = true;
		status = jl_torchgraph_parse(&ret->net, text.data, text.len, path, arena, err);
		jl_buf_release(&text);
		return status;
	}
	root = jl_json_load(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
	if (json_object_get(root, "weight_map"))
		status = jl_safetensors_index_parse(ret, text.data, text.len, path, arena, err);
	else
		status = json_is_object(root) ? from_catalog(ret, cat, root, path, part, arena, err) : JL_E_NOTFOUND;
	if (status == JL_E_NOTFOUND &&
	    (!json_is_object(root) || json_object_get(root, "model_type") || !json_object_get(root, "_class_name")))
		status = text.len > JL_HFCONFIG_MAX_B
				 ? jl_fail_at(err, JL_E_LIMIT, &(struct jl_where){ .file = path },
					      JL_N("%zu bytes are too many for a config.json"), text.len)
				 : jl_hfconfig_parse(&ret->config, text.data, text.len, path, arena, err);
	json_decref(root);
	jl_buf_release(&text);
	return status;
}

static enum jl_status from_binary(struct jl_modelfile *ret, const char *path, struct jl_arena *arena,
				  struct jl_err *err)
{
	struct jl_filemap map;

	JL_TRY(jl_filemap_open(&map, path, err));
	ret->is_network = jl_ends(path, ".onnx");
	const enum jl_status status = ret->is_network ? jl_onnx_parse(&ret->net, map.data, map.len, path, arena, err)
				      : jl_ends(path, ".gguf")
					      ? jl_gguf_parse(ret, map.data, map.len, path, arena, err)
					      : jl_safetensors_parse(ret, map.data, map.len, path, arena, err);

	jl_filemap_close(&map);
	return status;
}

static void put_part(struct jl_buf *parts, const char *name, double n_params)
{
	const bool billions = n_params >= 1e9;

	jl_buf_printf(parts, "%s%s %.3g%s", parts->len ? ", " : "", name, n_params / (billions ? 1e9 : 1e6),
		      billions ? "B" : "M");
}

/* Appends the operators of a part to the network's. */
static enum jl_status join(struct jl_network *net, const struct jl_network *part, struct jl_arena *arena,
			   struct jl_err *err)
{
	struct jl_conv_op *ops = jl_arena_array(arena, net->n_ops + part->n_ops, sizeof(*ops));

	JL_TRY(jl_got(ops, err));
	if (net->n_ops)
		memcpy(ops, net->ops, net->n_ops * sizeof(*ops));
	if (part->n_ops)
		memcpy(ops + net->n_ops, part->ops, part->n_ops * sizeof(*ops));
	net->ops = ops;
	net->n_ops += part->n_ops;
	net->n_params += part->n_params;
	net->n_still += part->n_still;
	net->n_outputs += part->n_outputs;
	if (net->h == 0) {
		net->h = part->h;
		net->w = part->w;
	}
	return JL_OK;
}

/* A frozen part of a pipeline. Unknown parts are left out, and the answer mentions them. */
static enum jl_status add_part(struct jl_modelfile *ret, const struct jl_catalog *cat, const char *path,
			       const char *name, struct jl_buf *parts, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_modelfile part = { .n_params = NAN };
	struct jl_err unknown = { 0 };
	const enum jl_status status = from_config(&part, cat, path, true, arena, &unknown);

	if (status == JL_E_NOMEM)
		return jl_fail_nomem(err);
	if (status) {
		jl_buf_printf(parts, JL_(", %s not known"), name);
		return JL_OK;
	}
	if (!part.is_network) { /* a language model: its compute is small beside the image's, but its weights count */
		part.net = (struct jl_network){ .n_params = jl_transformer_params(&part.config.model).total };
		part.net.n_still = part.net.n_params;
	}
	put_part(parts, name, part.net.n_params);
	return join(&ret->net, &part.net, arena, err);
}

/* Reads model_index.json of diffusers: the denoiser is trained, the other parts run frozen. */
static enum jl_status from_pipeline(struct jl_modelfile *ret, const struct jl_catalog *cat, const char *index,
				    struct jl_arena *arena, struct jl_err *err)
{
	static const char *const trained[] = { "transformer", "unet", "prior" };
	const struct jl_where where = { .file = index };
	const size_t dir = strlen(index) - strlen("model_index.json");
	const char *main_name = NULL, *name, *path;
	struct jl_buf text, parts;
	enum jl_status status = jl_buf_read_file(&text, index, JL_HFCONFIG_MAX_B, err);
	json_t *root, *value;

	if (status)
		return status;
	root = jl_json_load(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
	jl_buf_release(&text);
	jl_buf_init(&parts, 4096);
	for (size_t i = 0; i < JL_LEN(trained) && !main_name; i++)
		if (json_is_array(json_object_get(root, trained[i])))
			main_name = trained[i];
	if (!main_name)
		status = jl_fail_at(err, JL_E_DATA, &where,
				    JL_N("no pipeline of diffusers: \"unet\" or \"transformer\" must say its class"));
	path = main_name ? jl_arena_printf(arena, "%.*s%s/config.json", (int)dir, index, main_name) : "";
	JL_THEN(status, path ? from_config(ret, cat, path, false, arena, err) : jl_fail_nomem(err));
	if (!status && !ret->is_network)
		status = jl_fail_at(err, JL_E_DATA, &(struct jl_where){ .file = path },
				    JL_N("a language model is not what a pipeline of diffusers runs"));
	if (!status)
		put_part(&parts, main_name, ret->net.n_params);
	json_object_foreach(root, name, value)
	{
		bool plain = strlen(name) < 40 && name[0] != '_' && json_is_array(value) && !status;

		for (const char *c = name; *c; c++)
			plain = plain && (isalnum((unsigned char)*c) || *c == '_');
		if (!plain || strcmp(name, main_name) == 0 ||
		    strcmp(name, "safety_checker") == 0 /* runs after generation */ || parts.len > 1000)
			continue;
		path = jl_arena_printf(arena, "%.*s%s/config.json", (int)dir, index, name);
		if (path && jl_file_exists(path))
			status = add_part(ret, cat, path, name, &parts, arena, err);
	}
	json_decref(root);
	ret->parts = jl_arena_strdup(arena, jl_buf_text(&parts));
	jl_buf_release(&parts);
	return status;
}

/* Reads a folder: its pipeline, its configuration, or its weight files. */
static enum jl_status from_folder(struct jl_modelfile *ret, const struct jl_catalog *cat, const char *folder,
				  struct jl_arena *arena, struct jl_err *err)
{
	static const char *const names[] = { "model_index.json",
					     "transformer/config.json",
					     "unet/config.json",
					     "config.json",
					     "model.safetensors.index.json",
					     "model.safetensors",
					     "model.onnx",
					     "model.json" };
	enum jl_status status;

	for (size_t i = 0; i < JL_LEN(names); i++) {
		const char *path = jl_arena_printf(arena, "%s/%s", folder, names[i]);

		JL_TRY(jl_got(path, err));
		if (jl_file_exists(path))
			return jl_modelfile_read(ret, cat, path, arena, err);
	}
	status = jl_safetensors_folder(ret, folder, arena, err);
	return status == JL_E_NOTFOUND ? jl_fail_at(err, status, &(struct jl_where){ .file = folder },
						    JL_N("no config.json, *.safetensors, model.onnx or parts of a "
							 "diffusers pipeline in it"))
				       : status;
}

enum jl_status jl_modelfile_read(struct jl_modelfile *ret, const struct jl_catalog *cat, const char *path,
				 struct jl_arena *arena, struct jl_err *err)
{
	struct jl_modelfile found = { .n_params = NAN, .weights_B = NAN };
	const bool binary = jl_ends(path, ".onnx") || jl_ends(path, ".gguf") || jl_ends(path, ".safetensors");

	JL_TRY(is_folder(path) ? from_folder(&found, cat, path, arena, err)
	       : binary        ? from_binary(&found, path, arena, err)
	       : jl_ends(path, "/model_index.json") || strcmp(path, "model_index.json") == 0
		       ? from_pipeline(&found, cat, path, arena, err)
		       : from_config(&found, cat, path, false, arena, err));
	*ret = found;
	return JL_OK;
}
