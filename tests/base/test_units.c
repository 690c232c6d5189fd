/* Parsing of quantities: accepted spellings, and refusals in both languages. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

static void check_value(const char *text, enum jl_kind kind, double want)
{
	struct jl_err err = { .status = JL_OK };
	double got = NAN;

	if (jl_units_parse(&got, text, kind, "--x", &err))
		fail_msg("'%s': %s", text, err.en);
	if (!(fabs(got - want) <= 1e-12 * fabs(want)))
		fail_msg("'%s': %.17g, not %.17g", text, got, want);
}

/* Expects `status`, messages that contain `says_en` and `says_ko`, and an unchanged output. */
static void check_refused(const char *text, enum jl_kind kind, enum jl_status status, const char *says_en,
			  const char *says_ko)
{
	struct jl_err err = { .status = JL_OK };
	double got = -7;

	if (jl_units_parse(&got, text, kind, "--x", &err) != status)
		fail_msg("'%s': status %d, value %g, '%s'", text, (int)err.status, got, err.en);
	if (got != -7)
		fail_msg("'%s': output written", text);
	if (!strstr(err.en, says_en) || !strstr(err.text, says_ko) || strncmp(err.en, "--x: ", 5) != 0)
		fail_msg("'%s': '%s' '%s'", text, err.en, err.text);
	assert_int_equal(jl_units_parse(&got, text, kind, NULL, NULL), status);
}

