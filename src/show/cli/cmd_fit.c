/* jeoul fit: techniques that make a model fit into a system's memory, with their cost in time. */
#include "cli/ask.h"
#include "cli/view.h"
#include "predict/technique.h"

const struct jl_option jl_fit_options[] = {
	JL_ASK_RUN_OPTIONS,
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_HOST_OPTIONS,
	{ 0 },
};

enum jl_status jl_cmd_fit(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_fit *fit = jl_arena_alloc(&cli->arena, sizeof(*fit));
	struct jl_request req;
	struct jl_subject subject;
	struct jl_machine machine;
	struct jl_sys sys;

	JL_TRY(fit ? jl_ask_request(&req, cli, err) : jl_fail_nomem(err));
	JL_TRY(jl_subject_find(&subject, cli->cat, &req, &cli->arena, err));
	if (!req.system)
		return jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on %s", "dgx-h100");
	JL_TRY(jl_sys_parse(&sys, cli->cat, req.system, &cli->arena, err));
	JL_TRY(jl_machine_make(&machine, cli->cat, &sys, err));
	JL_TRY(jl_techniques(fit->rows, &fit->n, cli->cat, &subject, &machine, &req, err));
	JL_ANSWER(cli, err, &jl_fit_fields, fit, jl_show_fit(&doc, fit));
}
