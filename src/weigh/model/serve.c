#include "model/serve.h"

#include <math.h>

#include "model/op.h"

#define OTHER_B 2e9 /* activations and workspace */

static double peak(const struct jl_device *dev, enum jl_dtype dtype)
{
	return isnan(dev->peak_flopps[dtype]) ? dev->peak_flopps[JL_FP32] : dev->peak_flopps[dtype];
}

/* A format that the device cannot compute in: 16 bit, where it has them. */
static enum jl_dtype computed(const struct jl_device *dev, enum jl_dtype dtype)
{
	if (!isnan(dev->peak_flopps[dtype]))
		return dtype;
	if (dtype == JL_FP4 && !isnan(dev->peak_flopps[JL_FP8]))
		return JL_FP8;
	if (dtype != JL_BF16 && dtype != JL_FP32 && !isnan(dev->peak_flopps[JL_BF16]))
		return JL_BF16;
	return isnan(dev->peak_flopps[JL_FP16]) ? JL_FP32 : JL_FP16;
}

/* Share of the routed experts that at least one of the tokens is sent to. */
static double experts_hit(const struct jl_served *model, double n_tokens)
{
	return model->n_experts > 1 ? 1.0 - pow(1.0 - model->top_k / model->n_experts, n_tokens) : 1.0;
}

/* Into how many parts keys and values of a sequence are cut: those that cannot be cut are kept by every device. */
static double kv_parts(const struct jl_serve_job *job)
{
	const struct jl_serve_place *place = &job->place;

	return place->split_batch ? place->n_gpus : fmin(place->n_gpus, fmax(job->model->kv_heads, 1.0));
}

/* Two exchanges a layer, after attention and after the feed-forward part. Cut by heads: all tokens are added up, as a
 * ring would do it. Cut by requests: each device sends its own tokens to the devices of their experts and back. */
static void exchange(struct jl_serve_work *w, const struct jl_serve_job *job, double n_tokens)
{
	const struct jl_serve_place *place = &job->place;
	const double n = place->n_gpus, token_B = 2.0 * job->model->hidden;
	const double shares = place->split_batch ? fmin(fmax(job->model->top_k, 1.0), n) / n : 2.0;

	if (n > 1.0) {
		const double n_exchanges = 2.0 * job->model->n_layers;

		w->n_hops = n_exchanges * place->hop_gain * log2(n);
		w->link_s = n_exchanges * n_tokens * token_B * shares * (n - 1.0) / n / place->link_Bps;
	}
	w->n_hops += place->n_stages - 1.0; /* a stage hands a few kilobytes to the next one */
}

/* A product's time, and how much of it is the memory's. */
static double product_s(const struct jl_device *dev, const struct jl_gemm *gemm, double *ret_mem_frac)
{
	const double s = jl_gemm_s(dev, gemm) - dev->fit.kernel_s; /* launches are counted by the layer */
	const double read_s = gemm->batch * gemm->n * gemm->k * gemm->weight_B /
			      (dev->mem_Bps * dev->fit.mem_frac * dev->fit.read_frac);

	*ret_mem_frac = s > 0.0 ? fmin(read_s / s, 1.0) : 1.0;
	return fmax(s, 0.0);
}

static void dense(struct jl_serve_work *w, const struct jl_serve_job *job, double n_tokens)
{
	const struct jl_served *model = job->model;
	const double n = job->place.n_gpus;
	const int whole = job->place.split_batch; /* by requests: every device has all of it, and its own tokens */
	struct jl_gemm g = { .m = whole ? fmax(n_tokens / n, 1.0) : n_tokens,
			     .batch = 1,
			     .dtype = w->dtype,
			     .out_B = 2.0,
			     .weight_B = job->format.weight_B };

	for (int i = 0; i < model->n_products; i++) {
		const struct jl_served_product *p = &model->products[i];
		double mem_frac;

		g.n = p->cut == JL_CUT_N && !whole ? fmax(p->n / n, 1.0) : p->n;
		g.k = p->cut == JL_CUT_K && !whole ? fmax(p->k / n, 1.0) : p->k;
		const double s = product_s(job->dev, &g, &mem_frac) * p->n_layers;

		w->mem_s += s * mem_frac;
		w->math_s += s * (1.0 - mem_frac);
		w->read_B += g.n * g.k * g.weight_B * p->n_layers;
	}
}

/* Routed experts: each device has its share of them, as many as at least one token is sent to. */
static void experts(struct jl_serve_work *w, const struct jl_serve_job *job, double n_tokens)
{
	const struct jl_served *model = job->model;
	const double hit = experts_hit(model, n_tokens), n = job->place.n_gpus;
	struct jl_gemm g = { .m = fmax(n_tokens * model->top_k / (model->n_experts * hit), 1.0),
			     .n = model->expert_up,
			     .k = model->hidden,
			     .batch = fmax(model->n_experts * hit / n, 1.0 / n),
			     .dtype = w->dtype,
			     .out_B = 2.0,
			     .weight_B = job->format.expert_B };
	double mem_frac;

	for (int i = 0; i < 2; i++) {
		const double s = product_s(job->dev, &g, &mem_frac) * model->n_moe_layers;

		w->expert_mem_s += s * mem_frac;
		w->expert_math_s += s * (1.0 - mem_frac);
		w->read_B += g.batch * g.n * g.k * g.weight_B * model->n_moe_layers;
		g.n = model->hidden;
		g.k = model->expert_down;
	}
}

