/* Describes a struct once, as a table of its members. Catalog records are read, checked, merged and written by such tables. Results become JSON by
 * them, and the same rows give the JSON Schema of each command's output.
 *
 *     static const struct jl_field fields[] = {
 *             { JL_FIELD(jl_pair, TEXT, dear) },                            "dear": "rtx-3090"
 *             { JL_FIELD_AS(jl_pair, NUMBER, days, "break_even_days") },    "break_even_days": null where it is NAN
 *     };
 *     const struct jl_schema jl_pair_fields = JL_SCHEMA("break_even", jl_pair, fields);
 *
 * Keys are English and end with their unit. Unknown values (NAN, NULL) are null; rows with JL_FF_OMIT leave the key out. */
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
	JL_F_NUMBER, /* double; in a catalog record: dimensionless */
	JL_F_INT,
	JL_F_BOOL,
	JL_F_CHOICE, /* an enum */
	JL_F_TEXTS,  /* const char *const *, NULL-terminated */
	JL_F_LIST,   /* array of sub-records and its count */
	JL_F_SUB,    /* a struct inside the record */
	/* only in results: */
	JL_F_CHARS, /* char[] in the struct; empty: unknown */
	JL_F_LONG,
	JL_F_LLONG,
	JL_F_SIZE,
	JL_F_ESTIMATE, /* three doubles: value and 80 % interval */
	JL_F_WHY,      /* struct jl_err: its message; null if JL_OK */
	JL_F_NUMBERS,  /* const double * and its count */
	JL_F_ARRAY,    /* array in the struct: its count member, or `length` elements if it has none */
	JL_F_SEEN,     /* pointer to one struct */
	JL_F_WRITTEN   /* custom: `write` writes the value (grids, keys that are data) */
};

enum {
	JL_FF_REQUIRED = 1 << 0,
	JL_FF_ID = 1 << 1,
	JL_FF_SOURCE = 1 << 2,   /* default source of the record's facts */
	JL_FF_DATED = 1 << 3,    /* default date of the record's facts */
	JL_FF_POSITIVE = 1 << 4, /* a number that must be above 0 */
	JL_FF_OMIT = 1 << 5,     /* JSON: leave the key out if unknown */
	JL_FF_FLAT = 1 << 6,     /* JSON: write the members of a SUB or SEEN into the enclosing object */
	JL_FF_COUNT = 1 << 7     /* JSON: a negative integer means unknown */
};

struct jl_choice {
	const char *name;
	int value;
};

#define JL_FIELD_TEXT_MAX 256

struct jl_schema;

struct jl_field {
	const char *key;    /* catalog record: key in YAML, column in CSV */
	const char *member; /* name of the member in C, and key in JSON */
	enum jl_field_type type;
	unsigned flags;
	size_t offset;
	size_t count_offset; /* JL_F_LIST, JL_F_NUMBERS, JL_F_ARRAY */
	size_t length;       /* JL_F_ARRAY without a count: fixed number of elements */
	enum jl_kind kind;   /* JL_F_FACT: kind of its quantity */
	double if_absent;    /* JL_F_NUMBER; NAN: unknown */
	double scale; /* JL_F_NUMBER: SI value of a written 1; integers: stored value of a written 1 (0 means 1) */
	const struct jl_choice *choices; /* JL_F_CHOICE; ends with a NULL name */
	const struct jl_schema *sub;     /* JL_F_LIST, JL_F_SUB, JL_F_ARRAY, JL_F_SEEN */
	int ref;                         /* 1 + the enum jl_catalog_kind that this id refers to; 0: free text */
	unsigned ref_roles;              /* allowed roles of a link, bits of enum jl_link_role; 0: any */
	/* only for the JSON of results: */
	const char *about;                       /* one sentence for the schema; NULL: the key is clear enough */
	bool (*when)(const void *record);        /* false: leave the key out; NULL: always write it */
	double (*number_of)(const void *record); /* JL_F_NUMBER: computed, not stored */
	bool (*bool_of)(const void *record);     /* JL_F_BOOL: computed, not stored */
	const char *const *(*texts_of)(const void *record);      /* JL_F_TEXTS: computed, not stored */
	void (*write)(struct jl_json *json, const void *record); /* JL_F_WRITTEN: writes the value */
	size_t (*count_of)(const void *record);    /* JL_F_LIST, JL_F_NUMBERS, JL_F_ARRAY: computed count */
	const char *(*text_of)(const void *record, /* JL_F_TEXT: computed; NULL: unknown */
			       char out[JL_FIELD_TEXT_MAX]);
};

