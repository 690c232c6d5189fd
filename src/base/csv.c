/* CSV reader and writer (RFC 4180). Knows no column names. */
#include "base/budget.h"
#include "base/csv.h"

#include <math.h>
#include <string.h>

#include "base/cells.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/num.h"
#include "base/units.h"
#include "base/utf8.h"

static struct jl_where here(const struct jl_csv *csv)
{
	return (struct jl_where){ .file = csv->file, .line = csv->line, .column = csv->column };
}

static bool at_end(const struct jl_csv *csv)
{
	return csv->at >= csv->len;
}

/* Advances one byte. Columns count characters, so UTF-8 continuation bytes do not advance the column. */
static void step(struct jl_csv *csv)
{
	unsigned char c = (unsigned char)csv->text[csv->at++];

	if (c == '\n') {
		csv->line++;
		csv->column = 1;
	} else if (at_end(csv) || ((unsigned char)csv->text[csv->at] & 0xc0) != 0x80) {
		csv->column++;
	}
}

static bool at_line_end(const struct jl_csv *csv)
{
	const char *at = csv->text + csv->at;

	return at_end(csv) || *at == '\n' || (*at == '\r' && csv->at + 1 < csv->len && at[1] == '\n');
}

static enum jl_status fail_long(const struct jl_csv *csv, struct jl_err *err)
{
	struct jl_where where = here(csv);

	return jl_fail_at(err, JL_E_LIMIT, &where, "a field of more than %zu bytes", JL_CSV_FIELD_MAX_B);
}

/* Reads a quoted field and unescapes doubled quotes in place. The reader is just behind the opening quote. */
static enum jl_status read_quoted(struct jl_csv *csv, size_t *ret_len, const struct jl_where *begin, struct jl_err *err)
{
	size_t from = csv->at, to = from;

	for (;;) {
		if (at_end(csv))
			return jl_fail_at(err, JL_E_PARSE, begin, "this quotation mark is never closed");
		if (csv->text[csv->at] == '"') {
			step(csv);
			if (at_end(csv) || csv->text[csv->at] != '"')
				break;
		}
		csv->text[to++] = csv->text[csv->at];
		step(csv);
		if (to - from > JL_CSV_FIELD_MAX_B)
			return fail_long(csv, err);
	}
	if (!at_line_end(csv) && csv->text[csv->at] != ',') {
		struct jl_where where = here(csv);
		return jl_fail_at(err, JL_E_PARSE, &where,
				  "text after the closing quotation mark; a mark inside is written twice (\"\")");
	}
	*ret_len = to - from;
	return JL_OK;
}

static enum jl_status read_plain(struct jl_csv *csv, size_t *ret_len, struct jl_err *err)
{
	size_t from = csv->at;

	while (!at_line_end(csv) && csv->text[csv->at] != ',') {
		char c = csv->text[csv->at];
		struct jl_where where = here(csv);
		if (c == '"')
			return jl_fail_at(
				err, JL_E_PARSE, &where,
				"a quotation mark inside a field; put the whole field in marks and write it twice");
		if (c == '\r')
			return jl_fail_at(err, JL_E_PARSE, &where, "a carriage return without a line feed");
		step(csv);
		if (csv->at - from > JL_CSV_FIELD_MAX_B)
			return fail_long(csv, err);
	}
	*ret_len = csv->at - from;
	return JL_OK;
}

/* Reads one field. `ret_end` is where its NUL belongs: the caller writes it after it has read the separator at that place. */
static enum jl_status read_field(struct jl_csv *csv, struct jl_csv_field *ret_field, char **ret_end, struct jl_err *err)
{
	struct jl_where begin = here(csv);
	bool quoted = !at_end(csv) && csv->text[csv->at] == '"';
	char *text;
	size_t len = 0;

	if (quoted)
		step(csv);
	text = csv->text + csv->at;
	JL_TRY(quoted ? read_quoted(csv, &len, &begin, err) : read_plain(csv, &len, err));
	*ret_field = (struct jl_csv_field){ .text = text, .line = begin.line, .column = begin.column };
	*ret_end = text + len;
	return JL_OK;
}

