/* What the price of a program needs beside the physics of its kernels: host times of calls, and what loads one by one cost. As parameters
 * their names begin with "program.". */
#pragma once

#include "parameters/params.h"

struct jl_program_fit {
	/* host time, of one launch of the framework (struct jl_profile, launch_s) */
	double call_ratio;    /* a call without autograd: Python, dispatch, launch */
	double product_ratio; /* what a call into a library takes beyond it */
	double back_ratio;    /* a call of the backward pass, of one that autograd does not see */
	double grad_ratio;    /* a call of the forward pass that autograd records, of one that it does not */
	double view_ratio;    /* a call without a kernel */
	double module_ratio;  /* entering a module */
	double kernel_ratio;  /* each further launch of a call */
	double step_ratio;    /* each launch of a recurrent layer: a product's call each */
	double tensor_ratio;  /* each tensor of a list */
	double wait_s;        /* from the device's end to the host's next call */
	/* SM clocks of an element */
	double walked_clocks; /* operands lie differently: addresses are computed for each */
	double cast_clocks;   /* operands differ in format */
	double across_gain;   /* bytes that are fetched / bytes that are used where rows are read across */
	double reuse_gain;    /* a stream finds in L2 what was just written: its own bytes times this must fit */
};

#define JL_PROGRAM_N_PARAM 14
extern const struct jl_param_list jl_program_params;
struct jl_program_fit jl_program_fit_of(const double *x);
struct jl_program_fit jl_program_shipped(const struct jl_catalog *cat);
