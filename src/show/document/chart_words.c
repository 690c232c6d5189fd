/* A chart in words, in characters and as JSON. */
#include <math.h>
#include <stdio.h>

#include "base/csv.h"
#include "base/json.h"
#include "base/utf8.h"
#include "document/chart_scale.h"

static const char *kind_word(enum jl_chart_kind kind)
{
	switch (kind) {
	case JL_CHART_LINE: return JL_("Line chart");
	case JL_CHART_BARS: return JL_("Bar chart");
	case JL_CHART_STACKED: return JL_("Stacked bar chart");
	case JL_CHART_SCATTER: return JL_("Scatter chart");
	case JL_CHART_TREE: return JL_("Topology");
	case JL_CHART_SPANS: return JL_("Bar chart");
	case JL_N_CHART_KIND: break;
	}
	return "";
}

static void value(struct jl_buf *out, const struct jl_axis *axis, double v)
{
	const struct jl_num num = {
		.value = v, .kind = axis->kind, .unit = axis->unit, .binary = axis->binary, .lo = NAN, .hi = NAN
	};

	jl_num_print(out, &num);
}

static void place(struct jl_buf *out, const struct jl_chart *c, const struct jl_chart_point *p)
{
	if (p->label)
		jl_buf_puts(out, p->label);
	else
		value(out, &c->x, p->x);
}

static void tree_words(struct jl_buf *out, const struct jl_tree_node *node, int depth)
{
	jl_buf_printf(out, "%s%s", depth ? "; " : "", node->name);
	if (node->narrowest)
		jl_buf_printf(out, " (%s)", node->narrowest);
	for (size_t i = 0; i < node->n_children; i++)
		tree_words(out, &node->children[i], depth + 1);
}

void jl_chart_alt(struct jl_buf *out, const struct jl_chart *c)
{
	jl_buf_printf(out, "%s: %s.", kind_word(c->kind), c->title ? c->title : "");
	if (c->kind == JL_CHART_TREE && c->tree) {
		jl_buf_putc(out, ' ');
		tree_words(out, c->tree, 0);
		jl_buf_putc(out, '.');
		return;
	}
	for (size_t i = 0; i < c->n_lanes; i++) {
		jl_buf_printf(out, "%s%s ", i ? ", " : " ", c->lanes[i].name);
		jl_num_print(out, &c->lanes[i].num);
	}
	jl_buf_puts(out, c->n_lanes ? "." : "");
	for (size_t i = 0; i < c->n_series && !c->n_lanes; i++) {
		const struct jl_chart_series *s = &c->series[i];

		if (!s->n_points)
			continue;
		jl_buf_printf(out, " %s: ", s->name ? s->name : "");
		for (size_t k = 0; k < s->n_points; k++) {
			/* long series: first, middle and last value */
			if (s->n_points > 12 && k != 0 && k != s->n_points / 2 && k != s->n_points - 1)
				continue;
			jl_buf_puts(out, k ? ", " : "");
			place(out, c, &s->points[k]);
			jl_buf_puts(out, " ");
			value(out, &c->y, s->points[k].y);
		}
		jl_buf_putc(out, '.');
	}
	for (size_t i = 0; i < c->n_marks; i++)
		jl_buf_printf(out, " %s.", c->marks[i].label);
}

static double stack_height(const struct jl_chart *c, size_t k)
{
	double sum = 0;

	for (size_t i = 0; i < c->n_series; i++)
		sum += k < c->series[i].n_points && !isnan(c->series[i].points[k].y) ? c->series[i].points[k].y : 0;
	return sum;
}

static void pad_to(struct jl_buf *out, const char *text, size_t width)
{
	const size_t w = jl_utf8_width(text), fits = jl_utf8_fit(text, width - 1);

	if (w > width)
		jl_buf_printf(out, "%.*s…", (int)fits, text);
	else
		jl_buf_puts(out, text);
	if (w < width)
		jl_buf_pad(out, ' ', width - w);
}

static void block_bar(struct jl_buf *out, double share, size_t width)
{
	const size_t n = (size_t)lround(fmax(0, fmin(1, share)) * (double)width);

	for (size_t i = 0; i < n; i++)
		jl_buf_puts(out, "█");
	for (size_t i = n; i < width; i++)
		jl_buf_puts(out, "░");
}

/* Series of one point each, such as expected, measured and bound: a row each, without a heading of its own. */
static bool is_of_ones(const struct jl_chart *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_series; i++) {
		if (c->series[i].n_points > 1)
			return false;
		n += c->series[i].n_points == 1 && c->series[i].name;
	}
	return n > 1 && n == c->n_series && c->kind != JL_CHART_SCATTER;
}

