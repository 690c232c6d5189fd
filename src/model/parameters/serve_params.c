/* Parameters of serving, and their mapping to struct jl_serve_fit. Knows no data set. */
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
/* names without their scope; gains are factors on single-operator rates (METHOD.md, 12) */
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
	[FRONT_S] = { "front_s", "s", 1e-5, 1e-2, 3e-3, 1 },
	[FRONT_TOKEN_S] = { "front_token_s", "s", 1e-8, 1e-5, 4e-6, 1 },
	[HANDOFF_S] = { "handoff_s", "s", 1e-4, 2, 5e-2, 3 },
	[DP_LATE] = { "dp_late_passes", "1", 0.05, 50, 2, 1 },
	[SM_RATE] = { "sm_rate", "B/clock", 5, 500, 64, 0.7 },
};

/* Family factors on the shared values. */
enum dev { DEV_MEM, DEV_MATH, N_DEV };
static const char *const dev_names[N_DEV] = { "mem_gain", "math_gain" };
static const double dev_sd[N_DEV] = { 0.02, 0.03 };
#define FAMILIES offsetof(struct jl_priors, serve_rows)

/* Engine factors on the shared values; versions and backends have factors on their engine's values. */
enum eng { ENG_MEM, ENG_MATH, ENG_KV, ENG_FEW, ENG_HOP, ENG_LAYER, ENG_HOST, ENG_STEP, ENG_SEQ, ENG_FIRST, N_ENG };
static const struct {
	const char *name;
	double prior, sd, reach;
} eng_params[N_ENG] = {
	{ "mem_gain", 1, 0.03, 2 },     { "math_gain", 1, 0.05, 6 }, { "kv_gain", 1, 0.3, 6 },
	{ "few_gain", 0.12, 1.5, 16 },  { "hop_gain", 1, 0.5, 10 },  { "layer_s", 1, 0.6, 20 },
	{ "host_layer_s", 1, 0.6, 20 }, { "step_s", 1, 1.5, 40 },    { "seq_s", 1, 1.5, 40 },
	{ "first_moe_s", 1, 3, 10 },
};
#define BIT(n) (1u << (n))
/* admission and output while a pass runs delay the first token by one pass */
#define LATE_PASSES 1.0
/* Mean wait if new requests are admitted only every n-th pass: half of the interval. */
#define HOLD_FRAC 0.5
/* Racks with SGLang admit at most 190 requests/s of 1,024 tokens and 60 to 73 of 8,192, at any load. */
#define LINE_TOKEN_S 1.3e-6
/* Products of narrow weights on matrix units: engines written for any card / vendor library. */
#define PORTABLE_MATH 0.6
#define LOOSER        8.0
#define BACKEND       6.0 /* factor on the prior's sd: kernels of another vendor, or old versions */
#define FIRST_ENGINE  (N_SHARED + jl_n_arch_among(FAMILIES) * N_DEV)
/* Parameters fitted per scope; others keep their priors. Engine operators are fitted from serving rows, so here only host times and fixed kernel
 * times are fitted. */
static const struct {
	const char *name;
	unsigned shared, dev;
} scopes[] = {
	[JL_SCOPE_INFER] = { "infer",
			     BIT(MEM) | BIT(MATH_16) | BIT(FLASH) | BIT(HOP) | BIT(KERNEL) | BIT(LAYER_S) |
				     BIT(HOST_LAYER_S) | BIT(STEP_S) | BIT(SM_RATE),
			     BIT(DEV_MEM) },
	[JL_SCOPE_SERVE] = { "serve",
			     BIT(MEM) | BIT(EXPERT) | BIT(HOP) | BIT(KERNEL) | BIT(LAYER_S) | BIT(MOE_LAYER_S) |
				     BIT(HOST_LAYER_S) | BIT(STEP_S) | BIT(SEQ_S) | BIT(TOKEN_S) | BIT(FIRST_S) |
				     BIT(FIRST_MOE_S) | BIT(FRONT_S) | BIT(FRONT_TOKEN_S) | BIT(HANDOFF_S) |
				     BIT(DP_LATE),
			     0 },
};
_Static_assert(N_SHARED + JL_ARCHS_MAX * (size_t)N_DEV + 26 * (size_t)N_ENG <= JL_SERVE_MAX_PARAMS,
	       "raise JL_SERVE_MAX_PARAMS");

/* Engines of a scope in table order; the first row (JL_ENGINE_GENERAL) has no parameters. */
static bool is_in(int engine, enum jl_serve_scope scope)
{
	return engine > JL_ENGINE_GENERAL && jl_serve_scope_of(engine) == scope;
}

static int engine_at(enum jl_serve_scope scope, size_t at)
{
	int e = 0;

	while (!is_in(e, scope) || at-- > 0)
		e++;
	return e;
}

static size_t place_of(enum jl_serve_scope scope, int engine)
{
	size_t at = 0;

	for (int e = 0; e < engine; e++)
		at += is_in(e, scope);
	return at;
}

static bool knows(const struct jl_engine_info *info, const char *name)
{
	for (const char *const *fit = info->fits; fit && *fit; fit++)
		if (strcmp(*fit, name) == 0)
			return true;
	return false;
}

bool jl_serve_of_version(enum jl_serve_scope scope, size_t param)
{
	const struct jl_engine_info *info = param < FIRST_ENGINE
						    ? NULL
						    : jl_engine_info(engine_at(scope, (param - FIRST_ENGINE) / N_ENG));

	return info && (info->until || info->vendor);
}

