/* Splits a note into lines and blanks its markup in a copy of equal length. HTML tables become tab-separated lines. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "notes/inside.h"

struct tag {
	const char *name;
	const char *becomes; /* replacement, not longer than the shortest form of the tag */
	bool hides;          /* its content is not text */
};

static const struct tag tags[] = {
	{ "tr", "\n", false },       { "/tr", "", false },         { "td", "\t", false },
	{ "th", "\t", false },       { "p", "\n", false },         { "/p", "\n", false },
	{ "div", "\n", false },      { "/div", "\n", false },      { "li", "\n- ", false },
	{ "/li", "\n", false },      { "br", "\n", false },        { "br/", "\n", false },
	{ "ul", "\n", false },       { "/ul", "\n", false },       { "ol", "\n", false },
	{ "/ol", "\n", false },      { "h1", "\n#", false },       { "h2", "\n##", false },
	{ "h3", "\n###", false },    { "h4", "\n###", false },     { "/h1", "\n", false },
	{ "/h2", "\n", false },      { "/h3", "\n", false },       { "/h4", "\n", false },
	{ "pre", "\n```\n", false }, { "/pre", "\n```\n", false }, { "table", "\n\n", false },
	{ "/table", "\n\n", false }, { "script", "", true },       { "style", "", true },
	{ "head", "", true },        { "svg", "", true },
};

static const struct {
	const char *name, *text;
} escapes[] = { { "&nbsp;", " " },  { "&amp;", "&" },    { "&lt;", "<" },     { "&gt;", ">" },    { "&quot;", "\"" },
		{ "&times;", "×" }, { "&middot;", " " }, { "&minus;", "-" },  { "&ndash;", "–" }, { "&mdash;", " " },
		{ "&#215;", "×" },  { "&asymp;", "≈" },  { "&divide;", "÷" }, { "&#39;", "'" },   { "&micro;", "µ" } };

static const struct tag *tag_of(const char *name, size_t len)
{
	for (size_t i = 0; i < JL_LEN(tags); i++)
		if (strlen(tags[i].name) == len && strncasecmp(tags[i].name, name, len) == 0)
			return &tags[i];
	return NULL;
}

static void blank(char *text, size_t from, size_t to)
{
	memset(text + from, ' ', to - from);
}

static void put(char *text, size_t at, size_t room, const char *what)
{
	const size_t n = strlen(what);

	for (size_t i = 0; n <= room && i < n; i++)
		text[at + i] = what[i];
}

/* End of the tag at `at`, after its '>'; 0: not a tag. Bounded, so that many '<' stay linear. */
#define TAG_MAX 4096
static size_t tag_end(const char *text, size_t at, size_t len)
{
	const size_t to = len - at > TAG_MAX ? at + TAG_MAX : len;
	const unsigned char next = at + 1 < len ? (unsigned char)text[at + 1] : 0;

	if (!isalpha(next) && next != '/' && next != '!')
		return 0;
	for (size_t i = at + 1; i < to; i++) {
		if (text[i] == '>')
			return i + 1;
		if (text[i] == '<')
			return 0;
	}
	return 0;
}

static size_t find_close(const char *text, size_t at, size_t len, const struct tag *tag)
{
	const size_t n = strlen(tag->name);

	for (size_t i = at; i + n + 2 < len; i++)
		if (text[i] == '<' && text[i + 1] == '/' && strncasecmp(text + i + 2, tag->name, n) == 0)
			return i;
	return len;
}

struct masking {
	struct jl_audit_note *note;
	bool in_table, in_pre;
};

static size_t mask_tag(struct masking *m, size_t at)
{
	const size_t len = m->note->len, end = tag_end(m->note->raw, at, len);
	const char *raw = m->note->raw;
	const struct tag *tag;
	size_t name = at + 1, n = 0;

	if (!end)
		return at + 1;
	while (name + n < end && (isalnum((unsigned char)raw[name + n]) || raw[name + n] == '/'))
		n++;
	blank(m->note->text, at, end);
	if (!(tag = tag_of(raw + name, n)))
		return end;
	/* a line break in a cell does not end the row */
	if (strncasecmp(tag->name, "br", 2) != 0 || (m->note->is_html && !m->in_table))
		put(m->note->text, at, end - at, tag->becomes);
	if (strcasecmp(tag->name, "table") == 0)
		m->in_table = true;
	else if (strcasecmp(tag->name, "/table") == 0)
		m->in_table = false;
	else if (strcasecmp(tag->name, "pre") == 0)
		m->in_pre = true;
	else if (strcasecmp(tag->name, "/pre") == 0)
		m->in_pre = false;
	if (tag->hides) {
		const size_t close = find_close(raw, end, len, tag);

		blank(m->note->text, end, close);
		return close;
	}
	return end;
}

