/* Sensitivity: lowers and raises each input by the same share, one at a time. Must not know the output format. */
#include <math.h>
#include <stdlib.h>

#include "cost/timeline.h"

struct inputs {
	struct jl_cost_option dear, cheap;
	struct jl_cost_setting setting;
	/* unchanged cost lines; NULL: depends on the input, must be recomputed */
	const struct jl_cost_line *dear_line, *cheap_line;
};

#define PLACES_MAX 3

/* `at`: offsets of the scaled integers; shares (`is_share`) are capped at 100 %. `currency`: offset of an amount's currency. `scale`: units per
 * stored integer; `unit`: text after the value. */
static const struct input {
	const char *key, *en, *unit;
	double scale;
	size_t n, at[PLACES_MAX], currency;
	bool is_share;
} inputs[] = {
#define AT(member) offsetof(struct inputs, member)
	{ "price", JL_N("purchase price"), "", 1e6, 1, { AT(dear.price.micro) }, AT(dear.price.currency), false },
	{ "rent", JL_N("rent"), JL_N("/h"), 1e6, 1, { AT(cheap.per_hour.micro) }, AT(cheap.per_hour.currency), false },
	{ "util",
	  JL_N("utilisation"),
	  " %",
	  1e4,
	  3,
	  { AT(setting.util_ppm), AT(dear.util_ppm), AT(cheap.util_ppm) },
	  0,
	  true },
	{ "watts", JL_N("power draw"), " W", 1e3, 2, { AT(dear.active_mW), AT(dear.idle_mW) }, 0, false },
	{ "per_kWh",
	  JL_N("electricity price"),
	  "/kWh",
	  1e6,
	  1,
	  { AT(setting.per_kWh.micro) },
	  AT(setting.per_kWh.currency),
	  false },
	{ "finance", JL_N("interest rate"), " %", 1e4, 1, { AT(dear.finance_ppm) }, 0, false },
	{ "hosting",
	  JL_N("monthly costs"),
	  JL_N("/month"),
	  1e6,
	  1,
	  { AT(dear.per_month.micro) },
	  AT(dear.per_month.currency),
	  false },
	{ "interrupts", JL_N("spot interruptions"), " %/h", 1e4, 1, { AT(cheap.interrupts_ppm) }, 0, false },
};

/* The current value, from the option or the study. */
static void say_now(struct jl_cost_swing *s, const struct inputs *base, const struct input *input)
{
	for (size_t i = 0; i < input->n; i++) {
		const long long value = *(const long long *)(const void *)((const char *)base + input->at[i]);

		if (value && (s->now == 0 || input->is_share))
			s->now = (double)value / input->scale;
		if (i == 1 && input->is_share && value)
			break;
	}
	s->unit = input->unit;
	s->is_money = input->currency != 0;
	if (s->is_money)
		s->currency = *(const enum jl_currency *)(const void *)((const char *)base + input->currency);
}

static struct inputs moved(const struct inputs *base, const struct input *input, double factor)
{
	struct inputs in = *base;

	for (size_t i = 0; i < input->n; i++) {
		long long *value = (long long *)(void *)((char *)&in + input->at[i]);

		*value = llround((double)*value * factor);
		if (input->is_share && *value > JL_PPM)
			*value = JL_PPM;
		if (input->at[i] < offsetof(struct inputs, cheap) || input->at[i] >= offsetof(struct inputs, setting))
			in.dear_line = NULL;
		if (input->at[i] >= offsetof(struct inputs, cheap))
			in.cheap_line = NULL;
	}
	return in;
}

static enum jl_status days(double *ret_days, const struct inputs *in, const struct jl_catalog *cat, struct jl_err *err)
{
	struct jl_arena arena;
	struct jl_cost_line dear, cheap;
	enum jl_status status = JL_OK;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (!in->dear_line)
		status = jl_cost_line_make(&dear, &in->dear, &in->setting, cat, &arena, err);
	if (!status && !in->cheap_line)
		status = jl_cost_line_make(&cheap, &in->cheap, &in->setting, cat, &arena, err);
	if (!status)
		*ret_days = jl_cost_break_even(in->dear_line ? in->dear_line : &dear,
					       in->cheap_line ? in->cheap_line : &cheap, in->setting.horizon_days);
	jl_arena_release(&arena);
	return status;
}

/* True if the option with the higher first payment is cheaper at the horizon. */
static bool pays(const struct inputs *base, const struct input *input, double factor, const struct jl_catalog *cat)
{
	const struct inputs in = moved(base, input, factor);
	struct jl_err ignored;
	double at;

	return days(&at, &in, cat, &ignored) == JL_OK && !isnan(at);
}

#define FLIP_MOST  10.0
#define FLIP_STEPS 16 /* bisection steps: precision of 1 part in 28,000 */

/* Finds by bisection the factor nearest to 1 that reverses the decision. */
static double flip_of(const struct inputs *base, const struct input *input, const struct jl_catalog *cat)
{
	const bool now = pays(base, input, 1, cat);

	for (int up = 0; up < 2; up++) {
		double in = 0, out = up ? log(FLIP_MOST) : -log(FLIP_MOST);

		if (pays(base, input, exp(out), cat) == now)
			continue;
		for (int i = 0; i < FLIP_STEPS; i++) {
			const double mid = (in + out) / 2;

			*(pays(base, input, exp(mid), cat) == now ? &in : &out) = mid;
		}
		return exp(out);
	}
	return NAN;
}

static double swing_of(const struct jl_cost_swing *s)
{
	if (isnan(s->lo) || isnan(s->hi))
		return isnan(s->lo) && isnan(s->hi) ? 0 : INFINITY;
	return fabs(s->hi - s->lo);
}

static int by_swing(const void *a, const void *b)
{
	const double x = swing_of(a), y = swing_of(b);

	return x < y ? 1 : x > y ? -1 : 0;
}

enum jl_status jl_cost_sensitivity(struct jl_cost_swing ret_swings[JL_COST_SWINGS_MAX], size_t *ret_n,
				   const struct jl_cost_line *dear, const struct jl_cost_line *cheap,
				   const struct jl_cost_setting *setting, double step_frac,
				   const struct jl_catalog *cat, struct jl_err *err)
{
	const struct inputs base = { .dear = *dear->option,
				     .cheap = *cheap->option,
				     .setting = *setting,
				     .dear_line = dear,
				     .cheap_line = cheap };
	size_t n = 0;

	for (size_t i = 0; i < JL_LEN(inputs); i++) {
		struct jl_cost_swing s = { .key = inputs[i].key, .en = inputs[i].en };
		const struct inputs low = moved(&base, &inputs[i], 1 - step_frac),
				    high = moved(&base, &inputs[i], 1 + step_frac);

		JL_TRY(days(&s.lo, &low, cat, err));
		JL_TRY(days(&s.hi, &high, cat, err));
		if (swing_of(&s) > 0) {
			s.flip = flip_of(&base, &inputs[i], cat);
			say_now(&s, &base, &inputs[i]);
			ret_swings[n++] = s;
		}
	}
	qsort(ret_swings, n, sizeof *ret_swings, by_swing);
	*ret_n = n;
	return JL_OK;
}
