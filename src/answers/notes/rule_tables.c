/* Checks tables and lists for internal consistency: relations that most rows satisfy should hold in all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "notes/sheet.h"

static const char *head(struct jl_audit_note *note, const struct jl_sheet *s, int col)
{
	return s->head_len[col] ? jl_audit_quote(note, s->head_at[col], s->head_len[col] > 60 ? 60 : s->head_len[col])
				: "?";
}

/* Formats a relation: "Epoch = 10 x Time", "Energy = Power x Time". */
static void say_relation(char out[JL_AUDIT_TEXT_MAX], struct jl_audit_note *note, const struct jl_sheet *s,
			 const struct jl_relation *rel)
{
	const double k = exp(rel->ln_k);
	char factor[32] = "";

	if (rel->form == JL_FORM_SUM) {
		snprintf(out, JL_AUDIT_TEXT_MAX, "%.50s = %.50s %s %.50s", head(note, s, rel->out),
			 head(note, s, rel->a), rel->eb > 0 ? "+" : "−", head(note, s, rel->b));
		return;
	}
	if (rel->form == JL_FORM_ROW) {
		snprintf(out, JL_AUDIT_TEXT_MAX, "%.50s = %.50s + … + %.50s", head(note, s, rel->out),
			 head(note, s, rel->a), head(note, s, rel->b));
		return;
	}
	if (rel->form == JL_FORM_REST) {
		snprintf(out, JL_AUDIT_TEXT_MAX, "%.50s = %.3g − %.50s", head(note, s, rel->out), exp(rel->ln_k),
			 head(note, s, rel->a));
		return;
	}
	if (rel->ln_k != 0 && s->qty[rel->out] == s->qty[rel->a] && (fabs(k - round(k)) < 1e-9 || k < 2))
		snprintf(factor, sizeof factor, "%.4g × ", k);
	else if (rel->ln_k != 0)
		snprintf(factor, sizeof factor, "k × ");
	if (rel->b < 0)
		snprintf(out, JL_AUDIT_TEXT_MAX, "%.50s = %s%.50s", head(note, s, rel->out),
			 rel->ea > 0 ? factor : "k ÷ ", head(note, s, rel->a));
	else if (rel->ea < 0)
		snprintf(out, JL_AUDIT_TEXT_MAX, "%.50s = %s%.50s ÷ %.50s", head(note, s, rel->out), factor,
			 head(note, s, rel->b), head(note, s, rel->a));
	else
		snprintf(out, JL_AUDIT_TEXT_MAX, "%.50s = %s%.50s %s %.50s", head(note, s, rel->out), factor,
			 head(note, s, rel->a), rel->eb > 0 ? "×" : "÷", head(note, s, rel->b));
}

static int32_t wrong_input(const struct jl_audit_note *note, const struct jl_sheet *s, const struct jl_relation *rel,
			   uint32_t row, int *ret_col)
{
	const int cols[] = { rel->a, rel->b };

	for (size_t i = 0; i < 2; i++) {
		const int32_t f = cols[i] < 0 ? -1 : jl_finding_of(note, s->fig[row][cols[i]]);

		/* two values contradict each other, but which one is wrong is unknown */
		if (f >= 0 && note->findings[f].verdict == JL_AUDIT_WRONG &&
		    strcmp(note->findings[f].rule, "same-fact") != 0) {
			*ret_col = cols[i];
			return f;
		}
	}
	return -1;
}

