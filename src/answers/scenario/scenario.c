#include "scenario/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario_read.h"

/* Names of the sections in their order; NULL ends. */
static const char *const scenario_sections[] = { "summary", "training",  "specifications", "comparison", "scaling",
						 "time",    "memory",    "allreduce",      "cost",       "goodput",
						 "pareto",  "recommend", "topology",       "builds",     "findings",
						 "claims",  "origins",   "method",         NULL };

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

/* Text goes into tables, charts and onto terminals: control characters have no place in it. */
static enum jl_status check_plain(const struct jl_yaml *node, struct jl_err *err)
{
	for (const char *at = node->text; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return jl_fail_at(err, JL_E_PARSE, &node->where,
					  "%s: a line break or control character in the text; write it on one line",
					  node->key ? node->key : "-");
	return JL_OK;
}

const char *jl_words_in(struct jl_words words)
{
	return jl_lang_is("ko") ? words.ko : words.en;
}

/* "text", or {ko: ..., en: ...} */
enum jl_status jl_scenario_words(struct jl_words *ret_words, const struct jl_yaml *node, struct jl_err *err)
{
	static const char *const keys[] = { "ko", "en", NULL };
	enum jl_status status;

	if (node->kind == JL_YAML_TEXT) {
		*ret_words = (struct jl_words){ .ko = node->text, .en = node->text };
		return check_plain(node, err);
	}
	JL_TRY(jl_yaml_check_keys(node, "text in two languages", keys, err));
	*ret_words = (struct jl_words){ .ko = jl_yaml_text(node, "ko"), .en = jl_yaml_text(node, "en") };
	for (const struct jl_yaml *item = node->items; item; item = item->next)
		if (item->kind == JL_YAML_TEXT && (status = check_plain(item, err)))
			return status;
	if (!ret_words->ko)
		ret_words->ko = ret_words->en;
	if (!ret_words->en)
		ret_words->en = ret_words->ko;
	if (!ret_words->en)
		return jl_fail_at(err, JL_E_PARSE, &node->where, "ko: or en: is missing");
	return JL_OK;
}

enum jl_status jl_scenario_text(const struct jl_yaml *node, struct jl_err *err)
{
	if (node->kind == JL_YAML_TEXT)
		return check_plain(node, err);
	return jl_fail_at(err, JL_E_PARSE, &node->where, "%s: one value is wanted", node->key ? node->key : "-");
}

/* A quantity of a kind, with the place in the message. */
enum jl_status jl_scenario_quantity(double *ret_value, const struct jl_yaml *node, enum jl_kind kind,
				    struct jl_err *err)
{
	struct jl_err inner;
	enum jl_status status;

	JL_TRY(jl_scenario_text(node, err));
	if ((status = jl_units_parse(ret_value, node->text, kind, node->key ? node->key : "value", &inner)))
		jl_fail_from(err, status, &node->where, &inner, "{}");
	return status;
}

enum jl_status jl_scenario_count(double *ret_n, const struct jl_yaml *node, struct jl_err *err)
{
	struct jl_err inner;
	long long n;
	enum jl_status status;

	JL_TRY(jl_scenario_text(node, err));
	if ((status = jl_units_parse_count(&n, node->text, 1, 1000000000000000LL, node->key ? node->key : "count",
					   &inner)))
		return jl_fail_from(err, status, &node->where, &inner, "{}");
	*ret_n = (double)n;
	return JL_OK;
}

static enum jl_status read_counts(double *ret_values, size_t *ret_n, const struct jl_yaml *list, struct jl_err *err)
{
	size_t n = 0;

