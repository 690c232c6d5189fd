/* Reads torch.profiler traces as a stream of events. */
#include "import/kineto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/dynlib.h"
#include "base/mem.h"
#include "base/offered.h"

#define CHUNK_B ((size_t)256 << 10)
#define HEAD_B  ((size_t)64 << 10)

/* zlib also reads uncompressed files; without zlib only those are read. */
struct zlib {
	void *(*open)(const char *path, const char *mode);
	int (*read)(void *file, void *buf, unsigned size);
	int (*close)(void *file);
};
static const struct jl_dynlib_symbol symbols[] = {
	{ .name = "gzopen64", .offset = offsetof(struct zlib, open), .instead = "gzopen" },
	{ .name = "gzread", .offset = offsetof(struct zlib, read) },
	{ .name = "gzclose", .offset = offsetof(struct zlib, close) },
};

struct source {
	struct jl_dynlib lib;
	struct zlib z;
	void *zipped;
	FILE *plain;
};

static enum jl_status open_source(struct source *s, const char *path, struct jl_err *err)
{
	static const char *const names[] = { "libz.so.1", "libz.so", NULL };
	unsigned char magic[2] = { 0 };

	struct stat info;

	/* refused while a request is answered, because the path is untrusted; pipes are not waited for */
	*s = (struct source){ .plain = NULL };
	if (!jl_answering() && stat(path, &info) == 0 && S_ISREG(info.st_mode))
		s->plain = fopen(path, "rbe");
	if (!s->plain)
		return jl_fail(err, JL_E_IO, "%s: cannot be read", path);
	const bool zipped = fread(magic, 1, 2, s->plain) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
	rewind(s->plain);
	if (!zipped)
		return JL_OK;
	if (jl_dynlib_open(&s->lib, "JEOUL_ZLIB", names, symbols, JL_LEN(symbols), &s->z, err))
		return jl_fail(err, JL_E_ABSENT, "%s: gzipped, and zlib is not here: gunzip it, or install zlib1g",
			       path);
	s->zipped = s->z.open(path, "rb");
	return s->zipped ? JL_OK : jl_fail(err, JL_E_IO, "%s: cannot be read", path);
}

static size_t read_source(struct source *s, char *buf, size_t size)
{
	if (!s->zipped)
		return fread(buf, 1, size, s->plain);
	const int n = s->z.read(s->zipped, buf, (unsigned)size);
	return n > 0 ? (size_t)n : 0;
}

static void close_source(struct source *s)
{
	if (s->zipped)
		(void)s->z.close(s->zipped);
	if (s->plain)
		(void)fclose(s->plain);
	jl_dynlib_close(&s->lib);
}

/* Position after the string that begins at `at` (a quote); NULL: unterminated. */
static char *skip_string(char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : NULL;
}

/* Position after a value of any kind. */
static char *skip_value(char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (*at == '"') {
			at = skip_string(at);
			if (!at)
				return NULL;
			at--;
		} else if (*at == '{' || *at == '[') {
			depth++;
		} else if (*at == '}' || *at == ']') {
			if (depth-- == 0)
				return at;
		} else if (*at == ',' && depth == 0) {
			return at;
		}
	}
	return NULL;
}

static const struct {
	const char *key;
	bool is_text;
	size_t offset;
} keys[] = {
	{ "cat", true, offsetof(struct jl_kineto_event, category) },
	{ "name", true, offsetof(struct jl_kineto_event, name) },
	{ "ts", false, offsetof(struct jl_kineto_event, start_us) },
	{ "dur", false, offsetof(struct jl_kineto_event, took_us) },
	{ "tid", false, offsetof(struct jl_kineto_event, thread) },
	{ "correlation", false, offsetof(struct jl_kineto_event, correlation) },
	{ "External id", false, offsetof(struct jl_kineto_event, external_id) },
	{ "Input Dims", true, offsetof(struct jl_kineto_event, dims) },
};

static void take_value(struct jl_kineto_event *e, const char *key, size_t len, char *value, char *end)
{
	for (size_t i = 0; i < JL_LEN(keys); i++) {
		if (strlen(keys[i].key) != len || memcmp(keys[i].key, key, len) != 0)
			continue;
		if (!keys[i].is_text) {
			const double number = strtod(value, NULL);

			memcpy((char *)e + keys[i].offset, &number, sizeof(number));
			return;
		}
		if (*value == '"' && end[-1] == '"')
			end--;
		const char *text = *value == '"' ? value + 1 : value;
		*end = '\0';
		memcpy((char *)e + keys[i].offset, &text, sizeof(text));
		return;
	}
}

/* Reads the members of the object in `text` and of its "args"; modifies the text. False: not an object. */
static bool read_event(struct jl_kineto_event *e, char *text)
{
	char *at = text + 1;

	*e = (struct jl_kineto_event){ .category = "",
				       .name = "",
				       .dims = "",
				       .start_us = NAN,
				       .took_us = NAN,
				       .thread = NAN,
				       .correlation = NAN,
				       .external_id = NAN };
	while (*at) {
		char *key, *end, *behind, was;

		at += strspn(at, " \t\r\n,}");
		if (*at != '"')
			return !*at;
		key = at + 1;
		at = skip_string(at);
		if (!at)
			return false;
		end = at - 1;
		at += strspn(at, " \t\r\n:");
		if (*at == '{' && end - key == 4 && memcmp(key, "args", 4) == 0) {
			at++; /* its members are read like the event's */
			continue;
		}
		behind = skip_value(at);
		if (!behind)
			return false;
		was = *behind;
		char *last = behind;
		while (last > at && strchr(" \t\r\n", last[-1]))
			last--;
		take_value(e, key, (size_t)(end - key), at, last);
		at = behind + (was == ',' || was == '}');
	}
	return true;
}

