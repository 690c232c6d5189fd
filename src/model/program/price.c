#include "program/price.h"

#include <math.h>

/* A stream's kernels: the first does the work, the others take as long as a kernel takes at least. */
static double stream_s(const struct jl_price_in *in, const struct jl_call_work *w, double moved_B, double n_kernels)
{
	const struct jl_program_fit *fit = in->fit;
	/* more blocks than SMs: some of them work on two */
	const double paired = fmin(fmax(w->most_sm / fmax(in->dev->n_sm, 1), 1), fmax(w->paired, 1));
	const double single = fmax(w->walked ? fit->walked_clocks : 0, w->cast ? fit->cast_clocks : 0) * w->n_elems;
	const struct jl_stream stream = { .moved_B = moved_B + w->again_B + w->across_B * (fit->across_gain - 1),
					  .clocks = fmax(w->clocks / paired, single),
					  .most_sm = w->most_sm,
					  .reuse_B = fit->reuse_gain * moved_B };

	const double then_s = w->then.clocks > 0 ? jl_stream_s(in->dev, &w->then) - in->dev->fit.kernel_s : 0;

	return n_kernels > 0 ? jl_stream_s(in->dev, &stream) + then_s + (n_kernels - 1) * in->dev->fit.kernel_s : 0;
}

static enum jl_dtype product_dtype(const struct jl_price_in *in, enum jl_dtype dtype)
{
	return dtype == JL_FP32 && in->tf32 && in->dev->priors && !in->dev->priors->no_tf32 ? JL_TF32 : dtype;
}

/* What the power limit takes of a product: of its arithmetic, as far as memory does not set the pace. */
static double hot_s(const struct jl_device *dev, const struct jl_gemm *g, double time_s, double moved_B)
{
	const enum jl_dtype dtype = isnan(dev->peak_flopps[g->dtype]) ? JL_FP32 : g->dtype;
	const double burst = dev->fit.burst_frac[dtype];
	const double rate = dev->peak_flopps[dtype] * dev->fit.gemm_frac[dtype];

	if (!(burst > 1))
		return 0;
	const double hot = 2 * g->m * g->n * g->k * g->batch / rate * (1 - 1 / burst);
	const double rest = time_s - moved_B / (dev->mem_Bps * dev->fit.mem_frac * dev->fit.read_frac);

	return fmax(fmin(hot, rest), 0);
}

/* Time of a linear layer with an odd number of outputs beside other layouts as odd: vocabularies of 49,155 to 50,265 on an H200. */
static const double odd_rows_gain = 1.45;

static void price_product(struct jl_call_cost *cost, const struct jl_price_in *in, const struct jl_call_work *w)
{
	struct jl_gemm g = w->u.gemm;

	g.dtype = product_dtype(in, g.dtype);
	cost->device_s = jl_gemm_s(in->dev, &g) * (w->odd_rows ? odd_rows_gain : 1);
	cost->hot_s = hot_s(in->dev, &g, cost->device_s, w->moved_B);
	cost->n_kernels += 1 + jl_gemm_sums(in->dev, &g);
	if (w->n_kernels > 0) /* what is added is copied to the output before */
		cost->device_s += stream_s(in, w, 2 * g.m * g.n * g.batch * g.out_B, w->n_kernels);
}

/* A convolution is a product whose left side is made of overlapping windows: of the input for the output, of the output's gradient for the
 * input's, of the input again for the weights'. */
static struct jl_gemm conv_gemm(const struct jl_call_work *w, enum jl_conv_pass pass, enum jl_dtype dtype)
{
	const struct jl_conv_op *op = &w->u.conv.op;
	const double in = w->u.conv.batch * op->h * op->w, out = w->u.conv.batch * op->oh * op->ow;
	const double window = op->kh * op->kw, c_in = op->c_in / op->groups, c_out = op->c_out / op->groups;
	struct jl_gemm g = { .m = out, .n = c_out, .k = c_in * window, .batch = op->groups, .dtype = dtype };

