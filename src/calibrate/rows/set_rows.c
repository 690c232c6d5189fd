/* Shared code of all sets: baselines, labels, growing row arrays. */
#include "rows/set_rows.h"

#include "base/budget.h"
#include "predict/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "catalog/find.h"
#include "memory/memory.h"

double jl_baseline_peak_flopps(const struct jl_device *dev, enum jl_dtype dtype)
{
	return isnan(dev->peak_flopps[dtype]) ? dev->peak_flopps[JL_FP32] : dev->peak_flopps[dtype];
}

double jl_baseline_roofline_s(const struct jl_device *dev, enum jl_dtype dtype, double flop, double moved_B,
			      double frac)
{
	const double compute_s = flop / (frac * jl_baseline_peak_flopps(dev, dtype));
	const double memory_s = moved_B / (frac * dev->mem_Bps);

	return fmax(compute_s, moved_B > 0.0 ? memory_s : 0.0);
}

double jl_baseline_collective_s(const struct jl_fabric *listed, const struct jl_collective *coll, double frac,
				double start_s)
{
	const double per_rank = jl_busbw_factor(coll->kind, coll->n_ranks) * coll->size_B;
	const double intra_Bps = listed->intra_kind == JL_INTRA_BRIDGE_PAIR && coll->n_ranks == 2
					 ? listed->pair.rate_Bps
					 : listed->intra.rate_Bps;
	double rate_Bps = intra_Bps;

	/* a ring crosses each host's network once, so it gets the host's whole rate */
	if (listed->n_nodes > 1)
		rate_Bps = coll->n_ranks_per_node > 1 ? fmin(intra_Bps, listed->inter.rate_Bps)
						      : listed->inter.rate_Bps;
	return start_s + per_rank / (frac * rate_Bps);
}

const char *jl_label(struct jl_labels *labels, struct jl_arena *arena, const char *text)
{
	if (labels->n && strcmp(labels->texts[labels->last], text) == 0)
		return labels->texts[labels->last];
	for (size_t i = 0; i < labels->n; i++) {
		if (strcmp(labels->texts[i], text) == 0) {
			labels->last = i;
			return labels->texts[i];
		}
	}
	const char *copy = jl_arena_strdup(arena, text);

	if (copy && labels->n < JL_LABELS_MAX) {
		labels->last = labels->n;
		labels->texts[labels->n++] = copy;
	}
	return copy ? copy : "";
}

enum jl_status jl_set_gpu(struct jl_set_data *data, const char *text, size_t *ret_index, struct jl_err *err)
{
	struct jl_set_gpus *gpus = &data->gpus;
	const struct jl_gpu *gpu = NULL;
	size_t i = 0;

	text = jl_label(&data->labels, data->arena, text);
	for (; i < gpus->n_names && !gpu; i++)
		if (gpus->names[i].text == text)
			gpu = gpus->names[i].gpu;
	if (!gpu) {
		gpu = jl_find_spelt_gpu(data->cat, text, err);
		if (!gpu)
			return JL_E_NOTFOUND;
		if (gpus->n_names < JL_SET_GPUS_MAX) {
			gpus->names[gpus->n_names].text = text;
			gpus->names[gpus->n_names++].gpu = gpu;
		}
	}
	for (i = 0; i < gpus->n && gpus->gpus[i] != gpu; i++)
		;
	if (i == JL_SET_GPUS_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d GPU models", JL_SET_GPUS_MAX);
	if (i == gpus->n) {
		data->gpu_ids[i] = gpu->id;
		gpus->gpus[gpus->n++] = gpu;
	}
	*ret_index = i;
	return JL_OK;
}

const char *const jl_label_ids[JL_N_LABEL] = { "gpu", "family", "kind", "link" };

const char *jl_set_cell(const struct jl_set_reader *in, const char *column)
{
	return jl_phrase_cell(in->phrases, column, &in->row, in->arena);
}

static const char *csv_cell(const void *ctx, const char *column)
{
	const struct jl_csv *csv = ctx;
	const size_t i = jl_csv_find(csv, column);

	return i == JL_CSV_NO_COLUMN ? NULL : jl_csv_text(csv, i);
}

void jl_set_cells(const struct jl_set_reader *in, const char *columns, jl_cell *ret_cells, size_t n)
{
	char column[64];

	for (size_t i = 0; i < n; i++) {
		const size_t len = strcspn(columns, ",");

		(void)snprintf(column, sizeof(column), "%.*s", (int)len, columns);
		ret_cells[i] = jl_set_cell(in, column);
		columns += len + strspn(columns + len, ", ");
	}
}

/* Checks that the columns of `ops->measures` are positive and finite, and at least one is present. */
static enum jl_status check_measures(const struct jl_set_reader *in, struct jl_err *err)
{
	const char *const *name = in->ops->measures;
	size_t n_given = 0;

