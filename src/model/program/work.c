/* Work of calls that are not products: one function per rule. */
#include "program/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "program/work_parts.h"

enum jl_dtype jl_elem_dtype(enum jl_elem elem)
{
	static const enum jl_dtype dtypes[JL_N_ELEM] = {
		[JL_ELEM_F16] = JL_FP16, [JL_ELEM_BF16] = JL_BF16, [JL_ELEM_E4M3] = JL_FP8,
		[JL_ELEM_E5M2] = JL_FP8, [JL_ELEM_I8] = JL_INT8,
	};

	return dtypes[elem]; /* entries not listed are JL_FP32 (0) */
}

static void sum_list(const struct jl_program *p, const struct jl_tensor_ref *refs, uint32_t n, double *bytes,
		     double *count, const struct jl_tensor_kind **largest)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct jl_tensor_kind *t = &p->tensors[refs[i].tensor];

		*bytes += t->held_B * refs[i].count;
		*count += refs[i].count;
		if (!*largest || t->n > (*largest)->n)
			*largest = t;
	}
}

static struct jl_work_sums sums_of(const struct jl_program *p, const struct jl_call_kind *kind)
{
	struct jl_work_sums s = { .largest = NULL };

	sum_list(p, kind->in, kind->n_in, &s.in_B, &s.n_in, &s.largest);
	sum_list(p, kind->out, kind->n_out, &s.out_B, &s.n_out, &s.largest);
	if (kind->n_out == 0 && kind->n_in && jl_call_attr(kind, "inplace"))
		s.out_B = p->tensors[kind->in[0].tensor].held_B;
	return s;
}

/* True if both have the same memory layout, so that one index serves both. */
static bool lie_alike(const struct jl_tensor_kind *a, const struct jl_tensor_kind *b)
{
	if (a->rank != b->rank || !a->dense || !b->dense)
		return false;
	for (int d = 0; d < a->rank; d++)
		if (a->dims[d] != b->dims[d] || (a->dims[d] > 1 && a->strides[d] != b->strides[d]))
			return false;
	return true;
}

/* True if `t` is read across its rows while `out` is written along its own. Dimensions are matched from the last. */
static bool lies_across(const struct jl_tensor_kind *t, const struct jl_tensor_kind *out)
{
	for (int d = 1; d <= out->rank; d++) {
		const int at = out->rank - d;

		if (out->dims[at] > 1 && out->strides[at] == 1)
			return d <= t->rank && t->dims[t->rank - d] > 1 && t->strides[t->rank - d] > 1;
	}
	return false;
}

/* Marks element-wise loads: operands of different layout or format. Booleans do not count. */
static void look_at_operands(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
			     const struct jl_tensor_kind *out)
{
	const struct jl_tensor_kind *first = NULL;

	for (uint32_t i = 0; i < kind->n_in; i++) {
		const struct jl_tensor_kind *t = &p->tensors[kind->in[i].tensor];

		w->walked |= !lie_alike(t, out);
		w->across_B += lies_across(t, out) ? t->held_B : 0;
		if (t->elem == JL_ELEM_B8)
			continue;
		first = first ? first : t;
		w->cast |= t->elem != first->elem;
	}
	w->cast |= first && out->elem != JL_ELEM_B8 && first->elem != out->elem;
}

static void pointwise(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	const struct jl_tensor_kind *out = kind->n_out  ? &p->tensors[kind->out[0].tensor]
					   : kind->n_in ? &p->tensors[kind->in[0].tensor]
							: NULL;

	if (out)
		look_at_operands(w, p, kind, out);
}

/* Reads the last input; the destination is not read. Widening conversions are done element by element, narrowing ones are not. */
static void copy(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		 const struct jl_work_sums *s)
{
	const struct jl_tensor_kind *out = jl_call_out(p, kind, 0);
	const struct jl_tensor_kind *from = kind->n_in ? &p->tensors[kind->in[kind->n_in - 1].tensor] : NULL;

	if (!from)
		return;
	out = out ? out : jl_call_in(p, kind, 0);
	w->moved_B = from->held_B + (s->out_B > 0 ? s->out_B : out->held_B);
	w->n_elems = out->n;
	w->walked = !lie_alike(from, out);
	w->across_B = lies_across(from, out) ? from->held_B : 0;
	w->clocks = w->across_B > 0 ? JL_TURN_CLOCKS * w->n_elems : 0;
	w->cast = jl_elem_B(out->elem) > jl_elem_B(from->elem);
	w->by_driver = !w->walked && from->elem == out->elem;
}

