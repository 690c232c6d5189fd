/* Step time of networks given as a list of operators (docs/METHOD.md). Knows no catalog. */
#include "kernels/conv.h"

#include <math.h>

enum { FORWARD = JL_PASS_FORWARD, INPUT_GRADIENT = JL_PASS_INPUT_GRADIENT, WEIGHT_GRADIENT = JL_PASS_WEIGHT_GRADIENT };

/* A matrix operator as products m x k by k x n per item, `repeats` in sequence. */
struct shape {
	double m, n, k;
	double in, out, weights; /* number of elements */
	double products;         /* concurrent products in one kernel */
	double repeats;
};

struct pass {
	double flop, moved_B, layout_B, m, n, k, kernels;
};

static struct shape shape_of(const struct jl_conv_op *op)
{
	if (op->kind == JL_CONV_CONV) {
		const double out_h = op->oh > 0 ? op->oh : ceil(op->h / op->stride);
		const double out_w = op->ow > 0 ? op->ow : ceil(op->w / op->stride);
		const double k = op->c_in * op->kh * op->kw / op->groups;

		return (struct shape){ .m = out_h * out_w,
				       .n = op->c_out,
				       .k = k,
				       .in = op->c_in * op->h * op->w,
				       .out = op->c_out * out_h * out_w,
				       .weights = op->c_out * k,
				       .products = 1,
				       .repeats = 1 };
	}
	const int bmm = op->kind == JL_CONV_BMM;

	if (op->kind == JL_CONV_ATTENTION) /* both products as one of their summed depth */
		return (struct shape){ .m = op->rows,
				       .n = op->n,
				       .k = op->k + op->v,
				       .in = op->rows * op->k + op->n * (op->k + op->v),
				       .out = op->rows * op->v,
				       .products = op->heads,
				       .repeats = 1 };
	return (struct shape){ .m = op->rows,
			       .n = op->n,
			       .k = op->k,
			       .in = op->rows * op->k + (bmm ? op->n * op->k : 0),
			       .out = op->rows * op->n,
			       .weights = bmm ? 0 : op->n * op->k,
			       .products = bmm ? op->heads : 1,
			       .repeats = bmm ? 1 : op->steps };
}

static int is_matrix(enum jl_conv_kind kind)
{
	return kind != JL_CONV_STREAM && kind != JL_CONV_HOST && kind != JL_CONV_BLOCK;
}

static int is_recurrent(enum jl_conv_kind kind)
{
	return kind == JL_CONV_RNN || kind == JL_CONV_CELL;
}

double jl_conv_op_mac(const struct jl_conv_op *op)
{
	if (!is_matrix(op->kind))
		return op->macs * op->elems * op->count;
	const struct shape s = shape_of(op);

	return s.m * s.n * s.k * s.products * s.repeats * op->count;
}

double jl_conv_op_weights(const struct jl_conv_op *op)
{
	return is_matrix(op->kind) ? shape_of(op).weights * op->count : 0;
}

double jl_conv_op_outputs(const struct jl_conv_op *op)
{
	if (!is_matrix(op->kind) || op->kind == JL_CONV_ATTENTION)
		return 0;
	const struct shape s = shape_of(op);

	return s.out * s.products * s.repeats * op->count;
}

double jl_conv_op_saved(const struct jl_conv_op *op)
{
	if (!is_matrix(op->kind) || op->train == JL_CONV_FROZEN || op->per_step)
		return 0;
	const struct shape s = shape_of(op);

	return s.out * s.products * s.repeats * op->count;
}

/* A listed rate may be that of emulation, so test for the units themselves. */
enum jl_conv_path jl_conv_path(const struct jl_device *dev, enum jl_dtype dtype)
{
	switch (dtype) {
	case JL_FP16:
	case JL_BF16: return dev->priors->no_tensor || isnan(dev->peak_flopps[dtype]) ? JL_CONV_VECTOR : JL_CONV_HALF;
	case JL_TF32: return dev->priors->no_tf32 || isnan(dev->peak_flopps[JL_TF32]) ? JL_CONV_VECTOR : JL_CONV_TF32;
	default: return JL_CONV_VECTOR;
	}
}

/* For devices without listed SMs or clocks (superchips): 128 lanes with one multiply-add per clock, and the SM count of a large chip. */
#define SM_VECTOR_FLOP 256.0
#define SM_USUAL       132.0

