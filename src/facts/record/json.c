/* Writes a record as one line of JSON and parses it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/json_read.h"
#include "record/record.h"

#define KNOWN(S, TYPE, M)                                                                                              \
	{                                                                                                              \
		JL_FIELD(S, TYPE, M), .flags = JL_FF_OMIT                                                              \
	}

static const struct jl_field summary_rows[] = {
	{ JL_FIELD(jl_stats, SIZE, n) }, KNOWN(jl_stats, NUMBER, median), KNOWN(jl_stats, NUMBER, mean),
	KNOWN(jl_stats, NUMBER, min),    KNOWN(jl_stats, NUMBER, max),    KNOWN(jl_stats, NUMBER, p95),
	KNOWN(jl_stats, NUMBER, lo95),   KNOWN(jl_stats, NUMBER, hi95),
};
static const struct jl_schema summary_form = JL_SCHEMA("summary", jl_stats, summary_rows);

static const struct jl_field metric_rows[] = {
	{ JL_FIELD(jl_record_metric, TEXT, name) },
	KNOWN(jl_record_metric, BOOL, less_is_better),
	{ JL_FIELD(jl_record_metric, SUB, value), .flags = JL_FF_FLAT, .sub = &summary_form },
};
static const struct jl_schema metric_form = JL_SCHEMA("metric", jl_record_metric, metric_rows);

static const struct jl_field noise_rows[] = {
	KNOWN(jl_record_noise, NUMBER, cpu_other_frac),
	KNOWN(jl_record_noise, NUMBER, steal_frac),
	KNOWN(jl_record_noise, NUMBER, wait_frac),
	KNOWN(jl_record_noise, NUMBER, clock_frac),
	KNOWN(jl_record_noise, NUMBER, drift_frac),
	KNOWN(jl_record_noise, NUMBER, quota_cpus),
	KNOWN(jl_record_noise, NUMBER, n_cpus),
	KNOWN(jl_record_noise, NUMBER, throttled_frac),
	{ JL_FIELD(jl_record_noise, BOOL, thermal) },
	{ JL_FIELD(jl_record_noise, BOOL, power) },
	KNOWN(jl_record_noise, NUMBER, clock_Hz),
	KNOWN(jl_record_noise, NUMBER, clock_max_Hz),
	KNOWN(jl_record_noise, NUMBER, limit_W),
	KNOWN(jl_record_noise, NUMBER, limit_default_W),
	KNOWN(jl_record_noise, TEXT, held_by),
	KNOWN(jl_record_noise, TEXT, neighbour),
	KNOWN(jl_record_noise, NUMBER, neighbour_B),
	{ JL_FIELD(jl_record_noise, BOOL, noisy) },
	KNOWN(jl_record_noise, TEXT, why),
};
static const struct jl_schema noise_form = JL_SCHEMA("noise", jl_record_noise, noise_rows);

static const struct jl_field head_rows[] = {
	KNOWN(jl_record, TEXT, id),      KNOWN(jl_record, NUMBER, time_s), KNOWN(jl_record, TEXT, kind),
	KNOWN(jl_record, TEXT, backend), KNOWN(jl_record, TEXT, origin),   KNOWN(jl_record, TEXT, source),
	KNOWN(jl_record, TEXT, line),    KNOWN(jl_record, TEXT, machine),  KNOWN(jl_record, TEXT, machine_name),
	KNOWN(jl_record, TEXT, node),    KNOWN(jl_record, TEXT, run),      KNOWN(jl_record, TEXT, note),
};
static const struct jl_schema head_form = JL_SCHEMA("record", jl_record, head_rows);

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

void jl_record_write(const struct jl_record *r, struct jl_buf *out)
{
	struct jl_json json;
	size_t extra = r->extra_json ? strlen(r->extra_json) : 0;

	jl_json_init(&json, out, false);
	jl_json_object(&json);
	jl_json_put_integer(&json, "record_version", JL_RECORD_VERSION);
	jl_fields_put(&json, &head_form, r);
	put_items(&json, "params", r->params, r->n_params);
	jl_json_put_array(&json, "metrics");
	for (size_t i = 0; i < r->n_metrics; i++) {
		jl_json_object(&json);
		jl_fields_put(&json, &metric_form, &r->metrics[i]);
		jl_json_end_object(&json);
	}
	jl_json_end_array(&json);
	put_items(&json, "versions", r->versions, r->n_versions);
	if (r->n_samples) {
		jl_json_put_array(&json, "samples_s");
		for (size_t i = 0; i < r->n_samples; i++)
			jl_json_number(&json, r->samples_s[i]);
		jl_json_end_array(&json);
	}
	jl_fields_put_object(&json, "noise", &noise_form, &r->noise);
	if (extra > 2) { /* splice the members of that object before the closing brace */
		jl_buf_putc(out, ',');
		jl_buf_add(out, r->extra_json + 1, extra - 2);
	}
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

