/* Recipe operators beyond elementwise ones: products, attention, norms, embeddings, losses, with gradients. */
#include "program/hf_modules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct hf_val matrix(const struct hf_val *v, int64_t rows, int64_t columns, bool across)
{
	struct hf_val m = *v;

	m.rank = 2;
	m.d[0] = across ? columns : rows;
	m.d[1] = across ? rows : columns;
	m.s[0] = across ? 1 : columns;
	m.s[1] = across ? columns : 1;
	return m;
}

/* One expert's matrix in the stack of all experts: the host reads its index; its gradient is a zero stack except for this expert. */
static struct hf_val expert_weight(struct hf_trace *t, const char *arg, const int64_t *dims)
{
	char name[24];
	struct hf_val v, all;

	snprintf(name, sizeof(name), "experts_%.8s", arg);
	all = hf_param(t, name, (enum jl_elem)hf_elem(t, 'w'), 3,
		       (int64_t[]){ (int64_t)t->var['E'], dims[0], dims[1] });
	v = all;
	v.rank = 2;
	for (int d = 0; d < 2; d++)
		v.d[d] = all.d[d + 1], v.s[d] = all.s[d + 1];
	(void)hf_record(t, hf_op_find("pick", 4), arg, &all, 1, &v, 1, 0);
	hf_wait(t, "item");
	t->host += 2;
	return v;
}

void hf_pick_back(struct hf_trace *t, struct hf_node *node)
{
	struct hf_val out = hf_make(t, (enum jl_elem)node->meta[0].elem, 3, node->meta[0].d);

	hf_call(t, "aten.select_backward", &node->grad[0], 1, &out, 1, "dim=0");
	hf_give(t, &node->meta[0], out);
}

/* PEFT adapter of a product: two thin products in the adapter's format. */
static void adapt(struct hf_trace *t, struct hf_val x, int64_t out)
{
	const unsigned target = t->target;

	t->var['J'] = t->run->lora_rank;
	t->var['C'] = (double)out;
	hf_push(t, x);
	hf_run(t, "host:2 to:f dropout:a (lora_A lora:J ) (lora_B lora:C ) mul1 add to:w");
	t->target = target;
}

/* "lin:OUT[,BIAS]": torch.nn.Linear; "conv1d:OUT": transposed weight and a bias; "xlin:OUT,IN": one expert's; "lora:OUT": an adapter's. */
void hf_linear(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val x = hf_pop(t), in[3], out, call[3];
	int64_t dims[HF_RANK] = { 0 }, w[2];
	const int n = hf_dims(t, arg, dims), last = x.rank - 1;
	const bool conv = op->token[0] == 'c', expert = op->token[0] == 'x';
	const bool bias = conv || (!expert && n > 1 && dims[1] > 0);
	const int64_t columns = x.d[last], rows = (int64_t)(hf_count(&x) / (double)columns);
	const bool adapter = op->token[0] == 'l' && op->token[1] == 'o';
	const bool adapted = t->run->lora_rank > 0 && !adapter && !expert && (t->target & t->run->lora_targets);
	const int elem = hf_elem(t, adapter ? 'f' : 'w');

	if (!hf_contiguous(&x))
		hf_copy(t, &x, true);
	const struct hf_val beside = x;

	if (adapted)
		hf_hold(t, &beside);
	w[0] = conv ? columns : dims[0];
	w[1] = conv ? dims[0] : columns;
	in[0] = x;
	in[1] = expert ? expert_weight(t, arg, w)
		       : hf_param(t,
				  n > 2 && dims[2] > 0 ? "/weight"
				  : adapter            ? "lora_weight"
						       : "weight",
				  (enum jl_elem)elem, 2, w);
	hf_hold(t, &in[1]);
	if (bias) {
		in[2] = hf_param(t, "bias", (enum jl_elem)elem, 1, dims);
		hf_hold(t, &in[2]);
		if (!conv)
			in[2] = hf_autocast(t, in[2], HF_LOWER);
	}
	in[1] = hf_autocast(t, in[1], HF_LOWER);
	in[0] = hf_autocast(t, in[0], HF_LOWER);
	if (bias && conv)
		in[2] = hf_autocast(t, in[2], HF_LOWER);
	x.d[last] = dims[0];
	out = hf_make(t, (enum jl_elem)in[0].elem, x.rank, x.d);
	t->host += conv ? 1 : x.rank > 2 ? 2 : 1;
	call[0] = matrix(&in[0], rows, columns, false);
	call[1] = matrix(&in[1], conv ? columns : dims[0], conv ? dims[0] : columns, !conv);
	(void)hf_record(t, op, arg, in, bias ? 3 : 2, &out, 1, (in[1].grad ? 1U : 0U) | (in[0].grad ? 2U : 0U));
	const struct hf_val flat = matrix(&out, rows, dims[0], false);

	x = flat;
	call[2] = call[1];
	call[1] = call[0];
	call[0] = in[2];
	hf_call(t, bias ? "aten.addmm" : "aten.mm", bias ? call : call + 1, bias ? 3 : 2, &x, 1, NULL);
	t->host += x.rank < out.rank;
	for (int i = 0; i < (bias ? 3 : 2); i++)
		hf_drop(t, &in[i]);
	hf_push(t, out);
	if (adapted)
		adapt(t, beside, dims[0]);
}

