/* Points and lines in a field of characters: a letter a series, capitals for points where nothing is better in both, and for what was measured. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "document/chart_scale.h"

#define ROWS    11
#define COLUMNS 62

struct field {
	const struct jl_chart *chart;
	double x_lo, x_hi, y_lo, y_hi;
	char grid[ROWS][COLUMNS + 1];
};

static int place(const struct jl_axis *axis, double lo, double hi, double value, int n)
{
	const double span = axis->log ? log(hi / lo) : hi - lo;
	const double along = axis->log ? log(value / lo) : value - lo;
	const int at = span > 0 ? (int)(along / span * (n - 1) + 0.5) : 0;

	return at < 0 ? 0 : at >= n ? n - 1 : at;
}

static int column_of(const struct field *f, double x)
{
	return place(&f->chart->x, f->x_lo, f->x_hi, x, COLUMNS);
}

static void put(struct field *f, int column, double y, char letter)
{
	f->grid[ROWS - 1 - place(&f->chart->y, f->y_lo, f->y_hi, y, ROWS)][column] = letter;
}

static bool is_line(const struct jl_chart *c, const struct jl_chart_series *s)
{
	return c->kind == JL_CHART_LINE && !s->only_points;
}

static char letter_of(const struct jl_chart *c, size_t i)
{
	return (char)((is_line(c, &c->series[i]) ? 'a' : 'A') + (int)i);
}

/* Every column between two points, so that a line is seen to go through. */
static void put_line(struct field *f, const struct jl_chart_series *s, char letter)
{
	for (size_t k = 0; k + 1 < s->n_points; k++) {
		const struct jl_chart_point *p = &s->points[k], *q = p + 1;
		const int from = column_of(f, p->x), to = column_of(f, q->x);

		for (int at = from; at <= to && !isnan(p->y) && !isnan(q->y); at++)
			put(f, at, to > from ? p->y + (q->y - p->y) * (at - from) / (to - from) : q->y, letter);
	}
}

static void put_points(struct field *f, const struct jl_chart_series *s, char letter, bool front)
{
	const bool scatter = f->chart->kind == JL_CHART_SCATTER;

	for (size_t k = 0; k < s->n_points; k++)
		if (s->points[k].front == front && !isnan(s->points[k].y))
			put(f, column_of(f, s->points[k].x), s->points[k].y,
			    (char)(scatter && !front ? letter - 'A' + 'a' : letter));
}

/* "0 USD", "1,095 days" */
static const char *end_text(char out[JL_UNITS_TEXT_MAX], const struct jl_axis *axis, double value)
{
	char text[JL_UNITS_TEXT_MAX];
	bool close = false;
	const char *unit = axis->kind == JL_K_NUMBER && axis->unit ? jl_unit_localized(axis->unit, &close) : "";

	if (axis->kind == JL_K_NUMBER && !axis->of)
		jl_count_text(text, value);
	else
		jl_units_localized(text, value, axis->kind, 2);
	snprintf(out, JL_UNITS_TEXT_MAX, "%.30s%s%.12s", text, *unit && !close ? " " : "", unit);
	return out;
}

static void draw(struct field *f)
{
	const struct jl_chart *c = f->chart;

	memset(f->grid, ' ', sizeof f->grid);
	for (size_t i = 0; i < c->n_marks; i++)
		for (int r = 0; r < ROWS; r++)
			f->grid[r][column_of(f, c->marks[i].x)] = ':';
	for (size_t i = 0; i < c->n_series; i++)
		if (is_line(c, &c->series[i]))
			put_line(f, &c->series[i], letter_of(c, i));
	for (int front = 0; front < 2; front++) /* points of the front are drawn last */
		for (size_t i = 0; i < c->n_series; i++)
			if (!is_line(c, &c->series[i]))
				put_points(f, &c->series[i], letter_of(c, i), front);
}

static void axis_text(struct jl_buf *out, const struct field *f, size_t margin)
{
	const struct jl_axis *x = &f->chart->x;
	char left[JL_UNITS_TEXT_MAX], right[JL_UNITS_TEXT_MAX];

	end_text(left, x, f->x_lo);
	end_text(right, x, f->x_hi);
	jl_buf_pad(out, ' ', margin);
	jl_buf_puts(out, " └");
	for (int i = 0; i < COLUMNS; i++)
		jl_buf_puts(out, "─");
	jl_buf_putc(out, '\n');
	jl_buf_pad(out, ' ', margin + 2);
	jl_buf_puts(out, left);
	jl_buf_pad(out, ' ', COLUMNS - jl_utf8_width(left) - jl_utf8_width(right));
	jl_buf_printf(out, "%s\n", right);
	jl_buf_pad(out, ' ', margin + 2);
	for (size_t i = 0; i < f->chart->n_series; i++)
		jl_buf_printf(out, "%s%c %s", i ? "   " : "", letter_of(f->chart, i), f->chart->series[i].name);
	jl_buf_putc(out, '\n');
}

void jl_chart_plot(struct jl_buf *out, const struct jl_chart *c)
{
	struct field f = { .chart = c };
	char top[JL_UNITS_TEXT_MAX], low[JL_UNITS_TEXT_MAX];
	size_t margin;

	if (!jl_chart_range(c, &f.x_lo, &f.x_hi, &f.y_lo, &f.y_hi))
		return;
	draw(&f);
	end_text(top, &c->y, f.y_hi);
	end_text(low, &c->y, f.y_lo);
	margin = jl_utf8_width(top) > jl_utf8_width(low) ? jl_utf8_width(top) : jl_utf8_width(low);
	margin = margin < 11 ? 13 : margin + 2;
	for (int r = 0; r < ROWS; r++) {
		const char *at = r == 0 ? top : r == ROWS - 1 ? low : "";
		int end = COLUMNS;

		while (end > 0 && f.grid[r][end - 1] == ' ')
			end--;
		jl_buf_pad(out, ' ', margin - jl_utf8_width(at));
		jl_buf_printf(out, "%s │%.*s\n", at, end, f.grid[r]);
	}
	axis_text(out, &f, margin);
}
