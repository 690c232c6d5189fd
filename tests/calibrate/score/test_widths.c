/* Half widths are quantiles of errors by reason, and ignore what is left out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "score/validate.h"

enum { N_UNIT = 12, N_EACH = 60, N_ROW = N_UNIT * N_EACH };

static struct jl_set_row rows[N_ROW];
static const struct jl_set_row *pointers[N_ROW];
static const char *units[N_ROW];
static struct jl_width_rows all = { .rows = pointers, .unit = units, .n = N_ROW };
static struct jl_arena arena;

/* Errors are uniform over ± 1.25 half widths, so 80 % are inside. Every second unit has an unmeasured GPU with width 0.3 instead of 0.1; the last
 * unit's errors are ten times as large. */
static int make_rows(void **state)
{
	static char names[N_UNIT][16];
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, (size_t)1 << 26);
	for (size_t i = 0; i < N_ROW; i++) {
		const size_t unit = i / N_EACH, k = i % N_EACH;
		const double spread = ((double)k + 0.5) / N_EACH * 2.0 - 1.0;
		const bool unseen = unit % 2, wrong = unit == N_UNIT - 1;

		(void)snprintf(names[unit], sizeof(names[unit]), "source-%d", (int)unit);
		rows[i] = (struct jl_set_row){ .answer = JL_ASKED_POWER,
					       .source = names[unit],
					       .group = "",
					       .gpu = k % 2 ? "a" : "b",
					       .model = "one",
					       .meas = 1.0,
					       .pred = exp(1.25 * spread * (unseen ? 0.3 : 0.1) *
							   (wrong ? 10.0 : 1.0)) };
		rows[i].doubt.x[JL_DOUBT_GPU] = unseen;
		pointers[i] = &rows[i];
		units[i] = names[unit];
	}
	return jl_widths_prepare(&all, &arena, &err) == JL_OK ? 0 : 1;
}

static int release(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static double inside(const struct jl_widths *w, size_t first_unit, size_t step)
{
	size_t n = 0, n_in = 0;

	for (size_t u = first_unit; u < N_UNIT - 1; u += step)
		for (size_t i = u * N_EACH; i < (u + 1) * N_EACH; i++) {
			n_in += fabs(jl_validate_ln(&rows[i])) <= jl_half_ln(w, rows[i].answer, &rows[i].doubt);
			n++;
		}
	return (double)n_in / (double)n;
}

static void test_four_fifths_are_inside(void **state)
{
	const struct jl_doubt sure = { .x = { 0 } }, unseen = { .x = { [JL_DOUBT_GPU] = 1 } };
	struct jl_widths w, again;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_widths_fit(&all, units[N_ROW - 1], &w, &err), JL_OK);
	assert_true(fabs(jl_half_ln(&w, JL_ASKED_POWER, &sure) - 0.1) < 0.01);
	assert_true(fabs(jl_half_ln(&w, JL_ASKED_POWER, &unseen) - 0.3) < 0.03);
	/* slightly above 80 %: the correction for few sources */
	assert_true(fabs(inside(&w, 0, 2) - 0.84) < 0.05 && fabs(inside(&w, 1, 2) - 0.84) < 0.05);
	/* parameters without rows keep their priors */
	assert_true(fabs(w.base_ln[JL_ASKED_STEP] - 0.2) < 1e-9 && fabs(w.reason_ln[JL_DOUBT_LINK] - 0.2) < 1e-9);
	assert_int_equal(jl_widths_fit(&all, units[N_ROW - 1], &again, &err), JL_OK);
	assert_memory_equal(w.base_ln, again.base_ln, sizeof(w.base_ln));
	assert_memory_equal(w.reason_ln, again.reason_ln, sizeof(w.reason_ln));
}

/* The bad unit widens the intervals of the others, and leaving it out removes that: a unit never contributes to its own interval. */
static void test_what_is_left_out_is_not_looked_at(void **state)
{
	const struct jl_doubt unseen = { .x = { [JL_DOUBT_GPU] = 1 } };
	struct jl_widths with, without, moved;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_widths_fit(&all, NULL, &with, &err), JL_OK);
	assert_int_equal(jl_widths_fit(&all, units[N_ROW - 1], &without, &err), JL_OK);
	assert_true(jl_half_ln(&with, JL_ASKED_POWER, &unseen) > 1.1 * jl_half_ln(&without, JL_ASKED_POWER, &unseen));
	for (size_t i = N_ROW - N_EACH; i < N_ROW; i++)
		rows[i].pred = 1e6;
	assert_int_equal(jl_widths_fit(&all, units[N_ROW - 1], &moved, &err), JL_OK);
	assert_memory_equal(moved.base_ln, without.base_ln, sizeof(moved.base_ln));
	assert_memory_equal(moved.reason_ln, without.reason_ln, sizeof(moved.reason_ln));
}

static void test_ratios_are_spared_what_both_share(void **state)
{
	struct jl_widths w = { .shared_frac = 0.0 };

	(void)state;
	assert_true(fabs(jl_ratio_half_ln(&w, 0.3, 0.4) - 0.5) < 1e-12);
	w.shared_frac = 1.0;
	assert_true(fabs(jl_ratio_half_ln(&w, 0.3, 0.4) - 0.1) < 1e-12);
	assert_true(fabs(jl_ratio_half_ln(&w, 0.3, 0.0) - 0.3) < 1e-12); /* the other answer was measured exactly */
}

static void test_far_is_outside_of_all(void **state)
{
	const double small[JL_N_EXTENT] = { 0.0, 1.0, NAN }, inside_all[JL_N_EXTENT] = { 2.5, 2.5, 9.0 };
	struct jl_widths w;

	(void)state;
	for (int e = 0; e < JL_N_EXTENT; e++) {
		w.least[JL_ASKED_STEP][e] = e == JL_EXTENT_GPUS ? NAN : 2.0;
		w.most[JL_ASKED_STEP][e] = e == JL_EXTENT_GPUS ? NAN : 3.0;
	}
	assert_true(fabs(jl_far_ln(&w, JL_ASKED_STEP, small) - sqrt(5.0)) < 1e-12);
	assert_true(jl_far_ln(&w, JL_ASKED_STEP, inside_all) == 0.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_four_fifths_are_inside),
		cmocka_unit_test(test_what_is_left_out_is_not_looked_at),
		cmocka_unit_test(test_ratios_are_spared_what_both_share),
		cmocka_unit_test(test_far_is_outside_of_all),
	};

	return cmocka_run_group_tests(tests, make_rows, release);
}
