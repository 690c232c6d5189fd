/* Helpers that the sections share. */
#include "report/section.h"

#include <math.h>
#include <string.h>

struct jl_num jl_num_measured(double value, enum jl_kind kind, const char *unit,
			      const struct jl_scenario_measured *measured)
{
	struct jl_num num = jl_num_plain(value, kind, unit, JL_MEASURED, measured ? measured->source : NULL);

	num.date = measured ? measured->date : NULL;
	return num;
}

struct jl_num jl_num_capacity(const struct jl_system_result *system)
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

void jl_section_open(struct jl_section *s, const char *id, const char *en)
{
	jl_doc_section(s->doc, id, jl_msg(en));
	jl_doc_fold(s->doc);
}

bool jl_section_is_charted(const struct jl_section *s, const char *id)
{
	return s->charted && strcmp(s->charted, id) == 0;
}

const char *jl_system_name(const struct jl_system_result *system)
{
	return jl_words_in(system->said->name);
}

const char *jl_mode_name(const char *mode)
{
	static const char *const keys[] = { "ddp", "zero1", "zero2", "zero3" };
	static const char *const names[] = { "DDP", "ZeRO-1", "ZeRO-2", "ZeRO-3" };

	for (size_t i = 0; mode && i < 4; i++)
		if (strcmp(mode, keys[i]) == 0)
			return names[i];
	return mode ? mode : JL_("data parallel");
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
