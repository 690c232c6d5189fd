/* A decoder that answers: prompts in one pass, then a token a pass, each the likeliest one. It is a trainer without gradients and optimizer
 * (jl_trainer_in.max_tokens): the same weights, the same forward pass, and keys and values of all tokens so far. */
#pragma once

#include "train/trainer.h"

/* Keys and values of n_samples prompts of `seq` tokens each, at most as many as the trainer was made for; what was there is forgotten.
 * ret_tokens[n_samples]: what follows them. */
enum jl_status jl_decode_prompt(struct jl_trainer *trainer, const int32_t *prompts, size_t n_samples,
				int32_t *ret_tokens, struct jl_err *err);
/* Queues n_passes of a token each; waits, and ret_tokens[n_samples] are the last ones'. */
enum jl_status jl_decode_next(struct jl_trainer *trainer, size_t n_passes, int32_t *ret_tokens, struct jl_err *err);

/* Bytes that a pass of one token reads: weights of products once, keys and values of `context` tokens of each sample. */
double jl_decode_read_B(const struct jl_trainer *trainer, double n_samples, double context);
