/* Matches lines against a user-given pattern (series.h). Knows no trainer. */
#include "import/series.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum role { ANYTHING, TIME, RATE, OTHER };

static const struct {
	const char *name;
	enum role role;
	double scale;
	size_t offset; /* offset in struct jl_run_step */
} fields[] = {
	{ "*", ANYTHING, 0, 0 },
	{ "step_s", TIME, 1, offsetof(struct jl_run_step, step_s) },
	{ "step_ms", TIME, 1e-3, offsetof(struct jl_run_step, step_s) },
	{ "step_us", TIME, 1e-6, offsetof(struct jl_run_step, step_s) },
	{ "steps_per_s", RATE, 1, offsetof(struct jl_run_step, step_s) },
	{ "it_per_s", RATE, 1, offsetof(struct jl_run_step, step_s) },
	{ "samples_per_s", TIME, 1, offsetof(struct jl_run_step, samples_per_s) },
	{ "tokens_per_s", TIME, 1, offsetof(struct jl_run_step, tokens_per_s) },
	{ "tflops", TIME, 1e12, offsetof(struct jl_run_step, flopps) },
	{ "step", OTHER, 1, offsetof(struct jl_run_step, step) },
	{ "epoch", OTHER, 0, 0 },
	{ "batch", OTHER, 1, offsetof(struct jl_run_step, batch) },
	{ "loss", OTHER, 0, 0 },
};

#define N_FIELDS (JL_LEN(fields))

static enum jl_status add_field(struct jl_import_pattern *p, const char *name, size_t len, struct jl_err *err)
{
	for (size_t i = 0; i < N_FIELDS; i++) {
		if (strlen(fields[i].name) != len || strncmp(fields[i].name, name, len) != 0)
			continue;
		p->pieces[p->n++].field = (int)i;
		return JL_OK;
	}
	return jl_fail(err, JL_E_USAGE,
		       "--pattern: {%.*s} is not known; there are {step_s} {step_ms} {step_us} {steps_per_s} "
		       "{it_per_s} {samples_per_s} {tokens_per_s} {tflops} {step} {epoch} {batch} {loss} {*}",
		       (int)(len < 40 ? len : 40), name);
}

static enum jl_status check(const struct jl_import_pattern *p, struct jl_err *err)
{
	bool useful = false;

	for (size_t i = 0; i < p->n; i++) {
		int field = p->pieces[i].field;

		useful |= field > 0 && (fields[field].role == TIME || fields[field].role == RATE);
		/* two adjacent fields: the end of the first would be undefined */
		if (i > 0 && field >= 0 && p->pieces[i - 1].field >= 0)
			return jl_fail(err, JL_E_USAGE, "--pattern: text must stand between two {...}");
	}
	if (!useful)
		return jl_fail(err, JL_E_USAGE,
			       "--pattern: a time or a rate must be in it: 'step {step} loss {*} {step_s} s'");
	return JL_OK;
}

enum jl_status jl_import_pattern_compile(struct jl_import_pattern *ret_pattern, const char *text, struct jl_err *err)
{
	struct jl_import_pattern p = { .n = 0 };
	enum jl_status status = JL_OK;

	while (*text && !status) {
		const char *end;

		if (p.n == JL_PATTERN_PIECES_MAX)
			return jl_fail(err, JL_E_LIMIT, "--pattern: more than %d pieces", JL_PATTERN_PIECES_MAX);
		if (*text == '{') {
			end = strchr(text, '}');
			if (!end)
				return jl_fail(err, JL_E_USAGE, "--pattern: '{' without '}'");
			status = add_field(&p, text + 1, (size_t)(end - text - 1), err);
			text = end + 1;
		} else {
			size_t len = strcspn(text, "{");

			if (len >= JL_PATTERN_TEXT_MAX)
				return jl_fail(err, JL_E_LIMIT, "--pattern: more than %d characters in a row",
					       JL_PATTERN_TEXT_MAX);
			memcpy(p.pieces[p.n].text, text, len);
			p.pieces[p.n++].field = -1;
			text += len;
		}
	}
	JL_THEN(status, check(&p, err));
	if (!status)
		*ret_pattern = p;
	return status;
}

/* Bytes of `text` matched by the literal; a blank in it matches one or more blanks. -1: no match. */
static ptrdiff_t literal(const char *text, const char *wanted)
{
	const char *at = text;

	while (*wanted) {
		if (isblank((unsigned char)*wanted)) {
			size_t n = strspn(at, " \t");

			wanted += strspn(wanted, " \t");
			if (n == 0 && !(*at == '\0' && *wanted == '\0'))
				return -1;
			at += n;
		} else if (*at++ != *wanted++) {
			return -1;
		}
	}
	return at - text;
}

/* Reads a sign too, so that negative numbers are rejected. A unit may follow directly (12ms); the pattern's text decides. */
static bool take_number(const char **at, int field, struct jl_run_step *step)
{
	struct jl_number number;
	double value;
	bool negative = **at == '-';

	*at += negative;
	if (!jl_scan_number(at, &number) || **at == '.')
		return false;
	if (fields[field].scale == 0)
		return true; /* checked, not stored */
	if (negative || !(number.value > 0 || (fields[field].role == OTHER && number.value == 0)))
		return false;
	value = fields[field].role == RATE ? 1 / number.value : number.value * fields[field].scale;
	memcpy((char *)step + fields[field].offset, &value, sizeof(value));
	return isfinite(value);
}

static bool match_from(const struct jl_import_pattern *p, const struct jl_line *line, const char *at,
		       struct jl_run_step *step)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct piece *piece = &p->pieces[i];

		if (piece->field > 0) {
			const char *from = at;

			if (!isdigit((unsigned char)*at) && *at != '.' && *at != '-')
				return false;
			if (!take_number(&at, piece->field, step) || at == from)
				return false;
			/* a truncated line may end within the number */
			if (i + 1 == p->n && *at == '\0' && line->torn)
				return false;
		} else if (piece->field < 0) {
			ptrdiff_t n = literal(at, piece->text);

			if (n < 0)
				return false;
			at += n;
		} else if (i + 1 == p->n) {
			return true;
		} else { /* skips to the first match of the following text */
			while (*at && literal(at, p->pieces[i + 1].text) < 0)
				at++;
			if (!*at)
				return false;
		}
	}
	return !isdigit((unsigned char)*at);
}

/* True if `at` continues a longer number: 1.2.3, -3, 1,234. */
static bool is_tail(const char *start, const char *at)
{
	char before = at[-1];

	return isdigit((unsigned char)before) || strchr(".-+", before) ||
	       (before == ',' && at - start > 1 && isdigit((unsigned char)at[-2]));
}

bool jl_import_pattern_match(const struct jl_import_pattern *p, const struct jl_line *line,
			     struct jl_run_step *ret_step)
{
	if (line->len > JL_PATTERN_LINE_MAX)
		return false;
	for (const char *at = line->text; *at; at++) {
		struct jl_run_step step = jl_step_unknown("pattern");

		if (p->pieces[0].field > 0 && at > line->text && is_tail(line->text, at))
			continue;
		if (match_from(p, line, at, &step)) {
			*ret_step = step;
			return true;
		}
	}
	return false;
}
