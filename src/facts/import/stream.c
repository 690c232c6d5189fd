/* Splits the input into lines and JSON documents and passes them to the importers. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/json_read.h"
#include "base/mem.h"
#include "base/offered.h"
#include "base/utf8.h"
#include "import/format.h"

#define CHUNK_B       ((size_t)64 << 10)
#define LINE_KEPT_MAX 2000 /* bytes of a line stored in its record */
/* limits for endless input: bytes of one line, bytes without anything recognised */
#define ENDLESS_LINE_B    ((size_t)256 << 20)
#define ENDLESS_NOTHING_B 17179869184.0

struct jl_importer {
	struct jl_import_options options;
	const struct jl_import_sink *sink;
	struct jl_import_count count;
	struct jl_err err;
	enum jl_status status; /* sticky: the first error */
	size_t n_remarks, n_same;
	bool has_steps;        /* the sink takes steps, so a log without records is valid */
	char last_remark[400]; /* repeated remarks are reported once */
	void *states[JL_IMPORT_FORMATS_MAX];
	/* current line: */
	char *line;
	size_t len, number, line_B; /* bytes stored; line number; length so far */
	bool too_long, binary;
	/* or current document: */
	struct jl_json_scan scan;
	struct jl_buf json;
	bool in_json;
	size_t json_line, json_tail; /* line of its start; offset of its current line in `json` */
	struct jl_buf draft;         /* a record without id, from which the id is computed */
};

const struct jl_import_options *jl_importer_options(const struct jl_importer *imp)
{
	return &imp->options;
}

void jl_importer_fail(struct jl_importer *imp, enum jl_status status, const struct jl_err *err)
{
	if (imp->status)
		return;
	imp->status = status;
	imp->err = *err;
}

void jl_importer_seen(struct jl_importer *imp, const char *format)
{
	for (size_t i = 0; i < imp->count.n_formats; i++)
		if (strcmp(imp->count.formats[i], format) == 0)
			return;
	if (imp->count.n_formats < JL_IMPORT_FORMATS_MAX)
		imp->count.formats[imp->count.n_formats++] = format;
}

static void say_same(struct jl_importer *imp)
{
	char text[64];

	if (!imp->n_same || !imp->sink->remark)
		return;
	jl_format(text, sizeof(text), JL_("the same, %zu more"), imp->n_same);
	imp->sink->remark(imp->sink->ctx, 0, text);
	imp->n_same = 0;
}

void jl_importer_remark(struct jl_importer *imp, size_t line, bool dropped, const char *format, ...)
{
	char text[400];
	va_list args;

	imp->count.n_dropped += dropped;
	va_start(args, format);
	jl_vformat(text, sizeof(text), jl_msg(format), args);
	va_end(args);
	jl_utf8_sanitize(text);
	if (strcmp(text, imp->last_remark) == 0) {
		imp->n_same++;
		return;
	}
	if (imp->n_remarks <= JL_IMPORT_REMARKS_MAX)
		say_same(imp);
	imp->n_same = 0;
	memcpy(imp->last_remark, text, sizeof(imp->last_remark));
	if (++imp->n_remarks <= JL_IMPORT_REMARKS_MAX && imp->sink->remark)
		imp->sink->remark(imp->sink->ctx, line, text);
}

/* Copy as valid UTF-8 without control characters, truncated to LINE_KEPT_MAX. */
static void clean_copy(char out[LINE_KEPT_MAX + 1], const char *text)
{
	size_t n = strnlen(text, LINE_KEPT_MAX);

	memcpy(out, text, n);
	out[n] = '\0';
	jl_utf8_sanitize(out);
	for (char *c = out; *c; c++)
		if (*c == '\n')
			*c = ' ';
}

void jl_importer_step(struct jl_importer *imp, const struct jl_run_step *step)
{
	if (!imp->sink->step)
		return;
	imp->sink->step(imp->sink->ctx, step);
	imp->has_steps = true;
}

void jl_importer_pause(struct jl_importer *imp, const struct jl_run_pause *pause)
{
	if (imp->sink->pause)
		imp->sink->pause(imp->sink->ctx, pause);
}

