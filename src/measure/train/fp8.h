/* The scale of one fp8 tensor, shared by C and CUDA. */
#pragma once

#define JL_FP8_HISTORY 13 /* steps over which the largest value is tracked */

/* stored = value × scale; value = stored × inverse. The address of `inverse` must be a multiple of 16. */
struct jl_fp8_scale {
	float inverse, scale;
	float largest; /* largest absolute value in this step */
	float history[JL_FP8_HISTORY];
};
