/* Models from the catalog: parameters, windows, weight formats. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/find.h"
#include "program/served.h"
#include "program/transformer.h"

/* Tolerance of a rounded published number: half of its last non-zero digit; at least half a parameter, and at least 1 % for one or two digits ("7B"
 * may be 6.7B or 7.2B: 5 %). */
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
		{ "bert-large", 335141888 },    { "llama-3-8b", 8030261248 },      { "llama-3-70b", 70553706496 },
		{ "gpt3-175b", 174604259328 },  { "gpt2-124m", 124439808 },        { "gpt-305m", 304992256 },
		{ "bloom-176b", 176247271424 }, { "gemma-2-9b", 9241705984 },      { "deepseek-v3", 671026404352 },
		{ "stablelm-3b", 2795443200 },  { "exaone-4.0-32b", 32003216384 },
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

/* Local layers: long contexts are limited to the window, short ones are not. */
static void test_windows(void **state)
{
	struct jl_transformer model;

	(void)state;
	jl_transformer_from_catalog(&model, jl_model_by_id(jl_catalog_embedded(), "gemma-3-12b"));
	assert_float_equal(jl_transformer_seen_frac(&model, 1024), 1, 1e-12);
	/* one layer of six has n²/2 pairs, the others n·1024 − 1024²/2 */
	assert_float_equal(jl_transformer_seen_frac(&model, 131072),
			   (1 + 5 * (131072.0 * 1024 - 524288) / (131072.0 * 65536)) / 6, 1e-9);
	jl_transformer_from_catalog(&model, jl_model_by_id(jl_catalog_embedded(), "llama-3-8b"));
	assert_float_equal(jl_transformer_seen_frac(&model, 131072), 1, 1e-12);
}

/* File sizes as published: 60.8 and 12.8 GiB, 671 GB. */
static void test_published_formats_have_the_size_of_the_files(void **state)
{
	static const struct {
		const char *id, *weights;
		double file_B;
	} published[] = {
		{ "gpt-oss-120b", "mxfp4", 60.8 * 1073741824 },
		{ "gpt-oss-20b", "mxfp4", 12.8 * 1073741824 },
		{ "deepseek-v3", "fp8_block", 671e9 },
	};
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_err err;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(published) / sizeof(*published); i++) {
		const struct jl_model_info *info = jl_model_by_id(cat, published[i].id);
		const struct jl_served model = jl_served_from_catalog(info);
		struct jl_serve_job job = { .model = &model, .place = { .n_gpus = 1, .n_stages = 1 } };

		assert_string_equal(jl_served_weights(NULL, info), published[i].weights);
		assert_string_equal(jl_served_weights("bf16", info), "bf16");
		assert_int_equal(jl_served_format(&job.format, info->weights, &err), JL_OK);
		if (fabs(jl_serve_weights_B(&job) / published[i].file_B - 1) > 0.05)
			fail_msg("%s: %.4g B, published %.4g B", info->id, jl_serve_weights_B(&job),
				 published[i].file_B);
	}
	for (size_t i = 0; i < cat->n_models; i++) {
		struct jl_serve_format format;

		if (!cat->models[i].weights)
			continue;
		n++;
		assert_int_equal(jl_served_format(&format, cat->models[i].weights, &err), JL_OK);
		assert_true(format.expert_B <= 1 && format.expert_B <= format.weight_B);
	}
	/* either a window or a context share, not both */
	for (size_t i = 0; i < cat->n_models; i++)
		assert_false(cat->models[i].window > 0 && cat->models[i].context_frac > 0);
	assert_true(n >= 6);
	assert_string_equal(jl_served_weights(NULL, jl_model_by_id(cat, "llama-3-8b")), JL_WEIGHTS_16);
	assert_string_equal(jl_served_weights(NULL, NULL), JL_WEIGHTS_16);
	assert_true(jl_served_from_catalog(jl_model_by_id(cat, "gpt-oss-20b")).context_frac == 0.5);
	assert_true(jl_served_from_catalog(jl_model_by_id(cat, "gemma-3-27b")).context_frac == 0.2);
	assert_true(jl_served_from_catalog(jl_model_by_id(cat, "gemma-2-9b")).context_frac == 1);
	assert_true(jl_served_from_catalog(jl_model_by_id(cat, "llama-3-8b")).context_frac == 1);
}

/* 4-bit weights on a device without 4-bit arithmetic are dequantised in the kernel. */
static void test_a_device_widens_what_it_cannot_compute_in(void **state)
{
	struct jl_device dev = { 0 };
	struct jl_serve_format format;
	struct jl_err err;

	(void)state;
	dev.peak_flopps[JL_FP4] = NAN;
	assert_int_equal(jl_served_format(&format, "mxfp4", &err), JL_OK);
	jl_served_format_on(&format, &dev);
	assert_true(format.dense == JL_OP_BF16 && format.experts == JL_OP_MX16 && format.weight_B == 2);
	assert_int_equal(jl_served_format(&format, "nvfp4", &err), JL_OK);
	jl_served_format_on(&format, &dev);
	assert_true(format.dense == JL_OP_INT4_WO && format.experts == JL_OP_MX16);
	dev.peak_flopps[JL_FP4] = 1e15;
	assert_int_equal(jl_served_format(&format, "mxfp4", &err), JL_OK);
	jl_served_format_on(&format, &dev);
	assert_true(format.dense == JL_OP_BF16 && format.experts == JL_OP_MX8);
	assert_int_equal(jl_served_format(&format, "nvfp4", &err), JL_OK);
	jl_served_format_on(&format, &dev);
	assert_true(format.dense == JL_OP_NVFP4 && format.experts == JL_OP_NVFP4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_of_all_models_are_the_published_ones),
		cmocka_unit_test(test_named_figures),
		cmocka_unit_test(test_families_have_their_parts),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_published_formats_have_the_size_of_the_files),
		cmocka_unit_test(test_a_device_widens_what_it_cannot_compute_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
