/* Prices are CSV: many dated rows of one form that people keep in spreadsheets. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/csv.h"
#include "catalog/find.h"
#include "catalog/load.h"

#define SPELLINGS_MAX 500

struct reader {
	struct jl_csv csv;
	const struct jl_schema *schema;
	size_t column[JL_SCHEMA_FIELDS_MAX]; /* of each field */
	struct jl_arena *arena;
	struct jl_findings *findings;
	struct jl_buf rows;   /* of struct jl_price */
	struct jl_buf places; /* of struct jl_place */
	struct jl_price last; /* neighbours share most texts: they are kept once */
};

static enum jl_status find_columns(struct reader *reader, struct jl_err *err)
{
	for (size_t i = 0; i < reader->schema->n_fields; i++) {
		const struct jl_field *field = &reader->schema->fields[i];
		enum jl_status status;

		reader->column[i] = JL_CSV_NO_COLUMN;
		if (!field->key)
			continue;
		status = jl_csv_need(&reader->csv, field->key, &reader->column[i], err);
		if (status)
			return status;
	}
	for (size_t c = 0; c < reader->csv.n_columns; c++) {
		struct jl_where where = { .file = reader->csv.file,
					  .line = reader->csv.header[c].line,
					  .column = reader->csv.header[c].column };

		if (jl_schema_field(reader->schema, reader->csv.header[c].text) == reader->schema->n_fields)
			return jl_fail_at(
				err, JL_E_PARSE, &where,
				"unknown column '%.60s'; prices have: kind, provider, item, gpu, gpu_count, vcpu, "
				"ram_gb, "
				"region, on_demand_usd_h, spot_usd_h_min, spot_usd_h_median, price_usd, price_basis, "
				"as_of, source_url, notes",
				"알 수 없는 열 '%.60s'. 가격표의 열: kind, provider, item, gpu, gpu_count, vcpu, "
				"ram_gb, region, on_demand_usd_h, "
				"spot_usd_h_min, spot_usd_h_median, price_usd, price_basis, as_of, source_url, notes",
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
	if (!before)
		return jl_fail_nomem(err);
	memcpy(at, &before, sizeof(before));
	return JL_OK;
}

static enum jl_status read_row(struct reader *reader, struct jl_err *err)
{
	struct jl_place place = { .record = (uint32_t)(reader->rows.len / sizeof(struct jl_price)),
				  .item = JL_AT_NONE,
				  .sub = JL_AT_NONE };
	struct jl_price price;

	jl_schema_clear(reader->schema, &price);
	for (size_t i = 0; i < reader->schema->n_fields; i++) {
		struct jl_where where;
		enum jl_status status;

		if (reader->column[i] == JL_CSV_NO_COLUMN)
			continue;
		status = read_cell(reader, &reader->schema->fields[i], reader->column[i], &price, err);
		if (status)
			return status;
		where = jl_csv_where(&reader->csv, reader->column[i]);
		place.field = (uint16_t)i;
		place.line = (uint32_t)where.line;
		place.column = (uint32_t)where.column;
		jl_buf_add(&reader->places, &place, sizeof(place));
	}
	jl_buf_add(&reader->rows, &price, sizeof(price));
	reader->last = price;
	return reader->rows.failed || reader->places.failed ? jl_fail_nomem(err) : JL_OK;
}

static enum jl_status read_rows(struct reader *reader, struct jl_err *err)
{
	enum jl_status status = find_columns(reader, err);
	bool more = true;

	while (!status) {
		status = jl_csv_next(&reader->csv, &more, err);
		if (status || !more)
			break;
		if (reader->csv.n_rows > JL_CATALOG_PRICES_MAX) {
			struct jl_where where = jl_csv_where(&reader->csv, 0);

			return jl_fail_at(err, JL_E_LIMIT, &where, "more than %d prices in one file",
					  "한 파일에 가격이 %d줄보다 많습니다", JL_CATALOG_PRICES_MAX);
		}
		status = read_row(reader, err);
	}
	return status;
}

enum jl_status jl_prices_read(struct jl_price **ret_prices, size_t *ret_n, struct jl_places *ret_places,
			      const char *file, const char *text, size_t len, struct jl_arena *arena,
			      struct jl_findings *findings, struct jl_err *err)
{
	struct reader reader = { .schema = jl_schema_of(JL_R_PRICE), .arena = arena, .findings = findings };
	struct jl_price *prices;
	struct jl_place *places;
	enum jl_status status = jl_csv_open(&reader.csv, text, len, ',', file, err);

	if (status)
		return status;
	jl_buf_init(&reader.rows, JL_ARENA_LIMIT_B);
	jl_buf_init(&reader.places, JL_ARENA_LIMIT_B);
	status = read_rows(&reader, err);
	if (status)
		goto out;
	prices = jl_arena_array(arena, reader.rows.len, 1);
	places = jl_arena_array(arena, reader.places.len, 1);
	if (!prices || !places) {
		status = jl_fail_nomem(err);
		goto out;
	}
	if (reader.rows.len) {
		memcpy(prices, reader.rows.data, reader.rows.len);
		memcpy(places, reader.places.data, reader.places.len);
	}
	*ret_prices = prices;
	*ret_n = reader.rows.len / sizeof(*prices);
	*ret_places = (struct jl_places){ .file = file, .at = places, .n = reader.places.len / sizeof(*places) };
out:
	jl_buf_release(&reader.rows);
	jl_buf_release(&reader.places);
	jl_csv_release(&reader.csv);
	return status;
}

/* "AWS" and "p5.48xlarge" are the system aws:p5.48xlarge; NULL if there is none, or it has no accelerator of the
 * catalog. */
static const char *gpu_of_system(const struct jl_catalog *cat, const struct jl_price *price)
{
	size_t n_provider = price->provider ? strlen(price->provider) : 0;

	for (size_t i = 0; price->item && i < cat->n_systems; i++) {
		const char *id = cat->systems[i].id;
		const char *colon = id ? strchr(id, ':') : NULL;
		size_t k = 0;

		if (!colon || (size_t)(colon - id) != n_provider)
			continue;
		while (k < n_provider && id[k] == tolower((unsigned char)price->provider[k]))
			k++;
		if (k == n_provider && strcasecmp(colon + 1, price->item) == 0)
			return cat->systems[i].gpu;
	}
	return NULL;
}

/* What sources call accelerators repeats from row to row: each spelling is looked up once. */
struct spelling {
	const char *text;
	const char *gpu;
};

static const char *gpu_by_spelling(const struct jl_catalog *cat, const char *text, struct spelling *known,
				   size_t n_known_max, size_t *n_known)
{
	const struct jl_gpu *gpu = NULL;

	for (size_t i = 0; i < *n_known; i++) {
		if (strcmp(known[i].text, text) == 0)
			return known[i].gpu;
	}
	/* A file with more spellings than that is not a price list; looking each up would take minutes. */
	if (*n_known >= n_known_max)
		return NULL;
	if (jl_find_gpu(&gpu, cat, text, NULL))
		gpu = NULL;
	known[(*n_known)++] = (struct spelling){ .text = text, .gpu = gpu ? gpu->id : NULL };
	return gpu ? gpu->id : NULL;
}

enum jl_status jl_prices_resolve(const struct jl_catalog *cat, struct jl_price *prices, size_t n,
				 struct jl_arena *arena, struct jl_err *err)
{
	size_t n_known = 0, n_known_max = n < SPELLINGS_MAX ? n : SPELLINGS_MAX;
	struct spelling *known = jl_arena_array(arena, n_known_max, sizeof(*known));

	if (!known)
		return jl_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		if (prices[i].gpu)
			continue;
		prices[i].gpu = gpu_of_system(cat, &prices[i]);
		if (!prices[i].gpu && prices[i].gpu_text)
			prices[i].gpu = gpu_by_spelling(cat, prices[i].gpu_text, known, n_known_max, &n_known);
	}
	return JL_OK;
}
