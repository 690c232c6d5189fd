/* Sources of a machine's facts: live, or replayed from a capture. */
#include "probe/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "probe/nvml_json.h"
#include "probe/rocm_smi.h"
#include "probe/records.h"

#define ASKED_PATH_MAX 1024
#define ARCH_PATH      "/proc/sys/kernel/arch"
#define CONFIG_B       4096 /* configuration space of a PCI Express device */

struct jl_probe_source {
	bool live;
	struct jl_arena *arena;
	struct jl_records records;
	struct jl_nvml_snapshot *nvml; /* in the arena, because machines refer to it */
	bool nvml_done;
	enum jl_status failed;
	struct jl_err err;
};

static enum jl_status create(struct jl_probe_source **ret_source, struct jl_arena *arena, bool live, struct jl_err *err)
{
	struct jl_probe_source *source = jl_realloc(NULL, sizeof(*source));

	JL_TRY(jl_got(source, err));
	memset(source, 0, sizeof(*source));
	source->live = live;
	source->arena = source->records.arena = arena;
	source->nvml = jl_arena_alloc(arena, sizeof(*source->nvml));
	if (!source->nvml) {
		jl_free(source);
		return jl_fail_nomem(err);
	}
	*ret_source = source;
	return JL_OK;
}

enum jl_status jl_source_live(struct jl_probe_source **ret_source, struct jl_arena *arena, struct jl_err *err)
{
	return create(ret_source, arena, true, err);
}

void jl_source_destroy(struct jl_probe_source *source)
{
	jl_free(source);
}

static enum jl_status replay_nvml(struct jl_probe_source *source, const char *name, const char *text, size_t len,
				  struct jl_err *err)
{
	source->nvml_done = true;
	if (text)
		return jl_nvml_parse(source->nvml, name, text, len, source->arena, err);
	source->nvml->cuda = -1;
	jl_msg_print(source->nvml->absent_en, source->nvml->absent_text, sizeof(source->nvml->absent_en),
		     JL_N("the capture has no nvml.json"));
	return JL_OK;
}

enum jl_status jl_source_replay_text(struct jl_probe_source **ret_source, const char *name, const char *text,
				     size_t len, const char *nvml_json, size_t nvml_len, struct jl_arena *arena,
				     struct jl_err *err)
{
	struct jl_probe_source *source = NULL;
	enum jl_status status = create(&source, arena, false, err);

	JL_THEN(status, jl_records_parse(&source->records, name, text, len, err));
	JL_THEN(status, replay_nvml(source, "nvml.json", nvml_json, nvml_len, err));
	if (status)
		jl_source_destroy(source);
	else
		*ret_source = source;
	return status;
}

/* Reads a regular file of a capture; symbolic link loops, pipes and devices are refused before reading. */
static enum jl_status read_part(const char *dir, const char *file, struct jl_buf *ret_buf, struct jl_err *err)
{
	char path[4096];
	struct stat info;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, file) >= sizeof(path))
		return jl_fail(err, JL_E_USAGE, "--from: the path is too long");
	if (stat(path, &info) != 0)
		return jl_fail(err, JL_E_IO, "%.300s: {%s}; --from takes a folder that --capture has made", path,
			       strerror(errno));
	if (!S_ISREG(info.st_mode))
		return jl_fail(err, JL_E_IO, "%.300s is not a plain file", path);
	return jl_buf_read_own(ret_buf, path, JL_SOURCE_CAPTURE_MAX_B, err);
}

enum jl_status jl_source_replay(struct jl_probe_source **ret_source, const char *dir, struct jl_arena *arena,
				struct jl_err *err)
{
	struct jl_buf text = { 0 }, nvml = { 0 };
	char path[4096];
	struct stat info;
	enum jl_status status = JL_OK;

	JL_TRY(read_part(dir, "machine.txt", &text, err));
	snprintf(path, sizeof(path), "%s/nvml.json", dir);
	bool has_nvml = lstat(path, &info) == 0;
	if (has_nvml)
		status = read_part(dir, "nvml.json", &nvml, err);
	snprintf(path, sizeof(path), "%.4000s/machine.txt", dir);
	JL_THEN(status, jl_source_replay_text(ret_source, path, jl_buf_text(&text), text.len,
					      has_nvml ? jl_buf_text(&nvml) : NULL, nvml.len, arena, err));
	jl_buf_release(&text);
	jl_buf_release(&nvml);
	return status;
}

