/* Fits all sets in order and collects the values of catalog/params.yaml. */
#include "fit/fitting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "score/score.h"
#include "rows/set_rows.h"

/* digits written; the next set starts from the written value, so that the file reproduces the fit exactly */
#define VALUE_FORMAT "%.9g"

static double written(double value)
{
	char text[40];

	(void)snprintf(text, sizeof(text), VALUE_FORMAT, value);
	return strtod(text, NULL);
}

static enum jl_status add_param(struct work *w, const struct jl_param_info *info, struct jl_err *err)
{
	if (w->n_params == w->room) {
		const size_t room = w->room ? 2 * w->room : 512;
		struct jl_param_info *params = jl_arena_array(w->arena, room, sizeof(*params));

		JL_TRY(jl_got(params, err));
		if (w->n_params)
			memcpy(params, w->params, w->n_params * sizeof(*params));
		w->params = params;
		w->room = room;
	}
	w->params[w->n_params] = *info;
	w->params[w->n_params].id = jl_arena_strdup(w->arena, info->id);
	return w->params[w->n_params++].id ? JL_OK : jl_fail_nomem(err);
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct jl_param_info *)a)->id, ((const struct jl_param_info *)b)->id);
}

static void publish(struct work *w)
{
	if (w->n_params)
		qsort(w->params, w->n_params, sizeof(*w->params), by_id);
	w->cat.params = w->params;
	w->cat.n_params = w->n_params;
}

enum jl_status jl_fitting_load(struct work *w, struct fitting *f, struct jl_err *err)
{
	for (const char *const *name = f->ops->files; *name; name++) {
		if (name - f->ops->files >= FITTING_FILES_MAX)
			return jl_fail(err, JL_E_LIMIT, "more than %d files", FITTING_FILES_MAX);
		for (size_t i = 0; i < w->in->n_files; i++) {
			const struct jl_calibrate_file *file = &w->in->files[i];
			struct jl_csv csv;
			enum jl_status status = JL_OK;

			if (strcmp(file->name, *name) != 0)
				continue;
			JL_TRY(jl_csv_open(&csv, file->text, file->len, file->path, err));
			for (const char *const *column = f->ops->columns; !status && *column; column++) {
				size_t at;

				status = jl_csv_need(&csv, *column, &at, err);
			}
			if (!status)
				status = jl_set_load(f->ops, &f->data, &f->rows, &w->cat, &csv, w->arena, err);
			jl_csv_release(&csv);
			if (status)
				return status;
		}
		f->end[name - f->ops->files] = f->rows.n;
	}
	return JL_OK;
}

int jl_fitting_rows(struct fitting *f, const struct jl_param *param, size_t j)
{
	static const double step = 1.02;
	const double kept = f->x[j];
	int n = 0;

	for (size_t i = 0; i < f->data->n; i++)
		f->only[i] = !f->ops->knows || f->ops->knows(f->data, i, j);
	f->x[j] = kept * step <= param->hi ? kept * step : kept / step;
	jl_set_predict(f->ops, f->data, f->x, &f->known, f->only, &f->rows);
	for (size_t i = 0; i < f->rows.n; i++) {
		const struct jl_set_row *row = &f->rows.rows[i];

		n += !row->unscored && f->only[row->item] && row->pred != f->base[i];
	}
	f->x[j] = kept;
	return n;
}

static bool same_head(const char *a, const char *b)
{
	return strncmp(a, b, strcspn(a, ".") + 1) == 0;
}

/* Removes results of an earlier fit of this set: parameters with its prefix, and residuals. */
static void forget(struct work *w, const struct fitting *f)
{
	const size_t n_name = strlen(f->ops->name);
	const struct jl_param_list params = f->ops->params(f->data);
	size_t n = 0;

	for (size_t i = 0; i < w->n_params; i++) {
		const char *id = w->params[i].id;
		bool old = strncmp(id, "fit.", 4) == 0 && strncmp(id + 4, f->ops->name, n_name) == 0 &&
			   id[4 + n_name] == '.';

		for (size_t j = 0; j < params.n && !old; j++) {
			struct jl_param param;

			jl_param_of(&params, j, &param);
			old = same_head(param.name, id);
		}
		if (!old)
			w->params[n++] = w->params[i];
	}
	w->n_params = n;
}

