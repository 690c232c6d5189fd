/* Discovers relations between columns: a relation is accepted if enough rows agree, within their written digits, to rule out chance. Each
 * agreeing row contributes -ln(2 tolerance / spread) nats of evidence. A fitted constant costs the best row, and each tried relation a share.
 * Each column gets the simplest relation with the most evidence. */
#include "notes/sheet.h"

#include <math.h>

#include "base/stats.h"

#define ENOUGH      4.0  /* required nats beyond the cost of trying: 1 in 50 by chance */
#define LOOSE       0.12 /* rows with a larger tolerance are not evidence against a relation */
#define CLOSE       0.03
#define TIGHT       0.003
#define FAR_FRAC    0.004
#define FAR_FITTED  0.015 /* tolerance with a fitted constant: measurements scatter */
#define FAR_RATE    0.03  /* tolerance for a measured rate and a measured time */
#define ROUND_BONUS 2.2
#define DEFINED     5.0 /* bonus for relations defined by units, such as time = count / rate */
#define WEAK        6.0
#define AGAINST     1.5 /* cost of a contradicting row, nats */
#define A_ROW       1.9 /* maximum mean evidence per row, nats: many rows with few digits agree with many relations */
#define ROWS_SEEN   200
#define MANY_ALIKE  6

struct search {
	const struct jl_sheet *s;
	struct jl_relation *ret;
	double tried;
	bool within; /* columns of one table */
};

static double spread(const struct jl_sheet *s, int col)
{
	double lo = INFINITY, hi = -INFINITY;

	for (uint32_t r = 0; r < s->n_rows; r++)
		if (!isnan(s->ln[r][col])) {
			lo = fmin(lo, s->ln[r][col]);
			hi = fmax(hi, s->ln[r][col]);
		}
	return hi > lo ? hi - lo : 0;
}

double jl_relation_value(const struct jl_sheet *s, const struct jl_relation *rel, uint32_t row, int col, double with)
{
	const double with_ln = with > 0 ? log(with) : isnan(with) ? NAN : -INFINITY;
	const double a = rel->a == col ? with_ln : s->ln[row][rel->a];
	const double b = rel->b < 0 ? 0 : rel->b == col ? with_ln : s->ln[row][rel->b];
	double sum = 0;

	switch (rel->form) {
	case JL_FORM_SUM: return exp(a) + rel->eb * exp(b);
	case JL_FORM_REST: return exp(rel->ln_k) - exp(a);
	case JL_FORM_ROW:
		for (int c = rel->a; c <= rel->b; c++)
			sum += c == col ? with : exp(s->ln[row][c]);
		return sum;
	default: return exp(rel->ln_k + rel->ea * a + (rel->b >= 0 ? rel->eb * b : 0));
	}
}

/* A row's deviation and its tolerance: results are rounded or truncated, inputs may have had more digits. */
static bool off(const struct jl_sheet *s, const struct jl_relation *rel, uint32_t r, double *ret_off, double *ret_tol)
{
	const bool adds = rel->form == JL_FORM_SUM || rel->form == JL_FORM_REST || rel->form == JL_FORM_ROW;
	const double out = s->ln[r][rel->out];
	double tol = s->slack[r][rel->out], ln_value;

	if (isnan(out))
		return false;
	if (adds)
		ln_value = log(jl_relation_value(s, rel, r, -1, 0));
	else
		ln_value = rel->ln_k + rel->ea * s->ln[r][rel->a] + (rel->b < 0 ? 0 : rel->eb * s->ln[r][rel->b]);
	if (!isfinite(ln_value))
		return false;
	if (adds) {
		const int last = rel->form == JL_FORM_ROW ? rel->b : rel->a;

		for (int c = rel->a; c <= last; c++)
			tol += s->in_slack[r][c] * exp(s->ln[r][c] - out);
		if (rel->form == JL_FORM_SUM)
			tol += s->in_slack[r][rel->b] * exp(s->ln[r][rel->b] - out);
	} else {
		tol += s->in_slack[r][rel->a] + (rel->b < 0 ? 0 : s->in_slack[r][rel->b]);
	}
	*ret_off = out - ln_value;
	/* where all other rows match exactly, inputs like "2 kW" and "3 h" are exact */
	*ret_tol = rel->tight ? fmin(tol, TIGHT + s->slack[r][rel->out]) : tol;
	*ret_tol += 1e-6;
	return true;
}

