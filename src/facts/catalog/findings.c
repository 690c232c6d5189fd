#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
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
	struct jl_err ko;

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
	jl_fail(&ko, first->status, "%s%zu", "%s (그 밖에 %zu건: jeoul catalog validate)", first->ko, findings->n - 1);
	jl_fail(err, first->status, "%s (and %zu more: jeoul catalog validate)", "%s%zu", first->en, findings->n - 1);
	if (err)
		memcpy(err->ko, ko.ko, sizeof(err->ko));
	return first->status;
}

struct jl_where jl_catalog_where(const struct jl_catalog_places *places, enum jl_catalog_kind kind, size_t i,
				 size_t field, size_t item, size_t sub)
{
	const struct jl_record_place *newest = places && places->of[kind] ? places->of[kind][i] : NULL;
	const struct jl_schema *schema = jl_schema_of(kind);

	for (const struct jl_record_place *at = newest; at; at = at->older) {
		if (at->cells || (field < schema->n_fields && jl_yaml_get(at->map, schema->fields[field].key)))
			return jl_record_where(at, field, item, sub);
	}
	return newest ? jl_record_where(newest, field, item, sub) : (struct jl_where){ .file = NULL };
}

/* "gpu h100-sxm5: mem_rate" */
static void name_value(const struct jl_check *check, char *out, size_t size, enum jl_lang lang)
{
	const struct jl_schema *schema = jl_schema_of(check->kind);
	const char *key = "", *sub_key = "";

	if (check->field < schema->n_fields) {
		const struct jl_field *field = &schema->fields[check->field];

		key = field->key ? field->key : field->member;
		if (field->sub && check->sub < field->sub->n_fields)
			sub_key = field->sub->fields[check->sub].key;
	}
	snprintf(out, size, "%s %.80s%s%s%s%s", JL_T(lang, schema->en, schema->ko), jl_record_id(schema, check->record),
		 *key ? ": " : "", key, *sub_key ? "." : "", sub_key);
}

void jl_findings_say(struct jl_findings *findings, const struct jl_where *where, const char *name_en,
		     const char *name_ko, const struct jl_err *err)
{
	struct jl_err said;

	jl_fail_at(&said, err->status, where, "%s: %s%.0s%.0s", "%.0s%.0s%s: %s", name_en, err->en, name_ko, err->ko);
	jl_findings_add(findings, &said);
}

void jl_check_say_err(struct jl_check *check, const struct jl_err *err)
{
	struct jl_where where;
	char en[160], ko[160];

	if (jl_findings_full(check->findings)) {
		check->findings->n++;
		return;
	}
	where = jl_catalog_where(check->places, check->kind, check->i, check->field, check->item, check->sub);
	name_value(check, en, sizeof(en), JL_EN);
	name_value(check, ko, sizeof(ko), JL_KO);
	jl_findings_say(check->findings, &where, en, ko, err);
}

void jl_check_say(struct jl_check *check, enum jl_status status, const char *en, const char *ko, ...)
{
	struct jl_err inner = { .status = status };
	va_list args;

	va_start(args, ko);
	jl_both_text(inner.en, inner.ko, sizeof(inner.en), en, ko, args);
	va_end(args);
	jl_check_say_err(check, &inner);
}
