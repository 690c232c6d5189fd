/* A displayed number: value, unit, interval, origin, source. Defines the format of all figures. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/fact.h"
#include "base/units.h"

struct jl_num {
	double value;
	enum jl_kind kind;  /* determines prefix and unit; JL_K_NUMBER takes `unit` */
	const char *unit;   /* "x", "GPU", "samples/s" behind a plain number; NULL: none */
	const char *text;   /* replaces value and unit; NULL: none */
	int n_digits;       /* significant; 0: three, with interval two */
	int n_decimals;     /* of a plain number, when n_digits is 0 and this is above 0 */
	double lo, hi;      /* 80 % interval; NAN or 0/0: none */
	bool show_interval; /* in the text, not only behind it */
	bool show_source;   /* in the text: "3.06 USD/h ◇ AWS, us-east-1, 2025-06-04" */
	bool binary;        /* bytes of memory: 24 GiB */
	enum jl_origin origin;
	const char *source, *date, *note; /* or NULL */
};

#define JL_NUM(v, k, o) ((struct jl_num){ .value = (v), .kind = (k), .origin = (o) })

/* With this many significant digits; as bytes of memory; with its interval in the text. */
struct jl_num jl_num_digits(struct jl_num num, int n_digits);
struct jl_num jl_num_binary(struct jl_num num);
struct jl_num jl_num_ranged(struct jl_num num);
/* The displayed number: "147 ms", "1.91x", "860 ms (620–1,200)": the unit once, after the value, for both ends. */
void jl_num_print(struct jl_buf *out, const struct jl_num *num);
/* All metadata in one line: "0.147 s, 80 % interval 0.13–0.16 s, estimated, docs/METHOD.md, 2026-11". */
void jl_num_tell(struct jl_buf *out, const struct jl_num *num);

/* Parts of texts; each returns `out`. */
/* "24 GiB": bytes of memory. */
const char *jl_memory_text(char out[JL_UNITS_TEXT_MAX], double value_B);
/* Two digits, with separators: 46, 2,400; "?" if unknown. */
const char *jl_about_text(char out[JL_UNITS_TEXT_MAX], double value);
/* A whole number with separators: 19,252. */
const char *jl_grouped_text(char out[JL_UNITS_TEXT_MAX], double whole);
/* Samples, tokens, steps: 8192, but 100,000. */
const char *jl_count_text(char out[JL_UNITS_TEXT_MAX], double n);
/* "0.87 s (0.64–1.2)" */
#define JL_RANGE_TEXT_MAX 160
const char *jl_range_text(char out[JL_RANGE_TEXT_MAX], double value, double lo, double hi, enum jl_kind kind);
/* A bar of `width` cells, filled to `frac`. */
#define JL_BAR_MAX 24
const char *jl_bar_text(char out[3 * JL_BAR_MAX + 1], double frac, int width);
