#include "document/doc.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define TEXT_MAX 4096

void jl_doc_init(struct jl_doc *doc, struct jl_arena *arena, const char *title)
{
	*doc = (struct jl_doc){ .arena = arena };
	doc->title = title ? jl_arena_strdup(arena, title) : NULL;
	if (title && !doc->title)
		doc->failed = JL_E_NOMEM;
}

static struct jl_doc_block *add(struct jl_doc *doc, enum jl_doc_block_kind kind, const char *title)
{
	struct jl_doc_block *block = doc->failed ? NULL : jl_arena_alloc(doc->arena, sizeof *block);

	doc->tail = NULL;
	doc->row_tail = NULL;
	doc->cell_tail = NULL;
	if (!doc->failed && doc->n_blocks >= JL_DOC_BLOCKS_MAX)
		doc->failed = JL_E_LIMIT;
	if (block && title && !(block->title = jl_arena_strdup(doc->arena, title)))
		block = NULL;
	if (!block) {
		doc->failed = doc->failed ? doc->failed : JL_E_NOMEM;
		return NULL;
	}
	block->kind = kind;
	block->gap = doc->gap;
	doc->gap = false;
	if (doc->last)
		doc->last->next = block;
	else
		doc->blocks = block;
	doc->last = block;
	doc->n_blocks++;
	doc->tail = &block->runs;
	return block;
}

static void section(struct jl_doc *doc, const char *id, const char *title, int level)
{
	struct jl_doc_block *block = add(doc, JL_DOC_SECTION, title);

	if (!block)
		return;
	block->id = jl_arena_strdup(doc->arena, id);
	block->level = level;
	doc->tail = NULL;
}

void jl_doc_section(struct jl_doc *doc, const char *id, const char *title)
{
	section(doc, id, title, 2);
}

void jl_doc_subsection(struct jl_doc *doc, const char *id, const char *title)
{
	section(doc, id, title, 3);
}

void jl_doc_open(struct jl_doc *doc, enum jl_doc_block_kind kind, enum jl_mark mark, const char *title)
{
	struct jl_doc_block *block = add(doc, kind, title);

	if (block)
		block->mark = mark;
}

void jl_doc_step(struct jl_doc *doc)
{
	struct jl_doc_block *block = add(doc, JL_DOC_ITEM, NULL);

	if (block)
		block->numbered = true;
}

bool jl_ruler_bounded(const struct jl_ruler *r)
{
	return !isnan(r->bound.value) && r->bound.value < 3 * fmax(r->hi, r->value.value);
}

double jl_ruler_at(const struct jl_ruler *r, double value)
{
	const double least = fmin(r->lo, r->value.value),
		     most = fmax(fmax(r->hi, r->value.value), jl_ruler_bounded(r) ? r->bound.value : 0);
	double at;

	if (least > 0) { /* leaves a tenth of the range free on each side */
		const double span = log(most / least), free_ln = fmax(0.1 * span, 0.02);

		at = value > 0 ? (log(value / least) + free_ln) / (span + 2 * free_ln) : 0;
	} else {
		at = value / (1.02 * most);
	}
	return at > 0 ? fmin(at, 1) : 0;
}

void jl_doc_ruler(struct jl_doc *doc, const struct jl_ruler *ruler)
{
	struct jl_doc_block *block = add(doc, JL_DOC_RULER, NULL);
	struct jl_ruler *copy = block ? jl_arena_alloc(doc->arena, sizeof *copy) : NULL;

	if (!copy) {
		doc->failed = doc->failed ? doc->failed : JL_E_NOMEM;
		return;
	}
	*copy = *ruler;
	block->ruler = copy;
}

void jl_doc_gap(struct jl_doc *doc)
{
	doc->gap = true;
}

void jl_doc_fold(struct jl_doc *doc)
{
	if (!doc->failed && doc->last && doc->last->kind == JL_DOC_SECTION)
		doc->last->fold = true;
}

static void resolve(const struct jl_doc *doc, struct jl_run *run)
{
	for (; run; run = run->next) {
		if (run->kind == JL_RUN_REF)
			run->text = "";
		for (const struct jl_doc_block *b = doc->blocks; run->kind == JL_RUN_REF && b; b = b->next)
			if (b->kind == JL_DOC_SECTION && b->id && run->ref && strcmp(b->id, run->ref) == 0)
				run->text = b->title;
	}
}

void jl_doc_resolve(struct jl_doc *doc)
{
	for (struct jl_doc_block *b = doc->blocks; b; b = b->next) {
		resolve(doc, b->runs);
		for (struct jl_doc_row *row = b->rows; row; row = row->next)
			for (struct jl_doc_cell *cell = row->cells; cell; cell = cell->next)
				resolve(doc, cell->runs);
	}
}

