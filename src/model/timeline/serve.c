/* Time and memory of one serving pass on one device. The queue of requests is in answers/serve. */
#include "timeline/serve.h"

#include <math.h>
#include <stddef.h>

#define OTHER_B 2e9 /* bytes of activations and workspace */
/* llama.cpp: driver and library memory; tokens per prompt chunk (ubatch), whose widest tensor is the fp32 logits */
#define CONTEXT_B 0.4e9
#define PIECE     512.0
#define FEW_TILE  128.0 /* rows of the library's usual tile */
#define NUMBER_B  4.0

/* Number of parts of a sequence's KV cache; what cannot be split is replicated on every device. */
static double kv_parts(const struct jl_serve_job *job)
{
	const struct jl_serve_place *place = &job->place;

	return place->split_batch ? place->n_gpus : fmin(place->n_gpus, fmax(job->model->kv_heads, 1.0));
}

/* Data-parallel attention: share of a pass's prompts on the device with the most of them. */
static double busiest(double n_gpus, double n_prompts)
{
	return ceil(fmax(n_prompts, 1.0) / n_gpus - 1e-6) / fmax(n_prompts, 1.0);
}

/* Two exchanges per layer, after attention and after the feed-forward part. Tensor parallel: all-reduce of all tokens. Data-parallel attention:
 * each device sends its tokens to the devices of their experts and back. */
static double exchange_s(const struct jl_serve_job *job, double answers, double prompts, double n_prompts)
{
	const struct jl_serve_place *place = &job->place;
	const double n = place->n_gpus, token_B = 2.0 * job->model->hidden;
	const double copies = fmin(fmax(job->model->top_k, 1.0), n);
	const struct jl_served_exchange ex = {
		.n = n,
		.bytes = token_B * (place->split_batch ? (answers / n + prompts * busiest(n, n_prompts)) * copies
						       : answers + prompts),
		.link_Bps = place->link_Bps,
		.switched = place->hop_gain <= 1.0,
		.hop_gain = place->hop_gain,
		.how = place->split_batch ? JL_SUM_ALLTOALL : JL_SUM_ENGINE,
	};
	const double layers = place->split_batch ? job->model->n_moe_layers : job->model->n_layers;

	return n > 1.0 ? 2.0 * layers * jl_served_exchange_s(job->ops, &ex) : 0.0;
}

static bool reads_through(const struct jl_serve_job *job, double rows)
{
	return rows <= JL_FEW_ROWS && (job->format.own_kernels || !jl_matrix_units(job->dev));
}

static void read_through(struct jl_serve_work *w, const struct jl_serve_job *job, const struct jl_served_gemm *g,
			 double n_layers)
{
	const struct jl_read_through s = jl_read_through(job->dev, job->ops, g);

	w->mem_s += s.read_s * n_layers;
	w->beside_s += s.math_s * n_layers;
	w->read_B += g->batch * g->n * g->k * g->weight_B * n_layers;
}

static void add_product(struct jl_serve_work *w, const struct jl_serve_job *job, const struct jl_served_gemm *g,
			double n_layers)
{
	const struct jl_device *dev = job->dev;
	const double fixed_s = job->ops->v[JL_TERM_FIXED_S + g->format];

	if (reads_through(job, g->m)) {
		read_through(w, job, g, n_layers);
		w->kernel_s += fixed_s * n_layers;
		return;
	}
	const double s = jl_served_gemm_s(dev, job->ops, g) - fixed_s, read_B = g->n * g->k * job->format.weight_B;
	const double read_s = read_B / (dev->mem_Bps * dev->fit.mem_frac * dev->fit.read_frac *
					job->ops->v[JL_TERM_MEM + g->format]);
	const double mem_frac = s > 0.0 ? fmin(read_s / s, 1.0) : 1.0;

	w->mem_s += s * mem_frac * n_layers;
	w->math_s += s * (1.0 - mem_frac) * n_layers;
	/* static scales: the previous kernel quantises its output, so no kernel is added */
	if (g->m <= FEW_TILE)
		w->few_s += 2.0 * g->m * g->n * g->k * g->batch * n_layers /
			    dev->peak_flopps[jl_op_dtype(dev, g->format)];
	w->kernel_s += (g->format == JL_OP_FP8_STATIC ? job->ops->v[JL_TERM_FIXED_S + JL_OP_BF16] : fixed_s) * n_layers;
	w->read_B += read_B * n_layers;
}