	if (list->kind != JL_YAML_LIST)
		return jl_fail_at(err, JL_E_PARSE, &list->where, "%s: a list, e.g. [1, 2, 4, 8]", list->key);
	for (const struct jl_yaml *item = list->items; item; item = item->next) {
		if (n == JL_SCENARIO_LIST_MAX)
			return jl_fail_at(err, JL_E_LIMIT, &item->where, "more than %d values", JL_SCENARIO_LIST_MAX);
		JL_TRY(jl_scenario_count(&ret_values[n++], item, err));
	}
	*ret_n = n;
	return JL_OK;
}

static enum jl_status read_system(struct jl_scenario_reader *r, const struct jl_yaml *item)
{
	static const char *const keys[] = { "on", "name", "note", "baseline", NULL };
	struct jl_scenario_system *system = &r->s->systems[r->s->n_systems];
	const struct jl_yaml *name, *note;
	struct jl_err inner;
	enum jl_status status = JL_OK;

	if (r->s->n_systems == JL_SCENARIO_SYSTEMS_MAX)
		return jl_fail_at(r->err, JL_E_LIMIT, &item->where, "more than %d systems in one report",
				  JL_SCENARIO_SYSTEMS_MAX);
	if (item->kind == JL_YAML_MAP && (status = jl_yaml_check_keys(item, JL_N("a system"), keys, r->err)))
		return status;
	system->on = item->kind == JL_YAML_TEXT ? item->text : jl_yaml_text(item, "on");
	system->where = item->where;
	if (!system->on)
		return jl_fail_at(r->err, JL_E_PARSE, &item->where, "a system needs on:, e.g. on: 4x rtx-3090");
	if (jl_sys_parse(&system->sys, r->cat, system->on, r->arena, &inner))
		return jl_fail_from(r->err, inner.status, &item->where, &inner, "{}");
	system->name = (struct jl_words){ .ko = system->on, .en = system->on };
	if ((name = jl_yaml_get(item, "name")))
		status = jl_scenario_words(&system->name, name, r->err);
	if (!status && (note = jl_yaml_get(item, "note")))
		status = jl_scenario_words(&system->note, note, r->err);
	if (!status && jl_yaml_text(item, "baseline") && strcmp(jl_yaml_text(item, "baseline"), "yes") == 0)
		r->s->baseline = r->s->n_systems;
	r->s->n_systems++;
	return status;
}

static enum jl_status read_systems(struct jl_scenario_reader *r, const struct jl_yaml *list)
{
	enum jl_status status = JL_OK;

	if (list->kind != JL_YAML_LIST)
		return jl_fail_at(r->err, JL_E_PARSE, &list->where, "systems: a list, e.g. [rtx-4090, dgx-h100]");
	for (const struct jl_yaml *item = list->items; !status && item; item = item->next)
		status = read_system(r, item);
	return status;
}

/* One row for each key that holds a number of the request. */
static const struct {
	const char *key;
	size_t offset;
} request_counts[] = {
	{ "batch", offsetof(struct jl_request, batch) },
	{ "micro_batch", offsetof(struct jl_request, micro_batch) },
	{ "global_batch", offsetof(struct jl_request, global_batch) },
	{ "accumulate", offsetof(struct jl_request, accumulate) },
	{ "seq", offsetof(struct jl_request, seq) },
	{ "samples", offsetof(struct jl_request, samples) },
	{ "tokens", offsetof(struct jl_request, tokens) },
	{ "steps_per_epoch", offsetof(struct jl_request, steps_per_epoch) },
	{ "epochs", offsetof(struct jl_request, epochs) },
};

static enum jl_status read_precision(int *ret_dtype, const struct jl_yaml *node, struct jl_err *err)
{
	for (int i = 0; i < JL_N_DTYPE; i++)
		if (node->kind == JL_YAML_TEXT && strcmp(node->text, jl_dtype_name((enum jl_dtype)i)) == 0) {
			*ret_dtype = i;
			return JL_OK;
		}
	return jl_fail_at(err, JL_E_PARSE, &node->where, "precision: fp32, tf32, fp16, bf16 or fp8");
}

static enum jl_status read_observed(struct jl_scenario_reader *r, const struct jl_yaml *map)
{
	static const char *const keys[] = { "step",         "batch",       "batches", "kind",
					    "precision",    "params",      "watts",   "memory_per_sample",
					    "memory_fixed", "batch_limit", NULL };
	struct jl_observed *o = &r->s->observed;
	enum jl_status status = jl_yaml_check_keys(map, "observed", keys, r->err);
	const struct {
		const char *key;
		enum jl_kind kind;
		double *value;
	} fields[] = {
		{ "step", JL_K_TIME, &o->step_s },
		{ "watts", JL_K_POWER, &o->watts_W },
		{ "memory_per_sample", JL_K_BYTES, &o->sample_B },
		{ "memory_fixed", JL_K_BYTES, &o->fixed_B },
	};
	const struct {
		const char *key;
		double *value;
	} counts[] = { { "batch", &o->batch },
		       { "batches", &o->batches },
		       { "params", &o->params },
		       { "batch_limit", &o->batch_limit } };

