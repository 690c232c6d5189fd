/* Every operator's backward against finite differences of its forward: L = sum(out·r) for a fixed random r. */
#include "models.h"

#include "train/shape.h"

#define STEP    1e-2
#define TOL     3e-4 /* of the largest gradient: single precision through a difference of two sums */
#define N_PICKS 60

static struct jl_engine *engine;

static int set_up(void **state)
{
	struct jl_err err = { 0 };
	(void)state;
	return jl_engine_cpu.create(&(struct jl_engine_in){ .n_threads = 2 }, &engine, &err) == JL_OK ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	jl_engine_cpu.destroy(engine);
	return 0;
}

static float *numbers(size_t n, uint64_t seed)
{
	float *x = malloc((n ? n : 1) * sizeof *x);
	assert_non_null(x);
	for (size_t i = 0; i < n; i++)
		x[i] = (float)((double)(jl_train_mix(jl_train_mix(seed) + i) >> 40) / 8388608.0 - 1.0);
	return x;
}

static double weighed(const float *out, const float *r, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (double)out[i] * (double)r[i];
	return sum;
}

/* The gradient of x[i] as the difference of two losses, `step` up and down. */
static double slope(float *x, size_t i, double step, double (*loss)(void *), void *ctx)
{
	const float kept = x[i];

	x[i] = (float)((double)kept + step);
	const double up = loss(ctx), high = (double)x[i];

	x[i] = (float)((double)kept - step);
	const double down = loss(ctx), low = (double)x[i];

	x[i] = kept;
	return (up - down) / (high - low);
}

/* Some elements of x are moved up and down, by a step and by two: sums round in the narrow difference, the loss bends in the wide one. */
static void check(const char *what, float *x, const float *grad, size_t n, double (*loss)(void *), void *ctx)
{
	double most = 0, worst = 0;
	for (size_t i = 0; i < n; i++)
		most = fabs((double)grad[i]) > most ? fabs((double)grad[i]) : most; /* gcc 12 trips over fmax here */
	assert_true(most > 0);
	for (size_t k = 0; k < N_PICKS && k < n; k++) {
		size_t i = n <= N_PICKS ? k : (size_t)(jl_train_mix(k + 77) % n);
		double narrow = fabs(slope(x, i, STEP, loss, ctx) - (double)grad[i]),
		       wide = fabs(slope(x, i, 2 * STEP, loss, ctx) - (double)grad[i]);
		double off = (narrow < wide ? narrow : wide) / most;
		worst = off > worst ? off : worst;
	}
	print_message("%-28s %.1e\n", what, worst);
	assert_true(worst < TOL);
}

/* --- linear layer: y = gelu(x·Wᵀ + b) or without gelu */

struct linear {
	size_t rows, n_in, n_out;
	bool gelu;
	float *x, *w, *b, *y, *pre, *r;
};

static double linear_loss(void *ctx)
{
	struct linear *c = ctx;
	engine->k->gemm(engine, &(struct jl_eng_gemm){ .m = c->rows,
						       .n = c->n_out,
						       .k = c->n_in,
						       .a = c->x,
						       .lda = c->n_in,
						       .b = c->w,
						       .ldb = c->n_in,
						       .tb = true,
						       .c = c->y,
						       .ldc = c->n_out,
						       .epilogue = c->gelu ? JL_EP_BIAS_GELU : JL_EP_BIAS,
						       .bias = c->b,
						       .aux = c->pre });
	return weighed(c->y, c->r, c->rows * c->n_out);
}

