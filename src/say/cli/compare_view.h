/* How a comparison looks: three tables, or JSON. */
#ifndef JL_CLI_COMPARE_VIEW_H
#define JL_CLI_COMPARE_VIEW_H

#include "cli/command.h"
#include "predict/compare.h"

struct jl_compare_page {
	const struct jl_compare *compare;
	const struct jl_observed *run;    /* NULL: a model was compared */
	const struct jl_subject *subject; /* NULL: a run was compared */
};

enum jl_status jl_view_compare(struct jl_cli *cli, const struct jl_compare_page *page, struct jl_err *err);
void jl_view_compare_json(struct jl_cli *cli, const struct jl_compare_page *page);

#endif
