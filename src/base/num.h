/* Plain numbers as text: a strict reader and the shortest text that reads back as the same double.
 *
 * Both need the "C" locale for numbers: a front door may set LC_CTYPE, never LC_NUMERIC. */
#pragma once

#include <stddef.h>

enum jl_num_fault {
	JL_NUM_OK,
	JL_NUM_NONE,   /* does not begin with a number */
	JL_NUM_COMMAS, /* commas that do not separate thousands: 1,5 */
	JL_NUM_TOO_BIG /* more than a double holds, or more digits than anybody writes */
};

/* The number at the beginning of `text`: sign, digits with or without thousands separators, fraction, exponent.
 * No hexadecimal, inf or nan. `ret_used` is the number of bytes it takes. */
enum jl_num_fault jl_num_parse(const char *text, double *ret_value, size_t *ret_used);

/* The way from a number that came from outside to an integer: the nearest whole one, the nearer end where it lies outside, `lo` for NAN.
 * Where an end is not an answer the caller has refused such numbers before. */
long long jl_num_whole(double value, long long lo, long long hi);

#define JL_NUM_TEXT_MAX 32
/* Shortest decimal text that reads back as the same double; "nan", "inf", "-inf" for those. Returns `out`. */
const char *jl_num_text(char out[JL_NUM_TEXT_MAX], double value);
