/* JSON writer: escapes, numbers, packing, assertions on misuse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

static void write_sample(struct jl_json *json)
{
	jl_json_object(json);
	jl_json_put_string(json, "gpu", "RTX \"3090\"\n저울\x01");
	jl_json_put_number(json, "mem_Bps", 936.2e9);
	jl_json_put_number(json, "tdp_W", NAN);
	jl_json_put_integer(json, "n", -3);
	jl_json_put_bool(json, "dense", true);
	jl_json_put_array(json, "list");
	jl_json_number(json, 0.1);
	jl_json_null(json);
	jl_json_object(json);
	jl_json_end_object(json);
	jl_json_array(json);
	jl_json_end_array(json);
	jl_json_end_array(json);
	jl_json_put_string(json, "none", NULL);
	jl_json_end_object(json);
	jl_json_finish(json);
}

static void test_compact(void **state)
{
	struct jl_json json;
	struct jl_buf buf;

	(void)state;
	jl_buf_init(&buf, 1000);
	jl_json_init(&json, &buf, false);
	write_sample(&json);
	assert_string_equal(jl_buf_text(&buf),
			    "{\"gpu\":\"RTX \\\"3090\\\"\\n저울\\u0001\",\"mem_Bps\":936200000000,\"tdp_W\":null,"
			    "\"n\":-3,\"dense\":true,\"list\":[0.1,null,{},[]],\"none\":null}");
	jl_buf_release(&buf);
}

static void test_pretty(void **state)
{
	struct jl_json json;
	struct jl_buf buf;

	(void)state;
	jl_buf_init(&buf, 1000);
	jl_json_init(&json, &buf, true);
	write_sample(&json);
	assert_string_equal(
		jl_buf_text(&buf),
		"{\n  \"gpu\": \"RTX \\\"3090\\\"\\n저울\\u0001\",\n  \"mem_Bps\": 936200000000,\n  \"tdp_W\": null,\n"
		"  \"n\": -3,\n  \"dense\": true,\n  \"list\": [\n    0.1,\n    null,\n    {},\n    []\n  ],\n"
		"  \"none\": null\n}\n");
	jl_buf_release(&buf);
}

/* The same document written by formats that leave levels open. */
static void test_pack(void **state)
{
	struct jl_json by_form, by_calls;
	struct jl_buf form, calls;

	(void)state;
	jl_buf_init(&form, 4096);
	jl_buf_init(&calls, 4096);
	jl_json_init(&by_form, &form, true);
	jl_json_pack(&by_form, "{gpu:s mem_Bps:f tdp_W:f n:i dense:b list:[f", "RTX \"3090\"\n저울\x01", 936.2e9, NAN,
		     -3, true, 0.1);
	jl_json_null(&by_form);
	jl_json_pack(&by_form, "{} []] none:s}", NULL);
	jl_json_finish(&by_form);
	jl_json_init(&by_calls, &calls, true);
	write_sample(&by_calls);
	assert_string_equal(jl_buf_text(&form), jl_buf_text(&calls));
	jl_buf_reset(&form);
	jl_json_init(&by_form, &form, false);
	jl_json_pack(&by_form, "{far:l many:z s:s f:b}", 9007199254740993LL, (size_t)12, "a key that is a letter",
		     false);
	jl_json_finish(&by_form);
	assert_string_equal(jl_buf_text(&form),
			    "{\"far\":9007199254740993,\"many\":12,\"s\":\"a key that is a letter\",\"f\":false}");
	jl_buf_reset(&form); /* optional keys are left out for NULL, NAN and false */
	jl_json_init(&by_form, &form, false);
	jl_json_pack(&by_form, "{text?s none?s number?f unknown?f yes?b no?b n?i a/b:{}}", "", NULL, 0.0, NAN, true,
		     false, 0);
	jl_json_finish(&by_form);
	assert_string_equal(jl_buf_text(&form), "{\"text\":\"\",\"number\":0,\"yes\":true,\"n\":0,\"a/b\":{}}");
	jl_buf_release(&form);
	jl_buf_release(&calls);
}

