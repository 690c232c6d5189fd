/* Random but reproducible cases for the properties of a prediction. */
#ifndef JL_TEST_PREDICT_PLANS_H
#define JL_TEST_PREDICT_PLANS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "predict/predict.h"

/* A linear congruential generator: the same plans on every machine. */
static uint64_t plan_seed = 1;

static uint32_t pick(uint32_t n)
{
	plan_seed = plan_seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(plan_seed >> 33) % n;
}

static double pick_of(const double *values, size_t n)
{
	return values[pick((uint32_t)n)];
}

#define PICK(...) pick_of((const double[]){ __VA_ARGS__ }, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double))

/* A possible plan on a random system: `ret_case` passed every check. False: this draw was not possible. */
__attribute__((unused)) static int random_case(struct jl_case *ret_case, struct jl_arena *arena)
{
	static const char *const models[] = { "gpt-305m",     "gpt2-1.5b",  "llama-3-8b", "gpt3-175b",
					      "mixtral-8x7b", "bert-large", "qwen3-8b",   "deepseek-v2-lite" };
	static const char *const systems[] = { "dgx-a100-80gb",
					       "4x dgx-a100-80gb",
					       "16x dgx-h100",
					       "8x rtx-3090 via pcie4-no-p2p",
					       "2x(10x rtx-3090 via pcie4-no-p2p) over 10gbe-lacp2",
					       "dgx-station-v100-32gb",
					       "4x l40s",
					       "2x rtx-3090 via nvlink-bridge",
					       "125x aws:p5.48xlarge",
					       "rtx-4090",
					       "8x b200-sxm" };
	struct jl_request req = jl_request_empty();

	req.model = models[pick(sizeof(models) / sizeof(*models))];
	req.system = systems[pick(sizeof(systems) / sizeof(*systems))];
	req.plan.tp = PICK(1, 1, 1, 2, 4, 8);
	req.plan.pp = PICK(1, 1, 1, 2, 4, 8);
	req.plan.cp = PICK(1, 1, 1, 1, 2);
	req.plan.zero = (int)pick(4);
	req.plan.vpp = req.plan.pp > 1 ? PICK(1, 2) : NAN;
	req.micro_batch = PICK(1, 2, 4, 7);
	req.accumulate = PICK(1, 2, 8, 64);
	req.seq = PICK(128, 512, 2048, 4096);
	req.recompute = (int)pick(3);
	req.framework = (int)pick(4);
	req.flash = (int)pick(2);
	req.offload = pick(4) ? 0 : (int)pick(8);
	req.dtype = pick(4) ? JL_UNSET : (int)(pick(2) ? JL_FP32 : JL_FP16);
	return jl_case_make(ret_case, jl_catalog_embedded(), &req, arena, NULL) == JL_OK;
}

#define N_PLANS (JL_TEST_SANITIZED ? 600 : 3000)

#endif
