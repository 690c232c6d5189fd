/* A name as words: what is compared when people write hardware and models in their own spelling. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalog/catalog.h"

#define JL_WORDS_MAX 24

/* Lower case; separators are gone; letters and digits are words of their own, but a number keeps its decimals and a
 * size its unit ("RTX3090" -> rtx 3090, "A100-SXM4-80GB" -> a 100 sxm 4 80gb, "Llama-3.1-8B" -> llama 3.1 8b). Brand
 * words are dropped unless nothing else is left. */
struct jl_words {
	char glued[JL_NAME_MAX * 2];       /* all words one after the other; '-' where two numbers would run together */
	unsigned char start[JL_WORDS_MAX]; /* of each word in `glued` */
	unsigned char len[JL_WORDS_MAX];
	bool joined[JL_WORDS_MAX];        /* written without a gap after the word before: "v100" */
	unsigned char upto[JL_WORDS_MAX]; /* where each word ends in the text, in bytes */
	size_t n;
	size_t glued_len;
};

/* Words beyond the limits are ignored: no record has that many, and callers refuse texts longer than JL_NAME_MAX. */
void jl_words_split(struct jl_words *ret_words, const char *text);

bool jl_words_equal(const struct jl_words *a, const struct jl_words *b); /* same words, same order */

/* Which words of `asked` are in `have`? Words that were written together must stand together: "v100" is not in
 * "a100_v4". Returns a bit for each word found; *ret_used has a bit for each word of `have` that was needed. */
unsigned jl_words_match(const struct jl_words *have, const struct jl_words *asked, unsigned *ret_used);

/* Do the letters of word i occur in `text`? Cheap; no word of `text` can equal it where they do not. */
bool jl_words_occur(const struct jl_words *words, size_t i, const char *text);

bool jl_word_is(const struct jl_words *words, size_t i, const char *text);
bool jl_word_is_memory(const struct jl_words *words, size_t i); /* 80gb */

/* A bit for each of n words. */
#define JL_WORDS_ALL(n) ((1u << (n)) - 1)
