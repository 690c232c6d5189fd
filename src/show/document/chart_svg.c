/* Charts as SVG. Series differ by colour, dash and point shape: readable in grey. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "document/chart_scale.h"
#include "document/chart_shapes.h"
#include "document/escape.h"

#define HEIGHT        210.0 /* of what is between the axes */
#define RIGHT         18.0
#define BOTTOM        48.0
#define ROW           20.0 /* of the legend */
#define LEGEND_LETTER 6.5  /* as most letters are: names stand at even distances */
#define N_STYLE       JL_SVG_STYLES

static const char *const dashes[N_STYLE] = { "", "7 3", "2 3", "9 3 2 3", "12 4", "4 2" };

/* Position of a plot. */
struct frame {
	const struct jl_paper *p;
	struct jl_scale x, y;
	double left, right, top, bottom;
};

struct box {
	double x0, y0, x1, y1;
};

/* The shape of a point: circle, square, triangle, diamond, cross, ring. */
static void marker(struct jl_buf *out, size_t style, double x, double y, double r)
{
	const size_t k = style % N_STYLE;
	char fill[32];

	snprintf(fill, sizeof fill, "var(--s%zu)", k + 1);
	switch (k) {
	case 0: jl_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>", x, y, r, fill); break;
	case 1:
		jl_buf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>", x - r,
			      y - r, 2 * r, 2 * r, fill);
		break;
	case 2:
		jl_buf_printf(out, "<path d=\"M%.1f %.1fl%.1f %.1fh%.1fz\" fill=\"%s\"/>", x, y - r * 1.2, r * 1.2,
			      2.1 * r, -2.4 * r, fill);
		break;
	case 3:
		jl_buf_printf(out, "<path d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\" fill=\"%s\"/>", x,
			      y - r * 1.3, r * 1.3, r * 1.3, -r * 1.3, r * 1.3, -r * 1.3, -r * 1.3, fill);
		break;
	case 4:
		jl_buf_printf(out,
			      "<path d=\"M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f\" stroke=\"%s\" stroke-width=\"2\"/>",
			      x - r, y - r, 2 * r, 2 * r, -2 * r, -2 * r, 2 * r, fill);
		break;
	default:
		jl_buf_printf(
			out,
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>",
			x, y, r, fill);
	}
}

void jl_svg_text(struct jl_buf *out, double x, double y, const char *anchor, const char *class, const char *text,
		 const char *data)
{
	jl_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s%s%s %s>", x, y, anchor,
		      class ? " class=\"" : "", class ? class : "", class ? "\"" : "", data);
	jl_html_escape(out, text);
	jl_buf_puts(out, "</text>");
}

/* True for a series whose name stands on it: levels and limits. */
static bool has_name_on_it(const struct jl_chart *c, const struct jl_chart_series *s)
{
	return jl_chart_is_level(s) || (c->kind == JL_CHART_SCATTER && s->joined);
}

double jl_svg_legend(const struct jl_paper *p, jl_svg_sign *sign, bool draw)
{
	const struct jl_chart *c = p->chart;
	double x = 0, y = 16; /* Korean letters reach 15 above their line */
	size_t n_signs = 0;

	for (size_t i = 0; i < c->n_series; i++)
		n_signs += !has_name_on_it(c, &c->series[i]);
	if (c->no_legend || (n_signs < 2 && !c->cap_label))
		return 6;
	for (size_t i = 0; i < c->n_series + (c->cap_label != NULL); i++) {
		const char *name = i < c->n_series ? c->series[i].name : c->cap_label;
		const double w = 46 + LEGEND_LETTER * (double)jl_utf8_width(name ? name : "");

		if (i < c->n_series && (!c->series[i].n_points || has_name_on_it(c, &c->series[i])))
			continue;
		if (x + w > p->width && x > 0) {
			x = 0;
			y += ROW;
		}
		if (draw && i < c->n_series)
			sign(p, i, x, y);
		else if (draw)
			jl_buf_printf(p->out, "<path class=\"cap\" d=\"M%.1f %.1fv14\"/>", x + 12, y - 11);
		if (draw)
			jl_svg_text(p->out, x + 30, y, "start", NULL, name ? name : "", "data-name=\"\"");
		x += w;
	}
	return y + 14;
}