void jl_importer_emit(struct jl_importer *imp, const struct jl_draft *d)
{
	char id[JL_RECORD_ID_LEN + 1] = "", text[LINE_KEPT_MAX + 1], source[1200];
	struct jl_record r = jl_draft_record(d);
	struct jl_err err = { .en = "" };

	if (imp->status)
		return;
	r.id = id;
	r.time_s = isfinite(d->time_s) ? d->time_s : imp->options.time_s;
	r.origin = "imported";
	r.line = d->text ? text : NULL;
	if (d->text)
		clean_copy(text, d->text);
	(void)snprintf(source, sizeof(source), d->last_line > d->line ? "%.1000s:%zu-%zu" : "%.1000s:%zu",
		       imp->options.name, d->line, d->last_line);
	jl_utf8_sanitize(source);
	/* the id depends on the measurement and its place in the log, not on the file's path or the importing user */
	jl_buf_reset(&imp->draft);
	jl_record_write(&r, &imp->draft);
	jl_buf_printf(&imp->draft, "%zu", d->line);
	if (imp->draft.failed) {
		jl_importer_fail(imp, jl_fail_nomem(&err), &err);
		return;
	}
	jl_record_content_id(id, r.time_s, 2 * d->line + d->second, imp->draft.data, imp->draft.len);
	r.run = imp->options.run;
	r.machine = imp->options.machine;
	r.machine_name = imp->options.machine_name;
	r.source = source;
	r.note = imp->options.note;
	if (jl_record_check(&r, &err)) {
		jl_importer_remark(imp, d->line, true, "not taken: %s", err.text);
		return;
	}
	imp->count.n_records++;
	if (imp->sink->record(imp->sink->ctx, &r, &err))
		jl_importer_fail(imp, err.status ? err.status : JL_E_IO, &err);
}

/* A jeoul record in its exchange format. */
static bool take_record(struct jl_importer *imp, const json_t *root, const char *text, size_t len)
{
	struct jl_record record;
	struct jl_arena arena;
	struct jl_err err = { .en = "" };

	if (!json_object_get(root, "record_version"))
		return false;
	jl_importer_seen(imp, "jeoul");
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_record_read(text, len, &arena, &record, &err)) {
		jl_importer_remark(imp, imp->json_line, true, "not taken: %s", err.text);
	} else {
		imp->count.n_records++;
		if (imp->sink->record(imp->sink->ctx, &record, &err))
			jl_importer_fail(imp, err.status ? err.status : JL_E_IO, &err);
	}
	jl_arena_release(&arena);
	return true;
}

/* Removes ESC [ ... letter, ESC ] ... BEL, ESC x, in place. */
static size_t strip_colours(char *text, size_t len)
{
	size_t out = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\033') {
			text[out++] = text[i];
			continue;
		}
		i++;
		if (i < len && text[i] == '[') {
			for (i++; i < len && !(text[i] >= '@' && text[i] <= '~'); i++)
				;
		} else if (i < len && text[i] == ']') {
			for (i++; i < len && text[i] != '\a' && text[i] != '\033'; i++)
				;
		}
	}
	text[out] = '\0';
	return out;
}

/* Length of a launcher's prefix: "[1,0]<stdout>: " (mpirun --tag-output), "0: " (srun --label), "node1: 0: ". */
static size_t launcher_prefix(const char *text)
{
	size_t at = 0, n;

	if (text[0] == '[') {
		at = 1 + strspn(text + 1, "0123456789,");
		if (at > 3 && strncmp(text + at, "]<std", 5) == 0) {
			n = strcspn(text + at, ">");
			at += n;
			if (text[at] == '>')
				return at + 1 + strspn(text + at + 1, ":");
		}
		return 0;
	}
	at = strspn(text, " ");
	n = strspn(text + at, "0123456789");
	if (n > 0 && n < 7 && text[at + n] == ':' && text[at + n + 1] == ' ')
		return at + n + 2;
	return 0;
}

static bool offer_line(struct jl_importer *imp, const struct jl_line *line)
{
	for (size_t i = 0; jl_formats[i] && line->len; i++)
		if (jl_formats[i]->line && jl_formats[i]->line(imp, imp->states[i], line))
			return true;
	return false;
}

