/* Launches of the smaller kernels: activations, embedding, loss, sums, optimizer. */
#include <math.h>

#include "train/cuda_engine.h"

static struct jl_gpu_grid for_each(const struct cuda_engine *e, size_t n)
{
	return (struct jl_gpu_grid){ .x = jl_cuda_blocks(e, n), .n_threads = 256 };
}

static struct jl_gpu_grid for_eights(size_t n_rows, size_t width)
{
	return (struct jl_gpu_grid){ .x = (unsigned)((width / 8 + 255) / 256),
				     .y = (unsigned)(n_rows < 65535 ? n_rows : 65535),
				     .n_threads = 256 };
}

void jl_cuda_gelu(struct jl_engine *engine, void *out, const void *in, size_t n)
{
	struct cuda_engine *e = cuda_of(engine);
	jl_cuda_launch(e, e->kernels[K_GELU], for_each(e, n / 8), (void *[]){ &out, &in, &n });
}

void jl_cuda_swiglu(struct jl_engine *engine, void *out, const void *gate_up, size_t n_rows, size_t width)
{
	struct cuda_engine *e = cuda_of(engine);
	jl_cuda_launch(e, e->kernels[K_SWIGLU], for_eights(n_rows, width),
		       (void *[]){ &out, &gate_up, &n_rows, &width });
}

void jl_cuda_swiglu_bwd(struct jl_engine *engine, void *d_gate_up, const void *gate_up, const void *d_out,
			size_t n_rows, size_t width)
{
	struct cuda_engine *e = cuda_of(engine);
	jl_cuda_launch(e, e->kernels[K_SWIGLU_BWD], for_eights(n_rows, width),
		       (void *[]){ &d_gate_up, &gate_up, &d_out, &n_rows, &width });
}

void jl_cuda_rope(struct cuda_engine *e, const void *qkv, const struct jl_eng_attn *s, float sign)
{
	size_t n_rows = s->n_samples * s->seq;
	int seq = (int)s->seq, n_rotated = (int)(s->n_heads + s->n_kv), n_all = (int)(s->n_heads + 2 * s->n_kv);
	int dim = (int)s->head_dim;
	float theta = (float)s->rope_theta;
	/* one block per row: a thread rotates eight pairs of eight heads */
	const unsigned n_threads = (unsigned)(n_rotated + 7) / 8 * (unsigned)dim / 16;
	jl_cuda_launch(e, e->kernels[K_ROPE],
		       (struct jl_gpu_grid){ .x = (unsigned)n_rows, .n_threads = n_threads > 256 ? 256 : n_threads },
		       (void *[]){ &qkv, &n_rows, &seq, &n_rotated, &n_all, &dim, &theta, &sign });
}

void jl_cuda_embed(struct jl_engine *engine, const struct jl_eng_embed *op)
{
	struct cuda_engine *e = cuda_of(engine);
	struct jl_eng_embed o = *op;
	jl_cuda_launch(e, e->kernels[K_EMBED], for_each(e, o.n_rows * o.width / 8),
		       (void *[]){ &o.tokens, &o.at, &o.table, &o.positions, &o.out, &o.n_rows, &o.seq, &o.width });
}

void jl_cuda_embed_bwd(struct jl_engine *engine, const struct jl_eng_embed_bwd *op)
{
	struct cuda_engine *e = cuda_of(engine);
	struct jl_eng_embed_bwd o = *op;
	int n_rows = (int)o.n_rows, width = (int)o.width, seq = (int)o.seq, n_samples = n_rows / seq;
	int accumulate = o.accumulate;
	int vocab = (int)o.vocab;
	if (o.table_grad) {
		uint64_t sorted = jl_cuda_partials(e, 1, o.n_rows + o.vocab + 1);
		uint64_t offsets = sorted + o.n_rows * sizeof(int);
		jl_cuda_launch(e, e->kernels[K_EMBED_SORT],
			       (struct jl_gpu_grid){ .x = (unsigned)((o.vocab + 31) / 32), .n_threads = 256 },
			       (void *[]){ &o.tokens, &sorted, &offsets, &n_rows, &vocab });
		jl_cuda_launch(e, e->kernels[K_EMBED_BWD],
			       (struct jl_gpu_grid){ .x = (unsigned)((o.vocab + 7) / 8), .n_threads = 256 },
			       (void *[]){ &sorted, &offsets, &o.d_out, &o.table_grad, &vocab, &width });
	}
	if (o.position_grad)
		jl_cuda_launch(e, e->kernels[K_POSITION_BWD],
			       (struct jl_gpu_grid){ .x = (unsigned)seq, .n_threads = 256 },
			       (void *[]){ &o.d_out, &o.position_grad, &n_samples, &seq, &width, &accumulate });
}

