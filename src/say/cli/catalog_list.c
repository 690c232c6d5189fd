/* jeoul catalog list, search, sources: what there is. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/find.h"
#include "cli/view.h"

const struct jl_option jl_catalog_list_options[] = { { 0 } };
const struct jl_option jl_catalog_search_options[] = { { 0 } };
const struct jl_option jl_catalog_sources_options[] = { { 0 } };

#define LIST_COLUMNS_MAX 6

/* A column of a list: a field of the record, by its YAML key. */
struct list_column {
	const char *key, *en;
	size_t narrowest; /* may be cut to this; 0: never */
};

struct list_view {
	enum jl_catalog_kind kind;
	const char *en;
	struct list_column columns[LIST_COLUMNS_MAX];
};

static const struct list_view views[] = {
	{ JL_R_GPU,
	  JL_N("accelerators"),
	  { { "id", JL_N("id"), 16 },
	    { "mem", JL_N("memory"), 0 },
	    { "mem_rate", JL_N("bandwidth"), 0 },
	    { "bf16_dense", JL_N("BF16 dense"), 0 },
	    { "fp32", JL_N("FP32"), 0 },
	    { "tdp", JL_N("power"), 0 } } },
	{ JL_R_CPU,
	  JL_N("CPUs"),
	  { { "id", JL_N("id"), 0 },
	    { "cores", JL_N("cores"), 0 },
	    { "fp32", JL_N("FP32"), 0 },
	    { "mem_rate", JL_N("bandwidth"), 0 },
	    { "tdp", JL_N("power"), 0 } } },
	{ JL_R_LINK,
	  JL_N("links and networks"),
	  { { "id", JL_N("id"), 0 },
	    { "role", JL_N("role"), 0 },
	    { "oneway", JL_N("one way"), 0 },
	    { "bothway", JL_N("both ways"), 0 },
	    { "per", JL_N("per"), 0 },
	    { "name", JL_N("name"), 4 } } },
	{ JL_R_SYSTEM,
	  JL_N("systems"),
	  { { "id", JL_N("id"), 24 },
	    { "n_gpu", JL_NC("kind", "GPUs"), 0 },
	    { "gpu", JL_N("kind"), 10 },
	    { "join", JL_N("joined via"), 10 },
	    { "net_rate", JL_N("network"), 0 },
	    { "ram", JL_N("RAM"), 0 } } },
	{ JL_R_MODEL,
	  JL_N("models"),
	  { { "id", JL_N("id"), 0 },
	    { "params", JL_N("parameters"), 0 },
	    { "n_layers", JL_N("layers"), 0 },
	    { "hidden", JL_N("hidden"), 0 },
	    { "heads", JL_N("heads"), 0 },
	    { "vocab", JL_N("vocabulary"), 0 } } },
	{ JL_R_PARAM,
	  JL_N("fitted parameters"),
	  { { "id", JL_N("id"), 4 },
	    { "value", JL_N("value"), 0 },
	    { "unit", JL_N("unit"), 0 },
	    { "n_rows", JL_N("rows"), 0 } } },
	{ JL_R_FAMILY,
	  JL_N("architecture families"),
	  { { "id", JL_N("id"), 0 }, { "vendor", JL_N("vendor"), 0 }, { "name", JL_N("name"), 4 } } },
	{ JL_R_TARIFF,
	  JL_N("tariffs"),
	  { { "id", JL_N("id"), 0 },
	    { "component", JL_N("component"), 0 },
	    { "value", JL_N("value"), 0 },
	    { "date", JL_N("date"), 0 },
	    { "name", JL_N("name"), 4 } } },
	{ JL_R_RULE,
	  JL_N("rules"),
	  { { "id", JL_N("id"), 4 },
	    { "kind", JL_N("kind"), 0 },
	    { "value", JL_N("value"), 4 },
	    { "date", JL_N("date"), 0 } } },
	{ JL_R_SOURCE,
	  JL_N("sources"),
	  { { "id", JL_N("id"), 4 },
	    { "origin", JL_N("origin"), 0 },
	    { "date", JL_N("date"), 0 },
	    { "url", JL_N("address"), 4 } } },
	{ JL_R_PRICE, JL_N("prices"), { { NULL, NULL, 0 } } },
};
#define N_VIEWS (sizeof(views) / sizeof(*views))

