/* Converts a result of the training benchmark to a record for the store and for --json. [..]: may be absent.
 *
 *   kind train; params model mode precision n_workers batch seq accumulate n_threads n_params tokens
 *   metrics, per step: samples_per_s (decides comparisons), step_s, exposed_s, mem_B, loss, cpu_s, [gemm_frac, gemm_cpu_frac], [energy_J,
 *   energy_per_sample_J: the host's on backend cpu, the GPUs' on cuda], [predicted_samples_per_s], [forward_s, head_s, backward_s, update_s];
 *   of the machine: [gemm_flopps, copy_Bps, allreduce_Bps]
 *
 *   kind infer; params model precision weights batch prompt answer n_threads
 *   metrics tokens_per_s (decides comparisons; whole batch), ttft_s (prompts to first tokens), tpot_s (one token of every sample),
 *   tpot_p90_s, mem_B, [bandwidth_frac], [predicted_ttft_s, predicted_tpot_s], [gemm_flopps, copy_Bps] */
#pragma once

#include "record/record.h"
#include "train/run.h"

/* Like jl_bench_record. The record points into `draft`, `result` and `run`, which must outlive it. */
struct jl_record jl_train_record(struct jl_draft *draft, const struct jl_train_result *result,
				 const struct jl_train_run *run);

/* FLOP/s of the step over the measured FLOP/s of the largest product; NAN: not measured. */
double jl_train_gemm_frac(const struct jl_train_result *result);
/* The same in CPU time instead of wall-clock time, so that other processes do not affect it. NAN on a GPU. */
double jl_train_gemm_cpu_frac(const struct jl_train_result *result, const struct jl_train_run *run);