	if (pass == JL_PASS_INPUT_GRADIENT) /* with a stride only some of the windows meet an output */
		g = (struct jl_gemm){
			.m = in, .n = c_in, .k = fmax(c_out * window * out / in, 1), .batch = op->groups, .dtype = dtype
		};
	else if (pass == JL_PASS_WEIGHT_GRADIENT)
		g = (struct jl_gemm){
			.m = c_in * window, .n = c_out, .k = out, .batch = op->groups, .dtype = dtype, .turned = 1
		};
	g.out_B = jl_dtype_B(dtype);
	g.reuse_frac = fmin(1, (pass == JL_PASS_INPUT_GRADIENT ? out / in : in / out) / window);
	return g;
}

/* Tensor cores want channels last: what goes in, the weights and what comes out are turned by kernels of their own. Where a filter is one pixel and
 * rows are aligned the product reads them as they lie. On an H200 (bench/programs/measured/operators-0) turns of 16 bits run at half of the memory's
 * rate, of 32 at four fifths; windows are gathered at a sixth less than a product's rate, and a pass takes some time to begin. */
static const double turn_gain[2] = { 2, 1.25 }, window_gain = 1.18, start_s = 1.5e-6;

/* Three channels feed the tensor cores a third as well; in fp32, or by patches, the vector units multiply them, at less than half of their rate. */
static const double thin_gain = 3, thin_channels = 4, patch = 256, vector_gain = 2.6;

/* On vector units nothing is turned. */
static bool is_vector(const struct jl_call_work *w, enum jl_conv_pass pass, bool half)
{
	const struct jl_conv_op *op = &w->u.conv.op;

	if (op->c_in > thin_channels || w->u.conv.last || pass == JL_PASS_INPUT_GRADIENT)
		return false;
	return half ? pass == JL_PASS_FORWARD && op->kh * op->kw >= patch : true;
}

static double conv_pass_s(struct jl_call_cost *cost, const struct jl_price_in *in, const struct jl_call_work *w,
			  enum jl_conv_pass pass, enum jl_dtype dtype)
{
	const struct jl_conv_op *op = &w->u.conv.op;
	struct jl_gemm g = conv_gemm(w, pass, dtype);
	const double elem_B = jl_dtype_B(dtype), weights = op->c_in / op->groups * op->c_out * op->kh * op->kw;
	const double moved_B = elem_B * w->u.conv.batch * (op->c_in * op->h * op->w + op->c_out * op->oh * op->ow);
	const bool half = jl_conv_path(in->dev, dtype) == JL_CONV_HALF;

	if (is_vector(w, pass, half)) {
		g.dtype = JL_FP32;
		cost->n_kernels += 1;
		return vector_gain * jl_gemm_s(in->dev, &g);
	}
	double time_s = jl_gemm_s(in->dev, &g);

	cost->hot_s += hot_s(in->dev, &g, time_s, moved_B);
	cost->n_kernels += 1 + jl_gemm_sums(in->dev, &g);
	if (op->kh * op->kw > 1)
		time_s = start_s + window_gain * time_s;
	if (op->c_in <= thin_channels && pass != JL_PASS_INPUT_GRADIENT)
		time_s *= thin_gain;
	if (pass == JL_PASS_INPUT_GRADIENT && op->oh * op->ow < op->h * op->w) /* zeros between what meets an output */
		time_s += elem_B * w->u.conv.batch * op->c_in * op->h * op->w /
			  (in->dev->mem_Bps * in->dev->fit.mem_frac);
	if (jl_conv_is_turned(w)) {
		const struct jl_stream turn = { .moved_B = 2 * turn_gain[!half] * (moved_B + elem_B * weights) };

		const double n_turns = op->kh * op->kw > 1 ? 3 : 2; /* a weight of one pixel lies both ways */

		time_s += jl_stream_s(in->dev, &turn) + (n_turns - 1) * in->dev->fit.kernel_s;
		cost->n_kernels += n_turns;
	}
	return time_s;
}

/* One filter a channel, or few channels a group: nothing to multiply matrices with. SM clocks of a weight of the filter, of each output, or input
 * where the pass makes its gradient: cuDNN's kernels (fp16, channels last), PyTorch's own of bf16, those of fp32, by 7 pixels and more and by fewer; those of two channels and more. */
