/* Training data: synthetic tokens, or a token file.
 *
 * Synthetic: half of the tokens follow from their predecessor ((7·t + 3) mod vocabulary), the other half are random, biased to small numbers, so
 * that the loss falls from ln(vocabulary) within a few steps. A sample depends only on its number: any number of workers sees the same samples.
 *
 * A token file is a headerless array of little-endian integers, documents concatenated: four bytes each if the name ends in .u32, otherwise two.
 * Samples are consecutive stretches of seq + 1 tokens and wrap around at the end. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct jl_tokens {
	size_t vocab, seq;
	uint64_t seed;
	/* token file; NULL: synthetic */
	const unsigned char *file;
	size_t file_B, n_tokens, token_B;
};

/* Opens the file and checks every token. Fails with the position on a token outside the vocabulary or a partial token at the end, and if there
 * are fewer than seq + 1 tokens. path NULL: synthetic. */
enum jl_status jl_tokens_open(struct jl_tokens *ret_tokens, const char *path, size_t vocab, size_t seq,
			      struct jl_err *err);
void jl_tokens_close(struct jl_tokens *tokens);

/* Returns sample `number`: seq tokens and the successor of each. */
void jl_tokens_sample(const struct jl_tokens *tokens, uint64_t number, int32_t *ret_tokens, int32_t *ret_targets);
