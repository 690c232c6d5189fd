/* Parses and prints plain numbers. */
#include "base/num.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_MAX 128

/* Digits without separators, as strtod takes them. */
struct plain {
	char text[PLAIN_MAX];
	size_t len;
	bool too_long;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void add(struct plain *plain, char c)
{
	if (plain->len + 1 < PLAIN_MAX)
		plain->text[plain->len++] = c;
	else
		plain->too_long = true;
}

static size_t take_digits(struct plain *plain, const char *text)
{
	size_t n = 0;

	while (is_digit(text[n]))
		add(plain, text[n++]);
	return n;
}

/* Integer digits, optionally with thousands separators. A comma counts only if a digit follows. Groups have three digits, the first one to three
 * and not "0": 0,123 may be a decimal comma and is refused. */
static enum jl_num_fault take_whole(struct plain *plain, const char *text, size_t *ret_used)
{
	size_t at = take_digits(plain, text), first = at;
	bool grouped = false;

	while (at > 0 && text[at] == ',' && is_digit(text[at + 1])) {
		size_t n = take_digits(plain, text + at + 1);
		if (n != 3 || (!grouped && (first > 3 || text[0] == '0')))
			return JL_NUM_COMMAS;
		grouped = true;
		at += n + 1;
	}
	*ret_used = at;
	return JL_NUM_OK;
}

static size_t take_exponent(struct plain *plain, const char *text)
{
	size_t sign = text[0] && (text[1] == '+' || text[1] == '-') ? 1 : 0;

	/* an exponent has digits: "5EB" is five exabytes */
	if ((text[0] != 'e' && text[0] != 'E') || !is_digit(text[1 + sign]))
		return 0;
	add(plain, 'e');
	if (sign)
		add(plain, text[1]);
	return 1 + sign + take_digits(plain, text + 1 + sign);
}

enum jl_num_fault jl_num_parse(const char *text, double *ret_value, size_t *ret_used)
{
	struct plain plain = { .len = 0 };
	size_t at = 0, n_whole, n_frac = 0;

	if (text[at] == '-' || text[at] == '+')
		add(&plain, text[at++]);
	enum jl_num_fault fault = take_whole(&plain, text + at, &n_whole);
	if (fault)
		return fault;
	at += n_whole;
	if (text[at] == '.' && (n_whole || is_digit(text[at + 1]))) {
		add(&plain, '.');
		n_frac = take_digits(&plain, text + at + 1);
		at += 1 + n_frac;
	}
	if (n_whole + n_frac == 0)
		return JL_NUM_NONE;
	at += take_exponent(&plain, text + at);
	if (plain.too_long)
		return JL_NUM_TOO_BIG;
	double value = strtod(plain.text, NULL);
	if (!isfinite(value))
		return JL_NUM_TOO_BIG;
	*ret_value = value;
	*ret_used = at;
	return JL_NUM_OK;
}

static const char *whole_text(char out[JL_NUM_TEXT_MAX], long long value)
{
	unsigned long long rest = value < 0 ? 0ULL - (unsigned long long)value : (unsigned long long)value;
	char digits[24];
	size_t n = 0, len = 0;

	do {
		digits[n++] = (char)('0' + (int)(rest % 10));
		rest /= 10;
	} while (rest);
	if (value < 0)
		out[len++] = '-';
	while (n)
		out[len++] = digits[--n];
	out[len] = '\0';
	return out;
}

enum surely { SURELY_NOT, SURELY, UNSURE };

/* SURELY if value, rounded to a multiple of 1 / power as printf rounds, reads back as the same double. Long double arithmetic is off by at most
 * 1/1000 of a double's last place, and by 1/256 at 17 digits; closer to a tie the result is UNSURE. */
static enum surely reads_back(double value, long double power, long long *ret_whole)
{
	const long double last = 0.5L * (long double)(value - nextafter(value, 0)),
			  next = 0.5L * (long double)(nextafter(value, INFINITY) - value);
	const long double scaled = (long double)value * power;

	*ret_whole = (long long)scaled;
	const long double part = scaled - (long double)*ret_whole, tie = scaled > 1e16L ? 0.005L : 0.0005L;

	if (part > 0.5L - tie && part < 0.5L + tie)
		return UNSURE;
	*ret_whole += part >= 0.5L;
	const long double off = fabsl((long double)*ret_whole / power - (long double)value);

	return off < 0.996L * last ? SURELY : off > 1.004L * next ? SURELY_NOT : UNSURE;
}

/* Places the digits (last first) as printf's %g does: with a decimal point from 1e-4 upwards, with an exponent below. */
static void put_digits(char out[JL_NUM_TEXT_MAX], const char *digits, size_t n, int places, int magnitude)
{
	const size_t whole = magnitude < -4 ? n - 1 : (size_t)places; /* digits before the point */
	size_t len = 0;

	while (n) {
		if (n == whole && len)
			out[len++] = '.';
		out[len++] = digits[--n];
	}
	if (magnitude < -4) {
		memcpy(out + len, "e-", 2);
		out[len + 2] = (char)('0' + -magnitude / 10);
		out[len + 3] = (char)('0' + -magnitude % 10);
		len += 4;
	}
	out[len] = '\0';
}

/* Shortest text of 15 to 17 digits that reads back as the same double, for 1e-11 to 1e15; false: not sure. */
static bool decimal_text(char out[JL_NUM_TEXT_MAX], double value)
{
	const int about = (int)floor(log10(value)); /* one too high just below a power of ten */
	enum surely found = SURELY_NOT;
	long long whole = 0;
	int magnitude;
	char digits[32];
	size_t n = 0;
	int places = 13 - about;
	long double power = 1.0L;

	for (int i = 0; i < places; i++) /* at most 10^27: exact in a long double */
		power *= 10.0L;
	for (int n_digits = 15; n_digits <= 17 && found == SURELY_NOT; n_digits++) {
		power *= 10.0L;
		found = ++places < 1 || places > 27 ? UNSURE : reads_back(value, power, &whole);
	}
	if (found != SURELY)
		return false;
	magnitude = -1 - places;
	for (long long rest = whole; rest; rest /= 10)
		magnitude++;
	for (; whole % 10 == 0 && places > 0; places--)
		whole /= 10;
	for (; whole || (magnitude >= -4 && (int)n <= places); whole /= 10)
		digits[n++] = (char)('0' + (int)(whole % 10));
	put_digits(out, digits, n, places, magnitude);
	return true;
}

const char *jl_num_text(char out[JL_NUM_TEXT_MAX], double value)
{
	if (!isfinite(value)) {
		snprintf(out, JL_NUM_TEXT_MAX, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
		return out;
	}
	if (fabs(value) < 1e15 && value == trunc(value) &&
	    (value != 0 || !signbit(value))) /* fast path: integers, ten times as fast */
		return whole_text(out, (long long)value);
	if (value >= 1e-11 && value < 1e15 && decimal_text(out, value))
		return out;
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, JL_NUM_TEXT_MAX, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			break;
	}
	return out;
}

long long jl_num_whole(double value, long long lo, long long hi)
{
	if (!(value > (double)lo))
		return lo;
	return value >= (double)hi ? hi : llround(value);
}
