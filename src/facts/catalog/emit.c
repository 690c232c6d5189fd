#include "catalog/emit.h"

#include <math.h>

#include "catalog/schema.h"

/* Compilers keep equal string literals of one file once, so texts are simply written where they are used. */
static void put_text(struct jl_buf *out, const char *text)
{
	if (!text) {
		jl_buf_puts(out, "NULL");
		return;
	}
	jl_buf_putc(out, '"');
	for (const char *c = text; *c; c++) {
		unsigned char byte = (unsigned char)*c;

		if (byte == '"' || byte == '\\' || byte == '?') /* '?': no trigraphs */
			jl_buf_printf(out, "\\%c", *c);
		else if (byte < 0x20 || byte >= 0x7F)
			jl_buf_printf(out, "\\%03o", (unsigned)byte);
		else
			jl_buf_putc(out, *c);
	}
	jl_buf_putc(out, '"');
}

static void put_number(struct jl_buf *out, double value)
{
	if (isnan(value))
		jl_buf_puts(out, "NO");
	else
		jl_buf_printf(out, "%.17g", value);
}

static void put_fact(struct jl_buf *out, const struct jl_fact *fact)
{
	if (!jl_fact_known(fact)) {
		jl_buf_puts(out, "UNKNOWN");
		return;
	}
	jl_buf_puts(out, "{ ");
	put_number(out, fact->value);
	jl_buf_puts(out, ", ");
	put_number(out, fact->lo);
	jl_buf_puts(out, ", ");
	put_number(out, fact->hi);
	jl_buf_printf(out, ", (enum jl_origin)%d, ", (int)fact->origin);
	put_text(out, fact->source);
	jl_buf_puts(out, ", ");
	put_text(out, fact->date);
	jl_buf_puts(out, ", ");
	put_text(out, fact->note);
	jl_buf_puts(out, " }");
}

/* Lists inside records are arrays of their own, named after the record's place: gpus_12_conflicts. */
struct owner {
	const char *list;
	size_t i;
};

static void put_record(struct jl_buf *out, const struct jl_schema *schema, const void *record,
		       const struct owner *owner);

static void put_value(struct jl_buf *out, const struct jl_field *field, const void *record, const struct owner *owner)
{
	const void *at = jl_field_at(field, record);

	switch (field->type) {
	case JL_F_TEXT:
	case JL_F_DATE: put_text(out, *(const char *const *)at); break;
	case JL_F_FACT: put_fact(out, at); break;
	case JL_F_NUMBER: put_number(out, *(const double *)at); break;
	case JL_F_INT:
	case JL_F_CHOICE: /* enums take integers */ jl_buf_printf(out, "%d", *(const int *)at); break;
	case JL_F_BOOL: jl_buf_puts(out, *(const bool *)at ? "true" : "false"); break;
	case JL_F_TEXTS:
		if (*(const void *const *)at)
			jl_buf_printf(out, "%s_%zu_%s", owner->list, owner->i, field->member);
		else
			jl_buf_puts(out, "NULL");
		break;
	case JL_F_LIST: {
		size_t n = *(const size_t *)(const void *)((const char *)record + field->count_offset);

		if (n)
			jl_buf_printf(out, "%s_%zu_%s, .n_%s = %zu", owner->list, owner->i, field->member,
				      field->member, n);
		else
			jl_buf_puts(out, "NULL");
		break;
	}
	case JL_F_SUB: put_record(out, field->sub, at, owner); break;
	default: break; /* of results, not of records */
	}
}

/* Zero is what C puts where nothing is written. */
static bool is_default(const struct jl_field *field, const void *record)
{
	const void *at = jl_field_at(field, record);

	switch (field->type) {
	case JL_F_TEXT:
	case JL_F_DATE:
	case JL_F_TEXTS:
	case JL_F_LIST: return *(const void *const *)at == NULL;
	case JL_F_INT:
	case JL_F_CHOICE: return *(const int *)at == 0;
	case JL_F_BOOL: return !*(const bool *)at;
	default: return false;
	}
}

