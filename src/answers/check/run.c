#include "check/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/fact.h"
#include "base/stats.h"

#define WARMUP_LINES  3
#define WARMUP_FRAC   0.05
#define STALL_SPREADS 8    /* robust standard deviations beyond the typical step */
#define STALL_LEAST   0.5  /* ... and at least this share of it */
#define PERIOD_STALLS 4    /* stalls that make a period */
#define PERIOD_EVEN   0.75 /* share of the distances near a multiple of their median */
#define DRIFT_LEAST   0.05
#define DRIFT_SPREADS 5
#define DRIFT_LINES   30
/* share of the total change between two neighbouring tenths; a steady decline has an eighth there */
#define SHIFT_SHARE   0.5
#define JITTER_LEAST  0.12
#define PAUSE_LEAST   0.02
#define BLOCK_LINES   5
#define BLOCK_MOST    0.4 /* of the run: longer blocks are the normal level */
#define BLOCK_LEAST   0.08
#define BLOCK_EVEN    0.8 /* share of its lines above half of its height */
#define BLOCK_SPREADS 9   /* of the mean of its lines: corrects for testing every place and length */
#define BLOCKS_MAX    4
#define COARSE_FRAC   0.01 /* rounding of a line above which only the mean is accurate */
#define POINTS_MAX    2000 /* groups of steps compared with each other */
#define STEPS_EACH    15   /* cost in base/budget.h: two medians of a tenth of them */

/* Judged steps: after warm-up, without pauses. */
struct steady {
	size_t n;
	size_t *at;     /* in log->steps */
	double *step_s; /* of those */
	double median, sd, off_frac;
};

static double median_of(double *scratch, const double *values, size_t n)
{
	if (!scratch || !n)
		return NAN;
	memcpy(scratch, values, n * sizeof(*scratch));
	return jl_stats_median(scratch, n);
}

/* Threshold of a line that contains a stall. */
static double stall_from_s(const struct steady *s)
{
	return s->median + fmax(STALL_LEAST * s->median, STALL_SPREADS * s->sd) + s->off_frac * s->median;
}

static void find_spread(struct steady *s, double *scratch)
{
	s->median = median_of(scratch, s->step_s, s->n);
	for (size_t i = 0; i < s->n; i++)
		scratch[i] = fabs(s->step_s[i] - s->median);
	s->sd = 1.4826 * jl_stats_median(scratch, s->n);
}

static enum jl_status make_steady(struct steady *s, const struct jl_runlog *log, struct jl_arena *arena,
				  struct jl_err *err)
{
	const size_t warm = (size_t)fmax(WARMUP_LINES, WARMUP_FRAC * (double)log->n_steps);
	size_t since = 0;
	double *off;
	bool *paused = jl_arena_array(arena, log->n_steps + 1, sizeof(*paused)); /* a pause follows the previous line */

	*s = (struct steady){ .at = jl_arena_array(arena, log->n_steps, sizeof(*s->at)),
			      .step_s = jl_arena_array(arena, log->n_steps, sizeof(*s->step_s)) };
	off = jl_arena_array(arena, log->n_steps, sizeof(*off));
	JL_TRY(s->at && s->step_s && off && paused ? JL_OK : jl_fail_nomem(err));
	memset(paused, 0, (log->n_steps + 1) * sizeof(*paused));
	for (size_t k = 0; k < log->n_pauses; k++)
		paused[log->pauses[k].after] = true;
	for (size_t i = 0; i < log->n_steps; i++) {
		since = jl_runlog_is_start(log, i) ? 0 : since + 1;
		if (since < (since == i ? warm : WARMUP_LINES) || !(log->steps[i].step_s > 0) || paused[i])
			continue;
		s->at[s->n] = i;
		s->step_s[s->n++] = log->steps[i].step_s;
	}
	if (s->n < JL_RUN_LINES_LEAST)
		return jl_fail(err, JL_E_DATA,
			       "%zu line{/s} with a step time after warm-up; %d are needed (log more often, or give "
			       "the line format with import --pattern)",
			       s->n, JL_RUN_LINES_LEAST);
	for (size_t i = 0; i < s->n; i++)
		off[i] = log->steps[s->at[i]].off_frac;
	s->off_frac = jl_stats_median(off, s->n);
	find_spread(s, off);
	return JL_OK;
}