static bool is_rate(const struct jl_sheet *s, int col)
{
	return col >= 0 && (s->is_rate[col] || s->qty[col] == JL_Q_COUNT_RATE);
}

/* Tests whether a constant is an integer or a reciprocal of one, for values or for digits in their units (100 h at 340 W are 34 kWh). */
static bool whole_factor(const struct jl_sheet *s, const struct jl_relation *rel, double *ret_ln_k)
{
	const double unit = s->ln_unit[rel->out] - rel->ea * s->ln_unit[rel->a] -
			    (rel->b < 0 ? 0 : rel->eb * s->ln_unit[rel->b]),
		     units[] = { 0, isfinite(unit) && rel->b < 0 ? unit : 0 };

	for (size_t i = 0; i < 2; i++) {
		const double k = exp(rel->ln_k - units[i]);

		if (k > 0.97 && k < 1000 && fabs(k - round(k)) < 0.03 * k)
			*ret_ln_k = log(round(k)) + units[i];
		else if (k < 0.52 && k > 0.001 && fabs(1 / k - round(1 / k)) < 0.03 / k)
			*ret_ln_k = -log(round(1 / k)) + units[i]; /* a reciprocal */
		else
			continue;
		return true;
	}
	return false;
}

static bool is_whole(const struct jl_sheet *s, const struct jl_relation *rel)
{
	double ln_k;

	return whole_factor(s, rel, &ln_k) && fabs(ln_k - rel->ln_k) < 1e-9;
}

/* True for money or energy proportional to time. */
static bool is_priced(const struct jl_sheet *s, const struct jl_relation *rel)
{
	const uint8_t out = s->qty[rel->out], a = s->qty[rel->a];

	if (rel->ea < 0 || rel->b >= 0)
		return false;
	if (out == JL_Q_USD || out == JL_Q_KRW)
		return a == JL_Q_TIME || a == JL_Q_GPU_TIME || a == JL_Q_ENERGY || a == JL_Q_USD_RATE;
	return out == JL_Q_ENERGY && (a == JL_Q_TIME || a == JL_Q_POWER);
}

/* How far beyond its tolerance a row must deviate to be wrong. */
static double far(const struct jl_sheet *s, const struct jl_relation *rel)
{
	const bool fitted = rel->form == JL_FORM_SCALE || rel->form == JL_FORM_SCALE2;

	if (s->qty[rel->out] == JL_Q_TIME && (is_rate(s, rel->a) || is_rate(s, rel->b)))
		return fitted && !is_whole(s, rel) ? 2 * FAR_RATE : FAR_RATE;
	if (fitted && !is_whole(s, rel) && !is_priced(s, rel))
		return FAR_FITTED;
	return fitted ? FAR_FRAC : FAR_FRAC / 4;
}

enum jl_fit jl_relation_fit(const struct jl_sheet *s, const struct jl_relation *rel, uint32_t row)
{
	double o, tol;

	if (!off(s, rel, row, &o, &tol))
		return JL_FIT_NONE;
	if (fabs(o) <= tol)
		return JL_FIT_OK;
	return (rel->tight || tol < LOOSE) && fabs(o) > 1.3 * tol + rel->far ? JL_FIT_BAD : JL_FIT_NONE;
}

static int count_ok(const struct jl_sheet *s, const struct jl_relation *rel)
{
	int n = 0;

	for (uint32_t r = 0; r < s->n_rows; r++)
		n += jl_relation_fit(s, rel, r) == JL_FIT_OK;
	return n;
}

