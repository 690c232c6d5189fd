/* Removes identifying data from captured machines. */
#include "probe/records.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define CGROUP_ROOT "/sys/fs/cgroup/"
#define SEEN_MAX    256

/* Interfaces named after their hardware address get a number, the same everywhere. */
struct seen {
	char address[SEEN_MAX][13];
	size_t n;
};

static size_t hex_run(const char *text, size_t most)
{
	size_t n = 0;

	while (n < most && isxdigit((unsigned char)text[n]))
		n++;
	return n;
}

static size_t number_of(struct seen *seen, const char *address)
{
	size_t i = 0;

	while (i < seen->n && strncmp(seen->address[i], address, 12) != 0)
		i++;
	if (i == seen->n && seen->n < SEEN_MAX) {
		memcpy(seen->address[i], address, 12);
		seen->n++;
	}
	return i + 1;
}

/* enx0a1b2c3d4e5f: systemd's fallback name, with the hardware address */
static void replace_interfaces(char *text, struct seen *seen)
{
	for (char *at = text; (at = strchr(at, 'x')) != NULL; at++) {
		char number[16];

		if (at - text < 2 || hex_run(at + 1, 13) != 12)
			continue;
		snprintf(number, sizeof(number), "%012zu", number_of(seen, at + 1));
		memcpy(at + 1, number, 12);
	}
}

/* Length of the user-chosen adapter name in a path ("acme-uplink"); names by the kernel or systemd do not identify anyone. 0: none. */
static size_t given_name(const char *path)
{
	static const char *const usual[] = { "lo",  "eth",  "en",   "wl",   "ww",  "ib",  "docker", "veth",
					     "br-", "virb", "bond", "team", "tun", "tap", "cni",    "net" };
	const size_t len = strcspn(path, "/");

	for (size_t i = 0; i < JL_LEN(usual); i++)
		if (strncmp(path, usual[i], strlen(usual[i])) == 0)
			return 0;
	return len;
}

/* Replaces `name` by "net7" wherever it is a whole word; NULL: out of memory. */
static char *replace_word(struct jl_arena *arena, char *text, const char *name, size_t len, size_t number)
{
	for (char *at = text; text && (at = memmem(at, strlen(at), name, len)) != NULL; at++) {
		const bool word = (at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[len]);
		const size_t before = (size_t)(at - text);

		if (!word)
			continue;
		text = jl_arena_printf(arena, "%.*snet%zu%s", (int)before, text, number, at + len);
		at = text ? text + before : text;
		if (!at)
			break;
	}
	return text;
}

static char *replace_given(const struct jl_records *records, char *text)
{
	static const char folder[] = "/sys/class/net/";

	for (size_t i = 0; text && i < records->n; i++) {
		const char *path = records->items[i].path;
		const size_t len = strncmp(path, folder, strlen(folder)) == 0 ? given_name(path + strlen(folder)) : 0;

		if (len)
			text = replace_word(records->arena, text, path + strlen(folder), len, i);
	}
	return text;
}

/* Zeroes texts of a form; in `form`, h is a hexadecimal digit, other characters match themselves. */
static void zero_form(char *text, const char *form)
{
	size_t len = strlen(form);

	for (char *at = text; *at; at++) {
		size_t i = 0;

		while (i < len && (form[i] == 'h' ? isxdigit((unsigned char)at[i]) != 0 : at[i] == form[i]))
			i++;
		if (i < len)
			continue;
		for (i = 0; i < len; i++)
			if (form[i] == 'h')
				at[i] = '0';
		at += len - 1;
	}
}

/* Keeps the container engine, which identifies no user. */
static const char *engine(const char *part, size_t len)
{
	static const char *const words[] = { "-kubepods", "-docker", "-libpod", "-lxc", "-containerd" };

	for (size_t i = 0; i < JL_LEN(words); i++)
		if (memmem(part, len, words[i] + 1, strlen(words[i]) - 1))
			return words[i];
	return "";
}

/* Renames path components to g1, g2, ...: only ancestors of one process are read, so the depth identifies them. */
static char *rename_parts(struct jl_arena *arena, const char *path, size_t from)
{
	struct jl_buf out;
	int depth = 0;

	jl_buf_init(&out, 8192);
	jl_buf_add(&out, path, from);
	for (const char *at = path + from; *at;) {
		size_t len = strcspn(at, "/");

		if (len)
			jl_buf_printf(&out, "g%d%s", ++depth, engine(at, len));
		at += len;
		if (*at == '/') {
			jl_buf_putc(&out, '/');
			at++;
		}
	}
	char *text = out.failed ? NULL : jl_arena_strdup(arena, jl_buf_text(&out));
	jl_buf_release(&out);
	return text;
}

