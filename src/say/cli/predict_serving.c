#include "cli/predict_serving.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/view.h"
#include "predict/kind.h"
#include "predict/serve.h"

#define ROWS_MAX     16
#define REQUESTS_MAX 1000000
#define PROMPT       1024
#define OUTPUT       256

struct serving {
	struct jl_subject subject;
	struct jl_sys sys;
	struct jl_serve_ask ask;
	const char *engine; /* as it was written, or NULL */
	size_t n;
	double requests[ROWS_MAX];
	struct jl_serve_answer rows[ROWS_MAX];
};

static enum jl_status read_requests(struct serving *s, const char *text, struct jl_err *err)
{
	for (const char *at = text; *at;) {
		const size_t len = strcspn(at, ",");
		char piece[32];
		long long n;
		enum jl_status status;

		(void)snprintf(piece, sizeof(piece), "%.*s", (int)(len < 31 ? len : 31), at);
		status = jl_units_parse_count(&n, piece, 1, REQUESTS_MAX, "--requests", err);
		if (status)
			return status;
		if (s->n == ROWS_MAX)
			return jl_fail(err, JL_E_LIMIT, "--requests: more than %d numbers", ROWS_MAX);
		s->requests[s->n++] = (double)n;
		at += len + (at[len] == ',');
	}
	return s->n ? JL_OK : jl_fail(err, JL_E_USAGE, "--requests: no number; write e.g. 1,8,32");
}

static enum jl_status read_ask(struct serving *s, struct jl_cli *cli, const struct jl_request *req, struct jl_err *err)
{
	const char *requests = jl_text(cli, "requests");
	const double prompt = jl_count(cli, "prompt"), output = jl_count(cli, "output");
	enum jl_status status;

	s->engine = jl_text(cli, "engine");
	s->ask = (struct jl_serve_ask){ .weights = jl_text(cli, "weights"),
					.engine = s->engine ? jl_engine_by_text(s->engine) : JL_ENGINE_GENERAL,
					.prompt = isnan(prompt) ? PROMPT : prompt,
					.output = isnan(output) ? OUTPUT : output };
	if (s->engine && s->ask.engine == JL_ENGINE_GENERAL)
		return jl_fail(
			err, JL_E_USAGE,
			"--engine: '%.40s' is not known; write vllm, sglang, trtllm, llama.cpp, exllama, lmdeploy ...",
			s->engine);
	status = read_requests(s, requests ? requests : "1,8,32,128", err);
	if (!status)
		status = jl_subject_find(&s->subject, cli->cat, req, &cli->arena, err);
	if (status)
		return status;
	if (!s->subject.kind->has_tokens)
		return jl_fail(err, JL_E_USAGE, "--serve needs a transformer, e.g. llama-3-70b");
	s->ask.model = s->subject.info;
	s->ask.shape = &s->subject.model;
	if (!req->system)
		return jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on \"4x h100-sxm5\"");
	return jl_sys_parse(&s->sys, cli->cat, req->system, &cli->arena, err);
}

static enum jl_status weigh(struct serving *s, struct jl_cli *cli, struct jl_err *err)
{
	struct jl_machine machine;
	double most = 1;
	enum jl_status status = jl_machine_make(&machine, cli->cat, &s->sys, err);

	if (status)
		return status;
	if (isnan(machine.dev.mem_B) || isnan(machine.dev.mem_Bps))
		return jl_fail(err, JL_E_ABSENT, "the catalog does not list the memory of %.60s", s->sys.text);
	for (size_t i = 0; i < s->n; i++)
		most = fmax(most, s->requests[i]);
	/* the most requests decide how many GPUs share the model: one machine for all rows */
	s->ask.n_requests = most;
	status = jl_serve_predict(&s->rows[0], cli->cat, &machine, &s->ask, err);
	s->ask.n_gpus = s->rows[0].n_gpus;
	for (size_t i = 0; i < s->n && !status; i++) {
		s->ask.n_requests = s->requests[i];
		status = jl_serve_predict(&s->rows[i], cli->cat, &machine, &s->ask, err);
		if (!status && !(s->rows[i].tpot_s.value > 0))
			status = jl_fail(err, JL_E_DATA,
					 "%.60s does not compute in %.20s; int8 and int4 weights run everywhere",
					 s->sys.text, s->ask.weights ? s->ask.weights : "bf16");
	}
	return status;
}