	for (size_t i = 0; !status && i < JL_LEN(fields); i++) {
		const struct jl_yaml *node = jl_yaml_get(map, fields[i].key);
		if (node)
			status = jl_scenario_quantity(fields[i].value, node, fields[i].kind, r->err);
	}
	for (size_t i = 0; !status && i < JL_LEN(counts); i++) {
		const struct jl_yaml *node = jl_yaml_get(map, counts[i].key);
		if (node)
			status = jl_scenario_count(counts[i].value, node, r->err);
	}
	if (!status && jl_yaml_get(map, "precision"))
		status = read_precision(&o->dtype, jl_yaml_get(map, "precision"), r->err);
	for (int k = 0; !status && jl_yaml_text(map, "kind") && k < JL_N_MIX; k++)
		if (strcmp(jl_yaml_text(map, "kind"), jl_mixes[k].id) == 0)
			o->kind = (enum jl_mix_kind)k;
	if (!status && (isnan(o->step_s) || isnan(o->batch)))
		return jl_fail_at(r->err, JL_E_PARSE, &map->where,
				  "observed: step and batch are needed, e.g. {step: 1.06 s, batch: 128}");
	return status;
}

static enum jl_status read_workload(struct jl_scenario_reader *r, const struct jl_yaml *map)
{
	static const char *const keys[] = { "model",  "observed",    "precision",    "parallel",
					    "batch",  "micro_batch", "global_batch", "accumulate",
					    "seq",    "samples",     "tokens",       "steps_per_epoch",
					    "epochs", "repeat",      "tune",         NULL };
	struct jl_request *q = &r->s->request;
	enum jl_status status = jl_yaml_check_keys(map, "workload", keys, r->err);
	const struct jl_yaml *node;

