/* Fits interval widths to left-out rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "parameters/optimize.h"
#include "score/score.h"
#include "score/validate.h"

/* Intervals of left-out rows. With sources left out, a row's width is fitted to the residuals of all other sources, each predicted without itself:
 * neither its prediction nor its interval has seen it. */

static enum jl_status gather(struct jl_validation *v, struct jl_err *err)
{
	struct jl_width_rows *all = &v->width_rows;
	size_t n = 0;

	for (size_t f = 0; f < v->n_families; f++)
		n += v->families[f].rows.n;
	*all = (struct jl_width_rows){ .rows = jl_arena_array(v->arena, n + 1, sizeof(*all->rows)),
				       .unit = jl_arena_array(v->arena, n + 1, sizeof(*all->unit)) };
	JL_TRY(jl_got(all->rows && all->unit, err));
	for (size_t f = 0; f < v->n_families; f++) {
		const struct jl_validate_family *family = &v->families[f];

		for (size_t i = 0; i < family->rows.n; i++) {
			const struct jl_set_row *row = &family->rows.rows[i];

			if (isnan(jl_validate_ln(row)))
				continue;
			all->unit[all->n] = jl_validate_unit(family, i, v->left_out);
			all->rows[all->n++] = row;
		}
	}
	return jl_widths_prepare(all, v->arena, err);
}

struct nested {
	const struct jl_width_rows *rows;
	const char **units; /* distinct units */
	int n;
	struct jl_widths *widths; /* fitted widths, one per unit */
	const struct jl_validate_options *options;
};

static enum jl_status fit_unit(void *ctx, int turn, struct jl_err *err)
{
	const struct nested *n = ctx;

	return jl_widths_fit(n->rows, n->units[turn], &n->widths[turn], err);
}

static void watch(void *ctx, int done)
{
	const struct nested *n = ctx;

	if (n->options->progress)
		n->options->progress(n->options->ctx, "intervals", (size_t)done, (size_t)n->n);
}

static int find_unit(const struct nested *n, const char *unit)
{
	int u = 0;

	while (u < n->n && strcmp(n->units[u], unit) != 0)
		u++;
	return u;
}

static enum jl_status fit_units(struct jl_validation *v, struct nested *n, struct jl_err *err)
{
	n->units = jl_arena_array(v->arena, n->rows->n + 1, sizeof(*n->units));
	JL_TRY(jl_got(n->units, err));
	for (size_t i = 0; i < n->rows->n; i++)
		if (find_unit(n, n->rows->unit[i]) == n->n)
			n->units[n->n++] = n->rows->unit[i];
	n->widths = jl_arena_array(v->arena, (size_t)n->n + 1, sizeof(*n->widths));
	JL_TRY(jl_got(n->widths, err));
	return jl_turns_take(&(struct jl_turns){ .n = n->n, .take = fit_unit, .ctx = n, .watch = watch, .watcher = n },
			     err);
}

enum jl_status jl_validate_widths(struct jl_validation *v, const struct jl_validate_options *options,
				  struct jl_err *err)
{
	struct nested n = { .rows = &v->width_rows, .options = options };
	struct jl_widths shipped;
	enum jl_status status = gather(v, err);

	if (status || options->plain_widths)
		return status;
	jl_widths_read(&shipped, v->cat);
	if (v->left_out >= JL_LEAVE_SOURCE)
		status = fit_units(v, &n, err);
	for (size_t f = 0; f < v->n_families && !status; f++) {
		const struct jl_validate_family *family = &v->families[f];

		for (size_t i = 0; i < family->rows.n; i++) {
			struct jl_set_row *row = &family->rows.rows[i];
			const struct jl_widths *w = &shipped;

			if (isnan(jl_validate_ln(row)))
				continue;
			if (n.n)
				w = &n.widths[find_unit(&n, jl_validate_unit(family, i, v->left_out))];
			row->half_ln = jl_half_ln(w, row->answer, &row->doubt);
		}
	}
	for (int u = 0; u < n.n && !status; u++) {
		size_t n_pairs;

		v->n_pairs_in += jl_widths_pairs_in(n.rows, n.units[u], &n.widths[u], &n_pairs);
		v->n_pairs += n_pairs;
	}
	return status;
}

/* share of rows that intervals contain */
static const double cover_frac = 0.8;
/* share that is fitted: slightly higher, as in conformal prediction, because a quantile of n sources covers less of the next one ((n + 1)/n; n =
 * 95) */
static const double fit_frac = 0.81;
/* n rows of one kind in a unit count n / (1 + (n - 1) * alike_frac): at most 20 */
static const double alike_frac = 0.05;
/* above this number of rows of one kind in a unit, every second, third, ... is used, with higher weight */
enum { ROWS_A_UNIT = 128 };
/* smooths the kink of the absolute loss, in units of ln(half width) */
static const double round_ln = 0.1;
/* lower bound of |ln|: the logarithm of smaller values is meaningless */
static const double least_ln = 1e-3;

