/* jeoul predict: how long, how much memory, energy and money a training run takes on a system. */
#include <math.h>

#include "cli/ask.h"
#include "cli/predict_serving.h"
#include "cli/data_dir.h"
#include "cli/view.h"
#include "predict/fields.h"
#include "predict/kernels.h"
#include "predict/mixed.h"
#include "tell/predict.h"
#include "tell/validate.h"

#define NEAR_MAX    10
#define ARENA_MAX_B ((size_t)1 << 30)

const struct jl_option jl_predict_options[] = {
	JL_ASK_RUN_OPTIONS,
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_HOST_OPTIONS,
	JL_ASK_LENGTH_OPTIONS,
	JL_O_FLAG("explain", JL_N("estimates by hand (bandwidth ratio, tensor-core cycles) beside the full model"),
		  .apart = "sweep"),
	JL_O_FLAG("kernels", JL_N("what really runs: every operation of a step, its launches, bytes and time")),
	JL_O_TEXT("baseline", "SYSTEM", JL_N("--explain: against which system (default: v100-dgxs-32gb)"),
		  .with = "explain"),
	JL_O_TEXT("with", "SYSTEM", JL_N("other GPUs of the same host, in one data-parallel job with those of --on")),
	JL_O_TEXT("sweep", "gpus=N,N,...|nodes=N,N,...",
		  JL_N("the first N GPUs of the system, or N such hosts, for each N")),
	JL_O_AMOUNT("size", "BYTES", JL_K_BYTES,
		    JL_N("of a collective (allreduce, allgather, ...) instead of a model, e.g. \"16 GB\"")),
	JL_O_FLAG("near", JL_N("and the ten published training runs most like it, with the program's errors on them")),
	JL_O_FLAG("forward", JL_N("inference of a network that is no transformer: the forward pass of a batch"),
		  JL_TO(jl_request, forward)),
	JL_SERVING_OPTIONS,
	{ 0 },
};

static enum jl_status predict_collective(struct jl_cli *cli, enum jl_collective_kind kind, struct jl_err *err)
{
	static const char *const ours[] = { "on", "size", "sweep", "json", "lang", "catalog", "no-color", NULL };
	const struct jl_given *size = jl_given(cli, "size"), *other = jl_given_beside(cli, ours);
	struct jl_collective_series series;
	enum jl_status status;

	if (!size)
		return jl_fail(err, JL_E_USAGE, "%s needs a size: --size \"16 GB\"", jl_collective_name(kind));
	if (other)
		return jl_fail(err, JL_E_USAGE, "--%s is for a model; %s takes --on, --size and --sweep",
			       other->option->name, jl_collective_name(kind));
	status = jl_collective_series_make(&series, cli->cat,
					   &(struct jl_collective_ask){ .kind = kind, .size_B = size->value },
					   jl_text(cli, "on"), jl_text(cli, "sweep"), &cli->arena, err);
	JL_TRY(status);
	JL_ANSWER(cli, err, &jl_collective_fields, &series, jl_tell_collective(&doc, &series));
}

static enum jl_status show(struct jl_cli *cli, const struct jl_tell_predicted *in, struct jl_err *err)
{
	JL_ANSWER(cli, err, &jl_tell_predicted_fields, in, jl_tell_predicted(&doc, in, cli->today));
}

/* With the published measurements most like it, and how wrong the program is on them. */
static enum jl_status show_near(struct jl_cli *cli, struct jl_tell_predicted *in, struct jl_err *err)
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
	jl_arena_release(&arena);
	return status;
}

/* Do the options that were given go together? */
static enum jl_status check_options(const struct jl_cli *cli, bool collective, struct jl_err *err)
{
	const bool sweep = jl_given(cli, "sweep"), explain = jl_flag(cli, "explain"), serve = jl_flag(cli, "serve");

	if (jl_flag(cli, "near") && (collective || sweep || serve || explain))
		return jl_fail(err, JL_E_USAGE, "--near is for one training run: leave out %s",
			       collective ? "the collective"
			       : sweep    ? "--sweep"
			       : serve    ? "--serve"
					  : "--explain");
	if (collective)
		return JL_OK;
	if (jl_given(cli, "size"))
		return jl_fail(err, JL_E_USAGE, "--size is for a collective, e.g. 'jeoul predict allreduce'");
	return JL_OK;
}

enum jl_status jl_cmd_predict(struct jl_cli *cli, struct jl_err *err)
{
	enum jl_collective_kind kind;
	const bool collective = cli->args.n_operands && jl_collective_by_name(&kind, cli->args.operands[0]);
	struct jl_predicted predicted = { .speedup = NAN };
	struct jl_tell_predicted told = { .predicted = &predicted };
	struct jl_request req;
	enum jl_status status = check_options(cli, collective, err);

	if (status || collective)
		return status ? status : predict_collective(cli, kind, err);
	JL_TRY(jl_ask_request(&req, cli, err));
	if (jl_flag(cli, "serve"))
		return jl_predict_serving(cli, &req, err);
	if (jl_given(cli, "with")) {
		struct jl_mixed mixed;

		JL_TRY(jl_mixed_make(&mixed, cli->cat, &req, jl_text(cli, "with"), &cli->arena, err));
		JL_ANSWER(cli, err, &jl_mixed_fields, &mixed, jl_tell_mixed(&doc, &mixed));
	}
	if (jl_given(cli, "sweep")) {
		struct jl_sweep sweep;

		JL_TRY(jl_sweep_make(&sweep, cli->cat, &req, jl_text(cli, "sweep"), &cli->arena, err));
		JL_ANSWER(cli, err, &jl_sweep_fields, &sweep, jl_tell_sweep(&doc, &sweep));
	}
	if (jl_flag(cli, "explain")) {
		struct jl_explained explained;

		JL_TRY(jl_explained_make(&explained, cli->cat, &req, jl_text(cli, "baseline"), &cli->arena, err));
		JL_ANSWER(cli, err, &jl_explained_fields, &explained, jl_tell_explained(&doc, &explained));
	}
	if (jl_flag(cli, "kernels")) {
		struct jl_kernels kernels;
		struct jl_case c;

		JL_TRY(jl_case_make(&c, cli->cat, &req, &cli->arena, err));
		JL_TRY(jl_kernels_make(&kernels, &c, &cli->arena, err));
		JL_ANSWER(cli, err, &jl_kernels_fields, &kernels, jl_tell_kernels(&doc, &c, &kernels));
	}
	JL_TRY(jl_predicted_make(&predicted, cli->cat, &req, &cli->arena, err));
	return jl_flag(cli, "near") ? show_near(cli, &told, err) : show(cli, &told, err);
}
