/* Where every number of the report comes from, and how wrong the program is known to be. */
#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "report/section.h"

#define SOURCES_MAX 64

extern const unsigned char jl_scorecard_text[];
extern const size_t jl_scorecard_text_len;

struct source {
	enum jl_origin origin;
	const char *source, *date;
	size_t n;
};

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void count(struct source *list, size_t *n, const struct jl_num *num)
{
	size_t i = 0;

	if (isnan(num->value))
		return;
	while (i < *n &&
	       !(list[i].origin == num->origin && same(list[i].source, num->source) && same(list[i].date, num->date)))
		i++;
	if (i == *n && *n < SOURCES_MAX)
		list[(*n)++] = (struct source){ .origin = num->origin, .source = num->source, .date = num->date };
	if (i < *n)
		list[i].n++;
}

static void count_runs(struct source *list, size_t *n, const struct jl_run *run)
{
	for (; run; run = run->next)
		if (run->kind == JL_RUN_NUM)
			count(list, n, &run->num);
}

static const char *origin_name(enum jl_origin origin)
{
	switch (origin) {
	case JL_MEASURED: return JL_("measured");
	case JL_PUBLISHED: return JL_("published");
	case JL_LISTED: return JL_("listed");
	case JL_ESTIMATED: return JL_("estimated");
	case JL_ORIGIN_NONE: break;
	}
	return JL_("given");
}

void jl_section_origins(struct jl_section *s)
{
	static const struct jl_tell_head heads[] = { { JL_N("Origin"), false },
						     { JL_N("Source"), false },
						     { JL_N("As of"), false },
						     { JL_N("Numbers"), true } };
	static const enum jl_origin order[] = { JL_MEASURED, JL_PUBLISHED, JL_LISTED, JL_ESTIMATED, JL_ORIGIN_NONE };
	struct source list[SOURCES_MAX];
	size_t n = 0;

	for (const struct jl_doc_block *b = s->doc->blocks; b; b = b->next) {
		count_runs(list, &n, b->runs);
		for (const struct jl_doc_row *row = b->rows; row; row = row->next)
			for (const struct jl_doc_cell *cell = row->cells; cell; cell = cell->next)
				count_runs(list, &n, cell->runs);
	}
	jl_section_open(s, "origins", "Where the numbers come from");
	jl_tell_table(s->doc, NULL, heads, 4);
	for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
		for (size_t i = 0; i < n; i++) {
			if (list[i].origin != order[k])
				continue;
			jl_doc_cell(s->doc, JL_MARK_NONE);
			jl_doc_textf(s->doc, "%s%s%s", order[k] ? jl_origin_mark(order[k]) : "", order[k] ? " " : "",
				     origin_name(order[k]));
			jl_doc_cell_name(s->doc, list[i].source               ? list[i].source
						 : order[k] == JL_ORIGIN_NONE ? JL_("this scenario")
									      : "—");
			jl_doc_cell_name(s->doc, list[i].date ? list[i].date : "—");
			jl_tell_cell(s->doc, jl_num_plain((double)list[i].n, JL_K_NUMBER, NULL, JL_ORIGIN_NONE, NULL));
			jl_doc_end_row(s->doc, false);
		}
}

static const char *set_name(const char *set)
{
	static const struct {
		const char *set, *en;
	} names[] = {
		{ "gemm_membw", JL_N("matrix products, memory") },
		{ "collectives", JL_N("collectives") },
		{ "train_llm", JL_N("LLM training") },
		{ "train_vtrain", JL_N("LLM training, one cluster") },
		{ "train_own", JL_N("our own runs") },
		{ "train_other", JL_N("other training") },
		{ "infer_llm", JL_N("LLM inference") },
		{ "serve_silicon", JL_N("LLM serving") },
		{ "power", JL_N("power") },
		{ "memory", JL_N("memory") },
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i].set, set) == 0)
			return jl_msg(names[i].en);
	return set;
}

static struct jl_num score(double value, enum jl_kind kind)
{
	struct jl_num num = jl_num_plain(value, kind, NULL, JL_MEASURED, "docs/SCORECARD.md");

	num.n_digits = kind == JL_K_FRACTION ? 2 : 4;
	return num;
}

/* Rows of the last release in the history, held out. */
static void score_rows(struct jl_section *s, struct jl_csv *csv)
{
	const size_t mode = jl_csv_find(csv, "mode"), set = jl_csv_find(csv, "set"),
		     scored = jl_csv_find(csv, "scored"), median = jl_csv_find(csv, "median_abs_ln"),
		     p90 = jl_csv_find(csv, "p90_abs_ln"), inside = jl_csv_find(csv, "coverage80");
	struct jl_err ignored;
	bool more = false;

	while (jl_csv_next(csv, &more, &ignored) == JL_OK && more) {
		double values[4] = { NAN, NAN, NAN, NAN };

		if (strcmp(jl_csv_text(csv, mode), "source-out") != 0 ||
		    jl_csv_number(csv, scored, &values[0], &ignored) ||
		    jl_csv_number(csv, median, &values[1], &ignored) || jl_csv_number(csv, p90, &values[2], &ignored) ||
		    jl_csv_number(csv, inside, &values[3], &ignored))
			continue;
		jl_doc_cell_text(s->doc, set_name(jl_csv_text(csv, set)));
		jl_tell_cell(s->doc, score(values[0], JL_K_NUMBER));
		jl_tell_cell(s->doc, score(expm1(values[1]), JL_K_FRACTION));
		jl_tell_cell(s->doc, score(expm1(values[2]), JL_K_FRACTION));
		jl_tell_cell(s->doc, score(values[3], JL_K_FRACTION));
		jl_doc_end_row(s->doc, false);
	}
}

void jl_section_method(struct jl_section *s)
{
	static const struct jl_tell_head heads[] = { { JL_N("Published measurements of"), false },
						     { JL_N("Scored"), true },
						     { JL_N("Typical error"), true },
						     { JL_N("Nine of ten below"), true },
						     { JL_N("Inside the interval"), true } };
	struct jl_csv csv;
	struct jl_err ignored;

	jl_section_open(s, "method", "Method and how wrong it is");
	jl_doc_para(s->doc);
	JL_SAY(s, "Estimates come from a physical model of kernels, links and memory (docs/METHOD.md). Intervals are "
		  "meant to hold four "
		  "times out of five. Below is how far predictions were off on published measurements that the fit had "
		  "not seen, nor any other of the same source.");
	if (jl_csv_open(&csv, (const char *)jl_scorecard_text, jl_scorecard_text_len, ',', "scorecard", &ignored))
		return;
	jl_tell_table(s->doc, NULL, heads, 5);
	score_rows(s, &csv);
	jl_csv_release(&csv);
	jl_doc_para(s->doc);
	JL_SAY(s, "Marks: ● measured, ◆ published, ◇ listed, ○ estimated. Numbers without a mark were given.");
}
