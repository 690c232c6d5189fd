/* Fields of `jeoul build` for JSON. */
#include <math.h>

#include "build/answer.h"

size_t jl_build_count(const struct jl_part_findings *found, enum jl_part_level level)
{
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++)
		n += found->items[i].level == level;
	return n;
}

/* --- a parts list */

static const struct jl_field rule[] = {
	{ JL_FIELD(jl_rule, TEXT, id) },
	{ JL_FIELD(jl_rule, TEXT, value) },
	{ JL_FIELD(jl_rule, TEXT, source) },
	{ JL_FIELD(jl_rule, TEXT, date) },
};
static const struct jl_schema rule_schema = JL_SCHEMA("rule", jl_rule, rule);

struct seen_rule {
	const struct jl_rule *rule;
};
static const struct jl_field seen_rule[] = {
	{ JL_FIELD(seen_rule, SEEN, rule), .sub = &rule_schema, .flags = JL_FF_FLAT },
};
static const struct jl_schema seen_rule_schema = JL_SCHEMA("rule", seen_rule, seen_rule);

static size_t n_rules(const void *record)
{
	const struct jl_part_finding *f = record;
	size_t n = 0;

	while (n < JL_PART_RULES_MAX && f->rules[n])
		n++;
	return n;
}

JL_TEXT_OF(level, jl_part_finding, jl_part_level_key(r->level));
JL_TEXT_OF(sure, jl_part_finding, jl_part_sure_name(r->sure));

static const struct jl_field finding[] = {
	{ JL_FIELD(jl_part_finding, TEXT, id) },
	{ JL_FIELD_TEXT_OF("level", level) },
	{ JL_FIELD_AS(jl_part_finding, CHARS, en, "text") },
	{ JL_FIELD_TEXT_OF("sure", sure) },
	{ JL_FIELD(jl_part_finding, ARRAY, rules), .sub = &seen_rule_schema, .count_of = n_rules },
};
static const struct jl_schema finding_schema = JL_SCHEMA("finding", jl_part_finding, finding);

static const struct jl_field findings[] = {
	{ JL_FIELD(jl_part_findings, NUMBER, load_W) },
	{ JL_FIELD(jl_part_findings, NUMBER, psu_least_W) },
	{ JL_FIELD(jl_part_findings, NUMBER, psu_most_W) },
	{ JL_FIELD_MANY(jl_part_findings, ARRAY, items, n, "findings", &finding_schema) },
};
static const struct jl_schema findings_schema = JL_SCHEMA("findings", jl_part_findings, findings);

JL_TEXT_OF(gpu, jl_rig, r->gpu->id);

static const struct jl_field rig[] = {
	{ JL_FIELD(jl_rig, TEXT, name) },
	{ JL_FIELD_TEXT_OF("gpu", gpu) },
	{ JL_FIELD(jl_rig, INT, n_gpus) },
};
static const struct jl_schema rig_schema = JL_SCHEMA("rig", jl_rig, rig);

static const struct jl_field build[] = {
	{ JL_FIELD(jl_build_answer, SEEN, rig), .sub = &rig_schema, .flags = JL_FF_FLAT },
	{ JL_FIELD(jl_build_answer, SEEN, found), .sub = &findings_schema, .flags = JL_FF_FLAT },
};
const struct jl_schema jl_build_fields = JL_SCHEMA("build", jl_build_answer, build);

JL_NUMBER_OF(price_usd, jl_upgrade, r->price.micro ? jl_money_value(r->price) : NAN);

#define U(TYPE, M, KEY) JL_FIELD_AS(jl_upgrade, TYPE, M, KEY)
static const struct jl_field upgrade[] = {
	{ U(TEXT, kind, "kind") },
	{ U(CHARS, en, "text") },
	{ U(CHARS, before, "before") },
	{ U(CHARS, after, "after") },
	{ U(INT, n_items, "n_items") },
	{ JL_FIELD_NUMBER_OF("price_usd", price_usd) },
	{ U(TEXT, price_date, "price_date") },
	{ U(ESTIMATE, before_per_s, "before_samples_per_s") },
	{ U(ESTIMATE, after_per_s, "after_samples_per_s") },
	{ U(INT, before_zero, "before_zero") },
	{ U(INT, after_zero, "after_zero") },
	{ U(NUMBER, pair_before_per_s, "pair_before_samples_per_s"), .flags = JL_FF_OMIT },
	{ U(NUMBER, pair_after_per_s, "pair_after_samples_per_s"), .flags = JL_FF_OMIT },
	{ U(NUMBER, gain_frac, "gain_frac") },
	{ U(NUMBER, gain_per_kusd, "gain_frac_per_1000_usd") },
};
static const struct jl_schema upgrade_schema = JL_SCHEMA("upgrade", jl_upgrade, upgrade);

static const struct jl_field asked[] = {
	{ JL_FIELD(jl_upgrade_ask, TEXT, system) },
	{ JL_FIELD_AS(jl_upgrade_ask, TEXT, run.model, "model") },
};
static const struct jl_schema asked_schema = JL_SCHEMA("asked", jl_upgrade_ask, asked);

static const struct jl_field upgrades[] = {
	{ JL_FIELD_AS(jl_upgrades, ESTIMATE, now_per_s, "samples_per_s") },
	{ JL_FIELD_AS(jl_upgrades, INT, now_zero, "zero") },
	{ JL_FIELD(jl_upgrades, SIZE, n_over_budget) },
	{ JL_FIELD_MANY(jl_upgrades, ARRAY, items, n, "upgrades", &upgrade_schema) },
};
static const struct jl_schema upgrades_schema = JL_SCHEMA("upgrades", jl_upgrades, upgrades);

static const struct jl_field upgrade_answer[] = {
	{ JL_FIELD(jl_upgrade_answer, SEEN, ask), .sub = &asked_schema, .flags = JL_FF_FLAT },
	{ JL_FIELD(jl_upgrade_answer, SEEN, found), .sub = &upgrades_schema, .flags = JL_FF_FLAT },
};
const struct jl_schema jl_upgrade_fields = JL_SCHEMA("upgrade_answer", jl_upgrade_answer, upgrade_answer);
