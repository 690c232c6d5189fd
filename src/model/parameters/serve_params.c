#include "parameters/serve_params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "parameters/arch.h"

enum shared {
	MEM,
	MATH_VECTOR,
	MATH_16,
	MATH_8,
	MATH_4,
	KV,
	FLASH,
	EXPERT,
	HOP,
	KERNEL,
	LAYER_S,
	MOE_LAYER_S,
	HOST_LAYER_S,
	STEP_S,
	SEQ_S,
	TOKEN_S,
	FIRST_S,
	FIRST_MOE_S,
	FRONT_S,
	FRONT_TOKEN_S,
	HANDOFF_S,
	DP_LATE,
	SM_RATE,
	N_SHARED
};
/* name without its scope; gains are factors on what operators reach by themselves (METHOD.md, 12) */
static const struct jl_param shared_params[N_SHARED] = {
	[MEM] = { "mem_gain", "1", 0.4, 1.6, 1, 0.05 },
	[MATH_VECTOR] = { "math_gain.vector", "1", 0.3, 1.5, 0.9, 0.2 },
	[MATH_16] = { "math_gain.tensor16", "1", 0.3, 1.5, 1, 0.05 },
	[MATH_8] = { "math_gain.tensor8", "1", 0.2, 1.5, 1, 0.05 },
	[MATH_4] = { "math_gain.tensor4", "1", 0.1, 1.5, 1, 0.05 },
	[KV] = { "kv_gain", "1", 0.1, 1.5, 1, 0.05 },
	[FLASH] = { "flash_gain", "1", 0.2, 2, 1, 0.05 },
	[EXPERT] = { "expert_gain", "1", 0.2, 1.5, 1, 0.1 },
	[HOP] = { "hop_gain", "1", 0.05, 3, 1, 1 },
	[KERNEL] = { "kernel_gain", "1", 0.05, 3, 0.6, 0.3 },
	[LAYER_S] = { "layer_s", "s", 1e-7, 1e-3, 1e-5, 0.5 },
	[MOE_LAYER_S] = { "moe_layer_s", "s", 1e-7, 5e-4, 1e-5, 0.7 },
	[HOST_LAYER_S] = { "host_layer_s", "s", 1e-6, 1e-2, 5e-4, 0.7 },
	[STEP_S] = { "step_s", "s", 1e-5, 1e-2, 5e-4, 0.7 },
	[SEQ_S] = { "seq_s", "s", 1e-7, 1e-3, 3e-6, 0.7 },
	[TOKEN_S] = { "token_s", "s", 1e-8, 1e-4, 2e-6, 3 },
	[FIRST_S] = { "first_s", "s", 1e-4, 1, 2e-2, 3 },
	[FIRST_MOE_S] = { "first_moe_s", "s", 1e-6, 1e-2, 5e-4, 3 },
	[FRONT_S] = { "front_s", "s", 1e-5, 4e-3, 1e-3, 1 },
	[FRONT_TOKEN_S] = { "front_token_s", "s", 1e-8, 1e-5, 4e-6, 1 },
	[HANDOFF_S] = { "handoff_s", "s", 1e-4, 2, 5e-2, 3 },
	[DP_LATE] = { "dp_late_passes", "1", 0.05, 50, 2, 1 },
	[SM_RATE] = { "sm_rate", "B/clock", 5, 500, 64, 0.7 },
};

/* Families as factors on the shared values. */
enum dev { DEV_MEM, DEV_MATH, N_DEV };
static const char *const dev_names[N_DEV] = { "mem_gain", "math_gain" };
static const double dev_sd[N_DEV] = { 0.02, 0.03 };
#define FAMILIES offsetof(struct jl_priors, serve_rows)

