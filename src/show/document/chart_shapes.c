#include "document/chart_shapes.h"

#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "document/chart_scale.h"
#include "document/escape.h"

#define LABEL_MAX 210.0
#define BAR_H     16.0
#define GAP       12.0
#define N_STYLE   JL_SVG_STYLES

static size_t look_of(const struct jl_chart *c, size_t i)
{
	return c->series[i].look ? (size_t)c->series[i].look - 1 : i;
}

/* Hatch patterns distinguish series without colour; they continue when colours repeat. */
static void patterns(const struct jl_paper *p)
{
	static const char *const lines[N_STYLE] = {
		"", "M0 6L6 0", "M0 3H6", "M0 0L6 6", "M3 0V6", "M0 6L6 0M0 0L6 6"
	};

	jl_buf_puts(p->out, "<defs>");
	for (size_t i = 0; i < p->chart->n_series; i++) {
		const size_t look = look_of(p->chart, i), colour = look % JL_SVG_COLOURS + 1,
			     hatch = (look + look / JL_SVG_COLOURS) % N_STYLE;

		jl_buf_printf(p->out,
			      "<pattern id=\"%s-h%zu\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect "
			      "width=\"6\" height=\"6\" fill=\"var(--s%zu)\" fill-opacity=\"%s\"/><path d=\"%s\" "
			      "stroke=\"var(--s%zu)\" stroke-width=\"1.2\"/></pattern>",
			      p->prefix, look, colour, hatch == 0 ? ".85" : ".28", lines[hatch], colour);
	}
	jl_buf_puts(p->out, "</defs>\n");
}

static void swatch(const struct jl_paper *p, size_t i, double x, double y, double width, double height)
{
	const size_t look = look_of(p->chart, i);

	jl_buf_printf(p->out,
		      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" fill=\"url(#%s-h%zu)\" "
		      "stroke=\"var(--s%zu)\"/>",
		      x, y, width, height, p->prefix, look, look % JL_SVG_COLOURS + 1);
}

static void cut(char *out, size_t size, const char *text, size_t width)
{
	if (jl_utf8_width(text) <= width) {
		snprintf(out, size, "%s", text);
		return;
	}
	snprintf(out, size, "%s", text);
	while (jl_utf8_width(out) > width - 1 && *out) {
		size_t len = 0;
		while (out[len])
			len++;
		do
			len--;
		while (len && ((unsigned char)out[len] & 0xc0) == 0x80);
		out[len] = '\0';
	}
	snprintf(out + __builtin_strlen(out), size - __builtin_strlen(out), "…");
}

/* Value at the end of the longest bar. A bar that would flatten the others is cut here. */
struct span {
	double most;
	bool torn;
};

static double stack_of(const struct jl_chart *c, size_t k)
{
	double sum = 0;

	for (size_t i = 0; i < c->n_series; i++) {
		const struct jl_chart_point *p = k < c->series[i].n_points ? &c->series[i].points[k] : NULL;
		const double v = p && !isnan(p->y) ? p->y : 0;

		sum = c->kind == JL_CHART_STACKED ? sum + v : fmax(sum, fmax(v, p && !isnan(p->hi) ? p->hi : 0));
	}
	return sum;
}

#define TORN_TIMES 5 /* times the next bar */

static struct span span_of(const struct jl_chart *c, size_t n)
{
	double most = 0, next = 0, cap = 0;

	for (size_t k = 0; k < n; k++) {
		const double v = stack_of(c, k);

		next = v > most ? most : fmax(next, v);
		most = fmax(most, v);
		cap = fmax(cap, c->cap_label ? c->series[0].points[k].cap : 0);
	}
	if (next > 0 && most > TORN_TIMES * next)
		return (struct span){ .most = fmax(1.5 * next, cap), .torn = true };
	return (struct span){ .most = fmax(most, cap) > 0 ? fmax(most, cap) : 1 };
}

