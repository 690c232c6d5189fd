/* Lays out a worker's memory. The same code predicts the memory need. */
#include "train/state.h"

#include <string.h>

#include "base/mem.h"
#include "base/pool.h"

const enum jl_tensor jl_train_linears[JL_N_LINEAR] = { JL_W_QKV, JL_W_OUT, JL_W_UP, JL_W_DOWN };

#define INIT_CHUNK ((size_t)1 << 22)
#define INIT_PIECE ((size_t)1 << 16)

const char *const jl_train_mode_names[JL_N_TRAIN_MODE + 1] = { "ddp", "zero1", "zero2", "zero3", NULL };

const struct jl_trainer_in jl_trainer_defaults = { .mode = JL_TRAIN_DDP,
						   .n_samples = 4,
						   .seq = 512,
						   .n_micro = 1,
						   .lr = 3e-4,
						   .beta1 = 0.9,
						   .beta2 = 0.999,
						   .eps = 1e-8,
						   .weight_decay = 0.01,
						   .seed = 1 };

/* Bump allocator over a block; without memory it only counts bytes. */
struct carve {
	char *memory;
	size_t used_B;
};

static void *take(struct carve *c, size_t n, size_t elem_B)
{
	void *piece = c->memory ? c->memory + c->used_B : NULL;
	c->used_B += (n * elem_B + 255) / 256 * 256;
	return piece;
}

bool jl_trainer_shards_grads(const struct jl_trainer *t)
{
	return t->mode >= JL_TRAIN_ZERO2;
}

/* True if training uses fp8: then each product's output is converted to fp8 as the next one's input. */
static bool is_fp8(const struct jl_trainer *t)
{
	return t->engine->precision == JL_TRAIN_FP8 && !t->in.max_tokens;
}

static bool is_fp8_decoder(const struct jl_trainer *t)
{
	return t->engine->precision == JL_TRAIN_FP8 && t->in.max_tokens;
}

static void lay_units(struct jl_trainer *t, struct carve c[JL_N_BLOCK])
{
	size_t elem_B = t->engine->elem_B, grad_B = t->engine->grad_B, most = 0;
	for (size_t u = 0; u < t->shape.n_units; u++) {
		struct jl_unit *unit = &t->units[u];
		size_t n = jl_train_unit_n(&t->shape, u);
		size_t shard_n = t->mode == JL_TRAIN_DDP ? n : n / (size_t)t->n_ranks;
		most = n > most ? n : most;
		*unit = (struct jl_unit){ .n = n,
					  .shard_n = shard_n,
					  .shard_at = t->mode == JL_TRAIN_DDP ? 0 : (size_t)t->rank * shard_n };
		if (t->in.max_tokens) {
			enum jl_unit_kind kind = jl_train_unit_kind(&t->shape, u);
			unit->param = take(&c[JL_BLOCK_PARAM], n, elem_B);
			unit->narrow = take(&c[JL_BLOCK_PARAM], t->narrow_n[kind], 1);
			unit->scales = take(&c[JL_BLOCK_PARAM], t->scales_n[kind], sizeof(float));
			continue;
		}
		if (t->mode == JL_TRAIN_ZERO3) {
			unit->param_shard = take(&c[JL_BLOCK_PARAM], shard_n, elem_B);
		} else {
			unit->param = take(&c[JL_BLOCK_PARAM], n, elem_B);
			unit->param_shard = unit->param ? unit->param + unit->shard_at * elem_B : NULL;
		}
		if (jl_trainer_shards_grads(t)) {
			unit->grad_shard = take(&c[JL_BLOCK_GRAD], shard_n, grad_B);
		} else {
			unit->grad = take(&c[JL_BLOCK_GRAD], n, grad_B);
			unit->grad_shard = unit->grad ? unit->grad + unit->shard_at * grad_B : NULL;
		}
		if (elem_B < sizeof(float))
			unit->master = take(&c[JL_BLOCK_OPTIM], shard_n, sizeof(float));
		unit->m = take(&c[JL_BLOCK_OPTIM], shard_n, sizeof(float));
		unit->v = take(&c[JL_BLOCK_OPTIM], shard_n, sizeof(float));
	}
	for (size_t i = 0; t->mode == JL_TRAIN_ZERO3 && i < 2; i++)
		t->param_buffers[i] = take(&c[JL_BLOCK_UNIT], most, elem_B);
	for (size_t i = 0; jl_trainer_shards_grads(t) && i < (t->shape.tied ? 3 : 2); i++)
		t->grad_buffers[i] = take(&c[JL_BLOCK_UNIT],
					  i < 2 && t->shape.tied ? t->shape.unit_n[JL_UNIT_LAYER] : most, grad_B);
}

