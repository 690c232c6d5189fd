/* The document as text for a terminal and as Markdown. Both show a number with its mark (✅ measured, 📄 published or listed, ⚠ estimated);
 * what else is known of it is in the HTML and JSON. */
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "base/utf8.h"
#include "doc/chart.h"

struct sink {
	const struct jl_doc *doc;
	struct jl_buf *out;
	struct jl_err *err;
	size_t width; /* 0: Markdown */
	bool colour;
};

static bool is_markdown(const struct sink *s)
{
	return s->width == 0;
}

/* A terminal takes control characters for orders: none of them comes through. */
static void terminal_safe(struct jl_buf *out, const char *text)
{
	for (; *text; text++)
		jl_buf_putc(out, (unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text);
}

static void runs_plain(const struct sink *s, const struct jl_run *run, struct jl_buf *out)
{
	for (; run; run = run->next) {
		const char *around = "";

		if (run->kind == JL_RUN_NUM) {
			jl_num_print(out, &run->num);
			if (run->num.origin == JL_ESTIMATED)
				jl_buf_puts(out, " ⚠");
			continue;
		}
		if (run->kind == JL_RUN_BREAK) {
			jl_buf_putc(out, '\n');
			continue;
		}
		if (run->kind == JL_RUN_REF) {
			jl_buf_printf(out, "%s%s", *run->text ? " → " : "", run->text);
			continue;
		}
		if (is_markdown(s))
			around = run->kind == JL_RUN_STRONG ? "**" : run->kind == JL_RUN_CODE ? "`" : "";
		jl_buf_puts(out, around);
		terminal_safe(out, run->text);
		jl_buf_puts(out, around);
	}
}

/* What Markdown would take for markup or HTML. `breaks`: line ends are breaks of a paragraph, and nothing else can have put them there. */
static void markdown_safe(struct jl_buf *out, const char *text, bool breaks)
{
	for (; *text; text++) {
		if (*text == '<')
			jl_buf_puts(out, "&lt;");
		else if (*text == '\n')
			jl_buf_puts(out, breaks ? "  \n" : " ");
		else
			jl_buf_putc(out, *text);
	}
}

static void title_plain(const struct sink *s, const char *text)
{
	if (is_markdown(s))
		markdown_safe(s->out, text, false);
	else
		terminal_safe(s->out, text);
}

/* Broken at blanks; `first` stands before the first line, the others are indented by its width. */
static void wrap(struct jl_buf *out, const char *text, size_t width, size_t indent)
{
	size_t at = indent;
	bool first = true, broken = false;

	while (*text) {
		const size_t len = strcspn(text, " \n"), blanks = strspn(text + len, " \n");
		char word[1024];
		size_t w;

		snprintf(word, sizeof word, "%.*s", (int)len, text);
		w = jl_utf8_width(word);
		if (!first && (broken || at + 1 + w > width)) {
			jl_buf_putc(out, '\n');
			jl_buf_pad(out, ' ', indent);
			at = indent;
		} else if (!first && len) {
			jl_buf_putc(out, ' ');
			at++;
		}
		jl_buf_add(out, text, len);
		at += w;
		first = false;
		broken = memchr(text + len, '\n', blanks) != NULL;
		text += len + blanks;
	}
	jl_buf_putc(out, '\n');
}

static void paragraph(const struct sink *s, const struct jl_doc_block *b, const char *first)
{
	struct jl_buf text;

	jl_buf_init(&text, JL_DOC_ROWS_MAX);
	runs_plain(s, b->runs, &text);
	jl_buf_puts(s->out, first);
	if (is_markdown(s)) {
		markdown_safe(s->out, jl_buf_text(&text), true);
		jl_buf_puts(s->out, b->kind == JL_DOC_ITEM ? "\n" : "\n\n");
	} else {
		wrap(s->out, jl_buf_text(&text), s->width, jl_utf8_width(first));
		if (b->kind != JL_DOC_ITEM)
			jl_buf_putc(s->out, '\n');
	}
	jl_buf_release(&text);
}

static void heading(const struct sink *s, const struct jl_doc_block *b)
{
	if (is_markdown(s)) {
		jl_buf_puts(s->out, b->level == 2 ? "## " : "### ");
		markdown_safe(s->out, b->title, false);
		jl_buf_puts(s->out, "\n\n");
		return;
	}
	jl_buf_printf(s->out, "%s%s%s\n", s->colour ? "\033[1m" : "", b->title, s->colour ? "\033[0m" : "");
	for (size_t i = 0; i < jl_utf8_width(b->title); i++)
		jl_buf_puts(s->out, b->level == 2 ? "═" : "─");
	jl_buf_puts(s->out, "\n");
}

static void finding(const struct sink *s, const struct jl_doc_block *b)
{
	if (is_markdown(s)) {
		jl_buf_printf(s->out, "**%s ", jl_mark_text(b->mark));
		markdown_safe(s->out, b->title ? b->title : "", false);
		jl_buf_puts(s->out, "**  \n");
	} else {
		jl_buf_printf(s->out, "%s ", jl_mark_text(b->mark));
		wrap(s->out, b->title ? b->title : "", s->width, 3);
	}
	paragraph(s, b, is_markdown(s) ? "" : "   ");
}

static void fill_row(const struct sink *s, struct jl_table *table, const struct jl_doc_row *row, size_t n_columns)
{
	size_t i = 0;

	for (const struct jl_doc_cell *cell = row->cells; cell && i < n_columns; cell = cell->next, i++) {
		struct jl_buf raw, safe;

		jl_buf_init(&raw, JL_DOC_ROWS_MAX);
		jl_buf_init(&safe, (size_t)4 * JL_DOC_ROWS_MAX);
		if (cell->mark)
			jl_buf_printf(&raw, "%s ", jl_mark_text(cell->mark));
		runs_plain(s, cell->runs, &raw);
		if (is_markdown(s))
			markdown_safe(&safe, jl_buf_text(&raw), false); /* the table escapes its bars */
		jl_table_cell(table, jl_buf_text(is_markdown(s) ? &safe : &raw));
		jl_buf_release(&raw);
		jl_buf_release(&safe);
	}
	jl_table_end_row(table);
}

static enum jl_status table_plain(const struct sink *s, const struct jl_doc_block *b)
{
	const struct jl_table_style style = { .flavour = is_markdown(s) ? JL_TABLE_MARKDOWN : JL_TABLE_TEXT,
					      .width = s->width,
					      .indent = is_markdown(s) ? 0 : 2,
					      .colour = s->colour };
	struct jl_table_column *columns = jl_arena_array(s->doc->arena, b->n_columns, sizeof *columns);
	struct jl_table table;
	enum jl_status status;

	if (!columns)
		return jl_fail_nomem(s->err);
	for (size_t i = 0; i < b->n_columns; i++) {
		const struct jl_doc_column *c = &b->columns[i];

		columns[i] = (struct jl_table_column){
			.head = c->unit ? jl_arena_printf(s->doc->arena, "%s (%s)", c->head, c->unit) : c->head,
			.align = c->right ? JL_RIGHT : JL_LEFT,
			.flexible = !c->right,
			.min_width = 8,
		};
	}
	if (b->title) {
		jl_buf_puts(s->out, is_markdown(s) ? "" : "  ");
		title_plain(s, b->title);
		jl_buf_puts(s->out, is_markdown(s) ? "\n\n" : "\n");
	}
	jl_table_init(&table, s->doc->arena, columns, b->n_columns);
	for (const struct jl_doc_row *row = b->rows; row; row = row->next)
		fill_row(s, &table, row, b->n_columns);
	status = jl_table_print(&table, &style, s->out, s->err);
	jl_buf_putc(s->out, '\n');
	return status;
}

static enum jl_status chart_plain(const struct sink *s, const struct jl_chart *chart)
{
	struct jl_buf alt;
	enum jl_status status = JL_OK;

	if (!is_markdown(s)) {
		status = jl_chart_to_text(chart, s->width, s->out, s->err);
		jl_buf_putc(s->out, '\n');
		return status;
	}
	jl_buf_init(&alt, 1 << 16);
	jl_chart_alt(&alt, chart);
	jl_buf_puts(s->out, "*");
	markdown_safe(s->out, jl_buf_text(&alt), false);
	jl_buf_puts(s->out, "*\n\n```\n");
	status = jl_chart_to_text(chart, 80, s->out, s->err);
	jl_buf_puts(s->out, "```\n\n");
	jl_buf_release(&alt);
	return status;
}

static enum jl_status block_plain(const struct sink *s, const struct jl_doc_block *b, const struct jl_doc_block *before)
{
	if (before && before->kind == JL_DOC_ITEM && b->kind != JL_DOC_ITEM)
		jl_buf_putc(s->out, '\n');
	switch (b->kind) {
	case JL_DOC_SECTION: heading(s, b); break;
	case JL_DOC_PARA: paragraph(s, b, ""); break;
	case JL_DOC_ITEM: paragraph(s, b, is_markdown(s) ? "- " : "  - "); break;
	case JL_DOC_TABLE: return table_plain(s, b);
	case JL_DOC_CHART: return chart_plain(s, b->chart);
	case JL_DOC_FINDING: finding(s, b); break;
	}
	return JL_OK;
}

static enum jl_status render(const struct sink *s)
{
	const struct jl_doc_block *before = NULL;

	if (s->doc->failed)
		return jl_fail(s->err, s->doc->failed, "the report is too large", "보고서가 너무 큽니다");
	jl_buf_puts(s->out, is_markdown(s) ? "# " : s->colour ? "\033[1m" : "");
	title_plain(s, s->doc->title);
	jl_buf_puts(s->out, is_markdown(s) ? "\n\n" : s->colour ? "\033[0m\n" : "\n");
	if (s->doc->subtitle) {
		title_plain(s, s->doc->subtitle);
		jl_buf_puts(s->out, is_markdown(s) ? "\n\n" : "\n");
	}
	if (s->doc->date)
		jl_buf_printf(s->out, "%s · jeoul 저울\n\n", s->doc->date);
	for (const struct jl_doc_block *b = s->doc->blocks; b; before = b, b = b->next) {
		enum jl_status status = block_plain(s, b, before);
		if (status)
			return status;
	}
	return s->out->failed ? jl_fail(s->err, JL_E_LIMIT, "the report is too large", "보고서가 너무 큽니다") : JL_OK;
}

enum jl_status jl_doc_to_text(const struct jl_doc *doc, size_t width, bool colour, struct jl_buf *out,
			      struct jl_err *err)
{
	return render(
		&(struct sink){ .doc = doc, .out = out, .err = err, .width = width ? width : 80, .colour = colour });
}

enum jl_status jl_doc_to_markdown(const struct jl_doc *doc, struct jl_buf *out, struct jl_err *err)
{
	return render(&(struct sink){ .doc = doc, .out = out, .err = err });
}