/* Reads one line into `fields` (capacity `room`). More fields are an error with their position. */
static enum jl_status read_row(struct jl_csv *csv, struct jl_csv_field *fields, size_t room, size_t *ret_n,
			       struct jl_err *err)
{
	size_t n = 0;

	for (;;) {
		struct jl_where where = here(csv);
		char *end;

		if (n == room && room == JL_CSV_COLUMNS_MAX)
			return jl_fail_at(err, JL_E_LIMIT, &where, "more than %d columns", JL_CSV_COLUMNS_MAX);
		if (n == room)
			return jl_fail_at(err, JL_E_PARSE, &where, "more fields than the header has columns (%zu)",
					  room);
		JL_TRY(read_field(csv, &fields[n], &end, err));
		n++;
		bool last = at_line_end(csv);
		if (!at_end(csv) && csv->text[csv->at] == '\r')
			step(csv);
		if (!at_end(csv))
			step(csv);
		*end = '\0';
		if (last)
			break;
	}
	*ret_n = n;
	return JL_OK;
}

static void skip_empty_lines(struct jl_csv *csv)
{
	while (!at_end(csv) && at_line_end(csv)) {
		if (csv->text[csv->at] == '\r')
			step(csv);
		step(csv);
	}
}

static struct jl_where where_of(const char *text, size_t at, const char *file)
{
	struct jl_where where = { .file = file, .line = 1, .column = 1 };

	for (size_t i = 0; i < at; i++) {
		bool later_byte = ((unsigned char)text[i] & 0xc0) == 0x80;
		where.line += text[i] == '\n';
		where.column = text[i] == '\n' ? 1 : where.column + !later_byte;
	}
	return where;
}

static enum jl_status check_text(const char *text, size_t len, const char *file, struct jl_err *err)
{
	const char *nul = len ? memchr(text, '\0', len) : NULL;
	size_t bad_at;
	struct jl_where where;

	if (len >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
		return jl_fail(err, JL_E_PARSE, "%s: is UTF-16; save it as UTF-8", file);
	if (nul) {
		where = where_of(text, (size_t)(nul - text), file);
		return jl_fail_at(err, JL_E_PARSE, &where, "a zero byte: this is not a text");
	}
	if (!jl_utf8_valid(text, len, &bad_at)) {
		where = where_of(text, bad_at, file);
		return jl_fail_at(err, JL_E_PARSE, &where, "not UTF-8; save the file as UTF-8");
	}
	return JL_OK;
}

/* Guesses the separator of the header line: ',', ';' or tab. */
static char separator(const char *text, size_t len)
{
	size_t n_comma = 0, n_semicolon = 0, n_tab = 0;
	bool quoted = false;

	for (size_t i = 0; i < len && (quoted || text[i] != '\n'); i++) {
		if (text[i] == '"')
			quoted = !quoted;
		n_comma += !quoted && text[i] == ',';
		n_semicolon += !quoted && text[i] == ';';
		n_tab += !quoted && text[i] == '\t';
	}
	if (n_comma == 0 && n_tab > n_semicolon)
		return '\t';
	return n_comma == 0 && n_semicolon > 0 ? ';' : ',';
}

static void trim(struct jl_csv_field *field)
{
	char *text = (char *)field->text; /* cast is safe: the text is the reader's own copy */

	text += strspn(text, " \t");
	size_t len = strlen(text);
	while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		text[--len] = '\0';
	field->text = text;
}

static enum jl_status read_header(struct jl_csv *csv, struct jl_err *err)
{
	skip_empty_lines(csv);
	struct jl_where where = here(csv);
	if (at_end(csv))
		return jl_fail_at(err, JL_E_PARSE, &where, "no header line");
	const char guess = separator(csv->text + csv->at, csv->len - csv->at);

