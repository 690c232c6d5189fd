/* A model's parameters, FLOP and activation bytes by kind of layer, for `jeoul flops`. */
#pragma once

#include "program/convnet.h"
#include "program/transformer.h"

struct jl_count {
	const char *key;
	const char *en;
	double n;        /* number of such layers */
	double params;   /* total */
	double fwd_flop; /* whole batch; a multiply-add counts as two */
	double saved_B;  /* activations kept for backward */
};

#define JL_COUNTS_MAX 12

struct jl_counts {
	size_t n;
	struct jl_count rows[JL_COUNTS_MAX];
	struct jl_count total;
	double active_params; /* parameters used for one token or item */
	double train_flop;    /* forward and backward; frozen layers have no weight gradient */
	double still_params;  /* frozen parameters, or rows of tables; NAN: none */
};

/* Rows sum to the total. Causal attention counts half of the scores. Assumes 16-bit activations and flash attention. */
void jl_count_transformer(struct jl_counts *ret_counts, const struct jl_transformer *model, double batch, double seq);

void jl_count_convnet(struct jl_counts *ret_counts, const struct jl_convnet *net, double batch);