/* What stands before the bar of a point. */
static void row_label(struct jl_buf *out, const struct jl_chart *c, const struct jl_chart_series *s,
		      const struct jl_chart_point *p)
{
	if (is_of_ones(c))
		jl_buf_printf(out, "%s, ", s->name);
	place(out, c, p);
}

/* As wide as the longest label, within bounds. */
static size_t label_width(const struct jl_chart *c, size_t most)
{
	size_t width = 6;

	for (size_t i = 0; i < c->n_series; i++)
		for (size_t k = 0; k < c->series[i].n_points && !jl_chart_is_level(&c->series[i]); k++) {
			struct jl_buf label;
			size_t w;

			jl_buf_init(&label, 4096);
			row_label(&label, c, &c->series[i], &c->series[i].points[k]);
			w = jl_utf8_width(jl_buf_text(&label));
			width = w > width ? w : width;
			jl_buf_release(&label);
		}
	return width < most ? width : most;
}

static double most_of(const struct jl_chart *c)
{
	double most = 0;

	for (size_t i = 0; i < c->n_series; i++)
		for (size_t k = 0; k < c->series[i].n_points; k++)
			if (c->series[i].points[k].y > most)
				most = c->series[i].points[k].y;
	return most > 0 ? most : 1;
}

struct rows {
	double most;
	size_t label_w, bar_w;
};

static void row_text(struct jl_buf *out, const struct jl_chart *c, const struct jl_chart_series *s,
		     const struct jl_chart_point *p, const struct rows *rows)
{
	const struct jl_num num = jl_num_ranged(jl_chart_num(c, s, p));
	struct jl_buf label;

	jl_buf_init(&label, 4096);
	row_label(&label, c, s, p);
	jl_buf_puts(out, "    ");
	pad_to(out, jl_buf_text(&label), rows->label_w);
	jl_buf_putc(out, ' ');
	block_bar(out, p->y / rows->most, rows->bar_w);
	jl_buf_putc(out, ' ');
	jl_num_print(out, &num);
	if (p->weight > 0) { /* a share of the whole: where it lies matters */
		jl_buf_puts(out, " · ");
		value(out, &c->x, p->x);
	}
	jl_buf_putc(out, '\n');
	jl_buf_release(&label);
}

/* Every chart of points becomes rows of bars, one for each point: it needs no axes and survives a copy into a mail. */
static void rows_text(struct jl_buf *out, const struct jl_chart *c, size_t width)
{
	const struct rows rows = { most_of(c), label_width(c, width > 70 ? 26 : 18), width > 70 ? 16 : 12 };
	const bool ones = is_of_ones(c);

	for (size_t i = 0; i < c->n_series; i++) {
		const struct jl_chart_series *s = &c->series[i];
		const size_t n = s->joined || jl_chart_is_level(s) ? 0 : s->n_points,
			     n_rows = n > 12 && c->kind != JL_CHART_SCATTER
					      ? 4
					      : n; /* of many: both ends and two between */
		bool any = ones || !s->name;

		for (size_t r = 0; r < n_rows; r++) {
			const struct jl_chart_point *p = &s->points[n_rows < n ? r * (n - 1) / (n_rows - 1) : r];

			if ((c->kind == JL_CHART_SCATTER && !p->front && !(p->weight > 0)) || isnan(p->y))
				continue;
			if (!any)
				jl_buf_printf(out, "  %s\n", s->name);
			any = true;
			row_text(out, c, s, p, &rows);
		}
		if (jl_chart_is_level(s))
			jl_buf_printf(out, "    %s\n", s->name);
	}
}

