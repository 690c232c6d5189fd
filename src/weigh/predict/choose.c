/* The choices that a practitioner would make where a request says nothing, each with its reason. */
#include "predict/predict.h"

#include <math.h>
#include <string.h>

#include "predict/choose.h"
#include "predict/kind.h"

static double given_or(double value, double fallback)
{
	return isnan(value) ? fallback : value;
}

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
	} else if (dev->priors->bf16 && dev->peak_flopps[JL_BF16] > 0) {
		dtype = JL_BF16;
		jl_note_add(&c->notes, "precision", "bf16: %s has it, and it needs no loss scaling", device_name(c));
	} else if (c->machine.sys.gpu && dev->priors->mixed16) {
		dtype = JL_FP16;
		jl_note_add(&c->notes, "precision", "fp16: what the tensor cores of %s have", device_name(c));
	} else {
		jl_note_add(&c->notes, "precision", "fp32: %s has no tensor cores", device_name(c));
	}
	c->shard.dtype = dtype;
	c->shard.act_dtype = dtype == JL_FP16                                         ? JL_FP16
			     : dtype == JL_BF16 || dtype == JL_FP8 || dtype == JL_FP4 ? JL_BF16
										      : JL_FP32;
}

static void choose_sequence(struct jl_case *c, const struct jl_request *req)
{
	struct jl_transformer *m = &c->subject.model;

	c->shard.seq = given_or(req->seq, given_or(c->subject.seq, 2048));
	if (isnan(req->seq))
		jl_note_add(&c->notes, "seq", "sequence %.0f: {%s}", c->shard.seq,
			    isnan(c->subject.seq) ? JL_N("a common length") : JL_N("what the model is usually run at"));
	if (m->n_positions > 0 && c->shard.seq > m->n_positions) {
		jl_note_add(&c->notes, "seq", "the position table is extended from %.0f to %.0f", m->n_positions,
			    c->shard.seq);
		m->n_positions = c->shard.seq;
	}
}

static void choose_attention(struct jl_case *c, const struct jl_request *req)
{
	const bool half = jl_dtype_B(c->shard.act_dtype) < 4;

	c->states = req->states;
	c->optimizer = req->optimizer;
	if (req->flash != JL_UNSET) {
		c->shard.flash = req->flash;
		return;
	}
	c->shard.flash = c->machine.sys.gpu != NULL;
	if (!c->shard.flash)
		jl_note_add(&c->notes, "flash", "plain attention: a CPU");
	else if (half && c->machine.dev.priors->flash)
		jl_note_add(&c->notes, "flash", "flash attention: %s runs it", device_name(c));
	else
		jl_note_add(&c->notes, "flash",
			    "PyTorch's memory-efficient attention: flash needs 16 bits and Ampere or newer");
}

/* The framework of a plan: whoever cuts layers uses Megatron or its kin. */
static enum jl_framework framework_of(const struct jl_plan *plan)
{
	return plan->tp > 1 || plan->pp > 1 || plan->cp > 1 || plan->ep > 1 ? JL_FW_MEGATRON : JL_FW_EAGER;
}

void jl_choose_apply(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
		     const struct jl_split *split)
{
	struct jl_plan *plan = &c->plan;
	enum jl_framework framework;

	plan->tp = split->tp;
	plan->pp = split->pp;
	plan->cp = given_or(req->plan.cp, 1);
	plan->ep = split->ep;
	plan->dp = given_or(req->plan.dp, fmax(1, floor(c->n_gpus / (plan->tp * plan->pp * plan->cp))));
	plan->n_chunks = given_or(req->plan.vpp, 1);
	plan->zero = split->zero;
	plan->shard = split->shard;
	plan->recompute = split->recompute;
	plan->offload = req->offload == JL_UNSET ? 0 : (unsigned)req->offload;
	plan->trained_frac = 1;
	framework = req->framework == JL_UNSET ? framework_of(plan) : (enum jl_framework)req->framework;
	if (framework != c->framework || isnan(c->profile.launch_s))
		jl_machine_profile(&c->profile, cat, framework);
	c->framework = framework;
	plan->ep_async = jl_case_ep_async(c);
	c->launch_given = !isnan(req->launch_s);
	if (c->launch_given)
		c->profile.launch_s = req->launch_s;
	plan->sp = req->plan.sp != JL_UNSET ? req->plan.sp && plan->tp > 1
					    : plan->tp > 1 && framework == JL_FW_MEGATRON;
	jl_case_set_states(c);
}

