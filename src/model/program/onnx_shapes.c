/* ONNX operators that compute shapes or move data. Knows no file format. */
#include <math.h>
#include <string.h>

#include "program/onnx_graph.h"

static const struct jl_onnx_list unknown = { .n = -1 }, scalar = { .n = 0 };

void jl_onnx_shape(struct jl_onnx_run *r)
{
	r->out->ints = r->a->dims;
	jl_onnx_fill(&r->out->dims, 1, r->out->ints.n);
}

void jl_onnx_reshape(struct jl_onnx_run *r)
{
	const struct jl_onnx_list from = r->a->dims, to = r->b ? r->b->ints : unknown;
	const double in = jl_onnx_size(r->a);
	double known = 1;
	int open = -1;

	if (to.n < 0) {
		jl_onnx_wrong(r, JL_N("goes to a shape that is not known"));
		return;
	}
	jl_onnx_fill(&r->out->dims, 0, 0);
	for (int d = 0; d < to.n; d++) {
		const double said = jl_onnx_get(&to, d), size = d < from.n && said == 0 ? jl_onnx_get(&from, d) : said;

		jl_onnx_add(&r->out->dims, size);
		if (size == -1)
			open = d;
		else
			known *= size;
	}
	if (open >= 0)
		jl_onnx_set(&r->out->dims, open, known > 0 ? in / known : NAN);
}

void jl_onnx_transpose(struct jl_onnx_run *r)
{
	const struct jl_onnx_list from = r->a->dims;

	r->out->dims = r->a->dims;
	for (int d = 0; d < from.n; d++) {
		const double at = jl_onnx_int_at(r->node, "perm", d, from.n - 1 - d);

		if (at >= 0 && at < from.n)
			jl_onnx_set(&r->out->dims, d, jl_onnx_get(&from, (int)at));
	}
	jl_onnx_pass(r, JL_NET_PASS_COPY, jl_onnx_size(r->a));
}

/* Dimension index of an axis; -1: invalid, with an error set. */
static int axis_of(const struct jl_onnx_run *r, double axis, int n)
{
	axis += axis < 0 ? n : 0;
	if (axis >= 0 && axis < n)
		return (int)axis;
	jl_onnx_wrong(r, JL_N("has an axis beyond its rank"));
	return -1;
}

void jl_onnx_concat(struct jl_onnx_run *r)
{
	const int axis = axis_of(r, jl_onnx_int(r->node, "axis", 0), jl_onnx_rank(r->a));
	struct jl_onnx_list ints = { 0 };
	double along = 0;

	for (int i = 0; i < r->node->n_in; i++) {
		const struct jl_onnx_value *v = r->node->in[i];

		if (!v)
			continue;
		along += jl_onnx_rank(v) > axis ? jl_onnx_dim(v, axis) : 1;
		for (int k = 0; k < v->ints.n; k++)
			jl_onnx_add(&ints, jl_onnx_get(&v->ints, k));
		ints.n = v->ints.n < 0 ? -1 : ints.n;
	}
	r->out->dims = r->a->dims;
	jl_onnx_set(&r->out->dims, axis, along);
	r->out->ints = ints;
	if (ints.n < 0)
		jl_onnx_pass(r, JL_NET_PASS_COPY, jl_onnx_size(r->out));
}

void jl_onnx_split(struct jl_onnx_run *r)
{
	const int axis = axis_of(r, jl_onnx_int(r->node, "axis", 0), jl_onnx_rank(r->a));
	const struct jl_onnx_list from = r->a->dims, sizes = r->b ? r->b->ints : unknown;

	for (int i = 0; i < r->node->n_out; i++) {
		struct jl_onnx_value *v = r->node->out[i];

		if (!v)
			continue;
		v->dims = from;
		jl_onnx_set(&v->dims, axis,
			    i < sizes.n
				    ? jl_onnx_get(&sizes, i)
				    : jl_onnx_int_at(r->node, "split", i, jl_onnx_get(&from, axis) / r->node->n_out));
	}
}

/* Values of a slice of a shape. */
static void slice_ints(struct jl_onnx_list *out, const struct jl_onnx_list *in, double from, double to, double step)
{
	jl_onnx_fill(out, 0, 0);
	for (double k = from; k < to && k < in->n; k += step)
		jl_onnx_add(out, jl_onnx_get(in, (int)k));
}

