/* Figures given on the command line. */
#pragma once

#include "check/judge.h"
#include "request/command.h"

/* Creates the record of "jeoul check KIND --on SYSTEM --rate ..." in the arena of `cli`, and sets up the judge. */
enum jl_status jl_check_figure_record(const struct jl_record **ret_record, struct jl_judge *judge, struct jl_cli *cli,
				      const char *kind, struct jl_err *err);
