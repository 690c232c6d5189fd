/* Checks a scenario's claims. */
#include "notes/claims.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <ctype.h>

/* --- one entry of `claims:` */

static enum jl_status bad_value(const struct jl_yaml *node, struct jl_err *err)
{
	return jl_fail_at(err, JL_E_PARSE, &node->where,
			  "value: '%.60s' is not a figure; write e.g. 5.67 h, ~1.7x, 0.4..0.6 s, >=20 %%", node->text);
}

static int decimals(const char *text, size_t len)
{
	const char *point = memchr(text, '.', len);
	int n = 0;

	for (const char *at = point ? point + 1 : text + len; at < text + len && isdigit((unsigned char)*at); at++)
		n++;
	return n;
}

static const char *read_signs(struct jl_claim *c, const char *at)
{
	if (*at == '~') {
		c->about = true;
		at++;
	}
	if (*at == '<' || *at == '>') {
		c->bound = *at == '<' ? JL_CLAIM_BELOW : JL_CLAIM_ABOVE;
		at += at[1] == '=' ? 2 : 1;
	}
	while (*at == ' ')
		at++;
	return at;
}

static enum jl_status read_unit(struct jl_claim *c, const struct jl_yaml *node, struct jl_expr_scope *scope,
				struct jl_err *err)
{
	struct jl_err inner;

	if (!*c->unit_text)
		c->unit = jl_val_number(1);
	else if (strcmp(c->unit_text, "%") == 0)
		c->unit = jl_val_number(0.01);
	else if (jl_expr_eval(&c->unit, &(struct jl_expr_scope){ .cat = scope->cat, .arena = scope->arena },
			      c->unit_text, &inner) ||
		 !(c->unit.v > 0))
		return jl_fail_at(
			err, JL_E_UNIT, &node->where,
			"value: no unit '%.40s'; there are s, h, days, GB, GB/s, TFLOPS, W, kWh, USD, KRW, x ...",
			c->unit_text);
	return JL_OK;
}

static enum jl_status read_value(struct jl_claim *c, const struct jl_yaml *node, struct jl_expr_scope *scope,
				 struct jl_err *err)
{
	const char *at = read_signs(c, node->text);
	double ends[2];
	int n = 0;

	do {
		char text[40] = "", *dots;
		size_t used = 0;

		if (n)
			at += 2;
		strncpy(text, at, sizeof text - 1);
		if ((dots = strstr(text, "..")))
			*dots = '\0';
		if (jl_num_parse(text, &ends[n], &used) != JL_NUM_OK || !used || ends[n] < 0 || ends[n] > 1e60)
			return bad_value(node, err);
		if (decimals(text, used) > c->n_decimals)
			c->n_decimals = decimals(text, used);
		at += used;
	} while (++n < 2 && at[0] == '.' && at[1] == '.');
	while (*at == ' ')
		at++;
	c->unit_text = at;
	JL_TRY(read_unit(c, node, scope, err));
	c->is_range = n == 2;
	c->lo = ends[0] * c->unit.v;
	c->hi = ends[n - 1] * c->unit.v;
	if (c->lo > c->hi)
		return bad_value(node, err);
	c->near = (c->about ? 1 : 0.5) * pow(10, -c->n_decimals) * c->unit.v;
	return JL_OK;
}

static enum jl_status read_words(struct jl_words *ret_words, const struct jl_yaml *node, bool ids, struct jl_err *err)
{
	static const char *const keys[] = { "ko", "en", NULL };

	if (node->kind == JL_YAML_TEXT) {
		*ret_words = (struct jl_words){ .ko = node->text, .en = node->text };
		if (ids && jl_claim_need_text(node->text))
			*ret_words = (struct jl_words){ .en = jl_claim_need_text(node->text) };
		return JL_OK;
	}
	JL_TRY(jl_yaml_check_keys(node, JL_N("text in two languages"), keys, err));
	*ret_words = (struct jl_words){ .ko = jl_yaml_text(node, "ko"), .en = jl_yaml_text(node, "en") };
	if (!ret_words->ko || !ret_words->en)
		return jl_fail_at(err, JL_E_PARSE, &node->where, "ko: and en: are both wanted");
	return JL_OK;
}

/* Counts places: "21 58, 93" has three; "§2.2" one. */
static size_t count_places(const char *text)
{
	size_t n = 0;

	for (bool in = false; *text; text++) {
		const bool blank = *text == ' ' || *text == ',';

		n += !in && !blank;
		in = !blank;
	}
	return n;
}

