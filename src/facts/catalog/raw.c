#include "catalog/raw.h"

#include <cyaml/cyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct heard { /* what libcyaml logs when it fails: first its complaint, then where it was, innermost first */
	char text[200];
	size_t line, column;
};

static void hear(cyaml_log_t level, void *ctx, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

static void hear(cyaml_log_t level, void *ctx, const char *format, va_list args)
{
	struct heard *heard = ctx;
	char text[sizeof(heard->text)];
	const char *at;

	(void)level;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	if (!heard->text[0])
		memcpy(heard->text, text, sizeof(text));
	at = strstr(text, "(line: ");
	if (at && !heard->line) {
		heard->line = strtoul(at + strlen("(line: "), NULL, 10);
		at = strstr(at, "column: ");
		heard->column = at ? strtoul(at + strlen("column: "), NULL, 10) : 0;
	}
}

static void *take_memory(void *ctx, void *old, size_t size)
{
	(void)ctx;
	return jl_realloc(old, size);
}

static cyaml_config_t config_of(struct heard *heard)
{
	return (cyaml_config_t){
		.log_fn = heard ? hear : NULL,
		.log_ctx = heard,
		.mem_fn = take_memory,
		.log_level = CYAML_LOG_ERROR,
		.flags = CYAML_CFG_NO_ALIAS,
	};
}

static const cyaml_schema_value_t text_value = { CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 0, CYAML_UNLIMITED) };

static cyaml_schema_value_t mapping_value(const struct jl_schema *schema, const cyaml_schema_field_t *fields, int flags)
{
	return (cyaml_schema_value_t){
		.type = CYAML_MAPPING,
		.flags = (enum cyaml_flag)flags,
		.data_size = (uint32_t)(schema->n_fields * sizeof(struct jl_raw_slot)),
		.mapping = { .fields = fields },
	};
}

static cyaml_schema_value_t sequence_value(const cyaml_schema_value_t *entry, size_t entry_B)
{
	return (cyaml_schema_value_t){
		.type = CYAML_SEQUENCE,
		.flags = (enum cyaml_flag)(CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL),
		.data_size = (uint32_t)entry_B,
		.sequence = { .entry = entry, .min = 0, .max = CYAML_UNLIMITED },
	};
}

/* libcyaml's own tables are made from ours; NULL when memory is out. */
static const cyaml_schema_field_t *make_fields(const struct jl_schema *schema, struct jl_arena *arena)
{
	cyaml_schema_field_t *fields = jl_arena_array(arena, schema->n_fields + 1, sizeof(*fields));

	for (size_t i = 0; fields && i < schema->n_fields; i++) {
		const struct jl_field *field = &schema->fields[i];
		cyaml_schema_field_t *made = &fields[i];
		const cyaml_schema_field_t *sub = field->sub ? make_fields(field->sub, arena) : NULL;

		if (field->sub && !sub)
			return NULL;
		made->key = field->key;
		made->data_offset = (uint32_t)(i * sizeof(struct jl_raw_slot) + offsetof(struct jl_raw_slot, data));
		if (field->type == JL_F_TEXTS) {
			made->value = sequence_value(&text_value, sizeof(char *));
		} else if (field->type == JL_F_LIST && field->sub) {
			cyaml_schema_value_t *entry = jl_arena_alloc(arena, sizeof(*entry));

			if (!entry)
				return NULL;
			*entry = mapping_value(field->sub, sub, CYAML_FLAG_DEFAULT);
			made->value = sequence_value(entry, entry->data_size);
		} else if (field->type == JL_F_SUB && field->sub) {
			made->value = mapping_value(field->sub, sub, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL);
		} else {
			made->value = text_value;
			made->value.flags = (enum cyaml_flag)(CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL);
		}
		if (made->value.type == CYAML_SEQUENCE) {
			made->count_offset = (uint32_t)(i * sizeof(struct jl_raw_slot) +
							offsetof(struct jl_raw_slot, n));
			made->count_size = sizeof(uint32_t);
		}
	}
	return fields;
}

/* { <list>: [ records ] }, loaded into one slot */
static const cyaml_schema_value_t *make_schema(const struct jl_schema *schema, struct jl_arena *arena)
{
	const cyaml_schema_field_t *fields = make_fields(schema, arena);
	cyaml_schema_value_t *entry = jl_arena_alloc(arena, sizeof(*entry));
	cyaml_schema_field_t *top_field = jl_arena_array(arena, 2, sizeof(*top_field));
	cyaml_schema_value_t *top = jl_arena_alloc(arena, sizeof(*top));

	if (!fields || !entry || !top_field || !top)
		return NULL;
	*entry = mapping_value(schema, fields, CYAML_FLAG_DEFAULT);
	top_field[0] = (cyaml_schema_field_t){
		.key = schema->list,
		.data_offset = offsetof(struct jl_raw_slot, data),
		.count_offset = offsetof(struct jl_raw_slot, n),
		.count_size = sizeof(uint32_t),
		.value = sequence_value(entry, entry->data_size),
	};
	*top = (cyaml_schema_value_t){
		.type = CYAML_MAPPING,
		.flags = CYAML_FLAG_POINTER,
		.data_size = sizeof(struct jl_raw_slot),
		.mapping = { .fields = top_field },
	};
	return top;
}

enum jl_status jl_raw_load(struct jl_raw *ret_raw, const struct jl_schema *schema, const char *file, const char *text,
			   size_t len, struct jl_arena *arena, struct jl_err *err)
{
	struct heard heard = { .text = "" };
	cyaml_config_t config = config_of(&heard);
	const cyaml_schema_value_t *made = make_schema(schema, arena);
	const struct jl_raw_slot *slot;
	cyaml_data_t *top = NULL;
	cyaml_err_t failed;

	if (!made)
		return jl_fail_nomem(err);
	failed = cyaml_load_data((const uint8_t *)text, len, &config, made, &top, NULL);
	if (failed == CYAML_ERR_OOM)
		return jl_fail_nomem(err);
	if (failed) {
		struct jl_where where = { .file = file, .line = heard.line, .column = heard.column };

		return jl_fail_at(err, JL_E_PARSE, &where, "%s (%s)", "읽을 수 없습니다: %s (%s)", heard.text,
				  cyaml_strerror(failed));
	}
	slot = (const struct jl_raw_slot *)top;
	*ret_raw = (struct jl_raw){ .schema = schema,
				    .cyaml_schema = made,
				    .top = top,
				    .slots = slot ? slot->data : NULL,
				    .n_records = slot ? slot->n : 0 };
	return JL_OK;
}

void jl_raw_release(struct jl_raw *raw)
{
	cyaml_config_t config = config_of(NULL);

	if (raw->top)
		cyaml_free(&config, raw->cyaml_schema, raw->top, 0);
	*raw = (struct jl_raw){ .schema = NULL };
}
