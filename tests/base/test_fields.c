/* A struct as JSON by its table, and the JSON Schema from the same rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/fact.h"
#include "base/fields.h"

struct leaf {
	const char *name;
	double size_B;
	struct leaf *children;
	size_t n_children;
};

struct interval {
	double value, lo, hi;
};

struct result {
	char name[16];
	const char *source;
	double step_s, epoch_s;
	int n_gpus, mode;
	long day;
	long long micro;
	size_t n_steps;
	bool fits, bare;
	struct interval speed;
	struct jl_err why;
	struct jl_fact mem_B;
	const double *sizes;
	size_t n_sizes;
	const char *const *words;
	struct leaf root;
	struct leaf both[2];
	struct leaf *other;
	struct leaf *beside;
};

extern const struct jl_schema leaf_schema; /* recursive type */
static const struct jl_field leaf_fields[] = {
	{ JL_FIELD(leaf, TEXT, name) },
	{ JL_FIELD(leaf, NUMBER, size_B) },
	{ JL_FIELD_MANY(leaf, LIST, children, n_children, "children", &leaf_schema), .flags = JL_FF_OMIT },
};
const struct jl_schema leaf_schema = JL_SCHEMA("leaf", leaf, leaf_fields);

static const struct jl_field beside_fields[] = { { JL_FIELD_AS(leaf, TEXT, name, "beside_name") } };
static const struct jl_schema beside_schema = JL_SCHEMA("beside", leaf, beside_fields);

static const struct jl_choice modes[] = { { "ddp", 0 }, { "zero", 1 }, { NULL, 0 } };

static double twice(const void *record)
{
	return 2 * ((const struct result *)record)->step_s;
}

static const char *said(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	const struct result *r = record;

	snprintf(out, JL_FIELD_TEXT_MAX, "%s on %d", r->name, r->n_gpus);
	return r->n_gpus ? out : NULL;
}

static bool has_gpus(const void *record)
{
	return ((const struct result *)record)->n_gpus > 0;
}

static const struct jl_field result_fields[] = {
	{ JL_FIELD(result, CHARS, name), .about = "who it is" },
	{ JL_FIELD(result, TEXT, source) },
	{ JL_FIELD(result, NUMBER, step_s) },
	{ JL_FIELD(result, NUMBER, epoch_s), .flags = JL_FF_OMIT },
	{ JL_FIELD(result, INT, n_gpus), .when = has_gpus },
	{ JL_FIELD(result, CHOICE, mode), .choices = modes },
	{ JL_FIELD(result, LONG, day) },
	{ JL_FIELD_AS(result, LLONG, micro, "price_usd"), .scale = 1e6 },
	{ JL_FIELD(result, SIZE, n_steps) },
	{ JL_FIELD(result, BOOL, fits) },
	{ JL_FIELD(result, BOOL, bare), .flags = JL_FF_OMIT },
	{ JL_FIELD(result, ESTIMATE, speed) },
	{ JL_FIELD_AS(result, WHY, why, "reason") },
	{ JL_FIELD(result, FACT, mem_B) },
	{ JL_FIELD(result, NUMBERS, sizes), .count_offset = offsetof(struct result, n_sizes) },
	{ JL_FIELD(result, TEXTS, words) },
	{ JL_FIELD(result, SUB, root), .sub = &leaf_schema },
	{ JL_FIELD(result, ARRAY, both), .length = 2, .sub = &leaf_schema },
	{ JL_FIELD(result, SEEN, other), .sub = &leaf_schema },
	{ JL_FIELD(result, SEEN, beside), .sub = &beside_schema, .flags = JL_FF_FLAT },
	{ JL_FIELD_NUMBER_OF("twice_s", twice) },
	{ JL_FIELD_TEXT_OF("said", said) },
};
static const struct jl_schema result_schema = JL_SCHEMA("result", result, result_fields);

