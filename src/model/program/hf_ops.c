/* Table of recipe tokens: operator, autocast behaviour and gradient recipe of each. */
#include "program/hf_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Strides of a view with these sizes; false: the view needs a copy. */
static bool view_strides(struct hf_val *out, const struct hf_val *v)
{
	int d = v->rank - 1, o = out->rank - 1;

	while (o >= 0) {
		int64_t left;

		while (d > 0 && v->d[d] == 1)
			d--;
		if (d < 0)
			return false;
		/* dimensions that are contiguous with each other */
		int64_t run = v->d[d], stride = v->s[d];
		int first = d;

		while (first > 0 && (v->d[first - 1] == 1 || v->s[first - 1] == v->s[first] * v->d[first])) {
			first--;
			run *= v->d[first];
			if (v->d[first] == 1 && first > 0 && v->s[first - 1] != stride * run) {
				break;
			}
		}
		for (left = run; o >= 0 && (left > 1 || out->d[o] == 1); o--) {
			if (out->d[o] < 1 || left % out->d[o] != 0)
				return false;
			out->s[o] = stride;
			stride *= out->d[o];
			left /= out->d[o];
		}
		if (left != 1)
			return false;
		d = first - 1;
		if (d < 0) {
			for (; o >= 0; o--) {
				if (out->d[o] != 1)
					return false;
				out->s[o] = stride;
			}
		}
	}
	return true;
}

void hf_copy(struct hf_trace *t, struct hf_val *v, bool recorded)
{
	struct hf_val out = hf_make(t, (enum jl_elem)v->elem, v->rank, v->d);

	if (recorded)
		(void)hf_record(t, hf_op_find("clone", 5), "", v, 1, &out, 1, 0);
	hf_call(t, "aten.clone", v, 1, &out, 1, NULL);
	hf_drop(t, v);
	*v = out;
}

struct hf_val hf_view(struct hf_trace *t, struct hf_val v, int rank, const int64_t *dims)
{
	struct hf_val out = v;

	for (int tries = 0; tries < 2; tries++) {
		out = v;
		out.rank = (int8_t)rank;
		memcpy(out.d, dims, (size_t)rank * sizeof(*dims));
		if (view_strides(&out, &v))
			return out;
		hf_copy(t, &v, true);
	}
	t->broken = true;
	return out;
}

/* Pushes `out`, a view of `in`, and records its gradient. */
static void pushed_view(struct hf_trace *t, const struct hf_op *op, const char *arg, struct hf_val in,
			struct hf_val out)
{
	t->host++;
	(void)hf_record(t, op, arg, &in, 1, &out, 1, 0);
	hf_push(t, out);
}

static void run_view(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), in, out;
	int64_t dims[HF_RANK];
	const int rank = hf_dims(t, arg, dims);

	in = v;
	in.rank = (int8_t)rank;
	memcpy(in.d, dims, sizeof(dims));
	if (!view_strides(&in, &v))
		hf_copy(t, &v, true);
	out = v;
	out.rank = (int8_t)rank;
	memcpy(out.d, dims, sizeof(dims));
	t->broken |= !view_strides(&out, &v);
	pushed_view(t, op, arg, v, out);
}

/* Views the gradient with the sizes of the node's first input. */
static void run_back_view(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	(void)op, (void)arg;
	t->host++;
	hf_push(t, hf_view(t, hf_pop(t), t->now->meta[0].rank, t->now->meta[0].d));
}

static void run_expand(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), out = v;
	int64_t dims[HF_RANK];
	const bool back = t->now && !arg;
	const int rank = back ? t->now->meta[0].rank : hf_dims(t, arg, dims);

	if (back)
		memcpy(dims, t->now->meta[0].d, sizeof(dims));
	out.rank = (int8_t)rank;
	for (int d = 0; d < rank; d++) {
		const int from = d - (rank - v.rank);

		out.d[d] = dims[d];
		out.s[d] = from >= 0 && v.d[from] == dims[d] ? v.s[from] : 0;
	}
	pushed_view(t, op, arg, v, out);
}

