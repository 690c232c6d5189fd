/* Checks changes stated next to both values: "29.3 s → 14.1 s (2.1x)", "from 2.4 d to 5.3 d, 2.2x slower", "120 ms에서 90 ms로 25 % 감소"; also money
 * per day, month and year for the same thing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "notes/inside.h"

#define DAY   86400.0
#define MONTH (DAY * 365 / 12)
#define YEAR  (DAY * 365)

struct change {
	double a, b, rel; /* the two values; relative tolerance from their digits */
	int32_t r;        /* index of the figure that states the change */
	const struct jl_figure *first, *last;
	bool sure; /* "from ... to": unambiguous */
	bool bare; /* a bare ratio: no word such as "more" */
	int way;   /* stated direction: 1 more, -1 less, so not a share of the first value; 0: none */
};

/* Possible readings of a change: factor, share, relative or absolute difference. The first is offered as the correction. */
static bool follows(const struct change *c, const struct jl_figure *r, double *ret_want)
{
	const double up = c->b / c->a, wants[2][4] = { { up > 1 ? up : 1 / up, up, 1 / up, fabs(up - 1) },
						       { fabs(up - 1), up, fabs(1 / up - 1), 1 / up } };

	const bool percent = r->qty == JL_Q_PERCENT;

	*ret_want = wants[percent][0];
	for (size_t i = 0; i < 4; i++) {
		/* "25 % less" is not a share; "30 % more work" while the time fell refers to the other value */
		if (percent && c->way && i > 0 && (i != 2 || (c->way > 0) == (up > 1)))
			continue;
		if (!percent && c->bare && i == 3)
			continue;
		/* rounded, or truncated: 3.9 may be "3x", but 3.0 is not "4x" */
		const double want = wants[percent][i], open = c->rel * fmax(want, percent),
			     less = r->digit * (r->flags & JL_FIG_ABOUT ? 1.01 : 0.51);

		if (want <= r->hi + r->digit * 1.01 + open && want >= r->lo - less - open)
			return true;
		/* e.g. "over 2x", "up to 3x" */
		if ((r->flags & JL_FIG_LEAST && want > r->lo) || (r->flags & JL_FIG_MOST && want < r->hi))
			return true;
	}
	return false;
}

static void judge(struct jl_audit_note *note, const struct change *c)
{
	const struct jl_figure *r = &note->figures[c->r];
	struct jl_audit_finding *said;
	double want;

	if (note->verdicts[c->r] <= JL_AUDIT_UNLIKELY || !(c->a > 0) || !(c->b > 0) || !(r->lo > 0))
		return;
	if (follows(c, r, &want)) {
		jl_audit_judge(note, c->r, JL_AUDIT_CONFIRMED);
		return;
	}
	/* if far off, the sentence may be about something else */
	if (!c->sure && fabs(log(want / jl_fig_mid(r))) > 0.45)
		return;
	if (!(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "arithmetic", c->r)))
		return;
	jl_fig_text(said->premises, note, r, want, 0);
	jl_fig_digits(said->fix, r, want, 0);
	if (c->first == c->last)
		jl_audit_finding_explain(said, "%.150s gives %s", JL_QUOTE(note, c->first), said->premises);
	else
		jl_audit_finding_explain(said, "from %s to %s is %s", JL_QUOTE(note, c->first), JL_QUOTE(note, c->last),
					 said->premises);
}

static bool has(const struct jl_audit_note *note, uint32_t from, uint32_t to, const char *words)
{
	return from < to && jl_span_has(note->text + from, to - from, words);
}

static bool arrow(const char *t, size_t n)
{
	return memmem(t, n, "→", 3) || memmem(t, n, "->", 2) || memmem(t, n, "=>", 2);
}

static bool full_stop(const struct jl_audit_note *note, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i + 1 < to; i++)
		if ((note->text[i] == '.' && note->text[i + 1] == ' ') || strchr(";|", note->text[i]))
			return true;
	return false;
}

