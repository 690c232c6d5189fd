/* jeoul catalog list, search, sources, show, validate. */
#include <string.h>
#include <strings.h>

#include "catalog/check.h"
#include "catalog/find.h"
#include "catalog/load.h"
#include "cli/catalog.h"
#include "cli/view.h"

const struct jl_option jl_catalog_validate_options[] = {
	JL_O_FLAG("alone", JL_N("the folders are a whole catalog, not laid over the built-in one")),
	{ 0 },
};

/* Kinds in display order. */
static const struct {
	enum jl_catalog_kind kind;
	const char *en;
} kinds[] = {
	{ JL_R_GPU, JL_N("accelerators") },
	{ JL_R_CPU, JL_N("CPUs") },
	{ JL_R_LINK, JL_N("links and networks") },
	{ JL_R_SYSTEM, JL_N("systems") },
	{ JL_R_MODEL, JL_N("models") },
	{ JL_R_PARAM, JL_N("fitted parameters") },
	{ JL_R_FAMILY, JL_N("architecture families") },
	{ JL_R_TARIFF, JL_N("tariffs") },
	{ JL_R_RULE, JL_N("rules") },
	{ JL_R_RELIABILITY, JL_N("published failure rates") },
	{ JL_R_SOURCE, JL_N("sources") },
	{ JL_R_PRICE, JL_N("prices") },
};

/* --- JSON: records by schema; keys are the C members including their units */

