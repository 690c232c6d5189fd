#include "report/chart_shapes.h"

#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "report/chart_scale.h"
#include "report/escape.h"

#define LABEL_W 210.0
#define BAR_H   16.0
#define GAP     12.0
#define N_STYLE 6

/* Hatches: what colour says, lines say too. */
static void patterns(struct jl_buf *out, const char *prefix)
{
	static const char *const lines[N_STYLE] = {
		"", "M0 6L6 0", "M0 3H6", "M0 0L6 6", "M3 0V6", "M0 6L6 0M0 0L6 6"
	};

	jl_buf_puts(out, "<defs>");
	for (size_t i = 0; i < N_STYLE; i++)
		jl_buf_printf(out,
			      "<pattern id=\"%s-h%zu\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect "
			      "width=\"6\" height=\"6\" "
			      "fill=\"var(--s%zu)\" fill-opacity=\"%s\"/><path d=\"%s\" stroke=\"var(--s%zu)\" "
			      "stroke-width=\"1.2\"/></pattern>",
			      prefix, i, i + 1, i == 0 ? ".85" : ".28", lines[i], i + 1);
	jl_buf_puts(out, "</defs>\n");
}

static void text_at(struct jl_buf *out, double x, double y, const char *anchor, const char *class, const char *text,
		    const char *data)
{
	jl_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s%s%s %s>", x, y, anchor,
		      class ? " class=\"" : "", class ? class : "", class ? "\"" : "", data);
	jl_html_escape(out, text);
	jl_buf_puts(out, "</text>");
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

static double largest(const struct jl_chart *c, size_t n)
{
	double most = 0;

	for (size_t k = 0; k < n; k++) {
		double sum = 0;
		for (size_t i = 0; i < c->n_series; i++) {
			const struct jl_chart_point *p = k < c->series[i].n_points ? &c->series[i].points[k] : NULL;
			const double v = p && !isnan(p->y) ? p->y : 0;
			sum = c->kind == JL_CHART_STACKED ? sum + v
							  : fmax(sum, fmax(v, p && !isnan(p->hi) ? p->hi : 0));
		}
		most = fmax(most, sum);
	}
	return most > 0 ? most : 1;
}

static void bar_title(struct jl_buf *out, const struct jl_chart *c, const struct jl_chart_series *s,
		      const struct jl_chart_point *p)
{
	const struct jl_num num = { .value = p->y,
				    .kind = c->y.kind,
				    .unit = c->y.unit,
				    .binary = c->y.binary,
				    .lo = p->lo,
				    .hi = p->hi,
				    .origin = s->origin,
				    .source = s->source };
	struct jl_buf text;

	jl_buf_init(&text, 4096);
	jl_num_tell(&text, &num, c->lang);
	jl_buf_puts(out, "<title>");
	if (s->name) {
		jl_html_escape(out, s->name);
		jl_buf_puts(out, ": ");
	}
	jl_html_escape(out, jl_buf_text(&text));
	jl_buf_puts(out, "</title>");
	jl_buf_release(&text);
}

static void value_text(char out[64], const struct jl_chart *c, double v)
{
	const struct jl_num num = {
		.value = v, .kind = c->y.kind, .unit = c->y.unit, .binary = c->y.binary, .lo = NAN, .hi = NAN
	};
	struct jl_buf text;

	jl_buf_init(&text, 4096);
	jl_num_print(&text, &num);
	snprintf(out, 64, "%s", jl_buf_text(&text));
	jl_buf_release(&text);
}

/* One bar, or one part of a stacked one; returns where it ends. */
static double bar(struct jl_buf *out, const struct jl_chart *c, const char *prefix, size_t i,
		  const struct jl_chart_point *p, double x, double y, double per_unit)
{
	const double w = fmax(isnan(p->y) ? 0 : p->y * per_unit, 0);

	jl_svg_value_open(out, "g", c->series[i].origin, &c->y, p->y);
	bar_title(out, c, &c->series[i], p);
	jl_buf_printf(out,
		      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" fill=\"url(#%s-h%zu)\" "
		      "stroke=\"var(--s%zu)\"/>",
		      x, y, w, BAR_H, prefix, i % N_STYLE, i % N_STYLE + 1);
	if (!isnan(p->lo) && p->hi > p->lo && c->kind == JL_CHART_BARS) {
		const double a = x + p->lo * per_unit, b = x + p->hi * per_unit, m = y + BAR_H / 2;
		jl_buf_printf(out, "<path d=\"M%.1f %.1fH%.1fM%.1f %.1fv8M%.1f %.1fv8\" stroke=\"var(--fg)\"/>", a, m,
			      b, a, m - 4, b, m - 4);
	}
	jl_buf_puts(out, "</g>\n");
	return x + w;
}

