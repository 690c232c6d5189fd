/* The model that is trained: its tensors, where each lies in the flat buffers, and its first weights.
 *
 * Parameters are kept in units: the embedding, each layer, the head. A unit is one flat stretch that is exchanged,
 * sharded, gathered and updated as a whole. With tied logits there is no head unit: the final norm lies with the
 * embedding.
 *
 * GPT-305M is hidden 1024, 16 layers, 16 heads, ffn 4096, 512 learned positions, vocabulary 50,257; LayerNorm with
 * bias, a bias in every linear layer except the logits, which have a matrix of their own:
 *   embedding  50,257·1024 + 512·1024                                            =  51,987,456
 *   layer      2·2·1024 + (3072·1024 + 3072) + (1024·1024 + 1024)
 *              + (4096·1024 + 4096) + (1024·4096 + 1024) = 12,596,224, times 16  = 201,539,584
 *   head       2·1024 + 50,257·1024                                              =  51,465,216
 *   together                                                                       304,992,256
 *
 * A vision transformer (vit.c) has patches of images where a decoder has tokens: its table is one class token, its logits are of that token's
 * row alone and have a bias. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "catalog/catalog.h"

#define JL_TRAIN_ALIGN     64  /* elements: every tensor begins at a multiple of this */
#define JL_TRAIN_VOCAB_PAD 128 /* rows of the token table: matrix units like multiples */
#define JL_TRAIN_PATCH_PAD 8   /* values of a patch: kernels take eight at a time */
#define JL_TRAIN_UNITS_MAX 250

enum jl_tensor {
	JL_W_TOKENS, /* or the class token */
	JL_W_POSITIONS,
	JL_W_NORMF, /* final norm */
	JL_W_NORMF_BIAS,
	JL_W_LOGITS,
	JL_W_NORM1, /* of a layer, from here on */
	JL_W_NORM1_BIAS,
	JL_W_QKV,
	JL_W_QKV_BIAS,
	JL_W_OUT,
	JL_W_OUT_BIAS,
	JL_W_NORM2,
	JL_W_NORM2_BIAS,
	JL_W_UP, /* gated: gate, then up */
	JL_W_UP_BIAS,
	JL_W_DOWN,
	JL_W_DOWN_BIAS,
	JL_W_PATCH, /* of images; behind the others, whose first weights follow from their numbers */
	JL_W_PATCH_BIAS,
	JL_W_LOGITS_BIAS,
	JL_N_TENSOR
};

enum jl_unit_kind { JL_UNIT_EMBED, JL_UNIT_LAYER, JL_UNIT_HEAD, JL_N_UNIT_KIND };

struct jl_tensor_place {
	size_t rows, cols; /* as stored; rows 0: the model has none */
	size_t real_rows;  /* without the padding of the vocabulary */
	enum jl_unit_kind unit;
	size_t at;   /* elements from the beginning of the unit */
	bool narrow; /* lies among the unit's weights of a byte; its scales are from `scale_at` on */
	size_t scale_at;
};

struct jl_train_shape {
	const char *id;
	size_t n_layers, hidden, heads, kv_heads, head_dim, ffn, vocab, vocab_pad, n_positions;
	size_t patches, patch_values, patch_width; /* of an image, of a patch, and with padding; 0: tokens */
	bool gated, tied, rms;
	double norm_eps, rope_theta; /* rope_theta 0: learned positions */
	struct jl_tensor_place weights[JL_N_TENSOR];
	size_t unit_n[JL_N_UNIT_KIND]; /* elements, padding included; a multiple of JL_TRAIN_ALIGN · n_ranks */
	size_t n_units;
	size_t n_params; /* real ones */
};

/* Dense decoders with pre-norm blocks, and vision transformers (info->patch). What cannot be trained here (mixtures, latent attention, encoders ...) is refused by name. */
enum jl_status jl_train_shape(const struct jl_model_info *info, int n_ranks, struct jl_train_shape *ret_shape,
			      struct jl_err *err);

/* find.c: a transformer of the catalog by its name, or one of its networks that is a plain vision transformer. */
enum jl_status jl_train_find(const struct jl_model_info **ret_model, const struct jl_catalog *cat, const char *name,
			     struct jl_arena *arena, struct jl_err *err);

enum jl_unit_kind jl_train_unit_kind(const struct jl_train_shape *shape, size_t unit);
size_t jl_train_unit_n(const struct jl_train_shape *shape, size_t unit);
size_t jl_train_width_qkv(const struct jl_train_shape *shape); /* outputs of the qkv product */
size_t jl_train_width_up(const struct jl_train_shape *shape);  /* outputs of the up product: ffn, twice where gated */

/* Multiply-adds times two of one step on `n_samples`: forward and backward, attention over the causal half (images: all). */
double jl_train_step_flop(const struct jl_train_shape *shape, double n_samples, double seq);
double jl_train_attention_flop(const struct jl_train_shape *shape, double n_samples, double seq); /* part of it */

/* First weights of elements [begin, begin + n) of a unit: uniform with standard deviation 0.02 (residual outputs by
 * 1/sqrt(2·layers) less), norms 1, biases and padding 0. A function of (seed, layer, tensor, index) alone: any shard
 * of any worker, or another program, makes the same ones (tests/fixtures/train/reference.py does). */
void jl_train_init(const struct jl_train_shape *shape, uint64_t seed, size_t unit, size_t begin, size_t n,
		   float *ret_values);

/* 64 well-mixed bits of a counter. */
uint64_t jl_train_mix(uint64_t counter);