static void line_sign(const struct jl_paper *p, size_t i, double x, double y)
{
	const struct jl_chart_series *s = &p->chart->series[i];
	const size_t k = i % N_STYLE;

	if (!s->only_points)
		jl_buf_printf(
			p->out,
			"<path d=\"M%.1f %.1fh24\" stroke=\"var(--s%zu)\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>",
			x, y - 4, k + 1, s->dashed ? "4 4" : dashes[k]);
	if (!s->dashed && !s->joined)
		marker(p->out, i, x + 12, y - 4, 3.5);
}

void jl_svg_axis_title(struct jl_buf *out, const struct jl_axis *a, double x, double y, const char *anchor)
{
	const char *log = a->log ? JL_(", logarithmic") : "";

	if (!a->label)
		return;
	jl_buf_printf(out, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	jl_html_escape(out, a->label);
	if (a->unit || *log) {
		jl_buf_puts(out, " (");
		jl_html_escape(out, a->unit ? jl_unit_localized(a->unit, NULL) : "");
		jl_html_escape(out, a->unit || !*log ? log : log + 2);
		jl_buf_puts(out, ")");
	}
	jl_buf_puts(out, "</text>\n");
}

void jl_svg_tick(struct jl_buf *out, const struct jl_axis *axis, double value, double x, double y, const char *anchor)
{
	jl_buf_printf(out,
		      "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" data-origin=\"scale\" data-unit=\"",
		      x, y, anchor);
	jl_html_escape(out, jl_axis_unit(axis));
	jl_buf_printf(out, "\" data-value=\"%.9g\">", value);
	jl_html_escape(out, jl_tick_text(JL_TXT, axis, value));
	jl_buf_puts(out, "</text>\n");
}

static void y_axis(const struct frame *f)
{
	struct jl_buf *out = f->p->out;

	for (size_t i = 0; i < f->y.n_ticks; i++) {
		const double at = jl_scale_at(&f->y, f->y.ticks[i]);

		jl_buf_printf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", f->left, at, f->right);
		jl_svg_tick(out, &f->p->chart->y, f->y.ticks[i], f->left - 8, at + 4, "end");
	}
	jl_svg_axis_title(out, &f->p->chart->y, 0, f->top - 8, "start");
}

/* A tick whose label would overlap the previous one has no label. */
static void x_axis(const struct frame *f)
{
	const struct jl_axis *axis = &f->p->chart->x;
	struct jl_buf *out = f->p->out;
	double free_from = 0;

	jl_buf_printf(out, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", f->left, f->bottom, f->right);
	for (size_t i = 0; i < f->x.n_ticks; i++) {
		const double at = jl_scale_at(&f->x, f->x.ticks[i]);
		const double half = JL_SVG_LETTER / 2 *
				    (double)jl_utf8_width(jl_tick_text(JL_TXT, axis, f->x.ticks[i]));

		jl_buf_printf(out, "<path class=\"axis\" d=\"M%.1f %.1fv4\"/>", at, f->bottom);
		if (at - half < free_from)
			continue;
		jl_svg_tick(out, axis, f->x.ticks[i], fmin(at, f->p->width - half), f->bottom + 18, "middle");
		free_from = at + half + 4;
	}
	jl_svg_axis_title(out, axis, (f->left + f->right) / 2, f->bottom + 38, "middle");
}

/* The point's group, with its tooltip. */
static void point_open(struct jl_buf *out, const struct jl_chart *c, const struct jl_chart_series *s,
		       const struct jl_chart_point *p)
{
	const struct jl_num y = jl_chart_num(c, s, p), x = { .value = p->x,
							     .kind = c->x.kind,
							     .unit = c->x.unit,
							     .lo = NAN,
							     .hi = NAN,
							     .origin = c->x_origin,
							     .source = p->x_source };
	struct jl_buf at;

	jl_buf_init(&at, 4096);
	if (c->kind == JL_CHART_SCATTER) { /* both figures are facts */
		jl_buf_printf(&at, "%s%s%s ", p->label ? p->label : "", p->label ? " · " : "",
			      c->x.label ? c->x.label : "");
		jl_num_tell(&at, &x);
	} else {
		jl_buf_puts(&at, p->label ? p->label : jl_tick_text(JL_TXT, &c->x, p->x));
		if (!p->label && (c->x.unit || c->x.of))
			jl_buf_printf(&at, " %s", jl_axis_unit(&c->x));
	}
	jl_svg_num_open(out, &y, &c->y, c->kind == JL_CHART_SCATTER ? NULL : s->name, jl_buf_text(&at));
	jl_buf_release(&at);
}

static void band(const struct frame *f, const struct jl_chart_series *s, size_t style)
{
	struct jl_buf *out = f->p->out;
	bool any = false;

	for (size_t i = 0; i < s->n_points; i++)
		any |= !isnan(s->points[i].lo) && s->points[i].hi > s->points[i].lo;
	if (!any)
		return;
	jl_buf_puts(out, "<path d=\"");
	any = false;
	for (size_t i = 0; i < s->n_points; i++) {
		if (isnan(s->points[i].y))
			continue;
		jl_buf_printf(out, "%c%.1f %.1f", any ? 'L' : 'M', jl_scale_at(&f->x, s->points[i].x),
			      jl_scale_at(&f->y, isnan(s->points[i].hi) ? s->points[i].y : s->points[i].hi));
		any = true;
	}
	for (size_t i = s->n_points; i-- > 0;)
		if (!isnan(s->points[i].y))
			jl_buf_printf(out, "L%.1f %.1f", jl_scale_at(&f->x, s->points[i].x),
				      jl_scale_at(&f->y, isnan(s->points[i].lo) ? s->points[i].y : s->points[i].lo));
	jl_buf_printf(out, "z\" fill=\"var(--s%zu)\" fill-opacity=\".14\" stroke=\"none\"/>\n", style % N_STYLE + 1);
}

static void stroke(const struct frame *f, const struct jl_chart_series *s, size_t i)
{
	struct jl_buf *out = f->p->out;
	bool drawing = false;

	jl_buf_puts(out, "<path fill=\"none\" d=\"");
	for (size_t k = 0; k < s->n_points; k++) {
		if (isnan(s->points[k].y)) {
			drawing = false;
			continue;
		}
		jl_buf_printf(out, "%c%.1f %.1f", drawing ? 'L' : 'M', jl_scale_at(&f->x, s->points[k].x),
			      jl_scale_at(&f->y, s->points[k].y));
		drawing = true;
	}
	jl_buf_printf(out, "\" stroke=\"var(--s%zu)\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n", i % N_STYLE + 1,
		      s->dashed ? "4 4" : dashes[i % N_STYLE]);
}

/* The name of a level or a limit where its level part begins: above it, of a dashed limit below it. */
static struct box line_name(const struct frame *f, const struct jl_chart_series *s)
{
	const struct jl_chart_point *at = &s->points[s->n_points - 2];
	const double y = jl_scale_at(&f->y, at->y) + (s->joined && s->dashed ? 14 : -5);
	const double w = JL_SVG_LETTER * (double)jl_utf8_width(s->name);
	const double x = fmax(f->left, fmin(jl_scale_at(&f->x, at->x) + 6, f->p->width - w));

	jl_svg_text(f->p->out, x, y, "start", "lab dim", s->name, "data-name=\"\"");
	return (struct box){ x, y - 11, x + w, y + 3 };
}

static void line(const struct frame *f, size_t i)
{
	const struct jl_chart_series *s = &f->p->chart->series[i];
	struct jl_buf *out = f->p->out;

	band(f, s, i);
	if (!s->only_points)
		stroke(f, s, i);
	if (jl_chart_is_level(s))
		(void)line_name(f, s);
	for (size_t k = 0; k < s->n_points && !s->dashed && s->n_points <= 40; k++) {
		const double x = jl_scale_at(&f->x, s->points[k].x), y = jl_scale_at(&f->y, s->points[k].y);

		if (isnan(s->points[k].y))
			continue;
		point_open(out, f->p->chart, s, &s->points[k]);
		if (s->n_points <= 20 || k % 6 == 0)
			marker(out, i, x, y, s->only_points ? 4.5 : 3.5);
		else /* with many points, only some marks; the tooltip covers all */
			jl_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"transparent\"/>", x, y);
		jl_buf_puts(out, "</g>\n");
	}
}

#define BOXES_MAX 256

static bool is_free(const struct frame *f, const struct box *boxes, size_t n, const struct box *b)
{
	if (b->x0 < f->left || b->x1 > f->p->width || b->y0 < f->top)
		return false;
	for (size_t i = 0; i < n; i++)
		if (b->x0 < boxes[i].x1 && boxes[i].x0 < b->x1 && b->y0 < boxes[i].y1 && boxes[i].y0 < b->y1)
			return false;
	return true;
}

/* Places a point's label at the first position without overlap. Without one it is omitted: tooltip and table show it. */
static void point_label(const struct frame *f, const struct jl_chart_point *p, double px, double py, struct box *boxes,
			size_t *n)
{
	static const struct {
		double dx, dy;
		bool left;
	} places[] = { { 9, -7, false },
		       { -9, -7, true },
		       { 9, 15, false },
		       { -9, 15, true },
		       { 9, 4, false },
		       { -9, 4, true },
		       { 9, -20, false },
		       { -9, -20, true },
		       /* farther, with a line: for points crowded below a limit */
		       { 14, 30, false },
		       { -14, 30, true },
		       { 14, 45, false },
		       { -14, 45, true },
		       { 14, 60, false },
		       { -14, 60, true },
		       { 14, 75, false },
		       { -14, 75, true } };
	const size_t near = 8, n_places = p->weight > 0 ? JL_LEN(places) : near;
	const double w = JL_SVG_LETTER * (double)jl_utf8_width(p->label);

	for (size_t k = 0; k < n_places; k++) {
		const double x = px + places[k].dx, y = py + places[k].dy;
		const struct box b = { places[k].left ? x - w : x, y - 11, places[k].left ? x : x + w, y + 3 };

		if (!is_free(f, boxes, *n, &b))
			continue;
		if (*n < BOXES_MAX)
			boxes[(*n)++] = b;
		if (k >= near)
			jl_buf_printf(f->p->out, "<path class=\"lead\" d=\"M%.1f %.1fL%.1f %.1f\"/>", px, py,
				      places[k].left ? x + 2 : x - 2, y - 5);
		jl_svg_text(f->p->out, x, y, places[k].left ? "end" : "start",
			    p->pick    ? "lab pick"
			    : p->front ? "lab"
				       : "lab dim",
			    p->label, "data-name=\"\"");
		return;
	}
}

static int by_x(const void *a, const void *b)
{
	const struct jl_chart_point *const *x = a, *const *y = b;

	return (x[0]->x > y[0]->x) - (x[0]->x < y[0]->x);
}

/* The Pareto front as a staircase: between two points the cheaper one is available. */
static void front_line(const struct frame *f)
{
	const struct jl_chart *c = f->p->chart;
	const struct jl_chart_point *front[BOXES_MAX] = { NULL };
	size_t n = 0;

	for (size_t i = 0; i < c->n_series; i++)
		for (const struct jl_chart_point *p = c->series[i].points;
		     p < c->series[i].points + c->series[i].n_points; p++)
			if (p->front && !isnan(p->x) && !isnan(p->y) && n < BOXES_MAX)
				front[n++] = p;
	qsort(front, n, sizeof(*front), by_x);
	for (size_t k = 0; k < n; k++)
		jl_buf_printf(f->p->out, k ? "H%.1fV%.1f" : "<path class=\"front\" d=\"M%.1f %.1f",
			      jl_scale_at(&f->x, front[k]->x), jl_scale_at(&f->y, front[k]->y));
	jl_buf_puts(f->p->out, n ? "\"/>\n" : "");
}

static bool is_labelled(const struct jl_chart_point *p, size_t n_points)
{
	return p->label && (p->front || p->pick || n_points <= 12);
}

/* No label overlaps a limit. */
static void line_boxes(const struct frame *f, const struct jl_chart_series *s, struct box *boxes, size_t *n)
{
	const double step = 16;

	for (size_t k = 0; k + 1 < s->n_points; k++) {
		const double x0 = jl_scale_at(&f->x, s->points[k].x), y0 = jl_scale_at(&f->y, s->points[k].y),
			     x1 = jl_scale_at(&f->x, s->points[k + 1].x), y1 = jl_scale_at(&f->y, s->points[k + 1].y);

		for (double x = x0; x < x1 && *n < BOXES_MAX / 2; x += step) {
			const double y = y0 + (y1 - y0) * (x - x0) / (x1 - x0),
				     to = y0 + (y1 - y0) * (fmin(x + step, x1) - x0) / (x1 - x0);

			boxes[(*n)++] = (struct box){ x, fmin(y, to) - 2, fmin(x + step, x1), fmax(y, to) + 2 };
		}
	}
}

static double radius(const struct jl_chart_point *p)
{
	return p->weight > 0 ? 3 + 8 * sqrt(p->weight) : p->front || p->pick ? 5 : 3;
}

static void scatter_point(const struct frame *f, size_t i, const struct jl_chart_point *p, struct box *boxes, size_t *n,
			  bool labelled)
{
	const double px = jl_scale_at(&f->x, p->x), py = jl_scale_at(&f->y, p->y);
	struct jl_buf *out = f->p->out;

	point_open(out, f->p->chart, &f->p->chart->series[i], p);
	if (!isnan(p->lo) && p->hi > p->lo)
		jl_buf_printf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"var(--dim)\"/>", px, jl_scale_at(&f->y, p->lo),
			      jl_scale_at(&f->y, p->hi));
	jl_buf_puts(out, p->front || p->pick ? "<g>" : p->weight > 0 ? "<g opacity=\".8\">" : "<g opacity=\".5\">");
	marker(out, i, px, py, radius(p));
	jl_buf_puts(out, "</g>");
	if (p->pick)
		jl_buf_printf(out, "<circle class=\"pick\" cx=\"%.1f\" cy=\"%.1f\" r=\"10\"/>", px, py);
	if (labelled)
		point_label(f, p, px, py, boxes, n);
	jl_buf_puts(out, "</g>\n");
}

