#include "cli/predict_serving.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/view.h"
#include "predict/kind.h"
#include "tell/serve.h"

#define REQUESTS_MAX 1000000
#define PROMPT       1024
#define OUTPUT       256

static enum jl_status read_requests(struct jl_serving *s, const char *text, struct jl_err *err)
{
	char piece[JL_ITEM_MAX];
	long long n;

	while (jl_next_item(&text, piece)) {
		JL_TRY(jl_units_parse_count(&n, piece, 1, REQUESTS_MAX, "--requests", err));
		if (s->n == JL_SERVING_ROWS_MAX)
			return jl_fail(err, JL_E_LIMIT, "--requests: more than %d numbers", JL_SERVING_ROWS_MAX);
		s->rows[s->n++].n_requests = (double)n;
	}
	return s->n ? JL_OK : jl_fail(err, JL_E_USAGE, "--requests: no number; write e.g. 1,8,32");
}

static enum jl_status read_ask(struct jl_serving *s, struct jl_cli *cli, const struct jl_request *req,
			       struct jl_err *err)
{
	const char *requests = jl_text(cli, "requests");

	s->engine = jl_text(cli, "engine");
	s->ask = (struct jl_serve_ask){ .engine = s->engine ? jl_engine_by_text(s->engine) : JL_ENGINE_GENERAL,
					.prompt = PROMPT,
					.output = OUTPUT };
	JL_READ(&s->ask, jl_serve_ask, cli);
	if (s->engine && s->ask.engine == JL_ENGINE_GENERAL)
		return jl_fail(
			err, JL_E_USAGE,
			"--engine: '%.40s' is not known; write vllm, sglang, trtllm, llama.cpp, exllama, lmdeploy ...",
			s->engine);
	JL_TRY(read_requests(s, requests ? requests : "1,8,32,128", err));
	JL_TRY(jl_subject_find(&s->subject, cli->cat, req, &cli->arena, err));
	if (!s->subject.kind->has_tokens)
		return jl_fail(err, JL_E_USAGE, "--serve needs a transformer, e.g. llama-3-70b");
	s->ask.model = s->subject.info;
	s->ask.shape = &s->subject.model;
	if (!req->system)
		return jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on \"4x h100-sxm5\"");
	return jl_sys_parse(&s->sys, cli->cat, req->system, &cli->arena, err);
}

static enum jl_status weigh(struct jl_serving *s, struct jl_cli *cli, struct jl_err *err)
{
	struct jl_machine machine;
	double most = 1;
	enum jl_status status;

	JL_TRY(jl_machine_make(&machine, cli->cat, &s->sys, err));
	if (isnan(machine.dev.mem_B) || isnan(machine.dev.mem_Bps))
		return jl_fail(err, JL_E_ABSENT, "the catalog does not list the memory of %.60s", s->sys.text);
	for (size_t i = 0; i < s->n; i++)
		most = fmax(most, s->rows[i].n_requests);
	/* the most requests decide how many GPUs share the model: one machine for all rows */
	s->ask.n_requests = most;
	status = jl_serve_predict(&s->rows[0].a, cli->cat, &machine, &s->ask, err);
	s->ask.n_gpus = s->rows[0].a.n_gpus;
	for (size_t i = 0; i < s->n && !status; i++) {
		s->ask.n_requests = s->rows[i].n_requests;
		status = jl_serve_predict(&s->rows[i].a, cli->cat, &machine, &s->ask, err);
		if (!status && s->rows[i].a.fits && !(s->rows[i].a.tpot_s.value > 0))
			status = jl_fail(err, JL_E_DATA,
					 "%.60s does not compute in %.20s; int8 and int4 weights run everywhere",
					 s->sys.text, s->ask.weights ? s->ask.weights : "bf16");
	}
	return status;
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

enum jl_status jl_predict_serving(struct jl_cli *cli, const struct jl_request *req, struct jl_err *err)
{
	struct jl_serving s = { .n = 0 };

	JL_TRY(only_ours(cli, err));
	JL_TRY(read_ask(&s, cli, req, err));
	JL_TRY(weigh(&s, cli, err));
	JL_ANSWER(cli, err, &jl_serving_fields, &s, jl_tell_serving(&doc, &s));
}