static void say_framework(struct jl_case *c, const struct jl_request *req)
{
	if (req->framework != JL_UNSET)
		return;
	if (c->framework == JL_FW_MEGATRON)
		jl_note_add(&c->notes, "framework", "Megatron-LM: layers are cut over GPUs");
	else
		jl_note_add(&c->notes, "framework", "PyTorch eager: what most people run; try --framework compiled");
}

static void say_experts(struct jl_case *c)
{
	if (c->plan.ep_async)
		jl_note_add(
			&c->notes, "parallel",
			"experts over several hosts: their exchange runs behind other micro-batches (as DualPipe, or "
			"Megatron-LM's --overlap-moe-expert-parallel-comm)");
}

/* Why: with the next milder kind it does not fit, or not with the margin that is to stay free. */
static void say_recompute(struct jl_case *c)
{
	const bool full = c->plan.recompute == JL_RECOMPUTE_FULL;
	struct jl_case milder = *c;

	milder.plan.recompute = full ? JL_RECOMPUTE_SELECTIVE : JL_RECOMPUTE_NONE;
	if (jl_case_weigh(&milder).memory.total_B > c->machine.dev.mem_B)
		jl_note_add(&c->notes, "recompute",
			    full ? JL_N("full recompute: with less it does not fit")
				 : JL_N("selective recompute: it does not fit without"));
	else
		jl_note_add(&c->notes, "recompute",
			    full ? JL_N("full recompute: with less, under %.0f %% of the memory stays free")
				 : JL_N("selective recompute: without, under %.0f %% of the memory stays free"),
			    100 * JL_MEMORY_MARGIN_FRAC);
}

static void say_plan(struct jl_case *c, const struct jl_request *req, bool searched, bool fits)
{
	const struct jl_plan *p = &c->plan;
	const bool cut = p->tp * p->pp > 1;
	const char *en = !fits     ? JL_N("no cut fits; this needs the least")
			 : cut     ? JL_N("the fastest of the small cuts that fit")
			 : p->zero ? JL_N("plain data parallel does not fit")
				   : JL_N("it fits a GPU");

	if (req->plan.zero != JL_UNSET) /* the search had nothing to decide */
		searched = searched && cut;
	if (searched && cut)
		jl_note_add(&c->notes, "parallel", "dp=%.0f tp=%.0f pp=%.0f zero=%d: {%s}", p->dp, p->tp, p->pp,
			    p->zero, en);
	else if (searched && p->shard > 0)
		jl_note_add(&c->notes, "parallel",
			    "dp=%.0f zero=%d inside each host (HSDP): plain data parallel does not fit", p->dp,
			    p->zero);
	else if (searched && c->n_gpus > 1)
		jl_note_add(&c->notes, "parallel", "dp=%.0f zero=%d: {%s}", p->dp, p->zero, en);
	if (req->recompute == JL_UNSET && p->recompute != JL_RECOMPUTE_NONE)
		say_recompute(c);
	else if (req->recompute == JL_UNSET)
		jl_note_add(&c->notes, "recompute", "no recompute");
	jl_note_add(&c->notes, "optimizer", "AdamW, %g bytes of states a parameter",
		    p->weight_B + p->grad_B + p->optimizer_B);
}

/* Where cards share their PCIe roots unevenly, the fullest one sets the pace: 8 of a host of 10 are five and three, but a host
 * of 8 has four and four. */
static void say_roots(struct jl_case *c)
{
	const struct jl_fabric *f = &c->machine.fabric;
	const bool pcie = f->intra_kind == JL_INTRA_PCIE_HOST || f->intra_kind == JL_INTRA_PCIE_P2P;

	if (pcie && f->n_per_root > 0 && f->n_per_node > f->n_per_root)
		jl_note_add(&c->notes, "on", "%d and %d of a host's GPUs below its two PCIe roots", f->n_per_root,
			    f->n_per_node - f->n_per_root);
}