static double depthwise_s(struct jl_call_cost *cost, const struct jl_price_in *in, const struct jl_call_work *w,
			  enum jl_conv_pass pass, enum jl_dtype dtype)
{
	static const double wide_filter = 49, clocks[5][JL_N_CONV_PASS] = {
		{ [JL_PASS_FORWARD] = 0.085, [JL_PASS_INPUT_GRADIENT] = 0.09, [JL_PASS_WEIGHT_GRADIENT] = 0.08 },
		{ [JL_PASS_FORWARD] = 0.165, [JL_PASS_INPUT_GRADIENT] = 0.165, [JL_PASS_WEIGHT_GRADIENT] = 0.75 },
		{ [JL_PASS_FORWARD] = 0.105, [JL_PASS_INPUT_GRADIENT] = 0.165, [JL_PASS_WEIGHT_GRADIENT] = 1.15 },
		{ [JL_PASS_FORWARD] = 0.105, [JL_PASS_INPUT_GRADIENT] = 0.165, [JL_PASS_WEIGHT_GRADIENT] = 0.3 },
		{ [JL_PASS_FORWARD] = 0.22, [JL_PASS_INPUT_GRADIENT] = 0.1, [JL_PASS_WEIGHT_GRADIENT] = 0.18 },
	};
	const struct jl_conv_op *op = &w->u.conv.op;
	const double per_group = op->c_in / op->groups;
	const int wide = op->kh * op->kw >= wide_filter ? 2 : 3;
	const int own = per_group > 1 ? 4 : jl_dtype_B(dtype) > 2 ? wide : w->u.conv.last || dtype == JL_FP16 ? 0 : 1;
	const double inputs = w->u.conv.batch * op->c_in * op->h * op->w,
		     outputs = w->u.conv.batch * op->c_out * op->oh * op->ow;
	const struct jl_stream stream = { .moved_B = jl_dtype_B(dtype) * (inputs + outputs),
					  .clocks = clocks[own][pass] * per_group * op->kh * op->kw *
						    (pass == JL_PASS_INPUT_GRADIENT ? inputs : outputs) };

	cost->n_kernels += 1;
	return jl_stream_s(in->dev, &stream);
}

static const double narrow_group = 2; /* channels */

static void price_conv(struct jl_call_cost *cost, const struct jl_price_in *in, const struct jl_call_work *w)
{
	const struct jl_conv_op *op = &w->u.conv.op;
	const enum jl_dtype dtype = w->u.conv.dtype == JL_FP32 && in->dev->priors && !in->dev->priors->no_tf32
					    ? JL_TF32
					    : w->u.conv.dtype;
	const bool depthwise = op->groups > 1 && op->c_in <= narrow_group * op->groups;
	const double out_B = w->u.conv.batch * op->c_out * op->oh * op->ow * jl_dtype_B(dtype);

	for (int pass = 0; pass < JL_N_CONV_PASS; pass++)
		if (w->u.conv.passes >> pass & 1)
			cost->device_s += (depthwise ? depthwise_s : conv_pass_s)(cost, in, w, (enum jl_conv_pass)pass,
										  dtype);
	if (w->n_kernels > 0) /* the bias, or its gradient */
		cost->device_s += stream_s(in, w, (w->backward ? 1 : 2) * out_B, w->n_kernels);
}

/* Attention that is spelled out: of each score, bytes of the kernels that move it and of its softmax. */
static void spell(struct jl_attention *att)
{
	const double a = jl_dtype_B(att->dtype);

	att->flash = 0;
	att->score_B = 5 * a + 3;
	att->soft_B = 2 * a;
	att->soft_back_B = 3 * a;
	att->soft_clocks = att->seq_kv > 1024 ? 0.72 : 0.42;
	att->soft_back_clocks = 0.4;
}

/* Of heads wider than the others' kernels take PyTorch runs CUTLASS's, which keep sums in memory: rate, of the others', forward and backward, of 16
 * bits and of fp32. On Hopper the vendor's kernels (cuDNN 9) take the others, and run faster than what the rates were found on. */
#define FUSED_HEAD_MAX 256
static const double wide_rate[2][2] = { { 0.24, 0.11 }, { 1.7, 1.1 } }, vendor_rate = 1.3, fp32_rate = 1.4;

