/* Reads CSV files of prices: dated rows of one form, as kept in spreadsheets. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/hash.h"
#include "catalog/load.h"

struct reader {
	struct jl_csv csv;
	const struct jl_schema *schema;
	size_t column[JL_SCHEMA_FIELDS_MAX]; /* CSV column of each schema field */
	struct jl_arena *arena;
	struct jl_findings *findings;
	struct jl_buf rows;   /* array of struct jl_price */
	struct jl_buf cells;  /* array of struct jl_where */
	struct jl_price last; /* previous row: neighbours share most texts, which are stored once */
};

static enum jl_status find_columns(struct reader *reader, struct jl_err *err)
{
	for (size_t i = 0; i < reader->schema->n_fields; i++) {
		const struct jl_field *field = &reader->schema->fields[i];

		reader->column[i] = JL_CSV_NO_COLUMN;
		if (!field->key)
			continue;
		JL_TRY(jl_csv_need(&reader->csv, field->key, &reader->column[i], err));
	}
	for (size_t c = 0; c < reader->csv.n_columns; c++) {
		struct jl_where where = { .file = reader->csv.file,
					  .line = reader->csv.header[c].line,
					  .column = reader->csv.header[c].column };

		if (jl_schema_field(reader->schema, reader->csv.header[c].text) == reader->schema->n_fields)
			return jl_fail_at(err, JL_E_PARSE, &where,
					  "unknown column '%.60s'; prices have: kind, provider, item, gpu, gpu_count, "
					  "vcpu, ram_gb, region, on_demand_usd_h, spot_usd_h_min, spot_usd_h_median, "
					  "price_usd, price_basis, as_of, source_url, notes",
					  reader->csv.header[c].text);
	}
	return JL_OK;
}

static enum jl_status read_cell(struct reader *reader, const struct jl_field *field, size_t column,
				struct jl_price *price, struct jl_err *err)
{
	void *at = (char *)price + field->offset;
	const char *text = jl_csv_text(&reader->csv, column);
	const char *before = NULL;
	struct jl_err wrong;
	double number;

	if (field->type == JL_F_NUMBER) {
		if (jl_csv_number(&reader->csv, column, &number, &wrong))
			jl_findings_add(reader->findings, &wrong);
		else
			*(double *)at = number * field->scale;
		return JL_OK;
	}
	if (!*text)
		return JL_OK;
	memcpy(&before, (const char *)&reader->last + field->offset, sizeof(before));
	if (!before || strcmp(before, text) != 0)
		before = jl_arena_strdup(reader->arena, text);
	JL_TRY(jl_got(before, err));
	memcpy(at, &before, sizeof(before));
	return JL_OK;
}

/* Number of chips of a TPU slice, which is rented and listed as a whole: "tpu-v6e-8" has eight. Up to v5p the number counts TensorCores, two per
 * chip (Google's documentation of TPU configurations). */
static void count_slice(struct jl_price *price)
{
	static const struct {
		const char *begin;
		double per_chip;
	} slices[] = { { "tpu-v2-", 2 },  { "tpu-v3-", 2 },  { "tpu-v4-", 2 },
		       { "tpu-v5p-", 2 }, { "tpu-v6e-", 1 }, { "tpu-v5litepod-", 1 } };

	for (size_t i = 0; price->gpu_text && i < JL_LEN(slices); i++) {
		size_t len = strlen(slices[i].begin);
		double n = strncmp(price->gpu_text, slices[i].begin, len) == 0 ? strtod(price->gpu_text + len, NULL)
									       : 0;

		if (n >= slices[i].per_chip && n < 1e6)
			price->n_gpu = n / slices[i].per_chip;
	}
}

static enum jl_status read_row(struct reader *reader, struct jl_err *err)
{
	struct jl_price price;

	jl_schema_clear(reader->schema, &price);
	for (size_t i = 0; i < reader->schema->n_fields; i++) {
		const bool is_there = reader->column[i] != JL_CSV_NO_COLUMN;
		const struct jl_where where = jl_csv_where(&reader->csv, is_there ? reader->column[i] : 0);

		if (is_there)
			JL_TRY(read_cell(reader, &reader->schema->fields[i], reader->column[i], &price, err));
		jl_buf_add(&reader->cells, &where, sizeof(where));
	}
	count_slice(&price);
	jl_buf_add(&reader->rows, &price, sizeof(price));
	reader->last = price;
	return reader->rows.failed || reader->cells.failed ? jl_fail_nomem(err) : JL_OK;
}

