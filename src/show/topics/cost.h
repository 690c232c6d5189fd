/* Buy or rent: when buying pays, what has been paid by when, what moves it, where the prices come from. */
#pragma once

#include "cost/study.h"
#include "topics/show.h"

struct jl_show_cost {
	const struct jl_cost_study *study;
	const struct jl_catalog *cat;
	long today;                 /* prices age */
	bool command;               /* options that would say it otherwise are named */
	const char *const *options; /* of the command; NULL: unknown */
	bool no_chart;              /* it stands elsewhere */
};

void jl_show_cost_chart(struct jl_doc *doc, const struct jl_cost_study *study);

void jl_show_cost(struct jl_doc *doc, const struct jl_show_cost *in);
/* The end of a cost study: sources, assumptions, caveats. */
void jl_show_cost_notes(struct jl_doc *doc, const struct jl_show_cost *in);

/* Why the general tariff is taken for a household's; nothing where it is not. */
void jl_show_contract(struct jl_doc *doc, const struct jl_cost_study *study);

/* What a machine adds to the bills of a year. */
void jl_show_machine_bill(struct jl_doc *doc, const struct jl_machine_bill *bill, const struct jl_cost_study *study,
			  long today);

/* The tariff, its source and how old its rates are. */
void jl_show_tariff(struct jl_doc *doc, const char *tariff, const char *newer, const char *date, const char *source,
		    long today);

/* One month's electricity bill. */
void jl_show_bill(struct jl_doc *doc, const struct jl_bill_asked *asked, long today);
