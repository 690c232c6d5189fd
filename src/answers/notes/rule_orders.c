/* Checks orders by definition: the 90th percentile is not below the median; shares of a whole sum to 100 %. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "notes/inside.h"

/* The percentile in a label: "p50 latency", "P99.9 (ms)", "Latency 95%", "90th percentile", "median", "중앙값"; NAN: none. `ret_at`: its offset. */
static double percentile_in(const char *t, size_t len, size_t *ret_at, size_t *ret_len)
{
	static const char *const medians[] = { "median", "Median", "중앙값" };

	for (size_t i = 0; i < len && i < 200; i++) {
		const bool p = (t[i] == 'p' || t[i] == 'P') && (i == 0 || !isalnum((unsigned char)t[i - 1]));
		const size_t from = i + p;
		size_t n = 0;
		char *end;

		if (from >= len || !isdigit((unsigned char)t[from]) ||
		    (!p && i && (isalnum((unsigned char)t[i - 1]) || t[i - 1] == '.')))
			continue;
		char digits[8] = "";
		while (from + n < len && n < 6 && (isdigit((unsigned char)t[from + n]) || t[from + n] == '.'))
			n++;
		memcpy(digits, t + from, n);
		const double v = strtod(digits, &end);
		const char *behind = t + from + n;
		const size_t left = len - from - n;
		const bool said = p || (left >= 2 && memcmp(behind, "th", 2) == 0) ||
				  (left && *behind == '%' &&
				   jl_span_has(t, len, "latency|TTFT|TPOT|ITL|지연|percentile"));
		if (!said || v < 1 || v >= 100 || (p && left && isalnum((unsigned char)*behind)))
			continue;
		*ret_at = i;
		*ret_len = from + n - i;
		return v;
	}
	for (size_t i = 0; len >= 6 && i < JL_LEN(medians); i++) {
		const char *at = memmem(t, len, medians[i], strlen(medians[i]));

		if (at) {
			*ret_at = (size_t)(at - t);
			*ret_len = strlen(medians[i]);
			return 50;
		}
	}
	return NAN;
}

struct ranked {
	double p;
	char of[64]; /* label without the percentile */
	int32_t fig;
};

/* Splits a label into percentile and the rest: "TTFT (ms)" of "TTFT p90 (ms)". */
static bool ranked_by(struct ranked *ret, const char *t, size_t len, int32_t fig)
{
	char rest[160];
	size_t at, n;

	ret->p = percentile_in(t, len, &at, &n);
	if (isnan(ret->p) || len >= sizeof rest ||
	    jl_span_has(t, len, "throughput|/s|tokens/s|처리량|bandwidth|score|정확도|accuracy"))
		return false;
	memcpy(rest, t, at);
	memcpy(rest + at, t + at + n, len - at - n);
	jl_audit_label(ret->of, sizeof ret->of, rest, len - n);
	ret->fig = fig;
	return true;
}

/* Reports the later one; which one is wrong is unknown. */
static void compare(struct jl_audit_note *note, const struct ranked *x, const struct ranked *y)
{
	const struct ranked *lo = x->p < y->p ? x : y, *hi = x->p < y->p ? y : x;
	const struct jl_figure *a = &note->figures[lo->fig], *b = &note->figures[hi->fig];
	struct jl_audit_finding *said;

	if (x->p == y->p || strcmp(x->of, y->of) != 0 || a->qty != b->qty || (a->flags | b->flags) & JL_FIG_OPEN)
		return;
	if (a->lo <= b->lo + (a->digit + b->digit) / 2) {
		jl_audit_judge(note, hi->fig, JL_AUDIT_GIVEN);
		return;
	}
	if (!(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "order", hi->fig)))
		return;
	jl_audit_finding_explain(said, "p%.4g cannot be below p%.4g, which is %s", hi->p, lo->p, JL_QUOTE(note, a));
}

#define RANKED_MAX 24

/* Percentiles in the headers, or with `down` in the row labels. */
static void grid_percentiles(struct jl_audit_note *note, const struct jl_grid *g, bool down)
{
	const uint32_t n_heads = down ? g->n_rows : g->n_cols, n = down ? g->n_cols : g->n_rows;
	struct ranked heads[RANKED_MAX];
	uint32_t at[RANKED_MAX];
	size_t n_ranked = 0;

	for (uint32_t c = 1; c < n_heads && n_ranked < RANKED_MAX; c++) {
		const struct jl_cell *head = down ? jl_grid_cell(g, c, 0) : jl_grid_cell(g, 0, c);

		at[n_ranked] = c;
		n_ranked += ranked_by(&heads[n_ranked], note->text + head->at, head->len, -1);
	}
	for (uint32_t r = 1; r < n && n_ranked > 1; r++) {
		for (size_t i = 0; i < n_ranked; i++)
			heads[i].fig = (down ? jl_grid_cell(g, at[i], r) : jl_grid_cell(g, r, at[i]))->fig;
		for (size_t i = 1; i < n_ranked; i++)
			for (size_t k = i; k-- > 0;)
				if (heads[i].fig >= 0 && heads[k].fig >= 0 && strcmp(heads[i].of, heads[k].of) == 0) {
					compare(note, &heads[k], &heads[i]);
					break;
				}
	}
}

