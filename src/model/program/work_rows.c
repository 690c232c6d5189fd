/* Streams whose kernels take rows, channels or windows: softmax, norms, sums over columns, pooling, resizing, sorts. */
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

static bool is_row_major(const struct jl_tensor_kind *t)
{
	int64_t next = 1;

	for (int d = t->rank - 1; d >= 0; next *= t->dims[d--])
		if (t->dims[d] > 1 && t->strides[d] != next)
			return false;
	return true;
}

/* Kernels of rows take their tensors as they lie in row order: any other is copied before. */
static void copy_rows(struct jl_call_work *w, const struct jl_tensor_kind *t)
{
	if (is_row_major(t))
		return;
	w->n_kernels++;
	w->moved_B += 2 * t->held_B;
	w->across_B += t->held_B;
}

/* Clocks of a row of any length; of a byte of a layer norm's rows (96 to 3,072 wide, fp32 and bf16: bench/programs/measured/9354adeb); of an element
 * of a softmax whose row is longer than registers hold, or twice that. */
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
	if (w->class == JL_CLASS_NORM) {
		w->clocks = strstr(kind->name, "rms") ? w->clocks + rms_row_clocks * n_rows
						      : layer_row_clocks * n_rows + layer_byte_clocks * t->held_B;
		w->again_B = t->elem == JL_ELEM_F32 ? 0.6 * t->held_B : 0; /* of fp32 fewer are in flight */
	} else if (length > register_row && logarithm) /* the largest, the sum, the output: each reads the row */
		w->again_B = (back ? 1 : 2) * t->held_B;
	else if (length > register_row && !back)
		w->clocks = fmax(w->clocks, long_clocks[length > 2 * register_row] * t->n);
}

/* Sums over columns: a block of threads for 16 of them. */
static void sum(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	static const double sm_a_column = 1.0 / 16.0;
	const struct jl_tensor_kind *in = jl_call_in(p, kind, 0), *out = jl_call_out(p, kind, 0);

	if (in && out && in->rank > 0 && out->rank > 0 && out->n > 1 && out->n < in->n &&
	    in->dims[in->rank - 1] == out->dims[out->rank - 1] && in->dims[in->rank - 1] > 1)
		w->most_sm = fmax(1, sm_a_column * out->n);
}

/* Sums for scale and shift: a layer norm's by a block of threads for 32 columns, row after row, so narrow layers leave most SMs idle. */
static void norm_back(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		      const struct jl_work_sums *s)
{
	static const double sum_clocks = 0.75, block_clocks = 9.8, columns = 32, input_frac = 0.87;
	const struct jl_tensor_kind *grad = jl_call_in(p, kind, 0);

	rows(w, p, kind, s);
	if (!grad || grad->rank == 0 || kind->n_out < 2)
		w->n_kernels = 1;
	else if (!strstr(kind->name, "rms")) {
		const double width = fmax(row_length(kind, grad), 1), n_block = ceil(width / columns);

		w->clocks *= input_frac;
		w->then = (struct jl_stream){ .moved_B = 2 * grad->held_B,
					      .clocks = block_clocks * n_block * grad->n / width,
					      .most_sm = n_block };
	} else {
		w->clocks += sum_clocks * grad->n;
		w->moved_B += 2 * grad->held_B;
	}
}

/* Pixels between pixels. A thread makes one pixel of all images and channels, one behind the other; channels that lie last are made side by
 * side. Backward, gradients of many places are added into one: an addition waits for those before it at the same address, of 16 bits for longer. */
static void resize(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		   const struct jl_work_sums *s)
{
	static const double wait_clocks = 0.15, wait_half_clocks = 5, pixel_clocks = 0.7, threads = 1024;
	const struct jl_tensor_kind *from = jl_call_in(p, kind, 0), *to = jl_call_out(p, kind, 0);

	w->moved_B = s->in_B + s->out_B;
	if (!from || !to || !(to->n > 0) || to->rank < 3)
		return;
	if (strstr(kind->name, "backward")) {
		w->clocks = fmax(wait_clocks * fmax(from->n / to->n, 1),
				 jl_elem_B(from->elem) < 4 ? wait_half_clocks : 0) *
			    from->n;
		return;
	}
	w->clocks = pixel_clocks * to->n;
	if (to->strides[1] != 1 || to->dims[1] == 1)
		w->most_sm = ceil(to->n / ((double)to->dims[0] * (double)to->dims[1]) / threads);
}

/* Statistics read what is scaled once more. A block of threads sums up a channel, and an SM takes two where there are as many; channels that lie
 * last are summed side by side. cuDNN has one kernel for all of it, PyTorch's own are three (bf16, no scale). */
static void batch_norm(struct jl_call_work *w, const struct jl_call_kind *kind, const struct jl_work_sums *s)
{
	const struct jl_tensor_kind *x = s->largest;
	const bool fixed = strstr(kind->name, "no_training") || jl_call_number(kind, "training", 1) == 0;
	const bool back = strstr(kind->name, "backward") != NULL;
	const bool own = x && (x->elem == JL_ELEM_BF16 || s->n_in < (back ? 5 : 2));
	const bool last = x && x->rank > 2 && x->dims[1] > 1 && x->strides[1] == 1;

	w->moved_B = s->in_B * (fixed ? 1 : 2) + s->out_B;
	w->n_kernels = !own ? 1 : back ? 1 + last : 3;
	w->clocks = (fixed ? 0.6 : back ? 1.1 : 0.8) * w->n_elems;
	if (!fixed && last && !own)
		w->clocks = (back ? 0.6 : 0.42) * w->n_elems;
	if (!fixed && x && x->rank > 2 && x->dense && !last) {
		w->clocks = (back ? 2.5 : own ? 1.6 : 1.1) * x->n;
		w->most_sm = (double)x->dims[1];
		w->paired = back ? 2 : 1.25;
	}
}

/* Windows are gone through pixel by pixel. In three dimensions a thread computes where each output lies, and gradients are added one by one: of 16
 * bits in a loop that compares and swaps. */
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

/* Rows are sorted by their digits; whether a mask holds is found by sums. */
static void sorted(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		   const struct jl_work_sums *s)
{
	static const double sort_clocks = 16,
			    drop_clocks = 245; /* of a box: which ones are kept is found by one block */
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

/* A block of threads for each row, or several with a launch for each step of each digit: PyTorch decides by rows and their length. */
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
