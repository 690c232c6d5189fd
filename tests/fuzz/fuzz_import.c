/* Any bytes as the output of a tool: refused with a message, or records whose figures are finite and positive, whose line is inside the
 * input and which read back as they were written. Cut into other pieces, the same input gives the same records. The last byte chooses
 * the size of the pieces and whether there is a pattern: the fixtures are seeds as they are. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

struct input {
	const uint8_t *data;
	size_t len, at, chunk, n_lines;
	size_t n_records;
	uint64_t sum; /* of all ids: the order does not matter for the comparison, the content does */
};

static ssize_t read_input(void *ctx, void *buf, size_t size)
{
	struct input *in = ctx;
	size_t n = in->len - in->at;

	n = n < size ? n : size;
	n = n < in->chunk ? n : in->chunk;
	if (n)
		memcpy(buf, in->data + in->at, n);
	in->at += n;
	return (ssize_t)n;
}

static enum jl_status take_record(void *ctx, const struct jl_record *r, struct jl_err *err)
{
	struct input *in = ctx;
	struct jl_record back;
	struct jl_arena arena;
	struct jl_buf line;
	const char *colon = r->source ? strrchr(r->source, ':') : NULL;

	in->n_records++;
	for (const char *c = r->id; *c; c++)
		in->sum = in->sum * 31 + (unsigned char)*c;
	must(strcmp(r->origin, "measured") == 0 || strcmp(r->origin, "imported") == 0);
	if (colon && strcmp(r->origin, "imported") == 0 && strncmp(r->source, "fuzz:", 5) == 0) {
		unsigned long number = strtoul(colon + 1, NULL, 10);

		must(number >= 1 && number <= in->n_lines);
		for (size_t i = 0; i < r->n_metrics; i++) {
			const struct jl_stats *s = &r->metrics[i].value;

			must(isfinite(s->median) && s->median > 0);
			must(!(s->min <= 0) && !(s->max < s->median) && !(s->p95 < s->median * 0.999999));
		}
		for (size_t i = 0; i < r->n_samples; i++)
			must(isfinite(r->samples_s[i]) && r->samples_s[i] > 0);
	}
	jl_buf_init(&line, JL_RECORD_TEXT_MAX_B);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	jl_record_write(r, &line);
	must(!line.failed && jl_record_read(line.data, line.len, &arena, &back, err) == JL_OK);
	must(back.n_metrics == r->n_metrics && back.n_params == r->n_params && strcmp(back.id, r->id) == 0);
	jl_arena_release(&arena);
	jl_buf_release(&line);
	return JL_OK;
}

static void take_remark(void *ctx, size_t line, const char *text)
{
	must(line <= ((struct input *)ctx)->n_lines && *text);
}

static void run(struct input *in, bool pattern)
{
	const struct jl_import_options options = { .name = "fuzz",
						   .time_s = 1e9,
						   .pattern = pattern ? "step {step} loss {*} {step_s} s" : NULL };
	const struct jl_import_sink sink = { .record = take_record, .remark = take_remark, .ctx = in };
	const struct jl_import_reader reader = { .read = read_input, .ctx = in };
	struct jl_import_count count;
	struct jl_err err = { .en = "" };
	enum jl_status status = jl_import_stream(&reader, &options, &sink, &count, &err);

	must(status ? err.en[0] != '\0' && err.text[0] != '\0' : count.n_records == in->n_records && in->n_records > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input a, b;

	if (size < 1)
		return 0;
	a = (struct input){ .data = data, .len = size - 1, .chunk = SIZE_MAX, .n_lines = 1 };
	for (size_t i = 0; i + 1 < size; i++)
		a.n_lines += data[i] == '\n';
	b = a;
	b.chunk = 1 + data[size - 1] / 2;
	run(&a, data[size - 1] & 1);
	run(&b, data[size - 1] & 1);
	must(a.n_records == b.n_records && a.sum == b.sum);
	return 0;
}
