/* One line on a terminal that says how far we are, how fast, and how long it will still take. Nothing at all when piped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct jl_progress_options {
	bool on;           /* the output is a terminal; set by the caller */
	size_t columns;    /* of the terminal; 0: 80 */
	const char *label; /* "fitting"; must outlive the display */
	double total;      /* how much there is to do; 0 or NAN: not known */
	double now_s;      /* monotonic clock at the start */
	void (*write)(void *ctx, const char *text, size_t len);
	void *ctx;
};

struct jl_progress {
	struct jl_progress_options options;
	double drawn_s;
	double fraction; /* shown last: it never goes back */
	bool visible;
};

void jl_progress_begin(struct jl_progress *progress, const struct jl_progress_options *options);

/* Call as often as you like: it draws at most ten times a second. */
void jl_progress_update(struct jl_progress *progress, double done, double now_s);

/* Wipe the line, so that what is printed next stands alone. Also before printing a remark in between. */
void jl_progress_clear(struct jl_progress *progress);
