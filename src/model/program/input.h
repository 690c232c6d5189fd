/* The input pipeline of a training run: what a host's processor and storage must do for each sample. */
#pragma once

#include "catalog/catalog.h"

enum jl_input_kind {
	JL_INPUT_SYNTHETIC,  /* no input at all: what benchmarks run */
	JL_INPUT_TOKENS,     /* prepared beforehand: token ids, spectrograms */
	JL_INPUT_IMAGES,     /* compressed images, decoded and augmented by the host's threads */
	JL_INPUT_IMAGES_GPU, /* the same with the decoding and augmenting on the GPU (DALI, nvJPEG) */
	JL_N_INPUT
};

struct jl_input {
	enum jl_input_kind kind;
	double sample_s;    /* time of one thread for one sample */
	double sample_B;    /* read from storage for one sample */
	double n_threads;   /* of one host that load */
	double storage_Bps; /* of one host; NAN: never the bound */
	double half_ln;     /* how sure sample_s is: half an 80 % interval, as ln */
};

#define JL_INPUT_GIVEN_HALF_LN 0.15 /* of a rate or time that a person states */

/* What a sample of this kind needs, by the catalog's figures (input-*). `pixels`: of the image that the network takes (0: 224 x 224); `elements`: of a sample
 * that is prepared, two bytes each. */
struct jl_input jl_input_of(const struct jl_catalog *cat, enum jl_input_kind kind, double pixels, double elements);

struct jl_input_time {
	double input_s;   /* of one step: the slower of the two */
	double threads_s; /* the threads' part */
	double storage_s; /* the storage's part */
	double half_ln;   /* how sure input_s is */
};
struct jl_input_time jl_input_time(const struct jl_input *in, double samples_per_host);

const char *jl_input_name(enum jl_input_kind kind);
