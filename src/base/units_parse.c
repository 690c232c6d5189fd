/* Parses quantities: number, unit, currency, Korean numerals. */
#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/num.h"
#include "base/units_match.h"
#include "base/units_table.h"
#include "base/utf8.h"

/* Ambiguous spellings, with what to write instead. */
static const struct {
	const char *tail;    /* text at the end of the unit */
	bool whole;          /* `tail` must be the whole unit */
	enum jl_kind wanted; /* kind wanted; JL_N_KIND: any */
	const char *en;
} traps[] = {
	{ "KB", true, JL_N_KIND, JL_N("kB (1000 bytes) or KiB (1024 bytes)?") },
	{ "KB/s", true, JL_N_KIND, JL_N("kB/s (1000 bytes) or KiB/s (1024 bytes)?") },
	{ "KBps", true, JL_N_KIND, JL_N("kB/s (1000 bytes) or KiB/s (1024 bytes)?") },
	{ "kb", true, JL_K_BYTES, JL_N("kB (bytes) or kbit (bits)?") },
	{ "Kb", true, JL_K_BYTES, JL_N("kB (bytes) or kbit (bits)?") },
	{ "m", true, JL_K_TIME, JL_N("min (minutes) or months?") },
	{ "M", true, JL_K_TIME, JL_N("min (minutes) or months?") },
	{ "MAC", false, JL_N_KIND, JL_N("a MAC is two FLOP; count FLOP") },
	{ "MACs", false, JL_N_KIND, JL_N("a MAC is two FLOP; count FLOP") },
	{ "MAC/s", false, JL_N_KIND, JL_N("a MAC is two FLOP; count FLOP/s") },
	{ "MACs/s", false, JL_N_KIND, JL_N("a MAC is two FLOP; count FLOP/s") },
	{ "T/s", false, JL_K_BYTE_RATE, JL_N("transfers are not bytes; write GB/s") },
};

static const struct {
	const char *sign, *unit;
} currencies[] = { { "US$", "USD" }, { "$", "USD" }, { "₩", "KRW" }, { "USD ", "USD" }, { "KRW ", "KRW" } };

struct request {
	const char *text; /* the request, leading blanks removed */
	int shown;        /* number of bytes shown in messages */
	const struct jl_kind_row *row;
	enum jl_kind wanted;
	const char *what; /* name for messages */
	struct jl_err *err;
};