static struct jl_param_info info_of(const struct jl_param *param, double value, int n_rows)
{
	return (struct jl_param_info){ .id = param->name,
				       .value = value,
				       .lo = written(param->lo),
				       .hi = written(param->hi),
				       .prior = written(param->prior),
				       .n_rows = n_rows,
				       .unit = param->unit };
}

/* Adds a value that is not a fitted parameter: no bounds, no prior. */
static enum jl_status add_figure(struct work *w, const char *id, double value, size_t n_rows, double hi,
				 struct jl_err *err)
{
	const struct jl_param_info info = {
		.id = id, .value = written(value), .lo = NAN, .hi = hi, .prior = NAN, .n_rows = (int)n_rows, .unit = "1"
	};

	return add_param(w, &info, err);
}

static enum jl_status keep_params(struct work *w, struct fitting *f, struct jl_calibrated *found, struct jl_err *err)
{
	static const double told_ln = 0.01;
	const struct jl_param_list params = f->ops->params(f->data);

	for (size_t j = 0; j < params.n; j++) {
		struct jl_param param;

		jl_param_of(&params, j, &param);
		if (param.lo == param.hi)
			continue; /* fixed: a constant, not a parameter */
		const struct jl_param_info info = info_of(&param, f->x[j], jl_fitting_rows(f, &param, j));

		if (info.n_rows <= 1 && fabs(log(info.value / info.prior)) < told_ln)
			continue; /* skip parameters without rows and those at their prior */
		found->n_param += info.n_rows > 0;
		JL_TRY(add_param(w, &info, err));
	}
	return JL_OK;
}

/* Stores residuals of the fit as catalog data. */
static enum jl_status keep_residuals(struct work *w, const struct fitting *f, struct jl_calibrated *found,
				     struct jl_err *err)
{
	double *ln = jl_arena_array(w->arena, 2 * f->rows.n + 1, sizeof(*ln));
	char id[80];
	size_t n = 0;

	JL_TRY(jl_got(ln, err));
	for (size_t i = 0; i < f->rows.n; i++)
		if (!f->rows.rows[i].unscored)
			ln[n++] = jl_validate_ln(&f->rows.rows[i]);
	const struct jl_score score = jl_score_rows(&(struct jl_score_in){ .n = n, .ln_ratio = ln }, ln + f->rows.n);
	const struct {
		const char *name;
		double value;
	} figures[] = { { "median_abs_ln", score.median_abs_ln }, { "p90_abs_ln", score.p90_abs_ln } };

	found->n_resid = score.n_scored;
	found->median_abs_ln = score.median_abs_ln;
	found->p90_abs_ln = score.p90_abs_ln;
	for (size_t i = 0; score.n_scored && i < JL_LEN(figures); i++) {
		(void)snprintf(id, sizeof(id), "fit.%s.%s", f->ops->name, figures[i].name);
		JL_TRY(add_figure(w, id, figures[i].value, score.n_scored, NAN, err));
	}
	return JL_OK;
}

static enum jl_status fit_set(struct work *w, const struct jl_set_ops *ops, struct jl_err *err)
{
	struct fitting f = { .ops = ops };
	enum jl_status status = jl_fitting_load(w, &f, err);

	if (status || !f.data)
		return status;
	const struct jl_param_list params = f.ops->params(f.data);
	struct jl_calibrated found = { .ops = ops, .n_rows = f.rows.n };

