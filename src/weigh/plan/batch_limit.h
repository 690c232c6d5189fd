/* How large a batch a system holds in one pass, and which batch runs fastest. */
#pragma once

#include "plan/narrow.h"
#include "plan/way.h"

/* A batch with how it runs; batch 0: not even one sample a worker. */
struct jl_batch_point {
	double batch;  /* all workers, one pass each */
	double worker; /* of one worker */
	struct jl_case how;
	struct jl_prediction prediction;
};

struct jl_batch_limit {
	struct jl_batch_point largest; /* data parallel as is: no recompute, nothing offloaded */
	struct jl_batch_point fastest; /* most samples a second of those up to `largest` */
	struct jl_batch_point most;    /* with whatever makes room: slices, ZeRO, recompute, offload */
	double capacity_B;
};

struct jl_batch_ask {
	const struct jl_catalog *cat;
	struct jl_plan_site *site; /* its batch is changed on the way */
	const struct jl_plan_narrow *narrow;
	double memory_frac;
};

void jl_plan_batch_limit(struct jl_batch_limit *ret_limit, const struct jl_batch_ask *ask);