static void run_tr(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), out = v;
	const char *text = arg ? arg : t->now ? t->now->arg : NULL;
	const int a = text && *text ? text[0] - '0' : v.rank - 2, b = text && *text ? text[2] - '0' : v.rank - 1;

	out.d[a] = v.d[b], out.d[b] = v.d[a];
	out.s[a] = v.s[b], out.s[b] = v.s[a];
	pushed_view(t, op, text, v, out);
}

/* "part:I,N": the I-th of N equal parts of the last dimension; "part:I,A,B": of two parts of widths A and B. */
static void run_part(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), out = v;
	int64_t at[HF_RANK];
	const int n = hf_dims(t, arg, at), last = v.rank - 1;

	out.d[last] = n == 2 ? v.d[last] / at[1] : at[1 + at[0]];
	pushed_view(t, op, arg, v, out);
}

static void run_slice_back(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), out = hf_make(t, (enum jl_elem)v.elem, t->now->meta[0].rank, t->now->meta[0].d);
	char attrs[20];

	(void)op, (void)arg;
	snprintf(attrs, sizeof(attrs), "dim=%d", out.rank - 1);
	hf_call(t, "aten.slice_backward", &v, 1, &out, 1, attrs);
	hf_drop(t, &v);
	hf_push(t, out);
}

/* Gradient of a concatenation: the slice of input I. */
static void run_narrow(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), out = v;
	const int i = *arg - '0';

	(void)op;
	for (int d = 0; d < v.rank; d++)
		out.d[d] = t->now->meta[i].d[d];
	t->host++;
	hf_push(t, out);
}

/* Splits the last dimension in one call, into equal parts or given widths; the gradients arrive together. */
static void run_split(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), out[3];
	int64_t part[HF_RANK];
	const int n = hf_dims(t, arg, part);

	for (int i = 0; i < n && i < 3; i++) {
		out[i] = v;
		out[i].d[v.rank - 1] = part[i];
		if (i)
			hf_hold(t, &v);
	}
	t->host += 1 + n;
	(void)hf_record(t, op, arg, &v, 1, out, n, 0);
	for (int i = 0; i < n && i < 3; i++)
		hf_push(t, out[i]);
}

static void split_back(struct hf_trace *t, struct hf_node *node)
{
	struct hf_val in[3], out = hf_make(t, (enum jl_elem)node->meta[0].elem, node->meta[0].rank, node->meta[0].d);
	char attrs[20];
	int n = 0;

	for (int i = 0; i < 3; i++)
		if (node->grad[i].store >= 0)
			in[n++] = node->grad[i];
	snprintf(attrs, sizeof(attrs), "dim=%d", out.rank - 1);
	hf_call(t, "aten.cat", in, n, &out, 1, attrs);
	hf_give(t, &node->meta[0], out);
}

int hf_elem(const struct hf_trace *t, char c)
{
	switch (c) {
	case 'f': return JL_ELEM_F32;
	case 'i': return JL_ELEM_I64;
	case 'j': return JL_ELEM_I32;
	case 'b': return JL_ELEM_B8;
	default: /* the weights' format */
		return (t->run->autocast && t->run->lora_rank <= 0) || jl_dtype_B(t->run->dtype) >= 4 ? JL_ELEM_F32
		       : t->run->dtype == JL_FP16                                                     ? JL_ELEM_F16
												      : JL_ELEM_BF16;
	}
}

/* "to:f": cast; "to:x": cast to the format of register x. */
static void run_to(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	(void)op;
	hf_push(t, hf_cast(t, hf_pop(t), *arg == 'x' ? t->regs['x' - 'a'].elem : hf_elem(t, *arg), true));
}

static void run_param(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	const struct hf_val *x = &t->regs['x' - 'a'];
	int64_t dims[HF_RANK] = { x->d[x->rank > 0 ? x->rank - 1 : 0] };
	const int n = arg ? hf_dims(t, arg, dims) : 1;
	struct hf_val v = hf_param(t, op->attrs, (enum jl_elem)hf_elem(t, 'w'), n, dims);

	hf_hold(t, &v);
	hf_push(t, v);
}

