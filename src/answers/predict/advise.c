/* Tries changes to a case and ranks them by their gain. */
#include "predict/answer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "predict/kind.h"
#include "probe/probe.h"
#include "program/tune.h"

struct idea_in {
	const struct jl_catalog *cat;
	const struct jl_case *base;
	struct jl_case_price weight; /* price of the base */
	enum jl_room room;           /* memory state of the base */
	double half_ln;              /* half-width of the base's interval, as ln */
	double limit_B; /* memory limit for a changed case: must not use the margin that the base leaves free */
	bool fits;
	struct jl_arena *arena;
};

static void say(struct jl_advice *advice, const char *en, ...) __attribute__((format(printf, 2, 3)));

static void say(struct jl_advice *advice, const char *en, ...)
{
	va_list args;

	va_start(args, en);
	jl_msg_vprint(advice->en, advice->text, sizeof(advice->en), en, args);
	va_end(args);
}

/* An idea changes `alt` and describes the change; returns false if it does not apply. */

static bool pad_vocabulary(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	const double unit = 64 * alt->plan.tp, vocab = in->base->subject.model.vocab;

	if (fmod(vocab, 8 * alt->plan.tp) == 0)
		return false;
	alt->subject.model.vocab = ceil(vocab / unit) * unit;
	say(advice, JL_N("pad the vocabulary from %.0f to %.0f"), vocab, alt->subject.model.vocab);
	return true;
}

static bool more_zero(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	double best_s = INFINITY;
	int best = 0;

	if (alt->plan.dp * alt->plan.cp <= 1)
		return false;
	for (int zero = in->base->plan.zero + 1; zero <= 3; zero++) {
		struct jl_case_price w;

		alt->plan.zero = zero;
		jl_case_set_states(alt);
		w = jl_case_price(alt);
		/* ties: the higher stage, which leaves more memory free */
		if (w.memory.total_B <= in->limit_B && w.step.step_s < best_s * (1 + 1e-6)) {
			best_s = fmin(best_s, w.step.step_s);
			best = zero;
		}
	}
	alt->plan.zero = best;
	jl_case_set_states(alt);
	if (in->base->plan.zero)
		say(advice, JL_N("ZeRO-%d instead of ZeRO-%d"), best, in->base->plan.zero);
	else
		say(advice, JL_N("ZeRO-%d instead of DDP"), best);
	return best > 0;
}

static bool less_zero(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	if (in->base->plan.zero < 2)
		return false;
	alt->plan.zero = in->base->plan.zero - 1;
	jl_case_set_states(alt);
	say(advice, JL_N("ZeRO-%d instead of ZeRO-%d: it fits"), alt->plan.zero, in->base->plan.zero);
	return true;
}

static bool accumulate(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	const double times = 4;

	if (in->weight.step.input_s > 0 ||
	    in->weight.step.dp_s + in->weight.step.bubble_s < 0.05 * in->weight.step.step_s)
		return false;
	alt->plan.n_micro *= times;
	alt->global_batch *= times;
	if (alt->plan.pp > 1)
		say(advice, JL_N("%.0fx the micro-batches (global %.0f)"), times, alt->global_batch);
	else
		say(advice, JL_N("accumulate %.0f passes (global %.0f)"), alt->plan.n_micro, alt->global_batch);
	return true;
}

static bool larger_batch(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	double times = 1;

	while (times < 8 && jl_case_holds(alt, in->base->shard.micro_batch * times * 2))
		times *= 2;
	if (times <= 1)
		return false;
	alt->shard.micro_batch *= times;
	alt->global_batch *= times;
	if (alt->plan.tp * alt->plan.pp * alt->plan.cp > 1)
		say(advice, JL_N("micro-batch %.0f instead of %.0f (global %.0f)"), alt->shard.micro_batch,
		    in->base->shard.micro_batch, alt->global_batch);
	else
		say(advice, JL_N("batch %.0f per GPU instead of %.0f (global %.0f)"), alt->shard.micro_batch,
		    in->base->shard.micro_batch, alt->global_batch);
	return true;
}

static bool use_flash(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	if (in->base->shard.flash || !alt->machine.dev.priors->flash || jl_dtype_B(alt->shard.act_dtype) > 2)
		return false;
	alt->shard.flash = 1;
	say(advice, JL_N("flash attention"));
	return true;
}

static bool compile(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	if (in->base->framework != JL_FW_EAGER || in->base->tuned ||
	    !alt->subject.kind->run_in(alt, in->cat, JL_FW_COMPILED))
		return false;
	say(advice, JL_N("torch.compile instead of eager"));
	return true;
}

