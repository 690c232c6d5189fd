/* Charts as SVG. Series differ by colour, by dash and by the shape of their points, so that a grey print still tells them apart. */
#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "doc/chart_scale.h"
#include "doc/chart_shapes.h"
#include "doc/escape.h"

#define WIDTH   720.0
#define HEIGHT  340.0
#define LEFT    96.0
#define RIGHT   18.0
#define BOTTOM  52.0
#define ROW     20.0 /* of the legend */
#define N_STYLE 6

static const char *const dashes[N_STYLE] = { "", "7 3", "2 3", "9 3 2 3", "12 4", "4 2" };

static double legend_height(const struct jl_chart *c)
{
	double x = LEFT, rows = 1;

	if (c->n_series < 2)
		return 12;
	for (size_t i = 0; i < c->n_series; i++) {
		const double w = 40 + 7.5 * (double)jl_utf8_width(c->series[i].name ? c->series[i].name : "");
		if (x + w > WIDTH - RIGHT && x > LEFT) {
			rows++;
			x = LEFT;
		}
		x += w;
	}
	return rows * ROW + 8;
}

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

static void legend(struct jl_buf *out, const struct jl_chart *c)
{
	double x = LEFT, y = 14;

	if (c->n_series < 2)
		return;
	for (size_t i = 0; i < c->n_series; i++) {
		const struct jl_chart_series *s = &c->series[i];
		const double w = 40 + 7.5 * (double)jl_utf8_width(s->name ? s->name : "");
		const size_t k = i % N_STYLE;

		if (x + w > WIDTH - RIGHT && x > LEFT) {
			x = LEFT;
			y += ROW;
		}
		jl_buf_printf(
			out,
			"<path d=\"M%.1f %.1fh24\" stroke=\"var(--s%zu)\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>",
			x, y - 4, k + 1, s->dashed ? "4 4" : dashes[k]);
		if (!s->dashed)
			marker(out, i, x + 12, y - 4, 3.5);
		jl_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" data-name=\"\">", x + 30, y);
		jl_html_escape(out, s->name ? s->name : "");
		jl_buf_puts(out, "</text>\n");
		x += w;
	}
}

static void axis_title(struct jl_buf *out, const struct jl_axis *a, double x, double y, bool turned)
{
	if (!a->label)
		return;
	if (turned)
		jl_buf_printf(
			out,
			"<text class=\"dim\" transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">", x,
			y);
	else
		jl_buf_printf(out, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x, y);
	jl_html_escape(out, a->label);
	if (a->unit) {
		jl_buf_puts(out, " (");
		jl_html_escape(out, a->unit);
		jl_buf_puts(out, ")");
	}
	jl_buf_puts(out, "</text>\n");
}

/* A tick is no figure of anything: it says so, and in which unit the axis is. */
static void tick(struct jl_buf *out, const struct jl_axis *axis, double value, double x, double y, const char *anchor)
{
	char text[JL_UNITS_TEXT_MAX];

	jl_buf_printf(out,
		      "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" data-origin=\"scale\" "
		      "data-unit=\"",
		      x, y, anchor);
	jl_html_escape(out, jl_axis_unit(axis));
	jl_buf_printf(out, "\" data-value=\"%.9g\">", value);
	jl_html_escape(out, jl_tick_text(text, axis, value));
	jl_buf_puts(out, "</text>\n");
}

static void y_axis(struct jl_buf *out, const struct jl_chart *c, const struct jl_scale *y)
{
	size_t widest = 0;

	for (size_t i = 0; i < y->n_ticks; i++) {
		const double at = jl_scale_at(y, y->ticks[i]);
		char text[JL_UNITS_TEXT_MAX];
		const size_t width = jl_utf8_width(jl_tick_text(text, &c->y, y->ticks[i]));

		widest = width > widest ? width : widest;
		jl_buf_printf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", LEFT, at, WIDTH - RIGHT);
		tick(out, &c->y, y->ticks[i], LEFT - 8, at + 4, "end");
	}
	axis_title(out, &c->y, fmax(13, LEFT - 22 - 7.2 * (double)widest), (y->from + y->to) / 2, true);
}

