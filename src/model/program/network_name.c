/* Parses network names by the words of their family. Knows no particular family. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "program/network_ops.h"

/* True if the part matches; ret_numbers: the values of each '#'. */
static bool matches(const char *pattern, size_t pattern_len, const char *part, size_t len, double ret_numbers[4])
{
	size_t p = 0, t = 0, n = 0;

	while (p < pattern_len) {
		if (pattern[p] == '#') {
			const size_t begin = t;
			double value = 0;

			for (; t < len && isdigit((unsigned char)part[t]) && t - begin < 6; t++)
				value = value * 10 + (part[t] - '0');
			if (t == begin || n == 4)
				return false;
			ret_numbers[n++] = value;
		} else if (t >= len || tolower((unsigned char)part[t++]) != pattern[p]) {
			return false;
		}
		p++;
	}
	return t == len;
}

/* Copies assignments with $1 to $4 replaced. */
static void settle(struct jl_buf *out, const char *at, const char *end, const double numbers[4])
{
	for (; at < end; at++) {
		if (*at == '$' && at + 1 < end && at[1] >= '1' && at[1] <= '4')
			jl_buf_printf(out, "%.0f", numbers[*++at - '1']);
		else
			jl_buf_putc(out, *at);
	}
	jl_buf_putc(out, ' ');
}

/* Looks a part up in `words`: 0 unknown, 1 a word, 2 a word marked '^'. */
static int word_of(struct jl_buf *out, const char *words, const char *part, size_t len)
{
	for (const char *line = words, *end; *line; line = *end ? end + 1 : end) {
		const char *at = line, *word, *values;
		size_t word_len;

		end = line + strcspn(line, "\n");
		for (values = at; jl_net_next_word(&at, end, &word, &word_len) && !jl_net_assigned(word, word_len);
		     values = at)
			;
		for (at = line; at < values && jl_net_next_word(&at, values, &word, &word_len);) {
			const bool head = *word == '^';
			double numbers[4] = { 0 };

			if (matches(word + head, word_len - head, part, len, numbers)) {
				settle(out, values, end, numbers);
				return head ? 2 : 1;
			}
		}
	}
	return 0;
}

bool jl_network_name(char *ret_settings, size_t size_B, const char *words, const char *name)
{
	struct jl_buf out;
	int heads = 0;
	bool known = true;

	jl_buf_init(&out, size_B);
	for (const char *part = name; known && *part;) {
		const size_t len = strcspn(part, "_- ");
		const int found = len ? word_of(&out, words, part, len) : 0;

		known = found > 0;
		heads += found == 2;
		part += len + (part[len] != '\0');
	}
	known = known && heads == 1 && !out.failed;
	if (known)
		snprintf(ret_settings, size_B, "%s", jl_buf_text(&out));
	jl_buf_release(&out);
	return known;
}
