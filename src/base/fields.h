/* The form of a struct, once: a table of its members. Catalog records are read, checked, laid over and written by such tables; results
 * become JSON by them, and the JSON Schema of every command's output is made from the same rows.
 *
 *     static const struct jl_field fields[] = {
 *             { JL_FIELD(jl_pair, TEXT, dear) },                            "dear": "rtx-3090"
 *             { JL_FIELD_AS(jl_pair, NUMBER, days, "break_even_days") },    "break_even_days": null where it is NAN
 *     };
 *     const struct jl_schema jl_pair_fields = JL_SCHEMA("break_even", jl_pair, fields);
 *
 * Keys are English and end with their unit. What is not known (NAN, NULL) is null, or has no key where its row says JL_FF_OMIT. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/fact.h"
#include "base/json.h"
#include "base/units.h"

enum jl_field_type {
	JL_F_TEXT,   /* const char * */
	JL_F_DATE,   /* const char *, must be a date */
	JL_F_FACT,   /* struct jl_fact */
	JL_F_NUMBER, /* double; of a catalog record: no unit */
	JL_F_INT,
	JL_F_BOOL,
	JL_F_CHOICE, /* an enum */
	JL_F_TEXTS,  /* const char *const *, NULL-terminated */
	JL_F_LIST,   /* array of sub-records and its count */
	JL_F_SUB,    /* a struct inside the record */
	/* results alone */
	JL_F_CHARS, /* char[] inside the struct; empty: unknown */
	JL_F_LONG,
	JL_F_LLONG,
	JL_F_SIZE,
	JL_F_ESTIMATE, /* three doubles: value and 80 % interval */
	JL_F_WHY,      /* struct jl_err: what it says; unknown where nothing failed */
	JL_F_NUMBERS,  /* const double * and its count */
	JL_F_ARRAY,  /* sub-records inside the struct: as many as the count says, or `length` where there is no count */
	JL_F_SEEN,   /* pointer to one struct that lies elsewhere */
	JL_F_WRITTEN /* by `write`: what has no plain form, a grid, keys that are data */
};

enum {
	JL_FF_REQUIRED = 1 << 0,
	JL_FF_ID = 1 << 1,
	JL_FF_SOURCE = 1 << 2,   /* default source of the record's facts */
	JL_FF_DATED = 1 << 3,    /* default date of the record's facts */
	JL_FF_POSITIVE = 1 << 4, /* a number that must be above 0 */
	JL_FF_OMIT = 1 << 5,     /* JSON: no key where it is not known */
	JL_FF_FLAT = 1 << 6,     /* JSON: the members of a SUB or SEEN stand among its neighbours, not in an object */
	JL_FF_COUNT = 1 << 7     /* JSON: a whole number below 0 is not known */
};

struct jl_choice {
	const char *name;
	int value;
};

#define JL_FIELD_TEXT_MAX 256

struct jl_schema;

struct jl_field {
	const char *key;    /* of a catalog record: in YAML; the column in CSV */
	const char *member; /* in C and in JSON */
	enum jl_field_type type;
	unsigned flags;
	size_t offset;
	size_t count_offset; /* JL_F_LIST, JL_F_NUMBERS, JL_F_ARRAY */
	size_t length;       /* JL_F_ARRAY: so many where there is no count */
	enum jl_kind kind;   /* JL_F_FACT */
	double if_absent;    /* JL_F_NUMBER; NAN: unknown */
	double scale;        /* JL_F_NUMBER: what a written 1 is in SI units; of a whole number: in the struct (0: 1) */
	const struct jl_choice *choices; /* JL_F_CHOICE; ends with a NULL name */
	const struct jl_schema *sub;     /* JL_F_LIST, JL_F_SUB, JL_F_ARRAY, JL_F_SEEN */
	int ref;                         /* 1 + the enum jl_catalog_kind whose id this text must be; 0: free text */
	unsigned ref_roles;              /* bits of enum jl_link_role that a link may have here; 0: any */
	/* JSON of a result: */
	const char *about;                                  /* one sentence for the schema; NULL: the key says it */
	bool (*when)(const void *record);                   /* false: no key; NULL: always */
	double (*number_of)(const void *record);            /* JL_F_NUMBER: computed, not stored */
	bool (*bool_of)(const void *record);                /* JL_F_BOOL: the same */
	const char *const *(*texts_of)(const void *record); /* JL_F_TEXTS: the same */
	void (*write)(struct jl_json *json, const void *record); /* JL_F_WRITTEN: the value */
	size_t (*count_of)(const void *record);                  /* JL_F_LIST, JL_F_NUMBERS, JL_F_ARRAY: the same */
	const char *(*text_of)(const void *record,               /* JL_F_TEXT: the same; NULL: unknown */
			       char out[JL_FIELD_TEXT_MAX]);
};

