/* Training workloads that are not plain transformers: the list of catalog/models/convnets.yaml. */
#ifndef JL_WORKLOAD_CONVNET_H
#define JL_WORKLOAD_CONVNET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/conv.h"

enum jl_convnet_optimizer { JL_CONVNET_SGD, JL_CONVNET_ADAM, JL_CONVNET_LAMB };

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
	enum jl_convnet_optimizer optimizer;
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

#define JL_CONVNET_FILE_MAX_B ((size_t)1 << 20)

/* Everything lives in `arena`. `name` is what messages call the text. */
enum jl_status jl_convnet_parse(struct jl_convnet_list *ret_list, const char *text, size_t len, const char *name,
				struct jl_arena *arena, struct jl_err *err);
enum jl_status jl_convnet_load(struct jl_convnet_list *ret_list, const char *path, struct jl_arena *arena,
			       struct jl_err *err);

/* The networks of catalog/models/convnets.yaml as they were when the program was built. */
enum jl_status jl_convnets_embedded(struct jl_convnet_list *ret_list, struct jl_arena *arena, struct jl_err *err);

/* The same with the "convnets:" files of catalog folders laid over it, in order; a network of the same id is replaced. */
enum jl_status jl_convnets_overlay(struct jl_convnet_list *ret_list, const char *const *dirs, size_t n_dirs,
				   struct jl_arena *arena, struct jl_err *err);

/* By id or alias, capitals alike; NULL: unknown. */
const struct jl_convnet *jl_convnet_find(const struct jl_convnet_list *list, const char *name);

/* Bytes moved per parameter by one update: optimizer of the framework without fusion, clipping and zeroing included. */
double jl_convnet_update_B(const struct jl_convnet *net);
/* Bytes of gradients that data parallel workers add up in a step. */
double jl_convnet_grad_B(const struct jl_convnet *net, enum jl_dtype dtype);

#endif