/* Values shared by all operators of a step. */
struct machine {
	const struct jl_device *dev;
	const struct jl_conv_fit *fit;
	const struct jl_conv_in *in;
	enum jl_conv_path path;
	double elem_B, peak_flopps, vector_flopps, mem_Bps, n_sm, sm_Hz;
	int listed; /* the list contains its own launches (JL_CONV_HOST); casts are counted separately */
};

static struct machine machine_of(const struct jl_device *dev, const struct jl_conv_fit *fit,
				 const struct jl_conv_in *in)
{
	struct machine m = { .dev = dev, .fit = fit, .in = in, .path = jl_conv_path(dev, in->dtype) };

	m.elem_B = jl_dtype_B(in->dtype);
	m.vector_flopps = dev->peak_flopps[JL_FP32];
	m.peak_flopps = m.path == JL_CONV_VECTOR ? m.vector_flopps : dev->peak_flopps[in->dtype];
	m.n_sm = isnan(dev->n_sm) ? SM_USUAL : dev->n_sm;
	m.sm_Hz = m.n_sm * dev->boost_Hz;
	if (isnan(dev->n_sm) || isnan(dev->boost_Hz))
		m.sm_Hz = m.vector_flopps / SM_VECTOR_FLOP;
	for (size_t i = 0; i < in->n_ops && !m.listed; i++)
		m.listed = in->ops[i].kind == JL_CONV_HOST;
	/* streams are limited by memory and, on wide memories, by the loads that SMs keep in flight */
	m.mem_Bps = 1 / (1 / (fit->mem_frac * dev->mem_Bps) + 1 / (fit->sm_B * m.sm_Hz));
	return m;
}

/* Depthwise: one filter per channel, no matrix product. */
static int is_depthwise(const struct jl_conv_op *op)
{
	return op->kind == JL_CONV_CONV && op->groups > 1 && op->groups == op->c_in;
}

static int has(const struct machine *m, enum jl_conv_software software)
{
	return (m->in->software & (unsigned)software) != 0;
}

/* Channels-last layout: chosen by the caller, or by a compiler, which converts once. */
static int is_last(const struct machine *m)
{
	return has(m, JL_SW_CHANNELS_LAST) || has(m, JL_SW_COMPILED);
}

static int is_autocast(const struct machine *m)
{
	return m->path == JL_CONV_HALF && !has(m, JL_SW_PURE);
}

/* Rows that are not 16-byte aligned, as tensor cores need. */
static int is_odd(const struct machine *m, const struct jl_conv_op *op)
{
	return op->kind == JL_CONV_LINEAR && fmod(op->n * m->elem_B, 16) != 0;
}

/* FLOP/s of one operator group before losses by shape. */
static double group_rate(const struct machine *m, const struct jl_conv_op *op)
{
	const struct jl_conv_fit *fit = m->fit;
	const int conv = op->kind == JL_CONV_CONV;
	double frac = conv ? fit->conv_frac[m->path] : fit->linear_frac[m->path];

	if (is_recurrent(op->kind) && m->path != JL_CONV_VECTOR)
		frac *= fit->rnn_frac;
	if (op->kind == JL_CONV_BMM)
		frac *= fit->bmm_frac;
	frac = fmin(frac, 1);
	if (m->path == JL_CONV_TF32 && (m->in->software & JL_SW_SLOW_TF32) && (!conv || op->h <= 1))
		frac *= fit->slow_tf32_frac;
	double rate = frac * m->peak_flopps;

	if (m->path != JL_CONV_VECTOR) {
		const double share = m->path == JL_CONV_HALF ? 1 : 0.5;

		/* Hopper's wide instructions (wgmma) read operands from shared memory directly */
		if (op->kind != JL_CONV_LINEAR || !m->dev->priors->warpgroup)
			rate = 1 / (1 / rate + 1 / (share * fit->feed_flop * m->sm_Hz));
		if (is_odd(m, op)) {
			if (m->path == JL_CONV_HALF && (m->in->software & JL_SW_ALIGNED_ONLY))
				rate = fit->odd_vector_frac * fit->linear_frac[JL_CONV_VECTOR] * m->vector_flopps;
			else
				rate = 1 / (1 / rate + 1 / (share * fit->odd_feed_flop * m->sm_Hz));
		}
	}
	/* TF32 is allowed, not mandatory: libraries choose the faster path */
	if (m->path == JL_CONV_TF32)
		rate = fmax(rate, fmin(1, conv ? fit->conv_frac[JL_CONV_VECTOR] : fit->linear_frac[JL_CONV_VECTOR]) *
					  m->vector_flopps);
	/* GPU libraries have Winograd kernels, except on Hopper and later */
	if (conv && op->kh == 3 && op->kw == 3 && op->stride == 1 && m->path != JL_CONV_HALF && !is_last(m) &&
	    !m->dev->priors->warpgroup && m->dev->arch != JL_ARCH_OTHER)
		rate = fmax(rate, fit->winograd_gain * fit->conv_frac[JL_CONV_VECTOR] * m->vector_flopps);
	if (op->dilated && m->path == JL_CONV_HALF && (m->in->software & JL_SW_UNDILATED_ONLY))
		rate = fmin(rate, 2 * fit->dilated_frac * fit->conv_frac[JL_CONV_VECTOR] * m->vector_flopps);
	return rate;
}

