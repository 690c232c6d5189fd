/* jeoul catalog show: one record with where each figure comes from, or a system as a tree. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "catalog/find.h"
#include "catalog/sysexpr.h"
#include "cli/view.h"

const struct jl_option jl_catalog_show_options[] = { { 0 } };

struct found {
	enum jl_catalog_kind kind;
	const void *record;
};

static enum jl_status facts_table(struct jl_cli *cli, enum jl_catalog_kind kind, const void *record,
				  struct jl_footnotes *notes, struct jl_err *err)
{
	static const struct jl_table_column columns[] = {
		{ .head = "" }, { .head = "", .align = JL_RIGHT }, { .head = "" }, { .head = "", .flexible = true }
	};
	const struct jl_schema *schema = jl_schema_of(kind);
	struct jl_table table;
	char value[JL_UNITS_TEXT_MAX], note[32];

	jl_table_init(&table, &cli->arena, columns, 4);
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *field = &schema->fields[i];
		const struct jl_fact *fact = field->type == JL_F_FACT ? jl_field_at(field, record) : NULL;

		if (!fact || !jl_fact_known(fact))
			continue;
		jl_table_cell(&table, jl_view_label(kind, field));
		jl_table_cell(&table, jl_view_value(value, fact->value, field->kind, true));
		jl_table_cell(&table, jl_view_note(note, notes, fact));
		jl_table_cell(&table, fact->note ? fact->note : "");
		jl_table_end_row(&table);
	}
	if (table.n_cells == 0)
		return JL_OK;
	return jl_view_table(cli, &table, 2, err);
}

/* The text fields that say something to a person; links to other records among them. */
static void text_lines(struct jl_cli *cli, enum jl_catalog_kind kind, const void *record)
{
	static const struct {
		const char *key, *en;
	} shown[] = {
		{ "vendor", JL_N("vendor") },
		{ "architecture", JL_N("architecture") },
		{ "compute_capability", JL_N("compute capability") },
		{ "memory_type", JL_N("memory type") },
		{ "form_factor", JL_N("form") },
		{ "pcie", JL_N("PCIe") },
		{ "link", JL_N("GPU link") },
		{ "p2p", JL_N("peer-to-peer over PCIe") },
		{ "p2p_note", JL_N("  because") },
		{ "power_connectors", JL_N("power connectors") },
		{ "kind", JL_N("kind") },
		{ "role", JL_N("role") },
		{ "topology", JL_N("topology") },
		{ "per", JL_N("rate belongs to") },
		{ "gpus", JL_N("used by") },
		{ "isa", JL_N("instruction set") },
		{ "url", JL_N("address") },
		{ "title", JL_N("title") },
		{ "date", JL_N("date") },
		{ "note", JL_N("note") },
	};
	const struct jl_schema *schema = jl_schema_of(kind);

	for (size_t s = 0; s < sizeof(shown) / sizeof(*shown); s++) {
		size_t i = jl_schema_field(schema, shown[s].key);
		const char *text;

		if (i == schema->n_fields)
			continue;
		if (schema->fields[i].type == JL_F_CHOICE)
			text = jl_choice_name(schema->fields[i].choices,
					      *(const int *)jl_field_at(&schema->fields[i], record));
		else if (schema->fields[i].type == JL_F_TEXT || schema->fields[i].type == JL_F_DATE)
			text = *(const char *const *)jl_field_at(&schema->fields[i], record);
		else
			continue;
		if (text && *text)
			jl_view_wrapped(cli, 2, jl_msg(shown[s].en), text);
	}
}

static void conflict_lines(struct jl_cli *cli, const struct jl_conflict *conflicts, size_t n)
{
	if (n == 0)
		return;
	jl_buf_printf(&cli->out, "\n  %s\n", JL_("Sources disagree:"));
	for (size_t i = 0; i < n; i++) {
		const struct jl_conflict *c = &conflicts[i];

		const char *line = jl_arena_printf(&cli->arena, "%s (%s)%s%s", c->other, c->source, c->why ? " — " : "",
						   c->why ? c->why : "");

		jl_view_wrapped(cli, 4, c->field, line ? line : c->other);
	}
}

