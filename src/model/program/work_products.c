/* Work of calls with products: derives the product, convolution or attention from the shapes. */
#include "program/work_parts.h"

#include <math.h>
#include <string.h>

#define OPERANDS_MAX 16 /* operands per call, tensor lists excluded */

static double dim(const struct jl_tensor_kind *t, int from_end)
{
	return t->rank >= from_end ? (double)t->dims[t->rank - from_end] : 1;
}

static int64_t stride(const struct jl_tensor_kind *t, int from_end)
{
	return t->rank >= from_end && t->dims[t->rank - from_end] > 1 ? t->strides[t->rank - from_end] : 1;
}

/* a[.., m, k] b[.., k, n], or weights b[n, k] of a linear layer. */
static void set_gemm(struct jl_call_work *w, const struct jl_tensor_kind *a, const struct jl_tensor_kind *b,
		     bool linear, enum jl_elem out)
{
	const bool vector = b->rank < 2 && !linear; /* matrix times vector, or dot product */
	const double k = dim(a, 1), n = vector ? 1 : dim(b, linear ? 2 : 1);
	double m = a->rank < 2 ? 1 : dim(a, 2), batch = k > 0 && m > 0 ? a->n / (k * m) : 0;

	if (linear || (b->rank < 3 && batch > 1)) { /* one weight for the whole batch: rows are merged */
		m *= batch;
		batch = 1;
	}
	w->form = JL_WORK_PRODUCT;
	w->u.gemm = (struct jl_gemm){
		.m = m,
		.n = n,
		.k = k,
		.batch = batch,
		.dtype = jl_elem_dtype(a->elem),
		.out_B = jl_elem_B(out),
		/* neither operand has k along its rows, as in weight gradients */
		.turned = !linear && a->rank >= 2 && b->rank >= 2 && stride(a, 1) != 1 && stride(b, 1) == 1,
	};
	/* weight gradients: m is along rows too; the library computes the transposed product if only n is aligned */
	if (w->u.gemm.turned && fmod(m * jl_dtype_B(w->u.gemm.dtype), 16) != 0 &&
	    fmod(n * jl_dtype_B(w->u.gemm.dtype), 16) == 0) {
		w->u.gemm.m = n;
		w->u.gemm.n = m;
	}
	const bool weights = linear || (b->rank >= 2 && stride(b, 1) != 1), half = jl_dtype_B(w->u.gemm.dtype) < 4;

	w->odd_rows = half && weights && fmod(n, 2) == 1 && fmod(k, 2) == 0;
	w->flop = 2 * m * n * k * batch;
	w->n_kernels = 0;
	w->moved_B = a->held_B + b->held_B + m * n * batch * jl_elem_B(out);
}

/* Padding by the compiler: operands with unaligned rows. */
static void pad(struct jl_call_work *w)
{
	const double load_B = 16, step = load_B / jl_dtype_B(w->u.gemm.dtype);

	w->u.gemm.n = step * ceil(w->u.gemm.n / step);
	w->u.gemm.k = step * ceil(w->u.gemm.k / step);
	w->odd_rows = false;
}

static void product(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	const size_t first = kind->op->lists;
	const struct jl_tensor_kind *a = jl_call_in(p, kind, first), *b = jl_call_in(p, kind, first + 1);
	const struct jl_tensor_kind *out = jl_call_out(p, kind, 0), *sum = first ? jl_call_in(p, kind, 0) : NULL;
	const bool linear = strstr(kind->name, "linear") != NULL;

	if (!a || !b || a->rank < 1 || b->rank < 1 || !(a->n > 0 && b->n > 0)) {
		w->n_kernels = out && out->n > 0 ? 1 : 0; /* an empty product fills its output with zeros */
		return;
	}
	set_gemm(w, a, b, linear, out ? out->elem : a->elem);
	if (p->compiled)
		pad(w);
	/* a row bias is added inside the library's call; other addends are copied to the output first */
	if (sum && !(sum->rank <= 1 || sum->held == w->u.gemm.n)) {
		w->n_kernels = 1;
		w->moved_B += sum->held_B + (out ? out->held_B : 0);
	}
}