static void x_axis(struct jl_buf *out, const struct jl_chart *c, const struct jl_scale *x, double bottom)
{
	jl_buf_printf(out, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT, bottom, WIDTH - RIGHT);
	for (size_t i = 0; i < x->n_ticks; i++) {
		const double at = jl_scale_at(x, x->ticks[i]);

		jl_buf_printf(out, "<path class=\"axis\" d=\"M%.1f %.1fv4\"/>", at, bottom);
		tick(out, &c->x, x->ticks[i], at, bottom + 18, "middle");
	}
	axis_title(out, &c->x, (LEFT + WIDTH - RIGHT) / 2, bottom + 40, false);
}

/* The point's group, with the words that a pointer reads. */
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
	if (c->kind == JL_CHART_SCATTER) { /* both of its figures are facts */
		jl_buf_printf(&at, "%s%s%s ", p->label ? p->label : "", p->label ? " · " : "",
			      c->x.label ? c->x.label : "");
		jl_num_tell(&at, &x);
	} else {
		char text[JL_UNITS_TEXT_MAX];
		jl_buf_puts(&at, p->label ? p->label : jl_tick_text(text, &c->x, p->x));
		if (!p->label && (c->x.unit || c->x.of))
			jl_buf_printf(&at, " %s", jl_axis_unit(&c->x));
	}
	jl_svg_num_open(out, &y, &c->y, c->kind == JL_CHART_SCATTER ? NULL : s->name, jl_buf_text(&at));
	jl_buf_release(&at);
}

static void band(struct jl_buf *out, const struct jl_chart_series *s, size_t style, const struct jl_scale *x,
		 const struct jl_scale *y)
{
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
		jl_buf_printf(out, "%c%.1f %.1f", any ? 'L' : 'M', jl_scale_at(x, s->points[i].x),
			      jl_scale_at(y, isnan(s->points[i].hi) ? s->points[i].y : s->points[i].hi));
		any = true;
	}
	for (size_t i = s->n_points; i-- > 0;)
		if (!isnan(s->points[i].y))
			jl_buf_printf(out, "L%.1f %.1f", jl_scale_at(x, s->points[i].x),
				      jl_scale_at(y, isnan(s->points[i].lo) ? s->points[i].y : s->points[i].lo));
	jl_buf_printf(out, "z\" fill=\"var(--s%zu)\" fill-opacity=\".14\" stroke=\"none\"/>\n", style % N_STYLE + 1);
}

static void line(struct jl_buf *out, const struct jl_chart *c, size_t i, const struct jl_scale *x,
		 const struct jl_scale *y)
{
	const struct jl_chart_series *s = &c->series[i];
	bool drawing = false;

	band(out, s, i, x, y);
	jl_buf_puts(out, "<path fill=\"none\" d=\"");
	for (size_t k = 0; k < s->n_points; k++) {
		if (isnan(s->points[k].y)) {
			drawing = false;
			continue;
		}
		jl_buf_printf(out, "%c%.1f %.1f", drawing ? 'L' : 'M', jl_scale_at(x, s->points[k].x),
			      jl_scale_at(y, s->points[k].y));
		drawing = true;
	}
	jl_buf_printf(out, "\" stroke=\"var(--s%zu)\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n", i % N_STYLE + 1,
		      s->dashed ? "4 4" : dashes[i % N_STYLE]);
	for (size_t k = 0; k < s->n_points && !s->dashed && s->n_points <= 40; k++) {
		if (isnan(s->points[k].y))
			continue;
		point_open(out, c, s, &s->points[k]);
		if (s->n_points <= 20 || k % 6 == 0)
			marker(out, i, jl_scale_at(x, s->points[k].x), jl_scale_at(y, s->points[k].y), 3.5);
		else /* of many points a mark now and then; the pointer finds all */
			jl_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"transparent\"/>",
				      jl_scale_at(x, s->points[k].x), jl_scale_at(y, s->points[k].y));
		jl_buf_puts(out, "</g>\n");
	}
}

struct box {
	double x0, y0, x1, y1;
};

#define BOXES_MAX 128

static bool is_free(const struct box *boxes, size_t n, const struct box *b)
{
	if (b->x0 < LEFT || b->x1 > WIDTH)
		return false;
	for (size_t i = 0; i < n; i++)
		if (b->x0 < boxes[i].x1 && boxes[i].x0 < b->x1 && b->y0 < boxes[i].y1 && boxes[i].y0 < b->y1)
			return false;
	return true;
}

/* The name of a point where it covers no other name and no point; a name without such a place is left to the pointer and the table,
 * but for the front's. */
