/* Counts measured kinds, extents and pairs of a set's rows ("seen."). */
#include "score/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows/set_rows.h"

struct named {
	const char *id;
	size_t *at;
};

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->id, ((const struct named *)b)->id);
}

enum { PAIRS = JL_N_LABEL + JL_N_EXTENT }; /* index of the first pair in a row's ids */
/* until counted, a pair's id ends with this and its source; sorts before letters */
static const char by[] = "\001";

static const char *pair_of(const struct jl_set_row *row, enum jl_pair pair, struct jl_arena *arena)
{
	const struct jl_axes axes = {
		.device = row->kind[row->answer == JL_ASKED_PRODUCT ? JL_LABEL_FAMILY : JL_LABEL_GPU],
		.kind = row->kind[JL_LABEL_KIND],
		.code = row->code,
		.format = row->format,
	};
	char id[JL_SEEN_ID_MAX];

	return jl_pair_id(id, row->answer, &axes, pair) ? jl_arena_printf(arena, "%s%s%s", id, by, row->source) : NULL;
}

/* The k-th id of a row; NULL: none. */
static const char *id_of(const struct jl_set_row *row, size_t k, struct jl_arena *arena)
{
	char id[JL_SEEN_ID_MAX];

	if (row->unscored)
		return NULL;
	if (k >= PAIRS)
		return pair_of(row, (enum jl_pair)(k - PAIRS), arena);
	if (k < JL_N_LABEL ? !row->kind[k][0] : isnan(row->extent_ln[k - JL_N_LABEL]))
		return NULL;
	if (k < JL_N_LABEL)
		jl_seen_id(id, row->answer, jl_label_ids[k], row->kind[k]);
	else
		(void)snprintf(id, sizeof(id), "seen.%s.%s", jl_asked_id(row->answer),
			       jl_extent_id((enum jl_extent)(k - JL_N_LABEL)));
	return jl_arena_strdup(arena, id);
}

enum jl_status jl_seen_make(struct jl_seen_list *ret_list, const struct jl_set_rows *rows, struct jl_arena *arena,
			    struct jl_err *err)
{
	const size_t n_most = rows->n * JL_SEEN_A_ROW;
	struct named *named = jl_arena_array(arena, n_most + 1, sizeof(*named));
	struct jl_seen_list list = { .ids = jl_arena_array(arena, n_most + 1, sizeof(*list.ids)),
				     .names = jl_arena_array(arena, n_most + 1, sizeof(*list.names)),
				     .at = jl_arena_array(arena, rows->n + 1, sizeof(*list.at)) };
	size_t n = 0;

	JL_TRY(jl_got(named && list.ids && list.names && list.at, err));
	for (size_t i = 0; i < rows->n; i++) {
		for (size_t k = 0; k < JL_SEEN_A_ROW; k++) {
			const char *id = id_of(&rows->rows[i], k, arena);

			list.at[i][k] = (size_t)-1;
			if (id)
				named[n++] = (struct named){ .id = id, .at = &list.at[i][k] };
		}
	}
	qsort(named, n, sizeof(*named), by_id);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(named[i].id, named[i - 1].id) != 0) {
			const char *end = strstr(named[i].id, by);

			list.names[list.n] = end ? jl_arena_strndup(arena, named[i].id, (size_t)(end - named[i].id))
						 : named[i].id;
			JL_TRY(jl_got(list.names[list.n], err));
			list.ids[list.n++] = named[i].id;
		}
		*named[i].at = list.n - 1;
	}
	*ret_list = list;
	return JL_OK;
}

static void count_row(const struct jl_seen_list *list, const struct jl_set_row *row, size_t i,
		      struct jl_param_info *params)
{
	for (size_t k = 0; k < JL_SEEN_A_ROW; k++) {
		struct jl_param_info *p = list->at[i][k] < list->n ? &params[list->at[i][k]] : NULL;

		if (!p)
			continue;
		p->n_rows++;
		p->value = p->n_rows;
		if (k < JL_N_LABEL || k >= PAIRS)
			continue;
		const double extent = exp(row->extent_ln[k - JL_N_LABEL]);

		p->lo = p->n_rows == 1 ? extent : fmin(p->lo, extent);
		p->hi = p->n_rows == 1 ? extent : fmax(p->hi, extent);
		p->value = sqrt(p->lo * p->hi);
	}
}

/* Merges a pair with several sources into one entry with their number. */
static size_t keep(struct jl_param_info *params, size_t n, const char *name, struct jl_param_info p)
{
	const bool pair = name != p.id;

	if (pair && n && strcmp(params[n - 1].id, name) == 0) {
		params[n - 1].value++;
		params[n - 1].n_rows += p.n_rows;
		return n;
	}
	params[n] = p;
	params[n].id = name;
	if (pair)
		params[n].value = 1;
	return n + 1;
}

size_t jl_seen_count(const struct jl_seen_list *list, const struct jl_set_rows *rows, const unsigned char *use,
		     struct jl_param_info *ret_params)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		ret_params[i] = (struct jl_param_info){
			.id = list->ids[i], .value = 0.0, .lo = NAN, .hi = NAN, .prior = NAN, .unit = "1"
		};
	for (size_t i = 0; i < rows->n; i++) {
		const struct jl_set_row *row = &rows->rows[i];

		if (row->item != JL_NO_ITEM && (!use || use[row->item]))
			count_row(list, row, i, ret_params);
	}
	for (size_t i = 0; i < list->n; i++)
		if (ret_params[i].n_rows > 0)
			n = keep(ret_params, n, list->names[i], ret_params[i]);
	return n;
}