static const char compares[] = "faster|slower|빠|빨|느|higher|lower|more|less|감소|증가|reduction|increase|increased|"
			       "decrease|reduced|improvement|improved|절감|단축|향상|개선|speedup|speed-up|gain|drop|"
			       "smaller|larger|cheaper|저렴|savings|높|낮|늘|줄";

/* True if a percentage is in points, or (with "of") of something else. */
static bool other_share(const struct jl_audit_note *note, uint32_t at, uint32_t end)
{
	return has(note, at, end < at + 24 ? end : at + 24,
		   "p|pp|%p|points|point|포인트|of|utilization|확률|정확도|accuracy");
}

/* How two values are joined: 2: by words, 1: adjacent, 0: not. */
static int joined(const struct jl_audit_note *note, const struct jl_line *line, const struct jl_figure *a,
		  const struct jl_figure *b)
{
	const uint32_t end = a->at + a->len, n = b->at - end, before = a->at > line->at + 8 ? a->at - 8 : line->at;
	const char *t = note->text + end;

	if (n > 48 || full_stop(note, end, b->at))
		return 0;
	if (n <= 12 && arrow(t, n))
		return 2;
	if (has(note, before, a->at, "from") && n < 12 && has(note, end, b->at, "to"))
		return 2;
	if (n >= 6 && memcmp(t, "에서", 6) == 0)
		return 2;
	return has(note, end, b->at, "vs|versus|against|instead of|compared|대비|대신|보다|인데|반면|이고|,") ||
			       memchr(t, ',', n)
		       ? 1
		       : 0;
}

/* Direction of a change by sign or word. "To 25 %" and "25 %로" state the remainder. */
static int way_of(const struct jl_audit_note *note, const struct jl_line *line, const struct jl_figure *r,
		  uint32_t from, uint32_t near)
{
	static const char fell[] = "감소|reduction|reduced|절감|단축|줄|lower|drop|dropped|less|cheaper|decrease|"
				   "decreased|saving|savings|saved|fewer|smaller",
			  grew[] = "증가|increase|increased|늘|more|larger";
	const char *t = note->text;
	const uint32_t end = r->at + r->len, to = r->at >= line->at + 3 ? r->at - 3 : line->at;

	if (memcmp(t + to, "to ", 3) == 0 || has(note, to > 6 ? to - 6 : 0, r->at, "to about|to just|to only") ||
	    (near >= end + 3 && memcmp(t + end, "로", 3) == 0) ||
	    (near >= end + 6 && memcmp(t + end, "까지", 6) == 0) || has(note, end, near, "수준"))
		return 0;
	if (r->at > line->at && t[r->at - 1] == '+')
		return 1;
	if ((r->at > line->at && t[r->at - 1] == '-') || memcmp(t + to, "−", 3) == 0 || memcmp(t + to, "–", 3) == 0)
		return -1;
	/* the nearest word decides, first after the figure, then before */
	for (uint32_t at = end, stop = near;; at = from, stop = r->at) {
		if (has(note, at, stop, fell))
			return -1;
		if (has(note, at, stop, grew))
			return 1;
		if (at == from)
			return 0;
	}
}

