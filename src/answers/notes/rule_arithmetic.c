/* Checks arithmetic in the note: "38,504 × 0.9 s = 34,653 s = about 9.6 h", "1,711 hours (71 days)", "2.4 → 1.1 (2.2x)". Values carry their
 * quantity. If both sides have the same quantity, they must agree in their units or in their bare digits, which is also a common way to write;
 * otherwise nothing is reported. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "notes/inside.h"

struct value {
	double lo, hi; /* bounds, SI */
	double bare;   /* digits without units */
	signed char e[JL_N_DIM];
	int32_t first, last; /* first and last figure used */
	int n;
	bool ok, about, divided;
};

struct scan {
	const struct jl_audit_note *note;
	size_t at, end; /* remaining text */
	uint32_t fig, fig_end;
	int depth;
};

static struct value none(void)
{
	return (struct value){ .ok = false };
}

static void blanks(struct scan *s)
{
	while (s->at < s->end &&
	       (s->note->text[s->at] == ' ' || s->note->text[s->at] == '\t' || s->note->text[s->at] == '`'))
		s->at++;
}

static bool take(struct scan *s, const char *sign)
{
	const size_t n = strlen(sign);

	blanks(s);
	if (s->end - s->at < n || memcmp(s->note->text + s->at, sign, n) != 0)
		return false;
	s->at += n;
	return true;
}

static int32_t figure_here(struct scan *s)
{
	while (s->fig < s->fig_end && s->note->figures[s->fig].at + s->note->figures[s->fig].len <= s->at)
		s->fig++;
	if (s->fig < s->fig_end && s->note->figures[s->fig].at == s->at)
		return (int32_t)s->fig;
	return -1;
}

/* Skips words after a figure that are not known units ("200 cycles", "4개 GPU"), and remarks in parentheses. */
static void skip_words(struct scan *s)
{
	const char *t = s->note->text;

	for (;;) {
		blanks(s);
		if (s->at < s->end && t[s->at] == '(') {
			size_t close = s->at + 1;

			while (close < s->end && t[close] != ')' && t[close] != '(')
				close++;
			for (size_t i = s->at + 1; i < close; i++)
				if (isdigit((unsigned char)t[i]))
					return;
			if (close >= s->end || t[close] != ')')
				return;
			s->at = close + 1;
			continue;
		}
		if (s->at < s->end &&
		    ((isalpha((unsigned char)t[s->at]) &&
		      !(strchr("xX", t[s->at]) && (s->at + 1 == s->end || !isalpha((unsigned char)t[s->at + 1])))) ||
		     ((unsigned char)t[s->at] >= 0xe1 && (unsigned char)t[s->at] <= 0xed &&
		      strncmp(t + s->at, "→", 3) != 0 && strncmp(t + s->at, "≈", 3) != 0))) {
			while (s->at < s->end && (isalpha((unsigned char)t[s->at]) ||
						  ((unsigned char)t[s->at] >= 0x80 && strncmp(t + s->at, "×", 2) != 0 &&
						   strncmp(t + s->at, "→", 3) != 0 && strncmp(t + s->at, "≈", 3) != 0 &&
						   strncmp(t + s->at, "÷", 2) != 0)))
				s->at++;
			continue;
		}
		if (s->at < s->end && t[s->at] == '/' && s->at + 1 < s->end && isalpha((unsigned char)t[s->at + 1])) {
			s->at++; /* e.g. "초/batch" */
			continue;
		}
		return;
	}
}

static struct value sum(struct scan *s);

/* Parses 10**6, 2^30. */
static struct value power(struct scan *s, struct value v)
{
	static const signed char plain[JL_N_DIM] = { 0 };
	int32_t i;

	blanks(s);
	if ((i = figure_here(s)) < 0 || memcmp(v.e, plain, JL_N_DIM) != 0 || s->note->figures[i].qty != JL_Q_NUMBER ||
	    s->note->figures[i].lo > 60)
		return none();
	v.lo = v.hi = v.bare = pow(v.lo, s->note->figures[i].lo);
	v.last = i;
	v.n = 2;
	s->at = s->note->figures[i].at + s->note->figures[i].len;
	skip_words(s);
	return v;
}

