/* Stores queries to a source and their answers. */
#include "probe/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "probe/source.h"

#define HEADER     "jeoul capture 1"
#define PATH_MAX_B 1024

static int compare(const char *path_a, enum jl_asked_kind kind_a, const char *path_b, enum jl_asked_kind kind_b)
{
	int order = strcmp(path_a, path_b);

	return order ? order : (int)kind_a - (int)kind_b;
}

/* Index of the record, or its insertion point. */
static size_t place(const struct jl_records *records, const char *path, enum jl_asked_kind kind, bool *ret_found)
{
	size_t low = 0, high = records->n;

	*ret_found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct jl_asked_path *item = &records->items[middle];
		int order = compare(item->path, item->kind, path, kind);

		if (order == 0) {
			*ret_found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct jl_asked_path *jl_records_find(const struct jl_records *records, const char *path, enum jl_asked_kind kind)
{
	bool found;
	size_t i = place(records, path, kind, &found);

	return found ? &records->items[i] : NULL;
}

static enum jl_status insert(struct jl_records *records, const struct jl_asked_path *item, struct jl_err *err)
{
	bool found;
	size_t i = place(records, item->path, item->kind, &found);

	if (found)
		return JL_OK; /* the first answer is kept */
	if (records->n == records->room) {
		size_t room = records->room ? 2 * records->room : 256;
		struct jl_asked_path *items;

		if (room > JL_SOURCE_RECORDS_MAX)
			return jl_fail(err, JL_E_LIMIT, "more than %d records of a machine", JL_SOURCE_RECORDS_MAX);
		items = jl_arena_array(records->arena, room, sizeof(*items));
		JL_TRY(jl_got(items, err));
		if (records->n)
			memcpy(items, records->items, records->n * sizeof(*items));
		records->items = items;
		records->room = room;
	}
	memmove(&records->items[i + 1], &records->items[i], (records->n - i) * sizeof(*records->items));
	records->items[i] = *item;
	records->n++;
	return JL_OK;
}

enum jl_status jl_records_add(struct jl_records *records, const char *path, enum jl_asked_kind kind, const char *text,
			      struct jl_err *err)
{
	struct jl_asked_path item = { .path = jl_arena_strdup(records->arena, path), .kind = kind };

	if (text)
		item.text = jl_arena_strdup(records->arena, text);
	if (!item.path || (text && !item.text))
		return jl_fail_nomem(err);
	return insert(records, &item, err);
}

static const char *const words[] = {
	[JL_ANSWER_NONE] = "none", [JL_ANSWER_FILE] = "file", [JL_ANSWER_LIST] = "list", [JL_ANSWER_LINK] = "link"
};

static void write_lines(struct jl_buf *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		jl_buf_putc(out, '\t');
		jl_buf_add(out, text, len);
		jl_buf_putc(out, '\n');
		text += len + (text[len] == '\n');
	}
}

void jl_records_write(const struct jl_records *records, struct jl_buf *out)
{
	size_t n = 0;

	jl_buf_puts(out, HEADER "\n");
	for (size_t i = 0; i < records->n; i++) {
		const struct jl_asked_path *item = &records->items[i];

		/* missing files need no record: a replay does not find them either */
		if (!item->text)
			continue;
		jl_buf_printf(out, "%s %s", words[item->kind], item->path);
		if (item->kind == JL_ANSWER_LINK)
			jl_buf_printf(out, " %s", item->text);
		jl_buf_putc(out, '\n');
		if (item->kind != JL_ANSWER_LINK)
			write_lines(out, item->text);
		n++;
	}
	jl_buf_printf(out, "end %zu\n", n);
}

struct reader {
	const char *at, *end;
	struct jl_where where;
	char line[PATH_MAX_B * 4];
};

/* Next line without its end; false: end of the text. */
static bool next_line(struct reader *reader, const char **ret_line, size_t *ret_len)
{
	if (reader->at == reader->end)
		return false;
	const char *stop = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
	*ret_line = reader->at;
	*ret_len = (size_t)((stop ? stop : reader->end) - reader->at);
	if (*ret_len > 0 && (*ret_line)[*ret_len - 1] == '\r')
		--*ret_len;
	reader->at = stop ? stop + 1 : reader->end;
	reader->where.line++;
	return true;
}

/* All lines that begin with a tab, joined. */
static const char *content(struct reader *reader, struct jl_arena *arena)
{
	const char *from = reader->at, *line;
	size_t len, size = 0;

	while (reader->at < reader->end && *reader->at == '\t' && next_line(reader, &line, &len))
		size += len; /* the line end replaces the tab's byte */
	char *text = jl_arena_alloc(arena, size + 1);
	if (!text)
		return NULL;
	size = 0;
	while (from < reader->at) {
		const char *stop = memchr(from, '\n', (size_t)(reader->at - from));

		len = (size_t)((stop ? stop : reader->at) - from);
		from++;
		len--;
		if (len > 0 && from[len - 1] == '\r')
			len--;
		memcpy(text + size, from, len);
		size += len;
		text[size++] = '\n';
		from = stop ? stop + 1 : reader->at;
	}
	if (size)
		text[size - 1] = '\0';
	jl_utf8_sanitize(text);
	return text;
}

static enum jl_status bad_line(struct reader *reader, struct jl_err *err)
{
	return jl_fail_at(err, JL_E_PARSE, &reader->where,
			  "'%.60s' is not a record of a capture; file, list, link or end", reader->line);
}

/* "file PATH", "list PATH", "link PATH TARGET" */
static enum jl_status record(struct reader *reader, struct jl_records *records, struct jl_err *err)
{
	struct jl_asked_path item = { 0 };
	char *path, *target = NULL;

	for (size_t i = JL_ANSWER_FILE; i <= JL_ANSWER_LINK; i++)
		if (strncmp(reader->line, words[i], 4) == 0 && reader->line[4] == ' ')
			item.kind = (enum jl_asked_kind)i;
	path = reader->line + 5;
	if (item.kind == JL_ANSWER_NONE || *path != '/')
		return bad_line(reader, err);
	if (item.kind == JL_ANSWER_LINK) {
		target = strchr(path, ' ');
		if (!target)
			return bad_line(reader, err);
		*target++ = '\0';
		if (strlen(target) >= PATH_MAX_B)
			return bad_line(reader, err);
	}
	if (strlen(path) >= PATH_MAX_B || strstr(path, "/../"))
		return jl_fail_at(err, JL_E_PARSE, &reader->where,
				  "a path that is too long or goes up with '..'; only plain absolute paths");
	item.path = jl_arena_strdup(records->arena, path);
	item.text = target ? jl_arena_strdup(records->arena, target) : content(reader, records->arena);
	JL_TRY(jl_got(item.path && item.text, err));
	return insert(records, &item, err);
}

enum jl_status jl_records_parse(struct jl_records *records, const char *name, const char *text, size_t len,
				struct jl_err *err)
{
	struct reader reader = { .at = text, .end = text + len, .where = { .file = name } };
	const char *line;
	size_t n, n_records = 0;
	enum jl_status status = JL_OK;

	if (!next_line(&reader, &line, &n) || n != strlen(HEADER) || memcmp(line, HEADER, n) != 0)
		return jl_fail_at(err, JL_E_PARSE, &reader.where, "no capture of a machine: it begins with '%s'",
				  HEADER);
	while (!status && next_line(&reader, &line, &n)) {
		size_t wanted;
		char *rest;

		if (n >= sizeof(reader.line) || memchr(line, '\0', n))
			return jl_fail_at(err, JL_E_PARSE, &reader.where, "a line that is too long or not text");
		memcpy(reader.line, line, n);
		reader.line[n] = '\0';
		jl_utf8_sanitize(reader.line);
		if (strncmp(reader.line, "end ", 4) == 0) {
			wanted = (size_t)strtoull(reader.line + 4, &rest, 10);
			if (*rest || wanted != n_records)
				return jl_fail_at(err, JL_E_PARSE, &reader.where,
						  "%zu records where 'end' says %.20s: part of the capture is missing",
						  n_records, reader.line + 4);
			return JL_OK;
		}
		status = record(&reader, records, err);
		n_records++;
	}
	if (!status)
		status = jl_fail_at(err, JL_E_PARSE, &reader.where,
				    "the capture ends early, without its 'end' line; copy it again or capture again");
	return status;
}