static size_t mask_escape(struct masking *m, size_t at)
{
	for (size_t i = 0; i < JL_LEN(escapes); i++) {
		const size_t n = strlen(escapes[i].name);

		if (m->note->len - at >= n && memcmp(m->note->raw + at, escapes[i].name, n) == 0) {
			blank(m->note->text, at, at + n);
			put(m->note->text, at, n, escapes[i].text);
			return at + n;
		}
	}
	return at + 1;
}

/* Blanks URLs, whose digits are not figures. */
static size_t mask_address(struct masking *m, size_t at)
{
	size_t end = at;

	while (end < m->note->len && !isspace((unsigned char)m->note->raw[end]) &&
	       !strchr(")>]|\"'`", m->note->raw[end]))
		end++;
	blank(m->note->text, at, end);
	return end;
}

static bool address_begins(const struct jl_audit_note *note, size_t at)
{
	const size_t left = note->len - at;

	return (left > 7 && memcmp(note->raw + at, "http://", 7) == 0) ||
	       (left > 8 && memcmp(note->raw + at, "https://", 8) == 0);
}

/* Invisible and control characters, which may also control a terminal. */
static bool is_hidden(uint32_t c)
{
	return (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7f && c <= 0x9f) || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

static size_t mask_character(struct masking *m, size_t at)
{
	struct jl_audit_note *note = m->note;
	uint32_t c;
	const size_t n = jl_utf8_decode(note->raw + at, note->len - at, &c);

	if (!n || is_hidden(c)) {
		blank(note->text, at, at + (n ? n : 1));
		note->n_replaced += c != '\r' || !n;
		return at + (n ? n : 1);
	}
	if (c == 0xa0 || c == 0x3000 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f)
		blank(note->text, at, at + n);
	else if (c == '\n' && (m->in_table || (note->is_html && !m->in_pre)))
		note->text[at] = ' ';
	else if (c == '*' && note->len - at > 1 && note->raw[at + 1] == '*') {
		/* bold, unless digits on both sides make it a power: 2**30 */
		if (!(at && isdigit((unsigned char)note->raw[at - 1]) && note->len - at > 2 &&
		      isdigit((unsigned char)note->raw[at + 2])))
			blank(note->text, at, at + 2);
		return at + 2;
	}
	return at + n;
}

static void mask(struct jl_audit_note *note)
{
	struct masking m = { .note = note };

	for (size_t at = 0; at < note->len;) {
		const char c = note->raw[at];

		if (c == '<')
			at = mask_tag(&m, at);
		else if (c == '&')
			at = mask_escape(&m, at);
		else if (c == 'h' && address_begins(note, at))
			at = mask_address(&m, at);
		else if ((unsigned char)c >= 0x80 || c == '*' || (unsigned char)c < 0x20 || c == 0x7f)
			at = mask_character(&m, at);
		else if (c == '\\' && at + 1 < note->len && ispunct((unsigned char)note->raw[at + 1]))
			note->text[at++] = ' ';
		else
			at++;
	}
}

bool jl_audit_names_html(const char *name, const char *text, size_t len)
{
	const char *dot = name ? strrchr(name, '.') : NULL;

	if (dot && (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0))
		return true;
	while (len && isspace((unsigned char)*text))
		text++, len--;
	return len > 9 && (strncasecmp(text, "<!doctype", 9) == 0 || strncasecmp(text, "<html", 5) == 0);
}

static enum jl_status raw_lines(struct jl_audit_note *note, struct jl_err *err)
{
	size_t n = 1;

	for (size_t i = 0; i < note->len; i++)
		n += note->raw[i] == '\n';
	if (!(note->raw_line_at = jl_arena_array(note->arena, n, sizeof *note->raw_line_at)))
		return jl_fail_nomem(err);
	note->n_raw_lines = n;
	n = 1;
	for (size_t i = 0; i < note->len; i++)
		if (note->raw[i] == '\n')
			note->raw_line_at[n++] = (uint32_t)(i + 1);
	return JL_OK;
}

#define COLUMNS_COUNTED 65536

void jl_audit_place(const struct jl_audit_note *note, uint32_t at, uint32_t *ret_line, uint32_t *ret_column)
{
	size_t lo = 0, hi = note->n_raw_lines;
	uint32_t column = 1;

	while (hi - lo > 1) {
		const size_t mid = (lo + hi) / 2;

		if (note->raw_line_at[mid] <= at)
			lo = mid;
		else
			hi = mid;
	}
	if (at - note->raw_line_at[lo] > COLUMNS_COUNTED)
		column = at - note->raw_line_at[lo]; /* in very long lines, byte offset instead of characters */
	else
		for (uint32_t i = note->raw_line_at[lo]; i < at; i++)
			column += ((unsigned char)note->raw[i] & 0xc0) != 0x80;
	*ret_line = (uint32_t)lo + 1;
	*ret_column = column;
}

static bool only(const char *text, size_t len, const char *of)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(of, text[i]) || !text[i])
			return false;
	return len > 0;
}