static struct value factor(struct scan *s)
{
	struct value v = none();
	int32_t i;

	blanks(s);
	if (take(s, "(")) {
		if (++s->depth > 8)
			return v;
		v = sum(s);
		s->depth--;
		if (!v.ok || !take(s, ")"))
			return none();
		skip_words(s);
		return v;
	}
	while (take(s, "약") || take(s, "~") || take(s, "≈") || take(s, "about ") || take(s, "approx. "))
		v.about = true;
	blanks(s);
	if ((i = figure_here(s)) < 0)
		return none();
	v.lo = s->note->figures[i].lo;
	v.hi = s->note->figures[i].hi;
	v.bare = (v.lo + v.hi) / 2 / s->note->figures[i].scale;
	memcpy(v.e, jl_qty_dims((enum jl_qty)s->note->figures[i].qty), JL_N_DIM);
	v.first = v.last = i;
	v.n = 1;
	v.ok = true;
	s->at = s->note->figures[i].at + s->note->figures[i].len;
	if (take(s, "**") || take(s, "^"))
		return power(s, v);
	skip_words(s);
	return v;
}

static struct value joined(const struct value *a, const struct value *b)
{
	return (struct value){ .first = a->first,
			       .last = b->last,
			       .n = a->n + b->n,
			       .ok = true,
			       .about = a->about || b->about,
			       .divided = a->divided || b->divided };
}

static struct value product(struct scan *s)
{
	struct value v = factor(s);

	while (v.ok) {
		const bool by = take(s, "×") || take(s, "*") || take(s, "x") || take(s, "X") || take(s, "·");

		if (!by && !take(s, "/") && !take(s, "÷"))
			break;
		struct value f = factor(s);
		if (!f.ok || (!by && !(f.lo > 0)))
			return none();
		struct value r = joined(&v, &f);
		r.divided |= !by;
		r.lo = by ? v.lo * f.lo : v.lo / f.hi;
		r.hi = by ? v.hi * f.hi : v.hi / f.lo;
		r.bare = by ? v.bare * f.bare : v.bare / f.bare;
		for (int d = 0; d < JL_N_DIM; d++)
			r.e[d] = (signed char)(by ? v.e[d] + f.e[d] : v.e[d] - f.e[d]);
		v = r;
	}
	return v;
}

static struct value sum(struct scan *s)
{
	struct value v = product(s);

	while (v.ok) {
		const bool plus = take(s, "+");

		if (!plus && !take(s, "-") && !take(s, "−"))
			break;
		struct value f = product(s);
		if (!f.ok || memcmp(f.e, v.e, JL_N_DIM) != 0)
			return none();
		struct value r = joined(&v, &f);
		r.lo = plus ? v.lo + f.lo : v.lo - f.hi;
		r.hi = plus ? v.hi + f.hi : v.hi - f.lo;
		r.bare = plus ? v.bare + f.bare : v.bare - f.bare;
		memcpy(r.e, v.e, JL_N_DIM);
		v = r;
	}
	return v;
}

/* Relative tolerance from the digits of the inputs. */
static double input_slack(const struct jl_audit_note *note, const struct value *v)
{
	double slack = 0;

	for (int32_t i = v->first; i <= v->last && v->n > 1; i++) {
		const struct jl_figure *f = &note->figures[i];

		if (jl_fig_mid(f) > 0 && f->decimals)
			slack += jl_fig_slack(f) / jl_fig_mid(f);
	}
	return fmin(slack, 0.1);
}

static bool agrees(double lo, double hi, double want_lo, double want_hi, double slack)
{
	return lo <= want_hi + slack && hi >= want_lo - slack;
}

static void judge_inputs(struct jl_audit_note *note, const struct value *v)
{
	for (int32_t i = v->first; i <= v->last; i++)
		jl_audit_judge(note, i, JL_AUDIT_GIVEN);
}

