/* Fills in the options that a request leaves open with usual defaults, each with its reason. */
#include "predict/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "predict/choose.h"
#include "predict/kind.h"
#include "program/tune.h"

#define COMMON_SEQ 2048

static const double near_frac = 0.01; /* alternatives within this relative difference count as equal; the first wins */

static const char *device_name(const struct jl_case *c)
{
	return c->machine.sys.gpu ? c->machine.sys.gpu->name : c->machine.sys.cpu->name;
}

static void choose_format(struct jl_case *c, const struct jl_request *req)
{
	const struct jl_device *dev = &c->machine.dev;
	enum jl_dtype dtype = JL_FP32;

	if (req->dtype != JL_UNSET) {
		dtype = (enum jl_dtype)req->dtype;
		if (dtype == JL_TF32 && c->machine.sys.gpu && isnan(c->machine.sys.gpu->tf32_dense_flopps.value)) {
			dtype = JL_FP32;
			jl_note_add(&c->notes, "precision", "fp32 for tf32: %s has no such matrix units",
				    device_name(c));
		}
	} else if (c->machine.sys.gpu && dev->priors->bf16 && dev->peak_flopps[JL_BF16] > 0) {
		dtype = JL_BF16;
		jl_note_add(&c->notes, "precision", "bf16: %s has it, and it needs no loss scaling", device_name(c));
	} else if (c->machine.sys.gpu && dev->priors->mixed16) {
		dtype = JL_FP16;
		jl_note_add(&c->notes, "precision", "fp16: what the tensor cores of %s have", device_name(c));
	} else {
		jl_note_add(&c->notes, "precision",
			    dev->peak_flopps[JL_BF16] > 0 ? JL_N("fp32: the usual format on %s; it has bf16 too")
							  : JL_N("fp32: %s has no matrix units of 16 bits"),
			    device_name(c));
	}
	c->shard.dtype = dtype;
	c->shard.act_dtype = dtype == JL_FP16                                         ? JL_FP16
			     : dtype == JL_BF16 || dtype == JL_FP8 || dtype == JL_FP4 ? JL_BF16
										      : JL_FP32;
}

static void choose_sequence(struct jl_case *c, const struct jl_request *req)
{
	struct jl_transformer *m = &c->subject.model;
	const double longest = jl_given_or(c->subject.seq, COMMON_SEQ);
	const bool tuned = req->tune != JL_UNSET && !(fmax(req->mean_seq, COMMON_SEQ) >= longest);

	c->shard.seq = jl_given_or(req->seq, tuned ? fmax(req->mean_seq, COMMON_SEQ) : longest);
	if (isnan(req->seq))
		jl_note_add(&c->notes, "seq", "sequence %.0f: {%s}", c->shard.seq,
			    tuned ? JL_N("the usual length for fine-tuning; the model takes longer ones")
			    : isnan(c->subject.seq) ? JL_N("a common length")
						    : JL_N("the model's usual resolution or length"));
	if (m->n_positions > 0 && c->shard.seq > m->n_positions) {
		jl_note_add(&c->notes, "seq", "the position table is extended from %.0f to %.0f", m->n_positions,
			    c->shard.seq);
		m->n_positions = c->shard.seq;
	}
}

/* By the requested framework; the default framework is chosen later, with the plan. */
static enum jl_fusion asked_fusion(const struct jl_request *req)
{
	return jl_framework_fusion(req->framework == JL_UNSET ? JL_FW_EAGER : (enum jl_framework)req->framework);
}

static void choose_attention(struct jl_case *c, const struct jl_request *req)
{
	const bool half = jl_dtype_B(c->shard.act_dtype) < 4;
	const bool spelled = jl_transformer_spells_attention(&c->subject.model, c->shard.dtype, asked_fusion(req));

	c->states = req->states;
	c->optimizer = req->optimizer;
	c->shard.flash = req->flash == JL_UNSET ? c->machine.sys.gpu != NULL : req->flash;
	if (req->flash == 0 || (req->flash == 1 && !spelled)) /* as requested, unless such kernels do not exist */
		return;
	if (!c->shard.flash)
		jl_note_add(&c->notes, "flash", "plain attention: a CPU");
	else if (half && c->machine.dev.priors->flash)
		jl_note_add(&c->notes, "flash", "flash attention: %s runs it", device_name(c));
	else if (strcmp(c->machine.sys.gpu->vendor, "NVIDIA") != 0)
		jl_note_add(&c->notes, "flash", "memory-efficient attention: no flash kernel of %s was measured",
			    device_name(c));
	else if (spelled)
		jl_note_add(&c->notes, "flash",
			    "unfused attention: PyTorch has no fused kernel for grouped heads in 32 bits");
	else
		jl_note_add(&c->notes, "flash",
			    "PyTorch's memory-efficient attention: flash needs 16 bits and Ampere or newer");
}

