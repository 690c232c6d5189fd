#include "cli/view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ask/ask.h"
#include "base/text.h"
#include "base/utf8.h"
#include "catalog/fields.h"
#include "catalog/find.h"
#include "doc/wrap.h"
#include "store/store.h"

/* 16896 -> "16,896" */
static void with_separators(char out[JL_UNITS_TEXT_MAX], double whole, const char *unit)
{
	const size_t len = strlen(jl_grouped_text(out, whole));

	snprintf(out + len, JL_UNITS_TEXT_MAX - len, "%s%s", *unit ? " " : "", unit);
}

const char *jl_view_value(char out[JL_UNITS_TEXT_MAX], double value, enum jl_kind kind, bool is_memory)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	size_t i = 0;

	if (kind == JL_K_NUMBER && floor(value) == value && fabs(value) < 1e15) {
		with_separators(out, value, "");
		return out;
	}
	/* Rates of chips are compared in tera, whatever their size. */
	if ((kind == JL_K_FLOP_RATE || kind == JL_K_OP_RATE) && value >= 1e15 && value < 1e17) {
		with_separators(out, value / 1e12, kind == JL_K_OP_RATE ? "TOP/s" : "TFLOP/s");
		return out;
	}
	/* Memory comes in powers of two: 80 GiB, not 85.9 GB. */
	if (kind != JL_K_BYTES || !is_memory || isnan(value))
		return jl_units_text(out, value, kind, 4);
	while (value >= 1024 && i + 1 < sizeof(names) / sizeof(*names)) {
		value /= 1024;
		i++;
	}
	snprintf(out, JL_UNITS_TEXT_MAX, "%.4g %s", value, names[i]);
	return out;
}

const char *jl_view_note(char out[32], struct jl_footnotes *notes, const struct jl_fact *fact)
{
	size_t i = 0;

	out[0] = '\0';
	if (!jl_fact_known(fact))
		return out;
	while (i < notes->n && !(jl_same_text(notes->facts[i]->source, fact->source) &&
				 jl_same_text(notes->facts[i]->date, fact->date)))
		i++;
	if (i == notes->n && i < JL_FOOTNOTES_MAX)
		notes->facts[notes->n++] = fact;
	snprintf(out, 32, "%s [%zu]", jl_origin_mark(fact->origin), i + 1);
	return out;
}

void jl_view_footnotes(struct jl_cli *cli, const struct jl_footnotes *notes)
{
	if (notes->n)
		jl_buf_putc(&cli->out, '\n');
	for (size_t i = 0; i < notes->n; i++) {
		const struct jl_fact *fact = notes->facts[i];
		const struct jl_source *source = fact->source ? jl_source_by_id(cli->cat, fact->source) : NULL;

		jl_buf_printf(&cli->out, "  %s[%zu] %s, %s%s\n", jl_view_dim(cli), i + 1,
			      fact->source ? fact->source : "?", fact->date ? fact->date : "?", jl_view_reset(cli));
		if (source && source->url) {
			jl_buf_printf(&cli->out, "  %s    ", jl_view_dim(cli));
			jl_view_flow(cli, 6, 6, source->url);
			jl_buf_puts(&cli->out, jl_view_reset(cli));
		}
	}
	if (notes->n)
		jl_buf_printf(&cli->out, "  %s%s%s\n", jl_view_dim(cli),
			      JL_("● measured here  ◆ published  ◇ listed  ○ estimated"), jl_view_reset(cli));
}

const char *jl_view_label(enum jl_catalog_kind kind, const struct jl_field *field)
{
	const struct jl_fact_fields *tables[JL_N_RECORD] = {
		[JL_R_GPU] = &jl_gpu_fields, [JL_R_CPU] = &jl_cpu_fields, [JL_R_SYSTEM] = &jl_system_fields
	};
	static const struct {
		const char *key, *en;
	} others[] = {
		{ "oneway", JL_N("bandwidth, one way") },
		{ "bothway", JL_N("bandwidth, both ways") },
		{ "n_links", JL_N("links or ports") },
	};

	for (size_t i = 0; tables[kind] && i < tables[kind]->n; i++)
		if (strcmp(tables[kind]->rows[i].key, field->key) == 0)
			return jl_msg(tables[kind]->rows[i].en);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strcmp(others[i].key, field->key) == 0)
			return jl_msg(others[i].en);
	return field->key;
}