/* "6 × 365 = 2,910 hours": true if bare numbers whose product got a unit are off by a typing error, not by a factor between units. */
static bool counted_slip(const struct jl_audit_note *note, struct value *left, const struct jl_figure *f)
{
	static const double factors[] = { 7, 8, 12, 24, 30, 60, 365, 1000, 1024, 3600, 86400, 1e6, 1e9 };
	const double ratio = left->bare / (jl_fig_mid(f) / f->scale), up = ratio > 1 ? ratio : 1 / ratio;

	for (int32_t i = left->first; i <= left->last; i++) {
		const uint8_t q = note->figures[i].qty;

		/* "19.5 h × $3.20 = $62.40": dollars per hour */
		if (q != JL_Q_NUMBER && q != JL_Q_COUNT &&
		    !((f->qty == JL_Q_USD || f->qty == JL_Q_KRW) &&
		      (q == JL_Q_TIME || q == JL_Q_GPU_TIME || q == JL_Q_ENERGY || q == f->qty)))
			return false;
	}
	for (size_t i = 0; i < JL_LEN(factors); i++)
		if (fabs(up / factors[i] - 1) < 0.03)
			return false;
	if (left->n < 2 || up > 15)
		return false;
	left->lo = left->hi = left->bare * f->scale;
	return true;
}

/* "32x32=64", "64+32=64": instruction widths rather than arithmetic; small powers of two without spaces whose result is the wider one or both. */
static bool is_notation(const struct jl_audit_note *note, const struct value *left, const struct jl_figure *f,
			uint32_t from, uint32_t to)
{
	const struct jl_figure *a = &note->figures[left->first], *b = &note->figures[left->last];

	return left->n == 2 && left->last == left->first + 1 && a->qty == JL_Q_NUMBER && b->qty == JL_Q_NUMBER &&
	       f->qty == JL_Q_NUMBER && f->lo <= 1024 && !memchr(note->text + from, ' ', to - from) &&
	       (f->lo == a->lo + b->lo || f->lo == fmax(a->lo, b->lo)) && exp2(round(log2(a->lo))) == a->lo &&
	       exp2(round(log2(b->lo))) == b->lo;
}

static bool is_count(const struct jl_figure *f)
{
	return (f->qty == JL_Q_NUMBER || f->qty == JL_Q_COUNT || f->qty == JL_Q_KRW || f->qty == JL_Q_USD) &&
	       !f->decimals && f->lo == f->hi && !(f->flags & JL_FIG_ABOUT);
}

/* True if products and sums of integers must match exactly: 8 × 4 is not about 33. */
static bool is_exact(const struct jl_audit_note *note, const struct value *left, const struct jl_figure *f)
{
	const double last = left->lo / f->digit;
	bool exact = left->n > 1 && !left->divided && !left->about && is_count(f) &&
		     fabs(last - round(last)) < 1e-9 * fabs(last);

	for (int32_t i = left->first; exact && i <= left->last; i++)
		exact = is_count(&note->figures[i]);
	return exact;
}

/* Replaces a single figure known to be wrong by its correction; a result that agrees with the wrong value is a consequence. */
static int32_t set_right(const struct jl_audit_note *note, struct value *left, const struct jl_figure *f)
{
	const int32_t root = left->n == 1 ? jl_finding_of(note, left->first) : -1;

	if (root < 0 || !*note->findings[root].premises || note->findings[root].verdict != JL_AUDIT_WRONG)
		return -1;
	const double was = (left->lo + left->hi) / 2, should = jl_finding_value(note, left->first);
	left->lo *= should / was;
	left->hi *= should / was;
	left->bare *= should / was;
	return fabs(jl_fig_mid(f) - was) <= f->digit ? root : -1;
}

/* True if inputs with decimals are exact in this note (most results match to the last digit) and only a typing error separates this one. */
static bool breaks_habit(struct jl_audit_note *note, const struct value *left, const struct jl_figure *f, double off,
			 bool counting)
{
	const double open = fabs(jl_fig_mid(f)) * input_slack(note, left);

	if (left->n < 2 || left->about || f->flags & JL_FIG_ABOUT || open < 4 * f->digit || f->hi > f->lo)
		return false;
	if (counting)
		*(fabs(off) <= 1.01 * f->digit ? &note->n_exact : &note->n_open) += 1;
	return note->n_exact >= 3 && note->n_open <= 1 && fabs(off) > 4 * f->digit &&
	       jl_fig_slip(note, f, jl_fig_mid(f) + off) == 2;
}

