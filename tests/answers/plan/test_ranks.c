/* A plan ranks what it prints: each printed figure is the one that was compared, and the list is sorted by it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "plan/answer.h"
#include "program/tune.h"

#define N_REQUESTS 60

static uint64_t seed = 44;

static uint32_t pick(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

#define PICK(...) ((const double[]){ __VA_ARGS__ })[pick(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double))]

static struct jl_request random_request(void)
{
	static const char *const models[] = { "qwen3-8b", "llama-3-8b", "gpt2-1.5b", "mixtral-8x7b", "llama-3-70b" };
	static const char *const systems[] = { "8x h100-sxm5", "4x dgx-h100", "8x rtx-4090", "16x dgx-a100-80gb" };
	struct jl_request req = jl_request_empty();

	req.model = models[pick(JL_LEN(models))];
	req.system = systems[pick(JL_LEN(systems))];
	req.global_batch = PICK(64, 128, 512);
	req.seq = PICK(1024, 2048, 3072);
	if (pick(2)) {
		req.tune = (int)JL_TUNE_FULL;
		req.method = pick(2) ? JL_METHOD_GRPO : JL_METHOD_DPO;
		req.group = req.method == JL_METHOD_GRPO ? PICK(4, 8) : NAN;
		req.generated = req.method == JL_METHOD_GRPO ? PICK(256, 512, 1000) : NAN;
	} else if (pick(2)) {
		req.tune = (int)(pick(2) ? JL_TUNE_FULL : JL_TUNE_LORA);
		req.mean_seq = PICK(200, 512);
		req.framework = req.tune == (int)JL_TUNE_LORA && pick(2) ? (int)JL_FW_FUSED : JL_UNSET;
	}
	if (pick(4) == 0)
		req.storage_Bps = 1e5; /* so little that the input is the bound */
	return req;
}

static double printed(const struct jl_plan_ranked *plan, enum jl_plan_objective objective)
{
	return objective == JL_PLAN_ENERGY ? plan->p.energy_J.value : plan->p.step_s.value;
}

static void test_the_list_is_sorted_by_what_it_prints(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	int n_ranked = 0, n_generated = 0;

	(void)state;
	for (int i = 0; i < N_REQUESTS; i++) {
		const struct jl_request req = random_request();
		struct jl_plan_ask ask = { .memory_frac = 0.94, .n_best = 8, .n_threads = 1, .mark_value = NAN };
		struct jl_plan_answer answer = { .deadline_s = NAN, .budget_usd = NAN };
		static struct jl_plan_site site;
		struct jl_plan_result result;
		struct jl_subject subject;
		struct jl_machine machine;
		struct jl_arena arena;
		struct jl_err err;
		struct jl_sys sys;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		ask.objective = pick(3) ? JL_PLAN_TIME : JL_PLAN_ENERGY;
		ask.site = &site;
		answer.ask = &ask;
		answer.result = &result;
		if (jl_subject_find(&subject, cat, &req, &arena, &err) ||
		    jl_sys_parse(&sys, cat, req.system, &arena, &err) || jl_machine_make(&machine, cat, &sys, &err) ||
		    jl_plan_site_make(&site, cat, &req, &subject, &machine, &err) ||
		    jl_plan_search(&result, &ask, &err) || jl_plan_answer_make(&answer, cat, &arena, &err))
			fail_msg("%s on %s: %s", req.model, req.system, err.en);
		for (size_t k = 0; k < answer.n; k++) {
			const double figure = printed(&answer.plans[k], ask.objective);

			if (fabs(figure / answer.plans[k].value - 1) > 1e-9)
				fail_msg("%s on %s, plan %zu: ranked by %g, printed %g", req.model, req.system, k + 1,
					 answer.plans[k].value, figure);
			if (k && figure < printed(&answer.plans[k - 1], ask.objective) * (1 - 1e-9))
				fail_msg("%s on %s: plan %zu (%g) is better than plan %zu (%g)", req.model, req.system,
					 k + 1, figure, k, printed(&answer.plans[k - 1], ask.objective));
			n_ranked++;
		}
		n_generated += req.generated > 0 && answer.n > 1;
		jl_arena_release(&arena);
	}
	assert_true(n_ranked > N_REQUESTS && n_generated > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_list_is_sorted_by_what_it_prints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
