/* Networks that are not plain transformers: catalog records as lists of operators. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalog/catalog.h"
#include "kernels/conv.h"
#include "program/network.h"

/* Sums over a list of operator groups, used by `jeoul flops` and the memory of a step. Pure. */
struct jl_layers_total {
	double mac; /* multiply-accumulates of one forward pass, per item */
	double mac_kind[JL_N_CONV_KIND];
	double weights;                /* weights of matrix operators, biases and norms excluded */
	double saved;                  /* elements kept for the backward pass, per item; blocks excluded */
	double streamed;               /* elements moved by streams, forward and backward, per item */
	double calls_item, calls_step; /* launches given separately from operators */
};

struct jl_layers_total jl_layers_sum(const struct jl_conv_op *ops, size_t n_ops);

const char *jl_layers_kind_name(enum jl_conv_kind kind);

struct jl_convnet {
	const char *id;
	const char *name;
	const char *const *aliases; /* other spellings */
	size_t n_aliases;
	const char *item; /* unit of the batch */
	const char *unit; /* unit of the throughput */
	const char *source;
	double units_per_item;
	double n_params, n_still; /* n_still of n_params: see jl_network */
	enum jl_net_optimizer optimizer;
	bool half_grads;        /* mixed precision keeps and reduces gradients in 16 bits */
	bool ignores_amp;       /* published runs labelled fp16 ran in fp32 */
	double kept_per_output; /* elements kept for the backward pass per output element of a product */
	double batch_per_B_half, batch_per_B_full; /* default batch: items per byte of device memory */
	double n_outputs;                          /* outputs of products per item; 0: not counted */
	double file_batch;                         /* see jl_network */
	double pixels;                             /* of the input; 0: derived from the operators */
	const struct jl_conv_op *ops;
	size_t n_ops;
};

struct jl_convnet_list {
	const struct jl_convnet *nets;
	size_t n_nets;
};

/* A network from a file; `info`: the record whose text generated it, or NULL. */
void jl_convnet_of_file(struct jl_convnet *net, const struct jl_network *file, const struct jl_net_info *info,
			const char *path);

#define JL_NET_NAME_MAX 128

/* Loads a network by name: a list's id or alias, or a member of a family ("vit_base_patch16_224"); "@288" sets the image size. JL_E_NOTFOUND
 * without a message: unknown name. */
enum jl_status jl_convnet_load(struct jl_convnet *ret_net, const struct jl_catalog *cat, const char *name,
			       struct jl_arena *arena, struct jl_err *err);

/* A network known only by the figures that model tables print. */
struct jl_convnet_figures {
	const char *name;
	const char *kind; /* last word of a catalog record whose id begins with "described": conv, attention, ... */
	double mac, n_outputs, n_params; /* per image; n_outputs NAN: unknown */
	double image;                    /* edge length in pixels; NAN: 224 */
};
enum jl_status jl_convnet_described(struct jl_convnet *ret_net, const struct jl_catalog *cat,
				    const struct jl_convnet_figures *figures, struct jl_arena *arena,
				    struct jl_err *err);

/* Iterates over the names of all lists and of listed family members; NULL: end. Zero-initialise the position. */
struct jl_convnet_at {
	size_t record, name;
};
const char *jl_convnet_next(const struct jl_catalog *cat, struct jl_convnet_at *at);
/* Listed name equal to `name` or an alias, ignoring case; NULL: none. */
const char *jl_convnet_listed(const struct jl_catalog *cat, const char *name);

/* Loads all lists and listed family members into `arena`. */
enum jl_status jl_convnets(struct jl_convnet_list *ret_list, const struct jl_catalog *cat, struct jl_arena *arena,
			   struct jl_err *err);

/* By id or alias, ignoring case; NULL: unknown. */
const struct jl_convnet *jl_convnet_find(const struct jl_convnet_list *list, const char *name);

/* Bytes moved per parameter and update by the framework's unfused optimizer, clipping and zeroing included. */
double jl_convnet_update_B(enum jl_net_optimizer optimizer);
/* Bytes of gradients that data parallelism all-reduces per step. */
double jl_convnet_grad_B(const struct jl_convnet *net, enum jl_dtype dtype);
