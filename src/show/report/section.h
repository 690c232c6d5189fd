/* Internals that the sections of a report share. */
#pragma once

#include "report/report.h"
#include "scenario/results.h"
#include "topics/show.h"

struct jl_section {
	struct jl_doc *doc;
	const struct jl_scenario_results *w;
	const struct jl_report_in *in;
	struct jl_arena *arena;
	const char *charted; /* section whose chart is on the first screen; NULL: none */
};

struct jl_num jl_num_measured(double value, enum jl_kind kind, const char *unit,
			      const struct jl_scenario_measured *measured);
/* Listed memory of one device. */
struct jl_num jl_num_capacity(const struct jl_system_result *system);

const struct jl_notes *jl_section_notes(const struct jl_section *s); /* assumptions; NULL: nothing was predicted */
/* a section below the first screen, collapsible */
void jl_section_open(struct jl_section *s, const char *id, const char *en);
bool jl_section_is_charted(const struct jl_section *s, const char *id);

const char *jl_system_name(const struct jl_system_result *system);
const char *jl_mode_name(const char *mode); /* e.g. "DDP", "ZeRO-2", "as planned" */

/* Marks the point as measured, with source and date; NULL: not measured. */
void jl_point_measured(struct jl_chart_point *point, const struct jl_scenario_measured *measured);

typedef void jl_section_writer(struct jl_section *s);
/* First screen: questions with answers, one chart, actions, unknowns. */
extern jl_section_writer jl_section_first;
/* Further sections; each writes nothing if its facts are missing. */
extern jl_section_writer jl_section_machine, jl_section_specifications, jl_section_comparison, jl_section_pareto,
	jl_section_recommend, jl_section_train, jl_section_scaling, jl_section_time, jl_section_memory,
	jl_section_allreduce, jl_section_topology, jl_section_origins, jl_section_method;

typedef void jl_section_chart(struct jl_section *s, const struct jl_scenario_question *q);
extern jl_section_chart jl_chart_comparison, jl_chart_scaling, jl_chart_time, jl_chart_memory, jl_chart_allreduce,
	jl_chart_cost, jl_chart_pareto, jl_chart_recommend;

/* A catalog source with its address, or the source as stated. */
void jl_section_source(struct jl_section *s, const struct jl_doc_source *source);

/* Mark of a measured all-reduce compared with the expected range. */
enum jl_mark jl_reduce_verdict(const struct jl_reduce_result *r);
