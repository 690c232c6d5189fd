#include "model/serve.h"

#include <math.h>
#include <stdbool.h>

#define TOGETHER  4096.0 /* prompt tokens of one pass */
#define OTHER_B   2e9    /* activations and workspace */
#define ROOM_FRAC 0.9    /* of a device's memory that frameworks give to weights, keys and values */

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
static double exchange_s(const struct jl_serve_job *job, double n_tokens)
{
	const struct jl_serve_place *place = &job->place;
	const double n = place->n_gpus, token_B = 2.0 * job->model->hidden;
	const double shares = place->split_batch ? fmin(fmax(job->model->top_k, 1.0), n) / n : 2.0;
	double each_s = 0.0;

	if (n > 1.0)
		each_s = job->fit->hop_s * place->hop_gain * log2(n) +
			 n_tokens * token_B * shares * (n - 1.0) / n / (place->link_Bps * job->fit->link_frac);
	return 2.0 * job->model->n_layers * each_s;
}

/* What the kernels read a second: the memory's share, held back by what the SMs ask for at once. */
static double read_Bps(const struct jl_device *dev, const struct jl_serve_fit *fit)
{
	const double mem_Bps = dev->mem_Bps * fit->mem_frac, asked_Bps = fit->sm_B * dev->n_sm * dev->boost_Hz;

	return asked_Bps > 0.0 ? 1.0 / (1.0 / mem_Bps + 1.0 / asked_Bps) : mem_Bps;
}

struct jl_serve_step jl_serve_step(const struct jl_serve_job *job, double n_seq, double n_tokens, double context)
{
	const struct jl_device *dev = job->dev;
	const struct jl_serve_fit *fit = job->fit;
	const struct jl_served *model = job->model;
	const struct jl_serve_format *format = &job->format;
	const enum jl_dtype dtype = computed(dev, format->dtype),
			    half = dtype == JL_FP32 ? dtype : computed(dev, JL_BF16);
	const double n = job->place.n_gpus;
	const double mem_Bps = read_Bps(dev, fit), narrow = format->weight_only ? fit->narrow_mem_frac : 1.0;
	const double listed = format->short_sums && dtype == JL_FP16 && dev->peak_flopps[JL_INT8] > 0.0
				      ? fmax(peak(dev, dtype), 0.5 * dev->peak_flopps[JL_INT8])
				      : peak(dev, dtype);
	const double rate = listed * fit->math_frac[dtype] * (format->weight_only ? fit->narrow_math_frac : 1.0);
	const double half_rate = peak(dev, half) * fit->math_frac[half] * fit->flash_frac;
	const double routed = model->n_experts > 1 ? model->expert_params * model->top_k / model->n_experts : 0.0;
	const double own = n_tokens / n_seq > 1.0 ? 0.5 * n_tokens / n_seq
						  : 0.0; /* a causal prompt sees half of itself */
	const double experts_B = model->expert_params * format->expert_B * experts_hit(model, n_tokens);
	struct jl_serve_step s = {
		.weights_s = (model->dense_params * format->weight_B + experts_B / fit->expert_frac) / n /
			     (mem_Bps * narrow),
		.math_s = 2.0 * n_tokens * (model->dense_params + routed / fit->expert_frac) / n / rate,
		.kv_s = n_seq * context * model->context_frac * model->kv_elems * format->kv_B / kv_parts(job) /
			(mem_Bps * fit->kv_frac),
		.attention_s = n_tokens * (context + own) * model->context_frac * model->pair_flop / n / half_rate,
		.exchange_s = exchange_s(job, n_tokens),
		.fixed_s = model->n_layers * (own > 0.0 ? fit->prompt_layer_s : fit->layer_s) +
			   model->n_moe_layers * (own > 0.0 ? fit->prompt_moe_layer_s : fit->moe_layer_s) +
			   fit->step_s + n_seq * fit->seq_s + (own > 0.0 ? n_tokens * fit->token_s : 0.0),
	};

	s.step_s = fmax(s.weights_s, s.math_s) + fit->overlap_frac * fmin(s.weights_s, s.math_s) +
		   fmax(s.kv_s, s.attention_s) + s.exchange_s + s.fixed_s;
	return s;
}

struct jl_serve_step jl_serve_decode(const struct jl_serve_job *job, double n_seq, double context)
{
	struct jl_serve_step s = jl_serve_step(job, n_seq, n_seq, context);

