/* Serving, with the model fitted on published measurements (predict/serve.h). Chooses the widest weights that fit beside the KV cache of all
 * users and answer in time. A machine serves as one unit or as several replicas that share the users. */
#include <math.h>

#include "parameters/arch.h"
#include "predict/kind.h"
#include "recommend/inside.h"
#include "serve/infer.h"

#define PROMPT_FRAC 0.75 /* prompt's share of a user's tokens; the rest is the answer */
#define FAR_FRAC    0.75 /* share of the required rate below which the distance is not computed */
#define POWER_FRAC  0.6  /* share of the power limit: decoding is memory-bound */

/* The number of requests in flight depends on the pace (serve/serve.h). Computed here at the slowest acceptable pace: the longest time per
 * token, or the required rate. */
void jl_serve_load(struct jl_recommend_ask *ask)
{
	if (ask->task != JL_TASK_SERVE)
		return;
	if (isnan(ask->context)) {
		ask->prompt = jl_given_or(ask->prompt, JL_USUAL_PROMPT);
		ask->answer = jl_given_or(ask->answer, JL_USUAL_ANSWER);
		ask->context = ask->prompt + ask->answer;
	} else if (isnan(ask->prompt)) {
		ask->answer = fmax(1, floor((1 - PROMPT_FRAC) * ask->context));
		ask->prompt = fmax(1, ask->context - ask->answer);
	}
	if (!isnan(ask->concurrency) || isnan(ask->users))
		return;
	ask->think_s = jl_given_or(ask->think_s, JL_THINK_S);
	const double answer_s = ask->answer * jl_given_or(ask->wait_s, JL_READ_TOKEN_S);
	const double rounds_hz = isnan(ask->tokens_per_s) ? ask->users / (answer_s + ask->think_s)
							  : ask->tokens_per_s / ask->answer;

	ask->concurrency = fmax(1, ceil(ask->users - rounds_hz * ask->think_s));
}

/* From lossless to smallest; a format given by the user is the only one. */
static const double widths[] = { 16, 8, 4 };

/* Bits of the published weights, unless a format is given. */
static double published_bits(const struct jl_recommend_ask *ask, const struct jl_model_info *info)
{
	struct jl_serve_format format;

	if (ask->run.dtype != JL_UNSET || jl_served_format(&format, jl_served_weights(NULL, info), NULL))
		return widths[0];
	return floor(8 * format.expert_B);
}

static bool may_take(const struct jl_recommend_ask *ask, double bits)
{
	const int dtype = ask->run.dtype;

	if (dtype == JL_UNSET)
		return true;
	return bits == (dtype == JL_FP8 ? 8 : 16);
}

static const char *format_of(const struct jl_recommend_ask *ask, const struct jl_device *dev, double bits)
{
	if (bits == 16)
		return ask->run.dtype == JL_FP16   ? "fp16"
		       : ask->run.dtype == JL_BF16 ? "bf16"
						   : NULL; /* as the device supports */
	if (bits == 8)
		return dev->peak_flopps[JL_FP8] > 0 ? "fp8" : "int8";
	return "int4";
}

static double power_of(const struct jl_setup *setup, const struct jl_machine *machine)
{
	return machine->dev.tdp_W * POWER_FRAC * setup->tp * setup->dp + machine->host_idle_W * setup->sys.n_nodes;
}

/* One replica of a system: its plan and prediction, and the rate of all replicas. */
struct way {
	struct jl_serve_answer answer;
	double users, copies, bits;
	const char *weights;
	int will_do; /* 2: also in the worst case */
};

static double tokens_per_s(const struct way *w)
{
	return w->answer.total_tps.value * w->copies;
}

static int sureness(const struct way *w, const struct jl_recommend_ask *ask)
{
	const struct jl_estimate *tps = &w->answer.total_tps, *wait_s = &w->answer.tpot_s;

	return (tps->lo * w->copies >= ask->tokens_per_s && !(wait_s->hi > ask->wait_s)) +
	       (tps->value * w->copies >= ask->tokens_per_s && !(wait_s->value > ask->wait_s));
}

static void settle(struct jl_setup *setup, const struct jl_machine *machine, const struct way *way)
{
	const struct jl_serve_answer *a = &way->answer;

	setup->against = JL_AGAINST_NOTHING;
	setup->memory_B = a->weights_B + way->users * a->context_B;
	setup->memory_frac = setup->memory_B / a->capacity_B;
	setup->run_s = a->tpot_s;
	setup->per_s = jl_estimate_times(a->total_tps, way->copies);
	setup->device_fitted = a->checked;
	setup->weight_bits = way->bits;
	setup->n_requests = way->users * way->copies;
	setup->tp = a->n_gpus;
	setup->pp = 1;
	setup->dp = way->copies;
	setup->power_W = power_of(setup, machine);
}