static struct jl_run_finding *add(struct jl_run_view *v, enum jl_run_issue issue, const char *key, double at_step,
				  double loss_frac)
{
	struct jl_run_finding *f = &v->findings[v->n_findings++];

	*f = (struct jl_run_finding){
		.issue = issue, .key = key, .at_step = at_step, .to_step = NAN, .loss_frac = loss_frac
	};
	return f;
}
#define SAY(BITEXT, ...) jl_msg_print((BITEXT).en, (BITEXT).text, sizeof((BITEXT).en), __VA_ARGS__)

/* ---- stalls */

/* Distance between stalls if most are equal; NAN: no period. At least every second line: adjacent lines are always equal. */
static double period_of(const struct jl_runlog *log, const size_t *at, size_t n, struct jl_arena *arena)
{
	const double steps = log->steps[log->n_steps - 1].step - log->steps[0].step,
		     line = steps > (double)log->n_steps ? steps / (double)(log->n_steps - 1) : 1;
	double *gap = n > 1 ? jl_arena_array(arena, n, sizeof(*gap)) : NULL;
	size_t n_even = 0;

	if (!gap || n < PERIOD_STALLS)
		return NAN;
	for (size_t i = 1; i < n; i++) {
		gap[i - 1] = log->steps[at[i]].step - log->steps[at[i - 1]].step;
		if (isnan(gap[i - 1]))
			gap[i - 1] = (double)(at[i] - at[i - 1]);
	}
	jl_stats_sort(gap, n - 1);
	const double middle = gap[(n - 1) / 2];
	for (size_t i = 0; i + 1 < n; i++) /* a missed stall doubles the distance */
		n_even += fabs(gap[i] / middle - fmax(1, round(gap[i] / middle))) < 0.1;
	return middle >= 1.9 * line && (double)n_even >= PERIOD_EVEN * (double)(n - 1) ? middle : NAN;
}

static void find_stalls(struct jl_run_view *v, const struct steady *s, struct jl_arena *arena)
{
	const double beyond_s = stall_from_s(s);
	size_t *at = jl_arena_array(arena, s->n, sizeof(*at)), n = 0, worst = 0;
	double over_s = 0, all_s = 0, n_steps = 0, each_s;

	for (size_t i = 0; at && i < s->n; i++) {
		const double n_mean = jl_runlog_n_mean(v->log, s->at[i]);

		all_s += n_mean * s->step_s[i];
		if (!(s->step_s[i] > beyond_s))
			continue;
		worst = !n || s->step_s[i] > v->log->steps[worst].step_s ? s->at[i] : worst;
		over_s += n_mean * (s->step_s[i] - s->median);
		n_steps += n_mean;
		at[n++] = s->at[i];
	}
	if (!n)
		return;
	each_s = over_s / (double)n;
	v->period_steps = period_of(v->log, at, n, arena);
	struct jl_run_finding *f = add(v, isnan(v->period_steps) ? JL_RUN_STALLS : JL_RUN_PERIODIC,
				       isnan(v->period_steps) ? "stalls" : "periodic_stalls", v->log->steps[worst].step,
				       over_s / all_s);
	char each[JL_UNITS_TEXT_MAX];

	jl_units_text(each, each_s, JL_K_TIME, 2);
	if (isnan(v->period_steps)) {
		if (n_steps > (double)n)
			SAY(f->what, JL_N("%zu line{/s} of %zu, of %.0f steps each, hold stalls: %s a line on average"),
			    n, s->n, n_steps / (double)n, each);
		else
			SAY(f->what, JL_N("%zu step{/s} of %zu take far longer, %s each on average"), n, s->n, each);
		SAY(f->todo,
		    JL_N("storage, network or another job: find what else runs then; more loader workers, prefetch"));
	} else {
		SAY(f->what, JL_N("every %.0f steps one takes %s longer"), v->period_steps, each);
		SAY(f->todo,
		    JL_N("find what happens every %.0f steps: checkpoint (make it asynchronous), evaluation, logging, "
			 "a new shard of data (prefetch), garbage collection (gc.freeze), a period of the optimizer"),
		    v->period_steps);
	}
}

/* ---- blocks: between two change points steps take longer than before and after */

struct block {
	size_t from, to; /* indices of the steady lines; `to` is exclusive */
	double height;   /* as ln */
};

static double clip(double x, double lo, double hi)
{
	return fmin(fmax(x, lo), hi);
}

