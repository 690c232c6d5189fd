/* Shared by the import tests: imports a text and collects records and remarks. */
#ifndef JL_TESTS_IMPORT_COLLECT_H
#define JL_TESTS_IMPORT_COLLECT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/import.h"

#define RECORDS_MAX 400

struct collected {
	struct jl_arena arena;
	struct jl_record records[RECORDS_MAX];
	size_t n, n_remarks;
	char remarks[4000];
	struct jl_import_count count;
	struct jl_err err;
	enum jl_status status;
	const char *data;
	size_t len, at, chunk;
};

/* Copies a record through its JSON form, as the store would. */
static inline enum jl_status keep_record(void *ctx, const struct jl_record *record, struct jl_err *err)
{
	struct collected *c = ctx;
	struct jl_buf line;
	enum jl_status status;

	assert_true(c->n < RECORDS_MAX);
	for (size_t i = 0; i < record->n_metrics; i++)
		assert_true(isfinite(record->metrics[i].value.median) && record->metrics[i].value.median > 0);
	jl_buf_init(&line, JL_RECORD_TEXT_MAX_B);
	jl_record_write(record, &line);
	status = jl_record_read(line.data, line.len, &c->arena, &c->records[c->n], err);
	assert_int_equal(status, JL_OK);
	jl_buf_release(&line);
	c->n++;
	return JL_OK;
}

static inline void keep_remark(void *ctx, size_t line, const char *text)
{
	struct collected *c = ctx;
	size_t used = strlen(c->remarks);

	assert_true(*text);
	(void)snprintf(c->remarks + used, sizeof(c->remarks) - used, "%zu: %s\n", line, text);
	c->n_remarks++;
}

static inline ssize_t read_text(void *ctx, void *buf, size_t size)
{
	struct collected *c = ctx;
	size_t n = c->len - c->at;

	n = n < size ? n : size;
	n = n < c->chunk ? n : c->chunk;
	memcpy(buf, c->data + c->at, n);
	c->at += n;
	return (ssize_t)n;
}

static inline void collect(struct collected *c, const char *data, size_t len, size_t chunk,
			   const struct jl_import_options *options)
{
	const struct jl_import_sink sink = { .record = keep_record, .remark = keep_remark, .ctx = c };
	const struct jl_import_reader reader = { .read = read_text, .ctx = c };

	memset(c, 0, sizeof(*c));
	jl_arena_init(&c->arena, JL_ARENA_LIMIT_B);
	c->data = data;
	c->len = len;
	c->chunk = chunk;
	c->status = jl_import_stream(&reader, options, &sink, &c->count, &c->err);
}

static inline void collect_release(struct collected *c)
{
	jl_arena_release(&c->arena);
}

static inline size_t fixture(char *out, size_t size, const char *name)
{
	char path[256];
	FILE *file;
	size_t n;

	(void)snprintf(path, sizeof(path), JL_SOURCE_DIR "/tests/fixtures/logs/%s", name);
	file = fopen(path, "rb");
	assert_non_null(file);
	n = fread(out, 1, size, file);
	fclose(file);
	return n;
}

#endif
