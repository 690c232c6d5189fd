/* Where the published measurements are that predictions are scored against and parameters fitted on. */
#pragma once

#include "cli/command.h"

/* $JEOUL_DATA, or the folder beside the program, installed or built; never the current folder. NULL: none. */
const char *jl_data_dir(struct jl_cli *cli);

/* Every file of published measurements that is there; with `set` those that are fitted together with it. */
struct jl_validation;
enum jl_status jl_validate_add_shipped(struct jl_cli *cli, struct jl_validation *v, const char *set,
				       struct jl_err *err);
