/* Builds the model's input from a case, and checks whether a case is possible. */
#include "predict/predict.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/budget.h"
#include "predict/kind.h"
#include "program/tune.h"

#define COMPILED_PIECES 8.0  /* pieces of the loss in torchtune with compile; unpacked weights have 16 bits */
#define FUSED_PIECES    64.0 /* pieces of the loss in Unsloth, which never stores all logits */
#define GALORE_RANK                                                                                                    \
	128.0 /* GaLore's authors use 256 to 1,024 for 1 to 7 billion parameters; fine-tuning usually uses less */

/* Times of a note in the reader's language: "5.7 min" reads "5.7분". */
static void localize_times(char *text, size_t size)
{
	static const char *const units[] = { "min", "s", "h", "d", "y" };

	for (char *at = text; (at = strchr(at, ' ')) != NULL; at++)
		for (size_t i = 0; at > text && at[-1] >= '0' && at[-1] <= '9' && i < JL_LEN(units); i++) {
			const size_t n = strlen(units[i]);
			const char *said = jl_unit_localized(units[i], NULL);

			if (strncmp(at + 1, units[i], n) != 0 || (at[1 + n] && !strchr(" ,.;)", at[1 + n])) ||
			    strcmp(said, units[i]) == 0 || strlen(text) + strlen(said) >= size)
				continue;
			memmove(at + strlen(said), at + 1 + n, strlen(at + 1 + n) + 1);
			memcpy(at, said, strlen(said));
			break;
		}
}

void jl_note_add(struct jl_notes *notes, const char *key, const char *en, ...)
{
	struct jl_note *note = &notes->items[notes->n];
	va_list args;

	if (notes->n == JL_NOTES_MAX)
		return;
	notes->n++;
	note->key = key;
	va_start(args, en);
	jl_msg_vprint(note->en, note->text, sizeof(note->en), en, args);
	va_end(args);
	localize_times(note->text, sizeof(note->text));
}

/* Generation time: each step produces one token of every answer. It reads the weights, and the KV cache of the prompt and half of the answer. */
static double generate_s(const struct jl_case *c)
{
	const struct jl_transformer *m = &c->subject.model;
	const struct jl_plan *p = &c->plan;

	if (!(c->generated > 0))
		return 0;
	const double n = jl_shard_sequences(&c->shard) * p->n_micro, kept = c->shard.seq - 0.5 * c->generated;
	const double weights_B = jl_transformer_params(m).total * jl_dtype_B(c->shard.act_dtype) / p->tp;
	const double kv_B = 2 * m->n_layers * m->kv_heads * m->head_dim * jl_dtype_B(c->shard.act_dtype) / p->tp;

	return c->generated * (weights_B + n * kept * kv_B) / (c->machine.dev.mem_Bps * c->machine.dev.fit.mem_frac);
}

unsigned jl_case_offload(const struct jl_case *c)
{
	/* Unsloth keeps checkpoints in host memory */
	const bool checkpoints = c->framework == JL_FW_FUSED && c->plan.recompute == JL_RECOMPUTE_FULL &&
				 c->machine.dev.host_Bps > 0;

	return c->plan.offload | (checkpoints ? JL_OFFLOAD_ACTIVATIONS : 0U);
}

struct jl_train jl_case_train(const struct jl_case *c)
{
	struct jl_train train = {
		.model = &c->subject.model,
		.dev = &c->machine.dev,
		.fabric = &c->machine.fabric,
		.profile = &c->profile,
		.plan = c->plan,
		.shard = c->shard,
		.memory = c->machine.memory,
		.fused_loss = c->loss == JL_UNSET ? jl_loss_of(c->framework) : (enum jl_loss)c->loss,
		.chunked_loss = c->chunked_loss,
		.host_mem_Bps = c->machine.host_mem_Bps,
		.input_s = jl_case_input(c).input_s,
		.generate_s = generate_s(c),
	};

