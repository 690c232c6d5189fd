/* Width of intervals: base uncertainty, reasons to doubt an answer, and distance from measurements. */
#include "parameters/interval.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "catalog/find.h"
#include "parameters/codebase.h"

static const char *const answers[JL_N_ASKED] = {
	[JL_ASKED_STEP] = "step",
	[JL_ASKED_MEMORY] = "memory",
	[JL_ASKED_TUNE] = "tune",
	[JL_ASKED_TUNE_MEMORY] = "tune_memory",
	[JL_ASKED_NETWORK] = "network",
	[JL_ASKED_COLLECTIVE] = "collective",
	[JL_ASKED_PRODUCT] = "product",
	[JL_ASKED_RATE] = "rate",
	[JL_ASKED_POWER] = "power",
	[JL_ASKED_PROMPT] = "prompt",
	[JL_ASKED_DECODE] = "decode",
	[JL_ASKED_LOAD] = "load",
	[JL_ASKED_FIRST] = "first",
	[JL_ASKED_NEXT] = "next",
	[JL_ASKED_FIRST_APART] = "first_apart",
	[JL_ASKED_NEXT_APART] = "next_apart",
	[JL_ASKED_FORWARD] = "forward",
	[JL_ASKED_PROGRAM] = "program",
	[JL_ASKED_OP_GEMM] = "op_gemm",
	[JL_ASKED_OP_PROMPT] = "op_prefill",
	[JL_ASKED_OP_ANSWER] = "op_decode",
	[JL_ASKED_OP_LATENT] = "op_mla",
	[JL_ASKED_OP_EXPERT] = "op_moe",
	[JL_ASKED_OP_EXCHANGE] = "op_comm",
};

static const char *const reasons[JL_N_DOUBT] = {
	[JL_DOUBT_GPU] = "gpu",         [JL_DOUBT_FAMILY] = "family",   [JL_DOUBT_KIND] = "kind",
	[JL_DOUBT_LINK] = "link",       [JL_DOUBT_EXPOSED] = "exposed", [JL_DOUBT_LAUNCH] = "launch",
	[JL_DOUBT_ASSUMED] = "assumed", [JL_DOUBT_HOSTS] = "hosts",     [JL_DOUBT_FAR] = "far",
	[JL_DOUBT_HOST] = "host",       [JL_DOUBT_MODEL] = "model",     [JL_DOUBT_FEW] = "few",
	[JL_DOUBT_CODE] = "code",       [JL_DOUBT_NEAR] = "near",
};

static const char *const extents[JL_N_EXTENT] = { "size", "batch", "gpus" };

/* Priors: equal for all answers and reasons, so that only measurements separate them. Exceptions: codebases use their own spread, and near pairs
 * overlap with other reasons. Captured programs have no published rows: their base comes from left-out families of captures on an H200
 * (docs/log/2026-11-18-programs.md). */
static const double base_prior_ln = 0.2, reason_prior_ln = 0.2, prior_sd_ln = 1.0;
static const double code_prior_ln = 1.28 * JL_CODE_SD_LN, near_prior_ln = 0.05, program_prior_ln = 0.09;

static double base_prior(size_t answer)
{
	return answer == JL_ASKED_PROGRAM ? program_prior_ln : base_prior_ln;
}

static double reason_prior(size_t reason)
{
	return reason == JL_DOUBT_CODE ? code_prior_ln : reason == JL_DOUBT_NEAR ? near_prior_ln : reason_prior_ln;
}

const char *jl_asked_id(enum jl_asked answer)
{
	return answers[answer];
}

const char *jl_reason_id(enum jl_reason reason)
{
	return reasons[reason];
}

const char *jl_extent_id(enum jl_extent extent)
{
	return extents[extent];
}

