/* Reads files, runs the fits with parts left out, predicts every row. Statistics are in validate_score.c. */
#include "score/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "rows/set_rows.h"

void jl_validation_init(struct jl_validation *ret_v, const struct jl_catalog *cat, struct jl_arena *arena)
{
	*ret_v = (struct jl_validation){ .cat = cat, .arena = arena };
}

/* "data/train_llm.csv" -> "train_llm" */
static const char *stem_of(struct jl_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
	const char *stem = jl_arena_strndup(arena, name, dot ? (size_t)(dot - name) : strlen(name));

	return stem ? stem : "";
}

static size_t n_missing(const struct jl_set_ops *ops, const struct jl_csv *csv, const char **ret_first)
{
	size_t n = 0;

	for (const char *const *column = ops->columns; *column; column++) {
		if (jl_csv_find(csv, *column) != JL_CSV_NO_COLUMN)
			continue;
		if (n++ == 0)
			*ret_first = *column;
	}
	return n;
}

static enum jl_status fail_columns(const struct jl_csv *csv, struct jl_err *err)
{
	const struct jl_set_ops *nearest = NULL;
	const char *missing = NULL;
	size_t least = 0;

	for (const struct jl_set_ops *const *ops = jl_sets; *ops; ops++) {
		const char *first = NULL;
		const size_t n = n_missing(*ops, csv, &first);

		if (!nearest || n < least) {
			nearest = *ops;
			least = n;
			missing = first;
		}
	}
	const struct jl_where where = { .file = csv->file,
					.line = csv->header[0].line,
					.column = csv->header[0].column };

	return jl_fail_at(err, JL_E_DATA, &where,
			  "these columns fit no set; the nearest is %s, which also needs '%s' (--set names one)",
			  nearest->name, missing ? missing : "?");
}

static enum jl_status find_ops(const struct jl_set_ops **ret_ops, const struct jl_csv *csv, const char *set,
			       const char *stem, struct jl_err *err)
{
	const struct jl_set_ops *ops = jl_set_by_name(set ? set : stem);
	const char *names[JL_VALIDATE_LINES_MAX], *missing;
	size_t n = 0, near_at;

	if (set && !ops) {
		for (const struct jl_set_ops *const *o = jl_sets; *o; o++)
			for (const char *const *file = (*o)->files; *file; file++)
				names[n++] = *file;
		if (jl_near_rank(set, names, n, &near_at, 1))
			return jl_fail(err, JL_E_USAGE, "no set '%s'; did you mean '%s'?", set, names[near_at]);
		return jl_fail(err, JL_E_USAGE, "no set '%s'; e.g. %s", set, names[0]);
	}
	if (!set && ops && n_missing(ops, csv, &missing) > 0 && jl_set_by_columns(csv))
		ops = NULL; /* the name and the columns disagree: the columns decide */
	if (!ops)
		ops = jl_set_by_columns(csv);
	if (!ops)
		return fail_columns(csv, err);
	for (const char *const *column = ops->columns; *column; column++) {
		size_t at;

		JL_TRY(jl_csv_need(csv, *column, &at, err));
	}
	*ret_ops = ops;
	return JL_OK;
}

static const char *label_of(const struct jl_set_ops *ops, const char *name)
{
	for (const char *const *file = ops->files; name && *file; file++)
		if (strcmp(*file, name) == 0)
			return *file;
	return ops->name;
}

