/* Systems, their comparison for one workload, and the best value for money. */
#include <math.h>
#include <stdlib.h>

#include "report/section.h"
#include "topics/compare.h"

static void fact_cell(struct jl_section *s, const struct jl_fact *fact, enum jl_kind kind)
{
	struct jl_num num = jl_num_fact(fact, kind);

	num.binary = kind == JL_K_BYTES;
	jl_show_cell(s->doc, num);
}

static void gpu_cells(struct jl_section *s, const struct jl_gpu *gpu)
{
	/* as used in training: 16-bit products with 32-bit sums */
	const struct jl_fact *half = jl_fact_known(&gpu->fp16_fp32acc_dense_flopps) ? &gpu->fp16_fp32acc_dense_flopps
				     : jl_fact_known(&gpu->bf16_dense_flopps)       ? &gpu->bf16_dense_flopps
										    : &gpu->fp16_dense_flopps;

	fact_cell(s, &gpu->mem_B, JL_K_BYTES);
	fact_cell(s, &gpu->mem_Bps, JL_K_BYTE_RATE);
	fact_cell(s, &gpu->fp32_flopps, JL_K_FLOP_RATE);
	fact_cell(s, half, JL_K_FLOP_RATE);
	fact_cell(s, &gpu->tdp_W, JL_K_POWER);
}

static void cpu_cells(struct jl_section *s, const struct jl_cpu *cpu)
{
	fact_cell(s, &cpu->mem_B, JL_K_BYTES);
	fact_cell(s, &cpu->mem_Bps, JL_K_BYTE_RATE);
	fact_cell(s, &cpu->fp32_flopps, JL_K_FLOP_RATE);
	jl_doc_cell_text(s->doc, "—");
	fact_cell(s, &cpu->tdp_W, JL_K_POWER);
}

static void notes_of(struct jl_section *s)
{
	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_system_result *system = &s->w->systems[i];

		if (system->said->note.en) {
			jl_doc_item(s->doc);
			jl_doc_name(s->doc, jl_system_name(system));
			jl_doc_text(s->doc, ": ");
			jl_doc_sourced(s->doc, jl_words_in(system->said->note), JL_ORIGIN_NONE, NULL);
		}
		if (!system->usable) {
			jl_doc_item(s->doc);
			jl_doc_name(s->doc, jl_system_name(system));
			jl_doc_text(s->doc, ": ");
			jl_doc_sourced(s->doc, system->why.text, JL_ORIGIN_NONE, NULL);
		}
	}
}

void jl_section_specifications(struct jl_section *s)
{
	if (!s->w->n_systems)
		return;
	jl_section_open(s, "specifications", "Specifications");
	jl_show_table(s->doc, JL_("One device of each; tensor rates without sparsity"), "tffffff",
		      JL_N("System|GPUs|Memory|Bandwidth|FP32|FP16 dense|Power limit"));
	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_sys *sys = &s->w->systems[i].said->sys;

		JL_CELLS(s->doc, JL_NAMED(jl_system_name(&s->w->systems[i])),
			 JL_COUNT(sys->n_nodes * (double)sys->n_per_node));
		if (sys->gpu)
			gpu_cells(s, sys->gpu);
		else if (sys->cpu)
			cpu_cells(s, sys->cpu);
		jl_doc_end_row(s->doc, i == s->w->scenario->baseline && s->w->n_systems > 1);
	}
	notes_of(s);
}

static const char *const *row_names(struct jl_section *s)
{
	const struct jl_compare *compare = s->w->compare;
	const char **names = jl_arena_array(s->arena, compare->n_rows, sizeof *names);

	for (size_t i = 0; names && i < compare->n_rows; i++)
		names[i] = compare->rows[i].system;
	for (size_t i = 0; names && i < s->w->n_systems; i++)
		if (s->w->systems[i].row)
			names[s->w->systems[i].row - compare->rows] = jl_system_name(&s->w->systems[i]);
	return names;
}

void jl_chart_comparison(struct jl_section *s, const struct jl_scenario_question *q)
{
	(void)q;
	if (s->w->compare)
		jl_show_compare_chart(s->doc,
				      &(struct jl_show_compare){ .compare = s->w->compare, .names = row_names(s) });
}

void jl_section_comparison(struct jl_section *s)
{
	if (!s->w->compare && !s->w->compare_why.status)
		return;
	jl_section_open(s, "comparison", "Comparison");
	if (!s->w->compare) {
		jl_doc_finding(s->doc, JL_MARK_UNKNOWN, JL_("Could not be compared"));
		jl_doc_sourced(s->doc, s->w->compare_why.text, JL_ORIGIN_NONE, NULL);
		return;
	}
	jl_show_compare(s->doc, &(struct jl_show_compare){ .compare = s->w->compare,
							   .names = row_names(s),
							   .no_chart = jl_section_is_charted(s, "comparison"),
							   .no_assumed = true });
	for (size_t i = 0; i < s->w->n_systems; i++) {
		if (s->w->systems[i].row || !s->w->systems[i].why_not.status)
			continue;
		jl_doc_note(s->doc, JL_MARK_BAD, jl_system_name(&s->w->systems[i]));
		jl_doc_sourced(s->doc, s->w->systems[i].why_not.text, JL_ESTIMATED, JL_METHOD);
	}
}