static bool is_tpu(const struct jl_case *c)
{
	return c->machine.sys.gpu && c->machine.sys.gpu->vendor && strcmp(c->machine.sys.gpu->vendor, "Google") == 0;
}

/* The framework of a plan: that of the codebase; compiled on TPUs; Megatron or a relative where layers are split. */
static enum jl_framework framework_of(const struct jl_case *c)
{
	const struct jl_plan *plan = &c->plan;
	const char *code = c->code;
	const int codebase = jl_codebase_by_id(code);

	if (codebase >= 0)
		return jl_codebases[codebase].framework;
	if (is_tpu(c))
		return JL_FW_COMPILED;
	return plan->tp > 1 || plan->pp > 1 || plan->cp > 1 || plan->ep > 1 ? JL_FW_MEGATRON : JL_FW_EAGER;
}

void jl_choose_apply(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
		     const struct jl_split *split)
{
	struct jl_plan *plan = &c->plan;
	enum jl_framework framework;

	plan->tp = split->tp;
	plan->pp = split->pp;
	plan->cp = jl_given_or(req->plan.cp, 1);
	plan->ep = split->ep;
	plan->dp = jl_given_or(req->plan.dp, fmax(1, floor(c->n_gpus / (plan->tp * plan->pp * plan->cp))));
	plan->n_chunks = jl_given_or(req->plan.vpp, fmax(split->vpp, 1));
	plan->zero = split->zero;
	plan->shard = split->shard;
	plan->recompute = split->recompute;
	plan->offload = req->offload == JL_UNSET ? 0 : (unsigned)req->offload;
	plan->nvme_Bps = jl_given_or(req->storage_Bps, JL_NVME_BPS);
	framework = req->framework == JL_UNSET ? framework_of(c) : (enum jl_framework)req->framework;
	const bool other = framework != c->framework || isnan(c->profile.launch_s);

	c->framework = framework;
	if (other)
		jl_machine_profile(&c->profile, cat, framework, c->code);
	if (req->own_kernels)
		c->profile.fusion = JL_FUSION_OWN;
	if (other && c->tuned)
		jl_case_tune(c, jl_tune_shipped(cat, jl_codebase_by_id(c->code)));
	plan->ep_async = jl_case_ep_async(c);
	c->launch_given = !isnan(req->launch_s);
	if (c->launch_given)
		c->profile.launch_s = req->launch_s;
	plan->sp = req->plan.sp != JL_UNSET ? req->plan.sp && plan->tp > 1
					    : plan->tp > 1 && framework == JL_FW_MEGATRON;
	plan->tp_async = req->plan.overlap == 1;
	if (plan->tp_async && req->plan.sp == JL_UNSET) /* overlapped tensor parallelism needs sequence parallelism */
		plan->sp = plan->tp > 1;
	jl_case_set_states(c);
}

static void say_framework(struct jl_case *c, const struct jl_request *req)
{
	const int codebase = jl_codebase_by_id(c->code);

	if (codebase >= 0)
		jl_note_add(&c->notes, "framework",
			    "%s ({%s}): its published runs take %.2f times what a usual codebase takes",
			    jl_codebases[codebase].name, jl_framework_name(c->framework),
			    jl_code_ratio(c->machine.cat, codebase, c->tuned));
	if (req->framework != JL_UNSET)
		return;
	if (is_tpu(c))
		jl_note_add(&c->notes, "framework", "XLA (MaxText, PyTorch/XLA): what TPUs run");
	else if (c->framework == JL_FW_MEGATRON)
		jl_note_add(&c->notes, "framework", "Megatron-LM: {%s}",
			    c->plan.tp * c->plan.pp * c->plan.cp > 1 ? JL_N("layers are split over GPUs")
								     : JL_N("experts are spread over GPUs"));
	else if (jl_case_adapters(c) && c->shard.tune.base == JL_BASE_SAME && c->subject.model.moe.n_experts > 0)
		jl_note_add(&c->notes, "framework",
			    "PyTorch eager with Hugging Face's models, without expert parallelism; try --framework "
			    "megatron (Megatron Bridge, ms-swift)");
	else if (c->tuned)
		jl_note_add(&c->notes, "framework",
			    "PyTorch eager with Hugging Face's models: the usual choice for fine-tuning; try "
			    "--framework unsloth");
	else
		jl_note_add(&c->notes, "framework", "PyTorch eager: the usual choice; try --framework compiled");
}