static void linear(void **state)
{
	struct linear c = { .rows = 37, .n_in = 45, .n_out = 300 };
	size_t n_y = c.rows * c.n_out, n_x = c.rows * c.n_in, n_w = c.n_in * c.n_out;
	(void)state;
	c.x = numbers(n_x, 1), c.w = numbers(n_w, 2), c.b = numbers(c.n_out, 3), c.y = numbers(n_y, 4),
	c.r = numbers(n_y, 5);
	float *dx = numbers(n_x, 6), *dw = numbers(n_w, 7), *db = numbers(c.n_out, 8), *before = numbers(n_w, 7);
	engine->k->gemm(engine, &(struct jl_eng_gemm){ .m = c.rows,
						       .n = c.n_in,
						       .k = c.n_out,
						       .a = c.r,
						       .lda = c.n_out,
						       .b = c.w,
						       .ldb = c.n_in,
						       .c = dx,
						       .ldc = c.n_in });
	struct jl_eng_gemm grad = { .m = c.n_out,
				    .n = c.n_in,
				    .k = c.rows,
				    .a = c.r,
				    .lda = c.n_out,
				    .ta = true,
				    .b = c.x,
				    .ldb = c.n_in,
				    .c = dw,
				    .ldc = c.n_in,
				    .c_is_grad = true,
				    .epilogue = JL_EP_BGRAD,
				    .bias_grad = db };
	engine->k->gemm(engine, &grad);
	check("linear dx", c.x, dx, n_x, linear_loss, &c);
	check("linear dw", c.w, dw, n_w, linear_loss, &c);
	check("linear db", c.b, db, c.n_out, linear_loss, &c);
	/* accumulating adds the same once more */
	memcpy(before, dw, n_w * sizeof *dw);
	grad.accumulate = true;
	engine->k->gemm(engine, &grad);
	for (size_t i = 0; i < n_w; i++)
		assert_true(fabsf(dw[i] - 2 * before[i]) <= 1e-5f * (1 + fabsf(before[i])));
	free(c.x), free(c.w), free(c.b), free(c.y), free(c.r), free(dx), free(dw), free(db), free(before);
}

/* Products with int8 weights against a plain loop: one row, few, and so many that they are packed; sums that end within a vector. */
static void linear_int8(void **state)
{
	const struct {
		size_t rows, n_in;
	} cases[] = { { 1, 64 }, { 1, 15 }, { 3, 77 }, { 5, 48 }, { 16, 93 }, { 37, 77 } };
	enum { N_OUT = 71 };
	(void)state;
	for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
		const size_t m = cases[at].rows, k = cases[at].n_in;
		float *x = numbers(m * k, 1), *w = numbers(N_OUT * k, 2), *y = numbers(m * N_OUT, 3), scales[N_OUT];
		int8_t *narrow = malloc(N_OUT * k);
		assert_non_null(narrow);
		engine->k->int8_from_float(
			engine, &(struct jl_eng_int8){
					.n_rows = N_OUT, .width = k, .from = w, .to = narrow, .scales = scales });
		engine->k->gemm(engine, &(struct jl_eng_gemm){ .m = m,
							       .n = N_OUT,
							       .k = k,
							       .a = x,
							       .lda = k,
							       .b = narrow,
							       .ldb = k,
							       .b_scale = scales,
							       .tb = true,
							       .c = y,
							       .ldc = N_OUT });
		for (size_t i = 0; i < m * N_OUT; i++) {
			const float *row = x + i / N_OUT * k;
			const int8_t *weights = narrow + i % N_OUT * k;
			double sum = 0, size = 0;
			for (size_t j = 0; j < k; j++) {
				double product = (double)row[j] * weights[j] * (double)scales[i % N_OUT];
				sum += product, size += fabs(product);
			}
			assert_true(fabs((double)y[i] - sum) <= 1e-6 * size);
		}
		free(x), free(w), free(y), free(narrow);
	}
}

/* y = gelu(h), h = x·Wᵀ + b; then z = y·Vᵀ: DGELU gives the gradient of h from that of z */
struct mlp {
	struct linear up;
	size_t n_z;
	float *v, *z, *rz;
};

static double mlp_loss(void *ctx)
{
	struct mlp *c = ctx;
	(void)linear_loss(&c->up);
	engine->k->gemm(engine, &(struct jl_eng_gemm){ .m = c->up.rows,
						       .n = c->n_z,
						       .k = c->up.n_out,
						       .a = c->up.y,
						       .lda = c->up.n_out,
						       .b = c->v,
						       .ldb = c->up.n_out,
						       .tb = true,
						       .c = c->z,
						       .ldc = c->n_z });
	return weighed(c->z, c->rz, c->up.rows * c->n_z);
}

