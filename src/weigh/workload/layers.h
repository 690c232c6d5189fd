/* What a list of operator groups adds up to: the figures behind `jeoul flops` and the memory of a step. Pure. */
#pragma once

#include "model/conv.h"

struct jl_layers_total {
	double mac; /* multiply-accumulates of one forward pass over one item */
	double mac_kind[JL_N_CONV_KIND];
	double weights;                /* elements of the matrix operators' weights, without biases and norms */
	double saved;                  /* elements kept for the backward pass, for one item */
	double streamed;               /* elements moved by the streams of one item, forward and backward */
	double calls_item, calls_step; /* launches that are stated beside the operators' own */
};

struct jl_layers_total jl_layers_sum(const struct jl_conv_op *ops, size_t n_ops);

const char *jl_layers_kind_name(enum jl_conv_kind kind);
