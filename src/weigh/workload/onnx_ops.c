/* What ONNX's operators do to shapes, and what they cost. */
#include <math.h>
#include <string.h>

#include "workload/onnx_graph.h"

static void copy_shape(struct jl_onnx_value *to, const struct jl_onnx_value *from)
{
	to->rank = from->rank;
	memcpy(to->dims, from->dims, sizeof(to->dims));
}

struct run {
	struct jl_net_state *state;
	const struct jl_onnx_node *node;
	const struct jl_onnx_value *a, *b; /* the first two inputs; NULL: none */
	struct jl_onnx_value *out;
	double batch;
};

static void wrong(const struct run *r, const char *en)
{
	if (!r->state->status)
		r->state->status = jl_fail(r->state->err, JL_E_DATA,
					   JL_N("%.80s: an operator %s {%s}; export it with fixed shapes"),
					   r->state->name, r->node->op, en);
}

/* The inputs behind the first two; NULL: left out. */
static const struct jl_onnx_value *input(const struct run *r, int i)
{
	return i < r->node->n_in ? r->node->in[i] : NULL;
}

/* Elements of one sample. */
static double per_item(const struct run *r, double elems)
{
	return fmax(elems / r->batch, 1);
}

static void pass(const struct run *r, enum jl_net_pass kind, double elems)
{
	if (elems > 1 && isfinite(elems) && elems <= 1e15)
		jl_net_pass(r->state, kind, per_item(r, elems), 1);
}

static double padding(const struct run *r, int d, int n, double in, double k, double stride)
{
	const struct jl_onnx_attr *automatic = jl_onnx_attr(r->node, "auto_pad");
	const double whole = ceil(in / stride);

	if (automatic && automatic->text.len >= 4 && memcmp(automatic->text.at, "SAME", 4) == 0)
		return fmax((whole - 1) * stride + k - in, 0);
	return jl_onnx_int_at(r->node, "pads", d, 0) + jl_onnx_int_at(r->node, "pads", d + n, 0);
}

/* Shape behind a window that moves over all dimensions but the first two. */
static bool window(const struct run *r, const double *kernel, double c_out)
{
	const int n = r->a->rank - 2;

	r->out->rank = r->a->rank;
	r->out->dims[0] = r->a->dims[0];
	r->out->dims[1] = c_out;
	for (int d = 0; d < n; d++) {
		const double k = kernel ? kernel[d] : jl_onnx_int_at(r->node, "kernel_shape", d, 1);
		const double s = jl_onnx_int_at(r->node, "strides", d, 1),
			     wide = jl_onnx_int_at(r->node, "dilations", d, 1) * (k - 1) + 1;
		const double room = r->a->dims[2 + d] + padding(r, d, n, r->a->dims[2 + d], wide, s) - wide;
		const bool up = jl_onnx_int(r->node, "ceil_mode", 0) != 0;

		r->out->dims[2 + d] = s > 0 ? (up ? ceil(room / s) : floor(room / s)) + 1 : NAN;
		if (!(r->out->dims[2 + d] >= 1 && r->out->dims[2 + d] <= 1e9))
			return false;
	}
	return true;
}