static struct hf_val weight_grad(struct hf_trace *t, const struct hf_val *g, const struct hf_val *x, bool conv)
{
	const struct hf_val tall[] = { matrix(conv ? x : g, (conv ? x : g)->d[0], (conv ? x : g)->d[1], true),
				       matrix(conv ? g : x, (conv ? g : x)->d[0], (conv ? g : x)->d[1], false) };
	struct hf_val out = hf_make(t, (enum jl_elem)g->elem, 2, (int64_t[]){ tall[0].d[0], tall[1].d[1] });

	t->host += conv ? 1 : 2;
	hf_call(t, "aten.mm", tall, 2, &out, 1, NULL);
	return out;
}

void hf_linear_back(struct hf_trace *t, struct hf_node *node)
{
	const bool conv = node->op->token[0] == 'c', bias = node->n_in > 2;
	const struct hf_val *w = &node->meta[1];
	const int64_t in = conv ? w->d[0] : w->d[1], out = conv ? w->d[1] : w->d[0];
	const int64_t rows = (int64_t)(hf_count(&node->meta[0]) / (double)in);
	struct hf_val g = node->grad[0], made[3], x = matrix(&node->save[0], rows, in, false);
	const bool copied = !hf_contiguous(&g);

	if (copied) {
		struct hf_val plain = hf_make(t, (enum jl_elem)g.elem, g.rank, g.d);

		hf_call(t, "aten.clone", &g, 1, &plain, 1, NULL);
		g = plain;
	}
	const struct hf_val full = g;

	t->host++;
	g = matrix(&g, rows, out, false);
	for (int i = 0; i < 3; i++)
		made[i].store = -1;
	if (node->meta[1].grad && !bias)
		made[1] = weight_grad(t, &g, &x, conv);
	if (node->meta[0].grad) {
		const struct hf_val call[] = { g, conv ? matrix(&node->save[1], in, out, true)
						       : matrix(&node->save[1], out, in, false) };

		made[0] = hf_make(t, (enum jl_elem)g.elem, node->meta[0].rank, node->meta[0].d);
		struct hf_val flat = matrix(&made[0], rows, in, false);

		t->host++;
		hf_call(t, "aten.mm", call, 2, &flat, 1, NULL);
	}
	if (node->meta[1].grad && bias)
		made[1] = weight_grad(t, &g, &x, conv);
	if (bias && node->meta[2].grad) {
		made[2] = hf_make(t, (enum jl_elem)g.elem, 2, (int64_t[]){ 1, out });
		hf_call(t, "aten.sum.dim_IntList", &g, 1, &made[2], 1, "dim=0");
		made[2] = matrix(&made[2], 1, out, false);
		made[2].rank = 1;
		made[2].d[0] = out;
		made[2].s[0] = 1;
		t->host++;
	}
	if (copied)
		hf_drop(t, &full);
	t->host++;
	for (int k = 0; k < 3; k++) {
		static const int order[] = { 2, 0, 1 };
		const int i = order[k];

		if (made[i].store >= 0)
			hf_give(t, &node->meta[i], made[i]);
	}
}

void hf_bmm(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val in[2], out;

	in[1] = hf_pop(t);
	in[0] = hf_pop(t);
	in[1] = hf_autocast(t, in[1], HF_LOWER);
	in[0] = hf_autocast(t, in[0], HF_LOWER);
	out = hf_make(t, (enum jl_elem)in[0].elem, 3, (int64_t[]){ in[0].d[0], in[0].d[1], in[1].d[2] });
	(void)hf_record(t, op, arg, in, 2, &out, 1, (in[1].grad ? 1U : 0U) | (in[0].grad ? 2U : 0U));
	hf_call(t, "aten.bmm", in, 2, &out, 1, NULL);
	hf_drop(t, &in[0]);
	hf_drop(t, &in[1]);
	hf_push(t, out);
}

