/* Restrictions of a search: fixed axes (--fix tp=8) and excluded values (--forbid offload). */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum jl_plan_axis {
	JL_AXIS_DP,
	JL_AXIS_TP,
	JL_AXIS_PP,
	JL_AXIS_VPP,
	JL_AXIS_CP,
	JL_AXIS_EP,
	JL_AXIS_SP,
	JL_AXIS_ZERO,
	JL_AXIS_MICRO_BATCH,
	JL_AXIS_RECOMPUTE,
	JL_AXIS_OFFLOAD,
	JL_AXIS_OVERLAP, /* tensor-parallel transfers overlap with products; ZeRO-3 keeps gathered weights */
	JL_AXIS_HSDP,
	JL_AXIS_FP8,
	JL_N_AXIS
};

struct jl_plan_narrow {
	bool is_fixed[JL_N_AXIS];
	int fixed[JL_N_AXIS];
	unsigned forbidden; /* bit per row of the word table */
};

/* Parse "tp=8,zero=1,recompute=selective" and "offload,fp8"; add to existing restrictions. */
enum jl_status jl_plan_fix(struct jl_plan_narrow *narrow, const char *text, struct jl_err *err);
enum jl_status jl_plan_forbid(struct jl_plan_narrow *narrow, const char *text, struct jl_err *err);
/* Fails if an option is both fixed and forbidden. */
enum jl_status jl_plan_agree(const struct jl_plan_narrow *narrow, struct jl_err *err);

bool jl_plan_allows(const struct jl_plan_narrow *narrow, enum jl_plan_axis axis, int value);
