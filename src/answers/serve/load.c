#include "serve/load.h"

#include <math.h>

double jl_dice_unit(struct jl_dice *dice)
{
	uint64_t z = dice->state += 0x9E3779B97F4A7C15u;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return ((double)((z ^ (z >> 31)) >> 12) + 0.5) * 0x1p-52;
}

/* mean 0, standard deviation 1 */
static double dice_normal(struct jl_dice *dice)
{
	const double radius = sqrt(-2.0 * log(jl_dice_unit(dice)));

	return radius * cos(2.0 * M_PI * jl_dice_unit(dice));
}

static int length(struct jl_dice *dice, const struct jl_lengths *l, double nominal)
{
	double tokens = nominal;

	if (l->spread_ln > 0.0 && nominal > 1.0) /* keeps the nominal mean; one token stays one */
		tokens *= exp(l->spread_ln * dice_normal(dice) - 0.5 * l->spread_ln * l->spread_ln);
	else if (l->least_frac < 1.0)
		tokens *= l->least_frac + (1.0 - l->least_frac) * jl_dice_unit(dice);
	return (int)fmin(fmax(nearbyint(tokens), 1.0), JL_SERVING_TOKENS_MAX);
}

/* Mean answer length without truncation that gives the nominal mean with truncation. */
static double unbounded_mean(const struct jl_lengths *l)
{
	double lo = l->answer, hi = 1e6 * l->answer;

	for (int i = 0; i < 60 && l->answer_most > 0.0; i++) {
		const double mid = sqrt(lo * hi);

		*(mid * -expm1(-l->answer_most / mid) < l->answer ? &lo : &hi) = mid;
	}
	return hi;
}

void jl_load_client(struct jl_load_ask *ask, double prompt, double answer, double n_at_once, double each)
{
	ask->lengths = (struct jl_lengths){ prompt, answer, 0.8, 0, ask->lengths.cached_frac, 0 };
	ask->concurrency = (int)fmin(n_at_once, JL_CLIENT_MOST / JL_CLIENT_LEAST_EACH);
	ask->n = (size_t)fmin(each * ask->concurrency, JL_CLIENT_MOST);
}

void jl_load_make(struct jl_load *ret_load, struct jl_arrival *ret_arrivals, const struct jl_load_ask *ask)
{
	struct jl_dice dice = { ask->seed };
	const double burst = fmax(ask->burst, 1.0);
	const double ends = unbounded_mean(&ask->lengths), most = ask->lengths.answer_most;
	double at_s = 0.0, in_burst = 0.0;

	for (size_t i = 0; i < ask->n; i++) {
		struct jl_arrival *a = &ret_arrivals[i];

		a->prompt = length(&dice, &ask->lengths, ask->lengths.prompt);
		a->answer = most > 0.0 ? (int)fmin(ceil(-ends * log(jl_dice_unit(&dice))), most)
				       : length(&dice, &ask->lengths, ask->lengths.answer);
		a->cached = (int)(ask->lengths.cached_frac * a->prompt);
		a->shared = 0;
		if (ask->turns > 1 && i % (size_t)ask->turns > 0) {
			a->shared = a[-1].prompt + a[-1].answer;
			a->prompt = (int)fmin(a->shared + (double)length(&dice, &ask->lengths, ask->turn_tokens),
					      JL_SERVING_TOKENS_MAX);
			a->cached = a[-1].cached;
			a->at_s = -log(jl_dice_unit(&dice)) * ask->wait_s;
			continue;
		}
		a->at_s = ask->pause_s > 0 ? -log(jl_dice_unit(&dice)) * ask->pause_s : at_s;
		in_burst += 1.0;
		if (ask->concurrency == 0 && in_burst >= burst) {
			at_s += -log(jl_dice_unit(&dice)) * burst / ask->rate_hz;
			in_burst = 0.0;
		}
	}
	*ret_load = (struct jl_load){ .arrivals = ret_arrivals, .n = ask->n, .concurrency = ask->concurrency };
}
