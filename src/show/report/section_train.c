/* Results of the training benchmark: scaling next to prediction and ideal, waiting time, memory and energy. One table per model; of each
 * configuration the newest result. */
#include <math.h>
#include <string.h>

#include "report/section.h"

#define GROUPS_MAX 4
#define ROWS_MAX   64
#define MODES_MAX  4
#define EXPOSED    0.15 /* share of a step that is worth a sentence */

/* Parameters common to the rows of a table. */
static const char *const group_texts[] = { "model", "precision", "tokens" };
static const char *const group_numbers[] = { "batch", "seq", "accumulate" };

struct group {
	const struct jl_record *rows[ROWS_MAX]; /* by mode, then number of workers */
	size_t n;
	const struct jl_record *alone; /* one worker; NULL: not measured */
	const char *modes[MODES_MAX];
	size_t n_modes;
};

static bool is_train(const struct jl_record *r)
{
	return r->kind && strcmp(r->kind, "train") == 0 && jl_record_metric(r, "samples_per_s") &&
	       jl_record_number(r, "n_workers") >= 1;
}

static bool same_group(const struct jl_record *a, const struct jl_record *b)
{
	for (size_t i = 0; i < JL_LEN(group_texts); i++)
		if (!jl_same_text(jl_record_text(a, group_texts[i]), jl_record_text(b, group_texts[i])))
			return false;
	for (size_t i = 0; i < JL_LEN(group_numbers); i++) {
		const double x = jl_record_number(a, group_numbers[i]), y = jl_record_number(b, group_numbers[i]);
		if (x != y && !(isnan(x) && isnan(y)))
			return false;
	}
	return jl_same_text(a->backend, b->backend) && jl_same_text(a->machine, b->machine);
}

static double workers_of(const struct jl_record *r)
{
	return jl_record_number(r, "n_workers");
}

static double metric_of(const struct jl_record *r, const char *name)
{
	const struct jl_record_metric *m = r ? jl_record_metric(r, name) : NULL;

	return m ? m->value.median : NAN;
}

/* Mode of a training record; "" for one worker, which has no exchange. */
static const char *mode_of(const struct jl_record *r)
{
	const char *mode = jl_record_text(r, "mode");

	return workers_of(r) == 1 || !mode ? "" : mode;
}

static bool before(const struct jl_record *a, const struct jl_record *b)
{
	const int order = strcmp(mode_of(a), mode_of(b));

	return order != 0 ? order < 0 : workers_of(a) < workers_of(b);
}

static void add_row(struct group *g, const struct jl_record *r)
{
	size_t at = g->n;

	for (size_t i = 0; i < g->n; i++)
		if (workers_of(g->rows[i]) == workers_of(r) && strcmp(mode_of(g->rows[i]), mode_of(r)) == 0)
			return; /* an older result of the same configuration */
	if (g->n == ROWS_MAX)
		return;
	for (; at > 0 && before(r, g->rows[at - 1]); at--)
		g->rows[at] = g->rows[at - 1];
	g->rows[at] = r;
	g->n++;
	if (workers_of(r) == 1)
		g->alone = r;
}

static void find_modes(struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		const char *mode = mode_of(g->rows[i]);

		if (*mode && (!g->n_modes || strcmp(g->modes[g->n_modes - 1], mode) != 0) && g->n_modes < MODES_MAX)
			g->modes[g->n_modes++] = mode;
	}
}

/* A metric of a record with interval and date. */
static struct jl_num measured_num(struct jl_section *s, const struct jl_record *r, const char *name, enum jl_kind kind,
				  const char *unit)
{
	const struct jl_record_metric *m = jl_record_metric(r, name);
	struct jl_num num = jl_num_plain(m ? m->value.median : NAN, kind, unit, JL_MEASURED, "jeoul bench train");

	num.date = jl_arena_strdup(s->arena, jl_date_text(JL_TXT, (long)(r->time_s / 86400)));
	if (m && m->value.n > 1) {
		num.lo = m->value.lo95;
		num.hi = m->value.hi95;
	}
	return num;
}

static struct jl_num predicted_num(const struct jl_record *r)
{
	const struct jl_record_metric *m = jl_record_metric(r, "predicted_samples_per_s");
	struct jl_num num = jl_num_about(m ? m->value.median : NAN, JL_K_NUMBER, NULL);

	if (m) {
		num.lo = m->value.lo95;
		num.hi = m->value.hi95;
	}
	num.note = "samples/s";
	num.n_digits = 2 + (num.value >= 100);
	return jl_num_ranged(num);
}

