/* Turns series of training steps into records. */
#include "import/series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const struct {
	const char *name;
	bool less_is_better;
	size_t offset; /* offset in struct jl_run_step */
} figures[] = {
	{ "step_s", true, offsetof(struct jl_run_step, step_s) },
	{ "samples_per_s", false, offsetof(struct jl_run_step, samples_per_s) },
	{ "tokens_per_s", false, offsetof(struct jl_run_step, tokens_per_s) },
	{ "gpu_flopps", false, offsetof(struct jl_run_step, flopps) },
};

#define N_FIGURES (JL_LEN(figures))

struct jl_run_step jl_step_unknown(const char *trainer)
{
	return (struct jl_run_step){ .trainer = trainer,
				     .label = "",
				     .step = NAN,
				     .epoch = NAN,
				     .n_total = NAN,
				     .batch = NAN,
				     .seq = NAN,
				     .at_s = NAN,
				     .step_s = NAN,
				     .tokens_per_s = NAN,
				     .samples_per_s = NAN,
				     .flopps = NAN,
				     .loss = NAN,
				     .mfu_frac = NAN,
				     .mem_B = NAN };
}

/* When the array is full, drops every second sample and doubles the stride: an even sample of the whole series. */
static bool figure_add(struct jl_figure *f, double value)
{
	if (!f->samples) {
		f->samples = jl_realloc(NULL, JL_SERIES_SAMPLES_MAX * sizeof(*f->samples));
		if (!f->samples)
			return false;
		f->n = f->n_kept = 0;
		f->stride = 1;
		f->sum = 0;
		f->min = f->max = value;
	}
	if (f->n % f->stride == 0) {
		if (f->n_kept == JL_SERIES_SAMPLES_MAX) {
			for (size_t i = 0; i < JL_SERIES_SAMPLES_MAX / 2; i++)
				f->samples[i] = f->samples[2 * i];
			f->n_kept = JL_SERIES_SAMPLES_MAX / 2;
			f->stride *= 2;
		}
		if (f->n % f->stride == 0)
			f->samples[f->n_kept++] = value;
	}
	f->n++;
	f->sum += value;
	f->min = value < f->min ? value : f->min;
	f->max = value > f->max ? value : f->max;
	return true;
}

static struct jl_stats figure_summary(const struct jl_figure *f, double *scratch)
{
	memcpy(scratch, f->samples, f->n_kept * sizeof(*scratch));
	struct jl_stats s = jl_summarize(scratch, f->n_kept);
	s.n = f->n;
	s.mean = f->sum / (double)f->n;
	s.min = f->min;
	s.max = f->max;
	return s;
}

static void emit(struct jl_importer *imp, struct jl_series_set *set, struct jl_series *s)
{
	struct jl_draft *d = &set->draft;
	double scratch[JL_SERIES_SAMPLES_MAX];

	jl_draft_begin(d, "train", s->backend, s->first_line, s->text);
	d->last_line = s->last_line;
	jl_draft_text(d, "label", s->label);
	jl_draft_number(d, "n_lines", (double)s->n_steps);
	jl_draft_number(d, "first_step", s->first_step);
	jl_draft_number(d, "last_step", s->last_step);
	jl_draft_number(d, "n_total_steps", s->n_total);
	if (!s->batch_varies)
		jl_draft_number(d, "batch", s->batch);
	for (size_t i = 0; i < N_FIGURES; i++) {
		if (!s->figures[i].n)
			continue;
		struct jl_stats summary = figure_summary(&s->figures[i], scratch);
		jl_draft_summary(d, figures[i].name, figures[i].less_is_better, &summary);
	}
	d->samples_s = s->figures[0].samples;
	d->n_samples = s->figures[0].n_kept;
	if (d->n_metrics)
		jl_importer_emit(imp, d);
}

static void release(struct jl_series *s)
{
	for (size_t i = 0; i < JL_SERIES_FIGURES_MAX; i++)
		jl_free(s->figures[i].samples);
	*s = (struct jl_series){ 0 };
}

/* Series of the step; else a free slot, or the least recently used one after finishing it. */
static struct jl_series *find(struct jl_importer *imp, struct jl_series_set *set, const struct jl_run_step *step)
{
	struct jl_series *oldest = &set->series[0];

	for (size_t i = 0; i < JL_SERIES_MAX; i++) {
		struct jl_series *s = &set->series[i];

		if (s->backend && strcmp(s->backend, step->trainer) == 0 &&
		    strncmp(s->label, step->label, sizeof(s->label) - 1) == 0 &&
		    (s->n_total == step->n_total || (isnan(s->n_total) && isnan(step->n_total))))
			return s;
		if (!s->backend || (oldest->backend && s->used < oldest->used))
			oldest = s;
	}
	if (oldest->backend) {
		emit(imp, set, oldest);
		release(oldest);
	}
	oldest->backend = step->trainer;
	(void)snprintf(oldest->label, sizeof(oldest->label), "%s", step->label);
	oldest->n_total = step->n_total;
	oldest->first_step = step->step;
	oldest->last_step = oldest->batch = NAN;
	return oldest;
}

void jl_series_add(struct jl_importer *imp, struct jl_series_set *set, const struct jl_run_step *step,
		   const struct jl_line *line)
{
	struct jl_series *s = find(imp, set, step);
	struct jl_err err;

	jl_importer_seen(imp, step->trainer);
	/* progress bar redrawn without progress */
	if (s->n_steps && step->step == s->last_step)
		return;
	struct jl_run_step told = *step;

	told.line = line->number;
	told.at_s = isnan(step->at_s) ? jl_line_time_s(line->text) : step->at_s;
	jl_importer_step(imp, &told);
	s->used = ++set->clock;
	if (!s->n_steps)
		s->first_line = line->number;
	s->n_steps++;
	s->last_line = line->number;
	s->last_step = step->step;
	if (isfinite(step->batch)) {
		s->batch_varies |= isfinite(s->batch) && s->batch != step->batch;
		s->batch = step->batch;
	}
	size_t n = line->len < sizeof(s->text) - 1 ? line->len : sizeof(s->text) - 1;
	memcpy(s->text, line->text, n);
	s->text[n] = '\0';
	for (size_t i = 0; i < N_FIGURES; i++) {
		double value;

		memcpy(&value, (const char *)step + figures[i].offset, sizeof(value));
		if (isfinite(value) && value > 0 && !figure_add(&s->figures[i], value))
			jl_importer_fail(imp, jl_fail_nomem(&err), &err);
	}
}

void jl_series_end(struct jl_importer *imp, struct jl_series_set *set)
{
	for (;;) {
		struct jl_series *first = NULL;

		/* finish the series in file order */
		for (size_t i = 0; i < JL_SERIES_MAX; i++)
			if (set->series[i].backend && (!first || set->series[i].first_line < first->first_line))
				first = &set->series[i];
		if (!first)
			return;
		emit(imp, set, first);
		release(first);
	}
}