static double bars_legend(struct jl_buf *out, const struct jl_chart *c, const char *prefix)
{
	double x = 0, y = 14;

	if (c->n_series < 2)
		return 6;
	for (size_t i = 0; i < c->n_series; i++) {
		const double w = 42 + 7.5 * (double)jl_utf8_width(c->series[i].name);
		if (x + w > JL_SVG_WIDTH && x > 0) {
			x = 0;
			y += 20;
		}
		jl_buf_printf(out,
			      "<rect x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"11\" fill=\"url(#%s-h%zu)\" "
			      "stroke=\"var(--s%zu)\"/>",
			      x + 1, y - 10, prefix, i % N_STYLE, i % N_STYLE + 1);
		text_at(out, x + 30, y, "start", NULL, c->series[i].name, "data-name=\"\"");
		x += w;
	}
	return y + 16;
}

static double legend_rows(const struct jl_chart *c)
{
	double x = 0, rows = 1;

	if (c->n_series < 2)
		return 6;
	for (size_t i = 0; i < c->n_series; i++) {
		const double w = 42 + 7.5 * (double)jl_utf8_width(c->series[i].name);
		if (x + w > JL_SVG_WIDTH && x > 0) {
			x = 0;
			rows++;
		}
		x += w;
	}
	return 14 + 20 * (rows - 1) + 16;
}

void jl_svg_bars(const struct jl_chart *c, const char *prefix, struct jl_buf *out)
{
	const size_t n = c->n_series ? c->series[0].n_points : 0, lanes = c->kind == JL_CHART_STACKED ? 1 : c->n_series;
	const double row_h = (double)lanes * (BAR_H + 3) + GAP, top = legend_rows(c);
	const double per_unit = (JL_SVG_WIDTH - LABEL_W - 110) / largest(c, n);

	jl_svg_open(out, c, prefix, top + (double)n * row_h + 6);
	patterns(out, prefix);
	bars_legend(out, c, prefix);
	for (size_t k = 0; k < n; k++) {
		const double y = top + (double)k * row_h;
		double end = LABEL_W, total = 0;
		char label[128], value[64];

		cut(label, sizeof label, c->series[0].points[k].label ? c->series[0].points[k].label : "", 28);
		text_at(out, LABEL_W - 8, y + (row_h - GAP) / 2 + 4, "end", NULL, label, "data-name=\"\"");
		for (size_t i = 0; i < c->n_series; i++) {
			const struct jl_chart_point *p = k < c->series[i].n_points ? &c->series[i].points[k] : NULL;
			const double lane = c->kind == JL_CHART_STACKED ? y : y + (double)i * (BAR_H + 3);

			if (!p || isnan(p->y))
				continue;
			total += isnan(p->y) ? 0 : p->y;
			end = bar(out, c, prefix, i, p, c->kind == JL_CHART_STACKED ? end : LABEL_W, lane, per_unit);
			if (c->kind == JL_CHART_BARS && !isnan(p->y)) {
				const double right = fmax(end, isnan(p->hi) ? 0 : LABEL_W + p->hi * per_unit);
				value_text(value, c, p->y);
				text_at(out, right + 6, lane + BAR_H - 4, "start", "dim", value, "data-axis=\"value\"");
			}
		}
		if (c->kind == JL_CHART_STACKED) {
			value_text(value, c, total);
			text_at(out, end + 6, y + BAR_H - 4, "start", "dim", value, "data-axis=\"value\"");
		}
	}
	jl_buf_puts(out, "</svg>\n");
}

