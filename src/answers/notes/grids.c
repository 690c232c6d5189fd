/* Parses tables (Markdown, box drawing, tabs, nccl-tests output) into rows and columns. */
#include <ctype.h>
#include <string.h>

#include "base/utf8.h"
#include "notes/inside.h"

#define LABEL_MAX 96

struct jl_cell *jl_grid_cell(const struct jl_grid *grid, uint32_t row, uint32_t col)
{
	return &grid->cells[(size_t)row * grid->n_cols + col];
}

size_t jl_audit_label(char *out, size_t size, const char *text, size_t len)
{
	size_t n = 0;
	int depth = 0;

	for (size_t i = 0; i < len && n + 1 < size; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c == '(' || c == '[')
			depth++;
		else if (c == ')' || c == ']')
			depth -= depth > 0;
		else if (!depth && (isalnum(c) || c >= 0x80 || c == '%' || c == '+'))
			out[n++] = (char)tolower(c);
	}
	out[n] = '\0';
	return n;
}

/* --- cells */

static void trim(const char *t, uint32_t *at, uint32_t *len)
{
	while (*len && (isspace((unsigned char)t[*at]) || t[*at] == '`'))
		++*at, --*len;
	while (*len && (isspace((unsigned char)t[*at + *len - 1]) || t[*at + *len - 1] == '`'))
		--*len;
}

static void fill(const struct jl_audit_note *note, struct jl_cell *cell, uint32_t at, uint32_t len, size_t line)
{
	const struct jl_line *l = &note->lines[line];

	trim(note->text, &at, &len);
	*cell = (struct jl_cell){ .at = at, .len = len, .fig = -1, .mention = -1 };
	for (uint32_t i = 0; i < l->n_figs && cell->fig < 0; i++) {
		const struct jl_figure *f = &note->figures[l->fig + i];

		if (f->at >= at && f->at + f->len <= at + len)
			cell->fig = (int32_t)(l->fig + i);
	}
	for (uint32_t i = 0; i < l->n_mentions; i++) {
		const struct jl_mention *m = &note->mentions[l->mention + i];

		if (m->at >= at && m->at + m->len <= at + len &&
		    (cell->mention < 0 || note->entities[note->mentions[cell->mention].entity].family))
			cell->mention = (int32_t)(l->mention + i);
	}
}

enum cut { CUT_NONE, CUT_PIPE, CUT_BOX, CUT_TAB };

static const char box[] = "│"; /* U+2502 */

static size_t next_cut(const char *t, size_t at, size_t end, enum cut how, size_t *ret_len)
{
	for (size_t i = at; i < end; i++) {
		if (how == CUT_BOX && end - i >= 3 &&
		    (memcmp(t + i, box, 3) == 0 || memcmp(t + i, "┃", 3) == 0 || memcmp(t + i, "║", 3) == 0)) {
			*ret_len = 3;
			return i;
		}
		if ((how == CUT_PIPE && t[i] == '|') || (how == CUT_TAB && t[i] == '\t')) {
			*ret_len = 1;
			return i;
		}
	}
	*ret_len = 0;
	return end;
}

static void inner(const char *t, const struct jl_line *line, enum cut how, size_t *ret_from, size_t *ret_end)
{
	size_t from = line->at, end = line->at + line->len, n;

	while (from < end && isspace((unsigned char)t[from]))
		from++;
	while (end > from && isspace((unsigned char)t[end - 1]))
		end--;
	if (how != CUT_TAB && from < end && next_cut(t, from, end, how, &n) == from)
		from += n;
	if (how == CUT_PIPE && end > from && t[end - 1] == '|')
		end--;
	if (how == CUT_BOX && end >= from + 3 && next_cut(t, end - 3, end, how, &n) == end - 3 && n)
		end -= 3;
	*ret_from = from;
	*ret_end = end;
}

static size_t count_cells(const struct jl_audit_note *note, const struct jl_line *line, enum cut how)
{
	size_t from, end, n = 1, len;

	inner(note->text, line, how, &from, &end);
	for (;;) {
		from = next_cut(note->text, from, end, how, &len);
		if (!len)
			break;
		from += len;
		if (++n > JL_AUDIT_COLS_MAX)
			break;
	}
	return n;
}

