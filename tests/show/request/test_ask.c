/* Requests in JSON: what they are turned into, what is refused, and that any thread gets the same answer. */
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "request/ask.h"
#include "request/cache.h"
#include "base/offered.h"
#include "cli/command.h"

#define TODAY 20772 /* 2026-11-15 */

static struct jl_answer ask_with(struct jl_ask_cache *cache, const char *command, const char *request)
{
	const struct jl_ask ask = {
		.front = &jl_cli_front, .cat = jl_catalog_embedded(), .cache = cache, .today = TODAY, .limit_s = 5
	};
	struct jl_answer answer;

	jl_ask(&answer, &ask, command, request, strlen(request));
	return answer;
}

/* The answer as a tree; the caller gives it back. */
static json_t *good(const char *command, const char *request)
{
	struct jl_answer answer = ask_with(NULL, command, request);
	json_t *root;

	if (answer.code != 0)
		fail_msg("%s: %s", request, answer.err.text);
	root = json_loads(jl_buf_text(&answer.out), 0, NULL);
	assert_non_null(root);
	jl_answer_release(&answer);
	return root;
}

static void bad(const char *command, const char *request, int code, const char *says)
{
	struct jl_answer answer = ask_with(NULL, command, request);

	if (answer.code != code)
		fail_msg("%s: %d, not %d: %s", request, answer.code, code, answer.err.en);
	if (!strstr(answer.err.en, says))
		fail_msg("%s: '%s' does not say '%s'", request, answer.err.en, says);
	assert_null(strchr(answer.err.en, '\n')); /* one line */
	assert_int_equal(answer.out.len, 0);
	jl_answer_release(&answer);
}

static void test_options_of_every_form(void **state)
{
	json_t *a = good("predict", "{\"model\":\"gpt2-124m\",\"on\":\"2x rtx-4090\",\"batch\":4,\"global_batch\":16,"
				    "\"flash\":\"no\",\"explain\":false,\"ram\":\"64 GiB\",\"seq\":null}"),
	       *b = good(NULL, "{\"command\":\"predict\",\"model\":[\"gpt2-124m\"],\"on\":\"2x rtx-4090\","
			       "\"batch\":\"4\",\"global-batch\":16,\"flash\":\"no\",\"ram\":\"64 GiB\"}");

	(void)state;
	assert_true(json_equal(a, b));
	assert_int_equal(json_integer_value(json_object_get(a, "micro_batch")), 4);
	assert_int_equal(json_integer_value(json_object_get(a, "global_batch")), 16);
	assert_true(json_is_false(json_object_get(a, "flash")));
	json_decref(a);
	json_decref(b);
	a = good("compare",
		 "{\"model\":\"gpt2-124m\",\"samples\":1e6,\"baseline\":\"v100-dgxs-32gb\",\"on\":[\"rtx-4090\","
		 "\"h200-sxm\"]}");
	assert_int_equal(json_array_size(json_object_get(a, "systems")), 2);
	json_decref(a);
}

static void test_refusals(void **state)
{
	(void)state;
	bad(NULL, "", 2, "not JSON");
	bad(NULL, "[1]", 2, "not a JSON object");
	bad(NULL, "{}", 2, "\"command\" is missing");
	bad(NULL, "{\"command\":\"predcit\"}", 2, "did you mean 'predict'");
	bad("bench train", "{}", 2, "cannot be asked");
	bad("store delete", "{\"id\":\"x\"}", 2, "cannot be asked");
	bad("predict", "{\"model\":\"gpt2-124m\",\"modle\":1}", 2, "did you mean \"model\"");
	bad("predict", "{\"model\":\"gpt2-124m\",\"json\":true}", 2, "not a key of 'predict'");
	bad("predict", "{\"model\":\"gpt2-124m\",\"on\":{\"a\":1}}", 2, "text or a number");
	bad("predict", "{\"model\":\"gpt2-124m\",\"explain\":1}", 2, "true or false");
	bad("predict", "{\"model\":\"gpt2-124m\",\"as\":\"pdf\"}", 2, "\"html\"");
	bad("predict", "{\"model\":\"gpt2-124m\",\"batch\":0.5,\"on\":\"rtx-4090\"}", 2, "--batch");
	bad("predict", "{\"model\":\"gpt2-124m\",\"on\":[\"rtx-4090\"]}", 2, "text or a number");
	bad("predict", "{\"model\":\"gpt2-124m\",\"model\":\"a\"}", 2, "duplicate");
	bad("predict", "{\"model\":\"a\\u0000b\"}", 2, "not JSON"); /* NUL inside a text */
	bad("predict", "{\"model\":\"--version\",\"on\":\"rtx-4090\"}", 1, "--version");
	bad("predict", "{\"model\":\"gpt2-124m\\u001b[31m\",\"on\":\"rtx-4090\"}", 2, "control character");
}