struct reader {
	struct jl_arena *arena;
	struct jl_err *err;
	enum jl_status status; /* sticky: the first error */
};

/* The message contains one word per language, and each language prints its own. */
static void fail_type(struct reader *rd, const char *key, const char *en)
{
	if (!rd->status)
		rd->status = jl_fail(rd->err, JL_E_PARSE, "a record: \"%s\" must be {%s}", key, en);
}

static const char *take_text(struct reader *rd, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!value || json_is_null(value) || rd->status)
		return NULL;
	if (!json_is_string(value)) {
		fail_type(rd, key, JL_N("text"));
		return NULL;
	}
	char *copy = jl_arena_strndup(rd->arena, json_string_value(value), json_string_length(value));
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

/* Allocates an array for a list or object; NULL: absent, of the wrong kind, or too long. */
static void *take_room(struct reader *rd, const json_t *value, const char *key, bool fits, const char *en, size_t n,
		       size_t item_B)
{
	if (!value || json_is_null(value) || rd->status)
		return NULL;
	if (!fits) {
		fail_type(rd, key, en);
		return NULL;
	}
	void *room = jl_arena_array(rd->arena, n + 1, item_B);
	if (!room)
		rd->status = jl_fail_nomem(rd->err);
	return room;
}

static const struct jl_record_item *take_items(struct reader *rd, json_t *root, const char *name, size_t *ret_n)
{
	json_t *object = json_object_get(root, name), *value;
	const size_t n_keys = json_object_size(object);
	struct jl_record_item *items = take_room(rd, object, name, json_is_object(object), JL_N("an object"), n_keys,
						 sizeof(*items));
	const char *key;
	size_t n = 0;

	if (!items)
		return NULL;
	if (n_keys > JL_RECORD_ITEMS_MAX) {
		rd->status = jl_fail(rd->err, JL_E_LIMIT, "a record: \"%s\" has more than %d keys", name,
				     JL_RECORD_ITEMS_MAX);
		return NULL;
	}
	json_object_foreach(object, key, value)
	{
		items[n].key = jl_arena_strdup(rd->arena, key);
		if (json_is_string(value))
			items[n].text = take_text(rd, object, key);
		else
			items[n].number = take_number(rd, object, key);
		if (!items[n++].key && !rd->status)
			rd->status = jl_fail_nomem(rd->err);
	}
	*ret_n = n;
	return items;
}

static size_t take_count(struct reader *rd, const json_t *object, const char *key)
{
	double n = take_number(rd, object, key);

	if (!isnan(n) && !(n >= 0 && n <= 1e15 && floor(n) == n))
		fail_type(rd, key, JL_N("a whole number"));
	return n >= 0 && n <= 1e15 ? (size_t)n : 0;
}

static void take_rows(struct reader *rd, const struct jl_schema *form, const json_t *object, void *record)
{
	for (size_t i = 0; i < form->n_fields; i++) {
		const struct jl_field *row = &form->fields[i];
		void *at = (char *)record + row->offset;

		switch (row->type) {
		case JL_F_TEXT: *(const char **)at = take_text(rd, object, row->member); break;
		case JL_F_NUMBER: *(double *)at = take_number(rd, object, row->member); break;
		case JL_F_BOOL: *(bool *)at = take_bool(rd, object, row->member); break;
		case JL_F_SIZE: *(size_t *)at = take_count(rd, object, row->member); break;
		default: take_rows(rd, row->sub, object, at); break;
		}
	}
}

