#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/csv.h"
#include "belief/set_collectives.h"
#include "belief/set_rows.h"
#include "cli/check_judge.h"
#include "cli/data_dir.h"

#define FILE_MAX_B ((size_t)1 << 26)
#define ROWS_MAX   100000
#define SMALL_B    8.0 /* the time of next to nothing */

struct columns {
	size_t collective, bytes, n_gpus, n_nodes, gpu, intra, inter, latency, algbw, busbw, tool;
};

static enum jl_status find_columns(struct columns *c, const struct jl_csv *csv, struct jl_err *err)
{
	const struct {
		const char *name;
		size_t *at;
	} wanted[] = {
		{ "collective", &c->collective },
		{ "bytes", &c->bytes },
		{ "n_gpus", &c->n_gpus },
		{ "n_nodes", &c->n_nodes },
		{ "gpu", &c->gpu },
		{ "intra_link", &c->intra },
		{ "inter_link", &c->inter },
		{ "latency_us", &c->latency },
		{ "algbw_GBps", &c->algbw },
		{ "busbw_GBps", &c->busbw },
		{ "tool", &c->tool },
	};
	enum jl_status status = JL_OK;

	for (size_t i = 0; !status && i < sizeof(wanted) / sizeof(*wanted); i++)
		status = jl_csv_need(csv, wanted[i].name, wanted[i].at, err);
	return status;
}

/* False: a row that cannot be read as a case; `jeoul validate` says why. */
static bool read_row(struct jl_published *row, struct jl_cli *cli, const struct jl_csv *csv, const struct columns *c,
		     const double *x)
{
	const struct jl_coll_cells cells = {
		.collective = jl_csv_text(csv, c->collective),
		.bytes = jl_csv_text(csv, c->bytes),
		.n_gpus = jl_csv_text(csv, c->n_gpus),
		.n_nodes = jl_csv_text(csv, c->n_nodes),
		.intra_link = jl_csv_text(csv, c->intra),
		.inter_link = jl_csv_text(csv, c->inter),
		.latency_us = jl_csv_text(csv, c->latency),
		.algbw_GBps = jl_csv_text(csv, c->algbw),
		.busbw_GBps = jl_csv_text(csv, c->busbw),
		.tool = jl_csv_text(csv, c->tool),
	};
	const struct jl_gpu *gpu = jl_set_find_gpu(cli->cat, jl_csv_text(csv, c->gpu), NULL);
	struct jl_collective_cost cost;
	struct jl_coll_case one, small;
	double time_s;

	if (!gpu || jl_coll_case_read(&one, &cells, cli->cat, gpu, NULL) != JL_OK)
		return false;
	small = one;
	small.coll.size_B = SMALL_B;
	time_s = jl_coll_predict_s(x, &one, &cost);
	*row = (struct jl_published){ .kind = one.coll.kind,
				      .size_B = one.coll.size_B,
				      .n_ranks = one.coll.n_ranks,
				      .n_nodes = one.listed.n_nodes,
				      .intra = one.intra,
				      .inter = one.listed.n_nodes > 1 ? one.inter : JL_WIRE_NONE,
				      .algbw_Bps = one.coll.size_B / one.meas_s,
				      .bound_Bps = one.coll.size_B / cost.bound_s,
				      .fixed_frac = fmin(jl_coll_predict_s(x, &small, NULL) / time_s, 1) };
	return !(one.assumed & JL_COLL_NETWORK); /* a share of an assumed rate tells nothing */
}

static enum jl_status read_rows(struct jl_cli *cli, struct jl_csv *csv, const struct jl_published **ret_rows,
				size_t *ret_n, struct jl_err *err)
{
	const size_t room = jl_set_rows_left(csv) < ROWS_MAX ? jl_set_rows_left(csv) : ROWS_MAX;
	struct jl_published *rows = jl_arena_array(&cli->arena, room + 1, sizeof(*rows));
	struct columns columns = { 0 };
	double x[JL_COLL_MAX_PARAMS];
	size_t n = 0;
	bool more = true;
	enum jl_status status = rows ? find_columns(&columns, csv, err) : jl_fail_nomem(err);

	jl_coll_read(cli->cat, x);
	while (!status && n < room) {
		status = jl_csv_next(csv, &more, err);
		if (status || !more)
			break;
		n += read_row(&rows[n], cli, csv, &columns, x);
	}
	*ret_rows = rows;
	*ret_n = n;
	return status;
}

enum jl_status jl_check_rows(struct jl_cli *cli, const struct jl_published **ret_rows, size_t *ret_n,
			     struct jl_err *err)
{
	const char *path = jl_arena_printf(&cli->arena, "%s/collectives.csv", jl_data_dir(cli));
	struct jl_buf text;
	struct jl_csv csv;
	enum jl_status status;

	*ret_rows = NULL;
	*ret_n = 0;
	if (!path)
		return jl_fail_nomem(err);
	if (access(path, R_OK) != 0)
		return JL_OK;
	status = jl_buf_read_file(&text, path, FILE_MAX_B, err);
	if (status)
		return status;
	status = jl_csv_open(&csv, jl_buf_text(&text), text.len, ',', path, err);
	if (!status) {
		status = read_rows(cli, &csv, ret_rows, ret_n, err);
		jl_csv_release(&csv);
	}
	jl_buf_release(&text);
	return status;
}