static int n_copies(const struct serving *s)
{
	const int per_host = s->sys.n_per_node > 0 ? s->sys.n_per_node : 1;

	return s->sys.n_nodes * (per_host / s->rows[0].n_gpus);
}

static const char *weights_name(const struct serving *s)
{
	return s->ask.weights ? s->ask.weights : "16-bit";
}

static enum jl_status print_table(struct jl_cli *cli, const struct serving *s, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_("requests"), .align = JL_RIGHT },
		{ .head = JL_("first token") },
		{ .head = JL_("each token") },
		{ .head = JL_("one, tok/s"), .align = JL_RIGHT },
		{ .head = JL_("all, tok/s") },
	};
	struct jl_table table;

	jl_table_init(&table, &cli->arena, columns, 5);
	for (size_t i = 0; i < s->n; i++) {
		const struct jl_serve_answer *a = &s->rows[i];
		char first[JL_RANGE_TEXT_MAX], each[JL_RANGE_TEXT_MAX], v[JL_UNITS_TEXT_MAX], lo[JL_UNITS_TEXT_MAX],
			hi[JL_UNITS_TEXT_MAX];

		jl_table_printf(&table, "%.0f", s->requests[i]);
		jl_table_cell(&table, jl_estimate_text(first, &a->ttft_s, JL_K_TIME));
		jl_table_cell(&table, jl_estimate_text(each, &a->tpot_s, JL_K_TIME));
		jl_table_cell(&table, jl_about_text(v, a->request_tps.value));
		jl_table_printf(&table, "%s (%s–%s)", jl_about_text(v, a->total_tps.value),
				jl_about_text(lo, a->total_tps.lo), jl_about_text(hi, a->total_tps.hi));
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

/* Of a token's time at the most requests: the largest part. */
static void print_bound(struct jl_cli *cli, const struct jl_serve_step *step, double requests)
{
	const struct {
		double s;
		const char *en;
	} parts[] = {
		{ step->weights_s, JL_N("reading the weights") }, { step->math_s, JL_N("matrix products") },
		{ step->kv_s, JL_N("reading keys and values") },  { step->exchange_s, JL_N("exchanges between GPUs") },
		{ step->fixed_s, JL_N("launches and the host") },
	};
	size_t most = 0;

	for (size_t i = 1; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].s > parts[most].s)
			most = i;
	jl_view_entry(cli, "Bound by", JL_("%s: %.0f %% of a token's time at %.0f requests"), jl_msg(parts[most].en),
		      100 * fmin(1, parts[most].s / step->step_s), requests);
}

static void print_memory(struct jl_cli *cli, const struct serving *s)
{
	const struct jl_serve_answer *a = &s->rows[s->n - 1];
	char weights[JL_UNITS_TEXT_MAX], context[JL_UNITS_TEXT_MAX], room[JL_UNITS_TEXT_MAX], have[JL_UNITS_TEXT_MAX];

	jl_units_text(weights, a->weights_B, JL_K_BYTES, 3);
	jl_units_text(context, a->context_B, JL_K_BYTES, 2);
	jl_view_value(have, a->capacity_B, JL_K_BYTES, true);
	jl_about_text(room, floor(a->room));
	if (a->n_gpus == 1)
		jl_view_entry(cli, "Memory", JL_("weights %s, a request %s, of %s"), weights, context, have);
	else
		jl_view_entry(cli, "Memory", JL_("on each of %d GPUs weights %s, a request %s, of %s"), a->n_gpus,
			      weights, context, have);
	if (!a->fits)
		jl_view_entry(cli, NULL, "%s",
			      JL_("it does not fit: take more GPUs, or narrower weights (--weights fp8, int4)"));
	else if (a->room < s->requests[s->n - 1])
		jl_view_entry(cli, NULL, JL_("%s requests fit at once; the others wait"), room);
	else
		jl_view_entry(cli, NULL, JL_("room for %s requests at once"), room);
	if (n_copies(s) > 1)
		jl_view_entry(cli, "Copies",
			      JL_("the system holds %d copies of it: that many times the requests and tokens"),
			      n_copies(s));
}

static void print_foot(struct jl_cli *cli, const struct serving *s)
{
	const bool checked = s->rows[0].checked;

	jl_buf_printf(&cli->out, "  %s%s%s\n", jl_view_dim(cli),
		      checked ? JL_("○ estimated; 80 % intervals, checked on published runs (jeoul validate).")
			      : JL_("○ estimated; of this family only single requests were published, not loads."),
		      jl_view_reset(cli));
}

