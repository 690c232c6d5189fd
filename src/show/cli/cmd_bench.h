/* Single benchmarks, as `jeoul bench all` runs them. */
#pragma once

#include "bench/sweep.h"
#include "cli/bench_session.h"

/* Each with session->backend chosen; `instead_s`: time of one task where --time is not given. */
enum jl_status jl_bench_gemm(struct jl_bench_session *session, double instead_s, struct jl_err *err);
enum jl_status jl_bench_memory(struct jl_bench_session *session, double instead_s, struct jl_err *err);
enum jl_status jl_bench_storage(struct jl_bench_session *session, double instead_s, struct jl_err *err);
enum jl_status jl_bench_link(struct jl_bench_session *session, double instead_s, struct jl_err *err);
enum jl_status jl_bench_loopback(struct jl_bench_session *session, double instead_s, struct jl_err *err);

/* Runs a sweep; rows are printed and stored as they come. */
enum jl_status jl_bench_sweep(struct jl_bench_session *session, struct jl_sweep *sweep, struct jl_comm *comm,
			      struct jl_err *err);
