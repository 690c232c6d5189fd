/* Prints benchmark results on the terminal. */
#pragma once

#include "bench/sweep.h"
#include "cli/bench_session.h"

/* Determines fingerprint and name of this machine. */
void jl_bench_view_machine(struct jl_cli *cli, struct jl_bench_where *where);

void jl_bench_view_title(struct jl_bench_session *session, const char *what);

/* Fixed-width columns, so that rows can be printed as they finish. */
void jl_bench_view_head(struct jl_bench_session *session, enum jl_kind rate);
void jl_bench_view_row(struct jl_bench_session *session, const char *what, const struct jl_bench_result *result,
		       enum jl_kind kind);
void jl_bench_view_end(struct jl_bench_session *session, bool stopped);

/* Lines in nccl-tests' format. */
void jl_bench_view_coll_head(struct jl_bench_session *session, const struct jl_sweep *sweep,
			     const struct jl_comm *comm);
void jl_bench_view_coll_row(struct jl_bench_session *session, const struct jl_sweep_row *row);
/* The summary of nccl-tests, then median, p95 and interval of each row as comments. */
void jl_bench_view_coll_end(struct jl_bench_session *session, const struct jl_sweep_row *rows, size_t n_rows);

/* Bandwidth from each GPU (row) to each GPU (column); NAN: not measured. */
enum jl_status jl_bench_view_matrix(struct jl_bench_session *session, const char *title, const double *Bps, int n,
				    struct jl_err *err);
