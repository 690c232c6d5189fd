/* Expands a network's text (syntax: catalog/models/networks.yaml) into one list of operators with its parameters. Bounded: a text that does not
 * end is refused. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "kernels/conv.h"

#define JL_NETWORK_OPS_MAX 4096

struct jl_network {
	struct jl_conv_op *ops; /* equal operators are merged, with a count */
	size_t n_ops;
	double n_params;
	double n_still;   /* of n_params: frozen, or table rows of which a step has few gradients */
	double n_outputs; /* outputs of products per item */
	double batch;     /* samples in the file's own input; 0: not stated */
	double h, w;      /* input image in pixels; 0: no image */
};

/* `settings`: assignments before the program ("width=192 depths=3,3,9,3"); NULL: none. `name` is for messages. */
enum jl_status jl_network_expand(struct jl_network *ret_net, const char *name, const char *program,
				 const char *settings, struct jl_arena *arena, struct jl_err *err);

/* Parses a network's name by the words of its family. Every part of the name, split at '_', must match a line of `words`: "PATTERN... assignments";
 * '#' in a pattern is a number, $1 in the assignments its value; '^' marks words of which the name has exactly one. Writes all assignments; false:
 * not a name of this family. */
bool jl_network_name(char *ret_settings, size_t size_B, const char *words, const char *name);
