/* A training log is a long series of steps: one record comes of each series, whatever its length, in bounded memory. */
#pragma once

#include "import/format.h"

#define JL_SERIES_SAMPLES_MAX 4096 /* kept of each figure; of longer series every 2nd, 4th, 8th ... */
#define JL_SERIES_FIGURES_MAX 6
#define JL_SERIES_MAX         8 /* open at the same time */

/* Figures of one log line; NAN: none. */
struct jl_step {
	const char *backend; /* of the tool; a literal */
	const char *label;   /* tells series of one tool apart; "" where there is one */
	double step, n_total, batch, epoch;
	double step_s, samples_per_s, tokens_per_s, flopps; /* flopps: of one GPU */
	double at_s, mfu_frac, mem_B, loss;                 /* as in struct jl_run_step */
	bool per_gpu;
};

struct jl_step jl_step_unknown(const char *backend);

struct jl_figure {
	double *samples;
	size_t n, n_kept, stride;
	double sum, min, max;
};

struct jl_series {
	const char *backend; /* NULL: free */
	char label[64];
	size_t first_line, last_line, used; /* `used`: when it was last added to */
	size_t n_steps;
	double first_step, last_step, n_total, batch;
	bool batch_varies;
	char text[400]; /* the newest line */
	struct jl_figure figures[JL_SERIES_FIGURES_MAX];
};

struct jl_series_set {
	struct jl_series series[JL_SERIES_MAX];
	size_t clock;
	struct jl_draft draft;
};

void jl_series_add(struct jl_importer *imp, struct jl_series_set *set, const struct jl_step *step,
		   const struct jl_line *line);
/* Makes the records and lets go of the memory. */
void jl_series_end(struct jl_importer *imp, struct jl_series_set *set);
