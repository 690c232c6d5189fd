/* Ablation of parameters by the curvature of the fit. Runs no fit. */
#include "fit/ablate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "score/score.h"

void jl_invert(double *a, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		const double pivot = a[k * n + k];

		a[k * n + k] = 1.0;
		for (size_t j = 0; j < n; j++)
			a[k * n + j] /= pivot;
		for (size_t i = 0; i < n; i++) {
			const double factor = a[i * n + k];

			if (i == k || factor == 0.0)
				continue;
			a[i * n + k] = 0.0;
			for (size_t j = 0; j < n; j++)
				a[i * n + j] -= factor * a[k * n + j];
		}
	}
}

void jl_param_kind(char out[JL_PARAM_KIND_MAX], const char *name)
{
	static const char *const owners[] = { ".family.", ".gpu.", ".engine.", ".code.", "train.link.", "framework." };
	const char *at = NULL, *end = NULL;

	for (size_t i = 0; i < JL_LEN(owners) && !at; i++)
		if ((at = strstr(name, owners[i])) != NULL)
			at += strlen(owners[i]);
	for (end = at; end && *end && !(*end == '.' && !(end[1] >= '0' && end[1] <= '9')); end++)
		; /* "vllm-0.6.step_s": version numbers contain dots */
	(void)snprintf(out, JL_PARAM_KIND_MAX, "%.*s%s%s", at ? (int)(at - name) : 79, name, at ? "*" : "",
		       end ? end : "");
}

/* as in the fits: residuals are in units of 10 %, and outliers get less weight */
static const double usual_ln = 0.1;

static double row_ln(const struct jl_ablation *a, size_t i)
{
	const struct jl_set_row *row = &a->f->rows.rows[i];

	return row->unscored ? NAN : log(a->f->base[i] / row->meas);
}

static double slope(const struct jl_ablation *a, size_t k, size_t i)
{
	return a->slopes[a->free[k] * a->f->rows.n + i];
}

/* Units to leave out: sources; in sets with a single source, its groups. */
static void find_units(struct jl_ablation *a)
{
	const struct jl_set_row *rows = a->f->rows.rows;
	bool many = false;

	for (size_t i = 1; i < a->f->rows.n; i++)
		many |= strcmp(rows[i].source, rows[0].source) != 0;
	for (size_t i = 0; i < a->f->rows.n; i++) {
		size_t k = 0;

		while (strcmp(many ? rows[k].source : rows[k].group, many ? rows[i].source : rows[i].group) != 0)
			k++;
		a->unit[i] = k < i ? a->unit[k] : a->n_units++;
	}
}

/* Adds a row's contribution to the curvature and the gradient (sign -1: subtracts it). */
static void add_row(const struct jl_ablation *a, size_t i, double sign, double *curvature, double *gradient)
{
	const double ln = row_ln(a, i),
		     weight = sign / (usual_ln * usual_ln) / sqrt(1 + ln * ln / (usual_ln * usual_ln));

	if (isnan(ln))
		return;
	for (size_t k = 0; k < a->n_free; k++) {
		const double moves = weight * slope(a, k, i);

		for (size_t l = 0; moves != 0 && l < a->n_free; l++)
			curvature[k * a->n_free + l] += moves * slope(a, l, i);
		if (gradient)
			gradient[k] += moves * ln;
	}
}

static void leave_out(struct jl_ablation *a, size_t unit, const double *all)
{
	const size_t n = a->n_free;
	double *inverse = a->inverse + unit * n * n, *moved = a->moved + unit * n;

	memcpy(inverse, all, n * n * sizeof(*all));
	memset(a->shift, 0, n * sizeof(*a->shift));
	for (size_t i = 0; i < a->f->rows.n; i++)
		if (a->unit[i] == unit)
			add_row(a, i, -1, inverse, a->shift);
	jl_invert(inverse, n);
	for (size_t k = 0; k < n; k++) {
		moved[k] = 0;
		for (size_t l = 0; l < n; l++)
			moved[k] -= inverse[k * n + l] * a->shift[l];
	}
}

/* ln(pred/meas) of the unit's rows after the parameters moved, to first order. */
static void put_rows(const struct jl_ablation *a, size_t unit, const double *moved, double *ret_ln)
{
	for (size_t i = 0; i < a->f->rows.n; i++) {
		if (a->unit[i] != unit)
			continue;
		ret_ln[i] = row_ln(a, i);
		for (size_t k = 0; k < a->n_free; k++)
			ret_ln[i] += slope(a, k, i) * moved[k];
	}
}

