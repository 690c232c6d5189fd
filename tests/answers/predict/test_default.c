/* What is chosen is no slower than what the same command lists beside it: random jobs over the catalog. A listed way counts where it runs the
 * same program on the same work: framework, format, optimizer, what is offloaded, global batch and, where it is given, batch
 * of a pass alike. */
#include "plans.h"

#include <stdlib.h>

#include "predict/answer.h"
#include "predict/kind.h"
#include "predict/technique.h"

#define NEAR 1.0101 /* of two within 1 % the plainer is taken */

/* A model that is trained from nothing: none that makes vectors. */
static const struct jl_model_info *drawn_model(const struct jl_catalog *cat)
{
	size_t n = 0, at;

	for (size_t i = 0; i < cat->n_models; i++)
		n += !cat->models[i].embeds;
	at = pick((uint32_t)n);
	for (size_t i = 0;; i++)
		if (!cat->models[i].embeds && at-- == 0)
			return &cat->models[i];
}

static void random_job(struct jl_request *req, const struct jl_catalog *cat, bool large, char system[96])
{
	const struct jl_model_info *model = drawn_model(cat);
	const struct jl_gpu *gpu = &cat->gpus[pick((uint32_t)cat->n_gpus)];
	static const double hosts[] = { 8, 16, 32, 64, 125, 256, 512, 1024, 2048 };

	*req = jl_request_empty();
	req->model = model->id;
	req->system = system;
	if (large)
		snprintf(system, 96, "%.0fx(8x %s)", hosts[pick(JL_LEN(hosts))], gpu->id);
	else
		snprintf(system, 96, "%ux %s", 1 + pick(8), gpu->id);
	switch (pick(3)) {
	case 0: req->batch = PICK(1, 2, 4, 8, 16); break;
	case 1: req->global_batch = large ? PICK(4096, 16000, 32768) : PICK(64, 512, 840); break;
	default: break;
	}
	if (pick(4) == 0)
		req->seq = PICK(512, 1024, 2048);
}

/* One job; false: it cannot be run, so nothing is chosen. */
static bool check_job(const struct jl_request *req, const struct jl_catalog *cat, struct jl_arena *arena)
{
	static struct jl_technique rows[JL_TECHNIQUES_MAX];
	static struct jl_advice advice[JL_ADVICE_MAX];
	static const char *const same_work[] = { "zero", "less_zero", "less_recompute", "recompute", "interleave" };
	struct jl_job job;
	struct jl_err err;
	size_t n;

	if (jl_job_make(&job, cat, req, arena, &err) || job.prediction.room != JL_ROOM_FITS ||
	    !job.how.subject.kind->is_cut ||
	    jl_techniques(rows, &n, cat, &job.how.subject, &job.how.machine, req, &err))
		return false;
	const struct jl_case *c = &job.how;

	for (size_t i = 1; i < n; i++) {
		const struct jl_technique *r = &rows[i];

		if (r->how.plan.zero == 3 && r->how.plan.dp > 512)
			continue; /* wider than anybody has measured it */
		if (r->possible && r->room == JL_ROOM_FITS && r->how.framework == c->framework &&
		    r->how.shard.dtype == c->shard.dtype && r->how.optimizer == c->optimizer &&
		    r->how.global_batch == c->global_batch && r->how.plan.offload == c->plan.offload &&
		    (isnan(req->batch) || (r->how.plan.dp == c->plan.dp &&
					   r->how.shard.micro_batch == (r->how.plan.pp > 1 ? 1 : req->batch))) &&
		    r->weight.step.step_s * NEAR < job.prediction.step.step_s)
			fail_msg("%s on %s, batch %g, global %g: %g s (zero %d, micro %g), but '%s' takes %g s (micro "
				 "%g)",
				 req->model, req->system, req->batch, c->global_batch, job.prediction.step.step_s,
				 c->plan.zero, c->shard.micro_batch, r->key, r->weight.step.step_s,
				 r->how.shard.micro_batch);
	}
	n = jl_advise(advice, cat, c, arena);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < JL_LEN(same_work); k++)
			if (strcmp(advice[i].key, same_work[k]) == 0 && advice[i].global_batch == c->global_batch)
				fail_msg("%s on %s, batch %g, global %g: %g samples/s, but '%s' gives %g", req->model,
					 req->system, req->batch, c->global_batch, advice[i].samples_per_s_before,
					 advice[i].en, advice[i].samples_per_s_after);
	return true;
}

static void check_jobs(bool large, int n_jobs)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	const char *more = getenv("JEOUL_DEFAULT_JOBS"); /* a longer look by hand */
	int n = 0;

	n_jobs = more ? atoi(more) : n_jobs;
	plan_seed = large ? 64 : 8;
	for (int i = 0; i < n_jobs; i++) {
		struct jl_arena arena;
		struct jl_request req;
		char system[96];

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		random_job(&req, cat, large, system);
		n += check_job(&req, cat, &arena);
		jl_arena_release(&arena);
	}
	if (n < n_jobs / 8)
		fail_msg("only %d of %d jobs can be run", n, n_jobs);
}

static void test_few_gpus(void **state)
{
	(void)state;
	check_jobs(false, 350);
}

static void test_many_gpus(void **state)
{
	(void)state;
	check_jobs(true, 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_gpus),
		cmocka_unit_test(test_many_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
