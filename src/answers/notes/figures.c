/* Finds figures: digits that are a quantity and not part of a name, version, date or address; with ranges, approximations ("약"), bounds and
 * Korean numerals. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "notes/inside.h"

struct number {
	size_t end;
	double value;
	int decimals, zeros; /* zeros: trailing zeros of an integer */
	int power;           /* exponent of ten: 4.2e10 */
	bool commas, has_power;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t digits(const char *t, size_t at, size_t end)
{
	while (at < end && is_digit(t[at]))
		at++;
	return at;
}

/* Digits with thousands separators: 19,252 but not 1,2. */
static size_t grouped(const char *t, size_t at, size_t end)
{
	size_t i = digits(t, at, end);

	if (i - at > 3)
		return i;
	while (i + 3 < end && t[i] == ',' && digits(t, i + 1, i + 4) == i + 4 && !(i + 4 < end && is_digit(t[i + 4])))
		i += 4;
	if (i + 4 == end && t[i] == ',' && digits(t, i + 1, end) == end)
		i = end;
	return i;
}

#define NUMBER_LEN_MAX 40

static bool number_at(struct number *ret, const char *t, size_t at, size_t end)
{
	char buf[NUMBER_LEN_MAX + 1];
	size_t n = 0, i;
	struct number num = { 0 };

	if (at >= end || !is_digit(t[at]))
		return false;
	i = grouped(t, at, end);
	num.commas = memchr(t + at, ',', i - at) != NULL;
	for (size_t k = i; k > at && t[k - 1] == '0'; k--)
		num.zeros++;
	if (i + 1 < end && t[i] == '.' && is_digit(t[i + 1])) {
		const size_t point = i + 1;

		i = digits(t, point, end);
		num.decimals = (int)(i - point);
		num.zeros = 0;
	}
	if (i + 1 < end && (t[i] == 'e' || t[i] == 'E')) {
		size_t k = i + 1 + (t[i + 1] == '-' || t[i + 1] == '+');

		if (k < end && is_digit(t[k]) && digits(t, k, end) - k <= 3) {
			num.power = (int)strtol(t + i + 1, NULL, 10);
			num.has_power = true;
			i = digits(t, k, end);
		}
	}
	if (i - at > NUMBER_LEN_MAX)
		return false;
	for (size_t k = at; k < i; k++)
		if (t[k] != ',')
			buf[n++] = t[k];
	buf[n] = '\0';
	num.value = strtod(buf, NULL);
	num.end = i;
	*ret = num;
	return isfinite(num.value);
}

static bool word_before(const char *t, size_t at, const char *words)
{
	size_t from = at > 24 ? at - 24 : 0, end = at;

	while (end > from && (t[end - 1] == ' ' || t[end - 1] == '-' || t[end - 1] == ':'))
		end--;
	while (from < end && ((unsigned char)t[from] & 0xc0) == 0x80)
		from++;
	if (from == end ||
	    !(isalpha((unsigned char)t[end - 1]) || t[end - 1] == '.' || (unsigned char)t[end - 1] >= 0x80))
		return false;
	for (const char *w = words; *w;) {
		const size_t n = jl_word_len(w);

		if (end - from >= n && !((t[end - 1] ^ w[n - 1]) & ~0x20) && strncasecmp(t + end - n, w, n) == 0 &&
		    (end - n == 0 || !isalpha((unsigned char)t[end - n - 1]) || (unsigned char)w[0] >= 0x80))
			return true;
		w += n + (w[n] == '|');
	}
	return false;
}