static void value_text(char out[64], const struct jl_num *num)
{
	struct jl_buf text;

	jl_buf_init(&text, 4096);
	jl_num_print(&text, num);
	snprintf(out, 64, "%s", jl_buf_text(&text));
	jl_buf_release(&text);
}

/* Names left and values right of the bars; on narrow paper both above. */
struct lanes {
	const struct jl_paper *p;
	struct jl_scale x;
	double top, row_h, head_h; /* head_h: height above the bars of a row */
	double label_w, value_w;
	size_t n, per_row;
};

static double room_for(const struct lanes *l, bool values)
{
	const struct jl_chart *c = l->p->chart;
	double most = 0;

	for (size_t k = 0; k < c->n_lanes; k++) {
		char text[64] = "";

		if (values && !isnan(c->lanes[k].num.value))
			value_text(text, &c->lanes[k].num);
		most = fmax(most, JL_SVG_LETTER * (double)jl_utf8_width(values ? text : c->lanes[k].name));
	}
	for (size_t k = 0; k < l->n && !c->n_lanes; k++)
		for (size_t i = 0; i < c->n_series; i++) {
			const struct jl_chart_point *p = k < c->series[i].n_points ? &c->series[i].points[k] : NULL;
			struct jl_num num;
			char text[64];

			if (!p || (!values && !p->label))
				continue;
			num = c->kind == JL_CHART_STACKED ? jl_chart_total(c, k)
							  : jl_num_ranged(jl_chart_num(c, &c->series[i], p));
			if (values)
				value_text(text, &num);
			most = fmax(most, JL_SVG_LETTER * (double)jl_utf8_width(values ? text : p->label));
		}
	return most + 12;
}

static struct lanes lanes_of(const struct jl_paper *p, double top)
{
	const struct jl_chart *c = p->chart;
	struct lanes l = { .p = p,
			   .top = top,
			   .n = c->n_lanes    ? c->n_lanes
				: c->n_series ? c->series[0].n_points
					      : 0,
			   .per_row = c->kind == JL_CHART_BARS ? c->n_series : 1 };
	const bool narrow = jl_paper_is_narrow(p);

	l.head_h = narrow ? 18 : 0;
	l.row_h = l.head_h + (double)l.per_row * (BAR_H + 3) + GAP;
	l.label_w = narrow ? 0 : fmax(JL_SVG_LEFT, fmin(room_for(&l, false), LABEL_MAX));
	l.value_w = narrow ? 0 : fmax(JL_SVG_VALUE, fmin(room_for(&l, true), LABEL_MAX));
	l.x = jl_scale_make(0, c->n_lanes ? jl_chart_far(c) : span_of(c, l.n).most, false, l.label_w,
			    p->width - l.value_w - 10, narrow ? 4 : 5);
	if (c->y.binary)
		jl_scale_binary(&l.x, narrow ? 4 : 5);
	return l;
}

static void bars_axis(const struct lanes *l)
{
	const double bottom = l->top + (double)l->n * l->row_h;
	const struct jl_axis *axis = &l->p->chart->y;
	struct jl_buf *out = l->p->out;
	double end = -INFINITY; /* of the last label */

	for (size_t i = 0; i < l->x.n_ticks; i++) {
		const double at = jl_scale_at(&l->x, l->x.ticks[i]);
		const double half = JL_SVG_LETTER / 2 *
				    (double)jl_utf8_width(jl_tick_text(JL_TXT, axis, l->x.ticks[i]));

		jl_buf_printf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", at, l->top - 4, bottom);
		const double middle = fmax(half, fmin(at, l->p->width - half));

		if (middle - half < end + JL_SVG_LETTER)
			continue;
		jl_svg_tick(out, axis, l->x.ticks[i], middle, bottom + 14, "middle");
		end = middle + half;
	}
	jl_svg_axis_title(out, axis, (l->x.from + l->x.to) / 2, bottom + 32, "middle");
}