static const struct {
	const char *text;
	enum jl_kind kind;
	double want;
} values[] = {
	{ "4", JL_K_NUMBER, 4 },
	{ "-4.5e3", JL_K_NUMBER, -4500 },
	{ "19,252", JL_K_NUMBER, 19252 },
	{ "1,234,567.25", JL_K_NUMBER, 1234567.25 },
	{ ".5", JL_K_NUMBER, 0.5 },
	{ "5.", JL_K_NUMBER, 5 },
	{ "  7\t\n", JL_K_NUMBER, 7 },
	{ "0.15", JL_K_FRACTION, 0.15 },
	{ "15 %", JL_K_FRACTION, 0.15 },
	{ "15%", JL_K_FRACTION, 0.15 },
	{ "150 %", JL_K_FRACTION, 1.5 },
	{ "80 GiB", JL_K_BYTES, 80 * 0x1p30 },
	{ "80 GB", JL_K_BYTES, 80e9 },
	{ "80GB", JL_K_BYTES, 80e9 },
	{ "1 kB", JL_K_BYTES, 1000 },
	{ "1 KiB", JL_K_BYTES, 1024 },
	{ "1 kiB", JL_K_BYTES, 1024 },
	{ "16 Gb", JL_K_BYTES, 2e9 },
	{ "16 Gbit", JL_K_BYTES, 2e9 },
	{ "1000 bytes", JL_K_BYTES, 1000 },
	{ "5EB", JL_K_BYTES, 5e18 },
	{ "900 GB/s", JL_K_BYTE_RATE, 900e9 },
	{ "900GBps", JL_K_BYTE_RATE, 900e9 },
	{ "900 GB/sec", JL_K_BYTE_RATE, 900e9 },
	{ "900 GB / s", JL_K_BYTE_RATE, 900e9 },
	{ "900 GB per second", JL_K_BYTE_RATE, 900e9 },
	{ "900 GiB/s", JL_K_BYTE_RATE, 900 * 0x1p30 },
	{ "3200 Gb/s", JL_K_BYTE_RATE, 400e9 },
	{ "400 Gbps", JL_K_BYTE_RATE, 50e9 },
	{ "400 Gbit/s", JL_K_BYTE_RATE, 50e9 },
	{ "400 gbit/s", JL_K_BYTE_RATE, 50e9 },
	{ "56 Kbps", JL_K_BYTE_RATE, 7e3 },
	{ "56 kbps", JL_K_BYTE_RATE, 7e3 },
	{ "3.35 TB/s", JL_K_BYTE_RATE, 3.35e12 },
	{ "1.06 s", JL_K_TIME, 1.06 },
	{ "29 ms", JL_K_TIME, 0.029 },
	{ "29 us", JL_K_TIME, 29e-6 },
	{ "29 µs", JL_K_TIME, 29e-6 },
	{ "29 μs", JL_K_TIME, 29e-6 },
	{ "5 ns", JL_K_TIME, 5e-9 },
	{ "5 min", JL_K_TIME, 300 },
	{ "3.5 h", JL_K_TIME, 12600 },
	{ "3 Hours", JL_K_TIME, 10800 },
	{ "300 d", JL_K_TIME, 300 * 86400.0 },
	{ "2 days", JL_K_TIME, 172800 },
	{ "20 months", JL_K_TIME, 20 * 730 * 3600.0 },
	{ "1 year", JL_K_TIME, 8760 * 3600.0 },
	{ "3초", JL_K_TIME, 3 },
	{ "3 분", JL_K_TIME, 180 },
	{ "3시간", JL_K_TIME, 10800 },
	{ "2일", JL_K_TIME, 172800 },
	{ "20개월", JL_K_TIME, 20 * 730 * 3600.0 },
	{ "1년", JL_K_TIME, 8760 * 3600.0 },
	{ "1980 MHz", JL_K_FREQUENCY, 1.98e9 },
	{ "1980 mhz", JL_K_FREQUENCY, 1.98e9 },
	{ "312e12 FLOP", JL_K_FLOP, 312e12 },
	{ "4.09 GFLOP", JL_K_FLOP, 4.09e9 },
	{ "4.09 GFLOPs", JL_K_FLOP, 4.09e9 },
	{ "19.5 TFLOP/s", JL_K_FLOP_RATE, 19.5e12 },
	{ "19.5 TFLOPS", JL_K_FLOP_RATE, 19.5e12 },
	{ "19.5 TFLOPs", JL_K_FLOP_RATE, 19.5e12 },
	{ "19.5 TFLOPs/s", JL_K_FLOP_RATE, 19.5e12 },
	{ "19.5 tflops", JL_K_FLOP_RATE, 19.5e12 },
	{ "1 PFLOP/s", JL_K_FLOP_RATE, 1e15 },
	{ "624 TOP/s", JL_K_OP_RATE, 624e12 },
	{ "624 TOPS", JL_K_OP_RATE, 624e12 },
	{ "350 W", JL_K_POWER, 350 },
	{ "10.2 kW", JL_K_POWER, 10200 },
	{ "10.2 kw", JL_K_POWER, 10200 },
	{ "3 mW", JL_K_POWER, 3e-3 },
	{ "3 MW", JL_K_POWER, 3e6 },
	{ "5 J/s", JL_K_POWER, 5 },
	{ "591 kWh", JL_K_ENERGY, 591 * 3.6e6 },
	{ "3.6 MJ", JL_K_ENERGY, 3.6e6 },
	{ "336 mm", JL_K_LENGTH, 0.336 },
	{ "12 in", JL_K_LENGTH, 0.3048 },
	{ "430 g", JL_K_MASS, 430 },
	{ "1.2 kg CO2e", JL_K_MASS, 1200 },
	{ "2200 USD", JL_K_USD, 2200 },
	{ "2 MUSD", JL_K_USD, 2e6 },
	{ "$2200", JL_K_USD, 2200 },
	{ "-$5", JL_K_USD, -5 },
	{ "US$ 2,200.50", JL_K_USD, 2200.5 },
	{ "$2M", JL_K_USD, 2e6 },
	{ "3만 달러", JL_K_USD, 3e4 },
	{ "71269 KRW", JL_K_KRW, 71269 },
	{ "190만원", JL_K_KRW, 1.9e6 },
	{ "1억2000만원", JL_K_KRW, 1.2e8 },
	{ "3조 5억 1,000만 원", JL_K_KRW, 3.00051e12 },
	{ "2만 5천 달러", JL_K_USD, 2.5e4 },
	{ "3천5백만원", JL_K_KRW, 3.5e7 },
	{ "1천 2백만 원", JL_K_KRW, 1.2e7 },
	{ "5십만원", JL_K_KRW, 5e5 },
	{ "천만원", JL_K_KRW, 1e7 },
	{ "1억 9999만 9999원", JL_K_KRW, 199999999 },
	{ "12만불", JL_K_USD, 1.2e5 },
	{ "500만 KRW", JL_K_KRW, 5e6 },
	{ "₩500만", JL_K_KRW, 5e6 },
	{ "USD 25k", JL_K_USD, 2.5e4 },
	{ "190만 원", JL_K_KRW, 1.9e6 },
	{ "3억원", JL_K_KRW, 3e8 },
	{ "₩71,269", JL_K_KRW, 71269 },
	{ "2.14 USD/h", JL_K_USD_RATE, 2.14 / 3600 },
	{ "$2.14/hr", JL_K_USD_RATE, 2.14 / 3600 },
	{ "0.12 USD/kWh", JL_K_USD_ENERGY, 0.12 / 3.6e6 },
	{ "$0.12/kWh", JL_K_USD_ENERGY, 0.12 / 3.6e6 },
	{ "120 KRW/kWh", JL_K_KRW_ENERGY, 120 / 3.6e6 },
	{ "120원/kWh", JL_K_KRW_ENERGY, 120 / 3.6e6 },
	{ "430.6 g/kWh", JL_K_MASS_ENERGY, 430.6 / 3.6e6 },
	{ "430.6 gCO2e/kWh", JL_K_MASS_ENERGY, 430.6 / 3.6e6 },
	{ "27.4 samples/s", JL_K_COUNT_RATE, 27.4 },
	{ "5,762 tokens/s", JL_K_COUNT_RATE, 5762 },
	{ "5762 tok/sec", JL_K_COUNT_RATE, 5762 },
	{ "60 images/min", JL_K_COUNT_RATE, 1 },
	{ "27.4/s", JL_K_COUNT_RATE, 27.4 },
	{ "30 fps", JL_K_COUNT_RATE, 30 },
};

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		check_value(values[i].text, values[i].kind, values[i].want);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text;
		enum jl_kind kind;
		enum jl_status status;
		const char *en, *ko;
	} cases[] = {
		{ "900", JL_K_BYTE_RATE, JL_E_UNIT, "no unit; write e.g. 900 GB/s", "단위가 없습니다. 예: 900 GB/s" },
		{ "0", JL_K_BYTES, JL_E_UNIT, "no unit", "단위가 없습니다" },
		{ "", JL_K_BYTES, JL_E_PARSE, "empty", "비어" },
		{ "   ", JL_K_BYTES, JL_E_PARSE, "empty", "비어" },
		{ "GB", JL_K_BYTES, JL_E_PARSE, "begin with a number", "수로 시작" },
		{ "900 gb/s", JL_K_BYTE_RATE, JL_E_UNIT, "GB/s or Gb/s?", "GB/s인가요, Gb/s인가요?" },
		{ "900 gbps", JL_K_BYTE_RATE, JL_E_UNIT, "GB/s or Gb/s?", "Gb/s" },
		{ "900 GBPS", JL_K_BYTE_RATE, JL_E_UNIT, "GB/s or Gb/s?", "Gb/s" },
		{ "80 gb", JL_K_BYTES, JL_E_UNIT, "GB or Gb?", "GB" },
		{ "1 KB", JL_K_BYTES, JL_E_UNIT, "kB (1000 bytes) or KiB", "KiB(1024바이트)" },
		{ "1 kb", JL_K_BYTES, JL_E_UNIT, "kbit", "kbit" },
		{ "5 m", JL_K_TIME, JL_E_UNIT, "min (minutes) or months", "개월" },
		{ "2만3억원", JL_K_MONEY, JL_E_UNIT, "is not an amount of money", "금액" },
		{ "1억 20000만원", JL_K_KRW, JL_E_UNIT, "is not", "" },
		{ "5 Ms", JL_K_TIME, JL_E_UNIT, "is not a time", "시간 표기가 아닙니다" },
		{ "5 mw", JL_K_POWER, JL_E_UNIT, "mW?", "mW" },
		{ "900 GB", JL_K_BYTE_RATE, JL_E_UNIT, "is a size in bytes, but a data rate is required",
		  "바이트 크기입니다. 전송 속도" },
		{ "4 GFLOPS", JL_K_FLOP, JL_E_UNIT, "is an arithmetic rate", "연산 속도" },
		{ "4 TFLOP", JL_K_FLOP_RATE, JL_E_UNIT, "an amount of arithmetic", "연산량" },
		{ "4 GMAC", JL_K_FLOP, JL_E_UNIT, "two FLOP", "FLOP 둘" },
		{ "4 TMACs/s", JL_K_FLOP_RATE, JL_E_UNIT, "two FLOP", "FLOP 둘" },
		{ "16 GT/s", JL_K_BYTE_RATE, JL_E_UNIT, "transfers are not bytes", "전송 횟수" },
		{ "15", JL_K_FRACTION, JL_E_UNIT, "write 15 %", "15 %" },
		{ "4 GB", JL_K_NUMBER, JL_E_UNIT, "a plain number is required", "단위 없는 수" },
		{ "1,5 GB", JL_K_BYTES, JL_E_PARSE, "comma", "쉼표" },
		{ "0,123", JL_K_NUMBER, JL_E_PARSE, "comma", "쉼표" },
		{ "1234,567", JL_K_NUMBER, JL_E_PARSE, "comma", "쉼표" },
		{ "1e999 B", JL_K_BYTES, JL_E_RANGE, "too large", "너무 큰" },
		{ "1e300 YB", JL_K_BYTES, JL_E_RANGE, "too large", "너무 큰" },
		{ "inf", JL_K_NUMBER, JL_E_PARSE, "number", "수로" },
		{ "nan", JL_K_NUMBER, JL_E_PARSE, "number", "수로" },
		{ "0x10", JL_K_NUMBER, JL_E_UNIT, "is not", "아닙니다" },
		{ "80 GB memory", JL_K_BYTES, JL_E_UNIT, "is not", "아닙니다" },
		{ "80 GB/s/s", JL_K_BYTE_RATE, JL_E_UNIT, "is not", "아닙니다" },
		{ "80 \xff\xfe", JL_K_BYTES, JL_E_UNIT, "??", "??" },
		{ "1 KRW/h", JL_K_USD_RATE, JL_E_UNIT, "is not a rent", "임대료" },
		{ "12 KRW", JL_K_USD, JL_E_UNIT, "an amount of won", "원화" },
		{ "$5 GB", JL_K_BYTES, JL_E_UNIT, "is not", "아닙니다" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_refused(cases[i].text, cases[i].kind, cases[i].status, cases[i].en, cases[i].ko);
}

static void test_long_input(void **state)
{
	char text[5000];
	struct jl_err err;
	double value;

	(void)state;
	memset(text, '9', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(jl_units_parse(&value, text, JL_K_NUMBER, "--x", &err), JL_E_RANGE);
	memset(text + 1, 'x', sizeof(text) - 2);
	assert_int_equal(jl_units_parse(&value, text, JL_K_BYTES, "--x", &err), JL_E_UNIT);
}

static void test_money_says_which(void **state)
{
	struct jl_quantity quantity;

	(void)state;
	assert_int_equal(jl_quantity_parse(&quantity, "2 kUSD", JL_K_MONEY, "--budget", NULL), JL_OK);
	assert_int_equal(quantity.kind, JL_K_USD);
	assert_int_equal(jl_quantity_parse(&quantity, "5억원", JL_K_MONEY, "--budget", NULL), JL_OK);
	assert_int_equal(quantity.kind, JL_K_KRW);
	assert_true(quantity.value == 5e8);
	assert_int_equal(jl_quantity_parse(&quantity, "5 GB", JL_K_MONEY, "--budget", NULL), JL_E_UNIT);
}

static void test_count(void **state)
{
	struct jl_err err;
	long long n = -7;

	(void)state;
	assert_int_equal(jl_units_parse_count(&n, " 1,024 ", 1, 4096, "--batch", &err), JL_OK);
	assert_int_equal(n, 1024);
	assert_int_equal(jl_units_parse_count(&n, "1e3", 1, 4096, "--batch", &err), JL_OK);
	assert_int_equal(n, 1000);
	n = -7;
	assert_int_equal(jl_units_parse_count(&n, "0", 1, 4096, "--batch", &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "1 to 4096"));
	assert_int_equal(jl_units_parse_count(&n, "99999999999999999999", 1, 4096, "--batch", &err), JL_E_RANGE);
	assert_int_equal(jl_units_parse_count(&n, "1.5", 1, 4096, "--batch", &err), JL_E_RANGE);
	assert_int_equal(jl_units_parse_count(&n, "2K", 1, 4096, "--batch", &err), JL_E_PARSE);
	assert_int_equal(jl_units_parse_count(&n, "2K", 1, 1LL << 50, "--tokens", &err), JL_OK);
	assert_int_equal(n, 2000);
	assert_int_equal(jl_units_parse_count(&n, "15T", 1, 1LL << 50, "--tokens", &err), JL_OK);
	assert_int_equal(n, 15000000000000LL);
	assert_int_equal(jl_units_parse_count(&n, "1.1 M", 1, 1LL << 50, "--tokens", &err), JL_OK);
	assert_int_equal(n, 1100000);
	assert_int_equal(jl_units_parse_count(&n, "3억", 1, 1LL << 50, "--tokens", &err), JL_OK);
	assert_int_equal(n, 300000000);
	n = -7;
	assert_int_equal(jl_units_parse_count(&n, "0.0001K", 1, 1LL << 50, "--tokens", &err), JL_E_RANGE);
	assert_int_equal(jl_units_parse_count(&n, "8KB", 1, 4096, "--batch", &err), JL_E_PARSE);
	assert_int_equal(jl_units_parse_count(&n, "8 GPUs", 1, 4096, "--batch", &err), JL_E_PARSE);
	assert_int_equal(jl_units_parse_count(&n, "", 1, 4096, "--batch", &err), JL_E_PARSE);
	assert_int_equal(jl_units_parse_count(&n, "-3", 1, 4096, "--batch", &err), JL_E_RANGE);
	assert_int_equal(n, -7);
}

static void test_kinds_have_texts(void **state)
{
	(void)state;
	for (int kind = 0; kind < JL_N_KIND; kind++) {
		assert_non_null(jl_kind_suffix((enum jl_kind)kind));
		assert_true(jl_kind_example((enum jl_kind)kind)[0] != '\0');
	}
	assert_string_equal(jl_kind_suffix(JL_K_FLOP_RATE), "flopps");
	assert_string_equal(jl_kind_suffix(JL_N_KIND), "");
}

static void the_last_rows(void **state)
{
	(void)state;
	assert_true(jl_units_is_unit("개"));
	assert_true(jl_units_is_unit("requests"));
	assert_false(jl_units_is_unit("systems"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_rows),         cmocka_unit_test(test_values),
		cmocka_unit_test(test_refusals),         cmocka_unit_test(test_long_input),
		cmocka_unit_test(test_money_says_which), cmocka_unit_test(test_count),
		cmocka_unit_test(test_kinds_have_texts),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