static void param_at(const void *ctx, size_t i, struct jl_param *ret)
{
	const bool base = i < JL_N_ASKED;

	(void)ctx;
	*ret = (struct jl_param){ .unit = "1",
				  .lo = 0.005,
				  .hi = 3.0,
				  .prior = base ? base_prior(i) : reason_prior(i - JL_N_ASKED),
				  .prior_sd_ln = prior_sd_ln };
	(void)snprintf(ret->name, sizeof(ret->name), "interval.%s.%s", base ? "base" : "reason",
		       base ? answers[i] : reasons[i - JL_N_ASKED]);
}

const struct jl_param_list jl_width_params = { .n = JL_WIDTH_N_PARAM, .at = param_at, .key = "" };

void jl_widths_of(struct jl_widths *widths, const double *x)
{
	memcpy(widths->base_ln, x, sizeof(widths->base_ln));
	memcpy(widths->reason_ln, x + JL_N_ASKED, sizeof(widths->reason_ln));
}

static void read_widths(struct jl_widths *ret_widths, const struct jl_catalog *cat)
{
	const struct jl_param_info *shared = jl_param_by_id(cat, JL_WIDTH_SHARED);
	double x[JL_WIDTH_N_PARAM];

	jl_params_read(cat, &jl_width_params, x);
	jl_widths_of(ret_widths, x);
	ret_widths->shared_frac = shared ? shared->value : 0.0;
	for (int a = 0; a < JL_N_ASKED; a++) {
		for (int e = 0; e < JL_N_EXTENT; e++) {
			char id[JL_SEEN_ID_MAX];

			(void)snprintf(id, sizeof(id), "seen.%s.%s", answers[a], extents[e]);
			const struct jl_param_info *range = jl_param_by_id(cat, id);

			ret_widths->least[a][e] = range ? log(range->lo) : NAN;
			ret_widths->most[a][e] = range ? log(range->hi) : NAN;
		}
	}
}

void jl_widths_read(struct jl_widths *ret_widths, const struct jl_catalog *cat)
{
	/* cached: every machine reads these, and building the names takes long */
	static _Thread_local struct jl_widths kept;
	static _Thread_local struct jl_params_mark of;
	const struct jl_params_mark mark = jl_params_mark(cat);

	if (!of.params || !jl_params_same(&of, &mark))
		read_widths(&kept, cat);
	of = mark;
	*ret_widths = kept;
}

double jl_half_ln(const struct jl_widths *widths, enum jl_asked answer, const struct jl_doubt *doubt)
{
	double sum = widths->base_ln[answer] * widths->base_ln[answer] + doubt->spread_ln * doubt->spread_ln;

	for (int i = 0; i < JL_N_DOUBT; i++) {
		const double more = widths->reason_ln[i] * doubt->x[i];

		sum += more * more;
	}
	return sqrt(sum);
}

double jl_ratio_half_ln(const struct jl_widths *widths, double a, double b)
{
	return sqrt(fmax(0.0, a * a + b * b - 2.0 * widths->shared_frac * a * b));
}

double jl_far_ln(const struct jl_widths *widths, enum jl_asked answer, const double extent_ln[JL_N_EXTENT])
{
	double sum = 0.0;

	for (int e = 0; e < JL_N_EXTENT; e++) {
		const double least = widths->least[answer][e], most = widths->most[answer][e];
		/* with NAN both comparisons are false: the distance is 0 */
		const double off = extent_ln[e] < least  ? least - extent_ln[e]
				   : extent_ln[e] > most ? extent_ln[e] - most
							 : 0.0;

		sum += off * off;
	}
	return sqrt(sum);
}

void jl_seen_id(char out[JL_SEEN_ID_MAX], enum jl_asked answer, const char *what, const char *label)
{
	const char *const parts[] = { "seen.", answers[answer], ".", what, ".", label };
	size_t len = 0;

	for (size_t i = 0; i < JL_LEN(parts); i++) /* ten times as fast as snprintf, and called often */
		for (const char *c = parts[i]; *c && len + 1 < JL_SEEN_ID_MAX; c++)
			out[len++] = *c;
	out[len] = '\0';
}

