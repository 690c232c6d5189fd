/* Memory of a prediction: whether it fits and with what certainty, its parts, and remedies. Chooses no plan. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "document/chart.h"
#include "predict/kind.h"
#include "topics/predict.h"

static const char *gib(char out[JL_UNITS_TEXT_MAX], double bytes)
{
	const double x = bytes / 1073741824.0;

	if (x >= 9.95)
		return jl_count_text(out, floor(x + 0.5));
	snprintf(out, JL_UNITS_TEXT_MAX, "%.1f", x);
	return out;
}

/* Wording by the interval: if its upper end exceeds the capacity, it fits only probably. Shared by terminal, report and page. */
struct jl_fit_text jl_show_memory_fit(struct jl_doc *doc, const struct jl_prediction *p, enum jl_room room)
{
	const bool over = p->memory.total_B > p->capacity_B;
	char lo[JL_UNITS_TEXT_MAX], hi[JL_UNITS_TEXT_MAX];

	if (p->memory_B.lo <= p->capacity_B && p->memory_B.hi > p->capacity_B && (over || room != JL_ROOM_NONE)) {
		gib(lo, p->memory_B.lo);
		return (struct jl_fit_text){ jl_doc_format(doc,
							   over ? JL_("probably does not fit (%s–%s of %s)")
								: JL_("probably fits (%s–%s of %s)"),
							   lo, gib(hi, p->memory_B.hi), gib(JL_TXT, p->capacity_B)),
					     over ? JL_MARK_BAD : JL_MARK_WARN, true };
	}
	if (room == JL_ROOM_NONE)
		return (struct jl_fit_text){ JL_("does not fit"), JL_MARK_BAD, false };
	if (room == JL_ROOM_TIGHT)
		return (struct jl_fit_text){ JL_("tight, may run out of memory"), JL_MARK_WARN, false };
	return (struct jl_fit_text){ JL_("fits"), JL_MARK_GOOD, false };
}

/* Remedies: the first change that makes it fit, a smaller micro-batch, else the number of devices whose memory holds the states. */
static const char *would_fit(struct jl_doc *doc, const struct jl_predicted *x)
{
	const struct jl_case *c = &x->how;
	const double states_B = jl_subject_params(&c->subject) *
				(jl_plan_held_B(&c->plan) +
				 c->plan.trained_frac * (c->plan.grad_B + c->plan.optimizer_B));

	if (x->n_advice && x->advice[0].makes_it_fit)
		return jl_doc_format(doc,
				     x->advice[0].tight ? JL_("With this it barely would: %s.")
							: JL_("With this it would: %s."),
				     x->advice[0].text);
	if (x->p.max_micro_batch >= 1)
		return jl_doc_format(doc, JL_("A micro-batch of %s or less would (--micro-batch)."),
				     jl_count_text(JL_TXT, x->p.max_micro_batch));
	if (x->p.memory.total_B <= c->machine.dev.mem_B)
		return jl_doc_format(doc, JL_("A host with %.0f GiB of RAM or more would do, or less offloaded."),
				     ceil(x->p.host_B / JL_HOST_RAM_FRAC / 1073741824.0));
	if (!c->subject.kind->is_cut) {
		double host_B;

		return jl_doc_format(doc,
				     JL_("One sample needs %.3g GiB on every %s, however many there are: data parallel "
					 "training does not divide it."),
				     c->subject.kind->memory(c, 1, &host_B).total_B / 1073741824.0, jl_show_device(c));
	}
	if (states_B <= c->n_gpus * c->machine.dev.mem_B)
		return jl_doc_format(
			doc,
			JL_("Weights, gradients and optimizer would fit, one sample's activations do not: try a "
			    "shorter --seq, or a %s with more memory."),
			jl_show_device(c));
	return jl_doc_format(
		doc, JL_("Weights, gradients and optimizer alone need %.0f such %ss; 'jeoul fit' shows every way."),
		ceil(states_B / c->machine.dev.mem_B), jl_show_device(c));
}

/* Formats two sizes that would look equal with enough digits: 40.1 of 40. */
static const char *told_apart(struct jl_doc *doc, double value_B, double other_B)
{
	const double gib = value_B / 1073741824.0, other = other_B / 1073741824.0;
	int decimals = 0;

	while (decimals < 3 && fabs(round(gib * pow(10, decimals)) - other * pow(10, decimals)) < 0.5)
		decimals++;
	return jl_doc_format(doc, "%.*f", decimals, gib);
}

