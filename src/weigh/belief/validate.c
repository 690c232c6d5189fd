/* Files in, predictions on every row. The figures over them are made in validate_score.c. */
#include "belief/validate.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/near.h"
#include "belief/set_rows.h"
#include "belief/validate_score.h"

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
			  "어느 세트의 열도 아닙니다. 가장 가까운 것은 %s이고 '%s' 열이 더 필요합니다 (--set으로 지정)",
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
			return jl_fail(err, JL_E_USAGE, "no set '%s'; did you mean '%s'?",
				       "세트 '%s'이(가) 없습니다. '%s'인가요?", set, names[near_at]);
		return jl_fail(err, JL_E_USAGE, "no set '%s'; e.g. %s", "세트 '%s'이(가) 없습니다. 예: %s", set,
			       names[0]);
	}
	if (!set && ops && n_missing(ops, csv, &missing) > 0 && jl_set_by_columns(csv))
		ops = NULL; /* the name says one thing and the columns another: columns are what can be read */
	if (!ops)
		ops = jl_set_by_columns(csv);
	if (!ops)
		return fail_columns(csv, err);
	for (const char *const *column = ops->columns; *column; column++) {
		size_t at;
		const enum jl_status status = jl_csv_need(csv, *column, &at, err);

		if (status)
			return status;
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

/* Rows of a set that has no model: counted, and each says so. */
static enum jl_status add_nothing(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	struct jl_err why;

	(void)data;
	jl_fail(&why, JL_E_ABSENT, "%s%.0s", "%.0s%s", in->ops->no_model, in->ops->no_model_ko);
	return jl_set_add_unscored(in, &why, err);
}

static enum jl_status load(struct jl_validation *v, struct jl_validate_family *family, struct jl_csv *csv,
			   struct jl_err *err)
{
	if (!family->ops->no_model)
		return family->ops->load(&family->data, &family->rows, v->cat, csv, v->arena, err);
	struct jl_labels *labels = jl_arena_alloc(v->arena, sizeof(*labels));

	if (!labels)
		return jl_fail_nomem(err);
	return jl_set_read(
		&(struct jl_set_reader){
			.ops = family->ops, .csv = csv, .arena = v->arena, .labels = labels, .rows = &family->rows },
		NULL, add_nothing, 1, err);
}

enum jl_status jl_validation_add(struct jl_validation *v, const char *path, const char *text, size_t len,
				 const char *set, struct jl_err *err)
{
	const char *name = jl_arena_strdup(v->arena, path), *stem = name ? stem_of(v->arena, name) : "";
	const struct jl_set_ops *ops = NULL;
	struct jl_csv csv;
	size_t f = 0;
	enum jl_status status;

	if (!name)
		return jl_fail_nomem(err);
	if (v->n_files == JL_VALIDATE_FILES_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d files", "파일이 %d개를 넘습니다", JL_VALIDATE_FILES_MAX);
	status = jl_csv_open(&csv, text, len, ',', name, err);
	if (status)
		return status;
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

	status = load(v, family, &csv, err);
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
	size_t len, row;
};

static int same_name(const struct named *x, const struct named *y)
{
	return x->len == y->len && memcmp(x->name, y->name, x->len) == 0;
}

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);

	if (order == 0)
		order = (x->len > y->len) - (x->len < y->len);
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* What is left out together with a row. */
static struct named name_of(const struct jl_set_row *row, enum jl_leave_out leave_out, size_t i)
{
	const char *const names[JL_N_LEAVE_OUT] = {
		[JL_LEAVE_NOTHING] = row->group,       [JL_LEAVE_GROUP] = row->group, [JL_LEAVE_GPU] = row->gpu,
		[JL_LEAVE_FRAMEWORK] = row->framework, [JL_LEAVE_LINK] = row->link,   [JL_LEAVE_SOURCE] = row->group,
	};
	const char *name = names[leave_out];

	return (struct named){ .name = name,
			       .len = leave_out == JL_LEAVE_SOURCE ? strcspn(name, "|") : strlen(name),
			       .row = i };
}

/* Groups to numbers, in the order of their names. */
static enum jl_status number_groups(struct jl_validation *v, struct jl_validate_family *family,
				    enum jl_leave_out leave_out, struct jl_err *err)
{
	const size_t n = family->rows.n;
	struct named *named = jl_realloc(NULL, (n + 1) * sizeof(*named));

	family->group = jl_arena_array(v->arena, n + 1, sizeof(*family->group));
	if (!named || !family->group) {
		jl_free(named);
		return jl_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		named[i] = name_of(&family->rows.rows[i], leave_out, i);
	qsort(named, n, sizeof(*named), by_name);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !same_name(&named[i], &named[i - 1]))
			family->n_group++;
		family->group[named[i].row] = family->n_group - 1;
	}
	jl_free(named);
	return JL_OK;
}

