/* A record as one line of JSON and back. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "record/record.h"

/* ---- writing */

static void put_text(struct jl_json *json, const char *key, const char *text)
{
	if (text)
		jl_json_put_string(json, key, text);
}

static void put_known(struct jl_json *json, const char *key, double value)
{
	if (isfinite(value))
		jl_json_put_number(json, key, value);
}

static void put_items(struct jl_json *json, const char *key, const struct jl_record_item *items, size_t n)
{
	if (n == 0)
		return;
	jl_json_put_object(json, key);
	for (size_t i = 0; i < n; i++) {
		if (items[i].text)
			jl_json_put_string(json, items[i].key, items[i].text);
		else
			jl_json_put_number(json, items[i].key, items[i].number);
	}
	jl_json_end_object(json);
}

static void put_metrics(struct jl_json *json, const struct jl_record *r)
{
	jl_json_put_array(json, "metrics");
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct jl_summary *s = &r->metrics[i].value;

		jl_json_object(json);
		jl_json_put_string(json, "name", r->metrics[i].name);
		if (r->metrics[i].less_is_better)
			jl_json_put_bool(json, "less_is_better", true);
		jl_json_put_integer(json, "n", (long long)s->n);
		put_known(json, "median", s->median);
		put_known(json, "mean", s->mean);
		put_known(json, "min", s->min);
		put_known(json, "max", s->max);
		put_known(json, "p95", s->p95);
		put_known(json, "lo95", s->lo95);
		put_known(json, "hi95", s->hi95);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

static void put_noise(struct jl_json *json, const struct jl_record_noise *noise)
{
	jl_json_put_object(json, "noise");
	put_known(json, "cpu_other_frac", noise->cpu_other_frac);
	put_known(json, "steal_frac", noise->steal_frac);
	put_known(json, "clock_frac", noise->clock_frac);
	put_known(json, "drift_frac", noise->drift_frac);
	jl_json_put_bool(json, "thermal", noise->thermal);
	jl_json_put_bool(json, "power", noise->power);
	jl_json_put_bool(json, "noisy", noise->noisy);
	put_text(json, "why", noise->why);
	jl_json_end_object(json);
}

void jl_record_write(const struct jl_record *r, struct jl_buf *out)
{
	struct jl_json json;
	size_t extra = r->extra_json ? strlen(r->extra_json) : 0;

	jl_json_init(&json, out, false);
	jl_json_object(&json);
	jl_json_put_integer(&json, "record_version", JL_RECORD_VERSION);
	put_text(&json, "id", r->id);
	put_known(&json, "time_s", r->time_s);
	put_text(&json, "kind", r->kind);
	put_text(&json, "backend", r->backend);
	put_text(&json, "origin", r->origin);
	put_text(&json, "source", r->source);
	put_text(&json, "line", r->line);
	put_text(&json, "machine", r->machine);
	put_text(&json, "machine_name", r->machine_name);
	put_text(&json, "node", r->node);
	put_text(&json, "run", r->run);
	put_text(&json, "note", r->note);
	put_items(&json, "params", r->params, r->n_params);
	put_metrics(&json, r);
	put_items(&json, "versions", r->versions, r->n_versions);
	if (r->n_samples) {
		jl_json_put_array(&json, "samples_s");
		for (size_t i = 0; i < r->n_samples; i++)
			jl_json_number(&json, r->samples_s[i]);
		jl_json_end_array(&json);
	}
	put_noise(&json, &r->noise);
	if (extra > 2) { /* the members of that object go between the last of ours and the closing brace */
		jl_buf_putc(out, ',');
		jl_buf_add(out, r->extra_json + 1, extra - 2);
	}
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

/* ---- reading */

struct reader {
	struct jl_arena *arena;
	struct jl_err *err;
	enum jl_status status; /* the first error sticks */
};

/* Each language takes one of the two words and swallows the other. */
static void fail_type(struct reader *rd, const char *key, const char *en)
{
	if (!rd->status)
		rd->status = jl_fail(rd->err, JL_E_PARSE, "a record: \"%s\" must be {%s}", key, en);
}

static const char *take_text(struct reader *rd, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	char *copy;

	if (!value || json_is_null(value) || rd->status)
		return NULL;
	if (!json_is_string(value)) {
		fail_type(rd, key, JL_N("text"));
		return NULL;
	}
	copy = jl_arena_strndup(rd->arena, json_string_value(value), json_string_length(value));
	if (!copy)
		rd->status = jl_fail_nomem(rd->err);
	return copy;
}

static double take_number(struct reader *rd, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!value || json_is_null(value) || rd->status)
		return NAN;
	if (!json_is_number(value)) {
		fail_type(rd, key, JL_N("a number"));
		return NAN;
	}
	return json_number_value(value);
}

static bool take_bool(struct reader *rd, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (value && !json_is_null(value) && !json_is_boolean(value))
		fail_type(rd, key, JL_N("true or false"));
	return json_is_true(value);
}

static const struct jl_record_item *take_items(struct reader *rd, json_t *root, const char *name, size_t *ret_n)
{
	json_t *object = json_object_get(root, name), *value;
	struct jl_record_item *items;
	const char *key;
	size_t n = 0;

	if (!object || json_is_null(object) || rd->status)
		return NULL;
	if (!json_is_object(object)) {
		fail_type(rd, name, JL_N("an object"));
		return NULL;
	}
	if (json_object_size(object) > JL_RECORD_ITEMS_MAX) {
		rd->status = jl_fail(rd->err, JL_E_LIMIT, "a record: \"%s\" has more than %d keys", name,
				     JL_RECORD_ITEMS_MAX);
		return NULL;
	}
	items = jl_arena_array(rd->arena, json_object_size(object) + 1, sizeof(*items));
	if (!items) {
		rd->status = jl_fail_nomem(rd->err);
		return NULL;
	}
	json_object_foreach(object, key, value)
	{
		items[n].key = jl_arena_strdup(rd->arena, key);
		if (json_is_string(value)) {
			items[n].text = take_text(rd, object, key);
		} else if (json_is_null(value)) {
			items[n].number = NAN;
		} else {
			items[n].number = take_number(rd, object, key);
		}
		if (!items[n].key && !rd->status)
			rd->status = jl_fail_nomem(rd->err);
		n++;
	}
	*ret_n = n;
	return items;
}

static struct jl_summary take_summary(struct reader *rd, const json_t *object)
{
	double n = take_number(rd, object, "n");

	if (!isnan(n) && !(n >= 0 && n <= 1e15 && floor(n) == n))
		fail_type(rd, "n", JL_N("a whole number"));
	return (struct jl_summary){
		.n = n >= 0 && n <= 1e15 ? (size_t)n : 0,
		.median = take_number(rd, object, "median"),
		.mean = take_number(rd, object, "mean"),
		.min = take_number(rd, object, "min"),
		.max = take_number(rd, object, "max"),
		.p95 = take_number(rd, object, "p95"),
		.lo95 = take_number(rd, object, "lo95"),
		.hi95 = take_number(rd, object, "hi95"),
	};
}

static const struct jl_record_metric *take_metrics(struct reader *rd, const json_t *root, size_t *ret_n)
{
	const json_t *array = json_object_get(root, "metrics");
	struct jl_record_metric *metrics;
	size_t n = json_array_size(array);

	if (!array || json_is_null(array) || rd->status)
		return NULL;
	if (!json_is_array(array) || n > JL_RECORD_ITEMS_MAX) {
		fail_type(rd, "metrics", JL_N("a list of at most 256 objects"));
		return NULL;
	}
	metrics = jl_arena_array(rd->arena, n + 1, sizeof(*metrics));
	if (!metrics) {
		rd->status = jl_fail_nomem(rd->err);
		return NULL;
	}
	for (size_t i = 0; i < n && !rd->status; i++) {
		const json_t *object = json_array_get(array, i);

		if (!json_is_object(object)) {
			fail_type(rd, "metrics", JL_N("a list of at most 256 objects"));
			return NULL;
		}
		metrics[i].name = take_text(rd, object, "name");
		metrics[i].less_is_better = take_bool(rd, object, "less_is_better");
		metrics[i].value = take_summary(rd, object);
	}
	*ret_n = n;
	return metrics;
}

static const double *take_samples(struct reader *rd, const json_t *root, size_t *ret_n)
{
	const json_t *array = json_object_get(root, "samples_s");
	size_t n = json_array_size(array);
	double *samples;

	if (!array || json_is_null(array) || rd->status)
		return NULL;
	if (!json_is_array(array) || n > JL_RECORD_SAMPLES_MAX) {
		fail_type(rd, "samples_s", JL_N("a list of at most 1,000,000 numbers"));
		return NULL;
	}
	samples = jl_arena_array(rd->arena, n + 1, sizeof(*samples));
	if (!samples) {
		rd->status = jl_fail_nomem(rd->err);
		return NULL;
	}
	for (size_t i = 0; i < n && !rd->status; i++) {
		const json_t *value = json_array_get(array, i);

		if (!json_is_number(value))
			fail_type(rd, "samples_s", JL_N("a list of numbers"));
		samples[i] = json_number_value(value);
	}
	*ret_n = n;
	return n ? samples : NULL;
}

static struct jl_record_noise take_noise(struct reader *rd, const json_t *root)
{
	const json_t *object = json_object_get(root, "noise");

	if (!object || json_is_null(object))
		return jl_record_noise_unknown();
	if (!json_is_object(object))
		fail_type(rd, "noise", JL_N("an object"));
	return (struct jl_record_noise){
		.cpu_other_frac = take_number(rd, object, "cpu_other_frac"),
		.steal_frac = take_number(rd, object, "steal_frac"),
		.clock_frac = take_number(rd, object, "clock_frac"),
		.drift_frac = take_number(rd, object, "drift_frac"),
		.thermal = take_bool(rd, object, "thermal"),
		.power = take_bool(rd, object, "power"),
		.noisy = take_bool(rd, object, "noisy"),
		.why = take_text(rd, object, "why"),
	};
}

/* What remains of the object after our own keys are taken out. */
static const char *take_extra(struct reader *rd, json_t *root)
{
	static const char *const ours[] = {
		"record_version", "id",  "time_s", "kind",   "backend", "origin",   "source",    "line",  "machine",
		"machine_name",   "run", "note",   "params", "metrics", "versions", "samples_s", "noise", "node"
	};
	char *text, *copy = NULL;

	if (rd->status)
		return NULL;
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		json_object_del(root, ours[i]);
	if (json_object_size(root) == 0)
		return NULL;
	text = json_dumps(root, JSON_COMPACT);
	if (text)
		copy = jl_arena_strdup(rd->arena, text);
	if (!copy)
		rd->status = jl_fail_nomem(rd->err);
	free(text);
	return copy;
}

static struct jl_record take_record(struct reader *rd, json_t *root)
{
	struct jl_record r = {
		.id = take_text(rd, root, "id"),
		.time_s = take_number(rd, root, "time_s"),
		.kind = take_text(rd, root, "kind"),
		.backend = take_text(rd, root, "backend"),
		.origin = take_text(rd, root, "origin"),
		.source = take_text(rd, root, "source"),
		.line = take_text(rd, root, "line"),
		.machine = take_text(rd, root, "machine"),
		.machine_name = take_text(rd, root, "machine_name"),
		.node = take_text(rd, root, "node"),
		.run = take_text(rd, root, "run"),
		.note = take_text(rd, root, "note"),
	};

	r.params = take_items(rd, root, "params", &r.n_params);
	r.metrics = take_metrics(rd, root, &r.n_metrics);
	r.versions = take_items(rd, root, "versions", &r.n_versions);
	r.samples_s = take_samples(rd, root, &r.n_samples);
	r.noise = take_noise(rd, root);
	return r;
}

enum jl_status jl_record_read(const char *text, size_t len, struct jl_arena *arena, struct jl_record *ret_record,
			      struct jl_err *err)
{
	struct reader rd = { .arena = arena, .err = err };
	struct jl_record record;
	json_error_t why;
	json_t *root;

	if (len > JL_RECORD_TEXT_MAX_B)
		return jl_fail(err, JL_E_LIMIT, "a record larger than %zu MiB", JL_RECORD_TEXT_MAX_B >> 20);
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!root)
		return jl_fail(err, JL_E_PARSE, "not a record in JSON: %s (column %d)", why.text, why.column);
	if (!json_is_object(root) || !json_object_get(root, "record_version")) {
		rd.status = jl_fail(err, JL_E_PARSE, "JSON, but not a record: there is no \"record_version\"");
		goto out;
	}
	if (!(take_number(&rd, root, "record_version") >= 1))
		fail_type(&rd, "record_version", JL_N("a number from 1"));
	record = take_record(&rd, root);
	if (!rd.status)
		rd.status = jl_record_check(&record, err);
	record.extra_json = take_extra(&rd, root);
	if (!rd.status)
		*ret_record = record;
out:
	json_decref(root);
	return rd.status;
}