static void op_conv(struct run *r)
{
	const struct jl_onnx_value *w = r->b;
	const bool back = strcmp(r->node->op, "ConvTranspose") == 0;
	const double groups = jl_onnx_int(r->node, "group", 1);
	double over[2] = { 1, 1 }, in[2] = { 1, 1 }, kernel[2] = { 1, 1 };

	if (!w || w->rank < 3 || r->a->rank != w->rank || !(groups >= 1 && groups <= 1e6)) {
		wrong(r, JL_N("has no weights of its rank"));
		return;
	}
	const double c_out = back ? w->dims[1] * groups : w->dims[0];

	if (back) { /* as the gradient of a convolution: the same products, over the smaller side */
		copy_shape(r->out, r->a);
		r->out->dims[1] = c_out;
		for (int d = 2; d < r->a->rank; d++)
			r->out->dims[d] = r->a->dims[d] * jl_onnx_int_at(r->node, "strides", d - 2, 1);
	} else if (!window(r, w->dims + 2, c_out)) {
		wrong(r, JL_N("has impossible sizes"));
		return;
	}
	/* more than two dimensions: depth and rows together */
	for (int d = 2; d < w->rank; d++) {
		const int side = d + 1 < w->rank ? 0 : 1;

		over[side] *= back ? r->a->dims[d] : r->out->dims[d];
		in[side] *= r->a->dims[d];
		kernel[side] *= w->dims[d];
	}
	jl_net_product(r->state,
		       &(struct jl_conv_op){ .kind = JL_CONV_CONV,
					     .count = 1,
					     .c_in = r->a->dims[1],
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

static void product(struct run *r, double rows, double k, double n, double heads, bool weights)
{
	if (!(rows >= 1 && k >= 1 && n >= 1 && heads >= 1 && rows * k * n * heads <= 1e18)) {
		wrong(r, JL_N("has impossible sizes"));
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

static void op_matmul(struct run *r)
{
	const struct jl_onnx_value *a = r->a, *b = r->b;
	double heads = 1;

	if (!b || b->rank < 2 || a->rank < 1) {
		wrong(r, JL_N("needs two matrices whose shapes are known"));
		return;
	}
	const double k = a->dims[a->rank - 1], m = a->rank > 1 ? a->dims[a->rank - 2] : 1, n = b->dims[b->rank - 1];
	const struct jl_onnx_value *more = a->rank >= b->rank ? a : b;

	if (k != b->dims[b->rank - 2]) {
		wrong(r, JL_N("has matrices that do not fit"));
		return;
	}
	for (int d = 0; d < more->rank - 2; d++)
		heads *= more->dims[d];
	copy_shape(r->out, more);
	r->out->dims[more->rank - 2] = m;
	r->out->dims[more->rank - 1] = n;
	if (b->is_weight && b->rank == 2)
		product(r, per_item(r, heads * m), k, n, 1, true);
	else
		product(r, m, k, n, per_item(r, heads), false);
}

static void op_gemm(struct run *r)
{
	const struct jl_onnx_value *b = r->b;

	if (!b || b->rank != 2 || r->a->rank != 2) {
		wrong(r, JL_N("needs two matrices whose shapes are known"));
		return;
	}
	const bool across = jl_onnx_int(r->node, "transB", 0) != 0, turned = jl_onnx_int(r->node, "transA", 0) != 0;
	const double n = b->dims[across ? 0 : 1], k = b->dims[across ? 1 : 0], m = r->a->dims[turned ? 1 : 0];

	r->out->rank = 2;
	r->out->dims[0] = m;
	r->out->dims[1] = n;
	product(r, per_item(r, m), k, n, 1, b->is_weight);
}

static void op_pool(struct run *r)
{
	if (!window(r, NULL, r->a->dims[1]))
		wrong(r, JL_N("has impossible sizes"));
	pass(r, JL_NET_PASS_POOL, jl_onnx_size(r->a) + jl_onnx_size(r->out));
}

static void op_global_pool(struct run *r)
{
	copy_shape(r->out, r->a);
	for (int d = 2; d < r->a->rank; d++)
		r->out->dims[d] = 1;
	pass(r, JL_NET_PASS_POOL, jl_onnx_size(r->a));
}

static void op_norm(struct run *r)
{
	const bool batch = strcmp(r->node->op, "BatchNormalization") == 0;

	copy_shape(r->out, r->a);
	for (int i = 3; batch && i < 5 && i < r->node->n_in; i++)
		if (r->node->in[i])
			r->node->in[i]->is_statistic = true;
	pass(r, batch ? JL_NET_PASS_BATCH_NORM : JL_NET_PASS_NORM, jl_onnx_size(r->a));
}

/* Element by element, with broadcasting; small whole numbers are reckoned, shapes are made of them. */
static double reckoned(const char *op, double x, double y)
{
	return strcmp(op, "Add") == 0     ? x + y
	       : strcmp(op, "Sub") == 0   ? x - y
	       : strcmp(op, "Mul") == 0   ? x * y
	       : strcmp(op, "Div") == 0   ? (y != 0 ? trunc(x / y) : NAN)
	       : strcmp(op, "Equal") == 0 ? x == y
					  : NAN;
}

static void op_both(struct run *r)
{
	const struct jl_onnx_value *a = r->a, *b = r->b ? r->b : r->a;
	const struct jl_onnx_value *more = a->rank >= b->rank ? a : b, *less = more == a ? b : a;

	if (b->rank < 0) {
		wrong(r, JL_N("needs a shape that is not known"));
		return;
	}
	copy_shape(r->out, more);
	for (int d = 0; d < less->rank; d++) {
		double *dim = &r->out->dims[more->rank - less->rank + d];

		*dim = fmax(*dim, less->dims[d]);
	}
	if (a->n_ints > 0 && b->n_ints > 0 && (a->n_ints == b->n_ints || a->n_ints == 1 || b->n_ints == 1)) {
		r->out->n_ints = a->n_ints > b->n_ints ? a->n_ints : b->n_ints;
		for (int i = 0; i < r->out->n_ints; i++)
			r->out->ints[i] = reckoned(r->node->op, a->ints[a->n_ints > 1 ? i : 0],
						   b->ints[b->n_ints > 1 ? i : 0]);
		return;
	}
	pass(r, r->b && jl_onnx_size(b) > 1 ? JL_NET_PASS_ADD : JL_NET_PASS_MAP, jl_onnx_size(r->out));
}

/* Where: of small whole numbers one or the other. */
static void op_where(struct run *r)
{
	const struct jl_onnx_value *c = input(r, 2);

	if (!r->b || !c || c->rank < 0 || r->b->rank < 0) {
		wrong(r, JL_N("needs a shape that is not known"));
		return;
	}
	copy_shape(r->out, r->a->rank >= r->b->rank && r->a->rank >= c->rank ? r->a : r->b->rank >= c->rank ? r->b : c);
	if (r->a->n_ints > 0 && r->b->n_ints == r->a->n_ints && c->n_ints == r->a->n_ints) {
		r->out->n_ints = r->a->n_ints;
		for (int i = 0; i < r->a->n_ints; i++)
			r->out->ints[i] = r->a->ints[i] != 0 ? r->b->ints[i] : c->ints[i];
		return;
	}
	pass(r, JL_NET_PASS_ADD, jl_onnx_size(r->out));
}

static void op_map(struct run *r)
{
	copy_shape(r->out, r->a);
	pass(r, JL_NET_PASS_MAP, jl_onnx_size(r->a));
}

/* The same data, or a copy that a later kernel does on the way. */
static void op_same(struct run *r)
{
	const struct jl_onnx_bytes name = r->out->name;

	*r->out = *r->a;
	r->out->name = name;
	r->out->is_weight = r->out->is_float = false;
}

static void op_constant(struct run *r)
{
	const struct jl_onnx_attr *value = jl_onnx_attr(r->node, "value"), *one = jl_onnx_attr(r->node, "value_int");
	const struct jl_onnx_bytes name = r->out->name;

	r->out->rank = 0;
	if (value && !jl_onnx_tensor(r->out, value->tensor))
		wrong(r, JL_N("is damaged"));
	r->out->name = name;
	r->out->is_float = false;
	if (one) {
		r->out->n_ints = 1;
		r->out->ints[0] = one->i;
	}
}

static void op_shape(struct run *r)
{
	r->out->rank = 1;
	r->out->dims[0] = r->a->rank;
	r->out->n_ints = r->a->rank;
	memcpy(r->out->ints, r->a->dims, (size_t)(r->a->rank > 0 ? r->a->rank : 0) * sizeof(double));
}

static void op_reshape(struct run *r)
{
	const struct jl_onnx_value *to = r->b;
	double known = 1;
	int open = -1;

	if (!to || to->n_ints < 0 || to->n_ints > JL_ONNX_RANK_MAX) {
		wrong(r, JL_N("goes to a shape that is not known"));
		return;
	}
	r->out->rank = to->n_ints;
	for (int d = 0; d < to->n_ints; d++) {
		r->out->dims[d] = d < r->a->rank && to->ints[d] == 0 ? r->a->dims[d] : to->ints[d];
		if (r->out->dims[d] == -1)
			open = d;
		else
			known *= r->out->dims[d];
	}
	if (open >= 0)
		r->out->dims[open] = known > 0 ? jl_onnx_size(r->a) / known : NAN;
}

static void op_transpose(struct run *r)
{
	copy_shape(r->out, r->a);
	for (int d = 0; d < r->a->rank; d++) {
		const double from = jl_onnx_int_at(r->node, "perm", d, r->a->rank - 1 - d);

		if (from >= 0 && from < r->a->rank)
			r->out->dims[d] = r->a->dims[(int)from];
	}
	pass(r, JL_NET_PASS_COPY, jl_onnx_size(r->a));
}

static double axis_of(const struct run *r, double axis)
{
	axis += axis < 0 ? r->a->rank : 0;
	return axis >= 0 && axis < JL_ONNX_RANK_MAX ? axis : 0;
}

static void op_concat(struct run *r)
{
	const int axis = (int)axis_of(r, jl_onnx_int(r->node, "axis", 0));
	double along = 0;
	int n = 0;

	copy_shape(r->out, r->a);
	for (int i = 0; i < r->node->n_in; i++) {
		const struct jl_onnx_value *v = r->node->in[i];

		if (!v)
			continue;
		along += v->rank > axis ? v->dims[axis] : 1;
		for (int k = 0; n >= 0 && k < v->n_ints; k++)
			n = n < JL_ONNX_INTS_MAX ? (r->out->ints[n] = v->ints[k], n + 1) : -1;
		n = v->n_ints < 0 ? -1 : n;
	}
	r->out->dims[axis] = along;
	r->out->n_ints = n;
	if (n < 0)
		pass(r, JL_NET_PASS_COPY, jl_onnx_size(r->out));
}

static void op_split(struct run *r)
{
	const int axis = (int)axis_of(r, jl_onnx_int(r->node, "axis", 0));

	for (int i = 0; i < r->node->n_out; i++) {
		struct jl_onnx_value *v = r->node->out[i];

		if (!v)
			continue;
		copy_shape(v, r->a);
		v->dims[axis] = r->b && i < r->b->n_ints
					? r->b->ints[i]
					: jl_onnx_int_at(r->node, "split", i, r->a->dims[axis] / r->node->n_out);
	}
}

static void op_slice(struct run *r)
{
	const struct jl_onnx_value *ends = input(r, 2);
	const struct jl_onnx_value *axes = input(r, 3);
	const struct jl_onnx_value *steps = input(r, 4);

	copy_shape(r->out, r->a);
	for (int i = 0; r->b && ends && i < r->b->n_ints && i < ends->n_ints; i++) {
		const int axis = (int)axis_of(r, axes && i < axes->n_ints ? axes->ints[i] : i);
		const double size = r->a->dims[axis], step = steps && i < steps->n_ints ? steps->ints[i] : 1;
		const double from = r->b->ints[i] < 0 ? fmax(r->b->ints[i] + size, 0) : fmin(r->b->ints[i], size);
		const double to = ends->ints[i] < 0 ? ends->ints[i] + size : fmin(ends->ints[i], size);

		r->out->dims[axis] = fmax(ceil((to - from) / fmax(step, 1)), 0);
		if (r->a->n_ints > 0 && axis == 0) {
			r->out->n_ints = 0;
			for (double k = from; k < to && k < r->a->n_ints; k += fmax(step, 1))
				r->out->ints[r->out->n_ints++] = r->a->ints[(int)k];
		}
	}
}

/* Rows of a table, or one of a shape's numbers. */
static void op_gather(struct run *r)
{
	const struct jl_onnx_value *index = r->b;
	const int axis = (int)axis_of(r, jl_onnx_int(r->node, "axis", 0));
	int rank = 0;

	if (!index || index->rank < 0 || r->a->rank - 1 + index->rank > JL_ONNX_RANK_MAX) {
		wrong(r, JL_N("has no index whose shape is known"));
		return;
	}
	for (int d = 0; d < axis && d < r->a->rank; d++)
		r->out->dims[rank++] = r->a->dims[d];
	for (int d = 0; d < index->rank; d++)
		r->out->dims[rank++] = index->dims[d];
	for (int d = axis + 1; d < r->a->rank; d++)
		r->out->dims[rank++] = r->a->dims[d];
	r->out->rank = rank;
	if (r->a->n_ints > 0 && index->n_ints >= 0) {
		r->out->n_ints = index->n_ints;
		for (int i = 0; i < index->n_ints; i++) {
			const double at = index->ints[i] < 0 ? index->ints[i] + r->a->n_ints : index->ints[i];

			r->out->ints[i] = at >= 0 && at < r->a->n_ints ? r->a->ints[(int)at] : NAN;
		}
		return;
	}
	pass(r, JL_NET_PASS_COPY, jl_onnx_size(r->out));
}

/* Unsqueeze, Squeeze: axes are an attribute or, later, an input. */
static bool is_axis(const struct run *r, int axis, int rank)
{
	const struct jl_onnx_attr *attr = jl_onnx_attr(r->node, "axes");
	const int n = attr ? attr->n_ints : r->b ? r->b->n_ints : 0;

	for (int i = 0; i < n; i++) {
		const double at = attr ? attr->ints[i] : r->b->ints[i];

		if (at == axis || at + rank == axis)
			return true;
	}
	return false;
}

static void op_squeeze(struct run *r)
{
	const bool more = strcmp(r->node->op, "Unsqueeze") == 0;
	const struct jl_onnx_attr *attr = jl_onnx_attr(r->node, "axes");
	const int n = attr ? attr->n_ints : r->b ? r->b->n_ints : 0;
	const int rank = more ? r->a->rank + (n > 0 ? n : 0) : r->a->rank;
	int from = 0;

	if (rank > JL_ONNX_RANK_MAX) {
		wrong(r, JL_N("has too many dimensions"));
		return;
	}
	r->out->rank = 0;
	for (int d = 0; d < rank; d++) {
		if (more)
			r->out->dims[r->out->rank++] = is_axis(r, d, rank) || from >= r->a->rank ? 1
												 : r->a->dims[from++];
		else if (!(is_axis(r, d, rank) || (n <= 0 && r->a->dims[d] == 1)))
			r->out->dims[r->out->rank++] = r->a->dims[d];
	}
	r->out->n_ints = r->a->n_ints;
	memcpy(r->out->ints, r->a->ints, sizeof(r->out->ints));
}

static void op_reduce(struct run *r)
{
	const bool keep = jl_onnx_int(r->node, "keepdims", 1) != 0;
	const struct jl_onnx_attr *attr = jl_onnx_attr(r->node, "axes");
	const bool all = !attr && !(r->b && r->b->n_ints > 0);

	r->out->rank = 0;
	for (int d = 0; d < r->a->rank; d++) {
		const bool gone = all || is_axis(r, d, r->a->rank);

		if (!gone || keep)
			r->out->dims[r->out->rank++] = gone ? 1 : r->a->dims[d];
	}
	pass(r, JL_NET_PASS_POOL, jl_onnx_size(r->a));
}

static void op_flatten(struct run *r)
{
	const int axis = (int)axis_of(r, jl_onnx_int(r->node, "axis", 1));

	r->out->rank = 2;
	r->out->dims[0] = r->out->dims[1] = 1;
	for (int d = 0; d < r->a->rank; d++)
		r->out->dims[d >= axis] *= r->a->dims[d];
}

/* Expand, ConstantOfShape, Resize, Tile: to a shape, or by factors. */
static void op_grow(struct run *r)
{
	const bool fill = strcmp(r->node->op, "ConstantOfShape") == 0, tile = strcmp(r->node->op, "Tile") == 0;
	const struct jl_onnx_value *to = fill ? r->a : r->node->n_in > 1 ? input(r, r->node->n_in - 1) : NULL;

	if (!to || to->n_ints < 0 || to->n_ints > JL_ONNX_RANK_MAX) {
		wrong(r, JL_N("goes to a shape that is not known"));
		return;
	}
	if (!fill)
		copy_shape(r->out, r->a);
	r->out->rank = to->n_ints > r->out->rank || fill ? to->n_ints : r->out->rank;
	for (int d = 0; d < to->n_ints; d++) {
		const int at = r->out->rank - to->n_ints + d, from = at - (r->out->rank - r->a->rank);
		const double own = !fill && from >= 0 ? r->a->dims[from] : 1;

		r->out->dims[at] = tile ? own * to->ints[d] : fmax(own, to->ints[d]);
	}
	if (fill && to->n_ints == 1 && r->out->dims[0] >= 0 && r->out->dims[0] <= JL_ONNX_INTS_MAX) {
		const struct jl_onnx_attr *attr = jl_onnx_attr(r->node, "value");
		struct jl_onnx_value value = { .n_ints = -1 };

		r->out->n_ints = (int)r->out->dims[0];
		if (attr && (!jl_onnx_tensor(&value, attr->tensor) || value.n_ints != 1))
			r->out->n_ints = -1;
		for (int i = 0; i < r->out->n_ints; i++)
			r->out->ints[i] = attr ? value.ints[0] : 0;
		return;
	}
	pass(r, JL_NET_PASS_COPY, jl_onnx_size(r->out));
}

static const struct {
	const char *ops;
	void (*run)(struct run *r);
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
	{ "Shape", op_shape },
	{ "Reshape", op_reshape },
	{ "Transpose", op_transpose },
	{ "Concat", op_concat },
	{ "Split", op_split },
	{ "Slice", op_slice },
	{ "Gather", op_gather },
	{ "Unsqueeze Squeeze", op_squeeze },
	{ "ReduceMean ReduceSum ReduceMax ReduceL2", op_reduce },
	{ "Flatten", op_flatten },
	{ "Expand ConstantOfShape Resize Tile", op_grow },
	/* element by element */
	{ "Relu LeakyRelu PRelu Elu Clip Sigmoid HardSigmoid HardSwish Tanh Erf Gelu Softplus Exp Log Sqrt Reciprocal "
	  "Neg Abs Sin Cos Not IsNaN Trilu CumSum",
	  op_map },
};

void jl_onnx_run(struct jl_net_state *state, const struct jl_onnx_node *node, double batch)
{
	struct run r = { .state = state, .node = node, .batch = batch };
	size_t i = 0;

	r.a = input(&r, 0);
	r.b = input(&r, 1);
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
	else if (operators[i].run != op_constant && (!r.a || r.a->rank < 0))
		wrong(&r, JL_N("needs a shape that is not known"));
	else
		operators[i].run(&r);
	for (int d = 0; !state->status && d < r.out->rank; d++)
		if (!(r.out->dims[d] >= 0 && r.out->dims[d] <= 1e12))
			wrong(&r, JL_N("has impossible sizes"));
}
