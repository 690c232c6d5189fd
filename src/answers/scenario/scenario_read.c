/* Parses scenarios: one table of keys per map. */

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "scenario/scenario.h"

/* Section names in display order; NULL-terminated. */
static const char *const scenario_sections[] = { "summary", "training",  "specifications", "comparison", "scaling",
						 "time",    "memory",    "allreduce",      "cost",       "goodput",
						 "pareto",  "recommend", "topology",       "builds",     "findings",
						 "claims",  "origins",   "method",         NULL };

/* Rejects control characters: text is shown in tables, charts and terminals. */
static enum jl_status check_plain(const struct jl_yaml *node, struct jl_err *err)
{
	for (const char *at = node->text; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return jl_fail_at(err, JL_E_PARSE, &node->where,
					  "%s: a line break or control character in the text; write it on one line",
					  node->key ? node->key : "-");
	return JL_OK;
}

/* "text", or {ko: ..., en: ...} */
static enum jl_status words(struct jl_words *ret_words, const struct jl_yaml *node, struct jl_err *err)
{
	static const char *const keys[] = { "ko", "en", NULL };

	if (node->kind == JL_YAML_TEXT) {
		*ret_words = (struct jl_words){ .ko = node->text, .en = node->text };
		return check_plain(node, err);
	}
	JL_TRY(jl_yaml_check_keys(node, "text in two languages", keys, err));
	const char *ko = jl_yaml_text(node, "ko"), *en = jl_yaml_text(node, "en");

	for (const struct jl_yaml *item = node->items; item; item = item->next)
		JL_TRY(item->kind == JL_YAML_TEXT ? check_plain(item, err) : JL_OK);
	*ret_words = (struct jl_words){ .ko = ko ? ko : en, .en = en ? en : ko };
	return ret_words->en ? JL_OK : jl_fail_at(err, JL_E_PARSE, &node->where, "ko: or en: is missing");
}

/* One value without control characters. */
static enum jl_status one_value(const struct jl_yaml *node, struct jl_err *err)
{
	if (node->kind == JL_YAML_TEXT)
		return check_plain(node, err);
	return jl_fail_at(err, JL_E_PARSE, &node->where, "%s: one value is required", node->key ? node->key : "-");
}

static enum jl_status count(double *ret_n, const struct jl_yaml *node, struct jl_err *err)
{
	struct jl_err inner;
	long long n;

	JL_TRY(one_value(node, err));
	if (jl_units_parse_count(&n, node->text, 1, 1000000000000000LL, node->key ? node->key : "count", &inner))
		return jl_fail_from(err, inner.status, &node->where, &inner, "{}");
	*ret_n = (double)n;
	return JL_OK;
}

static enum jl_status quantity(double *ret_value, const struct jl_yaml *node, enum jl_kind kind, struct jl_err *err)
{
	struct jl_err inner;