void jl_cuda_loss(struct jl_engine *engine, const struct jl_eng_loss *op)
{
	struct cuda_engine *e = cuda_of(engine);
	struct jl_eng_loss o = *op;
	int vocab = (int)o.vocab, ld = (int)o.ld;
	float scale = (float)o.scale;
	jl_cuda_launch(e, e->kernels[K_LOSS], (struct jl_gpu_grid){ .x = (unsigned)o.n_rows, .n_threads = 512 },
		       (void *[]){ &o.logits, &o.targets, &o.loss, &vocab, &ld, &scale });
}

void jl_cuda_grad_norm_sq(struct jl_engine *engine, float *ret_sum, const void *grad, size_t n, bool accumulate)
{
	struct cuda_engine *e = cuda_of(engine);
	struct jl_gpu_grid grid = for_each(e, n / 8);
	if (grid.x > CUDA_PARTIALS_MAX)
		grid.x = CUDA_PARTIALS_MAX;
	uint64_t partials = jl_cuda_partials(e, CUDA_PARTIALS_MAX, 1);
	int n_partials = (int)grid.x, add = accumulate;
	jl_cuda_launch(e, e->kernels[K_NORM_SQ], grid, (void *[]){ &grad, &n, &e->scalars, &partials });
	jl_cuda_launch(e, e->kernels[K_NORM_SQ_END], (struct jl_gpu_grid){ .x = 1, .n_threads = 256 },
		       (void *[]){ &partials, &n_partials, &ret_sum, &add });
}

void jl_cuda_grad_add(struct jl_engine *engine, void *sum, const void *grad, size_t n)
{
	struct cuda_engine *e = cuda_of(engine);
	jl_cuda_launch(e, e->kernels[K_GRAD_ADD], for_each(e, n), (void *[]){ &sum, &grad, &n });
}

void jl_cuda_set_scalars(struct jl_engine *engine, const struct jl_eng_scalars *s)
{
	struct cuda_engine *e = cuda_of(engine);
	struct cuda_scalars to = {
		.lr = (float)s->lr,
		.beta1 = (float)s->beta1,
		.beta2 = (float)s->beta2,
		.eps = (float)s->eps,
		.weight_decay = (float)s->weight_decay,
		.clip = (float)s->clip,
		.grad_mul = (float)s->grad_mul,
		.correct1 = (float)(1.0 / (1.0 - pow(s->beta1, (double)s->step))),
		.correct2 = (float)(1.0 / sqrt(1.0 - pow(s->beta2, (double)s->step))),
	};
	engine->k->from_host(engine, (void *)(uintptr_t)e->scalars, &to, sizeof to);
}

void jl_cuda_adamw(struct jl_engine *engine, const struct jl_eng_adamw *op)
{
	struct cuda_engine *e = cuda_of(engine);
	struct jl_eng_adamw o = *op;
	unsigned blocks = (unsigned)((o.n / 4 + 255) / 256);
	jl_cuda_launch(e, e->kernels[K_ADAMW], (struct jl_gpu_grid){ .x = blocks ? blocks : 1, .n_threads = 256 },
		       (void *[]){ &o.param, &o.master, &o.m, &o.v, &o.grad, &e->scalars, &o.norm_sq, &o.n });
}

void jl_cuda_elem_from_float(struct jl_engine *engine, void *to, const float *from, size_t n)
{
	struct cuda_engine *e = cuda_of(engine);
	if (engine->elem_B == sizeof(float))
		engine->k->copy(engine, to, from, n * sizeof(float));
	else
		jl_cuda_launch(e, e->kernels[K_TO_BF16], for_each(e, n), (void *[]){ &to, &from, &n });
}

void jl_cuda_grad_to_float(struct jl_engine *engine, float *to, const void *from, size_t n)
{
	struct cuda_engine *e = cuda_of(engine);
	if (engine->grad_B == sizeof(float))
		engine->k->copy(engine, to, from, n * sizeof(float));
	else
		jl_cuda_launch(e, e->kernels[K_FROM_BF16], for_each(e, n), (void *[]){ &to, &from, &n });
}
