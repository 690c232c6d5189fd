/* How long a step should take on this machine, from three rates measured on it. For a machine in the catalog
 * `predict` knows more; this is for any other.
 *
 *   compute  multiply-adds of the step over the product rate
 *   passes   bytes that norms, activations, loss and optimizer move over the copy rate
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

static double comm_messages(const struct jl_train_run *run, const struct jl_train_config *config)
{
	double n_micro = (double)run->n_micro;
	switch (config->mode) {
	case JL_TRAIN_ZERO2: return 0.5 * n_micro + 0.5;
	case JL_TRAIN_ZERO3: return 0.5 * n_micro + 2 * 0.5 * n_micro;
	default: return 1;
	}
}

struct jl_train_expect jl_train_expected(const struct jl_train_shape *s, const struct jl_train_run *run,
					 const struct jl_train_config *config, const struct jl_train_rates *rates)
{
	double n_workers = config->n_workers, n_samples = (double)(run->batch * run->n_micro) * n_workers;
	double n_updated = (double)s->n_params * (config->mode == JL_TRAIN_DDP ? n_workers : 1);
	double grad_B = 4.0 * (double)s->n_params;
	struct jl_train_expect e = { 0 };
	e.compute_s = jl_train_step_flop(s, n_samples, (double)run->seq) / rates->gemm_flopps;
	e.pass_s = pass_B(s, n_samples * (double)run->seq, n_updated) / rates->mem_Bps;
	e.comm_s = config->n_workers > 1 ? comm_messages(run, config) * grad_B / rates->allreduce_Bps : 0;
	double own_s = e.compute_s + e.pass_s, hidden_s = fmin(e.comm_s, BACKWARD_FRAC * own_s / (double)run->n_micro);
	double best_s = own_s + e.comm_s - hidden_s, worst_s = own_s + e.comm_s;
	e.step_s = (best_s + worst_s) / 2;
	e.lo_s = best_s * (1 - RATE_SPREAD_FRAC);
	e.hi_s = worst_s * (1 + RATE_SPREAD_FRAC);
	return e;
}
