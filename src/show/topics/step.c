/* A step as charts: its parts on one time axis, with overlapped communication; and the pipeline schedule with its bubbles. */
#include <math.h>
#include <string.h>

#include "document/chart.h"
#include "topics/predict.h"

enum lane { LANE_COMPUTE, LANE_COMM, LANE_HIDDEN, LANE_HOST, LANE_WAIT, N_LANE };

enum share { SHARE_ALL, SHARE_FORWARD, SHARE_BACK, SHARE_HALF };

/* Parts in execution order; the shares of each sum to 1. */
static const struct {
	const char *key; /* of jl_parts */
	enum lane lane;
	enum share share;
} order[] = {
	{ "input", LANE_HOST, SHARE_ALL },
	{ "generation", LANE_COMPUTE, SHARE_ALL },
	{ "pipeline_bubble", LANE_WAIT, SHARE_HALF },
	{ "compute", LANE_COMPUTE, SHARE_FORWARD },
	{ "tensor_parallel", LANE_COMM, SHARE_FORWARD },
	{ "context_parallel", LANE_COMM, SHARE_FORWARD },
	{ "expert_parallel", LANE_COMM, SHARE_FORWARD },
	{ "host_launch", LANE_HOST, SHARE_FORWARD },
	{ "compute", LANE_COMPUTE, SHARE_BACK },
	{ "contention", LANE_COMPUTE, SHARE_ALL },
	{ "tensor_parallel", LANE_COMM, SHARE_BACK },
	{ "context_parallel", LANE_COMM, SHARE_BACK },
	{ "expert_parallel", LANE_COMM, SHARE_BACK },
	{ "host_launch", LANE_HOST, SHARE_BACK },
	{ "pipeline_send", LANE_COMM, SHARE_ALL },
	{ "pipeline_bubble", LANE_WAIT, SHARE_HALF },
	{ "data_parallel", LANE_COMM, SHARE_ALL },
	{ "offload", LANE_HOST, SHARE_ALL },
	{ "optimizer", LANE_COMPUTE, SHARE_ALL },
};

double jl_forward_frac(const struct jl_plan *plan)
{
	return plan->recompute == JL_RECOMPUTE_FULL ? 0.25 : 1.0 / 3.0;
}

static size_t part_by_key(const char *key)
{
	size_t i = 0;

	while (i + 1 < JL_N_PART && strcmp(jl_parts[i].key, key) != 0)
		i++;
	return i;
}

struct drawn {
	struct jl_doc *doc;
	struct jl_chart *chart;
	double lane_s[N_LANE];
	double backward_from_s, backward_to_s;
};

static void add_span(struct drawn *d, size_t series, const char *name, enum lane lane, double from_s, double length_s)
{
	struct jl_chart_series *s = &d->chart->series[series];

	if (!s->points && !jl_show_series(d->doc, d->chart, series, name, JL_ESTIMATED, 2))
		return;
	s->n_points = isnan(s->points[0].y) ? 1 : 2;
	((struct jl_chart_point *)s->points)[s->n_points - 1] =
		(struct jl_chart_point){ .x = (double)lane, .y = length_s, .lo = NAN, .hi = NAN, .from = from_s };
	d->lane_s[lane] += length_s;
}

/* Parts shorter than a line width are omitted. */
static double add_parts(struct drawn *d, const struct jl_step_cost *step, const struct jl_plan *plan)
{
	const double fwd = jl_forward_frac(plan), shares[] = { 1, fwd, 1 - fwd, 0.5 };
	double at_s = 0;

	for (size_t i = 0; i < JL_LEN(order); i++) {
		const size_t part = part_by_key(order[i].key);
		const double length_s = jl_part_s(step, part) * shares[order[i].share];

		if (order[i].share == SHARE_BACK && order[i].lane == LANE_COMPUTE)
			d->backward_from_s = at_s;
		if (length_s > 1e-4 * step->step_s) {
			add_span(d, part, jl_msg(jl_parts[part].en), order[i].lane, at_s, length_s);
			d->chart->series[part].look = jl_part_look(jl_parts[part].en);
		}
		at_s += length_s;
		if (order[i].share == SHARE_BACK)
			d->backward_to_s = at_s;
	}
	return at_s;
}

