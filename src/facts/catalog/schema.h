/* The form of every kind of catalog record, once: reading, laying over, checking, writing as C and comparing all
 * walk these tables. A new field is one row here (or one line of an X-macro in catalog.h). */
#ifndef JL_CATALOG_SCHEMA_H
#define JL_CATALOG_SCHEMA_H

#include "catalog/catalog.h"

enum jl_catalog_kind {
	JL_R_SOURCE,
	JL_R_FAMILY,
	JL_R_GPU,
	JL_R_CPU,
	JL_R_LINK,
	JL_R_SYSTEM,
	JL_R_TARIFF,
	JL_R_RULE,
	JL_R_MODEL,
	JL_R_PARAM,
	JL_R_PRICE, /* CSV; its keys are the columns */
	JL_N_RECORD
};

enum jl_field_type {
	JL_F_TEXT,   /* const char * */
	JL_F_DATE,   /* const char *, must be a date */
	JL_F_FACT,   /* struct jl_fact */
	JL_F_NUMBER, /* double, no unit */
	JL_F_INT,
	JL_F_BOOL,
	JL_F_CHOICE, /* an enum */
	JL_F_TEXTS,  /* const char *const *, NULL-terminated */
	JL_F_LIST,   /* array of sub-records and its count */
	JL_F_SUB     /* a struct inside the record */
};

enum {
	JL_FF_REQUIRED = 1 << 0,
	JL_FF_ID = 1 << 1,
	JL_FF_SOURCE = 1 << 2,  /* default source of the record's facts */
	JL_FF_DATED = 1 << 3,   /* default date of the record's facts */
	JL_FF_POSITIVE = 1 << 4 /* a number that must be above 0 */
};

struct jl_choice {
	const char *name;
	int value;
};

struct jl_schema;

struct jl_field {
	const char *key;    /* in YAML; the column in CSV */
	const char *member; /* in C */
	enum jl_field_type type;
	unsigned flags;
	size_t offset;
	size_t count_offset;             /* JL_F_LIST */
	enum jl_kind kind;               /* JL_F_FACT */
	double if_absent;                /* JL_F_NUMBER; NAN: unknown */
	double scale;                    /* JL_F_NUMBER: what a written 1 is in SI units */
	const struct jl_choice *choices; /* JL_F_CHOICE; ends with a NULL name */
	const struct jl_schema *sub;     /* JL_F_LIST, JL_F_SUB */
	int ref;                         /* 1 + the enum jl_catalog_kind whose id this text must be; 0: free text */
	unsigned ref_roles;              /* bits of enum jl_link_role that a link may have here; 0: any */
};

struct jl_schema {
	const char *list; /* top-level key of a file, member of struct jl_catalog: "gpus" */
	const char *en;   /* one of them */
	const char *ko;
	const char *c_type;
	size_t size_B;
	const struct jl_field *fields;
	size_t n_fields;
	size_t list_offset; /* in struct jl_catalog */
	size_t count_offset;
	bool grouped; /* several records share an id (the steps of one tariff) */
};

#define JL_SCHEMA_FIELDS_MAX 64

const struct jl_schema *jl_schema_of(enum jl_catalog_kind kind);

/* The kind of record that a file with this top-level key has; false if there is none. */
bool jl_schema_by_list(enum jl_catalog_kind *ret_kind, const char *list);

/* Index of a key; n_fields if there is none. */
size_t jl_schema_field(const struct jl_schema *schema, const char *key);

/* A record with nothing known. */
void jl_schema_clear(const struct jl_schema *schema, void *record);

const char *jl_choice_name(const struct jl_choice *choices, int value);

/* The records of one kind: pointer to the first, and how many. */
const void *jl_catalog_list(const struct jl_catalog *cat, enum jl_catalog_kind kind, size_t *ret_n);
void jl_catalog_set_list(struct jl_catalog *cat, enum jl_catalog_kind kind, const void *list, size_t n);

/* The id (or for a price the item) of a record. Never NULL. */
const char *jl_record_id(const struct jl_schema *schema, const void *record);

/* Field by field; the key of the first difference, or NULL when they are the same. */
const char *jl_record_differs(const struct jl_schema *schema, const void *a, const void *b);

static inline const void *jl_field_at(const struct jl_field *field, const void *record)
{
	return (const char *)record + field->offset;
}

#endif
