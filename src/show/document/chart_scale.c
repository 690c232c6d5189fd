#include "document/chart_scale.h"

#include <math.h>
#include <stdio.h>

static double nice_step(double span, size_t n_wanted)
{
	const double raw = span / (double)(n_wanted ? n_wanted : 1), power = pow(10, floor(log10(raw))),
		     f = raw / power;

	return (f <= 1 ? 1 : f <= 2 ? 2 : f <= 5 ? 5 : 10) * power;
}

static void linear_ticks(struct jl_scale *s, size_t n_wanted)
{
	const double step = nice_step(s->hi - s->lo, n_wanted), first = ceil(s->lo / step - 1e-9) * step;

	for (double v = first; v <= s->hi + step * 1e-6 && s->n_ticks < JL_TICKS_MAX; v += step)
		s->ticks[s->n_ticks++] = fabs(v) < step * 1e-9 ? 0 : v;
}

static void log_ticks(struct jl_scale *s, size_t n_wanted)
{
	const double decades = log10(s->hi / s->lo);
	const bool by_two = decades < 1.6;
	const double base = by_two ? 2 : 10;
	double step = ceil(log(s->hi / s->lo) / log(base) / (double)n_wanted);

	if (step < 1)
		step = 1;
	for (double e = ceil(log(s->lo) / log(base) - 1e-9); s->n_ticks < JL_TICKS_MAX; e += step) {
		const double v = pow(base, e);
		if (v > s->hi * (1 + 1e-9))
			break;
		s->ticks[s->n_ticks++] = v;
	}
}

void jl_scale_decimal(struct jl_scale *s)
{
	static const double few[] = { 1, 2, 5 }, more[] = { 1, 1.5, 2, 3, 4, 5, 6, 8 };
	const bool wide = s->log && s->hi / s->lo > 6;
	const double *const steps = wide ? few : more;
	const size_t n = wide ? JL_LEN(few) : JL_LEN(more);

	if (!s->log || s->hi / s->lo > 500)
		return; /* already powers of ten */
	s->n_ticks = 0;
	for (double power = pow(10, floor(log10(s->lo))); power <= s->hi; power *= 10)
		for (size_t i = 0; i < n; i++)
			if (power * steps[i] >= s->lo * (1 - 1e-9) && power * steps[i] <= s->hi * (1 + 1e-9) &&
			    s->n_ticks < JL_TICKS_MAX)
				s->ticks[s->n_ticks++] = power * steps[i];
}

void jl_scale_step(struct jl_scale *s, double step)
{
	if (s->log || !(step > 0) || (s->hi - s->lo) / step > JL_TICKS_MAX - 1)
		return;
	s->n_ticks = 0;
	for (double v = ceil(s->lo / step - 1e-9) * step; v <= s->hi + step * 1e-6 && s->n_ticks < JL_TICKS_MAX;
	     v += step)
		s->ticks[s->n_ticks++] = v;
}

void jl_scale_binary(struct jl_scale *s, size_t n_wanted)
{
	double unit = 1;

	while (s->hi / unit >= 1024)
		unit *= 1024;
	jl_scale_step(s, nice_step((s->hi - s->lo) / unit, n_wanted) * unit);
}

struct jl_scale jl_scale_make(double lo, double hi, bool is_log, double from, double to, size_t n_wanted)
{
	struct jl_scale s = { .lo = lo, .hi = hi, .from = from, .to = to, .log = is_log && lo > 0 };

	if (!(s.hi > s.lo)) {
		s.hi = s.log ? s.lo * 2 : s.lo + (s.lo != 0 ? fabs(s.lo) : 1);
		s.lo = s.log ? s.lo / 2 : s.lo;
	}
	if (s.log)
		log_ticks(&s, n_wanted);
	else
		linear_ticks(&s, n_wanted);
	return s;
}

double jl_scale_at(const struct jl_scale *s, double value)
{
	const double share = s->log ? log(value / s->lo) / log(s->hi / s->lo) : (value - s->lo) / (s->hi - s->lo);
	const double bounded = share < 0 ? 0 : share > 1 ? 1 : share;

	return s->from + bounded * (s->to - s->from);
}