/* The interval with the largest excess over half of `height`: maximum sum. */
static struct block highest(const double *ln, size_t n, double height)
{
	struct block best = { 0, 0, 0 };
	double sum = 0, most = 0;

	for (size_t i = 0, from = 0; i < n; i++) {
		sum += clip(ln[i], -height, 2 * height) - height / 2;
		if (sum > most) {
			most = sum;
			best = (struct block){ from, i + 1, 0 };
		}
		if (sum <= 0) {
			sum = 0;
			from = i + 1;
		}
	}
	return best;
}

/* Random or bimodal lines also have high intervals: those are short compared with the difference between neighbours. */
static bool is_block(struct block *io_block, const double *ln, size_t n, double height, double off_frac,
		     double *scratch)
{
	const size_t from = io_block->from, to = io_block->to, len = to - from, near = len / 2;
	double squares = 0;
	size_t n_above = 0;

	/* an interval that lasts to the end is a shift */
	if (len < BLOCK_LINES || (double)len > BLOCK_MOST * (double)n || (to == n && len > n / 5))
		return false;
	io_block->height = median_of(scratch, ln + from, len);
	for (size_t i = 1; i < n; i++)
		squares += pow(clip(ln[i] - ln[i - 1], -2 * height, 2 * height), 2);
	for (size_t i = from; i < to; i++)
		n_above += ln[i] > io_block->height / 2;
	return io_block->height > fmax(BLOCK_LEAST + off_frac,
				       BLOCK_SPREADS * sqrt(squares / (double)(2 * (n - 1)) / (double)len)) &&
	       (double)n_above >= BLOCK_EVEN * (double)len &&
	       !(median_of(scratch, ln + (from > near ? from - near : 0), from > near ? near : from) >
		 io_block->height / 3) &&
	       !(median_of(scratch, ln + to, to + near < n ? near : n - to) > io_block->height / 3);
}

/* Removes the blocks from the steady lines, so that the rest is judged separately. */
static void find_blocks(struct jl_run_view *v, struct steady *s, struct jl_arena *arena)
{
	static const double heights[] = { 0.1, 0.2, 0.4, 0.8 };
	double *ln = jl_arena_array(arena, s->n, sizeof(*ln)), *scratch = jl_arena_array(arena, s->n, sizeof(double)),
	       over_s = 0, all_s = 0, first = NAN, last = NAN, longest_s = NAN;
	struct block longest = { 0, 0, 0 };
	size_t n_blocks = 0;

	for (size_t i = 0; i < s->n; i++)
		all_s += s->step_s[i];
	while (ln && scratch && s->n >= DRIFT_LINES && n_blocks < BLOCKS_MAX) {
		struct block best = { 0, 0, 0 };

		for (size_t i = 0; i < s->n; i++)
			ln[i] = log(s->step_s[i] / s->median);
		for (size_t i = 0; i < JL_LEN(heights); i++) {
			struct block b = highest(ln, s->n, heights[i]);

			if (is_block(&b, ln, s->n, heights[i], s->off_frac, scratch) &&
			    b.height * (double)(b.to - b.from) > best.height * (double)(best.to - best.from))
				best = b;
		}
		if (best.to == best.from)
			break;
		if (best.to - best.from > longest.to - longest.from) {
			longest = best;
			longest_s = s->median * exp(best.height);
			first = v->log->steps[s->at[best.from]].step;
			last = v->log->steps[s->at[best.to - 1]].step;
		}
		for (size_t i = best.from; i < best.to; i++)
			over_s += s->step_s[i] - s->median;
		memmove(s->step_s + best.from, s->step_s + best.to, (s->n - best.to) * sizeof(*s->step_s));
		memmove(s->at + best.from, s->at + best.to, (s->n - best.to) * sizeof(*s->at));
		s->n -= best.to - best.from;
		find_spread(s, scratch);
		n_blocks++;
	}
	if (!n_blocks)
		return;
	struct jl_run_finding *f = add(v, JL_RUN_BLOCK, "slow_block", first, over_s / all_s);

	const double longer = 100 * (longest_s / s->median - 1);

	f->to_step = last;
	if (n_blocks == 1)
		SAY(f->what, JL_N("steps %.0f to %.0f take %.0f %% longer than the others"), first, last, longer);
	else
		SAY(f->what, JL_N("%zu blocks of slow steps; the longest: %.0f to %.0f take %.0f %% longer"), n_blocks,
		    first, last, longer);
	SAY(f->todo, JL_N("find what ran then: another job on a host or the network, heat, a backup, a scrub; or "
			  "longer samples"));
}

