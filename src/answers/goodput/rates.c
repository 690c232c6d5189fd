#include "goodput/rates.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "catalog/find.h"

#define DAY_S        86400.0
#define GPUS_OF_NODE 8.0
#define DRAWS        4001
#define SEED         48
#define LEARN_MOST   1000 /* failures counted, above which other sites are ignored */
#define LEARN_POINTS 8000

const struct jl_failure_info jl_failures[JL_N_FAILURE] = {
	[JL_FAILURE_GPU] = { "gpu", JL_N("GPU"), "failure-gpu", "failure-detect-error", true, true, false },
	[JL_FAILURE_HBM] = { "hbm", JL_N("GPU memory"), "failure-hbm", "failure-detect-error", true, true, false },
	[JL_FAILURE_LINK] = { "link", JL_N("network"), "failure-link", "failure-detect-hang", false, false, false },
	[JL_FAILURE_HOST] = { "host", JL_N("host"), "failure-host", "failure-detect-hang", false, true, false },
	[JL_FAILURE_STORAGE] = { "storage", JL_N("storage"), "failure-storage", "failure-detect-hang", false, true,
				 false },
	[JL_FAILURE_SOFTWARE] = { "software", JL_N("software"), "failure-software", "failure-detect-hang", false, false,
				  true },
	[JL_FAILURE_SILENT] = { "silent", JL_N("silent corruption"), "failure-silent", "failure-detect-silent", true,
				true, true },
};

void jl_failure_shares(double ret_shares[JL_N_FAILURE], const struct jl_catalog *cat, double per_node)
{
	double sum = 0;

	for (int i = 0; i < JL_N_FAILURE; i++) {
		ret_shares[i] = jl_figure(cat, jl_failures[i].figure) *
				(jl_failures[i].of_gpus ? per_node / GPUS_OF_NODE : 1);
		sum += ret_shares[i];
	}
	for (int i = 0; i < JL_N_FAILURE; i++)
		ret_shares[i] /= sum;
}

double jl_reliability_rate(const struct jl_reliability *record)
{
	const double nodes = record->n_gpu / record->n_per_node;

	if (record->failures_per_node_day > 0)
		return record->failures_per_node_day;
	return (record->mttf_s > 0 ? DAY_S / record->mttf_s : record->n_failures / record->window_s * DAY_S) / nodes;
}

/* --- what is known of a site */

static struct jl_rates unknown(const struct jl_catalog *cat)
{
	double shares[JL_N_FAILURE];
	struct jl_rates rates = { .node = { .n_failures = NAN }, .job = { .n_failures = NAN } };

	jl_failure_shares(shares, cat, GPUS_OF_NODE);
	for (int i = 0; i < JL_N_FAILURE; i++)
		rates.gpu_frac += jl_failures[i].of_gpus ? shares[i] : 0;
	return rates;
}

/* Sites are draws from one log-normal population, each counted once; the predictive distribution of a further site is a Student t around their
 * mean. */
enum jl_status jl_rates_pool(struct jl_rates *ret_rates, const struct jl_catalog *cat, const char *leave_out,
			     struct jl_err *err)
{
	struct jl_rates rates = unknown(cat);
	double sum = 0, squares = 0, n = 0;

	for (size_t i = 0; i < cat->n_reliability; i++) {
		const struct jl_reliability *r = &cat->reliability[i];

		if (!r->pooled || (leave_out && strcmp(r->id, leave_out) == 0))
			continue;
		const double ln = log(jl_reliability_rate(r));

		sum += ln;
		squares += ln * ln;
		n++;
	}
	if (n < 3)
		return jl_fail(err, JL_E_DATA, "the catalog has %.0f pooled reliability records; it needs 3", n);
	rates.node.per_day = exp(sum / n);
	rates.node.sd_ln = sqrt((squares - sum * sum / n) / (n - 1) * (1 + 1 / n));
	rates.node.dof = n - 1;
	rates.n_sites = n;
	*ret_rates = rates;
	return JL_OK;
}

enum jl_status jl_rates_site(struct jl_rates *ret_rates, const struct jl_catalog *cat, const char *id,
			     struct jl_err *err)
{
	const struct jl_reliability *r = jl_reliability_by_id(cat, id);
	struct jl_rates rates = unknown(cat);

	if (!r)
		return jl_fail(err, JL_E_NOTFOUND,
			       "--site: no published site '%.60s'; see 'jeoul catalog list reliability'", id);
	if (!(jl_reliability_rate(r) > 0)) {
		return jl_fail(err, JL_E_DATA, "--site: %.60s publishes no failure rate; use e.g. llama-3-run", r->id);
	} else if (r->n_failures > 0 && r->window_s > 0) {
		jl_rates_own(&rates, r->n_failures, r->window_s, r->n_gpu / r->n_per_node, r->n_per_node);
	} else {
		jl_rates_given(&rates, jl_reliability_rate(r), 0);
	}
	rates.site = r->id;
	*ret_rates = rates;
	return JL_OK;
}

/* Nodes of `per_node` GPUs, in nodes of 8. */
static double as_nodes(const struct jl_rates *rates, double per_node)
{
	return rates->gpu_frac * per_node / GPUS_OF_NODE + 1 - rates->gpu_frac;
}