/* Contiguous bytes of a part inside the concatenated tensor. */
static double run_B(const struct jl_tensor_kind *part, const struct jl_tensor_kind *out)
{
	double n = 1;

	for (int d = out->rank - 1; d >= 0 && part->rank == out->rank; d--) {
		n *= (double)part->dims[d];
		if (part->dims[d] != out->dims[d])
			break;
	}
	return n * jl_elem_B(part->elem);
}

/* One launch per 128 inputs. Contiguous parts are copied 16 bytes at a time, slower if short; for others each element computes its place. */
static void cat(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		const struct jl_work_sums *s)
{
	static const double part_clocks = 1.6, short_clocks = 1.25, piece_clocks = 0.45, short_B = 512;
	const struct jl_tensor_kind *out = jl_call_out(p, kind, 0);
	double clocks = piece_clocks;

	for (uint32_t i = 0; i < kind->n_in; i++) {
		const struct jl_tensor_kind *part = &p->tensors[kind->in[i].tensor];

		if (part->n > 0 && !part->dense)
			clocks = part_clocks;
		else if (part->n > 0 && out && run_B(part, out) < short_B)
			clocks = fmax(clocks, short_clocks);
	}
	w->n_kernels = ceil(s->n_in / 128);
	w->moved_B = 2 * s->out_B;
	w->clocks = clocks * w->n_elems;
}

/* Bytes of the index inputs (integers). */
static double index_B(const struct jl_program *p, const struct jl_call_kind *kind, double *ret_n, bool *ret_mask)
{
	double bytes = 0;

	*ret_n = 0;
	*ret_mask = false;
	for (uint32_t i = 1; i < kind->n_in; i++) {
		const struct jl_tensor_kind *t = &p->tensors[kind->in[i].tensor];
		const bool whole = t->elem == JL_ELEM_I64 || t->elem == JL_ELEM_I32, mask = t->elem == JL_ELEM_B8;

		bytes += whole || mask ? t->held_B * kind->in[i].count : 0;
		*ret_n = fmax(*ret_n, whole || mask ? t->n : 0);
		*ret_mask |= mask;
	}
	return bytes;
}

/* kernels that convert a mask to indices: sum, prefix sum, indices */
static const double mask_kernels = 5;

/* one thread block per row, however short; rows below 16 bytes are copied element by element */
static const double row_clocks = 150, row_least_B = 16;

static void gather(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		   const struct jl_work_sums *s)
{
	const bool by_element = strstr(kind->name, "gather") || strstr(kind->name, "take") || kind->n_in > 2;
	double n;
	bool mask;

	w->moved_B = 2 * s->out_B + index_B(p, kind, &n, &mask);
	w->n_elems = kind->n_out ? p->tensors[kind->out[0].tensor].n : 0;
	w->clocks = kind->op->clocks * w->n_elems;
	if (mask && w->form == JL_WORK_STREAM)
		w->n_kernels += mask_kernels;
	if (by_element || s->out_B < row_least_B * n)
		w->walked = true;
	else
		w->clocks = fmax(w->clocks, row_clocks * n);
}

/* Embedding bag: sums whole rows of the table. */
static void bag(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		const struct jl_work_sums *s)
{
	static const double bag_clocks = 0.65;
	const struct jl_tensor_kind *table = jl_call_in(p, kind, 0), *indices = jl_call_in(p, kind, 1);

	gather(w, p, kind, s);
	if (!table || !indices || table->rank < 2)
		return;
	const double n = indices->n * (double)table->dims[1];

	w->walked = false;
	w->moved_B += n * jl_elem_B(table->elem);
	w->clocks = bag_clocks * n;
}

/* Clocks per element: plain stores, atomic additions. */
static const double put_clocks = 0.85, add_clocks = 1.9;

/* In place: one kernel; out of place the driver copies the table first. */
static void scatter(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		    const struct jl_work_sums *s)
{
	const struct jl_tensor_kind *table = jl_call_in(p, kind, 0);
	const bool inplace = jl_call_number(kind, "inplace", 0) > 0;
	double n;
	bool mask;
	const double indices_B = index_B(p, kind, &n, &mask), table_B = table ? table->held_B : 0;
	const double put_B = fmax(s->in_B - table_B - indices_B, 0);
	const double put_n = table ? put_B / jl_elem_B(table->elem) : 0;

	w->moved_B = indices_B + 2 * fmin(fmax(put_B, n * 4), s->out_B > 0 ? s->out_B : put_B) + put_B;
	if (!inplace) {
		w->moved_B += table_B + s->out_B;
	}
	w->n_elems = n;
	w->walked = true;
	w->clocks = (strstr(kind->name, "index_add") ? add_clocks : put_clocks) * put_n;
}

