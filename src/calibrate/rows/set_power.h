/* Validation set "power": published average power of GPUs and whole nodes under load. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/cells.h"
#include "parameters/power_params.h"
#include "predict/predict.h"

/* Columns read from power.csv. */
#define JL_POWER_CELLS                                                                                                 \
	gpu, n_gpus, workload, requests, model, catalog_model, activity, format, batch, power_limit_w,                 \
		avg_power_w_total, avg_power_w_per_gpu, of_node, throughput, counts_tokens
struct jl_power_cells {
	jl_cell JL_POWER_CELLS;
};

enum jl_power_assumed {
	JL_POWER_ASSUMED_ACTIVITY = 1, /* bytes and FLOP unknown: a typical share of the TDP */
	JL_POWER_ASSUMED_HOST = 2      /* the node's other parts */
};

struct jl_power_row {
	const struct jl_gpu *gpu;
	struct jl_device dev;
	struct jl_power_ask ask; /* host_W: the node's other parts; 0 if only boards are measured */
	int n_gpus;
	double meas_W; /* measured power of the whole scope */
	unsigned assumed;
};

struct jl_power_find {
	enum jl_status (*device)(void *ctx, const char *text, struct jl_power_row *row,
				 struct jl_err *err); /* `find` sets gpu and dev */
	void *ctx;
	const struct jl_catalog *cat; /* catalog with the served models */
};

enum jl_status jl_power_row_read(struct jl_power_row *ret_row, const struct jl_power_cells *cells,
				 const struct jl_power_find *find, struct jl_err *err);

double jl_power_ln_ratio(const struct jl_power_row *row, const struct jl_power_fit *fit);

/* Fits to the rows with use[i] != 0 (NULL: all). x: in: start; out: best. */
enum jl_status jl_power_solve(const struct jl_power_row *rows, size_t n_rows, const unsigned char *use, double *x,
			      double *ret_cost, struct jl_err *err);