static enum jl_status measured_table(struct jl_cli *cli, const struct jl_link_info *link, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_C("what", "measured"), .flexible = true, .min_width = 12 },
		{ .head = JL_("on") },
		{ .head = JL_("rate"), .align = JL_RIGHT },
		{ .head = JL_("of listed"), .align = JL_RIGHT },
		{ .head = JL_("conditions"), .flexible = true, .min_width = 10 },
	};
	struct jl_table table;
	char value[JL_UNITS_TEXT_MAX];

	if (link->n_measured == 0)
		return JL_OK;
	jl_buf_putc(&cli->out, '\n');
	jl_table_init(&table, &cli->arena, columns, 5);
	for (size_t i = 0; i < link->n_measured; i++) {
		const struct jl_link_measured *m = &link->measured[i];

		jl_table_cell(&table, m->what ? m->what : "");
		jl_table_cell(&table, m->gpu ? m->gpu : "");
		jl_table_cell(&table, jl_fact_known(&m->measured_Bps)
					      ? jl_units_text(value, m->measured_Bps.value, JL_K_BYTE_RATE, 4)
					      : "");
		if (jl_fact_known(&m->frac))
			jl_table_printf(&table, "%.0f %%", 100.0 * m->frac.value);
		else
			jl_table_cell(&table, "");
		jl_table_cell(&table, m->conditions ? m->conditions : "");
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static void model_lines(struct jl_cli *cli, const struct jl_model_info *m)
{
	struct jl_buf *out = &cli->out;
	char params[JL_UNITS_TEXT_MAX];

	jl_buf_printf(out, JL_("  %d layers · hidden %.0f · heads %.0f (kv %.0f) · ffn %.0f · vocabulary %.0f\n"),
		      m->n_layers, m->hidden, m->heads, m->kv_heads, m->ffn, m->vocab);
	if (m->moe.n_experts > 0)
		jl_buf_printf(out, JL_("  experts %d, %d per token\n"), (int)m->moe.n_experts, (int)m->moe.top_k);
	if (!isnan(m->params))
		jl_buf_printf(out, JL_("  parameters, published: %s (%s)\n"),
			      jl_view_value(params, m->params, JL_K_NUMBER, false),
			      m->params_source ? m->params_source : m->source);
	jl_buf_printf(out, "  %s · %s\n", m->tied ? JL_("head tied to the embedding") : JL_("untied head"),
		      m->gated ? JL_("gated feed-forward") : JL_("plain feed-forward"));
}

/* What the chips of a family do per clock, and who belongs to it. */
static void family_lines(struct jl_cli *cli, const struct jl_family *f)
{
	const struct {
		const char *name;
		double rate;
	} rates[] = { { "FP32", f->fp32_per_sm_clock }, { "TF32", f->tf32_per_sm_clock },
		      { "FP16", f->fp16_per_sm_clock }, { "BF16", f->bf16_per_sm_clock },
		      { "FP8", f->fp8_per_sm_clock },   { "INT8", f->int8_per_sm_clock } };
	struct jl_buf text;

	jl_buf_init(&text, 1 << 16);
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		if (!isnan(rates[i].rate))
			jl_buf_printf(&text, "%s%s %.0f", text.len ? ", " : "", rates[i].name, rates[i].rate);
	if (text.len)
		jl_view_wrapped(cli, 2, JL_("dense operations per clock and SM"), jl_buf_text(&text));
	jl_buf_reset(&text);
	for (size_t i = 0; i < cli->cat->n_gpus; i++)
		if (cli->cat->gpus[i].family && strcmp(cli->cat->gpus[i].family, f->id) == 0)
			jl_buf_printf(&text, "%s%s", text.len ? ", " : "", cli->cat->gpus[i].id);
	if (text.len)
		jl_view_wrapped(cli, 2, JL_("accelerators"), jl_buf_text(&text));
	if (f->parent)
		jl_view_wrapped(cli, 2, JL_("nearest family"), f->parent);
	jl_buf_release(&text);
}

static enum jl_status show_record(struct jl_cli *cli, const struct found *found, struct jl_err *err)
{
	const struct jl_schema *schema = jl_schema_of(found->kind);
	size_t name_at = jl_schema_field(schema, "name");
	const char *id = jl_record_id(schema, found->record);
	const char *name = name_at < schema->n_fields
				   ? *(const char *const *)jl_field_at(&schema->fields[name_at], found->record)
				   : id;
	struct jl_footnotes notes = { .n = 0 };
	enum jl_status status = JL_OK;

	jl_buf_printf(&cli->out, "%s%s%s  (%s)\n\n", jl_view_bold(cli), name, jl_view_reset(cli), id);
	if (found->kind == JL_R_MODEL)
		model_lines(cli, found->record);
	if (found->kind == JL_R_FAMILY)
		family_lines(cli, found->record);
	JL_TRY(facts_table(cli, found->kind, found->record, &notes, err));
	jl_buf_putc(&cli->out, '\n');
	text_lines(cli, found->kind, found->record);
	if (found->kind == JL_R_GPU) {
		const struct jl_gpu *gpu = found->record;
		conflict_lines(cli, gpu->conflicts, gpu->n_conflicts);
	}
	if (found->kind == JL_R_SYSTEM) {
		const struct jl_system *system = found->record;
		conflict_lines(cli, system->conflicts, system->n_conflicts);
	}
	if (found->kind == JL_R_LINK)
		status = measured_table(cli, found->record, err);
	jl_view_footnotes(cli, &notes);
	return status;
}

/* The record that a bare name means; no record at all where it is a system, which the caller draws. */
static enum jl_status find_record(struct jl_cli *cli, const char *text, struct found *ret_found, struct jl_err *err)
{
	struct jl_found_any any;

	JL_TRY(jl_find_any(&any, cli->cat, text, err));
	*ret_found = any.gpu      ? (struct found){ JL_R_GPU, any.gpu }
		     : any.cpu    ? (struct found){ JL_R_CPU, any.cpu }
		     : any.model  ? (struct found){ JL_R_MODEL, any.model }
		     : any.family ? (struct found){ JL_R_FAMILY, any.family }
				  : (struct found){ JL_R_LINK, any.link };
	return JL_OK;
}

/* Is it written as a system: a count, parentheses, via, over, a provider? */
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

/* A network that is no plain transformer, by its name; or where nothing else is near, those that begin like it. */
static enum jl_status find_convnet(struct jl_cli *cli, const char *text, const struct jl_convnet **ret_net,
				   struct jl_err *err)
{
	struct jl_convnet_list nets;
	char ids[256] = "";
	size_t at = 0;

	JL_TRY(jl_cli_convnets(&nets, cli, err));
	*ret_net = jl_convnet_find(&nets, text);
	if (*ret_net)
		return JL_OK;
	for (size_t i = 0; i < nets.n_nets && at < sizeof(ids); i++)
		if (strncasecmp(nets.nets[i].id, text, strlen(text)) == 0)
			at += (size_t)snprintf(ids + at, sizeof(ids) - at, "%s%s", at ? ", " : "", nets.nets[i].id);
	if (!at)
		return JL_E_NOTFOUND;
	return jl_fail(err, JL_E_AMBIGUOUS, "no record of the catalog is called '%s'; did you mean %s?", text, ids);
}

static enum jl_status show_system(struct jl_cli *cli, const char *text, struct jl_err *err)
{
	struct jl_json json;
	struct jl_sys sys;

	JL_TRY(jl_sys_parse(&sys, cli->cat, text, &cli->arena, err));
	if (!cli->json)
		return jl_view_system(cli, &sys, err);
	jl_json_init(&json, &cli->out, true);
	jl_view_system_json(&json, cli->cat, &sys);
	jl_json_finish(&json);
	return JL_OK;
}

enum jl_status jl_cmd_catalog_show(struct jl_cli *cli, struct jl_err *err)
{
	const char *text = cli->args.operands[0];
	const struct jl_convnet *net = NULL;
	struct found found = { 0 };
	struct jl_err net_err = { 0 };
	struct jl_json json;
	enum jl_status status, net_status;

	if (looks_like_system(text))
		return show_system(cli, text, err);
	net_status = find_convnet(cli, text, &net, &net_err);
	if (net) {
		jl_view_convnet(cli, net);
		return JL_OK;
	}
	status = find_record(cli, text, &found, err);
	if (status == JL_E_NOTFOUND && net_status != JL_E_NOTFOUND && err)
		*err = net_err;
	if (status)
		return status == JL_E_NOTFOUND ? net_status : status;
	if (!found.record)
		return show_system(cli, text, err);
	if (!cli->json)
		return show_record(cli, &found, err);
	jl_json_init(&json, &cli->out, true);
	jl_view_record_json(&json, cli->cat, found.kind, found.record);
	jl_json_finish(&json);
	return JL_OK;
}
