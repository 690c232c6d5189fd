/* One training step: forward, loss, backward, exchange, update. Kernels: engine.h. Parameters and gradients of other workers: exchange.c. */
#include <math.h>

#include "train/state.h"

struct jl_eng_gemm jl_linear(const struct jl_tensor_place *w, size_t n_rows, const void *x, const void *weight,
			     const void *bias, void *y, void *aux)
{
	return (struct jl_eng_gemm){ .m = n_rows,
				     .n = w->rows,
				     .k = w->cols,
				     .a = x,
				     .lda = w->cols,
				     .b = weight,
				     .ldb = w->cols,
				     .tb = true,
				     .c = y,
				     .ldc = w->rows,
				     .epilogue = aux    ? JL_EP_BIAS_GELU
						 : bias ? JL_EP_BIAS
							: JL_EP_NONE,
				     .bias = bias,
				     .aux = aux };
}

struct jl_eng_gemm jl_linear_dx(const struct jl_tensor_place *w, size_t n_rows, const void *dy, const void *weight,
				void *dx, void *aux)
{
	return (struct jl_eng_gemm){ .m = n_rows,
				     .n = w->cols,
				     .k = w->rows,
				     .a = dy,
				     .lda = w->rows,
				     .b = weight,
				     .ldb = w->cols,
				     .c = dx,
				     .ldc = w->cols,
				     .epilogue = aux ? JL_EP_DGELU : JL_EP_NONE,
				     .aux = aux };
}

struct jl_eng_gemm jl_linear_dw(const struct jl_tensor_place *w, size_t n_rows, const void *dy, const void *x,
				void *grad, void *bias_grad, bool accumulate)
{
	return (struct jl_eng_gemm){ .m = w->rows,
				     .n = w->cols,
				     .k = n_rows,
				     .a = dy,
				     .lda = w->rows,
				     .ta = true,
				     .b = x,
				     .ldb = w->cols,
				     .c = grad,
				     .ldc = w->cols,
				     .c_is_grad = true,
				     .accumulate = accumulate,
				     .epilogue = bias_grad ? JL_EP_BGRAD : JL_EP_NONE,
				     .bias_grad = bias_grad };
}

static void multiply(struct jl_trainer *t, struct jl_eng_gemm op)
{
	t->k->gemm(t->engine, &op);
}

/* --- fp8: products need both operands contiguous along k, so each tensor exists plain and transposed */

static size_t linear_number(enum jl_tensor weight)
{
	return ((size_t)weight - JL_W_QKV) / 2 - (weight > JL_W_OUT ? 1 : 0);
}

/* The scales of all e4m3 tensors precede those of e5m2. A decoder stores the scales of its weights with the unit. */
static struct jl_fp8_scale *scale_of(const struct jl_trainer *t, const struct jl_unit *unit, enum jl_tensor weight,
				     enum jl_fp8_what what)
{
	if (what == JL_FP8_WEIGHT && t->in.max_tokens)
		return (struct jl_fp8_scale *)(unit->scales + t->shape.weights[weight].scale_at);
	size_t layer = (size_t)(unit - t->units) - 1;
	return t->scales + ((size_t)what * t->shape.n_layers + layer) * JL_N_LINEAR + linear_number(weight);
}

static void *kept_fp8(const struct jl_trainer *t, const struct jl_unit *unit, enum jl_tensor weight)
{
	return t->layers[(size_t)(unit - t->units) - 1].fp8_t[linear_number(weight)];
}

static struct jl_eng_fp8 fp8_of(const struct jl_trainer *t, const struct jl_unit *unit, enum jl_tensor weight,
				enum jl_fp8_what what)
{
	return (struct jl_eng_fp8){ .n_rows = t->n_rows,
				    .scale = scale_of(t, unit, weight, what),
				    .wide = what == JL_FP8_GRADIENT,
				    .first = t->n_steps == 1 };
}

