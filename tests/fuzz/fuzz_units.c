/* Whatever is typed as a quantity is either refused with a message in both languages, or is a finite value that
 * survives being printed and read again. The first byte chooses the kind that is wanted. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/utf8.h"

#define TEXT_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_message(const struct jl_err *err)
{
	must(err->status != JL_OK && err->en[0] && err->text[0]);
	must(jl_utf8_valid(err->en, strlen(err->en), NULL) && jl_utf8_valid(err->text, strlen(err->text), NULL));
}

static void check_round_trip(const struct jl_quantity *quantity)
{
	char text[JL_UNITS_TEXT_MAX];
	double back = NAN;

	for (int n_digits = 1; n_digits <= 15; n_digits += 7) {
		double allowed = 0.51 * pow(10, 1 - n_digits) * fabs(quantity->value) + 1e-300;
		jl_units_text(text, quantity->value, quantity->kind, n_digits);
		must(strlen(text) < JL_UNITS_TEXT_MAX && jl_utf8_valid(text, strlen(text), NULL));
		if (strstr(text, "∞"))
			continue; /* 1e300 USD/J is more USD/kWh than a double holds */
		if (jl_units_parse(&back, text, quantity->kind, "printed", NULL)) {
			must(fabs(quantity->value) > 1e300); /* rounded up beyond the largest double */
			continue;
		}
		must(fabs(back - quantity->value) <= allowed);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_MAX + 1];
	struct jl_err err = { .status = JL_OK };
	struct jl_quantity quantity = { .value = -7, .kind = JL_N_KIND };
	enum jl_kind wanted;
	long long n = -7;
	long day = -7;

	if (size == 0 || size > TEXT_MAX)
		return 0;
	wanted = (enum jl_kind)(data[0] % JL_N_KIND);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (jl_quantity_parse(&quantity, text, wanted, "--x", &err)) {
		check_message(&err);
		must(quantity.value == -7 && quantity.kind == JL_N_KIND);
	} else {
		must(isfinite(quantity.value));
		must(quantity.kind == wanted || wanted == JL_K_MONEY);
		check_round_trip(&quantity);
	}
	if (jl_units_parse_count(&n, text, -1000, 1000000, "--n", &err)) {
		check_message(&err);
		must(n == -7);
	} else {
		must(n >= -1000 && n <= 1000000);
	}
	if (jl_date_parse(&day, text, &err)) {
		check_message(&err);
		must(day == -7);
	}
	return 0;
}