static enum jl_status read_within(struct jl_claim *c, const struct jl_yaml *node, struct jl_err *err)
{
	struct jl_err inner;

	c->within_frac = NAN;
	if (!node)
		return JL_OK;
	if (node->kind != JL_YAML_TEXT ||
	    jl_units_parse(&c->within_frac, node->text, JL_K_FRACTION, "within", &inner) || c->within_frac < 0 ||
	    c->within_frac > 0.5)
		return jl_fail_at(err, JL_E_PARSE, &node->where, "within: is from 0 to 50 %%, e.g. 5 %%");
	return JL_OK;
}

static enum jl_status check_instead(const struct jl_yaml *node, struct jl_err *err)
{
	if (node->kind != JL_YAML_MAP)
		return jl_fail_at(err, JL_E_PARSE, &node->where, "instead: reason: expression");
	for (const struct jl_yaml *item = node->items; item; item = item->next)
		if (item->kind != JL_YAML_TEXT || !jl_claim_reason_text(item->key))
			return jl_fail_at(
				err, JL_E_PARSE, &item->where,
				"instead: no reason '%.40s'; there are larger-batch, sparse, bothway, gib, column ...",
				item->key);
	return JL_OK;
}

static enum jl_status check_text(const struct jl_yaml *node, struct jl_err *err)
{
	if (node->kind == JL_YAML_TEXT && jl_has_control(node->text))
		return jl_fail_at(err, JL_E_PARSE, &node->where, "a claim is written without control characters");
	for (const struct jl_yaml *item = node->items; item; item = item->next)
		JL_TRY(check_text(item, err));
	return JL_OK;
}

/* claims_read.c: reads one claim without checking it. */
static enum jl_status claim_read(struct jl_claim *ret_claim, const struct jl_yaml *map, struct jl_expr_scope *scope,
				 struct jl_err *err)
{
	static const char *const keys[] = { "at",     "ko",      "en",    "value", "from", "of",
					    "within", "instead", "needs", "note",  NULL };
	struct jl_claim c = { .where = map->where };
	const struct jl_yaml *node;
	enum jl_status status = jl_yaml_check_keys(map, JL_N("a claim"), keys, err);

	if (status || (status = check_text(map, err)))
		return status;
	c.at = jl_yaml_text(map, "at");
	c.says = (struct jl_words){ .ko = jl_yaml_text(map, "ko"), .en = jl_yaml_text(map, "en") };
	c.from = jl_yaml_text(map, "from");
	c.of = jl_yaml_text(map, "of");
	c.instead = jl_yaml_get(map, "instead");
	c.value_text = jl_yaml_text(map, "value");
	if (!c.says.ko)
		c.says.ko = c.says.en;
	if (!c.says.en)
		c.says.en = c.says.ko;
	if (!c.at || !c.says.en || !c.value_text)
		return jl_fail_at(err, JL_E_PARSE, &map->where,
				  "a claim has at: (line), ko: or en: (what it says) and value:");
	if (!(c.n_places = count_places(c.at)) || c.n_places > JL_CLAIM_PLACES_MAX)
		return jl_fail_at(err, JL_E_PARSE, &map->where, "at: names 1 to %d places", JL_CLAIM_PLACES_MAX);
	JL_TRY(read_value(&c, jl_yaml_get(map, "value"), scope, err));
	JL_TRY(read_within(&c, jl_yaml_get(map, "within"), err));
	if (c.instead)
		JL_TRY(check_instead(c.instead, err));
	if ((node = jl_yaml_get(map, "needs")) && (status = read_words(&c.needs, node, true, err)))
		return status;
	if ((node = jl_yaml_get(map, "note")) && (status = read_words(&c.note, node, false, err)))
		return status;
	*ret_claim = c;
	return JL_OK;
}

static const struct {
	const char *key, *mark;
} verdicts[JL_N_CLAIM_VERDICT] = {
	[JL_CLAIM_FOLLOWS] = { "follows", "✓" },
	[JL_CLAIM_DIFFERS] = { "differs", "✗" },
	[JL_CLAIM_OPEN] = { "open", "?" },
	[JL_CLAIM_GIVEN] = { "given", "·" },
};

const char *jl_claim_key(enum jl_claim_verdict verdict)
{
	return verdicts[verdict].key;
}