/* Converts one layer's weights to fp8, plain for forward, transposed for backward. Doing this twice per step needs memory for one layer only. */
static void narrow_weights(struct jl_trainer *t, const struct jl_unit *unit, bool turned)
{
	struct jl_eng_fp8 ops[JL_N_LINEAR];
	for (size_t i = 0; t->fp8_w && i < JL_N_LINEAR; i++) {
		const struct jl_tensor_place *w = &t->shape.weights[jl_train_linears[i]];
		ops[i] = fp8_of(t, unit, jl_train_linears[i], JL_FP8_WEIGHT);
		ops[i].n_rows = w->rows;
		ops[i].width = w->cols;
		ops[i].from = jl_trainer_at(t, unit, jl_train_linears[i]);
		*(turned ? &ops[i].to_t : &ops[i].to) = t->fp8_w + w->at;
	}
	if (t->fp8_w)
		t->k->fp8(t->engine, ops, JL_N_LINEAR);
}

static void narrow_input(struct jl_trainer *t, const struct jl_unit *unit, enum jl_tensor weight, const void *x)
{
	struct jl_eng_fp8 op = fp8_of(t, unit, weight, JL_FP8_INPUT);
	op.of = weight != JL_W_DOWN ? JL_FP8_PLAIN : t->shape.gated ? JL_FP8_SWIGLU : JL_FP8_GELU;
	op.width = t->shape.weights[weight].cols;
	op.from = x;
	op.to = t->fp8;
	op.to_t = kept_fp8(t, unit, weight);
	t->k->fp8(t->engine, &op, 1);
}

/* True if the norm's backward also sums the gradient of this bias: that of a linear layer that writes to the residual stream. Not across two
 * layers where gradients are sharded: the lower layer's buffer would be needed too early and delay exchanges. */
static bool norm_sums(const struct jl_trainer *t, enum jl_tensor weight)
{
	return weight == JL_W_OUT || (weight == JL_W_DOWN && !jl_trainer_shards_grads(t));
}
static void *own_bias_grad(const struct jl_trainer *t, const struct jl_unit *unit, enum jl_tensor weight)
{
	return norm_sums(t, weight) ? NULL : jl_trainer_grad(t, unit, weight + 1);
}

/* Converts the gradient of a linear layer's output to fp8; also computes its bias gradient, and first applies the activation's gradient. */
static void narrow_gradient(struct jl_trainer *t, struct jl_unit *unit, enum jl_tensor weight, const void *dy,
			    const void *before)
{
	struct jl_eng_fp8 op;
	if (!t->fp8)
		return;
	op = fp8_of(t, unit, weight, JL_FP8_GRADIENT);
	op.of = !before ? JL_FP8_PLAIN : t->shape.gated ? JL_FP8_SWIGLU_BWD : JL_FP8_GELU_BWD;
	op.width = t->shape.weights[weight].rows;
	op.from = dy;
	op.before = before;
	op.to = t->fp8;
	op.to_t = t->fp8_t;
	op.bias_grad = own_bias_grad(t, unit, weight);
	op.accumulate = jl_trainer_accumulates(t);
	t->k->fp8(t->engine, &op, 1);
}

/* Replaces the operands by their fp8 copies. op.tb identifies forward, op.c_is_grad the weight gradient. */
static struct jl_eng_gemm of_fp8(const struct jl_trainer *t, const struct jl_unit *unit, enum jl_tensor weight,
				 struct jl_eng_gemm op)
{
	const bool forward = op.tb, dw = op.c_is_grad;
	op.a = dw ? t->fp8_t : t->fp8;
	op.b = dw ? kept_fp8(t, unit, weight) : t->fp8_w ? t->fp8_w + t->shape.weights[weight].at : op.b;
	op.lda = op.ldb = op.k;
	op.ta = false;
	op.tb = true;
	op.a_fp8 = scale_of(t, unit, weight, forward ? JL_FP8_INPUT : JL_FP8_GRADIENT);
	op.b_fp8 = scale_of(t, unit, weight, dw ? JL_FP8_INPUT : JL_FP8_WEIGHT);
	op.wide = !forward;
	op.aux = op.bias_grad = NULL;
	op.epilogue = op.epilogue == JL_EP_BIAS ? JL_EP_BIAS : JL_EP_NONE; /* others: by the fp8 conversion */
	return op;
}

/* True if inputs are converted to fp8. A decoder's few rows stay in bf16: reading the weights dominates there. */
static bool narrows_inputs(const struct jl_trainer *t)
{
	return t->fp8 && (!t->in.max_tokens || t->n_rows > JL_FP8_FEW);
}