/* Compilers choose this layout themselves. */
static bool channels_last(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	if (in->base->software & (JL_SW_CHANNELS_LAST | JL_SW_COMPILED) ||
	    !(in->base->subject.kind->sample(&in->base->subject).pixels > 0))
		return false;
	alt->software |= JL_SW_CHANNELS_LAST;
	say(advice, JL_N("channels last instead of first"));
	return true;
}

/* Fused kernels of tuning libraries, for fine-tuning in plain PyTorch. torch.compile gains little there, because of adapters and packed weights. */
static bool fused(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	if (in->base->framework != JL_FW_EAGER || !in->base->tuned)
		return false;
	alt->framework = JL_FW_FUSED;
	alt->code = NULL;
	jl_machine_profile(&alt->profile, in->cat, JL_FW_FUSED, NULL);
	jl_case_tune(alt, jl_tune_shipped(in->cat, -1));
	jl_case_set_states(alt);
	say(advice, JL_N("fused fine-tuning kernels (Unsloth, Liger)"));
	return true;
}

static bool narrower(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	const struct jl_device *dev = &alt->machine.dev;
	const enum jl_dtype now = in->base->shard.dtype;
	enum jl_dtype next = now;

	if (now == JL_FP32 || now == JL_TF32)
		next = dev->priors->bf16 && dev->peak_flopps[JL_BF16] > 0 ? JL_BF16
		       : dev->priors->mixed16                             ? JL_FP16
									  : now;
	else if (in->base->subject.kind->has_tokens && (now == JL_FP16 || now == JL_BF16) && dev->priors->fp8 &&
		 dev->peak_flopps[JL_FP8] > 0)
		next = JL_FP8;
	if (next == now)
		return false;
	alt->shard.dtype = next;
	alt->shard.act_dtype = next == JL_FP16 ? JL_FP16 : JL_BF16;
	if (in->base->subject.kind->is_cut)
		jl_case_set_states(alt);
	say(advice, JL_N("%s instead of %s"), jl_dtype_name(next), jl_dtype_name(now));
	return true;
}

static bool less_recompute(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	if (in->base->plan.recompute == JL_RECOMPUTE_NONE)
		return false;
	alt->plan.recompute = JL_RECOMPUTE_NONE;
	if (jl_case_price(alt).memory.total_B > in->limit_B && in->base->plan.recompute == JL_RECOMPUTE_FULL &&
	    !jl_case_adapters(alt))
		alt->plan.recompute = JL_RECOMPUTE_SELECTIVE;
	if (alt->plan.recompute == JL_RECOMPUTE_NONE)
		say(advice, JL_N("no recompute: it fits without"));
	else
		say(advice, JL_N("selective instead of full recompute"));
	return true;
}

static bool smaller_batch(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	const double most = in->fits ? 0 : jl_case_max_micro_batch(alt), now = in->base->shard.micro_batch;
	double micro = floor(fmin(most, now));

	while (micro > 1 && fmod(now, micro) != 0)
		micro--;
	if (micro < 1 || micro >= now)
		return false;
	alt->shard.micro_batch = micro;
	alt->plan.n_micro *= now / micro;
	say(advice, JL_N("micro-batch %.0f, accumulated %.0f times"), micro, alt->plan.n_micro);
	return true;
}

static bool interleave(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	const struct jl_plan *plan = &in->base->plan;
	const double layers = in->base->subject.model.n_layers;
	double best_s = INFINITY, best = 0;

	if (plan->pp <= 1 || plan->n_chunks > 1 || fmod(plan->n_micro, plan->pp) != 0)
		return false;
	for (double v = 2; v * plan->pp <= layers + 2; v++) {
		if (!jl_chunks_divide(layers, plan->pp, v))
			continue;
		alt->plan.n_chunks = v;
		const struct jl_case_price w = jl_case_price(alt);

		if (w.memory.total_B <= in->limit_B && w.step.step_s < best_s) {
			best_s = w.step.step_s;
			best = v;
		}
	}
	alt->plan.n_chunks = best;
	say(advice, JL_N("interleave %.0f chunks a stage (vpp=%.0f)"), best, best);
	return best > 0;
}

/* More samples per step, by larger passes or by more passes, whichever gains more. */
static bool larger_global(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	struct jl_advice text = *advice;
	struct jl_case other;

	jl_case_what_if(&other, alt);
	const bool batch = larger_batch(in, alt, advice), more = accumulate(in, &other, &text);

	if (!batch && !more)
		return false;
	if (!batch || (more && other.global_batch / jl_case_price(&other).step.step_s >
				       alt->global_batch / jl_case_price(alt).step.step_s)) {
		*alt = other;
		*advice = text;
	}
	return true;
}

