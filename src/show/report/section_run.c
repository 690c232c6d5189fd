/* Behaviour of the run: scaling, time by part, memory. */
#include <math.h>
#include <string.h>

#include "predict/kernels.h"
#include "report/section.h"
#include "topics/predict.h"

static void scaling_line(struct jl_section *s, struct jl_chart *chart, size_t series, const struct jl_scaling_point *p,
			 size_t n, bool measured)
{
	struct jl_chart_point *points = jl_show_series(
		s->doc, chart, series, measured ? JL_C("series", "measured") : JL_C("series", "predicted"),
		measured ? JL_MEASURED : JL_ESTIMATED, n);

	for (size_t i = 0; points && i < n; i++) {
		points[i].x = p[i].n_gpus;
		points[i].y = measured ? p[i].measured_per_s : p[i].per_s.value;
		points[i].lo = measured ? NAN : p[i].per_s.lo;
		points[i].hi = measured ? NAN : p[i].per_s.hi;
		if (measured)
			jl_point_measured(&points[i], p[i].measured);
	}
	if (points)
		chart->series[series].only_points = measured;
}

static bool has_measured(const struct jl_scaling_result *sc, size_t mode)
{
	for (size_t i = 0; i < sc->n_counts; i++)
		if (!isnan(sc->points[mode * sc->n_counts + i].measured_per_s))
			return true;
	return false;
}

/* One panel per mode: predictions as a band, measurements as points, common scale. */
static void scaling_panel(struct jl_section *s, size_t mode, double most)
{
	const struct jl_scaling_result *sc = &s->w->scaling;
	const struct jl_scaling_point *p = &sc->points[mode * sc->n_counts];
	const bool seen = has_measured(sc, mode);
	struct jl_chart *chart = jl_show_chart(
		s->doc, JL_CHART_LINE,
		jl_doc_format(s->doc, JL_("%s: samples a second as GPUs are added"), jl_mode_name(p->mode)), 1 + seen);

	if (!chart)
		return;
	chart->x = JL_AXIS(.label = JL_("GPUs"), .of = "GPU");
	chart->y = (struct jl_axis){ .label = JL_("speed"), .unit = "samples/s", .lo = NAN, .hi = most };
	scaling_line(s, chart, 0, p, sc->n_counts, false);
	if (seen)
		scaling_line(s, chart, 1, p, sc->n_counts, true);
	jl_doc_chart(s->doc, chart);
}

void jl_chart_scaling(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_scaling_result *sc = &s->w->scaling;
	double most = 0;

	for (size_t k = 0; sc->of && k < sc->n_modes * sc->n_counts; k++)
		most = fmax(most, fmax(sc->points[k].per_s.hi, sc->points[k].measured_per_s));
	for (size_t k = 0; sc->of && k < sc->n_modes; k++)
		if (!q || !q->mode || strcmp(q->mode, sc->modes[k]) == 0)
			scaling_panel(s, k, most);
}

static void point_row(struct jl_section *s, const struct jl_scaling_point *p, bool named)
{
	const struct jl_num gpus = jl_num_count(p->n_gpus);
	struct jl_num per_s = jl_num_ranged(jl_num_estimate(p->per_s, JL_K_NUMBER, NULL)),
		      seen = jl_num_measured(p->measured_per_s, JL_K_NUMBER, NULL, p->measured);
	struct jl_num times = jl_num_estimate(p->speedup_range, JL_K_NUMBER, "x"),
		      seen_times = jl_num_measured(p->measured_speedup, JL_K_NUMBER, "x", p->measured);

	per_s.note = seen.note = "samples/s";
	times.n_digits = 0;
	times.n_decimals = seen_times.n_decimals = 2;
	if (named)
		jl_doc_cell_name(s->doc, jl_system_name(p->of));
	JL_CELLS(s->doc, JL_NAMED(jl_mode_name(p->mode)), JL_FIG(gpus), JL_FIG(seen));
	if (p->predicted)
		jl_show_cell(s->doc, per_s);
	else
		jl_doc_cell_text(s->doc, "—");
	if (named) {
		const double off = p->per_s.value / p->measured_per_s - 1;

		jl_show_cell(s->doc, jl_num_written(jl_num_share(off, JL_ESTIMATED),
						    jl_doc_format(s->doc, "%+.2g %%", 100 * off)));
	} else {
		JL_CELLS(s->doc, JL_FIG(seen_times), JL_FIG(times));
		struct jl_num share = jl_num_measured(p->measured_speedup / p->n_gpus, JL_K_FRACTION, NULL,
						      p->measured);
		share.n_digits = 2;
		jl_show_cell(s->doc, share);
	}
	jl_doc_end_row(s->doc, false);
}