/* Rotary embedding frequencies: created with the model, in its format. */
static void run_buffer(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	(void)op, (void)arg;
	if (t->globals['f'].store < 0)
		t->globals['f'] = hf_initial(t, "buffer", (enum jl_elem)hf_elem(t, 'w'), 3,
					     (int64_t[]){ 1, (int64_t)t->var['R'] / 2, 1 });
	hf_hold(t, &t->globals['f']);
	hf_push(t, t->globals['f']);
}

static void run_clone(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t);

	(void)op;
	if (!hf_contiguous(&v) || (arg && *arg))
		hf_copy(t, &v, true);
	hf_push(t, v);
}

static void run_drop(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	const struct hf_val v = hf_pop(t);

	(void)op, (void)arg;
	hf_drop(t, &v);
}

static void run_host(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	(void)op;
	t->host += atoi(arg);
}

/* "cast:0" disables autocast, "cast:1" enables it again. */
static void run_autocast(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	(void)op;
	t->cast = *arg == '0' || !t->run->autocast ? -1 : t->run->dtype == JL_FP16 ? JL_ELEM_F16 : JL_ELEM_BF16;
}

static void run_wait(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	(void)op, (void)arg;
	run_drop(t, op, arg);
	hf_wait(t, "item");
}

/* "nonzero:SIZES": the host waits for the number of results. */
static void run_nonzero(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), out;
	int64_t dims[HF_RANK];
	const int n = hf_dims(t, arg, dims);

	out = hf_make(t, JL_ELEM_I64, n, dims);
	hf_call(t, op->name, &v, 1, &out, 1, NULL);
	hf_wait(t, "nonzero");
	hf_drop(t, &v);
	hf_push(t, out);
}

/* scatter_: puts values into the first input at the indices of the second, in place. */
static void run_put(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val in[2];

	(void)arg;
	in[1] = hf_pop(t);
	in[0] = hf_pop(t);
	hf_call(t, op->name, in, 2, in, 1, "inplace=1 dim=-1");
	hf_drop(t, &in[1]);
	hf_push(t, in[0]);
}

/* Concatenation along the last dimension, or "cat2:D". */
static void run_cat(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val in[2], out;
	const int dim = arg && *arg ? *arg - '0' : -1;
	int64_t dims[HF_RANK];
	char attrs[20];

	in[1] = hf_pop(t);
	in[0] = hf_pop(t);
	for (int i = 0; i < 2; i++) /* both inputs in the wider format */
		if (in[0].elem == JL_ELEM_F32 || in[1].elem == JL_ELEM_F32)
			in[i] = hf_cast(t, in[i], JL_ELEM_F32, true);
	memcpy(dims, in[1].d, sizeof(dims));
	if (in[0].rank > 1)
		dims[dim < 0 ? in[1].rank - 1 : dim] += in[0].d[dim < 0 ? in[1].rank - 1 : dim];
	out = hf_make(t, (enum jl_elem)in[1].elem, in[1].rank, dims);
	(void)hf_record(t, op, arg, in, 2, &out, 1, 0);
	snprintf(attrs, sizeof(attrs), "dim=%d", dim);
	hf_call(t, "aten.cat", in, 2, &out, 1, attrs);
	hf_drop(t, &in[0]);
	hf_drop(t, &in[1]);
	hf_push(t, out);
}

/* KV cache: concatenates even while the cache is empty, as transformers does. */
static void run_cache(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), in[2];
	struct hf_val out;

	if (t->var['U'] <= 0) {
		hf_push(t, v);
		return;
	}
	if (!arg) /* keys and values are stored in the keys' format */
		t->var['Y'] = v.elem;
	v = hf_cast(t, v, (int)t->var['Y'], true);
	if (!arg && t->var['s'] > 0) { /* sliding windows count the tokens seen */
		struct hf_val n = hf_scalar(t, JL_ELEM_I64);

		hf_call(t, "jeoul.copy", &n, 1, &n, 1, "kind=h2d pinned=0");
		hf_wait(t, "copy");
		hf_drop(t, &n);
	}
	in[0] = (struct hf_val){ .rank = 1, .elem = v.elem, .store = -1, .node = -1, .s = { 1 } };
	in[1] = v;
	out = hf_make(t, (enum jl_elem)v.elem, v.rank, v.d);
	(void)hf_record(t, op, "", &v, 1, &out, 1, 0);
	hf_call(t, "aten.cat", in, 2, &out, 1, "dim=-2");
	hf_drop(t, &v);
	hf_push(t, out);
}