/* Throughput of a single GPU with its share of the batch. */
static double alone_per_s(const struct jl_case *c)
{
	struct jl_case one;

	jl_case_what_if(&one, c);
	if (jl_machine_take(&one.machine, &c->machine, 1, NULL))
		return NAN;
	one.n_gpus = 1;
	one.plan.dp = 1;
	one.global_batch = c->global_batch / c->plan.dp;
	const struct jl_case_price w = jl_case_price(&one);

	return jl_case_room(&one, &w) == JL_ROOM_NONE ? NAN : one.global_batch / w.step.step_s;
}

double jl_alone_samples_per_s(const struct jl_case *c)
{
	const bool copies = c->n_gpus > 1 && c->plan.dp == c->n_gpus;

	return copies ? alone_per_s(c) : NAN;
}

/* A bridge joins pairs, so two GPUs are compared with and without it. */
static bool bridge(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	const struct jl_case *base = in->base;
	const enum jl_intra_kind kind = base->machine.fabric.intra_kind;
	const struct jl_sys *now = &base->machine.sys;
	/* a bridge for this GPU's connector; other traffic keeps its present path */
	const struct jl_link_info *join = jl_probe_join(in->cat, "bridge-pair", now->gpu ? now->gpu->link : NULL,
							now->join ? now->join->id : NULL);
	struct jl_case two;
	struct jl_case_price w;
	struct jl_sys sys;
	char *text;

	if (!join || (kind != JL_INTRA_PCIE_HOST && kind != JL_INTRA_PCIE_P2P) || base->plan.dp != base->n_gpus)
		return false;
	jl_case_what_if(&two, base);
	text = jl_arena_printf(in->arena, "2x %s via %s", base->machine.sys.gpu->id, join->id);
	if (!text || jl_sys_parse(&sys, in->cat, text, in->arena, NULL) ||
	    jl_machine_make(&alt->machine, in->cat, &sys, NULL) ||
	    jl_machine_take(&two.machine, &base->machine, 2, NULL))
		return false;
	two.n_gpus = alt->n_gpus = 2;
	two.plan.dp = alt->plan.dp = 2;
	two.global_batch = alt->global_batch = base->global_batch / base->plan.dp * 2;
	w = jl_case_price(&two);
	advice->n_gpus = 2;
	advice->half_ln_before = jl_case_half_ln(&two, &w.step);
	advice->step_s_before = w.step.step_s;
	advice->samples_per_s_before = two.global_batch / w.step.step_s;
	advice->alone_samples_per_s = alone_per_s(base);
	say(advice, JL_N("NVLink bridges, training on pairs"));
	return true;
}

/* True if the step waits for its input. */

static bool waits_for(const struct idea_in *in, bool storage)
{
	const struct jl_input_time t = jl_case_input(in->base);

	return in->weight.step.input_s > 0 && (t.storage_s > t.threads_s) == storage;
}

static bool decode_on_gpu(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	const struct jl_input now = in->base->input;
	const double pixels = in->base->subject.kind->sample(&in->base->subject).pixels;

	if (now.kind != JL_INPUT_IMAGES || !waits_for(in, false) || !alt->machine.sys.gpu)
		return false;
	alt->input = jl_input_of(in->cat, JL_INPUT_IMAGES_GPU, pixels, 0);
	alt->input.n_threads = now.n_threads;
	alt->input.storage_Bps = now.storage_Bps;
	alt->input.sample_B = now.sample_B;
	say(advice, JL_N("decode on the GPU (DALI, nvJPEG)"));
	return true;
}

static bool more_threads(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	if (!waits_for(in, false))
		return false;
	alt->input.n_threads *= 2;
	say(advice, JL_N("%.0f loader threads per host instead of %.0f"), alt->input.n_threads,
	    in->base->input.n_threads);
	return true;
}

/* Assumes storage as fast as the devices and CPU threads can use. */
static bool faster_storage(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice)
{
	const struct jl_input_time t = jl_case_input(in->base);
	const double own_s = in->weight.step.step_s - in->weight.step.input_s;

	if (!waits_for(in, true))
		return false;
	alt->input.storage_Bps *= t.storage_s / fmax(own_s, t.threads_s);
	say(advice, JL_N("storage of %.2g GB/s, or data kept in RAM"), alt->input.storage_Bps / 1e9);
	return true;
}