/* A result that agrees with a wrong input is wrong too, as a consequence. */
static void follows(struct jl_audit_note *note, const struct jl_sheet *s, const struct jl_relation *rel, uint32_t row)
{
	int col = -1;
	const int32_t root = wrong_input(note, s, rel, row, &col), fig = s->fig[row][rel->out];
	const struct jl_figure *f = &note->figures[fig];
	struct jl_audit_finding *said;

	if (root < 0 && rel->weak)
		return;
	if (root < 0) {
		jl_audit_judge(note, fig, JL_AUDIT_CONFIRMED);
		jl_audit_judge(note, s->fig[row][rel->a], JL_AUDIT_GIVEN);
		return;
	}
	double value = *note->findings[root].premises
			       ? jl_relation_value(s, rel, row, col,
						   jl_finding_value(note, note->findings[root].figure))
			       : NAN;
	if (!(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "table", fig)))
		return;
	said->root = root;
	said->impossible_premise = note->findings[root].impossible_premise;
	if (isfinite(value) && !(f->flags & JL_FIG_RANGE)) {
		jl_fig_text(said->premises, note, f, value, 0);
		if (!said->impossible_premise && *note->findings[root].fix)
			jl_fig_digits(said->fix, f, value, 0);
	}
	jl_audit_finding_explain(said, "follows from %s", note->findings[root].written);
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

/* True if the deviation is typical of a different subject: per card with another number of cards, or hardware with twice as much. */
static bool is_other(const struct jl_figure *f, const struct jl_relation *rel, double value)
{
	const double ratio = jl_fig_mid(f) / value;

	return rel->form == JL_FORM_SCALE && ((rel->ln_k != 0 && f->qty == JL_Q_NUMBER && is_multiple(ratio)) ||
					      (!is_whole(exp(rel->ln_k)) && is_doubled(ratio)));
}

static void differs(struct jl_audit_note *note, struct jl_sheet *s, const struct jl_relation rels[],
		    const struct jl_relation *rel, uint32_t row)
{
	const double value = jl_relation_value(s, rel, row, -1, 0);
	const bool repeats = rel->form == JL_FORM_SCALE && rel->ln_k == 0 && rel->ea > 0 &&
			     s->qty[rel->out] == s->qty[rel->a];
	struct jl_blame b;
	struct jl_audit_finding *said;
	char form[JL_AUDIT_TEXT_MAX], other[JL_SHOULD_MAX];
	int col;

	if (wrong_input(note, s, rel, row, &col) >= 0 || jl_finding_of(note, s->fig[row][rel->out]) >= 0 ||
	    !isfinite(value) || is_other(&note->figures[s->fig[row][rel->out]], rel, value))
		return; /* another cell is wrong, or none */
	if (!jl_sheet_blame(&b, note, s, rels, row, rel) || repeats)
		b = (struct jl_blame){ .col = rel->out, .value = value, .other = rel->a };
	const struct jl_figure *f = &note->figures[s->fig[row][b.col]];
	if (!(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, repeats ? "same-fact" : "table", s->fig[row][b.col])))
		return;
	say_relation(form, note, s, rel);
	for (struct jl_audit_finding *r = note->findings; rel->n_bad > rel->n_ok && r < said && said->root < 0; r++)
		if (r->figure >= 0 && note->figures[r->figure].line >= s->grid->first_line &&
		    strcmp(r->rule, "table") == 0)
			said->root = (int32_t)(r - note->findings); /* all rows deviate: one mistake */
	jl_fig_text(said->premises, note, f, b.value, f->digit / jl_fig_mid(f) > 0.05 && f->qty != JL_Q_COUNT);
	if (b.other < 0 && rel->n_bad <= rel->n_ok)
		jl_fig_digits(said->fix, f, b.value, 0);
	if (repeats) {
		const struct jl_figure *g = &note->figures[s->fig[row][rel->a]];
		uint32_t line, column;

		jl_audit_place(note, g->at, &line, &column);
		jl_audit_finding_explain(said, "line %u says %s; %d other rows say the same in both places", line,
					 JL_QUOTE(note, g), rel->n_ok);
	} else if (b.other < 0 || !(b.other_value > 0)) {
		jl_audit_finding_explain(said, "%.160s, as in %d other rows, gives %s", form, rel->n_ok,
					 said->premises);
	} else {
		const struct jl_figure *g = &note->figures[s->fig[row][b.other]];

		jl_audit_finding_explain(
			said, "%.120s, as in %d other rows, does not hold: it gives %s here, or %s in place of %s",
			form, rel->n_ok, said->premises, jl_fig_text(other, note, g, b.other_value, 0),
			JL_QUOTE(note, g));
	}
}