void jl_doc_shorten(struct jl_doc *doc)
{
	struct jl_doc_block **at = &doc->blocks;

	doc->last = NULL;
	doc->n_blocks = 0;
	for (; *at && ((*at)->kind != JL_DOC_SECTION || (*at)->level != 2); at = &(*at)->next) {
		doc->last = *at;
		doc->n_blocks++;
	}
	*at = NULL;
	doc->n_sources = 0; /* they belonged to the removed part */
	jl_doc_resolve(doc);
}

static struct jl_run *add_run(struct jl_doc *doc, enum jl_run_kind kind, const char *text)
{
	struct jl_run *run = doc->failed || !doc->tail ? NULL : jl_arena_alloc(doc->arena, sizeof *run);

	if (run && text && !(run->text = jl_arena_strdup(doc->arena, text)))
		run = NULL;
	if (!run) {
		doc->failed = doc->failed ? doc->failed : JL_E_NOMEM;
		return NULL;
	}
	run->kind = kind;
	*doc->tail = run;
	doc->tail = &run->next;
	return run;
}

void jl_doc_run(struct jl_doc *doc, enum jl_run_kind kind, const char *text, const char *ref)
{
	struct jl_run *run = add_run(doc, kind, text);

	if (run && ref && !(run->ref = jl_arena_strdup(doc->arena, ref)))
		doc->failed = JL_E_NOMEM;
}

void jl_doc_textf(struct jl_doc *doc, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	jl_vformat(text, sizeof text, format, args);
	va_end(args);
	add_run(doc, JL_RUN_TEXT, text);
}

void jl_doc_num(struct jl_doc *doc, const struct jl_num *num)
{
	struct jl_run *run = add_run(doc, JL_RUN_NUM, NULL);

	if (!run)
		return;
	run->num = *num;
	if (num->text && !(run->num.text = jl_arena_strdup(doc->arena, num->text)))
		doc->failed = JL_E_NOMEM;
}

void jl_doc_bar(struct jl_doc *doc, double frac, int n_cells)
{
	struct jl_run *run = add_run(doc, JL_RUN_BAR, NULL);

	if (run)
		run->num = (struct jl_num){ .value = frac, .kind = JL_K_FRACTION, .n_digits = n_cells };
}

void jl_doc_sourced(struct jl_doc *doc, const char *text, enum jl_origin origin, const char *source)
{
	struct jl_run *run = add_run(doc, JL_RUN_SAID, text);

	if (run)
		run->num = (struct jl_num){ .origin = origin, .source = source };
}

struct jl_doc_place jl_doc_here(const struct jl_doc *doc)
{
	return (struct jl_doc_place){ .last = doc->last, .n_blocks = doc->n_blocks };
}

void jl_doc_back(struct jl_doc *doc, struct jl_doc_place place)
{
	if (doc->failed)
		return;
	doc->last = place.last;
	doc->n_blocks = place.n_blocks;
	if (place.last)
		place.last->next = NULL;
	else
		doc->blocks = NULL;
	doc->tail = NULL;
	doc->row_tail = NULL;
	doc->cell_tail = NULL;
}

void jl_doc_table(struct jl_doc *doc, const char *title, const struct jl_doc_column *columns, size_t n_columns)
{
	struct jl_doc_block *block = add(doc, JL_DOC_TABLE, title);

	if (!block)
		return;
	block->columns = columns;
	block->n_columns = n_columns;
	doc->tail = NULL;
	doc->row_tail = &block->rows;
}

void jl_doc_entry_table(struct jl_doc *doc, const char *label, const struct jl_doc_column *columns, size_t n_columns)
{
	jl_doc_table(doc, NULL, columns, n_columns);
	if (!doc->failed && !(doc->last->label = jl_arena_strdup(doc->arena, label)))
		doc->failed = JL_E_NOMEM;
}

static void open_row(struct jl_doc *doc)
{
	struct jl_doc_row *row;

	if (doc->cell_tail || !doc->row_tail || doc->failed)
		return;
	row = jl_arena_alloc(doc->arena, sizeof *row);
	if (!row || doc->last->n_rows >= JL_DOC_ROWS_MAX) {
		doc->failed = row ? JL_E_LIMIT : JL_E_NOMEM;
		return;
	}
	*doc->row_tail = row;
	doc->cell_tail = &row->cells;
	doc->last->n_rows++;
}

