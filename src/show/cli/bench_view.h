/* Measurements on the terminal. */
#pragma once

#include "bench/sweep.h"
#include "cli/bench_session.h"

/* Fingerprint and name of this machine. */
void jl_bench_view_machine(struct jl_cli *cli, struct jl_bench_where *where);

void jl_bench_view_title(struct jl_bench_session *session, const char *what);

/* Columns of fixed width, so that rows can be printed as they are done. */
void jl_bench_view_head(struct jl_bench_session *session, enum jl_kind rate);
void jl_bench_view_row(struct jl_bench_session *session, const char *what, const struct jl_bench_result *result,
		       enum jl_kind kind);
void jl_bench_view_end(struct jl_bench_session *session, bool stopped);

/* nccl-tests' lines. */
void jl_bench_view_coll_head(struct jl_bench_session *session, const struct jl_sweep *sweep,
			     const struct jl_comm *comm);
void jl_bench_view_coll_row(struct jl_bench_session *session, const struct jl_sweep_row *row);
/* What nccl-tests has at the end, then median, p95 and interval of each row as comments. */
void jl_bench_view_coll_end(struct jl_bench_session *session, const struct jl_sweep_row *rows, size_t n_rows);

/* Bandwidth from each GPU (row) to each (column); NAN: could not be measured. */
enum jl_status jl_bench_view_matrix(struct jl_bench_session *session, const char *title, const double *Bps, int n,
				    struct jl_err *err);
