/* Cost and output shapes of ONNX operators that compute. Operators that only move or reshape are in onnx_shapes.c. */
#include <math.h>
#include <string.h>

#include "program/onnx_graph.h"

void jl_onnx_wrong(const struct jl_onnx_run *r, const char *en)
{
	if (!r->state->status)
		r->state->status = jl_fail(r->state->err, JL_E_DATA,
					   JL_N("%.80s: an operator %s {%s}; export it with fixed shapes"),
					   r->state->name, r->node->op, en);
}

static double per_item(const struct jl_onnx_run *r, double elems)
{
	return fmax(elems / r->batch, 1);
}

void jl_onnx_pass(const struct jl_onnx_run *r, enum jl_net_pass kind, double elems)
{
	if (elems > 1 && isfinite(elems) && elems <= 1e15)
		jl_net_pass(r->state, kind, per_item(r, elems), 1);
}

static double padding(const struct jl_onnx_run *r, int d, int n, double in, double k, double stride)
{
	const struct jl_onnx_attr *automatic = jl_onnx_attr(r->node, "auto_pad");
	const double whole = ceil(in / stride);

	if (automatic && automatic->text.len >= 4 && memcmp(automatic->text.at, "SAME", 4) == 0)
		return fmax((whole - 1) * stride + k - in, 0);
	return jl_onnx_int_at(r->node, "pads", d, 0) + jl_onnx_int_at(r->node, "pads", d + n, 0);
}

/* Output shape of a window sliding over all dimensions but the first two. */
static bool window(const struct jl_onnx_run *r, const struct jl_onnx_value *weights, double c_out)
{
	const struct jl_onnx_list in = r->a->dims;
	struct jl_onnx_list *out = &r->out->dims;
	const int n = in.n - 2;

	jl_onnx_fill(out, 0, 0);
	jl_onnx_add(out, jl_onnx_get(&in, 0));
	jl_onnx_add(out, c_out);
	for (int d = 0; d < n; d++) {
		const double k = weights ? jl_onnx_dim(weights, 2 + d) : jl_onnx_int_at(r->node, "kernel_shape", d, 1);
		const double s = jl_onnx_int_at(r->node, "strides", d, 1),
			     wide = jl_onnx_int_at(r->node, "dilations", d, 1) * (k - 1) + 1;
		const double side = jl_onnx_get(&in, 2 + d), room = side + padding(r, d, n, side, wide, s) - wide;
		const bool up = jl_onnx_int(r->node, "ceil_mode", 0) != 0;
		const double size = s > 0 ? (up ? ceil(room / s) : floor(room / s)) + 1 : NAN;

		if (!(size >= 1 && size <= 1e9))
			return false;
		jl_onnx_add(out, size);
	}
	return n >= 0;
}

static void op_conv(struct jl_onnx_run *r)
{
	const struct jl_onnx_value *w = r->b;
	const bool back = strcmp(r->node->op, "ConvTranspose") == 0;
	const double groups = jl_onnx_int(r->node, "group", 1);
	double over[2] = { 1, 1 }, in[2] = { 1, 1 }, kernel[2] = { 1, 1 };

	if (!w || jl_onnx_rank(w) < 3 || jl_onnx_rank(r->a) != jl_onnx_rank(w) || !(groups >= 1 && groups <= 1e6)) {
		jl_onnx_wrong(r, JL_N("has no weights of its rank"));
		return;
	}
	const struct jl_onnx_value from = *r->a, weights = *w; /* copies, because an output may have an input's name */
	const double c_out = back ? jl_onnx_dim(w, 1) * groups : jl_onnx_dim(w, 0);

	if (back) { /* transposed convolution: the same products as a convolution's gradient, over the smaller side */
		r->out->dims = r->a->dims;
		jl_onnx_set(&r->out->dims, 1, c_out);
		for (int d = 2; d < jl_onnx_rank(&from); d++)
			jl_onnx_set(&r->out->dims, d,
				    jl_onnx_dim(&from, d) * jl_onnx_int_at(r->node, "strides", d - 2, 1));
	} else if (!window(r, &weights, c_out)) {
		jl_onnx_wrong(r, JL_N("has impossible sizes"));
		return;
	}
	/* more than two dimensions: depth and rows are merged */
	for (int d = 2; d < jl_onnx_rank(&weights); d++) {
		const int side = d + 1 < jl_onnx_rank(&weights) ? 0 : 1;

		over[side] *= back ? jl_onnx_dim(&from, d) : jl_onnx_dim(r->out, d);
		in[side] *= jl_onnx_dim(&from, d);
		kernel[side] *= jl_onnx_dim(&weights, d);
	}
	jl_net_product(r->state,
		       &(struct jl_conv_op){ .kind = JL_CONV_CONV,
					     .count = 1,
					     .c_in = jl_onnx_dim(&from, 1),
					     .h = in[0],
					     .w = in[1],
					     .c_out = c_out,
					     .kh = kernel[0],
					     .kw = kernel[1],
					     .stride = fmax(jl_onnx_int_at(r->node, "strides", 0, 1), 1),
					     .oh = over[0],
					     .ow = over[1],
					     .groups = groups },
		       0);
}