static bool is_right(enum jl_field_type type)
{
	return type == JL_F_FACT || type == JL_F_NUMBER || type == JL_F_INT;
}

static const char *number_text(char out[JL_UNITS_TEXT_MAX], double number)
{
	if (number == floor(number))
		return jl_view_value(out, number, JL_K_NUMBER, false); /* with separators */
	snprintf(out, JL_UNITS_TEXT_MAX, "%.4g", number);
	return out;
}

static void cell(struct jl_table *table, const struct jl_field *field, const void *record)
{
	const void *at = jl_field_at(field, record);
	char value[JL_UNITS_TEXT_MAX];
	const char *text = "";

	switch (field->type) {
	case JL_F_TEXT:
	case JL_F_DATE: text = *(const char *const *)at; break;
	case JL_F_FACT:
		if (jl_fact_known(at))
			text = jl_view_value(value, ((const struct jl_fact *)at)->value, field->kind, true);
		break;
	case JL_F_NUMBER:
		if (!isnan(*(const double *)at))
			text = number_text(value, *(const double *)at);
		break;
	case JL_F_INT:
		if (*(const int *)at)
			text = (snprintf(value, sizeof(value), "%d", *(const int *)at), value);
		break;
	case JL_F_CHOICE: text = jl_choice_name(field->choices, *(const int *)at); break;
	default: break;
	}
	jl_table_cell(table, text ? text : "");
}

static enum jl_status print_view(struct jl_cli *cli, const struct list_view *view, struct jl_err *err)
{
	const struct jl_schema *schema = jl_schema_of(view->kind);
	struct jl_table_column columns[LIST_COLUMNS_MAX] = { 0 };
	size_t fields[LIST_COLUMNS_MAX], n_columns = 0, n;
	const char *list = jl_catalog_list(cli->cat, view->kind, &n);
	struct jl_table table;

	for (size_t i = 0; i < LIST_COLUMNS_MAX && view->columns[i].key; i++) {
		size_t f = jl_schema_field(schema, view->columns[i].key);

		if (f == schema->n_fields)
			continue;
		fields[n_columns] = f;
		columns[n_columns++] = (struct jl_table_column){ .head = jl_msg(view->columns[i].en),
								 .align = is_right(schema->fields[f].type) ? JL_RIGHT
													   : JL_LEFT,
								 .flexible = view->columns[i].narrowest > 0,
								 .min_width = view->columns[i].narrowest };
	}
	jl_table_init(&table, &cli->arena, columns, n_columns);
	for (size_t i = 0; i < n; i++) {
		for (size_t c = 0; c < n_columns; c++)
			cell(&table, &schema->fields[fields[c]], list + i * schema->size_B);
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 0, err);
}

