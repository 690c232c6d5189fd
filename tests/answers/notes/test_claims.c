/* Audits: expressions with units, verdicts, reasons, contradictions, and the five examples' known mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "notes/claims.h"

static struct jl_arena arena;

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static enum jl_status eval(struct jl_val *ret_val, const char *text, struct jl_err *err)
{
	struct jl_expr_scope scope = { .cat = jl_catalog_embedded(), .arena = &arena };

	return jl_expr_eval(ret_val, &scope, text, err);
}

static double value_of(const char *text)
{
	struct jl_val v;
	struct jl_err err;

	if (eval(&v, text, &err))
		fail_msg("%s: %s", text, err.en);
	return v.v;
}

static void arithmetic(void **state)
{
	(void)state;
	assert_true(fabs(value_of("19252 * 1.06 s / 3600") - 5.668644) < 1e-6);
	assert_true(fabs(value_of("2 + 3 * 4 - 6 / 2") - 11) < 1e-12);
	assert_true(fabs(value_of("-(2 - 5) * 15%") - 0.45) < 1e-12);
	assert_true(fabs(value_of("2.14 USD/h * 15% * 24 h * 300") - 2311.2) < 1e-9);
	assert_true(fabs(value_of("(350 W + 100 W) * 0.15 * 24 h * 365 / kWh") - 591.3) < 1e-9);
	assert_true(fabs(value_of("busbw(160 GB/s, 1000) / (GB/s)") - 319.68) < 1e-9);
	assert_true(fabs(value_of("ring_steps(125)") - 248) < 1e-12);
	assert_true(fabs(value_of("10 Gbit/s / (GB/s)") - 1.25) < 1e-12);
	assert_true(fabs(value_of("catalog(h200-sxm, fp16_fp32acc_dense) / TFLOPS") - 989) < 2);
	assert_true(fabs(value_of("link(pcie5-x16, oneway) / (GB/s)") - 63) < 1.1);
	assert_true(fabs(value_of("catalog(a100-sxm4-80gb, tensor_gen)") - 3) < 1e-12);
	assert_true(fabs(value_of("break_even(2200 USD, 2.14 USD/h, 15%, 450 W, 0.12 USD/kWh) / days") - 293) < 0.2);
	assert_true(fabs(value_of("break_even(2200 USD, 0.9 USD/h, 15%, 450 W, 0.12 USD/kWh) / months") - 23.76) <
		    0.05);
}

static void ranges(void **state)
{
	struct jl_val v;
	struct jl_err err;

	(void)state;
	assert_int_equal(eval(&v, "2.4 days - 0.9..1.1 days", &err), JL_OK);
	assert_true(fabs(v.lo / 86400 - 1.3) < 1e-9 && fabs(v.hi / 86400 - 1.5) < 1e-9 && !v.estimate);
	assert_int_equal(eval(&v, "1.06 s / 0.2..0.25 s", &err), JL_OK);
	assert_true(fabs(v.lo - 4.24) < 1e-9 && fabs(v.hi - 5.3) < 1e-9);
}

/* Everything that is wrong is refused with its kind of error, in both languages. */
static void refused(void **state)
{
	static const struct {
		const char *text;
		enum jl_status status;
		const char *says;
	} rows[] = {
		{ "1 s + 1 B", JL_E_UNIT, "units differ" },
		{ "3 USD - 3 KRW", JL_E_UNIT, "units differ" },
		{ "", JL_E_PARSE, "ends too early" },
		{ "2 *", JL_E_PARSE, "ends too early" },
		{ "2 3", JL_E_PARSE, "not expected" },
		{ "(1", JL_E_PARSE, "ends too early" },
		{ "step_s", JL_E_NOTFOUND, "neither an input" },
		{ "nope(1)", JL_E_NOTFOUND, "no function" },
		{ "busbw(1)", JL_E_PARSE, "busbw(algbw, n)" },
		{ "busbw(1, 1)", JL_E_RANGE, "required" },
		{ "catalog(h100-sxm5, nothing)", JL_E_NOTFOUND, "no field" },
		{ "catalog(h100-sxm5, mem", JL_E_PARSE, "has no )" },
		{ "1 / 0", JL_E_RANGE, "zero" },
		{ "1 / (2 - 2)", JL_E_RANGE, "zero" },
		{ "5..4 s", JL_E_RANGE, "upward" },
		{ "compare(rtx-4090).epoch_s", JL_E_ABSENT, "observed" },
		{ "cost.break_even(a, b)", JL_E_ABSENT, "cost:" },
		{ "1e300 * 1e300", JL_E_RANGE, "too large" },
	};
	struct jl_val v;
	struct jl_err err;
	char deep[JL_EXPR_LEN_MAX + 10];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		enum jl_status status = eval(&v, rows[i].text, &err);

		if (status != rows[i].status || !strstr(err.en, rows[i].says) || !err.text[0])
			fail_msg("%s: %d, %s", rows[i].text, (int)status, err.en);
	}
	memset(deep, '(', sizeof deep);
	deep[100] = '\0';
	assert_int_equal(eval(&v, deep, &err), JL_E_LIMIT);
	memset(deep, '1', sizeof deep);
	deep[sizeof deep - 1] = '\0';
	assert_int_equal(eval(&v, deep, &err), JL_E_LIMIT);
}

