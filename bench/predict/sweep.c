/* Evaluations (time and memory of one parallel configuration) per second and core. Covers all splits of GPT-3 175B over up to 1,024 GPUs: block
 * costs are computed once per tensor degree, micro-batch and recomputation (jl_train_blocks); data parallelism, pipeline, interleaving, ZeRO
 * stage and micro-batches per step are then evaluated from them. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"
#include "predict/predict.h"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct total {
	double n_eval, n_blocks, n_fit, best_s;
	double sum_s; /* keeps the compiler from removing the work */
};

/* Evaluates all configurations of one set of blocks on `n_gpus`. */
static void sweep_blocks(struct jl_train *train, const struct jl_train_blocks *blocks, double n_gpus, double mem_B,
			 struct total *total)
{
	for (double pp = 1; pp <= 32; pp *= 2) {
		const double dp = n_gpus / (train->plan.tp * pp);

		if (dp < 1)
			continue;
		for (int chunks = 1; chunks <= 3; chunks++)
			for (int zero = 0; zero <= 3; zero++)
				for (double n_micro = 8; n_micro <= 512; n_micro *= 2) {
					struct jl_step_cost step;
					struct jl_memory memory;

					train->plan.pp = pp;
					train->plan.dp = dp;
					train->plan.n_chunks = pp > 1 ? chunks : 1;
					train->plan.zero = zero;
					train->plan.n_micro = n_micro;
					step = jl_train_step(train, blocks);
					memory = jl_train_memory(train, blocks);
					total->n_eval++;
					total->sum_s += step.step_s;
					if (memory.total_B <= mem_B)
						total->n_fit++;
				}
	}
}

static void sweep(const struct jl_case *c, struct total *total)
{
	struct jl_train train = jl_case_train(c);
	struct jl_train_blocks blocks;

	for (double tp = 1; tp <= 8; tp *= 2)
		for (double micro = 1; micro <= 4; micro *= 2)
			for (int recompute = 0; recompute < JL_N_RECOMPUTE; recompute++) {
				train.plan.tp = train.shard.tp = tp;
				train.plan.sp = train.shard.sp = tp > 1;
				train.shard.micro_batch = micro;
				train.plan.recompute = (enum jl_recompute)recompute;
				train.plan.dp = train.plan.pp = 1;
				jl_train_blocks(&train, &blocks);
				total->n_blocks++;
				for (double n_gpus = 128; n_gpus <= 1024; n_gpus *= 2)
					sweep_blocks(&train, &blocks, n_gpus, c->machine.dev.mem_B, total);
			}
}

int main(int argc, char **argv)
{
	const double least_s = argc > 1 ? atof(argv[1]) : 2;
	struct jl_request req = jl_request_empty();
	struct jl_arena arena;
	struct jl_err err = { 0 };
	struct jl_case c;
	struct total total = { 0 };
	double begin, taken;

	req.model = "gpt3-175b";
	req.system = "128x dgx-a100-80gb";
	req.global_batch = 1024;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_case_make(&c, jl_catalog_embedded(), &req, &arena, &err)) {
		fprintf(stderr, "%s\n", err.en);
		return 1;
	}
	sweep(&c, &total); /* warm-up */
	total = (struct total){ 0 };
	begin = now_s();
	do
		sweep(&c, &total);
	while (now_s() - begin < least_s);
	taken = now_s() - begin;
	printf("{\"evaluations\": %.0f, \"blocks\": %.0f, \"seconds\": %.3f, \"evaluations_per_s\": %.0f, "
	       "\"fit_frac\": %.3f, \"mean_step_s\": %.3f}\n",
	       total.n_eval, total.n_blocks, taken, total.n_eval / taken, total.n_fit / total.n_eval,
	       total.sum_s / total.n_eval);
	jl_arena_release(&arena);
	return 0;
}
