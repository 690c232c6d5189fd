/* Charts: data first, drawing after. Drawn as SVG that is readable in light and dark, in print and without colour; described in words for
 * those who do not see it. */
#pragma once

#include "document/doc.h"

enum jl_chart_kind {
	JL_CHART_LINE,    /* with a band where points have intervals */
	JL_CHART_BARS,    /* one bar a category and series */
	JL_CHART_STACKED, /* parts of a whole */
	JL_CHART_SCATTER, /* points; `front` joins the best ones */
	JL_CHART_TREE,    /* a topology */
	JL_CHART_SPANS,   /* lanes with spans on one axis: a waterfall, a timeline */
	JL_N_CHART_KIND
};

struct jl_axis {
	const char *label;
	enum jl_kind kind; /* ticks are printed in it; JL_K_NUMBER takes `unit` */
	const char *unit;
	const char *of; /* of a count: what is counted ("GPU", "node"); stands in the markup, not in the title */
	bool log;
	bool binary;   /* bytes of memory */
	double lo, hi; /* NAN: from the data */
	double step;   /* between ticks; 0: chosen */
};

#define JL_AXIS(...) ((struct jl_axis){ .lo = NAN, .hi = NAN, __VA_ARGS__ }) /* its ends from the data */

struct jl_chart_point {
	double x, y;
	double lo, hi;     /* of y; NAN: none */
	const char *label; /* category of a bar; name of a point; NULL: none */
	bool front;        /* scatter: nothing is better in both */
	bool pick;         /* scatter: the one that is advised */
	bool own;          /* it does not come from where its series does, but from: */
	enum jl_origin origin;
	const char *source, *date; /* or NULL */
	const char *x_source;      /* scatter: where x comes from; NULL: not said */
	double cap;                /* bars, in the first series: the capacity; 0: not shown */
	double weight;             /* scatter: share that it has of something, the area of its mark; 0: all are alike */
	double sum_lo, sum_hi;     /* stacked, in the first series: interval of the whole; equal: none */
	double from;               /* spans: its beginning; y is its length, lo and hi are of its end, x is its lane */
};

struct jl_chart_series {
	const char *name;
	enum jl_origin origin;
	const char *source; /* or NULL */
	const struct jl_chart_point *points;
	size_t n_points;
	int look;         /* of a part that has its own in every chart; 0: by its place */
	bool dashed;      /* ideal, limit */
	bool only_points; /* measured ones: nothing is known between them */
	bool joined;      /* scatter: a line and no points, a limit */
};

struct jl_chart_lane {
	const char *name;
	struct jl_num num; /* at the lane's end; value NAN: none */
};

struct jl_tree_node {
	const char *name, *detail;
	const struct jl_num *num; /* the figure that `detail` shows; NULL: it shows none */
	const char *place;        /* where it is: stands to the right of the others; NULL: not said */
	double link_Bps;          /* of what joins those below it, for each: how wide it is drawn; 0: not said */
	const char *narrowest;    /* no other link of theirs is as narrow: said behind the detail; NULL: another is */
	const struct jl_tree_node *children;
	size_t n_children;
	enum jl_mark mark;
};

struct jl_chart {
	enum jl_chart_kind kind;
	const char *id, *title;
	struct jl_axis x, y;
	struct jl_chart_series *series;
	size_t n_series;
	enum jl_origin x_origin; /* scatter */
	const struct jl_tree_node *tree;
	const struct jl_chart_lane *lanes; /* spans */
	size_t n_lanes;
	bool no_legend; /* spans: lanes are labelled, so no legend */
	bool tabled;    /* no table beside it has its data: HTML adds one */
	struct {
		double x;
		const char *label; /* "break-even" */
	} marks[4];                /* vertical lines; of bars, at a value of theirs */
	size_t n_marks;
	const char *mark_source;
	const char *cap_label; /* of the points' caps: "memory of the card"; NULL: none */
};

/* True for a dashed line at one height: its name stands on it and not in the legend. */
bool jl_chart_is_level(const struct jl_chart_series *series);
/* A point's value with all that is known of it. */
struct jl_num jl_chart_num(const struct jl_chart *chart, const struct jl_chart_series *series,
			   const struct jl_chart_point *point);
/* Spans: where the farthest ends, intervals and marks included. */
double jl_chart_far(const struct jl_chart *chart);
/* The height of a stack: its parts' origin, or an estimate where they differ. */
struct jl_num jl_chart_total(const struct jl_chart *chart, size_t k);
/* "B/s", "samples/s", "GPU"; 1 where there is none. */
const char *jl_axis_unit(const struct jl_axis *axis);

/* The chart in words: its subject, the range of each series, where lines cross. */
void jl_chart_alt(struct jl_buf *out, const struct jl_chart *chart);
#define JL_SVG_WIDTH 720.0 /* of a report */
#define JL_SVG_WIDE  960.0 /* of the live page's column */
#define JL_SVG_SLIM  360.0 /* of a phone */
/* One <svg> element with <title> and <desc>, letters of one size on paper of any width; `id_prefix` keeps ids apart in one page. */
enum jl_status jl_chart_to_svg(const struct jl_chart *chart, const char *id_prefix, double width, struct jl_buf *out,
			       struct jl_err *err);
/* A few lines of characters. */
enum jl_status jl_chart_to_text(const struct jl_chart *chart, size_t width, struct jl_buf *out, struct jl_err *err);
/* The chart's data as CSV, one point a row, in SI units. */
void jl_chart_to_csv(const struct jl_chart *chart, struct jl_buf *out);
struct jl_json;
void jl_chart_to_json(const struct jl_chart *chart, struct jl_json *json); /* one value */