/* Activation checkpointing of a layer: keeps only its input. */
static void run_again(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	const bool on = t->grad_on, again = t->run->checkpoint && on;
	struct hf_val in = t->stack[t->n_stack - 1], out;

	if (!again) {
		hf_run(t, t->recipes[(unsigned char)*arg]);
		return;
	}
	hf_hold(t, &in);
	t->n_saved = 0;
	t->stop_at = -1; /* the layer is still trained */
	t->grad_on = false;
	hf_run(t, t->recipes[(unsigned char)*arg]);
	t->grad_on = on;
	t->stop_at = 0;
	out = hf_pop(t);
	in.grad = true;
	(void)hf_record(t, op, arg, &in, 1, &out, 1, 1);
	hf_drop(t, &in);
	hf_push(t, out);
}

static void again_back(struct hf_trace *t, struct hf_node *node)
{
	struct hf_val in = node->save[0], out;
	const int base = t->n_nodes, cast = t->cast;
	int leaf;

	t->grad_on = true;
	t->cast = t->run->autocast ? (t->run->dtype == JL_FP16 ? JL_ELEM_F16 : JL_ELEM_BF16) : -1;
	for (int pass = 0; pass < 2;
	     pass++) { /* first pass counts the kept tensors, second pass stops at the last of them */
		t->mute = pass == 0;
		t->stop_at = pass ? t->n_saved : -1;
		t->n_saved = 0;
		(void)hf_record(t, NULL, "", (struct hf_val[]){ { .grad = true, .node = -1, .store = -1 } }, 1, &in, 1,
				0);
		leaf = in.node;
		hf_hold(t, &in);
		hf_push(t, in);
		hf_run(t, t->recipes[(unsigned char)*node->arg]);
		out = hf_pop(t);
		for (int i = base; !pass && i < t->n_nodes; i++) { /* undo the first pass */
			for (int k = 0; k < t->nodes[i].n_in; k++) {
				const struct hf_val *v = &t->nodes[i].meta[k];

				if (v->grad && v->node >= 0)
					t->nodes[v->node].deps--;
			}
			for (int k = 0; k < 5; k++)
				hf_drop(t, &t->nodes[i].save[k]);
		}
		if (!pass) {
			t->n_nodes = base;
			hf_drop(t, &out);
		}
	}
	t->mute = t->mute_next = false;
	t->stop_at = 0;
	t->cast = cast;
	hf_end_autocast(t);
	hf_hold(t, &node->grad[0]);
	hf_give(t, &out, node->grad[0]);
	hf_backward(t, base);
	const struct hf_val made = t->nodes[leaf].grad[0];

	t->nodes[leaf].grad[0].store = -1;
	hf_drop(t, &out);
	hf_give(t, &node->meta[0], made);
}

/* "cut:DIM,SIZE": the first SIZE elements of a dimension. */
static void run_cut(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), out = v;
	int64_t at[HF_RANK];

	(void)hf_dims(t, arg, at);
	out.d[at[0]] = at[1];
	pushed_view(t, op, arg, v, out);
}

