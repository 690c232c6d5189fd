#include "doc/doc.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 4096

void jl_doc_init(struct jl_doc *doc, struct jl_arena *arena, enum jl_lang lang, const char *title)
{
	*doc = (struct jl_doc){ .arena = arena, .lang = lang };
	doc->title = jl_arena_strdup(arena, title);
	if (!doc->title)
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

void jl_doc_para(struct jl_doc *doc)
{
	add(doc, JL_DOC_PARA, NULL);
}

void jl_doc_item(struct jl_doc *doc)
{
	add(doc, JL_DOC_ITEM, NULL);
}

void jl_doc_finding(struct jl_doc *doc, enum jl_mark mark, const char *title)
{
	struct jl_doc_block *block = add(doc, JL_DOC_FINDING, title);

	if (block)
		block->mark = mark;
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

void jl_doc_text(struct jl_doc *doc, const char *text)
{
	add_run(doc, JL_RUN_TEXT, text);
}

void jl_doc_textf(struct jl_doc *doc, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	add_run(doc, JL_RUN_TEXT, text);
}

void jl_doc_strong(struct jl_doc *doc, const char *text)
{
	add_run(doc, JL_RUN_STRONG, text);
}

void jl_doc_name(struct jl_doc *doc, const char *text)
{
	add_run(doc, JL_RUN_NAME, text);
}

void jl_doc_code(struct jl_doc *doc, const char *text)
{
	add_run(doc, JL_RUN_CODE, text);
}

void jl_doc_num(struct jl_doc *doc, const struct jl_num *num)
{
	struct jl_run *run = add_run(doc, JL_RUN_NUM, NULL);

	if (run)
		run->num = *num;
}

void jl_doc_said(struct jl_doc *doc, const char *text, enum jl_origin origin, const char *source)
{
	struct jl_run *run = add_run(doc, JL_RUN_SAID, text);

	if (run)
		run->num = (struct jl_num){ .origin = origin, .source = source };
}

void jl_doc_break(struct jl_doc *doc)
{
	add_run(doc, JL_RUN_BREAK, "\n");
}

void jl_doc_ref(struct jl_doc *doc, const char *id)
{
	struct jl_run *run = add_run(doc, JL_RUN_REF, "");

	if (run && !(run->ref = jl_arena_strdup(doc->arena, id)))
		doc->failed = JL_E_NOMEM;
}

static void resolve(const struct jl_doc *doc, struct jl_run *run)
{
	for (; run; run = run->next)
		for (const struct jl_doc_block *b = doc->blocks; run->kind == JL_RUN_REF && b; b = b->next)
			if (b->kind == JL_DOC_SECTION && b->id && run->ref && strcmp(b->id, run->ref) == 0)
				run->text = b->title;
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

const char *jl_mark_text(enum jl_mark mark)
{
	static const char *const marks[] = { "", "✅", "⚠", "❌", "❓" };

	return marks[mark];
}

static bool has_interval(const struct jl_num *num)
{
	return !isnan(num->lo) && !isnan(num->hi) && num->hi > num->lo;
}

const char *jl_memory_text(char out[JL_UNITS_TEXT_MAX], double value_B)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	while (value_B >= 1024 && i < 4) {
		value_B /= 1024;
		i++;
	}
	snprintf(out, JL_UNITS_TEXT_MAX, value_B >= 1000 ? "%.0f %s" : "%.3g %s", value_B, names[i]);
	return out;
}

static void print_value(struct jl_buf *out, double value, const struct jl_num *num)
{
	char text[JL_UNITS_TEXT_MAX];

	if (num->kind == JL_K_BYTES && num->binary)
		jl_buf_puts(out, jl_memory_text(text, value));
	else if (num->kind != JL_K_NUMBER)
		jl_buf_puts(out, jl_units_text(text, value, num->kind, num->n_digits ? num->n_digits : 3));
	else if (!num->n_digits && num->n_decimals > 0)
		jl_buf_printf(out, "%.*f", num->n_decimals, value);
	else
		jl_buf_puts(out, jl_units_text(text, value, JL_K_NUMBER, num->n_digits ? num->n_digits : 3));
}

/* "268 (200–358) GB/s": the unit once, where all three have the same. */
static bool print_compact(struct jl_buf *out, const struct jl_num *num)
{
	const double values[3] = { num->value, num->lo, num->hi };
	char texts[3][JL_UNITS_TEXT_MAX];
	const char *units[3];

	if (num->kind == JL_K_NUMBER || !num->show_interval || !has_interval(num))
		return false;
	for (size_t i = 0; i < 3; i++) {
		struct jl_buf one;
		char *blank;

		jl_buf_init(&one, JL_UNITS_TEXT_MAX);
		print_value(&one, values[i], num);
		snprintf(texts[i], sizeof texts[i], "%s", jl_buf_text(&one));
		jl_buf_release(&one);
		if (!(blank = strrchr(texts[i], ' ')))
			return false;
		*blank = '\0';
		units[i] = blank + 1;
	}
	if (strcmp(units[0], units[1]) != 0 || strcmp(units[0], units[2]) != 0)
		return false;
	jl_buf_printf(out, "%s (%s–%s) %s", texts[0], texts[1], texts[2], units[0]);
	return true;
}

struct jl_num jl_num_ranged(struct jl_num num)
{
	num.show_interval = true;
	return num;
}

void jl_num_print(struct jl_buf *out, const struct jl_num *num)
{
	/* 1.9x, 293일: Korean units stand close, as people write them */
	const bool tight = num->unit && (strcmp(num->unit, "x") == 0 || (unsigned char)num->unit[0] >= 0xea);

	if (isnan(num->value)) {
		jl_buf_puts(out, "—");
		return;
	}
	if (print_compact(out, num))
		return;
	print_value(out, num->value, num);
	if (num->kind == JL_K_NUMBER && num->unit && tight)
		jl_buf_puts(out, num->unit);
	if (num->show_interval && has_interval(num)) {
		jl_buf_puts(out, " (");
		print_value(out, num->lo, num);
		jl_buf_puts(out, "–");
		print_value(out, num->hi, num);
		jl_buf_puts(out, ")");
	}
	if (num->kind == JL_K_NUMBER && num->unit && !tight)
		jl_buf_printf(out, " %s", num->unit);
}

static const char *origin_word(enum jl_origin origin, enum jl_lang lang)
{
	switch (origin) {
	case JL_MEASURED: return JL_T(lang, "measured", "실측");
	case JL_PUBLISHED: return JL_T(lang, "published", "공개 측정");
	case JL_LISTED: return JL_T(lang, "listed", "사양·가격표");
	case JL_ESTIMATED: return JL_T(lang, "estimated", "추정");
	case JL_ORIGIN_NONE: break;
	}
	return JL_T(lang, "given", "입력값");
}

void jl_num_tell(struct jl_buf *out, const struct jl_num *num, enum jl_lang lang)
{
	struct jl_num full = *num;

	full.n_digits = full.n_digits > 5 ? full.n_digits : 5;
	full.n_decimals = 0;
	full.show_interval = false;
	jl_num_print(out, &full);
	if (has_interval(num)) {
		jl_buf_puts(out, JL_T(lang, ", 80 % interval ", ", 80 % 구간 "));
		print_value(out, num->lo, num);
		jl_buf_puts(out, "–");
		print_value(out, num->hi, num);
	}
	jl_buf_printf(out, ", %s", origin_word(num->origin, lang));
	if (num->source)
		jl_buf_printf(out, ", %s", num->source);
	if (num->date)
		jl_buf_printf(out, ", %s", num->date);
	if (num->note)
		jl_buf_printf(out, " (%s)", num->note);
}
