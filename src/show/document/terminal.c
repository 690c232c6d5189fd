/* The document as terminal text: output of a command, or a report. In a report a number has its mark (○ estimated); HTML and JSON have source
 * and interval. */
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "base/utf8.h"
#include "document/flow.h"

#define LABEL_COLUMNS 10 /* minimum column of labels, equal on all pages */
#define RULER_CELLS   52

/* Runs wrapped into lines: `first` precedes them, continuation lines have `indent`. */
static void flow(const struct jl_sink *s, const struct jl_run *runs, size_t at, size_t indent)
{
	struct jl_buf text;

	jl_buf_init(&text, (size_t)16 * JL_DOC_ROWS_MAX);
	jl_flow_runs(s, runs, &text);
	jl_wrap(s->out, jl_buf_text(&text), &(struct jl_wrap){ .width = s->width, .at = at, .indent = indent });
	jl_buf_release(&text);
}

static void title_flow(const struct jl_sink *s, const char *title, size_t at, size_t indent)
{
	const struct jl_run run = { .kind = JL_RUN_TEXT, .text = title ? title : "" };

	flow(s, &run, at, indent);
}

static void paragraph(const struct jl_sink *s, const struct jl_doc_block *b, const char *first)
{
	jl_buf_puts(s->out, first);
	flow(s, b->runs, jl_utf8_width(first), jl_utf8_width(first));
}

static bool has_run(const struct jl_doc_block *b, enum jl_run_kind kind)
{
	const struct jl_run *run = b->runs;

	while (run && run->kind != kind)
		run = run->next;
	return run != NULL;
}

/* Pieces continue at the margin; continuation lines of sentences are indented. A lead without emphasis is bold as a whole. */
static void lead(const struct jl_sink *s, const struct jl_doc_block *b)
{
	const bool plain = !has_run(b, JL_RUN_STRONG);

	jl_buf_puts(s->out, plain ? jl_sink_colour(s, JL_TABLE_BOLD) : "");
	flow(s, b->runs, 0, has_run(b, JL_RUN_DOT) ? 0 : 2);
	jl_buf_puts(s->out, plain ? jl_sink_colour(s, JL_TABLE_RESET) : "");
}

static void heading(const struct jl_sink *s, const struct jl_doc_block *b)
{
	jl_buf_puts(s->out, jl_sink_colour(s, JL_TABLE_BOLD));
	jl_terminal_safe(s->out, b->title);
	jl_buf_printf(s->out, "%s\n", jl_sink_colour(s, JL_TABLE_RESET));
	if (s->page)
		return;
	for (size_t i = 0; i < jl_utf8_width(b->title); i++)
		jl_buf_puts(s->out, b->level == 2 ? "═" : "─");
	jl_buf_puts(s->out, "\n");
}

/* A command's findings are one paragraph unless they have separate lines; a report gives the title its own line. */
static void finding(const struct jl_sink *s, const struct jl_doc_block *b)
{
	const char *mark = jl_mark_text(b->mark);

	if (s->page && has_run(b, JL_RUN_BREAK)) {
		jl_buf_printf(s->out, "  %s%s%s ", jl_sink_colour(s, JL_TABLE_BOLD), jl_flow_mark_colour(s, b->mark),
			      *mark ? mark : "·");
		title_flow(s, b->title, 4, 4);
		jl_buf_puts(s->out, jl_sink_colour(s, JL_TABLE_RESET));
		paragraph(s, b, "    ");
		return;
	}
	if (s->page) {
		jl_buf_printf(s->out, "  %s%s ", jl_flow_mark_colour(s, b->mark), mark);
		jl_terminal_safe(s->out, b->title);
		jl_buf_printf(s->out, "%s: ", *jl_flow_mark_colour(s, b->mark) ? JL_TABLE_RESET : "");
		flow(s, b->runs, 5 + jl_utf8_width(mark) + jl_utf8_width(b->title), 6);
		return;
	}
	jl_buf_printf(s->out, "%s%s", mark, *mark ? " " : "");
	title_flow(s, b->title, *mark ? 2 : 0, *mark ? 2 : 0);
	if (b->runs)
		paragraph(s, b, "  ");
}

static void label(const struct jl_sink *s, const char *text)
{
	const size_t width = 2 + jl_utf8_width(text);

	jl_buf_printf(s->out, "  %s", jl_sink_colour(s, JL_TABLE_BOLD));
	jl_terminal_safe(s->out, text);
	jl_buf_puts(s->out, jl_sink_colour(s, JL_TABLE_RESET));
	jl_buf_pad(s->out, ' ', s->label_column > width ? s->label_column - width : 1);
}

static void note(const struct jl_sink *s, const struct jl_doc_block *b)
{
	size_t at = 2;

	jl_buf_puts(s->out, "  ");
	if (b->title) {
		jl_terminal_safe(s->out, b->title);
		jl_buf_puts(s->out, ": ");
		at += jl_utf8_width(b->title) + 2;
	}
	flow(s, b->runs, at, 6);
}