static void print_json(struct jl_cli *cli, const struct list_view *view, const struct jl_convnet_list *nets)
{
	struct jl_json json;
	size_t n;
	const struct jl_schema *schema = jl_schema_of(view->kind);
	const char *list = jl_catalog_list(cli->cat, view->kind, &n);

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_array(&json, schema->list);
	for (size_t i = 0; i < n; i++)
		jl_view_record_json(&json, cli->cat, view->kind, list + i * schema->size_B);
	jl_json_end_array(&json);
	if (nets) {
		jl_json_put_array(&json, "networks");
		for (size_t i = 0; i < nets->n_nets; i++)
			jl_view_convnet_json(&json, &nets->nets[i]);
		jl_json_end_array(&json);
	}
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

static enum jl_status print_counts(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_convnet_list nets;
	enum jl_status status = jl_cli_convnets(&nets, cli, err);
	const struct jl_table_column columns[] = { { .head = JL_("kind") },
						   { .head = JL_("records"), .align = JL_RIGHT },
						   { .head = "" } };
	struct jl_table table;
	struct jl_json json;

	if (status)
		return status;
	jl_json_init(&json, &cli->out, true);
	jl_table_init(&table, &cli->arena, columns, 3);
	if (cli->json)
		jl_json_object(&json);
	for (size_t i = 0; i < N_VIEWS; i++) {
		const char *list = jl_schema_of(views[i].kind)->list;
		size_t n;

		jl_catalog_list(cli->cat, views[i].kind, &n);
		n += views[i].kind == JL_R_MODEL ? nets.n_nets : 0;
		if (cli->json) {
			jl_json_put_integer(&json, list, (long long)n);
			continue;
		}
		jl_table_cell(&table, list);
		jl_table_printf(&table, "%zu", n);
		jl_table_cell(&table, jl_msg(views[i].en));
		jl_table_end_row(&table);
	}
	if (!cli->json)
		return jl_view_table(cli, &table, 0, err);
	jl_json_end_object(&json);
	jl_json_finish(&json);
	return JL_OK;
}

static enum jl_status list_kind(struct jl_cli *cli, const struct list_view *view, struct jl_err *err)
{
	bool models = view->kind == JL_R_MODEL;
	struct jl_convnet_list nets = { 0 };
	enum jl_status status;

	JL_TRY(models ? jl_cli_convnets(&nets, cli, err) : JL_OK);
	if (cli->json) {
		print_json(cli, view, models ? &nets : NULL);
		return JL_OK;
	}
	if (!view->columns[0].key)
		return jl_fail(err, JL_E_USAGE, "prices have a command of their own: jeoul catalog prices --gpu NAME");
	status = print_view(cli, view, err);
	if (status || !models)
		return status;
	jl_buf_putc(&cli->out, '\n');
	return jl_view_convnets(cli, &nets, err);
}

enum jl_status jl_cmd_catalog_list(struct jl_cli *cli, struct jl_err *err)
{
	const char *kind = cli->args.n_operands ? cli->args.operands[0] : NULL;
	const char *names[N_VIEWS];
	const char *nearest;

	if (!kind)
		return print_counts(cli, err);
	for (size_t i = 0; i < N_VIEWS; i++) {
		names[i] = jl_schema_of(views[i].kind)->list;
		if (strcmp(names[i], kind) == 0)
			return list_kind(cli, &views[i], err);
	}
	nearest = jl_nearest_name(kind, names, N_VIEWS);
	if (nearest)
		return jl_fail(err, JL_E_USAGE, "'%s' is not a kind of record; did you mean %s?", kind, nearest);
	return jl_fail(err, JL_E_USAGE, "'%s' is not a kind of record; 'jeoul catalog list' shows all kinds", kind);
}

static bool has_all_words(const struct jl_schema *schema, const void *record, const char *const *words, size_t n_words)
{
	for (size_t w = 0; w < n_words; w++) {
		bool found = false;

		for (size_t i = 0; i < schema->n_fields && !found; i++) {
			const struct jl_field *field = &schema->fields[i];
			const void *at = jl_field_at(field, record);
			const char *text = field->type == JL_F_TEXT || field->type == JL_F_DATE
						   ? *(const char *const *)at
						   : NULL;

			found = text && strcasestr(text, words[w]);
			if (field->type == JL_F_TEXTS)
				for (const char *const *t = *(const char *const *const *)at; t && *t && !found; t++)
					found = strcasestr(*t, words[w]) != NULL;
		}
		if (!found)
			return false;
	}
	return true;
}

static const char *name_of(const struct jl_schema *schema, const void *record)
{
	static const char *const keys[] = { "name", "title", "item" };

	for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
		size_t i = jl_schema_field(schema, keys[k]);
		const char *text = i < schema->n_fields ? *(const char *const *)jl_field_at(&schema->fields[i], record)
							: NULL;

		if (text)
			return text;
	}
	return "";
}

/* What was found, as table or JSON. */
struct finds {
	struct jl_table table;
	struct jl_json json;
	size_t n;
};

