/* Transfers an observed run, of which only the step time is known, to other hardware. */
#include "predict/observed.h"

#include <math.h>
#include <string.h>

#include "fabric/collective.h"
#include "power/power.h"

/* Tested on pairs of GPUs with the same published training run (docs/cmd/compare.md). Parameters: ResNet-50, from MobileNet to VGG; BERT-large,
 * from DistilBERT to GPT-2 XL. */
const struct jl_mix jl_mixes[JL_N_MIX] = {
	/* flop_per_B, reach; host_frac, maximum; params, minimum, maximum; other_ln */
	[JL_MIX_CNN] = { "cnn", JL_N("convolutional network"), 20, 4, 0.1, 0.3, 25.6e6, 4e6, 140e6, 0.2 },
	[JL_MIX_TRANSFORMER] = { "transformer", JL_N("transformer"), 100, 4, 0.05, 0.25, 335e6, 60e6, 1.5e9, 0.45 },
	[JL_MIX_UNKNOWN] = { "unknown", JL_N("unknown model"), 40, 8, 0.07, 0.3, 60e6, 4e6, 1.5e9, 0.35 },
};

#define STEP_LEAST_S      1e-6
#define STEP_MOST_S       31536000.0
#define GRAD_B            4.0   /* DDP reduces fp32 gradients, also with mixed precision */
#define STATES_B          16.0  /* weights, gradients and Adam's moments per parameter */
#define CONTEXT_B         1.5e9 /* driver context, library workspaces, communicators */
#define USABLE_FRAC       0.95  /* usable share of device memory, because of allocator fragmentation */
#define OVERLAP_FRAC      0.7   /* share of the exchange that overlaps with backward: model/profile.c, eager */
#define BACKWARD_FRAC     (2.0 / 3)
#define DEVICE_LEAST_FRAC 0.4 /* minimum share of device time: a run in use does not mostly wait for its links */
#define CPU_OTHER_LN                                                                                                   \
	0.7             /* on CPUs and unmeasured families, frameworks reach very different shares of the listed rate */
#define SAME_OTHER 0.25 /* factor on other_ln if the device is the baseline's model */

/* Execution format of the matrix products. */
enum path { PATH_VECTOR, PATH_TF32, PATH_HALF, PATH_BF16, PATH_FP8, N_PATH };
#define PATHS_MAX 3

struct corner {
	enum path path;
	double flop_per_B, host_frac, grad_B;
};

struct jl_observed jl_observed_empty(void)
{
	struct jl_observed run = { .kind = JL_MIX_UNKNOWN, .dtype = JL_UNSET };

	run.step_s = run.batch = run.batches = run.params = run.sample_B = run.fixed_B = NAN;
	run.batch_limit = run.watts_W = NAN;
	return run;
}

static const char *device_id(const struct jl_machine *machine)
{
	return machine->sys.gpu ? machine->sys.gpu->id : machine->sys.cpu ? machine->sys.cpu->id : "?";
}

/* If a script sets no format: cuDNN's convolutions use TF32 where available, PyTorch's products do not. */
static size_t paths_of(const struct jl_observed *run, enum path paths[PATHS_MAX])
{
	static const enum path given[JL_N_DTYPE] = {
		[JL_TF32] = PATH_TF32, [JL_FP16] = PATH_HALF, [JL_BF16] = PATH_BF16, [JL_FP8] = PATH_FP8
	};
	size_t n = 0;

	if (run->dtype != JL_UNSET && run->dtype != JL_FP32) {
		paths[n++] = given[run->dtype];
		return n;
	}
	if (run->kind != JL_MIX_CNN)
		paths[n++] = PATH_VECTOR;
	if (run->kind != JL_MIX_TRANSFORMER)
		paths[n++] = PATH_TF32;
	if (run->dtype == JL_UNSET)
		paths[n++] = PATH_HALF;
	return n;
}

static double dtype_flopps(const struct jl_device *dev, enum jl_dtype dtype)
{
	return dev->peak_flopps[dtype] * jl_given_or(dev->fit.gemm_frac[dtype], 0.8);
}