static void linear(struct jl_trainer *t, struct jl_unit *unit, enum jl_tensor weight, const void *x, void *y,
		   void *before_gelu)
{
	const struct jl_tensor_place *w = &t->shape.weights[weight];
	const void *bias = w->unit == JL_UNIT_LAYER ? jl_trainer_at(t, unit, weight + 1) : NULL;
	struct jl_eng_gemm op = jl_linear(w, t->n_rows, x, jl_trainer_at(t, unit, weight), bias, y, before_gelu);
	if (w->narrow && t->fp8)
		op.b_fp8 = scale_of(t, unit, weight, JL_FP8_WEIGHT);
	else if (w->narrow)
		op.b_scale = unit->scales + w->scale_at;
	if (narrows_inputs(t) && w->unit == JL_UNIT_LAYER) {
		narrow_input(t, unit, weight, x);
		op = of_fp8(t, unit, weight, op);
	}
	multiply(t, op);
}

static void linear_dx(struct jl_trainer *t, struct jl_unit *unit, enum jl_tensor weight, const void *dy, void *dx,
		      void *before_gelu)
{
	struct jl_eng_gemm op = jl_linear_dx(&t->shape.weights[weight], t->n_rows, dy, jl_trainer_at(t, unit, weight),
					     dx, before_gelu);
	multiply(t, t->fp8 ? of_fp8(t, unit, weight, op) : op);
}

static void linear_dw(struct jl_trainer *t, struct jl_unit *unit, enum jl_tensor weight, const void *dy, const void *x)
{
	struct jl_eng_gemm op = jl_linear_dw(&t->shape.weights[weight], t->n_rows, dy, x,
					     jl_trainer_grad(t, unit, weight), own_bias_grad(t, unit, weight),
					     jl_trainer_accumulates(t));
	multiply(t, t->fp8 ? of_fp8(t, unit, weight, op) : op);
}

void jl_trainer_norm(struct jl_trainer *t, struct jl_unit *unit, enum jl_tensor weight, const void *residual,
		     const void *branch, void *residual_out, void *out, float *mean, float *rstd)
{
	t->k->norm(t->engine, &(struct jl_eng_norm){ .rms = t->shape.rms,
						     .eps = t->shape.norm_eps,
						     .n_rows = t->n_rows,
						     .width = t->shape.hidden,
						     .residual = residual,
						     .branch = branch,
						     .residual_out = residual_out,
						     .out = out,
						     .weight = jl_trainer_at(t, unit, weight),
						     .bias = t->shape.rms ? NULL : jl_trainer_at(t, unit, weight + 1),
						     .mean = mean,
						     .rstd = rstd });
}

/* d_res += gradient through the norm; sums of the new d_res go to `bias_below`; recomputes the norm's output where forward did not keep it */
static void norm_bwd(struct jl_trainer *t, struct jl_unit *unit, enum jl_tensor weight, const void *d_out,
		     const void *input, const float *mean, const float *rstd, void *again, void *bias_below)
{
	bool rms = t->shape.rms;
	t->k->norm_bwd(t->engine,
		       &(struct jl_eng_norm_bwd){ .rms = rms,
						  .d_residual_fresh = weight == JL_W_NORMF,
						  .accumulate = jl_trainer_accumulates(t),
						  .n_rows = t->n_rows,
						  .width = t->shape.hidden,
						  .d_out = d_out,
						  .input = input,
						  .weight = jl_trainer_at(t, unit, weight),
						  .mean = mean,
						  .rstd = rstd,
						  .d_residual = t->d_res,
						  .weight_grad = jl_trainer_grad(t, unit, weight),
						  .bias_grad = rms ? NULL : jl_trainer_grad(t, unit, weight + 1),
						  .residual_sums = bias_below,
						  .recompute_bias = rms ? NULL : jl_trainer_at(t, unit, weight + 1),
						  .recompute_out = again });
}

static struct jl_eng_attn attention_of(const struct jl_trainer *t, const struct jl_layer_acts *a)
{
	struct jl_eng_attn op = jl_train_attn(&t->shape, t->in.n_samples, t->decoding ? 1 : t->in.seq);
	op.qkv = a->qkv;
	op.out = a->att;
	op.lse = a->lse;
	op.d_out = t->d_att;
	op.d_qkv = t->d_qkv;
	op.scratch = t->attn_scratch;
	op.keys = a->keys;
	op.values = a->values;
	op.max = t->in.max_tokens;
	op.at = t->at;
	return op;
}

