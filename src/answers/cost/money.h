/* Money, exact: whole millionths of a dollar or a won, never a binary fraction. Rates are amounts per hour, kWh or month; an amount
 * times a ratio of whole numbers is rounded once, half away from zero. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* Products in 128 bits cannot overflow within our limits; clang's check of them needs a library that is not everywhere. */
#define JL_WIDE_MATH __attribute__((no_sanitize("signed-integer-overflow")))

enum jl_currency { JL_USD, JL_KRW, JL_N_CURRENCY };

#define JL_MICRO     1000000LL
#define JL_MONEY_MAX (4000000000000LL * JL_MICRO) /* four trillion: two of them still add up */

struct jl_money {
	long long micro;
	enum jl_currency currency;
};

/* Won for one dollar, and the day it was so. */
struct jl_fx {
	long long krw_micro; /* for one USD; 0: not given */
	long day;
};

const char *jl_currency_name(enum jl_currency currency); /* "USD", "KRW" */

/* A double that came from decimal text, e.g. by jl_quantity_parse: the nearest millionth is the one that was written. */
struct jl_money jl_money_from(double amount, enum jl_currency currency);
double jl_money_value(struct jl_money money);

/* money * num / den; saturates at JL_MONEY_MAX, which callers' limits on their inputs keep out of reach. */
long long jl_micro_scale(long long micro, long long num, long long den);
struct jl_money jl_money_scale(struct jl_money money, long long num, long long den);
struct jl_money jl_money_add(struct jl_money a, struct jl_money b); /* same currency */

/* Into another currency; JL_E_USAGE when a rate is needed and none was given. */
enum jl_status jl_money_convert(struct jl_money *ret_money, struct jl_money money, enum jl_currency to,
				const struct jl_fx *fx, struct jl_err *err);

/* "2,200.00 USD", "71,269 KRW" (to the cent, to the won, half away from zero). */
#define JL_MONEY_TEXT_MAX 48
const char *jl_money_text(char out[JL_MONEY_TEXT_MAX], struct jl_money money);
/* Without cents where there are at least a thousand dollars, for tables: "2,271". No currency. */
const char *jl_money_short(char out[JL_MONEY_TEXT_MAX], struct jl_money money);
/* A whole number in the same form: "24,966". */
const char *jl_grouped(char out[JL_MONEY_TEXT_MAX], double number);
