/* How far off an answer may be: half widths, as ln, of 80 % intervals. One small model for every room:
 *
 *     half_ln² = base(answer)² + Σ (reason · x)² + spread²
 *
 * with a base of each kind of answer and a few reasons to doubt it. All of them are fitted on published measurements that were
 * predicted without their source, and kept as catalog data ("interval."; docs/METHOD.md §10); so is what has been measured
 * at all ("seen."). */
#pragma once

#include <stdbool.h>

#include "parameters/params.h"

/* What is answered. */
enum jl_asked {
	JL_ASKED_STEP,   /* time of a training step of a transformer */
	JL_ASKED_MEMORY, /* what a device holds while it trains */
	JL_ASKED_TUNE,   /* time of a step of fine-tuning */
	JL_ASKED_TUNE_MEMORY,
	JL_ASKED_NETWORK,    /* time of a training step of any other network */
	JL_ASKED_COLLECTIVE, /* time of a collective by itself */
	JL_ASKED_PRODUCT,    /* time of a matrix product */
	JL_ASKED_RATE,       /* of memory, a link, a layer: one device's other figures */
	JL_ASKED_POWER,
	JL_ASKED_PROMPT, /* one engine at work: time of a prompt, of a step of decoding, of a token under full load */
	JL_ASKED_DECODE,
	JL_ASKED_LOAD,
	JL_ASKED_FIRST, /* frameworks under a number of requests: time to the first token, of each further one */
	JL_ASKED_NEXT,
	JL_ASKED_FIRST_APART, /* the same where prompts have GPUs of their own */
	JL_ASKED_NEXT_APART,
	JL_ASKED_FORWARD, /* inference of a network that is no plain transformer */
	JL_ASKED_PROGRAM, /* time of a step of a captured program */
	JL_ASKED_OP_GEMM, /* one operator of a serving engine, in the order of enum jl_op_set */
	JL_ASKED_OP_PROMPT,
	JL_ASKED_OP_ANSWER,
	JL_ASKED_OP_LATENT,
	JL_ASKED_OP_EXPERT,
	JL_ASKED_OP_EXCHANGE,
	JL_N_ASKED
};

enum jl_reason {
	JL_DOUBT_GPU,     /* 1: no measurements of this device */
	JL_DOUBT_FAMILY,  /* 1: nor of its family */
	JL_DOUBT_KIND,    /* 1: none of its kind: framework, engine, operation, number format */
	JL_DOUBT_MODEL,   /* 1: no measurement of this network, only of others with the same operators */
	JL_DOUBT_FEW,     /* jl_few: few sources have measured this device with this kind of thing */
	JL_DOUBT_NEAR,    /* jl_few: or few this device with this code or format, or the two together */
	JL_DOUBT_CODE,    /* jl_code_doubt: whose code runs is not stated, or few have measured it */
	JL_DOUBT_LINK,    /* share of the time that such links take as were never measured so */
	JL_DOUBT_EXPOSED, /* share of a step that waits for links */
	JL_DOUBT_LAUNCH,  /* share of an answer that is fixed times of starting something */
	JL_DOUBT_HOST,    /* share of a step that follows the speed of an unknown host */
	JL_DOUBT_ASSUMED, /* root of the number of inputs that are assumed */
	JL_DOUBT_HOSTS,   /* 1: several hosts */
	JL_DOUBT_FAR,     /* how far, as ln, its size, batch and devices are outside of all that was measured */
	JL_N_DOUBT
};

struct jl_doubt {
	double x[JL_N_DOUBT];
	double spread_ln; /* how far the answer moves between the systems that the question leaves open */
};

/* How large a question is: all in ln, NAN where it means nothing. */
enum jl_extent {
	JL_EXTENT_SIZE,  /* parameters of a model, bytes of a collective, FLOP of a product */
	JL_EXTENT_BATCH, /* tokens or samples of one device and step */
	JL_EXTENT_GPUS,
	JL_N_EXTENT
};

struct jl_widths {
	double base_ln[JL_N_ASKED];
	double reason_ln[JL_N_DOUBT];
	double shared_frac; /* correlation of the errors of two answers of one kind: what a ratio of them is spared */
	double least[JL_N_ASKED][JL_N_EXTENT], most[JL_N_ASKED][JL_N_EXTENT]; /* measured, as ln; NAN: nothing */
};

/* As parameters: bases, then reasons. The correlation is found after them and is not among these. */
#define JL_WIDTH_N_PARAM (JL_N_ASKED + JL_N_DOUBT)
extern const struct jl_param_list jl_width_params;
#define JL_WIDTH_SHARED "interval.shared_frac"
const char *jl_asked_id(enum jl_asked answer);
const char *jl_extent_id(enum jl_extent extent);
const char *jl_reason_id(enum jl_reason reason);

/* From a vector of them, and from the catalog: what it does not say has its prior. */
void jl_widths_of(struct jl_widths *widths, const double *x);
void jl_widths_read(struct jl_widths *ret_widths, const struct jl_catalog *cat);

double jl_half_ln(const struct jl_widths *widths, enum jl_asked answer, const struct jl_doubt *doubt);
/* Of the ratio of two answers of one kind, whose half widths these are. */
double jl_ratio_half_ln(const struct jl_widths *widths, double a_half_ln, double b_half_ln);

/* How far outside: the root of the sum of squares; 0 inside, and where nothing is known. */
double jl_far_ln(const struct jl_widths *widths, enum jl_asked answer, const double extent_ln[JL_N_EXTENT]);

/* Is there a measurement? what: "gpu", "family", "kind", "link"; label: ids of the catalog or of the model's kinds. */
#define JL_SEEN_ID_MAX 120
void jl_seen_id(char out[JL_SEEN_ID_MAX], enum jl_asked answer, const char *what, const char *label);
bool jl_seen(const struct jl_catalog *cat, enum jl_asked answer, const char *what, const char *label);
double jl_times_seen(const struct jl_catalog *cat, enum jl_asked answer, const char *what,
		     const char *label); /* how many */

/* Nearness: off the map an interval widens. A question, as a measurement, is of a device, a kind, a codebase and a format; sources are
 * counted for pairs of these, each once, and the fewer have measured a pair, the less is known. */
struct jl_axes {
	const char *device; /* id of the device that was measured; of products, whose chips compute alike, its family */
	const char *kind;   /* framework profile, operation, kind of network */
	const char *code;   /* codebase or engine with its version */
	const char *format; /* what products compute in */
};                          /* NULL or "": not stated, or means nothing */

enum jl_pair {
	JL_PAIR_DEVICE_KIND,
	JL_PAIR_DEVICE_CODE,
	JL_PAIR_DEVICE_FORMAT,
	JL_PAIR_CODE_FORMAT,
	JL_PAIR_CODE,
	JL_N_PAIR
};
/* The id that sources of a pair are counted under, "seen.step.device_code.h100-sxm.torchtitan"; false: one of the two is not stated, or
 * sources of this answer are not counted. */
bool jl_pair_id(char out[JL_SEEN_ID_MAX], enum jl_asked answer, const struct jl_axes *axes, enum jl_pair pair);
/* Root of the mean of 1/(1 + sources) over the stated pairs; 1: none has measured any of them, 0: nothing is counted. */
double jl_few(const struct jl_catalog *cat, enum jl_asked answer, const struct jl_axes *axes);
/* JL_DOUBT_CODE: 1/√(1 + sources) of the code; 1 where it is not stated, 0 where sources are not counted. */
double jl_code_doubt(const struct jl_catalog *cat, enum jl_asked answer, const char *code);
