/* Records: sortable ids, lossless round trip, refusals with reasons. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "record/record.h"

#define HEAD   "\"record_version\":1,\"id\":\"01JC0000000000000000000001\",\"time_s\":1700000000.25,"
#define BODY   "\"kind\":\"gemm\",\"backend\":\"cpu\",\"origin\":\"measured\""
#define METRIC ",\"metrics\":[{\"name\":\"gemm_flopps\",\"n\":3,\"median\":2e12,\"min\":1e12,\"max\":3e12}]"

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

static enum jl_status read_text(const char *text, struct jl_record *ret_record, struct jl_err *err)
{
	return jl_record_read(text, strlen(text), &arena, ret_record, err);
}

#define IDS 20000

static void *make_ids(void *arg)
{
	char(*ids)[JL_RECORD_ID_LEN + 1] = arg;

	for (size_t i = 0; i < IDS; i++)
		assert_int_equal(jl_record_new_id(ids[i], NULL), JL_OK);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void test_ids_sort_by_time_and_never_repeat(void **state)
{
	char(*ids)[JL_RECORD_ID_LEN + 1] = malloc(sizeof(*ids) * 4 * IDS);
	pthread_t threads[4];

	(void)state;
	assert_non_null(ids);
	for (size_t t = 0; t < 4; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, make_ids, ids + t * IDS), 0);
	for (size_t t = 0; t < 4; t++)
		pthread_join(threads[t], NULL);
	for (size_t t = 0; t < 4; t++)
		for (size_t i = 1; i < IDS; i++) /* ids of one thread increase */
			assert_true(strcmp(ids[t * IDS + i - 1], ids[t * IDS + i]) < 0);
	qsort(ids, 4 * (size_t)IDS, sizeof(*ids), compare);
	for (size_t i = 1; i < 4 * (size_t)IDS; i++)
		assert_true(strcmp(ids[i - 1], ids[i]) != 0);
	assert_true(jl_record_is_id(ids[0]));
	free(ids);
}

static void test_content_ids(void **state)
{
	char a[JL_RECORD_ID_LEN + 1], b[JL_RECORD_ID_LEN + 1];

	(void)state;
	jl_record_content_id(a, 1e9, 5, "abc", 3);
	jl_record_content_id(b, 1e9, 5, "abc", 3);
	assert_string_equal(a, b);
	assert_true(jl_record_is_id(a));
	jl_record_content_id(b, 1e9, 5, "abd", 3);
	assert_string_not_equal(a, b);
	jl_record_content_id(b, 1e9, 6, "abc", 3);
	assert_true(strcmp(a, b) < 0);
	jl_record_content_id(b, 2e9, 0, "abc", 3);
	assert_true(strcmp(a, b) < 0);
	jl_record_content_id(a, NAN, SIZE_MAX, "", 0);
	assert_true(jl_record_is_id(a));
	assert_false(jl_record_is_id("01JC000000000000000000000I"));
	assert_false(jl_record_is_id("81JC0000000000000000000001")); /* more than 128 bits */
}