struct sample {
	enum jl_asked answer;
	double ln_off; /* ln of the error |ln(pred/meas)| */
	double weight;
	double x2[JL_N_DOUBT], spread2;
};

struct fit {
	const struct sample *samples;
	size_t n;
	double far; /* constant that keeps the last residual positive, where the loss is linear */
};

/* The loss of quantile q is |u|/2 + (q - 1/2) u. The solver's loss is |u| far from zero, per row; the sum of the second terms is one more residual,
 * kept far from zero. */
static void residuals(void *ctx, const double *x, double *ret_r)
{
	const struct fit *f = ctx;
	double base2[JL_N_ASKED], reason2[JL_N_DOUBT], tilt = 0.0;

	for (int a = 0; a < JL_N_ASKED; a++)
		base2[a] = x[a] * x[a];
	for (int k = 0; k < JL_N_DOUBT; k++)
		reason2[k] = x[JL_N_ASKED + k] * x[JL_N_ASKED + k];
	for (size_t i = 0; i < f->n; i++) {
		const struct sample *s = &f->samples[i];
		double sum = base2[s->answer] + s->spread2;

		for (int k = 0; k < JL_N_DOUBT; k++)
			sum += reason2[k] * s->x2[k];
		ret_r[i] = s->ln_off - 0.5 * log(sum);
		tilt += s->weight * ret_r[i];
	}
	ret_r[f->n] = f->far + tilt;
}

static bool left_out(const struct jl_width_rows *rows, size_t i, const char *without)
{
	return without && (strcmp(rows->unit[i], without) == 0 || strcmp(rows->rows[i]->source, without) == 0);
}

static struct sample sample_of(const struct jl_set_row *row, double weight)
{
	struct sample s = { .answer = row->answer,
			    .ln_off = log(fmax(fabs(jl_validate_ln(row)), least_ln)),
			    .weight = weight,
			    .spread2 = row->doubt.spread_ln * row->doubt.spread_ln };

	for (int k = 0; k < JL_N_DOUBT; k++)
		s.x2[k] = row->doubt.x[k] * row->doubt.x[k];
	return s;
}

static size_t take_samples(const struct jl_width_rows *rows, const char *without, struct sample *ret_samples)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const size_t stride = (rows->n_alike[i] + ROWS_A_UNIT - 1) / ROWS_A_UNIT;

		if (rows->before[i] % stride == 0 && !left_out(rows, i, without))
			ret_samples[n++] = sample_of(
				rows->rows[i], (double)stride / (1.0 + ((double)rows->n_alike[i] - 1.0) * alike_frac));
	}
	return n;
}

static enum jl_status solve(const struct fit *fit, double *weight, double *x, struct jl_err *err)
{
	jl_params_start(&jl_width_params, x);
	for (size_t i = 0; i < fit->n; i++)
		weight[i] = 0.5 * fit->samples[i].weight / round_ln;
	weight[fit->n] = (fit_frac - 0.5) / round_ln;
	return jl_fit_params(&jl_width_params, 1.0,
			     (struct jl_fit_problem){ .n_resid = fit->n + 1,
						      .residuals = residuals,
						      .ctx = (void *)fit,
						      .weight = weight,
						      .huber = round_ln },
			     x, NULL, err);
}

/* pairs each row with the next two of its kind: sufficient, and linear in the number of rows */
enum { PAIRS_A_ROW = 2 };

static bool is_pair(const struct jl_set_row *a, const struct jl_set_row *b)
{
	return a->answer == b->answer && strcmp(a->source, b->source) == 0 && strcmp(a->model, b->model) == 0 &&
	       strcmp(a->gpu, b->gpu) != 0;
}

static enum jl_status find_pairs(struct jl_width_rows *rows, struct jl_arena *arena, struct jl_err *err)
{
	rows->pairs = jl_arena_array(arena, PAIRS_A_ROW * rows->n + 1, sizeof(*rows->pairs));
	rows->n_pairs = 0;
	JL_TRY(jl_got(rows->pairs, err));
	for (size_t i = 0; i < rows->n; i++) {
		const struct jl_set_row *a = rows->rows[i];
		int found = 0;

		if (a->answer != JL_ASKED_STEP && a->answer != JL_ASKED_NETWORK)
			continue;
		for (size_t k = i + 1; k < rows->n && found < PAIRS_A_ROW; k++) {
			if (!is_pair(a, rows->rows[k]))
				continue;
			rows->pairs[rows->n_pairs][0] = i;
			rows->pairs[rows->n_pairs++][1] = k;
			found++;
		}
	}
	return JL_OK;
}

