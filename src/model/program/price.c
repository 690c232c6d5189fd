/* Prices calls: device and host time of each kind of call. Knows no order of calls. */
#include "program/price.h"

#include <math.h>

/* Start-up of a stream, and gap between two kernels, as fractions of a product's shortest time. H200: the shortest stream takes 0.9 to 1.1 us, the
 * shortest product 2.4 us, the gap is 1 us. */
static const double stream_start = 0.42, between = 0.42;

/* Time of a stream's kernels: the first does the work, the others take the minimum kernel time. */
static double stream_s(const struct jl_price_in *in, const struct jl_call_work *w, double moved_B, double n_kernels)
{
	const struct jl_program_fit *fit = in->fit;
	/* more thread blocks than SMs: some SMs run two */
	const double paired = fmin(fmax(w->most_sm / fmax(in->dev->n_sm, 1), 1), fmax(w->paired, 1));
	const double single = fmax(w->walked ? fit->walked_clocks : 0, w->cast ? fit->cast_clocks : 0) * w->n_elems;
	const struct jl_stream stream = { .moved_B = moved_B + w->again_B + w->across_B * (fit->across_gain - 1),
					  .clocks = fmax(w->clocks / paired, single),
					  .most_sm = w->most_sm,
					  .reuse_B = fit->reuse_gain * moved_B };

	const double then_s = w->then.clocks > 0 ? jl_stream_s(in->dev, &w->then) - in->dev->fit.kernel_s : 0;
	const double start_s = stream_start * in->dev->fit.kernel_s;

	return n_kernels > 0 ? jl_stream_s(in->dev, &stream) - in->dev->fit.kernel_s + then_s + n_kernels * start_s : 0;
}

static enum jl_dtype product_dtype(const struct jl_price_in *in, enum jl_dtype dtype)
{
	return dtype == JL_FP32 && in->tf32 && in->dev->priors && !in->dev->priors->no_tf32 ? JL_TF32 : dtype;
}

/* PyTorch allows TF32 in cuDNN for fp32 convolutions and recurrent layers by default. */
static enum jl_dtype network_dtype(const struct jl_price_in *in, enum jl_dtype dtype)
{
	return dtype == JL_FP32 && in->dev->priors && !in->dev->priors->no_tf32 ? JL_TF32 : dtype;
}

/* Slow-down of a product by the power limit: affects its arithmetic, not the part bound by memory. */
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

/* Time factor of a linear layer with an odd number of outputs; measured for vocabularies of 49,155 to 50,265 on an H200. */
static const double odd_rows_gain = 1.45;

static void price_product(struct jl_call_cost *cost, const struct jl_price_in *in, const struct jl_call_work *w)
{
	struct jl_gemm g = w->u.gemm;

	g.dtype = product_dtype(in, g.dtype);
	cost->device_s = jl_gemm_s(in->dev, &g) * (w->odd_rows ? odd_rows_gain : 1);
	cost->hot_s = hot_s(in->dev, &g, cost->device_s, w->moved_B);
	cost->n_kernels += 1 + jl_gemm_sums(in->dev, &g);
	if (w->n_kernels > 0) /* the addend is copied to the output first */
		cost->device_s += stream_s(in, w, 2 * g.m * g.n * g.batch * g.out_B, w->n_kernels);
}

/* Convolution as an implicit GEMM whose left operand is overlapping windows: of the input (output), of the output's gradient (input gradient), of
 * the input (weight gradient). */
static struct jl_gemm conv_gemm(const struct jl_call_work *w, enum jl_conv_pass pass, enum jl_dtype dtype)
{
	const struct jl_conv_op *op = &w->u.conv.op;
	const double in = w->u.conv.batch * op->h * op->w, out = w->u.conv.batch * op->oh * op->ow;
	const double window = op->kh * op->kw, c_in = op->c_in / op->groups, c_out = op->c_out / op->groups;
	struct jl_gemm g = { .m = out, .n = c_out, .k = c_in * window, .batch = op->groups, .dtype = dtype };

