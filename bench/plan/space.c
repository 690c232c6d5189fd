/* Configurations per second and core of the plan search, and its memory: the search spaces of a well-known planner for GPT-3 175B, a space with
 * all options, and the same candidates on 1,000 and 100,000 GPUs. One thread, CPU time. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "plan/search.h"

struct task {
	const char *name, *model, *system, *fix;
	double batch;
	bool any, no_prune;
};

static const struct task tasks[] = {
	{ "64 GPUs", "gpt3-175b", "8x dgx-a100-80gb over 8x ib-hdr", "", 64, false, false },
	{ "512 GPUs", "gpt3-175b", "64x dgx-a100-80gb over 8x ib-hdr", "", 512, false, false },
	{ "4,096 GPUs", "gpt3-175b", "512x dgx-a100-80gb over 8x ib-hdr", "", 1536, false, false },
	{ "4,096 GPUs, all options", "gpt3-175b", "512x dgx-a100-80gb over 8x ib-hdr", "", 1536, true, false },
	{ "4,096 H100, all options", "gpt3-175b", "512x dgx-h100", "", 1536, true, false },
	{ "64 GPUs, no bound", "gpt3-175b", "8x dgx-a100-80gb over 8x ib-hdr", "", 64, false, true },
	{ "512 GPUs, no bound", "gpt3-175b", "64x dgx-a100-80gb over 8x ib-hdr", "", 512, false, true },
	{ "4,096 GPUs, all options, no bound", "gpt3-175b", "512x dgx-a100-80gb over 8x ib-hdr", "", 1536, true, true },
	{ "1,000 GPUs, one cut", "gpt3-175b", "125x dgx-h100", "tp=8,pp=5,cp=1", 25 * 720, true, true },
	{ "100,000 GPUs, one cut", "gpt3-175b", "12500x dgx-h100", "tp=8,pp=5,cp=1", 2500 * 720, true, true },
};

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum jl_status make_site(struct jl_plan_site *site, const struct task *task, struct jl_arena *arena,
				struct jl_err *err)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_request req = jl_request_empty();
	struct jl_subject subject;
	struct jl_machine machine;
	struct jl_sys sys;
	enum jl_status status;

	req.model = task->model;
	req.system = task->system;
	req.global_batch = task->batch;
	status = jl_subject_find(&subject, cat, &req, arena, err);
	if (!status)
		status = jl_sys_parse(&sys, cat, req.system, arena, err);
	if (!status)
		status = jl_machine_make(&machine, cat, &sys, err);
	if (!status)
		status = jl_plan_site_make(site, cat, &req, &subject, &machine, err);
	site->any_format = site->any_framework = task->any;
	return status;
}

static enum jl_status run_task(const struct task *task, int last, struct jl_err *err)
{
	static struct jl_plan_site site;
	struct jl_plan_ask ask = { .site = &site,
				   .memory_frac = 0.94,
				   .n_best = 5,
				   .n_threads = 1,
				   .mark_value = NAN,
				   .no_prune = task->no_prune };
	struct jl_plan_result r;
	struct jl_arena arena;
	struct rusage usage;
	double best_s = INFINITY;
	enum jl_status status;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	status = make_site(&site, task, &arena, err);
	if (!status)
		status = jl_plan_fix(&ask.narrow, task->fix, err);
	for (int i = 0; !status && i < 3; i++) { /* minimum of three: other programs share the machine */
		const double begin_s = cpu_s();

		status = jl_plan_search(&r, &ask, err);
		best_s = fmin(best_s, cpu_s() - begin_s);
	}
	jl_arena_release(&arena);
	if (status)
		return status;
	getrusage(RUSAGE_SELF, &usage);
	printf("  {\"name\": \"%s\", \"n_configurations\": %lld, \"n_evaluated\": %lld, \"n_memory\": %lld, "
	       "\"n_framework\": %lld, \"n_slower\": %lld, "
	       "\"n_shape\": %lld, \"cpu_s\": %.6f, \"best_s\": %.6f, \"max_rss_B\": %ld}%s\n",
	       task->name, jl_plan_n_configurations(&r.tally), r.tally.n_evaluated, r.tally.n_memory + r.tally.n_host,
	       r.tally.n_framework, r.tally.n_slower, r.tally.n_shape, best_s, r.top.n ? r.top.best[0].value : -1.0,
	       usage.ru_maxrss * 1024, last ? "" : ",");
	return JL_OK;
}

int main(void)
{
	const size_t n = sizeof(tasks) / sizeof(*tasks);
	struct jl_err err = { 0 };

	printf("[\n");
	for (size_t i = 0; i < n; i++)
		if (run_task(&tasks[i], i + 1 == n, &err)) {
			fprintf(stderr, "%s: %s\n", tasks[i].name, err.en);
			return 1;
		}
	printf("]\n");
	return 0;
}
