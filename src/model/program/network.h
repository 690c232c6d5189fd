/* A network as a few lines of text (catalog/networks.yaml says how they are written) and what they expand to: one list of
 * operators with its parameters. Bounded: a text that never ends is refused. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "kernels/conv.h"

#define JL_NETWORK_OPS_MAX 4096

struct jl_network {
	struct jl_conv_op *ops; /* alike ones are one with a count */
	size_t n_ops;
	double n_params;
	double n_still;   /* of them: frozen, or rows of tables; no step has gradients of them all */
	double n_outputs; /* elements that products make, for one item */
	double batch;     /* samples that a file's own input has; 0: it says none */
	double h, w;      /* of the picture that goes in; 0: none does */
};

/* `settings`: assignments that go before the program ("width=192 depths=3,3,9,3"); NULL: none. `name` is for messages. */
enum jl_status jl_network_expand(struct jl_network *ret_net, const char *name, const char *program,
				 const char *settings, struct jl_arena *arena, struct jl_err *err);

/* A name by the words of its family: every part of it, cut at '_', must be one of `words` (lines of "PATTERN... assignments"; '#' in
 * a pattern is a number, $1 in the assignments what it was; '^' marks the words that say the family, of which a
 * name has one). Writes the assignments of all parts; false: not a name of this family. */
bool jl_network_name(char *ret_settings, size_t size_B, const char *words, const char *name);