/* NAN: the device lacks this format. CPUs and old GPUs do 16-bit work in fp32. */
static double matrix_flopps(const struct jl_device *dev, enum path path, double *ret_elem_B)
{
	static const enum jl_dtype dtypes[N_PATH] = { JL_FP32, JL_TF32, JL_FP16, JL_BF16, JL_FP8 };
	const double vector = dtype_flopps(dev, JL_FP32), own = dtype_flopps(dev, dtypes[path]);
	const bool half = path >= PATH_HALF && !isnan(own);

	*ret_elem_B = half ? 2 : 4;
	if (path == PATH_VECTOR || (isnan(own) && (path <= PATH_HALF || dev->arch == JL_ARCH_OTHER)))
		return vector;
	return path == PATH_TF32 ? fmax(vector, own) : own;
}

static double stream_Bps(const struct jl_device *dev)
{
	return dev->mem_Bps * jl_given_or(dev->fit.mem_frac, 0.85);
}

/* Seconds for the work per streamed 16-bit byte. */
struct unit_time {
	double matrix_s, memory_s;
};

static struct unit_time unit_time(const struct jl_device *dev, const struct corner *corner)
{
	double elem_B;
	const double flopps = matrix_flopps(dev, corner->path, &elem_B);

	return (struct unit_time){ .matrix_s = corner->flop_per_B / flopps, .memory_s = elem_B / 2 / stream_Bps(dev) };
}

static double allreduce_s(const struct jl_machine *machine, double size_B)
{
	const struct jl_collective all = { .kind = JL_ALLREDUCE,
					   .size_B = size_B,
					   .n_ranks = jl_sys_n_devices(&machine->sys),
					   .n_groups_per_node = 1 };

	return all.n_ranks > 1 ? jl_collective_cost(&machine->fabric, &all).time_s : 0;
}

/* Device time in a step of which `rest_s` is device time plus non-overlapped exchange. */
static double device_share_s(double rest_s, double allreduce)
{
	const double device_s = rest_s - (1 - OVERLAP_FRAC) * allreduce;

	if (OVERLAP_FRAC * allreduce <= BACKWARD_FRAC * device_s)
		return device_s;
	return (rest_s - allreduce) / (1 - BACKWARD_FRAC);
}

/* Device time of the observed step in one corner of the mix. Limits the gradient size, since the exchange cannot have taken most of the step. */
static double device_on_base_s(const struct jl_observed *run, const struct jl_machine *base, struct corner *corner)
{
	const double rest_s = run->step_s * (1 - corner->host_frac), least_s = DEVICE_LEAST_FRAC * rest_s;
	double lo_B = 0, hi_B = corner->grad_B, device_s = device_share_s(rest_s, allreduce_s(base, hi_B));

	if (device_s >= least_s)
		return device_s;
	for (int i = 0; i < 40; i++) {
		const double mid_B = (lo_B + hi_B) / 2;

		device_s = device_share_s(rest_s, allreduce_s(base, mid_B));
		*(device_s >= least_s ? &lo_B : &hi_B) = mid_B;
	}
	corner->grad_B = lo_B;
	return device_share_s(rest_s, allreduce_s(base, lo_B));
}

struct pass {
	double micro_batch, n_passes;
};

static struct jl_step_share carry_corner(const struct jl_observed *run, const struct jl_machine *base,
					 const struct jl_machine *to, const struct pass *pass, struct corner corner)
{
	const double base_batch = run->batch / jl_sys_n_devices(&base->sys);
	const double base_s = device_on_base_s(run, base, &corner) / base_batch; /* per sample */
	const struct unit_time was = unit_time(&base->dev, &corner), is = unit_time(&to->dev, &corner);
	const double units = base_s / (was.matrix_s + was.memory_s) * pass->micro_batch;
	const double pass_s = units * (is.matrix_s + is.memory_s), exchange_s = allreduce_s(to, corner.grad_B);
	/* as much per pass, and not less per sample */
	const double n_host = pass->n_passes * fmax(1, pass->micro_batch / base_batch);

	return (struct jl_step_share){
		.matrix = pass->n_passes * units * is.matrix_s,
		.memory = pass->n_passes * units * is.memory_s,
		.host = n_host * corner.host_frac * run->step_s,
		.links = exchange_s - fmin(OVERLAP_FRAC * exchange_s, BACKWARD_FRAC * pass_s),
	};
}

