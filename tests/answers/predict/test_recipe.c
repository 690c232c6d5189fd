/* A series compares one recipe: what is the same at every size, what is said where it cannot be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "predict/answer.h"

static const struct {
	const char *model, *system, *sweep;
	double batch, global_batch;
} series[] = {
	{ "gpt2-xl", "8x a100-sxm4-80gb", "gpus=1,2,4,8", NAN, NAN },
	{ "gpt2-xl", "8x a100-sxm4-80gb", "gpus=1,2,4,8", NAN, 512 },
	{ "gpt2-124m", "4x v100-dgxs-32gb via nvlink2-mesh", "gpus=1,2,4", 4, NAN },
	{ "gpt2-124m", "8x rtx-4090", "gpus=1,2,4,8", NAN, NAN },
	{ "llama-3-8b", "dgx-h100", "gpus=1,2,4,8", NAN, NAN },
	{ "llama-3-8b", "16x dgx-h100", "nodes=1,2,4,8,16", NAN, NAN },
	{ "llama-3-70b", "8x dgx-h100", "gpus=8,16,32,64", NAN, 512 },
	{ "llama-3.1-405b", "128x dgx-h100", "nodes=16,32,64,128", NAN, 1024 },
	{ "mixtral-8x7b", "8x dgx-h100", "nodes=2,4,8", NAN, NAN },
	{ "resnet-50", "dgx-h100", "gpus=1,2,4,8", NAN, NAN },
};

static void check_row(const char *what, const struct jl_predicted *row, const struct jl_predicted *most)
{
	const struct jl_plan *p = &row->how.plan, *q = &most->how.plan;

	if (row->recipe != JL_RECIPE_SAME) {
		if (!isnan(row->efficiency_frac))
			fail_msg("%s on %d GPUs: another recipe, and an efficiency", what, row->how.n_gpus);
		return;
	}
	if (p->tp != q->tp || p->pp != q->pp || p->ep != q->ep || p->zero != q->zero || p->recompute != q->recompute ||
	    p->weight_B != q->weight_B || p->optimizer_moved_B != q->optimizer_moved_B ||
	    row->how.framework != most->how.framework || row->how.shard.dtype != most->how.shard.dtype ||
	    row->how.shard.micro_batch != most->how.shard.micro_batch)
		fail_msg("%s: %d GPUs run otherwise than %d", what, row->how.n_gpus, most->how.n_gpus);
	if (row->efficiency_frac > JL_EFFICIENCY_PLAIN && !(row->above.less_s > 0))
		fail_msg("%s: %d GPUs have efficiency %g for no reason", what, row->how.n_gpus, row->efficiency_frac);
}

static void test_one_recipe_at_every_size(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();

	(void)state;
	for (size_t i = 0; i < JL_LEN(series); i++) {
		struct jl_request req = jl_request_empty();
		struct jl_arena arena;
		struct jl_sweep sweep;
		struct jl_err err;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		req.model = series[i].model;
		req.system = series[i].system;
		req.batch = series[i].batch;
		req.global_batch = series[i].global_batch;
		if (jl_sweep_make(&sweep, cat, &req, series[i].sweep, &arena, &err))
			fail_msg("%s: %s", series[i].model, err.en);
		for (size_t k = 0; k < sweep.n; k++)
			check_row(series[i].model, &sweep.rows[k], sweep.last);
		assert_true(sweep.last->recipe == JL_RECIPE_SAME);
		jl_arena_release(&arena);
	}
}

/* What was gained is found in the part that shrank. */
static void test_a_gain_has_its_part(void **state)
{
	const struct jl_step_cost one = { .step_s = 1.5, .compute_s = 1, .optimizer_s = 0.5 },
				  more = { .step_s = 1.1, .compute_s = 1, .optimizer_s = 0.1 };
	const struct jl_scaled base = { &one, 1, 8 }, row = { &more, 8, 64 };
	const struct jl_scaled_gain gain = jl_scaled_gain(&base, &row);

	(void)state;
	assert_string_equal(jl_parts[gain.part].key, "optimizer");
	assert_true(fabs(gain.less_s - 0.4) < 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_recipe_at_every_size),
		cmocka_unit_test(test_a_gain_has_its_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
