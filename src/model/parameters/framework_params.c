/* Parameters of training runs: frameworks, links in runs, memory. Knows no data set. */
#include "parameters/framework_params.h"

#include <math.h>
#include <stdio.h>

#include "catalog/find.h"
#include "parameters/arch.h"
#include "parameters/codebase.h"

struct entry {
	const char *name, *unit;
	double prior, lo, hi, sd;
};

enum global {
	G_LAUNCH,
	G_MEM,
	G_TENSOR16,
	G_ROWWISE,
	G_PORTABLE,
	G_RELIEF,
	G_STRAGGLER,
	G_KERNEL,
	G_CONTEXT,
	G_COMM,
	G_WASTE,
	G_BUFFER,
	G_N
};
static const struct entry globals[G_N] = {
	/* means over all frameworks and devices, from which a new framework or device starts */
	[G_LAUNCH] = { "train.launch_s", "s", 20e-6, 3e-6, 1e-4, 0.6 },
	[G_MEM] = { "train.mem_ratio", "1", 0.95, 0.6, 1.2, 0.15 },
	[G_TENSOR16] = { "train.tensor16_ratio", "1", 0.95, 0.6, 1.2, 0.15 },
	[G_ROWWISE] = { "train.fp8_rowwise_frac", "1", 0.6, 0.3, 1.0, 0.5 },
	[G_PORTABLE] = { "train.portable_flash_frac", "1", 0.65, 0.3, 1.0, 0.2 },
	[G_RELIEF] = { "train.power_relief_frac", "1", 0.5, 0.05, 1.0,
		       /* share of power throttling that products recover in a run; 0: as in hours of products alone, 1: as in a burst */
		       0.5 },
	[G_STRAGGLER] = { "train.straggler_frac", "1", 0.005, 1e-4, 0.05, 0.7 },
	[G_KERNEL] = { "train.kernel_ratio", "1", 1.0, 0.2, 3.0, 0.3 },
	[G_CONTEXT] = { "memory.context", "B", 0.6e9, 3e8, 1.5e9, 0.4 },
	[G_COMM] = { "memory.comm", "B", 1.4e9, 1e8, 4e9, 0.4 },
	[G_WASTE] = { "memory.waste_frac", "1", 0.15, 0.005, 0.4, 0.4 },
	[G_BUFFER] = { "memory.buffer_frac", "1", 0.02, 0.001, 1.0, 0.7 },
};

enum per_profile { F_LAUNCH, F_COMM, F_STREAM, F_DP, F_FSDP, F_TP, F_CONTEND, F_BUCKET, F_STEP, F_OPT, F_OPTK, F_N };
static const struct entry profiles[F_N] = {
	/* prior 0: the profile's default */
	[F_LAUNCH] = { "launch_ratio", "1", 0, 0.1, 4.0, 0.4 }, /* factor on train.launch_s */
	[F_COMM] = { "comm_launch_s", "s", 0, 2e-6, 3e-4, 0.7 },
	[F_STREAM] = { "stream_frac", "1", 0, 1.0, 1.6, 0.1 },
	[F_DP] = { "dp_overlap_frac", "1", 0, 0.02, 0.98, 0.4 },
	[F_FSDP] = { "fsdp_overlap_frac", "1", 0, 0.1, 0.99, 0.3 },
	[F_TP] = { "tp_overlap_frac", "1", 0, 0.005, 0.9, 0.7 },
	[F_CONTEND] = { "contention_frac", "1", 0, 0.005, 0.6, 0.7 },
	[F_BUCKET] = { "bucket", "B", 0, 2e6, 2e9, 0.7 },
	[F_STEP] = { "step_s", "s", 0, 1e-4, 1e-1, 0.7 },
	[F_OPT] = { "optimizer_frac", "1", 0, 0.8, 2.0, 0.15 },
	[F_OPTK] = { "optimizer_kernels", "1", 0, 1.0, 1000.0, 0.7 },
};
#define MEMBER(member) offsetof(struct jl_profile, member)
static const size_t members[F_N] = {
	[F_LAUNCH] = MEMBER(launch_s),         [F_COMM] = MEMBER(comm_launch_s),     [F_STREAM] = MEMBER(stream_frac),
	[F_DP] = MEMBER(dp_overlap_frac),      [F_FSDP] = MEMBER(fsdp_overlap_frac), [F_TP] = MEMBER(tp_overlap_frac),
	[F_CONTEND] = MEMBER(contention_frac), [F_BUCKET] = MEMBER(bucket_B),        [F_STEP] = MEMBER(step_s),
	[F_OPT] = MEMBER(optimizer_frac),      [F_OPTK] = MEMBER(optimizer_kernels),
};

