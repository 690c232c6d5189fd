/* Parses and prints quantities. The only place that distinguishes kB from KiB and Gb from GB.
 *
 * Values are doubles in SI base units (byte, second, FLOP, joule, watt, metre, gram, currency). A number without its required unit is refused with
 * an example. Bits become bytes (3200 Gb/s = 400e9 B/s). A year is 365 days (8,760 h) and a month a twelfth of it (730 h), as rents and tariffs
 * count. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Kind of quantity. Each has one row in units_table.c: name, example, how to print it. */
enum jl_kind {
	JL_K_NUMBER,      /* dimensionless */
	JL_K_FRACTION,    /* 0.15, 15 %, 15% */
	JL_K_BYTES,       /* 80 GiB, 80 GB */
	JL_K_BYTE_RATE,   /* 900 GB/s, 3200 Gb/s, 400 Gbps */
	JL_K_TIME,        /* 1.06 s, 29 ms, 3.5 h, 300 d, 20 months */
	JL_K_FREQUENCY,   /* 1980 MHz */
	JL_K_FLOP,        /* 312e12 FLOP, 4.09 GFLOP; MAC is refused, because it may count as one or two FLOP */
	JL_K_FLOP_RATE,   /* 19.5 TFLOP/s, 19.5 TFLOPS */
	JL_K_OP_RATE,     /* 624 TOP/s, 624 TOPS (integer) */
	JL_K_POWER,       /* 350 W, 10.2 kW */
	JL_K_ENERGY,      /* 591 kWh, 3.6 MJ */
	JL_K_LENGTH,      /* 336 mm */
	JL_K_MASS,        /* 430 g (CO2e) */
	JL_K_USD,         /* 2200 USD, 2 MUSD, $2200 */
	JL_K_KRW,         /* 71269 KRW, 190만원 */
	JL_K_MONEY,       /* USD or KRW; see jl_quantity.kind */
	JL_K_USD_RATE,    /* 2.14 USD/h */
	JL_K_USD_ENERGY,  /* 0.12 USD/kWh */
	JL_K_KRW_ENERGY,  /* 120 KRW/kWh */
	JL_K_MASS_ENERGY, /* 430.6 g/kWh */
	JL_K_COUNT_RATE,  /* 27.4 samples/s, 5762 tokens/s */
	JL_N_KIND
};

struct jl_quantity {
	double value; /* SI base units */
	enum jl_kind kind;
};

/* Parses the whole of `text`; surrounding blanks are allowed. `what` names the value in the message ("--size"). Accepts thousands separators
 * (19,252) and e-notation; refuses inf, nan, hex and trailing words. */
enum jl_status jl_quantity_parse(struct jl_quantity *ret_quantity, const char *text, enum jl_kind wanted,
				 const char *what, struct jl_err *err);

/* Shorthand that returns only the value. */
enum jl_status jl_units_parse(double *ret_value, const char *text, enum jl_kind wanted, const char *what,
			      struct jl_err *err);

/* Integer from min to max without a unit. Accepts 10M, 2B and 15T, and K if max is in the millions. */
enum jl_status jl_units_parse_count(long long *ret_n, const char *text, long long min, long long max, const char *what,
				    struct jl_err *err);

/* Prints with a suitable prefix and `n_digits` significant digits: 3.35 TB/s, 80 GB, 1.06 s, 5.67 h. NAN prints "?". Returns `out`. */
/* Buffer on the stack for one call's text, valid until the block ends: jl_units_localized(JL_TXT, step_s, JL_K_TIME, 2). */
#define JL_TXT            ((char[160]){ 0 })
#define JL_UNITS_TEXT_MAX 48
const char *jl_units_text(char out[JL_UNITS_TEXT_MAX], double value, enum jl_kind kind, int n_digits);

/* Unit in the user's language ("d": 일), or the same text if it has no translation; *ret_close: no blank between number and unit. The second
 * function prints with it. For display only, not for files. */
const char *jl_unit_localized(const char *unit, bool *ret_close);
const char *jl_units_localized(char out[JL_UNITS_TEXT_MAX], double value, enum jl_kind kind, int n_digits);
/* Translates the unit of "1.06 s", in place. */
void jl_units_localize(char text[JL_UNITS_TEXT_MAX]);

/* True if the word is a unit, so that it belongs to the number before it. */
bool jl_units_is_unit(const char *word);

/* Suffix of JSON keys and C names: "B", "Bps", "s", "flopps", "W", "J", "usd". */
const char *jl_kind_suffix(enum jl_kind kind);
const char *jl_kind_example(enum jl_kind kind);

/* Calendar dates as sources give them: 2024, 2026-01, 2026-08-22, 2025-Q1. Gives the first day meant, in days since 1970-01-01. */
enum jl_status jl_date_parse(long *ret_day, const char *text, struct jl_err *err);

/* YYYY-MM-DD; returns `out`. */
#define JL_DATE_TEXT_MAX 40
const char *jl_date_text(char out[JL_DATE_TEXT_MAX], long day);

/* Day number from year, month (1..12) and day (1..31), and back. */
struct jl_civil {
	int year, month, day;
};
struct jl_civil jl_date_civil(long day);
long jl_date_day(struct jl_civil civil);
int jl_date_month_days(int year, int month);
/* The same day of the month `n` months later; clamped to the month's last day. */
long jl_date_add_months(long day, int n);
