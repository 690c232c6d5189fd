/* Fitted parameters of program prices besides kernel physics: host time of calls, and costs of irregular access. Names begin with "program.". */
#pragma once

#include "parameters/params.h"

struct jl_program_fit {
	/* host times as multiples of one framework launch (struct jl_profile, launch_s): */
	double call_ratio;    /* call without autograd: Python, dispatch, launch */
	double product_ratio; /* added for a call into a library */
	double back_ratio;    /* call of the backward pass / call without autograd */
	double grad_ratio;    /* forward call recorded by autograd / call without autograd */
	double view_ratio;    /* a call without a kernel */
	double module_ratio;  /* entering a module */
	double kernel_ratio;  /* each further launch of a call */
	double step_ratio;    /* each launch of a recurrent layer (one product call each) */
	double tensor_ratio;  /* each tensor of a list */
	double wait_s;        /* from the end of device work to the host's next call */
	/* SM clocks per element: */
	double walked_clocks; /* operands with different strides: addresses computed per element */
	double cast_clocks;   /* operands of different formats */
	double across_gain;   /* strided reads across rows: bytes fetched / bytes used */
	double reuse_gain;    /* a stream finds recent output in L2 if this factor times its bytes fits */
};

#define JL_PROGRAM_N_PARAM 14
extern const struct jl_param_list jl_program_params;
struct jl_program_fit jl_program_fit_of(const double *x);
struct jl_program_fit jl_program_shipped(const struct jl_catalog *cat);
