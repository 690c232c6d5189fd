/* A published measurement of a collective (nccl-tests and similar), converted to model inputs: fabric, collective, measured time. Must not know
 * files, sets or fits. Cells are free text as written by their sources. */
#pragma once

#include <stddef.h>

#include "base/cells.h"
#include "base/err.h"
#include "predict/collective_case.h"

/* Columns that are read. */
#define JL_COLL_CELLS                                                                                                  \
	collective, bytes, n_gpus, n_nodes, intra_link, inter_link, latency_us, algbw_GBps, busbw_GBps, tool
struct jl_coll_cells {
	jl_cell JL_COLL_CELLS;
};

enum jl_coll_assumed {
	JL_COLL_NETWORK = 1, /* the network's rate is not stated */
	JL_COLL_PATH = 2     /* the path between PCIe devices is not stated */
};

struct jl_coll_case {
	struct jl_collective coll;
	struct jl_fabric listed; /* rates and counts; jl_coll_fill sets the fitted part */
	enum jl_wire intra, inter;
	const struct jl_gpu *gpu;
	int arch;
	int many_die; /* multi-die device: kernels take longer to start */
	int n_on_host;
	enum jl_coll_tool tool;
	unsigned assumed;
	double meas_s;
};

/* JL_E_DATA with the reason if the row cannot be parsed or scored: unknown link or collective, no time. */
enum jl_status jl_coll_case_read(struct jl_coll_case *ret_case, const struct jl_coll_cells *cells,
				 const struct jl_catalog *cat, const struct jl_gpu *gpu, struct jl_err *err);

/* ret_cost may be NULL. The result includes the tool's host time. */
double jl_coll_predict_s(const double *x, const struct jl_coll_case *c, struct jl_collective_cost *ret_cost);

/* Host time that the measuring tool adds. */
double jl_coll_tool_s(const double *x, const struct jl_coll_case *c);