struct reader {
	char *event; /* JL_KINETO_EVENT_MAX + 1 bytes */
	size_t len;
	int depth; /* nesting inside the array of events; 0: between events */
	bool in_string, escaped, too_long, inside;
	char head[HEAD_B];
	size_t head_len;
	jl_kineto_sink *sink;
	void *ctx;
};

static enum jl_status end_event(struct reader *r, struct jl_err *err)
{
	struct jl_kineto_event e;
	enum jl_status status = JL_OK;

	r->event[r->len] = '\0';
	if (!r->too_long && read_event(&e, r->event))
		status = r->sink(r->ctx, &e, err);
	r->len = 0;
	r->too_long = false;
	return status;
}

static void keep(struct reader *r, const char *text, size_t n)
{
	if (!r->depth)
		return;
	if (r->len + n > JL_KINETO_EVENT_MAX) {
		r->too_long = true;
		return;
	}
	memcpy(r->event + r->len, text, n);
	r->len += n;
}

/* Fast scan: outside strings only brackets and quotes matter, inside only quotes and backslashes. */
static enum jl_status take_block(struct reader *r, const char *buf, size_t n, struct jl_err *err)
{
	static const unsigned char stops[256] = { ['"'] = 3, ['\\'] = 2, ['{'] = 1, ['}'] = 1, ['['] = 1, [']'] = 1 };
	enum jl_status status = JL_OK;

	for (size_t i = 0; i < n && r->inside && !status;) {
		const size_t from = i;
		const unsigned char mask = r->in_string ? 2 : 1;

		if (r->escaped) {
			r->escaped = false;
			keep(r, buf + i++, 1);
			continue;
		}
		while (i < n && !(stops[(unsigned char)buf[i]] & mask))
			i++;
		keep(r, buf + from, i - from);
		if (i == n)
			break;
		const char c = buf[i++];
		r->depth += !r->in_string && (c == '{' || c == '[');
		keep(r, &c, 1);
		if (c == '\\')
			r->escaped = true;
		else if (c == '"')
			r->in_string = !r->in_string;
		else if (c == '}' || c == ']') {
			if (r->depth == 0)
				r->inside = false;
			else if (--r->depth == 0)
				status = end_event(r, err);
		}
	}
	return status;
}

/* Bytes before the array of events, which describe the machine. Returns how many of `buf` belong to it. */
static size_t take_head(struct reader *r, const char *buf, size_t n)
{
	const size_t room = HEAD_B - 1 - r->head_len, take = n < room ? n : room, before = r->head_len;
	char *found;

	memcpy(r->head + r->head_len, buf, take);
	r->head_len += take;
	r->head[r->head_len] = '\0';
	found = strstr(r->head, "\"traceEvents\"");
	found = found ? strchr(found, '[') : NULL;
	if (!found)
		return take;
	r->inside = true;
	*found = '\0';
	return (size_t)(found + 1 - r->head) - before;
}

static void find_gpu(const char *head, char *ret_gpu, size_t size)
{
	const char *at = strstr(head, "\"deviceProperties\"");

	at = at ? strstr(at, "\"name\": \"") : NULL;
	ret_gpu[0] = '\0';
	if (at)
		(void)snprintf(ret_gpu, size, "%.*s", (int)strcspn(at + 9, "\""), at + 9);
}

bool jl_kineto_is(const char *path)
{
	struct source s;
	char head[4096];
	size_t n = 0;

	if (open_source(&s, path, NULL) == JL_OK)
		n = read_source(&s, head, sizeof(head) - 1);
	close_source(&s);
	head[n] = '\0';
	return strlen(head) == n && head[strspn(head, " \t\r\n")] == '{' &&
	       (strstr(head, "\"traceEvents\"") ||
		(strstr(head, "\"schemaVersion\"") && strstr(head, "\"deviceProperties\"")));
}

enum jl_status jl_kineto_read(const char *path, char *ret_gpu, size_t gpu_size, jl_kineto_sink *sink, void *ctx,
			      struct jl_err *err)
{
	struct reader *r = jl_realloc(NULL, sizeof(*r));
	char *buf = jl_realloc(NULL, CHUNK_B), *event = jl_realloc(NULL, JL_KINETO_EVENT_MAX + 1);
	struct source s = { .plain = NULL };
	enum jl_status status = r && buf && event ? open_source(&s, path, err) : jl_fail_nomem(err);
	bool began = false;

	if (!status)
		*r = (struct reader){ .event = event, .sink = sink, .ctx = ctx };
	for (size_t n; !status && (n = read_source(&s, buf, CHUNK_B)) > 0;) {
		size_t i = 0;

		if (!began && r->head_len < HEAD_B - 1) {
			i = take_head(r, buf, n);
			began = r->inside;
		}
		if (r->inside)
			status = take_block(r, buf + i, n - i, err);
	}
	if (!status && (!began || r->depth > 0))
		status = jl_fail(err, JL_E_PARSE,
				 began ? "%s: ends in the middle of an event"
				       : "%s: no \"traceEvents\": not a profiler's trace",
				 path);
	if (!status)
		find_gpu(r->head, ret_gpu, gpu_size);
	close_source(&s);
	jl_free(event);
	jl_free(buf);
	jl_free(r);
	return status;
}
