/* Buy or rent: break-even, cumulative cost, sensitivity, sources of prices. */
#pragma once

#include "cost/study.h"
#include "topics/show.h"

struct jl_show_cost {
	const struct jl_cost_study *study;
	const struct jl_catalog *cat;
	long today;                 /* for the age of prices */
	bool command;               /* names the options that change each assumption */
	const char *const *options; /* options of the command; NULL: not known */
	bool no_chart;              /* shown elsewhere */
};

void jl_show_cost_chart(struct jl_doc *doc, const struct jl_cost_study *study);

void jl_show_cost(struct jl_doc *doc, const struct jl_show_cost *in);
/* The end of a cost study: sources, assumptions, caveats. */
void jl_show_cost_notes(struct jl_doc *doc, const struct jl_show_cost *in);

/* Reason for the general tariff instead of the household one; nothing if not applied. */
void jl_show_contract(struct jl_doc *doc, const struct jl_cost_study *study);

/* Yearly electricity bills of a machine. */
void jl_show_machine_bill(struct jl_doc *doc, const struct jl_machine_bill *bill, const struct jl_cost_study *study,
			  long today);

/* The tariff, its source and the age of its rates. */
void jl_show_tariff(struct jl_doc *doc, const char *tariff, const char *newer, const char *date, const char *source,
		    long today);

/* One month's electricity bill. */
void jl_show_bill(struct jl_doc *doc, const struct jl_bill_asked *asked, long today);
