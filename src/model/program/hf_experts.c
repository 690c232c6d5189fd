/* Mixture-of-experts operators of recipes: routing, and experts' products as a loop or as groups, with gradients. */
#include "program/hf_modules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Top-k of each row: values and indices; the indices become tensor I of the step. */
void hf_topk(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), out[2];
	int64_t dims[HF_RANK];
	const int n = hf_dims(t, arg, dims);

	out[0] = hf_make(t, (enum jl_elem)v.elem, n, dims);
	out[1] = hf_make(t, JL_ELEM_I64, n, dims);
	(void)hf_record(t, op, arg, &v, 1, out, 2, 16);
	hf_call(t, "aten.topk", &v, 1, out, 2, "dim=-1 largest=1 sorted=1");
	hf_drop(t, &v);
	hf_drop(t, &t->globals['I']);
	t->globals['I'] = out[1];
	t->globals['I'].grad = false;
	hf_push(t, out[0]);
}

void hf_topk_back(struct hf_trace *t, struct hf_node *node)
{
	struct hf_val zero = hf_make(t, (enum jl_elem)node->meta[0].elem, node->meta[0].rank, node->meta[0].d), out;
	const struct hf_val in[] = { zero, node->save[4], node->grad[0] };

	hf_call(t, "aten.zeros", NULL, 0, &zero, 1, NULL);
	out = hf_like(t, &zero, -1);
	hf_call(t, "aten.scatter.src", in, 3, &out, 1, "dim=-1");
	hf_drop(t, &zero);
	hf_give(t, &node->meta[0], out);
}

/* "take:SIZES": rows of the first input selected by the indices in the second; rank above two: one slice. */
void hf_take(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val in[2], out;
	int64_t dims[HF_RANK];
	const int n = hf_dims(t, arg, dims);

	if (n > 2) {
		in[1] = hf_make(t, JL_ELEM_I64, 1, (int64_t[]){ 1 });
	} else {
		in[1] = hf_pop(t);
	}
	in[0] = hf_pop(t);
	out = hf_make(t, (enum jl_elem)in[0].elem, n, dims);
	(void)hf_record(t, op, arg, in, 2, &out, 1, 2);
	hf_call(t, "aten.index.Tensor", in, 2, &out, 1, "at=0");
	hf_drop(t, &in[0]);
	hf_drop(t, &in[1]);
	hf_push(t, out);
}

void hf_take_back(struct hf_trace *t, struct hf_node *node)
{
	struct hf_val zero = hf_make(t, (enum jl_elem)node->meta[0].elem, node->meta[0].rank, node->meta[0].d), out;
	const struct hf_val in[] = { zero, node->save[1], node->grad[0] };

	hf_call(t, "aten.new_zeros", &node->grad[0], 1, &zero, 1, NULL);
	out = hf_like(t, &zero, -1);
	hf_call(t, "aten.index_put", in, 3, &out, 1, "accumulate=1 at=0");
	hf_drop(t, &zero);
	hf_give(t, &node->meta[0], out);
}

/* Expected number of experts that get tokens under even routing; sets rows per expert. */
static int hit_experts(struct hf_trace *t)
{
	const double n = t->var['E'] * (1 - pow(1 - t->var['k'] / t->var['E'], t->var['T']));
	const int hit = (int)fmax(round(n), 1);

	t->var['M'] = ceil(t->var['A'] / hit);
	return hit;
}

/* "each:X": runs recipe X for each expert that has tokens. */
void hf_each(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	(void)op;
	for (int i = hit_experts(t); i > 0 && !t->broken; i--)
		hf_run(t, t->recipes[(unsigned char)*arg]);
}

/* Grouped products. PyTorch has one kernel for bf16; in other formats the host reads the group boundaries and launches one product per group. */
static void grouped(struct hf_trace *t, const struct hf_val *in, struct hf_val *out)
{
	struct hf_val one[2] = { in[0], in[1] }, part = *out;
	const bool weights = out->rank > 2; /* weight gradients: sums over rows */

	if (in[0].elem == JL_ELEM_BF16) {
		hf_call(t, "aten._grouped_mm", in, 3, out, 1, NULL);
		return;
	}
	hf_wait(t, "item");
	const int hit = hit_experts(t);
	const int64_t rows = (int64_t)t->var['M'];

	for (int m = 0; m < 2; m++) {
		struct hf_val *v = &one[m];

		v->rank = 2;
		for (int d = 0; d < 2 && in[m].rank > 2; d++)
			v->d[d] = in[m].d[d + 1], v->s[d] = in[m].s[d + 1];
	}
	part.rank = 2;
	if (weights) {
		one[0].d[1] = one[1].d[0] = rows;
		for (int d = 0; d < 2; d++)
			part.d[d] = out->d[d + 1], part.s[d] = out->s[d + 1];
	} else {
		one[0].d[0] = part.d[0] = rows;
	}
	for (int i = 0; i < hit; i++) {
		t->host += 3;
		hf_call(t, "aten.mm", one, 2, &part, 1, NULL);
	}
}

