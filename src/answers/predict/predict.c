/* Predicts a case: time, memory, energy, cost and their intervals. */
#include "predict/predict.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "catalog/find.h"
#include "predict/kind.h"
#include "predict/program_case.h"

#define JL_PART(k, member, e)                                                                                          \
	{                                                                                                              \
		.key = k, .en = e, .offset = offsetof(struct jl_step_cost, member)                                     \
	}

const struct jl_part jl_parts[JL_N_PART] = {
	JL_PART("compute", compute_s, JL_N("compute")),
	JL_PART("host_launch", host_s, JL_N("host launches")),
	JL_PART("tensor_parallel", tp_s, JL_NC("time", "tensor parallel")),
	JL_PART("context_parallel", cp_s, JL_NC("time", "context parallel")),
	JL_PART("expert_parallel", ep_s, JL_N("expert all-to-all")),
	JL_PART("pipeline_bubble", bubble_s, JL_N("pipeline bubble")),
	JL_PART("pipeline_send", send_s, JL_N("pipeline sends")),
	JL_PART("data_parallel", dp_s, JL_N("gradient exchange")),
	JL_PART("contention", contention_s, JL_N("contention")),
	JL_PART("optimizer", optimizer_s, JL_N("optimizer")),
	JL_PART("offload", offload_s, JL_N("offload")),
	JL_PART("generation", generate_s, JL_N("generation")),
	JL_PART("input", input_s, JL_N("input")),
};

const struct jl_part jl_memory_parts[JL_N_MEMORY_PART] = {
#define BYTES(member, e)                                                                                               \
	{                                                                                                              \
		.en = e, .offset = offsetof(struct jl_memory, member)                                                  \
	}
	BYTES(weights_B, JL_N("weights")),     BYTES(gradients_B, JL_N("gradients")),
	BYTES(optimizer_B, JL_N("optimizer")), BYTES(activations_B, JL_N("activations")),
	BYTES(buffers_B, JL_N("buffers")),     BYTES(context_B, JL_N("context")),
};

double jl_part_of(const void *whole, const struct jl_part *part)
{
	return *(const double *)(const void *)((const char *)whole + part->offset);
}

struct jl_bound jl_bound_of(const struct jl_step_cost *step)
{
	/* bits of jl_parts that are communication */
	static const unsigned links = 1u << 2 | 1u << 3 | 1u << 4 | 1u << 6 | 1u << 7 | 1u << 8;
	static const double nearly_all = 0.8;
	size_t best[2] = { 0, 2 };
	double links_s = 0;

	for (size_t i = 0; i < JL_N_PART; i++) {
		const unsigned is_link = links >> i & 1;

		links_s += is_link ? jl_part_s(step, i) : 0;
		if (jl_part_s(step, i) > jl_part_s(step, best[is_link]))
			best[is_link] = i;
	}
	const size_t part = best[links_s > jl_part_s(step, best[0])];
	const bool all = (links >> part & 1) && jl_part_s(step, part) < nearly_all * links_s;

	return (struct jl_bound){ part, all ? JL_N("communication") : jl_parts[part].en,
				  (all ? links_s : jl_part_s(step, part)) / step->step_s };
}

/* An estimate with interval value · exp(±half_ln). */
struct jl_estimate jl_estimate_around(double value, double half_ln)
{
	return (struct jl_estimate){ value, value * exp(-half_ln), value * exp(half_ln) };
}

struct jl_estimate jl_estimate_times(struct jl_estimate e, double factor)
{
	return (struct jl_estimate){ e.value * factor, e.lo * factor, e.hi * factor };
}

static struct jl_estimate as_time(const struct jl_prediction *p, double value)
{
	return (struct jl_estimate){ .value = value,
				     .lo = value / (1 + p->below_frac),
				     .hi = value * (1 + p->spread_frac) };
}

static struct jl_estimate as_rate(const struct jl_prediction *p, double value)
{
	return (struct jl_estimate){ .value = value,
				     .lo = value / (1 + p->spread_frac),
				     .hi = value * (1 + p->below_frac) };
}

