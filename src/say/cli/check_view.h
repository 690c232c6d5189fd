/* What a person sees of verdicts: one in full, or a table of many. */
#ifndef JL_CLI_CHECK_VIEW_H
#define JL_CLI_CHECK_VIEW_H

#include "check/judge.h"
#include "cli/command.h"

/* `where`: what the results are of (a machine, a file); NULL: nothing to say. */
enum jl_status jl_check_view(struct jl_cli *cli, const struct jl_judged *judged, size_t n, const char *where,
			     const struct jl_steadiness *steadiness, struct jl_err *err);

#endif