struct jl_schema {
	const char *list; /* top-level key of a file, member of struct jl_catalog: "gpus" */
	const char *en;   /* one of them; in a JSON Schema: its name */

	const char *c_type;
	size_t size_B;
	const struct jl_field *fields;
	size_t n_fields;
	size_t list_offset; /* in struct jl_catalog */
	size_t count_offset;
	bool grouped;      /* several records share an id (the steps of one tariff) */
	bool omit_unknown; /* JSON: a key that is there has a value; no 0 and no empty list either */
};

#define JL_SCHEMA_FIELDS_MAX 64

/* Rows of a result's table; TYPE without JL_F_: { JL_FIELD(jl_pair, NUMBER, days), .flags = JL_FF_OMIT } */
#define JL_FIELD_AS(S, TYPE, M, KEY) .member = (KEY), .type = JL_F_##TYPE, .offset = offsetof(struct S, M)
#define JL_FIELD(S, TYPE, M)         JL_FIELD_AS(S, TYPE, M, #M)
/* LIST or ARRAY with its count. */
#define JL_FIELD_MANY(S, TYPE, M, COUNT, KEY, SUB)                                                                     \
	JL_FIELD_AS(S, TYPE, M, KEY), .count_offset = offsetof(struct S, COUNT), .sub = (SUB)
#define JL_FIELD_NUMBER_OF(KEY, FUNCTION) .member = (KEY), .type = JL_F_NUMBER, .number_of = (FUNCTION)
#define JL_FIELD_BOOL_OF(KEY, FUNCTION)   .member = (KEY), .type = JL_F_BOOL, .bool_of = (FUNCTION)
#define JL_FIELD_TEXT_OF(KEY, FUNCTION)   .member = (KEY), .type = JL_F_TEXT, .text_of = (FUNCTION)
/* Defines the function of such a row in one line: JL_TEXT_OF(kind, jl_judged, r->record->kind); `r` is the struct. */
#define JL_TEXT_OF(NAME, S, EXPR)                                                                                      \
	static const char *NAME(const void *record, char out[JL_FIELD_TEXT_MAX])                                       \
	{                                                                                                              \
		const struct S *const r = record;                                                                      \
                                                                                                                       \
		out[0] = '\0'; /* not used */                                                                          \
		return (EXPR);                                                                                         \
	}                                                                                                              \
	struct S
#define JL_VALUE_OF(TYPE, NAME, S, EXPR)                                                                               \
	static TYPE NAME(const void *record)                                                                           \
	{                                                                                                              \
		const struct S *const r = record;                                                                      \
                                                                                                                       \
		return (EXPR);                                                                                         \
	}                                                                                                              \
	struct S
#define JL_NUMBER_OF(NAME, S, EXPR) JL_VALUE_OF(double, NAME, S, EXPR)
#define JL_BOOL_OF(NAME, S, EXPR)   JL_VALUE_OF(bool, NAME, S, EXPR)
/* An object that is made of members of the same struct. */
#define JL_FIELD_GROUP(KEY, SUB) .member = (KEY), .type = JL_F_SUB, .sub = (SUB)
#define JL_SCHEMA(NAME, S, FIELDS)                                                                                     \
	{                                                                                                              \
		.en = (NAME), .c_type = "struct " #S, .size_B = sizeof(struct S), .fields = (FIELDS),                  \
		.n_fields = JL_LEN(FIELDS)                                                                             \
	}

static inline const void *jl_field_at(const struct jl_field *field, const void *record)
{
	return (const char *)record + field->offset;
}

const char *jl_choice_name(const struct jl_choice *choices, int value);

/* "mem_B": {"value": ..., "origin": "listed", "source": ..., "date": ...}; nothing where it is not known. */
void jl_fact_put(struct jl_json *json, const char *key, const struct jl_fact *fact);

/* Members of the object that is open. */
void jl_fields_put(struct jl_json *json, const struct jl_schema *schema, const void *record);
/* Writes a member: its key and the struct as an object. */
void jl_fields_put_object(struct jl_json *json, const char *key, const struct jl_schema *schema, const void *record);
/* A whole document: one struct, pretty. */
/* ... with the keys of a second record, if there is one, in the same object. */
void jl_fields_print(struct jl_buf *out, const struct jl_schema *schema, const void *record,
		     const struct jl_schema *more, const void *more_record);

/* The JSON Schema (2020-12) of what jl_fields_print writes, the keys of `more` optional (NULL: none); `title` is the document's. */
void jl_fields_schema(struct jl_buf *out, const struct jl_schema *schema, const struct jl_schema *more,
		      const char *title);
