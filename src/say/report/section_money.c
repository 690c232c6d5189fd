/* What the options cost over time, and when one becomes cheaper than another. */
#include "report/section.h"
#include "tell/cost.h"

void jl_section_cost(struct jl_section *s)
{
	if (!s->w->study)
		return;
	jl_section_open(s, "cost", "Cost over time");
	jl_tell_cost(s->doc, &(struct jl_tell_cost){ .study = s->w->study,
						     .cat = s->w->cat,
						     .today = s->w->today,
						     .no_chart = jl_section_is_charted(s, "cost") });
}

void jl_chart_cost(struct jl_section *s, const struct jl_scenario_question *q)
{
	(void)q;
	if (s->w->study)
		jl_tell_cost_chart(s->doc, s->w->study);
}