static enum cut cut_of(const struct jl_audit_note *note, const struct jl_line *line)
{
	const char *t = note->text + line->at;

	if (line->kind == JL_LINE_BLANK || line->kind == JL_LINE_HEAD || line->kind == JL_LINE_FENCE ||
	    line->len > 65536)
		return CUT_NONE;
	if (memmem(t, line->len, box, 3) || memmem(t, line->len, "║", 3))
		return CUT_BOX;
	if (memchr(t, '|', line->len))
		return CUT_PIPE;
	if (count_cells(note, line, CUT_TAB) > 1)
		return CUT_TAB;
	return CUT_NONE;
}

/* True for separator lines of a drawn table. */
static bool is_ruled(const struct jl_audit_note *note, const struct jl_line *line)
{
	const char *t = note->text + line->at;

	if (line->kind == JL_LINE_RULE)
		return true;
	for (size_t i = 0; i < line->len;) {
		uint32_t c;
		const size_t n = jl_utf8_decode(t + i, line->len - i, &c);

		if (!n || !(c == ' ' || c == '-' || c == '+' || (c >= 0x2500 && c <= 0x257f)))
			return false;
		i += n;
	}
	return line->len > 0;
}

static void fill_row(struct jl_audit_note *note, struct jl_grid *g, uint32_t row, size_t l, enum cut how)
{
	const struct jl_line *line = &note->lines[l];
	size_t from, end, len;

	inner(note->text, line, how, &from, &end);
	for (uint32_t c = 0; c < g->n_cols; c++) {
		const size_t stop = from <= end ? next_cut(note->text, from, end, how, &len) : end;

		if (from > end) {
			*jl_grid_cell(g, row, c) = (struct jl_cell){ .at = (uint32_t)end, .fig = -1, .mention = -1 };
			continue;
		}
		fill(note, jl_grid_cell(g, row, c), (uint32_t)from, (uint32_t)(stop - from), l);
		from = len ? stop + len : end + 1;
	}
}

struct jl_grid *jl_grid_new(struct jl_audit_note *note, enum jl_grid_kind kind, size_t n_rows, size_t n_cols)
{
	const bool room = note->n_grids < JL_AUDIT_GRIDS_MAX;
	struct jl_cell *cells = room ? jl_arena_array(note->arena, n_rows * n_cols, sizeof *cells) : NULL;
	struct jl_grid *g = &note->grids[note->n_grids];

	if (!cells) {
		note->cut = true;
		return NULL;
	}
	*g = (struct jl_grid){ .kind = kind, .n_rows = (uint32_t)n_rows, .n_cols = (uint32_t)n_cols, .cells = cells };
	note->n_grids++;
	return g;
}

bool jl_grid_label(struct jl_audit_note *note, struct jl_grid *g)
{
	char label[LABEL_MAX];

	if (!(g->labels = jl_arena_array(note->arena, g->n_rows, sizeof *g->labels)))
		return false;
	for (uint32_t r = 0; r < g->n_rows; r++) {
		const struct jl_cell *cell = jl_grid_cell(g, r, 0);
		const size_t n = jl_audit_label(label, sizeof label, note->text + cell->at, cell->len);
		uint32_t hash = 2166136261u;

		for (size_t i = 0; i < n; i++)
			hash = (hash ^ (unsigned char)label[i]) * 16777619u;
		g->labels[r] = n > 1 ? hash | 1 : 0;
	}
	return true;
}