struct jl_schema {
	const char *list; /* top-level key of a file and member of struct jl_catalog: "gpus" */
	const char *en;   /* singular name; name of the type in a JSON Schema */

	const char *c_type;
	size_t size_B;
	const struct jl_field *fields;
	size_t n_fields;
	size_t list_offset; /* offset of the array in struct jl_catalog */
	size_t count_offset;
	bool grouped;      /* several records may share an id (the steps of one tariff) */
	bool omit_unknown; /* JSON: leave out every unknown value, 0 and empty list */
};

#define JL_SCHEMA_FIELDS_MAX 64

/* Rows of a result's table. TYPE is written without JL_F_: { JL_FIELD(jl_pair, NUMBER, days), .flags = JL_FF_OMIT } */
#define JL_FIELD_AS(S, TYPE, M, KEY) .member = (KEY), .type = JL_F_##TYPE, .offset = offsetof(struct S, M)
#define JL_FIELD(S, TYPE, M)         JL_FIELD_AS(S, TYPE, M, #M)
/* LIST or ARRAY with its count member. */
#define JL_FIELD_MANY(S, TYPE, M, COUNT, KEY, SUB)                                                                     \
	JL_FIELD_AS(S, TYPE, M, KEY), .count_offset = offsetof(struct S, COUNT), .sub = (SUB)
#define JL_FIELD_NUMBER_OF(KEY, FUNCTION) .member = (KEY), .type = JL_F_NUMBER, .number_of = (FUNCTION)
#define JL_FIELD_BOOL_OF(KEY, FUNCTION)   .member = (KEY), .type = JL_F_BOOL, .bool_of = (FUNCTION)
#define JL_FIELD_TEXT_OF(KEY, FUNCTION)   .member = (KEY), .type = JL_F_TEXT, .text_of = (FUNCTION)
/* Defines the function of a computed member in one line: JL_TEXT_OF(kind, jl_judged, r->record->kind); `r` is the struct. */
#define JL_TEXT_OF(NAME, S, EXPR)                                                                                      \
	static const char *NAME(const void *record, char out[JL_FIELD_TEXT_MAX])                                       \
	{                                                                                                              \
		const struct S *const r = record;                                                                      \
                                                                                                                       \
		out[0] = '\0'; /* `out` is unused by most members */                                                   \
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
/* A JSON object made of members of the same struct. */
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

/* "mem_B": {"value": ..., "origin": "listed", "source": ..., "date": ...}; writes nothing for an unknown fact. */
void jl_fact_put(struct jl_json *json, const char *key, const struct jl_fact *fact);

/* Writes the members into the object that is open. */
void jl_fields_put(struct jl_json *json, const struct jl_schema *schema, const void *record);
/* Writes a key and the struct as its object. */
void jl_fields_put_object(struct jl_json *json, const char *key, const struct jl_schema *schema, const void *record);
/* Writes one struct as a whole, indented document. The keys of `more_record`, if given, go into the same object. */
void jl_fields_print(struct jl_buf *out, const struct jl_schema *schema, const void *record,
		     const struct jl_schema *more, const void *more_record);

/* JSON Schema (2020-12) of the output of jl_fields_print. The keys of `more` (NULL: none) are optional; `title` is the document's title. */
void jl_fields_schema(struct jl_buf *out, const struct jl_schema *schema, const struct jl_schema *more,
		      const char *title);
