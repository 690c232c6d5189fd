#include "cli/ask_observed.h"

#include <math.h>
#include <string.h>

const char *const jl_ask_kinds[] = { "cnn", "transformer", "unknown", NULL };

static enum jl_status positive(const struct jl_cli *cli, const char *name, struct jl_err *err)
{
	const struct jl_given *given = jl_given(cli, name);

	if (!given || given->value > 0)
		return JL_OK;
	return jl_fail(err, JL_E_RANGE, "--%s: '%s' is not more than nothing", name, given->text);
}

static int dtype_of(const char *name)
{
	for (int i = 0; name && i < JL_N_DTYPE; i++)
		if (strcmp(name, jl_dtype_name((enum jl_dtype)i)) == 0)
			return i;
	return JL_UNSET;
}

/* Steps of an epoch, whichever way it is said. */
static enum jl_status read_length(struct jl_observed *run, const struct jl_cli *cli, struct jl_err *err)
{
	const double batches = jl_count(cli, "batches"), steps = jl_count(cli, "steps-per-epoch"),
		     samples = jl_count(cli, "samples");

	if (!isnan(batches) + !isnan(steps) + !isnan(samples) > 1)
		return jl_fail(err, JL_E_USAGE, "give one of --batches, --steps-per-epoch and --samples");
	run->batches = !isnan(batches) ? batches : !isnan(steps) ? steps : samples / run->batch;
	if (isnan(run->batches) && jl_given(cli, "epochs"))
		return jl_fail(err, JL_E_USAGE, "--epochs needs to know an epoch: give --batches or --samples");
	return JL_OK;
}

enum jl_status jl_ask_observed(struct jl_observed *ret_run, const struct jl_cli *cli, struct jl_err *err)
{
	static const char *const more_than_nothing[] = { "observed", "memory-per-sample", "memory-fixed", "watts" };
	const char *kind = jl_text(cli, "kind");
	struct jl_observed run = jl_observed_empty();
	enum jl_status status = JL_OK;

	for (size_t i = 0; !status && i < sizeof(more_than_nothing) / sizeof(*more_than_nothing); i++)
		status = positive(cli, more_than_nothing[i], err);
	if (status)
		return status;
	run.step_s = jl_value(cli, "observed");
	run.batch = jl_count(cli, "observed-batch");
	run.params = jl_count(cli, "params");
	run.sample_B = jl_value(cli, "memory-per-sample");
	run.fixed_B = jl_value(cli, "memory-fixed");
	run.batch_limit = jl_count(cli, "batch-limit");
	run.watts_W = jl_value(cli, "watts");
	run.dtype = dtype_of(jl_text(cli, "precision"));
	for (int i = 0; kind && i < JL_N_MIX; i++)
		if (strcmp(kind, jl_mixes[i].id) == 0)
			run.kind = (enum jl_mix_kind)i;
	if (isnan(run.batch))
		return jl_fail(err, JL_E_USAGE, "--observed needs the samples of that step: --observed-batch N");
	status = read_length(&run, cli, err);
	if (!status)
		*ret_run = run;
	return status;
}

enum jl_status jl_ask_observed_on(struct jl_observed *ret_run, struct jl_machine *ret_base, struct jl_cli *cli,
				  struct jl_err *err)
{
	const char *baseline = jl_text(cli, "baseline");
	struct jl_observed run;
	struct jl_sys sys;

	JL_TRY(jl_ask_observed(&run, cli, err));
	if (!baseline)
		return jl_fail(err, JL_E_USAGE,
			       "--observed needs the system it was seen on: --baseline \"4x v100-dgxs-32gb\"");
	JL_TRY(jl_sys_parse(&sys, cli->cat, baseline, &cli->arena, err));
	JL_TRY(jl_machine_make(ret_base, cli->cat, &sys, err));
	JL_TRY(jl_observed_check(&run, ret_base, err));
	*ret_run = run;
	return JL_OK;
}