static void print_json(struct jl_cli *cli, const struct serving *s)
{
	const struct jl_serve_answer *first = &s->rows[0];
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "model", s->subject.id);
	jl_json_put_string(&json, "system", s->sys.text);
	jl_json_put_string(&json, "weights", weights_name(s));
	jl_json_put_string(&json, "engine", s->engine ? s->engine : "general");
	jl_json_put_number(&json, "prompt_tokens", s->ask.prompt);
	jl_json_put_number(&json, "output_tokens", s->ask.output);
	jl_json_put_integer(&json, "n_gpus", first->n_gpus);
	jl_json_put_integer(&json, "n_copies", n_copies(s));
	jl_json_put_bool(&json, "fits", first->fits);
	jl_json_put_number(&json, "weights_B", first->weights_B);
	jl_json_put_number(&json, "request_B", first->context_B);
	jl_json_put_number(&json, "capacity_B", first->capacity_B);
	jl_json_put_number(&json, "room_requests", floor(first->room));
	jl_json_put_bool(&json, "load_checked", first->checked);
	jl_json_put_array(&json, "series");
	for (size_t i = 0; i < s->n; i++) {
		const struct jl_serve_answer *a = &s->rows[i];

		jl_json_object(&json);
		jl_json_put_number(&json, "n_requests", s->requests[i]);
		jl_json_put_number(&json, "n_running", a->batch);
		jl_view_estimate_json(&json, "ttft_s", &a->ttft_s);
		jl_view_estimate_json(&json, "tpot_s", &a->tpot_s);
		jl_view_estimate_json(&json, "request_tokens_per_s", &a->request_tps);
		jl_view_estimate_json(&json, "total_tokens_per_s", &a->total_tps);
		jl_json_end_object(&json);
	}
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

/* Options of training that say nothing here. */
static enum jl_status only_ours(const struct jl_cli *cli, struct jl_err *err)
{
	static const char *const ours[] = { "on",       "serve", "requests", "prompt",   "output", "weights", "engine",
					    "json",     "lang",  "catalog",  "no-color", "layers", "hidden",  "heads",
					    "kv-heads", "ffn",   "vocab",    "config",   NULL };
	const struct jl_given *other = jl_given_beside(cli, ours);

	return other ? jl_fail(err, JL_E_USAGE,
			       "--%s is for training; --serve takes --requests, --prompt, --output, --weights, "
			       "--engine",
			       other->option->name)
		     : JL_OK;
}

enum jl_status jl_serving_unused(const struct jl_cli *cli, struct jl_err *err)
{
	static const char *const names[] = { "requests", "prompt", "output", "weights", "engine" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (jl_given(cli, names[i]))
			return jl_fail(err, JL_E_USAGE, "--%s is for serving: add --serve", names[i]);
	return JL_OK;
}

enum jl_status jl_predict_serving(struct jl_cli *cli, const struct jl_request *req, struct jl_err *err)
{
	struct serving s = { .n = 0 };
	char prompt[JL_UNITS_TEXT_MAX], output[JL_UNITS_TEXT_MAX];
	enum jl_status status = only_ours(cli, err);

	if (!status)
		status = read_ask(&s, cli, req, err);
	if (!status)
		status = weigh(&s, cli, err);
	if (status)
		return status;
	if (cli->json) {
		print_json(cli, &s);
		return JL_OK;
	}
	jl_view_value(prompt, s.ask.prompt, JL_K_NUMBER, false);
	jl_view_value(output, s.ask.output, JL_K_NUMBER, false);
	jl_buf_printf(&cli->out, JL_("%s%s served%s · %s\n%s weights · %s · prompt %s, answer %s tokens\n\n"),
		      jl_view_bold(cli), s.subject.name, jl_view_reset(cli), s.sys.text, weights_name(&s),
		      s.engine ? s.engine : JL_("no engine in particular"), prompt, output);
	if (s.rows[0].fits) {
		status = print_table(cli, &s, err);
		jl_buf_putc(&cli->out, '\n');
		print_bound(cli, &s.rows[s.n - 1].step, s.requests[s.n - 1]);
	}
	print_memory(cli, &s);
	print_foot(cli, &s);
	return status;
}