	train.plan.offload = jl_case_offload(c);
	train.shard.tp = c->plan.tp;
	train.shard.cp = c->plan.cp;
	train.shard.ep = c->plan.ep;
	train.shard.sp = c->plan.sp;
	if (!c->machine.sys.gpu)
		train.memory.context_B = 0; /* no driver context on a CPU */
	return train;
}

/* Bytes per parameter. PyTorch's autocast keeps fp32 weights and gradients; ZeRO and FSDP keep 16-bit ones beside fp32 masters; Megatron reduces
 * in fp32. */
void jl_case_set_states(struct jl_case *c)
{
	struct jl_plan *plan = &c->plan;
	/* also on a single rank: sharding engines always use 16-bit weights */
	const bool half = jl_dtype_B(c->shard.act_dtype) < 4, cut = plan->zero >= 1;
	const bool adapters = jl_tune_frozen(&c->shard.tune); /* adapters are kept in fp32 */
	enum jl_states states = JL_STATES_FP32;

	plan->paged = 0;
	plan->optimizer_kernels = plan->optimizer_flop = 0;
	if (adapters)
		;
	else if (half && c->framework == JL_FW_MEGATRON)
		states = JL_STATES_MEGATRON;
	else if (half && (cut || c->framework == JL_FW_NATIVE))
		states = JL_STATES_MIXED;
	if (half && !adapters && c->states == 1)
		states = JL_STATES_BF16;
	jl_plan_set_states(plan, states);
	/* FSDP gathers in 16 bits, and stores and reduces in fp32. With an offloaded optimizer or a pipeline it is DeepSpeed, which stores
	 * 16-bit gradients. Offloading must not appear faster because of that, so these also count as sent in fp32. */
	const bool fsdp = cut && plan->zero == 3 && states == JL_STATES_MIXED && plan->pp <= 1;
	const bool moved = plan->offload & JL_OFFLOAD_OPTIMIZER;

	plan->reduce_B = fsdp && moved ? 4 : 0;
	if (fsdp && !moved) {
		plan->grad_B = 4;
		plan->optimizer_B = 10;
	}
	/* DeepSpeed and Megatron have a fused optimizer; plain PyTorch uses its default (foreach) */
	const bool own = c->framework == JL_FW_EAGER || c->framework == JL_FW_COMPILED;

	if (c->optimizer == 0 ||
	    (c->optimizer != 1 && own && !(plan->offload & JL_OFFLOAD_OPTIMIZER) && (!cut || plan->zero == 3)))
		jl_plan_set_foreach(plan);
	if (c->optimizer != JL_UNSET)
		jl_plan_set_optimizer(plan, (enum jl_optimizer)c->optimizer,
				      c->shard.tune.rank > 0 ? c->shard.tune.rank : GALORE_RANK,
				      c->subject.model.hidden);
	/* bitsandbytes models have fp32 for all unpacked tensors (peft's prepare_model_for_kbit_training) */
	const bool wide = c->framework == JL_FW_EAGER && c->shard.tune.base != JL_BASE_SAME;

	c->shard.written_out = c->tuned && c->framework == JL_FW_EAGER ? JL_WRITTEN_ALL : 0;
	c->shard.wide_rest = wide;
	c->chunked_loss = c->framework == JL_FW_FUSED                  ? FUSED_PIECES
			  : c->framework == JL_FW_COMPILED && c->tuned ? COMPILED_PIECES
								       : 0;
	jl_tune_plan(plan, &c->subject.model, &c->shard.tune, jl_dtype_B(c->shard.act_dtype),
		     wide ? 4 : jl_dtype_B(c->shard.act_dtype));
	/* reference model: the frozen base with adapters, otherwise a copy */
	plan->extra_passes = c->method == JL_METHOD_DPO || c->method == JL_METHOD_GRPO;
	if (plan->extra_passes > 0 && !adapters) {
		plan->frozen_B = jl_dtype_B(c->shard.act_dtype);
		plan->frozen_frac = 1;
	}
	/* Megatron's distributed optimizer overlaps reduce-scatter with the backward pass; otherwise stage 1 is DeepSpeed's */
	plan->zero1_after = plan->zero == 1 && c->framework != JL_FW_MEGATRON;
	plan->hold_step = 0; /* weights are gathered for each micro-batch, which needs the least memory */
}

