/* Writes the sections of a report. */
#include "report/report.h"

#include <string.h>

#include "notes/claims.h"
#include "report/section_answers.h"
#include "build/answer.h"
#include "catalog/find.h"
#include "topics/claims.h"
#include "topics/cost.h"

/* Checks a scenario's parts lists by the rules of the catalog. */
static enum jl_status builds(struct jl_section *s, struct jl_err *err)
{
	const struct jl_yaml *list = s->w->scenario->builds;
	enum jl_status status = JL_OK;

	if (!list)
		return JL_OK;
	if (list->kind != JL_YAML_LIST)
		return jl_fail_at(err, JL_E_PARSE, &list->where, "builds: a list of parts lists");
	jl_section_open(s, "builds", "Builds");
	for (const struct jl_yaml *item = list->items; !status && item; item = item->next) {
		struct jl_rig rig;
		struct jl_part_findings *found = jl_arena_alloc(s->arena, sizeof *found);

		JL_TRY(jl_got(found, err));
		if ((status = jl_rig_read(&rig, item, s->w->cat, s->arena, err)))
			break;
		jl_rig_check(found, &rig, s->w->cat);
		jl_show_build(s->doc, &(struct jl_build_answer){ &rig, found }, false);
	}
	return status;
}

static void cost(struct jl_section *s)
{
	if (!s->w->study)
		return;
	jl_section_open(s, "cost", "Cost over time");
	jl_show_cost(s->doc, &(struct jl_show_cost){ .study = s->w->study,
						     .cat = s->w->cat,
						     .today = s->w->today,
						     .no_chart = jl_section_is_charted(s, "cost") });
}

static const struct jl_goodput *in_own_money(struct jl_section *s, const struct jl_goodput *of)
{
	struct jl_goodput *g = jl_arena_alloc(s->arena, sizeof(*g));

	if (!g)
		return of;
	*g = *of;
	g->ask.today = s->w->today;
	if (jl_lang_is("ko")) {
		g->ask.krw_per_usd = jl_figure(s->w->cat, "krw-per-usd");
		g->ask.fx_date = jl_rule_by_id(s->w->cat, "krw-per-usd")->date;
	}
	return g;
}

/* Time that failures, checkpoints and restarts add to the run: in full for the advised system; a table if there are several systems. */
static void goodput(struct jl_section *s)
{
	const struct jl_scenario_results *w = s->w;

	if (!w->goodput)
		return;
	jl_section_open(s, "goodput", "The run with failures, checkpoints and restarts");
	jl_show_goodput(s->doc, in_own_money(s, w->goodput), NULL);
	for (size_t i = 0; w->n_goodputs > 1 && i < w->n_goodputs; i++)
		jl_show_goodput_row(s->doc, in_own_money(s, w->goodputs[i]), i == 0);
}

void jl_chart_cost(struct jl_section *s, const struct jl_scenario_question *q)
{
	(void)q;
	if (s->w->study)
		jl_show_cost_chart(s->doc, s->w->study);
}

const struct jl_notes *jl_section_notes(const struct jl_section *s)
{
	return s->w->compare                               ? &s->w->compare->notes
	       : s->w->advised && s->w->advised->predicted ? &s->w->advised->how.notes
							   : NULL;
}

static void assumed(struct jl_section *s)
{
	const struct jl_notes *list = jl_section_notes(s);

	if (!list || !list->n)
		return;
	jl_section_open(s, "assumed", "Assumed where nothing was given");
	for (size_t i = 0; i < list->n; i++) {
		jl_doc_item(s->doc);
		jl_doc_code(s->doc, list->items[i].key ? list->items[i].key : "");
		jl_doc_text(s->doc, " ");
		jl_doc_sourced(s->doc, list->items[i].text, JL_ESTIMATED, JL_METHOD);
	}
}

static enum jl_status claims(struct jl_section *s, struct jl_err *err)
{
	struct jl_claims_audit *audit;