/* True for numbers of versions, stages, chapters and dates. */
static bool is_label(const char *t, size_t from, size_t at, const struct number *num, size_t end)
{
	if (at > from && (t[at - 1] == '#' || t[at - 1] == '_' || t[at - 1] == '.'))
		return true;
	if (num->end < end && (t[num->end] == ':' || t[num->end] == '.') && num->end + 1 < end &&
	    is_digit(t[num->end + 1]))
		return true;
	if (at > from + 1 && t[at - 1] == ':' && is_digit(t[at - 2]))
		return true;
	if (num->end + 3 < end && t[num->end] == '-' && num->value > 1900 && num->value < 2100 &&
	    is_digit(t[num->end + 1]) && is_digit(t[num->end + 2]) && !is_digit(t[num->end + 3]))
		return true;
	return word_before(t, at,
			   "pcie|gen|cuda|python|pytorch|version|ver|v|ddr|nvlink|nvswitch|rocm|ubuntu|figure|fig|"
			   "table|section|chapter|stage|zero|tensorflow|driver|cudnn|nccl|sm|시나리오|표|그림|worker|"
			   "rank|seed|tf|line|issue|pr");
}

/* True if letters before the digits make them part of a name ("A100", "ZeRO-2", "rtx-3090"). */
static bool part_of_name(const char *t, size_t from, size_t at)
{
	const unsigned char before = at > from ? (unsigned char)t[at - 1] : ' ';

	if (isalpha(before))
		return !(strchr("xX", before) && at > from + 1 && is_digit(t[at - 2]));
	if (is_digit((char)before) || before == '_' || before == '@')
		return true;
	if (before == '-' && at > from + 1 && is_digit(t[at - 2]))
		return true; /* part of a date, or a descending range */
	if ((before == '-' || before == '/') && at > from + 1)
		return isalpha((unsigned char)t[at - 2]) || t[at - 2] == '-' || t[at - 2] == '_';
	return false;
}

static size_t skip_blanks(const char *t, size_t at, size_t end)
{
	while (at < end && t[at] == ' ')
		at++;
	return at;
}

static const struct jl_audit_unit *unit_behind(const char *t, size_t at, size_t end, size_t *ret_end)
{
	const size_t from = skip_blanks(t, at, end > at + 3 ? at + 3 : end);
	size_t n;
	const struct jl_audit_unit *u;

	*ret_end = at;
	if (from >= end)
		return NULL;
	if (!(u = jl_audit_unit_at(t + from, end - from, from == at, &n)))
		return NULL;
	/* "2 x 4", "8x20": a product instead of a ratio */
	if (u->qty == JL_Q_RATIO && (t[from] == 'x' || t[from] == 'X' || (unsigned char)t[from] == 0xc3)) {
		const size_t next = skip_blanks(t, from + n, end);

		if (next < end && (is_digit(t[next]) || t[next] == '(' ||
				   (from > at && t[next] != ')' && t[next] != ',' && t[next] != '|')))
			return NULL;
	}
	*ret_end = from + n;
	return u;
}

/* Length of the sign between the ends of a range: "-", "~", "–", " to "; 0: none. */
static size_t range_sign(const char *t, size_t at, size_t end)
{
	static const char *const signs[] = { "~", "–", "—", "∼", "～", "-" };
	const size_t from = skip_blanks(t, at, end);

	for (size_t i = 0; i < JL_LEN(signs); i++) {
		const size_t n = strlen(signs[i]);

		if (end - from > n && memcmp(t + from, signs[i], n) == 0) {
			const size_t next = skip_blanks(t, from + n, end);

			if (signs[i][0] == '-' && (from != at || next != from + n))
				return 0; /* a difference */
			return next;
		}
	}
	if (end - from > 4 && from > at && strncasecmp(t + from, "to ", 3) == 0)
		return from + 3;
	return 0;
}

static void take_range(struct jl_figure *fig, const char *t, size_t end, struct number *last,
		       const struct jl_audit_unit **unit, size_t *unit_end)
{
	size_t next = range_sign(t, *unit_end, end), second_end;
	struct number num;

	if (next && next < end && t[next] == '$')
		next++;
	if (!next || !number_at(&num, t, next, end))
		return;
	const struct jl_audit_unit *second = unit_behind(t, num.end, end, &second_end);
	if (num.value <= fig->lo || (*unit && second && (*unit)->qty != second->qty) || (*unit && !second) ||
	    (!second && num.end < end && isalpha((unsigned char)t[num.end])))
		return;
	fig->hi = num.value;
	fig->flags |= JL_FIG_RANGE;
	*last = num;
	*unit = second;
	*unit_end = second ? second_end : num.end;
}