/* Frameworks as factors on the shared values: quality of their kernels, and what each layer and request costs. */
enum eng { ENG_MEM, ENG_MATH, ENG_LAYER, ENG_OLD, ENG_HOST, ENG_SEQ, ENG_FIRST, N_ENG };
static const struct {
	const char *name;
	double sd, reach;
} eng_params[N_ENG] = {
	{ "mem_gain", 0.03, 2 },     { "math_gain", 0.05, 6 }, { "layer_s", 0.6, 20 },   { "old_host", 3, 20 },
	{ "host_layer_s", 0.6, 20 }, { "seq_s", 0.7, 20 },     { "first_moe_s", 3, 10 },
};
#define BIT(n)   (1u << (n))
#define OWN_MATH BIT(ENG_MATH)
#define OWN_BOTH (BIT(ENG_MEM) | BIT(ENG_MATH))
#define OWN_ALL  (OWN_BOTH | BIT(ENG_LAYER) | BIT(ENG_OLD))
static const struct {
	const char *id;
	const char *words[3]; /* a spelling holds one of them, in lower case */
	unsigned single;      /* what its rows of single requests know */
} engines[JL_N_ENGINE] = {
	[JL_ENGINE_GENERAL] = { "general", { NULL }, 0 },
	[JL_ENGINE_TRTLLM] = { "trtllm", { "trtllm", "tensorrt" }, 0 },
	[JL_ENGINE_VLLM] = { "vllm", { "vllm" }, 0 },
	[JL_ENGINE_SGLANG] = { "sglang", { "sglang" }, 0 },
	[JL_ENGINE_LLAMACPP] = { "llamacpp", { "llama.cpp" }, OWN_ALL },
	[JL_ENGINE_EXLLAMA] = { "exllama", { "exllama" }, OWN_MATH },
	[JL_ENGINE_EXLLAMA2] = { "exllama2", { "exllamav2", "exllama v2" }, 0 },
	[JL_ENGINE_MLC] = { "mlc", { "mlc" }, 0 },
	[JL_ENGINE_AWQ] = { "autoawq", { "awq" }, OWN_MATH },
	[JL_ENGINE_AWQ_GEMV] = { "autoawq-gemv", { "gemv" }, OWN_MATH },
	[JL_ENGINE_GPTFAST] = { "gpt-fast", { "gpt-fast" }, BIT(ENG_MEM) },
	[JL_ENGINE_LMDEPLOY] = { "lmdeploy", { "lmdeploy" }, BIT(ENG_MEM) },
	[JL_ENGINE_FT] = { "fastertransformer", { "fastertransformer" }, OWN_BOTH },
	[JL_ENGINE_EAGER] = { "eager", { "eager", "swissarmy" }, 0 },
};
/* Requests are taken in and tokens handed out while a pass runs. */
#define LATE_PASSES 1.0
/* Where new requests are looked for every so many passes, one that comes at any time waits for half of them. */
#define HOLD_FRAC 0.5
/* Products of engines that are written for any card, of the vendor's library. */
#define PORTABLE_MATH 0.6
/* The general profile is all ones. */
#define LOOSER       8.0
#define FIRST_ENGINE (N_SHARED + jl_n_arch_among(FAMILIES) * N_DEV)
/* What each kind of rows knows; the rest is as it begins. Engines' operators are known where they serve, so that only host and kernels' fixed
 * times are to be found there. */
static const struct {
	const char *name;
	size_t n_engines, n_eng;
	unsigned shared, dev, eng;
} scopes[] = {
	[JL_SCOPE_INFER] = { "infer", JL_N_ENGINE - 1, ENG_OLD + 1,
			     BIT(MEM) | BIT(MATH_16) | BIT(FLASH) | BIT(HOP) | BIT(KERNEL) | BIT(LAYER_S) |
				     BIT(HOST_LAYER_S) | BIT(STEP_S) | BIT(SM_RATE),
			     BIT(DEV_MEM), ~0u },
	[JL_SCOPE_SERVE] = { "serve", 3, N_ENG,
			     BIT(MEM) | BIT(EXPERT) | BIT(HOP) | BIT(KERNEL) | BIT(LAYER_S) | BIT(MOE_LAYER_S) |
				     BIT(HOST_LAYER_S) | BIT(STEP_S) | BIT(SEQ_S) | BIT(TOKEN_S) | BIT(FIRST_S) |
				     BIT(FIRST_MOE_S) | BIT(FRONT_S) | BIT(FRONT_TOKEN_S) | BIT(HANDOFF_S) |
				     BIT(DP_LATE),
			     0, BIT(ENG_LAYER) | BIT(ENG_HOST) | BIT(ENG_FIRST) | BIT(ENG_OLD) },
};
_Static_assert(N_SHARED + JL_ARCHS_MAX * (size_t)N_DEV + (size_t)(JL_N_ENGINE - 1) * (ENG_OLD + 1) <=
		       JL_SERVE_MAX_PARAMS,
	       "raise JL_SERVE_MAX_PARAMS");