/* Grouped products with concatenated rows: a[rows, k] b[groups, k, n], or a[m, rows] b[rows, n] with groups along k. */
static void grouped(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	const struct jl_tensor_kind *a = jl_call_in(p, kind, 0), *b = jl_call_in(p, kind, 1),
				    *out = jl_call_out(p, kind, 0);

	if (!a || !b || !out || a->rank < 2 || b->rank < 2 || !(a->n > 0 && b->n > 0 && out->n > 0))
		return;
	const double groups = b->rank == 3 ? dim(b, 3) : out->rank == 3 ? dim(out, 3) : 1;
	const bool along_k = b->rank == 2 && a->rank == 2;

	set_gemm(w, a, b, false, out->elem);
	w->u.gemm.batch = groups;
	w->u.gemm.m = along_k || a->rank == 3 ? dim(a, 2) : dim(a, 2) / groups;
	w->u.gemm.k = along_k ? dim(a, 1) / groups : dim(a, 1);
	w->u.gemm.kernel = JL_KERNEL_PLAIN;
	w->flop = 2 * w->u.gemm.m * w->u.gemm.n * w->u.gemm.k * groups;
	w->moved_B = a->held_B + b->held_B + out->held_B;
	w->n_kernels = 1; /* a kernel computes the groups' addresses first */
}

/* First number of "2x2"; a single value applies to all dimensions. */
static double first_of(const struct jl_call_kind *kind, const char *key, double fallback)
{
	const char *text = jl_call_attr(kind, key);
	double value = 0;

	if (!text || *text < '0' || *text > '9')
		return fallback;
	while (*text >= '0' && *text <= '9' && value < 1e6)
		value = value * 10 + (*text++ - '0');
	return value;
}

/* Product of all but the last spatial dimension, for filters, images and volumes. */
static double height(const struct jl_tensor_kind *t)
{
	double h = 1;

	for (int d = 2; d < t->rank - 1; d++)
		h *= (double)t->dims[d];
	return h;
}

static bool is_last(const struct jl_tensor_kind *x)
{
	return x->rank >= 4 && x->dims[1] > 1 && x->strides[1] == 1 && dim(x, 1) * height(x) > 1;
}

/* `x`: input, `y`: output, also for backward calls. A transposed convolution is one from y to x. */
static void set_conv(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		     const struct jl_tensor_kind *x, const struct jl_tensor_kind *weight,
		     const struct jl_tensor_kind *y)
{
	const bool transposed = jl_call_number(kind, "transposed", 0) > 0;
	const struct jl_tensor_kind *in = transposed ? y : x, *out = transposed ? x : y;
	const double groups = fmax(first_of(kind, "groups", 1), 1);

	w->form = JL_WORK_CONV;
	w->u.conv.op = (struct jl_conv_op){
		.kind = JL_CONV_CONV,
		.count = 1,
		.c_in = (double)in->dims[1],
		.c_out = (double)out->dims[1],
		.h = height(in),
		.w = dim(in, 1),
		.oh = height(out),
		.ow = dim(out, 1),
		.kh = height(weight),
		.kw = dim(weight, 1),
		.stride = fmax(first_of(kind, "stride", 1), 1),
		.groups = groups,
		.dilated = first_of(kind, "dil", 1) > 1,
	};
	w->u.conv.batch = (double)x->dims[0];
	w->u.conv.dtype = jl_elem_dtype(x->elem);
	w->u.conv.last = is_last(x) || p->channels_last;
	w->flop = 2 * jl_conv_op_mac(&w->u.conv.op) * w->u.conv.batch;
	w->n_kernels = 0;
}

static bool is_conv(const struct jl_tensor_kind *x, const struct jl_tensor_kind *weight, const struct jl_tensor_kind *y)
{
	return x && weight && y && x->rank >= 3 && weight->rank == x->rank && y->rank == x->rank && x->n > 0 &&
	       y->n > 0 && weight->n > 0;
}

static void conv(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	const struct jl_tensor_kind *x = jl_call_in(p, kind, 0), *weight = jl_call_in(p, kind, 1),
				    *bias = jl_call_in(p, kind, 2), *y = jl_call_out(p, kind, 0);
	const bool transposed = jl_call_number(kind, "transposed", 0) > 0;

	if (!is_conv(x, weight, y))
		return;
	set_conv(w, p, kind, x, weight, y);
	w->u.conv.passes = 1u << (transposed ? JL_PASS_INPUT_GRADIENT : JL_PASS_FORWARD);
	w->u.conv.bias = bias != NULL;
	w->moved_B = x->held_B + weight->held_B + y->held_B;
	if (bias) { /* added to the library's output */
		w->n_kernels = 1;
		w->clocks = 0;
		w->moved_B += 2 * y->held_B;
	}
}