static void test_round_trip(void **state)
{
	const struct jl_record_item params[] = {
		{ .key = "size_B", .number = 268435456 },
		{ .key = "dtype", .text = "bf16 \"quoted\" \\ <x>\n한글" },
		{ .key = "tiny", .number = 5e-324 },
	};
	const struct jl_record_metric metrics[] = {
		{ .name = "algbw_Bps",
		  .value = { .n = 7,
			     .median = 0.1,
			     .mean = 1.0 / 3,
			     .min = 0.05,
			     .max = 9,
			     .p95 = NAN,
			     .lo95 = NAN,
			     .hi95 = NAN } },
		{ .name = "step_s", .less_is_better = true, .value = jl_summary_of(1e-300) },
	};
	const struct jl_record_item versions[] = { { .key = "nccl", .text = "2.28.9" } };
	const double samples[] = { 0.1, 0.2, 1e-9 };
	struct jl_record r = { .id = "01JC0000000000000000000001",
			       .time_s = 1763183000.123,
			       .kind = "allreduce",
			       .backend = "nccl",
			       .origin = "imported",
			       .source = "a b.log:12",
			       .line = "  1 2 3 ",
			       .machine = "f00",
			       .machine_name = "서버 1",
			       .run = "r",
			       .note = "메모",
			       .params = params,
			       .n_params = 3,
			       .metrics = metrics,
			       .n_metrics = 2,
			       .versions = versions,
			       .n_versions = 1,
			       .samples_s = samples,
			       .n_samples = 3,
			       .noise = { .cpu_other_frac = 0.25,
					  .steal_frac = NAN,
					  .clock_frac = 0.9,
					  .drift_frac = -0.01,
					  .thermal = true,
					  .noisy = true,
					  .why = "others" },
			       .extra_json = "{\"later\":{\"a\":[1,null]},\"z\":\"é\"}" };
	struct jl_record back;
	struct jl_buf once, twice;
	struct jl_err err = { .en = "" };

	(void)state;
	jl_buf_init(&once, JL_RECORD_TEXT_MAX_B);
	jl_buf_init(&twice, JL_RECORD_TEXT_MAX_B);
	assert_int_equal(jl_record_check(&r, &err), JL_OK);
	jl_record_write(&r, &once);
	assert_null(strchr(once.data, '\n'));
	assert_int_equal(read_text(once.data, &back, &err), JL_OK);
	assert_true(back.time_s == r.time_s && back.metrics[0].value.mean == 1.0 / 3 &&
		    isnan(back.metrics[0].value.p95));
	assert_string_equal(jl_record_text(&back, "dtype"), params[1].text);
	assert_true(jl_record_number(&back, "tiny") == 5e-324);
	assert_true(isnan(jl_record_number(&back, "dtype")) && isnan(jl_record_number(&back, "nothing")));
	assert_null(jl_record_text(&back, "size_B"));
	assert_true(jl_record_metric(&back, "step_s")->less_is_better);
	assert_null(jl_record_metric(&back, "speed"));
	assert_true(back.noise.thermal && back.noise.noisy && isnan(back.noise.steal_frac) &&
		    back.noise.drift_frac == -0.01);
	assert_true(back.samples_s[2] == 1e-9);
	jl_record_write(&back, &twice);
	assert_non_null(strstr(twice.data, "\"later\":{\"a\":[1,null]}"));
	assert_string_equal(once.data + 10, twice.data + 10);
	jl_buf_release(&once);
	jl_buf_release(&twice);
}

