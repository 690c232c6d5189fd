/* Captured programs: the operators are given, only the system can be chosen. */
#include "predict/kind.h"

#include <math.h>

#include "predict/program_case.h"

/* cuBLAS workspace per calling thread in PyTorch: [0] other GPUs, [1] Hopper, bytes. */
static const double workspace_B[2] = { 8519680, 33554432 };

static const struct jl_program *program_of(const struct jl_subject *subject)
{
	return &subject->program->p;
}

/* A program is a file, so the catalog has none. */
static enum jl_status find(struct jl_subject *subject, const struct jl_catalog *cat, const char *name,
			   struct jl_arena *arena, struct jl_err *err)
{
	(void)subject, (void)cat, (void)name, (void)arena, (void)err;
	return JL_E_NOTFOUND;
}

static double batch_of(const struct jl_subject *subject)
{
	const struct jl_program *p = program_of(subject);

	return p->n_units ? p->units[0].count : 1;
}

/* Rejects options that the program determines. */
static enum jl_status refuse(const struct jl_subject *subject, const struct jl_request *req, struct jl_err *err)
{
	const struct jl_ask_plan *p = &req->plan;
	const double batch = batch_of(subject);
	const struct {
		bool given;
		const char *what;
	} words[] = {
		{ p->tp > 1 || p->pp > 1 || p->vpp > 1 || p->cp > 1 || p->ep > 1 || p->sp == 1 || p->overlap == 1,
		  "--parallel tp=, pp=, cp=, ep=" },
		{ p->zero > 0, "--parallel zero=" },
		{ !isnan(req->batch) && req->batch != batch, "--batch" },
		{ !isnan(req->micro_batch) && req->micro_batch != batch, "--micro-batch" },
		{ req->accumulate > 1, "--accumulate" },
		{ !isnan(req->seq), "--seq" },
		{ !isnan(req->tokens) && program_of(subject)->n_units < 2, "--tokens" },
		{ !isnan(req->mean_seq), "--mean-seq" },
		{ !isnan(req->expert_load), "--expert-load" },
		{ req->flash != JL_UNSET, "--flash" },
		{ req->recompute > 0, "--recompute" },
		{ req->offload > 0, "--offload" },
		{ req->states > 0, "--states" },
		{ req->optimizer != JL_UNSET, "--optimizer" },
		{ req->framework != JL_UNSET, "--framework" },
		{ req->tune != JL_UNSET, "--tune" },
		{ req->layout != JL_UNSET, "--layout" },
		{ req->forward, "--forward" },
		{ req->dtype != JL_UNSET && req->dtype != JL_TF32, "--precision" },
	};

	for (size_t i = 0; i < JL_LEN(words); i++)
		if (words[i].given)
			return jl_fail(err, JL_E_USAGE,
				       "%s is fixed in the program, which was captured with a batch of %.0f; capture "
				       "it again with the new value",
				       words[i].what, batch);
	return JL_OK;
}

static void say_program(struct jl_case *c)
{
	const struct jl_captured *captured = c->subject.program;
	const struct jl_program *p = &captured->p;

	if (captured->listed)
		jl_note_add(&c->notes, "framework",
			    "Hugging Face transformers' own code, eager: %.0f calls a step, listed without a capture; "
			    "no padding mask; --framework eager: a lean loop",
			    (double)p->n_calls);
	else
		jl_note_add(&c->notes, "model", "the code of %.120s as it was captured: %.0f calls a step",
			    captured->codes, (double)p->n_calls);
	if (captured->n_unknown)
		jl_note_add(&c->notes, "model",
			    "%.0f calls of operators that are not known (%.120s) are taken as pointwise",
			    captured->unknown_calls, captured->unknown);
	for (size_t i = 0; i < p->n_assumes && i < 4; i++)
		jl_note_add(&c->notes, "model", "captured with: %.200s", p->assumes[i]);
	if (c->n_gpus > 1 && p->n_ranks == 1)
		jl_note_add(&c->notes, "parallel",
			    captured->listed
				    ? JL_N("dp=%d: every GPU runs this list; DDP adds the exchange of gradients")
				    : JL_N("dp=%d: one process was captured; DDP adds the exchange of gradients"),
			    c->n_gpus);
}

static bool run_in(struct jl_case *c, const struct jl_catalog *cat, enum jl_framework framework)
{
	const double given_s = c->profile.launch_s;

	c->framework = JL_FW_EAGER;
	jl_machine_profile(&c->profile, cat, JL_FW_EAGER, NULL);
	if (c->launch_given)
		c->profile.launch_s = given_s;
	return framework == JL_FW_EAGER;
}

/* Small-step time of the hosts on which programs were timed, and the exponent with which a program's host time follows it; from five days on
 * H200 hosts. */
static const double usual_step_s = 178e-6, step_power = 0.6;

static enum jl_status choose(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
			     struct jl_err *err)
{
	const struct jl_captured *captured = c->subject.program;
	const struct jl_program *p = &captured->p;
	const double n = fmax(p->n_params, 1);

