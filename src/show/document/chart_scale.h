/* Maps data to coordinates: round ticks, linear or logarithmic. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "document/chart.h"

#define JL_TICKS_MAX 16

struct jl_scale {
	double lo, hi;   /* data */
	double from, to; /* coordinates */
	bool log;
	double ticks[JL_TICKS_MAX];
	size_t n_ticks;
};

/* Covers lo..hi with ticks at 1, 2 or 5 times a power of ten (log: powers of ten or of two). */
struct jl_scale jl_scale_make(double lo, double hi, bool log, double from, double to, size_t n_wanted);
/* For non-binary units, logarithmic ticks at 1, 2, 5, 10 instead of powers of two. */
void jl_scale_decimal(struct jl_scale *scale);
/* Ticks at whole GiB, MiB ...: for memory. */
void jl_scale_binary(struct jl_scale *scale, size_t n_wanted);
/* Ticks at multiples of this, if not too many. */
void jl_scale_step(struct jl_scale *scale, double step);
double jl_scale_at(const struct jl_scale *scale, double value);

/* A tick as text: in the axis's kind, or plain. */
const char *jl_tick_text(char out[JL_UNITS_TEXT_MAX], const struct jl_axis *axis, double value);

/* Minimum and maximum of all points, with intervals. false: no data. */
bool jl_chart_range(const struct jl_chart *chart, double *ret_x_lo, double *ret_x_hi, double *ret_y_lo,
		    double *ret_y_hi);

/* Points without names as text (named ones are listed). */
void jl_chart_plot(struct jl_buf *out, const struct jl_chart *chart);