static void product(struct jl_onnx_run *r, double rows, double k, double n, double heads, bool weights)
{
	if (!(rows >= 1 && k >= 1 && n >= 1 && heads >= 1 && rows * k * n * heads <= 1e18)) {
		jl_onnx_wrong(r, JL_N("has impossible sizes"));
		return;
	}
	jl_net_product(r->state,
		       &(struct jl_conv_op){ .kind = weights ? JL_CONV_LINEAR : JL_CONV_BMM,
					     .count = 1,
					     .rows = rows,
					     .k = k,
					     .n = n,
					     .steps = 1,
					     .heads = heads },
		       0);
}

static void op_matmul(struct jl_onnx_run *r)
{
	const struct jl_onnx_value *a = r->a, *b = r->b;
	double heads = 1;

	if (!b || jl_onnx_rank(b) < 2 || jl_onnx_rank(a) < 1) {
		jl_onnx_wrong(r, JL_N("needs two matrices whose shapes are known"));
		return;
	}
	const double k = jl_onnx_dim(a, jl_onnx_rank(a) - 1),
		     m = jl_onnx_rank(a) > 1 ? jl_onnx_dim(a, jl_onnx_rank(a) - 2) : 1,
		     n = jl_onnx_dim(b, jl_onnx_rank(b) - 1);
	const struct jl_onnx_value *more = jl_onnx_rank(a) >= jl_onnx_rank(b) ? a : b;
	const int rank = jl_onnx_rank(more);
	const bool weights = b->is_weight && jl_onnx_rank(b) == 2;

	if (k != jl_onnx_dim(b, jl_onnx_rank(b) - 2)) {
		jl_onnx_wrong(r, JL_N("has matrices that do not fit"));
		return;
	}
	for (int d = 0; d < rank - 2; d++)
		heads *= jl_onnx_dim(more, d);
	r->out->dims = more->dims;
	jl_onnx_set(&r->out->dims, rank - 2, m);
	jl_onnx_set(&r->out->dims, rank - 1, n);
	if (weights)
		product(r, per_item(r, heads * m), k, n, 1, true);
	else
		product(r, m, k, n, per_item(r, heads), false);
}

static void op_gemm(struct jl_onnx_run *r)
{
	const struct jl_onnx_value *b = r->b;

	if (!b || jl_onnx_rank(b) != 2 || jl_onnx_rank(r->a) != 2) {
		jl_onnx_wrong(r, JL_N("needs two matrices whose shapes are known"));
		return;
	}
	const bool across = jl_onnx_int(r->node, "transB", 0) != 0, turned = jl_onnx_int(r->node, "transA", 0) != 0;
	const double n = jl_onnx_dim(b, across ? 0 : 1), k = jl_onnx_dim(b, across ? 1 : 0),
		     m = jl_onnx_dim(r->a, turned ? 1 : 0);

	jl_onnx_fill(&r->out->dims, 0, 0);
	jl_onnx_add(&r->out->dims, m);
	jl_onnx_add(&r->out->dims, n);
	product(r, per_item(r, m), k, n, 1, b->is_weight);
}