	JL_TRY(one_value(node, err));
	if (jl_units_parse(ret_value, node->text, kind, node->key ? node->key : "value", &inner))
		return jl_fail_from(err, inner.status, &node->where, &inner, "{}");
	return JL_OK;
}

/* ---- keys of a map: type of the value, and destination */

struct reader {
	struct jl_scenario *s;
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	struct jl_err *err;
};

enum form {
	TEXT,  /* NULL if absent */
	PLAIN, /* displayable text */
	WORDS,
	COUNT,
	QUANTITY,
	ABOVE_0, /* a quantity > 0 */
	COUNTS,
	TEXTS,
	NODE,
	OTHER /* parsed by the key's own function */
};

struct key {
	const char *name;
	enum form form;
	size_t at; /* offset of the member */
	enum jl_kind kind;
	size_t n_at, max; /* COUNTS, TEXTS: offset of the count member, maximum count */
	enum jl_status (*read)(struct reader *r, const struct jl_yaml *node, void *member);
};
#define KEY(NAME, FORM, S, M) .name = (NAME), .form = FORM, .at = offsetof(struct S, M)
#define MANY(NAME, FORM, S, M)                                                                                         \
	KEY(NAME, FORM, S, M), .n_at = offsetof(struct S, n_##M), .max = JL_LEN(((struct S *)0)->M)
#define KEYS_MAX 24

static enum jl_status read_list(struct reader *r, const struct key *k, const struct jl_yaml *list, void *to)
{
	char *at = (char *)to + k->at;
	size_t n = 0;

	if (list->kind != JL_YAML_LIST && k->form == COUNTS)
		return jl_fail_at(r->err, JL_E_PARSE, &list->where, "%s: a list, e.g. [1, 2, 4, 8]", list->key);
	if (list->n_items > k->max && k->form == COUNTS)
		return jl_fail_at(r->err, JL_E_LIMIT, &list->where, "more than %d values", JL_SCENARIO_LIST_MAX);
	if (list->kind != JL_YAML_LIST || list->n_items > k->max)
		return jl_fail_at(r->err, JL_E_PARSE, &list->where, "%s: a list of at most %zu", list->key, k->max);
	for (const struct jl_yaml *item = list->items; item; item = item->next, n++) {
		JL_TRY(k->form == COUNTS ? count((double *)(void *)at + n, item, r->err) : one_value(item, r->err));
		if (k->form == TEXTS)
			((const char **)(void *)at)[n] = item->text;
	}
	*(size_t *)(void *)((char *)to + k->n_at) = n;
	return JL_OK;
}

static enum jl_status read_key(struct reader *r, const struct key *k, const struct jl_yaml *node, void *to)
{
	void *at = (char *)to + k->at;

	switch (k->form) {
	case PLAIN: JL_TRY(one_value(node, r->err)); /* fall through */
	case TEXT: *(const char **)at = node->kind == JL_YAML_TEXT ? node->text : NULL; return JL_OK;
	case WORDS: return words(at, node, r->err);
	case COUNT: return count(at, node, r->err);
	case QUANTITY: return quantity(at, node, k->kind, r->err);
	case ABOVE_0:
		JL_TRY(quantity(at, node, k->kind, r->err));
		return *(double *)at > 0
			       ? JL_OK
			       : jl_fail_at(r->err, JL_E_RANGE, &node->where, "%s: must be above zero", k->name);
	case NODE: *(const struct jl_yaml **)at = node; return JL_OK;
	case OTHER: return k->read(r, node, at);
	default: return read_list(r, k, node, to);
	}
}

/* Reads keys in the table's order; unknown keys are errors. */
static enum jl_status read_keys(struct reader *r, const struct jl_yaml *map, const char *what, const struct key *keys,
				size_t n, void *to)
{
	const char *names[KEYS_MAX + 1] = { NULL };

	for (size_t i = 0; i < n; i++)
		names[i] = keys[i].name;
	JL_TRY(jl_yaml_check_keys(map, what, names, r->err));
	for (size_t i = 0; i < n; i++) {
		const struct jl_yaml *node = jl_yaml_get(map, keys[i].name);

		JL_TRY(node ? read_key(r, &keys[i], node, to) : JL_OK);
	}
	return JL_OK;
}
#define READ_KEYS(R, MAP, WHAT, KEYS, TO) read_keys((R), (MAP), (WHAT), (KEYS), JL_LEN(KEYS), (TO))

static enum jl_status read_system(struct reader *r, const struct jl_yaml *item)
{
	struct said {
		struct jl_words name, note;
		const char *on, *baseline;
	} said = { .on = item->kind == JL_YAML_TEXT ? item->text : NULL };
	static const struct key keys[] = { { KEY("on", TEXT, said, on) },
					   { KEY("name", WORDS, said, name) },
					   { KEY("note", WORDS, said, note) },
					   { KEY("baseline", TEXT, said, baseline) } };
	struct jl_scenario_system system = { .where = item->where };
	struct jl_err inner;

	if (r->s->n_systems == JL_SCENARIO_SYSTEMS_MAX)
		return jl_fail_at(r->err, JL_E_LIMIT, &item->where, "more than %d systems in one report",
				  JL_SCENARIO_SYSTEMS_MAX);
	if (item->kind == JL_YAML_MAP)
		JL_TRY(READ_KEYS(r, item, JL_N("a system"), keys, &said));
	if (!said.on)
		return jl_fail_at(r->err, JL_E_PARSE, &item->where, "a system needs on:, e.g. on: 4x rtx-3090");
	if (jl_sys_parse(&system.sys, r->cat, said.on, r->arena, &inner))
		return jl_fail_from(r->err, inner.status, &item->where, &inner, "{}");
	system.on = said.on;
	system.name = said.name.en ? said.name : (struct jl_words){ .ko = said.on, .en = said.on };
	system.note = said.note;
	if (said.baseline && strcmp(said.baseline, "yes") == 0)
		r->s->baseline = r->s->n_systems;
	r->s->systems[r->s->n_systems++] = system;
	return JL_OK;
}

static enum jl_status read_systems(struct reader *r, const struct jl_yaml *list, void *member)
{
	(void)member;
	if (list->kind != JL_YAML_LIST)
		return jl_fail_at(r->err, JL_E_PARSE, &list->where, "systems: a list, e.g. [rtx-4090, dgx-h100]");
	for (const struct jl_yaml *item = list->items; item; item = item->next)
		JL_TRY(read_system(r, item));
	return JL_OK;
}

/* ---- workload */

static enum jl_status read_precision(struct reader *r, const struct jl_yaml *node, void *member)
{
	for (int i = 0; i < JL_N_DTYPE; i++)
		if (node->kind == JL_YAML_TEXT && strcmp(node->text, jl_dtype_name((enum jl_dtype)i)) == 0) {
			*(int *)member = i;
			return JL_OK;
		}
	return jl_fail_at(r->err, JL_E_PARSE, &node->where, "precision: fp32, tf32, fp16, bf16 or fp8");
}

static enum jl_status read_kind(struct reader *r, const struct jl_yaml *node, void *member)
{
	(void)r;
	for (int k = 0; node->kind == JL_YAML_TEXT && k < JL_N_MIX; k++)
		if (strcmp(node->text, jl_mixes[k].id) == 0)
			*(enum jl_mix_kind *)member = (enum jl_mix_kind)k;
	return JL_OK;
}

static enum jl_status read_observed(struct reader *r, const struct jl_yaml *map, void *member)
{
	static const struct key keys[] = {
		{ KEY("step", QUANTITY, jl_observed, step_s), .kind = JL_K_TIME },
		{ KEY("watts", QUANTITY, jl_observed, watts_W), .kind = JL_K_POWER },
		{ KEY("memory_per_sample", QUANTITY, jl_observed, sample_B), .kind = JL_K_BYTES },
		{ KEY("memory_fixed", QUANTITY, jl_observed, fixed_B), .kind = JL_K_BYTES },
		{ KEY("batch", COUNT, jl_observed, batch) },
		{ KEY("batches", COUNT, jl_observed, batches) },
		{ KEY("params", COUNT, jl_observed, params) },
		{ KEY("batch_limit", COUNT, jl_observed, batch_limit) },
		{ KEY("precision", OTHER, jl_observed, dtype), .read = read_precision },
		{ KEY("kind", OTHER, jl_observed, kind), .read = read_kind },
	};
	const struct jl_observed *o = member;

	JL_TRY(READ_KEYS(r, map, "observed", keys, member));
	if (isnan(o->step_s) || isnan(o->batch))
		return jl_fail_at(r->err, JL_E_PARSE, &map->where,
				  "observed: step and batch are needed, e.g. {step: 1.06 s, batch: 128}");
	return JL_OK;
}

static enum jl_status read_parallel(struct reader *r, const struct jl_yaml *node, void *member)
{
	struct jl_err inner;

	JL_TRY(one_value(node, r->err));
	if (jl_request_parallel(member, node->text, &inner))
		return jl_fail_from(r->err, inner.status, &node->where, &inner, "{}");
	return JL_OK;
}

static enum jl_status read_workload(struct reader *r, const struct jl_yaml *map, void *member)
{
	static const struct key keys[] = {
		{ KEY("model", TEXT, jl_scenario, request.model) },
		{ KEY("batch", COUNT, jl_scenario, request.batch) },
		{ KEY("micro_batch", COUNT, jl_scenario, request.micro_batch) },
		{ KEY("global_batch", COUNT, jl_scenario, request.global_batch) },
		{ KEY("accumulate", COUNT, jl_scenario, request.accumulate) },
		{ KEY("seq", COUNT, jl_scenario, request.seq) },
		{ KEY("samples", COUNT, jl_scenario, request.samples) },
		{ KEY("tokens", COUNT, jl_scenario, request.tokens) },
		{ KEY("steps_per_epoch", COUNT, jl_scenario, request.steps_per_epoch) },
		{ KEY("epochs", COUNT, jl_scenario, request.epochs) },
		{ KEY("precision", OTHER, jl_scenario, request.dtype), .read = read_precision },
		{ KEY("parallel", OTHER, jl_scenario, request.plan), .read = read_parallel },
		{ KEY("repeat", COUNT, jl_scenario, repeat) },
		{ KEY("tune", COUNT, jl_scenario, tune) },
		{ KEY("observed", OTHER, jl_scenario, observed), .read = read_observed },
	};

	(void)member;
	JL_TRY(READ_KEYS(r, map, "workload", keys, r->s));
	if (!r->s->request.model && isnan(r->s->observed.step_s))
		return jl_fail_at(r->err, JL_E_PARSE, &map->where, "workload: model: or observed: is needed");
	return JL_OK;
}

/* ---- measurements */

/* The name determines the unit of the value. */
static const struct {
	const char *what;
	enum jl_kind kind;
} measurables[] = {
	{ "samples_per_s", JL_K_COUNT_RATE },
	{ "tokens_per_s", JL_K_COUNT_RATE },
	{ "step_s", JL_K_TIME },
	{ "epoch_s", JL_K_TIME },
	{ "algbw_Bps", JL_K_BYTE_RATE },
	{ "busbw_Bps", JL_K_BYTE_RATE },
	{ "gemm_flopps", JL_K_FLOP_RATE },
	{ "mem_Bps", JL_K_BYTE_RATE },
	{ "link_Bps", JL_K_BYTE_RATE },
	{ "power_W", JL_K_POWER },
	{ "memory_B", JL_K_BYTES },
};

/* {record: ID} in the store, or {file: results.jsonl} */
static enum jl_status read_fetch(struct reader *r, const struct jl_yaml *map)
{
	if (map->n_items != 1)
		return jl_fail_at(r->err, JL_E_PARSE, &map->where,
				  "measured: record: or file: cannot be combined with others");
	if (r->s->n_fetch == JL_SCENARIO_LIST_MAX)
		return jl_fail_at(r->err, JL_E_LIMIT, &map->where, "measured: more than %d records and files",
				  JL_SCENARIO_LIST_MAX);
	r->s->fetch[r->s->n_fetch++] = (struct jl_scenario_fetch){ .record = jl_yaml_text(map, "record"),
								   .file = jl_yaml_text(map, "file"),
								   .where = map->where };
	return JL_OK;
}

static enum jl_status read_measured(struct reader *r, const struct jl_yaml *map)
{
	struct said {
		struct jl_scenario_measured m;
		const struct jl_yaml *value, *record, *file;
	} said = { .m = { .n_gpus = NAN, .n_nodes = NAN, .size_B = NAN, .where = map->where } };
	static const struct key keys[] = {
		{ KEY("what", TEXT, said, m.what) },
		{ KEY("value", NODE, said, value) },
		{ KEY("gpus", COUNT, said, m.n_gpus) },
		{ KEY("nodes", COUNT, said, m.n_nodes) },
		{ KEY("size", QUANTITY, said, m.size_B), .kind = JL_K_BYTES },
		{ KEY("system", TEXT, said, m.system) },
		{ KEY("mode", TEXT, said, m.mode) },
		{ KEY("source", TEXT, said, m.source) },
		{ KEY("date", TEXT, said, m.date) },
		{ KEY("record", NODE, said, record) },
		{ KEY("file", NODE, said, file) },
	};
	struct jl_scenario_measured *m = &said.m;
	size_t i = 0;

	JL_TRY(READ_KEYS(r, map, "measured", keys, &said));
	if (jl_yaml_text(map, "record") || jl_yaml_text(map, "file"))
		return read_fetch(r, map);
	while (m->what && i < JL_LEN(measurables) && strcmp(measurables[i].what, m->what) != 0)
		i++;
	if (!m->what || i == JL_LEN(measurables))
		return jl_fail_at(r->err, JL_E_PARSE, &map->where,
				  "measured: what: is one of samples_per_s, step_s, epoch_s, algbw_Bps, busbw_Bps ...");
	m->kind = measurables[i].kind;
	if (!said.value)
		return jl_fail_at(r->err, JL_E_PARSE, &map->where, "measured: value: is missing");
	JL_TRY(quantity(&m->value, said.value, m->kind, r->err));
	if (!(m->value > 0))
		return jl_fail_at(r->err, JL_E_RANGE, &said.value->where, "a measured value is above zero");
	if (m->system && !jl_scenario_find(r->s, m->system))
		return jl_fail_at(r->err, JL_E_NOTFOUND, &map->where,
				  "measured: '%.60s' is none of this scenario's systems", m->system);
	r->s->measured[r->s->n_measured++] = *m;
	return JL_OK;
}

static enum jl_status read_measureds(struct reader *r, const struct jl_yaml *list, void *member)
{
	(void)member;
	if (list->kind != JL_YAML_LIST || list->n_items > JL_SCENARIO_MEASURED_MAX)
		return jl_fail_at(r->err, JL_E_PARSE, &list->where, "measured: a list of at most %d",
				  JL_SCENARIO_MEASURED_MAX);
	r->s->measured = jl_arena_array(r->arena, list->n_items + 1, sizeof *r->s->measured);
	JL_TRY(jl_got(r->s->measured, r->err));
	for (const struct jl_yaml *item = list->items; item; item = item->next)
		JL_TRY(read_measured(r, item));
	return JL_OK;
}

/* ---- computed parts */

static enum jl_status read_scaling(struct reader *r, const struct jl_yaml *map, void *member)
{
	static const struct key keys[] = { { KEY("system", TEXT, jl_scenario_scaling, system) },
					   { MANY("gpus", COUNTS, jl_scenario_scaling, counts) },
					   { MANY("modes", TEXTS, jl_scenario_scaling, modes) } };

	((struct jl_scenario_scaling *)member)->wanted = true;
	return READ_KEYS(r, map, "scaling", keys, member);
}

static enum jl_status read_allreduce(struct reader *r, const struct jl_yaml *map, void *member)
{
	static const struct key keys[] = { { KEY("on", TEXT, jl_scenario_allreduce, on) },
					   { KEY("size", QUANTITY, jl_scenario_allreduce, size_B), .kind = JL_K_BYTES },
					   { MANY("nodes", COUNTS, jl_scenario_allreduce, nodes) } };
	struct jl_scenario_allreduce *a = member;

	a->wanted = true;
	a->size_B = 16e9;
	JL_TRY(READ_KEYS(r, map, "allreduce", keys, a));
	if (!a->on)
		return jl_fail_at(r->err, JL_E_PARSE, &map->where, "allreduce: on: is missing, e.g. aws:p5.48xlarge");
	return JL_OK;
}

/* One option of a kind, or a list. */
static enum jl_status read_options(struct reader *r, const struct jl_yaml *list, void *member)
{
	struct jl_scenario_cost *c = member;

	for (const struct jl_yaml *item = list->kind == JL_YAML_TEXT ? list : list->items; item;
	     item = item == list ? NULL : item->next) {
		if (c->n_options == JL_SCENARIO_LIST_MAX)
			return jl_fail_at(r->err, JL_E_LIMIT, &item->where, "too many options");
		JL_TRY(one_value(item, r->err));
		c->kinds[c->n_options] = list->key;
		c->options[c->n_options++] = item;
	}
	return JL_OK;
}

static enum jl_status read_cost(struct reader *r, const struct jl_yaml *map, void *member)
{
#define OPTIONS(NAME)                                                                                                  \
	{                                                                                                              \
		.name = (NAME), .form = OTHER, .read = read_options                                                    \
	}
	static const struct key keys[] = {
		OPTIONS("buy"),
		OPTIONS("own"),
		OPTIONS("rent"),
		OPTIONS("spot"),
		OPTIONS("reserve"),
		{ KEY("kwh", TEXT, jl_scenario_cost, kwh) },
		{ KEY("tariff", TEXT, jl_scenario_cost, tariff) },
		{ KEY("region", TEXT, jl_scenario_cost, region) },
		{ KEY("currency", TEXT, jl_scenario_cost, currency) },
		{ KEY("util", QUANTITY, jl_scenario_cost, util_frac), .kind = JL_K_FRACTION },
		{ KEY("fx", QUANTITY, jl_scenario_cost, fx), .kind = JL_K_NUMBER },
		{ KEY("household", QUANTITY, jl_scenario_cost, household_J), .kind = JL_K_ENERGY },
		{ KEY("horizon", QUANTITY, jl_scenario_cost, horizon_s), .kind = JL_K_TIME },
	};
	struct jl_scenario_cost *c = member;

	c->wanted = true;
	c->map = map;
	return READ_KEYS(r, map, "cost", keys, c);
}

/* Dollars, or won with the `fx:` of the same map. */
static enum jl_status read_budget(struct reader *r, const struct jl_yaml *node, void *member)
{
	const double fx = r->s->recommend.fx;
	struct jl_quantity q;
	struct jl_err inner;

	JL_TRY(one_value(node, r->err));
	if (jl_quantity_parse(&q, node->text, JL_K_MONEY, "budget", &inner))
		return jl_fail_from(r->err, inner.status, &node->where, &inner, "{}");
	if (!(q.value > 0 && q.value < 1e15))
		return jl_fail_at(r->err, JL_E_RANGE, &node->where, "budget: '%.40s' is not a budget", node->text);
	if (q.kind == JL_K_KRW && isnan(fx))
		return jl_fail_at(r->err, JL_E_PARSE, &node->where,
				  "a budget in won needs the rate too, e.g. fx: 1400");
	*(double *)member = q.value / (q.kind == JL_K_KRW ? fx : 1);
	return JL_OK;
}

static enum jl_status read_recommend(struct reader *r, const struct jl_yaml *map, void *member)
{
	static const struct key keys[] = {
		{ KEY("fx", ABOVE_0, jl_scenario_recommend, fx), .kind = JL_K_NUMBER },
		{ KEY("deadline", ABOVE_0, jl_scenario_recommend, deadline_s), .kind = JL_K_TIME },
		{ KEY("power", ABOVE_0, jl_scenario_recommend, power_W), .kind = JL_K_POWER },
		{ KEY("runs_per_month", ABOVE_0, jl_scenario_recommend, runs), .kind = JL_K_NUMBER },
		{ KEY("months", ABOVE_0, jl_scenario_recommend, months), .kind = JL_K_NUMBER },
		{ KEY("max_gpus", ABOVE_0, jl_scenario_recommend, gpus_max), .kind = JL_K_NUMBER },
		{ KEY("purpose", TEXT, jl_scenario_recommend, purpose) },
		{ KEY("region", TEXT, jl_scenario_recommend, region) },
		{ KEY("budget", OTHER, jl_scenario_recommend, budget_usd), .read = read_budget },
		{ MANY("only", TEXTS, jl_scenario_recommend, only) },
		{ MANY("how", TEXTS, jl_scenario_recommend, hows) },
	};
	struct jl_scenario_recommend *w = member;

	w->wanted = true;
	w->where = map->where;
	return READ_KEYS(r, map, "recommend", keys, w);
}

/* ---- questions and sections */

const char *const jl_scenario_asks[] = { "fastest", "speed", "time",  "fits", "normal", "breakeven", "cheapest", "rent",
					 "scaling", "why",   "helps", "do",   "energy", "sound",     "best",     NULL };

static bool is_one_of(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

/* {ask: normal, nodes: 125, ko: ..., en: ...} */
static enum jl_status read_question(struct reader *r, struct jl_scenario_question *q, const struct jl_yaml *map)
{
	static const struct key keys[] = {
		{ KEY("ask", PLAIN, jl_scenario_question, ask) },
		{ KEY("of", PLAIN, jl_scenario_question, of) },
		{ KEY("mode", PLAIN, jl_scenario_question, mode) },
		{ KEY("what", PLAIN, jl_scenario_question, what) },
		{ KEY("ko", PLAIN, jl_scenario_question, text.ko) },
		{ KEY("en", PLAIN, jl_scenario_question, text.en) },
		{ KEY("nodes", COUNT, jl_scenario_question, n_nodes) },
		{ KEY("gpus", COUNT, jl_scenario_question, n_gpus) },
	};

	JL_TRY(READ_KEYS(r, map, JL_N("a question"), keys, q));
	if (q->ask && !is_one_of(jl_scenario_asks, q->ask))
		return jl_fail_at(
			r->err, JL_E_PARSE, &jl_yaml_get(map, "ask")->where,
			"ask: '%.40s' is none of fastest, speed, time, fits, normal, breakeven, cheapest, rent, "
			"scaling, why, helps, do, energy, sound, best",
			q->ask);
	if (q->of && !jl_scenario_find(r->s, q->of))
		return jl_fail_at(r->err, JL_E_NOTFOUND, &map->where,
				  "questions: '%.60s' is none of this scenario's systems", q->of);
	q->text = (struct jl_words){ .ko = q->text.ko ? q->text.ko : q->text.en,
				     .en = q->text.en ? q->text.en : q->text.ko };
	if (!q->text.en && !q->ask)
		return jl_fail_at(r->err, JL_E_PARSE, &map->where, "a question needs ask:, ko: or en:");
	return JL_OK;
}

static enum jl_status read_questions(struct reader *r, const struct jl_yaml *list, void *member)
{
	(void)member;
	if (list->kind != JL_YAML_LIST || list->n_items > JL_SCENARIO_LIST_MAX)
		return jl_fail_at(r->err, JL_E_PARSE, &list->where, "questions: a list of at most %d",
				  JL_SCENARIO_LIST_MAX);
	for (const struct jl_yaml *item = list->items; item; item = item->next) {
		struct jl_scenario_question *q = &r->s->questions[r->s->n_questions++];

		*q = (struct jl_scenario_question){ .n_nodes = NAN, .n_gpus = NAN, .where = item->where };
		JL_TRY(item->kind == JL_YAML_TEXT ? words(&q->text, item, r->err) : read_question(r, q, item));
	}
	return JL_OK;
}

static enum jl_status read_sections(struct reader *r, const struct jl_yaml *list, void *member)
{
	static const struct key all = { MANY("sections", TEXTS, jl_scenario, sections) };

	(void)member;
	JL_TRY(read_list(r, &all, list, r->s));
	for (size_t i = 0; i < r->s->n_sections; i++)
		if (!is_one_of(scenario_sections, r->s->sections[i]))
			return jl_fail_at(r->err, JL_E_PARSE, &list->where,
					  "no section '%.40s'; there are summary, comparison, scaling, cost ...",
					  r->s->sections[i]);
	return JL_OK;
}

enum jl_status jl_scenario_read(struct jl_scenario *ret_scenario, const struct jl_yaml *root,
				const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	/* systems must precede the keys that name them */
	static const struct key keys[] = {
		{ KEY("systems", OTHER, jl_scenario, systems), .read = read_systems },
		{ KEY("workload", OTHER, jl_scenario, request), .read = read_workload },
		{ KEY("measured", OTHER, jl_scenario, measured), .read = read_measureds },
		{ KEY("scaling", OTHER, jl_scenario, scaling), .read = read_scaling },
		{ KEY("allreduce", OTHER, jl_scenario, allreduce), .read = read_allreduce },
		{ KEY("cost", OTHER, jl_scenario, cost), .read = read_cost },
		{ KEY("questions", OTHER, jl_scenario, questions), .read = read_questions },
		{ KEY("sections", OTHER, jl_scenario, sections), .read = read_sections },
		{ KEY("recommend", OTHER, jl_scenario, recommend), .read = read_recommend },
		{ KEY("title", WORDS, jl_scenario, title) },
		{ KEY("subtitle", WORDS, jl_scenario, subtitle) },
		{ KEY("builds", NODE, jl_scenario, builds) },
		{ KEY("claims", NODE, jl_scenario, claims) },
		{ KEY("inputs", NODE, jl_scenario, inputs) },
	};
	struct jl_scenario *s = ret_scenario;
	struct reader r = { .s = s, .cat = cat, .arena = arena, .err = err };

	*s = jl_scenario_empty(root->where.file);
	s->root = root;
	JL_TRY(READ_KEYS(&r, root, JL_N("a scenario"), keys, s));
	if (!s->n_systems && !s->cost.wanted && !s->builds && !s->allreduce.wanted && !s->claims &&
	    !s->recommend.wanted)
		return jl_fail_at(err, JL_E_PARSE, &root->where,
				  "a scenario names at least its systems:, e.g. systems: [rtx-4090]");
	return JL_OK;
}
