/* Inside of the cpu backend. */
#pragma once

#include "bench/backend.h"

/* cpu_team.c: threads that run the same function on their own part, again and again. */
struct jl_cpu_team;
enum jl_status jl_cpu_team_create(struct jl_cpu_team **ret_team, int n_threads, struct jl_err *err);
void jl_cpu_team_destroy(struct jl_cpu_team *team); /* NULL is fine */
/* `part` with i = 0 .. n-1 on n threads, the caller being one of them. Returns when all are done. */
void jl_cpu_team_run(struct jl_cpu_team *team, void (*part)(void *ctx, int i, int n), void *ctx);
int jl_cpu_count(void); /* that this process may use */

/* cpu_mem.c */
struct jl_cpu_mem;
enum jl_status jl_cpu_mem_prepare(const struct jl_bench_task *task, struct jl_cpu_mem **ret_mem, struct jl_err *err);
void jl_cpu_mem_run(struct jl_cpu_mem *mem, double *ret_s);
size_t jl_cpu_mem_wrong(struct jl_cpu_mem *mem);
void jl_cpu_mem_finish(struct jl_cpu_mem *mem);

/* cpu_gemm.c */
struct jl_cpu_gemm;
enum jl_status jl_cpu_gemm_prepare(const struct jl_bench_task *task, struct jl_cpu_gemm **ret_gemm, struct jl_err *err);
void jl_cpu_gemm_run(struct jl_cpu_gemm *gemm, double *ret_s);
size_t jl_cpu_gemm_wrong(struct jl_cpu_gemm *gemm);
void jl_cpu_gemm_finish(struct jl_cpu_gemm *gemm);

/* Bytes of the largest cache; 0: not known. */
size_t jl_cpu_cache_B(void);
