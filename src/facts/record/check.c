/* Validates records from any source. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "record/record.h"

/* Allowed unit suffixes of metric names; names with n_ are counts, "loss" has no unit. */
static const char *const unit_ends[] = {
	"_s",  "_B",    "_Bps",   "_flop",  "_flopps", "_opps", "_W",   "_J",
	"_Hz", "_frac", "_per_s", "_per_J", "_usd",    "_C",    "loss",
};

static bool has_unit(const char *name)
{
	if (strncmp(name, "n_", 2) == 0)
		return true;
	for (size_t i = 0; i < JL_LEN(unit_ends); i++)
		if (jl_ends(name, unit_ends[i]))
			return true;
	return false;
}

static bool is_key(const char *key)
{
	size_t n = 0;

	if (!key || !isalpha((unsigned char)key[0]))
		return false;
	while (n <= JL_RECORD_KEY_MAX &&
	       (isalnum((unsigned char)key[n]) || key[n] == '_' || key[n] == '-' || key[n] == '.'))
		n++;
	return n <= JL_RECORD_KEY_MAX && key[n] == '\0';
}

static enum jl_status check_text(const char *what, const char *text, bool required, struct jl_err *err)
{
	if (!text)
		return !required ? JL_OK : jl_fail(err, JL_E_DATA, "a record has no \"%s\"", what);
	size_t len = strnlen(text, JL_RECORD_STRING_MAX + 1);
	if (len > JL_RECORD_STRING_MAX || (required && len == 0))
		return jl_fail(err, JL_E_LIMIT, "\"%s\" of a record must have 1 to %d bytes", what,
			       JL_RECORD_STRING_MAX);
	if (!jl_utf8_valid(text, len, NULL))
		return jl_fail(err, JL_E_DATA, "\"%s\" of a record is not UTF-8", what);
	return JL_OK;
}

static enum jl_status check_texts(const struct jl_record *r, struct jl_err *err)
{
	const struct {
		const char *what, *text;
		bool required;
	} texts[] = {
		{ "kind", r->kind, true },
		{ "backend", r->backend, true },
		{ "origin", r->origin, true },
		{ "source", r->source, false },
		{ "line", r->line, false },
		{ "machine", r->machine, false },
		{ "machine_name", r->machine_name, false },
		{ "node", r->node, false },
		{ "run", r->run, false },
		{ "note", r->note, false },
		{ "noise.why", r->noise.why, false },
		{ "noise.held_by", r->noise.held_by, false },
		{ "noise.neighbour", r->noise.neighbour, false },
	};
	enum jl_status status = JL_OK;

	for (size_t i = 0; i < JL_LEN(texts) && !status; i++)
		status = check_text(texts[i].what, texts[i].text, texts[i].required, err);
	return status;
}

static enum jl_status check_items(const char *what, const struct jl_record_item *items, size_t n, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	if (n > JL_RECORD_ITEMS_MAX)
		return jl_fail(err, JL_E_LIMIT, "%s: a record has more than %d", what, JL_RECORD_ITEMS_MAX);
	for (size_t i = 0; i < n && !status; i++) {
		if (!is_key(items[i].key))
			return jl_fail(err, JL_E_DATA, "%s: key %zu of a record is not a name (letters, digits, _)",
				       what, i + 1);
		for (size_t k = 0; k < i; k++)
			if (strcmp(items[k].key, items[i].key) == 0)
				return jl_fail(err, JL_E_DATA, "%s: \"%s\" occurs twice", what, items[i].key);
		status = check_text(items[i].key, items[i].text, false, err);
		if (!status && !items[i].text && isinf(items[i].number))
			return jl_fail(err, JL_E_DATA, "%s: \"%s\" is infinite", what, items[i].key);
	}
	return status;
}

static bool summary_holds(const struct jl_stats *s)
{
	const double values[] = { s->mean, s->min, s->max, s->p95, s->lo95, s->hi95 };

	for (size_t i = 0; i < JL_LEN(values); i++)
		if (isinf(values[i]))
			return false;
	/* comparisons with NAN are false: unknown values contradict nothing */
	return isfinite(s->median) && !(s->min > s->median) && !(s->max < s->median) && !(s->lo95 > s->hi95);
}

static enum jl_status check_metrics(const struct jl_record *r, struct jl_err *err)
{
	if (r->n_metrics > JL_RECORD_ITEMS_MAX)
		return jl_fail(err, JL_E_LIMIT, "a record has more than %d metrics", JL_RECORD_ITEMS_MAX);
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct jl_record_metric *m = &r->metrics[i];

		if (!is_key(m->name) || !has_unit(m->name))
			return jl_fail(err, JL_E_UNIT,
				       "metric \"%s\" must be a name that ends with its unit: step_s, algbw_Bps, "
				       "samples_per_s",
				       is_key(m->name) ? m->name : "?");
		for (size_t k = 0; k < i; k++)
			if (strcmp(r->metrics[k].name, m->name) == 0)
				return jl_fail(err, JL_E_DATA, "metric \"%s\" occurs twice", m->name);
		if (!summary_holds(&m->value))
			return jl_fail(err, JL_E_DATA, "metric \"%s\": the median must be a number between min and max",
				       m->name);
	}
	return JL_OK;
}

static enum jl_status check_samples(const struct jl_record *r, struct jl_err *err)
{
	if (r->n_samples > JL_RECORD_SAMPLES_MAX)
		return jl_fail(err, JL_E_LIMIT, "a record has more than %d samples", JL_RECORD_SAMPLES_MAX);
	for (size_t i = 0; i < r->n_samples; i++)
		if (!(isfinite(r->samples_s[i]) && r->samples_s[i] >= 0))
			return jl_fail(err, JL_E_DATA, "sample %zu of a record is not a time in seconds", i + 1);
	return JL_OK;
}

enum jl_status jl_record_check(const struct jl_record *r, struct jl_err *err)
{
	if (!r->id || !jl_record_is_id(r->id))
		return jl_fail(err, JL_E_DATA, "a record needs an id of %d characters (0-9, A-Z without I, L, O, U)",
			       JL_RECORD_ID_LEN);
	if (!(isfinite(r->time_s) && r->time_s >= 0 && r->time_s < 1e11))
		return jl_fail(err, JL_E_RANGE, "\"time_s\" of a record must be seconds since 1970");
	JL_TRY(check_texts(r, err));
	if (strcmp(r->origin, "measured") != 0 && strcmp(r->origin, "imported") != 0)
		return jl_fail(err, JL_E_DATA, "\"origin\" of a record is \"measured\" or \"imported\"");
	JL_TRY(check_items("params", r->params, r->n_params, err));
	JL_TRY(check_items("versions", r->versions, r->n_versions, err));
	JL_TRY(check_metrics(r, err));
	return check_samples(r, err);
}
