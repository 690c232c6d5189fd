/* Which reader a file is for. */
#include "workload/modelfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "workload/network_ops.h"

#define JSON_MAX_B ((size_t)256 << 20) /* graphs are larger than configurations */
#define PATH_MAX_B 4096

static bool ends(const char *text, const char *with)
{
	const size_t len = strlen(text), end = strlen(with);

	return len > end && strcmp(text + len - end, with) == 0;
}

bool jl_modelfile_is_path(const char *text)
{
	struct stat info;

	return ends(text, ".json") || ends(text, ".onnx") || ends(text, ".gguf") || ends(text, ".safetensors") ||
	       text[0] == '/' || text[0] == '.' || strcmp(text, "-") == 0 ||
	       (strchr(text, '/') && stat(text, &info) == 0 && S_ISDIR(info.st_mode));
}

/* The file in memory, as far as it is looked at. */
static enum jl_status map(const unsigned char **ret_data, size_t *ret_len, const char *path, struct jl_err *err)
{
	struct stat info;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *data = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
		data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		const int why = errno;

		if (fd >= 0)
			(void)close(fd);
		return jl_fail_at(err, JL_E_IO, &(struct jl_where){ .file = path }, JL_N("cannot be read: %s"),
				  fd >= 0 && why == 0 ? "an empty or special file" : strerror(why));
	}
	(void)close(fd);
	*ret_data = data;
	*ret_len = (size_t)info.st_size;
	return JL_OK;
}

/* Numbers of a JSON object as assignments, so that a program of the catalog can be written in the file's own keys; of texts in a list,
 * whether each speaks of attention. */
static void put_settings(struct jl_buf *out, const json_t *root)
{
	const char *key;
	json_t *value, *item;
	size_t i;

	json_object_foreach((json_t *)root, key, value)
	{
		bool plain = strlen(key) < 40 && isalpha((unsigned char)key[0]);

		for (const char *c = key; *c; c++)
			plain = plain && (isalnum((unsigned char)*c) || *c == '_');
		if (!plain || json_is_string(value) || json_is_null(value) || json_is_object(value) ||
		    (json_is_array(value) && (json_array_size(value) == 0 || json_array_size(value) > 39)))
			continue;
		jl_buf_printf(out, "%s=", key);
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

/* A configuration whose network the catalog has as text: records "file-...", by model_type or class. */
static enum jl_status from_catalog(struct jl_modelfile *ret, const struct jl_catalog *cat, const json_t *root,
				   const char *file, struct jl_arena *arena, struct jl_err *err)
{
	const char *type = json_string_value(json_object_get(root, "model_type"));
	const struct jl_net_info *info = NULL;
	struct jl_buf settings;
	enum jl_status status;

	if (!type)
		type = json_string_value(json_object_get(root, "_class_name"));
	for (size_t i = 0; type && i < cat->n_convnets && !info; i++)
		if (cat->convnets[i].program && strncmp(cat->convnets[i].id, "file-", 5) == 0 &&
		    jl_net_has_word(cat->convnets[i].words, type))
			info = &cat->convnets[i];
	if (!info)
		return JL_E_NOTFOUND;
	jl_buf_init(&settings, 1 << 16);
	put_settings(&settings, root);
	status = settings.failed
			 ? jl_fail_nomem(err)
			 : jl_network_expand(&ret->net, file, info->program, jl_buf_text(&settings), arena, err);
	jl_buf_release(&settings);
	ret->is_network = true;
	ret->info = info;
	return status;
}

static enum jl_status from_json(struct jl_modelfile *ret, const struct jl_catalog *cat, const char *path,
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
	root = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
	status = json_is_object(root) ? from_catalog(ret, cat, root, path, arena, err) : JL_E_NOTFOUND;
	json_decref(root);
	if (status == JL_E_NOTFOUND)
		status = text.len > JL_HFCONFIG_MAX_B
				 ? jl_fail_at(err, JL_E_LIMIT, &(struct jl_where){ .file = path },
					      JL_N("%zu bytes are too many for a config.json"), text.len)
				 : jl_hfconfig_parse(&ret->config, text.data, text.len, path, arena, err);
	jl_buf_release(&text);
	return status;
}

static enum jl_status from_binary(struct jl_modelfile *ret, const char *path, struct jl_arena *arena,
				  struct jl_err *err)
{
	const unsigned char *data = NULL;
	size_t len = 0;
	enum jl_status status = map(&data, &len, path, err);

	if (status)
		return status;
	ret->is_network = ends(path, ".onnx");
	status = ret->is_network       ? jl_onnx_parse(&ret->net, data, len, path, arena, err)
		 : ends(path, ".gguf") ? jl_gguf_parse(ret, data, len, path, arena, err)
				       : jl_safetensors_parse(ret, data, len, path, arena, err);
	(void)munmap((void *)data, len);
	return status;
}

/* A folder: its configuration; of a pipeline of diffusers, that of the part that is run again and again. */
static enum jl_status in_folder(char out[PATH_MAX_B], const char *folder, struct jl_err *err)
{
	static const char *const names[] = { "transformer/config.json", "unet/config.json", "config.json",
					     "model.safetensors",       "model.onnx",       "model.json" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const int len = snprintf(out, PATH_MAX_B, "%s/%s", folder, names[i]);

		if (len > 0 && len < PATH_MAX_B && access(out, F_OK) == 0)
			return JL_OK;
	}
	return jl_fail_at(err, JL_E_NOTFOUND, &(struct jl_where){ .file = folder },
			  JL_N("no config.json, model.safetensors, model.onnx or parts of a diffusers pipeline in it"));
}

enum jl_status jl_modelfile_read(struct jl_modelfile *ret, const struct jl_catalog *cat, const char *path,
				 struct jl_arena *arena, struct jl_err *err)
{
	struct jl_modelfile found = { .n_params = NAN, .weights_B = NAN };
	struct stat info;
	char inside[PATH_MAX_B];
	enum jl_status status = JL_OK;

	if (ends(path, "/model_index.json") && strlen(path) < PATH_MAX_B) { /* the folder is what it is about */
		snprintf(inside, sizeof(inside), "%.*s", (int)(strlen(path) - strlen("/model_index.json")), path);
		path = jl_arena_strdup(arena, inside);
		if (!path)
			return jl_fail_nomem(err);
	}
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
		status = in_folder(inside, path, err);
		path = inside;
	}
	if (!status)
		status = ends(path, ".onnx") || ends(path, ".gguf") || ends(path, ".safetensors")
				 ? from_binary(&found, path, arena, err)
				 : from_json(&found, cat, path, arena, err);
	if (!status)
		*ret = found;
	return status;
}
