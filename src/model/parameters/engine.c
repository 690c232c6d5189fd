/* Reads catalog/engines.yaml and resolves inheritance between its rows. */
#include "parameters/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/schema.h"

/* Cache per thread; each row includes what it inherits. */
static _Thread_local struct {
	struct jl_engine_info rows[JL_ENGINES_MAX];
	int parents[JL_ENGINES_MAX];
	int n;
} table;

static bool is_unset(const struct jl_field *field, const void *at)
{
	switch (field->type) {
	case JL_F_INT:
	case JL_F_CHOICE: return *(const int *)at == 0;
	case JL_F_BOOL: return !*(const bool *)at;
	case JL_F_NUMBER: return !(*(const double *)at > 0);
	default: return !*(const void *const *)at;
	}
}

static size_t size_of(const struct jl_field *field)
{
	return field->type == JL_F_INT || field->type == JL_F_CHOICE ? sizeof(int)
	       : field->type == JL_F_BOOL                            ? sizeof(bool)
	       : field->type == JL_F_NUMBER                          ? sizeof(double)
								     : sizeof(void *);
}

/* Keys that are not inherited. */
static const char *const own_keys[] = { "words", "fits", "undated", NULL };

static void take_over(const struct jl_schema *schema, void *row, const void *parent)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *field = &schema->fields[i];
		const char *const *own = own_keys;
		char *to = (char *)row + field->offset;
		const char *from = (const char *)parent + field->offset;

		while (*own && strcmp(*own, field->key) != 0)
			own++;
		if (field->type == JL_F_SUB)
			take_over(field->sub, to, from);
		else if (!*own && is_unset(field, to))
			memcpy(to, from, size_of(field));
	}
}

int jl_n_engine(void)
{
	const struct jl_catalog *cat = jl_catalog_embedded();

	for (size_t i = 0; table.n == 0 && i < cat->n_engines && i < JL_ENGINES_MAX; i++) {
		table.rows[i] = cat->engines[i];
		table.parents[i] = -1;
		for (size_t p = 0; p < i; p++) /* rows are listed after the rows they refer to */
			if (cat->engines[i].of && strcmp(cat->engines[p].id, cat->engines[i].of) == 0)
				table.parents[i] = (int)p;
		assert(i == 0 || table.parents[i] >= 0);
		if (i > 0)
			take_over(jl_schema_of(JL_R_ENGINE), &table.rows[i], &table.rows[table.parents[i]]);
		if (table.rows[i].eager)
			table.rows[i].policy.graph_max = 0;
		if (i + 1 == cat->n_engines)
			table.n = (int)i + 1;
	}
	return table.n;
}

const struct jl_engine_info *jl_engine_info(int engine)
{
	(void)jl_n_engine();
	return &table.rows[engine];
}

const char *jl_engine_id(int engine)
{
	return jl_engine_info(engine)->id;
}

int jl_engine_parent(int engine)
{
	(void)jl_n_engine();
	return table.parents[engine];
}

bool jl_engine_is(int engine, const char *id)
{
	while (engine >= 0 && strcmp(jl_engine_id(engine), id) != 0)
		engine = jl_engine_parent(engine);
	return engine >= 0;
}

const struct jl_policy *jl_policy_of(int engine)
{
	return &jl_engine_info(engine)->policy;
}

/* Numeric comparison of versions as far as both have numbers: -1: a is older ("0.9" before "0.10.1"). */
static int by_version(const char *a, const char *b)
{
	while (*a && *b) {
		char *a_end, *b_end;
		const long x = strtol(a, &a_end, 10), y = strtol(b, &b_end, 10);

		if (a_end == a || b_end == b) /* "nightly" is not older than anything */
			return 0;
		if (x != y)
			return x < y ? -1 : 1;
		a = a_end + (*a_end == '.');
		b = b_end + (*b_end == '.');
	}
	return 0;
}

/* Row of the named version of an engine; the engine's own row if the version has none. */
static int version_of(int base, const char *version, bool undated)
{
	int best = base;

	for (int e = base + 1; e < jl_n_engine(); e++) {
		const struct jl_engine_info *row = jl_engine_info(e);
		bool behind = false;

		for (int p = jl_engine_parent(e); p >= base && !behind; p = jl_engine_parent(p))
			behind = p == base;
		if (!behind || row->vendor || !row->until)
			continue;
		if (version ? by_version(version, row->until) < 0 &&
				      (best == base || by_version(row->until, jl_engine_info(best)->until) < 0)
			    : undated && row->undated)
			best = e;
	}
	return best;
}

/* The longest match wins: "exllama v2" before "exllama". */
static int base_of(const char *text, const char **ret_rest)
{
	int best = JL_ENGINE_GENERAL;
	size_t best_len = 0;

	for (int e = 0; e < jl_n_engine(); e++) {
		for (const char *const *word = jl_engine_info(e)->words; word && *word; word++) {
			const char *at = strcasestr(text, *word);

			if (at && strlen(*word) > best_len) {
				best = e;
				best_len = strlen(*word);
				*ret_rest = at + best_len;
			}
		}
	}
	return best;
}

static int find(const char *text, const char *version, bool undated)
{
	const char *rest = text;
	const int base = base_of(text, &rest);
	const char *digits = rest + strcspn(rest, "0123456789");

	return version_of(base, version && *version ? version : *digits ? digits : NULL, undated);
}

int jl_engine_by_text(const char *text)
{
	return find(text, NULL, false);
}

int jl_engine_of_source(const char *text, const char *version)
{
	return find(text, version, true);
}

int jl_engine_on(int engine, const char *vendor)
{
	for (int e = engine + 1; vendor && e < jl_n_engine(); e++)
		if (jl_engine_parent(e) == engine && jl_engine_info(e)->vendor &&
		    strcmp(jl_engine_info(e)->vendor, vendor) == 0)
			return e;
	return engine;
}

int jl_engine_operators(int engine)
{
	int at = -1;

	for (int e = 0; e < jl_n_engine() && jl_engine_info(engine)->operators; e++) {
		const bool first = jl_engine_info(e)->operators && !jl_engine_info(jl_engine_parent(e))->operators;

		at += first;
		for (int p = engine; first && p >= 0; p = jl_engine_parent(p))
			if (p == e)
				return at;
	}
	return -1;
}

int jl_engine_with_operators(int at)
{
	for (int e = 0; e < jl_n_engine(); e++)
		if (jl_engine_info(e)->operators && jl_engine_operators(e) == at)
			return e;
	return JL_ENGINE_GENERAL;
}

void jl_engine_format(struct jl_serve_format *format, int engine)
{
	const struct jl_engine_info *info = jl_engine_info(engine);

	if (info->static_scales && format->dense == JL_OP_FP8)
		format->dense = format->experts = JL_OP_FP8_STATIC;
	format->short_sums |= info->short_sums;
	format->own_kernels |= info->own_products;
	format->score_maps |= info->score_maps;
	format->per_head |= info->per_head;
	if (info->gguf && format->expert_B < 1.0 && format->weight_B >= 2.0) {
		format->weight_B = format->table_B = format->logits_B = 1.0625; /* llama.cpp stores the rest as Q8_0 */
		format->dense = JL_OP_INT8_WO;
	}
}
