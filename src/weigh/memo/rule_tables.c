/* Tables and lists against themselves: what most rows bear out, the other rows should too. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "memo/sheet.h"

static void put_cell(const struct jl_memo *note, struct jl_sheet *s, uint32_t row, uint32_t col, int32_t fig)
{
	s->fig[row][col] = fig;
	s->ln[row][col] = NAN;
	s->slack[row][col] = s->in_slack[row][col] = 0;
	if (fig < 0)
		return;
	const struct jl_figure *f = &note->figures[fig];
	if (!(f->lo > 0) || f->flags & (JL_FIG_LEAST | JL_FIG_MOST))
		return;
	s->ln[row][col] = log(jl_fig_mid(f));
	s->slack[row][col] = (f->digit + (f->hi - f->lo) / 2) / jl_fig_mid(f);
	s->in_slack[row][col] = (f->digit * (f->decimals ? 0.5 : 1) + (f->hi - f->lo) / 2) / jl_fig_mid(f);
}

/* Heads of columns that were measured: whole numbers in them are cut off. Others count, and are exact. */
static const char measured[] = "/s|per|rate|throughput|time|ms|sec|seconds|speed|score|latency|GB|GB/"
			       "s|TFLOP|TFLOPS|GFLOPS|처리량|시간|속도|지연|TTFT|TPOT|us";

static const char ratios[] =
	"speedup|speed-up|speed "
	"up|scaling|ratio|busbw|relative|efficiency|vs|over|improvement|배속|배율|효율|상대|대비|비율|향상";

static const char stats[] =
	"p25|p50|p75|p90|p95|p98|p99|percentile|median|std|stddev|stdev|min|max|avg|average|mean|latency|"
	"jitter|90%|95%|99%|중앙값|평균|표준편차|최소|최대|loss|accuracy|정확도";

/* 1, 2, 4, 8: chosen, not measured. */
static bool are_settings(const struct jl_sheet *s, uint32_t col)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < s->n_rows; r++) {
		if (isnan(s->ln[r][col]))
			continue;
		const double twos = (s->ln[r][col] - s->ln[0][col]) / log(2);
		if (!(fabs(twos - round(twos)) < 1e-9))
			return false;
		n++;
	}
	return n >= 3;
}

static void column_kind(const struct jl_memo *note, struct jl_sheet *s, uint32_t col)
{
	const bool counts = s->head_len[col] && !jl_span_has(note->text + s->head_at[col], s->head_len[col], measured);

	for (uint32_t r = 0; r < s->n_rows; r++) {
		const struct jl_figure *f = s->fig[r][col] < 0 ? NULL : &note->figures[s->fig[r][col]];

		if (f && !f->decimals && !(f->flags & (JL_FIG_ABOUT | JL_FIG_RANGE)) &&
		    (f->qty == JL_Q_COUNT || (f->qty == JL_Q_NUMBER && counts)))
			s->in_slack[r][col] = 0;
	}
	if (are_settings(s, col))
		for (uint32_t r = 0; r < s->n_rows; r++)
			s->in_slack[r][col] = 0;
	s->is_ratio[col] = s->head_len[col] && jl_span_has(note->text + s->head_at[col], s->head_len[col], ratios);
	s->is_stat[col] = s->head_len[col] && jl_span_has(note->text + s->head_at[col], s->head_len[col], stats);
	s->is_rate[col] = s->head_len[col] && jl_span_has(note->text + s->head_at[col], s->head_len[col],
							  "/s|/sec|/second|per second|throughput|처리량|/초|초당");
	s->ln_unit[col] = NAN;
	for (uint32_t r = 0; r < s->n_rows; r++)
		if (s->fig[r][col] >= 0) {
			const double u = log(note->figures[s->fig[r][col]].scale);

			s->ln_unit[col] = isnan(s->ln_unit[col]) || s->ln_unit[col] == u ? u : INFINITY;
		}
	s->qty[col] = JL_N_Q;
	for (uint32_t r = 0; r < s->n_rows; r++) {
		const uint8_t q = s->fig[r][col] < 0 ? JL_N_Q : note->figures[s->fig[r][col]].qty;

		if (q == JL_N_Q)
			continue;
		if (s->qty[col] != JL_N_Q && s->qty[col] != q) {
			s->qty[col] = JL_N_Q;
			return;
		}
		s->qty[col] = q;
	}
}

