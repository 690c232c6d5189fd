/* Closed forms of the renewal process of cycle.h. A segment of work w with its stall s is repeated until it passes without a failure:
 *
 *     elapsed time of a segment = (1/rate + down) exp(rate (restart + lag)) (exp(rate (w + s)) - 1)
 *
 * which is exact for a fixed lag shorter than a segment (docs/METHOD.md). */
#include "goodput/cycle.h"

#include <math.h>

double jl_spent_sum(const struct jl_spent *spent)
{
	return spent->useful + spent->checkpoint + spent->lost + spent->down + spent->restart + spent->planned;
}

/* Laplace transform at `kill_hz` of the exposed time of a segment of `length_s` with restarts: the probability that no failure of that other
 * rate happens first. */
static double survives_ln(double rate_hz, double kill_hz, double length_s, double restart_s)
{
	const double both_hz = rate_hz + kill_hz;
	const double failed = rate_hz / both_hz * -expm1(-both_hz * length_s);
	const double restarted = exp(-both_hz * restart_s) / (1 - rate_hz / both_hz * -expm1(-both_hz * restart_s));

	return -both_hz * length_s - log1p(-failed * restarted);
}

/* Exposed time until one checkpoint to the store can be used, and how much of it is useful and stalled. */
struct passed {
	double exposed_s, useful_s, stalled_s;
};

static struct passed pass_store(const struct jl_cycle *c)
{
	const struct jl_level *l = &c->store;
	const double segment_s = l->work_s + l->stall_s;
	const double grown = c->rate_hz > 0 ? expm1(c->rate_hz * segment_s) / c->rate_hz : segment_s;

	return (struct passed){ .exposed_s = grown * exp(c->rate_hz * (l->restart_s + l->lag_s)),
				.useful_s = l->work_s,
				.stalled_s = l->stall_s };
}

/* A store segment consists of n segments of in-memory copies; failures that these survive repeat one of them, other failures the whole
 * segment. */
static struct passed pass_memory(const struct jl_cycle *c)
{
	const struct jl_level *m = &c->memory, *s = &c->store;
	const double n = fmax(1, round(s->work_s / m->work_s));
	const double light_hz = c->rate_hz * c->memory_frac;
	const double deep_hz = fmax(c->rate_hz * (1 - c->memory_frac), 1e-9 * c->rate_hz);
	const double stall_s = m->stall_s + s->stall_s / n;
	const double ln = n * survives_ln(light_hz, deep_hz, m->work_s + stall_s, m->restart_s + m->lag_s);
	const double restart_s = expm1(c->rate_hz * s->restart_s) / c->rate_hz;

	return (struct passed){ .exposed_s = expm1(-ln) * (1 / deep_hz + restart_s) * exp(deep_hz * s->lag_s),
				.useful_s = n * m->work_s,
				.stalled_s = n * stall_s };
}

/* Exposed time of a restart that can itself fail. */
static double restarting_s(double rate_hz, double restart_s)
{
	return rate_hz > 0 ? -expm1(-rate_hz * restart_s) / rate_hz : restart_s;
}

struct jl_spent jl_cycle_spent(const struct jl_cycle *cycle)
{
	const struct jl_cycle *c = cycle;
	const bool copies = c->memory_frac > 0 && c->rate_hz > 0;
	const struct passed p = copies ? pass_memory(c) : pass_store(c);
	const double elapsed_s = p.exposed_s * (1 + c->rate_hz * c->down_s);
	const double failures = c->rate_hz * p.exposed_s;
	const double light = copies ? c->memory_frac : 0;
	struct jl_spent spent = { 0 };

	if (!(elapsed_s < INFINITY)) /* no segment ever passes */
		return (struct jl_spent){ .lost = 1 };
	spent.useful = p.useful_s / elapsed_s;
	spent.checkpoint = p.stalled_s / elapsed_s;
	spent.down = failures * c->down_s / elapsed_s;
	spent.restart = failures *
			(light * restarting_s(c->rate_hz, c->memory.restart_s) +
			 (1 - light) * restarting_s(c->rate_hz, c->store.restart_s)) /
			elapsed_s;
	spent.lost = fmax(0, 1 - spent.useful - spent.checkpoint - spent.down - spent.restart);
	return spent;
}