/* The sources that a record's facts name, so that the JSON stands by itself. */
static void sources_json(struct jl_json *json, const struct jl_catalog *cat, const struct jl_schema *schema,
			 const void *record)
{
	const char *seen[JL_SCHEMA_FIELDS_MAX];
	size_t n_seen = 0;

	jl_json_put_array(json, "sources");
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_fact *fact = schema->fields[i].type == JL_F_FACT
						     ? jl_field_at(&schema->fields[i], record)
						     : NULL;
		const struct jl_source *source = fact && fact->source ? jl_source_by_id(cat, fact->source) : NULL;
		bool again = false;

		for (size_t k = 0; source && k < n_seen; k++)
			again |= strcmp(seen[k], source->id) == 0;
		if (!source || again)
			continue;
		seen[n_seen++] = source->id;
		jl_json_object(json);
		jl_fields_put(json, jl_schema_of(JL_R_SOURCE), source);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

/* Where a source leaves the variant open ("H100"): all that it may mean. */
static void variants_json(struct jl_json *json, const struct jl_catalog *cat, const struct jl_price *price)
{
	const struct jl_gpu *may[16];
	size_t n = price->gpu ? 0 : jl_price_gpus(may, sizeof(may) / sizeof(*may), cat, price);

	if (n == 0)
		return;
	jl_json_put_array(json, "gpu_variants");
	for (size_t i = 0; i < n && i < sizeof(may) / sizeof(*may); i++)
		jl_json_string(json, may[i]->id);
	jl_json_end_array(json);
}

void jl_view_record_json(struct jl_json *json, const struct jl_catalog *cat, enum jl_catalog_kind kind,
			 const void *record)
{
	const struct jl_schema *schema = jl_schema_of(kind);

	jl_json_object(json);
	jl_json_put_string(json, "record", schema->en);
	jl_fields_put(json, schema, record);
	if (kind == JL_R_PRICE)
		variants_json(json, cat, record);
	sources_json(json, cat, schema, record);
	jl_json_end_object(json);
}

enum jl_status jl_view_table(struct jl_cli *cli, struct jl_table *table, size_t indent, struct jl_err *err)
{
	struct jl_table_style style = { .width = cli->width, .indent = indent, .colour = cli->color };

	return jl_table_print(table, &style, &cli->out, err);
}

void jl_view_wrapped(struct jl_cli *cli, size_t indent, const char *label, const char *text)
{
	jl_buf_pad(&cli->out, ' ', indent);
	jl_buf_printf(&cli->out, "%s: ", label);
	jl_view_flow(cli, indent + jl_utf8_width(label) + 2, indent + 4, text);
}

void jl_view_flow(struct jl_cli *cli, size_t at, size_t indent, const char *text)
{
	jl_wrap(&cli->out, text, &(struct jl_wrap){ .width = cli->width, .at = at, .indent = indent });
}

void jl_view_entry(struct jl_cli *cli, const char *en, const char *format, ...)
{
	const char *label = en ? jl_msg(en) : "";
	const size_t width = jl_utf8_width(label);
	char text[512];
	va_list args;

	va_start(args, format);
	jl_vformat(text, sizeof(text), format, args);
	va_end(args);
	jl_buf_printf(&cli->out, "  %s%s%s", jl_view_bold(cli), label, jl_view_reset(cli));
	jl_buf_pad(&cli->out, ' ', width < 10 ? 10 - width : 1);
	jl_wrap(&cli->out, text, &(struct jl_wrap){ .width = cli->width, .at = 12, .indent = 12 });
}

enum jl_status jl_view_fields(struct jl_cli *cli, const struct jl_schema *schema, const void *record)
{
	jl_fields_print(&cli->out, schema, record);
	return JL_OK;
}

void jl_view_page(struct jl_cli *cli, struct jl_doc *ret_doc)
{
	jl_doc_init(ret_doc, &cli->arena, NULL);
}

enum jl_status jl_view_show(struct jl_cli *cli, const struct jl_doc *doc, struct jl_err *err)
{
	if (cli->page) {
		enum jl_status status;

		jl_ask_page(cli);
		status = jl_doc_to_fragment(doc, &cli->out, err);
		cli->page_end = cli->out.len;
		return status;
	}
	return jl_doc_to_terminal(doc, cli->width, cli->color, &cli->out, err);
}

const char *const *jl_view_options(struct jl_cli *cli)
{
	const struct jl_option *options = cli->command->options;
	const char **names;
	size_t n = 0;

	while (options && options[n].name)
		n++;
	names = jl_arena_array(&cli->arena, n + 1, sizeof *names);
	for (size_t i = 0; names && i < n; i++)
		names[i] = options[i].name;
	return names;
}

void jl_view_spool(struct jl_cli *cli, const struct jl_store *store)
{
	const struct jl_err *why;
	const char *file;
	const size_t n_refused = jl_store_refused(store, &file, &why);

	if (jl_store_sent(store))
		jl_buf_printf(&cli->warn, JL_("sent %zu results that had waited to %s\n"), jl_store_sent(store),
			      jl_store_where(store));
	if (jl_store_waiting(store))
		jl_buf_printf(&cli->warn, JL_("⚠ %zu results wait to be sent to %s\n"), jl_store_waiting(store),
			      jl_store_where(store));
	if (n_refused)
		jl_buf_printf(&cli->warn,
			      JL_("⚠ %zu results are not stored: the server refuses them. They are in %s%s%s\n"),
			      n_refused, file, why ? ": " : "", why ? why->text : "");
}

const char *jl_view_bold(const struct jl_cli *cli)
{
	return cli->color ? JL_TABLE_BOLD : "";
}

const char *jl_view_dim(const struct jl_cli *cli)
{
	return cli->color ? JL_TABLE_DIM : "";
}

const char *jl_view_reset(const struct jl_cli *cli)
{
	return cli->color ? JL_TABLE_RESET : "";
}
