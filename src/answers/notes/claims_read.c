/* One entry of claims: as it is written in a scenario. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "notes/claims.h"

static enum jl_status bad_value(const struct jl_yaml *node, struct jl_err *err)
{
	return jl_fail_at(err, JL_E_PARSE, &node->where,
			  "value: '%.60s' is no figure; write e.g. 5.67 h, ~1.7x, 0.4..0.6 s, >=20 %%", node->text);
}

/* Digits behind the point of the number at `text`. */
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

/* "21 58, 93" are three places; "§2.2" is one. */
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

enum jl_status jl_claim_read(struct jl_claim *ret_claim, const struct jl_yaml *map, struct jl_expr_scope *scope,
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
