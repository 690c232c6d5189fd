#include <stdarg.h>

#include "catalog/check.h"

void jl_findings_init(struct jl_findings *findings, struct jl_arena *arena)
{
	*findings = (struct jl_findings){ .arena = arena };
}

void jl_findings_add(struct jl_findings *findings, const struct jl_err *err)
{
	struct jl_finding *finding;

	findings->n++;
	if (jl_findings_full(findings))
		return;
	finding = jl_arena_alloc(findings->arena, sizeof(*finding));
	if (!finding) {
		findings->out_of_memory = true;
		return;
	}
	finding->err = *err;
	if (findings->last)
		findings->last->next = finding;
	else
		findings->first = finding;
	findings->last = finding;
	findings->n_listed++;
}

bool jl_findings_full(const struct jl_findings *findings)
{
	return findings->n_listed >= JL_FINDINGS_MAX;
}

enum jl_status jl_findings_status(const struct jl_findings *findings, struct jl_err *err)
{
	const struct jl_err *first;

	if (findings->out_of_memory)
		return jl_fail_nomem(err);
	if (!findings->first)
		return JL_OK;
	first = &findings->first->err;
	if (findings->n == 1) {
		if (err)
			*err = *first;
		return first->status;
	}
	return jl_fail_from(err, first->status, NULL, first, "{} (and %zu more: jeoul catalog validate)",
			    findings->n - 1);
}

/* Without places the file is NULL. */
static struct jl_where where_of(const struct jl_check *check)
{
	const struct jl_catalog_places *places = check->places;
	const struct jl_record_place *newest = places && places->of[check->kind] ? places->of[check->kind][check->i]
										 : NULL;
	const struct jl_schema *schema = jl_schema_of(check->kind);

	for (const struct jl_record_place *at = newest; at; at = at->older)
		if (at->cells ||
		    (check->field < schema->n_fields && jl_yaml_get(at->map, schema->fields[check->field].key)))
			return jl_record_where(at, check->field, check->item, check->sub);
	return newest ? jl_record_where(newest, check->field, check->item, check->sub)
		      : (struct jl_where){ .file = NULL };
}

/* "gpu h100-sxm5: mem_rate: ..." */
void jl_check_report_err(struct jl_check *check, const struct jl_err *err)
{
	const struct jl_schema *schema = jl_schema_of(check->kind);
	const char *key = "", *sub_key = "";
	struct jl_err said;

	if (jl_findings_full(check->findings)) {
		check->findings->n++;
		return;
	}
	if (check->field < schema->n_fields) {
		const struct jl_field *field = &schema->fields[check->field];

		key = field->key ? field->key : field->member;
		if (field->sub && check->sub < field->sub->n_fields)
			sub_key = field->sub->fields[check->sub].key;
	}
	struct jl_where where = where_of(check);
	jl_fail_from(&said, err->status, &where, err, "{%s} %.80s%s%s%s%s: {}", schema->en,
		     jl_record_id(schema, check->record), *key ? ": " : "", key, *sub_key ? "." : "", sub_key);
	jl_findings_add(check->findings, &said);
}

void jl_check_report(struct jl_check *check, enum jl_status status, const char *en, ...)
{
	struct jl_err inner = { .status = status };
	va_list args;

	va_start(args, en);
	jl_msg_vprint(inner.en, inner.text, sizeof(inner.en), en, args);
	va_end(args);
	jl_check_report_err(check, &inner);
}