/* Only non-empty lanes and series, in order. */
static void compact(struct drawn *d)
{
	static const char *const names[N_LANE] = { JL_N("GPU busy"), JL_N("communication"), JL_N("hidden behind it"),
						   JL_N("host"), JL_N("waiting") };
	struct jl_chart *c = d->chart;
	struct jl_chart_lane *lanes = jl_arena_array(d->doc->arena, N_LANE, sizeof(*lanes));
	double place[N_LANE] = { 0 };
	size_t n = 0;

	if (!lanes)
		return;
	for (size_t k = 0; k < N_LANE; k++) {
		if (!(d->lane_s[k] > 0))
			continue;
		place[k] = (double)c->n_lanes;
		lanes[c->n_lanes++] = (struct jl_chart_lane){ jl_msg(names[k]),
							      jl_num_about(d->lane_s[k], JL_K_TIME, NULL) };
	}
	c->lanes = lanes;
	for (size_t i = 0; i < c->n_series; i++) {
		struct jl_chart_point *points = (struct jl_chart_point *)c->series[i].points;

		for (size_t k = 0; k < c->series[i].n_points; k++) {
			points[k].x = place[(size_t)points[k].x];
			points[k].label = lanes[(size_t)points[k].x].name;
		}
		if (c->series[i].n_points)
			c->series[n++] = c->series[i];
	}
	c->n_series = n;
}

static void timeline(struct jl_doc *doc, const struct jl_case *c, const struct jl_step_cost *step)
{
	const double n_micro = c->plan.n_micro;
	struct drawn d = { .doc = doc,
			   .chart = jl_show_chart(
				   doc, JL_CHART_SPANS,
				   n_micro > 1 ? jl_doc_format(doc, JL_("One step: its %.0f micro-batches together"),
							       n_micro)
					       : JL_("One step"),
				   JL_N_PART + 1) };

	if (!d.chart)
		return;
	for (size_t i = 0; i <= JL_N_PART; i++)
		d.chart->series[i] = (struct jl_chart_series){ 0 };
	const double end_s = add_parts(&d, step, &c->plan);

	if (step->hidden_s > 0) {
		add_span(&d, JL_N_PART, JL_("hidden communication"), LANE_HIDDEN,
			 fmax(0, d.backward_to_s - step->hidden_s), step->hidden_s);
		d.chart->series[JL_N_PART].look = jl_part_look("memory streams");
	}
	compact(&d);
	d.chart->x.label = JL_("lane");
	d.chart->y = JL_AXIS(.label = JL_("time"), .kind = JL_K_TIME);
	d.chart->n_marks = 1;
	d.chart->marks[0].x = end_s;
	d.chart->marks[0].label = jl_doc_format(doc, JL_("step %s"), jl_units_localized(JL_TXT, end_s, JL_K_TIME, 2));
	d.chart->tabled = true;
	jl_doc_chart(doc, d.chart);
}

/* --- a pipeline */

#define STAGES_DRAWN 8
#define TURNS_DRAWN  16 /* per stage; more are merged where they alternate */

enum turn { TURN_FORWARD, TURN_BACK, TURN_BOTH, N_TURN };

struct stage {
	const struct jl_turn *turns;
	size_t n;
	double lane;
	const char *name;
};

static void put_turn(struct jl_chart *chart, const struct stage *s, enum turn kind, double from_s, double to_s)
{
	struct jl_chart_series *series = &chart->series[kind];

	((struct jl_chart_point *)series->points)[series->n_points++] = (struct jl_chart_point){
		.x = s->lane, .y = to_s - from_s, .lo = NAN, .hi = NAN, .from = from_s, .label = s->name
	};
}

/* Merges adjacent turns of one kind, and alternating ones if a stage has many. */
static void put_stage(struct jl_chart *chart, const struct stage *s)
{
	const double least_s = 0.004 * s->turns[s->n - 1].end_s; /* a visible gap */
	size_t first_back = 0, last_forward = 0;

	while (first_back < s->n && !s->turns[first_back].back)
		first_back++;
	for (size_t i = 0; i < s->n; i++)
		last_forward = s->turns[i].back ? last_forward : i;
	for (size_t i = 0, from = 0; i < s->n; i++) {
		const bool many = s->n > TURNS_DRAWN, both = many && i + 1 >= first_back && i < last_forward + 2,
			   next_both = many && i + 2 >= first_back && i + 1 < last_forward + 2;
		const bool gap = i + 1 < s->n && s->turns[i + 1].begin_s - s->turns[i].end_s > least_s;
		const bool ends = i + 1 == s->n || gap || !many || both != next_both ||
				  (!both && s->turns[i + 1].back != s->turns[i].back);

		if (!ends)
			continue;
		put_turn(chart, s,
			 both && from < i   ? TURN_BOTH
			 : s->turns[i].back ? TURN_BACK
					    : TURN_FORWARD,
			 s->turns[from].begin_s, s->turns[i].end_s);
		from = i + 1;
	}
}

