/* Between the reader of the file (onnx.c) and the meaning of its operators (onnx_ops.c). */
#pragma once

#include <stdint.h>

#include "workload/network_ops.h"

#define JL_ONNX_RANK_MAX 8
#define JL_ONNX_INTS_MAX 16 /* of a tensor whose values matter: shapes, axes */

/* Text or bytes inside the file. */
struct jl_onnx_bytes {
	const unsigned char *at;
	size_t len;
};

struct jl_onnx_value {
	struct jl_onnx_bytes name;
	int rank; /* < 0: nobody knows its shape */
	double dims[JL_ONNX_RANK_MAX];
	int n_ints; /* < 0: its values are not known */
	double ints[JL_ONNX_INTS_MAX];
	bool is_weight, is_float;
	bool is_statistic; /* of a batch norm: no parameter */
};

struct jl_onnx_attr {
	struct jl_onnx_bytes name;
	double i;
	int n_ints;
	double ints[JL_ONNX_INTS_MAX];
	struct jl_onnx_bytes tensor, text;
};

#define JL_ONNX_ARGS_MAX  64
#define JL_ONNX_ATTRS_MAX 24

struct jl_onnx_node {
	char op[32];
	struct jl_onnx_value *in[JL_ONNX_ARGS_MAX]; /* NULL: left out */
	int n_in;
	struct jl_onnx_value *out[JL_ONNX_ARGS_MAX];
	int n_out;
	struct jl_onnx_attr attrs[JL_ONNX_ATTRS_MAX];
	int n_attrs;
};

/* Adds what the node does and fills the shapes of its outputs; `batch`: samples that the file's own input has. */
void jl_onnx_run(struct jl_net_state *state, const struct jl_onnx_node *node, double batch);

const struct jl_onnx_attr *jl_onnx_attr(const struct jl_onnx_node *node, const char *name);
/* Its number, or the i-th of them, or what it usually is. */
double jl_onnx_int(const struct jl_onnx_node *node, const char *name, double usual);
double jl_onnx_int_at(const struct jl_onnx_node *node, const char *name, int i, double usual);
double jl_onnx_size(const struct jl_onnx_value *v); /* elements; 1 of NULL */
/* A TensorProto: shape and, of few whole numbers, values. */
bool jl_onnx_tensor(struct jl_onnx_value *value, struct jl_onnx_bytes bytes);
