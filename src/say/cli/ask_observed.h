/* The options that describe a run of which only its time is known, shared by the commands that carry one to other hardware. */
#pragma once

#include "cli/ask.h"
#include "predict/observed.h"

extern const char *const jl_ask_kinds[];

/* clang-format off */
#define JL_ASK_OBSERVED_OPTIONS \
	JL_O_AMOUNT("observed", "TIME", JL_K_TIME, JL_N("time of one step on the baseline, e.g. \"1.06 s\""), JL_TO(jl_observed, step_s), .above = true), \
	JL_ASK_COUNT("observed-batch", JL_N("samples of that step, all devices together"), JL_TO(jl_observed, batch), .with = "observed"), \
	JL_O_COUNT("batches", "N", 1, 1000000000000LL, JL_N("steps of an epoch at that batch"), .with = "observed"), \
	JL_O_CHOICE("kind", "cnn|transformer|unknown", jl_ask_kinds, JL_N("what was observed (default: unknown, the widest interval)"), JL_TO(jl_observed, kind), .with = "observed"), \
	JL_O_COUNT("params", "N", 1, 1000000000000000LL, JL_N("parameters of the observed model"), JL_TO(jl_observed, params), .with = "observed"), \
	JL_O_AMOUNT("memory-per-sample", "BYTES", JL_K_BYTES, JL_N("device memory that one more sample takes, e.g. \"0.9 GiB\""), JL_TO(jl_observed, sample_B), .above = true, .with = "observed"), \
	JL_O_AMOUNT("memory-fixed", "BYTES", JL_K_BYTES, JL_N("device memory that does not depend on the batch"), JL_TO(jl_observed, fixed_B), .above = true, .with = "observed"), \
	JL_ASK_COUNT("batch-limit", JL_N("largest batch of one baseline device (default: the observed one)"), JL_TO(jl_observed, batch_limit), .with = "observed"), \
	JL_O_AMOUNT("watts", "POWER", JL_K_POWER, JL_N("what the whole baseline draws while it runs"), JL_TO(jl_observed, watts_W), .above = true, .with = "observed")
/* clang-format on */

/* The run that --observed and its kin describe. */
enum jl_status jl_ask_observed(struct jl_observed *ret_run, const struct jl_cli *cli, struct jl_err *err);

/* The same with the machine it was observed on (--baseline) made and checked. */
enum jl_status jl_ask_observed_on(struct jl_observed *ret_run, struct jl_machine *ret_base, struct jl_cli *cli,
				  struct jl_err *err);