void jl_show_room(struct jl_doc *doc, const struct jl_predicted *x)
{
	const struct jl_prediction *p = &x->p;
	const bool host = !(p->memory.total_B > p->capacity_B) && p->host_B > 0;
	const double need_B = host ? p->host_B : p->memory.total_B, has_B = host ? p->ram_B : p->capacity_B;

	jl_doc_break(doc);
	JL_SENTENCE(
		doc,
		host ? JL_("It does not fit: it needs |1 of the host's memory, which has |2.")
		: jl_show_memory_fit(doc, p, p->room).doubt
			? JL_("It probably does not fit: it needs |1 a |3, which has |2.")
			: JL_("It does not fit: it needs |1 a |3, which has |2."),
		JL_FIG(jl_num_about(need_B, JL_K_BYTES,
				    need_B < 1.02 * has_B ? jl_doc_format(doc, "%s GiB", told_apart(doc, need_B, has_B))
							  : jl_memory_text(JL_TXT, need_B))),
		JL_MEM(has_B), JL_WORD(jl_show_device(&x->how)));
	jl_doc_text(doc, " ");
	jl_doc_sourced(doc, would_fit(doc, x), JL_ESTIMATED, JL_METHOD);
}

/* The listed host of this accelerator with the most memory; NULL: none. */
static const struct jl_system *largest_host(const struct jl_case *how)
{
	const struct jl_catalog *cat = how->machine.cat;
	const struct jl_system *most = NULL;

	for (size_t i = 0; cat && how->machine.sys.gpu && i < cat->n_systems; i++) {
		const struct jl_system *s = &cat->systems[i];

		if (jl_same_text(s->gpu, how->machine.sys.gpu->id) && s->ram_B.value > 0 &&
		    (!most || s->ram_B.value > most->ram_B.value))
			most = s;
	}
	return most;
}

/* Host memory needed for offloading, and whether the host has it. */
static void host_memory(struct jl_doc *doc, const struct jl_case *how, const struct jl_prediction *p)
{
	const struct jl_system *largest = isnan(p->ram_B) ? largest_host(how) : NULL;

	if (largest && p->host_B > JL_HOST_RAM_FRAC * largest->ram_B.value)
		jl_show_entry(doc, JL_("Host RAM"), JL_ESTIMATED,
			      JL_("%s GiB a host offloaded: no listed host with this GPU has so much; the largest, %s, "
				  "has %s "
				  "GiB (--ram)"),
			      gib(JL_TXT, p->host_B), largest->id, gib(JL_TXT, largest->ram_B.value));
	else if (isnan(p->ram_B))
		jl_show_entry(doc, JL_("Host RAM"), JL_ESTIMATED,
			      JL_("%s GiB a host offloaded; what the host has is not known (--ram)"),
			      gib(JL_TXT, p->host_B));
	else
		jl_show_entry(doc, JL_("Host RAM"), JL_ESTIMATED, JL_("%s of %s GiB a host offloaded: %s"),
			      gib(JL_TXT, p->host_B), gib(JL_TXT, p->ram_B),
			      p->host_B > JL_HOST_RAM_FRAC * p->ram_B ? JL_("does not fit") : JL_("fits"));
}

static const char *memory_part(const struct jl_memory *m, size_t part)
{
	return m->in_update && part == JL_MEMORY_ACTIVATIONS ? JL_("the optimizer's copies")
							     : jl_msg(jl_memory_parts[part].en);
}

/* The parts in GiB, then the largest micro-batch in a line of its own. */
static void memory_parts(struct jl_doc *doc, const struct jl_prediction *p)
{
	const struct jl_memory *m = &p->memory;
	const char *format = JL_("in GiB: %s %s");

	jl_doc_entry(doc, "");
	for (size_t i = 0; i < JL_N_MEMORY_PART; i++) {
		if (jl_part_of(m, &jl_memory_parts[i]) < 0.05e9)
			continue;
		jl_show_piece(doc, JL_ESTIMATED, format, memory_part(m, i),
			      gib(JL_TXT, jl_part_of(m, &jl_memory_parts[i])));
		format = "%s %s";
	}
	if (p->max_micro_batch >= 1)
		jl_show_entry(doc, "", JL_ESTIMATED, JL_("largest micro-batch that leaves %.0f %% free: %s"),
			      100 * JL_MEMORY_MARGIN_FRAC, jl_count_text(JL_TXT, p->max_micro_batch));
	else if (p->room == JL_ROOM_TIGHT)
		jl_show_entry(doc, "", JL_ESTIMATED, JL_("one sample leaves less than %.0f %% free"),
			      100 * JL_MEMORY_MARGIN_FRAC);
	else if (m->total_B > p->capacity_B)
		jl_show_entry(doc, "", JL_ESTIMATED, "%s", JL_("not even one sample fits"));
}

