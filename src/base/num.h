/* Plain numbers as text: a strict parser, and the shortest text that reads back as the same double.
 *
 * Both need the "C" locale for numbers: a main program may set LC_CTYPE, never LC_NUMERIC. */
#pragma once

#include <stddef.h>

enum jl_num_fault {
	JL_NUM_OK,
	JL_NUM_NONE,   /* no number at the start */
	JL_NUM_COMMAS, /* commas that do not separate thousands: 1,5 */
	JL_NUM_TOO_BIG /* beyond a double's range, or too many digits */
};

/* Parses the number at the start of `text`: sign, digits with or without thousands separators, fraction, exponent. No hexadecimal, inf or nan.
 * `ret_used`: bytes consumed. */
enum jl_num_fault jl_num_parse(const char *text, double *ret_value, size_t *ret_used);

/* Converts untrusted input to an integer: rounds, clamps to lo..hi, NAN gives `lo`. Callers for which a clamped value is wrong check the range
 * first. */
long long jl_num_whole(double value, long long lo, long long hi);

#define JL_NUM_TEXT_MAX 32
/* Shortest decimal text that reads back as the same double; "nan", "inf", "-inf" otherwise. Returns `out`. */
const char *jl_num_text(char out[JL_NUM_TEXT_MAX], double value);