/* Writes the sources named by a record's facts, so that the JSON is self-contained. */
static void put_sources(struct jl_json *json, const struct jl_catalog *cat, const struct jl_schema *schema,
			const void *record)
{
	const struct jl_source *seen[JL_SCHEMA_FIELDS_MAX];
	size_t n = 0;

	jl_json_put_array(json, "sources");
	for (const struct jl_field *f = schema->fields; f < schema->fields + schema->n_fields; f++) {
		const struct jl_fact *fact = f->type == JL_F_FACT ? jl_field_at(f, record) : NULL;
		const struct jl_source *source = fact && fact->source ? jl_source_by_id(cat, fact->source) : NULL;
		size_t k = 0;

		while (k < n && seen[k] != source)
			k++;
		if (!source || k < n)
			continue;
		seen[n++] = source;
		jl_json_object(json);
		jl_fields_put(json, jl_schema_of(JL_R_SOURCE), source);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

/* Writes the possible variants if a source names only a family ("H100"). */
static void put_variants(struct jl_json *json, const struct jl_catalog *cat, const struct jl_price *price)
{
	const struct jl_gpu *may[16];
	const size_t n = price->gpu ? 0 : jl_price_gpus(may, JL_LEN(may), cat, price);

	if (n == 0)
		return;
	jl_json_put_array(json, "gpu_variants");
	for (size_t i = 0; i < n && i < JL_LEN(may); i++)
		jl_json_string(json, may[i]->id);
	jl_json_end_array(json);
}

JL_TEXT_OF(network, jl_convnet, r ? "network" : NULL);
JL_NUMBER_OF(mac, jl_convnet, jl_convnet_mac(r));

static const struct jl_field convnet_rows[] = {
	{ JL_FIELD_TEXT_OF("record", network) },
	{ JL_FIELD(jl_convnet, TEXT, id) },
	{ JL_FIELD(jl_convnet, TEXT, name) },
	{ JL_FIELD_AS(jl_convnet, NUMBER, n_params, "params") },
	{ JL_FIELD_NUMBER_OF("fwd_mac_per_item", mac) },
	{ JL_FIELD(jl_convnet, TEXT, item) },
	{ JL_FIELD(jl_convnet, TEXT, unit) },
	{ JL_FIELD(jl_convnet, NUMBER, units_per_item) },
	{ JL_FIELD(jl_convnet, TEXT, source) },
};
static const struct jl_schema convnet_fields = JL_SCHEMA("network", jl_convnet, convnet_rows);

void jl_catalog_put(struct jl_json *json, const struct jl_catalog *cat, enum jl_catalog_kind kind, const void *record)
{
	const struct jl_schema *schema = kind == JL_N_RECORD ? &convnet_fields : jl_schema_of(kind);

	jl_json_object(json);
	if (kind != JL_N_RECORD)
		jl_json_put_string(json, "record", schema->en);
	jl_fields_put(json, schema, record);
	if (kind == JL_R_PRICE)
		put_variants(json, cat, record);
	if (kind != JL_N_RECORD)
		put_sources(json, cat, schema, record);
	jl_json_end_object(json);
}

static void put_kind(struct jl_json *json, const struct jl_catalog *cat, enum jl_catalog_kind kind,
		     const struct jl_convnet_list *nets)
{
	const struct jl_schema *schema = jl_schema_of(kind);
	size_t n;
	const char *list = jl_catalog_list(cat, kind, &n);

	jl_json_object(json);
	jl_json_put_array(json, schema->list);
	for (size_t i = 0; i < n; i++)
		jl_catalog_put(json, cat, kind, list + i * schema->size_B);
	jl_json_end_array(json);
	if (kind == JL_R_MODEL) {
		jl_json_put_array(json, "networks");
		for (size_t i = 0; i < nets->n_nets; i++)
			jl_catalog_put(json, cat, JL_N_RECORD, &nets->nets[i]);
		jl_json_end_array(json);
	}
	jl_json_end_object(json);
}

static void put_system(struct jl_json *json, const struct jl_catalog *cat, const struct jl_sys *sys)
{
	const struct {
		const char *key;
		enum jl_catalog_kind kind;
		const void *record;
	} parts[] = { { "gpu", JL_R_GPU, sys->gpu },
		      { "cpu", JL_R_CPU, sys->cpu },
		      { "system", JL_R_SYSTEM, sys->system } };

	jl_json_pack(json, "{record:s text:s n_nodes:i n_per_node:i", "system expression", sys->text, sys->n_nodes,
		     sys->n_per_node);
	for (size_t i = 0; i < JL_LEN(parts); i++)
		if (parts[i].record) {
			jl_json_key(json, parts[i].key);
			jl_catalog_put(json, cat, parts[i].kind, parts[i].record);
		}
	if (sys->join) {
		jl_json_pack(json, "join:s join_assumed:b", sys->join->id, sys->join_assumed);
		jl_fact_put(json, "join_oneway_Bps", &sys->join_oneway_Bps);
	}
	if (sys->net) {
		jl_json_pack(json, "network:s n_network:i network_assumed:b", sys->net->id, sys->n_net,
			     sys->net_assumed);
		jl_fact_put(json, "network_oneway_Bps", &sys->net_oneway_Bps);
	}
	jl_json_end_object(json);
}

static enum jl_status list_kinds(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_json json;
	struct jl_doc doc;

	jl_json_init(&json, &cli->out, true);
	jl_view_page(cli, &doc);
	doc.flush = true;
	jl_show_table(&doc, NULL, "kft", JL_N("kind|records|"));
	jl_json_pack(&json, cli->json ? "{" : "");
	for (size_t i = 0; i < JL_LEN(kinds); i++) {
		const char *list = jl_schema_of(kinds[i].kind)->list;
		size_t n;

		jl_catalog_list(cli->cat, kinds[i].kind, &n);
		for (struct jl_convnet_at at = { 0 }; kinds[i].kind == JL_R_MODEL && jl_convnet_next(cli->cat, &at);)
			n++;
		if (cli->json)
			jl_json_put_integer(&json, list, (long long)n);
		JL_ROW(&doc, false, JL_NAMED(list), JL_NAMED(jl_doc_format(&doc, "%zu", n)),
		       JL_NAMED(jl_msg(kinds[i].en)));
	}
	if (!cli->json)
		return jl_view_show(cli, &doc, err);
	jl_json_end_object(&json);
	jl_json_finish(&json);
	return JL_OK;
}

static enum jl_status list_kind(struct jl_cli *cli, enum jl_catalog_kind kind, const struct jl_convnet_list *nets,
				struct jl_err *err)
{
	if (cli->json)
		JL_JSON(cli, put_kind(&json, cli->cat, kind, nets));
	if (kind == JL_R_PRICE)
		return jl_fail(err, JL_E_USAGE, "prices have a command of their own: jeoul catalog prices --gpu NAME");
	JL_PAGE(cli, err,
		(jl_show_list(&doc, cli->cat, kind), kind == JL_R_MODEL ? jl_show_convnets(&doc, nets) : (void)0));
}

enum jl_status jl_cmd_catalog_list(struct jl_cli *cli, struct jl_err *err)
{
	const char *kind = cli->args.n_operands ? cli->args.operands[0] : NULL, *names[JL_LEN(kinds)], *nearest;
	struct jl_convnet_list nets = { 0 };

	if (!kind)
		return list_kinds(cli, err);
	if (strcmp(kind, "models") == 0)
		JL_TRY(jl_convnets(&nets, cli->cat, &cli->arena, err));
	for (size_t i = 0; i < JL_LEN(kinds); i++) {
		names[i] = jl_schema_of(kinds[i].kind)->list;
		if (strcmp(names[i], kind) == 0)
			return list_kind(cli, kinds[i].kind, &nets, err);
	}
	nearest = jl_nearest_name(kind, names, JL_LEN(kinds));
	if (nearest)
		return jl_fail(err, JL_E_USAGE, "'%s' is not a kind of record; did you mean %s?", kind, nearest);
	return jl_fail(err, JL_E_USAGE, "'%s' is not a kind of record; 'jeoul catalog list' shows all kinds", kind);
}

/* --- search */

static bool in_texts(const char *const *texts, const char *word)
{
	while (texts && *texts && !strcasestr(*texts, word))
		texts++;
	return texts && *texts;
}

/* True if a text field of the record contains the word. */
static bool has_word(const struct jl_shown *f, const char *word)
{
	const struct jl_schema *schema = f->kind == JL_N_RECORD ? NULL : jl_schema_of(f->kind);
	const struct jl_convnet *net = f->record;
	bool found = !schema && (strcasestr(net->id, word) || strcasestr(net->name, word));

	for (size_t a = 0; !schema && a < net->n_aliases && !found; a++)
		found = strcasestr(net->aliases[a], word) != NULL;
	for (size_t i = 0; schema && i < schema->n_fields && !found; i++) {
		const struct jl_field *field = &schema->fields[i];
		const void *at = jl_field_at(field, f->record);
		const char *text = field->type == JL_F_TEXT || field->type == JL_F_DATE ? *(const char *const *)at
											: NULL;

		found = (text && strcasestr(text, word)) ||
			(field->type == JL_F_TEXTS && in_texts(*(const char *const *const *)at, word));
	}
	return found;
}

static void find(const struct jl_cli *cli, enum jl_catalog_kind kind, const char *list, size_t n, size_t size_B,
		 struct jl_shown *found, size_t *n_found)
{
	for (size_t i = 0; i < n; i++) {
		const struct jl_shown f = { kind, list + i * size_B };
		size_t w = 0;

		while (w < cli->args.n_operands && has_word(&f, cli->args.operands[w]))
			w++;
		if (w == cli->args.n_operands)
			found[(*n_found)++] = f;
	}
}

static void put_found(struct jl_json *json, const struct jl_catalog *cat, const struct jl_shown *found, size_t n)
{
	jl_json_pack(json, "{found:[");
	for (size_t i = 0; i < n; i++)
		jl_catalog_put(json, cat, found[i].kind, found[i].record);
	jl_json_pack(json, "]}");
}

enum jl_status jl_cmd_catalog_search(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_convnet_list nets;
	struct jl_shown *found;
	size_t n = 0, most, n_kind;

	JL_TRY(jl_convnets(&nets, cli->cat, &cli->arena, err));
	most = nets.n_nets;
	for (size_t k = 0; k < JL_LEN(kinds); k++) {
		jl_catalog_list(cli->cat, kinds[k].kind, &n_kind);
		most += n_kind;
	}
	found = jl_arena_array(&cli->arena, most + 1, sizeof *found);
	JL_TRY(jl_got(found, err));
	for (size_t k = 0; k < JL_LEN(kinds); k++) {
		const char *list = jl_catalog_list(cli->cat, kinds[k].kind, &n_kind);

		/* excluded: hundreds of rents would hide other results; they have their own command */
		if (kinds[k].kind != JL_R_PRICE)
			find(cli, kinds[k].kind, list, n_kind, jl_schema_of(kinds[k].kind)->size_B, found, &n);
		if (kinds[k].kind == JL_R_MODEL)
			find(cli, JL_N_RECORD, (const char *)nets.nets, nets.n_nets, sizeof *nets.nets, found, &n);
	}
	if (cli->json)
		JL_JSON(cli, put_found(&json, cli->cat, found, n));
	if (n == 0)
		return jl_fail(err, JL_E_NOTFOUND, "nothing in the catalog contains all of these words; try fewer");
	JL_PAGE(cli, err, jl_show_found(&doc, found, n));
}

/* --- show one record */

static enum jl_status show(struct jl_cli *cli, const struct jl_shown *shown, struct jl_err *err)
{
	if (cli->json)
		JL_JSON(cli, jl_catalog_put(&json, cli->cat, shown->kind, shown->record));
	JL_PAGE(cli, err, jl_show_shown(&doc, cli->cat, shown));
}

enum jl_status jl_cmd_catalog_sources(struct jl_cli *cli, struct jl_err *err)
{
	const char *id = cli->args.n_operands ? cli->args.operands[0] : NULL;
	const struct jl_source *source = id ? jl_source_by_id(cli->cat, id) : NULL;

	if (!id)
		return list_kind(cli, JL_R_SOURCE, NULL, err);
	if (!source)
		return jl_fail(err, JL_E_NOTFOUND, "no source has the id '%s'; 'jeoul catalog sources' lists them", id);
	return show(cli, &(struct jl_shown){ JL_R_SOURCE, source }, err);
}

/* True if the text has system syntax: a count, parentheses, via, over, a provider. */
static bool looks_like_system(const char *text)
{
	size_t digits = strspn(text, "0123456789 ");
	const char *sign = text + digits;

	if (strpbrk(text, "()") || strstr(text, " via ") || strstr(text, " over ") || strchr(text, ':'))
		return true;
	if (!digits)
		return false;
	return *sign == '*' || strncmp(sign, "×", strlen("×")) == 0 ||
	       ((*sign == 'x' || *sign == 'X') && (sign[1] == ' ' || sign[1] == '('));
}

/* A network (not a transformer) by name; if no other name is near, lists networks with this prefix. */
static enum jl_status find_convnet(struct jl_cli *cli, const char *text, const struct jl_convnet **ret_net,
				   struct jl_err *err)
{
	const char *name = jl_convnet_listed(cli->cat, text), *ids = "";
	struct jl_convnet *net = name ? jl_arena_alloc(&cli->arena, sizeof(*net)) : NULL;
	struct jl_convnet_at at = { 0 };

	*ret_net = net;
	if (name)
		return net ? jl_convnet_load(net, cli->cat, name, &cli->arena, err) : jl_fail_nomem(err);
	while (strlen(ids) < 200 && (name = jl_convnet_next(cli->cat, &at)))
		if (strncasecmp(name, text, strlen(text)) == 0 && jl_convnet_listed(cli->cat, name) == name)
			ids = jl_arena_printf(&cli->arena, "%s%s%s", ids, *ids ? ", " : "", name);
	if (!*ids)
		return JL_E_NOTFOUND;
	return jl_fail(err, JL_E_AMBIGUOUS, "no record of the catalog is called '%s'; did you mean %s?", text, ids);
}

static enum jl_status show_system(struct jl_cli *cli, const char *text, struct jl_err *err)
{
	struct jl_sys sys;

	JL_TRY(jl_sys_parse(&sys, cli->cat, text, &cli->arena, err));
	if (cli->json)
		JL_JSON(cli, put_system(&json, cli->cat, &sys));
	JL_PAGE(cli, err, jl_show_system(&doc, cli->cat, &sys));
}

/* Finds records that have ids but no common names: rules, tariffs, fitted parameters, sources. */
static bool find_by_id(struct jl_shown *ret_shown, const struct jl_catalog *cat, const char *id)
{
	static const enum jl_catalog_kind quiet[] = { JL_R_RULE, JL_R_RELIABILITY, JL_R_TARIFF, JL_R_PARAM,
						      JL_R_SOURCE };

	for (size_t k = 0; k < JL_LEN(quiet); k++) {
		const struct jl_schema *schema = jl_schema_of(quiet[k]);
		size_t n;
		const char *list = jl_catalog_list(cat, quiet[k], &n);

		for (size_t i = 0; i < n; i++)
			if (strcmp(jl_record_id(schema, list + i * schema->size_B), id) == 0) {
				*ret_shown = (struct jl_shown){ quiet[k], list + i * schema->size_B };
				return true;
			}
	}
	return false;
}

enum jl_status jl_cmd_catalog_show(struct jl_cli *cli, struct jl_err *err)
{
	const char *text = cli->args.operands[0];
	const struct jl_model_info *model;
	const struct jl_convnet *net = NULL;
	struct jl_found_any any;
	struct jl_err net_err = { 0 }, sys_err;
	enum jl_status status, net_status;

	if (looks_like_system(text) && jl_find_model(&model, cli->cat, text, NULL)) /* "llama3.1:8b" is not a system */
		return show_system(cli, text, err);
	net_status = find_convnet(cli, text, &net, &net_err);
	if (net && !net_status)
		return show(cli, &(struct jl_shown){ JL_N_RECORD, net }, err);
	status = jl_find_any(&any, cli->cat, text, err);
	struct jl_shown by_id;
	struct jl_sys sys;

	if (status == JL_E_NOTFOUND && find_by_id(&by_id, cli->cat, text))
		return show(cli, &by_id, err);
	if (status == JL_E_NOTFOUND && !jl_sys_parse(&sys, cli->cat, text, &cli->arena, &sys_err)) /* e.g. "8xH100" */
		return show_system(cli, text, err);
	if (status == JL_E_NOTFOUND && net_status != JL_E_NOTFOUND && err)
		*err = net_err;
	if (status)
		return status == JL_E_NOTFOUND ? net_status : status;
	const struct jl_shown shown = any.gpu      ? (struct jl_shown){ JL_R_GPU, any.gpu }
				      : any.cpu    ? (struct jl_shown){ JL_R_CPU, any.cpu }
				      : any.model  ? (struct jl_shown){ JL_R_MODEL, any.model }
				      : any.family ? (struct jl_shown){ JL_R_FAMILY, any.family }
						   : (struct jl_shown){ JL_R_LINK, any.link };

	return shown.record ? show(cli, &shown, err) : show_system(cli, text, err);
}

/* --- validate: lists all errors with place and suggestion */

/* Folders to read: the active overlays and those given; with --alone only the latter. */
static enum jl_status gather(const char **dirs, size_t *ret_n, struct jl_cli *cli, struct jl_err *err)
{
	const bool alone = jl_flag(cli, "alone");
	size_t n = alone ? 0 : jl_overlay_dirs(dirs, cli);

	if (alone && cli->args.n_operands == 0)
		return jl_fail(err, JL_E_USAGE, "--alone needs a folder: jeoul catalog validate --alone DIR");
	for (size_t i = 0; i < cli->args.n_operands; i++)
		dirs[n++] = cli->args.operands[i];
	*ret_n = n;
	return JL_OK;
}

static void put_findings(struct jl_json *json, const struct jl_findings *findings)
{
	jl_json_pack(json, "{n_files:z n_findings:z findings:[", findings->n_files, findings->n);
	for (const struct jl_finding *f = findings->first; f; f = f->next)
		jl_json_string(json, f->err.en);
	jl_json_pack(json, "]}");
}

static void print_clean(struct jl_cli *cli, const struct jl_catalog *cat, size_t n_files)
{
	jl_buf_printf(&cli->out,
		      JL_("clean: %zu accelerators, %zu systems, %zu links, %zu models, %zu prices, %zu sources\n"),
		      cat->n_gpus, cat->n_systems, cat->n_links, cat->n_models, cat->n_prices, cat->n_sources);
	if (jl_flag(cli, "alone"))
		jl_buf_printf(&cli->out, JL_("files read, by themselves: %zu\n"), n_files);
	else if (n_files == 0)
		jl_buf_puts(&cli->out, JL_("the built-in catalog; no files are laid over it\n"));
	else
		jl_buf_printf(&cli->out, JL_("the built-in catalog; files laid over it: %zu\n"), n_files);
}

enum jl_status jl_cmd_catalog_validate(struct jl_cli *cli, struct jl_err *err)
{
	const char *dirs[JL_OVERLAYS_MAX + JL_OPERANDS_MAX];
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_catalog *base = jl_flag(cli, "alone") ? NULL : cat;
	struct jl_findings findings;
	size_t n_dirs = 0;
	enum jl_status status = JL_OK;

	JL_TRY(gather(dirs, &n_dirs, cli, err));
	jl_findings_init(&findings, &cli->arena);
	if (n_dirs)
		status = jl_catalog_read(&cat, base, dirs, n_dirs, &cli->arena, &findings, err);
	else
		jl_catalog_check(cat, NULL, &findings);
	if (status && findings.n == 0)
		return status; /* nothing could be read */
	cli->exit_code = findings.n ? 1 : 0;
	if (cli->json)
		JL_JSON(cli, put_findings(&json, &findings));
	for (const struct jl_finding *f = findings.first; f; f = f->next)
		jl_buf_printf(&cli->out, "%s\n", f->err.text);
	if (findings.n > findings.n_listed)
		jl_buf_printf(&cli->out, JL_("... and %zu more\n"), findings.n - findings.n_listed);
	if (findings.n == 0)
		print_clean(cli, cat, findings.n_files);
	else
		jl_buf_printf(&cli->out, JL_("files read: %zu\n"), findings.n_files);
	return JL_OK;
}