/* Compares the computed value `left` with the written result `fig`. */
static void equal(struct jl_audit_note *note, struct value *left, int32_t fig, uint32_t from, uint32_t to,
		  bool counting)
{
	const struct jl_figure *f = &note->figures[fig];
	const int32_t root = set_right(note, left, f);
	bool same, bare, range;
	char text[JL_SHOULD_MAX];

	double slack = f->digit * 1.01 + fabs(jl_fig_mid(f)) * (input_slack(note, left) + 1e-9);
	if (is_exact(note, left, f))
		slack = 1e-9 * jl_fig_mid(f);
	double bare_slack = slack / f->scale;
	if (f->flags & (JL_FIG_LEAST | JL_FIG_MOST) || f->lo <= 0)
		return;
	same = memcmp(jl_qty_dims((enum jl_qty)f->qty), left->e, JL_N_DIM) == 0;
	bare = fabs(left->bare - jl_fig_mid(f) / f->scale) <= bare_slack + (f->hi - f->lo) / 2 / f->scale;
	const double off = same ? (left->lo + left->hi) / 2 - jl_fig_mid(f) : left->bare * f->scale - jl_fig_mid(f);
	const bool strict = breaks_habit(note, left, f, off, counting);
	if (counting)
		return;
	/* equal digits with different units are a wrong unit, except for sums of GB and GiB */
	bare &= left->n > 1 || note->figures[left->first].qty != JL_Q_BYTES;
	if (!strict && ((same && agrees(left->lo, left->hi, f->lo, f->hi, slack)) ||
			(bare && (!same || fabs(log((left->lo + left->hi) / 2 / jl_fig_mid(f))) < 0.11)))) {
		jl_audit_judge(note, fig, JL_AUDIT_CONFIRMED);
		judge_inputs(note, left);
		return;
	}
	if (left->lo <= 0 || (!same && !counted_slip(note, left, f)) || is_notation(note, left, f, from, to))
		return;
	struct jl_audit_finding *said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "arithmetic", fig);
	if (!said)
		return;
	said->root = root;
	judge_inputs(note, left);
	jl_fig_text(text, note, f, (left->lo + left->hi) / 2, 0);
	range = false;
	for (int32_t i = left->first; i <= left->last; i++)
		range |= (note->figures[i].flags & JL_FIG_RANGE) != 0;
	if (range)
		jl_fig_range_text(text, note, f, left->lo, left->hi);
	memcpy(said->premises, text, sizeof text);
	jl_fig_digits(said->fix, f, (left->lo + left->hi) / 2, 0);
	if (range)
		said->fix[0] = '\0';
	while (to > from && note->text[to - 1] == ' ')
		to--;
	jl_audit_finding_explain(said, "%.150s gives %s", jl_audit_quote(note, from, to - from), text);
}

static bool line_has_count_before(const struct jl_audit_note *note, const struct jl_line *line, int32_t fig,
				  size_t from)
{
	return (uint32_t)fig > line->fig && note->figures[fig - 1].at >= from &&
	       note->figures[fig].at - note->figures[fig - 1].at < 24;
}

/* True if the expression is complete: nothing precedes it, and a single figure has no word before the equals sign ("13.4 s min=12.5 s"). */
static bool whole(const struct jl_audit_note *note, const struct jl_line *line, const struct value *v, size_t from,
		  size_t sign)
{
	const struct jl_figure *first = &note->figures[v->first], *last = &note->figures[v->last];
	size_t at = first->at;

	while (at > line->at && strchr(" (~$", note->text[at - 1]))
		at--;
	if (at > line->at && strchr("*/+^x", note->text[at - 1]))
		return false;
	if (at > line->at + 1 && (memcmp(note->text + at - 2, "×", 2) == 0 || memcmp(note->text + at - 2, "·", 2) == 0))
		return false;
	for (size_t i = last->at + last->len; v->n == 1 && i < sign; i++)
		if (note->text[i] != ' ')
			return false;
	/* "18 links at 53 GB/s = 956 GB/s": a preceding count */
	return v->n > 1 || !line_has_count_before(note, line, v->first, from);
}