/* Tests for unit conversions: seconds per day, hours per year, times any power of ten. */
static bool is_conversion(const struct jl_relation *rel, double *ret_ln_k)
{
	/* ln of 1, 1.024, 1.024^3, 2.4, 3, 3.6, 3.65, 6, 8.64, 8.76 */
	static const double of[] = { 0,
				     0.02371652661,
				     0.07114957983,
				     0.87546873735,
				     1.09861228867,
				     1.28093384546,
				     1.29472716759,
				     1.79175946923,
				     2.15640258281,
				     2.17019590494 };
	const double power = floor(rel->ln_k / M_LN10) * M_LN10;

	for (size_t i = 0; i < JL_LEN(of); i++)
		if (fabs((*ret_ln_k = of[i] + power) - rel->ln_k) < 0.003)
			return true;
	return false;
}

/* Replaces the constant by a round one if it fits as well: ten epochs, 24 hours. */
static void round_constant(const struct jl_sheet *s, struct jl_relation *rel)
{
	struct jl_relation rounded = *rel;

	if ((whole_factor(s, rel, &rounded.ln_k) || is_conversion(rel, &rounded.ln_k)) &&
	    count_ok(s, &rounded) >= count_ok(s, rel))
		*rel = rounded;
}

/* Fits the constant: the median, then the mean of nearby values weighted by their precision. */
bool jl_relation_constant(const struct jl_sheet *s, struct jl_relation *rel)
{
	double k[ROWS_SEEN], o, tol, sum = 0, weight = 0, median;
	size_t n = 0;

	rel->ln_k = 0;
	for (uint32_t r = 0; r < s->n_rows && n < ROWS_SEEN; r++)
		if (off(s, rel, r, &o, &tol))
			k[n++] = o;
	if (n < 3)
		return false;
	jl_stats_sort(k, n);
	median = k[n / 2];
	for (uint32_t r = 0; r < s->n_rows; r++)
		if (off(s, rel, r, &o, &tol) && fabs(o - median) <= 2 * tol) {
			sum += o / (tol * tol);
			weight += 1 / (tol * tol);
		}
	if (!(weight > 0))
		return false;
	rel->ln_k = sum / weight;
	round_constant(s, rel);
	return true;
}

static bool seen_before(const struct jl_sheet *s, const struct jl_relation *rel, uint32_t row)
{
	for (uint32_t r = row > 64 ? row - 64 : 0; r < row; r++)
		if (s->ln[r][rel->out] == s->ln[row][rel->out] && s->ln[r][rel->a] == s->ln[row][rel->a] &&
		    (rel->b < 0 || s->ln[r][rel->b] == s->ln[row][rel->b]))
			return true;
	return false;
}

/* True if a column (or with `less` its ratio to another) varies over the agreeing rows. Constants explain nothing. */
static bool varies(const struct jl_sheet *s, const struct jl_relation *rel, int col, int less)
{
	double lo = INFINITY, hi = -INFINITY, slack = 0;

	for (uint32_t r = 0; r < s->n_rows; r++)
		if (jl_relation_fit(s, rel, r) == JL_FIT_OK) {
			const double v = s->ln[r][col] - (less < 0 ? 0 : s->ln[r][less]);

			lo = fmin(lo, v);
			hi = fmax(hi, v);
			slack = fmax(slack, s->slack[r][col]);
		}
	return hi - lo > 2 * slack + 0.02;
}

static bool has_unit(uint8_t qty)
{
	return qty != JL_Q_NUMBER && qty != JL_Q_COUNT && qty != JL_N_Q;
}

/* True if a plain column has a base row: 1 or 100. */
static bool has_base(const struct jl_sheet *s, int col)
{
	if (!s->is_ratio[col])
		return false;
	for (uint32_t r = 0; r < s->n_rows; r++)
		if (fabs(s->ln[r][col]) < 1e-9 || fabs(s->ln[r][col] - log(100)) < 1e-9)
			return true;
	return false;
}

/* Number of rows that agree closely; small integers agree easily. */
static int n_close(const struct jl_sheet *s, const struct jl_relation *rel)
{
	double o, tol;
	int n = 0;

	for (uint32_t r = 0; r < s->n_rows; r++)
		n += off(s, rel, r, &o, &tol) && fabs(o) <= tol && tol < CLOSE;
	return n;
}