static bool same_shape(const struct jl_tensor_kind *a, const struct jl_tensor_kind *b)
{
	return a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof(*a->dims)) == 0;
}

/* Inputs: gradient, input, weight. The outputs show which gradients are computed. */
static void conv_back(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	const struct jl_tensor_kind *dy = jl_call_in(p, kind, 0), *x = jl_call_in(p, kind, 1),
				    *weight = jl_call_in(p, kind, 2), *out;
	const bool transposed = jl_call_number(kind, "transposed", 0) > 0;
	unsigned passes = 0;

	if (!is_conv(x, weight, dy))
		return;
	set_conv(w, p, kind, x, weight, dy);
	w->backward = true;
	w->moved_B = 0;
	for (size_t i = 0; i < OPERANDS_MAX && (out = jl_call_out(p, kind, i)); i++) {
		const bool to_input = same_shape(out, x) && !(passes & 1u << JL_PASS_INPUT_GRADIENT);

		if (to_input) {
			passes |= 1u << JL_PASS_INPUT_GRADIENT;
			w->moved_B += dy->held_B + weight->held_B + out->held_B;
		} else if (same_shape(out, weight)) {
			passes |= 1u << JL_PASS_WEIGHT_GRADIENT;
			w->moved_B += dy->held_B + x->held_B + out->held_B;
		} else if (out->rank <= 1) { /* the bias gradient is a sum */
			w->n_kernels = 1;
			w->moved_B += dy->held_B;
			w->u.conv.bias = true;
		}
	}
	w->flop *= __builtin_popcount(passes);
	/* the input gradient of a transposed convolution is a forward convolution */
	w->u.conv.passes = !transposed || !(passes & 1u << JL_PASS_INPUT_GRADIENT)
				   ? passes
				   : (passes & ~(1u << JL_PASS_INPUT_GRADIENT)) | 1u << JL_PASS_FORWARD;
}

/* 1x1 filters with aligned rows: the product reads the tensors without a transpose. */
bool jl_conv_is_turned(const struct jl_call_work *w)
{
	const struct jl_conv_op *op = &w->u.conv.op;
	const double pixels = op->h * op->w;
	const bool plain = op->kh * op->kw == 1 && pixels == op->oh * op->ow && (fmod(pixels, 8) == 0 || pixels == 1);

	return !w->u.conv.last && !plain;
}

double jl_conv_copies_B(const struct jl_call_work *w)
{
	const struct jl_conv_op *op = &w->u.conv.op;

	if (w->form != JL_WORK_CONV || !jl_conv_is_turned(w) || op->groups == op->c_in || op->c_in <= 4)
		return 0;
	return jl_dtype_B(w->u.conv.dtype) *
	       (w->u.conv.batch * (op->c_in * op->h * op->w + op->c_out * op->oh * op->ow) +
		op->c_in / op->groups * op->c_out * op->kh * op->kw);
}

/* Query, key and value: [batch, heads, tokens, width]. */
static void set_attention(struct jl_call_work *w, const struct jl_call_kind *kind, const struct jl_tensor_kind *q,
			  const struct jl_tensor_kind *k, const struct jl_tensor_kind *v)
{
	const double heads = q->rank >= 3 ? dim(q, 3) : 1, kv_heads = k->rank >= 3 ? dim(k, 3) : 1;
	const double per = heads * dim(q, 2) * dim(q, 1);
	const double causal = jl_call_number(kind, "causal", jl_call_number(kind, "is_causal", 0));

	w->form = JL_WORK_ATTENTION;
	w->u.attention.att = (struct jl_attention){
		.batch = per > 0 ? q->n / per : 1,
		.heads = heads,
		.kv_heads = kv_heads,
		.seq_q = dim(q, 2),
		.seq_kv = dim(k, 2),
		.head_dim = 0.5 * (dim(q, 1) + dim(v, 1)),
		.dtype = jl_elem_dtype(q->elem),
		.causal = causal > 0 && dim(q, 2) > 1,
		.dropout = jl_call_number(kind, "dropout", 0) > 0,
		.flash = 1,
	};
	w->u.attention.need = jl_elem_B(q->elem) >= 4 ? JL_NEED_WIDE : JL_NEED_ANY;
	w->n_kernels = 0;
	w->flop = jl_attention_flop(&w->u.attention.att);
}

static bool is_attention(const struct jl_tensor_kind *q, const struct jl_tensor_kind *k, const struct jl_tensor_kind *v)
{
	return q && k && v && q->rank >= 3 && k->rank >= 3 && v->rank >= 3 && q->n > 0 && k->n > 0 && v->n > 0;
}

