/* Table of parameters: posterior from the curvature at the shipped values (Laplace approximation), and the effect of removing each kind of
 * parameter. Runs no fit. */
#include <math.h>
#include <string.h>

#include "fit/ablate.h"
#include "score/score.h"

/* Sensitivity of a set's predictions to its parameters. */
struct slopes {
	const struct fitting *f;
	size_t n_rows, n_params;
	double *weight;  /* per row: a source with n rows counts n / (1 + (n - 1)/20) */
	double *ln;      /* d ln prediction / d ln parameter, parameter-major */
	double *inverse; /* covariance matrix, n_params x n_params */
	double sd_ln;    /* robust standard deviation of residuals */
};

static double row_weight(const struct fitting *f, size_t i)
{
	static const double alike_frac = 0.05;
	size_t n = 0;

	for (size_t k = 0; k < f->rows.n; k++)
		n += !f->rows.rows[k].unscored && strcmp(f->rows.rows[k].source, f->rows.rows[i].source) == 0;
	return f->rows.rows[i].unscored ? 0.0 : 1.0 / (1.0 + ((double)n - 1.0) * alike_frac);
}

static enum jl_status find_slopes(struct slopes *s, struct fitting *f, struct jl_arena *arena, struct jl_err *err)
{
	static const double step = 1.02;
	const struct jl_param_list params = f->ops->params(f->data);
	double *off = jl_arena_array(arena, f->rows.n + 1, sizeof(*off));
	size_t n = 0;

	*s = (struct slopes){ .f = f,
			      .n_rows = f->rows.n,
			      .n_params = params.n,
			      .weight = jl_arena_array(arena, f->rows.n + 1, sizeof(double)),
			      .ln = jl_arena_array(arena, f->rows.n * params.n + 1, sizeof(double)),
			      .inverse = jl_arena_array(arena, params.n * params.n + 1, sizeof(double)) };
	JL_TRY(jl_got(off && s->weight && s->ln && s->inverse, err));
	for (size_t i = 0; i < s->n_rows; i++) {
		s->weight[i] = row_weight(f, i);
		if (!f->rows.rows[i].unscored)
			off[n++] = fabs(log(f->base[i] / f->rows.rows[i].meas));
	}
	s->sd_ln = fmax(0.03, n ? 1.4826 * jl_score_quantile(off, n, 0.5) : 0.03);
	for (size_t j = 0; j < params.n; j++) {
		struct jl_param param;
		const double kept = f->x[j];

		jl_param_of(&params, j, &param);
		const double moved = kept * step <= param.hi ? step : 1.0 / step;

		(void)jl_fitting_rows(f, &param, j); /* predicts the rows that depend on it */
		for (size_t i = 0; i < s->n_rows; i++) {
			const struct jl_set_row *row = &f->rows.rows[i];

			s->ln[j * s->n_rows + i] = row->unscored || !f->only[row->item]
							   ? 0.0
							   : log(row->pred / f->base[i]) / log(moved);
		}
	}
	return JL_OK;
}

static void fill_curvature(const struct slopes *s, const struct jl_param_list *params)
{
	for (size_t j = 0; j < s->n_params; j++) {
		struct jl_param param;

		jl_param_of(params, j, &param);
		for (size_t k = 0; k <= j; k++) {
			double sum = 0.0;

			for (size_t i = 0; i < s->n_rows; i++)
				sum += s->weight[i] * s->ln[j * s->n_rows + i] * s->ln[k * s->n_rows + i];
			s->inverse[j * s->n_params + k] = s->inverse[k * s->n_params + j] = sum / (s->sd_ln * s->sd_ln);
		}
		s->inverse[j * s->n_params + j] += 1.0 / (param.prior_sd_ln * param.prior_sd_ln);
	}
	jl_invert(s->inverse, s->n_params);
}