static void attend(struct jl_trainer *t, const struct jl_layer_acts *a)
{
	const struct jl_eng_attn op = attention_of(t, a);
	if (t->decoding)
		t->k->attn_next(t->engine, &op);
	else
		t->k->attn(t->engine, &op);
	if (a->keys && !t->decoding)
		t->k->kv_keep(t->engine, &op);
}

/* Computes a layer from the output of its first norm to its branch (t->branch). `again`: recomputes only what backward needs. */
static void layer_body(struct jl_trainer *t, struct jl_unit *u, struct jl_layer_acts *a, bool again)
{
	const struct jl_train_shape *s = &t->shape;
	const void *act;

	linear(t, u, JL_W_QKV, a->norm1, a->qkv, NULL);
	attend(t, a);
	linear(t, u, JL_W_OUT, a->att, t->branch, NULL);

	jl_trainer_norm(t, u, JL_W_NORM2, a->x_in, t->branch, a->x_mid, a->norm2, a->mean2, a->rstd2);
	if (s->gated || narrows_inputs(t))
		linear(t, u, JL_W_UP, a->norm2, a->up, NULL);
	else
		linear(t, u, JL_W_UP, a->norm2, a->act, a->up);
	if (s->gated && !narrows_inputs(t))
		t->k->swiglu(t->engine, a->act, a->up, t->n_rows, s->ffn);
	act = narrows_inputs(t) ? a->up : a->act;
	if (!again)
		linear(t, u, JL_W_DOWN, act, t->branch, NULL);
	else if (narrows_inputs(t))
		narrow_input(t, u, JL_W_DOWN, act);
}

static void layer_forward(struct jl_trainer *t, size_t l)
{
	const struct jl_train_shape *s = &t->shape;
	struct jl_layer_acts *a = &t->layers[l];
	struct jl_layer_acts *before = l ? &t->layers[l - 1] : NULL;
	long next = l + 1 < s->n_layers ? (long)l + 2 : s->tied ? 0 : (long)s->n_layers + 1;
	struct jl_unit *u = jl_trainer_use(t, l + 1, next);

	narrow_weights(t, u, false);
	if (before)
		jl_trainer_norm(t, u, JL_W_NORM1, before->x_mid, t->branch, a->x_in, a->norm1, a->mean1, a->rstd1);
	else
		jl_trainer_norm(t, u, JL_W_NORM1, a->x_in, NULL, NULL, a->norm1, a->mean1, a->rstd1);
	layer_body(t, u, a, false);
}

/* Recomputes a layer for backward. The output of the last layer is still in memory. */
static void layer_again(struct jl_trainer *t, struct jl_unit *u, size_t l)
{
	struct jl_layer_acts *a = &t->layers[l];

	if (!t->in.recompute || l + 1 == t->shape.n_layers)
		return;
	narrow_weights(t, u, false);
	jl_trainer_norm(t, u, JL_W_NORM1, a->x_in, NULL, NULL, a->norm1, a->mean1, a->rstd1);
	layer_body(t, u, a, true);
}

void jl_trainer_forward(struct jl_trainer *t, const int32_t *tokens)
{
	struct jl_unit *embed = jl_trainer_use(t, 0, 1);
	const bool narrows = t->in.max_tokens && narrows_inputs(t);
	t->n_steps += narrows; /* the first pass computes its scales; later ones use those of earlier passes */
	if (t->shape.patches)
		jl_vit_embed(t, embed, tokens);
	else
		t->k->embed(t->engine, &(struct jl_eng_embed){ .n_rows = t->n_rows,
							       .seq = t->in.seq,
							       .width = t->shape.hidden,
							       .tokens = tokens,
							       .at = t->decoding ? t->at : NULL,
							       .table = jl_trainer_at(t, embed, JL_W_TOKENS),
							       .positions = jl_trainer_at(t, embed, JL_W_POSITIONS),
							       .out = t->layers[0].x_in });
	for (size_t l = 0; l < t->shape.n_layers; l++)
		layer_forward(t, l);
	if (narrows)
		t->k->fp8_scales(t->engine, t->scales, t->shape.n_layers * JL_N_LINEAR * 2, 0);
}

void jl_trainer_logits(struct jl_trainer *t, struct jl_unit *unit, const void *x)
{
	linear(t, unit, t->shape.weights[JL_W_LOGITS].rows ? JL_W_LOGITS : JL_W_TOKENS, x, t->logits, NULL);
}