static double fused_s(const struct jl_price_in *in, const struct jl_call_work *w, const struct jl_attention *att)
{
	const bool fp32 = w->u.attention.need == JL_NEED_WIDE, masked = w->u.attention.need == JL_NEED_MASK;
	const bool vendor = in->dev->priors && in->dev->priors->warpgroup;
	const double time_s = w->backward ? jl_attention_bwd_s(in->dev, att) : jl_attention_fwd_s(in->dev, att);
	const double mask_s = masked ? w->u.attention.mask_B / (in->dev->mem_Bps * in->dev->fit.mem_frac) : 0;

	if (att->head_dim > FUSED_HEAD_MAX)
		return time_s / wide_rate[fp32][w->backward] + mask_s;
	if (fp32)
		return time_s / fp32_rate + mask_s;
	if (vendor) /* a mask is read beside the keys */
		return time_s / (masked ? 1 : vendor_rate) + mask_s;
	/* elsewhere masks are for PyTorch's own kernels */
	return time_s / (masked && in->dev->fit.portable_frac > 0 ? in->dev->fit.portable_frac : 1) + mask_s;
}

static void price_attention(struct jl_call_cost *cost, const struct jl_price_in *in, const struct jl_call_work *w)
{
	struct jl_attention att = w->u.attention.att;
	const bool wide = w->u.attention.need == JL_NEED_WIDE, grouped = att.kv_heads < att.heads;
	const bool fused = !(wide && grouped);

	if (!fused)
		spell(&att);
	cost->device_s = fused         ? fused_s(in, w, &att)
			 : w->backward ? jl_attention_bwd_s(in->dev, &att)
				       : jl_attention_fwd_s(in->dev, &att);
	if (!fused)
		cost->n_kernels += w->backward ? 15 : 13;
	else if (w->backward)
		cost->n_kernels += (wide || att.head_dim > FUSED_HEAD_MAX ? 5 : 3) + (grouped ? 2 : 0);
	else
		cost->n_kernels += 1 + (att.dropout && !wide);
}

/* Layers so narrow that their weights stay in one SM's registers: cuDNN walks all steps in one kernel, in fp32 and fp16. Widest by cells of one
 * gate and of several, forward and backward, as PyTorch asks for it (ATen/native/cudnn/RNN.cpp). Clocks of a step, and of each of its weights. */
static const double narrow[2][2] = { { 384, 256 }, { 192, 128 } }, step_clocks = 440, weight_clocks = 0.039,
		    cell_s = 8e-7, overlap = 1.6;

/* One layer in one direction, in fp16: weights stay in the registers of all SMs, which meet after each step. */
static const double spread_max = 1024, spread_unit = 128, spread_batch = 128, meet_s = 2.2e-6;

static bool is_spread(const struct jl_call_work *w)
{
	const double hidden = w->u.rnn.step.k, batch = w->u.rnn.batch;

	return w->u.rnn.dtype == JL_FP16 && w->u.rnn.times == 1 && w->u.rnn.step.n != 3 * hidden &&
	       hidden <= spread_max && fmod(hidden, spread_unit) == 0 && fmod(w->u.rnn.input.k, spread_unit) == 0 &&
	       fmod(batch, 8) == 0 && batch <= spread_batch;
}

/* Every other layer takes a product and a pointwise kernel each step, over weights that L2 holds. */
static double steps_s(const struct jl_price_in *in, const struct jl_call_work *w, double *ret_kernels)
{
	const struct jl_conv_op *step = &w->u.rnn.step;
	const double gates = step->n / step->k;
	const bool walks = step->k <= narrow[gates > 1][w->backward] && w->u.rnn.dtype != JL_BF16;
	struct jl_gemm g = { .m = w->u.rnn.batch,
			     .n = w->backward ? step->k : step->n,
			     .k = w->backward ? step->n : step->k,
			     .batch = 1,
			     .dtype = product_dtype(in, w->u.rnn.dtype),
			     .alone = 1 };
	const struct jl_stream cell = { .moved_B = (gates + 3) * w->u.rnn.batch * step->k * jl_dtype_B(g.dtype),
					.reuse_B = 1 };

	*ret_kernels = walks || is_spread(w) ? 1 : 2 * step->steps;
	if (is_spread(w))
		return step->steps * (meet_s + 2 * g.m * g.n * g.k / in->dev->peak_flopps[g.dtype]);
	if (walks) {
		const struct jl_stream walk = {
			.clocks = step->steps * (step_clocks + weight_clocks * step->n * step->k), .most_sm = 1
		};

		return jl_stream_s(in->dev, &walk);
	}
	g.out_B = jl_dtype_B(g.dtype);
	return step->steps * (jl_gemm_s(in->dev, &g) + jl_stream_s(in->dev, &cell) + cell_s);
}