	JL_TRY(refuse(&c->subject, req, err));
	if (!isnan(req->plan.dp) && req->plan.dp != c->n_gpus)
		return jl_fail(err, JL_E_USAGE, "dp %.0f, but there are %d GPUs; take dp=%d", req->plan.dp, c->n_gpus,
			       c->n_gpus);
	if (p->n_ranks > 1 && p->n_ranks != c->n_gpus)
		return jl_fail(err, JL_E_USAGE,
			       "the program was captured in %d processes, but there are %d GPUs; name a system of %d",
			       p->n_ranks, c->n_gpus, p->n_ranks);
	c->launch_given = !isnan(req->launch_s);
	c->profile.launch_s = req->launch_s;
	(void)run_in(c, cat, JL_FW_EAGER);
	if (!isnan(req->host_step_s)) {
		c->profile.launch_s *= pow(req->host_step_s / usual_step_s, step_power);
		c->launch_given = true;
	}
	c->shard.dtype = req->dtype == JL_TF32 && captured->dtype == JL_FP32 ? JL_TF32 : captured->dtype;
	c->shard.act_dtype = jl_dtype_B(c->shard.dtype) < 4 ? c->shard.dtype : JL_FP32;
	c->shard.seq = NAN;
	c->plan = (struct jl_plan){ .dp = c->n_gpus,
				    .tp = 1,
				    .pp = 1,
				    .cp = 1,
				    .ep = 1,
				    .n_chunks = 1,
				    .n_micro = 1,
				    .trained_frac = 1,
				    .weight_B = jl_program_initial_B(p, JL_STORAGE_PARAM) / n,
				    .grad_B = captured->peak.grads_B / n,
				    .optimizer_B = jl_program_initial_B(p, JL_STORAGE_STATE) / n };
	c->shard.micro_batch = batch_of(&c->subject);
	c->global_batch = c->shard.micro_batch * c->n_gpus;
	if (!isnan(req->global_batch) && req->global_batch != c->global_batch)
		return jl_fail(err, JL_E_USAGE,
			       "--global-batch %.0f: the program was captured with %.0f samples a process, which are "
			       "%.0f on %d GPUs",
			       req->global_batch, c->shard.micro_batch, c->global_batch, c->n_gpus);
	say_program(c);
	return JL_OK;
}

static double params(const struct jl_subject *subject)
{
	return fmax(program_of(subject)->n_params, 1);
}

/* Unit 0 is the batch; throughput counts unit 1 if it exists. */
static struct jl_sample sample(const struct jl_subject *subject)
{
	const struct jl_program *p = program_of(subject);
	const struct jl_program_unit *unit = p->n_units > 1 ? &p->units[1] : p->n_units ? &p->units[0] : NULL;

	return (struct jl_sample){ .item = "sample",
				   .unit = unit ? unit->name : "samples",
				   .units = unit ? unit->count / p->units[0].count : 1 };
}

static double elements(const struct jl_case *c)
{
	return sample(&c->subject).units;
}

static double usual_batch(const struct jl_case *c)
{
	return batch_of(&c->subject);
}

/* Memory at the peak; the part that depends on the batch grows linearly with it. */
static struct jl_memory memory(const struct jl_case *c, double micro_batch, double *ret_host_B)
{
	const struct jl_program_peak *peak = &c->subject.program->peak;
	const double *part_B = peak->part_B, grows = micro_batch / batch_of(&c->subject);
	const bool hopper = c->machine.dev.priors && c->machine.dev.priors->warpgroup;
	struct jl_memory m = {
		.weights_B = part_B[JL_PEAK_PARAMS],
		.gradients_B = part_B[JL_PEAK_GRADS],
		.optimizer_B = part_B[JL_PEAK_STATES],
		.activations_B = (part_B[JL_PEAK_KEPT] + part_B[JL_PEAK_BRIEF] + part_B[JL_PEAK_INPUTS]) * grows,
		.context_B = c->machine.sys.gpu ? c->machine.memory.context_B : 0,
	};

	if (c->n_gpus > 1) {
		m.context_B += c->machine.memory.comm_B;
		m.buffers_B = program_of(&c->subject)->n_ranks == 1 ? peak->grads_B : 0; /* DDP's buckets */
	}
	m.buffers_B += c->machine.memory.waste_frac * m.activations_B;
	m.activations_B += c->subject.program->n_workspaces * workspace_B[hopper];
	m.total_B = m.weights_B + m.gradients_B + m.optimizer_B + m.activations_B + m.buffers_B + m.context_B;
	*ret_host_B = 0;
	return m;
}