/* Numbers of remarks, ranks and years are no quantities. */
static bool is_remark(const struct jl_memo *note, const struct jl_cell *head)
{
	return (head->len == 1 && note->text[head->at] == '#') ||
	       (head->len < 14 &&
		JL_PART_HAS(note, head, "note|notes|remark|비고|rank|순위|no|id|연도|출시년도|date|version"));
}

/* A cell of a grid that is read by rows, or by columns where it lies sideways. */
static struct jl_cell *turned_cell(const struct jl_grid *g, uint32_t row, uint32_t col)
{
	return g->sideways ? jl_grid_cell(g, col, row) : jl_grid_cell(g, row, col);
}

static double head_number(const struct jl_memo *note, const struct jl_cell *head)
{
	return head && head->fig >= 0 ? note->figures[head->fig].lo / note->figures[head->fig].scale : NAN;
}

/* Rows and columns of a grid that hold figures. */
static void sheet_of(const struct jl_memo *note, struct jl_sheet *s, const struct jl_grid *g)
{
	const uint32_t n_rows = g->sideways ? g->n_cols : g->n_rows, n_cols = g->sideways ? g->n_rows : g->n_cols;

	s->n_rows = s->n_cols = 0; /* the rest is large and written where it is used */
	s->grid = g;
	for (uint32_t r = g->has_heads; r < n_rows && s->n_rows < JL_MEMO_ROWS_MAX; r++)
		s->row_of[s->n_rows++] = r;
	for (uint32_t c = 0; c < n_cols && s->n_cols < JL_MEMO_COLS_MAX; c++) {
		const struct jl_cell *head = turned_cell(g, 0, c);
		uint32_t n = 0;

		for (uint32_t r = 0; r < s->n_rows; r++)
			n += turned_cell(g, s->row_of[r], c)->fig >= 0;
		if (n < 2 || (g->has_heads && is_remark(note, head)))
			continue;
		for (uint32_t r = 0; r < s->n_rows; r++)
			put_cell(note, s, r, s->n_cols, turned_cell(g, s->row_of[r], c)->fig);
		s->head_at[s->n_cols] = head->at;
		s->head_len[s->n_cols] = g->has_heads ? head->len : 0;
		s->head_number[s->n_cols] = head_number(note, g->has_heads ? head : NULL);
		column_kind(note, s, s->n_cols++);
	}
}

static const char *head(struct jl_memo *note, const struct jl_sheet *s, int col)
{
	return s->head_len[col] ? jl_memo_quote(note, s->head_at[col], s->head_len[col] > 60 ? 60 : s->head_len[col])
				: "?";
}

/* "Epoch = 10 x Time", "Energy = Power x Time" */
static void say_relation(char out[JL_SAID_MAX], struct jl_memo *note, const struct jl_sheet *s,
			 const struct jl_relation *rel)
{
	const double k = exp(rel->ln_k);
	char factor[32] = "";

	if (rel->form == JL_FORM_SUM) {
		snprintf(out, JL_SAID_MAX, "%.50s = %.50s %s %.50s", head(note, s, rel->out), head(note, s, rel->a),
			 rel->eb > 0 ? "+" : "−", head(note, s, rel->b));
		return;
	}
	if (rel->form == JL_FORM_ROW) {
		snprintf(out, JL_SAID_MAX, "%.50s = %.50s + … + %.50s", head(note, s, rel->out), head(note, s, rel->a),
			 head(note, s, rel->b));
		return;
	}
	if (rel->form == JL_FORM_REST) {
		snprintf(out, JL_SAID_MAX, "%.50s = %.3g − %.50s", head(note, s, rel->out), exp(rel->ln_k),
			 head(note, s, rel->a));
		return;
	}
	if (rel->ln_k != 0 && s->qty[rel->out] == s->qty[rel->a] && fabs(k - round(k)) < 1e-9)
		snprintf(factor, sizeof factor, "%.0f × ", k);
	else if (rel->ln_k != 0)
		snprintf(factor, sizeof factor, "k × ");
	if (rel->b < 0)
		snprintf(out, JL_SAID_MAX, "%.50s = %s%.50s", head(note, s, rel->out), rel->ea > 0 ? factor : "k ÷ ",
			 head(note, s, rel->a));
	else if (rel->ea < 0)
		snprintf(out, JL_SAID_MAX, "%.50s = %s%.50s ÷ %.50s", head(note, s, rel->out), factor,
			 head(note, s, rel->b), head(note, s, rel->a));
	else
		snprintf(out, JL_SAID_MAX, "%.50s = %s%.50s %s %.50s", head(note, s, rel->out), factor,
			 head(note, s, rel->a), rel->eb > 0 ? "×" : "÷", head(note, s, rel->b));
}