/* --- intervals */

/* The maximum of w / (exp(rate (w + stall)) - 1): with x = rate w it is where 1 - x = exp(-x - rate stall). */
double jl_interval_best_s(double rate_hz, double stall_s)
{
	const double stall = rate_hz * stall_s;
	double lo = 0, hi = 1;

	if (!(rate_hz > 0))
		return INFINITY;
	if (!(stall_s > 0))
		return 0;
	for (int i = 0; i < 60; i++) {
		const double x = 0.5 * (lo + hi);

		if (1 - x > exp(-x - stall))
			lo = x;
		else
			hi = x;
	}
	return lo / rate_hz;
}

double jl_interval_young_s(double rate_hz, double stall_s)
{
	return rate_hz > 0 ? sqrt(2 * stall_s / rate_hz) : INFINITY;
}

double jl_interval_daly_s(double rate_hz, double stall_s)
{
	const double half = 0.5 * rate_hz * stall_s;

	if (!(rate_hz > 0))
		return INFINITY;
	return half < 1 ? sqrt(2 * stall_s / rate_hz) * (1 + sqrt(half) / 3 + half / 9) - stall_s : 1 / rate_hz;
}

/* A whole number of steps from `least` to `most`. */
static double whole_steps(double value, double step, double least, double most)
{
	const double bounded = fmax(least, fmin(value, fmax(least, most)));

	return step * fmax(1, bounded > least ? round(bounded / step) : ceil(bounded / step));
}

void jl_cycle_tune(struct jl_cycle *cycle, double step_s, double most_s)
{
	struct jl_level *m = &cycle->memory, *s = &cycle->store;
	const double deep_hz = cycle->rate_hz * (1 - cycle->memory_frac);

	/* the next checkpoint waits until the last one is written */
	s->work_s = whole_steps(jl_interval_best_s(deep_hz, s->stall_s), step_s, fmax(step_s, s->lag_s - s->stall_s),
				most_s);
	if (!(cycle->memory_frac > 0))
		return;
	m->work_s = whole_steps(jl_interval_best_s(cycle->rate_hz, m->stall_s), step_s,
				fmax(step_s, m->lag_s - m->stall_s), s->work_s);
	s->work_s = m->work_s * fmax(1, round(s->work_s / m->work_s));
}

/* --- spare nodes, stragglers */

/* Failures happen only while the job runs, that is while at most `n_spares` nodes are out; with one more out the job waits for the first
 * repair. The probability that a failure finds all spares out is Erlang's B formula. */
double jl_spares_wait_s(int n_spares, double load, double repair_s)
{
	const double n = n_spares;
	double busy = 1;

	/* more nodes out than spares is less likely than this (Chernoff bound): the default on large systems */
	if (n > load && (!(load > 0) || n * log(n / load) - n + load > 28))
		return 0;
	for (int k = 1; k <= n_spares && busy > 1e-12; k++)
		busy = load * busy / (k + load * busy);
	return busy * repair_s / (n_spares + 1);
}

/* Expected excess of a Poisson variable of mean `load` over n. */
double jl_spares_missing(int n_spares, double load)
{
	const double n = n_spares, wide = 40 + 12 * sqrt(load);
	double sum = 0;

	if (!(n > load - wide))
		return load - n;
	if (n > load + wide)
		return 0;
	double p = exp((n + 1) * log(fmax(load, 1e-300)) - load - lgamma(n + 2));

	for (double k = 1; k < 2 * wide; p *= load / (n + ++k))
		sum += k * p;
	return sum;
}

/* Blom's approximation of the order statistic; the normal distribution is inverted by bisection. */
double jl_slowest_of(double n)
{
	const double above = 1 - (n - 0.375) / (n + 0.25);
	double lo = -1, hi = 12;

	if (!(n > 1))
		return 0;
	for (int i = 0; i < 60; i++) {
		const double z = 0.5 * (lo + hi);

		if (0.5 * erfc(z / sqrt(2)) > above)
			lo = z;
		else
			hi = z;
	}
	return lo;
}
