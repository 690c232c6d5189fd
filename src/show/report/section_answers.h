/* Answers of the first screen, in sentences with figures. */
#pragma once

#include "predict/narrow.h"
#include "report/section.h"

struct jl_answer {
	bool said;         /* false: no answer, nothing was written */
	enum jl_mark mark; /* for yes/no questions; JL_MARK_NONE: the answer is a quantity */
	const char *title; /* default title */
};

typedef struct jl_answer jl_answer_writer(struct jl_section *s, const struct jl_scenario_question *q);
/* section_answers_run.c, section_answers_money.c, section_recommend.c */
extern jl_answer_writer jl_answer_scaling, jl_answer_why, jl_answer_do, jl_answer_helps, jl_answer_rent,
	jl_answer_cheapest, jl_answer_sound, jl_answer_best;

/* A kind of question. */
struct jl_answerer {
	const char *ask;
	jl_answer_writer *write;
	const char *section;     /* section with details */
	jl_section_chart *chart; /* its chart; NULL: none */
	const char *needs_en;    /* input that is required for an answer */
};
const struct jl_answerer *jl_answerer_of(const char *ask); /* NULL: unknown kind */

/* Writes question and answer, or the missing input. */
void jl_answer_question(struct jl_section *s, const struct jl_scenario_question *q);
/* Writes an answer to a question that was not asked; false: none. */
bool jl_answer_unasked(struct jl_section *s, const struct jl_scenario_question *q);
void jl_answer_amiss(struct jl_section *s); /* reports impossible or low measurements */

/* True if the question names this system or none. */
bool jl_answer_about(const struct jl_section *s, const struct jl_scenario_question *q,
		     const struct jl_system_result *system);
/* section_actions.c: at most three actions with gain, cost and effort. */
void jl_section_actions(struct jl_section *s);

/* section_machine.c: this machine on the first screen. */
void jl_first_machine(struct jl_section *s);

/* The system that a question is mainly about: the named one, otherwise the fastest besides the baseline; NULL: none. */
const struct jl_system_result *jl_answer_subject(const struct jl_section *s, const struct jl_scenario_question *q);
/* This machine among the report's systems; NULL: not included. */
const struct jl_system_result *jl_this_system(const struct jl_section *s);