/* First the positions of labelled points, then the points; the recommended one is labelled first. */
static void scatter(const struct frame *f)
{
	const struct jl_chart *c = f->p->chart;
	struct box boxes[BOXES_MAX];
	size_t n = 0, all = 0;

	front_line(f);
	for (size_t i = 0; i < c->n_series; i++) {
		all += c->series[i].joined ? 0 : c->series[i].n_points;
		if (c->series[i].joined) {
			stroke(f, &c->series[i], i);
			line_boxes(f, &c->series[i], boxes, &n);
			boxes[n++] = line_name(f, &c->series[i]);
		}
	}
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < c->n_series; i++)
			for (size_t k = 0; k < c->series[i].n_points && !c->series[i].joined; k++) {
				const struct jl_chart_point *p = &c->series[i].points[k];
				const double px = jl_scale_at(&f->x, p->x), py = jl_scale_at(&f->y, p->y),
					     r = p->pick ? 10 : radius(p);

				if (isnan(p->x) || isnan(p->y))
					continue;
				if (round == 0 && is_labelled(p, all) && n < BOXES_MAX)
					boxes[n++] = (struct box){ px - r, py - r, px + r, py + r };
				else if (round == 2 - p->pick)
					scatter_point(f, i, p, boxes, &n, is_labelled(p, all));
			}
}