/* Copies an equivalent setup's result; recomputes what depends on the host. */
static void settle_like(struct jl_setup *setup, const struct jl_machine *machine)
{
	struct jl_setup like = *setup->like;

	like.sys = setup->sys;
	like.text = setup->text;
	like.like = setup->like;
	like.support = setup->support;
	like.peak_W = setup->peak_W;
	like.power_W = isnan(like.power_W) ? like.power_W : power_of(&like, machine);
	*setup = like;
}

enum jl_status jl_serve_prepare(struct jl_work *io_work, struct jl_arena *arena, struct jl_err *err)
{
	const size_t n = (size_t)jl_n_arch();

	io_work->fits = jl_arena_array(arena, n, sizeof(*io_work->fits));
	io_work->ops = jl_arena_array(arena, n, sizeof(*io_work->ops));
	JL_TRY(jl_got(io_work->fits && io_work->ops, err));
	for (size_t arch = 0; arch < n; arch++) {
		io_work->fits[arch] = jl_serve_shipped(io_work->ask->cat, (int)arch, JL_ENGINE_GENERAL);
		io_work->ops[arch] = jl_op_shipped(io_work->ask->cat, (int)arch, JL_ENGINE_GENERAL);
	}
	return JL_OK;
}

/* The devices of a host serve as one unit or as replicas; replicas give a higher total rate at a higher latency. Keeps the best one in time. */
static void try_format(struct way *io_best, struct jl_setup *setup, const struct jl_work *work,
		       const struct jl_machine *machine, struct jl_serve_ask *serve, double bits)
{
	const struct jl_recommend_ask *ask = work->ask;
	const double all = jl_sys_per_node(&setup->sys), nodes = setup->sys.n_nodes;

	for (double tp = all; tp >= 1; tp--) {
		struct way way = { .copies = nodes * all / tp, .bits = bits, .weights = serve->weights };

		if (fmod(all, tp) != 0 || fmod(work->subject.model.heads, tp) != 0 || way.copies > ask->concurrency)
			continue; /* attention heads cannot be split */
		serve->n_gpus = (int)tp;
		serve->n_requests = ceil(ask->concurrency / way.copies);
		serve->users = ask->users > 0 ? ceil(ask->users / way.copies) : 0;
		serve->least_tps = FAR_FRAC * ask->tokens_per_s / way.copies;
		if (jl_serve_predict(&way.answer, ask->cat, machine, serve, NULL)) {
			if (tp == all && bits == widths[0])
				setup->against = JL_AGAINST_UNKNOWN;
			return;
		}
		way.users = way.answer.n_requests;
		if (way.answer.fits)
			setup->n_requests = way.users * way.copies;
		if (way.answer.room < way.users)
			break;
		if (isnan(way.answer.tpot_s.value)) {
			setup->against = JL_AGAINST_USE;
			setup->per_s.value = fmax(setup->per_s.value, tokens_per_s(&way));
			continue;
		}
		way.will_do = sureness(&way, ask);
		if (!(io_best->copies > 0) || way.will_do > io_best->will_do ||
		    (way.will_do == io_best->will_do && tokens_per_s(&way) > tokens_per_s(io_best)))
			*io_best = way;
		if (way.answer.tpot_s.value > ask->wait_s) /* fewer devices are even slower */
			break;
	}
}

void jl_setup_serve(struct jl_setup *setup, const struct jl_work *work, const struct jl_machine *machine)
{
	const struct jl_recommend_ask *ask = work->ask;
	const struct jl_device *dev = &machine->dev;
	const double published = published_bits(ask, work->subject.info);
	struct jl_serve_ask serve = { .model = work->subject.info,
				      .shape = &work->subject.model,
				      .prompt = ask->prompt,
				      .output = ask->answer,
				      .think_s = ask->think_s,
				      .fit = &work->fits[dev->arch],
				      .ops = &work->ops[dev->arch],
				      .if_room = true };
	struct way best = { 0 };

	if (setup->like && setup->like->against != JL_AGAINST_UNKNOWN && setup->like->against != JL_AGAINST_GROUP) {
		settle_like(setup, machine);
		return;
	}
	setup->context = jl_subject_context(&work->subject);
	setup->against = JL_AGAINST_UNKNOWN;
	if (!work->subject.kind->has_tokens || isnan(dev->mem_B) || isnan(dev->mem_Bps))
		return;
	if (setup->sys.n_nodes > ask->concurrency) {
		setup->against = JL_AGAINST_BATCH;
		return;
	}
	setup->against = JL_AGAINST_MEMORY;
	setup->per_s.value = 0;
	/* Selects the widest weights that are in time, since narrower ones lose precision. */
	for (size_t i = 0; i < JL_LEN(widths) && best.will_do < 2; i++) {
		if (!may_take(ask, widths[i]) || widths[i] > published)
			continue;
		serve.weights = widths[i] == published && published < widths[0] ? NULL : format_of(ask, dev, widths[i]);
		try_format(&best, setup, work, machine, &serve, widths[i]);
	}
	if (best.copies > 0) {
		setup->published = best.weights || published == widths[0] ? NULL : work->subject.info->weights;
		settle(setup, machine, &best);
	}
}
