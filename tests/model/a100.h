/* An A100 and nodes of eight with unfitted parameters, for tests of the model. */
#ifndef JL_TESTS_MODEL_A100_H
#define JL_TESTS_MODEL_A100_H

#include <math.h>

#include "parameters/arch.h"
#include "parameters/device_params.h"
#include "timeline/step.h"

static inline struct jl_device a100(void)
{
	enum { MAX_PARAMS = 1000 };
	static double x[MAX_PARAMS];
	const struct jl_param_list params = jl_gemm_params(0, NULL);
	struct jl_device dev = {
		.peak_flopps = { [JL_FP32] = 19.5e12,
				 [JL_TF32] = 156e12,
				 [JL_FP16] = 312e12,
				 [JL_BF16] = 312e12,
				 [JL_FP8] = NAN,
				 [JL_FP4] = NAN,
				 [JL_INT8] = 624e12 },
		.mem_B = 80e9,
		.mem_Bps = 2.04e12,
		.l2_B = 40e6,
		.n_sm = 108,
		.boost_Hz = 1.41e9,
		.tdp_W = 400,
		.host_Bps = 31.5e9,
		.link_Bps = 300e9,
		.arch = jl_arch_by_id("ampere-dc"),
	};

	jl_params_start(&params, x);
	jl_gemm_resolve(x, -1, &dev);
	return dev;
}

static inline struct jl_fabric a100_nodes(int n_nodes)
{
	return (struct jl_fabric){
		.intra_kind = JL_INTRA_SWITCH,
		.n_per_node = 8,
		.n_nodes = n_nodes,
		.launch_s = 10e-6,
		.intra = { .rate_Bps = 300e9, .eff_frac = 0.8, .alpha_s = 3e-6, .ll_frac = 0.5, .ll_alpha_s = 1e-6 },
		.inter = { .rate_Bps = 200e9, .eff_frac = 0.8, .alpha_s = 10e-6, .ll_frac = 0.5, .ll_alpha_s = 4e-6 },
	};
}

#endif
