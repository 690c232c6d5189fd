/* Greedy decoding: prompts in one pass, then one token per pass. The decoder is a trainer without gradients and optimizer
 * (jl_trainer_in.max_tokens > 0): the same weights and forward pass, plus a KV cache. */
#pragma once

#include "train/trainer.h"

/* Starts new samples: runs n_samples prompts of `seq` tokens (at most the trainer's n_samples) and fills the KV cache. ret_tokens[n_samples]:
 * the next token of each. */
enum jl_status jl_decode_prompt(struct jl_trainer *trainer, const int32_t *prompts, size_t n_samples,
				int32_t *ret_tokens, struct jl_err *err);
/* Runs n_passes passes of one token each and waits. ret_tokens[n_samples]: tokens of the last pass. */
enum jl_status jl_decode_next(struct jl_trainer *trainer, size_t n_passes, int32_t *ret_tokens, struct jl_err *err);

/* Bytes that one decoding pass reads: every weight once, and keys and values of `context` tokens per sample. */
double jl_decode_read_B(const struct jl_trainer *trainer, double n_samples, double context);