	if (guess != ',')
		return jl_fail_at(err, JL_E_PARSE, &where, "columns look separated by %s, not by commas",
				  guess == '\t' ? "TAB" : "';'");
	JL_TRY(read_row(csv, csv->header, JL_CSV_COLUMNS_MAX, &csv->n_columns, err));
	for (size_t i = 0; i < csv->n_columns; i++) {
		trim(&csv->header[i]);
		for (size_t j = 0; j < i && csv->header[i].text[0]; j++) {
			if (strcmp(csv->header[i].text, csv->header[j].text) != 0)
				continue;
			where = (struct jl_where){ csv->file, csv->header[i].line, csv->header[i].column };
			return jl_fail_at(err, JL_E_PARSE, &where, "column '%s' is there twice", csv->header[i].text);
		}
	}
	return JL_OK;
}

enum jl_status jl_csv_open(struct jl_csv *ret_csv, const char *text, size_t len, const char *file, struct jl_err *err)
{
	struct jl_csv csv = { .file = file, .len = len, .line = 1, .column = 1 };
	enum jl_status status;

	JL_TRY(check_text(text, len, file, err));
	csv.text = jl_realloc(NULL, len + 1);
	csv.header = jl_realloc(NULL, JL_CSV_COLUMNS_MAX * sizeof(*csv.header));
	csv.fields = jl_realloc(NULL, JL_CSV_COLUMNS_MAX * sizeof(*csv.fields));
	if (!csv.text || !csv.header || !csv.fields) {
		status = jl_fail_nomem(err);
		goto out;
	}
	if (len)
		memcpy(csv.text, text, len);
	csv.text[len] = '\0';
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* UTF-8 byte order mark */
		csv.at = 3;
	status = read_header(&csv, err);
	if (status)
		goto out;
	for (size_t i = 0; i < csv.n_columns; i++)
		csv.fields[i] = (struct jl_csv_field){ .text = "" };
	*ret_csv = csv;
	return JL_OK;
out:
	jl_csv_release(&csv);
	return status;
}

void jl_csv_release(struct jl_csv *csv)
{
	jl_free(csv->text);
	jl_free(csv->header);
	jl_free(csv->fields);
	*csv = (struct jl_csv){ .file = csv->file };
}

size_t jl_csv_find(const struct jl_csv *csv, const char *name)
{
	for (size_t i = 0; i < csv->n_columns; i++) {
		if (strcmp(csv->header[i].text, name) == 0)
			return i;
	}
	return JL_CSV_NO_COLUMN;
}

enum jl_status jl_csv_need(const struct jl_csv *csv, const char *name, size_t *ret_column, struct jl_err *err)
{
	size_t column = jl_csv_find(csv, name), near_at;
	const char *names[JL_CSV_COLUMNS_MAX];

	if (column != JL_CSV_NO_COLUMN) {
		*ret_column = column;
		return JL_OK;
	}
	for (size_t i = 0; i < csv->n_columns; i++)
		names[i] = csv->header[i].text;
	if (jl_near_rank(name, names, csv->n_columns, &near_at, 1))
		return jl_fail(err, JL_E_NOTFOUND, "%s: no column '%s'; did you mean '%s'?", csv->file, name,
			       names[near_at]);
	return jl_fail(err, JL_E_NOTFOUND, "%s: no column '%s'", csv->file, name);
}

enum jl_status jl_csv_next(struct jl_csv *csv, bool *ret_more, struct jl_err *err)
{
	size_t n = 0;

	skip_empty_lines(csv);
	if (at_end(csv)) {
		*ret_more = false;
		return JL_OK;
	}
	struct jl_where where = here(csv);
	if (jl_budget_spend(1))
		return jl_budget_fail(err);
	if (csv->n_rows == JL_CSV_ROWS_MAX)
		return jl_fail_at(err, JL_E_LIMIT, &where, "more than %zu rows", JL_CSV_ROWS_MAX);
	JL_TRY(read_row(csv, csv->fields, csv->n_columns, &n, err));
	if (n < csv->n_columns)
		return jl_fail_at(err, JL_E_PARSE, &where,
				  "%zu fields, but the header has %zu columns; '%s' is missing", n, csv->n_columns,
				  csv->header[n].text);
	csv->n_rows++;
	*ret_more = true;
	return JL_OK;
}

const char *jl_csv_text(const struct jl_csv *csv, size_t column)
{
	return column < csv->n_columns ? csv->fields[column].text : "";
}

struct jl_where jl_csv_where(const struct jl_csv *csv, size_t column)
{
	struct jl_where where = { .file = csv->file };

