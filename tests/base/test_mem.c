/* Buffers, arenas, errors and languages under failing allocations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

static void test_err_texts(void **state)
{
	struct jl_err err;
	struct jl_where where = { .file = "a.csv", .line = 3, .column = 7 };

	(void)state;
	assert_int_equal(jl_fail(&err, JL_E_UNIT, "%s: bad %d", "x", 4), JL_E_UNIT);
	assert_int_equal(err.status, JL_E_UNIT);
	assert_string_equal(err.en, "x: bad 4");
	assert_string_equal(err.text, "x: bad 4"); /* no translation */
	jl_fail_at(&err, JL_E_PARSE, &where, "bad");
	assert_string_equal(err.en, "a.csv:3:7: bad");
	assert_string_equal(err.text, "a.csv:3:7: 나쁨");
	where.column = 0;
	jl_fail_at(&err, JL_E_PARSE, &where, "bad");
	assert_string_equal(err.en, "a.csv:3: bad");
	where.line = 0;
	jl_fail_at(&err, JL_E_PARSE, &where, "bad");
	assert_string_equal(err.en, "a.csv: bad");
	/* context added around the old message, which is an argument of the new one */
	jl_fail(&err, JL_E_PARSE, "while reading: %s", err.en);
	assert_string_equal(err.en, "while reading: a.csv: bad");
	assert_int_equal(jl_fail(NULL, JL_E_IO, "x"), JL_E_IO);
	assert_int_equal(jl_fail_nomem(NULL), JL_E_NOMEM);
	assert_int_equal(jl_fail_nomem(&err), JL_E_NOMEM);
	assert_string_equal(err.en, "out of memory");
}

static void test_err_cut_and_clean(void **state)
{
	struct jl_err err;
	char hostile[2000];

	(void)state;
	for (size_t i = 0; i + 3 < sizeof(hostile); i += 3)
		memcpy(hostile + i, "저", 4);
	for (size_t shift = 0; shift < 3; shift++) {
		jl_fail(&err, JL_E_PARSE, "%s%s", &"ab"[shift], hostile);
		assert_true(jl_utf8_valid(err.en, strlen(err.en), NULL));
		assert_true(strlen(err.en) > JL_ERR_TEXT_MAX - 5);
	}
	jl_fail(&err, JL_E_PARSE, "%s", "a\x1b]0;title\x07");
	assert_string_equal(err.en, "a?]0;title?");
}

static void test_buf_grows_to_its_limit(void **state)
{
	struct jl_buf buf;

	(void)state;
	jl_buf_init(&buf, 1000);
	assert_string_equal(jl_buf_text(&buf), "");
	for (int i = 0; i < 100; i++)
		jl_buf_printf(&buf, "%09d\n", i);
	assert_int_equal(buf.len, 1000);
	assert_int_equal(buf.failed, JL_OK);
	jl_buf_putc(&buf, 'x');
	assert_int_equal(buf.failed, JL_E_LIMIT);
	assert_int_equal(buf.len, 1000);
	jl_buf_puts(&buf, "");
	assert_int_equal(buf.failed, JL_E_LIMIT);
	jl_buf_reset(&buf);
	assert_int_equal(buf.failed, JL_OK);
	jl_buf_pad(&buf, '-', 5);
	jl_buf_pad(&buf, '-', 0);
	jl_buf_add(&buf, NULL, 0);
	assert_string_equal(jl_buf_text(&buf), "-----");
	jl_buf_pad(&buf, '-', SIZE_MAX);
	assert_int_equal(buf.failed, JL_E_LIMIT);
	jl_buf_release(&buf);
	assert_string_equal(jl_buf_text(&buf), "");
}

static void test_buf_reads_files(void **state)
{
	char path[] = "jl-test-XXXXXX";
	struct jl_buf buf = { .data = NULL };
	struct jl_err err;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(jl_buf_read_file(&buf, path, 100, &err), JL_OK); /* empty */
	assert_int_equal(buf.len, 0);
	assert_non_null(buf.data);
	jl_buf_release(&buf);
	assert_int_equal(write(fd, "a\0b\n", 4), 4);
	assert_int_equal(jl_buf_read_file(&buf, path, 4, &err), JL_OK);
	assert_memory_equal(buf.data, "a\0b\n", 5);
	jl_buf_release(&buf);
	assert_int_equal(jl_buf_read_file(&buf, path, 3, &err), JL_E_LIMIT);
	assert_non_null(strstr(err.en, "larger than 3 B"));
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(jl_buf_read_file(&buf, path, 3, &err), JL_E_NOTFOUND);
	assert_non_null(strstr(err.en, path));
	assert_int_not_equal(jl_buf_read_file(&buf, "/", 3, &err), JL_OK);
}