/* Gradient of the bias of the last product in the layer below; NULL: there is none, or that layer sums it itself. */
static void *bias_below(const struct jl_trainer *t, size_t unit_number)
{
	return unit_number && norm_sums(t, JL_W_DOWN) ? jl_trainer_grad(t, &t->units[unit_number], JL_W_DOWN_BIAS)
						      : NULL;
}

/* Computes logits, loss and their gradients, some rows at a time: the logits of all tokens are never in memory together. */
static void head(struct jl_trainer *t, const int32_t *targets, float *loss)
{
	const struct jl_train_shape *s = &t->shape;
	size_t unit_number = s->tied ? 0 : s->n_layers + 1, hidden = s->hidden, elem_B = t->engine->elem_B;
	struct jl_unit *u = jl_trainer_use(t, unit_number, (long)s->n_layers);
	enum jl_tensor weight = s->tied ? JL_W_TOKENS : JL_W_LOGITS;
	jl_trainer_norm(t, u, JL_W_NORMF, t->layers[s->n_layers - 1].x_mid, t->branch, t->x_final, t->norm_final,
			t->mean_final, t->rstd_final);
	const struct jl_tensor_place w = { .rows = s->vocab_pad, .cols = hidden };
	const void *weights = jl_trainer_at(t, u, weight), *bias = jl_trainer_at(t, u, JL_W_LOGITS_BIAS);
	if (s->patches)
		jl_vit_pool(t);
	jl_trainer_grad_begin(t, unit_number);
	for (size_t row = 0; row < t->n_targets; row += t->logits_rows) {
		size_t n = t->n_targets - row < t->logits_rows ? t->n_targets - row : t->logits_rows;
		const void *x = (const char *)t->head_in + row * hidden * elem_B;
		multiply(t, jl_linear(&w, n, x, weights, bias, t->logits, NULL));
		t->k->loss(t->engine, &(struct jl_eng_loss){ .n_rows = n,
							     .vocab = s->vocab,
							     .ld = s->vocab_pad,
							     .logits = t->logits,
							     .targets = targets + row,
							     .scale = 1.0 / (double)(t->n_targets * t->in.n_micro),
							     .loss = loss + row });
		multiply(t,
			 jl_linear_dx(&w, n, t->logits, weights, (char *)t->d_head_in + row * hidden * elem_B, NULL));
		multiply(t,
			 jl_linear_dw(&w, n, t->logits, x, jl_trainer_grad(t, u, weight),
				      jl_trainer_grad(t, u, JL_W_LOGITS_BIAS), row > 0 || jl_trainer_accumulates(t)));
	}
	if (s->patches)
		jl_vit_pool_bwd(t);
	norm_bwd(t, u, JL_W_NORMF, t->d_norm_final, t->x_final, t->mean_final, t->rstd_final, NULL,
		 bias_below(t, s->n_layers));
	if (!s->tied)
		jl_trainer_grad_done(t, unit_number);
}

