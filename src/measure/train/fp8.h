/* The scale of one fp8 tensor, seen alike by C and CUDA. */
#pragma once

#define JL_FP8_HISTORY 13 /* steps whose largest value counts */

/* Numbers are stored times `scale` and are worth what is stored times `inverse`, whose address is a multiple of 16. */
struct jl_fp8_scale {
	float inverse, scale;
	float largest; /* of this step so far */
	float history[JL_FP8_HISTORY];
};
