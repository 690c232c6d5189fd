/* A fact: a value that knows where it comes from. */
#pragma once

#include <stdbool.h>

enum jl_origin {
	JL_ORIGIN_NONE, /* unknown: value is NAN */
	JL_MEASURED,    /* by this program, on this machine */
	JL_PUBLISHED,   /* measured and published by others */
	JL_LISTED,      /* a vendor's or dealer's word: specification, price list */
	JL_ESTIMATED    /* computed or judged; carries an interval where there is one */
};

/* How many of the true figures lie inside an interval. */
#define JL_INTERVAL_FRAC 0.8
/* A figure without an uncertainty counts as outside an interval only beyond this margin. */
#define JL_EDGE_FRAC 0.02

/* An interval holds four fifths; one healthy device in ten would be called slow. A verdict takes what holds nineteen of twenty,
 * by the ratio of the two under a normal distribution. */
#define JL_VERDICT_WIDER 1.53

struct jl_fact {
	double value;  /* SI base units; NAN: unknown */
	double lo, hi; /* 80 % interval of an estimate; NAN: none given */
	enum jl_origin origin;
	const char *source; /* id of an entry in sources.yaml */
	const char *date;   /* YYYY, YYYY-MM or YYYY-MM-DD */
	const char *note;   /* or NULL */
};

#define JL_FACT_UNKNOWN                                                                                                \
	((struct jl_fact){ .value = __builtin_nan(""), .lo = __builtin_nan(""), .hi = __builtin_nan("") })

bool jl_fact_known(const struct jl_fact *fact);
const char *jl_origin_name(enum jl_origin origin); /* "measured", ... */
const char *jl_origin_mark(enum jl_origin origin); /* one sign each: ● measured, ◆ published, ◇ listed, ○ estimated */