static void put_record(struct jl_buf *out, const struct jl_schema *schema, const void *record,
		       const struct owner *owner)
{
	jl_buf_puts(out, "{ ");
	for (size_t i = 0; i < schema->n_fields; i++) {
		if (is_default(&schema->fields[i], record))
			continue;
		jl_buf_printf(out, ".%s = ", schema->fields[i].member);
		put_value(out, &schema->fields[i], record, owner);
		jl_buf_puts(out, ", ");
	}
	jl_buf_puts(out, "}");
}

static void put_inner_arrays(struct jl_buf *out, const struct jl_schema *schema, const void *record,
			     const struct owner *owner)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *field = &schema->fields[i];

		if (is_default(field, record))
			continue;
		if (field->type == JL_F_TEXTS) {
			const char *const *texts = *(const char *const *const *)jl_field_at(field, record);

			jl_buf_printf(out, "static const char *const %s_%zu_%s[] = { ", owner->list, owner->i,
				      field->member);
			for (; *texts; texts++) {
				put_text(out, *texts);
				jl_buf_puts(out, ", ");
			}
			jl_buf_puts(out, "NULL };\n");
		} else if (field->type == JL_F_LIST) {
			const char *list = *(const char *const *)jl_field_at(field, record);
			size_t n = *(const size_t *)(const void *)((const char *)record + field->count_offset);

			jl_buf_printf(out, "static const %s %s_%zu_%s[] = {\n", field->sub->c_type, owner->list,
				      owner->i, field->member);
			for (size_t k = 0; k < n; k++) {
				jl_buf_putc(out, '\t');
				put_record(out, field->sub, list + k * field->sub->size_B, owner);
				jl_buf_puts(out, ",\n");
			}
			jl_buf_puts(out, "};\n");
		}
	}
}

static void put_list(struct jl_buf *out, const struct jl_catalog *cat, enum jl_catalog_kind kind)
{
	const struct jl_schema *schema = jl_schema_of(kind);
	struct owner owner = { .list = schema->list };
	size_t n;
	const char *list = jl_catalog_list(cat, kind, &n);

	if (n == 0)
		return;
	for (owner.i = 0; owner.i < n; owner.i++)
		put_inner_arrays(out, schema, list + owner.i * schema->size_B, &owner);
	jl_buf_printf(out, "static const %s %s[] = {\n", schema->c_type, schema->list);
	for (owner.i = 0; owner.i < n; owner.i++) {
		jl_buf_putc(out, '\t');
		put_record(out, schema, list + owner.i * schema->size_B, &owner);
		jl_buf_puts(out, ",\n");
	}
	jl_buf_puts(out, "};\n\n");
}

void jl_catalog_emit(struct jl_buf *out, const struct jl_catalog *cat)
{
	jl_buf_puts(out, "/* Made from catalog/ by jeoul-catalogc; change the data there. */\n"
			 "#include \"catalog/catalog.h\"\n\n"
			 "#define NO __builtin_nan(\"\")\n"
			 "#define UNKNOWN { .value = NO, .lo = NO, .hi = NO }\n\n");
	for (int kind = 0; kind < JL_N_RECORD; kind++)
		put_list(out, cat, (enum jl_catalog_kind)kind);
	jl_buf_puts(out, "static const struct jl_catalog catalog = {\n");
	for (int kind = 0; kind < JL_N_RECORD; kind++) {
		const char *list = jl_schema_of((enum jl_catalog_kind)kind)->list;
		size_t n;

		jl_catalog_list(cat, (enum jl_catalog_kind)kind, &n);
		if (n)
			jl_buf_printf(out, "\t.%s = %s, .n_%s = %zu,\n", list, list, list, n);
	}
	jl_buf_puts(out, "};\n\nconst struct jl_catalog *jl_catalog_embedded(void)\n{\n\treturn &catalog;\n}\n");
}