/* Stage times derived from the step: the slowest one's, and the waits of the others. */
static struct jl_turns_in turns_of(const struct jl_case *c, const struct jl_step_cost *step)
{
	const struct jl_plan *plan = &c->plan;
	const double work_s = step->compute_s + step->host_s + step->tp_s + step->cp_s + step->ep_s;

	return (struct jl_turns_in){ .n_stages = (int)plan->pp,
				     .n_micro = (int)plan->n_micro,
				     .n_chunks = (int)fmax(1, plan->n_chunks),
				     .each_s = step->bubble_s * fmax(1, plan->n_chunks) / (plan->pp - 1),
				     .last_s = work_s / plan->n_micro };
}

static void schedule(struct jl_doc *doc, const struct jl_case *c, const struct jl_step_cost *step)
{
	static const char *const names[N_TURN] = { JL_NC("pass", "forward"), JL_NC("pass", "backward"),
						   JL_N("both in turn") };
	static const char *const looks[N_TURN] = { "compute", "optimizer", "activations" };
	const struct jl_turns_in in = turns_of(c, step);
	const size_t n = c->plan.pp > 1 && !c->plan.serial ? jl_turns_count(&in) : 0;
	const size_t n_stages = (size_t)in.n_stages, drawn = n_stages < STAGES_DRAWN ? n_stages : STAGES_DRAWN;
	struct jl_turn *turns = n ? jl_arena_array(doc->arena, n, sizeof(*turns)) : NULL;
	double *work = n ? jl_arena_array(doc->arena, n, sizeof(*work)) : NULL;
	struct jl_chart *chart = turns && work ? jl_show_chart(doc, JL_CHART_SPANS, NULL, N_TURN) : NULL;
	struct jl_chart_lane *lanes = chart ? jl_arena_array(doc->arena, drawn, sizeof(*lanes)) : NULL;

	if (!lanes)
		return;
	jl_pipeline_turns(&in, turns, work);
	const size_t n_each = n / n_stages / (in.n_chunks > 1 && in.n_micro % in.n_stages ? (size_t)in.n_chunks : 1);

	for (size_t k = 0; k < N_TURN; k++) {
		if (!jl_show_series(doc, chart, k, jl_msg(names[k]), JL_ESTIMATED, drawn * n_each))
			return;
		chart->series[k].n_points = 0;
		chart->series[k].look = jl_part_look(looks[k]);
	}
	for (size_t k = 0; k < drawn; k++) {
		const size_t at = drawn > 1 ? k * (n_stages - 1) / (drawn - 1) : 0;
		const struct stage s = { &turns[at * n_each], n_each, (double)k,
					 jl_doc_format(doc, JL_("stage %zu"), at + 1) };
		double busy_s = 0;

		for (size_t i = 0; i < n_each; i++)
			busy_s += s.turns[i].end_s - s.turns[i].begin_s;
		put_stage(chart, &s);
		lanes[k] = (struct jl_chart_lane){ s.name, jl_num_about(busy_s, JL_K_TIME, NULL) };
	}
	chart->lanes = lanes;
	chart->n_lanes = drawn;
	chart->title = jl_doc_format(doc, JL_("The pipeline: %d stages, %d micro-batches, gaps are bubbles"),
				     in.n_stages, in.n_micro);
	chart->x.label = JL_("stage");
	chart->y = JL_AXIS(.label = JL_("time"), .kind = JL_K_TIME);
	chart->tabled = true;
	jl_doc_chart(doc, chart);
}

void jl_show_step_charts(struct jl_doc *doc, const struct jl_case *c, const struct jl_step_cost *step)
{
	timeline(doc, c, step);
	schedule(doc, c, step);
}