static void lay_layer(struct jl_trainer *t, struct jl_layer_acts *a, struct carve *c)
{
	const struct jl_train_shape *s = &t->shape;
	size_t rows = t->n_rows, elem_B = t->engine->elem_B;
	a->x_in = take(c, rows * s->hidden, elem_B);
	for (size_t i = 0; is_fp8(t) && i < JL_N_LINEAR; i++)
		a->fp8_t[i] = take(c, rows * s->weights[jl_train_linears[i]].cols, 1);
	if (!t->k->recompute_norm && !is_fp8(t)) {
		a->norm1 = take(c, rows * s->hidden, elem_B);
		a->norm2 = take(c, rows * s->hidden, elem_B);
	}
	a->qkv = take(c, rows * jl_train_width_qkv(s), elem_B);
	a->att = take(c, rows * s->heads * s->head_dim, elem_B);
	a->x_mid = take(c, rows * s->hidden, elem_B);
	a->up = take(c, rows * jl_train_width_up(s), elem_B);
	if (!t->k->recompute_act && !is_fp8(t))
		a->act = take(c, rows * s->ffn, elem_B);
	a->mean1 = take(c, rows, sizeof(float));
	a->rstd1 = take(c, rows, sizeof(float));
	a->mean2 = take(c, rows, sizeof(float));
	a->rstd2 = take(c, rows, sizeof(float));
	a->lse = take(c, rows * s->heads, sizeof(float));
}

static void lay_images(struct jl_trainer *t, struct carve *c)
{
	const struct jl_train_shape *s = &t->shape;
	size_t elem_B = t->engine->elem_B, n = t->in.n_samples;
	t->vit = (struct jl_vit){ .bank = take(c, s->vocab * s->patch_width, elem_B),
				  .images = take(c, t->n_inputs * s->patch_width, elem_B),
				  .d_classes = take(c, (n + 1) * s->hidden, elem_B),
				  .from = take(c, t->n_rows, sizeof(int32_t)),
				  .d_from = take(c, t->n_rows, sizeof(int32_t)),
				  .patches = take(c, t->n_inputs, sizeof(int32_t)),
				  .class_row = take(c, n, sizeof(int32_t)) };
	t->head_in = take(c, n * s->hidden, elem_B);
	t->d_head_in = t->vit.d_classes ? (char *)t->vit.d_classes + s->hidden * elem_B : NULL;
}

static void lay_work(struct jl_trainer *t, struct carve *c)
{
	const struct jl_train_shape *s = &t->shape;
	size_t rows = t->n_rows, elem_B = t->engine->elem_B, most = 0;
	void *norm = t->k->recompute_norm || is_fp8(t) ? take(c, rows * s->hidden, elem_B) : NULL;
	void *act = t->k->recompute_act ? take(c, rows * s->ffn, elem_B) : NULL;
	for (size_t l = 0; l < s->n_layers; l++) {
		struct jl_layer_acts *a = &t->layers[l];
		a->norm1 = norm ? norm : a->norm1;
		a->norm2 = norm ? norm : a->norm2;
		a->act = act ? act : a->act;
	}
	size_t last = t->in.max_tokens ? t->in.n_samples : rows; /* a decoder computes logits of the last tokens only */
	struct jl_eng_attn shape = jl_train_attn(s, t->in.n_samples, t->in.max_tokens ? 1 : t->in.seq);
	shape.max = t->in.max_tokens;
	size_t scratch_B = t->k->attn_scratch_B(t->engine, &shape);
	t->attn_scratch = scratch_B ? take(c, scratch_B, 1) : NULL;
	t->branch = take(c, rows * s->hidden, elem_B);
	t->x_final = take(c, last * s->hidden, elem_B);
	t->norm_final = take(c, last * s->hidden, elem_B);
	t->d_norm_final = t->branch; /* shares the buffer: no branch follows the last layer */
	t->mean_final = take(c, last, sizeof(float));
	t->rstd_final = take(c, last, sizeof(float));
	t->head_in = t->norm_final;
	t->d_head_in = t->d_norm_final;
	t->logits_rows = t->in.max_tokens ? last : t->k->loss_rows(t->engine, t->n_targets, s->vocab_pad);
	t->logits = take(c, t->logits_rows * s->vocab_pad, elem_B);
	t->tokens = take(c, rows * t->in.n_micro, sizeof(int32_t));
	t->next = take(c, t->in.max_tokens ? last : 0, sizeof(int32_t));
	t->at = take(c, t->in.max_tokens ? 1 : 0, sizeof(int32_t));
	for (size_t i = 0; t->engine->precision == JL_TRAIN_FP8 && i < JL_N_LINEAR; i++) {
		const struct jl_tensor_place *w = &s->weights[jl_train_linears[i]];
		size_t wider = w->rows > w->cols && !t->in.max_tokens ? w->rows : w->cols;
		most = wider > most ? wider : most;
	}
	t->fp8 = most ? take(c, rows * most, 1) : NULL;
	t->scales = most ? take(c, s->n_layers * JL_N_LINEAR * 3, sizeof *t->scales) : NULL;
	if (t->in.max_tokens)
		return;
	t->d_res = take(c, rows * s->hidden, elem_B);
	t->d_norm = take(c, rows * s->hidden, elem_B);
	t->d_up = take(c, rows * s->ffn, elem_B);
	t->d_qkv = take(c, rows * jl_train_width_qkv(s), elem_B);
	t->d_att = take(c, rows * s->heads * s->head_dim, elem_B);
	t->fp8_t = most ? take(c, rows * most, 1) : NULL;
	t->fp8_w = most ? take(c, s->unit_n[JL_UNIT_LAYER], 1) : NULL;
	t->loss = take(c, rows * t->in.n_micro, sizeof(float));
	t->norm_sq = take(c, 64, sizeof(float));
	t->targets = take(c, rows * t->in.n_micro, sizeof(int32_t));
	if (s->patches)
		lay_images(t, c);
}

