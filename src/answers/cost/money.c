/* Exact arithmetic on amounts of money, and their text. */
#include "cost/money.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"

__extension__ typedef __int128 wide;

const char *jl_currency_name(enum jl_currency currency)
{
	return currency == JL_KRW ? "KRW" : "USD";
}

struct jl_money jl_money_from(double amount, enum jl_currency currency)
{
	const double limit = (double)JL_MONEY_MAX / (double)JL_MICRO;
	const double bounded = amount > limit ? limit : amount < -limit ? -limit : amount;

	return (struct jl_money){ .micro = llround(bounded * (double)JL_MICRO), .currency = currency };
}

double jl_money_value(struct jl_money money)
{
	return (double)money.micro / (double)JL_MICRO;
}

JL_WIDE_MATH long long jl_micro_scale(long long micro, long long num, long long den)
{
	assert(den > 0);
	if (micro == 0 || num == 0)
		return 0;
	const wide product = (wide)micro * num;
	const wide above = (product >= 0 ? product : -product) + den / 2;
	/* 64-bit division is five times as fast as 128-bit division and almost always suffices */
	const wide whole = above <= LLONG_MAX ? (wide)((long long)above / den) : above / den;
	const wide scaled = product >= 0 ? whole : -whole;

	if (scaled > (wide)JL_MONEY_MAX)
		return JL_MONEY_MAX;
	return scaled < -JL_MONEY_MAX ? -JL_MONEY_MAX : (long long)scaled;
}

struct jl_money jl_money_scale(struct jl_money money, long long num, long long den)
{
	return (struct jl_money){ .micro = jl_micro_scale(money.micro, num, den), .currency = money.currency };
}

struct jl_money jl_money_add(struct jl_money a, struct jl_money b)
{
	assert(a.currency == b.currency);
	return (struct jl_money){ .micro = jl_micro_scale(a.micro + b.micro, 1, 1), .currency = a.currency };
}

enum jl_status jl_money_convert(struct jl_money *ret_money, struct jl_money money, enum jl_currency to,
				const struct jl_fx *fx, struct jl_err *err)
{
	if (money.currency == to || money.micro == 0) {
		*ret_money = (struct jl_money){ .micro = money.micro, .currency = to };
		return JL_OK;
	}
	if (!fx || fx->krw_micro <= 0)
		return jl_fail(err, JL_E_USAGE, "%s and %s are mixed and no exchange rate is given; add e.g. --fx 1400",
			       jl_currency_name(money.currency), jl_currency_name(to));
	ret_money->micro = to == JL_KRW ? jl_micro_scale(money.micro, fx->krw_micro, JL_MICRO)
					: jl_micro_scale(money.micro, JL_MICRO, fx->krw_micro);
	ret_money->currency = to;
	return JL_OK;
}

/* Formats digits in groups of three. */
static void grouped(char *out, size_t size, long long units)
{
	char plain[32];
	const int len = snprintf(plain, sizeof plain, "%lld", units);
	size_t at = 0;

	for (int i = 0; i < len && at + 2 < size; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = plain[i];
	}
	out[at] = '\0';
}

static const char *print(char out[JL_MONEY_TEXT_MAX], struct jl_money money, bool cents, const char *suffix)
{
	const long long step = cents ? JL_MICRO / 100 : JL_MICRO;
	const long long rounded = (llabs(money.micro) + step / 2) / step;
	const char *sign = money.micro < 0 && rounded ? "-" : "";
	char units[32];

	grouped(units, sizeof units, cents ? rounded / 100 : rounded);
	if (cents)
		snprintf(out, JL_MONEY_TEXT_MAX, "%s%s.%02d%s", sign, units, (int)(rounded % 100), suffix);
	else
		snprintf(out, JL_MONEY_TEXT_MAX, "%s%s%s", sign, units, suffix);
	return out;
}

const char *jl_money_text(char out[JL_MONEY_TEXT_MAX], struct jl_money money)
{
	bool close;
	const char *unit = jl_unit_localized(jl_currency_name(money.currency), &close);
	char suffix[24];

	snprintf(suffix, sizeof suffix, "%s%s", close ? "" : " ", unit);
	return print(out, money, money.currency == JL_USD, suffix);
}

const char *jl_money_short(char out[JL_MONEY_TEXT_MAX], struct jl_money money)
{
	return print(out, money, money.currency == JL_USD && llabs(money.micro) < 1000 * JL_MICRO, "");
}

const char *jl_grouped(char out[JL_MONEY_TEXT_MAX], double number)
{
	return print(out, jl_money_from(number, JL_KRW), false, "");
}
