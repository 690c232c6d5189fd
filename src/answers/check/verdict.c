#include "check/verdict.h"

#include <math.h>
#include <string.h>

#include "base/fact.h"
#include "base/mem.h"
#include "base/stats.h"

#define SAMPLES_LEAST     5
#define STEADY_TIMES      1.1 /* upper over lower end of the 95 % interval */
#define STRAY_SPREADS     5
#define PERIOD_S          0.1 /* default period of a CPU quota */
#define BLOCKS_LEAST      4
#define BLOCKS_MOST       16
#define STEADY_MEAN_TIMES 1.3   /* as STEADY_TIMES, for the mean under a quota: low requires the whole interval */
#define STRAYS_OF         5     /* at most one in this many runs */
#define DRIFT_LEAST       6     /* runs */
#define TOP_SPREADS       1.645 /* one healthy run in twenty is this much better */
#define SPREADS           3     /* robust standard deviations that a run may deviate */

static const struct {
	const char *name, *en;
} words[] = {
	[JL_VERDICT_FIRST] = { "first", JL_N("no expectation yet") },
	[JL_VERDICT_UNJUDGED] = { "unjudged", JL_N("cannot judge yet") },
	[JL_VERDICT_NOISY] = { "noisy", JL_N("no verdict (noisy)") },
	[JL_VERDICT_GOOD] = { "good", JL_N("good") },
	[JL_VERDICT_NORMAL] = { "normal", JL_N("normal") },
	[JL_VERDICT_LOW] = { "low", JL_N("low") },
	[JL_VERDICT_HIGH] = { "high", JL_N("too high") },
	[JL_VERDICT_IMPOSSIBLE] = { "impossible", JL_N("impossible") },
	[JL_VERDICT_WRONG] = { "wrong", JL_N("incorrect") },
};

const char *jl_verdict_name(enum jl_verdict verdict)
{
	return words[verdict].name;
}

const char *jl_verdict_word(enum jl_verdict verdict)
{
	return jl_msg(words[verdict].en);
}

bool jl_verdict_is_bad(enum jl_verdict verdict)
{
	return verdict >= JL_VERDICT_LOW;
}

/* Converts to a rate: more is better. */
static double as_rate(double value, bool less_is_better)
{
	return less_is_better ? 1 / value : value;
}

bool jl_expect_can_judge(const struct jl_expect *expect)
{
	return !expect->unproven && !(expect->notice > JL_NOTICE_MOST);
}

enum jl_verdict jl_verdict_of(const struct jl_figure *figure, const struct jl_expect *expect)
{
	const bool less = figure->less_is_better;
	const double value = as_rate(figure->value, less), bound = as_rate(expect->bound, less);
	const double low = expect->low > 0 ? expect->low : expect->lo,
		     high = expect->high > 0 ? expect->high : expect->hi;
	const double lo = as_rate(less ? high : low, less), hi = as_rate(less ? low : high, less);
	const double best = as_rate(less ? figure->lo95 : figure->hi95, less);
	const double worst = as_rate(less ? figure->hi95 : figure->lo95, less);
	const double rounding = 1.005; /* tools print three or four digits */
	const double edge = isnan(best) ? 1 + JL_EDGE_FRAC : 1;

	if (value > bound * rounding && !(worst <= bound))
		return JL_VERDICT_IMPOSSIBLE;
	if (figure->noisy && !figure->steady)
		return JL_VERDICT_NOISY;
	if (isnan(lo) || isnan(hi))
		return JL_VERDICT_FIRST;
	if (expect->unproven)
		return JL_VERDICT_UNJUDGED;
	if (value < lo / edge && !(best >= lo))
		return JL_VERDICT_LOW;
	if (expect->most > 0 && value > as_rate(expect->most, less) * edge && !(worst <= as_rate(expect->most, less)))
		return JL_VERDICT_HIGH;
	/* if the bound is nearer than 1.5 times, no healthy system is 1.5 times as fast */
	if (!jl_expect_can_judge(expect) && value < as_rate(expect->value, less) && !(value * JL_NOTICE_MOST >= bound))
		return JL_VERDICT_UNJUDGED;
	if (value > hi * edge && !(worst <= hi))
		return JL_VERDICT_GOOD;
	return JL_VERDICT_NORMAL;
}

