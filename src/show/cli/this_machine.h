/* The word `this` in place of a system: the machine that the program runs on. */
#pragma once

#include "cli/command.h"
#include "probe/probe.h"
#include "record/record.h"
#include "check/machine_findings.h"

/* This machine as a system: its usable GPUs, otherwise its CPU. Overlays its measured or estimated rates on the command's catalog. */
struct jl_this {
	const struct jl_probe_machine *machine;
	const char *system;    /* e.g. "8x h100-sxm5 via nvswitch4", "cpu:this" */
	struct jl_bitext note; /* origin of its rates; empty: as listed */
	bool measured;         /* the rates are measured, not estimated */
};
enum jl_status jl_this_lay(struct jl_this *ret_this, struct jl_cli *cli, struct jl_err *err);

/* Replaces "this" (also in "2x(this) over ...") by the machine's system expression; returns other texts and NULL unchanged. JEOUL_MACHINE may
 * name the folder of a captured machine instead. */
enum jl_status jl_this_machine(struct jl_cli *cli, const char *text, const char **ret_text, struct jl_err *err);

/* The same in place, for all options that take a system. */
enum jl_status jl_this_machine_args(struct jl_cli *cli, struct jl_err *err);

/* Records measured on the machine with this fingerprint (NULL: any machine), newest first, in the command's arena. */
enum jl_status jl_this_records(const struct jl_record *const **ret_list, size_t *ret_n, struct jl_cli *cli,
			       const char *fingerprint, size_t limit, struct jl_err *err);

/* Hardware of this machine: live, or of the captured machine in JEOUL_MACHINE. */
enum jl_status jl_this_machine_probe(struct jl_cli *cli, const struct jl_probe_machine **ret_machine,
				     struct jl_err *err);