static struct pass pass_of(const struct machine *m, const struct jl_conv_op *op, const struct shape *s, int which)
{
	const double batch = op->per_step ? 1 : m->in->batch;
	double rows = s->m * batch, repeats = s->repeats, moved = (s->in + s->out) * s->products * batch;

	/* the library computes the weight gradient of all steps of a recurrent layer in one product */
	if (op->kind == JL_CONV_RNN && which == WEIGHT_GRADIENT) {
		rows *= repeats;
		moved *= repeats;
		repeats = 1;
	}
	struct pass p = { .flop = 2 * rows * s->n * s->k * s->products,
			  .m = rows,
			  .n = s->n,
			  .k = s->k,
			  .kernels = repeats * op->count };

	/* a framework loop reads and writes the accumulated gradient at every step */
	p.moved_B = m->elem_B * (moved + s->weights * (op->kind == JL_CONV_CELL && which == WEIGHT_GRADIENT ? 2 : 1));
	if (which == INPUT_GRADIENT) {
		p.n = s->k;
		p.k = s->n;
	} else if (which == WEIGHT_GRADIENT) {
		p.m = s->n;
		p.n = s->k;
		p.k = rows;
	}
	/* 16-bit kernels need channels last: tensors are transposed before and after; fp32 kernels read both layouts */
	if (op->kind == JL_CONV_CONV && m->path == JL_CONV_HALF && !is_last(m) && !is_depthwise(op))
		p.layout_B = m->fit->layout_frac * (which == FORWARD ? 2 : 2 * m->fit->grad_turns) * m->elem_B * moved;
	return p;
}

static double pass_s(const struct machine *m, const struct jl_conv_op *op, const struct pass *p, double rate, int which)
{
	double fill = 1;

	if (is_depthwise(op)) {
		/* vector time plus memory time: the two do not overlap */
		const double frac = m->fit->dw_frac[is_last(m)];
		const double slow = which != FORWARD ? m->fit->dw_grad_gain : 1;

		return (p->flop * slow / (frac * m->vector_flopps) + p->moved_B / m->mem_Bps + m->fit->kernel_s) *
		       p->kernels;
	}
	if (op->kind != JL_CONV_BMM)
		fill = p->k / (p->k + m->fit->k_half);
	if (op->kind == JL_CONV_CONV && which != FORWARD && m->path != JL_CONV_VECTOR)
		fill *= is_last(m) && op->groups > 1 ? 1 / m->fit->group_last_gain : 1;
	if (op->kind == JL_CONV_CONV)
		fill *= op->c_out / op->groups / (op->c_out / op->groups + m->fit->group_half);
	if (is_recurrent(op->kind) && which != WEIGHT_GRADIENT) {
		const double tiles = ceil(p->m / 64) * ceil(p->n / 64);

		fill *= tiles / (tiles + m->fit->wave_frac * m->n_sm);
	}
	const double math_s = p->flop / (rate * fill), move_s = p->moved_B / m->mem_Bps;

	return (fmax(math_s, move_s) + p->layout_B / m->mem_Bps + m->fit->kernel_s) * p->kernels;
}

