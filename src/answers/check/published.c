#include "check/judge.h"

#include <math.h>

#include "base/csv.h"
#include "catalog/find.h"
#include "check/published_columns.h"
#include "predict/collective_row.h"

#define ROWS_MAX 100000
#define SMALL_B  8.0 /* size whose time is pure latency */

/* False: the row does not describe a case; `jeoul validate` says why. */
static bool read_row(struct jl_published *row, const struct jl_catalog *cat, const struct jl_csv *csv, const double *x)
{
	const struct jl_coll_cells cells = {
		.collective = jl_csv_text(csv, JL_PUB_COLLECTIVE),
		.bytes = jl_csv_text(csv, JL_PUB_BYTES),
		.n_gpus = jl_csv_text(csv, JL_PUB_N_GPUS),
		.n_nodes = jl_csv_text(csv, JL_PUB_N_NODES),
		.intra_link = jl_csv_text(csv, JL_PUB_INTRA),
		.inter_link = jl_csv_text(csv, JL_PUB_INTER),
		.latency_us = jl_csv_text(csv, JL_PUB_LATENCY),
		.algbw_GBps = jl_csv_text(csv, JL_PUB_ALGBW),
		.busbw_GBps = jl_csv_text(csv, JL_PUB_BUSBW),
		.tool = jl_csv_text(csv, JL_PUB_TOOL),
	};
	const struct jl_gpu *gpu = jl_find_spelt_gpu(cat, jl_csv_text(csv, JL_PUB_GPU), NULL);
	struct jl_collective_cost cost;
	struct jl_coll_case one, small;

	if (!gpu || jl_coll_case_read(&one, &cells, cat, gpu, NULL) != JL_OK)
		return false;
	small = one;
	small.coll.size_B = SMALL_B;
	double time_s = jl_coll_predict_s(x, &one, &cost);
	*row = (struct jl_published){ .kind = one.coll.kind,
				      .size_B = one.coll.size_B,
				      .n_ranks = one.coll.n_ranks,
				      .n_nodes = one.listed.n_nodes,
				      .intra = one.intra,
				      .inter = one.listed.n_nodes > 1 ? one.inter : JL_WIRE_NONE,
				      .algbw_Bps = one.coll.size_B / one.meas_s,
				      .bound_Bps = one.coll.size_B / cost.bound_s,
				      .fixed_frac = fmin(jl_coll_predict_s(x, &small, NULL) / time_s, 1) };
	return !(one.assumed & JL_COLL_NETWORK); /* a share of an assumed rate has no information */
}

static enum jl_status read_rows(const struct jl_published **ret_rows, size_t *ret_n, struct jl_csv *csv,
				const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	const size_t room = jl_csv_rows_left(csv) < ROWS_MAX ? jl_csv_rows_left(csv) : ROWS_MAX;
	struct jl_published *rows = jl_arena_array(arena, room + 1, sizeof(*rows));
	double x[JL_COLL_MAX_PARAMS];
	size_t n = 0;
	bool more = true;
	enum jl_status status = rows ? JL_OK : jl_fail_nomem(err);

	jl_coll_read(cat, x);
	while (!status && n < room) {
		status = jl_csv_next(csv, &more, err);
		if (status || !more)
			break;
		n += read_row(&rows[n], cat, csv, x);
	}
	*ret_rows = rows;
	*ret_n = n;
	return status;
}

extern const unsigned char jl_published_text[];
extern const size_t jl_published_text_len;

enum jl_status jl_published_rows(const struct jl_published **ret_rows, size_t *ret_n, const struct jl_catalog *cat,
				 struct jl_arena *arena, struct jl_err *err)
{
	struct jl_csv csv;

	JL_TRY(jl_csv_open(&csv, (const char *)jl_published_text, jl_published_text_len, "collectives.csv", err));
	enum jl_status status = read_rows(ret_rows, ret_n, &csv, cat, arena, err);
	jl_csv_release(&csv);
	/* without rows the range would be the model's alone: a usual figure could be called low */
	if (!status && !*ret_n)
		status = jl_fail(err, JL_E_ABSENT,
				 "no published measurement fits this catalog: no verdict on collectives without them");
	return status;
}