static void take_money_rate(struct jl_figure *fig, const char *t, size_t from, size_t end, size_t *at)
{
	static const char *const per_hour[] = { "/hour",         "/hr",       "/h",        " per hour",
						"/시간",         " an hour",  " / h",      " per GPU hour",
						" per GPU-hour", "/GPU-hour", "/GPU hour", "/GPU-hr",
						"/GPU-h",        "/GPU/hour", "/GPU/h" };

	if (fig->qty != JL_Q_USD)
		return;
	for (size_t i = 0; i < JL_LEN(per_hour); i++) {
		const size_t n = strlen(per_hour[i]);

		if (end - *at >= n && strncasecmp(t + *at, per_hour[i], n) == 0) {
			*at += n;
			fig->qty = JL_Q_USD_RATE;
			fig->scale = 1 / 3600.0;
			return;
		}
	}
	if (end - *at >= 8 && (strncasecmp(t + *at, " per kwh", 8) == 0 || strncasecmp(t + *at, "/kwh", 4) == 0)) {
		*at += t[*at] == ' ' ? 8 : 4;
		fig->qty = JL_Q_USD_ENERGY;
		fig->scale = 1 / 3.6e6;
	} else if (word_before(t, fig->at, "시간당|시간 당|per hour|hourly")) {
		fig->qty = JL_Q_USD_RATE;
		fig->scale = 1 / 3600.0;
	}
	(void)from;
}

/* Korean numerals: 십, 백, 천 occur alone and before 만, 억, 조. Returns the power of 10,000 in `scale`. */
static double myriads(double scale)
{
	return scale >= 1e12 ? 1e12 : scale >= 1e8 ? 1e8 : scale >= 1e4 ? 1e4 : 1;
}

static bool is_counting(const char *t, size_t at, size_t end, const struct jl_audit_unit *u)
{
	const size_t from = skip_blanks(t, at, end);

	return u && u->scale >= 10 && (u->qty == JL_Q_NUMBER || u->qty == JL_Q_KRW) && (unsigned char)t[from] >= 0xe0;
}

/* Combines "4억 5천만원", "1천 2백만원", "1만 2천" to one figure: (1천 + 2백) x 만. */
static void take_count(struct jl_figure *fig, const char *t, size_t end, size_t *at)
{
	double closed = 0, open = 0, scale = fig->scale, last = scale, value = fig->lo, digit = fig->digit;
	size_t digits_end = *at - fig->unit_len;
	uint8_t qty = fig->qty;

	for (int parts = 0; parts < 8 && qty == JL_Q_NUMBER; parts++) {
		const size_t from = skip_blanks(t, *at, end);
		struct number num;
		size_t unit_end;

		if (from > *at + 1 || !number_at(&num, t, from, end))
			break;
		const struct jl_audit_unit *u = unit_behind(t, num.end, end, &unit_end);
		const bool counts = is_counting(t, num.end, end, u), plain = !u && last >= 1e4 && num.value >= 100,
			   of_won = u && u->scale == 1 && (u->qty == JL_Q_KRW || u->qty == JL_Q_COUNT);
		const double small = counts ? u->scale / myriads(u->scale) : 1, big = counts ? myriads(u->scale) : 1;

		/* a smaller part of the same number, or the parts so far multiply this 만 */
		if ((!counts && !plain && !of_won) || num.value * small * big >= (last < 1e4 ? last * big : last) ||
		    (myriads(last) == 1 ? small >= last : big >= myriads(last)))
			break;
		if (myriads(scale) == 1)
			open += value * scale;
		else
			closed += value * scale;
		value = num.value;
		if (myriads(scale) == 1 && big > 1) {
			closed += open * big;
			open = 0;
		}
		scale = last = small * big;
		digit = pow(10, -num.decimals);
		fig->flags |= JL_FIG_APPENDED | (num.commas ? JL_FIG_COMMAS : 0);
		qty = counts || of_won ? (uint8_t)u->qty : qty;
		*at = u ? unit_end : num.end;
		digits_end = num.end;
	}
	if (!(fig->flags & JL_FIG_APPENDED))
		return;
	fig->lo = fig->hi = closed + open + value * scale;
	fig->digit = digit * scale;
	fig->scale = 1;
	fig->decimals = 0;
	fig->qty = qty;
	/* in "5천만원" the numerals belong to the number; only "원" is the unit */
	const size_t won = qty == JL_Q_KRW ? 3 : qty == JL_Q_COUNT ? *at - digits_end : 0;
	fig->unit_len = (uint16_t)won;
	fig->num_len = (uint16_t)(*at - won - fig->num_at);
}

