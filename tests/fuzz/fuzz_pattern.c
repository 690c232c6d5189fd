/* Any bytes as a --pattern (the first line) and as the log that it reads (the rest): refused with a message in both languages, or records
 * whose figures are finite and positive. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct log {
	const uint8_t *data;
	size_t len, at, n_records;
};

static void must(int holds)
{
	if (!holds)
		abort();
}

static ssize_t read_log(void *ctx, void *buf, size_t size)
{
	struct log *log = ctx;
	const size_t left = log->len - log->at, n = left < size ? left : size;

	if (n)
		memcpy(buf, log->data + log->at, n);
	log->at += n;
	return (ssize_t)n;
}

static enum jl_status take_record(void *ctx, const struct jl_record *r, struct jl_err *err)
{
	struct log *log = ctx;

	(void)err;
	log->n_records++;
	for (size_t i = 0; i < r->n_metrics; i++)
		must(isfinite(r->metrics[i].value.median) && r->metrics[i].value.median > 0);
	for (size_t i = 0; i < r->n_samples; i++)
		must(isfinite(r->samples_s[i]) && r->samples_s[i] > 0);
	return JL_OK;
}

static void take_remark(void *ctx, size_t line, const char *text)
{
	(void)ctx;
	(void)line;
	must(*text != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	const size_t len = end ? (size_t)(end - data) : size;
	struct log log = { .data = data + len, .len = size - len };
	char *pattern = malloc(len + 1);
	const struct jl_import_options options = { .name = "fuzz", .time_s = 1e9, .pattern = pattern };
	const struct jl_import_sink sink = { .record = take_record, .remark = take_remark, .ctx = &log };
	const struct jl_import_reader reader = { .read = read_log, .ctx = &log };
	struct jl_import_count count;
	struct jl_err err = { .en = "" };
	enum jl_status status;

	must(pattern != NULL);
	if (len)
		memcpy(pattern, data, len);
	pattern[len] = '\0';
	status = jl_import_stream(&reader, &options, &sink, &count, &err);
	must(status ? err.en[0] && err.text[0] : count.n_records == log.n_records && log.n_records > 0);
	free(pattern);
	return 0;
}
