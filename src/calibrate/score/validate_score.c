/* Statistics over rows: per set, per label, the worst rows, and unscored ones. */
#include "score/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "rows/set_rows.h"

double jl_validate_ln(const struct jl_set_row *row)
{
	return row->unscored ? NAN : log(row->pred / row->meas);
}

/* Arrays for the scores of one line; reused by its parts. */
struct columns {
	double *ln, *lo, *hi, *scratch;
};

static enum jl_status make_columns(struct columns *ret, size_t n, struct jl_err *err)
{
	double *block = jl_realloc(NULL, (4 * n + 4) * sizeof(*block));

	JL_TRY(jl_got(block, err));
	*ret = (struct columns){
		.ln = block, .lo = block + n + 1, .hi = block + 2 * (n + 1), .scratch = block + 3 * (n + 1)
	};
	return JL_OK;
}

/* naive < 0: the program's predictions; else that baseline's, which has no interval. */
static struct jl_score score_some(const struct jl_set_row *const *rows, size_t n, int naive, struct columns *c)
{
	for (size_t i = 0; i < n; i++) {
		const double pred = naive < 0 ? rows[i]->pred : rows[i]->naive[naive];

		c->ln[i] = rows[i]->unscored ? NAN : log(pred / rows[i]->meas);
		c->hi[i] = rows[i]->half_ln;
		c->lo[i] = -rows[i]->half_ln;
	}
	const struct jl_score_in in = {
		.n = n, .ln_ratio = c->ln, .lo_ln = naive < 0 ? c->lo : NULL, .hi_ln = naive < 0 ? c->hi : NULL
	};

	return jl_score_rows(&in, c->scratch);
}

struct keyed {
	const char *label;
	size_t family;
	int group;
	size_t at;
};

static int by_label(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	const int order = x->label == y->label ? 0 : strcmp(x->label, y->label);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int by_group(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static void score_groups(const struct jl_validation *v, struct jl_validate_line *line, struct keyed *keys,
			 struct columns *c)
{
	double sum = 0.0, inside = 0.0;
	size_t n = 0, n_group = 0;

	for (size_t i = 0; i < line->n_rows; i++) {
		const struct jl_validate_family *family = &v->families[line->family[i]];

		if (!isnan(jl_validate_ln(line->rows[i])))
			keys[n++] = (struct keyed){ .family = line->family[i],
						    .group = family->group[line->rows[i] - family->rows.rows],
						    .at = i };
	}
	qsort(keys, n, sizeof(*keys), by_group);
	for (size_t i = 0, end; i < n; i = end) {
		size_t n_in = 0;

		for (end = i; end < n && keys[end].family == keys[i].family && keys[end].group == keys[i].group;
		     end++) {
			const struct jl_set_row *row = line->rows[keys[end].at];

			c->scratch[end - i] = fabs(jl_validate_ln(row));
			n_in += c->scratch[end - i] <= row->half_ln;
		}
		inside += (double)n_in / (double)(end - i);
		sum += jl_score_quantile(c->scratch, end - i, 0.5);
		n_group++;
	}
	line->score.n_groups = n_group;
	line->score.macro_median_abs_ln = n_group ? sum / (double)n_group : NAN;
	line->macro_coverage_frac = n_group ? inside / (double)n_group : NAN;
}

static const char *label_of(const struct jl_set_row *row, enum jl_label_kind kind)
{
	const char *const labels[JL_N_BY] = { row->gpu, row->framework, row->link, row->code };

	return labels[kind];
}

static enum jl_status score_labels(struct jl_validation *v, struct jl_validate_line *line, enum jl_label_kind kind,
				   struct keyed *keys, struct columns *c, struct jl_err *err)
{
	const struct jl_set_row **some = jl_realloc(NULL, (line->n_rows + 1) * sizeof(*some));
	size_t n = 0, n_label = 0;

	JL_TRY(jl_got(some, err));
	for (size_t i = 0; i < line->n_rows; i++)
		if (label_of(line->rows[i], kind)[0])
			keys[n++] = (struct keyed){ .label = label_of(line->rows[i], kind), .at = i };
	qsort(keys, n, sizeof(*keys), by_label);
	for (size_t i = 0; i < n; i++)
		n_label += i == 0 || strcmp(keys[i].label, keys[i - 1].label) != 0;
	struct jl_validate_by *by = jl_arena_array(v->arena, n_label + 1, sizeof(*by));

	if (!by) {
		jl_free(some);
		return jl_fail_nomem(err);
	}
	n_label = 0;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && strcmp(keys[end].label, keys[i].label) == 0; end++)
			some[end - i] = line->rows[keys[end].at];
		by[n_label++] = (struct jl_validate_by){ .label = keys[i].label,
							 .score = score_some(some, end - i, -1, c) };
	}
	line->by[kind] = by;
	line->n_by[kind] = n_label;
	jl_free(some);
	return JL_OK;
}

