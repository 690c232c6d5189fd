/* Parses --fix and --forbid. */
#include "plan/narrow.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "kernels/layer.h"
#include "timeline/step.h"

#define DEGREE_MAX 100000000

static const char *const recomputes[] = { "none", "selective", "full", NULL };
static const char *const offloads[] = { "none",
					"optimizer",
					"params",
					"optimizer+params",
					"activations",
					"optimizer+activations",
					"params+activations",
					"optimizer+params+activations",
					NULL };

static const struct {
	const char *name;
	long long min, max;
	const char *const *words; /* allowed words instead of a number */
} axes[JL_N_AXIS] = {
	[JL_AXIS_DP] = { .name = "dp", .min = 1, .max = DEGREE_MAX },
	[JL_AXIS_TP] = { .name = "tp", .min = 1, .max = DEGREE_MAX },
	[JL_AXIS_PP] = { .name = "pp", .min = 1, .max = DEGREE_MAX },
	[JL_AXIS_VPP] = { .name = "vpp", .min = 1, .max = DEGREE_MAX },
	[JL_AXIS_CP] = { .name = "cp", .min = 1, .max = DEGREE_MAX },
	[JL_AXIS_EP] = { .name = "ep", .min = 1, .max = DEGREE_MAX },
	[JL_AXIS_SP] = { .name = "sp", .min = 0, .max = 1 },
	[JL_AXIS_ZERO] = { .name = "zero", .min = 0, .max = 3 },
	[JL_AXIS_MICRO_BATCH] = { .name = "micro-batch", .min = 1, .max = DEGREE_MAX },
	[JL_AXIS_RECOMPUTE] = { .name = "recompute", .words = recomputes },
	[JL_AXIS_OFFLOAD] = { .name = "offload", .words = offloads },
	[JL_AXIS_OVERLAP] = { .name = NULL }, /* can be forbidden, not required */
	[JL_AXIS_HSDP] = { .name = "hsdp", .min = 0, .max = 1 },
	[JL_AXIS_FP8] = { .name = "fp8", .min = 0, .max = 1 },
};

/* Excludes values from lo to hi; with `bits`, values that contain any of these bits. */
static const struct {
	const char *word;
	enum jl_plan_axis axis;
	int lo, hi;
	unsigned bits;
} rows[] = {
	{ "offload", JL_AXIS_OFFLOAD, 1, 7, 0 },
	{ "offload-optimizer", JL_AXIS_OFFLOAD, 0, 0, JL_OFFLOAD_OPTIMIZER },
	{ "offload-params", JL_AXIS_OFFLOAD, 0, 0, JL_OFFLOAD_PARAMS },
	{ "offload-activations", JL_AXIS_OFFLOAD, 0, 0, JL_OFFLOAD_ACTIVATIONS },
	{ "recompute", JL_AXIS_RECOMPUTE, JL_RECOMPUTE_SELECTIVE, JL_RECOMPUTE_FULL, 0 },
	{ "full-recompute", JL_AXIS_RECOMPUTE, JL_RECOMPUTE_FULL, JL_RECOMPUTE_FULL, 0 },
	{ "tp", JL_AXIS_TP, 2, DEGREE_MAX, 0 },
	{ "pp", JL_AXIS_PP, 2, DEGREE_MAX, 0 },
	{ "vpp", JL_AXIS_VPP, 2, DEGREE_MAX, 0 },
	{ "cp", JL_AXIS_CP, 2, DEGREE_MAX, 0 },
	{ "ep", JL_AXIS_EP, 2, DEGREE_MAX, 0 },
	{ "sp", JL_AXIS_SP, 1, 1, 0 },
	{ "zero", JL_AXIS_ZERO, 1, 3, 0 },
	{ "zero2", JL_AXIS_ZERO, 2, 2, 0 },
	{ "zero3", JL_AXIS_ZERO, 3, 3, 0 },
	{ "hsdp", JL_AXIS_HSDP, 1, 1, 0 },
	{ "overlap", JL_AXIS_OVERLAP, 1, 1, 0 },
	{ "fp8", JL_AXIS_FP8, 1, 1, 0 },
};
#define N_ROWS (JL_LEN(rows))
_Static_assert(N_ROWS <= 32, "one bit of `forbidden` each");