/* One figure of the row of a relation's inputs that is known to be wrong. */
static int32_t wrong_input(const struct jl_memo *note, const struct jl_sheet *s, const struct jl_relation *rel,
			   uint32_t row, int *ret_col)
{
	const int cols[] = { rel->a, rel->b };

	for (size_t i = 0; i < 2; i++) {
		const int32_t f = cols[i] < 0 ? -1 : jl_finding_of(note, s->fig[row][cols[i]]);

		/* of two values that contradict each other nobody knows which is wrong */
		if (f >= 0 && note->findings[f].verdict == JL_MEMO_WRONG &&
		    strcmp(note->findings[f].rule, "same-fact") != 0) {
			*ret_col = cols[i];
			return f;
		}
	}
	return -1;
}

static double fixed_value(const struct jl_memo *note, const struct jl_said_finding *f)
{
	struct jl_figure fig;
	const size_t n = strlen(f->premises);

	if (!n || !jl_figure_at(&fig, f->premises, 0, n))
		return NAN;
	return jl_fig_mid(&fig) / fig.scale * note->figures[f->figure].scale;
}

/* It agrees with a figure that is wrong: so it is wrong too, and follows from that one. */
static void follows(struct jl_memo *note, const struct jl_sheet *s, const struct jl_relation *rel, uint32_t row)
{
	int col = -1;
	const int32_t root = wrong_input(note, s, rel, row, &col), fig = s->fig[row][rel->out];
	const struct jl_figure *f = &note->figures[fig];
	struct jl_said_finding *said;

	if (root < 0 && rel->weak)
		return;
	if (root < 0) {
		jl_memo_judge(note, fig, JL_MEMO_CONFIRMED);
		jl_memo_judge(note, s->fig[row][rel->a], JL_MEMO_GIVEN);
		return;
	}
	double value = jl_relation_value(s, rel, row, col, fixed_value(note, &note->findings[root]));
	if (!(said = jl_finding_on_figure(note, JL_MEMO_WRONG, "table", fig)))
		return;
	said->root = root;
	said->impossible_premise = note->findings[root].impossible_premise;
	if (isfinite(value) && !(f->flags & JL_FIG_RANGE)) {
		jl_fig_text(said->premises, note, f, value, 0);
		if (!said->impossible_premise)
			jl_fig_digits(said->fix, f, value, 0);
	}
	jl_said_finding_say(said, "follows from %s", note->findings[root].written);
}

static bool is_multiple(double ratio)
{
	const double up = ratio > 1 ? ratio : 1 / ratio;

	return up > 1.5 && up < 1000 && fabs(up - round(up)) < 0.02 * up;
}

static bool is_whole(double k)
{
	return fabs(k - round(k)) < 1e-9 || fabs(1 / k - round(1 / k)) < 1e-9;
}

static bool is_doubled(double ratio)
{
	return fabs(fabs(log2(ratio)) - 1) < 0.01 || fabs(fabs(log2(ratio)) - 2) < 0.01;
}