void jl_show_memory(struct jl_doc *doc, const struct jl_predicted *x)
{
	const struct jl_prediction *p = &x->p;
	const double total_B = p->memory.total_B;
	/* device memory; host memory has its own entry */
	const enum jl_room room = total_B > p->capacity_B                   ? JL_ROOM_NONE
				  : total_B > JL_TIGHT_FRAC * p->capacity_B ? JL_ROOM_TIGHT
									    : JL_ROOM_FITS;
	const struct jl_fit_text fit = jl_show_memory_fit(doc, p, room);

	if (isnan(p->capacity_B))
		jl_show_entry(doc, JL_("Memory"), JL_ESTIMATED, "%s GiB", gib(JL_TXT, total_B));
	else
		jl_show_entry(doc, JL_("Memory"), JL_ESTIMATED, JL_("%s of %s GiB a %s: %s"),
			      fabs(total_B / p->capacity_B - 1) < 0.02 ? told_apart(doc, total_B, p->capacity_B)
								       : gib(JL_TXT, total_B),
			      gib(JL_TXT, p->capacity_B), jl_show_device(&x->how), fit.text);
	if (!doc->failed && fit.mark != JL_MARK_GOOD)
		doc->last->mark = fit.mark;
	memory_parts(doc, p);
	if (p->host_B > 0)
		host_memory(doc, &x->how, p);
}

/* --- as pictures */

/* Waterfall: each part starts at the end of the previous one; the peak has the interval, the capacity spans all lanes. */
static struct jl_chart *waterfall(struct jl_doc *doc, const struct jl_prediction *p)
{
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_SPANS, NULL, JL_N_MEMORY_PART + 1);
	struct jl_chart_lane *lanes = jl_arena_array(doc->arena, JL_N_MEMORY_PART + 1, sizeof(*lanes));
	double at_B = 0;

	if (!chart || !lanes)
		return NULL;
	for (size_t i = 0; i <= JL_N_MEMORY_PART; i++) {
		const bool peak = i == JL_N_MEMORY_PART;
		const double size_B = peak ? p->memory.total_B : jl_part_of(&p->memory, &jl_memory_parts[i]);
		const char *name = peak ? JL_("peak") : memory_part(&p->memory, i);
		struct jl_num num = jl_num_binary(peak ? jl_num_wide(p->memory_B, JL_K_BYTES)
						       : jl_num_about(size_B, JL_K_BYTES, NULL));
		struct jl_chart_point *point;

		if (!(size_B > 0))
			continue;
		point = jl_show_series(doc, chart, chart->n_lanes, name, JL_ESTIMATED, 1);
		if (!point)
			return NULL;
		*point = (struct jl_chart_point){ .x = (double)chart->n_lanes,
						  .y = size_B,
						  .lo = peak ? p->memory_B.lo : NAN,
						  .hi = peak ? p->memory_B.hi : NAN,
						  .from = peak ? 0 : at_B,
						  .label = name };
		chart->series[chart->n_lanes].look = jl_part_look(peak ? "rest" : jl_memory_parts[i].en);
		lanes[chart->n_lanes++] = (struct jl_chart_lane){ name, num };
		at_B += size_B;
	}
	chart->n_series = chart->n_lanes;
	chart->lanes = lanes;
	chart->no_legend = true;
	return chart;
}

/* Several devices: one stacked bar each. */
static struct jl_chart *stacks(struct jl_doc *doc, const struct jl_named_memory *list, size_t n)
{
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_STACKED, NULL, JL_N_MEMORY_PART);

	if (!chart)
		return NULL;
	chart->cap_label = JL_("memory of one device");
	for (size_t k = 0; k < JL_N_MEMORY_PART; k++) {
		struct jl_chart_point *points = jl_show_series(doc, chart, k, jl_msg(jl_memory_parts[k].en),
							       JL_ESTIMATED, n);

		for (size_t i = 0; points && i < n; i++) {
			const struct jl_prediction *p = list[i].prediction;

			points[i].label = list[i].name;
			points[i].y = jl_part_of(&p->memory, &jl_memory_parts[k]);
			points[i].cap = p->capacity_B;
			points[i].sum_lo = p->memory_B.lo;
			points[i].sum_hi = p->memory_B.hi;
		}
		chart->series[k].look = jl_part_look(jl_memory_parts[k].en);
	}
	return chart;
}

void jl_show_memory_chart(struct jl_doc *doc, const struct jl_named_memory *list, size_t n)
{
	struct jl_chart *chart = n == 1 ? waterfall(doc, list[0].prediction) : n ? stacks(doc, list, n) : NULL;

	if (!chart)
		return;
	chart->title = JL_("Memory of one device at its peak");
	chart->x.label = JL_("part");
	chart->y = JL_AXIS(.label = JL_("memory"), .kind = JL_K_BYTES, .binary = true);
	if (n == 1) {
		const double has_B = list[0].prediction->capacity_B;

		chart->tabled = true;
		if (!isnan(has_B))
			chart->n_marks = 1;
		chart->marks[0].x = has_B;
		chart->marks[0].label = jl_doc_format(doc, JL_("the device has %s"), jl_memory_text(JL_TXT, has_B));
	}
	jl_doc_chart(doc, chart);
}
