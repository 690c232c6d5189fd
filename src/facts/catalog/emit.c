/* Writes the catalog as C source. */
#include "catalog/emit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "catalog/schema.h"
#include "catalog/thaw.h"

/* The generated C contains no pointers, because 40,000 relocations at program start took a third of a prediction's time. All tables are one struct,
 * all texts one array, and a pointer is stored as an offset. thaw.c adjusts the listed places at the first use of the catalog. */
struct emit {
	struct jl_buf members; /* members of the struct of tables */
	struct jl_buf values;
	struct jl_buf texts;
	struct jl_buf places; /* places of pointers */
	char path[192];       /* path of the current member: gpus[12].conflicts */
	size_t texts_B;
	struct kept_text {
		const char *text; /* NULL: free */
		size_t at;
	} * kept; /* hash table of texts, to store equal texts once */
	size_t n_kept, kept_size;
};

static size_t hash_of(const char *text)
{
	size_t h = 5381;

	for (; *text; text++)
		h = h * 33 + (unsigned char)*text;
	return h;
}

static struct kept_text *place_of(struct kept_text *kept, size_t size, const char *text)
{
	size_t i = hash_of(text) & (size - 1);

	while (kept[i].text && strcmp(kept[i].text, text) != 0)
		i = (i + 1) & (size - 1);
	return &kept[i];
}

static bool more_places(struct emit *e)
{
	const size_t size = e->kept_size ? 2 * e->kept_size : 1024;
	struct kept_text *kept = calloc(size, sizeof(*kept));

	if (!kept)
		return false;
	for (size_t i = 0; i < e->kept_size; i++)
		if (e->kept[i].text)
			*place_of(kept, size, e->kept[i].text) = e->kept[i];
	free(e->kept);
	e->kept = kept;
	e->kept_size = size;
	return true;
}

static void add_text(struct jl_buf *out, const char *text)
{
	jl_buf_puts(out, "\t\"");
	for (const char *c = text; *c; c++) {
		unsigned char byte = (unsigned char)*c;

		if (byte == '"' || byte == '\\' || byte == '?') /* '?': avoid trigraphs */
			jl_buf_printf(out, "\\%c", *c);
		else if (byte < 0x20 || byte >= 0x7F)
			jl_buf_printf(out, "\\%03o", (unsigned)byte);
		else
			jl_buf_putc(out, *c);
	}
	jl_buf_puts(out, "\\000\"\n");
}

/* Records that a pointer is stored at the path, or at a member below it. */
static void note_place(struct emit *e, const char *member)
{
	jl_buf_printf(&e->places, "\tO(%s%s),\n", e->path, member);
}

static void put_text(struct emit *e, const char *text, const char *member)
{
	if (!text) {
		jl_buf_puts(&e->values, "NULL");
		return;
	}
	if (2 * e->n_kept >= e->kept_size && !more_places(e)) {
		e->values.failed = JL_E_NOMEM;
		return;
	}
	struct kept_text *kept = place_of(e->kept, e->kept_size, text);

	if (!kept->text) {
		*kept = (struct kept_text){ text, e->texts_B };
		e->n_kept++;
		e->texts_B += strlen(text) + 1;
		add_text(&e->texts, text);
	}
	jl_buf_printf(&e->values, "T(%zu)", kept->at);
	note_place(e, member);
}

static void put_number(struct emit *e, double value)
{
	if (isnan(value))
		jl_buf_puts(&e->values, "NO");
	else
		jl_buf_printf(&e->values, "%.17g", value);
}

static void put_fact(struct emit *e, const struct jl_fact *fact)
{
	if (!jl_fact_known(fact)) {
		jl_buf_puts(&e->values, "UNKNOWN");
		return;
	}
	jl_buf_puts(&e->values, "{ ");
	put_number(e, fact->value);
	jl_buf_puts(&e->values, ", ");
	put_number(e, fact->lo);
	jl_buf_puts(&e->values, ", ");
	put_number(e, fact->hi);
	jl_buf_printf(&e->values, ", (enum jl_origin)%d, ", (int)fact->origin);
	put_text(e, fact->source, ".source");
	jl_buf_puts(&e->values, ", ");
	put_text(e, fact->date, ".date");
	jl_buf_puts(&e->values, ", ");
	put_text(e, fact->note, ".note");
	jl_buf_puts(&e->values, " }");
}

