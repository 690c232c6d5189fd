/* Prints text and Markdown tables with wrapping and colours. */
#include "base/table.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define GAP           2
#define LINES_MAX     16 /* maximum lines per cell; the rest is cut */
#define MIN_WIDTH     4
#define CLUSTER_MAX_B 256 /* bytes searched for combining characters; bounds the time for long cells */
#define CELLS_MAX     ((size_t)4 << 20)

void jl_table_init(struct jl_table *table, struct jl_arena *arena, const struct jl_table_column *columns,
		   size_t n_columns)
{
	assert(n_columns > 0 && n_columns <= JL_TABLE_COLUMNS_MAX);
	*table = (struct jl_table){ .arena = arena, .columns = columns, .n_columns = n_columns };
}

/* Length of the colour sequence (ESC [ digits and semicolons m) at `text`; 0: none. */
static size_t colour_len(const char *text)
{
	if (text[0] != '\033' || text[1] != '[')
		return 0;
	size_t n = 2 + strspn(text + 2, "0123456789;");
	return text[n] == 'm' ? n + 1 : 0;
}

/* Replaces characters of the cell's copy that are neither printable nor a colour. Tabs in the text become blanks first, so that a tab can then mark
 * the ESC of a colour. */
static void clean(char *text)
{
	for (char *at = text; *at; at++) {
		if (*at == '\n' || *at == '\r' || *at == '\t')
			*at = ' ';
	}
	for (char *at = text; *at; at++) {
		if (colour_len(at))
			*at = '\t';
	}
	jl_utf8_sanitize(text);
	for (char *at = text; *at; at++) {
		if (*at == '\t')
			*at = '\033';
	}
}

static void push(struct jl_table *table, const char *cell)
{
	if (table->failed)
		return;
	if (table->n_cells == CELLS_MAX) {
		table->failed = JL_E_LIMIT;
		return;
	}
	if (table->n_cells == table->room) {
		size_t room = table->room ? table->room * 2 : 64;
		const char **cells = jl_arena_array(table->arena, room, sizeof(*cells));
		if (!cells) {
			table->failed = JL_E_NOMEM;
			return;
		}
		if (table->n_cells)
			memcpy(cells, table->cells, table->n_cells * sizeof(*cells));
		table->cells = cells;
		table->room = room;
	}
	table->cells[table->n_cells++] = cell;
}

void jl_table_cell(struct jl_table *table, const char *text)
{
	char *copy = table->failed ? NULL : jl_arena_strdup(table->arena, text);

	assert(table->n_in_row < table->n_columns && "more cells than columns");
	if (!copy && !table->failed)
		table->failed = JL_E_NOMEM;
	if (!copy || table->n_in_row == table->n_columns)
		return;
	clean(copy);
	push(table, copy);
	table->n_in_row++;
}

void jl_table_end_row(struct jl_table *table)
{
	for (; table->n_in_row < table->n_columns; table->n_in_row++)
		push(table, "");
	table->n_in_row = 0;
}

/* Markdown: only '|' is escaped, because it ends a cell. Other Markdown syntax is up to the caller. */
static bool is_escaped(char c, enum jl_table_flavour flavour)
{
	return flavour == JL_TABLE_MARKDOWN && c == '|';
}

/* Length of one visible character or one colour sequence, which are never split. */
static size_t next_piece(const char *text, enum jl_table_flavour flavour, size_t *ret_width)
{
	size_t n = colour_len(text);

	*ret_width = 0;
	if (n)
		return n;
	n = jl_utf8_cluster(text, strnlen(text, CLUSTER_MAX_B), ret_width);
	*ret_width += is_escaped(*text, flavour);
	return n;
}

static size_t visible_width(const char *text, enum jl_table_flavour flavour)
{
	size_t total = 0;

	while (*text) {
		size_t width, n = next_piece(text, flavour, &width);
		total += width;
		text += n;
	}
	return total;
}

/* Length in bytes of the first line: as many words as fit in `columns`, or part of the first word. */
static size_t line_len(const char *text, size_t columns, enum jl_table_flavour flavour)
{
	size_t taken = 0, at = 0, good = 0;

	while (text[at]) {
		size_t width, n = next_piece(text + at, flavour, &width);

		if (taken + width > columns)
			return good ? good : at ? at : n;
		taken += width;
		at += n;
		if (text[at] == ' ' || (n == 1 && text[at - 1] == '-')) /* hyphens allow a break */
			good = at;
	}
	return at;
}