/* PyTorch's fused attention is a single call. */
void hf_sdpa(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v[4], out[2];
	const bool mask = t->globals['m'].store >= 0;
	const double dropout = t->run->forward ? 0 : t->var['z'];
	char attrs[120];

	(void)arg;
	for (int i = 2; i >= 0; i--)
		v[i] = hf_pop(t);
	for (int i = 2; i >= 0; i--)
		v[i] = hf_autocast(t, v[i], HF_LOWER);
	if (mask) {
		v[3] = t->globals['m'];
		hf_hold(t, &v[3]);
	}
	if (mask && v[3].elem == JL_ELEM_B8) { /* boolean masks are converted to additive ones */
		struct hf_val not_there = hf_make(t, JL_ELEM_B8, 4, v[3].d),
			      added = hf_make(t, (enum jl_elem)v[0].elem, 4, v[3].d);
		struct hf_val in[2];

		hf_call(t, "aten.zeros_like", &v[3], 1, &added, 1, NULL);
		hf_call(t, "aten.logical_not", &v[3], 1, &not_there, 1, NULL);
		in[0] = added;
		in[1] = not_there;
		hf_call(t, "aten.masked_fill_.Scalar", in, 2, &added, 1, "inplace=1");
		hf_drop(t, &not_there);
		hf_drop(t, &v[3]);
		v[3] = added;
	}
	out[0] = hf_make(t, (enum jl_elem)v[0].elem, 4, (int64_t[]){ v[0].d[0], v[0].d[2], v[0].d[1], v[2].d[3] });
	for (int a = 1; a < 2; a++) { /* output layout: heads inside tokens */
		const int64_t d = out[0].d[1], s = out[0].s[1];

		out[0].d[1] = out[0].d[2], out[0].s[1] = out[0].s[2];
		out[0].d[2] = d, out[0].s[2] = s;
	}
	out[1] = hf_make(t, JL_ELEM_F32, 3, v[0].d);
	const bool flash = !mask && v[0].elem != JL_ELEM_F32;

	snprintf(attrs, sizeof(attrs), "causal=%d dropout=%g gqa=%d backend=%s", !mask && t->model->causal, dropout,
		 v[0].d[1] != v[1].d[1], flash ? "flash" : "efficient");
	struct hf_node *node = hf_record(t, op, "", v, 3, out, 2, 7 | 8 | 16);

	if (node && mask) {
		node->meta[3] = v[3];
		hf_hold(t, &v[3]);
	} else if (node) {
		node->meta[3].store = -1;
	}
	hf_call(t, "jeoul.sdpa", v, mask ? 4 : 3, out, 2, attrs);
	for (int i = 0; i < (mask ? 4 : 3); i++)
		hf_drop(t, &v[i]);
	hf_drop(t, &out[1]);
	hf_push(t, out[0]);
}

void hf_sdpa_back(struct hf_trace *t, struct hf_node *node)
{
	struct hf_val in[7] = { node->grad[0], node->save[0], node->save[1], node->save[2],
				node->save[3], node->save[4], node->meta[3] };
	const bool mask = node->meta[3].store >= 0, flash = !mask && node->save[0].elem != JL_ELEM_F32;
	struct hf_val out[3];
	char attrs[120];

	for (int i = 0; i < 3; i++)
		out[i] = hf_like(t, &node->meta[i], -1);
	snprintf(attrs, sizeof(attrs), "causal=%d dropout=%g gqa=%d backend=%s", !mask && t->model->causal, t->var['z'],
		 in[1].d[1] != in[2].d[1], flash ? "flash" : "efficient");
	t->host += 5;
	hf_call(t, "jeoul.sdpa_backward", in, mask ? 7 : 6, out, 3, attrs);
	if (mask)
		hf_drop(t, &node->meta[3]);
	for (int i = 0; i < 3; i++)
		hf_give(t, &node->meta[i], out[i]);
}

void hf_norm(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val in[3], out[3];
	const int elem = hf_elem(t, 'w');
	int64_t stats[HF_RANK];

	(void)arg;
	in[0] = hf_autocast(t, hf_pop(t), HF_WIDE);
	for (int i = 1; i < 3; i++) {
		in[i] = hf_param(t, i == 1 ? "weight" : "bias", (enum jl_elem)elem, 1, &in[0].d[in[0].rank - 1]);
		hf_hold(t, &in[i]);
	}
	memcpy(stats, in[0].d, sizeof(stats));
	stats[in[0].rank - 1] = 1;
	out[0] = hf_make(t, (enum jl_elem)in[0].elem, in[0].rank, in[0].d);
	for (int i = 1; i < 3; i++)
		out[i] = hf_make(t, t->run->autocast ? JL_ELEM_F32 : (enum jl_elem)in[0].elem, in[0].rank, stats);
	struct hf_node *node = hf_record(t, op, "", in, 3, out, 3, 1 | 16);

	if (node) {
		node->save[1] = out[2];
		hf_hold(t, &out[2]);
	}
	hf_call(t, "aten.native_layer_norm", in, 3, out, 3, NULL);
	for (int i = 0; i < 3; i++)
		hf_drop(t, &in[i]);
	hf_drop(t, &out[1]);
	hf_drop(t, &out[2]);
	hf_push(t, out[0]);
}