static void give_line(struct jl_importer *imp, bool torn)
{
	struct jl_line line = { .number = imp->number, .torn = torn };

	if (imp->len == 0 || imp->binary || imp->status)
		goto done;
	if (imp->too_long)
		goto done; /* no known tool writes such lines: data, not a report */
	imp->len = strip_colours(imp->line, imp->len);
	line.text = imp->line;
	line.len = imp->len;
	/* before prefixes are removed: a user-given pattern may begin with what looks like one */
	if (imp->options.pattern && offer_line(imp, &line))
		goto done;
	size_t skip = launcher_prefix(imp->line);
	line.text += skip;
	line.len -= skip;
	if (skip || !imp->options.pattern)
		(void)offer_line(imp, &line);
done:
	imp->len = imp->line_B = 0;
	imp->too_long = imp->binary = false;
}

static void add_to_line(struct jl_importer *imp, const char *data, size_t len)
{
	size_t room = JL_IMPORT_LINE_MAX_B - imp->len;

	imp->line_B += len;
	if (len > room) {
		imp->too_long = true;
		len = room;
	}
	imp->binary |= memchr(data, '\0', len) != NULL;
	memcpy(imp->line + imp->len, data, len);
	imp->len += len;
	imp->line[imp->len] = '\0';
}

static void give_json(struct jl_importer *imp)
{
	json_error_t why;
	json_t *root = jl_json_load(imp->json.data, imp->json.len, 0, &why);
	bool taken = false;

	if (!root) {
		jl_importer_remark(imp, imp->json_line, true, "JSON that cannot be read: %s", why.text);
		return;
	}
	if (json_is_object(root) && !imp->status) {
		taken = take_record(imp, root, imp->json.data, imp->json.len);
		for (size_t i = 0; jl_formats[i] && !taken; i++)
			taken = jl_formats[i]->json && jl_formats[i]->json(imp, root, imp->json_line);
	}
	json_decref(root);
}

/* Not a document (a lone brace in binary data or prose): processes the current line as text. Earlier lines are lost, with a remark if they contain
 * a key. */
static void leave_json(struct jl_importer *imp)
{
	imp->in_json = false;
	if (imp->number > imp->json_line && memchr(imp->json.data, '"', imp->json.len))
		jl_importer_remark(imp, imp->json_line, true,
				   "JSON that begins here breaks off in line %zu; nothing was taken from it",
				   imp->number);
	imp->len = 0;
	add_to_line(imp, imp->json.data + imp->json_tail, imp->json.len - imp->json_tail);
	jl_buf_reset(&imp->json);
}

static bool only_blanks(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] != ' ' && text[i] != '\t')
			return false;
	return true;
}

/* Processes bytes of a document; returns how many were used. */
static size_t feed_json(struct jl_importer *imp, const char *data, size_t len)
{
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		enum jl_json_state state = jl_json_scan(&imp->scan, data[i]);

		if (state == JL_JSON_BAD || imp->json.len + i - from >= JL_IMPORT_JSON_MAX_B) {
			jl_buf_add(&imp->json, data + from, i - from);
			leave_json(imp);
			return i;
		}
		if (data[i] == '\n') {
			imp->number++;
			jl_buf_add(&imp->json, data + from, i + 1 - from);
			from = i + 1;
			imp->json_tail = imp->json.len;
		}
		if (state == JL_JSON_DONE) {
			jl_buf_add(&imp->json, data + from, i + 1 - from);
			if (imp->json.failed)
				jl_importer_fail(imp, jl_fail_nomem(&imp->err), &imp->err);
			else
				give_json(imp);
			jl_buf_reset(&imp->json);
			imp->in_json = false;
			return i + 1;
		}
	}
	jl_buf_add(&imp->json, data + from, len - from);
	return len;
}