/* The unit that a header gives to bare numbers below it: "Total (ms)", "Memory [GB]", "BF16 TFLOPS". */
static const struct jl_audit_unit *head_unit(const struct jl_audit_note *note, const struct jl_cell *head)
{
	const char *t = note->text + head->at;
	const size_t len = head->len < 120 ? head->len : 0;

	for (size_t i = 0; i < len; i++) {
		const bool bracket = t[i] == '(' || t[i] == '[';
		const struct jl_audit_unit *u;
		size_t n;

		if (!bracket && i && t[i - 1] != ' ')
			continue;
		if (!(u = jl_audit_unit_at(t + i + bracket, len - i - bracket, true, &n)))
			continue;
		if (i == 0 && !bracket && n >= 4 && u->qty == JL_Q_TIME)
			return u; /* e.g. "days for 100B tokens" */
		/* alone in brackets, or a rate */
		if (bracket ? i + 1 + n < len && strchr(")]", t[i + 1 + n])
			    : i + n + (t[len - 1] == '*') == len &&
				      (u->qty == JL_Q_FLOP_RATE || u->qty == JL_Q_BYTE_RATE ||
				       u->qty == JL_Q_COUNT_RATE || u->qty == JL_Q_USD_RATE))
			return u->qty == JL_Q_NUMBER || u->qty == JL_Q_RATIO || u->qty == JL_Q_COUNT ? NULL : u;
	}
	return NULL;
}

static void give_unit(struct jl_audit_note *note, const struct jl_cell *cell, const struct jl_audit_unit *u)
{
	struct jl_figure *f = cell->fig < 0 ? NULL : &note->figures[cell->fig];

	if (!f || f->qty != JL_Q_NUMBER || f->scale != 1)
		return;
	f->qty = (uint8_t)u->qty;
	f->scale = u->scale;
	f->lo *= u->scale;
	f->hi *= u->scale;
	f->digit *= u->scale;
}

static void units_of_heads(struct jl_audit_note *note, const struct jl_grid *g)
{
	for (uint32_t c = 1; g->has_heads && c < g->n_cols; c++) {
		const struct jl_cell *head = jl_grid_cell(g, 0, c);
		const struct jl_audit_unit *u = head_unit(note, head);

		/* "GPU \\ TFLOPS | fp32 | bf16 |": the corner has the unit of all columns */
		if (!u && JL_PART_HAS(note, head, "fp32|tf32|fp16|bf16|fp8|fp64|fp4"))
			u = head_unit(note, jl_grid_cell(g, 0, 0));
		for (uint32_t r = 1; u && r < g->n_rows; r++)
			give_unit(note, jl_grid_cell(g, r, c), u);
	}
}

/* Units of rows, in the label ("Step time (ms)") or in a column ("Metric | Unit | A100 | H100"). */
static void units_of_rows(struct jl_audit_note *note, const struct jl_grid *g)
{
	uint32_t column = 0;

	for (uint32_t c = 1; c < g->n_cols; c++)
		if (jl_grid_cell(g, 0, c)->len < 12 && JL_PART_HAS(note, jl_grid_cell(g, 0, c), "unit|units|단위"))
			column = c;
	for (uint32_t r = 1; r < g->n_rows; r++) {
		const struct jl_cell *own = jl_grid_cell(g, r, column);
		const struct jl_audit_unit *u = column ? NULL : head_unit(note, own);
		size_t n;

		if (column && own->len)
			u = jl_audit_unit_at(note->text + own->at, own->len, true, &n);
		for (uint32_t c = 1; u && u->qty != JL_Q_NUMBER && c < g->n_cols; c++)
			give_unit(note, jl_grid_cell(g, r, c), u);
	}
}

/* True if each row (with `down`: each column) has figures of a single quantity. *ret_kinds: number of different quantities. */
static bool one_kind_each(const struct jl_audit_note *note, const struct jl_grid *g, bool down, uint32_t *ret_kinds)
{
	const uint32_t n = down ? g->n_cols : g->n_rows, m = down ? g->n_rows : g->n_cols;
	uint32_t seen = 0;
	bool each = true;

	for (uint32_t i = 1; i < n; i++) {
		uint8_t kind = JL_N_Q;

		for (uint32_t k = 1; k < m; k++) {
			const int32_t fig = jl_grid_cell(g, down ? k : i, down ? i : k)->fig;

			if (fig < 0)
				continue;
			each &= kind == JL_N_Q || kind == note->figures[fig].qty;
			kind = note->figures[fig].qty;
		}
		seen |= kind == JL_N_Q ? 0 : 1u << kind;
	}
	*ret_kinds = (uint32_t)__builtin_popcount(seen);
	return each;
}