/* Percentiles in text: "p50 12 ms, p90 19 ms", or on consecutive lines. */
static void text_percentiles(struct jl_audit_note *note)
{
	struct ranked last = { .fig = -1 };

	for (size_t l = 0; l < note->n_lines; l++) {
		const struct jl_line *line = &note->lines[l];
		uint32_t from = line->at;

		if (line->kind == JL_LINE_ROW || line->kind == JL_LINE_HEAD || line->n_figs > 32) {
			last.fig = -1;
			continue;
		}
		for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
			const struct jl_figure *f = &note->figures[i];
			struct ranked now;

			if (f->at - from < 40 && ranked_by(&now, note->text + from, f->at - from, (int32_t)i)) {
				now.of[0] = '\0';
				if (last.fig >= 0 && now.p > last.p)
					compare(note, &last, &now);
				last = now;
			} else {
				last.fig = -1;
			}
			from = f->at + f->len;
		}
		if (!line->n_figs)
			last.fig = -1;
	}
}

/* --- shares of a whole */

static const char share_words[] =
	"share|비중|구성비|점유율|breakdown|portion|% of total|% of time|% of step|전체 중|시간 비율|of total";

/* Reports shares that sum to almost, but not exactly, 100 %. */
static void judge_shares(struct jl_audit_note *note, const int32_t *figs, size_t n)
{
	double sum = 0, slack = 0;
	struct jl_audit_finding *said;

	for (size_t i = 0; i < n; i++) {
		const struct jl_figure *f = &note->figures[figs[i]];

		if (f->flags & (JL_FIG_OPEN | JL_FIG_ABOUT) || f->lo >= 1)
			return;
		sum += f->lo;
		slack += f->digit * 0.51;
	}
	if (fabs(sum - 1) <= slack + 1e-9) {
		for (size_t i = 0; i < n; i++)
			jl_audit_judge(note, figs[i], JL_AUDIT_CONFIRMED);
		return;
	}
	if (sum < 0.85 || sum > 1.15 || n < 3 ||
	    !(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "order", figs[n - 1])))
		return;
	jl_audit_finding_explain(said, "the %zu shares add up to %.4g %%, not to 100 %%", n, sum * 100);
}

#define SHARES_MAX 24

static void grid_shares(struct jl_audit_note *note, const struct jl_grid *g)
{
	for (uint32_t c = 1; c < g->n_cols; c++) {
		const struct jl_cell *head = jl_grid_cell(g, 0, c);
		int32_t figs[SHARES_MAX];
		size_t n = 0;
		bool whole = false;

		for (uint32_t r = 1; r < g->n_rows && n < SHARES_MAX; r++) {
			const int32_t fig = jl_grid_cell(g, r, c)->fig;

			if (fig < 0 || note->figures[fig].qty != JL_Q_PERCENT) {
				n = SHARES_MAX;
				break;
			}
			if (r + 1 == g->n_rows && fabs(note->figures[fig].lo - 1) < 1e-9 &&
			    JL_PART_HAS(note, jl_grid_cell(g, r, 0), "total|sum|합계|총계|전체|합"))
				whole = true;
			else
				figs[n++] = fig;
		}
		if (n >= 2 && n < SHARES_MAX && (whole || JL_PART_HAS(note, head, share_words)))
			judge_shares(note, figs, n);
	}
}

/* e.g. "Where the time goes: compute 61 %, all-reduce 30 %, the rest 9 %" */
static void line_shares(struct jl_audit_note *note, const struct jl_line *line)
{
	int32_t figs[SHARES_MAX];
	size_t n = 0;

	for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
		if (note->figures[i].qty != JL_Q_PERCENT || n == SHARES_MAX)
			return;
		figs[n++] = (int32_t)i;
	}
	if (n >= 3 && n < SHARES_MAX &&
	    JL_PART_HAS(note, line, "share|shares|비중|구성비|breakdown|the rest|나머지|where the time goes|시간 구성"))
		judge_shares(note, figs, n);
}

void jl_rule_orders(struct jl_audit_note *note)
{
	for (size_t i = 0; i < note->n_grids; i++)
		if (note->grids[i].kind == JL_GRID_TABLE && note->grids[i].has_heads) {
			grid_percentiles(note, &note->grids[i], false);
			grid_percentiles(note, &note->grids[i], true);
			grid_shares(note, &note->grids[i]);
		}
	text_percentiles(note);
	for (size_t l = 0; l < note->n_lines; l++)
		if (note->lines[l].n_figs >= 3 && note->lines[l].kind != JL_LINE_ROW)
			line_shares(note, &note->lines[l]);
}
