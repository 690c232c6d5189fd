/* The model that is trained: its tensors, their places in flat buffers, and their first weights.
 *
 * Parameters are grouped in units: the embedding, each layer, the head. A unit is a contiguous buffer that is exchanged, sharded, gathered and
 * updated as a whole. With tied logits there is no head unit; the final norm belongs to the embedding.
 *
 * GPT-305M has hidden 1024, 16 layers, 16 heads, ffn 4096, 512 learned positions, vocabulary 50,257; LayerNorm with bias, a bias in every linear
 * layer except the logits, and separate logits weights:
 *   embedding  50,257·1024 + 512·1024                                            =  51,987,456
 *   layer      2·2·1024 + (3072·1024 + 3072) + (1024·1024 + 1024)
 *              + (4096·1024 + 4096) + (1024·4096 + 1024) = 12,596,224, times 16  = 201,539,584
 *   head       2·1024 + 50,257·1024                                              =  51,465,216
 *   total                                                                          304,992,256
 *
 * A vision transformer (vit.c) has image patches instead of tokens: its table holds one class token; its logits have a bias and are computed
 * from that token's row only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "catalog/catalog.h"

#define JL_TRAIN_ALIGN     64  /* elements: alignment of every tensor */
#define JL_TRAIN_VOCAB_PAD 128 /* rows of the token table: matrix units are faster with multiples of this */
#define JL_TRAIN_PATCH_PAD 8   /* values per patch: kernels process eight at a time */
#define JL_TRAIN_UNITS_MAX 250

enum jl_tensor {
	JL_W_TOKENS, /* or the class token */
	JL_W_POSITIONS,
	JL_W_NORMF, /* final norm */
	JL_W_NORMF_BIAS,
	JL_W_LOGITS,
	JL_W_NORM1, /* the tensors from here on exist once per layer */
	JL_W_NORM1_BIAS,
	JL_W_QKV,
	JL_W_QKV_BIAS,
	JL_W_OUT,
	JL_W_OUT_BIAS,
	JL_W_NORM2,
	JL_W_NORM2_BIAS,
	JL_W_UP, /* with a gate: gate rows, then up rows */
	JL_W_UP_BIAS,
	JL_W_DOWN,
	JL_W_DOWN_BIAS,
	JL_W_PATCH, /* vision transformers only; at the end, since a tensor's number seeds its first weights */
	JL_W_PATCH_BIAS,
	JL_W_LOGITS_BIAS,
	JL_N_TENSOR
};

enum jl_unit_kind { JL_UNIT_EMBED, JL_UNIT_LAYER, JL_UNIT_HEAD, JL_N_UNIT_KIND };

struct jl_tensor_place {
	size_t rows, cols; /* as stored; rows 0: the model lacks this tensor */
	size_t real_rows;  /* without vocabulary padding */
	enum jl_unit_kind unit;
	size_t at;   /* offset in the unit, elements */
	bool narrow; /* stored among the unit's 1-byte weights; its scales start at scale_at */
	size_t scale_at;
};

struct jl_train_shape {
	const char *id;
	size_t n_layers, hidden, heads, kv_heads, head_dim, ffn, vocab, vocab_pad, n_positions;
	size_t patches, patch_values, patch_width; /* per image; values per patch, with padding; 0: tokens */
	bool gated, tied, rms;
	double norm_eps, rope_theta; /* rope_theta 0: learned positions */
	struct jl_tensor_place weights[JL_N_TENSOR];
	size_t unit_n[JL_N_UNIT_KIND]; /* elements with padding; a multiple of JL_TRAIN_ALIGN · n_ranks */
	size_t n_units;
	size_t n_params; /* without padding */
};

/* Supports dense decoders with pre-norm blocks, and vision transformers (info->patch). Other models (MoE, latent attention, encoders ...) fail
 * with the reason. */
enum jl_status jl_train_shape(const struct jl_model_info *info, int n_ranks, struct jl_train_shape *ret_shape,
			      struct jl_err *err);

/* find.c: finds a transformer of the catalog, or a network of the catalog that is a plain vision transformer. */
enum jl_status jl_train_find(const struct jl_model_info **ret_model, const struct jl_catalog *cat, const char *name,
			     struct jl_arena *arena, struct jl_err *err);

enum jl_unit_kind jl_train_unit_kind(const struct jl_train_shape *shape, size_t unit);
size_t jl_train_unit_n(const struct jl_train_shape *shape, size_t unit);
size_t jl_train_width_qkv(const struct jl_train_shape *shape); /* q, k and v */
size_t jl_train_width_up(const struct jl_train_shape *shape);  /* ffn, with a gate 2 · ffn */

/* FLOP of one step on `n_samples`, forward and backward; of attention alone. Causal attention counts half of the scores, images all. */
double jl_train_step_flop(const struct jl_train_shape *shape, double n_samples, double seq);
double jl_train_attention_flop(const struct jl_train_shape *shape, double n_samples, double seq);

/* First weights of elements [begin, begin + n) of a unit: uniform with standard deviation 0.02 (residual outputs: divided by sqrt(2·layers)),
 * norms 1, biases and padding 0. They depend only on (seed, layer, tensor, index), so that any shard of any worker, or another program
 * (tests/fixtures/train/reference.py), gets the same values. */
void jl_train_init(const struct jl_train_shape *shape, uint64_t seed, size_t unit, size_t begin, size_t n,
		   float *ret_values);

/* Hashes a counter to 64 well-mixed bits. */
uint64_t jl_train_mix(uint64_t counter);
