/* Tables as text, RFC 4180: a strict reader over a buffer and a writer.
 *
 * The reader keeps its own copy of the text; fields point into it and stay valid until jl_csv_release. Every row has as
 * many fields as the header; anything else is an error that names line and column. Lines that are wholly empty are
 * skipped. */
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
	size_t line, column; /* where it begins: columns count characters */
};

struct jl_csv {
	const char *file; /* named in messages; must outlive the reader */
	size_t n_columns;
	size_t n_rows; /* read so far, without the header */
	struct jl_csv_field *header;
	struct jl_csv_field *fields; /* of the current row */
	char *text;
	size_t len, at;
	size_t line, column;
};

/* Copy `text`, check it and read the header. A file that looks separated by something else than commas is refused with a
 * message that says so. On failure there is nothing to release. */
enum jl_status jl_csv_open(struct jl_csv *ret_csv, const char *text, size_t len, const char *file, struct jl_err *err);
void jl_csv_release(struct jl_csv *csv);

/* Index of a column, or JL_CSV_NO_COLUMN. */
size_t jl_csv_find(const struct jl_csv *csv, const char *name);
/* The same for a column that must be there: the message names the nearest. */
enum jl_status jl_csv_need(const struct jl_csv *csv, const char *name, size_t *ret_column, struct jl_err *err);

/* Read the next row into csv->fields; `ret_more` is false at the end. */
enum jl_status jl_csv_next(struct jl_csv *csv, bool *ret_more, struct jl_err *err);
/* Reads the next row where nothing has failed yet; false: there is none. */
static inline bool jl_csv_more(struct jl_csv *csv, enum jl_status *io_status, struct jl_err *err)
{
	bool more = false;

	JL_THEN(*io_status, jl_csv_next(csv, &more, err));
	return more && !*io_status;
}
/* Upper bound of the rows that are still to be read. */
size_t jl_csv_rows_left(const struct jl_csv *csv);

/* Fields of the current row. JL_CSV_NO_COLUMN reads as an empty field, so that optional columns need no special care.
 */
const char *jl_csv_text(const struct jl_csv *csv, size_t column);
/* Empty: NAN. Anything but a plain number is an error with its place. */
enum jl_status jl_csv_number(const struct jl_csv *csv, size_t column, double *ret_value, struct jl_err *err);
/* For messages about a field. */
struct jl_where jl_csv_where(const struct jl_csv *csv, size_t column);

struct jl_csv_writer {
	struct jl_buf *out;
	size_t n_in_row;
	size_t row_at; /* where in `out` the row begins */
};

void jl_csv_writer_init(struct jl_csv_writer *writer, struct jl_buf *out);
void jl_csv_put_text(struct jl_csv_writer *writer, const char *text);
void jl_csv_put_number(struct jl_csv_writer *writer, double value); /* NAN: an empty field */
void jl_csv_end_row(struct jl_csv_writer *writer);
