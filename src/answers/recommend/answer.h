/* The answer of recommend: the question, the result, and the candidates to be shown. */
#pragma once

#include "base/fields.h"
#include "recommend/recommend.h"

struct jl_recommend_row {
	struct jl_candidate c;
	struct jl_setup s; /* copy of the setup of c */
	const struct jl_recommend_ask *ask;
	struct jl_reason_text why; /* reason for its place; empty: none */
	struct jl_caveat caveats[JL_CAVEATS_MAX];
	size_t n_caveats;
};

struct jl_recommended {
	const struct jl_recommend_ask *ask;
	const struct jl_recommendation *found;
	const struct jl_purpose *purpose; /* NULL: none named */
	double krw_per_usd;               /* NAN: amounts are shown in dollars */
	double fx;                        /* exchange rate and its date */
	const char *fx_date;
	bool assumed_kwh;
	int why_not;                                                           /* candidate of --why-not; -1: none */
	int limit;                                                             /* maximum number of table rows */
	const struct jl_recommend_row *pick, *nearest, *best[JL_N_HOW];        /* NULL: none */
	const struct jl_recommend_row *runner_up, *cheapest, *fastest, *asked; /* asked: candidate of --why-not */
	struct jl_recommend_row *front, *rejected;
	size_t n_front, n_rejected;
};

/* Fills the rows from `ask` and `found`. */
enum jl_status jl_recommend_answer(struct jl_recommended *io_answer, struct jl_arena *arena, struct jl_err *err);

/* Selects at most `max` rows from cheap to fast, including the pick and the fastest; leaves out rows that are hardly faster than the previous
 * one. Returns the count. */
size_t jl_recommend_thin(const struct jl_recommendation *recommendation, size_t max, int *ret_rows);

extern const struct jl_schema jl_recommend_fields;
