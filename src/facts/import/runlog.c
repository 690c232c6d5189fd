/* Collects the steps of a training log and divides the elapsed time. */
#include "import/runlog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/stats.h"

#define CLOCK_LEAST_S 10.0 /* below this interval, timestamps in whole seconds are too coarse */
#define COARSE_FRAC   0.02 /* steps of fewer digits ("2s/it") are taken from timestamps, if there are any */
#define NEAR_STEPS    101  /* window of steps whose median is the typical step time */
#define STALL_TIMES   1.5
#define STALL_LEAST_S 0.5
#define WARMUP_MAX    10 /* maximum number of warm-up lines */
#define STEPS_EACH    3  /* cost of a median of NEAR_STEPS (base/budget.h) */

void jl_runlog_begin(struct jl_runlog_reader *r, struct jl_arena *arena)
{
	*r = (struct jl_runlog_reader){ .arena = arena,
					.log = { .n_gpus = NAN, .batch = NAN, .seq = NAN, .n_total = NAN } };
}

static void *grow(struct jl_arena *arena, const void *old, size_t n, size_t *io_room, size_t size, size_t most)
{
	const size_t room = *io_room ? 2 * *io_room : 1024;
	char *more = room > 2 * most ? NULL : jl_arena_array(arena, room, size);

	if (more && n)
		memcpy(more, old, n * size);
	*io_room = more ? room : *io_room;
	return more;
}

/* The series with the most steps is the run; other progress bars in a log (loading, evaluation) are shorter. A new series replaces a short old one.
 */
static bool drop_steps(struct jl_runlog *log)
{
	log->n_steps = log->n_pauses = 0; /* pauses refer to step indices */
	return false;
}

static bool is_other_series(struct jl_runlog_reader *r, const struct jl_run_step *s)
{
	if (!r->log.n_steps || (strcmp(r->log.trainer, s->trainer) == 0 && strcmp(r->label, s->label) == 0))
		return false;
	if (strcmp(s->trainer, "tqdm") == 0 || r->log.n_steps > 2)
		return true;
	return drop_steps(&r->log);
}

void jl_runlog_step(void *reader, const struct jl_run_step *s)
{
	struct jl_runlog_reader *r = reader;
	struct jl_runlog *log = &r->log;

	/* a line without a step beside a progress bar: adds values that the bar lacks */
	if (isnan(s->step) && !(s->step_s > 0)) {
		if (log->n_steps) {
			log->steps[log->n_steps - 1].tokens_per_s = s->tokens_per_s;
			log->steps[log->n_steps - 1].mem_B = s->mem_B;
			log->steps[log->n_steps - 1].per_gpu = s->per_gpu;
		}
		return;
	}
	/* a trainer's own lines are more informative than the bar beside them */
	if (log->n_steps && strcmp(log->trainer, "tqdm") == 0 && strcmp(s->trainer, "tqdm") != 0)
		(void)drop_steps(log);
	if (is_other_series(r, s))
		return;
	if (log->n_steps >= JL_RUNLOG_STEPS_MAX) {
		log->cut = true;
		return;
	}
	if (log->n_steps == r->room) {
		void *more = grow(r->arena, log->steps, log->n_steps, &r->room, sizeof(*s), JL_RUNLOG_STEPS_MAX);

		r->failed |= !more;
		if (!more)
			return;
		log->steps = more;
	}
	log->trainer = s->trainer;
	(void)snprintf(r->label, sizeof(r->label), "%s", s->label);
	log->steps[log->n_steps] = *s;
	log->steps[log->n_steps++].label = NULL;
	log->batch = isnan(s->batch) ? log->batch : s->batch;
	log->seq = s->seq > 0 ? s->seq : log->seq;
	log->n_total = isnan(s->n_total) ? log->n_total : s->n_total;
}

void jl_runlog_pause(void *reader, const struct jl_run_pause *p)
{
	struct jl_runlog_reader *r = reader;
	struct jl_runlog *log = &r->log;
	struct jl_run_pause *last = log->n_pauses ? &log->pauses[log->n_pauses - 1] : NULL;

	/* "saving" and "saved" are one checkpoint */
	if (last && last->kind == p->kind && last->after == log->n_steps) {
		if (isnan(last->took_s))
			last->took_s = isnan(p->took_s) ? p->at_s - last->at_s : p->took_s;
		return;
	}
	if (log->n_pauses >= JL_RUNLOG_PAUSES_MAX ||
	    !log->n_steps) /* before the first step there is no run to pause: the program's own text */
		return;
	if (log->n_pauses == r->pause_room) {
		void *more = grow(r->arena, log->pauses, log->n_pauses, &r->pause_room, sizeof(*p),
				  JL_RUNLOG_PAUSES_MAX);

		r->failed |= !more;
		if (!more)
			return;
		log->pauses = more;
	}
	log->pauses[log->n_pauses] = *p;
	log->pauses[log->n_pauses].after = log->n_steps;
	log->pauses[log->n_pauses++].step = log->n_steps ? log->steps[log->n_steps - 1].step : NAN;
}