/* Dense products. With data-parallel attention a device computes its own tokens in all layers. */
static void dense(struct jl_serve_work *w, const struct jl_serve_job *job, double answers, double prompts,
		  double n_prompts)
{
	const struct jl_served *model = job->model;
	const double n = job->place.n_gpus;
	const int whole = job->place.split_batch;
	const double own = answers / n + prompts * busiest(n, n_prompts);

	for (int i = 0; i < model->n_products; i++) {
		const struct jl_served_product *p = &model->products[i];
		const struct jl_served_gemm g = { .m = whole ? fmax(own, 1.0) : answers + prompts,
						  .n = p->cut == JL_CUT_N && !whole ? fmax(p->n / n, 1.0) : p->n,
						  .k = p->cut == JL_CUT_K && !whole ? fmax(p->k / n, 1.0) : p->k,
						  .batch = 1,
						  .format = job->format.dense,
						  .weight_B = job->format.weight_B };

		add_product(w, job, &g, p->n_layers);
	}
}

/* kernels per layer without adapters: products, attention, norms, positions, activations */
#define LAYER_LAUNCHES 12.0

/* One device's part of a product's adapters: engines shard the side along which the product is sharded and replicate the other. */
static struct jl_served_thin thin_of(const struct jl_serve_job *job, const struct jl_served_product *p)
{
	const double n = job->place.split_batch ? 1.0 : job->place.n_gpus;

	return (struct jl_served_thin){ .in = p->cut == JL_CUT_K ? p->k / n : p->k,
					.out = p->cut == JL_CUT_N ? p->n / n : p->n,
					.rank = job->adapters.rank,
					.parts = fmax(p->parts, 1.0) };
}

/* Two kernels per product (into the rank, out of it) for all adapters in use in this pass. */
static void adapters(struct jl_serve_work *w, const struct jl_serve_job *job, double n_tokens, double n_requests)
{
	const double by_batch = job->place.split_batch ? job->place.n_gpus : 1.0, all = job->adapters.n;
	double launches = 0.0;

	if (!(all > 0.0))
		return;
	const double distinct = all * (1.0 - pow(1.0 - 1.0 / all, fmax(n_requests / by_batch, 1.0)));

	for (int i = 0; i < job->model->n_products; i++) {
		const struct jl_served_product *p = &job->model->products[i];
		struct jl_served_thin thin = thin_of(job, p);

		thin.tokens = fmax(n_tokens / by_batch, 1.0);
		thin.distinct = distinct;
		w->adapters_s += jl_served_thin_s(job->dev, job->ops, &thin) * p->n_layers;
		launches += 2.0 * p->n_layers;
	}
	w->kernel_s += launches * job->ops->v[JL_TERM_FIXED_S + JL_OP_BF16];
	w->more_launches = launches / (job->model->n_layers * LAYER_LAUNCHES);
}

#define SCORE_B      20.0 /* bytes per token pair: fp32 write, softmax read and write, read; 16-bit write, read */
#define ROUTING_SKEW 1.0  /* experts are used unevenly */

static void experts(struct jl_serve_work *w, const struct jl_serve_job *job, double n_tokens)
{
	const struct jl_served *model = job->model;
	const double ranks = fmin(fmax(job->place.n_ep, 1.0), job->place.n_gpus), cut = job->place.n_gpus / ranks;
	const struct jl_served_experts e = { .tokens = n_tokens,
					     .hidden = model->hidden,
					     .inter = model->expert_down / cut,
					     .top_k = model->top_k,
					     .n_experts = model->n_experts,
					     .n_matrices = 1.0 + model->expert_up / model->expert_down,
					     .n_ranks = ranks,
					     .skew = ranks > 1.0 ? ROUTING_SKEW : 0.0,
					     .format = job->format.experts,
					     .weight_B = job->format.expert_B };
	const double fixed_s = job->ops->v[JL_TERM_EXPERT_FIXED_S + e.format];
	double routed;
	const double n = jl_served_experts_hit(job->ops, &e, &routed);

	w->kernel_s += fixed_s * model->n_moe_layers;
	if (reads_through(job, routed / n)) {
		const struct jl_served_gemm g = { .m = fmax(routed / n, 1.0),
						  .n = e.n_matrices * e.inter,
						  .k = e.hidden,
						  .batch = n,
						  .format = e.format,
						  .weight_B = e.weight_B };

		read_through(w, job, &g, model->n_moe_layers);
		return;
	}
	const double s = jl_served_experts_s(job->dev, job->ops, &e) - fixed_s;
	const double read_B = n * e.n_matrices * e.inter * e.hidden * e.weight_B;
	const double read_s = read_B / (job->dev->mem_Bps * job->dev->fit.mem_frac * job->dev->fit.read_frac *
					job->ops->v[JL_TERM_EXPERT_MEM + e.format]);

	w->expert_s = s * model->n_moe_layers;
	w->expert_frac = s > 0.0 ? fmin(read_s / s, 1.0) : 0.0;
}

