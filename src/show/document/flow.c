#include "document/flow.h"

#include <ctype.h>
#include <string.h>

#include "base/table.h"
#include "base/utf8.h"

void jl_terminal_safe(struct jl_buf *out, const char *text)
{
	char shown[JL_UTF8_SHOWN_MAX];

	for (size_t n; (n = jl_utf8_shown(text, shown)); text += n)
		jl_buf_puts(out, shown);
}

void jl_terminal_lines_safe(struct jl_buf *out, const char *text)
{
	char shown[JL_UTF8_SHOWN_MAX];

	for (size_t n; (n = jl_utf8_shown(text, shown)); text += n)
		jl_buf_puts(out, *text == '\n' ? "\n" : shown);
}

/* True if Markdown would interpret the character at `at`. `line`: the start of a line, NULL inside one. */
static bool is_markup(const char *line, const char *at, char before)
{
	const bool alone = at[1] == ' ' || at[1] == *at || at[1] == '\0';

	switch (*at) {
	case '\\':
	case '`':
	case '*':
	case '[':
	case ']': return true;
	case '~': return before != ' '; /* may end strikethrough */
	case '_': return !isalnum((unsigned char)before) || !isalnum((unsigned char)at[1]);
	case '>': return at == line;
	case '#':
	case '+':
	case '-':
	case '=': return at == line && alone;
	case '.':
	case ')': return line && at > line && at == line + strspn(line, "0123456789") && alone;
	default: return false;
	}
}

void jl_markdown_safe(struct jl_buf *out, const char *text)
{
	const bool begins = out->len == 0 || out->data[out->len - 1] == '\n';
	const char *line = begins ? text + strspn(text, " ") : NULL;
	char shown[JL_UTF8_SHOWN_MAX], before = ' ';

	for (size_t n; (n = jl_utf8_shown(text, shown)); before = *text, text += n) {
		if (*text == '<')
			jl_buf_puts(out, "&lt;");
		else if (*text == '&' && (text[1] == '#' || isalpha((unsigned char)text[1])))
			jl_buf_puts(out, "&amp;");
		else
			jl_buf_printf(out, "%s%s", is_markup(line, text, before) ? "\\" : "", shown);
	}
}

void jl_markdown_code(struct jl_buf *out, const char *text, bool block)
{
	size_t most = 0;

	for (const char *at = strchr(text, '`'); at; at = strchr(at, '`')) {
		const size_t n = strspn(at, "`");

		most = n > most ? n : most;
		at += n;
	}
	jl_buf_pad(out, '`', block && most < 3 ? 3 : most + 1);
	jl_buf_puts(out, block ? "\n" : most ? " " : "");
	jl_terminal_lines_safe(out, text);
	jl_buf_puts(out, block ? "\n" : most ? " " : "");
	jl_buf_pad(out, '`', block && most < 3 ? 3 : most + 1);
}

/* The mark of a figure in a report. */
static void origin_text(const struct jl_sink *s, enum jl_origin origin, struct jl_buf *out)
{
	if (!s->page && !s->plain && origin != JL_ORIGIN_NONE)
		jl_buf_printf(out, "%s%s", jl_sink_is_markdown(s) ? " " : "\xc2\xa0", jl_origin_mark(origin));
}

void jl_flow_legend(struct jl_buf *out)
{
	static const enum jl_origin order[] = { JL_MEASURED, JL_PUBLISHED, JL_LISTED, JL_ESTIMATED };

	for (size_t i = 0; i < JL_LEN(order); i++)
		jl_buf_printf(out, "%s %s · ", jl_origin_mark(order[i]), jl_origin_word(order[i]));
	jl_buf_printf(out, "%s\n", JL_("no mark: given"));
}

/* A number is one word: its blanks are no-break spaces. */
static void num_text(const struct jl_sink *s, const struct jl_num *num, struct jl_buf *out)
{
	struct jl_buf shown;

	jl_buf_init(&shown, 4096);
	jl_num_print(&shown, num);
	if (jl_sink_is_markdown(s))
		jl_markdown_safe(out, jl_buf_text(&shown));
	for (const char *at = jl_buf_text(&shown); *at && !jl_sink_is_markdown(s); at++) {
		if (*at == ' ' && !num->show_source)
			jl_buf_puts(out, "\xc2\xa0");
		else
			jl_buf_putc(out, *at);
	}
	origin_text(s, num->origin, out);
	jl_buf_release(&shown);
}

static void bar_text(const struct jl_num *num, struct jl_buf *out)
{
	char bar[3 * JL_BAR_MAX + 1];

	jl_buf_puts(out, jl_bar_text(bar, num->value, num->n_digits));
}

static void safe_text(const struct jl_sink *s, const char *text, struct jl_buf *out)
{
	if (jl_sink_is_markdown(s))
		jl_markdown_safe(out, text);
	else
		jl_terminal_safe(out, text);
}

static void word_text(const struct jl_sink *s, const struct jl_run *run, struct jl_buf *out)
{
	const bool md = jl_sink_is_markdown(s), strong = run->kind == JL_RUN_STRONG;

	if (md && run->kind == JL_RUN_CODE) {
		jl_markdown_code(out, run->text, false);
		return;
	}
	jl_buf_puts(out, !strong ? "" : md ? "**" : jl_sink_colour(s, JL_TABLE_BOLD));
	safe_text(s, run->text, out);
	jl_buf_puts(out, !strong ? "" : md ? "**" : jl_sink_colour(s, JL_TABLE_RESET));
}