void hf_norm_back(struct hf_trace *t, struct hf_node *node)
{
	struct hf_val in[] = {
		node->grad[0], node->save[0], node->save[4], node->save[1], node->meta[1], node->meta[2]
	};
	struct hf_val out[3];

	const int n = node->meta[1].grad ? 3 : 1;

	for (int i = 0; i < n; i++)
		out[i] = hf_make(t, (enum jl_elem)node->meta[i].elem, node->meta[i].rank, node->meta[i].d);
	hf_call(t, "aten.native_layer_norm_backward", in, 6, out, n, n == 3 ? "mask=111" : "mask=100");
	for (int i = 0; i < n; i++)
		hf_give(t, &node->meta[i], out[i]);
}

void hf_dropout(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val v = hf_pop(t), out[2];

	if (t->run->forward ||
	    !(arg ? t->run->lora_dropout : t->var['d'] > 0)) { /* dropout is active only in training */
		hf_push(t, v);
		return;
	}
	out[0] = hf_like(t, &v, -1);
	out[1] = hf_like(t, &v, JL_ELEM_B8);
	(void)hf_record(t, op, "", &v, 1, out, 2, 16);
	hf_call(t, "jeoul.dropout", &v, 1, out, 2, "dropout=0.1 training=1");
	hf_drop(t, &v);
	hf_drop(t, &out[1]);
	hf_push(t, out[0]);
}

void hf_embedding(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val in[2], out;
	int64_t dims[HF_RANK];
	const int n = hf_dims(t, arg, dims);
	const int elem = hf_elem(t, 'w');

	in[1] = hf_pop(t);
	in[0] = hf_param(t, n > 2 && dims[2] > 0 ? "/weight" : "weight", (enum jl_elem)elem, 2, dims);
	int64_t to[HF_RANK];

	memcpy(to, in[1].d, sizeof(to));
	to[(int)in[1].rank] = dims[1];
	out = hf_make(t, (enum jl_elem)elem, in[1].rank + 1, to);
	(void)hf_record(t, op, "", in, 2, &out, 1, 2);
	hf_call(t, "aten.embedding", in, 2, &out, 1, "scale_grad_by_freq=0");
	hf_drop(t, &in[1]);
	hf_push(t, out);
}

void hf_embedding_back(struct hf_trace *t, struct hf_node *node)
{
	const struct hf_val in[] = { node->grad[0], node->save[1] };
	struct hf_val out = hf_make(t, (enum jl_elem)node->meta[0].elem, 2, node->meta[0].d);
	char attrs[60];

	snprintf(attrs, sizeof(attrs), "num_weights=%lld scale_grad_by_freq=0", (long long)out.d[0]);
	hf_call(t, "aten.embedding_dense_backward", in, 2, &out, 1, attrs);
	hf_give(t, &node->meta[0], out);
}

/* Logits (2D) and labels: two calls, and two in the backward pass. */
void hf_loss(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val in[2], log, out[2];

	(void)arg;
	in[1] = hf_pop(t);
	in[0] = hf_autocast(t, hf_pop(t), HF_WIDE);
	log = hf_make(t, (enum jl_elem)in[0].elem, 2, in[0].d);
	out[0] = hf_scalar(t, (enum jl_elem)in[0].elem);
	out[1] = hf_scalar(t, (enum jl_elem)in[0].elem);
	hf_call(t, "aten._log_softmax", in, 1, &log, 1, "dim=1 half_to_float=0");
	const struct hf_val of[] = { log, in[1] };
	struct hf_node *node = hf_record(t, op, "", in, 2, out, 1, 2);

	if (node) {
		node->save[0] = log;
		hf_hold(t, &log);
		node->save[2] = out[1];
		hf_hold(t, &out[1]);
	}
	t->host++;
	hf_call(t, "aten.nll_loss_forward", of, 2, out, 2, "reduction=1");
	hf_drop(t, &in[0]);
	hf_drop(t, &in[1]);
	hf_drop(t, &log);
	hf_drop(t, &out[1]);
	hf_push(t, out[0]);
}

void hf_loss_back(struct hf_trace *t, struct hf_node *node)
{
	const struct hf_val *log = &node->save[0];
	const struct hf_val in[] = { node->grad[0], *log, node->save[1], node->save[2] };
	struct hf_val spread = hf_make(t, (enum jl_elem)log->elem, 2, log->d), out;

	hf_call(t, "aten.nll_loss_backward", in, 4, &spread, 1, "reduction=1");
	t->host++;
	out = hf_make(t, (enum jl_elem)log->elem, 2, log->d);
	const struct hf_val two[] = { spread, *log };

	hf_call(t, "aten._log_softmax_backward_data", two, 2, &out, 1, "dim=1");
	hf_drop(t, &spread);
	hf_give(t, &node->meta[0], out);
}