/* Vertical lines with labels below each other, so that close ones do not overlap. */
static void mark_lines(const struct frame *f)
{
	const struct jl_chart *c = f->p->chart;
	struct jl_buf *out = f->p->out;

	for (size_t i = 0; i < c->n_marks; i++) /* no line crosses a label */
		jl_buf_printf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"var(--fg)\" stroke-dasharray=\"2 2\"/>",
			      jl_scale_at(&f->x, c->marks[i].x), f->top, f->bottom);
	for (size_t i = 0; i < c->n_marks; i++) {
		const double at = jl_scale_at(&f->x, c->marks[i].x), middle = (f->left + f->right) / 2;
		const double w = JL_SVG_LETTER * (double)jl_utf8_width(c->marks[i].label);
		const struct jl_num num = { .value = c->marks[i].x,
					    .kind = c->x.kind,
					    .unit = c->x.unit,
					    .origin = JL_ESTIMATED,
					    .source = c->mark_source };

		jl_svg_num_open(out, &num, &c->x, NULL, NULL);
		/* a long label on narrow paper extends to the left */
		jl_svg_text(out, at < middle ? fmin(at + 6, f->p->width - 4 - w) : fmax(at - 6, w + 4),
			    f->top + 14 + 16 * (double)i, at < middle ? "start" : "end", "lab", c->marks[i].label, "");
		jl_buf_puts(out, "</g>\n");
	}
}

