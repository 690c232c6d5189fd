/* Networks of a person's own: files of catalog folders whose top key is "convnets:", which the catalog's reader leaves to this
 * one. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "workload/convnet.h"

#define NETS_MAX  1024 /* of all files together */
#define FILES_MAX 1000 /* of one folder */

struct overlay {
	struct jl_convnet *nets;
	size_t n_nets;
	size_t n_files;
	struct jl_arena *arena;
};

static int is_yaml(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static int is_folder(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && !is_yaml(entry);
}

/* Is the first key of this text, behind comments and markers, ours? */
static bool is_ours(const char *text, size_t len)
{
	static const char key[] = "convnets:";
	const char *end = text + len;

	while (text < end && strchr("#%-\r\n", *text)) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));

		text = line_end ? line_end + 1 : end;
	}
	return (size_t)(end - text) >= strlen(key) && memcmp(text, key, strlen(key)) == 0;
}

/* A network of an id that is there already takes its place. */
static enum jl_status add_net(struct overlay *o, const struct jl_convnet *net, struct jl_err *err)
{
	for (size_t i = 0; i < o->n_nets; i++)
		if (strcasecmp(o->nets[i].id, net->id) == 0) {
			o->nets[i] = *net;
			return JL_OK;
		}
	if (o->n_nets == NETS_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d networks in all 'convnets:' files",
			       "'convnets:' 파일의 네트워크가 모두 %d개를 넘습니다", NETS_MAX);
	o->nets[o->n_nets++] = *net;
	return JL_OK;
}

static enum jl_status add_file(struct overlay *o, const char *path, struct jl_err *err)
{
	struct jl_convnet_list list = { 0 };
	struct jl_buf text;
	struct stat info;
	enum jl_status status;

	/* What is no plain file, or too large to be a list of networks, the catalog's reader has spoken about. */
	if (stat(path, &info) || !S_ISREG(info.st_mode) || (size_t)info.st_size > JL_CONVNET_FILE_MAX_B)
		return JL_OK;
	if (++o->n_files > FILES_MAX)
		return jl_fail(err, JL_E_LIMIT, "%s: more than %d files in one catalog folder",
			       "%s: 한 카탈로그 폴더에 파일이 %d개보다 많습니다", path, FILES_MAX);
	status = jl_buf_read_file(&text, path, JL_CONVNET_FILE_MAX_B, err);
	if (status)
		return status;
	if (is_ours(jl_buf_text(&text), text.len))
		status = jl_convnet_parse(&list, jl_buf_text(&text), text.len, path, o->arena, err);
	jl_buf_release(&text);
	for (size_t i = 0; !status && i < list.n_nets; i++)
		status = add_net(o, &list.nets[i], err);
	return status;
}

/* The files of a folder and, at depth 1, of the folders in it; in the order of their names, as the catalog has it. */
static enum jl_status add_folder(struct overlay *o, const char *dir, int depth, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	for (int folders = 0; folders <= depth && !status; folders++) {
		struct dirent **entries = NULL;
		const int n = scandir(dir, &entries, folders ? is_folder : is_yaml, alphasort);

		if (n < 0 && errno == ENOMEM)
			return jl_fail_nomem(err);
		for (int i = 0; i < n; i++) {
			const char *path = status ? NULL : jl_arena_printf(o->arena, "%s/%s", dir, entries[i]->d_name);
			struct stat info;

			if (!status && !path)
				status = jl_fail_nomem(err);
			else if (!status && !folders)
				status = add_file(o, path, err);
			else if (!status && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
				status = add_folder(o, path, 0, err);
			free(entries[i]);
		}
		free(entries);
	}
	return status;
}

enum jl_status jl_convnets_overlay(struct jl_convnet_list *ret_list, const char *const *dirs, size_t n_dirs,
				   struct jl_arena *arena, struct jl_err *err)
{
	struct overlay o = { .arena = arena };
	struct jl_convnet_list embedded;
	enum jl_status status = jl_convnets_embedded(&embedded, arena, err);

	if (status || n_dirs == 0) {
		if (!status)
			*ret_list = embedded;
		return status;
	}
	o.nets = jl_arena_array(arena, NETS_MAX, sizeof(*o.nets));
	if (!o.nets)
		return jl_fail_nomem(err);
	for (size_t i = 0; !status && i < embedded.n_nets; i++)
		status = add_net(&o, &embedded.nets[i], err);
	for (size_t i = 0; !status && i < n_dirs; i++) {
		o.n_files = 0;
		status = add_folder(&o, dirs[i], 1, err);
	}
	if (!status)
		*ret_list = (struct jl_convnet_list){ .nets = o.nets, .n_nets = o.n_nets };
	return status;
}
