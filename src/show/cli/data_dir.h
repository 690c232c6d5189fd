/* Folder of the published measurements, used for validation and fitting. */
#pragma once

#include "cli/command.h"

/* $JEOUL_DATA, or the folder next to the installed or built program; never the current folder. NULL: none. */
const char *jl_data_dir(struct jl_cli *cli);

/* Adds all files of published measurements; with `set`, those that are fitted together with it. */
struct jl_validation;
enum jl_status jl_validate_add_shipped(struct jl_cli *cli, struct jl_validation *v, const char *set,
				       struct jl_err *err);
