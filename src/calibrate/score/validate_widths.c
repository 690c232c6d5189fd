/* Intervals of rows that were left out. Where sources are, a row's width comes from residuals of all other sources, each predicted
 * without itself: neither its prediction nor its interval has seen it. */
#include <math.h>
#include <string.h>

#include "score/validate.h"

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
	const char **units; /* each once */
	int n;
	struct jl_widths *widths; /* of each unit */
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
