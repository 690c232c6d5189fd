/* The answers of the first screen: sentences, each with its figure. */
#pragma once

#include "predict/narrow.h"
#include "report/section.h"

struct jl_answer {
	bool said;         /* false: cannot be answered, nothing was written */
	enum jl_mark mark; /* for yes-or-no questions; JL_MARK_NONE: a quantity is asked for */
	const char *title; /* default title */
};

typedef struct jl_answer jl_answer_writer(struct jl_section *s, const struct jl_scenario_question *q);
/* section_answers_run.c, section_answers_money.c, section_recommend.c */
extern jl_answer_writer jl_answer_scaling, jl_answer_why, jl_answer_do, jl_answer_helps, jl_answer_rent,
	jl_answer_cheapest, jl_answer_sound, jl_answer_best;

/* How a kind of question is answered. */
struct jl_answerer {
	const char *ask;
	jl_answer_writer *write;
	const char *section;     /* where more is said */
	jl_section_chart *chart; /* of it; NULL: none */
	const char *needs_en;    /* input that would make it answerable */
};
const struct jl_answerer *jl_answerer_of(const char *ask); /* NULL: no such kind */

/* With the question as its heading; says what would be needed where the facts do not answer it. */
void jl_answer_question(struct jl_section *s, const struct jl_scenario_question *q);
/* The answer where no question was asked; false: none. */
bool jl_answer_unasked(struct jl_section *s, const struct jl_scenario_question *q);
void jl_answer_amiss(struct jl_section *s); /* what was measured and cannot be right */

/* True where the question names this system, or none. */
bool jl_answer_about(const struct jl_section *s, const struct jl_scenario_question *q,
		     const struct jl_system_result *system);
/* section_actions.c: at most three things to do, each with what it gains, what it costs and how much work it is. */
void jl_section_actions(struct jl_section *s);

/* section_machine.c: this machine on the first screen. */
void jl_first_machine(struct jl_section *s);

/* The system that a question is about first: the one that is named, else the fastest beside the baseline; NULL: none. */
const struct jl_system_result *jl_answer_subject(const struct jl_section *s, const struct jl_scenario_question *q);
/* The system of the report that is this machine; NULL: none. */
const struct jl_system_result *jl_this_system(const struct jl_section *s);
