/* The code of Hugging Face transformers as a producer of programs, without a capture: each kind of module is a recipe, a line of text in postfix that
 * names operators as its Python calls them; gradients follow from a rule each operator has. Both phases, casts of autocast, views and
 * what lives how long come from running those recipes once. Pure: from a shape to the text of a program file. */
#pragma once

#include "base/buf.h"
#include "program/transformer.h"

enum jl_hf_mask { JL_HF_MASK_NONE, JL_HF_MASK_ONES, JL_HF_MASK_PADDED };

struct jl_hf_run {
	const char *type, *title; /* model_type; NULL: as the shape suggests */
	double batch, seq, accumulate;
	enum jl_dtype dtype;  /* of products */
	bool autocast;        /* over weights in fp32 */
	bool forward;         /* no loss, no gradients */
	bool checkpoint;      /* each layer is run again in the backward pass */
	bool eager_attention; /* written out */
	bool fused;           /* AdamW in one kernel a list */
	bool clip, cache;     /* gradients are clipped; keys and values are kept, as they are unless use_cache is off */
	bool expert_loop;     /* experts one after the other, not grouped */
	bool classes;         /* an encoder's sentence is one class */
	enum jl_hf_mask mask;
	double lora_rank; /* of PEFT's adapters, in fp32, beside frozen weights of 16 bits; 0: all weights are trained */
	unsigned lora_targets; /* enum jl_target */
	bool lora_dropout;
};

/* JL_E_NOTFOUND: no recipe for such a model; says which there are. */
enum jl_status jl_hf_program(struct jl_buf *ret_text, const struct jl_transformer *model, const struct jl_hf_run *run,
			     struct jl_err *err);
bool jl_hf_known(const char *type);
