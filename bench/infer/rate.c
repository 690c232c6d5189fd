/* Simulated engine iterations per second and core: decode-heavy, prompt-heavy, memory-limited, and several machines. CPU time of one thread,
 * minimum of three runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "serve/load.h"

struct task {
	const char *name;
	const char *engine;
	int n_workers, n_prompt_workers;
	double prompt, answer, kv_tokens, rate_hz;
	int concurrency;
	size_t n;
};

static const struct task tasks[] = {
	{ "10,000 requests of 1,024+1,024, 256 at once", "vllm", 1, 0, 1024, 1024, 2e6, NAN, 256, 10000 },
	{ "10,000 requests of 8,192+256, 64 at once", "sglang", 1, 0, 8192, 256, 2e6, NAN, 64, 10000 },
	{ "10,000 requests of 512+256, Poisson", "vllm", 1, 0, 512, 256, 2e6, 30, 0, 10000 },
	{ "short of memory: thrown back", "vllm", 1, 0, 1024, 1024, 1e5, NAN, 256, 10000 },
	{ "four machines, two of them for prompts", "trtllm", 2, 2, 2048, 512, 2e6, NAN, 128, 10000 },
};

static double pass_s(const void *ctx, const struct jl_pass *p)
{
	(void)ctx;
	return 8e-3 + 2e-6 * p->n_seqs + 5e-10 * p->n_seqs * p->context + 2e-5 * p->prompt_tokens +
	       1e-9 * p->prompt_pairs;
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
	static struct jl_arrival arrivals[10000];

	printf("[\n");
	for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++) {
		const struct task *t = &tasks[i];
		const struct jl_workers workers = { .n = t->n_workers, .pass_s = pass_s, .kv_tokens = t->kv_tokens };
		const struct jl_sim_setup setup = {
			.policy = jl_policy_of(jl_engine_by_text(t->engine)),
			.workers = workers,
			.prompts = { .n = t->n_prompt_workers, .pass_s = pass_s, .kv_tokens = t->kv_tokens }
		};
		const struct jl_load_ask ask = {
			.n = t->n,
			.lengths = { .prompt = t->prompt, .answer = t->answer, .least_frac = 0.8 },
			.rate_hz = t->rate_hz,
			.burst = 1,
			.concurrency = t->concurrency,
			.seed = 1
		};
		struct jl_sim_result r = { 0 };
		struct jl_load load;
		struct jl_err err;
		double best_s = INFINITY;

		for (int k = 0; k < 3; k++) {
			const double begin_s = cpu_s();

			jl_load_make(&load, arrivals, &ask);
			if (jl_simulate(&r, &setup, &load, NULL, NULL, &err)) {
				fprintf(stderr, "%s\n", err.en);
				return 1;
			}
			best_s = fmin(best_s, cpu_s() - begin_s);
		}
		struct rusage usage;

		getrusage(RUSAGE_SELF, &usage);
		printf("  {\"name\": \"%s\", \"n_requests\": %zu, \"n_passes\": %lld, \"n_preempted\": %lld, "
		       "\"cpu_s\": %.6f, \"max_rss_B\": %ld}%s\n",
		       t->name, t->n, (long long)r.n_passes, (long long)r.n_preempted, best_s, usage.ru_maxrss * 1024L,
		       i + 1 < sizeof(tasks) / sizeof(*tasks) ? "," : "");
	}
	printf("]\n");
	return 0;
}
