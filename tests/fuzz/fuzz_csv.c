/* A text is either refused with a message that names its place, or it is a table: then written again and read again it
 * is the same table. The first byte says nothing. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void put_row(struct jl_csv_writer *writer, const struct jl_csv_field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		jl_csv_put_text(writer, fields[i].text);
	jl_csv_end_row(writer);
}

/* Reads everything; copies it into `out` where there is one. Returns the rows, or -1 where it was refused. */
static long read_all(const char *text, size_t len, struct jl_buf *out)
{
	struct jl_csv_writer writer;
	struct jl_csv csv;
	struct jl_err err = { .status = JL_OK };
	bool more = true;
	enum jl_status status = jl_csv_open(&csv, text, len, "fuzz.csv", &err);
	long n_rows;

	if (status) {
		must(strncmp(err.en, "fuzz.csv:", 9) == 0 && jl_utf8_valid(err.text, strlen(err.text), NULL));
		return -1;
	}
	must(csv.n_columns > 0 && csv.n_columns <= JL_CSV_COLUMNS_MAX);
	jl_csv_writer_init(&writer, out);
	put_row(&writer, csv.header, csv.n_columns);
	while (!(status = jl_csv_next(&csv, &more, &err)) && more) {
		for (size_t i = 0; i < csv.n_columns; i++) {
			const char *field = jl_csv_text(&csv, i);
			double value = -7;
			must(jl_utf8_valid(field, strlen(field), NULL));
			must(csv.fields[i].line > 0 && csv.fields[i].column > 0);
			if (jl_csv_number(&csv, i, &value, &err))
				must(value == -7);
			else
				must(isnan(value) || isfinite(value));
		}
		put_row(&writer, csv.fields, csv.n_columns);
	}
	n_rows = (long)csv.n_rows;
	if (status)
		must(strncmp(err.en, "fuzz.csv:", 9) == 0 && err.status == status);
	jl_csv_release(&csv);
	return status ? -1 : n_rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jl_buf first, second;
	long n_rows;

	if (size == 0)
		return 0;
	jl_buf_init(&first, (size_t)64 << 20);
	jl_buf_init(&second, (size_t)64 << 20);
	n_rows = read_all((const char *)data + 1, size - 1, &first);
	if (n_rows >= 0 && !first.failed) {
		must(read_all(first.data, first.len, &second) == n_rows);
		must(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
	}
	jl_buf_release(&first);
	jl_buf_release(&second);
	return 0;
}