/* Mean number of context tokens that a layer reads. */
static double seen(const struct jl_served *model, double tokens)
{
	return (1.0 - model->local_frac) * tokens + model->local_frac * fmin(tokens, model->window);
}

static void attention(struct jl_serve_work *w, const struct jl_serve_job *job, const struct jl_pass *pass, double seqs,
		      double share)
{
	const struct jl_served *model = job->model;
	const double n = job->place.n_gpus, by_batch = job->place.split_batch ? n : 1.0, by_head = n / by_batch;
	struct jl_served_attention a = {
		.batch = fmax(seqs / by_batch, fmin(seqs, 1.0)),
		.tokens = fmax(pass->n_drafted, 1.0),
		.context = seen(model, pass->context),
		.heads = fmax(model->heads / by_head, 1.0),
		.kv_heads = fmax((job->format.per_head && !model->latent ? model->heads : model->kv_heads) / by_head,
				 1.0),
		.head_dim = model->head_dim,
		.kv_B = job->format.kv_B,
		.latent = model->latent
	};
	const double fixed_s = job->ops->v[a.latent ? JL_TERM_LATENT_FIXED_S : JL_TERM_KV_FIXED_S];
	const double prompt_fixed_s = job->ops->v[a.latent ? JL_TERM_LATENT_FIXED_S : JL_TERM_FLASH_FIXED_S];

	if (seqs > 0.0) {
		w->kv_s = (jl_served_answer_s(job->dev, job->ops, &a) - fixed_s) * model->n_layers;
		w->kernel_s += fixed_s * model->n_layers;
	}
	if (!(pass->prompt_tokens > 0.0))
		return;
	a.batch = by_batch > 1.0 ? pass->n_prompts * busiest(by_batch, pass->n_prompts) : pass->n_prompts;
	a.tokens = pass->prompt_tokens * share / fmax(pass->n_prompts, 1.0);
	const double reach = pass->prompt_pairs / pass->prompt_tokens * (model->both_ways ? 2.0 : 1.0);

	a.pairs = seen(model, reach) * pass->prompt_tokens * share * a.batch / fmax(pass->n_prompts, 1.0);
	a.context = model->both_ways ? a.tokens : fmin(2.0 * a.pairs / (a.batch * a.tokens), reach + 0.5 * a.tokens);
	w->flash_s = (jl_served_prompt_s(job->dev, job->ops, &a) - prompt_fixed_s) * model->n_layers;
	if (job->format.score_maps)
		w->flash_s += a.pairs * a.heads * SCORE_B * model->n_layers /
			      (job->dev->mem_Bps * job->dev->fit.mem_frac * job->ops->v[JL_TERM_STREAM]);
	w->kernel_s += prompt_fixed_s * model->n_layers;
}

/* Share of a pass's prompts computed in one stage's turn. Chunks are in different stages at the same time; a pipeline kept full by other requests
 * neither fills nor drains. */
static double stage_share(const struct jl_serve_job *job, const struct jl_pass *pass)
{
	const double stages = job->place.n_stages,
		     pieces = job->place.chunk > 0.0 ? fmax(ceil(pass->prompt_tokens / job->place.chunk), 1.0) : 1.0;

	if (!(stages > 1.0))
		return 1.0;
	return !job->place.by_layer && pass->n_seqs >= stages ? 1.0 / fmin(pieces, stages)
							      : (pieces + stages - 1.0) / (pieces * stages);
}