	for (; name && *name; name++) {
		const size_t column = jl_csv_find(in->csv, *name);
		const char *text = jl_csv_text(in->csv, column);
		double value = NAN;
		size_t used = 0;

		text += strspn(text, " \t");
		if (!*text)
			continue;
		n_given++;
		if (jl_num_parse(text, &value, &used) != JL_NUM_OK || text[used + strspn(text + used, " \t")] != '\0')
			return jl_fail(err, JL_E_PARSE, "column %zu (%s): '%.40s' is not a number", column + 1, *name,
				       text);
		if (!(value > 0.0 && isfinite(value)))
			return jl_fail(err, JL_E_RANGE, "column %zu (%s): '%.40s' is not a positive number", column + 1,
				       *name, text);
	}
	if (in->ops->measures && n_given == 0)
		return jl_fail(err, JL_E_DATA, "nothing was measured: %s is empty", in->ops->measures[0]);
	return JL_OK;
}

/* Source of a row: its group's name up to '|'; in files without groups, host and owner in the URL. */
static const char *source_of(const struct jl_set_reader *in, const char *group)
{
	static const char hub[] = "github.com/";
	const char *url = jl_set_cell(in, "source_url"), *host = strstr(url, "://");
	size_t len = strcspn(group, "|");

	if (!len) {
		group = host ? host + 3 : url;
		if (strncmp(group, hub, sizeof(hub) - 1) == 0) {
			group += sizeof(hub) - 1;
			len = strcspn(group, "/") + 1;
		}
		len += strcspn(group + (len <= strlen(group) ? len : 0), "/");
	}
	const char *text = jl_arena_strndup(in->arena, group, len);

	return text ? jl_label(in->labels, in->arena, text) : "";
}

static struct jl_set_row *add_row(const struct jl_set_reader *in)
{
	struct jl_set_rows *rows = in->rows;

	if (rows->n == rows->room)
		return NULL;
	struct jl_set_row *row = &rows->rows[rows->n++];

	*row = (struct jl_set_row){
		.line = jl_csv_where(in->csv, 0).line,
		.item = JL_NO_ITEM,
		.group = jl_label(in->labels, in->arena, jl_set_cell(in, "split_group")),
		.gpu = jl_label(in->labels, in->arena, jl_set_cell(in, "gpu")),
		.framework = "",
		.link = "",
		.what = "",
		.model = "",
		.code = jl_label(in->labels, in->arena, jl_set_cell(in, "codebase")),
		.kind = { "", "", "", "" },
		.meas = NAN,
		.pred = NAN,
		.half_ln = NAN,
		.naive = { NAN, NAN },
	};
	row->source = source_of(in, row->group);
	row->url = jl_label(in->labels, in->arena, jl_set_cell(in, "source_url"));
	return row;
}

struct jl_set_row *jl_set_add(struct jl_set_data *data, const struct jl_set_reader *in, const struct jl_set_kind *kind)
{
	struct jl_set_row *row = kind->what ? add_row(in) : NULL;

	if (!row)
		return NULL;
	row->item = data->n;
	row->framework = jl_label(in->labels, in->arena, kind->framework);
	row->link = jl_label(in->labels, in->arena, kind->link);
	row->what = kind->what;
	row->model = kind->model ? jl_arena_strdup(in->arena, kind->model) : "";
	row->model = row->model ? row->model : "";
	row->format = kind->format;
	row->answer = kind->answer;
	for (int i = 0; i < JL_N_LABEL; i++)
		row->kind[i] = jl_label(in->labels, in->arena, kind->kind[i] ? kind->kind[i] : "");
	memcpy(row->extent_ln, kind->extent_ln, sizeof(row->extent_ln));
	row->meas = kind->meas;
	data->groups[data->n] = row->group;
	return row;
}

enum jl_status jl_set_added(struct jl_set_data *data, struct jl_set_row *row, const double naive[JL_N_BASELINE],
			    struct jl_err *err)
{
	JL_TRY(jl_got(row, err));
	memcpy(row->naive, naive, sizeof(row->naive));
	data->n++;
	return JL_OK;
}

enum jl_status jl_set_unscored(const struct jl_set_reader *in, const struct jl_err *why, struct jl_err *err)
{
	struct jl_set_row *row = add_row(in);

