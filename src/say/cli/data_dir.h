/* Where the published measurements are that predictions are scored against and parameters fitted on. */
#pragma once

#include "cli/command.h"

/* $JEOUL_DATA, or the folder beside the program, installed or built; never one of the folder that somebody stands in. NULL: none. */
const char *jl_data_dir(struct jl_cli *cli);