static void say_system(struct jl_case *c)
{
	const struct jl_sys *sys = &c->machine.sys;

	if (sys->hypothetical)
		jl_note_add(&c->notes, "on", "hypothetical: no such machine exists, so nothing like it was measured");
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

static const double given_half_ln = 0.1; /* of a figure that a person states */

/* Energy counts the host; where its draw is not from a rated power, that is an assumption. */
static void choose_host(struct jl_case *c, const struct jl_request *req)
{
	struct jl_host *host = &c->machine.host;

	if (!isnan(req->host_W)) {
		host->power_W = c->machine.host_idle_W = req->host_W;
		host->power_half_ln = given_half_ln;
		return;
	}
	jl_note_add(&c->notes, "host-power", "%.2g kW a host beside the %s{%s}", host->power_W / 1e3,
		    c->machine.sys.gpu ? "GPUs" : "CPU",
		    host->power_assumed ? JL_N(", what such hosts draw") : JL_N(", from its rated power"));
}

enum jl_status jl_choose_transformer(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
				     struct jl_err *err)
{
	bool searched, fits;
	enum jl_status status;

	choose_sequence(c, req);
	choose_attention(c, req);
	status = jl_choose_split(c, req, cat, &searched, &fits, err);
	if (status)
		return status;
	say_framework(c, req);
	say_experts(c);
	say_plan(c, req, searched, fits);
	return JL_OK;
}

#define HOST_MOST_W 1e5 /* beside its accelerators: a whole rack of them draws less */

/* What can be said but not be: better refused than taken without effect, or with one that nobody can have. */
static enum jl_status check_words(const struct jl_subject *subject, const struct jl_machine *machine,
				  const struct jl_request *req, struct jl_err *err)
{
	const bool images = req->input == JL_INPUT_IMAGES || req->input == JL_INPUT_IMAGES_GPU;

	if (req->flash == 1 && subject->kind->has_tokens && !machine->sys.gpu)
		return jl_fail(err, JL_E_USAGE,
			       "--flash yes: %s is a CPU; fused attention needs a GPU, take --flash no",
			       machine->sys.cpu->id);
	if (images && !(subject->kind->pixels(subject) > 0))
		return jl_fail(err, JL_E_USAGE,
			       "--input %s: %s takes no pictures; take --input tokens or synthetic, or leave it out",
			       jl_input_name((enum jl_input_kind)req->input), subject->id);
	if (req->host_W > HOST_MOST_W)
		return jl_fail(
			err, JL_E_USAGE,
			"--host-power: %.0f kW is more than a host draws beside its GPUs; it is at most %.0f kW, "
			"e.g. \"300 W\"",
			req->host_W / 1e3, HOST_MOST_W / 1e3);
	return JL_OK;
}

enum jl_status jl_case_choose(struct jl_case *ret_case, const struct jl_catalog *cat, const struct jl_subject *subject,
			      const struct jl_machine *machine, const struct jl_request *req, struct jl_err *err)
{
	struct jl_case c = { .subject = *subject,
			     .machine = *machine,
			     .ram_B = given_or(req->ram_B, machine->host.ram_B),
			     .profile.launch_s = NAN,
			     .loss = JL_UNSET,
			     .samples = req->samples,
			     .tokens = req->tokens,
			     .steps_per_epoch = req->steps_per_epoch,
			     .epochs = req->epochs,
			     .pue = given_or(req->pue, 1) };
	const int per_node = machine->sys.n_per_node > 0 ? machine->sys.n_per_node : 1;
	enum jl_status status = check_words(subject, machine, req, err);

	if (status)
		return status;
	c.n_gpus = per_node * machine->sys.n_nodes;
	if (subject->shape_assumed)
		jl_note_add(&c.notes, "model", "kv-heads %.0f, ffn %.0f, vocabulary %.0f where not given",
			    subject->model.kv_heads, subject->model.ffn, subject->model.vocab);
	if (req->forward && subject->kind->has_tokens)
		return jl_fail(err, JL_E_USAGE,
			       "--forward is for networks that are no transformers; --serve answers requests with %s",
			       subject->id);
	choose_format(&c, req);
	c.shard.micro_batch = given_or(req->micro_batch, given_or(req->batch, 1));
	c.plan.n_micro = 1;
	status = subject->kind->choose(&c, req, cat, err);
	if (!status)
		status = jl_choose_batch(&c, req, err);
	if (status)
		return status;
	jl_case_choose_input(&c, cat, req);
	c.n_assumed = (machine->sys.join && machine->sys.join_assumed) + (machine->sys.net && machine->sys.net_assumed);
	say_system(&c);
	choose_host(&c, req);
	if (isnan(req->pue))
		jl_note_add(&c.notes, "pue", "PUE 1: what the machines draw, no cooling");
	status = jl_case_check(&c, err);
	if (!status)
		*ret_case = c;
	return status;
}

enum jl_status jl_case_make(struct jl_case *ret_case, const struct jl_catalog *cat, const struct jl_request *req,
			    struct jl_arena *arena, struct jl_err *err)
{
	struct jl_subject subject;
	struct jl_machine machine;
	struct jl_sys sys;
	enum jl_status status = jl_subject_find(&subject, cat, req, arena, err);

	if (status)
		return status;
	if (!req->system)
		return jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on dgx-h100 or --on \"4x rtx-3090\"");
	status = jl_sys_parse(&sys, cat, req->system, arena, err);
	if (status)
		return status;
	status = jl_machine_make(&machine, cat, &sys, err);
	if (status)
		return status;
	return jl_case_choose(ret_case, cat, &subject, &machine, req, err);
}