/* d_res holds the gradient of the layer's output on entry, that of its input on return. */
static void layer_backward(struct jl_trainer *t, size_t l)
{
	const struct jl_train_shape *s = &t->shape;
	struct jl_layer_acts *a = &t->layers[l];
	struct jl_unit *u = jl_trainer_use(t, l + 1, l ? (long)l : -1);
	void *again1 = t->k->recompute_norm ? a->norm1 : NULL, *again2 = t->k->recompute_norm ? a->norm2 : NULL;
	void *d_up = t->d_up;
	jl_trainer_grad_begin(t, l + 1);
	layer_again(t, u, l);
	narrow_weights(t, u, true);

	if (t->k->recompute_act && s->gated)
		t->k->swiglu(t->engine, a->act, a->up, t->n_rows, s->ffn);
	else if (t->k->recompute_act)
		t->k->gelu(t->engine, a->act, a->up, t->n_rows * s->ffn);
	narrow_gradient(t, u, JL_W_DOWN, t->d_res, NULL);
	linear_dw(t, u, JL_W_DOWN, t->d_res, a->act);
	linear_dx(t, u, JL_W_DOWN, t->d_res, t->d_up, s->gated ? NULL : a->up);
	narrow_gradient(t, u, JL_W_UP, t->d_up, a->up);
	if (s->gated && !t->fp8) {
		t->k->swiglu_bwd(t->engine, a->up, a->up, t->d_up, t->n_rows, s->ffn);
		d_up = a->up;
	}
	linear_dx(t, u, JL_W_UP, d_up, t->d_norm, NULL);
	norm_bwd(t, u, JL_W_NORM2, t->d_norm, a->x_mid, a->mean2, a->rstd2, again2,
		 jl_trainer_grad(t, u, JL_W_OUT_BIAS));
	linear_dw(t, u, JL_W_UP, d_up, a->norm2);

	narrow_gradient(t, u, JL_W_OUT, t->d_res, NULL);
	linear_dw(t, u, JL_W_OUT, t->d_res, a->att);
	linear_dx(t, u, JL_W_OUT, t->d_res, t->d_att, NULL);
	const struct jl_eng_attn attn = attention_of(t, a);
	t->k->attn_bwd(t->engine, &attn);
	narrow_gradient(t, u, JL_W_QKV, t->d_qkv, NULL);
	linear_dx(t, u, JL_W_QKV, t->d_qkv, t->d_norm, NULL);
	norm_bwd(t, u, JL_W_NORM1, t->d_norm, a->x_in, a->mean1, a->rstd1, again1, bias_below(t, l));
	linear_dw(t, u, JL_W_QKV, t->d_qkv, a->norm1);
	jl_trainer_grad_done(t, l + 1);
}

static void embed_backward(struct jl_trainer *t, const struct jl_unit *embed, const int32_t *tokens)
{
	const struct jl_train_shape *s = &t->shape;
	void *table_grad = jl_trainer_grad(t, embed, JL_W_TOKENS),
	     *position_grad = jl_trainer_grad(t, embed, JL_W_POSITIONS);
	if (!s->tied && !jl_trainer_accumulates(t))
		t->k->zero(t->engine, table_grad, s->vocab_pad * s->hidden * t->engine->grad_B);
	if (position_grad && !jl_trainer_accumulates(t) &&
	    t->in.seq < s->n_positions) /* positions beyond this sequence length get zero gradients */
		t->k->zero(t->engine, position_grad, s->n_positions * s->hidden * t->engine->grad_B);
	t->k->embed_bwd(t->engine, &(struct jl_eng_embed_bwd){ .n_rows = t->n_rows,
							       .seq = t->in.seq,
							       .width = s->hidden,
							       .vocab = s->vocab,
							       .tokens = tokens,
							       .d_out = t->d_res,
							       .table_grad = table_grad,
							       .position_grad = position_grad,
							       .accumulate = jl_trainer_accumulates(t) });
}

static void backward(struct jl_trainer *t, const int32_t *tokens)
{
	for (size_t l = t->shape.n_layers; l-- > 0;)
		layer_backward(t, l);
	if (!t->shape.tied)
		jl_trainer_grad_begin(t, 0); /* with tied weights the head has begun it */
	if (t->shape.patches)
		jl_vit_embed_bwd(t, &t->units[0]);
	else
		embed_backward(t, &t->units[0], tokens);
	jl_trainer_grad_done(t, 0);
}

/* Everything queued for one step; a captured graph replays exactly this. */
static void queue_step(struct jl_trainer *t)
{
	t->k->mark(t->engine, JL_MARK_START);
	jl_trainer_begin_step(t);
	for (size_t micro = 0; micro < t->in.n_micro; micro++) {
		const int32_t *tokens = t->tokens + micro * t->n_inputs;
		size_t at = micro * t->n_targets;
		t->first_micro = micro == 0;
		t->last_micro = micro + 1 == t->in.n_micro;
		jl_trainer_forward(t, tokens);
		t->k->mark(t->engine, JL_MARK_FORWARD);
		head(t, t->targets + at, t->loss + at);
		t->k->mark(t->engine, JL_MARK_HEAD);
		backward(t, tokens);
		jl_trainer_end_micro(t);
		t->k->mark(t->engine, JL_MARK_BACKWARD);
	}
	t->k->mark(t->engine, JL_MARK_EXCHANGE);
	jl_trainer_update(t);
	if (t->fp8)
		t->k->fp8_scales(t->engine, t->scales, 2 * t->shape.n_layers * JL_N_LINEAR,
				 t->shape.n_layers * JL_N_LINEAR);
	t->k->mark(t->engine, JL_MARK_UPDATE);
}

