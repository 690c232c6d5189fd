/* Operators of a network's text and the variables they read. Used by network.c, which interprets the text, and by the ONNX and torch readers. */
#pragma once

#include <stdbool.h>

#include "program/network.h"

#define JL_NET_LIST_MAX 40
#define JL_NET_VARS_MAX 256 /* every number of a configuration becomes a variable */
#define JL_NET_ARGS_MAX 10
#define JL_NET_SHAPE    4 /* c, h, w, frames: the current shape */

struct jl_net_word {
	char text[40];
};

struct jl_net_value {
	size_t n;
	double v[JL_NET_LIST_MAX];
};

struct jl_net_arg {
	struct jl_net_word name; /* "": positional */
	struct jl_net_value value;
};

struct jl_net_args {
	struct jl_net_arg args[JL_NET_ARGS_MAX];
	size_t n;
};

struct jl_net_state {
	const char *name;
	struct jl_err *err;
	enum jl_status status; /* sticky: the first error */
	struct {
		struct jl_net_word name;
		struct jl_net_value value;
	} vars[JL_NET_VARS_MAX]; /* the first JL_NET_SHAPE are the shape */
	size_t n_vars;
	bool frozen; /* following operators run without training */
	bool idle;   /* following operators are present but not run */
	bool inside; /* following operators are part of a block */
	struct jl_network net;
};

/* True if `word` is in the blank-separated list. */
bool jl_net_has_word(const char *words, const char *word);

/* network.c: next blank-separated word of a statement; and the end of the name in NAME=..., NULL: not an assignment. */
bool jl_net_next_word(const char **io_at, const char *end, const char **ret_word, size_t *ret_len);
const char *jl_net_assigned(const char *word, size_t len);

/* `ops`: capacity JL_NETWORK_OPS_MAX. */
void jl_net_begin(struct jl_net_state *state, const char *name, struct jl_conv_op *ops, struct jl_err *err);
/* NULL: undefined. */
const struct jl_net_value *jl_net_var(const struct jl_net_state *state, const char *name);
bool jl_net_set(struct jl_net_state *state, const char *name, const struct jl_net_value *value);
/* False: no such operator. Errors in the arguments are in `status`. */
bool jl_net_operator(struct jl_net_state *state, const char *name, const struct jl_net_args *args);
/* Adds a product with its bias; its weights count as parameters. */
void jl_net_product(struct jl_net_state *state, const struct jl_conv_op *op, double bias);
/* Kinds of elementwise and reduction passes over memory. */
enum jl_net_pass {
	JL_NET_PASS_BATCH_NORM,
	JL_NET_PASS_NORM,
	JL_NET_PASS_GROUP_NORM,
	JL_NET_PASS_MAP,
	JL_NET_PASS_ADD,
	JL_NET_PASS_POOL,
	JL_NET_PASS_COPY,
	JL_NET_PASS_BIAS,
	JL_NET_PASS_JOIN
};
void jl_net_pass(struct jl_net_state *state, enum jl_net_pass kind, double elems, double count);
/* Copies the result into the arena. */
enum jl_status jl_net_finish(struct jl_net_state *state, struct jl_network *ret_net, struct jl_arena *arena);