static void point_label(struct jl_buf *out, const struct jl_chart_point *p, double px, double py, struct box *boxes,
			size_t *n)
{
	static const struct {
		double dx, dy;
		bool left;
	} places[] = { { 9, -7, false }, { -9, -7, true }, { 9, 15, false },  { -9, 15, true },
		       { 9, 4, false },  { -9, 4, true },  { 9, -20, false }, { -9, -20, true } };
	const double w = 7.2 * (double)jl_utf8_width(p->label);
	const size_t n_places = sizeof places / sizeof places[0];
	size_t k = 0;
	struct box b = { 0 };

	for (; k < n_places; k++) {
		const double x = px + places[k].dx, y = py + places[k].dy;

		b = (struct box){ places[k].left ? x - w : x, y - 11, places[k].left ? x : x + w, y + 3 };
		if (is_free(boxes, *n, &b))
			break;
	}
	if (k == n_places && !p->front)
		return;
	if (k == n_places)
		k = px < WIDTH / 2 ? 0 : 1;
	if (*n < BOXES_MAX)
		boxes[(*n)++] = b;
	jl_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"lab%s\" data-name=\"\">",
		      px + places[k].dx, py + places[k].dy, places[k].left ? "end" : "start", p->front ? "" : " dim");
	jl_html_escape(out, p->label);
	jl_buf_puts(out, "</text>");
}

static void front_line(struct jl_buf *out, const struct jl_chart_series *s, const struct jl_scale *x,
		       const struct jl_scale *y)
{
	bool joined = false;

	jl_buf_puts(out, "<path fill=\"none\" stroke=\"var(--dim)\" stroke-dasharray=\"3 3\" d=\"");
	for (size_t k = 0; k < s->n_points; k++)
		if (s->points[k].front && !isnan(s->points[k].x) && !isnan(s->points[k].y)) {
			jl_buf_printf(out, "%c%.1f %.1f", joined ? 'L' : 'M', jl_scale_at(x, s->points[k].x),
				      jl_scale_at(y, s->points[k].y));
			joined = true;
		}
	jl_buf_puts(out, joined ? "\"/>\n" : "M0 0\"/>\n");
}

static void scatter(struct jl_buf *out, const struct jl_chart *c, size_t i, const struct jl_scale *x,
		    const struct jl_scale *y)
{
	const struct jl_chart_series *s = &c->series[i];
	struct box boxes[BOXES_MAX];
	size_t n = 0;

	front_line(out, s, x, y);
	for (size_t k = 0; k < s->n_points && n < BOXES_MAX; k++) {
		const double px = jl_scale_at(x, s->points[k].x), py = jl_scale_at(y, s->points[k].y);

		if (!isnan(s->points[k].x) && !isnan(s->points[k].y) && (s->points[k].front || s->n_points <= 12))
			boxes[n++] = (struct box){ px - 5, py - 5, px + 5, py + 5 };
	}
	for (size_t k = 0; k < s->n_points; k++) {
		const struct jl_chart_point *p = &s->points[k];
		const double px = jl_scale_at(x, p->x), py = jl_scale_at(y, p->y);

		if (isnan(p->x) || isnan(p->y))
			continue;
		point_open(out, c, s, p);
		if (!isnan(p->lo) && p->hi > p->lo)
			jl_buf_printf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"var(--dim)\"/>", px,
				      jl_scale_at(y, p->lo), jl_scale_at(y, p->hi));
		marker(out, p->front ? i : N_STYLE - 1 - i % 2, px, py, p->front ? 5 : 3);
		if (p->label && (p->front || s->n_points <= 12))
			point_label(out, p, px, py, boxes, &n);
		jl_buf_puts(out, "</g>\n");
	}
}

static void mark_line(struct jl_buf *out, const struct jl_chart *c, const struct jl_scale *x, double top, double bottom)
{
	if (isnan(c->mark_x) || !c->mark_label)
		return;
	const double at = jl_scale_at(x, c->mark_x);
	jl_buf_printf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"var(--fg)\" stroke-dasharray=\"2 2\"/>", at, top,
		      bottom);
	jl_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"", at + (at < WIDTH * 0.6 ? 6 : -6), top + 14,
		      at < WIDTH * 0.6 ? "start" : "end");
	jl_html_num_attributes(out,
			       &(struct jl_num){ .value = c->mark_x,
						 .kind = c->x.kind,
						 .unit = c->x.unit,
						 .origin = JL_ESTIMATED,
						 .source = c->mark_source },
			       c->x.of);
	jl_buf_putc(out, '>');
	jl_html_escape(out, c->mark_label);
	jl_buf_puts(out, "</text>\n");
}