static void param_at(const void *row, size_t i, struct jl_param *ret_param)
{
	const enum jl_serve_scope scope = row == &scopes[JL_SCOPE_SERVE] ? JL_SCOPE_SERVE : JL_SCOPE_INFER;
	struct jl_param param = { .unit = "1", .prior = 1 };
	bool known;

	if (i < N_SHARED) {
		param = shared_params[i];
		known = scopes[scope].shared & BIT(i);
		snprintf(param.name, sizeof(param.name), "%s.%s", scopes[scope].name, shared_params[i].name);
	} else if (i < FIRST_ENGINE) {
		const size_t family = (i - N_SHARED) / N_DEV, dev = (i - N_SHARED) % N_DEV;

		known = scopes[scope].dev & BIT(dev);
		param.lo = dev == DEV_MEM ? 0.5 : 0.2;
		param.hi = dev == DEV_MEM ? 1.6 : 3;
		param.prior_sd_ln = dev_sd[dev];
		snprintf(param.name, sizeof(param.name), "%s.family.%s.%s", scopes[scope].name,
			 jl_arch_among_at(family, FAMILIES)->id, dev_names[dev]);
	} else {
		const size_t engine = (i - FIRST_ENGINE) / scopes[scope].n_eng,
			     eng = (i - FIRST_ENGINE) % scopes[scope].n_eng;

		known = scopes[scope].eng & BIT(eng) &&
			(scope == JL_SCOPE_SERVE || engines[engine + 1].single & BIT(eng));
		param.lo = 1 / eng_params[eng].reach;
		param.hi = eng_params[eng].reach;
		param.prior_sd_ln = eng_params[eng].sd;
		if (scope == JL_SCOPE_INFER && eng == ENG_MATH && engine + 1 > JL_ENGINE_SGLANG)
			param.prior = PORTABLE_MATH;
		snprintf(param.name, sizeof(param.name), "%s.engine.%s.%s", scopes[scope].name, engines[engine + 1].id,
			 eng_params[eng].name);
	}
	/* Engines for single requests have kernels of their own, of which operators of the vendors' libraries say less. */
	if (scope == JL_SCOPE_INFER && strstr(param.name, "_gain"))
		param.prior_sd_ln = fmin(LOOSER * param.prior_sd_ln, 0.5);
	if (!known)
		param.lo = param.hi = param.prior;
	*ret_param = param;
}

struct jl_param_list jl_serve_params(enum jl_serve_scope scope)
{
	return (struct jl_param_list){ .n = FIRST_ENGINE + scopes[scope].n_engines * scopes[scope].n_eng,
				       .at = param_at,
				       .ctx = &scopes[scope],
				       .key = scopes[scope].name };
}

/* Written for consumer cards: their matrix-vector kernels keep too little on the way for the memory of large boards. */
static const unsigned char portable[JL_N_ENGINE] = {
	[JL_ENGINE_LLAMACPP] = 1, [JL_ENGINE_EXLLAMA] = 1, [JL_ENGINE_EXLLAMA2] = 1,
	[JL_ENGINE_MLC] = 1,      [JL_ENGINE_AWQ] = 1,     [JL_ENGINE_AWQ_GEMV] = 1
};

/* No interpreter between kernels: a launch takes microseconds, not tens of them. */
static const unsigned char native[JL_N_ENGINE] = { [JL_ENGINE_LLAMACPP] = 1, [JL_ENGINE_MLC] = 1 };
#define NATIVE_HOST 0.05

struct jl_serve_fit jl_serve_fit_of(enum jl_serve_scope scope, const double *x, int arch, enum jl_engine engine)
{
	static const enum shared maths[JL_N_DTYPE] = {
		[JL_FP32] = MATH_VECTOR, [JL_TF32] = MATH_16, [JL_FP16] = MATH_16, [JL_BF16] = MATH_16,
		[JL_FP8] = MATH_8,       [JL_FP4] = MATH_4,   [JL_INT8] = MATH_8,
	};
	const double *dev = x + N_SHARED + jl_arch_among(arch, FAMILIES) * N_DEV;
	/* what no row is of is nobody's deviation */
	const bool seen = jl_arch_family(arch)->priors.serve_rows;
	const size_t n_eng = scopes[scope].n_eng;
	double eng[N_ENG] = { 1, 1, 1, 1, 1, 1, 1 };