/* Combines "5시간 40분", "3h 36m" to one figure. */
static void take_rest(struct jl_figure *fig, const char *t, size_t end, const struct jl_audit_unit *unit, size_t *at)
{
	const size_t from = skip_blanks(t, *at, end);
	size_t unit_end;
	struct number num;

	if (fig->flags & JL_FIG_RANGE)
		return;
	if (is_counting(t, fig->num_at + fig->num_len, end, unit)) {
		take_count(fig, t, end, at);
		return;
	}
	if (fig->qty != JL_Q_TIME || fig->scale != 3600 || !number_at(&num, t, from, end))
		return;
	const struct jl_audit_unit *u = unit_behind(t, num.end, end, &unit_end);
	const bool bare_m = num.end < end && t[num.end] == 'm' &&
			    (num.end + 1 == end || !isalnum((unsigned char)t[num.end + 1]));

	if (bare_m || (u && u->qty == JL_Q_TIME && u->scale == 60 && num.value < 60)) {
		fig->lo = fig->hi = fig->lo + num.value / 60;
		fig->digit = 1 / 60.0;
		fig->flags |= JL_FIG_APPENDED;
		*at = bare_m ? num.end + 1 : unit_end;
	}
}

static void take_flags(struct jl_figure *fig, const char *t, size_t line_at, size_t end)
{
	size_t before = fig->at, after = fig->at + fig->len;

	while (before > line_at && t[before - 1] == ' ')
		before--;
	if (before > line_at && t[before - 1] == '$')
		before--;
	if ((before > line_at && t[before - 1] == '~') ||
	    (before >= line_at + 3 && memcmp(t + before - 3, "≈", 3) == 0) ||
	    (before >= line_at + 3 && memcmp(t + before - 3, "～", 3) == 0) ||
	    word_before(t, fig->at, "약|대략|거의|about|approximately|approx|approx.|around|roughly|nearly|almost|ca."))
		fig->flags |= JL_FIG_ABOUT;
	if ((before > line_at && t[before - 1] == '>') ||
	    (before >= line_at + 3 && memcmp(t + before - 3, "≥", 3) == 0) ||
	    word_before(t, fig->at, "최소|at least|over|more than|above"))
		fig->flags |= JL_FIG_LEAST;
	if ((before > line_at && t[before - 1] == '<') ||
	    (before >= line_at + 3 && memcmp(t + before - 3, "≤", 3) == 0) ||
	    word_before(t, fig->at, "최대|up to|at most|below|under|less than"))
		fig->flags |= JL_FIG_MOST;
	if (after < end && t[after] == '+')
		fig->flags |= JL_FIG_LEAST;
	after = skip_blanks(t, after, end);
	if (end - after >= 6 && (memcmp(t + after, "이상", 6) == 0 || memcmp(t + after, "초과", 6) == 0))
		fig->flags |= JL_FIG_LEAST;
	if (end - after >= 6 && (memcmp(t + after, "이하", 6) == 0 || memcmp(t + after, "미만", 6) == 0))
		fig->flags |= JL_FIG_MOST;
}