void jl_case_extent(const struct jl_case *c, double extent_ln[JL_N_EXTENT])
{
	const double each = c->subject.program    ? c->subject.kind->sample(&c->subject).units
			    : isnan(c->shard.seq) ? 1
						  : c->shard.seq;
	const double items = c->global_batch / c->n_gpus * each;

	extent_ln[JL_EXTENT_SIZE] = log(jl_subject_params(&c->subject));
	extent_ln[JL_EXTENT_BATCH] = log(items);
	extent_ln[JL_EXTENT_GPUS] = log(c->n_gpus);
}

void jl_case_what_if(struct jl_case *ret_case, const struct jl_case *of)
{
	/* omits the notes, the last member and two thirds of the size */
	memcpy(ret_case, of, offsetof(struct jl_case, notes));
	ret_case->notes.n = 0;
}

const char *jl_case_label(const struct jl_case *c)
{
	return c->subject.net ? c->subject.net->id : jl_framework_name(c->framework);
}

/* Share of the step that depends on the host. Predicts again with a slower host, since launches that are hidden now may not be on the next
 * machine. A measured launch time has half the uncertainty: shared hosts vary over time. */
static double host_share(const struct jl_case *c, const struct jl_step_cost *step)
{
	static const double slower = 1.5, given_frac = 0.5;
	struct jl_case other;

	jl_case_what_if(&other, c);
	other.profile.launch_s *= slower;
	const double share = log(c->subject.kind->weigh(&other).step.step_s / step->step_s) / log(slower);

	return fmax(share, step->host_s / step->step_s) * (c->launch_given ? given_frac : 1);
}

/* Uncertainty of listed operators. Host times are better known than in estimated loops; device times as far as products and attention dominate.
 * Without autograd the library's Python counts more and differs between models. Fitted with families left out on 151 programs
 * (bench/programs/measured, docs/METHOD.md §10). Operators were timed on Hopper: 190 published steps on other chips deviate more. */
static void doubt_program(struct jl_doubt *doubt, const struct jl_case *c, const struct jl_step_cost *step)
{
	static const double listed_frac = 0.9, forward_frac = 1.25, assumes_most = 4, few_most = 0.25, untimed = 3,
			    timed_gain = 1.4; /* factor for a host that was timed itself, but varies over the day */
	const struct jl_device *dev = &c->machine.dev;
	const double host = fmin(doubt->x[JL_DOUBT_HOST] * (c->launch_given ? timed_gain : 1), 1);

	doubt->x[JL_DOUBT_HOST] = (c->subject.program->p.trains ? listed_frac : forward_frac) * host;
	doubt->x[JL_DOUBT_FEW] = fmin(doubt->x[JL_DOUBT_FEW], few_most); /* the executed code is known */
	doubt->x[JL_DOUBT_MODEL] = step->other_frac * (1 - host);
	if (!dev->priors || !dev->priors->warpgroup)
		doubt->x[JL_DOUBT_FAMILY] = untimed;
	doubt->x[JL_DOUBT_ASSUMED] = sqrt(c->n_assumed + fmin((double)c->subject.program->p.n_assumes, assumes_most));
}

static struct jl_doubt doubt_of(const struct jl_case *c, const struct jl_step_cost *step, enum jl_asked answer)
{
	const struct jl_machine *m = &c->machine;
	double extent_ln[JL_N_EXTENT];
	const bool memory = answer == JL_ASKED_MEMORY || answer == JL_ASKED_TUNE_MEMORY;
	struct jl_doubt doubt = { .x = { 0 } };

	/* captured programs use parameters of training runs, which determine how well the device is known */
	const enum jl_asked seen = c->subject.program ? JL_ASKED_STEP : answer;