static void price_recurrent(struct jl_call_cost *cost, const struct jl_price_in *in, const struct jl_call_work *w)
{
	struct jl_gemm g = w->u.rnn.input, recurrent = w->u.rnn.input;
	double n_kernels;

	recurrent.dtype = g.dtype = product_dtype(in, g.dtype);
	recurrent.k = w->u.rnn.step.k;
	const double input_s = jl_gemm_s(in->dev, &g), walk_s = steps_s(in, w, &n_kernels);

	/* backward: the gradient of the input and of both weights beside the steps */
	/* steps of one layer run beside those of the next, those of one direction beside the other's */
	const double beside = n_kernels > 1 ? fmin(w->u.rnn.times, overlap) : 1;

	cost->device_s = w->u.rnn.times *
			 (walk_s / beside + (w->backward ? 2 * input_s + jl_gemm_s(in->dev, &recurrent) : input_s));
	cost->n_kernels += w->u.rnn.times * (n_kernels + (w->backward ? 3 : 0));
}

/* PCIe, or a link between devices; what is not pinned goes through a buffer of the driver's. */
static void price_transfer(struct jl_call_cost *cost, const struct jl_price_in *in, const struct jl_call_work *w)
{
	static const double pinned_frac = 0.85, pageable_frac = 0.16, begin_s = 8e-6;
	const double link_Bps = w->u.transfer.device && in->dev->link_Bps > 0 ? in->dev->link_Bps : in->dev->host_Bps;
	const double rate = link_Bps * (w->u.transfer.pinned || w->u.transfer.device ? pinned_frac : pageable_frac);

	cost->device_s = begin_s + (rate > 0 ? w->moved_B / rate : 0);
}

enum jl_issuer jl_issuer_of(const struct jl_program *p, enum jl_step_phase phase)
{
	if (phase == JL_PHASE_BACKWARD)
		return JL_BY_AUTOGRAD_BACKWARD;
	/* a compiled graph's calls come from one function: autograd records that, not them */
	return phase == JL_PHASE_FORWARD && p->trains && !p->compiled ? JL_BY_AUTOGRAD_FORWARD : JL_BY_PYTHON;
}

void jl_work_price(struct jl_call_cost *ret_cost, const struct jl_price_in *in, const struct jl_call_work *w)
{
	const struct jl_program_fit *fit = in->fit;
	struct jl_call_cost cost = { .n_kernels = w->n_kernels,
				     .moved_B = w->moved_B,
				     .flop = w->flop,
				     .class = w->class };

	switch (w->form) {
	case JL_WORK_NONE: break;
	case JL_WORK_STREAM:
		cost.device_s = stream_s(in, w, w->moved_B, w->n_kernels);
		cost.n_kernels = w->by_driver ? 0 : cost.n_kernels;
		break;
	case JL_WORK_PRODUCT: price_product(&cost, in, w); break;
	case JL_WORK_CONV: price_conv(&cost, in, w); break;
	case JL_WORK_ATTENTION: price_attention(&cost, in, w); break;
	case JL_WORK_RECURRENT: price_recurrent(&cost, in, w); break;
	case JL_WORK_TRANSFER: price_transfer(&cost, in, w); break;
	}
	const bool library = w->form == JL_WORK_PRODUCT || w->form == JL_WORK_CONV || w->form == JL_WORK_ATTENTION ||
			     w->form == JL_WORK_RECURRENT;
	const double ratio = w->form == JL_WORK_NONE
				     ? fit->view_ratio
				     : fit->call_ratio + (library ? fit->product_ratio : 0) +
					       (w->form == JL_WORK_RECURRENT ? fit->step_ratio : fit->kernel_ratio) *
						       fmax(cost.n_kernels - 1, 0) +
					       fit->tensor_ratio * w->n_tensors;

	cost.host_s[JL_BY_PYTHON] = in->profile->launch_s * ratio;
	cost.host_s[JL_BY_AUTOGRAD_FORWARD] = cost.host_s[JL_BY_PYTHON] * fit->grad_ratio;
	cost.host_s[JL_BY_AUTOGRAD_BACKWARD] = cost.host_s[JL_BY_PYTHON] * fit->back_ratio;
	*ret_cost = cost;
}