	if (pass == JL_PASS_INPUT_GRADIENT) /* with a stride only some windows meet an output */
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

/* Tensor cores need channels last: separate kernels transpose inputs, weights and outputs, except for 1x1 filters with aligned rows. H200
 * (bench/programs/measured/operators-0): transposes run at half of the memory bandwidth in 16 bits, at four fifths in 32; gathered windows cost
 * about a sixth of a product's rate; start_s per pass. */
static const double turn_gain[2] = { 2, 1.25 }, start_s = 1.5e-6;

/* Gathering windows slows fast tensor cores more; reference: Hopper's FLOP per clock and SM. */
static double window_gain(const struct jl_device *dev, enum jl_dtype dtype)
{
	static const double most = 0.18, hopper[2] = { 2048, 4096 };
	const double flop = dev->peak_flopps[dtype] / (dev->n_sm * dev->boost_Hz);

	return 1 + most * fmin(1, flop > 0 ? flop / hopper[jl_dtype_B(dtype) < 4] : 1);
}

/* Time factors of inputs with up to four channels (images): forward, and 16-bit weight gradient. fp32, and patch embeddings (filters of 256 pixels
 * or more), use the vector units. */
static const double thin_gain[2] = { 2.2, 5 }, thin_channels = 4, patch = 256, vector_gain[2] = { 1, 1.7 };

/* True if the pass runs on vector units, without transposes. */
static bool is_vector(const struct jl_call_work *w, enum jl_conv_pass pass, bool half)
{
	const struct jl_conv_op *op = &w->u.conv.op;

	if (op->c_in > thin_channels || w->u.conv.last || pass == JL_PASS_INPUT_GRADIENT)
		return false;
	return half ? pass == JL_PASS_FORWARD && op->kh * op->kw >= patch : true;
}

/* Grouped convolutions. Widths that are powers of two have their own kernels; in 16 bits forward those of 50 to 64 run group by group. Other widths
 * take several more kernels, which visit every value with channels last. fp32 gradients take longer, twice as long with a stride (438 shapes on an
 * H200). */
static double grouped_s(struct jl_call_cost *cost, const struct jl_price_in *in, const struct jl_call_work *w,
			enum jl_conv_pass pass, bool half, double time_s)
{
	static const double looped[2] = { 50, 64 }, loop_s = 17e-6, fp32_gain[JL_N_CONV_PASS] = { 1, 1.3, 1.7 },
			    strided_gain = 2, pieces = 8, walk_clocks = 2.3;
	const struct jl_conv_op *op = &w->u.conv.op;
	const double width = op->c_in / op->groups;
	const bool strided = op->oh * op->ow < op->h * op->w;

	if (!half)
		time_s *= fp32_gain[pass] * (strided && pass == JL_PASS_INPUT_GRADIENT ? strided_gain : 1);
	else if (pass == JL_PASS_FORWARD && width >= looped[0] && width <= looped[1])
		time_s = fmax(time_s, op->groups * loop_s);
	if (fmod(log2(width), 1) == 0)
		return time_s;
	const struct jl_stream walk = { .clocks = walk_clocks * w->u.conv.batch *
						  (op->c_in * op->h * op->w + op->c_out * op->oh * op->ow) };

	cost->n_kernels += pieces;
	return time_s + pieces * in->dev->fit.kernel_s + (w->u.conv.last ? jl_stream_s(in->dev, &walk) : 0);
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
		return vector_gain[pass != JL_PASS_FORWARD] * jl_gemm_s(in->dev, &g);
	}
	double time_s = jl_gemm_s(in->dev, &g);