const char *jl_claim_mark(enum jl_claim_verdict verdict)
{
	return verdicts[verdict].mark;
}

/* True for link rates, which are usually measurements that `check` judges: one in five true measurements is outside an 80 % interval. Times,
 * speedups and shares are mostly expectations. */
static bool is_measured(const struct jl_val *r)
{
	const struct jl_val rate = jl_val_of(1, JL_K_BYTE_RATE);

	return jl_dim_same(&r->dim, &rate.dim);
}

bool jl_claim_fits(const struct jl_claim *c, const struct jl_val *r)
{
	const double given = isnan(c->within_frac) ? c->near : c->within_frac * fabs(r->v),
		     near = fmax(given, r->estimate ? JL_EDGE_FRAC * fabs(r->v) : 0) + 1e-9 * fabs(r->v);

	if (c->bound == JL_CLAIM_BELOW)
		return (r->estimate ? r->lo : r->hi) <= c->hi + near;
	if (c->bound == JL_CLAIM_ABOVE)
		return (r->estimate ? r->hi : r->lo) >= c->lo - near;
	if (c->is_range && !r->estimate && r->lo < r->hi)
		return fabs(c->lo - r->lo) <= near && fabs(c->hi - r->hi) <= near;
	if (!c->is_range && r->lo == r->hi && isnan(c->within_frac) && r->v >= c->lo &&
	    r->v - c->lo < (c->about ? 1 : 2) * c->near)
		return true; /* truncated: 301.9 written as 301 */
	const double wider = r->estimate && is_measured(r) ? JL_VERDICT_WIDER : 1;

	return c->lo - near <= (wider > 1 ? r->v * pow(r->hi / r->v, wider) : r->hi) &&
	       c->hi + near >= (wider > 1 ? r->v * pow(r->lo / r->v, wider) : r->lo);
}

/* Formats the result in the claim's unit, with one more digit where that is informative. */
static void print_result(struct jl_claim *c)
{
	const double f = c->unit.v, v = c->result.v / f, size = fabs(v);
	const bool whole = c->result.lo == c->result.hi && fabs(v - nearbyint(v)) < 1e-6 * size;
	const int wanted = c->n_decimals + (size < 100 && !whole && c->verdict == JL_CLAIM_DIFFERS);
	const int n = size >= 1e4 ? 0 : size > 0 && size < 0.1 ? wanted + 2 : wanted;
	const char *blank = strcmp(c->unit_text, "x") == 0 || !*c->unit_text ? "" : " ";

	if (c->result.lo < c->result.hi)
		snprintf(c->result_text, sizeof c->result_text, "%.*f..%.*f%s%s", n, c->result.lo / f, n,
			 c->result.hi / f, blank, c->unit_text);
	else
		snprintf(c->result_text, sizeof c->result_text, "%.*f%s%s", n, v, blank, c->unit_text);
}

/* Deviation of the claim; between ranges, the largest deviation of their ends. */
static double how_far(const struct jl_claim *c)
{
	const double claimed = (c->lo + c->hi) / 2;

	if (c->is_range && c->result.lo < c->result.hi && !c->result.estimate) {
		const double low = c->lo / c->result.lo - 1, high = c->hi / c->result.hi - 1;

		return fabs(low) > fabs(high) ? low : high;
	}
	if (c->is_range && !(c->result.lo < c->result.hi))
		return (c->result.v > c->hi ? c->hi : c->lo) / c->result.v - 1;
	if (c->result.lo < c->result.hi) /* uses the nearer end of the correct range */
		return claimed > c->result.hi ? c->lo / c->result.hi - 1 : c->hi / c->result.lo - 1;
	return claimed / c->result.v - 1;
}

static bool repeats_input(const struct jl_claim *c, const struct jl_expr_scope *scope)
{
	for (size_t i = 0; i < scope->n_inputs; i++)
		if (strcmp(scope->inputs[i].name, c->from) == 0)
			return true;
	return false;
}

static enum jl_status judge(struct jl_claim *c, struct jl_expr_scope *scope, struct jl_err *err)
{
	char a[JL_DIM_TEXT_MAX], b[JL_DIM_TEXT_MAX];
	struct jl_err inner;