/* --- value for money */

struct choice {
	const char *name;
	double usd, speed; /* rent per hour; samples/s or speedup */
	struct jl_estimate range;
	const char *source, *date; /* of the rent */
	bool front;
};

static double speed_of(const struct jl_system_result *system, struct jl_estimate *ret_range)
{
	if (system->row && system->row->at[JL_AT_SAME_BATCH].possible) {
		*ret_range = system->row->at[JL_AT_SAME_BATCH].speedup;
		if (system->row->baseline) /* baseline: 1 by definition */
			*ret_range = (struct jl_estimate){ .value = 1, .lo = NAN, .hi = NAN };
		return ret_range->value;
	}
	return NAN;
}

static int by_price(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	return x->usd < y->usd ? -1 : x->usd > y->usd ? 1 : x->speed > y->speed ? -1 : x->speed < y->speed;
}

static size_t gather(struct jl_section *s, struct choice *ret_choices)
{
	double best = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->w->n_systems; i++) {
		struct choice c = { .name = jl_system_name(&s->w->systems[i]),
				    .usd = s->w->systems[i].rent_usdps,
				    .source = s->w->systems[i].rent_source,
				    .date = s->w->systems[i].rent_date };

		c.speed = speed_of(&s->w->systems[i], &c.range);
		if (!isnan(c.usd) && !isnan(c.speed))
			ret_choices[n++] = c;
	}
	qsort(ret_choices, n, sizeof *ret_choices, by_price);
	for (size_t i = 0; i < n; i++) {
		ret_choices[i].front = ret_choices[i].speed > best;
		best = fmax(best, ret_choices[i].speed);
	}
	return n;
}

static void pareto_table(struct jl_section *s, const struct choice *choices, size_t n)
{
	jl_show_table(s->doc, NULL, "tfff", JL_N("System|Rent|Speed|Rent for the baseline's work of an hour"));
	for (size_t i = 0; i < n; i++) {
		struct jl_num rent = jl_num_plain(choices[i].usd, JL_K_USD_RATE, NULL, JL_LISTED, choices[i].source),
			      speed = jl_num_estimate((struct jl_estimate){ choices[i].speed, NAN, NAN }, JL_K_NUMBER,
						      "x"),
			      work = jl_num_about(choices[i].usd * 3600 / choices[i].speed, JL_K_USD, NULL);

		rent.date = choices[i].date;
		jl_doc_cell(s->doc, choices[i].front ? JL_MARK_GOOD : JL_MARK_NONE);
		jl_doc_name(s->doc, choices[i].name);
		JL_ROW(s->doc, false, JL_FIG(rent), JL_FIG(speed), JL_FIG(work));
	}
}

static void pareto_chart(struct jl_section *s, const struct choice *choices, size_t n)
{
	struct jl_chart *chart = jl_show_chart(
		s->doc, JL_CHART_SCATTER, JL_("Rent and speed; joined by a line: nothing is both cheaper and faster"),
		1);
	struct jl_chart_point *points = chart ? jl_show_series(s->doc, chart, 0, JL_("systems"), JL_ESTIMATED, n)
					      : NULL;

	if (!points)
		return;
	chart->x = JL_AXIS(.label = JL_("rent"), .unit = "USD/h", .log = true);
	chart->x_origin = JL_LISTED;
	chart->y = JL_AXIS(.label = JL_("speed over the baseline"), .unit = "x");
	for (size_t i = 0; i < n; i++)
		points[i] = (struct jl_chart_point){ .x = choices[i].usd * 3600,
						     .y = choices[i].speed,
						     .label = choices[i].name,
						     .front = choices[i].front,
						     .lo = choices[i].range.lo,
						     .hi = choices[i].range.hi,
						     .x_source = choices[i].source };
	jl_doc_chart(s->doc, chart);
}

void jl_chart_pareto(struct jl_section *s, const struct jl_scenario_question *q)
{
	struct choice choices[JL_SCENARIO_SYSTEMS_MAX] = { 0 };
	const size_t n = s->w->compare ? gather(s, choices) : 0;

	(void)q;
	if (n >= 3)
		pareto_chart(s, choices, n);
}

void jl_section_pareto(struct jl_section *s)
{
	struct choice choices[JL_SCENARIO_SYSTEMS_MAX] = { 0 };
	const size_t n = s->w->compare ? gather(s, choices) : 0;

	if (n < 3)
		return;
	jl_section_open(s, "pareto", "Best for the money");
	if (!jl_section_is_charted(s, "pareto"))
		pareto_chart(s, choices, n);
	pareto_table(s, choices, n);
	jl_doc_para(s->doc);
	JL_SHOW(s->doc, "Rents are the cheapest on-demand ones of the catalog; electricity and staff are not in them.");
}