static void gelu(void **state)
{
	struct mlp c = { .up = { .rows = 21, .n_in = 30, .n_out = 77, .gelu = true }, .n_z = 40 };
	struct linear *u = &c.up;
	size_t n_y = u->rows * u->n_out, n_v = c.n_z * u->n_out, n_zs = u->rows * c.n_z;
	(void)state;
	u->x = numbers(u->rows * u->n_in, 1), u->w = numbers(u->n_out * u->n_in, 2), u->b = numbers(u->n_out, 3);
	u->y = numbers(n_y, 4), u->pre = numbers(n_y, 4), u->r = numbers(n_y, 5);
	c.v = numbers(n_v, 6), c.z = numbers(n_zs, 7), c.rz = numbers(n_zs, 8);
	float *dh = numbers(n_y, 9), *dx = numbers(u->rows * u->n_in, 10), *again = numbers(n_y, 11);
	(void)mlp_loss(&c);
	engine->k->gelu(engine, again, u->pre, n_y);
	assert_memory_equal(again, u->y, n_y * sizeof *again);
	engine->k->gemm(engine, &(struct jl_eng_gemm){ .m = u->rows,
						       .n = u->n_out,
						       .k = c.n_z,
						       .a = c.rz,
						       .lda = c.n_z,
						       .b = c.v,
						       .ldb = u->n_out,
						       .c = dh,
						       .ldc = u->n_out,
						       .epilogue = JL_EP_DGELU,
						       .aux = u->pre });
	engine->k->gemm(engine, &(struct jl_eng_gemm){ .m = u->rows,
						       .n = u->n_in,
						       .k = u->n_out,
						       .a = dh,
						       .lda = u->n_out,
						       .b = u->w,
						       .ldb = u->n_in,
						       .c = dx,
						       .ldc = u->n_in });
	check("gelu dx", u->x, dx, u->rows * u->n_in, mlp_loss, &c);
	for (size_t i = 0; i < n_y; i++) { /* against the formula in double */
		double x = (double)u->pre[i], t = tanh(0.79788456080286536 * (x + 0.044715 * x * x * x));
		assert_true(fabs((double)u->y[i] - 0.5 * x * (1 + t)) < 2e-6);
	}
	free(u->x), free(u->w), free(u->b), free(u->y), free(u->pre), free(u->r), free(c.v), free(c.z), free(c.rz);
	free(dh), free(dx), free(again);
}

/* --- norms, with the residual sum */

struct norm {
	bool rms;
	size_t rows, width;
	float *residual, *branch, *sum, *out, *weight, *bias, *mean, *rstd, *r;
};

static double norm_loss(void *ctx)
{
	struct norm *c = ctx;
	engine->k->norm(engine, &(struct jl_eng_norm){ .rms = c->rms,
						       .eps = 1e-5,
						       .n_rows = c->rows,
						       .width = c->width,
						       .residual = c->residual,
						       .branch = c->branch,
						       .residual_out = c->sum,
						       .out = c->out,
						       .weight = c->weight,
						       .bias = c->rms ? NULL : c->bias,
						       .mean = c->mean,
						       .rstd = c->rstd });
	return weighed(c->out, c->r, c->rows * c->width);
}

static void norm_of(bool rms)
{
	struct norm c = { .rms = rms, .rows = 19, .width = 83 };
	size_t n = c.rows * c.width;
	c.residual = numbers(n, 1), c.branch = numbers(n, 2), c.sum = numbers(n, 3), c.out = numbers(n, 4),
	c.r = numbers(n, 5);
	c.weight = numbers(c.width, 6), c.bias = numbers(c.width, 7), c.mean = numbers(c.rows, 8),
	c.rstd = numbers(c.rows, 9);
	float *dx = numbers(n, 10), *dw = numbers(c.width, 11), *db = numbers(c.width, 12), *again = numbers(n, 13),
	      *sums = numbers(c.width, 14);
	(void)norm_loss(&c);
	engine->k->norm_bwd(engine, &(struct jl_eng_norm_bwd){ .rms = rms,
							       .d_residual_fresh = true,
							       .n_rows = c.rows,
							       .width = c.width,
							       .d_out = c.r,
							       .input = c.sum,
							       .weight = c.weight,
							       .mean = c.mean,
							       .rstd = c.rstd,
							       .d_residual = dx,
							       .weight_grad = dw,
							       .bias_grad = rms ? NULL : db,
							       .residual_sums = sums,
							       .recompute_bias = rms ? NULL : c.bias,
							       .recompute_out = again });
	assert_memory_equal(again, c.out, n * sizeof *again);
	for (size_t j = 0; j < c.width; j++) {
		double sum = 0;
		for (size_t i = 0; i < c.rows; i++)
			sum += dx[i * c.width + j];
		assert_float_equal(sums[j], sum, 1e-4);
	}
	check(rms ? "rmsnorm dx" : "layernorm dx", c.residual, dx, n, norm_loss, &c);
	check(rms ? "rmsnorm dx (branch)" : "layernorm dx (branch)", c.branch, dx, n, norm_loss, &c);
	check(rms ? "rmsnorm dw" : "layernorm dw", c.weight, dw, c.width, norm_loss, &c);
	if (!rms)
		check("layernorm db", c.bias, db, c.width, norm_loss, &c);
	free(c.residual), free(c.branch), free(c.sum), free(c.out), free(c.r), free(c.weight), free(c.bias),
		free(c.mean);
	free(c.rstd), free(dx), free(dw), free(db), free(again), free(sums);
}