/* Ratio of the rates in a training run to those of single operators: clocks under sustained load, and costs missing from the step model. */
enum per_arch { A_VECTOR, A_T16, A_T8, A_MEM, A_FLASH, A_N };
static const struct entry archs[A_N] = {
	[A_VECTOR] = { "vector_ratio", "1", 1.0, 0.4, 1.6, 0.12 },
	[A_T16] = { "tensor16_ratio", "1", 1.0, 0.6, 1.3, 0.07 },
	[A_T8] = { "tensor8_ratio", "1", 1.0, 0.4, 1.6, 0.12 },
	[A_MEM] = { "mem_ratio", "1", 1.0, 0.6, 1.3, 0.06 },
	[A_FLASH] = { "flash_ratio", "1", 0.9, 0.3, 2.0, 0.2 },
};

/* Collectives inside a training run relative to benchmarks: bandwidth, and added latency, because ranks do not arrive together and the device is
 * busy. */
enum per_link { L_EFF, L_ALPHA, L_N };
static const struct entry links[L_N] = {
	[L_EFF] = { "eff_ratio", "1", 0.9, 0.2, 1.6, 0.25 },
	[L_ALPHA] = { "alpha_ratio", "1", 1.5, 0.2, 30.0, 0.5 },
};
static const struct {
	const char *name;
	double eff_prior;
} link_types[JL_N_LLM_LINK] = {
	[JL_LLM_PCIE_HOST] = { "pcie-host", 0.5 },
	[JL_LLM_PCIE_P2P] = { "pcie-p2p", 0.9 },
	[JL_LLM_BRIDGE] = { "nvlink-bridge", 0.9 },
	[JL_LLM_NVLINK_MESH] = { "nvlink2-mesh", 0.9 },
	[JL_LLM_NVLINK3] = { "nvlink3", 0.9 },
	[JL_LLM_NVLINK4] = { "nvlink4", 0.9 },
	[JL_LLM_NVLINK5] = { "nvlink5", 0.9 },
	[JL_LLM_RDMA] = { "rdma", 0.9 },
	/* CPU cores copy the data: half the bandwidth, as measured for Omni-Path with GPUs */
	[JL_LLM_ONLOAD] = { "rdma-onload", 0.5 },
	[JL_LLM_ETHERNET] = { "ethernet", 0.9 },
};

enum per_gpu { U_MATRIX, U_N };
static const struct entry gpus[U_N] = {
	[U_MATRIX] = { "matrix_ratio", "1", 1.0, 0.5, 2.0, 0.12 },
};

#define AT_PROFILE ((size_t)G_N)
#define AT_ARCH    (AT_PROFILE + (size_t)JL_FW_FUSED * F_N) /* JL_FW_FUSED has no parameters */
#define AT_LINK    (AT_ARCH + (size_t)jl_n_arch() * A_N)
#define AT_CODE    (AT_LINK + (size_t)JL_N_LLM_LINK * L_N)
#define AT_GPU     (AT_CODE + (size_t)JL_N_CODEBASE)

static double *member(struct jl_profile *p, size_t f)
{
	return (double *)(void *)((char *)p + members[f]);
}

static struct jl_param make(const char *block, const char *owner, const struct entry *e, double prior)
{
	struct jl_param p = { .unit = e->unit,
			      .lo = e->lo,
			      .hi = e->hi,
			      .prior = fmin(fmax(prior, e->lo), e->hi),
			      .prior_sd_ln = e->sd };

	jl_param_name(&p, block, owner, e->name);
	return p;
}

