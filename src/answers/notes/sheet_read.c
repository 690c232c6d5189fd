/* Converts a grid to numbers: selects rows and columns with figures, and determines each column's quantity. */
#include <math.h>
#include <string.h>

#include "notes/sheet.h"

static void put(const struct jl_audit_note *note, struct jl_sheet *s, uint32_t row, uint32_t col, int32_t fig)
{
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

/* Headers of measured columns, whose integers are rounded. Integers in other columns are exact counts. */
static const char measured[] = "/s|per|rate|throughput|time|ms|sec|seconds|speed|score|latency|GB|GB/"
			       "s|TFLOP|TFLOPS|GFLOPS|처리량|시간|속도|지연|TTFT|TPOT|us";

static const char ratios[] =
	"speedup|speed-up|speed "
	"up|scaling|ratio|busbw|relative|efficiency|vs|over|improvement|배속|배율|효율|상대|대비|비율|향상";

static const char stats[] = "p25|p50|p75|p90|p95|p98|p99|percentile|median|std|stddev|stdev|min|max|avg|average|mean|"
			    "latency|jitter|90%|95%|99%|중앙값|평균|표준편차|최소|최대|loss|accuracy|정확도";

/* True for settings such as 1, 2, 4, 8. */
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

static void column_kind(const struct jl_audit_note *note, struct jl_sheet *s, uint32_t col)
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

/* Columns of remarks, ranks and years are not quantities. */
static bool is_remark(const struct jl_audit_note *note, const struct jl_cell *head)
{
	return (head->len == 1 && note->text[head->at] == '#') ||
	       (head->len < 14 &&
		JL_PART_HAS(note, head, "note|notes|remark|비고|rank|순위|no|id|연도|출시년도|date|version"));
}

static struct jl_cell *cell_at(const struct jl_grid *g, uint32_t row, uint32_t col)
{
	return g->sideways ? jl_grid_cell(g, col, row) : jl_grid_cell(g, row, col);
}

static double head_number(const struct jl_audit_note *note, const struct jl_cell *head)
{
	return head && head->fig >= 0 ? note->figures[head->fig].lo / note->figures[head->fig].scale : NAN;
}

void jl_sheet_add(const struct jl_audit_note *note, struct jl_sheet *s, const struct jl_cell *head)
{
	const uint32_t c = s->n_cols++;

	for (uint32_t r = 0; r < s->n_rows; r++)
		put(note, s, r, c, s->fig[r][c]);
	s->head_at[c] = head ? head->at : 0;
	s->head_len[c] = head ? head->len : 0;
	s->head_number[c] = head_number(note, head);
	column_kind(note, s, c);
}

/* Rows and columns with figures. */
void jl_sheet_of(const struct jl_audit_note *note, struct jl_sheet *s, const struct jl_grid *g)
{
	const uint32_t n_rows = g->sideways ? g->n_cols : g->n_rows, n_cols = g->sideways ? g->n_rows : g->n_cols;

	s->n_rows = s->n_cols = 0; /* the rest is large and is set where needed */
	s->grid = g;
	s->total = -1;
	for (uint32_t r = g->has_heads; r < n_rows && s->n_rows < JL_AUDIT_ROWS_MAX; r++)
		s->row_of[s->n_rows++] = r;
	for (uint32_t c = 0; c < n_cols && s->n_cols < JL_AUDIT_COLS_MAX; c++) {
		const struct jl_cell *head = cell_at(g, 0, c);
		uint32_t n = 0;

		for (uint32_t r = 0; r < s->n_rows; r++)
			n += (s->fig[r][s->n_cols] = cell_at(g, s->row_of[r], c)->fig) >= 0;
		if (n >= 2 && !(g->has_heads && is_remark(note, head)))
			jl_sheet_add(note, s, g->has_heads ? head : NULL);
	}
	for (uint32_t r = 2; r < s->n_rows && s->total < 0; r++)
		if (jl_sheet_is_total(note, s, r) &&
		    (g->sideways || r + 1 >= s->n_rows || g->labels[s->row_of[r]] != g->labels[s->row_of[r + 1]]))
			s->total = (int32_t)r; /* a second total row disables both */
}

/* matches "Total", but not "total_token_throughput" or "SUM<F16>" */
bool jl_sheet_is_total(const struct jl_audit_note *note, const struct jl_sheet *s, uint32_t row)
{
	const struct jl_cell *label = cell_at(s->grid, s->row_of[row], 0);
	char name[40];

	return label->len < 40 && JL_PART_HAS(note, label, "total|sum|합계|총계|총합|합") &&
	       jl_audit_label(name, sizeof name, note->text + label->at, label->len) &&
	       (strcmp(name, "sum") == 0 || !JL_PART_HAS(note, label, "sum|throughput|/s|tokens|token|rate|latency"));
}
