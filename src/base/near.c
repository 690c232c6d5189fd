/* Edit distance and nearest names. */
#include "base/near.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

#define CHARS_MAX 64
#define RANK_MAX  16

struct word {
	uint32_t chars[CHARS_MAX];
	size_t n;
};

static void split(struct word *word, const char *text)
{
	size_t left = strlen(text);

	word->n = 0;
	while (left > 0 && word->n < CHARS_MAX) {
		uint32_t c;
		size_t used = jl_utf8_decode(text, left, &c);
		if (used == 0) {
			c = 0xfffd;
			used = 1;
		}
		word->chars[word->n++] = c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
		text += used;
		left -= used;
	}
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Optimal string alignment distance. Three rows of the table, because a swap refers two rows back. */
static size_t distance(const struct word *a, const struct word *b, size_t limit)
{
	size_t rows[3][CHARS_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	if ((a->n > b->n ? a->n - b->n : b->n - a->n) > limit)
		return limit + 1;
	for (size_t j = 0; j <= b->n; j++)
		before[j] = above[j] = j;
	for (size_t i = 1; i <= a->n; i++) {
		size_t *oldest = before, best = row[0] = i;
		for (size_t j = 1; j <= b->n; j++) {
			size_t differs = a->chars[i - 1] != b->chars[j - 1];
			row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + differs);
			if (i > 1 && j > 1 && a->chars[i - 1] == b->chars[j - 2] && a->chars[i - 2] == b->chars[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
			best = least(best, row[j]);
		}
		/* a later swap can lower the distance by one, not by two */
		if (best > limit + 1)
			return limit + 1;
		before = above;
		above = row;
		row = oldest;
	}
	return least(above[b->n], limit + 1);
}

size_t jl_near_distance(const char *a, const char *b, size_t limit)
{
	struct word word_a, word_b;

	split(&word_a, a);
	split(&word_b, b);
	return distance(&word_a, &word_b, limit);
}

static size_t begins_with(const struct word *word, const struct word *head)
{
	return head->n > 0 && head->n <= word->n &&
	       memcmp(word->chars, head->chars, head->n * sizeof(head->chars[0])) == 0;
}

size_t jl_near_rank(const char *text, const char *const *names, size_t n_names, size_t *ret_indices, size_t max)
{
	size_t scores[RANK_MAX], n = 0, limit;
	struct word wanted, name;

	split(&wanted, text);
	limit = wanted.n < 3 ? 1 : wanted.n / 3 + (wanted.n < 6);
	max = least(max, RANK_MAX);
	if (wanted.n == 0)
		return 0;
	for (size_t i = 0; i < n_names && max > 0; i++) {
		split(&name, names[i]);
		size_t score = distance(&wanted, &name, limit);
		if (score > limit && begins_with(&name, &wanted))
			score = limit; /* a matching prefix scores as the largest accepted distance */
		if (score > limit || (n == max && score >= scores[n - 1]))
			continue;
		size_t at = n < max ? n++ : n - 1;
		for (; at > 0 && scores[at - 1] > score; at--) {
			scores[at] = scores[at - 1];
			ret_indices[at] = ret_indices[at - 1];
		}
		scores[at] = score;
		ret_indices[at] = i;
	}
	return n;
}