static void test_wrong_ones_are_refused(void **state)
{
	static const struct {
		const char *text, *word;
	} bad[] = {
		{ "", "JSON" },
		{ "[]", "record_version" },
		{ "{}", "record_version" },
		{ "{\"record_version\":\"x\"}", "record_version" },
		{ "{" HEAD BODY METRIC, "JSON" },
		{ "{\"record_version\":1,\"id\":\"short\",\"time_s\":1," BODY "}", "id" },
		{ "{\"record_version\":1," BODY "}", "id" },
		{ "{" HEAD "\"kind\":5,\"backend\":\"cpu\",\"origin\":\"measured\"}", "kind" },
		{ "{" HEAD "\"kind\":\"\",\"backend\":\"cpu\",\"origin\":\"measured\"}", "kind" },
		{ "{" HEAD "\"kind\":\"x\",\"backend\":\"cpu\",\"origin\":\"dreamt\"}", "origin" },
		{ "{" HEAD BODY ",\"metrics\":{}}", "metrics" },
		{ "{" HEAD BODY ",\"metrics\":[7]}", "metrics" },
		{ "{" HEAD BODY ",\"metrics\":[{\"name\":\"speed\",\"median\":1}]}", "unit" },
		{ "{" HEAD BODY ",\"metrics\":[{\"name\":\"step_s\"}]}", "median" },
		{ "{" HEAD BODY ",\"metrics\":[{\"name\":\"step_s\",\"median\":5,\"min\":6}]}", "median" },
		{ "{" HEAD BODY ",\"metrics\":[{\"name\":\"step_s\",\"median\":1},{\"name\":\"step_s\",\"median\":1}]}",
		  "twice" },
		{ "{" HEAD BODY ",\"metrics\":[{\"name\":\"step_s\",\"median\":1,\"n\":-2}]}", "whole" },
		{ "{" HEAD BODY ",\"params\":[]}", "params" },
		{ "{" HEAD BODY ",\"params\":{\"a b\":1}}", "not a name" },
		{ "{" HEAD BODY ",\"params\":{\"a\":[1]}}", "number" },
		{ "{" HEAD BODY ",\"samples_s\":[1,\"2\"]}", "samples_s" },
		{ "{" HEAD BODY ",\"samples_s\":[-1]}", "sample" },
		{ "{" HEAD BODY ",\"noise\":{\"noisy\":1}}", "noisy" },
		{ "{" HEAD BODY ",\"kind\":\"again\"}", "duplicate" },
		{ "{\"record_version\":1,\"id\":\"01JC0000000000000000000001\",\"time_s\":-1," BODY "}", "time_s" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct jl_record record;
		struct jl_err err = { .en = "" };

		if (read_text(bad[i].text, &record, &err) == JL_OK || !strstr(err.en, bad[i].word) || !err.text[0])
			fail_msg("%s: \"%s\"", bad[i].text, err.en);
	}
}

static void test_what_differs_is_said(void **state)
{
	const struct jl_record_item net[] = { { .key = "test", .text = "bandwidth" },
					      { .key = "direction", .text = "send" },
					      { .key = "host", .text = "127.0.0.1" },
					      { .key = "n_streams", .number = 4 },
					      { .key = "both_ways", .number = 1 } },
				    train[] = { { .key = "model", .text = "gpt2-124m" },
						{ .key = "precision", .text = "bf16" },
						{ .key = "batch", .number = 4 },
						{ .key = "seq", .number = 128 } };
	char what[JL_RECORD_WORDS_MAX];

	(void)state;
	assert_string_equal(
		jl_record_what(what, &(struct jl_record){ .kind = "net", .params = net, .n_params = JL_LEN(net) }),
		"bandwidth send 127.0.0.1, 연결 4개, 양방향");
	assert_string_equal(
		jl_record_what(what,
			       &(struct jl_record){ .kind = "train", .params = train, .n_params = JL_LEN(train) }),
		"gpt2-124m bf16, 배치 4, 시퀀스 128");
}

static void test_limits(void **state)
{
	struct jl_record record;
	struct jl_err err;
	struct jl_buf text;

	(void)state;
	jl_buf_init(&text, JL_RECORD_TEXT_MAX_B + 4096);
	jl_buf_puts(&text, "{" HEAD BODY ",\"params\":{");
	for (int i = 0; i < 300; i++)
		jl_buf_printf(&text, "%s\"p%d\":1", i ? "," : "", i);
	jl_buf_puts(&text, "}}");
	assert_int_equal(read_text(text.data, &record, &err), JL_E_LIMIT);
	jl_buf_reset(&text);
	jl_buf_puts(&text, "{" HEAD BODY ",\"note\":\"");
	jl_buf_pad(&text, 'x', 10000);
	jl_buf_puts(&text, "\"}");
	assert_int_equal(read_text(text.data, &record, &err), JL_E_LIMIT);
	assert_int_equal(jl_record_read(text.data, JL_RECORD_TEXT_MAX_B + 1, &arena, &record, &err), JL_E_LIMIT);
	jl_buf_release(&text);
}

/* Every allocation fails once: an error, not a crash. */
static void test_no_memory(void **state)
{
	static const char text[] = "{" HEAD BODY METRIC ",\"params\":{\"a\":\"b\"},\"samples_s\":[1,2],\"later\":1}";
	struct jl_record record;
	struct jl_err err;

	(void)state;
	for (size_t nth = 1; nth < 100; nth++) {
		struct jl_arena small;
		enum jl_status status;

		jl_arena_init(&small, JL_ARENA_LIMIT_B);
		(void)jl_mem_fail_from(nth);
		status = jl_record_read(text, strlen(text), &small, &record, &err);
		(void)jl_mem_fail_from(0);
		jl_arena_release(&small);
		if (status == JL_OK)
			return;
		assert_int_equal(status, JL_E_NOMEM);
	}
	fail_msg("it never had enough");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_sort_by_time_and_never_repeat),
		cmocka_unit_test(test_content_ids),
		cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wrong_ones_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
		cmocka_unit_test(test_what_differs_is_said),
		cmocka_unit_test(test_no_memory),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
