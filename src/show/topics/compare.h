/* One training run on several systems: three tables, caveats, assumptions. */
#pragma once

#include "predict/compare.h"
#include "topics/show.h"

struct jl_show_compare {
	const struct jl_compare *compare;
	const char *const *names;   /* display names of the rows; NULL: as given */
	const char *const *options; /* options of the command, NULL-terminated; NULL: no command */
	bool no_chart, no_assumed;  /* shown elsewhere */
};

void jl_show_compare_chart(struct jl_doc *doc, const struct jl_show_compare *in);
void jl_show_compare(struct jl_doc *doc, const struct jl_show_compare *in);