/* Accumulation into rows that may repeat: sorts the indices first. */
static void index_put(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		      const struct jl_work_sums *s)
{
	double n;
	bool mask;
	const double indices_B = index_B(p, kind, &n, &mask);

	scatter(w, p, kind, s);
	if (mask)
		w->n_kernels += mask_kernels;
	if (jl_call_number(kind, "accumulate", 0) > 0) {
		w->n_kernels += JL_SORT_KERNELS;
		w->moved_B += JL_SORT_PASSES * 2 * indices_B;
	}
}

/* Embedding gradient. Few indices: processed block by block; many: sorted, rows summed in two stages. */
static void embedding_back(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
			   const struct jl_work_sums *s)
{
	static const double few = 3072, long_kernels = 20, walk_clocks = 79, sum_clocks = 2.2;
	const struct jl_tensor_kind *grad = jl_call_in(p, kind, 0);
	double n;
	bool mask;
	const double indices_B = index_B(p, kind, &n, &mask);
	const double width = grad && grad->rank > 0 ? (double)grad->dims[grad->rank - 1] : 0;
	const double grad_B = grad ? fmax(grad->held_B, n * width * jl_elem_B(grad->elem))
				   : 0; /* bags: reads each row again */

	w->moved_B = s->out_B + 2 * grad_B + indices_B;
	w->n_kernels = 2;
	w->n_elems = n * width;
	w->clocks = walk_clocks * n;
	w->most_sm = 1;
	if (n > few || strstr(kind->name, "bag")) {
		w->n_kernels = 1 + long_kernels;
		w->moved_B += JL_SORT_PASSES * 2 * indices_B + grad_B;
		w->clocks = sum_clocks * w->n_elems;
		w->most_sm = 0;
	}
}

struct jl_list_cut jl_cut_lists(const struct jl_program *p, const struct jl_tensor_ref *refs, uint32_t n, int n_lists,
				int depth)
{
	static const double chunk = 65536, blocks_max = 320;
	static const double tensors_max[] = { 110, 110, 64, 48, 36, 30 };
	const double most = tensors_max[depth < 5 ? depth : 5];
	struct jl_list_cut cut = { .n_launches = 0 };
	double blocks = 0, tensors = 0, limit = 0;

	for (uint32_t i = 0; i < n; i++)
		limit += refs[i].count;
	limit = floor(limit / n_lists);
	for (uint32_t i = 0; i < n && cut.n_tensors < limit && !jl_budget_spend(1); i++) {
		const double chunks = ceil(p->tensors[refs[i].tensor].n / chunk), left = limit - cut.n_tensors;
		const uint32_t count = refs[i].count < left ? refs[i].count : (uint32_t)left;
		double blocks_then = -1, tensors_then = 0, launches_then = 0;
		uint32_t then = 0;

		for (uint32_t j = 0; j < count; j++) {
			const double all = blocks + chunks, full = floor(all / blocks_max);

			cut.n_launches += full;
			blocks = all - full * blocks_max;
			tensors = full > 0 ? blocks > 0 : tensors + (chunks > 0);
			if (tensors >= most) {
				cut.n_launches += blocks > 0;
				blocks = tensors = 0;
			}
			if (blocks == blocks_then &&
			    tensors == tensors_then) { /* the same entry repeated as often as it fits */
				const uint32_t times = (count - 1 - j) / (j - then);

				cut.n_launches += times * (cut.n_launches - launches_then);
				j += times * (j - then);
				blocks_then = -1;
			} else if ((j & (j - 1)) == 0) {
				blocks_then = blocks;
				tensors_then = tensors;
				launches_then = cut.n_launches;
				then = j;
			}
		}
		cut.n_pieces += count * chunks;
		cut.n_tensors += count;
	}
	cut.n_launches += blocks > 0;
	return cut;
}

/* Number of lists that a call reads: the operator's, minus the last if it is a scalar. */
static int lists_of(const struct jl_call_kind *kind)
{
	const char *dot = strrchr(kind->name, '.'), *overload = dot ? dot : "";
	const int n = kind->op->lists;
	const double said = jl_call_number(kind, "lists", 0);

	if (said >= 1 && said <= 8)
		return (int)said;
	if (n == 2 && !strstr(overload, "List") && !strstr(kind->name, "copy"))
		return 1;
	if (n == 2 && strstr(overload, "ScalarList"))
		return 1;
	return n == 3 && strstr(kind->name, "lerp") && strstr(overload, "Scalar") ? 2 : n;
}