static void test_escape(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "\"\"" },
		{ "a\\b/c", "\"a\\\\b/c\"" },
		{ "\t\r\b\f", "\"\\t\\r\\b\\f\"" },
		{ "\x1b\x7f", "\"\\u001b\\u007f\"" },
		{ "</script>", "\"\\u003c/script>\"" },
		{ "a\xffz", "\"a\xef\xbf\xbdz\"" },
		{ "\xe2\x80\xa8", "\"\\u2028\"" },
		{ "📄 저", "\"📄 저\"" },
		{ "\xec\xa0", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct jl_buf buf;
		jl_buf_init(&buf, 100);
		jl_json_escape(&buf, cases[i].text);
		assert_string_equal(jl_buf_text(&buf), cases[i].want);
		jl_buf_release(&buf);
	}
}

static void test_top_values(void **state)
{
	struct jl_json json;
	struct jl_buf buf;

	(void)state;
	jl_buf_init(&buf, 100);
	jl_json_init(&json, &buf, false);
	jl_json_number(&json, -INFINITY);
	jl_json_finish(&json);
	assert_string_equal(jl_buf_text(&buf), "null");
	jl_buf_release(&buf);
}

static void test_deep(void **state)
{
	struct jl_json json;
	struct jl_buf buf;

	(void)state;
	jl_buf_init(&buf, 1000);
	jl_json_init(&json, &buf, false);
	for (int i = 0; i < JL_JSON_DEPTH_MAX; i++)
		jl_json_array(&json);
	for (int i = 0; i < JL_JSON_DEPTH_MAX; i++)
		jl_json_end_array(&json);
	jl_json_finish(&json);
	assert_int_equal(buf.len, 2 * JL_JSON_DEPTH_MAX);
	jl_buf_release(&buf);
}

#ifndef NDEBUG
static void value_without_key(struct jl_json *json)
{
	jl_json_object(json);
	jl_json_number(json, 1);
}

static void key_in_array(struct jl_json *json)
{
	jl_json_array(json);
	jl_json_key(json, "a");
}

static void wrong_end(struct jl_json *json)
{
	jl_json_object(json);
	jl_json_end_array(json);
}

static void key_without_value(struct jl_json *json)
{
	jl_json_object(json);
	jl_json_key(json, "a");
	jl_json_end_object(json);
}

static void two_documents(struct jl_json *json)
{
	jl_json_null(json);
	jl_json_null(json);
}

static void unfinished(struct jl_json *json)
{
	jl_json_array(json);
	jl_json_finish(json);
}

/* Invalid sequences of calls assert: they are programming errors. */
static void test_misuse(void **state)
{
	static void (*const misuses[])(struct jl_json *) = { value_without_key, key_in_array,  wrong_end,
							     key_without_value, two_documents, unfinished };

	(void)state;
	for (size_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
		int status = 0;
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			struct jl_json json;
			struct jl_buf buf;
			signal(SIGABRT, SIG_DFL);
			fclose(stderr); /* hide the expected assertion messages */
			jl_buf_init(&buf, 1000);
			jl_json_init(&json, &buf, false);
			misuses[i](&json);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}
#endif

static void test_torture(void **state)
{
	enum jl_status failed = JL_E_NOMEM;

	(void)state;
	for (size_t nth = 1; failed && nth < 20; nth++) {
		struct jl_json json;
		struct jl_buf buf;
		jl_buf_init(&buf, 1000);
		jl_mem_fail_from(nth);
		jl_json_init(&json, &buf, true);
		write_sample(&json);
		jl_mem_fail_from(0);
		failed = buf.failed;
		assert_true(failed == JL_OK || failed == JL_E_NOMEM);
		jl_buf_release(&buf);
	}
	assert_int_equal(failed, JL_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifndef NDEBUG
		cmocka_unit_test(test_misuse),
#endif
		cmocka_unit_test(test_pack),    cmocka_unit_test(test_compact),    cmocka_unit_test(test_pretty),
		cmocka_unit_test(test_escape),  cmocka_unit_test(test_top_values), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_torture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
