/* The validation set gemm_membw: matrix products, streams, copies and transformer layers on one device. Its rows as
 * model inputs, and the fit of the physics of one device (physics/device_params.h) on them. */
#ifndef JL_BELIEF_SET_GEMM_H
#define JL_BELIEF_SET_GEMM_H

#include <stddef.h>

#include "base/err.h"
#include "model/op.h"
#include "physics/device_params.h"

/* One row's cells as the file has them; NULL or "" where empty. */
struct jl_gemm_cells {
	const char *kind, *gpu, *dtype, *batch, *m, *n, *k, *bytes, *value, *unit, *latency_us, *software;
};

enum jl_gemm_kind {
	JL_GEMM_PRODUCT,
	JL_GEMM_BEST, /* best of a search over shapes: an upper envelope */
	JL_GEMM_STREAM,
	JL_GEMM_COPY,
	JL_GEMM_LINK, /* device to device, or host and device: rate */
	JL_GEMM_LINK_LATENCY,
	JL_GEMM_LAYER,
	JL_GEMM_N_KIND
};

enum jl_gemm_path {
	JL_PATH_NVLINK,
	JL_PATH_PCIE,       /* peer to peer, one root complex */
	JL_PATH_PCIE_CROSS, /* peer to peer across sockets */
	JL_PATH_VIA_HOST,   /* no peer to peer */
	JL_PATH_HOST        /* host and device */
};

enum jl_gemm_layer { JL_LAYER_BERT, JL_LAYER_GPT2, JL_LAYER_T5_ENCODER, JL_LAYER_T5_DECODER };

struct jl_gemm_case {
	enum jl_gemm_kind kind;
	struct jl_gemm gemm; /* products */
	enum jl_gemm_quant quant;
	int block_scaled;
	double moved_B;         /* streams and copies */
	enum jl_gemm_path path; /* links */
	int both_ways;
	enum jl_gemm_layer layer; /* layers */
	int backward;
	double meas_s; /* the measurement as a time: of the product, of the layer, of one byte, of one message */
	int gpu;       /* index into the caller's list */
};

/* Reads everything but the GPU. A row that cannot be scored is JL_E_DATA with the reason. */
enum jl_status jl_gemm_case_read(struct jl_gemm_case *ret_case, const struct jl_gemm_cells *cells, struct jl_err *err);

double jl_gemm_case_s(const struct jl_device *dev, const struct jl_gemm_shared *shared, const struct jl_gemm_case *c);

struct jl_gemm_set {
	size_t n_case;
	const struct jl_gemm_case *cases;
	size_t n_gpu;
	const struct jl_device *devices; /* listed facts; fits are filled in */
};

/* Fits on the rows where use[i] is not 0 (NULL: all). x: start in, best out. */
enum jl_status jl_gemm_fit(const struct jl_gemm_set *set, const unsigned char *use, double *x, double *ret_cost,
			   struct jl_err *err);

/* ln(pred/meas) of every row with the given parameters. */
void jl_gemm_ln_ratio(const struct jl_gemm_set *set, const double *x, double *ret_ln);

#endif