/* ---- drift and shifts */

/* Position where a tenth of the run is slowest relative to the tenth before. Long runs are compared in groups by median. */
static size_t find_jump(const struct steady *s, struct jl_arena *arena, double *ret_change)
{
	const size_t each = (s->n + POINTS_MAX - 1) / POINTS_MAX, n = s->n / each, tenth = n / 10;
	double *point = jl_arena_array(arena, n, sizeof(*point)),
	       *scratch = jl_arena_array(arena, s->n, sizeof(double));
	size_t at = 0;

	*ret_change = 0;
	for (size_t i = 0; point && scratch && i < n; i++)
		point[i] = median_of(scratch, s->step_s + i * each, each);
	for (size_t i = tenth; point && scratch && i + tenth <= n && !jl_budget_spend(STEPS_EACH); i++) {
		const double jumped = log(median_of(scratch, point + i, tenth) /
					  median_of(scratch, point + i - tenth, tenth));

		if (jumped > *ret_change) {
			*ret_change = jumped;
			at = i;
		}
	}
	return at * each;
}

/* Share of the run's time beyond its first level; stalls are counted separately. */
static double lost_above(const struct steady *s, double level_s)
{
	const double most_s = stall_from_s(s);
	double all_s = 0, over_s = 0;

	for (size_t i = 0; i < s->n; i++) {
		all_s += s->step_s[i];
		over_s += fmin(s->step_s[i], most_s) - level_s;
	}
	return fmax(0, over_s / all_s);
}

static void find_change(struct jl_run_view *v, const struct steady *s, struct jl_arena *arena)
{
	const size_t fifth = s->n / 5;

	if (s->n < DRIFT_LINES)
		return;
	double *jump = jl_arena_array(arena, s->n, sizeof(*jump)), best = 0;
	const double first = median_of(jump, s->step_s, fifth), last = median_of(jump, s->step_s + s->n - fifth, fifth),
		     change = log(last / first);
	size_t at;

	/* spread between neighbouring lines, which a drift does not widen */
	for (size_t i = 1; jump && i < s->n; i++)
		jump[i - 1] = fabs(s->step_s[i] - s->step_s[i - 1]);
	const double sd = jump ? 1.4826 / sqrt(2) * jl_stats_median(jump, s->n - 1) / first : NAN;
	v->drift_frac = expm1(change);
	if (!(change > fmax(fmax(DRIFT_LEAST, s->off_frac), DRIFT_SPREADS * 1.2533 * sd * sqrt(2.0 / (double)fifth))))
		return;
	/* the median of a fifth is a tenth of the run from its end, eight tenths from the other one's */
	const double beyond_s = (last - first) / 8;

	at = find_jump(s, arena, &best);
	const bool shift = best >= SHIFT_SHARE * change;
	const double since = shift ? v->log->steps[s->at[at]].step : NAN;
	struct jl_run_finding *f = add(v, shift ? JL_RUN_SHIFT : JL_RUN_DRIFT, shift ? "shift" : "drift", since,
				       lost_above(s, shift ? first : first - beyond_s));

	if (shift) {
		SAY(f->what, JL_N("from step %.0f on steps take %.0f %% longer"), since, 100 * expm1(change));
		SAY(f->todo,
		    JL_N("one slow rank delays all others: jeoul check on each host (jeoul check --fleet); clocks, "
			 "another job, a link that went down; or the run's schedule: longer samples, a larger batch"));
	} else {
		SAY(f->what, JL_N("steps slow down steadily: %.0f %% from first to last"),
		    100 * ((last + beyond_s) / (first - beyond_s) - 1));
		SAY(f->todo, JL_N("heat (nvidia-smi -q -d PERFORMANCE), memory that fragments or leaks, longer "
				  "samples, a growing "
				  "list on the host"));
	}
}

static void find_jitter(struct jl_run_view *v, const struct steady *s)
{
	const double wide = v->step_s_p90 / s->median - 1;

	if (!(wide > JITTER_LEAST + s->off_frac))
		return;
	struct jl_run_finding *f = add(v, JL_RUN_JITTER, "jitter", NAN, wide / 4);

	SAY(f->what, JL_N("steps vary: one in ten takes %.0f %% longer than the median"), 100 * wide);
	SAY(f->todo, JL_N("samples of different length (sort or pack them), a loader that just keeps up, other jobs on "
			  "the network"));
}

