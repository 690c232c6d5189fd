#include "doc/flow.h"

#include <string.h>

#include "base/table.h"

void jl_terminal_safe(struct jl_buf *out, const char *text)
{
	for (; *text; text++)
		jl_buf_putc(out, (unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text);
}

void jl_markdown_safe(struct jl_buf *out, const char *text, bool breaks)
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

/* A number is one word: its blanks do not break. */
static void num_text(const struct jl_sink *s, const struct jl_num *num, struct jl_buf *out)
{
	struct jl_buf shown;

	jl_buf_init(&shown, 4096);
	jl_num_print(&shown, num);
	for (const char *at = jl_buf_text(&shown); *at; at++) {
		if (*at == ' ' && !jl_sink_is_markdown(s) && !num->show_source)
			jl_buf_puts(out, "\xc2\xa0");
		else
			jl_buf_putc(out, *at);
	}
	if (!s->page && num->origin == JL_ESTIMATED)
		jl_buf_puts(out, jl_sink_is_markdown(s) ? " ○" : "\xc2\xa0○");
	jl_buf_release(&shown);
}

static void bar_text(const struct jl_num *num, struct jl_buf *out)
{
	char bar[3 * JL_BAR_MAX + 1];

	jl_buf_puts(out, jl_bar_text(bar, num->value, num->n_digits));
}

static void word_text(const struct jl_sink *s, const struct jl_run *run, struct jl_buf *out)
{
	const bool md = jl_sink_is_markdown(s), strong = run->kind == JL_RUN_STRONG, code = run->kind == JL_RUN_CODE;

	jl_buf_puts(out, md && strong ? "**" : md && code ? "`" : strong ? jl_sink_colour(s, JL_TABLE_BOLD) : "");
	jl_terminal_safe(out, run->text);
	jl_buf_puts(out, md && strong ? "**" : md && code ? "`" : strong ? jl_sink_colour(s, JL_TABLE_RESET) : "");
}

void jl_flow_runs(const struct jl_sink *s, const struct jl_run *run, struct jl_buf *out)
{
	for (; run; run = run->next) {
		switch (run->kind) {
		case JL_RUN_NUM: num_text(s, &run->num, out); break;
		case JL_RUN_BAR: bar_text(&run->num, out); break;
		case JL_RUN_BREAK: jl_buf_putc(out, '\n'); break;
		case JL_RUN_DOT: jl_buf_puts(out, jl_sink_is_markdown(s) ? " · " : JL_WRAP_DOT); break;
		case JL_RUN_REF: jl_buf_printf(out, "%s%s", *run->text ? " → " : "", run->text); break;
		case JL_RUN_LINK:
			if (jl_sink_is_markdown(s)) {
				jl_buf_printf(out, "[%s](%s)", run->text, run->ref);
				break;
			}
			jl_terminal_safe(out, run->text);
			jl_buf_puts(out, " ");
			jl_terminal_safe(out, run->ref);
			break;
		case JL_RUN_TEXT:
		case JL_RUN_NAME:
		case JL_RUN_STRONG:
		case JL_RUN_CODE:
		case JL_RUN_SAID: word_text(s, run, out); break;
		}
	}
}

/* A verdict's colour; a report has its sign instead. */
static const char *mark_colour(const struct jl_sink *s, enum jl_mark mark)
{
	static const char *const colours[] = { "", JL_TABLE_GREEN, JL_TABLE_YELLOW, JL_TABLE_RED, JL_TABLE_DIM };

	return s->page && s->colour ? colours[mark] : "";
}

/* Cells are lines of their own: no-break spaces have done their work. */
static void plain_spaces(struct jl_buf *out, const char *text)
{
	for (; *text; text++) {
		const bool hard = text[0] == '\xc2' && text[1] == '\xa0';

		jl_buf_putc(out, hard ? ' ' : *text);
		text += hard;
	}
}

static void fill_row(const struct jl_sink *s, struct jl_table *table, const struct jl_doc_row *row, size_t n_columns)
{
	const bool md = jl_sink_is_markdown(s);
	size_t i = 0;

	for (const struct jl_doc_cell *cell = row->cells; cell && i < n_columns; cell = cell->next, i++) {
		const char *colour = mark_colour(s, cell->mark);
		struct jl_buf raw, safe;

		jl_buf_init(&raw, JL_DOC_ROWS_MAX);
		jl_buf_init(&safe, (size_t)4 * JL_DOC_ROWS_MAX);
		if (cell->mark && !s->page)
			jl_buf_printf(&raw, "%s ", jl_mark_text(cell->mark));
		jl_flow_runs(s, cell->runs, &raw);
		jl_buf_puts(&safe, colour);
		if (md)
			jl_markdown_safe(&safe, jl_buf_text(&raw), false); /* the table escapes its bars */
		else
			plain_spaces(&safe, jl_buf_text(&raw));
		jl_buf_puts(&safe, *colour ? JL_TABLE_RESET : "");
		jl_table_cell(table, jl_buf_text(&safe));
		jl_buf_release(&raw);
		jl_buf_release(&safe);
	}
	jl_table_end_row(table);
}

enum jl_status jl_flow_table(const struct jl_sink *s, const struct jl_doc_block *b, size_t indent)
{
	const bool md = jl_sink_is_markdown(s);
	const struct jl_table_style style = { .flavour = md ? JL_TABLE_MARKDOWN : JL_TABLE_TEXT,
					      .width = s->width,
					      .indent = indent,
					      .colour = s->colour };
	struct jl_table_column *columns = jl_arena_array(s->doc->arena, b->n_columns, sizeof *columns);
	struct jl_table table;

	if (!columns)
		return jl_fail_nomem(s->err);
	for (size_t i = 0; i < b->n_columns; i++) {
		const struct jl_doc_column *c = &b->columns[i];

		columns[i] = (struct jl_table_column){
			.head = c->unit ? jl_arena_printf(s->doc->arena, "%s (%s)", c->head, c->unit) : c->head,
			.align = c->right ? JL_RIGHT : JL_LEFT,
			.flexible = !c->right && !c->keep,
			.min_width = c->min_width ? c->min_width : 8,
		};
	}
	jl_table_init(&table, s->doc->arena, columns, b->n_columns);
	for (const struct jl_doc_row *row = b->rows; row; row = row->next)
		fill_row(s, &table, row, b->n_columns);
	return jl_table_print(&table, &style, s->out, s->err);
}

enum jl_status jl_flow_failed(const struct jl_sink *s)
{
	const enum jl_status status = s->doc->failed ? s->doc->failed : s->out->failed;

	return status ? jl_fail(s->err, status, "the report is too large") : JL_OK;
}