/* A labelled table: its first line starts after the label. */
static enum jl_status entry_table(const struct jl_sink *s, const struct jl_doc_block *b)
{
	struct jl_sink inner = *s;
	struct jl_buf lines;
	enum jl_status status;
	const char *text;

	jl_buf_init(&lines, (size_t)64 * JL_DOC_ROWS_MAX);
	inner.out = &lines;
	status = jl_flow_table(&inner, b, s->label_column);
	text = jl_buf_text(&lines);
	label(s, b->label);
	jl_buf_puts(s->out, text + (strlen(text) > s->label_column ? s->label_column : 0));
	jl_buf_release(&lines);
	return status;
}

static enum jl_status table(const struct jl_sink *s, const struct jl_doc_block *b)
{
	if (b->label)
		return entry_table(s, b);
	if (b->title) {
		jl_buf_puts(s->out, "  ");
		jl_terminal_safe(s->out, b->title);
		jl_buf_putc(s->out, '\n');
	}
	return jl_flow_table(s, b, s->doc->flush ? 0 : 2);
}

/* A long command is continued as a shell reads it. */
static void code(const struct jl_sink *s, const char *text)
{
	char shown[JL_UTF8_SHOWN_MAX];

	while (*text) {
		const char *from = text;

		jl_buf_pad(s->out, ' ', s->label_column);
		for (size_t n; *text != '\n' && (n = jl_utf8_shown(text, shown)); text += n) {
			if (strncmp(text, " --", 3) == 0 &&
			    s->label_column + 4 + (size_t)(text - from) + strcspn(text + 1, " \n") > s->width) {
				jl_buf_puts(s->out, " \\\n");
				jl_buf_pad(s->out, ' ', s->label_column + 1);
				from = text;
			}
			jl_buf_puts(s->out, shown);
		}
		jl_buf_putc(s->out, '\n');
		text += *text == '\n';
	}
}

static enum jl_status chart(const struct jl_sink *s, const struct jl_chart *c)
{
	struct jl_buf lines;
	enum jl_status status;

	jl_buf_init(&lines, s->out->limit_B);
	status = jl_chart_to_text(c, s->width, &lines, s->err);
	jl_terminal_lines_safe(s->out, jl_buf_text(&lines));
	jl_buf_release(&lines);
	return status;
}

static size_t cell_of(const struct jl_ruler *r, double value)
{
	return (size_t)(jl_ruler_at(r, value) * (RULER_CELLS - 1) + 0.5);
}

/* ───────┤▒▒▒▒┼▒▒▒▒├────┃ with the figure below it. */
static void ruler(const struct jl_sink *s, const struct jl_ruler *r)
{
	const bool bounded = jl_ruler_bounded(r);
	const size_t lo = cell_of(r, r->lo), middle = cell_of(r, r->middle), hi = cell_of(r, r->hi),
		     at = cell_of(r, r->value.value), bound = bounded ? cell_of(r, r->bound.value) : RULER_CELLS;
	struct jl_buf text;
	size_t width;

	jl_buf_init(&text, 4096);
	jl_num_print(&text, &r->value);
	width = jl_utf8_width(jl_buf_text(&text));
	jl_buf_pad(s->out, ' ', s->label_column);
	for (size_t i = 0; i < RULER_CELLS && i <= bound; i++)
		jl_buf_puts(s->out, i == bound         ? "┃"
				    : i == lo          ? "┤"
				    : i == hi          ? "├"
				    : i == middle      ? "┼"
				    : i > lo && i < hi ? "▒"
						       : "─");
	if (bounded) {
		jl_buf_putc(s->out, ' ');
		jl_num_print(s->out, &r->bound);
	}
	jl_buf_putc(s->out, '\n');
	if (at + 2 + width < RULER_CELLS + 10) {
		jl_buf_pad(s->out, ' ', s->label_column + at);
		jl_buf_printf(s->out, "▲ %s\n", jl_buf_text(&text));
	} else {
		jl_buf_pad(s->out, ' ', s->label_column + at - 1 - width);
		jl_buf_printf(s->out, "%s ▲\n", jl_buf_text(&text));
	}
	jl_buf_release(&text);
}

static void item(const struct jl_sink *s, const struct jl_doc_block *b, size_t number)
{
	char first[24] = "  - ";

	if (b->numbered)
		snprintf(first, sizeof first, "  %zu  ", number);
	paragraph(s, b, first);
}