/* Writes the line and returns the columns used. `colour`: in: the colour open at its start; out: at its end. */
static size_t put_line(struct jl_buf *out, const char *text, size_t len, const char **colour,
		       const struct jl_table_style *style)
{
	const bool coloured = style->colour && style->flavour == JL_TABLE_TEXT;
	size_t taken = 0;

	if (*colour && coloured)
		jl_buf_add(out, *colour, colour_len(*colour));
	for (const char *end = text + len; text < end;) {
		size_t width, n = next_piece(text, style->flavour, &width);
		bool is_colour = *text == '\033';

		if (is_escaped(*text, style->flavour))
			jl_buf_putc(out, '\\');
		if (!is_colour || coloured)
			jl_buf_add(out, text, n);
		if (is_colour)
			*colour = strncmp(text, JL_TABLE_RESET, n) != 0 && strncmp(text, "\033[m", n) != 0 ? text
													   : NULL;
		taken += width;
		text += n;
	}
	/* reset the colour before the next column */
	if (*colour && coloured)
		jl_buf_puts(out, JL_TABLE_RESET);
	return taken;
}

/* Writes one line of a cell; returns the rest. */
static const char *put_cell(struct jl_buf *out, const char *text, size_t columns, enum jl_align align,
			    const char **colour, const struct jl_table_style *style)
{
	const size_t len = line_len(text, columns, style->flavour);
	size_t width = 0;

	for (size_t at = 0, w; at < len; width += w)
		at += next_piece(text + at, style->flavour, &w);
	if (align == JL_RIGHT && width < columns)
		jl_buf_pad(out, ' ', columns - width);
	put_line(out, text, len, colour, style);
	if (align == JL_LEFT && width < columns)
		jl_buf_pad(out, ' ', columns - width);
	return text + len + strspn(text + len, " ");
}

static const char *head_of(const struct jl_table_column *column)
{
	return column->head ? column->head : "";
}

static size_t min_width_of(const struct jl_table_column *column)
{
	return column->min_width ? column->min_width : MIN_WIDTH;
}

/* Width of the longest word of a header: the narrowest column it fits in. */
static size_t longest_word(const char *text)
{
	size_t most = 0;

	while (*text) {
		const size_t len = strcspn(text, " ");
		char word[128];

		snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : sizeof(word) - 1), text);
		if (jl_utf8_width(word) > most)
			most = jl_utf8_width(word);
		text += len + (text[len] == ' ');
	}
	return most;
}

/* Narrows the widest column until the table fits, or nothing is left to narrow. Flexible columns keep their minimum width, others the width of
 * their cells and of the longest header word. */
static void shrink(const struct jl_table *table, const struct jl_table_style *style, size_t *widths,
		   const size_t *cells)
{
	size_t total = style->indent + GAP * (table->n_columns - 1), least[JL_TABLE_COLUMNS_MAX];

	for (size_t i = 0; i < table->n_columns; i++) {
		const size_t word = longest_word(head_of(&table->columns[i]));

		least[i] = table->columns[i].flexible ? min_width_of(&table->columns[i])
			   : cells[i] > word          ? cells[i]
						      : word;
		total += widths[i];
	}
	while (total > style->width) {
		size_t widest = table->n_columns;
		for (size_t i = 0; i < table->n_columns; i++)
			if (widths[i] > least[i] && (widest == table->n_columns || widths[i] > widths[widest]))
				widest = i;
		if (widest == table->n_columns)
			return;
		widths[widest]--;
		total--;
	}
}

static void measure(const struct jl_table *table, const struct jl_table_style *style, size_t *widths)
{
	size_t cells[JL_TABLE_COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < table->n_cells; i++) {
		size_t width = visible_width(table->cells[i], style->flavour);
		if (width > cells[i % table->n_columns])
			cells[i % table->n_columns] = width;
	}
	for (size_t i = 0; i < table->n_columns; i++) {
		size_t head = visible_width(head_of(&table->columns[i]), style->flavour);

		widths[i] = head > cells[i] ? head : cells[i];
		if (style->flavour == JL_TABLE_MARKDOWN)
			widths[i] = widths[i] < 3 ? 3 : widths[i]; /* room for "---" under the header */
	}
	if (style->flavour == JL_TABLE_TEXT && style->width)
		shrink(table, style, widths, cells);
}

