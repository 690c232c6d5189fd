/* jeoul build --upgrade: what to buy next. */
#ifndef JL_CLI_BUILD_UPGRADE_H
#define JL_CLI_BUILD_UPGRADE_H

#include "cli/command.h"

enum jl_status jl_build_upgrade(struct jl_cli *cli, struct jl_err *err);

#endif
