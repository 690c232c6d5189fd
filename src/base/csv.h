/* Text tables, RFC 4180: a strict reader over a buffer, and a writer.
 *
 * The reader copies the text; fields point into the copy and are valid until jl_csv_release. Every row must have as many fields as the header;
 * errors carry line and column. Empty lines are skipped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define JL_CSV_COLUMNS_MAX 256
#define JL_CSV_FIELD_MAX_B ((size_t)1 << 20)
#define JL_CSV_ROWS_MAX    ((size_t)10 * 1000 * 1000)
#define JL_CSV_NO_COLUMN   ((size_t)-1)

struct jl_csv_field {
	const char *text;
	size_t line, column; /* start of the field, from 1; columns count characters */
};

struct jl_csv {
	const char *file; /* name for messages; must outlive the reader */
	size_t n_columns;
	size_t n_rows; /* rows read so far, header excluded */
	struct jl_csv_field *header;
	struct jl_csv_field *fields; /* fields of the current row */
	char *text;
	size_t len, at;
	size_t line, column;
};

/* Copies `text`, validates it and reads the header. A file separated by ';' or tabs is refused with a message that says so. On failure there is
 * nothing to release. */
enum jl_status jl_csv_open(struct jl_csv *ret_csv, const char *text, size_t len, const char *file, struct jl_err *err);
void jl_csv_release(struct jl_csv *csv);

/* Index of a column, or JL_CSV_NO_COLUMN. */
size_t jl_csv_find(const struct jl_csv *csv, const char *name);
/* The same for a mandatory column: the error suggests the nearest name. */
enum jl_status jl_csv_need(const struct jl_csv *csv, const char *name, size_t *ret_column, struct jl_err *err);

/* Reads the next row into csv->fields; `ret_more` is false at the end. */
enum jl_status jl_csv_next(struct jl_csv *csv, bool *ret_more, struct jl_err *err);
/* Loop form of jl_csv_next: false at the end, and when *io_status is already an error. */
static inline bool jl_csv_more(struct jl_csv *csv, enum jl_status *io_status, struct jl_err *err)
{
	bool more = false;

	JL_THEN(*io_status, jl_csv_next(csv, &more, err));
	return more && !*io_status;
}
/* Upper bound on the number of unread rows. */
size_t jl_csv_rows_left(const struct jl_csv *csv);

/* Field of the current row. JL_CSV_NO_COLUMN gives an empty field, so optional columns need no special case. */
const char *jl_csv_text(const struct jl_csv *csv, size_t column);
/* An empty field gives NAN. Text that is not a plain number is an error with its position. */
enum jl_status jl_csv_number(const struct jl_csv *csv, size_t column, double *ret_value, struct jl_err *err);
/* Position of a field, for messages. */
struct jl_where jl_csv_where(const struct jl_csv *csv, size_t column);

struct jl_csv_writer {
	struct jl_buf *out;
	size_t n_in_row;
	size_t row_at; /* offset in `out` of the row's start */
};

void jl_csv_writer_init(struct jl_csv_writer *writer, struct jl_buf *out);
void jl_csv_put_text(struct jl_csv_writer *writer, const char *text);
void jl_csv_put_number(struct jl_csv_writer *writer, double value); /* NAN writes an empty field */
void jl_csv_end_row(struct jl_csv_writer *writer);