static void find_records(struct jl_cli *cli, const struct list_view *view, struct finds *finds)
{
	const struct jl_schema *schema = jl_schema_of(view->kind);
	size_t n;
	const char *list = jl_catalog_list(cli->cat, view->kind, &n);

	for (size_t i = 0; i < n; i++) {
		const void *record = list + i * schema->size_B;

		if (!has_all_words(schema, record, cli->args.operands, cli->args.n_operands))
			continue;
		finds->n++;
		if (cli->json) {
			jl_view_record_json(&finds->json, cli->cat, view->kind, record);
			continue;
		}
		jl_table_cell(&finds->table, jl_msg(schema->en));
		jl_table_cell(&finds->table, jl_record_id(schema, record));
		jl_table_cell(&finds->table, name_of(schema, record));
		jl_table_end_row(&finds->table);
	}
}

static void find_convnets(struct jl_cli *cli, const struct jl_convnet_list *nets, struct finds *finds)
{
	for (size_t i = 0; i < nets->n_nets; i++) {
		if (!jl_convnet_has_words(&nets->nets[i], cli->args.operands, cli->args.n_operands))
			continue;
		finds->n++;
		if (cli->json) {
			jl_view_convnet_json(&finds->json, &nets->nets[i]);
			continue;
		}
		jl_table_cell(&finds->table, JL_C("model", "network"));
		jl_table_cell(&finds->table, nets->nets[i].id);
		jl_table_cell(&finds->table, nets->nets[i].name);
		jl_table_end_row(&finds->table);
	}
}

enum jl_status jl_cmd_catalog_search(struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_table_column columns[] = { { .head = JL_("kind") },
						   { .head = "id", .flexible = true, .min_width = 24 },
						   { .head = JL_("name"), .flexible = true } };
	struct jl_convnet_list nets;
	struct finds finds = { .n = 0 };

	JL_TRY(jl_cli_convnets(&nets, cli, err));
	jl_json_init(&finds.json, &cli->out, true);
	jl_table_init(&finds.table, &cli->arena, columns, 3);
	if (cli->json) {
		jl_json_object(&finds.json);
		jl_json_put_array(&finds.json, "found");
	}
	for (size_t v = 0; v < N_VIEWS; v++) {
		/* hundreds of rents would drown everything else; they have their own command */
		if (views[v].kind != JL_R_PRICE)
			find_records(cli, &views[v], &finds);
		if (views[v].kind == JL_R_MODEL)
			find_convnets(cli, &nets, &finds);
	}
	if (cli->json) {
		jl_json_end_array(&finds.json);
		jl_json_end_object(&finds.json);
		jl_json_finish(&finds.json);
		return JL_OK;
	}
	if (finds.n == 0)
		return jl_fail(err, JL_E_NOTFOUND, "nothing in the catalog contains all of these words; try fewer");
	return jl_view_table(cli, &finds.table, 0, err);
}

enum jl_status jl_cmd_catalog_sources(struct jl_cli *cli, struct jl_err *err)
{
	const struct list_view *view = NULL;
	const char *id = cli->args.n_operands ? cli->args.operands[0] : NULL;
	const struct jl_source *source;
	struct jl_json json;

	for (size_t i = 0; i < N_VIEWS; i++)
		if (views[i].kind == JL_R_SOURCE)
			view = &views[i];
	if (!id && cli->json) {
		print_json(cli, view, NULL);
		return JL_OK;
	}
	if (!id)
		return print_view(cli, view, err);
	source = jl_source_by_id(cli->cat, id);
	if (!source)
		return jl_fail(err, JL_E_NOTFOUND, "no source has the id '%s'; 'jeoul catalog sources' lists them", id);
	if (cli->json) {
		jl_json_init(&json, &cli->out, true);
		jl_view_record_json(&json, cli->cat, JL_R_SOURCE, source);
		jl_json_finish(&json);
		return JL_OK;
	}
	jl_buf_printf(&cli->out, "%s\n  %s\n  %s\n  %s, %s\n", source->id, source->title ? source->title : "",
		      source->url ? source->url : "", jl_origin_name(source->origin),
		      source->date ? source->date : "?");
	if (source->note)
		jl_buf_printf(&cli->out, "  %s\n", source->note);
	return JL_OK;
}