struct jl_serve_work jl_serve_work(const struct jl_serve_job *job, const struct jl_pass *pass)
{
	const struct jl_device *dev = job->dev;
	const struct jl_served *model = job->model;
	const enum jl_dtype dtype = computed(dev, job->format.dtype),
			    half = dtype == JL_FP32 ? dtype : computed(dev, JL_BF16);
	const double n = job->place.n_gpus, stages = job->place.n_stages,
		     seqs = fmax(pass->n_seqs / stages, fmin(pass->n_seqs, 1.0));
	const double drafted = fmax(pass->n_drafted, 1.0);
	/* pieces of a prompt are in different stages at the same time */
	const double pieces = job->place.chunk > 0.0 ? ceil(pass->prompt_tokens / job->place.chunk) : 1.0;
	const double share = stages > 1.0 && pieces > 0.0 ? (pieces + stages - 1.0) / (pieces * stages) : 1.0;
	const double prompts = pass->prompt_tokens * share, tokens = seqs * drafted + prompts;
	const double flash = peak(dev, half) * dev->fit.gemm_frac[half] * dev->fit.flash_frac;
	const double stream_Bps = dev->mem_Bps * dev->fit.mem_frac;
	struct jl_serve_work w = { .n_layers = model->n_layers,
				   .n_moe_layers = model->n_moe_layers,
				   .n_seqs = pass->n_seqs + pass->n_prompts,
				   .prompt_tokens = prompts,
				   .dtype = dtype,
				   .captured = pass->captured,
				   .weight_only = job->format.weight_only != 0,
				   .split_batch = job->place.split_batch != 0 };

	dense(&w, job, tokens);
	if (model->n_experts > 1)
		experts(&w, job, tokens);
	if (job->format.short_sums && dtype == JL_FP16 && 0.5 * dev->peak_flopps[JL_INT8] > peak(dev, dtype)) {
		w.math_s *= peak(dev, dtype) / (0.5 * dev->peak_flopps[JL_INT8]);
		w.expert_math_s *= peak(dev, dtype) / (0.5 * dev->peak_flopps[JL_INT8]);
	}
	if (model->logits.n > 0.0) {
		const struct jl_gemm g = { .m = seqs * drafted + pass->n_prompts,
					   .n = model->logits.n / n,
					   .k = model->logits.k,
					   .batch = 1,
					   .dtype = half,
					   .out_B = 2.0,
					   .weight_B = jl_dtype_B(half) };

		w.logits_s = jl_gemm_s(dev, &g);
	}
	w.kv_s = seqs * pass->context * model->context_frac * model->kv_elems * job->format.kv_B / kv_parts(job) /
		 stream_Bps;
	w.answer_math_s = seqs * drafted * pass->context * model->context_frac * model->answer_pair_flop / n / flash;
	w.flash_s = pass->prompt_pairs * share * model->context_frac * model->pair_flop / n / flash;
	exchange(&w, job, tokens);
	return w;
}

struct jl_serve_step jl_serve_sum(const struct jl_serve_work *w, const struct jl_device *dev,
				  const struct jl_serve_fit *fit)
{
	const double mem = fit->mem_gain * (w->weight_only ? fit->narrow_mem_gain : 1.0);
	const double math = fit->math_gain[w->dtype] * (w->weight_only ? fit->narrow_math_gain : 1.0);
	const double asked_Bps = fit->sm_B * dev->n_sm *
				 dev->boost_Hz; /* what kernels ask for at once holds them back */
	const bool eager = !w->captured;
	struct jl_serve_step s = {
		.weights_s = (w->mem_s + w->expert_mem_s / fit->expert_gain) / mem + w->logits_s / fit->mem_gain +
			     (asked_Bps > 0.0 ? w->read_B / asked_Bps : 0.0),
		.math_s = (w->math_s + w->expert_math_s / fit->expert_gain) / math,
		.kv_s = fmax(w->kv_s / fit->kv_gain, w->answer_math_s / fit->flash_gain),
		.attention_s = w->flash_s / fit->flash_gain,
		.exchange_s = w->n_hops * fit->hop_s + w->link_s / fit->link_frac,
		.fixed_s = w->n_layers * (eager ? fit->prompt_layer_s : fit->layer_s) +
			   w->n_moe_layers * (eager ? fit->prompt_moe_layer_s : fit->moe_layer_s) + fit->step_s +
			   w->n_seqs * fit->seq_s + w->prompt_tokens * fit->token_s,
	};

	s.step_s = s.weights_s + s.math_s + s.kv_s + s.attention_s + s.exchange_s + s.fixed_s;
	return s;
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

double jl_serve_weights_B(const struct jl_serve_job *job)
{
	const struct jl_served *model = job->model;
	const double table_B = 2.0; /* the table is not quantised */

	/* cut by requests: every device has all but the experts */
	const double cut = job->place.split_batch ? 1.0 : job->place.n_gpus;

	return (model->dense_params * job->format.weight_B / cut +
		(model->expert_params * job->format.expert_B + model->table_params * table_B) / job->place.n_gpus) /
	       job->place.n_stages;
}

double jl_serve_context_B(const struct jl_serve_job *job, double context)
{
	return context * job->model->context_frac * job->model->kv_elems * job->format.kv_B /
	       (kv_parts(job) * job->place.n_stages);
}

double jl_serve_room(const struct jl_serve_job *job, double context, double mem_frac)
{
	const double left_B = mem_frac * job->dev->mem_B - OTHER_B - jl_serve_weights_B(job);
	const double each_B = jl_serve_context_B(job, context);

	return each_B > 0.0 ? fmax(left_B, 0.0) / each_B : 0.0;
}