	q->model = jl_yaml_text(map, "model");
	for (size_t i = 0; !status && i < JL_LEN(request_counts); i++)
		if ((node = jl_yaml_get(map, request_counts[i].key)))
			status = jl_scenario_count((double *)(void *)((char *)q + request_counts[i].offset), node,
						   r->err);
	if (!status && (node = jl_yaml_get(map, "precision")))
		status = read_precision(&q->dtype, node, r->err);
	if (!status && (node = jl_yaml_get(map, "parallel")) && !(status = jl_scenario_text(node, r->err))) {
		struct jl_err inner;
		if ((status = jl_request_parallel(&q->plan, node->text, &inner)))
			jl_fail_from(r->err, status, &node->where, &inner, "{}");
	}
	if (!status && (node = jl_yaml_get(map, "repeat")))
		status = jl_scenario_count(&r->s->repeat, node, r->err);
	if (!status && (node = jl_yaml_get(map, "tune")))
		status = jl_scenario_count(&r->s->tune, node, r->err);
	if (!status && (node = jl_yaml_get(map, "observed")))
		status = read_observed(r, node);
	if (!status && !q->model && isnan(r->s->observed.step_s))
		return jl_fail_at(r->err, JL_E_PARSE, &map->where, "workload: model: or observed: is needed");
	return status;
}

/* What can be measured, by name: the unit of its value follows. */
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

/* {record: ID} of the store, or {file: results.jsonl} */
static enum jl_status read_fetch(struct jl_scenario_reader *r, const struct jl_yaml *map)
{
	if (map->n_items != 1)
		return jl_fail_at(r->err, JL_E_PARSE, &map->where, "measured: record: or file: stands alone");
	if (r->s->n_fetch == JL_SCENARIO_LIST_MAX)
		return jl_fail_at(r->err, JL_E_LIMIT, &map->where, "measured: more than %d records and files",
				  JL_SCENARIO_LIST_MAX);
	r->s->fetch[r->s->n_fetch++] = (struct jl_scenario_fetch){ .record = jl_yaml_text(map, "record"),
								   .file = jl_yaml_text(map, "file"),
								   .where = map->where };
	return JL_OK;
}

static enum jl_status read_measured(struct jl_scenario_reader *r, const struct jl_yaml *map)
{
	static const char *const keys[] = { "what", "value",  "system", "gpus",   "nodes", "mode",
					    "size", "source", "date",   "record", "file",  NULL };
	struct jl_scenario_measured m = {
		.n_gpus = NAN, .n_nodes = NAN, .size_B = NAN, .value = NAN, .where = map->where
	};
	enum jl_status status = jl_yaml_check_keys(map, "measured", keys, r->err);
	const struct jl_yaml *node;
	size_t i = 0;

	if (status)
		return status;
	if (jl_yaml_text(map, "record") || jl_yaml_text(map, "file"))
		return read_fetch(r, map);
	m.what = jl_yaml_text(map, "what");
	while (m.what && i < JL_LEN(measurables) && strcmp(measurables[i].what, m.what) != 0)
		i++;
	if (!m.what || i == JL_LEN(measurables))
		return jl_fail_at(r->err, JL_E_PARSE, &map->where,
				  "measured: what: is one of samples_per_s, step_s, epoch_s, algbw_Bps, busbw_Bps ...");
	m.kind = measurables[i].kind;
	if (!(node = jl_yaml_get(map, "value")))
		return jl_fail_at(r->err, JL_E_PARSE, &map->where, "measured: value: is missing");
	JL_TRY(jl_scenario_quantity(&m.value, node, m.kind, r->err));
	if (!(m.value > 0))
		return jl_fail_at(r->err, JL_E_RANGE, &node->where, "a measured value is above zero");
	if ((node = jl_yaml_get(map, "gpus")) && (status = jl_scenario_count(&m.n_gpus, node, r->err)))
		return status;
	if ((node = jl_yaml_get(map, "nodes")) && (status = jl_scenario_count(&m.n_nodes, node, r->err)))
		return status;
	if ((node = jl_yaml_get(map, "size")) && (status = jl_scenario_quantity(&m.size_B, node, JL_K_BYTES, r->err)))
		return status;
	m.system = jl_yaml_text(map, "system");
	m.mode = jl_yaml_text(map, "mode");
	m.source = jl_yaml_text(map, "source");
	m.date = jl_yaml_text(map, "date");
	if (m.system && !jl_scenario_find(r->s, m.system))
		return jl_fail_at(r->err, JL_E_NOTFOUND, &map->where,
				  "measured: '%.60s' is none of this scenario's systems", m.system);
	r->s->measured[r->s->n_measured++] = m;
	return JL_OK;
}

static enum jl_status read_measureds(struct jl_scenario_reader *r, const struct jl_yaml *list)
{
	enum jl_status status = JL_OK;