	f.x = jl_arena_array(w->arena, params.n + 1, sizeof(*f.x));
	f.base = jl_arena_array(w->arena, f.rows.n + 1, sizeof(*f.base));
	f.only = jl_arena_array(w->arena, f.data->n + 1, sizeof(*f.only));
	JL_TRY(jl_got(f.x && f.base && f.only, err));
	jl_params_start(&params, f.x);
	JL_TRY(ops->fit(f.data, NULL, 0, f.x, err));
	for (size_t j = 0; j < params.n; j++)
		f.x[j] = written(f.x[j]);
	f.known = jl_known_of(&w->cat);
	jl_set_predict(ops, f.data, f.x, &f.known, NULL, &f.rows);
	for (size_t i = 0; i < f.rows.n; i++)
		f.base[i] = f.rows.rows[i].pred;
	forget(w, &f);
	JL_TRY(keep_residuals(w, &f, &found, err));
	JL_TRY(keep_params(w, &f, &found, err));
	w->out->sets[w->out->n_sets++] = found;
	publish(w);
	return JL_OK;
}

/* Removes results of an earlier fit of intervals, by prefix. */
static void forget_heads(struct work *w, const char *a, const char *b)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_params; i++)
		if (!(a && same_head(w->params[i].id, a)) && !same_head(w->params[i].id, b))
			w->params[n++] = w->params[i];
	w->n_params = n;
}

static enum jl_status keep_widths(struct work *w, const struct jl_validation *v, struct jl_err *err)
{
	struct jl_widths widths;

	JL_TRY(jl_widths_fit(&v->width_rows, NULL, &widths, err));
	for (size_t j = 0; j < JL_WIDTH_N_PARAM; j++) {
		const bool base = j < JL_N_ASKED;
		const size_t k = base ? j : j - JL_N_ASKED;
		struct jl_param param;
		int n_rows = 0;

		jl_param_of(&jl_width_params, j, &param);
		for (size_t i = 0; i < v->width_rows.n; i++) {
			const struct jl_set_row *row = v->width_rows.rows[i];

			n_rows += base ? row->answer == (enum jl_asked)k : row->doubt.x[k] != 0.0;
		}
		if (n_rows == 0)
			continue; /* parameters without rows keep their prior and are not written */
		w->out->n_width_param++;
		const struct jl_param_info info = info_of(
			&param, written(base ? widths.base_ln[k] : widths.reason_ln[k]), n_rows);

		JL_TRY(add_param(w, &info, err));
	}
	if (!(widths.shared_frac > 0.0))
		return JL_OK;
	w->out->n_width_param++;
	return add_figure(w, JL_WIDTH_SHARED, widths.shared_frac, v->width_rows.n_pairs, 1.0, err);
}

/* Merges counts of measurements from sets with the same kind of answer. False: a new id. */
static bool join_seen(struct work *w, const struct jl_param_info *more)
{
	for (size_t i = 0; i < w->n_params; i++) {
		struct jl_param_info *p = &w->params[i];

		if (strcmp(p->id, more->id) != 0)
			continue;
		p->n_rows += more->n_rows;
		p->lo = fmin(p->lo, more->lo);
		p->hi = fmax(p->hi, more->hi);
		p->value = isnan(p->lo) ? p->value + more->value : written(sqrt(p->lo * p->hi));
		return true;
	}
	return false;
}

static enum jl_status keep_seen(struct work *w, const struct jl_validation *v, struct jl_err *err)
{
	for (size_t f = 0; f < v->n_families; f++) {
		const struct jl_validate_family *family = &v->families[f];
		struct jl_param_info *params = jl_arena_array(w->arena, family->seen.n + 1, sizeof(*params));

		JL_TRY(jl_got(params, err));
		const size_t n = jl_seen_count(&family->seen, &family->rows, NULL, params);

		for (size_t i = 0; i < n; i++) {
			params[i].value = written(params[i].value);
			params[i].lo = isnan(params[i].lo) ? NAN : written(params[i].lo);
			params[i].hi = isnan(params[i].hi) ? NAN : written(params[i].hi);
			if (!join_seen(w, &params[i]))
				JL_TRY(add_param(w, &params[i], err));
		}
	}
	return JL_OK;
}

