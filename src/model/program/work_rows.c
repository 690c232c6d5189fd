/* Work of streams by rows, channels or windows: softmax, norms, column sums, pooling, resizing, sorts. */
#include "program/work_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double row_length(const struct jl_call_kind *kind, const struct jl_tensor_kind *t)
{
	double dim = jl_call_number(kind, "dim", -1);

	dim += dim < 0 ? t->rank : 0;
	return t->rank == 0 ? 1 : (double)t->dims[dim >= 0 && dim < t->rank ? (int)dim : t->rank - 1];
}

/* Elements behind the reduced dimension (its stride in a row-major tensor). */
static double inner_length(const struct jl_call_kind *kind, const struct jl_tensor_kind *t)
{
	double dim = jl_call_number(kind, "dim", -1), n = 1;

	dim += dim < 0 ? t->rank : 0;
	for (int d = t->rank - 1; d > dim && d >= 0; d--)
		n *= (double)t->dims[d];
	return n;
}

static bool is_row_major(const struct jl_tensor_kind *t)
{
	int64_t next = 1;

	for (int d = t->rank - 1; d >= 0; next *= t->dims[d--])
		if (t->dims[d] > 1 && t->strides[d] != next)
			return false;
	return true;
}

/* Row kernels need row-major tensors; others are copied first. */
static void copy_rows(struct jl_call_work *w, const struct jl_tensor_kind *t)
{
	if (is_row_major(t))
		return;
	w->n_kernels++;
	w->moved_B += 2 * t->held_B;
	w->across_B += t->held_B;
}

/* Softmax along a strided dimension: a thread reads a row's values one by one and waits for each. SM clocks per element of softmax, log-softmax and
 * backward, in fp32 and 16 bits; wait_clocks per load (22 shapes on an H200). */
static void across_rows(struct jl_call_work *w, const struct jl_tensor_kind *t, double length, int pass)
{
	static const double clocks[][2] = { { 3, 2.3 }, { 1.65, 1.25 }, { 1, 0.7 } }, wait_clocks = 1050;

	w->clocks += clocks[pass][jl_elem_B(t->elem) < 4] * t->n;
	w->then = (struct jl_stream){ .clocks = wait_clocks * length, .most_sm = 1 };
}

/* Clocks per row of any length; per byte of a layer norm's rows (widths 96 to 3,072, fp32 and bf16: bench/programs/measured/9354adeb); per element
 * of softmax rows longer than the registers hold, and than twice that. */
static const double layer_row_clocks = 330, layer_byte_clocks = 0.135, rms_row_clocks = 50, register_row = 1024,
		    long_clocks[2] = { 0.57, 0.82 };

static void rows(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		 const struct jl_work_sums *s)
{
	const struct jl_tensor_kind *t = kind->n_in ? &p->tensors[kind->in[0].tensor] : s->largest;
	const bool logarithm = strstr(kind->name, "log_softmax") != NULL, back = strstr(kind->name, "back") != NULL;

	if (!t || t->n == 0)
		return;
	const double length = fmax(row_length(kind, t), 1), n_rows = t->n / length;

	w->n_elems = t->n;
	copy_rows(w, t);
	if (w->class == JL_CLASS_SOFTMAX && inner_length(kind, t) > 1) {
		w->clocks = is_row_major(t) ? 0 : JL_TURN_CLOCKS * t->n;
		across_rows(w, t, length, back ? 2 : logarithm);
	} else if (w->class == JL_CLASS_NORM) {
		w->clocks = strstr(kind->name, "rms") ? w->clocks + rms_row_clocks * n_rows
						      : layer_row_clocks * n_rows + layer_byte_clocks * t->held_B;
		/* fp32: fewer loads in flight, so part of the bytes count again */
		w->again_B = t->elem == JL_ELEM_F32 ? 0.6 * t->held_B : 0;
	} else if (length > register_row && logarithm) /* maximum, sum, output: each reads the row */
		w->again_B = (back ? 1 : 2) * t->held_B;
	else if (length > register_row && !back)
		w->clocks = fmax(w->clocks, long_clocks[length > 2 * register_row] * t->n);
}

/* True if a reduction runs along the contiguous dimension. "dim=0x2": the dimensions; missing: all. */
static bool is_along_rows(const struct jl_call_kind *kind, const struct jl_tensor_kind *in)
{
	const char *dims = jl_call_attr(kind, "dim");
	int inner = in->rank - 1;

	for (int d = 0; d < in->rank; d++)
		if (in->dims[d] > 1 && in->strides[d] == 1)
			inner = d;
	for (const char *c = dims; c && *c; c += *c == 'x') {
		char *end;
		const long dim = strtol(c, &end, 10);

		if (end == c)
			return true;
		if ((dim < 0 ? dim + in->rank : dim) == inner)
			return true;
		c = end;
	}
	return !dims;
}

/* Sums. Along rows each output costs some clocks besides its elements. Across rows, blocks sum parts of columns and combine them: the time grows
 * with the rows, not the columns. */
