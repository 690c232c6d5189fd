/* The answers of the summary. */
#pragma once

#include "report/section.h"

struct jl_answer {
	enum jl_mark mark; /* JL_MARK_NONE: cannot be answered, nothing was written */
	const char *title; /* where nobody asked */
};

/* With the question as its heading; says what would be needed where the facts do not answer it. */
void jl_answer_question(struct jl_section *s, const struct jl_scenario_question *q);
/* The same unasked; false: nothing to say. */
bool jl_answer_unasked(struct jl_section *s, const struct jl_scenario_question *q);

/* section_answers_run.c */
struct jl_answer jl_answer_scaling(struct jl_section *s, const struct jl_scenario_question *q);
struct jl_answer jl_answer_why(struct jl_section *s, const struct jl_scenario_question *q);
struct jl_answer jl_answer_do(struct jl_section *s, const struct jl_scenario_question *q);
struct jl_answer jl_answer_helps(struct jl_section *s, const struct jl_scenario_question *q);
/* Is the question about this system? */
bool jl_answer_about(const struct jl_section *s, const struct jl_scenario_question *q,
		     const struct jl_weighed_system *system);

/* section_recommend.c */
struct jl_answer jl_answer_best(struct jl_section *s, const struct jl_scenario_question *q);

/* The system of the report that is this machine; NULL: none. */
const struct jl_weighed_system *jl_this_system(const struct jl_section *s);
