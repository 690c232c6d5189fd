/* Shared by the commands of `jeoul bench`: a run with its records, store, progress and Ctrl-C. */
#pragma once

#include "base/progress.h"
#include "bench/records.h"
#include "cli/command.h"
#include "store/store.h"

/* Options of every benchmark. */
#define JL_BENCH_OPTIONS                                                                                               \
	JL_O_AMOUNT("time", "TIME", JL_K_TIME, JL_N("total time limit, e.g. \"10 s\""),                                \
		    JL_WITHIN(0.01, 86400, JL_N("must be 10 ms to 1 d"))),                                             \
		JL_O_TEXT("backend", "NAME", JL_N("backend ('jeoul bench list' shows them)")),                         \
		JL_O_TEXT("node", "NAME",                                                                              \
			  JL_N("which machine of a fleet this is (default: JEOUL_NODE or SLURMD_NODENAME)")),          \
		JL_O_TEXT("note", "TEXT", JL_N("kept with the results")),                                              \
		JL_O_FLAG("no-store", JL_N("do not keep the results"))

#define JL_BENCH_DIR                                                                                                   \
	JL_O_TEXT("dir", "DIR", JL_N("folder whose storage is measured (default: here); a temporary file is written"))

struct jl_bench_session {
	struct jl_cli *cli;
	struct jl_bench_where where;
	char run[JL_RECORD_ID_LEN + 1];
	const struct jl_bench_backend *backend;
	bool silent; /* rank > 0: measures without printing or storing */
	size_t n_records, n_stored, n_noisy;
	double n_wrong;
	char why[JL_NOISE_WHY_MAX]; /* reasons of the noisiest result */
	struct jl_record_noise noise;
	struct jl_store *store;
	bool store_failed;
	struct jl_progress progress;
	double n_tasks, n_done; /* for the progress line */
};

/* Name of this machine in a fleet (--node, JEOUL_NODE, SLURMD_NODENAME); NULL: none. */
const char *jl_bench_node_name(const struct jl_cli *cli);

enum jl_status jl_bench_begin(struct jl_bench_session *session, struct jl_cli *cli, struct jl_err *err);
/* Stores a result; with --json also prints it. */
void jl_bench_keep(struct jl_bench_session *session, const struct jl_bench_result *result);
/* Adds an id and the run's common fields to the record and stores it. `versions`: "key=value key=value"; NULL: the backend's. */
void jl_bench_keep_record(struct jl_bench_session *session, const struct jl_record *given, const char *versions);
/* Starts the progress line; call when the number of tasks is known. */
void jl_bench_draw(struct jl_bench_session *session);
/* Ends the run if anything was measured, even after a failure; returns `status`. */
enum jl_status jl_bench_close(struct jl_bench_session *session, enum jl_status status);

/* True after the first Ctrl-C (the second one kills). For jl_bench_plan.stop. */
bool jl_bench_stop(void *ctx);
/* For jl_bench_plan.progress; ctx is the session. */
void jl_bench_progress(void *ctx, double frac);
void jl_bench_watch_keys(void);

/* Selects the backend of --backend, otherwise the first of `names` that is present. */
enum jl_status jl_bench_choose(struct jl_bench_session *session, const char *const *names, struct jl_err *err);

/* Prints pending output, so that rows appear as they finish. */
void jl_bench_flush(struct jl_bench_session *session);

/* Time per task: --time / n_tasks; `instead` if not given. */
double jl_bench_time_s(const struct jl_cli *cli, size_t n_tasks, double instead);