static enum jl_status audit_text(struct jl_claims_audit *ret_audit, const char *text, struct jl_err *err)
{
	struct jl_scenario *scenario = jl_arena_alloc(&arena, sizeof *scenario);
	const struct jl_yaml *root;
	enum jl_status status;

	if ((status = jl_yaml_read(&root, "t.yaml", text, strlen(text), &arena, err)) ||
	    (status = jl_scenario_read(scenario, root, jl_catalog_embedded(), &arena, err)))
		return status;
	return jl_claims_audit_make(ret_audit, scenario, jl_catalog_embedded(), &arena, 20000, err);
}

#define INPUTS "inputs: {n: 19252, step: 1.06 s, half: 0.5 s}\nclaims:\n"

static void verdicts(void **state)
{
	static const struct {
		const char *claim;
		enum jl_claim_verdict verdict;
		const char *reason, *result;
	} rows[] = {
		{ "value: 5.67 h, from: n * step", JL_CLAIM_FOLLOWS, NULL, "5.67 h" },
		{ "value: 5.6 h, from: n * step", JL_CLAIM_FOLLOWS, NULL, "5.7 h" }, /* digits cut off */
		{ "value: 5.5 h, from: n * step", JL_CLAIM_DIFFERS, "rounding", "5.67 h" },
		{ "value: 5.9 h, from: n * step", JL_CLAIM_DIFFERS, NULL, "5.67 h" },
		{ "value: 5.5 h, from: n * step, within: 5 %", JL_CLAIM_FOLLOWS, NULL, NULL },
		{ "value: 1.06 s, from: step", JL_CLAIM_GIVEN, NULL, NULL },
		{ "value: 1.07 s, from: step", JL_CLAIM_DIFFERS, NULL, NULL },
		{ "value: 5..6 h, from: n * step", JL_CLAIM_FOLLOWS, NULL, NULL },
		{ "value: '<5 h', from: n * step", JL_CLAIM_DIFFERS, NULL, NULL },
		{ "value: '>=5 h', from: n * step", JL_CLAIM_FOLLOWS, NULL, NULL },
		{ "value: ~2.7 h, from: n / 2 * half, instead: {sparse: n, larger-batch: n * half}", JL_CLAIM_DIFFERS,
		  "larger-batch", "1.34 h" },
		{ "value: 1979 TFLOPS, from: 'catalog(h200-sxm, fp16_fp32acc_dense)'", JL_CLAIM_DIFFERS, "sparse",
		  NULL },
		{ "value: 112.5 GB/s, from: 'catalog(rtx-3090, link_oneway)'", JL_CLAIM_DIFFERS, "bothway", NULL },
		{ "value: 24 GB, from: 'catalog(rtx-3090, mem)'", JL_CLAIM_DIFFERS, "gib", NULL },
		{ "value: 10 GB/s, from: 10 Gbit/s", JL_CLAIM_DIFFERS, "bits", "1.2 GB/s" },
		{ "value: 3 x, needs: measured", JL_CLAIM_OPEN, NULL, NULL },
		{ "value: 3 x, from: compare(rtx-4090).speedup", JL_CLAIM_OPEN, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[512];
		struct jl_claims_audit audit;
		struct jl_err err;
		const struct jl_claim *c;

		snprintf(text, sizeof text, INPUTS "  - {at: 1 2, en: it, %s}\n", rows[i].claim);
		if (audit_text(&audit, text, &err))
			fail_msg("%s: %s", rows[i].claim, err.en);
		c = &audit.claims[0];
		if (audit.n_places != 2 || audit.n[rows[i].verdict] != 1 ||
		    (rows[i].result && strcmp(rows[i].result, c->result_text) != 0) ||
		    (rows[i].reason ? !c->reason || strcmp(rows[i].reason, c->reason) != 0 : c->reason != NULL))
			fail_msg("%s: %s, %s, %s", rows[i].claim, jl_claim_key(c->verdict),
				 c->reason ? c->reason : "no reason", c->result_text);
	}
}

static void bad_claims(void **state)
{
	static const struct {
		const char *claim, *says;
	} rows[] = {
		{ "{at: 1, en: it, value: 5.67, from: n * step}",
		  "t.yaml:3:5: the claim is in 1, what it is derived from gives s" },
		{ "{at: 1, en: it, value: 5 parsec, from: n}", "no unit 'parsec'" },
		{ "{at: 1, en: it, value: soon}", "not a figure" },
		{ "{at: 1, en: it}", "value:" },
		{ "{at: 1, en: it, value: 1, form: n}", "form" },
		{ "{at: 1, en: it, value: 1, from: m}", "'m' is neither an input" },
		{ "{at: 1, en: it, value: 1 s, from: n + step}", "units differ" },
		{ "{at: 1, en: it, value: 1, from: n, instead: {magic: n}}", "no reason 'magic'" },
		{ "{at: 1, en: it, value: 1, from: n, within: 80 %}", "within" },
		{ "{at: 1, en: it, value: 3..2 h}", "not a figure" },
		{ "{at: 1, en: it, value: 3 (h - h)}", "no unit" },
		{ "{at: 1, en: \"it\\e[31m\", value: 3 h}", "control" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[512];
		struct jl_claims_audit audit;
		struct jl_err err = { .en = "" };

		snprintf(text, sizeof text, INPUTS "  - %s\n", rows[i].claim);
		if (audit_text(&audit, text, &err) == JL_OK || !strstr(err.en, rows[i].says) ||
		    strncmp(err.en, "t.yaml:3:", 9) != 0)
			fail_msg("%s: %s", rows[i].claim, err.en);
	}
}

static void contradictions(void **state)
{
	struct jl_claims_audit audit;
	struct jl_err err;

	(void)state;
	assert_int_equal(audit_text(&audit,
				    "claims:\n  - {at: 1, en: a, value: 52.6 samples/s, of: z}\n  - {at: 2, en: b, "
				    "value: 51.6 samples/s, of: z}\n"
				    "  - {at: 3, en: c, value: ~52 samples/s, of: z}\n  - {at: 4, en: d, value: 51.6 "
				    "samples/s, of: y}\n",
				    &err),
			 JL_OK);
	assert_int_equal(audit.n_contradictions, 1);
	assert_ptr_equal(audit.claims[1].against, &audit.claims[0]);
	assert_ptr_equal(audit.claims[0].against, &audit.claims[1]);
	assert_int_equal(audit.claims[1].verdict, JL_CLAIM_DIFFERS);
	assert_string_equal(audit.claims[1].reason, "contradiction");
	assert_int_equal(audit.claims[0].verdict, JL_CLAIM_OPEN);
	assert_null(audit.claims[3].against);
}

static void words(void **state)
{
	char out[JL_CLAIM_SAY_MAX];

	(void)state;
	assert_string_equal(jl_claim_say(out, "~5.67 h"), "약 5.67시간");
	assert_string_equal(jl_claim_say(out, "2.1..2.7x"), "2.1~2.7배");
	assert_string_equal(jl_claim_say(out, "10000000 KRW"), "10,000,000원");
	jl_lang_set(jl_lang_find("en"));
	assert_string_equal(jl_claim_say(out, "~5.67 h"), "~5.67 h");
	assert_string_equal(jl_claim_say(out, "2.1..2.7x"), "2.1–2.7x");
	assert_string_equal(jl_claim_say(out, ">=20 %"), "≥ 20 %");
	assert_string_equal(jl_claim_say(out, "0.00012 s"), "0.00012 s");
	jl_lang_set(NULL);
}

/* What the notes got wrong, and what they got right. */
static void examples(void **state)
{
	static const struct {
		const char *file, *at, *value;
		enum jl_claim_verdict verdict;
		const char *reason;
	} rows[] = {
		{ "seed-000", "21 58", "~5.67 h", JL_CLAIM_FOLLOWS, NULL },
		{ "seed-000", "296", "71 days", JL_CLAIM_DIFFERS, "one-epoch" },
		{ "seed-000", "141", "83.5 h", JL_CLAIM_DIFFERS, NULL },
		{ "seed-001", "114 164", "~2.7 h", JL_CLAIM_DIFFERS, "larger-batch" },
		{ "seed-001", "125 165", "~2.1 h", JL_CLAIM_DIFFERS, "larger-batch" },
		{ "seed-001", "149 167", "~1.1 h", JL_CLAIM_DIFFERS, "larger-batch" },
		{ "seed-001", "89", "~1979 TFLOPS", JL_CLAIM_DIFFERS, "sparse" },
		{ "seed-001", "50 74 189", "2", JL_CLAIM_DIFFERS, "generation" },
		{ "seed-001", "51 87 195", "3", JL_CLAIM_DIFFERS, "generation" },
		{ "seed-001", "76", "~312 TFLOPS", JL_CLAIM_FOLLOWS, NULL },
		{ "seed-002", "56", "1.91x", JL_CLAIM_DIFFERS, "other-mode" },
		{ "seed-002", "66", "1.73x", JL_CLAIM_DIFFERS, "mixed-modes" },
		{ "seed-002", "65", "51.6 samples/s", JL_CLAIM_DIFFERS, "contradiction" },
		{ "seed-002", "81 202", "112.5 GB/s", JL_CLAIM_DIFFERS, "bothway" },
		{ "seed-002", "53 80 195", "57 %", JL_CLAIM_FOLLOWS, NULL },
		{ "seed-002", "54 195", "33 %", JL_CLAIM_FOLLOWS, NULL },
		{ "seed-002", "55 195", "27 %", JL_CLAIM_FOLLOWS, NULL },
		{ "seed-002", "56 195", "19 %", JL_CLAIM_FOLLOWS, NULL },
		{ "seed-003", "4 356", "~300 days", JL_CLAIM_DIFFERS, "month-steps" },
		{ "seed-003", "360", "20 months", JL_CLAIM_DIFFERS, NULL },
		{ "seed-003", "353 354", "591 kWh", JL_CLAIM_FOLLOWS, NULL },
		{ "seed-004", "17 22", "~2x", JL_CLAIM_DIFFERS, "large-n" },
		{ "seed-004", "58", "248", JL_CLAIM_FOLLOWS, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *path = jl_arena_printf(&arena, JL_SOURCE_DIR "/examples/%s.yaml", rows[i].file);
		struct jl_scenario *scenario = jl_arena_alloc(&arena, sizeof *scenario);
		const struct jl_claim *found = NULL;
		const struct jl_yaml *root;
		struct jl_claims_audit audit;
		struct jl_err err;

		if (jl_yaml_read_file(&root, path, &arena, &err) ||
		    jl_scenario_read(scenario, root, jl_catalog_embedded(), &arena, &err) ||
		    jl_claims_audit_make(&audit, scenario, jl_catalog_embedded(), &arena, 20000, &err))
			fail_msg("%s", err.en);
		for (size_t k = 0; k < audit.n_claims; k++)
			if (strncmp(audit.claims[k].at, rows[i].at, strlen(rows[i].at)) == 0 &&
			    strcmp(audit.claims[k].value_text, rows[i].value) == 0)
				found = &audit.claims[k];
		if (!found || found->verdict != rows[i].verdict ||
		    (rows[i].reason ? !found->reason || strcmp(found->reason, rows[i].reason) != 0
				    : found->reason != NULL))
			fail_msg("%s %s %s: %s", rows[i].file, rows[i].at, rows[i].value,
				 found ? jl_claim_key(found->verdict) : "not there");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(arithmetic, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ranges, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(verdicts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bad_claims, set_up, tear_down),
		cmocka_unit_test_setup_teardown(contradictions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(words, set_up, tear_down),
		cmocka_unit_test_setup_teardown(examples, set_up, tear_down),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