bool jl_case_adapters(const struct jl_case *c)
{
	return c->tuned && jl_tune_frozen(&c->shard.tune);
}

double jl_case_tokens(const struct jl_case *c)
{
	const double copies = c->shard.copies > 0 ? c->shard.copies : 1;

	return c->global_batch * copies * (c->mean_seq > 0 ? c->mean_seq : c->shard.seq);
}

void jl_case_tune_profile(struct jl_profile *profile, enum jl_framework framework, const struct jl_catalog *cat,
			  const char *code)
{
	jl_profile_tune(profile, framework, jl_tune_shipped(cat, jl_codebase_by_id(code)));
}

void jl_case_tune(struct jl_case *c, struct jl_tune_fit fit)
{
	c->tuned = true;
	if (c->launch_given)
		fit.call_ratio = 1;
	jl_profile_tune(&c->profile, c->framework, fit);
	c->shard.tune.unpack_ratio = fit.unpack_ratio;
	c->machine.memory.ragged_frac = fit.ragged_frac;
}

/* True if the experts' all-to-all overlaps: all published runs with experts across hosts do this. */
int jl_case_ep_async(const struct jl_case *c)
{
	return c->framework == JL_FW_MEGATRON && c->plan.ep > 1 && c->machine.fabric.n_nodes > 1 &&
	       c->plan.ep * c->plan.tp > c->machine.fabric.n_per_node;
}

static enum jl_status check_degrees(const struct jl_case *c, struct jl_err *err)
{
	const struct jl_plan *p = &c->plan;
	const double rest = p->tp * p->pp * p->cp, product = p->dp * rest;

	if (product != c->n_gpus && fmod(c->n_gpus, rest) == 0)
		return jl_fail(err, JL_E_USAGE,
			       "dp %.0f x tp %.0f x pp %.0f x cp %.0f is %.0f, but there are %d GPUs; take dp=%.0f",
			       p->dp, p->tp, p->pp, p->cp, product, c->n_gpus, c->n_gpus / rest);
	if (product != c->n_gpus)
		return jl_fail(
			err, JL_E_USAGE,
			"tp %.0f x pp %.0f x cp %.0f is %.0f, which does not divide %d GPUs; take a divisor of %d",
			p->tp, p->pp, p->cp, rest, c->n_gpus, c->n_gpus);
	if (p->ep > 1 && c->subject.model.moe.n_experts <= 0)
		return jl_fail(err, JL_E_USAGE, "ep %.0f: %s has no experts; leave ep out", p->ep, c->subject.id);
	if (p->ep > 1 && fmod(p->dp * p->cp, p->ep) != 0)
		return jl_fail(err, JL_E_USAGE, "ep %.0f must divide dp x cp, which is %.0f", p->ep, p->dp * p->cp);
	if (p->zero == 2 && p->pp > 1)
		return jl_fail(err, JL_E_USAGE,
			       "zero=2 with pp=%.0f: no framework supports it, since stages keep their gradients; take "
			       "zero=1 or zero=3",
			       p->pp);
	if (c->framework == JL_FW_FUSED && (p->tp > 1 || p->pp > 1 || p->cp > 1 || p->ep > 1))
		return jl_fail(err, JL_E_USAGE,
			       "--framework unsloth: it cuts no layers; leave tp, pp, cp and ep out, or take another "
			       "framework");
	if (p->n_chunks > 1 && p->pp <= 1)
		return jl_fail(err, JL_E_USAGE,
			       "vpp %.0f interleaves pipeline stages, but pp is 1; take pp=2 or more, or leave vpp out",
			       p->n_chunks);
	if (p->tp_async && (p->tp <= 1 || !p->sp))
		return jl_fail(err, JL_E_USAGE,
			       "overlap=1 hides the exchange of tensor slices along the sequence; it needs tp=2 or "
			       "more and sp=1");
	return JL_OK;
}

