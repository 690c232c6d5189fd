/* The validation set collectives: rows of nccl-tests and kin -> fabric and collective -> prediction, and the fit of
 * the physics of links (physics/link_params.h) on them. Cells are free text as their sources wrote them. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "belief/cells.h"
#include "belief/set.h"
#include "predict/collective_case.h"

/* The columns that are read. */
#define JL_COLL_CELLS                                                                                                  \
	collective, bytes, n_gpus, n_nodes, intra_link, inter_link, latency_us, algbw_GBps, busbw_GBps, tool
struct jl_coll_cells {
	jl_cell JL_COLL_CELLS;
};

enum jl_coll_assumed {
	JL_COLL_NETWORK = 1, /* rate of the network not stated */
	JL_COLL_PATH = 2     /* how PCIe devices reach each other not stated */
};

struct jl_coll_case {
	struct jl_collective coll;
	struct jl_fabric listed; /* rates and counts; the fitted part is filled by jl_coll_fill */
	enum jl_wire intra, inter;
	const struct jl_gpu *gpu;
	int arch;
	int many_die; /* the device is several dies: everything on it takes longer to start */
	int n_on_host;
	enum jl_coll_tool tool;
	unsigned assumed;
	double meas_s;
};

/* A row that cannot be read or scored is JL_E_DATA with the reason: unknown link, collective; no time. */
enum jl_status jl_coll_case_read(struct jl_coll_case *ret_case, const struct jl_coll_cells *cells,
				 const struct jl_catalog *cat, const struct jl_gpu *gpu, struct jl_err *err);

/* ret_cost may be NULL. The returned time includes what the tool's host adds. */
double jl_coll_predict_s(const double *x, const struct jl_coll_case *c, struct jl_collective_cost *ret_cost);

/* The program's own answer with this vector's physics. */
struct jl_collective_answer jl_coll_answer(const double *x, const struct jl_coll_case *c, const struct jl_known *known);

/* Fits on the rows where use[i] is not 0 (NULL: all). x: start in, best out. */
enum jl_status jl_coll_fit(const struct jl_coll_case *cases, size_t n, const unsigned char *use, double *x,
			   double *ret_cost, struct jl_err *err);