/* Counts what was measured. If all sets were fitted, also predicts every row without its source and fits the interval widths, which are shared by
 * all sets. */
static enum jl_status fit_widths(struct work *w, size_t n_sets, struct jl_err *err)
{
	struct jl_validation *v = jl_arena_alloc(w->arena, sizeof(*v));
	const struct jl_validate_options options = {
		.leave_out = JL_LEAVE_SOURCE, .plain_widths = true, .progress = w->in->progress, .ctx = w->in->ctx
	};

	JL_TRY(jl_got(v, err));
	jl_validation_init(v, &w->cat, w->arena);
	for (size_t i = 0; i < w->in->n_files; i++) {
		const struct jl_calibrate_file *file = &w->in->files[i];

		JL_TRY(jl_validation_add(v, file->path, file->text, file->len, file->name, err));
	}
	const bool all = w->out->n_sets == n_sets;

	if (!all && v->n_families < n_sets) /* files of some sets are missing: keep the old counts */
		return JL_OK;
	if (all)
		JL_TRY(jl_validation_run(v, &options, err));
	for (size_t f = 0; f < v->n_families && !all; f++)
		JL_TRY(jl_seen_make(&v->families[f].seen, &v->families[f].rows, w->arena, err));
	forget_heads(w, all ? "interval." : NULL, "seen.");
	if (all)
		JL_TRY(keep_widths(w, v, err));
	JL_TRY(keep_seen(w, v, err));
	publish(w);
	return JL_OK;
}

enum jl_status jl_calibrate(struct jl_calibration *ret_calibration, const struct jl_calibrate_in *in,
			    struct jl_arena *arena, struct jl_err *err)
{
	struct jl_calibration out = { .n_sets = 0 };
	struct work w = { .in = in, .arena = arena, .cat = *in->cat, .out = &out };
	enum jl_status status = JL_OK;
	size_t n = 0, done = 0;

	for (size_t i = 0; !status && i < in->cat->n_params; i++)
		status = add_param(&w, &in->cat->params[i], err);
	publish(&w);
	while (jl_sets[n])
		n++;
	if (n > JL_CALIBRATE_SETS_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d sets", JL_CALIBRATE_SETS_MAX);
	for (const struct jl_set_ops *const *ops = jl_sets; !status && *ops; ops++) {
		if (in->only && strcmp(in->only, (*ops)->name) != 0)
			continue;
		if (in->progress)
			in->progress(in->ctx, (*ops)->name, done, n);
		status = fit_set(&w, *ops, err);
		done++;
	}
	JL_THEN(status, fit_widths(&w, n, err));
	if (status)
		return status;
	out.params = w.params;
	out.n_params = w.n_params;
	*ret_calibration = out;
	return JL_OK;
}

static void put_number(struct jl_buf *out, const char *key, double value)
{
	if (!isnan(value))
		jl_buf_printf(out, ", %s: " VALUE_FORMAT, key, value);
}

void jl_calibrate_yaml(struct jl_buf *out, const struct jl_calibration *calibration)
{
	jl_buf_puts(
		out,
		"# Fitted parameters, how far the published measurements are from them (fit.*), and what they are of "
		"(seen.*). Written by\n"
		"# `jeoul calibrate --fit` from data/validation, never by hand. docs/METHOD.md says what each means;\n"
		"# what is not here has its prior: no measurement knows it.\n"
		"params:\n");
	for (size_t i = 0; i < calibration->n_params; i++) {
		const struct jl_param_info *info = &calibration->params[i];

		jl_buf_printf(out, "  - {id: %s", info->id);
		put_number(out, "value", info->value);
		put_number(out, "lo", info->lo);
		put_number(out, "hi", info->hi);
		put_number(out, "prior", info->prior);
		jl_buf_printf(out, ", n_rows: %d, unit: \"%s\"}\n", info->n_rows, info->unit ? info->unit : "1");
	}
}
