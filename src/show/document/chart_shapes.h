/* Internal: common drawing surface, and charts other than x-y plots. */
#pragma once

#include "document/chart.h"

/* Letters keep their size on a phone: what is drawn for one is another drawing, not the same one smaller. */
#define JL_SVG_LETTER  7.2   /* of one column of text, at most */
#define JL_SVG_LEFT    104.0 /* where plots begin at least: charts below each other begin alike */
#define JL_SVG_VALUE   116.0 /* what figures behind bars have at least, for the same reason */
#define JL_SVG_STYLES  6     /* shapes, dashes, hatches */
#define JL_SVG_COLOURS 12

struct jl_paper {
	struct jl_buf *out;
	const struct jl_chart *chart;
	const char *prefix; /* of ids */
	double width;
};

static inline bool jl_paper_is_narrow(const struct jl_paper *p)
{
	return p->width < 500;
}

/* Opens <svg> with title and description. */
void jl_svg_open(const struct jl_paper *p, double height);

/* <g data-origin= data-unit= data-value= data-source=>: a figure; everything inside belongs to it. Its tooltip: "before · at: 3.1 GB/s,
 * estimated, docs/METHOD.md". */
void jl_svg_num_open(struct jl_buf *out, const struct jl_num *num, const struct jl_axis *axis, const char *before,
		     const char *at);
void jl_svg_text(struct jl_buf *out, double x, double y, const char *anchor, const char *class, const char *text,
		 const char *data);
/* Marks ticks as such, with the axis's unit: they are not figures. */
void jl_svg_tick(struct jl_buf *out, const struct jl_axis *axis, double value, double x, double y, const char *anchor);
/* "algbw (GB/s)" */
void jl_svg_axis_title(struct jl_buf *out, const struct jl_axis *axis, double x, double y, const char *anchor);
/* Legend; returns its end. `draw` false: measured only. */
typedef void jl_svg_sign(const struct jl_paper *p, size_t series, double x, double y);
double jl_svg_legend(const struct jl_paper *p, jl_svg_sign *sign, bool draw);

void jl_svg_bars(const struct jl_paper *p); /* also stacked, and spans */
void jl_svg_tree(const struct jl_paper *p);