static bool currency_before(struct jl_figure *fig, const char *t, size_t line_at)
{
	if (fig->at > line_at && t[fig->at - 1] == '$') {
		fig->at--;
		fig->qty = JL_Q_USD;
	} else if (fig->at >= line_at + 3 && memcmp(t + fig->at - 3, "₩", 3) == 0) {
		fig->at -= 3;
		fig->qty = JL_Q_KRW;
	} else {
		return false;
	}
	return true;
}

static void settle(struct jl_figure *fig, const struct number *last, const struct jl_audit_unit *unit, bool money)
{
	fig->scale = 1;
	if (unit && !(money && unit->qty != JL_Q_PARAMS && unit->qty != JL_Q_NUMBER)) {
		fig->qty = money ? fig->qty : (uint8_t)unit->qty;
		fig->scale = unit->scale;
	}
	if (fig->qty == JL_Q_TIME && fig->scale > 300 * 86400.0 && fig->lo > 1900 && fig->lo < 2101) {
		fig->qty = JL_Q_NUMBER; /* 2017년 is a year, not a duration */
		fig->scale = 1;
	}
	fig->decimals = (uint8_t)last->decimals;
	fig->digit = pow(10, last->power - last->decimals);
	fig->flags |= (last->commas ? JL_FIG_COMMAS : 0) | (last->has_power ? JL_FIG_POWER : 0);
}

/* Parses a figure starting at `at` in the line from `line_at` to `end`. Returns the offset at which to continue. */
static size_t figure_here(struct jl_figure *ret, bool *ret_is, const char *t, size_t line_at, size_t at, size_t end)
{
	struct jl_figure fig = { .at = (uint32_t)at, .num_at = (uint32_t)at };
	struct number num, last;
	size_t stop;

	*ret_is = false;
	if (!number_at(&num, t, at, end))
		return digits(t, at, end) > at ? digits(t, at, end) : at + 1;
	if (part_of_name(t, line_at, at) || is_label(t, line_at, at, &num, end))
		return num.end;
	fig.lo = fig.hi = num.value;
	last = num;
	bool money = currency_before(&fig, t, line_at);
	const struct jl_audit_unit *unit = unit_behind(t, num.end, end, &stop);
	if (!unit && num.end < end && t[num.end] == '+') { /* e.g. 100+ TFLOPS */
		if ((unit = unit_behind(t, num.end + 1, end, &stop)))
			fig.flags |= JL_FIG_LEAST;
		else
			stop = num.end;
	}
	take_range(&fig, t, end, &last, &unit, &stop);
	if (!unit && stop < end && (isalpha((unsigned char)t[stop]) || t[stop] == '_') && !strchr("xX", t[stop]))
		return stop; /* e.g. 3090Ti, 2nd */
	if (num.value == 0 && !num.decimals && stop < end && t[stop] == 'x')
		return stop + 1; /* e.g. 0x1f */
	settle(&fig, &last, unit, money);
	fig.num_len = (uint16_t)(last.end - at);
	fig.unit_len = (uint16_t)(unit ? stop - last.end : 0);
	take_money_rate(&fig, t, line_at, end, &stop);
	take_rest(&fig, t, end, unit, &stop);
	fig.len = (uint32_t)(stop - fig.at);
	take_flags(&fig, t, line_at, end);
	if ((fig.flags & JL_FIG_ABOUT) && !last.decimals && last.zeros > 1)
		fig.digit = pow(10, last.zeros - 1);
	fig.lo *= fig.scale;
	fig.hi *= fig.scale;
	fig.digit *= fig.scale;
	*ret_is = isfinite(fig.hi);
	*ret = fig;
	return stop;
}