static double sum(const struct jl_step_share *s)
{
	return s->matrix + s->memory + s->host + s->links;
}

/* to + times · part. */
static struct jl_step_share plus(const struct jl_step_share *to, const struct jl_step_share *part, double times)
{
	return (struct jl_step_share){ to->matrix + times * part->matrix, to->memory + times * part->memory,
				       to->host + times * part->host, to->links + times * part->links };
}

/* Corner `i` of the mix; corner 0 is the stated middle. */
#define N_CORNER 27
static struct corner corner_at(const struct jl_observed *run, enum path path, int i)
{
	const struct jl_mix *mix = &jl_mixes[run->kind];
	const double flop_per_B[3] = { mix->flop_per_B, mix->flop_per_B / mix->reach, mix->flop_per_B * mix->reach };
	const double host_frac[3] = { mix->host_frac, 0, mix->host_frac_most };
	const double params[3] = { mix->params, mix->params_least, mix->params_most };

	return (struct corner){ .path = path,
				.flop_per_B = flop_per_B[i % 3],
				.host_frac = host_frac[i / 3 % 3],
				.grad_B = GRAD_B * jl_given_or(run->params, params[i / 9 % 3]) };
}

static bool same_device(const struct jl_machine *a, const struct jl_machine *b)
{
	return strcmp(device_id(a), device_id(b)) == 0 && !a->sys.gpu == !b->sys.gpu;
}

static double power_W(const struct jl_machine *to, const struct jl_step_share *part_s, enum path path, bool *ret_host)
{
	const double step_s = sum(part_s);
	double elem_B;
	const double flopps = matrix_flopps(&to->dev, path, &elem_B) * part_s->matrix / step_s;
	const double device_W = jl_power_W(
		&to->dev, &to->power,
		&(struct jl_power_in){ .flopps = flopps,
				       .moved_Bps = stream_Bps(&to->dev) * part_s->memory / step_s,
				       .vector = elem_B > 2 && path != PATH_TF32,
				       .limit_W = NAN });

	const double one_W = to->sys.gpu ? device_W : to->dev.tdp_W; /* CPUs under load run at their power limit */

	*ret_host = !isnan(to->host_idle_W);
	return one_W * jl_sys_n_devices(&to->sys) + jl_machine_host_W(to, jl_sys_n_devices(&to->sys));
}

static double other_ln(const struct jl_observed *run, const struct jl_machine *base, const struct jl_machine *to)
{
	const double ln = jl_mixes[run->kind].other_ln;

	if (same_device(base, to))
		return SAME_OTHER * ln;
	return base->dev.arch != JL_ARCH_OTHER && to->dev.arch != JL_ARCH_OTHER ? ln : fmax(ln, CPU_OTHER_LN);
}

/* On the baseline at the observed batch the result is the observation itself. */
static void as_observed(struct jl_carried *c, const struct jl_observed *run, const struct jl_sys *base,
			const struct jl_sys *to)
{
	if (base->n_nodes != to->n_nodes || base->n_per_node != to->n_per_node || base->join != to->join ||
	    base->net != to->net || base->n_net != to->n_net)
		return;
	c->step_s = (struct jl_estimate){ .value = run->step_s, .lo = run->step_s, .hi = run->step_s };
	if (!isnan(run->watts_W)) {
		c->power_W = run->watts_W;
		c->host_power = true;
	}
}