/* Relations between two tables are less certain, since they may be about different things. Requires the same column in both and a probable
 * typing error, or many rows with units. */
static bool clear_between(const struct jl_audit_note *note, const struct jl_sheet *s, const struct jl_relation *rel,
			  uint32_t row)
{
	const double ratio = exp(s->ln[row][rel->out]) / jl_relation_value(s, rel, row, -1, 0);
	const bool slip = fabs(log(ratio)) < 0.3 || fabs(fabs(log10(ratio)) - 1) < 0.02;
	char a[96], b[96];

	if (rel->n_ok < 4 || !slip)
		return false;
	if (rel->ln_k != 0 || rel->ea < 0)
		return rel->n_ok >= 5 && s->qty[rel->out] != JL_Q_NUMBER && s->qty[rel->out] != JL_Q_COUNT;
	jl_audit_label(a, sizeof a, note->text + s->head_at[rel->a], s->head_len[rel->a]);
	jl_audit_label(b, sizeof b, note->text + s->head_at[rel->out], s->head_len[rel->out]);
	return strcmp(a, b) == 0;
}

/* Relations defined by headers: out = a x b^eb; eb 0: out = k x a with k fitted from the rows. */
static const struct {
	const char *out, *a, *b, *unless;
	int eb;
	uint8_t qty[3]; /* quantities of out, a and b; JL_N_Q: any, with out equal to a */
} defined[] = {
	{ "amount|금액|subtotal|소계|line total|total|total price|total cost|합계|총액|총비용|총 비용",
	  "unit price|단가|unit cost|price each|each|per GPU|per card|per node|per unit|개당|장당|대당|GPU당|GPU 당",
	  "qty|quantity|수량|pieces|count|GPUs|cards|nodes|servers|GPU 수|장수|대수|노드 수",
	  "discount|할인|months|개월|기간|tax|세|VAT|배송|shipping|환율|hours|시간|days|일수",
	  1,
	  { JL_N_Q, JL_N_Q, JL_N_Q } },
	{ "algbw", "size", "time", "", -1, { JL_Q_BYTE_RATE, JL_Q_BYTES, JL_Q_TIME } },
	{ "busbw", "algbw", NULL, "", 0, { JL_Q_BYTE_RATE, JL_Q_BYTE_RATE, JL_N_Q } },
};

/* The nearest column with these words before `out`, otherwise the only one after it. */
static int head_with(const struct jl_audit_note *note, const struct jl_sheet *s, const char *words, int out)
{
	int before = -1, behind = -1;

	for (int c = 0; words && c < (int)s->n_cols; c++)
		if (c != out && s->head_len[c] && jl_span_has(note->text + s->head_at[c], s->head_len[c], words)) {
			if (c < out)
				before = c;
			else
				behind = behind < 0 ? c : -2;
		}
	return before >= 0 ? before : behind < 0 ? -1 : behind;
}

/* Number of ranks of a collective's table from the heading or preceding lines; 0: unknown. */
static double ranks_of(const struct jl_audit_note *note, const struct jl_grid *g)
{
	double n_ranks = 0, said = 0;

	for (uint32_t l = g->first_line, back = 0; l-- > 0 && back < 80; back++) {
		const struct jl_line *line = &note->lines[l];

		if (line->kind == JL_LINE_ROW)
			break;
		if (!line->n_figs || (line->kind == JL_LINE_TEXT && back > 6))
			continue; /* far above: may be another run */
		n_ranks += JL_PART_HAS(note, line, "Rank") && JL_PART_HAS(note, line, "Pid") &&
			   JL_PART_HAS(note, line, "device");
		for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++)
			if (note->figures[i].qty == JL_Q_COUNT && JL_PART_HAS(note, &note->figures[i], "ranks|랭크"))
				said = note->figures[i].lo;
		if (n_ranks == 0 && (said > 0 || line->kind == JL_LINE_HEAD))
			break;
	}
	return n_ranks > 0 ? n_ranks : said;
}

