/* Searches words around figures, and formats figures in the note's style. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "notes/inside.h"

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Case-insensitive comparison for ASCII letters. */
static bool begins(const char *text, const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] != word[i] && (!letter(word[i]) || (text[i] ^ word[i]) != 0x20))
			return false;
	return true;
}

static bool has_word(const char *text, size_t len, const char *word, size_t n)
{
	const bool ascii = letter(word[0]) || (word[0] >= '0' && word[0] <= '9');

	for (size_t i = 0; i + n <= len; i++) {
		if ((text[i] ^ word[0]) & ~0x20 || !begins(text + i, word, n))
			continue;
		if (ascii && ((i && letter(text[i - 1])) || (i + n < len && letter(text[i + n]))))
			continue;
		return true;
	}
	return false;
}

size_t jl_word_len(const char *words)
{
	size_t n = 0;

	while (words[n] && words[n] != '|')
		n++;
	return n;
}

bool jl_words_begin(const char *text, size_t len, const char *words, bool whole)
{
	for (const char *w = words; *w;) {
		const size_t n = jl_word_len(w);

		if ((whole ? n == len : n <= len) && n && !((text[0] ^ w[0]) & ~0x20) && begins(text, w, n))
			return true;
		w += n + (w[n] == '|');
	}
	return false;
}

/* Set of bytes in a text, case-insensitive: rejects words whose first or last byte does not occur. */
struct bytes {
	uint64_t has[4];
};

static unsigned folded(char c)
{
	const unsigned k = (unsigned char)c;

	return k | (k >> 1 & 0x20); /* A and a share a bit */
}

static bool has_byte(const struct bytes *b, char c)
{
	return b->has[folded(c) >> 6] >> (folded(c) & 63) & 1;
}

bool jl_span_has(const char *text, size_t len, const char *words)
{
	struct bytes b = { { 0 } };

	if (len > 4096)
		len = 4096; /* limit for files without line breaks */
	for (size_t i = 0; i < len; i++)
		b.has[folded(text[i]) >> 6] |= 1ull << (folded(text[i]) & 63);
	for (const char *w = words; *w;) {
		const size_t n = jl_word_len(w);

		if (n && n <= len && has_byte(&b, w[0]) && has_byte(&b, w[n - 1]) && has_byte(&b, w[n / 2]) &&
		    has_word(text, len, w, n))
			return true;
		w += n + (w[n] == '|');
	}
	return false;
}

double jl_fig_mid(const struct jl_figure *fig)
{
	return (fig->lo + fig->hi) / 2;
}

double jl_fig_slack(const struct jl_figure *fig)
{
	return fig->digit * (fig->flags & JL_FIG_ABOUT ? 1.0 : 0.5);
}

static void commas(char *text)
{
	char plain[JL_SHOULD_MAX];
	const size_t whole = strcspn(text, ".");
	size_t n = 0;

	snprintf(plain, sizeof plain, "%s", text);
	for (size_t i = 0; plain[i] && n + 2 < JL_SHOULD_MAX; i++) {
		if (i && i < whole && (whole - i) % 3 == 0 && plain[i - 1] != '-')
			text[n++] = ',';
		text[n++] = plain[i];
	}
	text[n] = '\0';
}

/* Formats as "4억 9,500만 500". */
static void count_korean(char out[JL_SHOULD_MAX], double v)
{
	static const struct {
		double scale;
		const char *name;
	} parts[] = { { 1e12, "조" }, { 1e8, "억" }, { 1e4, "만" }, { 1, "" } };
	size_t n = 0;

	out[0] = '\0';
	v = round(v);
	for (size_t i = 0; i < JL_LEN(parts) && n < JL_SHOULD_MAX; i++) {
		const double part = floor(v / parts[i].scale);
		char text[JL_SHOULD_MAX];

		v -= part * parts[i].scale;
		if (!(part > 0))
			continue;
		snprintf(text, sizeof text, "%.0f", part);
		commas(text);
		n += (size_t)snprintf(out + n, JL_SHOULD_MAX - n, "%s%.40s%s", n ? " " : "", text, parts[i].name);
	}
}