	if (column < csv->n_columns) {
		where.line = csv->fields[column].line;
		where.column = csv->fields[column].column;
	}
	return where;
}

enum jl_status jl_csv_number(const struct jl_csv *csv, size_t column, double *ret_value, struct jl_err *err)
{
	const char *text = jl_csv_text(csv, column);
	struct jl_err why = { .status = JL_OK };
	struct jl_where where;

	if (text[strspn(text, " \t")] == '\0') {
		*ret_value = NAN;
		return JL_OK;
	}
	enum jl_status status = jl_units_parse(ret_value, text, JL_K_NUMBER, csv->header[column].text, &why);
	if (status) {
		where = jl_csv_where(csv, column);
		jl_fail_from(err, status, &where, &why, "{}");
	}
	return status;
}

void jl_csv_writer_init(struct jl_csv_writer *writer, struct jl_buf *out)
{
	*writer = (struct jl_csv_writer){ .out = out, .row_at = out->len };
}

static bool needs_marks(const char *text)
{
	size_t len = strlen(text);

	return strpbrk(text, "\"\r\n\t;,") || strncmp(text, "\xef\xbb\xbf", 3) == 0 ||
	       (len > 0 && (text[0] == ' ' || text[len - 1] == ' '));
}

/* True for text that a spreadsheet would run as a formula (CSV injection). After a sign only text with a call or a reference counts. */
static bool is_formula(const char *text)
{
	return *text && (strchr("=@\t\r", *text) || (strchr("+-", *text) && strpbrk(text + 1, "=@|!(")));
}

void jl_csv_put_text(struct jl_csv_writer *writer, const char *text)
{
	const bool formula = is_formula(text);

	if (writer->n_in_row++)
		jl_buf_putc(writer->out, ',');
	if (!formula && !needs_marks(text)) {
		jl_buf_puts(writer->out, text);
		return;
	}
	jl_buf_puts(writer->out, formula ? "\"'" : "\"");
	for (const char *mark; (mark = strchr(text, '"')); text = mark + 1) {
		jl_buf_add(writer->out, text, (size_t)(mark - text) + 1);
		jl_buf_putc(writer->out, '"');
	}
	jl_buf_puts(writer->out, text);
	jl_buf_putc(writer->out, '"');
}

void jl_csv_put_number(struct jl_csv_writer *writer, double value)
{
	char text[JL_NUM_TEXT_MAX];

	jl_csv_put_text(writer, isnan(value) ? "" : jl_num_text(text, value));
}

void jl_csv_end_row(struct jl_csv_writer *writer)
{
	/* quote it: a lone empty field would be an empty line, which readers skip */
	if (writer->n_in_row == 1 && writer->out->len == writer->row_at)
		jl_buf_puts(writer->out, "\"\"");
	jl_buf_putc(writer->out, '\n');
	writer->n_in_row = 0;
	writer->row_at = writer->out->len;
}

size_t jl_csv_rows_left(const struct jl_csv *csv)
{
	size_t n = 1;

	for (const char *at = csv->text + csv->at; (at = memchr(at, '\n', (size_t)(csv->text + csv->len - at))); at++)
		n++;
	return n;
}

enum jl_status jl_row_number(double *ret_value, const char *text, const char *column, struct jl_err *err)
{
	size_t used = 0;
	double value = NAN;

	if (text && *text) {
		if (jl_num_parse(text, &value, &used) != JL_NUM_OK || text[used] != '\0')
			return jl_fail(err, JL_E_PARSE, "%s: '%s' is not a number", column, text);
	}
	*ret_value = value;
	return JL_OK;
}
