/* jeoul calibrate --fit: the same text twice, and the shipped values are what it finds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

/* The smallest set stands for all: a whole run takes a minute or two. */
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
	assert_int_equal(found.n_params, jl_catalog_embedded()->n_params); /* the other sets keep theirs */
	for (size_t i = 0; i < found.n_params; i++) {
		const struct jl_param_info *info = jl_param_by_id(jl_catalog_embedded(), found.params[i].id);

		if (!info)
			fail_msg("%s is not shipped", found.params[i].id);
		/* compilers and processors may differ in the last digits */
		if (fabs(found.params[i].value / info->value - 1) > 1e-4 || found.params[i].n_rows != info->n_rows)
			fail_msg("%s: %.9g, shipped is %.9g", info->id, found.params[i].value, info->value);
	}
	(void)fit_power(jl_catalog_embedded(), jl_buf_text(&power_csv), power_csv.len, &arena, &second);
	assert_string_equal(jl_buf_text(&first), jl_buf_text(&second));
	jl_buf_release(&second);
	jl_buf_release(&first);
	jl_arena_release(&arena);
}

/* What is compiled in, written again, is the file: nobody has edited it by hand. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_twice_and_as_shipped),
		cmocka_unit_test(test_the_file_is_as_written),
		cmocka_unit_test(test_a_file_without_its_columns_is_refused),
	};

	return cmocka_run_group_tests(tests, read_files, release_files);
}