static void norms(void **state)
{
	(void)state;
	norm_of(false);
	norm_of(true);
}

/* --- attention */

struct attn {
	struct jl_eng_attn op;
	float *qkv, *work, *out, *r;
	size_t n_qkv, n_out;
};

static double attn_loss(void *ctx)
{
	struct attn *c = ctx;
	memcpy(c->work, c->qkv, c->n_qkv * sizeof *c->work); /* rotation happens in place */
	engine->k->attn(engine, &c->op);
	return weighed(c->out, c->r, c->n_out);
}

static void attn_of(const char *what, bool causal, size_t seq, size_t n_heads, size_t n_kv, size_t dim, double theta)
{
	size_t n_samples = 2, rows = n_samples * seq;
	struct attn c = { .n_qkv = rows * (n_heads + 2 * n_kv) * dim, .n_out = rows * n_heads * dim };
	c.qkv = numbers(c.n_qkv, 1), c.work = numbers(c.n_qkv, 2), c.out = numbers(c.n_out, 3),
	c.r = numbers(c.n_out, 4);
	float *lse = numbers(rows * n_heads, 5), *d_qkv = numbers(c.n_qkv, 6);
	c.op = (struct jl_eng_attn){ .n_samples = n_samples,
				     .seq = seq,
				     .n_heads = n_heads,
				     .n_kv = n_kv,
				     .head_dim = dim,
				     .rope_theta = theta,
				     .causal = causal,
				     .qkv = c.work,
				     .out = c.out,
				     .lse = lse,
				     .d_out = c.r,
				     .d_qkv = d_qkv };
	(void)attn_loss(&c);
	engine->k->attn_bwd(engine, &c.op);
	check(what, c.qkv, d_qkv, c.n_qkv, attn_loss, &c);
	free(c.qkv), free(c.work), free(c.out), free(c.r), free(lse), free(d_qkv);
}

/* All keys, written out: one query after another. */
static void attn_plainly(const struct jl_eng_attn *op, float *out)
{
	size_t dim = op->head_dim, width = 3 * op->n_heads * dim, seq = op->seq;
	const float *qkv = op->qkv;
	double *p = malloc(seq * sizeof *p);
	assert_non_null(p);
	for (size_t row = 0; row < op->n_samples * seq; row++)
		for (size_t h = 0; h < op->n_heads; h++) {
			const float *q = qkv + row * width + h * dim,
				    *k = qkv + row / seq * seq * width + (op->n_heads + h) * dim;
			double sum = 0;
			for (size_t j = 0; j < seq; j++) {
				double s = 0;
				for (size_t d = 0; d < dim; d++)
					s += (double)q[d] * (double)k[j * width + d];
				sum += p[j] = exp(s / sqrt((double)dim));
			}
			for (size_t d = 0; d < dim; d++) {
				double v = 0;
				for (size_t j = 0; j < seq; j++)
					v += p[j] / sum * (double)k[j * width + op->n_heads * dim + d];
				out[(row * op->n_heads + h) * dim + d] = (float)v;
			}
		}
	free(p);
}

