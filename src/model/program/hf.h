/* Generates programs of Hugging Face transformers without a capture. Each kind of module is a recipe: a line of postfix text that names operators
 * as the Python code calls them. Every operator has a gradient rule. Running the recipes once gives both passes, autocast casts, views and tensor
 * lifetimes. Pure: from a model shape to the text of a program file. */
#pragma once

#include "base/buf.h"
#include "program/transformer.h"

enum jl_hf_mask { JL_HF_MASK_NONE, JL_HF_MASK_ONES, JL_HF_MASK_PADDED };

struct jl_hf_run {
	const char *type, *title; /* model_type; NULL: derived from the shape */
	double batch, seq, accumulate;
	enum jl_dtype dtype;  /* format of matrix products */
	bool autocast;        /* autocast over fp32 weights */
	bool forward;         /* inference: no loss, no gradients */
	bool checkpoint;      /* activation checkpointing: each layer runs again in the backward pass */
	bool eager_attention; /* unfused attention */
	bool fused;           /* fused AdamW: one kernel per tensor list */
	bool clip, cache;     /* clip gradients; fill the KV cache (transformers does unless use_cache=False) */
	bool expert_loop;     /* experts in a loop instead of grouped products */
	bool classes;         /* encoder: sentence classification head */
	enum jl_hf_mask mask;
	double lora_rank; /* rank of PEFT adapters in fp32 beside frozen 16-bit weights; 0: all weights are trained */
	unsigned lora_targets; /* bits of enum jl_target */
	bool lora_dropout;
};

/* JL_E_NOTFOUND: no recipe for this model; the message lists the available ones. */
enum jl_status jl_hf_program(struct jl_buf *ret_text, const struct jl_transformer *model, const struct jl_hf_run *run,
			     struct jl_err *err);
bool jl_hf_known(const char *type);