/* How many parameters the rows have moved. */
static size_t count_moved(const struct jl_validate_family *family, const double *x)
{
	size_t n = 0;

	for (size_t i = 0; i < family->n_x; i++) {
		struct jl_param p;

		family->ops->param(family->data, i, &p);
		n += fabs(log(x[i] / p.prior)) > 1e-9;
	}
	return n;
}

/* Where a fit from the priors takes long, a group's fit begins with one that had left out a quarter of the groups, this one
 * among them: no fit begins with anything that has seen the rows it is scored on. */
enum { N_FOLD = 4 };

/* Fits of a family, shared out over as many threads as there are processors. Each has its own vector and its own rows:
 * nothing depends on which thread took it. */
struct turns {
	struct jl_validate_family *family;
	double *starts; /* N_FOLD vectors */
	bool folds;     /* first the starts, then the groups */
	int n;
	atomic_int next, n_done, status;
};

/* Which items take part: those of one group, or of every N_FOLD-th, are left out. */
static size_t choose(const struct jl_validate_family *family, int turn, bool fold, unsigned char *use,
		     unsigned char *only)
{
	const size_t n_items = family->ops->n_items(family->data);
	size_t n_only = 0;

	memset(use, 1, n_items);
	memset(only, 0, n_items);
	for (size_t i = 0; i < family->rows.n; i++) {
		const size_t item = family->rows.rows[i].item;
		const int group = fold ? family->group[i] % N_FOLD : family->group[i];

		if (item == JL_NO_ITEM || group != turn)
			continue;
		use[item] = 0;
		only[item] = 1;
		n_only++;
	}
	return n_only;
}

static enum jl_status take_turn(const struct turns *t, int turn, unsigned char *use, unsigned char *only,
				struct jl_err *err)
{
	struct jl_validate_family *family = t->family;
	const struct jl_set_ops *ops = family->ops;
	const size_t n_x = family->n_x, n_only = choose(family, turn, t->folds, use, only);
	double *x = (t->folds ? t->starts : family->x) + (size_t)turn * n_x;
	enum jl_status status;

	/* Nothing is left to fit on: the priors say it. */
	const bool empty = !memchr(use, 1, ops->n_items(family->data));

	if (t->folds)
		return empty ? JL_OK : ops->fit(family->data, use, 0, x, err);
	memcpy(x, t->starts + (size_t)(turn % N_FOLD) * n_x, n_x * sizeof(double));
	if (n_only == 0)
		return JL_OK;
	status = empty ? JL_OK : ops->fit(family->data, use, ops->refit_iter, x, err);
	if (!status)
		ops->predict(family->data, x, use, only, family->rows.rows, family->rows.n);
	return status;
}

static void *work(void *ctx)
{
	struct turns *turns = ctx;
	const size_t n_items = turns->family->ops->n_items(turns->family->data);
	unsigned char *flags = jl_realloc(NULL, 2 * n_items + 1);
	struct jl_err err;
	int turn;

	if (!flags)
		atomic_store(&turns->status, JL_E_NOMEM);
	while (flags && atomic_load(&turns->status) == JL_OK && (turn = atomic_fetch_add(&turns->next, 1)) < turns->n) {
		const enum jl_status status = take_turn(turns, turn, flags, flags + n_items, &err);

		if (status)
			atomic_store(&turns->status, (int)status);
		atomic_fetch_add(&turns->n_done, 1);
	}
	jl_free(flags);
	return NULL;
}