static void lists(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		  const struct jl_work_sums *s)
{
	static const double piece_clocks = 0.37; /* clocks per element of a chunk */
	const int n_in = lists_of(kind);
	const bool inplace = kind->n_out == 0 || jl_call_number(kind, "inplace", 0) > 0;
	/* Adam's steps are a list of scalars and take no tensor slots */
	const int depth = n_in > 4 ? 4 : n_in + !inplace;

	const struct jl_list_cut cut = jl_cut_lists(p, kind->in, kind->n_in, n_in, depth);

	w->n_tensors = cut.n_tensors;
	w->n_kernels = fmax(kind->op->kernels - 1, 0) + cut.n_launches;
	w->moved_B = s->in_B + (kind->n_out ? s->out_B : n_in > 4 ? 0.75 * s->in_B : s->in_B / n_in);
	if (strstr(kind->name, "addcmul")) /* Adam squares the gradient: both factors are one list */
		w->moved_B -= s->in_B / n_in;
	w->again_B = 0.2 * w->moved_B; /* chunks of many tensors reach a lower rate than one stream */
	w->n_elems = s->in_B / 4 / n_in;
	/* one thread block per chunk: few chunks leave SMs idle */
	w->clocks = fmax(kind->op->clocks, piece_clocks) * w->n_elems;
	w->most_sm = fmax(1, cut.n_pieces / fmax(cut.n_launches, 1));
}

static void transfer(struct jl_call_work *w, const struct jl_call_kind *kind, const struct jl_work_sums *s)
{
	const char *how = jl_call_attr(kind, "kind");

	w->form = JL_WORK_TRANSFER;
	w->moved_B = s->out_B > 0 ? s->out_B : s->in_B;
	w->u.transfer.pinned = jl_call_number(kind, "pinned", 0) > 0;
	w->u.transfer.device = how && strcmp(how, "p2p") == 0;
}

static void fused(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind)
{
	(void)p;
	w->n_kernels = fmax(jl_call_number(kind, "kernels", 1), 1);
	w->clocks = jl_call_number(kind, "reduce", 0) > 0 ? 0.45 * w->n_elems : 0;
	w->flop = jl_call_number(kind, "flop", 0);
}

static void by_rule(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		    const struct jl_work_sums *s)
{
	switch (kind->op->rule) {
	case JL_RULE_STREAM:
		if (w->class == JL_CLASS_POINTWISE || w->class == JL_CLASS_RANDOM)
			pointwise(w, p, kind);
		break;
	case JL_RULE_WRITE:
		w->moved_B = s->out_B;
		w->n_elems = kind->n_out ? p->tensors[kind->out[0].tensor].n : w->n_elems;
		break;
	case JL_RULE_COPY: copy(w, p, kind, s); break;
	case JL_RULE_CAT: cat(w, p, kind, s); break;
	case JL_RULE_BAG: bag(w, p, kind, s); break;
	case JL_RULE_GATHER:
	case JL_RULE_INDEX: gather(w, p, kind, s); break;
	case JL_RULE_SCATTER: scatter(w, p, kind, s); break;
	case JL_RULE_INDEX_PUT: index_put(w, p, kind, s); break;
	case JL_RULE_EMBEDDING_BACK: embedding_back(w, p, kind, s); break;
	case JL_RULE_SUM:
	case JL_RULE_ROWS:
	case JL_RULE_NORM_BACK:
	case JL_RULE_BATCH_NORM:
	case JL_RULE_RESIZE:
	case JL_RULE_POOL:
	case JL_RULE_SORT:
	case JL_RULE_TOPK: jl_work_rows(w, p, kind, s); break;
	case JL_RULE_LISTS: lists(w, p, kind, s); break;
	case JL_RULE_FUSED: fused(w, p, kind); break;
	case JL_RULE_TRANSFER: transfer(w, kind, s); break;
	default: jl_work_product(w, p, kind); break;
	}
}

void jl_work_of(struct jl_call_work *ret_work, const struct jl_program *p, const struct jl_call_kind *kind)
{
	static const struct jl_operator unknown = { JL_CLASS_OTHER, JL_RULE_STREAM, 1, 1, 1, 0, 0 };
	const struct jl_operator *op = kind->op ? kind->op : &unknown;
	const struct jl_work_sums s = sums_of(p, kind);
	struct jl_call_work w = { .class = op->class,
				  .form = op->class == JL_CLASS_NONE ? JL_WORK_NONE : JL_WORK_STREAM,
				  .n_kernels = op->kernels,
				  .moved_B = op->reads * s.in_B + op->writes * s.out_B,
				  .n_elems = s.largest ? s.largest->n : 0 };

	w.clocks = op->clocks * w.n_elems;
	if (kind->op && w.form != JL_WORK_NONE)
		by_rule(&w, p, kind, &s);
	if (w.form == JL_WORK_STREAM && !(w.moved_B > 0) && !(w.n_elems > 0))
		w.n_kernels = 0;
	*ret_work = w;
}
