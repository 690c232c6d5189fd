/* Interface between the ONNX parser (onnx.c) and its operators (onnx_ops.c, onnx_shapes.c). */
#pragma once

#include <math.h>
#include <stdint.h>

#include "program/network_ops.h"

/* Dimensions, or values if they are needed (shapes, axes). Only the four functions below access `at`, so bounds are checked here alone. */
#define JL_ONNX_LIST_MAX 16
struct jl_onnx_list {
	int n; /* < 0: unknown */
	double at[JL_ONNX_LIST_MAX];
};

/* Appends a value; a full list becomes unknown. */
static inline void jl_onnx_add(struct jl_onnx_list *list, double value)
{
	if (list->n >= 0 && list->n < JL_ONNX_LIST_MAX)
		list->at[list->n++] = value;
	else
		list->n = -1;
}

/* NAN: index out of range. */
static inline double jl_onnx_get(const struct jl_onnx_list *list, int i)
{
	return i >= 0 && i < list->n ? list->at[i] : NAN;
}

/* Does nothing if the index is out of range. */
static inline void jl_onnx_set(struct jl_onnx_list *list, int i, double value)
{
	if (i >= 0 && i < list->n)
		list->at[i] = value;
}

static inline void jl_onnx_fill(struct jl_onnx_list *list, int n, double value)
{
	list->n = 0;
	for (int i = 0; i < n && list->n >= 0; i++)
		jl_onnx_add(list, value);
}

/* Text or bytes inside the file. */
struct jl_onnx_bytes {
	const unsigned char *at;
	size_t len;
};

struct jl_onnx_value {
	struct jl_onnx_bytes name;
	struct jl_onnx_list dims, ints;
	bool is_weight, is_float;
	bool is_statistic; /* running statistics of a batch norm, not parameters */
};

struct jl_onnx_attr {
	struct jl_onnx_bytes name;
	double i;
	struct jl_onnx_list ints;
	struct jl_onnx_bytes tensor, text;
};

#define JL_ONNX_ARGS_MAX  64
#define JL_ONNX_ATTRS_MAX 24

struct jl_onnx_node {
	char op[32];
	struct jl_onnx_value *in[JL_ONNX_ARGS_MAX]; /* NULL: omitted */
	int n_in;
	struct jl_onnx_value *out[JL_ONNX_ARGS_MAX];
	int n_out;
	struct jl_onnx_attr attrs[JL_ONNX_ATTRS_MAX];
	int n_attrs;
};

/* Adds the node's work and infers its outputs' shapes. `batch`: samples in the file's own input. */
void jl_onnx_node_run(struct jl_net_state *state, const struct jl_onnx_node *node, double batch);

const struct jl_onnx_attr *jl_onnx_attr(const struct jl_onnx_node *node, const char *name);
/* Integer attribute; a list's i-th element; or the default. */
double jl_onnx_int(const struct jl_onnx_node *node, const char *name, double usual);
double jl_onnx_int_at(const struct jl_onnx_node *node, const char *name, int i, double usual);
double jl_onnx_size(const struct jl_onnx_value *v); /* number of elements; NULL: 1 */
/* Reads a TensorProto: shape, and the values if they are few integers. */
bool jl_onnx_tensor(struct jl_onnx_value *value, struct jl_onnx_bytes bytes);

/* A node being evaluated. An output may have an input's name: read all inputs before the first write. */
struct jl_onnx_run {
	struct jl_net_state *state;
	const struct jl_onnx_node *node;
	const struct jl_onnx_value *a, *b; /* first two inputs; NULL: missing */
	struct jl_onnx_value *out;
	double batch;
};

static inline int jl_onnx_rank(const struct jl_onnx_value *v)
{
	return v->dims.n;
}

static inline double jl_onnx_dim(const struct jl_onnx_value *v, int d)
{
	return jl_onnx_get(&v->dims, d);
}

/* NULL: omitted. */
static inline const struct jl_onnx_value *jl_onnx_input(const struct jl_onnx_run *r, int i)
{
	return i < r->node->n_in ? r->node->in[i] : NULL;
}

void jl_onnx_wrong(const struct jl_onnx_run *r, const char *en);
void jl_onnx_pass(const struct jl_onnx_run *r, enum jl_net_pass kind, double elems);

void jl_onnx_shape(struct jl_onnx_run *r);
void jl_onnx_reshape(struct jl_onnx_run *r);
void jl_onnx_transpose(struct jl_onnx_run *r);
void jl_onnx_concat(struct jl_onnx_run *r);
void jl_onnx_split(struct jl_onnx_run *r);
void jl_onnx_slice(struct jl_onnx_run *r);
void jl_onnx_gather(struct jl_onnx_run *r);
void jl_onnx_squeeze(struct jl_onnx_run *r);
void jl_onnx_reduce(struct jl_onnx_run *r);
void jl_onnx_flatten(struct jl_onnx_run *r);
void jl_onnx_grow(struct jl_onnx_run *r);
