#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"
#include "cost/money.h"

static void scaling_is_exact_and_rounds_half_away(void **state)
{
	(void)state;
	/* 2.14 USD/h, 15 % of 24 h, 300 days: 2,311.20 exactly */
	const struct jl_money hour = jl_money_from(2.14, JL_USD);

	assert_int_equal(jl_money_scale(hour, 24LL * 300 * 150000, 1000000).micro, 2311200000LL);
	assert_int_equal(jl_micro_scale(1, 1, 2), 1);
	assert_int_equal(jl_micro_scale(-1, 1, 2), -1);
	assert_int_equal(jl_micro_scale(3, 1, 2), 2);
	assert_int_equal(jl_micro_scale(JL_MONEY_MAX, 1000, 1), JL_MONEY_MAX);
	assert_int_equal(jl_micro_scale(-JL_MONEY_MAX, 1000, 1), -JL_MONEY_MAX);
}

static void amounts_print_to_the_cent(void **state)
{
	char text[JL_MONEY_TEXT_MAX];

	(void)state;
	assert_string_equal(jl_money_text(text, jl_money_from(2200, JL_USD)), "2,200.00 USD");
	assert_string_equal(jl_money_text(text, jl_money_from(0.005, JL_USD)), "0.01 USD");
	assert_string_equal(jl_money_text(text, jl_money_from(-0.004, JL_USD)), "0.00 USD");
	assert_string_equal(jl_money_text(text, jl_money_from(-1234567.891, JL_USD)), "-1,234,567.89 USD");
	assert_string_equal(jl_money_text(text, jl_money_from(71269, JL_KRW)), "71,269 KRW");
	assert_string_equal(jl_money_short(text, jl_money_from(999.5, JL_USD)), "999.50");
	assert_string_equal(jl_money_short(text, jl_money_from(2270.96, JL_USD)), "2,271");
}

static void currencies_need_a_rate(void **state)
{
	const struct jl_fx none = { 0 }, fx = { .krw_micro = 1400 * JL_MICRO };
	struct jl_money money;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_money_convert(&money, jl_money_from(2, JL_USD), JL_KRW, &none, &err), JL_E_USAGE);
	assert_int_equal(jl_money_convert(&money, jl_money_from(2, JL_USD), JL_KRW, &fx, &err), JL_OK);
	assert_int_equal(money.micro, 2800 * JL_MICRO);
	assert_int_equal(jl_money_convert(&money, jl_money_from(71269, JL_KRW), JL_USD, &fx, &err), JL_OK);
	assert_int_equal(money.micro, 50906429);
	assert_int_equal(jl_money_convert(&money, jl_money_from(0, JL_KRW), JL_USD, &none, &err), JL_OK);
}

static void months_know_leap_years(void **state)
{
	char text[JL_DATE_TEXT_MAX];
	struct jl_err err;
	long day;

	(void)state;
	assert_int_equal(jl_date_parse(&day, "2028-01-31", &err), JL_OK);
	assert_string_equal(jl_date_text(text, jl_date_add_months(day, 1)), "2028-02-29");
	assert_string_equal(jl_date_text(text, jl_date_add_months(day, 13)), "2029-02-28");
	assert_string_equal(jl_date_text(text, jl_date_add_months(day, 12 * 400)), "2428-01-31");
	assert_int_equal(jl_date_month_days(1900, 2), 28);
	assert_int_equal(jl_date_month_days(2000, 2), 29);
	for (long d = -100000; d < 100000; d += 37)
		assert_int_equal(jl_date_day(jl_date_civil(d)), d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scaling_is_exact_and_rounds_half_away),
		cmocka_unit_test(amounts_print_to_the_cent),
		cmocka_unit_test(currencies_need_a_rate),
		cmocka_unit_test(months_know_leap_years),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