	if (!memory) /* depends on the tensors, not on their placement */
		jl_machine_doubt(&doubt, m, seen,
				 (struct jl_axes){ .kind = c->subject.net ? NULL : jl_case_label(c),
						   .code = c->code,
						   .format = jl_dtype_name(c->shard.dtype) });
	doubt.x[c->subject.net ? JL_DOUBT_MODEL : JL_DOUBT_KIND] = !jl_seen(m->cat, memory ? answer : seen, "kind",
									    jl_case_label(c));
	doubt.x[JL_DOUBT_ASSUMED] = sqrt(c->n_assumed);
	doubt.x[JL_DOUBT_HOSTS] = m->sys.n_nodes > 1;
	if (memory) /* every byte is listed, so a computed batch has no additional uncertainty */
		return doubt;
	jl_case_extent(c, extent_ln);
	doubt.x[JL_DOUBT_FAR] = jl_far_ln(&m->widths, answer, extent_ln);
	doubt.x[JL_DOUBT_CODE] = c->subject.kind->is_cut && !c->subject.program ? jl_code_doubt(m->cat, seen, c->code)
										: 0;
	doubt.x[JL_DOUBT_EXPOSED] = (step->dp_s + step->tp_s + step->cp_s + step->ep_s + step->send_s) / step->step_s;
	doubt.x[JL_DOUBT_HOST] = host_share(c, step);
	if (c->subject.program)
		doubt_program(&doubt, c, step);
	if (answer != JL_ASKED_NETWORK && !jl_machine_links_seen(m, answer))
		doubt.x[JL_DOUBT_LINK] = doubt.x[JL_DOUBT_EXPOSED];
	return doubt;
}

/* Additional uncertainty of estimated rates, and of processors without published runs. */
static double rate_half_ln(const struct jl_case *c)
{
	const struct jl_machine *m = &c->machine;
	const bool guess = c->shard.dtype == JL_BF16 && m->sys.cpu && m->sys.cpu->bf16_over_fp32.origin == JL_ESTIMATED;
	const bool processor = !m->sys.gpu && (!m->device_fitted || guess);

	return hypot(fmax(m->rate_half_ln, 0.0), processor ? jl_figure(m->cat, "processor-half-width") : 0);
}

enum jl_asked jl_case_answer(const struct jl_case *c)
{
	return c->tuned ? JL_ASKED_TUNE : c->software & JL_SW_FORWARD ? JL_ASKED_FORWARD : c->subject.kind->answer;
}

double jl_job_work_ratio(const struct jl_job *job, double tokens_per_s, double samples_per_s, double step_s)
{
	static const double most = 64; /* rates differ by more than this: not the same job */
	const struct jl_prediction *p = &job->prediction;
	const double is = tokens_per_s > 0 ? tokens_per_s : samples_per_s,
		     said = tokens_per_s > 0 ? p->tokens_per_s.value : p->samples_per_s.value;
	const double ratio = is * step_s / (said * p->step_s.value);

	return ratio > 1 / most && ratio < most ? ratio : 1;
}

double jl_case_half_ln(const struct jl_case *c, const struct jl_step_cost *step)
{
	const struct jl_doubt doubt = doubt_of(c, step, c->subject.kind->answer);

	return hypot(jl_half_ln(&c->machine.widths, c->subject.kind->answer, &doubt), rate_half_ln(c));
}

/* The interval that the scorecard checks; at each end the slower of devices and input. */
static void predict_spread(struct jl_prediction *p, const struct jl_case *c)
{
	const enum jl_asked answer = jl_case_answer(c);
	const double own_s = p->step.step_s - p->step.input_s, whole_s = p->step.step_s;

	p->doubt = doubt_of(c, &p->step, answer);
	p->half_ln = hypot(jl_half_ln(&c->machine.widths, answer, &p->doubt), rate_half_ln(c));
	const double model = expm1(p->half_ln), input = expm1(p->input.half_ln);

	p->spread_frac = fmax(own_s * (1 + model), p->input.input_s * (1 + input)) / whole_s - 1;
	p->below_frac = whole_s / fmax(own_s / (1 + model), p->input.input_s / (1 + input)) - 1;
}

static void predict_memory(struct jl_prediction *p, const struct jl_case *c)
{
	const enum jl_asked answer = c->tuned ? JL_ASKED_TUNE_MEMORY : JL_ASKED_MEMORY;
	struct jl_doubt doubt = doubt_of(c, &p->step, answer);

	/* a list of operators lacks the framework's saved tensors and library workspaces: both are assumed */
	if (c->subject.net)
		doubt.x[JL_DOUBT_ASSUMED] = sqrt(c->n_assumed + 2);
	const double half_ln = jl_half_ln(&c->machine.widths, answer, &doubt), total_B = p->memory.total_B;

	p->memory_B = jl_estimate_around(total_B, half_ln);
	p->memory_doubt = doubt;
}