void jl_observed_carry(struct jl_carried *ret_carried, const struct jl_observed *run, const struct jl_machine *base,
		       const struct jl_machine *to, double batch, double limit)
{
	const double each = ceil(batch / jl_sys_n_devices(&to->sys)), spread = exp(other_ln(run, base, to));
	const struct pass pass = { .n_passes = ceil(each / fmax(1, limit)),
				   .micro_batch = each / ceil(each / fmax(1, limit)) };
	struct jl_carried c = { .batch = batch, .micro_batch = ceil(pass.micro_batch), .n_passes = pass.n_passes };
	struct jl_step_share frac = { 0 }, last_s = { 0 };
	double lo_s = INFINITY, hi_s = 0, ln = 0;
	enum path paths[PATHS_MAX];
	const size_t n_paths = paths_of(run, paths);

	for (size_t p = 0; p < n_paths; p++)
		for (int i = 0; i < N_CORNER; i++) {
			const struct jl_step_share part_s = carry_corner(run, base, to, &pass,
									 corner_at(run, paths[p], i));
			const double step_s = sum(&part_s);

			lo_s = fmin(lo_s, step_s);
			hi_s = fmax(hi_s, step_s);
			if (i == 0) {
				ln += log(step_s) / (double)n_paths;
				frac = plus(&frac, &part_s, 1 / step_s / (double)n_paths);
				last_s = part_s;
			}
		}
	c.power_W = power_W(to, &last_s, paths[n_paths - 1], &c.host_power); /* power of the tuned run */
	c.step_s = (struct jl_estimate){ .value = exp(ln), .lo = lo_s / spread, .hi = hi_s * spread };
	for (int kind = 0; run->kind == JL_MIX_UNKNOWN && kind < JL_MIX_UNKNOWN; kind++) {
		struct jl_observed known = *run; /* one more known fact never widens the interval */
		struct jl_carried other;

		known.kind = (enum jl_mix_kind)kind;
		jl_observed_carry(&other, &known, base, to, batch, limit);
		c.step_s.lo = fmin(c.step_s.lo, other.step_s.lo);
		c.step_s.hi = fmax(c.step_s.hi, other.step_s.hi);
	}
	if (same_device(base, to) && batch == run->batch)
		as_observed(&c, run, &base->sys, &to->sys);
	c.part_s = plus(&c.part_s, &frac, c.step_s.value);
	*ret_carried = c;
}

static void widen(double *least, double *most, double value)
{
	*least = fmin(*least, value);
	*most = fmax(*most, value);
}

void jl_observed_split(struct jl_observed_mix *ret_mix, const struct jl_observed *run, const struct jl_machine *base)
{
	const struct pass pass = { .n_passes = 1, .micro_batch = run->batch / jl_sys_n_devices(&base->sys) };
	struct jl_step_share middle = { 0 }, least = { 1, 1, 1, 1 }, most = { 0 };
	enum path paths[PATHS_MAX];
	const size_t n_paths = paths_of(run, paths);

	for (size_t p = 0; p < n_paths; p++)
		for (int i = 0; i < N_CORNER; i++) {
			struct jl_step_share s = carry_corner(run, base, base, &pass, corner_at(run, paths[p], i));
			const double whole = sum(&s);

			widen(&least.matrix, &most.matrix, s.matrix / whole);
			widen(&least.memory, &most.memory, s.memory / whole);
			widen(&least.host, &most.host, s.host / whole);
			widen(&least.links, &most.links, s.links / whole);
			if (i == 0)
				middle = plus(&middle, &s, 1 / whole / (double)n_paths);
		}
	*ret_mix = (struct jl_observed_mix){ .matrix = { middle.matrix, least.matrix, most.matrix },
					     .memory = { middle.memory, least.memory, most.memory },
					     .host = { middle.host, least.host, most.host },
					     .links = { middle.links, least.links, most.links } };
}

double jl_observed_batches(const struct jl_observed *run, double batch)
{
	return ceil(run->batches * run->batch / batch - 1e-9);
}

