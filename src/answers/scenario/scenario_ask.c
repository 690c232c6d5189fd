/* What a scenario asks: its questions, and the machine it looks for. */
#include <math.h>
#include <string.h>

#include "scenario/scenario_read.h"

const char *const jl_scenario_asks[] = { "fastest", "speed", "time",  "fits", "normal", "breakeven", "cheapest", "rent",
					 "scaling", "why",   "helps", "do",   "energy", "sound",     "best",     NULL };

static enum jl_status known_ask(const char *ask, const struct jl_yaml *node, struct jl_err *err)
{
	for (size_t i = 0; jl_scenario_asks[i]; i++)
		if (strcmp(jl_scenario_asks[i], ask) == 0)
			return JL_OK;
	return jl_fail_at(err, JL_E_PARSE, &node->where,
			  "ask: '%.40s' is none of fastest, speed, time, fits, normal, breakeven, cheapest, rent, "
			  "scaling, why, helps, do, energy, sound, best",
			  ask);
}

/* {ask: normal, nodes: 125, ko: ..., en: ...} */
static enum jl_status read_details(struct jl_scenario_reader *r, struct jl_scenario_question *q,
				   const struct jl_yaml *map)
{
	static const char *const keys[] = { "ko", "en", "ask", "of", "mode", "what", "nodes", "gpus", NULL };
	const struct {
		const char *key, **text;
	} texts[] = { { "ask", &q->ask },   { "of", &q->of },      { "mode", &q->mode },
		      { "what", &q->what }, { "ko", &q->text.ko }, { "en", &q->text.en } };
	const struct jl_yaml *node;
	enum jl_status status = jl_yaml_check_keys(map, JL_N("a question"), keys, r->err);

	for (size_t i = 0; !status && i < JL_LEN(texts); i++)
		if ((node = jl_yaml_get(map, texts[i].key)) && !(status = jl_scenario_text(node, r->err)))
			*texts[i].text = node->text;
	if (!status && (node = jl_yaml_get(map, "nodes")))
		status = jl_scenario_count(&q->n_nodes, node, r->err);
	if (!status && (node = jl_yaml_get(map, "gpus")))
		status = jl_scenario_count(&q->n_gpus, node, r->err);
	if (!status && q->ask)
		status = known_ask(q->ask, jl_yaml_get(map, "ask"), r->err);
	if (!status && q->of && !jl_scenario_find(r->s, q->of))
		return jl_fail_at(r->err, JL_E_NOTFOUND, &map->where,
				  "questions: '%.60s' is none of this scenario's systems", q->of);
	if (!q->text.ko)
		q->text.ko = q->text.en;
	if (!q->text.en)
		q->text.en = q->text.ko;
	if (!status && !q->text.en && !q->ask)
		return jl_fail_at(r->err, JL_E_PARSE, &map->where, "a question needs ask:, ko: or en:");
	return status;
}

enum jl_status jl_scenario_read_questions(struct jl_scenario_reader *r, const struct jl_yaml *list)
{
	enum jl_status status = JL_OK;

	if (list->kind != JL_YAML_LIST || list->n_items > JL_SCENARIO_LIST_MAX)
		return jl_fail_at(r->err, JL_E_PARSE, &list->where, "questions: a list of at most %d",
				  JL_SCENARIO_LIST_MAX);
	for (const struct jl_yaml *item = list->items; !status && item; item = item->next) {
		struct jl_scenario_question q = { .n_nodes = NAN, .n_gpus = NAN, .where = item->where };

		if (item->kind == JL_YAML_TEXT)
			status = jl_scenario_words(&q.text, item, r->err);
		else
			status = read_details(r, &q, item);
		r->s->questions[r->s->n_questions++] = q;
	}
	return status;
}

/* Reads a budget: dollars, or won with the scenario's rate. */
static enum jl_status read_budget(struct jl_scenario_recommend *w, const struct jl_yaml *node, struct jl_err *err)
{
	struct jl_quantity q;
	struct jl_err inner;
	enum jl_status status;

	JL_TRY(jl_scenario_text(node, err));
	if ((status = jl_quantity_parse(&q, node->text, JL_K_MONEY, "budget", &inner)))
		return jl_fail_from(err, status, &node->where, &inner, "{}");
	if (!(q.value > 0 && q.value < 1e15))
		return jl_fail_at(err, JL_E_RANGE, &node->where, "budget: '%.40s' is no budget", node->text);
	if (q.kind == JL_K_KRW && isnan(w->fx))
		return jl_fail_at(err, JL_E_PARSE, &node->where, "a budget in won needs the rate too, e.g. fx: 1400");
	w->budget_usd = q.value / (q.kind == JL_K_KRW ? w->fx : 1);
	return JL_OK;
}

enum jl_status jl_scenario_read_recommend(struct jl_scenario_reader *r, const struct jl_yaml *map)
{
	static const char *const keys[] = { "purpose", "budget",   "deadline", "power", "region", "runs_per_month",
					    "months",  "max_gpus", "fx",       "only",  "how",    NULL };
	struct jl_scenario_recommend *w = &r->s->recommend;
	const struct {
		const char *key;
		enum jl_kind kind;
		double *value;
	} fields[] = { { "fx", JL_K_NUMBER, &w->fx },         { "deadline", JL_K_TIME, &w->deadline_s },
		       { "power", JL_K_POWER, &w->power_W },  { "runs_per_month", JL_K_NUMBER, &w->runs },
		       { "months", JL_K_NUMBER, &w->months }, { "max_gpus", JL_K_NUMBER, &w->gpus_max } };
	const struct jl_yaml *node;
	enum jl_status status = jl_yaml_check_keys(map, "recommend", keys, r->err);

	w->wanted = true;
	w->where = map->where;
	for (size_t i = 0; !status && i < JL_LEN(fields); i++) {
		if (!(node = jl_yaml_get(map, fields[i].key)))
			continue;
		status = jl_scenario_quantity(fields[i].value, node, fields[i].kind, r->err);
		if (!status && !(*fields[i].value > 0))
			return jl_fail_at(r->err, JL_E_RANGE, &node->where, "%s: must be above zero", fields[i].key);
	}
	w->purpose = jl_yaml_text(map, "purpose");
	w->region = jl_yaml_text(map, "region");
	if (!status && (node = jl_yaml_get(map, "budget")))
		status = read_budget(w, node, r->err);
	if (!status && (node = jl_yaml_get(map, "only")))
		status = jl_scenario_texts(w->only, &w->n_only, JL_SCENARIO_LIST_MAX, node, r->err);
	if (!status && (node = jl_yaml_get(map, "how")))
		status = jl_scenario_texts(w->hows, &w->n_hows, sizeof w->hows / sizeof w->hows[0], node, r->err);
	return status;
}