static void scaling_tables(struct jl_section *s)
{
	const struct jl_scaling_result *sc = &s->w->scaling;

	jl_show_table(s->doc, JL_("samples/s; speed-up and efficiency over one GPU with the same recipe"), "tffffff",
		      JL_N("Mode|GPUs|Measured|Predicted|Speed-up|Predicted|Efficiency"));
	for (size_t k = 0; k < sc->n_modes * sc->n_counts; k++)
		point_row(s, &sc->points[k], false);
	if (!sc->n_further)
		return;
	jl_show_table(s->doc, JL_("Measured elsewhere, samples/s"), "ttffff",
		      JL_N("System|Mode|GPUs|Measured|Predicted|Off by"));
	for (size_t k = 0; k < sc->n_further; k++)
		point_row(s, &sc->further[k], true);
}

void jl_section_scaling(struct jl_section *s)
{
	if (!s->w->scaling.of)
		return;
	jl_section_open(s, "scaling", "Scaling");
	jl_doc_para(s->doc);
	JL_SHOW(s->doc, "On ");
	jl_doc_name(s->doc, jl_system_name(s->w->scaling.of));
	jl_doc_text(s->doc, ". ");
	JL_SHOW(s->doc,
		"Every number of GPUs runs the recipe of the largest: the same cut, ZeRO stage, recompute and batch "
		"rule.");
	if (!jl_section_is_charted(s, "scaling"))
		jl_chart_scaling(s, NULL);
	scaling_tables(s);
}

/* --- time by part */

static double share_part(const struct jl_step_share *share, size_t k)
{
	const double parts[] = { share->matrix, share->memory, share->host, share->links };

	return parts[k];
}

static void observed_time(struct jl_section *s)
{
	static const char *const en[] = { JL_NC("share", "matrix products"), JL_N("memory streams"), JL_N("host"),
					  JL_NC("time", "links") };

	struct jl_chart *chart = jl_show_chart(s->doc, JL_CHART_STACKED, JL_("Time of one step at the same batch"), 4);

	if (!chart)
		return;
	chart->y = JL_AXIS(.label = JL_("time"), .kind = JL_K_TIME);
	for (size_t k = 0; k < 4; k++) {
		struct jl_chart_point *points = jl_show_series(s->doc, chart, k, jl_msg(en[k]), JL_ESTIMATED,
							       s->w->compare->n_rows);
		size_t n = 0;

		for (size_t i = 0; points && i < s->w->n_systems; i++) {
			const struct jl_compare_row *row = s->w->systems[i].row;

			if (!row || !row->at[JL_AT_SAME_BATCH].possible)
				continue;
			points[n].label = jl_system_name(&s->w->systems[i]);
			points[n++].y = share_part(&row->at[JL_AT_SAME_BATCH].part_s, k);
		}
		if (points) {
			chart->series[k].n_points = n;
			chart->series[k].look = jl_part_look(en[k]);
		}
	}
	jl_doc_chart(s->doc, chart);
}

/* Parts that matter in some bar; the others are summed. */
static size_t parts_shown(const struct jl_scenario_results *w, size_t ret_parts[JL_N_PART])
{
	size_t n = 0;

	for (size_t k = 0; k < JL_N_PART; k++) {
		bool large = false;
		for (size_t i = 0; i < w->n_systems; i++)
			large |= w->systems[i].predicted && jl_part_s(&w->systems[i].prediction.step, k) >
								    0.03 * w->systems[i].prediction.step.step_s;
		for (size_t i = 0; i < w->scaling.n_modes * w->scaling.n_counts; i++)
			large |= w->scaling.points[i].predicted &&
				 jl_part_s(&w->scaling.points[i].step, k) > 0.03 * w->scaling.points[i].step.step_s;
		if (large && n < 5)
			ret_parts[n++] = k;
	}
	return n;
}

