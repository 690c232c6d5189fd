/* jeoul calibrate without --fit: derives this machine's own parameters from its results. */
#pragma once

#include "cli/command.h"
#include "probe/probe.h"

enum jl_status jl_calibrate_this(struct jl_cli *cli, struct jl_err *err);

/* Overlays them on the command's catalog; `ret_on` is false if the machine is not calibrated. */
enum jl_status jl_calibrate_lay(bool *ret_on, struct jl_cli *cli, const struct jl_probe_machine *here,
				struct jl_err *err);
