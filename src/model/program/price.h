/* Device and host time of each kind of call, from the kernel models. Pure. */
#pragma once

#include "timeline/profile.h"
#include "parameters/program_params.h"
#include "program/work.h"

struct jl_price_in {
	const struct jl_device *dev;
	const struct jl_profile *profile; /* gives launch_s */
	const struct jl_program_fit *fit;
	bool tf32; /* products of fp32 tensors may use TF32; convolutions always may, as in PyTorch */
};

/* Issuer of a call: Python; Python with autograd recording; autograd's own thread. */
enum jl_issuer { JL_BY_PYTHON, JL_BY_AUTOGRAD_FORWARD, JL_BY_AUTOGRAD_BACKWARD, JL_N_ISSUER };
enum jl_issuer jl_issuer_of(const struct jl_program *p, enum jl_step_phase phase);

struct jl_call_cost {
	double device_s;
	double host_s[JL_N_ISSUER];
	double hot_s; /* of device_s: slow-down of products by the power limit */
	double n_kernels;
	double moved_B, flop;
	enum jl_op_class class;
};

void jl_work_price(struct jl_call_cost *ret_cost, const struct jl_price_in *in, const struct jl_call_work *work);
