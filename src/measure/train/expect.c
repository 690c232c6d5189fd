/* How long a step should take on this machine, from rates measured on it. For a machine in the catalog `predict` knows
 * more; this is for any other.
 *
 *   compute  multiply-adds of the step over the product rate; where products of the model's shapes and attention were
 *            measured by themselves (GPUs), each over its own
 *   passes   bytes that norms, activations, loss and optimizer move over the copy rate; activations that were measured
 *            as part of the products are left out
 *   comm     bytes that a worker exchanges over the all-reduce rate: an all-reduce of all gradients (ddp); the same
 *            in two halves (zero1, zero2: reduce-scatter, all-gather), gradients once a micro-batch in zero2; zero3
 *            gathers parameters twice a micro-batch (forward, backward) and reduces gradients once: half each
 *
 * An exchange can hide behind backward at best, and behind nothing at worst (collectives on the CPU take cores from
 * the computation): the interval goes from the one to the other, and as far again as the rates themselves vary from
 * run to run. */
#include <math.h>

#include "train/run.h"

#define RATE_SPREAD_FRAC 0.10 /* between a product alone and within a step */
#define BACKWARD_FRAC    0.6  /* of the computation that lies behind the first complete gradient */

/* Bytes that one token's passes move in one layer, forward and backward, in units of elements of the hidden width:
 * norms and residual sums (2 × 4 forward, 2 × 6 backward), qkv bias and attention's input and output (10), and
 * activations of the feed-forward part. */
static double pass_B(const struct jl_train_shape *s, double n_tokens, double n_updated)
{
	double hidden = (double)s->hidden, ffn = (double)s->ffn, up = (double)jl_train_width_up(s);
	double layer = (8 + 12 + 10) * hidden + 4 * up + 6 * ffn;
	double loss = 4 * (double)s->vocab_pad;
	double optimizer = 7 * n_updated; /* gradient, two moments and the weight read, three written */
	return 4.0 * (n_tokens * ((double)s->n_layers * layer + loss) + optimizer);
}

/* The same where bias, gelu and their gradients lie in the measured products: a norm reads residual stream and branch
 * and writes both, its gradient reads three and writes one; logits are read twice and written once; AdamW reads and
 * writes float weights and moments, reads the gradient, and writes the weights once more where they are kept halved. */
static double unfused_B(const struct jl_train_shape *s, const struct jl_engine_kernels *k,
			const struct jl_train_rates *rates, double n_tokens, double n_updated)
{
	double hidden = (double)s->hidden, ffn = (double)s->ffn, up = (double)jl_train_width_up(s);
	double layer = 2 * (4 + 4 + (k->recompute_norm ? 1 : 0)) * hidden;
	if (s->gated)
		layer += up + ffn + 2 * up + ffn;
	if (k->recompute_act)
		layer += up + ffn;
	double ends = 5 * hidden + 3 * (double)s->vocab_pad; /* embedding and its gradient, loss */
	double optimizer_B = 6 * 4 + rates->grad_B + (rates->elem_B < 4 ? rates->elem_B : 0);
	return rates->elem_B * n_tokens * ((double)s->n_layers * layer + ends) + optimizer_B * n_updated;
}

/* Bytes of one worker's messages: in the second half of an all-reduce come gradients, or (zero) parameters. */
static double comm_B(const struct jl_train_run *run, const struct jl_train_config *config,
		     const struct jl_train_rates *rates, double n_params)
{
	double n_micro = (double)run->n_micro, grad_B = rates->grad_B * n_params, param_B = rates->elem_B * n_params;
	switch (config->mode) {
	case JL_TRAIN_ZERO1: return 0.5 * grad_B + 0.5 * param_B;
	case JL_TRAIN_ZERO2: return 0.5 * n_micro * grad_B + 0.5 * param_B;
	case JL_TRAIN_ZERO3: return 0.5 * n_micro * grad_B + 2 * 0.5 * n_micro * param_B;
	default: return grad_B;
	}
}

/* Arithmetic and passes of all workers. */
static void own_work(const struct jl_train_shape *s, const struct jl_train_run *run,
		     const struct jl_train_config *config, const struct jl_train_rates *rates,
		     struct jl_train_expect *e)
{
	double n_workers = config->n_workers, n_samples = (double)(run->batch * run->n_micro) * n_workers;
	double n_updated = (double)s->n_params * (config->mode == JL_TRAIN_DDP ? n_workers : 1);
	double seq = (double)run->seq, flop = jl_train_step_flop(s, n_samples, seq);
	if (isfinite(rates->step_flopps)) {
		double attention = jl_train_attention_flop(s, n_samples, seq);
		e->compute_s = (flop - attention) / rates->step_flopps + attention / rates->attn_flopps;
		e->pass_s = unfused_B(s, run->kernels, rates, n_samples * seq, n_updated) / rates->mem_Bps;
		return;
	}
	e->compute_s = flop / rates->gemm_flopps;
	e->pass_s = pass_B(s, n_samples * seq, n_updated) / rates->mem_Bps;
}

struct jl_train_expect jl_train_expected(const struct jl_train_shape *s, const struct jl_train_run *run,
					 const struct jl_train_config *config, const struct jl_train_rates *rates)
{
	struct jl_train_expect e = { 0 };
	own_work(s, run, config, rates, &e);
	if (config->n_workers > 1)
		e.comm_s = comm_B(run, config, rates, (double)s->n_params) / rates->allreduce_Bps;
	double own_s = e.compute_s + e.pass_s, hidden_s = fmin(e.comm_s, BACKWARD_FRAC * own_s / (double)run->n_micro);
	double best_s = own_s + e.comm_s - hidden_s, worst_s = own_s + e.comm_s;
	e.step_s = (best_s + worst_s) / 2;
	e.lo_s = best_s * (1 - RATE_SPREAD_FRAC);
	e.hi_s = worst_s * (1 + RATE_SPREAD_FRAC);
	return e;
}