/* Reference values: a line across the bars, labelled above. */
static void bars_marks(const struct lanes *l)
{
	const struct jl_chart *c = l->p->chart;

	for (size_t i = 0; i < c->n_marks; i++) {
		const double at = jl_scale_at(&l->x, c->marks[i].x),
			     half = JL_SVG_LETTER / 2 * (double)jl_utf8_width(c->marks[i].label);

		if (c->marks[i].x > l->x.hi)
			continue;
		if (c->n_lanes && !(l->head_h > 0.0))
			jl_buf_printf(l->p->out, "<path class=\"mark\" d=\"M%.1f %.1fV%.1f\"/>", at, l->top - 6,
				      l->top + (double)l->n * l->row_h);
		for (size_t k = 0; k < l->n && (!c->n_lanes || l->head_h > 0.0);
		     k++) /* reserves room for the text above a bar */
			jl_buf_printf(l->p->out, "<path class=\"mark\" d=\"M%.1f %.1fv%.1f\"/>", at,
				      l->top + (double)k * l->row_h + l->head_h - 4, l->row_h - l->head_h - 4);
		jl_svg_text(l->p->out, fmax(half, fmin(at, l->p->width - half)), l->top - 10, "middle", "dim",
			    c->marks[i].label, "data-name=\"\"");
	}
}

static void whisker(const struct lanes *l, double lo, double hi, double y)
{
	const struct jl_chart *c = l->p->chart;
	const bool over = c->n_lanes && c->n_marks && hi > c->marks[0].x;
	const double middle = y + BAR_H / 2;

	if (hi > lo)
		jl_buf_printf(l->p->out, "<path class=\"whisker%s\" d=\"M%.1f %.1fH%.1fm0 -5v10M%.1f %.1fv10\"/>",
			      over ? " over" : "", jl_scale_at(&l->x, lo), middle, jl_scale_at(&l->x, hi),
			      jl_scale_at(&l->x, lo), middle - 5);
}

/* Draws a bar, or one part of a stacked bar; returns its end. */
static double bar(const struct lanes *l, size_t i, const struct jl_chart_point *p, double from, double y)
{
	const struct jl_chart *c = l->p->chart;
	const struct jl_num num = jl_chart_num(c, &c->series[i], p);
	const double x = jl_scale_at(&l->x, from), end = jl_scale_at(&l->x, from + fmax(p->y, 0));
	struct jl_buf *out = l->p->out;

	jl_svg_num_open(out, &num, &c->y, c->series[i].name, p->label);
	swatch(l->p, i, x, y, end - x, BAR_H);
	if (c->kind != JL_CHART_STACKED)
		whisker(l, p->lo, p->hi, y);
	jl_buf_puts(out, "</g>\n");
	return from + fmax(p->y, 0);
}

static void value_at(const struct lanes *l, const struct jl_num *num, const char *name, double y)
{
	char value[64];

	value_text(value, num);
	jl_svg_num_open(l->p->out, num, &l->p->chart->y, name, NULL);
	jl_svg_text(l->p->out, l->p->width, y, "end", NULL, value, "");
	jl_buf_puts(l->p->out, "</g>\n");
}

static void row_name(const struct lanes *l, size_t k, const char *name)
{
	const bool narrow = jl_paper_is_narrow(l->p);
	const double y = l->top + (double)k * l->row_h;
	char label[128];

	cut(label, sizeof label, name, (size_t)((narrow ? l->p->width * 0.62 : LABEL_MAX - 12) / JL_SVG_LETTER));
	jl_svg_text(l->p->out, narrow ? 0 : l->label_w - 10, narrow ? y + 12 : y + l->head_h + (l->row_h - GAP) / 2 + 3,
		    narrow ? "start" : "end", NULL, label, "data-name=\"\"");
}