struct placed {
	const struct jl_width_rows *rows;
	size_t at;
};

static int by_kind(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	const struct jl_width_rows *rows = x->rows;
	const int answer = (int)rows->rows[x->at]->answer - (int)rows->rows[y->at]->answer;

	return answer ? answer : strcmp(rows->unit[x->at], rows->unit[y->at]);
}

static int by_kind_and_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	const int order = by_kind(a, b);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

enum jl_status jl_widths_prepare(struct jl_width_rows *rows, struct jl_arena *arena, struct jl_err *err)
{
	struct placed *order = jl_arena_array(arena, rows->n + 1, sizeof(*order));

	rows->n_alike = jl_arena_array(arena, rows->n + 1, sizeof(*rows->n_alike));
	rows->before = jl_arena_array(arena, rows->n + 1, sizeof(*rows->before));
	JL_TRY(jl_got(order && rows->n_alike && rows->before, err));
	for (size_t i = 0; i < rows->n; i++)
		order[i] = (struct placed){ .rows = rows, .at = i };
	qsort(order, rows->n, sizeof(*order), by_kind_and_place);
	for (size_t i = 0, end; i < rows->n; i = end) {
		for (end = i; end < rows->n && by_kind(&order[i], &order[end]) == 0; end++)
			rows->before[order[end].at] = end - i;
		for (size_t k = i; k < end; k++)
			rows->n_alike[order[k].at] = end - i;
	}
	return find_pairs(rows, arena, err);
}

/* A pair's half widths and the error of its ratio. */
struct pair {
	double a_ln, b_ln, off_ln;
};

static struct pair pair_at(const struct jl_width_rows *rows, size_t i, const struct jl_widths *widths)
{
	const struct jl_set_row *a = rows->rows[rows->pairs[i][0]], *b = rows->rows[rows->pairs[i][1]];

	return (struct pair){ .a_ln = jl_half_ln(widths, a->answer, &a->doubt),
			      .b_ln = jl_half_ln(widths, b->answer, &b->doubt),
			      .off_ln = fabs(jl_validate_ln(a) - jl_validate_ln(b)) };
}

/* Correlation at the lower fifth of the values that pairs allow: a ratio is inside if the correlation is not above its pair's value, so 80 % are
 * inside. */
static double shared_frac(const struct jl_width_rows *rows, const char *without, const struct jl_widths *widths,
			  double *room)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n_pairs; i++) {
		const struct pair p = pair_at(rows, i, widths);

		if (!left_out(rows, rows->pairs[i][0], without) && !left_out(rows, rows->pairs[i][1], without))
			room[n++] = fmin(1.0, (p.a_ln * p.a_ln + p.b_ln * p.b_ln - p.off_ln * p.off_ln) /
						      (2.0 * p.a_ln * p.b_ln));
	}
	return n ? fmax(0.0, jl_score_quantile(room, n, 1.0 - cover_frac)) : 0.0;
}

enum jl_status jl_widths_fit(const struct jl_width_rows *rows, const char *without, struct jl_widths *widths,
			     struct jl_err *err)
{
	const size_t room = rows->n + rows->n_pairs + 1;
	struct sample *samples = jl_realloc(NULL, (rows->n + 1) * sizeof(*samples));
	double *weight = jl_realloc(NULL, room * sizeof(*weight)), x[JL_WIDTH_N_PARAM], sum = 0.0;
	enum jl_status status = samples && weight ? JL_OK : jl_fail_nomem(err);

	if (!status) {
		struct fit fit = { .samples = samples, .n = take_samples(rows, without, samples) };

		for (size_t i = 0; i < fit.n; i++)
			sum += samples[i].weight;
		fit.far = 20.0 * sum + 1.0; /* residuals are logarithms of ratios: none exceeds e^20 */
		status = solve(&fit, weight, x, err);
	}
	if (!status) {
		jl_widths_of(widths, x);
		widths->shared_frac = shared_frac(rows, without, widths, weight);
	}
	jl_free(samples);
	jl_free(weight);
	return status;
}

size_t jl_widths_pairs_in(const struct jl_width_rows *rows, const char *of, const struct jl_widths *widths,
			  size_t *ret_pairs)
{
	size_t n = 0, n_in = 0;

	for (size_t i = 0; i < rows->n_pairs; i++) {
		if (of && strcmp(rows->unit[rows->pairs[i][0]], of) != 0)
			continue;
		const struct pair p = pair_at(rows, i, widths);

		n_in += p.off_ln <= jl_ratio_half_ln(widths, p.a_ln, p.b_ln);
		n++;
	}
	*ret_pairs = n;
	return n_in;
}