/* One row per bar: length, relative to its capacity if known, and its largest parts. */
static void stacked_text(struct jl_buf *out, const struct jl_chart *c, size_t width)
{
	const size_t label_w = label_width(c, width > 70 ? 26 : 18), bar_w = width > 70 ? 16 : 12,
		     n = c->n_series ? c->series[0].n_points : 0;
	double most = 0;

	for (size_t k = 0; k < n; k++)
		most = fmax(most, stack_height(c, k));
	for (size_t k = 0; k < n; k++) {
		const double total = stack_height(c, k),
			     full = c->cap_label && c->series[0].points[k].cap > 0 ? c->series[0].points[k].cap : most;
		size_t at = 0;

		jl_buf_puts(out, "    ");
		pad_to(out, c->series[0].points[k].label ? c->series[0].points[k].label : "", label_w);
		jl_buf_putc(out, ' ');
		block_bar(out, total / (full > 0 ? full : 1), bar_w);
		jl_buf_putc(out, ' ');
		value(out, &c->y, total);
		if (c->cap_label && c->series[0].points[k].cap > 0) {
			jl_buf_puts(out, " / ");
			value(out, &c->y, c->series[0].points[k].cap);
		}
		jl_buf_puts(out, "\n");
		for (size_t i = 0; i < c->n_series; i++) {
			const double share = k < c->series[i].n_points ? c->series[i].points[k].y / total : NAN;

			if (!(share >= 0.05))
				continue;
			if (at && at + jl_utf8_width(c->series[i].name) + 8 > width) {
				jl_buf_putc(out, '\n');
				at = 0;
			}
			jl_buf_printf(out, "%s%s %.0f %%", at ? " · " : "      ", c->series[i].name, share * 100);
			at += (at ? 3 : 6) + jl_utf8_width(c->series[i].name) + 5;
		}
		jl_buf_putc(out, '\n');
	}
}

#define SPANS_WIDTH_MAX 120

static const char *const fills[] = { "█", "▓", "▒", "░", "▚", "▞", "▤", "▥", "◆", "◇", "●", "○" };

/* Character of one column of a lane: the span at its middle, else an interval, else a mark. */
static const char *span_at(const struct jl_chart *c, size_t lane, double lo, double hi)
{
	const double middle = (lo + hi) / 2;
	const char *found = " ";

	for (size_t i = 0; i < c->n_marks; i++)
		found = c->marks[i].x >= lo && c->marks[i].x < hi ? "│" : found;
	for (size_t i = 0; i < c->n_series; i++)
		for (size_t k = 0; k < c->series[i].n_points; k++) {
			const struct jl_chart_point *p = &c->series[i].points[k];
			const double end = p->from + p->y;

			if (p->x != (double)lane || isnan(p->y))
				continue;
			if (p->y > 0 && ((middle >= p->from && middle < end) || (p->from >= lo && p->from < hi)))
				return fills[c->no_legend ? 0 : i % JL_LEN(fills)];
			if (middle >= end && middle < p->hi)
				found = found[0] == ' ' ? "─" : found;
		}
	return found;
}

static void spans_text(struct jl_buf *out, const struct jl_chart *c, size_t width)
{
	const double far = jl_chart_far(c) * 1.0001;
	size_t label_w = 4, value_w = 1, bar_w;

	for (size_t k = 0; k < c->n_lanes; k++) {
		struct jl_buf value;
		size_t w = jl_utf8_width(c->lanes[k].name);

		jl_buf_init(&value, 4096);
		jl_num_print(&value, &c->lanes[k].num);
		label_w = w > label_w ? w : label_w;
		w = jl_utf8_width(jl_buf_text(&value));
		value_w = w > value_w ? w : value_w;
		jl_buf_release(&value);
	}
	label_w = label_w < 24 ? label_w : 24;
	width = width < SPANS_WIDTH_MAX ? width : SPANS_WIDTH_MAX;
	bar_w = width > label_w + value_w + 18 ? width - label_w - value_w - 8 : 10;
	for (size_t k = 0; k < c->n_lanes; k++) {
		jl_buf_puts(out, "    ");
		pad_to(out, c->lanes[k].name, label_w);
		jl_buf_putc(out, ' ');
		for (size_t i = 0; i < bar_w; i++)
			jl_buf_puts(out, span_at(c, k, far * (double)i / (double)bar_w,
						 far * (double)(i + 1) / (double)bar_w));
		jl_buf_putc(out, ' ');
		if (!isnan(c->lanes[k].num.value))
			jl_num_print(out, &c->lanes[k].num);
		jl_buf_putc(out, '\n');
	}
	if (c->no_legend)
		return;
	for (size_t i = 0, at = 0; i < c->n_series; i++) {
		const size_t w = jl_utf8_width(c->series[i].name) + 4;

		if (!c->series[i].n_points)
			continue;
		if (at && at + w > width) {
			jl_buf_putc(out, '\n');
			at = 0;
		}
		jl_buf_printf(out, "%s%s %s", at ? "  " : "    ", fills[i % JL_LEN(fills)], c->series[i].name);
		at += at ? w : w + 2;
	}
	jl_buf_putc(out, '\n');
}

#define PLACE_COLUMN 52 /* column of a tree's right-hand text */

