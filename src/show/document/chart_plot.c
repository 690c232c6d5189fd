/* Scatter plots as text: a letter per series, capital for Pareto-optimal points. */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "document/chart_scale.h"

#define ROWS    11
#define COLUMNS 62

static int place(const struct jl_axis *axis, double lo, double hi, double value, int n)
{
	const double span = axis->log ? log(hi / lo) : hi - lo;
	const double along = axis->log ? log(value / lo) : value - lo;
	const int at = span > 0 ? (int)(along / span * (n - 1) + 0.5) : 0;

	return at < 0 ? 0 : at >= n ? n - 1 : at;
}

void jl_chart_plot(struct jl_buf *out, const struct jl_chart *c)
{
	char grid[ROWS][COLUMNS + 1], top[JL_UNITS_TEXT_MAX], low[JL_UNITS_TEXT_MAX], left[JL_UNITS_TEXT_MAX],
		right[JL_UNITS_TEXT_MAX];
	double x_lo, x_hi, y_lo, y_hi;

	if (!jl_chart_range(c, &x_lo, &x_hi, &y_lo, &y_hi))
		return;
	memset(grid, ' ', sizeof grid);
	for (int front = 0; front < 2; front++) /* front points are drawn last */
		for (size_t i = 0; i < c->n_series; i++)
			for (size_t k = 0; k < c->series[i].n_points; k++) {
				const struct jl_chart_point *p = &c->series[i].points[k];

				if (p->front == front)
					grid[ROWS - 1 - place(&c->y, y_lo, y_hi, p->y, ROWS)]
					    [place(&c->x, x_lo, x_hi, p->x, COLUMNS)] = (char)((front ? 'A' : 'a') +
											       (int)i);
			}
	jl_units_localized(top, y_hi, c->y.kind, 2);
	jl_units_localized(low, y_lo, c->y.kind, 2);
	jl_units_localized(left, x_lo, c->x.kind, 2);
	jl_units_localized(right, x_hi, c->x.kind, 2);
	for (int r = 0; r < ROWS; r++) {
		int end = COLUMNS;

		while (end > 0 && grid[r][end - 1] == ' ')
			end--;
		const char *at = r == 0 ? top : r == ROWS - 1 ? low : "";
		const size_t width = jl_utf8_width(at);

		jl_buf_pad(out, ' ', width < 13 ? 13 - width : 0);
		jl_buf_printf(out, "%s │%.*s\n", at, end, grid[r]);
	}
	jl_buf_printf(out, "  %11s └", "");
	for (int i = 0; i < COLUMNS; i++)
		jl_buf_puts(out, "─");
	jl_buf_printf(out, "\n  %11s  %s", "", left);
	jl_buf_pad(out, ' ', COLUMNS - jl_utf8_width(left) - jl_utf8_width(right));
	jl_buf_printf(out, "%s\n  %11s  ", right, "");
	for (size_t i = 0; i < c->n_series; i++)
		jl_buf_printf(out, "%s%c %s", i ? "   " : "", 'A' + (int)i, c->series[i].name);
	jl_buf_putc(out, '\n');
}