	if (engine > JL_ENGINE_GENERAL && (size_t)engine <= scopes[scope].n_engines)
		memcpy(eng, x + FIRST_ENGINE + ((size_t)engine - 1) * n_eng, n_eng * sizeof(*eng));
	struct jl_serve_fit fit = {
		.mem_gain = x[MEM] * (seen ? dev[DEV_MEM] : 1.0) * eng[ENG_MEM],
		.sm_B = portable[engine] ? x[SM_RATE] : 0.0,
		.kv_gain = x[KV],
		.flash_gain = x[FLASH],
		.expert_gain = x[EXPERT] * eng[ENG_MATH],
		.hop_gain = x[HOP],
		.kernel_gain = x[KERNEL] * eng[ENG_LAYER],
		.layer_s = x[LAYER_S] * eng[ENG_LAYER],
		.moe_layer_s = x[MOE_LAYER_S],
		.host_layer_s = x[HOST_LAYER_S] * eng[ENG_HOST] * (native[engine] ? NATIVE_HOST : 1.0),
		.old_host = eng[ENG_OLD],
		.old_layer = scope == JL_SCOPE_INFER ? eng[ENG_OLD] : 1,
		.step_s = x[STEP_S],
		.seq_s = x[SEQ_S] * eng[ENG_SEQ],
		.token_s = x[TOKEN_S],
		.first_s = x[FIRST_S],
		.first_moe_s = x[FIRST_MOE_S] * eng[ENG_FIRST],
		.front_s = x[FRONT_S],
		.front_token_s = x[FRONT_TOKEN_S],
		.late = LATE_PASSES,
		.hold_frac = HOLD_FRAC,
		.handoff_s = x[HANDOFF_S],
		.dp_late = x[DP_LATE],
	};

	for (int d = 0; d < JL_N_DTYPE; d++)
		fit.math_gain[d] = x[maths[d]] * dev[DEV_MATH] * eng[ENG_MATH];
	return fit;
}

enum jl_serve_scope jl_serve_scope_of(enum jl_engine engine)
{
	return engine <= JL_ENGINE_SGLANG ? JL_SCOPE_SERVE : JL_SCOPE_INFER;
}

struct jl_serve_fit jl_serve_shipped(const struct jl_catalog *cat, int arch, enum jl_engine engine)
{
	const enum jl_serve_scope scope = jl_serve_scope_of(engine);
	const struct jl_param_list params = jl_serve_params(scope);
	double x[JL_SERVE_MAX_PARAMS];

	jl_params_read(cat, &params, x);
	return jl_serve_fit_of(scope, x, arch, engine);
}

void jl_engine_format(struct jl_serve_format *format, enum jl_engine engine)
{
	if (engine == JL_ENGINE_TRTLLM && format->dense == JL_OP_FP8)
		format->dense = format->experts = JL_OP_FP8_STATIC;
	/* but for one that calls the vendor's library, consumer cards' engines sum in 16 bit */
	format->short_sums |= portable[engine] && engine != JL_ENGINE_AWQ_GEMV;
	format->own_kernels |= portable[engine] && engine != JL_ENGINE_AWQ;
	if (engine == JL_ENGINE_LLAMACPP && format->expert_B < 1.0 && format->weight_B >= 2.0) {
		format->weight_B = format->table_B = format->logits_B = 1.0625; /* Q8_0 */
		format->dense = JL_OP_INT8_WO;
	}
}

const char *jl_engine_id(enum jl_engine engine)
{
	return engines[engine].id;
}

enum jl_engine jl_engine_by_text(const char *text)
{
	enum jl_engine best = JL_ENGINE_GENERAL;
	size_t best_len = 0;

	/* the longest word wins: "exllama v2" before "exllama" */
	for (int e = 0; e < JL_N_ENGINE; e++) {
		for (const char *const *word = engines[e].words; word < engines[e].words + 3 && *word; word++) {
			if (strlen(*word) > best_len && strcasestr(text, *word)) {
				best = (enum jl_engine)e;
				best_len = strlen(*word);
			}
		}
	}
	return strcasestr(text, "gemv") ? JL_ENGINE_AWQ_GEMV : best;
}