static void say_experts(struct jl_case *c)
{
	if (c->plan.offload & JL_OFFLOAD_NVME)
		jl_note_add(&c->notes, "storage", "drives of %.2g GB/s a host, read and written",
			    1e-9 * c->plan.nvme_Bps);

	if (c->plan.ep_async)
		jl_note_add(&c->notes, "parallel",
			    "experts over several hosts: their exchange runs behind other micro-batches (as DualPipe, "
			    "or Megatron-LM's --overlap-moe-expert-parallel-comm)");
}

/* Explains the recomputation: with the next weaker kind the case does not fit, or not within the margin, or fewer samples fit. */
static void say_recompute(struct jl_case *c)
{
	const bool full = c->plan.recompute == JL_RECOMPUTE_FULL;
	struct jl_case milder;

	jl_case_what_if(&milder, c);
	milder.plan.recompute = full && !jl_case_adapters(c) ? JL_RECOMPUTE_SELECTIVE : JL_RECOMPUTE_NONE;
	const double milder_B = jl_case_price(&milder).memory.total_B;

	if (milder_B > c->machine.dev.mem_B)
		jl_note_add(&c->notes, "recompute",
			    full ? JL_N("full recompute: with less it does not fit")
				 : JL_N("selective recompute: it does not fit without"));
	else if (milder_B > JL_TIGHT_FRAC * c->machine.dev.mem_B)
		jl_note_add(&c->notes, "recompute",
			    full ? JL_N("full recompute: with less, under %.0f %% of the memory stays free")
				 : JL_N("selective recompute: without, under %.0f %% of the memory stays free"),
			    100 * JL_MEMORY_MARGIN_FRAC);
	else
		jl_note_add(&c->notes, "recompute",
			    full ? JL_N("full recompute: the larger batch that it leaves room for is faster")
				 : JL_N("selective recompute: the larger batch that it leaves room for is faster"));
}

/* True if one device holds all states and one sample. */
static bool fits_whole(const struct jl_case *c)
{
	struct jl_case whole;
	double host_B;

	jl_case_what_if(&whole, c);
	whole.plan.zero = 0;
	whole.plan.shard = 0;
	return c->subject.kind->memory(&whole, 1, &host_B).total_B <= JL_TIGHT_FRAC * c->machine.dev.mem_B;
}

/* Formats counts in units of 10,000 ("4,190만", "8.72억"). */
static const char *by_myriads(char out[32], double n)
{
	const double man = n / 1e4, unit = man >= 1000 ? 10 : 1, rounded = round(man / unit) * unit;

	if (n >= 1e8)
		snprintf(out, 32, n >= 1e11 ? "%.0f억" : "%.3g억", n / 1e8);
	else if (rounded >= 1000)
		snprintf(out, 32, "%.0f,%03.0f만", floor(rounded / 1000), fmod(rounded, 1000));
	else
		snprintf(out, 32, "%.3g만", man);
	return out;
}