static enum jl_status read_rows(struct reader *reader, struct jl_err *err)
{
	enum jl_status status = find_columns(reader, err);

	while (jl_csv_more(&reader->csv, &status, err)) {
		if (reader->csv.n_rows > JL_CATALOG_PRICES_MAX) {
			struct jl_where where = jl_csv_where(&reader->csv, 0);

			return jl_fail_at(err, JL_E_LIMIT, &where, "more than %d prices in one file",
					  JL_CATALOG_PRICES_MAX);
		}
		status = read_row(reader, err);
	}
	return status;
}

enum jl_status jl_prices_read(struct jl_price **ret_prices, size_t *ret_n, struct jl_where **ret_cells,
			      const char *file, const char *text, size_t len, struct jl_arena *arena,
			      struct jl_findings *findings, struct jl_err *err)
{
	struct reader reader = { .schema = jl_schema_of(JL_R_PRICE), .arena = arena, .findings = findings };
	struct jl_where *cells;

	JL_TRY(jl_csv_open(&reader.csv, text, len, file, err));
	jl_buf_init(&reader.rows, JL_ARENA_LIMIT_B);
	jl_buf_init(&reader.cells, JL_ARENA_LIMIT_B);
	enum jl_status status = read_rows(&reader, err);
	if (status)
		goto out;
	struct jl_price *prices = jl_arena_array(arena, reader.rows.len, 1);
	cells = jl_arena_array(arena, reader.cells.len, 1);
	if (!prices || !cells) {
		status = jl_fail_nomem(err);
		goto out;
	}
	if (reader.rows.len) {
		memcpy(prices, reader.rows.data, reader.rows.len);
		memcpy(cells, reader.cells.data, reader.cells.len);
	}
	*ret_prices = prices;
	*ret_n = reader.rows.len / sizeof(*prices);
	*ret_cells = cells;
out:
	jl_buf_release(&reader.rows);
	jl_buf_release(&reader.cells);
	jl_csv_release(&reader.csv);
	return status;
}

/* Hash of the cells that distinguish rows. */
static size_t hash_row(const struct jl_price *price)
{
	const char *const cells[] = { price->provider, price->item, price->region, price->date };
	uint64_t hash = 0;

	for (size_t i = 0; i < JL_LEN(cells); i++)
		hash = hash * 0x9e3779b97f4a7c15u ^ jl_hash_keyed(cells[i], cells[i] ? strlen(cells[i]) : 0);
	return (size_t)hash;
}

static bool same_row(const struct jl_price *a, const struct jl_price *b)
{
	const struct jl_schema *schema = jl_schema_of(JL_R_PRICE);

	for (size_t i = 0; i < schema->n_fields; i++) {
		const void *x = jl_field_at(&schema->fields[i], a), *y = jl_field_at(&schema->fields[i], b);

		if (!schema->fields[i].key)
			continue;
		if (schema->fields[i].type == JL_F_NUMBER) {
			double p = *(const double *)x, q = *(const double *)y;

			if (p != q && !(isnan(p) && isnan(q)))
				return false;
		} else {
			const char *s = *(const char *const *)x, *t = *(const char *const *)y;

			if (s != t && (!s || !t || strcmp(s, t) != 0))
				return false;
		}
	}
	return true;
}

enum jl_status jl_price_index_init(struct jl_price_index *ret_index, const struct jl_price *prices, size_t n,
				   struct jl_arena *arena)
{
	struct jl_price_index index = { .prices = prices, .n_slots = 2 * n + 1 };

	index.slots = jl_arena_array(arena, index.n_slots, sizeof(*index.slots));
	if (!index.slots)
		return JL_E_NOMEM;
	memset(index.slots, 0, index.n_slots * sizeof(*index.slots));
	for (size_t i = 0; i < n; i++) {
		size_t at = hash_row(&prices[i]) % index.n_slots;

		while (index.slots[at])
			at = (at + 1) % index.n_slots;
		index.slots[at] = i + 1;
	}
	*ret_index = index;
	return JL_OK;
}

bool jl_price_index_has(const struct jl_price_index *index, const struct jl_price *price)
{
	for (size_t at = hash_row(price) % index->n_slots; index->slots[at]; at = (at + 1) % index->n_slots)
		if (same_row(&index->prices[index->slots[at] - 1], price))
			return true;
	return false;
}