/* Checks a change stated after both values, once or twice ("1.25x faster and 20 % less"). */
static void judge_said(struct jl_audit_note *note, const struct jl_line *line, struct change *c, int how)
{
	const uint32_t stop = line->at + line->len, bend = c->last->at + c->last->len;
	uint32_t from = bend;

	for (int i = 0; i < 2 && (uint32_t)c->r < line->fig + line->n_figs; i++, c->r++) {
		const struct jl_figure *r = &note->figures[c->r];
		const uint32_t rend = r->at + r->len, near = stop < rend + 30 ? stop : rend + 30;

		if ((r->qty != JL_Q_RATIO && r->qty != JL_Q_PERCENT) || r->at - from > (how == 2 ? 30 : 16) ||
		    full_stop(note, from, r->at) || other_share(note, rend, stop))
			return;
		/* "from 640 to 3,328 tokens/s, 5.2x": needs no words */
		const bool right_there = i == 0 && r->qty == JL_Q_RATIO && r->at - from <= 4;
		if (!(how == 2 && memchr(note->text + from, '(', r->at - from)) && !right_there &&
		    !has(note, rend, near, compares))
			return;
		if (how == 1 && right_there && !has(note, rend, near, compares) &&
		    jl_fig_slip(note, r, fmax(c->b / c->a, c->a / c->b)) != 2)
			return;
		c->bare = !has(note, from, near, compares);
		c->way = way_of(note, line, r, from, near);
		judge(note, c);
		from = rend;
	}
}

static void line_changes(struct jl_audit_note *note, const struct jl_line *line)
{
	for (uint32_t i = line->fig; i + 1 < line->fig + line->n_figs; i++) {
		const struct jl_figure *a = &note->figures[i], *b = a;
		const bool range = (a->flags & JL_FIG_RANGE) != 0;
		struct change c = { .a = a->lo, .b = a->hi, .r = (int32_t)i + 1 + !range, .first = a };
		int how = 2;

		if ((uint32_t)c.r >= line->fig + line->n_figs ||
		    (note->figures[c.r].qty != JL_Q_RATIO && note->figures[c.r].qty != JL_Q_PERCENT))
			continue;
		if (range) { /* "from 2.4 d to 5.3 d" was parsed as one range */
			const uint32_t before = a->at > line->at + 8 ? a->at - 8 : line->at;

			if (!has(note, before, a->at, "from"))
				continue;
		} else {
			b = a + 1;
			c.b = jl_fig_mid(b);
			how = joined(note, line, a, b);
			if (how == 2 && a->qty == JL_Q_NUMBER && a->scale == 1)
				c.a *= b->scale; /* e.g. "from 31.2 to 57.7 samples/s" */
			else if (a->qty != b->qty)
				continue;
			if (b->flags & JL_FIG_RANGE || !how)
				continue;
		}
		if (b->qty == JL_Q_PERCENT || b->qty == JL_Q_RATIO)
			continue;
		c.rel = jl_fig_slack(a) / jl_fig_mid(a) + jl_fig_slack(b) / c.b;
		c.sure = how == 2;
		c.last = b;
		judge_said(note, line, &c, how);
	}
}

/* Three list items: "DGX: 5.67 h", "one card: 9.6 h", "difference: 1.7x". */
static void list_changes(struct jl_audit_note *note, size_t l)
{
	const struct jl_figure *f[3];

	for (size_t i = 0; i < 3; i++) {
		const struct jl_line *line = &note->lines[l + i];

		if (line->n_figs != 1 || line->kind == JL_LINE_ROW || line->kind == JL_LINE_HEAD || line->len > 120 ||
		    !memchr(note->text + line->at, ':', line->len))
			return;
		f[i] = &note->figures[line->fig];
	}
	if (f[0]->qty != f[1]->qty || f[0]->qty == JL_Q_NUMBER || f[0]->qty == JL_Q_PERCENT ||
	    f[2]->qty != JL_Q_RATIO || (f[0]->flags | f[1]->flags) & JL_FIG_RANGE ||
	    !JL_PART_HAS(note, &note->lines[l + 2], "차이|difference|speedup|speed-up|ratio|배율|비율|향상"))
		return;
	judge(note,
	      &(struct change){ .a = jl_fig_mid(f[0]),
				.b = jl_fig_mid(f[1]),
				.rel = jl_fig_slack(f[0]) / jl_fig_mid(f[0]) + jl_fig_slack(f[1]) / jl_fig_mid(f[1]),
				.r = (int32_t)note->lines[l + 2].fig,
				.first = f[0],
				.last = f[1] });
}

/* --- money per time span */

