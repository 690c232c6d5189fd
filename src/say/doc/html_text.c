/* Words and figures of a page: what is a name, what is a figure and where it comes from. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "doc/escape.h"

void jl_html_escape(struct jl_buf *out, const char *text)
{
	for (const char *at = text; *at; at++) {
		switch (*at) {
		case '&': jl_buf_puts(out, "&amp;"); break;
		case '<': jl_buf_puts(out, "&lt;"); break;
		case '>': jl_buf_puts(out, "&gt;"); break;
		case '"': jl_buf_puts(out, "&quot;"); break;
		case '\'': jl_buf_puts(out, "&#39;"); break;
		default:
			if ((unsigned char)*at >= 0x20 || *at == '\n' || *at == '\t')
				jl_buf_putc(out, *at);
		}
	}
}

static void escape_word(struct jl_buf *out, const char *word, size_t len)
{
	char copy[256];

	while (len > 0) {
		size_t n = len < sizeof copy - 1 ? len : sizeof copy - 1;

		while (n > 1 && n < len && ((unsigned char)word[n] & 0xc0) == 0x80)
			n--; /* not inside a character */
		memcpy(copy, word, n);
		copy[n] = '\0';
		jl_html_escape(out, copy);
		word += n;
		len -= n;
	}
}

/* A word with digits and letters in it is a name (A100, ZeRO-2, gpt-305m); digits alone are a figure and stay bare, so that the test
 * of the page finds them. */
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
		const size_t blank = span_of(text, left, " \t\n", true),
			     len = span_of(text + blank, left - blank, " \t\n", false);

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

/* What somebody called a thing: its digits are no figures. */
void jl_html_name(struct jl_buf *out, const char *text)
{
	jl_buf_puts(out, "<span data-name=\"\">");
	jl_html_escape(out, text);
	jl_buf_puts(out, "</span>");
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

void jl_html_num(struct jl_buf *out, const struct jl_num *num)
{
	struct jl_buf shown, told;

	jl_buf_init(&shown, 4096);
	jl_buf_init(&told, 4096);
	jl_num_print(&shown, num);
	jl_num_tell(&told, num);
	jl_buf_puts(out, "<span class=\"n\"");
	jl_html_num_attributes(out, num, NULL);
	jl_buf_puts(out, " title=\"");
	jl_html_escape(out, jl_buf_text(&told));
	jl_buf_puts(out, "\">");
	jl_html_escape(out, jl_buf_text(&shown));
	if (num->origin == JL_ESTIMATED) /* inside, so that no line breaks before it */
		jl_buf_puts(out, "<span class=\"o\" aria-hidden=\"true\">○</span>");
	jl_buf_puts(out, "</span>");
	jl_buf_release(&shown);
	jl_buf_release(&told);
}

static bool starts_figure(const char *text, const char *at)
{
	const unsigned char before = at > text ? (unsigned char)at[-1] : ' ';

	/* the dash of 512-1024 parts two figures, that of rtx-3090 is inside a name */
	if (before == '-' && at - text > 1 && !isdigit((unsigned char)at[-2]) && at[-2] != ' ' && at[-2] != '(')
		return false;
	return isdigit((unsigned char)*at) && !isalnum(before) && before != '_' && before != '.';
}

/* The unit behind a figure of a sentence: "GB/s", "%", "x"; 1 where none follows. */
static size_t unit_behind(const char *at)
{
	static const char *const units[] = { "GB/s",    "MB/s", "TB/s", "GiB",       "MiB", "GB",  "MB",  "TB",
					     "TFLOP/s", "ms",   "us",   "W",         "kW",  "kWh", "USD", "KRW",
					     "%",       "x",    "GPU",  "samples/s", "h",   "s",   "d",   "V",
					     "A",       "mm",   "배",   "개",        "장",  "초" };
	const size_t blank = *at == ' ';

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		const size_t len = strlen(units[i]);
		if (strncmp(at + blank, units[i], len) == 0 && !isalnum((unsigned char)at[blank + len]))
			return blank + len;
	}
	return 0;
}

/* A sentence of another room: its figures get the origin that it came with. */
void jl_html_said(struct jl_buf *out, const struct jl_run *run)
{
	const char *at = run->text, *from = at;

	while (*at) {
		size_t n, unit;

		if (!starts_figure(run->text, at)) {
			at++;
			continue;
		}
		n = strspn(at, "0123456789.,");
		while (n > 1 && (at[n - 1] == '.' || at[n - 1] == ','))
			n--;
		if (isalpha((unsigned char)at[n]) && !unit_behind(at + n)) { /* 10x, 4x-rtx, 305M: part of a name */
			at += n;
			continue;
		}
		unit = unit_behind(at + n);
		if (unit == 1 && at[n] == 'x' && at[n + 1] == ' ' &&
		    is_name(at + n + 2, strcspn(at + n + 2, " ,.;)"))) {
			at += n + 1; /* 4x rtx-3090 */
			continue;
		}
		text_part(out, from, (size_t)(at - from));
		jl_buf_printf(out, "<span class=\"n\" data-origin=\"%s\" data-unit=\"",
			      run->num.origin == JL_ORIGIN_NONE ? "given" : jl_origin_name(run->num.origin));
		if (unit)
			escape_word(out, at + n + (at[n] == ' '), unit - (at[n] == ' '));
		else
			jl_buf_putc(out, '1');
		jl_buf_puts(out, "\" data-value=\"");
		for (size_t i = 0; i < n; i++)
			if (at[i] != ',')
				jl_buf_putc(out, at[i]);
		if (run->num.source) {
			jl_buf_puts(out, "\" data-source=\"");
			jl_html_escape(out, run->num.source);
		}
		jl_buf_puts(out, "\">");
		escape_word(out, at, n + unit);
		jl_buf_puts(out, "</span>");
		at += n + unit;
		from = at;
	}
	text_part(out, from, strlen(from));
}
