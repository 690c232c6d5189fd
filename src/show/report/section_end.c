/* Where every number of the report comes from, and how wrong the program is known to be. */
#include <math.h>
#include <string.h>

#include "catalog/find.h"
#include "report/section.h"
#include "score/scorecard.h"

void jl_section_origins(struct jl_section *s)
{
	static const enum jl_origin order[] = { JL_MEASURED, JL_PUBLISHED, JL_LISTED, JL_ESTIMATED, JL_ORIGIN_NONE };
	struct jl_doc_source *list = jl_arena_array(s->arena, JL_DOC_SOURCES_MAX, sizeof *list);
	const size_t n = list ? jl_doc_sources(s->doc, list) : 0;

	jl_section_open(s, "origins", "Where the numbers come from");
	jl_show_table(s->doc, NULL, "ttff", JL_N("Origin|Source|As of|Numbers"));
	for (size_t k = 0; k < JL_LEN(order); k++)
		for (size_t i = 0; i < n; i++) {
			const struct jl_source *listed = list[i].id ? jl_source_by_id(s->w->cat, list[i].id) : NULL;
			const char *date = list[i].date ? list[i].date : listed ? listed->date : NULL;

			if (list[i].origin != order[k])
				continue;
			jl_doc_cell(s->doc, JL_MARK_NONE);
			jl_doc_anchor(s->doc, jl_doc_format(s->doc, "s%zu", i + 1));
			jl_doc_textf(s->doc, "%s%s%s", order[k] ? jl_origin_mark(order[k]) : "", order[k] ? " " : "",
				     jl_origin_word(order[k]));
			jl_doc_cell(s->doc, JL_MARK_NONE);
			jl_section_source(s, &list[i]);
			JL_ROW(s->doc, false, JL_NAMED(date ? date : "—"), JL_COUNT(list[i].n));
		}
	s->doc->sources = list;
	s->doc->n_sources = n;
}

/* Sets of published measurements that support each topic of the report. */
enum { TRAIN = 1, REDUCE = 2, SERVE = 4, DEVICE = 8, MONEY = 16 };

static const struct {
	const char *set, *en;
	unsigned about;
} sets[] = {
	{ "gemm_membw", JL_N("matrix products, memory"), TRAIN | DEVICE },
	{ "collectives", JL_N("collectives"), TRAIN | REDUCE },
	{ "train_llm", JL_N("LLM training"), TRAIN },
	{ "train_vtrain", JL_N("LLM training, one cluster"), TRAIN },
	{ "train_own", JL_N("our own runs"), TRAIN },
	{ "train_other", JL_N("other training"), TRAIN },
	{ "infer_llm", JL_N("LLM inference"), SERVE },
	{ "serve_silicon", JL_N("LLM serving"), SERVE },
	{ "power", JL_N("power"), TRAIN | MONEY },
	{ "memory", JL_N("memory"), TRAIN | SERVE },
};

static unsigned about(const struct jl_section *s)
{
	const bool serves = s->w->found_ask && s->w->found_ask->task == JL_TASK_SERVE;

	return (s->w->has_model || s->w->compare ? TRAIN : 0) | (s->w->n_reduce ? REDUCE : 0) | (serves ? SERVE : 0) |
	       (s->in->machine ? DEVICE : 0) | (s->w->study ? MONEY : 0);
}

/* Name of a validation set; NULL: it does not concern this report. */
static const char *set_name(const struct jl_section *s, const char *set)
{
	for (size_t i = 0; i < JL_LEN(sets); i++)
		if (strcmp(sets[i].set, set) == 0)
			return sets[i].about & about(s) ? jl_msg(sets[i].en) : NULL;
	return NULL;
}

static struct jl_num score(double value, enum jl_kind kind)
{
	struct jl_num num = jl_num_plain(value, kind, NULL, JL_MEASURED, "docs/SCORECARD.md");

	num.n_digits = kind == JL_K_FRACTION ? 2 : 4;
	return num;
}

void jl_section_method(struct jl_section *s)
{
	struct jl_unseen *unseen = jl_arena_array(s->arena, JL_UNSEEN_MAX, sizeof *unseen);
	const size_t n = unseen ? jl_scorecard_unseen(unseen, s->arena) : 0;

	jl_section_open(s, "method", "Method and how wrong it is");
	jl_doc_para(s->doc);
	JL_SHOW(s->doc, "Estimates come from a physical model of kernels, links and memory (docs/METHOD.md). The table "
			"shows its errors on published measurements whose source was excluded from the fit.");
	jl_show_table(s->doc, NULL, "tffff",
		      JL_N("Published measurements of|Scored|Typical error|90 % are below|Inside the interval"));
	for (size_t i = 0; i < n; i++) {
		const struct jl_unseen *u = &unseen[i];
		const char *name = set_name(s, u->set);

		if (name)
			JL_ROW(s->doc, false, JL_WORD(name), JL_FIG(score(u->n_scored, JL_K_NUMBER)),
			       JL_FIG(score(expm1(u->median_abs_ln), JL_K_FRACTION)),
			       JL_FIG(score(expm1(u->p90_abs_ln), JL_K_FRACTION)),
			       JL_FIG(score(u->coverage_frac, JL_K_FRACTION)));
	}
}