	JL_TRY(jl_got(row, err));
	row->unscored = jl_label(in->labels, in->arena, why->en);
	row->unscored_text = jl_label(in->labels, in->arena, why->text);
	return JL_OK;
}

/* Array of `n` elements that starts with the first n_old of `old`; NULL: above the memory limit. */
static void *grow(struct jl_arena *arena, const void *old, size_t n_old, size_t n, size_t size)
{
	void *room = jl_arena_array(arena, n ? n : 1, size);

	if (room && n_old)
		memcpy(room, old, n_old * size);
	return room;
}

/* Allocates space for the reader's rows after the existing ones. */
static enum jl_status make_room(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	const size_t n = jl_csv_rows_left(in->csv) * data->ops->rows_a_line;
	struct jl_set_rows *rows = in->rows;

	data->cases = grow(in->arena, data->cases, data->n, data->n + n, data->ops->case_B);
	data->groups = grow(in->arena, data->groups, data->n, data->n + n, sizeof(*data->groups));
	if (rows->n + n > rows->room) {
		rows->rows = grow(in->arena, rows->rows, rows->n, rows->n + n, sizeof(*rows->rows));
		rows->room = rows->n + n;
	}
	return data->cases && data->groups && rows->rows ? JL_OK : jl_fail_nomem(err);
}

static enum jl_status make_data(struct jl_set_data **ret_data, const struct jl_set_ops *ops,
				const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_set_data *data = jl_arena_alloc(arena, sizeof(*data));

	JL_TRY(jl_got(data, err));
	*data = (struct jl_set_data){ .ops = ops, .cat = cat, .arena = arena };
	data->own = ops->own_B ? jl_arena_alloc(arena, ops->own_B) : NULL;
	if (ops->own_B && !data->own)
		return jl_fail_nomem(err);
	*ret_data = data;
	return ops->begin ? ops->begin(data, err) : JL_OK;
}

enum jl_status jl_set_load(const struct jl_set_ops *ops, struct jl_set_data **io_data, struct jl_set_rows *io_rows,
			   const struct jl_catalog *cat, struct jl_csv *csv, struct jl_arena *arena, struct jl_err *err)
{
	enum jl_status status = *io_data ? JL_OK : make_data(io_data, ops, cat, arena, err);

	if (status)
		return status;
	struct jl_set_data *data = *io_data;
	struct jl_phrases phrases;
	const struct jl_set_reader in = { .ops = ops,
					  .csv = csv,
					  .arena = arena,
					  .labels = &data->labels,
					  .rows = io_rows,
					  .phrases = &phrases,
					  .row = { .at = csv_cell, .ctx = csv } };

	JL_TRY(jl_phrases_of(&phrases, ops->name, arena, err));

	status = make_room(data, &in, err);
	while (jl_csv_more(csv, &status, err)) {
		const size_t n_rows = io_rows->n;
		struct jl_err why;

		if (check_measures(&in, &why) == JL_OK && ops->add(data, &in, &why) == JL_OK)
			continue;
		io_rows->n = n_rows;
		status = why.status == JL_E_NOMEM ? jl_fail_nomem(err) : jl_set_unscored(&in, &why, err);
	}
	return status;
}

size_t jl_set_n_items(const struct jl_set_data *data)
{
	return data->n;
}

void jl_set_predict(const struct jl_set_ops *ops, const struct jl_set_data *data, const double *x,
		    const struct jl_known *known, const unsigned char *only, struct jl_set_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct jl_set_row *row = &rows->rows[i];

		if (jl_budget_spend(20))
			return;
		if (row->item != JL_NO_ITEM && (!only || only[row->item]))
			ops->predict(data, x, known, row);
	}
}

void jl_set_parts(struct jl_buf *out, const struct jl_set_part *parts, size_t n, double whole)
{
	bool done[32] = { false };
	const char *between = "";

	for (size_t turn = 0; turn < n && turn < 32; turn++) {
		size_t best = n;

		for (size_t i = 0; i < n && i < 32; i++)
			if (!done[i] && (best == n || parts[i].amount > parts[best].amount))
				best = i;
		done[best] = true;
		if (!(parts[best].amount >= 0.02 * whole))
			return;
		jl_buf_printf(out, "%s%s %.0f %%", between, jl_msg(parts[best].en), 100.0 * parts[best].amount / whole);
		between = ", ";
	}
}

void jl_set_explain(struct jl_buf *out, bool is_memory, const struct jl_step_cost *s, const struct jl_memory *m)
{
	struct jl_set_part parts[JL_N_PART];
	const size_t n = is_memory ? JL_N_MEMORY_PART : JL_N_PART;

	for (size_t i = 0; i < n; i++)
		parts[i] = is_memory ? (struct jl_set_part){ jl_memory_parts[i].en, jl_part_of(m, &jl_memory_parts[i]) }
				     : (struct jl_set_part){ jl_parts[i].en, jl_part_s(s, i) };
	jl_set_parts(out, parts, n, is_memory ? m->total_B : s->step_s);
}