/* Name and detail, then the location in its column; long names are truncated. */
static void node_text(struct jl_buf *out, const struct jl_tree_node *node, size_t used, size_t width)
{
	const size_t place = node->place ? jl_utf8_width(node->place) + 2 : 0,
		     detail = (node->detail ? jl_utf8_width(node->detail) + 3 : 0) +
			      (node->narrowest ? jl_utf8_width(node->narrowest) + 3 : 0),
		     room = width > used + place + detail + 8 ? width - used - place - detail : 8;
	const bool whole = jl_utf8_width(node->name) <= room;

	jl_buf_printf(out, "%.*s%s%s%s%s%s", (int)jl_utf8_fit(node->name, whole ? room : room - 1), node->name,
		      whole ? "" : "…", node->detail ? " · " : "", node->detail ? node->detail : "",
		      node->narrowest ? " · " : "", node->narrowest ? node->narrowest : "");
	used += (whole ? jl_utf8_width(node->name) : room) + detail;
	if (node->place) {
		jl_buf_pad(out, ' ', used + 2 <= PLACE_COLUMN ? PLACE_COLUMN - used : 2);
		jl_buf_puts(out, node->place);
	}
	jl_buf_putc(out, '\n');
}

/* `before`: prefix of the branches on every line. */
static void branches_text(struct jl_buf *out, const struct jl_tree_node *node, const char *before, size_t width)
{
	char deeper[128];

	for (size_t i = 0; i < node->n_children; i++) {
		const bool last = i + 1 == node->n_children;

		jl_buf_printf(out, "%s%s", before, last ? "└─ " : "├─ ");
		node_text(out, &node->children[i], jl_utf8_width(before) + 3, width);
		snprintf(deeper, sizeof deeper, "%.100s%s", before, last ? "   " : "│  ");
		branches_text(out, &node->children[i], deeper, width);
	}
}

/* A root without a name is not drawn: its branches start at the margin. */
static void tree_text(struct jl_buf *out, const struct jl_tree_node *root, size_t width)
{
	const bool named = root->name && *root->name;

	if (named) {
		jl_buf_puts(out, "  ");
		node_text(out, root, 2, width);
	}
	branches_text(out, root, named ? "  " : "", width);
}

static bool is_named(const struct jl_chart *c)
{
	for (size_t i = 0; i < c->n_series; i++)
		for (size_t k = 0; k < c->series[i].n_points; k++)
			if (c->series[i].points[k].label)
				return true;
	return false;
}

#define PLOT_LEAST 8 /* points: fewer are read one by one */

/* Lines that run side by side are seen in a plot; one alone, or with levels, is rows. */
static bool is_plotted(const struct jl_chart *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_series; i++)
		n += c->series[i].n_points > PLOT_LEAST && !jl_chart_is_level(&c->series[i]);
	return !is_named(c) && (c->kind == JL_CHART_SCATTER || (c->kind == JL_CHART_LINE && n > 1));
}

enum jl_status jl_chart_to_text(const struct jl_chart *c, size_t width, struct jl_buf *out, struct jl_err *err)
{
	if (c->title)
		jl_buf_printf(out, "  %s\n", c->title);
	if (c->kind == JL_CHART_TREE && c->tree)
		tree_text(out, c->tree, width);
	else if (c->kind == JL_CHART_SPANS)
		spans_text(out, c, width);
	else if (c->kind == JL_CHART_STACKED)
		stacked_text(out, c, width);
	else if (is_plotted(c))
		jl_chart_plot(out, c);
	else
		rows_text(out, c, width);
	for (size_t i = 0; i < c->n_marks; i++)
		jl_buf_printf(out, "    %s%s\n", is_plotted(c) ? ": " : "", c->marks[i].label);
	return out->failed ? jl_fail(err, JL_E_LIMIT, "the chart is too large") : JL_OK;
}

static void tree_json(struct jl_json *json, const struct jl_tree_node *node)
{
	jl_json_pack(json, "{name:s detail:s link_Bps?f children:[", node->name, node->detail,
		     node->link_Bps > 0 ? node->link_Bps : NAN);
	for (size_t i = 0; i < node->n_children; i++)
		tree_json(json, &node->children[i]);
	jl_json_pack(json, "]}");
}

static const char *origin_key(enum jl_origin origin)
{
	return origin == JL_ORIGIN_NONE ? "given" : jl_origin_name(origin);
}

