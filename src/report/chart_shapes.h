/* The charts that are no plots of x against y. */
#ifndef JL_REPORT_CHART_SHAPES_H
#define JL_REPORT_CHART_SHAPES_H

#include "report/chart.h"

#define JL_SVG_WIDTH 720.0

/* <svg> with its title and description in words. */
void jl_svg_open(struct jl_buf *out, const struct jl_chart *chart, const char *prefix, double height);

/* <tag data-origin= data-unit= data-value=>: a figure that is drawn. */
void jl_svg_value_open(struct jl_buf *out, const char *tag, enum jl_origin origin, const struct jl_axis *axis,
		       double value);

void jl_svg_bars(const struct jl_chart *chart, const char *prefix, struct jl_buf *out); /* also stacked */
void jl_svg_heat(const struct jl_chart *chart, const char *prefix, struct jl_buf *out);
void jl_svg_tree(const struct jl_chart *chart, const char *prefix, struct jl_buf *out);

#endif
