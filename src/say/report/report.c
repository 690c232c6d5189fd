#include "report/report.h"


#include "audit/claims.h"
#include "report/section.h"

/* In the order that they are read: the answer first, then why, what to do, how sure. */
static const struct {
	const char *name;
	void (*write)(struct jl_section *s);
} sections[] = {
	{ "summary", jl_section_summary },
	{ "specifications", jl_section_specifications },
	{ "comparison", jl_section_comparison },
	{ "scaling", jl_section_scaling },
	{ "time", jl_section_time },
	{ "memory", jl_section_memory },
	{ "allreduce", jl_section_allreduce },
	{ "cost", jl_section_cost },
	{ "pareto", jl_section_pareto },
	{ "recommend", jl_section_recommend },
	{ "topology", jl_section_topology },
};

static const struct {
	const char *name;
	void (*write)(struct jl_section *s);
} last_sections[] = {
	{ "findings", jl_section_findings },
	{ "origins", jl_section_origins },
	{ "method", jl_section_method },
};

static const char *default_title(const struct jl_report_in *in)
{
	return in->machine ? JL_C("title", "This machine") : JL_("GPU systems compared");
}

/* What the scenario's text claims, reckoned again. */
static enum jl_status claims(struct jl_section *s, struct jl_err *err)
{
	struct jl_audit *audit;
	enum jl_status status;

	if (!s->w->scenario->claims || !jl_scenario_wants(s->w->scenario, "claims"))
		return JL_OK;
	if (!(audit = jl_arena_alloc(s->arena, sizeof *audit)))
		return jl_fail_nomem(err);
	if ((status = jl_audit_make(audit, s->w->scenario, s->w->cat, s->arena, s->w->today, err)))
		return status;
	jl_section_open(s, "claims", "What the text claims");
	jl_audit_to_doc(s->doc, audit, false);
	return JL_OK;
}

static enum jl_status write_all(struct jl_section *s, struct jl_err *err)
{
	const struct jl_scenario *scenario = s->w->scenario;
	enum jl_status status = JL_OK;

	for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
		if (jl_scenario_wants(scenario, sections[i].name))
			sections[i].write(s);
		if (i == 0) {
			jl_section_machine(s);
			if (jl_scenario_wants(scenario, "training"))
				jl_section_train(s);
		}
	}
	if (jl_scenario_wants(scenario, "builds"))
		status = jl_section_builds(s, err);
	if (!status)
		status = claims(s, err);
	for (size_t i = 0; !status && i < sizeof last_sections / sizeof last_sections[0]; i++)
		if (jl_scenario_wants(scenario, last_sections[i].name))
			last_sections[i].write(s);
	return status;
}

enum jl_status jl_report_make(struct jl_doc *ret_doc, const struct jl_report_in *in, struct jl_err *err)
{
	struct jl_weighed *w = jl_arena_alloc(in->arena, sizeof *w);
	struct jl_section s = { .doc = ret_doc, .in = in, .arena = in->arena, .w = w };
	const char *title = jl_words_in(in->scenario->title);
	char day[JL_DATE_TEXT_MAX];
	enum jl_status status;

	if (!w)
		return jl_fail_nomem(err);
	if ((status = jl_weigh(w, in->scenario, in->cat, in->arena, in->today, err)))
		return status;
	jl_doc_init(ret_doc, in->arena, title ? title : default_title(in));
	ret_doc->subtitle = jl_words_in(in->scenario->subtitle);
	ret_doc->date = jl_arena_strdup(in->arena, jl_date_text(day, in->today));
	if ((status = write_all(&s, err)))
		return status;
	jl_doc_resolve(ret_doc);
	if (ret_doc->failed)
		return jl_fail(err, ret_doc->failed, "the report is too large");
	return JL_OK;
}