static enum jl_status fix_word(int *ret_value, enum jl_plan_axis axis, const char *value, struct jl_err *err)
{
	const char *const *words = axes[axis].words;

	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], value) == 0) {
			*ret_value = i;
			return JL_OK;
		}
	if (axis == JL_AXIS_RECOMPUTE)
		return jl_fail(err, JL_E_USAGE, "--fix recompute: '%s' is not one of none, selective, full", value);
	return jl_fail(err, JL_E_USAGE,
		       "--fix offload: '%s' is not none, or some of optimizer, params, activations joined by '+'",
		       value);
}

static enum jl_status fix_one(struct jl_plan_narrow *narrow, const char *key, const char *value, struct jl_err *err)
{
	for (int i = 0; i < JL_N_AXIS; i++) {
		char what[96];
		long long n = 0;
		int word = 0;

		if (!axes[i].name || strcmp(axes[i].name, key) != 0)
			continue;
		snprintf(what, sizeof(what), "--fix %s", key);
		JL_TRY(axes[i].words ? fix_word(&word, (enum jl_plan_axis)i, value, err)
				     : jl_units_parse_count(&n, value, axes[i].min, axes[i].max, what, err));
		word = axes[i].words ? word : (int)n;
		if (narrow->is_fixed[i] && narrow->fixed[i] != word)
			return jl_fail(err, JL_E_USAGE, "--fix %s is given twice", key);
		narrow->is_fixed[i] = true;
		narrow->fixed[i] = word;
		return JL_OK;
	}
	return jl_fail(err, JL_E_USAGE,
		       "--fix: '%s=' is not one of dp=, tp=, pp=, vpp=, cp=, ep=, sp=, zero=, micro-batch=, "
		       "recompute=, offload=, hsdp=, fp8=",
		       key);
}

enum jl_status jl_plan_fix(struct jl_plan_narrow *narrow, const char *text, struct jl_err *err)
{
	struct jl_plan_narrow next = *narrow;
	char piece[JL_ITEM_MAX];

	while (jl_next_item(&text, piece)) {
		char *equals = strchr(piece, '=');

		if (!equals)
			return jl_fail(err, JL_E_USAGE, "--fix: '%s' has no '='; write e.g. tp=8,zero=1", piece);
		*equals = '\0';
		JL_TRY(fix_one(&next, piece, equals + 1, err));
	}
	*narrow = next;
	return JL_OK;
}

enum jl_status jl_plan_forbid(struct jl_plan_narrow *narrow, const char *text, struct jl_err *err)
{
	struct jl_plan_narrow next = *narrow;
	char piece[JL_ITEM_MAX];

	while (jl_next_item(&text, piece)) {
		size_t i = 0;

		while (i < N_ROWS && strcmp(rows[i].word, piece) != 0)
			i++;
		if (i == N_ROWS)
			return jl_fail(err, JL_E_USAGE,
				       "--forbid: '%s' is not one of offload, offload-optimizer, offload-params, "
				       "offload-activations, recompute, full-recompute, tp, pp, vpp, cp, ep, sp, zero, "
				       "zero2, zero3, hsdp, overlap, fp8",
				       piece);
		next.forbidden |= 1u << i;
	}
	*narrow = next;
	return JL_OK;
}

/* The word that excludes this value; NULL: allowed. */
static const char *ruled_out(const struct jl_plan_narrow *narrow, enum jl_plan_axis axis, int value)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		const bool out = rows[i].bits ? ((unsigned)value & rows[i].bits) != 0
					      : value >= rows[i].lo && value <= rows[i].hi;

		if (rows[i].axis == axis && narrow->forbidden & 1u << i && out)
			return rows[i].word;
	}
	return NULL;
}

enum jl_status jl_plan_agree(const struct jl_plan_narrow *narrow, struct jl_err *err)
{
	for (int i = 0; i < JL_N_AXIS; i++) {
		const char *word = narrow->is_fixed[i] ? ruled_out(narrow, (enum jl_plan_axis)i, narrow->fixed[i])
						       : NULL;

		if (word)
			return jl_fail(err, JL_E_USAGE, "--fix %s and --forbid %s contradict each other: leave one out",
				       axes[i].name, word);
	}
	return JL_OK;
}

bool jl_plan_allows(const struct jl_plan_narrow *narrow, enum jl_plan_axis axis, int value)
{
	return !(narrow->is_fixed[axis] && narrow->fixed[axis] != value) && !ruled_out(narrow, axis, value);
}
