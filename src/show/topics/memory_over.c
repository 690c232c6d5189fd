/* Memory of one device over a training step: of a captured program by its calls, of a transformer or network by the passes of its
 * micro-batches. Computes no costs. */
#include <math.h>

#include "document/chart.h"
#include "topics/predict.h"

/* Start of a pass: "backward from 292 ms". */
static void put_mark(struct jl_doc *doc, struct jl_chart *chart, double x, const char *pass)
{
	const char *at = chart->x.kind == JL_K_TIME ? jl_units_localized(JL_TXT, x, JL_K_TIME, 2)
						    : jl_percent_text(doc, x / 100);

	if (chart->n_marks >= JL_LEN(chart->marks))
		return;
	chart->marks[chart->n_marks].x = x;
	chart->marks[chart->n_marks++].label = jl_doc_format(doc, JL_("%s from %s"), pass, at);
}

/* A dashed line across the chart, with its height in its name. */
static void put_level(struct jl_doc *doc, struct jl_chart *chart, const char *format, enum jl_origin origin,
		      double level_B, double from, double to)
{
	struct jl_chart_point *points =
		isnan(level_B) ? NULL
			       : jl_show_series(doc, chart, chart->n_series,
						jl_doc_format(doc, format, jl_memory_text(JL_TXT, level_B)), origin, 2);

	if (!points)
		return;
	points[0].x = from;
	points[1].x = to;
	points[0].y = points[1].y = level_B;
	chart->series[chart->n_series++].dashed = true;
}

static void put_capacity(struct jl_doc *doc, struct jl_chart *chart, double capacity_B, double end)
{
	put_level(doc, chart, JL_("the device has %s"), JL_LISTED, capacity_B, 0, end);
}

/* --- a captured program: call by call */

#define LIVE_POINTS 160

static void of_program(struct jl_doc *doc, struct jl_chart *chart, const struct jl_captured *captured,
		       double capacity_B)
{
	const char *const names[JL_N_PHASE] = {
		[JL_PHASE_BACKWARD] = JL_C("pass", "backward"), [JL_PHASE_UPDATE] = JL_("optimizer")
	};
	const struct jl_program *p = &captured->p;
	bool seen[JL_N_PHASE] = { false };
	double live_B[LIVE_POINTS];
	struct jl_chart_point *points = jl_show_series(doc, chart, 0, JL_("what tensors hold"), JL_ESTIMATED,
						       LIVE_POINTS);

	if (!points)
		return;
	jl_program_live(live_B, LIVE_POINTS, p, NULL);
	chart->x = JL_AXIS(.label = JL_("share of the step's calls"), .unit = "%");
	for (size_t i = 0; i < LIVE_POINTS; i++) {
		points[i].x = 100.0 * (double)i / LIVE_POINTS;
		points[i].y = live_B[i];
	}
	for (size_t i = 0; i < p->n_events; i++) {
		const uint8_t phase = p->events[i].phase;

		if (p->events[i].what != JL_EVENT_CALL || seen[phase] || !names[phase])
			continue;
		seen[phase] = true;
		put_mark(doc, chart, 100.0 * (double)i / (double)p->n_events, names[phase]);
	}
	put_capacity(doc, chart, capacity_B, 100);
	jl_doc_chart(doc, chart);
}

/* micro-batches drawn individually */

#define TEETH_MAX 6 /* micro-batches that are drawn one by one */

struct passes {
	double begin_s, end_s, step_s;    /* of the passes; of the step */
	double before_B, full_B, after_B; /* before the first pass, between forward and backward, after the last pass */
	double forward_frac, in_flight_frac; /* of a micro-batch's time; of a step's micro-batches, held at once */
	double n;
};

static struct passes passes_of(const struct jl_case *c, const struct jl_prediction *p)
{
	const struct jl_memory *m = &p->memory;
	const struct jl_plan *plan = &c->plan;
	const double grads_B = m->grads_later ? m->gradients_B : 0, before_B = m->total_B - m->activations_B - grads_B,
		     kept_B = m->passes_B > 0 ? m->passes_B : m->activations_B;

	return (struct passes){ .begin_s = p->step.input_s + p->step.generate_s,
				.end_s = p->step.step_s - p->step.dp_s - p->step.offload_s - p->step.optimizer_s,
				.step_s = p->step.step_s,
				.before_B = before_B,
				.full_B = fmin(before_B + kept_B, m->total_B),
				.after_B = before_B + grads_B,
				.forward_frac = jl_forward_frac(plan),
				.n = fmax(1, plan->n_micro),
				.in_flight_frac = plan->pp > 1 && !plan->serial
							  ? jl_pipeline_in_flight(plan->pp, plan->n_micro,
										  plan->n_chunks, 0) /
								    plan->n_micro
							  : 0 };
}