static void param_at(const void *ctx, size_t i, struct jl_param *ret_param)
{
	const char *const *gpu_ids = ctx;
	if (i < AT_PROFILE) {
		*ret_param = make("", "", &globals[i], globals[i].prior);
	} else if (i < AT_ARCH) {
		const enum jl_framework fw = (enum jl_framework)((i - AT_PROFILE) / F_N);
		const size_t f = (i - AT_PROFILE) % F_N;
		struct jl_profile profile = jl_profile_default(fw);

		*ret_param = make("framework.", jl_framework_name(fw), &profiles[f],
				  *member(&profile, f) / (f == F_LAUNCH ? globals[G_LAUNCH].prior : 1.0));
		/* No parameter: PyTorch's bucket sizes are documented; an unnamed framework has no runs; four runs of eager frameworks with tensor
		 * parallelism do not determine a launch time */
		if (fw == JL_FW_GENERAL || (f == F_BUCKET && fw != JL_FW_MEGATRON) ||
		    (f == F_COMM && fw == JL_FW_EAGER))
			ret_param->lo = ret_param->hi = ret_param->prior;
	} else if (i < AT_LINK) {
		const size_t a = (i - AT_ARCH) / A_N, f = (i - AT_ARCH) % A_N;
		const struct jl_family *family = jl_arch_family((int)a);

		*ret_param = make("train.family.", family->id, &archs[f],
				  f == A_T16 ? family->priors.train_tensor16_frac : archs[f].prior);
	} else if (i < AT_CODE) {
		const size_t l = (i - AT_LINK) / L_N, f = (i - AT_LINK) % L_N;

		*ret_param = make("train.link.", link_types[l].name, &links[f],
				  f == L_EFF ? link_types[l].eff_prior : links[f].prior);
	} else if (i < AT_GPU) {
		jl_code_param(ret_param, "train", i - AT_CODE);
	} else {
		const size_t g = (i - AT_GPU) / U_N, f = (i - AT_GPU) % U_N;

		*ret_param = make("train.gpu.", gpu_ids ? gpu_ids[g] : "?", &gpus[f], gpus[f].prior);
	}
}

struct jl_param_list jl_llm_params(size_t n_gpu, const char *const *gpu_ids)
{
	return (struct jl_param_list){ .n = AT_GPU + n_gpu * U_N, .at = param_at, .ctx = gpu_ids };
}

bool jl_llm_read(const struct jl_catalog *cat, const char *gpu_id, double *ret_x)
{
	_Static_assert(AT_ARCH + (size_t)JL_ARCHS_MAX * A_N + (size_t)JL_N_LLM_LINK * L_N + JL_N_CODEBASE +
				       (size_t)JL_LLM_MAX_GPUS * U_N <=
			       JL_LLM_MAX_PARAMS,
		       "raise JL_LLM_MAX_PARAMS");
	return jl_params_own(cat, jl_llm_params(1, gpu_id ? &gpu_id : NULL), U_N, ret_x);
}

bool jl_llm_seen(const struct jl_catalog *cat, const char *gpu_id)
{
	char prefix[80];

	(void)snprintf(prefix, sizeof(prefix), "train.gpu.%.40s.", gpu_id);
	return jl_params_seen(cat, prefix);
}

/* Clamps to 1; NAN stays NAN. */
static double at_most_listed(double frac)
{
	return frac > 1.0 ? 1.0 : frac;
}

