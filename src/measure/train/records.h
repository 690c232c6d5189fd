/* A result of the training benchmark as a record for the store and for --json.
 *
 *   kind train; params model mode precision n_workers batch seq accumulate n_threads n_params tokens
 *   metrics samples_per_s (judged), step_s, exposed_s, mem_B, loss, cpu_s, [gemm_frac, gemm_cpu_frac], [energy_J,
 *   energy_per_sample_J: backend cpu the host's, cuda that of the GPUs], [predicted_samples_per_s], of the step
 *   [forward_s, head_s, backward_s, update_s], of the machine [gemm_flopps, copy_Bps,
 *   allreduce_Bps]
 *
 *   kind infer; params model precision weights batch prompt answer n_threads
 *   metrics tokens_per_s (judged, of the whole batch), ttft_s (prompts to their first tokens), tpot_s (one token of all), tpot_p90_s, mem_B,
 *   [bandwidth_frac], [predicted_ttft_s, predicted_tpot_s], [gemm_flopps, copy_Bps] */
#pragma once

#include "record/record.h"
#include "train/run.h"

/* As jl_bench_record; the record points into the draft, `result` and `run`. */
struct jl_record jl_train_record(struct jl_draft *draft, const struct jl_train_result *result,
				 const struct jl_train_run *run);

/* Arithmetic of the step over the machine's own product rate; NAN: that was not measured. */
double jl_train_gemm_frac(const struct jl_train_result *result);
/* The same by CPU time on both sides: it does not change when other processes take turns. NAN on a GPU. */
double jl_train_gemm_cpu_frac(const struct jl_train_result *result, const struct jl_train_run *run);