	cost->hot_s += hot_s(in->dev, &g, time_s, moved_B);
	cost->n_kernels += 1 + jl_gemm_sums(in->dev, &g);
	if (op->kh * op->kw > 1)
		time_s = start_s + window_gain(in->dev, dtype) * time_s;
	if (op->c_in <= thin_channels && pass != JL_PASS_INPUT_GRADIENT)
		time_s *= thin_gain[half && pass != JL_PASS_FORWARD];
	if (op->groups > 1)
		time_s = grouped_s(cost, in, w, pass, half, time_s);
	if (pass == JL_PASS_INPUT_GRADIENT && op->oh * op->ow < op->h * op->w) /* stride: zeros between outputs */
		time_s += elem_B * w->u.conv.batch * op->c_in * op->h * op->w /
			  (in->dev->mem_Bps * in->dev->fit.mem_frac);
	if (jl_conv_is_turned(w)) {
		const struct jl_stream turn = { .moved_B = 2 * turn_gain[!half] * (moved_B + elem_B * weights) };

		const double n_turns = op->kh * op->kw > 1 ? 3 : 2; /* a 1x1 weight has the same layout both ways */

		time_s += jl_stream_s(in->dev, &turn) + (n_turns - 1) * in->dev->fit.kernel_s;
		cost->n_kernels += n_turns;
	}
	return time_s;
}

/* Depthwise convolution, or few channels per group: no tensor cores. SM clocks per output (input gradient: per input) and per filter weight for it.
 * Kernels: cuDNN channels last in 16 bits and fp32, cuDNN channels first fp16, PyTorch's own for all else; several channels per group (28 networks
 * on an H200). */
enum { LAST_HALF, LAST_WIDE, SMALL_HALF, OWN, SEVERAL };

static int depthwise_kernel(const struct jl_call_work *w, enum jl_dtype dtype)
{
	static const double least_channels = 32, least_width = 7, filter_max = 5;
	const struct jl_conv_op *op = &w->u.conv.op;

	if (op->c_in > op->groups)
		return SEVERAL;
	if (w->u.conv.last)
		return jl_dtype_B(dtype) > 2 ? LAST_WIDE : LAST_HALF;
	/* PyTorch uses cuDNN for these */
	return dtype == JL_FP16 && op->c_in >= least_channels && !op->dilated && op->w >= least_width &&
			       op->kw == op->kh && op->kw <= filter_max && op->stride == 1
		       ? SMALL_HALF
		       : OWN;
}

static double depthwise_s(struct jl_call_cost *cost, const struct jl_price_in *in, const struct jl_call_work *w,
			  enum jl_conv_pass pass, enum jl_dtype dtype)
{
	static const double clocks[][JL_N_CONV_PASS][2] = {
		[LAST_HALF] = { { 0.1, 0.043 }, { 0.2, 0.08 }, { 0.05, 0.037 } },
		[LAST_WIDE] = { { 0, 0.095 }, { 0.2, 0.11 }, { 1, 0.08 } },
		[SMALL_HALF] = { { 1, 0.022 }, { 0.8, 0.04 }, { 0.9, 0.05 } },
		[OWN] = { { 1.35, 0.13 }, { 3.5, 0.1 }, { 1.3, 0.28 } },
		[SEVERAL] = { { 0, 0.22 }, { 0, 0.1 }, { 0, 0.18 } },
	};
	static const double wide_filter = 49, wide_clocks = 1.4; /* fp32 weight gradients, channels last */
	const struct jl_conv_op *op = &w->u.conv.op;
	const double window = op->kh * op->kw * op->c_in / op->groups;
	const int kernel = depthwise_kernel(w, dtype);
	const double *c = clocks[kernel][pass];
	const double inputs = w->u.conv.batch * op->c_in * op->h * op->w,
		     outputs = w->u.conv.batch * op->c_out * op->oh * op->ow;
	const double of_weight = kernel == LAST_WIDE && pass == JL_PASS_WEIGHT_GRADIENT && window >= wide_filter
					 ? wide_clocks
					 : c[1];
	const struct jl_stream stream = { .moved_B = jl_dtype_B(dtype) * (inputs + outputs),
					  .clocks = (c[0] + of_weight * window) *
						    (pass == JL_PASS_INPUT_GRADIENT ? inputs : outputs) };