static void add(struct jl_chart_series *series, double at_s, double held_B)
{
	struct jl_chart_point *points = (struct jl_chart_point *)series->points;

	points[series->n_points].x = at_s;
	points[series->n_points++].y = held_B;
}

/* Each micro-batch fills memory and releases it. The fullest stage of a pipeline fills with the first micro-batches and empties with the last;
 * for many micro-batches only the upper and lower level are drawn. */
static void add_passes(struct jl_chart_series *series, const struct passes *in)
{
	const double all_s = in->end_s - in->begin_s, each_s = all_s / in->n;

	add(series, in->begin_s, in->before_B);
	if (in->in_flight_frac > 0) {
		add(series, in->begin_s + in->forward_frac * in->in_flight_frac * all_s, in->full_B);
		add(series, in->end_s - (1 - in->forward_frac) * in->in_flight_frac * all_s, in->full_B);
	} else if (in->n > TEETH_MAX) {
		add(series, in->begin_s + in->forward_frac * each_s, in->full_B);
		add(series, in->end_s - (1 - in->forward_frac) * each_s, in->full_B);
	} else {
		for (double i = 0; i < in->n; i++) {
			if (i > 0)
				add(series, in->begin_s + i * each_s, in->after_B);
			add(series, in->begin_s + (i + in->forward_frac) * each_s, in->full_B);
		}
	}
	add(series, in->end_s, in->after_B);
}

static void of_passes(struct jl_doc *doc, struct jl_chart *chart, const struct jl_case *c,
		      const struct jl_prediction *p)
{
	const struct passes in = passes_of(c, p);
	const double update_s = p->step.optimizer_s;
	struct jl_chart_series *series = chart->series;

	if (!jl_show_series(doc, chart, 0, JL_("in use"), JL_ESTIMATED, 2 * TEETH_MAX + 8))
		return;
	series->n_points = 0;
	if (in.begin_s > 0)
		add(series, 0, in.before_B);
	add_passes(series, &in);
	if (p->memory.in_update) {
		add(series, in.step_s - update_s, in.after_B);
		add(series, in.step_s - update_s, p->memory.total_B);
	}
	add(series, in.step_s, p->memory.in_update ? p->memory.total_B : in.after_B);
	chart->x = JL_AXIS(.label = JL_("time"), .kind = JL_K_TIME);
	if (in.n <= 1 && !(in.in_flight_frac > 0))
		put_mark(doc, chart, in.begin_s + in.forward_frac * (in.end_s - in.begin_s), JL_C("pass", "backward"));
	if (update_s > 0.02 * in.step_s)
		put_mark(doc, chart, in.step_s - update_s, JL_("optimizer"));
	if (in.n > 1)
		chart->title = jl_doc_format(
			doc,
			in.in_flight_frac > 0
				? JL_("Memory over the step, one %s of the first stage: %.0f micro-batches pass")
				: JL_("Memory over the step, one %s: each of %.0f micro-batches fills and empties it"),
			jl_show_card(c), in.n);
	if (in.n > TEETH_MAX && !(in.in_flight_frac > 0))
		put_level(doc, chart, JL_("%s between micro-batches"), JL_ESTIMATED, in.after_B, in.begin_s, in.end_s);
	put_capacity(doc, chart, p->capacity_B, in.step_s);
	jl_doc_chart(doc, chart);
}

void jl_show_memory_over(struct jl_doc *doc, const struct jl_case *c, const struct jl_prediction *p)
{
	struct jl_chart *chart = jl_show_chart(
		doc, JL_CHART_LINE, jl_doc_format(doc, JL_("Memory over the step, one %s"), jl_show_card(c)), 3);

	if (!chart)
		return;
	chart->n_series = 1;
	chart->y = JL_AXIS(.label = JL_("memory"), .kind = JL_K_BYTES, .binary = true);
	chart->y.lo = 0;
	/* labels of the marks are above the capacity line */
	chart->y.hi = 1.18 * fmax(isnan(p->capacity_B) ? 0 : p->capacity_B, p->memory.total_B);
	chart->tabled = true;
	if (c->subject.program)
		of_program(doc, chart, c->subject.program, p->capacity_B);
	else if (p->memory.gradients_B > 0 && p->memory.activations_B > 0)
		of_passes(doc, chart, c, p);
}
