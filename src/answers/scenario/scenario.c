/* Defaults and lookups of scenarios. */
#include "scenario/scenario.h"

#include <math.h>
#include <string.h>

bool jl_scenario_wants(const struct jl_scenario *s, const char *section)
{
	for (size_t i = 0; i < s->n_sections; i++)
		if (strcmp(s->sections[i], section) == 0)
			return true;
	return s->n_sections == 0;
}

const struct jl_scenario_system *jl_scenario_find(const struct jl_scenario *s, const char *name)
{
	for (size_t i = 0; name && i < s->n_systems; i++)
		if (strcmp(s->systems[i].name.en, name) == 0 || strcmp(s->systems[i].name.ko, name) == 0 ||
		    strcmp(s->systems[i].on, name) == 0)
			return &s->systems[i];
	return NULL;
}

const char *jl_words_in(struct jl_words words)
{
	return jl_lang_is("ko") ? words.ko : words.en;
}

struct jl_scenario jl_scenario_empty(const char *file)
{
	struct jl_scenario s = {
		.file = file, .request = jl_request_empty(), .observed = jl_observed_empty(), .repeat = NAN, .tune = NAN
	};

	s.recommend.budget_usd = s.recommend.deadline_s = s.recommend.power_W = s.recommend.runs = NAN;
	s.recommend.months = s.recommend.gpus_max = s.recommend.fx = NAN;
	s.cost.util_frac = s.cost.fx = s.cost.household_J = s.cost.horizon_s = NAN;
	return s;
}

size_t jl_scenario_put_this(struct jl_yaml *root, const char *system)
{
	struct jl_yaml *list = root->kind == JL_YAML_MAP ? root->items : NULL;
	size_t n = 0;

	while (list && strcmp(list->key, "systems") != 0)
		list = list->next;
	for (struct jl_yaml *item = list && list->kind == JL_YAML_LIST ? list->items : NULL; item; item = item->next) {
		struct jl_yaml *on = item->kind == JL_YAML_MAP ? item->items : item;

		while (on && on != item && strcmp(on->key, "on") != 0)
			on = on->next;
		if (!on || on->kind != JL_YAML_TEXT || strcmp(on->text, "this") != 0)
			continue;
		n++;
		if (system)
			on->text = system;
	}
	return n;
}
