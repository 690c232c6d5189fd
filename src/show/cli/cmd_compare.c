/* jeoul compare: one training run on several systems, from an observed run or a model. */
#include <math.h>

#include "cli/ask.h"
#include "cli/view.h"
#include "predict/fields.h"
#include "topics/compare.h"

/* clang-format off */
const struct jl_option jl_compare_options[] = {
	JL_O_TEXT("baseline", "SYSTEM", JL_N("baseline system; with an observed run, where it was observed")),
	JL_O_TEXT("on", "SYSTEM", JL_N("a system to compare; may be repeated"), .many = true, JL_TO(jl_request, system)),
	JL_ASK_OBSERVED_OPTIONS,
	JL_O_COUNT("repeat", "N", 1, JL_ASK_MAX, JL_N("also: N trainings")),
	JL_O_TEXT("tune", "N|METHOD", JL_N("also: N trials of a search; or fine-tuning: full, lora, qlora, dora, qdora, adapter, layers")),
	JL_ASK_TUNE_DETAILS,
	JL_ASK_OPTIMIZER_OPTION,
	JL_ASK_COUNT("batch", JL_N("a model: samples of one worker"), JL_TO(jl_request, batch)),
	JL_ASK_COUNT("micro-batch", JL_N("a model: samples of one pass"), JL_TO(jl_request, micro_batch)),
	JL_ASK_COUNT("global-batch", JL_N("a model: samples of a step, all workers"), JL_TO(jl_request, global_batch)),
	JL_ASK_COUNT("accumulate", JL_N("a model: passes of a step"), JL_TO(jl_request, accumulate)),
	JL_O_CHOICE("precision", "fp32|tf32|fp16|bf16|fp8", jl_ask_precisions, JL_N("format of the matrix products"), JL_TO(jl_request, dtype)),
	JL_O_CHOICE("framework", "eager|compiled|megatron|native", jl_ask_frameworks, JL_N("a model: framework"), JL_TO(jl_request, framework)),
	JL_O_CHOICE("recompute", "none|selective|full", jl_ask_recomputes, JL_N("a model: recompute activations"), JL_TO(jl_request, recompute)),
	JL_O_CHOICE("flash", "yes|no", jl_ask_yes_no, JL_N("a model: flash attention"), JL_TO(jl_request, flash)),
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_INPUT_OPTIONS,
	JL_ASK_HOST_OPTIONS,
	JL_ASK_LENGTH_WITH(JL_N("epochs of the run (default: 1; of an observed one: 10)")),
	{ 0 },
};
/* clang-format on */

/* Number of trials given by --tune; 0: it is a tuning method. */
static long long n_trials_of(const struct jl_cli *cli)
{
	const char *text = jl_text(cli, "tune");
	long long n = 0;
	struct jl_err ignored;

	return text && !jl_units_parse_count(&n, text, 1, JL_ASK_MAX, "--tune", &ignored) ? n : 0;
}

/* Rejects options of observed runs with a model, and vice versa. */
static enum jl_status check_mode(const struct jl_cli *cli, struct jl_err *err)
{
	const bool observed = jl_given(cli, "observed") != NULL;
	const struct jl_idle of_model = {
		.when = observed,
		.options = "batch micro-batch global-batch accumulate framework recompute flash optimizer layers seq "
			   "tokens "
			   "mean-seq method gmacs input layout cpu-threads storage sample-size decode-time ram "
			   "host-power launch",
		.with = JL_N("a model; an observed run has --observed-batch and --batches")
	};

	if (observed && cli->args.n_operands)
		return jl_fail(err, JL_E_USAGE,
			       "compare a model or an observed run, not both: leave '%s' or --observed out",
			       cli->args.operands[0]);
	if (observed && jl_given(cli, "tune") && !n_trials_of(cli))
		return jl_fail(err, JL_E_USAGE, "--tune: of an observed run a number of trials, not a method");
	return jl_check_idle(cli, &of_model, 1, err);
}

