/* jeoul calibrate without --fit: this machine's results become its own parameters. */
#pragma once

#include "cli/command.h"
#include "probe/probe.h"

enum jl_status jl_calibrate_this(struct jl_cli *cli, struct jl_err *err);

/* Lays it over the catalog of the command; `ret_on` is false where the machine was never calibrated. */
enum jl_status jl_calibrate_lay(bool *ret_on, struct jl_cli *cli, const struct jl_probe_machine *here,
				struct jl_err *err);
