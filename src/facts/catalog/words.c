/* Splits names into words for comparison. */
#include "catalog/words.h"

#include <string.h>

/* Brand words do not distinguish cards and are ignored. */
static const char *const brands[] = { "nvidia", "geforce", "tesla", "amd",  "instinct", "intel",
				      "google", "habana",  "gpu",   "gpus", "apple",    "meta" };

/* Units that stay with their number: memory sizes, parameter counts, CPU model suffixes. */
static const char *const suffixes[] = { "gb", "gib", "tb", "g", "b", "m", "k", "t" };

enum char_class { SEPARATOR, DIGIT, LETTER };

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static enum char_class class_of(char c)
{
	if (c >= '0' && c <= '9')
		return DIGIT;
	c = lower(c);
	return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80 ? LETTER : SEPARATOR;
}

static bool same_letters(const char *text, size_t len, const char *word)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!word[i] || lower(text[i]) != word[i])
			return false;
	return word[len] == '\0';
}

static bool in_list(const char *text, size_t len, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (lower(text[0]) == list[i][0] && same_letters(text, len, list[i]))
			return true;
	return false;
}

static size_t run_of(const char *text, enum char_class class)
{
	size_t n = 0;

	while (text[n] && class_of(text[n]) == class)
		n++;
	return n;
}

/* Length of the unit that follows a number at `text`; `*ret_gap`: separators before it. */
static size_t unit_of(const char *text, size_t *ret_gap)
{
	size_t gap = 0;

	while (text[gap] == ' ' || text[gap] == '-' || text[gap] == '_')
		gap++;
	size_t len = run_of(text + gap, LETTER);
	*ret_gap = gap;
	if (len == 0 || len > 3 || class_of(text[gap + len]) == DIGIT)
		return 0;
	/* "80 GB" is one size, but "7 b" and "3 k" are two words */
	if (gap > 0)
		return same_letters(text + gap, len, "gb") || same_letters(text + gap, len, "gib") ? len : 0;
	return in_list(text, len, suffixes, sizeof(suffixes) / sizeof(suffixes[0])) ? len : 0;
}

static void append(struct jl_words *words, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && words->glued_len + 1 < sizeof(words->glued); i++)
		words->glued[words->glued_len++] = lower(text[i]);
}

static bool begin(struct jl_words *words, bool number, bool joined)
{
	if (words->n == JL_WORDS_MAX || words->glued_len + 2 >= sizeof(words->glued))
		return false;
	if (number && words->glued_len > 0 && class_of(words->glued[words->glued_len - 1]) == DIGIT)
		words->glued[words->glued_len++] = '-';
	words->start[words->n] = (unsigned char)words->glued_len;
	words->joined[words->n] = joined && words->n > 0;
	return true;
}

static void end(struct jl_words *words)
{
	words->len[words->n] = (unsigned char)(words->glued_len - words->start[words->n]);
	words->n++;
}

/* A number with decimals and unit; returns the bytes consumed. */
static size_t take_number(struct jl_words *words, const char *text, bool joined)
{
	size_t len = run_of(text, DIGIT);
	size_t gap, unit;

	if (text[len] == '.' && class_of(text[len + 1]) == DIGIT)
		len += 1 + run_of(text + len + 1, DIGIT);
	unit = unit_of(text + len, &gap);
	/* a size is always a separate word: "SXM80GB" */
	if (!begin(words, true, joined && unit == 0))
		return len;
	append(words, text, len);
	if (unit > 0) {
		/* a card's GiB and GB mean the same */
		if (same_letters(text + len + gap, unit, "gib"))
			append(words, "gb", 2);
		else
			append(words, text + len + gap, unit);
		len += gap + unit;
	}
	end(words);
	return len;
}

static void split(struct jl_words *words, const char *text, bool keep_brands)
{
	const char *begins_at = text;
	bool joined = false;
	size_t len;

	words->n = 0;
	words->glued_len = 0;
	for (; *text; joined = class_of(text[-1]) != SEPARATOR) {
		const size_t n_before = words->n;

		switch (class_of(*text)) {
		case SEPARATOR: text++; break;
		case DIGIT: text += take_number(words, text, joined); break;
		case LETTER:
			len = run_of(text, LETTER);
			if ((keep_brands || !in_list(text, len, brands, sizeof(brands) / sizeof(brands[0]))) &&
			    begin(words, false, joined)) {
				append(words, text, len);
				end(words);
			}
			text += len;
			break;
		}
		if (words->n > n_before)
			words->upto[n_before] = (unsigned char)(text - begins_at);
	}
	words->glued[words->glued_len] = '\0';
}

void jl_words_split(struct jl_words *ret_words, const char *text)
{
	split(ret_words, text, false);
	if (ret_words->n == 0)
		split(ret_words, text, true);
}

bool jl_words_equal(const struct jl_words *a, const struct jl_words *b)
{
	return a->glued_len == b->glued_len && memcmp(a->glued, b->glued, a->glued_len) == 0;
}

static bool same_word(const struct jl_words *a, size_t i, const struct jl_words *b, size_t j)
{
	return a->len[i] == b->len[j] && memcmp(a->glued + a->start[i], b->glued + b->start[j], a->len[i]) == 0;
}

/* True if n words of `asked` from i are adjacent in `have` from j and all unused. */
static bool stand_at(const struct jl_words *have, size_t j, const struct jl_words *asked, size_t i, size_t n,
		     unsigned used)
{
	size_t k;

	if (j + n > have->n || used & JL_WORDS_ALL(n) << j)
		return false;
	for (k = 0; k < n; k++)
		if (!same_word(have, j + k, asked, i + k))
			return false;
	return true;
}

unsigned jl_words_match(const struct jl_words *have, const struct jl_words *asked, unsigned *ret_used)
{
	unsigned found = 0, used = 0;
	size_t i, j, n;

	for (i = 0; i < asked->n; i += n) {
		for (n = 1; i + n < asked->n && asked->joined[i + n]; n++)
			;
		for (j = 0; j < have->n && !stand_at(have, j, asked, i, n, used); j++)
			;
		if (j < have->n) {
			found |= JL_WORDS_ALL(n) << i;
			used |= JL_WORDS_ALL(n) << j;
		}
	}
	*ret_used = used;
	return found;
}

bool jl_words_occur(const struct jl_words *words, size_t i, const char *text)
{
	const char *word = words->glued + words->start[i];
	size_t len = words->len[i];
	size_t n;

	for (; *text; text++) {
		if (lower(*text) != word[0])
			continue;
		for (n = 1; n < len && lower(text[n]) == word[n]; n++)
			;
		if (n == len)
			return true;
	}
	return false;
}

bool jl_word_is(const struct jl_words *words, size_t i, const char *text)
{
	size_t len = strlen(text);

	return i < words->n && words->len[i] == len && memcmp(words->glued + words->start[i], text, len) == 0;
}

bool jl_word_is_memory(const struct jl_words *words, size_t i)
{
	const char *word = words->glued + words->start[i];
	size_t len = words->len[i];

	return len > 2 && class_of(word[0]) == DIGIT && word[len - 2] == 'g' && word[len - 1] == 'b';
}