static enum jl_status block(const struct jl_sink *s, const struct jl_doc_block *b, size_t number)
{
	switch (b->kind) {
	case JL_DOC_SECTION: heading(s, b); break;
	case JL_DOC_PARA: paragraph(s, b, ""); break;
	case JL_DOC_LEAD: lead(s, b); break;
	case JL_DOC_ITEM: item(s, b, number); break;
	case JL_DOC_TABLE: return table(s, b);
	case JL_DOC_CHART: return chart(s, b->chart);
	case JL_DOC_FINDING: finding(s, b); break;
	case JL_DOC_ENTRY: /* a verdict has its colour */
		label(s, b->title ? b->title : "");
		jl_buf_puts(s->out, jl_flow_mark_colour(s, b->mark));
		flow(s, b->runs, s->label_column, s->label_column);
		jl_buf_puts(s->out, *jl_flow_mark_colour(s, b->mark) ? JL_TABLE_RESET : "");
		break;
	case JL_DOC_NOTE: note(s, b); break;
	case JL_DOC_CODE: code(s, b->title); break;
	case JL_DOC_RULER: ruler(s, b->ruler); break;
	case JL_DOC_MARKUP:
	case JL_N_DOC_BLOCK_KIND: break;
	}
	return JL_OK;
}

/* Entries with their parts are one group. */
static bool in_entries(const struct jl_doc_block *b)
{
	return b->kind == JL_DOC_ENTRY || b->kind == JL_DOC_CODE || b->kind == JL_DOC_RULER ||
	       (b->kind == JL_DOC_TABLE && b->label);
}

/* True where an empty line separates the two blocks. */
static bool apart(const struct jl_sink *s, const struct jl_doc_block *before, const struct jl_doc_block *b)
{
	if (!before)
		return false;
	if (b->gap)
		return true;
	if (before->kind == JL_DOC_SECTION) /* separated by its underline or weight */
		return false;
	if (b->kind == JL_DOC_ITEM)
		return before->kind != JL_DOC_ITEM && !(s->page && before->kind == JL_DOC_PARA);
	if (b->kind == JL_DOC_LEAD || (b->kind == JL_DOC_FINDING && s->page))
		return before->kind != b->kind;
	if (b->kind == JL_DOC_NOTE)
		return before->kind != JL_DOC_NOTE && !in_entries(before);
	return !(in_entries(b) && in_entries(before));
}

static size_t label_column(const struct jl_doc *doc)
{
	size_t width = LABEL_COLUMNS - 2;

	for (const struct jl_doc_block *b = doc->blocks; b; b = b->next) {
		const char *text = b->kind == JL_DOC_ENTRY ? b->title : b->kind == JL_DOC_TABLE ? b->label : NULL;
		const size_t wide = text ? jl_utf8_width(text) : 0;

		width = wide > width ? wide : width;
	}
	return 2 + width + 2;
}

static enum jl_status blocks(const struct jl_sink *s)
{
	const struct jl_doc_block *before = NULL;
	size_t number = 0;

	for (const struct jl_doc_block *b = s->doc->blocks; b; b = b->next) {

		/* long bars are parts of 100 % */
		if (b->kind == JL_DOC_MARKUP || (b->picture && (s->page || b->chart->kind == JL_CHART_STACKED)))
			continue;
		if (apart(s, before, b))
			jl_buf_putc(s->out, '\n');
		number = b->kind == JL_DOC_ITEM ? number + 1 : 0;
		JL_TRY(block(s, b, number));
		before = b;
	}
	return JL_OK;
}

static void title(const struct jl_sink *s)
{
	const struct jl_doc *doc = s->doc;

	if (!doc->title)
		return;
	jl_buf_puts(s->out, jl_sink_colour(s, JL_TABLE_BOLD));
	jl_terminal_safe(s->out, doc->title);
	jl_buf_printf(s->out, "%s\n", jl_sink_colour(s, JL_TABLE_RESET));
	if (doc->subtitle) {
		jl_terminal_safe(s->out, doc->subtitle);
		jl_buf_putc(s->out, '\n');
	}
	if (doc->date)
		jl_buf_printf(s->out, "%s · jeoul 저울\n", doc->date);
	if (!s->page)
		jl_flow_legend(s->out);
	jl_buf_putc(s->out, '\n');
}

static enum jl_status render(struct jl_sink *s)
{
	enum jl_status status;

	JL_TRY(jl_flow_failed(s));
	s->label_column = label_column(s->doc);
	title(s);
	status = blocks(s);
	return status ? status : jl_flow_failed(s);
}

enum jl_status jl_doc_to_text(const struct jl_doc *doc, size_t width, bool colour, struct jl_buf *out,
			      struct jl_err *err)
{
	return render(
		&(struct jl_sink){ .doc = doc, .out = out, .err = err, .width = width ? width : 80, .colour = colour });
}

enum jl_status jl_doc_to_terminal(const struct jl_doc *doc, size_t width, bool colour, struct jl_buf *out,
				  struct jl_err *err)
{
	return render(&(struct jl_sink){
		.doc = doc, .out = out, .err = err, .width = width ? width : 80, .colour = colour, .page = true });
}