static bool any_energy(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!isnan(metric_of(g->rows[i], "energy_per_sample_J")))
			return true;
	return false;
}

static void row_head(struct jl_section *s, const struct jl_record *r)
{
	jl_doc_cell(s->doc, r->noise.noisy ? JL_MARK_WARN : JL_MARK_NONE);
	jl_doc_name(s->doc, *mode_of(r) ? jl_mode_name(mode_of(r)) : "—");
	jl_show_cell(s->doc, jl_num_count(workers_of(r)));
}

static void speed_table(struct jl_section *s, const struct group *g)
{
	jl_show_table(s->doc, JL_("samples/s; speed-up and efficiency over one worker"), "tffffff",
		      JL_N("Mode|Workers|Measured|Predicted|Ideal|Speed-up|Efficiency"));
	for (size_t i = 0; i < g->n; i++) {
		const struct jl_record *r = g->rows[i];
		const double per_s = metric_of(r, "samples_per_s"),
			     ideal = metric_of(g->alone, "samples_per_s") * workers_of(r);
		struct jl_num seen = measured_num(s, r, "samples_per_s", JL_K_NUMBER, NULL),
			      times = jl_num_plain(per_s / metric_of(g->alone, "samples_per_s"), JL_K_NUMBER, "x",
						   JL_MEASURED, "jeoul bench train"),
			      perfect = jl_num_about(ideal, JL_K_NUMBER, NULL);

		seen.note = perfect.note = "samples/s";
		times.n_decimals = 2;
		row_head(s, r);
		JL_ROW(s->doc, false, JL_FIG(seen), JL_FIG(predicted_num(r)), JL_FIG(perfect), JL_FIG(times),
		       JL_FIG(jl_num_share(per_s / ideal, JL_MEASURED)));
	}
}

static void need_table(struct jl_section *s, const struct group *g)
{
	const bool energy = any_energy(g);

	jl_show_table(s->doc, JL_("Exposed: share of a step that waits for other workers"), energy ? "tfffff" : "tffff",
		      JL_N("Mode|Workers|A step|Exposed|Memory per worker|Energy per sample"));
	for (size_t i = 0; i < g->n; i++) {
		const struct jl_record *r = g->rows[i];
		const double exposed = metric_of(r, "exposed_s") / metric_of(r, "step_s");

		row_head(s, r);
		jl_show_cell(s->doc, measured_num(s, r, "step_s", JL_K_TIME, NULL));
		/* below 0.5 % it rounds to 0 */
		JL_CELLS(s->doc, JL_FIG(jl_num_share(round(exposed * 100) / 100, JL_MEASURED)),
			 JL_FIG(jl_num_binary(measured_num(s, r, "mem_B", JL_K_BYTES, NULL))));
		if (energy)
			jl_show_cell(s->doc, measured_num(s, r, "energy_per_sample_J", JL_K_ENERGY, NULL));
		jl_doc_end_row(s->doc, false);
	}
}

static void chart_line(struct jl_section *s, const struct group *g, struct jl_chart *chart, size_t at, const char *mode,
		       bool measured)
{
	const char *name = jl_arena_printf(s->arena, measured ? JL_("%s measured") : JL_("%s predicted"),
					   jl_mode_name(mode));
	struct jl_chart_point *points = jl_show_series(s->doc, chart, at, name ? name : mode,
						       measured ? JL_MEASURED : JL_ESTIMATED, g->n);
	size_t n = 0;

	for (size_t i = 0; points && i < g->n; i++) {
		const struct jl_record_metric *m = jl_record_metric(g->rows[i], measured ? "samples_per_s"
											 : "predicted_samples_per_s");

		if (!m || (*mode_of(g->rows[i]) && strcmp(mode_of(g->rows[i]), mode) != 0))
			continue;
		points[n].x = workers_of(g->rows[i]);
		points[n].y = m->value.median;
		points[n].lo = m->value.lo95;
		points[n].hi = m->value.hi95;
		n++;
	}
	chart->series[at].n_points = n;
	if (measured)
		chart->series[at].source = "jeoul bench train";
}