/* ---- pauses */

static void find_pauses(struct jl_run_view *v)
{
	const struct jl_run_spent *s = &v->spent;
	char each[JL_UNITS_TEXT_MAX], lost[JL_UNITS_TEXT_MAX];
	struct jl_run_finding *f;

	if (s->checkpoint_s > PAUSE_LEAST * s->elapsed_s) {
		f = add(v, JL_RUN_CHECKPOINT, "checkpoints", NAN, s->checkpoint_s / s->elapsed_s);
		SAY(f->what, JL_N("%zu checkpoint{/s} hold the run for %s each"), s->n_checkpoints,
		    jl_units_text(each, s->stall_each_s, JL_K_TIME, 2));
		SAY(f->todo, JL_N("write them asynchronously, or less often: jeoul goodput says how often"));
	}
	if (s->evaluation_s > PAUSE_LEAST * s->elapsed_s) {
		f = add(v, JL_RUN_EVALUATION, "evaluation", NAN, s->evaluation_s / s->elapsed_s);
		SAY(f->what, JL_N("%zu evaluation{/s} take %s in all"), s->n_evaluations,
		    jl_units_text(each, s->evaluation_s, JL_K_TIME, 2));
		SAY(f->todo, JL_N("evaluate less often, on fewer samples, or in a separate job"));
	}
	if (s->n_restarts) {
		const double lost_s = s->repeated_s + (isnan(s->restart_s) ? 0 : s->restart_s);

		f = add(v, JL_RUN_RESTART, "restarts", NAN, lost_s / s->elapsed_s);
		SAY(f->what, JL_N("%zu restart{/s}: %s lost until the next step and in repeated steps"), s->n_restarts,
		    jl_units_text(lost, lost_s, JL_K_TIME, 2));
		SAY(f->todo, JL_N("the first error of the run that ended; checkpoints more often: jeoul goodput"));
	}
}

/* ---- against the prediction */

static void against(struct jl_run_view *v)
{
	struct jl_prediction scaled = v->job->prediction;
	const struct jl_prediction *p = &scaled;
	const double gpus = v->per_gpu ? v->job->how.n_gpus : 1,
		     ratio = jl_job_work_ratio(v->job, v->tokens_per_s * gpus, v->samples_per_s, v->step_s);

	scaled.step_s.lo *= ratio;
	scaled.step_s.value *= ratio;
	scaled.step_s.hi *= ratio;
	const double slow = JL_VERDICT_LOW_WIDER * log(p->step_s.hi / p->step_s.value),
		     fast = JL_VERDICT_WIDER * log(p->step_s.value / p->step_s.lo);
	const struct jl_figure figure = {
		.value = v->step_s, .lo95 = v->step_s_lo95, .hi95 = v->step_s_hi95, .less_is_better = true
	};

	v->expect = (struct jl_expect){ .lo = p->step_s.lo,
					.value = p->step_s.value,
					.hi = p->step_s.hi,
					.bound = NAN,
					.low = p->step_s.value * exp(-fast),
					.high = p->step_s.value * exp(slow),
					.notice = exp(slow + JL_VERDICT_TOP_WIDER * fast / JL_VERDICT_WIDER) };
	v->verdict = jl_verdict_of(&figure, &v->expect);
	if (v->verdict != JL_VERDICT_LOW)
		return;
	struct jl_run_finding *f = add(v, JL_RUN_SLOW, "slow_step", NAN, 1 - p->step_s.value / v->step_s);
	char now[JL_UNITS_TEXT_MAX], usual[JL_UNITS_TEXT_MAX];

	SAY(f->what, JL_N("a step takes %s, expected %s"), jl_units_text(now, v->step_s, JL_K_TIME, 3),
	    jl_units_text(usual, p->step_s.value, JL_K_TIME, 3));
	SAY(f->todo, JL_N("profile three steps with torch.profiler, then run jeoul check trace.json: it shows where "
			  "the time goes"));
}