struct jl_serve_work jl_serve_work(const struct jl_serve_job *job, const struct jl_pass *pass)
{
	const struct jl_device *dev = job->dev;
	const struct jl_served *model = job->model;
	const double n = job->place.n_gpus, stages = job->place.n_stages,
		     seqs = job->place.by_layer ? pass->n_seqs : fmax(pass->n_seqs / stages, fmin(pass->n_seqs, 1.0));
	const double drafted = fmax(pass->n_drafted, 1.0);
	const double share = stage_share(job, pass);
	const double prompts = pass->prompt_tokens * share, tokens = seqs * drafted + prompts;
	/* data-parallel attention: one host process per device */
	const double hosts = job->place.split_batch ? n : 1.0;
	struct jl_serve_work w = { .n_layers = model->n_layers,
				   .n_moe_layers = model->n_moe_layers,
				   .n_seqs = (pass->n_seqs + pass->n_prompts) / hosts,
				   .prompt_tokens = prompts / hosts,
				   .dtype = jl_op_dtype(dev, job->format.dense),
				   .captured = pass->captured,
				   .split_batch = job->place.split_batch != 0 };

	if (job->format.dtype == JL_FP32)
		w.dtype = JL_FP32;
	dense(&w, job, seqs * drafted, prompts, pass->n_prompts);
	adapters(&w, job, tokens, seqs + pass->n_prompts);
	if (model->n_experts > 1)
		experts(&w, job, tokens);
	/* 16-bit sums, or dp4a on vector units */
	const double short_flopps = (jl_matrix_units(dev) ? 0.5 : 1.0) * dev->peak_flopps[JL_INT8];

	const bool is_short = job->format.short_sums && w.dtype != JL_FP32 && short_flopps > dev->peak_flopps[w.dtype];

	if (is_short)
		w.math_s *= dev->peak_flopps[w.dtype] / short_flopps;
	w.vector = w.dtype == JL_FP32 || (!is_short && !jl_matrix_units(dev));
	w.portable = !w.vector && fmin(job->format.weight_B, job->format.expert_B) < 2.0;
	if (model->logits.n > 0.0) {
		const struct jl_served_gemm g = { .m = seqs * drafted + pass->n_prompts,
						  .n = model->logits.n / n,
						  .k = model->logits.k,
						  .batch = 1,
						  .format = JL_OP_BF16,
						  .weight_B = job->format.logits_B > 0.0 ? job->format.logits_B : 2.0 };

		if (reads_through(job, g.m))
			add_product(&w, job, &g, 1.0);
		else
			w.logits_s = jl_served_gemm_s(dev, job->ops, &g);
	}
	attention(&w, job, pass, seqs, share);
	w.exchange_s = exchange_s(job, seqs * drafted, prompts, pass->n_prompts);
	return w;
}

struct jl_serve_step jl_serve_sum(const struct jl_serve_work *w, const struct jl_device *dev,
				  const struct jl_serve_fit *fit)
{
	const double asked_Bps = fit->sm_B * dev->n_sm * dev->boost_Hz; /* rate limited by loads in flight */
	struct jl_serve_step s = {
		.weights_s = (w->mem_s + w->logits_s + w->adapters_s) / fit->mem_gain +
			     (asked_Bps > 0.0 ? w->read_B / asked_Bps : 0.0),
		.kv_s = w->kv_s / fit->kv_gain,
		.attention_s = w->flash_s / fit->flash_gain,
		.exchange_s = w->exchange_s / fit->hop_gain,
		.fixed_s = w->kernel_s * fit->kernel_gain + w->n_layers * fit->layer_s +
			   w->n_moe_layers * fit->moe_layer_s,
	};

	const double portable = w->portable ? fit->portable_frac : 1.0;

	s.math_s = w->math_s / (fit->math_gain[w->vector ? JL_FP32 : w->dtype] * portable) +
		   w->expert_s / (fit->expert_gain * portable) +
		   fmax(w->beside_s / (fit->math_gain[JL_FP32] * fit->portable_frac) - s.weights_s, 0.0) +
		   fmax(w->few_s / fit->few_frac - s.weights_s, 0.0);
	const double reading_s = w->expert_frac * w->expert_s / (fit->expert_gain * portable);

	s.weights_s += reading_s;
	s.math_s -= reading_s;
	const double gpu_s = s.weights_s + s.math_s + s.kv_s + s.attention_s + s.exchange_s + s.fixed_s;
	/* uncaptured kernels: short ones wait for the host, the host waits for long ones */
	const double host_s = w->captured ? 0.0 : w->n_layers * (1.0 + w->more_launches) * fit->host_layer_s,
		     both = gpu_s * gpu_s, host2 = host_s * host_s;
	const double wait_s = sqrt(sqrt(both * both + host2 * host2)) - gpu_s;

	s.fixed_s += wait_s + fit->step_s + w->n_seqs * fit->seq_s + w->prompt_tokens * fit->token_s;
	s.step_s = s.weights_s + s.math_s + s.kv_s + s.attention_s + s.exchange_s + s.fixed_s;
	return s;
}