bool jl_verdict_at_edge(const struct jl_figure *figure, const struct jl_expect *expect)
{
	return jl_verdict_of(figure, expect) == JL_VERDICT_NORMAL &&
	       (figure->value < expect->lo || figure->value > expect->hi);
}

bool jl_check_on_gpu(const struct jl_record *r)
{
	static const char *const backends[] = { "cuda", "nccl", "hip", "rccl", "nccl-tests", "nvbandwidth" };

	for (size_t i = 0; i < JL_LEN(backends); i++)
		if (strcmp(backends[i], r->backend) == 0)
			return true;
	return !isnan(jl_record_number(r, "device"));
}

/* A lowered clock makes a figure low, not uncertain. CPU use by other processes affects work on the CPU, and kernels short enough to be
 * limited by host launches. */
static bool is_steady(const struct jl_record *r, const struct jl_stats *s)
{
	const struct jl_record_noise *n = &r->noise;
	const bool held = n->thermal || n->power || n->clock_frac <= JL_NOISE_CLOCK_FRAC;
	const bool shared = n->cpu_other_frac > JL_NOISE_CPU_OTHER_FRAC || n->steal_frac > JL_NOISE_STEAL_FRAC ||
			    n->wait_frac > JL_NOISE_WAIT_FRAC;

	if (n->throttled_frac > JL_NOISE_STOPPED_FRAC) /* see take_mean */
		return false;
	return (held || shared) && s->hi95 <= STEADY_TIMES * s->lo95 && !(fabs(n->drift_frac) > JL_NOISE_DRIFT_FRAC) &&
	       (!shared || (jl_check_on_gpu(r) && !jl_check_jumps_by_itself(r)));
}

/* A CPU quota runs and stops the program in every period: single samples jump, their mean over whole periods does not and is the rate under
 * the quota. Samples are grouped in blocks of at least one period. CPU use by other processes is separate, except while stopped. */
static void take_mean(struct jl_figure *f, const struct jl_record *r)
{
	const struct jl_record_noise *n = &r->noise;
	double sum_s = 0, of_block_s = 0, mean = 0, squares = 0, n_in_block = 0, n_blocks = 0;
	double *scratch = r->n_samples >= BLOCKS_LEAST ? jl_realloc(NULL, r->n_samples * sizeof(*scratch)) : NULL;

	if (!scratch)
		return;
	for (size_t i = 0; i < r->n_samples; i++)
		sum_s += scratch[i] = r->samples_s[i];
	const double median_s = jl_stats_median(scratch, r->n_samples), mean_s = sum_s / (double)r->n_samples,
		     block_s = fmax(PERIOD_S, sum_s / BLOCKS_MOST);

	jl_free(scratch);
	for (size_t i = 0; i < r->n_samples; i++) {
		of_block_s += r->samples_s[i];
		n_in_block++;
		if (of_block_s < block_s)
			continue;
		const double x = log(of_block_s / n_in_block);

		mean += x;
		squares += x * x;
		n_blocks++;
		of_block_s = n_in_block = 0;
	}
	if (n_blocks < BLOCKS_LEAST)
		return;
	const double variance = fmax(0, squares - mean * mean / n_blocks) / (n_blocks - 1),
		     half = jl_stats_t_quantile(0.975, (size_t)n_blocks - 1) * sqrt(variance / n_blocks),
		     times = f->less_is_better ? mean_s / median_s : median_s / mean_s;

	f->value *= times;
	f->lo95 = f->value * exp(-half);
	f->hi95 = f->value * exp(half);
	f->steady = exp(2 * half) <= STEADY_MEAN_TIMES &&
		    !(n->cpu_other_frac - n->throttled_frac > JL_NOISE_CPU_OTHER_FRAC) &&
		    !(n->steal_frac > JL_NOISE_STEAL_FRAC);
}

struct jl_figure jl_figure_of(const struct jl_record *record, const char *metric)
{
	const struct jl_record_metric *m = metric              ? jl_record_metric(record, metric)
					   : record->n_metrics ? &record->metrics[0]
							       : NULL;

