/* jeoul predict: time, memory, energy and cost of a training run on a system. */
#include <math.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/data_dir.h"
#include "cli/view.h"
#include "goodput/goodput.h"
#include "predict/fields.h"
#include "predict/kind.h"
#include "predict/kernels.h"
#include "predict/mixed.h"
#include "topics/predict.h"
#include "topics/serve.h"
#include "topics/validate.h"

#define NEAR_MAX     10
#define ARENA_MAX_B  ((size_t)1 << 30)
#define REQUESTS_MAX 1000000
#define PROMPT       1024
#define OUTPUT       256

const struct jl_option jl_predict_options[] = {
	JL_ASK_RUN_OPTIONS,
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_INPUT_OPTIONS,
	JL_ASK_HOST_OPTIONS,
	JL_ASK_LENGTH_OPTIONS,
	JL_O_FLAG("explain", JL_N("rules of thumb (bandwidth ratio, tensor-core cycles) compared with the full model")),
	JL_O_FLAG("kernels", JL_N("every operation of a step with its launches, bytes and time")),
	JL_O_FLAG("charts", JL_N("the answer as pictures: the step's time, memory, roofline and topology")),
	JL_O_TEXT("baseline", "SYSTEM", JL_N("--explain: against which system (default: v100-dgxs-32gb)"),
		  .with = "explain"),
	JL_O_TEXT("with", "SYSTEM", JL_N("other GPUs of the same host, in one data-parallel job with those of --on")),
	JL_O_TEXT("sweep", "gpus=N,N,...|nodes=N,N,...",
		  JL_N("the first N GPUs of the system, or N such hosts, for each N")),
	JL_O_AMOUNT("size", "BYTES", JL_K_BYTES,
		    JL_N("of a collective (allreduce, allgather, ...) instead of a model, e.g. \"16 GB\"")),
	JL_O_FLAG("whole-run",
		  JL_N("also show the run with failures, checkpoints and restarts, as 'jeoul goodput' does")),
	JL_O_FLAG("near",
		  JL_N("also show the ten most similar published training runs and the program's errors on them")),
	JL_O_FLAG("forward", JL_N("inference of a network that is not a transformer: the forward pass of a batch"),
		  JL_TO(jl_request, forward)),
	JL_O_FLAG("serve", JL_N("answer requests with the model instead of training it")),
	JL_O_TEXT("requests", "N,N,...", JL_N("serve: requests at once (default: 1,8,32,128)"), .with = "serve"),
	JL_O_COUNT("prompt", "TOKENS", 1, 100000000, JL_N("serve: tokens of a question (default: 1024)"),
		   .with = "serve", JL_TO(jl_serve_ask, prompt)),
	JL_O_COUNT("output", "TOKENS", 1, 100000000, JL_N("serve: tokens of an answer (default: 256)"), .with = "serve",
		   JL_TO(jl_serve_ask, output)),
	JL_O_TEXT("weights", "FORMAT",
		  JL_N("serve: bf16, fp16, fp8, fp4, int8, int4, awq, q4_k_m ... (default: as the model is published)"),
		  .with = "serve", JL_TO(jl_serve_ask, weights)),
	JL_O_TEXT("engine", "NAME", JL_N("serve: vllm, sglang, trtllm, llama.cpp ... (default: none in particular)"),
		  .with = "serve"),
	{ 0 },
};

static enum jl_status predict_collective(struct jl_cli *cli, enum jl_collective_kind kind, struct jl_err *err)
{
	const struct jl_given *size = jl_given(cli, "size");
	struct jl_collective_series series;
	enum jl_status status;

	if (!size)
		return jl_fail(err, JL_E_USAGE, "%s needs a size: --size \"16 GB\"", jl_collective_name(kind));
	status = jl_collective_series_make(&series, cli->cat,
					   &(struct jl_collective_ask){ .kind = kind, .size_B = size->value },
					   jl_text(cli, "on"), jl_text(cli, "sweep"), &cli->arena, err);
	JL_TRY(status);
	JL_ANSWER(cli, err, &jl_collective_fields, &series, jl_show_collective(&doc, &series));
}

static enum jl_status show(struct jl_cli *cli, const struct jl_show_predicted *in, struct jl_err *err)
{
	JL_ANSWER(cli, err, &jl_show_predicted_fields, in, jl_show_predicted(&doc, in, cli->today));
}

/* Shows the most similar published measurements with the program's error on them. */
static enum jl_status show_near(struct jl_cli *cli, struct jl_show_predicted *in, struct jl_err *err)
{
	const struct jl_near_ask ask = jl_near_case(&in->predicted->how);
	struct jl_near near[NEAR_MAX];
	struct jl_near_run runs[NEAR_MAX];
	struct jl_arena arena;

