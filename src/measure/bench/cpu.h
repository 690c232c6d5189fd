/* Internals of the cpu backend. */
#pragma once

#include "bench/backend.h"

/* cpu_mem.c */
int jl_cpu_count(void); /* CPUs that this process may use */
struct jl_cpu_mem;
/* Reuses the threads of `first` (may be NULL): spinning threads of a second team would take CPU time from the first. */
enum jl_status jl_cpu_mem_prepare(const struct jl_bench_task *task, const struct jl_cpu_mem *first,
				  struct jl_cpu_mem **ret_mem, struct jl_err *err);
void jl_cpu_mem_run(struct jl_cpu_mem *mem, double *ret_s);
size_t jl_cpu_mem_wrong(struct jl_cpu_mem *mem);
void jl_cpu_mem_finish(struct jl_cpu_mem *mem);

/* cpu_gemm.c */
struct jl_cpu_gemm;
enum jl_status jl_cpu_gemm_prepare(const struct jl_bench_task *task, struct jl_cpu_gemm **ret_gemm, struct jl_err *err);
void jl_cpu_gemm_run(struct jl_cpu_gemm *gemm, double *ret_s);
size_t jl_cpu_gemm_wrong(struct jl_cpu_gemm *gemm);
void jl_cpu_gemm_finish(struct jl_cpu_gemm *gemm);

/* Size of the largest cache in bytes; 0: unknown. */
size_t jl_cpu_cache_B(void);
