/* One terminal line with progress, speed and remaining time. Prints nothing if the output is not a terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct jl_progress_options {
	bool on;           /* output is a terminal; set by the caller */
	size_t columns;    /* terminal width; 0: 80 */
	const char *label; /* "fitting"; must outlive the display */
	double total;      /* total work; 0 or NAN: unknown */
	double now_s;      /* monotonic clock, s */
	void (*write)(void *ctx, const char *text, size_t len);
	void *ctx;
};

struct jl_progress {
	struct jl_progress_options options;
	double drawn_s;
	double fraction; /* last fraction shown; never decreases */
	bool visible;
};

void jl_progress_begin(struct jl_progress *progress, const struct jl_progress_options *options);

/* May be called at any rate: draws at most ten times a second. */
void jl_progress_update(struct jl_progress *progress, double done, double now_s);

/* Erases the line. Call it at the end and before other output. */
void jl_progress_clear(struct jl_progress *progress);
