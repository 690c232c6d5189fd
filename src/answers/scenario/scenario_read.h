/* Inside the reader of scenarios: values with their places in the messages. */
#pragma once

#include "base/units.h"
#include "scenario/scenario.h"

struct jl_scenario_reader {
	struct jl_scenario *s;
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	struct jl_err *err;
};

/* "text", or {ko: ..., en: ...} */
enum jl_status jl_scenario_words(struct jl_words *ret_words, const struct jl_yaml *node, struct jl_err *err);
/* One value without control characters. */
enum jl_status jl_scenario_text(const struct jl_yaml *node, struct jl_err *err);
enum jl_status jl_scenario_quantity(double *ret_value, const struct jl_yaml *node, enum jl_kind kind,
				    struct jl_err *err);
enum jl_status jl_scenario_count(double *ret_n, const struct jl_yaml *node, struct jl_err *err);
enum jl_status jl_scenario_texts(const char **ret_texts, size_t *ret_n, size_t max, const struct jl_yaml *list,
				 struct jl_err *err);

/* scenario_ask.c */
enum jl_status jl_scenario_read_questions(struct jl_scenario_reader *r, const struct jl_yaml *list);
enum jl_status jl_scenario_read_recommend(struct jl_scenario_reader *r, const struct jl_yaml *map);