static void say_plan(struct jl_case *c, const struct jl_request *req, bool searched, bool fits)
{
	const struct jl_plan *p = &c->plan;
	const bool cut = p->tp * p->pp > 1;
	const char *en = !fits                       ? JL_N("no split fits; this one needs the least memory")
			 : cut || p->ep > 1          ? JL_N("the fastest of the small splits that fit")
			 : !p->zero                  ? JL_N("it fits a GPU")
			 : searched && fits_whole(c) ? JL_N("faster than plain data parallel, which fits too")
						     : JL_N("plain data parallel does not fit");

	if (req->plan.zero != JL_UNSET) /* the request fixes the ZeRO stage */
		searched = searched && cut;
	if (!isnan(req->plan.pp) && isnan(req->plan.vpp) && p->n_chunks > 1)
		jl_note_add(&c->notes, "vpp",
			    "%.0f interleaved chunks a stage: the fastest (--parallel vpp=1 turns it off)",
			    p->n_chunks);
	if (searched && cut && p->n_chunks > 1)
		jl_note_add(&c->notes, "parallel", "dp=%.0f tp=%.0f pp=%.0f vpp=%.0f zero=%d: {%s}", p->dp, p->tp,
			    p->pp, p->n_chunks, p->zero, en);
	else if (searched && cut)
		jl_note_add(&c->notes, "parallel", "dp=%.0f tp=%.0f pp=%.0f zero=%d: {%s}", p->dp, p->tp, p->pp,
			    p->zero, en);
	else if (searched && p->ep > 1)
		jl_note_add(&c->notes, "parallel", "dp=%.0f ep=%.0f zero=%d: {%s}", p->dp, p->ep, p->zero, en);
	else if (searched && p->shard > 0)
		jl_note_add(&c->notes, "parallel", "dp=%.0f zero=%d inside each host (HSDP): {%s}", p->dp, p->zero, en);
	else if (searched && c->n_gpus > 1)
		jl_note_add(&c->notes, "parallel", "dp=%.0f zero=%d: {%s}", p->dp, p->zero, en);
	if (req->recompute == JL_UNSET && p->recompute != JL_RECOMPUTE_NONE)
		say_recompute(c);
	else if (req->recompute == JL_UNSET)
		jl_note_add(&c->notes, "recompute", "no recompute");
	const double states_B = p->weight_B + p->grad_B + p->optimizer_B;
	const double trained = p->trained_frac * jl_subject_params(&c->subject);
	const char *name = c->optimizer > JL_OPT_FUSED ? jl_optimizer_name((enum jl_optimizer)c->optimizer) : "AdamW";

	if (p->trained_frac < 1)
		jl_note_add(&c->notes, "optimizer",
			    "%s, %.3g bytes of states for each of %s%.0s trained parameters; frozen ones have %.3g",
			    name, states_B, jl_params_text(JL_TXT, trained), by_myriads(JL_TXT, trained), p->frozen_B);
	else
		jl_note_add(&c->notes, "optimizer", "%s, %g bytes of states a parameter", name, states_B);
}

/* Notes an uneven distribution of cards over PCIe roots, whose fullest root is the bottleneck: eight cards in a host of ten are five and three,
 * in a host of eight four and four. */
static void say_roots(struct jl_case *c)
{
	const struct jl_fabric *f = &c->machine.fabric;
	const bool pcie = f->intra_kind == JL_INTRA_PCIE_HOST || f->intra_kind == JL_INTRA_PCIE_P2P;

	if (pcie && f->n_shared > 1 && f->n_per_node > f->n_per_root)
		jl_note_add(&c->notes, "on", "%d and %d of a host's GPUs are under its two PCIe roots", f->n_per_root,
			    f->n_per_node - f->n_per_root);
	if (f->half_lanes)
		jl_note_add(&c->notes, "on",
			    "half of the PCIe lanes for each of two cards, as desktops have (write 'via ...' for all)");
	if (f->lanes_given && f->intra_kind == JL_INTRA_PCIE_HOST && f->n_per_node == 2 && f->n_numa == 1 &&
	    f->n_per_root == 2)
		jl_note_add(
			&c->notes, "on",
			"all PCIe lanes for each of two cards, as 'via' names them; a desktop has half (leave it out)");
}

static void say_system(struct jl_case *c)
{
	const struct jl_sys *sys = &c->machine.sys;

	if (sys->hypothetical)
		jl_note_add(&c->notes, "on", "hypothetical: no such machine exists, and nothing like it was measured");
	if (sys->join && sys->join_assumed)
		jl_note_add(&c->notes, "on", "GPUs joined by %s (write 'via ...' to change it)", sys->join->id);
	say_roots(c);
	if (sys->net && sys->net_assumed)
		jl_note_add(&c->notes, "on", "hosts joined by %dx %s (write 'over ...' to change it)", sys->n_net,
			    sys->net->id);
	if (c->machine.rate_half_ln > 0)
		jl_note_add(&c->notes, "on", "the rates of %s are estimated, not measured: a much wider interval",
			    device_name(c));
	else if (!c->subject.kind->is_fitted(&c->machine))
		c->subject.kind->say_unfitted(c, device_name(c));
}

static const double given_half_ln = 0.1; /* uncertainty of a value given by the user */

