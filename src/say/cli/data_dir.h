/* Where the published measurements are that predictions are scored against and parameters fitted on. */
#ifndef JL_CLI_DATA_DIR_H
#define JL_CLI_DATA_DIR_H

#include "cli/command.h"

/* $JEOUL_DATA, the folder beside the installed program, or data/validation here. */
const char *jl_data_dir(struct jl_cli *cli);

#endif