/* Processes bytes of a line up to its end; returns how many were used. */
static size_t feed_line(struct jl_importer *imp, const char *data, size_t len)
{
	size_t n = 0;

	if (data[0] == '{' && only_blanks(imp->line, imp->len)) {
		imp->in_json = true;
		imp->scan = (struct jl_json_scan){ 0 };
		imp->json_line = imp->number;
		imp->json_tail = 0;
		jl_buf_reset(&imp->json);
		return 0;
	}
	/* up to the end of the line, or to a brace that may begin a document */
	while (n < len && data[n] != '\n' && data[n] != '\r' &&
	       !(data[n] == '{' && only_blanks(data, n) && only_blanks(imp->line, imp->len)))
		n++;
	add_to_line(imp, data, n);
	if (n < len && data[n] != '{') {
		give_line(imp, false);
		imp->number += data[n] == '\n'; /* progress bars end lines with a carriage return */
		n++;
	}
	return n;
}

static enum jl_status check_encoding(const struct jl_importer *imp, const char *data, size_t len, struct jl_err *err)
{
	const unsigned char *b = (const unsigned char *)data;

	if (len >= 2 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff)))
		return jl_fail(err, JL_E_DATA,
			       "%s: the text is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 FILE",
			       imp->options.name);
	return JL_OK;
}

static void refuse_endless(struct jl_importer *imp)
{
	struct jl_err err;

	if (imp->line_B > ENDLESS_LINE_B)
		jl_importer_fail(imp,
				 jl_fail(&err, JL_E_LIMIT, "%s:%zu: a line of more than %zu MiB: not a log",
					 imp->options.name, imp->number, ENDLESS_LINE_B >> 20),
				 &err);
	else if (imp->count.size_B > ENDLESS_NOTHING_B && !imp->count.n_records)
		jl_importer_fail(imp,
				 jl_fail(&err, JL_E_LIMIT, "%s: nothing recognised in the first %.0f GiB",
					 imp->options.name, ENDLESS_NOTHING_B / 1073741824.0),
				 &err);
}

static void read_all(struct jl_importer *imp, const struct jl_import_reader *reader)
{
	char *chunk = jl_realloc(NULL, CHUNK_B);
	struct jl_err err;
	bool first = true;

	if (!chunk)
		jl_importer_fail(imp, jl_fail_nomem(&err), &err);
	while (!imp->status) {
		ssize_t got = reader->read(reader->ctx, chunk, CHUNK_B);
		size_t at = 0;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			jl_importer_fail(
				imp,
				jl_fail(&err, JL_E_IO, "%s: cannot be read: {%s}", imp->options.name, strerror(errno)),
				&err);
		if (got <= 0)
			break;
		if (first && check_encoding(imp, chunk, (size_t)got, &err))
			jl_importer_fail(imp, err.status, &err);
		if (first && got >= 3 && memcmp(chunk, "\xef\xbb\xbf", 3) == 0)
			at = 3;
		first = false;
		imp->count.size_B += (double)got;
		if (jl_budget_spend((unsigned)got / 64))
			jl_importer_fail(imp, jl_budget_fail(&err), &err);
		while (at < (size_t)got && !imp->status)
			at += imp->in_json ? feed_json(imp, chunk + at, (size_t)got - at)
					   : feed_line(imp, chunk + at, (size_t)got - at);
		refuse_endless(imp);
	}
	jl_free(chunk);
}

static void finish(struct jl_importer *imp)
{
	if (imp->in_json && !imp->status)
		jl_importer_remark(imp, imp->json_line, true,
				   "JSON that begins here is cut off; nothing was taken from it");
	else if (imp->len > 0)
		give_line(imp, true);
	imp->count.n_lines = imp->number - 1 + (imp->len > 0 || imp->in_json);
	for (size_t i = 0; jl_formats[i]; i++)
		if (jl_formats[i]->end)
			jl_formats[i]->end(imp, imp->states[i]);
	if (imp->n_remarks <= JL_IMPORT_REMARKS_MAX)
		say_same(imp);
	if (imp->n_remarks > JL_IMPORT_REMARKS_MAX && imp->sink->remark) {
		char text[64];

		jl_format(text, sizeof(text), JL_("and %zu more remarks"), imp->n_remarks - JL_IMPORT_REMARKS_MAX);
		imp->sink->remark(imp->sink->ctx, 0, text);
	}
}

static enum jl_status nothing_found(const struct jl_importer *imp, struct jl_err *err)
{
	char known[400] = "";
	size_t at = 0;

