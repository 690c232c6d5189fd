/* Names as words, for comparing user spellings of hardware and models. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalog/catalog.h"

#define JL_WORDS_MAX 24

/* Lower case, no separators. Letters and digits are separate words, but a number keeps its decimals and a size its unit ("RTX3090" -> rtx 3090,
 * "A100-SXM4-80GB" -> a 100 sxm 4 80gb, "Llama-3.1-8B" -> llama 3.1 8b). Brand words are dropped unless nothing else is left. */
struct jl_words {
	char glued[JL_NAME_MAX * 2];       /* all words concatenated; '-' between two adjacent numbers */
	unsigned char start[JL_WORDS_MAX]; /* start of each word in `glued` */
	unsigned char len[JL_WORDS_MAX];
	bool joined[JL_WORDS_MAX];        /* no gap before this word: "v100" */
	unsigned char upto[JL_WORDS_MAX]; /* end of each word in the text, in bytes */
	size_t n;
	size_t glued_len;
};

/* Words beyond the limits are ignored: no record has that many, and callers refuse texts longer than JL_NAME_MAX. */
void jl_words_split(struct jl_words *ret_words, const char *text);

bool jl_words_equal(const struct jl_words *a, const struct jl_words *b); /* same words in the same order */

/* Matches words of `asked` in `have`. Joined words must be adjacent: "v100" is not in "a100_v4". Returns one bit per word found; *ret_used: one bit
 * per word of `have` used. */
unsigned jl_words_match(const struct jl_words *have, const struct jl_words *asked, unsigned *ret_used);

/* Quick test: false means that no word of `text` equals word i. */
bool jl_words_occur(const struct jl_words *words, size_t i, const char *text);

bool jl_word_is(const struct jl_words *words, size_t i, const char *text);
bool jl_word_is_memory(const struct jl_words *words, size_t i); /* true for a word such as "80gb" */

#define JL_WORDS_ALL(n) ((1u << (n)) - 1)
