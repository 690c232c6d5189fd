/* A probed machine as a person reads it, and as JSON. */
#pragma once

#include "base/json.h"
#include "check/machine_findings.h"
#include "cli/command.h"
#include "probe/probe.h"

enum jl_status jl_view_machine(struct jl_cli *cli, const struct jl_probe_machine *machine, struct jl_err *err);
void jl_view_findings(struct jl_cli *cli, const struct jl_findings *findings);
void jl_view_machine_json(struct jl_cli *cli, const struct jl_probe_machine *machine,
			  const struct jl_findings *findings, bool with_names);

/* probe_tree.c: NUMA nodes with what hangs on each */
void jl_view_machine_tree(struct jl_cli *cli, const struct jl_probe_machine *machine);

/* "gen4 x16", "gen3 x8 of gen4 x16"; "?" where nothing is known. */
const char *jl_view_pcie(char out[48], const struct jl_probe_gpu *gpu);
/* "10 Gb/s" */
const char *jl_view_bits(char out[JL_UNITS_TEXT_MAX], double Bps);
/* A card without its maker's words. */
const char *jl_view_gpu_name(const char *name);