#define LEFT_MAX 300

/* The left side of an "=": the longest expression that ends there. */
static struct value left_side(const struct jl_audit_note *note, const struct jl_line *line, size_t sign, size_t from,
			      uint32_t *first, uint32_t *ret_from)
{
	while (*first < line->fig + line->n_figs &&
	       (note->figures[*first].at < from || note->figures[*first].at + LEFT_MAX < sign))
		++*first;
	for (uint32_t i = *first; i < line->fig + line->n_figs; i++) {
		struct scan s = { .note = note, .end = sign, .fig = i, .fig_end = line->fig + line->n_figs };
		size_t at = note->figures[i].at;

		if (at >= sign)
			break;
		while (at > from && (note->text[at - 1] == '(' || note->text[at - 1] == ' ') &&
		       memchr(note->text + at, ')', sign - at))
			at--;
		s.at = at;
		struct value v = sum(&s);
		blanks(&s);
		if (!v.ok || s.at != sign) {
			s = (struct scan){ .note = note,
					   .at = note->figures[i].at,
					   .end = sign,
					   .fig = i,
					   .fig_end = line->fig + line->n_figs };
			v = sum(&s);
			blanks(&s);
		}
		if (v.ok && s.at == sign && whole(note, line, &v, from, sign)) {
			*ret_from = note->figures[v.first].at;
			if (*ret_from > from && note->text[*ret_from - 1] == '(' && note->text[at] == '(')
				--*ret_from;
			return v;
		}
	}
	return none();
}

/* Length of the word or sign that introduces a result; 0: none. Words and arrows count only after an expression. */
static size_t is_equals(const char *t, size_t at, size_t end, bool code, bool *ret_is_word)
{
	static const char *const words[] = { "→",        "≈",          "≒",   " is ", " makes ", " gives ",
					     " equals ", " comes to ", "은 ", "는 ",  "이면 ",   "이므로 " };

	*ret_is_word = false;
	if (t[at] == '=')
		return !(at + 1 < end && t[at + 1] == '=') && !(at && strchr("=<>!+-*/:", t[at - 1]));
	*ret_is_word = true;
	if (code && at + 2 < end && (t[at] == '#' || memcmp(t + at, "//", 2) == 0) && at && t[at - 1] == ' ')
		return t[at] == '#' ? 1 : 2; /* e.g. "256 * 2.5 # 640" */
	if (t[at] != ' ' && (unsigned char)t[at] < 0xe2)
		return 0;
	for (size_t i = 0; i < JL_LEN(words); i++)
		if (words[i][0] == t[at] && end - at > strlen(words[i]) &&
		    memcmp(t + at, words[i], strlen(words[i])) == 0)
			return strlen(words[i]);
	return 0;
}

static bool has_operator(const char *t, size_t len)
{
	return memchr(t, '*', len) || memchr(t, '/', len) || memmem(t, len, " x ", 3) || memmem(t, len, "×", 2) ||
	       memmem(t, len, "÷", 2) || memmem(t, len, " + ", 3);
}

static void line_equations(struct jl_audit_note *note, const struct jl_line *line, bool counting)
{
	const size_t end = line->at + line->len;
	size_t from = line->at, n;
	uint32_t first = line->fig;

	const bool computes = has_operator(note->text + line->at, line->len);

	for (size_t at = line->at; at < end; at++) {
		uint32_t left_at = 0;
		bool word = false;

		if (note->text[at] != '=' && !computes)
			continue;
		if (!(n = is_equals(note->text, at, end, line->kind == JL_LINE_CODE, &word)))
			continue;
		uint32_t start = first;
		struct value left = left_side(note, line, at, from, &start, &left_at);
		struct scan s = (struct scan){
			.note = note, .at = at + n, .end = end, .fig = line->fig, .fig_end = line->fig + line->n_figs
		};
		if (word && left.n < 2)
			continue; /* e.g. "31 s → 12 s": not arithmetic */
		first = start;
		while (word && (take(&s, "총") || take(&s, "약") || take(&s, "about ") || take(&s, "a total of ")))
			;
		struct value right = sum(&s);
		/* a comment may be about something else */
		if (strchr("#/", note->text[at]) && right.ok &&
		    (s.at != end || fabs(log(left.bare / right.bare)) > 0.5))
			continue;
		if (left.ok && right.ok && right.n == 1 &&
		    (left.n > 1 || note->figures[left.first].qty == note->figures[right.first].qty) &&
		    !(left.n == 1 && note->figures[left.first].qty <= JL_Q_RATIO))
			equal(note, &left, right.first, left_at, (uint32_t)at, counting);
		from = at + n;
	}
}