/* Adds data parallelism to a program captured on one process: the gradient all-reduce overlaps with the backward pass. */
static void exchange(struct jl_step_cost *step, const struct jl_case *c, const struct jl_timeline *t)
{
	const struct jl_collective all = { .kind = JL_ALLREDUCE,
					   .size_B = c->subject.program->peak.grads_B,
					   .n_ranks = c->n_gpus };
	const double comm_s = jl_collective_cost(&c->machine.fabric, &all).time_s;
	const double hidden_s = fmin(comm_s * c->profile.dp_overlap_frac, t->phase_s[JL_PHASE_BACKWARD]);

	step->dp_s = comm_s - hidden_s;
	step->hidden_s = hidden_s;
	step->contention_s = hidden_s * c->profile.contention_frac;
}

/* Share of operators with less certain times: products and attention are known best, operators missing in the table count twice. */
static double other_frac(const struct jl_timeline *t)
{
	const double known_s = t->class_s[JL_CLASS_PRODUCT] + t->class_s[JL_CLASS_ATTENTION],
		     all_s = t->track_s[JL_TRACK_DEVICE];

	return all_s > 0 ? 1 - (known_s - t->class_s[JL_CLASS_OTHER]) / all_s : 1;
}

static struct jl_step_cost step_of(const struct jl_case *c, const struct jl_timeline *t)
{
	struct jl_step_cost step = {
		.compute_s = t->track_s[JL_TRACK_DEVICE] - t->phase_s[JL_PHASE_UPDATE],
		.optimizer_s = t->phase_s[JL_PHASE_UPDATE],
	};

	/* the device waits for the part of collectives that does not overlap */
	if (program_of(&c->subject)->n_collectives)
		step.dp_s = fmin(t->track_s[JL_TRACK_COMM], fmax(t->step_s - t->track_s[JL_TRACK_DEVICE], 0));
	step.host_s = fmax(t->step_s - t->track_s[JL_TRACK_DEVICE] - step.dp_s, 0);
	if (c->n_gpus > 1 && program_of(&c->subject)->n_ranks == 1)
		exchange(&step, c, t);
	step.step_s = step.compute_s + step.host_s + step.dp_s + step.contention_s + step.optimizer_s;
	const double wait_s = step.step_s * c->profile.straggler_frac * log2(c->n_gpus);

	step.host_s += wait_s;
	step.step_s += wait_s;
	step.other_frac = other_frac(t);
	step.input_s = fmax(0, jl_case_input(c).input_s - step.step_s);
	step.step_s += step.input_s;
	return step;
}

static struct jl_case_price weigh(const struct jl_case *c)
{
	struct jl_timeline t;
	struct jl_case_price w = { .host_B = 0 };

	jl_captured_timeline(&t, c);
	w.step = step_of(c, &t);
	w.memory = memory(c, c->shard.micro_batch, &w.host_B);
	return w;
}

static void predict(struct jl_prediction *p, const struct jl_case *c)
{
	struct jl_timeline *t = &p->timeline;

	jl_captured_timeline(t, c);
	p->step = step_of(c, t);
	p->memory = memory(c, c->shard.micro_batch, &p->host_B);
	p->allocated_B = c->subject.program->peak.peak_B;
	p->flop = t->flop * c->n_gpus;
	const double all_s = t->track_s[JL_TRACK_DEVICE],
		     product_s = t->class_s[JL_CLASS_PRODUCT] + t->class_s[JL_CLASS_RECURRENT],
		     attention_s = t->class_s[JL_CLASS_ATTENTION], conv_s = t->class_s[JL_CLASS_CONVOLUTION];

	p->kind_frac[0] = (product_s + attention_s) / all_s;
	p->kind_frac[1] = conv_s / all_s;
	p->kind_frac[2] = 1 - p->kind_frac[0] - p->kind_frac[1];
}

static struct jl_case_work work(const struct jl_case *c)
{
	struct jl_case_work w = { 0 };
	const struct jl_captured *captured = c->subject.program;

	for (size_t k = 0; k < captured->p.n_kinds; k++)
		for (int phase = 0; phase < JL_N_PHASE; phase++) {
			w.flop += captured->p.uses[k].n[phase] * captured->works[k].flop;
			w.moved_B += captured->p.uses[k].n[phase] * captured->works[k].moved_B;
		}
	return w;
}

static double matrix_share(const struct jl_case *c)
{
	struct jl_timeline t;

	jl_captured_timeline(&t, c);
	return (t.class_s[JL_CLASS_PRODUCT] + t.class_s[JL_CLASS_RECURRENT] + t.class_s[JL_CLASS_ATTENTION] +
		t.class_s[JL_CLASS_CONVOLUTION]) /
	       t.track_s[JL_TRACK_DEVICE];
}

const struct jl_workload_kind jl_kind_program = {
	.is_captured = true,
	.find = find,
	.refuse = refuse,
	.params = params,
	.sample = sample,
	.choose = choose,
	.run_in = run_in,
	.elements = elements,
	.usual_batch = usual_batch,
	.is_fitted = jl_device_is_fitted,
	.say_unfitted = jl_device_say_unfitted,
	.weigh = weigh,
	.memory = memory,
	.predict = predict,
	.answer = JL_ASKED_PROGRAM,
	.work = work,
	.matrix_share = matrix_share,
};