enum jl_status jl_case_check(const struct jl_case *c, struct jl_err *err)
{
	const double *peaks = c->machine.dev.peak_flopps, peak = peaks[c->shard.dtype];

	JL_TRY(check_degrees(c, err));
	if (!(peak > 0) && !c->subject.kind->is_captured) /* otherwise it runs on the vector units */
		return jl_fail(err, JL_E_USAGE,
			       "%s does not compute in %s, as far as the catalog knows; take --precision %s",
			       c->machine.sys.gpu ? c->machine.sys.gpu->id : c->machine.sys.cpu->id,
			       jl_dtype_name(c->shard.dtype),
			       jl_dtype_name(!c->machine.sys.gpu  ? JL_FP32
					     : peaks[JL_BF16] > 0 ? JL_BF16
								  : JL_FP16));
	if (c->plan.offload && !(c->machine.dev.host_Bps > 0))
		return jl_fail(err, JL_E_USAGE, "nothing to offload to: the catalog knows no link from %s to a host",
			       c->machine.sys.gpu ? c->machine.sys.gpu->id : c->machine.sys.cpu->id);
	return c->subject.kind->check ? c->subject.kind->check(c, err) : JL_OK;
}

struct jl_case_price jl_case_price(const struct jl_case *c)
{
	(void)jl_budget_spend(20);
	return c->subject.kind->weigh(c);
}

static bool micro_batch_fits(const struct jl_case *c, double micro_batch, double limit_B, double *ret_B)
{
	double host_B;
	const struct jl_memory memory = c->subject.kind->memory(c, micro_batch, &host_B);

	*ret_B = memory.total_B;
	return memory.total_B <= limit_B && !(host_B > JL_HOST_RAM_FRAC * c->ram_B);
}

#define MICRO_BATCH_MAX 1e9 /* upper bound of a request; the search takes its logarithm */
#define GUESSES_MAX     8   /* interpolation steps before pure doubling or halving */

bool jl_case_holds(const struct jl_case *c, double micro_batch)
{
	double ignored;

	return micro_batch_fits(c, micro_batch, JL_TIGHT_FRAC * c->machine.dev.mem_B, &ignored);
}

double jl_case_max_micro_batch(const struct jl_case *c)
{
	return jl_case_max_micro_batch_within(c, JL_TIGHT_FRAC);
}

/* The x at which the line through two points reaches y; NAN or arbitrary if both have the same y. */
static double reaches(double y, double x0, double y0, double x1, double y1)
{
	return floor(x0 + (y - y0) / (y1 - y0) * (x1 - x0));
}

/* Memory is almost linear in the number of samples, except for small passes, whose activations share memory with gradients. The search
 * interpolates linearly and falls back to doubling and halving. */
double jl_case_max_micro_batch_within(const struct jl_case *c, double memory_frac)
{
	const double limit_B = memory_frac * c->machine.dev.mem_B;
	double lo = 1, hi = 2, lo_B, hi_B, mid, mid_B;

	if (isnan(c->machine.dev.mem_B))
		return NAN;
	if (!micro_batch_fits(c, 1, limit_B, &lo_B))
		return 0;
	for (int n = 1; hi <= MICRO_BATCH_MAX && micro_batch_fits(c, hi, limit_B, &hi_B); n++) {
		const double guess = reaches(limit_B, lo, lo_B, hi, hi_B);

		lo = hi;
		lo_B = hi_B;
		hi = n <= GUESSES_MAX && guess >= hi && guess < MICRO_BATCH_MAX ? guess + 1 : hi * 2;
	}
	for (int n = 1; hi - lo > 1; n++) {
		mid = reaches(limit_B, lo, lo_B, hi, hi_B);
		mid = n % 3 && mid >= lo && mid <= hi ? fmin(fmax(mid, lo + 1), hi - 1) : floor((lo + hi) / 2);
		const bool fits = micro_batch_fits(c, mid, limit_B, &mid_B);

		*(fits ? &lo : &hi) = mid;
		*(fits ? &lo_B : &hi_B) = mid_B;
	}
	return lo;
}