	cost->n_kernels += 1;
	return jl_stream_s(in->dev, &stream);
}

static const double narrow_group = 2; /* channels per group, up to which this is depthwise */

static void price_conv(struct jl_call_cost *cost, const struct jl_price_in *in, const struct jl_call_work *w)
{
	const struct jl_conv_op *op = &w->u.conv.op;
	const enum jl_dtype dtype = network_dtype(in, w->u.conv.dtype);
	const bool depthwise = op->groups > 1 && op->c_in <= narrow_group * op->groups;
	const double out_B = w->u.conv.batch * op->c_out * op->oh * op->ow * jl_dtype_B(dtype);

	for (int pass = 0; pass < JL_N_CONV_PASS; pass++)
		if (w->u.conv.passes >> pass & 1)
			cost->device_s += (depthwise ? depthwise_s : conv_pass_s)(cost, in, w, (enum jl_conv_pass)pass,
										  dtype);
	if (w->n_kernels > 0) /* adding the bias, or computing its gradient */
		cost->device_s += stream_s(in, w, (w->backward ? 1 : 2) * out_B, w->n_kernels);
}

/* Unfused attention: bytes per score of the kernels that move it and of softmax. */
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

/* Heads wider than FUSED_HEAD_MAX: PyTorch uses CUTLASS kernels, which keep sums in memory. Rates relative to fused kernels: 16 bits forward and
 * backward, fp32 forward and backward. On Hopper cuDNN 9 runs the others, faster than the kernels on which the rates were measured (vendor_rate). */
#define FUSED_HEAD_MAX 256
static const double wide_rate[2][2] = { { 0.24, 0.11 }, { 1.7, 1.1 } }, vendor_rate = 1.3;

/* fp32 attention by CUTLASS: tiles of 64 queries and 64 keys. A block walks along the keys (backward: along the queries). blocks: per SM to keep it
 * busy; score + wide * head size: cost of a score; rate: share of the vector peak; mask_gain: with a mask (50 shapes and seven programs on an
 * H200). */
static double tiles_s(const struct jl_device *dev, const struct jl_attention *att, bool backward, bool masked)
{
	static const double tile = 64, blocks[2] = { 1.2, 2.5 }, rate[2] = { 0.44, 0.4 }, products[2] = { 4, 10 },
			    score[2] = { 45, 33 }, wide[2] = { 0.37, 0.56 }, mask_gain = 1.25;
	const double q = tile * ceil(att->seq_q / tile), kv = tile * ceil(att->seq_kv / tile);
	const double width = (score[backward] + wide[backward] * att->head_dim) * (masked ? mask_gain : 1);
	const double kept = att->causal ? 0.5 + 0.5 * fmin(1, tile / kv) : 1, heads = att->batch * att->heads;
	const double busy = fmin(1, heads * (backward ? kv : q) / tile / (blocks[backward] * dev->n_sm));

	return dev->fit.kernel_s +
	       products[backward] * heads * q * kv * kept * width / (rate[backward] * dev->peak_flopps[JL_FP32] * busy);
}