/* busbw / algbw: 2 (n-1)/n for all-reduce, (n-1)/n for other collectives that move all data. */
static double bus_factor(const struct jl_audit_note *note, const struct jl_grid *g, double n)
{
	static const char once[] = "all_gather|all_gather_perf|all-gather|reduce_scatter|reduce_scatter_perf|reduce-"
				   "scatter|alltoall|alltoall_perf|all-to-all|all_to_all";

	for (uint32_t l = g->first_line, back = 0; l-- > 0 && back < 60; back++) {
		if (JL_PART_HAS(note, &note->lines[l], once))
			return (n - 1) / n;
		if (note->lines[l].kind == JL_LINE_HEAD || note->lines[l].kind == JL_LINE_ROW)
			break;
	}
	return 2 * (n - 1) / n;
}

/* The constant of busbw = k x algbw: from the stated ranks, otherwise from agreeing rows if it corresponds to an integer number of ranks. */
static bool bus_constant(const struct jl_audit_note *note, const struct jl_sheet *s, struct jl_relation *rel,
			 double ranks)
{
	const bool fitted = jl_relation_constant(s, rel);

	if (ranks >= 2) {
		rel->ln_k = log(bus_factor(note, s->grid, ranks));
		return true;
	}
	for (double n = 2; fitted && n <= 64; n++)
		for (double up = 1; up <= 2; up++)
			if (fabs(rel->ln_k - log(up * (n - 1) / n)) < 0.002) {
				rel->ln_k = log(up * (n - 1) / n);
				return true;
			}
	return fitted;
}

/* Accepts a definition if at least one row agrees; otherwise the words mean something else. */
static bool by_heads(struct jl_relation *ret, const struct jl_audit_note *note, const struct jl_sheet *s, size_t which,
		     int out)
{
	const int eb = defined[which].eb;
	struct jl_relation rel = { .form = eb ? JL_FORM_PRODUCT : JL_FORM_SCALE,
				   .out = out,
				   .a = head_with(note, s, defined[which].a, out),
				   .b = head_with(note, s, defined[which].b, out),
				   .ea = 1,
				   .eb = eb,
				   .far = 0.004,
				   .tight = eb > 0,
				   .evidence = 1 };
	const int cols[] = { rel.out, rel.a, rel.b };

	if (rel.a < 0 || (eb && rel.b < 0) || s->qty[rel.a] == JL_N_Q || (eb > 0 && s->qty[out] != s->qty[rel.a]))
		return false;
	for (size_t i = 0; i < 3; i++)
		if (defined[which].qty[i] != JL_N_Q && s->qty[cols[i]] != defined[which].qty[i])
			return false;
	for (uint32_t c = 0; c < s->n_cols; c++)
		if (jl_span_has(note->text + s->head_at[c], s->head_len[c], defined[which].unless))
			return false;
	const double ranks = eb ? 0 : ranks_of(note, s->grid);
	if (!eb && !bus_constant(note, s, &rel, ranks))
		return false;
	for (uint32_t r = 0; r < s->n_rows; r++) {
		const enum jl_fit fit = jl_sheet_is_total(note, s, r) ? JL_FIT_NONE : jl_relation_fit(s, &rel, r);

		if (eb < 0 && s->in_slack[r][rel.a] + s->in_slack[r][rel.b] > 0.03)
			return false; /* e.g. "1 GB" in "10 ms" has a large rounding error */
		rel.n_ok += fit == JL_FIT_OK;
		rel.n_bad += fit == JL_FIT_BAD;
	}
	*ret = rel;
	return (rel.n_ok > 0 && rel.n_bad <= rel.n_ok) || (!eb && ranks >= 2);
}

