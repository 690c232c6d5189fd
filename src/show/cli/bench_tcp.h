/* Benchmarks over hosts that join by themselves: --listen on one, --to on the others. */
#pragma once

#include "cli/bench_session.h"
#include "comm/comm.h"

#define JL_BENCH_REFUSED_MAX 20 /* maximum number of messages about refused clients */

#define JL_BENCH_SECRET_OPTION                                                                                         \
	JL_O_TEXT("secret-file", "FILE", JL_N("secret shared by all hosts; it is proved, never sent"))

#define JL_BENCH_TCP_OPTIONS                                                                                           \
	JL_O_FLAG("listen", JL_N("wait for the other hosts on ADDR (default 127.0.0.1)")),                             \
		JL_O_TEXT("to", "HOST", JL_N("join the measurement of the listening host"), .apart = "listen"),        \
		JL_O_COUNT("ranks", "N", 2, JL_COMM_TCP_RANKS_MAX,                                                     \
			   JL_N("with --listen: how many, this one included (default 2)"), .with = "listen"),          \
		JL_O_COUNT("port", "N", 1, 65535, JL_N("TCP port (default 5270)")), JL_BENCH_SECRET_OPTION,            \
		JL_O_AMOUNT("timeout", "TIME", JL_K_TIME, JL_N("how long to wait for the others (default 10 min)"),    \
			    JL_WITHIN(0.1, 86400, JL_N("must be 100 ms to 1 d")))

bool jl_bench_tcp_asked(const struct jl_cli *cli); /* --listen or --to */
/* Joins the other hosts. `tag`: hash of options that must agree. Sets ranks > 0 to silent. */
enum jl_status jl_bench_tcp_open(struct jl_bench_session *session, uint64_t tag, struct jl_comm **ret_comm,
				 struct jl_err *err);
/* Ends a session on ranks > 0 instead of jl_bench_close: prints that the rank took part, or its error, since no other process reports on this
 * host. */
enum jl_status jl_bench_tcp_left(struct jl_bench_session *session, const struct jl_comm *comm, enum jl_status status);
