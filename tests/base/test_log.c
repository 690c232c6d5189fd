#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/utf8.h"

struct heard {
	enum jl_log_level level;
	char en[200], ko[200];
	int n;
};

static void listen(void *ctx, enum jl_log_level level, const char *en, const char *ko)
{
	struct heard *heard = ctx;

	heard->level = level;
	snprintf(heard->en, sizeof(heard->en), "%s", en);
	snprintf(heard->ko, sizeof(heard->ko), "%s", ko);
	heard->n++;
}

static void test_log(void **state)
{
	struct heard heard = { .n = 0 };
	struct jl_err err;

	(void)state;
	jl_log(JL_LOG_ERROR, "nobody listens", "듣는 이가 없음");
	jl_log_set_sink(&(struct jl_log_sink){ .say = listen, .ctx = &heard, .most = JL_LOG_WARN });
	jl_log(JL_LOG_WARN, "%s is %d days old\x1b[0m", "%s은(는) %d일 지났습니다", "price", 120);
	assert_int_equal(heard.n, 1);
	assert_int_equal(heard.level, JL_LOG_WARN);
	assert_string_equal(heard.en, "price is 120 days old?[0m");
	assert_string_equal(heard.ko, "price은(는) 120일 지났습니다");
	jl_log(JL_LOG_INFO, "too quiet", "조용");
	assert_int_equal(heard.n, 1);
	jl_fail(&err, JL_E_IO, "cannot", "못함");
	jl_log_err(JL_LOG_ERROR, &err);
	assert_string_equal(heard.ko, "못함");
	jl_log_err(JL_LOG_DEBUG, &err);
	assert_int_equal(heard.n, 2);
	jl_log_set_sink(NULL);
	jl_log(JL_LOG_ERROR, "nobody", "없음");
	assert_int_equal(heard.n, 2);
	assert_string_equal(jl_log_level_name(JL_LOG_WARN, JL_EN), "warning");
	assert_string_equal(jl_log_level_name(JL_LOG_ERROR, JL_KO), "오류");
}

static void collect(void *ctx, const char *text, size_t len)
{
	jl_buf_add(ctx, text, len);
}

static void test_progress_piped(void **state)
{
	struct jl_progress progress;
	struct jl_buf out;

	(void)state;
	jl_buf_init(&out, 10000);
	jl_progress_begin(&progress,
			  &(struct jl_progress_options){ .on = false, .total = 10, .write = collect, .ctx = &out });
	for (int i = 0; i < 10; i++)
		jl_progress_update(&progress, i, i);
	jl_progress_clear(&progress);
	assert_int_equal(out.len, 0);
	jl_buf_release(&out);
}

static void test_progress_line(void **state)
{
	struct jl_progress progress;
	struct jl_buf out;

	(void)state;
	jl_buf_init(&out, 10000);
	jl_progress_begin(&progress, &(struct jl_progress_options){ .on = true,
								    .columns = 60,
								    .label = "fitting",
								    .total = 200,
								    .now_s = 100,
								    .write = collect,
								    .ctx = &out });
	jl_progress_update(&progress, 1, 100.05);
	assert_int_equal(out.len, 0); /* too soon */
	jl_progress_update(&progress, 50, 110);
	assert_string_equal(jl_buf_text(&out), "\r\033[Kfitting  ██████░░░░░░░░░░░░░░░░░░░░░   25 %  5/s  30 s left");
	jl_buf_reset(&out);
	jl_progress_update(&progress, 60, 110.05);
	assert_int_equal(out.len, 0);
	jl_progress_update(&progress, 200, 140);
	assert_non_null(strstr(jl_buf_text(&out), "100 %  5/s"));
	assert_null(strstr(jl_buf_text(&out), "left"));
	jl_buf_reset(&out);
	jl_progress_clear(&progress);
	assert_string_equal(jl_buf_text(&out), "\r\033[K");
	jl_progress_clear(&progress);
	assert_int_equal(out.len, 4); /* wiped once */
	jl_buf_release(&out);
}

static void test_progress_korean_and_unknown_total(void **state)
{
	struct jl_progress progress;
	struct jl_buf out;

	(void)state;
	jl_buf_init(&out, 10000);
	jl_progress_begin(&progress, &(struct jl_progress_options){ .on = true,
								    .lang = JL_KO,
								    .label = "맞추는 중",
								    .total = 4000,
								    .write = collect,
								    .ctx = &out });
	jl_progress_update(&progress, 1000, 60);
	assert_non_null(strstr(jl_buf_text(&out), "3 min 남음"));
	jl_buf_reset(&out);
	jl_progress_begin(&progress, &(struct jl_progress_options){
					     .on = true, .label = "reading", .write = collect, .ctx = &out });
	jl_progress_update(&progress, 1234, 2);
	assert_string_equal(jl_buf_text(&out), "\r\033[Kreading  1,234  617/s");
	jl_buf_release(&out);
}

/* At most ten a second, never wider than the terminal, never backwards. */
static void test_progress_property(void **state)
{
	(void)state;
	for (size_t columns = 1; columns < 100; columns += 7) {
		struct jl_progress progress;
		struct jl_buf out;
		int n_drawn = 0;
		double fraction = 0;

		jl_buf_init(&out, 100000);
		jl_progress_begin(&progress, &(struct jl_progress_options){ .on = true,
									    .columns = columns,
									    .label = "재는 중",
									    .total = 1000,
									    .write = collect,
									    .ctx = &out });
		for (int i = 0; i < 1000; i++) {
			jl_buf_reset(&out);
			jl_progress_update(&progress, i % 100 == 7 ? 0 : i, i * 0.01);
			assert_true(progress.fraction >= fraction);
			fraction = progress.fraction;
			if (out.len == 0)
				continue;
			n_drawn++;
			assert_true(jl_utf8_width(out.data + 4) < columns || columns == 1);
			assert_true(jl_utf8_valid(out.data, out.len, NULL));
		}
		assert_true(n_drawn >= 80 && n_drawn <= 100);
		jl_buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_progress_piped),
		cmocka_unit_test(test_progress_line),
		cmocka_unit_test(test_progress_korean_and_unknown_total),
		cmocka_unit_test(test_progress_property),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