/* The factor is in the header: "Month (30 days)" = 30 x "day". */
static bool factor_in_head(const struct jl_sheet *s, const struct jl_relation *rel)
{
	const double unit = s->ln_unit[rel->out] - s->ln_unit[rel->a];

	return rel->form == JL_FORM_SCALE && rel->ea > 0 && s->head_number[rel->out] > 1.5 &&
	       (fabs(rel->ln_k - log(s->head_number[rel->out])) < 1e-9 ||
		fabs(rel->ln_k - unit - log(s->head_number[rel->out])) < 1e-9);
}

/* Plausibility of a relation. Exact forms need few rows. Fitted constants between plain numbers need many. The same column twice in one table is
 * excluded. */
static bool meant(const struct search *in, const struct jl_relation *rel)
{
	const struct jl_sheet *s = in->s;
	const uint8_t out = s->qty[rel->out], a = s->qty[rel->a];
	const bool round_k = is_whole(s, rel);

	if (!varies(s, rel, rel->out, -1))
		return false;
	if (rel->form == JL_FORM_ROW)
		return rel->n_ok >= 3;
	if (rel->form == JL_FORM_PRODUCT && has_unit(out) && (has_unit(a) || has_unit(s->qty[rel->b])) &&
	    (has_unit(a) || varies(s, rel, rel->a, -1)) && (has_unit(s->qty[rel->b]) || varies(s, rel, rel->b, -1)))
		return rel->n_ok >= 2; /* a common price is accepted, a count of one is not a factor */
	if (!varies(s, rel, rel->a, -1) || (rel->b >= 0 && !varies(s, rel, rel->b, -1)))
		return false;
	switch (rel->form) {
	case JL_FORM_PRODUCT:
		return has_unit(out) ? rel->n_ok >= 2 : n_close(s, rel) >= 3 && n_close(s, rel) * 2 > rel->n_ok;
	case JL_FORM_SUM: return rel->n_ok >= 3 && varies(s, rel, rel->a, rel->b);
	case JL_FORM_REST: return has_unit(out);
	case JL_FORM_SCALE2:
		return rel->n_ok >= 3 && has_unit(out) &&
		       rel->evidence > (has_unit(a) || has_unit(s->qty[rel->b]) ? 0 : 3);
	default: break;
	}
	if (factor_in_head(s, rel))
		return true;
	if (rel->n_ok < 3 || (in->within && rel->ln_k == 0 && s->ln_unit[rel->out] == s->ln_unit[rel->a]))
		return false;
	if (in->within && out == a && has_unit(a) && s->ln_unit[rel->out] == s->ln_unit[rel->a] &&
	    n_close(s, rel) * 2 <= rel->n_ok)
		return false;
	if (out == JL_Q_RATIO || out == JL_Q_PERCENT || (out == a && has_unit(a) && round_k))
		return true;
	if (!has_unit(out) && !has_unit(a) && !has_base(s, rel->out))
		return rel->n_ok >= 5 && rel->evidence > 10 && n_close(s, rel) == rel->n_ok;
	if (has_unit(out) && has_unit(a) && (round_k || n_close(s, rel) == rel->n_ok))
		return rel->evidence > 1.5;
	return rel->evidence > (has_base(s, rel->out) ? 0 : 5);
}

/* True if at least three rows agree within a few parts in a thousand, and at most one does not. */
static bool is_tight(const struct jl_sheet *s, const struct jl_relation *rel)
{
	int n = 0, others = 0;

	for (uint32_t r = 0; r < s->n_rows; r++) {
		double o, tol;

		if (!off(s, rel, r, &o, &tol))
			continue;
		n += fabs(o) <= TIGHT;
		others += fabs(o) > TIGHT;
	}
	return n >= 3 && others <= 1;
}

/* Number of rows that may disagree: one; in long tables 1 in 25; more for exact sums in one unit. */
static int n_against(const struct jl_sheet *s, const struct jl_relation *rel)
{
	if (rel->form == JL_FORM_SCALE || rel->form == JL_FORM_SCALE2)
		return 1;
	if (rel->n_ok >= 5 && has_unit(s->qty[rel->out]))
		return rel->n_ok / 3;
	return rel->n_ok < 25 ? 1 : (rel->n_ok + rel->n_bad) / 25;
}