void jl_doc_cell(struct jl_doc *doc, enum jl_mark mark)
{
	struct jl_doc_cell *cell;

	open_row(doc);
	if (doc->failed || !doc->cell_tail)
		return;
	cell = jl_arena_alloc(doc->arena, sizeof *cell);
	if (!cell) {
		doc->failed = JL_E_NOMEM;
		return;
	}
	cell->mark = mark;
	*doc->cell_tail = cell;
	doc->cell_tail = &cell->next;
	doc->tail = &cell->runs;
}

void jl_doc_cell_text(struct jl_doc *doc, const char *text)
{
	jl_doc_cell(doc, JL_MARK_NONE);
	jl_doc_text(doc, text);
}

void jl_doc_cell_name(struct jl_doc *doc, const char *text)
{
	jl_doc_cell(doc, JL_MARK_NONE);
	jl_doc_name(doc, text);
}

void jl_doc_cell_num(struct jl_doc *doc, const struct jl_num *num)
{
	jl_doc_cell(doc, JL_MARK_NONE);
	jl_doc_num(doc, num);
}

void jl_doc_end_row(struct jl_doc *doc, bool strong)
{
	if (doc->failed || !doc->row_tail || !*doc->row_tail)
		return;
	(*doc->row_tail)->strong = strong;
	doc->row_tail = &(*doc->row_tail)->next;
	doc->cell_tail = NULL;
	doc->tail = NULL;
}

void jl_doc_chart(struct jl_doc *doc, const struct jl_chart *chart)
{
	struct jl_doc_block *block = add(doc, JL_DOC_CHART, NULL);

	if (block)
		block->chart = chart;
}

void jl_doc_picture(struct jl_doc *doc, const struct jl_chart *chart)
{
	jl_doc_chart(doc, chart);
	if (!doc->failed)
		doc->last->picture = true;
}

void jl_doc_sketch(struct jl_doc *doc)
{
	if (!doc->failed)
		doc->last->sketch = true;
}

const char *jl_mark_text(enum jl_mark mark)
{
	static const char *const marks[] = { "", "✓", "!", "✗", "?" };

	return marks[mark];
}

size_t jl_doc_source_of(const struct jl_doc_source *sources, size_t n, const struct jl_num *num)
{
	size_t i = 0;

	while (i < n && !(sources[i].origin == num->origin && jl_same_text(sources[i].id, num->source) &&
			  jl_same_text(sources[i].date, num->date)))
		i++;
	return i;
}

static void count_runs(struct jl_doc_source *list, size_t *n, const struct jl_run *run)
{
	for (; run; run = run->next) {
		size_t i;

		/* sentences count only if they name a source: others are computed elsewhere */
		if (run->kind == JL_RUN_SAID ? run->num.origin != JL_LISTED || !run->num.source
					     : run->kind != JL_RUN_NUM || isnan(run->num.value))
			continue;
		i = jl_doc_source_of(list, *n, &run->num);
		if (i == *n && *n < JL_DOC_SOURCES_MAX)
			list[(*n)++] = (struct jl_doc_source){ .origin = run->num.origin,
							       .id = run->num.source,
							       .date = run->num.date };
		if (i < *n)
			list[i].n++;
	}
}

size_t jl_doc_sources(const struct jl_doc *doc, struct jl_doc_source ret_sources[JL_DOC_SOURCES_MAX])
{
	size_t n = 0;

	for (const struct jl_doc_block *b = doc->blocks; b; b = b->next) {
		count_runs(ret_sources, &n, b->runs);
		for (const struct jl_doc_row *row = b->rows; row; row = row->next)
			for (const struct jl_doc_cell *cell = row->cells; cell; cell = cell->next)
				count_runs(ret_sources, &n, cell->runs);
	}
	return n;
}

enum jl_origin jl_doc_column_origin(const struct jl_doc_block *b, size_t column)
{
	enum jl_origin origin = JL_ORIGIN_NONE;
	bool any = false;

	if (!b->columns[column].head || !*b->columns[column].head)
		return JL_ORIGIN_NONE;
	for (const struct jl_doc_row *row = b->rows; row; row = row->next) {
		const struct jl_doc_cell *cell = row->cells;

		for (size_t i = 0; cell && i < column; i++)
			cell = cell->next;
		for (const struct jl_run *run = cell ? cell->runs : NULL; run; run = run->next) {
			if (run->kind != JL_RUN_NUM && run->kind != JL_RUN_SAID)
				continue;
			if (any && run->num.origin != origin)
				return JL_ORIGIN_NONE;
			origin = run->num.origin;
			any = true;
		}
	}
	return origin;
}

const char *jl_origin_word(enum jl_origin origin)
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