static void group_chart(struct jl_section *s, const struct group *g)
{
	struct jl_chart *chart;
	struct jl_chart_point *ideal;
	double most = 1;

	for (size_t i = 0; i < g->n; i++)
		most = fmax(most, workers_of(g->rows[i]));
	if (!g->alone || most < 2 || !g->n_modes)
		return;
	chart = jl_show_chart(s->doc, JL_CHART_LINE, JL_("Samples a second: measured, predicted with its band, ideal"),
			      2 * g->n_modes + 1);
	if (!chart)
		return;
	chart->x = JL_AXIS(.label = JL_("workers"), .of = JL_("workers"));
	chart->y = JL_AXIS(.label = JL_("speed"), .unit = "samples/s");
	for (size_t k = 0; k < g->n_modes; k++) {
		chart_line(s, g, chart, 2 * k, g->modes[k], true);
		chart_line(s, g, chart, 2 * k + 1, g->modes[k], false);
	}
	ideal = jl_show_series(s->doc, chart, 2 * g->n_modes, JL_("ideal"), JL_ESTIMATED, 2);
	if (!ideal)
		return;
	chart->series[2 * g->n_modes].dashed = true;
	ideal[0].x = 1;
	ideal[1].x = most;
	ideal[0].y = metric_of(g->alone, "samples_per_s");
	ideal[1].y = ideal[0].y * most;
	jl_doc_chart(s->doc, chart);
}

/* Explains the result with the most workers: waiting time, and one worker's share of the machine's rate. */
static void group_words(struct jl_section *s, const struct group *g)
{
	const struct jl_record *r = NULL;
	const double gemm = metric_of(g->alone, "gemm_frac");

	for (size_t i = 0; i < g->n; i++)
		if (!r || workers_of(g->rows[i]) > workers_of(r))
			r = g->rows[i];
	if (!isnan(gemm)) {
		jl_doc_item(s->doc);
		JL_SENTENCE(s->doc,
			    JL_("Of the rate that this machine's own matrix product reaches, one worker uses |1."),
			    JL_FIG(jl_num_share(gemm, JL_MEASURED)));
	}
	if (r && workers_of(r) > 1 && metric_of(r, "exposed_s") > EXPOSED * metric_of(r, "step_s")) {
		jl_doc_item(s->doc);
		JL_SENTENCE(s->doc,
			    isnan(metric_of(r, "allreduce_Bps"))
				    ? JL_("|1 of a step is spent waiting for other workers, with |2 workers")
				    : JL_("|1 of a step is spent waiting for other workers, with |2 workers; "
					  "all-reduce alone reaches |3"),
			    JL_FIG(jl_num_share(metric_of(r, "exposed_s") / metric_of(r, "step_s"), JL_MEASURED)),
			    JL_COUNT(workers_of(r)), JL_FIG(measured_num(s, r, "allreduce_Bps", JL_K_BYTE_RATE, NULL)));
		JL_SHOW(s->doc, ". Gradients exchanged once for several micro-batches (");
		jl_doc_code(s->doc, "--accumulate");
		JL_SHOW(s->doc, ") would shorten that.");
	}
}

static void group_head(struct jl_section *s, const struct group *g, size_t at)
{
	const struct jl_record *r = g->rows[0];
	const char *model = jl_record_text(r, "model"), *precision = jl_record_text(r, "precision");
	const char *id = jl_arena_printf(s->arena, "training-%zu", at + 1);

	jl_doc_subsection(s->doc, id ? id : "training-0", model ? model : "—");
	jl_doc_para(s->doc);
	JL_SENTENCE(s->doc, JL_("|1, batch per worker |2, sequence |3, accumulated |4, |5."),
		    JL_NAMED(precision ? precision : "—"), JL_COUNT(jl_record_number(r, "batch")),
		    JL_COUNT(jl_record_number(r, "seq")), JL_COUNT(jl_record_number(r, "accumulate")),
		    JL_WORD(r->backend ? r->backend : "—"));
}

void jl_section_train(struct jl_section *s)
{
	struct group *groups = jl_arena_array(s->arena, GROUPS_MAX, sizeof *groups);
	size_t n = 0;

	if (!groups) {
		s->doc->failed = JL_E_NOMEM;
		return;
	}
	for (size_t i = 0; i < s->in->n_records; i++) {
		const struct jl_record *r = &s->in->records[i];
		size_t k = 0;

		if (!is_train(r))
			continue;
		while (k < n && !same_group(groups[k].rows[0], r))
			k++;
		if (k == GROUPS_MAX)
			continue;
		n += k == n;
		add_row(&groups[k], r);
	}
	if (!n)
		return;
	jl_section_open(s, "training", "Training benchmark");
	for (size_t k = 0; k < n; k++) {
		find_modes(&groups[k]);
		group_head(s, &groups[k], k);
		group_chart(s, &groups[k]);
		speed_table(s, &groups[k]);
		need_table(s, &groups[k]);
		group_words(s, &groups[k]);
	}
}