void jl_svg_num_open(struct jl_buf *out, const struct jl_num *num, const struct jl_axis *axis, const char *before,
		     const char *at)
{
	struct jl_buf described;

	jl_buf_init(&described, 4096);
	jl_num_tell(&described, num);
	jl_buf_puts(out, "<g");
	jl_html_num_attributes(out, num, axis->of);
	jl_buf_puts(out, "><title>");
	jl_html_escape(out, before ? before : "");
	jl_buf_puts(out, before && at ? " · " : "");
	jl_html_escape(out, at ? at : "");
	jl_buf_puts(out, before || at ? ": " : "");
	jl_html_escape(out, jl_buf_text(&described));
	jl_buf_puts(out, "</title>");
	jl_buf_release(&described);
}

void jl_svg_open(const struct jl_paper *p, double height)
{
	struct jl_buf alt, *out = p->out;

	jl_buf_init(&alt, 1 << 16);
	jl_chart_alt(&alt, p->chart);
	jl_buf_printf(out,
		      "<svg class=\"%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"%s-t %s-d\">\n"
		      "<title id=\"%s-t\">",
		      jl_paper_is_narrow(p) ? "slim" : "full", p->width, height, p->prefix, p->prefix, p->prefix);
	jl_html_escape(out, p->chart->title ? p->chart->title : "");
	jl_buf_printf(out, "</title>\n<desc id=\"%s-d\">", p->prefix);
	jl_html_escape(out, jl_buf_text(&alt));
	jl_buf_puts(out, "</desc>\n");
	jl_buf_release(&alt);
}