static void attention_to_all(void **state)
{
	static const size_t lengths[] = { 1, 5, 64, 65, 197 };
	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		size_t seq = lengths[i], n = 2 * seq * 2 * 16;
		float *qkv = numbers(3 * n, 1), *out = numbers(n, 2), *wanted = numbers(n, 3),
		      *lse = numbers(4 * seq, 4);
		const struct jl_eng_attn op = { .n_samples = 2,
						.seq = seq,
						.n_heads = 2,
						.n_kv = 2,
						.head_dim = 16,
						.qkv = qkv,
						.out = out,
						.lse = lse };
		engine->k->attn(engine, &op);
		attn_plainly(&op, wanted);
		for (size_t j = 0; j < n; j++)
			assert_true(fabs((double)out[j] - (double)wanted[j]) < 1e-5);
		free(qkv), free(out), free(wanted), free(lse);
	}
}

static void attention(void **state)
{
	(void)state;
	attn_of("attention", true, 9, 3, 3, 8, 0);
	attn_of("attention, two tiles", true, 150, 2, 2, 16, 0);
	attn_of("attention, grouped", true, 21, 4, 2, 8, 0);
	attn_of("attention, rotary", true, 21, 2, 2, 8, 10000);
	attn_of("attention, one kv head, rotary", true, 131, 4, 1, 6, 500);
	attn_of("attention to all", false, 9, 3, 3, 8, 0);
	attn_of("attention to all, tiles, grouped", false, 150, 4, 2, 16, 0);
}

/* --- swiglu, embedding, loss */

struct glu {
	size_t rows, width;
	float *in, *out, *r;
};

static double glu_loss(void *ctx)
{
	struct glu *c = ctx;
	engine->k->swiglu(engine, c->out, c->in, c->rows, c->width);
	return weighed(c->out, c->r, c->rows * c->width);
}

static void swiglu(void **state)
{
	struct glu c = { .rows = 13, .width = 29 };
	size_t n = c.rows * c.width;
	(void)state;
	c.in = numbers(2 * n, 1), c.out = numbers(n, 2), c.r = numbers(n, 3);
	float *d = numbers(2 * n, 4), *place = numbers(2 * n, 1);
	engine->k->swiglu_bwd(engine, d, c.in, c.r, c.rows, c.width);
	check("swiglu", c.in, d, 2 * n, glu_loss, &c);
	engine->k->swiglu_bwd(engine, place, place, c.r, c.rows, c.width); /* in place */
	assert_memory_equal(place, d, 2 * n * sizeof *d);
	free(c.in), free(c.out), free(c.r), free(d), free(place);
}

struct embed {
	size_t rows, seq, width;
	int32_t tokens[24];
	float *table, *positions, *out, *r;
};

static double embed_loss(void *ctx)
{
	struct embed *c = ctx;
	engine->k->embed(engine, &(struct jl_eng_embed){ .n_rows = c->rows,
							 .seq = c->seq,
							 .width = c->width,
							 .tokens = c->tokens,
							 .table = c->table,
							 .positions = c->positions,
							 .out = c->out });
	return weighed(c->out, c->r, c->rows * c->width);
}

static void embedding(void **state)
{
	struct embed c = { .rows = 24, .seq = 8, .width = 37 };
	size_t vocab = 11, n = c.rows * c.width;
	(void)state;
	for (size_t i = 0; i < c.rows; i++)
		c.tokens[i] = (int32_t)(jl_train_mix(i) % vocab);
	c.table = numbers(vocab * c.width, 1), c.positions = numbers(c.seq * c.width, 2), c.out = numbers(n, 3),
	c.r = numbers(n, 4);
	float *dt = numbers(vocab * c.width, 5), *dp = numbers(c.seq * c.width, 6);
	memset(dt, 0, vocab * c.width * sizeof *dt);
	engine->k->embed_bwd(engine, &(struct jl_eng_embed_bwd){ .n_rows = c.rows,
								 .seq = c.seq,
								 .width = c.width,
								 .vocab = vocab,
								 .tokens = c.tokens,
								 .d_out = c.r,
								 .table_grad = dt,
								 .position_grad = dp });
	check("embedding tokens", c.table, dt, vocab * c.width, embed_loss, &c);
	check("embedding positions", c.positions, dp, c.seq * c.width, embed_loss, &c);
	free(c.table), free(c.positions), free(c.out), free(c.r), free(dt), free(dp);
}

struct loss {
	size_t rows, vocab, ld;
	int32_t targets[7];
	float *logits, *work, losses[7];
};

