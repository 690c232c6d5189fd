#include "document/wrap.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/units.h"
#include "base/utf8.h"

#define STOPS " \n" JL_WRAP_DOT

static size_t colour_len(const char *text, size_t len)
{
	size_t n = 2;

	if (len < 3 || text[0] != '\033' || text[1] != '[')
		return 0;
	while (n < len && (isdigit((unsigned char)text[n]) || text[n] == ';'))
		n++;
	return n < len && text[n] == 'm' ? n + 1 : 0;
}

static size_t width_of(const char *text, size_t len)
{
	size_t width = 0;

	while (len) {
		size_t columns = 0, n = colour_len(text, len);

		if (!n)
			n = jl_utf8_cluster(text, len, &columns);
		width += columns;
		text += n;
		len -= n;
	}
	return width;
}

/* "22" of "22 GB/s", also "(22" and "1,049": a word that is only a number. */
static bool is_number(const char *word, size_t len)
{
	const size_t opening = len && (*word == '(' || *word == '~') ? 1 : 0;
	size_t i = opening;

	while (i < len && (isdigit((unsigned char)word[i]) || strchr(".,+-", word[i])))
		i++;
	return i == len && len > opening && isdigit((unsigned char)word[len - 1]);
}

static bool is_unit(const char *word, size_t len)
{
	char unit[32];

	/* with a Korean particle: "0.14 kW로" */
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)word[i] >= 0xea && (unsigned char)word[i] <= 0xed)
			len = i;
	while (len && strchr(",.;:)", word[len - 1]))
		len--;
	if (!len || len >= sizeof unit)
		return false;
	memcpy(unit, word, len);
	unit[len] = '\0';
	return jl_units_is_unit(unit);
}

/* Length of a word with the words that must follow on its line. */
static size_t word_len(const char *text)
{
	size_t len = strcspn(text, STOPS);

	if (text[len] == ' ' && is_number(text, len)) {
		const size_t next = strcspn(text + len + 1, STOPS);

		if (is_unit(text + len + 1, next))
			len += 1 + next;
	}
	return len;
}

static void put_word(struct jl_buf *out, const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (i + 1 < len && word[i] == '\xc2' && word[i + 1] == '\xa0') {
			jl_buf_putc(out, ' ');
			i++;
		} else {
			jl_buf_putc(out, word[i]);
		}
	}
}

static void new_line(struct jl_buf *out, size_t indent, size_t *at)
{
	jl_buf_putc(out, '\n');
	jl_buf_pad(out, ' ', indent);
	*at = indent;
}

void jl_wrap(struct jl_buf *out, const char *text, const struct jl_wrap *how)
{
	size_t at = how->at;
	bool fresh = true; /* the line is empty */

	while (*text) {
		const size_t blanks = strspn(text, " ");
		size_t len, width;

		text += blanks;
		if (*text == '\n') {
			new_line(out, how->indent, &at);
			fresh = true;
			text++;
			continue;
		}
		if (*text == *JL_WRAP_DOT) {
			const size_t piece = strcspn(text + 1, "\n" JL_WRAP_DOT);

			if (!fresh && at + 3 + width_of(text + 1, piece) > how->width) {
				new_line(out, how->indent, &at);
				fresh = true;
			} else if (!fresh) {
				jl_buf_puts(out, " · ");
				at += 3;
				fresh = true; /* no further blank */
			}
			text++;
			continue;
		}
		if (!*text)
			break;
		len = word_len(text);
		width = width_of(text, len);
		if (!fresh && at + blanks + width > how->width) {
			new_line(out, how->indent, &at);
		} else if (!fresh) {
			jl_buf_pad(out, ' ', blanks);
			at += blanks;
		}
		put_word(out, text, len);
		at += width;
		fresh = false;
		text += len;
	}
	jl_buf_putc(out, '\n');
}