double jl_times_seen(const struct jl_catalog *cat, enum jl_asked answer, const char *what, const char *label)
{
	const struct jl_param_info *rows;
	char id[JL_SEEN_ID_MAX];

	jl_seen_id(id, answer, what, label);
	rows = jl_param_by_id(cat, id);
	return rows ? rows->value : 0;
}

bool jl_seen(const struct jl_catalog *cat, enum jl_asked answer, const char *what, const char *label)
{
	return jl_times_seen(cat, answer, what, label) > 0;
}

/* Answers for which the number of sources matters. */
static const bool counts_sources[JL_N_ASKED] = {
	[JL_ASKED_STEP] = true,    [JL_ASKED_TUNE] = true,        [JL_ASKED_NETWORK] = true,
	[JL_ASKED_PRODUCT] = true, [JL_ASKED_COLLECTIVE] = true,  [JL_ASKED_PROMPT] = true,
	[JL_ASKED_DECODE] = true,  [JL_ASKED_LOAD] = true,        [JL_ASKED_FIRST] = true,
	[JL_ASKED_NEXT] = true,    [JL_ASKED_FIRST_APART] = true, [JL_ASKED_NEXT_APART] = true
};

#define AXIS(member) offsetof(struct jl_axes, member)
static const struct {
	const char *id;
	size_t a, b;
} pairs[JL_N_PAIR] = {
	[JL_PAIR_DEVICE_KIND] = { "pair", AXIS(device), AXIS(kind) },
	[JL_PAIR_DEVICE_CODE] = { "device_code", AXIS(device), AXIS(code) },
	[JL_PAIR_DEVICE_FORMAT] = { "device_format", AXIS(device), AXIS(format) },
	[JL_PAIR_CODE_FORMAT] = { "code_format", AXIS(code), AXIS(format) },
	[JL_PAIR_CODE] = { "code", AXIS(code), AXIS(code) },
};

static const char *axis(const struct jl_axes *axes, size_t at)
{
	const char *label = *(const char *const *)(const void *)((const char *)axes + at);

	return label ? label : "";
}

bool jl_pair_id(char out[JL_SEEN_ID_MAX], enum jl_asked answer, const struct jl_axes *axes, enum jl_pair pair)
{
	const char *a = axis(axes, pairs[pair].a), *b = axis(axes, pairs[pair].b);
	char label[JL_SEEN_ID_MAX];

	if (!counts_sources[answer] || !*a || !*b)
		return false;
	(void)snprintf(label, sizeof(label), pair == JL_PAIR_CODE ? "%s" : "%s.%s", a, b);
	jl_seen_id(out, answer, pairs[pair].id, label);
	return true;
}

static double doubt_of_pair(const struct jl_catalog *cat, const char *id)
{
	const struct jl_param_info *sources = jl_param_by_id(cat, id);

	return 1 / (1 + (sources ? sources->value : 0));
}

double jl_few(const struct jl_catalog *cat, enum jl_asked answer, const struct jl_axes *axes)
{
	double sum = 0;
	int n = 0;

	for (int pair = 0; pair < JL_PAIR_CODE; pair++) {
		char id[JL_SEEN_ID_MAX];

		if (!jl_pair_id(id, answer, axes, (enum jl_pair)pair))
			continue;
		sum += doubt_of_pair(cat, id);
		n++;
	}
	return n ? sqrt(sum / n) : 0;
}

double jl_code_doubt(const struct jl_catalog *cat, enum jl_asked answer, const char *code)
{
	char id[JL_SEEN_ID_MAX];

	if (!counts_sources[answer])
		return 0;
	return jl_pair_id(id, answer, &(struct jl_axes){ .code = code }, JL_PAIR_CODE) ? sqrt(doubt_of_pair(cat, id))
										       : 1;
}