static double loss_loss(void *ctx)
{
	struct loss *c = ctx;
	double sum = 0;
	memcpy(c->work, c->logits, c->rows * c->ld * sizeof *c->work);
	engine->k->loss(engine, &(struct jl_eng_loss){ .n_rows = c->rows,
						       .vocab = c->vocab,
						       .ld = c->ld,
						       .logits = c->work,
						       .targets = c->targets,
						       .scale = 0.25,
						       .loss = c->losses });
	for (size_t i = 0; i < c->rows; i++)
		sum += 0.25 * (double)c->losses[i];
	return sum;
}

static void cross_entropy(void **state)
{
	struct loss c = { .rows = 7, .vocab = 101, .ld = 128, .targets = { 3, 100, 0, 50, -1, 7, 3 } };
	size_t n = c.rows * c.ld;
	(void)state;
	c.logits = numbers(n, 1), c.work = numbers(n, 2);
	(void)loss_loss(&c);
	float *d = numbers(n, 3);
	memcpy(d, c.work, n * sizeof *d);
	for (size_t row = 0; row < c.rows; row++)
		for (size_t j = c.vocab; j < c.ld; j++)
			assert_true(d[row * c.ld + j] == 0.0f);
	for (size_t j = 0; j < c.ld; j++)
		assert_true(d[4 * c.ld + j] == 0.0f); /* no target */
	check("cross-entropy", c.logits, d, n, loss_loss, &c);
	free(c.logits), free(c.work), free(d);
}

/* --- AdamW against its definition in double, and the norm that clips */

static void adamw(void **state)
{
	size_t n = 1003;
	float *w = numbers(n, 1), *g = numbers(n, 2), *m = numbers(n, 3), *v = numbers(n, 4), norm_sq = 0;
	double norm = 0;
	(void)state;
	for (size_t i = 0; i < n; i++) {
		v[i] = fabsf(v[i]);
		norm += (double)g[i] * (double)g[i];
	}
	struct jl_eng_scalars s = { .lr = 1e-2,
				    .beta1 = 0.9,
				    .beta2 = 0.95,
				    .eps = 1e-8,
				    .weight_decay = 0.1,
				    .clip = 1,
				    .grad_mul = 0.5,
				    .step = 3 };
	engine->k->set_scalars(engine, &s);
	engine->k->grad_norm_sq(engine, &norm_sq, g, n, false);
	assert_true(fabs((double)norm_sq / (0.25 * norm) - 1) < 1e-5);
	float *w0 = numbers(n, 1), *m0 = numbers(n, 3), *v0 = numbers(n, 4);
	engine->k->adamw(engine,
			 &(struct jl_eng_adamw){ .n = n, .param = w, .m = m, .v = v, .grad = g, .norm_sq = &norm_sq });
	double mul = s.grad_mul / sqrt(0.25 * norm);
	for (size_t i = 0; i < n; i++) {
		double gi = (double)g[i] * mul, mi = 0.9 * (double)m0[i] + 0.1 * gi,
		       vi = 0.95 * fabs((double)v0[i]) + 0.05 * gi * gi;
		double step = s.lr * (mi / (1 - pow(0.9, 3))) / (sqrt(vi / (1 - pow(0.95, 3))) + s.eps);
		assert_true(fabs((double)w[i] - ((double)w0[i] * (1 - s.lr * s.weight_decay) - step)) <
			    1e-5 * (1 + fabs(step)));
	}
	float *sum = numbers(n, 9), *more = numbers(n, 10);
	engine->k->grad_add(engine, sum, more, n);
	float *sum0 = numbers(n, 9);
	for (size_t i = 0; i < n; i++)
		assert_true(sum[i] == sum0[i] + more[i]);
	free(w), free(g), free(m), free(v), free(w0), free(m0), free(v0), free(sum), free(more), free(sum0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linear),
		cmocka_unit_test(gelu),
		cmocka_unit_test(norms),
		cmocka_unit_test(attention),
		cmocka_unit_test(attention_to_all),
		cmocka_unit_test(swiglu),
		cmocka_unit_test(embedding),
		cmocka_unit_test(cross_entropy),
		cmocka_unit_test(adamw),
		cmocka_unit_test(linear_int8),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