static double fused_s(const struct jl_price_in *in, const struct jl_call_work *w, const struct jl_attention *att)
{
	const bool fp32 = w->u.attention.need == JL_NEED_WIDE, masked = w->u.attention.need == JL_NEED_MASK;
	const bool vendor = in->dev->priors && in->dev->priors->warpgroup;
	const double time_s = w->backward ? jl_attention_bwd_s(in->dev, att) : jl_attention_fwd_s(in->dev, att);
	const double mask_s = masked ? w->u.attention.mask_B / (in->dev->mem_Bps * in->dev->fit.mem_frac) : 0;

	if (att->head_dim > FUSED_HEAD_MAX)
		return time_s / wide_rate[fp32][w->backward] + mask_s;
	if (fp32)
		return tiles_s(in->dev, att, w->backward, w->u.attention.mask_B > 0);
	if (vendor) /* the mask is read beside the keys */
		return time_s / (masked ? 1 : vendor_rate) + mask_s;
	/* elsewhere masks use PyTorch's own kernels */
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

/* Recurrent layers narrow enough for one SM's registers: cuDNN runs all steps in one kernel, in fp32 and fp16. narrow: maximum width for cells with
 * one gate and with several, forward and backward, as PyTorch selects (ATen/native/cudnn/RNN.cpp). SM clocks per step and per weight. */
static const double narrow[2][2] = { { 384, 256 }, { 192, 128 } }, step_clocks = 440, weight_clocks = 0.039,
		    cell_s = 8e-7, overlap = 1.6;

/* One fp16 layer in one direction: the weights stay in the registers of all SMs, which synchronise after each step. */
static const double spread_max = 1024, spread_unit = 128, spread_batch = 128, meet_s = 2.2e-6;

static bool is_spread(const struct jl_call_work *w)
{
	const double hidden = w->u.rnn.step.k, batch = w->u.rnn.batch;

	return w->u.rnn.dtype == JL_FP16 && w->u.rnn.times == 1 && w->u.rnn.step.n != 3 * hidden &&
	       hidden <= spread_max && fmod(hidden, spread_unit) == 0 && fmod(w->u.rnn.input.k, spread_unit) == 0 &&
	       fmod(batch, 8) == 0 && batch <= spread_batch;
}

/* Time of the steps of one layer. Default: a product and an elementwise kernel per step, with the weights in L2. */
static double steps_s(const struct jl_price_in *in, const struct jl_call_work *w, double *ret_kernels)
{
	const struct jl_conv_op *step = &w->u.rnn.step;
	const double gates = step->n / step->k;
	const bool walks = step->k <= narrow[gates > 1][w->backward] && w->u.rnn.dtype != JL_BF16;
	struct jl_gemm g = { .m = w->u.rnn.batch,
			     .n = w->backward ? step->k : step->n,
			     .k = w->backward ? step->n : step->k,
			     .batch = 1,
			     .dtype = network_dtype(in, w->u.rnn.dtype),
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

	recurrent.dtype = g.dtype = network_dtype(in, g.dtype);
	recurrent.k = w->u.rnn.step.k;
	const double input_s = jl_gemm_s(in->dev, &g), walk_s = steps_s(in, w, &n_kernels);

	/* backward: gradients of the input and of both weights, besides the steps */
	/* steps overlap with those of the next layer and of the other direction */
	const double beside = n_kernels > 1 ? fmin(w->u.rnn.times, overlap) : 1;

	cost->device_s = w->u.rnn.times *
			 (walk_s / beside + (w->backward ? 2 * input_s + jl_gemm_s(in->dev, &recurrent) : input_s));
	cost->n_kernels += w->u.rnn.times * (n_kernels + (w->backward ? 3 : 0));
}

/* PCIe or a device-to-device link; unpinned memory passes through a driver buffer. */
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
	/* autograd records a compiled graph as one function, not its calls */
	return phase == JL_PHASE_FORWARD && p->trains && !p->compiled ? JL_BY_AUTOGRAD_FORWARD : JL_BY_PYTHON;
}

void jl_work_price(struct jl_call_cost *ret_cost, const struct jl_price_in *in, const struct jl_call_work *w)
{
	const struct jl_program_fit *fit = in->fit;
	struct jl_call_cost cost = { .n_kernels = w->n_kernels,
				     .moved_B = w->moved_B,
				     .flop = w->flop,
				     .class = w->class };

	cost.moved_B += w->then.moved_B;
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
	cost.device_s += between * in->dev->fit.kernel_s * cost.n_kernels;
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