/* True if the table is transposed: systems in the header, or quantities that differ by row instead of by column. */
static bool is_sideways(const struct jl_audit_note *note, const struct jl_grid *g)
{
	uint32_t named = 0, labelled = 0, kinds, others;

	if (!g->has_heads || g->n_cols < 3 || g->n_rows < 3 || g->n_rows > JL_AUDIT_COLS_MAX)
		return false;
	for (uint32_t c = 1; c < g->n_cols; c++)
		named += jl_grid_cell(g, 0, c)->mention >= 0 || jl_grid_cell(g, 0, c)->fig >= 0;
	for (uint32_t r = 1; r < g->n_rows; r++)
		labelled += jl_grid_cell(g, r, 0)->mention >= 0 || jl_grid_cell(g, r, 0)->fig >= 0;
	if (one_kind_each(note, g, false, &kinds) && kinds > 1 && !one_kind_each(note, g, true, &others))
		return true;
	return named >= 2 && named * 2 >= g->n_cols - 1 && labelled * 2 < g->n_rows - 1;
}

/* True if the first row is a header: its figures differ in number or quantity from those of the next row. */
static bool row_is_head(const struct jl_audit_note *note, const struct jl_grid *g)
{
	uint32_t n[2] = { 0, 0 }, n_other = 0;

	for (uint32_t c = 1; c < g->n_cols; c++) {
		const int32_t a = jl_grid_cell(g, 0, c)->fig, b = jl_grid_cell(g, 1, c)->fig;

		n[0] += a >= 0;
		n[1] += b >= 0;
		n_other += a >= 0 && (b < 0 || note->figures[a].qty != note->figures[b].qty);
	}
	return n[0] < n[1] || n[1] == 0 || n_other * 2 > n[0];
}

/* Parses the table at line `l`; returns the line after it. */
static size_t take_table(struct jl_audit_note *note, size_t l)
{
	const enum cut how = cut_of(note, &note->lines[l]);
	size_t end = l, n_rows = 0, n_cols = 0;
	struct jl_grid *g;
	bool ruled = false;

	for (; end < note->n_lines; end++) {
		const struct jl_line *line = &note->lines[end];

		if (is_ruled(note, line) && (how != CUT_TAB || line->kind == JL_LINE_RULE)) {
			ruled = true;
			continue;
		}
		if (cut_of(note, line) != how)
			break;
		size_t n = count_cells(note, line, how);
		if (how == CUT_TAB && n_rows && n != n_cols)
			break;
		n_cols = n > n_cols ? n : n_cols;
		n_rows++;
	}
	if (n_rows < 2 || n_cols < 2 || n_cols > JL_AUDIT_COLS_MAX || n_rows > JL_AUDIT_ROWS_MAX ||
	    (how == CUT_PIPE && !ruled)) {
		if (n_rows > JL_AUDIT_ROWS_MAX || (n_cols > JL_AUDIT_COLS_MAX && n_rows > 1))
			jl_audit_too_long(note, note->lines[l].at);
		return end > l ? end : l + 1;
	}
	if (!(g = jl_grid_new(note, JL_GRID_TABLE, n_rows, n_cols)))
		return end;
	g->first_line = (uint32_t)l;
	g->last_line = (uint32_t)(end - 1);
	n_rows = 0;
	for (size_t i = l; i < end; i++) {
		if (is_ruled(note, &note->lines[i]))
			continue;
		note->lines[i].kind = JL_LINE_ROW;
		fill_row(note, g, (uint32_t)n_rows++, i, how);
	}
	if (!jl_grid_label(note, g))
		note->n_grids--;
	g->has_heads = (how == CUT_PIPE && note->lines[l + 1].kind == JL_LINE_RULE) || row_is_head(note, g);
	units_of_heads(note, g);
	if (g->has_heads)
		units_of_rows(note, g);
	g->sideways = is_sideways(note, g);
	return end;
}

/* --- output of nccl-tests */

#define BENCH_WORDS 16

