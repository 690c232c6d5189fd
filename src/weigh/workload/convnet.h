/* Training workloads that are not plain transformers: the catalog's networks as lists of operators. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalog/catalog.h"
#include "model/conv.h"

struct jl_convnet {
	const char *id;
	const char *name;
	const char *const *aliases; /* further spellings */
	size_t n_aliases;
	const char *item; /* what a batch counts */
	const char *unit; /* what throughput counts */
	const char *source;
	double units_per_item;
	double n_params;
	enum jl_net_optimizer optimizer;
	bool half_grads;        /* gradients are kept and reduced in 16 bits under mixed precision */
	bool ignores_amp;       /* the published runs say fp16 and ran without */
	double kept_per_output; /* elements that the backward pass needs, for each one that a product makes */
	double batch_per_B_half, batch_per_B_full; /* items per byte of device memory where a run states no batch */
	const struct jl_conv_op *ops;
	size_t n_ops;
};

struct jl_convnet_list {
	const struct jl_convnet *nets;
	size_t n_nets;
};

/* All networks of a catalog; what is made lives in `arena`. */
enum jl_status jl_convnets(struct jl_convnet_list *ret_list, const struct jl_catalog *cat, struct jl_arena *arena,
			   struct jl_err *err);

/* By id or alias, capitals alike; NULL: unknown. */
const struct jl_convnet *jl_convnet_find(const struct jl_convnet_list *list, const char *name);

/* Bytes moved per parameter by one update: optimizer of the framework without fusion, clipping and zeroing included. */
double jl_convnet_update_B(const struct jl_convnet *net);
/* Bytes of gradients that data parallel workers add up in a step. */
double jl_convnet_grad_B(const struct jl_convnet *net, enum jl_dtype dtype);
