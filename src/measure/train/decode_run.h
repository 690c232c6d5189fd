/* `jeoul bench infer`: prompts and tokens of a decoder, timed for several batches, with what is predicted beside.
 *
 *   kind infer; params model precision weights batch prompt answer n_threads
 *   metrics tokens_per_s (judged, of the whole batch), ttft_s (a prompt each to their first tokens), tpot_s (one token of all), tpot_p90_s,
 *   mem_B, bandwidth_frac (bytes that a token must read over its time, of the rate of copying), [predicted_ttft_s, predicted_tpot_s],
 *   gemm_flopps, copy_Bps */
#pragma once

#include "record/draft.h"
#include "train/decode.h"
#include "train/run.h"

#define JL_DECODE_BATCHES_MAX 16
#define JL_DECODE_SAMPLES_MAX 4096

struct jl_decode_result {
	size_t batch;
	struct jl_stats ttft_s, tpot_s;
	double tpot_p90_s, read_B, mem_B;
	int n_threads;
	char versions[128], noise_why[160];
	struct jl_train_rates rates;
	struct jl_estimate ttft_predicted_s, tpot_predicted_s; /* NAN: not known */
	struct jl_record_noise noise;
	size_t n_samples;
	double samples_s[JL_DECODE_SAMPLES_MAX]; /* of tokens */
};

struct jl_decode_run {
	/* Model, kernels, precision, threads, catalog and machine; `seq` tokens of a prompt; `time_s` of one batch. Its `tick` may end it. */
	struct jl_train_run base;
	size_t answer; /* tokens */
	bool int8;
	size_t batches[JL_DECODE_BATCHES_MAX], n_batches;
	void (*done)(void *ctx, const struct jl_decode_result *result); /* as each batch is */
};

enum jl_status jl_decode_run(const struct jl_decode_run *run, struct jl_err *err);

/* predict.c */
void jl_decode_predict(struct jl_decode_result *result, const struct jl_decode_run *run);

double jl_decode_bandwidth_frac(const struct jl_decode_result *result);
/* As jl_train_record. */
struct jl_record jl_decode_record(struct jl_draft *draft, const struct jl_decode_result *r,
				  const struct jl_decode_run *run);
