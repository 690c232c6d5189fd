/* Reader of program files: accepted input, and one-line errors for the rest. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "program/read.h"

static struct jl_arena arena;

static int begin(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int end(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static enum jl_status read_text(struct jl_program *p, const char *text, struct jl_err *err)
{
	return jl_program_read(p, text, strlen(text), "a.jprog", &arena, err);
}

#define FIXTURE JL_SOURCE_DIR "/tests/fixtures/programs/mlp.jprog"

static void test_fixture(void **state)
{
	struct jl_program p;
	struct jl_err err = { 0 };
	struct jl_buf text;

	(void)state;
	assert_int_equal(jl_buf_read_file(&text, FIXTURE, JL_PROGRAM_MAX_B, &err), JL_OK);
	if (jl_program_read(&p, text.data, text.len, "mlp.jprog", &arena, &err))
		fail_msg("%s", err.en);
	assert_string_equal(p.title, "TwoLayers");
	assert_int_equal(p.n_codes, 2);
	assert_true(p.units[0].count == 64 && p.units[1].count == 65536);
	assert_int_equal(p.n_calls, 13);
	assert_int_equal(p.n_events, 14);
	assert_int_equal(p.n_waits, 1);
	assert_int_equal(p.n_initial, 3);
	assert_true(p.n_params == 2 * 1024 * 1024);
	assert_true(jl_program_initial_B(&p, JL_STORAGE_INPUT) == 134217728);
	/* "65536x1024 0x1" holds one row */
	assert_true(p.tensors[5].n == 65536.0 * 1024 && p.tensors[5].held == 1024 && !p.tensors[5].dense);
	assert_true(p.tensors[1].dense && p.tensors[1].strides[0] == 1);
	assert_int_equal(p.uses[0].n[JL_PHASE_FORWARD], 2);
	assert_int_equal(p.uses[4].n[JL_PHASE_BACKWARD], 2);
	assert_null(p.kinds[8].op);
	assert_non_null(p.kinds[0].op);
	/* the first call enters three modules, the third one more */
	assert_int_equal(p.events[0].entered, 3);
	assert_int_equal(p.events[1].entered, 0);
	assert_int_equal(p.events[2].entered, 1);
	jl_buf_release(&text);
}

/* A truncated file is refused with one line. */
static void test_cut(void **state)
{
	struct jl_err err;
	struct jl_buf text;

	(void)state;
	assert_int_equal(jl_buf_read_file(&text, FIXTURE, JL_PROGRAM_MAX_B, &err), JL_OK);
	for (size_t len = 0; len < text.len; len++) {
		struct jl_arena small;
		struct jl_program p;

		jl_arena_init(&small, JL_ARENA_LIMIT_B);
		err = (struct jl_err){ 0 };
		if (jl_program_read(&p, text.data, len, "mlp.jprog", &small, &err) == JL_OK)
			fail_msg("read although it ends after %zu of %zu bytes", len, text.len);
		assert_true(err.en[0] && !strchr(err.en, '\n') && strstr(err.en, "mlp.jprog"));
		jl_arena_release(&small);
	}
	jl_buf_release(&text);
}

#define HEAD "jeoul-program 1\nt 1 f32 2x3\no 1 aten.relu 1 1\n"