/* True if the units of both sides agree: energy = power x time, time = count / rate. */
static bool by_units(const struct jl_sheet *s, const struct jl_relation *rel)
{
	const uint8_t out = s->qty[rel->out], a = s->qty[rel->a], b = rel->b < 0 ? JL_Q_NUMBER : s->qty[rel->b];

	if ((rel->form != JL_FORM_PRODUCT && rel->form != JL_FORM_SCALE) || out == a || out == b ||
	    out == JL_Q_PERCENT || out == JL_Q_RATIO || a == JL_N_Q || b == JL_N_Q || !has_unit(out))
		return false;
	for (size_t d = 0; d < JL_N_DIM; d++)
		if (jl_qty_dims(out)[d] != rel->ea * jl_qty_dims(a)[d] + rel->eb * jl_qty_dims(b)[d])
			return false;
	return true;
}

/* Number of columns with the same quantity and unit; many of them are parts of a measured total. */
static int n_alike(const struct jl_sheet *s, int col)
{
	int n = 0;

	for (uint32_t c = 0; c < s->n_cols; c++)
		n += s->qty[c] == s->qty[col] && s->ln_unit[c] == s->ln_unit[col];
	return n;
}

static void weigh(const struct search *in, struct jl_relation *rel)
{
	const struct jl_sheet *s = in->s;
	const double span = fmax(spread(s, rel->out), 0.7), k = exp(rel->ln_k);
	double best = 0, ln_k;
	int n = 0;

	rel->tight = rel->form == JL_FORM_PRODUCT && is_tight(s, rel);
	rel->far = far(s, rel);
	rel->evidence = 0;
	rel->n_ok = rel->n_bad = 0;
	for (uint32_t r = 0; r < s->n_rows; r++) {
		const enum jl_fit fit = jl_relation_fit(s, rel, r);
		double o, tol, bears;

		rel->n_ok += fit == JL_FIT_OK;
		rel->n_bad += fit == JL_FIT_BAD;
		if (fit != JL_FIT_OK || seen_before(s, rel, r) || !off(s, rel, r, &o, &tol))
			continue;
		bears = fmax(0, -log(fmin(1, 2 * fmax(tol, 1e-3) / span)));
		best = fmax(best, bears);
		rel->evidence += bears;
		n++;
	}
	if (rel->evidence < A_ROW * n && !rel->tight &&
	    !(has_unit(s->qty[rel->out]) && s->qty[rel->out] == s->qty[rel->a])) {
		rel->evidence = -1;
		return;
	}
	if (rel->form == JL_FORM_SCALE || rel->form == JL_FORM_SCALE2)
		rel->evidence -= best;
	rel->evidence -= log(in->tried) + ENOUGH;
	/* an integer multiple of the same quantity is common: ten epochs, eight cards, hours to days */
	if (rel->form == JL_FORM_SCALE && rel->ea > 0 && s->qty[rel->out] == s->qty[rel->a] &&
	    has_unit(s->qty[rel->a]) && fabs(k - round(k)) < 0.03 * k && k > 0.97 && n_alike(s, rel->out) < MANY_ALIKE)
		rel->evidence += ROUND_BONUS;
	const bool priced = rel->form == JL_FORM_SCALE && is_priced(s, rel);
	if ((rel->form == JL_FORM_PRODUCT && rel->ln_k == 0 && by_units(s, rel)) || factor_in_head(s, rel))
		rel->evidence += DEFINED;
	else if (rel->form == JL_FORM_SCALE &&
		 ((by_units(s, rel) && is_whole(s, rel)) || priced ||
		  (rel->ea > 0 && s->qty[rel->out] != s->qty[rel->a] && is_conversion(rel, &ln_k))))
		rel->evidence += ROUND_BONUS;
	int most_bad = n_against(s, rel);
	/* an integer multiple or a remainder without contradiction is enough to propagate an error */
	if (rel->evidence <= 0 && rel->evidence > -WEAK && rel->n_bad == 0 && s->qty[rel->out] == s->qty[rel->a] &&
	    has_unit(s->qty[rel->out]) &&
	    ((rel->form == JL_FORM_SCALE && rel->ea > 0 && rel->n_ok >= 3 && k > 1.5 && fabs(k - round(k)) < 1e-9) ||
	     (rel->form == JL_FORM_REST && rel->n_ok >= 2))) {
		rel->weak = true;
		rel->evidence = 1e-6;
		return;
	}
	if (rel->n_ok < 2 || rel->n_bad > most_bad || (rel->n_bad * 2 >= rel->n_ok && !factor_in_head(s, rel)) ||
	    (rel->evidence > 0 && !meant(in, rel)))
		rel->evidence = -1;
}