void jl_llm_resolve_device(const double *x, int gpu_index, struct jl_device *dev)
{
	static const double vector_flash = 0.79; /* in fp32 and tf32 runs on an H200 */
	const double *a = x + AT_ARCH + (size_t)dev->arch * A_N;
	const double *u = gpu_index < 0 ? NULL : x + AT_GPU + (size_t)gpu_index * U_N;
	const double alone_frac = dev->fit.gemm_frac[JL_FP16], alone_vector_frac = dev->fit.gemm_frac[JL_FP32];

	/* a listed fp8 rate above twice the 16-bit rate accumulates in fp16; training accumulates in fp32 */
	if (dev->peak_flopps[JL_FP8] > 2.2 * dev->peak_flopps[JL_BF16])
		dev->peak_flopps[JL_FP8] = 2.0 * dev->peak_flopps[JL_BF16];
	for (int d = 0; d < JL_N_DTYPE; d++) {
		const enum jl_unit unit = jl_unit_of((enum jl_dtype)d);

		/* a device's ratio applies to the unit that its products use: tensor cores if present */
		dev->fit.gemm_frac[d] *= a[A_VECTOR + unit];
		if (u && (unit != JL_UNIT_VECTOR || dev->priors->no_tensor))
			dev->fit.gemm_frac[d] *= u[U_MATRIX];
		if (unit == JL_UNIT_TENSOR16)
			dev->fit.gemm_frac[d] *= x[G_TENSOR16];
		dev->fit.gemm_frac[d] = at_most_listed(dev->fit.gemm_frac[d]);
	}
	dev->fit.mem_frac = at_most_listed(dev->fit.mem_frac * x[G_MEM] * a[A_MEM]);
	/* Fused attention uses kernels of its own, so the products' losses in training runs do not apply to it. */
	const double products = dev->fit.gemm_frac[JL_FP16] / alone_frac;
	const double vector_products = dev->fit.gemm_frac[JL_FP32] / alone_vector_frac;

	dev->fit.flash_frac *= a[A_FLASH] / (products > 0.0 ? products : 1.0);
	dev->fit.flash_vector_frac *= vector_flash / (vector_products > 0.0 ? vector_products : 1.0);
	/* frameworks write their kernels for Ampere's tensor instructions, which Hopper and Blackwell replaced */
	if (dev->priors->warpgroup)
		dev->fit.portable_frac = x[G_PORTABLE];
	dev->fit.kernel_s *= x[G_KERNEL];
}

struct jl_profile jl_llm_resolve_profile(const double *x, enum jl_framework framework, int codebase)
{
	const double *f = x + AT_PROFILE + (size_t)(framework == JL_FW_FUSED ? JL_FW_EAGER : framework) * F_N;

	struct jl_profile p = {
		.straggler_frac = x[G_STRAGGLER],
		.cool_frac = x[G_RELIEF],
		.fusion = jl_framework_fusion(framework),
		.frees_grads = framework == JL_FW_EAGER || framework == JL_FW_COMPILED || framework == JL_FW_FUSED,
		.pads = framework == JL_FW_COMPILED || framework == JL_FW_NATIVE,
	};

	for (size_t i = 0; i < F_N; i++)
		*member(&p, i) = f[i] * (i == F_LAUNCH ? x[G_LAUNCH] : 1.0);
	if (codebase >= 0)
		jl_profile_scale(&p, x[AT_CODE + (size_t)codebase]);
	return p;
}

static void scale_link(struct jl_link *link, const double *x)
{
	link->eff_frac = fmin(1.0, link->eff_frac * x[L_EFF]);
	link->alpha_s *= x[L_ALPHA];
	link->ll_alpha_s *= x[L_ALPHA];
	link->setup_s *= x[L_ALPHA];
}

void jl_llm_resolve_fabric(const double *x, enum jl_llm_link intra, enum jl_llm_link inter, struct jl_fabric *fabric)
{
	const enum jl_llm_link path = fabric->pairs_by_host ? JL_LLM_PCIE_HOST : intra;

	scale_link(&fabric->intra, x + AT_LINK + (size_t)path * L_N);
	scale_link(&fabric->pair, x + AT_LINK + (size_t)intra * L_N);
	scale_link(&fabric->inter, x + AT_LINK + (size_t)inter * L_N);
}

struct jl_memory_fit jl_llm_resolve_memory(const double *x, enum jl_llm_scope scope)
{
	return (struct jl_memory_fit){
		.buffer_frac = x[G_BUFFER],
		.waste_frac = scope >= JL_LLM_RESERVED ? x[G_WASTE] : 0.0,
		.context_B = scope >= JL_LLM_DEVICE ? x[G_CONTEXT] : 0.0,
		.comm_B = scope >= JL_LLM_DEVICE ? x[G_COMM] : 0.0,
	};
}

