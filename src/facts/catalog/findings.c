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
	const struct jl_record_places *newest = places && places->of[kind] ? places->of[kind][i] : NULL;
	const struct jl_record_places *at;

	for (at = newest; at; at = at->older) {
		for (size_t p = 0; p < at->places->n; p++) {
			if (at->places->at[p].record == at->record && at->places->at[p].field == field)
				return jl_places_find(at->places, at->record, field, item, sub);
		}
	}
	if (!newest)
		return (struct jl_where){ .file = NULL };
	return jl_places_find(newest->places, newest->record, field, item, sub);
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

void jl_check_say_err(struct jl_check *check, const struct jl_err *err)
{
	struct jl_where where;
	struct jl_err en, ko;
	char name[160];

	if (jl_findings_full(check->findings)) {
		check->findings->n++;
		return;
	}
	where = jl_catalog_where(check->places, check->kind, check->i, check->field, check->item, check->sub);
	name_value(check, name, sizeof(name), JL_EN);
	jl_fail_at(&en, err->status, &where, "%s: %s", "%s: %s", name, err->en);
	name_value(check, name, sizeof(name), JL_KO);
	jl_fail_at(&ko, err->status, &where, "%s: %s", "%s: %s", name, err->ko);
	memcpy(en.ko, ko.ko, sizeof(en.ko));
	jl_findings_add(check->findings, &en);
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