/* Called twice: to count bytes, and with memory. */
static void lay_out(struct jl_trainer *t, struct carve c[JL_N_BLOCK])
{
	const struct jl_train_shape *s = &t->shape;
	size_t kv_n = t->in.n_samples * s->kv_heads * t->in.max_tokens * s->head_dim;
	lay_units(t, c);
	for (size_t l = 0; l < s->n_layers; l++) {
		if (l == 0 || (!kv_n && !t->in.recompute))
			lay_layer(t, &t->layers[l], &c[JL_BLOCK_ACT]);
		else /* buffers exist once for all layers; a decoder keeps k and v of each layer, a training with recomputation each layer's input */
			t->layers[l] = t->layers[0];
		if (l > 0 && t->in.recompute)
			t->layers[l].x_in = take(&c[JL_BLOCK_ACT], t->n_rows * s->hidden, t->engine->elem_B);
		t->layers[l].keys = take(&c[JL_BLOCK_KV], kv_n, t->engine->elem_B);
		t->layers[l].values = take(&c[JL_BLOCK_KV], kv_n, t->engine->elem_B);
	}
	lay_work(t, &c[JL_BLOCK_WORK]);
}

/* int8 or fp8 decoder: moves the weights of products to separate 1-byte storage; a tied token table exists in both formats. */
static void split_narrow(struct jl_trainer *t)
{
	struct jl_train_shape *s = &t->shape;
	struct jl_tensor_place *logits = &s->weights[JL_W_LOGITS];
	memset(s->unit_n, 0, sizeof s->unit_n);
	if (s->tied)
		*logits = s->weights[JL_W_TOKENS];
	for (int w = 0; w < JL_N_TENSOR; w++) {
		struct jl_tensor_place *p = &s->weights[w];
		p->narrow = w == JL_W_LOGITS || w == JL_W_QKV || w == JL_W_OUT || w == JL_W_UP || w == JL_W_DOWN;
		size_t *n = p->narrow ? &t->narrow_n[p->unit] : &s->unit_n[p->unit];
		p->at = *n;
		p->scale_at = t->scales_n[p->unit];
		*n += (p->rows * p->cols + JL_TRAIN_ALIGN - 1) / JL_TRAIN_ALIGN * JL_TRAIN_ALIGN;
		t->scales_n[p->unit] += !p->narrow   ? 0
					: t->in.int8 ? p->rows
						     : sizeof(struct jl_fp8_scale) / sizeof(float);
	}
}