/* Lists in records become separate arrays, named after the record's position: gpus_12_conflicts. */
struct owner {
	const char *list;
	size_t i;
};

static void put_record(struct emit *e, const struct jl_schema *schema, const void *record, const struct owner *owner);

static void put_value(struct emit *e, const struct jl_field *field, const void *record, const struct owner *owner)
{
	const void *at = jl_field_at(field, record);

	switch (field->type) {
	case JL_F_TEXT:
	case JL_F_DATE: put_text(e, *(const char *const *)at, ""); break;
	case JL_F_FACT: put_fact(e, at); break;
	case JL_F_NUMBER: put_number(e, *(const double *)at); break;
	case JL_F_INT:
	case JL_F_CHOICE: jl_buf_printf(&e->values, "%d", *(const int *)at); break;
	case JL_F_BOOL: jl_buf_puts(&e->values, *(const bool *)at ? "true" : "false"); break;
	case JL_F_TEXTS: /* empty lists are left out */
		jl_buf_printf(&e->values, "P(%s_%zu_%s)", owner->list, owner->i, field->member);
		note_place(e, "");
		break;
	case JL_F_LIST:
		jl_buf_printf(&e->values, "P(%s_%zu_%s), .n_%s = %zu", owner->list, owner->i, field->member,
			      field->member,
			      *(const size_t *)(const void *)((const char *)record + field->count_offset));
		note_place(e, "");
		break;
	case JL_F_SUB: put_record(e, field->sub, at, owner); break;
	default: break; /* types of results only */
	}
}

/* True if C's zero initialisation gives the value. */
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

static void put_record(struct emit *e, const struct jl_schema *schema, const void *record, const struct owner *owner)
{
	const size_t len = strlen(e->path);

	jl_buf_puts(&e->values, "{ ");
	const size_t begun = e->values.len;

	for (size_t i = 0; i < schema->n_fields; i++) {
		if (is_default(&schema->fields[i], record))
			continue;
		(void)snprintf(e->path + len, sizeof(e->path) - len, ".%s", schema->fields[i].member);
		jl_buf_printf(&e->values, ".%s = ", schema->fields[i].member);
		put_value(e, &schema->fields[i], record, owner);
		jl_buf_puts(&e->values, ", ");
	}
	e->path[len] = '\0';
	jl_buf_puts(&e->values, e->values.len == begun ? "0 }" : "}"); /* C has no empty initialiser */
}

static void put_records(struct emit *e, const struct jl_schema *schema, const char *list, size_t n, const char *name,
			struct owner owner)
{
	jl_buf_printf(&e->members, "\t%s %s[%zu];\n", schema->c_type, name, n);
	jl_buf_printf(&e->values, "\t.%s = {\n", name);
	for (size_t i = 0; i < n; i++) {
		owner.i = i;
		(void)snprintf(e->path, sizeof(e->path), "%s[%zu]", name, i);
		jl_buf_puts(&e->values, "\t\t");
		put_record(e, schema, list + i * schema->size_B, &owner);
		jl_buf_puts(&e->values, ",\n");
	}
	jl_buf_puts(&e->values, "\t},\n");
}

static void put_texts(struct emit *e, const char *const *texts, const char *name)
{
	size_t n = 1;

	jl_buf_printf(&e->values, "\t.%s = { ", name);
	for (; *texts; texts++, n++) {
		(void)snprintf(e->path, sizeof(e->path), "%s[%zu]", name, n - 1);
		put_text(e, *texts, "");
		jl_buf_puts(&e->values, ", ");
	}
	jl_buf_puts(&e->values, "NULL },\n");
	jl_buf_printf(&e->members, "\tconst char *%s[%zu];\n", name, n);
}

static void put_inner_arrays(struct emit *e, const struct jl_schema *schema, const void *record,
			     const struct owner *owner)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *field = &schema->fields[i];
		char name[128];

		if (is_default(field, record))
			continue;
		(void)snprintf(name, sizeof(name), "%s_%zu_%s", owner->list, owner->i, field->member);
		if (field->type == JL_F_TEXTS)
			put_texts(e, *(const char *const *const *)jl_field_at(field, record), name);
		else if (field->type == JL_F_LIST)
			put_records(e, field->sub, *(const char *const *)jl_field_at(field, record),
				    *(const size_t *)(const void *)((const char *)record + field->count_offset), name,
				    *owner);
	}
}