/* True if the text between two figures says that the second restates the first in another unit. `ret_closed`: it opens a parenthesis, which may
 * contain nothing else. */
static bool is_restated(const char *t, size_t len, bool *ret_closed)
{
	static const char words[] = "are|is|or|i.e.|equals|즉|은|는|이고|=|≈";
	size_t at = 0, end = len;

	while (at < end && strchr(" ,", t[at]))
		at++;
	*ret_closed = at < end && t[at] == '(';
	at += *ret_closed;
	for (;;) {
		while (end > at && strchr(" ~=", t[end - 1]))
			end--;
		if (end < at + 3 || memcmp(t + end - 3, "약", 3) != 0)
			break;
		end -= 3;
	}
	if (end > at + 5 && memcmp(t + end - 5, "about", 5) == 0)
		end -= 6;
	return *ret_closed ? end == at : end > at && jl_words_begin(t + at, end - at, words, true);
}

/* Checks restatements in another unit: "1,711시간 (71일)", "5.67 h (5 h 40 min)", "208 GB are 193.7 GiB". */
static void line_conversions(struct jl_audit_note *note, const struct jl_line *line)
{
	for (uint32_t i = line->fig; i + 1 < line->fig + line->n_figs; i++) {
		const struct jl_figure *a = &note->figures[i], *b = &note->figures[i + 1];
		const char *t = note->text;
		size_t at = a->at + a->len, end = line->at + line->len;
		struct value v = { .lo = a->lo,
				   .hi = a->hi,
				   .bare = NAN,
				   .first = (int32_t)i,
				   .last = (int32_t)i,
				   .n = 1,
				   .ok = true };
		bool closed;

		if (a->qty != b->qty || a->scale == b->scale || a->qty == JL_Q_NUMBER || a->qty == JL_Q_PARAMS ||
		    b->at < at || !is_restated(t + at, b->at - at, &closed))
			continue;
		for (at = b->at + b->len; at < end && t[at] == ' '; at++)
			;
		if (closed && (at >= end || t[at] != ')'))
			continue;
		memcpy(v.e, jl_qty_dims((enum jl_qty)a->qty), JL_N_DIM);
		v.lo -= jl_fig_slack(a);
		v.hi += jl_fig_slack(a);
		/* months are often counted as 30 days, and 45 days as "1.5 months" */
		if (b->qty == JL_Q_TIME && b->scale > 20 * 86400.0) {
			v.lo *= 0.9;
			v.hi *= 1.1;
		}
		equal(note, &v, (int32_t)i + 1, a->at, a->at + a->len, false);
	}
}

#define HABIT_LINES 2000 /* lines examined to learn the note's habits */

void jl_rule_arithmetic(struct jl_audit_note *note)
{
	for (size_t l = 0; l < note->n_lines && l < HABIT_LINES; l++)
		if (note->lines[l].n_figs >= 3 && note->lines[l].len <= JL_AUDIT_LINE_MAX &&
		    note->n_exact + note->n_open < 40)
			line_equations(note, &note->lines[l], true);
	for (size_t l = 0; l < note->n_lines; l++) {
		const struct jl_line *line = &note->lines[l];

		if (line->n_figs >= 2 && line->len > JL_AUDIT_LINE_MAX && line->kind != JL_LINE_ROW)
			jl_audit_too_long(note, line->at);
		if (line->n_figs < 2 || line->len > JL_AUDIT_LINE_MAX)
			continue;
		line_equations(note, line, false);
		line_conversions(note, line);
	}
}