	if (list->kind != JL_YAML_LIST || list->n_items > JL_SCENARIO_MEASURED_MAX)
		return jl_fail_at(r->err, JL_E_PARSE, &list->where, "measured: a list of at most %d",
				  JL_SCENARIO_MEASURED_MAX);
	r->s->measured = jl_arena_array(r->arena, list->n_items + 1, sizeof *r->s->measured);
	if (!r->s->measured)
		return jl_fail_nomem(r->err);
	for (const struct jl_yaml *item = list->items; !status && item; item = item->next)
		status = read_measured(r, item);
	return status;
}

enum jl_status jl_scenario_texts(const char **ret_texts, size_t *ret_n, size_t max, const struct jl_yaml *list,
				 struct jl_err *err)
{
	size_t n = 0;

	if (list->kind != JL_YAML_LIST || list->n_items > max)
		return jl_fail_at(err, JL_E_PARSE, &list->where, "%s: a list of at most %zu", list->key, max);
	for (const struct jl_yaml *item = list->items; item; item = item->next) {
		JL_TRY(jl_scenario_text(item, err));
		ret_texts[n++] = item->text;
	}
	*ret_n = n;
	return JL_OK;
}

static enum jl_status read_scaling(struct jl_scenario_reader *r, const struct jl_yaml *map)
{
	static const char *const keys[] = { "system", "gpus", "modes", NULL };
	struct jl_scenario_scaling *s = &r->s->scaling;
	enum jl_status status = jl_yaml_check_keys(map, "scaling", keys, r->err);
	const struct jl_yaml *node;

	s->wanted = true;
	s->system = jl_yaml_text(map, "system");
	if (!status && (node = jl_yaml_get(map, "gpus")))
		status = read_counts(s->counts, &s->n_counts, node, r->err);
	if (!status && (node = jl_yaml_get(map, "modes")))
		status = jl_scenario_texts(s->modes, &s->n_modes, sizeof s->modes / sizeof s->modes[0], node, r->err);
	return status;
}

static enum jl_status read_allreduce(struct jl_scenario_reader *r, const struct jl_yaml *map)
{
	static const char *const keys[] = { "on", "size", "nodes", NULL };
	struct jl_scenario_allreduce *a = &r->s->allreduce;
	enum jl_status status = jl_yaml_check_keys(map, "allreduce", keys, r->err);
	const struct jl_yaml *node;

	a->wanted = true;
	a->on = jl_yaml_text(map, "on");
	a->size_B = 16e9;
	if (!status && !a->on)
		return jl_fail_at(r->err, JL_E_PARSE, &map->where, "allreduce: on: is missing, e.g. aws:p5.48xlarge");
	if (!status && (node = jl_yaml_get(map, "size")))
		status = jl_scenario_quantity(&a->size_B, node, JL_K_BYTES, r->err);
	if (!status && (node = jl_yaml_get(map, "nodes")))
		status = read_counts(a->nodes, &a->n_nodes, node, r->err);
	return status;
}

static enum jl_status read_cost(struct jl_scenario_reader *r, const struct jl_yaml *map)
{
	static const char *const keys[] = { "buy",    "own",    "rent",     "spot", "reserve",   "util",    "kwh",
					    "tariff", "region", "currency", "fx",   "household", "horizon", NULL };
	struct jl_scenario_cost *c = &r->s->cost;
	enum jl_status status = jl_yaml_check_keys(map, "cost", keys, r->err);
	const struct jl_yaml *node;

