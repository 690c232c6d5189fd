/* What a person sees of `jeoul recommend`. */
#pragma once

#include "cli/command.h"
#include "recommend/recommend.h"

struct jl_recommend_page {
	const struct jl_recommend_ask *ask;
	const struct jl_recommendation *result;
	const struct jl_purpose *purpose; /* NULL: none named */
	double krw_per_usd;               /* amounts are told in won; NAN: in dollars */
	double fx;                        /* won for one dollar, and of which day */
	const char *fx_date;
	bool assumed_kwh;
	const char *why_not; /* a system whose place is to be explained; NULL: none */
	int limit;           /* rows of the table */
};

enum jl_status jl_view_recommend(struct jl_cli *cli, const struct jl_recommend_page *page, struct jl_err *err);
void jl_view_recommend_json(struct jl_cli *cli, const struct jl_recommend_page *page);