static int in_block(size_t i, size_t at, size_t index, size_t n)
{
	return i >= at + index * n && i < at + (index + 1) * n;
}

int jl_llm_param_used(size_t i, const struct jl_llm_kind *kind)
{
	const enum jl_framework fw = kind->framework == JL_FW_FUSED ? JL_FW_EAGER : kind->framework;

	return i < AT_PROFILE || (kind->codebase >= 0 && i == AT_CODE + (size_t)kind->codebase) ||
	       in_block(i, AT_PROFILE, (size_t)fw, F_N) || in_block(i, AT_ARCH, (size_t)kind->arch, A_N) ||
	       in_block(i, AT_LINK, (size_t)kind->intra, L_N) || in_block(i, AT_LINK, (size_t)kind->inter, L_N) ||
	       (kind->gpu_index >= 0 && in_block(i, AT_GPU, (size_t)kind->gpu_index, U_N));
}

double jl_llm_rowwise_frac(const double *x)
{
	return x[G_ROWWISE];
}

static void expert_at(const void *ctx, size_t i, struct jl_param *ret_param)
{
	const struct jl_catalog *cat = ctx;
	struct jl_param trained;

	if (i == 0) {
		*ret_param = (struct jl_param){ "expert.call_frac", "1", 0.02, 1.0, 0.4, 0.4 };
		return;
	}
	jl_code_param(ret_param, "expert", i - 1);
	jl_code_param(&trained, "train", i - 1);
	if (cat && jl_param_by_id(cat, trained.name)) /* determined by training runs: fixed here */
		ret_param->lo = ret_param->hi = 1.0;
}

struct jl_param_list jl_expert_params(const struct jl_catalog *cat)
{
	return (struct jl_param_list){ .n = JL_EXPERT_N_PARAM, .at = expert_at, .ctx = cat };
}

double jl_expert_call_frac(const struct jl_catalog *cat)
{
	const struct jl_param_list list = { .n = 1, .at = expert_at, .key = "" };
	double x;

	jl_params_read(cat, &list, &x);
	return x;
}

static const struct jl_param tuning[JL_TUNE_OWN] = {
	{ "tune.call_ratio", "1", 0.3, 4.0, 1.0, 0.3 },   { "tune.unpack_ratio", "1", 0.2, 5.0, 1.0, 0.5 },
	{ "tune.ragged_frac", "1", 0.05, 4.0, 0.8, 0.5 }, { "tune.gather_s", "s", 5e-5, 5e-3, 5e-4, 0.7 },
	{ "tune.work_ratio", "1", 0.5, 2.0, 1.0, 0.1 },
};

static void tune_at(const void *ctx, size_t i, struct jl_param *ret_param)
{
	(void)ctx;
	if (i < JL_TUNE_OWN)
		*ret_param = tuning[i];
	else
		jl_code_param(ret_param, "tune", i - JL_TUNE_OWN);
}

const struct jl_param_list jl_tuning_params = { .n = JL_TUNE_N_PARAM, .at = tune_at, .key = "" };

struct jl_tune_fit jl_tune_fit_of(const double *x, int codebase)
{
	return (struct jl_tune_fit){ .call_ratio = x[0],
				     .unpack_ratio = x[1],
				     .ragged_frac = x[2],
				     .gather_s = x[3],
				     .work_ratio = x[4] * (codebase < 0 ? 1.0 : x[JL_TUNE_OWN + codebase]) };
}

/* The codebase's ratio in fine-tuning replaces its ratio in training. */
void jl_profile_tune(struct jl_profile *profile, enum jl_framework framework, struct jl_tune_fit fit)
{
	jl_profile_scale(profile, fit.work_ratio / (1.0 + profile->more_frac));
	if (framework != JL_FW_EAGER)
		return;
	profile->launch_s *= fit.call_ratio;
	profile->gather_s = fit.gather_s;
}

struct jl_tune_fit jl_tune_shipped(const struct jl_catalog *cat, int codebase)
{
	double x[JL_TUNE_N_PARAM];

	jl_params_read(cat, &jl_tuning_params, x);
	return jl_tune_fit_of(x, codebase);
}