static double span_of(const struct jl_audit_note *note, const struct jl_line *line, const struct jl_figure *f)
{
	static const struct {
		double s;
		const char *behind, *before;
	} spans[] = { { DAY, "a day|per day|/day|daily|/일", "하루|매일|일|daily" },
		      { MONTH, "a month|per month|/month|/mo|monthly|/월|월", "한 달|매월|월|월간|monthly" },
		      { YEAR, "a year|per year|/year|/yr|yearly|annually|/년|연", "1년|일 년|매년|연|연간|yearly" } };
	const uint32_t end = f->at + f->len, stop = line->at + line->len;

	for (size_t i = 0; i < JL_LEN(spans); i++)
		for (const char *w = spans[i].behind; *w;) {
			const size_t n = jl_word_len(w), blank = end < stop && note->text[end] == ' ';

			if (end + blank + n <= stop && strncmp(note->text + end + blank, w, n) == 0)
				return spans[i].s;
			w += n + (w[n] == '|');
		}
	for (size_t i = 0; i < JL_LEN(spans); i++)
		for (const char *w = spans[i].before; *w;) {
			const size_t n = jl_word_len(w);
			uint32_t at = f->at;

			while (at > line->at && strchr(" ~$", note->text[at - 1]))
				at--;
			/* e.g. "월 1,350 × 152 = 205,200원" */
			while (at > line->at && f->at > line->at + 2 && memchr("= ", note->text[f->at - 2], 1) &&
			       (strchr(" 0123456789,.*/+=x()$", note->text[at - 1]) ||
				strchr("\xc3\x97\xb7", note->text[at - 1])))
				at--;
			if (at >= line->at + 4 && memcmp(note->text + at - 3, "약", 3) == 0)
				at -= note->text[at - 4] == ' ' ? 4 : 3;
			if (at >= line->at + n && strncmp(note->text + at - n, w, n) == 0)
				return spans[i].s;
			w += n + (w[n] == '|');
		}
	return NAN;
}

/* "$120 a month, $1,440 a year": the later one follows from the earlier, for any number of days per month. */
static void line_spans(struct jl_audit_note *note, const struct jl_line *line)
{
	for (uint32_t i = line->fig; i + 1 < line->fig + line->n_figs; i++) {
		const struct jl_figure *a = &note->figures[i], *b = a + 1;
		double from, to;
		char factor[24];

		if (a->qty != b->qty || (a->qty != JL_Q_USD && a->qty != JL_Q_KRW && a->qty != JL_Q_ENERGY) ||
		    (a->flags | b->flags) & JL_FIG_OPEN || b->at - a->at > 60 || full_stop(note, a->at, b->at) ||
		    note->verdicts[i + 1] <= JL_AUDIT_UNLIKELY)
			continue;
		from = span_of(note, line, a);
		to = span_of(note, line, b);
		if (isnan(from) || isnan(to) || from == to)
			continue;
		const double known = jl_finding_value(note, (int32_t)i), want = known * to / from,
			     slack = b->digit + a->digit * to / from,
			     days = from == DAY || to == DAY ? 0.09 : 0.001; /* 28 to 31 days, 250 working days */
		if (fabs(b->lo - want) <= slack + days * want) {
			jl_audit_judge(note, (int32_t)i + 1, JL_AUDIT_CONFIRMED);
			continue;
		}
		/* either may be wrong: blames the one explained by a typing error; otherwise corrects neither */
		const bool sure = jl_finding_of(note, (int32_t)i) >= 0 || note->verdicts[i] == JL_AUDIT_CONFIRMED;
		const int first = sure ? 0 : jl_fig_slip(note, a, b->lo * from / to), then = jl_fig_slip(note, b, want);
		const struct jl_figure *is = first == 2 && !then ? a : b, *other = is == a ? b : a;
		if (fabs(log(b->lo / want)) > 0.5 || (days > 0.01 && fabs(log(b->lo / want)) > 0.3))
			continue;
		snprintf(factor, sizeof factor, "%.3g", is == b ? to / from : from / to);
		jl_finding_gives(note, is, is == b ? want : b->lo * from / to, is == a || sure || (then == 2 && !first),
				 factor, "×", JL_QUOTE(note, other));
	}
}