static enum jl_status score_line(struct jl_validation *v, struct jl_validate_line *line, struct jl_err *err)
{
	struct columns columns = { .ln = NULL };
	struct keyed *keys = NULL;
	enum jl_status status = JL_OK;

	JL_TRY(make_columns(&columns, line->n_rows, err));
	keys = jl_realloc(NULL, (line->n_rows + 1) * sizeof(*keys));
	if (!keys) {
		status = jl_fail_nomem(err);
		goto out;
	}
	line->score = score_some(line->rows, line->n_rows, -1, &columns);
	for (int b = 0; b < JL_N_BASELINE; b++)
		line->naive[b] = score_some(line->rows, line->n_rows, b, &columns);
	score_groups(v, line, keys, &columns);
	for (int kind = 0; kind < JL_N_BY && !status; kind++)
		status = score_labels(v, line, (enum jl_label_kind)kind, keys, &columns, err);
out:
	jl_free(keys);
	jl_free(columns.ln);
	return status;
}

static const char *memory_line(const struct jl_set_ops *ops)
{
	return ops->memory_line ? ops->memory_line : JL_MEMORY_LINE;
}

/* Rows of a line: those of its files, or all memory rows that belong to it. */
static enum jl_status gather(struct jl_validation *v, struct jl_validate_line *line, struct jl_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_files; i++)
		n += v->files[i].n;
	line->rows = jl_arena_array(v->arena, n + 1, sizeof(*line->rows));
	line->family = jl_arena_array(v->arena, n + 1, sizeof(*line->family));
	JL_TRY(jl_got(line->rows && line->family, err));
	for (size_t i = 0; i < v->n_files; i++) {
		const struct jl_validate_file *file = &v->files[i];
		const struct jl_set_row *rows = v->families[file->family].rows.rows + file->first;

		if (line->ops ? file->set != line->set
			      : strcmp(memory_line(v->families[file->family].ops), line->set) != 0)
			continue;
		for (size_t k = 0; k < file->n; k++) {
			if (line->ops ? rows[k].is_second : !rows[k].is_memory)
				continue;
			line->family[line->n_rows] = file->family;
			line->rows[line->n_rows++] = &rows[k];
		}
	}
	return JL_OK;
}

static struct jl_validate_line line_of(const struct jl_validation *v, const struct jl_validate_file *file, bool memory)
{
	const struct jl_validate_family *family = &v->families[file->family];
	struct jl_validate_line line = { .set = memory ? memory_line(family->ops) : file->set,
					 .ops = memory ? NULL : family->ops,
					 .unit = memory ? "B" : family->ops->unit,
					 .n_param = family->n_param,
					 .n_sources = family->n_sources,
					 .by_group = family->by_group };

	for (int b = 0; b < JL_N_BASELINE; b++)
		line.naive_names[b] = memory ? family->ops->memory_baselines[b] : family->ops->baselines[b];
	return line;
}

static bool has_memory(const struct jl_validate_family *family)
{
	for (size_t i = 0; i < family->rows.n; i++)
		if (family->rows.rows[i].is_memory)
			return true;
	return false;
}

/* Sets in the order of their files, then memory. */
static void list_lines(struct jl_validation *v)
{
	for (int memory = 0; memory < 2; memory++)
		for (size_t i = 0; i < v->n_files; i++) {
			const struct jl_validate_family *family = &v->families[v->files[i].family];
			const char *name = memory ? memory_line(family->ops) : v->files[i].set;

			if ((!memory || has_memory(family)) && !jl_validation_line(v, name) &&
			    v->n_lines < JL_VALIDATE_LINES_MAX)
				v->lines[v->n_lines++] = line_of(v, &v->files[i], memory);
		}
}

enum jl_status jl_validate_score(struct jl_validation *v, struct jl_err *err)
{
	list_lines(v);
	for (size_t i = 0; i < v->n_lines; i++) {
		JL_TRY(gather(v, &v->lines[i], err));
		JL_TRY(score_line(v, &v->lines[i], err));
	}
	return JL_OK;
}

const struct jl_validate_line *jl_validation_line(const struct jl_validation *v, const char *set)
{
	for (size_t i = 0; i < v->n_lines; i++)
		if (strcmp(v->lines[i].set, set) == 0)
			return &v->lines[i];
	return NULL;
}