/* The host's power counts in energy. If it is not a rated value, it is noted as an assumption. */
static void choose_host(struct jl_case *c, const struct jl_request *req)
{
	struct jl_host *host = &c->machine.host;

	if (!isnan(req->host_W)) {
		host->power_W = c->machine.host_idle_W = req->host_W;
		host->power_half_ln = given_half_ln;
		return;
	}
	jl_note_add(&c->notes, "host-power", "%.2g kW a host without the %s{%s}", host->power_W / 1e3,
		    c->machine.sys.gpu ? "GPUs" : "CPU",
		    host->power_assumed ? JL_N(", as such hosts draw") : JL_N(", from its rated power"));
}

/* Samples are padded to the longest of their pass; with more samples this approaches the maximum length. */
static void choose_lengths(struct jl_case *c, const struct jl_request *req)
{
	if (isnan(req->mean_seq))
		return;
	c->mean_seq = req->mean_seq;
	c->run_seq = req->packed == 1 ? req->mean_seq
				      : jl_padded_seq(req->mean_seq, c->shard.seq, jl_shard_sequences(&c->shard));
}

/* Sets pairs (DPO, ORPO), groups (GRPO) and the reference model. */
static enum jl_status choose_method(struct jl_case *c, const struct jl_request *req, struct jl_err *err)
{
	c->method = req->method == JL_UNSET ? JL_METHOD_SFT : req->method;
	if (c->method == JL_METHOD_DPO || c->method == JL_METHOD_ORPO)
		c->shard.copies = 2;
	if (c->method == JL_METHOD_DPO)
		jl_note_add(&c->notes, "method", "a sample is a pair; the reference model reads it too: {%s}",
			    jl_tune_frozen(&c->shard.tune) ? JL_N("the base without its adapters")
							   : JL_N("a frozen copy"));
	if (c->method != JL_METHOD_GRPO)
		return JL_OK;
	c->shard.copies = jl_given_or(req->group, 8);
	c->generated = jl_given_or(req->generated, floor(c->shard.seq / 2));
	if (c->generated > c->shard.seq)
		return jl_fail(err, JL_E_USAGE, "--generate %.0f: prompt and answer have %.0f tokens together (--seq)",
			       c->generated, c->shard.seq);
	jl_note_add(&c->notes, "method",
		    "a sample is a prompt and %.0f answers of %.0f tokens, generated at the rate that memory allows; "
		    "then one update",
		    c->shard.copies, c->generated);
	return JL_OK;
}

static enum jl_status choose_tune(struct jl_case *c, const struct jl_request *req, struct jl_err *err)
{
	struct jl_tune *t = &c->shard.tune;
	const double n_layers = c->subject.model.n_layers;

	if (req->mean_seq > c->shard.seq)
		return jl_fail(err, JL_E_USAGE, "--mean-seq %.0f: samples have at most %.0f tokens (--seq)",
			       req->mean_seq, c->shard.seq);
	c->machine.memory.ragged = !isnan(req->mean_seq) && req->packed != 1;
	if (req->tune == JL_UNSET)
		return JL_OK;
	c->tuned = true;
	t->kind = (enum jl_tune_kind)req->tune;
	t->base = req->base == JL_UNSET ? JL_BASE_SAME : (enum jl_base)req->base;
	if (t->kind == JL_TUNE_LAYERS) {
		t->n_layers = jl_given_or(req->tuned_layers, fmin(4, n_layers));
		if (t->n_layers > n_layers)
			return jl_fail(err, JL_E_USAGE, "--train-layers %.0f: %s has %.0f layers", t->n_layers,
				       c->subject.id, n_layers);
	}
	if (!jl_tune_frozen(t) && t->base != JL_BASE_SAME)
		return jl_fail(err, JL_E_USAGE, "--base %s: only frozen weights are packed; take --tune lora or dora",
			       jl_base_name(t->base));
	if (!jl_tune_frozen(t))
		return choose_method(c, req, err);
	t->rank = jl_given_or(req->rank, 16);
	t->targets = req->targets ? req->targets : JL_TARGETS_ALL;
	if (isnan(req->rank))
		jl_note_add(&c->notes, "rank", "rank %.0f, on {%s}", t->rank,
			    t->targets == JL_TARGETS_ALL ? JL_N("every product of a layer")
							 : JL_N("the products that were named"));
	return choose_method(c, req, err);
}

enum jl_status jl_choose_transformer(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
				     struct jl_err *err)
{
	bool searched, fits;

