/* jeoul calibrate --fit: deterministic, and it reproduces the shipped values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fit/ablate.h"
#include "fit/calibrate.h"
#include "catalog/find.h"

static struct jl_buf power_csv, shipped_yaml;

static int read_files(void **state)
{
	struct jl_err err;

	(void)state;
	if (jl_buf_read_file(&power_csv, JL_SOURCE_DIR "/data/validation/power.csv", (size_t)1 << 26, &err) ||
	    jl_buf_read_file(&shipped_yaml, JL_SOURCE_DIR "/catalog/params.yaml", (size_t)1 << 24, &err)) {
		print_error("%s\n", err.en);
		return 1;
	}
	return 0;
}

static int release_files(void **state)
{
	(void)state;
	jl_buf_release(&power_csv);
	jl_buf_release(&shipped_yaml);
	return 0;
}

/* Uses the smallest set, because a full run takes minutes. */
static struct jl_calibration fit_power(const struct jl_catalog *cat, const char *text, size_t len,
				       struct jl_arena *arena, struct jl_buf *ret_yaml)
{
	const struct jl_calibrate_file file = { .name = "power", .path = "power.csv", .text = text, .len = len };
	struct jl_calibration found;
	struct jl_err err;

	if (jl_calibrate(&found, &(struct jl_calibrate_in){ .cat = cat, .files = &file, .n_files = 1 }, arena, &err))
		fail_msg("%s", err.en);
	jl_buf_init(ret_yaml, (size_t)1 << 24);
	jl_calibrate_yaml(ret_yaml, &found);
	assert_int_equal(ret_yaml->failed, JL_OK);
	return found;
}

static void test_the_same_twice_and_as_shipped(void **state)
{
	struct jl_arena arena;
	struct jl_buf first, second;
	struct jl_calibration found;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	found = fit_power(jl_catalog_embedded(), jl_buf_text(&power_csv), power_csv.len, &arena, &first);
	assert_int_equal(found.n_sets, 1);
	assert_int_equal(found.sets[0].n_param, 6);
	assert_int_equal(found.sets[0].n_resid, 515);
	assert_int_equal(found.n_params, jl_catalog_embedded()->n_params); /* other sets keep their values */
	for (size_t i = 0; i < found.n_params; i++) {
		const struct jl_param_info *info = jl_param_by_id(jl_catalog_embedded(), found.params[i].id);

		if (!info)
			fail_msg("%s is not shipped", found.params[i].id);
		/* last digits differ between compilers and processors */
		if (fabs(found.params[i].value / info->value - 1) > 1e-4 || found.params[i].n_rows != info->n_rows)
			fail_msg("%s: %.9g, shipped is %.9g", info->id, found.params[i].value, info->value);
	}
	(void)fit_power(jl_catalog_embedded(), jl_buf_text(&power_csv), power_csv.len, &arena, &second);
	assert_string_equal(jl_buf_text(&first), jl_buf_text(&second));
	jl_buf_release(&second);
	jl_buf_release(&first);
	jl_arena_release(&arena);
}

/* Writing the built-in parameters reproduces the file: it was not edited by hand. */
static void test_the_file_is_as_written(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_calibration all = { .params = cat->params, .n_params = cat->n_params };
	struct jl_buf text;

	(void)state;
	jl_buf_init(&text, (size_t)1 << 24);
	jl_calibrate_yaml(&text, &all);
	assert_string_equal(jl_buf_text(&text), jl_buf_text(&shipped_yaml));
	jl_buf_release(&text);
}

static void test_a_file_without_its_columns_is_refused(void **state)
{
	static const char text[] = "gpu,watts\nH100,700\n";
	const struct jl_calibrate_file file = {
		.name = "power", .path = "mine.csv", .text = text, .len = sizeof(text) - 1
	};
	struct jl_calibration found = { .n_sets = 77 };
	struct jl_arena arena;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_not_equal(
		jl_calibrate(&found,
			     &(struct jl_calibrate_in){ .cat = jl_catalog_embedded(), .files = &file, .n_files = 1 },
			     &arena, &err),
		JL_OK);
	assert_non_null(strstr(err.en, "mine.csv"));
	assert_int_equal(found.n_sets, 77);
	jl_arena_release(&arena);
}

static void test_what_is_of_one_kind(void **state)
{
	static const char *const names[][2] = {
		{ "gemm.mem_frac", "gemm.mem_frac" },
		{ "gemm.family.hopper.gemm_frac.tensor16", "gemm.family.*.gemm_frac.tensor16" },
		{ "serve.engine.vllm-0.6.step_s", "serve.engine.*.step_s" },
		{ "train.link.nvlink4.eff_ratio", "train.link.*.eff_ratio" },
		{ "train.code.nemo", "train.code.*" },
		{ "framework.apex.launch_ratio", "framework.*.launch_ratio" },
	};

	(void)state;
	for (size_t i = 0; i < JL_LEN(names); i++) {
		char kind[JL_PARAM_KIND_MAX];

		jl_param_kind(kind, names[i][0]);
		assert_string_equal(kind, names[i][1]);
	}
}

/* Two sources measure the same rate times 1.5; only one depends on a second parameter. Without the first parameter the median is off by ln 1.5,
 * with it by the prior's pull; removing the second changes nothing. */
static struct jl_param_list two_params(const struct jl_set_data *data)
{
	static const struct jl_param table[] = { { "toy.rate", "1", 0.1, 10, 1, 1 },
						 { "toy.idle", "1", 0.1, 10, 1, 1 } };

	(void)data;
	return (struct jl_param_list){ .n = JL_LEN(table), .table = table };
}

static void test_what_a_card_loses_without_a_kind(void **state)
{
	static const char *const files[] = { "toy", NULL };
	static const struct jl_set_ops ops = { .name = "toy", .files = files, .params = two_params };
	enum { N = 20 };
	struct jl_set_row rows[N];
	double base[N], slopes[2 * N], x[] = { 1.5, 1 };
	struct fitting f = { .ops = &ops, .rows = { .rows = rows, .n = N }, .x = x, .base = base, .end = { N } };
	struct jl_ablation a;
	struct jl_ablated lost;
	struct jl_arena arena;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < N; i++) {
		rows[i] = (struct jl_set_row){ .source = i % 2 ? "one" : "two", .group = "", .meas = 15 };
		base[i] = 15;
		slopes[i] = 1;
		slopes[N + i] = i < 2 ? 1e-3 : 0;
	}
	assert_int_equal(jl_ablate_begin(&a, &f, slopes, &arena, &err), JL_OK);
	assert_int_equal(a.n_units, 2);
	assert_int_equal(jl_ablate(&lost, &a, "toy.rate", &err), JL_OK);
	assert_true(lost.n == 1 && fabs(lost.change - log(1.5)) < 0.01);
	assert_string_equal(lost.set, "toy");
	assert_int_equal(jl_ablate(&lost, &a, "toy.idle", &err), JL_OK);
	assert_true(lost.n == 1 && fabs(lost.change) < 1e-6);
	assert_int_equal(jl_ablate(&lost, &a, "toy.unknown", &err), JL_OK);
	assert_true(lost.n == 0 && lost.change == 0);
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_twice_and_as_shipped),
		cmocka_unit_test(test_the_file_is_as_written),
		cmocka_unit_test(test_a_file_without_its_columns_is_refused),
		cmocka_unit_test(test_what_is_of_one_kind),
		cmocka_unit_test(test_what_a_card_loses_without_a_kind),
	};

	return cmocka_run_group_tests(tests, read_files, release_files);
}