static void end_line(struct jl_buf *out, size_t from)
{
	while (!out->failed && out->len > from && out->data[out->len - 1] == ' ')
		out->len--;
	jl_buf_putc(out, '\n');
}

/* Gap between columns: 1 if the table is too wide otherwise, because numbers are never split. */
static size_t gap_of(const struct jl_table *table, const struct jl_table_style *style, const size_t *widths)
{
	size_t total = style->indent + GAP * (table->n_columns - 1);

	for (size_t i = 0; i < table->n_columns; i++)
		total += widths[i];
	return style->width && total > style->width ? 1 : GAP;
}

static void put_text_rule(const struct jl_table *table, const struct jl_table_style *style, const size_t *widths,
			  struct jl_buf *out)
{
	const size_t gap = gap_of(table, style, widths);

	jl_buf_pad(out, ' ', style->indent);
	for (size_t i = 0; i < table->n_columns; i++) {
		jl_buf_pad(out, ' ', i ? gap : 0);
		for (size_t j = 0; j < widths[i]; j++)
			jl_buf_puts(out, "─");
	}
	jl_buf_putc(out, '\n');
}

/* Writes one line of a row; the rest stays in `left`. */
static bool put_row_line(const struct jl_table *table, const struct jl_table_style *style, const size_t *widths,
			 const char **left, const char **colours, struct jl_buf *out)
{
	bool markdown = style->flavour == JL_TABLE_MARKDOWN, more = false;
	const size_t from = out->len, gap = gap_of(table, style, widths);

	jl_buf_pad(out, ' ', markdown ? 0 : style->indent);
	for (size_t i = 0; i < table->n_columns; i++) {
		if (markdown)
			jl_buf_puts(out, i ? " | " : "| ");
		else
			jl_buf_pad(out, ' ', i ? gap : 0);
		left[i] = put_cell(out, left[i], widths[i], table->columns[i].align, &colours[i], style);
		more |= *left[i] != '\0';
	}
	if (markdown)
		jl_buf_puts(out, " |");
	end_line(out, from);
	return more;
}

/* Writes a row (`cells` NULL: the header). Text wider than its column continues on the next line. */
static void put_row(const struct jl_table *table, const struct jl_table_style *style, const size_t *widths,
		    const char *const *cells, struct jl_buf *out)
{
	const char *left[JL_TABLE_COLUMNS_MAX], *colours[JL_TABLE_COLUMNS_MAX] = { NULL };

	for (size_t i = 0; i < table->n_columns; i++)
		left[i] = cells ? cells[i] : head_of(&table->columns[i]);
	for (size_t n = 1; put_row_line(table, style, widths, left, colours, out) && !out->failed; n++)
		for (size_t i = 0; n == LINES_MAX && i < table->n_columns; i++)
			left[i] = *left[i] ? "…" : "";
}

static void put_markdown_rule(const struct jl_table *table, const size_t *widths, struct jl_buf *out)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		bool right = table->columns[i].align == JL_RIGHT;
		jl_buf_puts(out, i ? " | " : "| ");
		jl_buf_pad(out, '-', widths[i] - right);
		jl_buf_puts(out, right ? ":" : "");
	}
	jl_buf_puts(out, " |\n");
}

static bool has_header(const struct jl_table *table)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		if (head_of(&table->columns[i])[0])
			return true;
	}
	return false;
}

enum jl_status jl_table_print(const struct jl_table *table, const struct jl_table_style *style, struct jl_buf *out,
			      struct jl_err *err)
{
	size_t widths[JL_TABLE_COLUMNS_MAX];
	bool markdown = style->flavour == JL_TABLE_MARKDOWN, header = has_header(table);

	if (table->failed == JL_E_LIMIT)
		return jl_fail(err, JL_E_LIMIT, "a table of more than %zu cells", CELLS_MAX);
	if (table->failed)
		return jl_fail_nomem(err);
	measure(table, style, widths);
	if (header || markdown)
		put_row(table, style, widths, NULL, out);
	if (markdown)
		put_markdown_rule(table, widths, out);
	else if (header)
		put_text_rule(table, style, widths, out);
	for (size_t i = 0; i + table->n_columns <= table->n_cells && !out->failed; i += table->n_columns)
		put_row(table, style, widths, table->cells + i, out);
	if (out->failed == JL_E_LIMIT)
		return jl_fail(err, JL_E_LIMIT, "the table is longer than %zu bytes", out->limit_B);
	return out->failed ? jl_fail_nomem(err) : JL_OK;
}
