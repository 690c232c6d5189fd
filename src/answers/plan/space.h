/* The search space: values of each axis, and items that share the cost of their blocks. Internal to plan. */
#pragma once

#include "plan/narrow.h"
#include "plan/way.h"

#define JL_PLAN_VALUES_MAX 1536 /* no number below 1e9 has more divisors */

struct jl_plan_axis_values {
	int n;
	int value[JL_PLAN_VALUES_MAX];
};

/* Options that are searched last and are cheap to evaluate: ZeRO stage, sharding, offloading. */
struct jl_plan_tail {
	unsigned char zero, keep, in_host, offload;
};
#define JL_PLAN_TAILS_MAX 64

/* Interleavings of a pipeline depth: chunks per stage that divide its layers, starting with 1. */
#define JL_PLAN_DEPTHS_MAX 256
#define JL_PLAN_CHUNKS_MAX 48
struct jl_plan_chunks {
	int n, value[JL_PLAN_CHUNKS_MAX];
};

struct jl_plan_space {
	const struct jl_plan_site *site;
	struct jl_plan_narrow narrow;
	struct jl_plan_axis_values tp, cp, ep, micro_batch, pp;
	struct jl_plan_chunks chunks[JL_PLAN_DEPTHS_MAX]; /* per pp */
	int n_dtype, dtype[JL_N_DTYPE];
	int n_framework, framework[JL_N_FRAMEWORK];
	int n_recompute, recompute[JL_N_RECOMPUTE];
	int n_sp, sp[2];
	int n_tail;
	struct jl_plan_tail tail[JL_PLAN_TAILS_MAX];
	long long n_item;
	long long n_shape; /* branches excluded while the lists were built */
};

void jl_plan_space_make(struct jl_plan_space *ret_space, const struct jl_plan_site *site,
			const struct jl_plan_narrow *narrow);

/* Sets the options of item `index` that its blocks depend on (pp, vpp, zero, ... are 1 or 0). False: impossible. */
bool jl_plan_space_item(const struct jl_plan_space *space, long long index, struct jl_plan_way *ret_way);

/* A pipeline depth of an item, with derived values. */
struct jl_plan_depth {
	int pp;
	double dp, n_micro, host_ranks;
	int n_vpp;
	const int *vpp;
};

/* Combines item `way` with the i-th pipeline depth. False: impossible; increments `ret_n_shape` if it does not divide evenly. */
bool jl_plan_space_depth(const struct jl_plan_space *space, const struct jl_plan_way *way, int i,
			 struct jl_plan_depth *ret_depth, long long *ret_n_shape);