static void line_kind(struct jl_line *line, const char *text, bool in_code)
{
	size_t from = 0, to = line->len;

	while (from < to && isspace((unsigned char)text[from]))
		from++;
	while (to > from && isspace((unsigned char)text[to - 1]))
		to--;
	line->kind = in_code ? JL_LINE_CODE : JL_LINE_TEXT;
	if (from == to)
		line->kind = JL_LINE_BLANK;
	else if (to - from >= 3 && (memcmp(text + from, "```", 3) == 0 || memcmp(text + from, "~~~", 3) == 0))
		line->kind = JL_LINE_FENCE;
	else if (!in_code && text[from] == '#') {
		while (from < to && text[from] == '#')
			from++, line->level++;
		line->kind = line->level <= 6 ? JL_LINE_HEAD : JL_LINE_TEXT;
	} else if (only(text + from, to - from, "-=_*+| :\t") && to - from >= 3) {
		line->kind = JL_LINE_RULE;
	}
}

/* Numbered headings: "2.4 What we saw" is below "2. Cluster", even with equally many '#'. */
struct chapter {
	uint32_t number, line; /* line + 1; 0: none */
	int level;
};

static void number_heading(struct jl_audit_note *note, struct jl_line *line, struct chapter *chapter)
{
	const char *t = note->text + line->at;
	size_t i = 0, from;
	uint32_t number = 0;

	while (i < line->len && (t[i] == '#' || t[i] == ' '))
		i++;
	for (from = i; i < line->len && isdigit((unsigned char)t[i]) && i - from < 3; i++)
		number = number * 10 + (uint32_t)(t[i] - '0');
	if (i == from)
		return;
	if (i + 1 < line->len && t[i] == '.' && isdigit((unsigned char)t[i + 1])) {
		if (chapter->line && chapter->number == number && chapter->level == line->level)
			line->section = chapter->line;
	} else {
		*chapter = (struct chapter){ number, (uint32_t)note->n_lines, line->level };
	}
}

enum jl_status jl_audit_read(struct jl_audit_note *note, struct jl_err *err)
{
	uint32_t heads[7] = { 0 };
	struct chapter chapter = { 0 };
	bool in_code = false;
	size_t n = 1;

	if (!(note->text = jl_arena_alloc(note->arena, note->len + 1)))
		return jl_fail_nomem(err);
	memcpy(note->text, note->raw, note->len);
	mask(note);
	for (size_t i = 0; i < note->len; i++)
		n += note->text[i] == '\n';
	if (n > JL_AUDIT_LINES_MAX)
		return jl_fail(err, JL_E_LIMIT, "%s: more than %d lines; give the part that has the figures",
			       note->file, JL_AUDIT_LINES_MAX);
	JL_TRY(raw_lines(note, err));
	if (!(note->lines = jl_arena_array(note->arena, n, sizeof *note->lines)))
		return jl_fail_nomem(err);
	for (size_t at = 0; at <= note->len && note->n_lines < n;) {
		const char *end = memchr(note->text + at, '\n', note->len - at);
		struct jl_line *line = &note->lines[note->n_lines++];

		line->at = (uint32_t)at;
		line->len = (uint32_t)(end ? (size_t)(end - note->text) - at : note->len - at);
		line_kind(line, note->text + at, in_code);
		in_code ^= line->kind == JL_LINE_FENCE;
		for (int level = 6; level >= 1 && !line->section; level--)
			if (heads[level] && (line->kind != JL_LINE_HEAD || level < line->level))
				line->section = heads[level];
		if (line->kind == JL_LINE_HEAD) {
			number_heading(note, line, &chapter);
			heads[line->level] = (uint32_t)note->n_lines;
			for (int level = line->level + 1; level <= 6; level++)
				heads[level] = 0;
		}
		at += line->len + 1;
	}
	return JL_OK;
}
