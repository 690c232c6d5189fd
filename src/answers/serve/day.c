/* Copies of a served model over a day, in steps of an autoscaler's period: requests in flight set the number of copies, a new copy takes time
 * to start, unanswered requests wait. A copy is a table; devices and engines are unknown here. */
#include "serve/day.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/text.h"

#define STEP_S      15.0 /* metric interval of Kubernetes */
#define N_STEP      5760 /* per day */
#define SETTLE_STEP 20   /* scale-down window: five minutes */
#define WITHIN      0.9  /* targets apply to nine requests in ten */
#define COPIES_MOST 100000.0
#define POINTS_MOST 1440

/* Shares of the peak at 0, 1, ... 23 h: estimated shapes, not a measured load. */
static const struct {
	const char *name;
	double at[JL_DAY_HOURS];
} shapes[] = {
	{ "office", { .05, .04, .04, .04, .05, .08, .15, .35, .70, .92, 1.0, .97,
		      .82, .90, .98, .96, .88, .70, .45, .28, .20, .15, .10, .07 } },
	{ "evening", { .45, .30, .20, .15, .12, .12, .16, .25, .36, .45, .50, .54,
		       .58, .58, .58, .60, .65, .70, .78, .88, .97, 1.0, .90, .66 } },
	{ "flat", { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
};

struct point {
	double hour, hz;
};

static double between(const struct point *a, const struct point *b, double hour)
{
	return b->hour > a->hour ? a->hz + (b->hz - a->hz) * (hour - a->hour) / (b->hour - a->hour) : a->hz;
}

/* Interpolates from the last point to the first one of the next day. */
static void interpolate(struct jl_day_load *load, const struct point *points, size_t n)
{
	const struct point before = { points[n - 1].hour - 24, points[n - 1].hz },
			   after = { points[0].hour + 24, points[0].hz };
	size_t next = 0;

	for (int m = 0; m < JL_DAY_MINUTES; m++) {
		const double hour = m / 60.0;

		while (next < n && points[next].hour <= hour)
			next++;
		load->hz[m] = between(next > 0 ? &points[next - 1] : &before, next < n ? &points[next] : &after, hour);
		load->peak_hz = fmax(load->peak_hz, load->hz[m]);
		load->mean_hz += load->hz[m] / JL_DAY_MINUTES;
	}
}

static enum jl_status read_points(struct point *ret_points, size_t *ret_n, const char *text, size_t len,
				  const char *file, struct jl_err *err)
{
	struct jl_csv csv;
	size_t hour, rate, n = 0;
	enum jl_status status = jl_csv_open(&csv, text, len, file, err);

	if (status)
		return status;
	status = jl_csv_need(&csv, "hour", &hour, err);
	JL_THEN(status, jl_csv_need(&csv, "rate", &rate, err));
	while (jl_csv_more(&csv, &status, err)) {
		struct point p;

		status = jl_csv_number(&csv, hour, &p.hour, err);
		JL_THEN(status, jl_csv_number(&csv, rate, &p.hz, err));
		if (status)
			break;
		if (!(p.hour >= 0 && p.hour < 24) || !(p.hz >= 0 && p.hz <= 1e6) ||
		    (n > 0 && !(p.hour > ret_points[n - 1].hour)))
			status = jl_fail(err, JL_E_DATA,
					 "%.80s:%zu: hours from 0 to below 24 in order, rates of 0 to a million a "
					 "second",
					 file, csv.line - 1);
		else if (n == POINTS_MOST)
			status = jl_fail(err, JL_E_LIMIT, "%.80s: more than %d points of a day", file, POINTS_MOST);
		else
			ret_points[n++] = p;
	}
	jl_csv_release(&csv);
	if (!status && n == 0)
		status = jl_fail(err, JL_E_DATA, "%.80s: no rates", file);
	*ret_n = n;
	return status;
}

enum jl_status jl_day_read(struct jl_day_load *ret_load, const char *shape, const char *text, size_t len,
			   double peak_hz, struct jl_err *err)
{
	struct jl_day_load load = { .peak_hz = 0 };
	struct point points[POINTS_MOST];
	size_t n = 0;

	for (size_t i = 0; i < JL_LEN(shapes) && !text; i++)
		for (; strcmp(shape, shapes[i].name) == 0 && n < JL_DAY_HOURS; n++)
			points[n] = (struct point){ (double)n, shapes[i].at[n] };
	if (text)
		JL_TRY(read_points(points, &n, text, len, shape, err));
	if (n == 0)
		return jl_fail(err, JL_E_USAGE, "--day: '%.40s' is not a shape; write office, evening, flat or a file",
			       shape);
	if (isnan(peak_hz) && !text)
		return jl_fail(err, JL_E_USAGE, "--day %.40s needs its highest rate, e.g. --rate 20/s", shape);
	interpolate(&load, points, n);
	if (!(load.peak_hz > 0))
		return jl_fail(err, JL_E_DATA, "%.80s: no requests all day", shape);
	const double scale = isnan(peak_hz) ? 1 : peak_hz / load.peak_hz;

	for (int m = 0; m < JL_DAY_MINUTES; m++)
		load.hz[m] *= scale;
	load.peak_hz *= scale;
	load.mean_hz *= scale;
	*ret_load = load;
	return JL_OK;
}

/* A copy's table at a rate; above its last rate, limited by its throughput. */
static double at_rate(const struct jl_day_copy *c, const double *values, double most, double hz)
{
	int i = 0;

	while (i < c->n && c->hz[i] < hz)
		i++;
	const struct point a = i > 0 ? (struct point){ c->hz[i - 1], values[i - 1] }
				     : (struct point){ 0, values == c->in_flight ? 0 : values[0] },
			   b = i < c->n ? (struct point){ c->hz[i], values[i] } : (struct point){ c->most_hz, most };

	return between(&a, &b, fmin(hz, b.hour));
}

/* Copies of a day: ready ones, and starting ones by the step in which they are ready. */
struct fleet {
	double n, starting, line; /* line: requests waiting for a copy */
	double coming[N_STEP + 1];
	double wanted[SETTLE_STEP];
};

/* Scales up to the metric at once; scales down only to the maximum of the window. */
static void scale(struct fleet *f, long step, long start_steps, double wanted, double least)
{
	double most = 0;

	f->wanted[step % SETTLE_STEP] = wanted;
	for (int i = 0; i < SETTLE_STEP; i++)
		most = fmax(most, f->wanted[i]);
	const double all = f->n + f->starting,
		     next = fmin(fmax(wanted > all ? wanted : fmin(most, all), least), COPIES_MOST);

	if (next > all) {
		f->coming[(step + start_steps) % (N_STEP + 1)] += next - all;
		f->starting += next - all;
	}
	double gone = fmax(all - next, 0);

	/* the last started are removed first */
	for (long i = start_steps; i > 0 && gone > 0; i--) {
		double *const coming = &f->coming[(step + i) % (N_STEP + 1)];
		const double here = fmin(gone, *coming);

		*coming -= here;
		f->starting -= here;
		gone -= here;
	}
	f->n -= gone;
}

struct jl_day_size jl_day_run(const struct jl_day_load *load, const struct jl_day_copy *copy, int n_fixed,
			      double start_s, double target, struct jl_day_hour *hours)
{
	const long start_steps = (long)fmin(fmax(ceil(start_s / STEP_S), 1), N_STEP);
	double sum[JL_DAY_HOURS] = { 0 }, within[JL_DAY_HOURS] = { 0 }, copies[JL_DAY_HOURS] = { 0 },
	       quiet_hz = INFINITY;
	struct jl_day_size size = { .least = (int)COPIES_MOST, .worst_frac = 1, .gpu_h = NAN, .usd = NAN };
	struct fleet f = { .n = n_fixed };
	double all = 0, good = 0;

	for (int m = 0; m < JL_DAY_MINUTES; m++)
		quiet_hz = fmin(quiet_hz, load->hz[m]);
	const double least = fmax(ceil(quiet_hz / copy->held_hz), 1);

	f.n = n_fixed > 0 ? n_fixed : fmax(ceil(load->hz[0] / copy->held_hz), least);
	for (long i = 0; i < 2L * N_STEP; i++) {
		const double hz = load->hz[i % N_STEP * JL_DAY_MINUTES / N_STEP];
		const int hour = (int)(i % N_STEP * JL_DAY_HOURS / N_STEP);
		double *const ready = &f.coming[i % (N_STEP + 1)];

		f.n += *ready;
		f.starting -= *ready;
		*ready = 0;
		const double was = f.line, answered_hz = f.n * copy->most_hz;

		f.line = fmax(f.line + (hz - answered_hz) * STEP_S, 0);
		const double each_hz = f.line > 0 || was > 0 ? copy->most_hz : hz / f.n,
			     wait_s = 0.5 * (was + f.line) / answered_hz,
			     ok = wait_s > copy->wait_max_s
					  ? 0
					  : fmax(at_rate(copy, copy->within_frac, copy->most_within_frac, each_hz), 0),
			     in_flight = f.n * at_rate(copy, copy->in_flight, copy->most_in_flight, each_hz) + f.line;

		if (i >= N_STEP) {
			const double arrived = hz * STEP_S;

			all += arrived;
			good += ok * arrived;
			sum[hour] += arrived;
			within[hour] += ok * arrived;
			copies[hour] += (f.n + f.starting) * JL_DAY_HOURS / N_STEP;
			size.mean += (f.n + f.starting) / N_STEP;
			size.least = (int)fmin(size.least, f.n);
			size.most = (int)fmax(size.most, f.n);
		}
		if (n_fixed <= 0)
			scale(&f, i, start_steps, ceil(in_flight / target), least);
	}
	size.within_frac = all > 0 ? good / all : 1;
	for (int h = 0; h < JL_DAY_HOURS; h++) {
		const double frac = sum[h] > 0 ? within[h] / sum[h] : 1;

		size.worst_frac = fmin(size.worst_frac, frac);
		if (hours)
			hours[h] = (struct jl_day_hour){ sum[h] * JL_DAY_HOURS / 86400, copies[h], frac };
	}
	return size;
}

void jl_day_weigh(struct jl_day *day, const struct jl_day_load *load, const struct jl_day_copy *copy)
{
	static const double fullness[] = { 1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.5, 0.4, 0.3, 0.2 };
	const int n = (int)fmin(fmax(ceil(load->peak_hz / copy->held_hz - 1e-9), 1), COPIES_MOST);

	day->fixed = jl_day_run(load, copy, n, day->start_s, 1, NULL);
	day->scaled.worst_frac = -1;
	for (size_t i = 0; i < JL_LEN(fullness) && day->scaled.worst_frac < fmin(WITHIN, day->fixed.worst_frac); i++) {
		const double target = fmax(
			fullness[i] * at_rate(copy, copy->in_flight, copy->most_in_flight, copy->held_hz), 1e-3);
		const struct jl_day_size s = jl_day_run(load, copy, 0, day->start_s, target, NULL);

		if (s.worst_frac <= day->scaled.worst_frac)
			continue;
		day->scaled = s;
		day->target = target;
	}
	(void)jl_day_run(load, copy, 0, day->start_s, day->target, day->hours);
	day->same = jl_day_run(load, copy, (int)fmax(floor(day->scaled.mean), 1), day->start_s, 1, NULL);
	day->n_hours = JL_DAY_HOURS;
}
