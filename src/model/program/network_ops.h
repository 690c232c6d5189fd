/* The operators of a network's text and the variables that they read: between network.c, which reads the text, and the list. */
#pragma once

#include <stdbool.h>

#include "program/network.h"

#define JL_NET_LIST_MAX 40
#define JL_NET_VARS_MAX 256 /* every number of a configuration is one */
#define JL_NET_ARGS_MAX 10
#define JL_NET_SHAPE    4 /* c, h, w, frames: the shape that goes on */

struct jl_net_word {
	char text[40];
};

struct jl_net_value {
	size_t n;
	double v[JL_NET_LIST_MAX];
};

struct jl_net_arg {
	struct jl_net_word name; /* "": by its place */
	struct jl_net_value value;
};

struct jl_net_args {
	struct jl_net_arg args[JL_NET_ARGS_MAX];
	size_t n;
};

struct jl_net_state {
	const char *name;
	struct jl_err *err;
	enum jl_status status; /* the first error sticks */
	struct {
		struct jl_net_word name;
		struct jl_net_value value;
	} vars[JL_NET_VARS_MAX]; /* the first JL_NET_SHAPE: the shape */
	size_t n_vars;
	bool frozen; /* what comes now is run and not trained */
	bool idle;   /* it is there, and not even run */
	bool inside; /* what comes now is part of a block */
	struct jl_network net;
};

/* Is it among these words, which spaces part? */
bool jl_net_has_word(const char *words, const char *word);

/* network.c: the next word of a statement, what lies between spaces; and of NAME=... where the name ends, NULL: it is no assignment. */
bool jl_net_next_word(const char **io_at, const char *end, const char **ret_word, size_t *ret_len);
const char *jl_net_assigned(const char *word, size_t len);

/* `ops`: room for JL_NETWORK_OPS_MAX. */
void jl_net_begin(struct jl_net_state *state, const char *name, struct jl_conv_op *ops, struct jl_err *err);
/* NULL: it has no value. */
const struct jl_net_value *jl_net_var(const struct jl_net_state *state, const char *name);
bool jl_net_set(struct jl_net_state *state, const char *name, const struct jl_net_value *value);
/* false: no such operator; what is wrong with its arguments is in `status`. */
bool jl_net_operator(struct jl_net_state *state, const char *name, const struct jl_net_args *args);
/* A product, with its bias; its weights are parameters. */
void jl_net_product(struct jl_net_state *state, const struct jl_conv_op *op, double bias);
/* Elements that go through memory. */
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
/* Copied into the arena. */
enum jl_status jl_net_finish(struct jl_net_state *state, struct jl_network *ret_net, struct jl_arena *arena);
