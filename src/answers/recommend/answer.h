/* A recommendation as it is answered: what was asked, what was found, and the candidates that are named. */
#pragma once

#include "base/fields.h"
#include "recommend/recommend.h"

struct jl_recommend_row {
	struct jl_candidate c;
	struct jl_setup s; /* of c */
	const struct jl_recommend_ask *ask;
	struct jl_reason_text why; /* reason of its place; empty: none */
	struct jl_caveat caveats[JL_CAVEATS_MAX];
	size_t n_caveats;
};

struct jl_recommended {
	const struct jl_recommend_ask *ask;
	const struct jl_recommendation *found;
	const struct jl_purpose *purpose; /* NULL: none named */
	double krw_per_usd;               /* amounts are shown in won; NAN: in dollars */
	double fx;                        /* won for one dollar, and of which day */
	const char *fx_date;
	bool assumed_kwh;
	int why_not; /* the candidate whose place is to be explained; -1: none */
	int limit;   /* rows of the table */
	const struct jl_recommend_row *pick, *nearest, *best[JL_N_HOW];        /* NULL: none */
	const struct jl_recommend_row *runner_up, *cheapest, *fastest, *asked; /* asked: of why_not */
	struct jl_recommend_row *front, *rejected;
	size_t n_front, n_rejected;
};

/* Fills the rows from `ask` and `found`. */
enum jl_status jl_recommend_answer(struct jl_recommended *io_answer, struct jl_arena *arena, struct jl_err *err);

/* Rows from cheap to fast, with the pick and the fastest; drops small steps until the limit holds. Returns the count. */
size_t jl_recommend_thin(const struct jl_recommendation *recommendation, size_t max, int *ret_rows);

extern const struct jl_schema jl_recommend_fields;