/* No path of this machine, whichever way it is named. */
static void test_files(void **state)
{
	static const char config[] = "{\"model_type\":\"llama\",\"hidden_size\":512,\"num_hidden_layers\":4,"
				     "\"num_attention_heads\":8,\"intermediate_size\":1024,\"vocab_size\":32000}";
	json_t *files = json_object(), *request = json_pack("{s:s,s:s}", "model", "config.json", "on", "rtx-4090");
	char *text;
	json_t *root;

	(void)state;
	json_object_set_new(files, "config.json", json_string(config));
	json_object_set_new(request, "files", files);
	text = json_dumps(request, 0);
	root = good("predict", text);
	assert_string_equal(json_string_value(json_object_get(root, "model")), "config.json");
	free(text);
	json_decref(root);
	json_decref(request);
	bad("predict", "{\"model\":\"" JL_SOURCE_DIR "/tests/fixtures/config.json\",\"on\":\"rtx-4090\"}", 1,
	    "\"files\"");
	bad("predict", "{\"model\":\"gpt2-124m\",\"catalog\":\"/etc\"}", 2, "not allowed in a request");
	bad("probe", "{\"from\":\"/\"}", 2, "not allowed in a request");
	bad("probe", "{\"capture\":\"/tmp/x\"}", 2, "not allowed in a request");
	bad("report", "{\"scenario\":\"x.yaml\",\"output\":\"/tmp/x\",\"files\":{\"x.yaml\":\"\"}}", 2,
	    "not allowed in a request");
	bad("store list", "{\"store\":\"postgresql://10.0.0.1/x\"}", 2, "not allowed in a request");
	bad("report", "{\"scenario\":\"" JL_SOURCE_DIR "/examples/seed-000.yaml\"}", 1, "\"files\"");
	bad("check", "{\"kind\":\"/etc/passwd\",\"on\":\"dgx-h100\"}", 2, "neither a file nor");
	bad("check", "{\"kind\":\"-\",\"on\":\"dgx-h100\"}", 1, "\"files\""); /* not this process's input either */
	bad("infer", "{\"model\":\"llama-3-8b\",\"on\":\"dgx-h100\",\"trace\":\"/etc/passwd\"}", 1, "\"files\"");
	bad("report", "{\"files\":{\"x\":1}}", 2, "\"files\"");
	assert_true(jl_file_exists(JL_SOURCE_DIR "/CMakeLists.txt")); /* afterwards files are the machine's again */
}

/* Files of this machine that the caller names, and no others. */
static void test_paths(void **state)
{
	const char *const paths[] = { JL_SOURCE_DIR "/tests/fixtures/onnx/", NULL };
	static const struct {
		const char *model, *says; /* NULL: it is read */
	} rows[] = {
		{ JL_SOURCE_DIR "/tests/fixtures/onnx/resnet50.onnx", NULL },
		{ JL_SOURCE_DIR "/tests/fixtures/onnx/none.onnx", "cannot be read" },
		{ JL_SOURCE_DIR "/tests/fixtures/onnx", "no config.json" },
		{ JL_SOURCE_DIR "/tests/fixtures/onnx/../onnx/resnet50.onnx", "\"files\"" },
		{ JL_SOURCE_DIR "/tests/fixtures/onnx2/resnet50.onnx", "\"files\"" },
		{ JL_SOURCE_DIR "/tests/fixtures/config.json", "\"files\"" },
	};
	struct jl_ask ask = { .front = &jl_cli_front, .cat = jl_catalog_embedded(), .today = TODAY, .paths = paths };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char request[1024];
		struct jl_answer answer;

		snprintf(request, sizeof(request), "{\"model\":\"%s\"}", rows[i].model);
		jl_ask(&answer, &ask, "flops", request, strlen(request));
		if ((answer.code == 0) != !rows[i].says || (rows[i].says && !strstr(answer.err.en, rows[i].says)))
			fail_msg("%s: %d, %s", request, answer.code, answer.err.en);
		jl_answer_release(&answer);
	}
	bad("flops", "{\"model\":\"" JL_SOURCE_DIR "/tests/fixtures/onnx/resnet50.onnx\"}", 1, "\"files\"");
}