	c->verdict = JL_CLAIM_OPEN;
	if (!c->from) {
		const char *need = c->needs.en ? c->needs.en : jl_claim_need_text("source");

		snprintf(c->why_en, sizeof c->why_en, "%s", need);
		snprintf(c->why_text, sizeof c->why_text, "%s", c->needs.ko ? jl_words_in(c->needs) : jl_msg(need));
		return JL_OK;
	}
	enum jl_status status = jl_expr_eval(&c->result, scope, c->from, &inner);
	if (status == JL_E_ABSENT) {
		snprintf(c->why_en, sizeof c->why_en, "%s", inner.en);
		snprintf(c->why_text, sizeof c->why_text, "%s", inner.text);
		return JL_OK;
	}
	if (status)
		return jl_fail_from(err, status, &c->where, &inner, "from: {}");
	if (!jl_dim_same(&c->result.dim, &c->unit.dim))
		return jl_fail_at(err, JL_E_UNIT, &c->where, "the claim is in %s, what it is derived from gives %s",
				  jl_dim_text(a, &c->unit.dim), jl_dim_text(b, &c->result.dim));
	c->derived = true;
	c->verdict = !jl_claim_fits(c, &c->result) ? JL_CLAIM_DIFFERS
		     : repeats_input(c, scope)     ? JL_CLAIM_GIVEN
						   : JL_CLAIM_FOLLOWS;
	print_result(c);
	if (c->verdict != JL_CLAIM_DIFFERS)
		return JL_OK;
	c->off_frac = how_far(c);
	return jl_claim_explain(c, scope, err);
}

static bool apart(const struct jl_claim *a, const struct jl_claim *b)
{
	return a->bound == JL_CLAIM_IS && b->bound == JL_CLAIM_IS && jl_dim_same(&a->unit.dim, &b->unit.dim) &&
	       (a->lo - a->near > b->hi + b->near || b->lo - b->near > a->hi + a->near);
}

/* Reports two different values for the same thing. If nothing else decides, the later one counts as wrong. */
static void find_contradictions(struct jl_claims_audit *audit)
{
	for (size_t i = 0; i < audit->n_claims; i++)
		for (size_t k = 0; k < i; k++) {
			struct jl_claim *c = &audit->claims[i], *other = &audit->claims[k];

			if (!c->of || !other->of || c->against || strcmp(c->of, other->of) != 0 || !apart(c, other))
				continue;
			c->against = other;
			other->against = other->against ? other->against : c;
			audit->n_contradictions++;
			if (c->verdict == JL_CLAIM_OPEN ||
			    (c->verdict == JL_CLAIM_GIVEN && other->verdict == JL_CLAIM_GIVEN)) {
				c->verdict = JL_CLAIM_DIFFERS;
				c->derived = false; /* unknown which one is right */
				c->reason = "contradiction";
				jl_msg_print(c->why_en, c->why_text, sizeof c->why_en, "{%s}",
					     jl_claim_reason_text(c->reason));
			}
		}
}

enum jl_status jl_claims_audit_make(struct jl_claims_audit *ret_audit, const struct jl_scenario *scenario,
				    const struct jl_catalog *cat, struct jl_arena *arena, long today,
				    struct jl_err *err)
{
	struct jl_claims_audit audit = { .scenario = scenario };
	struct jl_expr_scope scope = { .scenario = scenario, .cat = cat, .arena = arena, .today = today };
	const struct jl_yaml *list = scenario->claims;

	if (!list)
		return jl_fail(err, JL_E_DATA, "%s has no claims: to audit", scenario->file ? scenario->file : "-");
	if (list->kind != JL_YAML_LIST || list->n_items > JL_CLAIMS_MAX)
		return jl_fail_at(err, JL_E_PARSE, &list->where, "claims: a list of at most %d", JL_CLAIMS_MAX);
	audit.claims = jl_arena_array(arena, list->n_items + 1, sizeof *audit.claims);
	JL_TRY(jl_got(audit.claims, err));
	JL_TRY(jl_expr_read_inputs(&scope, scenario->inputs, err));
	for (const struct jl_yaml *item = list->items; item; item = item->next) {
		struct jl_claim *c = &audit.claims[audit.n_claims++];

		JL_TRY(claim_read(c, item, &scope, err));
		JL_TRY(judge(c, &scope, err));
	}
	find_contradictions(&audit);
	for (size_t i = 0; i < audit.n_claims; i++) {
		audit.n[audit.claims[i].verdict]++;
		audit.n_at[audit.claims[i].verdict] += audit.claims[i].n_places;
		audit.n_places += audit.claims[i].n_places;
	}
	*ret_audit = audit;
	return JL_OK;
}
