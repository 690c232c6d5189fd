/* The validation set gemm_membw: matrix products, streams, copies and transformer layers on one device. Its rows as
 * model inputs, and the fit of the physics of one device (physics/device_params.h) on them. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/cells.h"
#include "predict/device_case.h"

/* The columns that are read. */
#define JL_GEMM_CELLS kind, gpu, dtype, batch, m, n, k, bytes, value, unit, latency_us, software
struct jl_gemm_cells {
	jl_cell JL_GEMM_CELLS;
};

struct jl_gemm_case {
	struct jl_device_case of;
	double meas_s; /* the measurement as a time: of the product, of the layer, of one byte, of one message */
	int gpu;       /* index into the caller's list */
};

/* Reads everything but the GPU. A row that cannot be scored is JL_E_DATA with the reason. */
enum jl_status jl_gemm_case_read(struct jl_gemm_case *ret_case, const struct jl_gemm_cells *cells, struct jl_err *err);

struct jl_gemm_set {
	size_t n_case;
	const struct jl_gemm_case *cases;
	size_t n_gpu;
	const struct jl_device *devices; /* listed facts; fits are filled in */
};

/* Fits on the rows where use[i] is not 0 (NULL: all). x: start in, best out. */
enum jl_status jl_gemm_fit(const struct jl_gemm_set *set, const unsigned char *use, double *x, double *ret_cost,
			   struct jl_err *err);
