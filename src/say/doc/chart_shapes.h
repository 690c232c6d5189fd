/* The charts that are no plots of x against y. */
#pragma once

#include "doc/chart.h"

#define JL_SVG_WIDTH 720.0

/* <svg> with its title and description in words. */
void jl_svg_open(struct jl_buf *out, const struct jl_chart *chart, const char *prefix, double height);

/* <g data-origin= data-unit= data-value= data-source=>: a figure that is drawn; all within it is of this figure. What a pointer reads
 * of it: "before · at: 3.1 GB/s, estimated, docs/METHOD.md". */
void jl_svg_num_open(struct jl_buf *out, const struct jl_num *num, const struct jl_axis *axis, const char *before,
		     const char *at);

void jl_svg_bars(const struct jl_chart *chart, const char *prefix, struct jl_buf *out); /* also stacked */
void jl_svg_heat(const struct jl_chart *chart, const char *prefix, struct jl_buf *out);
void jl_svg_tree(const struct jl_chart *chart, const char *prefix, struct jl_buf *out);