static void set_up(struct jl_trainer *t, struct jl_engine *engine, const struct jl_trainer_in *in)
{
	*t = (struct jl_trainer){ .engine = engine, .k = engine->k, .shape = *in->shape, .in = *in };
	t->n_ranks = in->comm ? in->comm->n_ranks : 1;
	t->rank = in->comm ? in->comm->rank : 0;
	t->mode = t->n_ranks > 1 ? in->mode : JL_TRAIN_DDP;
	t->n_rows = in->n_samples * in->seq;
	t->n_inputs = in->shape->patches ? in->n_samples * in->shape->patches : t->n_rows;
	t->n_targets = in->shape->patches ? in->n_samples : t->n_rows;
	if (in->int8 || is_fp8_decoder(t))
		split_narrow(t);
}

struct jl_trainer_memory jl_trainer_memory(struct jl_engine *engine, const struct jl_trainer_in *in)
{
	struct jl_trainer t;
	struct jl_unit units[JL_TRAIN_UNITS_MAX];
	struct jl_layer_acts layers[JL_TRAIN_UNITS_MAX];
	struct carve c[JL_N_BLOCK] = { 0 };
	memset(layers, 0, sizeof layers);
	set_up(&t, engine, in);
	t.units = units;
	t.layers = layers;
	lay_out(&t, c);
	struct jl_trainer_memory memory = { .param_B = (double)c[JL_BLOCK_PARAM].used_B,
					    .grad_B = (double)c[JL_BLOCK_GRAD].used_B,
					    .optim_B = (double)c[JL_BLOCK_OPTIM].used_B,
					    .unit_B = (double)c[JL_BLOCK_UNIT].used_B,
					    .act_B = (double)c[JL_BLOCK_ACT].used_B,
					    .work_B = (double)c[JL_BLOCK_WORK].used_B,
					    .kv_B = (double)c[JL_BLOCK_KV].used_B };
	for (size_t i = 0; i < JL_N_BLOCK; i++)
		memory.total_B += (double)c[i].used_B;
	return memory;
}

static enum jl_status allocate(struct jl_trainer *t, struct jl_err *err)
{
	struct carve count[JL_N_BLOCK] = { 0 }, real[JL_N_BLOCK] = { 0 };
	lay_out(t, count);
	for (size_t i = 0; i < JL_N_BLOCK; i++) {
		struct jl_block *block = &t->blocks[i];
		bool sent = i == JL_BLOCK_PARAM ? t->mode != JL_TRAIN_DDP : i == JL_BLOCK_GRAD || i == JL_BLOCK_UNIT;
		void *memory = NULL;
		if (count[i].used_B == 0)
			continue;
		*block = (struct jl_block){ .size_B = count[i].used_B,
					    .mem = sent && t->n_ranks > 1 ? JL_MEM_COMM : JL_MEM_PLAIN };
		JL_TRY(t->k->alloc(t->engine, block->size_B, block->mem, &memory, err));
		block->memory = real[i].memory = memory;
	}
	lay_out(t, real);
	return JL_OK;
}

/* Creates first values of a range of a unit with all threads. */
struct fill {
	const struct jl_trainer *t;
	struct jl_pool *pool;
	float *values;
	size_t unit, begin, n;
	char *whole; /* fp8 decoder: one whole tensor, until its scale is known */
	size_t whole_B;
};

static void fill_piece(void *ctx, size_t index, int thread)
{
	const struct fill *f = ctx;
	size_t at = index * INIT_PIECE, n = f->n - at < INIT_PIECE ? f->n - at : INIT_PIECE;
	(void)thread;
	jl_train_init(f->t->in.shape, f->t->in.seed, f->unit, f->begin + at, n, f->values + at);
}

static void fill(struct fill *f, size_t unit, size_t begin, size_t n, void *to)
{
	f->unit = unit;
	f->begin = begin;
	f->n = n;
	jl_pool_run(f->pool, fill_piece, f, (n + INIT_PIECE - 1) / INIT_PIECE);
	f->t->k->from_host(f->t->engine, to, f->values, n * sizeof *f->values);
}