size_t jl_validate_worst(const struct jl_validate_line *line, size_t max, size_t *ret_index)
{
	size_t n = 0;

	for (size_t i = 0; i < line->n_rows && max; i++) {
		const double off = fabs(jl_validate_ln(line->rows[i]));
		size_t at = n;

		if (isnan(off))
			continue;
		while (at > 0 && off > fabs(jl_validate_ln(line->rows[ret_index[at - 1]])))
			at--;
		if (at == max)
			continue;
		if (n < max)
			n++;
		memmove(ret_index + at + 1, ret_index + at, (n - at - 1) * sizeof(*ret_index));
		ret_index[at] = i;
	}
	return n;
}

void jl_validate_explain(const struct jl_validation *v, const struct jl_validate_line *line, size_t index,
			 struct jl_buf *out)
{
	const struct jl_validate_family *family = &v->families[line->family[index]];
	const struct jl_set_row *row = line->rows[index];
	const size_t turn = v->held_out ? (size_t)family->group[row - family->rows.rows] : 0;

	if (row->item != JL_NO_ITEM && family->ops->explain)
		family->ops->explain(family->data, family->x + turn * family->n_x, row, out);
}

void jl_validate_command(const struct jl_validation *v, const struct jl_validate_line *line, size_t index,
			 struct jl_buf *out)
{
	const struct jl_validate_family *family = &v->families[line->family[index]];
	const struct jl_set_row *row = line->rows[index];

	if (row->item != JL_NO_ITEM && family->ops->command)
		family->ops->command(family->data, row, out);
}

struct bad {
	size_t file, line;
	const char *en, *text;
};

static int by_reason(const void *a, const void *b)
{
	const struct bad *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	const int order = x->en == y->en ? 0 : strcmp(x->en, y->en);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_first_line(const void *a, const void *b)
{
	const struct jl_unscored *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->lines[0] > y->lines[0]) - (x->lines[0] < y->lines[0]);
}

static size_t collect_bad(const struct jl_validation *v, struct bad *ret_bad)
{
	size_t n = 0;

	for (size_t f = 0; f < v->n_files; f++) {
		const struct jl_set_row *rows = v->families[v->files[f].family].rows.rows + v->files[f].first;

		for (size_t i = 0; i < v->files[f].n; i++) {
			if (!rows[i].unscored)
				continue;
			if (ret_bad)
				ret_bad[n] = (struct bad){ f, rows[i].line, rows[i].unscored, rows[i].unscored_text };
			n++;
		}
	}
	return n;
}

enum jl_status jl_validate_unscored(const struct jl_validation *v, struct jl_unscored **ret_list, size_t *ret_n,
				    struct jl_err *err)
{
	const size_t n = collect_bad(v, NULL);
	struct bad *bad = jl_arena_array(v->arena, n + 1, sizeof(*bad));
	size_t *lines = jl_arena_array(v->arena, n + 1, sizeof(*lines)), n_list = 0;
	struct jl_unscored *list;

	JL_TRY(jl_got(bad && lines, err));
	(void)collect_bad(v, bad);
	qsort(bad, n, sizeof(*bad), by_reason);
	for (size_t i = 0; i < n; i++) {
		lines[i] = bad[i].line;
		n_list += i == 0 || bad[i].file != bad[i - 1].file || strcmp(bad[i].en, bad[i - 1].en) != 0;
	}
	list = jl_arena_array(v->arena, n_list + 1, sizeof(*list));
	JL_TRY(jl_got(list, err));
	n_list = 0;
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || bad[i].file != bad[i - 1].file || strcmp(bad[i].en, bad[i - 1].en) != 0)
			list[n_list++] = (struct jl_unscored){
				.file = &v->files[bad[i].file], .en = bad[i].en, .text = bad[i].text, .lines = &lines[i]
			};
		list[n_list - 1].n++;
	}
	qsort(list, n_list, sizeof(*list), by_first_line);
	*ret_list = list;
	*ret_n = n_list;
	return JL_OK;
}

void jl_validate_line_ranges(struct jl_buf *out, const struct jl_unscored *u, size_t max_ranges)
{
	size_t n = 0, end;

	for (size_t i = 0; i < u->n; i = end, n++) {
		for (end = i + 1; end < u->n && u->lines[end] <= u->lines[end - 1] + 1; end++)
			;
		if (n == max_ranges) {
			jl_buf_printf(out, ", +%zu", u->n - i);
			return;
		}
		if (u->lines[end - 1] > u->lines[i])
			jl_buf_printf(out, "%s%zu-%zu", n ? ", " : "", u->lines[i], u->lines[end - 1]);
		else
			jl_buf_printf(out, "%s%zu", n ? ", " : "", u->lines[i]);
	}
}
