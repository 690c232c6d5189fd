#include "doc/chart_shapes.h"

#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "doc/chart_scale.h"
#include "doc/escape.h"

#define LABEL_MAX 210.0
#define BAR_H     16.0
#define GAP       12.0
#define N_STYLE   6

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

/* Room for the names beside the bars. */
static double label_room(const struct jl_chart *c, size_t n)
{
	double most = 0;

	for (size_t k = 0; k < n; k++)
		if (c->series[0].points[k].label)
			most = fmax(most, 7.4 * (double)jl_utf8_width(c->series[0].points[k].label));
	return fmin(most + 14, LABEL_MAX);
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

static void value_text(char out[64], const struct jl_num *num)
{
	struct jl_buf text;

	jl_buf_init(&text, 4096);
	jl_num_print(&text, num);
	snprintf(out, 64, "%s", jl_buf_text(&text));
	jl_buf_release(&text);
}

/* One bar, or one part of a stacked one; returns where it ends. */
static double bar(struct jl_buf *out, const struct jl_chart *c, const char *prefix, size_t i,
		  const struct jl_chart_point *p, double x, double y, double per_unit)
{
	const double w = fmax(p->y * per_unit, 0), end = x + (isnan(p->hi) ? w : fmax(w, p->hi * per_unit));
	const struct jl_num num = jl_chart_num(c, &c->series[i], p);
	char value[64];

	jl_svg_num_open(out, &num, &c->y, c->series[i].name, p->label);
	jl_buf_printf(out,
		      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" fill=\"url(#%s-h%zu)\" "
		      "stroke=\"var(--s%zu)\"/>",
		      x, y, w, BAR_H, prefix, i % N_STYLE, i % N_STYLE + 1);
	if (c->kind == JL_CHART_BARS && !isnan(p->lo) && p->hi > p->lo) {
		const double a = x + p->lo * per_unit, b = x + p->hi * per_unit, m = y + BAR_H / 2;
		jl_buf_printf(out, "<path d=\"M%.1f %.1fH%.1fM%.1f %.1fv8M%.1f %.1fv8\" stroke=\"var(--fg)\"/>", a, m,
			      b, a, m - 4, b, m - 4);
	}
	if (c->kind == JL_CHART_BARS) {
		value_text(value, &num);
		text_at(out, end + 6, y + BAR_H - 4, "start", "dim", value, "");
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
	const double label_w = label_room(c, n), per_unit = (JL_SVG_WIDTH - label_w - 110) / largest(c, n);

	jl_svg_open(out, c, prefix, top + (double)n * row_h + 6);
	patterns(out, prefix);
	bars_legend(out, c, prefix);
	for (size_t k = 0; k < n; k++) {
		const double y = top + (double)k * row_h;
		double end = label_w;
		char label[128], value[64];

		cut(label, sizeof label, c->series[0].points[k].label ? c->series[0].points[k].label : "", 28);
		text_at(out, label_w - 8, y + (row_h - GAP) / 2 + 4, "end", NULL, label, "data-name=\"\"");
		for (size_t i = 0; i < c->n_series; i++) {
			const struct jl_chart_point *p = k < c->series[i].n_points ? &c->series[i].points[k] : NULL;
			const double lane = c->kind == JL_CHART_STACKED ? y : y + (double)i * (BAR_H + 3);

			if (!p || isnan(p->y))
				continue;
			end = bar(out, c, prefix, i, p, c->kind == JL_CHART_STACKED ? end : label_w, lane, per_unit);
		}
		if (c->kind == JL_CHART_STACKED) {
			const struct jl_num total = jl_chart_total(c, k);

			value_text(value, &total);
			jl_svg_num_open(out, &total, &c->y, c->series[0].points[k].label, NULL);
			text_at(out, end + 6, y + BAR_H - 4, "start", "dim", value, "");
			jl_buf_puts(out, "</g>\n");
		}
	}
	jl_buf_puts(out, "</svg>\n");
}

/* One cell of a matrix: how much, and from where to where. */
static void heat_cell(struct jl_buf *out, const struct jl_chart *c, size_t row, size_t column, double x, double y,
		      double size, double shade)
{
	const size_t at = row * c->n_names + column;
	const struct jl_num num = { .value = c->cells ? c->cells[at] : NAN,
				    .kind = c->y.kind,
				    .unit = c->y.unit,
				    .lo = NAN,
				    .hi = NAN,
				    .origin = c->cell_origin,
				    .source = c->cell_source };
	const bool known = !isnan(num.value);
	const char *word = c->cell_words ? c->cell_words[at] : NULL;
	char text[JL_UNITS_TEXT_MAX], way[128];

	if (known) {
		snprintf(way, sizeof way, "%.40s → %.40s", c->names[row], c->names[column]);
		jl_svg_num_open(out, &num, &c->y, way, word);
	}
	jl_buf_printf(out,
		      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"var(--s1)\" "
		      "fill-opacity=\"%.2f\" stroke=\"var(--line)\"/>",
		      x, y, size, size, known ? shade : 0);
	if (word)
		text_at(out, x + size / 2, y + size / 2 + (known ? -1 : 4), "middle", NULL, word, "data-name=\"\"");
	if (word && known)
		text_at(out, x + size / 2, y + size / 2 + 13, "middle", "dim small",
			jl_tick_text(text, &c->y, num.value), "");
	else if (known)
		text_at(out, x + size / 2, y + size / 2 + 4, "middle", NULL, jl_tick_text(text, &c->y, num.value), "");
	if (known)
		jl_buf_puts(out, "</g>");
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
			heat_cell(out, c, r, k, 90 + cell * (double)k, top + cell * (double)r, cell,
				  0.08 + 0.5 * share);
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

#define DEPTH_MAX 8
#define TREE_GAP  24.0
#define TREE_ROW  46.0

/* Boxes of one depth are as wide as their widest words. */
static void measure(const struct jl_tree_node *node, size_t depth, double width[DEPTH_MAX])
{
	const double name = 7.2 * (double)jl_utf8_width(node->name ? node->name : ""),
		     detail = 7.2 * (double)jl_utf8_width(node->detail ? node->detail : "");

	if (depth >= DEPTH_MAX)
		return;
	width[depth] = fmax(width[depth], fmax(name, detail) + 18);
	for (size_t i = 0; i < node->n_children; i++)
		measure(&node->children[i], depth + 1, width);
}

/* What does not fit the paper is taken from the widest. */
static void fit(double width[DEPTH_MAX], size_t depth)
{
	double sum = TREE_GAP * (double)(depth - 1) + 4;

	for (size_t i = 0; i < depth; i++)
		sum += width[i];
	while (sum > JL_SVG_WIDTH) {
		size_t widest = 0;

		for (size_t i = 1; i < depth; i++)
			widest = width[i] > width[widest] ? i : widest;
		if (width[widest] < 40)
			break;
		width[widest] -= 4;
		sum -= 4;
	}
}

struct tree_paper {
	struct jl_buf *out;
	double width[DEPTH_MAX];
};

static void tree_box(const struct tree_paper *t, const struct jl_tree_node *node, double x, double mid, double w)
{
	char text[128];

	jl_buf_printf(t->out,
		      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"36\" rx=\"4\" fill=\"var(--soft)\" "
		      "stroke=\"var(--%s)\"/>",
		      x, mid - 18, w,
		      node->mark == JL_MARK_BAD    ? "bad"
		      : node->mark == JL_MARK_WARN ? "warn"
						   : "line");
	cut(text, sizeof text, node->name ? node->name : "", (size_t)((w - 14) / 7.2));
	text_at(t->out, x + 8, mid - (node->detail ? 3 : -4), "start", NULL, text, "data-name=\"\"");
	if (!node->detail)
		return;
	cut(text, sizeof text, node->detail, (size_t)((w - 14) / 7.2));
	if (node->num)
		jl_svg_num_open(t->out, node->num, &(struct jl_axis){ 0 }, node->name, NULL);
	text_at(t->out, x + 8, mid + 12, "start", "dim", text, node->num ? "" : "data-name=\"\"");
	jl_buf_puts(t->out, node->num ? "</g>" : "");
}

static void tree_node(const struct tree_paper *t, const struct jl_tree_node *node, size_t depth, double x, double y)
{
	const double mid = y + (double)leaves(node) * TREE_ROW / 2, w = t->width[depth], next = x + w + TREE_GAP;
	double child_y = y;

	for (size_t i = 0; i < node->n_children && depth + 1 < DEPTH_MAX; i++) {
		const struct jl_tree_node *child = &node->children[i];
		const double child_mid = child_y + (double)leaves(child) * TREE_ROW / 2;

		jl_buf_printf(t->out, "<path class=\"axis\" fill=\"none\" d=\"M%.1f %.1fH%.1fV%.1fH%.1f\"/>", x + w,
			      mid, x + w + TREE_GAP / 2, child_mid, next);
		tree_node(t, child, depth + 1, next, child_y);
		child_y += (double)leaves(child) * TREE_ROW;
	}
	if (node->link) {
		jl_buf_puts(t->out, "<g><title>");
		jl_html_escape(t->out, node->link);
		jl_buf_puts(t->out, "</title>");
	}
	tree_box(t, node, x, mid, w);
	jl_buf_puts(t->out, node->link ? "</g>\n" : "\n");
}

void jl_svg_tree(const struct jl_chart *c, const char *prefix, struct jl_buf *out)
{
	struct tree_paper t = { .out = out };
	const size_t depth = c->tree ? depth_of(c->tree) : 1;

	jl_svg_open(out, c, prefix, c->tree ? (double)leaves(c->tree) * TREE_ROW + 8 : 40);
	if (c->tree) {
		measure(c->tree, 0, t.width);
		fit(t.width, depth < DEPTH_MAX ? depth : DEPTH_MAX);
		tree_node(&t, c->tree, 0, 2, 2);
	}
	jl_buf_puts(out, "</svg>\n");
}