/* Number of steps that one line represents. */
static double steps_of(const struct jl_runlog *log, size_t i)
{
	const double n = i ? log->steps[i].step - log->steps[i - 1].step : NAN;

	return n >= 1 ? n : 1;
}

bool jl_runlog_is_start(const struct jl_runlog *log, size_t i)
{
	return !i || log->steps[i].step <= log->steps[i - 1].step;
}

double jl_runlog_n_mean(const struct jl_runlog *log, size_t i)
{
	return log->steps[i].n_mean > 0 ? log->steps[i].n_mean : steps_of(log, i);
}

/* Step times from the timestamps of lines. They include pauses that a trainer's own value omits, and are the only source if the trainer prints
 * none. */
static void time_steps(struct jl_runlog *log)
{
	bool whole = true;

	for (size_t i = 0; i < log->n_steps; i++)
		whole = whole && !(fmod(log->steps[i].at_s, 1) > 0);
	log->clock_s = whole ? 1 : 0;
	for (size_t i = 0; i < log->n_steps; i++)
		if (log->steps[i].off_frac > COARSE_FRAC && log->steps[i].at_s >= 0)
			log->steps[i].step_s = NAN;
	for (size_t i = 0, from = 0; i < log->n_steps; i++) {
		struct jl_run_step *s = &log->steps[i];
		const double took_s = s->at_s - log->steps[from].at_s, n = s->step - log->steps[from].step;

		if (jl_runlog_is_start(log, i) || took_s < 0) { /* clock set back: no step time */
			from = i;
		} else if (!(s->step_s > 0) && took_s > (whole ? CLOCK_LEAST_S : 0)) {
			s->n_mean = n >= 1 ? n : (double)(i - from);
			s->step_s = took_s / s->n_mean;
			s->off_frac = log->clock_s / took_s;
			from = i;
		}
		if (!(s->step_s > 0) && s->batch > 0 && s->samples_per_s > 0)
			s->step_s = s->batch / s->samples_per_s;
	}
	for (size_t i = log->n_steps, timed = i; i-- > 0;)
		log->steps[i].timed = timed = log->steps[i].step_s > 0 ? i : timed;
}

/* A decrease of the step number without a message is a restart too. */
static void add_restarts(struct jl_runlog_reader *r)
{
	struct jl_runlog *log = &r->log;
	const size_t n = log->n_pauses;

	for (size_t i = 1, k = 0; i < log->n_steps; i++) {
		bool known = false;

		for (; k < n && log->pauses[k].after <= i; k++)
			if (log->pauses[k].kind == JL_PAUSE_RESTART && log->pauses[k].after == i) {
				log->pauses[k].step = log->steps[i].step;
				known = true;
			}
		if (known || !jl_runlog_is_start(log, i) || log->n_pauses == r->pause_room)
			continue;
		log->pauses[log->n_pauses++] = (struct jl_run_pause){ .kind = JL_PAUSE_RESTART,
								      .line = log->steps[i].line,
								      .after = i,
								      .step = log->steps[i].step,
								      .at_s = log->steps[i].at_s,
								      .took_s = NAN };
	}
}

enum jl_status jl_runlog_end(struct jl_runlog *ret_log, struct jl_runlog_reader *r, struct jl_err *err)
{
	if (r->failed)
		return jl_fail_nomem(err);
	if (!r->log.n_steps)
		return jl_fail(err, JL_E_PARSE, "no training steps in it");
	if (!r->pause_room)
		r->log.pauses = grow(r->arena, NULL, 0, &r->pause_room, sizeof(*r->log.pauses), JL_RUNLOG_PAUSES_MAX);
	time_steps(&r->log);
	add_restarts(r);
	*ret_log = r->log;
	return JL_OK;
}