static void test_forms(void **state)
{
	struct jl_answer page = ask_with(NULL, "predict",
					 "{\"model\":\"gpt2-124m\",\"on\":\"rtx-4090\",\"as\":\"html\"}"),
			 text = ask_with(NULL, "predict",
					 "{\"model\":\"gpt2-124m\",\"on\":\"rtx-4090\",\"as\":\"text\"}"),
			 korean = ask_with(NULL, "predict",
					   "{\"model\":\"no-such\",\"on\":\"rtx-4090\",\"lang\":\"ko\"}");

	(void)state;
	assert_int_equal(page.code, 0);
	assert_non_null(strstr(page.out.data, "<p class=\"lead\">"));
	assert_null(strstr(page.out.data, "<html"));
	assert_null(strstr(page.out.data, "style="));
	assert_non_null(strstr(text.out.data, "Bound by"));
	assert_string_not_equal(korean.err.text, korean.err.en);
	jl_answer_release(&page);
	jl_answer_release(&text);
	jl_answer_release(&korean);
}

static const char *const asked[][2] = {
	{ "predict", "{\"model\":\"gpt2-124m\",\"on\":\"rtx-4090\"}" },
	{ "predict", "{\"model\":\"llama-3-8b\",\"on\":\"dgx-h100\",\"lang\":\"ko\"}" },
	{ "predict",
	  "{\"model\":\"gpt-305m\",\"on\":\"10x rtx-3090 via pcie4-no-p2p\",\"batch\":4,\"sweep\":\"gpus=1,2,4\"}" },
	{ "fit", "{\"model\":\"llama-3-8b\",\"on\":\"rtx-4090\"}" },
	{ "cost", "{\"buy\":\"rtx-3090 desktop 2200 USD\",\"rent\":\"aws:p3.2xlarge\",\"util\":\"15%\"}" },
	{ "catalog show", "{\"name\":\"rtx-3090\"}" },
	{ "check",
	  "{\"kind\":\"allreduce\",\"on\":\"125x aws:p5.48xlarge\",\"size\":\"16GB\",\"algbw\":\"156 GB/s\"}" },
	{ "plan", "{\"model\":\"gpt2-355m\",\"batch-limit\":true,\"on\":[\"rtx-4090\",\"rtx-3090\"],\"threads\":2}" },
	{ "predict", "{\"model\":\"no-such-model\",\"on\":\"rtx-4090\"}" },
};
#define N_ASKED (sizeof(asked) / sizeof(*asked))

struct worker {
	pthread_t thread;
	struct jl_ask_cache *cache;
	struct jl_answer *wanted;
	size_t first, n_other;
};

static void *ask_all(void *ctx)
{
	struct worker *w = ctx;

	for (size_t i = 0; i < 2 * N_ASKED; i++) {
		const size_t k = (w->first + i) % N_ASKED;
		struct jl_answer answer = ask_with(w->cache, asked[k][0], asked[k][1]);

		const bool other = answer.code != w->wanted[k].code || answer.out.len != w->wanted[k].out.len ||
				   strcmp(answer.err.text, w->wanted[k].err.text) != 0 ||
				   strcmp(jl_buf_text(&answer.out), jl_buf_text(&w->wanted[k].out)) != 0;

		if (other)
			print_message("%s: '%s'\nand '%s'\n", asked[k][1],
				      answer.code ? answer.err.text : jl_buf_text(&answer.out),
				      w->wanted[k].code ? w->wanted[k].err.text : jl_buf_text(&w->wanted[k].out));
		w->n_other += other;
		jl_answer_release(&answer);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct jl_ask_cache *cache = jl_ask_cache_create();
	struct jl_answer wanted[N_ASKED];
	struct worker workers[8];

	(void)state;
	for (size_t i = 0; i < N_ASKED; i++)
		wanted[i] = ask_with(NULL, asked[i][0], asked[i][1]);
	assert_int_equal(wanted[0].code, 0);
	assert_int_equal(wanted[8].code, 1);
	for (size_t i = 0; i < 8; i++) {
		workers[i] = (struct worker){ .cache = i % 2 ? cache : NULL, .wanted = wanted, .first = i };
		assert_int_equal(pthread_create(&workers[i].thread, NULL, ask_all, &workers[i]), 0);
	}
	for (size_t i = 0; i < 8; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_int_equal(workers[i].n_other, 0);
	}
	for (size_t i = 0; i < N_ASKED; i++)
		jl_answer_release(&wanted[i]);
	jl_ask_cache_destroy(cache);
}

/* What may be asked is a command, and names its operands where it has some. */
static void test_table(void **state)
{
	const struct jl_command *command;
	size_t n = 0;

	(void)state;
	for (const struct jl_askable *a = jl_askable; a->command; a++, n++) {
		assert_ptr_equal(jl_ask_find(&jl_cli_front, a->command, &command), a);
		assert_int_equal(a->operands != NULL, command->operands && strcmp(a->command, "validate") != 0);
	}
	assert_true(n >= 20);
	assert_null(jl_ask_find(&jl_cli_front, "calibrate", &command));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options_of_every_form),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
