/* Exact money: integer millionths of a dollar or a won. Rates are amounts per hour, kWh or month. An amount times a ratio of integers is rounded
 * once, half away from zero. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* The limits below keep 128-bit products from overflowing; clang's overflow check would need a library that is not always installed. */
#define JL_WIDE_MATH __attribute__((no_sanitize("signed-integer-overflow")))

enum jl_currency { JL_USD, JL_KRW, JL_N_CURRENCY };

#define JL_MICRO     1000000LL
#define JL_MONEY_MAX (4000000000000LL * JL_MICRO) /* four trillion: the sum of two still fits */

struct jl_money {
	long long micro;
	enum jl_currency currency;
};

/* Exchange rate and its date. */
struct jl_fx {
	long long krw_micro; /* millionths of a won per USD; 0: not given */
	long day;
};

const char *jl_currency_name(enum jl_currency currency); /* "USD", "KRW" */

/* Converts a double parsed from decimal text (e.g. by jl_quantity_parse): rounds to the nearest millionth, which restores the decimal value. */
struct jl_money jl_money_from(double amount, enum jl_currency currency);
double jl_money_value(struct jl_money money);

/* money * num / den; saturates at JL_MONEY_MAX. The limits on callers' inputs prevent saturation. */
long long jl_micro_scale(long long micro, long long num, long long den);
struct jl_money jl_money_scale(struct jl_money money, long long num, long long den);
struct jl_money jl_money_add(struct jl_money a, struct jl_money b); /* a and b have the same currency */

/* Converts to another currency; JL_E_USAGE if that needs a rate and none is given. */
enum jl_status jl_money_convert(struct jl_money *ret_money, struct jl_money money, enum jl_currency to,
				const struct jl_fx *fx, struct jl_err *err);

/* "2,200.00 USD", "71,269 KRW" (to the cent, to the won, half away from zero). */
#define JL_MONEY_TEXT_MAX 48
const char *jl_money_text(char out[JL_MONEY_TEXT_MAX], struct jl_money money);
/* For tables, without currency: no cents from a thousand dollars on: "2,271". */
const char *jl_money_short(char out[JL_MONEY_TEXT_MAX], struct jl_money money);
/* An integer with the same grouping: "24,966". */
const char *jl_grouped(char out[JL_MONEY_TEXT_MAX], double number);
