/* Text runs of a page: names, and figures with their origin. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "document/escape.h"

void jl_html_escape(struct jl_buf *out, const char *text)
{
	char shown[JL_UTF8_SHOWN_MAX];

	for (size_t n; (n = jl_utf8_shown(text, shown)); text += n) {
		switch (*text) {
		case '&': jl_buf_puts(out, "&amp;"); break;
		case '<': jl_buf_puts(out, "&lt;"); break;
		case '>': jl_buf_puts(out, "&gt;"); break;
		case '"': jl_buf_puts(out, "&quot;"); break;
		case '\'': jl_buf_puts(out, "&#39;"); break;
		case '\n':
		case '\t': jl_buf_putc(out, *text); break;
		default: jl_buf_puts(out, shown);
		}
	}
}

void jl_html_put(struct jl_buf *out, const char *before, const char *text, const char *after)
{
	jl_buf_puts(out, before);
	jl_html_escape(out, text);
	jl_buf_puts(out, after);
}

static void escape_word(struct jl_buf *out, const char *word, size_t len)
{
	char copy[256];

	while (len > 0) {
		size_t n = len < sizeof copy - 1 ? len : sizeof copy - 1;

		while (n > 1 && n < len && ((unsigned char)word[n] & 0xc0) == 0x80)
			n--; /* not inside a UTF-8 sequence */
		memcpy(copy, word, n);
		copy[n] = '\0';
		jl_html_escape(out, copy);
		word += n;
		len -= n;
	}
}

/* Words with digits and letters are names (A100, ZeRO-2, gpt-305m); digits alone are figures and stay unmarked, so that the page test finds
 * them. */
static bool is_name(const char *word, size_t len)
{
	bool digit = false, letter = false;

	for (size_t i = 0; i < len; i++) {
		digit |= isdigit((unsigned char)word[i]) != 0;
		letter |= isalpha((unsigned char)word[i]) != 0;
	}
	return digit && letter;
}

static size_t span_of(const char *text, size_t most, const char *set, bool in)
{
	size_t n = 0;

	while (n < most && (strchr(set, text[n]) != NULL) == in)
		n++;
	return n;
}

static void text_part(struct jl_buf *out, const char *text, size_t left)
{
	while (left) {
		const size_t blank = span_of(text, left, " \t\n", true);
		size_t len = span_of(text + blank, left - blank, " \t\n", false);
		const size_t digits = strspn(text + blank, "0123456789");

		/* "2x H200" is one name */
		if (digits && len == digits + 1 && text[blank + digits] == 'x' && blank + len + 1 < left) {
			const size_t next = span_of(text + blank + len + 1, left - blank - len - 1, " \t\n", false);

			len += is_name(text + blank + len + 1, next) ? 1 + next : 0;
		}

		escape_word(out, text, blank);
		if (is_name(text + blank, len)) {
			jl_buf_puts(out, "<span data-name=\"\">");
			escape_word(out, text + blank, len);
			jl_buf_puts(out, "</span>");
		} else {
			escape_word(out, text + blank, len);
		}
		text += blank + len;
		left -= blank + len;
	}
}

void jl_html_text(struct jl_buf *out, const char *text)
{
	text_part(out, text, strlen(text));
}

/* A user's name: its digits are not figures. */
void jl_html_name(struct jl_buf *out, const char *text)
{
	jl_html_put(out, "<span data-name=\"\">", text, "</span>");
}

void jl_html_num_attributes(struct jl_buf *out, const struct jl_num *num, const char *of)
{
	const char *plain = num->unit ? num->unit : of ? of : "1";

	jl_buf_printf(out, " data-origin=\"%s\" data-unit=\"",
		      num->origin == JL_ORIGIN_NONE ? "given" : jl_origin_name(num->origin));
	jl_html_escape(out, num->kind == JL_K_NUMBER ? plain : jl_kind_suffix(num->kind));
	if (isnan(num->value))
		jl_buf_puts(out, "\" data-value=\"unknown");
	else
		jl_buf_printf(out, "\" data-value=\"%.9g", num->value);
	if (num->source) {
		jl_buf_puts(out, "\" data-source=\"");
		jl_html_escape(out, num->source);
	}
	jl_buf_putc(out, '"');
}

/* Four shapes that differ without colour: full, full diamond, empty diamond, ring. */
void jl_html_origin_shapes(struct jl_buf *out)
{
	jl_buf_puts(out,
		    "<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\"><symbol id=\"o-measured\" "
		    "viewBox=\"0 0 10 10\"><circle cx=\"5\" cy=\"5\" r=\"4\" fill=\"currentColor\"/></symbol><symbol "
		    "id=\"o-published\" viewBox=\"0 0 10 10\"><path d=\"M5 0l5 5l-5 5l-5-5z\" "
		    "fill=\"currentColor\"/></symbol><symbol id=\"o-listed\" viewBox=\"0 0 10 10\"><path d=\"M5 1l4 "
		    "4l-4 4l-4-4z\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.4\"/></symbol><symbol "
		    "id=\"o-estimated\" viewBox=\"0 0 10 10\"><circle cx=\"5\" cy=\"5\" r=\"3.6\" fill=\"none\" "
		    "stroke=\"currentColor\" stroke-width=\"1.5\"/></symbol></svg>\n");
}

void jl_html_origin(struct jl_buf *out, enum jl_origin origin)
{
	if (origin != JL_ORIGIN_NONE)
		jl_buf_printf(out, "<svg class=\"o\" role=\"img\" aria-label=\"%s\"><use href=\"#o-%s\"/></svg>",
			      jl_origin_word(origin), jl_origin_name(origin));
}