static void test_bad_lines(void **state)
{
	static const struct {
		const char *text, *says;
	} files[] = {
		{ "", "is not 'jeoul-program 1'" },
		{ "jeoul-program 2\nend 0\n", "reads version 1" },
		{ "jeoul-program\nend 0\n", "is not 'jeoul-program 1'" },
		{ "jeoul-program 1\nend 0\n", "nothing was captured" },
		{ HEAD "z 1\nend 0\n", "a.jprog:4: no record begins with 'z'" },
		{ HEAD "\nend 0\n", "a.jprog:4: no record begins with ''" },
		{ HEAD "k 1 0\nend 1\n", "ends before calls of the host" },
		{ HEAD "k 2 0 0\nend 1\n", "kind of call '2' is not there" },
		{ HEAD "k 1 4 0\nend 1\n", "module '4' is not there" },
		{ HEAD "k 1 0 -1\nend 1\n", "'-1' is not a whole number" },
		{ HEAD "k 1 0 0  \nend 1\n", "is neither +STORAGE:BYTES nor -STORAGE" },
		{ HEAD "k 1 0 0 +1\nend 1\n", "'+1' is neither" },
		{ HEAD "k 1 0 0 +1:4 +1:4\nend 1\n", "that storage is there already" },
		{ HEAD "k 1 0 0\nend 2\n", "'end 2', but 1 call before it" },
		{ HEAD "k 1 0 0\nend 1\n# more\n", "comes after the end line" },
		{ HEAD "k 1 0 0\nend 1 1\n", "is more than the line holds" },
		{ HEAD "t 1 f32 2\nend 0\n", "the id '1' is there already" },
		{ HEAD "t 2 f31 2\nend 0\n", "'f31' is not a number format" },
		{ HEAD "t 2 f32 2x\nend 0\n", "'2x' is not a shape" },
		{ HEAD "t 2 f32 1099511627777\nend 0\n", "is not a shape" },
		{ HEAD "t 2 f32 1099511627776x1099511627776\nend 0\n", "at most 9e15 elements" },
		{ HEAD "t 2 f32 1x1x1x1x1x1x1x1x1x1x1x1x1\nend 0\n", "up to 12 numbers" },
		{ HEAD "t 2 f32 2x2 1\nend 0\n", "not as many as the dimensions" },
		{ HEAD "t 99999 f32 2\nend 0\n", "tensor '99999' is not a whole number of at most 65536" },
		{ HEAD "o 2 aten.add 1,7 1\nend 0\n", "tensor '7' is not there" },
		{ HEAD "o 2 aten.add 1*0 1\nend 0\n", "'1*0' is not repeated" },
		{ HEAD "o 2 aten.add 1*65537 1\nend 0\n", "is not repeated" },
		{ HEAD "o 2 aten.add 1 1 flag\nend 0\n", "'flag' is not a KEY=VALUE" },
		{ HEAD "m 1 2 a B\nend 0\n", "module '2' is not there" },
		{ HEAD "m 0 0 a B\nend 0\n", "0 is the root" },
		{ HEAD "m 1 0 a\nend 0\n", "ends before a class" },
		{ HEAD "p sideways\nend 0\n", "does not say input, forward" },
		{ HEAD "a 1 4 thing\nend 0\n", "does not say param, grad" },
		{ HEAD "k 1 0 0\na 1 4 param\nend 1\n", "comes after the first call" },
		{ HEAD "c all_sum 4 2\nend 1\n", "'all_sum' is not a collective" },
		{ HEAD "c all_reduce 4 2 async=x\nend 1\n", "is not async=ID" },
		{ HEAD "x 3\nend 1\n", "async '3' is not there" },
		{ HEAD "tf32 2\nend 0\n", "tf32 '2' is not a whole number of at most 1" },
		{ HEAD "graph 2\nend 0\n", "graph '2' is not a whole number of at most 1" },
		{ HEAD "world 2 2\nend 0\n", "the rank is below" },
		{ HEAD "unit images 0\nend 0\n", "a step of no 'images'" },
		{ HEAD "k 1 0 \t0\nend 1\n", "a control character" },
		{ "jeoul-program 1\ntitle \xff\nend 0\n", "is not UTF-8" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct jl_program p;
		struct jl_err err = { 0 };

		if (read_text(&p, files[i].text, &err) == JL_OK)
			fail_msg("read: %s", files[i].text);
		if (!strstr(err.en, files[i].says))
			fail_msg("%s: says '%s', not '%s'", files[i].text, err.en, files[i].says);
	}
}

/* Empty tensors and scalars are valid. */
static void test_odd_tensors(void **state)
{
	struct jl_program p;
	struct jl_err err = { 0 };

	(void)state;
	if (read_text(&p,
		      "jeoul-program 1\nt 1 f32 -\nt 2 bf16 0x1099511627776x1099511627776\nt 3 i64 4x1x5 5x9x1\n"
		      "t 4 f32 4x5 9x1\ntf32 1\no 1 aten.add 1,2 3\nk 1 0 4000000000 +1:4 -1 -1 -7\nend 1\n",
		      &err))
		fail_msg("%s", err.en);
	/* freed twice or never allocated: ignored */
	assert_int_equal(p.n_allocs, 2);
	assert_true(p.tf32);
	assert_true(p.tensors[0].n == 1 && p.tensors[0].rank == 0 && p.tensors[0].dense);
	assert_true(p.tensors[1].n == 0);
	assert_true(p.tensors[2].dense);
	assert_false(p.tensors[3].dense);
	assert_true(p.events[0].host == 4000000000u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fixture, begin, end),
		cmocka_unit_test_setup_teardown(test_cut, begin, end),
		cmocka_unit_test_setup_teardown(test_bad_lines, begin, end),
		cmocka_unit_test_setup_teardown(test_odd_tensors, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
