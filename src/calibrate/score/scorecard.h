/* Scorecard: docs/SCORECARD.md, one plot per set, and the history of releases. Generates texts; writes no files. */
#pragma once

#include "score/validate.h"

struct jl_scorecard {
	const char *version;
	const struct jl_validation *by_source; /* source left out: the headline */
	const struct jl_validation *by_group;  /* group left out; same lines */
	const struct jl_validation *by_code;   /* codebase left out; same lines */
	const struct jl_validation *shipped;   /* shipped parameters (in-sample); same lines */
};

/* The page; `history`: text of jl_scorecard_history. Links plots as scorecard/<set>.svg. */
enum jl_status jl_scorecard_markdown(struct jl_buf *out, const struct jl_scorecard *card, const char *history,
				     struct jl_err *err);

/* Plot of predicted against measured values, log-log, for light and dark pages. False: nothing is scored. */
bool jl_scorecard_svg(struct jl_buf *out, const struct jl_validate_line *line);

/* The old history (CSV text; "": none) with this version's scores appended, or replaced if present. */
enum jl_status jl_scorecard_history(struct jl_buf *out, const struct jl_scorecard *card, const char *old,
				    struct jl_err *err);

/* How wrong this release's card says it is on rows whose source was left out, a set each. */
struct jl_unseen {
	const char *set;
	double n_scored, median_abs_ln, p90_abs_ln, coverage_frac;
};
#define JL_UNSEEN_MAX 64
size_t jl_scorecard_unseen(struct jl_unseen ret_sets[JL_UNSEEN_MAX], struct jl_arena *arena);

/* Goals of the project; NAN: none. */
struct jl_goal {
	const char *set;
	double median, p90;
};