static void differs(struct jl_memo *note, const struct jl_sheet *s, const struct jl_relation *rel, uint32_t row)
{
	const int32_t fig = s->fig[row][rel->out];
	const struct jl_figure *f = &note->figures[fig];
	const double value = jl_relation_value(s, rel, row, -1, 0);
	const bool repeats = rel->form == JL_FORM_SCALE && rel->ln_k == 0 && rel->ea > 0 &&
			     s->qty[rel->out] == s->qty[rel->a];
	struct jl_said_finding *said;
	char form[JL_SAID_MAX];
	int col;

	if (wrong_input(note, s, rel, row, &col) >= 0 || !isfinite(value))
		return; /* that one is at fault */
	if (rel->form == JL_FORM_SCALE && rel->ln_k != 0 && f->qty == JL_Q_NUMBER && is_multiple(jl_fig_mid(f) / value))
		return; /* per card of another number of cards */
	if (rel->form == JL_FORM_SCALE && !is_whole(exp(rel->ln_k)) && is_doubled(jl_fig_mid(f) / value))
		return; /* hardware that has twice as much of something */
	if (!(said = jl_finding_on_figure(note, JL_MEMO_WRONG, repeats ? "same-fact" : "table", fig)))
		return;
	say_relation(form, note, s, rel);
	jl_fig_text(said->premises, note, f, value, f->digit / jl_fig_mid(f) > 0.05 && f->qty != JL_Q_COUNT);
	jl_fig_digits(said->fix, f, value, 0);
	if (repeats) {
		uint32_t line, column;

		jl_memo_place(note, note->figures[s->fig[row][rel->a]].at, &line, &column);
		jl_said_finding_say(said, "line %u says %s; %d other rows say the same in both places", line,
				    jl_memo_quote(note, note->figures[s->fig[row][rel->a]].at,
						  note->figures[s->fig[row][rel->a]].len),
				    rel->n_ok);
		return;
	}
	jl_said_finding_say(said, "%.160s, as %d other rows have it, gives %s", form, rel->n_ok, said->premises);
}

/* Between two tables less is certain, since they may speak of different things: the same column in both and a value that looks like a
 * slip, or many rows with units. */
static bool clear_between(const struct jl_memo *note, const struct jl_sheet *s, const struct jl_relation *rel,
			  uint32_t row)
{
	const double ratio = exp(s->ln[row][rel->out]) / jl_relation_value(s, rel, row, -1, 0);
	const bool slip = fabs(log(ratio)) < 0.3 || fabs(fabs(log10(ratio)) - 1) < 0.02;
	char a[96], b[96];

	if (rel->n_ok < 4 || !slip)
		return false;
	if (rel->ln_k != 0 || rel->ea < 0)
		return rel->n_ok >= 5 && s->qty[rel->out] != JL_Q_NUMBER && s->qty[rel->out] != JL_Q_COUNT;
	jl_memo_label(a, sizeof a, note->text + s->head_at[rel->a], s->head_len[rel->a]);
	jl_memo_label(b, sizeof b, note->text + s->head_at[rel->out], s->head_len[rel->out]);
	return strcmp(a, b) == 0;
}

/* "Total", not "total_token_throughput" nor "SUM<F16>" */
static bool is_total(const struct jl_memo *note, const struct jl_sheet *s, uint32_t row)
{
	const struct jl_cell *label = turned_cell(s->grid, s->row_of[row], 0);
	char name[40];

	return label->len < 40 && JL_PART_HAS(note, label, "total|sum|합계|총계|총합|합") &&
	       jl_memo_label(name, sizeof name, note->text + label->at, label->len) &&
	       (strcmp(name, "sum") == 0 || !JL_PART_HAS(note, label, "sum|throughput|/s|tokens|token|rate|latency"));
}

/* What heads define: columns by their words, out = a x b^eb. */
static const struct {
	const char *out, *a, *b, *unless;
	int eb;
} defined[] = {
	{ "amount|금액|subtotal|소계|line total", "unit price|단가|unit cost|price each",
	  "qty|quantity|수량|pieces|count", "discount|할인|months|개월|기간|tax|세|VAT|배송|shipping|환율", 1 },
	{ "algbw", "size", "time", "", -1 },
};

static int head_with(const struct jl_memo *note, const struct jl_sheet *s, const char *words)
{
	int found = -1;

	for (uint32_t c = 0; c < s->n_cols; c++)
		if (s->head_len[c] && jl_span_has(note->text + s->head_at[c], s->head_len[c], words)) {
			if (found >= 0)
				return -1; /* two of them */
			found = (int)c;
		}
	return found;
}