static void op_pool(struct jl_onnx_run *r)
{
	const double in = jl_onnx_size(r->a);

	if (!window(r, NULL, jl_onnx_dim(r->a, 1)))
		jl_onnx_wrong(r, JL_N("has impossible sizes"));
	jl_onnx_pass(r, JL_NET_PASS_POOL, in + jl_onnx_size(r->out));
}

static void op_global_pool(struct jl_onnx_run *r)
{
	const double in = jl_onnx_size(r->a);

	r->out->dims = r->a->dims;
	for (int d = 2; d < jl_onnx_rank(r->out); d++)
		jl_onnx_set(&r->out->dims, d, 1);
	jl_onnx_pass(r, JL_NET_PASS_POOL, in);
}

static void op_norm(struct jl_onnx_run *r)
{
	const bool batch = strcmp(r->node->op, "BatchNormalization") == 0;

	r->out->dims = r->a->dims;
	for (int i = 3; batch && i < 5 && i < r->node->n_in; i++)
		if (r->node->in[i])
			r->node->in[i]->is_statistic = true;
	jl_onnx_pass(r, batch ? JL_NET_PASS_BATCH_NORM : JL_NET_PASS_NORM, jl_onnx_size(r->a));
}

/* Elementwise with broadcasting. Small integers are evaluated, because shapes are computed from them. */
static double apply(const char *op, double x, double y)
{
	return strcmp(op, "Add") == 0     ? x + y
	       : strcmp(op, "Sub") == 0   ? x - y
	       : strcmp(op, "Mul") == 0   ? x * y
	       : strcmp(op, "Div") == 0   ? (y != 0 ? trunc(x / y) : NAN)
	       : strcmp(op, "Equal") == 0 ? x == y
					  : NAN;
}

static void op_both(struct jl_onnx_run *r)
{
	const struct jl_onnx_value a = *r->a, b = r->b ? *r->b : a;
	const struct jl_onnx_list *more = a.dims.n >= b.dims.n ? &a.dims : &b.dims,
				  *less = more == &a.dims ? &b.dims : &a.dims;

	if (less->n < 0) {
		jl_onnx_wrong(r, JL_N("needs a shape that is not known"));
		return;
	}
	r->out->dims = *more;
	for (int d = 0; d < less->n; d++) {
		const int at = more->n - less->n + d;

		jl_onnx_set(&r->out->dims, at, fmax(jl_onnx_get(more, at), jl_onnx_get(less, d)));
	}
	if (a.ints.n > 0 && b.ints.n > 0 && (a.ints.n == b.ints.n || a.ints.n == 1 || b.ints.n == 1)) {
		jl_onnx_fill(&r->out->ints, 0, 0);
		for (int i = 0; i < a.ints.n || i < b.ints.n; i++)
			jl_onnx_add(&r->out->ints, apply(r->node->op, jl_onnx_get(&a.ints, a.ints.n > 1 ? i : 0),
							 jl_onnx_get(&b.ints, b.ints.n > 1 ? i : 0)));
		return;
	}
	jl_onnx_pass(r, r->b && jl_onnx_size(&b) > 1 ? JL_NET_PASS_ADD : JL_NET_PASS_MAP, jl_onnx_size(r->out));
}

/* Where: selects among small integers. */
static void op_where(struct jl_onnx_run *r)
{
	const struct jl_onnx_value *third = jl_onnx_input(r, 2);

	if (!r->b || !third || jl_onnx_rank(third) < 0 || jl_onnx_rank(r->b) < 0) {
		jl_onnx_wrong(r, JL_N("needs a shape that is not known"));
		return;
	}
	const struct jl_onnx_value a = *r->a, b = *r->b, c = *third;

	r->out->dims = a.dims.n >= b.dims.n && a.dims.n >= c.dims.n ? a.dims : b.dims.n >= c.dims.n ? b.dims : c.dims;
	if (a.ints.n > 0 && b.ints.n == a.ints.n && c.ints.n == a.ints.n) {
		jl_onnx_fill(&r->out->ints, 0, 0);
		for (int i = 0; i < a.ints.n; i++)
			jl_onnx_add(&r->out->ints, jl_onnx_get(jl_onnx_get(&a.ints, i) != 0 ? &b.ints : &c.ints, i));
		return;
	}
	jl_onnx_pass(r, JL_NET_PASS_ADD, jl_onnx_size(r->out));
}

