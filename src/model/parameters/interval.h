/* Uncertainty of answers: half widths, as ln, of 80 % intervals. One model for all modules:
 *
 *     half_ln² = base(answer)² + Σ (reason · x)² + spread²
 *
 * with a base per kind of answer and weights of the reasons to doubt it. Base and weights are fitted to published measurements that were predicted
 * without their own source, and stored as catalog data ("interval."; docs/METHOD.md §10). The catalog also records what has been measured
 * ("seen."). */
#pragma once

#include <stdbool.h>

#include "parameters/params.h"

enum jl_asked {
	JL_ASKED_STEP,   /* training step of a transformer, seconds */
	JL_ASKED_MEMORY, /* device memory in training */
	JL_ASKED_TUNE,   /* fine-tuning step, seconds */
	JL_ASKED_TUNE_MEMORY,
	JL_ASKED_NETWORK,    /* training step of any other network, seconds */
	JL_ASKED_COLLECTIVE, /* a collective alone, seconds */
	JL_ASKED_PRODUCT,    /* a matrix product, seconds */
	JL_ASKED_RATE,       /* other rates of one device: memory, a link, a layer */
	JL_ASKED_POWER,
	JL_ASKED_PROMPT, /* one engine: prompt time, decode step time, time per token under full load */
	JL_ASKED_DECODE,
	JL_ASKED_LOAD,
	JL_ASKED_FIRST, /* frameworks under load: time to first token, time per further token */
	JL_ASKED_NEXT,
	JL_ASKED_FIRST_APART, /* the same with separate GPUs for prefill */
	JL_ASKED_NEXT_APART,
	JL_ASKED_FORWARD, /* inference of a network that is not a plain transformer */
	JL_ASKED_PROGRAM, /* step of a captured program, seconds */
	JL_ASKED_OP_GEMM, /* one operator of a serving engine, in the order of enum jl_op_set */
	JL_ASKED_OP_PROMPT,
	JL_ASKED_OP_ANSWER,
	JL_ASKED_OP_LATENT,
	JL_ASKED_OP_EXPERT,
	JL_ASKED_OP_EXCHANGE,
	JL_N_ASKED
};

enum jl_reason {
	JL_DOUBT_GPU,    /* 1: device never measured */
	JL_DOUBT_FAMILY, /* 1: its family never measured either */
	JL_DOUBT_KIND,   /* 1: its kind never measured: framework, engine, operation, number format */
	JL_DOUBT_MODEL,  /* 1: this network never measured, only others with the same operators */
	JL_DOUBT_FEW,    /* jl_few: few sources measured this device with this kind */
	/* jl_few: few sources measured this device with this code or format, or code and format together */
	JL_DOUBT_NEAR,
	JL_DOUBT_CODE,    /* jl_code_doubt: codebase unknown, or measured by few sources */
	JL_DOUBT_LINK,    /* share of the time on link types never measured for this answer */
	JL_DOUBT_EXPOSED, /* share of a step that waits for links */
	JL_DOUBT_LAUNCH,  /* share of fixed start-up times in the answer */
	JL_DOUBT_HOST,    /* share of a step that depends on an unknown host's speed */
	JL_DOUBT_ASSUMED, /* square root of the number of assumed inputs */
	JL_DOUBT_HOSTS,   /* 1: the system has several hosts */
	JL_DOUBT_FAR,     /* distance, as ln, of size, batch and device count from the measured range */
	JL_N_DOUBT
};

struct jl_doubt {
	double x[JL_N_DOUBT];
	double spread_ln; /* spread, as ln, of the answer over the systems that the request leaves open */
};

/* Size of a request, in ln; NAN: not applicable. */
enum jl_extent {
	JL_EXTENT_SIZE,  /* parameters of a model, bytes of a collective, FLOP of a product */
	JL_EXTENT_BATCH, /* tokens or samples per device and step */
	JL_EXTENT_GPUS,
	JL_N_EXTENT
};

struct jl_widths {
	double base_ln[JL_N_ASKED];
	double reason_ln[JL_N_DOUBT];
	double shared_frac; /* correlation of the errors of two answers of one kind, which cancels in their ratio */
	/* measured range, as ln; NAN: nothing measured */
	double least[JL_N_ASKED][JL_N_EXTENT], most[JL_N_ASKED][JL_N_EXTENT];
};

/* As parameters: bases, then reasons. shared_frac is computed afterwards and is not one of them. */
#define JL_WIDTH_N_PARAM (JL_N_ASKED + JL_N_DOUBT)
extern const struct jl_param_list jl_width_params;
#define JL_WIDTH_SHARED "interval.shared_frac"
const char *jl_asked_id(enum jl_asked answer);
const char *jl_extent_id(enum jl_extent extent);
const char *jl_reason_id(enum jl_reason reason);

/* From a parameter vector; and from the catalog, with priors for missing values. */
void jl_widths_of(struct jl_widths *widths, const double *x);
void jl_widths_read(struct jl_widths *ret_widths, const struct jl_catalog *cat);

double jl_half_ln(const struct jl_widths *widths, enum jl_asked answer, const struct jl_doubt *doubt);
/* Half width of the ratio of two answers of one kind, from their half widths. */
double jl_ratio_half_ln(const struct jl_widths *widths, double a_half_ln, double b_half_ln);

/* Distance outside the measured range: root of the sum of squares; 0: inside, or nothing is known. */
double jl_far_ln(const struct jl_widths *widths, enum jl_asked answer, const double extent_ln[JL_N_EXTENT]);

/* True if there is a measurement. what: "gpu", "family", "kind", "link"; label: an id of the catalog or of the model's kinds. */
#define JL_SEEN_ID_MAX 120
void jl_seen_id(char out[JL_SEEN_ID_MAX], enum jl_asked answer, const char *what, const char *label);
bool jl_seen(const struct jl_catalog *cat, enum jl_asked answer, const char *what, const char *label);
double jl_times_seen(const struct jl_catalog *cat, enum jl_asked answer, const char *what,
		     const char *label); /* number of measurements */

/* Nearness to measurements. A request, like a measurement, has a device, a kind, a codebase and a format. Sources are counted for pairs of these,
 * each source once; the fewer, the wider the interval. */
struct jl_axes {
	const char *device; /* id of the measured device; for products its family, whose chips compute alike */
	const char *kind;   /* framework profile, operation, or kind of network */
	const char *code;   /* codebase, or engine with version */
	const char *format; /* compute format of products */
};                          /* NULL or "": unstated or not applicable */

enum jl_pair {
	JL_PAIR_DEVICE_KIND,
	JL_PAIR_DEVICE_CODE,
	JL_PAIR_DEVICE_FORMAT,
	JL_PAIR_CODE_FORMAT,
	JL_PAIR_CODE,
	JL_N_PAIR
};
/* Id under which the sources of a pair are counted, "seen.step.device_code.h100-sxm.torchtitan"; false: one of the two is unstated, or this answer
 * does not count sources. */
bool jl_pair_id(char out[JL_SEEN_ID_MAX], enum jl_asked answer, const struct jl_axes *axes, enum jl_pair pair);
/* Root mean of 1/(1 + sources) over the stated pairs; 1: no source measured any of them, 0: not counted. */
double jl_few(const struct jl_catalog *cat, enum jl_asked answer, const struct jl_axes *axes);
/* JL_DOUBT_CODE: 1/√(1 + sources) of the codebase; 1: unstated, 0: not counted. */
double jl_code_doubt(const struct jl_catalog *cat, enum jl_asked answer, const char *code);