/* A definition that no row needs to bear out, but for one: where none does, the words mean something else. */
static bool by_heads(struct jl_relation *ret, const struct jl_memo *note, const struct jl_sheet *s, size_t which)
{
	struct jl_relation rel = { .form = JL_FORM_PRODUCT,
				   .out = head_with(note, s, defined[which].out),
				   .a = head_with(note, s, defined[which].a),
				   .b = head_with(note, s, defined[which].b),
				   .ea = 1,
				   .eb = defined[which].eb,
				   .far = 0.004,
				   .tight = defined[which].eb > 0,
				   .evidence = 1 };

	if (rel.out < 0 || rel.a < 0 || rel.b < 0 || rel.out == rel.a || rel.out == rel.b || rel.a == rel.b ||
	    (rel.eb > 0 && s->qty[rel.out] != s->qty[rel.a]) ||
	    (rel.eb < 0 &&
	     (s->qty[rel.out] != JL_Q_BYTE_RATE || s->qty[rel.a] != JL_Q_BYTES || s->qty[rel.b] != JL_Q_TIME)))
		return false;
	for (uint32_t c = 0; c < s->n_cols; c++)
		if (jl_span_has(note->text + s->head_at[c], s->head_len[c], defined[which].unless))
			return false;
	for (uint32_t r = 0; r < s->n_rows; r++) {
		const enum jl_fit fit = is_total(note, s, r) ? JL_FIT_NONE : jl_relation_fit(s, &rel, r);

		if (rel.eb < 0 && s->in_slack[r][rel.a] + s->in_slack[r][rel.b] > 0.03)
			return false; /* "1 GB" in "10 ms" may be much */
		rel.n_ok += fit == JL_FIT_OK;
		rel.n_bad += fit == JL_FIT_BAD;
	}
	*ret = rel;
	return rel.n_ok > 0 && rel.n_bad <= rel.n_ok;
}

static void judge_sheet(struct jl_memo *note, const struct jl_sheet *s, uint32_t first_out, bool within)
{
	struct jl_relation rels[JL_MEMO_COLS_MAX];

	jl_sheet_relations(rels, s, &note->work, first_out, within);
	for (size_t i = 0; within && i < sizeof defined / sizeof defined[0]; i++) {
		struct jl_relation rel;

		if (by_heads(&rel, note, s, i))
			rels[rel.out] = rel;
	}
	for (uint32_t c = 0; c < s->n_cols; c++)
		for (uint32_t r = 0; rels[c].evidence > 0 && r < s->n_rows; r++) {
			const enum jl_fit fit = jl_relation_fit(s, &rels[c], r);

			if (fit == JL_FIT_OK)
				follows(note, s, &rels[c], r);
			else if (fit == JL_FIT_BAD && !is_total(note, s, r) &&
				 (within || clear_between(note, s, &rels[c], r)))
				differs(note, s, &rels[c], r);
		}
	note->cut |= note->work < 0;
}

/* --- a row of totals */

static bool additive(uint8_t qty)
{
	return qty != JL_Q_PERCENT && qty != JL_Q_RATIO && qty != JL_Q_BYTE_RATE && qty != JL_Q_FLOP_RATE &&
	       qty != JL_Q_FREQUENCY && qty != JL_Q_GENERATION && qty != JL_N_Q;
}

/* Heads of what is not added up: rates, means, extremes, prices of one, what was added up before. */
static const char not_added[] = "온도|temp|temperature|누적|cumulative|running|per|rate|ratio|share|%|/|단가|unit "
				"price|unit cost|price each|each|"
				"개당|장당|대당|당|비율|효율|efficiency|utilization|util|MFU|이용률|사용률|가동률|"
				"score|speedup|배속|배율|지연|°C|℃";