enum jl_status jl_source_failed(const struct jl_probe_source *source, struct jl_err *err)
{
	if (source->failed && err)
		*err = source->err;
	return source->failed;
}

/* Linux has a file for it since 6.1; older kernels need uname. */
static const char *arch_live(struct jl_probe_source *source)
{
	struct utsname name;

	return uname(&name) == 0 ? jl_arena_strdup(source->arena, name.machine) : NULL;
}

/* Reads a file up to the limit; removes trailing line ends and control characters. NULL: unreadable. */
static const char *read_live(struct jl_probe_source *source, const char *path)
{
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	size_t len = 0, room = 4096;
	char *text = NULL;
	const char *kept = NULL;
	struct stat info;

	if (file < 0)
		return strcmp(path, ARCH_PATH) == 0 ? arch_live(source) : NULL;
	if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
		goto out;
	for (;;) {
		char *more = jl_realloc(text, room + 1);

		if (!more) {
			source->failed = jl_fail_nomem(&source->err);
			goto out;
		}
		text = more;
		ssize_t n = read(file, text + len, room - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			goto out; /* a link that is down has no speed: reading fails */
		len += (size_t)n;
		if (n == 0 || len >= JL_SOURCE_FILE_MAX_B)
			break;
		if (len == room)
			room *= 2;
	}
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\0'))
		len--;
	text[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	jl_utf8_sanitize(text);
	kept = jl_arena_strdup(source->arena, text);
	if (!kept)
		source->failed = jl_fail_nomem(&source->err);
out:
	jl_free(text);
	close(file);
	return kept;
}

static const char *link_live(struct jl_probe_source *source, const char *path)
{
	char target[ASKED_PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n <= 0)
		return NULL;
	target[n] = '\0';
	jl_utf8_sanitize(target);
	return strpbrk(target, " \n\t") ? NULL : jl_arena_strdup(source->arena, target);
}

static const char *list_live(struct jl_probe_source *source, const char *path)
{
	DIR *folder = opendir(path);
	const char **names = NULL;
	const struct dirent *entry;
	size_t n = 0;
	struct jl_buf text;
	const char *kept = NULL;

	if (!folder)
		return NULL;
	jl_buf_init(&text, JL_SOURCE_FILE_MAX_B);
	names = jl_arena_array(source->arena, JL_SOURCE_LIST_MAX, sizeof(*names));
	while (names && n < JL_SOURCE_LIST_MAX && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.' || strchr(entry->d_name, '\n'))
			continue;
		names[n] = jl_arena_strdup(source->arena, entry->d_name);
		if (!names[n])
			break;
		n++;
	}
	closedir(folder);
	if (names)
		qsort(names, n, sizeof(*names), jl_by_text);
	for (size_t i = 0; names && i < n; i++)
		jl_buf_printf(&text, "%s%s", i ? "\n" : "", names[i]);
	if (names && !text.failed)
		kept = jl_arena_strdup(source->arena, jl_buf_text(&text));
	jl_buf_release(&text);
	return kept;
}

/* Searches the extended capabilities in a device's configuration space; without root only 64 bytes are readable, and the result is unknown. */
static const char *acs_live(struct jl_probe_source *source, const char *device_path)
{
	enum { EXTENDED = 0x100, ACS = 0x0d, CONTROL = 6, STEPS_MAX = 96 };
	unsigned char config[CONFIG_B];
	char path[ASKED_PATH_MAX];
	size_t at = EXTENDED;

	snprintf(path, sizeof(path), "%.*s/config", ASKED_PATH_MAX - 16, device_path);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return NULL;
	ssize_t n = pread(file, config, sizeof(config), 0);
	close(file);
	if (n < (ssize_t)sizeof(config))
		return NULL;
	for (int step = 0; at >= EXTENDED && at + 8 <= CONFIG_B && step < STEPS_MAX; step++) {
		unsigned head = config[at] | (unsigned)config[at + 1] << 8 | (unsigned)config[at + 2] << 16 |
				(unsigned)config[at + 3] << 24;

		if ((head & 0xffff) == ACS)
			return jl_arena_printf(source->arena, "0x%04x",
					       config[at + CONTROL] | (unsigned)config[at + CONTROL + 1] << 8);
		at = head >> 20 & ~3u;
	}
	return "none";
}

static const char *ask(struct jl_probe_source *source, const char *path, enum jl_asked_kind kind,
		       const char *(*live)(struct jl_probe_source *, const char *), const char *key)
{
	const struct jl_asked_path *known = jl_records_find(&source->records, key, kind);

	if (known)
		return known->text;
	if (!source->live || source->failed)
		return NULL;
	const char *text = live(source, path);
	enum jl_status status = jl_records_add(&source->records, key, kind, text, &source->err);
	if (status)
		source->failed = status;
	return text;
}

const char *jl_source_ask(struct jl_probe_source *source, enum jl_asked_kind kind, const char *format, ...)
{
	static const char *(*const live[])(struct jl_probe_source *, const char *) = {
		[JL_ANSWER_FILE] = read_live, [JL_ANSWER_LIST] = list_live, [JL_ANSWER_LINK] = link_live
	};
	char path[ASKED_PATH_MAX];
	va_list args;

	va_start(args, format);
	int n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return n > 0 && (size_t)n < sizeof(path) ? ask(source, path, kind, live[kind], path) : NULL;
}

const char *jl_source_acs(struct jl_probe_source *source, const char *device_path)
{
	char key[ASKED_PATH_MAX];

	snprintf(key, sizeof(key), "%.*s/acs", ASKED_PATH_MAX - 16, device_path);
	return ask(source, device_path, JL_ANSWER_FILE, acs_live, key);
}

const struct jl_nvml_snapshot *jl_source_nvml(struct jl_probe_source *source, jl_link_load *load)
{
	struct jl_nvml_snapshot amd;
	struct jl_nvml *nvml = NULL;
	struct jl_err err = { 0 };

	if (source->nvml_done)
		return source->nvml;
	source->nvml_done = true;
	source->nvml->cuda = -1;
	enum jl_status status = jl_nvml_open(&nvml, &err);
	JL_THEN(status, jl_nvml_read(nvml, source->arena, source->nvml, &err));
	if (status || !source->nvml->n_gpus) {
		struct jl_err why = { 0 };
		const enum jl_status said = jl_rocm_smi_read(source->arena, &amd, &why);

		if (said == JL_OK && amd.n_gpus) {
			jl_nvml_close(nvml);
			*source->nvml = amd;
			return source->nvml;
		}
		if (said && jl_rocm_smi_wanted() &&
		    !getenv("JEOUL_NVML")) /* AMD's driver is loaded, or its library named */
			err = why;
	}
	if (!status && load)
		load(nvml, source->nvml);
	if (status) {
		snprintf(source->nvml->absent_en, sizeof(source->nvml->absent_en), "%.255s", err.en);
		snprintf(source->nvml->absent_text, sizeof(source->nvml->absent_text), "%.255s", err.text);
		jl_utf8_sanitize(source->nvml->absent_en);
		jl_utf8_sanitize(source->nvml->absent_text);
	}
	jl_nvml_close(nvml);
	return source->nvml;
}

static enum jl_status write_part(const char *dir, const char *file, const struct jl_buf *text, struct jl_err *err)
{
	char path[4096];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, file) >= sizeof(path))
		return jl_fail(err, JL_E_USAGE, "--capture: the path is too long");
	return jl_buf_write_file(text, path, err);
}

enum jl_status jl_source_capture(struct jl_probe_source *source, const char *dir, bool with_names, struct jl_err *err)
{
	struct jl_records kept = source->records;
	struct jl_buf text, nvml;

	JL_TRY(with_names ? JL_OK : jl_redact(&source->records, &kept, err));
	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return jl_fail(err, JL_E_IO, "--capture: %.300s: {%s}", dir, strerror(errno));
	jl_buf_init(&text, JL_SOURCE_CAPTURE_MAX_B);
	jl_buf_init(&nvml, JL_SOURCE_CAPTURE_MAX_B);
	jl_records_write(&kept, &text);
	jl_nvml_write(&nvml, jl_source_nvml(source, false), with_names);
	enum jl_status status = write_part(dir, "machine.txt", &text, err);
	JL_THEN(status, write_part(dir, "nvml.json", &nvml, err));
	jl_buf_release(&text);
	jl_buf_release(&nvml);
	return status;
}
