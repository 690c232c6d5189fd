/* Reads the measurements of a client or an engine: mean times and the load, of several tools. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "serve/infer.h"
#include "base/json_read.h"

#define NAME_MAX_B 128

/* A figure by path; over: its denominator. vLLM and SGLang (bench serve, bench_serving), genai-perf and aiperf, trtllm-bench; Prometheus
 * metrics of engines; own `bench infer`, flattened. */
static const struct {
	size_t at;
	const char *path;
	double scale;
	const char *over;
} known[] = {
#define TO(member)           offsetof(struct jl_served_seen, member)
#define METRIC(engine, name) engine ":" name "_sum", 1, engine ":" name "_count"
	{ TO(ttft_s), "mean_ttft_ms", 1e-3, NULL },
	{ TO(ttft_s), "time_to_first_token.avg", 1e-3, NULL },
	{ TO(ttft_s), "streaming_metrics.avg_ttft_ms", 1e-3, NULL },
	{ TO(ttft_s), METRIC("vllm", "time_to_first_token_seconds") },
	{ TO(ttft_s), METRIC("sglang", "time_to_first_token_seconds") },
	{ TO(ttft_s), "ttft_s", 1, NULL },
	{ TO(tpot_s), "tpot_s", 1, NULL },
	{ TO(prompt), "prompt", 1, NULL },
	{ TO(answer), "answer", 1, NULL },
	{ TO(concurrency), "batch", 1, NULL },
	{ TO(tpot_s), "mean_tpot_ms", 1e-3, NULL },
	{ TO(tpot_s), "inter_token_latency.avg", 1e-3, NULL },
	{ TO(tpot_s), "streaming_metrics.avg_tpot_ms", 1e-3, NULL },
	{ TO(tpot_s), METRIC("vllm", "time_per_output_token_seconds") },
	{ TO(tpot_s), METRIC("vllm", "inter_token_latency_seconds") },
	{ TO(tpot_s), METRIC("sglang", "inter_token_latency_seconds") },
	{ TO(prompt), "total_input_tokens", 1, "completed" },
	{ TO(prompt), "input_sequence_length.avg", 1, NULL },
	{ TO(prompt), "request_info.avg_input_length", 1, NULL },
	{ TO(prompt), METRIC("vllm", "request_prompt_tokens") },
	{ TO(prompt), "sglang:prompt_tokens_total", 1, "sglang:num_requests_total" },
	{ TO(answer), "total_output_tokens", 1, "completed" },
	{ TO(answer), "output_sequence_length.avg", 1, NULL },
	{ TO(answer), "request_info.avg_output_length", 1, NULL },
	{ TO(answer), METRIC("vllm", "request_generation_tokens") },
	{ TO(answer), "sglang:generation_tokens_total", 1, "sglang:num_requests_total" },
	{ TO(concurrency), "max_concurrency", 1, NULL },
	{ TO(concurrency), "input_config.perf_analyzer.stimulus.concurrency", 1, NULL },
	{ TO(concurrency), "input_config.loadgen.concurrency", 1, NULL },
	{ TO(concurrency), "request_info.avg_num_concurrent_requests", 1, NULL },
	{ TO(concurrency), "vllm:num_requests_running", 1, NULL },
	{ TO(concurrency), "sglang:num_running_reqs", 1, NULL },
	{ TO(rate_hz), "request_rate", 1, NULL },
};

static double number_at(const json_t *root, const char *path)
{
	char name[NAME_MAX_B];

	while (root && *path) {
		const size_t len = strcspn(path, ".");

		memcpy(name, path, len);
		name[len] = '\0';
		root = json_object_get(root, name);
		path += len + (path[len] == '.');
	}
	return json_is_number(root) ? json_number_value(root) : NAN;
}

/* `name{labels} value` lines: equal names are added. */
static json_t *read_metrics(const char *text, size_t len)
{
	json_t *root = json_object();

	for (size_t at = 0; root && at < len;) {
		const char *line = text + at, *end = memchr(line, '\n', len - at);
		const size_t n = end ? (size_t)(end - line) : len - at, n_name = strcspn(line, "{ \n");
		char name[NAME_MAX_B], value[64];
		size_t from = n;

		while (from > 0 && line[from - 1] != ' ')
			from--;
		at += n + 1;
		if (*line == '#' || n_name == 0 || n_name >= sizeof(name) || from == 0 || n - from >= sizeof(value))
			continue;
		memcpy(name, line, n_name);
		name[n_name] = '\0';
		memcpy(value, line + from, n - from);
		value[n - from] = '\0';
		const double sum = number_at(root, name);

		(void)json_object_set_new(root, name, json_real((isnan(sum) ? 0 : sum) + strtod(value, NULL)));
	}
	return root;
}

/* Flattens a record of `bench infer` (alone or the first of several): its parameters and metrics as plain members. */
static void flatten(json_t *root)
{
	json_t *first = json_array_get(json_object_get(root, "records"), 0), *record = first ? first : root, *one;
	const char *kind = json_string_value(json_object_get(record, "kind"));
	size_t i;

	if (!kind || strcmp(kind, "infer") != 0)
		return;
	(void)json_object_update(root, json_object_get(record, "params"));
	json_array_foreach(json_object_get(record, "metrics"), i, one)
	{
		const char *name = json_string_value(json_object_get(one, "name"));

		if (name)
			(void)json_object_set(root, name, json_object_get(one, "median"));
	}
}

enum jl_status jl_served_seen_read(struct jl_served_seen *ret_seen, const char *text, size_t len, const char *file,
				   struct jl_err *err)
{
	struct jl_served_seen seen = { NAN, NAN, NAN, NAN, NAN, NAN };
	const size_t blank = strspn(text, " \t\r\n");
	json_error_t why = { .line = 0 };
	json_t *root = text[blank] == '{' ? jl_json_load(text, len, JSON_DISABLE_EOF_CHECK, &why)
					  : read_metrics(text, len);

	if (!json_is_object(root)) {
		json_decref(root);
		return jl_fail_in_file(err, jl_fail(err, JL_E_PARSE, "%.80s:%d: %.80s", file, why.line, why.text));
	}
	flatten(root);
	for (size_t i = 0; i < JL_LEN(known); i++) {
		double *to = (double *)(void *)((char *)&seen + known[i].at);
		const double value = number_at(root, known[i].path) * known[i].scale,
			     over = known[i].over ? number_at(root, known[i].over) : 1;

		if (isnan(*to) && value > 0 && isfinite(value) && over > 0)
			*to = value / over;
	}
	json_decref(root);
	if (isnan(seen.ttft_s) || isnan(seen.tpot_s))
		return jl_fail(err, JL_E_DATA,
			       "%.80s: no mean time to the first and to each further token; supported are results of "
			       "vLLM's and SGLang's benchmarks, genai-perf, aiperf, trtllm-bench and engine metrics",
			       file);
	*ret_seen = seen;
	return JL_OK;
}