void jl_rates_own(struct jl_rates *io_rates, double n_failures, double window_s, double n_nodes, double per_node)
{
	const double node_days = window_s / DAY_S * n_nodes * as_nodes(io_rates, per_node);

	io_rates->node = (struct jl_rate){ .per_day = (n_failures + 0.5) / node_days,
					   .n_failures = n_failures,
					   .window_days = node_days };
	io_rates->job = (struct jl_rate){ .n_failures = NAN };
	io_rates->n_sites = 0;
}

/* Prior from other sites: Student t of the logarithm, whose wide tails allow a very different job; likelihood of the counts: Poisson. */
void jl_rates_learn(struct jl_rates *io_rates, double n_failures, double window_s, double n_nodes, double per_node)
{
	const struct jl_rate prior = io_rates->node;
	const double known_ln = log(prior.per_day), reach_ln = 15 * prior.sd_ln;
	double sum = 0, mean = 0, squares = 0;

	jl_rates_own(io_rates, n_failures, window_s, n_nodes, per_node);
	const double node_days = io_rates->node.window_days, own_ln = log(io_rates->node.per_day);

	if (!(prior.sd_ln > 0) || n_failures > LEARN_MOST)
		return;
	const double from = fmin(known_ln - reach_ln, own_ln - 5), to = fmax(known_ln + reach_ln, own_ln + 5);
	const double top = n_failures > 0 ? n_failures * log(n_failures / node_days) - n_failures : 0;

	for (int i = 0; i <= LEARN_POINTS; i++) {
		const double ln = from + (to - from) * i / LEARN_POINTS, z = (ln - known_ln) / prior.sd_ln;
		const double weight = pow(1 + z * z / prior.dof, -0.5 * (prior.dof + 1)) *
				      exp(n_failures * ln - exp(ln) * node_days - top);

		sum += weight;
		mean += weight * ln;
		squares += weight * ln * ln;
	}
	mean /= sum;
	const double variance = squares / sum - mean * mean;
	const double shape = (1 + sqrt(1 + 2 * variance)) / (2 * variance); /* of a gamma: 1/a + 1/2a2 in ln */

	if (!(variance > 0) || !(shape > 0.5))
		return;
	io_rates->node.n_failures = shape - 0.5;
	io_rates->node.window_days = exp(log(shape) - 1 / (2 * shape) - 1 / (12 * shape * shape) - mean);
	io_rates->node.per_day = shape / io_rates->node.window_days;
}

void jl_rates_given(struct jl_rates *io_rates, double node_per_day, double job_per_day)
{
	if (!isnan(node_per_day)) {
		io_rates->node = (struct jl_rate){ .per_day = node_per_day, .n_failures = NAN };
		io_rates->n_sites = 0;
	}
	if (!isnan(job_per_day))
		io_rates->job = (struct jl_rate){ .per_day = job_per_day, .n_failures = NAN };
}

void jl_rates_total(struct jl_rates *io_rates, double mttf_s, double n_nodes, double per_node)
{
	jl_rates_given(io_rates, DAY_S / mttf_s / (n_nodes * as_nodes(io_rates, per_node)), 0);
}

/* --- draws */

static double draw_rate(const struct jl_rate *rate, struct jl_draws *draws)
{
	double z;

	if (!isnan(rate->n_failures)) /* Jeffreys' prior: adds half a failure */
		return jl_draw_gamma(draws, rate->n_failures + 0.5) / rate->window_days;
	if (!(rate->sd_ln > 0))
		return rate->per_day;
	z = jl_draw_normal(draws);
	if (rate->dof > 0)
		z /= sqrt(jl_draw_gamma(draws, rate->dof / 2) * 2 / rate->dof);
	return rate->per_day * exp(z * rate->sd_ln);
}

double jl_rates_draw_hz(const struct jl_rates *rates, double n_nodes, double per_node, struct jl_draws *draws)
{
	const double node = draw_rate(&rates->node, draws), job = draw_rate(&rates->job, draws);

	return (node * n_nodes * as_nodes(rates, per_node) + job) / DAY_S;
}

/* Median of a gamma distribution (Wilson and Hilferty). */
static double median_of(const struct jl_rate *rate)
{
	const double shape = rate->n_failures + 0.5;

	return isnan(rate->n_failures) ? rate->per_day : shape * pow(1 - 1 / (9 * shape), 3) / rate->window_days;
}

double jl_rates_median_hz(const struct jl_rates *rates, double n_nodes, double per_node)
{
	return (median_of(&rates->node) * n_nodes * as_nodes(rates, per_node) + median_of(&rates->job)) / DAY_S;
}

struct jl_estimate jl_quantiles(double *values, int n, double share)
{
	const int off = (int)((1 - share) / 2 * (n - 1));

	jl_stats_sort(values, (size_t)n);
	return (struct jl_estimate){ .value = values[n / 2], .lo = values[off], .hi = values[n - 1 - off] };
}

struct jl_estimate jl_rates_of(const struct jl_rates *rates, double n_nodes, double per_node, double share)
{
	struct jl_draws draws = { SEED };
	double hz[DRAWS];

	for (int i = 0; i < DRAWS; i++)
		hz[i] = jl_rates_draw_hz(rates, n_nodes, per_node, &draws);
	struct jl_estimate e = jl_quantiles(hz, DRAWS, share);

	e.value = fmin(fmax(jl_rates_median_hz(rates, n_nodes, per_node), e.lo), e.hi);
	return e;
}
