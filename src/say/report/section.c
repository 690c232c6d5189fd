#include "report/section.h"

#include <math.h>
#include <string.h>

struct jl_num jl_num_estimate(struct jl_estimate e, enum jl_kind kind, const char *unit)
{
	return (struct jl_num){ .value = e.value,
				.lo = e.lo,
				.hi = e.hi,
				.kind = kind,
				.unit = unit,
				.show_interval = false,
				.n_digits = 2 + (e.value >= 100 && kind == JL_K_NUMBER),
				.origin = JL_ESTIMATED,
				.source = JL_METHOD };
}

struct jl_num jl_num_fact(const struct jl_fact *fact, enum jl_kind kind)
{
	return (struct jl_num){ .value = fact->value,
				.lo = fact->lo,
				.hi = fact->hi,
				.kind = kind,
				.origin = fact->origin,
				.source = fact->source,
				.date = fact->date,
				.note = fact->note };
}

struct jl_num jl_num_plain(double value, enum jl_kind kind, const char *unit, enum jl_origin origin, const char *source)
{
	return (struct jl_num){
		.value = value, .lo = NAN, .hi = NAN, .kind = kind, .unit = unit, .origin = origin, .source = source
	};
}

struct jl_num jl_num_given(double value, enum jl_kind kind, const char *unit)
{
	struct jl_num num = jl_num_plain(value, kind, unit, JL_ORIGIN_NONE, NULL);

	num.n_digits = kind == JL_K_NUMBER ? 6 : 0;
	return num;
}

struct jl_num jl_num_measured(double value, enum jl_kind kind, const char *unit,
			      const struct jl_scenario_measured *measured)
{
	struct jl_num num = jl_num_plain(value, kind, unit, JL_MEASURED, measured ? measured->source : NULL);

	num.date = measured ? measured->date : NULL;
	return num;
}

struct jl_num jl_num_share(double frac, enum jl_origin origin)
{
	struct jl_num num = jl_num_plain(frac, JL_K_FRACTION, NULL, origin, origin == JL_ESTIMATED ? JL_METHOD : NULL);

	num.n_digits = 2;
	return num;
}

void jl_section_put(struct jl_section *s, struct jl_num num)
{
	jl_doc_num(s->doc, &num);
}

struct jl_num jl_num_capacity(const struct jl_weighed_system *system)
{
	const struct jl_sys *sys = &system->said->sys;
	struct jl_num num = sys->gpu   ? jl_num_fact(&sys->gpu->mem_B, JL_K_BYTES)
			    : sys->cpu ? jl_num_fact(&sys->cpu->mem_B, JL_K_BYTES)
				       : jl_num_plain(NAN, JL_K_BYTES, NULL, JL_ORIGIN_NONE, NULL);

	if (system->predicted)
		num.value = system->prediction.capacity_B;
	num.binary = true;
	return num;
}

void jl_section_open(struct jl_section *s, const char *id, const char *en, const char *ko)
{
	jl_doc_section(s->doc, id, JL_T(s->lang, en, ko));
}

void jl_section_table(struct jl_section *s, const char *title, const struct jl_section_head *heads, size_t n)
{
	struct jl_doc_column *columns = jl_arena_array(s->arena, n, sizeof *columns);

	if (!columns) {
		s->doc->failed = JL_E_NOMEM;
		return;
	}
	for (size_t i = 0; i < n; i++)
		columns[i] = (struct jl_doc_column){ .head = JL_T(s->lang, heads[i].en, heads[i].ko),
						     .right = heads[i].right };
	jl_doc_table(s->doc, title, columns, n);
}

void jl_section_cell(struct jl_section *s, struct jl_num num)
{
	if (isnan(num.value))
		jl_doc_cell_text(s->doc, "—");
	else
		jl_doc_cell_num(s->doc, &num);
}

const char *jl_words_in(struct jl_words words, enum jl_lang lang)
{
	return JL_T(lang, words.en, words.ko);
}

const char *jl_system_name(const struct jl_section *s, const struct jl_weighed_system *system)
{
	return jl_words_in(system->said->name, s->lang);
}

const char *jl_mode_name(const struct jl_section *s, const char *mode)
{
	static const char *const keys[] = { "ddp", "zero1", "zero2", "zero3" };
	static const char *const names[] = { "DDP", "ZeRO-1", "ZeRO-2", "ZeRO-3" };

	for (size_t i = 0; mode && i < 4; i++)
		if (strcmp(mode, keys[i]) == 0)
			return names[i];
	return mode ? mode : JL_T(s->lang, "data parallel", "데이터 병렬");
}

void jl_point_measured(struct jl_chart_point *point, const struct jl_scenario_measured *measured)
{
	if (!measured)
		return;
	point->own = true;
	point->origin = JL_MEASURED;
	point->source = measured->source;
	point->date = measured->date;
}

struct jl_chart *jl_section_chart(struct jl_section *s, enum jl_chart_kind kind, const char *title, size_t n_series)
{
	struct jl_chart *chart = jl_arena_alloc(s->arena, sizeof *chart);
	struct jl_chart_series *series = jl_arena_array(s->arena, n_series + 1, sizeof *series);

	if (!chart || !series) {
		s->doc->failed = JL_E_NOMEM;
		return NULL;
	}
	*chart = (struct jl_chart){ .kind = kind,
				    .title = title,
				    .series = series,
				    .n_series = n_series,
				    .mark_x = NAN,
				    .lang = s->lang,
				    .x = { .lo = NAN, .hi = NAN },
				    .y = { .lo = NAN, .hi = NAN } };
	return chart;
}

struct jl_chart_point *jl_section_series(struct jl_section *s, struct jl_chart *chart, size_t i, const char *name,
					 enum jl_origin origin, size_t n_points)
{
	struct jl_chart_point *points = jl_arena_array(s->arena, n_points + 1, sizeof *points);
	struct jl_chart_series *series = (struct jl_chart_series *)(chart->series + i);

	if (!points) {
		s->doc->failed = JL_E_NOMEM;
		return NULL;
	}
	for (size_t k = 0; k <= n_points; k++)
		points[k] = (struct jl_chart_point){ .x = NAN, .y = NAN, .lo = NAN, .hi = NAN };
	*series = (struct jl_chart_series){ .name = name,
					    .origin = origin,
					    .source = origin == JL_ESTIMATED ? JL_METHOD : NULL,
					    .points = points,
					    .n_points = n_points };
	return points;
}
