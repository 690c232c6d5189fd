#include <math.h>

#include "record/draft.h"

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
		draft->params[draft->n_params++] = (struct jl_record_item){ .key = key, .text = text, .number = NAN };
}

void jl_draft_version(struct jl_draft *draft, const char *key, const char *text)
{
	if (text && *text && draft->n_versions < JL_LEN(draft->versions))
		draft->versions[draft->n_versions++] =
			(struct jl_record_item){ .key = key, .text = text, .number = NAN };
}

void jl_draft_summary(struct jl_draft *draft, const char *name, bool less_is_better, const struct jl_stats *summary)
{
	if (isfinite(summary->median) && draft->n_metrics < JL_DRAFT_METRICS_MAX)
		draft->metrics[draft->n_metrics++] =
			(struct jl_record_metric){ .name = name, .less_is_better = less_is_better, .value = *summary };
}

void jl_draft_metric(struct jl_draft *draft, const char *name, bool less_is_better, double value)
{
	struct jl_stats summary = jl_summary_of(value);

	if (value > 0)
		jl_draft_summary(draft, name, less_is_better, &summary);
}

struct jl_record jl_draft_record(const struct jl_draft *draft)
{
	return (struct jl_record){ .kind = draft->kind,
				   .backend = draft->backend,
				   .time_s = draft->time_s,
				   .params = draft->params,
				   .n_params = draft->n_params,
				   .metrics = draft->metrics,
				   .n_metrics = draft->n_metrics,
				   .versions = draft->versions,
				   .n_versions = draft->n_versions,
				   .samples_s = draft->samples_s,
				   .n_samples = draft->n_samples,
				   .noise = jl_record_noise_unknown() };
}