/* Creates one tensor of a decoder, some rows at a time. */
static void init_tensor(struct jl_trainer *t, size_t u, int w, struct fill *f, void *staged)
{
	const struct jl_tensor_place *to = &t->shape.weights[w],
				     *from = &t->in.shape->weights[w == JL_W_LOGITS && t->shape.tied ? JL_W_TOKENS : w];
	struct jl_unit *unit = &t->units[u];
	size_t each = INIT_CHUNK / to->cols;
	for (size_t row = 0; row < to->rows; row += each) {
		size_t n_rows = to->rows - row < each ? to->rows - row : each, n = n_rows * to->cols,
		       at = row * to->cols;
		fill(f, u, from->at + at, n, staged);
		if (to->narrow && !f->whole)
			t->k->int8_from_float(t->engine,
					      &(struct jl_eng_int8){ .n_rows = n_rows,
								     .width = to->cols,
								     .from = staged,
								     .to = (int8_t *)unit->narrow + to->at + at,
								     .scales = unit->scales + to->scale_at + row });
		else
			t->k->elem_from_float(t->engine,
					      (to->narrow ? f->whole : unit->param + to->at * t->engine->elem_B) +
						      at * t->engine->elem_B,
					      staged, n);
	}
	if (to->narrow && f->whole)
		t->k->fp8(t->engine,
			  &(struct jl_eng_fp8){ .n_rows = to->rows,
						.width = to->cols,
						.from = f->whole,
						.to = unit->narrow + to->at,
						.scale = (struct jl_fp8_scale *)(unit->scales + to->scale_at),
						.first = true },
			  1);
}

/* Each worker initialises the parameters that it stores: all, or its shard. */
static enum jl_status init_weights(struct jl_trainer *t, struct jl_err *err)
{
	struct fill f = { .t = t, .values = jl_realloc(NULL, INIT_CHUNK * sizeof *f.values) };
	void *staged = NULL;
	enum jl_status status = f.values ? jl_pool_create(t->engine->n_threads, &f.pool, err) : jl_fail_nomem(err);
	JL_THEN(status, t->k->alloc(t->engine, INIT_CHUNK * sizeof *f.values, JL_MEM_PLAIN, &staged, err));
	for (int w = 0; is_fp8_decoder(t) && w < JL_N_TENSOR; w++) {
		const struct jl_tensor_place *p = &t->shape.weights[w];
		size_t size_B = p->narrow ? p->rows * p->cols * t->engine->elem_B : 0;
		f.whole_B = size_B > f.whole_B ? size_B : f.whole_B;
	}
	if (f.whole_B)
		JL_THEN(status, t->k->alloc(t->engine, f.whole_B, JL_MEM_PLAIN, (void **)&f.whole, err));
	for (size_t u = 0; status == JL_OK && u < t->shape.n_units; u++) {
		struct jl_unit *unit = &t->units[u];
		for (int w = 0; t->in.max_tokens && w < JL_N_TENSOR; w++)
			if (t->shape.weights[w].rows && t->shape.weights[w].unit == jl_train_unit_kind(&t->shape, u))
				init_tensor(t, u, w, &f, staged);
		bool part = t->mode == JL_TRAIN_ZERO3;
		char *to = part ? unit->param_shard : unit->param;
		size_t first = part ? unit->shard_at : 0, n_all = t->in.max_tokens ? 0 : part ? unit->shard_n : unit->n;
		for (size_t at = 0; at < n_all; at += INIT_CHUNK) {
			size_t n = n_all - at < INIT_CHUNK ? n_all - at : INIT_CHUNK;
			fill(&f, u, first + at, n, staged);
			t->k->elem_from_float(t->engine, to + at * t->engine->elem_B, staged, n);
		}
		for (size_t at = 0; unit->master && at < unit->shard_n; at += INIT_CHUNK)
			fill(&f, u, unit->shard_at + at,
			     unit->shard_n - at < INIT_CHUNK ? unit->shard_n - at : INIT_CHUNK, unit->master + at);
		status = t->k->sync(t->engine, err);
	}
	if (f.whole)
		t->k->free(t->engine, f.whole, f.whole_B, JL_MEM_PLAIN);
	if (staged)
		t->k->free(t->engine, staged, INIT_CHUNK * sizeof *f.values, JL_MEM_PLAIN);
	jl_pool_destroy(f.pool);
	jl_free(f.values);
	return status;
}

/* cuBLASLt multiplies fp8 only if every dimension is a multiple of 16. */
static enum jl_status check_fp8(const struct jl_trainer_in *in, struct jl_err *err)
{
	for (size_t i = 0; i < JL_N_LINEAR; i++) {
		const struct jl_tensor_place *w = &in->shape->weights[jl_train_linears[i]];
		if (w->rows % 16 || w->cols % 16)
			return jl_fail(
				err, JL_E_RANGE,
				"fp8 needs linear layers whose sides are multiples of 16; %s has one of %zu × %zu",
				in->shape->id, w->rows, w->cols);
	}
	if (!in->max_tokens && in->n_samples * in->seq % 16)
		return jl_fail(err, JL_E_RANGE,
			       "fp8 needs a multiple of 16 tokens in a micro-batch: %zu samples of %zu are %zu",
			       in->n_samples, in->seq, in->n_samples * in->seq);
	return JL_OK;
}