static void watch(struct turns *turns, const struct jl_validate_options *options)
{
	const struct timespec pause = { .tv_nsec = 100000000L };
	const bool slow = turns->family->ops->refit_iter > 0;
	const int n_before = slow && !turns->folds ? N_FOLD : 0;
	const int n_all = turns->family->n_group + (slow ? N_FOLD : 0);
	int done;

	while ((done = atomic_load(&turns->n_done)) < turns->n && atomic_load(&turns->status) == JL_OK) {
		if (options->progress)
			options->progress(options->ctx, turns->family->ops->name, (size_t)n_before + (size_t)done,
					  (size_t)n_all);
		(void)nanosleep(&pause, NULL);
	}
}

static enum jl_status take_turns(struct turns *turns, const struct jl_validate_options *options, struct jl_err *err)
{
	enum { MAX_THREADS = 16 };
	pthread_t threads[MAX_THREADS];
	const long n_cpu = sysconf(_SC_NPROCESSORS_ONLN);
	int n = 0;

	while (n < MAX_THREADS && n < n_cpu && n < turns->n && pthread_create(&threads[n], NULL, work, turns) == 0)
		n++;
	if (n == 0)
		(void)work(turns);
	else
		watch(turns, options);
	for (int i = 0; i < n; i++)
		(void)pthread_join(threads[i], NULL);
	if (atomic_load(&turns->status) == JL_E_NOMEM)
		return jl_fail_nomem(err);
	if (atomic_load(&turns->status) != JL_OK)
		return jl_fail(err, (enum jl_status)atomic_load(&turns->status),
			       "%s: a fit without one of its groups failed", "%s: 묶음 하나를 뺀 맞춤에 실패했습니다",
			       turns->family->ops->name);
	return JL_OK;
}

static enum jl_status leave_each_out(struct jl_validation *v, struct jl_validate_family *family,
				     const struct jl_validate_options *options, struct jl_err *err)
{
	double *starts = jl_arena_array(v->arena, N_FOLD * family->n_x + 1, sizeof(double));
	struct turns folds = { .family = family, .starts = starts, .folds = true, .n = N_FOLD };
	struct turns groups = { .family = family, .starts = starts, .n = family->n_group };
	enum jl_status status = JL_OK;

	family->x = jl_arena_array(v->arena, family->n_x * (size_t)family->n_group + 1, sizeof(double));
	if (!family->x || !starts)
		return jl_fail_nomem(err);
	for (size_t f = 0; f < N_FOLD; f++)
		jl_set_priors(family->ops, family->data, starts + f * family->n_x);
	if (family->ops->refit_iter > 0)
		status = take_turns(&folds, options, err);
	return status ? status : take_turns(&groups, options, err);
}

static enum jl_status run_family(struct jl_validation *v, struct jl_validate_family *family,
				 const struct jl_validate_options *options, struct jl_err *err)
{
	double *x;
	enum jl_status status = number_groups(v, family, options->leave_out, err);

	if (status || family->ops->no_model)
		return status;
	family->n_x = family->ops->n_param(family->data);
	x = jl_arena_array(v->arena, family->n_x + 1, sizeof(*x));
	if (!x)
		return jl_fail_nomem(err);
	jl_set_shipped(family->ops, family->data, v->cat, x);
	family->n_param = count_moved(family, x);
	if (options->leave_out != JL_LEAVE_NOTHING)
		return leave_each_out(v, family, options, err);
	family->x = x;
	family->ops->predict(family->data, x, NULL, NULL, family->rows.rows, family->rows.n);
	return JL_OK;
}

enum jl_status jl_validation_run(struct jl_validation *v, const struct jl_validate_options *options, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	v->held_out = options->leave_out != JL_LEAVE_NOTHING;
	v->left_out = options->leave_out;
	for (size_t f = 0; f < v->n_families && !status; f++)
		status = run_family(v, &v->families[f], options, err);
	return status ? status : jl_validate_score(v, err);
}