/* --- shares of a named whole */

static bool is_gap(const struct jl_audit_note *note, const struct jl_figure *a, const struct jl_figure *b,
		   const char *gaps)
{
	const uint32_t at = a->at + a->len;

	return b->at >= at && jl_words_begin(note->text + at, b->at - at, gaps, true);
}

/* "405 GB/s, 90 % of the 450 GB/s", "10,692 of 23,360 hours, 45.8 %", "141 GB로 H100(80 GB)의 1.76배": r is the share of a in b. Errors are
 * reported only if a typing error explains them. */
static void line_shares(struct jl_audit_note *note, uint32_t i)
{
	const struct jl_figure *f = &note->figures[i], *a = f, *b = f + 1, *r = f + 2;
	const uint32_t end = r->at + r->len;
	bool sure = true;

	if (f[1].qty != JL_Q_PERCENT && f[2].qty != JL_Q_PERCENT && f[2].qty != JL_Q_RATIO)
		return;
	if (is_gap(note, f + 1, f + 2, " of the | of | of its | of an ") &&
	    is_gap(note, f, f + 1, ", | (| is | are |, or ")) {
		r = f + 1;
		b = f + 2;
	} else if (is_gap(note, b, r, "의 |)의 |의 약 |)의 약 ")) {
		sure = false;
	} else if (!is_gap(note, a, b, " of | of the | out of ") || r->at - b->at > 40 ||
		   !strchr(",(", note->text[r->at - 1 - (note->text[r->at - 1] == ' ')]) || note->text[end] == ' ') {
		return;
	}
	if ((r->qty != JL_Q_PERCENT && (r->qty != JL_Q_RATIO || sure)) || b->qty == JL_Q_PERCENT ||
	    b->qty == JL_Q_RATIO || (a->qty != b->qty && !(a->qty == JL_Q_NUMBER && b->qty != JL_Q_BYTES)) ||
	    full_stop(note, f->at, f[2].at) || b->at - a->at > 60 || (a->flags | b->flags | r->flags) & JL_FIG_OPEN ||
	    note->verdicts[r - note->figures] != JL_AUDIT_CANNOT || !(a->lo > 0) || !(b->lo > 0))
		return;
	const double part = a->qty == b->qty ? a->lo : a->lo * b->scale, want = part / b->lo,
		     slack = r->digit + want * (jl_fig_slack(a) / a->lo + jl_fig_slack(b) / b->lo);
	if (fabs(want - r->lo) <= slack * 1.01) {
		jl_audit_judge(note, (int32_t)(r - note->figures), JL_AUDIT_CONFIRMED);
		return;
	}
	if (fabs(log(want / r->lo)) < 0.45 && (sure || jl_fig_slip(note, r, want) == 2))
		jl_finding_gives(note, r, want, jl_fig_slip(note, r, want), JL_QUOTE(note, a), "÷", JL_QUOTE(note, b));
}