static void test_arena(void **state)
{
	struct jl_arena arena;
	char *texts[100];

	(void)state;
	jl_arena_init(&arena, (size_t)1 << 20);
	for (int i = 0; i < 100; i++) {
		double *numbers = jl_arena_array(&arena, 77, sizeof(*numbers));
		assert_non_null(numbers);
		assert_int_equal((uintptr_t)numbers % _Alignof(max_align_t), 0);
		for (int j = 0; j < 77; j++)
			assert_true(numbers[j] == 0);
		numbers[76] = 1;
		texts[i] = jl_arena_printf(&arena, "text %d", i);
		assert_non_null(texts[i]);
	}
	for (int i = 0; i < 100; i++) {
		char want[32];
		snprintf(want, sizeof(want), "text %d", i);
		assert_string_equal(texts[i], want);
	}
	assert_string_equal(jl_arena_strndup(&arena, "abcdef", 3), "abc");
	assert_string_equal(jl_arena_strdup(&arena, ""), "");
	assert_non_null(jl_arena_alloc(&arena, 0));
	assert_null(jl_arena_array(&arena, SIZE_MAX / 2, 3));
	assert_null(jl_arena_alloc(&arena, SIZE_MAX));
	assert_null(jl_arena_alloc(&arena, (size_t)1 << 20));
	assert_non_null(jl_arena_alloc(&arena, (size_t)1 << 19));
	assert_true(arena.used_B <= arena.limit_B);
	jl_arena_release(&arena);
	assert_int_equal(arena.used_B, 0);
	assert_non_null(jl_arena_alloc(&arena, 10)); /* usable after the reset */
	jl_arena_release(&arena);
}

static void test_arena_limit_is_exact(void **state)
{
	struct jl_arena arena;
	size_t n = 0;

	(void)state;
	jl_arena_init(&arena, 4096);
	while (jl_arena_alloc(&arena, 1))
		n++;
	assert_int_equal(n, 4096 / _Alignof(max_align_t));
	assert_true(arena.used_B <= 4096);
	jl_arena_release(&arena);
	jl_arena_init(&arena, SIZE_MAX);
	assert_null(jl_arena_alloc(&arena, SIZE_MAX));
	assert_null(jl_arena_alloc(&arena, SIZE_MAX - 3));
	jl_arena_release(&arena);
}

/* Every allocation fails once: no crash, no leak, and the failure is reported. */
static void test_torture(void **state)
{
	bool done = false;

	(void)state;
	for (size_t nth = 1; !done && nth < 200; nth++) {
		struct jl_arena arena;
		struct jl_buf buf;
		bool arena_ok = true;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		jl_buf_init(&buf, 1 << 20);
		jl_mem_fail_from(nth);
		for (int i = 0; i < 200; i++) {
			jl_buf_printf(&buf, "line %d\n", i);
			arena_ok = jl_arena_alloc(&arena, 1000) && arena_ok;
		}
		done = arena_ok && buf.failed == JL_OK;
		jl_mem_fail_from(0);
		assert_true(buf.failed == JL_OK || buf.failed == JL_E_NOMEM);
		if (buf.data)
			assert_int_equal(strlen(buf.data), buf.len);
		jl_buf_release(&buf);
		jl_arena_release(&arena);
	}
	assert_true(done);
}

static void test_read_file_torture(void **state)
{
	char path[] = "jl-test-XXXXXX", block[4096];
	int fd = mkstemp(path);
	enum jl_status status = JL_E_NOMEM;

	(void)state;
	assert_true(fd >= 0);
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 20; i++)
		assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	close(fd);
	for (size_t nth = 1; status && nth < 50; nth++) {
		struct jl_buf buf = { .data = NULL };
		struct jl_err err;
		jl_mem_fail_from(nth);
		status = jl_buf_read_file(&buf, path, 1 << 20, &err);
		jl_mem_fail_from(0);
		assert_true(status == JL_OK || status == JL_E_NOMEM);
		jl_buf_release(&buf);
	}
	assert_int_equal(status, JL_OK);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_err_texts),
		cmocka_unit_test(test_err_cut_and_clean),
		cmocka_unit_test(test_buf_grows_to_its_limit),
		cmocka_unit_test(test_buf_reads_files),
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_arena_limit_is_exact),
		cmocka_unit_test(test_torture),
		cmocka_unit_test(test_read_file_torture),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
