/* Validation sets "infer_llm" (one engine: single sequences, batches), "serve_load" (tokens/s of serving engines, including older versions, with
 * the current engines' parameters given) and "serve_silicon" (frameworks under a fixed number of requests: time to first token, time per further
 * token). */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/arena.h"
#include "rows/phrases.h"
#include "serve/serve.h"

struct jl_serve_row {
	struct jl_serve_run run;
	struct jl_device dev;
	const struct jl_gpu *gpu;
	double meas_s;
	unsigned char many; /* more than eight devices in one link domain */
	const struct jl_run_plan *plan;
};

struct jl_serve_find {
	/* sets gpu and dev of the row */
	enum jl_status (*gpu)(void *ctx, const char *text, struct jl_serve_row *row, bool *ret_p2p, bool *ret_nvlink,
			      struct jl_err *err);
	void *ctx;
	const struct jl_catalog *cat;
};

/* A number in a cell ("": no such cell); NAN: empty. */
enum jl_status jl_serve_number(const struct jl_row_cells *cells, const char *column, double *ret_value,
			       struct jl_err *err);
enum jl_status jl_infer_row_read(struct jl_serve_row *ret_row, const struct jl_row_cells *cells,
				 const struct jl_serve_find *find, struct jl_err *err);
/* ret_model: catalog id, for the groups. The caller makes two rows of it, one per metric. */
enum jl_status jl_silicon_row_read(struct jl_serve_row *ret_row, const char **ret_model,
				   const struct jl_row_cells *cells, const struct jl_serve_find *find,
				   struct jl_err *err);

/* Simulates the row once with default parameters, for values that the fit needs. */
enum jl_status jl_serve_row_plan(struct jl_serve_row *row, struct jl_arena *arena, struct jl_err *err);

/* Time at a share of all listed rates: the naive baseline. */
double jl_serve_naive_s(const struct jl_serve_row *row, double frac);

/* Fits to the rows with use[i] != 0 (NULL: all); JL_KNOWN_VERSIONS: only factors of versions and backends. x: in: start; out: best. */
enum jl_serve_known { JL_KNOWN_INFER, JL_KNOWN_SERVE, JL_KNOWN_VERSIONS };
enum jl_status jl_serve_solve(enum jl_serve_known what, const struct jl_serve_row *rows, size_t n_rows,
			      const unsigned char *use, int max_iter, double *x, struct jl_err *err);