	struct jl_figure f = { .value = m ? m->value.median : NAN,
			       .lo95 = m ? m->value.lo95 : NAN,
			       .hi95 = m ? m->value.hi95 : NAN,
			       .noisy = record->noise.noisy,
			       .steady = m && is_steady(record, &m->value),
			       .less_is_better = m && m->less_is_better };

	if (m == record->metrics && record->noise.throttled_frac > JL_NOISE_STOPPED_FRAC)
		take_mean(&f, record);
	return f;
}

/* Outcomes of a run are not its parameters. */
static bool is_outcome(const char *key)
{
	static const char *const keys[] = { "n_warmup", "n_unsteady",    "n_outliers", "n_wrong",
					    "count",    "n_retransmits", "n_steps",    "n_lines" };

	for (size_t i = 0; i < JL_LEN(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static bool covers(const struct jl_record *a, const struct jl_record *b)
{
	for (size_t i = 0; i < a->n_params; i++) {
		const struct jl_record_item *x = &a->params[i], *y = jl_record_param(b, x->key);

		if (is_outcome(x->key))
			continue;
		if (!y || !x->text != !y->text)
			return false;
		if (x->text ? strcmp(x->text, y->text) != 0 : x->number != y->number)
			return false;
	}
	return true;
}

/* Figure of an earlier run. */
static bool is_earlier(const struct jl_record *r, const struct jl_record *now)
{
	return r != now && strcmp(r->id, now->id) < 0 && !(now->run && r->run && strcmp(now->run, r->run) == 0);
}

bool jl_check_alike(const struct jl_record *a, const struct jl_record *b)
{
	if (strcmp(a->kind, b->kind) != 0 || strcmp(a->backend, b->backend) != 0 || !a->n_metrics || !b->n_metrics ||
	    strcmp(a->metrics[0].name, b->metrics[0].name) != 0)
		return false;
	return covers(a, b) && covers(b, a);
}

/* Prior of the run-to-run difference by kind (docs/cmd/check.md): standard deviation as ln, and the number of runs that it counts for. Small
 * messages between processes of one host vary by a factor of 2 with the placement of processes and pages, each run steady in itself. Storage
 * is shared with unseen machines: 20 %. GPU kernels of a few microseconds, except recorded products, are limited by the host's launches.
 * Arrays that fit a cache partly depend on its other users: a 16 MiB copy ran at 190 to 205 and at 512 to 536 GB/s in eight quiet runs on
 * sixteen cores with 2 MiB each. */
struct usual {
	double sd_ln;
	size_t n;
	double least_ln; /* minimum half range: the other speed may appear first after fifty runs of one */
	double floor_ln; /* minimum half range where the figure's own runs narrow it: unseen neighbours */
};
static const struct usual usual_run = { 0.04, 8, 0, 0 }, usual_gpu = { 0.02, 8, 0, 0 },
			  usual_unsteady = { 0.12, 8, 0, 0.22 }, usual_small = { 0.2, 30, 0.81, 0 },
			  usual_brief = { 0.1, 30, 0.5, 0 }, usual_cached = { 0.1, 30, 1.1, 0 },
			  usual_storage = { 0.2, 8, 0.1, 0.35 };

#define SMALL_B      8388608.0
#define BRIEF_S      20e-6
#define CACHED_B     67108864.0
#define FALSE_ALARMS 0.0005 /* of undisturbed runs */
#define OWN_RUNS     5
#define OWN_SD_LEAST 0.01 /* five runs that agree more closely do so by chance, or by rounding */
#define KIND_RUNS    4
#define WILD_TIMES   1.25
#define POOLED_MAX   16 /* figures of a kind */

static struct usual usual_of(const struct jl_record *r, bool unsteady)
{
	static const char *const local[] = { "127.0.0.1", "::1", "localhost" };
	const struct jl_record_metric *time_s = jl_record_metric(r, "time_s");
	const char *host = jl_record_text(r, "host");
	bool small = strcmp(r->backend, "shm") == 0 && jl_record_number(r, "size_B") <= SMALL_B;

	for (size_t i = 0; host && i < JL_LEN(local); i++)
		small = small || strcmp(host, local[i]) == 0;
	if (strcmp(r->kind, "storage") == 0)
		return usual_storage;
	if (strcmp(r->backend, "cuda") == 0 && strcmp(r->kind, "gemm") != 0 && time_s && time_s->value.median < BRIEF_S)
		return usual_brief;
	if (strcmp(r->backend, "cpu") == 0 && strcmp(r->kind, "memory") == 0 &&
	    jl_record_number(r, "size_B") <= CACHED_B)
		return usual_cached;
	if (jl_check_on_gpu(r) && jl_record_number(r, "pinned") != 0)
		return usual_gpu;
	return small ? usual_small : unsteady ? usual_unsteady : usual_run;
}

bool jl_check_jumps_by_itself(const struct jl_record *record)
{
	return usual_of(record, false).least_ln > 0;
}

/* Half range (ln) for the next run, from n earlier runs. With few runs their spread is combined with the prior as if it had been seen in that
 * many runs; Student's t. */
static double half_ln(const double *ln, size_t n, struct usual usual, double *ret_sd_ln)
{
	double mean = 0, squares = (double)usual.n * usual.sd_ln * usual.sd_ln;

	for (size_t i = 0; i < n; i++)
		mean += ln[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (ln[i] - mean) * (ln[i] - mean);
	*ret_sd_ln = sqrt(squares / (double)(usual.n + n - 1) * (1 + 1 / (double)n));
	return fmax(usual.least_ln, jl_stats_t_quantile(1 - FALSE_ALARMS, usual.n + n - 1) * *ret_sd_ln);
}

/* Pooled squares of other figures of the same kind on this machine, about each one's own mean. */
struct pooled {
	const struct jl_record *figure;
	double n, mean, squares;
};

static double pooled_variance(const struct jl_record *now, const struct jl_record *const *records, size_t n_records,
			      double *ret_dof)
{
	struct pooled figures[POOLED_MAX] = { { 0 } };
	double squares = 0;

	*ret_dof = 0;
	for (size_t i = 0; i < n_records; i++) {
		const struct jl_record *r = records[i];
		struct pooled *p = figures;

		if (strcmp(r->kind, now->kind) != 0 || strcmp(r->backend, now->backend) != 0 || r->noise.noisy ||
		    !r->n_metrics || !(r->metrics[0].value.median > 0) || !is_earlier(r, now) || jl_check_alike(now, r))
			continue;
		while (p < figures + POOLED_MAX && p->figure && !jl_check_alike(p->figure, r))
			p++;
		if (p == figures + POOLED_MAX || p->n >= JL_HISTORY_MAX)
			continue;
		const double x = log(r->metrics[0].value.median), off = x - p->mean;

		p->figure = r;
		p->n++;
		p->mean += off / p->n;
		p->squares += off * (x - p->mean);
	}
	for (size_t i = 0; i < POOLED_MAX; i++) {
		squares += figures[i].squares;
		*ret_dof += fmax(0, figures[i].n - 1);
	}
	return *ret_dof > 0 ? squares / *ret_dof : 0;
}

/* From five runs: Student's t on the figure's own spread plus that of its kind on this machine (at most four runs), without the prior. One
 * healthy run in 2,000 lies below the first range, one in 4,000 below this one: below the narrower of both less than one in 1,000. A figure
 * that varies more than the prior gets the wider range. Bimodal kinds have a minimum. */
static void take_own_spread(double *io_half, double *io_sd_ln, const double *ln, size_t n, struct usual usual,
			    double kind_variance, double kind_dof)
{
	const double weight = fmin(kind_dof, KIND_RUNS);
	double mean = 0, squares = weight * kind_variance;

	if (n < OWN_RUNS)
		return;
	for (size_t i = 0; i < n; i++)
		mean += ln[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (ln[i] - mean) * (ln[i] - mean);
	const size_t dof = n - 1 + (size_t)weight;
	const double own_ln = fmax(OWN_SD_LEAST, sqrt(squares / (double)dof)), sd_ln = own_ln * sqrt(1 + 1 / (double)n),
		     half = fmax(fmax(usual.least_ln, usual.floor_ln),
				 jl_stats_t_quantile(1 - FALSE_ALARMS / 2, dof) * sd_ln);

	if ((half < *io_half) != (own_ln > WILD_TIMES * usual.sd_ln)) {
		*io_half = half;
		*io_sd_ln = sd_ln;
	}
}

/* Excludes far outliers that were quiet by their own account: the machine may have had a defect. Returns the number left; keeps the order. */
static size_t without_strays(double *ln, size_t n, struct usual usual)
{
	double sorted[JL_HISTORY_MAX];
	size_t n_left = 0, n_far = 0;
	const double far = fmax(STRAY_SPREADS * usual.sd_ln, usual.least_ln);

	memcpy(sorted, ln, n * sizeof(*ln));
	const double middle = jl_stats_median(sorted, n);
	for (size_t i = 0; i < n; i++)
		n_far += fabs(ln[i] - middle) > far;
	if (n_far * STRAYS_OF > n)
		return n;
	for (size_t i = 0; i < n; i++)
		if (fabs(ln[i] - middle) <= far)
			ln[n_left++] = ln[i];
	return n_left;
}

/* Middle of the runs, newest first. With a decline over many runs, that of the older half. */
static double middle_of(const double *ln, size_t n, bool less_is_better, double *ret_drift_frac)
{
	double sorted[JL_HISTORY_MAX];

	memcpy(sorted, ln, n * sizeof(*ln));
	const double all = jl_stats_median(sorted, n);
	*ret_drift_frac = NAN;
	if (n < DRIFT_LEAST)
		return all;
	memcpy(sorted, ln, n * sizeof(*ln));
	const double newer = jl_stats_median(sorted, n / 2), older = jl_stats_median(sorted + n / 2, n - n / 2);
	*ret_drift_frac = expm1(newer - older);
	return less_is_better ? fmin(all, older) : fmax(all, older);
}

static double robust_sd(const double *sorted, size_t n)
{
	const double median = jl_stats_quantile(sorted, n, 0.5);
	double off[JL_HISTORY_MAX];

	for (size_t i = 0; i < n; i++)
		off[i] = fabs(sorted[i] - median);
	return 1.4826 * jl_stats_median(off, n);
}

/* Detects changes back and forth between quiet runs; a single change is a change of the machine. */
static bool jumps(const double *ln, size_t n, double *io_worst)
{
	double lo = INFINITY, hi = -INFINITY;
	size_t n_crossings = 0;

	for (size_t i = 0; i < n; i++) {
		lo = fmin(lo, ln[i]);
		hi = fmax(hi, ln[i]);
	}
	if (n < 3 || hi - lo < log(JL_JUMP_TIMES))
		return false;
	for (size_t i = 1; i < n; i++)
		n_crossings += (ln[i] > (lo + hi) / 2) != (ln[i - 1] > (lo + hi) / 2);
	if (n_crossings < 2)
		return false;
	*io_worst = fmax(*io_worst, exp(hi - lo));
	return true;
}

void jl_check_steadiness(struct jl_steadiness *ret, const struct jl_record *const *records, size_t n_records)
{
	struct jl_steadiness s = { .worst_times = 1 };

	for (size_t i = 0; i < n_records; i++) {
		double ln[JL_HISTORY_MAX];
		bool seen = false;
		size_t n = 0;

		for (size_t k = 0; k < i && !seen; k++)
			seen = jl_check_alike(records[i], records[k]);
		for (size_t k = i; !seen && k < n_records && n < JL_HISTORY_MAX; k++)
			if (!records[k]->noise.noisy && jl_check_alike(records[i], records[k]) &&
			    records[k]->metrics[0].value.median > 0)
				ln[n++] = log(records[k]->metrics[0].value.median);
		s.n_figures += n >= 3;
		s.n_jumps += jumps(ln, n, &s.worst_times);
	}
	*ret = s;
}

void jl_check_history(struct jl_history *ret_history, const struct jl_record *now,
		      const struct jl_record *const *records, size_t n_records, bool unsteady)
{
	struct jl_history h = { .drift_frac = NAN, .spread_ln = NAN, .expect = JL_EXPECT_NONE };
	const struct usual usual = usual_of(now, unsteady);
	double ln[JL_HISTORY_MAX];

	for (size_t i = 0; i < n_records && h.n < JL_HISTORY_MAX; i++) {
		const struct jl_record *r = records[i];

		if (!is_earlier(r, now) || !jl_check_alike(now, r))
			continue;
		if (r->noise.noisy) {
			h.n_noisy++;
			continue;
		}
		if (r->metrics[0].value.median > 0)
			ln[h.n++] = log(r->metrics[0].value.median);
	}
	if (usual.sd_ln > usual_run.sd_ln)
		h.spread_ln = usual.sd_ln;
	if (h.n) {
		double sd_ln, kind_dof, half;

		h.n = without_strays(ln, h.n, usual);
		half = half_ln(ln, h.n, usual, &sd_ln);
		if (h.n >= OWN_RUNS) {
			const double variance = pooled_variance(now, records, n_records, &kind_dof);

			take_own_spread(&half, &sd_ln, ln, h.n, usual, variance, kind_dof);
		}
		h.expect.value = exp(middle_of(ln, h.n, now->metrics[0].less_is_better, &h.drift_frac));
		h.expect.notice = exp(half + TOP_SPREADS * sd_ln);
		h.expect.unproven = h.n < JL_HISTORY_TRUSTED;
		jl_stats_sort(ln, h.n);
		if (h.n >= 3)
			h.spread_ln = fmax(robust_sd(ln, h.n), h.spread_ln); /* NAN is ignored */
		/* rates reached before are plausible */
		h.expect.lo = fmin(h.expect.value * exp(-half), exp(ln[0]));
		h.expect.hi = fmax(h.expect.value * exp(half), exp(ln[h.n - 1]));
	}
	*ret_history = h;
}

enum jl_status jl_check_change(struct jl_change *ret_change, const struct jl_record *now,
			       const struct jl_record *before, double spread_ln, struct jl_arena *arena,
			       struct jl_err *err)
{
	const struct jl_figure a = jl_figure_of(now, NULL), b = jl_figure_of(before, NULL);
	const size_t n_a = now->n_samples, n_b = before->n_samples;
	struct jl_change c = { .p = NAN, .least = JL_CHANGE_LEAST_FRAC };

	c.ratio = a.less_is_better ? b.value / a.value : a.value / b.value;
	if (spread_ln > 0)
		c.least = fmax(c.least, expm1(SPREADS * spread_ln));
	/* without intervals the figures are compared */
	c.apart = isnan(a.lo95) || isnan(b.lo95) || a.lo95 > b.hi95 || a.hi95 < b.lo95;
	if (n_a >= SAMPLES_LEAST && n_b >= SAMPLES_LEAST) {
		double *scratch = jl_arena_array(arena, 2 * (n_a + n_b), sizeof(*scratch));

		JL_TRY(jl_got(scratch, err));
		c.p = jl_stats_same_p(now->samples_s, n_a, before->samples_s, n_b, scratch);
	}
	if (a.noisy || b.noisy)
		c.verdict = JL_VERDICT_NOISY;
	else if (fabs(log(c.ratio)) <= log1p(c.least) || !c.apart || c.p >= JL_CHANGE_P)
		c.verdict = JL_VERDICT_NORMAL;
	else
		c.verdict = c.ratio < 1 ? JL_VERDICT_LOW : JL_VERDICT_GOOD;
	*ret_change = c;
	return JL_OK;
}

int jl_verdict_weight(enum jl_verdict verdict)
{
	static const int weights[] = { [JL_VERDICT_FIRST] = 0, [JL_VERDICT_UNJUDGED] = 3,   [JL_VERDICT_NOISY] = 1,
				       [JL_VERDICT_GOOD] = 2,  [JL_VERDICT_NORMAL] = 4,     [JL_VERDICT_LOW] = 5,
				       [JL_VERDICT_HIGH] = 6,  [JL_VERDICT_IMPOSSIBLE] = 7, [JL_VERDICT_WRONG] = 8 };

	return weights[verdict];
}
