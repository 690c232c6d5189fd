/* Single figures of a device: matrix product, stream, copy, link, layer; with uncertainty. Pure. */
#pragma once

#include "kernels/op.h"
#include "parameters/device_params.h"
#include "system/machine.h"

enum jl_gemm_kind {
	JL_GEMM_PRODUCT,
	JL_GEMM_BEST, /* best result of a search over shapes: an upper envelope */
	JL_GEMM_STREAM,
	JL_GEMM_COPY,
	JL_GEMM_LINK, /* rate between devices, or between host and device */
	JL_GEMM_LINK_LATENCY,
	JL_GEMM_LAYER,
	JL_N_DEVICE_KIND
};

enum jl_gemm_path {
	JL_PATH_NVLINK,
	JL_PATH_PCIE,       /* peer-to-peer below one root complex */
	JL_PATH_PCIE_CROSS, /* peer-to-peer across sockets */
	JL_PATH_VIA_HOST,   /* without peer-to-peer */
	JL_PATH_HOST        /* between host and device */
};

enum jl_gemm_layer { JL_LAYER_BERT, JL_LAYER_GPT2, JL_LAYER_T5_ENCODER, JL_LAYER_T5_DECODER };

struct jl_device_case {
	enum jl_gemm_kind kind;
	struct jl_gemm gemm; /* products */
	enum jl_gemm_quant quant;
	int block_scaled;
	double moved_B;         /* bytes; streams and copies */
	enum jl_gemm_path path; /* links */
	int both_ways;
	enum jl_gemm_layer layer; /* layers */
	int backward;
};

/* Seconds of the product or layer, per byte, or per message. `dev` must have its fitted parameters. */
double jl_device_case_s(const struct jl_device *dev, const struct jl_gemm_shared *shared,
			const struct jl_device_case *c);
/* FLOP of a layer as counted by the sources. */
double jl_device_layer_flop(const struct jl_device_case *c);

/* Id among the kinds of measurement: products by layout and format of their operands, others by operation. */
#define JL_DEVICE_ID_MAX 40
const char *jl_device_case_id(char out[JL_DEVICE_ID_MAX], const struct jl_device_case *c);

struct jl_device_answer {
	enum jl_asked answer;
	double time_s, half_ln;
	struct jl_doubt doubt;
};
struct jl_device_answer jl_device_of(const struct jl_machine *machine, const struct jl_gemm_shared *shared,
				     const struct jl_device_case *c);