static void sum(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	static const double elem_clocks = 0.25, output_clocks = 35, meet_clocks = 8000, row_clocks = 2,
			    rows_max = 65536, few_rows = 16;
	const struct jl_tensor_kind *in = jl_call_in(p, kind, 0), *out = jl_call_out(p, kind, 0);

	if (!in || !out || in->rank == 0 || !(out->n > 0) || !(in->n > out->n))
		return;
	const double n_rows = in->n / out->n;

	if (is_along_rows(kind, in))
		w->clocks = fmax(w->clocks, elem_clocks * in->n + output_clocks * out->n);
	else if (n_rows > few_rows)
		w->then = (struct jl_stream){ .clocks = meet_clocks + row_clocks * fmin(n_rows, rows_max),
					      .most_sm = 1 };
}

/* Layer norm backward: input gradient, then sums for scale and shift by one thread block per 32 columns, row by row, faster if L2 holds both
 * tensors. Narrow layers leave most SMs idle, except that PyTorch also splits many rows. */
static void norm_back(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		      const struct jl_work_sums *s)
{
	static const double sum_clocks = 0.75, row_clocks = 205, elem_clocks = 0.29, columns = 32, held_clocks = 5.8,
			    block_clocks = 9.4, held_B = 40e6, many_rows = 65536, few_blocks = 66;
	const struct jl_tensor_kind *grad = jl_call_in(p, kind, 0);

	rows(w, p, kind, s);
	if (!grad || grad->rank == 0 || kind->n_out < 2) {
		w->n_kernels = 1;
	} else if (!strstr(kind->name, "rms")) {
		const double width = fmax(row_length(kind, grad), 1), n_block = ceil(width / columns),
			     n_rows = grad->n / width;

		w->clocks = row_clocks * n_rows + elem_clocks * grad->n;
		w->then = (struct jl_stream){ .moved_B = 2 * grad->held_B, .clocks = 1 };
		if (n_rows <= many_rows || n_block >= few_blocks) {
			w->then.clocks = (w->then.moved_B < held_B ? held_clocks : block_clocks) * n_block * n_rows;
			w->then.most_sm = n_block;
		}
	} else {
		w->clocks += sum_clocks * grad->n;
		w->moved_B += 2 * grad->held_B;
	}
}

/* Interpolation. A thread computes one pixel of all images and channels in sequence; with channels last they are parallel. Backward: atomic
 * additions to the same address wait for each other, longer in 16 bits. */
static void resize(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		   const struct jl_work_sums *s)
{
	static const double pixel_clocks = 0.7, last_clocks = 2.25, threads = 1024;
	static const double back_clocks[2] = { 1.7, 2.9 }, wait_clocks[2] = { 0.13, 0.53 },
			    back_last_clocks[2] = { 2.25, 3.5 };
	const struct jl_tensor_kind *from = jl_call_in(p, kind, 0), *to = jl_call_out(p, kind, 0);

	w->moved_B = s->in_B + s->out_B;
	if (!from || !to || !(to->n > 0) || to->rank < 3)
		return;
	const bool back = strstr(kind->name, "backward") != NULL, half = jl_elem_B(from->elem) < 4;
	const struct jl_tensor_kind *wide = back ? from : to;
	const bool last = wide->strides[1] == 1 &&
			  wide->dims[1] > 1; /* each thread computes the address of its single value */

	if (back) {
		w->clocks = (last ? back_last_clocks[half]
				  : back_clocks[half] + wait_clocks[half] * fmax(from->n / to->n, 1)) *
			    from->n;
		return;
	}
	w->clocks = (last ? last_clocks : pixel_clocks) * to->n;
	if (!last)
		w->most_sm = ceil(to->n / ((double)to->dims[0] * (double)to->dims[1]) / threads);
}

/* Batch norm: statistics first (one thread block per channel, several per SM), then scaling. Channels last are summed in parallel. SM clocks per
 * element: statistics, concurrent blocks, scaling, both with channels last. */