static const char *skip_blanks(const char *text)
{
	while (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r')
		text++;
	return text;
}

static struct request request_of(const char *text, enum jl_kind wanted, const char *what, struct jl_err *err)
{
	struct request request = {
		.text = skip_blanks(text),
		.row = jl_kind_row(wanted),
		.wanted = wanted,
		.what = what ? what : "value",
		.err = err,
	};

	request.shown = (int)jl_utf8_fit(request.text, 60);
	return request;
}

static enum jl_status bad_number(const struct request *request, enum jl_num_fault fault)
{
	if (request->text[0] == '\0')
		return jl_fail(request->err, JL_E_PARSE, "%s: empty; write e.g. %s", request->what,
			       request->row->example);
	switch (fault) {
	case JL_NUM_COMMAS:
		return jl_fail(request->err, JL_E_PARSE,
			       "%s: '%.*s': a comma separates thousands (19,252); decimals take a point (1.5)",
			       request->what, request->shown, request->text);
	case JL_NUM_TOO_BIG:
		return jl_fail(request->err, JL_E_RANGE, "%s: '%.*s' is too large a number", request->what,
			       request->shown, request->text);
	default:
		return jl_fail(request->err, JL_E_PARSE, "%s: '%.*s' does not begin with a number; write e.g. %s",
			       request->what, request->shown, request->text, request->row->example);
	}
}

static enum jl_status no_unit(const struct request *request)
{
	return jl_fail(request->err, JL_E_UNIT, "%s: '%.*s' has no unit; write e.g. %s", request->what, request->shown,
		       request->text, request->row->example);
}

static enum jl_status bad_unit(const struct request *request)
{
	return jl_fail(request->err, JL_E_UNIT, "%s: '%.*s' is not {%s}; write e.g. %s", request->what, request->shown,
		       request->text, request->row->en, request->row->example);
}

static enum jl_status wrong_kind(const struct request *request, enum jl_kind found)
{
	const struct jl_kind_row *row = jl_kind_row(found);

	if ((size_t)found >= JL_N_KIND)
		return bad_unit(request);
	return jl_fail(request->err, JL_E_UNIT, "%s: '%.*s' is {%s}, but {%s} is required; write e.g. %s",
		       request->what, request->shown, request->text, row->en, request->row->en, request->row->example);
}

static bool is_wanted(enum jl_kind kind, enum jl_kind wanted)
{
	return kind == wanted || (wanted == JL_K_MONEY && (kind == JL_K_USD || kind == JL_K_KRW));
}

static enum jl_status check_traps(const struct request *request, const char *unit)
{
	size_t len = strlen(unit);

	for (size_t i = 0; i < JL_LEN(traps); i++) {
		size_t tail_len = strlen(traps[i].tail);
		if (tail_len > len || strcmp(unit + len - tail_len, traps[i].tail) != 0)
			continue;
		if ((traps[i].whole && tail_len != len) ||
		    (traps[i].wanted != JL_N_KIND && traps[i].wanted != request->wanted))
			continue;
		return jl_fail(request->err, JL_E_UNIT, "%s: '%.*s': {%s}", request->what, request->shown,
			       request->text, traps[i].en);
	}
	return JL_OK;
}

static enum jl_status find_unit(struct jl_meaning *ret_meaning, const struct request *request, const char *unit)
{
	struct jl_meaning meanings[JL_MEANINGS_MAX];
	const struct jl_meaning *found = NULL;

	JL_TRY(check_traps(request, unit));
	size_t n = jl_units_match(unit, meanings);
	for (size_t i = 0; i < n; i++) {
		if (!is_wanted(meanings[i].kind, request->wanted))
			continue;
		if (found)
			return jl_fail(request->err, JL_E_UNIT, "%s: '%.*s': %s or %s?", request->what, request->shown,
				       request->text, found->spelling, meanings[i].spelling);
		found = &meanings[i];
	}
	if (!found)
		return n ? wrong_kind(request, meanings[0].kind) : bad_unit(request);
	*ret_meaning = *found;
	return JL_OK;
}

/* Normalises a unit: blanks removed, "per" becomes '/', a currency sign before the number moves behind it ("$2.14/h" gives "USD/h", "$2M" gives
 * "MUSD"). False: too long for a unit. */
static bool gather_unit(char out[JL_UNIT_TEXT_MAX], const char *text, const char *currency)
{
	size_t len = 0;

	for (bool blank = false; *text; text++) {
		if (skip_blanks(text) != text) {
			blank = true;
			continue;
		}
		if (len + 1 == JL_UNIT_TEXT_MAX)
			return false;
		if (blank && strncmp(text, "per ", 4) == 0) {
			out[len++] = '/';
			text += 3;
			continue;
		}
		blank = false;
		out[len++] = *text;
	}
	out[len] = '\0';
	if (currency) {
		size_t n = strcspn(out, "/"), add = strlen(currency);
		if (n > 1 || len + add >= JL_UNIT_TEXT_MAX)
			return false;
		memmove(out + n + add, out + n, len - n + 1);
		memcpy(out + n, currency, add);
	}
	return true;
}

/* Currency sign before the number ("$5", "-$5"): moves `text` to the digits. */
static const char *take_currency(const char **text, bool *ret_negative)
{
	const char *at = *text + (**text == '-');

	for (size_t i = 0; i < JL_LEN(currencies); i++) {
		size_t len = strlen(currencies[i].sign);
		if (strncmp(at, currencies[i].sign, len) == 0) {
			*ret_negative = **text == '-';
			*text = skip_blanks(at + len);
			return currencies[i].unit;
		}
	}
	return NULL;
}

static enum jl_status bare_number(struct jl_quantity *ret_quantity, const struct request *request, double value)
{
	if (request->wanted == JL_K_FRACTION && fabs(value) > 1)
		return jl_fail(request->err, JL_E_UNIT,
			       "%s: '%.*s': a fraction is at most 1; if per cent is meant, write %.*s %%",
			       request->what, request->shown, request->text, request->shown, request->text);
	if (request->wanted != JL_K_FRACTION && request->wanted != JL_K_NUMBER)
		return no_unit(request);
	*ret_quantity = (struct jl_quantity){ .value = value, .kind = request->wanted };
	return JL_OK;
}

struct numeral {
	const char *text;
	double scale;
};

/* Korean numeral at the start of the text; NULL: none. */
static const struct numeral *numeral_at(const char *text)
{
	static const struct numeral all[] = { { "십", 10 },  { "백", 100 }, { "천", 1000 },
					      { "만", 1e4 }, { "억", 1e8 }, { "조", 1e12 } };

	for (size_t i = 0; i < JL_LEN(all); i++)
		if (strncmp(text, all[i].text, strlen(all[i].text)) == 0)
			return &all[i];
	return NULL;
}

/* Parses Korean numerals: "1억 2,000만", "3천5백만", "천만". 십, 백 and 천 must decrease within each group of 만, 억 and 조, and so must the groups. A numeral
 * without a number counts once. False: no numeral, or wrong order. */
static bool korean_number(const char *text, double *ret_value, size_t *ret_used)
{
	double total = 0, section = 0, least_big = INFINITY, least = INFINITY;
	const char *at = text, *end = text;
	bool any = false;

	for (;;) {
		const char *from = skip_blanks(at);
		const bool digits = *from >= '0' && *from <= '9';
		double n = 1;
		size_t used = 0;

		if (digits && (jl_num_parse(from, &n, &used) != JL_NUM_OK || n >= least))
			return false;
		const struct numeral *numeral = numeral_at(skip_blanks(from + used));

		if (!numeral) {
			*ret_value = total + section + (digits ? n : 0);
			*ret_used = (size_t)((digits ? from + used : end) - text);
			return any;
		}
		if (numeral->scale < 1e4) {
			if (n * numeral->scale >= least)
				return false;
			section += n * numeral->scale;
			least = numeral->scale;
		} else {
			section += digits || section == 0 ? n : 0;
			if (section * numeral->scale >= least_big)
				return false;
			total += section * numeral->scale;
			least_big = numeral->scale;
			least = 1e4; /* within the group that the next numeral multiplies */
			section = 0;
		}
		any = true;
		at = end = skip_blanks(from + used) + strlen(numeral->text);
	}
}

/* Number before a unit; amounts of money may use Korean numerals. */
static enum jl_num_fault take_number(const struct request *request, const char *at, double *ret_value, size_t *ret_used)
{
	const bool money = request->wanted == JL_K_MONEY || request->wanted == JL_K_KRW || request->wanted == JL_K_USD;

	if (money && korean_number(at, ret_value, ret_used))
		return JL_NUM_OK;
	return jl_num_parse(at, ret_value, ret_used);
}

enum jl_status jl_quantity_parse(struct jl_quantity *ret_quantity, const char *text, enum jl_kind wanted,
				 const char *what, struct jl_err *err)
{
	struct request request = request_of(text, wanted, what, err);
	struct jl_meaning meaning = { .factor = 1 };
	char unit[JL_UNIT_TEXT_MAX];
	const char *at = request.text;
	bool negative = false;
	const char *currency = take_currency(&at, &negative);
	double value;
	size_t used;

	enum jl_num_fault fault = take_number(&request, at, &value, &used);
	if (fault)
		return bad_number(&request, fault);
	if (negative)
		value = -value;
	if (!gather_unit(unit, at + used, currency))
		return bad_unit(&request);
	if (unit[0] == '\0')
		return bare_number(ret_quantity, &request, value);
	JL_TRY(find_unit(&meaning, &request, unit));
	value *= meaning.factor;
	if (!isfinite(value))
		return bad_number(&request, JL_NUM_TOO_BIG);
	*ret_quantity = (struct jl_quantity){ .value = value, .kind = meaning.kind };
	return JL_OK;
}

enum jl_status jl_units_parse(double *ret_value, const char *text, enum jl_kind wanted, const char *what,
			      struct jl_err *err)
{
	struct jl_quantity quantity = { .value = NAN };

	JL_TRY(jl_quantity_parse(&quantity, text, wanted, what, err));
	*ret_value = quantity.value;
	return JL_OK;
}

/* Factor of a letter or Korean numeral behind a count ("10M", "1.5T", "2만"); 0: anything else. K is accepted only if max is in the millions: for
 * smaller counts (a sequence of 4K) it may mean 1024. */
static double count_scale(const char *text, long long max)
{
	static const struct {
		const char *text;
		double scale;
	} scales[] = { { "", 1 },     { "K", 1e3 },  { "M", 1e6 },  { "G", 1e9 },  { "B", 1e9 },
		       { "T", 1e12 }, { "만", 1e4 }, { "억", 1e8 }, { "조", 1e12 } };

	for (size_t i = 0; i < JL_LEN(scales); i++)
		if (strncmp(text, scales[i].text, strlen(scales[i].text)) == 0 &&
		    *skip_blanks(text + strlen(scales[i].text)) == '\0')
			return scales[i].scale == 1e3 && max < 1000000000000LL ? 0 : scales[i].scale;
	return 0;
}

enum jl_status jl_units_parse_count(long long *ret_n, const char *text, long long min, long long max, const char *what,
				    struct jl_err *err)
{
	struct request request = request_of(text, JL_K_NUMBER, what, err);
	double value;
	size_t used;

	enum jl_num_fault fault = jl_num_parse(request.text, &value, &used);
	if (fault)
		return bad_number(&request, fault);
	const double scale = count_scale(skip_blanks(request.text + used), max);
	if (scale == 0)
		return jl_fail(err, JL_E_PARSE, "%s: '%.*s' is not a whole number; write e.g. 8, 4096 or 10M",
			       request.what, request.shown, request.text);
	value = scale == 1 ? value : round(value * scale * 1e3) / 1e3; /* remove the rounding error of 1.1 * 1e6 */
	if (value != floor(value))
		return jl_fail(err, JL_E_RANGE, "%s: '%.*s' is not a whole number", request.what, request.shown,
			       request.text);
	/* above 2^53 a double does not hold every integer */
	if (fabs(value) > 0x1p53 || value < (double)min || value > (double)max)
		return jl_fail(err, JL_E_RANGE, "%s: '%.*s' is outside %lld to %lld", request.what, request.shown,
			       request.text, min, max);
	*ret_n = (long long)value;
	return JL_OK;
}