	jl_arena_init(&arena, ARENA_MAX_B);
	struct jl_validation *v = jl_arena_alloc(&arena, sizeof(*v));
	enum jl_status status = v ? JL_OK : jl_fail_nomem(err);

	if (!status) {
		jl_validation_init(v, cli->cat, &arena);
		status = jl_validate_add_shipped(cli, v, in->predicted->how.subject.net ? "train_other" : "train_llm",
						 err);
	}
	JL_THEN(status, jl_validation_run(v, &(struct jl_validate_options){ .leave_out = JL_LEAVE_NOTHING }, err));
	if (!status)
		in->n_near = jl_near_rows(v, &ask, NEAR_MAX, near);
	for (size_t i = 0; i < in->n_near; i++) {
		const struct jl_validate_file *file = jl_validate_file_of(v, near[i].line, near[i].index);
		const struct jl_set_row *row = near[i].line->rows[near[i].index];

		runs[i] = (struct jl_near_run){ .row = row,
						.set = file ? file->set : "",
						.distance = near[i].distance,
						.ln_ratio = jl_validate_ln(row) };
	}
	in->near = runs;
	JL_THEN(status, show(cli, in, err));
	in->near = NULL;
	in->n_near = 0;
	jl_arena_release(&arena);
	return status;
}

/* --- serving instead of training */

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
	if (jl_serve_engine(s->ask.engine, s->ask.weights, NULL) != s->ask.engine)
		s->engine = "llama.cpp";
	JL_TRY(read_requests(s, requests ? requests : "1,8,32,128", err));
	JL_TRY(jl_subject_find(&s->subject, cli->cat, req, &cli->arena, err));
	JL_TRY(jl_subject_check_tokens(&s->subject, false, err));
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
	JL_TRY(jl_machine_has_memory(&machine, err));
	for (size_t i = 0; i < s->n; i++)
		most = fmax(most, s->rows[i].n_requests);
	/* the largest load determines the number of GPUs, which is the same in all rows */
	s->ask.n_requests = most;
	status = jl_serve_predict(&s->rows[0].a, cli->cat, &machine, &s->ask, err);
	s->ask.n_gpus = s->rows[0].a.n_gpus;
	for (size_t i = 0; i < s->n && !status; i++) {
		s->ask.n_requests = s->rows[i].n_requests;
		status = jl_serve_predict(&s->rows[i].a, cli->cat, &machine, &s->ask, err);
		if (!status && s->rows[i].a.fits && s->ask.output > 1 && !(s->rows[i].a.tpot_s.value > 0))
			status = jl_fail(err, JL_E_DATA,
					 "%.60s does not compute in %.20s; int8 and int4 weights run everywhere",
					 s->sys.text, jl_served_weights(s->ask.weights, s->ask.model));
	}
	return status;
}

static enum jl_status predict_serving(struct jl_cli *cli, const struct jl_request *req, struct jl_err *err)
{
	struct jl_serving s = { .n = 0 };

	JL_TRY(read_ask(&s, cli, req, err));
	JL_TRY(weigh(&s, cli, err));
	JL_ANSWER(cli, err, &jl_serving_fields, &s, jl_show_serving(&doc, &s));
}

#define OF_ENERGY " pue host-power"
#define OF_RUN    " samples tokens steps-per-epoch epochs" OF_ENERGY

/* Checks that the given options can be combined. */
static enum jl_status check_options(const struct jl_cli *cli, const char *collective, bool mixed, struct jl_err *err)
{
	const struct jl_idle rules[] = {
		{ .when = collective, .but = true, .options = "on size sweep", .beside = collective },
		{ .when = !collective,
		  .options = "size",
		  .with = JL_N("a collective, e.g. 'jeoul predict allreduce'") },
		{ .when = jl_flag(cli, "serve"),
		  .but = true,
		  .options = "on serve requests prompt output weights engine layers hidden heads kv-heads ffn vocab",
		  .beside = "--serve" },
		{ .when = mixed,
		  .options = "explain kernels charts near whole-run sweep forward" OF_ENERGY,
		  .beside = JL_N("two kinds of GPU") },
		{ .when = jl_given(cli, "sweep"),
		  .options = "explain kernels charts near whole-run",
		  .beside = "--sweep" },
		{ .when = jl_flag(cli, "explain"),
		  .options = "kernels charts near whole-run" OF_RUN,
		  .beside = "--explain" },
		{ .when = jl_flag(cli, "charts"), .options = "near whole-run", .beside = "--charts" },
		{ .when = jl_flag(cli, "kernels"), .options = "charts near whole-run" OF_RUN, .beside = "--kernels" },
		{ .when = jl_flag(cli, "forward"), .options = "optimizer whole-run", .beside = "--forward" },
	};

