/* Decoding passes of a trainer without gradients: whole prompts, then one token per sample. */
#include "train/decode.h"

#include "train/state.h"

/* Computes the logits of each sample's last token and picks the largest. */
static void answer(struct jl_trainer *t, const void *residual, const void *branch, size_t n_new)
{
	const struct jl_train_shape *s = &t->shape;
	struct jl_unit *u = &t->units[s->tied ? 0 : s->n_layers + 1];
	t->n_rows = t->in.n_samples;
	jl_trainer_norm(t, u, JL_W_NORMF, residual, branch, t->x_final, t->norm_final, t->mean_final, t->rstd_final);
	jl_trainer_logits(t, u, t->norm_final);
	t->k->pick(t->engine, &(struct jl_eng_pick){ .n_rows = t->n_rows,
						     .vocab = s->vocab,
						     .ld = s->vocab_pad,
						     .logits = t->logits,
						     .tokens = t->next,
						     .at = t->at,
						     .add = (int32_t)n_new });
}

static void queue_prompt(struct jl_trainer *t)
{
	const struct jl_layer_acts *a = &t->layers[0]; /* all layers share one set of buffers */
	size_t row_B = t->shape.hidden * t->engine->elem_B;
	t->n_rows = t->in.n_samples * t->in.seq;
	jl_trainer_forward(t, t->tokens);
	for (size_t i = 0; i < t->in.n_samples; i++) {
		size_t last_B = ((i + 1) * t->in.seq - 1) * row_B;
		t->k->copy(t->engine, (char *)a->x_in + i * row_B, (const char *)a->x_mid + last_B, row_B);
		t->k->copy(t->engine, (char *)a->norm1 + i * row_B, (const char *)t->branch + last_B, row_B);
	}
	t->k->zero(t->engine, t->at, sizeof *t->at);
	answer(t, a->x_in, a->norm1, t->in.seq);
}

static void queue_next(struct jl_trainer *t)
{
	t->n_rows = t->in.n_samples;
	jl_trainer_forward(t, t->next);
	answer(t, t->layers[0].x_mid, t->branch, 1);
}

static enum jl_status finish(struct jl_trainer *t, enum jl_status status, int32_t *ret_tokens, struct jl_err *err)
{
	t->k->to_host(t->engine, ret_tokens, t->next, t->in.n_samples * sizeof *ret_tokens);
	enum jl_status failed = t->k->sync(t->engine, status == JL_OK ? err : NULL);
	return status != JL_OK ? status : failed;
}

enum jl_status jl_decode_prompt(struct jl_trainer *t, const int32_t *prompts, size_t n_samples, int32_t *ret_tokens,
				struct jl_err *err)
{
	if (t->in.n_samples != n_samples) /* a recorded graph is valid for one number of samples only */
		jl_trainer_forget(t);
	t->in.n_samples = n_samples;
	t->decoding = false;
	t->n_tokens = t->in.seq;
	t->k->from_host(t->engine, t->tokens, prompts, n_samples * t->in.seq * sizeof *prompts);
	return finish(t, jl_trainer_queue(t, queue_prompt, err), ret_tokens, err);
}

enum jl_status jl_decode_next(struct jl_trainer *t, size_t n_passes, int32_t *ret_tokens, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	if (t->n_tokens + n_passes > t->in.max_tokens)
		return jl_fail(err, JL_E_RANGE, "a sample of %zu tokens has room for %zu", t->n_tokens + n_passes,
			       t->in.max_tokens);
	t->decoding = true;
	t->n_tokens += n_passes;
	for (size_t i = 0; status == JL_OK && i < n_passes; i++)
		status = jl_trainer_queue(t, queue_next, err);
	return finish(t, status, ret_tokens, err);
}

double jl_decode_read_B(const struct jl_trainer *t, double n_samples, double context)
{
	const struct jl_train_shape *s = &t->shape;
	double weights_B = 0;
	for (int w = 0; w < JL_N_TENSOR; w++) {
		const struct jl_tensor_place *p = &s->weights[w];
		bool looked_up = w == JL_W_POSITIONS ||
				 (w == JL_W_TOKENS && (!s->tied || s->weights[JL_W_LOGITS].narrow));
		if (!looked_up)
			weights_B += (double)(p->rows * p->cols * (p->narrow ? 1 : t->engine->elem_B)) *
				     (double)(p->unit == JL_UNIT_LAYER ? s->n_layers : 1);
	}
	return weights_B +
	       2.0 * n_samples * context * (double)(s->n_layers * s->kv_heads * s->head_dim * t->engine->elem_B);
}