/* --- a row of totals */

/* Headers of columns that are not summed: rates, means, extremes, unit prices, running totals. */
static const char not_added[] =
	"온도|temp|temperature|누적|cumulative|running|per|rate|ratio|share|%|/|단가|unit price|unit cost|price "
	"each|each|개당|장당|대당|당|비율|효율|efficiency|utilization|util|MFU|이용률|사용률|가동률|score|speedup|배속|"
	"배율|지연|°C|℃";

/* True if the column is a quotient of two others in all rows including the total. */
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

/* True if the figure in the total row is a mean, an extreme, the last value or a quotient. */
static bool is_no_sum(const struct jl_audit_note *note, const struct jl_sheet *s, uint32_t col, uint32_t total,
		      double sum)
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

/* True if the total is wrong rather than a row: other columns confirm all rows, or only the total's correction is a typing error. */
static bool is_total_wrong(const struct jl_audit_note *note, const struct jl_sheet *s, const struct jl_relation rels[],
			   uint32_t col, double off)
{
	const struct jl_figure *f = &note->figures[s->fig[s->total][col]];
	bool borne_out = true, row_slip = false;

	for (uint32_t r = 0; r < (uint32_t)s->total; r++) {
		const struct jl_figure *g = &note->figures[s->fig[r][col]];

		borne_out &= jl_sheet_bears_out(s, rels, r, (int)col) || jl_finding_of(note, s->fig[r][col]) >= 0 ||
			     note->verdicts[s->fig[r][col]] == JL_AUDIT_CONFIRMED;
		row_slip |= jl_fig_mid(g) > off && jl_fig_slip(note, g, jl_fig_mid(g) - off);
	}
	return borne_out || (!row_slip && jl_fig_slip(note, f, jl_fig_mid(f) + off) == 2);
}

static void judge_total(struct jl_audit_note *note, const struct jl_sheet *s, const struct jl_relation rels[])
{
	const uint32_t total = (uint32_t)s->total;
	int n_ok = 0;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t c = 0; c < s->n_cols; c++) {
			double sum = 0;
			const enum jl_fit fit = jl_sheet_adds_up(note, s, c, UINT32_MAX, 0, &sum);
			const struct jl_figure *f = fit ? &note->figures[s->fig[total][c]] : NULL;
			struct jl_audit_finding *said;

			if (fit == JL_FIT_OK) {
				n_ok += pass == 0;
				jl_audit_judge(note, s->fig[total][c], JL_AUDIT_CONFIRMED);
			}
			if (!pass || fit != JL_FIT_BAD || is_no_sum(note, s, c, total, sum) ||
			    !(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "table", s->fig[total][c])))
				continue;
			jl_fig_text(said->premises, note, f, sum, 0);
			said->shown = n_ok > 0 || (sum > 0.7 * jl_fig_mid(f) && sum < 1.4 * jl_fig_mid(f));
			if (is_total_wrong(note, s, rels, c, sum - jl_fig_mid(f))) {
				jl_fig_digits(said->fix, f, sum, 0);
				jl_audit_finding_explain(said, "the %u rows above add up to %s", total, said->premises);
			} else {
				jl_audit_finding_explain(
					said, "the %u rows above add up to %s; it, or a row of them, is wrong", total,
					said->premises);
			}
		}
}

