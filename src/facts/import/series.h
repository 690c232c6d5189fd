/* A training log is a long series of steps: one record per series of any length, in bounded memory. */
#pragma once

#include "import/format.h"
#include "import/runlog.h"

#define JL_SERIES_SAMPLES_MAX 4096 /* samples kept per value; longer series keep every 2nd, 4th, 8th ... */
#define JL_SERIES_FIGURES_MAX 6
#define JL_SERIES_MAX         8 /* maximum number of series open at the same time */

/* A step with all values unknown; `trainer`: string literal. */
struct jl_run_step jl_step_unknown(const char *trainer);

struct jl_figure {
	double *samples;
	size_t n, n_kept, stride;
	double sum, min, max;
};

struct jl_series {
	const char *backend; /* NULL: free */
	char label[64];
	size_t first_line, last_line, used; /* `used`: time of the last addition */
	size_t n_steps;
	double first_step, last_step, n_total, batch;
	bool batch_varies;
	char text[400]; /* text of the newest line */
	struct jl_figure figures[JL_SERIES_FIGURES_MAX];
};

struct jl_series_set {
	struct jl_series series[JL_SERIES_MAX];
	size_t clock;
	struct jl_draft draft;
};

void jl_series_add(struct jl_importer *imp, struct jl_series_set *set, const struct jl_run_step *step,
		   const struct jl_line *line);
/* Makes the records and frees the memory. */
void jl_series_end(struct jl_importer *imp, struct jl_series_set *set);

/* Training logs with one line per step: one table row per trainer. Private to src/facts/import. False: no such line. */
bool jl_log_step(struct jl_run_step *ret_step, const struct jl_line *line);
/* A checkpoint, an evaluation or a start from a checkpoint, of any trainer. */
bool jl_log_pause(struct jl_run_pause *ret_pause, const struct jl_line *line);

/* User-given line format: 'step {step} loss {*} {step_s} s'.
 *
 * Text matches itself, a blank any number of blanks, {*} anything up to the following text, and {name} a number. Names give quantity and unit:
 * step_s, step_ms, step_us, steps_per_s, it_per_s, samples_per_s, tokens_per_s, tflops (per GPU), step, epoch, batch, loss. Matches anywhere in a
 * line, without backtracking, so the time per line is bounded. */
#define JL_PATTERN_PIECES_MAX 32
#define JL_PATTERN_TEXT_MAX   256
#define JL_PATTERN_LINE_MAX   4096 /* lines of training logs are shorter */

struct jl_import_pattern {
	struct piece {
		char text[JL_PATTERN_TEXT_MAX]; /* literal text; empty: see `field` */
		int field;                      /* -1: literal, 0: anything, from 1: a number */
	} pieces[JL_PATTERN_PIECES_MAX];
	size_t n;
};

enum jl_status jl_import_pattern_compile(struct jl_import_pattern *ret_pattern, const char *text, struct jl_err *err);
bool jl_import_pattern_match(const struct jl_import_pattern *pattern, const struct jl_line *line,
			     struct jl_run_step *ret_step);
