/* The tiny models of tests/fixtures/train/reference.py, and what tests of the training room share. */
#ifndef JL_TESTS_TRAIN_MODELS_H
#define JL_TESTS_TRAIN_MODELS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "train/tokens.h"
#include "train/trainer.h"

#define N_TINY     3 /* decoders; then one of images */
#define N_TRAINED  4
#define TINY_SEQ   64
#define TINY_BATCH 4
#define TINY_LR    1e-3
#define TINY_STEPS 20

static const struct jl_model_info tiny[N_TRAINED] = {
	{ .id = "gpt",
	  .family = "gpt2",
	  .n_layers = 2,
	  .hidden = 128,
	  .heads = 2,
	  .kv_heads = 2,
	  .head_dim = 64,
	  .ffn = 512,
	  .vocab = 211,
	  .positions = 64,
	  .bias = true,
	  .final_norm = true },
	{ .id = "gpt-tied",
	  .family = "gpt2",
	  .n_layers = 3,
	  .hidden = 48,
	  .heads = 3,
	  .kv_heads = 3,
	  .head_dim = 16,
	  .ffn = 192,
	  .vocab = 131,
	  .positions = 80,
	  .bias = true,
	  .tied = true,
	  .final_norm = true },
	{ .id = "llama",
	  .family = "llama",
	  .n_layers = 2,
	  .hidden = 128,
	  .heads = 2,
	  .kv_heads = 1,
	  .head_dim = 64,
	  .ffn = 320,
	  .vocab = 211,
	  .gated = true,
	  .rms_norm = true,
	  .final_norm = true },
	{ .id = "vit", /* images of 15 × 15 in nine patches of 75 values */
	  .family = "vit",
	  .n_layers = 2,
	  .hidden = 128,
	  .heads = 2,
	  .kv_heads = 2,
	  .head_dim = 64,
	  .ffn = 512,
	  .vocab = 51,
	  .positions = 10,
	  .patch = 5,
	  .bias = true,
	  .final_norm = true },
};

static inline size_t tiny_seq(const struct jl_model_info *model)
{
	return model->patch > 0 ? (size_t)model->positions : TINY_SEQ;
}

static inline size_t tiny_inputs(const struct jl_model_info *model) /* of a sample */
{
	return model->patch > 0 ? tiny_seq(model) - 1 : TINY_SEQ;
}

#define assert_ok(call)                                                                                                \
	do {                                                                                                           \
		struct jl_err *e_ = &err;                                                                              \
		if ((call) != JL_OK)                                                                                   \
			fail_msg("%s: %s", #call, e_->text);                                                           \
	} while (0)

static inline void tiny_batch(const struct jl_tokens *tokens, const struct jl_model_info *model, uint64_t first,
			      size_t n_samples, int32_t *in, int32_t *out)
{
	const size_t targets = model->patch > 0 ? 1 : tokens->seq;
	for (size_t i = 0; i < n_samples; i++)
		jl_tokens_sample(tokens, first + i, in + i * tokens->seq, out + i * targets);
}

#endif
