/* Input and output of a vision transformer. Moves rows with the embedding kernel, which gathers arbitrary rows of a table. */
#include "base/mem.h"
#include "train/state.h"

/* --- at creation */

static void fill_rows(const struct jl_trainer *t, int32_t *numbers)
{
	const size_t n_patches = t->shape.patches, seq = t->in.seq;
	int32_t *from = numbers, *d_from = from + t->n_rows, *patches = d_from + t->n_rows,
		*class_row = patches + t->n_inputs;
	for (size_t row = 0; row < t->n_rows; row++) {
		const size_t sample = row / seq, at = row % seq, patch = sample * n_patches + at - 1;
		from[row] = at ? (int32_t)patch + 1 : 0;
		d_from[row] = at ? 0 : (int32_t)sample + 1;
		*(at ? &patches[patch] : &class_row[sample]) = (int32_t)row;
	}
	t->k->from_host(t->engine, t->vit.from, from, t->n_rows * sizeof *numbers);
	t->k->from_host(t->engine, t->vit.d_from, d_from, t->n_rows * sizeof *numbers);
	t->k->from_host(t->engine, t->vit.patches, patches, t->n_inputs * sizeof *numbers);
	t->k->from_host(t->engine, t->vit.class_row, class_row, t->in.n_samples * sizeof *numbers);
}

/* Fills the pool of patches with values in ±1 derived from a counter; padding stays zero. */
static void fill_bank(const struct jl_trainer *t, float *values, void *staged)
{
	const size_t width = t->shape.patch_width, n = t->shape.vocab * width;
	const uint64_t key = jl_train_mix(jl_train_mix(t->in.seed) + (uint64_t)JL_N_TENSOR * 1000);
	for (size_t i = 0; i < n; i++) {
		const double unit_frac = ((double)(jl_train_mix(key + i) >> 40) + 0.5) / 8388608.0 - 1.0;
		values[i] = i % width < t->shape.patch_values ? (float)unit_frac : 0.0F;
	}
	t->k->from_host(t->engine, staged, values, n * sizeof *values);
	t->k->elem_from_float(t->engine, t->vit.bank, staged, n);
}

enum jl_status jl_vit_fill(struct jl_trainer *t, struct jl_err *err)
{
	const size_t bank_B = t->shape.vocab * t->shape.patch_width * sizeof(float);
	int32_t *numbers = jl_realloc(NULL, 3 * t->n_rows * sizeof *numbers);
	float *values = jl_realloc(NULL, bank_B);
	void *staged = NULL;
	enum jl_status status = numbers && values ? JL_OK : jl_fail_nomem(err);
	JL_THEN(status, t->k->alloc(t->engine, bank_B, JL_MEM_PLAIN, &staged, err));
	if (status == JL_OK) {
		fill_rows(t, numbers);
		fill_bank(t, values, staged);
		status = t->k->sync(t->engine, err);
		t->k->free(t->engine, staged, bank_B, JL_MEM_PLAIN);
	}
	jl_free(numbers);
	jl_free(values);
	return status;
}

/* --- each step */

static void gather(struct jl_trainer *t, void *out, const void *table, const int32_t *rows, size_t n_rows)
{
	t->k->embed(t->engine, &(struct jl_eng_embed){ .n_rows = n_rows,
						       .seq = t->in.seq,
						       .width = t->shape.hidden,
						       .tokens = rows,
						       .table = table,
						       .out = out });
}

/* Places the class token before the patch embeddings. `branch` is unused at this point and serves as buffer. */
void jl_vit_embed(struct jl_trainer *t, const struct jl_unit *unit, const int32_t *patches)
{
	const struct jl_train_shape *s = &t->shape;
	const size_t row_B = s->hidden * t->engine->elem_B;
	const struct jl_eng_gemm product = jl_linear(
		&s->weights[JL_W_PATCH], t->n_inputs, t->vit.images, jl_trainer_at(t, unit, JL_W_PATCH),
		jl_trainer_at(t, unit, JL_W_PATCH_BIAS), (char *)t->branch + row_B, NULL);
	t->k->embed(t->engine, &(struct jl_eng_embed){ .n_rows = t->n_inputs,
						       .seq = t->in.seq,
						       .width = s->patch_width,
						       .tokens = patches,
						       .table = t->vit.bank,
						       .out = t->vit.images });
	t->k->copy(t->engine, t->branch, jl_trainer_at(t, unit, JL_W_TOKENS), row_B);
	t->k->gemm(t->engine, &product);
	t->k->embed(t->engine, &(struct jl_eng_embed){ .n_rows = t->n_rows,
						       .seq = t->in.seq,
						       .width = s->hidden,
						       .tokens = t->vit.from,
						       .table = t->branch,
						       .positions = jl_trainer_at(t, unit, JL_W_POSITIONS),
						       .out = t->layers[0].x_in });
}

/* The gradient of the class token equals that of position 0. */
void jl_vit_embed_bwd(struct jl_trainer *t, const struct jl_unit *unit)
{
	const struct jl_train_shape *s = &t->shape;
	void *position_grad = jl_trainer_grad(t, unit, JL_W_POSITIONS);
	const struct jl_eng_gemm product = jl_linear_dw(
		&s->weights[JL_W_PATCH], t->n_inputs, t->branch, t->vit.images, jl_trainer_grad(t, unit, JL_W_PATCH),
		jl_trainer_grad(t, unit, JL_W_PATCH_BIAS), jl_trainer_accumulates(t));
	gather(t, t->branch, t->d_res, t->vit.patches, t->n_inputs);
	t->k->gemm(t->engine, &product);
	t->k->embed_bwd(t->engine, &(struct jl_eng_embed_bwd){ .n_rows = t->n_rows,
							       .seq = t->in.seq,
							       .width = s->hidden,
							       .d_out = t->d_res,
							       .position_grad = position_grad,
							       .accumulate = jl_trainer_accumulates(t) });
	t->k->copy(t->engine, jl_trainer_grad(t, unit, JL_W_TOKENS), position_grad, s->hidden * t->engine->grad_B);
}

void jl_vit_pool(struct jl_trainer *t)
{
	gather(t, t->head_in, t->norm_final, t->vit.class_row, t->in.n_samples);
}

void jl_vit_pool_bwd(struct jl_trainer *t)
{
	gather(t, t->d_norm_final, t->vit.d_classes, t->vit.d_from, t->n_rows);
}
