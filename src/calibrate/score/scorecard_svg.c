/* Plot of predicted against measured values, log-log, with colours for light and dark pages. */
#include <math.h>

#include "base/mem.h"
#include "score/scorecard.h"

enum { SIZE = 560, LEFT = 70, TOP = 40, PLOT = 450 };

struct axes {
	double lo, hi; /* log10; the same range on both axes */
};

static double at_x(const struct axes *a, double value)
{
	return LEFT + PLOT * (log10(value) - a->lo) / (a->hi - a->lo);
}

static double at_y(const struct axes *a, double value)
{
	return TOP + PLOT - PLOT * (log10(value) - a->lo) / (a->hi - a->lo);
}

static struct axes axes_of(const struct jl_validate_line *line)
{
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < line->n_rows; i++) {
		if (isnan(jl_validate_ln(line->rows[i])))
			continue;
		lo = fmin(lo, log10(fmin(line->rows[i]->meas, line->rows[i]->pred)));
		hi = fmax(hi, log10(fmax(line->rows[i]->meas, line->rows[i]->pred)));
	}
	const double margin = 0.03 * (hi - lo) + 0.02;

	return (struct axes){ .lo = lo - margin, .hi = hi + margin };
}

/* Ticks at powers of ten; for a narrow range also at 2 and 5. */
static void ticks(struct jl_buf *out, const struct axes *a)
{
	static const double steps[] = { 1, 2, 5 };
	const size_t n_steps = a->hi - a->lo < 3.0 ? 3 : 1;
	const int every = a->hi - a->lo > 9.0 ? 2 : 1;

	for (int p = (int)floor(a->lo); p <= (int)ceil(a->hi); p++) {
		for (size_t s = 0; s < n_steps; s++) {
			const double value = steps[s] * pow(10.0, p);

			if (log10(value) < a->lo || log10(value) > a->hi || p % every != 0)
				continue;
			const double x = at_x(a, value), y = at_y(a, value);

			jl_buf_printf(out, "<path class=\"g\" d=\"M%.1f %dv%dM%d %.1fh%d\"/>\n", x, TOP, PLOT, LEFT, y,
				      PLOT);
			jl_buf_printf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", x,
				      TOP + PLOT + 16, value);
			jl_buf_printf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 6,
				      y + 4.0, value);
		}
	}
}

static void frame(struct jl_buf *out, const struct jl_validate_line *line)
{
	jl_buf_printf(out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
		      "role=\"img\" aria-label=\"%s: predicted against measured\">\n"
		      "<style>\n"
		      "text{font:12px sans-serif;fill:#24292f}.t{font-size:14px;font-weight:bold}\n"
		      ".g{stroke:#d0d7de;fill:none}.d{stroke:#57606a;fill:none}.b{fill:#2da44e;opacity:.15}\n"
		      ".p{stroke:#0969da;stroke-width:4;stroke-linecap:round;stroke-opacity:.45;fill:none}.o{stroke:#"
		      "cf222e}\n"
		      "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.g{stroke:#30363d}.d{stroke:#8b949e}.b{fill:"
		      "#3fb950}.p{stroke:#58a6ff}.o{stroke:#ff7b72}}\n"
		      "</style>\n",
		      SIZE, SIZE, SIZE, SIZE, line->set);
}

/* Points inside or outside the interval, one path each. */
static void points(struct jl_buf *out, const struct jl_validate_line *line, const struct axes *a, bool inside)
{
	jl_buf_printf(out, "<path class=\"p%s\" d=\"", inside ? "" : " o");
	for (size_t i = 0; i < line->n_rows; i++) {
		const struct jl_set_row *row = line->rows[i];
		const double off = fabs(jl_validate_ln(row));

		if (!isnan(off) && (off <= row->half_ln) == inside)
			jl_buf_printf(out, "M%.1f %.1fh0", at_x(a, row->meas), at_y(a, row->pred));
	}
	jl_buf_puts(out, "\"/>\n");
}

bool jl_scorecard_svg(struct jl_buf *out, const struct jl_validate_line *line)
{
	double *ln = jl_realloc(NULL, (2 * line->n_rows + 2) * sizeof(*ln));

	if (!ln || line->score.n_scored == 0) {
		jl_free(ln);
		return false;
	}
	for (size_t i = 0; i < line->n_rows; i++)
		ln[i] = jl_validate_ln(line->rows[i]);
	const double band = jl_score_interval_ln(ln, line->n_rows, 0.8, ln + line->n_rows + 1) / log(10.0);
	const struct axes a = axes_of(line);
	const double lo = pow(10.0, a.lo), hi = pow(10.0, a.hi), w = pow(10.0, band);

	jl_free(ln);
	frame(out, line);
	ticks(out, &a);
	jl_buf_printf(out, "<clipPath id=\"c\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n", LEFT,
		      TOP, PLOT, PLOT);
	jl_buf_printf(out,
		      "<g clip-path=\"url(#c)\"><path class=\"b\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/>\n",
		      at_x(&a, lo), at_y(&a, lo * w), at_x(&a, hi), at_y(&a, hi * w), at_x(&a, hi), at_y(&a, hi / w),
		      at_x(&a, lo), at_y(&a, lo / w));
	jl_buf_printf(out, "<path class=\"d\" d=\"M%.1f %.1fL%.1f %.1f\"/></g>\n", at_x(&a, lo), at_y(&a, lo),
		      at_x(&a, hi), at_y(&a, hi));
	points(out, line, &a, true);
	points(out, line, &a, false);
	jl_buf_printf(out,
		      "<text class=\"t\" x=\"%d\" y=\"22\">%s: %zu rows, median %.1f %% off; band holds 80 %%</text>\n",
		      LEFT, line->set, line->score.n_scored, 100.0 * line->score.median_abs_ln);
	jl_buf_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">measured (%s)</text>\n", LEFT + PLOT / 2,
		      SIZE - 24, line->unit);
	jl_buf_printf(out,
		      "<text transform=\"translate(16 %d)rotate(-90)\" text-anchor=\"middle\">predicted (%s)</text>\n",
		      TOP + PLOT / 2, line->unit);
	jl_buf_puts(out, "</svg>\n");
	return true;
}