static void attention(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	const struct jl_tensor_kind *q = jl_call_in(p, kind, 0), *k = jl_call_in(p, kind, 1),
				    *v = jl_call_in(p, kind, 2), *mask = jl_call_in(p, kind, 3),
				    *out = jl_call_out(p, kind, 0);

	if (!is_attention(q, k, v))
		return;
	set_attention(w, kind, q, k, v);
	w->moved_B = q->held_B + k->held_B + v->held_B + (out ? out->held_B : q->held_B);
	if (mask && mask->rank >= 2 && w->u.attention.need == JL_NEED_ANY)
		w->u.attention.need = JL_NEED_MASK;
	w->u.attention.mask_B = mask ? mask->held_B : 0;
	w->moved_B += w->u.attention.mask_B;
}

static void attention_back(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	const struct jl_tensor_kind *dy = jl_call_in(p, kind, 0), *q = jl_call_in(p, kind, 1),
				    *k = jl_call_in(p, kind, 2), *v = jl_call_in(p, kind, 3), *t;

	if (!dy || !is_attention(q, k, v))
		return;
	set_attention(w, kind, q, k, v);
	w->backward = true;
	w->flop *= 2.5;
	w->moved_B = 2 * (dy->held_B + q->held_B + k->held_B + v->held_B);
	/* a mask has a row per query and a column per key */
	for (size_t i = 4; i < OPERANDS_MAX && (t = jl_call_in(p, kind, i)) && w->u.attention.need == JL_NEED_ANY; i++)
		if (t->rank >= 2 && dim(t, 1) == dim(k, 2) && dim(t, 2) == dim(q, 2) && dim(q, 2) > 1 &&
		    !(t->rank == q->rank && same_shape(t, q))) {
			w->u.attention.need = JL_NEED_MASK;
			w->u.attention.mask_B = t->held_B;
		}
}

static void recurrent(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	const struct jl_tensor_kind *x = jl_call_in(p, kind, 0);
	const char *cell = jl_call_attr(kind, "kind");
	const double gates = cell && strcmp(cell, "lstm") == 0 ? 4 : cell && strcmp(cell, "gru") == 0 ? 3 : 1;
	const double layers = fmax(jl_call_number(kind, "layers", 1), 1);
	const double ways = jl_call_number(kind, "bidirectional", 0) > 0 ? 2 : 1;
	const double hidden = jl_call_number(kind, "hidden", 0);
	const bool first = jl_call_number(kind, "batch_first", 0) > 0, back = strstr(kind->name, "backward") != NULL;

	if (!x || x->rank < 2 || !(x->n > 0) || !(hidden > 0))
		return;
	const double steps = x->rank < 3 ? dim(x, 2) : (double)x->dims[first ? 1 : 0];
	const double batch = x->rank < 3 ? 1 : (double)x->dims[first ? 0 : 1], dir = back ? 2 : 1;

	w->form = JL_WORK_RECURRENT;
	w->backward = back;
	w->u.rnn.times = layers * ways;
	w->u.rnn.batch = batch;
	w->u.rnn.dtype = jl_elem_dtype(x->elem);
	/* layers after the first read the output of the layer below */
	const double k = (dim(x, 1) + (layers - 1) * hidden * ways) / layers;

	w->u.rnn.input = (struct jl_gemm){ .m = steps * batch,
					   .n = gates * hidden,
					   .k = k,
					   .batch = 1,
					   .dtype = w->u.rnn.dtype,
					   .out_B = jl_elem_B(x->elem) };
	w->u.rnn.step = (struct jl_conv_op){
		.kind = JL_CONV_RNN, .count = 1, .rows = 1, .k = hidden, .n = gates * hidden, .steps = steps
	};
	w->n_kernels = 2 * layers * ways;
	w->flop = dir * w->u.rnn.times * 2 * steps * batch * gates * hidden * (k + hidden);
}

void jl_work_product(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	switch (kind->op->rule) {
	case JL_RULE_PRODUCT: product(w, p, kind); break;
	case JL_RULE_GROUPED: grouped(w, p, kind); break;
	case JL_RULE_CONV: conv(w, p, kind); break;
	case JL_RULE_CONV_BACK: conv_back(w, p, kind); break;
	case JL_RULE_ATTENTION: attention(w, p, kind); break;
	case JL_RULE_ATTENTION_BACK: attention_back(w, p, kind); break;
	default: recurrent(w, p, kind); break;
	}
}
