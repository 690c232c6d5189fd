/* Benchmarks that `jeoul bench all` also runs. */
#pragma once

#include "bench/sweep.h"
#include "cli/bench_session.h"

/* session->backend must be set; `instead_s`: time per task if --time is not given. */
enum jl_status jl_bench_gemm(struct jl_bench_session *session, double instead_s, struct jl_err *err);
enum jl_status jl_bench_memory(struct jl_bench_session *session, double instead_s, struct jl_err *err);
enum jl_status jl_bench_storage(struct jl_bench_session *session, double instead_s, struct jl_err *err);
enum jl_status jl_bench_link(struct jl_bench_session *session, double instead_s, struct jl_err *err);
enum jl_status jl_bench_loopback(struct jl_bench_session *session, double instead_s, struct jl_err *err);

/* Runs a sweep; prints and stores rows as they finish. */
enum jl_status jl_bench_sweep(struct jl_bench_session *session, struct jl_sweep *sweep, struct jl_comm *comm,
			      struct jl_err *err);
