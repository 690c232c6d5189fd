/* Which input moves the break-even most: each is lowered and raised by the same share, the others stay. */
#include <math.h>
#include <stdlib.h>

#include "cost/timeline.h"

struct inputs {
	struct jl_cost_option dear, cheap;
	struct jl_cost_setting setting;
};

static void scale(long long *value, double factor)
{
	*value = llround((double)*value * factor);
}

static void move_price(struct inputs *in, double f)
{
	scale(&in->dear.price.micro, f);
}
static void move_rent(struct inputs *in, double f)
{
	scale(&in->cheap.per_hour.micro, f);
}
static void move_util(struct inputs *in, double f)
{
	scale(&in->setting.util_ppm, f);
	scale(&in->dear.util_ppm, f);
	scale(&in->cheap.util_ppm, f);
	if (in->setting.util_ppm > JL_PPM)
		in->setting.util_ppm = JL_PPM;
	if (in->dear.util_ppm > JL_PPM)
		in->dear.util_ppm = JL_PPM;
	if (in->cheap.util_ppm > JL_PPM)
		in->cheap.util_ppm = JL_PPM;
}
static void move_watts(struct inputs *in, double f)
{
	scale(&in->dear.active_mW, f);
	scale(&in->dear.idle_mW, f);
}
static void move_power_price(struct inputs *in, double f)
{
	scale(&in->setting.per_kWh.micro, f);
}
static void move_finance(struct inputs *in, double f)
{
	scale(&in->dear.finance_ppm, f);
}
static void move_hosting(struct inputs *in, double f)
{
	scale(&in->dear.per_month.micro, f);
}
static void move_interrupts(struct inputs *in, double f)
{
	scale(&in->cheap.interrupts_ppm, f);
}

static const struct {
	const char *key, *en;
	void (*move)(struct inputs *in, double factor);
} inputs[] = {
	{ "price", JL_N("purchase price"), move_price },
	{ "rent", JL_N("rent"), move_rent },
	{ "util", JL_N("utilisation"), move_util },
	{ "watts", JL_N("power draw"), move_watts },
	{ "per_kWh", JL_N("electricity price"), move_power_price },
	{ "finance", JL_N("interest rate"), move_finance },
	{ "hosting", JL_N("monthly costs"), move_hosting },
	{ "interrupts", JL_N("spot interruptions"), move_interrupts },
};

static enum jl_status days(double *ret_days, const struct inputs *in, const struct jl_catalog *cat, struct jl_err *err)
{
	struct jl_arena arena;
	struct jl_cost_line dear, cheap;
	enum jl_status status;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if ((status = jl_cost_line_make(&dear, &in->dear, &in->setting, cat, &arena, err)) == JL_OK &&
	    (status = jl_cost_line_make(&cheap, &in->cheap, &in->setting, cat, &arena, err)) == JL_OK)
		*ret_days = jl_cost_break_even(&dear, &cheap, in->setting.horizon_days);
	jl_arena_release(&arena);
	return status;
}

/* Does the dear one, which is paid first, come out cheaper within the horizon? */
static bool pays(const struct inputs *base, void (*move)(struct inputs *, double), double factor,
		 const struct jl_catalog *cat)
{
	struct inputs in = *base;
	struct jl_err ignored;
	double at;

	move(&in, factor);
	return days(&at, &in, cat, &ignored) == JL_OK && !isnan(at);
}

#define FLIP_MOST  10.0
#define FLIP_STEPS 24

/* The factor nearest to 1 that turns the decision: in the direction that does, halved until it is sure. */
static double flip_of(const struct inputs *base, void (*move)(struct inputs *, double), const struct jl_catalog *cat)
{
	const bool now = pays(base, move, 1, cat);

	for (int up = 0; up < 2; up++) {
		double in = 0, out = up ? log(FLIP_MOST) : -log(FLIP_MOST);

		if (pays(base, move, exp(out), cat) == now)
			continue;
		for (int i = 0; i < FLIP_STEPS; i++) {
			const double mid = (in + out) / 2;

			*(pays(base, move, exp(mid), cat) == now ? &in : &out) = mid;
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
				   const struct jl_cost_option *dear, const struct jl_cost_option *cheap,
				   const struct jl_cost_setting *setting, double step_frac,
				   const struct jl_catalog *cat, struct jl_err *err)
{
	const struct inputs base = { .dear = *dear, .cheap = *cheap, .setting = *setting };
	double at_base;
	size_t n = 0;

	JL_TRY(days(&at_base, &base, cat, err));
	for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
		struct jl_cost_swing s = { .key = inputs[i].key, .en = inputs[i].en };
		struct inputs low = base, high = base;

		inputs[i].move(&low, 1 - step_frac);
		inputs[i].move(&high, 1 + step_frac);
		JL_TRY(days(&s.lo, &low, cat, err));
		JL_TRY(days(&s.hi, &high, cat, err));
		if (swing_of(&s) > 0) {
			s.flip = flip_of(&base, inputs[i].move, cat);
			ret_swings[n++] = s;
		}
	}
	qsort(ret_swings, n, sizeof *ret_swings, by_swing);
	*ret_n = n;
	return JL_OK;
}