/* /sys/fs/cgroup/a/b/cpu.max; with version 1 the first folder is the controller's */
static char *cgroup_path(struct jl_arena *arena, const char *path)
{
	static const char *const controllers[] = { "cpu/", "cpu,cpuacct/", "memory/", "unified/" };
	size_t from = strlen(CGROUP_ROOT);
	const char *file = strrchr(path, '/');

	for (size_t i = 0; i < JL_LEN(controllers); i++)
		if (strncmp(path + from, controllers[i], strlen(controllers[i])) == 0) {
			from += strlen(controllers[i]);
			break;
		}
	if ((size_t)(file - path) < from)
		return jl_arena_strdup(arena, path);
	char *folder = jl_arena_strndup(arena, path, (size_t)(file - path));
	char *renamed = folder ? rename_parts(arena, folder, from) : NULL;
	return renamed ? jl_arena_printf(arena, "%s%s", renamed, file) : NULL;
}

/* "4:memory:/docker/1f2e": the path follows the second colon */
static char *cgroup_text(struct jl_arena *arena, const char *text)
{
	char *out = jl_arena_strdup(arena, "");

	while (out && *text) {
		size_t len = strcspn(text, "\n");
		char *line = jl_arena_strndup(arena, text, len);
		char *colon = line ? strchr(line, ':') : NULL;

		colon = colon ? strchr(colon + 1, ':') : NULL;
		if (colon)
			line = rename_parts(arena, line, (size_t)(colon + 1 - line));
		if (!line)
			return NULL;
		out = jl_arena_printf(arena, "%s%s%s", out, *out ? "\n" : "", line);
		text += len + (text[len] == '\n');
	}
	return out;
}

/* Keeps only the pieces, split at any of `cuts`, that begin with one of the words. */
static char *keep(struct jl_arena *arena, const char *text, const char *cuts, const char *const *words)
{
	struct jl_buf out;

	jl_buf_init(&out, (size_t)8 << 20);
	while (*text) {
		size_t len = strcspn(text, cuts);

		for (size_t i = 0; words[i]; i++)
			if (strncmp(text, words[i], strlen(words[i])) == 0) {
				if (out.len)
					jl_buf_putc(&out, cuts[0]);
				jl_buf_add(&out, text, len);
				break;
			}
		text += len + (text[len] != '\0');
	}
	char *kept = out.failed ? NULL : jl_arena_strdup(arena, jl_buf_text(&out));
	jl_buf_release(&out);
	return kept;
}

/* Keeps only the parts of these files that a replay needs. */
static char *redact_text(struct jl_arena *arena, const struct jl_asked_path *item)
{
	static const struct {
		const char *path, *cuts;
		const char *words[9];
	} kept[] = {
		{ "/proc/cmdline", " \n", { "iommu", "intel_iommu", "amd_iommu", "pci=", "isolcpus", "nohz_full" } },
		{ "/etc/os-release", "\n", { "PRETTY_NAME=", "ID=", "VERSION_ID=" } },
		{ "/proc/cpuinfo",
		  "\n",
		  { "vendor_id", "model name", "flags", "Features", "CPU implementer", "CPU part", "CPU variant" } },
		{ "/proc/self/status", "\n", { "Cpus_allowed_list" } },
		{ "/proc/meminfo", "\n", { "MemTotal", "MemFree", "MemAvailable", "SwapTotal", "SwapFree" } },
	};

	for (size_t i = 0; i < JL_LEN(kept); i++)
		if (strcmp(item->path, kept[i].path) == 0)
			return keep(arena, item->text, kept[i].cuts, kept[i].words);
	if (strcmp(item->path, "/proc/self/cgroup") == 0)
		return cgroup_text(arena, item->text);
	return jl_arena_strdup(arena, item->text);
}

enum jl_status jl_redact(const struct jl_records *records, struct jl_records *ret_out, struct jl_err *err)
{
	struct jl_records out = { .arena = records->arena };
	struct seen seen = { .n = 0 };
	enum jl_status status = JL_OK;

	for (size_t i = 0; !status && i < records->n; i++) {
		const struct jl_asked_path *item = &records->items[i];
		char *path, *text;

		if (!item->text || strcmp(item->path, "/proc/sys/kernel/hostname") == 0)
			continue;
		path = strncmp(item->path, CGROUP_ROOT, strlen(CGROUP_ROOT)) == 0
			       ? cgroup_path(out.arena, item->path)
			       : jl_arena_strdup(out.arena, item->path);
		path = replace_given(records, path);
		text = replace_given(records, redact_text(out.arena, item));
		JL_TRY(jl_got(path && text, err));
		replace_interfaces(path, &seen);
		replace_interfaces(text, &seen);
		zero_form(text, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh");
		zero_form(text, "hh:hh:hh:hh:hh:hh");
		status = jl_records_add(&out, path, item->kind, text, err);
	}
	if (!status)
		*ret_out = out;
	return status;
}