#define TRITON_VENDORS "NVIDIA AMD Intel" /* vendors supported by Triton, which torch.compile and Liger use */

/* `network`: also applies to networks given as lists of operators. */
static const struct {
	const char *key;
	bool (*change)(const struct idea_in *in, struct jl_case *alt, struct jl_advice *advice);
	bool network;
	const char *vendors; /* vendors whose GPUs support it; NULL: all */
} ideas[] = {
	{ .key = "pad_vocabulary", .change = pad_vocabulary },
	{ .key = "nvlink_bridge", .change = bridge, .network = true },
	{ .key = "zero", .change = more_zero },
	{ .key = "less_zero", .change = less_zero },
	{ .key = "global_batch", .change = larger_global, .network = true },
	{ .key = "flash", .change = use_flash },
	{ .key = "compile", .change = compile, .network = true, .vendors = TRITON_VENDORS },
	{ .key = "layout", .change = channels_last, .network = true },
	{ .key = "fused", .change = fused, .vendors = TRITON_VENDORS },
	{ .key = "precision", .change = narrower, .network = true },
	{ .key = "less_recompute", .change = less_recompute },
	{ .key = "smaller_batch", .change = smaller_batch, .network = true },
	{ .key = "interleave", .change = interleave },
	{ .key = "decode_on_gpu", .change = decode_on_gpu, .network = true },
	{ .key = "cpu_threads", .change = more_threads, .network = true },
	{ .key = "storage", .change = faster_storage, .network = true },
};

static double gain(const struct jl_advice *a)
{
	return a->samples_per_s_after / a->samples_per_s_before;
}

struct jl_estimate jl_advice_gain(const struct jl_advice *a, const struct jl_widths *widths, double measured_per_s)
{
	const bool seen = !isnan(measured_per_s);
	const double times = a->samples_per_s_after / (seen ? measured_per_s : a->samples_per_s_before),
		     half = seen ? a->half_ln_after : jl_ratio_half_ln(widths, a->half_ln_after, a->half_ln_before);

	return jl_estimate_around(times, half);
}

/* Changes of the request's options. The gain is that of the changed request with its own batch. Of rows with the same key the first that helps
 * is used. An option given by the user is changed only if nothing fits with it. */
enum { NO = JL_UNSET, AGAIN = JL_RECOMPUTE_FULL, STATES = JL_OFFLOAD_OPTIMIZER, ALL = STATES | JL_OFFLOAD_PARAMS };

static const struct remedy {
	const char *key, *en;
	int recompute, offload, optimizer, states, zero;
} remedies[] = {
	{ "zero", "--parallel zero=3", NO, NO, NO, NO, 3 },
	{ "recompute", "--recompute full", AGAIN, NO, NO, NO, NO },
	{ "optimizer", "--optimizer fused", NO, NO, JL_OPT_FUSED, NO, NO },
	{ "optimizer", "--optimizer adamw8bit", NO, NO, JL_OPT_ADAMW8, NO, NO },
	{ "optimizer", "--optimizer paged8bit --states bf16", NO, NO, JL_OPT_PAGED8, 1, NO },
	{ "offload", "--offload optimizer", NO, STATES, NO, NO, NO },
	{ "offload", "--offload optimizer --recompute full", AGAIN, STATES, NO, NO, NO },
	{ "offload", "--offload optimizer,params", NO, ALL, NO, NO, NO },
	{ "offload", "--offload optimizer,params --recompute full", AGAIN, ALL, NO, NO, NO },
};
#define N_IDEAS (JL_LEN(ideas) + JL_LEN(remedies))

/* Sets an option of the request to a remedy's value; false: it has this value already, or another one that must stay. */
static bool put(int *asked, int value, int now, bool may)
{
	if (value == JL_UNSET)
		return true;
	if (value == now || (*asked != JL_UNSET && !may))
		return false;
	*asked = value;
	return true;
}