static void add_matrix(struct jl_conv_cost *cost, const struct machine *m, const struct jl_conv_op *op, double *calls)
{
	static const int first[] = { FORWARD, WEIGHT_GRADIENT };
	static const int full[] = { FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT };
	const int n_pass = op->train == JL_CONV_FROZEN || has(m, JL_SW_FORWARD) ? 1
			   : op->train == JL_CONV_FIRST                         ? 2
										: 3;
	const struct shape s = shape_of(op);
	const double rate = group_rate(m, op);

	for (int i = 0; i < n_pass; i++) {
		const int which = n_pass == 2 ? first[i] : full[i];
		const struct pass p = pass_of(m, op, &s, which);

		cost->device_s += pass_s(m, op, &p, rate, which);
		cost->flop += p.flop * p.kernels;
		cost->moved_B += (p.moved_B + p.layout_B) * p.kernels;
	}
	if (!is_recurrent(op->kind))
		*calls += op->count * n_pass;
	if (is_autocast(m) && !m->listed && (op->kind == JL_CONV_CONV || op->kind == JL_CONV_LINEAR))
		*calls += op->count * m->fit->cast_calls[op->kind == JL_CONV_LINEAR] * (n_pass == 1 ? 0.375 : 1);
}

/* Bytes per score of unfused attention: write, scale, softmax (fp32 with casts under autocast), read; and the backward pass. */
static const double score_passes_fwd = 6, score_passes_bwd = 9, score_amp_fwd_B = 8, score_amp_bwd_B = 18;

static void add_attention(struct jl_conv_cost *cost, const struct machine *m, const struct jl_conv_op *op,
			  double *calls)
{
	const struct jl_conv_fit *fit = m->fit;
	const struct shape s = shape_of(op);
	const double items = (op->per_step ? 1 : m->in->batch) * op->count * s.products;
	const int trained = op->train != JL_CONV_FROZEN && !has(m, JL_SW_FORWARD);
	const int fused = op->fuse && m->path == JL_CONV_HALF && !has(m, JL_SW_PLAIN_ATTENTION);
	const double scores = s.m * s.n * items,
		     passes = trained ? score_passes_fwd + score_passes_bwd : score_passes_fwd;
	const double amp_B = is_autocast(m) ? score_amp_fwd_B + (trained ? score_amp_bwd_B : 0) : 0;
	/* the fused backward pass recomputes the scores */
	const double flop = 2 * scores * s.k * (trained ? fused ? 3.5 : 3 : 1);
	const double moved_B =
		m->elem_B * (s.in + s.out) * items * (trained ? 3 : 1) +
		(fused ? 0 : scores * (m->elem_B * passes + amp_B) * (has(m, JL_SW_COMPILED) ? fit->fused_frac : 1));
	const double frac = fmin((fused ? fit->attn_frac : fit->bmm_frac) * fit->linear_frac[m->path], 1);
	const double math_s = flop / (frac * m->peak_flopps), n_calls = op->count * (fused ? 1 : 4) * (trained ? 3 : 1);

	cost->device_s += (fused ? fmax(math_s, moved_B / m->mem_Bps) : math_s + moved_B / m->mem_Bps) +
			  n_calls * fit->kernel_s;
	cost->flop += flop;
	cost->moved_B += moved_B;
	*calls += n_calls;
}

/* Bytes and launches of a stream in this pass. A list that does not separate the forward pass gets the typical share. */
static double stream_B(const struct machine *m, const struct jl_conv_op *op, double *ret_calls)
{
	const double elem_B = op->elem_B > 0 ? op->elem_B : m->elem_B, batch = op->per_step ? 1 : m->in->batch;
	const double left = has(m, JL_SW_COMPILED) ? m->fit->fused_frac : 1;
	double passes = op->passes, calls = op->calls, amp_B = op->amp_fwd_B + op->amp_bwd_B;

	if (has(m, JL_SW_FORWARD)) {
		passes = op->back_only ? 0 : op->fwd_passes > 0 ? op->fwd_passes : 0.375 * op->passes;
		calls = op->back_only ? 0 : op->fwd_calls > 0 ? op->fwd_calls : 0.375 * op->calls;
		amp_B = op->amp_fwd_B;
	}
	/* transposed before the operator, and its output transposed back */
	if (op->turns && has(m, JL_SW_CHANNELS_LAST) && !has(m, JL_SW_COMPILED))
		amp_B += (is_autocast(m) ? 12 : 4 * elem_B) * (has(m, JL_SW_FORWARD) ? 1 : 2);
	*ret_calls = calls * op->count * left;
	return op->elems * (passes * elem_B + (is_autocast(m) || op->turns ? amp_B : 0)) * batch * op->count * left;
}