void jl_onnx_slice(struct jl_onnx_run *r)
{
	const struct jl_onnx_value a = *r->a;
	const struct jl_onnx_list begins = r->b ? r->b->ints : unknown,
				  ends = jl_onnx_input(r, 2) ? jl_onnx_input(r, 2)->ints : unknown,
				  axes = jl_onnx_input(r, 3) ? jl_onnx_input(r, 3)->ints : unknown,
				  steps = jl_onnx_input(r, 4) ? jl_onnx_input(r, 4)->ints : unknown;

	r->out->dims = a.dims;
	for (int i = 0; i < begins.n && i < ends.n; i++) {
		const int axis = axis_of(r, i < axes.n ? jl_onnx_get(&axes, i) : i, a.dims.n);
		const double size = jl_onnx_dim(&a, axis), step = i < steps.n ? fmax(jl_onnx_get(&steps, i), 1) : 1;
		const double begin = jl_onnx_get(&begins, i), end = jl_onnx_get(&ends, i);
		const double from = begin < 0 ? fmax(begin + size, 0) : fmin(begin, size);
		const double to = end < 0 ? end + size : fmin(end, size);

		jl_onnx_set(&r->out->dims, axis, fmax(ceil((to - from) / step), 0));
		if (a.ints.n > 0 && axis == 0)
			slice_ints(&r->out->ints, &a.ints, from, to, step);
	}
}

/* Gather: rows of a table, or a number of a shape. */
void jl_onnx_gather(struct jl_onnx_run *r)
{
	const int axis = axis_of(r, jl_onnx_int(r->node, "axis", 0), jl_onnx_rank(r->a));
	struct jl_onnx_list dims = { 0 }, ints = { 0 };

	if (!r->b || jl_onnx_rank(r->b) < 0) {
		jl_onnx_wrong(r, JL_N("has no index whose shape is known"));
		return;
	}
	const struct jl_onnx_list from = r->a->dims, values = r->a->ints, index = r->b->ints;

	for (int d = 0; d < axis; d++)
		jl_onnx_add(&dims, jl_onnx_get(&from, d));
	for (int d = 0; d < jl_onnx_rank(r->b); d++)
		jl_onnx_add(&dims, jl_onnx_dim(r->b, d));
	for (int d = axis + 1; d < from.n; d++)
		jl_onnx_add(&dims, jl_onnx_get(&from, d));
	r->out->dims = dims;
	if (values.n > 0 && index.n >= 0) {
		for (int i = 0; i < index.n; i++) {
			const double at = jl_onnx_get(&index, i) + (jl_onnx_get(&index, i) < 0 ? values.n : 0);

			jl_onnx_add(&ints, at >= 0 && at < values.n ? jl_onnx_get(&values, (int)at) : NAN);
		}
		r->out->ints = ints;
		return;
	}
	jl_onnx_pass(r, JL_NET_PASS_COPY, jl_onnx_size(r->out));
}

/* Axes of Squeeze and similar: an attribute or, in later versions, an input. n < 0: neither. */
static struct jl_onnx_list axes_of(const struct jl_onnx_run *r)
{
	const struct jl_onnx_attr *attr = jl_onnx_attr(r->node, "axes");

	return attr ? attr->ints : r->b ? r->b->ints : unknown;
}

static bool is_axis(const struct jl_onnx_list *axes, int axis, int rank)
{
	for (int i = 0; i < axes->n; i++)
		if (jl_onnx_get(axes, i) == axis || jl_onnx_get(axes, i) + rank == axis)
			return true;
	return false;
}

static void check_axes(const struct jl_onnx_run *r, const struct jl_onnx_list *axes, int rank)
{
	for (int i = 0; i < axes->n; i++)
		(void)axis_of(r, jl_onnx_get(axes, i), rank);
}