enum jl_status jl_ablate_begin(struct jl_ablation *ret, const struct fitting *f, const double *slopes,
			       struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_param_list params = f->ops->params(f->data);
	struct jl_ablation a = { .f = f, .arena = arena, .slopes = slopes };
	double *all;

	a.free = jl_arena_array(arena, params.n + 1, sizeof(*a.free));
	a.unit = jl_arena_array(arena, f->rows.n + 1, sizeof(*a.unit));
	a.left = jl_arena_array(arena, f->rows.n + 1, sizeof(*a.left));
	a.off = jl_arena_array(arena, 2 * f->rows.n + 1, sizeof(*a.off));
	JL_TRY(jl_got(a.free && a.unit && a.left && a.off, err));
	find_units(&a);
	for (size_t j = 0; j < params.n; j++) {
		struct jl_param p;
		bool moves = false;

		jl_param_of(&params, j, &p);
		for (size_t i = 0; i < f->rows.n && !moves; i++)
			moves = slopes[j * f->rows.n + i] != 0;
		if (p.lo < p.hi && moves)
			a.free[a.n_free++] = j;
	}
	const size_t n = a.n_free;

	a.shift = jl_arena_array(arena, n + 1, sizeof(double));
	a.inverse = jl_arena_array(arena, a.n_units * n * n + 1, sizeof(double));
	a.moved = jl_arena_array(arena, a.n_units * n + 1, sizeof(double));
	all = jl_arena_array(arena, n * n + 1, sizeof(double));
	JL_TRY(jl_got(a.shift && a.inverse && a.moved && all, err));
	memset(all, 0, n * n * sizeof(*all));
	for (size_t k = 0; k < n; k++) {
		struct jl_param p;

		jl_param_of(&params, a.free[k], &p);
		all[k * n + k] = 1 / (p.prior_sd_ln * p.prior_sd_ln);
	}
	for (size_t i = 0; i < f->rows.n; i++)
		add_row(&a, i, 1, all, NULL);
	for (size_t u = 0; u < a.n_units; u++) {
		leave_out(&a, u, all);
		put_rows(&a, u, a.moved + u * n, a.left);
	}
	*ret = a;
	return JL_OK;
}

/* Optimum of the remaining parameters without a unit, if those of the kind are fixed at their priors. */
static void move_others(const struct jl_ablation *a, size_t unit, const size_t *of, const double *to, size_t n_of,
			double *room)
{
	const size_t n = a->n_free;
	const double *inverse = a->inverse + unit * n * n, *moved = a->moved + unit * n;

	for (size_t p = 0; p < n_of; p++)
		for (size_t q = 0; q < n_of; q++)
			room[p * n_of + q] = inverse[of[p] * n + of[q]];
	jl_invert(room, n_of);
	memcpy(a->shift, moved, n * sizeof(*moved));
	for (size_t p = 0; p < n_of; p++) {
		double pull = 0;

		for (size_t q = 0; q < n_of; q++)
			pull += room[p * n_of + q] * (to[q] - moved[of[q]]);
		for (size_t k = 0; k < n; k++)
			a->shift[k] += inverse[k * n + of[p]] * pull;
	}
}

static double median_of(const struct jl_ablation *a, const double *ln, size_t first, size_t end)
{
	double *off = a->off + a->f->rows.n;
	size_t n = 0;

	for (size_t i = first; i < end; i++)
		if (!isnan(ln[i]))
			off[n++] = fabs(ln[i]);
	return n ? jl_score_quantile(off, n, 0.5) : 0;
}

enum jl_status jl_ablate(struct jl_ablated *ret, struct jl_ablation *a, const char *kind, struct jl_err *err)
{
	const struct jl_param_list params = a->f->ops->params(a->f->data);
	size_t *of = jl_arena_array(a->arena, a->n_free + 1, sizeof(*of));
	double *to = jl_arena_array(a->arena, a->n_free + 1, sizeof(*to)), *room;
	struct jl_ablated lost = { .set = "" };

	JL_TRY(jl_got(of && to, err));
	for (size_t k = 0; k < a->n_free; k++) {
		char its[JL_PARAM_KIND_MAX];
		struct jl_param p;

		jl_param_of(&params, a->free[k], &p);
		jl_param_kind(its, p.name);
		if (strcmp(its, kind) != 0)
			continue;
		to[lost.n] = log(p.prior / a->f->x[a->free[k]]);
		of[lost.n++] = k;
	}
	room = jl_arena_array(a->arena, lost.n * lost.n + 1, sizeof(*room));
	JL_TRY(jl_got(room, err));
	for (size_t u = 0; lost.n && u < a->n_units; u++) {
		move_others(a, u, of, to, lost.n, room);
		put_rows(a, u, a->shift, a->off);
	}
	for (size_t s = 0; lost.n && a->f->ops->files[s]; s++) {
		const size_t first = s ? a->f->end[s - 1] : 0, end = a->f->end[s];
		const double change = median_of(a, a->off, first, end) - median_of(a, a->left, first, end);

		if (fabs(change) > fabs(lost.change)) {
			lost.change = change;
			lost.set = a->f->ops->files[s];
		}
	}
	*ret = lost;
	return JL_OK;
}