double jl_practical_batch(double batch)
{
	int exponent;

	if (!(batch >= 1))
		return 0;
	frexp(batch, &exponent);
	return exponent <= 3 ? floor(batch) : ldexp(floor(ldexp(batch, 3 - exponent)), exponent - 3);
}

/* The observed run fitted, so assumed memory is limited by the baseline's. */
static double fixed_B(const struct jl_observed *run, const struct jl_machine *base)
{
	const double assumed_B = CONTEXT_B + STATES_B * jl_given_or(run->params, jl_mixes[run->kind].params);

	return jl_given_or(run->fixed_B, fmin(assumed_B, base->dev.mem_B / 2));
}

static double base_limit(const struct jl_observed *run, const struct jl_machine *base)
{
	return jl_given_or(run->batch_limit, ceil(run->batch / jl_sys_n_devices(&base->sys)));
}

static double room_B(const struct jl_observed *run, const struct jl_machine *base, const struct jl_machine *machine)
{
	return USABLE_FRAC * machine->dev.mem_B - fixed_B(run, base);
}

double jl_observed_limit(const struct jl_observed *run, const struct jl_machine *base, const struct jl_machine *to)
{
	const double known = base_limit(run, base),
		     sample_B = jl_given_or(run->sample_B, room_B(run, base, base) / known);
	const double fits = floor(room_B(run, base, to) / sample_B + 1e-9);

	/* the observed batch is kept as is, without rounding */
	if (to->dev.mem_B >= base->dev.mem_B)
		return fmax(known, jl_practical_batch(fits));
	return jl_practical_batch(fits);
}

enum jl_status jl_observed_check(const struct jl_observed *run, const struct jl_machine *base, struct jl_err *err)
{
	const int n_devices = jl_sys_n_devices(&base->sys);

	if (!(run->step_s > 0))
		return jl_fail(err, JL_E_RANGE,
			       "--observed: a step takes longer than nothing; write e.g. --observed \"1.06 s\"");
	if (run->step_s < STEP_LEAST_S || run->step_s > STEP_MOST_S)
		return jl_fail(err, JL_E_RANGE, "--observed: a step takes between a microsecond and a year");
	if (!(run->batch >= n_devices))
		return jl_fail(err, JL_E_RANGE,
			       "--observed-batch %.0f is fewer than the %d devices of '%s'; give the samples of all of "
			       "them together",
			       run->batch, n_devices, base->sys.text);
	if (jl_given_or(run->sample_B, 0) * base_limit(run, base) + jl_given_or(run->fixed_B, 0) > base->dev.mem_B)
		return jl_fail(
			err, JL_E_RANGE,
			"%.0f samples of %.3g GB plus %.3g GB do not fit %s, where they ran; check --memory-per-sample",
			base_limit(run, base), jl_given_or(run->sample_B, 0) / 1e9, jl_given_or(run->fixed_B, 0) / 1e9,
			device_id(base));
	return jl_observed_check_target(run, base, err);
}

enum jl_status jl_observed_check_target(const struct jl_observed *run, const struct jl_machine *to, struct jl_err *err)
{
	enum path paths[PATHS_MAX];
	const size_t n_paths = paths_of(run, paths);
	double elem_B;

	if (!(to->dev.mem_Bps > 0) || !(to->dev.peak_flopps[JL_FP32] > 0))
		return jl_fail(err, JL_E_DATA,
			       "%s: the catalog does not know its memory bandwidth or its FP32 rate; lay them over it "
			       "with --catalog",
			       device_id(to));
	if (!(to->dev.mem_B > 0))
		return jl_fail(err, JL_E_DATA,
			       "%s: the catalog does not know its memory, which decides the largest batch; lay it over "
			       "with --catalog",
			       device_id(to));
	for (size_t i = 0; i < n_paths; i++)
		if (to->sys.gpu && isnan(matrix_flopps(&to->dev, paths[i], &elem_B)))
			return jl_fail(err, JL_E_USAGE, "%s does not compute in %s; take --precision fp16 or fp32",
				       device_id(to), jl_dtype_name((enum jl_dtype)run->dtype));
	return JL_OK;
}
