/* Charts: data, separate from drawing. SVG readable in light and dark, in print and without colour; described in words for screen readers. */
#pragma once

#include "document/doc.h"

enum jl_chart_kind {
	JL_CHART_LINE,    /* with a band for intervals */
	JL_CHART_BARS,    /* one bar per category and series */
	JL_CHART_STACKED, /* parts of a whole */
	JL_CHART_SCATTER, /* points; `front` connects the best ones */
	JL_CHART_TREE,    /* a topology */
	JL_CHART_SPANS,   /* lanes of spans on one axis: a waterfall, a timeline */
	JL_N_CHART_KIND
};

struct jl_axis {
	const char *label;
	enum jl_kind kind; /* tick format; JL_K_NUMBER takes `unit` */
	const char *unit;
	const char *of; /* counted object ("GPU", "node"); in the markup, not in the title */
	bool log;
	bool binary;   /* bytes of memory */
	double lo, hi; /* NAN: by the data */
	double step;   /* tick distance; 0: automatic */
};

#define JL_AXIS(...) ((struct jl_axis){ .lo = NAN, .hi = NAN, __VA_ARGS__ }) /* range by the data */

struct jl_chart_point {
	double x, y;
	double lo, hi;     /* of y; NAN: none */
	const char *label; /* category of a bar; name of a point; NULL: none */
	bool front;        /* scatter: Pareto-optimal */
	bool pick;         /* scatter: recommended */
	bool own;          /* own origin, other than the series', given by: */
	enum jl_origin origin;
	const char *source, *date; /* or NULL */
	const char *x_source;      /* scatter: source of x; NULL: not stated */
	double cap;                /* bars, first series: capacity; 0: not shown */
	double weight;             /* scatter: share, as area of the mark; 0: equal */
	double sum_lo, sum_hi;     /* stacked, first series: interval of the total; equal: none */
	double from;               /* spans: start; y is the length, lo and hi are of the end, x is the lane */
};

struct jl_chart_series {
	const char *name;
	enum jl_origin origin;
	const char *source; /* or NULL */
	const struct jl_chart_point *points;
	size_t n_points;
	int look;         /* fixed style of a part in every chart; 0: by index */
	bool dashed;      /* ideal, limit */
	bool only_points; /* measured points: no line between them */
	bool joined;      /* scatter: a line without points, a limit */
};

struct jl_chart_lane {
	const char *name;
	struct jl_num num; /* at the lane's end; value NAN: none */
};

struct jl_tree_node {
	const char *name, *detail;
	const struct jl_num *num; /* the figure shown by `detail`; NULL: none */
	const char *place;        /* location: shown right; NULL: not stated */
	double link_Bps;          /* rate of the link to its children, each: line width; 0: unknown */
	const char *narrowest;    /* set on their narrowest link: shown after the detail; NULL: another is narrower */
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
	bool no_legend; /* spans: lanes are labelled */
	bool tabled;    /* data shown in an adjacent table; else HTML adds one */
	struct {
		double x;
		const char *label; /* "break-even" */
	} marks[4];                /* vertical lines; for bars, at a value */
	size_t n_marks;
	const char *mark_source;
	const char *cap_label; /* label of the points' caps: "memory of the card"; NULL: none */
};

/* True for a dashed line at one height: its name stands on it and not in the legend. */
bool jl_chart_is_level(const struct jl_chart_series *series);
/* A point's value with all that is known of it. */
struct jl_num jl_chart_num(const struct jl_chart *chart, const struct jl_chart_series *series,
			   const struct jl_chart_point *point);
/* Spans: maximum end, including intervals and marks. */
double jl_chart_far(const struct jl_chart *chart);
/* Total of a stack: common origin of its parts, else estimated. */
struct jl_num jl_chart_total(const struct jl_chart *chart, size_t k);
/* "B/s", "samples/s", "GPU"; 1 without a unit. */
const char *jl_axis_unit(const struct jl_axis *axis);

/* The chart in words: subject, range of each series, crossings. */
void jl_chart_alt(struct jl_buf *out, const struct jl_chart *chart);
#define JL_SVG_WIDTH 720.0 /* of a report */
#define JL_SVG_WIDE  960.0 /* of the live page's column */
#define JL_SVG_SLIM  360.0 /* of a phone */
/* One <svg> element with <title> and <desc>, letters of one size on paper of any width; `id_prefix` keeps ids apart in one page. */
enum jl_status jl_chart_to_svg(const struct jl_chart *chart, const char *id_prefix, double width, struct jl_buf *out,
			       struct jl_err *err);
/* A few lines of characters. */
enum jl_status jl_chart_to_text(const struct jl_chart *chart, size_t width, struct jl_buf *out, struct jl_err *err);
/* The data as CSV, one point per row, in SI units. */
void jl_chart_to_csv(const struct jl_chart *chart, struct jl_buf *out);
struct jl_json;
void jl_chart_to_json(const struct jl_chart *chart, struct jl_json *json); /* one value */