/* "1,000만원의 15 %는 150만원", "15 % of $1,000 is $150", "$440.32 with a 60 % discount is $176.13": a share of a whole, or the remainder. */
static void line_parts(struct jl_audit_note *note, const struct jl_line *line, uint32_t i)
{
	const struct jl_figure *f = &note->figures[i], *part = f + 2, *share = f->qty == JL_Q_PERCENT ? f : f + 1,
			       *whole = share == f ? f + 1 : f;
	const char *t = note->text;
	const uint32_t first = f->at + f->len, second = f[1].at + f[1].len, gap = part->at - second;

	if (share->qty != JL_Q_PERCENT || whole->qty != part->qty || part->qty == JL_Q_PERCENT ||
	    part->qty == JL_Q_RATIO || part->qty == JL_Q_COUNT || part->qty == JL_Q_GENERATION ||
	    part->qty == JL_Q_PARAMS || (f->flags | f[1].flags | part->flags) & JL_FIG_OPEN || gap > 24 || !gap ||
	    share->lo > 1 || !(whole->lo > 0) || note->verdicts[i + 2] != JL_AUDIT_CANNOT ||
	    (f->at > line->at + 2 && (strchr("*/+=x", t[f->at - 2]) || memcmp(t + f->at - 2, "\x97 ", 2) == 0)))
		return;
	const bool off = jl_span_has(t + first, part->at - first, "discount|off|할인|인하"),
		   says = jl_words_begin(t + second, gap, "=| =| is | are | comes to | makes | it is |는 |은 |% 는 ",
					 false),
		   leaves = off &&
			    (jl_words_begin(t + second, gap, "=| =", false) ||
			     jl_span_has(t + second, gap, "하면|받으면|적용하면|적용 시|it is|costs|leaves|price"));
	if (off ? !leaves || f[1].at - first > 24
		: !says || !(share == f ? jl_words_begin(t + first, f[1].at - first, " of | of the ", true)
					: jl_words_begin(t + first, f[1].at - first, "의 |의 약 ", true)))
		return;
	const double want = whole->lo * (off ? 1 - share->lo : share->lo),
		     slack = part->digit * 1.01 + whole->lo * share->digit +
			     (whole->decimals ? want * jl_fig_slack(whole) / whole->lo : 0);
	char change[JL_SHOULD_MAX];
	if (fabs(want - part->lo) <= slack) {
		jl_audit_judge(note, (int32_t)i + 2, JL_AUDIT_CONFIRMED);
		return;
	}
	snprintf(change, sizeof change, "(100 %% − %.40s)", JL_QUOTE(note, share));
	jl_finding_gives(note, part, want, true, JL_QUOTE(note, whole), "×", off ? change : JL_QUOTE(note, share));
}

/* --- products of two figures by their units */

static const struct {
	uint8_t a, b, out; /* JL_N_Q: a count, and an amount each */
	int eb;
	const char *words; /* words required in `a`, or between a and b */
} defined[] = {
	{ JL_Q_COUNT, JL_Q_TIME, JL_Q_GPU_TIME, 1, "GPU|GPUs|장|대|nodes|노드" },
	{ JL_Q_POWER, JL_Q_TIME, JL_Q_ENERGY, 1, "" },
	{ JL_Q_BYTES, JL_Q_BYTE_RATE, JL_Q_TIME, -1, "" },
	{ JL_N_Q, JL_N_Q, JL_N_Q, 1, "of|at|씩|짜리|당" }, /* e.g. "12 checkpoints of 182 GB take 2.18 TB" */
};

static bool is_each(const struct jl_figure *a, const struct jl_figure *b, const struct jl_figure *out)
{
	return (a->qty == JL_Q_NUMBER || a->qty == JL_Q_COUNT || a->qty == JL_Q_GPU_TIME) && b->qty == out->qty &&
	       (b->qty == JL_Q_BYTES || b->qty == JL_Q_POWER || b->qty == JL_Q_USD || b->qty == JL_Q_KRW ||
		b->qty == JL_Q_USD_RATE);
}

/* True if the sentence states the whole product and nothing else: "8 GPUs at $2.50 per GPU hour cost $20 per hour", "1.2 TB over a 10 Gb/s link
 * takes 960 s". Then any difference is an error. */