static void batch_norm(struct jl_call_work *w, const struct jl_call_kind *kind, const struct jl_work_sums *s)
{
	enum { CUDNN_WIDE, CUDNN_HALF, OWN, N_KERNEL };
	static const struct {
		double sum, beside, scale, last;
	} clocks[N_KERNEL][2] = {
		[CUDNN_WIDE] = { { 0.8, 1.5, 0.6, 1.05 }, { 2.5, 2, 0.7, 1.4 } },
		[CUDNN_HALF] = { { 1.1, 4, 0.3, 0.52 }, { 2.5, 6, 0.3, 0.65 } },
		[OWN] = { { 1.6, 1.5, 0.5, 1.1 }, { 2.5, 3, 1.05, 1.05 } },
	};
	static const double fixed_clocks[N_KERNEL] = { 0.78, 0.6, 0.55 };
	const struct jl_tensor_kind *x = s->largest;
	const bool fixed = strstr(kind->name, "no_training") || jl_call_number(kind, "training", 1) == 0;
	const bool back = strstr(kind->name, "backward") != NULL;
	const bool own = x && (x->elem == JL_ELEM_BF16 || s->n_in < (back ? 5 : 2));
	const bool last = x && x->rank > 2 && x->dims[1] > 1 && x->strides[1] == 1;
	const int kernel = own ? OWN : x && jl_elem_B(x->elem) < 4 ? CUDNN_HALF : CUDNN_WIDE;

	w->n_kernels = !own ? 1 : back ? 1 + last : 3;
	w->moved_B = s->in_B * (fixed ? 1 : 2) + s->out_B;
	w->clocks = (fixed ? fixed_clocks[kernel] : clocks[kernel][back].last) * w->n_elems;
	if (fixed || !x || x->rank <= 2 || !x->dense || last)
		return;
	w->moved_B = s->in_B;
	w->clocks = clocks[kernel][back].sum * x->n;
	w->most_sm = (double)x->dims[1];
	w->paired = clocks[kernel][back].beside;
	w->then = (struct jl_stream){ .moved_B = s->in_B + s->out_B, .clocks = clocks[kernel][back].scale * x->n };
}

/* Pooling visits windows pixel by pixel. In three dimensions a thread computes each output's address, and gradients are added one by one, in 16
 * bits by compare-and-swap loops. */
static void pool(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	static const double output_clocks = 7.5, window_clocks = 0.15, grad_clocks[2] = { 6.5, 17 };
	const char *window = jl_call_attr(kind, "kernel");
	const struct jl_tensor_kind *grad = jl_call_in(p, kind, 0), *out = jl_call_out(p, kind, 0);
	double n = 1;

	for (const char *c = window; c && *c; c += strspn(c, "x")) {
		char *end;

		n *= fmax(strtod(c, &end), 1);
		if (end == c)
			break;
		c = end;
	}
	w->clocks *= fmin(n, 1e4);
	if (!strstr(kind->name, "max_pool3d") || !grad || !out)
		return;
	w->clocks = strstr(kind->name, "backward") ? grad_clocks[jl_elem_B(grad->elem) < 4] * grad->n
						   : (output_clocks + window_clocks * fmin(n, 1e4)) * out->n;
}

/* Radix sort of rows; masks are evaluated by sums. */
static void sorted(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		   const struct jl_work_sums *s)
{
	static const double sort_clocks = 16,
			    drop_clocks = 245; /* non-maximum suppression: per box, selected by one block */
	const struct jl_tensor_kind *in = jl_call_in(p, kind, 0);

	w->n_elems = s->largest ? s->largest->n : 0;
	if (strstr(kind->name, "nms") && in) {
		w->clocks = drop_clocks * (double)in->dims[0];
		w->most_sm = 1;
	} else if (w->class == JL_CLASS_SORT)
		w->clocks = sort_clocks * w->n_elems;
	else
		w->moved_B = JL_SORT_PASSES * (s->in_B + s->out_B);
}

/* Top-k: one thread block per row, or several with one launch per digit step; PyTorch chooses by the number of rows and their length. */
static void topk(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		 const struct jl_work_sums *s)
{
	static const struct {
		double rows, length;
	} several[] = { { 20, 20000 }, { 40, 10000 }, { 80, 8000 },     { 200, 5000 },
			{ 800, 3000 }, { 4000, 800 }, { INFINITY, 400 } };
	static const double row_start = 2000, row_elem = 2.7, block_elem = 1.8, digit_kernels = 5;
	const struct jl_tensor_kind *in = jl_call_in(p, kind, 0);

	if (!in || in->n == 0)
		return;
	const double length = row_length(kind, in), rows = in->n / length;
	size_t i = 0;

	while (rows > several[i].rows)
		i++;
	w->moved_B = s->in_B + s->out_B;
	w->clocks = (row_start + row_elem * length) * rows;
	if (length >= several[i].length) {
		w->n_kernels = 4 + digit_kernels * jl_elem_B(in->elem);
		w->moved_B = (1 + jl_elem_B(in->elem)) * s->in_B;
		w->clocks = block_elem * in->n;
	}
}

void jl_work_rows(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		  const struct jl_work_sums *s)
{
	switch (kind->op->rule) {
	case JL_RULE_SUM: sum(w, p, kind); break;
	case JL_RULE_ROWS: rows(w, p, kind, s); break;
	case JL_RULE_NORM_BACK: norm_back(w, p, kind, s); break;
	case JL_RULE_BATCH_NORM: batch_norm(w, kind, s); break;
	case JL_RULE_RESIZE: resize(w, p, kind, s); break;
	case JL_RULE_POOL: pool(w, p, kind); break;
	case JL_RULE_SORT: sorted(w, p, kind, s); break;
	case JL_RULE_TOPK: topk(w, p, kind, s); break;
	default: break;
	}
}