	choose_sequence(c, req);
	choose_attention(c, req);
	if (!isnan(req->expert_load) && !(c->subject.model.moe.n_experts > 0))
		return jl_fail(err, JL_E_USAGE, "--expert-load: %s has no experts; leave it out", c->subject.id);
	if (!isnan(req->expert_load) && !(req->expert_load >= 1 && req->expert_load <= c->subject.model.moe.n_experts))
		return jl_fail(err, JL_E_USAGE,
			       "--expert-load %g: the fullest experts have 1 (balanced) to %.0f times the mean",
			       req->expert_load, c->subject.model.moe.n_experts);
	c->shard.expert_load = jl_given_or(req->expert_load, 1);
	c->shard.expert_call_frac = jl_expert_call_frac(c->machine.cat);
	JL_TRY(choose_tune(c, req, err));
	jl_choose_split(c, req, cat, &searched, &fits);
	say_framework(c, req);
	say_experts(c);
	say_plan(c, req, searched, fits);
	return JL_OK;
}

#define HOST_MOST_W 1e5 /* upper bound of a host without accelerators: more than a whole rack of hosts */

/* Contradictory options are errors. */
static enum jl_status check_words(const struct jl_subject *subject, const struct jl_machine *machine,
				  const struct jl_request *req, struct jl_err *err)
{
	const bool images = req->input == JL_INPUT_IMAGES || req->input == JL_INPUT_IMAGES_GPU;

	if (req->flash == 1 && subject->kind->has_tokens && !machine->sys.gpu)
		return jl_fail(err, JL_E_USAGE,
			       "--flash yes: %s is a CPU; fused attention needs a GPU, take --flash no",
			       machine->sys.cpu->id);
	if (images && !(subject->kind->sample(subject).pixels > 0))
		return jl_fail(err, JL_E_USAGE,
			       "--input %s: %s takes no images; take --input tokens or synthetic, or leave it out",
			       jl_input_name((enum jl_input_kind)req->input), subject->id);
	if (req->host_W > HOST_MOST_W)
		return jl_fail(err, JL_E_USAGE,
			       "--host-power: %.0f kW is more than a host draws without its GPUs; it is at most %.0f "
			       "kW, e.g. \"300 W\"",
			       req->host_W / 1e3, HOST_MOST_W / 1e3);
	return JL_OK;
}

static enum jl_status choose_once(struct jl_case *ret_case, const struct jl_catalog *cat,
				  const struct jl_subject *subject, const struct jl_machine *machine,
				  const struct jl_request *req, struct jl_err *err)
{
	struct jl_case c = { .subject = *subject,
			     .code = req->code,
			     .machine = *machine,
			     .asked = *req,
			     .ram_B = jl_given_or(req->ram_B, machine->host.ram_B),
			     .profile.launch_s = NAN,
			     .loss = JL_UNSET,
			     .samples = req->samples,
			     .tokens = req->tokens,
			     .steps_per_epoch = req->steps_per_epoch,
			     .epochs = req->epochs,
			     .pue = jl_given_or(req->pue, 1),
			     .notes.n = req->unsaid ? JL_NOTES_MAX : 0 };
	enum jl_status status;

	if (jl_budget_spend(50))
		return jl_budget_fail(err);
	JL_TRY(check_words(subject, machine, req, err));
	if (machine->sys.gpu)
		JL_TRY(jl_machine_has_memory(machine, err));
	c.n_gpus = jl_sys_n_devices(&machine->sys);
	if (subject->shape_assumed)
		jl_note_add(&c.notes, "model", "kv-heads %.0f, ffn %.0f, vocabulary %.0f where not given",
			    subject->model.kv_heads, subject->model.ffn, subject->model.vocab);
	if (req->forward && subject->kind->has_tokens)
		return jl_fail(err, JL_E_USAGE,
			       "--forward is for networks that are not transformers; --serve answers requests with %s",
			       subject->id);
	if (req->layout != JL_UNSET && subject->kind->has_tokens)
		return jl_fail(err, JL_E_USAGE, "--layout is for image networks; %s reads tokens: leave it out",
			       subject->id);
	if (!isnan(req->host_step_s) && !subject->kind->is_captured)
		return jl_fail(err, JL_E_USAGE,
			       "--host-step is for captured programs, whose calls are counted; --launch gives %s the "
			       "time of a launch",
			       subject->id);
	if (!isnan(req->host_step_s) && !isnan(req->launch_s))
		return jl_fail(err, JL_E_USAGE, "--host-step and --launch exclude each other; give one of them");
	if (!subject->kind->is_captured)
		choose_format(&c, req);
	c.shard.micro_batch = jl_given_or(req->micro_batch, jl_given_or(req->batch, 1));
	c.plan.n_micro = 1;
	JL_TRY(subject->kind->choose(&c, req, cat, err));
	if (!subject->kind->is_captured)
		JL_TRY(jl_choose_batch(&c, req, err));
	choose_lengths(&c, req);
	jl_case_choose_input(&c, cat, req);
	c.n_assumed = (machine->sys.join && machine->sys.join_assumed) + (machine->sys.net && machine->sys.net_assumed);
	say_system(&c);
	choose_host(&c, req);
	if (isnan(req->pue))
		jl_note_add(&c.notes, "pue", "PUE 1: power of the machines alone, no cooling");
	status = jl_case_check(&c, err);
	c.notes.n = req->unsaid ? 0 : c.notes.n;
	if (!status) {
		jl_case_what_if(ret_case, &c);
		ret_case->notes.n = c.notes.n;
		memcpy(ret_case->notes.items, c.notes.items, c.notes.n * sizeof(*c.notes.items));
	}
	return status;
}

