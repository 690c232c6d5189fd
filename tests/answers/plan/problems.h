/* Sites for the tests of the search: named ones, and random but reproducible small ones. */
#ifndef JL_TEST_PLAN_PROBLEMS_H
#define JL_TEST_PLAN_PROBLEMS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plan/search.h"

/* A linear congruential generator: the same problems on every machine. */
static uint64_t problem_seed = 1;

static inline uint32_t pick(uint32_t n)
{
	problem_seed = problem_seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(problem_seed >> 33) % n;
}

static inline void make_site(struct jl_plan_site *site, struct jl_request *req, struct jl_arena *arena)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_subject subject;
	struct jl_machine machine;
	struct jl_sys sys;
	struct jl_err err = { 0 };

	assert_int_equal(jl_subject_find(&subject, cat, req, arena, &err), JL_OK);
	assert_int_equal(jl_sys_parse(&sys, cat, req->system, arena, &err), JL_OK);
	assert_int_equal(jl_machine_make(&machine, cat, &sys, &err), JL_OK);
	assert_int_equal(jl_plan_site_make(site, cat, req, &subject, &machine, &err), JL_OK);
}

static inline struct jl_plan_ask plain_ask(const struct jl_plan_site *site)
{
	return (struct jl_plan_ask){
		.site = site, .memory_frac = 0.94, .n_best = 5, .n_threads = 1, .mark_value = NAN, .gpu_usdps = 1e-3
	};
}

static inline void search(struct jl_plan_result *result, const struct jl_plan_ask *ask)
{
	struct jl_err err = { 0 };

	assert_int_equal(jl_plan_search(result, ask, &err), JL_OK);
}

#endif