static enum jl_status add_system(struct jl_compare *compare, struct jl_cli *cli, const char *text, struct jl_err *err)
{
	struct jl_sys sys;
	enum jl_status status;

	if (compare->n_rows == JL_COMPARE_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d systems", JL_COMPARE_MAX);
	status = jl_sys_parse(&sys, cli->cat, text, &cli->arena, err);
	JL_THEN(status, jl_machine_make(&compare->rows[compare->n_rows].machine, cli->cat, &sys, err));
	if (!status)
		compare->n_rows++;
	return status;
}

static enum jl_status read_systems(struct jl_compare *compare, struct jl_cli *cli, struct jl_err *err)
{
	const char *baseline = jl_text(cli, "baseline");
	enum jl_status status;

	if (!baseline)
		return jl_fail(err, JL_E_USAGE,
			       "name the system to compare with: --baseline \"4x v100-dgxs-32gb via nvlink2-mesh\"");
	status = add_system(compare, cli, baseline, err);
	for (const struct jl_given *g = NULL; !status && (g = jl_given_next(cli, "on", g));)
		status = add_system(compare, cli, g->text, err);
	if (!status && compare->n_rows < 2)
		return jl_fail(err, JL_E_USAGE, "name at least one system to compare: --on rtx-4090");
	return status;
}

/* --tune must be a number of trials or a method. */
static enum jl_status check_tune(const struct jl_cli *cli, struct jl_err *err)
{
	const char *text = jl_text(cli, "tune");

	if (!text || jl_chosen(cli, "tune", jl_ask_tunes) >= 0 || n_trials_of(cli) > 0)
		return JL_OK;
	return jl_fail(
		err, JL_E_USAGE,
		"--tune: '%s' is neither a number of trials nor full, lora, qlora, dora, qdora, adapter or layers",
		text);
}

static enum jl_status check_length(const struct jl_compare *compare, bool known, struct jl_err *err)
{
	if (!known && !(isnan(compare->repeat) && isnan(compare->tune)))
		return jl_fail(
			err, JL_E_USAGE,
			"--repeat and --tune need to know an epoch: give --batches, --samples or --steps-per-epoch");
	return JL_OK;
}

static enum jl_status compare_run(struct jl_compare *compare, struct jl_observed *run, struct jl_cli *cli,
				  struct jl_err *err)
{
	JL_TRY(jl_ask_observed(run, cli, err));
	JL_TRY(check_length(compare, !isnan(run->batches), err));
	return jl_compare_observed(compare, run, err);
}

static enum jl_status compare_model(struct jl_compare *compare, struct jl_subject *subject, struct jl_cli *cli,
				    struct jl_err *err)
{
	struct jl_request req;
	enum jl_status status = jl_ask_request(&req, cli, err);

	JL_THEN(status, jl_subject_find(subject, cli->cat, &req, &cli->arena, err));
	JL_THEN(status,
		check_length(compare, !isnan(req.samples) || !isnan(req.tokens) || !isnan(req.steps_per_epoch), err));
	return status ? status : jl_compare_model(compare, cli->cat, subject, &req, err);
}

enum jl_status jl_cmd_compare(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_compare *compare = jl_arena_alloc(&cli->arena, sizeof(*compare));
	struct jl_observed run;
	struct jl_subject subject;

	JL_TRY(jl_got(compare, err));
	JL_TRY(check_mode(cli, err));
	JL_TRY(check_tune(cli, err));
	JL_TRY(read_systems(compare, cli, err));
	compare->epochs = jl_count(cli, "epochs");
	compare->repeat = jl_count(cli, "repeat");
	compare->tune = n_trials_of(cli) > 0 ? (double)n_trials_of(cli) : NAN;
	compare->pue = jl_value(cli, "pue");
	JL_TRY(jl_given(cli, "observed") ? compare_run(compare, &run, cli, err)
					 : compare_model(compare, &subject, cli, err));
	JL_ANSWER(cli, err, &jl_compare_fields, compare,
		  jl_show_compare(&doc,
				  &(struct jl_show_compare){ .compare = compare, .options = jl_view_options(cli) }));
}
