/* A way to run as settings that can be pasted: Megatron-LM's flags, DeepSpeed's JSON, torchtitan's TOML. */
#pragma once

#include "base/buf.h"
#include "predict/predict.h"

enum jl_plan_target { JL_PLAN_MEGATRON, JL_PLAN_DEEPSPEED, JL_PLAN_TORCHTITAN, JL_N_PLAN_TARGET };

const char *jl_plan_target_title(enum jl_plan_target target); /* "Megatron-LM" */

/* Why this target cannot run the case; NULL: it can. */
struct jl_plan_reason {
	const char *en;
};
struct jl_plan_reason jl_plan_settings_absent(enum jl_plan_target target, const struct jl_case *c);

/* Only what the plan decides; data, learning rate and paths are not in it. */
void jl_plan_settings(struct jl_buf *out, enum jl_plan_target target, const struct jl_case *c);

/* Which target the case was weighed for. */
enum jl_plan_target jl_plan_settings_of(const struct jl_case *c);