static size_t words_of(const struct jl_audit_note *note, const struct jl_line *line, struct jl_cell words[BENCH_WORDS])
{
	const char *t = note->text;
	uint32_t end = line->at + line->len, n = 0;

	for (uint32_t i = line->at; i < end && n < BENCH_WORDS; i++)
		if (!strchr(" \t", t[i])) {
			words[n] = (struct jl_cell){ .at = i, .fig = -1, .mention = -1 };
			while (i < end && !strchr(" \t", t[i]))
				i++;
			words[n].len = i - words[n].at;
			n++;
		}
	return n;
}

/* Number of column names in a header line of nccl-tests, without a leading '#'; 0: not a header. */
static size_t bench_heads(const struct jl_audit_note *note, const struct jl_line *line,
			  struct jl_cell words[BENCH_WORDS])
{
	if (line->len > 400 || !memmem(note->text + line->at, line->len, "busbw", 5) ||
	    !memmem(note->text + line->at, line->len, "algbw", 5) || memchr(note->text + line->at, '|', line->len))
		return 0;
	const size_t n = words_of(note, line, words);
	for (size_t i = 0; i < 2 && i < n; i++)
		if (jl_words_begin(note->text + words[i].at, words[i].len, "size", true)) {
			memmove(words, words + i, (n - i) * sizeof *words);
			return n - i;
		}
	return 0;
}

/* Number of words in a data line; -1: end of the block; 0: a comment or units. */
static int bench_row(const struct jl_audit_note *note, size_t l, size_t n_cols, struct jl_cell words[BENCH_WORDS])
{
	const struct jl_line *line = &note->lines[l];

	if (line->kind == JL_LINE_FENCE)
		return -1;
	if (words_of(note, line, words) == n_cols && isdigit((unsigned char)note->text[words[0].at]))
		return 1;
	return !line->len || note->text[line->at] == '#' ? 0 : -1;
}

/* Parses the block after a header line; returns the line after it. */
static size_t take_bench(struct jl_audit_note *note, size_t l, const struct jl_cell *heads, size_t n_cols)
{
	static const char *const units[][2] = { { "size", "bytes" }, { "time", "us" }, { "algbw|busbw", "GB/s" } };
	struct jl_cell words[BENCH_WORDS];
	size_t end = l + 1, n_rows = 1, n;
	struct jl_grid *g;
	int is;

	for (; end < note->n_lines && n_rows < JL_AUDIT_ROWS_MAX && (is = bench_row(note, end, n_cols, words)) >= 0;
	     end++)
		n_rows += is > 0;
	if (n_rows < 2 || !(g = jl_grid_new(note, JL_GRID_PRINTED, n_rows, n_cols)))
		return end;
	memcpy(g->cells, heads, n_cols * sizeof *heads);
	g->first_line = (uint32_t)l;
	g->last_line = (uint32_t)end - 1;
	g->has_heads = true;
	n_rows = 1;
	for (size_t i = l + 1; i < end; i++) {
		if (bench_row(note, i, n_cols, words) <= 0)
			continue;
		note->lines[i].kind = JL_LINE_ROW;
		for (size_t c = 0; c < n_cols; c++) {
			struct jl_cell *cell = jl_grid_cell(g, (uint32_t)n_rows, (uint32_t)c);

			fill(note, cell, words[c].at, words[c].len, i);
			for (size_t u = 0; u < 3; u++)
				if (jl_words_begin(note->text + heads[c].at, heads[c].len, units[u][0], true))
					give_unit(note, cell,
						  jl_audit_unit_at(units[u][1], strlen(units[u][1]), true, &n));
		}
		n_rows++;
	}
	if (!jl_grid_label(note, g))
		note->n_grids--;
	return end;
}

enum jl_status jl_audit_grids(struct jl_audit_note *note, struct jl_err *err)
{
	struct jl_cell heads[BENCH_WORDS];

	if (!(note->grids = jl_arena_array(note->arena, JL_AUDIT_GRIDS_MAX, sizeof *note->grids)))
		return jl_fail_nomem(err);
	for (size_t l = 0, n; l < note->n_lines;)
		l = (n = bench_heads(note, &note->lines[l], heads)) ? take_bench(note, l, heads, n)
		    : cut_of(note, &note->lines[l]) == CUT_NONE     ? l + 1
								    : take_table(note, l);
	return jl_audit_lists(note, err);
}
