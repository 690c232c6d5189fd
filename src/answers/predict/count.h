/* What a model is made of: parameters, FLOP and activation bytes by kind of layer. Behind `jeoul flops`. */
#pragma once

#include "program/convnet.h"
#include "program/transformer.h"

struct jl_count {
	const char *key;
	const char *en;
	double n;        /* how many of them the model has */
	double params;   /* of all of them */
	double fwd_flop; /* of the whole batch; a multiply-add is two */
	double saved_B;  /* kept for the backward pass */
};

#define JL_COUNTS_MAX 12

struct jl_counts {
	size_t n;
	struct jl_count rows[JL_COUNTS_MAX];
	struct jl_count total;
	double active_params; /* touched by one token or item */
	double train_flop;    /* forward and backward; what is frozen has no backward */
	double still_params;  /* frozen, or rows of tables; NAN: none */
};

/* Rows sum to the total; the causal half of attention is counted as half. 16-bit activations, flash attention. */
void jl_count_transformer(struct jl_counts *ret_counts, const struct jl_transformer *model, double batch, double seq);

void jl_count_convnet(struct jl_counts *ret_counts, const struct jl_convnet *net, double batch);
