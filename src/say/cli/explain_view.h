/* `jeoul predict --explain`: what people reckon by hand, beside the full model. */
#ifndef JL_CLI_EXPLAIN_VIEW_H
#define JL_CLI_EXPLAIN_VIEW_H

#include "cli/command.h"
#include "predict/explain.h"

/* clang-format off */
#define JL_EXPLAIN_OPTIONS \
	{ .name = "explain", .en = JL_N("estimates by hand (bandwidth ratio, tensor-core cycles) beside the full model") }, \
	{ .name = "baseline", .type = JL_OPT_TEXT, .arg = "SYSTEM", .en = JL_N("--explain: against which system (default: v100-dgxs-32gb)") }
/* clang-format on */

/* Do the options that were given go together? */
enum jl_status jl_explain_check(const struct jl_cli *cli, struct jl_err *err);

/* The whole output of the command, text or JSON. */
enum jl_status jl_view_explain(struct jl_cli *cli, const struct jl_request *req, const struct jl_case *c,
			       struct jl_err *err);

#endif
