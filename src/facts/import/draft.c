#include <math.h>
#include <stdlib.h>

#include "import/format.h"

void jl_draft_begin(struct jl_draft *draft, const char *kind, const char *backend, size_t line, const char *text)
{
	/* only the heads: the arrays are filled as they are used */
	draft->kind = kind;
	draft->backend = backend;
	draft->time_s = NAN;
	draft->line = draft->last_line = line;
	draft->text = text;
	draft->n_params = draft->n_metrics = draft->n_versions = draft->n_samples = 0;
	draft->samples_s = NULL;
	draft->second = false;
}

void jl_draft_number(struct jl_draft *draft, const char *key, double value)
{
	if (isfinite(value) && draft->n_params < JL_DRAFT_PARAMS_MAX)
		draft->params[draft->n_params++] = (struct jl_record_item){ .key = key, .number = value };
}

void jl_draft_text(struct jl_draft *draft, const char *key, const char *text)
{
	if (text && *text && draft->n_params < JL_DRAFT_PARAMS_MAX)
		draft->params[draft->n_params++] = (struct jl_record_item){ .key = key, .text = text };
}

void jl_draft_version(struct jl_draft *draft, const char *key, const char *text)
{
	if (text && *text && draft->n_versions < sizeof(draft->versions) / sizeof(*draft->versions))
		draft->versions[draft->n_versions++] = (struct jl_record_item){ .key = key, .text = text };
}

void jl_draft_summary(struct jl_draft *draft, const char *name, bool less_is_better, const struct jl_summary *summary)
{
	if (isfinite(summary->median) && summary->median > 0 && draft->n_metrics < JL_DRAFT_METRICS_MAX)
		draft->metrics[draft->n_metrics++] =
			(struct jl_record_metric){ .name = name, .less_is_better = less_is_better, .value = *summary };
}

void jl_draft_metric(struct jl_draft *draft, const char *name, bool less_is_better, double value)
{
	struct jl_summary summary = jl_summary_of(value);

	jl_draft_summary(draft, name, less_is_better, &summary);
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct jl_summary jl_summarize(double *samples, size_t n)
{
	struct jl_summary s = jl_summary_unknown();
	double sum = 0, spread;

	qsort(samples, n, sizeof(*samples), compare);
	for (size_t i = 0; i < n; i++)
		sum += samples[i];
	s.n = n;
	s.mean = sum / (double)n;
	s.min = samples[0];
	s.max = samples[n - 1];
	s.median = n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
	s.p95 = samples[(size_t)ceil(0.95 * (double)n) - 1];
	/* order statistics: the ranks that enclose the true median with 95 %; six samples are the fewest that can */
	spread = 1.96 * sqrt((double)n) / 2;
	if (n >= 6) {
		double lo = floor((double)n / 2 - spread), hi = ceil((double)n / 2 + spread);

		s.lo95 = samples[lo < 0 ? 0 : (size_t)lo];
		s.hi95 = samples[hi > (double)(n - 1) ? n - 1 : (size_t)hi];
	}
	return s;
}
