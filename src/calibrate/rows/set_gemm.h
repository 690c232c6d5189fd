/* Validation set "gemm_membw": matrix products, streams, copies and transformer layers on one device. Reads its rows and fits device parameters
 * (parameters/device_params.h) to them. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/cells.h"
#include "predict/device_case.h"

/* Columns read from gemm_membw.csv. */
#define JL_GEMM_CELLS kind, gpu, dtype, batch, m, n, k, bytes, value, unit, latency_us, software
struct jl_gemm_cells {
	jl_cell JL_GEMM_CELLS;
};

struct jl_gemm_case {
	struct jl_device_case of;
	double meas_s; /* seconds per product, layer, byte or message */
	int gpu;       /* index into the caller's list of GPUs */
};

/* Reads everything but the GPU. JL_E_DATA with the reason if the row cannot be scored. */
enum jl_status jl_gemm_case_read(struct jl_gemm_case *ret_case, const struct jl_gemm_cells *cells, struct jl_err *err);

struct jl_gemm_set {
	size_t n_case;
	const struct jl_gemm_case *cases;
	size_t n_gpu;
	const struct jl_device *devices; /* listed facts; the fit sets the fitted parts */
};

/* Fits to the rows with use[i] != 0 (NULL: all). x: in: start; out: best. */
enum jl_status jl_gemm_fit(const struct jl_gemm_set *set, const unsigned char *use, double *x, double *ret_cost,
			   struct jl_err *err);