enum jl_status jl_trainer_check_images(const struct jl_trainer_in *in, enum jl_train_precision precision,
				       struct jl_err *err)
{
	const struct jl_train_shape *s = in->shape;
	if (s->patches && (in->max_tokens || precision == JL_TRAIN_FP8))
		return jl_fail(err, JL_E_RANGE, "%s takes images: only training is supported, in fp32, tf32 or bf16",
			       s->id);
	if (s->patches && in->seq != s->n_positions)
		return jl_fail(err, JL_E_RANGE, "sequence %zu: images of %s have %zu tokens", in->seq, s->id,
			       s->n_positions);
	return JL_OK;
}

enum jl_status jl_trainer_check(const struct jl_engine *engine, const struct jl_trainer_in *in, struct jl_err *err)
{
	size_t longest = in->max_tokens > in->seq ? in->max_tokens : in->seq;
	JL_TRY(jl_trainer_check_images(in, engine->precision, err));
	if (in->shape->n_positions && longest > in->shape->n_positions)
		return jl_fail(err, JL_E_RANGE, "sequence %zu is longer than the %zu positions that %s has", longest,
			       in->shape->n_positions, in->shape->id);
	if (in->int8 && !engine->k->int8_from_float)
		return jl_fail(err, JL_E_ABSENT, "the %s engine has no products with int8 weights", engine->k->name);
	if (!engine->k->supports_head_dim(in->shape->head_dim))
		return jl_fail(err, JL_E_RANGE, "the %s engine has no attention for heads of %zu", engine->k->name,
			       in->shape->head_dim);
	return engine->precision == JL_TRAIN_FP8 ? check_fp8(in, err) : JL_OK;
}

enum jl_status jl_trainer_create(struct jl_engine *engine, const struct jl_trainer_in *in,
				 struct jl_trainer **ret_trainer, struct jl_err *err)
{
	JL_TRY(jl_trainer_check(engine, in, err));
	struct jl_trainer *t = jl_realloc(NULL, sizeof *t);
	JL_TRY(jl_got(t, err));
	set_up(t, engine, in);
	t->units = jl_realloc(NULL, t->shape.n_units * sizeof *t->units);
	t->layers = jl_realloc(NULL, t->shape.n_layers * sizeof *t->layers);
	t->host_loss = jl_realloc(NULL, t->n_rows * in->n_micro * sizeof *t->host_loss);
	if (t->layers)
		memset(t->layers, 0, t->shape.n_layers * sizeof *t->layers);
	enum jl_status status = t->units && t->layers && t->host_loss ? JL_OK : jl_fail_nomem(err);
	JL_THEN(status, allocate(t, err));
	JL_THEN(status, init_weights(t, err));
	if (in->shape->patches)
		JL_THEN(status, jl_vit_fill(t, err));
	if (status) {
		jl_trainer_destroy(t);
		return status;
	}
	*ret_trainer = t;
	return JL_OK;
}

void jl_trainer_forget(struct jl_trainer *t)
{
	for (size_t i = 0; i < 2; i++) {
		if (t->graphs[i])
			t->k->graph_free(t->engine, t->graphs[i]);
		t->graphs[i] = NULL;
		t->n_queued[i] = 0;
	}
}

void jl_trainer_destroy(struct jl_trainer *t)
{
	if (!t)
		return;
	jl_trainer_forget(t);
	for (size_t i = JL_N_BLOCK; i-- > 0;)
		if (t->blocks[i].memory)
			t->k->free(t->engine, t->blocks[i].memory, t->blocks[i].size_B, t->blocks[i].mem);
	jl_free(t->units);
	jl_free(t->layers);
	jl_free(t->host_loss);
	jl_free(t);
}

void *jl_trainer_at(const struct jl_trainer *t, const struct jl_unit *unit, enum jl_tensor weight)
{
	const struct jl_tensor_place *p = &t->shape.weights[weight];
	if (p->narrow)
		return unit->narrow + p->at;
	return p->rows ? unit->param + p->at * t->engine->elem_B : NULL;
}

void *jl_trainer_grad(const struct jl_trainer *t, const struct jl_unit *unit, enum jl_tensor weight)
{
	const struct jl_tensor_place *p = &t->shape.weights[weight];
	return p->rows ? unit->grad + p->at * t->engine->grad_B : NULL;
}
