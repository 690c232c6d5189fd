/* The score card: docs/SCORECARD.md, one plot a set, and the history of releases. Makes texts; writes no files. */
#pragma once

#include "score/validate.h"

struct jl_scorecard {
	const char *version;
	const struct jl_validation *by_source; /* each row without its source: the headline */
	const struct jl_validation *by_group;  /* without its group; has the same lines */
	const struct jl_validation *by_code;   /* ... without its codebase */
	const struct jl_validation *shipped;   /* the shipped parameters on the same rows; the same lines */
};

/* The page; `history` is the text of jl_scorecard_history. Links its plots as scorecard/<set>.svg. */
enum jl_status jl_scorecard_markdown(struct jl_buf *out, const struct jl_scorecard *card, const char *history,
				     struct jl_err *err);

/* Predicted against measured, both logarithmic: readable on light and on dark pages. False where nothing is scored. */
bool jl_scorecard_svg(struct jl_buf *out, const struct jl_validate_line *line);

/* The old history (CSV text; "" for none) with this version's scores behind it, or in place of its earlier ones. */
enum jl_status jl_scorecard_history(struct jl_buf *out, const struct jl_scorecard *card, const char *old,
				    struct jl_err *err);

/* Goals of the project; NAN: none. */
struct jl_goal {
	const char *set;
	double median, p90;
};
