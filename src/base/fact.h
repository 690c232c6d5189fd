/* A value with its origin: source, date, interval. */
#pragma once

#include <stdbool.h>

enum jl_origin {
	JL_ORIGIN_NONE, /* unknown; value is NAN */
	JL_MEASURED,    /* by this program on this machine */
	JL_PUBLISHED,   /* measured and published by others */
	JL_LISTED,      /* stated by a vendor or dealer: specification, price list */
	JL_ESTIMATED    /* computed or judged; has an interval where one is known */
};

/* Share of true values that an interval should contain. */
#define JL_INTERVAL_FRAC 0.8
/* Relative margin around an interval: a value without an uncertainty of its own counts as outside only beyond it. */
#define JL_EDGE_FRAC 0.02

/* Intervals contain 80 % of true values, so one healthy device in ten would be below. Verdicts use 95 % intervals: wider by 1.96 / 1.28 (normal
 * distribution). */
#define JL_VERDICT_WIDER 1.53

struct jl_fact {
	double value;  /* SI base units; NAN: unknown */
	double lo, hi; /* 80 % interval of an estimate; NAN: none */
	enum jl_origin origin;
	const char *source; /* id of an entry in sources.yaml */
	const char *date;   /* YYYY, YYYY-MM or YYYY-MM-DD */
	const char *note;   /* NULL: none */
};

#define JL_FACT_UNKNOWN                                                                                                \
	((struct jl_fact){ .value = __builtin_nan(""), .lo = __builtin_nan(""), .hi = __builtin_nan("") })

bool jl_fact_known(const struct jl_fact *fact);
const char *jl_origin_name(enum jl_origin origin); /* "measured", ... */
const char *jl_origin_mark(enum jl_origin origin); /* one character: ● measured, ◆ published, ◇ listed, ○ estimated */
