/* UTF-8 decoding, widths, truncation, cleaning. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

static void test_decode(void **state)
{
	static const struct {
		const char *text;
		size_t len, n;
		uint32_t c;
	} cases[] = {
		{ "a", 1, 1, 'a' },
		{ "\0", 1, 1, 0 },
		{ "é", 2, 2, 0xe9 },
		{ "저", 3, 3, 0xc800 },
		{ "📄", 4, 4, 0x1f4c4 },
		{ "", 0, 0, 0 },
		{ "저", 2, 0, 0 },
		{ "\x80", 1, 0, 0 },
		{ "\xff", 1, 0, 0 },
		{ "\xc0\xaf", 2, 0, 0 },         /* overlong '/' */
		{ "\xe0\x80\xaf", 3, 0, 0 },     /* overlong '/' */
		{ "\xed\xa0\x80", 3, 0, 0 },     /* surrogate */
		{ "\xf4\x90\x80\x80", 4, 0, 0 }, /* above U+10FFFF */
		{ "\xf8\x88\x80\x80", 4, 0, 0 },
		{ "\xe2\x28\xa1", 3, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t c = 0;
		assert_int_equal(jl_utf8_decode(cases[i].text, cases[i].len, &c), cases[i].n);
		assert_int_equal(c, cases[i].c);
	}
}

static void test_valid(void **state)
{
	size_t bad_at = 99;

	(void)state;
	assert_true(jl_utf8_valid("저울 jeoul ✅", strlen("저울 jeoul ✅"), &bad_at));
	assert_int_equal(bad_at, 99);
	assert_true(jl_utf8_valid("", 0, NULL));
	assert_false(jl_utf8_valid("저\xff울", 7, &bad_at));
	assert_int_equal(bad_at, 3);
	assert_false(jl_utf8_valid("ab\xec", 3, NULL));
}

static void test_width(void **state)
{
	static const struct {
		const char *text;
		size_t width;
	} cases[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "저울", 4 },
		{ "한글 abc", 8 },
		{ "漢字", 4 },
		{ "ＡＢ", 4 }, /* fullwidth forms */
		{ "ｱｲ", 2 },   /* halfwidth katakana */
		{ "✅", 2 },
		{ "📄", 2 },
		{ "⚠", 1 },
		{ "⚠\xef\xb8\x8f", 2 }, /* with the emoji variation selector */
		{ "✅\xef\xb8\x8f", 2 },
		{ "e\xcc\x81", 1 },                            /* combining acute */
		{ "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", 2 }, /* 한 as three jamo */
		{ "a\xe2\x80\x8d"
		  "b",
		  2 }, /* zero width joiner */
		{ "\t\n\x7f", 0 },
		{ "\xff\xfe", 2 },
		{ "─│█░…µ∞·×–", 10 },
		{ "₩", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (jl_utf8_width(cases[i].text) != cases[i].width)
			fail_msg("case %zu: %zu columns, not %zu", i, jl_utf8_width(cases[i].text), cases[i].width);
	}
	assert_int_equal(jl_utf8_char_width(0xac00), 2);
	assert_int_equal(jl_utf8_char_width(0xd7a3), 2);
	assert_int_equal(jl_utf8_char_width(0x10ffff), 1);
	assert_int_equal(jl_utf8_char_width(0x1b), 0);
}

static void test_fit(void **state)
{
	(void)state;
	assert_int_equal(jl_utf8_fit("저울", 0), 0);
	assert_int_equal(jl_utf8_fit("저울", 1), 0);
	assert_int_equal(jl_utf8_fit("저울", 2), 3);
	assert_int_equal(jl_utf8_fit("저울", 3), 3);
	assert_int_equal(jl_utf8_fit("저울", 4), 6);
	assert_int_equal(jl_utf8_fit("저울", 99), 6);
	assert_int_equal(jl_utf8_fit("e\xcc\x81x", 1), 3);    /* the combining accent stays with its letter */
	assert_int_equal(jl_utf8_fit("⚠\xef\xb8\x8f", 1), 0); /* two columns do not fit in one */
	assert_int_equal(jl_utf8_fit("⚠\xef\xb8\x8f", 2), 6);
	assert_int_equal(jl_utf8_fit("a\xff\xff", 2), 2);
}

/* Widths and truncation agree for all prefixes of a mixed text. */
static void test_fit_property(void **state)
{
	static const char text[] = "GPU 저울✅ ⚠\xef\xb8\x8f e\xcc\x81 漢\xff字 📄 끝";
	char part[sizeof(text)];

	(void)state;
	for (size_t columns = 0; columns < 40; columns++) {
		size_t n = jl_utf8_fit(text, columns);
		memcpy(part, text, n);
		part[n] = '\0';
		assert_true(jl_utf8_width(part) <= columns);
		if (text[n])
			assert_true(jl_utf8_width(part) + 2 > columns || n == 0);
	}
}

static void test_sanitize(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "저울 ok\t\n", "저울 ok\t\n" },
		{ "a\x1b[31mb", "a?[31mb" },
		{ "a\x7f\x01z", "a??z" },
		{ "\xff저", "?저" },
		{ "저\xec\x9a", "저" }, /* truncated at the end: removed */
		{ "저\xec", "저" },
		{ "저\xec\x9az", "저??z" }, /* truncated in the middle: shown as '?' */
		{ "a\xc2\x9b"
		  "31m",
		  "a?31m" },                 /* C1 control sequence introducer */
		{ "x\xe2\x80\xaey", "x?y" }, /* right-to-left override */
		{ "\x80", "?" },
		{ "", "" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "%s", cases[i].text);
		jl_utf8_sanitize(text);
		assert_string_equal(text, cases[i].want);
		assert_true(jl_utf8_valid(text, strlen(text), NULL));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode), cmocka_unit_test(test_valid),        cmocka_unit_test(test_width),
		cmocka_unit_test(test_fit),    cmocka_unit_test(test_fit_property), cmocka_unit_test(test_sanitize),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