static bool ask_for(const struct idea_in *in, const struct remedy *r, struct jl_case *alt, struct jl_advice *advice)
{
	const struct jl_case *base = in->base;
	struct jl_request req = base->asked;

	req.unsaid = true;
	if (!base->subject.kind->is_cut || (in->fits && (r->offload != NO || r->optimizer != NO)) ||
	    (r->zero != NO && (!in->fits || base->plan.zero || base->plan.dp != base->n_gpus || base->n_gpus < 2)) ||
	    !put(&req.plan.zero, r->zero, NO, false) ||
	    !put(&req.recompute, r->recompute, (int)base->plan.recompute, !in->fits) ||
	    !put(&req.offload, r->offload, (int)base->plan.offload, true) ||
	    !put(&req.optimizer, r->optimizer, base->optimizer, false) || !put(&req.states, r->states, NO, false) ||
	    (r->offload != NO && !(base->machine.dev.host_Bps > 0)) ||
	    jl_case_choose(alt, in->cat, &base->subject, &base->machine, &req, NULL) ||
	    (r->zero != NO && alt->global_batch == base->global_batch) || /* covered by another idea */
	    (r->optimizer != NO && alt->framework == JL_FW_MEGATRON))     /* Megatron has its own optimizer */
		return false;
	if (alt->global_batch != base->global_batch)
		say(advice, JL_N("{%s} (global %.0f)"), r->en, alt->global_batch);
	else
		say(advice, "{%s}", r->en);
	return true;
}

static bool runs_on(const char *vendors, const struct jl_machine *machine)
{
	return !vendors || !machine->sys.gpu || strstr(vendors, machine->sys.gpu->vendor);
}

static bool try_idea(const struct idea_in *in, size_t i, struct jl_advice *advice)
{
	const struct remedy *remedy = i < JL_LEN(ideas) ? NULL : &remedies[i - JL_LEN(ideas)];
	struct jl_case alt;
	struct jl_case_price w;

	*advice = (struct jl_advice){ .key = remedy ? remedy->key : ideas[i].key,
				      .n_gpus = in->base->n_gpus,
				      .step_s_before = in->weight.step.step_s,
				      .half_ln_before = in->half_ln,
				      .samples_per_s_before = in->base->global_batch / in->weight.step.step_s,
				      .alone_samples_per_s = NAN,
				      .makes_it_fit = !in->fits };
	if (!remedy &&
	    ((!in->base->subject.kind->is_cut && !ideas[i].network) || !runs_on(ideas[i].vendors, &in->base->machine)))
		return false;
	if (!remedy)
		jl_case_what_if(&alt, in->base);
	if (remedy ? !ask_for(in, remedy, &alt, advice)
		   : !ideas[i].change(in, &alt, advice) || jl_case_check(&alt, NULL))
		return false;
	w = jl_case_price(&alt);
	advice->step_s_after = w.step.step_s;
	advice->samples_per_s_after = alt.global_batch / w.step.step_s;
	advice->global_batch = alt.global_batch;
	advice->tight = jl_case_room(&alt, &w) == JL_ROOM_TIGHT;
	if (jl_case_room(&alt, &w) > (in->room == JL_ROOM_FITS ? JL_ROOM_FITS : JL_ROOM_TIGHT) ||
	    (in->fits && !(gain(advice) >= 1 + JL_ADVICE_GAIN_FRAC)))
		return false;
	advice->half_ln_after = jl_case_half_ln(&alt, &w.step);
	return true;
}

/* Sorts advice: a case that fits with room precedes one that barely fits. */
static bool comes_before(const struct jl_advice *a, const struct jl_advice *b)
{
	return a->makes_it_fit && a->tight != b->tight ? b->tight : gain(a) > gain(b);
}

size_t jl_advise(struct jl_advice ret_advice[JL_ADVICE_MAX], const struct jl_catalog *cat, const struct jl_case *c,
		 struct jl_arena *arena)
{
	struct idea_in in = { .cat = cat, .base = c, .weight = jl_case_price(c), .arena = arena };
	const char *key = "";
	size_t n = 0;

	if (c->subject.kind->is_captured) /* a captured program's operators cannot be changed */
		return 0;
	in.half_ln = jl_case_half_ln(c, &in.weight.step);
	in.room = jl_case_room(c, &in.weight);
	in.limit_B = c->machine.dev.mem_B * (in.room == JL_ROOM_FITS ? JL_TIGHT_FRAC : 1);
	in.fits = in.room != JL_ROOM_NONE;
	for (size_t i = 0; i < N_IDEAS; i++) {
		struct jl_advice advice;
		size_t at = n < JL_ADVICE_MAX ? n : JL_ADVICE_MAX;

		if (!try_idea(&in, i, &advice) || strcmp(advice.key, key) == 0)
			continue;
		key = advice.key;
		while (at > 0 && comes_before(&advice, &ret_advice[at - 1])) {
			if (at < JL_ADVICE_MAX)
				ret_advice[at] = ret_advice[at - 1];
			at--;
		}
		if (at < JL_ADVICE_MAX)
			ret_advice[at] = advice;
		n += n < JL_ADVICE_MAX;
	}
	return n;
}