static void judge_sheet(struct jl_audit_note *note, struct jl_sheet *s, uint32_t first_out, bool within)
{
	struct jl_relation rels[JL_AUDIT_COLS_MAX];

	/* for program output, definitions suffice */
	note->work -= s->grid->kind == JL_GRID_PRINTED ? 200.0 * s->n_rows : 0;
	jl_sheet_relations(rels, s, &note->work, s->grid->kind == JL_GRID_PRINTED ? s->n_cols : first_out, within);
	for (size_t i = 0; within && i < JL_LEN(defined); i++)
		for (int c = 0; c < (int)s->n_cols; c++) {
			struct jl_relation rel;

			if (s->head_len[c] && jl_span_has(note->text + s->head_at[c], s->head_len[c], defined[i].out) &&
			    by_heads(&rel, note, s, i, c))
				rels[c] = rel;
		}
	/* first wrong cells, then their consequences */
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t c = 0; c < s->n_cols; c++)
			for (uint32_t r = 0; rels[c].evidence > 0 && r < s->n_rows; r++) {
				const enum jl_fit fit = jl_relation_fit(s, &rels[c], r);

				if (pass && fit == JL_FIT_OK)
					follows(note, s, &rels[c], r);
				else if (!pass && fit == JL_FIT_BAD && !jl_sheet_is_total(note, s, r) &&
					 (within || clear_between(note, s, &rels[c], r)))
					differs(note, s, rels, &rels[c], r);
			}
	if (s->total > 0)
		judge_total(note, s, rels);
	note->cut |= note->work < 0;
}

/* --- two tables with the same rows */

static bool same_row(const struct jl_audit_note *note, const struct jl_grid *a, uint32_t r, const struct jl_grid *b,
		     uint32_t i)
{
	const int32_t x = jl_grid_cell(a, r, 0)->mention, y = jl_grid_cell(b, i, 0)->mention;

	if (x >= 0 && y >= 0) {
		const struct jl_mention *m = &note->mentions[x], *k = &note->mentions[y];

		return jl_same_entity(note, m, k) && (m->count == k->count || !m->count || !k->count);
	}
	return a->labels[r] && a->labels[r] == b->labels[i];
}

/* The row of `b` about the same thing as row `r` of `a`; none if ambiguous. */
static int32_t partner(const struct jl_audit_note *note, const struct jl_grid *a, uint32_t r, const struct jl_grid *b)
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

static uint32_t add_columns(const struct jl_audit_note *note, struct jl_sheet *s, const struct jl_grid *g,
			    const int32_t *rows)
{
	for (uint32_t c = 1; c < g->n_cols && s->n_cols < JL_AUDIT_COLS_MAX; c++) {
		uint32_t n = 0;

		for (uint32_t r = 0; r < s->n_rows; r++)
			n += (s->fig[r][s->n_cols] = jl_grid_cell(g, (uint32_t)rows[r], c)->fig) >= 0;
		if (n >= 3)
			jl_sheet_add(note, s, g->has_heads ? jl_grid_cell(g, 0, c) : NULL);
	}
	return s->n_cols;
}

/* Compares the later table's columns with the earlier one's. */
static void judge_pair(struct jl_audit_note *note, struct jl_sheet *s, const struct jl_grid *a, const struct jl_grid *b)
{
	int32_t rows_a[64], rows_b[64];

	s->n_rows = s->n_cols = 0;
	s->grid = a;
	s->total = -1;
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

#define PAIRED_GRIDS 16 /* number of preceding tables to compare with */

void jl_rule_tables(struct jl_audit_note *note)
{
	struct jl_sheet *s = jl_arena_alloc(note->arena, sizeof *s);

	if (!s)
		return;
	for (size_t i = 0; i < note->n_grids && note->work > 0; i++) {
		jl_sheet_of(note, s, &note->grids[i]);
		judge_sheet(note, s, 1, true);
	}
	for (size_t i = 1; i < note->n_grids && note->work > 0; i++)
		for (size_t k = i > PAIRED_GRIDS ? i - PAIRED_GRIDS : 0; k < i; k++) {
			const struct jl_grid *a = &note->grids[k], *b = &note->grids[i];

			note->work -= (double)a->n_rows * (a->n_rows + b->n_rows);
			if (note->work > 0 && a->n_rows <= 64 && b->n_rows <= 64 && a->kind != JL_GRID_PRINTED &&
			    b->kind != JL_GRID_PRINTED)
				judge_pair(note, s, a, b);
		}
}