static bool is_said_so(const struct jl_audit_note *note, const struct jl_line *line, const struct jl_figure *b,
		       const struct jl_figure *out)
{
	static const char more[] = "and|plus|with|including|after|before|discount|off|about|roughly|around|measured|"
				   "took|was|포함|및|할인|약|정도|실측|측정|걸렸|+|overhead|compressed";
	const uint32_t end = b->at + b->len;

	return out->at - end < 40 && !(out->flags & JL_FIG_ABOUT) && !JL_PART_HAS(note, line, more) &&
	       jl_span_has(note->text + end, out->at - end,
			   "cost|costs|is|are|make|makes|come "
			   "to|takes|take|needs|쓰면|이면|라면|보내면|전송하면|읽으면|쓰는 데|옮기면|면");
}

/* True for capacities, which are not sums: "4 cards of 450 W on one 1,600 W power supply". */
static bool is_capacity(const struct jl_audit_note *note, const struct jl_line *line, const struct jl_figure *f)
{
	static const char of[] =
		"supply|supplies|PSU|breaker|circuit|socket|outlet|UPS|limit|budget|capacity|rack|feed|"
		"파워|전원|서플라이|차단기|회로|콘센트|한도|용량|예산|랙";
	const uint32_t end = f->at + f->len, rest = line->at + line->len - end;

	return jl_span_has(note->text + end, rest < 28 ? rest : 28, of);
}

/* Consecutive figures: "64 GPUs for 12 days, 18,432 GPU-hours", "2,058 GB at 6.5 GB/s take 317 s". Differences beyond a typing error may be
 * measurements. */
static void line_defined(struct jl_audit_note *note, const struct jl_line *line, uint32_t i, size_t row)
{
	const bool each = defined[row].a == JL_N_Q;
	const struct jl_figure *f = &note->figures[i], *out = f + 2, *a = each || f->qty == defined[row].a ? f : f + 1,
			       *b = a == f ? f + 1 : f;

	if (!(each ? is_each(a, b, out)
		   : a->qty == defined[row].a && b->qty == defined[row].b && out->qty == defined[row].out) ||
	    (a->flags | b->flags | out->flags) & JL_FIG_OPEN || !(b->lo > 0) ||
	    note->verdicts[i + 2] != JL_AUDIT_CANNOT || out->at - f->at > 120 || is_capacity(note, line, out) ||
	    full_stop(note, f->at, out->at) ||
	    (*defined[row].words &&
	     !jl_span_has(note->text + a->at, (a == f ? b->at - a->at : a->len), defined[row].words)))
		return;
	const double want = (each ? a->lo / a->scale : a->lo) * (defined[row].eb > 0 ? b->lo : 1 / b->lo),
		     slack = out->digit + want * ((a->decimals ? jl_fig_slack(a) / a->lo : 0) +
						  (b->decimals ? jl_fig_slack(b) / b->lo : 0));
	if (fabs(want - out->lo) <= slack * 1.01)
		jl_audit_judge(note, (int32_t)i + 2, JL_AUDIT_CONFIRMED);
	else if (fabs(log(want / out->lo)) < 2.4 &&
		 (jl_fig_slip(note, out, want) == 2 || is_said_so(note, line, out - 1, out)))
		jl_finding_gives(note, out, want, true, JL_QUOTE(note, a), defined[row].eb > 0 ? "×" : "÷",
				 JL_QUOTE(note, b));
}

void jl_rule_changes(struct jl_audit_note *note)
{
	for (size_t l = 0; l < note->n_lines; l++) {
		const struct jl_line *line = &note->lines[l];

		if (line->n_figs >= 2 && line->len <= JL_AUDIT_LINE_MAX && line->kind != JL_LINE_ROW) {
			line_changes(note, line);
			line_spans(note, line);
			for (uint32_t i = line->fig; i + 2 < line->fig + line->n_figs; i++)
				line_shares(note, i), line_parts(note, line, i);
			for (uint32_t i = line->fig; i + 2 < line->fig + line->n_figs; i++)
				for (size_t k = 0; k < JL_LEN(defined); k++)
					line_defined(note, line, i, k);
		}
		if (l + 2 < note->n_lines && line->n_figs == 1)
			list_changes(note, l);
	}
}
