/* Input pipeline of a training run: work of a host's CPU threads and storage per sample. */
#pragma once

#include "catalog/catalog.h"

enum jl_input_kind {
	JL_INPUT_SYNTHETIC,  /* no input, as in benchmarks */
	JL_INPUT_TOKENS,     /* preprocessed: token ids, spectrograms */
	JL_INPUT_IMAGES,     /* compressed images, decoded and augmented by CPU threads */
	JL_INPUT_IMAGES_GPU, /* the same, decoded and augmented on the GPU (DALI, nvJPEG) */
	JL_N_INPUT
};

struct jl_input {
	enum jl_input_kind kind;
	double sample_s;    /* seconds of one thread per sample */
	double sample_B;    /* bytes read from storage per sample */
	double n_threads;   /* loader threads per host */
	double storage_Bps; /* per host; NAN: never limits */
	double half_ln;     /* uncertainty of sample_s: half an 80 % interval, as ln */
};

#define JL_INPUT_GIVEN_HALF_LN 0.15 /* for a rate or time given by the user */

/* Cost of a sample from the catalog's figures (input-*). `pixels`: of the network's input image (0: 224 x 224); `elements`: of a preprocessed
 * sample, two bytes each. */
struct jl_input jl_input_of(const struct jl_catalog *cat, enum jl_input_kind kind, double pixels, double elements);

struct jl_input_time {
	double input_s;   /* seconds per step: the larger of the two parts */
	double threads_s; /* seconds of the threads' part */
	double storage_s; /* seconds of the storage's part */
	double half_ln;   /* uncertainty of input_s */
};
struct jl_input_time jl_input_time(const struct jl_input *in, double samples_per_host);

const char *jl_input_name(enum jl_input_kind kind);