const char *jl_tick_text(char out[JL_UNITS_TEXT_MAX], const struct jl_axis *axis, double value)
{
	if (value == 0) {
		snprintf(out, JL_UNITS_TEXT_MAX, "0");
		return out;
	}
	if (axis->binary)
		return jl_memory_text(out, value);
	if (axis->kind != JL_K_NUMBER)
		return jl_units_localized(out, value, axis->kind, 3);
	if (fabs(value) >= 1e6 || (value != 0 && fabs(value) < 1e-3))
		return jl_units_localized(out, value, JL_K_NUMBER, 3);
	snprintf(out, JL_UNITS_TEXT_MAX, "%.6g", value);
	return out;
}

const char *jl_axis_unit(const struct jl_axis *axis)
{
	if (axis->kind != JL_K_NUMBER)
		return jl_kind_suffix(axis->kind);
	return axis->unit ? axis->unit : axis->of ? axis->of : "1";
}

struct jl_num jl_chart_num(const struct jl_chart *chart, const struct jl_chart_series *s,
			   const struct jl_chart_point *p)
{
	return (struct jl_num){ .value = p->y,
				.kind = chart->y.kind,
				.unit = chart->y.unit,
				.binary = chart->y.binary,
				.lo = p->lo,
				.hi = p->hi,
				.origin = p->own ? p->origin : s->origin,
				.source = p->own ? p->source : s->source,
				.date = p->own ? p->date : NULL };
}

struct jl_num jl_chart_total(const struct jl_chart *chart, size_t k)
{
	struct jl_num total = {
		.kind = chart->y.kind, .unit = chart->y.unit, .binary = chart->y.binary, .lo = NAN, .hi = NAN
	};
	bool any = false;

	for (size_t i = 0; i < chart->n_series; i++) {
		const struct jl_chart_series *s = &chart->series[i];
		struct jl_num part;

		if (k >= s->n_points || isnan(s->points[k].y))
			continue;
		part = jl_chart_num(chart, s, &s->points[k]);
		total.value += part.value;
		if (any && part.origin != total.origin)
			part.origin = JL_ESTIMATED;
		if (any && part.source != total.source)
			part.source = NULL;
		total.origin = part.origin;
		total.source = part.source;
		any = true;
	}
	return total;
}

bool jl_chart_is_level(const struct jl_chart_series *s)
{
	return s->dashed && s->name && s->n_points == 2 && s->points[0].y == s->points[1].y;
}

double jl_chart_far(const struct jl_chart *chart)
{
	double far = 0;

	for (size_t i = 0; i < chart->n_series; i++)
		for (size_t k = 0; k < chart->series[i].n_points; k++) {
			const struct jl_chart_point *p = &chart->series[i].points[k];

			far = fmax(far, fmax(p->from + p->y, p->hi)); /* fmax ignores NAN */
		}
	for (size_t i = 0; i < chart->n_marks; i++)
		far = fmax(far, chart->marks[i].x);
	return far > 0 ? far : 1;
}

static void widen(double *lo, double *hi, double v)
{
	if (isnan(v) || isinf(v))
		return;
	*lo = isnan(*lo) || v < *lo ? v : *lo;
	*hi = isnan(*hi) || v > *hi ? v : *hi;
}

bool jl_chart_range(const struct jl_chart *chart, double *ret_x_lo, double *ret_x_hi, double *ret_y_lo,
		    double *ret_y_hi)
{
	double x_lo = NAN, x_hi = NAN, y_lo = NAN, y_hi = NAN;

	for (size_t i = 0; i < chart->n_series; i++)
		for (size_t k = 0; k < chart->series[i].n_points; k++) {
			const struct jl_chart_point *p = &chart->series[i].points[k];

			widen(&x_lo, &x_hi, p->x);
			widen(&y_lo, &y_hi, p->y);
			widen(&y_lo, &y_hi, p->lo);
			widen(&y_lo, &y_hi, p->hi);
		}
	if (isnan(x_lo) || isnan(y_lo))
		return false;
	/* linear axes start at 0: lengths are comparable */
	if (!chart->y.log && y_lo > 0)
		y_lo = 0;
	*ret_x_lo = isnan(chart->x.lo) ? x_lo : chart->x.lo;
	*ret_x_hi = isnan(chart->x.hi) ? x_hi : chart->x.hi;
	*ret_y_lo = isnan(chart->y.lo) ? y_lo : chart->y.lo;
	*ret_y_hi = isnan(chart->y.hi) ? y_hi : chart->y.hi;
	return true;
}