struct bar_of {
	const char *label;
	const struct jl_step_cost *step;
};

static void model_chart(struct jl_section *s, const char *title, const struct bar_of *bars, size_t n_bars)
{
	size_t parts[JL_N_PART];
	const size_t n = parts_shown(s->w, parts);
	bool rest = false;
	struct jl_chart *chart = jl_show_chart(s->doc, JL_CHART_STACKED, title, n + 1);

	if (!chart)
		return;
	chart->y = JL_AXIS(.label = JL_("time"), .kind = JL_K_TIME);
	for (size_t k = 0; k <= n; k++) {
		const char *en = k == n ? JL_N("rest") : jl_parts[parts[k]].en;
		struct jl_chart_point *points = jl_show_series(s->doc, chart, k, jl_msg(en), JL_ESTIMATED, n_bars);

		chart->series[k].look = jl_part_look(en);
		for (size_t i = 0; points && i < n_bars; i++) {
			points[i].label = bars[i].label;
			points[i].y = k < n ? jl_part_s(bars[i].step, parts[k]) : bars[i].step->step_s;
			for (size_t j = 0; k == n && j < n; j++)
				points[i].y -= jl_part_s(bars[i].step, parts[j]);
			/* rounding remainder */
			points[i].y = points[i].y > 1e-3 * bars[i].step->step_s ? points[i].y : 0;
			rest |= k == n && points[i].y > 0;
		}
	}
	chart->n_series = n + rest;
	jl_doc_chart(s->doc, chart);
}

static void systems_time(struct jl_section *s)
{
	struct bar_of bars[JL_SCENARIO_LIST_MAX];
	const struct jl_system_result *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->w->n_systems; i++)
		if (s->w->systems[i].predicted) { /* batches differ between systems, so the text says so */
			bars[n++] = (struct bar_of){ jl_doc_format(s->doc, JL_("%s (batch %.0f)"),
								   jl_system_name(&s->w->systems[i]),
								   s->w->systems[i].how.global_batch),
						     &s->w->systems[i].prediction.step };
			last = &s->w->systems[i];
		}
	if (n == 1)
		jl_show_step_charts(s->doc, &last->how, &last->prediction.step);
	else if (n)
		model_chart(s, JL_("Time of one step on each system, at the batch next to its name"), bars, n);
}

static void scaling_time(struct jl_section *s, const char *mode)
{
	struct bar_of bars[24];
	const struct jl_scaling_result *sc = &s->w->scaling;
	size_t n = 0;

	for (size_t k = 0; sc->of && k < sc->n_modes * sc->n_counts && n < 24; k++) {
		const struct jl_scaling_point *p = &sc->points[k];

		if (!p->predicted || (mode && p->mode && strcmp(mode, p->mode) != 0))
			continue;
		bars[n].label = jl_doc_format(s->doc, JL_("%s · %d GPU{/s}"), jl_mode_name(p->mode), p->n_gpus);
		bars[n++].step = &p->step;
	}
	if (n)
		model_chart(s, JL_("Time of one step as GPUs are added, with the same batch on each"), bars, n);
}

/* Step time by number of GPUs for questions on scaling, otherwise by system. */
void jl_chart_time(struct jl_section *s, const struct jl_scenario_question *q)
{
	if (s->w->scaling.of)
		scaling_time(s, q ? q->mode : NULL);
	else
		systems_time(s);
}

static const struct jl_system_result *first_predicted(const struct jl_scenario_results *w)
{
	for (size_t i = 0; i < w->n_systems; i++)
		if (w->systems[i].predicted)
			return &w->systems[i];
	return NULL;
}

