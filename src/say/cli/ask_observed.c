#include "cli/ask_observed.h"

#include <math.h>
#include <string.h>

const char *const jl_ask_kinds[] = { /* in the order of enum jl_mix_kind */ "cnn", "transformer", "unknown", NULL };

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
	struct jl_observed run = jl_observed_empty();

	JL_READ(&run, jl_observed, cli);
	run.dtype = jl_chosen(cli, "precision", jl_ask_precisions);
	if (isnan(run.batch))
		return jl_fail(err, JL_E_USAGE, "--observed needs the samples of that step: --observed-batch N");
	JL_TRY(read_length(&run, cli, err));
	*ret_run = run;
	return JL_OK;
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