static void engine_param(struct jl_param *param, bool *ret_known, enum jl_serve_scope scope, size_t at)
{
	const struct jl_engine_info *info = jl_engine_info(engine_at(scope, at / N_ENG));
	const enum eng eng = at % N_ENG;

	*ret_known = knows(info, eng_params[eng].name);
	param->prior = *ret_known ? eng_params[eng].prior : 1;
	param->lo = eng_params[eng].prior / eng_params[eng].reach;
	param->hi = eng_params[eng].prior * eng_params[eng].reach;
	param->prior_sd_ln = eng_params[eng].sd * (info->until || info->vendor ? BACKEND : 1);
	snprintf(param->name, sizeof(param->name), "%s.engine.%s.%s", scopes[scope].name, info->id,
		 eng_params[eng].name);
}

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
		engine_param(&param, &known, scope, i - FIRST_ENGINE);
	}
	/* engines for single requests have their own kernels, so vendor-library operators constrain them less: wider priors */
	if (scope == JL_SCOPE_INFER && strstr(param.name, "_gain"))
		param.prior_sd_ln = fmin(LOOSER * param.prior_sd_ln, 0.5);
	if (!known)
		param.lo = param.hi = param.prior;
	*ret_param = param;
}

struct jl_param_list jl_serve_params(enum jl_serve_scope scope)
{
	return (struct jl_param_list){ .n = FIRST_ENGINE + place_of(scope, jl_n_engine()) * N_ENG,
				       .at = param_at,
				       .ctx = &scopes[scope],
				       .key = scopes[scope].name };
}

/* Host time factor of engines in native code: a launch takes microseconds, not tens, and the front end a millisecond. */
#define NATIVE_HOST 0.05

struct jl_serve_fit jl_serve_fit_of(enum jl_serve_scope scope, const double *x, int arch, int engine)
{
	static const enum shared maths[JL_N_DTYPE] = {
		[JL_FP32] = MATH_VECTOR, [JL_TF32] = MATH_16, [JL_FP16] = MATH_16, [JL_BF16] = MATH_16,
		[JL_FP8] = MATH_8,       [JL_FP4] = MATH_4,   [JL_INT8] = MATH_8,
	};
	const double *dev = x + N_SHARED + jl_arch_among(arch, FAMILIES) * N_DEV;
	/* families without rows have no deviation */
	const bool seen = jl_arch_family(arch)->priors.serve_rows;
	const struct jl_engine_info *info = jl_engine_info(engine);
	double eng[N_ENG] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

	for (int e = engine; e >= 0; e = jl_engine_parent(e))
		for (size_t i = 0; is_in(e, scope) && i < N_ENG; i++)
			eng[i] *= x[FIRST_ENGINE + place_of(scope, e) * N_ENG + i];
	const double host = info->native ? NATIVE_HOST : 1.0;
	struct jl_serve_fit fit = {
		.mem_gain = x[MEM] * (seen ? dev[DEV_MEM] : 1.0) * eng[ENG_MEM],
		.sm_B = info->consumer ? x[SM_RATE] : 0.0,
		.portable_frac = info->single ? PORTABLE_MATH : 1.0,
		.kv_gain = x[KV] * eng[ENG_KV],
		.flash_gain = x[FLASH],
		.expert_gain = x[EXPERT] * eng[ENG_MATH],
		.few_frac = eng[ENG_FEW],
		.hop_gain = x[HOP] * eng[ENG_HOP],
		.kernel_gain = x[KERNEL] * eng[ENG_LAYER],
		.layer_s = x[LAYER_S] * eng[ENG_LAYER],
		.moe_layer_s = x[MOE_LAYER_S],
		.host_layer_s = x[HOST_LAYER_S] * eng[ENG_HOST] * host,
		.step_s = x[STEP_S] * eng[ENG_STEP],
		.seq_s = x[SEQ_S] * eng[ENG_SEQ],
		.token_s = x[TOKEN_S],
		.first_s = x[FIRST_S] * host,
		.first_moe_s = x[FIRST_MOE_S] * eng[ENG_FIRST],
		.front_s = x[FRONT_S] * host,
		.line_token_s = LINE_TOKEN_S * host,
		.front_token_s = x[FRONT_TOKEN_S] * host,
		.host_waits = info->host_waits,
		.late = info->single ? 0.0 : LATE_PASSES,
		.hold_frac = HOLD_FRAC,
		.handoff_s = x[HANDOFF_S],
		.dp_late = x[DP_LATE],
	};

	for (int d = 0; d < JL_N_DTYPE; d++)
		fit.math_gain[d] = x[maths[d]] * dev[DEV_MATH] * eng[ENG_MATH];
	return fit;
}

enum jl_serve_scope jl_serve_scope_of(int engine)
{
	return jl_engine_info(engine)->single ? JL_SCOPE_INFER : JL_SCOPE_SERVE;
}

struct jl_serve_fit jl_serve_shipped(const struct jl_catalog *cat, int arch, int engine)
{
	const enum jl_serve_scope scope = jl_serve_scope_of(engine);
	const struct jl_param_list params = jl_serve_params(scope);
	double x[JL_SERVE_MAX_PARAMS];

	jl_params_read(cat, &params, x);
	return jl_serve_fit_of(scope, x, arch, engine);
}