void jl_svg_heat(const struct jl_chart *c, const char *prefix, struct jl_buf *out)
{
	const double room = JL_SVG_WIDTH - 90, cell = fmin(room / (double)(c->n_names ? c->n_names : 1), 52), top = 28;
	double lo = NAN, hi = NAN;

	for (size_t i = 0; c->cells && i < c->n_names * c->n_names; i++) {
		if (isnan(c->cells[i]))
			continue;
		lo = isnan(lo) ? c->cells[i] : fmin(lo, c->cells[i]);
		hi = isnan(hi) ? c->cells[i] : fmax(hi, c->cells[i]);
	}
	jl_svg_open(out, c, prefix, top + cell * (double)c->n_names + 8);
	for (size_t r = 0; r < c->n_names; r++) {
		text_at(out, 82, top + cell * ((double)r + 0.5) + 4, "end", NULL, c->names[r], "data-name=\"\"");
		text_at(out, 90 + cell * ((double)r + 0.5), top - 8, "middle", NULL, c->names[r], "data-name=\"\"");
		for (size_t k = 0; k < c->n_names; k++) {
			const size_t at = r * c->n_names + k;
			const double v = c->cells ? c->cells[at] : NAN, share = isnan(v)  ? 0
										: hi > lo ? (v - lo) / (hi - lo)
											  : 0.35;
			char text[JL_UNITS_TEXT_MAX];

			jl_buf_printf(out,
				      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"var(--s1)\" "
				      "fill-opacity=\"%.2f\" "
				      "stroke=\"var(--line)\"/>",
				      90 + cell * (double)k, top + cell * (double)r, cell, cell,
				      isnan(v) ? 0 : 0.08 + 0.5 * share);
			if (c->cell_words && c->cell_words[at])
				text_at(out, 90 + cell * ((double)k + 0.5), top + cell * ((double)r + 0.5) + 4,
					"middle", NULL, c->cell_words[at], "data-name=\"\"");
			else if (!isnan(v))
				text_at(out, 90 + cell * ((double)k + 0.5), top + cell * ((double)r + 0.5) + 4,
					"middle", NULL, jl_tick_text(text, &c->y, v), "data-axis=\"value\"");
		}
		jl_buf_puts(out, "\n");
	}
	jl_buf_puts(out, "</svg>\n");
}

/* --- a tree from left to right: one row for each leaf */

static size_t leaves(const struct jl_tree_node *node)
{
	size_t n = 0;

	for (size_t i = 0; i < node->n_children; i++)
		n += leaves(&node->children[i]);
	return n ? n : 1;
}

static size_t depth_of(const struct jl_tree_node *node)
{
	size_t most = 0;

	for (size_t i = 0; i < node->n_children; i++) {
		const size_t d = depth_of(&node->children[i]);
		most = d > most ? d : most;
	}
	return most + 1;
}

static void tree_node(struct jl_buf *out, const struct jl_tree_node *node, double x, double y, double step,
		      double box_w)
{
	const double row = 46, mid = y + (double)leaves(node) * row / 2;
	double child_y = y;
	char text[128];

	for (size_t i = 0; i < node->n_children; i++) {
		const struct jl_tree_node *child = &node->children[i];
		const double child_mid = child_y + (double)leaves(child) * row / 2;

		jl_buf_printf(out, "<path class=\"axis\" fill=\"none\" d=\"M%.1f %.1fH%.1fV%.1fH%.1f\"/>", x + box_w,
			      mid, x + box_w + 10, child_mid, x + step);
		tree_node(out, child, x + step, child_y, step, box_w);
		child_y += (double)leaves(child) * row;
	}
	jl_buf_printf(out,
		      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"36\" rx=\"4\" fill=\"var(--soft)\" "
		      "stroke=\"var(--%s)\"/>",
		      x, mid - 18, box_w,
		      node->mark == JL_MARK_BAD    ? "bad"
		      : node->mark == JL_MARK_WARN ? "warn"
						   : "line");
	cut(text, sizeof text, node->name, (size_t)(box_w / 7.4));
	text_at(out, x + 8, mid - (node->detail ? 3 : -4), "start", NULL, text, "data-name=\"\"");
	if (node->detail) {
		cut(text, sizeof text, node->detail, (size_t)(box_w / 6.8));
		text_at(out, x + 8, mid + 12, "start", "dim", text, "data-name=\"\"");
	}
	if (node->link) {
		jl_buf_puts(out, "<title>");
		jl_html_escape(out, node->link);
		jl_buf_puts(out, "</title>");
	}
	jl_buf_puts(out, "\n");
}

void jl_svg_tree(const struct jl_chart *c, const char *prefix, struct jl_buf *out)
{
	const size_t depth = c->tree ? depth_of(c->tree) : 1;
	const double step = JL_SVG_WIDTH / (double)depth, box_w = step - 24;

	jl_svg_open(out, c, prefix, c->tree ? (double)leaves(c->tree) * 46 + 8 : 40);
	if (c->tree)
		tree_node(out, c->tree, 2, 2, step, box_w);
	jl_buf_puts(out, "</svg>\n");
}