/* The typical step. Rounding affects single lines, not their mean. */
static void find_typical(struct jl_run_view *v, const struct steady *s)
{
	const double beyond_s = stall_from_s(s);
	double sum_s = 0, n = 0, first_s = NAN, last_s = NAN;

	for (size_t i = 0; i < s->n; i++) {
		const struct jl_run_step *step = &v->log->steps[s->at[i]];

		if (!(s->step_s[i] > beyond_s)) {
			sum_s += s->step_s[i] * step->n_mean;
			n += step->n_mean;
		}
		first_s = isnan(first_s) ? step->at_s : first_s;
		last_s = step->at_s;
	}
	v->off_frac = s->off_frac;
	v->step_s = s->off_frac > COARSE_FRAC && n > 0 ? sum_s / n : s->median;
	/* rounding of the clock affects only both ends of the run */
	const double digits = n > 0 && last_s > first_s ? v->log->clock_s / (last_s - first_s) : s->off_frac,
		     half = fmax(digits, 1.96 * 1.2533 * s->sd / s->median / sqrt((double)s->n));

	v->step_s_lo95 = v->step_s / (1 + half);
	v->step_s_hi95 = v->step_s * (1 + half);
}

static double median_field(const struct jl_runlog *log, const struct steady *s, size_t offset, struct jl_arena *arena)
{
	double *values = jl_arena_array(arena, s->n, sizeof(*values));
	size_t n = 0;

	for (size_t i = 0; values && i < s->n; i++) {
		double x;

		memcpy(&x, (const char *)&log->steps[s->at[i]] + offset, sizeof(x));
		if (x > 0)
			values[n++] = x;
	}
	return n ? jl_stats_median(values, n) : NAN;
}

static int by_loss(const void *a, const void *b)
{
	const double x = ((const struct jl_run_finding *)a)->loss_frac,
		     y = ((const struct jl_run_finding *)b)->loss_frac;

	return (x < y) - (x > y);
}

enum jl_status jl_run_judge(struct jl_run_view *ret_view, const struct jl_runlog *log, const struct jl_job *job,
			    struct jl_arena *arena, struct jl_err *err)
{
	struct jl_run_view v = { .log = log,
				 .job = job,
				 .drift_frac = NAN,
				 .period_steps = NAN,
				 .expect = JL_EXPECT_NONE,
				 .verdict = JL_VERDICT_FIRST,
				 .per_gpu = log->n_steps && log->steps[0].per_gpu };
	struct steady s;
	double *sorted;

	JL_TRY(make_steady(&s, log, arena, err));
	sorted = jl_arena_array(arena, s.n, sizeof(*sorted));
	JL_TRY(jl_got(sorted, err));
	memcpy(sorted, s.step_s, s.n * sizeof(*sorted));
	jl_stats_sort(sorted, s.n);
	find_typical(&v, &s);
	v.step_s_p10 = jl_stats_quantile(sorted, s.n, 0.1);
	v.step_s_p90 = jl_stats_quantile(sorted, s.n, 0.9);
	v.tokens_per_s = median_field(log, &s, offsetof(struct jl_run_step, tokens_per_s), arena);
	v.samples_per_s = median_field(log, &s, offsetof(struct jl_run_step, samples_per_s), arena);
	v.flopps = median_field(log, &s, offsetof(struct jl_run_step, flopps), arena);
	v.mfu_frac = median_field(log, &s, offsetof(struct jl_run_step, mfu_frac), arena);
	v.mem_B = median_field(log, &s, offsetof(struct jl_run_step, mem_B), arena);
	jl_runlog_spent(&v.spent, log);
	v.spent.step_s = v.step_s;
	find_blocks(&v, &s, arena);
	find_stalls(&v, &s, arena);
	find_change(&v, &s, arena);
	if (!v.n_findings)
		find_jitter(&v, &s);
	find_pauses(&v);
	if (job)
		against(&v);
	qsort(v.findings, v.n_findings, sizeof(*v.findings), by_loss);
	*ret_view = v;
	return JL_OK;
}

bool jl_run_is_bad(const struct jl_run_view *v)
{
	for (size_t i = 0; i < v->n_findings; i++)
		if (v->findings[i].loss_frac >= JL_RUN_LOSS_BAD)
			return true;
	return jl_verdict_is_bad(v->verdict);
}

/* ---- as JSON */

static const struct jl_field finding[] = {
	{ JL_FIELD(jl_run_finding, TEXT, key) },
	{ JL_FIELD(jl_run_finding, NUMBER, at_step) },
	{ JL_FIELD(jl_run_finding, NUMBER, to_step), .about = "of a slow block: its last step" },
	{ JL_FIELD(jl_run_finding, NUMBER, loss_frac), .about = "of the elapsed time" },
	{ JL_FIELD_AS(jl_run_finding, CHARS, what.en, "what") },
	{ JL_FIELD_AS(jl_run_finding, CHARS, todo.en, "todo") },
};
static const struct jl_schema finding_form = JL_SCHEMA("run_finding", jl_run_finding, finding);

