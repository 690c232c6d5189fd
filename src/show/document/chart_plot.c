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

static void put(struct field *f, double x, double y, char letter)
{
	if (!isnan(y))
		f->grid[ROWS - 1 - place(&f->chart->y, f->y_lo, f->y_hi, y, ROWS)]
		       [place(&f->chart->x, f->x_lo, f->x_hi, x, COLUMNS)] = letter;
}

static bool is_line(const struct jl_chart *c, size_t i)
{
	return c->kind == JL_CHART_LINE && !c->series[i].only_points;
}

/* A line goes through all columns between its points. */
static void put_series(struct field *f, size_t i, bool front)
{
	const struct jl_chart_series *s = &f->chart->series[i];
	const bool line = is_line(f->chart, i), small = line || (f->chart->kind == JL_CHART_SCATTER && !front);
	const int n = line ? COLUMNS : 1;

	for (size_t k = 0; k < s->n_points; k++) {
		const struct jl_chart_point *p = &s->points[k], *q = k + 1 < s->n_points ? p + 1 : p;

		for (int at = 0; at < n && p->front == front; at++)
			put(f, p->x + (q->x - p->x) * at / n, p->y + (q->y - p->y) * at / n,
			    (char)((small ? 'a' : 'A') + (int)i));
	}
}

/* "0 USD", "1,095 days" */
static const char *end_text(char out[JL_UNITS_TEXT_MAX], const struct jl_axis *axis, double value)
{
	char text[JL_UNITS_TEXT_MAX];
	bool close = false;

	if (axis->kind != JL_K_NUMBER || !axis->unit)
		return jl_units_localized(out, value, axis->kind, 2);
	jl_count_text(text, value);
	const char *unit = jl_unit_localized(axis->unit, &close);

	snprintf(out, JL_UNITS_TEXT_MAX, "%.30s%s%.12s", text, close ? "" : " ", unit);
	return out;
}

static void rows(struct jl_buf *out, const struct field *f, size_t margin, const char *top, const char *low)
{
	for (int r = 0; r < ROWS; r++) {
		const char *at = r == 0 ? top : r == ROWS - 1 ? low : "";
		int end = COLUMNS;

		while (end > 0 && f->grid[r][end - 1] == ' ')
			end--;
		jl_buf_pad(out, ' ', margin - jl_utf8_width(at));
		jl_buf_printf(out, "%s │%.*s\n", at, end, f->grid[r]);
	}
	jl_buf_pad(out, ' ', margin);
	jl_buf_puts(out, " └");
	for (int i = 0; i < COLUMNS; i++)
		jl_buf_puts(out, "─");
	jl_buf_putc(out, '\n');
}

void jl_chart_plot(struct jl_buf *out, const struct jl_chart *c)
{
	struct field f = { .chart = c };
	char top[JL_UNITS_TEXT_MAX], low[JL_UNITS_TEXT_MAX];

	if (!jl_chart_range(c, &f.x_lo, &f.x_hi, &f.y_lo, &f.y_hi))
		return;
	memset(f.grid, ' ', sizeof f.grid);
	for (size_t i = 0; i < c->n_marks; i++)
		for (int r = 0; r < ROWS; r++)
			f.grid[r][place(&c->x, f.x_lo, f.x_hi, c->marks[i].x, COLUMNS)] = ':';
	for (int front = 0; front < 2; front++) /* points of the front are drawn last */
		for (size_t i = 0; i < c->n_series; i++)
			put_series(&f, i, front);
	end_text(top, &c->y, f.y_hi);
	end_text(low, &c->y, f.y_lo);
	const size_t margin = (size_t)fmax(13, fmax((double)jl_utf8_width(top), (double)jl_utf8_width(low)));

	rows(out, &f, margin, top, low);
	end_text(top, &c->x, f.x_lo);
	end_text(low, &c->x, f.x_hi);
	jl_buf_pad(out, ' ', margin + 2);
	jl_buf_puts(out, top);
	jl_buf_pad(out, ' ', COLUMNS - jl_utf8_width(top) - jl_utf8_width(low));
	jl_buf_printf(out, "%s\n", low);
	jl_buf_pad(out, ' ', margin);
	for (size_t i = 0; i < c->n_series; i++)
		jl_buf_printf(out, "  %c %s", (is_line(c, i) ? 'a' : 'A') + (int)i, c->series[i].name);
	jl_buf_putc(out, '\n');
}
