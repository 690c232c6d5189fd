#include "belief/set_rows.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "catalog/find.h"

/* Spellings of sources that fit several records; what is not here is searched. Where a source does not say which of two
 * forms it had, it is the one that its machines carry. */
static const struct {
	const char *text, *id;
} spellings[] = {
	{ "A100 40GB", "a100-sxm4-40gb" },
	{ "A100 80GB", "a100-sxm4-80gb" },
	{ "A100 SXM 40GB", "a100-sxm4-40gb" },
	{ "A100 SXM 80GB", "a100-sxm4-80gb" },
	{ "A800 80GB", "a800-sxm4-80gb" },
	{ "B200 SXM", "b200" },
	{ "B300 SXM", "b300" },
	{ "GH200", "gh200-96gb" },
	{ "H100 PCIe 80GB", "h100-pcie" },
	{ "H100 SXM 80GB", "h100-sxm5" },
	{ "H100 SXM 96GB HBM2e 500W", "h100-sxm5-96gb-hbm2e" },
	{ "H200 SXM 141GB", "h200-sxm" },
	{ "V100 32GB", "v100-sxm2-32gb" },
	{ "RTX 3080", "rtx-3080" },
	{ "A10", "a10" },
	{ "L4", "l4" },
	{ "RTX A6000", "rtx-a6000" },
	{ "P100", "p100-sxm2" },
	{ "V100 SXM 32GB", "v100-sxm2-32gb" },
	{ "GB300 (DGX Station)", "gb300" },
	{ "H100 PCIe/NVL 80GB", "h100-pcie" },
};

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

const struct jl_gpu *jl_set_find_gpu(const struct jl_catalog *cat, const char *text, struct jl_err *err)
{
	const struct jl_gpu *gpu = NULL;

	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings) && !gpu; i++)
		if (strcmp(spellings[i].text, text) == 0)
			gpu = jl_gpu_by_id(cat, spellings[i].id);
	if (!gpu && jl_find_gpu(&gpu, cat, text, err) != JL_OK)
		return NULL;
	return gpu;
}

/* Where nobody says, only the GeForce line is without: as the catalog's own default has it. */
bool jl_set_p2p(const struct jl_gpu *gpu)
{
	return gpu->p2p == JL_P2P_YES || (gpu->p2p == JL_P2P_UNKNOWN && gpu->name && !strstr(gpu->name, "GeForce"));
}

enum jl_status jl_set_gpu(struct jl_set_gpus *gpus, const char *text, size_t *ret_index, struct jl_err *err)
{
	const struct jl_gpu *gpu = NULL;
	size_t i = 0;

	for (; i < gpus->n_names && !gpu; i++)
		if (gpus->names[i].text == text)
			gpu = gpus->names[i].gpu;
	if (!gpu) {
		gpu = jl_set_find_gpu(gpus->cat, text, err);
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
		return jl_fail(err, JL_E_LIMIT, "more than %d GPU models", "GPU 모델이 %d개를 넘습니다",
			       JL_SET_GPUS_MAX);
	if (i == gpus->n)
		gpus->gpus[gpus->n++] = gpu;
	*ret_index = i;
	return JL_OK;
}

size_t jl_set_rows_left(const struct jl_csv *csv)
{
	size_t n = 1;

	for (const char *at = csv->text + csv->at; (at = memchr(at, '\n', (size_t)(csv->text + csv->len - at))); at++)
		n++;
	return n;
}

void *jl_set_grow(struct jl_arena *arena, const void *old, size_t n_old, size_t n, size_t size)
{
	void *room = jl_arena_array(arena, n ? n : 1, size);

	if (room && n_old)
		memcpy(room, old, n_old * size);
	return room;
}

enum jl_status jl_set_reserve(struct jl_set_rows *rows, size_t n, struct jl_arena *arena, struct jl_err *err)
{
	if (rows->n + n <= rows->room)
		return JL_OK;
	struct jl_set_row *grown = jl_set_grow(arena, rows->rows, rows->n, rows->n + n, sizeof(*grown));

	if (!grown)
		return jl_fail_nomem(err);
	rows->rows = grown;
	rows->room = rows->n + n;
	return JL_OK;
}

enum jl_status jl_set_read(const struct jl_set_reader *in, struct jl_set_data *data, jl_set_add_row *add,
			   size_t rows_a_line, struct jl_err *err)
{
	enum jl_status status = jl_set_reserve(in->rows, rows_a_line * jl_set_rows_left(in->csv), in->arena, err);
	bool more = true;

	while (!status) {
		status = jl_csv_next(in->csv, &more, err);
		if (status || !more)
			break;
		status = add(data, in, err);
	}
	return status;
}

const char *jl_set_cell(const struct jl_set_reader *in, const char *column)
{
	return jl_csv_text(in->csv, jl_csv_find(in->csv, column));
}

enum jl_status jl_set_check_measures(const struct jl_set_reader *in, struct jl_err *err)
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
			return jl_fail(err, JL_E_PARSE, "column %zu (%s): '%.40s' is not a number",
				       "%zu열 (%s): '%.40s'은(는) 숫자가 아닙니다", column + 1, *name, text);
		if (!(value > 0.0 && isfinite(value)))
			return jl_fail(err, JL_E_RANGE, "column %zu (%s): '%.40s' is not a positive number",
				       "%zu열 (%s): '%.40s'은(는) 양수가 아닙니다", column + 1, *name, text);
	}
	if (in->ops->measures && n_given == 0)
		return jl_fail(err, JL_E_DATA, "nothing was measured: %s is empty",
			       "측정값이 없습니다: %s이(가) 비었습니다", in->ops->measures[0]);
	return JL_OK;
}

struct jl_set_row *jl_set_add(const struct jl_set_reader *in, const char *framework, const char *link)
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
		.framework = jl_label(in->labels, in->arena, framework),
		.link = jl_label(in->labels, in->arena, link),
		.what = "",
		.meas = NAN,
		.pred = NAN,
		.half_ln = NAN,
		.naive = { NAN, NAN },
	};
	return row;
}

enum jl_status jl_set_add_unscored(const struct jl_set_reader *in, const struct jl_err *why, struct jl_err *err)
{
	struct jl_set_row *row = jl_set_add(in, "", "");

	if (!row)
		return jl_fail_nomem(err);
	row->unscored = jl_label(in->labels, in->arena, why->en);
	row->unscored_ko = jl_label(in->labels, in->arena, why->ko);
	return JL_OK;
}

void jl_set_parts(struct jl_buf *out, const struct jl_set_part *parts, size_t n, double whole, enum jl_lang lang)
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
		jl_buf_printf(out, "%s%s %.0f %%", between, JL_T(lang, parts[best].en, parts[best].ko),
			      100.0 * parts[best].amount / whole);
		between = ", ";
	}
}
