/* Printing of quantities: prefixes, digits, round trips. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/units.h"

static void test_texts(void **state)
{
	static const struct {
		double value;
		enum jl_kind kind;
		int n_digits;
		const char *want;
	} cases[] = {
		{ 3.35e12, JL_K_BYTE_RATE, 3, "3.35 TB/s" },
		{ 80e9, JL_K_BYTES, 3, "80 GB" },
		{ 999.96e9, JL_K_BYTES, 3, "1 TB" },
		{ 1000e9, JL_K_BYTES, 4, "1 TB" },
		{ 999.4e9, JL_K_BYTES, 3, "999 GB" },
		{ 312e12, JL_K_FLOP_RATE, 2, "310 TFLOP/s" },
		{ 3.8e25, JL_K_FLOP, 3, "3.8e25 FLOP" },
		{ 1.06, JL_K_TIME, 3, "1.06 s" },
		{ 0.0294, JL_K_TIME, 2, "29 ms" },
		{ 29e-6, JL_K_TIME, 2, "29 µs" },
		{ 59.96, JL_K_TIME, 3, "60 s" },
		{ 119.99, JL_K_TIME, 3, "2 min" },
		{ 20412, JL_K_TIME, 3, "5.67 h" },
		{ 300 * 86400.0, JL_K_TIME, 3, "300 d" },
		{ 0, JL_K_TIME, 3, "0 s" },
		{ -0.0, JL_K_BYTES, 3, "0 B" },
		{ -3.2e9, JL_K_BYTES, 2, "-3.2 GB" },
		{ NAN, JL_K_BYTES, 3, "?" },
		{ INFINITY, JL_K_BYTES, 3, "∞" },
		{ -INFINITY, JL_K_NUMBER, 3, "-∞" },
		{ 1e308, JL_K_USD_ENERGY, 3, "∞" },
		{ 0.153, JL_K_FRACTION, 2, "15 %" },
		{ 304992256, JL_K_NUMBER, 3, "305,000,000" },
		{ 304992256, JL_K_NUMBER, 12, "304,992,256" },
		{ 1000, JL_K_NUMBER, 3, "1,000" },
		{ 0.00021, JL_K_NUMBER, 3, "0.00021" },
		{ 1e-5, JL_K_NUMBER, 3, "1e-5" },
		{ 2200, JL_K_USD, 4, "2,200 USD" },
		{ 1.9e6, JL_K_KRW, 3, "1,900,000 KRW" },
		{ 2.14 / 3600, JL_K_USD_RATE, 3, "2.14 USD/h" },
		{ 0.12 / 3.6e6, JL_K_USD_ENERGY, 3, "0.12 USD/kWh" },
		{ 430.6 / 3.6e6, JL_K_MASS_ENERGY, 4, "430.6 g/kWh" },
		{ 27.413, JL_K_COUNT_RATE, 3, "27.4/s" },
		{ 5762, JL_K_COUNT_RATE, 2, "5,800/s" },
		{ 350, JL_K_POWER, 3, "350 W" },
		{ 10200, JL_K_POWER, 3, "10.2 kW" },
		{ 591 * 3.6e6, JL_K_ENERGY, 3, "591 kWh" },
		{ 0.336, JL_K_LENGTH, 3, "336 mm" },
		{ 1.98e9, JL_K_FREQUENCY, 3, "1.98 GHz" },
		{ 5, JL_K_BYTES, 0, "5 B" },
		{ 1.0 / 3, JL_K_NUMBER, 99, "0.333333333333333" },
	};
	char text[JL_UNITS_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(jl_units_text(text, cases[i].value, cases[i].kind, cases[i].n_digits),
				    cases[i].want);
}

static void check_round_trip(double value, enum jl_kind kind, int n_digits)
{
	char text[JL_UNITS_TEXT_MAX];
	struct jl_err err = { .status = JL_OK };
	double back = NAN, allowed = 0.5000001 * pow(10, 1 - n_digits) * fabs(value) + 4e-16 * fabs(value);

	jl_units_text(text, value, kind, n_digits);
	if (jl_units_parse(&back, text, kind, "printed", &err))
		fail_msg("%.17g printed as '%s': %s", value, text, err.en);
	if (!(fabs(back - value) <= allowed))
		fail_msg("%.17g printed as '%s' reads back as %.17g", value, text, back);
}

/* Printed quantities parse back, for all magnitudes and precisions. */
static void test_round_trip(void **state)
{
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (int kind = 0; kind < JL_N_KIND; kind++) {
		if (kind == JL_K_MONEY)
			continue; /* printed as USD or KRW */
		for (int i = 0; i < 4000; i++) {
			double mantissa;
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			mantissa = 1 + 9 * (double)(seed >> 11) * 0x1p-53;
			check_round_trip((i & 1 ? -1 : 1) * mantissa * pow(10, i % 60 - 30), (enum jl_kind)kind,
					 1 + i % 15);
		}
		check_round_trip(0, (enum jl_kind)kind, 3);
	}
}

static void test_buffer(void **state)
{
	struct jl_buf buf;
	char text[JL_UNITS_TEXT_MAX];

	(void)state;
	jl_buf_init(&buf, 100);
	jl_buf_printf(&buf, "%s, ", jl_units_text(text, 80e9, JL_K_BYTES, 3));
	jl_buf_puts(&buf, jl_units_text(text, 1.06, JL_K_TIME, 3));
	assert_string_equal(jl_buf_text(&buf), "80 GB, 1.06 s");
	jl_buf_release(&buf);
}

static void test_shortest_numbers(void **state)
{
	static const struct {
		double value;
		const char *want;
	} cases[] = {
		{ 0.1, "0.1" },
		{ 1e21, "1e+21" },
		{ 5, "5" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ -0.0, "-0" },
		{ NAN, "nan" },
		{ INFINITY, "inf" },
		{ -INFINITY, "-inf" },
	};
	char text[JL_NUM_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(jl_num_text(text, cases[i].value), cases[i].want);
}

/* Shortest of 15 to 17 digits that reads back: the fast path equals printf. */
static void test_shortest_as_printf(void **state)
{
	uint64_t seed = 88172645463325252ULL;
	char text[JL_NUM_TEXT_MAX], want[JL_NUM_TEXT_MAX];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		const double value = i % 3 ? nextafter((double)(seed % 100000007) / (1 + i % 997), i % 2 ? 0 : 1e9)
					   : ldexp((double)(seed >> 11), -33 - i % 70);
		int digits = 15;

		do
			(void)snprintf(want, sizeof(want), "%.*g", digits, value);
		while (digits++ < 17 && strtod(want, NULL) != value);
		if (value != trunc(value))
			assert_string_equal(jl_num_text(text, value), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_buffer),
		cmocka_unit_test(test_shortest_numbers),
		cmocka_unit_test(test_shortest_as_printf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
