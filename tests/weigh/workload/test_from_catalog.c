#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/find.h"
#include "workload/transformer.h"

/* A published figure ends in zeros where it was rounded: half of the last digit that is not one is the tolerance; never
 * less than half a parameter, never less than 1 % for figures of one or two digits ("7B" stands for 6.7B as well as for
 * 7.2B: 5 %). */
static double tolerance(double published)
{
	double unit = 1;
	int digits = 1;

	while (fmod(published, unit * 10) == 0)
		unit *= 10;
	for (double x = published / unit; x >= 10; x /= 10)
		digits++;
	if (unit < 1e5)
		return 0.5;
	return digits <= 1 ? 0.055 * published : digits <= 2 ? 0.05 * published : fmax(unit / 2, 0.01 * published);
}

static void test_counts_of_all_models_are_the_published_ones(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	size_t n_exact = 0, n_bad = 0;

	(void)state;
	assert_true(cat->n_models >= 60);
	for (size_t i = 0; i < cat->n_models; i++) {
		const struct jl_model_info *info = &cat->models[i];
		struct jl_transformer model;
		struct jl_err err = { 0 };
		double got;

		jl_transformer_from_catalog(&model, info);
		if (jl_transformer_check(&model, &err)) {
			print_error("%s: %s\n", info->id, err.en);
			n_bad++;
			continue;
		}
		got = jl_transformer_params(&model).total;
		if (isnan(info->params))
			continue;
		n_exact += fabs(got - info->params) < 0.5;
		if (fabs(got - info->params) > tolerance(info->params)) {
			print_error("%s: %.0f, published %.0f (%+.3f %%)\n", info->id, got, info->params,
				    100 * (got / info->params - 1));
			n_bad++;
		}
	}
	print_message("%zu exact\n", n_exact);
	assert_int_equal(n_bad, 0);
	assert_true(n_exact >= 40);
}

static void test_named_figures(void **state)
{
	static const struct {
		const char *id;
		double params;
	} named[] = {
		{ "bert-large", 335141888 },    { "llama-3-8b", 8030261248 }, { "llama-3-70b", 70553706496 },
		{ "gpt3-175b", 174604259328 },  { "gpt2-124m", 124439808 },   { "gpt-305m", 304992256 },
		{ "bloom-176b", 176247271424 }, { "gemma-2-9b", 9241705984 }, { "deepseek-v3", 671026404352 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		const struct jl_model_info *info = jl_model_by_id(jl_catalog_embedded(), named[i].id);
		struct jl_transformer model;

		assert_non_null(info);
		jl_transformer_from_catalog(&model, info);
		if (jl_transformer_params(&model).total != named[i].params)
			fail_msg("%s: %.0f, not %.0f", named[i].id, jl_transformer_params(&model).total,
				 named[i].params);
	}
}

static void test_families_have_their_parts(void **state)
{
	struct jl_transformer model;

	(void)state;
	jl_transformer_from_catalog(&model, jl_model_by_id(jl_catalog_embedded(), "bert-large"));
	assert_true(model.embed_norm && !model.causal && model.head == JL_HEAD_MLM && model.head_tokens_frac < 1);
	jl_transformer_from_catalog(&model, jl_model_by_id(jl_catalog_embedded(), "bloom-176b"));
	assert_true(model.embed_norm && model.alibi && model.causal);
	jl_transformer_from_catalog(&model, jl_model_by_id(jl_catalog_embedded(), "gemma-2-9b"));
	assert_true(model.post_norm && model.norm == JL_NORM_RMS);
	jl_transformer_from_catalog(&model, jl_model_by_id(jl_catalog_embedded(), "llama-3-8b"));
	assert_true(!model.post_norm && !model.dropout && model.gated && model.head_tokens_frac == 1);
}

/* Local layers: of a long text only the window is looked at, of a short one everything. */
static void test_windows(void **state)
{
	struct jl_transformer model;

	(void)state;
	jl_transformer_from_catalog(&model, jl_model_by_id(jl_catalog_embedded(), "gemma-3-12b"));
	assert_float_equal(jl_transformer_seen_frac(&model, 1024), 1, 1e-12);
	/* one layer of six sees n²/2 pairs, the others n·1024 − 1024²/2 */
	assert_float_equal(jl_transformer_seen_frac(&model, 131072),
			   (1 + 5 * (131072.0 * 1024 - 524288) / (131072.0 * 65536)) / 6, 1e-9);
	jl_transformer_from_catalog(&model, jl_model_by_id(jl_catalog_embedded(), "llama-3-8b"));
	assert_float_equal(jl_transformer_seen_frac(&model, 131072), 1, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_of_all_models_are_the_published_ones),
		cmocka_unit_test(test_named_figures),
		cmocka_unit_test(test_families_have_their_parts),
		cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