static void bars_row(const struct lanes *l, size_t k)
{
	const struct jl_chart *c = l->p->chart;
	const bool narrow = jl_paper_is_narrow(l->p), stacked = c->kind == JL_CHART_STACKED;
	const double y = l->top + (double)k * l->row_h, bars_y = y + l->head_h;
	const char *name = c->series[0].points[k].label ? c->series[0].points[k].label : "";
	double end = 0;

	row_name(l, k, name);
	for (size_t i = 0; i < c->n_series; i++) {
		const struct jl_chart_point *p = k < c->series[i].n_points ? &c->series[i].points[k] : NULL;
		const double lane = stacked ? bars_y : bars_y + (double)i * (BAR_H + 3);

		if (!p || isnan(p->y))
			continue;
		end = bar(l, i, p, stacked ? end : 0, lane);
		if (!stacked) {
			const struct jl_num num = jl_num_ranged(jl_chart_num(c, &c->series[i], p));

			value_at(l, &num, name, narrow && c->n_series == 1 ? y + 12 : lane + BAR_H - 4);
		}
	}
	if (stacked) {
		const struct jl_num total = jl_chart_total(c, k);

		value_at(l, &total, name, narrow ? y + 12 : bars_y + BAR_H - 4);
		whisker(l, c->series[0].points[k].sum_lo, c->series[0].points[k].sum_hi, bars_y);
	}
	if (span_of(c, l->n).torn && stack_of(c, k) > l->x.hi)
		jl_buf_printf(l->p->out, "<path class=\"torn\" d=\"M%.1f %.1fl4 -5l-4 -5l4 -5l-4 -5\"/>",
			      jl_scale_at(&l->x, l->x.hi) - 12, bars_y + BAR_H + 2);
	if (c->cap_label && c->series[0].points[k].cap > 0)
		jl_buf_printf(l->p->out, "<path class=\"cap\" d=\"M%.1f %.1fv%.0f\"/>",
			      jl_scale_at(&l->x, c->series[0].points[k].cap), bars_y - 3, BAR_H + 6);
}

/* The spans of a lane; a waterfall's, one per lane, are connected by thin lines. */
static void spans_row(const struct lanes *l, size_t k)
{
	const struct jl_chart *c = l->p->chart;
	const struct jl_chart_lane *lane = &c->lanes[k];
	const double y = l->top + (double)k * l->row_h, bars_y = y + l->head_h;

	row_name(l, k, lane->name);
	for (size_t i = 0; i < c->n_series; i++)
		for (size_t n = 0; n < c->series[i].n_points; n++) {
			const struct jl_chart_point *p = &c->series[i].points[n];

			if (isnan(p->y) || p->x != (double)k)
				continue;
			const double end = bar(l, i, p, p->from, bars_y);

			if (c->no_legend && k + 2 < l->n)
				jl_buf_printf(l->p->out, "<path class=\"grid\" d=\"M%.1f %.1fv%.1f\"/>",
					      jl_scale_at(&l->x, end), bars_y + BAR_H, l->row_h - BAR_H);
		}
	if (!isnan(lane->num.value))
		value_at(l, &lane->num, lane->name, jl_paper_is_narrow(l->p) ? y + 12 : bars_y + BAR_H - 4);
}

static void bar_sign(const struct jl_paper *p, size_t i, double x, double y)
{
	swatch(p, i, x + 1, y - 10, 22, 11);
}

void jl_svg_bars(const struct jl_paper *p)
{
	const struct lanes l = lanes_of(p, jl_svg_legend(p, bar_sign, false) + (p->chart->n_marks ? 20 : 6));

	jl_svg_open(p, l.top + (double)l.n * l.row_h + 40);
	patterns(p);
	jl_svg_legend(p, bar_sign, true);
	bars_axis(&l);
	for (size_t k = 0; k < l.n; k++)
		(p->chart->n_lanes ? spans_row : bars_row)(&l, k);
	bars_marks(&l);
	jl_buf_puts(p->out, "</svg>\n");
}

