/* What is trained on: synthetic tokens that can be learnt, or a file of tokens.
 *
 * Synthetic: half of the tokens follow from the one before ((7·t + 3) mod vocabulary), the other half are drawn with
 * a preference for small numbers, so that the loss falls from ln(vocabulary) within a few steps. A sample is a
 * function of its number alone: however many workers share a batch, they see the same samples.
 *
 * A token file is plain numbers, little-endian, two bytes each (uint16) or four (uint32), without a header, one
 * document after the other. Name ending in .u32: four bytes; else two. Samples are stretches of seq + 1 tokens one
 * after another; at the end it begins again. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct jl_tokens {
	size_t vocab, seq;
	uint64_t seed;
	/* of a file; NULL: synthetic */
	const unsigned char *file;
	size_t file_B, n_tokens, token_B;
};

/* Opens the file and looks at every token: a token outside the vocabulary, half a token at the end, fewer than seq +
 * 1 tokens are refused with the position. path NULL: synthetic. */
enum jl_status jl_tokens_open(struct jl_tokens *ret_tokens, const char *path, size_t vocab, size_t seq,
			      struct jl_err *err);
void jl_tokens_close(struct jl_tokens *tokens);

/* Sample `number`: seq tokens and what follows each. */
void jl_tokens_sample(const struct jl_tokens *tokens, uint64_t number, int32_t *ret_tokens, int32_t *ret_targets);