static void roofline(struct jl_section *s, const struct jl_system_result *system)
{
	struct jl_kernels kernels;
	struct jl_err none; /* networks have no list of operations */

	if (!jl_kernels_make(&kernels, &system->how, s->arena, &none))
		jl_show_roofline(s->doc, &system->how, &kernels);
}

void jl_section_time(struct jl_section *s)
{
	const bool observed = s->w->compare && !isnan(s->w->scenario->observed.step_s);

	if (!observed && !first_predicted(s->w))
		return;
	jl_section_open(s, "time", "Where the time goes");
	if (observed) {
		jl_doc_para(s->doc);
		JL_SHOW(s->doc, "Only the step time was observed; its split is assumed for this kind of model.");
		observed_time(s);
	} else {
		systems_time(s);
		if (s->w->scaling.of && !jl_section_is_charted(s, "time"))
			scaling_time(s, NULL);
		roofline(s, first_predicted(s->w));
	}
}

void jl_chart_memory(struct jl_section *s, const struct jl_scenario_question *q)
{
	struct jl_named_memory list[JL_SCENARIO_LIST_MAX];
	size_t n = 0;

	(void)q;
	for (size_t i = 0; i < s->w->n_systems; i++)
		if (s->w->systems[i].predicted)
			list[n++] = (struct jl_named_memory){ jl_system_name(&s->w->systems[i]),
							      &s->w->systems[i].prediction };
	jl_show_memory_chart(s->doc, list, n);
}

static void model_memory(struct jl_section *s)
{
	if (!jl_section_is_charted(s, "memory"))
		jl_chart_memory(s, NULL);
	jl_show_memory_over(s->doc, &first_predicted(s->w)->how, &first_predicted(s->w)->prediction);
	jl_show_table(s->doc, NULL, "tffft", JL_N("System|Needed|Of|Largest batch per GPU|Verdict"));
	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_system_result *system = &s->w->systems[i];
		const struct jl_prediction *p = &system->prediction;
		struct jl_fit_text fit;

		if (!system->predicted)
			continue;
		fit = jl_show_memory_fit(s->doc, p, p->room);
		JL_CELLS(s->doc, JL_NAMED(jl_system_name(system)),
			 JL_FIG(jl_num_binary(jl_num_about(p->memory.total_B, JL_K_BYTES, NULL))),
			 JL_FIG(jl_num_capacity(system)), JL_FIG(jl_num_about(p->max_micro_batch, JL_K_NUMBER, NULL)));
		jl_doc_cell(s->doc, fit.mark);
		jl_doc_sourced(s->doc, fit.text, JL_ESTIMATED, JL_METHOD);
		jl_doc_end_row(s->doc, false);
	}
}

static void observed_memory(struct jl_section *s)
{
	jl_doc_para(s->doc);
	JL_SHOW(s->doc, "Batches that certainly fit: one sample takes at most what the observed batch could use.");
	jl_show_table(s->doc, NULL, "tfff",
		      JL_N("System|Memory per device|Largest batch per device|Passes for the same batch"));
	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_system_result *system = &s->w->systems[i];

		if (!system->row)
			continue;
		jl_doc_cell_name(s->doc, jl_system_name(system));
		if (system->said->sys.gpu)
			jl_show_cell(s->doc, jl_num_capacity(system));
		else
			jl_doc_cell_text(s->doc, "—");
		JL_ROW(s->doc, system->row->baseline, JL_FIG(jl_num_about(system->row->limit, JL_K_NUMBER, NULL)),
		       JL_FIG(jl_num_about(system->row->at[JL_AT_SAME_BATCH].possible
						   ? system->row->at[JL_AT_SAME_BATCH].n_passes
						   : NAN,
					   JL_K_NUMBER, NULL)));
	}
}

void jl_section_memory(struct jl_section *s)
{
	const bool observed = s->w->compare && !isnan(s->w->scenario->observed.step_s);

	if (!observed && !first_predicted(s->w))
		return;
	jl_section_open(s, "memory", "Memory");
	if (observed)
		observed_memory(s);
	else
		model_memory(s);
}