void jl_onnx_squeeze(struct jl_onnx_run *r)
{
	const bool more = strcmp(r->node->op, "Unsqueeze") == 0;
	const struct jl_onnx_list axes = axes_of(r), in = r->a->dims;
	const int rank = more && axes.n > 0 ? in.n + axes.n : in.n;
	int from = 0;

	check_axes(r, &axes, rank);
	r->out->ints = r->a->ints;
	jl_onnx_fill(&r->out->dims, 0, 0);
	for (int d = 0; d < rank; d++) {
		if (more)
			jl_onnx_add(&r->out->dims,
				    is_axis(&axes, d, rank) || from >= in.n ? 1 : jl_onnx_get(&in, from++));
		else if (!(is_axis(&axes, d, rank) || (axes.n <= 0 && jl_onnx_get(&in, d) == 1)))
			jl_onnx_add(&r->out->dims, jl_onnx_get(&in, d));
	}
}

void jl_onnx_reduce(struct jl_onnx_run *r)
{
	const bool keep = jl_onnx_int(r->node, "keepdims", 1) != 0;
	const struct jl_onnx_list axes = axes_of(r), in = r->a->dims;
	const bool all = !jl_onnx_attr(r->node, "axes") && axes.n <= 0;
	const double size = jl_onnx_size(r->a);

	check_axes(r, &axes, in.n);
	jl_onnx_fill(&r->out->dims, 0, 0);
	for (int d = 0; d < in.n; d++) {
		const bool gone = all || is_axis(&axes, d, in.n);

		if (!gone || keep)
			jl_onnx_add(&r->out->dims, gone ? 1 : jl_onnx_get(&in, d));
	}
	jl_onnx_pass(r, JL_NET_PASS_POOL, size);
}

void jl_onnx_flatten(struct jl_onnx_run *r)
{
	const struct jl_onnx_list in = r->a->dims;
	const int axis = axis_of(r, jl_onnx_int(r->node, "axis", 1), in.n + 1);
	double sides[2] = { 1, 1 };

	for (int d = 0; d < in.n; d++)
		sides[d >= axis] *= jl_onnx_get(&in, d);
	jl_onnx_fill(&r->out->dims, 0, 0);
	jl_onnx_add(&r->out->dims, sides[0]);
	jl_onnx_add(&r->out->dims, sides[1]);
}

/* Expand, ConstantOfShape, Resize, Tile: to a shape, or by factors. */
void jl_onnx_grow(struct jl_onnx_run *r)
{
	const bool fill = strcmp(r->node->op, "ConstantOfShape") == 0, tile = strcmp(r->node->op, "Tile") == 0;
	const struct jl_onnx_value *last = fill ? r->a : r->node->n_in > 1 ? jl_onnx_input(r, r->node->n_in - 1) : NULL;
	const struct jl_onnx_list in = fill ? scalar : r->a->dims, to = last ? last->ints : unknown;
	const int rank = to.n > in.n ? to.n : in.n;

	if (to.n < 0) {
		jl_onnx_wrong(r, JL_N("goes to a shape that is not known"));
		return;
	}
	jl_onnx_fill(&r->out->dims, 0, 0);
	for (int d = 0; d < rank; d++) { /* shapes are right-aligned */
		const int from = d - (rank - in.n), by = d - (rank - to.n);
		const double own = from >= 0 ? jl_onnx_get(&in, from) : 1, factor = by >= 0 ? jl_onnx_get(&to, by) : 1;

		jl_onnx_add(&r->out->dims, by < 0 ? own : tile ? own * factor : fmax(own, factor));
	}
	if (fill && to.n == 1 && jl_onnx_get(&to, 0) >= 0 && jl_onnx_get(&to, 0) <= JL_ONNX_LIST_MAX) {
		const struct jl_onnx_attr *attr = jl_onnx_attr(r->node, "value");
		struct jl_onnx_value value = { .ints.n = -1 };

		jl_onnx_fill(&r->out->ints, (int)jl_onnx_get(&r->out->dims, 0), 0);
		if (attr && (!jl_onnx_tensor(&value, attr->tensor) || value.ints.n != 1))
			r->out->ints.n = -1;
		for (int i = 0; attr && i < r->out->ints.n; i++)
			jl_onnx_set(&r->out->ints, i, jl_onnx_get(&value.ints, 0));
		return;
	}
	jl_onnx_pass(r, JL_NET_PASS_COPY, jl_onnx_size(r->out));
}
