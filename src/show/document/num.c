#include "document/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "document/doc.h"

const char *jl_memory_text(char out[JL_UNITS_TEXT_MAX], double value_B)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	while (value_B >= 1024 && i < 4) {
		value_B /= 1024;
		i++;
	}
	snprintf(out, JL_UNITS_TEXT_MAX, value_B >= 1000 ? "%.0f %s" : "%.3g %s", value_B, names[i]);
	return out;
}

const char *jl_grouped_text(char out[JL_UNITS_TEXT_MAX], double whole)
{
	char digits[32];
	/* larger numbers use powers of ten */
	const size_t n = (size_t)snprintf(digits, sizeof digits, fabs(whole) < 1e20 ? "%.0f" : "%.3g", whole);
	size_t at = 0;

	if (!(fabs(whole) < 1e20)) {
		(void)snprintf(out, JL_UNITS_TEXT_MAX, "%s", digits);
		return out;
	}

	for (size_t i = 0; i < n && at + 2 < JL_UNITS_TEXT_MAX; i++) {
		if (i && (n - i) % 3 == 0 && digits[i - 1] != '-')
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

const char *jl_about_text(char out[JL_UNITS_TEXT_MAX], double value)
{
	const double unit = value > 0 ? pow(10, floor(log10(value)) - 1) : 1;

	if (isnan(value) || !(value > 0)) {
		snprintf(out, JL_UNITS_TEXT_MAX, isnan(value) ? "?" : "%.2g", value);
		return out;
	}
	if (value < 10) { /* 0.000021, not 2.1e-05: such figures are beside larger ones */
		const double rounded = floor(value / unit + 0.5) * unit;

		snprintf(out, JL_UNITS_TEXT_MAX, value < 1e-4 && value >= 1e-6 ? "%.*f" : "%.*g",
			 value < 1e-4 && value >= 1e-6 ? 1 - (int)floor(log10(rounded) + 1e-9) : 2, value);
		return out;
	}
	return jl_grouped_text(out, floor(value / unit + 0.5) * unit);
}

const char *jl_count_text(char out[JL_UNITS_TEXT_MAX], double n)
{
	if (n >= 10000)
		return jl_grouped_text(out, n);
	snprintf(out, JL_UNITS_TEXT_MAX, "%.0f", n);
	return out;
}

/* "(0.64–1.2)" after the value `shown`: both ends in its unit. `exact` has the same unit and more digits, or is NULL. */
static bool ends_text(char out[JL_RANGE_TEXT_MAX], const char *shown, const char *exact, double value, double lo,
		      double hi, int n_digits)
{
	char lo_text[JL_UNITS_TEXT_MAX], hi_text[JL_UNITS_TEXT_MAX];
	const char *unit = strchr(shown, ' '), *exact_unit = exact ? strchr(exact, ' ') : NULL;
	double number = NAN, scale;
	size_t used = 0;

	/* If rounding changes the unit (999.7 ms), the rounded number is used. */
	if (jl_num_parse(unit && exact_unit && strcmp(unit, exact_unit) == 0 ? exact : shown, &number, &used) !=
		    JL_NUM_OK ||
	    !(number > 0))
		return false;
	scale = value / number;
	if (n_digits > 2) {
		jl_units_text(lo_text, lo / scale, JL_K_NUMBER, n_digits);
		jl_units_text(hi_text, hi / scale, JL_K_NUMBER, n_digits);
	} else {
		jl_about_text(lo_text, lo / scale);
		jl_about_text(hi_text, hi / scale);
	}
	snprintf(out, JL_RANGE_TEXT_MAX, " (%s–%s)", lo_text, hi_text);
	return true;
}

const char *jl_range_text(char out[JL_RANGE_TEXT_MAX], double value, double lo, double hi, enum jl_kind kind)
{
	char shown[JL_UNITS_TEXT_MAX], exact[JL_UNITS_TEXT_MAX], ends[JL_RANGE_TEXT_MAX] = "",
								 digits[JL_UNITS_TEXT_MAX];
	const char *unit, *power;

	jl_units_text(shown, value, kind, 2);
	ends_text(ends, shown, jl_units_text(exact, value, kind, 12), value, lo, hi, 2);
	unit = strchr(shown, ' ');
	power = strchr(shown, 'e');
	if (*ends && power && unit && power < unit) { /* 2.4e-5: in digits, like its ends */
		double number = NAN;
		size_t used;

		(void)jl_num_parse(shown, &number, &used);
		snprintf(out, JL_RANGE_TEXT_MAX, "%s%s%.100s", jl_about_text(digits, number), unit, ends);
	} else {
		jl_units_localize(shown);
		snprintf(out, JL_RANGE_TEXT_MAX, "%s%.100s", shown, ends);
	}
	return out;
}

const char *jl_bar_text(char out[3 * JL_BAR_MAX + 1], double frac, int width)
{
	const int full = (int)floor(frac * width + 0.5);
	const size_t block_B = strlen("█"); /* both blocks have the same byte length */
	size_t at = 0;

	for (int i = 0; i < width && i < JL_BAR_MAX; i++, at += block_B)
		memcpy(out + at, i < full ? "█" : "░", block_B);
	out[at] = '\0';
	return out;
}

static bool has_interval(const struct jl_num *num)
{
	return !isnan(num->lo) && !isnan(num->hi) && num->hi > num->lo;
}

/* In English units, so that both ends use the same one. */
static const char *value_text(char out[JL_UNITS_TEXT_MAX], double value, const struct jl_num *num)
{
	const int digits = num->n_digits ? num->n_digits : num->show_interval && has_interval(num) ? 2 : 3;

	if (num->kind == JL_K_BYTES && num->binary)
		return jl_memory_text(out, value);
	if (num->kind == JL_K_NUMBER && !num->n_digits && num->n_decimals > 0) {
		snprintf(out, JL_UNITS_TEXT_MAX, "%.*f", num->n_decimals, value);
		return out;
	}
	return jl_units_text(out, value, num->kind, digits);
}

static void print_value(struct jl_buf *out, double value, const struct jl_num *num)
{
	char text[JL_UNITS_TEXT_MAX];

	value_text(text, value, num);
	jl_units_localize(text);
	jl_buf_puts(out, text);
}

static void print_ends(struct jl_buf *out, const struct jl_num *num)
{
	jl_buf_puts(out, " (");
	print_value(out, num->lo, num);
	jl_buf_puts(out, "–");
	print_value(out, num->hi, num);
	jl_buf_puts(out, ")");
}

/* 860 ms (620–1,200) */
static void print_quantity(struct jl_buf *out, const struct jl_num *num)
{
	char shown[JL_UNITS_TEXT_MAX], ends[JL_RANGE_TEXT_MAX];

	print_value(out, num->value, num);
	if (num->show_interval && has_interval(num)) {
		const char *more = num->binary ? NULL : jl_units_text(JL_TXT, num->value, num->kind, 12);

		if (ends_text(ends, value_text(shown, num->value, num), more, num->value, num->lo, num->hi,
			      num->n_digits))
			jl_buf_puts(out, ends);
		else /* zero, or negative */
			print_ends(out, num);
	}
}

/* 27 samples/s (25–30), 1.9x (1.8–1.95) */
static void print_count(struct jl_buf *out, const struct jl_num *num)
{
	bool close = false;
	const char *unit = num->unit ? jl_unit_localized(num->unit, &close) : "";

	print_value(out, num->value, num);
	jl_buf_printf(out, "%s%s", *unit && !close && (unsigned char)*unit < 0xea ? " " : "", unit);
	if (num->show_interval && has_interval(num))
		print_ends(out, num);
}

struct jl_num jl_num_digits(struct jl_num num, int n_digits)
{
	num.n_digits = n_digits;
	return num;
}

struct jl_num jl_num_binary(struct jl_num num)
{
	num.binary = true;
	return num;
}

struct jl_num jl_num_ranged(struct jl_num num)
{
	num.show_interval = true;
	return num;
}

void jl_num_print(struct jl_buf *out, const struct jl_num *num)
{
	if (num->text)
		jl_buf_puts(out, num->text);
	else if (isnan(num->value))
		jl_buf_puts(out, "—");
	else if (num->kind == JL_K_NUMBER)
		print_count(out, num);
	else
		print_quantity(out, num);
	if (!num->show_source)
		return;
	jl_buf_printf(out, " %s", jl_origin_mark(num->origin));
	if (num->source)
		jl_buf_printf(out, " %s%s", num->source, num->date ? "," : "");
	if (num->date)
		jl_buf_printf(out, " %s", num->date);
}

void jl_num_tell(struct jl_buf *out, const struct jl_num *num)
{
	struct jl_num full = *num;

	full.text = NULL;
	full.n_digits = full.n_digits > 5 ? full.n_digits : 5;
	full.n_decimals = 0;
	full.show_interval = full.show_source = false;
	jl_num_print(out, &full);
	if (has_interval(num)) {
		jl_buf_puts(out, JL_(", 80 % interval "));
		full.n_digits = num->n_digits;
		print_value(out, num->lo, &full);
		jl_buf_puts(out, "–");
		print_value(out, num->hi, &full);
	}
	jl_buf_printf(out, ", %s", jl_origin_word(num->origin));
	if (num->source)
		jl_buf_printf(out, ", %s", num->source);
	if (num->date)
		jl_buf_printf(out, ", %s", num->date);
	if (num->note)
		jl_buf_printf(out, " (%s)", num->note);
}