/* Few points: ticks at their positions. */
static void ticks_of_points(struct jl_scale *x, const struct jl_chart *c)
{
	const struct jl_chart_series *s = c->n_series ? &c->series[0] : NULL;

	if (c->kind != JL_CHART_LINE || !s || s->n_points < 2 || s->n_points > 12)
		return;
	x->n_ticks = 0;
	for (size_t i = 0; i < s->n_points; i++)
		x->ticks[x->n_ticks++] = s->points[i].x;
}

static double ticks_width(const struct jl_axis *axis, const struct jl_scale *scale)
{
	size_t widest = 1;

	for (size_t i = 0; i < scale->n_ticks; i++) {
		const size_t width = jl_utf8_width(jl_tick_text(JL_TXT, axis, scale->ticks[i]));
		widest = width > widest ? width : widest;
	}
	return JL_SVG_LETTER * (double)widest;
}

static void plot(const struct jl_paper *p)
{
	const struct jl_chart *c = p->chart;
	const double legend = jl_svg_legend(p, line_sign, false);
	struct frame f = { .p = p, .top = legend + 18, .right = p->width - RIGHT };
	double x_lo, x_hi, y_lo, y_hi;

	f.bottom = f.top + HEIGHT;
	jl_svg_open(p, f.bottom + BOTTOM);
	if (jl_chart_range(c, &x_lo, &x_hi, &y_lo, &y_hi)) {
		f.y = jl_scale_make(y_lo, y_hi, c->y.log, f.bottom, f.top + 6, 5);
		if (c->y.binary && !c->y.log)
			jl_scale_binary(&f.y, 5);
		else if (!c->y.of)
			jl_scale_decimal(&f.y);
		f.left = fmax(ticks_width(&c->y, &f.y) + 12, jl_paper_is_narrow(p) ? 0 : JL_SVG_LEFT);
		f.x = jl_scale_make(x_lo, x_hi, c->x.log, f.left + 8, f.right - 8, 7);
		if (!c->x.of)
			jl_scale_decimal(&f.x);
		ticks_of_points(&f.x, c);
		jl_scale_step(&f.x, c->x.step);
		jl_svg_legend(p, line_sign, true);
		y_axis(&f);
		x_axis(&f);
		if (c->kind == JL_CHART_SCATTER)
			scatter(&f);
		for (size_t i = 0; i < c->n_series && c->kind != JL_CHART_SCATTER; i++)
			line(&f, i);
		mark_lines(&f);
	}
	jl_buf_puts(p->out, "</svg>\n");
}

enum jl_status jl_chart_to_svg(const struct jl_chart *chart, const char *id_prefix, double width, struct jl_buf *out,
			       struct jl_err *err)
{
	const struct jl_paper p = { .out = out, .chart = chart, .prefix = id_prefix, .width = width };

	switch (chart->kind) {
	case JL_CHART_BARS:
	case JL_CHART_SPANS:
	case JL_CHART_STACKED: jl_svg_bars(&p); break;
	case JL_CHART_TREE: jl_svg_tree(&p); break;
	default: plot(&p);
	}
	return out->failed ? jl_fail(err, JL_E_LIMIT, "the chart is too large") : JL_OK;
}