	if (!s->w->scenario->claims || !jl_scenario_wants(s->w->scenario, "claims"))
		return JL_OK;
	if (!(audit = jl_arena_alloc(s->arena, sizeof *audit)))
		return jl_fail_nomem(err);
	JL_TRY(jl_claims_audit_make(audit, s->w->scenario, s->w->cat, s->arena, s->w->today, err));
	jl_section_open(s, "claims", "What the text claims");
	jl_show_claims_in_short(s->doc, audit);
	return JL_OK;
}

/* Default order: comparison, behaviour, costs, composition, methods. */
static const struct {
	const char *name;
	void (*write)(struct jl_section *s);
	/* for sections whose input may contain errors */
	enum jl_status (*try)(struct jl_section *s, struct jl_err *err);
} sections[] = {
	{ "training", jl_section_train, NULL },
	{ "comparison", jl_section_comparison, NULL },
	{ "scaling", jl_section_scaling, NULL },
	{ "time", jl_section_time, NULL },
	{ "memory", jl_section_memory, NULL },
	{ "allreduce", jl_section_allreduce, NULL },
	{ "cost", cost, NULL },
	{ "goodput", goodput, NULL },
	{ "pareto", jl_section_pareto, NULL },
	{ "recommend", jl_section_recommend, NULL },
	{ "builds", NULL, builds },
	{ "claims", NULL, claims },
	{ "specifications", jl_section_specifications, NULL },
	{ "topology", jl_section_topology, NULL },
	{ "findings", assumed, NULL },
	{ "origins", jl_section_origins, NULL },
	{ "method", jl_section_method, NULL },
};
#define N_SECTIONS (JL_LEN(sections))

static const char *default_title(const struct jl_report_in *in)
{
	return in->machine ? JL_C("title", "This machine") : JL_("GPU systems compared");
}

static enum jl_status write_one(struct jl_section *s, size_t i, unsigned *done, struct jl_err *err)
{
	if ((*done & 1u << i) || !jl_scenario_wants(s->w->scenario, sections[i].name))
		return JL_OK;
	*done |= 1u << i;
	if (sections[i].try)
		return sections[i].try(s, err);
	sections[i].write(s);
	return JL_OK;
}

/* Writes sections that a question refers to before the others. */
static enum jl_status write_all(struct jl_section *s, struct jl_err *err)
{
	const struct jl_scenario *scenario = s->w->scenario;
	enum jl_status status = JL_OK;
	unsigned done = 0;

	if (jl_scenario_wants(scenario, "summary"))
		jl_section_first(s);
	jl_section_machine(s);
	for (size_t k = 0; k < scenario->n_questions && !status; k++) {
		const struct jl_answerer *how = jl_answerer_of(scenario->questions[k].ask);

		for (size_t i = 0; how && i < N_SECTIONS && !status; i++)
			if (strcmp(sections[i].name, how->section) == 0)
				status = write_one(s, i, &done, err);
	}
	for (size_t i = 0; i < N_SECTIONS && !status; i++)
		status = write_one(s, i, &done, err);
	return status;
}

enum jl_status jl_report_make(struct jl_doc *ret_doc, const struct jl_report_in *in, struct jl_err *err)
{
	struct jl_scenario_results *w = jl_arena_alloc(in->arena, sizeof *w);
	struct jl_section s = { .doc = ret_doc, .in = in, .arena = in->arena, .w = w };
	const char *title = jl_words_in(in->scenario->title);

	JL_TRY(jl_got(w, err));
	JL_TRY(jl_compute_scenario(w, in->scenario, in->cat, in->arena, in->today, err));
	jl_doc_init(ret_doc, in->arena, title ? title : default_title(in));
	ret_doc->subtitle = jl_words_in(in->scenario->subtitle);
	ret_doc->date = jl_arena_strdup(in->arena, jl_date_text(JL_TXT, in->today));
	JL_TRY(write_all(&s, err));
	jl_doc_resolve(ret_doc);
	if (ret_doc->failed)
		return jl_fail(err, ret_doc->failed, "the report is too large");
	return JL_OK;
}