/* Optimizer update and, under autocast, 16-bit copies of the weights in every pass and the cast of their gradients. */
static double weights_B(const struct machine *m)
{
	const double cast_B = is_autocast(m) ? has(m, JL_SW_FORWARD) ? 6 : 12 : 0;

	return m->in->n_params * (has(m, JL_SW_FORWARD) ? 0 : m->in->update_B) + m->in->n_cast * cast_B;
}

static void add_product(struct jl_conv_cost *cost, const struct machine *m, const struct jl_conv_op *op, double *calls)
{
	if (op->kind == JL_CONV_ATTENTION)
		add_attention(cost, m, op, calls);
	else
		add_matrix(cost, m, op, calls);
}

/* Adds only the FLOP and bytes of an operator whose time is counted with its block. */
static void add_inside(struct jl_conv_cost *cost, const struct machine *m, const struct jl_conv_op *op)
{
	struct jl_conv_cost alone = { 0 };
	double calls = 0;

	if (op->kind == JL_CONV_STREAM)
		alone.moved_B = stream_B(m, op, &calls);
	else
		add_product(&alone, m, op, &calls);
	cost->flop += alone.flop;
	cost->moved_B += alone.moved_B;
}

struct jl_conv_cost jl_conv_device(const struct jl_device *dev, const struct jl_conv_fit *fit,
				   const struct jl_conv_in *in)
{
	const struct machine m = machine_of(dev, fit, in);
	struct jl_conv_cost cost = { 0 };
	double calls = 0, sync_calls = 0, stream_calls, streamed_B = weights_B(&m);

	for (size_t i = 0; i < in->n_ops; i++) {
		const struct jl_conv_op *op = &in->ops[i];
		const double batch = op->per_step ? 1 : in->batch;

		if (op->kind == JL_CONV_BLOCK)
			continue;
		if (op->inside && !in->spelled) {
			add_inside(&cost, &m, op);
		} else if (op->kind == JL_CONV_STREAM) {
			streamed_B += stream_B(&m, op, &stream_calls);
			calls += stream_calls;
			cost.device_s += stream_calls * fit->kernel_s;
		} else if (op->kind == JL_CONV_HOST) {
			*(op->sync ? &sync_calls : &calls) += op->calls * batch * (has(&m, JL_SW_FORWARD) ? 0.375 : 1) *
							      (m.path == JL_CONV_HALF ? fit->amp_calls_gain : 1);
		} else {
			add_product(&cost, &m, op, &calls);
		}
	}
	cost.device_s += streamed_B / m.mem_Bps;
	cost.device_s /= fit->device_frac;
	cost.moved_B += streamed_B;
	/* host time per launch, before the surcharges for other workers and old software */
	const double launch_s = in->launch_s > 0 ? in->launch_s : fit->launch_s;

	cost.host_s = calls * launch_s;
	cost.sync_s = sync_calls * launch_s;
	return cost;
}

struct jl_conv_cost jl_conv_finish(const struct jl_conv_fit *fit, const struct jl_conv_in *in, struct jl_conv_cost cost)
{
	double gain = 1 + fit->worker_gain * (in->n_workers - 1);

	if (in->software & JL_SW_SLOW_HOST)
		gain *= fit->slow_host_gain;
	cost.host_s *= gain;
	cost.sync_s *= gain;
	/* the slower of device and host, plus a bit of the other if they are close (fourth-power mean) */
	const double a = cost.device_s * cost.device_s, b = cost.host_s * cost.host_s;
	const double busy_s = sqrt(sqrt(a * a + b * b));

	cost.exposed_s = fmax(in->comm_s - fit->overlap_frac * 0.6 * cost.device_s, fit->exposed_frac * in->comm_s);
	cost.step_s = busy_s + cost.sync_s + cost.exposed_s;
	return cost;
}

struct jl_conv_cost jl_conv_step(const struct jl_device *dev, const struct jl_conv_fit *fit,
				 const struct jl_conv_in *in)
{
	return jl_conv_finish(fit, in, jl_conv_device(dev, fit, in));
}