/* Prefers more evidence per contradicting row, then simplicity. */
static bool better(const struct jl_relation *x, const struct jl_relation *y)
{
	if (!(y->evidence > 0))
		return x->evidence > 0;
	if (!(x->evidence > 0))
		return false;
	if (x->weak != y->weak)
		return !x->weak;
	if (x->n_bad != y->n_bad)
		return x->evidence - AGAINST * x->n_bad > y->evidence - AGAINST * y->n_bad;
	if ((x->b < 0) != (y->b < 0))
		return x->b < 0;
	if ((x->ln_k == 0) != (y->ln_k == 0))
		return x->ln_k == 0;
	return x->evidence > y->evidence;
}

/* Excludes independent measurements as results, rates as results of other rates of the same kind, and times proportional to rates. */
static bool may_follow(const struct jl_sheet *s, const struct jl_relation *rel)
{
	const uint8_t out = s->qty[rel->out];
	const int ins[] = { rel->a, rel->b }, signs[] = { rel->ea, rel->eb };

	if (s->is_stat[rel->out])
		return false;
	for (size_t i = 0; i < 2 && ins[i] >= 0; i++) {
		const bool rate = is_rate(s, ins[i]);

		if (s->is_stat[ins[i]] ||
		    (rel->form == JL_FORM_SCALE2 && is_rate(s, rel->out) && out == s->qty[ins[i]]) ||
		    (rel->form == JL_FORM_SCALE2 && (out == JL_Q_FLOP_RATE || out == JL_Q_BYTE_RATE) &&
		     out == s->qty[ins[i]]))
			return false;
		if (rel->form != JL_FORM_ROW && signs[i] > 0 &&
		    ((rate && out == JL_Q_TIME) || (is_rate(s, rel->out) && s->qty[ins[i]] == JL_Q_TIME)))
			return false;
	}
	return true;
}

/* The ratio of two figures with the same quantity and unit is meaningful only if it is an integer. */
static bool constant_means(const struct jl_sheet *s, const struct jl_relation *rel)
{
	const uint8_t out = s->qty[rel->out];

	if (is_whole(s, rel) || !has_unit(out) || out == JL_Q_RATIO || out == JL_Q_PERCENT || s->is_ratio[rel->out])
		return true;
	return !((out == s->qty[rel->a] && s->ln_unit[rel->out] == s->ln_unit[rel->a]) ||
		 (rel->b >= 0 && out == s->qty[rel->b] && s->ln_unit[rel->out] == s->ln_unit[rel->b]));
}

/* For values with units, only products with matching units are meaningful; shares and ratios agree by chance. */
static bool units_go(const struct jl_sheet *s, const struct jl_relation *rel)
{
	const uint8_t out = s->qty[rel->out], a = s->qty[rel->a], b = s->qty[rel->b];

	if (out == JL_N_Q || a == JL_N_Q || b == JL_N_Q)
		return false;
	return out != a || a != b || !has_unit(out);
}

static void try_one(const struct search *in, struct jl_relation rel)
{
	if (!may_follow(in->s, &rel))
		return;
	if ((rel.form == JL_FORM_SCALE || rel.form == JL_FORM_SCALE2) &&
	    (!jl_relation_constant(in->s, &rel) || !(constant_means(in->s, &rel) || !in->within)))
		return;
	if (rel.form == JL_FORM_PRODUCT && !units_go(in->s, &rel))
		return;
	weigh(in, &rel);
	if (better(&rel, &in->ret[rel.out]))
		in->ret[rel.out] = rel;
}

