/* A published measurement of a collective (nccl-tests and kin) read as the question that a user would ask: fabric, collective, measured
 * time. Knows nothing of files, sets or fits. Cells are free text as their sources wrote them. */
#pragma once

#include <stddef.h>

#include "base/cells.h"
#include "base/err.h"
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

/* What the host of the measuring tool adds to a collective. */
double jl_coll_tool_s(const double *x, const struct jl_coll_case *c);