void jl_svg_num_open(struct jl_buf *out, const struct jl_num *num, const struct jl_axis *axis, const char *before,
		     const char *at)
{
	struct jl_buf told;

	jl_buf_init(&told, 4096);
	jl_num_tell(&told, num);
	jl_buf_puts(out, "<g");
	jl_html_num_attributes(out, num, axis->of);
	jl_buf_puts(out, "><title>");
	jl_html_escape(out, before ? before : "");
	jl_buf_puts(out, before && at ? " · " : "");
	jl_html_escape(out, at ? at : "");
	jl_buf_puts(out, before || at ? ": " : "");
	jl_html_escape(out, jl_buf_text(&told));
	jl_buf_puts(out, "</title>");
	jl_buf_release(&told);
}

void jl_svg_open(struct jl_buf *out, const struct jl_chart *c, const char *prefix, double height)
{
	struct jl_buf alt;

	jl_buf_init(&alt, 1 << 16);
	jl_chart_alt(&alt, c);
	jl_buf_printf(out,
		      "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"%s-t %s-d\">\n<title id=\"%s-t\">",
		      WIDTH, height, prefix, prefix, prefix);
	jl_html_escape(out, c->title ? c->title : "");
	jl_buf_printf(out, "</title>\n<desc id=\"%s-d\">", prefix);
	jl_html_escape(out, jl_buf_text(&alt));
	jl_buf_puts(out, "</desc>\n");
	jl_buf_release(&alt);
}

/* Few points: the axis names the very places that were asked for. */
static void ticks_of_points(struct jl_scale *x, const struct jl_chart *c)
{
	const struct jl_chart_series *s = c->n_series ? &c->series[0] : NULL;

	if (c->kind != JL_CHART_LINE || !s || s->n_points < 2 || s->n_points > 12)
		return;
	x->n_ticks = 0;
	for (size_t i = 0; i < s->n_points; i++)
		x->ticks[x->n_ticks++] = s->points[i].x;
}

static enum jl_status plot(const struct jl_chart *c, const char *prefix, struct jl_buf *out)
{
	const double top = legend_height(c), bottom = top + HEIGHT - BOTTOM - 12;
	double x_lo, x_hi, y_lo, y_hi;

	jl_svg_open(out, c, prefix, bottom + BOTTOM);
	if (jl_chart_range(c, &x_lo, &x_hi, &y_lo, &y_hi)) {
		struct jl_scale x = jl_scale_make(x_lo, x_hi, c->x.log, LEFT + 8, WIDTH - RIGHT - 8, 7);
		struct jl_scale y = jl_scale_make(y_lo, y_hi, c->y.log, bottom, top + 6, 5);

		if (!c->x.of)
			jl_scale_decimal(&x);
		if (!c->y.of)
			jl_scale_decimal(&y);
		ticks_of_points(&x, c);
		jl_scale_step(&x, c->x.step);
		legend(out, c);
		y_axis(out, c, &y);
		x_axis(out, c, &x, bottom);
		for (size_t i = 0; i < c->n_series; i++) {
			if (c->kind == JL_CHART_SCATTER)
				scatter(out, c, i, &x, &y);
			else
				line(out, c, i, &x, &y);
		}
		mark_line(out, c, &x, top, bottom);
	}
	jl_buf_puts(out, "</svg>\n");
	return JL_OK;
}

enum jl_status jl_chart_to_svg(const struct jl_chart *chart, const char *id_prefix, struct jl_buf *out,
			       struct jl_err *err)
{
	switch (chart->kind) {
	case JL_CHART_BARS:
	case JL_CHART_STACKED: jl_svg_bars(chart, id_prefix, out); break;
	case JL_CHART_HEAT: jl_svg_heat(chart, id_prefix, out); break;
	case JL_CHART_TREE: jl_svg_tree(chart, id_prefix, out); break;
	default: plot(chart, id_prefix, out);
	}
	return out->failed ? jl_fail(err, JL_E_LIMIT, "the chart is too large") : JL_OK;
}