/* Median of the steps near steps[i]. */
static double typical_step_s(const struct jl_runlog *log, size_t i)
{
	double near[NEAR_STEPS];
	const size_t half = NEAR_STEPS / 2;
	size_t n = 0;

	for (size_t k = i > half ? i - half : 0; k < log->n_steps && n < NEAR_STEPS; k++) {
		k = log->steps[k].timed;
		if (k < log->n_steps)
			near[n++] = log->steps[k].step_s;
	}
	return n ? jl_stats_median(near, n) : NAN;
}

static const struct jl_run_pause *pause_at(const struct jl_runlog *log, size_t i, size_t *io_from)
{
	const struct jl_run_pause *found = NULL;

	while (*io_from < log->n_pauses && log->pauses[*io_from].after + 1 < i)
		++*io_from;
	/* a line is printed after its steps: it includes a pause just before it or just after the previous line */
	for (size_t k = *io_from; k < log->n_pauses && log->pauses[k].after <= i + 1; k++)
		if (log->pauses[k].kind != JL_PAUSE_RESTART && (!found || log->pauses[k].after == i))
			found = &log->pauses[k];
	return found;
}

static void spend_restart(struct jl_run_spent *s, const struct jl_runlog *log, size_t i)
{
	const struct jl_run_step *now = &log->steps[i], *last = &log->steps[i - 1];

	s->n_restarts++;
	s->restart_s += now->at_s - last->at_s - (now->step_s > 0 ? now->step_s : 0);
	if (last->step >= now->step)
		s->repeated_s += (last->step - now->step + 1) * s->step_s;
}

void jl_runlog_spent(struct jl_run_spent *ret_spent, const struct jl_runlog *log)
{
	struct jl_run_spent s = { .step_s = NAN, .interval_steps = NAN, .stall_each_s = NAN };
	double checkpoint_first = NAN, checkpoint_last = NAN;
	size_t from = 0, since_start = 0;

	s.step_s = log->n_steps ? typical_step_s(log, log->n_steps / 2) : NAN;
	for (size_t i = 0; i < log->n_steps && !jl_budget_spend(STEPS_EACH); i++) {
		const double n = steps_of(log, i), typical_s = typical_step_s(log, i);
		const bool start = jl_runlog_is_start(log, i);
		const double clock_s = start ? NAN : log->steps[i].at_s - log->steps[i - 1].at_s;
		double took_s = n * (log->steps[i].step_s > 0 ? log->steps[i].step_s : typical_s);
		const struct jl_run_pause *pause = pause_at(log, i, &from);

		since_start = start ? 0 : since_start + 1;
		if (start && i)
			spend_restart(&s, log, i);
		if (clock_s > took_s + STALL_LEAST_S + log->clock_s)
			took_s = clock_s;
		if (pause && pause->after == i && pause->took_s > took_s - n * typical_s)
			took_s = n * typical_s + pause->took_s;
		const double over_s = fmax(0, took_s - n * typical_s);
		/* the mean of many steps is steadier than each, and its digits may be few */
		const bool stalled = over_s > ((STALL_TIMES - 1) * sqrt(n) + log->steps[i].off_frac * n) * typical_s;
		s.useful_s += took_s - over_s;
		if (pause)
			*(pause->kind == JL_PAUSE_CHECKPOINT ? &s.checkpoint_s : &s.evaluation_s) += over_s;
		else if (since_start < WARMUP_MAX && took_s > STALL_TIMES * n * typical_s)
			s.warmup_s += over_s;
		else if (stalled)
			s.stall_s += over_s;
		else
			s.useful_s += over_s;
		s.n_stalls += !pause && since_start >= WARMUP_MAX && stalled;
	}
	for (size_t k = 0; k < log->n_pauses; k++) {
		if (log->pauses[k].kind == JL_PAUSE_EVALUATION)
			s.n_evaluations++;
		if (log->pauses[k].kind != JL_PAUSE_CHECKPOINT)
			continue;
		s.n_checkpoints++;
		checkpoint_first = isnan(checkpoint_first) ? log->pauses[k].step : checkpoint_first;
		checkpoint_last = log->pauses[k].step;
	}
	if (s.n_checkpoints) {
		s.stall_each_s = s.checkpoint_s / (double)s.n_checkpoints;
		if (s.n_checkpoints > 1)
			s.interval_steps = (checkpoint_last - checkpoint_first) / (double)(s.n_checkpoints - 1);
	}
	s.useful_s -= s.repeated_s;
	s.elapsed_s = s.useful_s + s.checkpoint_s + s.evaluation_s + s.stall_s + s.warmup_s + s.repeated_s +
		      (isnan(s.restart_s) ? 0 : s.restart_s);
	*ret_spent = s;
}
