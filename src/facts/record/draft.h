/* A record in the making: what was measured and how, one thing after another. */
#pragma once

#include "record/record.h"

/* Texts must live as long as the record that is made of it. */
#define JL_DRAFT_PARAMS_MAX  200
#define JL_DRAFT_METRICS_MAX 32

struct jl_draft {
	const char *kind, *backend;
	double time_s; /* NAN: not known */
	/* of what is read from a log: where, the line itself, the second of two records of one line */
	size_t line, last_line;
	const char *text;
	bool second;
	struct jl_record_item params[JL_DRAFT_PARAMS_MAX];
	size_t n_params;
	struct jl_record_metric metrics[JL_DRAFT_METRICS_MAX];
	size_t n_metrics;
	struct jl_record_item versions[16];
	size_t n_versions;
	const double *samples_s;
	size_t n_samples;
};

void jl_draft_begin(struct jl_draft *draft, const char *kind, const char *backend, size_t line, const char *text);
void jl_draft_number(struct jl_draft *draft, const char *key, double value);   /* NAN: left out */
void jl_draft_text(struct jl_draft *draft, const char *key, const char *text); /* NULL: left out */
void jl_draft_version(struct jl_draft *draft, const char *key, const char *text);
/* Left out where the value is not a positive number. */
void jl_draft_metric(struct jl_draft *draft, const char *name, bool less_is_better, double value);
void jl_draft_summary(struct jl_draft *draft, const char *name, bool less_is_better, const struct jl_stats *summary);
/* What was put together so far; it points into the draft. */
struct jl_record jl_draft_record(const struct jl_draft *draft);