static void check_json(const struct result *r, const char *const *lines, size_t n)
{
	struct jl_buf out;

	jl_buf_init(&out, 1 << 16);
	jl_fields_print(&out, &result_schema, r, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		if (lines[i][0] == '!' ? strstr(jl_buf_text(&out), lines[i] + 1) != NULL
				       : strstr(jl_buf_text(&out), lines[i]) == NULL)
			fail_msg("%s in %s", lines[i], jl_buf_text(&out));
	jl_buf_release(&out);
}

static void what_is_known_has_its_value(void **state)
{
	static const double sizes[] = { 1, 2.5 };
	static const char *const words[] = { "a", "b", NULL };
	struct leaf child = { .name = "child", .size_B = 1 }, other = { .name = "other", .size_B = NAN };
	struct result r = {
		.name = "it",
		.source = "log",
		.step_s = 0.5,
		.epoch_s = 3,
		.n_gpus = 8,
		.mode = 1,
		.day = -3,
		.micro = 2140000,
		.n_steps = 7,
		.fits = true,
		.bare = true,
		.speed = { 2, 1, 3 },
		.mem_B = { .value = 80, .lo = NAN, .hi = NAN, .origin = JL_LISTED, .source = "sheet", .date = "2024" },
		.sizes = sizes,
		.n_sizes = 2,
		.words = words,
		.root = { "root", 4, &child, 1 },
		.both = { { "l", 1, NULL, 0 }, { "r", 2, NULL, 0 } },
		.other = &other,
		.beside = &child
	};
	static const char *const lines[] = {
		"\"name\": \"it\"",
		"\"source\": \"log\"",
		"\"step_s\": 0.5",
		"\"epoch_s\": 3",
		"\"n_gpus\": 8",
		"\"mode\": \"zero\"",
		"\"day\": -3",
		"\"price_usd\": 2.14",
		"\"n_steps\": 7",
		"\"fits\": true",
		"\"bare\": true",
		"\"value\": 2,",
		"\"reason\": null",
		"\"origin\": \"listed\"",
		"\"twice_s\": 1",
		"\"said\": \"it on 8\"",
		"\"beside_name\": \"child\"",
		"\"children\": [\n",
		"\"size_B\": null",
		"!\"beside\"",
	};

	(void)state;
	check_json(&r, lines, sizeof lines / sizeof lines[0]);
}

static void what_is_not_known_is_null_or_has_no_key(void **state)
{
	struct result r = {
		.step_s = NAN, .epoch_s = NAN, .mode = 9, .mem_B = JL_FACT_UNKNOWN, .speed = { NAN, NAN, NAN }
	};
	static const char *const lines[] = {
		"\"name\": null",  "\"source\": null",        "\"step_s\": null", "!\"epoch_s\"",
		"!\"n_gpus\"",     "\"mode\": null",          "!\"bare\"",        "\"sizes\": []",
		"\"words\": []",   "\"other\": null",         "!\"beside_name\"", "\"said\": null",
		"\"mem_B\": null", "\"reason\": \"no such\"", "!\"children\"",
	};

	(void)state;
	jl_fail(&r.why, JL_E_NOTFOUND, "no such");
	check_json(&r, lines, sizeof lines / sizeof lines[0]);
}

static void the_schema_says_the_same(void **state)
{
	struct jl_buf out;
	static const char *const lines[] = {
		"\"$schema\": \"https://json-schema.org/draft/2020-12/schema\"",
		"\"title\": \"jeoul result\"",
		"\"description\": \"who it is\"",
		"\"enum\": [\n",
		"\"$ref\": \"#/$defs/leaf\"",
		"\"additionalProperties\": false",
		"\"beside_name\"",
		"\"twice_s\"",
	};
	const char *required;

	(void)state;
	jl_buf_init(&out, 1 << 16);
	jl_fields_schema(&out, &result_schema, NULL, "jeoul result");
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		if (!strstr(jl_buf_text(&out), lines[i]))
			fail_msg("%s in %s", lines[i], jl_buf_text(&out));
	required = strstr(jl_buf_text(&out), "\"required\": [\n    \"name\"");
	assert_non_null(required);
	assert_null(strstr(required, "\"epoch_s\"")); /* optional key */
	jl_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_has_its_value),
		cmocka_unit_test(what_is_not_known_is_null_or_has_no_key),
		cmocka_unit_test(the_schema_says_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