enum jl_status jl_validation_add(struct jl_validation *v, const char *path, const char *text, size_t len,
				 const char *set, struct jl_err *err)
{
	const char *name = jl_arena_strdup(v->arena, path), *stem = name ? stem_of(v->arena, name) : "";
	const struct jl_set_ops *ops = NULL;
	struct jl_csv csv;
	size_t f = 0;
	enum jl_status status;

	JL_TRY(jl_got(name, err));
	if (v->n_files == JL_VALIDATE_FILES_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d files", JL_VALIDATE_FILES_MAX);
	JL_TRY(jl_csv_open(&csv, text, len, name, err));
	status = find_ops(&ops, &csv, set, stem, err);
	if (status)
		goto out;
	while (f < v->n_families && v->families[f].ops != ops)
		f++;
	if (f == v->n_families)
		v->families[v->n_families++] = (struct jl_validate_family){ .ops = ops };
	struct jl_validate_family *family = &v->families[f];
	struct jl_validate_file file = {
		.path = name, .set = label_of(ops, set ? set : stem), .family = f, .first = family->rows.n
	};

	status = jl_set_load(ops, &family->data, &family->rows, v->cat, &csv, v->arena, err);
	if (status)
		goto out;
	file.n = family->rows.n - file.first;
	v->files[v->n_files++] = file;
out:
	jl_csv_release(&csv);
	return status;
}

struct named {
	const char *name;
	size_t row;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	const int order = x->name == y->name ? 0 : strcmp(x->name, y->name);

	return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Id of the unit that is left out together with a row. */
const char *jl_validate_unit(const struct jl_validate_family *family, size_t i, enum jl_leave_out leave_out)
{
	const struct jl_set_row *row = &family->rows.rows[i];
	const char *const names[JL_N_LEAVE_OUT] = {
		[JL_LEAVE_NOTHING] = row->group,
		[JL_LEAVE_GROUP] = row->group,
		[JL_LEAVE_GPU] = row->gpu,
		[JL_LEAVE_FRAMEWORK] = row->framework,
		[JL_LEAVE_LINK] = row->link,
		[JL_LEAVE_SOURCE] = family->by_group ? row->group : row->source,
		[JL_LEAVE_CODE] = family->by_group ? row->group
				  : *row->code     ? row->code
						   : row->source,
	};

	return names[leave_out];
}

/* Numbers the rows' units in order of appearance; ret_number may be NULL. Returns their number; -1: out of memory. */
static int number_names(const struct jl_validate_family *family, enum jl_leave_out leave_out, int *ret_number)
{
	const size_t n = family->rows.n;
	struct named *named = jl_realloc(NULL, (n + 1) * sizeof(*named));
	int n_name = 0;

	if (!named)
		return -1;
	for (size_t i = 0; i < n; i++)
		named[i] = (struct named){ .name = jl_validate_unit(family, i, leave_out), .row = i };
	qsort(named, n, sizeof(*named), by_name);
	for (size_t i = 0; i < n; i++) {
		n_name += i == 0 || strcmp(named[i].name, named[i - 1].name) != 0;
		if (ret_number)
			ret_number[named[i].row] = n_name - 1;
	}
	jl_free(named);
	return n_name;
}

static enum jl_status number_groups(struct jl_validation *v, struct jl_validate_family *family,
				    enum jl_leave_out leave_out, struct jl_err *err)
{
	const int n_sources = number_names(family, JL_LEAVE_SOURCE, NULL);

	family->group = jl_arena_array(v->arena, family->rows.n + 1, sizeof(*family->group));
	family->n_sources = n_sources > 0 ? (size_t)n_sources : 0;
	/* with a single source nothing would be left to fit: leave out groups instead */
	family->by_group = (leave_out == JL_LEAVE_SOURCE && n_sources < 2) ||
			   (leave_out == JL_LEAVE_CODE && number_names(family, JL_LEAVE_CODE, NULL) < 2);
	family->n_group = family->group ? number_names(family, leave_out, family->group) : -1;
	return family->n_group < 0 || n_sources < 0 ? jl_fail_nomem(err) : JL_OK;
}

/* Number of parameters moved from their priors. */
static size_t count_moved(const struct jl_validate_family *family, const double *x)
{
	const struct jl_param_list params = family->ops->params(family->data);
	size_t n = 0;

	for (size_t i = 0; i < params.n; i++) {
		struct jl_param p;

		jl_param_of(&params, i, &p);
		n += fabs(log(x[i] / p.prior)) > 1e-9;
	}
	return n;
}

/* For slow fits: a group's fit starts from one of N_FOLD fits, which left out every N_FOLD-th group including this one, so no start has seen the
 * rows it is scored on. */
enum { N_FOLD = 4 };

/* Leave-one-out fits of a family. */
struct fits {
	const struct jl_validation *v;
	struct jl_validate_family *family;
	const struct jl_validate_options *options;
	double *starts; /* array of N_FOLD parameter vectors */
	bool folds;     /* true: fitting the starts; false: the groups */
};

/* larger groups use every second, third, ... row in leave-one-out fits, because rows of a group are alike */
enum { ROWS_A_GROUP = 48 };

static void thin_out(const struct jl_validate_family *family, unsigned char *use)
{
	const struct jl_set_row *rows = family->rows.rows;

	for (size_t i = 0; i < family->rows.n; i++) {
		size_t n = 0, before = 0;

		if (rows[i].item == JL_NO_ITEM || !use[rows[i].item] || rows[i].is_second)
			continue;
		/* groups are interned: equal texts have equal pointers, and are mostly adjacent */
		for (size_t k = 0; k < family->rows.n; k++) {
			const bool same = rows[k].group == rows[i].group && rows[k].item != JL_NO_ITEM &&
					  !rows[k].is_second;

			n += same;
			before += same && k < i;
		}
		const size_t most = family->ops->rows_a_group ? family->ops->rows_a_group : ROWS_A_GROUP;
		const size_t stride = (n + most - 1) / most;

		if (before % stride)
			use[rows[i].item] = 0;
	}
}

/* Selects the items of a fit: leaves out one group, or every N_FOLD-th. */
static size_t choose(const struct fits *f, int turn, unsigned char *use, unsigned char *only)
{
	const struct jl_validate_family *family = f->family;
	const size_t n_items = jl_set_n_items(family->data);
	size_t n_only = 0;

	memset(use, 1, n_items);
	memset(only, 0, n_items);
	for (size_t i = 0; i < family->rows.n; i++) {
		const size_t item = family->rows.rows[i].item;
		const int group = f->folds ? family->group[i] % N_FOLD : family->group[i];

		if (item == JL_NO_ITEM || group != turn)
			continue;
		use[item] = 0;
		only[item] = 1;
		n_only++;
	}
	return n_only;
}

/* Predicts the left-out rows with only the others known. */
static enum jl_status predict_left_out(const struct fits *f, const double *x, const unsigned char *use,
				       const unsigned char *only, struct jl_err *err)
{
	struct jl_validate_family *family = f->family;
	struct jl_catalog cat = *f->v->cat;
	struct jl_param_info *params = jl_realloc(NULL, (family->seen.n + 1) * sizeof(*params));

	JL_TRY(jl_got(params, err));
	cat.params = params;
	cat.n_params = jl_seen_count(&family->seen, &family->rows, use, params);
	const struct jl_known known = jl_known_of(&cat);

	jl_set_predict(family->ops, family->data, x, &known, only, &family->rows);
	jl_free(params);
	return JL_OK;
}

static enum jl_status take_turn(void *ctx, int turn, struct jl_err *err)
{
	const struct fits *f = ctx;
	struct jl_validate_family *family = f->family;
	const size_t n_x = family->n_x, n_items = jl_set_n_items(family->data);
	unsigned char *use = jl_realloc(NULL, 3 * n_items + 1);
	double *x = (f->folds ? f->starts : family->x) + (size_t)turn * n_x;
	enum jl_status status = JL_OK;

	JL_TRY(jl_got(use, err));
	unsigned char *only = use + n_items, *some = only + n_items;
	const size_t n_only = choose(f, turn, use, only);
	/* no rows left to fit to: use the priors */
	const bool empty = !memchr(use, 1, n_items);

	if (!f->folds)
		memcpy(x, f->starts + (size_t)(turn % N_FOLD) * n_x, n_x * sizeof(double));
	if (!empty && (f->folds || n_only)) {
		memcpy(some, use, n_items);
		thin_out(family, some);
		status = family->ops->fit(family->data, some, f->folds ? 0 : family->ops->refit_iter, x, err);
	}
	if (!status && !f->folds && n_only)
		status = predict_left_out(f, x, use, only, err);
	jl_free(use);
	return status;
}

static void watch(void *ctx, int done)
{
	const struct fits *f = ctx;
	const bool slow = f->family->ops->refit_iter > 0;

	if (f->options->progress)
		f->options->progress(f->options->ctx, f->family->ops->name,
				     (size_t)done + (slow && !f->folds ? N_FOLD : 0),
				     (size_t)f->family->n_group + (slow ? N_FOLD : 0));
}

static enum jl_status leave_each_out(struct jl_validation *v, struct jl_validate_family *family,
				     const struct jl_validate_options *options, struct jl_err *err)
{
	double *starts = jl_arena_array(v->arena, N_FOLD * family->n_x + 1, sizeof(double));
	struct fits fits = { .v = v, .family = family, .options = options, .starts = starts, .folds = true };
	struct jl_turns turns = { .n = N_FOLD, .take = take_turn, .ctx = &fits, .watch = watch, .watcher = &fits };
	enum jl_status status = JL_OK;

	family->x = jl_arena_array(v->arena, family->n_x * (size_t)family->n_group + 1, sizeof(double));
	JL_TRY(jl_got(family->x && starts, err));
	const struct jl_param_list params = family->ops->params(family->data);

	for (size_t f = 0; f < N_FOLD; f++)
		jl_params_start(&params, starts + f * family->n_x);
	if (family->ops->refit_iter > 0)
		status = jl_turns_take(&turns, err);
	fits.folds = false;
	turns.n = family->n_group;
	return status ? status : jl_turns_take(&turns, err);
}

struct jl_known jl_known_of(const struct jl_catalog *cat)
{
	struct jl_known known = { .cat = cat };

	jl_widths_read(&known.widths, cat);
	return known;
}

static enum jl_status run_family(struct jl_validation *v, struct jl_validate_family *family,
				 const struct jl_validate_options *options, struct jl_err *err)
{
	const struct jl_param_list params = family->ops->params(family->data);
	double *x = jl_arena_array(v->arena, params.n + 1, sizeof(*x));

	JL_TRY(jl_got(x, err));
	JL_TRY(number_groups(v, family, options->leave_out, err));
	family->n_x = params.n;
	jl_params_read(v->cat, &params, x);
	family->n_param = count_moved(family, x);
	JL_TRY(jl_seen_make(&family->seen, &family->rows, v->arena, err));
	if (options->leave_out != JL_LEAVE_NOTHING)
		return leave_each_out(v, family, options, err);
	family->x = x;
	const struct jl_known known = jl_known_of(v->cat);

	jl_set_predict(family->ops, family->data, x, &known, NULL, &family->rows);
	return JL_OK;
}

enum jl_status jl_validation_run(struct jl_validation *v, const struct jl_validate_options *options, struct jl_err *err)
{
	v->held_out = options->leave_out != JL_LEAVE_NOTHING;
	v->left_out = options->leave_out;
	for (size_t f = 0; f < v->n_families; f++)
		JL_TRY(run_family(v, &v->families[f], options, err));
	if (v->held_out)
		JL_TRY(jl_validate_widths(v, options, err));
	return jl_validate_score(v, err);
}