/* A quotient of two other columns in every row, and in the row of totals too. */
static bool is_quotient(const struct jl_sheet *s, uint32_t col, uint32_t total)
{
	for (uint32_t a = 0; a < s->n_cols; a++)
		for (uint32_t b = 0; b < s->n_cols; b++) {
			double lo = INFINITY, hi = -INFINITY, slack = 0;

			if (a == b || a == col || b == col)
				continue;
			for (uint32_t r = 0; r <= total; r++) {
				const double k = s->ln[r][col] - s->ln[r][a] + s->ln[r][b];

				lo = isnan(k) ? -INFINITY : fmin(lo, k);
				hi = fmax(hi, k);
				slack = fmax(slack, s->slack[r][col] + s->in_slack[r][a] + s->in_slack[r][b]);
			}
			if (hi - lo <= fmin(2 * slack, 0.1) + 1e-6)
				return true;
		}
	return false;
}

/* Is what stands below a column something else than its sum: its mean, an end of it, its last, a quotient? */
static bool is_no_sum(const struct jl_memo *note, const struct jl_sheet *s, uint32_t col, uint32_t total, double sum)
{
	const struct jl_figure *f = &note->figures[s->fig[total][col]];
	const double mid = jl_fig_mid(f), slack = jl_fig_slack(f) * 2.02;
	double most = 0, least = INFINITY;

	for (uint32_t r = 0; r < total; r++) {
		most = fmax(most, jl_fig_mid(&note->figures[s->fig[r][col]]));
		least = fmin(least, jl_fig_mid(&note->figures[s->fig[r][col]]));
	}
	return s->is_stat[col] || jl_span_has(note->text + s->head_at[col], s->head_len[col], not_added) ||
	       fabs(mid - sum / total) <= slack || fabs(mid - most) <= slack || fabs(mid - least) <= slack ||
	       fabs(mid - jl_fig_mid(&note->figures[s->fig[total - 1][col]])) <= slack || is_quotient(s, col, total);
}

/* What a figure should be where that is known, else what it is. */
static double right_value(const struct jl_memo *note, int32_t fig)
{
	const int32_t found = jl_finding_of(note, fig);
	const double fixed = found < 0 ? (double)NAN : fixed_value(note, &note->findings[found]);

	return isnan(fixed) ? jl_fig_mid(&note->figures[fig]) : fixed;
}

static void judge_total(struct jl_memo *note, const struct jl_sheet *s, uint32_t total)
{
	int n_ok = 0;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t c = 0; c < s->n_cols; c++) {
			const int32_t fig = s->fig[total][c];
			double sum = 0, slack = 0;
			uint32_t n = 0;
			struct jl_said_finding *said;

			for (uint32_t r = 0; r < total; r++)
				if (s->fig[r][c] >= 0) {
					sum += right_value(note, s->fig[r][c]);
					slack += jl_fig_slack(&note->figures[s->fig[r][c]]);
					n++;
				}
			if (fig < 0 || n != total || n < 2 || !additive(s->qty[c]))
				continue;
			slack += jl_fig_slack(&note->figures[fig]) * 2;
			if (fabs(sum - jl_fig_mid(&note->figures[fig])) <= slack * 1.01) {
				n_ok += pass == 0;
				jl_memo_judge(note, fig, JL_MEMO_CONFIRMED);
				continue;
			}
			if (!pass || is_no_sum(note, s, c, total, sum) ||
			    !(said = jl_finding_new(note, JL_MEMO_WRONG, "table", note->figures[fig].at,
						    note->figures[fig].len, fig)))
				continue;
			jl_fig_text(said->premises, note, &note->figures[fig], sum, 0);
			jl_fig_digits(said->fix, &note->figures[fig], sum, 0);
			said->shown = n_ok > 0 || (sum > 0.7 * jl_fig_mid(&note->figures[fig]) &&
						   sum < 1.4 * jl_fig_mid(&note->figures[fig]));
			jl_said_finding_say(said, "the %u rows above add up to %s", n, said->premises);
		}
}

static void totals(struct jl_memo *note, const struct jl_sheet *s)
{
	for (uint32_t r = 2; r < s->n_rows; r++)
		if (is_total(note, s, r) && (s->grid->sideways || r + 1 >= s->n_rows ||
					     s->grid->labels[s->row_of[r]] != s->grid->labels[s->row_of[r + 1]]))
			judge_total(note, s, r); /* two of them are no totals */
}

/* --- two tables with the same rows */