/* Steps per epoch and per run, from samples or tokens at this batch, or as given. */
static void predict_run(struct jl_prediction *p, const struct jl_case *c)
{
	const double tokens_per_step = jl_case_tokens(c);
	const double epochs = isnan(c->epochs) ? 1 : c->epochs;
	double steps = c->steps_per_epoch;

	if (isnan(steps) && !isnan(c->samples))
		steps = ceil(c->samples / c->global_batch);
	if (isnan(steps) && !isnan(c->tokens))
		steps = ceil(c->tokens / tokens_per_step);
	p->steps_per_epoch = steps;
	p->epoch_s = as_time(p, steps * p->step_s.value);
	p->run_s = as_time(p, epochs * steps * p->step_s.value);
	p->whole_run = !isnan(steps);
}

static void predict_cost(struct jl_prediction *p, const struct jl_catalog *cat, const struct jl_case *c)
{
	const struct jl_estimate time_s = p->whole_run ? p->run_s : p->step_s;

	p->power_W = jl_case_power_W(c, &p->step);
	p->drawn_W = p->power_W * c->pue;
	p->energy_J = jl_energy_of(time_s, p->power_W * c->pue, jl_power_half_ln(&c->machine, p->power_W));
	p->rent = cat ? jl_rent_find(cat, &c->machine.sys) : (struct jl_rent){ .usdps = NAN };
	p->cost_usd = as_time(p, time_s.value * p->rent.usdps * c->n_gpus);
}

static double reduced_B(const struct jl_case *c)
{
	const double share = jl_subject_params(&c->subject) / (c->plan.tp * c->plan.pp);

	return c->plan.dp * c->plan.cp > 1
		       ? share * c->plan.trained_frac * (c->plan.reduce_B > 0 ? c->plan.reduce_B : c->plan.grad_B)
		       : 0;
}

void jl_predict(struct jl_prediction *ret_prediction, const struct jl_catalog *cat, const struct jl_case *c)
{
	struct jl_prediction p = { .capacity_B = c->machine.dev.mem_B,
				   .input = jl_case_input(c),
				   .pipeline = c->input,
				   .ram_B = c->ram_B,
				   .unit = c->subject.kind->sample(&c->subject).unit,
				   .host_power_W = c->machine.host_idle_W * c->machine.sys.n_nodes };
	const double tokens = jl_case_tokens(c);
	const double units = c->global_batch * c->subject.kind->sample(&c->subject).units;

	c->subject.kind->predict(&p, c);
	p.room = jl_case_room(c, &(struct jl_case_price){ .memory = p.memory, .host_B = p.host_B });
	p.max_micro_batch = jl_case_max_micro_batch(c);
	predict_spread(&p, c);
	predict_memory(&p, c);
	p.step_s = as_time(&p, p.step.step_s);
	p.samples_per_s = as_rate(&p, c->global_batch / p.step.step_s);
	p.tokens_per_s = as_rate(&p, tokens / p.step.step_s);
	p.tokens_per_s_per_gpu = as_rate(&p, tokens / p.step.step_s / c->n_gpus);
	p.units_per_s = as_rate(&p, units / p.step.step_s);
	p.mfu_frac = p.flop / (p.step.step_s * c->n_gpus * c->machine.dev.peak_flopps[c->shard.dtype]);
	p.reduced_B = reduced_B(c);
	predict_run(&p, c);
	predict_cost(&p, cat, c);
	*ret_prediction = p;
}

enum jl_status jl_job_weigh(struct jl_job *ret_job, const struct jl_catalog *cat, const struct jl_subject *subject,
			    const struct jl_machine *machine, const struct jl_request *req, struct jl_err *err)
{
	enum jl_status status = jl_case_choose(&ret_job->how, cat, subject, machine, req, err);

	if (!status)
		jl_predict(&ret_job->prediction, cat, &ret_job->how);
	return status;
}

enum jl_status jl_job_make(struct jl_job *ret_job, const struct jl_catalog *cat, const struct jl_request *req,
			   struct jl_arena *arena, struct jl_err *err)
{
	enum jl_status status = jl_case_make(&ret_job->how, cat, req, arena, err);

	if (!status)
		jl_predict(&ret_job->prediction, cat, &ret_job->how);
	return status;
}