static void put_list(struct emit *e, const struct jl_catalog *cat, enum jl_catalog_kind kind)
{
	const struct jl_schema *schema = jl_schema_of(kind);
	struct owner owner = { .list = schema->list };
	size_t n;
	const char *list = jl_catalog_list(cat, kind, &n);

	if (n == 0)
		return;
	for (owner.i = 0; owner.i < n; owner.i++)
		put_inner_arrays(e, schema, list + owner.i * schema->size_B, &owner);
	put_records(e, schema, list, n, schema->list, owner);
}

static void put_catalog(struct jl_buf *out, const struct jl_catalog *cat)
{
	jl_buf_puts(out, "static struct jl_catalog catalog = {\n");
	for (int kind = 0; kind < JL_N_RECORD; kind++) {
		const char *list = jl_schema_of((enum jl_catalog_kind)kind)->list;
		size_t n;

		jl_catalog_list(cat, (enum jl_catalog_kind)kind, &n);
		if (n)
			jl_buf_printf(out, "\t.%s = P(%s), .n_%s = %zu,\n", list, list, list, n);
	}
	jl_buf_puts(out, "};\n");
}

static void put_file(struct jl_buf *out, const struct emit *e, const struct jl_catalog *cat)
{
	jl_buf_puts(out, "/* Made from catalog/ by jeoul-catalogc; change the data there. */\n"
			 "#include <pthread.h>\n\n"
			 "#include \"catalog/thaw.h\"\n\n"
			 "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
			 "#define NO __builtin_nan(\"\")\n"
			 "#define UNKNOWN { .value = NO, .lo = NO, .hi = NO }\n"
			 "#define P(member) ((const void *)(JL_CATALOG_HOME + offsetof(struct image, member)))\n"
			 "#define T(at) ((const char *)(JL_CATALOG_HOME + offsetof(struct image, texts) + (at)))\n"
			 "#define O(place) (uint32_t)offsetof(struct image, place)\n\n"
			 "struct image {\n");
	jl_buf_puts(out, jl_buf_text(&e->members));
	jl_buf_printf(out, "\tchar texts[%zu];\n};\n\n", e->texts_B + 1);
	jl_buf_printf(out, "static struct image image __attribute__((aligned(%d))) = {\n", JL_CATALOG_ALIGN_B);
	jl_buf_puts(out, jl_buf_text(&e->values));
	jl_buf_puts(out, "\t.texts =\n");
	jl_buf_puts(out, jl_buf_text(&e->texts));
	jl_buf_puts(out, "\t\"\",\n};\n\nstatic const uint32_t places[] = {\n");
	jl_buf_puts(out, jl_buf_text(&e->places));
	jl_buf_puts(out, "};\n\n");
	put_catalog(out, cat);
	jl_buf_puts(
		out,
		"static void thaw(void)\n{\n"
		"\tjl_catalog_thaw(&catalog, &image, sizeof(image), places, sizeof(places) / sizeof(*places));\n}\n\n"
		"const struct jl_catalog *jl_catalog_embedded(void)\n{\n"
		"\tstatic pthread_once_t once = PTHREAD_ONCE_INIT;\n\n"
		"\t(void)pthread_once(&once, thaw);\n\treturn &catalog;\n}\n");
}

void jl_catalog_emit(struct jl_buf *out, const struct jl_catalog *cat)
{
	struct emit e = { .n_kept = 0 };
	struct jl_buf *const parts[] = { &e.members, &e.values, &e.texts, &e.places };

	for (size_t i = 0; i < JL_LEN(parts); i++)
		jl_buf_init(parts[i], JL_EMIT_MAX_B);
	for (int kind = 0; kind < JL_N_RECORD; kind++)
		put_list(&e, cat, (enum jl_catalog_kind)kind);
	put_file(out, &e, cat);
	for (size_t i = 0; i < JL_LEN(parts); i++) {
		if (parts[i]->failed)
			out->failed = parts[i]->failed;
		jl_buf_release(parts[i]);
	}
	free(e.kept);
}