/* The mark links to its source. */
static void mark_html(struct jl_buf *out, const struct jl_num *num, const struct jl_doc *doc)
{
	const size_t i = doc ? jl_doc_source_of(doc->sources, doc->n_sources, num) : 0;
	const bool listed = doc && i < doc->n_sources;

	if (num->origin == JL_ORIGIN_NONE)
		return;
	if (listed)
		jl_buf_printf(out, "<a href=\"#s%zu\">", i + 1);
	jl_html_origin(out, num->origin);
	jl_buf_puts(out, listed ? "</a>" : "");
}

void jl_html_num(struct jl_buf *out, const struct jl_num *num, const struct jl_doc *doc, bool marked)
{
	struct jl_buf shown, described;

	jl_buf_init(&shown, 4096);
	jl_buf_init(&described, 4096);
	jl_num_print(&shown, num);
	jl_num_tell(&described, num);
	jl_buf_puts(out, "<span class=\"n\"");
	jl_html_num_attributes(out, num, NULL);
	jl_html_put(out, " title=\"", jl_buf_text(&described), "\">");
	jl_html_escape(out, jl_buf_text(&shown));
	if (marked) /* inside, so that no line break precedes it */
		mark_html(out, num, doc);
	jl_buf_puts(out, "</span>");
	jl_buf_release(&shown);
	jl_buf_release(&described);
}

static bool starts_figure(const char *text, const char *at)
{
	const unsigned char before = at > text ? (unsigned char)at[-1] : ' ';

	/* the dash of 512-1024 separates two figures, that of rtx-3090 is part of a name */
	if (before == '-' && at - text > 1 && !isdigit((unsigned char)at[-2]) && at[-2] != ' ' && at[-2] != '(')
		return false;
	return isdigit((unsigned char)*at) && !isalnum(before) && before != '_' && before != '.';
}

/* Length of the unit after a figure of a sentence: "GB/s", "%", "x"; 1 without a unit. */
static size_t unit_behind(const char *at)
{
	static const char *const units[] = { "GB/s",    "MB/s", "TB/s", "GiB",       "MiB", "GB",  "MB",  "TB",
					     "TFLOP/s", "ms",   "us",   "W",         "kW",  "kWh", "USD", "KRW",
					     "%",       "x",    "GPU",  "samples/s", "h",   "s",   "d",   "V",
					     "A",       "mm",   "배",   "개",        "장",  "초" };
	const size_t blank = *at == ' ';

	for (size_t i = 0; i < JL_LEN(units); i++) {
		const size_t len = strlen(units[i]);
		if (strncmp(at + blank, units[i], len) == 0 && !isalnum((unsigned char)at[blank + len]))
			return blank + len;
	}
	return 0;
}

/* Length of the figure at `at` with its unit; 0: none, and `*ret_skip` is part of a name. */
static size_t figure_at(const char *text, const char *at, size_t *ret_digits, size_t *ret_skip)
{
	size_t n, unit;

	*ret_skip = 1;
	if (!starts_figure(text, at))
		return 0;
	n = strspn(at, "0123456789.,");
	while (n > 1 && (at[n - 1] == '.' || at[n - 1] == ','))
		n--;
	unit = unit_behind(at + n);
	*ret_skip = n;
	if (isalpha((unsigned char)at[n]) && !unit) /* 10x, 4x-rtx, 305M: part of a name */
		return 0;
	*ret_skip = n + 1;
	if (unit == 1 && at[n] == 'x' && at[n + 1] == ' ' && is_name(at + n + 2, strcspn(at + n + 2, " ,.;)")))
		return 0; /* 4x rtx-3090 */
	*ret_digits = n;
	return n + unit;
}

static void said_figure(struct jl_buf *out, const struct jl_num *num, const char *at, size_t n, size_t unit)
{
	jl_buf_printf(out, "<span class=\"n\" data-origin=\"%s\" data-unit=\"",
		      num->origin == JL_ORIGIN_NONE ? "given" : jl_origin_name(num->origin));
	if (unit)
		escape_word(out, at + n + (at[n] == ' '), unit - (at[n] == ' '));
	else
		jl_buf_putc(out, '1');
	jl_buf_puts(out, "\" data-value=\"");
	for (size_t i = 0; i < n; i++)
		if (at[i] != ',')
			jl_buf_putc(out, at[i]);
	if (num->source) {
		jl_buf_puts(out, "\" data-source=\"");
		jl_html_escape(out, num->source);
	}
	jl_buf_puts(out, "\">");
	escape_word(out, at, n + unit);
	jl_buf_puts(out, "</span>");
}

/* A sentence of another module: its figures get its origin, with one mark after the last. */
void jl_html_said(struct jl_buf *out, const struct jl_run *run, const struct jl_doc *doc, bool marked)
{
	const char *at = run->text, *from = at;
	bool any = false;

	while (*at) {
		size_t digits = 0, skip, len = figure_at(run->text, at, &digits, &skip);

		if (!len) {
			at += strnlen(at, skip);
			continue;
		}
		text_part(out, from, (size_t)(at - from));
		said_figure(out, &run->num, at, digits, len - digits);
		any = true;
		at += len;
		from = at;
	}
	text_part(out, from, strlen(from));
	if (any && marked)
		mark_html(out, &run->num, doc);
}
