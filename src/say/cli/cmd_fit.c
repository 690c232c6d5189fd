/* jeoul fit: which techniques make a model fit in a system's memory, and what each costs in time. */
#include "cli/ask.h"
#include "cli/view.h"
#include "tell/plan.h"

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
	struct jl_doc doc;
	enum jl_status status = fit ? jl_ask_request(&req, cli, err) : jl_fail_nomem(err);

	if (!status)
		status = jl_subject_find(&subject, cli->cat, &req, &cli->arena, err);
	if (!status && !req.system)
		status = jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on %s", "dgx-h100");
	if (!status)
		status = jl_sys_parse(&sys, cli->cat, req.system, &cli->arena, err);
	if (!status)
		status = jl_machine_make(&machine, cli->cat, &sys, err);
	if (!status)
		status = jl_techniques(fit->rows, &fit->n, cli->cat, &subject, &machine, &req, err);
	if (status || cli->json)
		return status ? status : jl_view_fields(cli, &jl_fit_fields, fit);
	jl_view_page(cli, &doc);
	jl_tell_fit(&doc, fit);
	return jl_view_show(cli, &doc, err);
}