	if (imp->count.n_formats)
		return jl_fail(err, JL_E_DATA, "%s: looks like %s, but nothing in it is complete enough to be taken",
			       imp->options.name, imp->count.formats[0]);
	for (size_t i = 0; jl_import_known[i] && at < sizeof(known) - 60; i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "", jl_import_known[i]);
	return jl_fail(err, JL_E_DATA, "%s: not recognised. Supported: %s; for other lines use --pattern",
		       imp->options.name, known);
}

static enum jl_status set_up(struct jl_importer *imp, struct jl_err *err)
{
	imp->line = jl_realloc(NULL, JL_IMPORT_LINE_MAX_B + 1);
	JL_TRY(jl_got(imp->line, err));
	imp->line[0] = '\0';
	imp->number = 1;
	for (size_t i = 0; jl_formats[i]; i++) {
		if (!jl_formats[i]->state_B)
			continue;
		imp->states[i] = jl_realloc(NULL, jl_formats[i]->state_B);
		if (!imp->states[i])
			return jl_fail_nomem(err);
		memset(imp->states[i], 0, jl_formats[i]->state_B);
	}
	return JL_OK;
}

enum jl_status jl_import_stream(const struct jl_import_reader *reader, const struct jl_import_options *options,
				const struct jl_import_sink *sink, struct jl_import_count *ret_count,
				struct jl_err *err)
{
	struct jl_importer imp = { .options = *options, .sink = sink };

	if (!imp.options.name)
		imp.options.name = "-";
	if (!isfinite(imp.options.time_s))
		imp.options.time_s = jl_record_now_s();
	jl_buf_init(&imp.json, JL_IMPORT_JSON_MAX_B + CHUNK_B);
	jl_buf_init(&imp.draft, JL_RECORD_TEXT_MAX_B);
	enum jl_status status = set_up(&imp, err);
	if (!status) {
		read_all(&imp, reader);
		finish(&imp);
		status = imp.status;
		if (status && err)
			*err = imp.err;
		if (!status && imp.count.n_records == 0 && !imp.has_steps)
			status = nothing_found(&imp, err);
	}
	for (size_t i = 0; jl_formats[i]; i++)
		jl_free(imp.states[i]);
	jl_free(imp.line);
	jl_buf_release(&imp.json);
	jl_buf_release(&imp.draft);
	if (!status)
		*ret_count = imp.count;
	return status;
}

struct rest {
	const char *text;
	size_t len;
};

static ssize_t read_text(void *ctx, void *buf, size_t size)
{
	struct rest *rest = ctx;
	const size_t n = size < rest->len ? size : rest->len;

	memcpy(buf, rest->text, n);
	rest->text += n;
	rest->len -= n;
	return (ssize_t)n;
}

static enum jl_status import_offered(const struct jl_offered *file, const char *path,
				     const struct jl_import_options *options, const struct jl_import_sink *sink,
				     struct jl_import_count *ret_count, struct jl_err *err)
{
	struct rest rest = { 0 };
	struct jl_import_reader reader = { .read = read_text, .ctx = &rest };

	if (!file)
		return jl_offered_fail(path, err);
	rest = (struct rest){ file->text, file->len };
	return jl_import_stream(&reader, options, sink, ret_count, err);
}

static ssize_t read_fd(void *ctx, void *buf, size_t size)
{
	return read(*(int *)ctx, buf, size);
}

enum jl_status jl_import_file(const char *path, const struct jl_import_options *options,
			      const struct jl_import_sink *sink, struct jl_import_count *ret_count, struct jl_err *err)
{
	struct jl_import_options own = *options;
	bool is_stdin = strcmp(path, "-") == 0;
	const struct jl_offered *file;
	int fd;
	struct jl_import_reader reader = { .read = read_fd, .ctx = &fd };
	struct stat info;

	if (!own.name)
		own.name = path;
	if (jl_offered(&file, path))
		return import_offered(file, path, &own, sink, ret_count, err);
	fd = STDIN_FILENO;
	if (!is_stdin)
		JL_TRY(jl_input_open(&fd, path, err));
	if (!isfinite(own.time_s) && fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
		own.time_s = (double)info.st_mtim.tv_sec;
	enum jl_status status = jl_import_stream(&reader, &own, sink, ret_count, err);
	if (!is_stdin)
		(void)close(fd);
	return status;
}