static bool same_kind(const struct jl_sheet *s, int a, int b)
{
	return s->qty[a] == s->qty[b] && s->qty[a] != JL_N_Q;
}

static void try_pair(const struct search *in, int out, int a)
{
	for (int e = -1; e <= 1; e += 2)
		try_one(in, (struct jl_relation){ .form = JL_FORM_SCALE, .out = out, .a = a, .b = -1, .ea = e });
	/* e.g. "saved" = first row's time - this row's */
	for (uint32_t r = 0; r < in->s->n_rows && r < 3; r++)
		if (same_kind(in->s, out, a) && isnan(in->s->ln[r][out]) && !isnan(in->s->ln[r][a]))
			try_one(in,
				(struct jl_relation){
					.form = JL_FORM_REST, .out = out, .a = a, .b = -1, .ln_k = in->s->ln[r][a] });
}

static void try_triple(const struct search *in, int out, int a, int b)
{
	static const int signs[][2] = { { 1, 1 }, { 1, -1 }, { -1, 1 } };

	for (size_t i = 0; i < 3; i++) {
		struct jl_relation rel = {
			.form = JL_FORM_PRODUCT, .out = out, .a = a, .b = b, .ea = signs[i][0], .eb = signs[i][1]
		};

		try_one(in, rel);
		/* on digits without units: 3,300 in 11 days are 300 a day */
		rel.ln_k = in->s->ln_unit[out] - rel.ea * in->s->ln_unit[a] - rel.eb * in->s->ln_unit[b];
		if (fabs(rel.ln_k) > 1e-9)
			try_one(in, rel);
		rel.form = JL_FORM_SCALE2;
		try_one(in, rel);
	}
	if (!same_kind(in->s, out, a) || !same_kind(in->s, out, b))
		return;
	try_one(in, (struct jl_relation){ .form = JL_FORM_SUM, .out = out, .a = a, .b = b, .ea = 1, .eb = 1 });
	try_one(in, (struct jl_relation){ .form = JL_FORM_SUM, .out = out, .a = a, .b = b, .ea = 1, .eb = -1 });
	try_one(in, (struct jl_relation){ .form = JL_FORM_SUM, .out = out, .a = b, .b = a, .ea = 1, .eb = -1 });
}

/* A last column that is the sum of the preceding ones. */
static void try_row(const struct search *in, int out)
{
	int a = out - 1;

	while (a >= 0 && same_kind(in->s, out, a)) {
		if (out - a >= 3)
			try_one(in, (struct jl_relation){ .form = JL_FORM_ROW, .out = out, .a = a, .b = out - 1 });
		a--;
	}
}

void jl_sheet_relations(struct jl_relation ret[JL_AUDIT_COLS_MAX], const struct jl_sheet *s, double *work,
			uint32_t first_out, bool within)
{
	const double n = s->n_cols, pairs = n * (n - 1), triples = within ? n * (n - 1) * (n - 2) / 6 * 9 : 0;
	struct search in = { .s = s, .ret = ret, .tried = fmax(pairs, 1), .within = within };

	for (size_t i = 0; i < JL_AUDIT_COLS_MAX; i++)
		ret[i] = (struct jl_relation){ .evidence = -1, .b = -1 };
	*work -= first_out < s->n_cols ? (pairs + triples) * s->n_rows * 4 : 0;
	if (*work < 0 || s->n_rows < 2 || s->n_cols < 2)
		return;
	for (int out = (int)first_out; out < (int)s->n_cols; out++)
		for (int a = 0; a < (within ? out : (int)first_out); a++)
			try_pair(&in, out, a);
	in.tried = fmax(pairs + triples, 1);
	for (int out = first_out > 2 ? (int)first_out : 2; within && out < (int)s->n_cols; out++) {
		try_row(&in, out);
		for (int a = 0; a < out; a++)
			for (int b = a + 1; b < out; b++)
				try_triple(&in, out, a, b);
	}
}
