/* What a person sees of verdicts: one in full, or a table of many. */
#ifndef JL_CLI_CHECK_VIEW_H
#define JL_CLI_CHECK_VIEW_H

#include "cli/check_judge.h"

/* `where`: what the results are of (a machine, a file); NULL: nothing to say. */
enum jl_status jl_check_view(struct jl_cli *cli, const struct jl_judged *judged, size_t n, const char *where,
			     struct jl_err *err);

/* The one that counts: impossible before low before the rest; the largest of the same verdict. */
const struct jl_judged *jl_check_worst(const struct jl_judged *judged, size_t n);

#endif