/* --- a tree: one line per node, children indented */

#define TREE_ROW    26.0
#define TREE_INDENT 24.0
#define DEPTH_MAX   16

struct outline {
	const struct jl_paper *p;
	double y; /* of the next line */
	double row;
};

static size_t tree_size(const struct jl_tree_node *node)
{
	size_t n = 1;

	for (size_t i = 0; i < node->n_children; i++)
		n += tree_size(&node->children[i]);
	return n;
}

/* The detail after the name, or below it on narrow paper. */
static void tree_line(const struct outline *o, const struct jl_tree_node *node, double x)
{
	const bool narrow = jl_paper_is_narrow(o->p);
	const double mid = o->y + 12;
	struct jl_buf *out = o->p->out;
	char text[192];

	jl_buf_printf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>",
		      node->mark == JL_MARK_BAD    ? "node bad"
		      : node->mark == JL_MARK_WARN ? "node warn"
						   : "node",
		      x, mid);
	cut(text, sizeof text, node->name ? node->name : "", (size_t)((o->p->width - x - 10) / JL_SVG_LETTER));
	jl_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\"><tspan data-name=\"\">", x + 10, mid + 4);
	jl_html_escape(out, text);
	jl_buf_puts(out, "</tspan>");
	if (node->detail) {
		jl_buf_puts(out, "<tspan class=\"dim\"");
		jl_buf_printf(out, narrow ? " x=\"%.1f\" dy=\"16\"" : " dx=\"10\"", x + 10);
		if (node->num)
			jl_html_num_attributes(out, node->num, NULL);
		jl_buf_puts(out, node->num ? ">" : " data-name=\"\">");
		jl_html_escape(out, node->detail);
		jl_buf_puts(out, "</tspan>");
	}
	if (node->narrowest) {
		jl_buf_puts(out, "<tspan class=\"narrowest\" dx=\"10\" data-name=\"\">");
		jl_html_escape(out, node->narrowest);
		jl_buf_puts(out, "</tspan>");
	}
	jl_buf_puts(out, "</text>");
}

/* Line width: one pixel for 1 GB/s, two more per factor of ten: from a network's 1 to an NVLink's 900 GB/s. */
static double link_width(const struct jl_tree_node *node)
{
	return node->link_Bps > 0 ? fmax(0.6, fmin(9, 1 + 2 * log10(node->link_Bps / 1e9))) : 1;
}

static void tree_node(struct outline *o, const struct jl_tree_node *node, size_t depth)
{
	const double x = 8 + TREE_INDENT * (double)depth, mid = o->y + 12;

	tree_line(o, node, x);
	o->y += o->row;
	for (size_t i = 0; i < node->n_children && depth + 1 < DEPTH_MAX; i++) {
		jl_buf_printf(o->p->out, "<path class=\"branch%s\" stroke-width=\"%.1f\" d=\"M%.1f %.1fV%.1fh%.1f\"/>",
			      node->narrowest ? " narrowest" : "", link_width(node), x, mid + 4, o->y + 12,
			      TREE_INDENT - 5);
		tree_node(o, &node->children[i], depth + 1);
	}
}

void jl_svg_tree(const struct jl_paper *p)
{
	const struct jl_tree_node *root = p->chart->tree;
	const bool named = root && root->name && *root->name;
	struct outline o = { .p = p, .row = jl_paper_is_narrow(p) ? TREE_ROW + 18 : TREE_ROW };

	jl_svg_open(p, root ? (double)(tree_size(root) - !named) * o.row + 4 : 40);
	if (named)
		tree_node(&o, root, 0);
	for (size_t i = 0; root && !named && i < root->n_children; i++) /* as on a terminal */
		tree_node(&o, &root->children[i], 0);
	jl_buf_puts(p->out, "</svg>\n");
}
