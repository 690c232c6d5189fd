/* Prices of kinds of calls on an H200: relations that were measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/load.h"
#include "program/price.h"
#include "program/read.h"
#include "system/machine.h"

static struct jl_arena arena;
static struct jl_machine machine;

static int begin(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_sys sys;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return jl_sys_parse(&sys, cat, "h200-sxm", &arena, NULL) || jl_machine_make(&machine, cat, &sys, NULL);
}

static int end(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

/* Device seconds of the only kind in `lines`. */
static double cost_of(const char *lines, bool tf32)
{
	struct jl_program *p = jl_arena_alloc(&arena, sizeof(*p));
	const char *text = jl_arena_printf(&arena, "jeoul-program 1\n%sk 1 0 0\nend 1\n", lines);
	const struct jl_profile profile = jl_profile_default(JL_FW_EAGER);
	const struct jl_program_fit fit = jl_program_shipped(machine.cat);
	const struct jl_price_in in = { .dev = &machine.dev, .profile = &profile, .fit = &fit, .tf32 = tf32 };
	struct jl_call_cost cost;
	struct jl_err err = { 0 };
	struct jl_call_work w;

	if (jl_program_read(p, text, strlen(text), "a.jprog", &arena, &err))
		fail_msg("%s", err.en);
	jl_work_of(&w, p, &p->kinds[0]);
	jl_work_price(&cost, &in, &w);
	return cost.device_s;
}

static double grouped(int channels, int groups, const char *last)
{
	return cost_of(
		jl_arena_printf(&arena,
				"t 1 f16 32x%dx28x28%s\nt 2 f16 %dx%dx3x3\no 1 aten.convolution 1,2 1 stride=1x1 "
				"pad=1x1 groups=%d\n",
				channels, last, channels, channels / groups, groups),
		false);
}

/* Group widths that are not powers of two take extra kernels, and visit every value with channels last. */
static void test_groups(void **state)
{
	(void)state;
	assert_true(grouped(384, 16, "") / 384 > 1.2 * grouped(512, 16, "") / 512);
	assert_true(grouped(384, 16, " 301056x1x10752x384") > 2 * grouped(512, 16, " 401408x1x14336x512"));
}

/* fp32 attention backward: a block walks all queries of its keys, so one head with few keys leaves SMs idle. */
static void test_attention(void **state)
{
	static const char *const back = "t 1 f32 8x%dx%dx32\nt 2 f32 8x%dx256x32\nt 3 f32 8x%dx%d\n"
					"o 1 jeoul.sdpa_backward 1*2,2*2,1,3 1,2*2 causal=0 backend=efficient\n";

	(void)state;
	const double one = cost_of(jl_arena_printf(&arena, back, 1, 16384, 1, 1, 16384), true),
		     many = cost_of(jl_arena_printf(&arena, back, 16, 1024, 16, 16, 1024), true);

	assert_true(one > 4 * many);
	/* independent of TF32 products */
	assert_true(cost_of(jl_arena_printf(&arena, back, 1, 16384, 1, 1, 16384), false) == one);
}

/* cuDNN computes fp32 recurrent layers in TF32, whatever is set for products. */
static void test_recurrent(void **state)
{
	static const char *const lstm = "t 1 f32 64x35x1024\nt 2 f32 4096x1024\nt 3 f32 4096\nt 4 f32 1x64x1024\n"
					"o 1 jeoul.rnn 1,4*2,2*2,3*2 1,4*2 kind=lstm layers=1 hidden=1024 "
					"bidirectional=0 dropout=0 bias=1\n";

	(void)state;
	assert_true(cost_of(lstm, false) > 0);
	assert_true(cost_of(lstm, false) == cost_of(lstm, true));
}

/* Softmax over channels reads a row's values one by one. */
static void test_across_rows(void **state)
{
	(void)state;
	assert_true(cost_of("t 1 f32 8x64x6400\no 1 aten._softmax 1 1 dim=1\n", false) >
		    3 * cost_of("t 1 f32 8x6400x64\no 1 aten._softmax 1 1 dim=2\n", false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_attention),
		cmocka_unit_test(test_recurrent),
		cmocka_unit_test(test_across_rows),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