static const struct hf_op ops[] = {
	/* elementwise */
	{ "mul", "aten.mul.Tensor", 2, HF_POINT, HF_PROMOTE, NULL, "1 g x mul|0 g y mul", NULL, NULL },
	{ "mul1", "aten.mul.Tensor", 1, HF_POINT, HF_PROMOTE, NULL, "0 g mul1", NULL, NULL },
	{ "muls", "aten.mul.Scalar", 1, HF_POINT, HF_PROMOTE, NULL, "0 g muls", NULL, NULL },
	{ "add", "aten.add.Tensor", 2, HF_POINT, HF_PROMOTE, NULL, "1 g|0 g", NULL, NULL },
	{ "add1", "aten.add.Tensor", 1, HF_POINT, HF_PROMOTE, NULL, "0 g", NULL, NULL },
	{ "sub", "aten.sub.Tensor", 2, HF_POINT, HF_PROMOTE, NULL, "1 g neg|0 g", NULL, NULL },
	{ "sub1", "aten.sub.Tensor", 1, HF_POINT, HF_PROMOTE, NULL, "0 g", NULL, NULL },
	{ "div", "aten.div.Tensor", 2, HF_POINT, HF_PROMOTE, NULL, "1 x y div y div g neg mul|0 g y div", NULL, NULL },
	{ "div1", "aten.div.Tensor", 1, HF_POINT, HF_PROMOTE, NULL, "0 g div1", NULL, NULL },
	{ "divs", "aten.div.Scalar", 1, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "neg", "aten.neg", 1, HF_POINT, HF_PROMOTE, NULL, "0 g neg", NULL, NULL },
	{ "pow", "aten.pow.Tensor_Scalar", 1, HF_POINT, HF_WIDE, "exp=%s", "0 g x pow muls mul", NULL, NULL },
	{ "rsqrt", "aten.rsqrt", 1, HF_POINT, HF_WIDE, NULL, "0 g r pow muls mul", NULL, NULL },
	{ "silu", "aten.silu", 1, HF_POINT, HF_PROMOTE, NULL, "0 g x silu_b", NULL, NULL },
	{ "silu_b", "aten.silu_backward", 2, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "gelu", "aten.gelu", 1, HF_POINT, HF_PROMOTE, NULL, "0 g x gelu_b", NULL, NULL },
	{ "gelu_b", "aten.gelu_backward", 2, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "tanh", "aten.tanh", 1, HF_POINT, HF_PROMOTE, NULL, "0 g r tanh_b", NULL, NULL },
	{ "tanh_b", "aten.tanh_backward", 2, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "relu", "aten.relu", 1, HF_POINT, HF_PROMOTE, NULL, "0 g r relu_b", NULL, NULL },
	{ "relu_b", "aten.threshold_backward", 2, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "sigmoid", "aten.sigmoid", 1, HF_POINT, HF_PROMOTE, NULL, "0 g r sigmoid_b", NULL, NULL },
	{ "sigmoid_b", "aten.sigmoid_backward", 2, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "cos", "aten.cos", 1, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "sin", "aten.sin", 1, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "and", "aten.bitwise_and.Tensor", 2, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "eq1", "aten.eq.Scalar", 1, HF_LIKE, HF_PROMOTE, "b", NULL, NULL, NULL },
	{ "ne1", "aten.ne.Scalar", 1, HF_LIKE, HF_PROMOTE, "b", NULL, NULL, NULL },
	{ "ge1", "aten.ge.Scalar", 1, HF_LIKE, HF_PROMOTE, "b", NULL, NULL, NULL },
	{ "eq", "aten.eq.Tensor", 2, HF_LIKE, HF_PROMOTE, "b", NULL, NULL, NULL },
	{ "le", "aten.le.Tensor", 2, HF_LIKE, HF_PROMOTE, "b", NULL, NULL, NULL },
	{ "gt", "aten.gt.Tensor", 2, HF_LIKE, HF_PROMOTE, "b", NULL, NULL, NULL },
	/* row-wise */
	{ "mean", "aten.mean.dim", 1, HF_MEAN, HF_PROMOTE, "dim=-1", "0 g expand divs", NULL, NULL },
	{ "sum", "aten.sum.dim_IntList", 1, HF_MEAN, HF_WIDE, "dim=-1", "0 g expand", NULL, NULL },
	{ "softmax", "aten._softmax", 1, HF_POINT, HF_WIDE, "dim=-1 half_to_float=0", "0 g r softmax_b", NULL, NULL },
	{ "softmax_b", "aten._softmax_backward_data", 2, HF_POINT, HF_PROMOTE, "dim=-1", NULL, NULL, NULL },
	{ "cumsum", "aten.cumsum", 1, HF_LIKE, HF_PROMOTE, "i", NULL, NULL, NULL },
	/* created: the argument gives the sizes */
	{ "arange", "aten.arange", 0, HF_NEW, HF_PROMOTE, "i", NULL, NULL, NULL },
	{ "ones_b", "aten.new_ones", 1, HF_NEW, HF_PROMOTE, "b", NULL, NULL, NULL },
	{ "sum_i", "aten.sum", 1, HF_NEW, HF_PROMOTE, "i", NULL, NULL, NULL },
	{ "all_b", "aten.all", 1, HF_NEW, HF_PROMOTE, "b", NULL, NULL, NULL },
	{ "pad_i", "aten.constant_pad_nd", 1, HF_NEW, HF_PROMOTE, "i", NULL, NULL, NULL },
	{ "index_b", "aten.index.Tensor", 3, HF_NEW, HF_PROMOTE, "b", NULL, NULL, NULL },
	{ "gather_i", "aten.gather", 2, HF_NEW, HF_PROMOTE, "i", NULL, NULL, NULL },
	/* others */
	{ "to", "aten._to_copy", 1, HF_CODE, HF_PROMOTE, NULL, "0 g", run_to, NULL },
	{ "clone", "aten.clone", 1, HF_CODE, HF_PROMOTE, NULL, "0 g", run_clone, NULL },
	{ "view", NULL, 1, HF_CODE, HF_PROMOTE, NULL, "0 g back_view", run_view, NULL },
	{ "back_view", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, run_back_view, NULL },
	{ "expand", NULL, 1, HF_CODE, HF_PROMOTE, NULL, "0 g", run_expand, NULL },
	{ "tr", NULL, 1, HF_CODE, HF_PROMOTE, NULL, "0 g tr", run_tr, NULL },
	{ "part", NULL, 1, HF_CODE, HF_PROMOTE, NULL, "0 g slice_b", run_part, NULL },
	{ "slice_b", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, run_slice_back, NULL },
	{ "split", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, run_split, split_back },
	{ "cat2", NULL, 2, HF_CODE, HF_PROMOTE, NULL, "0 g narrow:0|1 g narrow:1", run_cat, NULL },
	{ "clamp", "aten.clamp", 1, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "narrow", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, run_narrow, NULL },
	{ "cache", NULL, 1, HF_CODE, HF_PROMOTE, NULL, "0 g narrow:0", run_cache, NULL },
	{ "lin", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, hf_linear, hf_linear_back },
	{ "lora", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, hf_linear, hf_linear_back },
	{ "xlin", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, hf_linear, hf_linear_back },
	{ "pick", NULL, 0, HF_CODE, HF_PROMOTE, NULL, NULL, NULL, hf_pick_back },
	{ "each", NULL, 0, HF_CODE, HF_PROMOTE, NULL, NULL, hf_each, NULL },
	{ "nonzero", "aten.nonzero", 1, HF_CODE, HF_PROMOTE, NULL, NULL, run_nonzero, NULL },
	{ "put_ones", "aten.scatter_.value", 2, HF_CODE, HF_PROMOTE, NULL, NULL, run_put, NULL },
	{ "add_rows", "aten.index_add_", 3, HF_CODE, HF_PROMOTE, NULL, NULL, hf_add_rows, hf_add_rows_back },
	{ "zeros_x", "aten.zeros_like", 1, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "zeros_i", "aten.new_zeros", 1, HF_NEW, HF_PROMOTE, "i", NULL, NULL, NULL },
	{ "sums_i", "aten.sum.dim_IntList", 1, HF_NEW, HF_PROMOTE, "i", NULL, NULL, NULL },
	{ "gt1", "aten.gt.Scalar", 1, HF_LIKE, HF_PROMOTE, "b", NULL, NULL, NULL },
	{ "conv1d", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, hf_linear, hf_linear_back },
	{ "bmm", NULL, 2, HF_CODE, HF_PROMOTE, NULL, "1 x tr: g bmm|0 g y tr: bmm", hf_bmm, NULL },
	{ "sdpa", NULL, 3, HF_CODE, HF_PROMOTE, NULL, NULL, hf_sdpa, hf_sdpa_back },
	{ "layernorm", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, hf_norm, hf_norm_back },
	{ "dropout", NULL, 1, HF_CODE, HF_PROMOTE, NULL, "0 g m drop_b", hf_dropout, NULL },
	{ "drop_b", "jeoul.dropout_backward", 2, HF_POINT, HF_PROMOTE, NULL, NULL, NULL, NULL },
	{ "embedding", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, hf_embedding, hf_embedding_back },
	{ "loss", NULL, 2, HF_CODE, HF_PROMOTE, NULL, NULL, hf_loss, hf_loss_back },
	{ "tril", "aten.tril", 1, HF_LIKE, HF_PROMOTE, "b", NULL, NULL, NULL },
	{ "ones", "aten.ones", 0, HF_NEW, HF_PROMOTE, "b", NULL, NULL, NULL },
	{ "scalar", "aten.scalar_tensor", 0, HF_NEW, HF_PROMOTE, "f", NULL, NULL, NULL },
	{ "cast", NULL, 0, HF_CODE, HF_PROMOTE, NULL, NULL, run_autocast, NULL },
	{ "where", "aten.where.self", 3, HF_NEW, HF_PROMOTE, "f", NULL, NULL, NULL },
	{ "safe_softmax", "aten._safe_softmax", 1, HF_POINT, HF_WIDE, "dim=-1", "0 g r softmax_b", NULL, NULL },
	{ "buffer", NULL, 0, HF_CODE, HF_PROMOTE, NULL, NULL, run_buffer, NULL },
	{ "weight", NULL, 0, HF_CODE, HF_PROMOTE, "weight", NULL, run_param, NULL },
	{ "wide_weight", NULL, 0, HF_CODE, HF_PROMOTE, "wide", NULL, run_param, NULL },
	{ "drop", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, run_drop, NULL },
	{ "host", NULL, 0, HF_CODE, HF_PROMOTE, NULL, NULL, run_host, NULL },
	{ "item", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, run_wait, NULL },
	{ "topk", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, hf_topk, hf_topk_back },
	{ "take", NULL, 2, HF_CODE, HF_PROMOTE, NULL, NULL, hf_take, hf_take_back },
	{ "cut", NULL, 1, HF_CODE, HF_PROMOTE, NULL, "0 g slice_b", run_cut, NULL },
	{ "gmm", NULL, 2, HF_CODE, HF_PROMOTE, NULL, NULL, hf_grouped, hf_grouped_back },
	{ "sum1", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, hf_sum1, hf_sum1_back },
	{ "masked_fill", "aten.masked_fill.Scalar", 2, HF_POINT, HF_PROMOTE, NULL, "0 g y masked_fill", NULL, NULL },
	{ "sort_i", "aten.sort", 1, HF_NEW, HF_PROMOTE, "i", NULL, NULL, NULL },
	{ "floor_i", "aten.floor_divide", 1, HF_NEW, HF_PROMOTE, "i", NULL, NULL, NULL },
	{ "histc", "aten.histc", 1, HF_NEW, HF_PROMOTE, "j", NULL, NULL, NULL },
	{ "cumsum_j", "aten.cumsum", 1, HF_LIKE, HF_PROMOTE, "j", NULL, NULL, NULL },
	{ "cumsum_f", "aten.cumsum", 1, HF_LIKE, HF_PROMOTE, "f", NULL, NULL, NULL },
	{ "ones_f", "aten.ones", 0, HF_NEW, HF_PROMOTE, "f", NULL, NULL, NULL },
	{ "put_i", "aten.index_put_", 3, HF_NEW, HF_PROMOTE, "i", NULL, NULL, NULL },
	{ "again", NULL, 1, HF_CODE, HF_PROMOTE, NULL, NULL, run_again, again_back },
};

const struct hf_op *hf_op_find(const char *token, size_t len)
{
	for (size_t i = 0; i < JL_LEN(ops); i++)
		if (strncmp(ops[i].token, token, len) == 0 && !ops[i].token[len])
			return &ops[i];
	return NULL;
}