static bool same_row(const struct jl_memo *note, const struct jl_grid *a, uint32_t r, const struct jl_grid *b,
		     uint32_t i)
{
	const int32_t x = jl_grid_cell(a, r, 0)->mention, y = jl_grid_cell(b, i, 0)->mention;

	if (x >= 0 && y >= 0) {
		const struct jl_mention *m = &note->mentions[x], *k = &note->mentions[y];

		return jl_same_entity(note, m, k) && (m->count == k->count || !m->count || !k->count);
	}
	return a->labels[r] && a->labels[r] == b->labels[i];
}

/* The row of `b` that is about the same as row `r` of `a`; none where either table has two such rows. */
static int32_t partner(const struct jl_memo *note, const struct jl_grid *a, uint32_t r, const struct jl_grid *b)
{
	int32_t found = -1;

	for (uint32_t i = b->has_heads; i < b->n_rows; i++)
		if (same_row(note, a, r, b, i)) {
			if (found >= 0)
				return -1;
			found = (int32_t)i;
		}
	for (uint32_t i = a->has_heads; found >= 0 && i < a->n_rows; i++)
		if (i != r && same_row(note, a, r, a, i))
			return -1;
	return found;
}

static uint32_t add_columns(const struct jl_memo *note, struct jl_sheet *s, const struct jl_grid *g,
			    const int32_t *rows)
{
	for (uint32_t c = 1; c < g->n_cols && s->n_cols < JL_MEMO_COLS_MAX; c++) {
		uint32_t n = 0;

		for (uint32_t r = 0; r < s->n_rows; r++)
			n += jl_grid_cell(g, (uint32_t)rows[r], c)->fig >= 0;
		if (n < 3)
			continue;
		for (uint32_t r = 0; r < s->n_rows; r++)
			put_cell(note, s, r, s->n_cols, jl_grid_cell(g, (uint32_t)rows[r], c)->fig);
		s->head_at[s->n_cols] = jl_grid_cell(g, 0, c)->at;
		s->head_len[s->n_cols] = g->has_heads ? jl_grid_cell(g, 0, c)->len : 0;
		s->head_number[s->n_cols] = head_number(note, g->has_heads ? jl_grid_cell(g, 0, c) : NULL);
		column_kind(note, s, s->n_cols++);
	}
	return s->n_cols;
}

/* Columns of the later table against those of the earlier one. */
static void judge_pair(struct jl_memo *note, struct jl_sheet *s, const struct jl_grid *a, const struct jl_grid *b)
{
	int32_t rows_a[64], rows_b[64];

	s->n_rows = s->n_cols = 0;
	s->grid = a;
	for (uint32_t r = a->has_heads; r < a->n_rows && s->n_rows < 64; r++) {
		const int32_t other = partner(note, a, r, b);

		if (other >= 0) {
			rows_a[s->n_rows] = (int32_t)r;
			rows_b[s->n_rows] = other;
			s->row_of[s->n_rows++] = r;
		}
	}
	if (s->n_rows < 3)
		return;
	uint32_t first = add_columns(note, s, a, rows_a);
	if (!first || add_columns(note, s, b, rows_b) == first)
		return;
	judge_sheet(note, s, first, false);
}

#define PAIRED_GRIDS 16 /* a table is held against the ones shortly before it */

void jl_rule_tables(struct jl_memo *note)
{
	struct jl_sheet *s = jl_arena_alloc(note->arena, sizeof *s);

	if (!s)
		return;
	for (size_t i = 0; i < note->n_grids && note->work > 0; i++) {
		sheet_of(note, s, &note->grids[i]);
		judge_sheet(note, s, 1, true);
		totals(note, s);
	}
	for (size_t i = 1; i < note->n_grids && note->work > 0; i++)
		for (size_t k = i > PAIRED_GRIDS ? i - PAIRED_GRIDS : 0; k < i; k++) {
			const struct jl_grid *a = &note->grids[k], *b = &note->grids[i];

			note->work -= (double)a->n_rows * (a->n_rows + b->n_rows);
			if (note->work > 0 && a->n_rows <= 64 && b->n_rows <= 64)
				judge_pair(note, s, a, b);
		}
}
