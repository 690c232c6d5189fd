/* Inside the report: what its sections share. */
#pragma once

#include "report/report.h"
#include "scenario/weigh.h"
#include "tell/tell.h"

struct jl_section {
	struct jl_doc *doc;
	const struct jl_weighed *w;
	const struct jl_report_in *in;
	struct jl_arena *arena;
	const char *charted; /* the section whose chart stands on the first screen; NULL: none does */
};

/* Text in the language of the report, into what is open. */
#define JL_SAY(s, en) jl_doc_text((s)->doc, JL_(en))

struct jl_num jl_num_measured(double value, enum jl_kind kind, const char *unit,
			      const struct jl_scenario_measured *measured);
/* Memory of one device, as it is listed. */
struct jl_num jl_num_capacity(const struct jl_weighed_system *system);

void jl_section_open(struct jl_section *s, const char *id, const char *en); /* evidence: it folds */
bool jl_section_is_charted(const struct jl_section *s, const char *id);

const char *jl_system_name(const struct jl_weighed_system *system);
const char *jl_mode_name(const char *mode); /* "DDP", "ZeRO-2", "as planned" */

/* The point is this measurement, with its source and date; NULL: it is not. */
void jl_point_measured(struct jl_chart_point *point, const struct jl_scenario_measured *measured);

/* What a reader sees first: what was asked, each with its answer, one chart, what to do, what is not known. */
void jl_section_first(struct jl_section *s);

/* The sections behind it; each writes nothing where the facts do not allow it. */
void jl_section_machine(struct jl_section *s);
void jl_section_specifications(struct jl_section *s);
void jl_section_comparison(struct jl_section *s);
void jl_section_pareto(struct jl_section *s);
void jl_section_recommend(struct jl_section *s);
void jl_section_train(struct jl_section *s);
void jl_section_scaling(struct jl_section *s);
void jl_section_time(struct jl_section *s);
void jl_section_memory(struct jl_section *s);
void jl_section_allreduce(struct jl_section *s);
void jl_section_topology(struct jl_section *s);
void jl_section_cost(struct jl_section *s);
enum jl_status jl_section_builds(struct jl_section *s, struct jl_err *err);
void jl_section_assumed(struct jl_section *s);
void jl_section_origins(struct jl_section *s);
void jl_section_method(struct jl_section *s);

/* The chart of a section by itself. */
void jl_chart_comparison(struct jl_section *s, const struct jl_scenario_question *q);
void jl_chart_scaling(struct jl_section *s, const struct jl_scenario_question *q);
void jl_chart_time(struct jl_section *s, const struct jl_scenario_question *q);
void jl_chart_memory(struct jl_section *s, const struct jl_scenario_question *q);
void jl_chart_allreduce(struct jl_section *s, const struct jl_scenario_question *q);
void jl_chart_cost(struct jl_section *s, const struct jl_scenario_question *q);
void jl_chart_pareto(struct jl_section *s, const struct jl_scenario_question *q);
void jl_chart_recommend(struct jl_section *s, const struct jl_scenario_question *q);

/* A source of the catalog with its address, or as it was said. */
void jl_tell_source(struct jl_section *s, const struct jl_doc_source *source);

/* Is a measured all-reduce what such a system reaches? */
enum jl_mark jl_reduce_verdict(const struct jl_weighed_reduce *r);
