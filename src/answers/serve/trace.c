/* A trace file: what arrived when, as a table or one object a line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/json_read.h"
#include "base/mem.h"
#include "serve/load.h"

#define LINE_MAX_B 65536

enum column { ARRIVAL, PROMPT, ANSWER, CACHED, N_COLUMN };
static const char *const names[N_COLUMN][8] = {
	[ARRIVAL] = { "arrival_s", "arrival", "timestamp", "arrived_at", "time", "at_s" },
	[PROMPT] = { "input_tokens", "prompt_tokens", "num_prefill_tokens", "prompt", "input_length", "isl" },
	[ANSWER] = { "output_tokens", "answer_tokens", "num_decode_tokens", "answer", "output_length", "osl" },
	[CACHED] = { "cached_tokens", "prefix_tokens", "cached" },
};

struct trace {
	struct jl_arrival *arrivals;
	size_t n, room;
	bool has_arrivals;
};

static enum jl_status add(struct trace *t, const double value[N_COLUMN], const char *file, size_t line,
			  struct jl_err *err)
{
	const double most = JL_SERVING_TOKENS_MAX;

	if (t->n == JL_SERVING_REQUESTS_MAX)
		return jl_fail(err, JL_E_LIMIT, "%.80s: more than %d requests; take a part of it", file,
			       JL_SERVING_REQUESTS_MAX);
	if (!(value[PROMPT] >= 1 && value[PROMPT] <= most && value[ANSWER] >= 1 && value[ANSWER] <= most))
		return jl_fail(err, JL_E_RANGE, "%.80s:%zu: prompt and answer have 1 to %d tokens each", file, line,
			       JL_SERVING_TOKENS_MAX);
	if (t->has_arrivals && !(value[ARRIVAL] >= 0 && value[ARRIVAL] <= 1e9))
		return jl_fail(err, JL_E_RANGE, "%.80s:%zu: the arrival is a time in seconds from 0 on", file, line);
	if (t->n == t->room) {
		const size_t room = t->room ? 2 * t->room : 1024;
		struct jl_arrival *more = jl_realloc(t->arrivals, room * sizeof(*more));

		JL_TRY(jl_got(more, err));
		t->arrivals = more;
		t->room = room;
	}
	t->arrivals[t->n++] = (struct jl_arrival){
		.at_s = t->has_arrivals ? value[ARRIVAL] : 0.0,
		.prompt = (int)value[PROMPT],
		.answer = (int)value[ANSWER],
		.cached = value[CACHED] > 0 ? (int)fmin(value[CACHED], most) : 0,
	};
	return JL_OK;
}

static enum jl_status read_csv(struct trace *t, const char *text, size_t len, const char *file, struct jl_err *err)
{
	struct jl_csv csv;
	size_t at[N_COLUMN];
	bool more = true;
	enum jl_status status = jl_csv_open(&csv, text, len, file, err);

	if (status)
		return status;
	for (int c = 0; c < N_COLUMN; c++) {
		at[c] = JL_CSV_NO_COLUMN;
		for (const char *const *name = names[c]; *name && at[c] == JL_CSV_NO_COLUMN; name++)
			at[c] = jl_csv_find(&csv, *name);
		if (at[c] == JL_CSV_NO_COLUMN && (c == PROMPT || c == ANSWER) && !status)
			status = jl_csv_need(&csv, names[c][0], &at[c], err);
	}
	t->has_arrivals = at[ARRIVAL] != JL_CSV_NO_COLUMN;
	while (!status && !(status = jl_csv_next(&csv, &more, err)) && more) {
		double value[N_COLUMN];

		for (int c = 0; c < N_COLUMN && !status; c++)
			status = jl_csv_number(&csv, at[c], &value[c], err);
		JL_THEN(status, add(t, value, file, csv.line - 1, err));
	}
	jl_csv_release(&csv);
	return status;
}

static enum jl_status read_line(struct trace *t, const char *line, size_t len, const char *file, size_t n_line,
				struct jl_err *err)
{
	double value[N_COLUMN] = { NAN, NAN, NAN, NAN };
	json_error_t why;
	json_t *root = jl_json_load(line, len, 0, &why);

	if (!json_is_object(root)) {
		json_decref(root);
		return jl_fail(err, JL_E_PARSE, "%.80s:%zu: not a JSON object", file, n_line);
	}
	for (int c = 0; c < N_COLUMN; c++)
		for (const char *const *name = names[c]; *name && isnan(value[c]); name++)
			if (json_is_number(json_object_get(root, *name)))
				value[c] = json_number_value(json_object_get(root, *name));
	json_decref(root);
	if (t->n == 0)
		t->has_arrivals = !isnan(value[ARRIVAL]);
	return add(t, value, file, n_line, err);
}

static enum jl_status read_lines(struct trace *t, const char *text, size_t len, const char *file, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	size_t n_line = 0;

	for (size_t at = 0; at < len && !status;) {
		const char *end = memchr(text + at, '\n', len - at);
		const size_t n = end ? (size_t)(end - text) - at : len - at;

		n_line++;
		if (n > LINE_MAX_B)
			status = jl_fail(err, JL_E_LIMIT, "%.80s:%zu: a line of more than %d bytes", file, n_line,
					 LINE_MAX_B);
		else if (strspn(text + at, " \t\r") < n)
			status = read_line(t, text + at, n, file, n_line, err);
		at += n + 1;
	}
	return status;
}

static int by_arrival(const void *a, const void *b)
{
	const struct jl_arrival *one = a, *other = b;

	return (one->at_s > other->at_s) - (one->at_s < other->at_s);
}

enum jl_status jl_arrivals_read(struct jl_arrival **ret_arrivals, size_t *ret_n, bool *ret_has_arrivals,
				const char *text, size_t len, const char *file, struct jl_err *err)
{
	struct trace t = { .n = 0 };
	const size_t blank = strspn(text, " \t\r\n");
	enum jl_status status = text[blank] == '{' ? read_lines(&t, text, len, file, err)
						   : read_csv(&t, text, len, file, err);

	if (!status && t.n == 0)
		status = jl_fail(err, JL_E_DATA, "%.80s: no requests", file);
	if (status) {
		jl_free(t.arrivals);
		return jl_fail_in_file(err, status);
	}
	qsort(t.arrivals, t.n, sizeof(*t.arrivals), by_arrival);
	*ret_arrivals = t.arrivals;
	*ret_n = t.n;
	*ret_has_arrivals = t.has_arrivals;
	return JL_OK;
}