static const struct jl_field spent[] = {
	{ JL_FIELD(jl_run_spent, NUMBER, elapsed_s) },      { JL_FIELD(jl_run_spent, NUMBER, useful_s) },
	{ JL_FIELD(jl_run_spent, NUMBER, checkpoint_s) },   { JL_FIELD(jl_run_spent, NUMBER, evaluation_s) },
	{ JL_FIELD(jl_run_spent, NUMBER, stall_s) },        { JL_FIELD(jl_run_spent, NUMBER, restart_s) },
	{ JL_FIELD(jl_run_spent, NUMBER, repeated_s) },     { JL_FIELD(jl_run_spent, NUMBER, warmup_s) },
	{ JL_FIELD(jl_run_spent, SIZE, n_checkpoints) },    { JL_FIELD(jl_run_spent, SIZE, n_evaluations) },
	{ JL_FIELD(jl_run_spent, SIZE, n_restarts) },       { JL_FIELD(jl_run_spent, SIZE, n_stalls) },
	{ JL_FIELD(jl_run_spent, NUMBER, interval_steps) }, { JL_FIELD(jl_run_spent, NUMBER, stall_each_s) },
};
static const struct jl_schema spent_form = JL_SCHEMA("run_spent", jl_run_spent, spent);

JL_TEXT_OF(trainer, jl_run_view, r->log->trainer);
JL_TEXT_OF(verdict, jl_run_view, jl_verdict_name(r->verdict));
JL_BOOL_OF(is_bad, jl_run_view, jl_run_is_bad(r));
JL_NUMBER_OF(n_lines, jl_run_view, (double)r->log->n_steps);
JL_NUMBER_OF(would_notice, jl_run_view, r->expect.notice > 1 ? 1 - 1 / r->expect.notice : NAN);

static const struct jl_field view[] = {
	{ JL_FIELD_TEXT_OF("trainer", trainer) },
	{ JL_FIELD_TEXT_OF("verdict", verdict), .about = "of the typical step; first: no model and system were named" },
	{ JL_FIELD_BOOL_OF("bad", is_bad) },
	{ JL_FIELD_NUMBER_OF("n_lines", n_lines) },
	{ JL_FIELD(jl_run_view, NUMBER, step_s) },
	{ JL_FIELD(jl_run_view, NUMBER, step_s_p10) },
	{ JL_FIELD(jl_run_view, NUMBER, step_s_p90) },
	{ JL_FIELD(jl_run_view, NUMBER, step_s_lo95) },
	{ JL_FIELD(jl_run_view, NUMBER, step_s_hi95), .about = "of the typical step, with its rounding" },
	{ JL_FIELD_AS(jl_run_view, NUMBER, off_frac, "line_off_frac"),
	  .about = "so far digits or whole seconds let one line be off" },
	{ JL_FIELD(jl_run_view, NUMBER, tokens_per_s) },
	{ JL_FIELD_AS(jl_run_view, BOOL, per_gpu, "tokens_of_one_gpu") },
	{ JL_FIELD(jl_run_view, NUMBER, samples_per_s) },
	{ JL_FIELD_AS(jl_run_view, NUMBER, flopps, "gpu_flopps") },
	{ JL_FIELD(jl_run_view, NUMBER, mfu_frac) },
	{ JL_FIELD(jl_run_view, NUMBER, mem_B) },
	{ JL_FIELD(jl_run_view, NUMBER, drift_frac) },
	{ JL_FIELD(jl_run_view, NUMBER, period_steps) },
	{ JL_FIELD_AS(jl_run_view, NUMBER, expect.lo, "expected_lo_s") },
	{ JL_FIELD_AS(jl_run_view, NUMBER, expect.value, "expected_s") },
	{ JL_FIELD_AS(jl_run_view, NUMBER, expect.hi, "expected_hi_s") },
	{ JL_FIELD_NUMBER_OF("would_notice_frac", would_notice) },
	{ JL_FIELD(jl_run_view, SUB, spent), .sub = &spent_form },
	{ JL_FIELD_MANY(jl_run_view, ARRAY, findings, n_findings, "findings", &finding_form) },
};
const struct jl_schema jl_run_fields = JL_SCHEMA("check-run", jl_run_view, view);