bool jl_figure_at(struct jl_figure *ret_figure, const char *text, size_t at, size_t end)
{
	bool is;

	at = skip_blanks(text, at, end);
	if (at >= end || !is_digit(text[at]))
		return false;
	figure_here(ret_figure, &is, text, at, at, end);
	return is;
}

/* Skips "1. " and "2) " at the start of a list item. */
static size_t list_number(const char *t, size_t at, size_t end)
{
	const size_t from = skip_blanks(t, at, end), stop = digits(t, from, end);

	if (stop > from && stop - from <= 3 && stop < end && (t[stop] == '.' || t[stop] == ')') &&
	    (stop + 1 == end || t[stop + 1] == ' '))
		return stop + 1;
	return at;
}

static size_t line_figures(struct jl_audit_note *note, struct jl_line *line, struct jl_figure *out, size_t room)
{
	const char *t = note->text;
	size_t at = line->at, n = 0;
	const size_t end = line->at + line->len;

	while (at < end && (t[at] == ' ' || t[at] == '\t'))
		at++;
	for (at = list_number(t, at, end); at < end && n < room;) {
		bool is = false;

		if (!is_digit(t[at])) {
			at++;
			continue;
		}
		at = figure_here(&out[n], &is, t, line->at, at, end);
		n += is;
	}
	return n;
}

/* Determines whether the note uses thousands separators ("9,000"), for figures too short to show it. */
static void habit(struct jl_audit_note *note)
{
	size_t with = 0, without = 0;

	for (size_t i = 0; i < note->n_figures; i++) {
		const struct jl_figure *f = &note->figures[i];

		with += (f->flags & JL_FIG_COMMAS) != 0;
		without += !(f->flags & (JL_FIG_COMMAS | JL_FIG_POWER)) && f->hi >= 2200 * f->scale;
	}
	for (size_t i = 0; i < note->n_figures && with > without; i++)
		if (note->figures[i].hi < 1000 * note->figures[i].scale)
			note->figures[i].flags |= JL_FIG_COMMAS;
}

enum jl_status jl_audit_figures(struct jl_audit_note *note, struct jl_err *err)
{
	size_t n_digits = 0;

	for (size_t i = 1; i < note->len; i++)
		n_digits += is_digit(note->text[i]) && !is_digit(note->text[i - 1]);
	n_digits = n_digits + 1 > JL_AUDIT_FIGURES_MAX ? JL_AUDIT_FIGURES_MAX : n_digits + 1;
	if (!(note->figures = jl_arena_array(note->arena, n_digits, sizeof *note->figures)))
		return jl_fail_nomem(err);
	for (size_t l = 0; l < note->n_lines; l++) {
		struct jl_line *line = &note->lines[l];
		size_t n = 0;

		line->fig = (uint32_t)note->n_figures;
		if (line->kind != JL_LINE_BLANK && line->kind != JL_LINE_FENCE && line->kind != JL_LINE_RULE)
			n = line_figures(note, line, note->figures + note->n_figures,
					 n_digits - note->n_figures < UINT16_MAX ? n_digits - note->n_figures
										 : UINT16_MAX);
		for (size_t i = 0; i < n; i++)
			note->figures[note->n_figures + i].line = (uint32_t)l;
		line->n_figs = (uint16_t)n;
		note->n_figures += n;
		note->cut |= note->n_figures == JL_AUDIT_FIGURES_MAX;
	}
	habit(note);
	note->verdicts = jl_arena_alloc(note->arena, note->n_figures + 1);
	note->finding_of = jl_arena_array(note->arena, note->n_figures + 1, sizeof *note->finding_of);
	JL_TRY(jl_got(note->verdicts && note->finding_of, err));
	memset(note->verdicts, JL_AUDIT_CANNOT, note->n_figures + 1);
	return JL_OK;
}