const char *jl_fig_digits(char out[JL_SHOULD_MAX], const struct jl_figure *like, double value, int more)
{
	const double v = value / like->scale;
	int decimals = like->decimals + more;

	if (like->flags & JL_FIG_APPENDED && like->qty != JL_Q_TIME && v >= 1 && v < 1e16) {
		count_korean(out, v);
		return out;
	}
	if (like->flags & JL_FIG_POWER && v > 0) {
		double power = floor(log10(v));

		if (v / pow(10, power) >= 10 - 0.5 * pow(10, -decimals))
			power++;
		snprintf(out, JL_SHOULD_MAX, "%.*fe%.0f", decimals, v / pow(10, power), power);
		return out;
	}
	/* at least three significant digits */
	while (v != 0 && fabs(v - round(v)) > 1e-9 * fabs(v) && fabs(v) * pow(10, decimals) < 9.5 && decimals < 9)
		decimals++;
	snprintf(out, JL_SHOULD_MAX, "%.*f", fabs(v) < 1e15 ? decimals : 0, fabs(v) < 1e30 ? v : 0);
	if (like->flags & JL_FIG_COMMAS)
		commas(out);
	return out;
}

const char *jl_fig_text(char out[JL_SHOULD_MAX], const struct jl_audit_note *note, const struct jl_figure *like,
			double value, int more)
{
	const uint32_t behind = like->num_at + like->num_len, end = like->at + like->len;
	const char *unit = note->text + behind;
	const bool plus = behind < end && *unit == '+'; /* e.g. 100+ TFLOPS */
	const uint32_t len = (like->flags & JL_FIG_APPENDED ? like->unit_len : end - behind) - plus;
	char digits[JL_SHOULD_MAX];

	jl_fig_digits(digits, like, value, more);
	snprintf(out, JL_SHOULD_MAX, "%.*s%.40s%.*s", (int)(like->num_at - like->at), note->text + like->at, digits,
		 len < 20 ? (int)len : 0, unit + plus); /* keeps the space in "2.5 GB" */
	return out;
}

const char *jl_fig_range_text(char out[JL_SHOULD_MAX], const struct jl_audit_note *note, const struct jl_figure *like,
			      double lo, double hi)
{
	char second[JL_SHOULD_MAX];

	jl_fig_digits(out, like, lo, 0);
	jl_fig_text(second, note, like, hi, 0);
	snprintf(out + strlen(out), JL_SHOULD_MAX - strlen(out), "–%s", second);
	return out;
}

static size_t only_digits(char out[JL_SHOULD_MAX], const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < JL_SHOULD_MAX; i++)
		if (text[i] >= '0' && text[i] <= '9')
			out[n++] = text[i];
	return n;
}

int jl_is_slip(const char *x, size_t n, const char *y, size_t m)
{
	char a[JL_SHOULD_MAX], b[JL_SHOULD_MAX];
	size_t n_a = only_digits(a, x, n), n_b = only_digits(b, y, m), i = 0, k = 0;
	const size_t least = n_a < n_b ? n_a : n_b;

	if (least < 2 || n_a > n_b + 1 || n_b > n_a + 1)
		return n_a == 1 && n_b == 1;
	while (i < least && a[i] == b[i])
		i++;
	while (k < least - i && a[n_a - 1 - k] == b[n_b - 1 - k])
		k++;
	if (n_a != n_b)
		return i + k >= least ? 1 + (least > 2) : 0;
	if (i + k >= least || (i + k + 2 == least && a[i] == b[i + 1] && a[i + 1] == b[i]))
		return 2;
	return i + k + 1 == least ? 1 + (least > 2) : 0;
}

int jl_fig_slip(const struct jl_audit_note *note, const struct jl_figure *fig, double value)
{
	char digits[JL_SHOULD_MAX];

	jl_fig_digits(digits, fig, value, 0);
	return jl_is_slip(note->text + fig->num_at, fig->num_len, digits, strlen(digits));
}

void jl_audit_sentence(const struct jl_audit_note *note, const struct jl_line *line, uint32_t at, uint32_t *ret_from,
		       uint32_t *ret_to)
{
	const char *t = note->text;

	*ret_from = line->at;
	*ret_to = line->at + line->len;
	for (uint32_t i = line->at; i + 1 < line->at + line->len; i++) {
		if (t[i] != ';' && !(t[i] == '.' && t[i + 1] == ' '))
			continue;
		if (i >= at) {
			*ret_to = i;
			return;
		}
		*ret_from = i + 1;
	}
}

const char *jl_audit_quote(struct jl_audit_note *note, uint32_t at, uint32_t len)
{
	char *copy = jl_arena_strndup(note->arena, note->text + at, len);

	if (!copy)
		return "";
	for (char *c = copy; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	return copy;
}