/* Escapes a link target: no blanks, brackets or line ends in Markdown. */
static void link_text(const struct jl_sink *s, const struct jl_run *run, struct jl_buf *out)
{
	const bool md = jl_sink_is_markdown(s);

	jl_buf_puts(out, md ? "[" : "");
	safe_text(s, run->text, out);
	if (!md && !s->cell && !s->page)
		return; /* the list of sources has the address */
	jl_buf_puts(out, md ? "](" : " ");
	for (const char *at = run->ref; md && *at; at++)
		jl_buf_printf(out, (unsigned char)*at <= ' ' || strchr("()<>\\", *at) ? "%%%02X" : "%c",
			      (unsigned char)*at);
	if (!md)
		jl_terminal_safe(out, run->ref);
	jl_buf_puts(out, md ? ")" : "");
}

void jl_flow_runs(const struct jl_sink *s, const struct jl_run *run, struct jl_buf *out)
{
	for (; run; run = run->next) {
		switch (run->kind) {
		case JL_RUN_NUM: num_text(s, &run->num, out); break;
		case JL_RUN_BAR: bar_text(&run->num, out); break;
		case JL_RUN_BREAK: jl_buf_puts(out, jl_sink_is_markdown(s) ? "  \n" : "\n"); break;
		case JL_RUN_DOT: jl_buf_puts(out, jl_sink_is_markdown(s) ? " · " : JL_WRAP_DOT); break;
		case JL_RUN_REF:
			jl_buf_puts(out, !*run->text ? "" : jl_sink_is_markdown(s) ? " → " : " →\xc2\xa0");
			safe_text(s, run->text, out);
			break;
		case JL_RUN_LINK: link_text(s, run, out); break;
		case JL_RUN_ANCHOR: break;
		case JL_RUN_TEXT:
		case JL_RUN_NAME:
		case JL_RUN_STRONG:
		case JL_RUN_CODE: word_text(s, run, out); break;
		case JL_RUN_SAID:
			word_text(s, run, out);
			if (strpbrk(run->text, "0123456789"))
				origin_text(s, run->num.origin, out);
			break;
		}
	}
}

/* Colour of a verdict; a report has a sign instead. */
const char *jl_flow_mark_colour(const struct jl_sink *s, enum jl_mark mark)
{
	static const char *const colours[] = { "", JL_TABLE_GREEN, JL_TABLE_YELLOW, JL_TABLE_RED, JL_TABLE_DIM };

	return s->page && s->colour ? colours[mark] : "";
}

/* Cells are single lines: no-break spaces and breaks are replaced. */
static void plain_spaces(struct jl_buf *out, const char *text)
{
	for (; *text; text++) {
		const bool hard = text[0] == '\xc2' && text[1] == '\xa0';

		if (text[0] == ' ' && text[1] == ' ' && text[2] == '\n')
			text += 2;
		jl_buf_putc(out, hard || *text == '\n' ? ' ' : *text);
		text += hard;
	}
}

static void fill_row(const struct jl_sink *sink, struct jl_table *table, const struct jl_doc_row *row,
		     const struct jl_doc_block *b)
{
	struct jl_sink inner = *sink;
	const struct jl_sink *s = &inner;
	size_t i = 0;

	inner.cell = true;

	for (const struct jl_doc_cell *cell = row->cells; cell && i < b->n_columns; cell = cell->next, i++) {
		const char *colour = jl_flow_mark_colour(s, cell->mark);
		struct jl_buf raw, safe;

		jl_buf_init(&raw, JL_DOC_ROWS_MAX);
		jl_buf_init(&safe, (size_t)4 * JL_DOC_ROWS_MAX);
		inner.plain = jl_doc_column_origin(b, i) != JL_ORIGIN_NONE;
		if (cell->mark && !s->page)
			jl_buf_printf(&raw, "%s ", jl_mark_text(cell->mark));
		jl_flow_runs(s, cell->runs, &raw);
		jl_buf_puts(&safe, colour);
		plain_spaces(&safe, jl_buf_text(&raw));
		jl_buf_puts(&safe, *colour ? JL_TABLE_RESET : "");
		jl_table_cell(table, jl_buf_text(&safe));
		jl_buf_release(&raw);
		jl_buf_release(&safe);
	}
	jl_table_end_row(table);
}

/* NULL: out of memory. */
static char *head_text(const struct jl_sink *s, const struct jl_doc_block *b, size_t i)
{
	const struct jl_doc_column *c = &b->columns[i];
	struct jl_buf text;
	char *head;

	jl_buf_init(&text, JL_DOC_ROWS_MAX);
	safe_text(s, c->head ? c->head : "", &text);
	if (!s->page && jl_doc_column_origin(b, i))
		jl_buf_printf(&text, " %s", jl_origin_mark(jl_doc_column_origin(b, i)));
	if (c->unit)
		jl_buf_printf(&text, " (%s)", c->unit);
	head = text.failed ? NULL : jl_arena_strdup(s->doc->arena, jl_buf_text(&text));
	jl_buf_release(&text);
	return head;
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
			.head = head_text(s, b, i),
			.align = c->right ? JL_RIGHT : JL_LEFT,
			.flexible = !c->right && !c->keep,
			.min_width = c->min_width ? c->min_width : 8,
		};
		if (!columns[i].head)
			return jl_fail_nomem(s->err);
	}
	jl_table_init(&table, s->doc->arena, columns, b->n_columns);
	for (const struct jl_doc_row *row = b->rows; row; row = row->next)
		fill_row(s, &table, row, b);
	return jl_table_print(&table, &style, s->out, s->err);
}

enum jl_status jl_flow_failed(const struct jl_sink *s)
{
	const enum jl_status status = s->doc->failed ? s->doc->failed : s->out->failed;

	return status ? jl_fail(s->err, status, "the report is too large") : JL_OK;
}