enum jl_status jl_trainer_queue(struct jl_trainer *t, void (*queue)(struct jl_trainer *t), struct jl_err *err)
{
	struct jl_engine_graph **graph = &t->graphs[t->decoding];
	enum jl_status status = JL_OK;
	bool captures = t->k->capture_begin && t->n_ranks == 1 && !t->in.no_capture;
	if (captures && !*graph && t->n_queued[t->decoding]++ > 0) {
		status = t->k->capture_begin(t->engine, err);
		if (status == JL_OK) {
			queue(t);
			status = t->k->capture_end(t->engine, graph, err);
		}
	}
	if (status != JL_OK)
		return status;
	if (*graph)
		t->k->replay(t->engine, *graph);
	else
		queue(t);
	return JL_OK;
}

enum jl_status jl_trainer_step(struct jl_trainer *t, const int32_t *tokens, const int32_t *targets, double *ret_loss,
			       struct jl_err *err)
{
	size_t n = t->n_targets * t->in.n_micro;
	double loss = 0;
	t->n_steps++;
	t->k->from_host(t->engine, t->tokens, tokens, t->n_inputs * t->in.n_micro * sizeof *tokens);
	t->k->from_host(t->engine, t->targets, targets, n * sizeof *targets);
	t->k->set_scalars(t->engine, &(struct jl_eng_scalars){ .lr = t->in.lr,
							       .beta1 = t->in.beta1,
							       .beta2 = t->in.beta2,
							       .eps = t->in.eps,
							       .weight_decay = t->in.weight_decay,
							       .clip = t->in.clip,
							       .grad_mul = 1.0 / t->n_ranks,
							       .step = t->n_steps });
	enum jl_status status = jl_trainer_queue(t, queue_step, err);
	t->k->to_host(t->engine, t->host_loss, t->loss, n * sizeof *t->loss);
	enum jl_status failed = t->k->sync(t->engine, status == JL_OK ? err : NULL);
	if (status != JL_OK || failed != JL_OK)
		return status != JL_OK ? status : failed;
	for (size_t i = 0; i < n; i++)
		loss += (double)t->host_loss[i];
	*ret_loss = loss / (double)n;
	return JL_OK;
}

enum jl_status jl_trainer_settle(struct jl_trainer *t, struct jl_err *err)
{
	jl_trainer_finish_gathers(t);
	return t->k->sync(t->engine, err);
}

struct jl_trainer_times jl_trainer_times(struct jl_trainer *t)
{
	const struct jl_engine_kernels *k = t->k;
	double n_micro = (double)t->in.n_micro;
	double begin_s = t->in.n_micro > 1 ? NAN : k->between_s(t->engine, JL_MARK_START, JL_MARK_FORWARD);
	return (struct jl_trainer_times){ .forward_s = begin_s * n_micro,
					  .head_s = k->between_s(t->engine, JL_MARK_FORWARD, JL_MARK_HEAD) * n_micro,
					  .backward_s = k->between_s(t->engine, JL_MARK_HEAD, JL_MARK_BACKWARD) *
							n_micro,
					  .update_s = k->between_s(t->engine, JL_MARK_EXCHANGE, JL_MARK_UPDATE),
					  .exposed_s = k->exchange_waited_s(t->engine) };
}

enum jl_status jl_trainer_weight(struct jl_trainer *t, enum jl_tensor weight, size_t layer, bool gradient,
				 float *ret_values, struct jl_err *err)
{
	const struct jl_tensor_place *p = &t->shape.weights[weight];
	struct jl_unit *unit = &t->units[p->unit == JL_UNIT_EMBED   ? 0
					 : p->unit == JL_UNIT_LAYER ? layer + 1
								    : t->shape.n_layers + 1];
	if (!p->rows || t->engine->elem_B != sizeof(float) || (gradient ? !unit->grad : !unit->param))
		return jl_fail(err, JL_E_RANGE, "this worker does not hold that tensor");
	const void *from = gradient ? jl_trainer_grad(t, unit, weight) : jl_trainer_at(t, unit, weight);
	t->k->to_host(t->engine, ret_values, from, p->rows * p->cols * sizeof *ret_values);
	return t->k->sync(t->engine, err);
}