/* Chooses options as for an ordinary case (batch, length, format, recomputation), then lists the operators. By default, a model that cannot be
 * listed remains an ordinary case. */
static enum jl_status choose_hub(struct jl_case *ret_case, const struct jl_catalog *cat,
				 const struct jl_subject *subject, const struct jl_machine *machine,
				 const struct jl_request *req, struct jl_err *err)
{
	struct jl_subject listed = *subject;
	struct jl_request plain = *req;
	struct jl_case c;
	enum jl_status status;

	plain.framework = JL_FW_EAGER;
	JL_TRY(choose_once(&c, cat, subject, machine, &plain, err));
	status = jl_hub_can(&c, req, req->framework == JL_FW_HUB ? err : NULL);
	if (!status)
		status = jl_hub_list(&listed, &plain, &c, err);
	if (status && status != JL_E_ABSENT && req->framework == JL_FW_HUB)
		return status;
	if (status) {
		plain.framework = req->framework == JL_FW_HUB ? (int)JL_FW_EAGER : JL_UNSET;
		return choose_once(ret_case, cat, subject, machine, &plain, err);
	}
	return choose_once(ret_case, cat, &listed, machine, &plain, err);
}

/* The default batch of a pipeline follows from its stages, so splits were compared at different batches. Repeats the search at the batch found,
 * where another split may be faster. */
enum jl_status jl_case_choose(struct jl_case *ret_case, const struct jl_catalog *cat, const struct jl_subject *subject,
			      const struct jl_machine *machine, const struct jl_request *req, struct jl_err *err)
{
	if (jl_hub_meant(subject, machine, req))
		return choose_hub(ret_case, cat, subject, machine, req, err);

	const bool open = isnan(req->batch) && isnan(req->global_batch) && isnan(req->micro_batch) &&
			  isnan(req->accumulate) && isnan(req->plan.tp) && isnan(req->plan.pp);
	struct jl_request fixed = *req;
	struct jl_case other;

	JL_TRY(choose_once(ret_case, cat, subject, machine, req, err));
	if (!open || !subject->kind->is_cut || ret_case->plan.pp <= 1)
		return JL_OK;
	fixed.global_batch = ret_case->global_batch;
	if (choose_once(&other, cat, subject, machine, &fixed, NULL))
		return JL_OK;
	const struct jl_case_price was = jl_case_price(ret_case), is = jl_case_price(&other);

	if (is.step.step_s * (1 + near_frac) < was.step.step_s && jl_case_room(&other, &is) == JL_ROOM_FITS)
		*ret_case = other;
	return JL_OK;
}

enum jl_status jl_case_make(struct jl_case *ret_case, const struct jl_catalog *cat, const struct jl_request *req,
			    struct jl_arena *arena, struct jl_err *err)
{
	struct jl_subject subject;
	struct jl_machine machine;
	struct jl_sys sys;

	JL_TRY(jl_subject_find(&subject, cat, req, arena, err));
	if (!req->system)
		return jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on dgx-h100 or --on \"4x rtx-3090\"");
	JL_TRY(jl_sys_parse(&sys, cat, req->system, arena, err));
	JL_TRY(jl_machine_make(&machine, cat, &sys, err));
	return jl_case_choose(ret_case, cat, &subject, &machine, req, err);
}