	/* A stage hands a few kilobytes to the next one. */
	s.exchange_s += (job->place.n_stages - 1.0) * job->fit->hop_s;
	s.step_s += (job->place.n_stages - 1.0) * job->fit->hop_s;
	return s;
}

struct jl_serve_step jl_serve_prefill(const struct jl_serve_job *job, double n_seq, double prompt)
{
	struct jl_serve_step s = jl_serve_step(job, n_seq, n_seq * fmax(prompt, 1.0), 0.0);
	const double n_stages = job->place.n_stages;

	if (n_stages > 1.0 && job->place.chunk > 0.0) {
		/* Pieces of the prompt are in different stages at the same time. */
		const double n_chunks = ceil(n_seq * prompt / job->place.chunk);
		const double share = (n_chunks + n_stages - 1.0) / (n_chunks * n_stages);

		s.weights_s *= share;
		s.math_s *= share;
		s.attention_s *= share;
		s.exchange_s *= share;
		s.fixed_s *= share;
		s.step_s *= share;
	}
	return s;
}

double jl_serve_weights_B(const struct jl_serve_job *job)
{
	const struct jl_served *model = job->model;
	const double table_B = 2.0; /* the table is not quantised */

	return (model->dense_params * job->format.weight_B + model->expert_params * job->format.expert_B +
		model->table_params * table_B) /
	       (job->place.n_gpus * job->place.n_stages);
}

double jl_serve_context_B(const struct jl_serve_job *job, double context)
{
	return context * job->model->context_frac * job->model->kv_elems * job->format.kv_B /
	       (kv_parts(job) * job->place.n_stages);
}

double jl_serve_room(const struct jl_serve_job *job, double context)
{
	const double left_B = ROOM_FRAC * job->dev->mem_B - OTHER_B - jl_serve_weights_B(job);
	const double each_B = jl_serve_context_B(job, context);

	return each_B > 0.0 ? fmax(left_B, 0.0) / each_B : 0.0;
}

struct jl_serve_rate jl_serve_rate(const struct jl_serve_job *job, const struct jl_serve_load *load)
{
	const struct jl_serve_fit *fit = job->fit;
	const double context = load->prompt + 0.5 * load->output, output = fmax(load->output, 1.0);
	const double room = jl_serve_room(job, context), most = load->max_batch > 0.0 ? load->max_batch : INFINITY;
	/* What is said to have run has fitted: at least one, whatever the reckoning says. */
	const double batch = fmin(fmin(load->n_requests, most), fmax(room, 1.0));
	const bool apart = load->prefill && load->n_prefill_workers > 0.0;
	const struct jl_serve_job *prompts = apart ? load->prefill : job;
	const double prefill_s = jl_serve_prefill(prompts, 1.0, load->prompt).step_s;
	/* short prompts that wait go together */
	const double together = fmin(batch, fmax(TOGETHER / fmax(load->prompt, 1.0), 1.0));
	const double each_s = jl_serve_prefill(prompts, together, load->prompt).step_s / together;
	const double decode_s = jl_serve_decode(job, batch, context).step_s;
	struct jl_serve_rate r = { .batch = batch, .decode_s = decode_s, .prefill_s = prefill_s };

	r.tpot_s = decode_s + (apart ? 0.0 : fit->mix_frac * batch * each_s / output);
	/* Others' prompts ahead of a new one. Where prompts have machines of their own and these are the narrow place, all
	 * requests but those that write stand in line there: a closed circle of requests. */
	const bool counted = apart && isfinite(load->n_prefill_workers);
	const double ahead_s = fit->burst_frac * (batch - 1.0) * each_s / (counted ? load->n_prefill_workers : 1.0);
	const double line_s = counted ? load->n_requests * each_s / load->n_prefill_workers - output * r.tpot_s : 0.0;
	/* No room: a request waits until others are done. */
	const double wait_s = (load->n_requests / batch - 1.0) * output * r.tpot_s;

	r.queue_s = fmax(fmax(ahead_s, line_s), wait_s);
	r.ttft_s = fit->first_s + decode_s + prefill_s + r.queue_s;
	r.request_tps = 1.0 / r.tpot_s;
	r.total_tps = load->n_requests * output / (r.ttft_s + (output - 1.0) * r.tpot_s);
	return r;
}
