/* Prints quantities with a suitable prefix. */
#include "base/units_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 15 /* every decimal of up to 15 digits round-trips through a double */

/* Outside this range fixed point is unreadable, so an exponent is used. */
#define FIXED_MIN 1e-4
#define FIXED_MAX 1e15

/* Bounded text; no output here reaches the bound. */
struct line {
	char text[JL_UNITS_TEXT_MAX];
	size_t len;
};

static void add(struct line *line, const char *text, size_t len)
{
	if (len > sizeof(line->text) - 1 - line->len)
		len = sizeof(line->text) - 1 - line->len;
	memcpy(line->text + line->len, text, len);
	line->len += len;
}

static void puts_to(struct line *line, const char *text)
{
	add(line, text, strlen(text));
}

static double round_digits(double value, int n_digits)
{
	char text[40];

	snprintf(text, sizeof(text), "%.*e", n_digits - 1, value);
	return strtod(text, NULL);
}

/* Removes trailing zeros behind the decimal point. */
static size_t trim_zeros(const char *text, size_t len)
{
	if (!memchr(text, '.', len))
		return len;
	while (text[len - 1] == '0')
		len--;
	return text[len - 1] == '.' ? len - 1 : len;
}

/* Prints a positive number with an exponent and returns the exponent; `line` NULL: only returns it. */
static long print_exponent(struct line *line, double value, int n_digits)
{
	char text[40], tail[24];
	const char *e;

	snprintf(text, sizeof(text), "%.*e", n_digits - 1, value);
	e = strchr(text, 'e');
	long exponent = e ? strtol(e + 1, NULL, 10) : 0;
	if (line && e) {
		add(line, text, trim_zeros(text, (size_t)(e - text)));
		snprintf(tail, sizeof(tail), "e%ld", exponent);
		puts_to(line, tail);
	}
	return exponent;
}

/* Prints a positive number in fixed point with thousands separators. */
static void print_fixed(struct line *line, double value, int n_digits)
{
	char text[64];
	long n_decimals = n_digits - 1 - print_exponent(NULL, value, n_digits);

	snprintf(text, sizeof(text), "%.*f", n_decimals > 0 ? (int)n_decimals : 0, value);
	size_t len = trim_zeros(text, strlen(text));
	const char *point = memchr(text, '.', len);
	size_t n_whole = point ? (size_t)(point - text) : len;
	for (size_t i = 0; i < n_whole; i++) {
		if (i > 0 && (n_whole - i) % 3 == 0)
			puts_to(line, ",");
		add(line, text + i, 1);
	}
	add(line, text + n_whole, len - n_whole);
}

/* Compares the rounded number: 999.96 GB with three digits prints as 1 TB. `from` has few digits, so only values slightly below it need rounding. */
static bool reaches(const struct jl_units_rung *rung, double value, int n_digits)
{
	double n = value / rung->size;

	return n >= rung->from || (n > 0.5 * rung->from && round_digits(n, n_digits) >= rung->from);
}

static const struct jl_units_rung *choose(const struct jl_units_rung *ladder, double value, int n_digits)
{
	const struct jl_units_rung *best = ladder;

	for (const struct jl_units_rung *rung = ladder; rung->size > 0; rung++) {
		/* print zero in the base unit */
		if (value == 0 ? rung->size == 1 : reaches(rung, value, n_digits))
			best = rung;
	}
	/* beyond the largest unit (3.8e25 FLOP): use a power of ten of the base unit */
	if (best->size > 1 && best[1].size == 0 && value / best->size >= 1e6) {
		while (best->size != 1)
			best--;
	}
	return best;
}

static void print_unit(struct line *line, const char *unit, const char *prefix)
{
	if (unit[0] != '/' && (unit[0] || prefix[0]))
		puts_to(line, " ");
	/* "USD" + "/h", but "k" + "B" */
	puts_to(line, prefix[0] == '/' ? unit : prefix);
	puts_to(line, prefix[0] == '/' ? prefix : unit);
}

const char *jl_units_text(char out[JL_UNITS_TEXT_MAX], double value, enum jl_kind kind, int n_digits)
{
	const struct jl_kind_row *row = jl_kind_row(kind);
	struct line line = { .len = 0 };
	double size;

	n_digits = n_digits < 1 ? 1 : n_digits > DIGITS_MAX ? DIGITS_MAX : n_digits;
	if (isnan(value)) {
		memcpy(out, "?", 2);
		return out;
	}
	const struct jl_units_rung *rung = choose(row->ladder, fabs(value), n_digits);
	/* round to n_digits before printing without decimals: 312 with two digits is 310 */
	size = round_digits(fabs(value) / rung->size, n_digits);
	if (value < 0)
		puts_to(&line, "-");
	if (isinf(size))
		puts_to(&line, "∞");
	else if (size == 0)
		puts_to(&line, "0");
	else if (size < FIXED_MIN || size >= FIXED_MAX)
		print_exponent(&line, size, n_digits);
	else
		print_fixed(&line, size, n_digits);
	if (!isinf(size))
		print_unit(&line, row->unit, rung->prefix);
	memcpy(out, line.text, line.len);
	out[line.len] = '\0';
	return out;
}

const char *jl_unit_localized(const char *unit, bool *ret_close)
{
	static const char *const units[] = {
		JL_NC("unit", "s"),        JL_NC("unit", "min"),       JL_NC("unit", "h"),
		JL_NC("unit", "d"),        JL_NC("unit", "y"),         JL_NC("unit", "days"),
		JL_NC("unit", "months"),   JL_NC("unit", "years"),     JL_NC("unit", "x"),
		JL_NC("unit", "KRW"),      JL_NC("unit", "USD"),       JL_NC("unit", "USD/h"),
		JL_NC("unit", "USD/kWh"),  JL_NC("unit", "KRW/kWh"),   JL_NC("unit", "tokens"),
		JL_NC("unit", "samples"),  JL_NC("unit", "samples/s"), JL_NC("unit", "tokens/s"),
		JL_NC("unit", "images/s"),
	};
	const char *said = unit;

	for (size_t i = 0; i < JL_LEN(units); i++)
		if (strcmp(strchr(units[i], '\004') + 1, unit) == 0)
			said = jl_msg(units[i]);
	if (ret_close)
		*ret_close = strcmp(said, unit) != 0 || strcmp(unit, "x") == 0;
	return said;
}

void jl_units_localize(char text[JL_UNITS_TEXT_MAX])
{
	char *blank = strrchr(text, ' ');
	bool close;
	const char *said = blank ? jl_unit_localized(blank + 1, &close) : NULL;

	if (blank && close && (size_t)(blank - text) + strlen(said) < JL_UNITS_TEXT_MAX)
		memcpy(blank, said, strlen(said) + 1);
}

const char *jl_units_localized(char out[JL_UNITS_TEXT_MAX], double value, enum jl_kind kind, int n_digits)
{
	jl_units_text(out, value, kind, n_digits);
	jl_units_localize(out);
	return out;
}