static const struct jl_record_metric *take_metrics(struct reader *rd, const json_t *root, size_t *ret_n)
{
	static const char wanted[] = JL_N("a list of at most 256 objects");
	const json_t *array = json_object_get(root, "metrics");
	const size_t n = json_array_size(array);
	struct jl_record_metric *metrics = take_room(
		rd, array, "metrics", json_is_array(array) && n <= JL_RECORD_ITEMS_MAX, wanted, n, sizeof(*metrics));

	for (size_t i = 0; metrics && i < n && !rd->status; i++) {
		const json_t *object = json_array_get(array, i);

		if (json_is_object(object))
			take_rows(rd, &metric_form, object, &metrics[i]);
		else
			fail_type(rd, "metrics", wanted);
	}
	*ret_n = metrics ? n : 0;
	return metrics;
}

static const double *take_samples(struct reader *rd, const json_t *root, size_t *ret_n)
{
	const json_t *array = json_object_get(root, "samples_s");
	const size_t n = json_array_size(array);
	double *samples = take_room(rd, array, "samples_s", json_is_array(array) && n <= JL_RECORD_SAMPLES_MAX,
				    JL_N("a list of at most 1,000,000 numbers"), n, sizeof(*samples));

	for (size_t i = 0; samples && i < n && !rd->status; i++) {
		const json_t *value = json_array_get(array, i);

		if (!json_is_number(value))
			fail_type(rd, "samples_s", JL_N("a list of numbers"));
		samples[i] = json_number_value(value);
	}
	*ret_n = samples ? n : 0;
	return n ? samples : NULL;
}

static struct jl_record_noise take_noise(struct reader *rd, const json_t *root)
{
	const json_t *object = json_object_get(root, "noise");
	struct jl_record_noise noise = jl_record_noise_unknown();

	if (!object || json_is_null(object))
		return noise;
	if (!json_is_object(object))
		fail_type(rd, "noise", JL_N("an object"));
	take_rows(rd, &noise_form, object, &noise);
	return noise;
}

/* The unknown keys of the object as JSON text. */
static const char *take_extra(struct reader *rd, json_t *root)
{
	static const char *const ours[] = { "record_version", "params", "metrics", "versions", "samples_s", "noise" };
	char *text, *copy = NULL;

	if (rd->status)
		return NULL;
	for (size_t i = 0; i < JL_LEN(ours); i++)
		json_object_del(root, ours[i]);
	for (size_t i = 0; i < head_form.n_fields; i++)
		json_object_del(root, head_rows[i].member);
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
	struct jl_record r = { .id = NULL };

	take_rows(rd, &head_form, root, &r);
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
	json_error_t why;

	if (len > JL_RECORD_TEXT_MAX_B)
		return jl_fail(err, JL_E_LIMIT, "a record larger than %zu MiB", JL_RECORD_TEXT_MAX_B >> 20);
	json_t *root = jl_json_load(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!root)
		return jl_fail(err, JL_E_PARSE, "not a record in JSON: %s (column %d)", why.text, why.column);
	if (!json_is_object(root) || !json_object_get(root, "record_version")) {
		rd.status = jl_fail(err, JL_E_PARSE, "JSON, but not a record: there is no \"record_version\"");
		goto out;
	}
	if (!(take_number(&rd, root, "record_version") >= 1))
		fail_type(&rd, "record_version", JL_N("a number from 1"));
	struct jl_record record = take_record(&rd, root);
	if (!rd.status)
		rd.status = jl_record_check(&record, err);
	record.extra_json = take_extra(&rd, root);
	if (!rd.status)
		*ret_record = record;
out:
	json_decref(root);
	return rd.status;
}
