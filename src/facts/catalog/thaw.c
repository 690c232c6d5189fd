#include "catalog/thaw.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "catalog/schema.h"

struct thaw {
	char *tables;
	size_t size_B;
	const char *texts;
};

union any_record {
	struct jl_source source;
	struct jl_family family;
	struct jl_gpu gpu;
	struct jl_cpu cpu;
	struct jl_link_info link;
	struct jl_system system;
	struct jl_tariff tariff;
	struct jl_rule rule;
	struct jl_model_info model;
	struct jl_net_info net;
	struct jl_param_info param;
	struct jl_price price;
};

/* Where a record has pointers, so that thousands of records are not walked field by field. */
struct pointers {
	size_t offset[sizeof(union any_record) / sizeof(char *)]; /* no record has more */
	size_t n;
};

static void find_pointers(struct pointers *p, const struct jl_schema *schema, size_t base)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *field = &schema->fields[i];
		const size_t at = base + field->offset;

		switch (field->type) {
		case JL_F_TEXT:
		case JL_F_DATE:
		case JL_F_TEXTS:
		case JL_F_LIST: p->offset[p->n++] = at; break;
		case JL_F_FACT:
			p->offset[p->n++] = at + offsetof(struct jl_fact, source);
			p->offset[p->n++] = at + offsetof(struct jl_fact, date);
			p->offset[p->n++] = at + offsetof(struct jl_fact, note);
			break;
		case JL_F_SUB: find_pointers(p, field->sub, at); break;
		default: break;
		}
	}
}

static void put_right(const struct thaw *t, char *at)
{
	uintptr_t distance;
	const char *to;

	memcpy(&distance, at, sizeof(distance));
	if (distance == 0)
		return;
	to = distance < t->size_B ? t->tables + distance : t->texts + (distance - t->size_B);
	memcpy(at, &to, sizeof(to)); /* NOLINT(bugprone-multi-level-implicit-pointer-conversion): a pointer as such */
}

static void thaw_records(const struct thaw *t, const struct jl_schema *schema, char *records, size_t n);

static void thaw_inner(const struct thaw *t, const struct jl_schema *schema, char *record)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *field = &schema->fields[i];
		char *list;

		if (field->type != JL_F_TEXTS && field->type != JL_F_LIST)
			continue;
		memcpy(&list, record + field->offset, sizeof(list));
		if (list && field->type == JL_F_LIST)
			thaw_records(t, field->sub, list,
				     *(const size_t *)(const void *)(record + field->count_offset));
		for (const char **text = (const char **)(void *)list; list && field->type == JL_F_TEXTS && *text;
		     text++)
			put_right(t, (char *)text);
	}
}

static void thaw_records(const struct thaw *t, const struct jl_schema *schema, char *records, size_t n)
{
	struct pointers p = { .n = 0 };
	bool inner = false;

	find_pointers(&p, schema, 0);
	for (size_t i = 0; i < schema->n_fields; i++)
		inner = inner || schema->fields[i].type == JL_F_TEXTS || schema->fields[i].type == JL_F_LIST;
	for (char *record = records; record < records + n * schema->size_B; record += schema->size_B) {
		for (size_t i = 0; i < p.n; i++)
			put_right(t, record + p.offset[i]);
		if (inner)
			thaw_inner(t, schema, record);
	}
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; refused before, and the pages come one by one */
#endif

/* The pages of the copy at once instead of fault by fault. */
static void get_pages(void *tables, size_t size_B)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t from = ((uintptr_t)tables + page - 1) / page * page;
	const uintptr_t to = ((uintptr_t)tables + size_B) / page * page;

	if (from < to)
		(void)madvise((char *)tables + (from - (uintptr_t)tables), to - from, MADV_POPULATE_WRITE);
}

void jl_catalog_thaw(struct jl_catalog *cat, const void *frozen, void *thawed, size_t size_B, const char *texts)
{
	const struct thaw t = { thawed, size_B, texts };

	get_pages(thawed, size_B);
	memcpy(thawed, frozen, size_B);
	for (int kind = 0; kind < JL_N_RECORD; kind++) {
		size_t n;
		const void *distance = jl_catalog_list(cat, (enum jl_catalog_kind)kind, &n);
		char *list = t.tables + (uintptr_t)distance;

		if (n == 0)
			continue;
		jl_catalog_set_list(cat, (enum jl_catalog_kind)kind, list, n);
		thaw_records(&t, jl_schema_of((enum jl_catalog_kind)kind), list, n);
	}
}