	return jl_check_idle(cli, rules, JL_LEN(rules), err);
}

/* --whole-run: the run as `jeoul goodput` predicts it with default failures. */
static enum jl_status weigh_whole_run(const struct jl_goodput **ret_goodput, struct jl_cli *cli,
				      const struct jl_predicted *predicted, struct jl_err *err)
{
	struct jl_goodput *goodput = jl_arena_alloc(&cli->arena, sizeof(*goodput));
	struct jl_job *job = jl_arena_alloc(&cli->arena, sizeof(*job));
	struct jl_goodput_ask ask = jl_goodput_ask_empty();

	JL_TRY(goodput && job ? JL_OK : jl_fail_nomem(err));
	if (!predicted->p.whole_run)
		return jl_fail(err, JL_E_USAGE,
			       "--whole-run needs the length of the run: --tokens, --samples or "
			       "--steps-per-epoch");
	*job = (struct jl_job){ predicted->how, predicted->p };
	ask.start_day = cli->today;
	JL_TRY(jl_goodput_weigh(goodput, cli->cat, job, &ask, err));
	*ret_goodput = goodput;
	return JL_OK;
}

enum jl_status jl_cmd_predict(struct jl_cli *cli, struct jl_err *err)
{
	enum jl_collective_kind kind;
	const bool collective = cli->args.n_operands && jl_collective_by_name(&kind, cli->args.operands[0]);
	struct jl_predicted predicted = { .speedup = { NAN, NAN, NAN } };
	struct jl_show_predicted shown = { .predicted = &predicted };
	struct jl_plan_hint *hint = jl_arena_alloc(&cli->arena, sizeof(*hint));
	struct jl_request req;
	const char *on = jl_text(cli, "on");
	const bool mixed = jl_given(cli, "with") || (on && strchr(on, '+'));

	JL_TRY(jl_got(hint, err));
	JL_TRY(check_options(cli, collective ? jl_collective_name(kind) : NULL, mixed, err));
	if (collective)
		return predict_collective(cli, kind, err);
	JL_TRY(jl_ask_request(&req, cli, err));
	if (jl_flag(cli, "serve"))
		return predict_serving(cli, &req, err);
	if (mixed) {
		struct jl_mixed both;

		JL_TRY(jl_mixed_make(&both, cli->cat, &req, jl_text(cli, "with"), &cli->arena, err));
		JL_ANSWER(cli, err, &jl_mixed_fields, &both, jl_show_mixed(&doc, &both));
	}
	if (jl_given(cli, "sweep")) {
		struct jl_sweep sweep;

		JL_TRY(jl_sweep_make(&sweep, cli->cat, &req, jl_text(cli, "sweep"), &cli->arena, err));
		JL_ANSWER(cli, err, &jl_sweep_fields, &sweep, jl_show_sweep(&doc, &sweep));
	}
	if (jl_flag(cli, "explain")) {
		struct jl_explained explained;

		JL_TRY(jl_explained_make(&explained, cli->cat, &req, jl_text(cli, "baseline"), &cli->arena, err));
		JL_ANSWER(cli, err, &jl_explained_fields, &explained, jl_show_explained(&doc, &explained));
	}
	if (jl_flag(cli, "kernels")) {
		struct jl_kernels kernels;
		struct jl_case c;

		JL_TRY(jl_case_make(&c, cli->cat, &req, &cli->arena, err));
		JL_TRY(jl_kernels_make(&kernels, &c, &cli->arena, err));
		JL_ANSWER(cli, err, &jl_kernels_fields, &kernels, jl_show_kernels(&doc, &c, &kernels));
	}
	JL_TRY(jl_predicted_make(&predicted, cli->cat, &req, &cli->arena, err));
	shown.elapsed = jl_goodput_elapsed(cli->cat, &predicted.how, &predicted.p);
	struct jl_kernels kernels;
	struct jl_err none; /* networks have no list of operations, so their charts have no roofline */

	shown.charts = jl_flag(cli, "charts");
	if (shown.charts && !jl_kernels_make(&kernels, &predicted.how, &cli->arena, &none))
		shown.kernels = &kernels;
	if (!cli->json && !shown.charts) {
		shown.plan = hint;
		jl_plan_hint(hint, cli->cat, &req, &predicted.how, predicted.p.step.step_s, &cli->arena);
	}
	if (jl_flag(cli, "whole-run"))
		JL_TRY(weigh_whole_run(&shown.goodput, cli, &predicted, err));
	return jl_flag(cli, "near") ? show_near(cli, &shown, err) : show(cli, &shown, err);
}