/* Effective number of rows, (sum)²/sum of squares of their information, and number of sources with a sensitive row. */
static void put_evidence(struct jl_buf *out, const struct slopes *s, size_t j)
{
	static const double least = 1e-3;
	const struct jl_set_row *rows = s->f->rows.rows;
	const double *ln = s->ln + j * s->n_rows;
	double sum = 0.0, squares = 0.0;
	size_t n_rows = 0, n_sources = 0;

	for (size_t i = 0; i < s->n_rows; i++) {
		const double share = s->weight[i] * ln[i] * ln[i];
		size_t k = 0;

		sum += share;
		squares += share * share;
		if (!(fabs(ln[i]) > least))
			continue;
		n_rows++;
		while (k < i && !(fabs(ln[k]) > least && strcmp(rows[k].source, rows[i].source) == 0))
			k++;
		n_sources += k == i;
	}
	jl_buf_printf(out, ",%zu,%.1f,%zu", n_rows, squares > 0.0 ? sum * sum / squares : 0.0, n_sources);
}

/* Kind of the parameter, number of its members, and the change of the left-out median in the most affected set without them. */
static enum jl_status put_without(struct jl_buf *out, struct jl_ablation *a, const char *name, struct jl_err *err)
{
	char kind[JL_PARAM_KIND_MAX];
	struct jl_ablated lost;

	jl_param_kind(kind, name);
	JL_TRY(jl_ablate(&lost, a, kind, err));
	jl_buf_printf(out, ",%s,%zu,%+.4f,%s\n", kind, lost.n, lost.change, lost.set);
	return JL_OK;
}

static enum jl_status put_set(struct jl_buf *out, struct work *w, const struct jl_set_ops *ops, struct jl_err *err)
{
	struct fitting f = { .ops = ops };
	struct slopes s;
	struct jl_ablation without;

	JL_TRY(jl_fitting_load(w, &f, err));
	if (!f.data)
		return JL_OK;
	const struct jl_param_list params = ops->params(f.data);

	f.x = jl_arena_array(w->arena, params.n + 1, sizeof(*f.x));
	f.base = jl_arena_array(w->arena, f.rows.n + 1, sizeof(*f.base));
	f.only = jl_arena_array(w->arena, f.data->n + 1, sizeof(*f.only));
	JL_TRY(jl_got(f.x && f.base && f.only, err));
	jl_params_read(&w->cat, &params, f.x);
	f.known = jl_known_of(&w->cat);
	jl_set_predict(ops, f.data, f.x, &f.known, NULL, &f.rows);
	for (size_t i = 0; i < f.rows.n; i++)
		f.base[i] = f.rows.rows[i].pred;
	JL_TRY(find_slopes(&s, &f, w->arena, err));
	fill_curvature(&s, &params);
	JL_TRY(jl_ablate_begin(&without, &f, s.ln, w->arena, err));
	for (size_t j = 0; j < params.n; j++) {
		struct jl_param p;

		jl_param_of(&params, j, &p);
		if (p.lo == p.hi)
			continue;
		jl_buf_printf(out, "%s,%s,%s,%.4g,%.3g,%.4g,%.3g", ops->name, p.name, p.unit, p.prior, p.prior_sd_ln,
			      f.x[j], sqrt(s.inverse[j * s.n_params + j]));
		put_evidence(out, &s, j);
		JL_TRY(put_without(out, &without, p.name, err));
	}
	return JL_OK;
}

enum jl_status jl_calibrate_table(struct jl_buf *out, const struct jl_calibrate_in *in, struct jl_arena *arena,
				  struct jl_err *err)
{
	struct work w = { .in = in, .arena = arena, .cat = *in->cat };
	enum jl_status status = JL_OK;

	jl_buf_puts(out, "set,id,unit,prior,prior_sd_ln,value,sd_ln,rows,effective_rows,sources,kind,kind_size,kind_"
			 "change,kind_change_set\n");
	for (const struct jl_set_ops *const *ops = jl_sets; !status && *ops; ops++)
		if (!in->only || strcmp(in->only, (*ops)->name) == 0)
			status = put_set(out, &w, *ops, err);
	return status;
}
