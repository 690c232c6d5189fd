/* Training workloads that are not plain transformers: the catalog's networks as lists of operators. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalog/catalog.h"
#include "kernels/conv.h"
#include "program/network.h"

/* What a list of operator groups adds up to: the figures behind `jeoul flops` and the memory of a step. Pure. */
struct jl_layers_total {
	double mac; /* multiply-accumulates of one forward pass over one item */
	double mac_kind[JL_N_CONV_KIND];
	double weights;  /* elements of the matrix operators' weights, without biases and norms */
	double saved;    /* elements kept for the backward pass, for one item; those of blocks not among them */
	double streamed; /* elements moved by the streams of one item, forward and backward */
	double calls_item, calls_step; /* launches that are stated beside the operators' own */
};

struct jl_layers_total jl_layers_sum(const struct jl_conv_op *ops, size_t n_ops);

const char *jl_layers_kind_name(enum jl_conv_kind kind);

struct jl_convnet {
	const char *id;
	const char *name;
	const char *const *aliases; /* further spellings */
	size_t n_aliases;
	const char *item; /* what a batch counts */
	const char *unit; /* what throughput counts */
	const char *source;
	double units_per_item;
	double n_params, n_still; /* n_still of n_params: see jl_network */
	enum jl_net_optimizer optimizer;
	bool half_grads;        /* gradients are kept and reduced in 16 bits under mixed precision */
	bool ignores_amp;       /* the published runs say fp16 and ran without */
	double kept_per_output; /* elements that the backward pass needs, for each one that a product makes */
	double batch_per_B_half, batch_per_B_full; /* items per byte of device memory where a run states no batch */
	double n_outputs;                          /* elements that products make, for one item; 0: not counted */
	double file_batch;                         /* see jl_network */
	double pixels;                             /* of the input; 0: what the operators say */
	const struct jl_conv_op *ops;
	size_t n_ops;
};

struct jl_convnet_list {
	const struct jl_convnet *nets;
	size_t n_nets;
};

/* A network that a file describes; `info`: the record whose text made it, or NULL. */
void jl_convnet_of_file(struct jl_convnet *net, const struct jl_network *file, const struct jl_net_info *info,
			const char *path);

#define JL_NET_NAME_MAX 128

/* One by its name: a list by id or alias, a member of a family by the family's words ("vit_base_patch16_224"), "@288" behind it another
 * size of the image. JL_E_NOTFOUND without a message: unknown name. */
enum jl_status jl_convnet_load(struct jl_convnet *ret_net, const struct jl_catalog *cat, const char *name,
			       struct jl_arena *arena, struct jl_err *err);

/* A network of which only figures are known: those that model tables print. */
struct jl_convnet_figures {
	const char *name;
	const char *kind; /* a word of a record of the catalog whose id begins with "described": conv, attention, ... */
	double mac, n_outputs, n_params; /* of one image; n_outputs NAN: not known */
	double image;                    /* its edge; NAN: 224 */
};
enum jl_status jl_convnet_described(struct jl_convnet *ret_net, const struct jl_catalog *cat,
				    const struct jl_convnet_figures *figures, struct jl_arena *arena,
				    struct jl_err *err);

/* The names of all lists, and of the members of families that are listed, in turn; NULL: no more. */
struct jl_convnet_at { /* begins as zero */
	size_t record, name;
};
const char *jl_convnet_next(const struct jl_catalog *cat, struct jl_convnet_at *at);
/* The one of them that is called so, also by an alias, capitals alike; NULL: none. */
const char *jl_convnet_listed(const struct jl_catalog *cat, const char *name);

/* All lists, and the members of families that are listed; what is made lives in `arena`. */
enum jl_status jl_convnets(struct jl_convnet_list *ret_list, const struct jl_catalog *cat, struct jl_arena *arena,
			   struct jl_err *err);

/* By id or alias, capitals alike; NULL: unknown. */
const struct jl_convnet *jl_convnet_find(const struct jl_convnet_list *list, const char *name);

/* Bytes moved per parameter by one update: optimizer of the framework without fusion, clipping and zeroing included. */
double jl_convnet_update_B(enum jl_net_optimizer optimizer);
/* Bytes of gradients that data parallel workers add up in a step. */
double jl_convnet_grad_B(const struct jl_convnet *net, enum jl_dtype dtype);