static void series_json(struct jl_json *json, const struct jl_chart_series *s)
{
	jl_json_pack(json, "{name:s origin:s source?s points:[", s->name, origin_key(s->origin), s->source);
	for (const struct jl_chart_point *p = s->points; p < s->points + s->n_points; p++) {
		const bool ranged = !isnan(p->lo) && p->hi > p->lo;

		jl_json_pack(json, "{label?s x:f from?f y:f lo?f hi?f origin?s source?s}", p->label, p->x,
			     p->from > 0 ? p->from : NAN, p->y, ranged ? p->lo : NAN, ranged ? p->hi : NAN,
			     p->own ? origin_key(p->origin) : NULL, p->own ? p->source : NULL);
	}
	jl_json_pack(json, "]}");
}

static const char *axis_unit(const struct jl_axis *axis)
{
	return axis->kind == JL_K_NUMBER ? axis->unit : jl_kind_suffix(axis->kind);
}

void jl_chart_to_json(const struct jl_chart *c, struct jl_json *json)
{
	static const char *const kinds[JL_N_CHART_KIND] = { "line", "bars", "stacked", "scatter", "tree", "spans" };

	jl_json_pack(json, "{kind:s title:s x:{label:s unit:s} y:{label:s unit:s} series:[", kinds[c->kind], c->title,
		     c->x.label, axis_unit(&c->x), c->y.label, axis_unit(&c->y));
	for (size_t i = 0; i < c->n_series; i++)
		series_json(json, &c->series[i]);
	jl_json_pack(json, "]");
	if (c->kind == JL_CHART_TREE && c->tree) {
		jl_json_key(json, "tree");
		tree_json(json, c->tree);
	}
	jl_json_end_object(json);
}

static void tree_csv(struct jl_csv_writer *csv, const struct jl_tree_node *node, int depth)
{
	jl_csv_put_number(csv, depth);
	jl_csv_put_text(csv, node->name);
	jl_csv_put_number(csv, node->num ? node->num->value : NAN);
	jl_csv_put_number(csv, node->link_Bps > 0 ? node->link_Bps : NAN);
	jl_csv_end_row(csv);
	for (size_t i = 0; i < node->n_children; i++)
		tree_csv(csv, &node->children[i], depth + 1);
}

/* "memory (B)" */
static void csv_head(struct jl_csv_writer *csv, const struct jl_axis *axis, const char *else_called)
{
	const char *unit = axis_unit(axis);
	struct jl_buf head;

	jl_buf_init(&head, 4096);
	jl_buf_printf(&head, unit && *unit ? "%s (%s)" : "%s", axis->label ? axis->label : else_called, unit);
	jl_csv_put_text(csv, jl_buf_text(&head));
	jl_buf_release(&head);
}

void jl_chart_to_csv(const struct jl_chart *c, struct jl_buf *out)
{
	const char *const heads[] = { JL_("interval from"), JL_("interval to"), JL_("origin") };
	struct jl_csv_writer csv;

	jl_csv_writer_init(&csv, out);
	if (c->kind == JL_CHART_TREE) {
		const char *const columns[] = { JL_("level"), JL_("name"), JL_("value"), JL_("link (B/s)") };

		for (size_t i = 0; i < JL_LEN(columns); i++)
			jl_csv_put_text(&csv, columns[i]);
		jl_csv_end_row(&csv);
		tree_csv(&csv, c->tree, 0);
		return;
	}
	jl_csv_put_text(&csv, JL_("series"));
	jl_csv_put_text(&csv, JL_("name"));
	csv_head(&csv, &c->x, c->n_lanes ? JL_("begins") : "x");
	csv_head(&csv, &c->y, "y");
	for (size_t i = 0; i < JL_LEN(heads); i++)
		jl_csv_put_text(&csv, heads[i]);
	jl_csv_end_row(&csv);
	for (size_t i = 0; i < c->n_series; i++)
		for (const struct jl_chart_point *p = c->series[i].points;
		     p < c->series[i].points + c->series[i].n_points; p++) {
			jl_csv_put_text(&csv, c->series[i].name ? c->series[i].name : "");
			jl_csv_put_text(&csv, p->label ? p->label : "");
			jl_csv_put_number(&csv, c->n_lanes ? p->from : p->x);
			jl_csv_put_number(&csv, p->y);
			jl_csv_put_number(&csv, p->lo);
			jl_csv_put_number(&csv, p->hi);
			jl_csv_put_text(&csv, origin_key(p->own ? p->origin : c->series[i].origin));
			jl_csv_end_row(&csv);
		}
}