/* "gmm:OUT,IN": each expert's rows times its weights, in the weights' format; autocast does not apply. */
void hf_grouped(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val in[3], call[3], out;
	int64_t dims[HF_RANK];
	char name[24];

	(void)hf_dims(t, arg, dims);
	in[2] = hf_pop(t);
	in[0] = hf_cast(t, hf_pop(t), hf_elem(t, 'w'), true);
	snprintf(name, sizeof(name), "experts_%.8s", arg);
	in[1] = hf_param(t, name, (enum jl_elem)hf_elem(t, 'w'), 3,
			 (int64_t[]){ (int64_t)t->var['E'], dims[0], dims[1] });
	hf_hold(t, &in[1]);
	out = hf_make(t, (enum jl_elem)in[0].elem, 2, (int64_t[]){ in[0].d[0], dims[0] });
	struct hf_node *node = hf_record(t, op, arg, in, 2, &out, 1, 3);

	if (node) {
		node->save[2] = in[2];
		hf_hold(t, &in[2]);
	}
	memcpy(call, in, sizeof(call));
	call[1].d[1] = dims[1], call[1].d[2] = dims[0];
	call[1].s[1] = 1, call[1].s[2] = dims[1];
	grouped(t, call, &out);
	for (int i = 0; i < 3; i++)
		hf_drop(t, &in[i]);
	hf_push(t, out);
}

void hf_grouped_back(struct hf_trace *t, struct hf_node *node)
{
	struct hf_val in[] = { node->grad[0], node->save[0], node->save[2] }, out;

	in[0].d[0] = node->grad[0].d[1], in[0].d[1] = node->grad[0].d[0];
	in[0].s[0] = 1, in[0].s[1] = node->grad[0].d[1];
	out = hf_make(t, (enum jl_elem)node->save[1].elem, 3, node->save[1].d);
	grouped(t, in, &out);
	hf_give(t, &node->meta[1], out);
	in[0] = node->grad[0];
	in[1] = node->save[1];
	out = hf_make(t, (enum jl_elem)node->save[0].elem, 2, node->save[0].d);
	grouped(t, in, &out);
	hf_give(t, &node->meta[0], out);
}

/* "add_rows" (sum, indices, rows): index_add in place. Autograd keeps the inputs for their sizes. */
void hf_add_rows(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val in[3], out;

	for (int i = 2; i >= 0; i--)
		in[i] = hf_pop(t);
	out = in[0];
	(void)hf_record(t, op, arg, in, 3, &out, 1, 2 | 4);
	hf_call(t, op->name, in, 3, &out, 1, "inplace=1 dim=0");
	hf_drop(t, &in[1]);
	hf_drop(t, &in[2]);
	hf_push(t, out);
}

void hf_add_rows_back(struct hf_trace *t, struct hf_node *node)
{
	const struct hf_val in[] = { node->grad[0], node->save[1] };
	struct hf_val out = hf_make(t, (enum jl_elem)in[0].elem, 2, node->meta[2].d);

	hf_call(t, "aten.index_select", in, 2, &out, 1, "dim=0");
	hf_give(t, &node->meta[2], out);
	hf_hold(t, &in[0]);
	hf_give(t, &node->meta[0], in[0]);
}

/* "sum1": sum over a token's experts. */
void hf_sum1(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), out = hf_make(t, (enum jl_elem)v.elem, 2, (int64_t[]){ v.d[0], v.d[2] });

	(void)hf_record(t, op, arg, &v, 1, &out, 1, 0);
	hf_call(t, "aten.sum.dim_IntList", &v, 1, &out, 1, "dim=1");
	hf_drop(t, &v);
	hf_push(t, out);
}

void hf_sum1_back(struct hf_trace *t, struct hf_node *node)
{
	struct hf_val g = node->grad[0];

	g.rank = 3;
	memcpy(g.d, node->meta[0].d, sizeof(g.d));
	g.s[2] = g.s[1];
	g.s[1] = 0;
	t->host += 2;
	hf_hold(t, &g);
	hf_give(t, &node->meta[0], g);
}
