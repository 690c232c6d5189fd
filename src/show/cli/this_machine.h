/* The word `this` where a system is expected: the machine that the program runs on. */
#pragma once

#include "cli/command.h"
#include "probe/probe.h"
#include "record/record.h"
#include "check/machine_findings.h"

/* This machine as a system: its GPUs, or its CPU where there are none that can be used. What was measured or estimated of
 * it lies over the command's catalog from then on. */
struct jl_this {
	const struct jl_probe_machine *machine;
	const char *system;    /* "8x h100-sxm5 via nvswitch4", "cpu:this" */
	struct jl_bitext note; /* where its rates are from; empty: as listed */
	bool measured;         /* the note tells of measurements, not of an estimate */
};
enum jl_status jl_this_lay(struct jl_this *ret_this, struct jl_cli *cli, struct jl_err *err);

/* "this" (and "2x(this) over ...") with the machine's own system expression in its place; any other text as it
 * is, NULL too. A captured machine stands in where JEOUL_MACHINE names its folder. */
enum jl_status jl_this_machine(struct jl_cli *cli, const char *text, const char **ret_text, struct jl_err *err);

/* The same in place, for every option of the command line that takes a system. */
enum jl_status jl_this_machine_args(struct jl_cli *cli, struct jl_err *err);

/* What was measured on the machine with this fingerprint (NULL: on any), newest first, in the command's arena. */
enum jl_status jl_this_records(const struct jl_record *const **ret_list, size_t *ret_n, struct jl_cli *cli,
			       const char *fingerprint, size_t limit, struct jl_err *err);

/* What is in it: live, or the captured machine that JEOUL_MACHINE names. */
enum jl_status jl_this_machine_probe(struct jl_cli *cli, const struct jl_probe_machine **ret_machine,
				     struct jl_err *err);