	c->wanted = true;
	c->map = map;
	for (size_t k = 0; !status && k < 5; k++) {
		const struct jl_yaml *list = jl_yaml_get(map, keys[k]);
		const struct jl_yaml *item = !list || list->kind == JL_YAML_TEXT ? list : list->items;

		for (; item && !status; item = item == list ? NULL : item->next) {
			if (c->n_options == JL_SCENARIO_LIST_MAX)
				return jl_fail_at(r->err, JL_E_LIMIT, &item->where, "too many options");
			status = jl_scenario_text(item, r->err);
			c->kinds[c->n_options] = keys[k];
			c->options[c->n_options++] = item;
		}
	}
	c->kwh = jl_yaml_text(map, "kwh");
	c->tariff = jl_yaml_text(map, "tariff");
	c->region = jl_yaml_text(map, "region");
	c->currency = jl_yaml_text(map, "currency");
	if (!status && (node = jl_yaml_get(map, "util")))
		status = jl_scenario_quantity(&c->util_frac, node, JL_K_FRACTION, r->err);
	if (!status && (node = jl_yaml_get(map, "fx")))
		status = jl_scenario_quantity(&c->fx, node, JL_K_NUMBER, r->err);
	if (!status && (node = jl_yaml_get(map, "household")))
		status = jl_scenario_quantity(&c->household_J, node, JL_K_ENERGY, r->err);
	if (!status && (node = jl_yaml_get(map, "horizon")))
		status = jl_scenario_quantity(&c->horizon_s, node, JL_K_TIME, r->err);
	return status;
}

static enum jl_status read_sections(struct jl_scenario_reader *r, const struct jl_yaml *list)
{
	enum jl_status status = jl_scenario_texts(r->s->sections, &r->s->n_sections, JL_SCENARIO_LIST_MAX, list,
						  r->err);

	for (size_t i = 0; !status && i < r->s->n_sections; i++) {
		bool known = false;
		for (size_t k = 0; scenario_sections[k]; k++)
			known |= strcmp(scenario_sections[k], r->s->sections[i]) == 0;
		if (!known)
			return jl_fail_at(r->err, JL_E_PARSE, &list->where,
					  "no section '%.40s'; there are summary, comparison, scaling, cost ...",
					  r->s->sections[i]);
	}
	return status;
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

enum jl_status jl_scenario_read(struct jl_scenario *ret_scenario, const struct jl_yaml *root,
				const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	/* systems come before the sections that name them */
	static const struct {
		const char *key;
		enum jl_status (*read)(struct jl_scenario_reader *r, const struct jl_yaml *node);
	} parts[] = {
		{ "systems", read_systems },
		{ "workload", read_workload },
		{ "measured", read_measureds },
		{ "scaling", read_scaling },
		{ "allreduce", read_allreduce },
		{ "cost", read_cost },
		{ "questions", jl_scenario_read_questions },
		{ "sections", read_sections },
		{ "recommend", jl_scenario_read_recommend },
	};
	static const char *const keys[] = { "title",    "subtitle",  "systems", "workload",  "measured",
					    "scaling",  "allreduce", "cost",    "builds",    "questions",
					    "sections", "claims",    "inputs",  "recommend", NULL };
	enum jl_status status = jl_yaml_check_keys(root, JL_N("a scenario"), keys, err);
	struct jl_scenario_reader r = { .s = ret_scenario, .cat = cat, .arena = arena, .err = err };

	if (status)
		return status;
	*ret_scenario = jl_scenario_empty(root->where.file);
	ret_scenario->root = root;
	for (size_t i = 0; !status && i < JL_LEN(parts); i++) {
		const struct jl_yaml *node = jl_yaml_get(root, parts[i].key);
		if (node)
			status = parts[i].read(&r, node);
	}
	if (!status && jl_yaml_get(root, "title"))
		status = jl_scenario_words(&ret_scenario->title, jl_yaml_get(root, "title"), err);
	if (!status && jl_yaml_get(root, "subtitle"))
		status = jl_scenario_words(&ret_scenario->subtitle, jl_yaml_get(root, "subtitle"), err);
	ret_scenario->builds = jl_yaml_get(root, "builds");
	ret_scenario->claims = jl_yaml_get(root, "claims");
	ret_scenario->inputs = jl_yaml_get(root, "inputs");
	if (!status && !ret_scenario->n_systems && !ret_scenario->cost.wanted && !ret_scenario->builds &&
	    !ret_scenario->allreduce.wanted && !ret_scenario->claims && !ret_scenario->recommend.wanted)
		return jl_fail_at(err, JL_E_PARSE, &root->where,
				  "a scenario names at least its systems:, e.g. systems: [rtx-4090]");
	return status;
}
