/* Serving, as a bound that holds for any server program: every output token of a batch reads all weights and everybody's keys and
 * values once, computes two FLOP a parameter and user, and adds up activations twice a layer over the devices that share the model.
 *
 *     step = max((weights + kv) / (n * memory rate * 0.75), 2 * params * users / (n * rate * 0.5)) + 2 * layers * all-reduce(users * hidden)
 *
 * Not fitted on measurements: the two shares and the interval, a factor of 1.6 either way, are assumptions. Prompts, queueing and the
 * host are not in it. One machine serves by itself: several share the users. */
#include <math.h>

#include "model/collective.h"
#include "recommend/inside.h"

#define MEMORY_FRAC  0.75 /* of the listed memory rate that decoding reaches */
#define COMPUTE_FRAC 0.5
#define ROOM_FRAC    0.92
#define OTHER_B      3e9 /* of a device: context, workspace, fragments */
#define SPREAD       1.6
#define POWER_FRAC   0.6 /* of the power limit: decoding waits for memory */

struct format {
	double bits, weight_B; /* of a parameter; scales included */
};

/* From what loses nothing to what needs least. */
static const struct format formats[] = {
	{ 16, 2 },
	{ 8, 1.02 },
	{ 4, 0.55 },
};

static double kv_B_per_token(const struct jl_transformer *m)
{
	if (m->mla.kv_lora > 0)
		return 2 * m->n_layers * (m->mla.kv_lora + m->mla.rope_dim);
	return 2 * 2 * m->n_layers * m->kv_heads * m->head_dim;
}

static double rate_of(const struct jl_device *dev)
{
	const double bf16 = dev->peak_flopps[JL_BF16], fp16 = dev->peak_flopps[JL_FP16];

	return bf16 > 0 ? bf16 : fp16 > 0 ? fp16 : dev->peak_flopps[JL_FP32];
}

static double step_s(const struct jl_machine *machine, const struct jl_transformer *m, double weights_B, double read_B,
		     double active, double users, int n)
{
	const struct jl_device *dev = &machine->dev;
	const double memory_s = (weights_B + read_B) / (n * dev->mem_Bps * MEMORY_FRAC);
	const double compute_s = 2 * active * users / (n * rate_of(dev) * COMPUTE_FRAC);
	const struct jl_collective sum = {
		.kind = JL_ALLREDUCE, .size_B = users * m->hidden * 2, .n_ranks = n, .n_ranks_per_node = n
	};

	return fmax(memory_s, compute_s) +
	       (n > 1 ? 2 * m->n_layers * jl_collective_cost(&machine->fabric, &sum).time_s : 0);
}

void jl_setup_serve(struct jl_setup *setup, const struct jl_work *work, const struct jl_machine *machine)
{
	const struct jl_transformer *m = &work->subject.model;
	const struct jl_recommend_ask *ask = work->ask;
	const int n = setup->sys.n_per_node > 0 ? setup->sys.n_per_node : 1;
	const double users = ceil(ask->users / setup->sys.n_nodes);
	const struct jl_transformer_params params = jl_transformer_params(m);
	const double kv_B = users * ask->context * kv_B_per_token(m);
	const double active = params.active;

	if (work->subject.net || isnan(machine->dev.mem_B) || isnan(machine->dev.mem_Bps) ||
	    !(rate_of(&machine->dev) > 0)) {
		setup->against = JL_AGAINST_UNKNOWN;
		return;
	}
	if (setup->sys.n_nodes > ask->users) {
		setup->against = JL_AGAINST_BATCH;
		return;
	}
	setup->against = JL_AGAINST_MEMORY;
	if (fmod(m->heads, n) != 0)
		return; /* a head is not cut */
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		const double weights_B = params.total * formats[i].weight_B;
		/* grouped heads that are fewer than devices are held more than once */
		const double copies = m->kv_heads > 0 && n > m->kv_heads ? n / m->kv_heads : 1;
		const double each_B = weights_B / n + kv_B * copies / n + OTHER_B;
		double s;

		if (each_B > ROOM_FRAC * machine->dev.mem_B)
			continue;
		/* experts: a batch of many users touches all of them; a few users only some */
		s = step_s(machine, m, weights_B * fmin(1, active * users / params.total), kv_B * copies, active, users,
			   n);
		setup->against = JL_AGAINST_NOTHING;
		setup->weight_bits = formats[i].bits;
		setup->memory_B = each_B;
		setup->memory_frac = each_B / machine->dev.mem_B;
		setup->run_s = (struct jl_estimate){ s, s / SPREAD, s * SPREAD };
		setup->per_s = (struct jl_estimate){ ask->users / s, ask->users / s / SPREAD, ask->users / s * SPREAD };
		setup->power_W = (machine->dev.tdp_W * POWER_FRAC * n + machine->host_idle_W) * setup->sys.n_nodes;
		setup->tp = n;
		setup->pp = 1;
		setup->dp = setup->sys.n_nodes;
		return;
	}
}