void jl_serve_slow(struct jl_serve_fit *fit, double factor)
{
	double *const gains[] = { &fit->mem_gain,   &fit->sm_B,        &fit->kv_gain,
				  &fit->flash_gain, &fit->expert_gain, &fit->hop_gain };
	double *const times[] = { &fit->kernel_gain, &fit->layer_s, &fit->moe_layer_s, &fit->host_layer_s,
				  &fit->step_s,      &fit->seq_s,   &fit->token_s };

	for (size_t i = 0; i < sizeof(gains) / sizeof(*gains); i++)
		*gains[i] /= factor;
	for (int d = 0; d < JL_N_DTYPE; d++)
		fit->math_gain[d] /= factor;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		*times[i] *= factor;
}

struct jl_serve_step jl_serve_pass(const struct jl_serve_job *job, const struct jl_pass *pass)
{
	const struct jl_serve_work work = jl_serve_work(job, pass);

	return jl_serve_sum(&work, job->dev, job->fit);
}

struct jl_pass jl_pass_decode(double n_seq, double context)
{
	return (struct jl_pass){ .n_seqs = n_seq, .n_drafted = 1.0, .context = context, .captured = true };
}

struct jl_pass jl_pass_prefill(double n_seq, double prompt)
{
	return (struct jl_pass){ .n_prompts = n_seq,
				 .prompt_tokens = n_seq * prompt,
				 .prompt_pairs = 0.5 * n_seq * prompt * prompt };
}

/* Bytes per element of the embedding table, which only llama.cpp files quantise. */
static double table_B(const struct jl_serve_format *format)
{
	return format->table_B > 0.0 ? format->table_B : 2.0;
}

double jl_serve_weights_B(const struct jl_serve_job *job)
{
	const struct jl_served *model = job->model;
	const struct jl_serve_format *f = &job->format;
	const double logits_B = f->logits_B > 0.0 ? model->logits.n * model->logits.k * (f->logits_B - f->weight_B)
						  : 0.0;

	/* data-parallel attention replicates everything but the experts */
	const double cut = job->place.split_batch ? 1.0 : job->place.n_gpus;

	return ((model->dense_params * f->weight_B + logits_B) / cut +
		(model->expert_params * f->expert_B + model->table_params * table_B(f)) / job->place.n_gpus) /
	       job->place.n_stages;
}

double jl_serve_context_B(const struct jl_serve_job *job, double context)
{
	return context * job->model->context_frac * job->model->kv_elems * job->format.kv_B /
	       (kv_parts(job) * job->place.n_stages);
}

double jl_serve_adapters_B(const struct jl_serve_job *job)
{
	double sum = 0.0;

	for (int i = 0; i < job->model->n_products; i++) {
		const struct jl_served_thin thin = thin_of(job, &job->model->products[i]);

		sum += jl_served_thin_B(&thin) * job->model->products[i].n_layers;
	}
	return job->adapters.n * sum / job->place.n_stages;
}

/* llama.cpp: memory of the fullest device besides keys and values, which has *each_B layers of them. */
static double by_layer_B(const struct jl_serve_job *job, double *each_B)
{
	const struct jl_served *model = job->model;
	const double n = job->place.n_stages, fullest = n * ceil(model->n_layers / n) / model->n_layers;
	/* shared host and device memory holds the table too */
	const double host_B = isnan(job->dev->host_Bps) ? 0.0 : model->table_params * table_B(&job->format);

	*each_B *= fullest;
	return (jl_serve_weights_B(job) - host_B / n) * fullest + CONTEXT_B +
	       PIECE * NUMBER_B * (model->logits.n + model->hidden);
}

double jl_serve_room(const struct jl_serve_job *job, double context, double mem_frac)
{
	double left_B = mem_frac * job->dev->mem_B - OTHER_B - jl_serve_weights_B(job) - jl_serve_adapters_B(job),
	       each_B = jl_serve_context_B(job, context);

	if (job->place.by_layer)
		left_B = mem_frac * job->dev->mem_B - by_layer_B(job, &each_B);
	if (job->model->embeds)
		return left_B > 0.0 ? INFINITY : 0.0;
	return each_B > 0.0 ? fmax(left_B, 0.0) / each_B : 0.0;
}