static void op_map(struct jl_onnx_run *r)
{
	r->out->dims = r->a->dims;
	jl_onnx_pass(r, JL_NET_PASS_MAP, jl_onnx_size(r->a));
}

/* The same data, or a copy that a later kernel includes. */
static void op_same(struct jl_onnx_run *r)
{
	const struct jl_onnx_bytes name = r->out->name;

	*r->out = *r->a;
	r->out->name = name;
	r->out->is_weight = r->out->is_float = false;
}

static void op_constant(struct jl_onnx_run *r)
{
	const struct jl_onnx_attr *value = jl_onnx_attr(r->node, "value"), *one = jl_onnx_attr(r->node, "value_int");
	const struct jl_onnx_bytes name = r->out->name;

	jl_onnx_fill(&r->out->dims, 0, 0);
	if (value && !jl_onnx_tensor(r->out, value->tensor))
		jl_onnx_wrong(r, JL_N("is damaged"));
	r->out->name = name;
	r->out->is_float = false;
	if (one)
		jl_onnx_fill(&r->out->ints, 1, one->i);
}

static const struct {
	const char *ops;
	void (*run)(struct jl_onnx_run *r);
} operators[] = {
	{ "Conv ConvTranspose", op_conv },
	{ "MatMul", op_matmul },
	{ "Gemm", op_gemm },
	{ "MaxPool AveragePool", op_pool },
	{ "GlobalAveragePool GlobalMaxPool", op_global_pool },
	{ "BatchNormalization LayerNormalization InstanceNormalization GroupNormalization Softmax", op_norm },
	{ "Add Sub Mul Div Pow Min Max Equal Less Greater And Or", op_both },
	{ "Where", op_where },
	{ "Cast Identity Dropout", op_same },
	{ "Constant", op_constant },
	{ "Shape", jl_onnx_shape },
	{ "Reshape", jl_onnx_reshape },
	{ "Transpose", jl_onnx_transpose },
	{ "Concat", jl_onnx_concat },
	{ "Split", jl_onnx_split },
	{ "Slice", jl_onnx_slice },
	{ "Gather", jl_onnx_gather },
	{ "Unsqueeze Squeeze", jl_onnx_squeeze },
	{ "ReduceMean ReduceSum ReduceMax ReduceL2", jl_onnx_reduce },
	{ "Flatten", jl_onnx_flatten },
	{ "Expand ConstantOfShape Resize Tile", jl_onnx_grow },
	/* elementwise */
	{ "Relu LeakyRelu PRelu Elu Clip Sigmoid HardSigmoid HardSwish Tanh Erf Gelu Softplus Exp Log Sqrt Reciprocal "
	  "Neg Abs Sin Cos Not IsNaN Trilu CumSum",
	  op_map },
};

void jl_onnx_node_run(struct jl_net_state *state, const struct jl_onnx_node *node, double batch)
{
	struct jl_onnx_run r = { .state = state, .node = node, .batch = batch };
	size_t i = 0;

	r.a = jl_onnx_input(&r, 0);
	r.b = jl_onnx_input(&r, 1);
	r.out = node->n_out > 0 ? node->out[0] : NULL;
	while (i < JL_LEN(operators) && !jl_net_has_word(operators[i].ops, node->op))
		i++;
	if (!r.out)
		return;
	if (i == JL_LEN(operators))
		state->status = jl_fail(state->err, JL_E_DATA,
					JL_N("%.80s: operator %s is not one that can be followed; give the network by "
					     "its figures instead (--gmacs, --macts, --params-m)"),
					state->name, node->op[0] ? node->op : "?");
	else if (operators[i].run != op_constant && (!r.a || jl_onnx_rank(r.a) < 0))
		jl_onnx_wrong(&r, JL_N("needs a shape that is not known"));
	else
		operators[i].run(&r);
	if (jl_onnx_rank(r.out) < 0)
		jl_onnx_wrong(&r, JL_N("has too many dimensions"));
	for (int d = 0; !state->status && d < jl_onnx_rank(r.out); d++)
		if (!(jl_onnx_dim(r.out, d) >= 0 && jl_onnx_dim(r.out, d) <= 1e12))
			jl_onnx_wrong(&r, JL_N("has impossible sizes"));
}
